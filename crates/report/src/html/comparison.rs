//! Page of a comparison of schedulers, from the files of `xrsim compare --out`. Figures are drawn here from their
//! data; pictures in the folder are not used.

use xrsim_figures::{Caption, CriticalDifference, DifferenceRow, Figure};
use xrsim_sim::score::Score;

use crate::comparison::{Measure, drawn};
use crate::table::Rows;

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
    let measure = fact(&facts, "by").unwrap_or(Score::primary().name).to_string();
    let (all, of_scenarios): (Vec<_>, Vec<_>) =
        policies.rows.iter().cloned().partition(|row| row[0] == ALL);
    let mut ranking = Section::new(
        "schedulers",
        "Schedulers",
        "All schedulers had the same requests (common random numbers). difference: to the best scheduler; half_width: \
         half of the 95 % confidence interval; d_z: mean of the paired differences over their standard deviation; p_holm: \
         paired t-test, corrected by Holm; wins, ties: number of configurations in which the scheduler is the only best, and in which it \
         shares the first place.",
    );
    let known = Measure::named(&measure);
    let known = known.ok_or_else(|| {
        problem(files.record, 1, format!("`{measure}` is no column of comparisons"))
    })?;
    // The best scheduler is the first one of the table.
    let best = all.first().map_or("the best one", |row| &row[1]);
    let figure = drawn(best, known, differences(files.differences)?);
    draw(&mut ranking, &figure, files.differences)?;
    let compared = [
        &*measure,
        "half_width",
        "difference",
        "difference_half_width",
        "d_z",
        "p_holm",
        "wins",
        "ties",
    ];
    let columns =
        [&["scheduler"], &compared[..], &["miss_ratio", "energy_mj", "gap_to_bound"]].concat();
    ranking.add("Schedulers over all scenarios", &policies.pick(&columns, &all));
    let mut scenarios = Section::new("scenarios", "Scenarios", "Every scenario by itself.");
    let columns = [&["scenario", "scheduler"], &compared[..]].concat();
    scenarios.add("Schedulers in every scenario", &policies.pick(&columns, &of_scenarios));
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
        "First minus second; p_holm is corrected for all pairs of a scenario; won, tied, lost: shares of runs in which \
         the first is better, equal or worse on the same requests.",
    );
    all_pairs.add("All pairs of schedulers", &(pairs.header, pairs.rows));
    let n_schedulers = all.len();
    let article = Article {
        title: "Comparison of schedulers".into(),
        summary: format!("{n_schedulers} schedulers by {measure}"),
        sections: vec![ranking, scenarios, ranks, all_pairs],
        facts,
    };
    Ok((article.page(), n_schedulers))
}

/// Name of all scenarios together.
const ALL: &str = "all";

/// Name of the row of the critical difference.
const CRITICAL: &str = "critical difference";

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
