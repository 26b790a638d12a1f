//! Reductions: one element for all along some axes.

use super::folding::{self, Known};
use super::number;
use super::{Call, Fault, Outputs, shape};
use crate::fact::{Element, Fact, Number};

/// Axes of a reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reduction {
    /// Axes that are reduced, in ascending order; none if the operator changes no extent.
    pub axes: Vec<usize>,
    /// Whether they stay, with an extent of 1.
    pub keeps: bool,
}

impl Reduction {
    fn shape(&self, input: &Fact, keeps: bool) -> Vec<u64> {
        let reduced = |axis: &usize| self.axes.contains(axis);
        let axes = (0..input.shape.len()).filter(|axis| keeps || !reduced(axis));
        axes.map(|axis| if reduced(&axis) { 1 } else { input.shape[axis] }).collect()
    }

    /// Index into the output for each element of the input.
    fn targets(&self, input: &Fact) -> Option<Vec<usize>> {
        let strides = shape::strides(&self.shape(input, true));
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
    let moved = |from: i64| -> Result<Vec<usize>, Fault> {
        let list = call.moved("axes", 1, from)?;
        listed(list.as_deref(), rank, call.flag("noop_with_empty_axes")?)
    };
    let axes = match call.operator() {
        "ArgMax" | "ArgMin" => vec![call.axis(0, 0)?],
        "QLinearReduceMean" => listed(call.ints("axes")?, rank, false)?,
        "ReduceSum" => moved(13)?,
        _ => moved(18)?,
    };
    Ok(Reduction { axes, keeps })
}

fn listed(list: Option<&[i64]>, rank: usize, none_is_none: bool) -> Result<Vec<usize>, Fault> {
    let list = list.filter(|list| !list.is_empty());
    if none_is_none && list.is_none() {
        return Ok(Vec::new());
    }
    let mut axes = shape::axes_or_all(list, rank)?;
    axes.sort_unstable();
    Ok(axes)
}

/// `Reduce*`.
pub(crate) fn reduce(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let reduction = reduction(call)?;
    let shape = reduction.shape(input, reduction.keeps);
    let elements = fold(call.operator(), input, &reduction, &shape);
    Ok(vec![call.folded(input.element, shape, elements)])
}

fn fold(operator: &str, input: &Fact, reduction: &Reduction, out: &[u64]) -> Known {
    let (first, combine): (Option<i64>, number::Binary) = match operator {
        "ReduceSum" | "ReduceMean" => (Some(0), number::add),
        "ReduceProd" => (Some(1), number::mul),
        "ReduceMax" => (None, number::max),
        "ReduceMin" => (None, number::min),
        _ => return None,
    };
    let known = input.known()?;
    let start = first.and_then(|first| number::cast(Number::Int(first), input.element));
    let mut sums = vec![start; shape::few(out)?];
    for (&value, target) in known.iter().zip(reduction.targets(input)?) {
        let sum = sums.get_mut(target)?;
        *sum = Some(sum.map_or(Some(value), |sum| combine(sum, value))?);
    }
    if operator == "ReduceMean" {
        let count = (known.len() / sums.len().max(1)) as f64;
        let mean = |sum: Option<Number>| Some(Number::Float(sum?.float()? / count));
        return sums.into_iter().map(mean).collect();
    }
    sums.into_iter().collect()
}

/// `ArgMax` and `ArgMin`.
pub(crate) fn arg(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let reduction = reduction(call)?;
    let shape = reduction.shape(input, reduction.keeps);
    let last = call.flag("select_last_index")?;
    let elements = fold_arg(call.operator() == "ArgMax", input, &reduction, last, &shape);
    Ok(vec![call.folded(Element::INT64, shape, elements)])
}

fn fold_arg(most: bool, input: &Fact, reduction: &Reduction, last: bool, out: &[u64]) -> Known {
    let known = input.known()?;
    let &[axis] = reduction.axes.as_slice() else { return None };
    let places = folding::offsets(&input.shape, |own, at| if own == axis { at } else { 0 })?;
    let extreme = if most { number::max } else { number::min };
    let mut best: Vec<Option<(Number, usize)>> = vec![None; shape::few(out)?];
    for ((&value, place), target) in known.iter().zip(places).zip(reduction.targets(input)?) {
        let best = best.get_mut(target)?;
        let better = match *best {
            None => true,
            Some((old, _)) if old == value => last,
            Some((old, _)) => extreme(old, value)? == value,
        };
        if better {
            *best = Some((value, place));
        }
    }
    best.into_iter().map(|best| Some(Number::Int(best?.1 as i64))).collect()
}
