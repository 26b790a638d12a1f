//! Pools, reductions, resolutions, and elements that data choose.

use super::held::{Axis, Held};
use super::maker::{Maker, extent, tensor_of};
use super::operands::operand;
use super::padding::{of_windows, stored};
use crate::rules::{Call, Fault, reduction, windows};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{
    ConvKind, ConvShape, Operator, Padding, VectorForm, VectorOp, VectorShape, View,
};

const IMAGE: [Axis; 4] = [Axis::N, Axis::K, Axis::Y, Axis::X];

fn image_axes(maker: &Maker<'_, '_>, id: TensorId) -> Option<Vec<Axis>> {
    let rank = maker.fact(id).shape.len();
    (rank <= 4).then(|| IMAGE[..rank].to_vec())
}

/// A pool; one window over everything is a global pool.
pub(super) fn window(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
    op: VectorOp,
) -> Result<(), Fault> {
    let data = operand(step, 0)?;
    let output = step.outputs[0];
    let windows = windows(call)?;
    if windows.len() > 2 {
        let words = format!("a pool over {} axes; two are the most", windows.len());
        return Err(Fault::Invalid(words));
    }
    if windows.iter().any(|window| window.dilation > 1) {
        return Err(Fault::Invalid("a dilated pool is no layer here".into()));
    }
    let [n, c, y, x] = stored(maker, data);
    let added = maker.padding.get(&data).copied().unwrap_or_default();
    let own = of_windows(&windows)?;
    let padding = Padding {
        top: own.top + added.top,
        bottom: own.bottom + added.bottom,
        left: own.left + added.left,
        right: own.right + added.right,
    };
    let covers = |axis: usize, extent: u64| {
        windows.get(axis).is_none_or(|window| window.kernel == extent && window.output == 1)
    };
    let places = maker.places(&[data], false);
    let layer = if padding == Padding::default() && covers(0, y) && covers(1, x) {
        maker.vector_of(step, VectorOp::GlobalPool, [n, c, y, x], places, None)?
    } else {
        let mut shape = ConvShape {
            kind: ConvKind::Depthwise,
            n: extent("the batch", n)?,
            c: extent("the number of channels", c)?,
            y: extent("the number of rows", y + u64::from(padding.top + padding.bottom))?,
            x: extent("the number of columns", x + u64::from(padding.left + padding.right))?,
            padding,
            ..ConvShape::UNIT
        };
        if let Some(window) = windows.first() {
            shape.r = extent("the window", window.kernel)?;
            shape.stride_y = extent("the stride", window.stride)?;
        }
        if let Some(window) = windows.get(1) {
            shape.s = extent("the window", window.kernel)?;
            shape.stride_x = extent("the stride", window.stride)?;
        }
        Operator::Conv(shape).check().map_err(|error| Fault::Invalid(error.to_string()))?;
        shape.kernel_fits().map_err(|error| Fault::Invalid(error.to_string()))?;
        let form = VectorForm::Window(shape);
        let sizes = form.sizes(op, 1, 0);
        maker.layer(step, Operator::Vector(sizes), Some(form), places)?
    };
    maker.row(layer).padding = own;
    let axes = image_axes(maker, output);
    maker.result(output, layer, axes);
    Ok(())
}

/// The mean, or the largest, of each channel.
pub(super) fn global(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    _: &Call<'_>,
) -> Result<(), Fault> {
    let rank = maker.fact(operand(step, 0)?).shape.len();
    reduced(maker, step, &(2..rank).collect::<Vec<_>>(), true)
}

/// A reduction: a global pool of all positions, the largest of the channels, or a pool by its sizes.
pub(super) fn reduce(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let reduction = reduction(call)?;
    reduced(maker, step, &reduction.axes, reduction.keeps)
}

fn reduced(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    all: &[usize],
    keeps: bool,
) -> Result<(), Fault> {
    let data = operand(step, 0)?;
    let output = step.outputs[0];
    let shape = maker.fact(data).shape.clone();
    let long = |axis: &usize| shape[*axis] > 1;
    let reduced: Vec<usize> = all.iter().copied().filter(long).collect();
    if reduced.is_empty() {
        return super::moves::reshape(maker, step);
    }
    let usual = super::held::usual_axes(shape.len());
    let axes = maker.held(data).axes.filter(|axes| axes.len() == shape.len()).unwrap_or(usual);
    let kept: Vec<Axis> = (0..shape.len())
        .filter(|axis| keeps || !all.contains(axis))
        .map(|axis| axes[axis])
        .collect();
    let is_position = |axis: usize| matches!(axes[axis], Axis::Y | Axis::X);
    let positions = (0..shape.len()).filter(|axis| is_position(*axis) && shape[*axis] > 1);
    let is_global = positions.eq(reduced.iter().copied());
    let features = (0..shape.len()).filter(|axis| axes[*axis] == Axis::K && shape[*axis] > 1);
    let is_of_features = features.eq(reduced.iter().copied());
    let is_max = matches!(
        &*step.node.operator,
        "ReduceMax" | "ReduceMin" | "ArgMax" | "ArgMin" | "GlobalMaxPool"
    );
    let places = maker.places(&[data], false);
    let extents = maker.extents(data);
    let (inputs, outputs) = (maker.fact(data).count(), maker.fact(output).count());
    let layer = if is_global {
        maker.vector_of(step, VectorOp::GlobalPool, extents, places, None)?
    } else if is_of_features && is_max {
        maker.vector_of(step, VectorOp::ReduceMax, extents, places, None)?
    } else {
        let op = if is_max { VectorOp::ReduceMax } else { VectorOp::GlobalPool };
        maker.sizes(step, op, inputs, outputs, places)?
    };
    maker.result(output, layer, Some(kept));
    Ok(())
}

/// Another resolution of an image.
pub(super) fn resize(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let data = operand(step, 0)?;
    let output = step.outputs[0];
    let axes = maker.held(data).axes;
    let [from, to] = {
        let to = maker.fact(output).shape.clone();
        let usual = super::held::usual_axes(to.len());
        let axes = axes.clone().filter(|axes| axes.len() == to.len()).unwrap_or(usual);
        let from = &maker.fact(data).shape;
        [super::held::extents(from, &axes), super::held::extents(&to, &axes)]
    };
    if from == to {
        return super::moves::identity(maker, step);
    }
    let places = maker.places(&[data], false);
    let form = tensor_of(from).zip(tensor_of(to));
    let layer = match form.filter(|(from, to)| [from.n, from.k] == [to.n, to.k]) {
        Some((tensor, to)) => {
            let form = VectorForm::Resize { tensor, to: [to.y, to.x] };
            let sizes = form.sizes(VectorOp::Resize, 1, 0);
            maker.layer(step, Operator::Vector(sizes), Some(form), places)?
        }
        None => {
            let (inputs, outputs) = (maker.fact(data).count(), maker.fact(output).count());
            maker.sizes(step, VectorOp::Resize, inputs, outputs, places)?
        }
    };
    let image = image_axes(maker, output);
    maker.result(output, layer, axes.or(image));
    Ok(())
}

/// Features sampled at places that are computed.
pub(super) fn sampled(maker: &mut Maker<'_, '_>, step: &Step<'_>, name: &str) -> Result<(), Fault> {
    let note = format!("{name} is costed as `roi_align`: seven operations for an output");
    if !maker.decisions.contains(&note) {
        maker.decisions.push(note);
    }
    regions(maker, step)
}

/// Features of regions.
pub(super) fn regions(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let output = step.outputs[0];
    let data = maker.data(step);
    let inputs = data.iter().map(|id| maker.fact(*id).count()).fold(0, u64::saturating_add);
    let axes = image_axes(maker, output);
    maker.put(output, Held { axes: axes.clone(), ..Held::new(Vec::new(), output) });
    let places = gathered(maker, &data);
    let layer = maker.vector(step, VectorOp::RoiAlign, output, places, Some(inputs))?;
    maker.result(output, layer, axes);
    Ok(())
}

/// Elements that data choose.
pub(super) fn chosen(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let data = maker.data(step);
    let inputs = data.iter().map(|id| maker.fact(*id).count()).fold(0, u64::saturating_add);
    let outputs: u64 =
        step.outputs.iter().map(|id| maker.fact(*id).count()).fold(0, u64::saturating_add);
    if step.is_bounded {
        maker.decisions.push(format!(
            "{}: {outputs} elements are chosen, as given",
            xrsim_model::text::in_line(&step.name)
        ));
    } else if &*step.node.operator == "NonMaxSuppression" {
        maker.decisions.push(format!(
            "{}: as many boxes are selected as the file allows, an upper bound",
            xrsim_model::text::in_line(&step.name)
        ));
    }
    let places = gathered(maker, &data);
    let shape = VectorShape::new(VectorOp::Nms, inputs, outputs, 1);
    let layer = maker.layer(step, Operator::Vector(shape), None, places)?;
    for &output in &step.outputs {
        maker.result(output, layer, None);
        let held = maker.held(output);
        if step.outputs.len() > 1 {
            maker.put(output, Held { places: held.seen(View::Slice), ..held });
        }
    }
    Ok(())
}

/// Places of operands of which elements are read by choice.
fn gathered(maker: &Maker<'_, '_>, data: &[TensorId]) -> Vec<(super::held::Place, View)> {
    let places = maker.places(data, false);
    places.into_iter().map(|(place, _)| (place, View::Gather)).collect()
}
