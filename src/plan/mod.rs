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

/// Policy for a request that still runs, or was preempted and waits, at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeadlineMiss {
    /// The request finishes. It counts as executed, with a real-time score close to 0.
    #[default]
    Finish,
    /// The request is aborted at the instant at which a waiting request would be dropped. It counts as
    /// dropped, and the energy spent so far is lost.
    Abort,
}

/// Rules of a run that belong neither to its load nor to its scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct EngineSettings {
    /// Policy for requests that run past their deadline.
    pub deadline_miss: DeadlineMiss,
    /// Time after its deadline for which a waiting request is kept. A request that arrives later than
    /// that is dropped at its arrival.
    pub grace: SimSpan,
    /// Whether the older frame is dropped as soon as two frames of a model are ready and neither has
    /// started. Changes nothing where the deadline of a frame is the arrival of the next one.
    pub replace_by_newer: bool,
    /// Effects between requests other than waiting.
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
