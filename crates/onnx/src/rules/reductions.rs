//! Reductions: one element for all along some axes.

use super::super::fact::{Element, Elements, Fact};
use super::folding::{self, Known};
use super::number::{self, Number};
use super::{Call, Fault, Outputs, shape};

/// Axes of a reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reduction {
    /// Axes that are reduced, in ascending order; none if the operator changes no extent.
    pub axes: Vec<usize>,
    /// Whether they stay, with an extent of 1.
    pub keeps: bool,
}

impl Reduction {
    fn shape(&self, input: &Fact) -> Vec<u64> {
        (0..input.shape.len())
            .filter(|axis| self.keeps || !self.axes.contains(axis))
            .map(|axis| if self.axes.contains(&axis) { 1 } else { input.shape[axis] })
            .collect()
    }

    /// Index into the output for each element of the input.
    fn targets(&self, input: &Fact) -> Option<Vec<usize>> {
        let kept: Vec<u64> = (0..input.shape.len())
            .map(|axis| if self.axes.contains(&axis) { 1 } else { input.shape[axis] })
            .collect();
        let strides = shape::strides(&kept);
        folding::offsets(&input.shape, |axis, at| {
            if self.axes.contains(&axis) { 0 } else { at.saturating_mul(strides[axis]) }
        })
    }
}

/// Axes of `Reduce*`, `QLinearReduceMean`, `ArgMax` and `ArgMin`.
///
/// # Errors
///
/// [`Fault::Elements`], if axes are an input that is not known; [`Fault::Invalid`] of axes that the input has not.
pub(crate) fn reduction(call: &Call<'_>) -> Result<Reduction, Fault> {
    let rank = call.input(0)?.shape.len();
    let keeps = call.int("keepdims", 1)? != 0;
    let axes = match call.operator() {
        "ArgMax" | "ArgMin" => vec![call.axis(0, 0)?],
        "QLinearReduceMean" => listed(call.ints("axes")?, rank, false)?,
        "ReduceSum" => {
            listed(call.moved("axes", 1, 13)?, rank, call.flag("noop_with_empty_axes")?)?
        }
        _ => listed(call.moved("axes", 1, 18)?, rank, call.flag("noop_with_empty_axes")?)?,
    };
    Ok(Reduction { axes, keeps })
}

fn listed(list: Option<&[i64]>, rank: usize, none_is_none: bool) -> Result<Vec<usize>, Fault> {
    let list = list.unwrap_or_default();
    if list.is_empty() {
        return Ok(if none_is_none { Vec::new() } else { (0..rank).collect() });
    }
    let mut axes = shape::axes(list, rank)?;
    axes.sort_unstable();
    Ok(axes)
}

/// `Reduce*`.
pub(super) fn reduce(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let reduction = reduction(call)?;
    let shape = reduction.shape(input);
    let elements = fold(call.operator(), input, &reduction, &shape);
    Ok(vec![call.known(input.element, shape, elements)])
}

fn fold(operator: &str, input: &Fact, reduction: &Reduction, out: &[u64]) -> Known {
    let (first, combine): (i64, number::Binary) = match operator {
        "ReduceSum" | "ReduceMean" => (0, number::add),
        "ReduceProd" => (1, number::mul),
        "ReduceMax" => (0, number::max),
        "ReduceMin" => (0, number::min),
        _ => return None,
    };
    let known = input.elements.as_deref()?;
    let is_extreme = matches!(operator, "ReduceMax" | "ReduceMin");
    let start = number::cast(Number::Int(first), input.element)?;
    let mut sums = vec![(!is_extreme).then_some(start); shape::few(out)?];
    for (value, target) in folding::numbers(known).zip(reduction.targets(input)?) {
        let sum = sums.get_mut(target)?;
        *sum = Some(match *sum {
            Some(sum) => combine(sum, value)?,
            None => value,
        });
    }
    if operator == "ReduceMean" {
        let count = (known.len() / sums.len().max(1)) as f64;
        sums = sums
            .into_iter()
            .map(|sum| match sum {
                Some(Number::Float(sum)) => Some(Number::Float(sum / count)),
                _ => None,
            })
            .collect();
    }
    number::collect(sums.into_iter())
}

/// `ArgMax` and `ArgMin`.
pub(super) fn arg(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let reduction = reduction(call)?;
    let shape = reduction.shape(input);
    let last = call.flag("select_last_index")?;
    let elements = fold_arg(call.operator() == "ArgMax", input, &reduction, last, &shape);
    Ok(vec![call.known(Element::INT64, shape, elements)])
}

fn fold_arg(most: bool, input: &Fact, reduction: &Reduction, last: bool, out: &[u64]) -> Known {
    let known = input.elements.as_deref()?;
    let &[axis] = reduction.axes.as_slice() else { return None };
    let places = folding::offsets(&input.shape, |own, at| if own == axis { at } else { 0 })?;
    let mut best: Vec<Option<(Number, usize)>> = vec![None; shape::few(out)?];
    let values = folding::numbers(known).zip(places).zip(reduction.targets(input)?);
    for ((value, place), target) in values {
        let best = best.get_mut(target)?;
        let better = match *best {
            None => true,
            Some((old, _)) if old == value => last,
            Some((old, _)) => {
                let extreme = if most { number::max(old, value) } else { number::min(old, value) };
                extreme? == value
            }
        };
        if better {
            *best = Some((value, place));
        }
    }
    best.into_iter()
        .map(|best| best.map(|(_, place)| place as i64))
        .collect::<Option<_>>()
        .map(Elements::Ints)
}
