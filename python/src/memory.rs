//! Texts from memory: they are written to a temporary file, which the commands read like any other.
//!
//! The rows of a stream, which cannot be read again, are kept beside it, so that the rows that are
//! not duplicates can be given back: in memory, or in more files if they are large.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayReader, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray,
    NullArray, RecordBatch, RecordBatchReader, StringArray, UInt32Array, UInt64Array,
    new_empty_array, new_null_array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::DataType::{self, Duration, Time32, Time64};
use arrow_schema::{ArrowError, Field, Metadata, Schema, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use lookalike::engine::collection::Condition;
use lookalike::store::table::Cell;
use lookalike::store::workspace::refuse_remote;
use lookalike::tasks::dedup::removed_docnos;
use lookalike::{ByteSize, Collection, Error, Options, Pair, Result, Results};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field as Value;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};
use tempfile::TempDir;

use crate::arrow::{
    Rows, Table, arrays, failed, fields, is_text, json, path_of, quoted, spelling, stored,
};
use crate::{locked, raise, results};

/// The fields of a record in the temporary file: the number of its row, which serves as docno, and
/// its text. The other fields have the names of columns. If the texts are in several columns or
/// inside of some, the record has these columns in place of the text.
const ROW: &str = "lookalike row";
const TEXT: &str = "lookalike text";
/// The number of the split that a row is from, if there are several.
const SPLIT: &str = "lookalike split";

/// The least value of `--max-document`: a smaller one saves no memory worth having.
const LEAST_MAX_DOCUMENT: usize = 4 << 20;
/// Rows that are written between two looks for Ctrl-C.
const ROWS: usize = 1024;

/// A temporary directory, which the process that made it removes. A process that was forked from it
/// has a copy of its objects, and leaves the directory alone.
struct Place {
    directory: TempDir,
    process: u32,
}

impl Drop for Place {
    fn drop(&mut self) {
        let other = self.process != std::process::id();
        self.directory.disable_cleanup(other);
    }
}

/// Texts that wait for a command.
#[pyclass(frozen, module = "lookalike._native")]
pub struct Spool {
    place: Arc<Place>,
    spooling: Mutex<Spooling>,
}

struct Spooling {
    out: BufWriter<File>,
    path: PathBuf,
    /// The columns with texts, in the user's spelling, and the column in which each path begins.
    texts: Vec<(String, String)>,
    /// The value of `--text-field`, if records have columns in place of the text.
    paths: Option<String>,
    /// The names of the field of the row and the field of the text, and whether they are another
    /// collection's, which decides how the file is read.
    names: (String, String),
    foreign: bool,
    every: bool,
    /// The names of the columns with identifiers, and of the columns that policies need.
    id: Option<String>,
    fields: Vec<String>,
    /// The number of the first row, and of the row after the last one.
    start: u64,
    rows: u64,
    /// The splits: the first row and the name of each. Messages call the first row 0.
    splits: Vec<(u64, String)>,
    line: Vec<u8>,
    /// Bytes of the longest line of the file.
    longest: usize,
    ids: Vec<ArrayRef>,
    /// The metadata of their column, which says of what type of an extension they are.
    id_metadata: Metadata,
    kept: Option<Kept>,
    /// Why a column of texts is not there, or has none, in a table whose columns are not all known.
    lacking: Option<PyErr>,
}

/// The columns of some rows that a command needs.
struct Columns {
    /// `None` if the texts are in `nested`.
    texts: Option<ArrayRef>,
    fields: Vec<(String, ArrayRef)>,
    nested: Vec<(String, ArrayRef)>,
}

/// How a column of row numbers is called, and whether it has no number for some rows.
type Name<'n> = (&'n str, bool);

/// Lists the columns of the fields that a condition names, without fields that the module derives from
/// the text or from other fields.
#[pyfunction]
pub fn fields_of_condition(condition: &str) -> PyResult<Vec<String>> {
    let condition: Condition = condition.parse().map_err(|why| {
        PyValueError::new_err(format!("where='{condition}' is not possible: {why}"))
    })?;
    let mut fields = Vec::new();
    for field in condition.fields() {
        let column = match &**field {
            "words" | "docno" => continue,
            "file" | "folder" | "top_folder" => {
                let text = format!("where={condition}: texts in memory have no {field}");
                return Err(PyValueError::new_err(text));
            }
            "host" | "path" => "url",
            field => field,
        };
        if !fields.iter().any(|known| known == column) {
            fields.push(column.to_string());
        }
    }
    Ok(fields)
}

/// The rows of a table.
struct Kept {
    parts: Vec<Part>,
    bytes: usize,
    /// Rows that take more bytes than this are written to files.
    most: usize,
    place: PathBuf,
    /// The file of the last part.
    file: Option<StreamWriter<BufWriter<File>>>,
}

/// Consecutive rows with the same columns.
struct Part {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The file in which they are, in place of memory.
    path: Option<PathBuf>,
    rows: usize,
}

#[pymethods]
impl Spool {
    /// Begins in a new directory below `directory`. `text` has the columns with texts: a path, and
    /// the column in which it begins. `memory` is given if rows are kept: a quarter of it may be
    /// theirs. `names` are given to write the file in the form of another collection. With `every`,
    /// also a row without any of several texts is a document.
    #[new]
    #[pyo3(signature = (
        directory, text, id=None, fields=Vec::new(), memory=None, start=0, names=None, every=false
    ))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        directory: Option<PathBuf>,
        text: Vec<(String, String)>,
        id: Option<String>,
        fields: Vec<String>,
        memory: Option<&str>,
        start: u64,
        names: Option<(String, String)>,
        every: bool,
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
            parts: Vec::new(),
            bytes: 0,
            most: (memory.0 / 4) as usize,
            place: place.path().into(),
            file: None,
        });
        let spooling = Spooling {
            out: BufWriter::with_capacity(1 << 20, File::create_new(&path)?),
            path,
            texts: text,
            paths: None,
            foreign: names.is_some(),
            every,
            names: names.unwrap_or((ROW.into(), TEXT.into())),
            id,
            fields,
            start,
            rows: start,
            splits: Vec::new(),
            line: Vec::new(),
            longest: 0,
            ids: Vec::new(),
            id_metadata: Metadata::default(),
            kept,
            lacking: None,
        };
        Ok(Spool {
            place: Arc::new(Place {
                directory: place,
                process: std::process::id(),
            }),
            spooling: Mutex::new(spooling),
        })
    }

    /// The temporary directory.
    #[getter]
    fn directory(&self) -> PathBuf {
        self.place.directory.path().into()
    }

    /// Texts added so far.
    #[getter]
    fn rows(&self) -> u64 {
        let spooling = locked(&self.spooling);
        spooling.rows - spooling.start
    }

    /// The number of the first row.
    #[getter]
    fn start(&self) -> u64 {
        locked(&self.spooling).start
    }

    /// Bytes of the longest line so far.
    #[getter]
    fn longest(&self) -> usize {
        locked(&self.spooling).longest
    }

    /// The policy that prefers the rows of earlier splits.
    #[classattr]
    fn by_split() -> String {
        format!("min:{SPLIT}")
    }

    /// Begins the next split.
    fn split(&self, name: String) {
        let mut spooling = locked(&self.spooling);
        let first = spooling.rows;
        spooling.splits.push((first, name));
    }

    /// The file of the texts.
    #[getter]
    fn path(&self) -> PathBuf {
        locked(&self.spooling).path.clone()
    }

    /// Flags with which a command reads the texts. Nothing can be added afterwards. `longest` is the
    /// longest line of another file that is read in the same way.
    #[pyo3(signature = (command, longest=0))]
    fn flags(&self, command: &str, longest: usize) -> PyResult<Vec<String>> {
        let mut spooling = locked(&self.spooling);
        if spooling.rows == spooling.start {
            // Without any byte, it would be a reject.
            spooling.out.write_all(b"\n")?;
        }
        spooling.out.flush()?;
        if let Some(kept) = &mut spooling.kept {
            kept.finish()?;
        }
        let mut flags = Vec::new();
        if !spooling.foreign {
            let text = spooling.paths.as_deref().unwrap_or(TEXT);
            let fields = [format!("--id-field={ROW}"), format!("--text-field={text}")];
            flags.push("--format=jsonl".to_string());
            flags.extend(fields);
        }
        if command != "query" {
            // Every text takes part, or the command fails: a list of rejects would not be seen. A
            // record without any of several texts is like a text that is null.
            let rows = spooling.rows - spooling.start;
            let flag = match (rows, &spooling.paths, spooling.every) {
                (0, ..) => Some("--allow-empty"),
                (_, Some(_), false) => None,
                _ => Some("--strict"),
            };
            flags.extend(flag.map(String::from));
            if !spooling.foreign {
                let most = spooling.longest.max(longest).max(LEAST_MAX_DOCUMENT);
                flags.push(format!("--max-document={most}"));
            }
        }
        Ok(flags)
    }

    /// Adds the rows of a table, or the texts of an array. If `more` columns may come with rows that
    /// follow, those that are needed may be missing.
    #[pyo3(signature = (object, more=false))]
    fn add(&self, py: Python<'_>, object: &Bound<'_, PyAny>, more: bool) -> PyResult<()> {
        let mut arrays = arrays(object)?;
        let field = arrays.field().clone();
        // The schema of a table without rows, which may have no batch.
        let empty = new_empty_array(field.data_type());
        locked(&self.spooling).lacking = None;
        locked(&self.spooling).columns(&empty, &field)?;
        if !more && let Some(lacking) = locked(&self.spooling).lacking.take() {
            return Err(lacking);
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

    /// Adds texts, which may be None.
    fn add_texts(&self, py: Python<'_>, texts: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let first = locked(&self.spooling).row();
        let text = |(row, text): (u64, Bound<'_, PyAny>)| {
            text.extract()
                .map_err(|_| other_kind("the text", row, &text, "str"))
        };
        let texts: Vec<Option<PyBackedStr>> =
            (first..).zip(texts).map(text).collect::<PyResult<_>>()?;
        py.detach(|| {
            let mut spooling = locked(&self.spooling);
            let columns = spooling.id.is_some() || !spooling.fields.is_empty();
            let texts = texts.iter().map(Option::as_deref);
            if spooling.kept.is_none() && !columns && spooling.texts.len() == 1 {
                return spooling.put(texts, &[], &[]);
            }
            let count = texts.len();
            let texts: LargeStringArray = texts.collect();
            let field = text_field(spooling.column(), DataType::LargeUtf8);
            let columns = spooling.columns(&(Arc::new(texts) as ArrayRef), &field)?;
            if let Some(lacking) = spooling.lacking.take() {
                return Err(lacking);
            }
            spooling.put_columns(&columns, 0, count)
        })
    }

    /// Gives the texts identifiers: strings, numbers, truths, or an Arrow array.
    fn identify(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut metadata = Metadata::default();
        let ids = if ids.hasattr("__arrow_c_stream__")? {
            let arrays = arrays(ids)?;
            metadata.clone_from(arrays.field().metadata());
            py.detach(|| arrays.collect::<std::result::Result<Vec<_>, _>>())
                .map_err(failed)?
        } else {
            let mut made = Ids::None(0);
            for (row, id) in ids.try_iter()?.enumerate() {
                made = made.with(row, &id?)?;
            }
            vec![made.array()]
        };
        let found: usize = ids.iter().map(|ids| ids.len()).sum();
        let mut spooling = locked(&self.spooling);
        let rows = spooling.rows - spooling.start;
        if found as u64 != rows {
            let text = format!("{found} ids for {rows} texts: each text needs one");
            return Err(PyValueError::new_err(text));
        }
        (spooling.ids, spooling.id_metadata) = (ids, metadata);
        Ok(())
    }

    /// Returns the identifiers of the rows.
    fn ids(&self) -> PyResult<Table> {
        let spooling = locked(&self.spooling);
        let rows = spooling.rows - spooling.start;
        Table::of(spooling.named(("id", true), (0..rows).map(Some).collect())?)
    }

    /// The pairs that the command `run` found, with identifiers in place of docnos.
    fn pairs(&self, py: Python<'_>, directory: PathBuf) -> PyResult<Table> {
        let spooling = locked(&self.spooling);
        let (ids, metadata) = (spooling.identifiers()?, spooling.id_metadata.clone());
        let place = self.place.clone();
        drop(spooling);
        py.detach(|| pairs(directory, ids, metadata, place))
            .map_err(|error| raise(py, &error))
    }

    /// The rows in clusters of a directory, in the order of the rows. `name` is the name of the
    /// column of the rows.
    fn clusters(&self, py: Python<'_>, directory: PathBuf, name: &str) -> PyResult<Table> {
        let rows = locked(&self.spooling).rows as usize;
        let found = py.detach(|| clustered(directory, rows));
        let found = found.map_err(|error| raise(py, &error))?;
        let mut sizes = HashMap::new();
        for &(row, cluster) in &found {
            sizes.entry(cluster).or_insert((row, 0u32)).1 += 1;
        }
        let of = |cluster| sizes.get(&cluster).copied().unwrap_or_default();
        let spooling = locked(&self.spooling);
        let rows = found.iter().map(|&(row, _)| Some(row)).collect();
        let mut columns = spooling.named((name, false), rows)?;
        let numbers = |name: &str, numbers: UInt32Array| {
            let field = Field::new(name, DataType::UInt32, false);
            (field, Arc::new(numbers) as ArrayRef)
        };
        let clusters = found.iter().map(|&(_, cluster)| cluster);
        columns.push(numbers(
            "cluster",
            clusters.clone().collect::<Vec<_>>().into(),
        ));
        let counts: Vec<u32> = clusters.clone().map(|cluster| of(cluster).1).collect();
        columns.push(numbers("size", counts.into()));
        let firsts = clusters.map(|cluster| Some(of(cluster).0)).collect();
        columns.extend(spooling.named(("representative", false), firsts)?);
        Table::of(columns)
    }

    /// The rows that were removed, from `removed.parquet` of the command `dedup`. The first `others`
    /// documents are another collection's, whose docnos are row numbers if `numbered`; `names` is the
    /// spool of these rows if it has identifiers, or maps them to their names.
    #[pyo3(signature = (removed, others, numbered, names=None))]
    fn evidence(
        &self,
        py: Python<'_>,
        removed: PathBuf,
        others: u64,
        numbered: bool,
        names: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        let spooling = locked(&self.spooling);
        let rows = spooling.rows as usize;
        let found = py.detach(|| Removed::read(&removed, (others, rows)));
        let found = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let column = |name: &str, values: ArrayRef| {
            (Field::new(name, values.data_type().clone(), true), values)
        };
        let mut columns = spooling.named(("row", false), found.rows)?;
        columns.push(column("reason", Arc::new(StringArray::from(found.reasons))));
        columns.extend(spooling.named(("survivor", true), found.survivors)?);
        if others > 0 {
            let name = "survivor_against";
            let rows = found.others.iter();
            let rows = rows.map(|row| row.as_ref().and_then(|row| row.parse::<u64>().ok()));
            columns.extend(match names {
                _ if !numbered => vec![column(name, Arc::new(StringArray::from(found.others)))],
                None => vec![column(name, Arc::new(rows.collect::<UInt64Array>()))],
                Some(names) => match names.cast::<Spool>() {
                    Ok(other) => {
                        locked(&other.get().spooling).named((name, true), rows.collect())?
                    }
                    Err(_) => {
                        let mut made = Ids::None(0);
                        for (at, row) in rows.enumerate() {
                            let id = row.map(|row| names.get_item(row)).transpose()?;
                            made = made.with(at, &id.unwrap_or(py.None().into_bound(py)))?;
                        }
                        vec![column(name, made.array())]
                    }
                },
            });
        }
        columns.push(column(
            &found.measure,
            Arc::new(Float64Array::from(found.values)),
        ));
        columns.push(column("shared", Arc::new(UInt32Array::from(found.shared))));
        Table::of(columns)
    }

    /// A byte for each row: whether it is kept, by `removed`, a list of the command `dedup`.
    fn mask<'py>(&self, py: Python<'py>, removed: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
        let rows = locked(&self.spooling).rows as usize;
        let kept = py.detach(|| kept_rows(&removed, rows));
        let kept = kept.map_err(|error| raise(py, &error))?;
        PyBytes::new_with(py, rows, |bytes| {
            (bytes.iter_mut().zip(kept.values())).for_each(|(byte, kept)| *byte = kept.into());
            Ok(())
        })
    }

    /// The rows of the table without those in `removed`, a list of the command `dedup`: a table for
    /// each part with columns of its own.
    fn kept(&self, py: Python<'_>, removed: PathBuf) -> PyResult<Vec<Table>> {
        let mut spooling = locked(&self.spooling);
        let rows = spooling.rows as usize;
        let Some(mut kept) = spooling.kept.take() else {
            return Err(PyValueError::new_err("the rows were not kept"));
        };
        let kept_rows = py.detach(|| kept_rows(&removed, rows));
        let kept_rows = kept_rows.map_err(|error| raise(py, &error))?;
        if kept.parts.is_empty() {
            let field = text_field(spooling.column(), DataType::LargeUtf8);
            kept.part(&Arc::new(Schema::new(vec![field])))?;
        }
        let mut first = 0;
        let tables = kept.parts.into_iter().map(|part| {
            let kept = kept_rows.slice(first, part.rows);
            first += part.rows;
            let schema = part.schema.clone();
            let chosen = Arc::new(Chosen {
                part,
                kept,
                _place: self.place.clone(),
            });
            Table {
                schema,
                open: Arc::new(move || chosen.rows()),
            }
        });
        Ok(tables.collect())
    }
}

/// The column of texts that came without one.
fn text_field(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, true)
}

/// The reason why a text of Python cannot be written.
pub const SURROGATE: &str = "has a lone surrogate, which UTF-8 does not have";

/// The error for a value of a row that is not of the expected type.
fn other_kind(what: &str, row: u64, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    if value
        .cast::<PyString>()
        .is_ok_and(|text| text.to_str().is_err())
    {
        let text = format!("{what} in row {row} {SURROGATE}");
        return PyValueError::new_err(text);
    }
    let kind = value.get_type().name().map(|name| name.to_string());
    let kind = kind.unwrap_or_default();
    PyTypeError::new_err(format!("{what} in row {row} is {kind}, not {expected}"))
}

/// From here on, not every integer is a real number of 64 bits.
const EXACT: u64 = 1 << 53;

/// Identifiers that came as objects, with the number of those that are missing at the beginning.
enum Ids {
    None(usize),
    Truths(Vec<Option<bool>>),
    Signed(Vec<Option<i64>>),
    Unsigned(Vec<Option<u64>>),
    Reals(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl Ids {
    /// The identifiers and one more.
    fn with(self, row: usize, id: &Bound<'_, PyAny>) -> PyResult<Ids> {
        fn and<T: Clone>(mut all: Vec<Option<T>>, id: Option<T>) -> Vec<Option<T>> {
            all.push(id);
            all
        }
        let wrong = |expected: &str| other_kind("the id", row as u64, id, expected);
        if id.is_none() {
            return Ok(match self {
                Ids::None(n) => Ids::None(n + 1),
                Ids::Truths(all) => Ids::Truths(and(all, None)),
                Ids::Signed(all) => Ids::Signed(and(all, None)),
                Ids::Unsigned(all) => Ids::Unsigned(and(all, None)),
                Ids::Reals(all) => Ids::Reals(and(all, None)),
                Ids::Texts(all) => Ids::Texts(and(all, None)),
            });
        }
        let all = match self {
            Ids::None(n) if id.is_instance_of::<PyBool>() => Ids::Truths(vec![None; n]),
            Ids::None(n) if id.is_instance_of::<PyInt>() => Ids::Signed(vec![None; n]),
            Ids::None(n) if id.is_instance_of::<PyFloat>() => Ids::Reals(vec![None; n]),
            Ids::None(n) if id.is_instance_of::<PyString>() => Ids::Texts(vec![None; n]),
            Ids::None(_) => {
                return Err(wrong(
                    "str, int, float, bool or a UUID; pass str(id), or an array",
                ));
            }
            all => all,
        };
        let truth = id.cast::<PyBool>().ok().map(|truth| truth.is_true());
        let is_int = truth.is_none() && id.is_instance_of::<PyInt>();
        let large = || {
            let text = format!(
                "the id in row {row} is an integer that does not fit 64 bits: pass str(id)"
            );
            PyValueError::new_err(text)
        };
        Ok(match all {
            Ids::Truths(all) => match truth {
                Some(truth) => Ids::Truths(and(all, Some(truth))),
                None => return Err(wrong("bool as the ids before it")),
            },
            Ids::Texts(all) => match id.extract() {
                Ok(text) => Ids::Texts(and(all, Some(text))),
                Err(_) => return Err(wrong("str as the ids before it")),
            },
            Ids::Signed(all) if is_int => match id.extract() {
                Ok(number) => Ids::Signed(and(all, Some(number))),
                Err(_) => {
                    let number = id.extract().map_err(|_| large())?;
                    let unsigned = all.into_iter().map(|id| id.map(u64::try_from).transpose());
                    let unsigned = unsigned.collect::<std::result::Result<_, _>>();
                    Ids::Unsigned(and(unsigned.map_err(|_| large())?, Some(number)))
                }
            },
            Ids::Unsigned(all) if is_int => {
                Ids::Unsigned(and(all, Some(id.extract().map_err(|_| large())?)))
            }
            Ids::Signed(all) if id.is_instance_of::<PyFloat>() => {
                let exact = |number: &i64| number.unsigned_abs() <= EXACT;
                if !all.iter().flatten().all(exact) {
                    return Err(wrong(
                        "int as the ids before it, some of which are too large for float",
                    ));
                }
                let reals = all.into_iter().map(|id| id.map(|id| id as f64)).collect();
                Ids::Reals(and(reals, Some(id.extract()?)))
            }
            Ids::Reals(all) if is_int => match id.extract::<i64>() {
                Ok(number) if number.unsigned_abs() <= EXACT => {
                    Ids::Reals(and(all, Some(number as f64)))
                }
                _ => return Err(wrong("float as ids before it, for which it is too large")),
            },
            Ids::Reals(all) if id.is_instance_of::<PyFloat>() => {
                Ids::Reals(and(all, Some(id.extract()?)))
            }
            _ => return Err(wrong("a number as the ids before it")),
        })
    }

    fn array(self) -> ArrayRef {
        match self {
            Ids::None(n) => Arc::new(NullArray::new(n)),
            Ids::Truths(all) => Arc::new(BooleanArray::from(all)),
            Ids::Signed(all) => Arc::new(Int64Array::from(all)),
            Ids::Unsigned(all) => Arc::new(UInt64Array::from(all)),
            Ids::Reals(all) => Arc::new(Float64Array::from(all)),
            Ids::Texts(all) => Arc::new(LargeStringArray::from(all)),
        }
    }
}

impl Spooling {
    /// The number that a message gives to the next row.
    fn row(&self) -> u64 {
        self.rows - self.splits.last().map_or(self.start, |split| split.0)
    }

    /// The name for a column of texts that came without one.
    fn column(&self) -> &str {
        match &self.texts[..] {
            [(path, _)] => path,
            _ => "text",
        }
    }

    /// Returns the identifiers of the rows in the result.
    fn identifiers(&self) -> PyResult<ArrayRef> {
        if self.ids.is_empty() {
            return Ok(Arc::new(UInt64Array::from_iter_values(0..self.rows)));
        }
        // Rows that came as objects have ids of a type that the first ones need not have.
        let kind = self
            .ids
            .last()
            .map_or(&DataType::Null, |ids| ids.data_type());
        let of_kind = self.ids.iter().map(|ids| match (ids.data_type(), kind) {
            (found, kind) if found == kind => Ok(ids.clone()),
            (DataType::Null, kind) => Ok(new_null_array(kind, ids.len())),
            (DataType::Int64, DataType::Float64) => {
                let ids = ids.as_primitive::<Int64Type>();
                let reals = ids.unary::<_, Float64Type>(|id| id as f64);
                match ids.iter().flatten().all(|id| id.unsigned_abs() <= EXACT) {
                    true => Ok(Arc::new(reals) as ArrayRef),
                    false => Err(PyTypeError::new_err(
                        "the first ids are integers, some of which are too large for float, as \
                         later ones are",
                    )),
                }
            }
            (found, kind) => {
                let text = format!("the first ids have the type {found}, and later ones {kind}");
                Err(PyTypeError::new_err(text))
            }
        });
        let ids = of_kind.collect::<PyResult<Vec<_>>>()?;
        let ids: Vec<&dyn Array> = ids.iter().map(|ids| &**ids).collect();
        concat(&ids).map_err(failed)
    }

    /// A column with what the result calls these rows; two columns if the rows are of splits.
    fn named(
        &self,
        (name, nullable): Name<'_>,
        rows: Vec<Option<u64>>,
    ) -> PyResult<Vec<(Field, ArrayRef)>> {
        let field = |name: &str, values: ArrayRef| {
            let field = Field::new(name, values.data_type().clone(), nullable);
            (field, values)
        };
        if self.splits.is_empty() {
            let values: ArrayRef = Arc::new(UInt64Array::from(rows));
            let (values, nullable) = match self.ids.is_empty() {
                true => (values, nullable),
                false => {
                    let of = take(&self.identifiers()?, &values, None).map_err(failed)?;
                    (of, true)
                }
            };
            let field = Field::new(name, values.data_type().clone(), nullable);
            let field = field.with_metadata(self.id_metadata.clone());
            return Ok(vec![(field, values)]);
        }
        let of = |row: u64| {
            let after = self.splits.partition_point(|split| split.0 <= row);
            &self.splits[after.saturating_sub(1)]
        };
        let splits = rows.iter().map(|row| row.map(|row| of(row).1.as_str()));
        let splits: ArrayRef = Arc::new(splits.collect::<StringArray>());
        let within = rows.iter().map(|row| row.map(|row| row - of(row).0));
        let within: ArrayRef = Arc::new(within.collect::<UInt64Array>());
        let split = match name {
            "row" => "split".to_string(),
            _ => format!("{name}_split"),
        };
        Ok(vec![field(&split, splits), field(name, within)])
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
                let field = text_field(self.column(), array.data_type().clone());
                let schema = Arc::new(Schema::new(vec![field]));
                RecordBatch::try_new(schema, vec![array.clone()]).map_err(failed)?
            }
        };
        let column = |name: &str| {
            let schema = batch.schema();
            let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            let mut named =
                (names.iter().zip(batch.columns())).filter(|(known, _)| **known == name);
            let text = match (named.next(), named.count()) {
                (Some((_, values)), 0) => return Ok(values.clone()),
                (None, _) => format!("there is no column {name}, only {}", names.join(", ")),
                _ => format!("several columns are called {name}: rename all but one"),
            };
            Err(PyKeyError::new_err(text))
        };
        let rows = batch.num_rows();
        // Of rows without a column, which may be in others, each has no value.
        let mut lacking = None;
        let mut needed = |name: &str| {
            column(name).unwrap_or_else(|error| {
                lacking.get_or_insert(error);
                Arc::new(NullArray::new(rows))
            })
        };
        let mut nested = Vec::new();
        let mut paths = Vec::new();
        let mut astray = None;
        for (path, first) in &self.texts {
            let literal = batch.column_by_name(path).is_some() || path == first;
            let name = if literal { path } else { first };
            let values = needed(name);
            let kind = values.data_type();
            if literal && !is_text(kind) {
                return Err(not_strings(name, &values, self.row()));
            }
            if !literal && !matches!(kind, DataType::Null) {
                let mut known = Vec::new();
                fields(path_of(name), kind, &mut known);
                let detail = lookalike::text::read::astray(path, known);
                let detail = detail.map_err(|why| {
                    PyValueError::new_err(format!("text_field {path} is not possible: {why}"))
                })?;
                astray = astray.or(detail);
            }
            let path = if literal { quoted(path) } else { path.clone() };
            paths.push((literal, path));
            nested.push((name.clone(), values));
        }
        nested.dedup_by(|a, b| a.0 == b.0);
        let texts = match (&paths[..], &nested[..]) {
            ([(true, _)], [(_, values)]) => {
                let values = values.clone();
                nested.clear();
                Some(values)
            }
            _ => {
                let mut paths: Vec<String> = paths.into_iter().map(|(_, path)| path).collect();
                paths.extend(self.every.then(|| quoted(TEXT)));
                self.paths = Some(paths.join(","));
                None
            }
        };
        let id = self.id.as_ref().map(|id| needed(id));
        let of_id = self.id.as_ref().and_then(|id| metadata_of(&batch, id));
        let mut policies: Vec<(String, ArrayRef)> = Vec::new();
        for name in &self.fields {
            let first = name.split_once('.').map(|(first, _)| first);
            let first = first.filter(|_| batch.column_by_name(name).is_none());
            // The command looks for a field of a struct, as in a file.
            let of_struct = first.and_then(|first| batch.column_by_name(first)?.as_struct_opt());
            let (name, values) = match (first, of_struct) {
                (Some(first), Some(_)) => (first, needed(first)),
                _ => (&**name, needed(name)),
            };
            let kind = stored(values.data_type());
            let timed = matches!(kind, Time32(_) | Time64(_) | Duration(_));
            if !is_text(kind) && !timed && of_struct.is_none() {
                let text = format!(
                    "the column {name} has the type {kind}; a policy or a condition needs strings, \
                     numbers, dates or times: name a field of a struct, or make a column with one \
                     value of each list"
                );
                return Err(PyTypeError::new_err(text));
            }
            if !policies.iter().any(|(known, _)| known == name) {
                policies.push((name.into(), values));
            }
        }
        let astray = astray.map(|why| PyKeyError::new_err(format!("no row has a text: {why}")));
        self.lacking = lacking.or(astray);
        if rows > 0 {
            self.ids.extend(id);
            self.id_metadata = of_id.unwrap_or_default();
        }
        if let Some(kept) = &mut self.kept {
            kept.add(&batch)?;
        }
        Ok(Columns {
            texts,
            fields: policies,
            nested,
        })
    }

    fn put_columns(&mut self, columns: &Columns, from: usize, rows: usize) -> PyResult<()> {
        let slices = |columns: &[(String, ArrayRef)]| -> Vec<(String, ArrayRef)> {
            let columns = columns.iter();
            let slice =
                |(name, values): &(String, ArrayRef)| (name.clone(), values.slice(from, rows));
            columns.map(slice).collect()
        };
        let (fields, nested) = (slices(&columns.fields), slices(&columns.nested));
        let Some(texts) = &columns.texts else {
            return self.put((0..rows).map(|_| None), &fields, &nested);
        };
        let texts = texts.slice(from, rows);
        if let Some(texts) = texts.as_string_opt::<i32>() {
            self.put(texts.iter(), &fields, &nested)
        } else if let Some(texts) = texts.as_string_opt::<i64>() {
            self.put(texts.iter(), &fields, &nested)
        } else {
            let texts: Vec<_> = (0..rows).map(|at| spelling(&*texts, at)).collect();
            self.put(texts.iter().map(Option::as_deref), &fields, &nested)
        }
    }

    /// Writes texts. A text that is null has no words. If the texts are in `nested`, others are left
    /// out.
    fn put<'t>(
        &mut self,
        texts: impl Iterator<Item = Option<&'t str>>,
        fields: &[(String, ArrayRef)],
        nested: &[(String, ArrayRef)],
    ) -> PyResult<()> {
        let split = self.splits.len().checked_sub(1);
        for (at, text) in texts.enumerate() {
            let out = &mut self.line;
            out.clear();
            write!(out, "{{\"{}\":\"{}\"", self.names.0, self.rows)?;
            if nested.is_empty() || self.every {
                write!(out, ",\"{}\":", self.names.1)?;
                let text = text.unwrap_or("");
                serde_json::to_writer(&mut *out, text).map_err(std::io::Error::from)?;
            }
            if let Some(split) = split {
                write!(out, ",\"{SPLIT}\":{split}")?;
            }
            for (name, values) in nested {
                let name = serde_json::Value::from(name.as_str());
                write!(out, ",{name}:{}", json(&**values, at))?;
            }
            for (name, values) in fields {
                let written = nested.iter().any(|(other, _)| other == name);
                if values.is_valid(at) && !written {
                    // A value of a dictionary may be null.
                    let value = match spelling(&**values, at) {
                        None if values.as_struct_opt().is_some() => json(&**values, at),
                        None if stored(values.data_type()).is_floating() => "NaN".into(),
                        None => continue,
                        Some(value) => value.into(),
                    };
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

/// The metadata of a column.
fn metadata_of(batch: &RecordBatch, name: &str) -> Option<Metadata> {
    let schema = batch.schema();
    let field = schema.field_with_name(name).ok();
    field.map(|field| field.metadata().clone())
}

/// The error for a column of texts that is not one.
fn not_strings(name: &str, texts: &ArrayRef, row: u64) -> PyErr {
    let kind = texts.data_type();
    let text = format!("the column {name} has the type {kind}, not strings, from row {row} on");
    PyTypeError::new_err(text)
}

impl Kept {
    /// The part of the next rows.
    fn part(&mut self, schema: &SchemaRef) -> PyResult<&mut Part> {
        let same = |part: &Part| part.schema.fields() == schema.fields();
        if !self.parts.last().is_some_and(same) {
            self.finish()?;
            // The first part may only say which columns there are.
            self.parts.retain(|part| part.rows > 0);
            self.parts.push(Part {
                schema: schema.clone(),
                batches: Vec::new(),
                path: None,
                rows: 0,
            });
        }
        let part = self.parts.last_mut();
        part.ok_or_else(|| PyValueError::new_err("there is no part"))
    }

    /// Ends the file of the last part.
    fn finish(&mut self) -> PyResult<()> {
        match self.file.take() {
            Some(mut file) => file.finish().map_err(failed),
            None => Ok(()),
        }
    }

    fn add(&mut self, batch: &RecordBatch) -> PyResult<()> {
        let slices = batch
            .columns()
            .iter()
            .map(|column| column.to_data().get_slice_memory_size());
        self.bytes += slices
            .sum::<std::result::Result<usize, _>>()
            .map_err(failed)?;
        let spill = self.bytes > self.most;
        let path = self.place.join(format!("rows-{}.arrow", self.parts.len()));
        let part = self.part(&batch.schema())?;
        part.rows += batch.num_rows();
        if batch.num_rows() == 0 {
            return Ok(());
        }
        part.batches.push(batch.clone());
        if !spill {
            return Ok(());
        }
        let path = part.path.get_or_insert(path).clone();
        let (schema, batches) = (part.schema.clone(), std::mem::take(&mut part.batches));
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = BufWriter::with_capacity(1 << 20, File::create_new(&path)?);
                none.insert(StreamWriter::try_new(file, &schema).map_err(failed)?)
            }
        };
        for batch in batches {
            file.write(&of_schema(&batch, &schema).map_err(failed)?)
                .map_err(failed)?;
        }
        Ok(())
    }
}

/// A batch with the metadata of a schema: each part of a table may have its own.
fn of_schema(
    batch: &RecordBatch,
    schema: &SchemaRef,
) -> std::result::Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(schema.clone(), batch.columns().to_vec())
}

/// Rows of a table of which some are kept.
struct Chosen {
    part: Part,
    kept: BooleanArray,
    _place: Arc<Place>,
}

impl Chosen {
    fn rows(self: &Arc<Chosen>) -> Result<Rows> {
        let mut batches: Box<dyn Iterator<Item = _> + Send> = Box::new(std::iter::empty());
        if let Some(path) = &self.part.path {
            let file = File::open(path).map_err(Error::io("open", path))?;
            let other = |error: ArrowError| std::io::Error::other(error.to_string());
            let rows = StreamReader::try_new(BufReader::with_capacity(1 << 20, file), None);
            let rows = rows.map_err(|error| Error::io("read", path)(other(error)))?;
            batches = Box::new(batches.chain(rows));
        }
        let (all, mut at) = (self.clone(), 0);
        let batches = Box::new(batches.chain(std::iter::from_fn(move || {
            at += 1;
            all.part.batches.get(at - 1).cloned().map(Ok)
        })));
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
        let batch = filter_record_batch(&batch, &kept);
        Some(batch.and_then(|batch| of_schema(&batch, &self.chosen.part.schema)))
    }
}

impl RecordBatchReader for ChosenRows {
    fn schema(&self) -> SchemaRef {
        self.chosen.part.schema.clone()
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

/// The rows that are in clusters, and the number of the cluster of each, by `documents.tsv`.
fn clustered(directory: PathBuf, rows: usize) -> Result<Vec<(u64, u32)>> {
    let collection = Collection::open(directory, Options::default())?;
    let mut documents = collection.table(Results::Documents)?;
    let at = |name| (documents.columns().iter()).position(|column| column.name == name);
    let (docno, cluster) = (at("docno").unwrap_or(0), at("cluster").unwrap_or(0));
    let mut found = Vec::new();
    let mut take = |cells: &[Cell<'_>]| {
        if let (&Cell::Text(docno), &Cell::Number(cluster)) = (&cells[docno], &cells[cluster]) {
            found.push((
                row(docno, rows)? as u64,
                u32::try_from(cluster).unwrap_or(0),
            ));
        }
        Ok(())
    };
    while let Some(taken) = documents.row(&mut take)? {
        taken.map_err(|error: ArrowError| {
            let error = std::io::Error::other(error.to_string());
            Error::io("read", collection.directory())(error)
        })?;
    }
    Ok(found)
}

/// The columns of `removed.parquet` that a result has.
#[derive(Default)]
struct Removed {
    rows: Vec<Option<u64>>,
    reasons: Vec<String>,
    survivors: Vec<Option<u64>>,
    /// The docno of a survivor in another collection.
    others: Vec<Option<String>>,
    /// The name of the measure, and its values.
    measure: String,
    values: Vec<Option<f64>>,
    shared: Vec<Option<u32>>,
}

impl Removed {
    /// Reads the table. The first `others` documents are another collection's.
    fn read(
        path: &Path,
        (others, rows): (u64, usize),
    ) -> std::result::Result<Removed, Box<dyn std::error::Error + Send + Sync>> {
        let reader = SerializedFileReader::new(File::open(path)?)?;
        let mut found = Removed {
            measure: "resemblance".into(),
            ..Removed::default()
        };
        for record in reader.get_row_iter(None)? {
            let record = record?;
            let (mut name, mut document) = (None, None);
            let (mut value, mut shared) = (None, None);
            for (column, field) in record.get_column_iter() {
                match (column.as_str(), field) {
                    ("docno", Value::Str(docno)) => found.rows.push(Some(row(docno, rows)? as u64)),
                    ("reason", Value::Str(reason)) => found.reasons.push(reason.clone()),
                    ("survivor_docno", Value::Str(docno)) => name = Some(docno.clone()),
                    ("survivor_document", Value::UInt(number)) => document = Some(*number),
                    ("shared", Value::UInt(number)) => shared = Some(*number),
                    (_, Value::Double(number)) => {
                        value = Some((number * 1e6).round() / 1e6);
                        found.measure.clone_from(column);
                    }
                    _ => {}
                }
            }
            let other = document.is_some_and(|document| u64::from(document) < others);
            let own = name.as_deref().filter(|_| !other);
            let own = own.map(|docno| row(docno, rows)).transpose()?;
            found.survivors.push(own.map(|row| row as u64));
            found.others.push(name.filter(|_| other));
            let value = value.filter(|_| shared != Some(0));
            found.values.push(value);
            found.shared.push(shared);
        }
        Ok(found)
    }
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
fn pairs(
    directory: PathBuf,
    ids: ArrayRef,
    metadata: Metadata,
    place: Arc<Place>,
) -> Result<Table> {
    let collection = Collection::open(directory, Options::default())?;
    let columns = collection.table(Results::Pairs)?;
    let id = |name| {
        let field = Field::new(name, ids.data_type().clone(), true);
        field.with_metadata(metadata.clone())
    };
    let mut values = results::fields(&columns.columns()[2..6]);
    values[0].set_nullable(true);
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
    _place: Arc<Place>,
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
            let [of_a, of_b] = pair.sizes;
            // Texts of the same words may have no shingle to compare.
            values.push((pair.shared > 0).then_some(pair.resemblance));
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
