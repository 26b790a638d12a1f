//! Cost models as a whole: the artifact's quirks by hand, the roofline and measured tables, and all
//! of them on random input.

mod measured_and_roofline;
mod properties;
mod quirks;
