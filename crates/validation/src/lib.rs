//! The published study again (`reproduce`), and comparisons with reference data (`validate`): layers that were
//! enumerated, other cost models, silicon, and recorded runs of LoadGen.
//!
//! Reference data stand in `tests/reference/` and are compiled in. A new set of them is a file there, its reader,
//! and a function that returns what differs.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod reproduce;
pub mod validate;
