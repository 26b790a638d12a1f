//! Reading YAML: a tree with positions ([`tree`]), typed reading of it that collects every problem
//! ([`read`]), and files of each kind ([`FORMAT`]).

mod format;
pub mod read;
pub mod tree;

pub use format::FORMAT;
pub use read::Fields;
pub use tree::{Node, Value, parse};
