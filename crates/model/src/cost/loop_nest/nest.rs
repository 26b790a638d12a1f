//! Layers as loop nests: axes, tensors and footprints (docs/explanation/cost-model-loop-nest.md, section 1).

use std::fmt;

use crate::model::{PerTensor, TensorRole};

use super::Illegal;

/// Number of axes of the iteration space.
pub(crate) const N_AXES: usize = 8;

/// An axis of the iteration space (section 1.1). Input rows and columns are no axes: they follow from
/// output and kernel positions. In [`dataflow::Axis`](crate::dataflow::Axis), in contrast, Y and X are
/// input rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// Batch.
    N,
    /// Group.
    G,
    /// Output channel of the group.
    K,
    /// Input channel of the group.
    C,
    /// Output row, Y'.
    OutputY,
    /// Output column, X'.
    OutputX,
    /// Kernel row.
    R,
    /// Kernel column.
    S,
}

impl Axis {
    /// Every axis, in the order of [`Extents`] and all other arrays over axes.
    pub const ALL: [Self; N_AXES] =
        [Self::N, Self::G, Self::K, Self::C, Self::OutputY, Self::OutputX, Self::R, Self::S];

    /// Axes that index outputs.
    pub const OUTPUT: [Self; 5] = [Self::N, Self::G, Self::K, Self::OutputY, Self::OutputX];
    /// Axes that index weights.
    pub const WEIGHT: [Self; 5] = [Self::G, Self::K, Self::C, Self::R, Self::S];
    /// Axes that index inputs directly. Input rows and columns are the other two coordinates.
    pub const INPUT: [Self; 3] = [Self::N, Self::G, Self::C];
    /// Output axis and kernel axis of input rows (direction 0) and of input columns (direction 1).
    pub const WINDOWS: [[Self; 2]; 2] = [[Self::OutputY, Self::R], [Self::OutputX, Self::S]];

    /// Whether MACs along this axis add into one output element: C, R and S.
    pub const fn is_reduction(self) -> bool {
        matches!(self, Self::C | Self::R | Self::S)
    }

    /// Direction of the axes of a window: 0 for rows (Y', R), 1 for columns (X', S).
    pub const fn window(self) -> Option<usize> {
        match self {
            Self::OutputY | Self::R => Some(0),
            Self::OutputX | Self::S => Some(1),
            _ => None,
        }
    }

    /// Whether the elements of a tensor depend on this axis.
    #[inline]
    pub const fn indexes(self, tensor: TensorRole) -> bool {
        match tensor {
            TensorRole::Input => !matches!(self, Self::K),
            TensorRole::Weight => !matches!(self, Self::N | Self::OutputY | Self::OutputX),
            TensorRole::Output => !self.is_reduction(),
        }
    }

    /// Letter without the prime of output rows and columns.
    pub(crate) const fn letter(self) -> char {
        match self {
            Self::N => 'N',
            Self::G => 'G',
            Self::K => 'K',
            Self::C => 'C',
            Self::OutputY => 'Y',
            Self::OutputX => 'X',
            Self::R => 'R',
            Self::S => 'S',
        }
    }
}

impl fmt::Display for Axis {
    /// The letter, with a prime for output rows and columns: `Y'`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prime = if matches!(self, Self::OutputY | Self::OutputX) { "'" } else { "" };
        write!(f, "{}{prime}", self.letter())
    }
}

/// Extents of a box of the iteration space, indexed by [`Axis`] in the order of [`Axis::ALL`].
pub type Extents = [u32; N_AXES];

/// Number of MACs in a box.
pub(crate) fn macs(extents: &Extents) -> u64 {
    extents.iter().map(|&extent| u64::from(extent)).product()
}

/// Output footprint of a box \[element\].
pub fn outputs(extents: &Extents) -> u64 {
    product(extents, &Axis::OUTPUT)
}

/// Weight footprint of a box \[element\].
pub fn weights(extents: &Extents) -> u64 {
    product(extents, &Axis::WEIGHT)
}

fn product(extents: &Extents, axes: &[Axis]) -> u64 {
    axes.iter().map(|&axis| u64::from(extents[axis as usize])).product()
}

/// Input rows (or columns) of a layer: stride, dilation, and the part that memory stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Distance of input positions of neighbouring outputs, at least 1.
    pub stride: u32,
    /// Distance of input positions of neighbouring kernel positions, at least 1.
    pub dilation: u32,
    /// Number of input positions in memory, without padding, at least 1.
    pub stored: u32,
    /// Number of padding positions in front of the stored ones.
    pub padding: u32,
}

impl Window {
    /// A window of stride and dilation 1. The padding is the number of input positions that `output`
    /// positions of a kernel of extent `kernel` need beyond the `stored` ones; its smaller half is in
    /// front.
    pub fn new(output: u32, kernel: u32, stored: u32) -> Self {
        Self { stride: 1, dilation: 1, stored, padding: 0 }.padded(output, kernel)
    }

    /// The same window with the padding that `output` positions of a kernel of extent `kernel` need
    /// beyond the stored ones; its smaller half is in front.
    #[must_use]
    pub fn padded(self, output: u32, kernel: u32) -> Self {
        Self { padding: self.reach(output, kernel).saturating_sub(self.stored) / 2, ..self }
    }

    /// Number of input positions from the first to the last of `output` x `kernel` positions, with
    /// stride and dilation as written.
    pub fn reach(&self, output: u32, kernel: u32) -> u32 {
        let steps = Steps { stride: self.stride, dilation: self.dilation };
        u32::try_from(steps.reach(output, kernel)).unwrap_or(u32::MAX)
    }

    /// Number of stored positions that at least one of `output` x `kernel` positions touches: |I|_real
    /// of section 1.5 along one direction.
    ///
    /// A position that several pairs touch is counted for the pair with the largest output position.
    /// With stride and dilation divided by their greatest common divisor, (y, r) and
    /// (y + dilation, r - stride) touch the same position.
    fn touched(&self, output: u32, kernel: u32) -> u64 {
        if self.dilation == 1 && self.stride <= kernel {
            // No position between the first and the last one is left out.
            let end = (u64::from(output) - 1) * u64::from(self.stride) + u64::from(kernel);
            let padding = u64::from(self.padding);
            return end.min(u64::from(self.stored) + padding).saturating_sub(padding);
        }
        let divisor = divisor(self.stride, self.dilation);
        let (stride, dilation) = (i64::from(self.stride), i64::from(self.dilation));
        let repeated = i64::from(output) - dilation / i64::from(divisor);
        let distinct = i64::from(self.stride / divisor);
        let count = |r: i64| {
            let start = r * dilation - i64::from(self.padding);
            let first = (-start + stride - 1).div_euclid(stride);
            let first = first.max(if r < distinct { 0 } else { repeated.max(0) });
            let end = (i64::from(self.stored) - start + stride - 1).div_euclid(stride);
            (end.min(i64::from(output)) - first).max(0) as u64
        };
        (0..i64::from(kernel)).map(count).sum()
    }
}

/// Stride and dilation along rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Steps {
    /// Distance of input positions of neighbouring outputs, at least 1.
    pub stride: u32,
    /// Distance of input positions of neighbouring kernel positions, at least 1.
    pub dilation: u32,
}

impl Steps {
    /// Stride and dilation after compaction, which leaves out positions that no MAC touches (1.1).
    pub fn compact(self, output: u32, kernel: u32) -> Self {
        if kernel == 1 || output == 1 {
            return Self { stride: 1, dilation: 1 };
        }
        let divisor = divisor(self.stride, self.dilation);
        let (stride, dilation) = (self.stride / divisor, self.dilation / divisor);
        match (stride, dilation) {
            (_, 1) => Self { stride: stride.min(kernel), dilation },
            (1, _) => Self { stride, dilation: dilation.min(output) },
            _ => Self { stride, dilation },
        }
    }

    /// Number of input positions from the first to the last that `output` x `kernel` positions touch
    /// (1.2); 0 if either extent is 0.
    pub fn reach(self, output: u32, kernel: u32) -> u64 {
        if output == 0 || kernel == 0 {
            return 0;
        }
        let [output, kernel] = [output, kernel].map(|extent| u64::from(extent - 1));
        output * u64::from(self.stride) + kernel * u64::from(self.dilation) + 1
    }
}

/// Whether the product of positive `factors` is less than 2^60.
fn is_countable(factors: impl IntoIterator<Item = u64>) -> bool {
    let product = factors.into_iter().try_fold(1u64, |product, factor| product.checked_mul(factor));
    product.is_some_and(|product| product < 1 << 60)
}

/// Greatest common divisor of two positive numbers.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// A layer as a loop nest (sections 1.1 to 1.5).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Nest {
    extents: Extents,
    windows: [Window; 2],
    compact: [Steps; 2],
    depthwise: bool,
}

impl Nest {
    /// Upper limit of extents, strides, dilations, and numbers of input rows and columns.
    pub const MAX_EXTENT: u32 = 1 << 28;

    /// A nest of these extents. `windows` has one entry for rows and one for columns. `depthwise` marks
    /// a layer whose channels are its groups: directives on C may mean G there (section 3.4).
    ///
    /// # Errors
    ///
    /// [`Illegal::Extent`] if a number is 0 or above [`Nest::MAX_EXTENT`], or if the input has more rows
    /// or columns than that; [`Illegal::Overflow`] if MACs or input elements reach 2^60.
    pub fn new(extents: Extents, windows: [Window; 2], depthwise: bool) -> Result<Self, Illegal> {
        let steps = windows.iter().flat_map(|window| [window.stride, window.dilation]);
        let stored = windows.iter().map(|window| window.stored);
        let mut numbers = extents.into_iter().chain(steps).chain(stored);
        let allowed = 1..=Self::MAX_EXTENT;
        if !numbers.all(|number| allowed.contains(&number)) {
            return Err(Illegal::Extent);
        }
        let written =
            windows.map(|window| Steps { stride: window.stride, dilation: window.dilation });
        let compact = [0, 1].map(|at| {
            let [output, kernel] = Axis::WINDOWS[at].map(|axis| extents[axis as usize]);
            written[at].compact(output, kernel)
        });
        let nest = Self { extents, windows, compact, depthwise };
        let too_large = |at: usize| nest.reach(at, &extents) > u64::from(Self::MAX_EXTENT);
        if too_large(0) || too_large(1) {
            return Err(Illegal::Extent);
        }
        let inputs = Axis::INPUT.map(|axis| u64::from(nest.extent(axis)));
        let inputs = inputs.into_iter().chain([0, 1].map(|at| nest.reach(at, &extents)));
        if is_countable(extents.map(u64::from)) && is_countable(inputs) {
            Ok(nest)
        } else {
            Err(Illegal::Overflow)
        }
    }

    /// Extents of the whole layer.
    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    /// Extent of one axis.
    pub fn extent(&self, axis: Axis) -> u32 {
        self.extents[axis as usize]
    }

    /// Windows of rows (0) and columns (1), as written.
    pub fn windows(&self) -> &[Window; 2] {
        &self.windows
    }

    /// Stride and dilation of rows (0) and columns (1) after compaction (section 1.4).
    pub fn compact(&self) -> &[Steps; 2] {
        &self.compact
    }

    /// Whether directives on C may mean groups (section 3.4).
    pub fn is_depthwise(&self) -> bool {
        self.depthwise
    }

    /// MACs of the layer.
    pub fn macs(&self) -> u64 {
        macs(&self.extents)
    }

    /// Number of input rows (`window` 0) or columns (1) of a box.
    fn reach(&self, window: usize, extents: &Extents) -> u64 {
        let [output, kernel] = Axis::WINDOWS[window].map(|axis| extents[axis as usize]);
        self.compact[window].reach(output, kernel)
    }

    /// Input footprint of a box \[element\], padding included (section 1.5).
    pub fn inputs(&self, extents: &Extents) -> u64 {
        product(extents, &Axis::INPUT) * self.reach(0, extents) * self.reach(1, extents)
    }

    /// Footprint of every tensor for a box \[element\], padding of the input included (section 1.5).
    pub fn footprints(&self, extents: &Extents) -> PerTensor<u64> {
        PerTensor {
            input: self.inputs(extents),
            weight: weights(extents),
            output: outputs(extents),
        }
    }

    /// Number of stored input elements that at least one MAC touches: |I|_real of section 1.5.
    pub fn touched_inputs(&self) -> u64 {
        let rows_and_columns = [0, 1].map(|at| {
            let [output, kernel] = Axis::WINDOWS[at].map(|axis| self.extent(axis));
            self.windows[at].touched(output, kernel)
        });
        product(&self.extents, &Axis::INPUT) * rows_and_columns[0] * rows_and_columns[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compact(stride: u32, dilation: u32, output: u32, kernel: u32) -> (u32, u32) {
        let steps = Steps { stride, dilation }.compact(output, kernel);
        (steps.stride, steps.dilation)
    }

    #[test]
    fn rows_that_no_mac_touches_do_not_exist() {
        // A 1x1 kernel of stride 2 reads every second row: they become neighbours.
        assert_eq!(compact(2, 1, 8, 1), (1, 1));
        assert_eq!(compact(3, 2, 1, 5), (1, 1));
        // Stride 4 and dilation 2 touch even rows only; then stride 2 of a 3-tap kernel.
        assert_eq!(compact(4, 2, 8, 3), (2, 1));
        // Stride 5 under a kernel of 3 leaves two rows out between the windows.
        assert_eq!(compact(5, 1, 8, 3), (3, 1));
        assert_eq!(compact(1, 6, 4, 3), (1, 4));
        assert_eq!(compact(2, 3, 8, 3), (2, 3));
    }

    /// Distinct stored positions, one by one.
    fn touched_one_by_one(window: &Window, output: u32, kernel: u32) -> u64 {
        let stored = 0..i64::from(window.stored);
        let pairs = (0..output).flat_map(|y| (0..kernel).map(move |r| (y, r)));
        let positions = pairs.map(|(y, r)| {
            i64::from(y * window.stride + r * window.dilation) - i64::from(window.padding)
        });
        let touched: std::collections::BTreeSet<_> =
            positions.filter(|position| stored.contains(position)).collect();
        touched.len() as u64
    }

    #[test]
    fn touched_positions_are_counted_once() {
        for code in 0..4 * 4 * 6 * 5 * 4 * 12u32 {
            let mut left = code;
            let mut digit = |base: u32| {
                let digit = left % base;
                left /= base;
                digit
            };
            let (stride, dilation) = (1 + digit(4), 1 + digit(4));
            let (output, kernel) = (1 + digit(6), 1 + digit(5));
            let (padding, stored) = (digit(4), 1 + digit(12));
            let window = Window { stride, dilation, stored, padding };
            let expected = touched_one_by_one(&window, output, kernel);
            assert_eq!(window.touched(output, kernel), expected, "{window:?} {output} {kernel}");
        }
    }

    #[test]
    fn a_box_needs_the_hull_of_the_rows_that_it_touches() {
        // (3-1)*2 + (2-1)*3 + 1 = 8.
        assert_eq!(Steps { stride: 2, dilation: 3 }.reach(3, 2), 8);
        assert_eq!(Steps { stride: 2, dilation: 3 }.reach(0, 2), 0);
    }
}
