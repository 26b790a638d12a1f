//! Commands of the program, and their options.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use xrsim::cli::{self, Called, CommandOption, Failure, Listed};
use xrsim::config::{self, Catalog, ConfigError};

use crate::worker::{self, How};
use crate::{errors, json, policy};

/// Runs the command that `words` describe. Returns its exit status, 0 or 1 if a check failed, and the texts for
/// standard output and standard error.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
pub(crate) fn call<'py>(
    py: Python<'py>,
    words: Vec<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(u8, Bound<'py, PyBytes>, String)> {
    let how = How { is_alone: policy::is_named(&words), progress };
    let called = worker::work(py, &how, move |counter| {
        let counter = Arc::clone(counter);
        let observer = Arc::new(move |done, total| counter.set(done, total));
        cli::call(&words, Some(observer))
    })?;
    let Called { status, written, failure } = called;
    // What a failed check printed is a result, too.
    match failure {
        None | Some(Failure::Check(_)) => {}
        Some(failure) => return Err(errors::of_failure(py, &failure)),
    }
    let err = String::from_utf8_lossy(&written.err).into_owned();
    Ok((status, PyBytes::new(py, &written.out), err))
}

/// Options of a command, each with its name, placeholder, words and help text.
#[pyfunction]
pub(crate) fn options(py: Python<'_>, command: &str) -> PyResult<Vec<Py<PyDict>>> {
    let options = cli::options(command).unwrap_or_default();
    options.into_iter().map(|option| described(py, option)).collect()
}

fn described(py: Python<'_>, option: CommandOption) -> PyResult<Py<PyDict>> {
    let item = PyDict::new(py);
    item.set_item("name", option.name)?;
    item.set_item("positional", option.is_positional)?;
    item.set_item("last", option.is_last)?;
    item.set_item("value", option.value)?;
    item.set_item("repeated", option.is_repeated)?;
    item.set_item("required", option.is_required)?;
    item.set_item("number", option.is_number)?;
    item.set_item("words", option.words)?;
    item.set_item("help", option.help)?;
    Ok(item.unbind())
}

/// First line of the help text of a command.
#[pyfunction]
pub(crate) fn about(command: &str) -> Option<String> {
    cli::about(command)
}

/// Runs the program with these arguments, the first of which is its name, on the terminal. Returns the exit
/// status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| cli::run_words(words))
}

/// Keeps choices of mappings in the folder of the user, as the program does.
#[pyfunction]
pub(crate) fn open_cache() {
    cli::open_cache();
}

/// Header and rows of every table of a list.
#[pyfunction]
pub(crate) fn lists(py: Python<'_>, name: &str) -> PyResult<Vec<Listed>> {
    cli::lists(name).map_err(|failure| errors::of_failure(py, &failure))
}

/// Checks an input file. Returns its kind and a remark.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, path: PathBuf) -> PyResult<(&'static str, Option<String>)> {
    let checked = worker::work(py, &How::default(), move |_| cli::check(&path))?;
    let (kind, remark) = checked.map_err(|failure| errors::of_failure(py, &failure))?;
    Ok((kind.key(), remark))
}

/// Text and contents of the input file of a name or a path.
#[pyfunction]
pub(crate) fn contents(py: Python<'_>, reference: &str) -> PyResult<(String, Py<PyAny>)> {
    let read = || -> Result<_, ConfigError> {
        let source = Catalog::new().text(reference)?;
        Ok((source.text().to_string(), config::to_json(&source)?))
    };
    let (text, value) = read().map_err(|error| errors::of_config(py, &error))?;
    Ok((text, json::to_python(py, &value)?))
}

/// Writes the choices of mappings that were found since.
#[pyfunction]
pub(crate) fn save_cache(py: Python<'_>) {
    py.detach(cli::save_cache);
}
