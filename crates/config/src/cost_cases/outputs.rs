//! Output columns: the values of the model that are compared.

use xrsim_model::cost::loop_nest::{
    Evaluation, Illegal, Level, LevelCounts, Loop, Machine, Mapping, Nest, evaluate,
};

use super::inputs::Inputs;

/// Relative tolerance of energies, because sums may be taken in another order.
const TOLERANCE: f64 = 1e-9;

/// A value of the model.
pub(super) enum Value {
    Count(u64),
    Real(f64),
    Text(String),
}

use Value::{Count, Real, Text};

type Of<T> = fn(&T) -> Value;

/// Meaning of a column.
#[derive(Clone, Copy)]
pub(super) enum Column {
    /// Value of the evaluation.
    Whole(Of<Evaluation>),
    /// Value of a level; empty if the level does not exist.
    Level(usize, Of<LevelCounts>),
    /// Value of the evaluation in a whole system.
    Full(Of<Evaluation>),
    /// Value of the case and the evaluation.
    Case(fn(&Case, &Evaluation) -> Value),
    /// Elaborated levels as text, or their number.
    Levels,
    /// Whether the mapping is legal.
    Legal,
    /// Class of the error of an illegal mapping.
    Error,
}

const WHOLE: [(&str, Of<Evaluation>); 29] = [
    ("chip_cycles", |e| Count(e.chip_cycles)),
    ("compute_cycles", |e| Count(e.compute_cycles)),
    ("macs_executed", |e| Count(e.macs_executed)),
    ("macs", |e| Count(e.macs_executed)),
    ("pe_outputs", |e| Count(e.pe_outputs)),
    ("PE_accum", |e| Count(e.pe_accumulations)),
    ("dram_rd_i", |e| Count(e.memory.dram.inputs_read)),
    ("dram_rd_w", |e| Count(e.memory.dram.weights_read)),
    ("dram_rd_psum", |e| Count(e.memory.dram.partial_sums_read)),
    ("dram_wr_o", |e| Count(e.memory.dram.outputs_written)),
    ("l2_used", |e| Count(e.memory.shared_bytes)),
    ("l2_fits", |e| Count(e.memory.fits.into())),
    ("hold_i", |e| Count(e.memory.depths.input as u64)),
    ("hold_w", |e| Count(e.memory.depths.weight as u64)),
    ("hold_o", |e| Count(e.memory.depths.output as u64)),
    ("dram_cycles", |e| Count(e.dram_cycles)),
    ("cycles", |e| Count(e.cycles)),
    ("bound", |e| Text(e.bound.to_string())),
    ("pj_mac", |e| Real(e.energy.mac)),
    ("pj_reg", |e| Real(e.energy.register)),
    ("pj_l1", |e| Real(e.energy.scratchpad)),
    ("pj_mid", |e| Real(e.energy.cluster)),
    ("pj_l2", |e| Real(e.energy.shared)),
    ("pj_noc", |e| Real(e.energy.noc)),
    ("pj_dram", |e| Real(e.energy.dram)),
    ("pj_leak", |e| Real(e.energy.leakage)),
    ("pj_total", |e| Real(e.energy.total())),
    ("energy_pj", |e| Real(e.energy.total())),
    ("transitions", |e| Count(e.transitions)),
];

const LEVEL: [(&str, Of<LevelCounts>); 12] = [
    ("send_i", |l| Count(l.sent.input)),
    ("send_w", |l| Count(l.sent.weight)),
    ("deliv_i", |l| Count(l.delivered.input)),
    ("deliv_w", |l| Count(l.delivered.weight)),
    ("fwd_i", |l| Count(l.forwarded.input)),
    ("fwd_w", |l| Count(l.forwarded.weight)),
    ("arrive_o", |l| Count(l.arrived)),
    ("leave_o", |l| Count(l.left)),
    ("steps", |l| Count(l.steps)),
    ("active", |l| Count(l.active)),
    ("unit_req", |l| Count(l.unit_bytes)),
    ("accum", |l| Count(l.accumulated)),
];

/// Columns of tables of the published study, whose energies do not include DRAM.
const STUDY: [(&str, Column); 9] = [
    ("utilization", Column::Case(Case::utilisation)),
    ("energy_pj", Column::Whole(|e| Real(chip_pj(e)))),
    ("energy_pub_formula_pj", Column::Case(|case, e| Real(case.published_pj(e)))),
    ("cyc_ratio", Column::Case(|case, e| Real(e.cycles as f64 / case.published[0]))),
    ("en_ratio", Column::Case(|case, e| Real(case.published_pj(e) / case.published[1]))),
    ("en_ratio_own", Column::Case(|case, e| Real(chip_pj(e) / case.published[1]))),
    ("full_cycles", Column::Full(|e| Count(e.cycles))),
    ("full_bound", Column::Full(|e| Text(e.bound.to_string()))),
    ("full_energy_pj", Column::Full(|e| Real(e.energy.total()))),
];

/// Columns about the mapping.
const MAPPING: [(&str, Column); 3] =
    [("levels", Column::Levels), ("legal", Column::Legal), ("error", Column::Error)];

/// Energy without DRAM \[pJ\].
fn chip_pj(evaluation: &Evaluation) -> f64 {
    evaluation.energy.total() - evaluation.energy.dram
}

/// Names of columns without the columns of levels.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let whole = WHOLE.iter().map(|(name, _)| *name);
    whole.chain(STUDY.iter().chain(&MAPPING).map(|(name, _)| *name))
}

impl Column {
    /// The column called `name`. Some columns exist only in tables of the published study.
    pub(super) fn parse(name: &str, is_study: bool) -> Option<Self> {
        let others: &[(&str, Self)] = if is_study { &STUDY } else { &MAPPING };
        if let Some((_, column)) = others.iter().find(|(known, _)| *known == name) {
            return Some(*column);
        }
        if let Some((_, of)) = WHOLE.iter().find(|(known, _)| *known == name) {
            return Some(Self::Whole(*of));
        }
        let (level, name) = name.strip_prefix('L')?.split_once('_')?;
        let level = level.parse().ok().filter(|&level| level < Mapping::MAX_LEVELS)?;
        let (_, of) = LEVEL.iter().find(|(known, _)| *known == name)?;
        Some(Self::Level(level, *of))
    }
}

impl Value {
    /// Whether a cell has this value: exactly for whole numbers and text, within the tolerance for real
    /// numbers.
    fn is(&self, expected: &str) -> bool {
        match self {
            Count(count) => expected.parse() == Ok(*count),
            Text(text) => text == expected,
            Real(real) => expected.parse().is_ok_and(|expected: f64| {
                (real - expected).abs() <= TOLERANCE * real.abs().max(expected.abs())
            }),
        }
    }

    fn text(&self) -> String {
        match self {
            Count(count) => count.to_string(),
            Real(real) => real.to_string(),
            Text(text) => text.clone(),
        }
    }
}

/// A mapped and evaluated case.
pub(super) struct Case {
    pes: u32,
    rate: u32,
    mapping: Result<Mapping, Illegal>,
    evaluation: Result<Evaluation, Illegal>,
    /// In a whole system, if the case is of a study.
    full: Option<Evaluation>,
    /// Cycles and energy of the artifact.
    published: [f64; 2],
    /// Elements of all tensors, padding included.
    elements: u64,
}

impl Case {
    pub(super) fn new(inputs: Inputs) -> Self {
        let Inputs { nest, directives, machine, full, published } = inputs;
        let map = |nest: &Nest| Mapping::new(&directives, nest, &machine);
        let mapping = nest.as_ref().map_err(Illegal::clone).and_then(map);
        let run = |machine: &Machine| {
            let (nest, mapping) = (nest.clone()?, mapping.clone()?);
            evaluate(&nest, &mapping, machine)
        };
        let full = full.and_then(|machine| run(&machine).ok());
        let evaluation = run(&machine);
        let footprints =
            |nest: &Nest| nest.footprints(nest.extents()).into_array().into_iter().sum();
        Self {
            pes: machine.pes,
            rate: machine.rate,
            mapping,
            evaluation,
            full,
            published,
            elements: nest.as_ref().map_or(0, footprints),
        }
    }

    /// Utilisation with four decimals, as in the tables.
    fn utilisation(&self, evaluation: &Evaluation) -> Value {
        Text(format!("{:.4}", evaluation.utilisation(self.pes, self.rate)))
    }

    /// Energy by the constants of the published artifact \[pJ\]: 2.88 pJ for a MAC; 6 times that for an
    /// element that the shared memory sends or exchanges with DRAM, where every tensor moves once; and
    /// 0.55 times that for an element that a PE receives, and for each of four accesses of a MAC.
    fn published_pj(&self, evaluation: &Evaluation) -> f64 {
        let levels = evaluation.levels();
        let shared = levels[0].sent.sum() + self.elements;
        let macs = evaluation.macs_executed;
        let scratchpad = 4 * macs + levels[levels.len() - 1].delivered.sum();
        2.88 * (6.0 * shared as f64 + 0.55 * scratchpad as f64 + macs as f64)
    }

    /// Value of the model in a column, if it differs from `expected`.
    pub(super) fn differs(&self, column: &Column, expected: &str) -> Option<String> {
        match (column, &self.mapping) {
            (Column::Legal, mapping) => differs(&Count(mapping.is_ok().into()), expected),
            (Column::Error, Ok(_)) => (!expected.is_empty()).then(String::new),
            (Column::Error, Err(error)) => {
                (class(expected) != class(&error.to_string())).then(|| error.to_string())
            }
            (Column::Levels, Ok(mapping)) => {
                let depth = Count(mapping.all_levels().len() as u64);
                let levels = levels(mapping);
                (!depth.is(expected) && levels != expected).then_some(levels)
            }
            (Column::Levels, Err(_)) if expected.is_empty() => None,
            (column, _) => match &self.evaluation {
                Ok(evaluation) => self.of_evaluation(evaluation, column, expected),
                Err(error) => Some(error.to_string()),
            },
        }
    }

    fn of_evaluation(
        &self,
        evaluation: &Evaluation,
        column: &Column,
        expected: &str,
    ) -> Option<String> {
        let value = match *column {
            Column::Whole(of) => of(evaluation),
            Column::Level(level, of) => match evaluation.levels().get(level) {
                Some(counts) => of(counts),
                None => Text(String::new()),
            },
            Column::Case(of) => of(self, evaluation),
            Column::Full(of) => self.full.as_ref().map_or(Text(String::new()), of),
            Column::Levels | Column::Legal | Column::Error => return None,
        };
        differs(&value, expected)
    }
}

fn differs(value: &Value, expected: &str) -> Option<String> {
    (!value.is(expected)).then(|| value.text())
}

/// Class of the error in a text: any, under-cover, over-cover. The wording does not matter.
fn class(error: &str) -> [bool; 3] {
    [!error.is_empty(), error.contains("under-cover"), error.contains("over-cover")]
}

/// Levels in the notation of the tables, e.g. `[U=4 T(1,1)Y S(1,1)X, U=16 ]`.
fn levels(mapping: &Mapping) -> String {
    let level = |level: &Level| {
        let loops: Vec<_> = level.loops().iter().map(Loop::to_string).collect();
        format!("U={} {}", level.units(), loops.join(" "))
    };
    let levels: Vec<_> = mapping.all_levels().iter().map(level).collect();
    format!("[{}]", levels.join(", "))
}
