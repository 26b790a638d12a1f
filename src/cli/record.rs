//! Records beside results, in JSON: sealed, so that a changed byte shows, and with length and SHA-256
//! of the files that they are of.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::message::{Failure, say};
use crate::digest::Digest;

/// The key with the files of a record.
pub const FILES: &str = "files";

/// The key with the SHA-256 of the record itself, made with zeros in the place of its digits.
const SEAL: &str = "record_sha256";

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// `record` in a line, sealed.
pub fn sealed(record: Map<String, Value>) -> String {
    seal(Value::from(with_zeros(record)).to_string())
}

/// `record` for people, sealed.
pub fn sealed_pretty(record: Map<String, Value>) -> String {
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
    let seal = Digest::of(text.as_bytes()).hex();
    text.replace_range(digits, &seal);
    text
}

/// Where the digits of the seal are. Quotes within strings are escaped, so the key is found nowhere
/// else.
fn digits(text: &str) -> Option<std::ops::Range<usize>> {
    let key = format!("\"{SEAL}\":");
    let after = text.find(&key)? + key.len();
    let start = after + text[after..].find('"')? + 1;
    let range = start..start + DIGITS;
    text.get(range.clone()).is_some().then_some(range)
}

/// Whether the seal of `text` holds; `None` if it has none.
pub fn is_whole(text: &str) -> Option<bool> {
    let digits = digits(text)?;
    let zeros = "0".repeat(DIGITS);
    let opened = [&text[..digits.start], &zeros, &text[digits.end..]].concat();
    Some(Digest::of(opened.as_bytes()).hex() == text[digits])
}

/// What the record of a folder says of its files.
pub struct Recorded {
    path: PathBuf,
    /// `None` if it says nothing.
    files: Option<Map<String, Value>>,
}

impl Recorded {
    /// What `text`, the record at `path`, says. Records that were made by hand, or by versions before
    /// there were seals, say nothing.
    ///
    /// # Errors
    ///
    /// If it was changed.
    pub fn of(path: &Path, text: &str) -> Result<Self, Failure> {
        let whole = is_whole(text);
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let files = value.get(FILES).and_then(Value::as_object).cloned();
        match (whole, files) {
            (None, None) => Ok(Self { path: path.into(), files: None }),
            (Some(true), Some(files)) => Ok(Self { path: path.into(), files: Some(files) }),
            _ => Err(Failure::Argument(format!(
                "{} was changed after it was written; make the results again",
                path.display()
            ))),
        }
    }

    /// Says that nothing is known of the files, if that is so.
    pub fn warn(&self) {
        if self.files.is_none() {
            say(format_args!(
                "warning: {} does not say which files belong to it; whether they are those of one \
                 command is not checked",
                self.path.display()
            ));
        }
    }

    /// Whether the file called `name` is one of those of the record, as far as it says.
    pub fn has(&self, name: &str) -> bool {
        self.files.as_ref().is_none_or(|files| files.contains_key(name))
    }

    /// Whether the record says so of the file called `name`.
    pub fn names(&self, name: &str) -> bool {
        self.files.as_ref().is_some_and(|files| files.contains_key(name))
    }

    /// Refuses `digest` for the file called `name`, at `path`, if it is not that of the record.
    ///
    /// # Errors
    ///
    /// If the file is another one.
    pub fn check(&self, name: &str, path: &Path, digest: Digest) -> Result<(), Failure> {
        let Some(files) = &self.files else { return Ok(()) };
        let known = files.get(name);
        let expected = known.map(|file| (file["bytes"].as_u64(), file["sha256"].as_str()));
        let bytes = digest.bytes();
        if expected == Some((Some(bytes), Some(&digest.hex()))) {
            return Ok(());
        }
        Err(Failure::Argument(format!(
            "{} is not the file that {} was written with: it was changed, or the command that wrote \
             the folder was interrupted; make the results again",
            path.display(),
            self.path.display()
        )))
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
                    let is_json = serde_json::from_str::<Value>(&changed).is_ok();
                    let recorded = Recorded::of(Path::new("r"), &changed);
                    assert!(recorded.is_err() || !is_json, "{at}: {changed}");
                }
            }
            for end in 0..text.len() {
                let recorded = Recorded::of(Path::new("r"), &text[..end]);
                assert!(recorded.map_or(true, |it| it.files.is_none()), "cut at {end}");
            }
        }
    }

    #[test]
    fn records_without_seal_and_files_say_nothing() {
        let recorded = Recorded::of(Path::new("r"), "{\"program\": \"xrsim\"}").expect("read");
        assert!(recorded.has("anything"));
        assert!(recorded.check("a", Path::new("a"), Digest::of(b"1")).is_ok());
        assert!(Recorded::of(Path::new("r"), "{\"files\": {}}").is_err());
    }
}
