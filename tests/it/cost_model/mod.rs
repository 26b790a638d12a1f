//! Cost models: quirks of `maestro` computed by hand, the roofline and measured tables, and all models on
//! random input.

mod measured_and_roofline;
mod properties;
mod quirks;
