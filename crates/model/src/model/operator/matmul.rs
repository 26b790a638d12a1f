//! Matrix products.

use super::super::ModelError;
use super::{in_range, product};

/// A matrix product O\[M,N\] = A\[M,K\] B\[K,N\], once or for many instances of both operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MatmulShape {
    /// Pairs of operands.
    pub instances: u32,
    /// Rows M of A and O: tokens or samples.
    pub rows: u32,
    /// Columns N of B and O: features out.
    pub k: u32,
    /// Columns K of A, rows of B: features in.
    pub c: u32,
    /// Whether B is computed by another layer, as in attention, and not a weight.
    pub activations: bool,
}

impl MatmulShape {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let axes =
            [("instances", self.instances), ("rows", self.rows), ("k", self.k), ("c", self.c)];
        axes.into_iter().try_for_each(|(axis, found)| in_range(axis, found))?;
        product(&axes.map(|(_, extent)| u64::from(extent)))
    }

    pub(super) fn volume(extents: [u32; 3]) -> u64 {
        extents.into_iter().map(u64::from).product()
    }
}
