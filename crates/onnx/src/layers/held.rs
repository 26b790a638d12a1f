//! Tensors of a trace as layers see them: which layer holds them, and which axis is which.

use std::collections::BTreeSet;

use crate::trace::TensorId;
use xrsim_model::model::{Tensor, View};

/// Place that a tensor comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    /// An input of the network.
    Outside,
    /// A layer, counted from 0.
    Layer(usize),
}

/// Axis of a layer's tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Axis {
    /// Batch, regions or instances.
    N,
    /// Channels or features.
    K,
    /// Rows, or positions in one direction.
    Y,
    /// Columns.
    X,
}

/// Axes of an image.
pub(super) const IMAGE: [Axis; 4] = [Axis::N, Axis::K, Axis::Y, Axis::X];

/// Places, with how what is there is read, if that is not all of it.
pub(super) type Places = Vec<(Place, View)>;

/// All that a layer writes.
pub(super) fn whole(layer: usize) -> Places {
    vec![(Place::Layer(layer), View::Whole)]
}

/// A tensor that depends on data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    /// Where it comes from.
    pub places: Places,
    /// Tensor of which it is a function, element by element.
    pub base: TensorId,
    /// Axes of the layer's tensor that its axes belong to; `None` if that is not known.
    pub axes: Option<Vec<Axis>>,
    /// Layer with weights, or normalisation, that it comes from with no other reader between.
    pub behind: Option<usize>,
    /// Bits of its elements, if they are quantised.
    pub bits: Option<u32>,
    /// Elements of the cache that it is, before any of them are repeated.
    pub cached: Option<u64>,
}

impl Held {
    /// A tensor of these places.
    pub(super) fn new(places: Places, base: TensorId) -> Self {
        Self { places, base, axes: None, behind: None, bits: None, cached: None }
    }

    /// The same places, read so where nothing else is known.
    pub(super) fn seen(&self, view: View) -> Places {
        let seen = |&(place, known): &(Place, View)| match known {
            View::Whole | View::Reshape => (place, if view == View::Whole { known } else { view }),
            _ if known == view || matches!(view, View::Whole | View::Reshape) => (place, known),
            // Two different changes of elements in a row are neither.
            _ => (place, View::Gather),
        };
        self.places.iter().map(seen).collect()
    }
}

/// Axes of a tensor of which nothing is known but its shape: features last, or an image.
pub(super) fn usual_axes(rank: usize) -> Vec<Axis> {
    match rank {
        4 => IMAGE.to_vec(),
        _ => axes_ending(rank, Axis::Y, [Axis::Y, Axis::K]),
    }
}

/// As many axes, the last two of which are these.
pub(super) fn axes_ending(rank: usize, leading: Axis, ends: [Axis; 2]) -> Vec<Axis> {
    let mut axes = vec![leading; rank];
    for (axis, end) in axes.iter_mut().rev().zip(ends.into_iter().rev()) {
        *axis = end;
    }
    axes
}

/// Extents of a layer's tensor, `[n, k, y, x]`, for a tensor of this shape; saturating.
pub(super) fn extents(shape: &[u64], axes: &[Axis]) -> [u64; 4] {
    let mut extents = [1u64; 4];
    for (extent, axis) in shape.iter().zip(axes) {
        let slot = &mut extents[*axis as usize];
        *slot = slot.saturating_mul(*extent);
    }
    extents
}

/// The tensor of these extents, if a layer can have it.
pub(super) fn tensor(extents: [u64; 4]) -> Option<Tensor> {
    let limit = u64::from(xrsim_model::model::ConvShape::MAX_EXTENT);
    let fits = extents.iter().all(|extent| (1..=limit).contains(extent));
    let [n, k, y, x] = extents.map(|extent| extent as u32);
    fits.then_some(Tensor { n, k, y, x })
}

/// Axes after a change of shape that keeps the order of elements; `None` if axes are cut.
pub(super) fn reshaped(from: &[u64], axes: &[Axis], to: &[u64]) -> Option<Vec<Axis>> {
    let mut result = Vec::with_capacity(to.len());
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        // Groups of axes with equal products on either side.
        let (begin, first) = (i, j);
        let next = |from: &[u64], at: &mut usize| {
            let extent = from.get(*at).copied();
            *at += usize::from(extent.is_some());
            extent
        };
        let (mut left, mut right) =
            (next(from, &mut i).unwrap_or(1), next(to, &mut j).unwrap_or(1));
        while left != right {
            if left < right {
                left = left.saturating_mul(next(from, &mut i)?);
            } else {
                right = right.saturating_mul(next(to, &mut j)?);
            }
        }
        let last = result.last().copied().unwrap_or(Axis::Y);
        let axis = joined(&from[begin..i], &axes[begin..i], last, j - first)?;
        result.extend(std::iter::repeat_n(axis, j - first));
    }
    Some(result)
}

/// The axis of a group of axes that becomes `n` axes; `last` if there are none.
fn joined(from: &[u64], axes: &[Axis], last: Axis, n: usize) -> Option<Axis> {
    // An extent of 1 says nothing about its axis.
    let is_long = |(extent, axis): (&u64, &Axis)| (*extent > 1).then_some(*axis);
    let mut parts: BTreeSet<Axis> = from.iter().zip(axes).filter_map(is_long).collect();
    if parts.is_empty() {
        parts.extend(axes.first());
    }
    match *parts.into_iter().collect::<Vec<_>>() {
        [] => Some(last),
        [only] => Some(only),
        ref many if n == 1 && !many.contains(&Axis::K) => Some(Axis::Y),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Axis::{K, N, X, Y};
    use super::*;

    #[test]
    fn axes_are_followed_through_changes_of_shape() {
        let image = [N, K, Y, X];
        assert_eq!(reshaped(&[2, 8, 4, 6], &image, &[2, 8, 24]), Some(vec![N, K, Y]));
        assert_eq!(reshaped(&[1, 8, 1, 1], &image, &[1, 8]), Some(vec![N, K]));
        assert_eq!(reshaped(&[1, 9, 8], &[Y, Y, K], &[1, 9, 2, 4]), Some(vec![Y, Y, K, K]));
        assert_eq!(reshaped(&[1, 9, 8], &[Y, Y, K], &[9, 8]), Some(vec![Y, K]));
        assert_eq!(reshaped(&[1, 8, 4, 6], &image, &[1, 192]), None);
        assert_eq!(reshaped(&[1, 8, 4, 6], &image, &[1, 4, 8, 6]), None);
        assert_eq!(reshaped(&[5], &[K], &[1, 5, 1]), Some(vec![K, K, K]));
    }
}
