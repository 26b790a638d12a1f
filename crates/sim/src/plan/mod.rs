//! Description of one run without its costs: scenario, system, load, rules, scheduler and scores.

mod ablation;
mod effects;
mod semantics;

use std::sync::Arc;

use thiserror::Error;

use crate::device::Change;
use crate::load::{self, Drawn, Feed, Generator, LoadError, LoadSettings, PhasedGenerator};
use crate::load::{Phases, RequestStream};
use crate::schedule::{Granularity, Options, Placement, Policy, Preemption};
use crate::score::{self, ScoreSettings, Scorecard};
use xrsim_model::cost::CostTable;
use xrsim_model::hardware::Device;
use xrsim_model::hardware::System;
use xrsim_model::hardware::device::{DeviceError, Supplied};
use xrsim_model::scenario::{ActiveModel, InputStream, Scenario, Sequence, weight_bytes};
use xrsim_model::trace::Trace;
use xrsim_model::units::SimSpan;

pub use ablation::Ablation;
pub use effects::{Division, Effects, Migration, SharedBandwidth, Switch};
pub use semantics::Semantics;

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
    /// DRAM for the networks of sequences and their caches \[GiB\]; `None` without a limit.
    pub dram_gib: Option<f64>,
    /// Effects between requests other than waiting.
    pub effects: Effects,
}

/// Description of one run. Its costs stand beside it, because many plans share them.
///
/// Of a run with `mlsys2023` semantics, only scenario and system, seed + replication as the seed of the C
/// library, the trigger probability if one is set, and the quirks that are left out have an effect.
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
    /// Rules of the run.
    pub semantics: Semantics,
    /// Quirks of the published artifact that a run with `mlsys2023` semantics leaves out.
    pub without: Ablation,
    /// Phases of the run of a profile, whose union `scenario` is; `None`: a run of the scenario.
    pub phases: Option<Arc<Phases>>,
    /// The device that supplies the system, with which it fits ([`Device::on`]); `None`: energy is that of requests alone.
    pub device: Option<Arc<Device>>,
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
            semantics: Semantics::default(),
            without: Ablation::default(),
            phases: None,
            device: None,
        }
    }

    /// Supplies of all accelerators; empty without a device.
    ///
    /// # Errors
    ///
    /// [`DeviceError`] if the device does not fit the system.
    pub fn supplied(&self) -> Result<Vec<Supplied>, DeviceError> {
        self.device.as_ref().map_or(Ok(Vec::new()), |device| device.on(&self.system))
    }

    /// Changes of base power and air in the run of a profile.
    pub fn changes(&self) -> impl Iterator<Item = Change> + '_ {
        let phases = self.phases.iter().flat_map(|phases| phases.all());
        phases.map(|phase| Change {
            at: phase.begin,
            base_mw: phase.activity.base_mw,
            ambient_c: phase.activity.ambient_c,
        })
    }

    /// The same plan for the run of a profile.
    #[must_use]
    pub fn of_phases(self, phases: Phases) -> Self {
        let scenario = Arc::clone(phases.union());
        let load = LoadSettings { duration: phases.duration(), ..self.load };
        Self { scenario, load, phases: Some(Arc::new(phases)), ..self }
    }

    /// The same run with the draws of another replication.
    ///
    /// # Errors
    ///
    /// [`LoadError`] as of [`Phases::new`] if it is one of a profile.
    pub fn replicated(&self, replication: u64) -> Result<Self, LoadError> {
        let load = LoadSettings { replication, ..self.load.clone() };
        let again = Self { load, ..self.clone() };
        match &self.phases {
            None => Ok(again),
            Some(phases) => {
                let phases = Phases::new(phases.profile(), &again.load)?;
                Ok(again.of_phases(phases))
            }
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

    /// Whether a model of the scenario is a sequence.
    pub fn has_sequences(&self) -> bool {
        self.scenario.models().iter().any(|model| model.sequence.is_some())
    }

    /// Whether a model of the scenario gives counts of frames.
    pub fn has_work(&self) -> bool {
        self.scenario.models().iter().any(|model| model.work.is_some())
    }

    /// Whether each request of a model of the scenario runs one of several networks.
    pub fn has_choices(&self) -> bool {
        self.scenario.models().iter().any(|model| model.choice.is_some())
    }

    /// Whether schedulers see other counts of some frames than these have.
    pub fn hides_work(&self) -> bool {
        let mut works = self.scenario.models().iter().filter_map(|model| model.work.as_ref());
        works.any(|work| work.shown().is_some())
    }

    /// Checks that the scheduler can decide about sequences, and that there is room for the cache of a start of each.
    fn check_sequences(&self) -> Result<(), LoadError> {
        let mut models = self.scenario.models().iter();
        if let Some(model) =
            models.find(|it| it.sequence.is_some() && self.scheduler.is_clairvoyant())
        {
            let (scheduler, model) =
                (Box::from(&**self.scheduler.label()), model.unit.task.clone());
            return Err(LoadError::Clairvoyant { scheduler, model });
        }
        let Some(room) = self.cache_room() else { return Ok(()) };
        let cache = |model: &ActiveModel| model.sequence.as_ref().map_or(0, Sequence::cache);
        match self.scenario.models().iter().find(|model| cache(model) > room) {
            None => Ok(()),
            Some(model) => {
                let model_name = model.unit.task.clone();
                Err(LoadError::Cache { model: model_name, needed: cache(model), room })
            }
        }
    }

    /// Every request of the run.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if there are too many, or if a sequence has no room for its cache or a scheduler that plans before the
    /// run.
    ///
    /// # Panics
    ///
    /// If the plan has phases, whose requests are only made as they are taken.
    pub fn requests(&self) -> Result<RequestStream, LoadError> {
        assert!(self.phases.is_none(), "requests of phases are those of the feed");
        self.check_sequences()?;
        load::generate(&self.scenario, &self.load)
    }

    /// The requests of the run, made as they are taken.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if there are too many.
    pub fn feed(&self) -> Result<Feed<'_>, LoadError> {
        self.check_sequences()?;
        match &self.phases {
            None => Generator::new(&self.scenario, &self.load).map(Feed::from),
            Some(_) if self.scheduler.is_clairvoyant() => {
                Err(LoadError::Foresees(Box::from(&**self.scheduler.label())))
            }
            Some(phases) => Ok(PhasedGenerator::new(phases).into()),
        }
    }

    /// Bandwidth that the accelerators share: the limits of the settings, and the DRAM of a system that shares it.
    pub fn shared_bandwidth(&self) -> SharedBandwidth {
        let bandwidth = self.engine.effects.bandwidth;
        let limits = [bandwidth.dram, self.system.shared_dram()].into_iter().flatten();
        SharedBandwidth { dram: limits.reduce(f64::min), ..bandwidth }
    }

    /// DRAM for the caches of sequences \[byte\]: what the weights of their networks leave; `None` without a limit.
    pub fn cache_room(&self) -> Option<u64> {
        let gib = self.engine.dram_gib?;
        let sequences = self.scenario.models().iter().filter(|model| model.sequence.is_some());
        let weights = sequences.map(|model| weight_bytes(&model.unit.network));
        let weights = weights.fold(0, u64::saturating_add);
        Some(((gib * f64::from(1 << 30)) as u64).saturating_sub(weights))
    }

    /// Name of the scheduler in results.
    pub fn scheduler_name(&self) -> &str {
        self.semantics.scheduler_name(&self.scheduler)
    }

    /// Text of the scheduler in records, see [`Policy::text`].
    pub fn scheduler_text(&self) -> String {
        match self.semantics {
            Semantics::Principled => self.scheduler.text(),
            Semantics::Mlsys2023 => self.scheduler_name().into(),
        }
    }

    /// First part of the duration, whose frames run but are not scored.
    pub fn warm_up(&self) -> SimSpan {
        match self.semantics {
            Semantics::Principled => self.score.warm_up,
            Semantics::Mlsys2023 => SimSpan::ZERO,
        }
    }

    /// Whether frames of sensors can be lost, or frames are missing as a gate is off.
    pub fn may_lack_frames(&self) -> bool {
        let loses =
            |it: &InputStream| it.recorded.as_ref().is_some_and(|it| it.recording.n_lost() > 0);
        let lacks = |it: &InputStream| loses(it) || it.gate.is_some();
        let is_gated = self.scenario.models().iter().any(|model| model.gate.is_some());
        self.semantics == Semantics::Principled
            && (is_gated || self.scenario.streams().iter().any(lacks))
    }

    /// Whether a sensor is recorded.
    pub fn reads_recordings(&self) -> bool {
        let mut streams = self.scenario.streams().iter();
        self.semantics == Semantics::Principled && streams.any(|it| it.recorded.is_some())
    }

    /// Random parts of the run. The artifact draws jitter, but never uses it.
    pub fn drawn(&self) -> Drawn {
        match self.semantics {
            Semantics::Principled => {
                let phases = self.phases.as_ref();
                let courses = phases.is_some_and(|it| it.profile().course.is_drawn());
                Drawn { courses, ..Drawn::from_settings(&self.scenario, &self.load) }
            }
            Semantics::Mlsys2023 => {
                let triggers = Drawn::triggers(&self.scenario, &self.load);
                Drawn { triggers, ..Drawn::default() }
            }
        }
    }

    /// Whether the run may ask for the costs of single layers.
    pub fn needs_layers(&self) -> bool {
        let Options { granularity, preemption, placement, .. } = self.scheduler.options();
        let whole = granularity == Granularity::Model
            && preemption == Preemption::None
            && placement != Placement::EnergyDelayByLayer
            && self.engine.deadline_miss == DeadlineMiss::Finish
            && !self.engine.effects.any()
            && !self.shared_bandwidth().is_limited()
            && !self.device.as_ref().is_some_and(|device| device.has_points());
        self.semantics == Semantics::Principled && !whole
    }

    /// Scores of a run of this plan, from its trace.
    pub fn score(&self, trace: &Trace) -> Scorecard {
        score::score(&self.scenario, trace, &self.score)
    }
}
