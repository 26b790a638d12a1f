//! JSON values as values of Python.

use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

/// The value of Python.
pub(crate) fn to_python(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    match value {
        Value::Null => Ok(py.None()),
        Value::Bool(value) => value.into_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_py_any(py),
            (None, Some(whole)) => whole.into_py_any(py),
            (None, None) => number.as_f64().into_py_any(py),
        },
        Value::String(text) => text.into_py_any(py),
        Value::Array(values) => {
            let values = values.iter().map(|value| to_python(py, value));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_py_any(py)
        }
        Value::Object(values) => {
            let item = PyDict::new(py);
            for (key, value) in values {
                item.set_item(key, to_python(py, value)?)?;
            }
            item.into_py_any(py)
        }
    }
}
