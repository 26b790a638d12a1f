//! Keys of hardware of which a cost model makes no use.

use std::fmt;

use super::super::yaml::{Node, Value};

/// A key of which some cost models make no use.
#[derive(Debug, Clone, Copy)]
pub struct LimitedKey {
    /// Name in files; of a key inside of another one, with its name.
    pub key: &'static str,
    /// Setting that changes it.
    pub setting: Option<&'static str>,
    /// Cost models that make no use of it.
    pub unused_by: &'static [&'static str],
}

const BOTH: &[&str] = &["maestro", "roofline"];

const fn limited(
    key: &'static str,
    setting: Option<&'static str>,
    unused_by: &'static [&'static str],
) -> LimitedKey {
    LimitedKey { key, setting, unused_by }
}

/// Every optional key of which some cost model makes no use, with the cost models. Keys that every file has to give are
/// left out, and flexibility, which has a warning of its own.
pub const LIMITED_KEYS: &[LimitedKey] = &[
    limited("maestro_energy", None, &["loop-nest"]),
    limited("mapping_objective", Some("mapping_objective"), BOTH),
    limited("mapping_deadline_share", Some("hardware.mapping_deadline_share"), BOTH),
    limited("fusion", Some("hardware.fusion"), BOTH),
    limited("fused_reads", Some("hardware.fused_reads"), BOTH),
    limited("post_ops_per_cycle", Some("hardware.post_ops_per_cycle"), BOTH),
    limited("pinned", Some("hardware.pinned"), BOTH),
    limited("datapath.macs_per_pe_cycle", Some("hardware.macs_per_pe_cycle"), BOTH),
    limited("datapath.vector_lanes", Some("hardware.vector_lanes"), BOTH),
    limited("datapath.units_limit", None, BOTH),
    limited("datapath.weight_bytes", None, BOTH),
    limited("datapath.weight_bits", None, BOTH),
    limited("datapath.partial_sum_bytes", Some("hardware.partial_sum_bits"), BOTH),
    limited("datapath.partial_sum_bits", None, BOTH),
    limited("datapath.output_bytes", None, BOTH),
    limited("datapath.output_bits", Some("hardware.operand_bits"), BOTH),
    limited("noc_up_bandwidth_bytes_per_cycle", None, BOTH),
    limited("noc_weight_bandwidth_bytes_per_cycle", None, BOTH),
    limited("noc_latency_cycles", Some("hardware.noc_latency_cycles"), BOTH),
    limited("noc_fill_cycles", None, BOTH),
    limited("noc_step_latency", Some("hardware.noc_step_latency"), BOTH),
    limited("noc_multicast", Some("hardware.noc_multicast"), BOTH),
    limited("noc_forward", Some("hardware.noc_forward"), BOTH),
    limited("noc_reduce", Some("hardware.noc_reduce"), BOTH),
    limited("noc_single_weights", Some("hardware.noc_single_weights"), BOTH),
    limited("cluster_memory_kib", Some("hardware.cluster_memory_kib"), BOTH),
    limited("dram_latency_cycles", Some("hardware.dram_latency_cycles"), BOTH),
    limited("shared_memory_copies", Some("hardware.shared_memory_copies"), BOTH),
    limited("dram_bytes_factors", None, BOTH),
    limited("energy_pj.register_per_byte", None, BOTH),
    limited(
        "energy_pj.scratchpad_per_byte",
        Some("hardware.scratchpad_pj_per_byte"),
        &["roofline"],
    ),
    limited("energy_pj.cluster_per_byte", Some("hardware.cluster_pj_per_byte"), BOTH),
    limited("energy_pj.noc_per_byte", Some("hardware.noc_pj_per_byte"), BOTH),
    limited("energy_pj.forward_per_byte", None, BOTH),
    limited("energy_pj.dram_per_byte", Some("hardware.dram_pj_per_byte"), &["maestro"]),
    limited("energy_pj.leakage_per_cycle", Some("hardware.leakage_pj_per_cycle"), BOTH),
    limited("energy_pj.clock_per_cycle", Some("hardware.clock_pj_per_cycle"), BOTH),
];

/// Keys that accelerators take from their system where they have none.
const INHERITED: [&str; 12] = [
    "clock_mhz",
    "energy",
    "energy_pj",
    "maestro_energy",
    "datapath",
    "flexibility",
    "mapping_objective",
    "mapping_deadline_share",
    "fusion",
    "fused_reads",
    "post_ops_per_cycle",
    "pinned",
];

/// A key that has no effect, with its place in the file.
pub(crate) struct Unused {
    /// First byte of the key.
    pub(crate) at: usize,
    message: String,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Keys of the description `body` of hardware that have no effect with a cost model: those of which it makes no use,
/// each once, and those of a system that all of its accelerators have of their own.
pub(crate) fn unused(body: &Node<'_>, cost_model: &str) -> Vec<Unused> {
    let mut found = overridden(body);
    visit(body, "", &mut |key, at| {
        let is_meant = |it: &&LimitedKey| it.key == key && it.unused_by.contains(&cost_model);
        if let Some(it) = LIMITED_KEYS.iter().find(is_meant) {
            let message = format!("the cost model `{cost_model}` makes no use of `{}`", it.key);
            if !found.iter().any(|it| it.message == message) {
                found.push(Unused { at, message });
            }
        }
    });
    found.sort_by_key(|it| it.at);
    found
}

/// Calls `on_key` with every key in `node`: its name, after that of the mapping `inside` which it stands, if that is one
/// of values of one kind.
fn visit(node: &Node<'_>, inside: &str, on_key: &mut impl FnMut(&str, usize)) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| visit(item, inside, on_key)),
        Value::Mapping(entries) => {
            for entry in entries {
                let key = match inside {
                    "datapath" | "energy_pj" => format!("{inside}.{}", entry.key),
                    _ => entry.key.to_string(),
                };
                on_key(&key, entry.key_span.start);
                visit(&entry.value, &entry.key, on_key);
            }
        }
        _ => {}
    }
}

/// First byte of the first use of a key in the description `body` of hardware, if this is called `name`.
pub(crate) fn place_of_key(body: &Node<'_>, name: &str, key: &str) -> Option<usize> {
    if body.entry("name")?.value.scalar() != Some(name) {
        return None;
    }
    let mut found = None;
    visit(body, "", &mut |it, at| {
        if it == key {
            found.get_or_insert(at);
        }
    });
    found
}

/// Keys of a system that each of its accelerators gives.
fn overridden(body: &Node<'_>) -> Vec<Unused> {
    let Value::Mapping(entries) = &body.value else { return Vec::new() };
    let accelerators = entries.iter().find(|it| it.key == "accelerators").map(|it| &it.value.value);
    let Some(Value::List(accelerators)) = accelerators else { return Vec::new() };
    let gives = |node: &Node<'_>, key: &str| match &node.value {
        Value::Mapping(own) => own.iter().any(|it| it.key == key),
        _ => false,
    };
    let inherited = entries.iter().filter(|it| INHERITED.contains(&&*it.key));
    let is_overridden = |key: &str| {
        accelerators.iter().all(|it| {
            // Energies of an accelerator go before those that a system gives in another way.
            gives(it, key) || (key == "maestro_energy" && gives(it, "energy"))
        })
    };
    let overridden = inherited.filter(|it| is_overridden(&it.key));
    let message = |key| format!("no accelerator takes `{key}` from the system: each has its own");
    overridden.map(|it| Unused { at: it.key_span.start, message: message(&it.key) }).collect()
}
