//! Labels of operators in entries of `layers:`, and their keys.

use std::ops::Range;

use crate::Problem;
use crate::yaml::read::{Problems, at, flag, list, number};
use crate::yaml::{Fields, Node, Value};
use xrsim_model::model::{
    ConvKind, ConvShape, MatmulShape, ModelError, Operator, Padding, Tensor, VectorForm, VectorOp,
    VectorShape,
};

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

/// Labels of convolutions and products; vector operators are called by their names.
const LABELS: [(&str, Class); 8] = [
    ("conv", Class::Conv(ConvKind::Conv)),
    ("fc", Class::FullyConnected),
    ("dwconv", Class::Conv(ConvKind::Depthwise)),
    ("trconv", Class::Conv(ConvKind::ZeroInserted)),
    ("ngconv", Class::Conv(ConvKind::NonGrouped)),
    ("deconv", Class::Conv(ConvKind::Transposed)),
    ("matmul", Class::Matmul { activations: false }),
    ("batched_matmul", Class::Matmul { activations: true }),
];

/// Every label with its class.
pub(crate) fn labels() -> impl Iterator<Item = (&'static str, Class)> {
    let vector = VectorOp::ALL.map(|(op, name, ..)| (name, Class::Vector(op)));
    LABELS.into_iter().chain(vector)
}

/// Reads the operator that `node`, with these `fields`, describes, with its extents if it is a vector
/// operator that gives them; it has `n_sources` inputs.
pub(super) fn read(
    class: Class,
    n_sources: usize,
    node: &Node<'_>,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<(Operator, Option<VectorForm>)> {
    let (operator, form) = match class {
        Class::Conv(kind) => (conv(kind, None, fields)?, None),
        Class::FullyConnected => (conv(ConvKind::Conv, Some(1), fields)?, None),
        Class::Matmul { activations } => (matmul(activations, fields)?, None),
        Class::Vector(op) if fields.given("outputs") => (sizes(op, fields)?, None),
        Class::Vector(op) => {
            let (operator, form) = vector(op, n_sources, fields)?;
            (operator, Some(form))
        }
    };
    if let Err(error) = operator.check() {
        fields.problem(Problem::new(node.span.clone(), error.to_string()));
        return None;
    }
    Some((operator, form))
}

type Reader<T> = fn(&Node<'_>, &mut Problems) -> Option<T>;

fn extent() -> Reader<u32> {
    |node, problems| number(1..=ConvShape::MAX_EXTENT)(node, problems)
}

fn size() -> Reader<u64> {
    |node, problems| number(0..=Operator::MAX_MACS)(node, problems)
}

/// A convolution; extents that are absent are `default`, if there is one.
fn conv(kind: ConvKind, default: Option<u32>, fields: &mut Fields<'_, '_, '_>) -> Option<Operator> {
    let depthwise = (kind == ConvKind::Depthwise).then_some(1);
    let n = fields.or("n", Some(1), extent());
    let k = fields.or("k", depthwise, extent());
    let c = fields.required("c", extent());
    let y = fields.or("y", default, extent());
    let x = fields.or("x", default, extent());
    let r = fields.or("r", default, extent());
    let s = fields.or("s", default, extent());
    let [stride_y, stride_x] = of_axes(["stride", "stride_y", "stride_x"], fields);
    let [dilation_y, dilation_x] = of_axes(["dilation", "dilation_y", "dilation_x"], fields);
    let groups = fields.or("groups", Some(1), extent());
    let padding = if kind == ConvKind::Transposed { crop(fields) } else { pad(fields) };
    let mark = fields.optional("kernel_exceeds_input", at(flag));
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

/// Vertical and horizontal value of the keys for both axes, for rows and for columns; 1 by default.
fn of_axes(keys: [&'static str; 3], fields: &mut Fields<'_, '_, '_>) -> [u32; 2] {
    let [both, rows, columns] = keys.map(|key| fields.optional(key, extent()));
    [rows, columns].map(|one| one.or(both).unwrap_or(1))
}

fn pad(fields: &mut Fields<'_, '_, '_>) -> Padding {
    fields.optional("pad", padding).unwrap_or_default()
}

/// Crop of the output of a transposed convolution: `pad` without `output_pad`.
fn crop(fields: &mut Fields<'_, '_, '_>) -> Padding {
    let padding = pad(fields);
    let kept = fields.optional("output_pad", at(side())).map(|kept| (kept.value, kept.span));
    let (kept, span) = kept.unwrap_or((0, 0..0));
    if kept > padding.bottom.min(padding.right) {
        let message = "`output_pad` is larger than what `pad` cuts off below or to the right";
        fields.problem(Problem::new(span, message));
        return padding;
    }
    Padding { bottom: padding.bottom - kept, right: padding.right - kept, ..padding }
}

fn side() -> Reader<u32> {
    |node, problems| number(0..=ConvShape::MAX_EXTENT)(node, problems)
}

/// Reads one number for every side, or `[top, bottom, left, right]`.
fn padding(node: &Node<'_>, problems: &mut Problems) -> Option<Padding> {
    let Value::List(_) = node.value else {
        let side = side()(node, problems)?;
        return Some(Padding { top: side, bottom: side, left: side, right: side });
    };
    let sides = list("sides", side())(node, problems)?;
    let [top, bottom, left, right] = sides[..] else {
        problems.push(node.mismatch(&"one number, or four: [top, bottom, left, right]"));
        return None;
    };
    Some(Padding { top, bottom, left, right })
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
    let instances = fields.or("instances", single, extent());
    let rows = fields.required("rows", extent());
    let c = fields.required("c", extent());
    let k = fields.required("k", extent());
    let (instances, rows, c, k) = (instances?, rows?, c?, k?);
    Some(Operator::Matmul(MatmulShape { instances, rows, k, c, activations }))
}

/// A vector operator of which only the sizes are known.
fn sizes(op: VectorOp, fields: &mut Fields<'_, '_, '_>) -> Option<Operator> {
    let inputs = fields.required("inputs", size());
    let outputs = fields.required("outputs", size());
    let operations = fields.optional("operations", size());
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
    let n = fields.or("n", Some(1), extent())?;
    let k = fields.required("k", extent()).unwrap_or(1);
    let y = fields.or("y", Some(1), extent())?;
    let x = fields.or("x", Some(1), extent())?;
    let tensor = Tensor { n, k, y, x };
    let mut nonzeros = 0;
    let form = match op {
        VectorOp::MaxPool | VectorOp::AveragePool => VectorForm::Window(pool(tensor, fields)?),
        VectorOp::Resize => {
            let to_y = fields.required("to_y", extent()).unwrap_or(1);
            let to_x = fields.or("to_x", Some(x), extent())?;
            VectorForm::Resize { tensor, to: [to_y, to_x] }
        }
        VectorOp::SparseProduct => {
            nonzeros = fields.required("nonzeros", size()).unwrap_or(0);
            VectorForm::Tensor(tensor)
        }
        _ => VectorForm::Tensor(tensor),
    };
    let shape = form.sizes(op, n_sources, nonzeros);
    let known = !matches!(op, VectorOp::RoiAlign | VectorOp::Nms);
    let inputs = fields.or("inputs", known.then_some(shape.inputs), size())?;
    Some((Operator::Vector(VectorShape { inputs, ..shape }), form))
}

/// A pool, which has the extents of a depthwise convolution; those of its input are given.
fn pool(tensor: Tensor, fields: &mut Fields<'_, '_, '_>) -> Option<ConvShape> {
    let r = fields.or("r", Some(1), extent())?;
    let s = fields.or("s", Some(1), extent())?;
    let [stride_y, stride_x] = of_axes(["stride", "stride_y", "stride_x"], fields);
    let padding = pad(fields);
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
