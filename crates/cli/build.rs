//! Finds the commit that `--version` names.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..");
    println!("cargo::rustc-env=XRSIM_VERSION={}", version(&root));
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

/// What the program is made of, with its data.
const SOURCES: [&str; 8] =
    ["src", "crates", "dataflows", "hw_configs", "models", "scenarios", "Cargo.toml", "Cargo.lock"];

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
    status.extend(SOURCES);
    for path in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    let changed = if git(root, &status).is_some() { ", changed" } else { "" };
    Some(commit + changed)
}

/// What a command of git prints; `None` if it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?.trim().to_string();
    (done.status.success() && !text.is_empty()).then_some(text)
}
