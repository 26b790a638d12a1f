//! Detailed log of a run in the layout of LoadGen's `mlperf_log_detail.txt`: a line of JSON for each key.
//!
//! ```text
//! :::MLLOG {"key": "result_validity", "value": "VALID", "time_ms": 5120.000000, .., "metadata": {..}}
//! ```
//!
//! Simulated time replaces the clock; it begins with the run, at midnight of 1970-01-01 (UTC). Values about
//! LoadGen's own build, threads and source are empty: `NA`, 0, `xrsim`.
//!
//! Deviations: LoadGen wrote plain text until v0.7, which none of today's tools read; those rounds have the
//! lines of v1.0. A number that is not finite is `null`, where LoadGen writes text that is not JSON.

mod date;
mod keys;
mod record;
mod writer;

pub use record::{LogRecord, LogValue};

pub use writer::DetailLog;
