//! Simulator of real-time multi-network XR workloads on DNN accelerators.
//!
//! XRBench (Kwon et al., MLSys 2023) defines the benchmark: eleven networks in seven usage scenarios
//! on thirteen accelerator styles, and scores for real time, energy, accuracy and quality of
//! experience. This crate replays the load, schedules it, costs it and scores it.
//!
//! # First steps
//!
//! An [`Experiment`] runs scenarios on systems, by name or by value. Here the scheduler is one of the
//! caller's:
//!
//! ```
//! use xrsim::{Decision, Dispatch, Experiment, Scheduler, View};
//!
//! /// Starts the request with the earliest deadline on its fastest idle accelerator.
//! struct EarliestDeadline;
//!
//! impl Scheduler for EarliestDeadline {
//!     fn decide(&mut self, view: &View<'_>) -> Decision {
//!         let job = view.ready.iter().min_by_key(|job| job.deadline).expect("one is ready");
//!         match view.fastest_idle(job) {
//!             Some(accelerator) => Dispatch::new(job.request, accelerator).into(),
//!             None => Decision::Wait, // no idle accelerator can run it
//!         }
//!     }
//! }
//!
//! let experiment = Experiment::new().scenario("AR_gaming").system("J").pes(4096);
//! let runs = experiment.own_scheduler("mine", |_| EarliestDeadline).run()?;
//! let total = &runs[0].scorecard()?.total;
//! println!("score {:.3}, {} frames late", total.score, total.counts.late);
//! # assert!(total.score > 0.0 && total.score < 1.0);
//! # Ok::<(), xrsim::ExperimentError>(())
//! ```
//!
//! The folder `examples/` has a cost model of one's own, a sweep, a scenario with its figure, and a load
//! test of MLPerf. Keys of [`Experiment::set`] are in [`experiment::KEYS`]. There are examples of
//!
//! - schedulers on equal draws, with the interval of their difference: [`Experiment::compare`];
//! - a metric of one's own: [`trace`];
//! - a scenario and a system as values: [`scenario`], [`hardware`]; a network: [`model::ConvShape::UNIT`];
//! - a figure: [`figures`]; a server of MLPerf: [`mlperf`].
//!
//! # The flow
//!
//! ```text
//! files ─ config ─┬─ scenario ─── load ─── requests ─┐
//!                 │                                  ├─ engine ─── trace ─── score ─── report
//!                 └─ system ───── cost ─── costs ────┘    │
//!                                                      schedule
//! ```
//!
//! [`config`] turns files into checked domain types: [`scenario::Scenario`], [`hardware::System`],
//! [`dataflow::Dataflow`], [`model::Network`]. [`cost`] evaluates every layer on every accelerator
//! into a dense [`cost::CostTable`]. [`plan::Plan`] describes one run. [`load`] expands scenario and
//! seed into every request of the run, with all random draws of the workload. [`engine`] runs the requests, asking a [`schedule::Scheduler`] at each decision, and
//! returns a [`trace::Trace`]. [`score`] reads scenario and trace. [`sweep`] does this many times in
//! parallel, and [`report`] prints and [`figures`] draws what it is given. Every arrow is plain data.
//!
//! [`compat`] stands beside the engine: the runtime of the published artifact.
//!
//! # Features
//!
//! The default feature `cli` is the program `xrsim`; it includes all others. A library needs less: without
//! default features the crate reads files, makes experiments and writes CSV. `bounds` adds upper bounds of
//! scores and comparisons of schedulers, `figures` adds charts, and `pages` adds pages of results.
//!
//! # The order of layers
//!
//! `ARCHITECTURE.md` has the layers. `tests/it/architecture.rs` holds the table of the modules that each
//! module may name.

#![warn(missing_docs, unreachable_pub)]
// Without the program, functions of the crate that only commands use are left over.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

// Units and indices.
pub mod units;

pub mod ids;

// Statistics and text, without knowledge of the domain.
pub mod statistics;

pub mod text;

// Cancellation, checksums, names that changed, and columns of results.
pub mod cancel;

mod digest;

mod renamed;

pub mod column;

// The domain: networks, dataflows, hardware, scenarios and traces.
pub mod model;

pub mod dataflow;

pub mod hardware;

pub mod scenario;

pub mod trace;

// Functions of the domain, independent of each other.
pub mod cost;
pub mod mapper;

// Networks of other programs.
pub mod onnx;

pub mod load;

pub mod score;

// Upper bounds and metrics of runs.
#[cfg(feature = "bounds")]
pub mod bounds;

pub mod metrics;

// Schedulers, external schedulers in other processes, and plans of runs.
pub mod schedule;

pub mod external;

pub mod plan;

// Two runtimes, independent of each other.
pub mod engine;

pub mod compat;

// Load tests of MLPerf on any system.
pub mod mlperf;

// Many runs, figures and reports, and input files.
pub mod sweep;

#[cfg(feature = "bounds")]
pub mod search;

#[cfg(feature = "figures")]
pub mod figures;

pub mod report;

pub mod config;

// Experiments, as a library user or a command describes them.
pub mod experiment;

// The published study again, and comparisons with reference data.
#[cfg(feature = "cli")]
pub mod reproduce;

#[cfg(feature = "cli")]
pub mod validate;

#[cfg(feature = "cli")]
pub mod cli;

pub use config::{Catalog, Edition};
pub use cost::{CostModel, CostTable, Infeasible, LayerCost};
pub use experiment::{Experiment, ExperimentError, Input, NamedCostModel, Run, Runs, Settings};
pub use hardware::{Accelerator, Style, System};
pub use ids::{AccelId, FrameId, ModelId, RequestId};
pub use model::{Network, Operator};
pub use plan::{Plan, Semantics};
pub use scenario::Scenario;
pub use schedule::{Decision, Dispatch, Granularity, Job, Policy, Scheduler, Setup, View};
pub use score::{Score, Scorecard};
#[cfg(feature = "bounds")]
pub use sweep::comparison::{Comparison, Triggers};
pub use sweep::{RunError, RunResult};
pub use trace::{Outcome, Record, Trace};
pub use units::{Cycles, Millijoules, SimSpan, SimTime};
