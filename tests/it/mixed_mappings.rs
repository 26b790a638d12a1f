//! Records have the mappings of accelerators: results of other mappings are not mixed with them, and those of equal
//! ones are, whatever was cached and whenever a command was killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use xrsim::report::rows::RowCheck;

use crate::support::binary::program;
use crate::support::folder::Folder;

/// A change of a line, or none if the line goes.
type Change = dyn Fn(&str) -> Option<String>;

const OPTIONS: [&str; 6] = ["--scenario", "small.yaml", "--system", "A,B", "--pes", "768"];

/// A folder in which commands run, and its records.
struct Study {
    folder: Folder,
}

impl Study {
    fn new() -> Self {
        Self { folder: Folder::new("duration_ms: 2000") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        self.folder.read(name)
    }

    fn call(&self, arguments: &[&str]) -> String {
        self.call_at("cache", arguments)
    }

    fn call_at(&self, cache: &str, arguments: &[&str]) -> String {
        let output = self.folder.succeed(&self.path(cache), arguments);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What a command says that is refused as bad input.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.folder.output(&self.path("cache"), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        said
    }

    fn record(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).expect("JSON")
    }

    /// Changes a record of rows, as another build would have written it, with its seal.
    fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut record = self.record(name);
        change(&mut record);
        record["record_sha256"] = "0".repeat(64).into();
        let text = format!("{record}\n");
        let seal: String =
            Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(self.path(name), text.replace(&"0".repeat(64), &seal)).expect("a file");
    }
}

/// Another mapping of every accelerator.
fn other_digests(record: &mut Value) {
    let accelerators = record["mappings"]["accelerators"].as_object_mut().expect("accelerators");
    for accelerator in accelerators.values_mut() {
        let networks = accelerator["networks"].as_object_mut().expect("networks");
        networks.values_mut().for_each(|digest| *digest = "0123456789abcdef".into());
    }
}

fn other_version(record: &mut Value) {
    record["mappings"]["version"] = "0123456789abcdef".into();
}

fn without_mappings(record: &mut Value) {
    record.as_object_mut().expect("an object").remove("mappings");
}

/// The changes of a record, each with what the refusal says.
type Changes = [(fn(&mut Value), &'static str); 3];

const CHANGES: Changes = [
    (other_digests, "its mappings of KD_res8_narrow_101x40 on WS@768 differ"),
    (other_version, "those of another cost model or search, of version 0123456789abcdef and not"),
    (without_mappings, "its record has no digests of mappings: an earlier build made it"),
];

fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep"][..], &OPTIONS, &["--replications", "4"], more].concat()
}

fn compare<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let schedulers = ["--scheduler", "edf", "--scheduler", "rm", "--replications", "4"];
    [&["compare"][..], &OPTIONS, &schedulers, more].concat()
}

/// The first `n` lines of a text.
fn lines(text: &[u8], n: usize) -> Vec<u8> {
    text.split_inclusive(|byte| *byte == b'\n').take(n).flatten().copied().collect()
}

#[test]
fn a_sweep_goes_on_after_every_row_and_has_the_same_record() {
    let study = Study::new();
    study.call(&sweep(&["--out", "whole.csv"]));
    let (rows, record) = (study.read("whole.csv"), study.read("whole.csv.json"));
    let accelerators = &study.record("whole.csv.json")["mappings"]["accelerators"];
    let names: Vec<&str> =
        accelerators.as_object().expect("an object").keys().map(|it| &**it).collect();
    assert!(names.len() == 2 && names[0].starts_with("OS@768 "), "{names:?}");
    for accelerator in accelerators.as_object().expect("an object").values() {
        assert_eq!(
            (&accelerator["effort"], &accelerator["objective"]),
            (&"default".into(), &"edp".into())
        );
    }
    // Two of A, then two of B: records before the first row, after those of A, and after all of them.
    study.call(&sweep(&["--out", "part.csv", "--shard", "1/2"]));
    let of_part = study.record("part.csv.json")["mappings"].clone();
    let at_start =
        |record: &mut Value| record["mappings"] = serde_json::json!({"accelerators": {}});
    for n in 0..=9 {
        for stage in 0..3 {
            // The record has the mappings of every row that is there.
            if n > [1, 5, 9][stage] {
                continue;
            }
            fs::write(study.path("cut.csv"), lines(&rows, n)).expect("a file");
            fs::write(study.path("cut.csv.json"), &record).expect("a file");
            match stage {
                0 => study.edit("cut.csv.json", at_start),
                1 => study.edit("cut.csv.json", |it| it["mappings"] = of_part.clone()),
                _ => {}
            }
            let cache = ["cold", "cache"][n % 2];
            let _ = fs::remove_dir_all(study.path("cold"));
            study.call_at(cache, &sweep(&["--out", "cut.csv"]));
            assert_eq!(study.read("cut.csv"), rows, "{n} {stage}");
            assert_eq!(study.read("cut.csv.json"), record, "{n} {stage}");
        }
    }
}

#[test]
fn parts_with_other_caches_make_the_file_and_record_of_the_whole() {
    let study = Study::new();
    study.call(&sweep(&["--out", "whole.csv"]));
    study.call_at("full", &[&["run"][..], &OPTIONS, &["--effort", "full"]].concat());
    for (part, cache) in [("1/3", "full"), ("2/3", "cold"), ("3/3", "")] {
        let out = format!("{}.csv", &part[..1]);
        study.call_at(cache, &sweep(&["--out", &out, "--shard", part]));
    }
    study.call(&["parts", "merge", "3.csv", "1.csv", "2.csv", "--out", "merged.csv"]);
    assert_eq!(study.read("merged.csv"), study.read("whole.csv"));
    assert_eq!(study.read("merged.csv.json"), study.read("whole.csv.json"));
}

#[test]
fn a_sweep_refuses_rows_with_other_mappings() {
    let study = Study::new();
    study.call(&sweep(&["--out", "whole.csv"]));
    // Of A one row is missing, so that its mappings are computed again.
    let whole = study.read("whole.csv");
    let all: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let rows = [&all[..4], &all[5..]].concat().concat();
    let record = study.read("whole.csv.json");
    for (change, reason) in CHANGES {
        fs::write(study.path("cut.csv"), &rows).expect("a file");
        fs::write(study.path("cut.csv.json"), &record).expect("a file");
        study.edit("cut.csv.json", change);
        let edited = study.read("cut.csv.json");
        let said = study.refused(&sweep(&["--out", "cut.csv"]));
        assert!(said.contains("cut.csv cannot be continued: "), "{said}");
        assert!(said.contains(reason), "{said}");
        assert!(said.contains("--restart begins it again, --out names another file"), "{said}");
        assert_eq!(study.read("cut.csv"), rows);
        assert_eq!(study.read("cut.csv.json"), edited);
        study.call(&sweep(&["--out", "cut.csv", "--restart"]));
        assert_eq!(study.read("cut.csv"), study.read("whole.csv"));
    }
    // A file without rows is no mixture.
    fs::write(study.path("cut.csv"), lines(&rows, 1)).expect("a file");
    study.edit("cut.csv.json", other_version);
    study.call(&sweep(&["--out", "cut.csv"]));
    assert_eq!(study.read("cut.csv.json"), record);
}

#[test]
fn merge_refuses_parts_with_other_mappings() {
    let study = Study::new();
    let sweep = ["sweep", "--scenario", "small.yaml", "--system", "A", "--pes", "768"];
    for (part, out) in [("1/2", "1.csv"), ("2/2", "2.csv")] {
        let more = ["--replications", "4", "--shard", part, "--out", out];
        study.call(&[&sweep[..], &more].concat());
    }
    let record = study.read("2.csv.json");
    for (change, reason) in CHANGES {
        fs::write(study.path("2.csv.json"), &record).expect("a file");
        study.edit("2.csv.json", change);
        let said = study.refused(&["parts", "merge", "1.csv", "2.csv", "--out", "merged.csv"]);
        assert!(said.contains("1.csv and 2.csv are not of one sweep: "), "{said}");
        let reason = reason.split(", of version").next().unwrap_or(reason);
        assert!(said.contains(reason), "{said}");
        assert!(!study.path("merged.csv").exists());
    }
}

#[test]
fn a_comparison_refuses_parts_with_other_mappings() {
    let study = Study::new();
    for (part, out) in [("1/2", "p1"), ("2/2", "p2")] {
        study.call(&compare(&["--shard", part, "--out", out]));
    }
    let join = compare(&["--join", "p1", "--join", "p2", "--out", "joined"]);
    let whole = study.call(&compare(&["--out", "whole"]));
    assert_eq!(study.call(&join), whole);
    assert_eq!(study.read("joined/compare.json"), study.read("whole/compare.json"));
    let record = study.record("whole/compare.json");
    assert_eq!(record["mapping_effort"], "default");
    let accelerators = record["mappings"]["accelerators"].as_object().expect("accelerators");
    assert_eq!(accelerators.len(), 2, "{accelerators:?}");
    let (rows, record) = (study.read("p1/part.csv"), study.read("p1/part.csv.json"));
    for (change, reason) in CHANGES {
        fs::write(study.path("p1/part.csv"), lines(&rows, 3)).expect("a file");
        fs::write(study.path("p1/part.csv.json"), &record).expect("a file");
        study.edit("p1/part.csv.json", change);
        let said = study.refused(&compare(&["--shard", "1/2", "--out", "p1"]));
        assert!(said.contains("cannot be continued: ") && said.contains(reason), "{said}");
    }
    // Both parts are those of another build: nobody joins them with results of this one.
    fs::write(study.path("p1/part.csv"), &rows).expect("a file");
    fs::write(study.path("p1/part.csv.json"), &record).expect("a file");
    study.edit("p1/part.csv.json", other_version);
    let said = study.refused(&join);
    assert!(said.contains("are not of one compare: its mappings of "), "{said}");
    study.edit("p2/part.csv.json", other_version);
    let said = study.refused(&join);
    assert!(said.contains("is the part of another comparison: its mappings of "), "{said}");
    assert!(said.contains("@768"), "{said}");
}

#[test]
fn a_search_for_mappings_refuses_parts_of_another_build() {
    let study = Study::new();
    let map = |more: &[&'static str]| {
        let options =
            ["map", "--network", "KD", "--pes", "256", "--effort", "quick", "--dataflow", "WS"];
        [&options[..], &["--objective", "edp"], more].concat()
    };
    for (part, out) in [("1/2", "m1"), ("2/2", "m2")] {
        study.call(&map(&["--shard", part, "--out", out]));
    }
    let join = map(&["--join", "m1", "--join", "m2"]);
    study.call(&join);
    let rows = study.read("m1/part.csv");
    fs::write(study.path("m1/part.csv"), lines(&rows, 2)).expect("a file");
    study.edit("m1/part.csv.json", other_version);
    let said = study.refused(&map(&["--shard", "1/2", "--out", "m1"]));
    assert!(
        said.contains("cannot be continued: its mappings of WS@256 are those of another"),
        "{said}"
    );
    fs::write(study.path("m1/part.csv"), &rows).expect("a file");
    let said = study.refused(&join);
    assert!(said.contains("are not of one map: its mappings of "), "{said}");
    study.edit("m2/part.csv.json", other_version);
    let said = study.refused(&join);
    assert!(
        said.contains("its mappings of WS@256 are those of another cost model or search"),
        "{said}"
    );
}

/// Changes the lines of a journal with mappings, and their checks.
fn edit_journal(path: &Path, change: impl Fn(&str) -> Option<String>) {
    let text = fs::read_to_string(path).expect("a journal");
    let (header, rest) = text.split_once('\n').expect("lines");
    let check = RowCheck::below(format!("{header}\n").as_bytes());
    let line = |line: &str| match line.starts_with("mappings ") {
        false => Some(line.to_string()),
        true => {
            let (cells, _) = line.rsplit_once(',')?;
            let cells = format!("{},", change(cells)?);
            Some(format!("{cells}{}", check.digits(cells.as_bytes())))
        }
    };
    let lines: Vec<_> = rest.lines().filter_map(line).collect();
    fs::write(path, format!("{header}\n{}\n", lines.join("\n"))).expect("a file");
}

/// The line with other mappings, as JSON.
fn edited(line: &str, change: fn(&mut Value)) -> Option<String> {
    let mut value = serde_json::json!({});
    value["mappings"] = serde_json::from_str(line.strip_prefix("mappings ")?).ok()?;
    change(&mut value);
    Some(format!("mappings {}", value["mappings"]))
}

#[test]
fn a_search_refuses_runs_with_other_mappings() {
    let study = Study::new();
    let search = |more: &[&'static str]| [&["search", "search.yaml"][..], more].concat();
    study.call(&search(&["--shard", "1/2", "--out", "s1"]));
    study.call(&search(&["--shard", "2/2", "--out", "s2"]));
    let join = search(&["--join", "s1", "--join", "s2", "--out", "joined"]);
    let answer = study.call(&join);
    assert_eq!(answer, study.call(&search(&["--out", "whole"])));
    let mappings = |name: &str| study.record(name)["mappings"].clone();
    let found = mappings("whole/search.json");
    assert_eq!(found["accelerators"].as_object().map(|it| it.len()), Some(6), "{found}");
    assert_eq!(found, mappings("joined/search.json"));
    let journal = study.path("s1/journal.csv");
    let good = fs::read(&journal).expect("a journal");
    // Of WS and OS with 256, 512 and 768 PEs, one is the first of the journal.
    let changes: [(&Change, &str); 3] = [
        (
            &|line| edited(line, other_digests),
            "its mappings of KD_res8_narrow_101x40 on OS@256 differ",
        ),
        (&|line| edited(line, other_version), "version 0123456789abcdef and not"),
        (&|_| None, "it has no digests of mappings: an earlier build made it"),
    ];
    for (change, reason) in changes {
        fs::write(&journal, &good).expect("a file");
        edit_journal(&journal, change);
        let said = study.refused(&search(&["--shard", "1/2", "--out", "s1"]));
        assert!(said.contains("cannot be continued: ") && said.contains(reason), "{said}");
        let said = study.refused(&join);
        assert!(said.contains("s1/journal.csv: ") && said.contains(reason), "{said}");
        // Without runs there is no mixture.
        let text = fs::read_to_string(&journal).expect("text");
        let is_run = |line: &&str| line.starts_with("xrsim ") || line.starts_with("mappings ");
        let without: Vec<_> = text.lines().filter(is_run).collect();
        fs::write(&journal, without.join("\n") + "\n").expect("a file");
        study.call(&search(&["--shard", "1/2", "--out", "s1"]));
        assert_eq!(study.call(&join), answer);
    }
}

/// A search goes on from every line of its journal, with what the same command without an interruption has.
#[test]
fn a_search_goes_on_after_every_line_of_its_journal() {
    let study = Study::new();
    let search = ["search", "search.yaml", "--out", "found"];
    study.call(&search);
    let files = ["evaluated.csv", "answers.csv", "best.yaml"].map(|it| format!("found/{it}"));
    let whole: Vec<_> = files.iter().map(|it| study.read(it)).collect();
    let journal = study.read("found/journal.csv");
    let n = journal.split(|byte| *byte == b'\n').count();
    for end in 0..n {
        let mut cut = lines(&journal, end);
        // Half a line follows.
        cut.extend(b"mappings {\"ver");
        fs::write(study.path("found/journal.csv"), cut).expect("a file");
        if end == 0 {
            fs::write(study.path("found/journal.csv"), b"").expect("a file");
        }
        study.call(&search);
        let again: Vec<_> = files.iter().map(|it| study.read(it)).collect();
        assert!(again == whole, "{end}");
    }
}

/// 200 NoC bandwidths and a style of one accelerator: 200 accelerators, of which the record has 64.
#[test]
fn the_record_of_a_sweep_over_many_accelerators_is_bounded_and_that_of_its_parts() {
    let study = Study::new();
    let values: Vec<_> = (0..200).map(|it| format!("{}", 64 + it)).collect();
    let assignment = format!("hardware.noc_bandwidth_bytes_per_cycle={}", values.join(","));
    let sweep = |more: &[&'static str]| {
        let options = ["sweep", "--scenario", "small.yaml", "--system", "A", "--pes", "768"];
        let options =
            options.into_iter().chain(["--set", &assignment, "--set", "mapping_effort=quick"]);
        options.chain(more.iter().copied()).map(String::from).collect::<Vec<_>>()
    };
    let call = |more: &[&'static str]| {
        let words = sweep(more);
        let words: Vec<&str> = words.iter().map(|it| &**it).collect();
        study.call(&words)
    };
    call(&["--out", "whole.csv"]);
    call(&["--out", "1.csv", "--shard", "1/2"]);
    call(&["--out", "2.csv", "--shard", "2/2"]);
    study.call(&["parts", "merge", "2.csv", "1.csv", "--out", "merged.csv"]);
    assert_eq!(study.read("merged.csv.json"), study.read("whole.csv.json"));
    let record = study.record("whole.csv.json");
    let accelerators = record["mappings"]["accelerators"].as_object().expect("accelerators");
    assert_eq!(accelerators.len(), 64);
    let first = accelerators.values().next().expect("one");
    assert_eq!((&first["objective"], &first["effort"]), (&"edp".into(), &"quick".into()));
}

const NETWORK: &str =
    "network:\n  name: one\n  layers:\n    - conv: {k: 500, c: 96, y: 20, x: 25, r: 3, s: 3}\n";

const CHIP: &str = "system:\n  name: own_chip\n  energy: {mac_nj: 0.0001, scratchpad_per_mac: 1, shared_memory_per_mac: 19.3, dram_per_mac: 256}\n  \
    accelerators:\n    - {name: eye, dataflow: WS, pes: 1000, clock_mhz: 1, noc_bandwidth_bytes_per_cycle: 16, \
    shared_memory_kib: 16, scratchpad_kib: 0.125, dram_bandwidth_bytes_per_cycle: 8}\n";

/// Runs a printed command in the folder of a study.
fn pasted(study: &Study, folder: &Path, command: &str) -> String {
    let script = format!("xrsim() {{ \"$PROGRAM\" \"$@\"; }}; {command}");
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &script]).env("PROGRAM", program()).current_dir(folder);
    let output = shell.env("XRSIM_CACHE", study.path("cache")).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(unix)]
#[test]
fn the_command_of_a_note_runs_as_it_is_printed_on_the_files_that_were_given() {
    let study = Study::new();
    fs::create_dir(study.path("own files")).expect("a folder");
    let scenario = "scenario: {name: desk, models: [{network: one.yaml, task: GE, fps: 60}]}\n";
    for (name, text) in [("one.yaml", NETWORK), ("desk.yaml", scenario), ("chip.yaml", CHIP)] {
        fs::write(study.path("own files").join(name), text).expect("a file");
    }
    let options = ["run", "--scenario", "own files/desk.yaml", "--system", "own files/chip.yaml"];
    let how = ["--effort", "quick", "--mapping-objective", "cycles", "--replications", "1"];
    let table = study.call(&[&options[..], &how].concat());
    let note = table.lines().find(|line| line.contains("More effort may find a faster mapping"));
    let note = note.unwrap_or_else(|| panic!("{table}"));
    let (_, command) = note.split_once("mapping: ").expect("a command");
    let expected = "xrsim run --scenario 'own files/desk.yaml' --system 'own files/chip.yaml' \
                    --mapping-objective cycles --effort full";
    assert_eq!(command, expected);
    let again = pasted(&study, &study.path(""), command);
    assert!(again.contains("own_chip") && again.contains("effort full"), "{again}");
    assert!(!again.contains("More effort"), "{again}");
    // Every effort tries all forms: more of it does nothing.
    let forms = study.call(&[&options[..], &how, &["--flexibility", "forms"]].concat());
    assert!(!forms.contains("More effort"), "{forms}");
}

#[cfg(unix)]
#[test]
fn the_command_in_the_best_system_of_a_search_runs_in_its_folder() {
    let study = Study::new();
    study.call(&["search", "search.yaml", "--out", "found"]);
    let best = String::from_utf8(study.read("found/best.yaml")).expect("text");
    let line = best.lines().find_map(|line| line.strip_prefix("# In the folder of this file: "));
    let line = line.unwrap_or_else(|| panic!("{best}"));
    assert!(line.contains("--duration 2000"), "{line}");
    let table = pasted(&study, &study.path("found"), line);
    assert!(table.contains("small_best"), "{table}");
}

/// The only file of a folder of choices, and its text.
fn only_file(folder: &Path) -> (PathBuf, String) {
    let mut files =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let file = files.next().expect("a file");
    assert!(files.next().is_none());
    let text = fs::read_to_string(&file).expect("text");
    (file, text)
}

/// A line of a quick search under the name of the default one is legal and costs what it says, so that only the
/// digest of the accelerator shows it.
#[test]
fn a_legal_choice_that_somebody_else_wrote_is_not_mixed_in() {
    let study = Study::new();
    // A quick search finds other mappings of this network.
    let eyes = "scenario: {name: eyes, models: [{network: ES, fps: 60}]}\n";
    fs::write(study.path("eyes.yaml"), eyes).expect("a file");
    let options = ["sweep", "--scenario", "eyes.yaml", "--system", "A", "--pes", "768"];
    let sweep = |more: &[&'static str]| [&options[..], &["--replications", "4"], more].concat();
    study.call_at("default", &sweep(&["--out", "whole.csv"]));
    study.call_at("quick", &sweep(&["--out", "quick.csv", "--effort", "quick"]));
    assert_ne!(
        study.record("quick.csv.json")["mappings"],
        study.record("whole.csv.json")["mappings"]
    );
    let (file, text) = only_file(&study.path("default"));
    let (_, quick) = only_file(&study.path("quick"));
    let first = text.lines().next().expect("a line");
    let choices = quick.lines().skip(1).filter(|line| !line.starts_with("sha256 "));
    let body: String = [first].into_iter().chain(choices).map(|line| format!("{line}\n")).collect();
    let sum: String =
        Sha256::digest(body.as_bytes()).iter().map(|it| format!("{it:02x}")).collect();
    fs::create_dir(study.path("cache")).expect("a folder");
    let foreign = study.path("cache").join(file.file_name().expect("a name"));
    fs::write(foreign, format!("{body}sha256 {sum}\n")).expect("a file");
    fs::write(study.path("cut.csv"), lines(&study.read("whole.csv"), 3)).expect("a file");
    fs::copy(study.path("whole.csv.json"), study.path("cut.csv.json")).expect("a copy");
    let said = study.refused(&sweep(&["--out", "cut.csv"]));
    let reason = "its mappings of ES_ritnet_160x100 on WS@768 differ";
    assert!(said.contains("cut.csv cannot be continued: ") && said.contains(reason), "{said}");
    study.call_at("default", &sweep(&["--out", "cut.csv"]));
    assert_eq!(study.read("cut.csv"), study.read("whole.csv"));
}

/// The cost of a layer that a note names is that of the accelerator of the run: its share of the time is the same.
#[cfg(unix)]
#[test]
fn the_command_of_a_note_on_a_layer_costs_the_accelerator_of_the_run() {
    let study = Study::new();
    let run = ["run", "--scenario", "AR_gaming", "--system", "A", "--pes", "1024"];
    let table = study.call(&[&run[..], &["--flexibility", "none", "--replications", "1"]].concat());
    let note = table.lines().find(|line| line.contains(" takes ")).expect("a note");
    let (_, command) = note.split_once("(xrsim").expect("a command");
    let command = format!("xrsim{} --format csv", command.trim_end_matches(')'));
    let costs = pasted(&study, &study.path(""), &command);
    let mut rows = costs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let at = |name: &str| {
        header.iter().position(|it| *it == name).unwrap_or_else(|| panic!("{header:?}"))
    };
    let (layer, cycles) = (at("layer"), at("runtime_cycles"));
    let rows: Vec<(String, f64)> =
        rows.map(|row| (row[layer].to_string(), row[cycles].parse().expect("a number"))).collect();
    let all: f64 = rows.iter().map(|(_, cycles)| cycles).sum();
    let conv140 = rows.iter().find(|(name, _)| name == "conv140").expect("the layer").1;
    let share = format!("layer conv140 takes {:.0} % of the time of PD", 100.0 * conv140 / all);
    assert!(note.contains(&share), "{share}: {note}");
}
