//! A comparison for people: tables for a terminal and for LaTeX. Columns have the names of the CSV files.

use std::iter::once;

use crate::latex::{Grid, tabular};
use crate::table::{Style, new_table, render, with_half_width};
use xrsim_model::statistics::PairedDifference;
use xrsim_model::text::counted;
use xrsim_sim::bounds::Bounds;

use super::p_value::p_text;
use super::{Pair, Ranking, Ranks, Standing};

/// The tables of a comparison.
pub struct Tables<'r> {
    overall: &'r Ranking,
    by_scenario: &'r [Ranking],
    ranks: Option<&'r Ranks>,
    /// Pairs of all scenarios together, and of each; with the name of the scenario.
    pairs: &'r [(String, Vec<Pair>)],
}

/// Tables of the rankings of all scenarios together and of each, and of pairs.
pub fn tables<'r>(
    overall: &'r Ranking,
    by_scenario: &'r [Ranking],
    ranks: Option<&'r Ranks>,
    pairs: &'r [(String, Vec<Pair>)],
) -> Tables<'r> {
    Tables { overall, by_scenario, ranks, pairs }
}

impl Tables<'_> {
    /// The tables for a terminal, with an explanation of every column.
    pub fn text(&self, style: Style) -> String {
        let mut text = shown(&self.policies(style), style) + &self.legend();
        if !self.by_scenario.is_empty() {
            let grid = self.scenarios(style);
            text +=
                &format!("\nevery scenario by itself; {}\n", corrected(self.n_tests(), "scenario"));
            text += &shown(&grid, style);
        }
        if !self.pairs.is_empty() {
            text += &format!("\nall pairs, first minus second; {}\n", self.pair_notes().join("\n"));
            text += &shown(&self.pair_grid(style), style);
        }
        text + &counts(self.overall) + "\n"
    }

    /// The tables for LaTeX, each with its name: `policies`, `scenarios` if there are several, and `pairs` if there are
    /// any.
    pub fn latex(&self) -> Vec<(&'static str, String)> {
        let notes = [self.legend(), counts(self.overall)];
        let mut tables = vec![("policies", tabular(&self.policies(Style::Plain), &notes))];
        if !self.by_scenario.is_empty() {
            let notes = [corrected(self.n_tests(), "scenario")];
            tables.push(("scenarios", tabular(&self.scenarios(Style::Plain), &notes)));
        }
        if !self.pairs.is_empty() {
            tables.push(("pairs", tabular(&self.pair_grid(Style::Plain), &self.pair_notes())));
        }
        tables
    }

    fn n_tests(&self) -> usize {
        self.overall.standings.len().saturating_sub(1)
    }

    fn measure(&self) -> &'static str {
        self.overall.measure.name()
    }

    fn policies(&self, style: Style) -> Grid {
        let mut header = vec!["scheduler"];
        header.extend(compared(self.measure()));
        header.extend(["miss_ratio", "energy_mj", "gap_to_bound"]);
        let row = |it: &Standing| {
            let rest =
                [format!("{:.4}", it.miss_ratio), format!("{:.1}", it.energy_mj), percent(it.gap)];
            once(it.policy.to_string()).chain(compared_cells(it, style)).chain(rest).collect()
        };
        grid(&header, 1, self.overall.standings.iter().map(row).collect())
    }

    fn scenarios(&self, style: Style) -> Grid {
        let mut header = vec!["scenario", "scheduler"];
        header.extend(compared(self.measure()));
        let of = |ranking: &Ranking| {
            let scenario = ranking.scenario.as_deref().unwrap_or_default().to_string();
            let row = move |it: &Standing| {
                let names = [scenario.clone(), it.policy.to_string()];
                names.into_iter().chain(compared_cells(it, style)).collect()
            };
            ranking.standings.iter().map(row).collect::<Vec<_>>()
        };
        grid(&header, 2, self.by_scenario.iter().flat_map(of).collect())
    }

    fn pair_grid(&self, style: Style) -> Grid {
        let header =
            ["scenario", "first", "second", "difference", "d_z", "p_holm", "won", "tied", "lost"];
        let of = |(scenario, pairs): &(String, Vec<Pair>)| {
            let row = |it: &Pair| {
                let mut row = vec![scenario.clone(), it.first.to_string(), it.second.to_string()];
                row.extend(difference_cells(Some(&it.difference), it.p_value, style));
                row.extend([it.shares.won, it.shares.tied, it.shares.lost].map(percent));
                row
            };
            pairs.iter().map(row).collect::<Vec<_>>()
        };
        grid(&header, 3, self.pairs.iter().flat_map(of).collect())
    }

    fn pair_notes(&self) -> Vec<String> {
        let n = self.pairs.first().map_or(0, |(_, pairs)| pairs.len());
        vec![
            corrected(n, if self.pairs.len() > 1 { "scenario" } else { "comparison" }),
            "won, tied, lost: shares of runs in which the first is better, equal or worse on the same requests"
                .into(),
        ]
    }

    /// Explanation of the columns, the bounds and the ranks.
    fn legend(&self) -> String {
        let Ranking { measure, bounds, bound: (tightest, _), best_of_each, .. } = self.overall;
        let values = Bounds::COLUMNS.iter().map(|column| column.of(bounds).unwrap_or_default());
        let bound = xrsim_sim::bounds::Bound::ALL.iter().zip(values);
        let bound =
            bound.map(|(it, value)| format!("  {} {value:.4}: {}", it.name(), it.meaning()));
        let ranks = self.ranks.map_or_else(String::new, |ranks| ranks.sentence() + "\n");
        format!(
            "{}\n\
             +-: half of the 95 % confidence interval over replications; difference: to the best scheduler\n\
             d_z: effect size, the mean of the paired differences over their standard deviation (Cohen)\n\
             {}\n\
             wins, ties: configurations in which the scheduler is the best alone, and together with others\n\
             gap_to_bound: share of {} that score_executed_mean misses\n\
             upper bounds of score_executed_mean, which no scheduler exceeds; means over configurations:\n{}\n\
             {ranks}best scheduler of every configuration: {best_of_each:.4}\n",
            measure.meaning(),
            corrected(self.n_tests(), "comparison"),
            tightest.name(),
            bound.collect::<Vec<_>>().join("\n"),
        )
    }
}

/// Names of the columns of a policy beside the best one.
fn compared(measure: &str) -> [&str; 6] {
    [measure, "difference", "d_z", "p_holm", "wins", "ties"]
}

/// The test and its correction.
fn corrected(n_tests: usize, of: &str) -> String {
    format!(
        "p_holm: paired t-test, corrected by Holm for the {} of a {of}",
        counted(n_tests, "test")
    )
}

fn compared_cells(standing: &Standing, style: Style) -> impl Iterator<Item = String> {
    let difference =
        difference_cells(standing.difference.as_ref(), standing.p_value, style).into_iter();
    once(with_half_width(&standing.measure, 4, style))
        .chain(difference)
        .chain([standing.wins.to_string(), standing.ties.to_string()])
}

/// Difference, effect size and p-value.
fn difference_cells(
    difference: Option<&PairedDifference>,
    p_value: Option<f64>,
    style: Style,
) -> [String; 3] {
    let dash = || "-".to_string();
    let effect = difference.and_then(PairedDifference::effect_size);
    [
        difference.map_or_else(dash, |it| with_half_width(&it.difference, 4, style)),
        effect.map_or_else(dash, effect_text),
        p_value.map_or_else(dash, p_text),
    ]
}

fn grid(header: &[&str], text_columns: usize, rows: Vec<Vec<String>>) -> Grid {
    Grid { header: header.iter().map(|name| (*name).to_string()).collect(), text_columns, rows }
}

fn shown(grid: &Grid, style: Style) -> String {
    let header: Vec<_> = grid.header.iter().map(String::as_str).collect();
    let mut table = new_table(style, &header, grid.text_columns);
    for row in &grid.rows {
        table.add_row(row);
    }
    render(&table)
}

/// Numbers of configurations and replications; a single random draw is named.
fn counts(ranking: &Ranking) -> String {
    let Ranking { n_configurations, n_replications, drawn, .. } = ranking;
    let text = format!(
        "{}, {}",
        counted(*n_configurations, "configuration"),
        counted(*n_replications as usize, "replication"),
    );
    match drawn.any() && *n_replications == 1 {
        true => format!("{text}: one draw of {}, without intervals", drawn.names().join(", ")),
        false => text,
    }
}

/// A share in percent; a value that rounds to zero has no sign.
fn percent(share: f64) -> String {
    let tenths = (1000.0 * share).round() + 0.0;
    format!("{:.1} %", tenths / 10.0)
}

/// An effect size with two decimals, or as a whole number from 100 on.
fn effect_text(effect: f64) -> String {
    if effect.abs() < 100.0 { format!("{:.2}", effect + 0.0) } else { format!("{effect:.0}") }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_share_that_rounds_to_zero_has_no_sign() {
        assert_eq!(percent(-1e-9), "0.0 %");
        assert_eq!(percent(-0.0006), "-0.1 %");
        assert_eq!(percent(0.1734), "17.3 %");
    }
}
