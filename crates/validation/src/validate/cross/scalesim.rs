//! SCALE-Sim 3.0.0: matrix products on systolic arrays (docs/explanation/cost-model-loop-nest.md, section 10.4.3).

use std::sync::Arc;

use xrsim_config::Problem;
use xrsim_config::cross_tables::CrossRow;
use xrsim_model::cost::loop_nest::{Machine, Nest, NocLevel};

use super::{Rule, Sheet, run, unpadded};

const FILL: &str = "SCALE-Sim fills and drains the array in every fold";
const EDGES: &str = "SCALE-Sim counts rows + columns further writes in every fold";
const NO_SUMS: &str =
    "SCALE-Sim's array keeps no partial sums: every fold of the reduction writes them";

/// How the array holds operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stationary {
    Output,
    Weight,
}

/// Compares cycles and counts of a matrix product.
pub(super) fn compare<'a>(file: &Arc<str>, row: &'a CrossRow) -> Result<Sheet<'a>, Problem> {
    let stationary = match row.text("dataflow") {
        "os" => Stationary::Output,
        "ws" => Stationary::Weight,
        other => {
            let problem = row.problem("dataflow", format!("unknown dataflow `{other}`"));
            return Err(problem.help("`os` and `ws` are known"));
        }
    };
    let [rows, columns] = ["array_rows", "array_cols"].map(|name| row.extent(name));
    let [m, n, k] = ["M", "N", "K"].map(|name| row.extent(name));
    let Some(pes) = rows.checked_mul(columns) else {
        return Err(row.problem("array_rows", "the array has too many PEs"));
    };
    let windows = [unpadded(1, 1, m, 1), unpadded(1, 1, 1, 1)];
    let nest = Nest::new([1, 1, n, k, m, 1, 1, 1], windows, false)
        .map_err(|illegal| row.problem("M", illegal.to_string()))?;
    let noc = NocLevel { latency: 1, ..NocLevel::IDEAL };
    let machine = Machine { noc_levels: vec![noc], ..Machine::new(pes) };
    let (_, evaluation) = run(row, &nest, &machine)?;
    let array = &evaluation.levels()[0];

    let [rows, columns, m, n, k] = [rows, columns, m, n, k].map(u64::from);
    let (folds, fill) = match stationary {
        Stationary::Output => (m.div_ceil(rows) * n.div_ceil(columns), rows + columns - 2),
        Stationary::Weight => (k.div_ceil(rows) * n.div_ceil(columns), 2 * rows + columns - 2),
    };
    let case = format!("{} {rows}x{columns} {}", row.text("dataflow"), row.text("gemm"));
    let mut sheet = Sheet::new(file, row, "SCALE-Sim", &case);
    // Its cycles count from 0, hence one less.
    let filled = evaluation.compute_cycles as f64 + folds as f64 * fill as f64 - 1.0;
    let cycles = evaluation.chip_cycles as f64;
    sheet.compare("latency [cycle]", "scalesim_cycles", cycles, 0.0, || {
        vec![Rule::new(FILL, filled)]
    });
    sheet.exact("inputs sent", "scalesim_ifmap_reads", array.sent.input);
    sheet.exact("weights sent", "scalesim_filter_reads", array.sent.weight);
    let (reason, written) = match stationary {
        Stationary::Output => {
            (EDGES, array.arrived as f64 + folds as f64 * (rows + columns) as f64)
        }
        Stationary::Weight => (NO_SUMS, m as f64 * n as f64 * k.div_ceil(rows) as f64),
    };
    let found = array.arrived as f64;
    sheet.compare("partial sums sent up", "scalesim_ofmap_writes", found, 0.0, || {
        vec![Rule::new(reason, written)]
    });
    Ok(sheet)
}
