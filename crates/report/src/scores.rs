//! Scores of runs for people: every run with its breakdown, or a matrix of scenarios and systems.
//!
//! A score of a single random draw is marked, and no best score is named among such scores.

use std::collections::BTreeSet;

use comfy_table::{Cell, Table};

use xrsim_model::column::{Column, Kind};
use xrsim_model::statistics::Summary;
use xrsim_sim::load::Drawn;
use xrsim_sim::score::Score;

use super::table::{
    Columns, Style, emphasised, interval_meaning, new_table, or_dash, render, whole_percent,
    with_half_width,
};
use xrsim_results::model_parts::{ModelParts, Tightest};
use xrsim_results::ranking::{Draws, Matrix, Standing, SystemKey};
use xrsim_results::score_rows::ScoreRow;

/// Mark of a score of a single random draw.
const ONCE: char = '~';

/// The scenario of a row, marked if it is random and was run once.
fn marked_scenario(row: &ScoreRow) -> String {
    marked(&row.scenario, row.drawn.any() && row.draws.len() == 1)
}

/// A name, marked if its scores were drawn `once`.
pub(super) fn marked(name: &str, once: bool) -> String {
    if once { format!("{name}{ONCE}") } else { name.into() }
}

/// Columns of scores in the table: the question of deadlines, then the primary metric and its parts.
const SHOWN: [&str; 13] = [
    "late",
    "dropped",
    "lost",
    "gated",
    "score",
    "realtime",
    "energy",
    "accuracy",
    "qoe",
    "score_executed_mean",
    "requests",
    "executed",
    "energy_mj",
];

const MORE: &str =
    "more: --explain-columns for the meaning of the columns, --format csv for full precision\n";

/// Most rows that are shown with their breakdown without `--detail`.
const MOST_DETAIL_ROWS: usize = 14;

/// Most systems that are shown so. The question of more is which one is best.
const MOST_DETAIL_SYSTEMS: usize = 4;

/// Whether every row is shown with its breakdown, and not only the best systems.
pub fn is_small(rows: &[ScoreRow]) -> bool {
    let systems: BTreeSet<_> = rows.iter().map(|row| &*row.system).collect();
    rows.len() <= MOST_DETAIL_ROWS && systems.len() <= MOST_DETAIL_SYSTEMS
}

/// Scores of one run each, with their breakdown; `-` where there is none. Lines below explain the columns if the
/// table `explains`.
pub fn detail(rows: &[ScoreRow], seed: u64, style: Style, explains: bool) -> String {
    let (columns, meanings) = detail_columns(rows, style);
    let meanings = if explains { &*meanings } else { "" };
    [&columns.of(rows).text(style), meanings, &uncertainty(rows, seed), MORE].concat()
}

/// Columns of scores of one run each in `rows`, and their meanings, a line each.
pub(super) fn detail_columns<'r>(
    rows: &[ScoreRow],
    style: Style,
) -> (Columns<'r, &'r ScoreRow>, String) {
    let mut columns = Columns::<&ScoreRow>::new()
        .text("scenario", |it| marked_scenario(it))
        .text("system", |it| it.system.clone())
        .number("PEs", |it| it.pes);
    let mut meanings = String::new();
    let is_shown = |name: &&str| {
        Score::UNCAPTURED.iter().all(|it| it.name != *name)
            || rows.iter().any(|it| it.mean(name) > 0.0)
    };
    for name in SHOWN.into_iter().filter(is_shown) {
        let find = |(_, column): &(usize, &Column<Score>)| column.name == name;
        let (at, column) = Score::all_columns().enumerate().find(find).expect("it is a column");
        if column.kind == Kind::Overall {
            columns =
                columns.text("p99 latency", move |it| or_dash(tightest(it), |it| it.to_string()));
            columns = columns.number("headroom", move |it| {
                or_dash(tightest(it), |it| whole_percent(it.headroom))
            });
            columns = columns
                .number("mW", |it| or_dash(it.power_without_leakage_mw(), |mw| format!("{mw:.0}")));
            columns = columns.number("mm2", |it| or_dash(it.area_mm2, |it| format!("{it:.0}")));
            meanings += "p99 latency: response time at the 99th percentile of the share of the time to the deadline, of the \
                         model nearest to its deadline, and that time\nheadroom: share of that time that is left\nmW: energy \
                         of the requests over the time, without leakage while idle\nmm2: area, +-30 %\n";
        }
        columns = columns.number(column.heading, move |it| match it.is_infeasible() {
            true => "-".into(),
            false => mean_cell(it, at, column, style),
        });
        meanings += &format!("{}: {}\n", column.heading, column.help);
    }
    (columns, meanings)
}

/// The model of a row that is nearest to its deadline.
fn tightest(row: &ScoreRow) -> Option<Tightest<'_>> {
    ModelParts::tightest(&[&row.models])
}

fn mean_cell(row: &ScoreRow, at: usize, column: &Column<Score>, style: Style) -> String {
    let mean = row.mean_at(at);
    match column.kind {
        Kind::Overall => {
            with_half_width(&Summary::of(row.draws.iter().flatten().copied()), 3, style)
        }
        Kind::Score => format!("{mean:.3}"),
        Kind::Count | Kind::Quantity => count(mean),
    }
}

/// A mean of counts: whole, or with one decimal.
pub(super) fn count(mean: f64) -> String {
    if mean.fract() == 0.0 { format!("{mean:.0}") } else { format!("{mean:.1}") }
}

/// Overall scores as a matrix: a row for each system, a column for each scenario, and the benchmark score
/// (Definition 16) last; means with the half-widths of their 95 % intervals where there are
/// replications.
///
/// For each number of PEs, the best system of a column is marked with `*` where nothing is random, or
/// where it differs significantly from all others in paired differences. Systems that do not differ
/// significantly from the best are marked with `?`.
pub fn matrix(rows: &[ScoreRow], seed: u64, style: Style) -> String {
    let matrix = Matrix::new(rows);
    let mut header = vec!["PEs".to_string(), "system".into()];
    let names = matrix.scenarios.iter().copied().chain(["XRBench score"]);
    header.extend(names.enumerate().map(|(column, name)| marked(name, matrix.once(column))));
    let header: Vec<_> = header.iter().map(String::as_str).collect();
    let mut table = new_table(style, &header, 2);
    let mut marks_used = Vec::new();
    for group in matrix.systems.chunk_by(|a, b| a.0 == b.0) {
        add_group(&matrix, &mut table, group, style, &mut marks_used);
    }
    let mut text = render(&table);
    if marks_used.contains(&Mark::Best) {
        text.push_str("* best of its size. ");
    }
    if marks_used.contains(&Mark::Open) {
        text.push_str(
            "? not significantly different from the best of its size (paired differences, t-test at 5 %, Holm). ",
        );
    }
    text.push_str("more: --detail for every column, or fewer scenarios and systems\n");
    text + &uncertainty(rows, seed)
}

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

/// Adds the systems of one size.
fn add_group(
    matrix: &Matrix<'_>,
    table: &mut Table,
    group: &[SystemKey<'_>],
    style: Style,
    marks_used: &mut Vec<Mark>,
) {
    let columns = (0..=matrix.scenarios.len()).map(|column| {
        let draws: Vec<_> = group.iter().map(|&system| matrix.draws(column, system)).collect();
        let marks = marks(&draws, matrix.random(column));
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

fn cell(draws: Option<&[Option<f64>]>, mark: Mark, style: Style) -> Cell {
    let Some(draws) = draws else { return Cell::new("-") };
    let score = with_half_width(&Summary::of(draws.iter().flatten().copied()), 3, style);
    let text = format!("{score}{}", mark.sign());
    if mark == Mark::Best { emphasised(&text, style) } else { Cell::new(text) }
}

/// Marks the best of several systems, each with its scores by replication, or those that are not told
/// apart from it.
fn marks(draws: &[Option<Draws>], random: bool) -> Vec<Mark> {
    let mut marks = vec![Mark::None; draws.len()];
    if let Some(Standing { best, open, .. }) = Standing::from_draws(draws, random) {
        let mark = if open.is_empty() { Mark::Best } else { Mark::Open };
        best.into_iter().chain(open).for_each(|index| marks[index] = mark);
    }
    marks
}

/// A line on the uncertainty of the numbers.
pub(super) fn uncertainty(rows: &[ScoreRow], seed: u64) -> String {
    let drawn = rows.iter().map(|row| row.drawn).fold(Drawn::default(), Drawn::or);
    let random = || rows.iter().filter(|row| row.drawn.any());
    let n = random().map(|row| row.draws.len()).max().unwrap_or(0);
    let n_scores = random().map(|row| row.draws.iter().flatten().count());
    let fewest = n_scores.filter(|n_scores| *n_scores > 0).min().unwrap_or(n);
    let sources = drawn.names().join(", ");
    match n {
        _ if rows.is_empty() => String::new(),
        0 => "no random draws: exact for every seed\n".into(),
        1 => format!(
            "{ONCE} one draw (seed {seed}) of {sources}, so that no system is named the best; --replications 30 gives means \
             and 95 % intervals\n"
        ),
        n => format!(
            "means of {} draws (seed {seed}) of {sources}; {}{}\n",
            if fewest < n { format!("{fewest} to {n}") } else { n.to_string() },
            interval_meaning(n as u64),
            if random().count() < rows.len() { "; other scenarios are exact" } else { "" }
        ),
    }
}
