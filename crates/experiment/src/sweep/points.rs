//! Points as runs.

use std::ops::ControlFlow;
use std::sync::Arc;

use xrsim_config::Hardware;
use xrsim_model::cancel;
use xrsim_model::hardware::System;
use xrsim_model::scenario::{Profile, Scenario};
use xrsim_model::text;
use xrsim_results::RunLabel;
use xrsim_sim::load::Phases;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::grid::Point;
use xrsim_sim::sweep::{Made, RunError, Scorer};

use super::super::systems::{for_scenario, full_system, in_technology, style_system};
use super::super::{ExperimentError, Settings, device};
use super::inputs::Inputs;

/// A point with its run, if the point has one.
pub struct Candidate<'g> {
    /// The point.
    pub point: Point<'g>,
    /// Identity, see [`Point::id`].
    pub id: String,
    /// The run, or the reason that there is none.
    plan: Result<Plan, String>,
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

/// Result of a point.
pub enum PointResult {
    /// Results, or the reason that there can be none: a row.
    Row(Result<Made, String>),
    /// A failure of the machine: no row, and another start may succeed.
    Missing(String),
}

impl Candidate<'_> {
    /// Label in results.
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
    /// The run of `point`. An error that `xrsim run` would have is the reason that there is no run.
    ///
    /// # Errors
    ///
    /// Returns no error for points of the grid that `inputs` were read for.
    pub fn from_point(point: Point<'g>, inputs: &mut Inputs) -> Result<Self, ExperimentError> {
        cancel::check();
        let unknown = || {
            let message = format!("point {} cannot be read", point.index());
            ExperimentError::Conflict(message)
        };
        let mut settings = Settings::default();
        for (key, value) in point.settings() {
            settings.set(key, value).map_err(|_| unknown())?;
        }
        let (edition, networks) = (settings.edition(), settings.networks());
        let catalog = inputs.catalog_with(networks);
        let load = match (&settings.profile, settings.scenario.as_deref().unwrap_or_default()) {
            (Some(profile), _) => Load::Profile(catalog.profile(profile)?),
            (None, scenario) => Load::Scenario(catalog.scenario(scenario, edition)?),
        };
        let hardware = inputs.catalog().hardware(settings.system.as_deref().unwrap_or_default())?;
        let (system, pes) = match &hardware {
            Hardware::Style(style) => (style.name.clone(), settings.pes.unwrap_or(0).into()),
            Hardware::System(system) => (system.name().into(), system.pes()),
            Hardware::Instances(_) => return Err(unknown()),
        };
        let (cost_model, cost_model_name) =
            inputs.cost_model(settings.cost_model(), settings.effort).ok_or_else(unknown)?;
        let cost_model_name = cost_model_name.into();
        let plan = plan(&settings, &load, hardware, inputs).map_err(in_one_line);
        Ok(Self {
            id: point.id(),
            plan,
            cost_model,
            cost_model_name,
            scenario: load.name().into(),
            system,
            pes,
            semantics: settings.semantics.name(),
            scheduler: settings.semantics.scheduler_name(&settings.scheduler).into(),
            seed: settings.load.seed,
            replication: settings.load.replication,
            point,
        })
    }
}

/// What a point runs.
enum Load {
    Scenario(Arc<Scenario>),
    Profile(Arc<Profile>),
}

impl Load {
    fn name(&self) -> &str {
        match self {
            Self::Scenario(scenario) => scenario.name(),
            Self::Profile(profile) => &profile.name,
        }
    }
}

fn plan(
    settings: &Settings,
    load: &Load,
    hardware: Hardware,
    inputs: &mut Inputs,
) -> Result<Plan, ExperimentError> {
    let (scenario, phases) = match load {
        Load::Scenario(_) => {
            let name = settings.scenario.as_deref().unwrap_or_default();
            let catalog = inputs.catalog_with(settings.networks());
            (catalog.scenario_with(name, settings.edition(), &settings.parameters)?, None)
        }
        Load::Profile(profile) => {
            let phases = Phases::new(profile, &settings.load).map_err(RunError::from)?;
            (Arc::clone(phases.union()), Some(phases))
        }
    };
    settings.check()?;
    let system = system(settings, hardware, inputs)?;
    let device = device::named(settings, inputs.catalog())?;
    let system = for_scenario(&system, &scenario, inputs.catalog())?;
    let plan = device::on(settings.plan(&scenario, &system), &device)?;
    Ok(match phases {
        Some(phases) => plan.of_phases(phases),
        None => plan,
    })
}

/// The system of a point.
pub(super) fn system(
    settings: &Settings,
    hardware: Hardware,
    inputs: &mut Inputs,
) -> Result<Arc<System>, ExperimentError> {
    let name = settings.system.as_deref().unwrap_or_default();
    let system = match (hardware, settings.pes) {
        (Hardware::Style(style), Some(pes)) => {
            let platform = inputs.catalog().platform(settings.platform())?;
            style_system(&style, pes, &platform, settings)?
        }
        (Hardware::System(system), None) => full_system(system, settings)?,
        (Hardware::Style(_), None) => {
            return Err(ExperimentError::Conflict(format!("style {name} needs `pes`")));
        }
        _ => {
            return Err(ExperimentError::Conflict(format!("system {name} fixes its own PEs")));
        }
    };
    Ok(in_technology(system, settings, |name| inputs.catalog().technology(name))?)
}

/// An error as a reason in a row.
fn in_one_line(error: impl ToString) -> String {
    error.to_string().replace(text::is_unfit_in_line, " ")
}

/// Makes the run of every candidate and hands its result to `each` with its index, on any thread; those of one cost
/// model are made together, about in their order. The work ends early if `each` breaks.
pub fn score_each(
    candidates: &[Candidate<'_>],
    scorers: &mut [Scorer<'_>],
    each: &(dyn Fn(usize, PointResult) -> ControlFlow<()> + Sync),
) {
    for (index, candidate) in candidates.iter().enumerate() {
        if let Err(reason) = &candidate.plan
            && each(index, PointResult::Row(Err(reason.clone()))).is_break()
        {
            return;
        }
    }
    for (index, scorer) in scorers.iter_mut().enumerate() {
        let own = candidates.iter().enumerate().filter(|(_, it)| it.cost_model == index);
        let (places, plans): (Vec<_>, Vec<_>) =
            own.filter_map(|(place, it)| Some((place, it.plan.as_ref().ok()?))).unzip();
        scorer.make_each(&plans, &|at, result| {
            let reason = |error: RunError| in_one_line(error);
            let result = match result {
                Err(error) if error.is_transient() => PointResult::Missing(reason(error)),
                result => PointResult::Row(result.map_err(reason)),
            };
            each(places[at], result)
        });
    }
}
