//! Numbers that the extents of a network depend on.

use std::ops::RangeInclusive;

use super::ConvShape;

/// A number that the extents of a network depend on, such as the regions that a detector proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Name, e.g. `regions`.
    pub name: Box<str>,
    /// Value that the layers have.
    pub value: u32,
    /// Value unless another one is set.
    pub default: u32,
    /// Values that are allowed.
    pub allowed: RangeInclusive<u32>,
    /// Reason of the default; empty if the file gives none.
    pub reason: Box<str>,
    /// Whether it is a count that may differ from frame to frame; layers with a count of 0 have nothing to do.
    pub is_count: bool,
}

impl Parameter {
    /// Largest value, that of an extent.
    pub const MAX: u32 = ConvShape::MAX_EXTENT;

    /// A parameter at its default, with every value from 1 to [`Parameter::MAX`] allowed.
    pub fn new(name: impl Into<Box<str>>, default: u32) -> Self {
        let (name, allowed) = (name.into(), 1..=Self::MAX);
        Self { name, value: default, default, allowed, reason: "".into(), is_count: false }
    }

    /// A count that is `planned` for every frame unless a scenario draws it, and is at most `most`.
    pub fn count(name: impl Into<Box<str>>, planned: u32, most: u32) -> Self {
        Self { allowed: 0..=most, is_count: true, ..Self::new(name, planned) }
    }

    /// Whether the value is the default.
    pub fn is_default(&self) -> bool {
        self.value == self.default
    }
}
