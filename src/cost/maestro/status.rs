//! States of the loops of a level in one case, and what they mean for the data (section 4.4).

use super::elaboration::Map;

/// State of one loop.
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

/// What the state of a loop means for its data (section 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// Starting, or rewound.
    Init,
    /// Rewound, but the unit holds the whole axis.
    Held,
    /// Moved by a full step.
    Steady,
    /// Moved to a partial step.
    Edge,
}

impl Label {
    /// Label of `map` in every case but the first, in which all are [`Label::Init`].
    pub(super) fn of(status: Status, map: &Map) -> Self {
        match status {
            Status::Init if map.covered => Self::Held,
            Status::Init => Self::Init,
            Status::Steady => Self::Steady,
            Status::Edge => Self::Edge,
        }
    }
}
