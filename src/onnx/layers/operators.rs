//! The table of operators: what each becomes.

use super::maker::{Maker, Role};
use super::{attention, conv, elementwise, moves, norms, pools, products, recurrent};
use crate::model::VectorOp;
use crate::onnx::rules::{Call, Fault};
use crate::onnx::trace::Step;

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
    match (&*step.node.domain, &*step.node.operator) {
        ("", "Conv" | "ConvInteger" | "QLinearConv")
        | ("com.microsoft", "FusedConv" | "QLinearConv") => conv::conv(maker, step, call),
        ("", "ConvTranspose") => conv::transposed(maker, step, call),
        ("", "Gemm") | ("com.microsoft", "QGemm" | "GemmFastGelu" | "FusedGemm") => {
            products::gemm(maker, step, call)
        }
        ("", "MatMul" | "MatMulInteger" | "QLinearMatMul")
        | (
            "com.microsoft",
            "FusedMatMul"
            | "TransposeMatMul"
            | "DynamicQuantizeMatMul"
            | "MatMulIntegerToFloat"
            | "MatMulNBits"
            | "FusedMatMulActivation",
        ) => products::matmul(maker, step, call),
        ("", "Einsum") => products::einsum(maker, step, call),
        ("", "LSTM" | "GRU" | "RNN") => recurrent::recurrent(maker, step, call),
        ("", "Attention")
        | (
            "com.microsoft",
            "Attention" | "MultiHeadAttention" | "GroupQueryAttention" | "QAttention",
        ) => attention::attention(maker, step, call),
        ("", "MaxPool") => pools::window(maker, step, call, VectorOp::MaxPool),
        ("", "AveragePool" | "LpPool") | ("com.microsoft", "QLinearAveragePool") => {
            pools::window(maker, step, call, VectorOp::AveragePool)
        }
        ("", "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool")
        | ("com.microsoft", "QLinearGlobalAveragePool") => pools::global(maker, step),
        (
            "",
            "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1"
            | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceSumSquare" | "ArgMax"
            | "ArgMin",
        )
        | ("com.microsoft", "QLinearReduceMean") => pools::reduce(maker, step, call),
        ("", "Resize" | "Upsample") => pools::resize(maker, step),
        ("", "GridSample") | ("com.microsoft", "GridSample") => {
            pools::sampled(maker, step, "GridSample")
        }
        ("", "RoiAlign" | "MaxRoiPool") => pools::regions(maker, step),
        ("", "NonMaxSuppression" | "TopK" | "Unique" | "NonZero") => pools::chosen(maker, step),
        ("", "Softmax" | "LogSoftmax" | "Hardmax") | ("com.microsoft", "QLinearSoftmax") => {
            norms::softmax(maker, step, call)
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
        | ("", "SimplifiedLayerNormalization") => norms::layer_norm(maker, step),
        ("com.microsoft", "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization") => {
            norms::skip_layer_norm(maker, step)
        }
        ("com.microsoft", "EmbedLayerNormalization") => norms::embedding(maker, step),
        ("", "BatchNormalization") => norms::batch_norm(maker, step),
        (
            "",
            "Add" | "Sub" | "Sum" | "Mean" | "Max" | "Min" | "Where" | "And" | "Or" | "Xor"
            | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Mod" | "BitShift"
            | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "Clip" | "PRelu",
        )
        | ("com.microsoft", "QLinearAdd" | "BiasGelu" | "FastGelu" | "BiasAdd") => {
            elementwise::several(maker, step, VectorOp::Add)
        }
        ("", "Mul" | "Div" | "Pow") | ("com.microsoft", "QLinearMul") => {
            elementwise::several(maker, step, VectorOp::Mul)
        }
        ("", "Swish" | "Gelu") => elementwise::activation(maker, step),
        (_, operator) if is_activation(operator) => elementwise::activation(maker, step),
        ("", "Concat") | ("com.microsoft", "QLinearConcat") => moves::concat(maker, step),
        ("", "Transpose") => moves::transpose(maker, step, call),
        ("", "Slice" | "Split" | "SplitToSequence") => moves::part(maker, step),
        ("", "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze") => moves::reshape(maker, step),
        ("", "Identity" | "Dropout") => moves::identity(maker, step),
        (
            "",
            "Cast" | "CastLike" | "QuantizeLinear" | "DequantizeLinear" | "DynamicQuantizeLinear",
        )
        | ("com.microsoft", "QuantizeLinear" | "DequantizeLinear") => moves::format(maker, step),
        ("", "Expand") => moves::expand(maker, step),
        ("", "Tile") => moves::tile(maker, step),
        ("", "Gather" | "GatherElements" | "GatherND") | ("com.microsoft", "GatherND") => {
            moves::gather(maker, step)
        }
        (
            "",
            "Pad" | "ScatterND" | "ScatterElements" | "Scatter" | "CumSum" | "ReverseSequence"
            | "Trilu" | "DepthToSpace" | "SpaceToDepth" | "Compress" | "OneHot",
        )
        | ("com.microsoft", "RotaryEmbedding")
        | ("", "RotaryEmbedding") => moves::copy(maker, step),
        _ => Err(Fault::Unsupported),
    }
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
