//! Work of one unit in one case (section 6): its tile, partial sums and outputs.

use crate::dataflow::Axis;

use super::elaboration::Map;
use super::status::Label;

/// Partial sums and outputs of one unit in one case: products over the axes.
///
/// No factor of a partial sum is zero, so no case is without work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    /// N_part of every unit but the last of a spatial edge (6.2).
    pub partial_sums: i64,
    /// N_part of the last unit of a spatial edge.
    pub edge_partial_sums: i64,
    /// N_out: outputs written upstream (6.3).
    ///
    /// Quirk 20: they are those of one unit, final or not.
    pub outputs: i64,
}

impl Work {
    /// The empty product.
    pub(super) const ONE: Self = Self { partial_sums: 1, edge_partial_sums: 1, outputs: 1 };

    /// Factors of one axis. `is_output` says whether the axis indexes the outputs.
    #[inline]
    pub(super) fn from_label(map: &Map, label: Label, is_output: bool) -> Self {
        let tile = tile(map, label);
        Self {
            partial_sums: partial_sums(map, tile),
            edge_partial_sums: partial_sums(map, edge_unit_tile(map, label, tile)),
            outputs: if is_output { outputs(map, tile) } else { 1 },
        }
    }

    /// Product with the factors of one more axis.
    #[inline]
    pub(super) fn times(&self, other: &Self) -> Self {
        Self {
            partial_sums: self.partial_sums * other.partial_sums,
            edge_partial_sums: self.edge_partial_sums * other.edge_partial_sums,
            outputs: self.outputs * other.outputs,
        }
    }
}

/// Tile: the extent of the axis that a unit works on (6.1).
///
/// Quirk 18: the residue of a temporal edge comes from D, its existence from E.
fn tile(map: &Map, label: Label) -> i64 {
    match label {
        _ if map.spatial && shrinks(map, label) => map.size.min(map.extent),
        _ if map.spatial => map.size,
        Label::Edge => map.extent % map.offset,
        Label::Init | Label::Held if map.oversized => map.extent,
        _ => map.size,
    }
}

/// Tile of the last unit of a spatial edge, where the others work on `tile`.
fn edge_unit_tile(map: &Map, label: Label, tile: i64) -> i64 {
    if map.spatial && shrinks(map, label) && map.extent >= map.size {
        match map.extent % map.offset {
            0 => tile,
            residue => residue,
        }
    } else {
        tile
    }
}

/// Whether the tile of a spatial map may be smaller than its size.
///
/// Quirk 18: it may under the label I, but not if it is held; hence normally in the first case only.
fn shrinks(map: &Map, label: Label) -> bool {
    label == Label::Edge || label == Label::Init && map.oversized
}

/// Factor of one axis in the partial sums (6.2).
///
/// Quirk 19: a unit computes every output that its window allows, also those that its neighbour or its
/// next step computes.
pub(super) fn partial_sums(map: &Map, tile: i64) -> i64 {
    match map.axis {
        Axis::R | Axis::S => map.size,
        // Channels are no window axes: their kernel is 1, so the whole tile counts.
        _ => (tile - map.kernel + 1).max(1),
    }
}

/// Factor of one axis in the outputs (6.3).
pub(super) fn outputs(map: &Map, tile: i64) -> i64 {
    match map.axis {
        Axis::Y | Axis::X if map.size >= map.kernel => map.size - map.kernel + 1,
        _ => tile,
    }
}
