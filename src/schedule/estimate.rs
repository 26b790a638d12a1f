//! How long jobs take before it is known where they run.

use crate::cost::CostTable;
use crate::ids::{AccelId, ModelId};
use crate::units::SimSpan;

use super::{Job, Setup, View};

/// Which accelerators an estimate is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The fastest of all, busy or idle.
    Best,
    /// All, in the mean.
    Mean,
}

impl Over {
    fn remaining(self, costs: &CostTable, model: ModelId, layer: u32) -> SimSpan {
        let accelerators = (0..costs.n_accelerators()).map(AccelId::new);
        let spans = accelerators.map(|at| costs.remaining(model, at, layer));
        match self {
            Self::Best => spans.min().expect("a system has accelerators"),
            Self::Mean => {
                let sum: u128 = spans.map(|span| u128::from(span.ns())).sum();
                SimSpan::from_ns((sum / costs.n_accelerators() as u128) as u64)
            }
        }
    }
}

/// Estimates of the time that jobs take, those of whole models at hand.
pub(super) struct Remaining {
    over: Over,
    /// Indexed by [`ModelId`].
    whole: Box<[SimSpan]>,
}

impl Remaining {
    pub(super) fn new(over: Over, setup: &Setup<'_>) -> Self {
        let whole = setup.scenario.model_ids().map(|id| over.remaining(setup.costs, id, 0));
        Self { over, whole: whole.collect() }
    }

    /// Estimate of a whole run of `model`.
    pub(super) fn whole(&self, model: ModelId) -> SimSpan {
        self.whole[model.index()]
    }

    /// Estimate of what is left of `job`.
    pub(super) fn of(&self, job: &Job, view: &View<'_>) -> SimSpan {
        match job.next_layer {
            0 => self.whole(job.model),
            layer => self.over.remaining(view.costs, job.model, layer),
        }
    }
}
