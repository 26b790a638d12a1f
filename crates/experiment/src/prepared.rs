//! Runs of an experiment, read and checked but not made.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use xrsim_config::{Catalog, Edition, InputFile, Notes};
use xrsim_model::cost::CostTable;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::cost::loop_nest::Family;
use xrsim_model::hardware::{Accelerator, System};
use xrsim_model::sequence::{distinct, distinct_by};
use xrsim_sim::load::{self, ShortRecording};
use xrsim_sim::plan::{Plan, Semantics};
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::comparison::{Comparison, Triggers};
use xrsim_sim::sweep::{self, RunError, RunResult, Scored};

use super::given::GivenNames;
use super::refusals::refuse_repeated;
use super::systems::name_with_pes;
use super::{ExperimentError, NamedCostModel, Run, Runs, Settings, device};

/// Keys that vary, with the values of a run.
type Varied = Arc<[(Box<str>, Box<str>)]>;

/// Runs of an experiment, read and checked but not made.
#[derive(Debug)]
pub struct Prepared {
    /// Settings that all runs have in common.
    pub settings: Settings,
    /// Warnings about inputs.
    pub warnings: Vec<String>,
    /// Lines about what the settings change in each accelerator of systems in full.
    pub changes: Vec<String>,
    groups: Vec<Group>,
    /// Whether a system takes something from the platform.
    uses_platform: bool,
    pub(super) given: GivenNames,
    /// Keys that vary, with their values, and the index after the last run that has them.
    points: Vec<(Varied, usize)>,
    /// By [`Edition`] of the networks.
    pub(super) catalogs: [Catalog; 2],
}

/// Successive runs of one cost model.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) cost_model: NamedCostModel,
    pub(super) networks: Edition,
    pub(super) plans: Vec<Plan>,
}

impl Prepared {
    pub(super) fn new(settings: Settings, notes: &Notes) -> Self {
        let catalog = |edition| Catalog::with_networks(edition).noting(notes.clone());
        let catalogs = Edition::ALL.map(|(edition, _)| catalog(edition));
        let (warnings, groups, points) = (Vec::new(), Vec::new(), Vec::new());
        let given = GivenNames::default();
        let changes = Vec::new();
        Self { settings, warnings, changes, groups, uses_platform: false, given, points, catalogs }
    }

    /// Notes that all runs added since the last call have these values of the keys that vary.
    pub(super) fn end_point<'a>(&mut self, varied: impl Iterator<Item = (&'a str, &'a str)>) {
        let varied = varied.map(|(key, value)| (key.into(), value.into())).collect();
        self.points.push((varied, self.n_runs()));
    }

    pub(super) fn catalog(&mut self, networks: Edition) -> &mut Catalog {
        &mut self.catalogs[networks as usize]
    }

    /// Adds runs. Those of a named cost model join the group before them if that has the same.
    pub(super) fn add(&mut self, group: Group) {
        let Group { cost_model, networks, plans } = group;
        match self.groups.last_mut() {
            Some(last) if last.cost_model.is_same(&cost_model) && last.networks == networks => {
                last.plans.extend(plans);
            }
            _ => self.groups.push(Group { cost_model, networks, plans }),
        }
    }

    /// Lets the accelerators of all runs compare their choices of mappings, those of each cost model for
    /// themselves.
    pub(super) fn relate(&mut self) {
        let related = |group: &Group| {
            let family = self.family(&group.cost_model);
            let warning = group.cost_model.note_alone().filter(|_| family.is_too_large());
            (group.cost_model.among(family), warning)
        };
        let all: Vec<_> = self.groups.iter().map(related).collect();
        for (group, (cost_model, warning)) in self.groups.iter_mut().zip(all) {
            group.cost_model = cost_model;
            self.warnings.extend(warning.filter(|it| !self.warnings.contains(it)));
        }
    }

    /// Accelerators of the runs that have a cost model.
    fn family(&self, cost_model: &NamedCostModel) -> Family {
        Family::new(self.accelerators(cost_model), [])
    }

    /// Accelerators of the runs that have a cost model, those of equal systems more than once.
    pub(super) fn accelerators(
        &self,
        cost_model: &NamedCostModel,
    ) -> impl Iterator<Item = &Accelerator> {
        let own = self.systems().filter(move |(_, it)| it.is_alike(cost_model));
        own.flat_map(|(system, _)| system.accelerators())
    }

    /// Notes whether a system of the runs takes something from the platform.
    pub(super) fn note_platform(&mut self, is_used: bool) {
        self.uses_platform |= is_used;
    }

    /// Whether a system of the runs takes something from the platform. Systems in full do not.
    pub fn uses_platform(&self) -> bool {
        self.uses_platform
    }

    /// Collects the warnings of tables of measurements.
    pub(super) fn note_warnings(&mut self) {
        for Group { cost_model, networks, plans } in &self.groups {
            let used = plans.iter().flat_map(|plan| plan.scenario.variants());
            let names = used.map(|(_, network)| network.name());
            let systems = distinct_systems(plans).into_iter();
            let accelerators = systems.flat_map(System::accelerators);
            let catalog = &self.catalogs[*networks as usize];
            self.warnings.extend(cost_model.warnings(catalog, names, accelerators));
        }
    }

    /// Warns of recordings of sensors that are shorter than the runs and repeat.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] for one that does not repeat.
    pub(super) fn check_recordings(&mut self) -> Result<(), ExperimentError> {
        let mut repeated: Vec<ShortRecording> = Vec::new();
        // Phases have checked theirs.
        let scenarios = self.plans().filter(|plan| plan.phases.is_none());
        for plan in scenarios.filter(|plan| plan.reads_recordings()) {
            plan.feed().map_err(RunError::from)?;
            for short in load::short_recordings(&plan.scenario, &plan.load) {
                let is_same =
                    |it: &ShortRecording| it.place == short.place && it.stream == short.stream;
                match repeated.iter_mut().find(|it| is_same(it)) {
                    Some(known) if known.wanted >= short.wanted => {}
                    Some(known) => *known = short,
                    None => repeated.push(short),
                }
            }
        }
        self.warnings.extend(repeated.iter().map(|short| format!("{short}, so it is repeated")));
        Ok(())
    }

    /// Refuses parameters of tasks that no model of the runs has.
    pub(super) fn refuse_unknown_tasks(
        &self,
        tasks: &BTreeSet<String>,
    ) -> Result<(), ExperimentError> {
        let models = self.plans().flat_map(|plan| plan.scenario.models());
        let known: BTreeSet<&str> = models.map(|model| &*model.unit.task).collect();
        let unknown = tasks.iter().find(|task| !known.contains(&***task));
        unknown.map_or(Ok(()), |task| Err(ExperimentError::no_task(task, known)))
    }

    /// Number of runs.
    pub fn n_runs(&self) -> usize {
        self.groups.iter().map(|group| group.plans.len()).sum()
    }

    /// Every run, in the order of the results.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.groups.iter().flat_map(|group| &group.plans)
    }

    /// The cost model of the first run.
    pub fn cost_model(&self) -> &NamedCostModel {
        &self.groups[0].cost_model
    }

    /// Costs of every network on every accelerator of the runs, by the cost model of the first run.
    pub fn library(&self) -> CostLibrary {
        let pairs = self.plans().map(|plan| (&*plan.scenario, &*plan.system));
        CostLibrary::evaluate(&*self.cost_model().model, pairs)
    }

    /// Memory that the runs take at least while they are made \[byte\].
    pub fn memory(&self) -> u64 {
        let of_group = |group: &Group| sweep::memory(&group.plans);
        self.groups.iter().map(of_group).max().unwrap_or(0)
    }

    /// Every file that was read.
    pub fn inputs(&self) -> impl Iterator<Item = InputFile> {
        self.catalogs.iter().flat_map(Catalog::inputs)
    }

    /// Every file that was read and does not come with the program.
    pub fn opened(&self) -> impl Iterator<Item = PathBuf> {
        self.catalogs.iter().flat_map(Catalog::opened)
    }

    /// Every system with the cost model of its runs.
    pub(super) fn systems(&self) -> impl Iterator<Item = (&System, &NamedCostModel)> {
        self.groups.iter().flat_map(|group| {
            distinct_systems(&group.plans).into_iter().map(|it| (it, &group.cost_model))
        })
    }

    /// Every system once, in order of first use.
    pub fn distinct_systems(&self) -> Vec<Arc<System>> {
        distinct_by(self.plans().map(|plan| Arc::clone(&plan.system)), Arc::ptr_eq)
    }

    /// Names of the systems with their PEs, such as `J@4096`, in order of first use.
    pub fn system_names(&self) -> Vec<String> {
        distinct(self.plans().map(|plan| name_with_pes(&plan.system)))
    }

    /// Names of the technologies of the systems, in order of first use.
    pub fn technology_names(&self) -> Vec<String> {
        let technologies = self.plans().filter_map(|plan| plan.system.technology());
        distinct(technologies.map(|it| it.name().to_string()))
    }

    /// Names of the scenarios, in order of first use.
    pub fn scenario_names(&self) -> Vec<String> {
        distinct(self.plans().map(|plan| plan.scenario.name().to_string()))
    }

    /// Makes all runs in parallel, makes of every result what is kept of it with `keep`, which gets the run and the name
    /// of its cost model, and hands that to `consume`, in order, with the index of the run. Memory does not grow with
    /// the number of runs.
    ///
    /// # Errors
    ///
    /// The first error of `consume`.
    pub fn run_each<T: Send + Sync, E>(
        &self,
        keep: impl Fn(&Plan, &str, RunResult) -> T + Sync,
        mut consume: impl FnMut(usize, &Plan, &str, Result<T, RunError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut before = 0;
        for Group { cost_model, plans, .. } in &self.groups {
            let keep = |plan: &Plan, result| keep(plan, &cost_model.name, result);
            sweep::run_all(plans, &*cost_model.model, keep, |index, plan, kept| {
                consume(before + index, plan, &cost_model.name, kept)
            })?;
            before += plans.len();
        }
        Ok(())
    }

    /// Makes all runs as [`Prepared::run_each`] does, without what became of single requests: memory does not grow with
    /// their number.
    ///
    /// # Errors
    ///
    /// The first error of `consume`.
    pub fn score_each<E>(
        &self,
        mut consume: impl FnMut(usize, &Plan, Result<Scored, RunError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut before = 0;
        for Group { cost_model, plans, .. } in &self.groups {
            sweep::score_all(plans, &*cost_model.model, |index, plan, result| {
                consume(before + index, plan, result)
            })?;
            before += plans.len();
        }
        Ok(())
    }

    /// Makes all runs in parallel and keeps every result.
    pub fn run(&self) -> Runs {
        let mut runs = Vec::with_capacity(self.n_runs());
        let keep = |_: &Plan, _: &str, result| result;
        let made = self.run_each(keep, |index, plan, cost_model, result| {
            runs.push(self.labelled(index, plan, cost_model, result));
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = made;
        Runs::from_iter(runs)
    }

    /// Makes all runs as [`Prepared::run`] does, with costs that are kept for later runs of the process; `done` gets
    /// the number of those that are made.
    pub fn run_noting(&self, mut done: impl FnMut(u64)) -> Runs {
        let mut runs = Vec::with_capacity(self.n_runs());
        let mut before = 0;
        for Group { cost_model, plans, .. } in &self.groups {
            super::kept::with_library(cost_model, |library| {
                let model = &*cost_model.model;
                let keep = |_: &Plan, result| result;
                let made = sweep::run_all_at(library, plans, model, keep, |index, plan, result| {
                    done((before + index) as u64 + 1);
                    runs.push(self.labelled(before + index, plan, &cost_model.name, result));
                    Ok::<_, std::convert::Infallible>(())
                });
                let Ok(()) = made;
            });
            before += plans.len();
        }
        Runs::from_iter(runs)
    }

    /// The plan of the only run, and its costs; `None` if there are more.
    pub fn only_run(&self) -> Option<(Plan, Result<Arc<CostTable>, RunError>)> {
        let [Group { cost_model, plans, .. }] = &self.groups[..] else { return None };
        let [plan] = &plans[..] else { return None };
        let costs = super::kept::with_library(cost_model, |library| {
            library.extend(&*cost_model.model, [(&*plan.scenario, &*plan.system)]);
            sweep::costs(plan, library).map_err(RunError::from)
        });
        Some((plan.clone(), costs))
    }

    /// A run with its label.
    fn labelled(
        &self,
        index: usize,
        plan: &Plan,
        cost_model: &str,
        result: Result<RunResult, RunError>,
    ) -> Run {
        let point = self.points.partition_point(|(_, end)| *end <= index);
        let varied = Arc::clone(&self.points[point].0);
        Run { plan: plan.clone(), cost_model: cost_model.into(), varied, result }
    }

    /// Compares `schedulers` on these runs, whose own scheduler does not count. No replication is made
    /// yet.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Conflict`] with several cost models, under `mlsys2023` semantics, which
    /// have one scheduler only, or for a governor without a device; [`ExperimentError::Run`] for a scheduler that plans
    /// before the run of a profile.
    pub fn compare(
        &self,
        schedulers: Vec<Policy>,
        triggers: Triggers,
    ) -> Result<Comparison, ExperimentError> {
        self.compare_some(schedulers, triggers, |_| true)
    }

    /// Compares `schedulers` as [`Prepared::compare`] does, and computes the costs of the runs for which
    /// `is_run` says, by their index, that they are made here.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Conflict`] as [`Prepared::compare`].
    pub fn compare_some(
        &self,
        schedulers: Vec<Policy>,
        triggers: Triggers,
        is_run: impl Fn(usize) -> bool,
    ) -> Result<Comparison, ExperimentError> {
        let [Group { cost_model, plans, .. }] = &self.groups[..] else {
            let message = "a comparison takes one cost model";
            return Err(ExperimentError::Conflict(message.into()));
        };
        if plans.iter().any(|plan| plan.semantics == Semantics::Mlsys2023) {
            let message = "--semantics mlsys2023 has the dispatch of the published artifact and no other \
                           scheduler to compare it with; choose --semantics principled";
            return Err(ExperimentError::Conflict(message.into()));
        }
        for plan in plans {
            refuse_for(plan, &schedulers)?;
        }
        refuse_namesake_devices(plans)?;
        let model = &*cost_model.model;
        Ok(Comparison::costed(plans.clone(), schedulers, triggers, model, is_run))
    }
}

/// Refuses schedulers that cannot decide in the run of a plan.
fn refuse_for(plan: &Plan, schedulers: &[Policy]) -> Result<(), ExperimentError> {
    for scheduler in schedulers {
        let plan = Plan { scheduler: scheduler.clone(), ..plan.clone() };
        device::check_device(plan.device.as_deref(), &plan.system, &plan.scheduler)?;
        if plan.phases.is_some() {
            plan.feed().map_err(RunError::from)?;
        }
    }
    Ok(())
}

/// Refuses two devices of one name: their results could not be told apart.
fn refuse_namesake_devices(plans: &[Plan]) -> Result<(), ExperimentError> {
    let devices = distinct_by(plans.iter().filter_map(|plan| plan.device.clone()), Arc::ptr_eq);
    refuse_repeated("device", devices.iter().map(|device| device.name.to_string()))
}

/// Every system once.
fn distinct_systems(plans: &[Plan]) -> Vec<&System> {
    distinct_by(plans.iter().map(|plan| &*plan.system), |a, b| std::ptr::eq(*a, *b))
}
