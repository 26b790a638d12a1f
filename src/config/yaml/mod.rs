//! Reading YAML: a tree with positions ([`tree`]), and typed reading of it that collects every
//! problem ([`read`]).

pub(crate) mod read;
pub(crate) mod tree;

pub(crate) use read::Fields;
pub(crate) use tree::Node;
pub(super) use tree::{Value, parse};
