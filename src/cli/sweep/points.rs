//! Points as runs.

use std::sync::Arc;

use crate::config::Hardware;
use crate::hardware::System;
use crate::report::RunLabel;
use crate::score::Scorecard;
use crate::sweep::grid::Point;
use crate::sweep::{RunError, RunSpec, Scorer};

use super::super::conditions;
use super::super::message::Failure;
use super::super::settings::Settings;
use super::inputs::Inputs;
use super::keys::Choice;

/// A point as a run, as far as there is one.
pub struct Candidate<'g> {
    /// The point.
    pub point: Point<'g>,
    /// What identifies it.
    pub id: String,
    /// The run, or why there is none.
    spec: Result<RunSpec, String>,
    /// Index of the cost model, and its name.
    cost_model: usize,
    cost_model_name: Box<str>,
    scenario: Box<str>,
    system: Box<str>,
    pes: u64,
    semantics: &'static str,
    scheduler: Box<str>,
    seed: u64,
    replication: u64,
}

/// What came of a point.
pub enum Outcome {
    /// Scores, or why it can have none: a row.
    Row(Result<Scorecard, String>),
    /// A failure of the moment: no row, and another start may do better.
    Missing(String),
}

impl Candidate<'_> {
    /// Its label in results.
    pub fn label(&self) -> RunLabel<'_> {
        RunLabel {
            scenario: &self.scenario,
            system: &self.system,
            pes: self.pes,
            semantics: self.semantics,
            cost_model: &self.cost_model_name,
            scheduler: &self.scheduler,
            seed: self.seed,
            replication: self.replication,
        }
    }
}

impl<'g> Candidate<'g> {
    /// What `point` asks for. What `xrsim run` would refuse is the reason that there is no run.
    ///
    /// # Errors
    ///
    /// None for points of the grid that `inputs` were read for.
    pub fn of(point: Point<'g>, inputs: &mut Inputs) -> Result<Self, Failure> {
        let unknown = || Failure::Argument(format!("point {} cannot be read", point.index()));
        let choice = Choice::of(&point).map_err(|_| unknown())?;
        let it = &choice.conditions;
        let scenario = inputs.scenario(choice.scenario, it.networks(), it.edition())?;
        let hardware = inputs.hardware(choice.system)?;
        let (system, pes) = match &hardware {
            Hardware::Style(style) => (style.name.clone(), choice.pes.unwrap_or(0).into()),
            Hardware::System(system) => (system.name().into(), system.pes()),
            Hardware::Instances(_) => return Err(unknown()),
        };
        let spec = || {
            let settings = it.settings()?;
            it.check_seed(choice.replication)?;
            let system = choice.system_of(hardware, &settings, inputs)?;
            Ok::<_, Failure>(it.spec(&settings, &scenario, &system, choice.replication))
        };
        let spec = spec().map_err(|failure| failure.reason());
        let (cost_model, name) = inputs.cost_model(it.cost_model()).ok_or_else(unknown)?;
        let scheduler = it.scheduler.clone().unwrap_or_default();
        Ok(Self {
            id: point.id(),
            spec,
            cost_model,
            cost_model_name: name.into(),
            scenario: scenario.name().into(),
            system,
            pes,
            semantics: it.semantics.name(),
            scheduler: it.semantics.scheduler_name(&scheduler).into(),
            seed: it.seed,
            replication: choice.replication,
            point,
        })
    }
}

impl Choice<'_> {
    fn system_of(
        &self,
        hardware: Hardware,
        settings: &Settings,
        inputs: &mut Inputs,
    ) -> Result<Arc<System>, Failure> {
        let name = self.system;
        match (hardware, self.pes) {
            (Hardware::Style(style), Some(pes)) => {
                let platform = inputs.platform(self.conditions.platform())?;
                conditions::style_system(&style, pes, &platform, settings)
            }
            (Hardware::System(system), None) => conditions::full_system(system, settings),
            (Hardware::Style(_), None) => {
                Err(Failure::Argument(format!("style {name} needs `pes`")))
            }
            _ => Err(Failure::Argument(format!("system {name} fixes its own PEs"))),
        }
    }
}

/// Scores of every candidate, in their order; those of one cost model are made together.
pub fn score(candidates: &[Candidate<'_>], scorers: &mut [Scorer<'_>]) -> Vec<Outcome> {
    let refused = |candidate: &Candidate<'_>| {
        let reason = candidate.spec.as_ref().err().cloned();
        Outcome::Row(Err(reason.unwrap_or_default()))
    };
    let mut outcomes: Vec<Outcome> = candidates.iter().map(refused).collect();
    for (index, scorer) in scorers.iter_mut().enumerate() {
        let of_scorer = candidates.iter().zip(&mut outcomes);
        let of_scorer = of_scorer.filter(|(candidate, _)| candidate.cost_model == index);
        let (specs, places): (Vec<_>, Vec<_>) = of_scorer
            .filter_map(|(candidate, at)| Some((candidate.spec.as_ref().ok()?, at)))
            .unzip();
        for (place, result) in places.into_iter().zip(scorer.score(&specs)) {
            let reason = |error: RunError| super::super::argument(error).reason();
            *place = match result {
                Err(error) if error.is_transient() => Outcome::Missing(reason(error)),
                result => Outcome::Row(result.map_err(reason)),
            };
        }
    }
    outcomes
}
