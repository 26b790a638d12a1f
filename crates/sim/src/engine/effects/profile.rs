//! Layers of a network on an accelerator, and how far a segment can run before its demand for bandwidth matters.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use xrsim_model::cost::{Execution, LayerCost, NetworkCost, Traffic};
use xrsim_model::units::SimSpan;

/// Number of shared resources: DRAM and NoC.
pub(super) const N_RESOURCES: usize = 2;

/// What differs by less than this from a whole number of ns, or from a boundary between layers, is there
/// \[ns\]. Speeds are fractions of which thousands add up.
pub(super) const ROUNDING: f64 = 1e-4;

/// Most levels of a [`Profile`], enough for 16 loads at once.
const MAX_LEVELS: usize = 5;

/// Layers of a network on an accelerator, as dense tables.
pub(super) struct Profile {
    /// Time at full speed before every layer, and at the end \[ns\].
    pub(super) starts: Box<[f64]>,
    /// DRAM bytes before every layer, and at the end.
    pub(super) bytes: Box<[f64]>,
    /// Demand of every layer at full speed \[byte/ns\].
    pub(super) wanted: Box<[[f64; N_RESOURCES]]>,
    /// Index after the step with every layer.
    pub(super) steps: Box<[u32]>,
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
pub(super) struct Stretches {
    /// The first layer that demands more than its part of a resource.
    pub(super) quiet: u32,
    /// The first layer that demands less than its part of DRAM.
    pub(super) loud: u32,
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

    /// Ends of the stretches that `layer` begins for 2^`level` loads; `layer` itself where they are not known.
    pub(super) fn stretches_from(&self, layer: u32, level: usize) -> Stretches {
        let index = level * self.wanted.len() + layer as usize;
        self.stretches.get(index).copied().unwrap_or(Stretches { quiet: layer, loud: layer })
    }

    /// Index of the first boundary after the start of `first` that lies at `at` \[ns\] or later; the end
    /// if there is none.
    pub(super) fn boundary(&self, first: u32, at: f64) -> u32 {
        let ends = &self.starts[first as usize + 1..];
        let earlier = ends.partition_point(|end| *end < at - ROUNDING);
        first + 1 + earlier.min(ends.len() - 1) as u32
    }

    /// DRAM bytes before the place `at` in `layer`.
    pub(super) fn bytes_at(&self, layer: u32, at: f64) -> f64 {
        let index = layer as usize;
        self.bytes[index] + self.wanted[index][0] * (at - self.starts[index])
    }

    /// The layer from `layer` on in which `bytes` have been moved, and the place there.
    pub(super) fn place_of(&self, layer: u32, bytes: f64) -> (u32, f64) {
        let ends = &self.bytes[layer as usize + 1..];
        let passed = first_after(ends, bytes);
        let index = (layer as usize + passed).min(self.wanted.len() - 1);
        let place = self.starts[index] + (bytes - self.bytes[index]) / self.wanted[index][0];
        (index as u32, place.min(self.starts[index + 1]))
    }
}

/// Index of the first of some ascending numbers above `value`, which is mostly one of the first.
#[inline]
pub(super) fn first_after(ascending: &[f64], value: f64) -> usize {
    const NEAR: usize = 8;
    let near = &ascending[..ascending.len().min(NEAR)];
    match near.iter().position(|it| *it > value) {
        Some(index) => index,
        None => near.len() + ascending[near.len()..].partition_point(|it| *it <= value),
    }
}

/// Demand \[byte/ns\] of a layer that takes `ns` before boundaries are rounded to ns, so that what has the
/// bandwidth of its accelerator alone never demands more.
pub(super) fn demand(traffic: Traffic, ns: f64) -> [f64; N_RESOURCES] {
    let bytes = [traffic.dram_bytes, traffic.noc_bytes];
    bytes.map(|bytes| if ns > 0.0 { bytes as f64 / ns } else { 0.0 })
}
