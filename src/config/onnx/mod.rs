//! ONNX files as networks. An import is written as the YAML of a network, which then goes the way of any
//! other one: it is read, checked and shown as if a person had written it.

pub(super) mod format;
mod import;

pub use crate::onnx::is_model;
pub use crate::onnx::{Branch, Options};
pub use import::{Imported, Origin, import};
