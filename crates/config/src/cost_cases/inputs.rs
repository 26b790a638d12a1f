//! Input columns: layer, mapping and machine of a row.

use std::str::FromStr;

use crate::cost_csv::Row;
use crate::{Catalog, Problem};
use xrsim_model::cost::loop_nest::{
    Bandwidth, Energies, Extents, Illegal, Machine, Nest, NocLevel, Width, Widths, Window,
};
use xrsim_model::dataflow::Directives;
use xrsim_model::model::PerTensor;

use super::mapping::parse_mapping;

/// Names of input columns: all of them, and those without a default.
type Names = (&'static [&'static str], &'static [&'static str]);

/// Inputs of a case with a mapping.
pub(super) const CASE_INPUTS: Names = (
    &[
        "N",
        "G",
        "K",
        "C",
        "Yo",
        "Xo",
        "R",
        "S",
        "stride_y",
        "stride_x",
        "dil_y",
        "dil_x",
        "in_y",
        "in_x",
        "depthwise",
        "allow_overlap",
        "mapping",
        "pes",
        "bw_in",
        "bw_out",
        "bw_w",
        "split",
        "single_w",
        "lat",
        "step_lat",
        "multicast",
        "forward",
        "reduce",
        "rate",
        "bytes",
        "dram_bw",
        "dram_lat",
        "l2",
        "resident",
        "l2_copies",
    ],
    &["N", "G", "K", "C", "Yo", "Xo", "R", "S", "mapping", "pes"],
);

/// Inputs of a case of the published study, with the results of the artifact.
pub(super) const STUDY_INPUTS: Names = (
    &["dataflow", "shape_id", "K", "C", "Y", "X", "R", "S", "pub_cycles", "pub_energy_pj"],
    &["dataflow", "K", "C", "Y", "X", "R", "S"],
);

/// PEs of the published study's largest accelerator.
const STUDY_PES: u32 = 4096;
/// Bandwidth of each of its NoC levels \[byte/cycle\].
const STUDY_BANDWIDTH: u64 = 256;
/// DRAM of a whole system around it: bandwidth \[byte/cycle\] and latency \[cycle\].
const FULL_DRAM: (u64, u32) = (128, 100);
/// Shared memory of that system \[byte\].
const FULL_SHARED_BYTES: u64 = 8 << 20;

/// Inputs of a case.
pub(super) struct Inputs {
    pub nest: Result<Nest, Illegal>,
    pub directives: Directives,
    pub machine: Machine,
    /// The same machine in a whole system, if the case is of a study.
    pub full: Option<Machine>,
    /// Cycles and energy of the artifact.
    pub published: [f64; 2],
}

/// Cells of a row by column name; problems are collected.
pub(super) struct Cells<'a> {
    names: &'a [String],
    row: &'a Row<'a>,
    problems: Vec<Problem>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(names: &'a [String], row: &'a Row<'a>) -> Self {
        Self { names, row, problems: Vec::new() }
    }

    /// `value`, or the problems found while it was read.
    pub(super) fn finish<T>(self, value: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.problems) }
    }

    /// Position and text of a cell; `None` if the column is absent or the cell empty.
    fn cell(&self, name: &str) -> Option<(usize, &'a str)> {
        let index = self.names.iter().position(|known| known == name)?;
        Some((index, &self.row.cells[index])).filter(|(_, text)| !text.is_empty())
    }

    /// Values of a cell, which are joined by `;`; empty if the column is absent or the cell empty.
    fn list<T: FromStr>(&mut self, name: &str) -> Vec<T> {
        let Some((index, text)) = self.cell(name) else {
            return Vec::new();
        };
        let values: Option<Vec<T>> = text.split(';').map(|text| text.trim().parse().ok()).collect();
        if values.is_none() {
            let message = format!("`{text}` is not a list of whole numbers joined by `;`");
            self.problems.push(self.row.problem(index, message));
        }
        values.unwrap_or_default()
    }

    fn number<T: FromStr>(&mut self, name: &str) -> Option<T> {
        let (index, text) = self.cell(name)?;
        let value = text.parse().ok();
        if value.is_none() {
            let message = format!("`{text}` is not a number that `{name}` can have");
            self.problems.push(self.row.problem(index, message));
        }
        value
    }

    fn flag(&mut self, name: &str) -> bool {
        self.number::<u8>(name).is_some_and(|flag| flag != 0)
    }

    /// `N` values of a cell; `default` if it is empty or has another number of values.
    fn array<T: FromStr + Copy, const N: usize>(&mut self, name: &str, default: [T; N]) -> [T; N] {
        let values = self.list(name);
        let count = values.len();
        values.try_into().unwrap_or_else(|_| {
            if let Some((index, _)) = self.cell(name).filter(|_| count > 0) {
                self.problems
                    .push(self.row.problem(index, format!("{count} values; {N} are needed")));
            }
            default
        })
    }

    /// An extent: 1 for an empty cell, and 0, which no layer has, for a wrong one.
    fn extent(&mut self, name: &str) -> u32 {
        if self.cell(name).is_none() { 1 } else { self.number(name).unwrap_or(0) }
    }

    /// A case with a mapping.
    pub(super) fn case(&mut self) -> Inputs {
        let extents: Extents =
            ["N", "G", "K", "C", "Yo", "Xo", "R", "S"].map(|name| self.extent(name));
        let [_, _, _, _, rows, columns, kernel_rows, kernel_columns] = extents;
        let windows = [
            self.window(["stride_y", "dil_y", "in_y"], rows, kernel_rows),
            self.window(["stride_x", "dil_x", "in_x"], columns, kernel_columns),
        ];
        Inputs {
            nest: Nest::new(extents, windows, self.flag("depthwise")),
            directives: self.mapping(),
            machine: self.machine(),
            full: None,
            published: [f64::NAN; 2],
        }
    }

    /// Stride, dilation and stored extent of one direction.
    fn window(&mut self, names: [&str; 3], output: u32, kernel: u32) -> Window {
        let [stride, dilation] = [names[0], names[1]].map(|name| self.extent(name));
        let unpadded = Window { stride, dilation, stored: u32::MAX, padding: 0 };
        let stored = self.number(names[2]);
        let stored = stored.unwrap_or_else(|| unpadded.reach(output, kernel));
        Window { stored, ..unpadded }.padded(output, kernel)
    }

    fn mapping(&mut self) -> Directives {
        let Some((index, text)) = self.cell("mapping") else {
            return Directives::default();
        };
        parse_mapping(text).unwrap_or_else(|problems| {
            let cell = self.row.cell(index);
            for problem in problems {
                let message = format!("{} in `{}`", problem.message, &text[problem.span]);
                self.problems.push(Problem::new(cell.clone(), message));
            }
            Directives::default()
        })
    }

    fn machine(&mut self) -> Machine {
        let default = Machine::new(self.number("pes").unwrap_or(1));
        let widths = self.array("bytes", [1; 4]);
        Machine {
            rate: self.number("rate").unwrap_or(1),
            noc_levels: self.noc_levels(),
            widths: Widths::of_bytes(widths),
            shared_bytes: self.number("l2"),
            shared_copies: self.array("l2_copies", default.shared_copies.into_array()).into(),
            resident: PerTensor::from(self.array("resident", [0u8; 3])).map(|flag| flag != 0),
            dram_bandwidth: self.number("dram_bw").map_or(Bandwidth::INFINITE, bandwidth),
            dram_latency: self.number("dram_lat").unwrap_or(0),
            allow_overlap: self.flag("allow_overlap"),
            ..default
        }
    }

    /// NoC levels, as many as the longest list has. Shorter lists continue with their last value.
    fn noc_levels(&mut self) -> Vec<NocLevel> {
        let bandwidths = ["bw_in", "bw_out", "bw_w"].map(|name| self.list::<u64>(name));
        let latencies = self.list::<u32>("lat");
        let flags = ["split", "single_w", "step_lat", "multicast", "forward", "reduce"];
        let flags = flags.map(|name| self.list::<u8>(name));
        let lengths = bandwidths.iter().map(Vec::len).chain([latencies.len()]);
        let levels = lengths.chain(flags.iter().map(Vec::len)).max().unwrap_or(0);
        let noc = |level: usize| {
            let [down, up, weights] = bandwidths.each_ref().map(|list| entry(list, level));
            let [split, single, step, multicast, forward, reduce] =
                flags.each_ref().map(|list| entry(list, level).map(|flag| flag != 0));
            let down = down.map_or(Bandwidth::INFINITE, bandwidth);
            let weights = weights.map_or(down, bandwidth);
            NocLevel {
                down,
                up: up.map_or(down, bandwidth),
                weights: split.unwrap_or(false).then_some(weights),
                single_weights: single.unwrap_or(false),
                latency: entry(&latencies, level).unwrap_or(0),
                step_latency: step.unwrap_or(false),
                multicast: multicast.unwrap_or(true),
                forward: forward.unwrap_or(false),
                reduce: reduce.unwrap_or(true),
                ..NocLevel::IDEAL
            }
        };
        (0..levels).map(noc).collect()
    }

    /// A dense layer of the published study. A layer smaller than its kernel is padded to one output.
    pub(super) fn study(&mut self) -> Inputs {
        let [k, c, rows, columns, r, s] =
            ["K", "C", "Y", "X", "R", "S"].map(|name| self.extent(name));
        let outputs = |stored: u32, kernel: u32| stored.saturating_sub(kernel).saturating_add(1);
        let [y, x] = [outputs(rows, r), outputs(columns, s)];
        let windows = [Window::new(y, r, rows), Window::new(x, s, columns)];
        let down = bandwidth(STUDY_BANDWIDTH);
        let noc = NocLevel { down, up: down, ..NocLevel::IDEAL };
        let machine = Machine {
            noc_levels: vec![noc],
            energies: Energies::with_shared_memory(FULL_SHARED_BYTES as f64),
            ..Machine::new(STUDY_PES)
        };
        Inputs {
            nest: Nest::new([1, 1, k, c, y, x, r, s], windows, false),
            directives: self.dataflow(),
            full: Some(in_system(&machine)),
            machine,
            published: ["pub_cycles", "pub_energy_pj"]
                .map(|name| self.number(name).unwrap_or(f64::NAN)),
        }
    }

    /// The embedded dataflow that a row names.
    fn dataflow(&mut self) -> Directives {
        let Some((index, name)) = self.cell("dataflow") else {
            return Directives::default();
        };
        match Catalog::new().dataflow(name) {
            Ok(dataflow) => dataflow.directives().clone(),
            Err(error) => {
                self.problems.push(self.row.problem(index, error.to_string()));
                Directives::default()
            }
        }
    }
}

/// The machine with wide partial sums, latency, finite shared memory and DRAM.
fn in_system(machine: &Machine) -> Machine {
    let delayed = |noc: &NocLevel| NocLevel { latency: 1, ..*noc };
    Machine {
        noc_levels: machine.noc_levels.iter().map(delayed).collect(),
        widths: Widths { partial_sum: Width::of_bytes(4), ..machine.widths },
        shared_bytes: Some(FULL_SHARED_BYTES),
        dram_bandwidth: bandwidth(FULL_DRAM.0),
        dram_latency: FULL_DRAM.1,
        ..machine.clone()
    }
}

/// A bandwidth, where 0 stands for infinite.
fn bandwidth(bytes_per_cycle: u64) -> Bandwidth {
    Bandwidth::new(bytes_per_cycle).unwrap_or(Bandwidth::INFINITE)
}

/// Entry of a level in a list that begins with the outermost one; the last entry holds for all deeper
/// levels.
fn entry<T: Copy>(list: &[T], level: usize) -> Option<T> {
    list.get(level).or(list.last()).copied()
}
