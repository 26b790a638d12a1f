//! Simulator of real-time multi-network XR workloads on DNN accelerators.

pub mod cli;
pub mod compat;
pub mod config;
pub mod cost;
pub mod dataflow;
pub mod engine;
pub mod hardware;
pub mod ids;
pub mod load;
pub mod model;
pub mod plan;
pub mod report;
pub mod scenario;
pub mod schedule;
pub mod score;
pub mod sweep;
pub mod trace;
pub mod units;
