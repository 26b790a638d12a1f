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
use super::course::{LOUD, Load, N_RESOURCES, Profile, QUIET, ROUNDING, SAME};
use super::few::{MAX_FEW, run_layers};
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
    settings: SharedBandwidth,
    /// Indexed by [`PointId`](xrsim_model::ids::PointId), [`WorkId`](xrsim_model::ids::WorkId) and [`AccelId`]; made when
    /// a pair first runs at a point.
    profiles: Vec<Option<Arc<Profile>>>,
    /// In order of accelerator.
    running: Vec<Load>,
    /// Whether a layer started or ended since bandwidth was last divided.
    is_stale: bool,
    /// Whether a few segments run their layers and share nothing but DRAM.
    are_few: bool,
    /// The last instant of the engine.
    now: SimTime,
    /// Instant that the running segments have been moved to since then; `None` if they have not.
    ahead: Option<SimTime>,
    /// `running` and `is_stale` as they were at `now`.
    before: (Vec<Load>, bool),
    /// Time left of every running segment until its speed is looked at again \[ns\].
    left: Vec<f64>,
    allocation: Allocation,
    /// Whether the scheduler may divide DRAM.
    asks: bool,
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
            settings,
            profiles: Vec::new(),
            running: Vec::new(),
            is_stale: false,
            are_few: false,
            now: SimTime::ZERO,
            ahead: None,
            before: (Vec::new(), false),
            left: Vec::new(),
            allocation: Allocation::default(),
            asks: true,
            demands: Vec::new(),
        })
    }

    /// Starts a segment after its data transfer `moved`.
    pub(super) fn start(&mut self, running: &RunningSegment<'_>, moved: &Transfer) {
        let accelerator = running.accelerator;
        let index = self.profile(running);
        if let Some(time) = running.drawn {
            // Nothing else runs there, so that no other load looks at this profile.
            self.profiles[index] = Some(Profile::drawn(running.execution(), time));
        }
        let profile = self.profiles[index].as_ref().expect("it was made");
        let load = Load::new(running, moved, index, profile);
        let place = self.running.partition_point(|it| it.accelerator < accelerator);
        self.running.insert(place, load);
        self.is_stale = true;
    }

    /// Index of the profile of a job on an accelerator at a point, which is made if there is none.
    fn profile(&mut self, running: &RunningSegment<'_>) -> usize {
        let RunningSegment { job, accelerator, point, .. } = running;
        let n_accelerators = self.costs.n_accelerators();
        let row = point.index() * self.costs.n_works() + job.work.index();
        let index = row * n_accelerators + accelerator.index();
        if self.profiles.len() <= index {
            self.profiles.resize_with(index + 1, || None);
        }
        let capacity = [self.settings.dram, self.settings.noc];
        self.profiles[index].get_or_insert_with(|| {
            let capacity = capacity.map(|it| it.unwrap_or(f64::INFINITY));
            Profile::of(running.execution(), capacity, n_accelerators)
        });
        index
    }

    /// Removes the load of `accelerator`, if its last layer is not done.
    pub(super) fn stop(&mut self, accelerator: AccelId) {
        let n_before = self.running.len();
        self.running.retain(|load| load.accelerator != accelerator);
        self.is_stale |= self.running.len() < n_before;
    }

    /// Ends the load of `accelerator` before `layer`.
    pub(super) fn shorten(&mut self, accelerator: AccelId, layer: u32) {
        let index = self.index_of(accelerator);
        let load = &mut self.running[index];
        let profile = self.profiles[load.profile].as_ref().expect("it runs");
        load.shorten(layer, profile);
    }

    /// Index of the layer before which the load of `accelerator` can be cut next, at least one after its
    /// first, and the time of that cut at full speed.
    pub(super) fn next_cut(&self, accelerator: AccelId, now: SimTime) -> (u32, SimTime) {
        let load = &self.running[self.index_of(accelerator)];
        let (cut, ns) = load.next_cut(self.profile_of(load));
        (cut, now + round_up(ns))
    }

    /// The layer that is under way on `accelerator`, and the fraction of that layer that has run.
    pub(super) fn reached(&self, accelerator: AccelId) -> (u32, f64) {
        let load = &self.running[self.index_of(accelerator)];
        load.reached(self.profile_of(load))
    }

    /// Time at full speed that is left of the segment of `accelerator` \[ns\].
    pub(super) fn work_left(&self, accelerator: AccelId) -> f64 {
        let place = self.running.binary_search_by_key(&accelerator, |load| load.accelerator);
        place.map_or(0.0, |index| self.running[index].work_left())
    }

    fn index_of(&self, accelerator: AccelId) -> usize {
        let place = self.running.binary_search_by_key(&accelerator, |load| load.accelerator);
        place.expect("a busy accelerator runs something")
    }

    fn profile_of(&self, load: &Load) -> &Profile {
        self.profiles[load.profile].as_ref().expect("it runs")
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
        self.before.0.clone_from(&self.running);
        self.before.1 = self.is_stale;
        let mut horizon = limit.unwrap_or(SimTime::MAX);
        let (mut passed, mut most) = (0.0, (horizon - self.now).ns() as f64);
        loop {
            if std::mem::take(&mut self.is_stale) {
                self.divide(passed, scheduler);
            }
            let ends;
            (passed, ends) = match self.run_few(passed, most) {
                Some(passed) => (passed, self.running.iter().any(Load::is_done)),
                None => self.step(passed, most),
            };
            if ends {
                let end = self.now + round_up(passed);
                self.running.retain(|load| {
                    if load.is_done() {
                        completions.set(load.accelerator, end);
                    }
                    !load.is_done()
                });
                horizon = horizon.min(end);
                most = (horizon - self.now).ns() as f64;
            }
            if passed >= most || self.running.is_empty() {
                break;
            }
        }
        self.ahead = Some(horizon);
    }

    /// Moves the running segments to where the next one changes its speed, or to `most` \[ns\] after the last instant.
    /// Returns what has passed since then, and whether one has ended.
    fn step(&mut self, passed: f64, most: f64) -> (f64, bool) {
        let mut step = most - passed;
        self.left.clear();
        for load in &self.running {
            let left = load.time_left();
            step = step.min(left);
            self.left.push(left);
        }
        let passed = passed + step;
        // At a whole ns, an end that is off by rounding is there.
        let near = if passed >= most { ROUNDING } else { SAME };
        let mut ends = false;
        for (load, &left) in self.running.iter_mut().zip(&self.left) {
            if load.proceed(&self.profiles, step, left, near) {
                self.is_stale = true;
                ends |= load.is_done();
            }
        }
        (passed, ends)
    }

    /// Moves a few running segments layer by layer, if they do so; returns what has passed then.
    fn run_few(&mut self, passed: f64, most: f64) -> Option<f64> {
        let capacity = self.settings.dram.filter(|_| self.are_few)?;
        self.is_stale = true;
        let (running, profiles) = (&mut self.running[..], &self.profiles[..]);
        Some(if let Ok(two) = <&mut [Load; 2]>::try_from(&mut *running) {
            run_layers(two, profiles, capacity, passed, most)
        } else if let Ok(three) = <&mut [Load; 3]>::try_from(&mut *running) {
            run_layers(three, profiles, capacity, passed, most)
        } else {
            let four = <&mut [Load; MAX_FEW]>::try_from(running).ok()?;
            run_layers(four, profiles, capacity, passed, most)
        })
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
        for load in &self.before.0 {
            completions.clear(load.accelerator);
        }
        self.running.clone_from(&self.before.0);
        (self.is_stale, self.are_few) = (self.before.1, false);
        self.ahead = None;
        self.advance(Some(now), scheduler, completions);
    }

    /// Divides bandwidth `passed` ns after the last instant, because a layer started or ended.
    fn divide(&mut self, passed: f64, scheduler: &mut dyn Scheduler) {
        let n_loads = self.running.len();
        self.are_few = false;
        let mut begins = QUIET | LOUD;
        for load in &mut self.running {
            begins &= load.run_layer(&self.profiles, n_loads);
        }
        if begins & QUIET != 0 {
            for load in &mut self.running {
                let profile = self.profiles[load.profile].as_ref().expect("it runs");
                load.run_quiet(profile, n_loads);
            }
            return;
        }
        if let Some(capacity) = self.settings.dram
            && begins & LOUD != 0
            && self.has_equal_parts()
        {
            let part = capacity / n_loads as f64;
            for load in &mut self.running {
                let profile = self.profiles[load.profile].as_ref().expect("it runs");
                load.run_loud(profile, n_loads, part);
            }
            return;
        }
        self.are_few = (2..=MAX_FEW).contains(&n_loads)
            && self.settings.dram.is_some()
            && self.has_equal_parts()
            && self.running.iter().all(|load| !load.is_moving());
        if self.are_few {
            return;
        }
        if let Some(capacity) = self.settings.dram {
            self.limit(Resource::Dram, capacity, passed, scheduler);
        }
        if let Some(capacity) = self.settings.noc {
            self.limit(Resource::Noc, capacity, passed, scheduler);
        }
    }

    /// Whether loads that demand more than an equal part of DRAM get that, and nothing else slows them.
    fn has_equal_parts(&self) -> bool {
        !self.asks && self.settings.noc.is_none() && self.settings.division == Division::MaxMin
    }

    /// Slows down the users of a resource if their demands exceed its capacity. A scheduler divides
    /// DRAM only.
    fn limit(
        &mut self,
        resource: Resource,
        capacity: f64,
        passed: f64,
        scheduler: &mut dyn Scheduler,
    ) {
        const { assert!(Resource::Noc as usize + 1 == N_RESOURCES) };
        let demand = |load: &Load| load.wanted[resource as usize] * load.rate;
        if self.running.iter().map(demand).sum::<f64>() <= capacity {
            return;
        }
        let is_asked = self.asks && resource == Resource::Dram;
        // Most often there are two.
        if let [one, other] = &mut self.running[..]
            && !is_asked
            && self.settings.division == Division::MaxMin
        {
            let [first, second] = [demand(one), demand(other)];
            let grant =
                |own: f64, other: f64| own.min((capacity - other).max(capacity / 2.0)) / own;
            one.rate *= if first > 0.0 { grant(first, second) } else { 1.0 };
            other.rate *= if second > 0.0 { grant(second, first) } else { 1.0 };
            return;
        }
        self.allocation.set_demands(self.running.iter().map(demand));
        if is_asked {
            self.asks = self.ask(capacity, passed, scheduler);
        }
        match (is_asked && self.asks, self.settings.division) {
            (true, _) => self.allocation.clamp_to_capacity(capacity),
            (false, Division::MaxMin) => self.allocation.max_min_fair(capacity),
            (false, Division::Proportional) => self.allocation.proportional(capacity),
        }
        for (index, fraction) in self.allocation.fractions() {
            self.running[index].rate *= fraction;
        }
    }

    /// Asks the scheduler for grants. Returns whether it divides bandwidth.
    fn ask(&mut self, capacity: f64, passed: f64, scheduler: &mut dyn Scheduler) -> bool {
        let now = self.now + SimSpan::from_ns(passed as u64);
        self.demands.clear();
        for (index, wanted) in self.allocation.demands() {
            let load = &self.running[index];
            let Job { request, model, work, deadline, .. } = load.job;
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
