//! Cases by hand.

use super::text::{Case, fact};
use crate::fact::{Element, Fact, Number};
use crate::rules::{
    Fault, Letter, Window, equation, heads, product, recurrent, reduction, windows,
};

/// Facts about the outputs of a valid call.
fn facts(text: &str, outputs: usize) -> Vec<Fact> {
    match Case::new(text, outputs).infer() {
        Ok(facts) => facts,
        Err(fault) => panic!("{text} gives {fault:?}"),
    }
}

fn one(text: &str) -> Fact {
    facts(text, 1).remove(0)
}

fn fault(text: &str) -> Fault {
    match Case::new(text, 1).infer() {
        Err(fault) => fault,
        Ok(facts) => panic!("{text} gives {facts:?}"),
    }
}

fn ints(text: &str) -> Option<Vec<i64>> {
    one(text).ints()
}

/// Shape of the first output if data decide as `bound` says.
fn bounded(text: &str, bound: u64) -> Vec<u64> {
    let case = Case { bound: Some(bound), ..Case::new(text, 1) };
    case.infer().expect("a valid call").remove(0).shape
}

/// Window of each axis as (begin, end, output).
fn pads(text: &str) -> Vec<(u64, u64, u64)> {
    let case = Case::new(text, 1);
    let windows = windows(&case.call()).expect("a valid call");
    windows.iter().map(|window| (window.pad_begin, window.pad_end, window.output)).collect()
}

#[test]
fn messages_name_both_sides() {
    for (call, expected) in [
        ("Conv 17 : f1x4x8x8 f2x3x3x3", "4 channels against 3 of its weights"),
        (
            "Conv 17 group=2 : f1x4x8x8 f2x3x3x3",
            "4 channels against 3 of its weights in each of 2 groups",
        ),
        ("Conv 17 : f1x3x2x2 f2x3x3x3", "a 3x3 kernel does not fit into 2x2"),
        (
            "Conv 17 dilations=[3,3] pads=[1,1,1,1] : f1x3x2x2 f2x3x3x3",
            "a 3x3 kernel, dilated to 7x7, does not fit into 4x4 with padding",
        ),
        (
            "Conv 17 kernel_shape=[5,5] : f1x3x9x9 f2x3x3x3",
            "a 5x5 kernel against 3x3 of its weights",
        ),
        ("Conv 17 : f1x3x9x9 f2x3x3x3 f4", "a bias of 4 for 2 filters"),
        ("ConvTranspose 17 : f1x3x9x9 f2x3x3x3", "3 channels against 2 of its weights"),
        ("MatMul 17 : f4x5 f6x7", "5 columns against 6 rows"),
        ("Gemm 17 transB=1 : f4x5 f7x6", "5 columns against 6 rows"),
        ("Add 17 : f2x3 f2x4", "2x3 and 2x4 cannot be broadcast"),
        ("Reshape 17 : f2x3 i2=[-1,-1]", "two -1 in the shape"),
        (
            "Reshape 17 : f2 i2=[2,0]",
            "a 0 of the shape copies an extent, and the input has no such axis",
        ),
        ("Reshape 17 : f2x3 i2=[4,2]", "2x3 cannot become 4x2"),
        ("Squeeze 17 : f2x3 i1=[1]", "axis 1 to remove has an extent of 3"),
        ("Transpose 17 perm=[0,3] : f2x3", "axis 3 of a tensor with 2 axes"),
        ("Concat 17 axis=0 : f2x3 f2x4", "2x3 and 2x4 cannot be joined along axis 0"),
        ("Split 13 : f7 i2=[3,3]", "2 parts of 6 in all for 1 outputs of 7"),
        ("TopK 17 : f5 i1=[6]", "the first 6 of 5 elements"),
        ("Einsum 17 equation=\"ij,jk\" : f2x3 f4x5", "j is 3 in one operand and 4 in another"),
        ("LSTM 17 hidden_size=4 : f5x2x3 f1x12x3 f1x16x4", "W is 1x12x3 instead of 1x16x3"),
        ("Relu 17 : _", "input 0 is missing"),
        ("Concat 17 : f2", "`axis` is missing"),
        ("Concat 17 axis=\"x\" : f2", "`axis` is not an integer"),
        ("Expand 17 : f1 i1=[562949953421312]", "562949953421312 in the shape is above 2^48"),
    ] {
        assert_eq!(fault(call), Fault::Invalid(expected.to_owned()), "{call}");
    }
}

#[test]
fn forms_of_other_opsets_are_refused() {
    for (call, expected) in [
        ("ReduceMean 18 axes=[1] : f2x3", "`axes` is an input from opset 18 on"),
        ("ReduceMean 17 : f2x3 i1=[1]", "`axes` is an attribute before opset 18"),
        ("ReduceSum 13 axes=[1] : f2x3", "`axes` is an input from opset 13 on"),
        ("Squeeze 13 axes=[0] : f1x3", "`axes` is an input from opset 13 on"),
        ("Slice 10 starts=[0] ends=[1] : f3", "`starts` is an input from opset 10 on"),
        ("Pad 11 pads=[0,1] : f3", "`pads` is an input from opset 11 on"),
    ] {
        assert_eq!(fault(call), Fault::Invalid(expected.to_owned()), "{call}");
    }
}

#[test]
fn tensors_are_limited() {
    let million = 1 << 20;
    let text = format!("Tile 13 : f{million}x{million} i2=[1,4096]");
    assert!(matches!(fault(&text), Fault::Invalid(text) if text.ends_with("above 2^48 elements")));
    let ones = ["1"; 65].join(",");
    let text = format!("Expand 13 : f1 i65=[{ones}]");
    assert_eq!(fault(&text), Fault::Invalid("65 axes, and a tensor has at most 64".to_owned()));
    // 4,096 elements are followed, and no more.
    assert!(one("Range 11 : i=[0] i=[4096] i=[1]").elements.is_some());
    assert_eq!(one("Range 11 : i=[0] i=[4097] i=[1]"), Fact { is_constant: true, ..fact("i4097") });
}

#[test]
fn padding_follows_the_output() {
    // 7 by windows of 3 at stride 2: 4 outputs span 9, so that 2 are missing; of 8, 1 is missing.
    let same =
        |auto: &str| format!("Conv 17 auto_pad=\"{auto}\" strides=[2,2] : f1x1x7x8 f1x1x3x3");
    assert_eq!(pads(&same("SAME_UPPER")), [(1, 1, 4), (0, 1, 4)]);
    assert_eq!(pads(&same("SAME_LOWER")), [(1, 1, 4), (1, 0, 4)]);
    assert_eq!(pads(&same("VALID")), [(0, 0, 3), (0, 0, 3)]);
    // Rounding up: 25 by 2 at stride 2 needs one more column.
    let up = "AveragePool 11 ceil_mode=1 kernel_shape=[2,2] strides=[2,2] : f1x1x40x25";
    assert_eq!(pads(up), [(0, 0, 20), (0, 1, 13)]);
    // A third window would begin in the padding, at 6 of 5; the padding is left out with it.
    let dropped = "MaxPool 12 ceil_mode=1 kernel_shape=[1] strides=[3] pads=[0,2] : f1x1x5";
    assert_eq!(pads(dropped), [(0, 0, 2)]);
}

#[test]
fn transposed_convolutions_are_cut_to_the_output_that_is_asked_for() {
    // 2 (4 - 1) + 3 = 9; one is cut for 8, and one is added for 10.
    let asked = |auto: &str, extent: u64| {
        format!(
            "ConvTranspose 11 auto_pad=\"{auto}\" strides=[2] output_shape=[{extent}] : f1x1x4 f1x1x3"
        )
    };
    assert_eq!(pads(&asked("NOTSET", 8)), [(1, 0, 8)]);
    assert_eq!(pads(&asked("SAME_UPPER", 8)), [(0, 1, 8)]);
    let case = Case::new(&asked("NOTSET", 10), 1);
    let window = Window {
        kernel: 3,
        stride: 2,
        dilation: 1,
        pad_begin: 0,
        pad_end: 0,
        output_padding: 1,
        output: 10,
    };
    assert_eq!(windows(&case.call()), Ok(vec![window]));
}

#[test]
fn what_data_decide_needs_a_bound() {
    for (call, what, shape) in [
        ("NonZero 13 : b4x6", "nonzeros", [2, 5].as_slice()),
        ("Unique 11 : i9", "unique elements", &[5]),
        ("Unique 11 axis=0 : i9x2", "unique slices", &[5, 2]),
        ("Compress 11 axis=0 : f9x2 b9", "slices that are kept", &[5, 2]),
        ("TopK 11 : f3x9 i1", "elements on top", &[3, 5]),
        ("NonMaxSuppression 11 : f1x7x4 f1x2x7 i", "selected boxes", &[5, 3]),
    ] {
        assert_eq!(fault(call), Fault::Bound(what), "{call}");
        assert_eq!(bounded(call, 5), shape, "{call}");
    }
    // There are no more nonzeros than elements.
    assert_eq!(bounded("NonZero 13 : b4x6", 100), [2, 24]);
    // 3 boxes of each of 2 classes; of 7 boxes at most; none if nothing is said.
    assert_eq!(one("NonMaxSuppression 11 : f1x7x4 f1x2x7 i=[3]").shape, [6, 3]);
    assert_eq!(one("NonMaxSuppression 11 : f1x7x4 f1x2x7 i=[200]").shape, [14, 3]);
    assert_eq!(one("NonMaxSuppression 11 : f1x7x4 f1x2x7").shape, [0, 3]);
}

#[test]
fn elements_that_are_needed_are_named() {
    for (call, input) in [
        ("Reshape 17 : f2x3 i2", 1),
        ("Expand 17 : f2x3 i2", 1),
        ("Tile 17 : f2x3 i2", 1),
        ("Slice 17 : f2x3 i1=[0] i1", 2),
        ("Pad 17 : f2x3 i4", 1),
        ("ConstantOfShape 17 : i2", 0),
        ("Range 17 : i=[0] i i=[1]", 1),
        ("ReduceMean 18 : f2x3 i1", 1),
        ("Resize 17 : f1x1x2x3 _ _ i4", 3),
        ("Resize 17 : f1x1x2x3 _ f4", 2),
        ("OneHot 11 : i2 i i2", 1),
        ("Unsqueeze 17 : f2 i1", 1),
    ] {
        assert_eq!(fault(call), Fault::Elements(input), "{call}");
    }
}

#[test]
fn elements_are_exact_or_unknown() {
    let max = i64::MAX;
    for (call, expected) in [
        (format!("Add 14 : i1=[{max}] i1=[1]"), None),
        (format!("Mul 14 : i1=[{max}] i1=[2]"), None),
        (format!("Neg 14 : i1=[{}]", i64::MIN), None),
        (format!("Div 14 : i1=[{}] i1=[-1]", i64::MIN), None),
        ("Div 14 : i1=[1] i1=[0]".to_owned(), None),
        ("Mod 14 : i1=[1] i1=[0]".to_owned(), None),
        ("Add 14 : n1=[2147483647] n1=[1]".to_owned(), None),
        ("Cast 14 to=3 : i1=[300]".to_owned(), None),
        ("Div 14 : i2=[-7,7] i1=[2]".to_owned(), Some(vec![-3, 3])),
        // 2^53 + 1 is no number of 64 bits.
        ("Add 14 : i1=[9007199254740992] i1=[1]".to_owned(), Some(vec![9_007_199_254_740_993])),
        (format!("Slice 14 : i3=[4,5,6] i1=[1] i1=[{max}]"), Some(vec![5, 6])),
        (format!("CumSum 14 : i2=[{max},1] i=[0]"), None),
        (format!("ReduceProd 14 : i2=[{max},2]"), None),
    ] {
        assert_eq!(ints(&call), expected, "{call}");
    }
    // 11 digits of half precision: 2,049 lies between two of them.
    let half = one("Cast 13 to=10 : i2=[2049,2051]");
    assert_eq!(half.known(), Some(&[2048.0, 2052.0].map(Number::Float)[..]));
    // 0.1 of 32 bits times 10 is 1 when it is rounded to 32 bits, and above 1 otherwise.
    let product = one("Mul 14 : f1=[0.1] f1=[10]");
    assert_eq!(product.known(), Some(&[Number::Float(1.0)][..]));
}

#[test]
fn constants_are_what_depends_on_constants_and_shapes() {
    for (call, expected) in [
        ("Shape 17 : f2x3", true),
        ("Size 17 : f2x3", true),
        ("Add 17 : f2 f2=[1,2]", false),
        ("Add 17 : f2=[1,2] f2=[1,2]", true),
        ("ConstantOfShape 17 : i1=[9000]", true),
        ("Constant 17 value_int=3 :", true),
        ("EyeLike 17 : f2x2", true),
        ("RandomNormal 17 shape=[2] :", false),
        ("RandomUniformLike 17 : f2=[1,2]", false),
    ] {
        assert_eq!(one(call).is_constant, expected, "{call}");
    }
}

#[test]
fn functions_of_one_element_keep_the_shape() {
    for operator in [
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Celu",
        "Cos",
        "Cosh",
        "Elu",
        "Erf",
        "Exp",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Identity",
        "LeakyRelu",
        "Log",
        "Mish",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Swish",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
    ] {
        assert_eq!(one(&format!("{operator} 21 : f2x3")), fact("f2x3"), "{operator}");
    }
    assert_eq!(one("IsNaN 21 : f2x3"), fact("b2x3"));
    assert_eq!(one("IsInf 21 : f2x3"), fact("b2x3"));
}

#[test]
fn outputs_are_those_of_the_operator() {
    assert_eq!(facts("BatchNormalization 9 : f2x3x4 f3 f3 f3 f3", 5).len(), 5);
    let text = "3 outputs, and the operator has 2";
    let case = Case::new("Dropout 13 : f2", 3);
    assert_eq!(case.infer(), Err(Fault::Invalid(text.to_owned())));
    assert_eq!(fault("Det 11 : f2x2"), Fault::Unsupported);
    assert_eq!(fault("ai.onnx.ml.Scaler 1 : f2x2"), Fault::Unsupported);
    assert_eq!(facts("DynamicQuantizeLinear 11 : f2", 3)[2].element, Element::UINT8);
}

#[test]
fn products_have_their_extents() {
    let case = Case::new("MatMul 13 : f8x1x10x64 f1x4x64x10", 1);
    let found = product(&case.call()).expect("a valid call");
    assert_eq!((found.rows, found.depth, found.columns), (10, 64, 10));
    assert_eq!((found.batch, found.output), (vec![8, 4], vec![8, 4, 10, 10]));
    let case = Case::new("Einsum 12 equation=\"b...n,nk->bk...\" : f2x3x4 f4x5", 1);
    let found = equation(&case.call()).expect("a valid call");
    assert_eq!(found.output, [Letter::Named('b'), Letter::Named('k'), Letter::Dots(0)]);
    assert_eq!(found.extent(Letter::Dots(0)), 3);
    let case = Case::new("ReduceMean 18 : f2x3x4 i2=[-1,0]", 1);
    assert_eq!(reduction(&case.call()).expect("a valid call").axes, [0, 2]);
    let case = Case::new("GRU 14 direction=\"bidirectional\" : f5x2x3 f2x12x3 f2x12x4", 1);
    let found = recurrent(&case.call()).expect("a valid call");
    assert_eq!((found.steps, found.batch, found.directions), (5, 2, 2));
    assert_eq!((found.gates, found.inputs, found.hidden), (3, 3, 4));
}

#[test]
fn attention_has_its_heads() {
    // Keys of 6 rows follow 9 of the past.
    let case = Case::new(
        "Attention 23 q_num_heads=4 kv_num_heads=2 : f2x3x20 f2x6x10 f2x6x14 _ f2x2x9x5 f2x2x9x7",
        4,
    );
    let found = heads(&case.call()).expect("a valid call");
    assert_eq!((found.heads, found.key_heads, found.queries, found.keys), (4, 2, 3, 15));
    assert_eq!((found.depth, found.value_depth, found.projected), (5, 7, None));
    let shapes: Vec<_> = facts_of(&case).into_iter().map(|fact| fact.shape).collect();
    assert_eq!(shapes, [vec![2, 3, 28], vec![2, 2, 15, 5], vec![2, 2, 15, 7], vec![2, 4, 3, 15]]);
    // One operand with queries, keys and values of each head.
    let packed = Case::new("com.microsoft.MultiHeadAttention 1 num_heads=4 : f2x3x4x3x8", 1);
    assert_eq!(facts_of(&packed), [fact("f2x3x32")]);
    let pairs = "com.microsoft.MultiHeadAttention 1 num_heads=4 : f2x3x32 f2x5x4x2x8";
    assert_eq!(heads(&Case::new(pairs, 1).call()).map(|heads| heads.keys), Ok(5));
}

fn facts_of(case: &Case) -> Vec<Fact> {
    case.infer().expect("a valid call")
}
