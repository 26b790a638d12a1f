//! Cases by hand.

use super::text::Case;
use crate::onnx::fact::Fact;
use crate::onnx::rules::Fault;

fn shapes(text: &str, outputs: usize) -> Vec<Vec<u64>> {
    let facts = Case::new(text, outputs).infer();
    facts.expect("a valid call").into_iter().map(|fact| fact.shape).collect()
}

fn message(text: &str) -> String {
    match Case::new(text, 1).infer() {
        Err(Fault::Invalid(text)) => text,
        other => panic!("{text} gives {other:?}"),
    }
}

fn one(text: &str) -> Fact {
    Case::new(text, 1).infer().expect("a valid call").remove(0)
}

#[test]
fn messages_name_both_sides() {
    for (call, expected) in [
        ("Conv 17 : f1x4x8x8 f2x3x3x3", "4 channels against 3 of its weights"),
        ("Conv 17 : f1x3x2x2 f2x3x3x3", "a 3x3 kernel does not fit into 2x2"),
        ("MatMul 17 : f4x5 f6x7", "5 columns against 6 rows"),
        ("Reshape 17 : f2x3 i2=[-1,-1]", "two -1 in the shape"),
        (
            "Reshape 17 : f2 i2=[2,0]",
            "a 0 of the shape copies an extent, and the input has no such axis",
        ),
    ] {
        assert_eq!(message(call), expected);
    }
}
