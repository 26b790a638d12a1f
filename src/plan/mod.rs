//! Description of one run without its costs: scenario, system, load, rules, scheduler and scores.

mod effects;

use std::sync::Arc;

use thiserror::Error;

use crate::cost::CostTable;
use crate::hardware::System;
use crate::load::{self, LoadError, LoadSettings, RequestStream};
use crate::scenario::Scenario;
use crate::schedule::Policy;
use crate::score::{self, ScoreSettings, Scorecard};
use crate::trace::Trace;
use crate::units::SimSpan;

pub use effects::{Division, Effects, Migration, SharedBandwidth, Switch};

/// What happens to a run that is still going at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeadlineMiss {
    /// It finishes; its result counts as executed and scores close to zero.
    #[default]
    Finish,
    /// It is aborted when a waiting request would be dropped, and counts as dropped; the energy
    /// spent so far is lost. So is one that was cut and waits to go on.
    Abort,
}

/// Rules of the run that are neither load nor policy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EngineSettings {
    /// Runs that are late.
    pub deadline_miss: DeadlineMiss,
    /// How long after its deadline a waiting request is kept.
    pub grace: SimSpan,
    /// Whether a frame that could start drops an older frame of the same model that still waits to.
    /// Equal to the default where the deadline is the next arrival.
    pub replace_by_newer: bool,
    /// What requests do to each other beside waiting.
    pub effects: Effects,
}

/// Description of one run. Its costs stand beside it, because many plans share them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Models, sensors and dependencies.
    pub scenario: Arc<Scenario>,
    /// Accelerators.
    pub system: Arc<System>,
    /// Arrivals, seed and replication.
    pub load: LoadSettings,
    /// Rules of the engine.
    pub engine: EngineSettings,
    /// Scheduler.
    pub scheduler: Policy,
    /// Parameters of the scores.
    pub score: ScoreSettings,
}

/// A plan and costs that do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The cost table is not of this scenario and system.
    #[error("the cost table has {found:?} models and accelerators, the run needs {wanted:?}")]
    CostTable {
        /// Models and accelerators of the table.
        found: (usize, usize),
        /// Models of the scenario and accelerators of the system.
        wanted: (usize, usize),
    },
}

impl Plan {
    /// A run of `scenario` on `system` with defaults for everything else.
    pub fn new(scenario: Arc<Scenario>, system: Arc<System>) -> Self {
        Self {
            scenario,
            system,
            load: LoadSettings::default(),
            engine: EngineSettings::default(),
            scheduler: Policy::default(),
            score: ScoreSettings::default(),
        }
    }

    /// Checks that `costs` have a row for every model and a column for every accelerator.
    ///
    /// # Errors
    ///
    /// [`PlanError::CostTable`] if they do not.
    pub fn check(&self, costs: &CostTable) -> Result<(), PlanError> {
        let found = (costs.n_models(), costs.n_accelerators());
        let wanted = (self.scenario.models().len(), self.system.accelerators().len());
        if found != wanted {
            return Err(PlanError::CostTable { found, wanted });
        }
        Ok(())
    }

    /// Every request of the run.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if there are too many.
    pub fn requests(&self) -> Result<RequestStream, LoadError> {
        load::generate(&self.scenario, &self.load)
    }

    /// Scores of a run of this plan, from its trace.
    pub fn score(&self, trace: &Trace) -> Scorecard {
        score::score(&self.scenario, trace, &self.score)
    }
}
