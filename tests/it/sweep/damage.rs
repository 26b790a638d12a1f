//! Files of sweeps whose bytes were changed.

use std::fs;

use super::{SPEC, Study};
use crate::support::binary::{process, stdout};

/// Six points.
const SMALL: &str = "\
sweep:
  name: small
  grid: {scenario: [VR_gaming, AR_gaming], system: A, pes: [64, 96, 128]}
";

/// Positions of the changes: some in each line.
fn places(text: &str) -> impl Iterator<Item = usize> + use<> {
    (0..text.len()).step_by(37)
}

fn flipped(text: &str, at: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] ^= 1;
    bytes
}

#[test]
fn a_row_with_a_changed_byte_is_made_again_and_no_other() {
    let study = Study::new(SMALL);
    let whole = study.sweep("rows.csv", &["spec.yaml"]);
    let header = whole.find('\n').expect("there is a header");
    for at in places(&whole).filter(|at| *at > header) {
        fs::write(study.path("rows.csv"), flipped(&whole, at)).expect("it can be written");
        let (_, note) = study.done(&["sweep", "spec.yaml", "--out", "rows.csv"]);
        assert_eq!(study.read("rows.csv"), whole, "byte {at}");
        let line = whole[..at].matches('\n').count() + 1;
        assert!(note.contains(&format!("rows.csv:{line}: a damaged row is made again")), "{note}");
        assert!(note.contains("6 points, 1 of them new"), "{note}");
    }
}

#[test]
fn a_sweep_that_is_not_done_is_plotted_with_a_note() {
    let study = Study::new(SMALL);
    let whole = study.sweep("rows.csv", &["spec.yaml"]);
    let plot = ["plot", "rows.csv", "--kind", "best"];
    let (_, note) = study.done(&plot);
    assert!(!note.contains("points"), "{note}");
    let four: String = whole.split_inclusive('\n').take(5).collect();
    fs::write(study.path("rows.csv"), four).expect("it can be written");
    let (_, note) = study.done(&plot);
    assert!(note.contains("note: rows.csv has 4 of 6 points; the same `xrsim sweep`"), "{note}");
}

#[test]
fn cut_cells_and_missing_columns_are_damage_to_every_reader() {
    let study = Study::new(SMALL);
    for part in ["1/2", "2/2"] {
        study.done(&["sweep", "spec.yaml", "--shard", part]);
    }
    let parts = ["spec.1-of-2.csv", "spec.2-of-2.csv"];
    let whole = study.read(parts[1]);
    let row = whole.lines().nth(2).expect("there are rows");
    let cells: Vec<_> = row.split(',').collect();
    let without_one = [&cells[..4], &cells[5..]].concat().join(",");
    let three = format!("{},{},\u{fffd}", cells[0], cells[1]);
    for changed in [without_one, three, row.replace(",VR_", ",VX_").replace(",AR_", ",AX_")] {
        assert_ne!(changed, row);
        fs::write(study.path(parts[1]), whole.replace(row, &changed)).expect("it can be written");
        let merged = study.refused(&["parts", "merge", parts[0], parts[1], "--out", "all.csv"]);
        assert!(merged.contains("line 3 is not the row of point 4 as it was written"), "{merged}");
        let plotted = study.refused(&["plot", parts[1], "--kind", "best"]);
        assert!(plotted.contains("line 3: the row does not match its `check`"), "{plotted}");
        study.done(&["sweep", "spec.yaml", "--shard", "2/2"]);
        assert_eq!(study.read(parts[1]), whole);
    }
    study.done(&["parts", "merge", parts[0], parts[1], "--out", "all.csv"]);
}

#[test]
fn no_changed_byte_of_rows_or_record_is_plotted() {
    let study = Study::new(SMALL);
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let record = study.read("rows.csv.json");
    let plot = ["plot", "rows.csv", "--kind", "best"];
    let plotted = study.done(&plot);
    for (file, text) in [("rows.csv", &rows), ("rows.csv.json", &record)] {
        for at in places(text) {
            fs::write(study.path(file), flipped(text, at)).expect("it can be written");
            let assert = study.command(&plot).assert();
            // Without the name of the checksum column the rows count as they are.
            let is_right = file.ends_with("json") && stdout(&assert) == plotted.0;
            assert!(is_right || assert.get_output().status.code() == Some(2), "{file}, byte {at}");
        }
        fs::write(study.path(file), text).expect("it can be written");
    }
}

#[test]
fn a_table_of_other_tools_is_plotted_without_checks() {
    let study = Study::new(SMALL);
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let table: String = rows
        .lines()
        .map(|row| format!("{}\n", row.rsplit_once(',').expect("there are columns").0))
        .collect();
    fs::write(study.path("mine.csv"), table).expect("it can be written");
    let (mine, _) = study.done(&["plot", "mine.csv", "--kind", "best"]);
    assert_eq!(mine, study.done(&["plot", "rows.csv", "--kind", "best"]).0);
}

#[test]
fn a_damaged_record_refuses_to_go_on() {
    let study = Study::new(SMALL);
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let record = study.read("rows.csv.json");
    fs::write(study.path("rows.csv.json"), record.replace("\"n_points\":6", "\"n_points\":7"))
        .expect("it can be written");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "rows.csv"]);
    assert!(message.contains("it was changed after it was written"), "{message}");
    assert_eq!(study.read("rows.csv"), rows);
}

#[test]
fn a_sweep_takes_the_place_of_nothing_that_it_reads() {
    let study = Study::new(SPEC);
    let message = study.refused(&["sweep", "spec.yaml", "--out", "./spec.yaml", "--restart"]);
    assert!(message.contains("./spec.yaml would overwrite spec.yaml"), "{message}");
    assert_eq!(study.read("spec.yaml"), SPEC);
    study.done(&["sweep", "spec.yaml", "--shard", "1/1"]);
    let part = study.read("spec.1-of-1.csv");
    let message = study.refused(&["parts", "merge", "spec.1-of-1.csv", "--out", "spec.1-of-1.csv"]);
    assert!(message.contains("would overwrite spec.1-of-1.csv"), "{message}");
    assert_eq!(study.read("spec.1-of-1.csv"), part);
}

/// The last four of sixteen points wait ten seconds for a scheduler that does not answer. The rows of the
/// others are written before that.
#[test]
#[cfg(unix)]
fn rows_are_in_the_file_long_before_the_last_one_is_made() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Stdio;

    let study = Study::new(
        "sweep: {name: s, grid: {scenario: VR_gaming, system: A, pes: 4096, \
         scheduler: [edf, rm, sjf, \"external:./wait.sh\"]}, replications: 4}",
    );
    fs::write(study.path("wait.sh"), "#!/bin/sh\nexec sleep 60\n").expect("it can be written");
    fs::set_permissions(study.path("wait.sh"), fs::Permissions::from_mode(0o755)).expect("set");
    let mut child = process(&["sweep", "spec.yaml", "--out", "rows.csv"])
        .env("RAYON_NUM_THREADS", "2")
        .current_dir(study.folder.path())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let n_lines = || fs::read_to_string(study.path("rows.csv")).unwrap_or_default().lines().count();
    let mut first = n_lines();
    while first < 2 && child.try_wait().expect("it can be waited for").is_none() {
        first = n_lines();
    }
    let _ = child.kill();
    child.wait().expect("it can be waited for");
    assert!((2..=13).contains(&first), "{first} lines when there were any rows");
}
