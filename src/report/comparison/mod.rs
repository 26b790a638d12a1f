//! What a comparison of policies says: who is best, by how much, and whether that is chance.

mod csv;
mod figure;
mod table;

use std::sync::Arc;

use crate::bounds::{Bound, Bounds, gap};
use crate::load::Drawn;
use crate::statistics::{PairedDifference, Summary, holm};
use crate::sweep::comparison::{Comparison, Replication, Sample};

pub use csv::{configurations_csv, metrics_csv, policies_csv};
pub use figure::figure;
pub use table::table;

/// What policies are ranked by: a column of [`Sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    column: usize,
    /// Whether a smaller value is better.
    smaller: bool,
}

impl Measure {
    /// The measure called `name`; `None` unless it is one of [`Sample::COLUMNS`].
    pub fn named(name: &str) -> Option<Self> {
        let column = Sample::COLUMNS.iter().position(|column| *column == name)?;
        Some(Self { column, smaller: ["missed", "energy_mj"].contains(&name) })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Sample::COLUMNS[self.column]
    }

    fn of(self, sample: &Sample) -> f64 {
        sample.values()[self.column]
    }

    /// Whether `a` is better than `b`.
    fn better(self, a: f64, b: f64) -> bool {
        if self.smaller { a < b } else { a > b }
    }

    fn best(self, values: impl Iterator<Item = f64>) -> f64 {
        values
            .reduce(|best, value| if self.better(value, best) { value } else { best })
            .unwrap_or(0.0)
    }
}

/// What a comparison says of one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Its label.
    pub policy: Arc<str>,
    /// The measure: mean over configurations, a value a replication.
    pub measure: Summary,
    /// What it is less that of the best policy, replication by replication; `None` for the best.
    pub behind: Option<PairedDifference>,
    /// p-value of that difference, adjusted by Holm for the number of policies.
    pub p_value: Option<f64>,
    /// Late and dropped requests over those that were due: mean over configurations with any.
    pub miss_ratio: f64,
    /// Energy of a run \[mJ\]: mean over configurations.
    pub energy_mj: f64,
    /// What is missing from the mean score to the upper bound, as a share of it.
    pub gap: f64,
    /// Configurations in which no policy is better, equals included.
    pub wins: usize,
}

/// What a comparison says of all policies.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// What they are ranked by.
    pub measure: Measure,
    /// The best policy first; of equals the one given first.
    pub standings: Vec<Standing>,
    /// Mean over the configurations of the measure of the policy that is best there.
    pub best_of_each: f64,
    /// The tightest upper bound of `score_executed_mean`, mean over configurations and replications.
    pub bound: (Bound, f64),
    /// Configurations that could run.
    pub n_configurations: usize,
    /// Replications of each.
    pub n_replications: u64,
    /// What of the runs is random.
    pub drawn: Drawn,
}

impl Ranking {
    /// What `comparison` says by `measure`.
    pub fn of(comparison: &Comparison, measure: Measure) -> Self {
        let all: Vec<&[Replication]> = comparison.feasible().map(|(_, runs)| runs).collect();
        let n_policies = comparison.policies().len();
        let series = |policy| series(&all, comparison.n_replications(), policy, measure);
        let series: Vec<Vec<f64>> = (0..n_policies).map(series).collect();
        let summaries: Vec<_> = series.iter().map(|it| Summary::of(it.iter().copied())).collect();
        let mut order: Vec<_> = (0..n_policies).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (summaries[a].mean, summaries[b].mean);
            if measure.smaller { a.total_cmp(&b) } else { b.total_cmp(&a) }
        });
        let means: Vec<Vec<f64>> = all.iter().map(|it| means(it, n_policies, measure)).collect();
        let best = means.iter().map(|it| measure.best(it.iter().copied()));
        let best: Vec<f64> = best.collect();
        let behind: Vec<_> = order
            .iter()
            .skip(1)
            .map(|&policy| {
                let pairs = series[policy].iter().copied().zip(series[order[0]].iter().copied());
                PairedDifference::of(pairs)
            })
            .collect();
        let p_values: Vec<_> = behind.iter().filter_map(PairedDifference::p_value).collect();
        let adjusted = holm(&p_values);
        let bound = tightest(&all);
        let standing = |(rank, &policy): (usize, &usize)| Standing {
            policy: Arc::clone(comparison.policies()[policy].label()),
            measure: summaries[policy],
            behind: rank.checked_sub(1).map(|rank| behind[rank]),
            p_value: rank.checked_sub(1).and_then(|rank| adjusted.get(rank).copied()),
            miss_ratio: miss_ratio(&all, policy),
            energy_mj: mean_of(&all, policy, "energy_mj"),
            gap: gap(bound.1, mean_of(&all, policy, "score_executed_mean")),
            wins: means.iter().zip(&best).filter(|(means, best)| means[policy] == **best).count(),
        };
        Self {
            measure,
            standings: order.iter().enumerate().map(standing).collect(),
            best_of_each: Summary::of(best.iter().copied()).mean,
            bound,
            n_configurations: all.len(),
            n_replications: comparison.n_replications(),
            drawn: comparison
                .feasible()
                .map(|(spec, _)| spec.drawn())
                .fold(Drawn::default(), Drawn::or),
        }
    }

    /// The widest half width that any policy's interval has; `None` below two replications.
    pub fn widest(&self) -> Option<Summary> {
        let measures = self.standings.iter().map(|standing| standing.measure);
        measures.max_by(|a, b| a.sd.total_cmp(&b.sd))
    }
}

/// Mean over the configurations, a value a replication.
fn series(all: &[&[Replication]], n: u64, policy: usize, measure: Measure) -> Vec<f64> {
    let mean = |replication: u64| {
        let here = all.iter().map(|runs| measure.of(&runs[replication as usize].samples[policy]));
        Summary::of(here).mean
    };
    (0..n).map(mean).collect()
}

/// Mean over the replications of one configuration, a value a policy.
fn means(runs: &[Replication], n_policies: usize, measure: Measure) -> Vec<f64> {
    let mean =
        |policy: usize| Summary::of(runs.iter().map(|it| measure.of(&it.samples[policy]))).mean;
    (0..n_policies).map(mean).collect()
}

/// Sum over the replications of a column of [`Sample`].
fn sum(runs: &[Replication], policy: usize, column: &str) -> f64 {
    let measure = Measure::named(column).expect("a column of samples");
    runs.iter().map(|it| measure.of(&it.samples[policy])).sum()
}

fn miss_ratio(all: &[&[Replication]], policy: usize) -> f64 {
    let ratio = |runs: &&[Replication]| {
        let requests = sum(runs, policy, "requests");
        (requests > 0.0).then(|| sum(runs, policy, "missed") / requests)
    };
    Summary::of(all.iter().filter_map(ratio)).mean
}

/// Mean of a column of [`Sample`] over replications, then configurations.
fn mean_of(all: &[&[Replication]], policy: usize, column: &str) -> f64 {
    let mean = |runs: &&[Replication]| sum(runs, policy, column) / runs.len().max(1) as f64;
    Summary::of(all.iter().map(mean)).mean
}

/// The bound with the smallest mean; of equals the simplest.
fn tightest(all: &[&[Replication]]) -> (Bound, f64) {
    let mean = |index: usize| {
        let runs = all
            .iter()
            .map(|runs| Summary::of(runs.iter().map(|it| it.bounds.values()[index])).mean);
        Summary::of(runs).mean
    };
    let means = Bounds { isolation: mean(0), pooled_capacity: mean(1), linear_program: mean(2) };
    means.tightest()
}
