//! Operators that ride along with layers (docs/explanation/cost-model-loop-nest.md, section 6.10).
//!
//! Layers become steps. A step is a layer with products and the operators that ride along with it, or any other layer
//! by itself. Concatenations in place are part of no step: who reads one reads the tensors that it is made of.

use std::collections::HashMap;
use std::ops::Range;

use crate::hardware::{Fusion, WriteBack};
use crate::model::{Layer, Network, Operator, Source, VectorForm, VectorOp, View};

/// How a layer of a network runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// As a step, alone or with operators that ride along.
    Step,
    /// On the outputs of this layer, before they are written.
    Rides(u32),
    /// Not at all: every part is written to its place in the result.
    InPlace,
}

/// A tensor that a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    /// Place of the operand.
    pub place: Place,
    /// Layer that writes the tensor; `None`: it comes from outside of the network.
    pub tensor: Option<u32>,
}

/// Place of an operand in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A source of the layer, by its index.
    Source(u32),
    /// A source of an operator that rides along, which is not the output of the operator before it.
    Other {
        /// The operator.
        rider: u32,
        /// Index of the source.
        source: u32,
    },
}

/// The layers of a network as steps. Vectors are indexed by layer.
#[derive(Debug)]
pub(super) struct Steps {
    roles: Vec<Role>,
    groups: Vec<Group>,
    /// Ranges of `reads`, one for each step; empty for other layers.
    ranges: Vec<Range<usize>>,
    reads: Vec<Read>,
    /// Concatenations that are in place in part.
    copies: HashMap<u32, Copied>,
    /// Tensors of every concatenation that is in place as a whole or in part.
    parts: HashMap<u32, Vec<u32>>,
}

/// A concatenation of which a part is copied.
#[derive(Debug)]
struct Copied {
    /// Elements that are copied.
    elements: u64,
    /// Sources that are not.
    placed: Vec<usize>,
}

/// What rides along with a layer.
#[derive(Debug, Clone, Default)]
struct Group {
    /// Operators, in order.
    riders: Vec<u32>,
    /// Layers of the group whose outputs are written, the last one last; empty without operators.
    written: Vec<u32>,
}

/// Most tensors of a concatenation in place. It bounds the time of planning.
const MOST_PARTS: usize = 256;

impl Steps {
    /// The steps of a network on an accelerator with this path.
    pub(super) fn new(network: &Network, path: WriteBack) -> Self {
        let n_layers = network.layers().len();
        let mut steps = Self {
            roles: vec![Role::Step; n_layers],
            groups: vec![Group::default(); n_layers],
            ranges: Vec::with_capacity(n_layers),
            reads: Vec::with_capacity(n_layers),
            copies: HashMap::new(),
            parts: HashMap::new(),
        };
        if path.fusion >= Fusion::InPlace {
            steps.place_concatenations(network);
        }
        if path.fusion >= Fusion::Elementwise {
            steps.group(network, path.fused_reads as usize);
        }
        steps.list_reads(network);
        steps
    }

    /// How a layer runs.
    pub(super) fn role(&self, layer: usize) -> Role {
        self.roles[layer]
    }

    /// Operators that ride along with a layer, in order.
    pub(super) fn riders(&self, layer: usize) -> &[u32] {
        &self.groups[layer].riders
    }

    /// Layers with operators that ride along and these operators, as far as their outputs are written.
    pub(super) fn written(&self, layer: usize) -> &[u32] {
        &self.groups[layer].written
    }

    /// What the step of a layer reads; nothing if the layer is none.
    pub(super) fn reads(&self, layer: usize) -> &[Read] {
        &self.reads[self.ranges[layer].clone()]
    }

    /// The tensors of each operand of the step of a layer.
    pub(super) fn operands(&self, layer: usize) -> impl Iterator<Item = &[Read]> {
        self.reads(layer).chunk_by(|a, b| a.place == b.place)
    }

    /// Elements that a concatenation copies, if others are in place.
    pub(super) fn copied(&self, layer: usize) -> Option<u64> {
        self.copies.get(&(layer as u32)).map(|it| it.elements)
    }

    /// The step in which the output of a layer is written.
    pub(super) fn of(&self, layer: u32) -> u32 {
        match self.roles[layer as usize] {
            Role::Rides(with) => with,
            Role::Step | Role::InPlace => layer,
        }
    }

    /// Layer that writes the final output of the step of a layer.
    pub(super) fn last(&self, layer: usize) -> u32 {
        self.groups[layer].riders.last().copied().unwrap_or(layer as u32)
    }

    /// Tensors that are the output of a layer.
    fn tensors<'a>(&'a self, layer: &'a u32) -> &'a [u32] {
        match self.parts.get(layer) {
            Some(parts) => parts,
            None => std::slice::from_ref(layer),
        }
    }

    /// Finds the parts of concatenations that their writers can put into place. Each is in place in the first
    /// concatenation that reads it.
    fn place_concatenations(&mut self, network: &Network) {
        let layers = network.layers();
        let mut is_placed = vec![false; layers.len()];
        for (at, layer) in layers.iter().enumerate() {
            let Operator::Vector(shape) = layer.operator else { continue };
            // With one source it is a copy in another order.
            if shape.op != VectorOp::Concat || layer.sources.len() < 2 {
                continue;
            }
            let (mut parts, mut elements, mut placed) = (Vec::new(), 0u64, Vec::new());
            let mut writers = Vec::new();
            for (source, from) in layer.sources.iter().enumerate() {
                let Some(from) = writer(at, *from).filter(|_| is_whole(layer, source)) else {
                    continue;
                };
                if !is_placed[from] && !writers.contains(&from) {
                    elements = elements.saturating_add(layers[from].operator.outputs());
                    parts.extend_from_slice(self.tensors(&(from as u32)));
                    writers.push(from);
                    placed.push(source);
                }
            }
            if writers.is_empty() || elements > shape.outputs || parts.len() >= MOST_PARTS {
                continue;
            }
            writers.iter().for_each(|&from| is_placed[from] = true);
            match shape.outputs - elements {
                0 => self.roles[at] = Role::InPlace,
                elements => {
                    self.copies.insert(at as u32, Copied { elements, placed });
                    parts.push(at as u32);
                }
            }
            self.parts.insert(at as u32, parts);
        }
    }

    /// Forms groups, by layers in order.
    fn group(&mut self, network: &Network, fused_reads: usize) {
        let readers = readers(network);
        for layer in 0..network.layers().len() {
            if matches!(network.layers()[layer].operator, Operator::Vector(_)) {
                continue;
            }
            let riders = self.chain(network, &readers, layer, fused_reads);
            for &rider in &riders {
                self.roles[rider as usize] = Role::Rides(layer as u32);
                // A concatenation in the middle of a chain is not written.
                self.parts.remove(&rider);
            }
            let Some((&last, inner)) = riders.split_last() else { continue };
            let is_written = |it: &u32| readers[*it as usize].len() > 1;
            let inner = [layer as u32].into_iter().chain(inner.iter().copied());
            let written = inner.filter(is_written).chain([last]).collect();
            self.groups[layer] = Group { riders, written };
        }
    }

    /// The longest chain of operators that ride along with a layer.
    fn chain(
        &self,
        network: &Network,
        readers: &[Vec<u32>],
        layer: usize,
        fused_reads: usize,
    ) -> Vec<u32> {
        let (mut riders, mut n_others, mut before) = (Vec::new(), 0, layer);
        loop {
            // Concatenations count only if an operator after them rides along.
            let (mut middle, mut n_middle, mut from) = (Vec::new(), n_others, before);
            let found = loop {
                let next = |rides: &dyn Fn(&Layer) -> bool| {
                    let mut all = readers[from].iter().copied();
                    all.find(|&at| {
                        let operands = self.others(network, layer, from, at as usize, rides);
                        operands.is_some_and(|more| n_middle + more <= fused_reads)
                    })
                };
                if let Some(rider) = next(&rides) {
                    break Some(rider);
                }
                let Some(concat) = next(&is_concat)
                    .filter(|&it| [from, it as usize].iter().all(|&it| readers[it].len() == 1))
                else {
                    break None;
                };
                n_middle += network.layers()[concat as usize].sources.len() - 1;
                middle.push(concat);
                from = concat as usize;
            };
            let Some(rider) = found else { return riders };
            n_others = n_middle + network.layers()[rider as usize].sources.len() - 1;
            riders.extend(middle);
            riders.push(rider);
            before = rider as usize;
        }
    }

    /// Number of operands other than the output of `from` that the operator `at` reads; `None` if it cannot ride
    /// along with `layer`.
    fn others(
        &self,
        network: &Network,
        layer: usize,
        from: usize,
        at: usize,
        rides: &dyn Fn(&Layer) -> bool,
    ) -> Option<usize> {
        let reader = &network.layers()[at];
        let is_free = match self.roles[at] {
            Role::Step => !self.parts.contains_key(&(at as u32)),
            Role::InPlace => true,
            Role::Rides(_) => false,
        };
        if !is_free || !rides(reader) {
            return None;
        }
        let mut n_fused = 0;
        for (source, &of) in reader.sources.iter().enumerate() {
            let Some(written) = writer(at, of) else { continue };
            if written == from {
                n_fused += 1;
                if !is_whole(reader, source) {
                    return None;
                }
            } else if !self.tensors(&(written as u32)).iter().all(|&it| self.of(it) < layer as u32)
            {
                // It does not exist yet.
                return None;
            }
        }
        let outputs = network.layers()[from].operator.outputs();
        (n_fused == 1 && reader.operator.inputs() >= outputs).then(|| reader.sources.len() - 1)
    }

    /// Lists what the steps read.
    fn list_reads(&mut self, network: &Network) {
        let mut reads = Vec::with_capacity(network.layers().len());
        for (at, layer) in network.layers().iter().enumerate() {
            let first = reads.len();
            let mut add = |of: usize, source: usize, place: Place| match writer(
                of,
                network.layers()[of].sources[source],
            ) {
                None => reads.push(Read { place, tensor: None }),
                Some(from) => {
                    let from = from as u32;
                    let tensors = self.tensors(&from).iter();
                    reads.extend(tensors.map(|&it| Read { place, tensor: Some(it) }));
                }
            };
            if self.roles[at] == Role::Step {
                let copy = self.copies.get(&(at as u32));
                let is_read = |source: &usize| !copy.is_some_and(|it| it.placed.contains(source));
                for source in (0..layer.sources.len()).filter(is_read) {
                    add(at, source, Place::Source(source as u32));
                }
            }
            let mut before = at;
            for &rider in &self.groups[at].riders {
                for source in 0..network.layers()[rider as usize].sources.len() {
                    let from =
                        writer(rider as usize, network.layers()[rider as usize].sources[source]);
                    if from != Some(before) {
                        let place = Place::Other { rider, source: source as u32 };
                        add(rider as usize, source, place);
                    }
                }
                before = rider as usize;
            }
            self.ranges.push(first..reads.len());
        }
        self.reads = reads;
    }
}

/// How every layer of a network runs on an accelerator with this path.
pub fn roles(network: &Network, path: WriteBack) -> Vec<Role> {
    Steps::new(network, path).roles
}

/// Layers that read the output of each layer, in order; a layer that reads it twice stands there twice.
fn readers(network: &Network) -> Vec<Vec<u32>> {
    let mut readers = vec![Vec::new(); network.layers().len()];
    for (at, layer) in network.layers().iter().enumerate() {
        for &source in &layer.sources {
            if let Some(from) = writer(at, source) {
                readers[from].push(at as u32);
            }
        }
    }
    readers
}

/// Layer that a source of the layer `at` comes from.
fn writer(at: usize, source: Source) -> Option<usize> {
    match source {
        Source::Outside => None,
        Source::Back(back) => Some(at - back as usize),
    }
}

/// Whether a layer reads all of a source in its order.
fn is_whole(layer: &Layer, source: usize) -> bool {
    matches!(layer.view(source), View::Whole | View::Reshape)
}

/// Whether an operator may ride along: its outputs depend on single elements or on windows that do not overlap.
fn rides(layer: &Layer) -> bool {
    let Operator::Vector(shape) = layer.operator else { return false };
    match shape.op {
        VectorOp::Add | VectorOp::Mul | VectorOp::BatchNorm | VectorOp::GlobalPool => true,
        VectorOp::MaxPool | VectorOp::AveragePool => match layer.form {
            Some(VectorForm::Window(it)) => (it.r, it.s) == (it.stride_y, it.stride_x),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an operator concatenates.
fn is_concat(layer: &Layer) -> bool {
    matches!(layer.operator, Operator::Vector(shape) if shape.op == VectorOp::Concat)
}
