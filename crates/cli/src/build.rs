//! The build of this program: results of two builds of one version may differ, so that records name the commit.

use std::fmt;

use serde_json::{Map, Value};

/// Version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Key of the commit in records.
const COMMIT: &str = "commit";

/// Version and commit of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Build {
    version: String,
    /// Digits of the commit, and a digest of what differs from it; `None` where it is not known, as in a build without
    /// optimisation, or of sources without a repository.
    commit: Option<String>,
}

impl Build {
    /// This program.
    pub(super) fn own() -> Self {
        let commit = env!("XRSIM_COMMIT");
        Self { version: VERSION.into(), commit: (!commit.is_empty()).then(|| commit.into()) }
    }

    /// The program that wrote a record; `None` if it has no version.
    pub(super) fn of_record(record: &Value) -> Option<Self> {
        let text = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_string);
        Some(Self { version: text("version")?, commit: text(COMMIT) })
    }

    /// Reads the form `VERSION+COMMIT`, or `VERSION`.
    pub(super) fn parse(word: &str) -> Self {
        match word.split_once('+') {
            Some((version, commit)) => {
                Self { version: version.into(), commit: Some(commit.into()) }
            }
            None => Self { version: word.into(), commit: None },
        }
    }

    /// The form `VERSION+COMMIT`, or `VERSION`.
    pub(super) fn word(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{}+{commit}", self.version),
            None => self.version.clone(),
        }
    }

    pub(super) fn version(&self) -> String {
        self.version.clone()
    }

    pub(super) fn commit(&self) -> Option<String> {
        self.commit.clone()
    }

    /// Adds version and commit to a record.
    pub(super) fn add_to(&self, record: &mut Map<String, Value>) {
        record.insert("version".into(), self.version.clone().into());
        if let Some(commit) = &self.commit {
            record.insert(COMMIT.into(), commit.clone().into());
        }
    }

    /// Why this program adds nothing to what `other` made, in words; `None` if it may.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        match (self == other, self.version == other.version) {
            (true, _) => None,
            (_, false) => Some(format!(
                "made by xrsim {}; this is {}, whose numbers may differ",
                other.version, self.version
            )),
            (_, true) => {
                Some(format!("made by xrsim {other}; this is {self}, whose numbers may differ"))
            }
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.commit {
            Some(commit) => write!(f, "{} (commit {commit})", self.version),
            None => write!(f, "{} (commit not known)", self.version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_builds_of_one_version_differ_by_their_commits() {
        let [first, second, unknown] = ["1.2.3+aa", "1.2.3+bb", "1.2.3"].map(Build::parse);
        for (own, other, shown) in [
            (&first, &second, "made by xrsim 1.2.3 (commit bb); this is 1.2.3 (commit aa)"),
            (&first, &unknown, "made by xrsim 1.2.3 (commit not known); this is 1.2.3 (commit aa)"),
            (&unknown, &first, "made by xrsim 1.2.3 (commit aa); this is 1.2.3 (commit not known)"),
        ] {
            let difference = own.difference(other).expect("they differ");
            assert!(difference.starts_with(shown), "{difference}");
        }
        for build in [&first, &unknown] {
            assert_eq!(build.difference(build), None);
            assert_eq!(Build::parse(&build.word()), *build);
            let mut record = Map::new();
            build.add_to(&mut record);
            assert_eq!(Build::of_record(&record.into()).as_ref(), Some(build));
        }
        assert_eq!(Build::of_record(&Value::Null), None);
        let older = first.difference(&Build::parse("1.2.2+aa")).expect("they differ");
        assert_eq!(older, "made by xrsim 1.2.2; this is 1.2.3, whose numbers may differ");
    }
}
