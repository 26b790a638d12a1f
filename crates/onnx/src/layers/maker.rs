//! Making of layers, step by step.

use std::collections::{HashMap, HashSet};

use super::counts::Counts;
use super::held::{Axis, Held, Place, Places, extents, tensor, usual_axes, whole};
use super::op::Op;
use super::row::Row;
use super::views;
use crate::fact::Fact;
use crate::problems::Problems;
use crate::rules::Fault;
use crate::trace::{Root, TensorId, Trace, operator_name};
use xrsim_model::model::{
    Bits, ConvKind, ConvShape, Layer, MatmulShape, Network, Operator, Padding, Source, VectorForm,
    VectorOp, VectorShape, View,
};

/// Layers of a trace.
#[derive(Debug)]
pub(crate) struct Made {
    /// The network.
    pub network: Network,
    /// Facts about each layer.
    pub rows: Vec<Row>,
    /// Parameters that no layer has as weights.
    pub other_parameters: u64,
    /// Channels of batch normalisations that are folded.
    pub batch_norm_channels: u64,
    /// Counts of nodes by their fate.
    pub counts: Counts,
    /// Decisions that change the network, in plain words.
    pub decisions: Vec<String>,
}

/// Most characters of the name of a node that each of its layers keeps.
const MAX_NAME: usize = 500;

/// Most sources of a layer in a file.
const MAX_SOURCES: usize = 1_000;

/// Role of a step in a layer of several nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Role {
    /// An operator of its own.
    #[default]
    Own,
    /// Part of a layer that a later step is, or padding that later convolutions and pools take over.
    Part,
    /// The last part of a layer normalisation of this tensor.
    Norm(TensorId),
}

/// A layer with the places of its sources.
struct Draft {
    operator: Operator,
    form: Option<VectorForm>,
    places: Places,
    is_shared: bool,
    row: Row,
}

pub(crate) struct Maker<'t, 'p> {
    pub trace: &'t Trace<'t>,
    pub problems: &'p mut Problems,
    /// Inputs that hold keys or values of earlier steps.
    pub caches: HashSet<TensorId>,
    drafts: Vec<Draft>,
    held: Vec<Option<Held>>,
    /// Steps that read each tensor; outputs of the network count as one more.
    pub readers: Vec<Vec<u32>>,
    is_output: Vec<bool>,
    pub roles: Vec<Role>,
    /// Padding that a tensor holds and its only reader takes over.
    pub padding: HashMap<TensorId, Padding>,
    weights: HashSet<Root>,
    /// Constants that are counted as parameters: those of the file, and computed ones.
    counted: HashSet<Result<Root, TensorId>>,
    pub other_parameters: u64,
    pub batch_norm_channels: u64,
    pub counts: Counts,
    pub decisions: Vec<String>,
    /// Elements that pass through a transposition.
    pub transposed: u64,
    /// Layers whose weights are computed from constants.
    n_computed: usize,
    /// The first step of which facts are missing, which is after a problem.
    unknown: Option<usize>,
}

impl<'t, 'p> Maker<'t, 'p> {
    pub(super) fn new(
        trace: &'t Trace<'t>,
        caches: HashSet<TensorId>,
        problems: &'p mut Problems,
    ) -> Self {
        let mut readers = vec![Vec::new(); trace.tensors.len()];
        for (index, step) in trace.steps.iter().enumerate() {
            for id in step.inputs.iter().flatten() {
                readers[id.index()].push(index as u32);
            }
        }
        let mut is_output = vec![false; trace.tensors.len()];
        for id in &trace.outputs {
            is_output[id.index()] = true;
        }
        // A slice of a tensor, or what consists of several, reads it; its own readers come later.
        for (index, tensor) in trace.tensors.iter().enumerate().rev() {
            for id in &tensor.related {
                let more = readers[index].clone();
                readers[id.index()].extend(more);
                is_output[id.index()] |= is_output[index];
            }
        }
        let counts = Counts { nodes: trace.n_run, unused: trace.n_unused, ..Counts::default() };
        Self {
            trace,
            problems,
            caches,
            drafts: Vec::new(),
            held: vec![None; trace.tensors.len()],
            readers,
            is_output,
            roles: vec![Role::Own; trace.steps.len()],
            padding: HashMap::new(),
            weights: HashSet::new(),
            counted: HashSet::new(),
            other_parameters: 0,
            batch_norm_channels: 0,
            counts,
            decisions: Vec::new(),
            transposed: 0,
            n_computed: 0,
            unknown: None,
        }
    }

    /// Notes that facts about a step are missing.
    pub(super) fn lack(&mut self, step: usize) {
        self.unknown.get_or_insert(step);
    }

    /// The tensor as layers see it: what comes from outside, if no step wrote it.
    pub(super) fn held(&self, id: TensorId) -> Held {
        if let Some(held) = &self.held[id.index()] {
            return held.clone();
        }
        let mut places = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match &self.held[id.index()] {
                Some(held) => places.extend(held.places.iter().map(|(place, _)| *place)),
                None if self.trace.tensor(id).related.is_empty() => places.push(Place::Outside),
                None => {
                    open.extend(self.trace.tensor(id).related.iter().filter(|id| seen.insert(**id)))
                }
            }
        }
        let view = match self.trace.tensor(id).related[..] {
            [] => View::Whole,
            [_] => View::Slice,
            _ => View::Gather,
        };
        places.sort_unstable();
        places.dedup();
        Held::new(places.into_iter().map(|place| (place, view)).collect(), id)
    }

    /// Says what a tensor is. Axes that do not match its shape are not known.
    pub(super) fn put(&mut self, id: TensorId, mut held: Held) {
        let rank = self.fact(id).shape.len();
        held.axes = held.axes.filter(|axes| axes.len() == rank);
        self.held[id.index()] = Some(held);
    }

    /// Facts about a tensor, which steps that come here have.
    pub(super) fn fact(&self, id: TensorId) -> &'t Fact {
        self.trace.fact(id).expect("facts were looked for before")
    }

    /// Whether a tensor is a constant that no layer computes.
    pub(super) fn is_constant(&self, id: TensorId) -> bool {
        self.fact(id).is_constant && self.held[id.index()].is_none()
    }

    /// Operands of a step that depend on data.
    pub(super) fn data(&self, op: &Op<'_>) -> Vec<TensorId> {
        op.operands(0).filter(|id| !self.is_constant(*id)).collect()
    }

    /// Number of elements of all these tensors.
    pub(super) fn count_of(&self, ids: &[TensorId]) -> u64 {
        ids.iter().map(|id| self.fact(*id).count()).fold(0, u64::saturating_add)
    }

    /// Whether the network writes a tensor.
    pub(super) fn is_output(&self, id: TensorId) -> bool {
        self.is_output[id.index()]
    }

    /// Layers so far.
    pub(super) fn n_layers(&self) -> usize {
        self.drafts.len()
    }

    /// Says what outputs of a step are of which nothing was said: by-products of its last layer, or parts of
    /// what it reads.
    pub(super) fn fill(&mut self, op: &Op<'_>, before: usize) {
        let places = match self.drafts.len() {
            n if n > before => vec![(Place::Layer(n - 1), View::Gather)],
            _ => self.gathered(&self.data(op)),
        };
        for &id in &op.step.outputs {
            if self.held[id.index()].is_none() && !places.is_empty() {
                self.put(id, Held::new(places.clone(), id));
            }
        }
    }

    /// Whether one step alone reads a tensor, and the network does not write it.
    pub(super) fn is_read_once(&self, id: TensorId) -> bool {
        self.readers[id.index()].len() == 1 && !self.is_output[id.index()]
    }

    /// Axes of a tensor; the usual ones if they are not known.
    pub(super) fn axes_of(&self, id: TensorId) -> Vec<Axis> {
        let rank = self.fact(id).shape.len();
        let axes = self.held(id).axes.filter(|axes| axes.len() == rank);
        axes.unwrap_or_else(|| usual_axes(rank))
    }

    /// Counts the elements of constants as parameters.
    pub(super) fn parameters(&mut self, ids: impl IntoIterator<Item = TensorId>) {
        ids.into_iter().for_each(|id| self.parameter(id));
    }

    /// Counts the elements of a constant as parameters, once.
    pub(super) fn parameter(&mut self, id: TensorId) {
        let fact = self.fact(id);
        let constant = self.trace.tensor(id).root.ok_or(id);
        let is_weight = constant.is_ok_and(|root| self.weights.contains(&root));
        if fact.is_constant && fact.is_parameter() && !is_weight && self.counted.insert(constant) {
            self.other_parameters = self.other_parameters.saturating_add(fact.count());
        }
    }

    /// Whether the weights are those of an earlier layer; they are known from now on. Weights that are
    /// computed from constants are parameters, but not of the layer.
    pub(super) fn is_shared(&mut self, weights: TensorId) -> bool {
        match self.trace.tensor(weights).root {
            // A table that was looked up before is counted already.
            Some(root) => !self.weights.insert(root) || self.counted.contains(&Ok(root)),
            None => {
                self.parameter(weights);
                self.n_computed += 1;
                true
            }
        }
    }

    /// Places of operands. The same place is listed once, unless `twice` is set, as for both factors of a
    /// product.
    pub(super) fn places(&self, ids: &[TensorId], twice: bool) -> Places {
        let mut places = Places::new();
        for id in ids {
            for (place, view) in self.held(*id).places {
                match places.iter_mut().find(|(known, _)| *known == place && !twice) {
                    // Parts of one tensor, together.
                    Some((_, known)) if *known != view => *known = View::Gather,
                    Some(_) => {}
                    None => places.push((place, view)),
                }
                // More are refused.
                if places.len() > MAX_SOURCES {
                    return places;
                }
            }
        }
        places
    }

    /// Places of operands of which elements are read by choice.
    pub(super) fn gathered(&self, ids: &[TensorId]) -> Places {
        let mut places = self.places(ids, false);
        places.iter_mut().for_each(|(_, view)| *view = View::Gather);
        places
    }

    /// Adds a layer, and returns its number.
    pub(super) fn layer(
        &mut self,
        op: &Op<'_>,
        operator: Operator,
        form: Option<VectorForm>,
        places: Places,
    ) -> Result<usize, Fault> {
        operator.check().map_err(Fault::invalid)?;
        let n = places.len();
        ensure!(n <= MAX_SOURCES, "it reads {n} tensors; a layer reads at most {MAX_SOURCES}");
        if self.drafts.len() > Network::MAX_LAYERS {
            // The number is reported at the end; more drafts would only take memory.
            return Ok(self.drafts.len() - 1);
        }
        let row = Row {
            node: op.step.name.chars().take(MAX_NAME).collect(),
            operator: operator_name(&op.step.node).into(),
            padding: Padding::default(),
            weight_bits: None,
            activation_bits: None,
        };
        self.drafts.push(Draft { operator, form, places, is_shared: false, row });
        Ok(self.drafts.len() - 1)
    }

    /// Whether a layer is a convolution or product.
    pub(super) fn is_product(&self, layer: usize) -> bool {
        !matches!(self.drafts[layer].operator, Operator::Vector(_))
    }

    /// The facts of a layer that was added.
    pub(super) fn row(&mut self, layer: usize) -> &mut Row {
        &mut self.drafts[layer].row
    }

    /// Marks a layer as one whose weights are those of an earlier one, or computed.
    pub(super) fn share(&mut self, layer: usize) {
        self.drafts[layer].is_shared = true;
        self.counts.shared += 1;
    }

    /// Adds channels of a batch normalisation that is folded.
    pub(super) fn fold_norm(&mut self, channels: u64) {
        self.batch_norm_channels = self.batch_norm_channels.saturating_add(channels);
    }

    /// Adds a vector operator that writes the first output, which has these axes. It reads `inputs` elements, or
    /// as many as usual.
    pub(super) fn vector(
        &mut self,
        op: &Op<'_>,
        kind: VectorOp,
        axes: Option<Vec<Axis>>,
        places: Places,
        inputs: Option<u64>,
    ) -> Result<usize, Fault> {
        let output = op.output();
        let shape = &self.fact(output).shape;
        let own = axes.clone().filter(|axes| axes.len() == shape.len());
        let extents = extents(shape, &own.unwrap_or_else(|| usual_axes(shape.len())));
        let layer = self.vector_of(op, kind, extents, places, inputs)?;
        self.result(output, layer, axes);
        Ok(layer)
    }

    /// Adds a vector operator with these extents, of a reduction those that it reads.
    pub(super) fn vector_of(
        &mut self,
        op: &Op<'_>,
        kind: VectorOp,
        extents: [u64; 4],
        places: Places,
        inputs: Option<u64>,
    ) -> Result<usize, Fault> {
        if let Some(tensor) = tensor(extents) {
            let form = VectorForm::Tensor(tensor);
            let usual = form.sizes(kind, places.len(), 0);
            let shape = VectorShape { inputs: inputs.unwrap_or(usual.inputs), ..usual };
            return self.layer(op, Operator::Vector(shape), Some(form), places);
        }
        let outputs = extents.iter().fold(1u64, |all, &extent| all.saturating_mul(extent));
        let n_read = if kind == VectorOp::Add { places.len() as u64 } else { 1 };
        self.sizes(op, kind, inputs.unwrap_or(outputs.saturating_mul(n_read)), outputs, places)
    }

    /// Adds a vector operator of one tensor by its form.
    pub(super) fn formed(
        &mut self,
        op: &Op<'_>,
        kind: VectorOp,
        form: VectorForm,
        places: Places,
    ) -> Result<usize, Fault> {
        self.layer(op, Operator::Vector(form.sizes(kind, 1, 0)), Some(form), places)
    }

    /// Adds a vector operator by its sizes.
    pub(super) fn sizes(
        &mut self,
        op: &Op<'_>,
        kind: VectorOp,
        inputs: u64,
        outputs: u64,
        places: Places,
    ) -> Result<usize, Fault> {
        // Reductions take an operation for each element that they read.
        let window = if outputs == 0 { 1 } else { inputs.div_ceil(outputs) };
        let shape = VectorShape::new(kind, inputs, outputs, window);
        self.layer(op, Operator::Vector(shape), None, places)
    }

    /// The result of a layer, with the axes of an operand or of its own.
    pub(super) fn result(&mut self, id: TensorId, layer: usize, axes: Option<Vec<Axis>>) {
        self.put(id, Held { axes, ..Held::new(whole(layer), id) });
    }

    /// Axes of an operand of the same shape as `output`.
    pub(super) fn axes_like(&self, ids: &[TensorId], output: TensorId) -> Option<Vec<Axis>> {
        let shape = &self.fact(output).shape;
        let like = |id: &&TensorId| self.fact(**id).shape == *shape;
        let full = ids.iter().filter(like).find_map(|id| self.held(*id).axes);
        let rank = |id: &&TensorId| self.fact(**id).shape.len() == shape.len();
        full.or_else(|| ids.iter().filter(rank).find_map(|id| self.held(*id).axes))
    }

    pub(super) fn finish(self, name: &str) -> Option<Made> {
        let Self { drafts, problems, .. } = self;
        if let Some(step) = self.unknown.filter(|_| problems.is_empty()) {
            problems.of_node(&self.trace.steps[step].name, "nothing is known of its shapes");
        }
        if !problems.is_empty() {
            return None;
        }
        let activations = common_activations(&drafts);
        let (mut layers, rows): (Vec<Layer>, Vec<Row>) = numbered(drafts).unzip();
        // Operators between quantised layers of one width have that width, too.
        for layer in layers.iter_mut().filter(|layer| layer.bits.activations.is_none()) {
            layer.bits.activations = activations;
        }
        if layers.is_empty() {
            problems.add("no layers: nothing but activations and changes of shape");
            return None;
        }
        let elements = layers.iter().map(|layer| layer.operator.outputs());
        let elements = elements.fold(0u64, u64::saturating_add);
        let mut decisions = self.decisions;
        if self.transposed > elements / 10 {
            decisions.push(format!(
                "transpositions move {} elements ({} are written by layers), and cost nothing here",
                self.transposed, elements
            ));
        }
        if self.n_computed > 0 {
            let layers = if self.n_computed == 1 { "layer has" } else { "layers have" };
            let words = "weights that the file computes from constants, which is left out";
            decisions.push(format!("{} {layers} {words}", self.n_computed));
        }
        match views::network(name, layers) {
            Ok(network) => Some(Made {
                network,
                rows,
                other_parameters: self.other_parameters,
                batch_norm_channels: self.batch_norm_channels,
                counts: Counts {
                    shared: self.counts.shared.saturating_sub(self.n_computed),
                    ..self.counts
                },
                decisions,
            }),
            Err(error) => {
                problems.add(error.to_string());
                None
            }
        }
    }
}

/// Bits of activations, if all convolutions and products have the same.
fn common_activations(drafts: &[Draft]) -> Option<u32> {
    let products = drafts.iter().filter(|draft| !matches!(draft.operator, Operator::Vector(_)));
    let mut bits = products.map(|draft| draft.row.activation_bits);
    let first = bits.next()??;
    bits.all(|other| other == Some(first)).then_some(first)
}

/// Layers with names: the operator, and its running number.
fn numbered(drafts: Vec<Draft>) -> impl Iterator<Item = (Layer, Row)> {
    let mut counts = HashMap::<&str, u32>::new();
    drafts.into_iter().enumerate().map(move |(index, draft)| {
        let label = label(&draft.operator);
        let count = counts.entry(label).or_default();
        *count += 1;
        let source = |(place, _): &(Place, View)| match *place {
            Place::Outside => Source::Outside,
            Place::Layer(layer) => Source::Back((index - layer) as u32),
        };
        let mut sources: Vec<_> = draft.places.iter().map(source).collect();
        if sources.is_empty() {
            sources.push(Source::Outside);
        }
        let views = draft.places.iter().map(|(_, view)| *view).collect();
        let layer = Layer {
            sources,
            views,
            form: draft.form,
            shares_weights: draft.is_shared,
            bits: Bits { weights: draft.row.weight_bits, activations: draft.row.activation_bits }
                .of(&draft.operator),
            ..Layer::new(format!("{label}{count}"), draft.operator)
        };
        (layer, draft.row)
    })
}

/// Name of an operator in files of networks.
fn label(operator: &Operator) -> &'static str {
    match operator {
        Operator::Conv(shape) => match shape.kind {
            ConvKind::Depthwise => "dwconv",
            ConvKind::Transposed => "deconv",
            _ => "conv",
        },
        Operator::Matmul(MatmulShape { activations: true, .. }) => "batched_matmul",
        Operator::Matmul(_) => "matmul",
        Operator::Vector(shape) => shape.op.name(),
    }
}

/// An extent of a layer.
pub(super) fn extent(of: &str, found: u64) -> Result<u32, Fault> {
    let limit = ConvShape::MAX_EXTENT;
    match u32::try_from(found) {
        Ok(extent) if (1..=limit).contains(&extent) => Ok(extent),
        _ => Err(Fault::Invalid(format!("{of} is {found}; an extent lies between 1 and {limit}"))),
    }
}
