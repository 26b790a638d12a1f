//! The policies, a file each.

mod edf;
mod latency_greedy;
mod round_robin;

use super::Entry;

/// Every policy; the first is the default.
pub const ALL: &[Entry] = &[latency_greedy::ENTRY, round_robin::ENTRY, edf::ENTRY];
