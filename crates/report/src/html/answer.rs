//! The answer of runs: the sentences and the table of a terminal, from the files of the runs.

use serde::Serialize;

use xrsim_results::score_rows::{ReadRun, ScoreRows};
use xrsim_sim::score::Score;

use crate::overview::{self, answer};

use super::article::Table;
use super::provenance::Provenance;
use super::results::{Results, Run};

/// The answer, as the page carries it.
#[derive(Serialize)]
pub(super) struct Answer {
    /// The best systems, a sentence each.
    sentences: Vec<String>,
    /// Number of draws, in a phrase.
    head: String,
    /// Uncertainty of the numbers.
    draws: String,
    /// The best systems of every scenario, or every run.
    table: Table,
    /// Meanings of its columns.
    legend: Vec<String>,
}

impl Answer {
    /// The answer of `results`.
    pub(super) fn new(results: &Results, provenance: &Provenance) -> Self {
        let mut rows = ScoreRows::default();
        for run in &results.runs {
            rows.add_read(&read(run, results, provenance));
        }
        let overview::Answer { sentences, head, draws, table, legend } =
            answer(rows.rows(), provenance.seed());
        let is_known = results.runs.iter().all(|it| provenance.drawn(&it.label[0]).is_some());
        let known = |text: String| match is_known {
            true => text,
            false => "the record of an earlier version does not say what is random".into(),
        };
        Self {
            sentences,
            head: known(head),
            draws: known(draws),
            table: Table::written("The answer of these runs", table),
            legend,
        }
    }
}

/// The run as a table of scores takes it.
fn read<'a>(run: &'a Run, results: &Results, provenance: &Provenance) -> ReadRun<'a> {
    let [scenario, system, pes, semantics, .., replication] = &run.label;
    let total = score(&run.cells);
    let area = results.device.iter().position(|it| it.name == "area_mm2");
    let area = area.and_then(|at| run.cells.get(Score::columns().count() + at)?.as_f64());
    let seconds = provenance.effective("duration_ms").parse::<f64>().map(|ms| ms / 1e3);
    let power = || total.counts.energy.get() / seconds.unwrap_or(f64::NAN);
    ReadRun {
        scenario,
        system,
        pes: pes.parse().unwrap_or(0),
        replication: replication.parse().unwrap_or(0),
        area_mm2: area,
        power_mw: run.power_mw.unwrap_or_else(power),
        drawn: provenance.drawn(scenario).unwrap_or_default(),
        total,
        models: run.models.iter().map(|it| (&*it.name, score(&it.cells))).collect(),
        counts_all: &**semantics == "mlsys2023"
            || ["one", "zero"].contains(&provenance.effective("score.never_triggered")),
    }
}

/// Scores from cells in the order of [`Score::columns`].
fn score(cells: &[serde_json::Value]) -> Score {
    let names: Vec<_> = Score::columns().map(|column| column.name).collect();
    let value = |name: &str| {
        let at = names.iter().position(|known| *known == name);
        at.and_then(|at| cells.get(at)?.as_f64()).unwrap_or(0.0)
    };
    match Score::read(|column| Ok::<_, std::convert::Infallible>(value(column.name))) {
        Ok(score) => score,
    }
}
