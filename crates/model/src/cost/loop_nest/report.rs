//! Report of a layer: all that the cost model knows of it.

use crate::hardware::Widths;
use crate::model::{PerTensor, TensorRole};

use super::super::{Certainty, Explanation, LayerCost, Quantity};
use super::{DramTraffic, EnergyPj, Evaluation, LayerBound, LevelCounts, Machine};
use crate::digest::FastDigest;

/// Counts, times and energy of one layer, summed over its loop nests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LayerReport {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Cycles of the PEs or vector lanes if all transfers took no time.
    pub compute_cycles: u64,
    /// Cycles of the PEs and all NoC levels, without DRAM.
    pub chip_cycles: u64,
    /// Cycles of DRAM, which overlap with those of the chip: all of them, or with an off-chip level those
    /// of each step.
    pub dram_cycles: u64,
    /// Executed MACs.
    pub macs: u64,
    /// Executed MACs divided by those that all PEs could execute in the latency, from 0 to 1.
    pub utilisation: f64,
    /// Limiting resource; that of the longest loop nest if there are several.
    pub bound: LayerBound,
    /// Counts of every level on chip, outermost first; empty for operators without MACs.
    pub levels: Vec<LevelCounts>,
    /// Counts of the off-chip level, if the mapping has one.
    pub off_chip: Option<LevelCounts>,
    /// Traffic of DRAM.
    pub dram: DramTraffic,
    /// Bytes on the outermost NoC level: sent by the shared memory to the units, and partial sums
    /// that arrive there. For operators without MACs: bytes read from and written to shared memory.
    pub noc_bytes: u64,
    /// Shared memory in use, the largest of the loop nests \[byte\].
    pub shared_bytes: u64,
    /// Whether that fits.
    pub shared_fits: bool,
    /// Whether each tensor stays in shared memory before or after the layer.
    pub resident: PerTensor<bool>,
    /// Energy by component.
    pub energy: EnergyPj,
    /// Certainty about the choice of its mappings; `None` if directives map a part of it.
    pub certainty: Option<Certainty>,
    /// Digest of its forms and mappings; `None` if the accelerator has no choice, or for an operator without MACs.
    pub choice: Option<FastDigest>,
}

impl LayerReport {
    /// Latency, energy and traffic.
    pub fn cost(&self) -> LayerCost {
        LayerCost {
            cycles: self.cycles,
            energy_nj: self.energy.total() / 1e3,
            dram_bytes: self.dram.total_bytes(),
            noc_bytes: self.noc_bytes,
            chip_cycles: self.chip_cycles,
            dram_cycles: self.dram_cycles,
            dram_energy_nj: self.energy.dram / 1e3,
        }
    }

    /// Every field as a column. Lists have an entry for each level, outermost first, joined by `;`: that of
    /// the off-chip level comes first if there is one.
    pub(super) fn explanation(&self) -> Explanation {
        let count = |count: u64| Quantity::Count(i64::try_from(count).unwrap_or(i64::MAX));
        let list = |of: &dyn Fn(&LevelCounts) -> u64| {
            let levels = self.off_chip.iter().chain(&self.levels);
            let values: Vec<_> = levels.map(|level| of(level).to_string()).collect();
            Quantity::Text(values.join(";"))
        };
        let mut columns = self.cost().explanation();
        columns.extend([
            ("macs", count(self.macs)),
            ("utilisation", Quantity::Real(self.utilisation)),
            ("bound", Quantity::Text(self.bound.to_string())),
            ("compute_cycles", count(self.compute_cycles)),
            ("chip_cycles", count(self.chip_cycles)),
            ("dram_cycles", count(self.dram_cycles)),
            ("resident", Quantity::Text(self.resident_letters())),
            ("shared_bytes", count(self.shared_bytes)),
            ("shared_fits", Quantity::Count(self.shared_fits.into())),
            ("dram_rd_i_bytes", count(self.dram.inputs_read)),
            ("dram_rd_w_bytes", count(self.dram.weights_read)),
            ("dram_rd_psum_bytes", count(self.dram.partial_sums_read)),
            ("dram_wr_o_bytes", count(self.dram.outputs_written)),
            ("send_i", list(&|level| level.sent.input)),
            ("send_w", list(&|level| level.sent.weight)),
            ("deliver_i", list(&|level| level.delivered.input)),
            ("deliver_w", list(&|level| level.delivered.weight)),
            ("forward_i", list(&|level| level.forwarded.input)),
            ("forward_w", list(&|level| level.forwarded.weight)),
            ("arrive", list(&|level| level.arrived)),
            ("leave", list(&|level| level.left)),
            ("accum", list(&|level| level.accumulated)),
            ("steps", list(&|level| level.steps)),
            ("active", list(&|level| level.active)),
            ("unit_bytes", list(&|level| level.unit_bytes)),
        ]);
        let energies = self.energy.components();
        columns.extend(energies.map(|(name, energy)| (name, Quantity::Real(energy))));
        if self.energy.clock > 0.0 {
            columns.push(("energy_clock_pJ", Quantity::Real(self.energy.clock)));
        }
        if self.energy.riders > 0.0 {
            columns.push(("energy_riders_pJ", Quantity::Real(self.energy.riders)));
        }
        columns
    }

    /// Letters of the tensors that stay in shared memory, e.g. `i;o`.
    fn resident_letters(&self) -> String {
        let letters = PerTensor { input: "i", weight: "w", output: "o" };
        let resident = TensorRole::ALL.into_iter().filter(|&tensor| self.resident[tensor]);
        resident.map(|tensor| letters[tensor]).collect::<Vec<_>>().join(";")
    }

    pub(super) fn empty(resident: PerTensor<bool>) -> Self {
        Self { shared_fits: true, resident, ..Self::default() }
    }

    /// Adds a loop nest that runs after those added before.
    pub(super) fn add(&mut self, mut evaluation: Evaluation, machine: &Machine) {
        let post_cycles = machine.riders.map_or(0, |riders| riders.cycles);
        let memory = &evaluation.memory;
        self.cycles += evaluation.cycles;
        self.compute_cycles += evaluation.compute_cycles.max(post_cycles);
        self.chip_cycles += evaluation.chip_cycles.max(post_cycles);
        self.dram_cycles += evaluation.dram_cycles;
        self.macs += evaluation.macs_executed;
        self.shared_bytes = self.shared_bytes.max(memory.shared_bytes);
        self.shared_fits &= memory.fits;
        self.dram += memory.dram;
        self.noc_bytes += evaluation.levels()[0].bytes(&machine.widths);
        self.energy = self.energy.plus(&evaluation.energy);
        if let Some(counts) = evaluation.off_chip() {
            self.off_chip.get_or_insert_default().add(counts);
        }
        if self.levels.is_empty() {
            evaluation.levels.drain(..evaluation.n_off_chip);
            self.levels = evaluation.levels;
        } else {
            self.levels.iter_mut().zip(evaluation.levels()).for_each(|(sum, it)| sum.add(it));
        }
    }
}

impl LevelCounts {
    /// Bytes on the NoC level; a multicast element counts once.
    fn bytes(&self, widths: &Widths) -> u64 {
        widths.input.bytes(self.sent.input)
            + widths.weight.bytes(self.sent.weight)
            + widths.partial_sum.bytes(self.arrived)
    }

    /// Adds the counts of a loop nest that runs after those added before. Buffers are reused, so
    /// that the largest requirement counts.
    fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.forwarded += other.forwarded;
        self.arrived += other.arrived;
        self.left += other.left;
        self.accumulated += other.accumulated;
        self.steps += other.steps;
        self.active += other.active;
        self.unit_bytes = self.unit_bytes.max(other.unit_bytes);
    }
}

impl EnergyPj {
    /// Components with the names of their columns \[pJ\], without those of the clock and of operators that ride along,
    /// which most layers lack.
    pub fn components(&self) -> [(&'static str, f64); 8] {
        [
            ("energy_mac_pJ", self.mac),
            ("energy_reg_pJ", self.register),
            ("energy_scratchpad_pJ", self.scratchpad),
            ("energy_cluster_pJ", self.cluster),
            ("energy_shared_pJ", self.shared),
            ("energy_noc_pJ", self.noc),
            ("energy_dram_pJ", self.dram),
            ("energy_leak_pJ", self.leakage),
        ]
    }

    /// Sum, component by component.
    fn plus(&self, other: &Self) -> Self {
        Self {
            mac: self.mac + other.mac,
            register: self.register + other.register,
            scratchpad: self.scratchpad + other.scratchpad,
            cluster: self.cluster + other.cluster,
            shared: self.shared + other.shared,
            noc: self.noc + other.noc,
            dram: self.dram + other.dram,
            leakage: self.leakage + other.leakage,
            clock: self.clock + other.clock,
            riders: self.riders + other.riders,
        }
    }
}
