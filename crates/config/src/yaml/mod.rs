//! Reading YAML: a tree with positions ([`tree`]), typed reading of it that collects every problem
//! ([`read`]), and files of each kind ([`FORMAT`]).

mod format;
pub(crate) mod keys;
// Its writing half is for `build.rs`.
#[cfg_attr(not(test), allow(dead_code))]
mod packed;
pub(crate) mod problems;
pub(crate) mod read;
pub(crate) mod tree;
pub(crate) mod values;

pub(super) use format::FORMAT;
pub(super) use packed::unpack;
pub(crate) use read::Fields;
pub(crate) use tree::Node;
pub(super) use tree::{Value, parse};
