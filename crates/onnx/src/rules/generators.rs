//! Operators that make tensors of shapes and numbers: constants, ranges, random numbers.

use super::elementwise::element;
use super::folding::{self, Known};
use super::number;
use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::{Element, Fact, Number};
use crate::graph::{Attribute, Tensor};

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
    let shape = shape::extents(values, name)?;
    shape::count(&shape)?;
    Ok(shape)
}

/// `Constant`.
pub(crate) fn constant(call: &Call<'_>) -> Outputs {
    let Some((name, value)) = call.node.attributes.first() else {
        return invalid("a `Constant` without a value");
    };
    let float = |value: f32| Number::Float(f64::from(value));
    Ok(vec![match value {
        Attribute::Tensor(tensor) => of_tensor(tensor)?,
        Attribute::Int(value) => {
            call.folded(Element::INT64, Vec::new(), Some(vec![Number::Int(*value)]))
        }
        Attribute::Float(value) => {
            call.folded(Element::FLOAT, Vec::new(), Some(vec![float(*value)]))
        }
        Attribute::Ints(_) | Attribute::Floats(_) if &**name == "value_ints" => {
            let values = call.ints("value_ints")?.unwrap_or_default();
            list(call, Element::INT64, values, |&value| Number::Int(value))
        }
        Attribute::Floats(values) => list(call, Element::FLOAT, values, |&value| float(value)),
        Attribute::Text(_) => call.output(Element::STRING, Vec::new()),
        Attribute::Texts(values) => call.output(Element::STRING, vec![values.len() as u64]),
        _ => return Err(Fault::Unsupported),
    }])
}

fn list<T>(call: &Call<'_>, element: Element, values: &[T], number: impl Fn(&T) -> Number) -> Fact {
    let elements =
        (values.len() <= Fact::MAX_ELEMENTS).then(|| values.iter().map(number).collect());
    call.folded(element, vec![values.len() as u64], elements)
}

/// `ConstantOfShape`.
pub(crate) fn constant_of_shape(call: &Call<'_>) -> Outputs {
    let shape = extents(&call.elements(0)?, "the shape")?;
    let (element, value) = match call.attribute("value") {
        None => (Element::FLOAT, Some(Number::Float(0.0))),
        Some(Attribute::Tensor(tensor)) => {
            let fact = of_tensor(tensor)?;
            (fact.element, fact.first())
        }
        Some(_) => return invalid("`value` is not a tensor"),
    };
    let elements = shape::few(&shape).zip(value).map(|(count, value)| vec![value; count]);
    Ok(vec![call.folded(element, shape, elements)])
}

/// `Shape`: known even of data; it depends on shapes alone.
pub(crate) fn shape_of(call: &Call<'_>) -> Outputs {
    let shape = &call.input(0)?.shape;
    let rank = shape.len() as i64;
    let place = |value: i64| {
        let value = if value < 0 { value.saturating_add(rank) } else { value };
        usize::try_from(value.clamp(0, rank)).unwrap_or(0)
    };
    let (start, end) = (place(call.int("start", 0)?), place(call.int("end", rank)?));
    let part = shape.get(start..end).unwrap_or_default();
    let ints = part.iter().map(|&extent| Number::Int(extent as i64)).collect();
    let fact = call.folded(Element::INT64, vec![part.len() as u64], Some(ints));
    Ok(vec![Fact { is_constant: true, ..fact }])
}

/// `Size`: known even of data.
pub(crate) fn size_of(call: &Call<'_>) -> Outputs {
    let count = shape::count(&call.input(0)?.shape)?;
    Ok(vec![Fact::scalar(Element::INT64, count as i64)])
}

/// `Range`.
pub(crate) fn range(call: &Call<'_>) -> Outputs {
    let element = call.input(0)?.element;
    let mut bounds = [Number::Int(0), Number::Int(0), Number::Int(1)];
    for (index, bound) in bounds.iter_mut().enumerate() {
        // `com.microsoft` has a step of 1 if none is given.
        if index == 2 && call.optional(2).is_none() && &*call.node.domain == "com.microsoft" {
            *bound = number::cast(Number::Int(1), element).unwrap_or(*bound);
            continue;
        }
        let empty = || Fault::Invalid(format!("input {index} is empty"));
        *bound = *call.known(index)?.first().ok_or_else(empty)?;
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
    Ok(vec![call.folded(element, vec![count], elements)])
}

fn int_range(start: i64, limit: i64, step: i64) -> Result<(u64, Known), Fault> {
    ensure!(step != 0, "a range with a step of 0");
    let distance = i128::from(limit) - i128::from(start);
    let step = i128::from(step);
    let ahead = if step > 0 { distance } else { -distance };
    let count = if ahead <= 0 { 0 } else { (ahead - 1) / step.abs() + 1 };
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let at = |index| i64::try_from(i128::from(start) + index * step).ok().map(Number::Int);
    let elements = shape::few(&[count]).and_then(|few| (0..few as i128).map(at).collect());
    Ok((count, elements))
}

fn float_range(element: Element, range: [f64; 3]) -> Result<(u64, Known), Fault> {
    let [start, limit, step] = range;
    // The distance has the type of the operands, and the quotient 64 bits, as runtimes calculate.
    let distance = number::settle(Number::Float(limit - start), element);
    let distance = distance.and_then(Number::float).ok_or(Fault::Unsupported)?;
    let count = (distance / step).ceil();
    let is_finite = step != 0.0 && count.is_finite();
    ensure!(is_finite, "a range from {start} to {limit} with a step of {step}");
    // The conversion saturates.
    let count = count.max(0.0) as u64;
    let at = |index| Number::Float(start + index as f64 * step);
    Ok((count, shape::few(&[count]).map(|few| (0..few).map(at).collect())))
}

/// `EyeLike`: it depends on a shape alone.
pub(crate) fn eye(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let [_, columns] = shape::of_rank(input, "`EyeLike`")?;
    let element = element(call, "dtype")?.unwrap_or(input.element);
    let diagonal = i128::from(call.int("k", 0)?);
    let elements = shape::few(&input.shape).and_then(|count| {
        let at = |index: usize| {
            let (row, column) = (index as u64 / columns, index as u64 % columns);
            let is_one = i128::from(column) - i128::from(row) == diagonal;
            number::cast(Number::Int(is_one.into()), element)
        };
        (0..count).map(at).collect()
    });
    let fact = call.folded(element, input.shape.clone(), elements);
    Ok(vec![Fact { is_constant: true, ..fact }])
}

/// `OneHot`.
pub(crate) fn one_hot(call: &Call<'_>) -> Outputs {
    let (indices, values) = (call.input(0)?, call.input(2)?);
    let depth = call.known(1)?.first();
    let depth = depth.and_then(|&depth| number::cast(depth, Element::INT64)?.int());
    let Some(depth) = depth else { return invalid("a depth that is no number") };
    let depth = shape::extent(depth, "the depth")?;
    let axis = shape::axis(call.int("axis", -1)?, indices.shape.len() + 1)?;
    let mut out = indices.shape.clone();
    out.insert(axis, depth);
    let elements = fold_one_hot(indices, values, &out, axis);
    Ok(vec![call.folded(values.element, out, elements)])
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
    let (indices, values) = (indices.known()?, values.known()?);
    let depth = i128::from(*out.get(axis)?);
    let at = |(&source, &column): (&usize, &usize)| {
        let hot = number::cast(*indices.get(source)?, Element::INT64)?.int()?;
        let hot = if hot < 0 { i128::from(hot) + depth } else { i128::from(hot) };
        values.get(usize::from(hot == column as i128)).copied()
    };
    sources.iter().zip(&columns).map(at).collect()
}

/// `RandomNormalLike`, `RandomUniformLike` and `Bernoulli`.
pub(crate) fn random_like(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let element = element(call, "dtype")?.unwrap_or(input.element);
    let fact = call.output(element, input.shape.clone());
    Ok(vec![Fact { is_constant: false, ..fact }])
}

/// `RandomNormal` and `RandomUniform`.
pub(crate) fn random(call: &Call<'_>) -> Outputs {
    let Some(shape) = call.ints("shape")? else { return invalid("`shape` is missing") };
    let element = element(call, "dtype")?.unwrap_or(Element::FLOAT);
    let fact = call.output(element, extents(shape, "`shape`")?);
    Ok(vec![Fact { is_constant: false, ..fact }])
}

/// `Multinomial`.
pub(crate) fn multinomial(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let [batch, _] = shape::of_rank(input, "`Multinomial`")?;
    let count = call.extent("sample_size", 1)?;
    let element = element(call, "dtype")?.unwrap_or(Element::INT32);
    let fact = call.output(element, vec![batch, count]);
    Ok(vec![Fact { is_constant: false, ..fact }])
}
