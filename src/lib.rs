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
//! # Crates
//!
//! This crate only names what stands in the crates of `crates/`; their `Cargo.toml` files hold the order of layers,
//! and `ARCHITECTURE.md` describes it. A library that needs less depends on them: `xrsim-experiment` reads
//! files, makes experiments and writes results without the command line, `xrsim-sim` simulates what is given as
//! values, and `xrsim-model` has networks, hardware and costs alone.

#![warn(missing_docs, unreachable_pub)]

// Networks, hardware, scenarios, and what a run leaves.
pub use xrsim_model::{
    cancel, column, cost, dataflow, hardware, ids, mapper, model, scenario, statistics, text,
    trace, units,
};

// Runs: load, schedulers, runtimes, scores and bounds.
pub use xrsim_sim::{
    bounds, compat, device, engine, external, load, metrics, plan, schedule, score, sweep,
};

#[doc(inline)]
pub use xrsim_mlperf as mlperf;
#[doc(inline)]
pub use xrsim_search as search;

// Input files, and networks of other programs.
#[doc(inline)]
pub use xrsim_config as config;
#[doc(inline)]
pub use xrsim_onnx as onnx;

// Results for programs and for people.
#[doc(inline)]
pub use xrsim_figures as figures;

/// Results for programs (CSV, JSON, columns, traces) and for people (tables, texts, pages).
pub mod report {
    pub use xrsim_report::*;
    pub use xrsim_results::*;

    /// Causes of missed deadlines, and their explanations.
    pub mod why {
        pub use xrsim_report::why::*;
        pub use xrsim_results::why::*;
    }
}

// Experiments, as a library user or a command describes them.
#[doc(inline)]
pub use xrsim_experiment as experiment;
pub use xrsim_validation::{reproduce, validate};

/// The command line, for the program and the package of Python.
#[doc(hidden)]
pub use xrsim_cli as cli;

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
pub use sweep::comparison::{Comparison, Triggers};
pub use sweep::{RunError, RunResult};
pub use trace::{Outcome, Record, Trace};
pub use units::{Cycles, Millijoules, SimSpan, SimTime};
