//! Values of options that several commands have in common.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::config::Edition;
use crate::plan::Semantics;
use crate::renamed;

use super::message::hint;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
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

/// Parser of an edition. Its name in version 0.1 gives a hint.
pub(super) fn edition() -> impl TypedValueParser<Value = Edition> {
    let values = Edition::ALL.map(|(edition, name)| {
        let help = match edition {
            Edition::Reference => "the true operators: strides, padding, groups, attention",
            Edition::Artifact => "as in the published artifact: dense convolutions only",
        };
        let old = Edition::RENAMED.iter().filter(|it| it.new == name).map(|it| it.old);
        PossibleValue::new(name).help(help).aliases(old)
    });
    PossibleValuesParser::new(values).map(|text| {
        let (name, renamed) = renamed::current(&Edition::RENAMED, &text);
        renamed.into_iter().for_each(hint);
        Edition::named(name).unwrap_or_default()
    })
}
