//! Shared bandwidth as a fluid: every running layer proceeds at the fraction of its full speed that its
//! share of the bandwidth allows, until some layer starts or ends.
//!
//! Layers become events of their own. Work is counted in ns at full speed. Where bandwidth suffices
//! these are whole numbers, and every layer ends exactly as in the plain model. The end of a layer that
//! was slowed down is rounded up to the next ns.

use crate::plan::{Division, Plan, SharedBandwidth};
use crate::schedule::{BandwidthDemand, Job, Scheduler};
use xrsim_model::cost::{CostTable, Traffic};
use xrsim_model::ids::AccelId;
use xrsim_model::units::{SimSpan, SimTime};

use super::super::agenda::Completions;
use super::super::running::RunningSegment;
use super::allocation::Allocation;
use super::switching::Transfer;

/// Running layers and their speeds.
pub(super) struct Sharing<'a> {
    costs: &'a CostTable,
    settings: SharedBandwidth,
    /// Indexed by [`AccelId`].
    loads: Vec<Option<Load>>,
    /// Fraction of full speed at which each load can proceed; indexed by [`AccelId`].
    rates: Vec<f64>,
    /// Whether a load started or ended since bandwidth was last divided.
    is_stale: bool,
    allocation: Allocation,
    /// Demands as the scheduler sees them.
    demands: Vec<BandwidthDemand>,
}

/// A shared resource; index into [`Load::wanted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resource {
    Dram,
    Noc,
}

/// A running layer, or the data transfer before the first layer.
#[derive(Debug, Clone, Copy)]
struct Load {
    job: Job,
    /// The layer; during the data transfer, the first layer of the segment.
    layer: u32,
    is_transfer: bool,
    /// Demand at full speed for DRAM and for the NoC \[byte/ns\].
    wanted: [f64; 2],
    /// Time at full speed \[ns\].
    time: f64,
    /// Rest of that time at `since`.
    left: f64,
    since: SimTime,
    /// Fraction of full speed since then; 0 before bandwidth was divided.
    rate: f64,
}

impl Load {
    /// A load that takes `time` at full speed and moves `traffic`.
    fn new(job: Job, layer: u32, time: SimSpan, traffic: Traffic, now: SimTime) -> Self {
        let ns = time.ns() as f64;
        let per_ns = |bytes: u64| if ns > 0.0 { bytes as f64 / ns } else { 0.0 };
        let wanted = [traffic.dram_bytes, traffic.noc_bytes].map(per_ns);
        Self { job, layer, is_transfer: false, wanted, time: ns, left: ns, since: now, rate: 0.0 }
    }

    /// Demand for a resource at full speed \[byte/ns\].
    fn wants(&self, resource: Resource) -> f64 {
        self.wanted[resource as usize]
    }

    /// Rest of its time at full speed, at `now` \[ns\].
    fn left_at(&self, now: SimTime) -> f64 {
        let passed = (now - self.since).ns() as f64;
        (self.left - self.rate * passed).max(0.0)
    }

    /// Its demand as the scheduler sees it.
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

    /// Proceeds at `rate` from `now`; returns its end.
    fn set_rate(&mut self, rate: f64, now: SimTime) -> SimTime {
        self.left = self.left_at(now);
        (self.since, self.rate) = (now, rate);
        now + SimSpan::from_ns(round_up(self.left / rate))
    }
}

/// Next whole number of ns; a number that is off from a whole one by rounding counts as whole.
fn round_up(ns: f64) -> u64 {
    const ROUNDING: f64 = 1e-6;
    let nearest = ns.round();
    if (ns - nearest).abs() < ROUNDING { nearest as u64 } else { ns.ceil() as u64 }
}

impl<'a> Sharing<'a> {
    /// Idle accelerators; `None` if bandwidth is unlimited.
    pub(super) fn new(plan: &'a Plan, costs: &'a CostTable) -> Option<Self> {
        let settings = plan.engine.effects.bandwidth;
        let n_accelerators = plan.system.accelerators().len();
        settings.is_limited().then(|| Self {
            costs,
            settings,
            loads: vec![None; n_accelerators],
            rates: vec![1.0; n_accelerators],
            is_stale: false,
            allocation: Allocation::default(),
            demands: Vec::new(),
        })
    }

    /// Starts a segment after its data transfer `moved`.
    pub(super) fn start(&mut self, running: &RunningSegment, moved: &Transfer) {
        let RunningSegment { job, accelerator, start, .. } = *running;
        let load = match moved.time {
            SimSpan::ZERO => self.layer(job, job.next_layer, accelerator, start),
            time => {
                let load = Load::new(job, job.next_layer, time, moved.traffic, start);
                Load { is_transfer: true, ..load }
            }
        };
        self.loads[accelerator.index()] = Some(load);
        self.is_stale = true;
    }

    /// Whether another layer of `running` follows the load that has just ended; that layer starts then.
    /// Layers that take no time are skipped.
    pub(super) fn continues(&mut self, running: &RunningSegment, now: SimTime) -> bool {
        let accelerator = running.accelerator;
        let ended = self.load(accelerator);
        let (job, mut layer) = (ended.job, ended.layer + u32::from(!ended.is_transfer));
        while layer < running.end_layer && self.time_of(&job, accelerator, layer) == SimSpan::ZERO {
            layer += 1;
        }
        let follows = layer < running.end_layer;
        let next = follows.then(|| self.layer(job, layer, accelerator, now));
        self.loads[accelerator.index()] = next;
        self.is_stale = true;
        follows
    }

    /// Ends the load of `accelerator`.
    pub(super) fn stop(&mut self, accelerator: AccelId) {
        self.loads[accelerator.index()] = None;
        self.is_stale = true;
    }

    /// Index of the layer before which `running` can be cut next, at least one after its first, and the
    /// time of that cut at full speed.
    pub(super) fn next_cut(&self, running: &RunningSegment, now: SimTime) -> (u32, SimTime) {
        let load = self.load(running.accelerator);
        let left = load.left_at(now);
        if load.is_transfer || left < load.time || load.layer == running.job.next_layer {
            return (load.layer + 1, now + SimSpan::from_ns(left.ceil() as u64));
        }
        (self.just_ended(running), now)
    }

    /// The layer of `running` that is under way, and the fraction of that layer that has run.
    pub(super) fn reached(&self, running: &RunningSegment, now: SimTime) -> (u32, f64) {
        let load = self.load(running.accelerator);
        let ran = load.time - load.left_at(now);
        if load.is_transfer {
            (load.layer, 0.0)
        } else if ran > 0.0 {
            (load.layer, ran / load.time)
        } else {
            (self.just_ended(running), 0.0)
        }
    }

    /// Index after the layer that has just ended. Layers after it that take no time have not run.
    fn just_ended(&self, running: &RunningSegment) -> u32 {
        let accelerator = running.accelerator;
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

    /// Divides bandwidth again if a load started or ended, and moves the ends of the other loads.
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
            self.limit(Resource::Dram, capacity, scheduler, now);
        }
        if let Some(capacity) = self.settings.noc {
            self.limit(Resource::Noc, capacity, scheduler, now);
        }
        for (index, (load, &rate)) in self.loads.iter_mut().zip(&self.rates).enumerate() {
            if let Some(load) = load
                && load.rate != rate
            {
                completions.set(AccelId::new(index), load.set_rate(rate, now));
            }
        }
    }

    /// Slows down the users of a resource if their demands exceed its capacity. A scheduler divides
    /// DRAM only.
    fn limit(
        &mut self,
        resource: Resource,
        capacity: f64,
        scheduler: &mut dyn Scheduler,
        now: SimTime,
    ) {
        let demand = |(load, rate): (&Option<Load>, &f64)| {
            load.as_ref().map_or(0.0, |load| load.wants(resource) * rate)
        };
        let demands = self.loads.iter().zip(&self.rates).map(demand);
        if self.allocation.set_demands(demands) <= capacity {
            return;
        }
        let is_granted = resource == Resource::Dram && {
            let (loads, costs) = (&self.loads, self.costs);
            let demand = |(index, wanted): (usize, f64)| {
                let load: &Load = loads[index].as_ref().expect("a user of bandwidth runs");
                load.demand(AccelId::new(index), wanted, costs, now)
            };
            self.demands.clear();
            self.demands.extend(self.allocation.demands().map(demand));
            scheduler.grant(&self.demands, capacity, self.allocation.grants())
        };
        match (is_granted, self.settings.division) {
            (true, _) => self.allocation.clamp_to_capacity(capacity),
            (false, Division::MaxMin) => self.allocation.max_min_fair(capacity),
            (false, Division::Proportional) => self.allocation.proportional(capacity),
        }
        for (index, fraction) in self.allocation.fractions() {
            self.rates[index] *= fraction;
        }
    }
}
