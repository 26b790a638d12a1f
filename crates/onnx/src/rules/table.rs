//! Which rule an operator has.

use super::{
    Call, Outputs, attention, convolution, detection, einsum, elementwise, fused, gathering,
    generators, normalisation, products, quantisation, recurrent, reductions, reshaping, resize,
    scattering, selection, slicing,
};

/// Rule of an operator.
pub(super) type Rule = fn(&Call<'_>) -> Outputs;

/// Rule of an operator; `None` if there is none.
pub(super) fn rule(domain: &str, operator: &str) -> Option<Rule> {
    match domain {
        "" | "ai.onnx" => standard(operator),
        "com.microsoft" => microsoft(operator),
        _ => None,
    }
}

fn standard(operator: &str) -> Option<Rule> {
    one_by_one(operator)
        .or_else(|| layers(operator))
        .or_else(|| shapes(operator))
        .or_else(|| elements(operator))
}

/// Operators that treat elements one by one.
fn one_by_one(operator: &str) -> Option<Rule> {
    Some(match operator {
        "Abs" | "Acos" | "Acosh" | "Asin" | "Asinh" | "Atan" | "Atanh" | "BitwiseNot" | "Ceil"
        | "Celu" | "Cos" | "Cosh" | "Elu" | "Erf" | "Exp" | "Floor" | "Gelu" | "HardSigmoid"
        | "HardSwish" | "LeakyRelu" | "Log" | "Mish" | "Neg" | "Reciprocal" | "Relu" | "Round"
        | "Selu" | "Shrink" | "Sigmoid" | "Sign" | "Sin" | "Sinh" | "Softplus" | "Softsign"
        | "Sqrt" | "Swish" | "Tan" | "Tanh" | "ThresholdedRelu" => elementwise::unary,
        "IsInf" | "IsNaN" | "Not" => elementwise::test,
        "Clip" => elementwise::clip,
        "Add" | "And" | "BitShift" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "Div" | "Mod"
        | "Mul" | "Or" | "Pow" | "Sub" | "Xor" => elementwise::binary,
        "Max" | "Mean" | "Min" | "Sum" => elementwise::broadcast,
        "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" => elementwise::comparison,
        "PRelu" => elementwise::prelu,
        "Where" => elementwise::choose,
        "Cast" | "CastLike" => elementwise::cast,
        "Dropout" => elementwise::dropout,
        "Identity" => elementwise::identity,
        _ => return None,
    })
}

/// Operators with windows, products, states, statistics and regions.
fn layers(operator: &str) -> Option<Rule> {
    Some(match operator {
        "Conv" | "ConvInteger" | "QLinearConv" => convolution::convolution,
        "ConvTranspose" => convolution::transposed,
        "AveragePool" | "LpPool" | "MaxPool" => convolution::pool,
        "GlobalAveragePool" | "GlobalLpPool" | "GlobalMaxPool" => convolution::global_pool,
        "MaxRoiPool" => convolution::region_pool,
        "Gemm" | "MatMul" | "MatMulInteger" | "QLinearMatMul" => products::multiply,
        "Einsum" => einsum::einsum,
        "GRU" | "LSTM" | "RNN" => recurrent::states,
        "Attention" => attention::attend,
        "BatchNormalization" => normalisation::batch,
        "GroupNormalization" => normalisation::group,
        "InstanceNormalization" => normalisation::instance,
        "LayerNormalization" | "RMSNormalization" | "SimplifiedLayerNormalization" => {
            normalisation::layer
        }
        "LRN" | "MeanVarianceNormalization" => normalisation::same,
        "Hardmax" | "LogSoftmax" | "LpNormalization" | "Softmax" => normalisation::along_axis,
        "ReverseSequence" | "RotaryEmbedding" => normalisation::reordered,
        "DequantizeLinear" => quantisation::dequantize,
        "DynamicQuantizeLinear" => quantisation::dynamic,
        "QuantizeLinear" => quantisation::quantize,
        "NonMaxSuppression" => detection::suppression,
        "RoiAlign" => detection::align,
        "GridSample" => resize::grid_sample,
        "Resize" => resize::resize,
        "Upsample" => resize::upsample,
        _ => return None,
    })
}

/// Operators that change shapes, and those that make tensors of them.
fn shapes(operator: &str) -> Option<Rule> {
    Some(match operator {
        "Constant" => generators::constant,
        "ConstantOfShape" => generators::constant_of_shape,
        "EyeLike" => generators::eye,
        "Bernoulli" | "RandomNormalLike" | "RandomUniformLike" => generators::random_like,
        "Multinomial" => generators::multinomial,
        "OneHot" => generators::one_hot,
        "RandomNormal" | "RandomUniform" => generators::random,
        "Range" => generators::range,
        "Shape" => generators::shape_of,
        "Size" => generators::size_of,
        "DepthToSpace" => reshaping::depth_to_space,
        "Expand" => reshaping::expand,
        "Flatten" => reshaping::flatten,
        "Reshape" => reshaping::reshape,
        "SpaceToDepth" => reshaping::space_to_depth,
        "Squeeze" => reshaping::squeeze,
        "Tile" => reshaping::tile,
        "Transpose" => reshaping::transpose,
        "Unsqueeze" => reshaping::unsqueeze,
        _ => return None,
    })
}

/// Operators that choose, move and count elements.
fn elements(operator: &str) -> Option<Rule> {
    Some(match operator {
        "CenterCropPad" => slicing::center_crop_pad,
        "Concat" => slicing::concat,
        "Pad" => slicing::pad,
        "Slice" => slicing::slice,
        "Split" => slicing::split,
        "Trilu" => slicing::trilu,
        "Gather" => gathering::gather,
        "GatherElements" => gathering::gather_elements,
        "GatherND" => gathering::gather_nd,
        "Scatter" | "ScatterElements" => scattering::scatter_elements,
        "ScatterND" => scattering::scatter_nd,
        "Compress" => selection::compress,
        "CumSum" => selection::cumulative_sum,
        "NonZero" => selection::non_zero,
        "TopK" => selection::top_k,
        "Unique" => selection::unique,
        "ArgMax" | "ArgMin" => reductions::arg,
        "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceMax"
        | "ReduceMean" | "ReduceMin" | "ReduceProd" | "ReduceSum" | "ReduceSumSquare" => {
            reductions::reduce
        }
        _ => return None,
    })
}

fn microsoft(operator: &str) -> Option<Rule> {
    Some(match operator {
        "FusedConv" | "QLinearConv" => convolution::convolution,
        "QLinearAveragePool" => convolution::pool,
        "QLinearGlobalAveragePool" => convolution::global_pool,
        "DynamicQuantizeMatMul"
        | "FusedGemm"
        | "FusedMatMul"
        | "MatMulIntegerToFloat"
        | "MatMulNBits"
        | "QGemm"
        | "TransposeMatMul" => products::multiply,
        "Attention" | "GroupQueryAttention" | "MultiHeadAttention" | "QAttention" => {
            attention::attend
        }
        "BiasAdd" | "BiasGelu" | "FastGelu" => fused::biased,
        "BiasDropout" => fused::biased_dropout,
        "Gelu" | "QLinearLeakyRelu" | "QLinearSigmoid" | "QLinearSoftmax" | "QuickGelu"
        | "RotaryEmbedding" => normalisation::same,
        "EmbedLayerNormalization" => normalisation::embed_layer,
        "SimplifiedLayerNormalization" => normalisation::layer,
        "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization" => normalisation::skip_layer,
        "QLinearAdd" | "QLinearMul" => quantisation::binary,
        "QLinearConcat" => quantisation::concat,
        "QLinearReduceMean" => reductions::reduce,
        "QLinearWhere" => quantisation::choose,
        "QuantizeLinear" => quantisation::quantize,
        "DequantizeLinear" => quantisation::dequantize,
        "GatherND" => gathering::gather_nd,
        "Pad" => slicing::pad,
        "Range" => generators::range,
        "Trilu" => slicing::trilu,
        "Unique" => selection::unique,
        _ => return None,
    })
}
