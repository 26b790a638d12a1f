//! Estimates of the time of jobs whose accelerator is not known yet.

use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, WorkId};
use xrsim_model::units::SimSpan;

use super::{Granularity, Job, Options, Setup, View};

/// Accelerators of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The fastest accelerator, busy or idle.
    Best,
    /// The mean over all accelerators that can run it.
    Mean,
}

impl Over {
    fn remaining(self, costs: &CostTable, work: WorkId, layer: u32) -> SimSpan {
        let offers = costs.offers(work);
        let spans = offers.clone().map(|at| costs.on(work, at).remaining(layer));
        match self {
            Self::Best => spans.min().expect("a system has accelerators"),
            Self::Mean => {
                let sum: u128 = spans.map(|span| u128::from(span.ns())).sum();
                SimSpan::from_ns((sum / offers.count() as u128) as u64)
            }
        }
    }
}

/// Estimates of the time of jobs. Those of whole requests are computed once.
pub(super) struct Remaining {
    over: Over,
    /// Indexed by [`WorkId`].
    whole: Box<[SimSpan]>,
}

impl Remaining {
    pub(super) fn new(over: Over, setup: &Setup<'_>) -> Self {
        let works = (0..setup.costs.n_works()).map(WorkId::new);
        let whole = works.map(|work| over.remaining(setup.costs, work, 0));
        Self { over, whole: whole.collect() }
    }

    /// Estimate of the whole of `work`.
    pub(super) fn whole(&self, work: impl Into<WorkId>) -> SimSpan {
        self.whole[work.into().index()]
    }

    /// Estimate of the rest of `job`.
    pub(super) fn of(&self, job: &Job, view: &View<'_>) -> SimSpan {
        match job.next_layer {
            0 => self.whole(job.work),
            layer => self.over.remaining(view.costs, job.work, layer),
        }
    }
}

/// Next segment of a job, for policies that consider nothing beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextSegment {
    /// Its next layer.
    Layer,
    /// The rest of the job.
    Rest,
}

impl NextSegment {
    /// A layer if the scheduler decides after every layer, otherwise the rest.
    pub(super) fn from_options(options: &Options) -> Self {
        match options.granularity {
            Granularity::Layer => Self::Layer,
            Granularity::Model | Granularity::Block(_) => Self::Rest,
        }
    }

    /// Time on `accelerator` \[ns\], at least 1.
    pub(super) fn ns(self, job: &Job, accelerator: AccelId, view: &View<'_>) -> f64 {
        let span = match self {
            Self::Layer => view.next_layer(job, accelerator),
            Self::Rest => view.remaining(job, accelerator),
        };
        span.ns().max(1) as f64
    }

    /// Energy on `accelerator` \[nJ\], at least 10^-6.
    pub(super) fn nj(self, job: &Job, accelerator: AccelId, view: &View<'_>) -> f64 {
        let energy = match self {
            Self::Layer => view.next_layer_energy(job, accelerator),
            Self::Rest => view.remaining_energy(job, accelerator),
        };
        (energy.get() * 1e6).max(1e-6)
    }

    /// Mean time over all accelerators that can run it \[ns\].
    pub(super) fn mean_ns(self, job: &Job, view: &View<'_>) -> f64 {
        let offers = view.costs.offers(job.work);
        let sum: f64 = offers.clone().map(|at| self.ns(job, at, view)).sum();
        sum / offers.count() as f64
    }
}
