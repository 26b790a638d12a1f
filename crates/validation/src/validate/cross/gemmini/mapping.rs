//! Mappings of Gemmini in the notation of DOSA, as directives.
//!
//! `L3[WIO] P7 Q4 - L2[WI] N1 K16X - L1[O] K4 C4 Q14 P8 C16X - L0[W] N1`: levels from DRAM (L3) inwards, the loops of
//! each outermost first, every axis with its number of chunks, `X` for a loop over units. P runs over columns of
//! outputs, Q over rows, R over columns of the kernel, S over its rows.

use xrsim_config::cost_cases::parse_mapping;
use xrsim_model::cost::loop_nest::{Axis, Extents};
use xrsim_model::dataflow::Directives;

/// Rows of the array, and the most columns of outputs that one command computes (`block_size` of `LoopConv.scala`,
/// ucb-bar/gemmini@8c3f992).
const BLOCK: u32 = 16;

/// Order of the loops of a tile in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// As the mapping has them.
    Written,
    /// As Gemmini runs every tile, whatever the mapping says: filters, kernel rows and columns, channels, and inside
    /// them rows and columns of outputs, of which a command computes up to 16 columns of one row
    /// (`LoopConvExecute` of `LoopConv.scala`).
    Sequencer,
}

/// One loop of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Loop {
    axis: char,
    count: u32,
    spatial: bool,
    /// Positions of the axis in one chunk.
    size: u32,
}

/// A mapping: the loops of DRAM, shared memory, array and registers, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GemminiMapping {
    levels: [Vec<Loop>; 4],
}

const LEVELS: [&str; 4] = ["L3", "L2", "L1", "L0"];

/// Axes of a mapping, each with its own.
const AXES: [(char, Axis, &str); 7] = [
    ('N', Axis::N, "N"),
    ('K', Axis::K, "K"),
    ('C', Axis::C, "C"),
    ('Q', Axis::OutputY, "Y'"),
    ('P', Axis::OutputX, "X'"),
    ('S', Axis::R, "R"),
    ('R', Axis::S, "S"),
];

impl GemminiMapping {
    /// Reads a mapping of a layer of these extents.
    ///
    /// # Errors
    ///
    /// What is wrong, in words: another notation, or loops that do not multiply to the extents.
    pub(super) fn parse(text: &str, extents: &Extents) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(" - ").collect();
        if parts.len() != LEVELS.len() {
            return Err(format!("{} levels in place of 4", parts.len()));
        }
        let mut levels: [Vec<Loop>; 4] = Default::default();
        for ((part, name), loops) in parts.iter().zip(LEVELS).zip(&mut levels) {
            let (head, rest) = part.split_once(' ').unwrap_or((part, ""));
            if head.split('[').next() != Some(name) {
                return Err(format!("`{head}` in place of {name}"));
            }
            *loops = rest.split_whitespace().map(Loop::parse).collect::<Result<_, _>>()?;
            loops.retain(|it| it.count > 1);
        }
        let mut mapping = Self { levels };
        mapping.set_sizes(extents)?;
        let units = |level: usize, axis: char| {
            let spatial = mapping.levels[level].iter().filter(|it| it.spatial);
            spatial.clone().count() <= 1 && spatial.clone().all(|it| it.axis == axis)
        };
        let outer = mapping.levels[0].iter().chain(&mapping.levels[3]);
        if outer.clone().any(|it| it.spatial) || !units(1, 'K') || !units(2, 'C') {
            return Err("filters are spread by L2 and channels by L1 only".into());
        }
        Ok(mapping)
    }

    fn set_sizes(&mut self, extents: &Extents) -> Result<(), String> {
        for (name, axis, _) in AXES {
            let loops = self.levels.iter_mut().flatten().filter(|it| it.axis == name);
            let mut size: u32 = 1;
            for it in loops.rev() {
                it.size = size;
                let more = || format!("too many chunks of {name}");
                size = size.checked_mul(it.count).ok_or_else(more)?;
            }
            let extent = extents[axis as usize];
            if size != extent {
                return Err(format!("the loops over {name} make {size} of {extent} positions"));
            }
        }
        Ok(())
    }

    /// Directives for any layer, in the order of Gemmini.
    pub(super) fn general() -> Directives {
        Self { levels: Default::default() }.directives(Order::Sequencer)
    }

    /// Columns of PEs that the mapping uses.
    pub(super) fn columns(&self) -> u32 {
        self.levels[1].iter().map(|it| it.count).product()
    }

    /// Directives: DRAM's loops stand before `OffChip`; level 0 spreads filters over columns, level 1 channels over the
    /// rows of a column.
    pub(super) fn directives(&self, order: Order) -> Directives {
        parse_mapping(&self.text(order)).unwrap_or_default()
    }

    fn text(&self, order: Order) -> String {
        let [dram, _, tile, registers] = &self.levels;
        let temporal = |it: &Loop| format!("TemporalMap({0},{0}) {1}; ", it.size, it.name());
        let mut text: String = dram.iter().map(temporal).collect();
        if !dram.is_empty() {
            text += "OffChip; ";
        }
        let columns = "SpatialMap(1,1) K; ";
        match order {
            Order::Written => {
                let of_tile = tile.iter().filter(|it| !it.spatial);
                if tile.iter().all(|it| it.axis != 'K') {
                    text += columns;
                }
                for it in of_tile {
                    text += &if it.axis == 'K' { columns.into() } else { temporal(it) };
                }
                text += "Cluster(16); ";
                text.extend(registers.iter().map(temporal));
            }
            Order::Sequencer => {
                text += columns;
                text += &format!(
                    "TemporalMap(1,1) R; TemporalMap(1,1) S; TemporalMap({BLOCK},{BLOCK}) C; TemporalMap(1,1) N; \
                     TemporalMap(1,1) Y'; TemporalMap({BLOCK},{BLOCK}) X'; Cluster(16); TemporalMap(1,1) X'; "
                );
            }
        }
        text + "SpatialMap(1,1) C"
    }
}

impl Loop {
    fn parse(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is no loop");
        let axis = text.chars().next().filter(|axis| AXES.iter().any(|it| it.0 == *axis));
        let axis = axis.ok_or_else(unknown)?;
        let spatial = text.ends_with('X');
        let digits = text[1..].trim_end_matches('X');
        let count = digits.parse().ok().filter(|&count| count >= 1).ok_or_else(unknown)?;
        Ok(Self { axis, count, spatial, size: 1 })
    }

    /// Name of the axis in directives.
    fn name(&self) -> &'static str {
        AXES.iter().find(|it| it.0 == self.axis).map_or("", |it| it.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layer of 64 channels to 64, 1x1, on 56x56 outputs.
    const LAYER: Extents = [1, 1, 64, 64, 56, 56, 1, 1];
    const ROW_6: &str = "L3[WIO] P7 Q4 - L2[WI] N1 K16X - L1[O] K4 C4 Q14 P8 C16X - L0[W] N1";

    #[test]
    fn loops_become_maps_of_their_chunks() {
        let mapping = GemminiMapping::parse(ROW_6, &LAYER).expect("it is right");
        assert_eq!(
            mapping.text(Order::Written),
            "TemporalMap(8,8) X'; TemporalMap(14,14) Y'; OffChip; SpatialMap(1,1) K; TemporalMap(16,16) C; \
             TemporalMap(1,1) Y'; TemporalMap(1,1) X'; Cluster(16); SpatialMap(1,1) C"
        );
        assert_eq!(mapping.columns(), 16);
        assert_eq!(mapping.directives(Order::Written).levels.len(), 2);
        assert!(
            mapping
                .text(Order::Sequencer)
                .starts_with("TemporalMap(8,8) X'; TemporalMap(14,14) Y'; OffChip; ")
        );
    }

    #[test]
    fn rows_of_the_kernel_are_those_of_s_and_registers_loop_inside() {
        let text = "L3[WIO] S3 - L2[WI] N1 K12X - L1[O] R3 C16 C16X - L0[W] Q14 P2";
        let mapping =
            GemminiMapping::parse(text, &[1, 1, 12, 256, 14, 2, 3, 3]).expect("it is right");
        assert_eq!(
            mapping.text(Order::Written),
            "TemporalMap(1,1) R; OffChip; SpatialMap(1,1) K; TemporalMap(1,1) S; TemporalMap(16,16) C; Cluster(16); \
             TemporalMap(1,1) Y'; TemporalMap(1,1) X'; SpatialMap(1,1) C"
        );
        assert_eq!(mapping.columns(), 12);
    }

    #[test]
    fn other_notations_and_loops_that_leave_positions_out_are_refused() {
        let error = |text: &str| GemminiMapping::parse(text, &LAYER).expect_err("it is wrong");
        assert_eq!(error("L3 P7 - L2 K16X"), "2 levels in place of 4");
        assert_eq!(error(&ROW_6.replace("P7", "P5")), "the loops over P make 40 of 56 positions");
        assert_eq!(error(&ROW_6.replace("P7", "T7")), "`T7` is no loop");
        assert_eq!(error(&ROW_6.replace("P7", "P0")), "`P0` is no loop");
        assert_eq!(error(&ROW_6.replace("L2[", "L4[")), "`L4[WI]` in place of L2");
        let spread = error(&ROW_6.replace("Q14", "Q14X"));
        assert_eq!(spread, "filters are spread by L2 and channels by L1 only");
    }
}
