//! Names of steps, and attributes of nodes in functions.

use std::borrow::Cow;

use crate::graph::{Attribute, Function, Node};

/// Name of a step: that of its node, or of the first tensor that it writes, after the path of graphs.
pub(super) fn step_name<'a>(node: &'a Node, path: &str) -> Cow<'a, str> {
    let name = node.known_as();
    if path.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(format!("{path}{name}")) }
}

/// The last part of a path.
pub(super) fn local(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}

/// The node with attributes of the function that it is in.
pub(super) fn resolved<'a>(node: &'a Node, arguments: &[(Box<str>, Attribute)]) -> Cow<'a, Node> {
    let is_open = |(_, value): &(Box<str>, Attribute)| matches!(value, Attribute::OfFunction(_));
    if !node.attributes.iter().any(is_open) {
        return Cow::Borrowed(node);
    }
    Cow::Owned(Node { attributes: bound(&node.attributes, arguments), ..node.clone() })
}

/// Attributes with the values of those of the function around them; those that it has not are left out.
fn bound(
    attributes: &[(Box<str>, Attribute)],
    arguments: &[(Box<str>, Attribute)],
) -> Vec<(Box<str>, Attribute)> {
    let value = |(name, value): &(Box<str>, Attribute)| match value {
        Attribute::OfFunction(of) => {
            let found = arguments.iter().find(|(known, _)| known == of);
            found.map(|(_, value)| (name.clone(), value.clone()))
        }
        _ => Some((name.clone(), value.clone())),
    };
    attributes.iter().filter_map(value).collect()
}

/// Attributes of a function as a node gives them, or by default.
pub(super) fn arguments(
    function: &Function,
    node: &Node,
    around: &[(Box<str>, Attribute)],
) -> Vec<(Box<str>, Attribute)> {
    let mut arguments = bound(&node.attributes, around);
    for (name, value) in &function.attributes {
        if arguments.iter().all(|(known, _)| known != name) {
            arguments.push((name.clone(), value.clone()));
        }
    }
    arguments
}
