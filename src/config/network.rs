//! `network:` files: what a model computes, and what it is for.

use std::ops::Range;
use std::sync::Arc;

use crate::model::{Layer, LayerKind, LayerShape, ModelError, Network};
use crate::scenario::{Better, QualityGoal};

use super::Problem;
use super::yaml::read::{At, Problems, at, flag, list, number, one_of, quantity, text};
use super::yaml::{Fields, Node};

/// A network with what it is for (XRBench Table 1).
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Task, e.g. `HT`; the network's name if the file gives none.
    pub task: Box<str>,
    /// Task in words; empty if the file gives none.
    pub title: Box<str>,
    /// The network.
    pub network: Arc<Network>,
    /// Dataset; empty if the file gives none.
    pub dataset: Box<str>,
    /// Quality goal; one that is always met if the file gives none.
    pub quality: QualityGoal,
    /// Names of the sensors that it reads, the primary one first.
    pub inputs: Vec<Box<str>>,
}

impl Model {
    /// A network of which nothing else is known.
    pub fn bare(network: Arc<Network>) -> Self {
        Self {
            task: network.name().into(),
            title: "".into(),
            network,
            dataset: "".into(),
            quality: unspecified_goal(),
            inputs: Vec::new(),
        }
    }
}

/// The goal of a model without one: met, because nothing was measured against it.
fn unspecified_goal() -> QualityGoal {
    QualityGoal {
        metric: "unspecified".into(),
        target: 1.0,
        better: Better::Higher,
        measured: None,
    }
}

/// Labels of layers with their kinds; a layer without a name is called by its label and the running
/// count of that label in the network. `fc` is a convolution whose missing extents are 1.
pub(super) const LABELS: [(&str, LayerKind); 5] = [
    ("conv", LayerKind::Conv),
    ("fc", LayerKind::Conv),
    ("dwconv", LayerKind::Depthwise),
    ("trconv", LayerKind::Transposed),
    ("ngconv", LayerKind::NonGrouped),
];

/// Most repetitions of a block.
const MAX_REPEAT: u32 = 10_000;

/// Reads the body of a `network:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Model> {
    let mut fields = Fields::of(node, "a network", problems)?;
    let name = fields.required("name", text);
    let task = fields.optional("task", text);
    let title = fields.optional("title", text).unwrap_or_default();
    let dataset = fields.optional("dataset", text).unwrap_or_default();
    let quality = fields.optional("quality", quality).unwrap_or_else(unspecified_goal);
    let inputs = fields.optional("inputs", list("sensors", text)).unwrap_or_default();
    let items = fields.required("layers", list("layers", item));
    let layers = items.and_then(|items| expand(&items, &mut fields));
    fields.finish();
    let (name, layers) = (name?, layers?);
    let task = task.unwrap_or_else(|| name.clone());
    let network = match Network::new(name, layers) {
        Ok(network) => Arc::new(network),
        Err(error) => {
            problems.push(Problem::new(node.span.clone(), error.to_string()));
            return None;
        }
    };
    Some(Model { task, title, network, dataset, quality, inputs })
}

const DIRECTIONS: [(&str, Better); 2] = [("higher", Better::Higher), ("lower", Better::Lower)];

fn quality(node: &Node<'_>, problems: &mut Problems) -> Option<QualityGoal> {
    let mut fields = Fields::of(node, "a quality goal", problems)?;
    let metric = fields.required("metric", text);
    let positive =
        quantity("a number above 0", |value| (value > 0.0 && value.is_finite()).then_some(value));
    let target = fields.required("target", positive);
    let better = fields.required("better", one_of(&DIRECTIONS));
    let measured = fields.optional("measured", number(0.0..=1e12));
    fields.finish();
    Some(QualityGoal { metric: metric?, target: target?, better: better?, measured })
}

/// One entry of a list of layers.
enum Item {
    Layer { label: usize, name: Option<At<Box<str>>>, shape: LayerShape },
    Repeat { times: u32, items: Vec<Item> },
}

fn item(node: &Node<'_>, problems: &mut Problems) -> Option<Item> {
    let mut fields = Fields::of(node, "a layer", problems)?;
    if fields.given("repeat") {
        let times = fields.required("repeat", number(1..=MAX_REPEAT));
        let items = fields.required("layers", list("layers", item));
        fields.finish();
        return Some(Item::Repeat { times: times?, items: items? });
    }
    let label = LABELS.iter().position(|(label, _)| fields.given(label));
    let Some(label) = label else {
        let labels = LABELS.map(|(label, _)| label).join(", ");
        let problem = Problem::new(node.span.clone(), "an entry of `layers` needs an operator");
        fields.problem(problem.help(format!("one of {labels}; or `repeat` with `layers`")));
        return None;
    };
    let layer = fields.required(LABELS[label].0, |node, problems| layer(label, node, problems));
    fields.finish();
    layer
}

fn layer(label: usize, node: &Node<'_>, problems: &mut Problems) -> Option<Item> {
    let (label_name, kind) = LABELS[label];
    let mut fields = Fields::of(node, "a layer", problems)?;
    let extent = || number(1..=LayerShape::MAX_EXTENT);
    let flat = (label_name == "fc").then_some(1);
    let depthwise = (kind == LayerKind::Depthwise).then_some(1);
    let k = fields.or("k", depthwise, extent());
    let c = fields.required("c", extent());
    let y = fields.or("y", flat, extent());
    let x = fields.or("x", flat, extent());
    let r = fields.or("r", flat, extent());
    let s = fields.or("s", flat, extent());
    let n = fields.optional("n", extent()).unwrap_or(1);
    let stride = fields.optional("stride", extent()).unwrap_or(1);
    let stride_y = fields.optional("stride_y", extent()).unwrap_or(stride);
    let stride_x = fields.optional("stride_x", extent()).unwrap_or(stride);
    let name = fields.optional("name", at(text));
    let marked = fields.optional("kernel_exceeds_input", flag).unwrap_or(false);
    let kernel = if r > y { fields.span_of("r") } else { fields.span_of("s") };
    let mark = fields.span_of("kernel_exceeds_input");
    fields.finish();
    let (k, c, y, x, r, s) = (k?, c?, y?, x?, r?, s?);
    let shape = LayerShape { kind, n, k, c, y, x, r, s, stride_y, stride_x };
    let (span, message) = match (shape.check(), shape.kernel_fits()) {
        (Err(error), _) => (node.span.clone(), error.to_string()),
        (_, Err(error)) if !marked => (kernel, error.to_string()),
        (_, Ok(())) if marked => (mark, "the kernel fits; remove this mark".into()),
        _ => return Some(Item::Layer { label, name, shape }),
    };
    problems.push(Problem::new(span, message));
    None
}

/// Writes repeated blocks out and names the layers.
fn expand(items: &[Item], fields: &mut Fields<'_, '_, '_>) -> Option<Vec<Layer>> {
    let n_layers = count(items);
    if n_layers > Network::MAX_LAYERS {
        let message = ModelError::TooManyLayers { found: n_layers }.to_string();
        fields.problem(Problem::new(fields.span_of("layers"), message));
        return None;
    }
    if let Some(span) = repeated_name(items, false) {
        fields.problem(Problem::new(span, "a layer that is repeated cannot have a name"));
        return None;
    }
    let mut layers = Vec::with_capacity(n_layers);
    append(items, &mut layers, &mut [0; LABELS.len()]);
    Some(layers)
}

fn count(items: &[Item]) -> usize {
    let counts = items.iter().map(|item| match item {
        Item::Layer { .. } => 1,
        Item::Repeat { times, items } => count(items).saturating_mul(*times as usize),
    });
    counts.fold(0, usize::saturating_add)
}

fn repeated_name(items: &[Item], repeated: bool) -> Option<Range<usize>> {
    items.iter().find_map(|item| match item {
        Item::Layer { name, .. } => {
            name.as_ref().filter(|_| repeated).map(|name| name.span.clone())
        }
        Item::Repeat { times, items } => repeated_name(items, repeated || *times > 1),
    })
}

fn append(items: &[Item], layers: &mut Vec<Layer>, counts: &mut [u32; LABELS.len()]) {
    for item in items {
        match item {
            Item::Repeat { times, items } => {
                (0..*times).for_each(|_| append(items, layers, counts));
            }
            Item::Layer { label, name, shape } => {
                counts[*label] += 1;
                let numbered = || format!("{}{}", LABELS[*label].0, counts[*label]).into();
                let name = name.as_ref().map_or_else(numbered, |name| name.value.clone());
                layers.push(Layer { name, shape: *shape });
            }
        }
    }
}
