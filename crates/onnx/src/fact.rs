//! Facts about a tensor: element type, shape, and the elements that shapes depend on.

use std::sync::Arc;

/// Type of the elements of a tensor (`TensorProto.DataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Element(pub i32);

impl Element {
    /// 32-bit floating point.
    pub(crate) const FLOAT: Self = Self(1);
    /// 8-bit unsigned integer.
    pub(crate) const UINT8: Self = Self(2);
    /// 32-bit integer.
    pub(crate) const INT32: Self = Self(6);
    /// 64-bit integer.
    pub(crate) const INT64: Self = Self(7);
    /// Text.
    pub(crate) const STRING: Self = Self(8);
    /// Truth value.
    pub(crate) const BOOL: Self = Self(9);

    /// Bits of an element; `None` of text and of types that are not known here.
    pub(crate) fn bits(self) -> Option<u32> {
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
    pub(crate) fn is_integer(self) -> bool {
        matches!(self.0, 2..=7 | 9 | 12 | 13 | 21 | 22 | 25 | 26)
    }
}

/// One element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// An integer or a truth value.
    Int(i64),
    /// A number.
    Float(f64),
}

impl Number {
    /// The integer, if it is one.
    pub(crate) fn int(self) -> Option<i64> {
        if let Self::Int(value) = self { Some(value) } else { None }
    }

    /// The number, if it is no integer.
    pub(crate) fn float(self) -> Option<f64> {
        if let Self::Float(value) = self { Some(value) } else { None }
    }

    /// Its value as a number of 64 bits.
    pub(crate) fn value(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Facts about a tensor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fact {
    /// Type of its elements.
    pub element: Element,
    /// Its extents, at most [`Fact::MAX_EXTENT`] each.
    pub shape: Vec<u64>,
    /// Its elements in row-major order, if they depend on shapes and constants alone and are at most
    /// [`Fact::MAX_ELEMENTS`].
    pub elements: Option<Arc<Vec<Number>>>,
    /// Whether it depends on constants alone.
    pub is_constant: bool,
}

impl Fact {
    /// Largest extent: a tensor has at most 2^48 elements.
    pub(crate) const MAX_EXTENT: u64 = 1 << 48;

    /// Most elements of a tensor that are followed.
    pub(crate) const MAX_ELEMENTS: usize = 4096;

    /// An integer or truth value that is known.
    pub(crate) fn scalar(element: Element, value: i64) -> Self {
        let elements = Some(Arc::new(vec![Number::Int(value)]));
        Self { element, shape: Vec::new(), elements, is_constant: true }
    }

    /// Its elements, if they are known.
    pub(crate) fn known(&self) -> Option<&[Number]> {
        self.elements.as_deref().map(Vec::as_slice)
    }

    /// Its first element, if it is known.
    pub(crate) fn first(&self) -> Option<Number> {
        self.known()?.first().copied()
    }

    /// Its elements, if they are known and integers.
    pub(crate) fn ints(&self) -> Option<Vec<i64>> {
        self.known()?.iter().map(|number| number.int()).collect()
    }

    /// Whether its elements can be parameters of a network: not indices, shapes or truth values.
    pub(crate) fn is_parameter(&self) -> bool {
        !matches!(self.element, Element::INT64 | Element::BOOL | Element::STRING)
    }

    /// Number of elements, at most `u64::MAX`.
    pub(crate) fn count(&self) -> u64 {
        self.shape.iter().fold(1, |count: u64, &extent| count.saturating_mul(extent))
    }
}

/// Its extents, as messages write them.
impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text(&self.shape))
    }
}

/// Extents joined by `x`, as messages write them.
pub(crate) fn text(shape: &[u64]) -> String {
    match shape {
        [] => "a scalar".to_owned(),
        _ => shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x"),
    }
}
