//! Texts from memory: they are written to a temporary file, which the commands read like any other.
//!
//! The rows of a table are kept beside it, so that those that are no duplicates can be given back:
//! in memory, or in a second file if they are large.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types as kinds;
use arrow_array::{
    Array, ArrayReader, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray,
    RecordBatch, RecordBatchReader, StringArrayType, StringViewArray, UInt32Array, UInt64Array,
    new_empty_array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use lookalike::store::workspace::refuse_remote;
use lookalike::tasks::dedup::removed_docnos;
use lookalike::{ByteSize, Collection, Error, Options, Pair, Result, Results};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use tempfile::TempDir;

use crate::arrow::{Rows, Table, arrays, failed};
use crate::{locked, raise, results};

/// The fields of a record in the temporary file: the number of its row, which serves as docno, and
/// its text. The other fields have the names of columns.
const ROW: &str = "lookalike row";
const TEXT: &str = "lookalike text";
/// The number of the split that a row is from, if there are several.
const SPLIT: &str = "lookalike split";

/// The least value of `--max-document`: a smaller one saves no memory worth having.
const LEAST_MAX_DOCUMENT: usize = 4 << 20;
/// Rows that are written between two looks for Ctrl-C.
const ROWS: usize = 1024;

/// Texts that wait for a command.
#[pyclass(frozen, module = "lookalike._native")]
pub struct Spool {
    place: Arc<TempDir>,
    spooling: Mutex<Spooling>,
}

struct Spooling {
    out: BufWriter<File>,
    path: PathBuf,
    /// The names of the columns with texts and identifiers, and of those that policies need.
    text: String,
    id: Option<String>,
    fields: Vec<String>,
    rows: u64,
    /// The number of the split of the next rows, and its first row, which messages call 0.
    split: Option<u64>,
    first: u64,
    line: Vec<u8>,
    /// Bytes of the longest line of the file.
    longest: usize,
    ids: Vec<ArrayRef>,
    kept: Option<Kept>,
}

/// The columns of some rows that a command needs.
struct Columns {
    texts: ArrayRef,
    fields: Vec<(String, ArrayRef)>,
}

/// The rows of a table.
struct Kept {
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
    bytes: usize,
    /// Rows that take more bytes than this are written to a file.
    most: usize,
    path: PathBuf,
    file: Option<StreamWriter<BufWriter<File>>>,
}

#[pymethods]
impl Spool {
    /// Begins in a new directory below `directory`. `memory` is given if rows are kept: a quarter of
    /// it may be theirs.
    #[new]
    #[pyo3(signature = (directory, text, id=None, fields=Vec::new(), memory=None))]
    fn new(
        py: Python<'_>,
        directory: Option<PathBuf>,
        text: String,
        id: Option<String>,
        fields: Vec<String>,
        memory: Option<&str>,
    ) -> PyResult<Self> {
        let memory = memory.map(str::parse::<ByteSize>).transpose();
        let memory = memory.map_err(|error| PyValueError::new_err(error.to_string()))?;
        if let Some(directory) = &directory {
            refuse_remote(directory).map_err(|error| raise(py, &error))?;
        }
        let mut place = tempfile::Builder::new();
        let place = place.prefix("lookalike-");
        let place = match directory {
            Some(directory) => place.tempdir_in(directory)?,
            None => place.tempdir()?,
        };
        let path = place.path().join("texts.jsonl");
        let kept = memory.map(|memory| Kept {
            schema: None,
            batches: Vec::new(),
            bytes: 0,
            most: (memory.0 / 4) as usize,
            path: place.path().join("rows.arrow"),
            file: None,
        });
        let spooling = Spooling {
            out: BufWriter::with_capacity(1 << 20, File::create_new(&path)?),
            path,
            text,
            id,
            fields,
            rows: 0,
            split: None,
            first: 0,
            line: Vec::new(),
            longest: 0,
            ids: Vec::new(),
            kept,
        };
        Ok(Spool {
            place: Arc::new(place),
            spooling: Mutex::new(spooling),
        })
    }

    /// The temporary directory.
    #[getter]
    fn directory(&self) -> PathBuf {
        self.place.path().into()
    }

    /// Texts added so far.
    #[getter]
    fn rows(&self) -> u64 {
        locked(&self.spooling).rows
    }

    /// The policy that prefers the rows of earlier splits.
    #[classattr]
    fn by_split() -> String {
        format!("min:{SPLIT}")
    }

    /// Begins the split of this number.
    fn split(&self, number: u64) {
        let mut spooling = locked(&self.spooling);
        (spooling.split, spooling.first) = (Some(number), spooling.rows);
    }

    /// The file of the texts.
    #[getter]
    fn path(&self) -> PathBuf {
        locked(&self.spooling).path.clone()
    }

    /// Flags with which a command reads the texts. Nothing can be added afterwards.
    fn flags(&self, command: &str) -> PyResult<Vec<String>> {
        let mut spooling = locked(&self.spooling);
        spooling.out.flush()?;
        if let Some(Kept {
            file: Some(file), ..
        }) = &mut spooling.kept
        {
            file.finish().map_err(failed)?;
        }
        let mut flags = vec!["--format=jsonl".to_string()];
        flags.extend([format!("--id-field={ROW}"), format!("--text-field={TEXT}")]);
        if command != "query" {
            // Every text takes part, or the command fails: nobody would see a list of rejects.
            let flag = match spooling.rows {
                0 => "--allow-empty",
                _ => "--strict",
            };
            let most = spooling.longest.max(LEAST_MAX_DOCUMENT);
            flags.extend([flag.to_string(), format!("--max-document={most}")]);
        }
        Ok(flags)
    }

    /// Adds the rows of a table, or the texts of an array.
    fn add(&self, py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut arrays = arrays(object)?;
        let field = arrays.field().clone();
        if locked(&self.spooling).rows == 0 {
            // The schema of a table without rows, which may have no batch.
            let empty = new_empty_array(field.data_type());
            let columns = locked(&self.spooling).columns(&empty, &field)?;
            locked(&self.spooling).put_columns(&columns, 0, 0)?;
        }
        // The producer of the arrays may need the interpreter's lock.
        while let Some(array) = py.detach(|| arrays.next()) {
            let array = array.map_err(failed)?;
            let columns = py.detach(|| locked(&self.spooling).columns(&array, &field))?;
            for from in (0..array.len()).step_by(ROWS) {
                let rows = ROWS.min(array.len() - from);
                py.detach(|| locked(&self.spooling).put_columns(&columns, from, rows))?;
                py.check_signals()?;
            }
        }
        Ok(())
    }

    /// Adds texts.
    fn add_texts(&self, py: Python<'_>, texts: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let first = locked(&self.spooling).row();
        let texts: Vec<PyBackedStr> = (first..)
            .zip(texts)
            .map(|(row, text)| {
                text.extract().map_err(|_| {
                    let kind = text.get_type().name().map(|name| name.to_string());
                    let kind = kind.unwrap_or_default();
                    let text = format!("the text in row {row} is {kind}, not str");
                    PyTypeError::new_err(text)
                })
            })
            .collect::<PyResult<_>>()?;
        py.detach(|| {
            let mut spooling = locked(&self.spooling);
            let columns = spooling.id.is_some() || !spooling.fields.is_empty();
            if spooling.kept.is_none() && !columns {
                return spooling.put(texts.iter().map(|text| Some(&**text)), &[]);
            }
            let count = texts.len();
            let texts: LargeStringArray = texts.iter().map(|text| Some(&**text)).collect();
            let field = Field::new(&spooling.text, DataType::LargeUtf8, true);
            let columns = spooling.columns(&(Arc::new(texts) as ArrayRef), &field)?;
            spooling.put_columns(&columns, 0, count)
        })
    }

    /// Gives the texts identifiers: strings, integers, or an Arrow array.
    fn identify(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
        let ids = if ids.hasattr("__arrow_c_stream__")? {
            let arrays = arrays(ids)?;
            py.detach(|| arrays.collect::<std::result::Result<Vec<_>, _>>())
                .map_err(failed)?
        } else if let Ok(ids) = ids.extract::<Vec<i64>>() {
            vec![Arc::new(Int64Array::from(ids)) as ArrayRef]
        } else {
            let ids: Vec<String> = ids.extract().map_err(|_| {
                PyTypeError::new_err("ids must be strings, integers, or an Arrow array")
            })?;
            vec![Arc::new(LargeStringArray::from(ids)) as ArrayRef]
        };
        let found: usize = ids.iter().map(|ids| ids.len()).sum();
        let mut spooling = locked(&self.spooling);
        if found as u64 != spooling.rows {
            let rows = spooling.rows;
            let text = format!("{found} ids for {rows} texts: each text needs one");
            return Err(PyValueError::new_err(text));
        }
        spooling.ids = ids;
        Ok(())
    }

    /// The pairs that the command `run` found, with identifiers in place of docnos.
    fn pairs(&self, py: Python<'_>, directory: PathBuf) -> PyResult<Table> {
        let (rows, ids) = {
            let spooling = locked(&self.spooling);
            (spooling.rows, spooling.ids.clone())
        };
        let ids = if ids.is_empty() {
            Arc::new(UInt64Array::from_iter_values(0..rows)) as ArrayRef
        } else {
            let ids: Vec<&dyn Array> = ids.iter().map(|ids| &**ids).collect();
            concat(&ids).map_err(failed)?
        };
        let place = self.place.clone();
        py.detach(|| pairs(directory, ids, place))
            .map_err(|error| raise(py, &error))
    }

    /// The numbers of the rows in `removed`, a list of the command `dedup`, in ascending order.
    fn removed(&self, py: Python<'_>, removed: PathBuf) -> PyResult<Vec<usize>> {
        let rows = locked(&self.spooling).rows as usize;
        let kept = py.detach(|| kept_rows(&removed, rows));
        let kept = kept.map_err(|error| raise(py, &error))?;
        Ok((0..rows).filter(|&row| !kept.value(row)).collect())
    }

    /// The rows of the table without those in `removed`, a list of the command `dedup`.
    fn kept(&self, py: Python<'_>, removed: PathBuf) -> PyResult<Table> {
        let mut spooling = locked(&self.spooling);
        let rows = spooling.rows as usize;
        let Some(mut kept) = spooling.kept.take() else {
            return Err(PyValueError::new_err("the rows were not kept"));
        };
        let kept_rows = py.detach(|| kept_rows(&removed, rows));
        let kept_rows = kept_rows.map_err(|error| raise(py, &error))?;
        let schema = kept
            .schema
            .take()
            .unwrap_or_else(|| text_schema(&spooling.text));
        let kept = Arc::new(Chosen {
            schema: schema.clone(),
            spilled: kept.file.is_some().then_some(kept.path),
            batches: kept.batches,
            kept: kept_rows,
            _place: self.place.clone(),
        });
        Ok(Table {
            schema,
            open: Arc::new(move || kept.rows()),
        })
    }
}

/// The schema of texts that came without one.
fn text_schema(text: &str) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(
        text,
        DataType::LargeUtf8,
        true,
    )]))
}

impl Spooling {
    /// The number that a message gives to the next row.
    fn row(&self) -> u64 {
        self.rows - self.first
    }

    /// Keeps the rows and the identifiers of an array, and returns the columns to be written. `field`
    /// describes the stream, and has the metadata of its schema.
    fn columns(&mut self, array: &ArrayRef, field: &Field) -> PyResult<Columns> {
        let batch = match array.as_struct_opt() {
            Some(rows) if rows.null_count() > 0 => {
                let null = (0..rows.len()).position(|row| rows.is_null(row));
                let row = self.row() + null.unwrap_or(0) as u64;
                let text = format!("expected a table or texts, found records; row {row} is null");
                return Err(PyTypeError::new_err(text));
            }
            Some(rows) => {
                let metadata = field.metadata().clone();
                let schema = Schema::new_with_metadata(rows.fields().clone(), metadata);
                let batch = RecordBatch::from(rows.clone());
                batch.with_schema(Arc::new(schema)).map_err(failed)?
            }
            None => {
                let field = Field::new(&self.text, array.data_type().clone(), true);
                let schema = Arc::new(Schema::new(vec![field]));
                RecordBatch::try_new(schema, vec![array.clone()]).map_err(failed)?
            }
        };
        let column = |name: &str| {
            batch.column_by_name(name).cloned().ok_or_else(|| {
                let schema = batch.schema();
                let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
                let text = format!("there is no column {name}, only {}", names.join(", "));
                PyKeyError::new_err(text)
            })
        };
        let texts = column(&self.text)?;
        if let Some(id) = &self.id {
            self.ids.push(column(id)?);
        }
        let fields = self.fields.iter();
        let fields = fields.map(|name| Ok((name.clone(), column(name)?)));
        let fields = fields.collect::<PyResult<_>>()?;
        if let Some(kept) = &mut self.kept {
            kept.add(&batch)?;
        }
        Ok(Columns { texts, fields })
    }

    fn put_columns(&mut self, columns: &Columns, from: usize, rows: usize) -> PyResult<()> {
        let texts = columns.texts.slice(from, rows);
        let fields = columns.fields.iter();
        let fields: Vec<_> = fields
            .map(|(name, values)| (name.clone(), values.slice(from, rows)))
            .collect();
        if let Some(texts) = texts.as_string_opt::<i32>() {
            self.put(texts.iter(), &fields)
        } else if let Some(texts) = texts.as_string_opt::<i64>() {
            self.put(texts.iter(), &fields)
        } else if let Some(texts) = texts.as_string_view_opt() {
            self.put(texts.iter(), &fields)
        } else {
            let kind = texts.data_type();
            let row = self.row();
            let text = format!(
                "the column {} has the type {kind}, not strings, from row {row} on",
                self.text
            );
            Err(PyTypeError::new_err(text))
        }
    }

    /// Writes texts. A text that is null has no words.
    fn put<'t>(
        &mut self,
        texts: impl Iterator<Item = Option<&'t str>>,
        fields: &[(String, ArrayRef)],
    ) -> PyResult<()> {
        for (at, text) in texts.enumerate() {
            let out = &mut self.line;
            out.clear();
            write!(out, "{{\"{ROW}\":\"{}\",\"{TEXT}\":", self.rows)?;
            serde_json::to_writer(&mut *out, text.unwrap_or("")).map_err(std::io::Error::from)?;
            if let Some(split) = self.split {
                write!(out, ",\"{SPLIT}\":{split}")?;
            }
            for (name, values) in fields {
                if values.is_valid(at) {
                    let value = value(values, at).ok_or_else(|| {
                        let kind = values.data_type();
                        let text = format!(
                            "the column {name} has the type {kind}; a policy needs strings, \
                             numbers, dates or times"
                        );
                        PyTypeError::new_err(text)
                    })?;
                    let name = serde_json::Value::from(name.as_str());
                    write!(out, ",{name}:{value}")?;
                }
            }
            out.extend_from_slice(b"}\n");
            self.out.write_all(out)?;
            self.longest = self.longest.max(out.len());
            self.rows += 1;
        }
        Ok(())
    }
}

/// A value as JSON. Dates and times are numbers.
fn value(values: &ArrayRef, at: usize) -> Option<serde_json::Value> {
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
    small.or_else(large).or_else(view)
}

impl Kept {
    fn add(&mut self, batch: &RecordBatch) -> PyResult<()> {
        let schema = self.schema.get_or_insert_with(|| batch.schema());
        if batch.num_rows() == 0 {
            return Ok(());
        }
        if schema.fields() != batch.schema().fields() {
            let text = format!("a part of the table has other columns: {}", batch.schema());
            return Err(PyValueError::new_err(text));
        }
        let slices = batch
            .columns()
            .iter()
            .map(|column| column.to_data().get_slice_memory_size());
        self.bytes += slices
            .sum::<std::result::Result<usize, _>>()
            .map_err(failed)?;
        if self.file.is_none() && self.bytes > self.most {
            let file = BufWriter::with_capacity(1 << 20, File::create_new(&self.path)?);
            let mut file = StreamWriter::try_new(file, schema).map_err(failed)?;
            for batch in self.batches.drain(..) {
                file.write(&batch).map_err(failed)?;
            }
            self.file = Some(file);
        }
        match &mut self.file {
            Some(file) => file.write(batch).map_err(failed),
            None => {
                self.batches.push(batch.clone());
                Ok(())
            }
        }
    }
}

/// The rows of a table of which some are kept.
struct Chosen {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The file of the rows, if they are not in memory.
    spilled: Option<PathBuf>,
    kept: BooleanArray,
    _place: Arc<TempDir>,
}

impl Chosen {
    fn rows(self: &Arc<Chosen>) -> Result<Rows> {
        let batches: Box<dyn Iterator<Item = _> + Send> = match &self.spilled {
            None => {
                let (all, mut at) = (self.clone(), 0);
                Box::new(std::iter::from_fn(move || {
                    at += 1;
                    all.batches.get(at - 1).cloned().map(Ok)
                }))
            }
            Some(path) => {
                let file = File::open(path).map_err(Error::io("open", path))?;
                let other = |error: ArrowError| std::io::Error::other(error.to_string());
                let rows = StreamReader::try_new(BufReader::with_capacity(1 << 20, file), None);
                Box::new(rows.map_err(|error| Error::io("read", path)(other(error)))?)
            }
        };
        Ok(Box::new(ChosenRows {
            chosen: self.clone(),
            batches,
            at: 0,
        }))
    }
}

struct ChosenRows {
    chosen: Arc<Chosen>,
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
    at: usize,
}

impl Iterator for ChosenRows {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.batches.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        let kept = self.chosen.kept.slice(self.at, batch.num_rows());
        self.at += batch.num_rows();
        // Not the schema of this batch: each part of a table may have metadata of its own.
        let batch = filter_record_batch(&batch, &kept);
        let schema = self.chosen.schema.clone();
        Some(batch.and_then(|batch| RecordBatch::try_new(schema, batch.columns().to_vec())))
    }
}

impl RecordBatchReader for ChosenRows {
    fn schema(&self) -> SchemaRef {
        self.chosen.schema.clone()
    }
}

/// The number of a row, from a docno.
fn row(docno: &str, rows: usize) -> std::result::Result<usize, ArrowError> {
    let row = docno.parse().ok().filter(|&row| row < rows);
    row.ok_or_else(|| {
        let text = format!("the docno {docno} is not the number of a row");
        ArrowError::InvalidArgumentError(text)
    })
}

/// Which rows are kept, by the list of what `dedup` removed.
fn kept_rows(removed: &Path, rows: usize) -> Result<BooleanArray> {
    let mut kept = vec![true; rows];
    for docno in removed_docnos(removed)? {
        let docno = docno?;
        let row = row(&docno, rows).map_err(|error| {
            let error = std::io::Error::other(error.to_string());
            Error::io("read", removed)(error)
        })?;
        kept[row] = false;
    }
    Ok(BooleanArray::from(kept))
}

/// The pairs of a finished directory, with identifiers in place of docnos.
fn pairs(directory: PathBuf, ids: ArrayRef, place: Arc<TempDir>) -> Result<Table> {
    let collection = Collection::open(directory, Options::default())?;
    let columns = collection.table(Results::Pairs)?;
    let id = |name| Field::new(name, ids.data_type().clone(), true);
    let values = results::fields(&columns.columns()[2..6]);
    let fields: Vec<Field> = [id("id_a"), id("id_b")].into_iter().chain(values).collect();
    let schema = Arc::new(Schema::new(fields));
    let of = schema.clone();
    let open = move || {
        let rows = PairRows {
            pairs: Box::new(collection.pairs()?),
            ids: ids.clone(),
            schema: of.clone(),
            _place: place.clone(),
        };
        Ok(Box::new(rows) as Rows)
    };
    Ok(Table {
        schema,
        open: Arc::new(open),
    })
}

struct PairRows {
    pairs: Box<dyn Iterator<Item = Result<Pair>> + Send>,
    ids: ArrayRef,
    schema: SchemaRef,
    _place: Arc<TempDir>,
}

impl PairRows {
    /// The next pairs; `None` at the end.
    fn batch(&mut self) -> std::result::Result<Option<RecordBatch>, ArrowError> {
        let (mut a, mut b, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = [const { Vec::new() }; 3];
        for pair in self.pairs.by_ref().take(results::ROWS) {
            let pair = pair.map_err(results::external)?;
            a.push(row(&pair.a, self.ids.len())? as u64);
            b.push(row(&pair.b, self.ids.len())? as u64);
            values.push(pair.resemblance);
            let [of_a, of_b] = pair.sizes;
            for (numbers, number) in numbers.iter_mut().zip([pair.shared, of_a, of_b]) {
                numbers.push(number);
            }
        }
        if a.is_empty() {
            return Ok(None);
        }
        let id = |rows: Vec<u64>| take(&self.ids, &UInt64Array::from(rows), None);
        let mut columns = vec![id(a)?, id(b)?, Arc::new(Float64Array::from(values))];
        columns.extend(numbers.map(|numbers| Arc::new(UInt32Array::from(numbers)) as ArrayRef));
        RecordBatch::try_new(self.schema.clone(), columns).map(Some)
    }
}

impl Iterator for PairRows {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl RecordBatchReader for PairRows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
