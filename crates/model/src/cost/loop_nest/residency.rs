//! Tensors that stay in shared memory between the layers of a network
//! (docs/explanation/cost-model-loop-nest.md, section 6.6).
//!
//! The output of a layer may stay in shared memory from the layer that writes it to the last layer
//! that reads it. It occupies memory during every layer in between, and each of these must retain
//! enough for its own smallest tiles. Layers that ride along run with the layer that they follow (section 6.10), whose step
//! then writes their outputs. Outputs are placed greedily, the shortest lifetime first and
//! then the earliest, because they block the least. DRAM holds outputs that no layer reads, weights,
//! inputs of the network, and outputs with lifetimes of more than [`MAX_LIFETIME`] layers.

use super::fusion::{Place, Role, Steps};
use crate::model::{Network, PerOperand};

/// Longest lifetime of a resident output \[layer\]; it bounds the time of planning.
const MAX_LIFETIME: usize = 1024;

/// Shared memory that a layer needs \[byte\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SharedMemoryNeed {
    /// Smallest tiles of all tensors.
    pub least: u64,
    /// Whole operands. The second one counts only where another layer computes it.
    pub operands: PerOperand<u64>,
    /// Whole output as partial sums, while the layer runs.
    pub computed: u64,
    /// Whole output at its final width, after the layer.
    pub stored: u64,
}

/// Tensors in shared memory while a layer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Residency {
    /// Bit i is set if source i of the layer is resident. Sources after the 32nd never are.
    pub sources: u32,
    /// Whether the last output of the step of the layer stays.
    pub output: bool,
    /// Tensors of other layers \[byte\].
    pub reserved: u64,
}

impl Residency {
    /// Whether source number `index`, from 0, is resident.
    pub(super) fn source(&self, index: usize) -> bool {
        index < 32 && self.sources >> index & 1 == 1
    }
}

/// Residency of all tensors and layers of a network.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Residency of every layer, which is that of its step.
    pub layers: Vec<Residency>,
    /// Whether the output of every layer stays.
    pub stays: Vec<bool>,
}

/// Plans residency under a shared memory of `capacity` bytes. `needs` is indexed by layer.
pub(super) fn plan(
    network: &Network,
    steps: &Steps,
    needs: &[SharedMemoryNeed],
    capacity: u64,
) -> Plan {
    let n_layers = network.layers().len();
    let mut plan =
        Plan { layers: vec![Residency::default(); n_layers], stays: vec![false; n_layers] };
    let mut free: Vec<u64> = needs.iter().map(|need| capacity.saturating_sub(need.least)).collect();
    let lifetimes = lifetimes(n_layers, steps);
    for &Lifetime { tensor, first, last } in &lifetimes {
        let occupied = |step: usize| occupied_bytes(steps, needs, tensor, step);
        if !(first..=last).all(|step| occupied(step) <= free[step]) {
            continue;
        }
        plan.stays[tensor] = true;
        (first..=last).for_each(|step| free[step] -= occupied(step));
    }
    for (at, residency) in plan.layers.iter_mut().enumerate() {
        residency.output = plan.stays[steps.last(at) as usize];
        residency.sources = resident_sources(steps, at, &plan.stays);
    }
    for &Lifetime { tensor, first, last } in lifetimes.iter().filter(|it| plan.stays[it.tensor]) {
        for step in first..=last {
            let is_of_layer = match step == first {
                true => steps.last(step) as usize == tensor,
                false => is_operand(steps, step, tensor, &plan.layers[step]),
            };
            if !is_of_layer && steps.role(step) == Role::Step {
                plan.layers[step].reserved += needs[tensor].stored;
            }
        }
    }
    plan
}

/// What the layer of a step reads as one of its first 32 sources: the index of the source and the tensor.
fn operands(steps: &Steps, step: usize) -> impl Iterator<Item = (u32, Option<u32>)> {
    steps.reads(step).iter().map_while(|read| match read.place {
        Place::Source(source @ ..32) => Some((source, read.tensor)),
        _ => None,
    })
}

/// Number of tensors that source number `source` of the layer of a step is made of.
fn n_tensors(steps: &Steps, step: usize, source: u32) -> usize {
    operands(steps, step).filter(|it| it.0 == source).count()
}

/// Sources of the layer of a step all of whose tensors stay, as bits of [`Residency::sources`].
fn resident_sources(steps: &Steps, step: usize, stays: &[bool]) -> u32 {
    let (mut all, mut missing) = (0u32, 0u32);
    for (source, tensor) in operands(steps, step) {
        all |= 1 << source;
        if !tensor.is_some_and(|it| stays[it as usize]) {
            missing |= 1 << source;
        }
    }
    all & !missing
}

/// Whether the cost of the layer of a step knows that a resident tensor is there: it is a source by itself, or one of
/// the tensors of a source that all stay.
fn is_operand(steps: &Steps, step: usize, tensor: usize, residency: &Residency) -> bool {
    let mut sources = operands(steps, step).filter(|it| it.1 == Some(tensor as u32));
    sources
        .any(|(source, _)| residency.source(source as usize) || n_tensors(steps, step, source) == 1)
}

/// Steps from the one that writes a tensor to the last one that reads it.
#[derive(Debug, Clone, Copy)]
struct Lifetime {
    tensor: usize,
    first: usize,
    last: usize,
}

/// Lifetimes of all tensors that are read, the shortest first.
fn lifetimes(n_layers: usize, steps: &Steps) -> Vec<Lifetime> {
    let mut last = vec![0; n_layers];
    for step in 0..n_layers {
        for tensor in steps.reads(step).iter().filter_map(|read| read.tensor) {
            last[tensor as usize] = step.max(last[tensor as usize]);
        }
    }
    let lifetime = |(tensor, last): (usize, usize)| Lifetime {
        tensor,
        first: steps.of(tensor as u32) as usize,
        last,
    };
    let all = last.into_iter().enumerate().map(lifetime);
    let mut lifetimes: Vec<_> =
        all.filter(|it| (1..=MAX_LIFETIME).contains(&it.last.saturating_sub(it.first))).collect();
    lifetimes.sort_by_key(|it| (it.last - it.first, it.first, it.tensor));
    lifetimes
}

/// Shared memory that a tensor occupies during a step \[byte\].
fn occupied_bytes(steps: &Steps, needs: &[SharedMemoryNeed], tensor: usize, step: usize) -> u64 {
    let stored = needs[tensor].stored;
    if steps.of(tensor as u32) as usize == step {
        let is_last = steps.last(step) as usize == tensor;
        return if is_last { needs[step].computed.max(stored) } else { stored };
    }
    let (mut has_first, mut has_others, mut is_part) = (false, false, false);
    for (source, _) in operands(steps, step).filter(|it| it.1 == Some(tensor as u32)) {
        has_first |= source == 0;
        has_others |= source > 0;
        is_part |= n_tensors(steps, step, source) > 1;
    }
    let whole = needs[step].operands;
    let as_input = match (has_first, has_others) {
        // A part of an operand, whose other parts are tensors of their own.
        _ if is_part => 0,
        (false, false) => 0,
        (true, false) => whole.input,
        (false, true) => whole.weight,
        (true, true) => whole.sum(),
    };
    as_input.max(stored)
}
