//! The layers inside of crates, checked against the source: which module may import which.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates of several layers. The order of crates stands in their `Cargo.toml` files; the compiler holds it.
const LAYERED: [&str; 2] = ["model", "sim"];

/// Every module of these crates with the modules of its crate that it may name. A module may always name itself.
const ALLOWED: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("ids", &[]),
    ("statistics", &[]),
    ("text", &[]),
    ("renamed", &[]),
    ("column", &["renamed"]),
    ("cancel", &[]),
    ("digest", &[]),
    ("parallel", &[]),
    ("sequence", &[]),
    ("model", &["digest"]),
    ("dataflow", &[]),
    ("hardware", &["units", "ids", "model", "dataflow"]),
    ("scenario", &["sequence", "units", "ids", "model", "hardware"]),
    ("trace", &["units", "ids"]),
    (
        "cost",
        &[
            "cancel", "digest", "parallel", "units", "ids", "renamed", "model", "dataflow",
            "hardware", "scenario",
        ],
    ),
    (
        "mapper",
        &[
            "cancel", "digest", "parallel", "sequence", "units", "model", "dataflow", "hardware",
            "cost",
        ],
    ),
    ("device", &[]),
    ("load", &[]),
    ("score", &[]),
    ("metrics", &["load", "score"]),
    ("schedule", &["device", "load", "score"]),
    ("bounds", &["load", "schedule", "score"]),
    ("external", &["device", "schedule"]),
    ("plan", &["device", "load", "schedule", "score"]),
    ("engine", &["device", "load", "schedule", "plan"]),
    ("compat", &["score", "plan"]),
    (
        "sweep",
        &["device", "load", "schedule", "score", "plan", "engine", "compat", "bounds", "metrics"],
    ),
];

/// Folder of the sources of a crate.
fn source_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates").join(name).join("src")
}

/// Names of the folders of all crates of the library.
fn crates() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let entries = fs::read_dir(folder).expect("the folder of crates can be listed");
    let names = entries.map(|entry| entry.expect("an entry can be read").file_name());
    let names = names.map(|name| name.into_string().expect("crates have plain names"));
    let mut names: Vec<_> = names.filter(|name| name != "manual").collect();
    names.sort();
    names
}

/// Source files below `folder`, without files of unit tests.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                rust_files(&path, files);
            }
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// The part of a source file that must follow the order: without comments, which may name any module, and
/// without the unit tests at its end, which may use any module.
fn code(text: &str) -> String {
    let above_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = above_tests.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Modules of this crate that `text` names, as `crate::module` or in a braced list after `crate::`.
fn named_modules(text: &str) -> BTreeSet<String> {
    let identifier = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    };
    let mut named = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                let end = list.find("};").expect("a braced import ends");
                let mut depth = 0;
                let mut item = String::new();
                for c in list[..end].chars().chain([',']) {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            named.insert(identifier(item.trim()));
                            item.clear();
                            continue;
                        }
                        _ => {}
                    }
                    item.push(c);
                }
            }
            None => {
                named.insert(identifier(rest));
            }
        }
    }
    named.remove("");
    named
}

#[test]
fn every_import_follows_the_order_of_layers() {
    let mut violations = Vec::new();
    for source in LAYERED.map(source_of) {
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        for path in files {
            let relative = path.strip_prefix(&source).expect("the file lies in src");
            let module = relative.iter().next().expect("a path has parts").to_string_lossy();
            let module = module.trim_end_matches(".rs");
            if module == "lib" {
                continue;
            }
            let (_, allowed) = ALLOWED
                .iter()
                .find(|(name, _)| *name == module)
                .unwrap_or_else(|| panic!("module `{module}` is not in the table of layers"));
            let text = fs::read_to_string(&path).expect("a source file is text");
            for name in named_modules(&code(&text)) {
                if name != module && !allowed.contains(&name.as_str()) {
                    violations.push(format!("{} names crate::{name}", relative.display()));
                }
            }
        }
    }
    assert!(
        violations.is_empty(),
        "imports against the order of layers:\n{}",
        violations.join("\n")
    );
}

/// Paths that `text` names from `crate`, `super` or `self` on, one for each item of a braced list.
fn named_paths(text: &str) -> Vec<Vec<&str>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let mut paths = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(root) {
            if !text[..at].ends_with(is_word) {
                read_tree(&text[at..], &[], &mut paths);
            }
        }
    }
    paths
}

/// Reads a path or a braced list of paths at the start of `text`, each after `prefix`, and returns the
/// rest of the text.
fn read_tree<'a>(text: &'a str, prefix: &[&'a str], paths: &mut Vec<Vec<&'a str>>) -> &'a str {
    let mut rest = text.trim_start();
    if let Some(list) = rest.strip_prefix('{') {
        rest = list;
        loop {
            rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
            if rest.is_empty() || rest.starts_with('}') {
                return rest.get(1..).unwrap_or_default();
            }
            rest = read_tree(rest, prefix, paths);
            rest = &rest[rest.find([',', '}']).unwrap_or(rest.len())..];
        }
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (word, rest) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
    let path = if word.is_empty() { prefix.to_vec() } else { [prefix, &[word]].concat() };
    match rest.strip_prefix("::").filter(|_| !word.is_empty()) {
        Some(rest) => read_tree(rest, &path, paths),
        None => {
            paths.push(path);
            rest
        }
    }
}

/// Path of the module of a source file below `src`, e.g. `engine/step`.
fn module_of(path: &Path) -> String {
    let path = path.with_extension("").to_string_lossy().into_owned();
    path.strip_suffix("/mod").map_or(path.clone(), String::from)
}

/// Every file below `source` with the others that it names. A file and its parent may name each other: the
/// parent declares and re-exports it.
fn named_files(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    rust_files(source, &mut files);
    let texts = files.iter().map(|path| {
        let text = fs::read_to_string(path).expect("a source file is text");
        (module_of(path.strip_prefix(source).expect("the file lies in src")), code(&text))
    });
    let texts: BTreeMap<String, String> = texts.collect();
    let is_inside = |file: &str, folder: &str| file.starts_with(&format!("{folder}/"));
    let file_of = |own: &str, path: &[&str]| {
        let mut full: Vec<&str> = own.split('/').filter(|word| *word != "lib").collect();
        for word in path {
            match *word {
                "crate" => full.clear(),
                "super" => drop(full.pop()),
                "self" => {}
                word => full.push(word),
            }
        }
        let prefixes = (1..=full.len()).rev().map(|length| full[..length].join("/"));
        prefixes.into_iter().find(|prefix| texts.contains_key(prefix))
    };
    let named = texts.iter().filter(|(own, _)| *own != "lib").map(|(own, text)| {
        let found = named_paths(text).into_iter().filter_map(|path| file_of(own, &path));
        let others =
            found.filter(|file| file != own && !is_inside(own, file) && !is_inside(file, own));
        (own.clone(), others.collect())
    });
    named.collect()
}

/// The shortest way from `start` to `end` along `named`, if there is one.
fn way(named: &BTreeMap<String, BTreeSet<String>>, start: &str, end: &str) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![start.to_string()]]);
    let mut seen = BTreeSet::from([start.to_string()]);
    while let Some(way) = ways.pop_front() {
        for next in &named[way.last()?] {
            let longer = [&way[..], std::slice::from_ref(next)].concat();
            if next == end {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[test]
fn files_of_a_crate_name_each_other_in_one_direction() {
    let mut circles = BTreeSet::new();
    for name in crates() {
        let named = named_files(&source_of(&name));
        for (file, others) in &named {
            for other in others {
                if let Some(mut circle) = way(&named, other, file) {
                    circle.sort();
                    circles.insert((name.clone(), circle));
                }
            }
        }
    }
    assert!(circles.is_empty(), "circles between files: {circles:#?}");
}

#[test]
fn paths_are_found_in_nested_lists() {
    let text = "use super::{a::{B, c::D}, e};\nlet x = crate::f::g();";
    let found: Vec<_> = named_paths(text).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::f::g", "super::a::B", "super::a::c::D", "super::e"]);
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::units::SimTime;\nuse crate::{ids::{AccelId, ModelId}, cost};\n";
    let found: Vec<_> = named_modules(text).into_iter().collect();
    assert_eq!(found, ["cost", "ids", "units"]);
}

#[test]
fn every_test_file_is_declared() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut forgotten = Vec::new();
    for path in files {
        let is_root = path.file_stem().is_some_and(|stem| stem == "mod" || stem == "main");
        let folder = path.parent().expect("a file lies in a folder");
        let (module, parent) = match (is_root, folder == root) {
            (true, true) => continue,
            (true, false) => (folder, folder.parent().expect("below the root")),
            (false, _) => (path.as_path(), folder),
        };
        let root_file = if parent == root { "main.rs" } else { "mod.rs" };
        let text = fs::read_to_string(parent.join(root_file)).expect("a folder has a root file");
        let name = module.file_stem().expect("a module has a name").to_string_lossy();
        if !text.lines().any(|line| line.trim_start_matches("pub ") == format!("mod {name};")) {
            forgotten.push(path.strip_prefix(&root).expect("below the root").display().to_string());
        }
    }
    assert!(forgotten.is_empty(), "no `mod` declares {forgotten:?}");
}
