//! Problems of input files, with their places.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use xrsim_model::renamed::Renamed;

use super::{Problem, Source};

/// Something about an input that the user should know. Displays as the hint for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// It uses an old name.
    OldName {
        /// File and line of its first use, if it is in a file.
        place: Option<(String, usize)>,
        /// The name and the one that took its place.
        renamed: Renamed,
    },
    /// An import decided something that its file leaves open.
    Import {
        /// The file.
        file: String,
        /// The decision, in plain words.
        decision: String,
    },
}

impl From<Renamed> for Note {
    fn from(renamed: Renamed) -> Self {
        Self::OldName { place: None, renamed }
    }
}

/// Notes about inputs, each once, in order of first use. Clones share one list, which is there even if an
/// input cannot be read.
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<Note>>>);

impl Notes {
    /// Adds a note that is not in the list yet.
    pub fn add(&self, note: impl Into<Note>) {
        let note = note.into();
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Every note so far.
    pub fn to_vec(&self) -> Vec<Note> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OldName { place: Some((file, line)), renamed } => {
                write!(f, "{file}:{line}: {renamed}")
            }
            Self::OldName { place: None, renamed } => renamed.fmt(f),
            Self::Import { file, decision } => write!(f, "{file}: {decision}"),
        }
    }
}

/// Errors of inputs that cannot be used.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text of a file is wrong: every problem found, in order of position.
    #[error("{}", Listing(.file, .problems))]
    Invalid {
        /// The file.
        file: Arc<Source>,
        /// Its problems; never empty.
        problems: Vec<Problem>,
    },
    /// A file cannot be read: absent, a directory, too large, not UTF-8.
    #[error("{}: {reason}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file of another program cannot become a network: every problem found.
    #[error("{}", Refusal(.path, .problems, .command.as_deref()))]
    Import {
        /// The file.
        path: PathBuf,
        /// Its problems; never empty.
        problems: Vec<String>,
        /// The command that gives the missing answers, if there are any.
        command: Option<String>,
    },
    /// Text that stands in place of a file, e.g. a style, is wrong.
    #[error("`{text}`: {reason}")]
    Malformed {
        /// The text.
        text: String,
        /// The problem, and the allowed values.
        reason: String,
    },
    /// A name that is neither an embedded file nor a path.
    #[error("no {kind} named `{name}`{}", Suggestion(.nearest.as_deref(), .file.as_deref(), .known))]
    Unknown {
        /// Kind of the file, e.g. `scenario`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// A file with this name and an ending.
        file: Option<String>,
        /// Every known name.
        known: Vec<String>,
    },
}

/// Prints problems as `file:line:column: message (help)`, a line each.
struct Listing<'a>(&'a Source, &'a [Problem]);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(file, problems) = self;
        for (index, problem) in problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let (line, column) = file.position(problem.span.start);
            write!(f, "{}:{line}:{column}: {}", file.name(), problem.message)?;
            for place in &problem.places {
                let (line, _) = file.position(place.span.start);
                write!(f, "; line {line}: {}", place.value)?;
            }
            if let Some(help) = &problem.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

/// Prints problems as `file: message`, a line each, and the command that answers them.
struct Refusal<'a>(&'a Path, &'a [String], Option<&'a str>);

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(path, problems, command) = self;
        for (index, problem) in problems.iter().enumerate() {
            let line_break = if index > 0 { "\n" } else { "" };
            write!(f, "{line_break}{}: {problem}", path.display())?;
        }
        command.map_or(Ok(()), |command| write!(f, "\nhelp: {command}"))
    }
}

/// Advice to name the file `file` with its ending.
pub(crate) fn here(file: &str) -> String {
    format!("the file `{file}` is here: give its name with the ending")
}

/// Prints `; did you mean ...`, the file that may be meant, and the known names.
struct Suggestion<'a>(Option<&'a str>, Option<&'a str>, &'a [String]);

impl fmt::Display for Suggestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(nearest) = self.0 {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        if let Some(file) = self.1 {
            write!(f, "; {}", here(file))?;
        }
        if !self.2.is_empty() {
            write!(f, "; known: {}", self.2.join(", "))?;
        }
        Ok(())
    }
}
