//! Widths of elements, and compression in DRAM (docs/explanation/cost-model-loop-nest.md, sections 2 and 6.3).

use crate::model::{Bits, MatmulShape, Operator};

/// Width of an element: a whole number of bits, of which [`Width::MAX`] has most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Width(u32);

impl Width {
    /// Largest width of an operand: 64 bytes.
    pub const MAX: Self = Self::of_bytes(64);

    /// A width in bits.
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// A width in bytes.
    pub const fn of_bytes(bytes: u32) -> Self {
        Self(bytes.saturating_mul(8))
    }

    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Bits of `elements`, at most `u64::MAX`.
    pub const fn bits_of(self, elements: u64) -> u64 {
        elements.saturating_mul(self.0 as u64)
    }

    /// Bytes of an element, which may be a fraction.
    pub fn bytes_per_element(self) -> f64 {
        f64::from(self.0) / 8.0
    }

    /// Bytes of `elements` of one tensor that lie together in a memory, rounded up. No other function makes
    /// whole bytes of bits.
    pub const fn bytes(self, elements: u64) -> u64 {
        let bits = self.0 as u64;
        let whole = (elements / 8).saturating_mul(bits);
        whole.saturating_add(((elements % 8) * bits).div_ceil(8))
    }
}

/// Widths of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Widths {
    /// Input element.
    pub input: Width,
    /// Weight.
    pub weight: Width,
    /// Partial sum, and an output before it is requantised in the shared memory.
    pub partial_sum: Width,
    /// Output element in DRAM.
    pub output: Width,
}

impl Widths {
    /// Widths of inputs, weights, partial sums and outputs \[byte\].
    pub const fn of_bytes([input, weight, partial_sum, output]: [u32; 4]) -> Self {
        Self {
            input: Width::of_bytes(input),
            weight: Width::of_bytes(weight),
            partial_sum: Width::of_bytes(partial_sum),
            output: Width::of_bytes(output),
        }
    }

    /// The widths of an operator whose data have these `bits` (docs/explanation/cost-model-loop-nest.md, section 2.1). Inputs
    /// and outputs have the bits of activations, as has the second operand of a product of activations. Partial
    /// sums are not narrower than outputs.
    #[must_use]
    pub fn with_bits(self, bits: Bits, operator: &Operator) -> Self {
        let [weights, activations] =
            [bits.weights, bits.activations].map(|bits| bits.map(Width::of_bits));
        let second = match operator {
            Operator::Matmul(MatmulShape { activations: true, .. }) => activations,
            _ => weights,
        };
        Self {
            input: activations.unwrap_or(self.input),
            weight: second.unwrap_or(self.weight),
            partial_sum: activations.map_or(self.partial_sum, |own| own.max(self.partial_sum)),
            output: activations.unwrap_or(self.output),
        }
    }

    /// The widths of inputs, weights, partial sums and outputs.
    pub const fn into_array(self) -> [Width; 4] {
        [self.input, self.weight, self.partial_sum, self.output]
    }
}

impl Default for Widths {
    /// 8-bit operands with sums of 32 bits.
    fn default() -> Self {
        Self::of_bytes([1, 1, 4, 1])
    }
}

/// Factor of the bytes that a tensor has in DRAM, where it may be compressed: a whole number of
/// millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compression(u32);

impl Compression {
    /// No compression: the factor 1.
    pub const NONE: Self = Self(Self::ONE);

    const ONE: u32 = 1_000_000;

    /// The factor `factor`, above 0 and at most 2: some codes make data without zeros longer. `None` if it is
    /// outside, or no whole number of millionths.
    pub fn new(factor: f64) -> Option<Self> {
        let millionths = (factor * f64::from(Self::ONE)).round();
        let is_whole = (millionths / f64::from(Self::ONE) - factor).abs() < 1e-12;
        let fits = (1.0..=2.0 * f64::from(Self::ONE)).contains(&millionths);
        (is_whole && fits).then_some(Self(millionths as u32))
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ONE)
    }

    /// Bytes in DRAM of `bytes` on chip that move together, rounded up.
    pub fn of(self, bytes: u64) -> u64 {
        if self == Self::NONE {
            return bytes;
        }
        let scaled = (u128::from(bytes) * u128::from(self.0)).div_ceil(u128::from(Self::ONE));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

impl Default for Compression {
    /// None.
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_elements_that_lie_together_are_rounded_up_once() {
        let four = Width::of_bits(4);
        assert_eq!([0, 1, 2, 3, 16, 17].map(|it| four.bytes(it)), [0, 1, 1, 2, 8, 9]);
        let odd = Width::of_bits(11);
        for elements in 0..100 {
            assert_eq!(odd.bytes(elements), (elements * 11).div_ceil(8), "{elements}");
        }
        assert_eq!(Width::of_bytes(3).bytes(7), 21);
        assert_eq!(Width::of_bytes(2).bytes(u64::MAX / 2), u64::MAX - 1);
        assert_eq!(Width::of_bytes(2).bytes(u64::MAX), u64::MAX);
        assert_eq!(four.bytes_per_element(), 0.5);
    }

    #[test]
    fn compressed_bytes_are_rounded_up() {
        let half = Compression::new(0.5).expect("it is a factor");
        assert_eq!([0, 1, 2, 3].map(|bytes| half.of(bytes)), [0, 1, 1, 2]);
        let third = Compression::new(0.333_333).expect("it is a factor");
        assert_eq!(third.of(3_000_000), 999_999);
        assert_eq!(Compression::new(2.0).map(|it| it.of(u64::MAX)), Some(u64::MAX));
        assert_eq!(Compression::new(1.0), Some(Compression::NONE));
        assert_eq!(third.factor(), 0.333_333);
        for wrong in [0.0, -1.0, 2.000_001, 0.123_456_78, 1e-7, f64::NAN, f64::INFINITY] {
            assert_eq!(Compression::new(wrong), None, "{wrong}");
        }
    }
}
