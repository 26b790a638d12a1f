//! Runs that were made.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use xrsim_figures::{self as figures, Caption, Format, Timeline};
use xrsim_model::trace::Trace;
use xrsim_report::timeline::timeline;
use xrsim_results::RunLabel;
use xrsim_results::cells::{Further, RunTable};
use xrsim_results::columns::{Columns, ColumnsOfRuns};
use xrsim_results::csv::{Table, beside_label};
use xrsim_sim::plan::Plan;
use xrsim_sim::score::Scorecard;
use xrsim_sim::sweep::{RunError, RunResult};

use super::ExperimentError;

/// A run that was made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Run {
    /// Scenario, system and settings.
    pub plan: Plan,
    /// Name of the cost model.
    pub cost_model: Box<str>,
    /// Keys that vary ([`Experiment::vary`](super::Experiment::vary)), in the order of the calls, with
    /// their values in this run.
    pub varied: Arc<[(Box<str>, Box<str>)]>,
    /// Scores, trace and costs, or the reason that there are none.
    pub result: Result<RunResult, RunError>,
}

impl Run {
    /// Label in results: scenario, system, scheduler and so on.
    pub fn label(&self) -> RunLabel<'_> {
        RunLabel::from_plan(&self.plan, &self.cost_model)
    }

    /// Value of a key that varies, as text; `None` if `key` does not vary.
    pub fn varied(&self, key: &str) -> Option<&str> {
        let found = self.varied.iter().find(|(known, _)| **known == *key);
        found.map(|(_, value)| &**value)
    }

    /// Scores, trace and costs.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] if the run could not be made.
    pub fn result(&self) -> Result<&RunResult, ExperimentError> {
        self.result.as_ref().map_err(|error| error.clone().into())
    }

    /// Scores of the run and of each of its models.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] if the run could not be made.
    pub fn scorecard(&self) -> Result<&Scorecard, ExperimentError> {
        self.result().map(|result| &result.scorecard)
    }

    /// The timeline of the run as a figure: executions on every accelerator, and drops.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] if the run could not be made.
    pub fn timeline(&self) -> Result<Timeline, ExperimentError> {
        let label = self.label();
        let title = format!("{} on {}, {}", label.scenario, label.system, label.scheduler);
        let subtitle = "hatched: ended late; ticks below: dropped, with their number".into();
        let caption = Caption { subtitle, ..Caption::titled(title) };
        Ok(timeline(caption, &[(&self.plan, self.result()?)]))
    }

    /// Draws the timeline of the run into a file, as PNG or PDF if its name ends in `.png` or `.pdf`, else as SVG.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] if the run could not be made, [`ExperimentError::Figure`] if it has too
    /// many models or accelerators to draw, [`ExperimentError::Output`] if the file cannot be written.
    pub fn write_timeline(&self, path: impl AsRef<Path>) -> Result<(), ExperimentError> {
        let path = path.as_ref();
        let is_of = |it: &&Format| path.extension().is_some_and(|ending| ending == it.extension());
        let format = Format::ALL.iter().find(is_of).copied().unwrap_or(Format::Svg);
        let bytes = figures::render(&self.timeline()?, format)?;
        fs::write(path, bytes).map_err(|error| ExperimentError::output(path, &error))
    }

    /// Outcome of every request.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] if the run could not be made.
    pub fn trace(&self) -> Result<&Trace, ExperimentError> {
        self.result().map(|result| &result.trace)
    }
}

/// All runs of an experiment, in order.
#[derive(Debug, Clone, Default)]
pub struct Runs(Vec<Run>);

impl Runs {
    /// Writes `scores.csv` (a row per run), `models.csv` (a row per model of a run) and `inferences.csv`
    /// (a row per request) into `folder`, which is made if it does not exist. Keys that vary have a column
    /// each, after the label of the run. Runs without scores have no rows.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Output`] if a file cannot be written.
    pub fn write_tables(&self, folder: impl AsRef<Path>) -> Result<(), ExperimentError> {
        let folder = folder.as_ref();
        self.write(folder).map_err(|error| ExperimentError::output(folder, &error))
    }

    /// The table of `scores.csv` in columns: a row per run.
    pub fn scores(&self) -> Columns {
        self.columns(RunTable::Scores)
    }

    /// The table of `models.csv` in columns: a row per model of a run.
    pub fn models(&self) -> Columns {
        self.columns(RunTable::Models)
    }

    /// The table of `inferences.csv` in columns: a row per request, without `cause` and `segments`, which
    /// [`Runs::inference_texts`] has.
    pub fn inferences(&self) -> Columns {
        self.columns(RunTable::InferenceFacts)
    }

    /// The columns `cause` and `segments` of `inferences.csv`: a row per request. They take about five times as long as
    /// all others.
    pub fn inference_texts(&self) -> Columns {
        self.columns(RunTable::InferenceTexts)
    }

    fn columns(&self, table: RunTable) -> Columns {
        let keys = self.keys();
        let mut columns = ColumnsOfRuns::new(table, &keys, self.further());
        for run in &self.0 {
            let Ok(result) = &run.result else { continue };
            let values = keys.iter().filter_map(|key| run.varied(key));
            let added = columns.add(&run.label(), values, &run.plan, result);
            added.expect("memory takes every row");
        }
        columns.finish()
    }

    fn further(&self) -> Further {
        Further::of(self.0.iter().map(|run| &run.plan))
    }

    /// Keys that vary and have a column of their own.
    fn keys(&self) -> Vec<&str> {
        let keys = self.0.first().map_or(&[][..], |run| &run.varied);
        beside_label(keys.iter().map(|(key, _)| &**key)).collect()
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let file = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
        let keys = self.keys();
        for (name, table) in RunTable::files_of(self.0.iter().map(|run| &run.plan)) {
            let mut table = Table::new(file(name)?, table, &keys, self.further())?;
            for run in &self.0 {
                let Ok(result) = &run.result else { continue };
                table.set_settings(keys.iter().filter_map(|key| run.varied(key)));
                table.add(&run.label(), &run.plan, result)?;
            }
            table.finish()?;
        }
        Ok(())
    }
}

impl FromIterator<Run> for Runs {
    fn from_iter<I: IntoIterator<Item = Run>>(runs: I) -> Self {
        Self(runs.into_iter().collect())
    }
}

impl Deref for Runs {
    type Target = [Run];

    fn deref(&self) -> &[Run] {
        &self.0
    }
}

impl IntoIterator for Runs {
    type Item = Run;
    type IntoIter = std::vec::IntoIter<Run>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Runs {
    type Item = &'a Run;
    type IntoIter = std::slice::Iter<'a, Run>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
