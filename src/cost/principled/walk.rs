//! The closed form of the walk (5.9): every distinct context of every level once, how often it
//! occurs, what it moves, and how long it takes.
//!
//! Contexts are expanded level by level from the outermost. All occurrences of a context are known
//! before it is expanded, so that counts are sums of products; times are then folded back from the
//! innermost level.

use std::ops::Range;

use super::context::{Context, Phase};
use super::egress::{Egress, egress};
use super::ingress::{self, Movement};
use crate::hardware::Widths;

use super::machine::{Machine, Network};
use super::mapping::{Level, Mapping};
use super::nest::{Nest, macs, outputs};
use super::transition::{Transition, each_child, each_transition};
use super::{LevelCounts, Walk};

/// A distinct context of a level.
struct Node {
    context: Context,
    visits: u64,
    steps: Range<usize>,
}

/// A class of steps of a node and what bounds its time \[cycle\].
struct Step {
    phase: Phase,
    times: u64,
    /// Weight load that nothing hides: d_x of 4.9.
    exposed: u64,
    /// Inputs and weights on the network: d_in.
    fill: u64,
    /// Partial sums on the network.
    drain: u64,
    /// Work of the slowest PE, if units are PEs.
    work: u64,
    /// Nodes of the level below that the units are at.
    children: Range<usize>,
}

/// Time of a context, and the same with networks that take none \[cycle\].
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    chip: u64,
    compute: u64,
}

/// All that was found so far.
struct Census<'a> {
    nest: &'a Nest,
    machine: &'a Machine,
    nodes: Vec<Node>,
    steps: Vec<Step>,
    children: Vec<usize>,
    walk: Walk,
}

/// Walks the layer and flushes at its end (4.1 to 4.9).
pub(super) fn walk(nest: &Nest, mapping: &Mapping, machine: &Machine) -> Walk {
    let mut census = Census {
        nest,
        machine,
        nodes: Vec::with_capacity(32),
        steps: Vec::with_capacity(64),
        children: Vec::with_capacity(64),
        walk: Walk::default(),
    };
    let extents = nest.extents();
    census.add(0, Context::cold(extents), 1);
    census.add(0, Context::flush(extents), 1);
    let mut start = 0;
    for (index, level) in mapping.levels().iter().enumerate() {
        let of_level = start..census.nodes.len();
        let is_last = index + 1 == mapping.levels().len();
        start = of_level.end;
        for node in of_level {
            census.expand(node, start, index, level, is_last);
        }
    }
    let times = census.times();
    census.walk.chip_cycles = times[0].chip + times[1].chip;
    census.walk.compute_cycles = times[0].compute + times[1].compute;
    census.walk
}

impl Census<'_> {
    /// Counts `visits` of a context among the nodes from `start` on, which are those of its level.
    fn add(&mut self, start: usize, context: Context, visits: u64) -> usize {
        let known = self.nodes[start..].iter().position(|node| node.context == context);
        let index = known.map_or(self.nodes.len(), |at| start + at);
        match self.nodes.get_mut(index) {
            Some(node) => node.visits += visits,
            None => self.nodes.push(Node { context, visits, steps: 0..0 }),
        }
        index
    }

    /// Finds the steps of a node; the nodes of the level below start at `below`.
    fn expand(&mut self, node: usize, below: usize, index: usize, level: &Level, is_last: bool) {
        let Node { context, visits, .. } = self.nodes[node];
        let first = self.steps.len();
        each_transition(level, &context, |transition| {
            let visits = visits * transition.times;
            let mut step = self.count(transition, visits, index, level);
            if is_last {
                step.work = self.work(transition, visits, level);
            } else {
                let first = self.children.len();
                each_child(level, transition, |units, context| {
                    let child = self.add(below, context, visits * units);
                    self.children.push(child);
                });
                step.children = first..self.children.len();
            }
            self.steps.push(step);
        });
        self.nodes[node].steps = first..self.steps.len();
    }

    /// Adds what `visits` steps of a class move, and finds how long that takes.
    fn count(&mut self, step: &Transition, visits: u64, index: usize, level: &Level) -> Step {
        let network = self.machine.network(index);
        let works = step.phase != Phase::Flush;
        let [inputs, weights] = if works {
            let inputs = ingress::inputs(self.nest, level, network, step);
            [inputs, ingress::weights(level, network, step)]
        } else {
            [Movement::default(); 2]
        };
        let sums = egress(level, step, network.reduce);
        let counts = &mut self.walk.levels[index];
        for (tensor, moved) in [inputs, weights].iter().enumerate() {
            counts.sent[tensor] += visits * moved.sent;
            counts.delivered[tensor] += visits * moved.delivered;
            counts.forwarded[tensor] += visits * moved.forwarded;
        }
        counts.left += visits * sums.left;
        counts.arrived += visits * sums.arrived;
        counts.steps += if works { visits } else { 0 };
        counts.active += visits * u64::from(step.units);
        self.walk.transitions += 1;
        delays(network, &self.machine.widths, step, [inputs.sent, weights.sent], sums)
    }

    /// Counts the work of PEs; gives the time of the slowest one (4.7).
    fn work(&mut self, step: &Transition, visits: u64, level: &Level) -> u64 {
        if step.units == 0 {
            return 0;
        }
        let mut extents = step.spans.map(|span| span.now);
        let mut of_last = [macs(&extents), outputs(&extents)];
        let mut of_others = of_last;
        if let Some(map) = level.spatial().filter(|_| step.units > 1) {
            extents[map.axis as usize] = map.size;
            of_others = [macs(&extents), outputs(&extents)];
        }
        for (last, other) in of_last.iter_mut().zip(of_others) {
            *last += u64::from(step.units - 1) * other;
        }
        self.walk.macs_executed += visits * of_last[0];
        self.walk.pe_outputs += visits * of_last[1];
        of_others[0].div_ceil(u64::from(self.machine.rate.max(1)))
    }

    /// Time of every node; units of a step come before their cluster.
    fn times(&self) -> Vec<Time> {
        let mut times = vec![Time::default(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let mut sum = Time::default();
            for step in &self.steps[node.steps.clone()] {
                let Time { chip, compute } = self.time(step, &times);
                sum.chip += step.times * chip;
                sum.compute += step.times * compute;
            }
            times[index] = sum;
        }
        times
    }

    /// Time of one step of a class (4.3).
    fn time(&self, step: &Step, times: &[Time]) -> Time {
        let mut work = Time { chip: step.work, compute: step.work };
        for &child in &self.children[step.children.clone()] {
            work.chip = work.chip.max(times[child].chip);
            work.compute = work.compute.max(times[child].compute);
        }
        let chip = match step.phase {
            Phase::Cold => step.exposed + step.fill + work.chip,
            Phase::Warm => step.exposed + step.fill.max(step.drain).max(work.chip),
            Phase::Flush => work.chip + step.drain,
        };
        Time { chip, compute: work.compute }
    }
}

/// Times of the networks in a step that sends so many inputs and weights (4.8, 4.9).
fn delays(
    network: &Network,
    widths: &Widths,
    step: &Transition,
    [inputs, weights]: [u64; 2],
    sums: Egress,
) -> Step {
    let exposes_latency = step.phase != Phase::Warm || network.step_latency;
    let latency = if exposes_latency { u64::from(network.latency) } else { 0 };
    let delay = |bytes: u64, bandwidth: super::Bandwidth| match bytes {
        0 => 0,
        bytes => latency + bandwidth.cycles(bytes),
    };
    let inputs = inputs * u64::from(widths.input);
    let weights = weights * u64::from(widths.weight);
    let own = network.weights.unwrap_or(network.down);
    let fill = match (network.single_weights, network.weights) {
        (true, _) => delay(inputs, network.down),
        (false, Some(own)) => delay(inputs, network.down).max(delay(weights, own)),
        (false, None) => delay(inputs + weights, network.down),
    };
    let exposed = match weights {
        weights if network.single_weights && weights > 0 => {
            u64::from(network.latency) + own.cycles(weights)
        }
        _ => 0,
    };
    let drain = delay(sums.arrived * u64::from(widths.partial_sum), network.up);
    Step { phase: step.phase, times: step.times, exposed, fill, drain, work: 0, children: 0..0 }
}

impl Walk {
    /// Accumulate reads and buffer requirements follow from the rest (4.10, 5.8).
    pub(super) fn derive(&mut self, nest: &Nest, mapping: &Mapping, machine: &Machine) {
        let mut above = outputs(nest.extents());
        let mut extents = *nest.extents();
        let Widths { input, weight, partial_sum, .. } = machine.widths;
        for (counts, level) in self.levels.iter_mut().zip(mapping.levels()) {
            counts.accumulated = counts.arrived.saturating_sub(above);
            above = counts.left;
            extents = level.unit_extents(&extents);
            let footprints = nest.footprints(&extents);
            counts.unit_bytes = 2 * bytes(footprints, [input, weight, partial_sum]);
        }
        self.pe_accumulations = self.pe_outputs.saturating_sub(above);
    }
}

/// Bytes of so many elements of so many bytes each.
fn bytes(elements: [u64; 3], widths: [u32; 3]) -> u64 {
    elements.iter().zip(widths).map(|(elements, width)| elements * u64::from(width)).sum()
}

impl LevelCounts {
    /// Nothing yet.
    pub(super) const NONE: Self = Self {
        sent: [0; 2],
        delivered: [0; 2],
        forwarded: [0; 2],
        arrived: 0,
        left: 0,
        accumulated: 0,
        steps: 0,
        active: 0,
        unit_bytes: 0,
    };
}

/// Whether 64 bits hold every count and time of a mapping: no step of a unit moves more than its
/// MACs times the width of an element and the hull of a window, or waits longer than that and the
/// latencies.
pub(super) fn is_countable(nest: &Nest, mapping: &Mapping, machine: &Machine) -> bool {
    let hulls = nest.compact().iter().map(|steps| u128::from(steps.stride.max(steps.dilation)));
    let Widths { input, weight, partial_sum, output } = machine.widths;
    let factors = [input, weight, partial_sum, output].into_iter().chain(machine.l2_copies);
    let largest = factors.fold(1, u32::max);
    let latencies = machine.networks.iter().map(|network| u128::from(network.latency));
    let latency = latencies.sum::<u128>() + u128::from(machine.dram_latency) + 1;
    let widest = u128::from(largest) * u128::from(largest);
    let moved = hulls.product::<u128>().saturating_mul(widest).saturating_mul(16);
    let per_mac = moved.saturating_add(latency * Mapping::MAX_LEVELS as u128);
    per_mac.saturating_mul(u128::from(mapping.macs())) < 1 << 63
}
