//! The best of an accelerator's own choice and those of others for the same layer (docs/explanation/mapper.md,
//! section 6.3).

use crate::cost::Certainty;
use crate::cost::loop_nest::{Choice, Machine, Mapping, Nest, Offer, evaluate_shared};
use crate::hardware::MappingObjective;

use super::bound;
use super::kept::Kept;
use super::objective::{Objective, Value, within_one_percent};
use super::problem::Limits;

/// Largest relative error of a sum of energies, or of the difference of two of them.
const ROUNDING: f64 = 1e-9;

/// A layer on a machine, for which choices are compared.
pub(super) struct Contest<'a> {
    pub nest: &'a Nest,
    pub machine: &'a Machine,
    pub limits: &'a Limits,
    pub objective: MappingObjective,
    /// Name of the effort of the searches.
    pub effort: &'static str,
}

/// A choice of another accelerator with its value on this one.
struct Candidate<'a> {
    value: Value,
    choice: &'a Choice,
}

/// What no mapping of a layer on a machine is below.
struct Least {
    value: Value,
    /// Bytes that DRAM moves.
    dram_bytes: u64,
}

impl Contest<'_> {
    /// The best of `own` and of those of `others` that run, by the objective; of equal ones `own`. Under `cycles`, it
    /// is no slower than any of `others`.
    pub(super) fn best(&self, own: Option<Kept>, others: &[Offer]) -> Option<Choice> {
        let own = own.filter(|kept| kept.cycles().is_some());
        let least = Least {
            value: bound::of_machine(self.nest, self.machine),
            dram_bytes: bound::least_dram_bytes(self.nest, self.machine),
        };
        let candidates = self.candidates(own.as_ref(), &least, others);
        let objective = self.comparing(own.as_ref(), &candidates);
        let order = |a: &&Candidate<'_>, b: &&Candidate<'_>| {
            let by_value = objective.compare(&a.value, &b.value);
            by_value.then_with(|| a.choice.digest().cmp(&b.choice.digest()))
        };
        let best = candidates.iter().min_by(order);
        let is_better = |it: &&Candidate<'_>| {
            own.as_ref().is_none_or(|own| objective.compare(&it.value, &own.value).is_lt())
        };
        let Some(Candidate { value, choice }) = best.filter(is_better) else {
            return own?.into_choice(self.effort);
        };
        let of_own = own.as_ref().map(|own| own.bound.cycles);
        let bound = of_own.filter(|&it| it <= value.cycles).unwrap_or(least.value.cycles);
        let certainty = Certainty { effort: self.effort, ..Certainty::new(value.cycles, bound) };
        Some(Choice { certainty: Some(certainty), ..(*choice).clone() })
    }

    /// Choices of others that run here, but for those that cannot be better than `own`.
    fn candidates<'o>(
        &self,
        own: Option<&Kept>,
        least: &Least,
        others: &'o [Offer],
    ) -> Vec<Candidate<'o>> {
        let candidate = |offer: &'o Offer| {
            let bound = self.bound(offer, least);
            let may_count = own.is_none_or(|own| self.may_count(&bound, &own.value));
            let equal = own.filter(|own| own.choice.is_alike(&offer.choice));
            let value = || equal.map_or_else(|| self.value(&offer.choice), |own| Some(own.value));
            let value = may_count.then(value).flatten()?;
            debug_assert!(bound.cycles <= value.cycles && bound.energy_pj <= value.energy_pj);
            Some(Candidate { value, choice: &offer.choice })
        };
        others.iter().filter_map(candidate).collect()
    }

    /// Latency and energy that an offer has at least, from the PEs that it uses and the facts of its walk.
    fn bound(&self, offer: &Offer, least: &Least) -> Value {
        let Machine { rate, energies, widths, .. } = self.machine;
        let mapping = &offer.choice.mapping;
        let pes = n_pes(mapping).saturating_mul(u64::from(*rate).max(1)).max(1);
        let cycles = least.value.cycles.max(mapping.macs().div_ceil(pes));
        let Some(facts) = offer.facts.filter(|it| it.widths == *widths) else {
            return rounded(Value { cycles, ..least.value });
        };
        let cycles = cycles.max(facts.cycles);
        let dram = least.dram_bytes as f64;
        let energy_pj = facts.on_chip_pj
            + (facts.shared_bytes + dram) * energies.shared
            + dram * energies.dram
            + cycles as f64 * (energies.leakage + energies.clock);
        rounded(Value { cycles, energy_pj: energy_pj.max(least.value.energy_pj) })
    }

    /// Whether a mapping that is not below `bound` may be better than `own`.
    fn may_count(&self, bound: &Value, own: &Value) -> bool {
        match self.objective.of_values() {
            // Up to here, a mapping lowers the limit of latency or keeps within it.
            None => bound.cycles <= within_one_percent(own.cycles),
            Some(objective) => objective.compare(bound, own).is_lt(),
        }
    }

    /// Value of a choice; `None` if it does not run here.
    fn value(&self, choice: &Choice) -> Option<Value> {
        let Choice { nest, mapping, .. } = choice;
        let machine = self.machine;
        let units = mapping.levels().first().map_or(1, |level| level.units());
        if n_pes(mapping) > machine.pes.into() || units > machine.units_limit.unwrap_or(u32::MAX) {
            return None;
        }
        let evaluation = evaluate_shared(nest, mapping, machine).ok()?;
        let value = Value { cycles: evaluation.cycles, energy_pj: evaluation.energy.total() };
        self.limits.hold(&evaluation, machine).then_some(value)
    }

    /// The objective by which values are compared.
    fn comparing(&self, own: Option<&Kept>, candidates: &[Candidate<'_>]) -> Objective {
        self.objective.of_values().unwrap_or_else(|| {
            let ceiling = candidates.iter().map(|it| it.value.cycles).min();
            let own = own.and_then(Kept::cycles);
            let least = own.into_iter().chain(ceiling).min().unwrap_or(u64::MAX);
            let limit = within_one_percent(least).min(ceiling.unwrap_or(u64::MAX));
            Objective::EnergyWithin(limit)
        })
    }
}

impl MappingObjective {
    /// The objective that orders values; `None` for that of which the limit depends on the values.
    fn of_values(self) -> Option<Objective> {
        match self {
            Self::Cycles => None,
            Self::Energy => Some(Objective::Energy),
            Self::Edp | Self::Deadline => Some(Objective::Edp),
        }
    }
}

/// A bound whose energy exceeds no energy by the rounding of sums.
fn rounded(bound: Value) -> Value {
    Value { energy_pj: bound.energy_pj * (1.0 - ROUNDING), ..bound }
}

/// PEs that a mapping uses.
fn n_pes(mapping: &Mapping) -> u64 {
    let units = mapping.levels().iter().map(|level| u64::from(level.units()));
    units.fold(1, u64::saturating_mul)
}
