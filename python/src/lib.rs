//! The Python package `xrsim`: runs, comparisons, sweeps and searches of the library, with dicts and paths in
//! place of files, tables over the memory of the results, and schedulers written in Python.

mod arrow;
mod commands;
mod errors;
mod game;
mod given;
mod gym;
mod json;
mod policy;
mod run;
mod table;
mod worker;

use pyo3::prelude::*;
use xrsim::cli;

/// Native part of the package `xrsim`.
#[pymodule]
fn _xrsim(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<given::Given>()?;
    module.add_class::<gym::NativeEnvs>()?;
    module.add_class::<policy::GivenPolicy>()?;
    module.add_class::<policy::Job>()?;
    module.add_class::<policy::View>()?;
    module.add_class::<policy::Answer>()?;
    module.add_class::<policy::Accelerator>()?;
    module.add_class::<policy::History>()?;
    module.add_class::<run::NativeRuns>()?;
    module.add_class::<table::NativeTable>()?;
    module.add_class::<table::Array>()?;
    module.add_function(wrap_pyfunction!(commands::about, module)?)?;
    module.add_function(wrap_pyfunction!(commands::call, module)?)?;
    module.add_function(wrap_pyfunction!(commands::check, module)?)?;
    module.add_function(wrap_pyfunction!(commands::contents, module)?)?;
    module.add_function(wrap_pyfunction!(commands::lists, module)?)?;
    module.add_function(wrap_pyfunction!(commands::main, module)?)?;
    module.add_function(wrap_pyfunction!(commands::open_cache, module)?)?;
    module.add_function(wrap_pyfunction!(commands::options, module)?)?;
    module.add_function(wrap_pyfunction!(commands::save_cache, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    // Without a path, as in a program that embeds Python, the name of the process stays.
    let executable =
        module.py().import("sys")?.getattr("executable")?.extract::<Option<String>>()?;
    if let Some(executable) = executable.filter(|it| !it.is_empty()) {
        cli::start_with([executable, "-m".into(), "xrsim".into()].to_vec());
    }
    Ok(())
}
