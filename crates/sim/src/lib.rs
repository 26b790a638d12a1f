//! Runs: the requests of a scenario and a seed (`load`), heat and charge of the device (`device`), the schedulers
//! that place requests (`schedule`, `external`), the two runtimes (`engine` and, for the published artifact,
//! `compat`), scores and metrics, upper bounds (`bounds`), and many runs in parallel (`sweep`).
//!
//! A [`plan::Plan`] describes one run. After it, a run fails only for a reason in [`sweep::RunError`]. `engine`
//! and `score` have no input or output, no random generator and no clock; `schedule` sees a
//! [`schedule::View`], never the engine.
//!
//! | to add | write |
//! |---|---|
//! | scheduler | `src/schedule/policies/<name>.rs`, one line in `schedule::ALL` |
//! | score | `src/score/<name>.rs`, one line in a table of `src/score/table.rs`; its value in `src/compat/score.rs`, where it is 0 otherwise |
//! | metric | a field in `src/metrics/service.rs` or `run.rs` for comparisons, `device.rs` for `scores.csv`; one line in its `COLUMNS` |
//! | effect of the device, fixed before a run | a method of `CostTable`, its settings in [`plan::Effects`], one step in `sweep::costs`, its condition in `Effects::any` |
//! | effect of the device that depends on the run | a module in `src/engine/effects/`, its settings in [`plan::Effects`], its field and hooks in `DeviceEffects`, its condition in `Effects::any` |

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

// Functions of the domain, independent of each other.
pub mod device;
pub mod load;
pub mod score;

// Upper bounds and metrics of runs.
pub mod bounds;
pub mod metrics;

// Schedulers, schedulers in other processes, and the description of a run.
pub mod external;
pub mod plan;
pub mod schedule;

// Two runtimes, independent of each other.
pub mod compat;
pub mod engine;

// Many runs.
pub mod sweep;
