//! Operators of layers, with the extents that their costs depend on.

mod conv;
mod matmul;
mod vector;

use super::ModelError;

pub use conv::{ConvKind, ConvShape, Padding, Phase};
pub use matmul::MatmulShape;
pub use vector::{VectorOp, VectorShape};

/// Operator of a layer. Equal operators have equal costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// A convolution.
    Conv(ConvShape),
    /// A matrix product.
    Matmul(MatmulShape),
    /// An operator without multiply-accumulates.
    Vector(VectorShape),
}

impl From<ConvShape> for Operator {
    fn from(shape: ConvShape) -> Self {
        Self::Conv(shape)
    }
}

impl Operator {
    /// Largest product of extents; keeps every counter of the cost models far from overflow.
    pub const MAX_MACS: u64 = 1 << 48;

    /// Checks extents and their product.
    ///
    /// # Errors
    ///
    /// Returns the error of the first invalid extent. Whether the kernel of a convolution fits
    /// is asked separately by [`ConvShape::kernel_fits`], because the published tables hold four
    /// layers whose kernel does not.
    pub fn check(&self) -> Result<(), ModelError> {
        match self {
            Self::Conv(shape) => shape.check(),
            Self::Matmul(shape) => shape.check(),
            Self::Vector(shape) => {
                let sizes = [shape.inputs, shape.outputs, shape.operations];
                let too_large = sizes.iter().any(|&size| size > Self::MAX_MACS);
                if too_large { Err(ModelError::TooLarge) } else { Ok(()) }
            }
        }
    }

    /// The same on `n` times as many inputs: images of a convolution, rows of a product with weights,
    /// pairs of activations. An operator that is too large for [`Operator::check`] stays too large.
    pub(super) fn batched(self, n: u32) -> Self {
        match self {
            Self::Conv(shape) => Self::Conv(ConvShape { n: shape.n.saturating_mul(n), ..shape }),
            Self::Matmul(shape) if shape.activations => {
                let instances = shape.instances.saturating_mul(n);
                Self::Matmul(MatmulShape { instances, ..shape })
            }
            Self::Matmul(shape) => {
                Self::Matmul(MatmulShape { rows: shape.rows.saturating_mul(n), ..shape })
            }
            Self::Vector(shape) => Self::Vector(shape.batched(n.into())),
        }
    }

    /// Name of its class in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Conv(shape) => shape.kind.name(),
            Self::Matmul(MatmulShape { activations: false, .. }) => "GEMM",
            Self::Matmul(_) => "BMM",
            Self::Vector(shape) => shape.op.name(),
        }
    }

    /// Multiply-accumulates.
    pub fn macs(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.macs(),
            Self::Matmul(shape) => {
                u64::from(shape.instances) * MatmulShape::volume([shape.rows, shape.k, shape.c])
            }
            Self::Vector(VectorShape { op: VectorOp::SparseProduct, operations, .. }) => {
                *operations
            }
            Self::Vector(_) => 0,
        }
    }

    /// Weights, which the network brings along.
    pub fn weights(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.weights(),
            Self::Matmul(shape) if !shape.activations => {
                u64::from(shape.instances) * MatmulShape::volume([1, shape.k, shape.c])
            }
            _ => 0,
        }
    }

    /// Output elements.
    pub fn outputs(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.outputs(),
            Self::Matmul(shape) => {
                u64::from(shape.instances) * MatmulShape::volume([1, shape.rows, shape.k])
            }
            Self::Vector(shape) => shape.outputs,
        }
    }

    /// Input elements that other layers or the outside give it.
    pub fn inputs(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.inputs(),
            Self::Matmul(shape) => {
                let second = if shape.activations { shape.k } else { 0 };
                u64::from(shape.instances)
                    * u64::from(shape.c)
                    * (u64::from(shape.rows) + u64::from(second))
            }
            Self::Vector(shape) => shape.inputs,
        }
    }

    /// N, K, C, Y, X, R and S of a convolution, and of a matrix product as the convolution that it
    /// is: instances, columns, reduction, rows; `None` of other operators.
    pub fn extents(&self) -> Option<[u32; 7]> {
        match *self {
            Self::Conv(ConvShape { n, k, c, y, x, r, s, .. }) => Some([n, k, c, y, x, r, s]),
            Self::Matmul(MatmulShape { instances, rows, k, c, .. }) => {
                Some([instances, k, c, rows, 1, 1, 1])
            }
            Self::Vector(_) => None,
        }
    }
}

fn in_range(axis: &'static str, found: u32) -> Result<(), ModelError> {
    if found == 0 || found > ConvShape::MAX_EXTENT {
        return Err(ModelError::Extent { axis, found });
    }
    Ok(())
}

fn product(factors: &[u64]) -> Result<(), ModelError> {
    let product = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor));
    match product {
        Some(product) if product <= Operator::MAX_MACS => Ok(()),
        _ => Err(ModelError::TooLarge),
    }
}
