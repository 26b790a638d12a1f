//! Schema of `network:` files.

use serde_json::{Value, json};

use super::form::{
    Form, Key, any_of, exactly, flag, list, name, number, object, one_or_list, optional, positive,
    required, text, whole, word,
};
use crate::network::MAX_PARAMETERS;
use crate::network::{Class, DIRECTIONS, MAX_REPEAT, MAX_SOURCES, labels};
use xrsim_model::model::{
    Bits, Connections, ConvKind, ConvShape, Network, Operator, Parameter, VectorOp, View,
};

/// Name of the definition of an entry of `layers`.
pub(super) const LAYER: &str = "layer";

pub(super) fn network() -> Form {
    let count = || whole(0..=Operator::MAX_MACS).or(0);
    object([
        required("name", name().says("Name of the network")),
        optional(
            "task",
            name()
                .says("Short name, by which scenarios and reports call it")
                .remark("Without it, `name`."),
        ),
        optional("title", text().says("Task in words")),
        optional("dataset", text().says("Data set of the quality goal")),
        optional("quality", quality()),
        optional(
            "inputs",
            list(text().says("Name of a sensor"))
                .allowed("a list of names of sensors")
                .says("Sensors that it reads, the primary one first")
                .remark("Without it, frames arrive at their nominal time."),
        ),
        optional(
            "other_parameters",
            count().says(
                "Learned parameters that no layer has as weights, such as biases, scales and shifts",
            ),
        ),
        optional(
            "batch_norm_channels",
            count().says("Channels whose batch normalisation folds into the layer before"),
        ),
        optional("published", published()),
        optional("traced", traced()),
        optional(
            "deviations",
            list(text().says("A statement"))
                .allowed("a list of statements")
                .says("Deviations from the published network, unconfirmed points, and choices"),
        ),
        optional(
            "connections",
            word(Connections::ALL.map(|(word, _)| word))
                .or("complete")
                .says("Whether all operators and edges between layers are here")
                .remark("With `incomplete`, shapes between layers are not checked."),
        ),
        optional("parameters", parameters()),
        optional("bits", bits(width).remark("They hold for layers that have none of their own.")),
        required("layers", layers().says("Layers in the order of execution")),
    ])
    .says("Network: layers in the order of execution, its task and its quality goal")
}

fn quality() -> Form {
    object([
        required("metric", text().says("Metric of the quality")),
        required("target", positive().says("Value that is to be reached")),
        required(
            "better",
            word(DIRECTIONS.map(|(word, _)| word)).says("Which values of the metric are better"),
        ),
        optional(
            "measured",
            number(0.0..=1e12)
                .says("Value that is reached")
                .remark("Without it, the goal counts as met."),
        ),
    ])
    .says("Quality goal (XRBench Table 1)")
    .remark("Without it, a goal that is met.")
}

fn published() -> Form {
    let count = || whole(1..=Operator::MAX_MACS);
    object([
        optional("parameters", count().says("Learned parameters")),
        optional("macs", count().says("Multiply-accumulates")),
        required("source", text().says("Source of the numbers")),
    ])
    .says("Size that was published for this input and head")
}

fn traced() -> Form {
    let count = || whole(0..=Network::MAX_LAYERS as u64);
    object([
        required("code", text().says("Code that was executed")),
        optional(
            "layers",
            count()
                .says("Number of layers with multiply-accumulates that equal those of the code")
                .remark("Without it, only totals were compared."),
        ),
        optional(
            "edges",
            count()
                .says("Number of these layers that also read the same layers")
                .remark("Without it, sources were not compared."),
        ),
        optional("remark", text().says("Limit of the comparison")),
    ])
    .says("Comparison of the network with executed code")
}

fn parameters() -> Form {
    let value = || whole(0..=Parameter::MAX);
    let range = exactly(2, value(), "[least, largest]").or(json!([1, Parameter::MAX]));
    let declaration = object([
        required("default", value().says("Value where none is set")),
        optional("range", range.says("Range of its values")),
        optional("reason", text().says("Reason of the default")),
    ]);
    let declaration = any_of([
        whole(1..=Parameter::MAX),
        declaration.allowed("{default, range: [least, largest], reason}"),
    ])
    .says("Default of this parameter, or its declaration");
    super::form::named(declaration)
        .with("maxProperties", MAX_PARAMETERS)
        .with("propertyNames", json!({"pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"}))
        .says("Numbers that the extents of layers depend on")
        .remark("Layers name them in expressions, such as `2*regions + 1`.")
}

fn width() -> Form {
    whole(1..=Bits::MAX)
}

/// Widths, each as `width` says.
fn bits(width: impl Fn() -> Form) -> Form {
    object([
        optional("weights", width().says("Width of weights [bit]")),
        optional("activations", width().says("Width of inputs and outputs [bit]")),
    ])
    .says("Widths of the data of a layer, in place of those of the hardware")
}

/// A whole number, or an expression of the parameters of the network.
fn expression(number: Form) -> Form {
    number
        .with("type", json!(["integer", "string"]))
        .with("pattern", "^[A-Za-z0-9_+*/() -]*[A-Za-z_+*/(][A-Za-z0-9_+*/() -]*$")
        .allowed_with(", or an expression of parameters")
}

/// A list of layers, repeated blocks and lists of such.
fn layers() -> Form {
    let item = Form::of(json!({"$ref": format!("#/definitions/{LAYER}")}), "");
    list(item)
}

/// An entry of `layers`.
pub(super) fn layer() -> Form {
    let operators = labels().map(|(label, class)| optional(label, operator(label, class)));
    let operator = object(operators).with("minProperties", 1).with("maxProperties", 1);
    let repeat = object([
        required(
            "repeat",
            expression(whole(1..=MAX_REPEAT)).says("Number of times that the block is repeated"),
        ),
        required("layers", layers().says("Layers of the block")),
    ]);
    any_of([operator, repeat, layers().allowed("")]).says(
        "A layer: an operator with its extents, a block with `repeat` and `layers`, or a list of layers",
    )
}

/// A number of elements, channels, rows or columns.
fn extent() -> Form {
    expression(whole(1..=ConvShape::MAX_EXTENT))
}

fn size() -> Form {
    expression(whole(0..=Operator::MAX_MACS))
}

/// Keys of every layer.
fn common() -> Vec<Key> {
    let source = expression(whole(0..=Network::MAX_LAYERS as u64));
    let sources =
        any_of([source.clone(), list(source).at_most(MAX_SOURCES).allowed("a list of such")]);
    let view = || word(View::ALL.map(|(word, _)| word));
    vec![
        optional(
            "name",
            name()
                .says("Name of the layer in reports")
                .remark("Without it, the operator and its running number, such as `conv2`."),
        ),
        optional(
            "from",
            sources
                .or(1)
                .says("How many layers back its inputs come from")
                .remark("0 is outside of the network."),
        ),
        optional(
            "shared",
            flag().or(false).says("Whether its weights are those of a layer before, or fixed"),
        ),
        optional("bits", bits(|| expression(width()))),
        optional(
            "reads",
            one_or_list(view())
                .or("whole")
                .says("How it reads its sources, where their shapes alone do not tell"),
        ),
    ]
}

fn operator(label: &str, class: Class) -> Form {
    let variants = match class {
        Class::Conv(kind) => vec![conv(kind, false)],
        Class::FullyConnected => vec![conv(ConvKind::Conv, true)],
        Class::Matmul { activations } => vec![matmul(activations)],
        Class::Vector(op) => vec![vector(op), sizes()],
    };
    let mut variants: Vec<_> =
        variants.into_iter().map(|keys| object(common().into_iter().chain(keys))).collect();
    let form = match variants.len() {
        1 => variants.remove(0),
        _ => any_of(variants),
    };
    form.says(meaning(label, class))
}

fn meaning(label: &str, class: Class) -> &str {
    match class {
        Class::Conv(ConvKind::Conv) => "Convolution, dense or in groups",
        Class::Conv(ConvKind::Depthwise) => "Depthwise convolution",
        Class::Conv(ConvKind::Transposed) => "Transposed convolution",
        Class::Conv(ConvKind::ZeroInserted) => {
            "Transposed convolution, with the extents of the convolution on an input with zeros inserted"
        }
        Class::Conv(ConvKind::NonGrouped) => "Convolution that the artifact calls non-grouped",
        Class::FullyConnected => "Fully connected layer: a convolution whose missing extents are 1",
        Class::Matmul { activations: false } => {
            "Product of activations and weights: `rows` x `c` times `c` x `k`"
        }
        Class::Matmul { activations: true } => {
            "Products of two activations, as in attention: `instances` times `rows` x `c` times `c` x `k`"
        }
        Class::Vector(op) => vector_meaning(op).unwrap_or(label),
    }
}

fn vector_meaning(op: VectorOp) -> Option<&'static str> {
    Some(match op {
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
    })
}

/// A key that is required unless it has a default.
fn with_default(key: &str, form: Form, default: Option<Value>) -> Key {
    match default {
        Some(value) => optional(key, form.or(value)),
        None => required(key, form),
    }
}

fn strides(what: &str) -> [Key; 3] {
    let (upper, lower) = (what, what.to_lowercase());
    let of = |axes: &str| extent().says(format!("{upper} {axes}"));
    [
        optional(lower.clone(), of("of rows and columns").or(1)),
        optional(format!("{lower}_y"), of("of rows")),
        optional(format!("{lower}_x"), of("of columns")),
    ]
}

fn padding(meaning: &str) -> Key {
    let side = || expression(whole(0..=ConvShape::MAX_EXTENT));
    let sides = exactly(4, side(), "[top, bottom, left, right]");
    optional("pad", any_of([side(), sides]).or(0).says(meaning))
}

fn conv(kind: ConvKind, has_defaults: bool) -> Vec<Key> {
    let one = || has_defaults.then(|| json!(1));
    let depthwise = (kind == ConvKind::Depthwise).then(|| json!(1));
    let is_transposed = kind == ConvKind::Transposed;
    let pad = match is_transposed {
        true => "Rows and columns that are cut off the output",
        false => "Rows and columns of zeros around the input",
    };
    let mut keys = vec![
        optional("n", extent().or(1).says("Batch, or number of regions")),
        with_default("k", extent().says("Output channels of all groups"), depthwise),
        required("c", extent().says("Input channels of all groups")),
        with_default("y", extent().says("Input rows without padding"), one()),
        with_default("x", extent().says("Input columns without padding"), one()),
        with_default("r", extent().says("Kernel rows"), one()),
        with_default("s", extent().says("Kernel columns"), one()),
    ];
    keys.extend(strides("Stride"));
    keys.extend(strides("Dilation"));
    keys.extend([
        optional("groups", extent().or(1).says("Groups, which divide `k` and `c`")),
        padding(pad),
        optional(
            "kernel_exceeds_input",
            flag().or(false).says("Whether the kernel is meant to be larger than its input"),
        ),
    ]);
    if is_transposed {
        let kept = expression(whole(0..=ConvShape::MAX_EXTENT)).or(0);
        let meaning = "Rows below and columns to the right that `pad` does not cut off";
        keys.push(optional("output_pad", kept.says(meaning)));
    }
    keys
}

fn matmul(activations: bool) -> Vec<Key> {
    let single = (!activations).then(|| json!(1));
    vec![
        with_default("instances", extent().says("Number of products"), single),
        required("rows", extent().says("Rows of the first matrix")),
        required("c", extent().says("Columns of the first matrix, and rows of the second")),
        required("k", extent().says("Columns of the second matrix")),
    ]
}

/// Keys of a vector operator of which only the sizes are known.
fn sizes() -> Vec<Key> {
    vec![
        required("inputs", size().says("Elements that are read")),
        required("outputs", size().says("Elements that are written")),
        optional(
            "operations",
            size().says("Operations").remark("Without it, those that the operator usually takes."),
        ),
    ]
}

/// Keys of a vector operator on a tensor.
fn vector(op: VectorOp) -> Vec<Key> {
    let one = || extent().or(1);
    let mut keys = vec![
        optional("n", one().says("Batch, or number of regions")),
        required("k", extent().says("Channels")),
        optional("y", one().says("Rows")),
        optional("x", one().says("Columns")),
    ];
    match op {
        VectorOp::MaxPool | VectorOp::AveragePool => {
            keys.push(optional("r", one().says("Rows of the window")));
            keys.push(optional("s", one().says("Columns of the window")));
            keys.extend(strides("Stride"));
            keys.push(padding("Rows and columns around the input"));
        }
        VectorOp::Resize => {
            keys.push(required("to_y", extent().says("Rows of the output")));
            let columns = extent().says("Columns of the output").remark("Without it, `x`.");
            keys.push(optional("to_x", columns));
        }
        VectorOp::SparseProduct => {
            keys.push(required("nonzeros", size().says("Elements of the matrix that are not 0")));
        }
        _ => {}
    }
    let is_known = !matches!(op, VectorOp::RoiAlign | VectorOp::Nms);
    let inputs = size().says("Elements that are read");
    keys.push(match is_known {
        true => {
            optional("inputs", inputs.remark("Without it, those that follow from the extents."))
        }
        false => required("inputs", inputs),
    });
    keys
}
