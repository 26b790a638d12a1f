//! All pairs of policies, and their ranks over the configurations.

use std::sync::Arc;

use xrsim_model::column::Better;
use xrsim_model::statistics::{Friedman, PairedDifference, holm};
use xrsim_sim::sweep::comparison::{Comparison, Replication};

use super::{Measure, means, runs_of, series};

/// Shares of runs, each from 0 to 1, that add up to 1. A pair of runs has the same configuration and replication, so
/// the same requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// The first policy is better.
    pub won: f64,
    /// Both are equal.
    pub tied: f64,
    /// The second policy is better.
    pub lost: f64,
}

impl Shares {
    pub(super) fn compute(
        all: &[&[Replication]],
        (first, second): (usize, usize),
        measure: Measure,
    ) -> Self {
        let (mut won, mut lost, mut n) = (0u64, 0u64, 0u64);
        let better = measure.column.better;
        for run in all.iter().copied().flatten() {
            let [a, b] = [first, second].map(|policy| measure.of(&run.samples[policy]));
            won += u64::from(better.prefers(a, b));
            lost += u64::from(better.prefers(b, a));
            n += 1;
        }
        let share = |count: u64| count as f64 / n.max(1) as f64;
        Self { won: share(won), tied: share(n - won - lost), lost: share(lost) }
    }
}

/// Two policies side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Label of the first policy.
    pub first: Arc<str>,
    /// Label of the second policy.
    pub second: Arc<str>,
    /// First minus second: mean over the configurations, replication by replication.
    pub difference: PairedDifference,
    /// Shares of runs from the view of the first policy.
    pub shares: Shares,
    /// p-value of the difference, adjusted by Holm for all pairs; `None` below two replications.
    pub p_value: Option<f64>,
}

/// All pairs of policies in one scenario, or in all, in the order given.
pub fn pairs(comparison: &Comparison, measure: Measure, scenario: Option<&str>) -> Vec<Pair> {
    let all = runs_of(comparison, scenario);
    let n_policies = comparison.policies().len();
    let series: Vec<Vec<f64>> = (0..n_policies)
        .map(|policy| series(&all, comparison.n_replications(), policy, measure))
        .collect();
    let label = |policy: usize| Arc::clone(comparison.policies()[policy].label());
    let pair = |(a, b): (usize, usize)| Pair {
        first: label(a),
        second: label(b),
        difference: PairedDifference::from_pairs(
            series[a].iter().copied().zip(series[b].iter().copied()),
        ),
        shares: Shares::compute(&all, (a, b), measure),
        p_value: None,
    };
    let indices = (0..n_policies).flat_map(|a| (a + 1..n_policies).map(move |b| (a, b)));
    let mut pairs: Vec<Pair> = indices.map(pair).collect();
    let p_values: Option<Vec<f64>> = pairs.iter().map(|pair| pair.difference.p_value()).collect();
    if let Some(p_values) = p_values {
        pairs.iter_mut().zip(holm(&p_values)).for_each(|(pair, p)| pair.p_value = Some(p));
    }
    pairs
}

/// Ranks of policies over blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// Labels of the policies, in the order given.
    pub policies: Vec<Arc<str>>,
    /// Their mean ranks, and the Friedman test.
    pub friedman: Friedman,
    /// Critical difference of the Nemenyi test at [`Ranks::ALPHA`].
    pub critical_difference: f64,
    /// Blocks: `configurations`, or `replications` if there is one configuration only.
    pub blocks: &'static str,
}

impl Ranks {
    /// Error of all pairs together.
    pub const ALPHA: f64 = 0.05;

    /// Ranks the policies in every configuration by the means over its replications, or in every replication of the
    /// only configuration. `None` below two policies or two blocks.
    ///
    /// The tests take the blocks for independent draws of all that there could be. Systems and scenarios of a benchmark
    /// are chosen, not drawn, so the result is one about this set.
    pub fn compute(comparison: &Comparison, measure: Measure) -> Option<Self> {
        let all = runs_of(comparison, None);
        let n_policies = comparison.policies().len();
        let sign = match measure.column.better {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        };
        let (values, blocks): (Vec<Vec<f64>>, _) = match &all[..] {
            [only] => {
                let of_run =
                    |run: &Replication| run.samples.iter().map(|it| measure.of(it)).collect();
                (only.iter().map(of_run).collect(), "replications")
            }
            all => (
                all.iter().map(|runs| means(runs, n_policies, measure)).collect(),
                "configurations",
            ),
        };
        let signed = |block: Vec<f64>| block.into_iter().map(|value| sign * value).collect();
        let friedman = Friedman::from_blocks(&values.into_iter().map(signed).collect::<Vec<_>>())?;
        let critical_difference = friedman.critical_difference(Self::ALPHA)?;
        let policies = comparison.policies().iter().map(|it| Arc::clone(it.label())).collect();
        Some(Self { policies, friedman, critical_difference, blocks })
    }

    /// Result of both tests in a line.
    pub(super) fn sentence(&self) -> String {
        let Friedman { n_blocks, chi_square, p_value, .. } = self.friedman;
        format!(
            "ranks over {n_blocks} {}: Friedman test, chi2 = {chi_square:.2}, p {};\n  Nemenyi test at 5 %: mean ranks differ \
             significantly from a difference of {:.3} on",
            self.blocks,
            super::p_value::p_relation(p_value),
            self.critical_difference,
        )
    }
}
