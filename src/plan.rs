//! The plan of one run: every input joined and checked. The last place where anything can fail.

use std::sync::Arc;

use thiserror::Error;

use crate::cost::CostTable;
use crate::hardware::System;
use crate::load::{self, LoadError, LoadSettings, RequestStream};
use crate::scenario::Scenario;
use crate::schedule;
use crate::score::{self, ScoreSettings, Scorecard};
use crate::trace::Trace;
use crate::units::SimSpan;

/// What happens to a run that is still going at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LatePolicy {
    /// It finishes; its result counts as executed and scores close to zero.
    #[default]
    Finish,
    /// It is aborted when a waiting request would be dropped, and counts as dropped; the energy
    /// spent so far is lost.
    Abort,
}

/// Rules of the run that are neither load nor policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineSettings {
    /// Runs that are late.
    pub late: LatePolicy,
    /// How long after its deadline a waiting request is kept.
    pub grace: SimSpan,
    /// Whether a frame that could start drops an older frame of the same model that still waits to.
    /// Equal to the default where the deadline is the next arrival.
    pub replace_by_newer: bool,
}

/// Everything a run needs.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is asked.
    pub scenario: Arc<Scenario>,
    /// What it runs on.
    pub system: Arc<System>,
    /// Latency and energy, `[model][accelerator]`.
    pub costs: Arc<CostTable>,
    /// Arrivals and draws.
    pub load: LoadSettings,
    /// Rules.
    pub engine: EngineSettings,
    /// Policy.
    pub scheduler: &'static schedule::Entry,
    /// Parameters of the scores.
    pub score: ScoreSettings,
}

/// A plan whose parts do not fit.
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
    /// Checks that the parts fit.
    ///
    /// # Errors
    ///
    /// [`PlanError`].
    pub fn check(&self) -> Result<(), PlanError> {
        let found = (self.costs.n_models(), self.costs.n_accelerators());
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
    /// [`LoadError`].
    pub fn requests(&self) -> Result<RequestStream, LoadError> {
        load::generate(&self.scenario, &self.load)
    }

    /// Scores of what became of them.
    pub fn score(&self, trace: &Trace) -> Scorecard {
        score::score(&self.scenario, trace, &self.score)
    }
}
