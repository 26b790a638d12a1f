//! Facts about a tensor: element type, shape, and the elements that shapes depend on.

use std::sync::Arc;

/// Type of the elements of a tensor (`TensorProto.DataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Element(pub i32);

impl Element {
    /// 32-bit floating point.
    pub(super) const FLOAT: Self = Self(1);
    /// 8-bit unsigned integer.
    pub(super) const UINT8: Self = Self(2);
    /// 32-bit integer.
    pub(super) const INT32: Self = Self(6);
    /// 64-bit integer.
    pub(super) const INT64: Self = Self(7);
    /// Text.
    pub(super) const STRING: Self = Self(8);
    /// Truth value.
    pub(super) const BOOL: Self = Self(9);

    /// Bits of an element; `None` of text and of types that are not known here.
    pub(super) fn bits(self) -> Option<u32> {
        Some(match self.0 {
            2 | 3 | 9 | 17..=20 | 24 => 8,
            4 | 5 | 10 | 16 => 16,
            1 | 6 | 12 => 32,
            7 | 11 | 13 | 14 => 64,
            15 => 128,
            21..=23 => 4,
            25 | 26 => 2,
            _ => return None,
        })
    }

    /// Whether elements are integers or truth values.
    pub(super) fn is_integer(self) -> bool {
        matches!(self.0, 2..=7 | 9 | 12 | 13 | 21 | 22 | 25 | 26)
    }
}

/// Elements of a tensor in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Elements {
    /// Integers; truth values are 0 and 1.
    Ints(Vec<i64>),
    /// Numbers.
    Floats(Vec<f64>),
}

impl Elements {
    /// Most elements of a tensor that are followed.
    pub(super) const MAX: usize = 4096;

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ints(ints) => ints.len(),
            Self::Floats(floats) => floats.len(),
        }
    }
}

/// Facts about a tensor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    /// Type of its elements.
    pub element: Element,
    /// Its extents, at most [`Fact::MAX_EXTENT`] each.
    pub shape: Vec<u64>,
    /// Its elements, if they depend on shapes and constants alone and are at most [`Elements::MAX`].
    pub elements: Option<Arc<Elements>>,
    /// Whether it depends on constants alone.
    pub is_constant: bool,
}

impl Fact {
    /// Largest extent: a tensor has at most 2^48 elements.
    pub(super) const MAX_EXTENT: u64 = 1 << 48;

    /// Whether its elements can be parameters of a network: not indices, shapes or truth values.
    pub(super) fn is_parameter(&self) -> bool {
        !matches!(self.element, Element::INT64 | Element::BOOL | Element::STRING)
    }

    /// Number of elements, at most `u64::MAX`.
    pub(super) fn count(&self) -> u64 {
        self.shape.iter().fold(1, |count: u64, &extent| count.saturating_mul(extent))
    }
}
