//! (in progress)
use super::{CostModel, Entry};
/// Registry entry.
pub(super) const ENTRY: Entry = Entry {
    name: "roofline",
    help: "",
    source: "",
    build: None,
};
