//! Sets of elements, boxes of the iteration space, and the elements of tensors that a box touches.

use xrsim::cost::loop_nest::{Nest, Window};

/// A set of small numbers as bits.
#[derive(Clone, Default, PartialEq)]
pub struct Set(Vec<u64>);

impl Set {
    pub fn insert(&mut self, element: usize) {
        if self.0.len() <= element / 64 {
            self.0.resize(element / 64 + 1, 0);
        }
        self.0[element / 64] |= 1 << (element % 64);
    }

    pub fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The elements of `self` that are not in `other`.
    pub fn without(&self, other: &Self) -> Self {
        let others = other.0.iter().chain(std::iter::repeat(&0));
        Self(self.0.iter().zip(others).map(|(word, other)| word & !other).collect())
    }

    /// The elements of both.
    pub fn common(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(word, other)| word & other).collect())
    }

    /// Adds the elements of `other`.
    pub fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    pub fn union<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut union = Self::default();
        sets.into_iter().for_each(|set| union.add(set));
        union
    }
}

/// Half-open interval: first position, and the position after the last.
pub type Interval = (usize, usize);

/// A box of the iteration space: an interval per axis.
pub type Space = [Interval; 8];

pub fn whole(extents: [usize; 8]) -> Space {
    extents.map(|extent| (0, extent))
}

pub fn points(space: &[Interval]) -> u64 {
    space.iter().map(|(start, end)| (end - start) as u64).product()
}

/// Elements of an array of these extents that lie in a box, numbered in row-major order.
pub fn elements(space: &[Interval], extents: &[usize]) -> Set {
    let mut numbers = vec![0];
    for (&(start, end), extent) in space.iter().zip(extents) {
        let next = |number: usize| (start..end).map(move |at| number * extent + at);
        numbers = numbers.into_iter().flat_map(next).collect();
    }
    let mut set = Set::default();
    numbers.into_iter().for_each(|number| set.insert(number));
    set
}

/// A layer, which maps boxes to the elements of its tensors (sections 1.2 and 1.5).
pub struct Layer {
    /// Extents of the axes, in the order of [`Axis`](xrsim::cost::loop_nest::Axis).
    pub extents: [usize; 8],
    /// Stride and dilation of rows and columns after compaction (section 1.4).
    pub steps: [(usize, usize); 2],
}

impl Layer {
    pub fn new(nest: &Nest) -> Self {
        let extents = nest.extents().map(|extent| extent as usize);
        let steps = [0, 1].map(|at| {
            let Window { stride, dilation, .. } = nest.windows()[at];
            compact(stride as usize, dilation as usize, extents[4 + at], extents[6 + at])
        });
        Self { extents, steps }
    }

    /// Input rows (0) or columns (1) from the first to the last that a box touches.
    fn hull(&self, at: usize, space: &Space) -> Interval {
        let (stride, dilation) = self.steps[at];
        let ((y, y_end), (r, r_end)) = (space[4 + at], space[6 + at]);
        if y == y_end || r == r_end {
            return (0, 0);
        }
        (y * stride + r * dilation, (y_end - 1) * stride + (r_end - 1) * dilation + 1)
    }

    pub fn inputs(&self, space: &Space) -> Set {
        let [n, g, _, c, ..] = *space;
        let [ns, gs, _, cs, ..] = self.extents;
        let [rows, columns] = [0, 1].map(|at| self.hull(at, &whole(self.extents)).1);
        let region = [n, g, c, self.hull(0, space), self.hull(1, space)];
        elements(&region, &[ns, gs, cs, rows, columns])
    }

    pub fn weights(&self, space: &Space) -> Set {
        let [_, g, k, c, _, _, r, s] = *space;
        let [_, gs, ks, cs, _, _, rs, ss] = self.extents;
        elements(&[g, k, c, r, s], &[gs, ks, cs, rs, ss])
    }

    pub fn outputs(&self, space: &Space) -> Set {
        let [ns, gs, ks, _, ys, xs, ..] = self.extents;
        elements(&output_box(space), &[ns, gs, ks, ys, xs])
    }

    /// Number of inputs that at least one MAC touches, padding included.
    pub fn touched(&self) -> u64 {
        let [n, g, _, c, y, x, r, s] = self.extents;
        let touched = |at: usize, output: usize, kernel: usize| {
            let (stride, dilation) = self.steps[at];
            let mut set = Set::default();
            (0..output)
                .for_each(|y| (0..kernel).for_each(|r| set.insert(y * stride + r * dilation)));
            set.len()
        };
        (n * g * c) as u64 * touched(0, y, r) * touched(1, x, s)
    }
}

/// Stride and dilation after compaction (1.1).
fn compact(stride: usize, dilation: usize, output: usize, kernel: usize) -> (usize, usize) {
    if output == 1 || kernel == 1 {
        return (1, 1);
    }
    let divides = |by: &usize| stride.is_multiple_of(*by) && dilation.is_multiple_of(*by);
    let common = (1..=stride).rev().find(divides).expect("1 divides all");
    match (stride / common, dilation / common) {
        (stride, 1) => (stride.min(kernel), 1),
        (1, dilation) => (1, dilation.min(output)),
        steps => steps,
    }
}

pub fn output_box(space: &Space) -> [Interval; 5] {
    let [n, g, k, _, y, x, ..] = *space;
    [n, g, k, y, x]
}
