//! Widths of the data of layers.

use super::Operator;

/// Bits of an element of the data of a layer. Where one is `None`, the hardware has a width of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Bits {
    /// Bits of a weight, from 1 to [`Bits::MAX`].
    pub weights: Option<u32>,
    /// Bits of an element that the layer reads or writes, from 1 to [`Bits::MAX`]. Both operands of a product
    /// of activations have them.
    pub activations: Option<u32>,
}

impl Bits {
    /// Most bits of an element.
    pub const MAX: u32 = 64;

    /// Whether both are left to the hardware.
    pub fn are_of_hardware(self) -> bool {
        self == Self::default()
    }

    /// These bits, and those of `other` where these leave them open.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            weights: self.weights.or(other.weights),
            activations: self.activations.or(other.activations),
        }
    }

    /// The same bits without those of weights if `operator` has none.
    #[must_use]
    pub fn of(self, operator: &Operator) -> Self {
        Self { weights: self.weights.filter(|_| operator.weights() > 0), ..self }
    }
}
