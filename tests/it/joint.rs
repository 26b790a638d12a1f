//! `xrsim sensitivity --joint`: draws of uncertain constants whose answer is known.

use std::collections::HashMap;
use std::fs;

use tempfile::tempdir;

use crate::support::binary;

use binary::{on_threads, output, path, refused, stdout};

/// Two systems in one scenario without a search for mappings.
const RUNS: [&str; 10] = [
    "--scenario",
    "AR_gaming",
    "--system",
    "A,J",
    "--pes",
    "4096",
    "--platform",
    "headset",
    "--flexibility",
    "none",
];

/// A file of ranges of these constants.
fn constants(lines: &str) -> String {
    format!("uncertainty:\n  name: mine\n  constants:\n{lines}")
}

fn line(name: &str, range: &str) -> String {
    format!("    {name}: {{{range}, source: choice}}\n")
}

/// The scores of every draw by system, under these constants.
fn scores(text: &str, draws: &str) -> HashMap<String, Vec<f64>> {
    let folder = tempdir().expect("a folder can be made");
    let file = path(&folder, "mine.yaml");
    fs::write(&file, text).expect("it can be written");
    let out = path(&folder, "out");
    let more = ["--joint", draws, "--constants", &file, "--out", &out, "--format", "csv"];
    output(&[&["sensitivity"], &RUNS[..], &more].concat());
    for name in ["joint.csv", "places.svg", "places.pdf", "places.csv", "joint.json"] {
        assert!(folder.path().join("out").join(name).exists(), "{name}");
    }
    let text = fs::read_to_string(folder.path().join("out/draws.csv")).expect("a table");
    columns(&text, "score ")
}

/// Columns whose names begin with `first`, by the rest of the name.
fn columns(text: &str, first: &str) -> HashMap<String, Vec<f64>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let mut columns: HashMap<String, Vec<f64>> = HashMap::new();
    for row in reader.records().map(|row| row.expect("a row")) {
        for (name, cell) in header.iter().zip(row.iter()) {
            if let Some(name) = name.strip_prefix(first) {
                columns.entry(name.into()).or_default().push(cell.parse().expect("a number"));
            }
        }
    }
    columns
}

/// Scores of `run` in as many replications.
fn of_run(system: &str, more: &[&str]) -> Vec<f64> {
    let own = ["run", "--scenario", "AR_gaming", "--system", system, "--replications", "20"];
    let text = output(&[&own, &RUNS[4..], &["--format", "csv"], more].concat());
    columns(&text, "score").remove("").expect("a column `score`")
}

/// Costs from counts equal those of the cost model where a constant has one value.
#[test]
fn draws_of_one_value_are_the_runs_that_have_it() {
    let cases = [
        (line("mac_energy", "factor: [1, 1]"), vec![]),
        (line("dram_energy", "factor: [2, 2]"), vec!["hardware.dram_pj_per_byte=x2"]),
        (
            line("shared_memory_energy", "factor: [2, 2]")
                + &line("scratchpad_energy", "factor: [0.5, 0.5]"),
            vec!["hardware.shared_memory_pj_per_byte=x2", "hardware.scratchpad_pj_per_byte=x0.5"],
        ),
        (
            line("dram_latency_cycles", "between: [400, 400]"),
            vec!["hardware.dram_latency_cycles=400"],
        ),
        (
            line("score_k_per_ms", "factor: [2, 2]")
                + &line("score_energy_max_mj", "factor: [2, 2]"),
            vec!["score.k_per_ms=30", "score.energy_max_mj=3000"],
        ),
    ];
    for (constants_of, settings) in cases {
        let found = scores(&constants(&constants_of), "20");
        let options: Vec<_> = settings.iter().flat_map(|it| ["--set", it]).collect();
        for system in ["A", "J"] {
            for (found, expected) in found[system].iter().zip(of_run(system, &options)) {
                assert!(
                    (found - expected).abs() < 2e-4,
                    "{settings:?} {system}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn a_constant_that_alone_decides_is_named() {
    let folder = tempdir().expect("a folder can be made");
    let file = path(&folder, "mine.yaml");
    let lines =
        line("mac_energy", "factor: [0.999, 1.001]") + &line("dram_energy", "factor: [0.5, 2]");
    fs::write(&file, constants(&lines)).expect("it can be written");
    let more = ["--joint", "60", "--constants", &file, "--format", "json"];
    let runs = [&["sensitivity", "--scenario", "VR_gaming"], &RUNS[2..], &more].concat();
    let text = output(&runs);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for system in value["systems"].as_array().expect("systems") {
        assert_eq!(system["decisive"]["constant"], "dram_energy", "{system}");
        let rho = system["decisive"]["rank_correlation"].as_f64().expect("a number");
        assert!(rho.abs() > 0.9, "{system}");
    }
}

#[test]
fn draws_depend_on_the_seed_alone() {
    let draws = |threads: &str, more: &[&str]| {
        let joint = ["--joint", "20", "--format", "json"];
        let arguments = [&["sensitivity"], &RUNS[..], &joint, more].concat();
        stdout(&on_threads(threads, &arguments).assert().success())
    };
    let once = draws("1", &[]);
    assert_eq!(once, draws("3", &[]));
    assert_ne!(once, draws("1", &["--seed", "1"]));
    // More draws begin with the same ones.
    let default = include_str!("../../hw_configs/uncertainties/default.yaml");
    let [few, many] = ["20", "25"].map(|n| scores(default, n));
    assert_eq!(few["A"][..], many["A"][..20]);
}

#[test]
fn the_output_says_what_was_held_and_a_page_shows_it() {
    let folder = tempdir().expect("a folder can be made");
    let [out, page] = ["joint", "page.html"].map(|name| path(&folder, name));
    let text = output(&[&["sensitivity"], &RUNS[..], &["--joint", "20", "--out", &out]].concat());
    for part in ["first in ", "of 20 draws", "mappings stay those of the base", "decides most"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    output(&["report", &out, "--out", &page]);
    let html = fs::read_to_string(&page).expect("a page");
    assert!(html.contains("</html>") && html.len() > 10_000, "{}", html.len());
    // A file of the folder that the page does not show.
    let draws = format!("{out}/draws.csv");
    let changed = fs::read_to_string(&draws).expect("a table") + "0\n";
    fs::write(&draws, changed).expect("it can be written");
    assert!(refused(&["report", &out, "--out", &page]).contains("draws.csv is not the file"));
}

#[test]
fn bad_ranges_are_refused_with_their_line_and_the_nearest_name() {
    let folder = tempdir().expect("a folder can be made");
    let file = path(&folder, "mine.yaml");
    let refusal = |lines: &str| {
        fs::write(&file, constants(lines)).expect("it can be written");
        refused(&[&["sensitivity"], &RUNS[..], &["--joint", "20", "--constants", &file]].concat())
    };
    let message = refusal(&line("dram_energi", "factor: [1, 2]"));
    assert!(
        message.contains(":4:5: unknown constant `dram_energi` (did you mean `dram_energy`?)"),
        "{message}"
    );
    assert!(refusal(&line("mac_energy", "factor: [2, 1]")).contains("is not above the second"));
    assert!(refusal(&line("mac_energy", "factor: [1]")).contains("has two numbers"));
    assert!(refusal("    mac_energy: {source: choice}\n").contains("a range has one of"));
    assert!(refusal(&line("dram_latency_cycles", "factor: [1, 2]")).contains("numbers of cycles"));
    let one = ["sensitivity", "--joint", "20", "--scenario", "AR_gaming", "--system", "A"];
    assert!(refused(&one).contains("ranks two systems or more"));
    let unknown =
        [&["sensitivity"], &RUNS[..], &["--joint", "20", "--constants", "defualt"]].concat();
    assert!(refused(&unknown).contains("did you mean `default`?"));
}
