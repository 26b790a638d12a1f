//! The mapping objective `deadline` in runs and commands.

use crate::support::binary;

use std::fs;

use binary::{output, path, refused, stderr, xrsim};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use xrsim::{Experiment, Run, Scorecard};

/// Four networks of short layers, which are searched within seconds.
const SCENARIO: &str = "scenario:
  name: small
  models:
    - {network: KD, fps: 3}
    - {network: ES, fps: 60}
    - {network: GE, fps: 60}
    - {network: HT, fps: 30}
";

fn folder() -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    fs::write(folder.path().join("small.yaml"), SCENARIO).expect("written");
    folder
}

/// Missed deadlines and energy \\[mJ\\] of the scenario on WS with 1,024 PEs of the headset.
fn outcome(objective: &str, share: f64) -> (u64, f64) {
    let folder = folder();
    let runs = Experiment::new()
        .scenario(path(&folder, "small.yaml").as_str())
        .system("WS:1")
        .pes(1024)
        .set("platform", "headset")
        .set("mapping_objective", objective)
        .set("hardware.mapping_deadline_share", share)
        .replications(1)
        .run()
        .expect("it runs");
    let scorecard: &Scorecard = Run::scorecard(&runs[0]).expect("it has a score");
    let counts = scorecard.total.counts;
    (counts.late + counts.dropped, counts.energy.get())
}

/// With `edp` all deadlines are met, and there is time for slower mappings. With
/// `energy` frames are late.
#[test]
fn a_deadline_saves_energy_where_edp_has_time_left_and_misses_no_frame() {
    let (by_edp, by_energy) = (outcome("edp", 1.0), outcome("energy", 1.0));
    assert_eq!(by_edp.0, 0);
    assert!(by_energy.0 > 0 && by_energy.1 < by_edp.1, "{by_energy:?} {by_edp:?}");
    let mut before = by_edp.1;
    for share in [0.01, 0.4, 0.6, 0.8] {
        let (missed, energy_mj) = outcome("deadline", share);
        assert_eq!(missed, 0, "{share}");
        assert!(energy_mj <= before && energy_mj >= by_energy.1, "{share}: {energy_mj} {before}");
        before = energy_mj;
    }
    assert!(before < 0.91 * by_edp.1, "{before} {by_edp:?}");
}

#[test]
fn shares_out_of_range_and_networks_by_themselves_are_refused() {
    let folder = folder();
    let scenario = path(&folder, "small.yaml");
    let run = ["run", "--scenario", &scenario, "--mapping-objective", "deadline", "--set"];
    for wrong in ["0", "2", "-1", "half", "nan"] {
        let share = format!("hardware.mapping_deadline_share={wrong}");
        let said = refused(&[&run[..], &[&share]].concat());
        assert!(said.contains("a number from 0.000001 to 1"), "{wrong}: {said}");
    }
    let said = refused(&["cost", "--network", "KD", "--mapping-objective", "deadline"]);
    assert!(said.contains("use edp, energy or cycles here"), "{said}");
    let mobile = ["mlperf", "mobile", "--mapping-objective", "deadline", "--system", "WS:1"];
    let said = stderr(&xrsim(&mobile).assert().failure());
    assert!(said.contains("choose them by `edp`, `energy` or `cycles`"), "{said}");
    let system = "system:
  name: mine
  clock_mhz: 1000
  energy: {mac_nj: 0.003, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 200}
  mapping_objective: deadline
  mapping_deadline_share: 2
  accelerators:
    - {name: one, dataflow: WS, pes: 1024, shared_memory_kib: 8192,
       scratchpad_kib: 8, noc_bandwidth_bytes_per_cycle: 256, dram_bandwidth_bytes_per_cycle: 128}
";
    fs::write(folder.path().join("system.yaml"), system).expect("written");
    let said = stderr(&xrsim(&["check", &path(&folder, "system.yaml")]).assert().code(1));
    assert!(said.contains("system.yaml:6:") && said.contains("0.000001 to 1"), "{said}");
}

#[test]
fn a_run_says_its_share_and_which_objective_would_miss_fewer_deadlines() {
    let folder = folder();
    let (scenario, out) = (path(&folder, "small.yaml"), path(&folder, "out"));
    let run = ["run", "--scenario", &scenario, "--system", "WS:1", "--pes", "1024"];
    let run = [&run[..], &["--platform", "headset"]].concat();
    let run = [&run[..], &["--mapping-objective", "deadline", "--out", &out, "--set"]].concat();
    let whole = output(&[&run[..], &["hardware.mapping_deadline_share=1"]].concat());
    assert!(whole.contains("objective deadline within 1 of the time"), "{whole}");
    assert!(whole.contains("note: small on WS:1 with 1024 PEs: "), "{whole}");
    assert!(whole.contains("0 of 153 deadlines missed"), "{whole}");
    let half = output(&[&run[..], &["hardware.mapping_deadline_share=0.6"]].concat());
    assert!(!half.contains("note: small on"), "{half}");
    let record = fs::read_to_string(folder.path().join("out/run.json")).expect("written");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(record["effective"]["mapping_objective"], "deadline");
    assert_eq!(record["effective"]["mapping_deadline_share"], "0.6");
}
