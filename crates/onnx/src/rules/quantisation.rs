//! Operators between numbers and their quantised forms.

use super::super::fact::Element;
use super::elementwise::element;
use super::{Call, Outputs, invalid, shape, slicing};

/// `QuantizeLinear`.
pub(super) fn quantize(call: &Call<'_>) -> Outputs {
    let (data, _) = (call.input(0)?, call.input(1)?);
    let stated = element(call, "output_dtype")?;
    let element = match call.optional(2) {
        Some(zero) => zero.element,
        None => stated.unwrap_or(Element::UINT8),
    };
    Ok(vec![call.output(element, data.shape.clone())])
}

/// `DequantizeLinear`.
pub(super) fn dequantize(call: &Call<'_>) -> Outputs {
    let (data, scale) = (call.input(0)?, call.input(1)?);
    let element = element(call, "output_dtype")?.unwrap_or(scale.element);
    Ok(vec![call.output(element, data.shape.clone())])
}

/// `DynamicQuantizeLinear`: data, scale and zero point.
pub(super) fn dynamic(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    Ok(vec![
        call.output(Element::UINT8, data.shape.clone()),
        call.output(Element::FLOAT, Vec::new()),
        call.output(Element::UINT8, Vec::new()),
    ])
}

/// `QLinearAdd` and `QLinearMul`: operands with scale and zero point each, broadcast.
pub(super) fn binary(call: &Call<'_>) -> Outputs {
    let (a, b) = (call.input(0)?, call.input(3)?);
    let out = shape::broadcast(&[&a.shape, &b.shape])?;
    Ok(vec![call.output(a.element, out)])
}

/// `QLinearWhere`: a condition, and two operands with scale and zero point each.
pub(super) fn choose(call: &Call<'_>) -> Outputs {
    let (condition, yes, no) = (call.input(0)?, call.input(1)?, call.input(4)?);
    let out = shape::broadcast(&[&condition.shape, &yes.shape, &no.shape])?;
    Ok(vec![call.output(yes.element, out)])
}

/// `QLinearConcat`: scale and zero point of the output, then three inputs for each operand.
pub(super) fn concat(call: &Call<'_>) -> Outputs {
    let operands = (2..call.inputs.len()).step_by(3);
    let facts = operands.map(|index| call.input(index)).collect::<Result<Vec<_>, _>>()?;
    match call.int_if("axis")? {
        Some(axis) => Ok(vec![slicing::join(call, &facts, axis)?]),
        None => invalid("`axis` is missing"),
    }
}
