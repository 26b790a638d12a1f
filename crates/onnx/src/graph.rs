//! Contents of an ONNX file, as far as layers need them: the messages of `onnx.proto` without weights.

use xrsim_model::text::in_line;

use super::fact::{Element, Number};

/// A file (`ModelProto`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    /// Version of the format; 0 if the file gives none.
    pub ir_version: i64,
    /// Program that wrote the file; empty if the file gives none.
    pub producer: Box<str>,
    /// Version of each domain of operators; the domain `ai.onnx` is written as an empty one.
    pub opsets: Vec<(Box<str>, i64)>,
    /// The graph.
    pub graph: Graph,
    /// Operators that are defined by nodes.
    pub functions: Vec<Function>,
}

/// Nodes with the tensors that enter and leave (`GraphProto`).
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Graph {
    /// Its name; may be empty.
    pub name: Box<str>,
    /// Nodes in the order of the file, which need not be that of execution.
    pub nodes: Vec<Node>,
    /// Constants.
    pub initializers: Vec<Tensor>,
    /// Inputs; in old files all initializers, too.
    pub inputs: Vec<Port>,
    /// Outputs.
    pub outputs: Vec<Port>,
    /// Shapes of inner tensors that the file states.
    pub stated: Vec<Port>,
}

/// An operator that is applied (`NodeProto`).
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Node {
    /// Its name; may be empty.
    pub name: Box<str>,
    /// Domain of the operator; the domain `ai.onnx` is written as an empty one.
    pub domain: Box<str>,
    /// Name of the operator, e.g. `Conv`.
    pub operator: Box<str>,
    /// Which of several functions of one name is meant; mostly empty.
    pub overload: Box<str>,
    /// Names of the tensors that it reads; an empty name is an operand that is left out.
    pub inputs: Vec<Box<str>>,
    /// Names of the tensors that it writes; an empty name is one that is not wanted.
    pub outputs: Vec<Box<str>>,
    /// Attributes by name.
    pub attributes: Vec<(Box<str>, Attribute)>,
}

impl Node {
    /// An attribute, if it has it.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// Bytes of its attributes, roughly.
    pub(super) fn weight(&self) -> usize {
        let weight = |(_, value): &(Box<str>, Attribute)| match value {
            Attribute::Ints(ints) => 8 * ints.len(),
            Attribute::Floats(floats) => 4 * floats.len(),
            Attribute::Text(text) => text.len(),
            Attribute::Texts(texts) => texts.iter().map(|text| 16 + text.len()).sum(),
            Attribute::Tensor(tensor) => 8 * tensor.elements.as_ref().map_or(0, Vec::len),
            _ => 16,
        };
        self.attributes.iter().map(weight).sum()
    }

    /// Its name, or that of the first tensor that it writes, or its operator.
    pub(super) fn known_as(&self) -> &str {
        let names = std::iter::once(&self.name).chain(&self.outputs);
        names.into_iter().find(|name| !name.is_empty()).unwrap_or(&self.operator)
    }

    /// Words for it in messages: its name, or its operator with what it writes.
    pub(super) fn label(&self) -> String {
        if !self.name.is_empty() {
            return in_line(&self.name);
        }
        let output = self.outputs.iter().find(|name| !name.is_empty());
        let output = output.map_or(String::new(), |name| format!(" of `{}`", in_line(name)));
        in_line(&self.operator) + &output
    }
}

/// Value of an attribute (`AttributeProto`).
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Attribute {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// A text.
    Text(Box<str>),
    /// Integers.
    Ints(Vec<i64>),
    /// Numbers.
    Floats(Vec<f32>),
    /// Texts.
    Texts(Vec<Box<str>>),
    /// A tensor.
    Tensor(Tensor),
    /// A graph.
    Graph(Graph),
    /// The value of this attribute of the function that the node is in (`ref_attr_name`).
    OfFunction(Box<str>),
    /// A value of a type that nothing here reads.
    Other,
}

impl Attribute {
    /// The integer, if it is one.
    pub(super) fn int(&self) -> Option<i64> {
        if let Self::Int(value) = self { Some(*value) } else { None }
    }

    /// The number, if it is one.
    pub(super) fn float(&self) -> Option<f32> {
        if let Self::Float(value) = self { Some(*value) } else { None }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(value) = self { Some(value) } else { None }
    }

    /// The integers, if it is a list of them.
    pub(super) fn ints(&self) -> Option<&[i64]> {
        match self {
            Self::Ints(values) => Some(values),
            // An empty list has no type.
            Self::Floats(values) if values.is_empty() => Some(&[]),
            _ => None,
        }
    }
}

/// A constant (`TensorProto`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    /// Its name; empty in an attribute.
    pub name: Box<str>,
    /// Type of its elements.
    pub element: Element,
    /// Extents as written, which may be negative.
    pub dims: Vec<i64>,
    /// Its elements, if the file has them and they may matter for shapes.
    pub elements: Option<Vec<Number>>,
    /// Where the elements are, if they are in another file.
    pub external: Option<External>,
}

/// Elements in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct External {
    /// Path as written.
    pub location: Box<str>,
    /// First byte.
    pub offset: u64,
    /// Number of bytes, if it is given.
    pub length: Option<u64>,
}

/// A tensor with the type that a file states (`ValueInfoProto`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Port {
    /// Its name.
    pub name: Box<str>,
    /// Type of its elements; `None` of what is no tensor, or not stated.
    pub element: Option<Element>,
    /// Its extents; `None` if not stated.
    pub dims: Option<Vec<Dim>>,
}

impl Port {
    /// Whether extents are others than those that the file states, if it states any.
    pub(super) fn contradicts(&self, shape: &[u64]) -> bool {
        let Some(dims) = &self.dims else { return false };
        let differs = |(dim, extent): (&Dim, &u64)| match dim {
            Dim::Fixed(stated) => u64::try_from(*stated) != Ok(*extent),
            Dim::Named(_) | Dim::Open => false,
        };
        dims.len() != shape.len() || dims.iter().zip(shape).any(differs)
    }
}

/// An extent as a file states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dim {
    /// A number, which may be negative.
    Fixed(i64),
    /// An open extent with a name.
    Named(Box<str>),
    /// An open extent.
    Open,
}

/// An operator that is defined by nodes (`FunctionProto`).
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Function {
    /// Domain; the domain `ai.onnx` is written as an empty one.
    pub domain: Box<str>,
    /// Name.
    pub name: Box<str>,
    /// Which of several of one name this is.
    pub overload: Box<str>,
    /// Names of its inputs.
    pub inputs: Vec<Box<str>>,
    /// Names of its outputs.
    pub outputs: Vec<Box<str>>,
    /// Attributes with their default values.
    pub attributes: Vec<(Box<str>, Attribute)>,
    /// Its body.
    pub nodes: Vec<Node>,
    /// Version of each domain in its body.
    pub opsets: Vec<(Box<str>, i64)>,
}

impl Function {
    /// Domain, name and overload, by which nodes apply it.
    pub(super) fn key(&self) -> (&str, &str, &str) {
        (&self.domain, &self.name, &self.overload)
    }
}
