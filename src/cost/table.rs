//! (in progress)
use super::{CostModel, Entry};
/// Registry entry.
pub(super) const ENTRY: Entry = Entry {
    name: "table",
    help: "",
    source: "",
    build: None,
};
