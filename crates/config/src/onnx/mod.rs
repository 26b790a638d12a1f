//! ONNX files as networks. An import is written as the YAML of a network, which then goes the way of any
//! other one: it is read, checked and shown as if a person had written it.

pub(super) mod format;
mod import;
mod steps;

pub use import::{Imported, Origin, import};
pub use steps::{Tokens, import_step};
pub use xrsim_onnx::is_model;
pub use xrsim_onnx::{Branch, Options};
