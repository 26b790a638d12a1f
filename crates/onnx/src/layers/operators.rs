//! The table of operators: the rule that infers the results of each, and the layers that it becomes.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::maker::Maker;
use super::op::{Done, Op};
use super::{attention, conv, elementwise, moves, norms, pools, products, recurrent};
use crate::graph::Node;
use crate::rules::{self, Fault, Rule};

/// Makes the layers of an operator, and says what its outputs are.
type Handler = fn(&mut Maker<'_, '_>, &Op<'_>) -> Done;

/// An operator.
pub(crate) struct Operator {
    /// Rule of its results.
    pub rule: Rule,
    /// Its layers; `None` of one that is not supported.
    pub layer: Option<Handler>,
    /// Whether it has multiply-accumulates.
    pub multiplies: bool,
}

/// The operator of a node; `None` if there is no rule for it.
pub(crate) fn find(node: &Node) -> Option<&'static Operator> {
    static OPERATORS: LazyLock<Table> = LazyLock::new(table);
    let domain = if &*node.domain == "ai.onnx" { "" } else { &*node.domain };
    OPERATORS.get(domain)?.get(&*node.operator)
}

/// Operators by domain and name.
type Table = HashMap<&'static str, HashMap<&'static str, Operator>>;

fn table() -> Table {
    let mut table = Table::new();
    let mut add = |names: &'static str, rule, layer, multiplies| {
        for name in names.split_whitespace() {
            let of_microsoft = name.strip_prefix("microsoft.").map(|name| ("com.microsoft", name));
            let (domain, name) = of_microsoft.unwrap_or(("", name));
            let operator = Operator { rule, layer, multiplies };
            table.entry(domain).or_default().insert(name, operator);
        }
    };
    PRODUCTS.iter().for_each(|&(names, rule, layer)| add(names, rule, Some(layer), true));
    OTHERS.iter().for_each(|&(names, rule, layer)| add(names, rule, Some(layer), false));
    RULES.iter().for_each(|&(names, rule)| add(names, rule, None, false));
    table
}

/// Operators with multiply-accumulates: names, those of `com.microsoft` with their domain; rule; layers.
const PRODUCTS: &[(&str, Rule, Handler)] = &[
    (
        "Conv ConvInteger QLinearConv microsoft.FusedConv microsoft.QLinearConv",
        rules::convolution::convolution,
        conv::conv,
    ),
    ("ConvTranspose", rules::convolution::transposed, conv::transposed),
    ("Gemm microsoft.FusedGemm microsoft.QGemm", rules::products::multiply, products::gemm),
    (
        "MatMul MatMulInteger QLinearMatMul microsoft.DynamicQuantizeMatMul microsoft.FusedMatMul \
         microsoft.MatMulIntegerToFloat microsoft.MatMulNBits microsoft.TransposeMatMul",
        rules::products::multiply,
        products::matmul,
    ),
    ("Einsum", rules::einsum::einsum, products::einsum),
    ("GRU LSTM RNN", rules::recurrent::states, recurrent::recurrent),
    (
        "Attention microsoft.Attention microsoft.GroupQueryAttention \
         microsoft.MultiHeadAttention microsoft.QAttention",
        rules::attention::attend,
        attention::attention,
    ),
];

/// All other operators that are supported.
const OTHERS: &[(&str, Rule, Handler)] = &[
    // Windows, reductions, resolutions, regions, and elements that data choose.
    (
        "AveragePool LpPool MaxPool microsoft.QLinearAveragePool",
        rules::convolution::pool,
        pools::window,
    ),
    (
        "GlobalAveragePool GlobalLpPool GlobalMaxPool microsoft.QLinearGlobalAveragePool",
        rules::convolution::global_pool,
        pools::global,
    ),
    (
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd \
         ReduceSum ReduceSumSquare microsoft.QLinearReduceMean",
        rules::reductions::reduce,
        pools::reduce,
    ),
    ("ArgMax ArgMin", rules::reductions::arg, pools::reduce),
    ("Resize", rules::resize::resize, pools::resize),
    ("Upsample", rules::resize::upsample, pools::resize),
    ("GridSample", rules::resize::grid_sample, pools::sampled),
    ("MaxRoiPool", rules::convolution::region_pool, pools::regions),
    ("RoiAlign", rules::convolution::align, pools::regions),
    ("NonMaxSuppression", rules::selection::suppression, pools::chosen),
    ("NonZero", rules::selection::non_zero, pools::chosen),
    ("TopK", rules::selection::top_k, pools::chosen),
    ("Unique", rules::selection::unique, pools::chosen),
    // Normalisations.
    ("Hardmax LogSoftmax Softmax", rules::normalisation::along_axis, norms::softmax),
    ("microsoft.QLinearSoftmax", rules::normalisation::same, norms::softmax),
    ("LpNormalization", rules::normalisation::along_axis, norms::layer_norm),
    ("LRN MeanVarianceNormalization", rules::normalisation::same, norms::layer_norm),
    ("GroupNormalization", rules::normalisation::group, norms::layer_norm),
    ("InstanceNormalization", rules::normalisation::instance, norms::layer_norm),
    (
        "LayerNormalization RMSNormalization SimplifiedLayerNormalization \
         microsoft.SimplifiedLayerNormalization",
        rules::normalisation::layer,
        norms::layer_norm,
    ),
    (
        "microsoft.SkipLayerNormalization microsoft.SkipSimplifiedLayerNormalization",
        rules::normalisation::skip_layer,
        norms::skip_layer_norm,
    ),
    ("microsoft.EmbedLayerNormalization", rules::normalisation::embed_layer, norms::embedding),
    ("BatchNormalization", rules::normalisation::batch, norms::batch_norm),
    // Elements one by one.
    (
        "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Mod Or Sub Xor",
        rules::elementwise::binary,
        elementwise::sum,
    ),
    ("Max Mean Min Sum", rules::elementwise::broadcast, elementwise::sum),
    (
        "Equal Greater GreaterOrEqual Less LessOrEqual",
        rules::elementwise::comparison,
        elementwise::sum,
    ),
    ("Clip", rules::elementwise::clip, elementwise::sum),
    ("PRelu", rules::elementwise::prelu, elementwise::sum),
    ("Where", rules::elementwise::choose, elementwise::sum),
    ("microsoft.QLinearAdd", rules::quantisation::binary, elementwise::sum),
    (
        "microsoft.BiasAdd microsoft.BiasGelu microsoft.FastGelu",
        rules::normalisation::biased,
        elementwise::sum,
    ),
    ("Div Mul Pow", rules::elementwise::binary, elementwise::product),
    ("microsoft.QLinearMul", rules::quantisation::binary, elementwise::product),
    (
        "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu \
         HardSigmoid HardSwish LeakyRelu Log Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid \
         Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu",
        rules::elementwise::unary,
        elementwise::activation,
    ),
    ("IsInf IsNaN Not", rules::elementwise::test, elementwise::activation),
    (
        "microsoft.Gelu microsoft.QLinearLeakyRelu microsoft.QLinearSigmoid microsoft.QuickGelu",
        rules::normalisation::same,
        elementwise::activation,
    ),
    ("Bernoulli", rules::generators::random_like, elementwise::activation),
    // Elements that stay, move, or are copied.
    ("Identity", rules::elementwise::identity, moves::identity),
    ("Dropout", rules::elementwise::dropout, moves::identity),
    ("Cast CastLike", rules::elementwise::cast, moves::format),
    ("QuantizeLinear microsoft.QuantizeLinear", rules::quantisation::quantize, moves::format),
    ("DequantizeLinear microsoft.DequantizeLinear", rules::quantisation::dequantize, moves::format),
    ("DynamicQuantizeLinear", rules::quantisation::dynamic, moves::format),
    ("Flatten", rules::reshaping::flatten, moves::reshape),
    ("Reshape", rules::reshaping::reshape, moves::reshape),
    ("Squeeze", rules::reshaping::squeeze, moves::reshape),
    ("Unsqueeze", rules::reshaping::unsqueeze, moves::reshape),
    ("Transpose", rules::reshaping::transpose, moves::transpose),
    ("Expand", rules::reshaping::expand, moves::expand),
    ("Tile", rules::reshaping::tile, moves::tile),
    ("Slice", rules::slicing::slice, moves::part),
    ("Split", rules::slicing::split, moves::part),
    ("Concat", rules::slicing::concat, moves::concat),
    ("microsoft.QLinearConcat", rules::quantisation::concat, moves::concat),
    ("Gather", rules::gathering::gather, moves::gather),
    ("GatherElements", rules::gathering::gather_elements, moves::gather),
    ("GatherND microsoft.GatherND", rules::gathering::gather_nd, moves::gather),
    ("Compress", rules::selection::compress, moves::copy),
    ("CumSum", rules::selection::cumulative_sum, moves::copy),
    ("DepthToSpace", rules::reshaping::depth_to_space, moves::copy),
    ("OneHot", rules::generators::one_hot, moves::copy),
    ("Pad", rules::slicing::pad, moves::copy),
    ("ReverseSequence RotaryEmbedding", rules::normalisation::reordered, moves::copy),
    ("microsoft.RotaryEmbedding", rules::normalisation::same, moves::copy),
    ("Scatter ScatterElements", rules::scattering::scatter_elements, moves::copy),
    ("ScatterND", rules::scattering::scatter_nd, moves::copy),
    ("SpaceToDepth", rules::reshaping::space_to_depth, moves::copy),
    ("Trilu", rules::slicing::trilu, moves::copy),
    // Constants, which are no layers.
    ("Constant", rules::generators::constant, no_layer),
    ("ConstantOfShape", rules::generators::constant_of_shape, no_layer),
    ("EyeLike", rules::generators::eye, no_layer),
    ("Range", rules::generators::range, no_layer),
    ("Shape", rules::generators::shape_of, no_layer),
    ("Size", rules::generators::size_of, no_layer),
];

/// Operators with a rule that are not supported: names, rule.
const RULES: &[(&str, Rule)] = &[
    ("CenterCropPad", rules::slicing::center_crop_pad),
    ("Multinomial", rules::generators::multinomial),
    ("RandomNormal RandomUniform", rules::generators::random),
    ("RandomNormalLike RandomUniformLike", rules::generators::random_like),
    ("microsoft.BiasDropout", rules::normalisation::biased_dropout),
    ("microsoft.Pad", rules::slicing::pad),
    ("microsoft.QLinearWhere", rules::quantisation::choose),
    ("microsoft.Range", rules::generators::range),
    ("microsoft.Trilu", rules::slicing::trilu),
    ("microsoft.Unique", rules::selection::unique),
];

/// A constant that depends on data is not supported.
fn no_layer(_: &mut Maker<'_, '_>, _: &Op<'_>) -> Done {
    Err(Fault::Unsupported)
}
