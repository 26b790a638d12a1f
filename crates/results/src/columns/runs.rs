//! Rows of runs as columns.

use std::io;

use crate::RunLabel;
use crate::cells::{self, Cells, Part};
use crate::csv::{LABEL, REQUEST, REST};
use xrsim_model::units::SimTime;
use xrsim_sim::metrics::DeviceMetrics;
use xrsim_sim::plan::Plan;
use xrsim_sim::score::{InferenceScore, Score};
use xrsim_sim::sweep::RunResult;

use super::{Builder, Columns, Nature, nature_of};

/// Adds rows of runs to columns.
pub struct ColumnsOfRuns {
    /// The only cells of requests; `None` for all.
    part: Option<Part>,
    builders: Vec<Builder>,
    /// Label of the current run: text and number of each column.
    label: Vec<(Box<str>, Option<u64>)>,
    /// Values of settings of the current run.
    settings: Vec<Box<str>>,
    /// Column of the next cell.
    at: usize,
    n_rows: usize,
    /// Rows that have their label.
    n_labelled: usize,
}

impl ColumnsOfRuns {
    fn new(settings: &[&str], columns: impl IntoIterator<Item = (&'static str, Nature)>) -> Self {
        let label = LABEL.iter().map(|name| Builder::new(name, nature_of(name), 0));
        let settings = settings.iter().map(|name| Builder::new(name, Nature::Text, 0));
        let others = columns.into_iter().map(|(name, nature)| Builder::new(name, nature, 0));
        Self::of(None, label.chain(settings).chain(others).collect())
    }

    fn of(part: Option<Part>, builders: Vec<Builder>) -> Self {
        let (label, settings) = (Vec::new(), Vec::new());
        Self { part, builders, label, settings, at: 0, n_rows: 0, n_labelled: 0 }
    }

    /// Columns of `scores.csv`, with columns for `settings` after the label.
    pub fn scores(settings: &[&str]) -> Self {
        Self::new(settings, results().chain(devices()))
    }

    /// Columns of `models.csv`.
    pub fn models(settings: &[&str]) -> Self {
        let names = ["model", "network"].map(|name| (name, Nature::Text));
        Self::new(settings, names.into_iter().chain(results()))
    }

    /// Columns of `inferences.csv` but for the long texts.
    pub fn inferences(settings: &[&str]) -> Self {
        let request = REQUEST.map(|name| (name, nature_of(name)));
        let [.., counted] = REST;
        let columns = request.into_iter().chain(request_scores()).chain([(counted, Nature::Text)]);
        Self { part: Some(Part::Facts), ..Self::new(settings, columns) }
    }

    /// The long texts of `inferences.csv` alone.
    pub fn inference_texts(_: &[&str]) -> Self {
        let [texts @ .., _] = REST;
        let builders = texts.iter().map(|name| Builder::new(name, Nature::Text, 0));
        Self::of(Some(Part::Texts), builders.collect())
    }

    /// Begins the rows of a run.
    pub fn start_run<'a>(&mut self, label: &RunLabel<'_>, settings: impl Iterator<Item = &'a str>) {
        struct Label<'l>(&'l mut Vec<(Box<str>, Option<u64>)>);
        impl Cells for Label<'_> {
            fn start_row(&mut self) {}
            fn end_row(&mut self) -> io::Result<()> {
                Ok(())
            }
            fn whole(&mut self, value: u64) {
                self.0.push(("".into(), Some(value)));
            }
            fn number(&mut self, _: Option<f64>) {}
            fn time(&mut self, _: Option<SimTime>) {}
            fn text(&mut self, text: &str) {
                self.0.push((text.into(), None));
            }
        }
        if self.part == Some(Part::Texts) {
            return;
        }
        self.label_rows();
        self.label.clear();
        cells::of_label(&mut Label(&mut self.label), label);
        self.settings = settings.map(Into::into).collect();
    }

    /// Adds the row of a run.
    pub fn run(&mut self, plan: &Plan, result: &RunResult) -> io::Result<()> {
        cells::of_run(self, &result.scorecard, &result.device(plan))
    }

    /// Adds the rows of the models of a run.
    pub fn models_of(&mut self, plan: &Plan, result: &RunResult) -> io::Result<()> {
        cells::of_models(self, plan, &result.scorecard)
    }

    /// Adds the rows of the requests of a run.
    pub fn requests_of(&mut self, plan: &Plan, result: &RunResult) -> io::Result<()> {
        cells::of_requests(self, plan, result)
    }

    /// The columns.
    pub fn finish(mut self) -> Columns {
        self.label_rows();
        let columns = self.builders.into_iter().map(Builder::finish).collect();
        Columns { columns, n_rows: self.n_rows }
    }

    /// Gives the rows of the current run their label.
    fn label_rows(&mut self) {
        let n = self.n_rows - std::mem::replace(&mut self.n_labelled, self.n_rows);
        let values = self.label.iter().map(|(text, number)| (&**text, *number));
        let settings = self.settings.iter().map(|text| (&**text, None));
        for ((text, number), builder) in values.chain(settings).zip(&mut self.builders) {
            if n > 0 {
                match number {
                    Some(number) => builder.whole(number),
                    None => builder.text(text),
                }
                builder.repeat_last(n - 1);
            }
        }
    }

    fn next(&mut self) -> &mut Builder {
        self.at += 1;
        &mut self.builders[self.at - 1]
    }
}

/// Scores, counts and energy of runs and models.
pub(super) fn results() -> impl Iterator<Item = (&'static str, Nature)> {
    Score::columns().map(|it| (it.name, Nature::of(it.kind)))
}

/// Metrics of the hardware of runs.
pub(super) fn devices() -> impl Iterator<Item = (&'static str, Nature)> {
    DeviceMetrics::COLUMNS.iter().map(|it| (it.name, Nature::of(it.kind)))
}

/// Scores of requests.
pub(super) fn request_scores() -> impl Iterator<Item = (&'static str, Nature)> {
    InferenceScore::SCORES.iter().map(|it| (it.name, Nature::of(it.kind)))
}

impl Cells for ColumnsOfRuns {
    fn start_row(&mut self) {
        self.at = self.label.len() + self.settings.len();
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.n_rows += 1;
        Ok(())
    }

    fn whole(&mut self, value: u64) {
        self.next().whole(value);
    }

    fn number(&mut self, value: Option<f64>) {
        self.next().number(value);
    }

    fn time(&mut self, time: Option<SimTime>) {
        // The value of the text with six decimals.
        self.next().number(time.map(|time| time.ns() as f64 / 1e6));
    }

    fn text(&mut self, text: &str) {
        self.next().text(text);
    }

    fn has(&self, part: Part) -> bool {
        self.part.is_none_or(|only| only == part)
    }
}
