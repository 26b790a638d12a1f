//! Layers of a job that run one after another on an accelerator.

use crate::schedule::{Dispatch, Granularity, Job};
use xrsim_model::cost::{CostTable, Execution};
use xrsim_model::ids::{AccelId, PointId, WorkId};
use xrsim_model::trace::Segment;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

/// A segment of a job that runs, or ran last, on an accelerator.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunningSegment<'a> {
    /// Costs at its operating point.
    pub(super) costs: &'a CostTable,
    /// The job, with the row of the costs that it runs, which schedulers need not have seen. Its next layer is the first one of the segment.
    pub(super) job: Job,
    /// Where it runs.
    pub(super) accelerator: AccelId,
    /// Its operating point; the first one without a device.
    pub(super) point: PointId,
    /// Index after the last layer.
    pub(super) end_layer: u32,
    /// Start of the first layer, or of what comes before it.
    pub(super) start: SimTime,
    /// Time before the first layer: to wake up, to change the point, and to transfer data.
    pub(super) moving: SimSpan,
    /// Whether it directly continues the segment before it: same job, same accelerator, no gap.
    pub(super) continues: bool,
    /// Time of the whole request, if it was drawn. No layers are known then.
    pub(super) drawn: Option<SimSpan>,
}

impl<'a> RunningSegment<'a> {
    /// The segment of `job` that `dispatch` starts at `point` at `now`.
    pub(super) fn new(
        job: Job,
        dispatch: &Dispatch,
        point: PointId,
        costs: &'a CostTable,
        now: SimTime,
    ) -> Self {
        let Dispatch { accelerator, granularity, .. } = *dispatch;
        let next_layer = job.next_layer;
        let costs = costs.at(point);
        let execution = costs.on(job.work, accelerator);
        let end_layer = match granularity {
            Granularity::Model => execution.n_layers(),
            Granularity::Layer => execution.step_end(next_layer),
            Granularity::Block(span) => execution.cut_after(next_layer, span),
        };
        let (moving, continues, drawn) = (SimSpan::ZERO, false, None);
        Self { costs, job, accelerator, point, end_layer, start: now, moving, continues, drawn }
    }

    /// Costs of its job where it runs.
    #[inline]
    pub(super) fn execution(&self) -> Execution<'a> {
        self.costs.on(self.job.work, self.accelerator)
    }

    /// Energy of its layers.
    pub(super) fn layer_energy(&self) -> Millijoules {
        match self.drawn {
            Some(_) => self.energy(),
            None => self.execution().energy_of(self.job.next_layer..self.end_layer),
        }
    }

    /// Start of its first layer.
    fn first_layer_start(&self) -> SimTime {
        self.start + self.moving
    }

    /// Its end if nothing interferes.
    pub(super) fn end(&self) -> SimTime {
        match self.drawn {
            Some(time) => self.first_layer_start() + time,
            None => self.expected_end(self.job.work),
        }
    }

    /// The same as far as schedulers know, who do not know what was drawn, and take it to run `work`.
    pub(super) fn expected_end(&self, work: WorkId) -> SimTime {
        let execution = self.costs.on(work, self.accelerator);
        let first = self.job.next_layer;
        let time = match self.end_layer == execution.n_layers() {
            true => execution.remaining(first),
            false => execution.time_of(first..self.end_layer),
        };
        self.first_layer_start() + time
    }

    /// Energy of the whole request. The power of one whose time was drawn is that of the median.
    pub(super) fn energy(&self) -> Millijoules {
        let execution = self.execution();
        match self.drawn {
            Some(time) => share_of(execution.energy(), time, execution.latency()),
            None => execution.energy(),
        }
    }

    /// Whether it is a whole request without a data transfer.
    pub(super) fn is_plain(&self) -> bool {
        self.job.next_layer == 0
            && self.end_layer == self.costs.n_layers(self.job.work)
            && self.moving == SimSpan::ZERO
    }

    /// Index after the step under way at `now`, before which the segment can be cut, and the time of
    /// that cut.
    pub(super) fn next_cut(&self, now: SimTime) -> (u32, SimTime) {
        let execution = self.execution();
        let (first, start) = (self.job.next_layer, self.first_layer_start());
        let cut = execution.cut_after(first, now.saturating_since(start));
        (cut, start + execution.time_of(first..cut))
    }

    /// Its record in the trace if it ends at `now`, without energy.
    pub(super) fn segment(&self, now: SimTime) -> Segment {
        Segment {
            request: self.job.request,
            accelerator: self.accelerator,
            start: self.start,
            moving: self.moving.min(now - self.start),
            end: now,
            first_layer: self.job.next_layer,
            end_layer: self.end_layer,
            energy: Millijoules::ZERO,
        }
    }

    /// The layer under way at `now`, and the fraction of that layer that has run.
    pub(super) fn reached(&self, now: SimTime) -> (u32, f64) {
        let (first, start) = (self.job.next_layer, self.first_layer_start());
        if now < start {
            return (first, 0.0);
        }
        let execution = self.execution();
        let ran = now - start;
        if self.drawn.is_some() {
            return (first, ran.ns() as f64 / execution.latency().ns().max(1) as f64);
        }
        let cut = execution.end_after(first, ran);
        let layer = cut - 1;
        let before = execution.time_of(first..layer);
        let takes = execution.layer_time(layer);
        match ran < before + takes {
            true => (layer, (ran - before).ns() as f64 / takes.ns() as f64),
            false => (cut, 0.0),
        }
    }
}

/// `energy` of the time `whole`, in the time `part` at the same power.
fn share_of(energy: Millijoules, part: SimSpan, whole: SimSpan) -> Millijoules {
    Millijoules::new(energy.get() * (part.ns() as f64 / whole.ns().max(1) as f64))
}
