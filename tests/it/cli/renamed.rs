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
