//! Fused operators of `com.microsoft` that are no products and no attention.

use super::super::fact::Element;
use super::{Call, Outputs, invalid, shape};

/// `BiasGelu`, `FastGelu` and `BiasAdd`: a bias of the last axis is added.
pub(super) fn biased(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    if let Some(bias) = call.optional(1)
        && shape::broadcast(&[&data.shape, &bias.shape])? != data.shape
    {
        let (bias, data) = (shape::text(&bias.shape), shape::text(&data.shape));
        return invalid(format!("a bias of {bias} for {data}"));
    }
    Ok(vec![call.output(data.element, data.shape.clone())])
}

/// `BiasDropout`: data and which of them are kept.
pub(super) fn biased_dropout(call: &Call<'_>) -> Outputs {
    let mut outputs = biased(call)?;
    outputs.push(call.output(Element::BOOL, call.input(0)?.shape.clone()));
    Ok(outputs)
}
