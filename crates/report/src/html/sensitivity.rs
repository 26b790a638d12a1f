//! Page of sensitivities, from the files of `xrsim sensitivity --out`.

use crate::words;

use super::article::{Article, Section};
use super::comparison::{Table, draw};
use super::joint::chart;
use super::sweep::facts;
use super::{ReadError, Source};

/// The files of sensitivities.
#[derive(Debug, Clone, Copy)]
pub struct SensitivityFiles<'a> {
    /// `sensitivity.json`.
    pub record: Source<'a>,
    /// `sensitivity.csv`.
    pub table: Source<'a>,
    /// `tornado.csv`, the data of the figure.
    pub chart: Source<'a>,
    /// The command that wrote the folder, if it is known.
    pub command: Option<&'a str>,
}

/// Columns of the table, with those of every number of PEs between.
const FIRST: [&str; 12] = [
    "factor",
    "base",
    "level",
    "low_level",
    "high_level",
    "change",
    "low",
    "high",
    "realtime_change",
    "energy_change",
    "qoe_change",
    "energy_ratio",
];

/// Page of sensitivities, and the number of their rows.
///
/// # Errors
///
/// The first place at which a file differs from those of `xrsim sensitivity --out`.
pub fn sensitivity_page(files: &SensitivityFiles<'_>) -> Result<(String, usize), ReadError> {
    let mut table = Table::read(files.table, &["factor"])?;
    let summary = summary(&table);
    for row in &mut table.rows {
        row[0] = words::named(&row[0]).0;
    }
    let mut section = Section::new(
        "levels",
        "Changes",
        "Change of the mean score: level minus base on equal draws; low and high are the ends of its 95 % interval. Changes \
         of real time, energy and quality of experience stand beside it. Tau: Kendall's rank correlation of the systems with \
         the base; best: the system of the highest mean score.",
    );
    let title = "Change of the mean score by setting; whiskers: 95 % intervals on equal draws";
    draw(&mut section, &chart(files.chart, title)?, files.chart)?;
    let of_sizes = |name: &&str| name.starts_with("tau_") || name.starts_with("best_");
    let of_sizes = table.header.iter().map(String::as_str).filter(of_sizes);
    let columns: Vec<_> = FIRST.into_iter().chain(of_sizes).chain(["reason"]).collect();
    section.add("Changes by setting", &table.pick(&columns, &table.rows));
    let article = Article {
        title: "Sensitivity of the score".into(),
        summary,
        command: files.command.map(String::from),
        sections: vec![section],
        facts: facts(files.record.text),
    };
    Ok((article.page(), table.rows.len()))
}

/// The largest change in a sentence.
fn summary(table: &Table) -> String {
    let place = |name: &str| table.place(name);
    let change = |row: &[String]| -> Option<f64> {
        let is_apart = place("told_apart").is_some_and(|at| row[at] == "true");
        row[place("change")?].parse().ok().filter(|it: &f64| is_apart && it.is_finite())
    };
    let changes = table.rows.iter().filter_map(|row| Some((change(row)?, row)));
    let largest = changes.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let Some((change, row)) = largest else {
        return "No setting changes the mean score by more than chance.".into();
    };
    let cell = |name: &str| place(name).map(|at| &*row[at]);
    let level = match (cell("level"), cell("low_level"), cell("high_level")) {
        (Some(level), ..) => format!(" at {level}"),
        (None, Some(low), Some(high)) => format!(" from {low} to {high}"),
        _ => String::new(),
    };
    let (name, unit) = words::named(&row[0]);
    format!("{name}{level} {unit} changes the mean score the most: {change:+.3}.")
        .replace("  ", " ")
}
