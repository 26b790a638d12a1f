//! Records beside results: the build, what an external scheduler is made of, and files of folders.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tempfile::{TempDir, tempdir};

use crate::support::binary::{stderr, xrsim};

/// A folder in which commands run.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempdir().expect("a folder can be made"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it can be written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("it is there")
    }

    fn command(&self, line: &str) -> Command {
        let words = shlex::split(line).expect("it is quoted");
        let mut command = xrsim(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.current_dir(self.0.path());
        command
    }

    /// What a command says that ends with this status.
    fn ends(&self, line: &str, status: i32) -> String {
        stderr(&self.command(line).assert().code(status))
    }

    /// Changes a record as another build would have written it, with its seal.
    fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut record: Value = serde_json::from_str(&self.read(name)).expect("JSON");
        change(&mut record);
        record["record_sha256"] = "0".repeat(64).into();
        let text = format!("{record}\n");
        let digits = Sha256::digest(text.as_bytes());
        let seal: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
        self.write(name, &text.replace(&"0".repeat(64), &seal));
    }
}

const RUNS: &str = "--scenario VR_gaming --system A --pes 4096 --flexibility none";

fn sweep(more: &str) -> String {
    format!("sweep --scenario VR_gaming --system A --pes 2048,4096 --flexibility none {more}")
}

/// A policy that lets all wait. It loads a part of itself from a file.
#[cfg(unix)]
fn policy(place: &Place) {
    place.write("part.sh", "echo \"{\\\"id\\\":$n,\\\"do\\\":\\\"wait\\\"}\"\n");
    place
        .write("policy.sh", "read setup; n=0; while read line; do n=$((n+1)); . ./part.sh; done\n");
}

#[test]
fn rows_of_another_commit_are_neither_continued_nor_merged() {
    let place = Place::new();
    place.ends(&sweep("--out rows.csv --shard 1/2"), 0);
    place.ends(&sweep("--out other.csv --shard 2/2"), 0);
    place.edit("other.csv.json", |record| record["commit"] = "0123456789".into());
    for line in
        [sweep("--out other.csv --shard 2/2"), "merge rows.csv other.csv --out all.csv".into()]
    {
        let said = place.ends(&line, 2);
        assert!(said.contains("(commit 0123456789); this is"), "{said}");
        assert!(said.contains("whose numbers may differ"), "{said}");
    }
    place.ends(&sweep("--out other.csv --shard 2/2 --restart"), 0);
    place.ends("merge rows.csv other.csv --out all.csv", 0);
}

#[test]
fn a_search_of_another_commit_is_not_continued() {
    let place = Place::new();
    let search = "search --scenario VR_gaming --dataflow WS --accelerators 1 --pes 512 \
                  --set flexibility=none --out found";
    place.ends(search, 0);
    let journal = place.read("found/journal.csv");
    let build = journal.split(' ').nth(2).expect("it names the build");
    let version = build.split('+').next().expect("it has a version");
    let other = journal.replacen(build, &format!("{version}+0123456789"), 1);
    place.write("found/journal.csv", &other);
    let said = place.ends(search, 2);
    assert!(
        said.contains(&format!("made by xrsim {version} (commit 0123456789); this is")),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn what_a_policy_imports_is_an_input_if_it_is_named() {
    let place = Place::new();
    policy(&place);
    let line = sweep("--scheduler 'external:sh policy.sh,inputs=part.sh' --out rows.csv");
    let said = place.ends(&line, 0);
    assert!(!said.contains("note: the record does not show"), "{said}");
    place.write("part.sh", &(place.read("part.sh") + "# better\n"));
    let said = place.ends(&line, 2);
    assert!(said.contains("cannot be continued: part.sh has changed"), "{said}");
    // A script of the shell is tracked as far as its words are files, which is said.
    let line = sweep("--scheduler 'external:sh -c \"exec sh policy.sh\"' --out shell.csv");
    let said = place.ends(&line, 0);
    assert!(said.contains("only words of the script of `-c`"), "{said}");
    place.write("policy.sh", &(place.read("policy.sh") + "# better\n"));
    let said = place.ends(&line, 2);
    assert!(said.contains("policy.sh has changed"), "{said}");
    let said =
        place.ends(&sweep("--scheduler 'external:sh policy.sh,inputs=absent' --out no.csv"), 2);
    assert!(said.contains("absent"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_policy_that_dies_leaves_no_row_and_is_asked_again() {
    let place = Place::new();
    policy(&place);
    place.write("flaky.sh", "[ -e flag ] || { : > flag; exit 1; }; exec sh policy.sh\n");
    let line = sweep("--scheduler 'external:sh flaky.sh' --out rows.csv")
        .replace("2048,4096", "4096 --scheduler edf");
    let said = place.ends(&line, 1);
    assert!(
        said.contains("1 of 2 points are missing, 1; the same command tries them again"),
        "{said}"
    );
    assert!(said.contains("ended without an answer"), "{said}");
    assert_eq!(place.read("rows.csv").lines().count(), 2);
    let said = place.ends(&line, 0);
    assert!(said.contains("2 points, 1 of them new"), "{said}");
    assert_eq!(place.read("rows.csv").lines().count(), 3);
}

#[test]
fn a_row_that_stands_twice_is_read_by_nobody() {
    let place = Place::new();
    place.ends(&sweep("--out rows.csv"), 0);
    let rows = place.read("rows.csv");
    let last = rows.lines().last().expect("there are rows");
    place.write("rows.csv", &format!("{rows}{last}\n"));
    for line in ["report rows.csv", "plot rows.csv --kind best"] {
        let said = place.ends(line, 2);
        assert!(said.contains("line 4: point 1 has two rows"), "{said}");
    }
    let said = place.ends(&sweep("--out rows.csv"), 2);
    assert!(said.contains("point 1 has two rows"), "{said}");
}

#[test]
fn a_folder_has_one_kind_of_results() {
    let place = Place::new();
    place.ends(&format!("run {RUNS} --out folder"), 0);
    let before = place.read("folder/run.json");
    let compare =
        format!("compare {RUNS} --scheduler edf --scheduler rm --replications 1 --out folder");
    let search =
        "search --scenario VR_gaming --dataflow WS --accelerators 1 --pes 512 --out folder";
    for line in
        [&*compare, &format!("{compare} --shard 1/2"), search, "reproduce --figure 5 --out folder"]
    {
        let said = place.ends(line, 2);
        assert!(said.contains("folder has results of `xrsim run` (run.json)"), "{line}: {said}");
    }
    assert_eq!(place.read("folder/run.json"), before);
    assert!(!place.path("folder/compare.json").exists() && !place.path("folder/part.csv").exists());
    place.ends(&compare.replace("--out folder", "--out part --shard 1/2"), 0);
    let said = place.ends(&format!("run {RUNS} --out part"), 2);
    assert!(said.contains("part has results of `xrsim compare` (part.csv.json)"), "{said}");
    // The same command replaces its own results; a file that happens to have the name is none.
    place.ends(&format!("run {RUNS} --out folder"), 0);
    fs::create_dir(place.path("mine")).expect("a folder");
    place.write("mine/compare.json", "{\"program\": \"mine\"}");
    place.ends(&format!("run {RUNS} --out mine"), 0);
}

#[test]
fn every_file_of_a_folder_is_checked_by_its_reader() {
    let place = Place::new();
    let compare =
        format!("compare {RUNS} --scheduler edf --scheduler rm --replications 2 --out compared");
    place.ends(&compare, 0);
    let search = "search --scenario VR_gaming --dataflow WS --accelerators 1 --pes 512 \
                  --set flexibility=none --out found";
    place.ends(search, 0);
    for (folder, names) in [
        ("compared", &["configurations.csv", "metrics.csv"][..]),
        ("found", &["best.yaml", "evaluated.csv"]),
    ] {
        let report = format!("report {folder}");
        place.ends(&report, 0);
        for name in names {
            let path = format!("{folder}/{name}");
            let text = place.read(&path);
            let at = text.rfind(|it: char| it.is_ascii_digit()).expect("it has a digit");
            let digit = if &text[at..=at] == "1" { "2" } else { "1" };
            place.write(&path, &format!("{}{digit}{}", &text[..at], &text[at + 1..]));
            let said = place.ends(&report, 2);
            assert!(said.contains(&format!("{name} is not the file that")), "{said}");
            place.write(&path, &text);
        }
    }
    // A result may be edited on purpose, and is then no longer that result.
    let run = "run --scenario VR_gaming --system found/best.yaml --flexibility none";
    let said = place.ends(run, 0);
    assert!(!said.contains("is not the file"), "{said}");
    place.write("found/best.yaml", &(place.read("found/best.yaml") + "# mine\n"));
    let said = place.ends(run, 0);
    assert!(said.contains("best.yaml is not the file that found/search.json lists"), "{said}");
}
