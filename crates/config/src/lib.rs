//! Input files: the only module that knows their formats, and paths.
//!
//! Every file is read with bounded memory, parsed, checked once and turned into domain types. All
//! problems of a file are reported together, each with its line and column. [`Catalog`] is the way
//! in; [`export`] is the way back.
//!
//! It uses `xrsim-model`, `xrsim-mlperf` and `xrsim-onnx`.
//!
//! | to add | write |
//! |---|---|
//! | key | its entry in the table of keys of its kind of file, and its effect |
//! | kind of input file | `src/<name>.rs` with its table of keys, one line in `Kind::ALL` and in `schema.rs`, one method of [`Catalog`] |
//! | format of another tool | a folder with its `FORMAT`, one line in `formats::ALL`, its extensions in `src/extensions.rs` |
//! | shipped file | one YAML file in `scenarios/`, `hw_configs/`, `dataflows/` or `models/` |

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod aihub;
pub(crate) mod catalog;
pub mod cost_cases;
pub mod cost_csv;
pub mod cross_tables;
pub(crate) mod diagnostic;
pub mod export;
pub(crate) mod files;
pub mod form;
pub mod formats;
mod given;
mod json;
pub(crate) mod kind;
pub mod loadgen_cases;
pub mod maestro;
pub(crate) mod network;
pub mod onnx;
pub mod reference;
pub mod schema;
pub mod search;
mod sequence;
pub mod service_csv;
pub(crate) mod suite;
pub mod sweep;

mod choice;
mod dataflow;
mod device;
mod document;
mod edition;
mod embedded;
mod extensions;
mod format;
mod hardware;
mod heat;
mod mapspace;
mod mix;
mod mlperf;
mod parameters;
mod points;
mod problem;
mod profile;
mod quantities;
mod range;
mod recorded_csv;
mod scalesim;
mod scenario;
mod sensors;
mod settings;
mod system;
mod technology;
mod uncertainty;
mod work;
mod yaml;

pub use catalog::{Catalog, Hardware, InputFile};
pub use diagnostic::{ConfigError, Note, Notes};
pub use document::resolve;
pub use edition::Edition;
pub use files::Source;
pub use files::read_bounded;
pub use format::Format;
pub use given::GivenText;
pub use hardware::{LIMITED_KEYS, LimitedKey};
pub use json::to_json;
pub use kind::Kind;
pub use network::Model;
pub use parameters::fault as parameter_fault;
pub use parameters::{ParameterValues, Parameters};
pub use problem::{At, Problem};
pub use scenario::ModelOutline;
pub use search::SearchDraft;
pub use service_csv::ServiceTables;
pub use suite::Suite;
pub use sweep::SweepDraft;
pub use uncertainty::{Uncertain, UncertainConstant, UncertainRange, Uncertainty};
pub use xrsim_model::text::nearest;
pub use yaml::read::{printable, unknown_name};
