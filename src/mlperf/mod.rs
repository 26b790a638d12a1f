//! MLPerf Inference and MLPerf Mobile: their tasks and suites ([`suite`]), and what LoadGen, their load
//! generator, would measure of a system that is simulated.
//!
//! ```text
//! TestSettings ─ Settings ─ Schedule ─┐
//!                               SystemUnderTest ─ Run ─ Performance ─ summary
//! ```
//!
//! [`settings`] checks what is asked for. [`schedule`] makes every query ahead of the run: the
//! schedule is LoadGen's own to the nanosecond, from the same [`random`] streams. [`run()`](run::run)
//! issues the queries to a [`SystemUnderTest`] in simulated time, as the scenario says. What was seen
//! becomes [`performance`]: [`statistics`] and [`validity`] with LoadGen's reasons, which
//! [`summary`] and [`detail_log`] put into LoadGen's own words. [`peak`] does all that until the load is as high as it
//! can be. [`rounds`] lists what each round of the benchmark asks for, [`counts`] and
//! [`EarlyStopping`](crate::statistics::EarlyStopping) why.
//!
//! Tests are made on a [`bed`], any number of times: a [`mod@bench`] of accelerators, a measurement on which is
//! an [`AcceleratorSystem`](system::AcceleratorSystem), or [`servers`] of a known [`service`] time.
//! [`benchmark`] makes those of a [`suite`]; [`sustained`] says which rates a system cannot go on with.
//!
//! LoadGen issues one model's queries as a Poisson process. [`arrivals`] also come in bursts, and
//! [`tenants`] are several models with a load each on one bench.
//!
//! Sources: Reddi et al., MLPerf Inference Benchmark (ISCA 2020), and LoadGen v0.7 to 6.0.17
//! (github.com/mlcommons/inference). What LoadGen itself takes between two queries is not simulated.

pub mod arrivals;
pub mod bed;
pub mod bench;
pub mod benchmark;
pub mod counts;
pub mod detail_log;
pub mod files;
mod one_queue;
pub mod peak;
pub mod performance;
pub mod random;
pub mod rounds;
pub mod run;
pub mod schedule;
pub mod servers;
pub mod service;
pub mod settings;
pub mod statistics;
pub mod suite;
pub mod summary;
pub mod sustained;
pub mod sut;
pub mod system;
pub mod tenants;
pub mod validity;

pub use performance::{Measurement, Metric, Performance, measure};
pub use run::{Run, RunError};
pub use schedule::Schedule;
pub use settings::{
    Library, LoadGen, Mode, Scenario, Seeds, Settings, SettingsError, TestSettings,
};
pub use sut::{Completions, Sample, SystemUnderTest};
