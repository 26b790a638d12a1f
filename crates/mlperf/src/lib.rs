//! MLPerf Inference and MLPerf Mobile: suites, LoadGen (their load generator), and simulated systems
//! under test.
//!
//! ```text
//! settings ── load ──┐
//!     │              ├── run ── results ── logs
//!   rules     sut ───┘             │
//!     └──────────── benchmark ─────┘
//! ```
//!
//! [`settings`] checks requested settings ([`TestSettings`]) and derives the effective ones
//! ([`EffectiveSettings`]). [`load`] generates every query before the run: the schedule equals
//! LoadGen's to the nanosecond, from the same random streams. [`sut`] holds the interface of a
//! [`SystemUnderTest`] and three implementations: accelerators with a scheduler, the same as a single
//! queue, and servers of a known service time. [`run`] issues the queries in simulated time.
//! [`results`] are latency statistics and validity with LoadGen's reasons, and [`logs`] write them in
//! LoadGen's format.
//!
//! [`rules`] are the tasks of a [`Suite`](rules::Suite) and the counts, durations and seeds of a
//! [`Round`](rules::Round). [`benchmark`] runs the tests of a suite on a
//! [`TestBed`](benchmark::TestBed), searches for the highest rate or number of streams, and runs several
//! models at once.
//!
//! It uses `xrsim-model` and `xrsim-sim`. A load scenario is a variant of [`settings::LoadScenario`] with its stream in
//! [`load`] and its reasons in [`results`]; a round of rules is an entry of [`rules::ROUNDS`], its suite a file in
//! `scenarios/mlperf/`; a system under test implements [`SystemUnderTest`].
//!
//! A server test on a simulated system:
//!
//! ```
//! use xrsim::Catalog;
//! use xrsim::cost::loop_nest::LoopNest;
//! use xrsim::experiment::system;
//! use xrsim::mlperf::benchmark::{AcceleratorBed, TestOptions, run_test};
//! use xrsim::mlperf::logs::render_summary;
//! use xrsim::mlperf::rules::Round;
//! use xrsim::mlperf::settings::LoadScenario;
//! use xrsim::mlperf::sut::{Batching, Tenant};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let suite = Catalog::new().mlperf_suite("inference_v0.5")?;
//! let test = suite
//!     .test("image_classification_light", LoadScenario::Server)
//!     .ok_or("the suite has no such test")?;
//! let bed = AcceleratorBed::builder(system("J", 4096)?, &LoopNest)
//!     .tenant(Tenant::of_test(test, Batching::up_to(4)))
//!     .build()?;
//! let mut options = TestOptions::new(Round::find("v0.5").ok_or("no such round")?);
//! options.target_qps = Some(100.0); // `None` searches for the highest rate
//! let result = run_test(test, &options, &bed)?;
//! assert!(result.is_valid());
//! println!("{}", render_summary(&result.settings, result.performance(), "J@4096", 0));
//! # Ok(())
//! # }
//! ```
//!
//! The rate of the run that counts is `result.settings.target_qps`. A bed takes the scheduler that
//! `experiment::scheduler` returns.
//!
//! Sources: Reddi et al., MLPerf Inference Benchmark (ISCA 2020), and LoadGen v0.7 to 6.0.17
//! (github.com/mlcommons/inference). The time that LoadGen itself takes between two queries is not
//! simulated.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod settings;

pub mod rules;

pub mod load;

pub mod sut;

pub mod run;

pub mod results;

pub mod benchmark;

pub mod logs;

pub use benchmark::{Measurement, measure};
pub use load::QuerySchedule;
pub use results::{Metric, Performance};
pub use run::{Run, RunError};
pub use settings::{
    EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, Seeds, SettingsError,
    TestMode, TestSettings,
};
pub use sut::{Completions, Sample, SystemUnderTest};
