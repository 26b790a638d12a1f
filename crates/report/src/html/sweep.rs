//! Page of a sweep: the best designs, the Pareto front, a heat map, and the means of every design.

use crate::points::{Best, Front, Objective, PointTable, PointsError, heat_map};
use xrsim_sim::score::Score;
use xrsim_sim::sweep::day::DayMetrics;

use crate::table::Rows;
use crate::words;

use super::article::{Article, Section};
use super::provenance::{Pair, scalars};

/// Most designs in the table of all.
const MAX_DESIGNS: usize = 2000;

/// Page of the points of a sweep called `name`. `record` is the record of the sweep as JSON, if there is one.
///
/// # Errors
///
/// Points without the columns of scores.
pub fn sweep_page(
    name: &str,
    points: &PointTable,
    record: Option<&str>,
    command: Option<String>,
) -> Result<String, PointsError> {
    let score = points.score();
    let primary = Score::primary();
    let meaning = match score == primary.name {
        true => primary.help,
        false => DayMetrics::column(score).map_or("", |it| it.help),
    };
    let objective = |column: &str| Objective { column: column.into(), better: None };
    let best = Best::find(points, &objective(score))?;
    let lead = format!(
        "Designs of the highest score, {meaning}. {}.",
        words::capitalised(&points.draws())
    );
    let summary = summary(&best, points);
    let mut bests = Section::new("best", "Best designs", &lead);
    let rows = score_second(score, (best.header, best.rows));
    bests.add("The best design of every scenario", &rows);
    let energy = Some(points.energy()).filter(|it| points.is_measured(it));
    let columns: Vec<_> = [score].into_iter().chain(energy).collect();
    let all = points.designs(&columns, MAX_DESIGNS)?;
    let mut designs = Section::new(
        "designs",
        "Designs",
        "Means over seeds and replications, then over scenarios.",
    );
    designs.add("Every design", &score_second(score, all));
    // Profiles without a device have no power to draw a front over.
    let front = energy.map(|_| front(points)).transpose()?;
    let sections = [bests].into_iter().chain(front).chain([map(points), designs]).collect();
    Ok(Article {
        title: format!("Sweep {name}"),
        summary,
        command,
        sections,
        facts: record.map_or_else(Vec::new, facts),
    }
    .page())
}

/// The table with its score in the second column, where a narrow window shows it.
fn score_second(score: &str, (mut header, mut rows): Rows) -> Rows {
    if let Some(at) = header.iter().position(|name| *name == score)
        && at > 1
    {
        header[1..=at].rotate_right(1);
        rows.iter_mut().filter(|row| row.len() > at).for_each(|row| row[1..=at].rotate_right(1));
    }
    (header, rows)
}

/// The best design of all scenarios in a sentence.
fn summary(best: &Best, points: &PointTable) -> String {
    let size = format!("{} points of {} designs", points.n_rows(), points.n_designs());
    let Some((row, (value, settings))) = best.rows.last().and_then(|row| {
        let [_, settings @ .., value, _] = &row[..] else { return None };
        Some((row, (value.parse::<f64>().ok()?, settings)))
    }) else {
        return format!("{size}; none has scores in every scenario.");
    };
    let names = best.header[1..].iter().zip(settings);
    let design = names.map(|(name, value)| words::spoken(name, value));
    let design = design.collect::<Vec<_>>().join(", ");
    let over = if best.rows.len() > 1 { "mean over all scenarios" } else { &*row[0] };
    format!("The highest score, {value:.3} ({over}), has {design}; {size}.")
}

fn front(points: &PointTable) -> Result<Section, PointsError> {
    let lead = "Designs that no other design beats in both energy and score.";
    let mut section = Section::new("front", "Pareto front", lead);
    let objectives = [points.energy(), points.score()]
        .map(|column| Objective { column: column.into(), better: None });
    let front = Front::compute(points, &objectives)?;
    // A front that cannot be drawn still has its table.
    section.draw(&front.scatter()).unwrap_or_default();
    section.add("Designs on the front", &score_second(points.score(), front.rows()));
    Ok(section)
}

/// A heat map over the first two settings that vary, if a figure holds so many.
fn map(points: &PointTable) -> Section {
    let lead = "Mean score over the first two settings that vary.";
    let mut section = Section::new("map", "Heat map", lead);
    if let [first, second, ..] = points.varied()[..] {
        // Numbers of PEs go to the right.
        let (x, y) = if first == "pes" { (first, second) } else { (second, first) };
        if let Ok(map) = heat_map(points, x, y, points.score()) {
            section.draw(&map).unwrap_or_default();
        }
    }
    section
}

/// Entries of the text of a record that are no lists.
pub(super) fn facts(record: &str) -> Vec<Pair> {
    facts_of(&serde_json::from_str(record).unwrap_or_default())
}

/// Entries of a record that are no lists.
pub(super) fn facts_of(record: &serde_json::Value) -> Vec<Pair> {
    record.as_object().map(scalars).unwrap_or_default()
}
