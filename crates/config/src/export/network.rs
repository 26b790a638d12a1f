//! Networks as YAML text.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use serde::{Serialize, Serializer};
use serde_saphyr::{FlowMap, FlowSeq};

use crate::network::{Class, Model, direction, labels, usual_operations};
use xrsim_model::model::{
    Bits, Connections, ConvKind, ConvShape, Layer, MatmulShape, Network, Operator, Padding, Source,
    Tensor, VectorForm, VectorOp, VectorShape, View,
};
use xrsim_model::scenario::QualityGoal;

use super::document;
use super::repeats::{self, Part};

/// Body of a `network:` file. What is `None` or empty is left out.
#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    dataset: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<FlowMap<Quality<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<FlowSeq<Vec<&'a str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_parameters: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_norm_channels: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<FlowMap<PublishedSize<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traced: Option<FlowMap<Trace<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deviations: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<FlowMap<BTreeMap<&'static str, u32>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<bool>,
}

#[derive(Serialize)]
struct Quality<'a> {
    metric: &'a str,
    target: f64,
    better: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<PublishedQuality<'a>>,
}

#[derive(Serialize)]
struct PublishedQuality<'a> {
    value: f64,
    source: &'a str,
}

#[derive(Serialize)]
struct PublishedSize<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    macs: Option<u64>,
    source: &'a str,
}

#[derive(Serialize)]
struct Trace<'a> {
    code: &'a str,
    layers: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<u32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    remark: &'a str,
}

impl<'a> Body<'a> {
    /// A network of which nothing but its layers is known.
    fn bare(network: &'a Network, layers: Vec<Entry<'a>>) -> Self {
        let stated = Connections::ALL.iter().skip(1).find(|(_, it)| *it == network.connections());
        Self {
            name: network.name(),
            task: None,
            title: "",
            dataset: "",
            quality: None,
            inputs: None,
            other_parameters: None,
            batch_norm_channels: None,
            published: None,
            traced: None,
            deviations: Vec::new(),
            connections: stated.map(|(name, _)| *name),
            bits: words(common_bits(network.layers())),
            layers,
            measured: network.is_measured().then_some(true),
        }
    }

    fn from_model(model: &'a Model, layers: Vec<Entry<'a>>) -> Self {
        let number = |number: u64| (number > 0).then_some(number);
        let quality = Some(&model.quality).filter(|goal| **goal != QualityGoal::default());
        let inputs: Vec<&str> = model.inputs.iter().map(|name| &**name).collect();
        Self {
            task: Some(&*model.task).filter(|task| *task != model.network.name()),
            title: &model.title,
            dataset: &model.dataset,
            quality: quality.map(|goal| {
                let better = direction(goal.better);
                let (metric, measured) = (&*goal.metric, goal.measured);
                let published = goal.published.as_ref();
                let published =
                    published.map(|it| PublishedQuality { value: it.value, source: &it.source });
                FlowMap(Quality { metric, target: goal.target, better, measured, published })
            }),
            inputs: (!inputs.is_empty()).then_some(FlowSeq(inputs)),
            other_parameters: number(model.other_parameters),
            batch_norm_channels: number(model.batch_norm_channels),
            published: model.published.as_ref().map(|it| {
                let source = &*it.source;
                FlowMap(PublishedSize { parameters: it.parameters, macs: it.macs, source })
            }),
            traced: model.traced.as_ref().map(|it| {
                let (code, remark) = (&*it.code, &*it.remark);
                FlowMap(Trace { code, layers: it.layers, edges: it.edges, remark })
            }),
            deviations: model.deviations.iter().map(|it| &**it).collect(),
            ..Self::bare(&model.network, layers)
        }
    }
}

/// The `network:` file of `network`, repeated blocks written once. Name, operator, sources
/// and views of every layer are kept, and the bits of its data; a vector operator of unknown extents is written
/// with its sizes. Extents are numbers: parameters are not kept.
pub fn network(network: &Network) -> String {
    let labelled = labelled(network.layers());
    let layers = entries(&labelled, &blocks(&labelled));
    document("network", Body::bare(network, layers))
}

/// The `network:` file of `model`: like [`network()`], with everything else that is known.
pub fn model(model: &Model) -> String {
    model_of_nodes(model, &[])
}

/// The file of [`model()`] with a comment after each layer, of a repeated one with that of its first copy.
pub(crate) fn model_of_nodes(model: &Model, comments: &[&str]) -> String {
    let labelled = labelled(model.network.layers());
    let parts = blocks(&labelled);
    let text = document("network", Body::from_model(model, entries(&labelled, &parts)));
    let mut order = Vec::new();
    written(&parts, &mut order);
    commented(&text, order.iter().map_while(|&layer| comments.get(layer).copied()))
}

/// `text` with comments after the lines of layers, of which each takes one line.
fn commented<'a>(text: &str, mut comments: impl Iterator<Item = &'a str>) -> String {
    let mut is_layer = false;
    let line = |line: &str| {
        let entry = line.trim_start();
        is_layer |= line == "  layers:";
        let is_entry = is_layer && entry.starts_with("- ") && !entry.starts_with("- repeat:");
        match if is_entry { comments.next() } else { None } {
            Some(comment) => format!("{line} # {comment}\n"),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// Adds the layers that `parts` write, in order.
fn written(parts: &[Part], order: &mut Vec<usize>) {
    for part in parts {
        match part.times {
            1 => order.push(part.start),
            _ => written(&part.parts, order),
        }
    }
}

/// The blocks of layers that are repeated.
fn blocks(labelled: &[Labelled<'_>]) -> Rc<[Part]> {
    let mut first = HashMap::new();
    // Equal layers get the number of the first, but those with a name are never repeated.
    let numbers: Vec<_> = labelled
        .iter()
        .enumerate()
        .map(|(index, layer)| match layer.name {
            Some(_) => index,
            None => *first.entry(layer).or_insert(index),
        })
        .collect();
    repeats::find(&numbers)
}

/// A layer with the label that explains its name, and the name where none does.
#[derive(PartialEq, Eq, Hash)]
struct Labelled<'a> {
    label: &'static str,
    class: Class,
    name: Option<&'a str>,
    operator: Operator,
    /// Empty if it reads the layer before or, as the first one, from outside.
    sources: &'a [Source],
    n_sources: usize,
    views: &'a [View],
    form: Option<VectorForm>,
    shares_weights: bool,
    bits: Bits,
}

/// Bits that are those of every layer, as far as its operator has such data; the default if there are none.
fn common_bits(layers: &[Layer]) -> Bits {
    let all = layers.iter().fold(Bits::default(), |all, layer| all.or(layer.bits));
    let is_common = |layer: &Layer| all.of(&layer.operator) == layer.bits;
    if layers.iter().all(is_common) { all } else { Bits::default() }
}

/// Bits that are not left to the hardware, by their keys.
fn words(bits: Bits) -> Option<FlowMap<BTreeMap<&'static str, u32>>> {
    let known = [("weights", bits.weights), ("activations", bits.activations)];
    let known: BTreeMap<_, _> =
        known.into_iter().filter_map(|(key, bits)| Some((key, bits?))).collect();
    (!known.is_empty()).then_some(FlowMap(known))
}

fn labelled(layers: &[Layer]) -> Vec<Labelled<'_>> {
    let common = common_bits(layers);
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let one = |(index, layer)| {
        let (label, class, explained) = label(layer, &counts);
        *counts.entry(label).or_default() += 1;
        let name = (!explained).then_some(&*layer.name);
        let usual = if index == 0 { Source::Outside } else { Source::Back(1) };
        let sources = if layer.sources == [usual] { &[] } else { &*layer.sources };
        let &Layer { operator, ref views, form, shares_weights, bits, .. } = layer;
        let bits = if common.are_of_hardware() { bits } else { Bits::default() };
        let n_sources = layer.sources.len();
        let form = form.filter(|form| says(form, n_sources, &operator));
        Labelled {
            label,
            class,
            name,
            operator,
            sources,
            n_sources,
            views,
            form,
            shares_weights,
            bits,
        }
    };
    layers.iter().enumerate().map(one).collect()
}

/// A label of `layer`, and whether it explains its name, given the number of earlier layers per label.
fn label(layer: &Layer, counts: &HashMap<&str, u32>) -> (&'static str, Class, bool) {
    let candidates = || labels().filter(|(_, class, _)| class.can_say(&layer.operator));
    let explains = |label: &str| {
        let number = counts.get(label).map_or(1, |count| count + 1);
        *layer.name == *format!("{label}{number}")
    };
    let explaining = candidates().find(|(label, ..)| explains(label));
    let (label, class, _) =
        explaining.or_else(|| candidates().next()).expect("every operator has a label");
    (label, class, explaining.is_some())
}

/// Whether extents and elements read determine `operator`.
fn says(form: &VectorForm, n_sources: usize, operator: &Operator) -> bool {
    let Operator::Vector(shape) = operator else {
        return false;
    };
    let usual = form.sizes(shape.op, n_sources, nonzeros(form, shape));
    VectorShape { inputs: shape.inputs, ..usual } == *shape
}

/// Nonzeros of the matrix that a sparse product multiplies with.
fn nonzeros(form: &VectorForm, shape: &VectorShape) -> u64 {
    let Tensor { n, k, .. } = form.read();
    let sparse = shape.op == VectorOp::SparseProduct;
    if sparse { shape.operations / (u64::from(n) * u64::from(k)).max(1) } else { 0 }
}

/// An entry of `layers:`.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Layer(BTreeMap<&'static str, FlowMap<Keys<'a>>>),
    Repeat { repeat: usize, layers: Vec<Entry<'a>> },
}

fn entries<'a>(layers: &[Labelled<'a>], parts: &[Part]) -> Vec<Entry<'a>> {
    let entry = |part: &Part| match part.times {
        1 => {
            let layer = &layers[part.start];
            Entry::Layer(BTreeMap::from([(layer.label, FlowMap(keys(layer)))]))
        }
        times => Entry::Repeat { repeat: times, layers: entries(layers, &part.parts) },
    };
    parts.iter().map(entry).collect()
}

/// The keys of a layer, in order; those at their default are left out.
#[derive(Default)]
struct Keys<'a>(Vec<(&'static str, Word<'a>)>);

#[derive(Serialize)]
#[serde(untagged)]
enum Word<'a> {
    Text(&'a str),
    Number(u64),
    Numbers(FlowSeq<Vec<u32>>),
    Flag(bool),
    Name(&'static str),
    Names(FlowSeq<Vec<&'static str>>),
    Bits(FlowMap<BTreeMap<&'static str, u32>>),
}

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, word)| (key, word)))
    }
}

impl Keys<'_> {
    fn number(&mut self, key: &'static str, value: impl Into<u64>) {
        self.0.push((key, Word::Number(value.into())));
    }

    /// Adds the key unless it has the default, if there is one.
    fn unless(&mut self, default: Option<u32>, key: &'static str, value: u32) {
        if default != Some(value) {
            self.number(key, value);
        }
    }

    /// Adds a value of both axes as one if it can, 1 being the default.
    fn of_axes(&mut self, [both, rows, columns]: [&'static str; 3], [y, x]: [u32; 2]) {
        if y == x {
            self.unless(Some(1), both, y);
        } else {
            self.unless(Some(1), rows, y);
            self.unless(Some(1), columns, x);
        }
    }

    fn flag(&mut self, key: &'static str, set: bool) {
        if set {
            self.0.push((key, Word::Flag(true)));
        }
    }

    /// Adds a list, or its only number.
    fn numbers(&mut self, key: &'static str, values: Vec<u32>) {
        match values[..] {
            [only] => self.number(key, only),
            _ => self.0.push((key, Word::Numbers(FlowSeq(values)))),
        }
    }

    /// Adds how sources are read unless they are read whole, one word if it holds for all.
    fn views(&mut self, views: &[View]) {
        match views {
            [] => {}
            [first, rest @ ..] if rest.iter().all(|view| view == first) => {
                self.0.push(("reads", Word::Name(first.name())));
            }
            _ => {
                let names = views.iter().map(|view| view.name()).collect();
                self.0.push(("reads", Word::Names(FlowSeq(names))));
            }
        }
    }

    /// Adds the bits that are not left to the hardware.
    fn bits(&mut self, bits: Bits) {
        if let Some(bits) = words(bits) {
            self.0.push(("bits", Word::Bits(bits)));
        }
    }

    fn padding(&mut self, padding: Padding) {
        let Padding { top, bottom, left, right } = padding;
        match [bottom, left, right] == [top; 3] {
            true => self.unless(Some(0), "pad", top),
            false => self.numbers("pad", vec![top, bottom, left, right]),
        }
    }
}

fn keys<'a>(layer: &Labelled<'a>) -> Keys<'a> {
    let mut keys = Keys::default();
    if let Some(name) = layer.name {
        keys.0.push(("name", Word::Text(name)));
    }
    match &layer.operator {
        Operator::Conv(shape) => conv(&mut keys, layer.class, shape),
        Operator::Matmul(shape) => matmul(&mut keys, shape),
        Operator::Vector(shape) => match &layer.form {
            Some(form) => extents(&mut keys, form, shape, layer.n_sources),
            None => vector(&mut keys, shape),
        },
    }
    if !layer.sources.is_empty() {
        keys.numbers("from", layer.sources.iter().map(back).collect());
    }
    keys.views(layer.views);
    keys.flag("shared", layer.shares_weights);
    keys.bits(layer.bits);
    keys
}

/// How many layers back, 0 for the outside.
fn back(source: &Source) -> u32 {
    match *source {
        Source::Outside => 0,
        Source::Back(back) => back,
    }
}

fn conv(keys: &mut Keys<'_>, class: Class, shape: &ConvShape) {
    let default = (class == Class::FullyConnected).then_some(1);
    let depthwise = (shape.kind == ConvKind::Depthwise).then_some(1);
    keys.unless(Some(1), "n", shape.n);
    keys.unless(depthwise, "k", shape.k);
    keys.number("c", shape.c);
    keys.unless(default, "y", shape.stored_rows());
    keys.unless(default, "x", shape.stored_columns());
    keys.unless(default, "r", shape.r);
    keys.unless(default, "s", shape.s);
    let ConvShape { stride_y, stride_x, dilation_y, dilation_x, padding, .. } = *shape;
    keys.of_axes(["stride", "stride_y", "stride_x"], [stride_y, stride_x]);
    keys.of_axes(["dilation", "dilation_y", "dilation_x"], [dilation_y, dilation_x]);
    keys.unless(Some(1), "groups", shape.groups);
    keys.padding(padding);
    keys.flag("kernel_exceeds_input", shape.kernel_fits().is_err());
}

fn matmul(keys: &mut Keys<'_>, shape: &MatmulShape) {
    keys.unless((!shape.activations).then_some(1), "instances", shape.instances);
    keys.number("rows", shape.rows);
    keys.number("c", shape.c);
    keys.number("k", shape.k);
}

/// The extents of a vector operator, and the elements that it reads unless they follow.
fn extents(keys: &mut Keys<'_>, form: &VectorForm, shape: &VectorShape, n_sources: usize) {
    let Tensor { n, k, y, x } = form.read();
    let nonzeros = nonzeros(form, shape);
    keys.unless(Some(1), "n", n);
    keys.number("k", k);
    keys.unless(Some(1), "y", y);
    keys.unless(Some(1), "x", x);
    match form {
        VectorForm::Tensor(_) => {}
        VectorForm::Resize { to: [to_y, to_x], .. } => {
            keys.number("to_y", *to_y);
            keys.unless(Some(x), "to_x", *to_x);
        }
        VectorForm::Window(window) => {
            keys.unless(Some(1), "r", window.r);
            keys.unless(Some(1), "s", window.s);
            let strides = [window.stride_y, window.stride_x];
            keys.of_axes(["stride", "stride_y", "stride_x"], strides);
            keys.padding(window.padding);
        }
    }
    if shape.op == VectorOp::SparseProduct {
        keys.number("nonzeros", nonzeros);
    }
    let usual = form.sizes(shape.op, n_sources, nonzeros).inputs;
    if matches!(shape.op, VectorOp::RoiAlign | VectorOp::Nms) || shape.inputs != usual {
        keys.number("inputs", shape.inputs);
    }
}

fn vector(keys: &mut Keys<'_>, shape: &VectorShape) {
    let &VectorShape { op, inputs, outputs, operations } = shape;
    keys.number("inputs", inputs);
    keys.number("outputs", outputs);
    if operations != usual_operations(op, inputs, outputs) {
        keys.number("operations", operations);
    }
}
