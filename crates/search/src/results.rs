//! Rows of results: every simulated system under every scheduler, with regard to one question.

use xrsim_model::statistics::{Fraction, Summary};

use super::evaluation::SceneBounds;
use super::exact::Hunt;
use super::{Answer, Quantity, Question, Search};
use xrsim_sim::bounds::Class;

/// What became of a system under a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Simulated in all draws.
    Complete,
    /// Excluded by bounds before all draws.
    Bounded,
    /// Excluded by a constraint before all draws.
    Constrained,
    /// Left open when the search was stopped.
    Open,
    /// Unable to run, with the reason.
    Infeasible(Box<str>),
}

/// A simulated system under a scheduler.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluated {
    /// Index of the system.
    pub system: u32,
    /// Index of the scheduler.
    pub scheduler: usize,
    /// Draws that were made, of the scenario with most of them.
    pub draws: u32,
    /// Values of all quantities in the order of [`Quantity::all`], over the draws that were made; `None`
    /// where there is none.
    pub values: Vec<Option<f64>>,
    /// Half of the 95 % interval of the first objective; `None` below 25 draws.
    pub half_width: Option<f64>,
    /// UB1 and UB3 of the score under the schedulers of the scheduler's class, where they were computed.
    pub bounds: [Option<f64>; 2],
    /// What became of it.
    pub status: Status,
}

impl Search<'_> {
    /// Every system that was simulated for a question with this answer, in the order of systems and
    /// schedulers.
    pub fn evaluated(&self, answer: &Answer) -> Vec<Evaluated> {
        let question = &answer.question;
        let mut hunt = Hunt::new(question.clone(), true);
        hunt.best.clone_from(&answer.points);
        let mut rows = Vec::new();
        for (system, state) in self.evaluation.states() {
            for scheduler in 0..self.schedulers.len() {
                let done = question.loads().map(|it| state.scenes[it].tested[scheduler].done);
                let draws = done.max().unwrap_or(0);
                let status = match &state.failure {
                    Some(reason) => Status::Infeasible(reason.clone()),
                    None if draws == 0 => continue,
                    None if self.is_complete(&hunt, system, scheduler) => Status::Complete,
                    None if !self.may_keep_limits(&hunt, system, Some(scheduler)) => {
                        Status::Constrained
                    }
                    None if self.is_beaten(&hunt, system, scheduler) => Status::Bounded,
                    None => Status::Open,
                };
                rows.push(Evaluated {
                    system,
                    scheduler,
                    draws,
                    values: Quantity::all()
                        .map(|quantity| self.value(question, system, scheduler, quantity))
                        .collect(),
                    half_width: self.half_width(question, system, scheduler),
                    bounds: self.bounds(question, system, self.schedulers[scheduler].class()),
                    status,
                });
            }
        }
        rows
    }

    /// Value of a quantity of a system under a scheduler: the mean over the draws that were made. `None`
    /// without one.
    pub fn value(
        &self,
        question: &Question,
        system: u32,
        scheduler: usize,
        quantity: Quantity,
    ) -> Option<f64> {
        let members = self.systems.members(system as usize);
        if let Some(value) = self.view().fixed(members, question, quantity) {
            return Some(value);
        }
        let state = self.evaluation.state(system)?;
        let is_made = |load: usize| state.scenes[load].tested[scheduler].done > 0;
        if !question.loads().all(is_made) {
            return None;
        }
        let mean = |load: usize, at: usize| state.scenes[load].tested[scheduler].mean(at);
        match quantity {
            Quantity::Sampled(at) => Some(question.over(quantity, |load| mean(load, at))),
            Quantity::Power => {
                let Some(Quantity::Sampled(energy)) = Quantity::find("energy_mj") else {
                    return None;
                };
                let leakage = self.areas.as_ref()?.leakage(members);
                let power = |load: usize| mean(load, energy) / self.seconds[load];
                Some(question.over(quantity, power) + leakage)
            }
            _ => None,
        }
    }

    /// Half of the 95 % interval of the first objective of a question; `None` below 25 draws, and for
    /// the worst of several scenarios.
    pub fn half_width(&self, question: &Question, system: u32, scheduler: usize) -> Option<f64> {
        let Some(&Quantity::Sampled(at)) = question.objectives.first() else { return None };
        if question.over != super::Over::Mean {
            return None;
        }
        let state = self.evaluation.state(system)?;
        let (mut squares, mut n) = (0.0, u32::MAX);
        for load in question.loads() {
            let tested = state.scenes[load].tested[scheduler];
            squares += question.weights[load].powi(2) * tested.squared_error(at);
            if self.evaluation.loads[load].n_draws() > 1 {
                n = n.min(tested.done);
            }
        }
        if n == u32::MAX {
            return None;
        }
        // The t distribution of the scenario with the fewest draws: on the safe side. Sums of cubes are not kept, so that
        // skewness has no correction here; the confirmation has one.
        let spread = squares.sqrt() * f64::from(n).sqrt();
        Summary::symmetric(u64::from(n), 0.0, spread).half_width(Fraction::P95)
    }

    /// UB1 and UB3 of the score of a system under the schedulers of a class, where they were computed.
    pub fn bounds(&self, question: &Question, system: u32, class: Class) -> [Option<f64>; 2] {
        let Some(state) = self.evaluation.state(system) else { return [None; 2] };
        let of = |pick: fn(&SceneBounds) -> Option<&[f64]>| {
            let pick = |load: usize| pick(state.scenes[load].of(class));
            let is_known = |load: usize| pick(load).is_some();
            question.loads().all(is_known).then(|| {
                question.over(Quantity::score(), |load| {
                    let bounds = pick(load).unwrap_or_default();
                    bounds.iter().sum::<f64>() / bounds.len() as f64
                })
            })
        };
        [of(|it| it.isolation.as_deref()), of(|it| it.program.as_deref())]
    }

    /// Whether the limits of a question may be kept by a system under some scheduler, as far as is known.
    pub fn may_be_allowed(&self, question: &Question, system: u32) -> bool {
        let hunt = Hunt::new(question.clone(), true);
        self.may_keep_limits(&hunt, system, None)
    }

    /// Upper bounds of the score of every listed system under the schedulers of the search from table look-ups, for
    /// an audit of the proof.
    pub fn table_bounds(&self, question: &Question) -> Vec<f64> {
        let bound = |system: usize| {
            let members = self.systems.members(system);
            question.over(Quantity::score(), |load| {
                self.coarse.score(members, load, self.evaluation.class)
            })
        };
        (0..self.systems.len()).map(bound).collect()
    }
}
