//! Tables of results in columns, which arrays of other libraries share.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use xrsim::report::columns::{Column, Columns, Texts, Values};

use crate::arrow;

/// A table in columns: the memory behind a `Table`.
#[pyclass(frozen, module = "xrsim._xrsim")]
pub(crate) struct NativeTable(Arc<Columns>);

impl NativeTable {
    pub(crate) fn new(columns: Columns) -> Self {
        Self(Arc::new(columns))
    }
}

#[pymethods]
impl NativeTable {
    /// Reads a CSV file of results.
    #[staticmethod]
    fn from_csv(py: Python<'_>, text: &str) -> PyResult<Self> {
        let columns = py.detach(|| Columns::from_csv(text));
        let columns = columns.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(Arc::new(columns)))
    }

    /// A column of text for each name; a row for each list.
    #[staticmethod]
    fn of_rows(names: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let rows = rows.iter().map(|row| row.iter().map(String::as_str).collect());
        Self(Arc::new(Columns::of_rows(&names, rows)))
    }

    /// Number of rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0.columns().iter().map(|column| &*column.name).collect()
    }

    /// Kind of the column at an index: `number`, `whole` or `text`.
    fn kind(&self, index: usize) -> PyResult<&'static str> {
        Ok(match self.column(index)?.values {
            Values::Number(_) => "number",
            Values::Whole(_) => "whole",
            Values::Text(_) => "text",
        })
    }

    /// Memory of the numbers of a column, or of the codes of its words, for `numpy.asarray`. Whole numbers of which
    /// some are absent are numbers, NaN where absent.
    fn array(&self, index: usize) -> PyResult<Array> {
        let column = self.column(index)?;
        let absent = column.validity.as_deref();
        let converted = match (&column.values, absent) {
            (Values::Whole(values), Some(bits)) => Some(with_nan(values, bits)),
            _ => None,
        };
        Ok(Array { columns: Arc::clone(&self.0), index, converted })
    }

    /// Words of a text column.
    fn words(&self, index: usize) -> PyResult<Vec<&str>> {
        Ok(match &self.column(index)?.values {
            Values::Text(texts) => texts.words().collect(),
            Values::Number(_) | Values::Whole(_) => Vec::new(),
        })
    }

    /// Values of a column as a list; `None` where there is none.
    fn values<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyList>> {
        let column = self.column(index)?;
        match &column.values {
            Values::Number(values) => numbers_of(py, column, values),
            Values::Whole(values) => numbers_of(py, column, values),
            Values::Text(texts) => texts_of(py, texts),
        }
    }

    /// A column as bytes, for `pickle`: its kind, its memory, and its validity.
    fn packed<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Packed<'py>> {
        let column = self.column(index)?;
        let validity = column.validity.as_ref().map(|bits| PyBytes::new(py, bits));
        let (kind, memory, words) = match &column.values {
            Values::Number(values) => ("number", bytes_of(py, values, f64::to_le_bytes)?, None),
            Values::Whole(values) => ("whole", bytes_of(py, values, i64::to_le_bytes)?, None),
            Values::Text(texts) => {
                let words = texts.words().map(String::from).collect();
                ("text", bytes_of(py, &texts.codes, i32::to_le_bytes)?, Some(words))
            }
        };
        Ok((kind, memory, validity, words))
    }

    /// The table of columns as `packed` has them.
    #[staticmethod]
    fn of_packed(names: Vec<String>, columns: Vec<Unpacked>) -> PyResult<Self> {
        let columns =
            names.into_iter().zip(columns).map(|(name, (kind, memory, validity, words))| {
                let values = match (&*kind, words) {
                    ("number", _) => Values::Number(of_bytes(&memory, f64::from_le_bytes)),
                    ("whole", _) => Values::Whole(of_bytes(&memory, i64::from_le_bytes)),
                    (_, words) => {
                        let words = words.unwrap_or_default();
                        Values::Text(Texts::of(of_bytes(&memory, i32::from_le_bytes), &words)?)
                    }
                };
                Some((name, values, validity.map(|bits| bits.to_vec())))
            });
        let columns = columns.collect::<Option<Vec<_>>>().and_then(Columns::of_parts);
        let columns = columns.ok_or_else(|| PyValueError::new_err("the columns are damaged"))?;
        Ok(Self(Arc::new(columns)))
    }

    /// The table as an Arrow stream in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // The interface lets a producer hand over its own types.
        drop(requested_schema);
        arrow::stream(py, &self.0)
    }

    /// The schema of the table in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::schema(py, &self.0)
    }
}

impl NativeTable {
    fn column(&self, index: usize) -> PyResult<&Column> {
        let columns = self.0.columns();
        columns.get(index).ok_or_else(|| PyIndexError::new_err(format!("column {index}")))
    }
}

/// A column for `pickle`: kind, memory, validity, words.
type Packed<'py> =
    (&'static str, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>, Option<Vec<String>>);

/// The same as it comes back.
type Unpacked = (String, PyBackedBytes, Option<PyBackedBytes>, Option<Vec<String>>);

fn bytes_of<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, N * values.len(), |memory| {
        let (places, _) = memory.as_chunks_mut::<N>();
        places.iter_mut().zip(values).for_each(|(place, &value)| *place = bytes(value));
        Ok(())
    })
}

fn of_bytes<T, const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (values, _) = bytes.as_chunks::<N>();
    values.iter().map(|&bytes| value(bytes)).collect()
}

fn is_there(column: &Column, row: usize) -> bool {
    column.validity.as_ref().is_none_or(|bits| bits[row / 8] & (1 << (row % 8)) != 0)
}

fn with_nan(values: &[i64], bits: &[u8]) -> Box<[f64]> {
    let is_there = |row: usize| bits[row / 8] & (1 << (row % 8)) != 0;
    let rows = values.iter().enumerate();
    rows.map(|(row, value)| if is_there(row) { *value as f64 } else { f64::NAN }).collect()
}

fn numbers_of<'py, T: Copy + IntoPyObject<'py>>(
    py: Python<'py>,
    column: &Column,
    values: &[T],
) -> PyResult<Bound<'py, PyList>> {
    let rows = values.iter().enumerate();
    PyList::new(py, rows.map(|(row, it)| is_there(column, row).then_some(*it)).collect::<Vec<_>>())
}

fn texts_of<'py>(py: Python<'py>, texts: &Texts) -> PyResult<Bound<'py, PyList>> {
    let words: Vec<_> = texts.words().map(|word| PyString::new(py, word)).collect();
    let word = |code: &i32| usize::try_from(*code).ok().and_then(|at| words.get(at));
    PyList::new(py, texts.codes.iter().filter_map(word))
}

/// Memory of a column, which lives as long as an array over it.
#[pyclass(frozen, module = "xrsim._xrsim")]
pub(crate) struct Array {
    columns: Arc<Columns>,
    index: usize,
    converted: Option<Box<[f64]>>,
}

#[pymethods]
impl Array {
    /// Address, type and length, read-only: version 3 of numpy's array interface.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let column = &self.columns.columns()[self.index];
        let (address, kind) = match (&column.values, &self.converted) {
            (_, Some(values)) => (values.as_ptr().addr(), "f8"),
            (Values::Number(values), None) => (values.as_ptr().addr(), "f8"),
            (Values::Whole(values), None) => (values.as_ptr().addr(), "i8"),
            (Values::Text(texts), None) => (texts.codes.as_ptr().addr(), "i4"),
        };
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, [self.columns.n_rows()])?)?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("data", (address, true))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}
