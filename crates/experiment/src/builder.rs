//! Description of an experiment.

mod alone;
mod loads;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use xrsim_config::{Catalog, Hardware, Notes, Suite};
use xrsim_model::cancel::Steps;
use xrsim_model::cost::GivenCostModel;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::System;
use xrsim_model::renamed::Renamed;
use xrsim_model::scenario::Scenario;
use xrsim_sim::plan::{Ablation, Semantics};
use xrsim_sim::schedule::{Options, Policy, Scheduler, Setup};
use xrsim_sim::sweep::comparison::{Comparison, Triggers};
use xrsim_sim::sweep::grid::{Factor, Grid};

use super::flexibility::{ignored_flexibility, ignored_riders, powerless};
use super::given::SystemKind;
use super::input::Input;
use super::keys::Key;
use super::prepared::{Group, Prepared};
use super::refusals::{no_grid, refuse_namesakes, refuse_repeated};
use super::systems::{
    for_scenario, full_system, in_technology, name_with_pes, paired_name, paired_system,
    resource_changes, style_system,
};
use super::{ExperimentError, NamedCostModel, Runs, Settings, device, scheduler};

pub use alone::Distinct;

/// Most runs of one experiment; each takes memory before the first is made.
pub(crate) const MAX_RUNS: u64 = 1_000_000;

/// Description of runs: every scenario on every system under every scheduler, in independent
/// replications.
///
/// Scenarios, systems, numbers of PEs and schedulers add up with every call. Without scenarios, those of
/// the benchmark run; without systems, the styles A to M; without PEs, 4096 and 8192. Everything else
/// has the default of its [`Key`](super::Key).
///
/// Methods that describe do not fail. The first mistake is the error of [`Experiment::run`].
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Experiment {
    settings: Settings,
    scenarios: Vec<Input<Arc<Scenario>>>,
    /// Names or files.
    profiles: Vec<String>,
    systems: Vec<Input<Hardware>>,
    pes: Vec<u32>,
    dataflows: Vec<String>,
    schedulers: Vec<Policy>,
    cost_model: Option<NamedCostModel>,
    replications: Option<Range<u64>>,
    /// Whether only runs in which something is drawn are replicated.
    is_once_if_exact: bool,
    factors: Vec<Factor>,
    hints: Vec<Renamed>,
    error: Option<ExperimentError>,
}

impl Experiment {
    /// The whole benchmark: 7 scenarios on 13 systems of 4096 and 8192 PEs, by the default scheduler.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a scenario: a name, a file, or a [`Scenario`].
    pub fn scenario(mut self, scenario: impl Into<Input<Arc<Scenario>>>) -> Self {
        self.scenarios.push(scenario.into());
        self
    }

    /// Adds scenarios, see [`Experiment::scenario`].
    pub fn scenarios<S: Into<Input<Arc<Scenario>>>>(
        self,
        scenarios: impl IntoIterator<Item = S>,
    ) -> Self {
        scenarios.into_iter().fold(self, Self::scenario)
    }

    /// Adds a profile, by name or as a file, which runs in place of scenarios. Only [`Experiment::compare`] takes profiles, and
    /// [`DayRun`](super::DayRun), which runs one.
    pub fn profile(mut self, profile: impl Into<String>) -> Self {
        self.profiles.push(profile.into());
        self
    }

    /// Adds a system: a style (`J`), a style spelt out (`WS:3 + OS:1`), a file, a
    /// [`Style`](xrsim_model::hardware::Style) or a [`System`].
    pub fn system(mut self, system: impl Into<Input<Hardware>>) -> Self {
        self.systems.push(system.into());
        self
    }

    /// Adds systems, see [`Experiment::system`].
    pub fn systems<S: Into<Input<Hardware>>>(self, systems: impl IntoIterator<Item = S>) -> Self {
        systems.into_iter().fold(self, Self::system)
    }

    /// Adds a number of PEs that every style is made with.
    pub fn pes(mut self, pes: u32) -> Self {
        if (1..=xrsim_model::hardware::Accelerator::MAX_PES).contains(&pes) {
            self.pes.push(pes);
            return self;
        }
        let mut unused = Settings::default();
        let refused = unused.set("pes", &pes.to_string());
        self.keep_error(refused.map(drop))
    }

    /// Adds a dataflow for an accelerator of a hardware file (`.m`), in the order of the accelerators.
    pub fn dataflow(mut self, dataflow: impl Into<String>) -> Self {
        self.dataflows.push(dataflow.into());
        self
    }

    /// Adds a scheduler: a name with its parameters, such as `dream:alpha=0.5`, or a [`Policy`].
    pub fn scheduler(mut self, policy: impl Into<Input<Policy>>) -> Self {
        self.note_given("scheduler");
        let found = match policy.into() {
            Input::Named(text) => scheduler(&text),
            Input::Given(policy) => Ok(policy),
        };
        match found {
            Ok(policy) => {
                self.hints.extend(policy.renamed());
                self.schedulers.push(policy);
                self
            }
            Err(error) => self.keep_error(Err(error)),
        }
    }

    /// Adds schedulers, see [`Experiment::scheduler`].
    pub fn schedulers<S: Into<Input<Policy>>>(
        self,
        schedulers: impl IntoIterator<Item = S>,
    ) -> Self {
        schedulers.into_iter().fold(self, Self::scheduler)
    }

    /// Adds a scheduler of the caller's, called `name` in results. `make` makes one for every run.
    pub fn own_scheduler<S: Scheduler + 'static>(
        self,
        name: impl Into<Arc<str>>,
        make: impl Fn(&Setup<'_>) -> S + Send + Sync + 'static,
    ) -> Self {
        let build = move |setup: &Setup<'_>| Ok(Box::new(make(setup)) as Box<dyn Scheduler>);
        self.scheduler(Policy::new(name, Options::default(), false, Arc::new(build)))
    }

    /// Takes this cost model: a name, a CSV file of measurements, a `CostModel` of the caller's, or a
    /// [`NamedCostModel`].
    pub fn cost_model(mut self, cost_model: impl Into<GivenCostModel<NamedCostModel>>) -> Self {
        self.cost_model = match cost_model.into() {
            GivenCostModel::Named(name) => {
                self.cost_model = None;
                return self.set("cost_model", name);
            }
            GivenCostModel::Own(model) => Some(NamedCostModel::shared("own", model)),
            GivenCostModel::Found(model) => Some(model),
        };
        self
    }

    /// Sets a key of [`KEYS`](super::KEYS) in all runs, such as `score.k_per_ms` or `duration_ms`. The keys
    /// `scenario`, `profile`, `system`, `pes` and `scheduler` add one more, as the methods of these names do.
    pub fn set(mut self, key: &str, value: impl ToString) -> Self {
        let value = value.to_string();
        let set = match key {
            "scenario" => return self.scenario(value),
            "profile" => return self.profile(value),
            "system" => return self.system(value),
            "pes" => match value.parse() {
                Ok(pes) => return self.pes(pes),
                Err(_) => self.settings.set(key, &value),
            },
            "scheduler" => return self.scheduler(value),
            _ => self.settings.set(key, &value),
        };
        match set {
            Ok(hints) => {
                self.hints.extend(hints);
                self
            }
            Err(error) => self.keep_error(Err(error)),
        }
    }

    /// Runs everything under each of these values of a key. Keys vary in the order of the calls, the
    /// first one slowest, and all of them slower than scenarios. [`Run::varied`](super::Run::varied) has the
    /// value of a run.
    ///
    /// The keys `scenario`, `profile`, `system`, `pes` and `scheduler` add their values, as the methods of these names
    /// do; their place in the order of runs is that of [`Experiment::run`].
    pub fn vary<V: ToString>(mut self, key: &str, values: impl IntoIterator<Item = V>) -> Self {
        if ["scenario", "profile", "system", "pes", "scheduler"].contains(&key) {
            return values.into_iter().fold(self, |it, value| it.set(key, value));
        }
        match Key::find(key) {
            Ok((key, hint)) => {
                self.hints.extend(hint);
                let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
                if values.is_empty() {
                    let message = format!("`{}` varies, but has no values", key.name);
                    return self.keep_error(Err(ExperimentError::Conflict(message)));
                }
                let current = values.iter().map(|value| key.current(value));
                self.hints.extend(current.clone().filter_map(|(_, renamed)| renamed));
                self.factors.push(Factor::axis(key.name, current.map(|(value, _)| value)));
                self
            }
            Err(_) => self.keep_error(Err(super::settings::unknown_key(key))),
        }
    }

    /// Leaves out quirks of the published artifact in all runs, which have `mlsys2023` semantics.
    pub fn without(mut self, quirks: Ablation) -> Self {
        self.note_given("without");
        self.settings.without = quirks;
        self
    }

    /// Sets the seed of every random draw. It is 0 unless it is set.
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", seed)
    }

    /// Makes `n` independent replications of every run in place of one.
    pub fn replications(self, n: u64) -> Self {
        self.only_replications(0..n)
    }

    /// Makes `n` independent replications of every run in which something is drawn, and one of every
    /// other run.
    pub fn replications_of_random(mut self, n: u64) -> Self {
        self.is_once_if_exact = true;
        self.only_replications(0..n)
    }

    /// Makes only these of the replications.
    pub fn only_replications(mut self, replications: Range<u64>) -> Self {
        self.replications = Some(replications);
        self
    }

    /// The same experiment with one value of a key in place of those that it has.
    pub(super) fn replaced(&self, key: &str, value: &str) -> Self {
        let mut replaced = self.clone();
        match key {
            "scenario" => replaced.scenarios.clear(),
            "system" => replaced.systems.clear(),
            "pes" => replaced.pes.clear(),
            "scheduler" => replaced.schedulers.clear(),
            _ => {}
        }
        replaced.set(key, value)
    }

    /// The same experiment on this system in place of its own.
    pub fn with_system(&self, name: &str) -> Self {
        self.replaced("system", name)
    }

    /// Rules of the runs, unless they vary.
    pub fn semantics(&self) -> Semantics {
        self.settings.semantics
    }

    fn note_given(&mut self, name: &str) {
        if let Ok((key, _)) = Key::find(name) {
            self.settings.note_given(key);
        }
    }

    /// Keeps the first error.
    fn keep_error(mut self, result: Result<(), ExperimentError>) -> Self {
        self.error = self.error.or(result.err());
        self
    }

    /// Makes every run, in the order of varied keys, scenarios, PEs, systems, schedulers and
    /// replications. A run that cannot be made, such as one with a layer that does not fit, is an error
    /// of its [`Run`](super::Run) only.
    ///
    /// # Errors
    ///
    /// See [`Experiment::prepare`].
    pub fn run(&self) -> Result<Runs, ExperimentError> {
        Ok(self.prepare()?.run())
    }

    /// Compares the schedulers on equal draws. `triggers` are drawn, or all their patterns count with
    /// their probabilities. Results are in the order in which the schedulers were added;
    /// [`report::comparison`](xrsim_report::comparison) ranks them.
    ///
    /// The difference of two schedulers in one configuration, with its 95 % interval:
    ///
    /// ```
    /// use xrsim::statistics::{Fraction, PairedDifference};
    /// use xrsim::{Experiment, Triggers};
    ///
    /// let comparison = Experiment::new()
    ///     .scenario("AR_gaming")
    ///     .system("J")
    ///     .pes(4096)
    ///     .schedulers(["edf:admission=hopeless", "edf"])
    ///     .replications(30)
    ///     .compare(Triggers::Drawn)?;
    /// for (configuration, replications) in comparison.feasible() {
    ///     let pairs = replications.iter().filter_map(|it| {
    ///         let [first, second] = [0, 1].map(|at| it.samples[at].value("score_executed_mean"));
    ///         first.zip(second)
    ///     });
    ///     let difference = PairedDifference::from_pairs(pairs);
    ///     let (scenario, mean) = (&configuration.name, difference.difference.mean);
    ///     // Equal differences, or fewer than 25 of them, have no interval.
    ///     match difference.interval(Fraction::P95) {
    ///         Some(it) => println!("{scenario} {mean:+.4} [{:+.4}, {:+.4}]", it.low, it.high),
    ///         None => println!("{scenario} {mean:+.4} {:?}", difference.difference.no_interval()),
    ///     }
    /// }
    /// # Ok::<(), xrsim::ExperimentError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// See [`Experiment::prepare`]; [`ExperimentError::Conflict`] with several cost models, with
    /// [`Experiment::only_replications`] that do not begin with 0, or under `mlsys2023` semantics, which
    /// have one scheduler only.
    pub fn compare(&self, triggers: Triggers) -> Result<Comparison, ExperimentError> {
        let (schedulers, n) = (self.schedulers.clone(), self.replications.clone());
        if n.as_ref().is_some_and(|replications| replications.start > 0) {
            let message = "a comparison makes the replications from 0 on";
            return Err(ExperimentError::Conflict(message.into()));
        }
        let each = Self { schedulers: Vec::new(), replications: Some(0..1), ..self.clone() };
        let prepared = each.prepare_compared(&Notes::default())?;
        let mut comparison = prepared.compare(schedulers, triggers)?;
        comparison.extend(n.map_or(1, |replications| replications.end), |_| {});
        Ok(comparison)
    }

    /// Reads and checks everything that the runs need.
    ///
    /// # Errors
    ///
    /// The first mistake of the description; [`ExperimentError::Config`] for a name or a file that is
    /// wrong; other variants for settings, systems and names that do not go together.
    pub fn prepare(&self) -> Result<Prepared, ExperimentError> {
        self.prepare_noting(&Notes::default())
    }

    /// Reads and checks the experiment as [`Experiment::prepare`] does, and adds the old names of settings
    /// and files to `notes`, even if it fails.
    ///
    /// # Errors
    ///
    /// Those of [`Experiment::prepare`].
    pub fn prepare_noting(&self, notes: &Notes) -> Result<Prepared, ExperimentError> {
        self.refuse_profiles()?;
        self.prepare_compared(notes)
    }

    /// Reads and checks the experiment as [`Experiment::prepare_noting`] does, also with profiles in place of scenarios:
    /// their runs are for [`Prepared::compare`], and cannot be made by themselves.
    ///
    /// # Errors
    ///
    /// Those of [`Experiment::prepare`].
    pub fn prepare_compared(&self, notes: &Notes) -> Result<Prepared, ExperimentError> {
        self.hints.iter().for_each(|&renamed| notes.add(renamed));
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let replications = self.replications.clone().unwrap_or(0..1);
        let grid = Grid::new(self.factors.clone());
        let grid = grid.map_err(|error| no_grid(&self.factors, &error))?;
        let mut prepared = Prepared::new(self.settings.clone(), notes);
        let mut parameters = BTreeSet::new();
        for point in (0..grid.n_points()).map(|index| grid.point(index)) {
            let mut settings = self.settings.clone();
            for (key, value) in point.settings() {
                settings.set(key, value)?;
            }
            settings.check()?;
            settings.check_seed(replications.end.saturating_sub(1))?;
            self.add_runs(&settings, &replications, &mut prepared)?;
            prepared.end_point(point.settings());
            parameters.extend(settings.parameters.iter().map(|(task, _)| task.to_string()));
        }
        prepared.refuse_unknown_tasks(&parameters)?;
        prepared.note_warnings();
        prepared.check_recordings()?;
        prepared.relate();
        Ok(prepared)
    }

    /// Adds the runs under `settings`.
    fn add_runs(
        &self,
        settings: &Settings,
        replications: &Range<u64>,
        prepared: &mut Prepared,
    ) -> Result<(), ExperimentError> {
        let catalog = prepared.catalog(settings.networks());
        let cost_model = match &self.cost_model {
            Some(own) => own.clone(),
            None => {
                NamedCostModel::find(catalog, settings.cost_model())?.with_effort(settings.effort)
            }
        };
        let suite = catalog.suite()?;
        let loads = self.loads(settings, &suite, catalog)?;
        let hardware = self.hardware(&suite, catalog)?;
        let mut ignored: Vec<_> =
            ignored_flexibility(settings, &cost_model, &hardware).into_iter().collect();
        let given = self.given_systems(&hardware);
        let named = hardware.clone();
        let mut changes = Vec::new();
        let (systems, uses_platform) =
            self.systems_of(settings, &suite, hardware, catalog, &mut changes)?;
        ignored.extend(cost_model.unused_keys(catalog, settings));
        ignored.extend(ignored_riders(settings, &cost_model, &systems, catalog));
        ignored.extend(powerless(&cost_model, &systems));
        let names = loads.iter().map(|load| load.scenario.name().to_string());
        refuse_repeated(if self.profiles.is_empty() { "scenario" } else { "profile" }, names)?;
        refuse_namesakes(&named)?;
        refuse_repeated("system", systems.iter().map(|system| name_with_pes(system)))?;
        let schedulers = match &self.schedulers[..] {
            [] => std::slice::from_ref(&settings.scheduler),
            given => given,
        };
        refuse_repeated("scheduler", schedulers.iter().map(|it| it.label().to_string()))?;
        let numbers = [loads.len(), systems.len(), schedulers.len()].map(|n| n as u64);
        let n_replications = replications.end.saturating_sub(replications.start);
        let n_runs = numbers.into_iter().fold(n_replications, u64::saturating_mul);
        let n_runs = n_runs.saturating_add(prepared.n_runs() as u64);
        if n_runs > MAX_RUNS {
            return Err(ExperimentError::TooManyRuns { n_runs });
        }
        let mut settings = settings.clone();
        let (mut plans, mut steps) = (Vec::new(), Steps::default());
        let catalog = prepared.catalog(settings.networks());
        let device = device::named(&settings, catalog)?;
        for load in &loads {
            let scenario = &load.scenario;
            let models = scenario.models().iter().filter(|model| model.sequence.is_none());
            let networks = models.map(|model| model.unit.network.name());
            settings.load.draws_latencies = cost_model.draws(networks);
            for system in &systems {
                let system = &for_scenario(system, scenario, catalog)?;
                for scheduler in schedulers {
                    settings.scheduler = scheduler.clone();
                    for replication in replications.clone() {
                        settings.load.replication = replication;
                        steps.step();
                        let plan = device::on(settings.plan(scenario, system), &device)?;
                        let plan = load.on(plan)?;
                        let is_once = self.is_once_if_exact && !plan.drawn().any();
                        plans.push(plan);
                        if is_once {
                            break;
                        }
                    }
                }
            }
        }
        let is_new = |warning: &String| !prepared.warnings.contains(warning);
        let ignored: Vec<_> = ignored.into_iter().filter(is_new).collect();
        prepared.warnings.extend(ignored);
        prepared.add(Group { cost_model, networks: settings.networks(), plans });
        prepared.note_platform(uses_platform);
        let is_new = |it: &String| !prepared.changes.contains(it);
        let changes: Vec<_> = changes.into_iter().filter(is_new).collect();
        prepared.changes.extend(changes);
        prepared.given.scenarios.extend(self.given_scenarios(&loads));
        prepared.given.systems.extend(given);
        Ok(())
    }

    /// Names of the systems with the words for them; those of values are empty.
    fn given_systems(
        &self,
        hardware: &[(String, Hardware)],
    ) -> Vec<(Box<str>, String, SystemKind)> {
        let named = hardware.iter().filter(|(text, _)| !text.is_empty());
        let given = |(text, hardware): &(String, Hardware)| {
            let (name, kind) = match hardware {
                Hardware::Style(style) => (style.name.clone(), SystemKind::Style),
                Hardware::System(system) => (system.name().into(), SystemKind::System),
                Hardware::Instances(_) => (paired_name(text).into(), SystemKind::Hardware),
            };
            (name, text.clone(), kind)
        };
        named.map(given).collect()
    }

    /// Every system: styles once for each number of PEs, sizes first; then the systems that fix their
    /// own, with lines about what the settings change in these. Also whether any of them takes something from the
    /// platform.
    fn systems_of(
        &self,
        settings: &Settings,
        suite: &Suite,
        hardware: Vec<(String, Hardware)>,
        catalog: &mut Catalog,
        changes: &mut Vec<String>,
    ) -> Result<(Vec<Arc<System>>, bool), ExperimentError> {
        let platform = catalog.platform(settings.platform())?;
        let mut styles = Vec::new();
        let mut fixed = Vec::new();
        let mut is_paired = false;
        for hardware in hardware {
            match hardware {
                (_, Hardware::Style(style)) => styles.push(style),
                (_, Hardware::System(system)) => fixed.push(system),
                (name, Hardware::Instances(instances)) => {
                    let dataflows = self.dataflows(catalog)?;
                    let system = paired_system(&name, &instances, &dataflows, &platform)?;
                    fixed.push(Arc::new(system));
                    is_paired = true;
                }
            }
        }
        self.refuse_unused(is_paired, !styles.is_empty())?;
        let pes = if self.pes.is_empty() { &suite.pes } else { &self.pes };
        let mut systems = Vec::new();
        for &pes in pes {
            for style in &styles {
                systems.push(style_system(style, pes, &platform, settings)?);
            }
        }
        for system in fixed {
            let changed = full_system(Arc::clone(&system), settings)?;
            let change = resource_changes(&system, &changed);
            changes.extend(change.filter(|it| !changes.contains(it)));
            systems.push(changed);
        }
        let mut find = |name: &str| catalog.technology(name);
        let systems = systems.into_iter().map(|it| in_technology(it, settings, &mut find));
        let systems = systems.collect::<Result<_, _>>()?;
        Ok((systems, is_paired || !styles.is_empty()))
    }

    /// Every system of the description with its name.
    fn hardware(
        &self,
        suite: &Suite,
        catalog: &mut Catalog,
    ) -> Result<Vec<(String, Hardware)>, ExperimentError> {
        let mut find = |name: &str| Ok((name.to_string(), catalog.hardware(name)?));
        if self.systems.is_empty() {
            return suite.systems.iter().map(|name| find(name)).collect();
        }
        let find = |input: &Input<Hardware>| match input {
            Input::Named(name) => find(name),
            Input::Given(hardware) => Ok((String::new(), hardware.clone())),
        };
        self.systems.iter().map(find).collect()
    }

    fn dataflows(&self, catalog: &mut Catalog) -> Result<Vec<Arc<Dataflow>>, ExperimentError> {
        let mut dataflows = Vec::new();
        for reference in &self.dataflows {
            dataflows.extend(catalog.dataflows(reference)?);
        }
        Ok(dataflows)
    }

    /// Refuses dataflows without a hardware file, and PEs without a style.
    fn refuse_unused(&self, is_paired: bool, has_style: bool) -> Result<(), ExperimentError> {
        let message = if !is_paired && !self.dataflows.is_empty() {
            "--dataflow applies to hardware files (.m); styles and systems name their own"
        } else if !has_style && !self.pes.is_empty() {
            "--pes applies to styles such as A to M; a system file fixes its own PEs"
        } else {
            return Ok(());
        };
        Err(ExperimentError::Conflict(message.into()))
    }
}
