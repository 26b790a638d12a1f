//! Graphs with their nodes, and attributes of nodes, which can be graphs.

use std::collections::{HashMap, HashSet};

use xrsim_model::text::in_line;

use super::super::graph::{Attribute, Graph, Node, Tensor};
use super::Error;
use super::ports::port;
use super::tensor::{RawTensor, sparse_tensor, tensor};
use super::wire::{MAX_NAME, Value, Wire};

/// Reads a `GraphProto`.
pub(super) fn graph(
    wire: &mut Wire<'_>,
    end: u64,
    graph: &mut Graph,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    wire.deeper(|wire| {
        wire.fields(end, |wire, number, value| {
            let Value::Until(end) = value else { return Ok(()) };
            match number {
                1 => wire.append(end, &mut graph.nodes, |wire, end| node(wire, end, warnings)),
                2 => {
                    graph.name = wire.name(end)?;
                    Ok(())
                }
                5 => wire.append(end, &mut graph.initializers, tensor),
                11 => wire.append(end, &mut graph.inputs, port),
                12 => wire.append(end, &mut graph.outputs, port),
                13 => wire.append(end, &mut graph.stated, port),
                15 => {
                    let tensor = sparse_tensor(wire, end)?;
                    let name = &tensor.name;
                    let warning = format!("the sparse initialiser `{name}` is read as a dense one");
                    wire.charge(warning.len())?;
                    wire.push(warnings, warning)?;
                    wire.push(&mut graph.initializers, tensor)
                }
                _ => Ok(()),
            }
        })
    })
}

/// Refuses two constants, or two inputs, of one name: which one counts is not known.
///
/// # Errors
///
/// Returns an error that describes both.
pub(super) fn refuse_same_names(graph: &Graph) -> Result<(), Error> {
    let mut constants = HashMap::new();
    for tensor in &graph.initializers {
        if !tensor.name.is_empty()
            && let Some(first) = constants.insert(&tensor.name, tensor)
        {
            return Err(Error::whole(format!(
                "two constants are called `{}`, one {} and one {}",
                in_line(&tensor.name),
                described(first),
                described(tensor)
            )));
        }
    }
    let mut inputs = HashSet::new();
    match graph.inputs.iter().find(|port| !port.name.is_empty() && !inputs.insert(&port.name)) {
        None => Ok(()),
        Some(port) => Err(Error::whole(format!("two inputs are called `{}`", in_line(&port.name)))),
    }
}

/// Shape of a constant, with what it has of its elements.
fn described(tensor: &Tensor) -> String {
    let dims: Vec<_> = tensor.dims.iter().map(ToString::to_string).collect();
    let shape = if dims.is_empty() { "a scalar".into() } else { format!("of {}", dims.join("x")) };
    if tensor.external.is_some() { shape + " in another file" } else { shape }
}

/// Reads a `NodeProto`.
pub(super) fn node(
    wire: &mut Wire<'_>,
    end: u64,
    warnings: &mut Vec<String>,
) -> Result<Node, Error> {
    wire.count_node()?;
    let mut node = Node::default();
    wire.fields(end, |wire, number, value| {
        let Value::Until(end) = value else { return Ok(()) };
        match number {
            1 => wire.append(end, &mut node.inputs, Wire::name)?,
            2 => wire.append(end, &mut node.outputs, Wire::name)?,
            3 => node.name = wire.name(end)?,
            4 => node.operator = wire.name(end)?,
            5 => wire.append(end, &mut node.attributes, |wire, end| {
                RawAttribute::read(wire, end, warnings)
            })?,
            7 => node.domain = domain(wire, end)?,
            8 => node.overload = wire.name(end)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(node)
}

/// Reads the name of a domain. The default one has two names.
pub(super) fn domain(wire: &mut Wire<'_>, end: u64) -> Result<Box<str>, Error> {
    let name = wire.name(end)?;
    Ok(if &*name == "ai.onnx" { Box::default() } else { name })
}

/// Fields of an attribute, of which its type tells the one that counts.
#[derive(Debug, Default)]
pub(super) struct RawAttribute {
    name: Box<str>,
    reference: Box<str>,
    kind: u64,
    float: Option<f32>,
    int: Option<i64>,
    text: Option<Box<str>>,
    tensor: Option<Box<RawTensor>>,
    graph: Option<Box<Graph>>,
    floats: Vec<f32>,
    ints: Vec<i64>,
    texts: Vec<Box<str>>,
    /// Whether a text is too long to matter here.
    is_long: bool,
}

impl RawAttribute {
    /// Reads an attribute up to byte `end`, and returns it with its name.
    pub(super) fn read(
        wire: &mut Wire<'_>,
        end: u64,
        warnings: &mut Vec<String>,
    ) -> Result<(Box<str>, Attribute), Error> {
        let mut raw = Box::<Self>::default();
        wire.fields(end, |wire, number, value| raw.field(wire, number, value, warnings))?;
        raw.finish(wire)
    }

    fn field(
        &mut self,
        wire: &mut Wire<'_>,
        number: u64,
        value: Value,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        match (number, value) {
            (1, Value::Until(end)) => self.name = wire.name(end)?,
            (2, Value::Fixed32(bits)) => self.float = Some(f32::from_bits(bits)),
            (3, Value::Varint(integer)) => self.int = Some(integer.cast_signed()),
            (4, Value::Until(end)) => self.text = self.text(wire, end)?,
            (5, Value::Until(end)) => self.tensor.get_or_insert_default().read(wire, end)?,
            (6, Value::Until(end)) => {
                graph(wire, end, self.graph.get_or_insert_default(), warnings)?;
            }
            (7, value) => wire.numbers(value, &mut self.floats, usize::MAX)?,
            (8, value) => wire.numbers(value, &mut self.ints, usize::MAX)?,
            (9, Value::Until(end)) => {
                if let Some(text) = self.text(wire, end)? {
                    wire.push(&mut self.texts, text)?;
                }
            }
            (20, Value::Varint(kind)) => self.kind = kind,
            (21, Value::Until(end)) => self.reference = wire.name(end)?,
            _ => {}
        }
        Ok(())
    }

    /// Reads a text, unless it is longer than a name.
    fn text(&mut self, wire: &mut Wire<'_>, end: u64) -> Result<Option<Box<str>>, Error> {
        if end - wire.at() > MAX_NAME {
            self.is_long = true;
            return Ok(None);
        }
        wire.name(end).map(Some)
    }

    fn finish(mut self, wire: &mut Wire<'_>) -> Result<(Box<str>, Attribute), Error> {
        let name = std::mem::take(&mut self.name);
        if !self.reference.is_empty() {
            return Ok((name, Attribute::OfFunction(self.reference)));
        }
        // Scalars that are zero or empty may be left out.
        let value = match self.kind() {
            1 => Attribute::Float(self.float.unwrap_or_default()),
            2 => Attribute::Int(self.int.unwrap_or_default()),
            3 | 8 if self.is_long => Attribute::Other,
            3 => Attribute::Text(self.text.unwrap_or_default()),
            4 => Attribute::Tensor(self.tensor.unwrap_or_default().finish(wire)?),
            5 => {
                let graph = *self.graph.unwrap_or_default();
                refuse_same_names(&graph)?;
                Attribute::Graph(graph)
            }
            6 => Attribute::Floats(self.floats),
            7 => Attribute::Ints(self.ints),
            8 => Attribute::Texts(self.texts),
            _ => Attribute::Other,
        };
        Ok((name, value))
    }

    /// Number of the type. Old files do not state it, so it is that of the field that is there.
    fn kind(&self) -> u64 {
        let there = [
            (1, self.float.is_some()),
            (2, self.int.is_some()),
            (3, self.text.is_some()),
            (4, self.tensor.is_some()),
            (5, self.graph.is_some()),
            (6, !self.floats.is_empty()),
            (7, !self.ints.is_empty()),
            (8, !self.texts.is_empty()),
        ];
        let found = || there.iter().find(|(_, is_there)| *is_there).map(|(kind, _)| *kind);
        if self.kind != 0 { self.kind } else { found().unwrap_or_default() }
    }
}
