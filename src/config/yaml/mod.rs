//! Reading YAML: a tree with positions ([`tree`]), and typed reading of it that collects every
//! problem ([`read`]).

pub mod read;
pub mod tree;

pub use read::Fields;
pub use tree::{Node, Value, parse};
