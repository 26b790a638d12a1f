//! Input files: the only module that knows their formats, and paths.
//!
//! Every file is read with bounded memory, parsed, checked once and turned into domain types. All
//! problems of a file are reported together, each with its line and column. [`Catalog`] is the way
//! in; [`export`] is the way back.

pub mod catalog;
pub mod cost_cases;
pub mod cost_csv;
pub mod diagnostic;
pub mod export;
pub mod files;
pub mod formats;
pub mod kind;
pub mod loadgen_cases;
pub mod maestro;
pub mod network;
pub mod service_csv;
pub mod suite;
pub mod sweep;

mod dataflow;
mod document;
mod embedded;
mod format;
mod hardware;
mod mix;
mod mlperf;
mod range;
mod scenario;
mod yaml;

pub use catalog::{Catalog, Edition, Hardware, InputFile};
pub use diagnostic::{ConfigError, OldName, OldNames, Problem, nearest};
pub use document::resolve;
pub use files::{Source, read_bounded};
pub use format::Format;
pub use kind::Kind;
pub use network::Model;
pub use service_csv::ServiceTables;
pub use suite::Suite;
pub use sweep::SweepDraft;
pub use yaml::read::{At, printable, unknown_name};
