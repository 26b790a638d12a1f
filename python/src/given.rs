//! Texts that stand for input files.

use pyo3::prelude::*;
use xrsim::config::GivenText;

/// A text that stands for an input file as long as this object lives.
#[pyclass(frozen, module = "xrsim._xrsim")]
pub(crate) struct Given(GivenText);

#[pymethods]
impl Given {
    #[new]
    fn new(text: String) -> Self {
        Self(GivenText::new(text))
    }

    /// Name of the file.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }
}
