//! `xrsim day` as a command: its files, what it refuses, and the change that helps most.

use std::fs;

use crate::support::binary::{path, stderr, stdout, xrsim};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// A folder with a profile of three seconds, `profile.yaml`, and a device, `device.yaml`.
fn folder() -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    let profile = "profile:
  name: short
  phases:
    - {name: game, scenario: VR_gaming, minutes: 0.03}
    - {name: pause, minutes: 0.02}
";
    let device = "device:
  name: glasses
  base_mw: 500
  battery: {wh: 1}
  thermal:
    nodes: {skin: {j_per_k: 60, k_per_w: {air: 10}}}
    heat: {base: skin, accelerators: skin}
";
    for (name, text) in [("profile.yaml", profile), ("device.yaml", device)] {
        fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

/// The words of a run of the profile.
fn words(folder: &TempDir, more: &[&str]) -> Vec<String> {
    let profile = path(folder, "profile.yaml");
    let run = ["day", "--profile", &profile, "--system", "J", "--pes", "4096"];
    let run = run.iter().chain(&["--flexibility", "none"]).chain(more);
    run.map(|word| word.to_string()).collect()
}

fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let name = |it: std::io::Result<fs::DirEntry>| {
        it.expect("an entry").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn a_day_without_a_device_writes_the_files_that_it_names() {
    let folder = folder();
    let out = path(&folder, "out");
    let words = words(&folder, &["--no-changes", "--out", &out]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let assert = xrsim(&words).assert().code(0);
    assert!(stderr(&assert).contains("wrote phases.csv, day.json to "), "{}", stderr(&assert));
    assert_eq!(files(&out), ["day.json", "phases.csv"]);
    let record = fs::read_to_string(format!("{out}/day.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let effective = &record["effective"];
    // 0.03 + 0.02 minutes.
    assert_eq!((&effective["profile"], &effective["duration_s"]), (&"short".into(), &3.0.into()));
    assert_eq!((effective.get("duration_ms"), effective.get("scenario")), (None, None));
}

#[test]
fn a_chart_of_no_device_is_refused_before_anything_is_written() {
    let folder = folder();
    let (out, plot) = (path(&folder, "out"), path(&folder, "day.svg"));
    let words = words(&folder, &["--out", &out, "--plot", &plot]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let assert = xrsim(&words).assert().code(2);
    let expected = "error: --plot draws a device over time; name one with --device\n";
    assert_eq!(stderr(&assert), expected);
    assert_eq!(files(&folder.path().display().to_string()), ["device.yaml", "profile.yaml"]);
}

#[test]
fn a_day_on_a_device_ends_with_the_change_that_helps_most() {
    let folder = folder();
    let (out, device) = (path(&folder, "out"), path(&folder, "device.yaml"));
    let words = words(&folder, &["--device", &device, "--scheduler", "fcfs", "--out", &out]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let assert = xrsim(&words).assert().code(0);
    let text = stdout(&assert);
    assert_eq!(files(&out), ["course.csv", "day.json", "device.csv", "phases.csv"]);
    let (report, advice) = text.split_once("\nhelps most: ").unwrap_or_else(|| panic!("{text}"));
    // The outside node has its name, and no phase is throttled.
    assert!(report.contains("  skin C") && !report.contains("throttled %"), "{report}");
    let lines: Vec<_> = advice.lines().collect();
    let [_, option, score] = lines[..] else { panic!("{advice}") };
    assert!(option.starts_with("  --scheduler ") || option.starts_with("  --pes "), "{option}");
    // 1 Wh lasts longer than 3 s.
    assert!(score.starts_with("  score 0.") && score.ends_with(", h 0.00 -> 0.00"), "{score}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
