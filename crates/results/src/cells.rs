//! Tables of the results of runs: their columns with the cells of a row, for CSV files, for tables in memory and for
//! readers.

use std::io;

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{Attempt, BusyInterval, Outcome, Record, Segment, Trace};
use xrsim_model::units::SimTime;
use xrsim_sim::metrics::DeviceMetrics;
use xrsim_sim::plan::Plan;
use xrsim_sim::score::{Counted, InferenceScore, Score};
use xrsim_sim::sweep::day::DayMetrics;
use xrsim_sim::sweep::{Made, RunResult, Scored};

use super::device::{self, DeviceRow, STOPPED};
use super::digits::push_ms;
use super::fields::{Cells, Field, Heading, Rows, Value};
use super::sequences::{self, SequenceRow};
use super::why::Why;
use super::{RunLabel, model_names};

/// A table of the results of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTable {
    /// `scores.csv`: a row for each run.
    Scores,
    /// `models.csv`: a row for each model of a run, in the order of the scenario.
    Models,
    /// `inferences.csv`: a row for each request of a run, in order of arrival.
    Inferences,
    /// The same without [`RunTable::InferenceTexts`].
    InferenceFacts,
    /// `sequences.csv`: a row for each start of a sequence. Runs without sequences have none.
    Sequences,
    /// `device.csv`: a row for each run on a device.
    Device,
    /// Scores of runs on devices, of which only sweeps have rows.
    Stops,
    /// Results of runs of profiles, of which only sweeps have rows.
    Days,
    /// Causes of misses, and segments: long texts, of which nearly every one is different. The rows have no label.
    InferenceTexts,
}

/// Columns at the end of tables that only some runs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Further {
    /// Counts of requests that were not captured: frames of sensors can be missing.
    uncaptured: bool,
    /// The clock of each request: accelerators have several operating points.
    clocks: bool,
    /// The network of each request: several can be chosen.
    variants: bool,
    /// The counts of each request: they can differ from frame to frame.
    counts: bool,
}

impl Further {
    /// Columns of the tables of runs of `plans`.
    pub fn of<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        plans.into_iter().fold(Self::default(), |all, plan| Self {
            uncaptured: all.uncaptured || plan.may_lack_frames(),
            clocks: all.clocks || plan.device.as_ref().is_some_and(|it| it.has_points()),
            variants: all.variants || plan.has_choices(),
            counts: all.counts || plan.drawn().counts,
        })
    }
}

/// A table of some runs: its file, and which runs have it.
pub type FurtherTable = (&'static str, RunTable, fn(&Plan) -> bool);

impl RunTable {
    /// The tables of a folder of results, with their files.
    pub const FILES: [(&str, Self); 3] = [
        ("scores.csv", Self::Scores),
        ("models.csv", Self::Models),
        ("inferences.csv", Self::Inferences),
    ];

    /// The tables of some runs.
    pub const FURTHER: [FurtherTable; 2] = [
        ("sequences.csv", Self::Sequences, Plan::has_sequences),
        ("device.csv", Self::Device, |plan| plan.device.is_some()),
    ];

    /// The tables of `plans` with their files.
    pub fn files_of<'p>(
        plans: impl Iterator<Item = &'p Plan> + Clone,
    ) -> impl Iterator<Item = (&'static str, Self)> {
        let further = Self::FURTHER.into_iter();
        let further = further.filter(move |(.., has)| plans.clone().any(has));
        Self::FILES.into_iter().chain(further.map(|(name, table, _)| (name, table)))
    }

    /// Columns of the label of a run, with which the rows begin.
    pub fn label() -> impl Iterator<Item = Heading> {
        RunLabel::COLUMNS.into_iter().map(|column| column.heading())
    }

    /// Columns after the label that all runs have.
    pub fn columns(self) -> Vec<Heading> {
        let scores = Score::columns().map(Heading::of);
        let facts = RequestRow::FACTS.iter().map(Field::heading);
        let facts = facts.chain(InferenceScore::SCORES.iter().map(Heading::of));
        let texts = RequestRow::TEXTS.iter().map(Field::heading);
        let counted = [RequestRow::COUNTED.heading()];
        match self {
            Self::Scores | Self::Stops => {
                let device = DeviceMetrics::COLUMNS.iter().map(Heading::of);
                let columns = scores.chain(device.map(|it| Heading { is_later: true, ..it }));
                columns.chain((self == Self::Stops).then(|| STOPPED.heading())).collect()
            }
            Self::Models => ModelRow::NAMES.iter().map(Field::heading).chain(scores).collect(),
            Self::Inferences => facts.chain(texts).chain(counted).collect(),
            Self::InferenceFacts => facts.chain(counted).collect(),
            Self::InferenceTexts => texts.collect(),
            Self::Sequences => SequenceRow::COLUMNS.iter().map(Field::heading).collect(),
            Self::Device => DeviceRow::COLUMNS.iter().map(Field::heading).collect(),
            Self::Days => {
                let columns = DayMetrics::COLUMNS.iter().map(Heading::of);
                columns.chain([device::HIGHEST.heading()]).collect()
            }
        }
    }

    /// Names of the columns after the label that all runs have.
    pub fn names(self) -> Vec<&'static str> {
        self.columns().iter().map(|column| column.name).collect()
    }

    /// Columns at the end.
    pub fn further(self, further: Further) -> Vec<Heading> {
        match self {
            Self::Scores | Self::Models => {
                let columns = Score::UNCAPTURED.iter().filter(|_| further.uncaptured);
                columns.map(Heading::of).collect()
            }
            Self::Inferences | Self::InferenceFacts => {
                RequestRow::further(further).map(|it| it.heading()).collect()
            }
            Self::InferenceTexts | Self::Sequences => Vec::new(),
            Self::Device | Self::Stops | Self::Days => Vec::new(),
        }
    }

    /// Adds the rows of a run, with these columns at the end.
    ///
    /// # Errors
    ///
    /// The error of a writer.
    pub(super) fn add(
        self,
        rows: &mut impl Rows,
        plan: &Plan,
        result: &RunResult,
        further: Further,
    ) -> io::Result<()> {
        match self {
            Self::Scores | Self::Models | Self::Device | Self::Stops | Self::Days => {
                self.add_scored(rows, plan, result, further)
            }
            Self::Inferences | Self::InferenceFacts | Self::InferenceTexts => {
                self.add_requests(rows, plan, result, further)
            }
            Self::Sequences => {
                for row in sequences::rows(plan, &result.trace) {
                    rows.start_row();
                    SequenceRow::COLUMNS.iter().for_each(|column| column.add(&row, rows));
                    rows.end_row()?;
                }
                Ok(())
            }
        }
    }

    /// Adds the rows of a run whose requests were not kept: those of [`RunTable::Scores`] and [`RunTable::Models`].
    ///
    /// # Errors
    ///
    /// The error of a writer.
    pub(super) fn add_scored(
        self,
        rows: &mut impl Rows,
        plan: &Plan,
        scored: &Scored,
        further: Further,
    ) -> io::Result<()> {
        match self {
            Self::Scores => {
                rows.start_row();
                add_run(rows, &scored.scorecard.total, &scored.device);
                add_uncaptured(rows, &scored.scorecard.total, further);
                rows.end_row()
            }
            Self::Models => add_models(rows, plan, scored, further),
            Self::Device => {
                let Some(ledger) = &scored.ledger else { return Ok(()) };
                rows.start_row();
                let row = DeviceRow::new(ledger, scored.body.as_deref());
                DeviceRow::COLUMNS.iter().for_each(|column| column.add(&row, rows));
                rows.end_row()
            }
            Self::Inferences | Self::InferenceFacts | Self::InferenceTexts => Ok(()),
            Self::Sequences | Self::Stops | Self::Days => Ok(()),
        }
    }

    fn add_requests(
        self,
        rows: &mut impl Rows,
        plan: &Plan,
        result: &RunResult,
        further: Further,
    ) -> io::Result<()> {
        let names = model_names(&plan.scenario);
        let (has_facts, has_texts) = (self != Self::InferenceTexts, self != Self::InferenceFacts);
        let why = has_texts.then(|| Why::new(plan, result));
        let counted = Counted::new(&plan.scenario, plan.warm_up());
        let supplied = plan.supplied().unwrap_or_default();
        let requests = result.trace.records().iter().zip(&result.inferences);
        for (index, (record, score)) in requests.enumerate() {
            let id = RequestId::new(index);
            let segments = |_: &Why<'_>| segments(plan, result.trace.segments_of(id));
            let model = plan.scenario.model(record.model);
            let row = RequestRow {
                model: names[record.model.index()],
                network: model.unit.network.name(),
                record,
                ending: Ending::of(plan, record),
                cause: why.as_ref().and_then(|why| why.short(id)).unwrap_or_default(),
                segments: why.as_ref().map(segments).unwrap_or_default(),
                is_counted: counted.counts(record),
                clocks: match further.clocks {
                    true => clocks(&result.trace, &supplied, id),
                    false => String::new(),
                },
                variant: model.network_of(result.trace.variant_of(id)).name(),
                counts: match further.counts {
                    true => counts(plan, record, result.trace.variant_of(id)),
                    false => String::new(),
                },
            };
            rows.start_row();
            if has_facts {
                RequestRow::FACTS.iter().for_each(|column| column.add(&row, rows));
                for column in InferenceScore::SCORES {
                    rows.number(score.as_ref().and_then(|score| column.of(score)));
                }
            }
            if has_texts {
                RequestRow::TEXTS.iter().for_each(|column| column.add(&row, rows));
            }
            if has_facts {
                RequestRow::COUNTED.add(&row, rows);
                RequestRow::further(further).for_each(|column| column.add(&row, rows));
            }
            rows.end_row()?;
        }
        Ok(())
    }
}

/// Adds the results of a run of a sweep to the row of a `table`.
pub(super) fn add_made(cells: &mut impl Cells, table: RunTable, made: &Made) {
    match made {
        Made::Run(scored) => {
            add_run(cells, &scored.scorecard.total, &scored.device);
            if table == RunTable::Stops {
                STOPPED.add(&device::stopped_at_s(scored.body.as_deref()), cells);
            }
        }
        Made::Day(day) => {
            DayMetrics::COLUMNS.iter().for_each(|column| cells.number(column.of(day)));
            device::HIGHEST
                .add(&device::highest(day.highest_c.iter().map(|(it, c)| (&**it, *c))), cells);
        }
    }
}

/// Adds the scores, counts and energy of a run, and the metrics of its hardware.
fn add_run(cells: &mut impl Cells, score: &Score, device: &DeviceMetrics) {
    add_score(cells, score);
    DeviceMetrics::COLUMNS.iter().for_each(|column| cells.number(column.of(device)));
}

fn add_score(cells: &mut impl Cells, score: &Score) {
    Score::columns().for_each(|column| cells.number(column.of(score)));
}

fn add_uncaptured(cells: &mut impl Cells, score: &Score, further: Further) {
    let columns = Score::UNCAPTURED.iter().filter(|_| further.uncaptured);
    columns.for_each(|column| cells.number(column.of(score)));
}

fn add_models(
    rows: &mut impl Rows,
    plan: &Plan,
    result: &Scored,
    further: Further,
) -> io::Result<()> {
    let names = model_names(&plan.scenario).into_iter().zip(plan.scenario.models());
    for ((name, active), score) in names.zip(&result.scorecard.models) {
        let row = ModelRow { name, network: active.unit.network.name() };
        rows.start_row();
        ModelRow::NAMES.iter().for_each(|column| column.add(&row, rows));
        add_score(rows, score);
        add_uncaptured(rows, score, further);
        rows.end_row()?;
    }
    Ok(())
}

/// Row of a model, before its scores.
struct ModelRow<'r> {
    name: &'r str,
    network: &'r str,
}

impl ModelRow<'_> {
    const NAMES: [Field<Self>; 2] = [
        Field::new("model", Value::Text(|it| it.name)),
        Field::new("network", Value::Text(|it| it.network)),
    ];
}

impl SequenceRow<'_> {
    const COLUMNS: [Field<Self>; 16] = [
        Field::new("model", Value::Text(|it| it.model)),
        Field::new("network", Value::Text(|it| it.network)),
        Field::new("start", Value::Whole(|it| it.start)),
        Field::new("arrival_ms", Value::Time(|it| Some(it.arrival))),
        Field::new("outcome", Value::Text(|it| it.outcome)),
        Field::new("prompt_tokens", Value::Whole(|it| it.prompt.into())),
        Field::new("asked_tokens", Value::Whole(|it| it.asked.into())),
        Field::new("tokens", Value::Whole(|it| it.tokens.len() as u64)),
        Field::new("ttft_ms", Value::Number(|it| Some(it.ttft()?.as_ms()))),
        Field::new("tpot_mean_ms", Value::Number(Self::tpot_mean_ms)),
        Field::new("tpot_p99_ms", Value::Number(|it| Some(it.gap(99)?.as_ms()))),
        Field::new("longest_gap_ms", Value::Number(|it| Some(it.gap(100)?.as_ms()))),
        Field::new("tokens_per_s", Value::Number(|it| Some(1e3 / it.tpot_mean_ms()?))),
        Field::new("cache_mib", Value::Number(Self::cache_mib)),
        Field::new("energy_mj", Value::Number(|it| Some(it.energy_mj))),
        Field::new("energy_per_token_mj", Value::Number(Self::energy_per_token_mj)),
    ];
}

/// Row of a request, apart from its scores.
struct RequestRow<'r> {
    model: &'r str,
    network: &'r str,
    record: &'r Record,
    ending: Ending<'r>,
    /// Cause of a miss.
    cause: String,
    segments: String,
    is_counted: bool,
    /// Clocks at which it runs \[MHz\].
    clocks: String,
    /// Network that it runs.
    variant: &'r str,
    /// Counts that differ from frame to frame.
    counts: String,
}

impl RequestRow<'_> {
    /// Columns before the scores.
    const FACTS: [Field<Self>; 11] = [
        Field::new("model", Value::Text(|it| it.model)),
        Field::new("network", Value::Text(|it| it.network)),
        Field::new("frame", Value::Whole(|it| it.record.frame.index() as u64)),
        Field::new("arrival_ms", Value::Time(|it| Some(it.record.arrival))),
        Field::new("deadline_ms", Value::Time(|it| Some(it.record.deadline))),
        Field::new("start_ms", Value::Time(|it| it.ending.start)),
        Field::new("end_ms", Value::Time(|it| it.ending.end)),
        Field::new("accelerator", Value::Text(|it| it.ending.accelerator)),
        Field::new("outcome", Value::Text(|it| it.ending.outcome)),
        Field::new("reason", Value::Text(|it| it.ending.reason)),
        Field::new("energy_mj", Value::Number(|it| Some(it.ending.energy_mj))),
    ];

    /// Long texts after the scores.
    const TEXTS: [Field<Self>; 2] = [
        Field::new("cause", Value::Text(|it| &it.cause)),
        Field::<Self>::new("segments", Value::Text(|it| &it.segments)).later(),
    ];

    /// Columns at the end of the files of some runs.
    fn further(further: Further) -> impl Iterator<Item = Field<Self>> {
        let clock = further.clocks.then_some(Self::CLOCK);
        let variant = further.variants.then_some(Self::VARIANT);
        clock.into_iter().chain(variant).chain(further.counts.then_some(Self::COUNT))
    }

    /// The last column of all runs.
    const COUNTED: Field<Self> =
        Field::<Self>::new("counted", Value::Text(|it| if it.is_counted { "yes" } else { "no" }))
            .later();

    const CLOCK: Field<Self> =
        Field::<Self>::new("clock_mhz", Value::Text(|it| &it.clocks)).later();

    const VARIANT: Field<Self> =
        Field::<Self>::new("variant", Value::Text(|it| it.variant)).later();

    const COUNT: Field<Self> = Field::<Self>::new("count", Value::Text(|it| &it.counts)).later();
}

/// Clocks at which a request ran, in order, without repetitions \[MHz\]: `1000` or `1000;700`; empty if it never ran.
fn clocks(trace: &Trace, supplied: &[Supplied], id: RequestId) -> String {
    let clock = |interval: BusyInterval| {
        let point = trace.points().during(&interval)?;
        let points = &supplied.get(interval.accelerator.index())?.points;
        Some(points.get(point).clock.as_mhz().to_string())
    };
    let mut clocks: Vec<_> = trace.busy_intervals_of(id).filter_map(clock).collect();
    clocks.dedup();
    clocks.join(";")
}

/// Counts of a request that runs `variant`, in the order of the scenario; empty if its model gives none.
fn counts(plan: &Plan, record: &Record, variant: u32) -> String {
    let work = plan.scenario.model(record.model).work.as_ref();
    let counts = work.and_then(|work| work.counts_of(variant)).unwrap_or_default();
    counts.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// End of a request.
#[derive(Default)]
struct Ending<'r> {
    start: Option<SimTime>,
    end: Option<SimTime>,
    /// Name of the accelerator; empty if it never ran.
    accelerator: &'r str,
    outcome: &'static str,
    /// Reason of a missed deadline; empty without one.
    reason: &'static str,
    energy_mj: f64,
}

impl<'r> Ending<'r> {
    fn of(plan: &'r Plan, record: &Record) -> Self {
        let attempted = |attempt: Option<Attempt>| Self {
            start: attempt.map(|it| it.start),
            accelerator: attempt.map(|it| name_of(plan, it.accelerator)).unwrap_or_default(),
            ..Self::default()
        };
        match record.outcome {
            Outcome::Executed { accelerator, start, end, energy } => Self {
                start: Some(start),
                end: Some(end),
                accelerator: name_of(plan, accelerator),
                outcome: "executed",
                reason: if end > record.deadline { "late" } else { "" },
                energy_mj: energy.get(),
            },
            Outcome::Dropped { at, reason, energy, attempt } => Self {
                end: Some(at),
                outcome: "dropped",
                reason: reason.name(),
                energy_mj: energy.get(),
                ..attempted(attempt)
            },
            Outcome::NotTriggered => Self { outcome: "not_triggered", ..Self::default() },
            Outcome::NotCaptured(absence) => {
                Self { outcome: "not_captured", reason: absence.name(), ..Self::default() }
            }
            Outcome::Lost { attempt } => Self {
                outcome: "lost",
                reason: if attempt.is_some() { "running at the end" } else { "waiting at the end" },
                ..attempted(attempt)
            },
        }
    }
}

/// Start, end and accelerator of the segments of a request: `0.000000-1.500000 WS-0; 2.000000-2.250000 OS-1`, in ms.
fn segments(plan: &Plan, segments: &[Segment]) -> String {
    let mut text = String::new();
    for (at, it) in segments.iter().enumerate() {
        text.push_str(if at > 0 { "; " } else { "" });
        push_ms(&mut text, it.start);
        text.push('-');
        push_ms(&mut text, it.end);
        text.push(' ');
        text.push_str(name_of(plan, it.accelerator));
    }
    text
}

fn name_of(plan: &Plan, accelerator: AccelId) -> &str {
    &plan.system.accelerators()[accelerator.index()].name
}
