//! Explanation of the cost of one layer by the loop-nest model: loops, traffic, classes of steps, shared
//! memory, time and energy.

use std::fmt::Write as _;

use crate::table::{Columns, Style};
use xrsim_model::cost::loop_nest::nest::{Axis, Extents, outputs, weights};
use xrsim_model::cost::loop_nest::{
    DramTraffic, Evaluation, Level, LevelCounts, Loop, NestReport, Start, StepClass,
    nests_of_layer, step_classes,
};
use xrsim_model::cost::{CostModel, Infeasible};
use xrsim_model::dataflow::LevelId;
use xrsim_model::hardware::{Accelerator, Flexibility};
use xrsim_model::model::{Network, PerTensor, TensorRole};

/// Number of classes of steps that are shown for a level, the most frequent first.
const MAX_CLASSES: usize = 8;

/// Text with levels, tiles, traffic, time and energy of layer number `layer`, from 0, in the context of its
/// network, with the mapping that the accelerator chooses under a cost model of loop nests.
///
/// # Errors
///
/// [`Infeasible`] if a layer of the network cannot run on the accelerator.
///
/// # Panics
///
/// If the network has no such layer.
pub fn explain_layer(
    network: &Network,
    layer: usize,
    accelerator: &Accelerator,
    model: &dyn CostModel,
    style: Style,
) -> Result<String, Infeasible> {
    let name = &network.layers()[layer].name;
    let operator = &network.layers()[layer].operator;
    let nests = nests_of_layer(network, layer, accelerator, model.chooser())?;
    let mut text = format!(
        "{name} of {} on {}: {}, {} MACs\n",
        network.name(),
        accelerator.name,
        operator.name(),
        operator.macs()
    );
    if nests.is_empty() {
        text += "No multiply-accumulates: the vector lanes, the shared memory or DRAM limit it (see the table of layers).\n";
    }
    for (index, nest) in nests.iter().enumerate() {
        if nests.len() > 1 {
            write!(text, "\nphase {} of {}\n", index + 1, nests.len()).expect("text");
        }
        if accelerator.flexibility != Flexibility::None {
            text += &chosen(nest, accelerator);
        }
        text += &explain_nest(nest, style);
    }
    Ok(text)
}

/// Line about the choice of form and mapping.
fn chosen(report: &NestReport, accelerator: &Accelerator) -> String {
    let form = if report.nest == report.written { "as it is written" } else { "in another form" };
    let found =
        report.certainty.map_or("the directives of the dataflow".into(), |known| known.to_string());
    let Accelerator { flexibility, mapping_objective, .. } = accelerator;
    format!(
        "\nmapping     flexibility `{flexibility}`, objective `{mapping_objective}`: {form}, {found}\n"
    )
}

fn explain_nest(report: &NestReport, style: Style) -> String {
    let sections = [
        extents(report),
        levels(report, style),
        traffic(report, style),
        steps(report, style),
        memory(report),
        time(report),
        energy(&report.evaluation, style),
    ];
    sections.map(|section| format!("\n{section}")).concat()
}

/// Lines about the loop nest: extents, windows, sizes of the tensors.
fn extents(report: &NestReport) -> String {
    let nest = &report.nest;
    let extents: Vec<_> =
        Axis::ALL.iter().map(|&axis| format!("{axis} {}", nest.extent(axis))).collect();
    let [rows, columns] = nest.windows();
    let all = nest.extents();
    format!(
        "loop nest   {}\ninput       {} x {} stored, padding {} / {}, stride {} / {}, dilation {} / {}\n\
         elements    {} inputs with padding ({} stored and touched), {} weights, {} outputs\n",
        extents.join("  "),
        rows.stored,
        columns.stored,
        rows.padding,
        columns.padding,
        rows.stride,
        columns.stride,
        rows.dilation,
        columns.dilation,
        nest.inputs(all),
        nest.touched_inputs(),
        weights(all),
        outputs(all),
    )
}

/// Every level with its counts, outermost first.
fn all_levels(report: &NestReport) -> impl Iterator<Item = (LevelId, &Level, &LevelCounts)> {
    let NestReport { mapping, evaluation, .. } = report;
    let off_chip = mapping.off_chip().zip(evaluation.off_chip());
    let off_chip = off_chip.map(|(level, counts)| (LevelId::OffChip, level, counts));
    let on_chip = mapping.levels().iter().zip(evaluation.levels()).enumerate();
    let on_chip = on_chip.map(|(at, (level, counts))| (LevelId::OnChip(at), level, counts));
    off_chip.into_iter().chain(on_chip)
}

/// A level in a cell of a table.
fn short(level: LevelId) -> String {
    match level {
        LevelId::OffChip => "off-chip".into(),
        LevelId::OnChip(level) => level.to_string(),
    }
}

/// Table of levels: loops, unit boxes, units, steps, buffers.
fn levels(report: &NestReport, style: Style) -> String {
    let mut entering = *report.nest.extents();
    let rows = all_levels(report).map(|(id, level, counts)| {
        let before = entering;
        entering = level.unit_extents(&before);
        (id, level, counts, before, entering)
    });
    let or = |list: Vec<String>, none: &str, by: &str| {
        if list.is_empty() { none.to_string() } else { list.join(by) }
    };
    let trips = |level: &Level, entering: &Extents| -> Vec<String> {
        let trip = |map: &Loop| {
            let trips = map.chunks(entering[map.axis as usize]);
            let kind = if map.spatial { "side by side" } else { "in turn" };
            format!("{trips} x {}{} {kind}", map.axis, map.size)
        };
        level.loops().iter().map(trip).collect()
    };
    let cut = |unit: &Extents| -> Vec<String> {
        let cut = Axis::ALL.into_iter().filter(|&axis| unit[axis as usize] > 1);
        cut.map(|axis| format!("{axis}{}", unit[axis as usize])).collect()
    };
    Columns::<(LevelId, &Level, &LevelCounts, Extents, Extents)>::new()
        .text("level", |it| short(it.0))
        .text("loops, outermost first", |it| or(trips(it.1, &it.3), "one box", ", "))
        .text("box of a unit", |it| or(cut(&it.4), "1", " "))
        .number("units", |it| it.1.units())
        .number("working, mean", |it| {
            format!("{:.2}", it.2.active as f64 / it.2.steps.max(1) as f64)
        })
        .number("steps", |it| it.2.steps)
        .number("buffer of a unit, byte", |it| match it.0 {
            LevelId::OffChip => report.evaluation.memory.shared_bytes,
            LevelId::OnChip(_) => it.2.unit_bytes,
        })
        .of(rows)
        .text(style)
}

/// Table of the traffic of every NoC level, and the cycles that one cluster needs for its share.
fn traffic(report: &NestReport, style: Style) -> String {
    let mut clusters = 1;
    let rows = all_levels(report).map(|(id, level, counts)| {
        let cycles = transfer_cycles(report, id, counts).map(|it| it / clusters);
        clusters *= u64::from(level.units());
        (id, counts, cycles)
    });
    Columns::<(LevelId, &LevelCounts, [u64; 2])>::new()
        .text("level", |it| short(it.0))
        .number("inputs sent", |it| it.1.sent.input)
        .number("delivered", |it| it.1.delivered.input)
        .number("weights sent", |it| it.1.sent.weight)
        .number("delivered", |it| it.1.delivered.weight)
        .number("forwarded", |it| it.1.forwarded.input + it.1.forwarded.weight)
        .number("sums left", |it| it.1.left)
        .number("arrived", |it| it.1.arrived)
        .number("added to known", |it| it.1.accumulated)
        .number("cycles down", |it| it.2[0])
        .number("cycles up", |it| it.2[1])
        .of(rows)
        .text(style)
}

/// Cycles of the traffic of a level if one cluster moved it all: down, and up. On the off-chip level they
/// are those of DRAM.
fn transfer_cycles(report: &NestReport, level: LevelId, counts: &LevelCounts) -> [u64; 2] {
    let LevelId::OnChip(level) = level else {
        let DramTraffic { inputs_read, weights_read, partial_sums_read, outputs_written } =
            report.evaluation.memory.dram;
        let read = inputs_read + weights_read + partial_sums_read;
        return [read, outputs_written].map(|bytes| report.machine.dram_bandwidth.cycles(bytes));
    };
    let network = report.machine.noc_level(level);
    let widths = &report.machine.widths;
    let inputs = widths.input.bits_of(counts.sent.input);
    let weights = widths.weight.bits_of(counts.sent.weight);
    let sums = widths.partial_sum.bits_of(counts.arrived);
    [network.down_cycles(inputs, weights), network.up.cycles_of_bits(sums)]
}

/// Table of the classes of equal steps: their number, and traffic and cycles of one step.
fn steps(report: &NestReport, style: Style) -> String {
    let classes = step_classes(&report.nest, &report.mapping, &report.machine);
    let mut columns = Columns::<&StepClass>::new()
        .text("level", |it| short(it.level))
        .text("step", |it| match it.start {
            Start::First => "first",
            Start::Next => "next",
            Start::Flush => "flush",
        })
        .number("times", |it| it.times)
        .number("units", |it| it.units)
        .number("inputs", |it| it.sent.input)
        .number("weights", |it| it.sent.weight)
        .number("sums up", |it| it.arrived)
        .number("cycles down", |it| it.down_cycles)
        .number("cycles up", |it| it.up_cycles)
        .number("cycles of a PE", |it| it.pe_cycles);
    if classes.iter().any(|class| class.fill_cycles > 0) {
        columns = columns.number("cycles of the fill", |it| it.fill_cycles);
    }
    let mut table = columns.header();
    for (level, ..) in all_levels(report) {
        let here: Vec<_> = classes.iter().filter(|class| class.level == level).collect();
        table.rows.extend(here.iter().take(MAX_CLASSES).map(|class| columns.row(class)));
        if here.len() > MAX_CLASSES {
            let left_out = format!("and {} rarer ones", here.len() - MAX_CLASSES);
            table.rows.push(vec![short(level), left_out]);
        }
    }
    table.text(style)
}

/// Lines about tiles in shared memory and DRAM traffic.
fn memory(report: &NestReport) -> String {
    let plan = &report.evaluation.memory;
    let dram = &plan.dram;
    let loops = report.mapping.off_chip().unwrap_or(&report.mapping.levels()[0]).loops();
    let names = PerTensor { input: "inputs", weight: "weights", output: "outputs" };
    let holds: Vec<_> = TensorRole::ALL
        .into_iter()
        .map(|tensor| {
            let what = match (report.machine.resident[tensor], plan.depths[tensor]) {
                (true, _) => "resident".into(),
                (false, 0) => "whole".into(),
                (false, depth) => match loops.get(depth - 1) {
                    Some(map) => format!("a tile inside the loop over {}", map.axis),
                    None => "a tile".into(),
                },
            };
            format!("{} {what}", names[tensor])
        })
        .collect();
    let capacity = report.machine.shared_bytes.map_or("any".into(), |bytes| bytes.to_string());
    let fits = if plan.fits { "" } else { "; it does NOT fit" };
    format!(
        "shared      {} of {capacity} bytes: {}{fits}\n\
         DRAM        {} bytes of inputs, {} of weights, {} of partial sums read; {} written\n",
        plan.shared_bytes,
        holds.join(", "),
        dram.inputs_read,
        dram.weights_read,
        dram.partial_sums_read,
        dram.outputs_written,
    )
}

fn time(report: &NestReport) -> String {
    let Evaluation { cycles, compute_cycles, chip_cycles, dram_cycles, bound, .. } =
        report.evaluation;
    let utilisation = report.evaluation.utilisation(report.machine.pes, report.machine.rate);
    format!(
        "cycles      {compute_cycles} if transfers took no time, {chip_cycles} with the NoC, DRAM \
         alone {dram_cycles}\n            = {cycles}, bound by {bound}; the PEs are utilised to {:.1} %\n",
        100.0 * utilisation
    )
}

fn energy(evaluation: &Evaluation, style: Style) -> String {
    let total = evaluation.energy.total();
    let mut table = Columns::<(&str, f64)>::new()
        .text("energy", |(name, _)| {
            name.trim_start_matches("energy_").trim_end_matches("_pJ").to_string()
        })
        .number("nJ", |(_, energy)| format!("{:.3}", energy / 1e3))
        .number("share", |(_, energy)| {
            format!("{:.1} %", 100.0 * energy / total.max(f64::MIN_POSITIVE))
        })
        .of(evaluation.energy.components());
    table.rows.push(vec!["total".into(), format!("{:.3}", total / 1e3), String::new()]);
    table.text(style)
}
