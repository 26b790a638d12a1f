//! Networks as YAML text.

use std::collections::{BTreeMap, HashMap};

use serde::{Serialize, Serializer};
use serde_saphyr::{FlowMap, FlowSeq};

use crate::config::network::{Class, labels, usual_operations};
use crate::model::{
    ConvKind, ConvShape, Layer, MatmulShape, Network, Operator, Padding, Source, VectorShape,
};

use super::document;
use super::repeats::{self, Part};

/// The `network:` file of `network`, repeated blocks written once. Name, operator and sources of
/// every layer are kept; a vector operator is written with its sizes.
pub fn network(network: &Network) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        name: &'a str,
        layers: Vec<Entry<'a>>,
    }
    let labelled = labelled(network.layers());
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
    let layers = entries(&labelled, &repeats::find(&numbers));
    document("network", Body { name: network.name(), layers })
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
    shares_weights: bool,
}

fn labelled(layers: &[Layer]) -> Vec<Labelled<'_>> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let one = |(index, layer)| {
        let (label, class, explained) = label(layer, &counts);
        *counts.entry(label).or_default() += 1;
        let name = (!explained).then_some(&*layer.name);
        let usual = if index == 0 { Source::Outside } else { Source::Back(1) };
        let sources = if layer.sources == [usual] { &[] } else { &*layer.sources };
        let &Layer { operator, shares_weights, .. } = layer;
        Labelled { label, class, name, operator, sources, shares_weights }
    };
    layers.iter().enumerate().map(one).collect()
}

/// A label of `layer`, and whether it explains its name after so many layers of each label.
fn label(layer: &Layer, counts: &HashMap<&str, u32>) -> (&'static str, Class, bool) {
    let candidates = || labels().filter(|(_, class)| class.can_say(&layer.operator));
    let explains = |label: &str| {
        let number = counts.get(label).map_or(1, |count| count + 1);
        *layer.name == *format!("{label}{number}")
    };
    let explaining = candidates().find(|(label, _)| explains(label));
    let (label, class) =
        explaining.or_else(|| candidates().next()).expect("every operator has a label");
    (label, class, explaining.is_some())
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
        Operator::Vector(shape) => vector(&mut keys, shape),
    }
    if !layer.sources.is_empty() {
        keys.numbers("from", layer.sources.iter().map(back).collect());
    }
    keys.flag("shared", layer.shares_weights);
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

fn vector(keys: &mut Keys<'_>, shape: &VectorShape) {
    let &VectorShape { op, inputs, outputs, operations } = shape;
    keys.number("inputs", inputs);
    keys.number("outputs", outputs);
    if operations != usual_operations(op, inputs, outputs) {
        keys.number("operations", operations);
    }
}
