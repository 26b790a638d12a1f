//! `style:`, `system:` and `platform:` files: hardware.

pub(crate) mod datapath;
pub(crate) mod energy;
mod names;
mod unused;

use std::sync::Arc;

use serde_json::json;

use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::platform::{Budget, Instance, Platform, Resources, Table};
use xrsim_model::hardware::{
    Compression, Datapath, DeadlineShare, Dram, Fill, Flexibility, Fusion, MappingObjective,
    MappingSettings, Memory, Noc, Share, Style, System, WriteBack, WriteBackSettings,
};
use xrsim_model::model::PerTensor;
use xrsim_model::renamed::Renamed;
use xrsim_model::units::{Bytes, ClockRate};

use super::form::{self, Form};
use super::quantities::{clock, pes};
use super::technology::{self, RawTechnology};
use super::yaml::keys::{keys, mapping};
use super::yaml::read::{At, Problems};
use super::yaml::values::{
    List, Reader, at_most, converted, flag, list, number, number_or, one_of, proper_name, tried,
};
use super::yaml::{Node, Value};
use super::{Problem, reference};
use datapath::datapath;
use energy::{RawEnergies, energies};
pub(crate) use names::{are_different, names_once};
pub use unused::{LIMITED_KEYS, LimitedKey};
pub(super) use unused::{Unused, place_of_key, unused};

/// Largest bandwidth of a NoC level or memory [byte/cycle].
pub(crate) const MAX_BANDWIDTH: u64 = 1 << 32;
/// Largest latency of a NoC level or DRAM [cycle].
pub(crate) const MAX_LATENCY: u64 = 1 << 20;
/// Largest memory \[byte\]: 256 TiB, below which numbers of KiB are exact.
const MAX_BYTES: f64 = 281_474_976_710_656.0;
/// Largest share of the PEs.
const MAX_SHARE: u32 = 1024;
/// Classes of styles.
const CLASSES: [(&str, &str); 3] = [("FDA", "FDA"), ("SFDA", "SFDA"), ("HDA", "HDA")];

/// Old keys of accelerators, instances and budgets.
pub(crate) const OLD_RESOURCES: [Renamed; 3] = [
    Renamed::key("local_memory_kib", "scratchpad_kib"),
    Renamed::key("offchip_bandwidth_bytes_per_cycle", "dram_bandwidth_bytes_per_cycle"),
    Renamed::key("offchip_latency_cycles", "dram_latency_cycles"),
];
/// Old keys of an accelerator of a style.
const OLD_SHARES: [Renamed; 1] = [Renamed::key("offchip_share", "dram_share")];
keys! {
    /// Rule that makes a system of any number of PEs on a platform.
    pub(super) fn style() -> struct RawStyle: "a style" {
        /// Name of the style.
        name: Box<str> = required(proper_name());
        /// Class of the style. FDA: one accelerator. SFDA: several with one dataflow. HDA: several with different ones.
        class: &'static str = required(one_of(&CLASSES));
        mapping: MappingSettings = among(choices());
        /// Accelerators with their shares.
        accelerators: Vec<RawShare> = required(accelerators(share()));
    }
}

keys! {
    /// An accelerator of the style.
    fn share() -> struct RawShare: "an accelerator of a style", OLD_SHARES {
        /// Dataflow of the accelerator.
        dataflow: At<Box<str>> = required(reference::dataflow());
        /// Share of the PEs. It is relative to the sum over all accelerators.
        pe_share: u32 = required(number(1..=MAX_SHARE));
        /// Share of the bandwidth of the NoC. Without it, `pe_share`.
        noc_share: Option<u32> = optional(number(1..=MAX_SHARE));
        /// Share of the shared memory. Without it, `pe_share`.
        shared_memory_share: Option<u32> = optional(number(1..=MAX_SHARE));
        /// Share of the DRAM bandwidth. Without it, `pe_share`.
        dram_share: Option<u32> = optional(number(1..=MAX_SHARE));
        mapping: MappingSettings = among(choices());
    }
}

keys! {
    /// Settings of the choice of mappings.
    pub(crate) fn choices() -> MappingSettings: "settings" {
        /// What the hardware may choose for each layer; each word includes those before it. Without it, that of the
        /// dataflow, or `tiles`.
        flexibility = optional(one_of(&Flexibility::ALL));
        /// Quantity that the choices for each layer have least of. `edp` is the product of energy and latency. `deadline`
        /// is the energy of networks that keep the rates of their models.
        objective as "mapping_objective" =
            optional(one_of(&MappingObjective::ALL).with_default(MappingObjective::DEFAULT.name()));
        /// Part of the time that the models of a scenario may fill with the objective `deadline`.
        deadline_share as "mapping_deadline_share" = optional(deadline_share().with_default(DeadlineShare::DEFAULT.get()));
        write_back = among(write_back());
        /// Models of the scenario whose weights stay in the shared memory, from before a run to its end. Each accelerator
        /// has a copy.
        pinned = optional(names_once("tasks"));
    }
}

keys! {
    /// Operators that ride along with layers.
    fn write_back() -> WriteBackSettings: "settings" {
        /// Operators that cost no pass through memory of their own. `in-place`: concatenations. `elementwise`: these,
        /// and element-wise operators and pools on the outputs of a layer before these are written. Without it, that of
        /// the platform, or `none`.
        fusion = optional(one_of(&Fusion::ALL));
        /// Largest number of other operands that the operators riding along with a layer read. Default: the
        /// value of the platform, or 1.
        fused_reads = optional(number(0..=WriteBack::MAX_READS));
        /// Operations in a cycle on outputs that leave. Without it, that of the platform, or one on each output that
        /// leaves in a cycle.
        post_ops_per_cycle = optional(pes());
    }
}

/// A part of the time.
fn deadline_share() -> impl Reader<Value = DeadlineShare> {
    let (least, most) = DeadlineShare::RANGE.into_inner();
    let form = || form::number(DeadlineShare::RANGE);
    converted(format!("a number from {least} to {most}"), form, DeadlineShare::new)
}

keys! {
    /// Settings of the DRAM.
    pub(crate) fn dram() -> struct RawDram: "settings" {
        /// What an accelerator has of the DRAM bandwidth. `split`: its part. `shared`: all of it while the others leave it
        /// alone; those that run share it.
        dram: Option<Dram> = optional(one_of(&Dram::ALL).with_default(Dram::default().name()));
    }
}

impl RawDram {
    /// The setting, or its default.
    pub(crate) fn value(&self) -> Dram {
        self.dram.unwrap_or_default()
    }
}

/// A list of accelerators.
pub(crate) fn accelerators<T>(accelerator: impl Reader<Value = T>) -> impl Reader<Value = Vec<T>> {
    at_most(System::MAX_ACCELERATORS, list("accelerators", accelerator))
}

impl RawStyle {
    /// Names of the dataflows, with their places.
    pub(super) fn dataflows(&self) -> impl Iterator<Item = &At<Box<str>>> {
        self.accelerators.iter().map(|share| &share.dataflow)
    }

    /// The style of these `dataflows`, one for each name.
    pub(crate) fn resolve(self, dataflows: Vec<Arc<Dataflow>>) -> Style {
        let share = |(dataflow, raw): (_, RawShare)| {
            let pes = raw.pe_share;
            Share {
                dataflow,
                pes,
                noc: raw.noc_share.unwrap_or(pes),
                shared_memory: raw.shared_memory_share.unwrap_or(pes),
                dram: raw.dram_share.unwrap_or(pes),
                mapping: raw.mapping,
            }
        };
        let shares = dataflows.into_iter().zip(self.accelerators).map(share).collect();
        Style { mapping: self.mapping, ..Style::new(self.name, self.class, shares) }
    }
}

/// Body of a `platform:` file, and its technology.
pub(super) fn platform() -> impl Reader<Value = (Platform, Option<RawTechnology>)> {
    raw_platform().then(|raw, _, problems| raw.check(problems)).shaped(|form| {
        let resources = json!([{"required": ["budget"]}, {"required": ["tables"]}]);
        energy::alone(form).with("oneOf", resources).with("allOf", json!([energy::given()]))
    })
}

keys! {
    /// Clock, energies, bandwidths and memories of a chip, on which a style becomes a system.
    fn raw_platform() -> struct RawPlatform: "a platform" {
        /// Name of the platform.
        name: Box<str> = required(proper_name());
        /// Clock \[MHz\].
        clock_mhz: ClockRate = required(clock());
        energies: RawEnergies = among(energies(true));
        datapath: Datapath = or_default(datapath());
        write_back: WriteBackSettings = among(write_back());
        technology: Option<Option<RawTechnology>> = optional(tried(technology::choice()));
        dram: RawDram = among(dram());
        /// Resources of one chip, which the accelerators of a style split by their shares.
        budget: Option<RawResources> = unless("tables", resources());
        /// Resources of every accelerator, for the listed divisions of the PEs only; in place of `budget`.
        tables: Option<Vec<Table>> = if_given(list("tables", table()));
    }
}

impl RawPlatform {
    fn check(self, problems: &mut Problems) -> Option<(Platform, Option<RawTechnology>)> {
        if self.energies.is_wrong {
            return None;
        }
        let budget = |raw: RawResources| {
            let (noc, memory) = raw.over(None)?;
            Some(Resources::Budget(Box::new(Budget::new(noc, memory))))
        };
        let resources =
            self.tables.map(Resources::Tables).or_else(|| self.budget.and_then(budget))?;
        if let Some(span) = self.energies.cluster_by_size()
            && lacks_cluster_size(&resources)
        {
            let message = "`cluster_per_byte: by-size` needs the key `cluster_memory_kib`";
            problems.push(Problem::new(span.clone(), message));
            return None;
        }
        let energies = self.energies.over(None, &self.datapath.widths, problems);
        let (byte_energy, table) = (energies.bytes, energies.own_table());
        let platform = Platform::new(self.name, self.clock_mhz, table, resources);
        let write_back = self.write_back.over(WriteBack::default());
        let dram = self.dram.value();
        let datapath = self.datapath;
        let platform = Platform { datapath, write_back, byte_energy, dram, ..platform };
        Some((platform, self.technology.map_or(Some(None), |it| it.map(Some))?))
    }
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

/// Resources of every accelerator, for one division of the PEs.
fn table() -> impl Reader<Value = Table> {
    mapping("a table", |fields| {
        let name = fields.about("Name of the table.").required("name", proper_name());
        let about = "Resources of every instance that gives none of its own.";
        let each = fields.about(about).optional("each", resources());
        let above = if fields.may_give("each") { RESOURCES.to_vec() } else { Vec::new() };
        let instances = accelerators(instance().inheriting(above));
        let about = "Accelerators with their PEs.";
        let instances = fields.about(about).required("instances", instances);
        let each = each.and_then(|each| each.over(None));
        let instances = instances?.into_iter().map(|raw| raw.resolve(each.as_ref()));
        Some(Table { name: name?, instances: instances.collect::<Option<_>>()? })
    })
    .about("Resources of every accelerator, for one division of the PEs.")
    .shaped(|form| {
        let all = json!({"properties": {"instances": {"items": {"required": RESOURCES}}}});
        form.with("if", json!({"required": ["each"]})).with("else", all)
    })
}

keys! {
    /// An accelerator of the table.
    fn instance() -> struct RawInstance: "an instance", OLD_RESOURCES {
        resources: RawResources = among(resources());
        /// Name of the accelerator.
        name: Box<str> = required(proper_name());
        /// Number of PEs.
        pes: u32 = required(pes());
    }
}

impl RawInstance {
    /// The instance, with the values of `each` that it does not have.
    fn resolve(self, each: Option<&(Noc, Memory)>) -> Option<Instance> {
        let (noc, memory) = self.resources.over(each)?;
        Some(Instance { name: self.name, pes: self.pes, noc, memory })
    }
}

/// Keys of the resources that nothing else supplies.
const RESOURCES: [&str; 4] = [
    "noc_bandwidth_bytes_per_cycle",
    "shared_memory_kib",
    "scratchpad_kib",
    "dram_bandwidth_bytes_per_cycle",
];

keys! {
    /// Bandwidths and memories of an accelerator or a chip.
    pub(crate) fn resources() -> struct RawResources: "a set of resources", OLD_RESOURCES {
        /// Bandwidth of the NoC toward the PEs [byte/cycle].
        noc_bandwidth_bytes_per_cycle: Option<Vec<u64>> = inherited(bandwidths());
        /// Bandwidth of partial sums toward the shared memory [byte/cycle]. Without it, `noc_bandwidth_bytes_per_cycle`.
        noc_up_bandwidth_bytes_per_cycle: Vec<u64> = or_default(bandwidths());
        /// Bandwidth of a separate network for weights [byte/cycle]. Without it, weights share the bandwidth of inputs.
        noc_weight_bandwidth_bytes_per_cycle: Vec<u64> = or_default(bandwidths());
        /// Latency of a NoC level \[cycle\].
        noc_latency_cycles: Vec<u64> =
            or_default(levels(number(0..=MAX_LATENCY)).with_default(1));
        /// Cycles at the beginning of every fold that nothing hides. `systolic`: by the units of the level and of the next
        /// one, as where PEs pass operands on to their neighbours.
        noc_fill_cycles: Vec<Option<u64>> =
            or_default(levels(number_or("systolic", 0..=MAX_LATENCY)).with_default(0));
        /// Whether every step pays the latency; otherwise only the first fill and the last drain do.
        noc_step_latency: Vec<bool> = or_default(levels(flag()).with_default(false));
        /// Whether one send serves all units that need the element.
        noc_multicast: Vec<bool> = or_default(levels(flag()).with_default(true));
        /// Whether a unit gets an element from the neighbour that held it in the step before.
        noc_forward: Vec<bool> = or_default(levels(flag()).with_default(false));
        /// Whether partial sums of one output are added on their way up.
        noc_reduce: Vec<bool> = or_default(levels(flag()).with_default(true));
        /// Whether units hold a single copy of their weights, so that loading weights is exposed.
        noc_single_weights: Vec<bool> = or_default(levels(flag()).with_default(false));
        /// Shared memory of the accelerator (L2) \[KiB\].
        shared_memory_kib: Option<Bytes> = inherited(kib());
        /// Scratchpad of one PE (L1) \[KiB\].
        scratchpad_kib: Option<Bytes> = inherited(kib());
        /// Buffer of every unit that is a cluster \[KiB\]. Without it, no limit.
        cluster_memory_kib: Option<Vec<Bytes>> = optional(levels(kib()));
        /// DRAM bandwidth [byte/cycle].
        dram_bandwidth_bytes_per_cycle: Option<u64> = inherited(number(1..=MAX_BANDWIDTH));
        /// Latency of DRAM \[cycle\].
        dram_latency_cycles: Option<u64> = optional(number(0..=MAX_LATENCY).with_default(0));
        /// Copies of a tile that the shared memory holds while the tile changes, of inputs, weights and outputs.
        shared_memory_copies: Option<PerTensor<u32>> =
            optional(copies().with_default(json!([2, 2, 2])));
        /// Bytes in DRAM for a byte on chip, of inputs, weights and final outputs.
        dram_bytes_factors: Option<PerTensor<Compression>> =
            optional(compression().with_default(json!([1, 1, 1])));
    }
}

impl RawResources {
    /// NoC and memory, with the values of `default` where none are given.
    pub(crate) fn over(&self, default: Option<&(Noc, Memory)>) -> Option<(Noc, Memory)> {
        Some((
            self.noc(default.map(|(noc, _)| noc))?,
            self.memory(default.map(|(_, memory)| memory))?,
        ))
    }

    fn noc(&self, default: Option<&Noc>) -> Option<Noc> {
        let bandwidths = self.noc_bandwidth_bytes_per_cycle.as_deref().unwrap_or_default();
        let mut noc = match default {
            Some(noc) => noc.clone(),
            None => Noc::of_bandwidths(bandwidths)?,
        };
        let fill = |it: Option<u64>| it.map_or(Fill::Systolic, Fill::Cycles);
        let [up, weights] =
            [&self.noc_up_bandwidth_bytes_per_cycle, &self.noc_weight_bandwidth_bytes_per_cycle];
        noc.set(bandwidths, |level, it| level.bandwidth = it);
        noc.set(up, |level, it| level.up_bandwidth = Some(it));
        noc.set(weights, |level, it| level.weight_bandwidth = Some(it));
        noc.set(&self.noc_latency_cycles, |level, it| level.latency = it);
        noc.set(&self.noc_fill_cycles, |level, it| level.fill = fill(it));
        noc.set(&self.noc_step_latency, |level, it| level.step_latency = it);
        noc.set(&self.noc_multicast, |level, it| level.multicast = it);
        noc.set(&self.noc_forward, |level, it| level.forward = it);
        noc.set(&self.noc_reduce, |level, it| level.reduce = it);
        noc.set(&self.noc_single_weights, |level, it| level.single_weights = it);
        Some(noc)
    }

    fn memory(&self, default: Option<&Memory>) -> Option<Memory> {
        let shared = self.shared_memory_kib.or(default.map(|it| it.shared))?;
        let scratchpad = self.scratchpad_kib.or(default.map(|it| it.scratchpad))?;
        let dram = self.dram_bandwidth_bytes_per_cycle.or(default.map(|it| it.dram_bandwidth))?;
        let memory = Memory::new(shared, scratchpad, dram);
        let default = default.unwrap_or(&memory);
        Some(Memory {
            clusters: self.cluster_memory_kib.clone().unwrap_or_else(|| default.clusters.clone()),
            dram_latency: self.dram_latency_cycles.unwrap_or(default.dram_latency),
            shared_copies: self.shared_memory_copies.unwrap_or(default.shared_copies),
            compression: self.dram_bytes_factors.unwrap_or(default.compression),
            ..memory.clone()
        })
    }
}

fn bandwidths() -> impl Reader<Value = Vec<u64>> {
    levels(number(1..=MAX_BANDWIDTH))
}

/// Copies of inputs, weights and outputs.
fn copies() -> impl Reader<Value = PerTensor<u32>> {
    three("copies", number(1..=16), "three whole numbers from 1 to 16")
}

/// Factors of the bytes of inputs, weights and outputs in DRAM.
fn compression() -> impl Reader<Value = PerTensor<Compression>> {
    let form = || Form::new(json!({"type": "number", "exclusiveMinimum": 0, "maximum": 2}), "");
    let expected = "a factor above 0, at most 2, of at most 6 decimals";
    let factor = converted(expected, form, Compression::new);
    three("factors", factor, "three numbers above 0, at most 2, of at most 6 decimals")
}

/// Values of inputs, weights and outputs; `allowed` is their description.
fn three<T>(
    what: &'static str,
    value: impl Reader<Value = T>,
    allowed: &'static str,
) -> impl Reader<Value = PerTensor<T>> {
    let three = move |values: Vec<T>, node: &Node<'_>, problems: &mut Problems| {
        let three = <[T; 3]>::try_from(values).ok();
        if three.is_none() {
            let expected = format!("three numbers: {what} of inputs, weights and outputs");
            problems.push(node.mismatch(&expected));
        }
        three.map(PerTensor::from)
    };
    list(what, value).then(three).shaped(move |form| form.exactly(3, allowed))
}

/// One value for all levels of a network, or a list with one for each, outermost first.
fn levels<T>(value: impl Reader<Value = T>) -> impl Reader<Value = Vec<T>> {
    Levels(list("levels", value))
}

struct Levels<R>(List<R>);

impl<R: Reader> Reader for Levels<R> {
    type Value = Vec<R::Value>;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<Vec<R::Value>> {
        let Value::List(items) = &node.value else {
            return self.0.item.read(node, problems).map(|value| vec![value]);
        };
        if items.len() > Noc::MAX_LEVELS {
            let expected = format_args!("at most {} levels", Noc::MAX_LEVELS);
            problems.push(node.mismatch(&expected));
            return None;
        }
        self.0.read(node, problems)
    }

    fn form(&self) -> Form {
        let each = self.0.form().at_most(Noc::MAX_LEVELS);
        let one = self.0.item.form();
        form::any_of([
            one.allowed_with(", or a list with one for each NoC level, outermost first"),
            each.allowed(""),
        ])
    }
}

/// A size in KiB that is a whole number of bytes.
fn kib() -> impl Reader<Value = Bytes> {
    let bytes = |kib: f64| {
        let bytes = kib * 1024.0;
        let whole = (1.0..=MAX_BYTES).contains(&bytes) && bytes.fract() == 0.0;
        whole.then_some(Bytes::new(bytes as u64))
    };
    let form = || {
        // The step is a power of two, so that remainders are exact.
        form::number(1.0 / 1024.0..=MAX_BYTES / 1024.0)
            .with("multipleOf", 1.0 / 1024.0)
            .allowed("a number above 0 that is a whole number of bytes")
    };
    converted("a size in KiB, above 0 and a whole number of bytes", form, bytes)
}
