//! The words of a user for the scenarios and systems of his runs.

use xrsim_config::Catalog;
use xrsim_model::model::Network;
use xrsim_sim::plan::Plan;

use super::Prepared;

/// Words for scenarios and systems, by the names of these.
#[derive(Debug, Default)]
pub(super) struct GivenNames {
    pub(super) scenarios: Vec<(Box<str>, String)>,
    /// Systems with the kind of their words.
    pub(super) systems: Vec<(Box<str>, String, SystemKind)>,
}

/// Kind of what a user gave for a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemKind {
    /// A style, which takes a number of PEs.
    Style,
    /// A system in full.
    System,
    /// A hardware file, which takes dataflows.
    Hardware,
}

/// A run in the words of the user: names or paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenRun<'a> {
    /// Scenario.
    pub scenario: &'a str,
    /// System, and what it is.
    pub system: (&'a str, SystemKind),
    /// PEs of the whole system.
    pub pes: u64,
}

impl Prepared {
    /// The words for scenario and system of a run; `None` if one of them was given as a value.
    pub fn given(&self, plan: &Plan) -> Option<GivenRun<'_>> {
        let GivenNames { scenarios, systems } = &self.given;
        let scenario = scenarios.iter().find(|(name, _)| **name == *plan.scenario.name())?;
        let system = systems.iter().find(|(name, ..)| **name == *plan.system.name())?;
        let (_, text, kind) = system;
        let pes = plan.system.pes();
        Some(GivenRun { scenario: &scenario.1, system: (text, *kind), pes })
    }

    /// A reference to the network of a task: the path of a file, or the task with values of parameters; `None` if neither
    /// leads to it.
    pub fn given_network(&self, task: &str, network: &Network) -> Option<String> {
        let own = self.catalogs.iter().find_map(|catalog| catalog.path_of(network));
        own.or_else(|| Catalog::with_networks(self.settings.networks()).task_of(task, network))
    }
}
