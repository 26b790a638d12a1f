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
}

impl Parameter {
    /// Largest value, that of an extent.
    pub const MAX: u32 = ConvShape::MAX_EXTENT;

    /// A parameter at its default, with every value from 1 to [`Parameter::MAX`] allowed.
    pub fn new(name: impl Into<Box<str>>, default: u32) -> Self {
        let (name, allowed) = (name.into(), 1..=Self::MAX);
        Self { name, value: default, default, allowed, reason: "".into() }
    }

    /// Whether the value is the default.
    pub fn is_default(&self) -> bool {
        self.value == self.default
    }
}
