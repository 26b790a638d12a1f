//! `xrsim day` as a command: its files, what it refuses, and the change that helps most.

use std::fs;

use crate::support::binary::{output, path, refused, stderr, stdout, xrsim};
use crate::support::page::data;
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
fn a_trace_of_a_day_has_its_phases_and_its_device_and_no_requests() {
    let folder = folder();
    let [trace, device] = ["day.trace.json", "device.yaml"].map(|name| path(&folder, name));
    let words = words(&folder, &["--no-changes", "--device", &device, "--trace", &trace]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let said = stderr(&xrsim(&words).assert().code(0));
    assert!(said.contains("2 slices, 0 arrows, 0 instants, "), "{said}");
    let text = fs::read_to_string(trace).expect("a trace");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let events = document["traceEvents"].as_array().expect("events");
    let slices: Vec<_> = events.iter().filter(|it| it["ph"] == "X").collect();
    let times: Vec<_> =
        slices.iter().map(|it| [&it["ts"], &it["dur"]].map(Value::as_f64)).collect();
    // 0.03 and 0.02 minutes.
    assert_eq!(times, [[Some(0.0), Some(1.8e6)], [Some(1.8e6), Some(1.2e6)]]);
    assert_eq!(slices[0]["name"], "game");
    assert_eq!(slices[0]["args"]["scenario"], "VR_gaming");
    for name in ["power", "power base", "temperature skin", "charge"] {
        let n = events.iter().filter(|it| it["ph"] == "C" && it["name"] == name).count();
        // At most one each 3 s / 2000, and one at the end.
        assert!((100..=2001).contains(&n), "{name}: {n}");
    }
}

#[test]
fn energies_of_several_days_are_bars_and_a_table() {
    let folder = folder();
    let device = path(&folder, "device.yaml");
    let days = ["fixed", "race"].map(|governor| {
        let out = path(&folder, governor);
        let scheduler = format!("edf:governor={governor}");
        let more = ["--no-changes", "--device", &device, "--scheduler", &scheduler, "--out", &out];
        output(&words(&folder, &more).iter().map(String::as_str).collect::<Vec<_>>());
        out
    });
    let picture = path(&folder, "energy.svg");
    let plot = ["plot", &days[0], &days[1], "--kind", "energy"];
    let table = output(&plot);
    let header: Vec<_> = table.lines().next().expect("a header").split_whitespace().collect();
    assert_eq!(header, ["Mean", "power", "[W]", "fixed", "race"]);
    // 500 mW of the device.
    assert!(table.contains("base: display, cameras, radio") && table.contains("0.5000"), "{table}");
    output(&[&plot[..], &["--x", "energy_j", "--out", &picture]].concat());
    let picture = fs::read_to_string(picture).expect("a figure");
    for text in ["Energy by item", "Energy [J]", "fixed", "race", "layers"] {
        assert!(picture.contains(text), "{text}");
    }
    let device = format!("{}/device.csv", days[0]);
    fs::write(&device, "duration_s\n1\n").expect("it is written");
    assert!(refused(&plot).contains("device.csv is not the file that"));
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

/// Detection that is too slow in its first network is dropped under `edf:admission=hopeless`.
#[test]
fn a_lighter_network_is_tried_where_a_model_has_several() {
    let folder = folder();
    let scenario = "scenario:
  name: ladder
  models:
    - {network: ES, fps: 60}
    - {network: HT, fps: 45}
    - network: OD
      fps: 60
      variants: [{network: OD, measured: 22.99}, {network: OD_dsmask, measured: 21.06}]
";
    let system = "system:
  name: one
  clock_mhz: 1000
  energy: {mac_nj: 0.0003, scratchpad_per_mac: 1, shared_memory_per_mac: 60, dram_per_mac: 540}
  accelerators:
    - name: all
      dataflow: WS
      pes: 512
      noc_bandwidth_bytes_per_cycle: 128
      dram_bandwidth_bytes_per_cycle: 128
      shared_memory_kib: 1024
      scratchpad_kib: 8
";
    let profile = "profile:
  name: short
  phases:
    - {name: game, scenario: ladder.yaml, minutes: 0.03}
";
    for (name, text) in [("ladder.yaml", scenario), ("one.yaml", system), ("short.yaml", profile)] {
        fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    let [profile, system] = ["short.yaml", "one.yaml"].map(|name| path(&folder, name));
    let scheduler = "edf:admission=hopeless";
    let run = ["day", "--profile", &profile, "--system", &system, "--scheduler", scheduler];
    let text = output(&[&run[..], &["--flexibility", "none"]].concat());
    let expected =
        "helps most: quality: fitting\n  --scheduler edf:admission=hopeless,quality=fitting\n";
    assert!(text.contains(expected), "{text}");
}

/// The last frames of phases of 12 ms end after the profile, in time of the device in which trips go on to limit.
#[test]
fn shares_of_throttling_are_of_the_time_of_the_device() {
    let folder = folder();
    let profile = "profile:
  name: tiny
  phases:
    - {name: play, scenario: AR_gaming, minutes: 0.0002}
    - {name: pause, scenario: standby, minutes: 0.0002}
";
    let device = "device:
  name: hot
  accelerators: {points: rk3588_npu}
  base_mw: 3000
  thermal:
    nodes: {skin: {j_per_k: 0.1, k_per_w: {air: 10}}}
    heat: {accelerators: skin, base: skin}
    trips: [{node: skin, at_c: 25.2, do: {cap_mhz: 300}}]
    poll_ms: 1
";
    for (name, text) in [("tiny.yaml", profile), ("hot.yaml", device)] {
        fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    let [profile, device, out] = ["tiny.yaml", "hot.yaml", "out"].map(|name| path(&folder, name));
    let run = ["day", "--profile", &profile, "--device", &device, "--system", "J", "--pes", "4096"];
    let more = ["--flexibility", "none", "--no-changes", "--out", &out];
    let text = output(&[&run[..], &more].concat());
    let column = |file: &str, name: &str| -> Vec<f64> {
        let text = fs::read_to_string(format!("{out}/{file}")).expect("a table");
        let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let at = rows.next().expect("a header").iter().position(|it| *it == name);
        let at = at.expect("the column is there");
        rows.map(|row| row[at].parse().expect("a number")).collect()
    };
    let shares = column("phases.csv", "capped_share");
    assert!(shares.iter().all(|share| *share > 0.0 && *share <= 1.0), "{shares:?}");
    let whole = 100.0 * column("device.csv", "capped_share")[0];
    assert!(text.contains(&format!("  {whole:.1} % of the time throttled")), "{text}");
}

#[test]
fn the_folder_of_a_day_becomes_a_page_unless_a_file_of_it_is_wrong() {
    let folder = folder();
    let [out, device, page] = ["out", "device.yaml", "page.html"].map(|name| path(&folder, name));
    let plot = path(&folder, "day.svg");
    let more = ["--device", &device, "--no-changes", "--out", &out, "--plot", &plot];
    let words = words(&folder, &more);
    output(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let picture = fs::read_to_string(plot).expect("a figure");
    for text in ["VR_gaming", "Temperature [C]", "Power [W]", "highest clock", "charge"] {
        assert!(picture.contains(text), "{text}");
    }
    let report = ["report", &out, "-o", &page];
    let said = stderr(&xrsim(&report).assert().code(0));
    assert!(said.contains("page.html: 2 phases, "), "{said}");
    let record = fs::read_to_string(format!("{out}/day.json")).expect("a record");
    let mut record: Value = serde_json::from_str(&record).expect("JSON");
    let told = record["told"].as_array().expect("lines").clone();
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[1].as_str().is_some_and(|it| it.contains("highest second; ")), "{told:?}");
    assert_eq!(record["trips"], serde_json::json!([]));
    // A file that was changed is refused, and one that no record lists is read with care.
    let course = format!("{out}/course.csv");
    let text = fs::read_to_string(&course).expect("a course");
    let (header, rows) = text.split_once('\n').expect("rows");
    let (time, rest) = rows.split_once(',').expect("cells");
    let rest = rest.split_once(',').expect("cells").1;
    fs::write(&course, format!("{header}\n{time},NaN,{rest}")).expect("it is written");
    assert!(refused(&report).contains("course.csv is not the file that"));
    let unsealed = record.as_object_mut().expect("an object");
    for key in ["files", "record_sha256"] {
        unsealed.remove(key);
    }
    fs::write(format!("{out}/day.json"), record.to_string()).expect("it is written");
    let expected = "course.csv:2: column `power_w`: `NaN` is no finite number";
    assert!(refused(&report).contains(expected));
}

/// Files of the second command are those that it names; what the first one wrote and nobody changed goes.
#[test]
fn a_page_of_several_draws_says_so_and_later_pages_go_by_their_record() {
    let folder = folder();
    let [out, device, page] = ["out", "device.yaml", "page.html"].map(|name| path(&folder, name));
    let more = ["--device", &device, "--no-changes", "--out", &out];
    let alone = words(&folder, &more);
    let alone: Vec<_> = alone.iter().map(String::as_str).collect();
    output(&[&alone[..], &["--replications", "3"]].concat());
    let report = ["report", &out, "-o", &page];
    let title = || -> (String, String) {
        output(&report);
        let data = data(&fs::read_to_string(&page).expect("a page"));
        (data["title"].as_str().expect("a title").into(), data.to_string())
    };
    let (found, all) = title();
    assert_eq!(found, "Day short, draw 1 of 3");
    assert!(
        all.contains("Means of 3 draws") && all.contains("No 95 % intervals below 25"),
        "{all}"
    );
    assert!(all.contains("score of the whole profile"), "{all}");
    // The table of the earlier command stays in the folder. The page goes by the record, which does not have it.
    output(&alone);
    assert!(files(&out).contains(&"replications.csv".to_string()));
    let (found, all) = title();
    assert!(found == "Day short" && !all.contains("Means of 3 draws"), "{found}");
}

#[test]
fn a_record_of_a_day_that_lacks_something_is_refused_with_its_place_once() {
    let folder = folder();
    let [out, device, page] = ["out", "device.yaml", "page.html"].map(|name| path(&folder, name));
    let words = words(&folder, &["--device", &device, "--no-changes", "--out", &out]);
    output(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let report = ["report", &out, "-o", &page];
    let path = format!("{out}/day.json");
    let text = fs::read_to_string(&path).expect("a record");
    let mut record: Value = serde_json::from_str(&text).expect("JSON");
    let members = record.as_object_mut().expect("an object");
    for key in ["files", "record_sha256"] {
        members.remove(key);
    }
    fs::write(&path, record.to_string()).expect("it is written");
    fs::remove_file(format!("{out}/device.csv")).expect("it is there");
    let message = refused(&report);
    assert!(message.contains("day.json:1: the run has a device"), "{message}");
    record.as_object_mut().expect("an object").remove("told");
    fs::write(&path, record.to_string()).expect("it is written");
    let message = refused(&report);
    assert!(message.contains("day.json:1: missing field `told`"), "{message}");
    assert!(!message.contains(" at line "), "{message}");
}
