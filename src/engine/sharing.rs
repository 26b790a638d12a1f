//! Shared bandwidth, as a fluid: every layer that runs goes on at the part of its speed that its part
//! of the bandwidth allows, until some layer starts or ends.
//!
//! Layers become events of their own. Work is counted in ns at full speed: where nothing is short of
//! bandwidth that is whole numbers, and every layer ends exactly when it does in the plain model. The
//! end of a layer that was slowed down is rounded up to the next ns.

use crate::cost::{CostTable, Traffic};
use crate::ids::AccelId;
use crate::plan::{Division as Rule, Plan, SharedBandwidth};
use crate::schedule::{BandwidthDemand, Job, Scheduler};
use crate::units::{SimSpan, SimTime};

use super::agenda::Completions;
use super::division::Division;
use super::running::RunningSegment;
use super::switching::Transfer;

/// What runs, and how fast.
pub(super) struct Sharing<'a> {
    costs: &'a CostTable,
    settings: SharedBandwidth,
    /// Indexed by [`AccelId`].
    loads: Vec<Option<Load>>,
    /// Part of full speed that each can go on at; indexed by [`AccelId`].
    rates: Vec<f64>,
    /// Whether something started or ended since bandwidth was last divided.
    is_stale: bool,
    division: Division,
    /// For the policy.
    demands: Vec<BandwidthDemand>,
}

/// Index of DRAM, and of the NoC, in what is wanted.
const DRAM: usize = 0;
const NOC: usize = 1;

/// One layer under way, or the moving of data before the first one.
#[derive(Debug, Clone, Copy)]
struct Load {
    job: Job,
    /// The layer; while data is moved, the first one.
    layer: u32,
    is_moving: bool,
    /// Bytes per ns at full speed, of DRAM and of the NoC.
    wanted: [f64; 2],
    /// Time at full speed \[ns\].
    time: f64,
    /// What was left of that at `since`.
    left: f64,
    since: SimTime,
    /// Part of full speed since then; 0 before bandwidth was divided.
    rate: f64,
}

impl Load {
    /// Something that takes `time` at full speed and moves so many bytes.
    fn new(job: Job, layer: u32, time: SimSpan, traffic: Traffic, now: SimTime) -> Self {
        let ns = time.ns() as f64;
        let wanted = [traffic.dram_bytes, traffic.noc_bytes]
            .map(|bytes| if ns > 0.0 { bytes as f64 / ns } else { 0.0 });
        Self { job, layer, is_moving: false, wanted, time: ns, left: ns, since: now, rate: 0.0 }
    }

    /// What is left at `now`.
    fn left_at(&self, now: SimTime) -> f64 {
        let passed = (now - self.since).ns() as f64;
        (self.left - self.rate * passed).max(0.0)
    }

    /// What it asks of a policy, wanting so much.
    fn demand(
        &self,
        accelerator: AccelId,
        wanted: f64,
        costs: &CostTable,
        now: SimTime,
    ) -> BandwidthDemand {
        let Job { request, model, work, deadline, .. } = self.job;
        BandwidthDemand {
            accelerator,
            request,
            model,
            remaining: costs.on(work, accelerator).remaining(self.layer),
            slack: deadline.saturating_since(now),
            wanted,
        }
    }

    /// Goes on at `rate`; gives the time of the end.
    fn proceed(&mut self, rate: f64, now: SimTime) -> SimTime {
        self.left = self.left_at(now);
        (self.since, self.rate) = (now, rate);
        now + SimSpan::from_ns(up(self.left / rate))
    }
}

/// The next whole number of ns, but for what quotients are off by.
fn up(ns: f64) -> u64 {
    const OFF: f64 = 1e-6;
    let nearest = ns.round();
    if (ns - nearest).abs() < OFF { nearest as u64 } else { ns.ceil() as u64 }
}

impl<'a> Sharing<'a> {
    /// Nothing runs; `None` if bandwidth is without limit.
    pub(super) fn new(plan: &'a Plan, costs: &'a CostTable) -> Option<Self> {
        let settings = plan.engine.effects.bandwidth;
        let n_accelerators = plan.system.accelerators().len();
        settings.is_limited().then(|| Self {
            costs,
            settings,
            loads: vec![None; n_accelerators],
            rates: vec![1.0; n_accelerators],
            is_stale: false,
            division: Division::default(),
            demands: Vec::new(),
        })
    }

    /// Starts a segment, after what is `moved` before.
    pub(super) fn start(
        &mut self,
        running: &RunningSegment,
        moved: &Transfer,
        accelerator: AccelId,
    ) {
        let RunningSegment { job, start, .. } = *running;
        let load = match moved.time {
            SimSpan::ZERO => self.layer(job, job.next_layer, accelerator, start),
            time => {
                let load = Load::new(job, job.next_layer, time, moved.traffic, start);
                Load { is_moving: true, ..load }
            }
        };
        self.loads[accelerator.index()] = Some(load);
        self.is_stale = true;
    }

    /// Whether what has just ended on `accelerator` is followed by another layer before `end_layer`,
    /// which then starts. Layers that take no time are passed over.
    pub(super) fn continues(&mut self, accelerator: AccelId, end_layer: u32, now: SimTime) -> bool {
        let ended = self.load(accelerator);
        let (job, mut layer) = (ended.job, ended.layer + u32::from(!ended.is_moving));
        while layer < end_layer && self.time_of(&job, accelerator, layer) == SimSpan::ZERO {
            layer += 1;
        }
        let next = (layer < end_layer).then(|| self.layer(job, layer, accelerator, now));
        self.loads[accelerator.index()] = next;
        self.is_stale = true;
        next.is_some()
    }

    /// Nothing runs on `accelerator` any more.
    pub(super) fn stop(&mut self, accelerator: AccelId) {
        self.loads[accelerator.index()] = None;
        self.is_stale = true;
    }

    /// The layer before which `segment` can be cut next, at least one behind its first, and when that is
    /// if it goes on at full speed.
    pub(super) fn cut(
        &self,
        running: &RunningSegment,
        accelerator: AccelId,
        now: SimTime,
    ) -> (u32, SimTime) {
        let load = self.load(accelerator);
        let left = load.left_at(now);
        if load.is_moving || left < load.time || load.layer == running.job.next_layer {
            return (load.layer + 1, now + SimSpan::from_ns(left.ceil() as u64));
        }
        (self.just_ended(running, accelerator), now)
    }

    /// The layer of `segment` that is under way on `accelerator`, behind those that have ended, and the
    /// share of it that has run.
    pub(super) fn reached(
        &self,
        running: &RunningSegment,
        accelerator: AccelId,
        now: SimTime,
    ) -> (u32, f64) {
        let load = self.load(accelerator);
        let ran = load.time - load.left_at(now);
        if load.is_moving {
            (load.layer, 0.0)
        } else if ran > 0.0 {
            (load.layer, ran / load.time)
        } else {
            (self.just_ended(running, accelerator), 0.0)
        }
    }

    /// The layer behind the one that has just ended; layers in between that take no time have not.
    fn just_ended(&self, running: &RunningSegment, accelerator: AccelId) -> u32 {
        let Load { job, mut layer, .. } = *self.load(accelerator);
        let first = running.job.next_layer;
        while layer > first + 1 && self.time_of(&job, accelerator, layer - 1) == SimSpan::ZERO {
            layer -= 1;
        }
        layer
    }

    fn load(&self, accelerator: AccelId) -> &Load {
        self.loads[accelerator.index()].as_ref().expect("a busy accelerator runs something")
    }

    fn time_of(&self, job: &Job, accelerator: AccelId, layer: u32) -> SimSpan {
        self.costs.on(job.work, accelerator).layer_time(layer)
    }

    fn layer(&self, job: Job, layer: u32, accelerator: AccelId, now: SimTime) -> Load {
        let time = self.time_of(&job, accelerator, layer);
        let traffic = self.costs.on(job.work, accelerator).traffic_of(layer);
        Load::new(job, layer, time, traffic, now)
    }

    /// Divides bandwidth anew if something started or ended, and moves the ends of what runs.
    pub(super) fn divide(
        &mut self,
        scheduler: &mut dyn Scheduler,
        completions: &mut Completions,
        now: SimTime,
    ) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        self.rates.fill(1.0);
        if let Some(capacity) = self.settings.dram {
            self.limit(DRAM, capacity, scheduler, now);
        }
        if let Some(capacity) = self.settings.noc {
            self.limit(NOC, capacity, scheduler, now);
        }
        for (index, (load, &rate)) in self.loads.iter_mut().zip(&self.rates).enumerate() {
            if let Some(load) = load
                && load.rate != rate
            {
                completions.set(AccelId::new(index), load.proceed(rate, now));
            }
        }
    }

    /// Slows down what asks for a resource as far as there is not enough of it. A policy divides DRAM
    /// only.
    fn limit(
        &mut self,
        resource: usize,
        capacity: f64,
        scheduler: &mut dyn Scheduler,
        now: SimTime,
    ) {
        let asks = |(load, rate): (&Option<Load>, &f64)| {
            load.as_ref().map_or(0.0, |load| load.wanted[resource] * rate)
        };
        let wanted = self.loads.iter().zip(&self.rates).map(asks);
        if self.division.ask(wanted) <= capacity {
            return;
        }
        let is_granted = resource == DRAM && {
            let (loads, costs) = (&self.loads, self.costs);
            let demand = |(index, wanted): (usize, f64)| {
                let load: &Load = loads[index].as_ref().expect("who asks for something runs");
                load.demand(AccelId::new(index), wanted, costs, now)
            };
            self.demands.clear();
            self.demands.extend(self.division.askers().map(demand));
            scheduler.grant(&self.demands, capacity, self.division.grants())
        };
        match (is_granted, self.settings.division) {
            (true, _) => self.division.clamp_to_capacity(capacity),
            (false, Rule::MaxMin) => self.division.max_min_fair(capacity),
            (false, Rule::Proportional) => self.division.in_proportion(capacity),
        }
        for (index, part) in self.division.parts() {
            self.rates[index] *= part;
        }
    }
}
