//! Tables in and out through the Arrow PyCapsule interface: the only unsafe code of this module.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::raise;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// The rows of a table, from its beginning.
pub type Rows = Box<dyn RecordBatchReader + Send>;

/// Opens a table for reading.
pub type Open = dyn Fn() -> lookalike::Result<Rows> + Send + Sync;

/// A table that can be read any number of times.
///
/// It has the Arrow PyCapsule interface, so pyarrow, Polars, pandas and DuckDB read it: for example
/// ``pyarrow.table(pairs)``, ``polars.DataFrame(pairs)``, ``pandas.DataFrame.from_arrow(pairs)``, and
/// in DuckDB ``SELECT * FROM pairs``. Rows are read while they are used, in batches.
#[pyclass(frozen, module = "lookalike", name = "Table")]
pub struct Table {
    pub schema: SchemaRef,
    pub open: Arc<Open>,
}

#[pymethods]
impl Table {
    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface leaves it to the producer whether it fulfils such a wish.
        let _ = requested_schema;
        let open = &self.open;
        let rows = py.detach(|| open()).map_err(|error| raise(py, &error))?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(rows), STREAM)
    }

    /// The names and types of the columns as an Arrow schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// The number of rows, which are all read.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.count(py, usize::MAX)
    }

    /// Whether there are rows.
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.count(py, 1)? > 0)
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        let fields = self.schema.fields().iter();
        let fields: Vec<_> = fields
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect();
        format!("lookalike.Table({})", fields.join(", "))
    }
}

impl Table {
    /// The number of rows, counted until there are at least `enough`.
    fn count(&self, py: Python<'_>, enough: usize) -> PyResult<usize> {
        py.detach(|| {
            let mut count = 0;
            for batch in (self.open)().map_err(|error| Python::attach(|py| raise(py, &error)))? {
                count += batch.map_err(failed)?.num_rows();
                if count >= enough {
                    break;
                }
            }
            Ok(count)
        })
    }
}

/// The arrays of an object with the Arrow PyCapsule interface.
pub fn arrays(object: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule
        .cast::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("__arrow_c_stream__ gave no capsule"))?;
    let stream = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name contains a stream, aligned and initialised, and it lives until
    // the capsule is dropped at the end of this function. The stream is moved out, which marks the
    // one in the capsule as released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr().cast()) };
    ArrayStreamReader::try_new(stream).map_err(failed)
}

/// An error of Arrow as an exception.
pub fn failed(error: ArrowError) -> PyErr {
    if let ArrowError::ExternalError(error) = &error
        && let Some(error) = error.downcast_ref()
    {
        return Python::attach(|py| raise(py, error));
    }
    PyValueError::new_err(error.to_string())
}
