//! Shared bandwidth as a fluid: every running layer proceeds at the fraction of its full speed that its
//! share of the bandwidth allows, until some layer starts or ends.
//!
//! The engine knows the ends of segments only. Between two of its instants, [`Sharing::advance`] moves the
//! running segments along their layers, and finds the next end. Layers change at any time; the end of a
//! segment is rounded up to the next ns, and its bandwidth is free as soon as its last layer is done. Where
//! bandwidth suffices, places are whole numbers of ns, and every segment ends exactly as in the plain model.
//!
//! Most layers need no step. While every running layer demands at most an equal part of the capacity, all
//! proceed at full speed. While every one demands that part or more, each has just that part under max-min
//! fairness, and proceeds by so many bytes a ns whatever its layers. Sums over layers lead to the first layer
//! where that ends ([`Profile`]).
//!
//! A request that is submitted from outside can start before the end that was found. The segments then go
//! on from where the last instant of the engine left them ([`Sharing::reach`]).

use std::sync::Arc;

use crate::plan::{Division, Plan, SharedBandwidth};
use crate::schedule::{BandwidthDemand, Job, Scheduler};
use xrsim_model::cost::CostTable;
use xrsim_model::ids::AccelId;
use xrsim_model::units::{SimSpan, SimTime};

use super::super::agenda::Completions;
use super::super::running::RunningSegment;
use super::allocation::Allocation;
use super::course::{Load, Rule, Step, step};
use super::division::MaxMin;
use super::profile::{N_RESOURCES, Profile, ROUNDING};
use super::switching::Transfer;

/// A shared resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resource {
    Dram,
    Noc,
}

/// Running segments and their speeds.
pub(super) struct Sharing<'a> {
    costs: &'a CostTable,
    /// Indexed by [`PointId`](xrsim_model::ids::PointId), [`WorkId`](xrsim_model::ids::WorkId) and [`AccelId`]; made when
    /// a pair first runs at a point.
    profiles: Vec<Option<Arc<Profile>>>,
    /// In order of accelerator.
    running: Vec<Load>,
    /// Segments whose last layer was done after the last instant, until the engine ends them; empty if none goes back.
    done: Vec<Load>,
    /// Whether running segments may have to go back to the last instant.
    goes_back: bool,
    /// The last instant of the engine.
    now: SimTime,
    /// Instant that the running segments have been moved to since then; `None` if they have not.
    ahead: Option<SimTime>,
    shares: Shares<'a>,
    /// Whether the shares were stale at `now`.
    was_stale: bool,
}

/// Division of bandwidth as the settings and the scheduler have it.
struct Shares<'a> {
    costs: &'a CostTable,
    settings: SharedBandwidth,
    /// Whether a layer started or ended since bandwidth was last divided.
    is_stale: bool,
    allocation: Allocation,
    /// Whether the scheduler may divide DRAM.
    asks: bool,
    /// Jobs that run as long as it may; indexed by [`AccelId`].
    jobs: Vec<Option<Job>>,
    /// Demands as the scheduler sees them.
    demands: Vec<BandwidthDemand>,
}

/// Next whole number of ns; a number that is off from a whole one by rounding counts as whole.
fn round_up(ns: f64) -> SimSpan {
    let nearest = ns.round();
    let whole = if (ns - nearest).abs() < ROUNDING { nearest } else { ns.ceil() };
    SimSpan::from_ns(whole as u64)
}

impl<'a> Sharing<'a> {
    /// Idle accelerators; `None` if bandwidth is unlimited.
    pub(super) fn new(plan: &'a Plan, costs: &'a CostTable) -> Option<Self> {
        let settings = plan.shared_bandwidth();
        settings.is_limited().then(|| Self {
            costs,
            profiles: Vec::new(),
            running: Vec::new(),
            done: Vec::new(),
            goes_back: false,
            now: SimTime::ZERO,
            ahead: None,
            shares: Shares {
                costs,
                settings,
                is_stale: false,
                allocation: Allocation::default(),
                asks: true,
                jobs: vec![None; costs.n_accelerators()],
                demands: Vec::new(),
            },
            was_stale: false,
        })
    }

    /// Requests will be submitted from outside.
    pub(super) fn expect_submissions(&mut self) {
        self.goes_back = true;
    }

    /// Starts a segment after its data transfer `moved`.
    pub(super) fn start(&mut self, running: &RunningSegment<'_>, moved: &Transfer) {
        let accelerator = running.accelerator;
        let profile = match running.drawn {
            Some(time) => Profile::drawn(running.execution(), time),
            None => self.profile(running),
        };
        if self.shares.asks {
            self.shares.jobs[accelerator.index()] = Some(running.job);
        }
        let load = Load::new(running, moved, profile);
        let place = self.running.partition_point(|it| it.accelerator < accelerator);
        self.running.insert(place, load);
        self.shares.is_stale = true;
    }

    /// Profile of a job on an accelerator at a point, which is made if there is none.
    fn profile(&mut self, running: &RunningSegment<'_>) -> Arc<Profile> {
        let RunningSegment { job, accelerator, point, .. } = running;
        let n_accelerators = self.costs.n_accelerators();
        let row = point.index() * self.costs.n_works() + job.work.index();
        let index = row * n_accelerators + accelerator.index();
        if self.profiles.len() <= index {
            self.profiles.resize_with(index + 1, || None);
        }
        let SharedBandwidth { dram, noc, .. } = self.shares.settings;
        let profile = self.profiles[index].get_or_insert_with(|| {
            let capacity = [dram, noc].map(|it| it.unwrap_or(f64::INFINITY));
            Profile::of(running.execution(), capacity, n_accelerators)
        });
        Arc::clone(profile)
    }

    /// Removes the load of `accelerator`.
    pub(super) fn stop(&mut self, accelerator: AccelId) {
        match self.place_of(accelerator) {
            Ok(index) => {
                self.running.remove(index);
                self.shares.is_stale = true;
            }
            Err(_) => self.done.retain(|load| load.accelerator != accelerator),
        }
    }

    /// Ends the load of `accelerator` before `layer`.
    pub(super) fn shorten(&mut self, accelerator: AccelId, layer: u32) {
        let index = self.place_of(accelerator).expect(RUNS);
        self.running[index].shorten(layer);
    }

    /// Index of the layer before which the load of `accelerator` can be cut next, at least one after its
    /// first, and the time of that cut at full speed.
    pub(super) fn next_cut(&self, accelerator: AccelId, now: SimTime) -> (u32, SimTime) {
        let index = self.place_of(accelerator).expect(RUNS);
        let (cut, ns) = self.running[index].next_cut();
        (cut, now + round_up(ns))
    }

    /// The layer that is under way on `accelerator`, and the fraction of that layer that has run.
    pub(super) fn reached(&self, accelerator: AccelId) -> (u32, f64) {
        self.running[self.place_of(accelerator).expect(RUNS)].reached()
    }

    /// Time at full speed that is left of the segment of `accelerator` \[ns\].
    pub(super) fn work_left(&self, accelerator: AccelId) -> f64 {
        self.place_of(accelerator).map_or(0.0, |index| self.running[index].work_left())
    }

    /// Index of the load of `accelerator`; an error if it has none, or if that is done.
    fn place_of(&self, accelerator: AccelId) -> Result<usize, usize> {
        self.running.binary_search_by_key(&accelerator, |load| load.accelerator)
    }

    /// Ends the instant `now` of the engine.
    pub(super) fn settle(&mut self, now: SimTime) {
        self.now = now;
        self.ahead = None;
    }

    /// Moves the running segments to the first end among them, or to `limit` if that is earlier. Sets the
    /// completions of those that end.
    pub(super) fn advance(
        &mut self,
        limit: Option<SimTime>,
        scheduler: &mut dyn Scheduler,
        completions: &mut Completions,
    ) {
        if self.ahead.is_some() || self.running.is_empty() {
            return;
        }
        if self.goes_back {
            self.running.iter_mut().for_each(Load::keep);
            self.was_stale = self.shares.is_stale;
        }
        let mut horizon = limit.unwrap_or(SimTime::MAX);
        let (mut passed, mut most) = (0.0, (horizon - self.now).ns() as f64);
        loop {
            let ends;
            (passed, ends) = self.run(passed, most, scheduler);
            if ends {
                let end = self.now + round_up(passed);
                for load in self.running.extract_if(.., |load| load.is_done()) {
                    completions.set(load.accelerator, end);
                    if self.goes_back {
                        self.done.push(load);
                    }
                }
                horizon = horizon.min(end);
                most = (horizon - self.now).ns() as f64;
            }
            if passed >= most || self.running.is_empty() {
                break;
            }
        }
        self.ahead = Some(horizon);
    }

    /// Moves the running segments, `passed` ns after the last instant, until one is done, or to `most`. Returns what has
    /// passed then, and whether one is done.
    fn run(&mut self, passed: f64, most: f64, scheduler: &mut dyn Scheduler) -> (f64, bool) {
        let loads = &mut self.running[..];
        let Some(capacity) = self.shares.max_min() else {
            let (shares, now, n_loads) = (&mut self.shares, self.now, loads.len());
            let mut rule = Shared { shares, now, n_loads, scheduler };
            let Step { passed, changes, ends } = step(loads, &mut rule, passed, most);
            self.shares.is_stale = changes;
            return (passed, ends);
        };
        let mut rule = MaxMin::new(capacity, loads.len());
        // Compiled for each of the usual numbers.
        if let Ok(two) = <&mut [Load; 2]>::try_from(&mut *loads) {
            run(two, &mut rule, passed, most)
        } else if let Ok(three) = <&mut [Load; 3]>::try_from(&mut *loads) {
            run(three, &mut rule, passed, most)
        } else if let Ok(four) = <&mut [Load; 4]>::try_from(&mut *loads) {
            run(four, &mut rule, passed, most)
        } else {
            run(loads, &mut rule, passed, most)
        }
    }

    /// Moves the running segments to `now`, if they have been moved beyond it.
    pub(super) fn reach(
        &mut self,
        now: SimTime,
        scheduler: &mut dyn Scheduler,
        completions: &mut Completions,
    ) {
        if self.ahead.is_none_or(|ahead| ahead == now) {
            return;
        }
        assert!(self.goes_back, "only a request from outside is earlier than the next end");
        for load in self.done.drain(..) {
            completions.clear(load.accelerator);
            self.running.push(load);
        }
        self.running.sort_unstable_by_key(|load| load.accelerator);
        self.running.iter_mut().for_each(Load::go_back);
        self.shares.is_stale = self.was_stale;
        self.ahead = None;
        self.advance(Some(now), scheduler, completions);
    }
}

const RUNS: &str = "a busy accelerator runs something";

/// Moves `loads` until one is done, or to `most`, as [`Sharing::run`].
#[inline(always)]
fn run(loads: &mut [Load], rule: &mut MaxMin, mut passed: f64, most: f64) -> (f64, bool) {
    loop {
        let ends;
        Step { passed, ends, .. } = step(loads, rule, passed, most);
        if ends || passed >= most {
            return (passed, ends);
        }
    }
}

/// [`Shares`] with the scheduler that is asked.
struct Shared<'s, 'a> {
    shares: &'s mut Shares<'a>,
    /// The last instant of the engine.
    now: SimTime,
    n_loads: usize,
    scheduler: &'s mut dyn Scheduler,
}

impl Rule for Shared<'_, '_> {
    fn is_quiet(&self, load: &Load) -> bool {
        let SharedBandwidth { dram, noc, .. } = self.shares.settings;
        let n = self.n_loads.next_power_of_two() as f64;
        let is_below =
            |(capacity, wanted): (Option<f64>, f64)| capacity.is_none_or(|it| wanted <= it / n);
        [dram, noc].into_iter().zip(load.wanted()).all(is_below)
    }

    fn is_loud(&self, _: &Load) -> bool {
        false
    }

    fn part(&self, _: usize) -> f64 {
        0.0
    }

    fn divide(&mut self, loads: &mut [Load], passed: f64) {
        let Self { shares, now, scheduler, .. } = self;
        if !shares.is_stale {
            return;
        }
        loads.iter_mut().for_each(|load| load.set_rate(1.0));
        if let Some(capacity) = shares.settings.dram {
            let now = *now + SimSpan::from_ns(passed as u64);
            shares.limit(loads, Resource::Dram, capacity, now, *scheduler);
        }
        if let Some(capacity) = shares.settings.noc {
            shares.limit(loads, Resource::Noc, capacity, *now, *scheduler);
        }
    }
}

impl Shares<'_> {
    /// The DRAM bandwidth, if it alone is shared, max-min fair.
    fn max_min(&self) -> Option<f64> {
        let SharedBandwidth { dram, noc, division } = self.settings;
        dram.filter(|_| !self.asks && noc.is_none() && division == Division::MaxMin)
    }

    /// Slows down the users of a resource if their demands exceed its capacity. A scheduler divides
    /// DRAM only.
    fn limit(
        &mut self,
        loads: &mut [Load],
        resource: Resource,
        capacity: f64,
        now: SimTime,
        scheduler: &mut dyn Scheduler,
    ) {
        const { assert!(Resource::Noc as usize + 1 == N_RESOURCES) };
        let demand = |load: &Load| load.wanted()[resource as usize] * load.rate();
        if loads.iter().map(demand).sum::<f64>() <= capacity {
            return;
        }
        let is_asked = self.asks && resource == Resource::Dram;
        self.allocation.set_demands(loads.iter().map(demand));
        if is_asked {
            self.asks = self.ask(loads, capacity, now, scheduler);
        }
        match (is_asked && self.asks, self.settings.division) {
            (true, _) => self.allocation.clamp_to_capacity(capacity),
            (false, Division::MaxMin) => self.allocation.max_min_fair(capacity),
            (false, Division::Proportional) => self.allocation.proportional(capacity),
        }
        for (index, fraction) in self.allocation.fractions() {
            let rate = loads[index].rate() * fraction;
            loads[index].set_rate(rate);
        }
    }

    /// Asks the scheduler for grants. Returns whether it divides bandwidth.
    fn ask(
        &mut self,
        loads: &[Load],
        capacity: f64,
        now: SimTime,
        scheduler: &mut dyn Scheduler,
    ) -> bool {
        self.demands.clear();
        for (index, wanted) in self.allocation.demands() {
            let load = &loads[index];
            let job = self.jobs[load.accelerator.index()].expect(RUNS);
            let Job { request, model, work, deadline, .. } = job;
            self.demands.push(BandwidthDemand {
                accelerator: load.accelerator,
                request,
                model,
                remaining: self.costs.on(work, load.accelerator).remaining(load.layer()),
                slack: deadline.saturating_since(now),
                wanted,
            });
        }
        scheduler.grant(&self.demands, capacity, self.allocation.grants())
    }
}
