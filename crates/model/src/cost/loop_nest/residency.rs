//! Tensors that stay in shared memory between the layers of a network
//! (docs/explanation/cost-model-loop-nest.md, section 6.6).
//!
//! The output of a layer may stay in shared memory from the layer that writes it to the last layer
//! that reads it. It occupies memory during every layer in between, and each of these must retain
//! enough for its own smallest tiles. Outputs are placed greedily, the shortest lifetime first and
//! then the earliest, because they block the least. DRAM holds outputs that no layer reads, weights,
//! inputs of the network, and outputs with lifetimes of more than [`MAX_LIFETIME`] layers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::hardware::{Accelerator, WriteBack};
use crate::model::{Network, PerOperand};

use super::fusion::{Flow, Group, Groups};

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
    /// Whether the output of the layer stays.
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

/// Residency of the layers of a network, in execution order.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// Tensors in shared memory while a layer runs.
    pub layers: Vec<Residency>,
    /// Shared memory that is left beside these and the smallest tiles of the layer \[byte\].
    pub free: Vec<u64>,
}

/// Plans of a network on an accelerator whose layers need this shared memory: with groups and without, and with
/// concatenations in place as tensors of their own or as their parts.
pub(super) fn plans(
    network: &Network,
    accelerator: &Accelerator,
    needs: &[SharedMemoryNeed],
) -> Vec<(Arc<Groups>, Plan)> {
    let capacity = accelerator.memory.shared.get();
    let Outline { groups, without_riders, tensors } = &*outline(network, accelerator.write_back);
    let plans = tensors.iter().map(|tensors| plan(tensors, needs, capacity));
    let without: Vec<_> = plans.map(|plan| (Arc::clone(without_riders), plan)).collect();
    if !groups.rides_any() {
        return without;
    }
    let with = |(_, plan): &(Arc<Groups>, Plan)| {
        let (mut groups, mut plan) = (Arc::clone(groups), plan.clone());
        plan.settle(network, &mut groups, needs);
        (groups, plan)
    };
    let with: Vec<_> = without.iter().map(with).collect();
    with.into_iter().chain(without).collect()
}

/// What plans of a network have in common, whatever shared memory its layers need.
struct Outline {
    groups: Arc<Groups>,
    without_riders: Arc<Groups>,
    /// Tensors with concatenations in place as tensors of their own, and as their parts.
    tensors: Vec<Tensors>,
}

/// Most outlines that a thread keeps.
const MOST_OUTLINES: usize = 32;

thread_local! {
    /// Outlines that the thread asked for last, of networks whose operators ride along as an accelerator has it.
    static OUTLINES: RefCell<VecDeque<(Network, WriteBack, Arc<Outline>)>> = RefCell::default();
}

/// The outline of a network on accelerators with this path.
fn outline(network: &Network, path: WriteBack) -> Arc<Outline> {
    OUTLINES.with_borrow_mut(|known| {
        let is_it =
            |(other, of, _): &&(Network, WriteBack, _)| other.shares_layers(network) && *of == path;
        if let Some((.., outline)) = known.iter().find(is_it) {
            return Arc::clone(outline);
        }
        let groups = Groups::new(network, path);
        let flows = [Some(Flow::of_layers(network)), Flow::of_parts(network, &groups)];
        let tensors = flows.into_iter().flatten().map(Tensors::new).collect();
        let without_riders = Arc::new(groups.without_riders());
        let outline = Arc::new(Outline { groups: Arc::new(groups), without_riders, tensors });
        known.truncate(MOST_OUTLINES - 1);
        known.push_front((network.clone(), path, Arc::clone(&outline)));
        outline
    })
}

/// The tensors of a network with their readers.
struct Tensors {
    flow: Flow,
    readers: Readers,
    /// Writer and last reader of every output that is read, the shortest lifetime first.
    lifetimes: Vec<(usize, usize)>,
}

impl Tensors {
    fn new(flow: Flow) -> Self {
        let readers = Readers::new(&flow);
        let lifetimes = readers.lifetimes();
        Self { flow, readers, lifetimes }
    }
}

/// Residency of every layer of a network under a shared memory of `capacity` bytes. `needs` is in
/// execution order.
fn plan(tensors: &Tensors, needs: &[SharedMemoryNeed], capacity: u64) -> Plan {
    let Tensors { flow, readers, lifetimes } = tensors;
    let n_layers = needs.len();
    let mut layers = vec![Residency::default(); n_layers];
    let mut free: Vec<u64> = needs.iter().map(|need| capacity.saturating_sub(need.least)).collect();
    let mut kept = Vec::with_capacity(lifetimes.len());
    for &(writer, last) in lifetimes {
        let (stored, lives) = (needs[writer].stored, writer..=last);
        // Where it is not read it occupies what it is, and nowhere less.
        let computed = needs[writer].computed.saturating_sub(stored);
        let more = |it: &Reader| it.operand_bytes(needs).saturating_sub(stored);
        let fits = free[lives.clone()].iter().all(|&bytes| stored <= bytes)
            && computed <= free[writer] - stored
            && readers.of(writer).iter().all(|it| more(it) <= free[it.layer] - stored);
        if fits {
            layers[writer].output = true;
            free[lives].iter_mut().for_each(|bytes| *bytes -= stored);
            free[writer] -= computed;
            readers.of(writer).iter().for_each(|it| free[it.layer] -= more(it));
            kept.push((writer, last));
        }
    }
    for (&concatenation, parts) in &flow.parts {
        layers[concatenation].output = parts.iter().all(|&it| layers[it].output);
    }
    for layer in 0..n_layers {
        layers[layer].sources = match flow.parts.contains_key(&layer) {
            true if layers[layer].output => u32::MAX,
            _ => resident_sources(flow, layer, &layers),
        };
    }
    // First how much more is reserved than at the layer before, modulo 2^64.
    let change = |layers: &mut [Residency], first: usize, end: usize, bytes: u64| {
        layers[first].reserved = layers[first].reserved.wrapping_add(bytes);
        if let Some(after) = layers.get_mut(end) {
            after.reserved = after.reserved.wrapping_sub(bytes);
        }
    };
    for (writer, last) in kept {
        let stored = needs[writer].stored;
        change(&mut layers, writer + 1, last + 1, stored);
        for &Reader { layer, .. } in readers.of(writer) {
            if is_operand(flow, layer, writer, layers[layer].sources) {
                change(&mut layers, layer, layer + 1, stored.wrapping_neg());
            }
        }
    }
    let mut reserved = 0u64;
    for layer in &mut layers {
        reserved = reserved.wrapping_add(layer.reserved);
        layer.reserved = reserved;
    }
    Plan { layers, free }
}

/// Sources of a layer all of whose tensors are resident, as bits of [`Residency::sources`].
fn resident_sources(flow: &Flow, layer: usize, layers: &[Residency]) -> u32 {
    let (mut read, mut missing) = (0u32, 0u32);
    for it in flow.sources(layer) {
        read |= 1 << it.source;
        if !it.writer.is_some_and(|writer| layers[writer].output) {
            missing |= 1 << it.source;
        }
    }
    read & !missing
}

/// Whether the cost of a layer knows that a resident tensor is there: it is a source by itself, or one of the tensors of
/// a source that all are.
fn is_operand(flow: &Flow, layer: usize, writer: usize, resident: u32) -> bool {
    let mut sources = flow.sources(layer).filter(|it| it.writer == Some(writer));
    sources.any(|it| resident >> it.source & 1 == 1 || !it.is_part)
}

impl Plan {
    /// Lets layers with operators that ride along write the outputs of these, as far as they have room for what stays
    /// (section 6.10). Other groups are dissolved.
    fn settle(&mut self, network: &Network, groups: &mut Arc<Groups>, needs: &[SharedMemoryNeed]) {
        for layer in 0..needs.len() {
            if groups.of(layer).riders.is_empty() {
                continue;
            }
            if !groups.is_in_order(network, layer)
                || !self.make_room(groups.of(layer), layer, needs)
            {
                Arc::make_mut(groups).dissolve(layer);
            }
        }
    }

    /// Keeps what a group writes and what stays from the step of its layer on; `false`, and no change, if there is
    /// no room for it.
    fn make_room(&mut self, group: &Group, layer: usize, needs: &[SharedMemoryNeed]) -> bool {
        let Some((&last, inner)) = group.riders.split_last() else { return true };
        let inner = || [layer as u32].into_iter().chain(inner.iter().copied());
        let stays = |it: u32| self.layers[it as usize].output;
        // The last output takes the place of those before it.
        let is_covered = inner().all(|it| {
            let is_written = group.written.contains(&it);
            stays(it) && !is_written && needs[it as usize].stored >= needs[last as usize].stored
        });
        let early = group
            .written
            .iter()
            .filter(|&&it| stays(it) && it != layer as u32 && !(is_covered && it == last));
        let early: Vec<_> = early.map(|&it| (it as usize, needs[it as usize].stored)).collect();
        let wanted = |step: usize| {
            early.iter().filter(|(it, _)| step < *it).map(|(_, stored)| stored).sum::<u64>()
        };
        if (layer..last as usize).any(|step| wanted(step) > self.free[step]) {
            return false;
        }
        let keeps_own = stays(last) && is_covered || group.written.contains(&(layer as u32));
        self.layers[layer].output &= keeps_own;
        for step in layer..last as usize {
            self.layers[step].reserved += wanted(step);
            self.free[step] -= wanted(step);
        }
        true
    }
}

/// A layer that reads the output of another one.
#[derive(Debug, Clone, Copy, Default)]
struct Reader {
    layer: usize,
    /// Whether it reads the output as its first operand, and as a later one.
    operands: [bool; 2],
}

impl Reader {
    /// How `layer` reads the output of `writer`, if it does.
    fn new(flow: &Flow, layer: usize, writer: usize) -> Self {
        let mut operands = [false; 2];
        // Of the tensors of one source, each occupies what it is.
        for it in flow.sources(layer).filter(|it| it.writer == Some(writer) && !it.is_part) {
            operands[usize::from(it.source > 0)] = true;
        }
        Self { layer, operands }
    }

    /// Shared memory that the operands occupy while the layer runs \[byte\].
    fn operand_bytes(&self, needs: &[SharedMemoryNeed]) -> u64 {
        let PerOperand { input, weight } = needs[self.layer].operands;
        let [first, later] = self.operands;
        (if first { input } else { 0 }) + if later { weight } else { 0 }
    }
}

/// Layers that read the output of every layer, each once, in one list.
struct Readers {
    layers: Vec<Reader>,
    /// Place of the first reader of every output, and the end of the last one.
    starts: Vec<usize>,
}

impl Readers {
    fn new(flow: &Flow) -> Self {
        let n_layers = flow.n_layers();
        let each = |visit: &mut dyn FnMut(usize, usize)| {
            let mut last = vec![0; n_layers];
            for reader in 0..n_layers {
                for writer in flow.reads(reader).iter().filter_map(|it| it.writer) {
                    // Readers come after the layer that they read, so that none is 0.
                    if last[writer] != reader {
                        last[writer] = reader;
                        visit(writer, reader);
                    }
                }
            }
        };
        let mut starts = vec![0; n_layers + 1];
        each(&mut |writer, _| starts[writer + 1] += 1);
        for at in 0..n_layers {
            starts[at + 1] += starts[at];
        }
        let (mut layers, mut next) = (vec![Reader::default(); starts[n_layers]], starts.clone());
        each(&mut |writer, reader| {
            layers[next[writer]] = Reader::new(flow, reader, writer);
            next[writer] += 1;
        });
        Self { layers, starts }
    }

    /// Layers that read the output of a layer.
    fn of(&self, writer: usize) -> &[Reader] {
        &self.layers[self.starts[writer]..self.starts[writer + 1]]
    }

    /// Writer and last reader of every output that is read, the shortest lifetime first.
    fn lifetimes(&self) -> Vec<(usize, usize)> {
        let all = (0..self.starts.len() - 1).filter_map(|at| Some((at, self.of(at).last()?.layer)));
        let mut lifetimes: Vec<_> =
            all.filter(|(writer, last)| last - writer <= MAX_LIFETIME).collect();
        lifetimes.sort_unstable_by_key(|&(writer, last)| (last - writer, writer));
        lifetimes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Layer, Operator, Source, VectorOp, VectorShape};
    use rand::{Rng, RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    /// The rule of the module as it is written there, layer by layer.
    fn plan_by_layer(flow: &Flow, needs: &[SharedMemoryNeed], capacity: u64) -> Plan {
        let n_layers = needs.len();
        let last_reader = |writer: usize| {
            (0..n_layers)
                .rev()
                .find(|&it| flow.reads(it).iter().any(|it| it.writer == Some(writer)))
        };
        let all = (0..n_layers).filter_map(|writer| Some((writer, last_reader(writer)?)));
        let mut all: Vec<_> = all.filter(|(writer, last)| last - writer <= MAX_LIFETIME).collect();
        all.sort_by_key(|(writer, last)| last - writer);
        let mut layers = vec![Residency::default(); n_layers];
        let mut free: Vec<_> = needs.iter().map(|it| capacity.saturating_sub(it.least)).collect();
        let occupied = |writer: usize, layer| {
            let bytes = match layer == writer {
                true => needs[writer].computed,
                false => Reader::new(flow, layer, writer).operand_bytes(needs),
            };
            bytes.max(needs[writer].stored)
        };
        all.retain(|&(writer, last)| {
            let fits = (writer..=last).all(|layer| occupied(writer, layer) <= free[layer]);
            for layer in (writer..=last).filter(|_| fits) {
                layers[writer].output = true;
                free[layer] -= occupied(writer, layer);
            }
            fits
        });
        for layer in 0..n_layers {
            layers[layer].sources = resident_sources(flow, layer, &layers);
        }
        for (writer, last) in all {
            for (layer, it) in layers.iter_mut().enumerate().take(last + 1).skip(writer + 1) {
                if !is_operand(flow, layer, writer, it.sources) {
                    it.reserved += needs[writer].stored;
                }
            }
        }
        Plan { layers, free }
    }

    /// A network in which layers read some of those before them, some twice.
    fn network(random: &mut impl Rng) -> Network {
        let layer = |at: u32, random: &mut dyn Rng| Layer {
            sources: (0..random.random_range(1..4))
                .map(|_| match at {
                    0 => Source::Outside,
                    _ => Source::Back(random.random_range(1..=at.min(9))),
                })
                .collect(),
            ..Layer::new("layer", Operator::Vector(VectorShape::new(VectorOp::Add, 5, 5, 1)))
        };
        let layers = (0..random.random_range(1..40)).map(|at| layer(at, &mut *random)).collect();
        Network::new("network", layers).expect("it is legal")
    }

    #[test]
    fn a_plan_is_that_of_every_layer_looked_at_by_itself() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut n_resident = 0;
        for _ in 0..500 {
            let network = network(&mut random);
            let tensors = Tensors::new(Flow::of_layers(&network));
            let need = |random: &mut ChaCha8Rng| SharedMemoryNeed {
                least: random.random_range(0..20),
                operands: PerOperand { input: random.random_range(0..9), weight: 4 },
                computed: random.random_range(0..12),
                stored: random.random_range(0..9),
            };
            let needs: Vec<_> = network.layers().iter().map(|_| need(&mut random)).collect();
            let capacity = random.random_range(0..60);
            let (own, plain) =
                (plan(&tensors, &needs, capacity), plan_by_layer(&tensors.flow, &needs, capacity));
            assert_eq!((&own.layers, &own.free), (&plain.layers, &plain.free), "{network:?}");
            n_resident += own.layers.iter().filter(|it| it.output).count();
        }
        assert!(n_resident > 1000, "{n_resident}");
    }
}
