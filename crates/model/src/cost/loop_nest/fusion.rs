//! Operators that ride along with layers (docs/explanation/cost-model-loop-nest.md, section 6.10): which ones, whatever
//! stays in shared memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::hardware::{Fusion, WriteBack};
use crate::model::{Layer, Network, Operator, VectorForm, VectorOp, View};

/// How a layer of a network runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// As a step of its own, alone or with operators that ride along.
    Step,
    /// On the outputs of this layer, before they are written.
    Rides(u32),
    /// As a concatenation whose parts are written to their places in the result. It costs what it copies all the same.
    InPlace,
}

/// What rides along with a layer.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    /// Operators, in order.
    pub riders: Vec<u32>,
    /// Layers of the group whose outputs are written, the last one last; empty without operators.
    pub written: Vec<u32>,
}

/// Nothing rides along.
static NONE: Group = Group { riders: Vec::new(), written: Vec::new() };

/// Groups of a network. Vectors are indexed by layer.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    roles: Vec<Role>,
    /// `None` without operators that ride along.
    groups: Vec<Option<Arc<Group>>>,
    /// Concatenation in which the output of a layer has its place.
    place: Vec<Option<u32>>,
    /// Sources of concatenations in place that have their place there.
    placed: FxHashMap<u32, Vec<usize>>,
}

impl Groups {
    /// The groups of a network on an accelerator with this path.
    pub(super) fn new(network: &Network, path: WriteBack) -> Self {
        let n_layers = network.layers().len();
        let mut groups = Self {
            roles: vec![Role::Step; n_layers],
            groups: vec![None; n_layers],
            place: vec![None; n_layers],
            placed: FxHashMap::default(),
        };
        if path.fusion >= Fusion::InPlace {
            groups.place_concatenations(network);
        }
        if path.fusion >= Fusion::Elementwise {
            groups.form(network, path.fused_reads as usize);
        }
        groups
    }

    /// Whether some operator rides along.
    pub(super) fn rides_any(&self) -> bool {
        self.groups.iter().any(Option::is_some)
    }

    /// The same without operators that ride along.
    pub(super) fn without_riders(&self) -> Self {
        let mut groups = self.clone();
        (0..self.groups.len()).for_each(|layer| groups.dissolve(layer));
        groups
    }

    /// How every layer runs.
    pub(super) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// How a layer runs.
    pub(super) fn role(&self, layer: usize) -> Role {
        self.roles[layer]
    }

    /// What rides along with a layer.
    pub(super) fn of(&self, layer: usize) -> &Group {
        self.groups[layer].as_deref().unwrap_or(&NONE)
    }

    /// Whether a layer is a step without operators that ride along, and has nothing to do with concatenations in place.
    pub(super) fn is_alone(&self, layer: usize) -> bool {
        let is_step = self.roles[layer] == Role::Step && self.groups[layer].is_none();
        is_step && self.place(layer).is_none()
    }

    /// Concatenation in which the output of a layer has its place.
    pub(super) fn place(&self, layer: usize) -> Option<usize> {
        let place = self.place[layer].map(|it| it as usize);
        place.filter(|&it| self.roles[it] == Role::InPlace)
    }

    /// Whether a source of a concatenation has its place there.
    pub(super) fn is_placed(&self, concatenation: usize, source: usize) -> bool {
        self.placed.get(&(concatenation as u32)).is_some_and(|it| it.contains(&source))
    }

    /// Lets the operators that ride along with a layer run as steps of their own.
    pub(super) fn dissolve(&mut self, layer: usize) {
        let group = self.groups[layer].take();
        for &rider in group.iter().flat_map(|it| &it.riders) {
            let is_in_place = self.placed.contains_key(&rider);
            self.roles[rider as usize] = if is_in_place { Role::InPlace } else { Role::Step };
        }
    }

    /// Finds the parts of concatenations that their writers can put into place. Each is in place in the first
    /// concatenation that reads it.
    fn place_concatenations(&mut self, network: &Network) {
        for (at, layer) in network.layers().iter().enumerate() {
            // With one source it is a copy in another order.
            if !is_concat(layer) || layer.sources.len() < 2 {
                continue;
            }
            let (mut elements, mut placed) = (0u64, Vec::new());
            for (source, &of) in layer.sources.iter().enumerate() {
                let Some(from) = of.writer(at).filter(|_| is_whole(layer, source)) else {
                    continue;
                };
                if self.place[from].is_none() {
                    let outputs = network.layers()[from].operator.outputs();
                    elements = elements.saturating_add(outputs);
                    self.place[from] = Some(at as u32);
                    placed.push(source);
                }
            }
            if elements > layer.operator.outputs() {
                // The sources are more than the result: it is no plain concatenation.
                for &source in &placed {
                    layer.sources[source]
                        .writer(at)
                        .into_iter()
                        .for_each(|it| self.place[it] = None);
                }
            } else if !placed.is_empty() {
                self.roles[at] = Role::InPlace;
                self.placed.insert(at as u32, placed);
            }
        }
    }

    /// Forms groups, by layers in order.
    fn form(&mut self, network: &Network, fused_reads: usize) {
        let readers = network.readers();
        for layer in 0..network.layers().len() {
            if matches!(network.layers()[layer].operator, Operator::Vector(_)) {
                continue;
            }
            let riders = self.chain(network, readers, layer, fused_reads);
            let Some((&last, inner)) = riders.split_last() else { continue };
            for &rider in &riders {
                self.roles[rider as usize] = Role::Rides(layer as u32);
            }
            let is_written = |it: &u32| readers[*it as usize].len() > 1;
            let inner = [layer as u32].into_iter().chain(inner.iter().copied());
            let written = inner.filter(is_written).chain([last]).collect();
            self.groups[layer] = Some(Arc::new(Group { riders, written }));
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
        if matches!(self.roles[at], Role::Rides(_)) || !rides(reader) {
            return None;
        }
        let mut n_fused = 0;
        for (source, &of) in reader.sources.iter().enumerate() {
            let Some(written) = of.writer(at) else { continue };
            if written == from {
                n_fused += 1;
                if !is_whole(reader, source) {
                    return None;
                }
            } else if self.step(written) >= layer {
                // It does not exist yet.
                return None;
            }
        }
        let outputs = network.layers()[from].operator.outputs();
        (n_fused == 1 && reader.operator.inputs() >= outputs).then(|| reader.sources.len() - 1)
    }

    /// Whether every other operand of the group of a layer is written before the layer runs.
    pub(super) fn is_in_order(&self, network: &Network, layer: usize) -> bool {
        let mut before = layer;
        self.of(layer).riders.iter().all(|&rider| {
            let rider = rider as usize;
            let others = network.layers()[rider].sources.iter().filter_map(|of| of.writer(rider));
            let is_in_order =
                others.filter(|&it| it != before).all(|other| self.step(other) < layer);
            before = rider;
            is_in_order
        })
    }

    /// The step in which the output of a layer is written.
    fn step(&self, layer: usize) -> usize {
        match self.roles[layer] {
            Role::Rides(with) => with as usize,
            Role::Step | Role::InPlace => layer,
        }
    }
}

/// A tensor that a layer reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    /// Index of the source.
    pub source: u32,
    /// Layer that writes the tensor; `None`: it comes from outside of the network.
    pub writer: Option<usize>,
    /// Whether the source has other tensors too.
    pub is_part: bool,
}

/// The tensors that the layers of a network read, in execution order.
#[derive(Debug)]
pub(super) struct Flow {
    reads: Vec<Read>,
    /// Index of the first tensor of every layer, and the end of the last one.
    starts: Vec<usize>,
    /// Concatenations in place that are no tensors of their own, with the tensors that they are made of.
    pub parts: BTreeMap<usize, Vec<usize>>,
}

/// Most tensors of a concatenation that is none of its own. It bounds the time of planning.
const MOST_PARTS: usize = 64;

impl Flow {
    /// The outputs of all layers as tensors of their own.
    pub(super) fn of_layers(network: &Network) -> Self {
        Self::new(network, BTreeMap::new())
    }

    /// The same, but for concatenations that are in place as a whole: they are the tensors of their parts. `None`
    /// without any.
    pub(super) fn of_parts(network: &Network, groups: &Groups) -> Option<Self> {
        let mut parts = BTreeMap::<usize, Vec<usize>>::new();
        for (at, layer) in network.layers().iter().enumerate() {
            let sources = 0..layer.sources.len();
            if groups.roles[at] != Role::InPlace
                || !sources.clone().all(|it| groups.is_placed(at, it))
            {
                continue;
            }
            let mut of = Vec::new();
            for from in sources.filter_map(|it| layer.sources[it].writer(at)) {
                match parts.get(&from) {
                    Some(parts) => of.extend_from_slice(parts),
                    None => of.push(from),
                }
            }
            if of.len() <= MOST_PARTS {
                parts.insert(at, of);
            }
        }
        (!parts.is_empty()).then(|| Self::new(network, parts))
    }

    fn new(network: &Network, parts: BTreeMap<usize, Vec<usize>>) -> Self {
        let mut flow = Self { reads: Vec::new(), starts: vec![0], parts };
        for (at, layer) in network.layers().iter().enumerate() {
            let is_tensor = !flow.parts.contains_key(&at);
            for (source, &of) in layer.sources.iter().enumerate().filter(|_| is_tensor) {
                let source = source as u32;
                let from = of.writer(at);
                match from.and_then(|from| flow.parts.get(&from)) {
                    None => flow.reads.push(Read { source, writer: from, is_part: false }),
                    Some(parts) => {
                        let is_part = parts.len() > 1;
                        let reads =
                            parts.iter().map(|&it| Read { source, writer: Some(it), is_part });
                        flow.reads.extend(reads);
                    }
                }
            }
            flow.starts.push(flow.reads.len());
        }
        flow
    }

    /// Number of layers.
    pub(super) fn n_layers(&self) -> usize {
        self.starts.len() - 1
    }

    /// What a layer reads.
    pub(super) fn reads(&self, layer: usize) -> &[Read] {
        &self.reads[self.starts[layer]..self.starts[layer + 1]]
    }

    /// What a layer reads as its first 32 sources.
    pub(super) fn sources(&self, layer: usize) -> impl Iterator<Item = &Read> {
        self.reads(layer).iter().take_while(|it| it.source < 32)
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
