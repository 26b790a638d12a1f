//! Output of `xrsim run`: files, and a table, CSV or JSON on standard output.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde_json::{Map, Value, json};

use xrsim_experiment::{Prepared, Run};
use xrsim_model::cost::{ChosenMappings, CostError, Infeasible};
use xrsim_model::hardware::Accelerator;
use xrsim_model::model::Network;
use xrsim_model::text::{self, counted};
use xrsim_report::dominant::DominantLayers;
use xrsim_report::gaps::LayerGaps;
use xrsim_report::idle_pes;
use xrsim_report::objectives::OtherObjectives;
use xrsim_report::overview::overview;
use xrsim_report::power::Powers;
use xrsim_report::scores;
use xrsim_results::cells::{Further, RunTable};
use xrsim_results::csv::{RowMaker, Table};
use xrsim_results::idle::{IdleEnergies, idle_energy_of};
use xrsim_results::limit::Limit;
use xrsim_results::score_rows::{ScoreRow, ScoreRows};
use xrsim_results::{RunLabel, json};
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::{RunError, RunResult, Scored};

use super::again::Again;
use super::assumed::assumed;
use super::console::Stream;
use super::mappings::Mappings;
use super::message::{AndCheck as _, Failure, say, warn};
use super::options::Format;
use super::output::{self, OutputFile, OutputSet};
use super::record;
use super::table_style;
use super::trace::CompleteTrace;

/// Options of the output of runs.
#[derive(Debug, Args)]
pub(super) struct OutputOptions {
    /// Folder of the results (scores.csv, models.csv, inferences.csv and run.json).
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Form of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Print every row with every column: every scenario on every system, for any number of rows.
    #[arg(long, conflicts_with = "matrix")]
    pub detail: bool,
    /// Print scores as a matrix, of all systems in all scenarios.
    #[arg(long)]
    pub matrix: bool,
    /// Explain the columns of the table below it.
    #[arg(long)]
    pub explain_columns: bool,
}

/// Takes the results of runs in order and writes them to every output.
pub(super) struct Results<'p> {
    prepared: &'p Prepared,
    again: Again,
    cost_model: String,
    started: Instant,
    seed: u64,
    format: Format,
    detail: bool,
    matrix: bool,
    explains: bool,
    folder: Option<Folder>,
    /// Whether files are written, even if standard output is closed.
    has_files: bool,
    stdout_csv: Option<Table<BufWriter<Stream>>>,
    json_runs: Vec<Value>,
    rows: ScoreRows,
    dominant: DominantLayers,
    gaps: LayerGaps,
    objectives: OtherObjectives,
    idle: IdleEnergies,
    powers: Powers,
    n_runs: usize,
    /// Runs that have no score.
    infeasible: Vec<Value>,
    /// Number of those that began and failed.
    n_failed: usize,
    /// Mappings of the runs, if a record is written.
    chosen: ChosenMappings,
    /// Pairs of network and accelerator that were not offered, each warned of once.
    not_offered: Vec<String>,
}

/// Names of the tables of `--out DIR`.
pub(super) const TABLES: [&str; 3] = {
    let [(scores, _), (models, _), (inferences, _)] = RunTable::FILES;
    [scores, models, inferences]
};

/// Names of all files of `--out DIR`.
pub(super) fn files() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().chain(RunTable::FURTHER.map(|it| it.0)).chain([record::RUN])
}

/// The files of `--out DIR`. They appear when all are complete.
struct Folder {
    set: OutputSet,
    tables: Vec<(&'static str, Table<OutputFile>)>,
}

impl Folder {
    /// Files of the runs of `plans`.
    fn create(path: &Path, plans: &[&Plan]) -> Result<Self, Failure> {
        let further = Further::of(plans.iter().copied());
        let set = OutputSet::create(path)?;
        let failure = |error| Failure::writing(&path.display(), &error);
        let table = |(name, kind)| {
            let table = Table::new(set.file(name)?, kind, &[], further);
            Ok((name, table.map_err(failure)?))
        };
        let tables = RunTable::files_of(plans.iter().copied()).map(table);
        let tables = tables.collect::<Result<_, Failure>>()?;
        Ok(Self { set, tables })
    }

    fn take(
        &mut self,
        plan: &Plan,
        label: &RunLabel<'_>,
        result: &RunResult,
    ) -> Result<(), Failure> {
        let taken =
            self.tables.iter_mut().try_for_each(|(_, table)| table.add(label, plan, result));
        taken.map_err(|error| Failure::writing(&self.set.folder().display(), &error))
    }

    fn write(&mut self, rows: &[Vec<u8>]) -> Result<(), Failure> {
        let mut both = self.tables.iter_mut().zip(rows);
        let written = both.try_for_each(|((_, table), rows)| table.write(rows));
        written.map_err(|error| Failure::writing(&self.set.folder().display(), &error))
    }

    fn finish(self, record: Map<String, Value>) -> Result<(), Failure> {
        let Self { mut set, tables } = self;
        let folder = set.folder().display().to_string();
        let mut names: Vec<_> = tables.iter().map(|(name, _)| *name).collect();
        names.push(record::RUN);
        for (name, table) in tables {
            set.add(name, table.finish().map_err(|error| Failure::writing(&folder, &error))?)?;
        }
        set.commit_and_say(record::RUN, record, format_args!("{}", names.join(", ")))
    }
}

/// Makes of the result of a run what [`Results::take`] needs, on any thread.
pub(super) struct Keep {
    makers: Vec<RowMaker>,
    /// Whether a trace is made of the result.
    is_traced: bool,
}

/// The result of a run, for the outputs.
pub(super) enum Kept {
    /// Rows of the tables of the folder as text, and the scores.
    Rows(Vec<Vec<u8>>, Scored),
    /// All of it.
    Whole(RunResult),
}

impl Keep {
    /// Most requests of a run whose rows are kept as text, which takes twice the memory of the requests.
    const MAX_REQUESTS: usize = 1 << 16;

    /// What is kept of `result`.
    pub(super) fn of(&self, plan: &Plan, cost_model: &str, result: RunResult) -> Kept {
        if self.is_traced || result.inferences.len() > Self::MAX_REQUESTS {
            return Kept::Whole(result);
        }
        let label = RunLabel::from_plan(plan, cost_model);
        let rows = self.makers.iter().map(|it| it.rows(&label, plan, &result)).collect();
        Kept::Rows(rows, result.scored)
    }
}

impl<'p> Results<'p> {
    /// Opens the outputs of `args`, before anything is computed.
    ///
    /// # Errors
    ///
    /// Returns a failure if the output folder cannot be written to.
    pub(super) fn new(
        args: &OutputOptions,
        has_trace: bool,
        prepared: &'p Prepared,
        again: Again,
    ) -> Result<Self, Failure> {
        let further = Further::of(prepared.plans());
        let plans: Vec<&Plan> = prepared.plans().collect();
        let create = |path| Folder::create(path, &plans);
        let folder = args.out.as_deref().map(create).transpose()?;
        let stdout_csv = match args.format {
            Format::Csv => {
                let out = BufWriter::new(Stream::Out);
                Some(Table::new(out, RunTable::Scores, &[], further).map_err(stdout_failure)?)
            }
            Format::Table | Format::Json => None,
        };
        Ok(Self {
            prepared,
            again,
            started: Instant::now(),
            cost_model: prepared.cost_model().name.clone(),
            seed: prepared.settings.load.seed,
            format: args.format,
            detail: args.detail,
            matrix: args.matrix,
            explains: args.explain_columns,
            has_files: folder.is_some() || has_trace,
            folder,
            stdout_csv,
            json_runs: Vec::new(),
            rows: ScoreRows::default(),
            dominant: DominantLayers::default(),
            gaps: LayerGaps::default(),
            objectives: OtherObjectives::default(),
            idle: IdleEnergies::default(),
            powers: Powers::default(),
            n_runs: 0,
            infeasible: Vec::new(),
            n_failed: 0,
            chosen: ChosenMappings::default(),
            not_offered: Vec::new(),
        })
    }

    /// Makes of results what [`Results::take`] needs.
    pub(super) fn keep(&self, is_traced: bool) -> Keep {
        let tables = self.folder.iter().flat_map(|it| &it.tables);
        Keep { makers: tables.map(|(_, table)| table.maker()).collect(), is_traced }
    }

    /// Takes the result of one run.
    ///
    /// # Errors
    ///
    /// Returns a failure if an output cannot be written.
    pub(super) fn take(
        &mut self,
        plan: &Plan,
        kept: Result<Kept, RunError>,
    ) -> Result<(), Failure> {
        let result = match kept {
            Ok(Kept::Rows(rows, scored)) => {
                self.folder.iter_mut().try_for_each(|it| it.write(&rows))?;
                Ok(scored)
            }
            Ok(Kept::Whole(result)) => {
                let label = RunLabel::from_plan(plan, &self.cost_model);
                self.folder.iter_mut().try_for_each(|it| it.take(plan, &label, &result))?;
                Ok(result.scored)
            }
            Err(error) => Err(error),
        };
        self.take_scored(plan, result)
    }

    /// Takes the result of one run for all outputs but the files of a folder.
    ///
    /// # Errors
    ///
    /// Returns a failure if an output cannot be written.
    pub(super) fn take_scored(
        &mut self,
        plan: &Plan,
        result: Result<Scored, RunError>,
    ) -> Result<(), Failure> {
        self.n_runs += 1;
        let cost_model = std::mem::take(&mut self.cost_model);
        let label = RunLabel::from_plan(plan, &cost_model);
        let taken = match result {
            Ok(result) => self.take_feasible(plan, &label, &result),
            Err(error) => {
                self.infeasible.push(infeasible(&label, &error));
                self.n_failed += usize::from(error.is_failure());
                self.rows.refuse(plan, &label);
                Ok(())
            }
        };
        self.cost_model = cost_model;
        taken
    }

    fn take_feasible(
        &mut self,
        plan: &Plan,
        label: &RunLabel<'_>,
        result: &Scored,
    ) -> Result<(), Failure> {
        self.warn_of_gaps(result);
        if self.has_record() {
            self.chosen.note_run(&plan.scenario, &plan.system, &result.costs);
        }
        if let Some(csv) = &mut self.stdout_csv {
            match csv.add_scored(label, plan, result).map_err(stdout_failure) {
                // The files are written even if nobody reads standard output.
                Err(Failure::BrokenPipe) if self.has_files => self.stdout_csv = None,
                printed => printed?,
            }
        }
        match self.format {
            Format::Json => {
                let mut run = json::run(plan, label, &result.scorecard, &result.device);
                if let Some(energy) = idle_energy_of(plan, result) {
                    run["idle_energy_mj"] = json!(energy.get());
                }
                self.json_runs.push(run);
            }
            Format::Table => {
                self.rows.add(plan, label, result);
                self.idle.take(plan, result);
                self.powers.take(plan, result);
                if label.replication == 0 {
                    let (again, prepared) = (&self.again, self.prepared);
                    self.dominant.take(plan, result, &|task, network| {
                        again.cost(prepared, plan, task, network)
                    });
                    let model = &*self.prepared.cost_model().model;
                    if model.chooses_mappings() {
                        self.gaps.take(plan, result, &|| again.run(prepared, plan));
                        self.objectives.take(plan, result, model);
                    }
                }
            }
            Format::Csv => {}
        }
        Ok(())
    }

    /// Whether a record is written.
    fn has_record(&self) -> bool {
        self.folder.is_some() || self.format == Format::Json
    }

    /// Warns of accelerators that cannot run a network of the scenario, each pair once; not of those that a file excludes.
    fn warn_of_gaps(&mut self, result: &Scored) {
        let is_given = |it: &&CostError| matches!(it.reason, Infeasible::Excluded(_));
        for reason in result.costs.not_offered().iter().filter(|it| !is_given(it)) {
            let line = format!("{reason}; schedulers leave this accelerator out for it");
            if !self.not_offered.contains(&line) {
                warn(format_args!("{line}"));
                self.not_offered.push(line);
            }
        }
    }

    /// Completes every output, first the files with `trace`, then standard output. `provenance` is called
    /// only if a record is written.
    ///
    /// # Errors
    ///
    /// Returns a failure if an output cannot be written, or if no run was feasible. In the second case no
    /// file is written, so that earlier results stay.
    pub(super) fn finish(
        mut self,
        trace: Option<CompleteTrace>,
        provenance: impl FnOnce() -> Map<String, Value>,
    ) -> Result<(), Failure> {
        self.note_infeasible();
        let Self { infeasible, n_runs, n_failed, .. } = &self;
        let (n_runs, n_failed) = (*n_runs, *n_failed);
        let all_infeasible = infeasible.len() == n_runs;
        let record = self.has_record().then(|| {
            let mut record = complete(provenance(), n_runs, infeasible.clone());
            Mappings::of(&self.chosen).add_to(&mut record);
            record
        });
        if let (Some(folder), Some(record), false) = (self.folder.take(), &record, all_infeasible) {
            folder.finish(record.clone())?;
        }
        trace.map_or(Ok(()), CompleteTrace::rename)?;
        let check = match n_failed {
            _ if all_infeasible => Err(Failure::Argument("no run was feasible".into())),
            0 => Ok(()),
            _ => Err(Failure::Check(format!(
                "error: {n_failed} of {n_runs} runs failed; means are over the others"
            ))),
        };
        self.print(record).and_check(check)
    }

    /// Prints which runs have no score, and the reasons: as warnings if runs began and failed, or if none has a score.
    /// Replications that have none for one reason are one line.
    fn note_infeasible(&self) {
        let mut notes: Vec<(&Value, Vec<&Value>)> = Vec::new();
        for entry in &self.infeasible {
            match notes.last_mut().filter(|(first, _)| is_same_run(first, entry)) {
                Some((_, replications)) => replications.push(&entry["replication"]),
                None => notes.push((entry, vec![&entry["replication"]])),
            }
        }
        let is_grave = self.n_failed > 0 || self.infeasible.len() == self.n_runs;
        let tell = |line: String| match is_grave {
            true => warn(format_args!("{line}")),
            false => say(format_args!("note: {line}")),
        };
        for (run, replications) in notes.iter().take(3) {
            let text = |key: &str| run[key].as_str().unwrap_or_default();
            let n = self.replications_of(run);
            let which = match &replications[..] {
                several if several.len() == n => String::new(),
                [only] => format!(", replication {only} of 0 to {}", n - 1),
                several => format!(", {} of {n} replications", several.len()),
            };
            tell(format!(
                "no score for {} on {}{which}: {}",
                text("scenario"),
                self.system_of(run),
                text::in_line(text("reason"))
            ));
        }
        if notes.len() > 3 {
            let more = notes[3..].iter().map(|(_, replications)| replications.len()).sum();
            let verb = if more == 1 { "has" } else { "have" };
            tell(format!("{} more {verb} no score", counted(more, "run")));
        }
    }

    /// Name of the system of a run that has no score, with its PEs where others of this name have other ones: `A@4096`.
    fn system_of(&self, run: &Value) -> String {
        let pes = run["pes"].as_u64().unwrap_or_default();
        let name = run["system"].as_str().unwrap_or_default();
        let mut all = self.prepared.plans().map(|plan| &plan.system);
        match all.any(|it| it.name() == name && it.pes() != pes) {
            true => format!("{name}@{pes}"),
            false => name.into(),
        }
    }

    /// Number of replications of a run that has no score.
    fn replications_of(&self, run: &Value) -> usize {
        let is_of = |plan: &&Plan| {
            run["scenario"] == plan.scenario.name()
                && run["system"] == plan.system.name()
                && run["pes"] == plan.system.pes()
        };
        self.prepared.plans().filter(is_of).count()
    }

    fn print(self, record: Option<Map<String, Value>>) -> Result<(), Failure> {
        match self.format {
            Format::Csv => match self.stdout_csv {
                Some(csv) => csv.finish().map(drop).map_err(stdout_failure),
                None => Ok(()),
            },
            Format::Json => {
                let mut document = record.unwrap_or_default();
                document.insert("runs".into(), Value::Array(self.json_runs));
                output::print_json(&document)
            }
            Format::Table => self.print_table(),
        }
    }

    /// Prints few rows with every column, many as the best systems of every scenario. A single draw
    /// names no best, so that its scores are printed as a matrix.
    fn print_table(&self) -> Result<(), Failure> {
        let rows = self.rows.rows();
        let style = table_style();
        let is_small = scores::is_small(rows);
        let is_once = rows.iter().any(ScoreRow::is_drawn_once);
        let print = |table: String| {
            let notes = [
                idle_pes::note(&self.prepared.distinct_systems()),
                self.dominant.notes(),
                self.gaps.note(),
                self.objectives.note(),
                self.idle.note(),
                self.powers.note(),
            ]
            .concat();
            output::print_text(&[table, assumed(self.prepared), notes].concat())
        };
        if self.detail || is_small && !self.matrix {
            return print(scores::detail(rows, self.seed, style, self.explains));
        }
        if self.matrix || is_once {
            return print(scores::matrix(rows, self.seed, style));
        }
        let cost_model = &*self.prepared.cost_model().model;
        let limit = |network: &Network, accelerator: &Accelerator| {
            Limit::compute(cost_model, network, accelerator)
        };
        print(overview(rows, self.seed, style, self.explains, limit))?;
        let seconds = self.started.elapsed().as_secs_f64();
        say(format_args!("{} in {seconds:.1} s", counted(self.n_runs, "run")));
        Ok(())
    }
}

/// Writes the files of `runs` into `folder`, with their record.
///
/// # Errors
///
/// Returns a failure if a file cannot be written, or if no run was feasible.
pub(super) fn save(
    folder: &Path,
    runs: &[Run],
    mut record: Map<String, Value>,
) -> Result<(), Failure> {
    if runs.iter().all(|run| run.result.is_err()) {
        refuse!("no run was feasible");
    }
    let plans: Vec<&Plan> = runs.iter().map(|run| &run.plan).collect();
    let mut files = Folder::create(folder, &plans)?;
    let mut chosen = ChosenMappings::default();
    for run in runs {
        if let Ok(result) = &run.result {
            chosen.note_run(&run.plan.scenario, &run.plan.system, &result.costs);
            files.take(&run.plan, &run.label(), result)?;
        }
    }
    Mappings::of(&chosen).add_to(&mut record);
    files.finish(record)
}

/// Entry of a record for a run that has no score.
pub(super) fn infeasible(label: &RunLabel<'_>, error: &RunError) -> Value {
    let mut object = json::label(label);
    object.insert("reason".into(), json!(error.to_string()));
    Value::Object(object)
}

/// The record of runs that were made.
pub(super) fn complete(
    mut record: Map<String, Value>,
    n_runs: usize,
    infeasible: Vec<Value>,
) -> Map<String, Value> {
    record.insert("n_runs".into(), json!(n_runs));
    record.insert("infeasible".into(), json!(infeasible));
    record
}

/// Whether two runs without a score differ only in their replication.
fn is_same_run(a: &Value, b: &Value) -> bool {
    ["scenario", "system", "pes", "reason"].into_iter().all(|key| a[key] == b[key])
}

fn stdout_failure(error: io::Error) -> Failure {
    Failure::writing(&"standard output", &error)
}
