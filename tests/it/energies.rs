//! Energies of hardware: each way of giving them counts in every cost model, and what has no effect is warned of.

use crate::support::binary;

use std::collections::BTreeMap;
use std::fs;

use binary::{path, stderr, stdout, xrsim};
use tempfile::tempdir;

use xrsim::config::{Catalog, Hardware, LIMITED_KEYS};
use xrsim::cost;
use xrsim::hardware::{Accelerator, Flexibility};
use xrsim::model::Network;

/// Energies of `headset` in multiples of a multiply-accumulate, and in pJ.
const MULTIPLES: &str = "energy: {mac_nj: 0.0001, scratchpad_per_mac: 1, shared_memory_per_mac: 19.3, dram_per_mac: 256}";
const PICOJOULES: &str = "energy_pj: {mac: 0.1, register_per_byte: 0.01, scratchpad_per_byte: 0.1, \
                          cluster_per_byte: 0.94, shared_memory_per_byte: 1.93, noc_per_byte: 0.2, \
                          forward_per_byte: 0.2, dram_per_byte: 25.6}";

/// A system of one accelerator with these keys, of the system and of the accelerator.
fn system(keys: &str, own: &str) -> String {
    let lines = |keys: &str, indent: &str| {
        keys.lines().map(|line| format!("{indent}{line}\n")).collect::<String>()
    };
    let own = lines(own, "      ");
    format!(
        "system:\n  name: s\n  clock_mhz: 800\n{}  accelerators:\n    - name: a\n      dataflow: WS\n      pes: 1024\n\
         {own}{}",
        lines(keys, "  "),
        [
            ("noc_bandwidth_bytes_per_cycle", "256"),
            ("shared_memory_kib", "2048"),
            ("scratchpad_kib", "0.5"),
            ("dram_bandwidth_bytes_per_cycle", "32"),
        ]
        .into_iter()
        .filter(|(key, _)| !own.contains(&format!(" {key}:")))
        .map(|(key, value)| format!("      {key}: {value}\n"))
        .collect::<String>()
    )
}

/// The accelerator of a `system:` file.
fn accelerator(text: &str) -> Accelerator {
    let folder = tempdir().expect("a folder can be made");
    let file = path(&folder, "s.yaml");
    fs::write(&file, text).expect("it can be written");
    match Catalog::new().hardware(&file) {
        Ok(Hardware::System(system)) => system.accelerators()[0].clone(),
        Ok(_) => panic!("it is a system"),
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// Cycles and energy of a network on an accelerator by a cost model.
fn costs(accelerator: &Accelerator, cost_model: &str, network: &Network) -> (u64, f64) {
    let entry = cost::ALL.iter().find(|it| it.name == cost_model).expect("it is known");
    let model = entry.build.expect("it can be built")();
    let listed = Accelerator { flexibility: Flexibility::None, ..accelerator.clone() };
    let cost = model.network(network, &listed).expect("it runs");
    (cost.cycles.get(), cost.energy_nj)
}

fn network() -> std::sync::Arc<Network> {
    Catalog::new().network("KD").expect("it is there")
}

const COST_MODELS: [&str; 3] = ["loop-nest", "maestro", "roofline"];

#[test]
fn both_ways_of_giving_the_energies_of_a_platform_are_the_same() {
    let shipped = Catalog::new().platform("headset").expect("it is there").byte_energy;
    let all = [
        accelerator(&system(MULTIPLES, "")),
        accelerator(&system(PICOJOULES, "")),
        accelerator(&system("", MULTIPLES)),
        accelerator(&system(&[MULTIPLES, PICOJOULES].join("\n"), "")),
    ];
    for it in &all {
        assert_eq!(it.byte_energy, shipped);
        assert_eq!(it.energy, all[0].energy);
    }
    let costs = |it| COST_MODELS.map(|model| costs(it, model, &network()));
    assert!(all.iter().all(|it| costs(it) == costs(&all[0])));
}

#[test]
fn energies_count_in_every_cost_model() {
    let network = network();
    let of = |energies: &str, model| costs(&accelerator(&system(energies, "")), model, &network).1;
    for model in COST_MODELS {
        let larger = MULTIPLES.replace("mac_nj: 0.0001", "mac_nj: 0.1");
        let ratio = of(&larger, model) / of(MULTIPLES, model);
        assert!((ratio - 1000.0).abs() < 1e-6, "{model}: {ratio}");
        let [before, after] = [
            PICOJOULES,
            &PICOJOULES.replace("shared_memory_per_byte: 1.93", "shared_memory_per_byte: 3"),
        ]
        .map(|it| of(it, model));
        assert!(after > before, "{model}: {before} {after}");
    }
    // A multiply-accumulate may be free.
    let free = PICOJOULES.replace("mac: 0.1,", "mac: 0,");
    let [free, before] = [&free, PICOJOULES].map(|it| of(it, "roofline"));
    let macs = network.layers().iter().map(|it| it.operator.macs() as f64).sum::<f64>();
    assert!(((before - free) / (1e-4 * macs) - 1.0).abs() < 1e-6, "{before} {free}");
    // An access is one of an input, here of two bytes.
    let wide = accelerator(&system(&format!("{MULTIPLES}\ndatapath: {{input_bytes: 2}}"), ""));
    assert_eq!(wide.byte_energy.dram, 12.8);
    assert_eq!(wide.energy, accelerator(&system(MULTIPLES, "")).energy);
}

#[test]
fn nearer_energies_go_before_those_of_the_system() {
    let other = "energy_pj: {mac: 0.2, leakage_per_cycle: 7}";
    let nearer_bytes = accelerator(&system(MULTIPLES, other));
    assert_eq!((nearer_bytes.byte_energy.mac, nearer_bytes.byte_energy.dram), (Some(0.2), 25.6));
    assert_eq!(nearer_bytes.energy.mac_nj, 0.0002);
    assert_eq!(nearer_bytes.energy.dram_per_mac, 128.0);
    let nearer_table = accelerator(&system(other, MULTIPLES));
    assert_eq!((nearer_table.byte_energy.mac, nearer_table.byte_energy.leakage), (Some(0.1), 7.0));
    assert_eq!(nearer_table.energy.mac_nj, 0.0001);
    let maestro = MULTIPLES.replace("energy:", "maestro_energy:").replace("0.0001", "3");
    let apart = accelerator(&system(&maestro, PICOJOULES));
    assert_eq!((apart.energy.mac_nj, apart.byte_energy.mac), (3.0, Some(0.1)));
    assert_eq!(accelerator(&system(&maestro, MULTIPLES)).energy.mac_nj, 0.0001);
}

#[test]
fn two_values_of_one_energy_are_refused_with_both() {
    let folder = tempdir().expect("a folder can be made");
    let check = |text: &str| {
        let file = path(&folder, "chip.yaml");
        fs::write(&file, text).expect("it can be written");
        stderr(&xrsim(&["check", &file]).assert().code(1))
    };
    let bytes = PICOJOULES.replace("dram_per_byte: 25.6", "dram_per_byte: 26");
    for (text, line) in [
        (system(&[MULTIPLES, &bytes].join("\n"), ""), 5),
        (system("", &[MULTIPLES, &bytes].join("\n")), 9),
    ] {
        let said = check(&text);
        assert!(said.contains(&format!("chip.yaml:{line}:")), "{said}");
        let both = "`dram_per_byte` of `energy_pj` is 26 pJ/byte, but by `dram_per_mac: 256` of `energy` it is 25.6 \
                    pJ/byte";
        assert!(said.contains(both), "{said}");
        assert!(said.contains("`maestro_energy`"), "{said}");
    }
    // What is equal but for rounding is one value.
    let rounded = PICOJOULES.replace("dram_per_byte: 25.6", "dram_per_byte: 25.61");
    accelerator(&system(&[MULTIPLES, &rounded].join("\n"), ""));
    let by_size = PICOJOULES.replace("1.93", "by-size");
    let said = check(&system(&[MULTIPLES, &by_size].join("\n"), ""));
    assert!(said.contains("`shared_memory_per_byte` of `energy_pj` is `by-size`, but"), "{said}");
    let maestro = MULTIPLES.replace("energy:", "maestro_energy:");
    let said = check(&system(&[MULTIPLES, &maestro].join("\n"), ""));
    assert!(said.contains("chip.yaml:5:19: `energy` and `maestro_energy` both give"), "{said}");
    for energies in ["", &maestro] {
        let said = check(&system(energies, ""));
        assert!(said.contains("an accelerator lacks the key `energy`"), "{said}");
    }
}

#[test]
fn keys_without_effect_are_warned_of_with_their_lines() {
    let folder = tempdir().expect("a folder can be made");
    let file = path(&folder, "chip.yaml");
    let maestro = MULTIPLES.replace("energy:", "maestro_energy:");
    let text = system(&[PICOJOULES, &maestro].join("\n"), "noc_fill_cycles: 3");
    fs::write(&file, &text).expect("it can be written");
    let warnings = |args: &[&str]| -> Vec<String> {
        let said = stderr(&xrsim(args).assert().success());
        let lines = said.lines().filter(|line| line.starts_with("warning: "));
        lines.map(|line| line.replace(folder.path().to_str().expect("UTF-8"), "")).collect()
    };
    let unused =
        ["warning: /chip.yaml:5: the cost model `loop-nest` makes no use of `maestro_energy`"];
    assert_eq!(warnings(&["check", &file]), unused);
    let run = ["run", "--scenario", "VR_gaming", "--system", &file, "--quiet"];
    assert_eq!(warnings(&run), unused);
    let set = ["--cost-model", "maestro", "--set", "hardware.noc_pj_per_byte=1"];
    let of_maestro: Vec<_> = [
        ("/chip.yaml:4: ", "energy_pj.register_per_byte"),
        ("/chip.yaml:4: ", "energy_pj.cluster_per_byte"),
        ("/chip.yaml:4: ", "energy_pj.noc_per_byte"),
        ("/chip.yaml:4: ", "energy_pj.forward_per_byte"),
        ("/chip.yaml:4: ", "energy_pj.dram_per_byte"),
        ("/chip.yaml:10: ", "noc_fill_cycles"),
        ("", "hardware.noc_pj_per_byte"),
    ]
    .map(|(place, key)| format!("warning: {place}the cost model `maestro` makes no use of `{key}`"))
    .into();
    assert_eq!(warnings(&[&run[..], &set].concat()), of_maestro);
    // Of a system whose accelerators all have their own, nothing is left.
    fs::write(&file, system(MULTIPLES, &MULTIPLES.replace("256", "200")))
        .expect("it can be written");
    let expected =
        "warning: /chip.yaml:4: no accelerator takes `energy` from the system: each has its own";
    assert_eq!(warnings(&["check", &file]), [expected]);
    // Files that come with the program are not the user's.
    assert_eq!(warnings(&["run", "--scenario", "VR_gaming", "--system", "J", "--quiet"]), [""; 0]);
    assert!(stdout(&xrsim(&run).assert().success()).contains("VR_gaming"));
}

/// Another value of each key that a cost model may not use; keys of one width exclude each other.
#[test]
fn a_cost_model_uses_exactly_the_keys_that_it_is_not_said_to_ignore() {
    let network = network();
    let values: BTreeMap<&str, [&str; 2]> = BTreeMap::from([
        ("datapath.macs_per_pe_cycle", ["1", "4"]),
        ("datapath.vector_lanes", ["16", "64"]),
        ("datapath.weight_bytes", ["1", "2"]),
        ("datapath.weight_bits", ["8", "16"]),
        ("datapath.partial_sum_bytes", ["4", "2"]),
        ("datapath.partial_sum_bits", ["32", "16"]),
        ("datapath.output_bytes", ["1", "2"]),
        ("datapath.output_bits", ["8", "16"]),
        ("noc_bandwidth_bytes_per_cycle", ["8", "16"]),
        ("noc_up_bandwidth_bytes_per_cycle", ["4", "8"]),
        ("noc_weight_bandwidth_bytes_per_cycle", ["4", "8"]),
        ("noc_latency_cycles", ["1", "90"]),
        ("noc_fill_cycles", ["0", "90"]),
        ("noc_step_latency", ["false", "true"]),
        ("noc_multicast", ["false", "true"]),
        ("noc_reduce", ["false", "true"]),
        ("noc_single_weights", ["false", "true"]),
        ("dram_latency_cycles", ["0", "9000"]),
        ("dram_bytes_factors", ["[1, 1, 1]", "[0.5, 0.5, 0.5]"]),
        ("energy_pj.register_per_byte", ["1", "2"]),
        ("energy_pj.scratchpad_per_byte", ["1", "2"]),
        ("energy_pj.cluster_per_byte", ["1", "2"]),
        ("energy_pj.shared_memory_per_byte", ["1", "2"]),
        ("energy_pj.mac", ["1", "2"]),
        ("energy_pj.noc_per_byte", ["1", "2"]),
        ("energy_pj.dram_per_byte", ["1", "2"]),
        ("energy_pj.leakage_per_cycle", ["1", "2"]),
        ("energy_pj.clock_per_cycle", ["1", "2"]),
        ("fusion", ["none", "elementwise"]),
        ("maestro_energy", ["A", "B"]),
    ]);
    let text = |key: &str, value: &str| {
        let energies = if key.starts_with("energy_pj") { "" } else { PICOJOULES };
        let line = match (key.split_once('.'), key) {
            (Some((outer, inner)), _) => format!("{outer}: {{{inner}: {value}}}"),
            (None, "maestro_energy") => {
                let mac = if value == "A" { "1" } else { "2" };
                MULTIPLES.replace("energy:", "maestro_energy:").replace("0.0001", mac)
            }
            _ => format!("{key}: {value}"),
        };
        system(energies, &line)
    };
    for (key, both) in values {
        let all = both.map(|value| accelerator(&text(key, value)));
        for model in COST_MODELS {
            let [a, b] = all.each_ref().map(|it| costs(it, model, &network));
            let limited = LIMITED_KEYS.iter().find(|it| it.key == key);
            let is_unused = limited.is_some_and(|it| it.unused_by.contains(&model));
            assert_eq!(a == b, is_unused, "{key} in {model}: {a:?} {b:?}");
        }
    }
}
