//! Parts of commands (`--shard`), which other processes make, and the whole that they join to.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::binary::{output, path, refused, stderr, xrsim};

/// Two configurations in three replications.
const COMPARE: [&str; 17] = [
    "compare",
    "--scenario",
    "VR_gaming,AR_gaming",
    "--system",
    "J",
    "--pes",
    "4096",
    "--scheduler",
    "edf",
    "--scheduler",
    "edf:granularity=layer",
    "--scheduler",
    "rm",
    "--replications",
    "3",
    "--by",
    "missed",
];

/// A scenario of which no frame is counted after a warm-up.
const SLOW: &str = "scenario: {name: slow, models: [{network: ES, fps: 1}]}\n";

/// The searches of two networks.
const MAP: [&str; 9] =
    ["map", "--network", "KD", "--network", "GE", "--pes", "1024", "--effort", "quick"];

/// Makes the parts of a command, and returns their folders.
fn parts(folder: &TempDir, command: &[&str], count: usize) -> Vec<String> {
    let make = |part: usize| {
        let out = path(folder, &format!("part{part}"));
        let shard = format!("{part}/{count}");
        assert_eq!(output(&[command, &["--shard", &shard, "--out", &out]].concat()), "");
        out
    };
    (1..=count).map(make).collect()
}

fn joining<'p>(command: &[&'p str], parts: &'p [String]) -> Vec<&'p str> {
    let joins = parts.iter().flat_map(|part| ["--join", part]);
    command.iter().copied().chain(joins).collect()
}

/// Contents of the files of a folder by name.
fn contents(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let entries = entries.map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read(path).expect("a file"))
    };
    entries.map(read).collect()
}

#[test]
fn parts_of_a_comparison_join_to_its_bytes() {
    let inputs = tempdir().expect("a folder can be made");
    let slow = path(&inputs, "slow.yaml");
    fs::write(&slow, SLOW).expect("it can be written");
    let failing = ["--scenario", &slow, "--set", "score.warm_up_ms=100"];
    for (more, count) in [(&[][..], 4), (&["--enumerate"][..], 2), (&failing, 5)] {
        let command = &[&COMPARE[..], more].concat()[..];
        let folder = tempdir().expect("a folder can be made");
        let whole = path(&folder, "whole");
        let printed = output(&[command, &["--out", &whole]].concat());
        let mut parts = parts(&folder, command, count);
        parts.rotate_left(1);
        let joined = path(&folder, "joined");
        let join = [&joining(command, &parts)[..], &["--out", &joined]].concat();
        assert_eq!(output(&join), printed);
        assert_eq!(contents(&joined), contents(&whole));
    }
}

#[test]
fn a_part_of_a_comparison_goes_on_where_it_was_cut() {
    let folder = tempdir().expect("a folder can be made");
    let parts = parts(&folder, &COMPARE, 2);
    let rows = Path::new(&parts[0]).join("part.csv");
    let whole = fs::read_to_string(&rows).expect("it is there");
    assert_eq!(whole.lines().count(), 1 + 3);
    let third = whole.rfind("\n2,").expect("the third point has a row") + 1;
    let join = joining(&COMPARE, &parts);
    for cut in [third + 7, third, whole.find('\n').expect("a header") + 1] {
        fs::write(&rows, &whole[..cut]).expect("it can be written");
        let message = refused(&join);
        let is_named = message.contains("part.csv: ")
            && message.contains(
                " of its 3 points are there; the command that began it, with --shard 1/2, makes",
            );
        assert!(is_named, "{message}");
        output(&[&COMPARE[..], &["--shard", "1/2", "--out", &parts[0]]].concat());
        assert_eq!(fs::read_to_string(&rows).expect("it is there"), whole);
    }
    let mut bytes = whole.clone().into_bytes();
    bytes[third + 40] ^= 1;
    fs::write(&rows, &bytes).expect("it can be written");
    let message = refused(&join);
    assert!(message.contains("line 4 is not the row of point 2 as it was written"), "{message}");
    let again = xrsim(&[&COMPARE[..], &["--shard", "1/2", "--out", &parts[0]]].concat());
    let note = stderr(&{ again }.assert().success());
    assert!(note.contains("3 of 3 points, 1 of them new"), "{note}");
    assert_eq!(fs::read_to_string(&rows).expect("it is there"), whole);
    output(&join);
}

#[test]
fn other_parts_are_not_joined() {
    let folder = tempdir().expect("a folder can be made");
    let parts = parts(&folder, &COMPARE, 3);
    let two = [parts[0].clone(), parts[2].clone()];
    let message = refused(&joining(&COMPARE, &two));
    assert!(message.contains("points 2 to 3 are in none of the files"), "{message}");
    let other = [&COMPARE[..], &["--scheduler", "sjf"]].concat();
    let message = refused(&joining(&other, &parts));
    assert!(message.contains("is the part of another comparison: the options have"), "{message}");
    let message = refused(&[&other[..], &["--shard", "1/3", "--out", &parts[0]]].concat());
    assert!(message.contains("the options have changed; --restart begins it again"), "{message}");
    let message = refused(&joining(&MAP, &parts));
    assert!(message.contains("the file of a compare, not of a map"), "{message}");
    let rows = path(&folder, "part1/part.csv");
    let message = refused(&["parts", "merge", &rows, "--out", &path(&folder, "all.csv")]);
    assert!(message.contains("not of a sweep; `xrsim compare --join` joins it"), "{message}");
}

#[test]
fn what_cannot_be_divided_is_refused_with_the_reason() {
    let schedulers = ["compare", "--scheduler", "edf", "--scheduler", "dream"];
    let shard = ["--shard", "1/2", "--out", "part"];
    let message = refused(&[&schedulers[..], &["--half-width", "0.1"], &shard].concat());
    assert!(message.contains("give --replications N with --shard and --join"), "{message}");
    let message = refused(&[&schedulers[..], &["--tune"], &shard].concat());
    assert!(message.contains("give the schedulers that it prints"), "{message}");
    let message = refused(&[&schedulers[..], &["--shard", "1/2"]].concat());
    assert!(message.contains("a part needs a folder: give --out DIR"), "{message}");
    let message = refused(&[&MAP[..], &["--objective", "pareto"], &shard].concat());
    assert!(message.contains("a front has no parts"), "{message}");
}

#[test]
fn parts_of_mappings_join_to_the_same_table_and_file() {
    let folder = tempdir().expect("a folder can be made");
    for format in ["csv", "json"] {
        let folder = tempdir().expect("a folder can be made");
        let command = [&MAP[..], &["--format", format]].concat();
        let whole = output(&command);
        let parts = parts(&folder, &command, 3);
        assert_eq!(output(&joining(&command, &parts)), whole);
    }
    let command = ["map", "--network", "GE", "--pes", "512", "--effort", "quick"];
    let own = tempdir().expect("a folder can be made");
    let parts = parts(&own, &command, 2);
    let [whole, joined] = ["whole.yaml", "joined.yaml"].map(|name| path(&folder, name));
    output(&[&command[..], &["--out", &whole]].concat());
    output(&[&joining(&command, &parts)[..], &["--out", &joined]].concat());
    let [whole, joined] = [whole, joined].map(|file| fs::read_to_string(file).expect("a file"));
    assert_eq!(joined.replace("joined", "whole"), whole);
}

#[test]
#[cfg(unix)]
fn a_second_writer_of_a_part_is_told_to_come_later() {
    let folder = tempdir().expect("a folder can be made");
    let out = path(&folder, "part");
    fs::create_dir(&out).expect("it can be made");
    let rows = path(&folder, "part/part.csv");
    let csv = path(&folder, "rows.csv");
    let journal = path(&folder, "part/journal.csv");
    let held: Vec<_> = [&rows, &csv, &journal]
        .map(|path| {
            let file = fs::File::create(path).expect("it can be made");
            file.lock().expect("it can be locked");
            file
        })
        .into();
    let sweep = ["sweep", "--scenario", "VR_gaming", "--system", "A", "--pes", "96,128"];
    let search = ["search", "--scenario", "VR_gaming", "--dataflow", "WS", "--step", "2048"];
    let part = ["--shard", "1/2", "--out", &out];
    let calls = [
        [&sweep[..], &["--shard", "1/2", "--out", &csv]].concat(),
        [&COMPARE[..], &part].concat(),
        [&MAP[..], &part].concat(),
        [&search[..], &part].concat(),
    ];
    for call in &calls {
        let message = stderr(&xrsim(call).assert().code(75));
        assert!(message.contains("is writing to it; try again when that has ended"), "{message}");
    }
    drop(held);
    output(&calls[0]);
}

/// The record of a part names its writer. That of the whole does not, so that it is the same on all machines.
#[test]
fn only_the_record_of_a_part_names_its_writer() {
    let folder = tempdir().expect("a folder can be made");
    let sweep = ["sweep", "--scenario", "VR_gaming", "--system", "A", "--pes", "96,128"];
    let files = ["whole.csv", "first.csv", "second.csv", "all.csv"].map(|it| path(&folder, it));
    let [whole, first, second, all] = &files;
    output(&[&sweep[..], &["--out", whole]].concat());
    for (part, file) in [("1/2", first), ("2/2", second)] {
        let mut call = xrsim(&[&sweep[..], &["--shard", part, "--out", file]].concat());
        call.env("SLURM_JOB_ID", "25").env("SLURM_ARRAY_JOB_ID", "22");
        call.env("SLURM_ARRAY_TASK_ID", "7").assert().success();
    }
    output(&["parts", "merge", first, second, "--out", all]);
    let record = |file: &str| fs::read_to_string(format!("{file}.json")).expect("a record");
    assert_eq!(record(all), record(whole));
    assert_eq!(fs::read(all).expect("rows"), fs::read(whole).expect("rows"));
    let part: Value = serde_json::from_str(&record(second)).expect("it is JSON");
    assert_eq!(part["part"], "2/2");
    assert_eq!(part["writer"]["slurm_job"], "22_7");
    assert!(part["writer"]["process"].is_u64(), "{part}");
    #[cfg(target_os = "linux")]
    assert!(part["writer"]["host"].as_str().is_some_and(|host| !host.is_empty()), "{part}");
    assert!(!record(whole).contains("writer") && !record(whole).contains("\"part\""));

    // A process that adds rows takes its place, one that finds all of them does not.
    let again = [&sweep[..], &["--shard", "2/2", "--out", second]].concat();
    let before = record(second);
    output(&again);
    assert_eq!(record(second), before);
    let rows = fs::read_to_string(second).expect("rows");
    fs::write(second, &rows[..rows.len() - 1]).expect("it can be written");
    output(&again);
    assert_ne!(record(second), before);
    assert_eq!(fs::read_to_string(second).expect("rows"), rows);
}
