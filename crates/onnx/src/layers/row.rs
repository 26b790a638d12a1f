//! Facts about a layer beside its extents.

use xrsim_model::model::Padding;

/// Facts about a layer that its extents do not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Node that the layer comes from, or the tensor that it writes if the node has no name.
    pub node: Box<str>,
    /// Operator of the node, with its domain unless that is the usual one.
    pub operator: Box<str>,
    /// Padding as the node has it, which for a transposed convolution is not that of the layer.
    pub padding: Padding,
    /// Bits of a weight, if they are quantised.
    pub weight_bits: Option<u32>,
    /// Bits of an element that it reads, if they are quantised.
    pub activation_bits: Option<u32>,
}
