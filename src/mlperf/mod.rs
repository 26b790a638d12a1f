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
//! [`settings`] checks what LoadGen is asked for ([`TestSettings`]) and derives what it does
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
//! Sources: Reddi et al., MLPerf Inference Benchmark (ISCA 2020), and LoadGen v0.7 to 6.0.17
//! (github.com/mlcommons/inference). The time that LoadGen itself takes between two queries is not
//! simulated.

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
