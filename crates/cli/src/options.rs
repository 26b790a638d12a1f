//! Values of options that several commands have in common.

use std::ops::RangeBounds;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, RangedI64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Serialize;

use xrsim_config::{Catalog, Edition, Kind, Notes};
use xrsim_experiment::{DEFAULT_PLATFORM, Distinct, Experiment};
use xrsim_model::dataflow::Dataflow;
use xrsim_model::model::Network;
use xrsim_model::renamed;
use xrsim_model::text::listed;
use xrsim_sim::plan::Semantics;

use super::experiment::SystemOptions;
use super::message::{Failure, hint};
use super::output;

/// Reads a whole number of `range`, from 0; an error says the range, of negative numbers too
/// (`allow_negative_numbers`).
pub(super) fn whole_number(range: impl RangeBounds<i64>) -> RangedI64ValueParser<u64> {
    RangedI64ValueParser::new().range(range)
}

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

/// Networks that a command works on.
#[derive(Debug, Args)]
pub(super) struct NetworkOptions {
    /// Network (task or file); with values of its parameters (`PD:regions=100`) if it has some; repeat
    /// for more, or separate them by commas [default: all of the suite].
    #[arg(long, value_name = "N|FILE")]
    pub network: Vec<String>,
    /// Layers of the networks: the true operators, or those of the published artifact.
    #[arg(long, value_name = "EDITION", default_value = "reference", value_parser = edition())]
    pub networks: Edition,
}

impl NetworkOptions {
    /// Files of the edition; old names are added to `notes`.
    pub(super) fn catalog(&self, notes: &Notes) -> Catalog {
        Catalog::with_networks(self.networks).noting(notes.clone())
    }

    /// The networks, in order.
    ///
    /// # Errors
    ///
    /// Returns a failure if there is no such network, or if its file is invalid.
    pub(super) fn read(&self, catalog: &mut Catalog) -> Result<Vec<Arc<Network>>, Failure> {
        let names = match self.network.is_empty() {
            true => catalog.names(Kind::Network),
            false => listed(&self.network),
        };
        let networks = names.iter().map(|name| catalog.network(name));
        Ok(networks.collect::<Result<_, _>>()?)
    }
}

/// Layers that a command works on, and what they run on.
#[derive(Debug, Args)]
pub(super) struct LayerOptions {
    #[command(flatten)]
    pub networks: NetworkOptions,
    /// This layer of the networks only.
    #[arg(long, value_name = "NAME")]
    pub layer: Option<String>,
    /// Dataflow: a name or a file; repeat for more, or separate them by commas [default: WS, OS, RS].
    #[arg(long, value_name = "D|FILE", value_delimiter = ',')]
    pub dataflow: Vec<String>,
    /// Platform (its clock, memories and energies) [default: headset].
    #[arg(long, value_name = "P|FILE")]
    platform: Option<String>,
    #[command(flatten)]
    pub systems: SystemOptions,
}

impl LayerOptions {
    /// The dataflows, in order.
    ///
    /// # Errors
    ///
    /// Returns a failure if there is no such dataflow, or if its file is invalid.
    pub(super) fn dataflows(&self, catalog: &mut Catalog) -> Result<Vec<Arc<Dataflow>>, Failure> {
        let names = match self.dataflow.is_empty() {
            true => ["WS", "OS", "RS"].map(String::from).to_vec(),
            false => self.dataflow.clone(),
        };
        Ok(names.iter().map(|name| catalog.dataflow(name)).collect::<Result<_, _>>()?)
    }

    /// Name or file of the platform.
    pub(super) fn platform(&self) -> &str {
        self.platform.as_deref().unwrap_or(DEFAULT_PLATFORM)
    }

    /// The distinct accelerators of the systems that are given, styles with `pes` PEs; `None` without a system. They
    /// differ `by_name`, too, if costs are rows of a table. `choosing` adds how they choose mappings.
    ///
    /// # Errors
    ///
    /// Returns a failure for a system that is wrong, or for options that do not go with it.
    pub(super) fn of_systems(
        &self,
        (pes, by_name): (&[u32], bool),
        choosing: impl FnOnce(Experiment) -> Experiment,
        catalog: &mut Catalog,
    ) -> Result<Option<Distinct>, Failure> {
        let Some(experiment) = self.systems.experiment()? else { return Ok(None) };
        let experiment = self.dataflow.iter().fold(experiment, Experiment::dataflow);
        let experiment = pes.iter().fold(experiment, |it, &pes| it.pes(pes));
        let experiment = match &self.platform {
            Some(platform) => experiment.set("platform", platform),
            None => experiment,
        };
        Ok(Some(choosing(experiment).distinct_accelerators(catalog, by_name)?))
    }
}

impl Format {
    /// Prints a report in one of its forms.
    ///
    /// # Errors
    ///
    /// Returns a failure if standard output is closed or full.
    pub(super) fn print<J: Serialize>(
        self,
        table: impl FnOnce() -> String,
        json: impl FnOnce() -> J,
        csv: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self {
            Self::Table => output::print_text(&table()),
            Self::Json => output::print_json(&json()),
            Self::Csv => output::print(&csv()),
        }
    }
}

/// Parser of semantics.
pub(super) fn semantics() -> impl TypedValueParser<Value = Semantics> {
    const ALL: [Semantics; 2] = [Semantics::Principled, Semantics::Mlsys2023];
    let values = ALL.map(|it| {
        let help = match it {
            Semantics::Principled => "by the intent of the paper, with its contradictions resolved",
            Semantics::Mlsys2023 => "as the published artifact ran, to the last digit",
        };
        PossibleValue::new(it.name()).help(help)
    });
    PossibleValuesParser::new(values)
        .map(|text| ALL.into_iter().find(|it| it.name() == text).unwrap_or_default())
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
