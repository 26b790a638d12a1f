//! MLPerf Inference and MLPerf Mobile: what is run, and what a run has to do.

pub mod suite;
