//! Tables in and out through the Arrow PyCapsule interface: the only unsafe code of this module.

use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types as kinds;
use arrow_array::{
    Array, ArrayRef, LargeStringArray, RecordBatch, RecordBatchIterator, RecordBatchReader,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lookalike::text::read::written;
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
            let plain = kind.is_string() || kind.is_integer();
            // The values of an extension's type are others than those that are stored.
            field.extension_type_name().is_none()
                && (plain || matches!(kind, DataType::Boolean | DataType::Float64))
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
            let kind = values.data_type();
            match spelling(values, at) {
                None if values.is_null(at) => out.push_str("null"),
                None => out.push_str("NaN"),
                Some(text) if kind.is_string() => out += &serde_json::Value::from(text).to_string(),
                Some(text) => out += &text,
            }
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

/// A type below dictionaries and runs, which only say how its values are stored.
pub fn stored(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => stored(values),
        DataType::RunEndEncoded(_, values) => stored(values.data_type()),
        kind => kind,
    }
}

/// Whether values of a type are text, or have one spelling: numbers, truths, dates and times.
pub fn is_text(kind: &DataType) -> bool {
    use DataType::{Boolean, Date32, Date64, LargeUtf8, Null, Timestamp, Utf8, Utf8View};
    let kind = stored(kind);
    let spelt = matches!(
        kind,
        Null | Utf8 | LargeUtf8 | Utf8View | Boolean | Date32 | Date64 | Timestamp(..)
    );
    spelt || kind.is_integer() || kind.is_floating() || kind.is_decimal()
}

/// A value as text, in the spelling that the commands give to values of Parquet files; `None` if it
/// is null or not a number, or of a type that has no text.
pub fn spelling(values: &dyn Array, at: usize) -> Option<Cow<'_, str>> {
    if values.is_null(at) {
        return None;
    }
    macro_rules! spelt {
        ($($kind:ident)* : $spell:expr) => {
            $(if let Some(values) = values.as_primitive_opt::<kinds::$kind>() {
                return ($spell)(values.value(at)).map(Cow::Owned);
            })*
        };
    }
    let some = Some::<String>;
    spelt!(Int8Type Int16Type Int32Type Int64Type: |value| some(format!("{value}")));
    spelt!(UInt8Type UInt16Type UInt32Type UInt64Type: |value| some(format!("{value}")));
    spelt!(Float32Type: |value: f32| written::float(value));
    spelt!(Float16Type: |value| written::float(f32::from(value)));
    spelt!(Float64Type: |value: f64| written::float(value));
    spelt!(Date32Type: |day| some(written::date(i64::from(day))));
    spelt!(Date64Type: |time: i64| match time % 86_400_000 {
        0 => some(written::date(time / 86_400_000)),
        _ => some(written::timestamp(time, 1_000, false)),
    });
    spelt!(Time32SecondType Time32MillisecondType: |time| some(format!("{time}")));
    spelt!(Time64MicrosecondType Time64NanosecondType: |time| some(format!("{time}")));
    spelt!(DurationSecondType DurationMillisecondType: |time| some(format!("{time}")));
    spelt!(DurationMicrosecondType DurationNanosecondType: |time| some(format!("{time}")));
    let (utc, scale) = match values.data_type() {
        DataType::Timestamp(_, zone) => (zone.is_some(), 0),
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => (false, i32::from(*scale)),
        _ => (false, 0),
    };
    let time = |unit| move |time| some(written::timestamp(time, unit, utc));
    spelt!(TimestampSecondType: time(1));
    spelt!(TimestampMillisecondType: time(1_000));
    spelt!(TimestampMicrosecondType: time(1_000_000));
    spelt!(TimestampNanosecondType: time(1_000_000_000));
    let decimal = |bytes: &[u8]| {
        let zeros = usize::try_from(-scale).unwrap_or(0);
        some(written::decimal(bytes, scale) + &"0".repeat(zeros))
    };
    spelt!(Decimal32Type: |value: i32| decimal(&value.to_be_bytes()));
    spelt!(Decimal64Type: |value: i64| decimal(&value.to_be_bytes()));
    spelt!(Decimal128Type: |value: i128| decimal(&value.to_be_bytes()));
    spelt!(Decimal256Type: |value: <kinds::Decimal256Type as kinds::ArrowPrimitiveType>::Native| decimal(&value.to_be_bytes()));
    if let Some(values) = values.as_boolean_opt() {
        return Some(values.value(at).to_string().into());
    }
    if let Some(values) = values.as_string_opt::<i32>() {
        return Some(values.value(at).into());
    }
    if let Some(values) = values.as_string_opt::<i64>() {
        return Some(values.value(at).into());
    }
    if let Some(values) = values.as_string_view_opt() {
        return Some(values.value(at).into());
    }
    let (values, at) = inner(values, at)?;
    spelling(&**values, at)
}

/// The place of a value of a dictionary or of runs among the values that are stored.
fn inner(values: &dyn Array, at: usize) -> Option<(&ArrayRef, usize)> {
    if let Some(values) = values.as_any_dictionary_opt() {
        let at = spelling(values.keys(), at)?.parse().ok()?;
        return Some((values.values(), at));
    }
    macro_rules! runs {
        ($($kind:ident)*) => {
            $(if let Some(values) = values.as_run_opt::<kinds::$kind>() {
                return Some((values.values(), values.get_physical_index(at)));
            })*
        };
    }
    runs!(Int16Type Int32Type Int64Type);
    None
}

/// A value inside of a column with texts, as JSON: the texts and the numbers in it are strings.
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
    } else if let Some((values, at)) = inner(values, at) {
        json(&**values, at)
    } else {
        spelling(values, at).into()
    }
}

/// The fields of a column that a path can lead to, each with its type and whether it has text.
pub fn fields(path: String, kind: &DataType, found: &mut Vec<(String, String, bool)>) {
    match stored(kind) {
        DataType::Struct(all) => {
            for field in all {
                fields(
                    format!("{path}.{}", path_of(field.name())),
                    field.data_type(),
                    found,
                );
            }
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => fields(format!("{path}[]"), item.data_type(), found),
        kind if kind.is_string() => found.push((path, "string".into(), true)),
        kind => found.push((path, kind.to_string(), is_text(kind))),
    }
}

/// A name as a path of `--text-field`, in quotes if it needs them.
pub fn path_of(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    match !name.is_empty() && name.chars().all(plain) {
        true => name.into(),
        false => quoted(name),
    }
}

/// A name as a path of `--text-field`, in quotes.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
