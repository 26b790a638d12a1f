//! Products of matrices.

use super::held::{Axis, Place, axes_ending};
use super::maker::{Maker, extent};
use super::op::{Done, Op};
use super::operands::{add_to, behind, weight_bits};
use crate::rules::{Equation, Fault, Letter, equation, product};
use crate::trace::TensorId;
use xrsim_model::model::{ConvShape, MatmulShape, Operator, View};

/// `MatMul` and the operators that are like it.
pub(super) fn matmul(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    multiply(maker, op)?;
    let bias = match op.name() {
        "DynamicQuantizeMatMul" => op.given(4),
        "MatMulIntegerToFloat" => op.given(6),
        "MatMulNBits" => op.given(5),
        _ => None,
    };
    maker.parameters(bias);
    Ok(())
}

/// `Gemm`, whose bias is no layer unless it depends on data.
pub(super) fn gemm(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    multiply(maker, op)?;
    let bias = op.given(if op.name() == "QGemm" { 6 } else { 2 });
    bias.map_or(Ok(()), |bias| add_to(maker, op, bias))
}

fn multiply(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let product = product(&op.call)?;
    let [left, right] = product.operands;
    let ids = [op.operand(left)?, op.operand(right)?];
    // The weights, if an operand is constant, and the other one.
    let weight = [1, 0].into_iter().find(|&side| maker.is_constant(ids[side]));
    let (data, weights) = match weight {
        Some(side) => (vec![ids[1 - side]], Some(ids[side])),
        None => (ids.to_vec(), None),
    };
    // Axes along which weights differ are instances, and the others are rows.
    let own = weight.map_or(&product.batch, |side| &product.batches[side]);
    let at = product.batch.len() - own.len();
    let mut volumes = [1u64, 1];
    for (index, &extent) in product.batch.iter().enumerate() {
        let is_shared = weight.is_some() && index.checked_sub(at).is_none_or(|at| own[at] == 1);
        let slot = &mut volumes[usize::from(is_shared)];
        *slot = slot.saturating_mul(extent);
    }
    let [instances, more] = volumes;
    let (rows, k) = match weight {
        Some(0) => (product.columns, product.rows),
        _ => (product.rows, product.columns),
    };
    let mut form =
        Form { instances, rows: rows.saturating_mul(more), c: product.depth, k, weights };
    let is_shared = share_cache(maker, &mut form, &data);
    let packed = op.name() == "MatMulNBits";
    let bits = if packed { Some(op.call.int("bits", 4)?) } else { None };
    let layer = add(maker, op, &form, &data, bits)?;
    let rank = maker.fact(op.output()).shape.len();
    // An image whose features come last stays one.
    let is_image = |axes: &Vec<Axis>| {
        let features = axes.iter().position(|axis| *axis == Axis::K);
        axes.len() == rank && features.is_some_and(|first| first + 1 == rank)
    };
    let axes = match weight {
        Some(1) => maker.held(ids[0]).axes.filter(is_image),
        _ => None,
    };
    let axes = axes.unwrap_or_else(|| match weight {
        Some(0) => axes_ending(rank, Axis::Y, [Axis::K, Axis::Y]),
        Some(_) => axes_ending(rank, Axis::Y, [Axis::Y, Axis::K]),
        None => axes_ending(rank, Axis::N, [Axis::Y, Axis::K]),
    });
    finish(maker, op, &form, layer, Some(axes).filter(|_| !is_shared));
    Ok(())
}

/// Joins pairs of matrices whose second matrix is the same part of a cache, repeated: heads of queries that share keys
/// and values. Returns whether there are some.
fn share_cache(maker: &Maker<'_, '_>, form: &mut Form, data: &[TensorId]) -> bool {
    let Some(cached) = data.get(1).and_then(|id| maker.held(*id).cached) else { return false };
    let read = form.instances.saturating_mul(form.c).saturating_mul(form.k);
    let shares = read.checked_div(cached).filter(|n| *n > 1 && n.checked_mul(cached) == Some(read));
    let Some(shares) = shares.filter(|n| form.instances.is_multiple_of(*n)) else { return false };
    form.instances /= shares;
    form.rows = form.rows.saturating_mul(shares);
    true
}

/// The result of a product, which what follows is folded into if it has weights.
fn finish(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    form: &Form,
    layer: usize,
    axes: Option<Vec<Axis>>,
) {
    maker.result(op.output(), layer, axes);
    if form.weights.is_some() {
        behind(maker, op.output(), layer);
    }
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
    op: &Op<'_>,
    form: &Form,
    data: &[TensorId],
    bits: Option<i64>,
) -> Result<usize, Fault> {
    let operator = operator(maker, op, form)?;
    let mut places = maker.places(data, form.weights.is_none());
    let read = form.instances.saturating_mul(form.c).saturating_mul(form.k);
    if data.get(1).is_some_and(|id| maker.held(*id).cached == Some(read)) {
        // The cache as it is; the first matrices stand in rows of fewer pairs.
        places.iter_mut().for_each(|(place, view)| {
            *view = if *place == Place::Outside { View::Whole } else { View::Reshape };
        });
    }
    let layer = maker.layer(op, operator, None, places)?;
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
fn operator(maker: &mut Maker<'_, '_>, op: &Op<'_>, form: &Form) -> Result<Operator, Fault> {
    let limit = u64::from(ConvShape::MAX_EXTENT);
    if form.rows > limit && form.instances == 1 && form.weights.is_some() {
        let parts = (form.rows.div_ceil(limit)..=limit).find(|n| form.rows.is_multiple_of(*n));
        if let Some(parts) = parts {
            let name = xrsim_model::text::in_line(&op.step.name);
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
pub(super) fn einsum(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let equation = equation(&op.call)?;
    let repeats = |letters: &Vec<Letter>| {
        letters.iter().enumerate().any(|(at, letter)| letters[..at].contains(letter))
    };
    let repeated = equation.operands.iter().any(repeats);
    ensure!(!repeated, "a letter twice in one operand is not supported");
    match &equation.operands[..] {
        [one] if one.len() == equation.output.len() => {
            super::moves::reorder(maker, op, one, &equation.output)
        }
        [left, right] => {
            let ids = [op.operand(0)?, op.operand(1)?];
            // Weights come second.
            match maker.is_constant(ids[0]) && !maker.is_constant(ids[1]) {
                true => contract(maker, op, &equation, [right, left], [ids[1], ids[0]]),
                false => contract(maker, op, &equation, [left, right], ids),
            }
        }
        many => {
            let words = format!("an `Einsum` of {} operands is not supported", many.len());
            Err(Fault::Invalid(words))
        }
    }
}

/// A product of two operands with these letters.
fn contract(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    equation: &Equation,
    [first, second]: [&[Letter]; 2],
    ids: [TensorId; 2],
) -> Done {
    // Whether the first operand, the second one and the output have a letter.
    let holders = |letter: &Letter| {
        [first, second, &equation.output[..]].map(|letters| letters.contains(letter))
    };
    let letters = |wanted: [bool; 3]| {
        equation.extents.iter().filter(move |(letter, _)| holders(letter) == wanted)
    };
    let volume = |wanted: [bool; 3]| {
        letters(wanted).fold(1u64, |all, (_, extent)| all.saturating_mul(*extent))
    };
    let mut alone = letters([true, false, false]).chain(letters([false, true, false]));
    let is_summed_alone = alone.any(|(_, extent)| *extent > 1);
    ensure!(
        !is_summed_alone,
        "a letter that one operand alone has is summed; that is not supported"
    );
    let summed = [true, true, false];
    if letters(summed).next().is_none() {
        return super::elementwise::product(maker, op);
    }
    let weights = Some(ids[1]).filter(|id| maker.is_constant(*id));
    let form = Form {
        instances: volume([true; 3]),
        rows: volume([true, false, true]),
        c: volume(summed),
        k: volume([false, true, true]),
        weights,
    };
    let data = if weights.is_some() { &ids[..1] } else { &ids[..] };
    let layer = add(maker, op, &form, data, None)?;
    let axis = |letter: &Letter| match holders(letter) {
        [true, true, _] => Axis::N,
        [true, false, _] => Axis::Y,
        _ => Axis::K,
    };
    finish(maker, op, &form, layer, Some(equation.output.iter().map(axis).collect()));
    Ok(())
}
