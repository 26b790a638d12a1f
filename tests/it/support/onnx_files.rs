//! ONNX files for tests, written field by field. A part of a file is the bytes of its message, to which each
//! method appends a field: protocol buffers leave the order open.
//!
//! Unit tests of `src/onnx` read this file, too, so it names nothing of the crate.
#![allow(dead_code, unreachable_pub)]

/// Types of elements, as `TensorProto.DataType` numbers them.
pub const FLOAT: u64 = 1;
pub const UINT8: u64 = 2;
pub const INT8: u64 = 3;
pub const INT32: u64 = 6;
pub const INT64: u64 = 7;
pub const BOOL: u64 = 9;
pub const FLOAT16: u64 = 10;
pub const DOUBLE: u64 = 11;

/// Appends a varint.
pub fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Fields of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(pub Vec<u8>);

impl Fields {
    /// Appends an integer.
    pub fn int(mut self, number: u64, value: i64) -> Self {
        varint(&mut self.0, number << 3);
        varint(&mut self.0, value as u64);
        self
    }

    /// Appends four bytes.
    pub fn float(mut self, number: u64, value: f32) -> Self {
        varint(&mut self.0, number << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Appends a text, bytes, a message, or packed numbers.
    pub fn bytes(mut self, number: u64, value: impl AsRef<[u8]>) -> Self {
        varint(&mut self.0, number << 3 | 2);
        varint(&mut self.0, value.as_ref().len() as u64);
        self.0.extend(value.as_ref());
        self
    }

    /// Appends packed integers.
    pub fn packed(self, number: u64, values: &[i64]) -> Self {
        let mut packed = Vec::new();
        values.iter().for_each(|value| varint(&mut packed, *value as u64));
        self.bytes(number, packed)
    }
}

/// An extent of a tensor: a number, a name of an open one, or an open one without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dim {
    Of(i64),
    Named(&'static str),
    Open,
}

impl From<i64> for Dim {
    fn from(extent: i64) -> Self {
        Self::Of(extent)
    }
}

impl From<&'static str> for Dim {
    fn from(name: &'static str) -> Self {
        Self::Named(name)
    }
}

/// A file (`ModelProto`).
#[derive(Debug, Clone)]
pub struct Model(pub Fields);

impl Model {
    /// A file of IR version 8 and opset 17.
    pub fn new(graph: Graph) -> Self {
        Self::bare(8, graph).opset("", 17)
    }

    /// A file without an opset.
    pub fn bare(ir_version: i64, graph: Graph) -> Self {
        Self(Fields::default().int(1, ir_version).bytes(7, graph.0.0))
    }

    /// Adds a version of a domain of operators.
    pub fn opset(self, domain: &str, version: i64) -> Self {
        Self(self.0.bytes(8, Fields::default().bytes(1, domain).int(2, version).0))
    }

    /// Adds an operator that is defined by nodes.
    pub fn function(self, function: Function) -> Self {
        Self(self.0.bytes(25, function.0.0))
    }

    /// The bytes of the file.
    pub fn write(self) -> Vec<u8> {
        self.0.0
    }
}

/// Nodes with the tensors that enter and leave (`GraphProto`).
#[derive(Debug, Clone, Default)]
pub struct Graph(pub Fields);

impl Graph {
    /// A graph of this name.
    pub fn new(name: &str) -> Self {
        Self(Fields::default().bytes(2, name))
    }

    /// Adds a node.
    pub fn node(self, node: Node) -> Self {
        Self(self.0.bytes(1, node.0.0))
    }

    /// Adds an input of floats.
    pub fn input<D: Into<Dim> + Copy>(self, name: &str, dims: &[D]) -> Self {
        self.input_of(FLOAT, name, dims)
    }

    /// Adds an input of elements of a type.
    pub fn input_of<D: Into<Dim> + Copy>(self, element: u64, name: &str, dims: &[D]) -> Self {
        Self(self.0.bytes(11, port(element, name, dims)))
    }

    /// Adds an output without a shape.
    pub fn output(self, name: &str) -> Self {
        Self(self.0.bytes(12, Fields::default().bytes(1, name).0))
    }

    /// States the shape of an inner tensor of floats.
    pub fn stated<D: Into<Dim> + Copy>(self, name: &str, dims: &[D]) -> Self {
        Self(self.0.bytes(13, port(FLOAT, name, dims)))
    }

    /// Adds a constant of floats of which the file has no elements.
    pub fn weight(self, name: &str, dims: &[i64]) -> Self {
        self.constant(Tensor::new(name, FLOAT, dims))
    }

    /// Adds a constant with one axis of integers of 64 bits.
    pub fn ints(self, name: &str, values: &[i64]) -> Self {
        self.constant(Tensor::ints(name, values))
    }

    /// Adds a constant.
    pub fn constant(self, tensor: Tensor) -> Self {
        Self(self.0.bytes(5, tensor.0.0))
    }
}

/// A tensor with the type that a file states (`ValueInfoProto`).
pub fn port<D: Into<Dim> + Copy>(element: u64, name: &str, dims: &[D]) -> Vec<u8> {
    let shape = dims.iter().fold(Fields::default(), |shape, dim| {
        let dim = match (*dim).into() {
            Dim::Of(extent) => Fields::default().int(1, extent),
            Dim::Named(name) => Fields::default().bytes(2, name),
            Dim::Open => Fields::default(),
        };
        shape.bytes(1, dim.0)
    });
    let tensor = Fields::default().int(1, element as i64).bytes(2, shape.0);
    Fields::default().bytes(1, name).bytes(2, Fields::default().bytes(1, tensor.0).0).0
}

/// An operator that is applied (`NodeProto`).
#[derive(Debug, Clone)]
pub struct Node(pub Fields);

impl Node {
    /// An operator that reads and writes these tensors.
    pub fn new(operator: &str, inputs: &[&str], outputs: &[&str]) -> Self {
        let fields = inputs.iter().fold(Fields::default(), |fields, name| fields.bytes(1, name));
        let fields = outputs.iter().fold(fields, |fields, name| fields.bytes(2, name));
        Self(fields.bytes(4, operator))
    }

    /// Gives it a name.
    pub fn named(self, name: &str) -> Self {
        Self(self.0.bytes(3, name))
    }

    /// Gives it a domain.
    pub fn domain(self, domain: &str) -> Self {
        Self(self.0.bytes(7, domain))
    }

    /// Adds an attribute that is an integer.
    pub fn int(self, name: &str, value: i64) -> Self {
        self.attribute(name, 2, Fields::default().int(3, value))
    }

    /// Adds an attribute that is a number.
    pub fn float(self, name: &str, value: f32) -> Self {
        self.attribute(name, 1, Fields::default().float(2, value))
    }

    /// Adds an attribute that is a text.
    pub fn text(self, name: &str, value: &str) -> Self {
        self.attribute(name, 3, Fields::default().bytes(4, value))
    }

    /// Adds an attribute that is a list of integers.
    pub fn ints(self, name: &str, values: &[i64]) -> Self {
        let fields = values.iter().fold(Fields::default(), |fields, value| fields.int(8, *value));
        self.attribute(name, 7, fields)
    }

    /// Adds an attribute that is a tensor.
    pub fn tensor(self, name: &str, tensor: Tensor) -> Self {
        self.attribute(name, 4, Fields::default().bytes(5, tensor.0.0))
    }

    /// Adds an attribute that is a graph.
    pub fn graph(self, name: &str, graph: Graph) -> Self {
        self.attribute(name, 5, Fields::default().bytes(6, graph.0.0))
    }

    /// Adds an attribute that has the value of one of the function around it.
    pub fn of_function(self, name: &str, reference: &str) -> Self {
        self.attribute(name, 0, Fields::default().bytes(21, reference))
    }

    /// Adds an attribute of a type, with its other fields.
    pub fn attribute(self, name: &str, kind: i64, fields: Fields) -> Self {
        let fields = fields.bytes(1, name);
        let fields = if kind == 0 { fields } else { fields.int(20, kind) };
        Self(self.0.bytes(5, fields.0))
    }
}

/// A constant (`TensorProto`).
#[derive(Debug, Clone)]
pub struct Tensor(pub Fields);

impl Tensor {
    /// A tensor without elements.
    pub fn new(name: &str, element: u64, dims: &[i64]) -> Self {
        let fields = dims.iter().fold(Fields::default(), |fields, dim| fields.int(1, *dim));
        Self(fields.int(2, element as i64).bytes(8, name))
    }

    /// Integers of 64 bits along one axis.
    pub fn ints(name: &str, values: &[i64]) -> Self {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self::new(name, INT64, &[values.len() as i64]).raw(&raw)
    }

    /// Numbers of 32 bits along one axis.
    pub fn floats(name: &str, values: &[f32]) -> Self {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self::new(name, FLOAT, &[values.len() as i64]).raw(&raw)
    }

    /// Adds the bytes of all elements.
    pub fn raw(self, bytes: &[u8]) -> Self {
        Self(self.0.bytes(9, bytes))
    }

    /// Says that the elements are in another file.
    pub fn external(self, location: &str, offset: u64, length: u64) -> Self {
        let entry = |key: &str, value: &str| Fields::default().bytes(1, key).bytes(2, value).0;
        let fields = self.0.bytes(13, entry("location", location));
        let fields = fields.bytes(13, entry("offset", &offset.to_string()));
        Self(fields.bytes(13, entry("length", &length.to_string())).int(14, 1))
    }
}

/// An operator that is defined by nodes (`FunctionProto`).
#[derive(Debug, Clone)]
pub struct Function(pub Fields);

impl Function {
    /// A function that reads and writes these tensors, in opset 17.
    pub fn new(domain: &str, name: &str, inputs: &[&str], outputs: &[&str]) -> Self {
        let fields = Fields::default().bytes(1, name).bytes(10, domain);
        let fields = inputs.iter().fold(fields, |fields, name| fields.bytes(4, name));
        let fields = outputs.iter().fold(fields, |fields, name| fields.bytes(5, name));
        Self(fields.bytes(9, Fields::default().int(2, 17).0))
    }

    /// Adds a node.
    pub fn node(self, node: Node) -> Self {
        Self(self.0.bytes(7, node.0.0))
    }

    /// Adds the name of an attribute without a default value.
    pub fn attribute(self, name: &str) -> Self {
        Self(self.0.bytes(6, name))
    }
}
