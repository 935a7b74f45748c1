//! Tables in and out through the Arrow PyCapsule interface: the only unsafe code of this module.

use std::ffi::CStr;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types as kinds;
use arrow_array::{
    Array, ArrayRef, LargeStringArray, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArrayType, StringViewArray,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyCapsule;

use crate::{locked, raise};

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// The rows of a table, from its beginning.
pub type Rows = Box<dyn RecordBatchReader + Send>;

/// Opens a table for reading.
pub type Open = dyn Fn() -> lookalike::Result<Rows> + Send + Sync;

/// A table that can be read any number of times, through the Arrow PyCapsule interface. Rows are read
/// while they are used, in batches.
#[pyclass(frozen, module = "lookalike._native", name = "Table")]
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

    /// The columns and their types in one line.
    fn described(&self) -> String {
        let fields = self.schema.fields().iter();
        let fields: Vec<_> = fields
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect();
        fields.join(", ")
    }

    /// The rows as JSON: a list of rows for each batch. `None` if a column has values that JSON does
    /// not have.
    fn batches(&self, py: Python<'_>) -> PyResult<Option<Batches>> {
        let mut fields = self.schema.fields().iter();
        let plain = fields.all(|field| {
            let kind = field.data_type();
            let text = matches!(
                kind,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
            );
            text || kind.is_integer() || kind == &DataType::Boolean || kind == &DataType::Float64
        });
        if !plain {
            return Ok(None);
        }
        let open = &self.open;
        let rows = py.detach(|| open()).map_err(|error| raise(py, &error))?;
        Ok(Some(Batches(Mutex::new(rows))))
    }
}

/// The rows of a table as JSON.
#[pyclass(frozen, module = "lookalike._native")]
pub struct Batches(Mutex<Rows>);

#[pymethods]
impl Batches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let batch = py.detach(|| locked(&self.0).next());
        let batch = batch.transpose().map_err(failed)?;
        Ok(batch.map(|batch| py.detach(|| rows_as_json(&batch))))
    }
}

/// Rows as a list of lists. Numbers that are not finite are written as Python reads them.
fn rows_as_json(batch: &RecordBatch) -> String {
    let mut out = String::from("[");
    for at in 0..batch.num_rows() {
        out.push_str(if at == 0 { "[" } else { ",[" });
        for (n, values) in batch.columns().iter().enumerate() {
            if n > 0 {
                out.push(',');
            }
            let reals = values.as_primitive_opt::<kinds::Float64Type>();
            let real = reals
                .filter(|_| values.is_valid(at))
                .map(|reals| reals.value(at));
            // Writing to a string does not fail.
            let _ = match real {
                Some(real) if real.is_nan() => write!(out, "NaN"),
                Some(f64::INFINITY) => write!(out, "Infinity"),
                Some(f64::NEG_INFINITY) => write!(out, "-Infinity"),
                _ => write!(out, "{}", json(&**values, at)),
            };
        }
        out.push(']');
    }
    out.push(']');
    out
}

impl Table {
    /// A table of columns in memory.
    pub fn of(columns: Vec<(Field, ArrayRef)>) -> PyResult<Table> {
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(failed)?;
        let of = schema.clone();
        let open = move || {
            let rows = RecordBatchIterator::new([Ok(batch.clone())], of.clone());
            Ok(Box::new(rows) as Rows)
        };
        Ok(Table {
            schema,
            open: Arc::new(open),
        })
    }

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

/// An object with the Arrow PyCapsule interface as a table, which reads the object each time.
#[pyfunction]
pub fn wrapped(object: Bound<'_, PyAny>) -> PyResult<Table> {
    let first = RecordBatchStreamReader::try_new(stream(&object)?).map_err(failed)?;
    let object = object.unbind();
    let open = move || {
        let rows = Python::attach(|py| {
            RecordBatchStreamReader::try_new(stream(object.bind(py))?).map_err(failed)
        });
        let other = |error: PyErr| std::io::Error::other(error.to_string());
        let rows =
            rows.map_err(|error| lookalike::Error::io("read", "a table".as_ref())(other(error)))?;
        Ok(Box::new(rows) as Rows)
    };
    Ok(Table {
        schema: first.schema(),
        open: Arc::new(open),
    })
}

/// Texts as a table with a column of this name.
#[pyfunction]
pub fn column(name: &str, texts: Vec<Option<PyBackedStr>>) -> PyResult<Table> {
    let texts: LargeStringArray = texts.iter().map(Option::as_deref).collect();
    let field = Field::new(name, DataType::LargeUtf8, true);
    Table::of(vec![(field, Arc::new(texts))])
}

/// The arrays of an object with the Arrow PyCapsule interface.
pub fn arrays(object: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    ArrayStreamReader::try_new(stream(object)?).map_err(failed)
}

/// The stream of an object with the Arrow PyCapsule interface.
fn stream(object: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule
        .cast::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("__arrow_c_stream__ gave no capsule"))?;
    let stream = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name contains a stream, aligned and initialised, and it lives until
    // the capsule is dropped at the end of this function. The stream is moved out, which marks the
    // one in the capsule as released.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr().cast()) })
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

/// A value that is not null as JSON; `None` if it is neither text, number, truth nor time. Dates and
/// times are numbers.
pub fn scalar(values: &dyn Array, at: usize) -> Option<serde_json::Value> {
    fn text<'a>(values: impl StringArrayType<'a>, at: usize) -> serde_json::Value {
        values.value(at).into()
    }
    macro_rules! number {
        ($($kind:ident)*) => {
            $(if let Some(values) = values.as_primitive_opt::<kinds::$kind>() {
                return Some(values.value(at).into());
            })*
        };
    }
    macro_rules! real {
        ($($kind:ident)*) => {
            $(if let Some(values) = values.as_primitive_opt::<kinds::$kind>() {
                // JSON has no infinities.
                let value = f64::from(values.value(at));
                let number = serde_json::Number::from_f64(value).map(serde_json::Value::Number);
                return Some(number.unwrap_or_else(|| value.to_string().into()));
            })*
        };
    }
    number!(Int8Type Int16Type Int32Type Int64Type UInt8Type UInt16Type UInt32Type UInt64Type);
    number!(Date32Type Date64Type TimestampSecondType);
    number!(TimestampMillisecondType TimestampMicrosecondType TimestampNanosecondType);
    real!(Float32Type Float64Type);
    if let Some(values) = values.as_boolean_opt() {
        return Some(values.value(at).into());
    }
    let small = values.as_string_opt::<i32>().map(|values| text(values, at));
    let large = || values.as_string_opt::<i64>().map(|values| text(values, at));
    let view = || {
        let values: Option<&StringViewArray> = values.as_string_view_opt();
        values.map(|values| text(values, at))
    };
    let encoded = || {
        let values = values.as_any_dictionary_opt()?;
        let at = scalar(values.keys(), at)?.as_u64()?;
        scalar(&**values.values(), at as usize)
    };
    small.or_else(large).or_else(view).or_else(encoded)
}

/// A value as JSON. What JSON does not have is null.
pub fn json(values: &dyn Array, at: usize) -> serde_json::Value {
    let list = |values: ArrayRef| (0..values.len()).map(|at| json(&*values, at)).collect();
    if values.is_null(at) {
        serde_json::Value::Null
    } else if let Some(fields) = values.as_struct_opt() {
        let names = fields.column_names().into_iter().map(String::from);
        let values = fields.columns().iter().map(|values| json(&**values, at));
        serde_json::Value::Object(names.zip(values).collect())
    } else if let Some(values) = values.as_list_opt::<i32>() {
        list(values.value(at))
    } else if let Some(values) = values.as_list_opt::<i64>() {
        list(values.value(at))
    } else if let Some(values) = values.as_fixed_size_list_opt() {
        list(values.value(at))
    } else if let Some(values) = values.as_list_view_opt::<i32>() {
        list(values.value(at))
    } else if let Some(values) = values.as_list_view_opt::<i64>() {
        list(values.value(at))
    } else {
        scalar(values, at).unwrap_or_default()
    }
}
