//! Runs of profiles.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xrsim_config::Notes;
use xrsim_model::cost::CostTable;
use xrsim_model::parallel;
use xrsim_model::units::SimTime;
use xrsim_sim::load::Phases;
use xrsim_sim::plan::Plan;
use xrsim_sim::schedule::{OPTIONS, Parameter};
use xrsim_sim::sweep::RunError;
use xrsim_sim::sweep::day::{self, Day, DayMetrics};

use super::{Experiment, ExperimentError, Prepared};

/// Governors that are tried in place of that of the run.
const GOVERNORS: [&str; 5] = ["fixed", "race", "slack", "ondemand", "sustain"];

/// Rules of networks to choose from that are tried in place of that of the run.
const QUALITIES: [&str; 3] = ["first", "cheapest", "fitting"];

/// Schedulers that are tried in place of that of the run.
const SCHEDULERS: [&str; 4] = [
    "latency-greedy:admission=hopeless",
    "edf",
    "edf:admission=hopeless",
    "value:admission=hopeless",
];

/// A run of a profile on a system with a device.
#[derive(Debug)]
pub struct DayRun {
    experiment: Experiment,
    prepared: Prepared,
    plan: Plan,
    costs: Arc<CostTable>,
}

/// A change of a run, and what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct DayChange {
    /// The change in words.
    pub what: String,
    /// The option of the command line that makes it.
    pub option: String,
    /// Hours that the run lasts.
    pub hours: f64,
    /// Score of the time that the run lasts.
    pub score: f64,
    /// Score of the whole profile, see [`DayMetrics`].
    pub value: f64,
}

impl DayRun {
    /// The only run of `experiment`, of the profile called `profile` in place of its scenarios. Old names of settings and
    /// files are added to `notes`.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`] as of [`Experiment::prepare`]; [`ExperimentError::Conflict`] if the experiment makes several
    /// runs, or has rules that profiles do not have.
    pub fn new(
        experiment: &Experiment,
        profile: &str,
        notes: &Notes,
    ) -> Result<Self, ExperimentError> {
        let conflict = |message: &str| Err(ExperimentError::Conflict(message.into()));
        let experiment = experiment.clone().profile(profile);
        let prepared = experiment.prepare_compared(notes)?;
        let Some((plan, costs)) = prepared.only_run() else {
            return conflict(
                "a run of a profile takes one system and one scheduler; choose with --system, --pes and --scheduler",
            );
        };
        let costs = costs?;
        day::check(&plan, &costs).map_err(RunError::from)?;
        Ok(Self { experiment, prepared, plan, costs })
    }

    /// The run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Phases of the run.
    pub fn phases(&self) -> &Phases {
        self.plan.phases.as_deref().expect("the run is one of phases")
    }

    /// Inputs and settings.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Makes the run. `done` gets the time that was simulated, now and then. If trips limit the accelerators, the results are
    /// split at the first time, for which the run is made twice.
    ///
    /// # Errors
    ///
    /// [`RunError`] if it cannot be made.
    pub fn run(&self, done: &dyn Fn(SimTime)) -> Result<Day, RunError> {
        let day = day::play(&self.plan, &self.costs, None, done)?;
        match day.throttled_from() {
            None => Ok(day),
            Some(at) => day::play(&self.plan, &self.costs, Some(at), done),
        }
    }

    /// Quantities of the first `n` independent replications, in their order, of which the first one is the run itself.
    /// Draws are those of [`Experiment::replications`]. `done` gets the number of those that are made, on any thread.
    pub fn replications(
        &self,
        n: u64,
        done: &(dyn Fn(usize) + Sync),
    ) -> Vec<Result<DayMetrics, RunError>> {
        let (all, n_made): (Vec<u64>, _) = ((0..n).collect(), AtomicUsize::new(0));
        parallel::map(&all, |&replication| {
            let plan = self.plan.replicated(replication)?;
            let day = day::play(&plan, &self.costs, None, &|_| {});
            done(n_made.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(DayMetrics::of(&day?, plan.load.duration))
        })
    }

    /// Quantities by which the run is compared.
    pub fn metrics(&self, day: &Day) -> DayMetrics {
        DayMetrics::of(day, self.phases().duration())
    }

    /// Single changes of governor, quality, scheduler and size, each tried on the same draws, the best one first. Those that
    /// cannot be made are left out.
    pub fn changes(&self) -> Vec<DayChange> {
        let candidates = self.candidates();
        let tried = parallel::map(&candidates, |(key, value, what)| self.tried(key, value, what));
        let mut changes: Vec<_> = tried.into_iter().flatten().collect();
        changes.sort_by(|a, b| b.value.total_cmp(&a.value));
        changes
    }

    /// Key, value and words of each change.
    fn candidates(&self) -> Vec<(&'static str, String, String)> {
        let mut all = Vec::new();
        let current = self.plan.scheduler_text();
        // Options that each change leaves as they are, but for the one that it is of.
        let given = |options: &[&str]| -> Vec<&str> {
            let name = |it: &str| it.split('=').next().unwrap_or_default().to_string();
            let all = current.split([':', ',']).skip(1);
            all.filter(|it| options.contains(&&*name(it))).collect()
        };
        let joined = |scheduler: &str, option: &str| {
            let mark = if scheduler.contains(':') { ',' } else { ':' };
            format!("{scheduler}{mark}{option}")
        };
        let has_choices = self.plan.scenario.models().iter().any(|it| it.choice.is_some());
        // The option of governors, and those of single ones.
        let is_of_governors = |it: &&Parameter| {
            it.name == "governor" || it.only_with.is_some_and(|(option, _)| option == "governor")
        };
        let of_governors: Vec<_> =
            OPTIONS.iter().filter(is_of_governors).map(|it| it.name).collect();
        let options: [(&[&str], &[&str], _); 2] = [
            (&of_governors, &GOVERNORS, self.plan.device.is_some()),
            (&["quality"], &QUALITIES, has_choices),
        ];
        for (names, values, is_open) in options {
            if !is_open || !given(names).is_empty() {
                continue;
            }
            for value in values {
                let option = names[0];
                let text = joined(&current, &format!("{option}={value}"));
                all.push(("scheduler", text, format!("{option}: {value}")));
            }
        }
        for scheduler in SCHEDULERS {
            let further = options.iter().flat_map(|it| given(it.0));
            let text = further.fold(scheduler.to_string(), |text, it| joined(&text, it));
            all.push(("scheduler", text, format!("scheduler: {scheduler}")));
        }
        // Those of a system in full are refused.
        let pes = self.plan.system.pes();
        for (other, words) in [(pes.saturating_mul(2), "twice as many"), (pes / 2, "half as many")]
        {
            all.push(("pes", other.to_string(), format!("PEs: {words} ({other})")));
        }
        all
    }

    fn tried(&self, key: &str, value: &str, what: &str) -> Option<DayChange> {
        let changed = self.experiment.replaced(key, value);
        let (plan, costs) = changed.prepare_compared(&Notes::default()).ok()?.only_run()?;
        if (&plan.scheduler, &plan.system) == (&self.plan.scheduler, &self.plan.system) {
            return None;
        }
        let metrics = self.metrics(&day::play(&plan, &costs.ok()?, None, &|_| {}).ok()?);
        Some(DayChange {
            what: what.into(),
            option: format!("--{key} {value}"),
            hours: metrics.hours,
            score: metrics.scores.score,
            value: metrics.profile_score,
        })
    }
}
