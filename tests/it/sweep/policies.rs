//! Sweeps over schedulers in separate processes.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use binary::stderr;

use super::Study;
use crate::support::binary;

/// A scheduler that lets every request wait.
const POLICY: &str = "#!/bin/sh
read setup
n=0
while read line; do n=$((n+1)); echo \"{\\\"id\\\":$n,\\\"do\\\":\\\"wait\\\"}\"; done
";

/// Two points of the external scheduler and two of a built-in one.
const SPEC: &str = "\
sweep:
  name: s
  grid: {scenario: VR_gaming, system: A, pes: [4096, 8192], scheduler: [\"external:./policy.sh\", edf]}
";

fn with_policy(mode: u32) -> Study {
    let study = Study::new(SPEC);
    fs::write(study.path("policy.sh"), POLICY).expect("it can be written");
    allow(&study, mode);
    study
}

fn allow(study: &Study, mode: u32) {
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(study.path("policy.sh"), permissions).expect("it can be set");
}

#[test]
fn points_that_cannot_be_started_are_missing_and_tried_again() {
    let study = with_policy(0o644);
    let sweep = ["sweep", "spec.yaml", "--out", "rows.csv"];
    let said = stderr(&study.command(&sweep).assert().code(1));
    assert!(said.contains("2 of 4 points are missing, 0, 2; the same command"), "{said}");
    assert!(said.contains("cannot start `./policy.sh`"), "{said}");
    assert_eq!(study.read("rows.csv").lines().count(), 3, "the header and the other points");
    study.command(&sweep).assert().code(1);

    allow(&study, 0o755);
    let (_, note) = study.done(&sweep);
    assert!(note.contains("4 points, 2 of them new"), "{note}");
    let rows = study.read("rows.csv");
    assert_eq!(rows, study.sweep("at_once.csv", &["spec.yaml"]));
    let points: Vec<_> = rows.lines().skip(1).map(|row| &row[..2]).collect();
    assert_eq!(points, ["0,", "1,", "2,", "3,"]);
}

#[test]
fn a_file_without_rows_begins_anew_when_a_missing_policy_has_come() {
    let study = with_policy(0o755);
    let point = ["--scenario", "VR_gaming", "--system", "A", "--pes", "4096"];
    let policy = ["--scheduler", "external:./late.sh", "--out", "late.csv"];
    let sweep = [&["sweep"][..], &point, &policy].concat();
    study.command(&sweep).assert().code(1);
    assert_eq!(study.read("late.csv").lines().count(), 1, "the header");
    fs::copy(study.path("policy.sh"), study.path("late.sh")).expect("it can be copied");
    study.done(&sweep);
    assert_eq!(study.read("late.csv").lines().count(), 2);
}

#[test]
fn a_changed_policy_is_another_sweep() {
    let study = with_policy(0o755);
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    fs::write(study.path("policy.sh"), format!("{POLICY}# better\n")).expect("it can be written");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "rows.csv"]);
    assert!(message.contains("./policy.sh has changed"), "{message}");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "policy.sh"]);
    assert!(message.contains("policy.sh would overwrite ./policy.sh"), "{message}");
    assert_eq!(study.read("rows.csv"), rows);
}
