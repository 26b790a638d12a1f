//! `style:`, `system:` and `platform:` files: what runs.

use std::sync::Arc;

use crate::dataflow::Dataflow;
use crate::hardware::platform::{Instance, Platform, Resources, Table};
use crate::hardware::{Accelerator, EnergyTable, Memory, Noc, Style, System};
use crate::units::{Bytes, ClockRate};

use super::Problem;
use super::yaml::read::{At, Problems, at, at_most, flag, list, number, one_of, quantity, text};
use super::yaml::{Fields, Node, Value};

/// Most bytes per cycle of a network or memory.
const MAX_BANDWIDTH: u64 = 1 << 32;
/// Most cycles of latency of a network.
const MAX_LATENCY: u64 = 1 << 20;
/// Largest memory \[byte\]: 256 TiB, below which numbers of KiB are exact.
const MAX_BYTES: f64 = 281_474_976_710_656.0;
/// Largest share of the PEs.
const MAX_SHARE: u32 = 1024;

/// A `style:` file whose dataflows are still names.
pub(super) struct RawStyle {
    name: Box<str>,
    class: Box<str>,
    shares: Vec<(At<Box<str>>, u32)>,
}

/// A `system:` file whose dataflows are still names.
pub(super) struct RawSystem {
    name: Box<str>,
    accelerators: Vec<RawAccelerator>,
}

struct RawAccelerator {
    name: Box<str>,
    dataflow: At<Box<str>>,
    pes: At<u32>,
    clock: ClockRate,
    energy: EnergyTable,
    noc: Noc,
    memory: Memory,
}

/// Reads the body of a `style:` file.
pub(super) fn read_style(node: &Node<'_>, problems: &mut Problems) -> Option<RawStyle> {
    let mut fields = Fields::of(node, "a style", problems)?;
    let name = fields.required("name", text);
    const CLASSES: [(&str, &str); 3] = [("FDA", "FDA"), ("SFDA", "SFDA"), ("HDA", "HDA")];
    let class = fields.required("class", one_of(&CLASSES));
    let shares = fields.required("accelerators", accelerators(share));
    fields.finish();
    Some(RawStyle { name: name?, class: class?.into(), shares: shares? })
}

fn share(node: &Node<'_>, problems: &mut Problems) -> Option<(At<Box<str>>, u32)> {
    let mut fields = Fields::of(node, "an accelerator of a style", problems)?;
    let dataflow = fields.required("dataflow", at(text));
    let share = fields.required("pe_share", number(1..=MAX_SHARE));
    fields.finish();
    Some((dataflow?, share?))
}

/// Reads a list of accelerators.
fn accelerators<T>(
    read: impl Fn(&Node<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<Vec<T>> {
    at_most(System::MAX_ACCELERATORS, list("accelerators", read))
}

impl RawStyle {
    /// Names of the dataflows, with their places.
    pub(super) fn dataflows(&self) -> impl Iterator<Item = &At<Box<str>>> {
        self.shares.iter().map(|(dataflow, _)| dataflow)
    }

    /// The style of these `dataflows`, one for each name.
    pub(super) fn resolve(self, dataflows: Vec<Arc<Dataflow>>) -> Style {
        let shares = self.shares.into_iter().map(|(_, share)| share);
        let shares = dataflows.into_iter().zip(shares).collect();
        Style { name: self.name, class: self.class, shares }
    }
}

/// Reads the body of a `system:` file.
pub(super) fn read_system(node: &Node<'_>, problems: &mut Problems) -> Option<RawSystem> {
    let mut fields = Fields::of(node, "a system", problems)?;
    let name = fields.required("name", text);
    let clock = fields.optional("clock_mhz", clock);
    let energy = fields.optional("energy", energy);
    let wrong =
        fields.given("clock_mhz") != clock.is_some() || fields.given("energy") != energy.is_some();
    let shared = Shared { clock, energy, wrong };
    let read = |node: &Node<'_>, problems: &mut Problems| accelerator(node, &shared, problems);
    let accelerators = fields.required("accelerators", accelerators(read));
    fields.finish();
    Some(RawSystem { name: name?, accelerators: accelerators? })
}

/// What a system says for those of its accelerators that say nothing themselves.
struct Shared {
    clock: Option<ClockRate>,
    energy: Option<EnergyTable>,
    /// Whether one of the two is given but wrong.
    wrong: bool,
}

fn accelerator(
    node: &Node<'_>,
    shared: &Shared,
    problems: &mut Problems,
) -> Option<RawAccelerator> {
    let mut fields = Fields::of(node, "an accelerator", problems)?;
    let clock = fields.or("clock_mhz", shared.clock, clock);
    let energy = fields.or("energy", shared.energy, energy);
    if shared.wrong {
        fields.forgive_missing();
    }
    let name = fields.required("name", text);
    let dataflow = fields.required("dataflow", at(text));
    let pes = fields.required("pes", at(number(1..=Accelerator::MAX_PES)));
    let resources = resources(&mut fields, None);
    fields.finish();
    let (noc, memory) = resources?;
    let (name, dataflow, pes) = (name?, dataflow?, pes?);
    Some(RawAccelerator { name, dataflow, pes, clock: clock?, energy: energy?, noc, memory })
}

impl RawSystem {
    /// Names of the dataflows, with their places.
    pub(super) fn dataflows(&self) -> impl Iterator<Item = &At<Box<str>>> {
        self.accelerators.iter().map(|accelerator| &accelerator.dataflow)
    }

    /// The system of these `dataflows`, one for each name. What [`System::new`] finds is reported at
    /// the PEs of the accelerator, for each accelerator by itself.
    pub(super) fn resolve(
        self,
        dataflows: Vec<Arc<Dataflow>>,
        problems: &mut Problems,
    ) -> Option<System> {
        let mut accelerators = Vec::with_capacity(self.accelerators.len());
        for (raw, dataflow) in self.accelerators.into_iter().zip(dataflows) {
            let RawAccelerator { name, pes, clock, energy, noc, memory, .. } = raw;
            let At { span, value: pes } = pes;
            let accelerator = Accelerator { name, dataflow, pes, clock, noc, memory, energy };
            if let Err(error) = System::new(self.name.clone(), vec![accelerator.clone()]) {
                problems.push(Problem::new(span, error.to_string()));
            }
            accelerators.push(accelerator);
        }
        System::new(self.name, accelerators).ok()
    }
}

/// Reads the body of a `platform:` file.
pub(super) fn read_platform(node: &Node<'_>, problems: &mut Problems) -> Option<Platform> {
    let mut fields = Fields::of(node, "a platform", problems)?;
    let name = fields.required("name", text);
    let clock = fields.required("clock_mhz", clock);
    let energy = fields.required("energy", energy);
    let resources = if fields.given("tables") {
        fields.required("tables", list("tables", table)).map(Resources::Tables)
    } else {
        fields.required("budget", budget)
    };
    fields.finish();
    Some(Platform { name: name?, clock: clock?, energy: energy?, resources: resources? })
}

fn budget(node: &Node<'_>, problems: &mut Problems) -> Option<Resources> {
    let (noc, memory) = resources_only(node, problems)?;
    Some(Resources::Budget { noc, memory })
}

fn resources_only(node: &Node<'_>, problems: &mut Problems) -> Option<(Noc, Memory)> {
    let mut fields = Fields::of(node, "a set of resources", problems)?;
    let resources = resources(&mut fields, None);
    fields.finish();
    resources
}

fn table(node: &Node<'_>, problems: &mut Problems) -> Option<Table> {
    let mut fields = Fields::of(node, "a table", problems)?;
    let name = fields.required("name", text);
    let each = fields.optional("each", resources_only);
    let wrong = fields.given("each") != each.is_some();
    let read =
        |node: &Node<'_>, problems: &mut Problems| instance(node, each.as_ref(), wrong, problems);
    let instances = fields.required("instances", accelerators(read));
    fields.finish();
    Some(Table { name: name?, instances: instances? })
}

/// Reads an instance of a table, which has the resources of `each` but for those that it gives.
fn instance(
    node: &Node<'_>,
    each: Option<&(Noc, Memory)>,
    each_is_wrong: bool,
    problems: &mut Problems,
) -> Option<Instance> {
    let mut fields = Fields::of(node, "an instance", problems)?;
    let resources = resources(&mut fields, each);
    if each_is_wrong {
        fields.forgive_missing();
    }
    let name = fields.required("name", text);
    let pes = fields.required("pes", number(1..=Accelerator::MAX_PES));
    fields.finish();
    let (noc, memory) = resources?;
    Some(Instance { name: name?, pes: pes?, noc, memory })
}

/// Reads bandwidth and memories; what is not given is as in `default`.
fn resources(
    fields: &mut Fields<'_, '_, '_>,
    default: Option<&(Noc, Memory)>,
) -> Option<(Noc, Memory)> {
    let noc = default.map(|(noc, _)| noc.clone());
    let memory = default.map(|(_, memory)| memory);
    let (bandwidth, latency, multicast) = match noc {
        Some(noc) => (Some(noc.bandwidth), Some(noc.latency), Some(noc.multicast)),
        None => (None, Some(vec![1]), Some(true)),
    };
    let bytes_per_cycle = || number(1..=MAX_BANDWIDTH);
    let bandwidth = fields.or("noc_bandwidth_bytes_per_cycle", bandwidth, levels(1, MAX_BANDWIDTH));
    let latency = fields.or("noc_latency_cycles", latency, levels(0, MAX_LATENCY));
    let multicast = fields.or("noc_multicast", multicast, flag);
    let shared = fields.or("shared_memory_kib", memory.map(|memory| memory.shared), kib());
    let local = fields.or("local_memory_kib", memory.map(|memory| memory.local), kib());
    let offchip = memory.map(|memory| memory.offchip_bandwidth);
    let offchip = fields.or("offchip_bandwidth_bytes_per_cycle", offchip, bytes_per_cycle());
    let noc = Noc { bandwidth: bandwidth?, latency: latency?, multicast: multicast? };
    Some((noc, Memory { shared: shared?, local: local?, offchip_bandwidth: offchip? }))
}

/// Reads one number for all levels of a network, or a list with one for each, outermost first.
fn levels(low: u64, high: u64) -> impl Fn(&Node<'_>, &mut Problems) -> Option<Vec<u64>> {
    move |node, problems| {
        let Value::List(items) = &node.value else {
            return number(low..=high)(node, problems).map(|level| vec![level]);
        };
        if items.len() > Dataflow::MAX_LEVELS {
            let expected = format_args!("at most {} levels", Dataflow::MAX_LEVELS);
            problems.push(node.mismatch(&expected));
            return None;
        }
        list("levels", number(low..=high))(node, problems)
    }
}

/// Reads a size in KiB that is a whole number of bytes.
fn kib() -> impl Fn(&Node<'_>, &mut Problems) -> Option<Bytes> {
    let bytes = |kib: f64| {
        let bytes = kib * 1024.0;
        let whole = (1.0..=MAX_BYTES).contains(&bytes) && bytes.fract() == 0.0;
        whole.then_some(Bytes::new(bytes as u64))
    };
    quantity("a size in KiB, above 0 and a whole number of bytes", bytes)
}

fn clock(node: &Node<'_>, problems: &mut Problems) -> Option<ClockRate> {
    quantity("a clock from 0.000001 to 1000000 MHz", ClockRate::from_mhz)(node, problems)
}

fn energy(node: &Node<'_>, problems: &mut Problems) -> Option<EnergyTable> {
    let mut fields = Fields::of(node, "an energy table", problems)?;
    let mac_nj = fields.required("mac_nj", number(0.0..=1e6));
    let l1_per_mac = fields.required("l1_per_mac", number(0.0..=1e6));
    let l2_per_mac = fields.required("l2_per_mac", number(0.0..=1e6));
    let dram_per_mac = fields.required("dram_per_mac", number(0.0..=1e6));
    fields.finish();
    Some(EnergyTable {
        mac_nj: mac_nj?,
        l1_per_mac: l1_per_mac?,
        l2_per_mac: l2_per_mac?,
        dram_per_mac: dram_per_mac?,
    })
}
