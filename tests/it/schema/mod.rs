//! Schemas are equal to the readers: on files as a whole, key by key, and at the limits of numbers.

mod corpus;
mod draft7;
mod keys;
mod limits;
mod places;
mod tree;

use std::path::Path;
use std::process::Output;
use std::sync::LazyLock;

use serde_json::Value;
use xrsim::config::{Catalog, ConfigError, Kind, Problem, Source};
use xrsim::experiment::{schema, schema_of_all};

use crate::support::binary::{output, refused, xrsim};

use corpus::File;
use tree::Tree;

/// Schema of files of any kind.
static OF_ALL: LazyLock<Value> = LazyLock::new(schema_of_all);

fn is_valid(tree: &Tree) -> bool {
    draft7::is_valid(&OF_ALL, &OF_ALL, &tree.json())
}

/// Messages of the reader about a file of `kind`: form and range for sweeps and searches, everything for others.
fn read(kind: Kind, text: &str) -> Vec<String> {
    let name = "file.yaml";
    let mut catalog = Catalog::new();
    catalog.provide(Source::new(name, text));
    let result = match kind {
        Kind::Sweep => catalog.sweep(name).map(|draft| draft.problems),
        Kind::Search => catalog.search(name).map(|draft| draft.problems),
        _ => catalog.check(Path::new(name)).map(|_| Vec::new()),
    };
    match result {
        Ok(problems) | Err(ConfigError::Invalid { problems, .. }) => messages(&problems),
        Err(error) => vec![error.to_string()],
    }
}

fn messages(problems: &[Problem]) -> Vec<String> {
    let message = |problem: &Problem| match &problem.help {
        Some(help) => format!("{} ({help})", problem.message),
        None => problem.message.clone(),
    };
    problems.iter().map(message).collect()
}

/// What `xrsim check` prints about a file with this text.
fn check(text: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.yaml");
    std::fs::write(&path, text).expect("a file");
    xrsim(&["check", path.to_str().expect("UTF-8")]).output().expect("it runs")
}

/// Messages of `xrsim check` about a file; the reader says them for all kinds whose keys it knows.
fn judge(file: &File) -> Vec<String> {
    let found = read(file.kind, &file.text);
    let is_whole = !matches!(file.kind, Kind::Sweep | Kind::Search);
    if is_whole || !found.is_empty() {
        return found;
    }
    let checked = check(&file.text);
    let errors = String::from_utf8_lossy(&checked.stderr);
    match checked.status.success() {
        true => Vec::new(),
        // The first line of each message; the others show its place.
        false => errors.lines().filter(|line| line.starts_with("error")).map(Into::into).collect(),
    }
}

/// Reasons for which a schema cannot refuse what a reader refuses: a part of the message, and the reason.
const UNSAYABLE: &[(&str, &str)] = &[
    ("No such file", "another file"),
    ("no dataflow named", "a reference"),
    ("no model in this scenario named", "a reference within the file"),
    ("no network named", "a reference"),
    ("no parameter", "a reference within the file"),
    ("no scenario named", "a reference"),
    ("no sensor named", "a reference"),
    ("no style named", "a reference"),
    ("a second model is called", "names that are compared"),
    ("given twice", "values that are compared"),
    ("is set twice", "values that are compared"),
    ("maps Y twice", "directives that are compared"),
    ("the map ", "the grammar of directives"),
    ("axis `", "the grammar of directives"),
    ("an expression", "the grammar of expressions"),
    ("counted from 0) reads the one", "a position in the network"),
    ("a network has at most", "a sum over layers"),
    ("no layer uses the parameter", "values that are compared"),
    ("the default is", "numbers that are compared"),
    ("expected [least, largest]", "numbers that are compared"),
    ("divide", "numbers that are compared"),
    ("does not fit into", "numbers that are compared"),
    ("is not needed", "shapes of layers"),
    (" expects ", "shapes of layers"),
    ("`output_pad` is larger", "numbers that are compared"),
    ("the kernel fits", "numbers that are compared"),
    ("the padding leaves nothing", "numbers that are compared"),
    ("a transposed convolution cannot be dilated", "keys that exclude each other"),
    ("views of", "lengths that are compared"),
    ("has no weights", "keys of some operators"),
    ("multiply-accumulates", "numbers that are compared"),
    ("were compared", "numbers that are compared"),
    ("a layer that is repeated cannot have a name", "a place in the file"),
    ("but one unit of dataflow", "another file"),
    ("needs the key `cluster_memory_kib`", "keys of different mappings"),
    ("delivers only", "a number of another file"),
    ("is named twice", "names that are compared"),
    ("depends on itself", "names that are compared"),
    ("wait for each other", "a graph"),
    ("leaves no partition", "a number of another file"),
    ("nothing bounds", "keys of different mappings"),
    ("more than 100000 values", "the length of a range"),
    ("fixes its own PEs", "another file"),
    ("which others have", "keys of different points"),
    ("clocks ascend", "numbers that are compared"),
];

/// Whether the schema refuses a text as the reader does, with these messages, or cannot say the reason.
fn agrees(text: &str, messages: &[String]) -> bool {
    // Hostile files are not for editors.
    const MOST: usize = 1 << 16;
    if text.len() > MOST {
        return true;
    }
    let Some(file) = File::parse("", text) else { return true };
    let is_unsayable = |message: &String| UNSAYABLE.iter().any(|(part, _)| message.contains(part));
    !is_valid(&file.tree) || messages.iter().all(is_unsayable)
}

/// Asserts that the schema refuses a text as the reader does, with these messages, or cannot say the reason.
pub fn check_refusal(text: &str, messages: &[String]) {
    assert!(agrees(text, messages), "the schema accepts it: {messages:?}\n{text}");
}

#[test]
fn every_shipped_file_is_valid() {
    let files = corpus::shipped();
    assert!(files.len() >= 80, "{}", files.len());
    let own = Kind::EVERY.map(|kind| (kind, schema(kind)));
    for file in files {
        assert!(is_valid(&file.tree), "{}", file.place);
        let of_kind = own.iter().filter(|(kind, _)| *kind == file.kind);
        for (_, own) in of_kind {
            assert!(draft7::is_valid(own, own, &file.tree.json()), "{}", file.place);
        }
    }
}

#[test]
fn a_written_file_is_valid_if_it_is_accepted() {
    let mut n_accepted = 0;
    let mut wrong = Vec::new();
    for file in corpus::written() {
        if !judge(&file).is_empty() {
            continue;
        }
        n_accepted += 1;
        if is_valid(&file.tree) {
            continue;
        }
        // Editors mark old names, of which `xrsim check` prints a note.
        let notes = check(&file.text).stderr;
        if !String::from_utf8_lossy(&notes).contains("note: ") {
            wrong.push(format!("{}\n{}", file.place, file.text));
        }
    }
    assert_eq!(wrong, [""; 0], "{}", wrong.join("\n---\n"));
    assert!(n_accepted > 30, "{n_accepted}");
}

#[test]
fn a_written_file_is_refused_as_the_reader_refuses_it() {
    let (mut n_refused, mut n_same) = (0, 0);
    let mut wrong = Vec::new();
    for file in corpus::written() {
        let found = judge(&file);
        if found.is_empty() {
            continue;
        }
        n_refused += 1;
        if !is_valid(&file.tree) {
            n_same += 1;
            continue;
        }
        if !agrees(&file.text, &found) {
            wrong.push(format!("{}: {found:?}\n{}", file.place, file.text));
        }
    }
    assert!(wrong.is_empty(), "{} of {n_refused}\n{}", wrong.len(), wrong.join("\n---\n"));
    assert!(n_same > 60, "{n_same} of {n_refused}");
}

#[test]
fn the_command_prints_schemas_and_names() {
    let names = output(&["schema"]);
    let expected: String = Kind::EVERY.iter().map(|kind| format!("{kind}\n")).collect();
    assert_eq!(names, expected);
    for kind in Kind::EVERY {
        let printed: Value = serde_json::from_str(&output(&["schema", kind.key()])).expect("JSON");
        assert_eq!(printed, schema(kind));
    }
    let all: Value = serde_json::from_str(&output(&["schema", "--all"])).expect("JSON");
    assert_eq!(all, *OF_ALL);
    assert!(Kind::EVERY.iter().all(|kind| all["definitions"][kind.key()].is_object()));
    let error = refused(&["schema", "scenari"]);
    assert_eq!(error, "error: no kind named `scenari`; did you mean `scenario`?\n");
}

#[test]
fn the_command_writes_a_file_for_each_kind_and_one_for_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("UTF-8");
    output(&["schema", "--all", "--out", path]);
    let json = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("it is written");
        serde_json::from_str(&text).expect("JSON")
    };
    for kind in Kind::EVERY {
        assert_eq!(json(&format!("{kind}.schema.json")), schema(kind));
    }
    assert_eq!(json("xrsim.schema.json"), *OF_ALL);
    let of_sweeps = format!("{path}/sweep.schema.json");
    let shown = output(&["show", "pe_scaling", "--schema", &of_sweeps]);
    let line = format!("# yaml-language-server: $schema={of_sweeps}\n");
    assert_eq!(shown, line + &output(&["show", "pe_scaling"]));
    let error = refused(&["show", "pe_scaling", "--schema", "absent.json"]);
    assert!(error.contains("no file `absent.json`"), "{error}");
}
