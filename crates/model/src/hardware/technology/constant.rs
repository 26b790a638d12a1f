//! Constants of technologies: the one table that files, overrides and documents go by.

use super::TechnologyError;

/// A constant of a technology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// Area of an accelerator that does not depend on any size.
    AcceleratorMm2,
    /// Area of a PE for each multiply-accumulate per cycle, without its scratchpad.
    PeUm2,
    /// Area of one bit of a port of the on-chip network.
    RegisterUm2PerBit,
    /// Area outside of the accelerators.
    FixedMm2,
    /// Size up to which memories are registers.
    SmallBytes,
    /// Area of a byte of such a memory.
    SmallUm2PerByte,
    /// Size from which on memories have the density of large ones.
    LargeBytes,
    /// Area of a byte of such a memory.
    LargeUm2PerByte,
    /// Size of the blocks of scratchpads.
    ScratchpadBlockBytes,
    /// Area of such a block.
    ScratchpadBlockUm2,
    /// Size of the blocks of other memories.
    BlockBytes,
    /// Area of such a block.
    BlockUm2,
    /// Area of a bus, as a factor.
    BusUm2,
    /// Its growth with the number of units.
    BusPerUnit,
    /// Its part that does not grow.
    BusOffset,
    /// Area of an arbiter, as a factor.
    ArbiterUm2,
    /// Its growth with the square of the number of units.
    ArbiterPerUnitSquared,
    /// Its growth with the number of units.
    ArbiterPerUnit,
    /// Its part that does not grow.
    ArbiterOffset,
    /// Leakage of the logic of a PE for each multiply-accumulate per cycle.
    PeUw,
    /// Leakage of a byte of memory.
    SramNwPerByte,
}

/// A row of the table: constant, section and key in a file, least and largest value.
type Row = (Constant, &'static str, &'static str, f64, f64);

/// Largest area in um2, and size in bytes.
const MOST: f64 = 1e12;

const TABLE: [Row; 21] = [
    (Constant::AcceleratorMm2, "area", "accelerator_mm2", 0.0, 1e6),
    (Constant::PeUm2, "area", "pe_um2", 0.0, MOST),
    (Constant::RegisterUm2PerBit, "area", "register_um2_per_bit", 0.0, MOST),
    (Constant::FixedMm2, "area", "fixed_mm2", 0.0, 1e6),
    (Constant::SmallBytes, "sram", "small_bytes", 1.0, MOST),
    (Constant::SmallUm2PerByte, "sram", "small_um2_per_byte", 1e-9, MOST),
    (Constant::LargeBytes, "sram", "large_bytes", 1.0, MOST),
    (Constant::LargeUm2PerByte, "sram", "large_um2_per_byte", 1e-9, MOST),
    (Constant::ScratchpadBlockBytes, "sram", "scratchpad_block_bytes", 1.0, MOST),
    (Constant::ScratchpadBlockUm2, "sram", "scratchpad_block_um2", 0.0, MOST),
    (Constant::BlockBytes, "sram", "block_bytes", 1.0, MOST),
    (Constant::BlockUm2, "sram", "block_um2", 0.0, MOST),
    (Constant::BusUm2, "network", "bus_um2", 0.0, MOST),
    (Constant::BusPerUnit, "network", "bus_per_unit", 0.0, MOST),
    (Constant::BusOffset, "network", "bus_offset", -MOST, MOST),
    (Constant::ArbiterUm2, "network", "arbiter_um2", 0.0, MOST),
    (Constant::ArbiterPerUnitSquared, "network", "arbiter_per_unit_squared", 0.0, MOST),
    (Constant::ArbiterPerUnit, "network", "arbiter_per_unit", 0.0, MOST),
    (Constant::ArbiterOffset, "network", "arbiter_offset", -MOST, MOST),
    (Constant::PeUw, "leakage", "pe_uw", 0.0, MOST),
    (Constant::SramNwPerByte, "leakage", "sram_nw_per_byte", 0.0, MOST),
];

impl Constant {
    /// Every constant, in the order of a file.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::AcceleratorMm2; TABLE.len()];
        let mut index = 0;
        while index < all.len() {
            assert!(TABLE[index].0 as usize == index);
            all[index] = TABLE[index].0;
            index += 1;
        }
        all
    };

    /// Sections of a file, in order.
    pub const SECTIONS: [&str; 4] = ["area", "sram", "network", "leakage"];

    /// Section of a file that has it.
    pub const fn section(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Key in that section, which ends in its unit.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// Least value.
    pub const fn least(self) -> f64 {
        TABLE[self as usize].3
    }

    /// Largest value.
    pub const fn most(self) -> f64 {
        TABLE[self as usize].4
    }

    /// The constant of this key.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    pub(super) fn check(self, value: f64) -> Result<f64, TechnologyError> {
        match (self.least()..=self.most()).contains(&value) {
            true => Ok(value),
            false => Err(TechnologyError::Range { constant: self, found: value }),
        }
    }
}
