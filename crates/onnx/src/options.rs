//! Options of an import: answers to questions that a file leaves open.

use std::collections::{BTreeMap, BTreeSet};

/// A branch of an `If`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    /// `then_branch`.
    Then,
    /// `else_branch`.
    Else,
}

impl Branch {
    /// Both with their names in options.
    pub const ALL: [(&'static str, Self); 2] = [("then", Self::Then), ("else", Self::Else)];
}

/// Answers to questions that a file leaves open. Keys are names in the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Extent of an open axis, by the name of the axis.
    pub dims: BTreeMap<String, u64>,
    /// Shape of an input.
    pub shapes: BTreeMap<String, Vec<u64>>,
    /// Elements of an integer input, on which shapes depend.
    pub values: BTreeMap<String, Vec<i64>>,
    /// Trips of a `Loop`, by node.
    pub trips: BTreeMap<String, u64>,
    /// Branch that an `If` takes, by node.
    pub branches: BTreeMap<String, Branch>,
    /// Extent that data decide, by node, or [`Options::ALL`].
    pub bounds: BTreeMap<String, u64>,
    /// Sensor of an input.
    pub sensors: BTreeMap<String, String>,
    /// Output that an input continues in the next frame.
    pub states: BTreeMap<String, String>,
    /// Open axes of inputs that hold keys or values of earlier steps. Rows that are put after those of such an input stay
    /// with them, which is no copy.
    pub cached: BTreeSet<String>,
    /// Name of the network; that of the file by default.
    pub name: Option<String>,
    /// Task; the name by default.
    pub task: Option<String>,
}

impl Options {
    /// Name among [`Options::bounds`] that stands for every node without a bound of its own.
    pub const ALL: &'static str = "*";
}

/// Errors of an import, all at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportError {
    /// Problems in plain words.
    pub problems: Vec<String>,
    /// Options that are missing, as they are written on a command line.
    pub missing: Vec<String>,
    /// Options that name nothing in the file: kind, as on the command line, and name.
    pub unused: Vec<(&'static str, String)>,
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl std::error::Error for ImportError {}
