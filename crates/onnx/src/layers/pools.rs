//! Pools, reductions, resolutions, and elements that data choose.

use super::held::{Axis, Held, IMAGE, extents, tensor, usual_axes};
use super::maker::{Maker, extent};
use super::op::{Done, Op};
use super::padding::{of_windows, over_image, stored, sum};
use crate::rules::{Fault, reduction, windows};
use crate::trace::TensorId;
use xrsim_model::model::{
    ConvKind, ConvShape, Operator, Padding, VectorForm, VectorOp, VectorShape, View,
};

fn image_axes(maker: &Maker<'_, '_>, id: TensorId) -> Option<Vec<Axis>> {
    let rank = maker.fact(id).shape.len();
    (rank <= 4).then(|| IMAGE[..rank].to_vec())
}

/// A pool; one window over everything is a global pool.
pub(super) fn window(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let data = op.operand(0)?;
    let windows = over_image(&windows(&op.call)?, "pool")?;
    let is_dense = windows.iter().all(|window| window.dilation == 1);
    ensure!(is_dense, "a dilated pool is no layer here");
    let [n, c, y, x] = stored(maker, data);
    let added = maker.padding.get(&data).copied().unwrap_or_default();
    let own = of_windows(&windows)?;
    let padding = sum(own, added);
    let mut covered = windows.iter().zip([y, x]);
    let is_global = covered.all(|(window, extent)| window.kernel == extent && window.output == 1);
    let places = maker.places(&[data], false);
    let layer = if padding == Padding::default() && is_global {
        maker.vector_of(op, VectorOp::GlobalPool, [n, c, y, x], places, None)?
    } else {
        let [rows, columns] = &windows;
        let shape = ConvShape {
            kind: ConvKind::Depthwise,
            n: extent("the batch", n)?,
            c: extent("the number of channels", c)?,
            y: extent("the number of rows", y + u64::from(padding.top + padding.bottom))?,
            x: extent("the number of columns", x + u64::from(padding.left + padding.right))?,
            padding,
            r: extent("the window", rows.kernel)?,
            stride_y: extent("the stride", rows.stride)?,
            s: extent("the window", columns.kernel)?,
            stride_x: extent("the stride", columns.stride)?,
            ..ConvShape::UNIT
        };
        Operator::Conv(shape).check().map_err(Fault::invalid)?;
        shape.kernel_fits().map_err(Fault::invalid)?;
        let is_max = op.name() == "MaxPool";
        let kind = if is_max { VectorOp::MaxPool } else { VectorOp::AveragePool };
        maker.formed(op, kind, VectorForm::Window(shape), places)?
    };
    maker.row(layer).padding = own;
    let axes = image_axes(maker, op.output());
    maker.result(op.output(), layer, axes);
    Ok(())
}

/// The mean, or the largest, of each channel.
pub(super) fn global(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let rank = maker.fact(op.operand(0)?).shape.len();
    reduced(maker, op, &(2..rank).collect::<Vec<_>>(), true)
}

/// A reduction: a global pool of all positions, the largest of the channels, or a pool by its sizes.
pub(super) fn reduce(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let reduction = reduction(&op.call)?;
    reduced(maker, op, &reduction.axes, reduction.keeps)
}

fn reduced(maker: &mut Maker<'_, '_>, op: &Op<'_>, all: &[usize], keeps: bool) -> Done {
    let (data, output) = (op.operand(0)?, op.output());
    let shape = &maker.fact(data).shape;
    let is_long = |axis: &usize| shape[*axis] > 1;
    let reduced: Vec<usize> = all.iter().copied().filter(is_long).collect();
    if reduced.is_empty() {
        return super::moves::reshape(maker, op);
    }
    let axes = maker.axes_of(data);
    let kept = (0..shape.len()).filter(|axis| keeps || !all.contains(axis));
    let kept: Vec<Axis> = kept.map(|axis| axes[axis]).collect();
    // Whether exactly the axes of these kinds are reduced.
    let is_all = |kinds: &[Axis]| {
        let long = (0..shape.len()).filter(|axis| kinds.contains(&axes[*axis]) && is_long(axis));
        long.eq(reduced.iter().copied())
    };
    let is_max =
        matches!(op.name(), "ReduceMax" | "ReduceMin" | "ArgMax" | "ArgMin" | "GlobalMaxPool");
    let kind = if is_max { VectorOp::ReduceMax } else { VectorOp::GlobalPool };
    let places = maker.places(&[data], false);
    let extents = extents(shape, &axes);
    let layer = if is_all(&[Axis::Y, Axis::X]) {
        maker.vector_of(op, VectorOp::GlobalPool, extents, places, None)?
    } else if is_all(&[Axis::K]) && is_max {
        maker.vector_of(op, kind, extents, places, None)?
    } else {
        let (inputs, outputs) = (maker.fact(data).count(), maker.fact(output).count());
        maker.sizes(op, kind, inputs, outputs, places)?
    };
    maker.result(output, layer, Some(kept));
    Ok(())
}

/// Another resolution of an image.
pub(super) fn resize(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let (data, output) = (op.operand(0)?, op.output());
    let (from, to) = (maker.fact(data), maker.fact(output));
    let axes = maker.held(data).axes;
    let rank = to.shape.len();
    let by = axes.clone().filter(|axes| axes.len() == rank).unwrap_or_else(|| usual_axes(rank));
    let [from_extents, to_extents] = [from, to].map(|fact| extents(&fact.shape, &by));
    if from_extents == to_extents {
        return super::moves::identity(maker, op);
    }
    let places = maker.places(&[data], false);
    let form = tensor(from_extents).zip(tensor(to_extents));
    let layer = match form.filter(|(from, to)| [from.n, from.k] == [to.n, to.k]) {
        Some((tensor, to)) => {
            let form = VectorForm::Resize { tensor, to: [to.y, to.x] };
            maker.formed(op, VectorOp::Resize, form, places)?
        }
        None => maker.sizes(op, VectorOp::Resize, from.count(), to.count(), places)?,
    };
    let image = image_axes(maker, output);
    maker.result(output, layer, axes.or(image));
    Ok(())
}

/// Features sampled at places that are computed.
pub(super) fn sampled(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let note = "GridSample is costed as `roi_align`: seven operations for an output".to_owned();
    if !maker.decisions.contains(&note) {
        maker.decisions.push(note);
    }
    regions(maker, op)
}

/// Features of regions.
pub(super) fn regions(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let data = maker.data(op);
    let inputs = maker.count_of(&data);
    let axes = image_axes(maker, op.output());
    let places = maker.gathered(&data);
    maker.vector(op, VectorOp::RoiAlign, axes, places, Some(inputs)).map(drop)
}

/// Elements that data choose.
pub(super) fn chosen(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let data = maker.data(op);
    let (inputs, outputs) = (maker.count_of(&data), maker.count_of(&op.step.outputs));
    let name = xrsim_model::text::in_line(&op.step.name);
    if op.step.is_bounded {
        maker.decisions.push(format!("{name}: {outputs} elements are chosen, as given"));
    } else if op.name() == "NonMaxSuppression" {
        let words = "as many boxes are selected as the file allows, an upper bound";
        maker.decisions.push(format!("{name}: {words}"));
    }
    let places = maker.gathered(&data);
    let shape = VectorShape::new(VectorOp::Nms, inputs, outputs, 1);
    let layer = maker.layer(op, Operator::Vector(shape), None, places)?;
    for &output in &op.step.outputs {
        maker.result(output, layer, None);
        let held = maker.held(output);
        if op.step.outputs.len() > 1 {
            maker.put(output, Held { places: held.seen(View::Slice), ..held });
        }
    }
    Ok(())
}
