//! Report of a comparison of policies: their ranking, the differences, and their significance.

mod csv;
mod figure;
pub(crate) mod p_value;
mod pairs;
mod table;

use std::sync::Arc;

use xrsim_model::column::{Better, Column, Kind};
use xrsim_model::sequence::distinct;
use xrsim_model::statistics::{PairedDifference, Sequential, Stopping, Summary, holm, is_alike};
use xrsim_sim::bounds::{Bound, Bounds, Class, ClassBounds, gap};
use xrsim_sim::load::Drawn;
use xrsim_sim::sweep::comparison::{Comparison, Replication, Sample, Subject};

pub use csv::{ALL, configurations_csv, metrics_csv, pairs_csv, policies_csv};
pub use figure::{drawn, figure, ranks_figure};
pub use pairs::{Pair, Ranks, Shares, pairs};
pub use table::{Tables, tables};

/// The column of [`Sample`] that policies are ranked by.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    subject: Subject,
    /// Place in [`Sample::values`].
    at: usize,
    column: Column<()>,
}

impl Measure {
    /// The measure of scenarios called `name`; `None` unless [`Sample`] has a column of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::of_subject(Subject::Scenarios, name)
    }

    /// The measure of `subject` called `name`; `None` unless samples of it have a column of this name.
    pub fn of_subject(subject: Subject, name: &str) -> Option<Self> {
        let mut columns = subject.columns().into_iter().enumerate();
        let (at, column) = columns.find(|(_, column)| column.name == name)?;
        Some(Self { subject, at, column })
    }

    /// The measure of `subject` unless another one is named.
    pub fn primary(subject: Subject) -> Self {
        Self::of_subject(subject, subject.primary()).expect("samples have it")
    }

    /// What it is of.
    pub fn subject(self) -> Subject {
        self.subject
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.column.name
    }

    /// A value with four digits after the point for scores, and its unit.
    fn shown(self, value: f64) -> String {
        let decimals = if matches!(self.column.kind, Kind::Overall | Kind::Score) { 4 } else { 1 };
        format!("{value:.decimals$} {}", self.column.unit).trim_end().into()
    }

    /// A difference that a reader may pass over: 0.001 of a score, a hundredth of the `best` value of another column.
    pub(crate) fn small_difference(self, best: f64) -> f64 {
        match self.column.kind {
            Kind::Overall | Kind::Score => 0.001,
            Kind::Count | Kind::Quantity => best.abs() / 100.0,
        }
    }

    /// Its meaning, and whether it is the one that all commands rank by.
    fn meaning(self) -> String {
        let Column { name, help, .. } = self.column;
        match self.subject {
            Subject::Scenarios if *name == *self.subject.primary() => {
                format!("{name}: the primary metric, by which `run` also ranks: {help}")
            }
            _ => format!("{name}: {help}"),
        }
    }

    /// Whether a `difference` of the measure is too small to matter; `None` without one, and for a measure that is no
    /// score.
    pub fn alike(self, difference: Option<PairedDifference>) -> Option<bool> {
        let is_score = matches!(self.column.kind, Kind::Overall | Kind::Score);
        Some(is_alike(difference.filter(|_| is_score)?.difference.mean))
    }

    fn of(self, sample: &Sample) -> f64 {
        sample.values()[self.at]
    }

    fn best(self, values: impl Iterator<Item = f64>) -> f64 {
        self.column.better.best(values).unwrap_or(0.0)
    }
}

/// Results of one policy in a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Label of the policy.
    pub policy: Arc<str>,
    /// The measure: mean over the configurations, one value for each replication.
    pub measure: Summary,
    /// Difference to the best policy, replication by replication; `None` for the best.
    pub difference: Option<PairedDifference>,
    /// p-value of that difference, adjusted by Holm for the number of policies.
    pub p_value: Option<f64>,
    /// Shares of all runs that are better, equal and worse than those of the best policy; `None` for the best.
    pub shares: Option<Shares>,
    /// Quantities beside the measure.
    pub beside: Beside,
    /// Configurations in which the policy is better than every other one.
    pub wins: usize,
    /// Configurations in which it is the best together with others.
    pub ties: usize,
}

/// Quantities of a policy beside the measure that it is ranked by.
#[derive(Debug, Clone, PartialEq)]
pub enum Beside {
    /// Of scenarios.
    Scenarios(OfScenarios),
    /// Of profiles: means over the replications, then the configurations, in the order of [`Subject::columns`]; NaN where a run
    /// has none.
    Profiles(Vec<f64>),
}

/// Quantities of a policy in scenarios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfScenarios {
    /// Late and dropped requests over all requests: mean over the configurations with any requests.
    pub miss_ratio: f64,
    /// Energy of a run \[mJ\]: mean over configurations.
    pub energy_mj: f64,
    /// The smallest class of schedulers with the policy.
    pub class: Class,
    /// The tightest upper bound of the class.
    pub bound: (Bound, f64),
    /// Difference of this bound and the mean score, as a share of the bound.
    pub gap: f64,
}

impl Beside {
    /// Those of scenarios.
    pub fn of_scenarios(&self) -> Option<&OfScenarios> {
        match self {
            Self::Scenarios(of) => Some(of),
            Self::Profiles(_) => None,
        }
    }

    /// The mean of the column of profiles at a place.
    pub(crate) fn of_profiles(&self, at: usize) -> Option<f64> {
        match self {
            Self::Scenarios(_) => None,
            Self::Profiles(means) => means.get(at).copied().filter(|mean| !mean.is_nan()),
        }
    }
}

/// Ranking of all policies of a comparison.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// The measure that policies are ranked by.
    pub measure: Measure,
    /// The only scenario or profile, see [`Configuration::name`](xrsim_sim::sweep::comparison::Configuration::name); `None` for all.
    pub scenario: Option<Arc<str>>,
    /// The best policy first; of equal ones the one that was given first.
    pub standings: Vec<Standing>,
    /// Mean over the configurations of the measure of the policy that is best there.
    pub best_of_each: f64,
    /// Upper bounds of `score_executed_mean`, means over configurations and replications. Profiles have none.
    pub bounds: Option<ClassBounds>,
    /// Configurations that could run.
    pub n_configurations: usize,
    /// Draws in which frames of all of them are counted.
    pub n_replications: u64,
    /// Random parts of the runs.
    pub drawn: Drawn,
}

impl Ranking {
    /// Ranks the policies of `comparison` by `measure`.
    ///
    /// # Panics
    ///
    /// If the measure is not of the subject of the comparison.
    pub fn new(comparison: &Comparison, measure: Measure) -> Self {
        Self::within(comparison, measure, None)
    }

    /// Rankings of every scenario by itself, in the order of the configurations; none if there is only one scenario.
    pub fn by_scenario(comparison: &Comparison, measure: Measure) -> Vec<Self> {
        let names = scenarios(comparison);
        let rank = |name: Arc<str>| Self::within(comparison, measure, Some(name));
        if names.len() > 1 { names.into_iter().map(rank).collect() } else { Vec::new() }
    }

    fn within(comparison: &Comparison, measure: Measure, scenario: Option<Arc<str>>) -> Self {
        let all = runs_of(comparison, scenario.as_deref());
        let n_policies = comparison.policies().len();
        let series = |policy| series(&all, comparison.n_replications(), policy, measure);
        let series: Vec<Vec<f64>> = (0..n_policies).map(series).collect();
        let summaries: Vec<_> = series.iter().map(|it| Summary::of(it.iter().copied())).collect();
        let mut order: Vec<_> = (0..n_policies).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (summaries[a].mean, summaries[b].mean);
            match measure.column.better {
                Better::Higher => b.total_cmp(&a),
                Better::Lower => a.total_cmp(&b),
            }
        });
        let leaders = Leaders::of(&all, n_policies, measure);
        let to_best = |&policy: &usize| {
            let pairs = series[policy].iter().copied().zip(series[order[0]].iter().copied());
            PairedDifference::from_pairs(pairs)
        };
        let difference: Vec<_> = order.iter().skip(1).map(to_best).collect();
        let p_values: Vec<_> = difference.iter().filter_map(PairedDifference::p_value).collect();
        let adjusted = holm(&p_values);
        let bounds = mean_bounds(&all, measure.subject);
        let class = |policy: usize| comparison.policies()[policy].class();
        let beside = |policy: usize| match &bounds {
            None => Beside::Profiles(means_of_all(&all, policy, measure.subject)),
            Some(bounds) => {
                let bound = bounds.of(class(policy)).tightest();
                Beside::Scenarios(OfScenarios {
                    miss_ratio: miss_ratio(&all, policy),
                    energy_mj: mean_of(&all, policy, "energy_mj"),
                    class: class(policy),
                    bound,
                    gap: gap(bound.1, mean_of(&all, policy, "score_executed_mean")),
                })
            }
        };
        let standing = |(rank, &policy): (usize, &usize)| Standing {
            beside: beside(policy),
            policy: Arc::clone(comparison.policies()[policy].label()),
            measure: summaries[policy],
            difference: rank.checked_sub(1).map(|rank| difference[rank]),
            p_value: rank.checked_sub(1).and_then(|rank| adjusted.get(rank).copied()),
            shares: (rank > 0).then(|| Shares::compute(&all, (policy, order[0]), measure)),
            wins: leaders.led_by(policy, true),
            ties: leaders.led_by(policy, false),
        };
        Self {
            measure,
            standings: order.iter().enumerate().map(standing).collect(),
            best_of_each: Summary::of(leaders.best.iter().copied()).mean,
            bounds,
            n_configurations: all.len(),
            n_replications: n_counted(comparison, &all),
            drawn: comparison
                .feasible()
                .filter(|(it, _)| scenario.as_deref().is_none_or(|name| *it.name == *name))
                .map(|(it, _)| it.plan.drawn())
                .fold(Drawn::default(), Drawn::or),
            scenario,
        }
    }

    /// The measure with the widest interval; `None` without policies.
    fn widest(&self) -> Option<Summary> {
        let measures = self.standings.iter().map(|standing| standing.measure);
        measures.max_by(|a, b| a.sd.total_cmp(&b.sd))
    }
}

/// The best policies of every configuration.
struct Leaders {
    /// Mean of the best, by configuration.
    best: Vec<f64>,
    /// Means of the policies, `[configuration][policy]`.
    means: Vec<Vec<f64>>,
}

impl Leaders {
    fn of(all: &[&[Replication]], n_policies: usize, measure: Measure) -> Self {
        let means: Vec<Vec<f64>> = all.iter().map(|it| means(it, n_policies, measure)).collect();
        let best = means.iter().map(|it| measure.best(it.iter().copied())).collect();
        Self { best, means }
    }

    /// Number of configurations that a policy leads, alone or together with others.
    fn led_by(&self, policy: usize, alone: bool) -> usize {
        let is_led = |(means, best): &(&Vec<f64>, &f64)| {
            let n_best = means.iter().filter(|mean| *mean == *best).count();
            means[policy] == **best && (n_best == 1) == alone
        };
        self.means.iter().zip(&self.best).filter(is_led).count()
    }
}

/// Makes replications until the interval of `measure` of every policy is as narrow as `rule` asks, or their
/// number is its cap. `extend` makes the replications up to the number that it is given. Without
/// policies, the first call of `extend` is the only one.
pub fn replicate_until(
    rule: Sequential,
    comparison: &mut Comparison,
    measure: Measure,
    mut extend: impl FnMut(&mut Comparison, u64),
) {
    let mut widest = Some(Summary::default());
    while let Some(so_far) = widest
        && let Stopping::Until(n) = rule.decide(&so_far)
    {
        // Draws in which no frame is counted come in addition.
        let made = comparison.n_replications();
        let until = n.saturating_add(made.saturating_sub(so_far.n)).min(rule.cap);
        if until <= made {
            return;
        }
        extend(comparison, until);
        widest = Ranking::new(comparison, measure).widest();
    }
}

/// Mean over the configurations, one value for each of `n` draws in which frames of all configurations are counted.
fn series(all: &[&[Replication]], n: u64, policy: usize, measure: Measure) -> Vec<f64> {
    let mean = |draw: u64| {
        let here = all.iter().map(|runs| {
            let at = runs.binary_search_by_key(&draw, |it| it.draw).ok()?;
            Some(measure.of(&runs[at].samples[policy]))
        });
        let here: Vec<f64> = here.collect::<Option<_>>()?;
        Some(Summary::of(here).mean)
    };
    (0..n).filter_map(mean).collect()
}

/// Number of draws in which frames of all configurations are counted.
fn n_counted(comparison: &Comparison, all: &[&[Replication]]) -> u64 {
    let is_counted =
        |draw: &u64| all.iter().all(|runs| runs.binary_search_by_key(draw, |it| it.draw).is_ok());
    (0..comparison.n_replications()).filter(is_counted).count() as u64
}

/// Mean over the replications of one configuration, one value for each policy.
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

/// Means over replications, then configurations, of all columns of samples of `subject`.
fn means_of_all(all: &[&[Replication]], policy: usize, subject: Subject) -> Vec<f64> {
    let mean = |at: usize| {
        let of_runs = |runs: &&[Replication]| {
            Summary::of(runs.iter().map(|it| it.samples[policy].values()[at])).mean
        };
        Summary::of(all.iter().map(of_runs)).mean
    };
    (0..subject.columns().len()).map(mean).collect()
}

/// Names of configurations that could run, in their order.
fn scenarios(comparison: &Comparison) -> Vec<Arc<str>> {
    distinct(comparison.feasible().map(|(it, _)| Arc::clone(&it.name)))
}

/// Replications of every configuration that could run, of one name or of all.
fn runs_of<'c>(comparison: &'c Comparison, scenario: Option<&str>) -> Vec<&'c [Replication]> {
    let here = comparison.feasible();
    let here = here.filter(|(it, _)| scenario.is_none_or(|name| *it.name == *name));
    here.map(|(_, runs)| runs).collect()
}

/// Means of the bounds; profiles have none.
fn mean_bounds(all: &[&[Replication]], subject: Subject) -> Option<ClassBounds> {
    if subject == Subject::Profiles {
        return None;
    }
    let [any, keeping] = Class::ALL.map(|class| {
        let mean = |of: fn(&Bounds) -> f64| {
            let bound = |it: &Replication| Some(of(it.bounds?.of(class)));
            let mean = |runs: &&[Replication]| Summary::of(runs.iter().filter_map(bound)).mean;
            Summary::of(all.iter().map(mean)).mean
        };
        Bounds {
            isolation: mean(|it| it.isolation),
            pooled_capacity: mean(|it| it.pooled_capacity),
            linear_program: mean(|it| it.linear_program),
        }
    });
    Some(ClassBounds::new(any, keeping))
}
