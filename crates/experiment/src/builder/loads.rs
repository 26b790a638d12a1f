//! What an experiment runs: scenarios, or profiles.

use std::sync::Arc;

use xrsim_config::{Catalog, Suite};
use xrsim_model::scenario::{Profile, Scenario};
use xrsim_sim::load::Phases;
use xrsim_sim::plan::{Plan, Semantics};
use xrsim_sim::sweep::RunError;

use super::super::input::Input;
use super::super::refusals::refuse_parameters;
use super::super::{ExperimentError, Settings};
use super::Experiment;

/// A scenario, or a profile.
pub(super) struct Load {
    /// The scenario, or the models of all scenarios of the profile.
    pub(super) scenario: Arc<Scenario>,
    profile: Option<Arc<Profile>>,
}

impl Load {
    /// `plan`, a run of the scenario, as one of the profile.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] as [`Phases::new`].
    pub(super) fn on(&self, plan: Plan) -> Result<Plan, ExperimentError> {
        let Some(profile) = &self.profile else { return Ok(plan) };
        let phases = Phases::new(profile, &plan.load).map_err(RunError::from)?;
        Ok(plan.of_phases(phases))
    }
}

impl Experiment {
    /// The scenarios or profiles of the runs under `settings`.
    pub(super) fn loads(
        &self,
        settings: &Settings,
        suite: &Suite,
        catalog: &mut Catalog,
    ) -> Result<Vec<Load>, ExperimentError> {
        if self.profiles.is_empty() {
            let scenarios = self.scenarios_of(settings, suite, catalog)?.into_iter();
            return Ok(scenarios.map(|scenario| Load { scenario, profile: None }).collect());
        }
        self.refuse_beside_profiles(settings)?;
        let load = |profile: &String| {
            let profile = catalog.profile(profile)?;
            let scenario = Scenario::union(profile.name.clone(), &profile.scenarios());
            refuse_parameters(&scenario, settings)?;
            Ok(Load { scenario: Arc::new(scenario), profile: Some(profile) })
        };
        self.profiles.iter().map(load).collect()
    }

    /// Refuses what profiles have of their own.
    fn refuse_beside_profiles(&self, settings: &Settings) -> Result<(), ExperimentError> {
        let message = if settings.semantics != Semantics::Principled {
            "a profile has no `mlsys2023` semantics"
        } else if !self.scenarios.is_empty() {
            "a profile has scenarios of its own; choose --profile or --scenario"
        } else if settings.has("duration_ms") {
            "a profile has durations of its own; leave out the duration"
        } else {
            return Ok(());
        };
        Err(ExperimentError::Conflict(message.into()))
    }

    /// Refuses profiles where scenarios run.
    pub(super) fn refuse_profiles(&self) -> Result<(), ExperimentError> {
        let refusal = "`profile` is a key of sweeps and comparisons; `xrsim day` runs a profile, and this command takes scenarios";
        match self.profiles.is_empty() {
            true => Ok(()),
            false => Err(ExperimentError::Conflict(refusal.into())),
        }
    }

    /// Names of the scenarios with the words for them.
    pub(super) fn given_scenarios(&self, loads: &[Load]) -> Vec<(Box<str>, String)> {
        let scenarios = loads.iter().map(|load| &load.scenario);
        let name = |it: &Arc<Scenario>| (Box::from(it.name()), it.name().to_string());
        if self.scenarios.is_empty() {
            return scenarios.map(name).collect();
        }
        let given = |(input, scenario): (&Input<_>, &Arc<Scenario>)| match input {
            Input::Named(text) => Some((scenario.name().into(), text.to_string())),
            Input::Given(_) => None,
        };
        self.scenarios.iter().zip(scenarios).filter_map(given).collect()
    }

    fn scenarios_of(
        &self,
        settings: &Settings,
        suite: &Suite,
        catalog: &mut Catalog,
    ) -> Result<Vec<Arc<Scenario>>, ExperimentError> {
        let mut named = |name: &str| {
            Ok(catalog.scenario_with(name, settings.edition(), &settings.parameters)?)
        };
        if self.scenarios.is_empty() {
            let names = suite.scenarios.iter();
            return names.map(|name| named(name)).collect();
        }
        let find = |input: &Input<Arc<Scenario>>| match input {
            Input::Named(name) => named(name),
            Input::Given(scenario) => {
                refuse_parameters(scenario, settings)?;
                Ok(Arc::clone(scenario))
            }
        };
        self.scenarios.iter().map(find).collect()
    }
}
