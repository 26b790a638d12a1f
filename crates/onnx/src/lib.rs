//! ONNX files as networks (docs/reference/onnx.md): a file is read without its weights, its shapes are inferred with
//! the elements that shapes depend on, and its operators become layers.
//!
//! ```text
//! file ─── graph ─── trace (rules) ─── layers ─── network
//! ```
//!
//! `file` reads what a file says, a `graph::Model`. `trace` follows it in order of execution, with
//! functions and control flow resolved, and infers every tensor by `rules`. `layers` makes the network
//! of what was executed. Nothing here knows hardware, mappings or YAML.
//!
//! It uses `xrsim-model`. An operator is a rule in `rules`, which infers its outputs, and a function in `layers`,
//! which makes its layers, if it has any; both stand in a row of the table in `layers/operators.rs`.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

/// Returns a `Fault::Invalid` with these words unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err($crate::rules::Fault::Invalid(format!($($words)+)));
        }
    };
}

mod fact;
mod file;
mod graph;
mod import;
mod layers;
mod options;
mod problems;
mod rules;
mod trace;

#[cfg(test)]
#[path = "../../../tests/it/support/onnx_files.rs"]
mod onnx_files;
#[cfg(test)]
mod tests;

pub use file::is_model;
pub use import::{Imported, import};
pub use layers::{Counts, Row};
pub use options::{Branch, ImportError, Options};
