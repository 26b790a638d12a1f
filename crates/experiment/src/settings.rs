//! Settings of one run: the values of all keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use xrsim_config::{Edition, Parameters};
use xrsim_model::hardware::platform::BudgetChange;
use xrsim_model::hardware::{AcceleratorChange, Dram, MappingSettings, System};
use xrsim_model::mapper::Effort;
use xrsim_model::renamed::Renamed;
use xrsim_model::scenario::Scenario;
use xrsim_sim::load::LoadSettings;
use xrsim_sim::plan::{Ablation, EngineSettings, Plan, Semantics};
use xrsim_sim::schedule::Policy;
use xrsim_sim::score::ScoreSettings;

use super::ExperimentError;
use super::accelerators::DEFAULT_PLATFORM;
use super::keys::{KEYS, Key, UNPARTITIONED, all_set};

/// Values of all keys for one run. Keys that were not given are as the semantics have them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// Name or file of the scenario.
    pub scenario: Option<Box<str>>,
    /// Name or file of the profile that runs in place of a scenario.
    pub profile: Option<Box<str>>,
    /// Name or file of the system.
    pub system: Option<Box<str>>,
    /// PEs of the whole system, for styles.
    pub pes: Option<u32>,
    /// Rules of the run.
    pub semantics: Semantics,
    /// Quirks of the artifact that are left out.
    pub without: Ablation,
    /// Edition of the networks.
    pub networks: Option<Edition>,
    /// Parameters of networks, by the task of their model.
    pub parameters: Parameters,
    /// Cost model, or a file of measurements.
    pub cost_model: Option<Box<str>>,
    /// Platform of styles.
    pub platform: Option<Box<str>>,
    /// Technology of every system, instead of that of the system or platform.
    pub technology: Option<Box<str>>,
    /// Device that supplies the system.
    pub device: Option<Box<str>>,
    /// Whether DRAM is split or shared, instead of what the platform or system says.
    pub dram: Option<Dram>,
    /// Choice of mappings of every accelerator, instead of that of the system.
    pub mapping: MappingSettings,
    /// Work of the search for these choices.
    pub effort: Effort,
    /// Scheduler.
    pub scheduler: Policy,
    /// Arrivals, seed and replication.
    pub load: LoadSettings,
    /// Rules of the engine.
    pub engine: EngineSettings,
    /// Parameters of the scores.
    pub score: ScoreSettings,
    /// Changes of every accelerator.
    pub accelerator: AcceleratorChange,
    /// Changes of bandwidth and memory of the whole chip, for styles.
    pub budget: BudgetChange,
    /// Keys that were given.
    pub(super) given: Vec<&'static Key>,
    /// Whether DRAM is shared by the name up to version 0.1, under which nothing limited it.
    pub(super) unpartitioned: bool,
}

/// Refusal of DRAM that every accelerator has as a whole, by the name up to version 0.1.
pub(super) const GIVEN_AWAY: &str = "`hardware.dram_unpartitioned` is `true` and `effects.dram_gb_per_s` is `unlimited`, so that every \
     accelerator would have the whole DRAM bandwidth at once; with `dram: shared` (`--dram shared`) they \
     share it";

impl Settings {
    /// Sets the key called `name` to the value written `text`. Returns hints for names up to version
    /// 0.1.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Key`] if there is no such key, [`ExperimentError::Value`],
    /// [`ExperimentError::Scheduler`] or [`ExperimentError::Config`] if the value is wrong.
    pub fn set(&mut self, name: &str, text: &str) -> Result<Vec<Renamed>, ExperimentError> {
        let (key, renamed) = Key::find(name).map_err(|_| unknown_key(name))?;
        let renamed_value = self.assign(key, text)?;
        Ok(renamed.into_iter().chain(renamed_value).collect())
    }

    /// Sets `key` to the value written `text`. Returns the hint if the value has a name up to version
    /// 0.1.
    ///
    /// # Errors
    ///
    /// As [`Settings::set`], but for the key.
    pub(super) fn assign(
        &mut self,
        key: &'static Key,
        text: &str,
    ) -> Result<Option<Renamed>, ExperimentError> {
        let (text, renamed) = key.current(text);
        if key.name == "dram" {
            self.unpartitioned = renamed.is_some_and(|it| it.old == UNPARTITIONED);
        }
        key.assign(self, text).map_err(|slip| ExperimentError::slip(slip, key, text))?;
        self.note_given(key);
        Ok(renamed)
    }

    pub(super) fn note_given(&mut self, key: &'static Key) {
        if !self.given.contains(&key) {
            self.given.push(key);
        }
    }

    /// Whether the key called `name` was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|key| key.name == name)
    }

    /// Edition of the scenarios.
    pub fn edition(&self) -> Edition {
        match self.semantics {
            Semantics::Principled => Edition::Reference,
            Semantics::Mlsys2023 => Edition::Artifact,
        }
    }

    /// Edition of the networks.
    pub fn networks(&self) -> Edition {
        self.networks.unwrap_or(self.edition())
    }

    /// Cost model, or a file of measurements.
    pub fn cost_model(&self) -> &str {
        self.cost_model.as_deref().unwrap_or(match self.semantics {
            Semantics::Principled => "loop-nest",
            Semantics::Mlsys2023 => "maestro",
        })
    }

    /// Platform of styles.
    pub fn platform(&self) -> &str {
        self.platform.as_deref().unwrap_or(match self.semantics {
            Semantics::Principled => DEFAULT_PLATFORM,
            Semantics::Mlsys2023 => "artifact",
        })
    }

    /// Names of the quirks that are left out, joined by `+`; `none` without any.
    pub(super) fn without_text(&self) -> String {
        let is_left_out = |leave_out: fn(&mut Ablation)| {
            let mut more = self.without;
            leave_out(&mut more);
            more == self.without
        };
        let names = Ablation::ALL.iter().filter(|(_, leave_out)| is_left_out(*leave_out));
        let names: Vec<_> = names.map(|(name, _)| *name).collect();
        if names.is_empty() { "none".into() } else { names.join("+") }
    }

    /// Checks that the settings go together.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::FixedByArtifact`] for a key without effect under `mlsys2023` semantics;
    /// [`ExperimentError::Conflict`] for quirks that are left out of a principled run, a warm-up that
    /// leaves nothing to score, DRAM that is given away more than once, or a seed that the artifact would cut to 32 bits.
    pub fn check(&self) -> Result<(), ExperimentError> {
        match self.semantics {
            Semantics::Principled if self.without != Ablation::default() => {
                Err(ExperimentError::Conflict(
                    "--without leaves out quirks of --semantics mlsys2023; principled runs have none"
                        .into(),
                ))
            }
            Semantics::Principled => self.check_dram().and_then(|()| self.check_warm_up()),
            Semantics::Mlsys2023 => {
                self.refuse_fixed()?;
                self.check_seed(self.load.replication)
            }
        }
    }

    /// Refuses parameters of tasks that no model of `scenarios` has; of no scenarios nothing is known.
    pub(super) fn refuse_unknown_tasks<'a>(
        &self,
        scenarios: impl Iterator<Item = &'a Arc<Scenario>>,
    ) -> Result<(), ExperimentError> {
        let models = scenarios.flat_map(|scenario| scenario.models());
        let known: BTreeSet<&str> = models.map(|model| &*model.unit.task).collect();
        let mut tasks = self.parameters.iter().map(|(task, _)| task);
        match tasks.find(|task| !known.contains(task)) {
            Some(task) if !known.is_empty() => Err(ExperimentError::no_task(task, known)),
            _ => Ok(()),
        }
    }

    /// Refuses keys that the artifact fixes.
    fn refuse_fixed(&self) -> Result<(), ExperimentError> {
        match self.given.iter().find(|key| !key.in_mlsys2023) {
            Some(key) => Err(ExperimentError::FixedByArtifact(key.name)),
            None => Ok(()),
        }
    }

    /// Refuses DRAM that every accelerator has as a whole.
    pub(super) fn check_dram(&self) -> Result<(), ExperimentError> {
        match self.unpartitioned && self.engine.effects.bandwidth.dram.is_none() {
            true => Err(ExperimentError::Conflict(GIVEN_AWAY.into())),
            false => Ok(()),
        }
    }

    /// Refuses a warm-up that leaves nothing to score.
    fn check_warm_up(&self) -> Result<(), ExperimentError> {
        let (warm_up, duration) = (self.score.warm_up, self.load.duration);
        if warm_up < duration {
            return Ok(());
        }
        Err(ExperimentError::Conflict(format!(
            "score.warm_up_ms is {}, but the run has {} ms; nothing would be scored",
            warm_up.as_ms(),
            duration.as_ms()
        )))
    }

    /// Refuses a last replication whose seed the C library of the artifact would cut to 32 bits, and
    /// so repeat.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Conflict`] if it would.
    pub(super) fn check_seed(&self, last_replication: u64) -> Result<(), ExperimentError> {
        let last = self.load.seed.checked_add(last_replication);
        let fits = last.is_some_and(|last| u32::try_from(last).is_ok());
        if fits || self.semantics == Semantics::Principled {
            return Ok(());
        }
        Err(ExperimentError::Conflict(format!(
            "the seed is {} and the last replication {last_replication}; --semantics mlsys2023 \
             seeds the C library with their sum, below 2^32",
            self.load.seed
        )))
    }

    /// The plan of `scenario` on `system` under these settings.
    pub fn plan(&self, scenario: &Arc<Scenario>, system: &Arc<System>) -> Plan {
        Plan {
            scenario: Arc::clone(scenario),
            system: Arc::clone(system),
            load: self.load.clone(),
            engine: self.engine,
            scheduler: self.scheduler.clone(),
            score: self.score,
            semantics: self.semantics,
            without: self.without,
            phases: None,
            device: None,
        }
    }

    /// Value of every key that the semantics follow, but for those that each run has its own of.
    pub fn effective(&self) -> Map<String, Value> {
        let is_known = |key: &&Key| self.semantics == Semantics::Principled || key.in_mlsys2023;
        let known = KEYS.iter().filter(is_known);
        let entries = known.map(|key| (key.name.to_string(), key.value(self)));
        entries.filter(|(_, value)| !value.is_null()).chain(all_set(self)).collect()
    }
}

/// The error for a key that does not exist.
pub(super) fn unknown_key(name: &str) -> ExperimentError {
    ExperimentError::Key { name: name.into(), nearest: Key::nearest(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(assignments: &[(&str, &str)]) -> String {
        let mut settings = Settings::default();
        let set = |(key, value): &(&str, &str)| settings.set(key, value).map(drop);
        let set = assignments.iter().try_for_each(set);
        set.and_then(|()| settings.check()).expect_err("it is wrong").to_string()
    }

    #[test]
    fn slips_are_answered_with_the_nearest_key_and_the_allowed_values() {
        assert_eq!(
            refused(&[("score.k_pre_ms", "3")]),
            "no setting named `score.k_pre_ms`; did you mean `score.k_per_ms`? (see `xrsim list settings`)"
        );
        for name in ["clock_mhz", "clock"] {
            let meant = refused(&[(name, "800")]);
            assert!(meant.contains("did you mean `hardware.clock_mhz`?"), "{meant}");
        }
        let range = refused(&[("load.trigger_probability", "1.5")]);
        assert!(range.contains("0 to 1"), "{range}");
        let nan = refused(&[("score.k_per_ms", "NaN")]);
        assert!(nan.contains("from 0 to 1e100"), "{nan}");
        for size in ["0", "0.0001", "1e300"] {
            let size = refused(&[("hardware.shared_memory_kib", size)]);
            assert!(size.contains("whole number of bytes"), "{size}");
        }
        let quirk = refused(&[("without", "name-order+late-dorp")]);
        assert!(quirk.starts_with("no quirk named `late-dorp`; did you mean"), "{quirk}");
    }

    #[test]
    fn keys_that_the_artifact_fixes_are_refused_under_its_semantics() {
        let artifact = ("semantics", "mlsys2023");
        for key in [("scheduler", "edf"), ("duration_ms", "5"), ("score.k_per_ms", "5")] {
            let message = refused(&[key, artifact]);
            assert!(message.starts_with(&format!("{} has no effect under", key.0)), "{message}");
        }
        let seed = refused(&[artifact, ("seed", "4294967295"), ("replication", "1")]);
        assert!(seed.contains("below 2^32"), "{seed}");
    }

    #[test]
    fn quirks_and_warm_up_must_go_with_the_run() {
        assert!(refused(&[("without", "name-order")]).contains("principled runs have none"));
        assert!(refused(&[("score.warm_up_ms", "1000")]).contains("nothing would be scored"));
    }

    #[test]
    fn dram_is_not_given_away_more_than_once() {
        let old = ("hardware.dram_unpartitioned", "true");
        let refusal = refused(&[old]);
        assert!(refusal.contains("`true` and `effects.dram_gb_per_s` is `unlimited`"), "{refusal}");
        let mut settings = Settings::default();
        for (key, value) in [old, ("effects.dram_gb_per_s", "25.6")] {
            settings.set(key, value).expect("it is read");
        }
        assert!(settings.check().is_ok());
        assert_eq!(settings.dram, Some(Dram::Shared));
        settings.set("effects.dram_gb_per_s", "unlimited").expect("it is read");
        assert!(settings.check().is_err());
        settings.set("dram", "shared").expect("it is read");
        assert!(settings.check().is_ok());
    }

    #[test]
    fn an_old_name_is_read_with_a_hint() {
        let mut settings = Settings::default();
        let mut hints = |key, value| {
            let hints = settings.set(key, value).expect("it is read");
            hints.into_iter().map(|hint| hint.new).collect::<Vec<_>>()
        };
        assert_eq!(hints("engine.late", "abort"), ["engine.deadline_miss"]);
        assert_eq!(hints("platform", "mlsys2023"), ["artifact"]);
        assert_eq!(hints("platform", "paper"), [""; 0]);
        assert!(settings.has("engine.deadline_miss"));
    }
}
