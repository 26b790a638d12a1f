//! Names of version 0.1 are read under the old name, with a hint.

use std::fs;

use tempfile::tempdir;

use crate::support::binary::{output, path, stderr, stdout, xrsim};

#[test]
fn cost_models_are_read_under_their_old_names() {
    for (old, new) in [("principled", "loop-nest"), ("mlsys2023", "maestro")] {
        let cost = |name| xrsim(&["cost", "--network", "KD", "--cost-model", name]).assert();
        let (before, after) = (cost(old).success(), cost(new).success());
        assert_eq!(stdout(&before), stdout(&after));
        let note = format!(
            "note: cost model `{old}` is called `{new}` since 0.2; the old name will be refused in 0.3\n"
        );
        assert_eq!(stderr(&before), note);
        assert_eq!(stderr(&after), "");
    }
}

#[test]
fn an_old_name_in_a_sweep_is_hinted_at_once_and_results_have_the_new_one() {
    let folder = tempdir().expect("a folder can be made");
    let sweep = |model: &str, file: &str| {
        let (spec, rows) = (path(&folder, &format!("{file}.yaml")), path(&folder, file));
        let text = format!(
            "sweep: {{name: s, grid: {{scenario: VR_gaming, system: A, pes: [4096, 8192], cost_model: {model}}}}}"
        );
        fs::write(&spec, text).expect("the sweep is written");
        let said = stderr(&xrsim(&["sweep", &spec, "--out", &rows]).assert().success());
        (fs::read_to_string(&rows).expect("rows were written"), said)
    };
    let (before, said) = sweep("principled", "old.csv");
    let (after, _) = sweep("loop-nest", "new.csv");
    // Rows are equal but for identifier and check sum, which depend on the text of the sweep.
    let cells = |rows: &str| -> Vec<String> {
        let row = |row: &str| row.split(',').skip(2).take(20).collect::<Vec<_>>().join(",");
        rows.lines().map(row).collect()
    };
    assert_eq!(cells(&before), cells(&after));
    assert!(before.contains(",loop-nest,"), "{before}");
    assert_eq!(said.matches("note: cost model `principled`").count(), 1, "{said}");
}

#[test]
fn a_layer_is_explained_under_either_name() {
    let layer = ["cost", "--network", "KD", "--layer", "conv2", "--explain"];
    let old = output(&[&layer[..], &["--cost-model", "principled"]].concat());
    assert_eq!(old, output(&layer));
}

#[test]
fn editions_platforms_and_folders_are_read_under_their_old_names() {
    let networks = ["cost", "--network", "KD", "--format", "csv", "--networks"];
    let platform = ["cost", "--network", "KD", "--pes", "4096", "--format", "csv", "--platform"];
    for (command, kind) in [(&networks[..], "edition of networks"), (&platform[..], "platform")] {
        let run = |name| xrsim(&[command, &[name]].concat()).assert().success();
        let (before, after) = (run("mlsys2023"), run("artifact"));
        assert_eq!(stdout(&before), stdout(&after));
        let note = format!(
            "note: {kind} `mlsys2023` is called `artifact` since 0.2; the old name will be refused in \
             0.3\n"
        );
        assert_eq!(stderr(&before), note);
    }
    let show = |name| xrsim(&["show", name]).assert().success();
    let (before, after) = (show("mlsys2023/KD"), show("artifact/KD"));
    assert_eq!(stdout(&before), stdout(&after));
    assert!(stderr(&before).contains("folder `mlsys2023` is called `artifact`"));
}

#[test]
fn keys_of_input_files_are_read_under_their_old_names() {
    let folder = tempdir().expect("a folder can be made");
    let write = |name: &str, text: &str| {
        let file = path(&folder, name);
        fs::write(&file, text).expect("the file is written");
        file
    };
    let system = "system:
  name: S
  clock_mhz: 1000
  energy: {mac_nj: 1, l1_per_mac: 1, l2_per_mac: 6, dram_per_mac: 75}
  energy_pj: {l1_per_byte: 1000, l2_per_byte: 6000, network_per_byte: 3}
  accelerators:
    - name: a
      dataflow: WS
      pes: 1024
      noc_bandwidth_bytes_per_cycle: 8
      shared_memory_kib: 512
      local_memory_kib: 1
      offchip_bandwidth_bytes_per_cycle: 16
      offchip_latency_cycles: 100
";
    let scenario = "scenario:
  name: S
  models:
    - {model: KD, fps: 3, deadline_ms: 50}
    - {model: HT, fps: 30}
";
    let new_system = system
        .replace("l1_per", "scratchpad_per")
        .replace("l2_per", "shared_memory_per")
        .replace("network_per", "noc_per")
        .replace("local_memory", "scratchpad")
        .replace("offchip", "dram");
    let new_scenario =
        scenario.replace("deadline_ms", "relative_deadline_ms").replace("model:", "network:");
    let run = |name: &str, scenario: &str, system: &str| {
        let system = write(&format!("system{name}.yaml"), system);
        let scenario = write(&format!("scenario{name}.yaml"), scenario);
        let run = ["run", "--scenario", &scenario, "--system", &system, "--format", "csv"];
        let done = xrsim(&run).assert().success();
        (stdout(&done), stderr(&done))
    };
    let (after, silence) = run("-new", &new_scenario, &new_system);
    assert!(!silence.contains("note:"), "{silence}");
    let (before, said) = run("-old", scenario, system);
    assert_eq!(before, after);
    let notes: Vec<_> = said.lines().filter(|line| line.starts_with("note:")).collect();
    assert_eq!(notes.len(), 10, "{said}");
    let first = "scenario-old.yaml:4: key `model` is called `network` since 0.2; the old name will be \
                 refused in 0.3";
    assert!(notes.iter().any(|note| note.ends_with(first)), "{said}");
    assert!(said.contains("system-old.yaml:13: key `offchip_bandwidth_bytes_per_cycle`"), "{said}");

    let both = write("both.yaml", &scenario.replace("model: HT", "model: HT, network: HT"));
    let refused = stderr(&xrsim(&["check", &both]).assert().failure());
    assert!(refused.contains("5:8: `model` beside `network`"), "{refused}");
}

/// Notes on standard error of a command, which ends with a failure or not.
fn notes(arguments: &[&str]) -> Vec<String> {
    let said = stderr(&xrsim(arguments).assert());
    said.lines().filter(|line| line.starts_with("note:")).map(Into::into).collect()
}

#[test]
fn mlperf_hints_at_old_names_with_and_without_tenants() {
    let system = ["mlperf", "inference", "--system", "A", "--pes", "4096"];
    let old = ["--platform", "mlsys2023", "--cost-model", "principled"];
    let tests = ["--task", "image_classification_light", "--load", "single-stream"];
    let tenants = ["--tenant", "image_classification_light:qps=50,bound_ms=15"];
    for load in [&tests[..], &tenants] {
        let found = notes(&[&system[..], load, &["--min-queries", "10"], &old].concat());
        assert!(
            found.iter().any(|note| note.contains("platform `mlsys2023`")),
            "{load:?} {found:?}"
        );
        assert!(
            found.iter().any(|note| note.contains("cost model `principled`")),
            "{load:?} {found:?}"
        );
    }
}

#[test]
fn old_names_are_hinted_at_when_reading_fails() {
    let folder = tempdir().expect("a folder can be made");
    let file = path(&folder, "old.yaml");
    let text =
        "scenario:\n  name: S\n  models:\n    - {model: KD, fps: 3}\n    - {model: HT, fps: 0}\n";
    fs::write(&file, text).expect("the file is written");
    let key = "key `model` is called `network`";
    let platform = "platform `mlsys2023` is called `artifact`";
    let cost_model = "cost model `principled` is called `loop-nest`";
    let sweep = path(&folder, "sweep.yaml");
    let grid = "{scenario: absent, system: A, pes: 4096, cost_model: principled}";
    fs::write(&sweep, format!("sweep: {{name: s, grid: {grid}}}\n")).expect("the sweep is written");
    let absent = path(&folder, "absent.yaml");
    let failing: [(&[&str], &str); 8] = [
        (&["check", &file], key),
        (&["check", &sweep], cost_model),
        (&["sweep", &sweep], cost_model),
        (&["run", "--scenario", &file, "--system", "A"], key),
        (&["run", "--scenario", &absent, "--cost-model", "principled"], cost_model),
        (&["cost", "--network", &absent, "--cost-model", "principled"], cost_model),
        (&["cost", "--network", "KD", "--pes", "1", "--platform", "mlsys2023"], platform),
        (&["mlperf", "inference", "--platform", "mlsys2023", "--system", &absent], platform),
    ];
    for (command, expected) in failing {
        let said = stderr(&xrsim(command).assert().failure());
        assert!(said.starts_with("note: ") || said.contains("\nnote: "), "{command:?} {said}");
        assert_eq!(said.matches(expected).count(), 1, "{command:?} {said}");
    }
}

#[test]
fn an_old_command_is_told_its_name_also_if_an_option_is_missing() {
    let said = stderr(&xrsim(&["merge", "x"]).assert().code(2));
    let warning = "warning: command `merge` is called `parts merge` since 0.2";
    assert!(said.starts_with(warning) && said.contains("--out <FILE.csv>"), "{said}");
    assert_eq!(said.matches("warning").count(), 1, "{said}");
    assert!(!stderr(&xrsim(&["merge", "--help"]).assert().success()).contains("warning"));
}
