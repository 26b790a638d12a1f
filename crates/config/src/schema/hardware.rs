//! Schemas of `style:`, `platform:` and `system:` files.

use serde_json::json;

use super::form::{
    Form, Key, any_of, dataflow, exactly, flag, list, name, number, object, optional, required,
    whole, word,
};
use super::technology;
use crate::hardware::{CLASSES, MAX_BANDWIDTH, MAX_BYTES, MAX_LATENCY, MAX_SHARE};
use xrsim_model::hardware::{Accelerator, Flexibility, MappingObjective, Noc, System, Width};

pub(super) fn style() -> Form {
    let share = |meaning: &str| whole(1..=MAX_SHARE).says(meaning);
    let as_pes = "Without it, `pe_share`.";
    let accelerator = object(
        [
            required("dataflow", dataflow().says("Dataflow of the accelerator")),
            required(
                "pe_share",
                share("Share of the PEs")
                    .remark("It is relative to the sum over all accelerators."),
            ),
            optional("noc_share", share("Share of the bandwidth of the NoC").remark(as_pes)),
            optional("shared_memory_share", share("Share of the shared memory").remark(as_pes)),
            optional("dram_share", share("Share of the DRAM bandwidth").remark(as_pes)),
        ]
        .into_iter()
        .chain(mapping()),
    );
    object(
        [
            required("name", name().says("Name of the style")),
            required(
                "class",
                word(CLASSES.map(|(word, _)| word)).says("Class of the style").remark(
                    "FDA: one accelerator. SFDA: several with one dataflow. HDA: several with different \
                     ones.",
                ),
            ),
            required(
                "accelerators",
                accelerators(accelerator.says("An accelerator of the style"))
                    .says("Accelerators with their shares"),
            ),
        ]
        .into_iter()
        .chain(mapping()),
    )
    .says("Rule that makes a system of any number of PEs on a platform")
}

pub(super) fn platform() -> Form {
    let clock = required("clock_mhz", clock());
    let energy = required("energy", energy());
    let instance = object(
        [required("name", name().says("Name of the accelerator")), required("pes", pes())]
            .into_iter()
            .chain(resources()),
    )
    .says("An accelerator of the table");
    let needed: Vec<_> = RESOURCES.to_vec();
    let table = object([
        required("name", name().says("Name of the table")),
        optional(
            "each",
            object(resources_required())
                .says("Resources of every instance that gives none of its own"),
        ),
        required("instances", accelerators(instance).says("Accelerators with their PEs")),
    ])
    .with("if", json!({"required": ["each"]}))
    .with("else", json!({"properties": {"instances": {"items": {"required": needed}}}}))
    .says("Resources of every accelerator, for one division of the PEs");
    object([
        required("name", name().says("Name of the platform")),
        clock,
        energy,
        optional("datapath", datapath()),
        optional("energy_pj", byte_energy()),
        optional("technology", technology::choice()),
        optional(
            "budget",
            object(resources_required()).says(
                "Resources of one chip, which the accelerators of a style split by their shares",
            ),
        ),
        optional(
            "tables",
            list(table).says(
                "Resources of every accelerator, for the listed divisions of the PEs only; in place of \
                 `budget`",
            ),
        ),
    ])
    .with("oneOf", json!([{"required": ["budget"]}, {"required": ["tables"]}]))
    .says("Clock, energies, bandwidths and memories of a chip, on which a style becomes a system")
}

pub(super) fn system() -> Form {
    let accelerator = object(
        [
            required("name", name().says("Name of the accelerator")),
            required("dataflow", dataflow().says("Dataflow of the accelerator")),
            required(
                "pes",
                pes().remark("At least the product of the cluster sizes of the dataflow."),
            ),
            optional("clock_mhz", clock()),
            optional("energy", energy()),
            optional("datapath", datapath()),
            optional("energy_pj", byte_energy()),
        ]
        .into_iter()
        .chain(mapping())
        .chain(resources_required()),
    )
    .says("An accelerator; its values go before those of the system");
    let inherited = ["clock_mhz", "energy"].map(|key| {
        let missing = json!({"properties": {"accelerators": {"items": {"required": [key]}}}});
        json!({"if": {"required": [key]}, "else": missing})
    });
    object(
        [
            required("name", name().says("Name of the system")),
            optional("clock_mhz", clock().remark("It is that of accelerators that give none.")),
            optional("energy", energy()),
            optional("datapath", datapath()),
            optional("energy_pj", byte_energy()),
            optional("technology", technology::choice()),
            required(
                "accelerators",
                accelerators(accelerator).says("Accelerators that run side by side"),
            ),
        ]
        .into_iter()
        .chain(mapping()),
    )
    .with("allOf", json!(inherited))
    .says("One or more accelerators in full, which need no platform")
}

fn accelerators(item: Form) -> Form {
    list(item).at_most(System::MAX_ACCELERATORS)
}

fn pes() -> Form {
    whole(1..=Accelerator::MAX_PES).says("Number of PEs")
}

fn clock() -> Form {
    number(1e-6..=1e6).says("Clock [MHz]")
}

/// Keys of the choice of mappings.
fn mapping() -> [Key; 2] {
    [
        optional(
            "flexibility",
            flexibility().remark("Without it, that of the dataflow, or `tiles`."),
        ),
        optional(
            "mapping_objective",
            word(MappingObjective::ALL.map(|(word, _)| word))
                .or(MappingObjective::DEFAULT.name())
                .says("Quantity that the choices for each layer have least of")
                .remark("`edp` is the product of energy and latency."),
        ),
    ]
}

pub(super) fn flexibility() -> Form {
    word(Flexibility::ALL.map(|(word, _)| word))
        .says("What the hardware may choose for each layer; each word includes those before it")
}

/// Keys of the resources that nothing else supplies.
const RESOURCES: [&str; 4] = [
    "noc_bandwidth_bytes_per_cycle",
    "shared_memory_kib",
    "scratchpad_kib",
    "dram_bandwidth_bytes_per_cycle",
];

fn resources_required() -> Vec<Key> {
    let required = |key: Key| {
        let is_required = RESOURCES.contains(&key.name());
        key.required_if(is_required)
    };
    resources().into_iter().map(required).collect()
}

/// Keys of bandwidths and memories.
fn resources() -> Vec<Key> {
    let bandwidth = || levels(whole(1..=MAX_BANDWIDTH));
    let flags = |key: &str, default: bool, meaning: &str| {
        optional(key, levels(flag()).or(default).says(meaning))
    };
    let fill = any_of([whole(0..=MAX_LATENCY), word(["systolic"])]);
    vec![
        optional(
            "noc_bandwidth_bytes_per_cycle",
            bandwidth().says("Bandwidth of the NoC toward the PEs [byte/cycle]"),
        ),
        optional(
            "noc_up_bandwidth_bytes_per_cycle",
            bandwidth()
                .says("Bandwidth of partial sums toward the shared memory [byte/cycle]")
                .remark("Without it, `noc_bandwidth_bytes_per_cycle`."),
        ),
        optional(
            "noc_weight_bandwidth_bytes_per_cycle",
            bandwidth()
                .says("Bandwidth of a separate network for weights [byte/cycle]")
                .remark("Without it, weights share the bandwidth of inputs."),
        ),
        optional(
            "noc_latency_cycles",
            levels(whole(0..=MAX_LATENCY)).or(1).says("Latency of a NoC level [cycle]"),
        ),
        optional(
            "noc_fill_cycles",
            levels(fill)
                .or(0)
                .says("Cycles at the begin of every fold that nothing hides")
                .remark(
                    "`systolic`: by the units of the level and of the next one, as where PEs pass operands \
                     on to their neighbours.",
                ),
        ),
        flags(
            "noc_step_latency",
            false,
            "Whether every step pays the latency; otherwise only the first fill and the last drain do",
        ),
        flags("noc_multicast", true, "Whether one send serves all units that need the element"),
        flags(
            "noc_forward",
            false,
            "Whether a unit gets an element from the neighbour that held it in the step before",
        ),
        flags(
            "noc_reduce",
            true,
            "Whether partial sums of one output are added on their way up",
        ),
        flags(
            "noc_single_weights",
            false,
            "Whether units hold a single copy of their weights, so that loading weights is exposed",
        ),
        optional("shared_memory_kib", kib().says("Shared memory of the accelerator (L2) [KiB]")),
        optional("scratchpad_kib", kib().says("Scratchpad of one PE (L1) [KiB]")),
        optional(
            "cluster_memory_kib",
            levels(kib())
                .says("Buffer of every unit that is a cluster [KiB]")
                .remark("Without it, no limit."),
        ),
        optional(
            "dram_bandwidth_bytes_per_cycle",
            whole(1..=MAX_BANDWIDTH).says("DRAM bandwidth [byte/cycle]"),
        ),
        optional(
            "dram_latency_cycles",
            whole(0..=MAX_LATENCY).or(0).says("Latency of DRAM [cycle]"),
        ),
        optional(
            "shared_memory_copies",
            exactly(3, whole(1_u32..=16), "three whole numbers from 1 to 16")
                .or(json!([2, 2, 2]))
                .says(
                    "Copies of a tile that the shared memory holds while the tile changes, of inputs, \
                     weights and outputs",
                ),
        ),
        optional(
            "dram_bytes_factors",
            exactly(3, factor(), "three numbers above 0, at most 2, of at most 6 decimals")
                .or(json!([1, 1, 1]))
                .says("Bytes in DRAM for a byte on chip, of inputs, weights and final outputs"),
        ),
    ]
}

/// A factor of compression.
fn factor() -> Form {
    Form::of(json!({"type": "number", "exclusiveMinimum": 0, "maximum": 2}), "")
}

/// One value for all levels of the NoC, or a list with one for each.
fn levels(item: Form) -> Form {
    let each = list(item.clone()).at_most(Noc::MAX_LEVELS);
    any_of([
        item.allowed_with(", or a list with one for each NoC level, outermost first"),
        each.allowed(""),
    ])
}

/// A size of a memory \[KiB\].
fn kib() -> Form {
    let most = MAX_BYTES / 1024.0;
    // The step is a power of two, so that remainders are exact.
    number(1.0 / 1024.0..=most)
        .with("multipleOf", 1.0 / 1024.0)
        .allowed("a number above 0 that is a whole number of bytes")
}

fn energy() -> Form {
    let energy = |meaning: &str| number(0.0..=1e6).says(meaning);
    let multiple =
        |of: &str| energy(&format!("Energy of an access to {of}, in multiples of `mac_nj`"));
    object([
        required("mac_nj", energy("Energy of a multiply-accumulate [nJ]")),
        required("scratchpad_per_mac", multiple("a scratchpad")),
        required("shared_memory_per_mac", multiple("the shared memory")),
        required("dram_per_mac", multiple("DRAM")),
    ])
    .says("Energies as the cost model `maestro` needs them")
    .remark("`loop-nest` takes those of `energy_pj`.")
}

fn datapath() -> Form {
    let pes = || whole(1..=Accelerator::MAX_PES);
    let mut keys = vec![
        optional(
            "macs_per_pe_cycle",
            whole(1_u32..=1 << 16).or(1).says("Multiply-accumulates per PE and cycle"),
        ),
        optional(
            "vector_lanes",
            pes()
                .says("Operations per cycle on operators without multiply-accumulates")
                .remark("Without it, one per PE."),
        ),
        optional(
            "units_limit",
            pes().says("Most outermost units of a dataflow, if the array has a fixed shape"),
        ),
    ];
    for (key, what, bytes) in [
        ("input", "inputs", 1),
        ("weight", "weights", 1),
        ("partial_sum", "partial sums", 4),
        ("output", "outputs", 1),
    ] {
        let in_bytes = whole(1_u32..=64).or(bytes).says(format!("Width of {what} [byte]"));
        let in_bits = whole(1..=Width::MAX.bits()).says(format!("Width of {what} [bit]"));
        keys.push(optional(format!("{key}_bytes"), in_bytes));
        let remark = format!("It stands in place of `{key}_bytes`.");
        keys.push(optional(format!("{key}_bits"), in_bits.remark(remark)));
    }
    let both = ["input", "weight", "partial_sum", "output"]
        .map(|key| json!({"not": {"required": [format!("{key}_bytes"), format!("{key}_bits")]}}));
    object(keys).with("allOf", json!(both)).says("Operations of PEs and widths of operands")
}

fn byte_energy() -> Form {
    const MOST: f64 = 1e9;
    let energy = |meaning: &str| number(0.0..=MOST).says(meaning);
    let memory = |of: &str, default: &str| {
        any_of([number(0.0..=MOST), word(["by-size"])])
            .says(format!("Energy of a byte of {of} [pJ/byte]"))
            .remark(format!("`by-size`: by the size of the memory. Without it, {default}."))
    };
    object([
        optional("scratchpad_per_byte", memory("a scratchpad", "that of 0.5 KiB")),
        optional("cluster_per_byte", memory("the buffer of a cluster", "that of 8 KiB")),
        optional("shared_memory_per_byte", memory("the shared memory", "`by-size`")),
        optional(
            "mac",
            energy("Energy of a multiply-accumulate [pJ]")
                .remark("Without it, by the widths of operands: 0.3 for 8 bits."),
        ),
        optional("register_per_byte", energy("Energy of a byte of a register [pJ/byte]").or(0.03)),
        optional("noc_per_byte", energy("Energy of a byte on the NoC [pJ/byte]").or(0.6)),
        optional(
            "forward_per_byte",
            energy("Energy of a byte from one unit to its neighbour [pJ/byte]").or(0.6),
        ),
        optional("dram_per_byte", energy("Energy of a byte of DRAM [pJ/byte]").or(162.5)),
        optional(
            "leakage_per_cycle",
            energy("Leakage of a computing accelerator [pJ/cycle]").or(0),
        ),
        optional(
            "clock_per_cycle",
            energy("Energy of clock and control of a computing accelerator [pJ/cycle]").or(0),
        ),
        optional(
            "idle_per_cycle",
            energy("Energy of an idle accelerator [pJ/cycle]")
                .or(0)
                .remark("Runs report the sum, and no score counts it."),
        ),
    ])
    .says("Energies as the cost model `loop-nest` needs them")
}
