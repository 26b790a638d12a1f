//! Sensitivity of scores and rankings to the settings of runs (docs/explanation/sensitivity.md).
//!
//! All numbers come from runs on equal draws: replication `r` of every configuration has the same random
//! numbers under every setting, so that their effects cancel out of the differences.

mod figure;
mod joint;
mod output;
mod screening;
mod table;

use std::collections::BTreeSet;

use xrsim_model::statistics::{Fraction, PairedDifference, Summary, kendall_tau};
use xrsim_sim::score::Score;

pub use figure::{level_chart, screening_chart};
pub use joint::{
    Decisive, Joined, JointConstant, JointDraw, JointStanding, joint_chart, joint_csv,
    joint_draws_csv, joint_json, joint_table,
};
pub use output::{levels_csv, levels_json, screening_csv, screening_json};
pub use screening::{MainEffect, Screened};
pub use table::{levels_table, screening_table};

/// A scenario on a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Scenario.
    pub scenario: String,
    /// System.
    pub system: String,
    /// PEs of the system.
    pub pes: u64,
}

/// Scores of configurations under one setting.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// The configurations, in the order of the runs.
    pub configurations: Vec<Configuration>,
    /// Scores `[configuration][replication]`; `None` where a run has none.
    pub totals: Vec<Vec<Option<Score>>>,
    /// Configurations and replications in which no frame is counted.
    pub uncounted: Vec<(usize, usize)>,
    /// Reason of the first run without a score.
    pub reason: Option<String>,
}

/// Name of a part of a score, and its value.
type Part = (&'static str, fn(&Score) -> f64);

/// Unit scores whose means stand beside that of the score.
pub(crate) const PARTS: [Part; 3] = [
    ("realtime", |score| score.realtime),
    ("energy", |score| score.energy),
    ("qoe", |score| score.qoe),
];

impl Scores {
    /// Replications in which no frame is counted of a configuration that has scores in others.
    fn uncounted(&self) -> impl Iterator<Item = usize> {
        let has_scores = |at: usize| self.totals[at].iter().any(Option::is_some);
        self.uncounted.iter().filter(move |(at, _)| has_scores(*at)).map(|(_, draw)| *draw)
    }

    /// The scores without those of `replications`.
    fn without(&self, replications: &BTreeSet<usize>) -> Self {
        let counts = |all: &Vec<Option<Score>>| {
            let each = all.iter().enumerate().filter(|(draw, _)| !replications.contains(draw));
            each.map(|(_, score)| *score).collect()
        };
        Self { totals: self.totals.iter().map(counts).collect(), ..self.clone() }
    }

    /// Whether every replication of a configuration has a score.
    fn is_whole(&self, configuration: usize) -> bool {
        self.totals.get(configuration).is_some_and(|all| all.iter().all(Option::is_some))
    }

    /// Mean of `value` over `configurations` in every replication.
    fn per_replication(&self, configurations: &[usize], value: fn(&Score) -> f64) -> Vec<f64> {
        let n_replications = self.totals.first().map_or(0, Vec::len);
        let mean = |replication: usize| {
            let scores = configurations.iter().filter_map(|&at| self.totals[at][replication]);
            scores.map(|score| value(&score)).sum::<f64>() / configurations.len().max(1) as f64
        };
        (0..n_replications).map(mean).collect()
    }

    /// Scores of `configurations`, all replications.
    fn all<'a>(&'a self, configurations: &'a [usize]) -> impl Iterator<Item = &'a Score> {
        configurations.iter().flat_map(|&at| &self.totals[at]).flatten()
    }

    /// Mean over configurations and replications.
    fn mean(&self, configurations: &[usize], value: fn(&Score) -> f64) -> f64 {
        Summary::of(self.per_replication(configurations, value)).mean
    }

    /// Numbers of PEs, in order of first use.
    fn sizes(&self) -> Vec<u64> {
        let mut sizes = Vec::new();
        for configuration in &self.configurations {
            if !sizes.contains(&configuration.pes) {
                sizes.push(configuration.pes);
            }
        }
        sizes
    }

    /// Mean score of every system of `pes` PEs over `configurations`, in order of first use. `names` has the
    /// systems by configuration.
    fn systems<'n>(
        &self,
        names: &'n [Configuration],
        configurations: &[usize],
        pes: u64,
    ) -> Vec<(&'n str, f64)> {
        let mut systems: Vec<(&str, Vec<usize>)> = Vec::new();
        for &at in configurations.iter().filter(|&&at| names[at].pes == pes) {
            match systems.iter_mut().find(|(name, _)| *name == names[at].system) {
                Some((_, known)) => known.push(at),
                None => systems.push((&names[at].system, vec![at])),
            }
        }
        let mean = |(name, own): (_, Vec<usize>)| (name, self.mean(&own, |score| score.score));
        systems.into_iter().map(mean).collect()
    }
}

/// Ranking of the systems of one number of PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Number of PEs.
    pub pes: u64,
    /// Kendall's tau-b with the ranking of the base; `None` below two systems, or if all are equal.
    pub tau: Option<f64>,
    /// The system with the largest mean score, the first of equal ones.
    pub best: String,
}

/// Scores under one setting, and their change from those of the base.
#[derive(Debug, Clone)]
pub struct Effect {
    /// Mean score.
    pub score: f64,
    /// Setting minus base, over replications.
    pub change: Summary,
    /// Changes of the means of `PARTS`.
    pub parts: [f64; PARTS.len()],
    /// Energy of all executions over the number of executed requests \[mJ\].
    pub energy_mj: f64,
    /// The same over that of the base.
    pub energy_ratio: f64,
    /// Executed requests over all requests.
    pub executed: f64,
    /// One for each number of PEs.
    pub rankings: Vec<Ranking>,
    /// Configurations that have no score under the setting or under the base; they count nowhere.
    pub n_left_out: usize,
    /// Reason of the first of them.
    pub reason: Option<String>,
}

impl Effect {
    /// The effect of a setting with these `scores`, on the configurations that have a score under both, in the replications
    /// in which frames of all are counted. `None` if there are none, or if the configurations differ in number.
    pub fn from_scores(base: &Scores, scores: &Scores) -> Option<Self> {
        let uncounted: BTreeSet<usize> = base.uncounted().chain(scores.uncounted()).collect();
        if !uncounted.is_empty() {
            let [base, scores] =
                [base, scores].map(|it| Scores { uncounted: Vec::new(), ..it.without(&uncounted) });
            return Self::from_scores(&base, &scores);
        }
        let n = base.configurations.len();
        if scores.configurations.len() != n {
            return None;
        }
        let both: Vec<_> = (0..n).filter(|&at| base.is_whole(at) && scores.is_whole(at)).collect();
        if both.is_empty() {
            return None;
        }
        let score: fn(&Score) -> f64 = |score| score.score;
        let pairs = scores.per_replication(&both, score).into_iter();
        let pairs = pairs.zip(base.per_replication(&both, score));
        let energy_mj = energy_per_executed(scores, &both);
        let ranking = |pes| {
            let names = &base.configurations;
            let [before, after] = [base, scores].map(|it| it.systems(names, &both, pes));
            let values = before.iter().zip(&after).map(|(before, after)| (before.1, after.1));
            Ranking { pes, tau: kendall_tau(values), best: best(&after).into() }
        };
        Some(Self {
            score: scores.mean(&both, score),
            change: PairedDifference::from_pairs(pairs).difference,
            parts: PARTS.map(|(_, part)| scores.mean(&both, part) - base.mean(&both, part)),
            energy_mj,
            energy_ratio: energy_mj / energy_per_executed(base, &both),
            executed: executed(scores, &both),
            rankings: base.sizes().into_iter().map(ranking).collect(),
            n_left_out: n - both.len(),
            reason: scores.reason.clone().or_else(|| base.reason.clone()),
        })
    }
}

/// Changes below this are rounding errors of means.
const ROUNDING: f64 = 1e-12;

/// Whether the mean of paired differences is told apart from 0 ([`Summary::is_told_apart`]). A single difference is.
pub(crate) fn is_told_apart(change: &Summary) -> bool {
    change.mean.abs() > ROUNDING && change.is_told_apart()
}

/// A paired difference in words: `+0.012 +- 0.003`, `none` if nothing changed, or `no change (+- 0.004)` if
/// the difference is not told apart from 0. Too few draws have no interval.
pub(crate) fn change_text(change: &Summary) -> String {
    let small = |value: f64| value.abs() < 0.0005;
    let mean = match small(change.mean) {
        true if change.mean < 0.0 => "-<0.001".into(),
        true => "+<0.001".into(),
        false => format!("{:+.3}", change.mean),
    };
    let half = change.half_width(Fraction::P95).filter(|half| *half > ROUNDING);
    let half_text = |half| if small(half) { "<0.001".into() } else { format!("{half:.3}") };
    match half {
        None if change.mean.abs() <= ROUNDING && change.n_others == 0 => "none".into(),
        None if !is_told_apart(change) => "no change".into(),
        None => mean,
        Some(half) if !is_told_apart(change) => format!("no change (+- {})", half_text(half)),
        Some(half) => format!("{mean} +- {}", half_text(half)),
    }
}

fn energy_per_executed(scores: &Scores, configurations: &[usize]) -> f64 {
    let (energy, executed) = scores.all(configurations).fold((0.0, 0), |(energy, n), score| {
        (energy + score.counts.energy.get(), n + score.counts.executed)
    });
    energy / executed.max(1) as f64
}

fn executed(scores: &Scores, configurations: &[usize]) -> f64 {
    let (executed, asked) = scores.all(configurations).fold((0, 0), |(executed, asked), score| {
        (executed + score.counts.executed, asked + score.counts.requests)
    });
    executed as f64 / asked.max(1) as f64
}

/// Name with the largest value, the first of equal ones.
fn best<'a>(systems: &[(&'a str, f64)]) -> &'a str {
    systems.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |(name, _)| name)
}

/// Results of one factor.
#[derive(Debug, Clone)]
pub struct FactorEffect {
    /// Key.
    pub key: &'static str,
    /// Unit of its values; empty if they have none.
    pub unit: &'static str,
    /// Value of the base.
    pub base: String,
    /// Every level with its effect, or with the reason that it has none.
    pub levels: Vec<(String, Result<Effect, String>)>,
}

impl FactorEffect {
    /// Largest change of the score, without sign, of any level.
    fn size(&self) -> f64 {
        let sizes = self.levels.iter().filter_map(|(_, effect)| effect.as_ref().ok());
        sizes.map(|effect| effect.change.mean.abs()).fold(0.0, f64::max)
    }
}

/// Sensitivity to one factor at a time.
#[derive(Debug, Clone)]
pub struct Levels {
    /// The base against itself: means, and the ranking.
    pub base: Effect,
    /// Number of configurations of the base.
    pub n_configurations: usize,
    /// Number of replications.
    pub n_replications: u64,
    /// Factors, that with the largest change of the score first.
    pub factors: Vec<FactorEffect>,
    /// Factors that were left out, with the reason.
    pub skipped: Vec<(&'static str, String)>,
}

impl Levels {
    /// Sorts the factors by their effect, the largest first, equal ones in the order given.
    pub fn sort(&mut self) {
        self.factors.sort_by(|a, b| b.size().total_cmp(&a.size()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::units::Millijoules;

    /// Scores of systems A, B, C of 64 PEs in one scenario: `values[system][replication]`.
    fn scores(values: [[f64; 2]; 3]) -> Scores {
        let configuration =
            |system: &str| Configuration { scenario: "S".into(), system: system.into(), pes: 64 };
        let total = |score: f64| {
            let mut total = Score::default();
            (total.score, total.realtime) = (score, 2.0 * score);
            (total.counts.requests, total.counts.executed) = (4, 2);
            total.counts.energy = Millijoules::new(10.0 * score);
            Some(total)
        };
        Scores {
            configurations: ["A", "B", "C"].map(configuration).to_vec(),
            totals: values.map(|own| own.map(total).to_vec()).to_vec(),
            uncounted: Vec::new(),
            reason: None,
        }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    /// Means of the systems are 0.2, 0.4, 0.6 before and 0.5, 0.4, 0.6 after: of three pairs, that of A and B
    /// changes its order, tau = (2 - 1) / 3. Means of the replications are 0.4 and 0.4 before, 0.45 and 0.55
    /// after: differences 0.05 and 0.15, mean 0.1, standard deviation 0.1 / sqrt 2.
    #[test]
    fn changes_ranks_and_energies_are_those_of_a_case_by_hand() {
        let base = scores([[0.1, 0.3], [0.4, 0.4], [0.7, 0.5]]);
        let after = scores([[0.45, 0.55], [0.3, 0.5], [0.6, 0.6]]);
        let effect = Effect::from_scores(&base, &after).expect("all have scores");
        close(effect.score, 0.5);
        close(effect.change.mean, 0.1);
        close(effect.change.sd, 0.1 / 2f64.sqrt());
        close(effect.parts[0], 0.2);
        // 10 mJ times 3.0 for 12 executed requests, against 10 times 2.4.
        close(effect.energy_mj, 30.0 / 12.0);
        close(effect.energy_ratio, 1.25);
        close(effect.executed, 0.5);
        let [ranking] = &effect.rankings[..] else { panic!("one number of PEs") };
        close(ranking.tau.expect("three systems"), 1.0 / 3.0);
        assert_eq!(ranking.best, "C");
        // t(1, 0.975) = 12.706: the test has half a width of 12.706 x 0.05 = 0.635.
        assert!(!is_told_apart(&effect.change));
        assert_eq!(change_text(&effect.change), "no change");
    }

    #[test]
    fn equal_scores_have_no_effect_and_the_same_ranking() {
        let base = scores([[0.1, 0.3], [0.4, 0.4], [0.7, 0.5]]);
        let effect = Effect::from_scores(&base, &base).expect("all have scores");
        assert_eq!((effect.change.mean, effect.change.sd, effect.parts), (0.0, 0.0, [0.0; 3]));
        assert_eq!((effect.energy_ratio, effect.rankings[0].tau), (1.0, Some(1.0)));
        assert_eq!(change_text(&effect.change), "none");
    }

    #[test]
    fn a_configuration_without_a_score_counts_nowhere() {
        let base = scores([[0.1, 0.3], [0.4, 0.4], [0.7, 0.5]]);
        let mut after = base.clone();
        after.totals[2][1] = None;
        after.reason = Some("too large".into());
        let effect = Effect::from_scores(&base, &after).expect("two have scores");
        assert_eq!((effect.n_left_out, effect.change.mean), (1, 0.0));
        assert_eq!(effect.rankings[0].best, "B");
        after.totals = vec![vec![None; 2]; 3];
        assert!(Effect::from_scores(&base, &after).is_none());
    }

    /// In replication 0 no frame of C is counted after the change, so that the change is that of replication 1: from 0.4 to
    /// 0.55 in the mean. A configuration that has no score at all takes no replication from the others.
    #[test]
    fn a_replication_without_counted_frames_counts_for_no_configuration() {
        let base = scores([[0.1, 0.3], [0.4, 0.4], [0.7, 0.5]]);
        let mut after = scores([[0.45, 0.55], [0.3, 0.5], [0.6, 0.6]]);
        after.totals[2][0] = None;
        after.uncounted = vec![(2, 0)];
        let effect = Effect::from_scores(&base, &after).expect("one replication counts");
        close(effect.change.mean, 0.15);
        assert_eq!((effect.change.n, effect.n_left_out), (1, 0));
        after.totals[2][1] = None;
        after.uncounted.push((2, 1));
        let effect = Effect::from_scores(&base, &after).expect("two have scores");
        assert_eq!((effect.change.n, effect.n_left_out), (2, 1));
    }

    #[test]
    fn changes_are_told_apart_by_their_interval() {
        let text = |values: &[f64]| change_text(&Summary::of(values.iter().copied()));
        assert_eq!(text(&[0.1, 0.1]), "+0.100");
        assert_eq!(text(&[-0.25]), "-0.250");
        assert_eq!(text(&[-1e-5, -1e-5]), "-<0.001");
        assert_eq!(text(&[0.1, 0.100_001, 0.1]), "+0.100");
        let drawn =
            |offset: f64| (0..30).map(|at| offset + 0.001 * f64::from(at)).collect::<Vec<_>>();
        assert_eq!(text(&drawn(0.1)), "+0.115 +- 0.003");
        assert_eq!(text(&drawn(-0.0145)), "no change (+- 0.003)");
    }
}
