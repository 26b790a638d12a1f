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

/// Quirks of the published artifact that a run leaves out, to see what each of them does. All false:
/// the artifact as it is. Names are those of the list of
/// quirks; the printed score is none of them, but a reading of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ablation {
    /// Periods are 1000 / FPS, not rounded down to whole ms.
    pub integer_period: bool,
    /// Frames arrive at their nominal time, not at the next event.
    pub injection_at_events: bool,
    /// Jobs end when they end, not up to 0.01 ms earlier.
    pub early_retire: bool,
    /// A frame waits for the same frame of its upstream, not for as many completions.
    pub completion_count: bool,
    /// What runs or waits in the end is finished or dropped, not lost.
    pub early_end: bool,
    /// Frames are released for one second, not for 700 ms.
    pub window_700_ms: bool,
    /// A frame is dropped at its deadline, not at the first event behind it.
    pub late_drop: bool,
    /// Models are served by deadline, not in order of name.
    pub name_order: bool,
    /// A scenario's score is the mean over executed frames times QoE (section 3.7), not the printed
    /// Definition 15.
    pub printed_score: bool,
}

/// Leaves one quirk out.
pub type LeaveOut = fn(&mut Ablation);

impl Ablation {
    /// Every quirk that can be left out, by name, with the way to do so.
    pub const ALL: [(&'static str, LeaveOut); 9] = [
        ("integer-period", |it| it.integer_period = true),
        ("injection-at-events", |it| it.injection_at_events = true),
        ("early-retire", |it| it.early_retire = true),
        ("completion-count", |it| it.completion_count = true),
        ("early-end", |it| it.early_end = true),
        ("window-700-ms", |it| it.window_700_ms = true),
        ("late-drop", |it| it.late_drop = true),
        ("name-order", |it| it.name_order = true),
        ("printed-score", |it| it.printed_score = true),
    ];
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
