//! The table of mappings that comes with the program.

use super::store::Table;

/// Files of the table, in the order of their names.
pub(super) const FILES: Table = &[];
