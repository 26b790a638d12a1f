//! Rows of results as cells, for CSV files and for tables in memory.

use std::io;

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{Attempt, Outcome, Record, Segment};
use xrsim_model::units::SimTime;
use xrsim_sim::metrics::DeviceMetrics;
use xrsim_sim::plan::Plan;
use xrsim_sim::score::{Counted, InferenceScore, Score, Scorecard};
use xrsim_sim::sweep::RunResult;

use super::why::Why;
use super::{LabelValue, RunLabel, model_names};

/// Cells of a row of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Names, times, outcome and scores.
    Facts,
    /// Cause of a miss, and segments: long texts, of which nearly every one is different.
    Texts,
}

/// Destination of rows, cell by cell.
pub(super) trait Cells {
    /// Begins a row of the current run with the label of the run.
    fn start_row(&mut self);

    /// Ends a row.
    ///
    /// # Errors
    ///
    /// The error of a writer.
    fn end_row(&mut self) -> io::Result<()>;

    /// Adds a whole number.
    fn whole(&mut self, value: u64);

    /// Adds a number, or nothing.
    fn number(&mut self, value: Option<f64>);

    /// Adds a time in milliseconds, or nothing.
    fn time(&mut self, time: Option<SimTime>);

    /// Adds a text.
    fn text(&mut self, text: &str);

    /// Whether rows of requests have these cells.
    fn has(&self, _: Part) -> bool {
        true
    }
}

/// Cells of the label of a run.
pub(super) fn of_label(cells: &mut impl Cells, label: &RunLabel<'_>) {
    for column in RunLabel::COLUMNS {
        match column.of(label) {
            LabelValue::Text(text) => cells.text(text),
            LabelValue::Number(number) => cells.whole(number),
        }
    }
}

/// The row of a run.
///
/// # Errors
///
/// The error of a writer.
pub(super) fn of_run(
    cells: &mut impl Cells,
    scorecard: &Scorecard,
    device: &DeviceMetrics,
) -> io::Result<()> {
    cells.start_row();
    of_score(cells, &scorecard.total);
    of_device(cells, device);
    cells.end_row()
}

/// A row for each model of a run, in the order of the scenario.
///
/// # Errors
///
/// The error of a writer.
pub(super) fn of_models(
    cells: &mut impl Cells,
    plan: &Plan,
    scorecard: &Scorecard,
) -> io::Result<()> {
    let names = model_names(&plan.scenario);
    for ((active, name), model) in plan.scenario.models().iter().zip(names).zip(&scorecard.models) {
        cells.start_row();
        cells.text(name);
        cells.text(active.unit.network.name());
        of_score(cells, model);
        cells.end_row()?;
    }
    Ok(())
}

/// A row for each request of a run, in order of arrival.
///
/// # Errors
///
/// The error of a writer.
pub(super) fn of_requests(
    cells: &mut impl Cells,
    plan: &Plan,
    result: &RunResult,
) -> io::Result<()> {
    let names = model_names(&plan.scenario);
    let why = cells.has(Part::Texts).then(|| Why::new(plan, result));
    let counted = Counted::new(&plan.scenario, plan.warm_up());
    let requests = result.trace.records().iter().zip(&result.inferences);
    for (index, (record, score)) in requests.enumerate() {
        let active = plan.scenario.model(record.model);
        cells.start_row();
        if cells.has(Part::Facts) {
            cells.text(names[record.model.index()]);
            cells.text(active.unit.network.name());
            cells.whole(record.frame.index() as u64);
            cells.time(Some(record.arrival));
            cells.time(Some(record.deadline));
            of_outcome(cells, plan, record);
            for column in InferenceScore::SCORES {
                cells.number(score.as_ref().and_then(|score| column.of(score)));
            }
        }
        if let Some(why) = &why {
            let id = RequestId::new(index);
            cells.text(&why.short(id).unwrap_or_default());
            cells.text(&segments(plan, result.trace.segments_of(id)));
        }
        if cells.has(Part::Facts) {
            cells.text(if counted.counts(record) { "yes" } else { "no" });
        }
        cells.end_row()?;
    }
    Ok(())
}

/// Scores, counts and energy of a run or a model.
pub(super) fn of_score(cells: &mut impl Cells, score: &Score) {
    Score::columns().for_each(|column| cells.number(column.of(score)));
}

/// Metrics of the hardware of a run.
pub(super) fn of_device(cells: &mut impl Cells, device: &DeviceMetrics) {
    DeviceMetrics::COLUMNS.iter().for_each(|column| cells.number(column.of(device)));
}

/// Start, end, accelerator, outcome, reason and energy.
fn of_outcome(cells: &mut impl Cells, plan: &Plan, record: &Record) {
    match record.outcome {
        Outcome::Executed { accelerator, start, end, energy } => {
            cells.time(Some(start));
            cells.time(Some(end));
            cells.text(name_of(plan, accelerator));
            cells.text("executed");
            cells.text(if end > record.deadline { "late" } else { "" });
            cells.number(Some(energy.get()));
        }
        Outcome::Dropped { at, reason, energy, attempt } => {
            cells.time(attempt.map(|attempt| attempt.start));
            cells.time(Some(at));
            of_place(cells, plan, attempt);
            cells.text("dropped");
            cells.text(reason.name());
            cells.number(Some(energy.get()));
        }
        Outcome::NotTriggered => {
            cells.time(None);
            cells.time(None);
            cells.text("");
            cells.text("not_triggered");
            cells.text("");
            cells.number(Some(0.0));
        }
        Outcome::Lost { attempt } => {
            cells.time(attempt.map(|attempt| attempt.start));
            cells.time(None);
            of_place(cells, plan, attempt);
            cells.text("lost");
            let running = attempt.is_some();
            cells.text(if running { "running at the end" } else { "waiting at the end" });
            cells.number(Some(0.0));
        }
    }
}

/// Accelerator of an attempt; empty without an attempt.
fn of_place(cells: &mut impl Cells, plan: &Plan, attempt: Option<Attempt>) {
    let name = attempt.map(|attempt| name_of(plan, attempt.accelerator));
    cells.text(name.unwrap_or_default());
}

/// Start, end and accelerator of the segments of a request: `0.000000-1.500000 WS-0; 2.000000-2.250000 OS-1`, in ms.
fn segments(plan: &Plan, segments: &[Segment]) -> String {
    let ms = |time: SimTime| format!("{}.{:06}", time.ns() / 1_000_000, time.ns() % 1_000_000);
    let segment =
        |it: &Segment| format!("{}-{} {}", ms(it.start), ms(it.end), name_of(plan, it.accelerator));
    segments.iter().map(segment).collect::<Vec<_>>().join("; ")
}

fn name_of(plan: &Plan, accelerator: AccelId) -> &str {
    &plan.system.accelerators()[accelerator.index()].name
}
