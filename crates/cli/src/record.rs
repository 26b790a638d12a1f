//! Records beside results, in JSON. A record has the length and SHA-256 of every file of the results, and
//! a seal that shows any change of the record itself.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::build::Build;
use super::message::{Failure, warn};
use super::output;
use xrsim_config::read_bounded;
use xrsim_model::digest::Digest;

/// Key of the files of a record.
pub(super) const FILES: &str = "files";

/// Key of the seal: the SHA-256 of the record itself with zeros in place of these digits.
const SEAL: &str = "record_sha256";

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// The record of results of this program, with the members of an object that `json!` made.
pub(super) fn of_results(members: Value) -> Map<String, Value> {
    let mut record = output::object(members);
    record.insert("program".into(), "xrsim".into());
    Build::own().add_to(&mut record);
    record
}

/// Returns `record` in one line, sealed.
pub(super) fn sealed(record: Map<String, Value>) -> String {
    seal(Value::from(with_zeros(record)).to_string())
}

/// Returns `record` with line breaks, sealed.
pub(super) fn sealed_pretty(record: Map<String, Value>) -> String {
    let text = serde_json::to_string_pretty(&with_zeros(record));
    seal(text.expect("strings and numbers serialise"))
}

fn with_zeros(mut record: Map<String, Value>) -> Map<String, Value> {
    record.insert(SEAL.into(), "0".repeat(DIGITS).into());
    record
}

fn seal(mut text: String) -> String {
    text.push('\n');
    let digits = digits(&text).expect("the record has a seal");
    let seal = Digest::compute(text.as_bytes()).hex();
    text.replace_range(digits, &seal);
    text
}

/// Finds the digits of the seal. Quotes within strings are escaped, so the key occurs nowhere else.
fn digits(text: &str) -> Option<std::ops::Range<usize>> {
    let key = format!("\"{SEAL}\":");
    let after = text.find(&key)? + key.len();
    let start = after + text[after..].find('"')? + 1;
    let range = start..start + DIGITS;
    text.get(range.clone()).is_some().then_some(range)
}

/// Whether the seal of `text` matches its content; `None` if it has no seal.
pub(super) fn is_whole(text: &str) -> Option<bool> {
    let digits = digits(text)?;
    let zeros = "0".repeat(DIGITS);
    let opened = [&text[..digits.start], &zeros, &text[digits.end..]].concat();
    Some(Digest::compute(opened.as_bytes()).hex() == text[digits])
}

/// The record of a folder, with the digests of its files.
pub(super) struct Recorded {
    path: PathBuf,
    /// `None` if the record lists no files.
    files: Option<Map<String, Value>>,
}

impl Recorded {
    /// Reads `text`, the record at `path`. A record that was written by hand, or by a version without
    /// seals, lists no files.
    ///
    /// # Errors
    ///
    /// Returns a failure if the record was changed after it was written, or is not JSON.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let whole = is_whole(text);
        let value: Value = serde_json::from_str(text).map_err(|error| {
            Failure::Argument(format!("{}:{}: {error}", path.display(), error.line()))
        })?;
        let files = value.get(FILES).and_then(Value::as_object).cloned();
        match (whole, files) {
            (None, None) => Ok(Self { path: path.into(), files: None }),
            (Some(true), Some(files)) => Ok(Self { path: path.into(), files: Some(files) }),
            _ => Err(Failure::Argument(format!(
                "{} was changed after it was written; run the command again",
                path.display()
            ))),
        }
    }

    /// Warns if the record lists no files.
    pub(super) fn warn(&self) {
        if self.files.is_none() {
            warn(format_args!(
                "{} does not list its files; the program cannot check that they come from one \
                 command",
                self.path.display()
            ));
        }
    }

    /// Whether the record lists the file called `name`, or lists no files at all.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.as_ref().is_none_or(|files| files.contains_key(name))
    }

    /// Whether the record lists the file called `name`.
    pub(super) fn names(&self, name: &str) -> bool {
        self.files.as_ref().is_some_and(|files| files.contains_key(name))
    }

    /// Compares `digest`, of the file called `name` at `path`, with the record.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file differs.
    pub(super) fn check(&self, name: &str, path: &Path, digest: Digest) -> Result<(), Failure> {
        let Some(files) = &self.files else { return Ok(()) };
        let known = files.get(name);
        let expected = known.map(|file| (file["bytes"].as_u64(), file["sha256"].as_str()));
        let bytes = digest.bytes();
        if expected == Some((Some(bytes), Some(&digest.hex()))) {
            return Ok(());
        }
        Err(Failure::Argument(format!(
            "{} is not the file that {} lists: it was changed, or the command that wrote the folder was \
             interrupted; run the command again",
            path.display(),
            self.path.display()
        )))
    }
}

impl Recorded {
    /// Checks every file of the folder that the record lists and that is there, also those that the caller does not
    /// read: who reads the results may take any of them.
    ///
    /// # Errors
    ///
    /// Returns a failure for the first file that differs.
    pub(super) fn check_all(&self, folder: &Path) -> Result<(), Failure> {
        for name in self.files.iter().flat_map(Map::keys) {
            let path = folder.join(name);
            let is_plain =
                Path::new(name).components().all(|it| matches!(it, Component::Normal(_)));
            if !is_plain || !path.is_file() {
                continue;
            }
            let unreadable =
                |error: io::Error| Failure::Argument(format!("{}: {error}", path.display()));
            self.check(name, &path, Digest::of_file(&path).map_err(unreadable)?)?;
        }
        Ok(())
    }
}

/// Record of `xrsim run`.
pub(super) const RUN: &str = "run.json";
/// Record of `xrsim compare`.
pub(super) const COMPARE: &str = "compare.json";
/// Record of `xrsim search`.
pub(super) const SEARCH: &str = "search.json";
/// Record of `xrsim sensitivity`.
pub(super) const SENSITIVITY: &str = "sensitivity.json";
/// Record of `xrsim sensitivity --joint`.
pub(super) const JOINT: &str = "joint.json";
/// Record of `xrsim explain`.
pub(super) const EXPLAIN: &str = "explain.json";
/// Record of `xrsim day`.
pub(super) const DAY: &str = "day.json";
/// Record of `xrsim reproduce`.
pub(super) const REPRODUCE: &str = "reproduce.json";

/// Records of folders, with the commands that write them.
const KINDS: [(&str, &str); 9] = [
    (RUN, "run"),
    (COMPARE, "compare"),
    (SEARCH, "search"),
    (SENSITIVITY, "sensitivity"),
    (JOINT, "sensitivity"),
    (EXPLAIN, "explain"),
    (DAY, "day"),
    (REPRODUCE, "reproduce"),
    (xrsim_mlperf::logs::files::RECORD, "mlperf"),
];

/// Largest record that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

/// The record of this program at `path`, and its text; `None` without one.
fn read(path: &Path) -> Option<(Value, String)> {
    let text = path.is_file().then(|| read_bounded(path, MAX_BYTES).ok()).flatten()?;
    let text = String::from_utf8(text).ok()?;
    let record: Value = serde_json::from_str(&text).ok()?;
    (record["program"] == "xrsim").then_some((record, text))
}

/// Refuses a folder that has results of another command than `own`, before work begins: two kinds of results in one
/// folder are told apart by no reader.
///
/// # Errors
///
/// Returns a failure that names the other command.
pub(super) fn refuse_other_kind(folder: Option<&Path>, own: &str) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    let of_part = || {
        let place = super::journal::place(&super::journal::PartRows::path(folder));
        let (record, _) = read(&place)?;
        let command = record["command"].as_str().filter(|it| *it != own)?.to_string();
        Some((place, command))
    };
    let others = KINDS.into_iter().filter(|(_, command)| *command != own);
    let mut others = others.map(|(file, command)| (folder.join(file), command.to_string()));
    let found = others.find(|(path, _)| read(path).is_some()).or_else(of_part);
    match found {
        None => Ok(()),
        Some((path, command)) => Err(Failure::Argument(format!(
            "{} has results of `xrsim {command}` ({}); choose another folder for those of `xrsim {own}`",
            folder.display(),
            path.file_name().unwrap_or_default().to_string_lossy()
        ))),
    }
}

/// Warns of inputs that a record beside them lists with another content: a file of results, such as the best system of a
/// search, may be edited on purpose, but it is no longer that result.
pub(super) fn warn_of_changed(inputs: impl IntoIterator<Item = PathBuf>) {
    for path in inputs {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str))
        else {
            continue;
        };
        for (file, command) in KINDS {
            let Some((record, text)) = read(&folder.join(file)) else { continue };
            let Some(known) = record[FILES].get(name) else { continue };
            let found = Digest::of_file(&path).map(Digest::hex).ok();
            if is_whole(&text) != Some(true) {
                warn(format_args!(
                    "{} was changed after it was written; whether {} is the file of that `xrsim {command}` cannot be \
                     checked",
                    folder.join(file).display(),
                    path.display()
                ));
            } else if found.as_deref() != known["sha256"].as_str() {
                warn(format_args!(
                    "{} is not the file that {} lists: it was changed after `xrsim {command}` wrote it",
                    path.display(),
                    folder.join(file).display()
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Map<String, Value> {
        let tricky = format!("\"{SEAL}\":\"{}\"", "0".repeat(DIGITS));
        Map::from_iter([("a".to_string(), tricky.into()), (FILES.to_string(), Map::new().into())])
    }

    #[test]
    fn any_changed_byte_of_a_record_shows() {
        for text in [sealed(record()), sealed_pretty(record())] {
            assert_eq!(is_whole(&text), Some(true));
            for at in 0..text.len() {
                for flip in [1, 2, 4, 16, 32] {
                    let mut bytes = text.clone().into_bytes();
                    bytes[at] ^= flip;
                    let Ok(changed) = String::from_utf8(bytes) else { continue };
                    let recorded = Recorded::parse(Path::new("r"), &changed);
                    assert!(recorded.is_err(), "{at}: {changed}");
                }
            }
            for end in 0..text.len() - 1 {
                let recorded = Recorded::parse(Path::new("r"), &text[..end]);
                assert!(recorded.is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn records_without_a_seal_list_no_files() {
        let recorded = Recorded::parse(Path::new("r"), "{\"program\": \"xrsim\"}").expect("read");
        assert!(recorded.has("anything"));
        assert!(recorded.check("a", Path::new("a"), Digest::compute(b"1")).is_ok());
        assert!(Recorded::parse(Path::new("r"), "{\"files\": {}}").is_err());
    }
}
