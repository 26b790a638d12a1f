//! Timeloop 3.0.3: traffic between buffers, and DRAM (docs/explanation/cost-model-loop-nest.md, section 10.4.1).

use std::sync::Arc;

use xrsim_config::Problem;
use xrsim_config::cross_tables::CrossRow;
use xrsim_model::cost::loop_nest::{
    Axis, Extents, Illegal, LevelCounts, Machine, Mapping, Nest, evaluate,
};

use super::tiles::{Fetches, Walk};
use super::{Rule, Sheet, run, unpadded};

const IDENTICAL: &str = "Timeloop multicasts only boxes that are identical";
const RESTART: &str = "Timeloop fetches a tile whole when an inner loop starts again, and multicasts only identical boxes";
const FORWARD: &str = "Timeloop takes boxes from neighbours";
const REFILL: &str = "Timeloop sends partial sums down again; they are then read with every update";
const OPEN: &str = "an enumeration step by step has our number; Timeloop's is not reproduced";

/// Extents, strides and dilations of a row, without padding.
fn nest(row: &CrossRow) -> Result<Nest, Problem> {
    let extents: Extents = ["N", "G", "K", "C", "P", "Q", "R", "S"].map(|name| row.extent(name));
    let [stride, dilation] = ["stride", "dilation"].map(|name| row.extent(name));
    let [_, _, _, _, rows, columns, kernel_rows, kernel_columns] = extents;
    let windows = [
        unpadded(stride, dilation, rows, kernel_rows),
        unpadded(stride, dilation, columns, kernel_columns),
    ];
    Nest::new(extents, windows, false).map_err(|illegal| row.problem("N", illegal.to_string()))
}

/// Compares the traffic of every level with networks and buffers without limit.
pub(super) fn traffic<'a>(file: &Arc<str>, row: &'a CrossRow) -> Result<Sheet<'a>, Problem> {
    let nest = nest(row)?;
    let machine = Machine { shared_copies: [1; 3].into(), ..Machine::new(row.extent("pes")) };
    let (mapping, evaluation) = run(row, &nest, &machine)?;
    let mut sheet = Sheet::new(file, row, "Timeloop", row.text("case"));
    sheet.exact("computation [cycle]", "timeloop_cycles", evaluation.compute_cycles);
    for (index, counts) in evaluation.levels().iter().enumerate() {
        level(&mut sheet, &nest, &mapping, index, counts);
    }
    let dram = &evaluation.memory.dram;
    for (column, found) in [
        ("timeloop_DRAM_rd_I", dram.inputs_read),
        ("timeloop_DRAM_rd_W", dram.weights_read),
        ("timeloop_DRAM_upd_O", dram.outputs_written),
        ("timeloop_DRAM_rd_O", dram.partial_sums_read),
    ] {
        sheet.exact("DRAM, whole layer", column, found);
    }
    Ok(sheet)
}

fn level(sheet: &mut Sheet, nest: &Nest, mapping: &Mapping, index: usize, counts: &LevelCounts) {
    let row = sheet.row;
    let column = |name: &str| format!("timeloop_L{index}_{name}");
    sheet.exact("weights sent", &column("sent_W"), counts.sent.weight);
    sheet.exact("weights delivered", &column("fill_W"), counts.delivered.weight);
    let fetches = || Walk::of_level(nest, mapping.levels(), index).and_then(|walk| walk.count());
    // An enumeration of our definitions, if the row has one, speaks for our number.
    let is_enumerated = |name: &str, found: u64| {
        let column = format!("enumerated_L{index}_{name}");
        row.number(&column) == Some(found as f64)
    };
    let rules = |name: &str, found: u64, of: &dyn Fn(&Fetches) -> Vec<Rule>| {
        let mut rules = fetches().map_or(Vec::new(), |fetches| of(&fetches));
        rules.extend(is_enumerated(name, found).then(|| Rule::open(OPEN)));
        rules
    };
    let reason = |fetches: &Fetches| if fetches.restarts { RESTART } else { IDENTICAL };
    let sent = |it: &Fetches| {
        vec![
            Rule::new(reason(it), it.sent as f64),
            Rule::new(FORWARD, it.sent_beside_forwards as f64),
        ]
    };
    let delivered = |it: &Fetches| vec![Rule::new(reason(it), it.delivered as f64)];
    let found = counts.sent.input;
    let sent = || rules("sent_I", found, &sent);
    sheet.compare("inputs sent", &column("sent_I"), found as f64, 0.0, sent);
    let found = counts.delivered.input;
    let delivered = || rules("fill_I", found, &delivered);
    sheet.compare("inputs delivered", &column("fill_I"), found as f64, 0.0, delivered);
    sheet.exact("partial sums sent up", &column("upd_O"), counts.arrived);
    let refilled = || {
        let first = first_sums(nest, mapping, index);
        vec![Rule::new(REFILL, counts.arrived.saturating_sub(first) as f64)]
    };
    let found = counts.accumulated as f64;
    sheet.compare("partial sums read to add", &column("acc_O"), found, 0.0, refilled);
}

/// Partial sums that the buffers above a level receive for the first time: every output once in every
/// cluster that works on a part of its reduction.
fn first_sums(nest: &Nest, mapping: &Mapping, level: usize) -> u64 {
    let mut extents = *nest.extents();
    let mut sums: u64 =
        Axis::OUTPUT.iter().map(|&axis| u64::from(nest.extent(axis))).fold(1, u64::saturating_mul);
    for one in &mapping.levels()[..level] {
        if let Some(map) = one.spatial().filter(|map| map.axis.is_reduction()) {
            let chunks = map.chunks(extents[map.axis as usize]);
            sums = sums.saturating_mul(chunks.min(one.units()).into());
        }
        extents = one.unit_extents(&extents);
    }
    sums
}

/// Compares DRAM traffic under the same loops at DRAM on both sides.
pub(super) fn dram<'a>(file: &Arc<str>, row: &'a CrossRow) -> Result<Sheet<'a>, Problem> {
    let nest = nest(row)?;
    let loops = loops(row, &nest)?;
    let maps = loops.iter().map(|&(axis, count)| {
        let size = nest.extent(axis) / count;
        format!("TemporalMap({size},{size}) {axis}; ")
    });
    let directives = row.directives_below(&maps.collect::<String>())?;
    let machine = Machine {
        shared_bytes: Some(row.extent("l2_bytes").into()),
        shared_copies: [1; 3].into(),
        ..Machine::new(u32::MAX)
    };
    let problem = |illegal: Illegal| row.problem("directives", illegal.to_string());
    let mapping = Mapping::new(&directives, &nest, &machine).map_err(problem)?;
    let evaluation = evaluate(&nest, &mapping, &machine).map_err(problem)?;
    let dram = &evaluation.memory.dram;
    let mut sheet = Sheet::new(file, row, "Timeloop", row.text("case"));
    let whole = || {
        let fetches = Walk::of_loops(&nest, &loops).and_then(|walk| walk.count());
        fetches.map_or(Vec::new(), |it| vec![Rule::new(RESTART, it.delivered as f64)])
    };
    let found = dram.inputs_read as f64;
    sheet.compare("DRAM, loops above: inputs", "timeloop_rd_i", found, 0.0, whole);
    for (column, found) in [
        ("timeloop_rd_w", dram.weights_read),
        ("timeloop_wr_o", dram.outputs_written),
        ("timeloop_rd_o", dram.partial_sums_read),
    ] {
        sheet.exact("DRAM, loops above: others", column, found);
    }
    Ok(sheet)
}

/// Loops at DRAM, outermost first: `K8 P2` is a loop over eight parts of K around one over two of P.
fn loops(row: &CrossRow, nest: &Nest) -> Result<Vec<(Axis, u32)>, Problem> {
    let one = |text: &str| {
        let problem = |message: String| row.problem("dram_loops", message);
        let letter = text.get(..1).unwrap_or_default();
        let names = ["N", "G", "K", "C", "P", "Q", "R", "S"];
        let axis = names.iter().position(|name| *name == letter).map(|index| Axis::ALL[index]);
        let count = text.get(1..).and_then(|count| count.parse().ok());
        let (Some(axis), Some(count)) = (axis, count) else {
            let allowed = format!("one of {} and a number is needed, like `K8`", names.join(", "));
            return Err(problem(format!("`{text}` is no loop")).help(allowed));
        };
        let extent = nest.extent(axis);
        if count == 0 || !extent.is_multiple_of(count) {
            return Err(problem(format!("`{text}` does not divide the extent {extent}")));
        }
        Ok((axis, count))
    };
    row.text("dram_loops").split_whitespace().map(one).collect()
}
