//! Runs and their results.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use xrsim::cli::RequestedRuns;
use xrsim::experiment::{Run, Runs};
use xrsim::figures::{self, Format};

use crate::table::NativeTable;
use crate::worker::{self, How};
use crate::{errors, json, policy};

/// Runs that were made, with what was asked for.
#[pyclass(frozen, module = "xrsim._xrsim")]
pub(crate) struct NativeRuns {
    request: Arc<RequestedRuns>,
    runs: Arc<Runs>,
}

/// Makes the runs that `words`, options of `xrsim run`, describe.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
pub(crate) fn run(
    py: Python<'_>,
    words: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<NativeRuns> {
    let how = How { is_alone: policy::is_named(&words), progress };
    let made = worker::work(py, &how, move |counter| {
        let request = RequestedRuns::parse(&words)?;
        let total = request.n_runs() as u64;
        let runs = request.run(|done| counter.set(done, total));
        Ok((request, runs))
    })?;
    let (request, runs) = made.map_err(|failure| errors::of_failure(py, &failure))?;
    warn(py, &request.notes)?;
    Ok(NativeRuns { request: Arc::new(request), runs: Arc::new(runs) })
}

/// Issues the notes of a command as warnings of Python.
pub(crate) fn warn(py: Python<'_>, notes: &str) -> PyResult<()> {
    let warnings = notes.lines().filter_map(|line| line.strip_prefix("warning: "));
    let category = py.import("xrsim._errors")?.getattr("XrsimWarning")?;
    warnings.into_iter().try_for_each(|line| {
        py.import("warnings")?.call_method1("warn", (line, &category, 3)).map(drop)
    })
}

#[pymethods]
impl NativeRuns {
    fn __len__(&self) -> usize {
        self.runs.len()
    }

    /// The run at an index: its label, and the reason that it has no scores.
    fn label<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let run = &self.runs[index];
        let label = run.label();
        let item = PyDict::new(py);
        item.set_item("scenario", label.scenario)?;
        item.set_item("system", label.system)?;
        item.set_item("pes", label.pes)?;
        item.set_item("semantics", label.semantics)?;
        item.set_item("cost_model", label.cost_model)?;
        item.set_item("scheduler", label.scheduler)?;
        item.set_item("seed", label.seed)?;
        item.set_item("replication", label.replication)?;
        Ok(item)
    }

    /// Reason that the run at an index has no scores; `None` if it has.
    fn reason(&self, index: usize) -> Option<String> {
        self.runs[index].result.as_ref().err().map(ToString::to_string)
    }

    /// Raises the exception of the first run without scores if no run has any.
    fn raise_if_all_failed(&self, py: Python<'_>) -> PyResult<()> {
        let mut errors = self.runs.iter().map(|run| run.result.as_ref().err());
        match errors.next().flatten() {
            Some(first) if errors.all(|error| error.is_some()) => Err(errors::of_run(py, first)),
            _ => Ok(()),
        }
    }

    /// Rows of scores, models or inferences; of one run if `index` is given.
    #[pyo3(signature = (name, index=None))]
    fn table(&self, py: Python<'_>, name: &str, index: Option<usize>) -> PyResult<NativeTable> {
        let one;
        let runs = match index {
            Some(index) => {
                one = Runs::from_iter([self.runs[index].clone()]);
                &one
            }
            None => &*self.runs,
        };
        let columns = py.detach(|| match name {
            "scores" => Some(runs.scores()),
            "models" => Some(runs.models()),
            "inferences" => Some(runs.inferences()),
            "inference_texts" => Some(runs.inference_texts()),
            _ => None,
        });
        let columns = columns.ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
        Ok(NativeTable::new(columns))
    }

    /// The record that `--out` writes.
    fn record(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        json::to_python(py, &self.request.record(&self.runs).into())
    }

    /// Writes the files of `xrsim run --out FOLDER`.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let saved = py.detach(|| self.request.save(&self.runs, &folder));
        saved.map_err(|failure| errors::of_failure(py, &failure))
    }

    /// The timeline of the run at an index, in a format such as `svg`.
    fn timeline(&self, py: Python<'_>, index: usize, format: &str) -> PyResult<Vec<u8>> {
        let run: &Run = &self.runs[index];
        if let Err(error) = &run.result {
            return Err(errors::of_run(py, error));
        }
        let is_of = |it: &&Format| it.extension() == format;
        let format = Format::ALL.iter().find(is_of).copied().unwrap_or(Format::Svg);
        let drawn = py.detach(|| {
            let timeline = run.timeline().map_err(|error| error.to_string())?;
            figures::render(&timeline, format).map_err(|error| error.to_string())
        });
        drawn.map_err(pyo3::exceptions::PyValueError::new_err)
    }
}
