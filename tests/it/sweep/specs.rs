//! Valid sweep files, and the messages for invalid ones.

use super::{SPEC, Study, cell};
use crate::support::binary::stderr;

/// Output of `xrsim check` for a sweep, without the path.
fn messages(spec: &str) -> Vec<String> {
    let study = Study::new(spec);
    let assert = study.command(&["check", "spec.yaml"]).assert().code(1);
    let text = stderr(&assert);
    let lines = text.lines().filter(|line| !line.starts_with("1 of 1 files"));
    let plain = |line: &str| {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        line.strip_prefix("spec.yaml:").unwrap_or(line).to_string()
    };
    lines.map(plain).collect()
}

#[test]
fn problems_of_a_sweep_are_reported_together_with_their_places() {
    let bad = "\
sweep:
  name: s
  grid:
    scenarios: [VR_gaming]
    pes: [4096, many, 0]
    semantics: mlsys
    score.k_pre_ms: 5
    load.trigger_probability: 0..2 step 1
    engine.grace_ms: 5..1
    scheduler: [edf, lff]
";
    assert_eq!(
        messages(bad),
        [
            "4:5: a sweep has no key `scenarios` (did you mean `scenario`?)",
            "5:17: `pes` is `many` (allowed is a whole number from 1 to 16777216)",
            "5:23: `pes` is `0` (allowed is a whole number from 1 to 16777216)",
            "6:16: no semantics named `mlsys` (did you mean `mlsys2023`?)",
            "7:5: a sweep has no key `score.k_pre_ms` (did you mean `score.k_per_ms`?)",
            "8:31: `load.trigger_probability` is `2` (allowed is a number from 0 to 1, or `scenario`)",
            "9:22: 5 to 1 goes downward (a range is FIRST..LAST, FIRST..LAST step N, or FIRST..LAST \
             step xN)",
            "10:22: no scheduler named `lff` (did you mean `llf`?)",
        ]
    );
}

#[test]
fn a_sweep_does_not_give_dram_away_more_than_once() {
    let spec = |limit: &str| {
        format!(
            "sweep:\n  name: s\n  grid:\n    hardware.dram_unpartitioned: [false, true]\n{limit}"
        )
    };
    for limit in ["", "    effects.dram_gb_per_s: [16, unlimited]\n"] {
        let said = messages(&spec(limit)).join("\n");
        let values =
            "`hardware.dram_unpartitioned` is `true` and `effects.dram_gb_per_s` is `unlimited`";
        assert!(said.contains(&format!("4:42: {values}")), "{said}");
    }
    let study = Study::new(&spec("    effects.dram_gb_per_s: [16, 32]\n"));
    study.command(&["check", "spec.yaml"]).assert().success();
}

#[test]
fn names_and_files_of_a_sweep_are_looked_up_before_anything_runs() {
    let spec = "\
sweep:
  name: s
  grid:
    scenario: [VR_gamin, absent.yaml]
    system: [Z, \"WS:0 + OS:1\", \"WS + XS\"]
    platform: papre
    cost_model: rooflin
";
    let starts = [
        "4:16: no scenario named `VR_gamin` (did you mean `VR_gaming`?)",
        "4:26: absent.yaml: ",
        "5:14: no system named `Z` (known: A, B, C",
        "5:17: `WS:0 + OS:1`: expected a dataflow and its share of the PEs",
        "5:32: no dataflow named `WS + XS`",
        "6:15: no platform named `papre` (did you mean `paper`?)",
        "7:17: no cost model named `rooflin` (did you mean `roofline`?)",
    ];
    let found = messages(spec);
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    for (line, start) in found.iter().zip(starts) {
        assert!(line.starts_with(start), "{found:#?}");
    }
}

/// A point that is skipped because of its form causes no further message: the others lack no key.
#[test]
fn wrong_forms_hide_no_wrong_names() {
    let spec = "\
sweep:
  name: s
  points:
    - {system: three_unequal, scenario: VR_gaming}
    - {system: A, scenario: [VR_gaming], pes: 96}
    - {system: A, scenario: VR_gamin, pes: many}
  grid:
    scheduler: [[edf], lff]
    platform: papre
    seed: 5..1
  repetitions: 3
";
    let range = "(a range is FIRST..LAST, FIRST..LAST step N, or FIRST..LAST step xN)";
    assert_eq!(
        messages(spec),
        [
            "5:29: expected text, found a list".into(),
            "6:29: no scenario named `VR_gamin` (did you mean `VR_gaming`?)".into(),
            "6:44: `pes` is `many` (allowed is a whole number from 1 to 16777216)".into(),
            "8:17: expected text, found a list".into(),
            "8:24: no scheduler named `lff` (did you mean `llf`?)".into(),
            "9:15: no platform named `papre` (did you mean `paper`?)".into(),
            format!("10:11: 5 to 1 goes downward {range}"),
            "11:3: a sweep has no key `repetitions` (did you mean `replications`?)".into(),
        ]
    );
}

#[test]
fn hostile_products_are_refused_with_their_number() {
    let axes = "{seed: 0..9999, replication: 0..9999, pes: 1..10000 step 1}";
    let spec =
        format!("sweep: {{name: s, points: [{{scenario: VR_gaming, system: A}}], grid: {axes}}}");
    assert_eq!(messages(&spec), ["1:1: 1000000000000 points; at most 100000000 are allowed"]);
    let endless = "sweep: {name: s, grid: {seed: 0..1e15}}";
    assert!(messages(endless)[0].contains("more than 100000 values"), "{:?}", messages(endless));
    let twice = "sweep: {name: s, grid: {seed: [1, 2, 1]}}";
    assert_eq!(messages(twice), ["1:38: given twice"]);
    let same = "sweep: {name: s, grid: {system: [J, j]}}";
    assert_eq!(messages(same), ["1:37: `j` and `J` are both called `J`"]);
}

#[test]
fn systems_in_full_fix_their_pes() {
    let both = "sweep: {name: s, grid: {scenario: VR_gaming, system: [A, three_unequal]}}";
    assert!(messages(both)[0].contains("fixes its own PEs"), "{:?}", messages(both));
    let points = "{system: three_unequal}, {system: A, pes: 96}, {system: A}";
    let study = Study::new(&format!(
        "sweep: {{name: s, points: [{points}], grid: {{scenario: VR_gaming}}}}"
    ));
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let systems: Vec<_> = rows.lines().skip(1).map(|row| cell(&rows, row, "system")).collect();
    assert_eq!(systems, ["three_unequal", "A", "A"]);
    assert!(!cell(&rows, rows.lines().nth(1).expect("a row"), "score").is_empty());
    assert!(rows.lines().nth(3).is_some_and(|row| row.contains(",style A needs `pes`,")), "{rows}");
}

#[test]
fn points_may_differ_in_what_they_give() {
    let points = "{semantics: mlsys2023}, {cost_model: roofline}, {platform: eyeriss}, {seed: 7}";
    let study = Study::new(&format!(
        "sweep: {{name: s, points: [{points}], grid: {{scenario: VR_gaming, system: A, pes: 4096}}}}"
    ));
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let said: Vec<_> = rows
        .lines()
        .skip(1)
        .map(|row| ["semantics", "cost_model", "platform", "seed"].map(|it| cell(&rows, row, it)))
        .collect();
    assert_eq!(
        said,
        [
            ["mlsys2023", "maestro", "", "0"],
            ["principled", "roofline", "", "0"],
            ["principled", "loop-nest", "eyeriss", "0"],
            ["principled", "loop-nest", "", "7"],
        ]
    );
    let lacking =
        "sweep: {name: s, points: [{system: A, pes: 96}, {scenario: VR_gaming, system: A}]}";
    assert_eq!(messages(lacking), ["1:36: this point has no `scenario`, which others have"]);
}

#[test]
fn what_has_no_effect_under_the_semantics_is_a_reason() {
    let study = Study::new(SPEC);
    let scope = ["--scenario", "VR_gaming", "--system", "A", "--pes", "4096"];
    let axes = ["--semantics", "principled,mlsys2023", "--scheduler", "edf"];
    let rows = study.sweep("rows.csv", &[&scope[..], &axes].concat());
    let scores: Vec<_> =
        rows.lines().skip(1).map(|row| !cell(&rows, row, "score").is_empty()).collect();
    assert_eq!(scores, [true, false]);
    assert!(rows.contains("scheduler has no effect under --semantics mlsys2023"), "{rows}");
}

/// `beta=2` belongs to the scheduler before it, both between commas and in a YAML list.
#[test]
fn lists_of_schedulers_keep_parameters_with_their_policy() {
    let spec = "\
sweep:
  name: policies
  grid:
    scenario: VR_gaming
    system: A
    pes: 4096
    scheduler: [edf, dream:alpha=0.5, beta=2, \"llf:hysteresis=0,estimate=mean\", fcfs]
";
    let study = Study::new(spec);
    let expected = ["edf", "dream:alpha=0.5,beta=2", "llf:hysteresis=0,estimate=mean", "fcfs"];
    let schedulers = |rows: &str| -> Vec<String> {
        let mut reader = csv::Reader::from_reader(rows.as_bytes());
        let column = reader.headers().expect("a header").iter().position(|it| it == "scheduler");
        let rows = reader.records().map(|row| row.expect("rows are even"));
        rows.map(|row| row[column.expect("it is there")].to_string()).collect()
    };
    assert_eq!(schedulers(&study.sweep("file.csv", &["spec.yaml"])), expected);
    let options = ["--scenario", "VR_gaming", "--system", "A", "--pes", "4096", "--scheduler"];
    let list = ["edf, dream:alpha=0.5, beta=2,llf:hysteresis=0,estimate=mean,fcfs"];
    let rows = study.sweep("options.csv", &[&options[..], &list].concat());
    assert_eq!(schedulers(&rows), expected);
    let wrong = spec.replace("beta=2", "gamma=2");
    let known = "alpha, beta, switch_pj, drop, drops, window, admission, epsilon_ms, guard_ms, \
                 granularity, block_ms, preemption, quality, governor, mhz, margin_ms, \
                 busy_window_ms, up, down, limit_c, window_s";
    assert_eq!(
        messages(&wrong),
        [format!("7:22: dream has no parameter `gamma` (known: {known})")]
    );
}
