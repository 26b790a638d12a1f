//! The exact optimum of a few frames, named *window-optimal*: no non-preemptive schedule of these
//! frames alone scores more.
//!
//! The frames of a window have the system for themselves, follow the rules of a run at model
//! granularity (each on one accelerator without interruption, after its data and its upstream frames,
//! started before it would be dropped) and are scored as in a run, late ones included. What a frame
//! needs from outside the window is there as early as it ever could be. So the optima of windows that
//! share no frame add up to an upper bound of every such run.

mod exact;

use std::collections::HashMap;

use thiserror::Error;

use crate::load::{Request, RequestStream};
use crate::score::ScoreSettings;
use crate::score::energy::energy;
use crate::score::realtime::realtime;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, RequestId, WorkId};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::{SimSpan, SimTime};

use super::Class;
use super::instance::{Weights, earliest_starts, shortest};
use super::work::routes;
use exact::{Task, Way};

/// Most frames of a window. Twelve that differ take from milliseconds to seconds under contention, and
/// every one more about doubles that; many that are equal take longer.
pub const MAX_FRAMES: usize = 12;

/// `k` times the lateness after which a frame is worth nothing: 1/(1 + e^25) = 10^-11.
const MARGIN: f64 = 25.0;

/// Why a window has no optimum.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WindowError {
    /// It is too large.
    #[error("{frames} frames in one window; at most {MAX_FRAMES} are solved exactly")]
    TooManyFrames {
        /// Its frames.
        frames: usize,
    },
    /// Requests choose among networks.
    #[error(
        "the optimum of a window is not known where requests run one of several networks (`variants`)"
    )]
    Choices,
    /// The solver gave up.
    #[error("the solver found no optimum of {frames} frames")]
    Unsolved {
        /// Its frames.
        frames: usize,
    },
}

/// The best schedule of the frames of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowOptimum {
    /// Upper bound of the score of every schedule.
    pub upper: f64,
    /// Score of this schedule: the optimum, if the two are equal except for rounding (10^-9 of a
    /// frame).
    pub reached: f64,
    /// The frames that run.
    pub runs: Vec<WindowRun>,
}

/// A frame in the schedule of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowRun {
    /// The request.
    pub request: RequestId,
    /// Where.
    pub accelerator: AccelId,
    /// Start.
    pub start: SimTime,
    /// End.
    pub end: SimTime,
}

/// Runs of one scenario on one system, of which windows are cut.
pub struct Windows<'a> {
    costs: &'a CostTable,
    requests: &'a RequestStream,
    settings: &'a ScoreSettings,
    grace: SimSpan,
    weights: Weights,
    /// Indexed by [`RequestId`].
    starts: Vec<SimTime>,
}

impl<'a> Windows<'a> {
    /// Runs of `requests` of `scenario` at `costs`, scored by `settings`; a waiting request is dropped
    /// `grace` after its deadline.
    ///
    /// # Panics
    ///
    /// If `costs` or `requests` are not of the scenario.
    pub fn new(
        scenario: &Scenario,
        costs: &'a CostTable,
        requests: &'a RequestStream,
        settings: &'a ScoreSettings,
        grace: SimSpan,
    ) -> Self {
        let routes = routes(scenario, costs, settings, Class::Keeping, requests);
        let weights = Weights::new(scenario, requests, settings);
        let starts = earliest_starts(scenario, requests, |model| shortest(&routes[model.index()]));
        Self { costs, requests, settings, grace, weights, starts }
    }

    /// The optimum of the window of these `requests`, as a part of the run's score
    /// ([`bounds`](super)). Those that nothing asked for are left out.
    ///
    /// # Errors
    ///
    /// [`WindowError`].
    pub fn optimum(&self, requests: &[RequestId]) -> Result<WindowOptimum, WindowError> {
        let triggered = |&id: &RequestId| self.requests.request(id).triggered;
        let ids: Vec<_> = requests.iter().copied().filter(triggered).collect();
        let frames = ids.len();
        if frames > MAX_FRAMES {
            return Err(WindowError::TooManyFrames { frames });
        }
        let tasks = self.tasks(&ids);
        let worth = |task: usize, way: usize, end: u64| {
            self.worth(ids[task], AccelId::new(way), SimTime::from_ns(end))
        };
        let found = exact::optimum(&tasks, &worth).ok_or(WindowError::Unsolved { frames })?;
        let runs = ids.iter().zip(&found.schedule).filter_map(|(&request, placed)| {
            placed.map(|placed| WindowRun {
                request,
                accelerator: AccelId::new(placed.way),
                start: SimTime::from_ns(placed.start),
                end: SimTime::from_ns(placed.end),
            })
        });
        let late: f64 = ids.iter().map(|&id| self.late(id)).sum();
        let runs = runs.collect();
        Ok(WindowOptimum { upper: found.upper + late, reached: found.reached, runs })
    }

    /// An upper bound of the score of every run at model granularity: the sum of the optima of
    /// windows of at most `n_frames` frames, in order of their earliest starts. Takes up to seconds
    /// for each window.
    ///
    /// # Errors
    ///
    /// [`WindowError`].
    pub fn bound(&self, n_frames: usize) -> Result<f64, WindowError> {
        let ids = (0..self.requests.requests().len()).map(RequestId::new);
        let counts = |id: &RequestId| {
            let request = self.requests.request(*id);
            request.triggered && self.weights.is_bounded(request.model)
        };
        let mut ids: Vec<_> = ids.filter(counts).collect();
        ids.sort_by_key(|id| (self.starts[id.index()], *id));
        let windows = ids.chunks(n_frames.max(1));
        let optima = windows.map(|window| Ok(self.optimum(window)?.upper));
        Ok(self.weights.constant + optima.sum::<Result<f64, WindowError>>()?)
    }

    fn tasks(&self, ids: &[RequestId]) -> Vec<Task> {
        let places: HashMap<_, _> =
            ids.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        let task = |&id: &RequestId| {
            let request = self.requests.request(id);
            let upstream = self.requests.upstream(id).iter();
            Task {
                earliest_start: self.starts[id.index()].ns(),
                // A request that could start when it is dropped does not.
                latest_start: self.expiry(request).ns().saturating_sub(1),
                ways: self.ways(self.work(request)),
                steps: vec![request.deadline.ns(), self.worthless_after(request.deadline).ns()],
                upstream: upstream.filter_map(|id| places.get(id).copied()).collect(),
            }
        };
        ids.iter().map(task).collect()
    }

    /// Row of the costs that a request runs.
    fn work(&self, request: &Request) -> WorkId {
        let work = self.costs.variant(request.model, request.variant);
        work.expect("the costs have all variants of the scenario")
    }

    fn ways(&self, work: WorkId) -> Vec<Way> {
        let way = |accelerator: AccelId| {
            let duration = self.costs.on(work, accelerator).latency().ns();
            Way { accelerator: accelerator.index(), duration }
        };
        self.costs.offers(work).map(way).collect()
    }

    /// Time after which an end scores nothing.
    fn worthless_after(&self, deadline: SimTime) -> SimTime {
        let margin = SimSpan::from_ms(MARGIN / self.settings.k_per_ms);
        deadline + margin.unwrap_or(SimSpan::MAX)
    }

    /// When a request is dropped that has not started.
    fn expiry(&self, request: &Request) -> SimTime {
        (request.deadline + self.grace).max(request.arrival)
    }

    /// Score that a frame adds if it ends at `end` on `accelerator`.
    fn worth(&self, id: RequestId, accelerator: AccelId, end: SimTime) -> f64 {
        let request = self.requests.request(id);
        let weight = self.weights.of(request.model, request.frame.index());
        let spent = self.costs.on(self.work(request), accelerator).energy();
        weight
            * realtime(end, request.deadline, self.settings.k_per_ms)
            * energy(spent, self.settings.energy_max)
    }

    /// Largest score of a frame that ends after that time; 0 if it cannot end so late.
    fn late(&self, id: RequestId) -> f64 {
        let request = self.requests.request(id);
        let end = self.worthless_after(request.deadline) + SimSpan::from_ns(1);
        let work = self.work(request);
        let accelerators = self.costs.offers(work);
        let worth = |accelerator| {
            let latest = self.expiry(request) + self.costs.on(work, accelerator).latency();
            if latest > end { self.worth(id, accelerator, end) } else { 0.0 }
        };
        accelerators.map(worth).fold(0.0, f64::max)
    }
}
