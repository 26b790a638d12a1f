//! Tests of the rules: a table of single operators, and cases by hand.
//!
//! A line of `tests/cases.txt` is an operator with its domain and opset, its attributes, facts about its inputs,
//! and the facts about its outputs that ONNX Runtime 1.32 computed, or where it has no kernel ONNX 1.23. A fact is
//! a type, extents, and elements where they are known:
//!
//! ```text
//! Concat 13 axis=0 : i2=[3,4] i1=[5] -> i3=[3,4,5]
//! ```

mod exact;
mod hostile;
mod table;
mod text;
