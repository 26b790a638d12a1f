//! Making of layers, step by step.

use std::collections::{HashMap, HashSet};

use super::counts::Counts;
use super::held::{Axis, Held, Place, extents, tensor, usual_axes};
use super::row::Row;
use super::views;
use crate::fact::Fact;
use crate::problems::Problems;
use crate::rules::Fault;
use crate::trace::{Root, Step, TensorId, Trace, operator_name};
use xrsim_model::model::{
    Bits, Layer, MatmulShape, Network, Operator, Padding, Source, Tensor, VectorForm, VectorOp,
    VectorShape, View,
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
    /// What became of nodes.
    pub counts: Counts,
    /// Decisions that change the network, in plain words.
    pub decisions: Vec<String>,
}

/// Most characters of the name of a node that each of its layers keeps.
const MAX_NAME: usize = 500;

/// Most sources of a layer in a file.
const MAX_SOURCES: usize = 1_000;

/// Role of a step in a layer of several nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// An operator of its own.
    #[default]
    Own,
    /// Part of a layer that a later step is.
    Part,
    /// The last part of a layer normalisation of this tensor.
    Norm(TensorId),
    /// Padding that the convolutions and pools behind it take over.
    Padding,
}

/// A layer with the places of its sources.
struct Draft {
    operator: Operator,
    form: Option<VectorForm>,
    places: Vec<(Place, View)>,
    is_shared: bool,
    row: Row,
}

pub(super) struct Maker<'t, 'p> {
    pub trace: &'t Trace<'t>,
    pub problems: &'p mut Problems,
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
    pub(super) fn new(trace: &'t Trace<'t>, problems: &'p mut Problems) -> Self {
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
    pub(super) fn data(&self, step: &Step<'_>) -> Vec<TensorId> {
        step.inputs.iter().copied().flatten().filter(|id| !self.is_constant(*id)).collect()
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
    pub(super) fn fill(&mut self, step: &Step<'_>, before: usize) {
        let places: Vec<_> = match self.drafts.len() {
            n if n > before => vec![(Place::Layer(n - 1), View::Gather)],
            _ => {
                let places = self.places(&self.data(step), false);
                places.into_iter().map(|(place, _)| (place, View::Gather)).collect()
            }
        };
        for &id in &step.outputs {
            if self.held[id.index()].is_none() && !places.is_empty() {
                self.put(id, Held::new(places.clone(), id));
            }
        }
    }

    /// Whether one step alone reads a tensor, and the network does not write it.
    pub(super) fn is_read_once(&self, id: TensorId) -> bool {
        self.readers[id.index()].len() == 1 && !self.is_output[id.index()]
    }

    /// Extents `[n, k, y, x]` of a tensor.
    pub(super) fn extents(&self, id: TensorId) -> [u64; 4] {
        let shape = &self.fact(id).shape;
        let axes = self.held(id).axes.filter(|axes| axes.len() == shape.len());
        extents(shape, &axes.unwrap_or_else(|| usual_axes(shape.len())))
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
    pub(super) fn places(&self, ids: &[TensorId], twice: bool) -> Vec<(Place, View)> {
        let mut places: Vec<(Place, View)> = Vec::new();
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

    /// Adds a layer, and returns its number.
    pub(super) fn layer(
        &mut self,
        step: &Step<'_>,
        operator: Operator,
        form: Option<VectorForm>,
        places: Vec<(Place, View)>,
    ) -> Result<usize, Fault> {
        if let Err(error) = operator.check() {
            return Err(Fault::Invalid(error.to_string()));
        }
        if places.len() > MAX_SOURCES {
            let words =
                format!("it reads {} tensors; a layer reads at most {MAX_SOURCES}", places.len());
            return Err(Fault::Invalid(words));
        }
        if self.drafts.len() > Network::MAX_LAYERS {
            // The number is reported at the end; more drafts would only take memory.
            return Ok(self.drafts.len() - 1);
        }
        let row = Row {
            node: step.name.chars().take(MAX_NAME).collect(),
            operator: operator_name(&step.node).into(),
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

    /// Adds a vector operator that writes `output`, with extents where a layer can have them. It reads
    /// `inputs` elements, or as many as usual.
    pub(super) fn vector(
        &mut self,
        step: &Step<'_>,
        op: VectorOp,
        output: TensorId,
        places: Vec<(Place, View)>,
        inputs: Option<u64>,
    ) -> Result<usize, Fault> {
        let extents = self.extents(output);
        self.vector_of(step, op, extents, places, inputs)
    }

    /// The same with these extents, of a reduction those that it reads.
    pub(super) fn vector_of(
        &mut self,
        step: &Step<'_>,
        op: VectorOp,
        extents: [u64; 4],
        places: Vec<(Place, View)>,
        inputs: Option<u64>,
    ) -> Result<usize, Fault> {
        match tensor(extents) {
            Some(tensor) => {
                let form = VectorForm::Tensor(tensor);
                let usual = form.sizes(op, places.len(), 0);
                let inputs = inputs.unwrap_or(usual.inputs);
                let shape = VectorShape { inputs, ..usual };
                self.layer(step, Operator::Vector(shape), Some(form), places)
            }
            None => {
                let outputs = extents.iter().fold(1u64, |all, &extent| all.saturating_mul(extent));
                let usual = match op {
                    VectorOp::Add => outputs.saturating_mul(places.len() as u64),
                    _ => outputs,
                };
                self.sizes(step, op, inputs.unwrap_or(usual), outputs, places)
            }
        }
    }

    /// Adds a vector operator by its sizes.
    pub(super) fn sizes(
        &mut self,
        step: &Step<'_>,
        op: VectorOp,
        inputs: u64,
        outputs: u64,
        places: Vec<(Place, View)>,
    ) -> Result<usize, Fault> {
        // Reductions take an operation for each element that they read.
        let window = if outputs == 0 { 1 } else { inputs.div_ceil(outputs) };
        let shape = VectorShape::new(op, inputs, outputs, window);
        self.layer(step, Operator::Vector(shape), None, places)
    }

    /// The result of a layer, with the axes of an operand or of its own.
    pub(super) fn result(&mut self, id: TensorId, layer: usize, axes: Option<Vec<Axis>>) {
        let places = vec![(Place::Layer(layer), View::Whole)];
        self.put(id, Held { axes, ..Held::new(places, id) });
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
        let (mut layers, rows): (Vec<Layer>, Vec<Row>) =
            Vec::from_iter(numbered(drafts)).into_iter().unzip();
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
    use xrsim_model::model::ConvKind;
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
    let limit = xrsim_model::model::ConvShape::MAX_EXTENT;
    match u32::try_from(found) {
        Ok(extent) if (1..=limit).contains(&extent) => Ok(extent),
        _ => Err(Fault::Invalid(format!("{of} is {found}; an extent lies between 1 and {limit}"))),
    }
}

/// The tensor of these extents.
pub(super) fn tensor_of(extents: [u64; 4]) -> Option<Tensor> {
    tensor(extents)
}
