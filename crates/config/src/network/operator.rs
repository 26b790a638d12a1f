//! Labels of operators in entries of `layers:`, and their keys.

use std::ops::Range;

use crate::Problem;
use crate::form;
use crate::yaml::read::Problems;
use crate::yaml::values::{Reader, at, flag, list, number, value};
use crate::yaml::{Fields, Node, Value};
use xrsim_model::model::{
    ConvKind, ConvShape, MatmulShape, ModelError, Operator, Padding, Tensor, VectorForm, VectorOp,
    VectorShape,
};

use super::expression;

/// Class of operators that a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// A convolution.
    Conv(ConvKind),
    /// A dense convolution whose missing extents are 1.
    FullyConnected,
    /// A product of matrices.
    Matmul {
        /// Whether both are activations.
        activations: bool,
    },
    /// An operator of the vector lanes.
    Vector(VectorOp),
}

impl Class {
    /// Whether an entry of this class can describe `operator`.
    pub(crate) fn can_say(self, operator: &Operator) -> bool {
        match (self, operator) {
            (Self::Conv(kind), Operator::Conv(shape)) => shape.kind == kind,
            (Self::FullyConnected, Operator::Conv(shape)) => shape.kind == ConvKind::Conv,
            (Self::Matmul { activations }, Operator::Matmul(shape)) => {
                shape.activations == activations
            }
            (Self::Vector(op), Operator::Vector(shape)) => shape.op == op,
            _ => false,
        }
    }
}

/// Labels of convolutions and products with descriptions; vector operators are called by their names.
const LABELS: [(&str, Class, &str); 8] = [
    ("conv", Class::Conv(ConvKind::Conv), "Convolution, dense or in groups"),
    (
        "fc",
        Class::FullyConnected,
        "Fully connected layer: a convolution whose missing extents are 1",
    ),
    ("dwconv", Class::Conv(ConvKind::Depthwise), "Depthwise convolution"),
    (
        "trconv",
        Class::Conv(ConvKind::ZeroInserted),
        "Transposed convolution, with the extents of the convolution on an input with zeros inserted",
    ),
    (
        "ngconv",
        Class::Conv(ConvKind::NonGrouped),
        "Convolution that the artifact calls non-grouped",
    ),
    ("deconv", Class::Conv(ConvKind::Transposed), "Transposed convolution"),
    (
        "matmul",
        Class::Matmul { activations: false },
        "Product of activations and weights: `rows` x `c` times `c` x `k`",
    ),
    (
        "batched_matmul",
        Class::Matmul { activations: true },
        "Products of two activations, as in attention: `instances` times `rows` x `c` times `c` x `k`",
    ),
];

/// Every label with its class and description.
pub(crate) fn labels() -> impl Iterator<Item = (&'static str, Class, &'static str)> {
    let vector = VectorOp::ALL.map(|(op, name, ..)| (name, Class::Vector(op), description(op)));
    LABELS.into_iter().chain(vector)
}

fn description(op: VectorOp) -> &'static str {
    match op {
        VectorOp::Add => "Sum of its sources; the extents are those of the output",
        VectorOp::Mul => "Product with one factor for each channel",
        VectorOp::Concat => "Concatenation or copy; the extents are those of the output",
        VectorOp::MaxPool => "Largest value of each window; the extents are those of the input",
        VectorOp::AveragePool => "Mean of each window; the extents are those of the input",
        VectorOp::GlobalPool => {
            "Mean over all rows and columns; the extents are those of the input"
        }
        VectorOp::ReduceMax => {
            "Largest value over the channels; the extents are those of the input"
        }
        VectorOp::Resize => "Interpolation to `to_y` x `to_x`; the extents are those of the input",
        VectorOp::Softmax => "Softmax",
        VectorOp::LayerNorm => "Layer normalisation",
        VectorOp::BatchNorm => "Batch normalisation that does not fold into a convolution",
        VectorOp::RoiAlign => "Alignment of regions; the extents are those of the output",
        VectorOp::Nms => "Non-maximum suppression; the extents are those of the output",
        VectorOp::SparseProduct => "Product with a sparse matrix of `nonzeros` elements",
    }
}

/// Variants of the keys of a class: whether only the sizes are given.
pub(super) fn variants(class: Class) -> &'static [bool] {
    if matches!(class, Class::Vector(_)) { &[false, true] } else { &[false] }
}

/// Reads the operator that `fields` describe, with its extents if it is a vector operator that gives them instead of its
/// sizes; it has `n_sources` inputs.
pub(super) fn read(
    class: Class,
    is_sized: bool,
    n_sources: usize,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<(Operator, Option<VectorForm>)> {
    let (operator, form) = match class {
        Class::Conv(kind) => (conv(kind, None, fields)?, None),
        Class::FullyConnected => (conv(ConvKind::Conv, Some(1), fields)?, None),
        Class::Matmul { activations } => (matmul(activations, fields)?, None),
        Class::Vector(op) if is_sized => (sizes(op, fields)?, None),
        Class::Vector(op) => {
            let (operator, form) = vector(op, n_sources, fields)?;
            (operator, Some(form))
        }
    };
    if let Err(error) = operator.check() {
        fields.problem(Problem::new(fields.span(), error.to_string()));
        return None;
    }
    Some((operator, form))
}

/// A number of elements, channels, rows or columns.
fn extent() -> impl Reader<Value = u32> {
    expression(number(1..=ConvShape::MAX_EXTENT))
}

fn size() -> impl Reader<Value = u64> {
    expression(number(0..=Operator::MAX_MACS))
}

/// A convolution; extents that are absent are `default`, if there is one.
fn conv(kind: ConvKind, default: Option<u32>, fields: &mut Fields<'_, '_, '_>) -> Option<Operator> {
    let depthwise = (kind == ConvKind::Depthwise).then_some(1);
    let n = fields.about("Batch, or number of regions.").or("n", 1, extent());
    let k = fields.about("Output channels of all groups.").unless_default("k", depthwise, extent());
    let c = fields.about("Input channels of all groups.").required("c", extent());
    let y = fields.about("Input rows without padding.").unless_default("y", default, extent());
    let x = fields.about("Input columns without padding.").unless_default("x", default, extent());
    let r = fields.about("Kernel rows.").unless_default("r", default, extent());
    let s = fields.about("Kernel columns.").unless_default("s", default, extent());
    let [stride_y, stride_x] = of_axes(STRIDES, fields);
    let [dilation_y, dilation_x] = of_axes(DILATIONS, fields);
    let about = "Groups, which divide `k` and `c`.";
    let groups = fields.about(about).or("groups", 1, extent());
    let padding = match kind {
        ConvKind::Transposed => {
            crop(pad("Rows and columns that are cut off the output.", fields), fields)
        }
        _ => pad("Rows and columns of zeros around the input.", fields),
    };
    let about = "Whether the kernel is meant to be larger than its input.";
    let mark = fields.about(about).optional("kernel_exceeds_input", at(flag()).with_default(false));
    let (mut y, mut x) = (y?, x?);
    if kind != ConvKind::Transposed {
        y += padding.top + padding.bottom;
        x += padding.left + padding.right;
    }
    let (n, groups, k, c, r, s) = (n?, groups?, k?, c?, r?, s?);
    let shape = ConvShape {
        kind,
        n,
        groups,
        k,
        c,
        y,
        x,
        r,
        s,
        stride_y,
        stride_x,
        dilation_y,
        dilation_x,
        padding,
    };
    let marked = mark.filter(|mark| mark.value).map(|mark| mark.span);
    check_kernel(&shape, marked, fields)?;
    Some(Operator::Conv(shape))
}

/// Keys of strides for both axes, for rows and for columns, with their descriptions.
const STRIDES: [(&str, &str); 3] = [
    ("stride", "Stride of rows and columns."),
    ("stride_y", "Stride of rows."),
    ("stride_x", "Stride of columns."),
];

/// Keys of dilations, see [`STRIDES`].
const DILATIONS: [(&str, &str); 3] = [
    ("dilation", "Dilation of rows and columns."),
    ("dilation_y", "Dilation of rows."),
    ("dilation_x", "Dilation of columns."),
];

/// Vertical and horizontal value of the keys for both axes, for rows and for columns; 1 by default.
fn of_axes(
    [both, rows, columns]: [(&'static str, &'static str); 3],
    fields: &mut Fields<'_, '_, '_>,
) -> [u32; 2] {
    let both = fields.about(both.1).or(both.0, 1, extent());
    let [rows, columns] =
        [rows, columns].map(|(key, about)| fields.about(about).optional(key, extent()));
    [rows, columns].map(|one| one.or(both).unwrap_or(1))
}

fn pad(about: &'static str, fields: &mut Fields<'_, '_, '_>) -> Padding {
    fields.about(about).or("pad", 0, padding()).unwrap_or_default()
}

/// Crop of the output of a transposed convolution: `padding` without `output_pad`.
fn crop(padding: Padding, fields: &mut Fields<'_, '_, '_>) -> Padding {
    let about = "Rows below and columns to the right that `pad` does not cut off.";
    let kept = fields.about(about).optional("output_pad", at(side()).with_default(0));
    let (kept, span) = kept.map_or((0, 0..0), |kept| (kept.value, kept.span));
    if kept > padding.bottom.min(padding.right) {
        let message = "`output_pad` is larger than what `pad` cuts off below or to the right";
        fields.problem(Problem::new(span, message));
        return padding;
    }
    Padding { bottom: padding.bottom - kept, right: padding.right - kept, ..padding }
}

fn side() -> impl Reader<Value = u32> {
    expression(number(0..=ConvShape::MAX_EXTENT))
}

/// One number for every side, or `[top, bottom, left, right]`.
fn padding() -> impl Reader<Value = Padding> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let Value::List(_) = node.value else {
            let side = side().read(node, problems)?;
            return Some(Padding { top: side, bottom: side, left: side, right: side });
        };
        let sides = list("sides", side()).read(node, problems)?;
        let [top, bottom, left, right] = sides[..] else {
            problems.push(node.mismatch(&"one number, or four: [top, bottom, left, right]"));
            return None;
        };
        Some(Padding { top, bottom, left, right })
    };
    let form = || {
        let sides = form::list(side().form()).exactly(4, "[top, bottom, left, right]");
        form::any_of([side().form(), sides])
    };
    value(read, form)
}

/// A kernel that is larger than its input is `marked` so, and only then.
fn check_kernel(
    shape: &ConvShape,
    marked: Option<Range<usize>>,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<()> {
    let (span, message) = match (shape.kernel_fits(), marked) {
        (Ok(()), None) | (Err(_), Some(_)) => return Some(()),
        (Ok(()), Some(mark)) => (mark, "the kernel fits; remove this mark".into()),
        (Err(error), None) => (kernel_span(shape, fields), error.to_string()),
    };
    fields.problem(Problem::new(span, message));
    None
}

/// The key of the axis on which the kernel is larger than its input.
fn kernel_span(shape: &ConvShape, fields: &Fields<'_, '_, '_>) -> Range<usize> {
    let reach = u64::from(shape.r - 1) * u64::from(shape.dilation_y) + 1;
    fields.span_of(if reach > u64::from(shape.y) { "r" } else { "s" })
}

fn matmul(activations: bool, fields: &mut Fields<'_, '_, '_>) -> Option<Operator> {
    let single = (!activations).then_some(1);
    let about = "Number of products.";
    let instances = fields.about(about).unless_default("instances", single, extent());
    let rows = fields.about("Rows of the first matrix.").required("rows", extent());
    let about = "Columns of the first matrix, and rows of the second.";
    let c = fields.about(about).required("c", extent());
    let k = fields.about("Columns of the second matrix.").required("k", extent());
    let (instances, rows, c, k) = (instances?, rows?, c?, k?);
    Some(Operator::Matmul(MatmulShape { instances, rows, k, c, activations }))
}

/// A vector operator of which only the sizes are known.
fn sizes(op: VectorOp, fields: &mut Fields<'_, '_, '_>) -> Option<Operator> {
    let inputs = fields.about("Elements that are read.").required("inputs", size());
    let outputs = fields.about("Elements that are written.").required("outputs", size());
    let about = "Operations. Without it, those that the operator usually takes.";
    let operations = fields.about(about).optional("operations", size());
    let (inputs, outputs) = (inputs?, outputs?);
    let operations = operations.unwrap_or_else(|| usual_operations(op, inputs, outputs));
    Some(Operator::Vector(VectorShape { op, inputs, outputs, operations }))
}

/// Operations of an operator that says nothing of them: those that it takes for an output or, where
/// that depends on its window, one for an input.
pub(crate) fn usual_operations(op: VectorOp, inputs: u64, outputs: u64) -> u64 {
    op.operations().map_or(inputs, |each| outputs.saturating_mul(each))
}

/// A vector operator on a tensor of `n` x `k` x `y` x `x`.
fn vector(
    op: VectorOp,
    n_sources: usize,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<(Operator, VectorForm)> {
    let n = fields.about("Batch, or number of regions.").or("n", 1, extent())?;
    let k = fields.about("Channels.").required("k", extent()).unwrap_or(1);
    let y = fields.about("Rows.").or("y", 1, extent())?;
    let x = fields.about("Columns.").or("x", 1, extent())?;
    let tensor = Tensor { n, k, y, x };
    let mut nonzeros = 0;
    let form = match op {
        VectorOp::MaxPool | VectorOp::AveragePool => VectorForm::Window(pool(tensor, fields)?),
        VectorOp::Resize => {
            let to_y = fields.about("Rows of the output.").required("to_y", extent());
            let about = "Columns of the output. Without it, `x`.";
            let to_x = fields.about(about).optional("to_x", extent()).unwrap_or(x);
            let to_y = to_y.unwrap_or(1);
            VectorForm::Resize { tensor, to: [to_y, to_x] }
        }
        VectorOp::SparseProduct => {
            let about = "Elements of the matrix that are not 0.";
            nonzeros = fields.about(about).required("nonzeros", size()).unwrap_or(0);
            VectorForm::Tensor(tensor)
        }
        _ => VectorForm::Tensor(tensor),
    };
    let shape = form.sizes(op, n_sources, nonzeros);
    let inputs = match op {
        VectorOp::RoiAlign | VectorOp::Nms => {
            fields.about("Elements that are read.").required("inputs", size())?
        }
        _ => {
            let about = "Elements that are read. Without it, those that follow from the extents.";
            fields.about(about).optional("inputs", size()).unwrap_or(shape.inputs)
        }
    };
    Some((Operator::Vector(VectorShape { inputs, ..shape }), form))
}

/// A pool, which has the extents of a depthwise convolution; those of its input are given.
fn pool(tensor: Tensor, fields: &mut Fields<'_, '_, '_>) -> Option<ConvShape> {
    let r = fields.about("Rows of the window.").or("r", 1, extent())?;
    let s = fields.about("Columns of the window.").or("s", 1, extent())?;
    let [stride_y, stride_x] = of_axes(STRIDES, fields);
    let padding = pad("Rows and columns around the input.", fields);
    let y = tensor.y + padding.top + padding.bottom;
    let x = tensor.x + padding.left + padding.right;
    let Tensor { n, k: c, .. } = tensor;
    let shape = ConvShape { kind: ConvKind::Depthwise, n, c, y, x, ..ConvShape::UNIT };
    let shape = ConvShape { r, s, stride_y, stride_x, padding, ..shape };
    let fits = Operator::Conv(shape).check().and_then(|()| shape.kernel_fits());
    let (span, message) = match fits {
        Ok(()) => return Some(shape),
        Err(ModelError::KernelExceedsInput { .. }) => {
            let message = format!("the {r}x{s} window does not fit into the padded {y}x{x} input");
            (kernel_span(&shape, fields), message)
        }
        Err(error) => (fields.span_of("k"), error.to_string()),
    };
    fields.problem(Problem::new(span, message));
    None
}
