//! Options that several commands have in common, and the words of their values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::config::Edition;
use crate::renamed;
use crate::sweep::Semantics;

use super::message::hint;

/// What to run, and how.
#[derive(Debug, Clone, Args)]
pub struct RunOptions {
    /// Scenario: a name or a file; repeat for several, or separate them by commas.
    #[arg(long, value_name = "S", value_delimiter = ',')]
    pub scenario: Vec<String>,
    /// System: a style A..M, one spelt out such as `WS:3 + OS:1`, or a file; repeat for several, or
    /// separate them by commas.
    #[arg(long, value_name = "A..M|FILE", value_delimiter = ',')]
    pub system: Vec<String>,
    /// PEs of the whole system, for styles; repeat for several, or separate them by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: Vec<u32>,
    /// Rules of the run.
    #[arg(long, value_name = "SEMANTICS", default_value = "principled")]
    pub semantics: Semantics,
    /// Leave out a quirk of the published artifact, under --semantics mlsys2023; repeat for several.
    #[arg(long, value_name = "QUIRK")]
    pub without: Vec<String>,
    /// Layer costs: a cost model, or a CSV file of measurements [default: as the semantics].
    #[arg(long, value_name = "M|FILE.csv")]
    pub cost_model: Option<String>,
    /// Layers of the networks: their true operators, or those of the published artifact [default:
    /// reference; artifact under --semantics mlsys2023].
    #[arg(long, value_name = "EDITION", value_parser = edition())]
    pub networks: Option<Edition>,
    /// Bandwidth and memory of styles [default: paper; artifact under --semantics mlsys2023].
    #[arg(long, value_name = "P|FILE")]
    pub platform: Option<String>,
    /// Dataflows of a hardware file (.m), one for each accelerator.
    #[arg(long, value_name = "D|FILE")]
    pub dataflow: Vec<String>,
    /// Time in which requests are released [ms; default: 1000].
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Seed of every random draw.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Any other setting (see `xrsim list settings`); repeat for several.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// Comma-separated, a row a run (or layer).
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
            Self::Principled => "what the paper means",
            Self::Mlsys2023 => "what the published artifact did, to the last digit",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

/// Parser of an edition. Its name in version 0.1 gives a hint.
pub fn edition() -> impl TypedValueParser<Value = Edition> {
    let values = Edition::ALL.map(|(edition, name)| {
        let help = match edition {
            Edition::Reference => "true operators: strides, padding, groups, attention",
            Edition::Artifact => "dense convolutions, as in the published artifact",
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
