//! Changes of the parameters of accelerators, to see what depends on them.

use super::{Accelerator, ByteEnergy, EnergyTable, MemoryEnergy, NocLevel, Width, Widths};
use crate::model::PerTensor;
use crate::units::{Bytes, ClockRate};

/// New value of a quantity: one of its own, or a multiple of the value before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change<T> {
    /// This value.
    To(T),
    /// This multiple of the value before, above 0.
    Times(f64),
}

impl Change<u64> {
    /// The new value for `before`, rounded down, at least 1.
    pub(super) fn of(self, before: u64) -> u64 {
        match self {
            Self::To(value) => value,
            // Saturates where the product is too large.
            Self::Times(factor) => (before as f64 * factor).max(1.0) as u64,
        }
    }
}

impl Change<Bytes> {
    /// The new size for `before`, rounded down to whole bytes, at least 1.
    pub(super) fn of(self, before: Bytes) -> Bytes {
        match self {
            Self::To(value) => value,
            Self::Times(factor) => Bytes::new(Change::<u64>::Times(factor).of(before.get())),
        }
    }
}

impl Change<f64> {
    /// The new value for `before`.
    fn of(self, before: f64) -> f64 {
        match self {
            Self::To(value) => value,
            Self::Times(factor) => before * factor,
        }
    }

    /// The new energy of a byte of a memory for `before`.
    fn of_memory(self, before: MemoryEnergy) -> MemoryEnergy {
        match self {
            Self::To(value) => MemoryEnergy::PerByte(value),
            Self::Times(factor) => before.times(factor),
        }
    }
}

impl Change<ClockRate> {
    /// The new clock for `before`; the same one if the multiple is no clock.
    fn of(self, before: ClockRate) -> ClockRate {
        match self {
            Self::To(value) => value,
            Self::Times(factor) => ClockRate::from_mhz(before.as_mhz() * factor).unwrap_or(before),
        }
    }
}

/// Changes of every accelerator of a system; `None` keeps the value that the accelerator has. Resources that
/// the accelerators of a style split have changes of their own
/// ([`BudgetChange`](super::platform::BudgetChange)).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct AcceleratorChange {
    /// Clock.
    pub clock: Option<Change<ClockRate>>,
    /// Latency of DRAM \[cycle\].
    pub dram_latency: Option<u64>,
    /// Copies of a tile of each tensor in the shared memory.
    pub shared_copies: Option<u32>,
    /// Multiply-accumulates per PE and cycle.
    pub macs_per_pe_cycle: Option<u32>,
    /// Operations per cycle on operators without multiply-accumulates.
    pub vector_lanes: Option<u32>,
    /// Width of inputs, weights and outputs.
    pub operands: Option<Width>,
    /// Width of partial sums.
    pub partial_sums: Option<Width>,
    /// On-chip network.
    pub noc: NocChange,
    /// Energies.
    pub energy: EnergyChange,
}

/// Changes of every level of an on-chip network; `None` keeps the value of the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NocChange {
    /// Latency \[cycle\].
    pub latency: Option<u64>,
    /// Whether every step pays the latency.
    pub step_latency: Option<bool>,
    /// Whether one send serves every unit that needs the element.
    pub multicast: Option<bool>,
    /// Whether neighbours forward elements.
    pub forward: Option<bool>,
    /// Whether partial sums are added on their way up.
    pub reduce: Option<bool>,
    /// Whether units hold a single copy of their weights.
    pub single_weights: Option<bool>,
}

/// Changes of energies; `None` keeps the value of the accelerator. A multiple of an energy that follows from
/// a size or a width is that multiple of what follows from the changed accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct EnergyChange {
    /// A multiply-accumulate \[pJ\].
    pub mac: Option<Change<f64>>,
    /// A byte of the scratchpad of a PE [pJ/byte].
    pub scratchpad: Option<Change<f64>>,
    /// A byte of the buffer of a cluster [pJ/byte].
    pub cluster: Option<Change<f64>>,
    /// A byte of the shared memory [pJ/byte].
    pub shared_memory: Option<Change<f64>>,
    /// A byte that the on-chip network moves [pJ/byte].
    pub noc: Option<Change<f64>>,
    /// A byte of DRAM [pJ/byte].
    pub dram: Option<Change<f64>>,
    /// Leakage [pJ/cycle].
    pub leakage: Option<Change<f64>>,
    /// Clock and control while the accelerator computes [pJ/cycle].
    pub clock: Option<Change<f64>>,
    /// Multiple of every energy of the chip, but for DRAM, after the other changes: the energy of an operating
    /// point.
    pub on_chip: Option<f64>,
}

/// Sets `place` to the new value, if there is one.
fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl AcceleratorChange {
    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The accelerator with the changes; a processor as it is.
    #[must_use]
    pub fn of(&self, accelerator: &Accelerator) -> Accelerator {
        let mut changed = accelerator.clone();
        if accelerator.processor().is_some() {
            return changed;
        }
        set(&mut changed.clock, self.clock.map(|it| it.of(accelerator.clock)));
        set(&mut changed.memory.dram_latency, self.dram_latency);
        set(&mut changed.memory.shared_copies, self.shared_copies.map(PerTensor::splat));
        set(&mut changed.datapath.macs_per_pe_cycle, self.macs_per_pe_cycle);
        set(&mut changed.datapath.vector_lanes, self.vector_lanes.map(Some));
        let widths = &mut changed.datapath.widths;
        for width in [&mut widths.input, &mut widths.weight, &mut widths.output] {
            set(width, self.operands);
        }
        set(&mut widths.partial_sum, self.partial_sums);
        changed.noc.levels_mut().iter_mut().for_each(|level| self.noc.apply(level));
        self.energy.apply(&mut changed.byte_energy, &changed.datapath.widths);
        self.energy.apply_to_table(&mut changed.energy, &changed.datapath.widths);
        changed
    }
}

impl NocChange {
    fn apply(&self, level: &mut NocLevel) {
        set(&mut level.latency, self.latency);
        set(&mut level.step_latency, self.step_latency);
        set(&mut level.multicast, self.multicast);
        set(&mut level.forward, self.forward);
        set(&mut level.reduce, self.reduce);
        set(&mut level.single_weights, self.single_weights);
    }
}

impl EnergyChange {
    fn apply(&self, energy: &mut ByteEnergy, widths: &Widths) {
        if let Some(change) = self.mac {
            energy.mac = Some(change.of(energy.mac.unwrap_or_else(|| ByteEnergy::mac_pj(widths))));
        }
        let memories = [
            (&mut energy.scratchpad, self.scratchpad),
            (&mut energy.cluster, self.cluster),
            (&mut energy.shared_memory, self.shared_memory),
        ];
        for (place, change) in memories {
            set(place, change.map(|it| it.of_memory(*place)));
        }
        let others = [
            (&mut energy.noc, self.noc),
            (&mut energy.dram, self.dram),
            (&mut energy.leakage, self.leakage),
            (&mut energy.clock, self.clock),
        ];
        for (place, change) in others {
            set(place, change.map(|it| it.of(*place)));
        }
        if let Some(factor) = self.on_chip {
            scale(energy, widths, factor);
        }
    }
}

impl EnergyChange {
    /// Changes the energies that the table has, too.
    fn apply_to_table(&self, table: &mut EnergyTable, widths: &Widths) {
        let changes = [self.mac, self.scratchpad, self.shared_memory, self.dram];
        if changes.iter().all(Option::is_none) && self.on_chip.is_none() {
            return;
        }
        let word = widths.input.bytes_per_element();
        let mut energies = table.picojoules();
        for (at, (pj, change)) in energies.iter_mut().zip(changes).enumerate() {
            let bytes = if at == 0 { 1.0 } else { word };
            set(pj, change.map(|it| bytes * it.of(*pj / bytes)));
        }
        let [on_chip @ .., _] = &mut energies;
        on_chip.iter_mut().for_each(|pj| *pj *= self.on_chip.unwrap_or(1.0));
        *table = EnergyTable::from_picojoules(energies);
    }
}

/// Multiplies every energy of the chip, but for DRAM.
fn scale(energy: &mut ByteEnergy, widths: &Widths, factor: f64) {
    let mac = energy.mac.unwrap_or_else(|| ByteEnergy::mac_pj(widths));
    energy.mac = Some(factor * mac);
    for memory in [&mut energy.scratchpad, &mut energy.cluster, &mut energy.shared_memory] {
        *memory = memory.times(factor);
    }
    for it in [
        &mut energy.register,
        &mut energy.noc,
        &mut energy.forward,
        &mut energy.leakage,
        &mut energy.clock,
        &mut energy.idle,
    ] {
        *it *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_round_down_to_whole_numbers_of_at_least_one() {
        let of = |factor, before| Change::<u64>::Times(factor).of(before);
        assert_eq!(
            [of(0.5, 257), of(2.0, 128), of(0.1, 3), of(1e3, u64::MAX)],
            [128, 256, 1, u64::MAX]
        );
        assert_eq!(Change::To(7u64).of(3), 7);
    }

    #[test]
    fn a_multiple_of_an_energy_keeps_the_law_that_it_follows() {
        let twice = Change::Times(2.0);
        assert_eq!(twice.of_memory(MemoryEnergy::PerByte(1.5)), MemoryEnergy::PerByte(3.0));
        for law in [MemoryEnergy::Usual, MemoryEnergy::BySize] {
            let doubled = twice.of_memory(law);
            assert_eq!(doubled.of(4096.0, 512.0), 2.0 * law.of(4096.0, 512.0));
            assert_eq!(twice.of_memory(doubled).of(4096.0, 512.0), 4.0 * law.of(4096.0, 512.0));
        }
    }

    #[test]
    fn energies_of_the_table_change_as_those_of_bytes() {
        let widths = Widths::of_bytes([2; 4]);
        let mut table = EnergyTable::ARTIFACT;
        EnergyChange::default().apply_to_table(&mut table, &widths);
        assert_eq!(table, EnergyTable::ARTIFACT);
        let change = EnergyChange {
            mac: Some(Change::To(0.0)),
            scratchpad: Some(Change::Times(2.0)),
            dram: Some(Change::To(20.0)),
            on_chip: Some(0.5),
            ..EnergyChange::default()
        };
        change.apply_to_table(&mut table, &widths);
        let pj = [0.0, 1.584, 8.64, 40.0];
        for (found, expected) in table.picojoules().into_iter().zip(pj) {
            assert!((found - expected).abs() < 1e-8, "{table:?}");
        }
    }

    #[test]
    fn an_operating_point_scales_all_but_dram() {
        let (mut energy, widths) = (ByteEnergy::default(), Widths::default());
        let before = energy;
        let change = EnergyChange { on_chip: Some(0.5), ..EnergyChange::default() };
        change.apply(&mut energy, &widths);
        assert_eq!(
            (energy.dram, energy.noc, energy.register),
            (before.dram, before.noc / 2.0, before.register / 2.0)
        );
        assert_eq!(energy.mac, Some(ByteEnergy::mac_pj(&widths) / 2.0));
        assert_eq!(
            energy.shared_memory.of(4096.0, 512.0),
            before.shared_memory.of(4096.0, 512.0) / 2.0
        );
    }

    #[test]
    fn the_energy_of_a_multiply_accumulate_follows_the_changed_widths() {
        let mut energy = ByteEnergy::default();
        let change = EnergyChange { mac: Some(Change::Times(0.5)), ..EnergyChange::default() };
        change.apply(&mut energy, &Widths::of_bytes([2, 2, 4, 2]));
        // 0.2 pJ x 2 x 2 for the product and 0.1 pJ for the sum, and half of that.
        assert_eq!(energy.mac, Some((0.2 * 4.0 + 0.1) / 2.0));
    }
}
