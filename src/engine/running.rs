//! Layers of a job that run one after another on an accelerator.

use crate::cost::CostTable;
use crate::ids::AccelId;
use crate::schedule::{Granularity, Job};
use crate::trace::Segment;
use crate::units::{Millijoules, SimSpan, SimTime};

/// Layers of a job on an accelerator.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunningSegment {
    /// The job as the policy saw it; the first layer is its next one.
    pub(super) job: Job,
    /// The layer behind the last.
    pub(super) end_layer: u32,
    /// Start, of moving its data if that has to be done first.
    pub(super) start: SimTime,
    /// How long data is moved before its first layer.
    pub(super) moving: SimSpan,
    /// Whether it goes on from the segment before, of the same job at the same place, at once.
    pub(super) continues: bool,
}

impl RunningSegment {
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
        Self { job, end_layer, start: now, moving: SimSpan::ZERO, continues: false }
    }

    /// When it ends if nothing interferes.
    pub(super) fn end(&self, accelerator: AccelId, costs: &CostTable) -> SimTime {
        let Job { model, next_layer, .. } = self.job;
        let time = match self.end_layer == costs.n_layers(model) {
            true => costs.remaining(model, accelerator, next_layer),
            false => costs.time_of(model, accelerator, next_layer..self.end_layer),
        };
        self.start + self.moving + time
    }

    /// Whether it is a whole request that moves no data first.
    pub(super) fn is_plain(&self, costs: &CostTable) -> bool {
        self.job.next_layer == 0
            && self.end_layer == costs.n_layers(self.job.model)
            && self.moving == SimSpan::ZERO
    }

    /// The first layer before which it can be cut from `now` on, and when that is.
    pub(super) fn cut(
        &self,
        accelerator: AccelId,
        costs: &CostTable,
        now: SimTime,
    ) -> (u32, SimTime) {
        let Job { model, next_layer, .. } = self.job;
        let first = self.start + self.moving;
        let cut = costs.cut_after(model, accelerator, next_layer, now.saturating_since(first));
        (cut, first + costs.time_of(model, accelerator, next_layer..cut))
    }

    /// The segment that it is if it ends at `now`, without energy.
    pub(super) fn segment(&self, accelerator: AccelId, now: SimTime) -> Segment {
        Segment {
            request: self.job.request,
            accelerator,
            start: self.start,
            moving: self.moving.min(now - self.start),
            end: now,
            first_layer: self.job.next_layer,
            end_layer: self.end_layer,
            energy: Millijoules::ZERO,
        }
    }

    /// How far it has come when it is broken off at `now`: the layer under way, behind those that have
    /// ended, and the share of it that has run.
    pub(super) fn reached(
        &self,
        accelerator: AccelId,
        costs: &CostTable,
        now: SimTime,
    ) -> (u32, f64) {
        let Job { model, next_layer, .. } = self.job;
        let first = self.start + self.moving;
        if now < first {
            return (next_layer, 0.0);
        }
        let ran = now - first;
        let cut = costs.cut_after(model, accelerator, next_layer, ran);
        let layer = cut - 1;
        let before = costs.time_of(model, accelerator, next_layer..layer);
        let takes = costs.time_of(model, accelerator, layer..cut);
        match ran < before + takes {
            true => (layer, (ran - before).ns() as f64 / takes.ns() as f64),
            false => (cut, 0.0),
        }
    }
}
