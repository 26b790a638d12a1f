//! The layering of the crate, checked against the source: which module may import which.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every module with the modules that it may name. A module may always name itself.
const ALLOWED: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("ids", &[]),
    ("statistics", &[]),
    ("text", &[]),
    ("renamed", &[]),
    ("column", &["renamed"]),
    ("digest", &[]),
    ("model", &[]),
    ("dataflow", &[]),
    ("hardware", &["units", "model", "dataflow"]),
    ("scenario", &["units", "ids", "model"]),
    ("trace", &["units", "ids"]),
    ("cost", &["units", "ids", "renamed", "model", "dataflow", "hardware", "scenario"]),
    ("load", &["units", "ids", "scenario"]),
    ("score", &["column", "units", "ids", "scenario", "trace"]),
    ("bounds", &["column", "units", "ids", "scenario", "cost", "load", "score"]),
    (
        "metrics",
        &["column", "units", "ids", "statistics", "scenario", "trace", "cost", "load", "score"],
    ),
    ("schedule", &["renamed", "units", "ids", "scenario", "cost", "score"]),
    ("external", &["text", "renamed", "units", "ids", "scenario", "cost", "schedule"]),
    ("plan", &["units", "hardware", "scenario", "cost", "load", "schedule", "score", "trace"]),
    (
        "engine",
        &[
            "units", "ids", "model", "hardware", "scenario", "cost", "load", "schedule", "plan",
            "trace",
        ],
    ),
    ("compat", &["units", "ids", "model", "scenario", "cost", "score", "plan", "trace"]),
    (
        "mlperf",
        &[
            "units",
            "ids",
            "model",
            "hardware",
            "scenario",
            "cost",
            "load",
            "score",
            "schedule",
            "plan",
            "engine",
            "statistics",
            "trace",
        ],
    ),
    (
        "sweep",
        &[
            "column", "ids", "hardware", "scenario", "cost", "load", "schedule", "score", "plan",
            "engine", "compat", "trace", "bounds", "metrics", "units",
        ],
    ),
    (
        "report",
        &[
            "renamed",
            "column",
            "units",
            "mlperf",
            "ids",
            "model",
            "hardware",
            "scenario",
            "cost",
            "load",
            "score",
            "trace",
            "sweep",
            "figures",
            "statistics",
            "bounds",
            "metrics",
            "schedule",
            "text",
        ],
    ),
    ("figures", &[]),
    (
        "config",
        &[
            "renamed",
            "units",
            "ids",
            "statistics",
            "text",
            "model",
            "dataflow",
            "hardware",
            "scenario",
            "cost",
            "mlperf",
        ],
    ),
    (
        "experiment",
        &[
            "bounds",
            "column",
            "compat",
            "config",
            "cost",
            "dataflow",
            "digest",
            "engine",
            "external",
            "figures",
            "hardware",
            "ids",
            "load",
            "metrics",
            "model",
            "plan",
            "renamed",
            "report",
            "scenario",
            "schedule",
            "score",
            "statistics",
            "sweep",
            "text",
            "trace",
            "units",
        ],
    ),
];

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// What of a source file is bound by the order: neither comments, which may point anywhere, nor the
/// tests at its foot, which may build what they test with.
fn code(text: &str) -> String {
    let above_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = above_tests.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Modules of this crate that `text` names, as `crate::module` or in a braced list behind `crate::`.
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
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    let mut violations = Vec::new();
    for path in files {
        let relative = path.strip_prefix(&source).expect("the file lies in src");
        let module = relative.iter().next().expect("a path has parts").to_string_lossy();
        let module = module.trim_end_matches(".rs");
        if ["lib", "main", "cli"].contains(&module) {
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
    assert!(
        violations.is_empty(),
        "imports against the order of layers:\n{}",
        violations.join("\n")
    );
}

#[test]
fn only_the_command_line_prints_reads_the_environment_or_the_clock() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    let forbidden = ["println!", "eprintln!", "print!(", "std::env", "SystemTime", "Instant::now"];
    let mut violations = Vec::new();
    for path in files {
        let relative = path.strip_prefix(&source).expect("the file lies in src");
        if relative.starts_with("cli") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file is text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code: Vec<&str> =
            code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for word in forbidden {
            if code.iter().any(|line| line.contains(word)) {
                violations.push(format!("{}: {word}", relative.display()));
            }
        }
    }
    assert!(violations.is_empty(), "below the command line:\n{}", violations.join("\n"));
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
