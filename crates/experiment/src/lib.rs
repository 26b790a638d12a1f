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
//!
//! It uses all crates below it: `xrsim-config` for inputs, `xrsim-sim` and `xrsim-search` for runs, `xrsim-results` and
//! `xrsim-report` for what they leave. A setting is one entry in a file of `src/keys/`, and its field, default and effect
//! in the stage that it belongs to.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod accelerators;
mod affinity;
mod artifact;
mod builder;
mod changes;
mod cost_model;
mod day;
mod device;
mod error;
mod flexibility;
mod given;
mod input;
mod joint;
pub mod kept;
mod keys;
mod prepared;
pub mod programs;
mod refusals;
#[cfg(test)]
mod relatives;
mod runs;
mod schedulers;
mod schema;
pub mod search;
mod sensitivity;
mod settings;
mod shipped;
pub mod sweep;
mod systems;
mod trials;
mod tuning;

pub use accelerators::{
    BENCHMARK_PLATFORM, DEFAULT_PES, DEFAULT_PLATFORM, feasibility, whole_chip,
};
pub use artifact::ArtifactFiles;
pub(crate) use builder::MAX_RUNS;
pub use builder::{Distinct, Experiment};
pub use changes::{Changes, FrameOf, Tried};
pub use cost_model::NamedCostModel;
pub use day::{DayChange, DayRun};
pub use device::check_device;
pub use error::ExperimentError;
pub use flexibility::{
    deadline_share_of, effort_of, flexibility_of, fusion_of, objective_of, pinned_of,
};
pub use given::{GivenRun, SystemKind};
pub use input::Input;
pub use joint::Joint;
pub use keys::{Allowed, KEYS, Key};
pub use prepared::Prepared;
pub use runs::{Run, Runs};
pub use schedulers::{scheduler, schedulers};
pub use schema::{schema, schema_of_all};
pub use sensitivity::Sensitivity;
pub use settings::Settings;
pub use shipped::{ShippedAccelerator, fill_table, shipped_accelerators};
pub use systems::mapped;
pub use systems::system;
pub use tuning::TunedScheduler;

pub use keys::{KeyOption, Several};
pub use schedulers::scheduler_names;
