//! Sweeps with more values than before: old rows are kept, and the files are those of a sweep that is made at once.

use super::*;

/// Options of a sweep without a search of mappings.
const BASE: [&str; 8] =
    ["--scenario", "VR_gaming", "--system", "A,J", "--flexibility", "none", "--duration", "200"];

fn nothing() -> Study {
    Study::new("")
}

/// Rows and record of the sweep with `options`, made at once.
fn at_once(study: &Study, options: &[&str]) -> [String; 2] {
    fs::remove_file(study.path("once.csv")).ok();
    fs::remove_file(study.path("once.csv.json")).ok();
    [study.sweep("once.csv", options), study.read("once.csv.json")]
}

#[test]
fn a_sweep_with_more_values_makes_only_the_new_points_and_has_the_bytes_of_one_at_once() {
    let study = nothing();
    let with = |more: &[&'static str]| [&BASE[..], more].concat();
    // Sizes, schedulers, both at once with a size between others, draws, another order.
    let steps = [
        (with(&["--pes", "1024,4096", "--scheduler", "edf", "--replications", "1"]), 4),
        (with(&["--pes", "1024,4096,8192", "--scheduler", "edf", "--replications", "1"]), 2),
        (
            with(&["--pes", "1024,2048,4096,8192", "--scheduler", "rm,edf", "--replications", "1"]),
            10,
        ),
        (
            with(&["--pes", "1024,2048,4096,8192", "--scheduler", "rm,edf", "--replications", "3"]),
            32,
        ),
        (
            with(&["--pes", "8192,4096,2048,1024", "--scheduler", "edf,rm", "--replications", "3"]),
            0,
        ),
    ];
    for (options, n_new) in &steps {
        let (_, note) = study.done(&[&["sweep", "--out", "rows.csv"], &options[..]].concat());
        assert!(note.contains(&format!("{n_new} of them new")), "{note}");
        let files = ["rows.csv", "rows.csv.json"].map(|name| study.read(name));
        assert_eq!(files, at_once(&study, options), "{options:?}");
    }
    // Fewer values are another sweep.
    let message = study.refused(&[&["sweep", "--out", "rows.csv"], &steps[0].0[..]].concat());
    assert!(message.contains("`pes` has no longer `8192` `2048`"), "{message}");
    assert!(message.contains("cannot be continued"), "{message}");
}

#[test]
fn a_sweep_that_was_cut_or_damaged_is_extended_all_the_same() {
    let study = nothing();
    let small = [&BASE[..], &["--pes", "1024,4096"]].concat();
    let large = [&BASE[..], &["--pes", "1024,2048,4096"]].concat();
    let whole = at_once(&study, &large);
    let small_rows = study.sweep("rows.csv", &small);
    let lines: Vec<_> = small_rows.lines().collect();
    // The second row is damaged and the last one cut.
    let cut =
        [lines[0], lines[1], &lines[2].replace("AR", "XR").replace("VR", "XR"), &lines[3][..20]];
    fs::write(study.path("rows.csv"), cut.join("\n")).expect("written");
    let (_, note) = study.done(&[&["sweep", "--out", "rows.csv"], &large[..]].concat());
    assert!(note.contains("1 row kept; `pes` has the new `2048`"), "{note}");
    assert!(note.contains("6 points, 5 of them new"), "{note}");
    assert_eq!(["rows.csv", "rows.csv.json"].map(|name| study.read(name)), whole);
}

/// Whatever was written when the program stopped: the record names the earlier values as long as rows may have their
/// indices.
#[test]
fn an_extension_that_is_stopped_goes_on() {
    let study = nothing();
    let small = [&BASE[..], &["--pes", "1024,4096"]].concat();
    let large = [&BASE[..], &["--pes", "512,1024,4096"]].concat();
    let again = [&["sweep", "--out", "rows.csv"], &large[..]].concat();
    let whole = at_once(&study, &large);
    let rows = study.sweep("rows.csv", &small);
    // The record was replaced by that of the extension, with the earlier values; the rows were not.
    let record = study.read("rows.csv.json");
    let grid = |text: &str| {
        let from = text.find("\"grid\":").expect("a grid") + 7;
        let to = from + text[from..].find("]}]").expect("its end") + 3;
        text[from..to].to_string()
    };
    let new =
        whole[1].replacen("\"grid\":", &format!("\"extends\":{},\"grid\":", grid(&record)), 1);
    fs::write(study.path("rows.csv.json"), sealed(&new)).expect("written");
    let (_, note) = study.done(&again);
    assert!(note.contains("4 rows kept; an extension of the sweep goes on"), "{note}");
    assert_eq!(["rows.csv", "rows.csv.json"].map(|name| study.read(name)), whole);
    // The rows were replaced, the record was not.
    fs::write(study.path("rows.csv.json"), sealed(&new)).expect("written");
    let (_, note) = study.done(&again);
    assert!(note.contains("6 points, 0 of them new"), "{note}");
    assert_eq!(["rows.csv", "rows.csv.json"].map(|name| study.read(name)), whole);
    // A third sweep does not come between.
    fs::write(study.path("rows.csv"), &rows).expect("written");
    fs::write(study.path("rows.csv.json"), sealed(&new)).expect("written");
    let third = [&BASE[..], &["--pes", "512,1024,4096,8192"]].concat();
    let message = study.refused(&[&["sweep", "--out", "rows.csv"], &third[..]].concat());
    assert!(message.contains("an earlier extension of it was interrupted"), "{message}");
    study.done(&again);
    assert_eq!(study.read("rows.csv"), whole[0]);
}

/// The record `text` with a seal of its content.
fn sealed(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let key = "\"record_sha256\":\"";
    let at = text.find(key).expect("a seal") + key.len();
    let zeros = [&text[..at], &"0".repeat(64), &text[at + 64..]].concat();
    let seal: String =
        Sha256::digest(zeros.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    [&text[..at], &seal, &text[at + 64..]].concat()
}

/// Mappings of an accelerator are candidates of those with more (docs/explanation/mapper.md, section 6.3), so that rows do
/// not depend on accelerators with more, but may depend on those with less.
#[test]
fn sizes_above_extend_a_sweep_of_chosen_mappings_and_sizes_below_do_not() {
    let study = nothing();
    let of = |pes: &'static str| {
        let run = ["--scenario", "VR_gaming", "--system", "A", "--duration", "200"];
        [&run[..], &["--effort", "quick", "--flexibility", "tiles", "--pes", pes]].concat()
    };
    let sweep = |options: &[&'static str]| [&["sweep", "--out", "rows.csv"], options].concat();
    study.done(&sweep(&of("512")));
    let (_, note) = study.done(&sweep(&of("512,1024")));
    assert!(note.contains("1 row kept; `pes` has the new `1024`"), "{note}");
    let whole = at_once(&study, &of("512,1024"));
    assert_eq!(["rows.csv", "rows.csv.json"].map(|name| study.read(name)), whole);
    let message = study.refused(&sweep(&of("256,512,1024")));
    let reason = "`pes` has the new `256`; WS with 512 PEs may take mappings of WS with 256 PEs, an \
                  accelerator with less of which it has no rows (docs/explanation/mapper.md, section 6.3)";
    assert!(message.contains(reason), "{message}");
    assert_eq!(study.read("rows.csv"), whole[0]);
}

#[test]
fn an_extended_sweep_keeps_rows_only_of_the_same_files() {
    let study = nothing();
    let (scenario, _) = study.done(&["show", "VR_gaming"]);
    let renamed = scenario.replace("VR_gaming", "mine");
    fs::write(study.path("mine.yaml"), &renamed).expect("written");
    let run = ["--system", "A", "--pes", "1024", "--flexibility", "none", "--duration", "200"];
    let of = |scenarios| [&["--scenario", scenarios], &run[..]].concat();
    let sweep = |scenarios| [&["sweep", "--out", "rows.csv"], &of(scenarios)[..]].concat();
    study.done(&sweep("mine.yaml"));
    let (_, note) = study.done(&sweep("mine.yaml,AR_gaming"));
    assert!(note.contains("2 points, 1 of them new"), "{note}");
    let whole = at_once(&study, &of("mine.yaml,AR_gaming"));
    assert_eq!(["rows.csv", "rows.csv.json"].map(|name| study.read(name)), whole);
    fs::write(study.path("mine.yaml"), renamed.replace("fps: 60", "fps: 30")).expect("written");
    let message = study.refused(&sweep("mine.yaml,AR_gaming,VR_gaming"));
    assert!(message.contains("mine.yaml has changed"), "{message}");
    assert_eq!(study.read("rows.csv"), whole[0]);
}
