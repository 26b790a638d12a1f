//! Kinds of input files, which their only top-level key names.

use std::fmt;

use super::Problem;
use super::nearest;
use super::yaml::read::{Problems, printable};
use super::yaml::{Node, Value};

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A network with its task and quality goal.
    Network,
    /// A dataflow.
    Dataflow,
    /// Dataflows and their shares of the PEs.
    Style,
    /// Clock, energy, bandwidths and memories of a chip.
    Platform,
    /// Complete accelerators.
    System,
    /// Models with rates and dependencies.
    Scenario,
    /// Input sources.
    Sensors,
    /// Default of a run.
    Suite,
    /// Settings that many runs vary.
    Sweep,
    /// Tasks of MLPerf with the requirements of a run of each.
    Mlperf,
    /// Mappings among which `xrsim map` searches.
    Mapspace,
    /// Systems among which `xrsim search` searches.
    Search,
    /// Constants of area and leakage.
    Technology,
    /// Ranges of the constants of the model.
    Uncertainty,
    /// Operating points of accelerators.
    Points,
    /// Supply of accelerators, and the power around them.
    Device,
    /// Scenarios that follow each other over a day.
    Profile,
}

impl Kind {
    /// Every kind with its top-level key.
    pub const ALL: [(Self, &'static str); 17] = [
        (Self::Network, "network"),
        (Self::Dataflow, "dataflow"),
        (Self::Style, "style"),
        (Self::Platform, "platform"),
        (Self::System, "system"),
        (Self::Scenario, "scenario"),
        (Self::Sensors, "sensors"),
        (Self::Suite, "suite"),
        (Self::Sweep, "sweep"),
        (Self::Mlperf, "mlperf"),
        (Self::Mapspace, "mapspace"),
        (Self::Search, "search"),
        (Self::Technology, "technology"),
        (Self::Uncertainty, "uncertainty"),
        (Self::Points, "points"),
        (Self::Device, "device"),
        (Self::Profile, "profile"),
    ];

    /// Every kind.
    pub const EVERY: [Self; Self::ALL.len()] = {
        let mut kinds = [Self::Network; Self::ALL.len()];
        let mut index = 0;
        while index < kinds.len() {
            kinds[index] = Self::ALL[index].0;
            index += 1;
        }
        kinds
    };

    /// Kinds that describe hardware.
    pub const HARDWARE: [Self; 3] = [Self::Style, Self::System, Self::Platform];

    /// Top-level key.
    pub fn key(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The kind with this top-level key.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == key).map(|&(kind, _)| kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// Kind and body of a file, which `root` is the tree of.
pub(super) fn body<'n, 's>(
    root: &'n Node<'s>,
    problems: &mut Problems,
) -> Option<(Kind, &'n Node<'s>)> {
    let keys = Kind::ALL.map(|(_, key)| key);
    let help = format!("the top-level key is one of {}", keys.join(", "));
    let Value::Mapping(entries) = &root.value else {
        problems.push(root.mismatch(&"a key that says what the file describes").help(help));
        return None;
    };
    let mut found = None;
    for entry in entries {
        let kind = Kind::of_key(&entry.key);
        let message = match (kind, &found) {
            (Some(kind), None) => {
                found = Some((kind, &entry.value));
                continue;
            }
            (Some(kind), Some((first, _))) => {
                format!("`{kind}` beside `{first}`; a file describes one thing")
            }
            (None, _) => format!("unknown top-level key `{}`", printable(&entry.key)),
        };
        let near = nearest(&entry.key, keys).filter(|_| kind.is_none());
        let help = near.map_or(help.clone(), |near| format!("did you mean `{near}`?"));
        problems.push(Problem::new(entry.key_span.clone(), message).help(help));
    }
    if entries.is_empty() {
        problems.push(Problem::new(root.span.clone(), "the file is empty").help(help));
    }
    found
}
