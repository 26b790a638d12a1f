//! Input files: the only module that knows their formats, and paths.
//!
//! Every file is read with bounded memory, parsed, checked once and turned into domain types. All
//! problems of a file are reported together, each with its line and column. [`Catalog`] is the way
//! in; [`export`] is the way back.

pub(crate) mod catalog;
pub mod cost_cases;
pub mod cost_csv;
pub mod cross_tables;
pub(crate) mod diagnostic;
#[cfg(feature = "cli")]
pub mod export;
pub(crate) mod files;
pub mod formats;
mod given;
mod json;
pub(crate) mod kind;
pub mod loadgen_cases;
pub mod maestro;
pub(crate) mod network;
#[cfg(feature = "cli")]
pub mod onnx;
#[cfg(feature = "cli")]
pub(crate) mod schema;
pub(crate) mod search;
pub mod service_csv;
pub(crate) mod suite;
pub(crate) mod sweep;

mod dataflow;
mod document;
mod embedded;
mod format;
mod hardware;
mod mapspace;
mod mix;
mod mlperf;
mod parameters;
mod range;
mod scenario;
mod technology;
mod yaml;

pub(crate) use crate::text::nearest;
pub use catalog::{Catalog, Edition, Hardware, InputFile};
pub use diagnostic::{ConfigError, Problem};
pub(crate) use diagnostic::{Note, Notes};
pub(crate) use document::resolve;
pub use files::Source;
pub(crate) use files::read_bounded;
pub use format::Format;
pub use given::GivenText;
pub use json::to_json;
pub use kind::Kind;
pub use network::Model;
pub(crate) use parameters::fault as parameter_fault;
pub use parameters::{ParameterValues, Parameters};
pub use search::SearchDraft;
pub use service_csv::ServiceTables;
pub use suite::Suite;
pub use sweep::SweepDraft;
pub use yaml::read::At;
pub(crate) use yaml::read::{printable, unknown_name};
