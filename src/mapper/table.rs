//! The table of mappings that comes with the program.

/// A table of mappings: contents of files by their names.
pub(super) type Table = &'static [(&'static str, &'static str)];

/// Files of the table, in the order of their names.
pub(super) const FILES: Table = &[];
