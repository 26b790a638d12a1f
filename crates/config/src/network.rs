//! `network:` files: layers of a network, its task and its quality goal.

mod expression;
mod operator;
mod parameters;
mod shapes;
mod traced;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use xrsim_model::model::{
    Bits, Connections, Layer, ModelError, Network, Operator, Parameter, Source, View,
};
use xrsim_model::scenario::{QualityDirection, QualityGoal};

use super::yaml::read::{
    At, Problems, at, at_most, flag, list, number, one_of, proper_name, quantity, text,
};
use super::yaml::{Fields, Node, Value};
use super::{ParameterValues, Problem};
use traced::Traced;

pub(super) use parameters::MAX_PARAMETERS;

pub(super) use operator::{Class, labels, usual_operations};

/// A network with its task and quality goal (XRBench Table 1).
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
    /// Parameters that no layer has as weights: biases, and scales and shifts of normalisations.
    pub other_parameters: u64,
    /// Channels whose batch normalisation folds into the layer before: of its two parameters for a
    /// channel a bias remains.
    pub batch_norm_channels: u64,
    /// Size that was published, if any was found for this input and head; none with other values of
    /// parameters than the defaults.
    pub published: Option<Published>,
    /// Comparison with executed code, if there was one; none with other values of parameters than the defaults.
    pub traced: Option<Traced>,
    /// Statements: deviations from the published network, unconfirmed points, and choices that XRBench
    /// leaves open, with the alternatives.
    pub deviations: Vec<Box<str>>,
}

/// Published size of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Parameters.
    pub parameters: Option<u64>,
    /// Multiply-accumulates.
    pub macs: Option<u64>,
    /// Source of the numbers.
    pub source: Box<str>,
}

impl Model {
    /// A network of which nothing else is known.
    pub fn bare(network: Arc<Network>) -> Self {
        Self {
            task: network.name().into(),
            title: "".into(),
            network,
            dataset: "".into(),
            quality: QualityGoal::default(),
            inputs: Vec::new(),
            other_parameters: 0,
            batch_norm_channels: 0,
            published: None,
            traced: None,
            deviations: Vec::new(),
        }
    }
}

/// Most repetitions of a block.
pub(super) const MAX_REPEAT: u32 = 10_000;

/// Most sources of a layer.
pub(super) const MAX_SOURCES: usize = 1_000;

/// Reads the body of a `network:` file; parameters that `values` has not have their defaults.
pub(super) fn read(
    values: &ParameterValues,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<Model> {
    let mut fields = Fields::of(node, "a network", problems)?;
    let name = fields.required("name", proper_name);
    let task = fields.optional("task", proper_name);
    let title = fields.optional("title", text).unwrap_or_default();
    let dataset = fields.optional("dataset", text).unwrap_or_default();
    let quality = fields.optional("quality", quality).unwrap_or_default();
    let inputs = fields.optional("inputs", list("sensors", text)).unwrap_or_default();
    let other_parameters = fields.or("other_parameters", Some(0), number(0..=Operator::MAX_MACS));
    let batch_norm_channels =
        fields.or("batch_norm_channels", Some(0), number(0..=Operator::MAX_MACS));
    let published = fields.optional("published", published);
    let traced = fields.optional("traced", traced::read);
    let deviations = fields.optional("deviations", list("statements", text)).unwrap_or_default();
    let connections =
        fields.or("connections", Some(Connections::default()), one_of(&Connections::ALL));
    let parameters =
        fields.optional("parameters", |node, problems| parameters::read(values, node, problems));
    // Without its parameters, every expression of a network would be a problem.
    let are_wrong = parameters.is_none() && fields.given("parameters");
    let parameters = parameters.unwrap_or_default();
    let bits = fields.or("bits", Some(Bits::default()), bits);
    let items = fields.required("layers", |node, problems| match &parameters[..] {
        [] if are_wrong => None,
        [] => list("layers", item)(node, problems),
        all => list("layers", item)(&parameters::substituted(all, node, problems)?, problems),
    });
    let expansion =
        items.as_ref().zip(bits).and_then(|(items, bits)| expand(items, bits, &mut fields));
    fields.finish();
    let (name, Expansion { layers, entries, .. }) = (name?, expansion?);
    let task = task.unwrap_or_else(|| name.clone());
    let is_default = parameters.iter().all(Parameter::is_default);
    let network = match Network::new(name_with(name, &parameters), layers) {
        Ok(network) => network.connected(connections?).with_parameters(parameters),
        Err(error) => {
            problems.push(Problem::new(node.span.clone(), error.to_string()));
            return None;
        }
    };
    let traced = traced.map(|traced| traced.of(&network, problems));
    shapes::check(&network, node, &entries, items.as_deref()?, problems);
    Some(Model {
        task,
        title,
        network: Arc::new(network),
        dataset,
        quality,
        inputs,
        other_parameters: other_parameters?,
        batch_norm_channels: batch_norm_channels?,
        published: published.filter(|_| is_default),
        traced: traced.filter(|_| is_default),
        deviations,
    })
}

/// Name of a network with the parameters that are not at their defaults, in the order of the file.
fn name_with(name: Box<str>, parameters: &[Parameter]) -> Box<str> {
    let changed = parameters.iter().filter(|it| !it.is_default());
    let values: Vec<_> = changed.map(|it| format!("{}={}", it.name, it.value)).collect();
    if values.is_empty() { name } else { format!("{name}:{}", values.join(",")).into() }
}

fn published(node: &Node<'_>, problems: &mut Problems) -> Option<Published> {
    let mut fields = Fields::of(node, "what was published", problems)?;
    let count = || number(1..=Operator::MAX_MACS);
    let parameters = fields.optional("parameters", count());
    let macs = fields.optional("macs", count());
    let source = fields.required("source", text);
    fields.finish();
    Some(Published { parameters, macs, source: source? })
}

/// Words of `better`.
pub(super) const DIRECTIONS: [(&str, QualityDirection); 2] =
    [("higher", QualityDirection::Higher), ("lower", QualityDirection::Lower)];

/// Word for a direction of quality.
pub(super) fn direction(direction: QualityDirection) -> &'static str {
    DIRECTIONS.iter().find(|(_, known)| *known == direction).map_or("", |(word, _)| word)
}

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
    Layer(Box<Entry>),
    Repeat { times: u32, items: Vec<Item> },
}

/// A layer as it is written; it may stand for many.
struct Entry {
    /// First byte of its extents, by which it is known in the file.
    start: usize,
    /// By which layers without a name are called, with the running count of it in the network.
    label: &'static str,
    /// The layer; its name is empty if it has none in the file.
    layer: Layer,
    /// Place of its name, if it has one.
    name: Option<Range<usize>>,
    /// Place of its sources; `None` if it reads the layer before.
    sources: Option<Range<usize>>,
}

fn item(node: &Node<'_>, problems: &mut Problems) -> Option<Item> {
    if let Value::List(_) = node.value {
        let items = list("layers", item)(node, problems)?;
        return Some(Item::Repeat { times: 1, items });
    }
    let mut fields = Fields::of(node, "a layer", problems)?;
    if fields.given("repeat") {
        let times = fields.required("repeat", number(1..=MAX_REPEAT));
        let items = fields.required("layers", list("layers", item));
        fields.finish();
        return Some(Item::Repeat { times: times?, items: items? });
    }
    let Some((label, class)) = labels().find(|(label, _)| fields.given(label)) else {
        let labels: Vec<_> = labels().map(|(label, _)| label).collect();
        let problem = Problem::new(node.span.clone(), "an entry of `layers` needs an operator");
        let help = format!("one of {}; or `repeat` with `layers`", labels.join(", "));
        fields.problem(problem.help(help));
        return None;
    };
    let entry = fields.required(label, |node, problems| entry(label, class, node, problems));
    fields.finish();
    entry.map(|entry| Item::Layer(Box::new(entry)))
}

fn entry(
    label: &'static str,
    class: Class,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<Entry> {
    let mut fields = Fields::of(node, "a layer", problems)?;
    let name = fields.optional("name", at(proper_name));
    let sources = fields.optional("from", at(sources));
    let shares_weights = fields.optional("shared", flag).unwrap_or(false);
    let n_sources = sources.as_ref().map_or(1, |sources| sources.value.len());
    let own_bits =
        fields.optional("bits", at(bits)).unwrap_or(At { span: 0..0, value: Bits::default() });
    let views = fields.optional("reads", at(views)).unwrap_or(At { span: 0..0, value: vec![] });
    let views = views_of(n_sources, views, &mut fields);
    let operator = operator::read(class, n_sources, node, &mut fields);
    fields.finish();
    let (operator, form) = operator?;
    let bits = own_bits.value;
    if bits.of(&operator) != bits {
        let message = format!("`{label}` has no weights");
        let help = "`activations` are the bits of all that it reads and writes";
        problems.push(Problem::new(own_bits.span, message).help(help));
        return None;
    }
    let (name_span, name) = name.map_or((None, "".into()), |it| (Some(it.span), it.value));
    let mut layer =
        Layer { form, views: views?, shares_weights, bits, ..Layer::new(name, operator) };
    let sources = sources.map(|it| {
        layer.sources = it.value;
        it.span
    });
    let start = node.span.start;
    Some(Entry { start, label, layer, name: name_span, sources })
}

/// Reads the bits of an element of weights and of activations.
fn bits(node: &Node<'_>, problems: &mut Problems) -> Option<Bits> {
    let mut fields = Fields::of(node, "the bits of a layer", problems)?;
    let width = || number(1..=Bits::MAX);
    let weights = fields.optional("weights", width());
    let activations = fields.optional("activations", width());
    fields.finish();
    Some(Bits { weights, activations })
}

/// Reads one view or a list of them.
fn views(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<View>> {
    match &node.value {
        Value::List(_) => list("views", one_of(&View::ALL))(node, problems),
        _ => one_of(&View::ALL)(node, problems).map(|view| vec![view]),
    }
}

/// Views of `n_sources` sources: one for each, or one for all.
fn views_of(
    n_sources: usize,
    views: At<Vec<View>>,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<Vec<View>> {
    match views.value[..] {
        [] => Some(Vec::new()),
        [one] => Some(vec![one; n_sources]),
        _ if views.value.len() == n_sources => Some(views.value),
        _ => {
            let found = views.value.len();
            let message = format!("{found} views of {n_sources} sources");
            let problem = Problem::new(views.span, message);
            fields.problem(problem.help("give one for each source, or one for all"));
            None
        }
    }
}

/// Reads one source or a list of them.
fn sources(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<Source>> {
    match &node.value {
        Value::List(_) => at_most(MAX_SOURCES, list("sources", source))(node, problems),
        _ => source(node, problems).map(|source| vec![source]),
    }
}

/// Reads how many layers back a source is; 0 is outside of the network.
fn source(node: &Node<'_>, problems: &mut Problems) -> Option<Source> {
    let back = number(0..=Network::MAX_LAYERS as u32)(node, problems)?;
    Some(if back == 0 { Source::Outside } else { Source::Back(back) })
}

/// Writes repeated blocks out and names the layers. Those that leave `bits` open have these.
fn expand<'i>(
    items: &'i [Item],
    bits: Bits,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<Expansion<'i>> {
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
    let mut expansion = Expansion { bits, ..Expansion::default() };
    expansion.append(items);
    match expansion.problem.take() {
        Some(problem) => {
            fields.problem(problem);
            None
        }
        None => Some(expansion),
    }
}

fn count(items: &[Item]) -> usize {
    let counts = items.iter().map(|item| match item {
        Item::Layer(_) => 1,
        Item::Repeat { times, items } => count(items).saturating_mul(*times as usize),
    });
    counts.fold(0, usize::saturating_add)
}

fn repeated_name(items: &[Item], repeated: bool) -> Option<Range<usize>> {
    items.iter().find_map(|item| match item {
        Item::Layer(entry) => entry.name.clone().filter(|_| repeated),
        Item::Repeat { times, items } => repeated_name(items, repeated || *times > 1),
    })
}

/// Layers written out so far.
#[derive(Default)]
struct Expansion<'i> {
    layers: Vec<Layer>,
    /// The entry of each.
    entries: Vec<&'i Entry>,
    /// Widths of layers that have none of their own.
    bits: Bits,
    /// How often each label was used.
    counts: HashMap<&'static str, u32>,
    /// The first source that is not there.
    problem: Option<Problem>,
}

impl<'i> Expansion<'i> {
    fn append(&mut self, items: &'i [Item]) {
        for item in items {
            match item {
                Item::Repeat { times, items } => (0..*times).for_each(|_| self.append(items)),
                Item::Layer(entry) => self.push(entry),
            }
        }
    }

    fn push(&mut self, entry: &'i Entry) {
        let count = self.counts.entry(entry.label).or_default();
        *count += 1;
        let mut layer = entry.layer.clone();
        layer.bits = layer.bits.or(self.bits).of(&layer.operator);
        if entry.name.is_none() {
            layer.name = format!("{}{count}", entry.label).into();
        }
        if let Some(span) = &entry.sources {
            self.check(&layer.sources, span);
        }
        self.layers.push(layer);
        self.entries.push(entry);
    }

    /// Whether the next layer can have these sources, which the file gives at `span`.
    fn check(&mut self, sources: &[Source], span: &Range<usize>) {
        let layer = self.layers.len();
        for source in sources {
            if let &Source::Back(back) = source
                && back as usize > layer
            {
                let message = ModelError::Source { layer, back }.to_string();
                self.problem.get_or_insert_with(|| Problem::new(span.clone(), message));
            }
        }
    }
}
