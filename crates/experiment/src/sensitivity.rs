//! Sensitivity of an experiment to its settings (docs/explanation/sensitivity.md): one factor at a time, or all factors at
//! once in a screening design.

use serde_json::Value;

use xrsim_model::statistics::ScreeningDesign;
use xrsim_report::sensitivity::{Effect, FactorEffect, Levels, Screened};
use xrsim_sim::plan::{Plan, Semantics};

use super::keys::Key;
use super::trials::{self, Trials};
use super::{Experiment, ExperimentError, Prepared, Settings};

/// Factors that are varied unless others are given, with their levels. Bandwidths, memories and energies are
/// halved and doubled, or changed as far as their sources differ (docs/explanation/sensitivity.md).
const DEFAULTS: &[(&str, &[&str])] = &[
    ("hardware.dram_bandwidth_bytes_per_cycle", &["x0.5", "x2"]),
    ("hardware.noc_bandwidth_bytes_per_cycle", &["x0.5", "x2"]),
    ("dram", &["split", "shared"]),
    ("hardware.dram_latency_cycles", &["100", "1000"]),
    ("hardware.noc_latency_cycles", &["10"]),
    ("hardware.shared_memory_kib", &["x0.25", "x4"]),
    ("hardware.scratchpad_kib", &["x0.5", "x2"]),
    ("hardware.cluster_memory_kib", &["x2"]),
    ("hardware.shared_memory_copies", &["1"]),
    ("hardware.operand_bits", &["4", "16"]),
    ("hardware.partial_sum_bits", &["16"]),
    ("hardware.macs_per_pe_cycle", &["2"]),
    ("hardware.vector_lanes", &["256"]),
    ("hardware.fusion", &["none"]),
    ("hardware.clock_mhz", &["x0.7", "x1.5"]),
    ("hardware.noc_multicast", &["false"]),
    ("hardware.noc_reduce", &["false"]),
    ("hardware.noc_forward", &["true"]),
    ("hardware.noc_single_weights", &["true"]),
    ("hardware.noc_step_latency", &["true"]),
    ("hardware.dram_pj_per_byte", &["x0.2", "x2"]),
    ("hardware.shared_memory_pj_per_byte", &["x0.25", "x4"]),
    ("hardware.cluster_pj_per_byte", &["x0.5", "x2"]),
    ("hardware.scratchpad_pj_per_byte", &["x0.5", "x2"]),
    ("hardware.noc_pj_per_byte", &["x0.1", "x2"]),
    ("hardware.mac_pj", &["x0.5", "x2"]),
    ("hardware.clock_pj_per_cycle", &["1024", "4096"]),
    ("effects.non_overlapped", &["0.5", "1"]),
    ("load.jitter", &["false"]),
    ("load.random_phase", &["true"]),
    ("load.trigger_probability", &["0.5", "1"]),
    ("load.deadline_factor", &["0.75", "1.25"]),
    ("score.k_per_ms", &["1.5", "150"]),
    ("score.energy_max_mj", &["750", "3000"]),
];

/// Keys that cannot be factors: effects are means over scenarios, rankings are those of the systems, and equal
/// draws need one seed.
const NO_FACTORS: [&str; 5] = ["scenario", "profile", "system", "seed", "replication"];

/// A key with the values that it takes.
#[derive(Debug, Clone)]
struct Factor {
    key: &'static Key,
    levels: Vec<String>,
    /// Whether the caller asked for it. Other factors are left out where they cannot vary.
    is_asked: bool,
}

/// A description of runs and of the factors that vary.
#[derive(Debug)]
pub struct Sensitivity {
    experiment: Experiment,
    factors: Vec<Factor>,
    skipped: Vec<(&'static str, String)>,
    n_replications: u64,
    /// Number of runs under one setting.
    n_each: usize,
}

impl Sensitivity {
    /// Describes the sensitivity of the runs of `base`, which come from `experiment` with `n_replications`, to
    /// the factors `asked` (`KEY=V,V`, or `KEY` for default levels), and, unless `only` these are wanted, to
    /// the default factors. A factor that is asked for takes the place of the default one of its key.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Key`] with the nearest key, [`ExperimentError::Value`] and others for a value that
    /// is not allowed or that the runs cannot have, [`ExperimentError::Conflict`] for keys that cannot vary or
    /// have no levels, and if no factor is left.
    pub fn new(
        experiment: Experiment,
        base: &Prepared,
        n_replications: u64,
        asked: &[String],
        only: bool,
    ) -> Result<Self, ExperimentError> {
        let mut factors: Vec<Factor> = Vec::new();
        for text in asked {
            let factor = factor(text)?;
            if factors.iter().any(|known| known.key == factor.key) {
                let message = format!("factor `{}` is given twice", factor.key.name);
                return Err(ExperimentError::Conflict(message));
            }
            factors.push(factor);
        }
        for &(key, levels) in DEFAULTS.iter().filter(|_| !only) {
            let (key, _) = Key::find(key).map_err(|_| super::settings::unknown_key(key))?;
            if !factors.iter().any(|known| known.key == key) {
                let levels = levels.iter().map(|level| level.to_string()).collect();
                factors.push(Factor { key, levels, is_asked: false });
            }
        }
        let n_each = base.n_runs();
        let empty = Vec::new();
        let mut it =
            Self { experiment, factors: empty, skipped: Vec::new(), n_replications, n_each };
        for factor in factors {
            it.check(factor, base)?;
        }
        match it.factors.is_empty() {
            true => Err(ExperimentError::Conflict("no factor is left to vary".into())),
            false => Ok(it),
        }
    }

    /// Adds a factor with the levels that differ from the base, if the runs can have them.
    fn check(&mut self, mut factor: Factor, prepared: &Prepared) -> Result<(), ExperimentError> {
        let base = &prepared.settings;
        let key = factor.key;
        let fixed = base.semantics == Semantics::Mlsys2023 && !key.in_mlsys2023;
        let mut reason = fixed.then(|| "the published artifact fixes it".to_string());
        let mut levels = Vec::new();
        for level in factor.levels {
            let mut settings = base.clone();
            settings.assign(key, &level)?;
            let value = key.value(&settings);
            let is_base = !value.is_null() && value == key.value(base);
            if is_base {
                continue;
            }
            let varied = self.experiment.replaced(key.name, &level).only_replications(0..1);
            // The platform or the system says it already.
            if key.name == "dram" && has_dram(prepared, &level) {
                continue;
            }
            match trials::prepare(&varied) {
                Ok(_) => levels.push(level),
                Err(error) if factor.is_asked => return Err(error),
                Err(error) => reason = reason.or(Some(error.to_string())),
            }
        }
        factor.levels = levels;
        if factor.levels.is_empty() {
            let reason = reason.unwrap_or_else(|| "the base has its only level".into());
            self.skipped.push((key.name, reason));
        } else {
            self.factors.push(factor);
        }
        Ok(())
    }

    /// Number of levels of all factors.
    pub(crate) fn n_levels(&self) -> usize {
        self.factors.iter().map(|factor| factor.levels.len()).sum()
    }

    /// Number of settings that are run, and of their runs: one factor at a time, or in a screening design.
    pub fn n_settings_and_runs(&self, screening: bool) -> [usize; 2] {
        let n = match screening {
            true => ScreeningDesign::new(self.factors.len()).map_or(0, |it| it.runs.len()),
            false => 1 + self.n_levels(),
        };
        [n, n * self.n_each]
    }

    /// One replication under every level of every factor.
    fn each_level(&self) -> impl Iterator<Item = Result<Prepared, ExperimentError>> {
        let levels = |factor: &Factor| {
            let key = factor.key.name;
            factor.levels.clone().into_iter().map(move |level| (key, level))
        };
        self.factors.iter().flat_map(levels).map(|(key, level)| {
            trials::prepare(&self.experiment.replaced(key, &level).only_replications(0..1))
        })
    }

    /// Varies one factor at a time. `done` gets the number of further runs that have ended.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Conflict`] if no run of the base has a score.
    pub fn levels(&self, base: &Prepared, done: &dyn Fn(usize)) -> Result<Levels, ExperimentError> {
        let each: Vec<_> = self.each_level().collect();
        let cost_model = trials::cost_model(base, each.iter().flatten());
        drop(each);
        let mut trials = Trials::new(&cost_model);
        let before = trials.scores(base, done);
        let Some(own) = Effect::from_scores(&before, &before) else {
            let reason = before.reason.unwrap_or_default();
            return Err(ExperimentError::Conflict(format!(
                "no run of the base has a score: {reason}"
            )));
        };
        let mut factors = Vec::new();
        for Factor { key, levels, .. } in &self.factors {
            let effect = |level: &String| {
                let varied = self.experiment.replaced(key.name, level);
                let effect = match trials::prepare(&varied) {
                    Ok(prepared) => {
                        let scores = trials.scores(&prepared, done);
                        let reason = scores.reason.clone();
                        let none = || reason.unwrap_or_else(|| "other configurations".into());
                        Effect::from_scores(&before, &scores).ok_or_else(none)
                    }
                    Err(error) => Err(error.to_string()),
                };
                (level.clone(), effect)
            };
            factors.push(FactorEffect {
                key: key.name,
                unit: key.unit,
                base: base_text(key, &base.settings),
                levels: levels.iter().map(effect).collect(),
            });
        }
        let mut levels = Levels {
            base: own,
            n_configurations: before.configurations.len(),
            n_replications: self.n_replications,
            factors,
            skipped: self.skipped.clone(),
        };
        levels.sort();
        Ok(levels)
    }

    /// Varies all factors at once in a screening design, each between its first and its last level, or between
    /// the base and its only level.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Conflict`] for too many factors, or if no configuration has a score in every run of
    /// the design; other errors if the runs cannot have some of the levels at once.
    pub fn screening(
        &self,
        base: &Prepared,
        done: &dyn Fn(usize),
    ) -> Result<Screened, ExperimentError> {
        let Some(design) = ScreeningDesign::new(self.factors.len()) else {
            return Err(ExperimentError::Conflict(format!(
                "{} factors; a screening design has at most {}",
                self.factors.len(),
                ScreeningDesign::MAX_FACTORS
            )));
        };
        let all = design.runs.iter().map(|run| trials::prepare(&self.screened(run)));
        let all: Vec<_> = all.collect::<Result<_, _>>()?;
        let cost_model = trials::cost_model(base, &all);
        let mut trials = Trials::new(&cost_model);
        let scores: Vec<_> = all.iter().map(|it| trials.scores(it, done)).collect();
        let named = |factor: &Factor| {
            let low = factor.low().cloned();
            let low = low.unwrap_or_else(|| base_text(factor.key, &base.settings));
            (factor.key.name, [low, factor.levels.last().cloned().unwrap_or_default()])
        };
        let factors = self.factors.iter().map(named).collect();
        Screened::from_scores(&design, factors, &scores, self.skipped.clone()).ok_or_else(|| {
            let reason = scores.into_iter().find_map(|it| it.reason).unwrap_or_default();
            let message =
                format!("no configuration has a score in every run of the design: {reason}");
            ExperimentError::Conflict(message)
        })
    }

    /// The experiment in a run of a screening design, which has for each factor whether its level is high.
    fn screened(&self, run: &[bool]) -> Experiment {
        let level = |(factor, high): (&Factor, &bool)| {
            let level = if *high { factor.levels.last() } else { factor.low() };
            Some((factor.key.name, level?.clone()))
        };
        let levels = self.factors.iter().zip(run).filter_map(level);
        levels.fold(self.experiment.clone(), |all, (key, level)| all.replaced(key, &level))
    }
}

/// Whether every system of the runs has DRAM of the kind `name`, or a single accelerator, which shares nothing.
fn has_dram(prepared: &Prepared, name: &str) -> bool {
    let has = |plan: &Plan| {
        let system = &plan.system;
        system.dram().name() == name || system.accelerators().len() == 1
    };
    prepared.plans().all(has)
}

impl Factor {
    /// The low level; `None` is that of the base.
    fn low(&self) -> Option<&String> {
        self.levels.first().filter(|_| self.levels.len() > 1)
    }
}

/// The factor that `text` describes: `KEY=V,V`, or a key with default levels.
fn factor(text: &str) -> Result<Factor, ExperimentError> {
    let (name, values) = match text.split_once('=') {
        Some((name, values)) => (name.trim(), Some(values)),
        None => (text.trim(), None),
    };
    let (key, _) = Key::find(name).map_err(|_| super::settings::unknown_key(name))?;
    if NO_FACTORS.contains(&key.name) {
        let message = format!(
            "`{name}` cannot be a factor: effects are means over scenarios on equal draws, and rankings are \
             those of the systems"
        );
        return Err(ExperimentError::Conflict(message));
    }
    let levels: Vec<String> = match values {
        Some(values) => values.split(',').map(|level| level.trim().to_string()).collect(),
        None => {
            let known = DEFAULTS.iter().find(|(known, _)| *known == key.name);
            known.map_or(&[][..], |(_, levels)| levels).iter().map(ToString::to_string).collect()
        }
    };
    if levels.is_empty() || levels.iter().any(String::is_empty) {
        let message = format!("factor `{name}` has no levels; give them as {name}=V,V");
        return Err(ExperimentError::Conflict(message));
    }
    for (index, level) in levels.iter().enumerate() {
        if levels[..index].contains(level) {
            let message = format!("factor `{name}` has the level `{level}` twice");
            return Err(ExperimentError::Conflict(message));
        }
    }
    Ok(Factor { key, levels, is_asked: true })
}

/// Value of the base in words.
fn base_text(key: &Key, settings: &Settings) -> String {
    match key.value(settings) {
        Value::String(text) => text,
        Value::Null => key.default_text(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_factor_is_a_key_and_takes_its_levels() {
        for (name, levels) in DEFAULTS {
            assert!(!NO_FACTORS.contains(name));
            for level in *levels {
                let mut settings = Settings::default();
                let before = settings.clone();
                settings.set(name, level).unwrap_or_else(|error| panic!("{name}: {error}"));
                let (key, _) = Key::find(name).expect("it was set");
                assert_ne!(
                    key.value(&settings),
                    key.value(&before),
                    "{name}={level} is the default"
                );
            }
        }
    }

    #[test]
    fn every_default_factor_can_be_screened_at_once() {
        assert!(DEFAULTS.len() <= ScreeningDesign::MAX_FACTORS);
    }

    fn refused(text: &str) -> String {
        factor(text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn bad_factors_are_refused_with_the_nearest_name() {
        assert!(refused("load.jiter=false").contains("did you mean `load.jitter`?"));
        assert!(refused("system=J").contains("cannot be a factor"));
        assert!(refused("engine.grace_ms").contains("has no levels"));
        assert!(refused("score.k_per_ms=1,").contains("has no levels"));
        assert!(refused("score.k_per_ms=1,1").contains("twice"));
        assert_eq!(factor("load.deadline_factor").expect("it has levels").levels, ["0.75", "1.25"]);
    }
}
