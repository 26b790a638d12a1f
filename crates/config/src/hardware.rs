//! `style:`, `system:` and `platform:` files: hardware.

use std::sync::Arc;

use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::platform::{Budget, Instance, Platform, Resources, Table};
use xrsim_model::hardware::{
    Accelerator, ByteEnergy, Compression, Datapath, EnergyTable, Fill, Flexibility,
    MappingObjective, MappingSettings, Memory, MemoryEnergy, Noc, Share, Style, System, Width,
    Widths,
};
use xrsim_model::model::PerTensor;
use xrsim_model::renamed::Renamed;
use xrsim_model::units::{Bytes, ClockRate};

use super::Problem;
use super::technology::{self, RawTechnology};
use super::yaml::read::{
    At, Problems, at, at_most, flag, list, number, number_or, one_of, proper_name, quantity, text,
};
use super::yaml::{Fields, Node, Value};

/// Largest bandwidth of a NoC level or memory [byte/cycle].
pub(super) const MAX_BANDWIDTH: u64 = 1 << 32;
/// Largest latency of a NoC level or DRAM [cycle].
pub(super) const MAX_LATENCY: u64 = 1 << 20;
/// Largest memory \[byte\]: 256 TiB, below which numbers of KiB are exact.
pub(super) const MAX_BYTES: f64 = 281_474_976_710_656.0;
/// Largest share of the PEs.
pub(super) const MAX_SHARE: u32 = 1024;
/// Classes of styles.
pub(super) const CLASSES: [(&str, &str); 3] = [("FDA", "FDA"), ("SFDA", "SFDA"), ("HDA", "HDA")];

const fn key(old: &'static str, new: &'static str) -> Renamed {
    Renamed { kind: "key", old, new }
}

/// Old keys of accelerators, instances and budgets.
const OLD_RESOURCES: [Renamed; 3] = [
    key("local_memory_kib", "scratchpad_kib"),
    key("offchip_bandwidth_bytes_per_cycle", "dram_bandwidth_bytes_per_cycle"),
    key("offchip_latency_cycles", "dram_latency_cycles"),
];
/// Old keys of an accelerator of a style.
const OLD_SHARES: [Renamed; 1] = [key("offchip_share", "dram_share")];
/// Old keys of `energy`.
const OLD_ENERGY: [Renamed; 2] =
    [key("l1_per_mac", "scratchpad_per_mac"), key("l2_per_mac", "shared_memory_per_mac")];
/// Old keys of `energy_pj`.
const OLD_BYTE_ENERGY: [Renamed; 3] = [
    key("l1_per_byte", "scratchpad_per_byte"),
    key("l2_per_byte", "shared_memory_per_byte"),
    key("network_per_byte", "noc_per_byte"),
];

/// A `style:` file whose dataflows are still names.
pub(super) struct RawStyle {
    name: Box<str>,
    class: Box<str>,
    mapping: MappingSettings,
    shares: Vec<RawShare>,
}

/// Shares of one accelerator.
struct RawShare {
    dataflow: At<Box<str>>,
    /// Share of the PEs.
    pes: u32,
    /// Share of the bandwidth of the NoC.
    noc: u32,
    /// Share of the shared memory.
    shared_memory: u32,
    /// Share of the DRAM bandwidth.
    dram: u32,
    mapping: MappingSettings,
}

/// A `system:` file whose dataflows are still names.
pub(super) struct RawSystem {
    name: Box<str>,
    accelerators: Vec<RawAccelerator>,
}

struct RawAccelerator {
    name: Box<str>,
    dataflow: At<Box<str>>,
    mapping: MappingSettings,
    pes: At<u32>,
    clock: ClockRate,
    datapath: Datapath,
    energy: EnergyTable,
    byte_energy: ByteEnergy,
    noc: Noc,
    memory: Memory,
}

/// Bandwidths and memories of an accelerator or a chip.
struct RawResources {
    noc: Noc,
    memory: Memory,
}

/// Reads the body of a `style:` file.
pub(super) fn read_style(node: &Node<'_>, problems: &mut Problems) -> Option<RawStyle> {
    let mut fields = Fields::of(node, "a style", problems)?;
    let name = fields.required("name", proper_name);
    let class = fields.required("class", one_of(&CLASSES));
    let mapping = mapping(&mut fields);
    let shares = fields.required("accelerators", accelerators(share));
    fields.finish();
    Some(RawStyle { name: name?, class: class?.into(), mapping, shares: shares? })
}

fn share(node: &Node<'_>, problems: &mut Problems) -> Option<RawShare> {
    let mut fields =
        Fields::of(node, "an accelerator of a style", problems)?.with_renamed(&OLD_SHARES);
    let share = || number(1..=MAX_SHARE);
    let dataflow = fields.required("dataflow", at(text));
    let pes = fields.required("pe_share", share());
    let noc = fields.optional("noc_share", share());
    let shared_memory = fields.optional("shared_memory_share", share());
    let dram = fields.optional("dram_share", share());
    let mapping = mapping(&mut fields);
    fields.finish();
    let pes = pes?;
    Some(RawShare {
        dataflow: dataflow?,
        pes,
        noc: noc.unwrap_or(pes),
        shared_memory: shared_memory.unwrap_or(pes),
        dram: dram.unwrap_or(pes),
        mapping,
    })
}

/// Reads the settings of the choice of mappings.
fn mapping(fields: &mut Fields<'_, '_, '_>) -> MappingSettings {
    let flexibility = fields.optional("flexibility", one_of(&Flexibility::ALL));
    let objective = fields.optional("mapping_objective", one_of(&MappingObjective::ALL));
    MappingSettings { flexibility, objective }
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
        self.shares.iter().map(|share| &share.dataflow)
    }

    /// The style of these `dataflows`, one for each name.
    pub(crate) fn resolve(self, dataflows: Vec<Arc<Dataflow>>) -> Style {
        let share = |(dataflow, raw): (_, RawShare)| {
            let RawShare { pes, noc, shared_memory, dram, mapping, .. } = raw;
            Share { dataflow, pes, noc, shared_memory, dram, mapping }
        };
        let shares = dataflows.into_iter().zip(self.shares).map(share).collect();
        Style { mapping: self.mapping, ..Style::new(self.name, self.class, shares) }
    }
}

/// Reads the body of a `system:` file.
pub(super) fn read_system(
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<(RawSystem, Option<RawTechnology>)> {
    let mut fields = Fields::of(node, "a system", problems)?;
    let name = fields.required("name", proper_name);
    let clock = fields.optional("clock_mhz", clock);
    let energy = fields.optional("energy", energy);
    let wrong =
        fields.given("clock_mhz") != clock.is_some() || fields.given("energy") != energy.is_some();
    let datapath = fields.optional("datapath", datapath).unwrap_or_default();
    let byte_energy = fields.optional("energy_pj", byte_energy).unwrap_or_default();
    let mapping = mapping(&mut fields);
    let technology = technology_field(&mut fields);
    let shared = Shared { clock, energy, wrong, datapath, byte_energy, mapping };
    let read = |node: &Node<'_>, problems: &mut Problems| accelerator(node, &shared, problems);
    let accelerators = fields.required("accelerators", accelerators(read));
    fields.finish();
    Some((RawSystem { name: name?, accelerators: accelerators? }, technology?))
}

/// Values of a system that its accelerators inherit.
struct Shared {
    clock: Option<ClockRate>,
    energy: Option<EnergyTable>,
    /// Whether one of the two is given but wrong.
    wrong: bool,
    datapath: Datapath,
    byte_energy: ByteEnergy,
    mapping: MappingSettings,
}

fn accelerator(
    node: &Node<'_>,
    shared: &Shared,
    problems: &mut Problems,
) -> Option<RawAccelerator> {
    let mut fields = Fields::of(node, "an accelerator", problems)?.with_renamed(&OLD_RESOURCES);
    let clock = fields.or("clock_mhz", shared.clock, clock);
    let energy = fields.or("energy", shared.energy, energy);
    let datapath = fields.optional("datapath", datapath).unwrap_or(shared.datapath);
    let byte_energy = fields.optional("energy_pj", byte_energy).unwrap_or(shared.byte_energy);
    let mapping = mapping(&mut fields).or(shared.mapping);
    if shared.wrong {
        fields.forgive_missing();
    }
    let name = fields.required("name", proper_name);
    let dataflow = fields.required("dataflow", at(text));
    let pes = fields.required("pes", at(number(1..=Accelerator::MAX_PES)));
    let resources = resources(&mut fields, None);
    fields.finish();
    let RawResources { noc, memory } = resources?;
    let (name, dataflow, pes) = (name?, dataflow?, pes?);
    let (clock, energy) = (clock?, energy?);
    Some(RawAccelerator {
        name,
        dataflow,
        mapping,
        pes,
        clock,
        datapath,
        energy,
        byte_energy,
        noc,
        memory,
    })
}

impl RawSystem {
    /// Names of the dataflows, with their places.
    pub(super) fn dataflows(&self) -> impl Iterator<Item = &At<Box<str>>> {
        self.accelerators.iter().map(|accelerator| &accelerator.dataflow)
    }

    /// The system of these `dataflows`, one for each name. An error of [`System::new`] is reported at
    /// the PEs of the accelerator, for each accelerator by itself.
    pub(crate) fn resolve(
        self,
        dataflows: Vec<Arc<Dataflow>>,
        problems: &mut Problems,
    ) -> Option<System> {
        let mut accelerators = Vec::with_capacity(self.accelerators.len());
        for (raw, dataflow) in self.accelerators.into_iter().zip(dataflows) {
            let RawAccelerator { name, pes, clock, datapath, energy, byte_energy, .. } = raw;
            let RawAccelerator { noc, memory, mapping, .. } = raw;
            let At { span, value: pes } = pes;
            let accelerator = Accelerator {
                clock,
                datapath,
                energy,
                byte_energy,
                ..Accelerator::new(name, dataflow, pes, noc, memory).mapped(mapping)
            };
            if let Err(error) = System::new(self.name.clone(), vec![accelerator.clone()]) {
                problems.push(Problem::new(span, error.to_string()));
            }
            accelerators.push(accelerator);
        }
        System::new(self.name, accelerators).ok()
    }
}

/// Reads the body of a `platform:` file.
pub(super) fn read_platform(
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<(Platform, Option<RawTechnology>)> {
    let mut fields = Fields::of(node, "a platform", problems)?;
    let name = fields.required("name", proper_name);
    let clock = fields.required("clock_mhz", clock);
    let energy = fields.required("energy", energy);
    let datapath = fields.optional("datapath", datapath).unwrap_or_default();
    let energies = fields.optional("energy_pj", at(byte_energy));
    let technology = technology_field(&mut fields);
    let resources = if fields.given("tables") {
        fields.required("tables", list("tables", table)).map(Resources::Tables)
    } else {
        fields.required("budget", budget)
    };
    fields.finish();
    let (name, clock, energy, resources) = (name?, clock?, energy?, resources?);
    if let Some(At { span, value }) = &energies
        && value.cluster == MemoryEnergy::BySize
        && lacks_cluster_size(&resources)
    {
        problems.push(Problem::new(
            span.clone(),
            "`cluster_per_byte: by-size` needs the key `cluster_memory_kib`",
        ));
        return None;
    }
    let byte_energy = energies.map(|it| it.value).unwrap_or_default();
    let platform = Platform::new(name, clock, energy, resources);
    Some((Platform { datapath, byte_energy, ..platform }, technology?))
}

/// Reads the key `technology`; `None` if it is wrong, and nothing inside if it is not given.
fn technology_field(fields: &mut Fields<'_, '_, '_>) -> Option<Option<RawTechnology>> {
    let technology = fields.optional("technology", technology::read_choice);
    (fields.given("technology") == technology.is_some()).then_some(technology)
}

/// Whether the cluster buffers of some accelerator have no size.
fn lacks_cluster_size(resources: &Resources) -> bool {
    match resources {
        Resources::Budget(budget) => budget.memory.clusters.is_empty(),
        Resources::Tables(tables) => {
            let mut instances = tables.iter().flat_map(|table| &table.instances);
            instances.any(|instance| instance.memory.clusters.is_empty())
        }
    }
}

fn budget(node: &Node<'_>, problems: &mut Problems) -> Option<Resources> {
    let RawResources { noc, memory } = resources_only(node, problems)?;
    Some(Resources::Budget(Box::new(Budget::new(noc, memory))))
}

fn resources_only(node: &Node<'_>, problems: &mut Problems) -> Option<RawResources> {
    let mut fields = Fields::of(node, "a set of resources", problems)?.with_renamed(&OLD_RESOURCES);
    let resources = resources(&mut fields, None);
    fields.finish();
    resources
}

fn table(node: &Node<'_>, problems: &mut Problems) -> Option<Table> {
    let mut fields = Fields::of(node, "a table", problems)?;
    let name = fields.required("name", proper_name);
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
    each: Option<&RawResources>,
    each_is_wrong: bool,
    problems: &mut Problems,
) -> Option<Instance> {
    let mut fields = Fields::of(node, "an instance", problems)?.with_renamed(&OLD_RESOURCES);
    let resources = resources(&mut fields, each);
    if each_is_wrong {
        fields.forgive_missing();
    }
    let name = fields.required("name", proper_name);
    let pes = fields.required("pes", number(1..=Accelerator::MAX_PES));
    fields.finish();
    let RawResources { noc, memory } = resources?;
    Some(Instance { name: name?, pes: pes?, noc, memory })
}

/// Reads bandwidths and memories; missing keys have the values of `default`.
fn resources(
    fields: &mut Fields<'_, '_, '_>,
    default: Option<&RawResources>,
) -> Option<RawResources> {
    let noc = noc(fields, default.map(|it| &it.noc));
    let memory = memory(fields, default.map(|it| &it.memory));
    Some(RawResources { noc: noc?, memory: memory? })
}

fn noc(fields: &mut Fields<'_, '_, '_>, default: Option<&Noc>) -> Option<Noc> {
    let bandwidths = || levels(number(1..=MAX_BANDWIDTH));
    let key = "noc_bandwidth_bytes_per_cycle";
    let bandwidth = match default {
        Some(_) => fields.optional(key, bandwidths()).unwrap_or_default(),
        None => fields.required(key, bandwidths()).unwrap_or_default(),
    };
    let up = fields.optional("noc_up_bandwidth_bytes_per_cycle", bandwidths());
    let weights = fields.optional("noc_weight_bandwidth_bytes_per_cycle", bandwidths());
    let latency = fields.optional("noc_latency_cycles", levels(number(0..=MAX_LATENCY)));
    let fill = levels(number_or("systolic", 0..=MAX_LATENCY));
    let fill = fields.optional("noc_fill_cycles", fill).unwrap_or_default();
    let mut flags = |key| fields.optional(key, levels(flag)).unwrap_or_default();
    let mut noc = match default {
        Some(noc) => noc.clone(),
        None => Noc::of_bandwidths(&bandwidth)?,
    };
    noc.set(&bandwidth, |level, it| level.bandwidth = it);
    noc.set(&up.unwrap_or_default(), |level, it| level.up_bandwidth = Some(it));
    noc.set(&weights.unwrap_or_default(), |level, it| level.weight_bandwidth = Some(it));
    noc.set(&latency.unwrap_or_default(), |level, it| level.latency = it);
    noc.set(&fill, |level, it| level.fill = it.map_or(Fill::Systolic, Fill::Cycles));
    noc.set(&flags("noc_step_latency"), |level, it| level.step_latency = it);
    noc.set(&flags("noc_multicast"), |level, it| level.multicast = it);
    noc.set(&flags("noc_forward"), |level, it| level.forward = it);
    noc.set(&flags("noc_reduce"), |level, it| level.reduce = it);
    noc.set(&flags("noc_single_weights"), |level, it| level.single_weights = it);
    Some(noc)
}

fn memory(fields: &mut Fields<'_, '_, '_>, default: Option<&Memory>) -> Option<Memory> {
    let shared = fields.or("shared_memory_kib", default.map(|memory| memory.shared), kib());
    let scratchpad = fields.or("scratchpad_kib", default.map(|memory| memory.scratchpad), kib());
    let clusters = fields.optional("cluster_memory_kib", levels(kib()));
    let dram = default.map(|memory| memory.dram_bandwidth);
    let bandwidth = number(1..=MAX_BANDWIDTH);
    let dram = fields.or("dram_bandwidth_bytes_per_cycle", dram, bandwidth);
    let latency = fields.optional("dram_latency_cycles", number(0..=MAX_LATENCY));
    let copies = fields.optional("shared_memory_copies", copies);
    let compression = fields.optional("dram_bytes_factors", compression);
    let memory = Memory::new(shared?, scratchpad?, dram?);
    let default = default.unwrap_or(&memory);
    Some(Memory {
        clusters: clusters.unwrap_or_else(|| default.clusters.clone()),
        dram_latency: latency.unwrap_or(default.dram_latency),
        shared_copies: copies.unwrap_or(default.shared_copies),
        compression: compression.unwrap_or(default.compression),
        ..memory.clone()
    })
}

/// Reads copies of inputs, weights and outputs.
fn copies(node: &Node<'_>, problems: &mut Problems) -> Option<PerTensor<u32>> {
    let copies = list("copies", number(1..=16))(node, problems)?;
    three(copies, "copies", node, problems)
}

/// Reads the factors of the bytes of inputs, weights and outputs in DRAM.
fn compression(node: &Node<'_>, problems: &mut Problems) -> Option<PerTensor<Compression>> {
    let factor = quantity("a factor above 0, at most 2, of at most 6 decimals", Compression::new);
    let factors = list("factors", factor)(node, problems)?;
    three(factors, "factors", node, problems)
}

/// The `values` of inputs, weights and outputs, of which there must be three.
fn three<T>(
    values: Vec<T>,
    what: &str,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<PerTensor<T>> {
    let three = <[T; 3]>::try_from(values).ok();
    if three.is_none() {
        let expected = format!("three numbers: {what} of inputs, weights and outputs");
        problems.push(node.mismatch(&expected));
    }
    three.map(PerTensor::from)
}

/// Reads one value for all levels of a network, or a list with one for each, outermost first.
fn levels<T>(
    read: impl Fn(&Node<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<Vec<T>> {
    let each = list("levels", read);
    move |node, problems| {
        let Value::List(items) = &node.value else {
            let one = Node { span: node.span.clone(), value: Value::List(vec![node.clone()]) };
            return each(&one, problems);
        };
        if items.len() > Noc::MAX_LEVELS {
            let expected = format_args!("at most {} levels", Noc::MAX_LEVELS);
            problems.push(node.mismatch(&expected));
            return None;
        }
        each(node, problems)
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
    let mut fields = Fields::of(node, "an energy table", problems)?.with_renamed(&OLD_ENERGY);
    let mac_nj = fields.required("mac_nj", number(0.0..=1e6));
    let scratchpad_per_mac = fields.required("scratchpad_per_mac", number(0.0..=1e6));
    let shared_memory_per_mac = fields.required("shared_memory_per_mac", number(0.0..=1e6));
    let dram_per_mac = fields.required("dram_per_mac", number(0.0..=1e6));
    fields.finish();
    Some(EnergyTable {
        mac_nj: mac_nj?,
        scratchpad_per_mac: scratchpad_per_mac?,
        shared_memory_per_mac: shared_memory_per_mac?,
        dram_per_mac: dram_per_mac?,
    })
}

/// Reads the operations of PEs and the widths of operands.
fn datapath(node: &Node<'_>, problems: &mut Problems) -> Option<Datapath> {
    let default = Datapath::default();
    let mut fields = Fields::of(node, "a datapath", problems)?;
    let macs = fields.optional("macs_per_pe_cycle", number(1..=1 << 16));
    let vector_lanes = fields.optional("vector_lanes", number(1..=Accelerator::MAX_PES));
    let units_limit = fields.optional("units_limit", number(1..=Accelerator::MAX_PES));
    let mut twice = Vec::new();
    let mut width = |[bytes, bits]: [&'static str; 2], default: Width| {
        let in_bytes = fields.optional(bytes, at(number(1..=64)));
        let in_bits = fields.optional(bits, number(1..=Width::MAX.bits()));
        match (in_bytes, in_bits) {
            (None, None) => default,
            (Some(bytes), None) => Width::of_bytes(bytes.value),
            (None, Some(bits)) => Width::of_bits(bits),
            (Some(At { span, .. }), Some(_)) => {
                let message = format!("`{bytes}` and `{bits}` both give one width; leave one out");
                twice.push(Problem::new(span, message));
                default
            }
        }
    };
    let widths = Widths {
        input: width(["input_bytes", "input_bits"], default.widths.input),
        weight: width(["weight_bytes", "weight_bits"], default.widths.weight),
        partial_sum: width(["partial_sum_bytes", "partial_sum_bits"], default.widths.partial_sum),
        output: width(["output_bytes", "output_bits"], default.widths.output),
    };
    fields.finish();
    twice.into_iter().for_each(|problem| problems.push(problem));
    let macs_per_pe_cycle = macs.unwrap_or(default.macs_per_pe_cycle);
    Some(Datapath { macs_per_pe_cycle, vector_lanes, units_limit, widths })
}

/// Reads the energy of a byte of a memory \[pJ\], or `by-size`.
fn memory_energy(node: &Node<'_>, problems: &mut Problems) -> Option<MemoryEnergy> {
    let energy = number_or("by-size", 0.0..=1e9)(node, problems)?;
    Some(energy.map_or(MemoryEnergy::BySize, MemoryEnergy::PerByte))
}

/// Reads energies in pJ; missing ones follow from widths and sizes of memories.
fn byte_energy(node: &Node<'_>, problems: &mut Problems) -> Option<ByteEnergy> {
    let default = ByteEnergy::default();
    let mut fields =
        Fields::of(node, "an energy table in pJ", problems)?.with_renamed(&OLD_BYTE_ENERGY);
    let mut of_memory = |key| fields.optional(key, memory_energy).unwrap_or_default();
    let scratchpad = of_memory("scratchpad_per_byte");
    let cluster = of_memory("cluster_per_byte");
    let shared_memory = of_memory("shared_memory_per_byte");
    let mut energy = |key| fields.optional(key, number(0.0..=1e9));
    let table = ByteEnergy {
        mac: energy("mac"),
        register: energy("register_per_byte").unwrap_or(default.register),
        scratchpad,
        cluster,
        shared_memory,
        noc: energy("noc_per_byte").unwrap_or(default.noc),
        forward: energy("forward_per_byte").unwrap_or(default.forward),
        dram: energy("dram_per_byte").unwrap_or(default.dram),
        leakage: energy("leakage_per_cycle").unwrap_or(default.leakage),
        clock: energy("clock_per_cycle").unwrap_or(default.clock),
        idle: energy("idle_per_cycle").unwrap_or(default.idle),
    };
    fields.finish();
    Some(table)
}
