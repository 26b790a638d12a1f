//! Flexibility and objective of mappings: where they are given, and where they have no effect.

use crate::support::binary;

use std::fs;
use std::path::Path;

use binary::{output, path, refused, stderr, xrsim};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use xrsim::config::{Catalog, Hardware};
use xrsim::hardware::{Flexibility, MappingObjective};

/// A dataflow with flexibility of its own: OS under another name.
const DATAFLOW: &str = "dataflow:
  name: OS_axes
  flexibility: axes
  directives:
    - TemporalMap(1,1) K
    - SpatialMap(1,1) Y'
    - TemporalMap(4,4) X'
    - TemporalMap(16,16) C
    - Cluster(4)
    - SpatialMap(1,1) X'
    - Cluster(16)
    - SpatialMap(1,1) C
";

/// A system of three accelerators. `{}` is for further keys of the system.
const SYSTEM: &str = "system:
  name: mixed
  clock_mhz: 1000
  energy: {mac_nj: 0.003, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 200}
{}  accelerators:
    - {name: one, dataflow: WS, pes: 1024, flexibility: any, mapping_objective: energy, shared_memory_kib: 8192,
       scratchpad_kib: 8, noc_bandwidth_bytes_per_cycle: 256, dram_bandwidth_bytes_per_cycle: 128}
    - {name: two, dataflow: RS, pes: 1024, shared_memory_kib: 8192,
       scratchpad_kib: 8, noc_bandwidth_bytes_per_cycle: 256, dram_bandwidth_bytes_per_cycle: 128}
    - {name: three, dataflow: ./own.yaml, pes: 1024, shared_memory_kib: 8192,
       scratchpad_kib: 8, noc_bandwidth_bytes_per_cycle: 256, dram_bandwidth_bytes_per_cycle: 128}
";

/// A folder with the system in `system.yaml` and its dataflow.
fn folder(keys: &str) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    fs::write(folder.path().join("own.yaml"), DATAFLOW).expect("written");
    fs::write(folder.path().join("system.yaml"), SYSTEM.replace("{}", keys)).expect("written");
    folder
}

fn choices(folder: &TempDir) -> Vec<(Flexibility, MappingObjective)> {
    let hardware = Catalog::new().hardware(&path(folder, "system.yaml")).expect("it is valid");
    let Hardware::System(system) = hardware else { panic!("it is a system") };
    let choice = |it: &xrsim::hardware::Accelerator| (it.flexibility, it.mapping_objective);
    system.accelerators().iter().map(choice).collect()
}

#[test]
fn the_key_of_an_accelerator_counts_before_those_of_its_system_and_its_dataflow() {
    let of_files = choices(&folder(""));
    let energy = (Flexibility::Any, MappingObjective::Energy);
    let edp = MappingObjective::Edp;
    assert_eq!(of_files, [energy, (Flexibility::default(), edp), (Flexibility::Axes, edp)]);
    let of_system = choices(&folder("  flexibility: forms\n  mapping_objective: cycles\n"));
    let cycles = (Flexibility::Forms, MappingObjective::Cycles);
    assert_eq!(of_system, [energy, cycles, cycles]);
}

#[test]
fn a_style_gives_its_accelerators_their_flexibility() {
    let folder = folder("");
    let style = "style:
  name: K
  class: HDA
  flexibility: forms
  mapping_objective: edp
  accelerators:
    - {dataflow: WS, pe_share: 3, flexibility: tiles}
    - {dataflow: ./own.yaml, pe_share: 1}
";
    fs::write(folder.path().join("style.yaml"), style).expect("written");
    let mut catalog = Catalog::new();
    let hardware = catalog.hardware(&path(&folder, "style.yaml")).expect("it is valid");
    let Hardware::Style(style) = hardware else { panic!("it is a style") };
    let platform = catalog.platform("paper").expect("it is embedded");
    let system = style.instantiate(4096, &platform).expect("it divides");
    let accelerators = system.accelerators().iter();
    let found: Vec<_> = accelerators.map(|it| (it.flexibility, it.mapping_objective)).collect();
    let edp = MappingObjective::Edp;
    assert_eq!(found, [(Flexibility::Tiles, edp), (Flexibility::Forms, edp)]);
}

/// The effective settings in the record of a run.
fn effective(out: &Path) -> Value {
    let record = fs::read_to_string(out.join("run.json")).expect("written");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    record["effective"].clone()
}

#[test]
fn a_run_records_the_flexibility_that_it_used() {
    let folder = folder("  flexibility: none\n");
    let (system, out) = (path(&folder, "system.yaml"), path(&folder, "out"));
    // The accelerator with `any` would take long.
    let text = fs::read_to_string(&system)
        .expect("written")
        .replace("flexibility: any", "flexibility: forms");
    fs::write(&system, text).expect("written");
    let run = ["run", "--scenario", "VR_gaming", "--system", &system, "--out", &out];
    output(&run);
    let record = effective(Path::new(&out));
    assert_eq!(record["flexibility"], "forms + none + none");
    assert_eq!(record["mapping_objective"], "energy + edp + edp");
    output(&[&run[..], &["--flexibility", "none"]].concat());
    let record = effective(Path::new(&out));
    assert_eq!(record["flexibility"], "none");
    assert_eq!(record["mapping_objective"], Value::Null);
    let both = ["--system", "A", "--pes", "4096"];
    output(&[&run[..], &both].concat());
    let record = effective(Path::new(&out));
    let per_system = &record["flexibility"];
    assert_eq!(per_system["mixed@3072"], "forms + none + none", "{record}");
    assert_eq!(per_system["A@4096"], Flexibility::default().name(), "{record}");
}

#[test]
fn the_artifact_and_other_cost_models_choose_no_mappings() {
    let folder = folder("");
    let system = path(&folder, "system.yaml");
    let run = ["run", "--scenario", "VR_gaming", "--system", &system, "--semantics", "mlsys2023"];
    let said = stderr(&xrsim(&run).assert());
    assert!(
        said.contains("system.yaml: flexibility has no effect with --semantics mlsys2023"),
        "{said}"
    );
    let said = refused(&[&run[..], &["--flexibility", "tiles"]].concat());
    assert!(said.contains("flexibility"), "{said}");
    let cost = ["cost", "--network", "KD", "--networks", "artifact", "--dataflow", "WS"];
    let cost = [&cost[..], &["--cost-model", "maestro", "--flexibility", "tiles"]].concat();
    let assert = xrsim(&cost).assert().success();
    let said = stderr(&assert);
    assert!(said.contains("the cost model `maestro` has no choice of mappings"), "{said}");
    let json = output(&[&cost[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["totals"][0]["flexibility"], "none");
}

#[test]
fn unknown_values_are_answered_with_the_nearest() {
    for command in [&["cost", "--network", "KD"][..], &["mlperf", "mobile"], &["run"]] {
        let said = refused(&[command, &["--flexibility", "tile"]].concat());
        assert!(said.contains("tiles"), "{said}");
        let said = refused(&[command, &["--mapping-objective", "enegy"]].concat());
        assert!(said.contains("energy"), "{said}");
    }
    let folder = folder("  flexibility: tile\n  mapping_objective: cylces\n");
    let said = stderr(&xrsim(&["check", &path(&folder, "system.yaml")]).assert().code(1));
    assert!(
        said.contains("did you mean `tiles`?") && said.contains("did you mean `cycles`?"),
        "{said}"
    );
    assert!(said.contains("system.yaml:5:"), "{said}");
}

/// The default stands in one place. Texts that repeat it change with it.
#[test]
fn help_and_documents_say_the_default() {
    let (flexibility, objective) = (Flexibility::default(), MappingObjective::default());
    for command in ["run", "compare", "sweep", "cost", "mlperf"] {
        let help = output(&[command, "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
        for word in [flexibility.name(), objective.name()] {
            assert!(help.contains(&format!("or else {word}]")), "{command}: {help}");
        }
    }
    let words = format!("the flexibility is `{flexibility}` and the objective `{objective}`");
    assert!(
        include_str!("../../docs/explanation/mapper.md").contains(&words),
        "docs/explanation/mapper.md"
    );
    let words = format!("that of the dataflow, or else `{flexibility}` |");
    assert!(include_str!("../../hw_configs/README.md").contains(&words), "hw_configs/README.md");
}

fn cost(more: &[&str]) -> Value {
    let network =
        ["cost", "--network", "KD", "--dataflow", "OS", "--pes", "1024", "--format", "json"];
    let json = output(&[&network[..], more].concat());
    serde_json::from_str(&json).expect("JSON")
}

#[test]
fn cost_shows_the_choice_of_every_layer() {
    let cycles = ["--mapping-objective", "cycles"];
    let of = |flexibility| cost(&[&["--flexibility", flexibility], &cycles[..]].concat());
    let (none, tiles) = (of("none"), of("tiles"));
    let layers = |json: &Value| json["layers"].as_array().expect("layers").clone();
    for (tiles, none) in layers(&tiles).iter().zip(layers(&none)) {
        let cycles = |row: &Value| row["runtime_cycles"].as_u64().expect("a number");
        assert!(cycles(tiles) <= cycles(&none), "{tiles}");
        assert!(none.get("mapping").is_none());
        if tiles["search"] == "" {
            continue; // an operator without MACs
        }
        let [search, mapping] =
            ["search", "mapping"].map(|name| tiles[name].as_str().expect("text"));
        assert_eq!(search, "default", "{tiles}");
        assert!(mapping.contains(':') && tiles["gap_percent"].as_f64() >= Some(0.0), "{tiles}");
    }
    assert_eq!(tiles["totals"][0]["flexibility"], "tiles");
}

#[test]
fn tables_explanations_and_load_tests_say_the_flexibility() {
    let network =
        ["cost", "--network", "KD", "--dataflow", "OS", "--pes", "1024", "--flexibility", "forms"];
    let table = output(&network);
    assert!(
        table.contains("above bound") && table.contains("flexibility forms, objective edp"),
        "{table}"
    );
    let layer = [&network[..], &["--layer", "conv2", "--explain"]].concat();
    let text = output(&layer);
    assert!(text.contains("flexibility `forms`, objective `edp`"), "{text}");
    let run = ["explain", "--scenario", "VR_gaming", "--system", "B", "--pes", "4096", "HT:0"];
    let text = output(&[&run[..], &["--flexibility", "forms"]].concat());
    assert!(text.lines().next().is_some_and(|line| line.contains("flexibility forms")), "{text}");
    let test = ["mlperf", "mobile", "--system", "B", "--load", "single-stream", "--task"];
    let text = output(&[&test[..], &["image_classification", "--flexibility", "none"]].concat());
    let assumed =
        "assumed (mlperf): flexibility none, platform headset, cost model loop-nest, scheduler";
    assert!(text.contains(assumed), "{text}");
    let runs = [
        "compare",
        "--scheduler",
        "edf",
        "--scheduler",
        "rm",
        "--replications",
        "2",
        "--system",
        "B",
    ];
    let runs = [&runs[..], &["--scenario", "VR_gaming", "--pes", "4096", "--flexibility", "none"]]
        .concat();
    let text = output(&runs);
    let assumed = "assumed (principled): flexibility none, fusion elementwise, networks reference, platform headset";
    assert!(text.contains(assumed) && !text.contains(", scheduler latency-greedy"), "{text}");
    let test = ["mlperf", "mobile", "--system", "B", "--load", "single-stream", "--format", "json"];
    let test = [&test[..], &["--task", "image_classification", "--flexibility", "forms"]].concat();
    let json: Value = serde_json::from_str(&output(&test)).expect("JSON");
    assert_eq!(
        (&json["flexibility"], &json["mapping_objective"]),
        (&"forms".into(), &"edp".into())
    );
}
