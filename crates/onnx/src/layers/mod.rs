//! Layers of what runs: every operator with multiply-accumulates is a layer, and every other one a layer, part
//! of another, or nothing (docs/reference/onnx.md, section 5).

mod attention;
mod conv;
mod counts;
mod elementwise;
mod held;
mod make;
mod maker;
mod moves;
mod norms;
mod op;
mod operands;
mod operators;
mod padding;
mod patterns;
mod pools;
mod products;
mod recurrent;
mod row;
mod views;

pub use counts::Counts;
pub(crate) use make::make;
pub(crate) use maker::Made;
pub(crate) use operators::find;
pub use row::Row;
