//! Experiments: scenarios, systems, a cost model, schedulers and settings in; scores, traces and tables
//! out.
//!
//! [`Experiment`] describes runs by name or by value. [`Experiment::run`] makes all of them;
//! [`Experiment::prepare`] only reads and checks, for callers that take results one by one.
//!
//! ```
//! use xrsim::Experiment;
//!
//! let runs = Experiment::new()
//!     .scenario("AR_gaming")
//!     .system("J")
//!     .pes(4096)
//!     .schedulers(["latency-greedy", "edf"])
//!     .run()?;
//! for run in &runs {
//!     println!("{} {:.3}", run.label().scheduler, run.scorecard()?.total.score);
//! }
//! # Ok::<(), xrsim::ExperimentError>(())
//! ```
//!
//! [`Settings`] has the value of every key in [`KEYS`], the one table that also feeds the command line,
//! sweep files and records.

mod accelerators;
#[cfg(feature = "cli")]
mod artifact;
mod builder;
#[cfg(feature = "cli")]
mod changes;
mod cost_model;
mod error;
mod flexibility;
mod input;
#[cfg(feature = "cli")]
pub(crate) mod kept;
mod keys;
mod prepared;
pub(crate) mod programs;
mod runs;
mod schedulers;
#[cfg(feature = "cli")]
mod schema;
#[cfg(feature = "cli")]
pub(crate) mod search;
#[cfg(feature = "cli")]
mod sensitivity;
mod settings;
#[cfg(any(feature = "cli", test))]
mod shipped;
pub(crate) mod sweep;
mod systems;
#[cfg(feature = "cli")]
mod trials;
#[cfg(feature = "bounds")]
mod tuning;

pub(crate) use accelerators::{DEFAULT_PES, DEFAULT_PLATFORM, feasibility, whole_chip};
#[cfg(feature = "cli")]
pub(crate) use artifact::ArtifactFiles;
pub use builder::Experiment;
pub(crate) use builder::MAX_RUNS;
#[cfg(feature = "cli")]
pub(crate) use changes::{Changes, FrameOf};
pub use cost_model::NamedCostModel;
pub use error::ExperimentError;
pub(crate) use flexibility::{flexibility_of, objective_of};
pub use input::Input;
pub use keys::{Allowed, KEYS, Key};
pub use prepared::Prepared;
pub use runs::{Run, Runs};
pub use schedulers::{scheduler, schedulers};
#[cfg(feature = "cli")]
pub use schema::{schema, schema_of_all};
#[cfg(feature = "cli")]
pub(crate) use sensitivity::Sensitivity;
pub use settings::Settings;
#[cfg(any(feature = "cli", test))]
pub(crate) use shipped::{fill_table, shipped_accelerators};
pub(crate) use systems::mapped;
pub use systems::system;
#[cfg(feature = "bounds")]
pub use tuning::TunedScheduler;

pub(crate) use keys::{KeyOption, Several};
pub(crate) use schedulers::scheduler_names;
