//! Folding: elements of outputs out of elements of inputs.

use std::sync::Arc;

use super::super::fact::{Element, Elements, Fact};
use super::number::{self, Number};
use super::shape;

/// Elements, if they are known.
pub(super) type Known = Option<Elements>;

/// Elements as their type holds them; `None` if one does not fit.
pub(super) fn settle(element: Element, elements: Known) -> Option<Arc<Elements>> {
    let elements = elements?;
    let is_integer = matches!(elements, Elements::Ints(_));
    if is_integer != element.is_integer() && elements.len() > 0 {
        return None;
    }
    map(&elements, |number| number::settle(number, element)).map(Arc::new)
}

/// Function of each element.
pub(super) fn map(elements: &Elements, function: impl Fn(Number) -> Option<Number>) -> Known {
    if elements.len() == 0 {
        return Some(elements.clone());
    }
    number::collect(numbers(elements).map(function))
}

/// Elements one by one.
pub(super) fn numbers(elements: &Elements) -> impl Iterator<Item = Number> + '_ {
    (0..elements.len()).filter_map(|index| number::get(elements, index))
}

/// Elements at these indices.
pub(super) fn pick(elements: &Elements, indices: &[usize]) -> Known {
    match elements {
        Elements::Ints(ints) => {
            indices.iter().map(|&i| ints.get(i).copied()).collect::<Option<_>>().map(Elements::Ints)
        }
        Elements::Floats(floats) => indices
            .iter()
            .map(|&i| floats.get(i).copied())
            .collect::<Option<_>>()
            .map(Elements::Floats),
    }
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
    pick(input.elements.as_deref()?, &offsets(out, offset)?)
}

/// For each element of `out`, the index into a tensor of this shape that is broadcast to it.
pub(super) fn spread(from: &[u64], out: &[u64]) -> Option<Vec<usize>> {
    let strides = shape::strides(from);
    let first = out.len().checked_sub(from.len())?;
    offsets(out, |axis, coordinate| match axis.checked_sub(first) {
        Some(own) if from[own] != 1 => coordinate.saturating_mul(strides[own]),
        _ => 0,
    })
}

/// Elements of a tensor that is broadcast.
pub(super) fn expand(input: &Fact, out: &[u64]) -> Known {
    pick(input.elements.as_deref()?, &spread(&input.shape, out)?)
}

/// Function of the elements of two tensors of one shape.
pub(super) fn zip(a: &Elements, b: &Elements, function: number::Binary) -> Known {
    if a.len() != b.len() {
        return None;
    }
    number::collect(numbers(a).zip(numbers(b)).map(|(a, b)| function(a, b)))
}
