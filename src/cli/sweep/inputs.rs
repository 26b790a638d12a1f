//! The files that a sweep refers to.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{
    At, Catalog, ConfigError, Edition, Hardware, InputFile, Problem, Suite, SweepDraft, printable,
    resolve,
};
use crate::hardware::platform::Platform;
use crate::scenario::Scenario;
use crate::sweep::grid::Factor;

use super::super::conditions::Conditions;
use super::super::costs::{self, CostChoice};
use super::super::message::{Failure, input_hint};
use super::super::programs;
use super::keys::SEMANTICS;

/// Files that points refer to. All are read when the sweep is checked, and come from memory later.
pub struct Inputs {
    /// By [`Edition`].
    catalogs: [Catalog; 2],
    /// Cost models by how they were asked for.
    costs: Vec<(Box<str>, Arc<CostChoice>)>,
    /// Files that external policies are made of.
    programs: Vec<InputFile>,
}

impl Inputs {
    /// Inputs of a sweep whose paths are relative to `folder`.
    pub fn new(folder: Option<PathBuf>) -> Self {
        let catalogs = Edition::ALL.map(|(edition, _)| {
            Catalog::with_networks(edition).on_old_name(input_hint).in_folder(folder.clone())
        });
        Self { catalogs, costs: Vec::new(), programs: Vec::new() }
    }

    /// Every file that was read, of both editions, and those of external policies.
    pub fn files(&self) -> impl Iterator<Item = InputFile> {
        self.catalogs.iter().flat_map(Catalog::inputs).chain(self.programs.iter().cloned())
    }

    /// Where those files are that do not come with the program.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let programs = self.programs.iter().map(|program| PathBuf::from(&program.name));
        self.catalogs.iter().flat_map(Catalog::opened).chain(programs)
    }

    /// Every cost model of the sweep.
    pub fn cost_models(&self) -> Vec<Arc<CostChoice>> {
        self.costs.iter().map(|(_, choice)| Arc::clone(choice)).collect()
    }

    /// What runs by default.
    ///
    /// # Errors
    ///
    /// None for the embedded suite that the tests have seen.
    pub fn suite(&mut self) -> Result<Suite, Failure> {
        Ok(self.catalogs[0].suite()?)
    }

    /// The scenario called `name`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn scenario(
        &mut self,
        name: &str,
        networks: Edition,
        edition: Edition,
    ) -> Result<Arc<Scenario>, Failure> {
        Ok(self.catalogs[networks as usize].scenario(name, edition)?)
    }

    /// The style or system called `name`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn hardware(&mut self, name: &str) -> Result<Hardware, Failure> {
        Ok(self.catalogs[0].hardware(name)?)
    }

    /// The platform called `name`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn platform(&mut self, name: &str) -> Result<Arc<Platform>, Failure> {
        Ok(self.catalogs[0].platform(name)?)
    }

    /// Index and name in results of the cost model that was asked for as `name`.
    pub fn cost_model(&self, name: &str) -> Option<(usize, &str)> {
        let index = self.costs.iter().position(|(known, _)| **known == *name)?;
        Some((index, &self.costs[index].1.name))
    }

    /// Systems of the draft that are not styles; names that lead nowhere are problems.
    ///
    /// # Errors
    ///
    /// That of a file that cannot be used.
    pub fn full_systems<'d>(
        &mut self,
        draft: &'d SweepDraft,
        problems: &mut Vec<Problem>,
    ) -> Result<Vec<&'d At<Box<str>>>, Failure> {
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

    /// Reads everything that a point of the draft or of its `defaults` may refer to; names that lead
    /// nowhere are problems.
    ///
    /// # Errors
    ///
    /// That of a file that cannot be used.
    pub fn read(
        &mut self,
        draft: &SweepDraft,
        defaults: &[Factor],
        problems: &mut Vec<Problem>,
    ) -> Result<(), Failure> {
        let default = |key: &str| {
            let found = defaults.iter().find(|factor| *factor.keys[0] == *key);
            found.map(|factor| factor.rows.iter().flatten().flatten()).into_iter().flatten()
        };
        let scenarios = draft.values("scenario");
        let n_problems = problems.len();
        for conditions in all_conditions(draft) {
            let edition = conditions.edition();
            let catalog = &mut self.catalogs[conditions.networks() as usize];
            let mut lookup = |name: &str| catalog.scenario(name, edition);
            let named = resolve(scenarios.iter().copied(), &mut lookup, problems)?;
            let names = named.iter().flatten().map(|scenario| scenario.name());
            refuse_same(&scenarios, names, problems);
            default("scenario").try_for_each(|name| lookup(name).map(drop))?;
            if problems.len() > n_problems {
                break; // which all other conditions would have too
            }
            if draft.leaves_out("platform") {
                self.catalogs[0].platform(conditions.platform())?;
            }
            if draft.leaves_out("cost_model") {
                self.read_costs(conditions.cost_model())?;
            }
        }
        default("system").try_for_each(|name| self.catalogs[0].hardware(name).map(drop))?;
        let lookup = |name: &str| self.catalogs[0].platform(name);
        resolve(draft.values("platform").into_iter(), lookup, problems)?;
        for scheduler in draft.values("scheduler") {
            self.programs.extend(programs::inputs(&scheduler.value)?);
        }
        self.read_cost_models(&draft.values("cost_model"), problems)
    }

    fn read_cost_models(
        &mut self,
        names: &[&At<Box<str>>],
        problems: &mut Vec<Problem>,
    ) -> Result<(), Failure> {
        for name in names {
            match self.read_costs(&name.value) {
                Ok(()) => {}
                Err(Failure::Input(error)) => {
                    let error = |_: &str| Err::<(), ConfigError>((*error).clone());
                    resolve(std::iter::once(*name), error, problems)?;
                }
                Err(Failure::Argument(message)) => {
                    problems.push(Problem::new(name.span.clone(), message));
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    fn read_costs(&mut self, name: &str) -> Result<(), Failure> {
        if self.cost_model(name).is_none() {
            let choice = costs::choose(&mut self.catalogs[0], name)?;
            self.costs.push((name.into(), Arc::new(choice)));
        }
        Ok(())
    }
}

/// Conditions with every pair of semantics and networks of the draft, and no more.
fn all_conditions(draft: &SweepDraft) -> Vec<Conditions<'static>> {
    let semantics = choices(draft, "semantics", &SEMANTICS);
    let mut editions = Edition::ALL.map(|(it, name)| (name, it)).to_vec();
    editions
        .extend(Edition::RENAMED.iter().filter_map(|it| Some((it.old, Edition::named(it.new)?))));
    let networks = choices(draft, "networks", &editions);
    let pairs = semantics.iter().flat_map(|semantics| {
        networks.iter().map(|&networks| Conditions {
            semantics: semantics.unwrap_or_default(),
            networks,
            ..Conditions::default()
        })
    });
    pairs.collect()
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
