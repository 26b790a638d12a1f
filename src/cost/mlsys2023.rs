//! (in progress)
use super::{CostModel, Entry};
/// Registry entry.
pub(super) const ENTRY: Entry = Entry {
    name: "mlsys2023",
    help: "",
    source: "",
    build: None,
};
