//! States of the loops of a level in one case, and their labels for the analysis of reuse (section 4.4).

use super::elaboration::Map;

/// State of a loop in one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// At its first step.
    Init,
    /// At a further full step.
    Steady,
    /// At a partial last step.
    Edge,
}

impl Status {
    /// Every status.
    pub(super) const ALL: [Self; 3] = [Self::Init, Self::Steady, Self::Edge];
}

/// Label of a loop in one case: its status, with a held axis set apart (section 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// At its first step, for the first time or again.
    Init,
    /// At its first step, but the unit already holds the whole axis.
    Held,
    /// Moved by a full step.
    Steady,
    /// Moved to a partial step.
    Edge,
}

impl Label {
    /// Label of `map` in every case but the first. In the first case all labels are [`Label::Init`].
    pub(super) fn from_status(status: Status, map: &Map) -> Self {
        match status {
            Status::Init if map.covered => Self::Held,
            Status::Init => Self::Init,
            Status::Steady => Self::Steady,
            Status::Edge => Self::Edge,
        }
    }
}
