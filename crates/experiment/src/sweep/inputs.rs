//! The files that a sweep refers to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xrsim_config::{
    At, Catalog, ConfigError, Edition, Hardware, InputFile, Notes, Problem, SweepDraft, printable,
    resolve,
};
use xrsim_model::hardware::Technology;
use xrsim_model::mapper::Effort;
use xrsim_model::scenario::Scenario;
use xrsim_sim::sweep::grid::Factor;

use super::super::keys::{EDITIONS, SEMANTICS};
use super::super::programs;
use super::super::{ExperimentError, NamedCostModel, Settings};
use super::parameters;

/// Files that points refer to. All are read when the sweep is checked, and come from memory later.
pub struct Inputs {
    /// By [`Edition`].
    catalogs: [Catalog; 2],
    /// Cost models by the names and efforts that points have for them.
    costs: Vec<(Box<str>, Effort, Arc<NamedCostModel>)>,
    /// Files of external schedulers.
    programs: Vec<InputFile>,
}

impl Inputs {
    /// Inputs of a sweep whose paths are relative to `folder`. Old names are added to `notes`.
    pub(crate) fn new(folder: Option<&Path>, notes: &Notes) -> Self {
        let catalog = |edition| {
            let catalog = Catalog::with_networks(edition).noting(notes.clone());
            catalog.in_folder(folder.map(Into::into))
        };
        let catalogs = Edition::ALL.map(|(edition, _)| catalog(edition));
        Self { catalogs, costs: Vec::new(), programs: Vec::new() }
    }

    /// Every file that was read, of both editions, and those of external schedulers.
    pub fn files(&self) -> impl Iterator<Item = InputFile> {
        self.catalogs.iter().flat_map(Catalog::inputs).chain(self.programs.iter().cloned())
    }

    /// Paths of those files that do not come with the program.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let programs = self.programs.iter().map(|program| PathBuf::from(&program.name));
        self.catalogs.iter().flat_map(Catalog::opened).chain(programs)
    }

    /// Every cost model of the sweep.
    pub fn cost_models(&self) -> Vec<Arc<NamedCostModel>> {
        self.costs.iter().map(|(.., cost_model)| Arc::clone(cost_model)).collect()
    }

    /// Replaces every cost model by what `related` makes of it and of its index.
    pub(super) fn relate(&mut self, related: impl Fn(usize, &NamedCostModel) -> NamedCostModel) {
        for (index, (.., cost_model)) in self.costs.iter_mut().enumerate() {
            *cost_model = Arc::new(related(index, cost_model));
        }
    }

    /// Catalog of everything that does not depend on the edition of the networks.
    pub(crate) fn catalog(&mut self) -> &mut Catalog {
        &mut self.catalogs[0]
    }

    /// Catalog whose scenarios have the networks of an edition.
    pub(crate) fn catalog_with(&mut self, networks: Edition) -> &mut Catalog {
        &mut self.catalogs[networks as usize]
    }

    /// Index, and name in results, of the cost model that points call `name`, with an effort.
    pub(crate) fn cost_model(&self, name: &str, effort: Effort) -> Option<(usize, &str)> {
        let is_it = |it: &(Box<str>, Effort, _)| *it.0 == *name && it.1 == effort;
        let index = self.costs.iter().position(is_it)?;
        Some((index, &self.costs[index].2.name))
    }

    /// Systems of the draft that are not styles; unknown names are problems.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Config`] for a file that cannot be used.
    pub(crate) fn full_systems<'d>(
        &mut self,
        draft: &'d SweepDraft,
        problems: &mut Vec<Problem>,
    ) -> Result<Vec<&'d At<Box<str>>>, ExperimentError> {
        let systems = draft.values("system");
        let lookup = |name: &str| self.catalogs[0].hardware(name);
        let Some(found) = resolve(systems.iter().copied(), lookup, problems)? else {
            return Ok(Vec::new());
        };
        let names = found.iter().map(|hardware| match hardware {
            Hardware::Style(style) => &*style.name,
            Hardware::System(system) => system.name(),
            Hardware::Instances(_) => "",
        });
        refuse_same(&systems, names, problems);
        let mut full = Vec::new();
        for (system, hardware) in systems.into_iter().zip(found) {
            match hardware {
                Hardware::Style(_) => {}
                Hardware::System(_) => full.push(system),
                Hardware::Instances(_) => {
                    let message = "a hardware file (.m) names no dataflows";
                    let help = "`xrsim import` makes a platform of it, for styles";
                    problems.push(Problem::new(system.span.clone(), message).help(help));
                }
            }
        }
        Ok(full)
    }

    /// Reads every file that a point of the draft or of its `defaults` may refer to; unknown names are
    /// problems.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Config`] for a file that cannot be used.
    pub(crate) fn read(
        &mut self,
        draft: &SweepDraft,
        defaults: &[Factor],
        problems: &mut Vec<Problem>,
    ) -> Result<(), ExperimentError> {
        let default = |key: &str| {
            let found = defaults.iter().find(|factor| *factor.keys[0] == *key);
            found.map(|factor| factor.rows.iter().flatten().flatten()).into_iter().flatten()
        };
        let [scenarios, profiles] = ["scenario", "profile"].map(|key| draft.values(key));
        let n_problems = problems.len();
        let mut known: Vec<Arc<Scenario>> = Vec::new();
        for settings in all_settings(draft) {
            let edition = settings.edition();
            let catalog = self.catalog_with(settings.networks());
            let mut lookup = |name: &str| catalog.scenario(name, edition);
            let named = resolve(scenarios.iter().copied(), &mut lookup, problems)?;
            let names = named.iter().flatten().map(|scenario| scenario.name());
            refuse_same(&scenarios, names, problems);
            known.extend(named.into_iter().flatten());
            for name in default("scenario") {
                known.push(lookup(name)?);
            }
            let lookup = |name: &str| catalog.profile(name);
            let named = resolve(profiles.iter().copied(), lookup, problems)?;
            let names = named.iter().flatten().map(|profile| &*profile.name);
            refuse_same(&profiles, names, problems);
            known.extend(named.into_iter().flatten().flat_map(|profile| profile.scenarios()));
            if problems.len() > n_problems {
                break; // the same problems follow under all other settings
            }
            if draft.leaves_out("platform") {
                self.catalogs[0].platform(settings.platform())?;
            }
            if draft.leaves_out("technology") {
                self.catalogs[0].technology(Technology::DEFAULT)?;
            }
            if draft.leaves_out("cost_model") {
                self.read_costs(settings.cost_model(), settings.effort)?;
            }
        }
        problems.extend(parameters::problems(draft, &known));
        default("system").try_for_each(|name| self.catalogs[0].hardware(name).map(drop))?;
        let lookup = |name: &str| self.catalogs[0].platform(name);
        resolve(draft.values("platform").into_iter(), lookup, problems)?;
        let lookup = |name: &str| self.catalogs[0].technology(name);
        resolve(draft.values("technology").into_iter(), lookup, problems)?;
        let lookup = |name: &str| self.catalogs[0].device(name);
        resolve(draft.values("device").into_iter(), lookup, problems)?;
        for scheduler in draft.values("scheduler") {
            self.programs.extend(programs::inputs(&scheduler.value)?);
        }
        for settings in choices(draft, "mapping_effort", &Effort::ALL) {
            let effort = settings.unwrap_or_default();
            self.read_cost_models(&draft.values("cost_model"), effort, problems)?;
        }
        Ok(())
    }

    fn read_cost_models(
        &mut self,
        names: &[&At<Box<str>>],
        effort: Effort,
        problems: &mut Vec<Problem>,
    ) -> Result<(), ExperimentError> {
        for name in names {
            match self.read_costs(&name.value, effort) {
                Ok(()) => {}
                Err(ExperimentError::Config(error)) => {
                    let error = |_: &str| Err::<(), ConfigError>((*error).clone());
                    resolve(std::iter::once(*name), error, problems)?;
                }
                Err(other) => {
                    problems.push(Problem::new(name.span.clone(), other.to_string()));
                }
            }
        }
        Ok(())
    }

    fn read_costs(&mut self, name: &str, effort: Effort) -> Result<(), ExperimentError> {
        if self.cost_model(name, effort).is_none() {
            let cost_model = NamedCostModel::find(&mut self.catalogs[0], name)?.with_effort(effort);
            self.costs.push((name.into(), effort, Arc::new(cost_model)));
        }
        Ok(())
    }
}

/// Settings with every combination of semantics, networks and effort of the draft, and nothing else.
fn all_settings(draft: &SweepDraft) -> Vec<Settings> {
    let mut all = Vec::new();
    for semantics in choices(draft, "semantics", &SEMANTICS) {
        for networks in choices(draft, "networks", &EDITIONS) {
            for effort in choices(draft, "mapping_effort", &Effort::ALL) {
                let (semantics, effort) =
                    (semantics.unwrap_or_default(), effort.unwrap_or_default());
                all.push(Settings { semantics, networks, effort, ..Settings::default() });
            }
        }
    }
    all
}

/// Those of `all` that `key` takes in the draft, and `None` if points leave it out.
fn choices<T: Copy>(draft: &SweepDraft, key: &str, all: &[(&str, T)]) -> Vec<Option<T>> {
    let given = draft.values(key);
    let is_given = |name: &str| given.iter().any(|value| *value.value == *name);
    let found = all.iter().filter(|(name, _)| is_given(name)).map(|&(_, choice)| Some(choice));
    found.chain(draft.leaves_out(key).then_some(None)).collect()
}

/// Refuses references that lead to the same `names`: their results could not be told apart.
fn refuse_same<'a>(
    references: &[&At<Box<str>>],
    names: impl Iterator<Item = &'a str>,
    problems: &mut Vec<Problem>,
) {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for (reference, name) in references.iter().zip(names).filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = seen.insert(name, &reference.value)
            && *first != *reference.value
        {
            let (second, first) = (printable(&reference.value), printable(first));
            let message = format!("`{second}` and `{first}` are both called `{name}`");
            problems.push(Problem::new(reference.span.clone(), message));
        }
    }
}
