//! ZigZag 3.9.1 on 16 x 16 PEs, K by C, with one weight register each (docs/explanation/cost-model-loop-nest.md,
//! section 10.4.2).

use std::sync::Arc;

use xrsim_config::Problem;
use xrsim_config::cross_tables::CrossRow;
use xrsim_model::cost::loop_nest::{Bandwidth, Machine, Nest, NocLevel};

use super::{Rule, Sheet, run, unpadded};

const NO_SUMS: &str = "ZigZag's array keeps no partial sums: every step writes and reads them";
const FIRST_READ: &str = "ZigZag reads partial sums before their first addition, too";

/// Rows and columns of the array.
const SIDE: u32 = 16;

/// Bandwidth of every port \[byte/cycle\]: 1 Mibit.
const PORT: u64 = 1 << 17;

/// Shared memory \[byte\]: 64 Mibit.
const SHARED: u64 = 8 << 20;

/// Allowed relative difference of latencies. Both sides add a few cycles of fill and drain, which ZigZag
/// counts for every memory: 3 to 12 cycles in place of 4.
const LATENCY: f64 = 1e-3;

/// Compares cycles and counts of a layer.
pub(super) fn compare<'a>(file: &Arc<str>, row: &'a CrossRow) -> Result<Sheet<'a>, Problem> {
    let [k, c, side, kernel, stride] = ["K", "C", "E", "R", "stride"].map(|name| row.extent(name));
    let window = unpadded(stride, 1, side, kernel);
    let nest = Nest::new([1, 1, k, c, side, side, kernel, kernel], [window; 2], false)
        .map_err(|illegal| row.problem("K", illegal.to_string()))?;
    let port = Bandwidth::new(PORT).unwrap_or(Bandwidth::INFINITE);
    let machine = Machine {
        noc_levels: vec![NocLevel { down: port, up: port, ..NocLevel::IDEAL }],
        shared_bytes: Some(SHARED),
        ..Machine::new(SIDE * SIDE)
    };
    let (_, evaluation) = run(row, &nest, &machine)?;
    let [array, columns] = match evaluation.levels() {
        [first, .., last] => [first, last],
        _ => return Err(row.problem("directives", "a mapping of two levels is needed")),
    };
    let case = format!("{} {}", row.text("layer"), row.text("order"));
    let mut sheet = Sheet::new(file, row, "ZigZag", &case);
    sheet.exact("computation [cycle]", "zz_ideal", evaluation.compute_cycles);
    let cycles = evaluation.chip_cycles as f64;
    sheet.compare("latency [cycle]", "zz_latency", cycles, LATENCY, Vec::new);
    sheet.exact("weights sent", "zz_w_sram_reads", array.sent.weight);
    sheet.exact("weights delivered", "zz_w_reg_writes", columns.delivered.weight);
    sheet.exact("inputs sent", "zz_i_sram_reads", array.sent.input);

    // Every step of the reduction writes each output; the array adds `SIDE` channels in one step.
    let outputs = u64::from(k) * u64::from(side) * u64::from(side);
    let steps = u64::from(c.div_ceil(SIDE)) * u64::from(kernel) * u64::from(kernel);
    let written = outputs.saturating_mul(steps);
    let arrived = array.arrived;
    let found = arrived as f64;
    let no_sums = || vec![Rule::new(NO_SUMS, written as f64)];
    sheet.compare("partial sums sent up", "zz_o_sram_writes", found, 0.0, no_sums);
    let read = if steps > 1 { written as f64 } else { 0.0 };
    let found = array.accumulated as f64;
    sheet.compare("partial sums read to add", "zz_o_sram_psum_reads", found, 0.0, || {
        let reason = if arrived == written { FIRST_READ } else { NO_SUMS };
        vec![Rule::new(reason, read)]
    });

    let dram = &evaluation.memory.dram;
    for (column, found) in [
        ("zz_dram_w", dram.weights_read),
        ("zz_dram_i", dram.inputs_read),
        ("zz_dram_o", dram.outputs_written),
    ] {
        sheet.exact("DRAM", column, found);
    }
    Ok(sheet)
}
