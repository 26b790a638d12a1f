//! Errors of experiments.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use thiserror::Error;

use xrsim_config::{ConfigError, nearest, printable};
use xrsim_figures::FigureError;
use xrsim_model::hardware::HardwareError;
use xrsim_sim::schedule::PolicyError;
use xrsim_sim::sweep::RunError;

use super::keys::{Key, Slip};

/// An experiment that cannot be made.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A name or a file is wrong.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// There is no such key.
    #[error("no setting named `{name}`{} (see `xrsim list settings`)", hint(*.nearest))]
    Key {
        /// Name that was given.
        name: String,
        /// The most similar key, if one is similar.
        nearest: Option<&'static str>,
    },
    /// A value is not allowed.
    #[error("{key} is `{found}`; allowed is {allowed}")]
    Value {
        /// Key.
        key: &'static str,
        /// Value that was given.
        found: String,
        /// Allowed values.
        allowed: String,
    },
    /// A scheduler or its parameters are wrong.
    #[error(transparent)]
    Scheduler(#[from] PolicyError),
    /// A system cannot be made as the settings ask for.
    #[error(transparent)]
    Hardware(#[from] HardwareError),
    /// Weights that are to stay in shared memory are unknown or too large.
    #[error("{place}{error}")]
    Pinned {
        /// File and line of the key, with `: `; empty if a setting has it.
        place: String,
        /// Reason.
        error: HardwareError,
    },
    /// A key that has no effect under `mlsys2023` semantics.
    #[error(
        "{0} has no effect under --semantics mlsys2023, because the published artifact fixes it; leave it \
         out or choose --semantics principled"
    )]
    FixedByArtifact(&'static str),
    /// Settings that do not go together, in words.
    #[error("{0}")]
    Conflict(String),
    /// Two scenarios or systems of one name, whose results could not be told apart.
    #[error("{kind} `{name}` is given twice")]
    Repeated {
        /// Kind of the named thing.
        kind: &'static str,
        /// Name.
        name: String,
    },
    /// More runs than are allowed at once.
    #[error(
        "{n_runs} runs; at most {} runs are allowed (`xrsim sweep` makes more)",
        super::MAX_RUNS
    )]
    TooManyRuns {
        /// Number of runs.
        n_runs: u64,
    },
    /// A run cannot be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A figure cannot be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// A file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// File.
        path: String,
        /// Reason that the system gives.
        reason: String,
    },
    /// A file of results cannot be written.
    #[error("cannot write {path}: {reason}")]
    Output {
        /// File or folder.
        path: String,
        /// Reason that the system gives.
        reason: String,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

impl From<ConfigError> for ExperimentError {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

impl ExperimentError {
    /// The error for parameters of a task that is not among those `known`.
    pub(super) fn no_task(task: &str, known: BTreeSet<&str>) -> Self {
        let help = match nearest(task, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", Vec::from_iter(known).join(", ")),
        };
        let task = printable(task);
        Self::Conflict(format!("parameters.{task}: no scenario has a model `{task}`; {help}"))
    }

    /// A file or folder that cannot be written.
    pub(super) fn output(path: &Path, error: &io::Error) -> Self {
        Self::Output { path: path.display().to_string(), reason: error.to_string() }
    }

    /// A name that is not among `known`.
    pub(crate) fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<_> = known.collect();
        Self::from(ConfigError::Unknown {
            kind,
            name: name.into(),
            file: None,
            nearest: nearest(name, known.iter().copied()).map(str::to_string),
            known: known.into_iter().map(str::to_string).collect(),
        })
    }

    /// The error of a `slip` in the value `found` of `key`.
    pub(super) fn slip(slip: Slip, key: &'static Key, found: &str) -> Self {
        match slip {
            Slip::Key { nearest } => Self::Key { name: key.name.into(), nearest },
            Slip::Name { kind, known } => {
                let (name, _) = found.split_once(':').unwrap_or((found, ""));
                let is_known = |name: &&str| !known.contains(&name.trim());
                let name = name.split('+').find(is_known).unwrap_or(found);
                Self::unknown(kind, name.trim(), known.iter().copied())
            }
            Slip::Value(allowed) => {
                Self::Value { key: key.name, found: found.into(), allowed: allowed.to_string() }
            }
            Slip::Scheduler(error) => Self::Scheduler(error),
        }
    }
}
