//! Comparisons of the cost model with other models and measured chips, as text and CSV.

use std::path::PathBuf;

use clap::ValueEnum;

use xrsim_config::Source;
use xrsim_validation::validate::cross::{self, Number, Reason, Summary};

use super::check;
use crate::message::{AndCheck as _, Failure};
use crate::output;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// Summary by source and quantity, for people.
    #[default]
    Table,
    /// CSV with a line a number: ours, that of the other side, and the verdict.
    Csv,
}

/// Compares the cost model with `tables`, or with those of the program if there are none.
///
/// # Errors
///
/// Returns a failure if a table cannot be read, or if a number differs without a stated reason.
pub(super) fn compare(tables: &[PathBuf], format: Format) -> Result<(), Failure> {
    let mut numbers = Vec::new();
    if tables.is_empty() {
        numbers = cross::shipped()?;
    }
    for path in tables {
        numbers.extend(cross::compare(&Source::read(path)?)?);
    }
    let printed = match format {
        Format::Table => output::print_text(&(to_text(&numbers) + &differences(&numbers))),
        Format::Csv => output::print(&output::in_memory(|out| cross::write_csv(&numbers, out))),
    };
    printed.and_check(check(cross::n_different(&numbers), "numbers"))
}

/// Table of all quantities, with the reasons of differences below it.
pub(super) fn to_text(numbers: &[Number]) -> String {
    let header = [
        "compared with",
        "quantity",
        "numbers",
        "equal",
        "within",
        "by rule",
        "open",
        "differ",
        "geo-mean",
        "worst",
        "mean error",
        "median",
        "Spearman",
        "reasons",
    ];
    let mut rows = Vec::new();
    let mut reasons: Vec<Reason> = Vec::new();
    for it in Summary::of(numbers) {
        let mut letters = Vec::new();
        for (reason, n) in &it.reasons {
            let place = reasons.iter().position(|known| known == reason).unwrap_or_else(|| {
                reasons.push(reason);
                reasons.len() - 1
            });
            letters.push(format!("{} {n}", letter(place)));
        }
        let within = match it.tolerance {
            0.0 => count(it.n_within),
            tolerance => format!("{} ({} %)", it.n_within, 100.0 * tolerance),
        };
        rows.push([
            it.source.to_owned(),
            it.quantity.to_owned(),
            it.n.to_string(),
            count(it.n_equal),
            within,
            count(it.n_by_rule),
            count(it.n_open),
            count(it.n_different),
            it.geometric_mean().map_or("-".into(), |mean| format!("{mean:.3}")),
            format!("{:.3}", it.worst),
            percent(it.mean_error()),
            percent(it.median_error()),
            it.spearman().map_or("-".into(), |rank| format!("{rank:.3}")),
            letters.join(", "),
        ]);
    }
    let mut text = output::table_text(&header, rows, 2);
    for (place, reason) in reasons.iter().enumerate() {
        text += &format!("{}  {reason}\n", letter(place));
    }
    text
}

/// Every number that differs without a stated reason, up to 20.
fn differences(numbers: &[Number]) -> String {
    let different = numbers.iter().filter(|it| it.agreement == cross::Agreement::Differs);
    let line = |it: &Number| {
        let Number { file, line, case, column, found, reference, .. } = it;
        format!("{file}:{line}: {case}, {column}: expected {reference}, found {found}\n")
    };
    different.take(20).map(line).collect()
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share))
}

/// A count, empty if it is 0.
fn count(n: usize) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

/// Letter of the reason at `place`; numbers follow after z.
fn letter(place: usize) -> String {
    let letter = u8::try_from(place).ok().and_then(|place| (b'a'..=b'z').nth(place.into()));
    letter.map_or_else(|| place.to_string(), |letter| char::from(letter).to_string())
}
