//! Operators that make tensors of shapes and numbers: constants, ranges, random numbers.

use super::super::fact::{Element, Elements, Fact};
use super::super::graph::{Attribute, Tensor};
use super::elementwise::element;
use super::folding::{self, Known};
use super::number::{self, Number};
use super::{Call, Fault, Outputs, invalid, shape};

/// Facts about a constant of the file.
///
/// # Errors
///
/// [`Fault::Invalid`] of an extent that is negative or above 2^48.
pub(crate) fn of_tensor(tensor: &Tensor) -> Result<Fact, Fault> {
    let shape = extents(&tensor.dims, "a constant")?;
    let known = tensor.elements.as_ref().filter(|known| shape::few(&shape) == Some(known.len()));
    let elements = folding::settle(tensor.element, known.cloned());
    Ok(Fact { element: tensor.element, shape, elements, is_constant: true })
}

fn extents(values: &[i64], name: &str) -> Result<Vec<u64>, Fault> {
    let shape: Vec<u64> =
        values.iter().map(|&value| shape::extent(value, name)).collect::<Result<_, _>>()?;
    shape::count(&shape)?;
    Ok(shape)
}

/// `Constant`.
pub(super) fn constant(call: &Call<'_>) -> Outputs {
    let Some((name, value)) = call.node.attributes.first() else {
        return invalid("a `Constant` without a value");
    };
    let list = |element, count: usize, elements| call.known(element, vec![count as u64], elements);
    Ok(vec![match value {
        Attribute::Tensor(tensor) => of_tensor(tensor)?,
        Attribute::Int(value) => {
            call.known(Element::INT64, Vec::new(), Some(Elements::Ints(vec![*value])))
        }
        Attribute::Float(value) => {
            let elements = Elements::Floats(vec![f64::from(*value)]);
            call.known(Element::FLOAT, Vec::new(), Some(elements))
        }
        Attribute::Ints(_) | Attribute::Floats(_) if &**name == "value_ints" => {
            let values = call.ints("value_ints")?.unwrap_or_default();
            list(Element::INT64, values.len(), few(values).map(Elements::Ints))
        }
        Attribute::Floats(values) => {
            let floats = few(values).map(|few| few.into_iter().map(f64::from).collect());
            list(Element::FLOAT, values.len(), floats.map(Elements::Floats))
        }
        Attribute::Text(_) => call.output(Element::STRING, Vec::new()),
        Attribute::Texts(values) => list(Element::STRING, values.len(), None),
        _ => return Err(Fault::Unsupported),
    }])
}

fn few<T: Copy>(values: &[T]) -> Option<Vec<T>> {
    (values.len() <= Elements::MAX).then(|| values.to_vec())
}

/// `ConstantOfShape`.
pub(super) fn constant_of_shape(call: &Call<'_>) -> Outputs {
    let shape = extents(call.elements(0)?, "the shape")?;
    let (element, value) = match call.attribute("value") {
        None => (Element::FLOAT, Some(Number::Float(0.0))),
        Some(Attribute::Tensor(tensor)) => {
            let fact = of_tensor(tensor)?;
            let value = fact.elements.as_deref().and_then(|known| number::get(known, 0));
            (fact.element, value)
        }
        Some(_) => return invalid("`value` is not a tensor"),
    };
    let elements = shape::few(&shape).zip(value).map(|(count, value)| repeated(value, count));
    Ok(vec![call.known(element, shape, elements)])
}

fn repeated(value: Number, count: usize) -> Elements {
    match value {
        Number::Int(value) => Elements::Ints(vec![value; count]),
        Number::Float(value) => Elements::Floats(vec![value; count]),
    }
}

/// `Shape`: known even of data; it depends on shapes alone.
pub(super) fn shape_of(call: &Call<'_>) -> Outputs {
    let shape = &call.input(0)?.shape;
    let rank = shape.len() as i64;
    let place = |value: i64| {
        let value = if value < 0 { value.saturating_add(rank) } else { value };
        usize::try_from(value.clamp(0, rank)).unwrap_or(0)
    };
    let (start, end) = (place(call.int("start", 0)?), place(call.int("end", rank)?));
    let ints: Vec<i64> =
        shape.get(start..end).unwrap_or_default().iter().map(|&extent| extent as i64).collect();
    let fact = call.known(Element::INT64, vec![ints.len() as u64], Some(Elements::Ints(ints)));
    Ok(vec![Fact { is_constant: true, ..fact }])
}

/// `Size`: known even of data.
pub(super) fn size_of(call: &Call<'_>) -> Outputs {
    let count = shape::count(&call.input(0)?.shape)? as i64;
    let fact = call.known(Element::INT64, Vec::new(), Some(Elements::Ints(vec![count])));
    Ok(vec![Fact { is_constant: true, ..fact }])
}

/// `Range`.
pub(super) fn range(call: &Call<'_>) -> Outputs {
    let element = call.input(0)?.element;
    let mut bounds = [Number::Int(0), Number::Int(0), Number::Int(1)];
    for (index, bound) in bounds.iter_mut().enumerate() {
        // `com.microsoft` has a step of 1 if none is given.
        if index == 2 && call.optional(2).is_none() && &*call.node.domain == "com.microsoft" {
            *bound = number::cast(Number::Int(1), element).unwrap_or(*bound);
            continue;
        }
        let known = call.input(index)?.elements.as_deref().ok_or(Fault::Elements(index))?;
        *bound = number::get(known, 0)
            .ok_or_else(|| Fault::Invalid(format!("input {index} is empty")))?;
    }
    let (count, elements) = match bounds {
        [Number::Int(start), Number::Int(limit), Number::Int(step)] => {
            int_range(start, limit, step)?
        }
        [Number::Float(start), Number::Float(limit), Number::Float(step)] => {
            float_range(element, [start, limit, step])?
        }
        _ => return invalid("a range of numbers of several types"),
    };
    Ok(vec![call.known(element, vec![count], elements)])
}

fn int_range(start: i64, limit: i64, step: i64) -> Result<(u64, Known), Fault> {
    if step == 0 {
        return invalid("a range with a step of 0");
    }
    let distance = i128::from(limit) - i128::from(start);
    let step = i128::from(step);
    let ahead = if step > 0 { distance } else { -distance };
    let count = if ahead <= 0 { 0 } else { (ahead - 1) / step.abs() + 1 };
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let elements = shape::few(&[count]).and_then(|few| {
        (0..few as i128)
            .map(|index| i64::try_from(i128::from(start) + index * step).ok())
            .collect::<Option<_>>()
            .map(Elements::Ints)
    });
    Ok((count, elements))
}

fn float_range(element: Element, range: [f64; 3]) -> Result<(u64, Known), Fault> {
    let [start, limit, step] = range;
    // The distance has the type of the operands, and the quotient 64 bits, as runtimes calculate.
    let distance = number::settle(Number::Float(limit - start), element);
    let Some(Number::Float(distance)) = distance else { return Err(Fault::Unsupported) };
    let count = (distance / step).ceil();
    if step == 0.0 || !count.is_finite() {
        return invalid(format!("a range from {start} to {limit} with a step of {step}"));
    }
    // The conversion saturates.
    let count = count.max(0.0) as u64;
    let elements = shape::few(&[count])
        .map(|few| Elements::Floats((0..few).map(|index| start + index as f64 * step).collect()));
    Ok((count, elements))
}

/// `EyeLike`: it depends on a shape alone.
pub(super) fn eye(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    shape::has_rank(input, 2, "`EyeLike`")?;
    let element = element(call, "dtype")?.unwrap_or(input.element);
    let diagonal = i128::from(call.int("k", 0)?);
    let one = number::cast(Number::Int(1), element);
    let elements = shape::few(&input.shape).zip(one).and_then(|(count, one)| {
        let zero = number::cast(Number::Int(0), element)?;
        let columns = input.shape[1] as usize;
        number::collect((0..count).map(|index| {
            let (row, column) = (index / columns, index % columns);
            Some(if column as i128 - row as i128 == diagonal { one } else { zero })
        }))
    });
    let fact = call.known(element, input.shape.clone(), elements);
    Ok(vec![Fact { is_constant: true, ..fact }])
}

/// `OneHot`.
pub(super) fn one_hot(call: &Call<'_>) -> Outputs {
    let (indices, values) = (call.input(0)?, call.input(2)?);
    let known = call.input(1)?.elements.as_deref().ok_or(Fault::Elements(1))?;
    let depth = number::get(known, 0).and_then(|depth| number::cast(depth, Element::INT64));
    let Some(Number::Int(depth)) = depth else { return invalid("a depth that is no number") };
    let depth = shape::extent(depth, "the depth")?;
    let axis = shape::axis(call.int("axis", -1)?, indices.shape.len() + 1)?;
    let mut out = indices.shape.clone();
    out.insert(axis, depth);
    let elements = fold_one_hot(indices, values, &out, axis);
    Ok(vec![call.known(values.element, out, elements)])
}

fn fold_one_hot(indices: &Fact, values: &Fact, out: &[u64], axis: usize) -> Known {
    let places = shape::strides(&indices.shape);
    let own = |at: usize| if at < axis { at } else { at - 1 };
    let index = |at: usize, coordinate: usize| match at == axis {
        true => 0,
        false => coordinate.saturating_mul(places[own(at)]),
    };
    let sources = folding::offsets(out, index)?;
    let columns = folding::offsets(out, |at, coordinate| if at == axis { coordinate } else { 0 })?;
    let (indices, values) = (indices.elements.as_deref()?, values.elements.as_deref()?);
    let depth = i128::from(*out.get(axis)?);
    number::collect(sources.iter().zip(&columns).map(|(&source, &column)| {
        let Number::Int(hot) = number::cast(number::get(indices, source)?, Element::INT64)? else {
            return None;
        };
        let hot = i128::from(hot);
        let hot = if hot < 0 { hot + depth } else { hot };
        number::get(values, usize::from(hot == column as i128))
    }))
}

/// `RandomNormalLike`, `RandomUniformLike` and `Bernoulli`.
pub(super) fn random_like(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let element = element(call, "dtype")?.unwrap_or(input.element);
    let fact = call.output(element, input.shape.clone());
    Ok(vec![Fact { is_constant: false, ..fact }])
}

/// `RandomNormal` and `RandomUniform`.
pub(super) fn random(call: &Call<'_>) -> Outputs {
    let Some(shape) = call.ints("shape")? else { return invalid("`shape` is missing") };
    let element = element(call, "dtype")?.unwrap_or(Element::FLOAT);
    let fact = call.output(element, extents(shape, "`shape`")?);
    Ok(vec![Fact { is_constant: false, ..fact }])
}

/// `Multinomial`.
pub(super) fn multinomial(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    shape::has_rank(input, 2, "`Multinomial`")?;
    let count = shape::extent(call.int("sample_size", 1)?, "`sample_size`")?;
    let element = element(call, "dtype")?.unwrap_or(Element::INT32);
    let fact = call.output(element, vec![input.shape[0], count]);
    Ok(vec![Fact { is_constant: false, ..fact }])
}
