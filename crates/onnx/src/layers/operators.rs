//! The table of operators: what each becomes.

use super::maker::{Maker, Role};
use super::{attention, conv, elementwise, moves, norms, pools, products, recurrent};
use crate::graph::Node;
use crate::rules::{Call, Fault};
use crate::trace::Step;
use xrsim_model::model::VectorOp;

/// Makes the layers of a step, if it has any, and says what its outputs are.
///
/// # Errors
///
/// [`Fault::Unsupported`] of an operator that is not in the table; [`Fault::Invalid`] of one that no layer
/// can be.
pub(super) fn layer(
    maker: &mut Maker<'_, '_>,
    index: usize,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    match maker.roles[index].clone() {
        Role::Part => {
            maker.counts.parts += 1;
            return moves::pass(maker, step);
        }
        Role::Norm(of) => return norms::found(maker, step, of),
        Role::Padding => {
            maker.counts.parts += 1;
            return moves::pass(maker, step);
        }
        Role::Own => {}
    }
    let handler = handler(&step.node).ok_or(Fault::Unsupported)?;
    handler(maker, step, call)
}

/// Makes the layers of a step, and says what its outputs are.
type Handler = fn(&mut Maker<'_, '_>, &Step<'_>, &Call<'_>) -> Result<(), Fault>;

/// Whether an operator is in the table, or gives constants alone.
pub(crate) fn is_known(node: &Node) -> bool {
    let is_generator = || {
        matches!(
            &*node.operator,
            "Constant" | "ConstantOfShape" | "Shape" | "Size" | "Range" | "EyeLike"
        )
    };
    handler(node).is_some() || (node.domain.is_empty() && is_generator())
}

/// What is done with an operator; `None` of one that is not supported.
fn handler(node: &Node) -> Option<Handler> {
    Some(match (&*node.domain, &*node.operator) {
        ("", "Conv" | "ConvInteger" | "QLinearConv")
        | ("com.microsoft", "FusedConv" | "QLinearConv") => conv::conv,
        ("", "ConvTranspose") => conv::transposed,
        ("", "Gemm") | ("com.microsoft", "QGemm" | "FusedGemm") => products::gemm,
        ("", "MatMul" | "MatMulInteger" | "QLinearMatMul")
        | (
            "com.microsoft",
            "FusedMatMul"
            | "TransposeMatMul"
            | "DynamicQuantizeMatMul"
            | "MatMulIntegerToFloat"
            | "MatMulNBits",
        ) => products::matmul,
        ("", "Einsum") => products::einsum,
        ("", "LSTM" | "GRU" | "RNN") => recurrent::recurrent,
        ("", "Attention")
        | (
            "com.microsoft",
            "Attention" | "MultiHeadAttention" | "GroupQueryAttention" | "QAttention",
        ) => attention::attention,
        ("", "MaxPool") => |maker, step, call| pools::window(maker, step, call, VectorOp::MaxPool),
        ("", "AveragePool" | "LpPool") | ("com.microsoft", "QLinearAveragePool") => {
            |maker, step, call| pools::window(maker, step, call, VectorOp::AveragePool)
        }
        ("", "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool")
        | ("com.microsoft", "QLinearGlobalAveragePool") => pools::global,
        (
            "",
            "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1"
            | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceSumSquare" | "ArgMax"
            | "ArgMin",
        )
        | ("com.microsoft", "QLinearReduceMean") => pools::reduce,
        ("", "Resize" | "Upsample") => |maker, step, _| pools::resize(maker, step),
        ("", "GridSample") => |maker, step, _| pools::sampled(maker, step, "GridSample"),
        ("", "RoiAlign" | "MaxRoiPool") => |maker, step, _| pools::regions(maker, step),
        ("", "NonMaxSuppression" | "TopK" | "Unique" | "NonZero") => {
            |maker, step, _| pools::chosen(maker, step)
        }
        ("", "Softmax" | "LogSoftmax" | "Hardmax") | ("com.microsoft", "QLinearSoftmax") => {
            norms::softmax
        }
        (
            "",
            "LayerNormalization"
            | "RMSNormalization"
            | "GroupNormalization"
            | "InstanceNormalization"
            | "LpNormalization"
            | "MeanVarianceNormalization"
            | "LRN",
        )
        | ("com.microsoft", "SimplifiedLayerNormalization" | "LayerNormalization" | "GroupNorm")
        | ("", "SimplifiedLayerNormalization") => |maker, step, _| norms::layer_norm(maker, step),
        ("com.microsoft", "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization") => {
            |maker, step, _| norms::skip_layer_norm(maker, step)
        }
        ("com.microsoft", "EmbedLayerNormalization") => {
            |maker, step, _| norms::embedding(maker, step)
        }
        ("", "BatchNormalization") => |maker, step, _| norms::batch_norm(maker, step),
        (
            "",
            "Add" | "Sub" | "Sum" | "Mean" | "Max" | "Min" | "Where" | "And" | "Or" | "Xor"
            | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Mod" | "BitShift"
            | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "Clip" | "PRelu",
        )
        | ("com.microsoft", "QLinearAdd" | "BiasGelu" | "FastGelu" | "BiasAdd") => {
            |maker, step, _| elementwise::several(maker, step, VectorOp::Add)
        }
        ("", "Mul" | "Div" | "Pow") | ("com.microsoft", "QLinearMul") => {
            |maker, step, _| elementwise::several(maker, step, VectorOp::Mul)
        }
        ("", "Swish" | "Gelu") => |maker, step, _| elementwise::activation(maker, step),
        (_, operator) if is_activation(operator) => {
            |maker, step, _| elementwise::activation(maker, step)
        }
        ("", "Concat") | ("com.microsoft", "QLinearConcat") => {
            |maker, step, _| moves::concat(maker, step)
        }
        ("", "Transpose") => moves::transpose,
        ("", "Slice" | "Split") => |maker, step, _| moves::part(maker, step),
        ("", "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze") => {
            |maker, step, _| moves::reshape(maker, step)
        }
        ("", "Identity" | "Dropout") => |maker, step, _| moves::identity(maker, step),
        (
            "",
            "Cast" | "CastLike" | "QuantizeLinear" | "DequantizeLinear" | "DynamicQuantizeLinear",
        )
        | ("com.microsoft", "QuantizeLinear" | "DequantizeLinear") => {
            |maker, step, _| moves::format(maker, step)
        }
        ("", "Expand") => |maker, step, _| moves::expand(maker, step),
        ("", "Tile") => |maker, step, _| moves::tile(maker, step),
        ("", "Gather" | "GatherElements" | "GatherND") | ("com.microsoft", "GatherND") => {
            |maker, step, _| moves::gather(maker, step)
        }
        (
            "",
            "Pad" | "ScatterND" | "ScatterElements" | "Scatter" | "CumSum" | "ReverseSequence"
            | "Trilu" | "DepthToSpace" | "SpaceToDepth" | "Compress" | "OneHot",
        )
        | ("com.microsoft", "RotaryEmbedding")
        | ("", "RotaryEmbedding") => |maker, step, _| moves::copy(maker, step),
        _ => return None,
    })
}

/// Whether an operator has multiply-accumulates.
pub(super) fn has_products(node: &Node) -> bool {
    matches!(
        &*node.operator,
        "Conv"
            | "ConvInteger"
            | "QLinearConv"
            | "FusedConv"
            | "ConvTranspose"
            | "Gemm"
            | "QGemm"
            | "FusedGemm"
            | "MatMul"
            | "MatMulInteger"
            | "QLinearMatMul"
            | "FusedMatMul"
            | "TransposeMatMul"
            | "DynamicQuantizeMatMul"
            | "MatMulIntegerToFloat"
            | "MatMulNBits"
            | "Einsum"
            | "LSTM"
            | "GRU"
            | "RNN"
            | "Attention"
            | "MultiHeadAttention"
            | "GroupQueryAttention"
            | "QAttention"
    )
}

/// Whether an operator computes each element of its output from that of its input.
fn is_activation(operator: &str) -> bool {
    matches!(
        operator,
        "Relu"
            | "Sigmoid"
            | "Tanh"
            | "LeakyRelu"
            | "Elu"
            | "Selu"
            | "Celu"
            | "HardSigmoid"
            | "HardSwish"
            | "Mish"
            | "Gelu"
            | "QuickGelu"
            | "Erf"
            | "Exp"
            | "Log"
            | "Sqrt"
            | "Abs"
            | "Neg"
            | "Softplus"
            | "Softsign"
            | "ThresholdedRelu"
            | "Shrink"
            | "Sin"
            | "Cos"
            | "Tan"
            | "Asin"
            | "Acos"
            | "Atan"
            | "Sinh"
            | "Cosh"
            | "Asinh"
            | "Acosh"
            | "Atanh"
            | "Floor"
            | "Ceil"
            | "Round"
            | "Sign"
            | "Not"
            | "BitwiseNot"
            | "IsNaN"
            | "IsInf"
            | "Reciprocal"
            | "QLinearSigmoid"
            | "QLinearLeakyRelu"
            | "Bernoulli"
    )
}
