//! The conditions of a run as a user asks for them: what `run` and `sweep` have in common.

use std::sync::Arc;

use crate::compat::Ablation;
use crate::config::Edition;
use crate::external;
use crate::hardware::platform::Platform;
use crate::hardware::{Style, System};
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::schedule::{Policy, PolicyError};
use crate::sweep::{RunSpec, Semantics};
use crate::units::SimSpan;

use super::message::Failure;
use super::schedulers;
use super::settings::{Key, Settings};

/// Everything about a run but scenario, system and PEs; what is absent is as the semantics have it.
#[derive(Clone, Default)]
pub struct Conditions<'a> {
    /// Rules.
    pub semantics: Semantics,
    /// Layers of the networks.
    pub networks: Option<Edition>,
    /// Cost model, or a file of measurements.
    pub cost_model: Option<&'a str>,
    /// Platform of styles.
    pub platform: Option<&'a str>,
    /// Policy.
    pub scheduler: Option<Policy>,
    /// Time in which requests are released.
    pub duration: Option<SimSpan>,
    /// Seed.
    pub seed: u64,
    /// Quirks of the artifact that are left out.
    pub without: Ablation,
    /// Settings and their values, in the order in which they are made.
    pub set: Vec<(&'static Key, &'a str)>,
}

impl Conditions<'_> {
    /// Where scenarios are looked for first.
    pub fn edition(&self) -> Edition {
        match self.semantics {
            Semantics::Principled => Edition::Reference,
            Semantics::Mlsys2023 => Edition::Artifact,
        }
    }

    /// Layers of the networks.
    pub fn networks(&self) -> Edition {
        self.networks.unwrap_or(match self.semantics {
            Semantics::Principled => Edition::Reference,
            Semantics::Mlsys2023 => Edition::Artifact,
        })
    }

    /// Cost model.
    pub fn cost_model(&self) -> &str {
        self.cost_model.unwrap_or(match self.semantics {
            Semantics::Principled => "loop-nest",
            Semantics::Mlsys2023 => "maestro",
        })
    }

    /// Platform of styles.
    pub fn platform(&self) -> &str {
        self.platform.unwrap_or(match self.semantics {
            Semantics::Principled => "paper",
            Semantics::Mlsys2023 => "artifact",
        })
    }

    /// Every setting.
    ///
    /// # Errors
    ///
    /// A setting without effect under the semantics, or a warm-up that leaves nothing to score.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        settings.load.seed = self.seed;
        settings.load.duration = self.duration.unwrap_or(settings.load.duration);
        for (key, value) in &self.set {
            key.assign(&mut settings, value).map_err(Failure::Argument)?;
        }
        match self.semantics {
            Semantics::Principled if self.without != Ablation::default() => {
                return Err(Failure::Argument(
                    "--without leaves out quirks of --semantics mlsys2023; principled runs have none"
                        .into(),
                ));
            }
            Semantics::Principled => warm_up_ends(&settings)?,
            Semantics::Mlsys2023 => self.refuse_fixed()?,
        }
        Ok(settings)
    }

    /// Refuses what the artifact fixes.
    fn refuse_fixed(&self) -> Result<(), Failure> {
        let keys = self.set.iter().map(|(key, _)| (key.name, !key.in_mlsys2023));
        let own = [("duration", self.duration.is_some()), ("scheduler", self.scheduler.is_some())];
        match keys.chain(own).find(|(_, fixed)| *fixed) {
            Some((name, _)) => Err(Failure::Argument(format!(
                "{name} has no effect under --semantics mlsys2023, because the published artifact \
                 fixes it; leave it out or choose --semantics principled"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses a last replication whose seed the C library of the artifact would cut to 32 bits, and
    /// so repeat.
    ///
    /// # Errors
    ///
    /// That.
    pub fn check_seed(&self, last_replication: u64) -> Result<(), Failure> {
        let last = self.seed.checked_add(last_replication);
        let fits = last.is_some_and(|last| u32::try_from(last).is_ok());
        if fits || self.semantics == Semantics::Principled {
            return Ok(());
        }
        Err(Failure::Argument(format!(
            "the seed is {} and the last replication {last_replication}; --semantics mlsys2023 \
             seeds the C library with their sum, below 2^32",
            self.seed
        )))
    }

    /// One replication of `scenario` on `system`.
    pub fn spec(
        &self,
        settings: &Settings,
        scenario: &Arc<Scenario>,
        system: &Arc<System>,
        replication: u64,
    ) -> RunSpec {
        let mut load = settings.load.clone();
        load.replication = replication;
        let plan = Plan {
            scenario: Arc::clone(scenario),
            system: Arc::clone(system),
            load,
            engine: settings.engine,
            scheduler: self.scheduler.clone().unwrap_or_default(),
            score: settings.score,
        };
        RunSpec { plan, semantics: self.semantics, without: self.without }
    }
}

/// Refuses a warm-up that leaves nothing to score.
fn warm_up_ends(settings: &Settings) -> Result<(), Failure> {
    let (warm_up, duration) = (settings.score.warm_up, settings.load.duration);
    if warm_up < duration {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "score.warm_up_ms is {}, but the run has {} ms; nothing would be scored",
        warm_up.as_ms(),
        duration.as_ms()
    )))
}

/// The policy that `text` names, with its parameters.
///
/// # Errors
///
/// If there is none, or not so.
pub fn scheduler(text: &str) -> Result<Policy, Failure> {
    external::policy(text).map_err(|error| match error {
        PolicyError::Name(name) => super::unknown("scheduler", &name, schedulers::names()),
        error => super::argument(error),
    })
}

/// All quirks but those of these names.
///
/// # Errors
///
/// If there is no such quirk.
pub fn without<'a>(names: impl Iterator<Item = &'a str>) -> Result<Ablation, Failure> {
    let mut without = Ablation::default();
    for name in names {
        let known = Ablation::ALL.iter().find(|(known, _)| *known == name);
        let names = Ablation::ALL.iter().map(|(name, _)| *name);
        let (_, leave_out) = known.ok_or_else(|| super::unknown("quirk", name, names))?;
        leave_out(&mut without);
    }
    Ok(without)
}

/// What [`duration`] allows.
pub const DURATION: &str = "a number of ms from 0.000001 to 9007199254";

/// The duration of a run \[ms\], if it can be one.
pub fn duration(ms: f64) -> Option<SimSpan> {
    SimSpan::from_positive_ms(ms)
}

/// The system that `style` is with `pes` PEs on `platform`, as the settings change it.
///
/// # Errors
///
/// If the style cannot have that many PEs, or the platform cannot be changed.
pub fn style_system(
    style: &Style,
    pes: u32,
    platform: &Platform,
    settings: &Settings,
) -> Result<Arc<System>, Failure> {
    let platform = platform.with(&settings.budget).map_err(super::argument)?;
    let system = style.instantiate(pes, &platform).map_err(super::argument)?;
    with_clock(Arc::new(system), settings)
}

/// A system in full, as the settings change it.
///
/// # Errors
///
/// If they change the budget of a chip, which it does not have.
pub fn full_system(system: Arc<System>, settings: &Settings) -> Result<Arc<System>, Failure> {
    if !settings.budget.is_none() {
        return Err(Failure::Argument(format!(
            "bandwidth and memory are set for styles such as A to M; system `{}` fixes its own",
            system.name()
        )));
    }
    with_clock(system, settings)
}

/// The system with the clock of `hardware.clock_mhz`.
fn with_clock(system: Arc<System>, settings: &Settings) -> Result<Arc<System>, Failure> {
    let Some(clock) = settings.clock else {
        return Ok(system);
    };
    let mut accelerators = system.accelerators().to_vec();
    for accelerator in &mut accelerators {
        accelerator.clock = clock;
    }
    System::new(system.name(), accelerators).map(Arc::new).map_err(super::argument)
}
