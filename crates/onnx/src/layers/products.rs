//! Products of matrices.

use super::held::{Axis, Held};
use super::maker::{Maker, extent};
use super::operands::{add_to, behind, operand, weight_bits};
use crate::rules::{Call, Fault, Letter, Product, equation, product};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{ConvShape, MatmulShape, Operator, VectorOp};

/// A product with its operands.
struct Factors {
    left: TensorId,
    right: TensorId,
    product: Product,
}

fn factors(step: &Step<'_>, call: &Call<'_>) -> Result<Factors, Fault> {
    let product = product(call)?;
    let [left, right] = product.operands;
    let left = operand(step, left)?;
    let right = operand(step, right)?;
    Ok(Factors { left, right, product })
}

/// `MatMul` and what is like it.
pub(super) fn matmul(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let factors = factors(step, call)?;
    multiply(maker, step, call, &factors)?;
    let bias = match call.operator() {
        "DynamicQuantizeMatMul" => 4,
        "MatMulIntegerToFloat" => 6,
        "MatMulNBits" => 5,
        _ => return Ok(()),
    };
    if let Some(&Some(bias)) = step.inputs.get(bias) {
        maker.parameter(bias);
    }
    Ok(())
}

/// `Gemm`, whose bias is no layer unless it depends on data.
pub(super) fn gemm(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let factors = factors(step, call)?;
    multiply(maker, step, call, &factors)?;
    let bias = if call.operator() == "QGemm" { 6 } else { 2 };
    match step.inputs.get(bias) {
        Some(&Some(bias)) => add_to(maker, step, bias),
        _ => Ok(()),
    }
}

fn multiply(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
    Factors { left, right, product }: &Factors,
) -> Result<(), Fault> {
    let packed = call.operator() == "MatMulNBits";
    let is_weight = [left, right].map(|id| maker.is_constant(*id));
    let extents = |weights: &[u64]| -> Result<[u64; 2], Fault> {
        // Axes along which weights differ are instances, and the others are rows.
        let at = product.batch.len() - weights.len();
        let mut all = [1u64, 1];
        for (index, &extent) in product.batch.iter().enumerate() {
            let own = index.checked_sub(at).map_or(1, |own| weights[own]);
            let slot = &mut all[usize::from(own == 1)];
            *slot = slot.saturating_mul(extent);
        }
        Ok(all)
    };
    let output = step.outputs[0];
    let rank = maker.fact(output).shape.len();
    let form = match is_weight {
        [_, true] => {
            let [instances, more] = extents(&product.batches[1])?;
            let rows = product.rows.saturating_mul(more);
            Form { instances, rows, c: product.depth, k: product.columns, weights: Some(*right) }
        }
        [true, false] => {
            let [instances, more] = extents(&product.batches[0])?;
            let rows = product.columns.saturating_mul(more);
            Form { instances, rows, c: product.depth, k: product.rows, weights: Some(*left) }
        }
        [false, false] => {
            let instances = product.batch.iter().fold(1u64, |all, &it| all.saturating_mul(it));
            let (rows, c, k) = (product.rows, product.depth, product.columns);
            Form { instances, rows, c, k, weights: None }
        }
    };
    let data = match is_weight {
        [_, true] => vec![*left],
        [true, false] => vec![*right],
        [false, false] => vec![*left, *right],
    };
    let bits = packed.then(|| call.int("bits", 4)).transpose()?;
    let layer = add(maker, step, &form, &data, bits)?;
    // An image whose features come last stays one.
    let image = match is_weight {
        [_, true] => maker.held(*left).axes.filter(|axes| {
            axes.len() == rank
                && axes.last() == Some(&Axis::K)
                && !axes[..rank - 1].contains(&Axis::K)
        }),
        _ => None,
    };
    let axes = image.unwrap_or_else(|| {
        let leading = if form.weights.is_some() { Axis::Y } else { Axis::N };
        let mut axes = vec![leading; rank];
        let ends = if is_weight == [true, false] { [Axis::K, Axis::Y] } else { [Axis::Y, Axis::K] };
        for (axis, end) in axes.iter_mut().rev().zip(ends.iter().rev()) {
            *axis = *end;
        }
        axes
    });
    maker.result(output, layer, Some(axes));
    if form.weights.is_some() {
        behind(maker, output, layer);
    }
    Ok(())
}

/// Extents of a product.
pub(super) struct Form {
    /// Pairs of matrices.
    pub instances: u64,
    /// Rows of the first matrix.
    pub rows: u64,
    /// Its columns, which are summed.
    pub c: u64,
    /// Columns of the second matrix.
    pub k: u64,
    /// The weights, unless both are activations.
    pub weights: Option<TensorId>,
}

/// Adds the layer of a product.
pub(super) fn add(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    form: &Form,
    data: &[TensorId],
    bits: Option<i64>,
) -> Result<usize, Fault> {
    let operator = operator(maker, step, form)?;
    let places = maker.places(data, form.weights.is_none());
    let layer = maker.layer(step, operator, None, places)?;
    let activation_bits = maker.held(data[0]).bits;
    maker.row(layer).activation_bits = activation_bits;
    if let Some(weights) = form.weights {
        let own = bits.and_then(|bits| u32::try_from(bits).ok());
        let weight_bits = own.or_else(|| weight_bits(maker, weights));
        maker.row(layer).weight_bits = weight_bits;
        if maker.is_shared(weights) {
            maker.share(layer);
        }
    }
    Ok(layer)
}

/// A product; one of too many rows is a convolution of parts that are a batch.
fn operator(maker: &mut Maker<'_, '_>, step: &Step<'_>, form: &Form) -> Result<Operator, Fault> {
    let limit = u64::from(ConvShape::MAX_EXTENT);
    if form.rows > limit && form.instances == 1 && form.weights.is_some() {
        let parts = (form.rows.div_ceil(limit)..=limit).find(|n| form.rows.is_multiple_of(*n));
        if let Some(parts) = parts {
            let name = xrsim_model::text::in_line(&step.name);
            maker.decisions.push(format!(
                "{name}: {} rows are {parts} equal parts of a 1x1 convolution",
                form.rows
            ));
            return Ok(Operator::Conv(ConvShape {
                n: extent("the number of parts", parts)?,
                k: extent("the number of columns", form.k)?,
                c: extent("the number of features", form.c)?,
                y: extent("the number of rows", form.rows / parts)?,
                ..ConvShape::UNIT
            }));
        }
    }
    Ok(Operator::Matmul(MatmulShape {
        instances: extent("the number of matrices", form.instances)?,
        rows: extent("the number of rows", form.rows)?,
        c: extent("the number of features", form.c)?,
        k: extent("the number of columns", form.k)?,
        activations: form.weights.is_none(),
    }))
}

/// `Einsum` of two operands, or of one that is reordered.
pub(super) fn einsum(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let equation = equation(call)?;
    let repeats = |letters: &Vec<Letter>| {
        letters.iter().enumerate().any(|(at, letter)| letters[..at].contains(letter))
    };
    if equation.operands.iter().any(repeats) {
        return Err(Fault::Invalid("a letter twice in one operand is not supported".into()));
    }
    let (left, right) = match &equation.operands[..] {
        [one] if one.len() == equation.output.len() => {
            return super::moves::reorder(maker, step, one, &equation.output);
        }
        [left, right] => (left, right),
        operands => {
            let words = format!("an `Einsum` of {} operands is not supported", operands.len());
            return Err(Fault::Invalid(words));
        }
    };
    let ids = [operand(step, 0)?, operand(step, 1)?];
    let swap = maker.is_constant(ids[0]) && !maker.is_constant(ids[1]);
    let (first, second) = if swap { (right, left) } else { (left, right) };
    let ids = if swap { [ids[1], ids[0]] } else { ids };
    let weights = maker.is_constant(ids[1]).then_some(ids[1]);
    let volume = |letters: &dyn Fn(&Letter) -> bool| {
        let all = equation.extents.iter().filter(|(letter, _)| letters(letter));
        all.fold(1u64, |all, (_, extent)| all.saturating_mul(*extent))
    };
    let in_output = |letter: &Letter| equation.output.contains(letter);
    let in_both = |letter: &Letter| first.contains(letter) && second.contains(letter);
    let alone =
        |letter: &&Letter| !in_both(letter) && !in_output(letter) && equation.extent(**letter) > 1;
    if first.iter().chain(second).any(|letter| alone(&letter)) {
        return Err(Fault::Invalid(
            "a letter that one operand alone has is summed; that is not supported".into(),
        ));
    }
    let output = step.outputs[0];
    let form = Form {
        instances: volume(&|letter| in_both(letter) && in_output(letter)),
        rows: volume(&|letter| first.contains(letter) && !second.contains(letter)),
        c: volume(&|letter| in_both(letter) && !in_output(letter)),
        k: volume(&|letter| second.contains(letter) && !first.contains(letter)),
        weights,
    };
    let is_summed =
        equation.extents.iter().any(|(letter, _)| in_both(letter) && !in_output(letter));
    if !is_summed {
        return super::elementwise::several(maker, step, VectorOp::Mul);
    }
    let data = if weights.is_some() { vec![ids[0]] } else { ids.to_vec() };
    let layer = add(maker, step, &form, &data, None)?;
    let axis = |letter: &Letter| match (first.contains(letter), second.contains(letter)) {
        (true, true) => Axis::N,
        (true, false) => Axis::Y,
        _ => Axis::K,
    };
    let axes = equation.output.iter().map(axis).collect();
    let held = Held {
        axes: Some(axes),
        ..Held::new(
            vec![(super::held::Place::Layer(layer), xrsim_model::model::View::Whole)],
            output,
        )
    };
    maker.put(output, held);
    if weights.is_some() {
        behind(maker, output, layer);
    }
    Ok(())
}
