//! Scores of runs for people: every run with its breakdown, or a matrix of scenarios and systems.
//!
//! A score of a single random draw is marked, and no best score is named among such scores.

use comfy_table::{Cell, Table};

use crate::column::{Column, Kind};
use crate::load::Drawn;
use crate::score::{Score, benchmark_score};
use crate::statistics::{PairedDifference, Summary, holm};

use super::score_rows::ScoreRow;
use super::table::{Style, emphasised, new_table, render, with_half_width};

/// Mark of a score of a single random draw.
const ONCE: char = '~';

/// Chance of naming a best score that is not the best.
const SIGNIFICANCE: f64 = 0.05;

impl ScoreRow {
    /// The scenario, marked if it is random and was run once.
    fn marked_scenario(&self) -> String {
        marked(&self.scenario, self.drawn.any() && self.draws.len() == 1)
    }
}

fn marked(name: &str, once: bool) -> String {
    if once { format!("{name}{ONCE}") } else { name.into() }
}

/// Columns that the table leaves out because of its width.
const LEFT_OUT: [&str; 2] = ["dropped", "not_triggered"];

/// Columns of the table, with their places in [`ScoreRow::means`].
fn shown() -> impl Iterator<Item = (usize, &'static Column<Score>)> {
    Score::columns().enumerate().filter(|(_, column)| !LEFT_OUT.contains(&column.name))
}

/// Scores of one run each, with their breakdown; `-` where there is none.
pub(crate) fn detail(rows: &[ScoreRow], seed: u64, style: Style) -> String {
    let mut header = vec!["scenario", "system", "PEs"];
    header.extend(shown().map(|(_, column)| column.heading));
    let mut table = new_table(style, &header, 2);
    for row in rows {
        let mut cells = vec![row.marked_scenario(), row.system.clone(), row.pes.to_string()];
        match &row.infeasible {
            Some(_) => cells.resize(header.len(), "-".into()),
            None => cells.extend(shown().map(|(at, column)| row.cell(at, column, style))),
        }
        table.add_row(cells);
    }
    render(&table) + &uncertainty(rows, seed)
}

impl ScoreRow {
    fn cell(&self, at: usize, column: &Column<Score>, style: Style) -> String {
        let mean = self.means[at];
        match column.kind {
            Kind::Overall => {
                with_half_width(&Summary::of(self.draws.iter().flatten().copied()), 3, style)
            }
            Kind::Score => format!("{mean:.3}"),
            Kind::Count | Kind::Quantity if mean.fract() == 0.0 => format!("{mean:.0}"),
            Kind::Count | Kind::Quantity => format!("{mean:.1}"),
        }
    }
}

/// Overall scores as a matrix: a row for each system, a column for each scenario, and the benchmark score
/// (Definition 16) last; means with the half-widths of their 95 % intervals where there are
/// replications.
///
/// For each number of PEs, the best system of a column is marked with `*` where nothing is random, or
/// where it differs significantly from all others in paired differences. Systems that do not differ
/// significantly from the best are marked with `?`.
pub(crate) fn matrix(rows: &[ScoreRow], seed: u64, style: Style) -> String {
    let matrix = Matrix::new(rows);
    let mut header = vec!["PEs".to_string(), "system".into()];
    let names = matrix.scenarios.iter().copied().chain(["XRBench score"]);
    header.extend(names.enumerate().map(|(column, name)| marked(name, matrix.once(column))));
    let header: Vec<_> = header.iter().map(String::as_str).collect();
    let mut table = new_table(style, &header, 2);
    let mut marks_used = Vec::new();
    for group in matrix.systems.chunk_by(|a, b| a.0 == b.0) {
        matrix.add_group(&mut table, group, style, &mut marks_used);
    }
    let mut text = render(&table);
    if marks_used.contains(&Mark::Best) {
        text.push_str("* best of its size. ");
    }
    if marks_used.contains(&Mark::Open) {
        text.push_str(
            "? not told apart from the best of its size (paired differences, t-test at 5 %, Holm). ",
        );
    }
    text.push_str("Breakdown: --detail, or fewer scenarios and systems.\n");
    text + &uncertainty(rows, seed)
}

/// Rows sorted into a matrix.
struct Matrix<'a> {
    rows: &'a [ScoreRow],
    scenarios: Vec<&'a str>,
    /// PEs and name, by PEs.
    systems: Vec<(u64, &'a str)>,
}

/// Scores by replication; `None` where one failed.
type Draws = Vec<Option<f64>>;

/// Mark of a cell beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    Best,
    Open,
}

impl Mark {
    fn sign(self) -> char {
        match self {
            Self::None => ' ',
            Self::Best => '*',
            Self::Open => '?',
        }
    }
}

impl<'a> Matrix<'a> {
    fn new(rows: &'a [ScoreRow]) -> Self {
        let mut scenarios: Vec<&str> = Vec::new();
        let mut systems: Vec<(u64, &str)> = Vec::new();
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

    fn random(&self, column: usize) -> bool {
        self.of_column(column).any(|row| row.drawn.any())
    }

    /// Whether a column is random and drawn once.
    fn once(&self, column: usize) -> bool {
        self.random(column) && self.of_column(column).all(|row| row.draws.len() <= 1)
    }

    /// Scores of a cell by replication. The last column has the means over the scenarios where all of
    /// them have a score.
    fn draws(&self, column: usize, (pes, system): (u64, &str)) -> Option<Draws> {
        let here = |row: &&ScoreRow| row.pes == pes && row.system == system;
        let rows: Vec<_> = self.of_column(column).filter(here).collect();
        let complete = match self.scenarios.get(column) {
            Some(_) => !rows.is_empty(),
            None => rows.len() == self.scenarios.len(),
        };
        if !complete || rows.iter().any(|row| row.infeasible.is_some()) {
            return None;
        }
        let n = rows.iter().map(|row| row.draws.len()).min()?;
        let mean = |replication: usize| {
            let scores = rows.iter().map(|row| row.draws[replication]).collect::<Option<Vec<_>>>();
            scores.map(|scores| benchmark_score(&scores))
        };
        let draws: Draws = (0..n).map(mean).collect();
        draws.iter().any(Option::is_some).then_some(draws)
    }

    /// Adds the systems of one size.
    fn add_group(
        &self,
        table: &mut Table,
        group: &[(u64, &str)],
        style: Style,
        marks_used: &mut Vec<Mark>,
    ) {
        let columns = (0..=self.scenarios.len()).map(|column| {
            let draws: Vec<_> = group.iter().map(|&system| self.draws(column, system)).collect();
            let marks = marks(&draws, self.random(column));
            (draws, marks)
        });
        let columns: Vec<_> = columns.collect();
        for (index, &(pes, system)) in group.iter().enumerate() {
            let shown = index == 0 || style == Style::Plain;
            let pes = if shown { pes.to_string() } else { String::new() };
            let mut cells = vec![Cell::new(pes), Cell::new(system)];
            for (draws, marks) in &columns {
                marks_used.push(marks[index]);
                cells.push(cell(draws[index].as_deref(), marks[index], style));
            }
            table.add_row(cells);
        }
    }
}

fn cell(draws: Option<&[Option<f64>]>, mark: Mark, style: Style) -> Cell {
    let Some(draws) = draws else { return Cell::new("-") };
    let score = with_half_width(&Summary::of(draws.iter().flatten().copied()), 3, style);
    let text = format!("{score}{}", mark.sign());
    if mark == Mark::Best { emphasised(&text, style) } else { Cell::new(text) }
}

/// Marks the best of several systems, each with its scores by replication.
///
/// The best is the system with the highest mean, if it differs from every other in t-tests of the
/// paired differences, adjusted for their number. A pair is a replication in which both systems have
/// a score. Systems that equal the best in every pair share its mark. If some system does not differ
/// significantly from it, there is no best, and both are open. A single random draw gives no marks.
fn marks(draws: &[Option<Draws>], random: bool) -> Vec<Mark> {
    let mut marks = vec![Mark::None; draws.len()];
    let scores = |index: usize| draws[index].iter().flatten().copied();
    let mean = |index: &usize| Summary::of(scores(*index).flatten()).mean;
    let present: Vec<usize> = (0..draws.len()).filter(|&index| draws[index].is_some()).collect();
    let best = present.iter().copied().rev().max_by(|a, b| mean(a).total_cmp(&mean(b)));
    let Some(best) = best.filter(|best| mean(best) > 0.0) else { return marks };
    if random && scores(best).flatten().count() < 2 {
        return marks;
    }
    let difference = |index: &usize| {
        PairedDifference::of(scores(best).zip(scores(*index)).filter_map(|(a, b)| Some((a?, b?))))
    };
    let equal = |it: &PairedDifference| it.difference.n > 0 && it.wins == 0 && it.losses == 0;
    let (same, others): (Vec<usize>, Vec<usize>) =
        present.into_iter().partition(|index| equal(&difference(index)));
    // Exact numbers differ or are equal; fewer than two random draws prove nothing.
    let untested = if random { 1.0 } else { 0.0 };
    let p_value = |index| difference(index).p_value().unwrap_or(untested);
    let adjusted = holm(&others.iter().map(p_value).collect::<Vec<_>>());
    let open = others.iter().zip(adjusted).filter(|(_, p)| *p >= SIGNIFICANCE);
    let open: Vec<usize> = open.map(|(index, _)| *index).collect();
    let mark = if open.is_empty() { Mark::Best } else { Mark::Open };
    same.into_iter().chain(open).for_each(|index| marks[index] = mark);
    marks
}

/// A line on the uncertainty of the numbers.
fn uncertainty(rows: &[ScoreRow], seed: u64) -> String {
    let drawn = rows.iter().map(|row| row.drawn).fold(Drawn::default(), Drawn::or);
    let n = rows.iter().map(|row| row.draws.len()).max().unwrap_or(0);
    let n_scores = rows.iter().map(|row| row.draws.iter().flatten().count());
    let fewest = n_scores.filter(|n_scores| *n_scores > 0).min().unwrap_or(n);
    let sources = drawn.names().join(", ");
    match (drawn.any(), n) {
        (_, 0) => String::new(),
        (false, _) => "nothing is random: exact, whatever the seed\n".into(),
        (true, 1) => format!(
            "{ONCE} one draw (seed {seed}) of what is random: {sources}. It names no best; \
             --replications 30 gives means and 95 % intervals.\n"
        ),
        (true, n) => format!(
            "means of {} draws (seed {seed}) of what is random: {sources}; +- is half of the 95 % \
             interval of a mean\n",
            if fewest < n { format!("{fewest} to {n}") } else { n.to_string() }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(scores: &[f64]) -> Option<Draws> {
        Some(scores.iter().map(|score| score.is_finite().then_some(*score)).collect())
    }

    /// In every replication but the failed one A is better by 0.1 to 0.12. Pairs by position would
    /// make B better.
    #[test]
    fn replications_are_paired_by_number_where_one_failed() {
        let failed = f64::NAN;
        let a = drawn(&[0.9, failed, 0.31, 0.62, 0.91, 0.3]);
        let b = drawn(&[0.8, 0.9, 0.2, 0.5, 0.8, 0.2]);
        assert_eq!(marks(&[a, b], true), [Mark::Best, Mark::None]);
    }

    #[test]
    fn systems_without_two_common_draws_are_not_told_apart() {
        let failed = f64::NAN;
        let a = drawn(&[0.9, 0.8, failed, failed]);
        let b = drawn(&[failed, failed, 0.2, 0.1]);
        assert_eq!(marks(&[a.clone(), b], true), [Mark::Open, Mark::Open]);
        assert_eq!(marks(&[a, None], true), [Mark::Best, Mark::None]);
        assert_eq!(marks(&[drawn(&[0.9]), drawn(&[0.8])], true), [Mark::None; 2]);
        assert_eq!(marks(&[drawn(&[0.9]), drawn(&[0.8])], false), [Mark::Best, Mark::None]);
    }
}
