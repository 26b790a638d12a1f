//! Finds the commit that `--version` and records name.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let version = env::var("CARGO_PKG_VERSION").expect("set by cargo");
    println!("cargo::rerun-if-changed=build.rs");
    let commit = Commit::of(&package);
    let (id, shown) = match commit {
        Some(Commit { id, shown }) => (id, format!("{version} ({shown})")),
        None => (String::new(), version),
    };
    println!("cargo::rustc-env=XRSIM_VERSION={shown}");
    println!("cargo::rustc-env=XRSIM_COMMIT={id}");
}

/// What the program is made of, with its data.
const SOURCES: [&str; 8] =
    ["src", "crates", "dataflows", "hw_configs", "models", "scenarios", "Cargo.toml", "Cargo.lock"];

/// Digits of a commit.
const DIGITS: usize = 10;

/// The commit of a build.
struct Commit {
    /// Its digits, and a digest of the changes of sources if there are any.
    id: String,
    /// The same for people, with its date if that is known.
    shown: String,
}

impl Commit {
    /// The commit of a release; `None` in sources without one. Builds without optimisation do not name it: each commit
    /// would build them again.
    fn of(package: &Path) -> Option<Self> {
        let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
        is_release
            .then(|| Self::of_archive(package).or_else(|| Self::of_repository(package)))
            .flatten()
    }

    /// The commit that cargo notes in the archive of a crate.
    fn of_archive(package: &Path) -> Option<Self> {
        let text = fs::read_to_string(package.join(".cargo_vcs_info.json")).ok()?;
        let after = text.split_once("\"sha1\"")?.1;
        let digits = after.split('"').nth(1)?;
        let is_commit = digits.len() >= DIGITS && digits.bytes().all(|it| it.is_ascii_hexdigit());
        let dirty = if text.contains("\"dirty\": true") { "-changed" } else { "" };
        is_commit.then(|| {
            let id = format!("{}{dirty}", &digits[..DIGITS]);
            Self { shown: id.clone(), id }
        })
    }

    /// The commit of the repository around the package.
    fn of_repository(package: &Path) -> Option<Self> {
        let root = &package.join("../..");
        // A package among the sources of another project is not of its commit.
        if !root.join(".git").exists()
            || git(root, &["ls-files", "--", "crates/cli/build.rs"]).is_none()
        {
            return None;
        }
        // The log of a branch grows with every commit, also where references are packed.
        for file in ["HEAD", "logs/HEAD"] {
            let path = root.join(git(root, &["rev-parse", "--git-path", file])?);
            if path.exists() {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
        for path in SOURCES {
            println!("cargo::rerun-if-changed={}", root.join(path).display());
        }
        let found = git(root, &["log", "-1", "--format=%H %cs"])?;
        let (digits, date) = found.split_once(' ')?;
        let digits = digits.get(..DIGITS)?;
        Some(match changes(root) {
            None => Self { id: digits.into(), shown: format!("{digits} {date}") },
            Some(digest) => Self {
                id: format!("{digits}-changed-{digest}"),
                shown: format!("{digits} {date}, changed {digest}"),
            },
        })
    }
}

/// A digest of what differs from the commit in the sources; `None` if nothing does.
fn changes(root: &Path) -> Option<String> {
    let with = |words: &[&'static str]| [words, &["--"], &SOURCES].concat();
    git(root, &with(&["status", "--porcelain"]))?;
    let mut text = git(root, &with(&["diff", "HEAD", "--binary"])).unwrap_or_default();
    let new = git(root, &with(&["ls-files", "--others", "--exclude-standard"])).unwrap_or_default();
    for name in new.lines() {
        let hash = git(root, &["hash-object", "--", name]).unwrap_or_default();
        text.push_str(&format!("\n{name} {hash}"));
    }
    let mut hash = Command::new("git")
        .args(["hash-object", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    hash.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let digits = String::from_utf8(hash.wait_with_output().ok()?.stdout).ok()?;
    digits.get(..8).map(str::to_string)
}

/// What a command of git prints; `None` if it fails or prints nothing.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&done.stdout).trim().to_string();
    (done.status.success() && !text.is_empty()).then_some(text)
}
