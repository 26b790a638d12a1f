//! Replay of the published artifact on the artifact's own files.

use std::path::Path;

use xrsim_config::Notes;
use xrsim_sim::compat::{self, Replay};
use xrsim_sim::plan::Semantics;
use xrsim_sim::sweep::RunError;

use super::{Experiment, ExperimentError};

/// Files of one run of the published artifact, in its format.
#[derive(Debug, Clone, Copy)]
pub struct ArtifactFiles<'a> {
    /// Networks and their rates.
    pub models: &'a Path,
    /// One dataflow for each accelerator.
    pub dataflows: &'a Path,
    /// Accelerators.
    pub hardware: &'a Path,
}

impl ArtifactFiles<'_> {
    /// Runs the files as the artifact does, with `libc_seed` as the seed of the C library. Adds the old names
    /// in the files to `notes`, even if it fails.
    ///
    /// # Errors
    ///
    /// Those of [`Experiment::prepare`]; [`ExperimentError::Run`] if a network cannot run on an accelerator,
    /// or the artifact cannot express the run.
    pub fn replay(self, libc_seed: u32, notes: &Notes) -> Result<Replay, ExperimentError> {
        let experiment = Experiment::new()
            .set("semantics", Semantics::Mlsys2023)
            .scenario(self.models.to_string_lossy().into_owned())
            .system(self.hardware.to_string_lossy().into_owned())
            .dataflow(self.dataflows.to_string_lossy());
        let prepared = experiment.prepare_noting(notes)?;
        let plan = prepared.plans().next().expect("there is one run");
        let costs = prepared.library().table(&plan.scenario, &plan.system);
        let costs = costs.map_err(RunError::from)?;
        let replay = compat::run(plan, &costs, libc_seed);
        Ok(replay.map_err(RunError::from)?)
    }
}
