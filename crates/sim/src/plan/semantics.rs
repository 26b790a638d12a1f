//! Rules of a run as a whole.

use std::fmt;

use crate::schedule::Policy;

/// Rules that a run follows, see `docs/reference/terms.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Semantics {
    /// The rules that the paper means, with its contradictions resolved.
    #[default]
    Principled,
    /// The rules of the published artifact, to the last digit.
    Mlsys2023,
}

impl Semantics {
    /// Name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Principled => "principled",
            Self::Mlsys2023 => "mlsys2023",
        }
    }

    /// Name of `scheduler` in results. The dispatch of the artifact, the only scheduler under
    /// `mlsys2023`, is called `artifact`.
    pub fn scheduler_name(self, scheduler: &Policy) -> &str {
        match self {
            Self::Principled => scheduler.label(),
            Self::Mlsys2023 => "artifact",
        }
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
