//! Cases as text.

use std::sync::Arc;

use crate::fact::{Element, Fact, Number};
use crate::graph::{Attribute, Node, Tensor};
use crate::layers;
use crate::rules::{Call, Fault, infer};

const TYPES: [(char, Element); 8] = [
    ('f', Element::FLOAT),
    ('u', Element::UINT8),
    ('c', Element(3)),
    ('n', Element::INT32),
    ('i', Element::INT64),
    ('b', Element::BOOL),
    ('h', Element(10)),
    ('d', Element(11)),
];

/// An operator and what it reads.
pub(super) struct Case {
    pub(super) node: Node,
    pub(super) opset: i64,
    pub(super) inputs: Vec<Option<Arc<Fact>>>,
    pub(super) bound: Option<u64>,
}

impl Case {
    /// Reads `OPERATOR OPSET NAME=VALUE... : INPUT...`, with as many outputs.
    pub(super) fn new(text: &str, outputs: usize) -> Self {
        let (head, inputs) = text.split_once(" :").expect("a case has inputs");
        let mut words = words(head).into_iter();
        let name = words.next().expect("an operator");
        let (domain, operator) = name.rsplit_once('.').unwrap_or(("", &name));
        let opset = words.next().expect("an opset").parse().expect("a number");
        let node = Node {
            domain: domain.into(),
            operator: operator.into(),
            outputs: (0..outputs).map(|index| format!("y{index}").into()).collect(),
            attributes: words.map(|word| attribute(&word)).collect(),
            ..Node::default()
        };
        let inputs =
            inputs.split_whitespace().map(|word| (word != "_").then(|| Arc::new(fact(word))));
        Self { node, opset, inputs: inputs.collect(), bound: None }
    }

    pub(super) fn call(&self) -> Call<'_> {
        let Self { node, opset, inputs, bound } = self;
        Call { node, opset: *opset, inputs, bound: *bound }
    }

    pub(super) fn infer(&self) -> Result<Vec<Fact>, Fault> {
        let operator = layers::find(&self.node).ok_or(Fault::Unsupported)?;
        infer(operator.rule, &self.call())
    }
}

/// Words between blanks; text in quotes is one word.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in text.chars() {
        quoted ^= letter == '"';
        match letter {
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("never empty").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn attribute(word: &str) -> (Box<str>, Attribute) {
    let (name, value) = word.split_once('=').expect("an attribute has a value");
    let value = if let Some(text) = value.strip_prefix('"') {
        Attribute::Text(text.trim_end_matches('"').into())
    } else if let Some(tensor) = value.strip_prefix('{') {
        let fact = fact(tensor.trim_end_matches('}'));
        Attribute::Tensor(Tensor {
            name: "".into(),
            element: fact.element,
            dims: fact.shape.iter().map(|&extent| extent as i64).collect(),
            elements: fact.elements.map(|elements| (*elements).clone()),
            external: None,
        })
    } else if let Some(list) = value.strip_prefix('[') {
        let items: Vec<&str> =
            list.trim_end_matches(']').split(',').filter(|item| !item.is_empty()).collect();
        match items.iter().map(|item| item.parse()).collect() {
            Ok(ints) => Attribute::Ints(ints),
            Err(_) => Attribute::Floats(items.iter().map(|item| item.parse().unwrap()).collect()),
        }
    } else {
        match value.parse() {
            Ok(int) => Attribute::Int(int),
            Err(_) => Attribute::Float(value.parse().expect("a number")),
        }
    };
    (name.into(), value)
}

/// A fact such as `f1x3x8x8` or `i2=[3,4]`.
pub(super) fn fact(word: &str) -> Fact {
    let (shape, elements) = match word.split_once('=') {
        Some((shape, elements)) => (shape, Some(elements)),
        None => (word, None),
    };
    let letter = shape.chars().next().expect("a type");
    let (_, element) = TYPES.iter().find(|(own, _)| *own == letter).expect("a known type");
    let extents = shape[1..].split('x').filter(|extent| !extent.is_empty());
    let elements = elements.map(|list| {
        let items = list.trim_matches(['[', ']']).split(',').filter(|item| !item.is_empty());
        let number = |item: &str| match element.is_integer() {
            true => Number::Int(item.parse().expect("an integer")),
            false => Number::Float(item.parse().expect("a number")),
        };
        items.map(number).collect::<Vec<_>>()
    });
    Fact {
        element: *element,
        shape: extents.map(|extent| extent.parse().expect("an extent")).collect(),
        is_constant: elements.is_some(),
        elements: elements.map(Arc::new),
    }
}
