//! Choices that come with the program.

/// A table of mappings: contents of files by their names.
pub(super) type Table = &'static [(&'static str, &'static str)];

include!(concat!(env!("OUT_DIR"), "/mappings.rs"));

/// Files of the table by the digests of what their mappings depend on, in their order.
pub const FILES: Table = MAPPINGS;
