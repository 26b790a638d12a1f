//! Energy as the sum of its components (7.1).

use xrsim::cost::loop_nest::{Energies, EnergyPj, Evaluation, LevelCounts, Machine};

use xrsim::model::PerOperand;

use super::population::*;

/// A table of small distinct whole numbers, so that sums of products with counts are exact.
const TABLE: Energies = Energies {
    mac: 3.0,
    register: 5.0,
    scratchpad: 7.0,
    cluster: [11.0; 8],
    shared: 13.0,
    noc: 17.0,
    forward: 19.0,
    dram: 23.0,
    leakage: 29.0,
    clock: 31.0,
};

/// Bits that one level moves.
struct Bits {
    sent: u64,
    delivered: u64,
    forwarded: u64,
    left: u64,
    arrived: u64,
    accumulated: u64,
}

impl Bits {
    fn new(counts: &LevelCounts, machine: &Machine) -> Self {
        let [input, weight, sum, _] = bits(machine);
        let operands = |of: PerOperand<u64>| of.input * input + of.weight * weight;
        Self {
            sent: operands(counts.sent),
            delivered: operands(counts.delivered),
            forwarded: operands(counts.forwarded),
            left: counts.left * sum,
            arrived: counts.arrived * sum,
            accumulated: counts.accumulated * sum,
        }
    }

    /// Accesses to the buffer above the units.
    fn above(&self) -> u64 {
        self.sent + self.arrived + self.accumulated
    }

    /// Accesses to the buffers of the units from their NoC level.
    fn in_units(&self) -> u64 {
        self.delivered + self.forwarded + self.left
    }

    fn on_network(&self) -> u64 {
        17 * (self.delivered - self.forwarded + self.left) + 19 * self.forwarded
    }
}

/// Bits of inputs, weights, partial sums and outputs.
fn bits(machine: &Machine) -> [u64; 4] {
    machine.widths.into_array().map(|width| u64::from(width.bits()))
}

/// Energy of every component for [`TABLE`]. Energies are per byte; those of bits are eighths, exactly.
fn expected(found: &Evaluation, machine: &Machine) -> EnergyPj {
    let [input, weight, sum, _] = bits(machine);
    let levels: Vec<_> = found.levels().iter().map(|it| Bits::new(it, machine)).collect();
    let macs = found.macs_executed;
    let dram = &found.memory.dram;
    let dram = dram.inputs_read + dram.weights_read + dram.partial_sums_read + dram.outputs_written;
    let sums_of_pes = (found.pe_outputs + found.pe_accumulations) * sum;
    let in_pes = levels.last().map_or(0, Bits::in_units);
    let in_clusters = levels.windows(2).map(|pair| pair[0].in_units() + pair[1].above());
    EnergyPj {
        mac: (3 * macs) as f64,
        register: (5 * macs * (input + weight + 2 * sum)) as f64 / 8.0,
        scratchpad: (7 * (macs * (input + weight) + sums_of_pes + in_pes)) as f64 / 8.0,
        cluster: (11 * in_clusters.sum::<u64>()) as f64 / 8.0,
        shared: (13 * (levels[0].above() + 8 * dram)) as f64 / 8.0,
        noc: levels.iter().map(Bits::on_network).sum::<u64>() as f64 / 8.0,
        dram: (23 * dram) as f64,
        leakage: (29 * found.cycles) as f64,
        clock: (31 * found.cycles) as f64,
        riders: 0.0,
    }
}

#[test]
fn energy_is_the_sum_of_every_access_times_its_table() {
    let mut forwards = 0;
    for (name, case) in all() {
        let found = run_on(&case, |machine| {
            machine.energies = TABLE;
            machine.noc_levels = noc_levels(&case);
            machine.noc_levels.iter_mut().for_each(|noc| noc.forward = true);
        });
        let expected = expected(&found, &case.machine);
        assert_eq!(found.energy, expected, "{name}");
        let EnergyPj {
            mac,
            register,
            scratchpad,
            cluster,
            shared,
            noc,
            dram,
            leakage,
            clock,
            riders,
        } = expected;
        assert_eq!(riders, 0.0);
        let total = mac + register + scratchpad + cluster + shared + noc + dram + leakage + clock;
        assert_eq!(found.energy.total(), total, "{name}");
        forwards += usize::from(
            found.levels().iter().any(|counts| counts.forwarded != PerOperand::default()),
        );
    }
    assert_enough("forwards", forwards);
}
