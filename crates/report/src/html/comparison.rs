//! Page of a comparison of schedulers, from the files of `xrsim compare --out`. Figures are drawn here from their
//! data; pictures in the folder are not used.

use xrsim_figures::{Caption, CriticalDifference, DifferenceRow, Figure};
use xrsim_model::column::Column;
use xrsim_sim::sweep::comparison::Subject;

use crate::comparison::p_value::p_text;
use crate::comparison::{Measure, drawn};
use crate::table::{Grid, Rows, percent};
use crate::words;

use super::article::{Article, Section};
use super::provenance::Pair;
use super::sweep::facts;
use super::{ReadError, Source};

/// The files of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonFiles<'a> {
    /// `compare.json`.
    pub record: Source<'a>,
    /// `policies.csv`.
    pub policies: Source<'a>,
    /// `pairs.csv`.
    pub pairs: Source<'a>,
    /// `comparison.csv`, the data of the figure of differences.
    pub differences: Source<'a>,
    /// `critical_difference.csv`, the data of the diagram of ranks, which comparisons of one block have not.
    pub ranks: Option<Source<'a>>,
    /// The command that wrote the folder, if it is known.
    pub command: Option<&'a str>,
}

/// Page of a comparison, and the number of its schedulers.
///
/// # Errors
///
/// The first place at which a file differs from those of `xrsim compare --out`.
pub fn comparison_page(files: &ComparisonFiles<'_>) -> Result<(String, usize), ReadError> {
    let policies = Table::read(files.policies, &["scenario", "scheduler"])?;
    let pairs = Table::read(files.pairs, &["scenario", "first", "second"])?;
    let facts = facts(files.record.text);
    let (all, of_scenarios): (Vec<_>, Vec<_>) =
        policies.rows.iter().cloned().partition(|row| row[0] == ALL);
    let mut ranking = Section::new(
        "schedulers",
        "Schedulers",
        "All schedulers had the same requests (common random numbers). Differences are to the best scheduler. ± is half of \
         the 95 % interval of a mean. p (Holm): paired t-test, corrected by Holm. A p-value says that a difference is not \
         chance, and not that it is large.",
    );
    let subject = match policies.place("profile_score") {
        Some(_) => Subject::Profiles,
        None => Subject::Scenarios,
    };
    let measure = fact(&facts, "by").unwrap_or(subject.primary()).to_string();
    let known = Measure::of_subject(subject, &measure);
    let known = known.ok_or_else(|| {
        problem(files.record, 1, format!("`{measure}` is no column of comparisons"))
    })?;
    // The best scheduler is the first one of the table.
    let best = all.first().map_or("the best one", |row| &row[1]);
    let figure = drawn(best, known, differences(files.differences)?);
    draw(&mut ranking, &figure, files.differences)?;
    let compared = |first: &[&str], rows: &[Vec<String>], rest: &[&str]| {
        let columns = [first, &[&*measure, "difference", "d_z", "p_holm"], rest].concat();
        written(&policies, rows, &columns, &measure, subject)
    };
    let subject_columns = subject.columns();
    let of_profiles = subject_columns.iter().map(|it| it.name).filter(|it| *it != measure);
    let rest: Vec<&str> = match subject {
        Subject::Scenarios => {
            [&["wins", "ties"][..], &["miss_ratio", "energy_mj", "gap_to_bound"]].concat()
        }
        Subject::Profiles => ["wins", "ties"].into_iter().chain(of_profiles).collect(),
    };
    let what = if subject == Subject::Profiles { "profile" } else { "scenario" };
    let over_all = compared(&["scheduler"], &all, &rest);
    ranking.add_written(&format!("Schedulers over all {what}s"), over_all);
    let mut scenarios = Section::new("scenarios", "Scenarios", &format!("Every {what} by itself."));
    let grid = compared(&["scenario", "scheduler"], &of_scenarios, &["wins", "ties"]);
    scenarios.add_written(&format!("Schedulers in every {what}"), grid);
    let mut ranks = Section::new(
        "ranks",
        "Ranks",
        "Mean ranks; bars join schedulers that do not differ significantly (Nemenyi test at 5 %, Demsar 2006).",
    );
    if let Some(source) = files.ranks {
        let table = Table::read(source, &["name", "mean_rank", "groups"])?;
        draw(&mut ranks, &diagram(source, &table)?, source)?;
        ranks.add("Mean ranks", &(table.header, table.rows));
    }
    let mut all_pairs = Section::new(
        "pairs",
        "Pairs",
        "Differences are first minus second. p (Holm) is corrected for all pairs of a scenario. Won, tied, lost: shares of \
         runs in which the first is better, equal or worse on the same requests.",
    );
    let columns =
        ["scenario", "first", "second", "difference", "d_z", "p_holm", "won", "tied", "lost"];
    let grid = written(&pairs, &pairs.rows, &columns, &measure, subject);
    all_pairs.add_written("All pairs of schedulers", grid);
    let n_schedulers = all.len();
    let article = Article {
        title: "Comparison of schedulers".into(),
        summary: sentence(&policies, known),
        command: files.command.map(String::from),
        sections: vec![ranking, scenarios, ranks, all_pairs],
        facts,
    };
    Ok((article.page(), n_schedulers))
}

/// Name of all scenarios together.
const ALL: &str = "all";

/// Name of the row of the critical difference.
const CRITICAL: &str = "critical difference";

/// Most differences that the sentence names.
const MOST_NAMED: usize = 3;

/// The result in a sentence: what was compared, the best scheduler, and the schedulers that differ from the best of a
/// scenario.
fn sentence(policies: &Table, measure: Measure) -> String {
    let number = |row: &[String], name: &str| -> Option<f64> {
        row[policies.place(name)?].parse().ok().filter(|it: &f64| it.is_finite())
    };
    let mut overall = policies.rows.iter().filter(|row| row[0] == ALL);
    let Some(best) = overall.next() else { return "No scheduler could run.".into() };
    let name = match measure.subject() {
        Subject::Scenarios => words::in_text(measure.name()).to_lowercase(),
        Subject::Profiles => heading(Subject::Profiles, measure.name()).to_lowercase(),
    };
    let counts = ["configurations", "replications"]
        .map(|it| number(best, it).map_or(String::new(), |n| format!("{n} {it}")));
    let value = number(best, measure.name()).unwrap_or(0.0);
    let small = measure.small_difference(value);
    let others = || policies.rows.iter().filter(|row| row[0] != ALL);
    // A comparison of one scenario has rows of all scenarios only.
    let rows: Vec<_> = match others().next() {
        Some(_) => others().collect(),
        None => policies.rows.iter().collect(),
    };
    let mut large: Vec<_> = rows
        .into_iter()
        .filter_map(|row| Some((number(row, "difference")?, row)))
        .filter(|(difference, _)| difference.abs() > small)
        .collect();
    large.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let shown: Vec<_> = large
        .iter()
        .take(MOST_NAMED)
        .map(|(difference, row)| match &*row[0] {
            ALL => format!("{} ({difference:+.3})", row[1]),
            scenario => format!("{} in {scenario} ({difference:+.3})", row[1]),
        })
        .collect();
    let small = if small < 0.01 { format!("{small}") } else { format!("{small:.2}") };
    let more = match large.len() - shown.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    let result = match shown.is_empty() {
        true => format!("no scheduler differs from the best by more than {small}"),
        false => format!(
            "no scheduler differs from the best by more than {small} but {}{more}",
            shown.join(", ")
        ),
    };
    format!("{} has the best {name}, {value:.4}: {result}; {}.", best[1], counts.join(", "))
}

/// Heading of the column called `name` in a comparison on `subject`.
fn heading(subject: Subject, name: &str) -> String {
    let columns = if subject == Subject::Profiles { subject.columns() } else { Vec::new() };
    match columns.iter().find(|column| column.name == name) {
        Some(Column { label, unit: "", .. }) => (*label).into(),
        Some(Column { label, unit, .. }) => format!("{label} [{unit}]"),
        None => words::heading(name),
    }
}

/// A table with the columns called `names` of some rows: means with half of their intervals, and numbers with as many
/// digits as they deserve.
fn written(
    table: &Table,
    rows: &[Vec<String>],
    names: &[&str],
    measure: &str,
    subject: Subject,
) -> Grid {
    // Quantities of a device are empty without it.
    let is_filled =
        |at: usize| subject == Subject::Scenarios || rows.iter().any(|row| !row[at].is_empty());
    let names = names.iter().copied().filter(|it| table.place(it).is_some_and(is_filled));
    let names: Vec<&str> = names.collect();
    let half = |name: &str| match name {
        "difference" => table.place("difference_half_width"),
        _ if name == measure => table.place("half_width"),
        _ => None,
    };
    let cell = |row: &Vec<String>, name: &str| -> String {
        let text = table.place(name).map_or("", |at| row[at].as_str());
        let Ok(value) = text.parse::<f64>() else { return text.into() };
        match name {
            "d_z" => format!("{value:.2}"),
            "p_holm" => p_text(value),
            "miss_ratio" | "gap_to_bound" | "won" | "tied" | "lost" => percent(value),
            _ if name == measure || name == "difference" => {
                let digits = if value.abs() >= 10.0 { 1 } else { 4 };
                let half = half(name).and_then(|at| row[at].parse::<f64>().ok());
                let half = half.map_or(String::new(), |it| format!(" ± {}", small(it, digits)));
                small(value, digits) + &half
            }
            "energy_mj" => format!("{value:.1}"),
            _ if text.contains('.') => small(value, 3),
            _ => text.into(),
        }
    };
    let is_text = |name: &&str| ["scenario", "scheduler", "first", "second"].contains(name);
    Grid {
        header: names.iter().map(|it| heading(subject, it)).collect(),
        is_text: names.iter().map(is_text).collect(),
        rows: rows.iter().map(|row| names.iter().map(|it| cell(row, it)).collect()).collect(),
    }
}

/// A number with `digits` decimals; `<0.0001` for a smaller one that is not 0.
fn small(value: f64, digits: usize) -> String {
    let least = 0.1f64.powi(digits as i32);
    match value != 0.0 && value.abs() < least / 2.0 {
        true => format!("{}<{least:.digits$}", if value < 0.0 { "-" } else { "" }),
        false => format!("{value:.digits$}"),
    }
}

fn fact<'a>(facts: &'a [Pair], key: &str) -> Option<&'a str> {
    facts.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

pub(super) fn problem(source: Source<'_>, line: usize, message: String) -> ReadError {
    ReadError { file: source.name.into(), line, message }
}

pub(super) fn draw(
    section: &mut Section,
    figure: &dyn Figure,
    source: Source<'_>,
) -> Result<(), ReadError> {
    section.draw(figure).map_err(|error| problem(source, 1, error.to_string()))
}

/// A table of text.
pub(super) struct Table {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads a table that begins with the columns `first`.
    pub(super) fn read(source: Source<'_>, first: &[&str]) -> Result<Self, ReadError> {
        let failed = |error: csv::Error| {
            let line = error.position().map_or(1, |at| at.line() as usize);
            problem(source, line, error.to_string())
        };
        let mut reader = csv::Reader::from_reader(source.text.as_bytes());
        let cells = |record: &csv::StringRecord| record.iter().map(String::from).collect();
        let header: Vec<String> = cells(reader.headers().map_err(failed)?);
        if !header.iter().zip(first).all(|(found, known)| found == known)
            || header.len() < first.len()
        {
            let message = format!(
                "expected the columns {} first, found {}",
                first.join(", "),
                header.join(", ")
            );
            return Err(problem(source, 1, message));
        }
        let rows = reader.records().map(|record| Ok(cells(&record.map_err(failed)?)));
        Ok(Self { header, rows: rows.collect::<Result<_, _>>()? })
    }

    /// Place of a column.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|known| known == name)
    }

    /// The columns called `names` of some rows, in this order.
    pub(super) fn pick(&self, names: &[&str], rows: &[Vec<String>]) -> Rows {
        let places: Vec<usize> = names.iter().filter_map(|name| self.place(name)).collect();
        let of = |row: &Vec<String>| places.iter().map(|&at| row[at].clone()).collect();
        (of(&self.header), rows.iter().map(of).collect())
    }
}

pub(super) fn parsed(source: Source<'_>, at: usize, text: &str) -> Result<f64, ReadError> {
    let found = text.parse().ok().filter(|number: &f64| number.is_finite());
    found.ok_or_else(|| problem(source, at + 2, format!("expected a number, found `{text}`")))
}

/// Rows of the figure of differences to the best scheduler.
fn differences(source: Source<'_>) -> Result<Vec<DifferenceRow>, ReadError> {
    let table = Table::read(source, &["name", "part", "difference", "low", "high"])?;
    let mut rows: Vec<DifferenceRow> = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        let number = |cell: usize| match row[cell].as_str() {
            "" => Ok(None),
            text => parsed(source, at, text).map(Some),
        };
        let (mean, interval) = (number(2)?, number(3)?.zip(number(4)?));
        match (&*row[1], rows.last_mut(), mean) {
            ("", ..) => {
                let row = DifferenceRow { name: row[0].clone(), mean, ..DifferenceRow::default() };
                rows.push(DifferenceRow { interval, ..row });
            }
            (part, Some(last), Some(value)) => last.parts.push((part.into(), value)),
            _ => return Err(problem(source, at + 2, "expected a mean before its parts".into())),
        }
    }
    Ok(rows)
}

/// The diagram of ranks.
fn diagram(source: Source<'_>, table: &Table) -> Result<CriticalDifference, ReadError> {
    let mut found = CriticalDifference {
        caption: Caption::titled(
            "Mean ranks; bars join schedulers that do not differ significantly",
        ),
        names: Vec::new(),
        mean_ranks: Vec::new(),
        difference: 0.0,
        groups: Vec::new(),
    };
    for (at, row) in table.rows.iter().enumerate() {
        let value = parsed(source, at, &row[1])?;
        if row[0] == CRITICAL {
            found.difference = value;
            continue;
        }
        for group in row[2].split_whitespace() {
            let number =
                group.parse::<usize>().ok().filter(|it| (1..=table.rows.len()).contains(it));
            let number = number.ok_or_else(|| {
                problem(source, at + 2, format!("`{group}` is no number of a group"))
            })?;
            if found.groups.len() < number {
                found.groups.resize(number, Vec::new());
            }
            found.groups[number - 1].push(found.names.len());
        }
        found.names.push(row[0].clone());
        found.mean_ranks.push(value);
    }
    Ok(found)
}
