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
pub(super) use make::make;
pub(super) use maker::Made;
pub(super) use operators::is_known;
pub use row::Row;
