//! Accelerators of an experiment without a scenario.

use std::collections::HashSet;

use xrsim_config::{Catalog, Suite};
use xrsim_model::hardware::{Accelerator, System};

use super::super::accelerators::{DEFAULT_PES, pinned_in_catalog};
use super::super::refusals::{refuse_namesakes, refuse_repeated};
use super::super::systems::name_with_pes;
use super::super::{ExperimentError, Settings};
use super::Experiment;

/// The distinct accelerators of systems.
#[derive(Debug, Clone)]
pub struct Distinct {
    /// Accelerators, in order of first use. Of those that cost the same, the first one.
    pub accelerators: Vec<Accelerator>,
    /// Lines about what the settings change in each accelerator of systems in full.
    pub changes: Vec<String>,
}

impl Experiment {
    /// The distinct accelerators of the systems, as runs have them. With `by_name`, accelerators of different names count as
    /// different. Styles have [`DEFAULT_PES`] unless PEs are given.
    /// Weights of pinned tasks are those of networks of `catalog`; tasks without a network there pin nothing.
    ///
    /// # Errors
    ///
    /// As [`Experiment::prepare`]; [`ExperimentError::Conflict`] also for a platform that no system uses.
    pub fn distinct_accelerators(
        &self,
        catalog: &mut Catalog,
        by_name: bool,
    ) -> Result<Distinct, ExperimentError> {
        self.hints.iter().for_each(|&renamed| catalog.note(renamed));
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let settings = &self.settings;
        settings.check()?;
        let suite = Suite { pes: vec![DEFAULT_PES], ..catalog.suite()? };
        let hardware = self.hardware(&suite, catalog)?;
        refuse_namesakes(&hardware)?;
        let mut changes = Vec::new();
        let (systems, uses_platform) =
            self.systems_of(settings, &suite, hardware, catalog, &mut changes)?;
        refuse_unused_platform(settings, uses_platform)?;
        refuse_repeated("system", systems.iter().map(|system| name_with_pes(system)))?;
        // Rows of a table are of the name of an accelerator.
        let is_processor = |it: &Accelerator| it.processor().is_some();
        let by_name =
            by_name || systems.iter().any(|it| it.accelerators().iter().any(is_processor));
        let mut accelerators: Vec<(&System, Accelerator)> = Vec::new();
        for system in &systems {
            for accelerator in pinned_in_catalog(system, catalog)? {
                let is_known = |it: &Accelerator| {
                    it.costs_as(&accelerator) && (!by_name || it.name == accelerator.name)
                };
                if !accelerators.iter().any(|(_, it)| is_known(it)) {
                    accelerators.push((&**system, accelerator));
                }
            }
        }
        Ok(Distinct { accelerators: told_apart(accelerators), changes })
    }
}

fn refuse_unused_platform(settings: &Settings, is_used: bool) -> Result<(), ExperimentError> {
    if is_used || !settings.has("platform") {
        return Ok(());
    }
    let message = "--platform applies to styles such as A to M; a system file has its own clock, memories and energies";
    Err(ExperimentError::Conflict(message.into()))
}

/// The accelerators, each with the name of its system before its own if two have one name.
fn told_apart(accelerators: Vec<(&System, Accelerator)>) -> Vec<Accelerator> {
    let mut names = HashSet::new();
    let are_distinct = accelerators.iter().all(|(_, it)| names.insert(it.name.clone()));
    let named = |(system, it): (&System, Accelerator)| match are_distinct {
        true => it,
        false => Accelerator { name: format!("{}/{}", system.name(), it.name).into(), ..it },
    };
    accelerators.into_iter().map(named).collect()
}
