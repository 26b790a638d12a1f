//! Operators that treat elements one by one, with operands broadcast.

use super::folding::{self, Known};
use super::number;
use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::{Element, Fact, Number};

/// Operators of one tensor that keep its shape and type; more operands do not change them.
pub(crate) fn unary(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    of_one(call, input.element)
}

/// Operators of one tensor that ask something of each element.
pub(crate) fn test(call: &Call<'_>) -> Outputs {
    of_one(call, Element::BOOL)
}

fn of_one(call: &Call<'_>, element: Element) -> Outputs {
    let input = call.input(0)?;
    let function = number::unary(call.operator());
    let elements = input.known().zip(function).and_then(|(known, it)| folding::map(known, it));
    Ok(vec![call.folded(element, input.shape.clone(), elements)])
}

/// `Clip`; its limits are attributes before opset 11.
pub(crate) fn clip(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let elements = fold_clip(call, input)?;
    Ok(vec![call.folded(input.element, input.shape.clone(), elements)])
}

fn fold_clip(call: &Call<'_>, input: &Fact) -> Result<Known, Fault> {
    let Some(known) = input.known() else { return Ok(None) };
    let mut limits = [None, None];
    for (index, limit) in limits.iter_mut().enumerate() {
        if call.opset < 11 {
            let (name, default) = [("min", f32::MIN), ("max", f32::MAX)][index];
            *limit = Some(Number::Float(f64::from(call.float(name, default)?)));
        } else if let Some(fact) = call.optional(index + 1) {
            let Some(value) = fact.first() else { return Ok(None) };
            *limit = Some(value);
        }
    }
    let [low, high] = limits;
    Ok(folding::map(known, |value| {
        let value = low.map_or(Some(value), |low| number::max(value, low))?;
        high.map_or(Some(value), |high| number::min(value, high))
    }))
}

/// Operators of two or more tensors that are broadcast to each other.
pub(crate) fn broadcast(call: &Call<'_>) -> Outputs {
    let first = call.input(0)?;
    variadic(call, first.element)
}

/// Operators of exactly two tensors that are broadcast to each other.
pub(crate) fn binary(call: &Call<'_>) -> Outputs {
    call.input(1)?;
    call.at_most(2)?;
    broadcast(call)
}

/// Comparisons.
pub(crate) fn comparison(call: &Call<'_>) -> Outputs {
    call.input(1)?;
    call.at_most(2)?;
    variadic(call, Element::BOOL)
}

fn variadic(call: &Call<'_>, element: Element) -> Outputs {
    let facts = call.all(0, 1)?;
    let out = joint_shape(&facts)?;
    let is_fmod = call.operator() == "Mod" && call.flag("fmod")?;
    let function = number::binary(if is_fmod { "fmod" } else { call.operator() });
    let elements = function.and_then(|function| fold(&facts, &out, function));
    Ok(vec![call.folded(element, out, elements)])
}

/// Shape of tensors that are broadcast to each other.
pub(super) fn joint_shape(facts: &[&Fact]) -> Result<Vec<u64>, Fault> {
    shape::broadcast(&facts.iter().map(|fact| fact.shape.as_slice()).collect::<Vec<_>>())
}

fn fold(facts: &[&Fact], out: &[u64], function: number::Binary) -> Known {
    let (first, others) = facts.split_first()?;
    let start = folding::expand(first, out)?;
    others
        .iter()
        .try_fold(start, |known, fact| folding::zip(&known, &folding::expand(fact, out)?, function))
}

/// `PRelu`: the slope is broadcast to the input, not the other way round.
pub(crate) fn prelu(call: &Call<'_>) -> Outputs {
    let (input, slope) = (call.input(0)?, call.input(1)?);
    let fits = shape::spreads(slope, &input.shape)?;
    ensure!(fits, "slopes of {slope} cannot be broadcast to {input}");
    Ok(vec![call.like(input)])
}

/// `Where`.
pub(crate) fn choose(call: &Call<'_>) -> Outputs {
    let (condition, yes, no) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let out = joint_shape(&[condition, yes, no])?;
    let elements = fold_choice([condition, yes, no], &out);
    Ok(vec![call.folded(yes.element, out, elements)])
}

fn fold_choice([condition, yes, no]: [&Fact; 3], out: &[u64]) -> Known {
    let condition = folding::expand(condition, out)?;
    let [yes, no] = [yes, no].map(|fact| folding::expand(fact, out));
    let chosen = |(index, holds): (usize, &Number)| {
        let from = if holds.int()? != 0 { &yes } else { &no };
        from.as_ref()?.get(index).copied()
    };
    condition.iter().enumerate().map(chosen).collect()
}

/// `Cast` and `CastLike`.
pub(crate) fn cast(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let element = if call.operator() == "CastLike" {
        call.input(1)?.element
    } else {
        element(call, "to")?.ok_or_else(|| Fault::Invalid("`to` is missing".to_owned()))?
    };
    let known = input.known();
    let elements = known.and_then(|it| folding::map(it, |number| number::cast(number, element)));
    Ok(vec![call.folded(element, input.shape.clone(), elements)])
}

/// A type of elements that an attribute names.
pub(super) fn element(call: &Call<'_>, name: &str) -> Result<Option<Element>, Fault> {
    let Some(value) = call.int_if(name)? else { return Ok(None) };
    match i32::try_from(value) {
        Ok(value) if (1..=26).contains(&value) => Ok(Some(Element(value))),
        _ => invalid(format!("type {value} in `{name}`")),
    }
}

/// `Dropout`: the data, and which of them are kept.
pub(crate) fn dropout(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let mask = if call.opset < 10 { input.element } else { Element::BOOL };
    let data = call.reshaped(input, input.shape.clone());
    Ok(vec![data, call.output(mask, input.shape.clone())])
}

/// `Identity`.
pub(crate) fn identity(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    Ok(vec![call.reshaped(input, input.shape.clone())])
}
