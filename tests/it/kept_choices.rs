//! The folder of choices of mappings: commands give the same bytes whatever is in it.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::support::folder::Folder;

/// SHA-256 of a text.
fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Standard output of a command, the rows that it wrote into `out`, and what it said.
fn bytes(folder: &Folder, arguments: &[&str], cache: &Path) -> (Vec<u8>, Vec<u8>, String) {
    let out = folder.path("out");
    let _ = fs::remove_dir_all(&out);
    let _ = fs::remove_file(&out);
    let output = folder.succeed(cache, arguments);
    let written = fs::read(&out).or_else(|_| fs::read(out.join("evaluated.csv")));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.stdout, written.unwrap_or_default(), said)
}

/// Files of a folder of choices.
fn files(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache).expect("a folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// A copy of a folder of choices.
fn copied(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a folder");
    for file in files(from) {
        fs::copy(&file, to.join(file.file_name().expect("a name"))).expect("a copy");
    }
}

/// A change of the words of a line.
type Change = dyn Fn(&mut Vec<String>);

/// Rewrites every line with a choice, and the digest of the file.
fn poison(cache: &Path, change: &Change) {
    for file in files(cache) {
        let text = fs::read_to_string(&file).expect("text");
        let mut lines = text.lines().filter(|line| !line.starts_with("sha256 "));
        let first = lines.next().expect("a line").to_string();
        let line = |line: &str| {
            let mut words: Vec<String> = line.split(' ').map(String::from).collect();
            change(&mut words);
            words.join(" ")
        };
        let mut lines: Vec<_> = lines.map(line).collect();
        lines.sort_unstable();
        let body: String = [first].iter().chain(&lines).map(|line| format!("{line}\n")).collect();
        fs::write(&file, format!("{body}sha256 {}\n", sha256(&body))).expect("a file");
    }
}

/// Replaces everything behind the counts of a line.
fn with_mapping(words: &mut Vec<String>, mapping: &str) {
    words.truncate(10);
    words.extend(["=".into(), mapping.into()]);
}

const RUN: [&str; 10] = [
    "run",
    "--scenario",
    "small.yaml",
    "--system",
    "WS:2 + OS:1",
    "--pes",
    "768",
    "--format",
    "csv",
    "--seed=3",
];
const SWEEP: [&str; 11] = [
    "sweep",
    "--scenario",
    "small.yaml",
    "--system",
    "WS:2 + OS:1",
    "--pes",
    "768",
    "--replications",
    "2",
    "--out",
    "out",
];
const FIND: [&str; 4] = ["search", "search.yaml", "--out", "out"];
const MAP: [&str; 9] = [
    "map",
    "--network",
    "KD",
    "--pes",
    "256",
    "--effort",
    "quick",
    "--format=csv",
    "--dataflow=WS",
];

#[test]
fn bytes_are_the_same_with_every_folder_of_choices() {
    for arguments in [&RUN[..], &SWEEP, &FIND, &MAP] {
        let study = Folder::new("flexibility: tiles");
        let (hot, other) = (study.path("hot"), study.path("other"));
        let cold = bytes(&study, arguments, &hot);
        assert!(!cold.2.contains("searched again"), "{}", cold.2);
        let kept = files(&hot);
        assert!(!kept.is_empty(), "{arguments:?}");
        let same = |cache: &Path, what: &str, is_noted: bool| {
            let found = bytes(&study, arguments, cache);
            let text = String::from_utf8_lossy(&found.0).into_owned();
            assert_eq!(found.0, cold.0, "{arguments:?} {what}: {text}");
            assert_eq!(found.1, cold.1, "{arguments:?} {what}");
            let notes = found.2.matches("were searched again").count();
            assert_eq!(notes, usize::from(is_noted), "{arguments:?} {what}: {}", found.2);
        };
        same(&hot, "hot", false);
        same(Path::new(""), "none", false);
        // One file of several is deleted.
        copied(&hot, &other);
        fs::remove_file(other.join(kept[0].file_name().expect("a name"))).expect("a file");
        same(&other, "deleted", false);
        for file in files(&other) {
            let text = fs::read(&file).expect("a file");
            fs::write(&file, &text[..text.len() / 2]).expect("a file");
        }
        same(&other, "damaged", true);
        for file in files(&other) {
            fs::write(&file, "something else\n").expect("a file");
        }
        same(&other, "foreign", true);
        let changes: [(&str, &Change); 5] = [
            ("none", &|words| words[3] = "none".into()),
            ("value", &|words| (words[4], words[5]) = ("1".into(), "0.0".into())),
            ("bound", &|words| words[6] = "99999999999".into()),
            ("mapping", &|words| with_mapping(words, "1:K1")),
            ("units", &|words| with_mapping(words, "4294967295:K1s")),
        ];
        for (what, change) in changes {
            copied(&hot, &other);
            poison(&other, change);
            same(&other, what, true);
            same(&other, "made again", false);
        }
    }
}

/// A search with full effort in between changes nothing either.
#[test]
fn another_effort_leaves_the_choices_of_a_command_alone() {
    let study = Folder::new("flexibility: tiles");
    let cache = study.path("cache");
    let full = [&RUN[..], &["--effort", "full"]].concat();
    study.succeed(&cache, &full);
    let after_full = bytes(&study, &RUN, &cache);
    assert_eq!(after_full.0, bytes(&study, &RUN, &study.path("cold")).0);
}

#[cfg(unix)]
#[test]
fn files_that_never_end_do_not_stop_a_command() {
    use std::os::unix::fs::symlink;

    let study = Folder::new("flexibility: tiles");
    let hot = study.path("hot");
    let cold = bytes(&study, &RUN, &hot);
    type Make = fn(&Path);
    let kinds: [(&str, Make); 3] = [
        ("a pipe", |path| {
            let made = std::process::Command::new("mkfifo").arg(path).status().expect("it starts");
            assert!(made.success());
        }),
        ("a link", |path| symlink("/dev/zero", path).expect("a link")),
        ("a folder", |path| fs::create_dir(path).expect("a folder")),
    ];
    for (what, make) in kinds {
        let other = study.path(what);
        fs::create_dir(&other).expect("a folder");
        for file in files(&hot) {
            make(&other.join(file.file_name().expect("a name")));
        }
        let found = bytes(&study, &RUN, &other);
        assert_eq!(found.0, cold.0, "{what}");
        assert!(found.2.contains("it is no regular file"), "{what}: {}", found.2);
    }
}
