//! The best of an accelerator's own choice and those of others for the same layer (docs/explanation/mapper.md,
//! section 6.3).

use std::sync::Arc;

use crate::cost::Certainty;
use crate::cost::loop_nest::{Choice, Machine, Mapping, Nest, evaluate};
use crate::hardware::MappingObjective;

use super::bound;
use super::kept::Kept;
use super::objective::{Objective, Value, within_one_percent};
use super::problem::Limits;

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
struct Offer<'a> {
    value: Value,
    choice: &'a Choice,
}

impl Contest<'_> {
    /// The best of `own` and of those of `others` that run, by the objective; of equal ones `own`. Under `cycles`, it
    /// is no slower than any of `others`.
    pub(super) fn best(&self, own: Option<Kept>, others: &[Arc<Choice>]) -> Option<Choice> {
        let own = own.filter(|kept| kept.cycles().is_some());
        let bound = bound::of_machine(self.nest, self.machine);
        let offers = self.offers(own.as_ref(), &bound, others);
        let objective = self.comparing(own.as_ref(), &offers);
        let order = |a: &&Offer<'_>, b: &&Offer<'_>| {
            let by_value = objective.compare(&a.value, &b.value);
            by_value.then_with(|| a.choice.digest().cmp(&b.choice.digest()))
        };
        let best = offers.iter().min_by(order);
        let is_better = |offer: &&Offer<'_>| {
            own.as_ref().is_none_or(|own| objective.compare(&offer.value, &own.value).is_lt())
        };
        let Some(Offer { value, choice }) = best.filter(is_better) else {
            return own?.into_choice(self.effort);
        };
        let of_own = own.as_ref().map(|own| own.bound.cycles);
        let bound = of_own.filter(|&it| it <= value.cycles).unwrap_or(bound.cycles);
        let certainty = Certainty { effort: self.effort, ..Certainty::new(value.cycles, bound) };
        Some(Choice { certainty: Some(certainty), ..(*choice).clone() })
    }

    /// Choices of others that run here, but for those that cannot be better than `own`.
    fn offers<'o>(
        &self,
        own: Option<&Kept>,
        bound: &Value,
        others: &'o [Arc<Choice>],
    ) -> Vec<Offer<'o>> {
        let offer = |choice: &'o Arc<Choice>| {
            let may_count = own.is_none_or(|own| self.may_count(&choice.mapping, bound, own));
            let value = may_count.then(|| self.value(choice)).flatten()?;
            Some(Offer { value, choice })
        };
        others.iter().filter_map(offer).collect()
    }

    /// Whether a mapping may be better than `own`, from the PEs that it uses and the bound of the machine.
    fn may_count(&self, mapping: &Mapping, bound: &Value, own: &Kept) -> bool {
        let pes = n_pes(mapping).saturating_mul(self.machine.rate.max(1).into());
        let cycles = bound.cycles.max(mapping.macs().div_ceil(pes.max(1)));
        match self.objective.of_values() {
            // Up to here, a mapping lowers the limit of latency or keeps within it.
            None => cycles <= within_one_percent(own.value.cycles),
            Some(objective) => objective.may_improve(&Value { cycles, ..*bound }, &own.value),
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
        let evaluation = evaluate(nest, mapping, machine).ok()?;
        let value = Value { cycles: evaluation.cycles, energy_pj: evaluation.energy.total() };
        self.limits.hold(&evaluation, machine).then_some(value)
    }

    /// The objective by which values are compared.
    fn comparing(&self, own: Option<&Kept>, offers: &[Offer<'_>]) -> Objective {
        self.objective.of_values().unwrap_or_else(|| {
            let ceiling = offers.iter().map(|offer| offer.value.cycles).min();
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
            Self::Edp => Some(Objective::Edp),
        }
    }
}

/// PEs that a mapping uses.
fn n_pes(mapping: &Mapping) -> u64 {
    let units = mapping.levels().iter().map(|level| u64::from(level.units()));
    units.fold(1, u64::saturating_mul)
}
