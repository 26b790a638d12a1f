//! Values of options that several commands have in common.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::config::Edition;
use crate::sweep::Semantics;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Table for a terminal.
    #[default]
    Table,
    /// CSV with one row per run (or layer).
    Csv,
    /// One JSON document.
    Json,
}

impl ValueEnum for Semantics {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Principled, Self::Mlsys2023]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Principled => "as the paper means it, with its contradictions resolved",
            Self::Mlsys2023 => "as the published artifact ran, to the last digit",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

impl ValueEnum for Edition {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Reference, Self::Artifact]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Reference => "the true operators: strides, padding, groups, attention",
            Self::Artifact => "as in the published artifact: dense convolutions only",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}
