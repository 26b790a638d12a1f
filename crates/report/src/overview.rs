//! The best systems of every scenario: the first screen of a run of many scenarios and systems.

use comfy_table::Cell;

use xrsim_model::hardware::Accelerator;
use xrsim_model::hardware::technology::AreaTerm;
use xrsim_model::model::Network;
use xrsim_model::statistics::{ALIKE, Fraction, Summary};
use xrsim_sim::load::Drawn;

use super::scores::{count, marked, uncertainty};
use super::table::{
    Columns, Grid, Style, emphasised, or_dash, render, whole_percent, with_half_width,
};
use xrsim_results::limit::Limit;
use xrsim_results::model_parts::{ModelParts, Tightest};
use xrsim_results::ranking::{Draws, Matrix, Standing, SystemKey};
use xrsim_results::score_rows::ScoreRow;
use xrsim_results::span::Span;

/// Most systems that a cell names.
const MOST_NAMES: usize = 3;

/// Name of the row of all scenarios.
const ALL: &str = "XRBench score";

const LEGEND: &str = "\
    best: system with the highest mean score of its size; the scores of several with ? do not differ significantly (paired differences, t-test at 5 %, Holm)\n\
    late, dropped: frames in a run of the best system that ended after their deadline, or did not run\n\
    p99 latency: response time at the 99th percentile of the share of the time to the deadline, of the model nearest to its deadline, and that time\n\
    headroom: share of the time to the deadline that is left\n\
    mW: energy over the time, without leakage; mJ: energy for each executed frame\n\
    score: the primary metric (Definition 15), by which `compare` also ranks; without +- if all draws are equal\n\
    runner-up: the first system whose score differs significantly from the best, and the distance of its score\n\
    alike: number of systems whose mean score is at most 0.01 behind the best (the best included), and number of all systems of the size\n\
    most lost: model and cause with the largest loss, in points of the largest score, 1\n\
    busiest: model with the largest share of the busy time; limited by: resource that bounds most of the time of its layers\n\
    mm2: area of the best system, +-30 %";

const OPEN: &str = "?: these systems do not differ significantly\n";

const MORE: &str = "more: --matrix for every system, --detail for every column, --explain-columns for their meaning, --format csv \
                    for full precision\n";

/// The best systems of every scenario and size, with the score of the best, what it loses, what limits it,
/// and its energy; and the same for the mean over the scenarios (Definition 16), where frames are those of all
/// scenarios. `limit` finds the limit of a network on an accelerator; lines below explain the columns if it
/// `explains`.
///
/// Systems are compared with those of as many PEs; with all others if no two have as many.
pub fn overview(
    rows: &[ScoreRow],
    seed: u64,
    style: Style,
    explains: bool,
    limit: impl Fn(&Network, &Accelerator) -> Option<Limit>,
) -> String {
    let matrix = Matrix::new(rows);
    let groups = groups(&matrix.systems);
    let has_lost = rows.iter().any(|row| row.mean("lost") > 0.0);
    let columns = columns(style, has_lost, &limit);
    let mut table = columns.header().table(style);
    let mut is_open = false;
    let mut terms = Vec::new();
    let n_scenarios = matrix.scenarios.len();
    for column in columns_of(&matrix) {
        for (index, group) in groups.iter().enumerate() {
            let name = matrix.scenarios.get(column).copied().unwrap_or(ALL);
            let name = if index == 0 || style == Style::Plain { name } else { "" };
            let row = Row::from_matrix(&matrix, name.into(), column, group, false);
            let with_area = row.best.iter().find(|row| row.area_mm2.is_some());
            terms.extend(with_area.map(|row| row.large_term));
            is_open |= row.standing.as_ref().is_some_and(|it| !it.open.is_empty());
            let is_last = column == n_scenarios;
            table.add_row(columns.row(&row).into_iter().map(|text| match is_last {
                true => emphasised(&text, style),
                false => Cell::new(text),
            }));
        }
    }
    let open = if is_open { OPEN } else { "" };
    let legend = match explains {
        true => format!("{LEGEND}{}\n", large_terms(&terms)),
        false => String::new(),
    };
    [&render(&table), &legend, &uncertainty(rows, seed), open, MORE].concat()
}

/// Columns of the matrix that have rows: every scenario, and the mean over all. The mean of one scenario is that
/// scenario.
fn columns_of(matrix: &Matrix<'_>) -> impl Iterator<Item = usize> + use<> {
    let n_scenarios = matrix.scenarios.len();
    (0..n_scenarios).chain((n_scenarios > 1).then_some(n_scenarios))
}

/// What runs answer, for a page.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The best system of every size in all scenarios, or the run if there is one; a sentence each.
    pub(crate) sentences: Vec<String>,
    /// Number of draws, in a phrase.
    pub(crate) head: String,
    /// The draws: their number, and the meaning of `±`.
    pub(crate) draws: String,
    /// The best systems of every scenario, or every run if they are few.
    pub(crate) table: Grid,
    /// Meanings of the columns.
    pub(crate) legend: Vec<String>,
}

/// Columns of the table of an answer, in their order, with their headings in a page. The score is at the left, where a
/// narrow window shows it.
const ANSWER: [(&str, &str); 21] = [
    ("scenario", "Scenario"),
    ("score", "Score"),
    ("best", "Best"),
    ("highest~", "Highest~"),
    ("system", "System"),
    ("PEs", "PEs"),
    ("late", "Late"),
    ("dropped", "Dropped"),
    ("lost", "Lost"),
    ("gated", "Gated"),
    ("p99 latency", "Latency p99 of deadline"),
    ("headroom", "Headroom"),
    ("mW", "Power [mW]"),
    ("mm2", "Area [mm2]"),
    ("runner-up", "Runner-up"),
    ("alike", "Alike"),
    ("most lost", "Most lost"),
    ("mJ", "Energy per frame [mJ]"),
    ("requests", "Requests"),
    ("executed", "Executed"),
    ("energy mJ", "Energy [mJ]"),
];

/// What `rows` answer, in the words and the table of a terminal. Where every score is a single random draw, systems are
/// ranked in this draw, and marked.
pub(crate) fn answer(rows: &[ScoreRow], seed: u64) -> Answer {
    let matrix = Matrix::new(rows);
    let groups = groups(&matrix.systems);
    let is_once = rows.iter().any(ScoreRow::is_drawn_once);
    let row = |(column, group)| {
        let name = matrix.scenarios.get(column).copied().unwrap_or(ALL);
        let name = marked(name, matrix.once(column));
        Row::from_matrix(&matrix, name, column, group, true)
    };
    let places = columns_of(&matrix);
    let all: Vec<_> = places
        .flat_map(|column| groups.iter().map(move |group| (column, *group)))
        .map(row)
        .collect();
    let sentences = all[all.len() - groups.len()..].iter().map(Row::sentence).collect();
    let none = |_: &Network, _: &Accelerator| None;
    let is_small = super::scores::is_small(rows);
    let (grid, legend) = match is_small {
        true => {
            let (columns, meanings) = super::scores::detail_columns(rows, Style::Lines);
            (columns.of(rows), meanings)
        }
        false => {
            let has_lost = rows.iter().any(|row| row.mean("lost") > 0.0);
            let mut grid = columns(Style::Lines, has_lost, &none).of(all);
            if is_once {
                grid.header[2] = "highest~".into();
            }
            (grid, LEGEND.into())
        }
    };
    let drawn = rows.iter().map(|row| row.drawn).fold(Drawn::default(), Drawn::or);
    let head = match (drawn.any(), rows.iter().map(|row| row.draws.len()).max()) {
        (true, Some(0 | 1) | None) => {
            format!("one draw of {}; no interval", drawn.names().join(" and "))
        }
        (true, Some(n)) => format!("means of {n} draws of {}", drawn.names().join(" and ")),
        (false, _) => "nothing is random".into(),
    };
    Answer {
        sentences,
        head,
        draws: uncertainty(rows, seed).trim_end().into(),
        table: grid.picked(&ANSWER),
        legend: legend.lines().map(String::from).collect(),
    }
}

fn columns<'c>(
    style: Style,
    has_lost: bool,
    limit: &'c impl Fn(&Network, &Accelerator) -> Option<Limit>,
) -> Columns<'c, Row<'c>> {
    let columns = Columns::<Row<'_>>::new()
        .text("scenario", |it| it.scenario.clone())
        .number("PEs", |it| it.pes(it.standing.as_ref().map_or(0, |it| it.best[0])))
        .text("best", |it| or_dash(it.standing.as_ref(), |standing| it.names(standing)))
        .number("late", |it| it.frames("late"))
        .number("dropped", |it| it.frames("dropped"));
    let columns = match has_lost {
        true => columns.number("lost", |it| it.frames("lost")),
        false => columns,
    };
    columns
        .text("p99 latency", |it| or_dash(it.tightest(), |it| it.to_string()))
        .number("headroom", |it| or_dash(it.tightest(), |it| whole_percent(it.headroom)))
        .number("mW", Row::power)
        .number("mm2", Row::area)
        .number("score", move |it| or_dash(it.scores(), |scores| score(&scores, style)))
        .text("runner-up", |it| or_dash(it.standing.as_ref(), |standing| it.next(standing)))
        .number("alike", |it| or_dash(it.standing.as_ref(), |standing| it.alike(standing.best[0])))
        .text("most lost", |it| {
            let loss = ModelParts::largest_loss(&it.parts());
            or_dash(loss, |it| format!("{} {} {:.3}", it.model, it.cause.name(), it.lost))
        })
        .text("busiest", |it| {
            let busiest = ModelParts::busiest(&it.parts());
            or_dash(busiest, |it| format!("{} {}", it.model, whole_percent(it.share)))
        })
        .text("limited by", move |it| {
            let busiest = ModelParts::busiest(&it.parts());
            let limit = busiest.and_then(|it| limit(it.network, &it.accelerator));
            or_dash(limit, |it| format!("{} {}", it.resource, whole_percent(it.share)))
        })
        .number("mJ", Row::energy_per_frame)
}

/// Continuation of a line on areas: the one term that takes more than half of each, with its shares.
fn large_terms(terms: &[Option<(AreaTerm, f64)>]) -> String {
    let is_first = |it: &Option<(AreaTerm, f64)>| it.map(|it| it.0) == terms[0].map(|it| it.0);
    let Some(&Some((first, _))) = terms.first().filter(|_| terms.iter().all(is_first)) else {
        return String::new();
    };
    let mut shares = Span::default();
    terms.iter().flatten().for_each(|(_, share)| shares.hold(100.0 * share));
    let range = shares.words(|it| format!("{it:.0}"));
    format!(", of which {} take {range} % (xrsim area)", first.name())
}

/// Systems of one size together; all together if no two have one size.
fn groups<'s, 'a>(systems: &'s [SystemKey<'a>]) -> Vec<&'s [SystemKey<'a>]> {
    let of_size: Vec<_> = systems.chunk_by(|a, b| a.0 == b.0).collect();
    if of_size.iter().all(|group| group.len() == 1) { vec![systems] } else { of_size }
}

/// Systems of one group in one scenario, or in all.
struct Row<'a> {
    /// Name of the scenario, or of all.
    scenario: String,
    group: &'a [SystemKey<'a>],
    draws: Vec<Option<Draws>>,
    /// `None` if no system has two draws, or a score above 0.
    standing: Option<Standing>,
    /// Runs of the best system.
    best: Vec<&'a ScoreRow>,
}

impl<'a> Row<'a> {
    /// The row of a column of the matrix. Systems that were drawn once are ranked only if it `ranks_once`.
    fn from_matrix(
        matrix: &Matrix<'a>,
        scenario: String,
        column: usize,
        group: &'a [SystemKey<'a>],
        ranks_once: bool,
    ) -> Self {
        let draws: Vec<_> = group.iter().map(|&system| matrix.draws(column, system)).collect();
        let random = matrix.random(column) && !(ranks_once && matrix.once(column));
        let standing = Standing::from_draws(&draws, random);
        let best = standing.as_ref().map(|it| matrix.cell(column, group[it.best[0]]));
        Self { scenario, group, draws, standing, best: best.unwrap_or_default() }
    }

    /// Scores of the best system.
    fn scores(&self) -> Option<Summary> {
        let best = self.standing.as_ref()?.best[0];
        Some(Summary::of(self.draws[best].iter().flatten().flatten().copied()))
    }

    fn parts(&self) -> Vec<&'a ModelParts> {
        self.best.iter().map(|row| &row.models).collect()
    }

    fn tightest(&self) -> Option<Tightest<'a>> {
        ModelParts::tightest(&self.parts())
    }

    /// The row in a sentence.
    fn sentence(&self) -> String {
        let Some(standing) = &self.standing else {
            return format!("{}: no system has a score above 0.", self.scenario);
        };
        let best = self.names(standing);
        let score = self.scores().map_or(String::new(), |it| score(&it, Style::Lines));
        let pes = self.pes(standing.best[0]);
        let ahead = match standing.others.first() {
            Some((index, it)) => {
                let by = distance(it.difference.mean.abs());
                format!(", {by} ahead of {}", self.name(*index))
            }
            None => String::new(),
        };
        let is_same_size = self.group.iter().all(|(other, _)| *other == self.group[0].0);
        let sizes = if is_same_size { format!(" with {pes} PEs") } else { String::new() };
        let what = match self.group.len() {
            1 => format!("{best} with {pes} PEs scores {score}"),
            n => format!("{best} has the highest score of {n} systems{sizes}, {score}{ahead}"),
        };
        let [late, dropped] = ["late", "dropped"].map(|it| self.frames(it));
        let tightest = self.tightest().map_or(String::new(), |it| {
            format!(
                "; nearest to its deadline is {it}, which leaves {}",
                whole_percent(it.headroom)
            )
        });
        let lost = match (&*late, &*dropped) {
            ("0", "0") => "no frame is late or dropped".to_string(),
            _ => format!("frames late: {late}, dropped: {dropped}"),
        };
        format!("{}: {what}; {lost}{tightest}.", self.scenario)
    }

    /// PEs of a system.
    fn pes(&self, index: usize) -> String {
        self.group[index].0.to_string()
    }

    /// Name of a system, with its PEs where they tell systems apart.
    fn name(&self, index: usize) -> String {
        let (pes, name) = self.group[index];
        let is_same_size = self.group.iter().all(|(other, _)| *other == pes);
        if is_same_size { name.into() } else { format!("{name}@{pes}") }
    }

    /// The best system and those that are not told apart from it.
    fn names(&self, standing: &Standing) -> String {
        let Standing { best, open, .. } = standing;
        let mark = if open.is_empty() { "" } else { "?" };
        let all = || best.iter().chain(open);
        let names = all().take(MOST_NAMES).map(|&index| self.name(index) + mark);
        let names = names.collect::<Vec<_>>().join(" ");
        match all().count().saturating_sub(MOST_NAMES) {
            0 => names,
            more => format!("{names} +{more}"),
        }
    }

    /// The first system that is told apart from the best, with its distance.
    fn next(&self, standing: &Standing) -> String {
        or_dash(standing.others.first(), |(index, it)| {
            format!("{} {} behind", self.name(*index), distance(it.difference.mean.abs()))
        })
    }

    /// Number of systems whose mean score is close to that of `best`, the best system included.
    fn alike(&self, best: usize) -> String {
        let mean = |index: usize| {
            let scores: Vec<f64> = self.draws[index].iter().flatten().flatten().copied().collect();
            (!scores.is_empty()).then(|| Summary::of(scores).mean)
        };
        let least = mean(best).map_or(f64::INFINITY, |best| best - ALIKE);
        let is_alike = |index: &usize| mean(*index).is_some_and(|mean| mean >= least);
        let alike = (0..self.group.len()).filter(is_alike).count();
        format!("{alike}/{}", self.group.len())
    }

    /// Frames of the best system with this outcome, of a run of every scenario.
    fn frames(&self, outcome: &str) -> String {
        let frames = self.best.iter().map(|row| row.mean(outcome)).sum();
        or_dash((!self.best.is_empty()).then_some(frames), count)
    }

    /// Area of the best system \[mm2\].
    fn area(&self) -> String {
        let area = self.best.iter().find_map(|row| row.area_mm2);
        or_dash(area, |area| format!("{area:.0}"))
    }

    /// Mean power of the best system without leakage \[mW\], over all its runs.
    fn power(&self) -> String {
        let powers = self.best.iter().filter_map(|row| row.power_without_leakage_mw());
        let powers: Vec<f64> = powers.collect();
        let mean = powers.iter().sum::<f64>() / powers.len() as f64;
        or_dash(Some(mean).filter(|it| it.is_finite()), |mw| format!("{mw:.0}"))
    }

    /// Energy of the best system for each executed frame \[mJ\], over all its runs.
    fn energy_per_frame(&self) -> String {
        let sum = |name: &str| self.best.iter().map(|row| row.mean(name)).sum::<f64>();
        let executed = sum("executed");
        or_dash((executed > 0.0).then(|| sum("energy_mj") / executed), |mj| format!("{mj:.1}"))
    }
}

/// A mean score with half of its interval, or alone if all draws are equal.
fn score(summary: &Summary, style: Style) -> String {
    match summary.half_width(Fraction::P95) {
        Some(half) if half > 0.0 => with_half_width(summary, 3, style),
        _ => format!("{:.3}", summary.mean),
    }
}

/// A difference with three decimals, or with as many as its first digit needs.
fn distance(difference: f64) -> String {
    let text = |decimals: usize| format!("{difference:.decimals$}");
    let is_shown = |text: &String| text.contains(|it| ('1'..='9').contains(&it));
    (3..9).map(text).find(is_shown).unwrap_or_else(|| text(9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_distance_has_the_decimals_that_show_it() {
        let found = [0.1234, 0.0005, 0.0004, 2e-6, 1e-12].map(distance);
        assert_eq!(found, ["0.123", "0.001", "0.0004", "0.000002", "0.000000000"]);
    }

    #[test]
    fn a_term_is_named_if_it_is_large_in_every_area() {
        let pads = |share| Some((AreaTerm::Scratchpads, share));
        assert_eq!(
            large_terms(&[pads(0.8), pads(0.674)]),
            ", of which scratchpads take 67 to 80 % (xrsim area)"
        );
        assert_eq!(
            large_terms(&[pads(0.801), pads(0.8)]),
            ", of which scratchpads take 80 % (xrsim area)"
        );
        for other in [None, Some((AreaTerm::Pes, 0.6))] {
            assert_eq!(large_terms(&[pads(0.8), other]), "");
        }
        assert_eq!(large_terms(&[]), "");
    }

    #[test]
    fn systems_are_compared_within_a_size_unless_each_has_its_own() {
        let systems = [(1, "A"), (2, "A"), (2, "B")];
        assert_eq!(groups(&systems), [&systems[..1], &systems[1..]]);
        assert_eq!(groups(&systems[..2]), [&systems[..2]]);
    }
}
