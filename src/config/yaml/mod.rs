//! Reading YAML: a tree with positions ([`tree`]), and typed reading of it that collects every
//! problem ([`read`]).

pub(crate) mod read;
pub(crate) mod tree;

pub(crate) use read::Fields;
pub(super) use tree::{Value, parse};
pub(crate) use tree::Node;
