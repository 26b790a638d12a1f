//! Means of every design in every scenario, with intervals.

use std::collections::HashMap;

use xrsim_model::column::Kind;
use xrsim_model::statistics::{Fraction, Summary};
use xrsim_model::text::{cell, in_line};
use xrsim_sim::sweep::day::DayMetrics;

use super::measure::{OF_PROFILE, kind};
use super::{PointTable, PointsError, REASON};
use crate::table::{Rows, Style, interval_meaning, with_half_width};

/// Reason why a row has no result; empty if it has one.
fn reason_of(table: &PointTable, row: usize) -> &str {
    table.reasons.as_ref().map_or("", |reasons| reasons.at(row))
}

/// Means of columns over the draws of every design in every scenario.
pub struct Means<'t> {
    table: &'t PointTable,
    columns: Vec<&'t str>,
    /// For each design and scenario that has rows: the first one without a result, or its first row, and the draws of every
    /// column; `None` if one of them has no number.
    groups: Vec<(usize, Vec<Option<Summary>>)>,
}

impl<'t> Means<'t> {
    /// The means of `columns`; without any, of hours, scores, misses, power and temperature of profiles, or of score and
    /// energy of scenarios.
    ///
    /// # Errors
    ///
    /// A column that is missing, or that has no numbers.
    pub fn of(table: &'t PointTable, columns: &[&'t str]) -> Result<Self, PointsError> {
        let columns = match columns {
            [] if table.has(OF_PROFILE) => {
                let all = ["hours", "score", OF_PROFILE, "missed_share", "mean_w", "outside_c"];
                let is_shown = |it: &&str| DayMetrics::is_of(it, None) || table.is_measured(it);
                all.into_iter().filter(is_shown).collect()
            }
            [] => vec![table.score(), table.energy()],
            given => given.to_vec(),
        };
        let values = columns.iter().map(|column| table.numbers(column));
        let values: Vec<Vec<f64>> = values.collect::<Result<_, _>>()?;
        let scenario = table.scenario();
        let mut rows: Vec<Vec<usize>> =
            vec![Vec::new(); table.designs.len() * scenario.values.len()];
        for (row, design) in table.design_of.iter().enumerate() {
            let place = scenario.of_row[row] as usize * table.designs.len() + design;
            rows[place].push(row);
        }
        let group = |rows: Vec<usize>| {
            let summary = |values: &Vec<f64>| {
                let own = rows.iter().map(|&row| values[row]);
                own.clone().all(f64::is_finite).then(|| Summary::of(own))
            };
            let failed = rows.iter().find(|&&row| !reason_of(table, row).is_empty());
            Some((*failed.or(rows.first())?, values.iter().map(summary).collect()))
        };
        Ok(Self { table, columns, groups: rows.into_iter().filter_map(group).collect() })
    }

    /// Number of columns of text, which come first.
    pub fn n_text(&self) -> usize {
        1 + self.table.design_settings().count()
    }

    /// Header and rows, each of the scenario and the settings in which designs differ, then `cells` of every column, then
    /// under `last` the text for the reason of rows without results, if there are any.
    fn rows_with(
        &self,
        names: impl Fn(&str) -> Vec<String>,
        cells: impl Fn(&str, Option<&Summary>) -> Vec<String>,
        last: &str,
        text: impl Fn(&str) -> String,
    ) -> Rows {
        let settings: Vec<_> = self.table.design_settings().collect();
        let has_reasons = self.reasons().next().is_some();
        let scenario = self.table.scenario();
        let own = settings.iter().map(|it| it.name.clone());
        let header = [scenario.name.clone()].into_iter().chain(own);
        let header = header.chain(self.columns.iter().flat_map(|it| names(it)));
        let row = |(first, summaries): &(usize, Vec<Option<Summary>>)| {
            let own = settings.iter().map(|it| it.at(*first).to_string());
            let columns = self.columns.iter().zip(summaries);
            let cells = columns.flat_map(|(column, it)| cells(column, it.as_ref()));
            let row = [scenario.at(*first).to_string()].into_iter().chain(own).chain(cells);
            row.chain(has_reasons.then(|| text(reason_of(self.table, *first)))).collect()
        };
        let header = header.chain(has_reasons.then(|| last.to_string()));
        (header.collect(), self.groups.iter().map(row).collect())
    }

    /// The reasons of rows without results, in the order of the rows.
    fn reasons(&self) -> impl Iterator<Item = &str> {
        let reasons = self.groups.iter().map(|(row, _)| reason_of(self.table, *row));
        reasons.filter(|reason| !reason.is_empty())
    }

    /// Rows for people, `0.982 +- 0.001`, and what stands below them: the reasons by the numbers in the column `note`, then
    /// the number of draws with the meaning of `+-`, a line each.
    pub fn shown(&self, style: Style) -> (Rows, String) {
        let shown = |column: &str, summary: Option<&Summary>| {
            let decimals = match kind(column) {
                Some(Kind::Overall | Kind::Score) => 4,
                _ => 3,
            };
            let text = |it: &Summary| with_half_width(it, decimals, style);
            vec![summary.map_or("-".into(), text)]
        };
        let mut numbers = HashMap::new();
        let mut notes = String::new();
        for reason in self.reasons() {
            let next = numbers.len() + 1;
            numbers.entry(reason).or_insert_with(|| {
                notes += &format!("{next}: {}\n", in_line(reason));
                next
            });
        }
        let number = |reason: &str| numbers.get(reason).map_or(String::new(), usize::to_string);
        let rows = self.rows_with(|column| vec![column.into()], shown, "note", number);
        (
            rows,
            format!(
                "{notes}{}{}; {}\n",
                self.table.number_of_draws(),
                self.table.stops(),
                self.meaning()
            ),
        )
    }

    /// Rows for programs: means, and half of their 95 % intervals in columns `COLUMN_half_width`.
    pub fn rows(&self) -> Rows {
        let number = |value: Option<f64>| value.map_or(String::new(), cell);
        self.rows_with(
            |column| vec![column.into(), format!("{column}_half_width")],
            |_, it| {
                vec![
                    number(it.map(|it| it.mean)),
                    number(it.and_then(|it| it.half_width(Fraction::P95))),
                ]
            },
            REASON,
            str::to_string,
        )
    }

    /// Meaning of `+-`.
    fn meaning(&self) -> String {
        let draws =
            self.groups.iter().flat_map(|(_, summaries)| summaries).flatten().map(|it| it.n);
        interval_meaning(draws.min().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOO_HOT: &str = "node `die` is hotter than 200 C";

    fn shown(rows: &str) -> (Rows, String) {
        let table = PointTable::read(rows.as_bytes(), &[]).expect("the rows can be read");
        Means::of(&table, &["score"]).expect("a score").shown(Style::Plain)
    }

    #[test]
    fn reasons_are_notes_below_the_table_and_a_column_of_the_file() {
        let text = format!(
            "scenario,system,score,reason\nX,A,,{TOO_HOT}\nX,B,0.5,\nX,C,,no layer fits\nY,A,,{TOO_HOT}\n"
        );
        let ((header, rows), notes) = shown(&text);
        assert_eq!(header, ["scenario", "system", "score", "note"]);
        let expected = [["X", "A", "-", "1"], ["X", "B", "0.5000", ""], ["X", "C", "-", "2"]];
        assert_eq!(rows[..3], expected);
        assert_eq!(rows[3], ["Y", "A", "-", "1"]);
        assert!(notes.starts_with(&format!("1: {TOO_HOT}\n2: no layer fits\none draw")), "{notes}");
        let table = PointTable::read(text.as_bytes(), &[]).expect("the rows can be read");
        let (header, rows) = Means::of(&table, &["score"]).expect("a score").rows();
        assert_eq!(header, ["scenario", "system", "score", "score_half_width", "reason"]);
        assert_eq!(rows[0], ["X", "A", "", "", TOO_HOT]);
    }

    #[test]
    fn intervals_are_spoken_of_once() {
        let ((header, _), note) = shown("scenario,system,score,reason\nX,A,0.2,\nX,B,0.5,\n");
        assert_eq!(header, ["scenario", "system", "score"]);
        assert!(note.starts_with("one draw of each run; no 95 % intervals below 25"), "{note}");
        assert_eq!(note.matches("intervals").count(), 1, "{note}");
    }
}
