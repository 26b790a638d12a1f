//! Layers of a job that run one after another on an accelerator.

use crate::cost::CostTable;
use crate::ids::AccelId;
use crate::schedule::{Granularity, Job};
use crate::units::{SimSpan, SimTime};

/// Layers of a job on an accelerator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stint {
    /// The job as the policy saw it; the first layer is its next one.
    pub(super) job: Job,
    /// The layer behind the last.
    pub(super) end_layer: u32,
    /// Start.
    pub(super) start: SimTime,
}

impl Stint {
    /// So much of `job` on `accelerator` from `now` on.
    pub(super) fn new(
        job: Job,
        accelerator: AccelId,
        extent: Granularity,
        costs: &CostTable,
        now: SimTime,
    ) -> Self {
        let Job { model, next_layer, .. } = job;
        let end_layer = match extent {
            Granularity::Model => costs.n_layers(model),
            Granularity::Layer => next_layer + 1,
            Granularity::Block(span) => costs.cut_after(model, accelerator, next_layer, span),
        };
        Self { job, end_layer, start: now }
    }

    /// Time that the layers take.
    pub(super) fn time(&self, accelerator: AccelId, costs: &CostTable) -> SimSpan {
        let Job { model, next_layer, .. } = self.job;
        match self.end_layer == costs.n_layers(model) {
            true => costs.remaining(model, accelerator, next_layer),
            false => costs.time_of(model, accelerator, next_layer..self.end_layer),
        }
    }
}
