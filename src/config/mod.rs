//! Input files: the only module that knows YAML, the artifact's text format, and paths.
//!
//! Every file is read with bounded memory, parsed, checked once and turned into domain types. All
//! problems of a file are reported together, each with its line and column.

pub mod diagnostic;
pub mod files;
pub mod maestro;

pub use diagnostic::{ConfigError, Problem, nearest};
pub use files::Source;
