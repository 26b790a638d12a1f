//! Knowledge of one system with regard to one question: ranges of its quantities.

use xrsim_model::column::Better;

use super::coarse::Coarse;
use super::evaluation::{Evaluation, Scene, State};
use super::goal::{Quantity, Question};
use super::space::Systems;
use xrsim_sim::bounds::Class;

/// Area and leakage of every accelerator type, and of what a chip has beside its accelerators.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TypeAreas {
    /// Area of every type \[mm2\].
    pub area_mm2: Vec<f64>,
    /// Leakage of every type \[mW\].
    pub leakage_mw: Vec<f64>,
    /// Area beside the accelerators \[mm2\].
    pub fixed_mm2: f64,
}

impl TypeAreas {
    /// Areas \[mm2\] and leakage \[mW\] of the types of a space, in their order.
    pub fn new(area_mm2: Vec<f64>, leakage_mw: Vec<f64>, fixed_mm2: f64) -> Self {
        Self { area_mm2, leakage_mw, fixed_mm2 }
    }

    /// Area of a system \[mm2\].
    pub fn area(&self, members: &[u32]) -> f64 {
        members.iter().map(|&it| self.area_mm2[it as usize]).sum::<f64>() + self.fixed_mm2
    }

    /// Leakage of a system \[mW\].
    pub fn leakage(&self, members: &[u32]) -> f64 {
        members.iter().map(|&it| self.leakage_mw[it as usize]).sum()
    }
}

/// A closed range of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Range {
    const fn exactly(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// The best value in it, as a number of which more is better.
    pub(super) fn best(self, quantity: Quantity) -> f64 {
        match quantity.better() {
            Better::Higher => self.high,
            Better::Lower => -self.low,
        }
    }
}

/// Everything that ranges are computed from.
pub(super) struct View<'a, 'e> {
    pub(super) evaluation: &'a Evaluation<'e>,
    pub(super) systems: &'a Systems,
    pub(super) coarse: &'a Coarse,
    pub(super) areas: Option<&'a TypeAreas>,
    /// Seconds of a run, by scenario.
    pub(super) seconds: &'a [f64],
}

impl View<'_, '_> {
    /// Quantity of a system that no run changes; `None` for others.
    pub(super) fn fixed(
        &self,
        members: &[u32],
        question: &Question,
        quantity: Quantity,
    ) -> Option<f64> {
        let space = self.evaluation.space;
        Some(match quantity {
            Quantity::Sampled(_) | Quantity::Power => return None,
            Quantity::Area => self.areas?.area(members),
            Quantity::Pes => {
                members.iter().map(|&it| f64::from(space.types()[it as usize].pes)).sum()
            }
            Quantity::Accelerators => members.len() as f64,
            Quantity::EnergyDelay => {
                question.over(quantity, |load| self.coarse.energy_delay(members, load))
            }
        })
    }

    /// Range of a quantity of a system, under one scheduler or under any (`None`), from what is known.
    pub(super) fn range(
        &self,
        system: u32,
        scheduler: Option<usize>,
        question: &Question,
        quantity: Quantity,
    ) -> Range {
        let members = self.systems.members(system as usize);
        let state = self.evaluation.state(system);
        if let Some(value) = self.fixed(members, question, quantity) {
            return Range::exactly(value);
        }
        match quantity {
            Quantity::Power => {
                let energy = Quantity::find("energy_mj").expect("it is a column of samples");
                let leakage = self.areas.map_or(0.0, |areas| areas.leakage(members));
                let power = |pick: fn(Range) -> f64| {
                    question.over(quantity, |load| {
                        let of = self.scene(members, state, scheduler, load, energy);
                        pick(of) / self.seconds[load]
                    }) + leakage
                };
                Range { low: power(|it| it.low), high: power(|it| it.high) }
            }
            _ => {
                let of = |load| self.scene(members, state, scheduler, load, quantity);
                let mut range = Range {
                    low: question.over(quantity, |load| of(load).low),
                    high: question.over(quantity, |load| of(load).high),
                };
                if quantity.name() == "energy_mj"
                    && let Some(missed) = question.most_missed()
                {
                    let class = self.class(scheduler);
                    let floor = self.coarse.energy_floor(members, question, missed, class);
                    range.low = range.low.max(floor).min(range.high);
                }
                range
            }
        }
    }

    /// Range of a sampled quantity in one scenario.
    fn scene(
        &self,
        members: &[u32],
        state: Option<&State>,
        scheduler: Option<usize>,
        load: usize,
        quantity: Quantity,
    ) -> Range {
        let Quantity::Sampled(at) = quantity else { return Range::exactly(f64::NAN) };
        let n = self.evaluation.loads[load].n_draws();
        let scene = state.map(|it| &it.scenes[load]);
        let tested = scene.zip(scheduler).map(|(scene, it)| scene.tested[it]);
        let tested = tested.unwrap_or_default();
        if tested.done as usize == n {
            return Range::exactly(tested.mean(at));
        }
        let low = tested.sums[at] / n as f64;
        let high = if quantity.has_bound() && self.evaluation.has_bounds() {
            let class = self.class(scheduler);
            self.upper((members, scene), load, class, (tested.sums[at], tested.done as usize))
        } else if quantity.is_share() {
            (tested.sums[at] + (n - tested.done as usize) as f64) / n as f64
        } else {
            f64::INFINITY
        };
        // Rounding may take a sum above its bound by some units of the last place.
        Range { low, high: high.max(low) }
    }

    /// The class of a scheduler, or of all schedulers of the search.
    fn class(&self, scheduler: Option<usize>) -> Class {
        match scheduler {
            Some(scheduler) => self.evaluation.schedulers[scheduler].class(),
            None => self.evaluation.class,
        }
    }

    /// Upper bound of the mean score under the schedulers of a class, of which the first `done` draws are known.
    fn upper(
        &self,
        (members, scene): (&[u32], Option<&Scene>),
        load: usize,
        class: Class,
        (sum, done): (f64, usize),
    ) -> f64 {
        match scene.and_then(|scene| scene.bounds(class)) {
            Some(bounds) => {
                let rest: f64 = bounds[done..].iter().sum();
                (sum + rest) / bounds.len() as f64 * (1.0 + 1e-12)
            }
            None => self.coarse.score(members, load, class),
        }
    }
}
