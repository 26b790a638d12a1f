//! Classes of schedulers, by what they may do with a request.

/// Schedulers that a statement such as an upper bound holds for, known or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Class {
    /// All of them: a request may change its accelerator between any two layers.
    #[default]
    Any,
    /// Those under which a request ends on the accelerator where it began, with or without interruptions.
    Keeping,
}

impl Class {
    /// All classes, the largest first.
    pub const ALL: [Self; 2] = [Self::Any, Self::Keeping];

    /// Name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any scheduler",
            Self::Keeping => "schedulers that keep a request where it began",
        }
    }

    /// Name in tables and files.
    pub fn short(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Keeping => "keeping",
        }
    }
}
