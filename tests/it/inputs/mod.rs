//! Messages for bad input files: the problem, its place (`line:column`) and the allowed values. Every case
//! must be refused with exactly these messages.

mod formats;
mod hardware;
mod hostile;
mod networks;
mod scenarios;

use std::path::Path;
use std::sync::Arc;

use xrsim::config::{Catalog, ConfigError, Edition, Kind};

use crate::schema;

/// Messages of `xrsim check` for a file with these bytes, without the path.
fn messages(bytes: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.yaml");
    std::fs::write(&path, bytes).unwrap();
    match Catalog::new().check(&path) {
        Ok(kind) => panic!("accepted as {kind}"),
        Err(error) => without_path(&error, &path),
    }
}

fn without_path(error: &ConfigError, path: &Path) -> Vec<String> {
    let prefix = format!("{}:", path.display());
    let text = error.to_string();
    text.lines().map(|line| line.strip_prefix(&prefix).unwrap_or(line).trim().to_string()).collect()
}

fn check(text: &str, expected: &[&str]) {
    let start: String = text.chars().take(400).collect();
    let found = messages(text.as_bytes());
    assert_eq!(found, expected, "{start}");
    schema::check_refusal(text, &found);
}

#[test]
fn files_that_are_not_one_yaml_document() {
    check("", &["1:1: the file is empty"]);
    check("# a comment\n", &["2:1: the file is empty"]);
    check("a: [1, 2\n", &["1:4: not valid YAML: unclosed bracket '['"]);
    check(
        "a:\n\t- 1\n",
        &[
            "2:2: not valid YAML: tabs disallowed within this context (block indentation) (indent with blanks)",
        ],
    );
    check(
        "suite:\n  pes: [1]\n---\nsuite:\n",
        &["3:1: a second document begins here (a file holds one document)"],
    );
    assert_eq!(messages(b"network:\n  name: \xff\n"), ["not UTF-8 text (byte 17)"]);
    assert_eq!(messages(&vec![b' '; (16 << 20) + 1]), ["larger than 16 MiB"]);
}

#[test]
fn paths_that_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let error = Catalog::new().check(folder.path()).unwrap_err();
    assert_eq!(without_path(&error, folder.path()), ["is a directory; a file is needed"]);
    let absent = folder.path().join("absent.yaml");
    let error = Catalog::new().check(&absent).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
}

#[test]
fn names_that_are_unknown() {
    let mut catalog = Catalog::new();
    let error = catalog.scenario("AR_gamin", Edition::Reference).unwrap_err().to_string();
    assert!(
        error.starts_with("no scenario named `AR_gamin`; did you mean `AR_gaming`?"),
        "{error}"
    );
    let error = catalog.hardware("Z").unwrap_err().to_string();
    assert!(error.starts_with("no system named `Z`"), "{error}");
    assert!(error.contains("A, B, C"), "{error}");
}

#[test]
fn what_ends_in_yaml_is_never_an_embedded_file() {
    let error =
        Catalog::new().scenario("scenarios/AR_gaming_.yaml", Edition::Reference).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    let mut catalog = Catalog::new();
    catalog.scenario("scenarios/AR_gaming", Edition::Reference).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("AR_gaming.yaml");
    std::fs::write(&path, "scenario: {name: mine, models: [{network: HT, fps: 1}]}\n").unwrap();
    let scenario = catalog.scenario(path.to_str().unwrap(), Edition::Reference).unwrap();
    assert_eq!(scenario.name(), "mine");
}

#[test]
fn files_of_the_wrong_kind() {
    check(
        "netwrok:\n  name: x\n",
        &["1:1: unknown top-level key `netwrok` (did you mean `network`?)"],
    );
    check(
        "- 1\n",
        &[
            "1:1: expected a key that says what the file describes, found a list (the top-level key is \
           one of network, dataflow, style, platform, system, scenario, sensors, suite, sweep, mlperf, mapspace, search, technology, uncertainty, points, device, profile)",
        ],
    );
    check(
        "sensors:\n  eye: {rate_fps: 1}\nsuite: {}\n",
        &[
            "3:1: `suite` beside `sensors`; a file describes one thing (the top-level key is one of \
           network, dataflow, style, platform, system, scenario, sensors, suite, sweep, mlperf, mapspace, search, technology, uncertainty, points, device, profile)",
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.yaml");
    std::fs::write(&path, "dataflow:\n  name: X\n  directives: [SpatialMap(1 1) K]\n").unwrap();
    let error = Catalog::new().scenario(path.to_str().unwrap(), Edition::Reference).unwrap_err();
    assert_eq!(
        without_path(&error, &path),
        ["1:1: this is a `dataflow` file; a `scenario` file is needed here"]
    );
}

#[test]
fn a_file_may_refer_to_others_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("net.yaml", "network: {name: tiny, layers: [fc: {k: 2, c: 3}]}\n");
    write("flow.yaml", "dataflow: {name: F, directives: [SpatialMap(1 1) K]}\n");
    write("use.yaml", "scenario: {name: S, models: [{network: ./net.yaml, fps: 7.5}]}\n");
    write(
        "style.yaml",
        "style: {name: T, class: FDA, accelerators: [{dataflow: flow.yaml, pe_share: 1}]}\n",
    );
    let mut catalog = Catalog::new();
    let scenario =
        catalog.scenario(folder.path().join("use.yaml").to_str().unwrap(), Edition::Reference);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let network = catalog.network(folder.path().join("net.yaml").to_str().unwrap()).unwrap();
    let used = &scenario.models()[0];
    assert!(Arc::ptr_eq(&used.unit.network, &network), "one file, one network");
    assert_eq!((&*used.unit.task, used.rate.as_fps(), used.inputs.len()), ("tiny", 7.5, 0));
    assert_eq!(catalog.check(&folder.path().join("style.yaml")).unwrap(), Kind::Style);
    std::fs::remove_file(folder.path().join("flow.yaml")).unwrap();
    let error = Catalog::new().check(&folder.path().join("style.yaml")).unwrap_err().to_string();
    assert!(error.contains("style.yaml:1:56: "), "{error}");
    assert!(error.contains("flow.yaml: "), "{error}");
    write("net.yaml", "network: {name: tiny}\n");
    let error = Catalog::new().check(&folder.path().join("use.yaml")).unwrap_err().to_string();
    assert!(error.contains("net.yaml:1:10: a network lacks the key `layers`"), "{error}");
}
