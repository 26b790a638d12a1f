//! Operators that treat elements one by one, with operands broadcast.

use super::super::fact::{Element, Elements, Fact};
use super::folding::{self, Known};
use super::number::{self, Number};
use super::{Call, Fault, Outputs, invalid, shape};

/// Operators of one tensor that keep its shape and type; more operands do not change them.
pub(super) fn unary(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let elements = fold_unary(call, input);
    Ok(vec![call.known(input.element, input.shape.clone(), elements)])
}

fn fold_unary(call: &Call<'_>, input: &Fact) -> Known {
    folding::map(input.elements.as_deref()?, number::unary(call.operator())?)
}

/// Operators of one tensor that ask something of each element.
pub(super) fn test(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let elements = fold_unary(call, input);
    Ok(vec![call.known(Element::BOOL, input.shape.clone(), elements)])
}

/// `Clip`; its limits are attributes before opset 11.
pub(super) fn clip(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let elements = fold_clip(call, input)?;
    Ok(vec![call.known(input.element, input.shape.clone(), elements)])
}

fn fold_clip(call: &Call<'_>, input: &Fact) -> Result<Known, Fault> {
    let Some(elements) = input.elements.as_deref() else { return Ok(None) };
    let mut limits = [None, None];
    for (index, limit) in limits.iter_mut().enumerate() {
        if call.opset < 11 {
            let (name, default) = [("min", f32::MIN), ("max", f32::MAX)][index];
            *limit = Some(Number::Float(f64::from(call.float(name, default)?)));
        } else if let Some(fact) = call.optional(index + 1) {
            let Some(value) = fact.elements.as_deref().and_then(|known| number::get(known, 0))
            else {
                return Ok(None);
            };
            *limit = Some(value);
        }
    }
    let [low, high] = limits;
    Ok(folding::map(elements, |value| {
        let value = low.map_or(Some(value), |low| number::max(value, low))?;
        high.map_or(Some(value), |high| number::min(value, high))
    }))
}

/// Operators of two or more tensors that are broadcast to each other.
pub(super) fn broadcast(call: &Call<'_>) -> Outputs {
    let first = call.input(0)?;
    variadic(call, first.element)
}

/// Operators of exactly two tensors that are broadcast to each other.
pub(super) fn binary(call: &Call<'_>) -> Outputs {
    call.input(1)?;
    call.at_most(2)?;
    broadcast(call)
}

/// Comparisons.
pub(super) fn comparison(call: &Call<'_>) -> Outputs {
    call.input(1)?;
    call.at_most(2)?;
    variadic(call, Element::BOOL)
}

fn variadic(call: &Call<'_>, element: Element) -> Outputs {
    let facts = all(call)?;
    let shapes: Vec<_> = facts.iter().map(|fact| fact.shape.as_slice()).collect();
    let out = shape::broadcast(&shapes)?;
    let elements = fold(call, &facts, &out)?;
    Ok(vec![call.known(element, out, elements)])
}

fn all<'a>(call: &Call<'a>) -> Result<Vec<&'a Fact>, Fault> {
    (0..call.inputs.len()).map(|index| call.input(index)).collect()
}

fn fold(call: &Call<'_>, facts: &[&Fact], out: &[u64]) -> Result<Known, Fault> {
    let is_fmod = call.operator() == "Mod" && call.flag("fmod")?;
    let function = match call.operator() {
        _ if is_fmod => number::fmod,
        operator => match number::binary(operator) {
            Some(function) => function,
            None => return Ok(None),
        },
    };
    if facts.iter().any(|fact| fact.elements.is_none()) {
        return Ok(None);
    }
    let mut facts = facts.iter();
    let Some(first) = facts.next() else { return Ok(None) };
    let start = folding::expand(first, out);
    Ok(start.and_then(|start| {
        facts.try_fold(start, |known, fact| {
            folding::zip(&known, &folding::expand(fact, out)?, function)
        })
    }))
}

/// `PRelu`: the slope is broadcast to the input, not the other way round.
pub(super) fn prelu(call: &Call<'_>) -> Outputs {
    let (input, slope) = (call.input(0)?, call.input(1)?);
    if shape::broadcast(&[&input.shape, &slope.shape])? != input.shape {
        let (slope, input) = (shape::text(&slope.shape), shape::text(&input.shape));
        return invalid(format!("slopes of {slope} cannot be broadcast to {input}"));
    }
    Ok(vec![call.output(input.element, input.shape.clone())])
}

/// `Where`.
pub(super) fn choose(call: &Call<'_>) -> Outputs {
    let (condition, yes, no) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let out = shape::broadcast(&[&condition.shape, &yes.shape, &no.shape])?;
    let elements = fold_choice([condition, yes, no], &out);
    Ok(vec![call.known(yes.element, out, elements)])
}

fn fold_choice([condition, yes, no]: [&Fact; 3], out: &[u64]) -> Known {
    let condition = condition_of(&folding::expand(condition, out)?)?;
    let yes = folding::expand(yes, out);
    let no = folding::expand(no, out);
    number::collect(condition.iter().enumerate().map(|(index, &holds)| {
        number::get(if holds { yes.as_ref()? } else { no.as_ref()? }, index)
    }))
}

fn condition_of(elements: &Elements) -> Option<Vec<bool>> {
    match elements {
        Elements::Ints(ints) => Some(ints.iter().map(|&value| value != 0).collect()),
        Elements::Floats(_) => None,
    }
}

/// `Cast` and `CastLike`.
pub(super) fn cast(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let element = if call.operator() == "CastLike" {
        call.input(1)?.element
    } else {
        element(call, "to")?.ok_or_else(|| Fault::Invalid("`to` is missing".to_owned()))?
    };
    let elements = input
        .elements
        .as_deref()
        .and_then(|known| folding::map(known, |number| number::cast(number, element)));
    Ok(vec![call.known(element, input.shape.clone(), elements)])
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
pub(super) fn dropout(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let mask = if call.opset < 10 { input.element } else { Element::BOOL };
    let data = call.reshaped(input, input.shape.clone());
    Ok(vec![data, call.output(mask, input.shape.clone())])
}

/// `Identity`.
pub(super) fn identity(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    Ok(vec![call.reshaped(input, input.shape.clone())])
}
