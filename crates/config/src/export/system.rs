//! Systems as YAML text.

use serde_json::{Map, Value, json};

use xrsim_model::hardware::{
    Accelerator, Dram, EnergyTable, Fill, MappingObjective, MemoryEnergy, Noc, NocLevel, Processor,
    System, Width,
};

/// The `system:` file of `system`, called `name`, below lines of comments. `reference` gives the name or
/// path of the dataflow of an accelerator.
pub fn system(
    name: &str,
    system: &System,
    comments: &[String],
    reference: impl Fn(&Accelerator) -> String,
) -> String {
    let of_place = |it: &Accelerator| match it.processor() {
        Some(power) => processor(it, power),
        None => accelerator(it, &reference(it)),
    };
    let accelerators: Vec<_> = system.accelerators().iter().map(of_place).collect();
    let mut body = Map::from_iter([("name".to_string(), json!(name))]);
    if let Some(technology) = system.technology() {
        body.insert("technology".into(), json!(technology.name()));
    }
    if system.dram() != Dram::default() {
        body.insert("dram".into(), json!(system.dram().name()));
    }
    body.insert("accelerators".into(), accelerators.into());
    let comments: String = comments.iter().map(|line| format!("# {line}\n")).collect();
    comments + &super::document("system", body)
}

fn processor(it: &Accelerator, power: &Processor) -> Map<String, Value> {
    let mut body = json!({"name": it.name, "idle_mw": power.idle_mw});
    if let Some(milliwatts) = power.active_mw {
        body["active_mw"] = json!(milliwatts);
    }
    if let Some(tasks) = &it.runs {
        body["runs"] = json!(&**tasks);
    }
    Map::from_iter([("processor".into(), body)])
}

fn accelerator(it: &Accelerator, dataflow: &str) -> Map<String, Value> {
    let mut body = Map::new();
    let mut add = |key: &str, value: Value| {
        body.insert(key.into(), value);
    };
    add("name", json!(it.name));
    add("dataflow", json!(dataflow));
    add("flexibility", json!(it.flexibility.name()));
    add("mapping_objective", json!(it.mapping_objective.name()));
    if it.mapping_objective == MappingObjective::Deadline {
        add("mapping_deadline_share", json!(it.mapping_deadline.share.get()));
    }
    let path = &it.write_back;
    add("fusion", json!(path.fusion.name()));
    add("fused_reads", json!(path.fused_reads));
    if let Some(operations) = path.post_ops_per_cycle {
        add("post_ops_per_cycle", json!(operations));
    }
    if !it.pinned.tasks().is_empty() {
        add("pinned", json!(it.pinned.tasks()));
    }
    if let Some(tasks) = &it.runs {
        add("runs", json!(&**tasks));
    }
    add("pes", json!(it.pes));
    add("clock_mhz", json!(it.clock.as_mhz()));
    add("datapath", datapath(it));
    let EnergyTable { mac_nj, scratchpad_per_mac, shared_memory_per_mac, dram_per_mac } = it.energy;
    let widths = &it.datapath.widths;
    if it.energy != EnergyTable::from_byte_energy(&it.byte_energy, widths, &it.memory) {
        add(
            "maestro_energy",
            json!({
                "mac_nj": mac_nj,
                "scratchpad_per_mac": scratchpad_per_mac,
                "shared_memory_per_mac": shared_memory_per_mac,
                "dram_per_mac": dram_per_mac,
            }),
        );
    }
    add("energy_pj", byte_energy(it));
    noc(&it.noc, &mut add);
    let memory = &it.memory;
    let kib = |bytes: xrsim_model::units::Bytes| json!(bytes.get() as f64 / 1024.0);
    add("shared_memory_kib", kib(memory.shared));
    add("scratchpad_kib", kib(memory.scratchpad));
    if !memory.clusters.is_empty() {
        add("cluster_memory_kib", memory.clusters.iter().map(|&it| kib(it)).collect());
    }
    add("dram_bandwidth_bytes_per_cycle", json!(memory.dram_bandwidth));
    add("dram_latency_cycles", json!(memory.dram_latency));
    let copies: Vec<_> = memory.shared_copies.into_array().to_vec();
    add("shared_memory_copies", json!(copies));
    let factors = memory.compression.into_array().map(|it| it.factor());
    add("dram_bytes_factors", json!(factors));
    body
}

fn datapath(it: &Accelerator) -> Value {
    let datapath = &it.datapath;
    let bits = |width: Width| json!(width.bits());
    let mut body = json!({
        "macs_per_pe_cycle": datapath.macs_per_pe_cycle,
        "input_bits": bits(datapath.widths.input),
        "weight_bits": bits(datapath.widths.weight),
        "partial_sum_bits": bits(datapath.widths.partial_sum),
        "output_bits": bits(datapath.widths.output),
    });
    for (key, value) in
        [("vector_lanes", datapath.vector_lanes), ("units_limit", datapath.units_limit)]
    {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    body
}

fn byte_energy(it: &Accelerator) -> Value {
    let table = &it.byte_energy;
    let mut body = json!({
        "register_per_byte": table.register,
        "noc_per_byte": table.noc,
        "forward_per_byte": table.forward,
        "dram_per_byte": table.dram,
        "leakage_per_cycle": table.leakage,
        "clock_per_cycle": table.clock,
        "idle_per_cycle": table.idle,
    });
    if let Some(mac) = table.mac {
        body["mac"] = json!(mac);
    }
    let memory = &it.memory;
    for (key, energy, pj) in [
        ("scratchpad_per_byte", table.scratchpad, table.scratchpad_pj(memory)),
        ("cluster_per_byte", table.cluster, table.cluster_pj(memory, 0)),
        ("shared_memory_per_byte", table.shared_memory, table.shared_memory_pj(memory)),
    ] {
        match energy {
            MemoryEnergy::Usual => {}
            MemoryEnergy::BySize => body[key] = json!("by-size"),
            MemoryEnergy::PerByte(energy) => body[key] = json!(energy),
            MemoryEnergy::Scaled { .. } => body[key] = json!(pj),
        }
    }
    body
}

fn noc(noc: &Noc, add: &mut impl FnMut(&str, Value)) {
    let levels = noc.levels();
    let all = |of: &dyn Fn(&NocLevel) -> Value| levels.iter().map(of).collect::<Vec<_>>();
    add("noc_bandwidth_bytes_per_cycle", all(&|it| json!(it.bandwidth)).into());
    // Bandwidths that follow another one are left out where all levels do.
    if levels.iter().any(|it| it.up_bandwidth.is_some()) {
        let up = all(&|it| json!(it.up_bandwidth.unwrap_or(it.bandwidth)));
        add("noc_up_bandwidth_bytes_per_cycle", up.into());
    }
    if levels.iter().any(|it| it.weight_bandwidth.is_some()) {
        let weights = all(&|it| json!(it.weight_bandwidth.unwrap_or(it.bandwidth)));
        add("noc_weight_bandwidth_bytes_per_cycle", weights.into());
    }
    add("noc_latency_cycles", all(&|it| json!(it.latency)).into());
    let fill = all(&|it| match it.fill {
        Fill::Cycles(cycles) => json!(cycles),
        Fill::Systolic => json!("systolic"),
    });
    add("noc_fill_cycles", fill.into());
    type Flag = (&'static str, fn(&NocLevel) -> bool);
    let flags: [Flag; 5] = [
        ("noc_step_latency", |it| it.step_latency),
        ("noc_multicast", |it| it.multicast),
        ("noc_forward", |it| it.forward),
        ("noc_reduce", |it| it.reduce),
        ("noc_single_weights", |it| it.single_weights),
    ];
    for (key, flag) in flags {
        add(key, all(&|it| json!(flag(it))).into());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::{Catalog, Hardware};

    /// Every style with a platform of its own peculiarities comes back as it was.
    #[test]
    fn a_system_that_is_written_and_read_is_the_same() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("system.yaml");
        let mut catalog = Catalog::new();
        for platform in ["paper", "headset", "eyeriss"] {
            let Hardware::Style(style) = catalog.hardware("J").expect("it is there") else {
                panic!("J is a style");
            };
            let platform = catalog.platform(platform).expect("it is there");
            let Ok(before) = style.instantiate(4096, &platform) else { continue };
            let text =
                super::system("J", &before, &["a comment".into()], |it| it.dataflow.name().into());
            fs::write(&path, &text).expect("it can be written");
            let mut fresh = Catalog::new();
            let after = fresh.hardware(&path.display().to_string());
            let Ok(Hardware::System(after)) = after else { panic!("{text}\n{after:?}") };
            assert_eq!(after.accelerators(), before.accelerators(), "{text}");
        }
    }
}
