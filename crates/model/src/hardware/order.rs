//! Order of accelerators: which one has at least as much of everything as another, so that it can run every
//! mapping of the other (docs/explanation/mapper.md, section 6.3).

use std::sync::Arc;

use super::{Accelerator, Datapath, Memory, Noc, NocLevel};
use crate::units::Bytes;

impl Accelerator {
    /// Whether `other` has at least as much as this accelerator of everything that decides which mappings run and
    /// how long they take, is as flexible, and equals it in what is neither more nor less. Clock, vector lanes,
    /// energies and names do not count: they rule out no mapping.
    pub fn has_at_most(&self, other: &Self) -> bool {
        self.pes <= other.pes
            && self.flexibility <= other.flexibility
            && self.mapping_objective == other.mapping_objective
            && self.has_dataflow_of(other)
            && self.pinned == other.pinned
            && datapath_has_at_most(&self.datapath, &other.datapath)
            && memory_has_at_most(&self.memory, &other.memory)
            && noc_has_at_most(&self.noc, &other.noc)
    }

    /// Whether `other` has more than this accelerator: at least as much of everything, and not the other way
    /// round.
    pub fn has_less(&self, other: &Self) -> bool {
        self.has_at_most(other) && !other.has_at_most(self)
    }

    /// Whether both run the same dataflow, whatever its name.
    pub fn has_dataflow_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.dataflow, &other.dataflow) || self.dataflow.maps_as(&other.dataflow)
    }
}

fn datapath_has_at_most(a: &Datapath, b: &Datapath) -> bool {
    let limit = |it: &Datapath| it.units_limit.unwrap_or(u32::MAX);
    a.macs_per_pe_cycle.max(1) <= b.macs_per_pe_cycle.max(1)
        && limit(a) <= limit(b)
        && a.widths == b.widths
}

fn memory_has_at_most(a: &Memory, b: &Memory) -> bool {
    let n_levels = a.clusters.len().max(b.clusters.len());
    let cluster = |it: &Memory, level| it.cluster(level).map_or(u64::MAX, Bytes::get);
    a.shared <= b.shared
        && a.scratchpad <= b.scratchpad
        && (0..n_levels).all(|level| cluster(a, level) <= cluster(b, level))
        && a.dram_bandwidth <= b.dram_bandwidth
        && a.dram_latency >= b.dram_latency
        && a.shared_copies == b.shared_copies
        && a.compression == b.compression
}

fn noc_has_at_most(a: &Noc, b: &Noc) -> bool {
    let n_levels = a.levels().len().max(b.levels().len());
    (0..n_levels).all(|level| level_has_at_most(&a.level(level), &b.level(level)))
}

fn level_has_at_most(a: &NocLevel, b: &NocLevel) -> bool {
    let up = |it: &NocLevel| it.up_bandwidth.unwrap_or(it.bandwidth);
    let weights = match (a.weight_bandwidth, b.weight_bandwidth) {
        (None, None) => true,
        (Some(a), Some(b)) => a <= b,
        _ => false,
    };
    a.bandwidth <= b.bandwidth
        && up(a) <= up(b)
        && weights
        && a.latency >= b.latency
        && a.step_latency >= b.step_latency
        && a.multicast <= b.multicast
        && a.forward <= b.forward
        && a.reduce <= b.reduce
        && a.single_weights >= b.single_weights
        && a.fill == b.fill
}

#[cfg(test)]
mod tests {
    use super::super::Fill;
    use super::*;
    use crate::dataflow::Flexibility;
    use crate::hardware::{ByteEnergy, MappingObjective};
    use crate::mapper::small_accelerator;
    use crate::units::ClockRate;

    type Step = fn(&mut Accelerator);

    /// Changes to more hardware, one of every kind.
    const MORE: [Step; 18] = [
        |it| it.pes += 4,
        |it| it.flexibility = Flexibility::Any,
        |it| it.datapath.macs_per_pe_cycle = 2,
        |it| it.datapath.units_limit = None,
        |it| it.memory.shared = Bytes::new(1400),
        |it| it.memory.scratchpad = Bytes::new(512),
        |it| it.memory.clusters = vec![Bytes::new(1024)],
        |it| it.memory.clusters = Vec::new(),
        |it| it.memory.dram_bandwidth += 1,
        |it| it.memory.dram_latency -= 1,
        |it| it.noc.levels_mut()[0].bandwidth += 1,
        |it| it.noc.levels_mut()[0].up_bandwidth = Some(9),
        |it| it.noc.levels_mut()[0].latency = 0,
        |it| it.noc.levels_mut()[0].step_latency = false,
        |it| it.noc.levels_mut()[0].multicast = true,
        |it| it.noc.levels_mut()[0].forward = true,
        |it| it.noc.levels_mut()[0].reduce = true,
        |it| it.noc.levels_mut()[0].single_weights = false,
    ];

    /// An accelerator of which every change makes more.
    fn small() -> Accelerator {
        let mut it = Accelerator { flexibility: Flexibility::Tiles, ..small_accelerator() };
        it.datapath.units_limit = Some(4);
        let level = &mut it.noc.levels_mut()[0];
        (level.step_latency, level.multicast) = (true, false);
        (level.reduce, level.single_weights) = (false, true);
        it
    }

    #[test]
    fn more_of_anything_is_more_and_of_several_things_too() {
        let small = small();
        assert!(small.has_at_most(&small) && !small.has_less(&small));
        let mut all = small.clone();
        for (at, step) in MORE.iter().enumerate() {
            let mut more = small.clone();
            step(&mut more);
            assert!(small.has_less(&more) && !more.has_at_most(&small), "change {at}");
            let before = all.clone();
            step(&mut all);
            assert!(before.has_less(&all) && small.has_less(&all), "change {at}");
        }
    }

    #[test]
    fn more_of_one_thing_and_less_of_another_is_neither() {
        let small = small();
        for (at, step) in MORE.iter().enumerate().skip(1) {
            let mut other = small.clone();
            step(&mut other);
            let more_pes = Accelerator { pes: small.pes + 4, ..small.clone() };
            assert!(!other.has_at_most(&more_pes) && !more_pes.has_at_most(&other), "change {at}");
        }
    }

    #[test]
    fn what_is_neither_more_nor_less_has_to_be_equal() {
        let steps: [Step; 6] = [
            |it| it.mapping_objective = MappingObjective::Energy,
            |it| it.memory.shared_copies.weight = 1,
            |it| it.datapath.widths.input = crate::hardware::Width::of_bytes(2),
            |it| it.noc.levels_mut()[0].fill = Fill::Systolic,
            |it| it.noc.levels_mut()[0].weight_bandwidth = Some(9),
            |it| it.dataflow = it.dataflow.as_ref().clone().keeping(None).into(),
        ];
        for (at, step) in steps.iter().enumerate() {
            let mut other = small();
            other.pes += 4;
            step(&mut other);
            assert!(!small().has_at_most(&other) && !other.has_at_most(&small()), "change {at}");
        }
    }

    #[test]
    fn clock_lanes_energies_and_names_do_not_count() {
        let mut other = small();
        other.name = "other".into();
        other.clock = ClockRate::from_mhz(200.0).expect("a clock");
        other.datapath.vector_lanes = Some(3);
        other.byte_energy = ByteEnergy { dram: 1.0, leakage: 7.0, ..other.byte_energy };
        assert!(small().has_at_most(&other) && other.has_at_most(&small()));
        assert!(!small().has_less(&other) && !other.has_less(&small()));
    }
}
