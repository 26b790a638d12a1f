//! Reading YAML: a tree with positions ([`tree`]), typed reading of it that collects every problem
//! ([`read`]), and files of each kind ([`FORMAT`]).

mod format;
pub(crate) mod keys;
pub(crate) mod problems;
pub(crate) mod read;
pub(crate) mod tree;
pub(crate) mod values;

pub(super) use format::FORMAT;
pub(crate) use read::Fields;
pub(crate) use tree::Node;
pub(super) use tree::{Value, parse};
