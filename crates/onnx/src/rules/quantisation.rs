//! Operators between numbers and their quantised forms.

use super::elementwise::{element, joint_shape};
use super::{Call, Outputs, slicing};
use crate::fact::Element;

/// `QuantizeLinear`.
pub(crate) fn quantize(call: &Call<'_>) -> Outputs {
    let (data, _) = (call.input(0)?, call.input(1)?);
    let stated = element(call, "output_dtype")?.unwrap_or(Element::UINT8);
    let element = call.optional(2).map_or(stated, |zero| zero.element);
    Ok(vec![call.output(element, data.shape.clone())])
}

/// `DequantizeLinear`.
pub(crate) fn dequantize(call: &Call<'_>) -> Outputs {
    let (data, scale) = (call.input(0)?, call.input(1)?);
    let element = element(call, "output_dtype")?.unwrap_or(scale.element);
    Ok(vec![call.output(element, data.shape.clone())])
}

/// `DynamicQuantizeLinear`: data, scale and zero point.
pub(crate) fn dynamic(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    Ok(vec![
        call.output(Element::UINT8, data.shape.clone()),
        call.output(Element::FLOAT, Vec::new()),
        call.output(Element::UINT8, Vec::new()),
    ])
}

/// `QLinearAdd` and `QLinearMul`: operands with scale and zero point each, broadcast.
pub(crate) fn binary(call: &Call<'_>) -> Outputs {
    let (a, b) = (call.input(0)?, call.input(3)?);
    Ok(vec![call.output(a.element, joint_shape(&[a, b])?)])
}

/// `QLinearWhere`: a condition, and two operands with scale and zero point each.
pub(crate) fn choose(call: &Call<'_>) -> Outputs {
    let (condition, yes, no) = (call.input(0)?, call.input(1)?, call.input(4)?);
    Ok(vec![call.output(yes.element, joint_shape(&[condition, yes, no])?)])
}

/// `QLinearConcat`: scale and zero point of the output, then three inputs for each operand.
pub(crate) fn concat(call: &Call<'_>) -> Outputs {
    slicing::join(call, &call.all(2, 3)?)
}
