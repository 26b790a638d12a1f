//! Names that a node can see.

use std::collections::HashMap;

use super::TensorId;
use crate::graph::Attribute;

/// Names of a graph, and of those around it.
pub(super) struct Scope<'a, 'o> {
    names: HashMap<&'a str, TensorId>,
    outer: Option<&'o Scope<'a, 'o>>,
    /// Versions of domains.
    pub opsets: &'a [(Box<str>, i64)],
    /// Attributes of the function that the nodes are in.
    pub attributes: &'o [(Box<str>, Attribute)],
    /// Path of nodes with functions that leads here; ends in `/` unless it is empty.
    pub path: Box<str>,
    /// Graphs and functions around this one.
    pub depth: usize,
}

impl<'a, 'o> Scope<'a, 'o> {
    /// The outermost scope.
    pub(super) fn new(opsets: &'a [(Box<str>, i64)]) -> Self {
        let names = HashMap::new();
        Self { names, outer: None, opsets, attributes: &[], path: "".into(), depth: 0 }
    }

    /// The scope of a graph inside of this one.
    pub(super) fn inner(&'o self) -> Self {
        Self {
            names: HashMap::new(),
            outer: Some(self),
            opsets: self.opsets,
            attributes: self.attributes,
            path: self.path.clone(),
            depth: self.depth + 1,
        }
    }

    /// The scope of a function, which sees no name around it.
    pub(super) fn function(
        &self,
        name: &str,
        opsets: &'a [(Box<str>, i64)],
        attributes: &'o [(Box<str>, Attribute)],
    ) -> Self {
        let path = format!("{}{name}/", self.path).into();
        Self { names: HashMap::new(), outer: None, opsets, attributes, path, depth: self.depth + 1 }
    }

    /// Names a tensor.
    pub(super) fn put(&mut self, name: &'a str, id: TensorId) {
        self.names.insert(name, id);
    }

    /// The tensor of this name.
    pub(super) fn get(&self, name: &str) -> Option<TensorId> {
        self.names.get(name).copied().or_else(|| self.outer.and_then(|outer| outer.get(name)))
    }

    /// Version of a domain; `None` if the file does not say it.
    pub(super) fn opset(&self, domain: &str) -> Option<i64> {
        self.opsets.iter().find(|(known, _)| **known == *domain).map(|(_, version)| *version)
    }
}
