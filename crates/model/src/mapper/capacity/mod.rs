//! Lower bounds that know capacities (docs/explanation/mapper.md, section 3.1).
//!
//! A *tuple* says what the shared memory holds: sizes of all axes above the shared memory or on level 0, and which
//! tensors are loaded again by which loops. The least value over all tuples bounds every mapping. Ranges of
//! sizes are bounded by their smallest tiles and their least numbers of chunks, and are halved, the least bound first. The
//! bound is valid whenever the search stops.

mod levels;
mod search;
mod sizes;
mod structure;
mod tuple;

use crate::cost::loop_nest::Machine;

use super::objective::{Objective, Value};
use super::problem::Problem;
use super::skeletons::{OwnSkeleton, Unspread, skeletons};
use search::least;
use structure::Kind;
use tuple::Case;

/// Lower bounds of the mappings of a layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound {
    /// Latency and energy that no mapping is below.
    pub value: Value,
    /// Product of both that no mapping is below \[pJ cycle\].
    pub edp: f64,
}

impl Bound {
    /// Bounds of latency and energy, and their product.
    pub(super) fn of(value: Value) -> Self {
        Self { value, edp: value.edp() }
    }

    /// Bound of the main quantity of an objective.
    pub(super) fn of_objective(&self, objective: Objective) -> f64 {
        match objective {
            Objective::Edp => self.edp,
            _ => objective.of(&self.value),
        }
    }

    /// The larger one of each bound.
    #[must_use]
    pub(super) fn max(self, other: Self) -> Self {
        let value = Value {
            cycles: self.value.cycles.max(other.value.cycles),
            energy_pj: self.value.energy_pj.max(other.value.energy_pj),
        };
        Self { value, edp: self.edp.max(other.edp).max(value.edp()) }
    }
}

/// Distance to the plain bound, as a fraction of it, from which on tuples are looked at.
const CLOSE: f64 = 0.005;

/// Most ranges of tuples that are looked at for the latency of a long layer or with exact search, of a short layer that
/// was asked for its latency, and of other layers, and with exact search for energy and the product. Few layers need more
/// than some hundred for their latency; the energy of most takes as many as it may.
const MOST_RANGES: usize = 100_000;
const MOST_RANGES_SHORT: usize = 20_000;
const MOST_RANGES_ASIDE: usize = 1_000;
const MOST_RANGES_OF_ENERGY: usize = 20_000;

/// Latency of a long layer \[cycle\].
const LONG: u64 = 1_000_000;

/// Most cases of a layer. Mapspaces with more have the plain bound only.
const MOST_CASES: usize = 512;

/// Limits of the ranges that are looked at.
pub(super) const LIMITS: [u64; 6] = [
    MOST_RANGES as u64,
    MOST_RANGES_SHORT as u64,
    MOST_RANGES_ASIDE as u64,
    MOST_RANGES_OF_ENERGY as u64,
    MOST_CASES as u64,
    LONG,
];

/// Bounds of all mappings of `forms`, of which `best` was found and that have the bound `plain`. No bound is above
/// `best`. Objectives without an own bound have the plain one.
pub(super) fn bounds(forms: &[Problem], plain: Value, best: &Value, is_exact: bool) -> Bound {
    let is_asked = forms.first().is_some_and(|it| it.objective == Objective::Cycles);
    let of_cycles = match () {
        // What takes most time is bounded most closely.
        () if is_exact || plain.cycles >= LONG => MOST_RANGES,
        () if is_asked => MOST_RANGES_SHORT,
        () => MOST_RANGES_ASIDE,
    };
    let of_energy = if is_exact { MOST_RANGES_OF_ENERGY } else { 0 };
    bounds_within(forms, plain, best, [of_cycles, of_energy])
}

/// [`bounds`] from so many ranges for the latency, and for each of the other objectives.
fn bounds_within(
    forms: &[Problem],
    plain: Value,
    best: &Value,
    [of_cycles, of_energy]: [usize; 2],
) -> Bound {
    let objective = forms.first().map_or(Objective::Cycles, |form| form.objective);
    let bound = Bound::of(plain);
    let wanted: &[Objective] = match objective {
        Objective::Cycles => &[Objective::Cycles],
        Objective::Energy => &[Objective::Energy, Objective::Cycles],
        Objective::Edp => &[Objective::Cycles, Objective::Energy, Objective::Edp],
        Objective::EnergyWithin(_) => &[],
    };
    let is_far = |of: &&Objective| {
        let most = if **of == Objective::Cycles { of_cycles } else { of_energy };
        most > 0 && of.of(best) > of.of(&plain) * (1.0 + CLOSE)
    };
    let wanted: Vec<_> = wanted.iter().filter(is_far).copied().collect();
    if wanted.is_empty() {
        return bound;
    }
    let Some(cases) = cases(forms, plain, best, &wanted) else { return bound };
    wanted.into_iter().fold(bound, |bound, objective| {
        let most = if objective == Objective::Cycles { of_cycles } else { of_energy };
        let found = least(&cases, objective, objective.of(best), most);
        bound.max(with(bound, objective, found))
    })
}

/// A bound with another least value of an objective.
fn with(bound: Bound, objective: Objective, least: f64) -> Bound {
    let Bound { mut value, mut edp } = bound;
    match objective {
        Objective::Cycles => value.cycles = least as u64,
        Objective::Energy | Objective::EnergyWithin(_) => value.energy_pj = least,
        Objective::Edp => edp = least,
    }
    Bound { value, edp }
}

/// Every case that may hold a better mapping than `best` by one of the objectives; `None` if there are too many, or
/// the bounds do not hold.
fn cases<'a>(
    forms: &'a [Problem<'a>],
    plain: Value,
    best: &Value,
    wanted: &[Objective],
) -> Option<Vec<Case<'a>>> {
    if forms.iter().any(|form| !holds_on(form.machine)) {
        return None;
    }
    let (mut cases, mut is_empty) = (Vec::new(), true);
    let of_energy = wanted.iter().any(|objective| *objective != Objective::Cycles);
    for form in forms {
        let spread = skeletons(form, Unspread::WhereNecessary);
        let kinds = spread.iter().flat_map(|skeleton| kinds(form, skeleton));
        for (kind, skeleton) in kinds {
            is_empty = false;
            if cases.len() == MOST_CASES {
                return None;
            }
            let cycles = plain.cycles.max(skeleton.compute);
            if !of_energy && cycles >= best.cycles {
                continue;
            }
            let case = Case::new(form, skeleton, kind, cycles, of_energy);
            let least = Value { cycles, energy_pj: case.least_energy() };
            if wanted.iter().any(|objective| objective.of(&least) < objective.of(best)) {
                cases.push(case);
            }
        }
    }
    (!is_empty).then_some(cases)
}

/// Whether the bounds hold on a machine: every product is computed once.
fn holds_on(machine: &Machine) -> bool {
    !machine.allow_overlap
}

/// Kinds of tuples, with the skeletons in which they are looked for. A level that spreads nothing on its units takes
/// at least the time of one that does, but level 0 then holds other tiles.
fn kinds(form: &Problem, skeleton: &OwnSkeleton) -> Vec<(Kind, OwnSkeleton)> {
    let mut kinds = vec![(Kind::OnChip, *skeleton)];
    if skeleton.axes()[0].is_some() {
        kinds.push((Kind::OnChip, skeleton.unspread(form)));
    }
    if let Some(under) = skeleton.under_off_chip().filter(|_| form.space.off_chip) {
        kinds.push((Kind::OffChip, under));
    }
    kinds
}

#[cfg(test)]
mod tests;
