//! Folding: elements of outputs out of elements of inputs.

use std::sync::Arc;

use super::{number, shape};
use crate::fact::{Element, Fact, Number};

/// Elements, if they are known.
pub(super) type Known = Option<Vec<Number>>;

/// Elements as their type holds them; `None` if one does not fit.
pub(super) fn settle(element: Element, elements: Known) -> Option<Arc<Vec<Number>>> {
    map(&elements?, |number| number::settle(number, element)).map(Arc::new)
}

/// Function of each element.
pub(super) fn map(elements: &[Number], function: impl Fn(Number) -> Option<Number>) -> Known {
    elements.iter().copied().map(function).collect()
}

/// Elements at these indices.
pub(super) fn pick(elements: &[Number], indices: &[usize]) -> Known {
    indices.iter().map(|&index| elements.get(index).copied()).collect()
}

/// For each element of `out` in order, the sum over axes of the offset of its coordinate.
///
/// `None` if there are too many elements.
pub(super) fn offsets(out: &[u64], offset: impl Fn(usize, usize) -> usize) -> Option<Vec<usize>> {
    if shape::few(out)? == 0 {
        return Some(Vec::new());
    }
    let mut sums = vec![0_usize];
    for (axis, &extent) in out.iter().enumerate() {
        let extent = usize::try_from(extent).ok()?;
        let steps: Vec<usize> = (0..extent).map(|coordinate| offset(axis, coordinate)).collect();
        sums = sums
            .iter()
            .flat_map(|&sum| steps.iter().map(move |&step| sum.saturating_add(step)))
            .collect();
    }
    Some(sums)
}

/// Elements of an output whose coordinates each move through the input by an offset.
pub(super) fn follow(input: &Fact, out: &[u64], offset: impl Fn(usize, usize) -> usize) -> Known {
    pick(input.known()?, &offsets(out, offset)?)
}

/// Elements of a tensor that is broadcast.
pub(super) fn expand(input: &Fact, out: &[u64]) -> Known {
    let strides = shape::strides(&input.shape);
    let first = out.len().checked_sub(input.shape.len())?;
    follow(input, out, |axis, coordinate| match axis.checked_sub(first) {
        Some(own) if input.shape[own] != 1 => coordinate.saturating_mul(strides[own]),
        _ => 0,
    })
}

/// Function of the elements of two tensors of one shape.
pub(super) fn zip(a: &[Number], b: &[Number], function: number::Binary) -> Known {
    if a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).map(|(&a, &b)| function(a, b)).collect()
}
