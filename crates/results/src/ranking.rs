//! Systems in the order of their scores, and which of them are told apart from the best.

use xrsim_model::statistics::{PairedDifference, Summary, holm};
use xrsim_sim::score::benchmark_score;

use super::score_rows::ScoreRow;

/// Chance of naming a best score that is not the best.
const SIGNIFICANCE: f64 = 0.05;

/// Scores by replication; `None` where one failed.
pub type Draws = Vec<Option<f64>>;

/// Number of PEs and name of a system.
pub type SystemKey<'a> = (u64, &'a str);

/// Rows sorted by scenario and system. Columns are the scenarios, and after them the mean over all.
pub struct Matrix<'a> {
    rows: &'a [ScoreRow],
    /// Names of the scenarios.
    pub scenarios: Vec<&'a str>,
    /// Systems by PEs.
    pub systems: Vec<SystemKey<'a>>,
}

impl<'a> Matrix<'a> {
    /// The systems and scenarios of these rows.
    pub fn new(rows: &'a [ScoreRow]) -> Self {
        let mut scenarios: Vec<&str> = Vec::new();
        let mut systems: Vec<SystemKey<'_>> = Vec::new();
        for row in rows {
            if !scenarios.contains(&&*row.scenario) {
                scenarios.push(&row.scenario);
            }
            if !systems.contains(&(row.pes, &row.system)) {
                systems.push((row.pes, &row.system));
            }
        }
        systems.sort_by_key(|&(pes, _)| pes);
        Self { rows, scenarios, systems }
    }

    /// Rows of a column: those of a scenario, or all.
    fn of_column(&self, column: usize) -> impl Iterator<Item = &'a ScoreRow> {
        let scenario = self.scenarios.get(column).copied();
        self.rows.iter().filter(move |row| scenario.is_none_or(|name| row.scenario == name))
    }

    /// Rows of a cell: one, or those of all scenarios.
    pub fn cell(&self, column: usize, (pes, system): SystemKey<'_>) -> Vec<&'a ScoreRow> {
        let here = |row: &&ScoreRow| row.pes == pes && row.system == system;
        self.of_column(column).filter(here).collect()
    }

    /// Whether a column has random scores.
    pub fn random(&self, column: usize) -> bool {
        self.of_column(column).any(|row| row.drawn.any())
    }

    /// Whether a column is random and drawn once.
    pub fn once(&self, column: usize) -> bool {
        self.random(column) && self.of_column(column).all(|row| row.draws.len() <= 1)
    }

    /// Scores of a cell by replication. The last column has the means over the scenarios where all of
    /// them have a score.
    pub fn draws(&self, column: usize, system: SystemKey<'_>) -> Option<Draws> {
        let rows = self.cell(column, system);
        let complete = match self.scenarios.get(column) {
            Some(_) => !rows.is_empty(),
            None => rows.len() == self.scenarios.len(),
        };
        if !complete || rows.iter().any(|row| row.is_infeasible()) {
            return None;
        }
        let n_of = |row: &&ScoreRow| row.draws.len();
        let random = rows.iter().copied().filter(|row| row.drawn.any());
        let n = random.map(|row| n_of(&row)).min().or_else(|| rows.iter().map(n_of).min())?;
        let mean = |replication: usize| {
            let scores = rows.iter().map(|row| row.draw(replication)).collect::<Option<Vec<_>>>();
            scores.map(|scores| benchmark_score(&scores))
        };
        let draws: Draws = (0..n).map(mean).collect();
        draws.iter().any(Option::is_some).then_some(draws)
    }
}

/// Several systems in the order of their scores, by their index.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The system with the highest mean, and those that equal it in every pair.
    pub best: Vec<usize>,
    /// Systems that do not differ significantly from the best, the highest mean first. If there are any,
    /// no system is known to be the best.
    pub open: Vec<usize>,
    /// Systems that do, the highest mean first, with their differences to the best.
    pub others: Vec<(usize, PairedDifference)>,
}

impl Standing {
    /// Ranks systems by their scores by replication, which may be `random`. A single random draw ranks
    /// none.
    ///
    /// The best has the highest mean. Others are told apart from it by t-tests of the paired differences,
    /// adjusted for their number. A pair is a replication in which both systems have a score.
    pub fn from_draws(draws: &[Option<Draws>], random: bool) -> Option<Self> {
        let scores = |index: usize| draws[index].iter().flatten().copied();
        let mean = |index: usize| Summary::of(scores(index).flatten()).mean;
        let mut present: Vec<_> = (0..draws.len()).filter(|&at| draws[at].is_some()).collect();
        present.sort_by(|&a, &b| mean(b).total_cmp(&mean(a)));
        let first = present.first().copied().filter(|&first| mean(first) > 0.0)?;
        if random && scores(first).flatten().count() < 2 {
            return None;
        }
        let difference = |index: usize| {
            let pairs = scores(index).zip(scores(first));
            PairedDifference::from_pairs(pairs.filter_map(|(a, b)| Some((a?, b?))))
        };
        let equal = |it: &PairedDifference| it.difference.n > 0 && it.wins == 0 && it.losses == 0;
        let (best, others): (Vec<usize>, Vec<usize>) =
            present.into_iter().partition(|&index| equal(&difference(index)));
        // Exact numbers differ or are equal; fewer than two random draws prove nothing.
        let untested = if random { 1.0 } else { 0.0 };
        let p_value = |&index: &usize| difference(index).p_value().unwrap_or(untested);
        let adjusted = holm(&others.iter().map(p_value).collect::<Vec<_>>());
        let (mut open, mut apart) = (Vec::new(), Vec::new());
        for (index, p) in others.into_iter().zip(adjusted) {
            match p >= SIGNIFICANCE {
                true => open.push(index),
                false => apart.push((index, difference(index))),
            }
        }
        Some(Self { best, open, others: apart })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(scores: &[f64]) -> Option<Draws> {
        Some(scores.iter().map(|score| score.is_finite().then_some(*score)).collect())
    }

    /// Best, open and other systems.
    fn standing(
        draws: &[Option<Draws>],
        random: bool,
    ) -> Option<(Vec<usize>, Vec<usize>, Vec<usize>)> {
        let Standing { best, open, others } = Standing::from_draws(draws, random)?;
        Some((best, open, others.into_iter().map(|(index, _)| index).collect()))
    }

    /// In every replication but the failed one A is better by 0.1 to 0.12. Pairs by position would
    /// make B better.
    #[test]
    fn replications_are_paired_by_number_where_one_failed() {
        let failed = f64::NAN;
        let a = drawn(&[0.9, failed, 0.31, 0.62, 0.91, 0.3]);
        let b = drawn(&[0.8, 0.9, 0.2, 0.5, 0.8, 0.2]);
        assert_eq!(standing(&[a, b], true), Some((vec![0], vec![], vec![1])));
    }

    #[test]
    fn systems_without_two_common_draws_are_not_told_apart() {
        let failed = f64::NAN;
        let a = drawn(&[0.9, 0.8, failed, failed]);
        let b = drawn(&[failed, failed, 0.2, 0.1]);
        assert_eq!(standing(&[a.clone(), b], true), Some((vec![0], vec![1], vec![])));
        assert_eq!(standing(&[None, a], true), Some((vec![1], vec![], vec![])));
        let [a, b] = [drawn(&[0.9]), drawn(&[0.8])];
        assert_eq!(standing(&[a.clone(), b.clone()], true), None);
        assert_eq!(standing(&[b, a], false), Some((vec![1], vec![], vec![0])));
    }

    #[test]
    fn systems_that_equal_the_best_share_its_place() {
        let [a, b] = [drawn(&[0.9, 0.8]), drawn(&[0.0, 0.0])];
        assert_eq!(standing(&[a.clone(), b.clone(), a], true), Some((vec![0, 2], vec![], vec![1])));
        assert_eq!(standing(&[b], true), None, "zeros rank nothing");
    }
}
