//! What is simulated: networks, dataflows, hardware, scenarios, and what a run leaves (`trace`), with the
//! cost of every layer on every accelerator (`cost`) and the mappings of layers (`mapper`).
//!
//! Everything is a function of plain data: nothing here prints, reads the environment, takes the time or knows
//! a file format. Only [`digest`] and the cache of [`mapper`] open files.
//!
//! | to add | write |
//! |---|---|
//! | cost model | `src/cost/<name>.rs`, one line in `cost::ALL` |
//! | operator | a variant of [`model::Operator`], its shapes in `model::shapes` and its nests in `cost::loop_nest` |
//! | old name of a key, option or column | one entry in the table of [`renamed`] beside the names of its kind |

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

// Units and indices.
pub mod ids;
pub mod units;

// Text, statistics, threads, cancellation, checksums, names that changed, columns of results.
pub mod cancel;
pub mod column;
pub mod digest;
pub mod parallel;
pub mod renamed;
pub mod sequence;
pub mod statistics;
pub mod text;

// The domain.
pub mod dataflow;
pub mod hardware;
pub mod model;
pub mod scenario;
pub mod trace;

// Costs of layers, and mappings chosen by them.
pub mod cost;
pub mod mapper;
