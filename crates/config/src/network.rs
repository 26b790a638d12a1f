//! `network:` files: layers of a network, its task and its quality goal.

mod expression;
mod operator;
mod parameters;
mod quality;
mod shapes;
mod traced;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::json;

use xrsim_model::model::{
    Bits, Connections, Layer, ModelError, Network, Operator, Parameter, Source, View,
};
use xrsim_model::scenario::QualityGoal;

use super::form::{self, Form, Key};
use super::yaml::keys::{keys, mapping};
use super::yaml::read::{At, Problems};
use super::yaml::values::{
    Reader, at, at_most, flag, list, number, one_of, one_or_list, proper_name, text, value,
};
use super::yaml::{Fields, Node, Value};
use super::{ParameterValues, Problem};
use quality::quality;
use traced::Traced;

pub(super) use operator::{Class, labels, usual_operations};
pub(super) use quality::direction;

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

/// Most sources of a layer.
const MAX_SOURCES: usize = 1_000;

/// Body of a `network:` file; parameters that `values` has not have their defaults.
pub(super) fn network(values: &ParameterValues) -> impl Reader<Value = Model> {
    raw_network(values).then(|raw, node, problems| raw.check(node, problems))
}

/// A `network:` file whose layers are written out.
struct RawNetwork {
    head: Head,
    parameters: Vec<Parameter>,
    /// `None` for a network that was measured as a whole.
    layers: Option<(Vec<Item>, Expansion)>,
    /// Places of extents that are 0.
    zeros: Vec<usize>,
}

keys! {
    fn head() -> struct Head: "a network" {
        /// Name of the network.
        name: Box<str> = required(proper_name());
        /// Short name, by which scenarios and reports call it. Without it, `name`.
        task: Option<Box<str>> = optional(proper_name());
        /// Task in words.
        title: Box<str> = or_default(text());
        /// Data set of the quality goal.
        dataset: Box<str> = or_default(text());
        quality: QualityGoal = or_default(quality());
        /// Sensors that it reads, the primary one first. Without it, frames arrive at their nominal time.
        inputs: Vec<Box<str>> = or_default(list("sensors", text().says("Name of a sensor."))
            .allowed("a list of names of sensors"));
        /// Learned parameters that no layer has as weights, such as biases, scales and shifts.
        other_parameters: u64 = or(0, number(0..=Operator::MAX_MACS));
        /// Channels whose batch normalisation folds into the layer before.
        batch_norm_channels: u64 = or(0, number(0..=Operator::MAX_MACS));
        published: Option<Published> = optional(published());
        traced: Option<traced::Draft> = optional(traced::traced());
        /// Deviations from the published network, unconfirmed points, and choices.
        deviations: Vec<Box<str>> = or_default(statements());
        /// Whether all operators and edges between layers are here. With `incomplete`, shapes between layers are not
        /// checked.
        connections: Connections = or("complete", one_of(&Connections::ALL));
    }
}

/// A list of statements.
pub(super) fn statements() -> impl Reader<Value = Vec<Box<str>>> {
    list("statements", text().says("A statement.")).allowed("a list of statements")
}

fn raw_network(values: &ParameterValues) -> impl Reader<Value = RawNetwork> {
    let read = move |fields: &mut Fields<'_, '_, '_>| {
        let head = head().among(fields);
        let parameters = fields.optional("parameters", parameters::declarations(values));
        let counts = fields.optional("counts", parameters::counts(values));
        // Without its parameters, every expression of a network would be a problem.
        let are_wrong = parameters.is_none() && fields.given("parameters")
            || counts.is_none() && fields.given("counts");
        let (parameters, counts) = (parameters.unwrap_or_default(), counts.unwrap_or_default());
        let parameters = parameters::joined(parameters, counts, fields).filter(|_| !are_wrong);
        let (mut zeros, mut without_counts) = (Vec::new(), Vec::new());
        let bits = bits(false)
            .shaped(|form| form.remark("They hold for layers that have none of their own."));
        let bits = fields.or_default("bits", bits);
        let places = RefCell::new((&mut zeros, &mut without_counts));
        let read = |node: &Node<'_>, problems: &mut Problems| match &parameters.as_ref()?[..] {
            [] => list("layers", item).read(node, problems),
            all => {
                let (substituted, zeros) = parameters::substituted(all, node, problems)?;
                let (places, without_counts) = &mut *places.borrow_mut();
                **places = zeros;
                **without_counts = parameters::zeros_without_counts(all, node);
                list("layers", item).read(&substituted, problems)
            }
        };
        let about = "Layers in the order of execution.";
        let items =
            fields.about(about).needed_without("layers", "measured", value(read, layers_form));
        let about = "Whether it was measured as a whole, and has costs in a table alone. It has no layers, and is not \
                     preempted.";
        let measured = fields.about(about).optional("measured", flag());
        let is_measured = measured == Some(true);
        if is_measured && fields.given("layers") {
            let problem =
                Problem::new(fields.span_of("layers"), "a measured network has no layers");
            fields.problem(problem.help("leave out `measured`, or `layers`"));
            return None;
        }
        let layers = match items? {
            Some(items) => {
                let expansion = expand(&items, bits?, fields)?;
                if are_all_absent(&expansion.entries, &without_counts) {
                    let message = "without anything that is counted, no layer is left";
                    fields.problem(Problem::new(fields.span_of("counts"), message));
                }
                Some((items, expansion))
            }
            None if is_measured => None,
            None => {
                let problem = Problem::new(fields.span(), "a network has layers, or is measured");
                fields.problem(problem.help("`layers`, or `measured: true`"));
                return None;
            }
        };
        Some(RawNetwork { head: head?, parameters: parameters?, layers, zeros })
    };
    let about = "Network: layers in the order of execution, its task and its quality goal.";
    mapping("a network", read).about(about).shaped(|form| {
        form.with("oneOf", json!([{"required": ["layers"]}, {"required": ["measured"]}]))
    })
}

impl RawNetwork {
    fn check(self, node: &Node<'_>, problems: &mut Problems) -> Option<Model> {
        let Self { head, parameters, layers, zeros } = self;
        let task = head.task.unwrap_or_else(|| head.name.clone());
        let is_default = parameters.iter().all(Parameter::is_default);
        let name = name_with(head.name, &parameters);
        let Some((items, expansion)) = layers else {
            return Some(Model {
                task,
                title: head.title,
                dataset: head.dataset,
                quality: head.quality,
                inputs: head.inputs,
                deviations: head.deviations,
                ..Model::bare(Arc::new(Network::measured(name)))
            });
        };
        let absent = absent(&expansion.entries, &zeros);
        if are_all_absent(&expansion.entries, &zeros) {
            problems.push(Problem::new(node.span.clone(), "a count of 0 leaves no layer"));
            return None;
        }
        let network = match Network::new(name, expansion.layers) {
            Ok(network) => network.connected(head.connections).with_parameters(parameters),
            Err(error) => {
                problems.push(Problem::new(node.span.clone(), error.to_string()));
                return None;
            }
        };
        let traced = head.traced.map(|traced| traced.of(&network, problems));
        // Layers without work have the extents of a count of 1, which need not fit to those of 0 around them.
        if absent.is_empty() {
            shapes::check(&network, node, &expansion.entries, &items, problems);
        }
        let network = network.with_absent(absent);
        Some(Model {
            task,
            title: head.title,
            network: Arc::new(network),
            dataset: head.dataset,
            quality: head.quality,
            inputs: head.inputs,
            other_parameters: head.other_parameters,
            batch_norm_channels: head.batch_norm_channels,
            published: head.published.filter(|_| is_default),
            traced: traced.filter(|_| is_default),
            deviations: head.deviations,
        })
    }
}

/// Layers of which an extent is among the places `zeros`.
fn absent(entries: &[Rc<Entry>], zeros: &[usize]) -> Vec<u32> {
    if zeros.is_empty() {
        return Vec::new();
    }
    let mut starts: Vec<_> = entries.iter().map(|entry| entry.start).collect();
    starts.sort_unstable();
    let start_of = |zero: &usize| starts[..starts.partition_point(|it| it <= zero)].last().copied();
    let with_zero: HashSet<_> = zeros.iter().filter_map(start_of).collect();
    let layers = (0..).zip(entries).filter(|(_, entry)| with_zero.contains(&entry.start));
    layers.map(|(index, _)| index).collect()
}

/// Whether each layer has an extent among the places `zeros`.
fn are_all_absent(entries: &[Rc<Entry>], zeros: &[usize]) -> bool {
    !zeros.is_empty() && absent(entries, zeros).len() == entries.len()
}

/// Name of a network with the parameters that are not at their defaults, in the order of the file.
fn name_with(name: Box<str>, parameters: &[Parameter]) -> Box<str> {
    let changed = parameters.iter().filter(|it| !it.is_default());
    let values: Vec<_> = changed.map(|it| format!("{}={}", it.name, it.value)).collect();
    if values.is_empty() { name } else { format!("{name}:{}", values.join(",")).into() }
}

keys! {
    /// Size that was published for this input and head.
    fn published() -> Published: "what was published" {
        /// Learned parameters.
        parameters = optional(number(1..=Operator::MAX_MACS));
        /// Multiply-accumulates.
        macs = optional(number(1..=Operator::MAX_MACS));
        /// Source of the numbers.
        source = required(text());
    }
}

/// One entry of a list of layers.
enum Item {
    Layer(Rc<Entry>),
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

/// Schema of a list of layers, repeated blocks and lists of such.
fn layers_form() -> Form {
    form::list(Form::new(json!({"$ref": format!("#/definitions/{LAYER}")}), ""))
}

/// Name of the definition of an entry of `layers` in schemas.
pub(super) const LAYER: &str = "layer";

/// Schema of an entry of `layers`.
pub(super) fn layer_form() -> Form {
    let operator = |(label, class, about): (&'static str, Class, &'static str)| {
        let variants = operator::variants(class).iter();
        let forms = variants.map(|is_sized| entry(label, class, Some(*is_sized)).form());
        Key::new(label, form::any_of(forms).says(about), false)
    };
    let operators = form::object(labels().map(operator));
    let operators = operators.with("minProperties", 1).with("maxProperties", 1);
    form::any_of([operators, block().form(), layers_form().allowed("")]).says(
        "A layer: an operator with its extents, a block with `repeat` and `layers`, or a list of layers",
    )
}

keys! {
    fn block() -> struct Block: "a layer" {
        /// Number of times that the block is repeated.
        repeat: u32 = required(expression(number(1..=Network::MAX_LAYERS as u32)));
        /// Layers of the block.
        layers: Vec<Item> = required(list("layers", item).shaped(|_| layers_form()));
    }
}

fn item(node: &Node<'_>, problems: &mut Problems) -> Option<Item> {
    if let Value::List(_) = node.value {
        let items = list("layers", item).read(node, problems)?;
        return Some(Item::Repeat { times: 1, items });
    }
    let mut fields = Fields::from_mapping(node, "a layer", problems)?;
    if fields.given("repeat") {
        let block = block().among(&mut fields);
        fields.finish();
        return block.map(|it| Item::Repeat { times: it.repeat, items: it.layers });
    }
    let Some((label, class, _)) = labels().find(|(label, ..)| fields.given(label)) else {
        let labels: Vec<_> = labels().map(|(label, ..)| label).collect();
        let problem = Problem::new(node.span.clone(), "an entry of `layers` needs an operator");
        let help = format!("one of {}; or `repeat` with `layers`", labels.join(", "));
        fields.problem(problem.help(help));
        return None;
    };
    let entry = fields.required(label, entry(label, class, None));
    fields.finish();
    entry.map(|entry| Item::Layer(Rc::new(entry)))
}

keys! {
    /// Keys of every layer.
    fn common() -> struct Common: "a layer" {
        /// Name of the layer in reports. Without it, the operator and its running number, such as `conv2`.
        name: Option<At<Box<str>>> = optional(at(proper_name()));
        /// How many layers back its inputs come from. 0 is outside of the network.
        from: Option<At<Vec<Source>>> = optional(at(sources()).with_default(1));
        /// Whether its weights are those of a layer before, or fixed.
        shared: bool = or(false, flag());
        bits: Option<At<Bits>> = optional(at(bits(true)));
        /// How it reads its sources, where their shapes alone do not tell.
        reads: Option<At<Vec<View>>> = optional(at(views()).with_default("whole"));
    }
}

/// An operator with its extents. `is_sized` chooses the variant where there is no file.
fn entry(label: &'static str, class: Class, is_sized: Option<bool>) -> impl Reader<Value = Entry> {
    mapping("a layer", move |fields| {
        let common = common().among(fields)?;
        let n_sources = common.from.as_ref().map_or(1, |sources| sources.value.len());
        let views = views_of(n_sources, common.reads, fields);
        let is_sized = is_sized.unwrap_or_else(|| fields.given("outputs"));
        let (operator, form) = operator::read(class, is_sized, n_sources, fields)?;
        let bits = common.bits.unwrap_or(At { span: 0..0, value: Bits::default() });
        if bits.value.of(&operator) != bits.value {
            let message = format!("`{label}` has no weights");
            let help = "`activations` are the bits of all that it reads and writes";
            fields.problem(Problem::new(bits.span, message).help(help));
            return None;
        }
        let (name_span, name) =
            common.name.map_or((None, "".into()), |it| (Some(it.span), it.value));
        let mut layer = Layer {
            form,
            views: views?,
            shares_weights: common.shared,
            bits: bits.value,
            ..Layer::new(name, operator)
        };
        let sources = common.from.map(|it| {
            layer.sources = it.value;
            it.span
        });
        Some(Entry { start: fields.span().start, label, layer, name: name_span, sources })
    })
}

keys! {
    /// Widths of the data of a layer, in place of those of the hardware.
    fn bits(is_of_layer: bool) -> Bits: "the bits of a layer" {
        /// Width of weights \[bit\].
        weights = optional(width(is_of_layer));
        /// Width of inputs and outputs \[bit\].
        activations = optional(width(is_of_layer));
    }
}

/// A width \[bit\], which a layer may give as an expression.
fn width(is_of_layer: bool) -> impl Reader<Value = u32> {
    number(1..=Bits::MAX).shaped(move |form| if is_of_layer { expression_form(form) } else { form })
}

/// One view or a list of them.
fn views() -> impl Reader<Value = Vec<View>> {
    let view = || one_of(&View::ALL);
    one_or_list(view(), list("views", view()).allowed("a list of such"))
}

/// Views of `n_sources` sources: one for each, or one for all.
fn views_of(
    n_sources: usize,
    views: Option<At<Vec<View>>>,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<Vec<View>> {
    let Some(views) = views else { return Some(Vec::new()) };
    match views.value[..] {
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

/// One source or a list of them.
fn sources() -> impl Reader<Value = Vec<Source>> {
    let sources = at_most(MAX_SOURCES, list("sources", source()));
    one_or_list(source(), sources.allowed("a list of such"))
}

/// How many layers back a source is; 0 is outside of the network.
fn source() -> impl Reader<Value = Source> {
    let source = |back, _: &Node<'_>, _: &mut Problems| {
        Some(if back == 0 { Source::Outside } else { Source::Back(back) })
    };
    expression(number(0..=Network::MAX_LAYERS as u32)).then(source)
}

/// A number for which the file may have an expression of the parameters of the network. Its value stands there when the
/// number is read.
fn expression<T>(number: impl Reader<Value = T>) -> impl Reader<Value = T> {
    number.shaped(expression_form)
}

fn expression_form(number: Form) -> Form {
    number
        .with("type", json!(["integer", "string"]))
        .with("pattern", "^[A-Za-z0-9_+*/() -]*[A-Za-z_+*/(][A-Za-z0-9_+*/() -]*$")
        .allowed_with(", or an expression of parameters")
}

/// Writes repeated blocks out and names the layers. Those that leave `bits` open have these.
fn expand(items: &[Item], bits: Bits, fields: &mut Fields<'_, '_, '_>) -> Option<Expansion> {
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
struct Expansion {
    layers: Vec<Layer>,
    /// The entry of each.
    entries: Vec<Rc<Entry>>,
    /// Widths of layers that have none of their own.
    bits: Bits,
    /// How often each label was used.
    counts: HashMap<&'static str, u32>,
    /// The first source that is not there.
    problem: Option<Problem>,
}

impl Expansion {
    fn append(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Repeat { times, items } => (0..*times).for_each(|_| self.append(items)),
                Item::Layer(entry) => self.push(entry),
            }
        }
    }

    fn push(&mut self, entry: &Rc<Entry>) {
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
        self.entries.push(Rc::clone(entry));
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
