//! Lists the data files that `src/config/embedded.rs` and `src/mapper/table.rs` compile into the program, and
//! finds the commit that `--version` names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Folders of data files, in the order of the table.
const FOLDERS: [&str; 8] = [
    "dataflows",
    "hw_configs",
    "mlperf",
    "models",
    "scenarios",
    "searches",
    "sweeps",
    "technologies",
];

/// Folder of the table of mappings.
const MAPPINGS: &str = "mappings";

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let mut paths = Vec::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        collect(&root.join(folder), "yaml", &mut paths)?;
    }
    let data = table("FILES", "Path and contents of every data file", &root, paths);
    fs::write(out.join("embedded.rs"), data)?;

    println!("cargo::rerun-if-changed={MAPPINGS}");
    let (folder, mut paths) = (root.join(MAPPINGS), Vec::new());
    collect(&folder, "txt", &mut paths)?;
    let mappings = table("MAPPINGS", "Name and contents of every file of mappings", &folder, paths);
    fs::write(out.join("mappings.rs"), mappings)?;

    println!("cargo::rustc-env=XRSIM_VERSION={}", version(&root));
    Ok(())
}

/// Version of the program, in releases with the commit and its date. Builds without optimisation do not name
/// it: each commit would build them again.
fn version(root: &Path) -> String {
    let version = env::var("CARGO_PKG_VERSION").expect("set by cargo");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    match is_release.then(|| commit(root)).flatten() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    }
}

/// What the program is made of, besides its folders of data.
const SOURCES: [&str; 4] = ["src", "build.rs", "Cargo.toml", "Cargo.lock"];

/// The commit of the repository in `root` and its date, and whether sources of the program differ from it; `None` in
/// sources without a repository.
fn commit(root: &Path) -> Option<String> {
    if !root.join(".git").exists() {
        return None;
    }
    // The log of a branch grows with every commit, also where references are packed.
    for file in ["HEAD", "logs/HEAD"] {
        let path = root.join(git(root, &["rev-parse", "--git-path", file])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let commit = git(root, &["log", "-1", "--format=%h %cs", "--abbrev=10"])?;
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(FOLDERS.iter().chain(&SOURCES));
    status.push(MAPPINGS);
    // Folders of data are watched anyway.
    SOURCES.iter().for_each(|path| println!("cargo::rerun-if-changed={path}"));
    let changed = if git(root, &status).is_some() { ", changed" } else { "" };
    Some(commit + changed)
}

/// What a command of git prints; `None` if it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?.trim().to_string();
    (done.status.success() && !text.is_empty()).then_some(text)
}

/// Code of the table `constant` of paths below `root` and contents of files, in order of path.
fn table(constant: &str, what: &str, root: &Path, mut paths: Vec<PathBuf>) -> String {
    paths.sort();
    let mut table = format!("/// {what}, in order of path.\n");
    table += &format!("const {constant}: &[(&str, &str)] = &[\n");
    for path in &paths {
        let name = path.strip_prefix(root).expect("found below the root");
        let name = name.to_str().expect("data files have plain names").replace('\\', "/");
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    table + "];\n"
}

/// Adds every file below `folder` with this extension.
fn collect(folder: &Path, wanted: &str, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, wanted, paths)?;
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            paths.push(path);
        }
    }
    Ok(())
}
