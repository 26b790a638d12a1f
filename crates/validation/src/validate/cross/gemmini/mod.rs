//! The RTL of Gemmini on FireSim, and Timeloop's model of it, under fixed mappings (docs/explanation/validation.md).

mod mapping;

use std::sync::Arc;

use xrsim_config::Problem;
use xrsim_config::cross_tables::CrossRow;
use xrsim_model::cost::loop_nest::{
    Bandwidth, Evaluation, Extents, Illegal, Machine, Mapping, Nest, NocLevel, evaluate,
};
use xrsim_model::hardware::Widths;
use xrsim_model::mapper::{DeclaredSpace, Limits, Search};
use xrsim_model::model::PerTensor;

use super::{Rule, Sheet, unpadded};

use mapping::{GemminiMapping, Order};

/// Difference up to which cycles count as near.
const NEAR: f64 = 0.10;

const COMMANDS: &str =
    "Gemmini pays for commands (at least 4 cycles, and their issue) and for the rows of DRAM";
const ORDER: &str = "Gemmini runs outputs innermost in every tile, so that weights stay where the mapping loads them again";
const OVERLAP: &str = "Gemmini moves some tiles faster than 8 byte/cycle, which is Timeloop's DRAM, or hides more of them";
const CHOSEN: &str = "no mapping that Gemmini ran: it is chosen here, without the cost of commands";
const TIMELOOP: &str = "Timeloop's number, to compare ours with";

/// Kinds of layers, each with its quantities: loops as Gemmini runs them, as written, and Timeloop's.
const KINDS: [[&str; 3]; 4] = [
    ["product", "product, order as written", "product, Timeloop"],
    ["3x3 and larger", "3x3 and larger, order as written", "3x3 and larger, Timeloop"],
    ["1x1", "1x1, order as written", "1x1, Timeloop"],
    ["one row", "one row, order as written", "one row, Timeloop"],
];
const ALL: [&str; 3] = ["all", "all, order as written", "all, Timeloop"];

/// Compares the rows of a table: every mapping, and for each shape the mapping that is chosen here with the fastest
/// on the RTL.
pub(super) fn compare<'a>(
    file: &Arc<str>,
    rows: &'a [CrossRow],
) -> Vec<Result<Sheet<'a>, Problem>> {
    let mapped = rows.iter().map(|row| under_mapping(file, row));
    let chosen = fastest(rows).into_iter().map(|row| chosen(file, row));
    mapped.chain(chosen).collect()
}

/// Compares the cycles of one layer under its mapping.
fn under_mapping<'a>(file: &Arc<str>, row: &'a CrossRow) -> Result<Sheet<'a>, Problem> {
    let nest = nest(row)?;
    let wrong = |message: String| row.problem("mapping", message);
    let mapping = GemminiMapping::parse(row.text("mapping"), nest.extents()).map_err(wrong)?;
    let machine = machine(row, mapping.columns());
    let run = |order| {
        let cycles = run(&nest, &mapping, &machine, order).map(|it| it.cycles as f64);
        cycles.map_err(|illegal| wrong(illegal.to_string()))
    };
    let (ours, written) = (run(Order::Sequencer)?, run(Order::Written)?);
    let mut sheet = Sheet::new(file, row, "Gemmini, RTL [cycle]", row.text("row"));
    let rtl = "rtl_cycles_this_mapping";
    for [by_sequencer, as_written, timeloop] in [KINDS[kind(nest.extents())], ALL] {
        let is_below = |found: f64| row.number(rtl).is_some_and(|rtl| found < rtl);
        sheet.compare(by_sequencer, rtl, ours, NEAR, || {
            vec![Rule::open(if is_below(ours) { COMMANDS } else { OVERLAP })]
        });
        sheet.compare(as_written, rtl, written, NEAR, || {
            let reloads = written > ours * (1.0 + NEAR);
            let above = if reloads { ORDER } else { OVERLAP };
            vec![Rule::open(if is_below(written) { COMMANDS } else { above })]
        });
        if let Some(cycles) = row.number("timeloop_cycles") {
            sheet.compare(timeloop, rtl, cycles, NEAR, || vec![Rule::open(TIMELOOP)]);
        }
    }
    Ok(sheet)
}

/// Kind of a layer, as a place in [`KINDS`].
fn kind(extents: &Extents) -> usize {
    let [.., rows, columns, kernel_rows, kernel_columns] = *extents;
    match (rows, columns) {
        (1, 1) => 3,
        (1, _) if kernel_rows == 1 => 0,
        _ if kernel_rows.max(kernel_columns) > 1 => 1,
        _ => 2,
    }
}

fn nest(row: &CrossRow) -> Result<Nest, Problem> {
    // P and R of the table are columns here.
    let [n, k, c, q, p, s, r] = ["n", "k", "c", "q", "p", "s", "r"].map(|name| row.extent(name));
    let stride = row.extent("stride");
    let windows = [unpadded(stride, 1, q, s), unpadded(stride, 1, p, r)];
    Nest::new([n, 1, k, c, q, p, s, r], windows, false)
        .map_err(|illegal| row.problem("c", illegal.to_string()))
}

/// 16 rows by `columns` PEs: 32 byte/cycle of inputs and 16 of weights from a scratchpad that holds one tile, and 8
/// byte/cycle of DRAM, as in DOSA's model of the chip. The accumulators take 16 sums in a cycle, as many as the array
/// makes, which leave it one by one while it computes: sums never wait.
fn machine(row: &CrossRow, columns: u32) -> Machine {
    let finite = |bytes: u64| Bandwidth::new(bytes).unwrap_or(Bandwidth::INFINITE);
    let noc = |down: u64| NocLevel {
        down: finite(down),
        weights: Some(finite(16)),
        latency: 1,
        ..NocLevel::IDEAL
    };
    let sums = 64 * u64::from(row.extent("accum_words_per_column"));
    Machine {
        noc_levels: vec![noc(32), noc(64)],
        widths: Widths::of_bytes([1, 1, 4, 1]),
        shared_bytes: Some(u64::from(row.extent("spad_bytes")) + sums),
        shared_copies: PerTensor::splat(1),
        dram_bandwidth: finite(8),
        ..Machine::new(16 * columns.max(1))
    }
}

fn run(
    nest: &Nest,
    mapping: &GemminiMapping,
    machine: &Machine,
    order: Order,
) -> Result<Evaluation, Illegal> {
    let mapping = Mapping::new(&mapping.directives(order), nest, machine)?;
    evaluate(nest, &mapping, machine)
}

/// For every shape of a layer the row with the fewest cycles of the RTL, in order of first use.
fn fastest(rows: &[CrossRow]) -> Vec<&CrossRow> {
    const SHAPE: [&str; 8] = ["n", "k", "c", "q", "p", "s", "r", "stride"];
    let shape = |row: &CrossRow| SHAPE.map(|name| row.extent(name));
    let mut fastest: Vec<&CrossRow> = Vec::new();
    for row in rows {
        match fastest.iter_mut().find(|it| shape(it) == shape(row)) {
            Some(known) if least(row) < least(known) => *known = row,
            Some(_) => {}
            None => fastest.push(row),
        }
    }
    fastest
}

/// Column with the fewer cycles of the RTL in a row, under the mapping of the row or under Gemmini's own tiling, and
/// its number.
fn least(row: &CrossRow) -> (f64, &'static str) {
    let columns = ["rtl_cycles_this_mapping", "rtl_cycles_gemmini_own_tiling"];
    let cycles = columns.map(|name| (row.number(name).unwrap_or(f64::INFINITY), name));
    if cycles[1].0 < cycles[0].0 { cycles[1] } else { cycles[0] }
}

/// Compares the mapping that a search finds for the machine of a row with the fastest one on the RTL.
fn chosen<'a>(file: &Arc<str>, row: &'a CrossRow) -> Result<Sheet<'a>, Problem> {
    let (nest, machine) = (nest(row)?, machine(row, 16));
    let levels = GemminiMapping::general();
    let wrong = |illegal: Illegal| row.problem("mapping", illegal.to_string());
    let seed = Mapping::new(&levels, &nest, &machine).map_err(wrong)?;
    let space =
        DeclaredSpace::of_style(&levels.levels, None).map(|it| it.for_layer(&nest, &machine));
    let limits = Limits::new(Some(64 << 10), Vec::new());
    let found = space.and_then(|space| {
        let search = Search::new(&nest, &machine, &limits, &space);
        search.seed(&seed).run()
    });
    let mut sheet = Sheet::new(file, row, "Gemmini, RTL [cycle]", row.text("row"));
    if let Some(found) = found {
        let cycles = found.value().cycles as f64;
        sheet.compare("fastest, our mapping", least(row).1, cycles, NEAR, || {
            vec![Rule::open(CHOSEN)]
        });
    }
    Ok(sheet)
}
