//! Where a running segment is, and how far it can run before its demand for bandwidth matters.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use crate::schedule::Job;
use xrsim_model::cost::{Execution, LayerCost, NetworkCost, Traffic};
use xrsim_model::ids::AccelId;
use xrsim_model::units::SimSpan;

use super::super::running::RunningSegment;
use super::switching::Transfer;

/// Number of shared resources: DRAM and NoC.
pub(super) const N_RESOURCES: usize = 2;

/// What differs by less than this from a whole number of ns, or from a boundary between layers, is there
/// \[ns\]. Speeds are fractions of which thousands add up.
pub(super) const ROUNDING: f64 = 1e-4;

/// Times that differ by less than this are the same \[ns\]; places are exact to 1e-7 ns.
pub(super) const SAME: f64 = 1e-9;

/// A stretch of layers that demand at most an equal part of the capacity.
pub(super) const QUIET: u8 = 1;

/// A stretch of layers that demand an equal part of the capacity or more.
pub(super) const LOUD: u8 = 2;

/// Most levels of a [`Profile`], enough for 16 loads at once.
const MAX_LEVELS: usize = 5;

/// Layers of a network on an accelerator, as dense tables.
pub(super) struct Profile {
    /// Time at full speed before every layer, and at the end \[ns\].
    starts: Box<[f64]>,
    /// DRAM bytes before every layer, and at the end.
    bytes: Box<[f64]>,
    /// Demand of every layer at full speed \[byte/ns\].
    wanted: Box<[[f64; N_RESOURCES]]>,
    /// Index after the step with every layer.
    steps: Box<[u32]>,
    /// For every level and layer, the ends of the stretches that it begins; level k is that of 2^k loads.
    stretches: Box<[Stretches]>,
}

/// Everything that a profile depends on: the network by its address, its layers, the capacity and the levels.
type ProfileKey = (usize, u32, [u64; N_RESOURCES], usize);

/// Profiles with the networks that they are of, whose addresses are therefore no other's.
type Profiles = HashMap<ProfileKey, (Arc<NetworkCost>, Arc<Profile>)>;

/// Most profiles that a thread keeps, of some kilobytes each.
const MOST_PROFILES: usize = 512;

thread_local! {
    /// Profiles of the thread: runs that differ in their draws or their scheduler share them.
    static PROFILES: RefCell<Profiles> = RefCell::default();
}

/// Ends of stretches of layers whose demands are all on one side of the part of a load of the capacity. A layer of
/// no time is in both.
#[derive(Clone, Copy)]
struct Stretches {
    /// The first layer that demands more than its part of a resource.
    quiet: u32,
    /// The first layer that demands less than its part of DRAM.
    loud: u32,
}

impl Profile {
    /// Tables of `execution` for `n_loads` loads at once that share `capacity`.
    pub(super) fn of(
        execution: Execution<'_>,
        capacity: [f64; N_RESOURCES],
        n_loads: usize,
    ) -> Arc<Self> {
        let levels = n_loads.next_power_of_two().trailing_zeros() as usize + 1;
        let n_levels = levels.min(MAX_LEVELS);
        let (network, n_layers) = (execution.network(), execution.n_layers());
        let address = ptr::from_ref(&**network).addr();
        PROFILES.with_borrow_mut(|known| {
            if known.len() >= MOST_PROFILES {
                known.clear();
            }
            let key = (address, n_layers, capacity.map(f64::to_bits), n_levels);
            let profile = || Arc::new(Self::new(execution, None, capacity, n_levels));
            let new = || (Arc::clone(network), profile());
            Arc::clone(&known.entry(key).or_insert_with(new).1)
        })
    }

    /// Tables of a network without layers whose time was drawn.
    pub(super) fn drawn(execution: Execution<'_>, time: SimSpan) -> Arc<Self> {
        let capacity = [f64::INFINITY; N_RESOURCES];
        Arc::new(Self::new(execution, Some(time), capacity, MAX_LEVELS))
    }

    fn new(
        execution: Execution<'_>,
        drawn: Option<SimSpan>,
        capacity: [f64; N_RESOURCES],
        n_levels: usize,
    ) -> Self {
        let n_layers = execution.n_layers();
        let network = execution.network();
        let latency = drawn.unwrap_or(network.latency).ns() as f64;
        let add = |sum: u64, it: &LayerCost| sum.saturating_add(it.cycles);
        let per_ns = network.layers.iter().fold(0, add) as f64 / latency;
        let with_room = || Vec::with_capacity(n_layers as usize + 1);
        let (mut starts, mut bytes) = (with_room(), with_room());
        starts.push(0.0);
        bytes.push(0.0);
        let mut wanted = Vec::with_capacity(n_layers as usize);
        let (mut before, mut moved) = (SimSpan::ZERO, 0.0);
        for layer in 0..n_layers {
            let time = drawn.unwrap_or_else(|| execution.layer_time(layer));
            let exact = match n_layers {
                1 => latency,
                _ => network.layers[layer as usize].cycles as f64 / per_ns,
            };
            let demand = match time {
                SimSpan::ZERO => [0.0; N_RESOURCES],
                _ => demand(execution.traffic_of(layer), exact),
            };
            before += time;
            moved += demand[0] * time.ns() as f64;
            starts.push(before.ns() as f64);
            bytes.push(moved);
            wanted.push(demand);
        }
        let (starts, bytes, wanted) = (starts.into(), bytes.into(), wanted.into());
        let steps = (0..n_layers).map(|layer| execution.step_end(layer)).collect();
        let mut profile = Self { starts, bytes, wanted, steps, stretches: Box::default() };
        let n_layers = n_layers as usize;
        let end = Stretches { quiet: n_layers as u32, loud: n_layers as u32 };
        let mut all = vec![end; n_layers * n_levels];
        for (level, stretches) in all.chunks_exact_mut(n_layers).enumerate() {
            profile.find_stretches(capacity, level, stretches);
        }
        profile.stretches = all.into();
        profile
    }

    fn find_stretches(
        &self,
        capacity: [f64; N_RESOURCES],
        level: usize,
        stretches: &mut [Stretches],
    ) {
        let part = capacity.map(|it| it / (1u32 << level) as f64);
        let mut next = stretches[stretches.len() - 1];
        for (layer, wanted) in self.wanted.iter().enumerate().rev() {
            if wanted.iter().zip(part).any(|(wanted, part)| *wanted > part) {
                next.quiet = layer as u32;
            }
            if wanted[0] < part[0] && self.starts[layer] < self.starts[layer + 1] {
                next.loud = layer as u32;
            }
            stretches[layer] = next;
        }
    }

    /// Time at full speed before `layer` \[ns\].
    pub(super) fn start_of(&self, layer: u32) -> f64 {
        self.starts[layer as usize]
    }

    /// DRAM bandwidth that `layer` demands \[byte/ns\].
    pub(super) fn demand_of(&self, layer: u32) -> f64 {
        self.wanted[layer as usize][0]
    }

    /// Ends of the stretches that `layer` begins for `n_loads` loads; `layer` itself where they are not known.
    fn stretches_from(&self, layer: u32, n_loads: usize) -> Stretches {
        let level = n_loads.ilog2() as usize;
        let at = |level: usize| {
            let index = level * self.wanted.len() + layer as usize;
            self.stretches.get(index).copied().unwrap_or(Stretches { quiet: layer, loud: layer })
        };
        match n_loads.is_power_of_two() {
            true => at(level),
            // The part of more loads is smaller, that of fewer is larger.
            false => Stretches { quiet: at(level + 1).quiet, loud: at(level).loud },
        }
    }

    /// Index of the first boundary after the start of `first` that lies at `at` \[ns\] or later; the end
    /// if there is none.
    fn boundary(&self, first: u32, at: f64) -> u32 {
        let ends = &self.starts[first as usize + 1..];
        let earlier = ends.partition_point(|end| *end < at - ROUNDING);
        first + 1 + earlier.min(ends.len() - 1) as u32
    }

    /// DRAM bytes before the place `at` in `layer`.
    fn bytes_at(&self, layer: u32, at: f64) -> f64 {
        let index = layer as usize;
        self.bytes[index] + self.wanted[index][0] * (at - self.starts[index])
    }

    /// The layer from `layer` on in which `bytes` have been moved, and the place there.
    fn place_of(&self, layer: u32, bytes: f64) -> (u32, f64) {
        let ends = &self.bytes[layer as usize + 1..];
        let passed = first_after(ends, bytes);
        let index = (layer as usize + passed).min(self.wanted.len() - 1);
        let place = self.starts[index] + (bytes - self.bytes[index]) / self.wanted[index][0];
        (index as u32, place.min(self.starts[index + 1]))
    }
}

/// Index of the first of some ascending numbers above `value`, which is mostly one of the first.
#[inline]
fn first_after(ascending: &[f64], value: f64) -> usize {
    const NEAR: usize = 8;
    let near = &ascending[..ascending.len().min(NEAR)];
    match near.iter().position(|it| *it > value) {
        Some(index) => index,
        None => near.len() + ascending[near.len()..].partition_point(|it| *it <= value),
    }
}

/// Demand \[byte/ns\] of a layer that takes `ns` before boundaries are rounded to ns, so that what has the
/// bandwidth of its accelerator alone never demands more.
fn demand(traffic: Traffic, ns: f64) -> [f64; N_RESOURCES] {
    let bytes = [traffic.dram_bytes, traffic.noc_bytes];
    bytes.map(|bytes| if ns > 0.0 { bytes as f64 / ns } else { 0.0 })
}

/// A running segment on its course. Its place is the time at full speed since the start of its network \[ns\]; the
/// data transfer before the segment lies before the start of the first layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) job: Job,
    pub(super) accelerator: AccelId,
    /// Index of its [`Profile`].
    pub(super) profile: usize,
    /// The layer under way, or one before it.
    layer: u32,
    end_layer: u32,
    /// Places where the first layer starts and the last one ends.
    from: f64,
    end: f64,
    /// Demand of the data transfer.
    moving: [f64; N_RESOURCES],
    /// Demand of what is under way, at full speed \[byte/ns\].
    pub(super) wanted: [f64; N_RESOURCES],
    at: f64,
    /// Place where its speed is to be looked at again, and the layer there.
    until: f64,
    until_layer: u32,
    /// Its speed, as a fraction of full speed.
    pub(super) rate: f64,
    /// Its DRAM bytes so far, those up to `until`, and those per ns, if these are the same in all layers up to there.
    flow: Option<[f64; 3]>,
    /// Number of loads for which the layer, its demand and its stretches were found; 0 if they are to be found again.
    located: usize,
    /// Stretches that the layer begins: a sum of [`QUIET`] and [`LOUD`].
    begins: u8,
}

impl Load {
    /// A segment that starts, after its data transfer `moved`.
    pub(super) fn new(
        running: &RunningSegment<'_>,
        moved: &Transfer,
        index: usize,
        profile: &Profile,
    ) -> Self {
        let RunningSegment { job, accelerator, end_layer, .. } = *running;
        let (from, takes) = (profile.start_of(job.next_layer), moved.time.ns() as f64);
        Self {
            job,
            accelerator,
            profile: index,
            layer: job.next_layer,
            end_layer,
            from,
            end: profile.start_of(end_layer),
            moving: demand(moved.traffic, takes),
            wanted: [0.0; N_RESOURCES],
            at: from - takes,
            until: from - takes,
            until_layer: job.next_layer,
            rate: 1.0,
            flow: None,
            located: 0,
            begins: 0,
        }
    }

    pub(super) fn is_moving(&self) -> bool {
        self.at < self.from
    }

    /// The layer under way, the one after the last, and its place.
    pub(super) fn place(&self) -> (u32, u32, f64) {
        (self.layer, self.end_layer, self.at)
    }

    /// Sets its place in `layer`, where its speed is to be looked at.
    pub(super) fn set_place(&mut self, layer: u32, at: f64) {
        (self.layer, self.at, self.located) = (layer, at, 0);
    }

    /// Time at full speed to its end \[ns\].
    pub(super) fn work_left(&self) -> f64 {
        (self.end - self.at).max(0.0)
    }

    /// Whether its last layer is done.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.end
    }

    /// Layer under way; during the data transfer, the first one.
    pub(super) fn layer(&self) -> u32 {
        self.layer
    }

    /// Ends it before `layer`.
    pub(super) fn shorten(&mut self, layer: u32, profile: &Profile) {
        self.end_layer = layer;
        self.end = profile.start_of(layer);
        self.until = self.until.min(self.end);
        self.until_layer = self.until_layer.min(layer);
        if let Some([_, until, _]) = &mut self.flow {
            *until = until.min(profile.bytes[layer as usize]);
        }
    }

    /// Proceeds at full speed to the end of the layer or data transfer. Returns the stretches that it begins for
    /// `n_loads` loads: a sum of [`QUIET`] and [`LOUD`].
    pub(super) fn run_layer(&mut self, profiles: &[Option<Arc<Profile>>], n_loads: usize) -> u8 {
        self.rate = 1.0;
        if self.located != n_loads {
            self.flow = None;
            self.located = n_loads;
            match profiles[self.profile].as_ref() {
                Some(profile) if !self.is_moving() => self.locate(profile, n_loads),
                _ => {
                    (self.wanted, self.begins) = (self.moving, 0);
                    (self.until, self.until_layer) = (self.from, self.layer);
                }
            }
        }
        self.begins
    }

    /// Finds the layer under way.
    fn locate(&mut self, profile: &Profile, n_loads: usize) {
        let ends = &profile.starts[self.layer as usize + 1..self.end_layer as usize];
        self.layer += first_after(ends, self.at) as u32;
        self.wanted = profile.wanted[self.layer as usize];
        (self.until, self.until_layer) = (profile.start_of(self.layer + 1), self.layer + 1);
        let Stretches { quiet, loud } = profile.stretches_from(self.layer, n_loads);
        self.begins = QUIET * u8::from(quiet > self.layer) + LOUD * u8::from(loud > self.layer);
    }

    /// Proceeds at full speed to the end of the quiet stretch for `n_loads` loads.
    pub(super) fn run_quiet(&mut self, profile: &Profile, n_loads: usize) {
        let end = profile.stretches_from(self.layer, n_loads).quiet.min(self.end_layer);
        (self.until, self.until_layer) = (profile.start_of(end), end);
        self.located = 0;
    }

    /// Proceeds with `part` \[byte/ns\] of DRAM to the end of the loud stretch for `n_loads` loads.
    pub(super) fn run_loud(&mut self, profile: &Profile, n_loads: usize, part: f64) {
        let end = profile.stretches_from(self.layer, n_loads).loud.min(self.end_layer);
        let bytes = profile.bytes_at(self.layer, self.at);
        self.flow = Some([bytes, profile.bytes[end as usize], part]);
        (self.until, self.until_layer) = (profile.start_of(end), end);
        self.located = 0;
    }

    /// Time until its speed is looked at again \[ns\].
    pub(super) fn time_left(&self) -> f64 {
        match self.flow {
            None => (self.until - self.at) / self.rate,
            Some([bytes, until, part]) => (until - bytes) / part,
        }
    }

    /// Proceeds for `ns` of the time `left` until its speed is looked at again. Returns whether it is there; its end may be
    /// `near` ns further.
    #[inline]
    pub(super) fn proceed(
        &mut self,
        profiles: &[Option<Arc<Profile>>],
        ns: f64,
        left: f64,
        near: f64,
    ) -> bool {
        let near = if self.until >= self.end { near } else { SAME };
        if left <= ns + near {
            (self.at, self.located) = (self.until, 0);
            self.layer = self.until_layer.min(self.end_layer - 1);
            return true;
        }
        match &mut self.flow {
            None => self.at += self.rate * ns,
            Some([bytes, _, part]) => {
                *bytes += *part * ns;
                let profile = profiles[self.profile].as_ref().expect("it runs");
                (self.layer, self.at) = profile.place_of(self.layer, *bytes);
            }
        }
        false
    }

    /// Index of the layer before which it can be cut next, at least one after its first, and the time until
    /// then at full speed \[ns\].
    pub(super) fn next_cut(&self, profile: &Profile) -> (u32, f64) {
        let first = self.job.next_layer;
        let cut = match self.is_moving() {
            true => profile.steps[first as usize],
            false => profile.steps[profile.boundary(first, self.at) as usize - 1],
        };
        (cut, (profile.start_of(cut) - self.at).max(0.0))
    }

    /// The layer under way, and the fraction of it that has run.
    pub(super) fn reached(&self, profile: &Profile) -> (u32, f64) {
        if self.is_moving() {
            return (self.job.next_layer, 0.0);
        }
        let cut = profile.boundary(self.job.next_layer, self.at);
        let left = (profile.start_of(cut) - self.at).max(0.0);
        if left <= ROUNDING {
            return (cut, 0.0);
        }
        let start = profile.start_of(cut - 1);
        (cut - 1, (self.at - start) / (profile.start_of(cut) - start))
    }
}
