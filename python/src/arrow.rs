//! Tables by the Arrow C stream interface, in a capsule: <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! its PyCapsule interface.
//!
//! The only module with `unsafe`. Arrays point into columns that they share, so that nothing is copied. Every
//! structure that is handed over owns what it points to in its `private_data`, which its `release` frees. `release`
//! sets itself to null, as the interface demands, so that a second call has no function to call.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use xrsim::report::columns::{Column, Columns, Texts, Values};

/// Name of the capsule of a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// Name of the capsule of a schema.
const SCHEMA: &CStr = c"arrow_schema";

/// Flag of a field that may have no value.
const NULLABLE: i64 = 2;

/// Error number of a stream that cannot make an array.
const EINVAL: c_int = 22;

/// `struct ArrowSchema`.
#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// What a schema owns.
struct OwnedSchema {
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

/// What an array owns.
struct OwnedArray {
    /// Memory that the buffers point into.
    _columns: Arc<Columns>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

/// What a stream owns: the table, until it has been handed over.
struct OwnedStream {
    columns: Arc<Columns>,
    is_at_end: bool,
}

impl ArrowSchema {
    /// An empty place for a schema.
    const fn released() -> Self {
        Self {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    fn new(
        format: &CStr,
        name: &str,
        flags: i64,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let name = name.replace('\0', "");
        let mut owned = Box::new(OwnedSchema {
            format: format.into(),
            name: CString::new(name).unwrap_or_default(),
            children: children.into_iter().map(|it| Box::into_raw(Box::new(it))).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), |it| Box::into_raw(Box::new(it))),
        });
        Self {
            format: owned.format.as_ptr(),
            name: owned.name.as_ptr(),
            metadata: ptr::null(),
            flags,
            n_children: owned.children.len() as i64,
            children: owned.children.as_mut_ptr(),
            dictionary: owned.dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// Schema of a table: a structure with a field for each column.
    fn from_columns(columns: &Columns) -> Self {
        let fields = columns.columns().iter().map(Self::of_column).collect();
        Self::new(c"+s", "", 0, fields, None)
    }

    fn of_column(column: &Column) -> Self {
        let flags = if column.validity.is_some() { NULLABLE } else { 0 };
        let (format, dictionary) = match &column.values {
            Values::Number(_) => (c"g", None),
            Values::Whole(_) => (c"l", None),
            Values::Text(_) => (c"i", Some(Self::new(c"U", "", 0, Vec::new(), None))),
        };
        Self::new(format, &column.name, flags, Vec::new(), dictionary)
    }
}

impl ArrowArray {
    /// An empty place for an array, which is also the end of a stream.
    const fn released() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    fn new(
        columns: &Arc<Columns>,
        [length, null_count]: [usize; 2],
        buffers: Vec<*const c_void>,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let mut owned = Box::new(OwnedArray {
            _columns: Arc::clone(columns),
            buffers,
            children: children.into_iter().map(|it| Box::into_raw(Box::new(it))).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), |it| Box::into_raw(Box::new(it))),
        });
        Self {
            length: length as i64,
            null_count: null_count as i64,
            offset: 0,
            n_buffers: owned.buffers.len() as i64,
            n_children: owned.children.len() as i64,
            buffers: owned.buffers.as_mut_ptr(),
            children: owned.children.as_mut_ptr(),
            dictionary: owned.dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// The whole table as one batch.
    fn from_columns(columns: &Arc<Columns>) -> Self {
        let fields = columns.columns().iter().map(|it| Self::of_column(columns, it)).collect();
        Self::new(columns, [columns.n_rows(), 0], vec![ptr::null()], fields, None)
    }

    fn of_column(columns: &Arc<Columns>, column: &Column) -> Self {
        let validity = column.validity.as_ref().map_or(ptr::null(), |bits| bits.as_ptr().cast());
        let (values, dictionary): (*const c_void, _) = match &column.values {
            Values::Number(values) => (values.as_ptr().cast(), None),
            Values::Whole(values) => (values.as_ptr().cast(), None),
            Values::Text(texts) => {
                (texts.codes.as_ptr().cast(), Some(Self::of_words(columns, texts)))
            }
        };
        let lengths = [columns.n_rows(), column.n_absent];
        Self::new(columns, lengths, vec![validity, values], Vec::new(), dictionary)
    }

    fn of_words(columns: &Arc<Columns>, texts: &Texts) -> Self {
        let buffers = vec![ptr::null(), texts.ends.as_ptr().cast(), texts.bytes.as_ptr().cast()];
        Self::new(columns, [texts.n_words(), 0], buffers, Vec::new(), None)
    }
}

impl ArrowArrayStream {
    fn new(columns: Arc<Columns>) -> Self {
        let owned = Box::new(OwnedStream { columns, is_at_end: false });
        Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(owned).cast(),
        }
    }
}

/// Releases a schema, and those of its children that were not moved away.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the caller passes a schema of `ArrowSchema::new` that is not released yet. Children that were moved
    // away have no `release`; their boxes are still ours.
    unsafe {
        let Some(schema) = schema.as_mut() else { return };
        if schema.release.take().is_none() {
            return;
        }
        let owned = Box::from_raw(schema.private_data.cast::<OwnedSchema>());
        schema.private_data = ptr::null_mut();
        for child in owned.children.iter().copied().chain([owned.dictionary]) {
            if !child.is_null() {
                let mut child = Box::from_raw(child);
                if let Some(release) = child.release {
                    release(&raw mut *child);
                }
            }
        }
    }
}

/// Releases an array, and those of its children that were not moved away.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as `release_schema`.
    unsafe {
        let Some(array) = array.as_mut() else { return };
        if array.release.take().is_none() {
            return;
        }
        let owned = Box::from_raw(array.private_data.cast::<OwnedArray>());
        array.private_data = ptr::null_mut();
        for child in owned.children.iter().copied().chain([owned.dictionary]) {
            if !child.is_null() {
                let mut child = Box::from_raw(child);
                if let Some(release) = child.release {
                    release(&raw mut *child);
                }
            }
        }
    }
}

/// Writes the schema of a stream to `out`.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller passes a stream of `ArrowArrayStream::new` that is not released, and a place for a schema.
    unsafe {
        let Some(owned) = owned_by(stream) else { return EINVAL };
        out.write(ArrowSchema::from_columns(&owned.columns));
    }
    0
}

/// Writes the next array of a stream to `out`: the table, then an array without `release` at the end.
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as `get_schema`.
    unsafe {
        let Some(owned) = owned_by(stream) else { return EINVAL };
        let is_at_end = std::mem::replace(&mut owned.is_at_end, true);
        out.write(match is_at_end {
            true => ArrowArray::released(),
            false => ArrowArray::from_columns(&owned.columns),
        });
    }
    0
}

/// Message of the last error: there is none.
unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    ptr::null()
}

/// Releases a stream. Arrays of it live on.
unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the caller passes a stream of `ArrowArrayStream::new` that is not released yet.
    unsafe {
        let Some(stream) = stream.as_mut() else { return };
        if stream.release.take().is_some() {
            drop(Box::from_raw(stream.private_data.cast::<OwnedStream>()));
            stream.private_data = ptr::null_mut();
        }
    }
}

/// # Safety
///
/// `stream` is null, or a stream of `ArrowArrayStream::new`.
unsafe fn owned_by<'s>(stream: *mut ArrowArrayStream) -> Option<&'s mut OwnedStream> {
    // SAFETY: a stream that is not released owns what its `private_data` points to.
    unsafe {
        let stream = stream.as_ref()?;
        stream.release?;
        stream.private_data.cast::<OwnedStream>().as_mut()
    }
}

/// Frees the stream of a capsule, and releases it if nobody took it.
unsafe extern "C" fn free_stream(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is one of `stream`, whose pointer is a box.
    unsafe {
        // A capsule of another name has an owner that renamed it. Asking first sets no exception, which could hide
        // one that is under way.
        if ffi::PyCapsule_IsValid(capsule, STREAM.as_ptr()) == 0 {
            return;
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule, STREAM.as_ptr());
        let mut stream = Box::from_raw(pointer.cast::<ArrowArrayStream>());
        if let Some(release) = stream.release {
            release(&raw mut *stream);
        }
    }
}

/// Frees the schema of a capsule, and releases it if nobody took it.
unsafe extern "C" fn free_schema(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is one of `schema`, whose pointer is a box.
    unsafe {
        // A capsule of another name has an owner that renamed it. Asking first sets no exception, which could hide
        // one that is under way.
        if ffi::PyCapsule_IsValid(capsule, SCHEMA.as_ptr()) == 0 {
            return;
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule, SCHEMA.as_ptr());
        let mut schema = Box::from_raw(pointer.cast::<ArrowSchema>());
        if let Some(release) = schema.release {
            release(&raw mut *schema);
        }
    }
}

/// A capsule with the stream of a table.
///
/// # Errors
///
/// The exception of Python if there is no memory.
pub(crate) fn stream<'py>(py: Python<'py>, columns: &Arc<Columns>) -> PyResult<Bound<'py, PyAny>> {
    let stream = Box::into_raw(Box::new(ArrowArrayStream::new(Arc::clone(columns))));
    // SAFETY: the capsule owns the box, and frees it by `free_stream`.
    unsafe { capsule(py, stream.cast(), STREAM, free_stream) }
}

/// A capsule with the schema of a table.
///
/// # Errors
///
/// The exception of Python if there is no memory.
pub(crate) fn schema<'py>(py: Python<'py>, columns: &Columns) -> PyResult<Bound<'py, PyAny>> {
    let schema = Box::into_raw(Box::new(ArrowSchema::from_columns(columns)));
    // SAFETY: the capsule owns the box, and frees it by `free_schema`.
    unsafe { capsule(py, schema.cast(), SCHEMA, free_schema) }
}

/// # Safety
///
/// `pointer` is a box of the type that `free` frees.
unsafe fn capsule<'py>(
    py: Python<'py>,
    pointer: *mut c_void,
    name: &'static CStr,
    free: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the interpreter is attached; the name lives for ever.
    unsafe {
        let made = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(free));
        Bound::from_owned_ptr_or_opt(py, made)
            .ok_or_else(|| PyMemoryError::new_err("no memory for a capsule"))
    }
}

/// Places that are empty have nothing to release.
const _: () = {
    assert!(ArrowSchema::released().release.is_none());
    assert!(ArrowArray::released().release.is_none());
};
