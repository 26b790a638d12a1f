//! Exceptions: those of `xrsim._errors`, and those of Python for wrong arguments.

use std::fmt::Display;

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use xrsim::RunError;
use xrsim::cli::Failure;
use xrsim::config::{ConfigError, Problem, Source};

/// Module with the classes of exceptions.
const MODULE: &str = "xrsim._errors";

/// The exception of a system that refuses, for example, a thread.
pub(crate) fn system(error: &dyn Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// The exception of a command that failed.
pub(crate) fn of_failure(py: Python<'_>, failure: &Failure) -> PyErr {
    match failure {
        Failure::Input(error) => of_config(py, error),
        Failure::Argument(message) => PyValueError::new_err(without_usage(message).to_string()),
        Failure::Output(message) => PyOSError::new_err(message.clone()),
        Failure::Interrupted(message) => PyKeyboardInterrupt::new_err(message.clone()),
        Failure::Busy(message) => made(py, "BusyError", message, |_| Ok(())),
        other => made(py, "XrsimError", &other.reason(), |_| Ok(())),
    }
}

/// A message about words of the command line without what it says of their use.
fn without_usage(message: &str) -> &str {
    let ends = ["\n\nUsage:", "\n\nFor more information"].map(|it| message.find(it));
    &message[..ends.into_iter().flatten().min().unwrap_or(message.len())]
}

/// The exception of a run that has no scores.
pub(crate) fn of_run(py: Python<'_>, error: &RunError) -> PyErr {
    let class = if error.is_failure() { "SchedulerError" } else { "InfeasibleError" };
    made(py, class, &error.to_string(), |_| Ok(()))
}

/// The exception of wrong input.
pub(crate) fn of_config(py: Python<'_>, error: &ConfigError) -> PyErr {
    let message = error.to_string();
    match error {
        ConfigError::Unknown { kind, name, nearest, known, .. } => {
            made(py, "UnknownNameError", &message, |raised| {
                raised.setattr("kind", *kind)?;
                raised.setattr("name", name)?;
                raised.setattr("nearest", nearest.as_deref())?;
                raised.setattr("known", PyList::new(py, known)?)
            })
        }
        ConfigError::Invalid { file, problems } => made(py, "InputError", &message, |raised| {
            let problems = problems.iter().map(|problem| of_problem(py, file, problem));
            raised.setattr("problems", problems.collect::<PyResult<Vec<_>>>()?)
        }),
        ConfigError::Import { path, problems, .. } => made(py, "InputError", &message, |raised| {
            let file = path.display().to_string();
            let problems = problems.iter().map(|problem| {
                let item = PyDict::new(py);
                item.set_item("file", &file)?;
                item.set_item("message", problem)?;
                Ok(item)
            });
            raised.setattr("problems", problems.collect::<PyResult<Vec<_>>>()?)
        }),
        _ => made(py, "InputError", &message, |_| Ok(())),
    }
}

/// A problem of a file: where it is, and what is wrong.
fn of_problem<'py>(
    py: Python<'py>,
    file: &Source,
    problem: &Problem,
) -> PyResult<Bound<'py, PyDict>> {
    let (line, column) = file.position(problem.span.start);
    let (end_line, end_column) = file.position(problem.span.end.max(problem.span.start));
    let item = PyDict::new(py);
    item.set_item("file", file.name())?;
    item.set_item("line", line)?;
    item.set_item("column", column)?;
    item.set_item("end_line", end_line)?;
    item.set_item("end_column", end_column)?;
    item.set_item("message", &problem.message)?;
    item.set_item("help", problem.help.as_deref())?;
    Ok(item)
}

/// An exception of the package. An error on the way to it takes its place.
fn made(
    py: Python<'_>,
    class: &str,
    message: &str,
    complete: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
) -> PyErr {
    let make = || {
        let raised = py.import(MODULE)?.getattr(class)?.call1((message,))?;
        complete(&raised)?;
        Ok(PyErr::from_value(raised))
    };
    make().unwrap_or_else(|error: PyErr| error)
}
