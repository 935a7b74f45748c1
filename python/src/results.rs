//! The result files of a directory as tables.
//!
//! A file is read only if the manifest names it and its checksum is right. The directory may come
//! from someone else, so no link is followed and no FIFO is opened, as in the commands.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lookalike::engine::cluster::ResultsEntry;
use lookalike::engine::pipeline;
use lookalike::store::disk;
use lookalike::{Error, Result};
use serde::Deserialize;

use crate::arrow::{Rows, Table};

/// A batch has at most this number of rows.
const ROWS: usize = 64 << 10;
/// A batch ends with the row in which its texts reach this number of bytes.
const BYTES: usize = 32 << 20;
/// No line is longer, since names are not.
const LONGEST_LINE: u64 = 256 << 20;

/// A column that is being filled.
enum Column {
    Text(StringBuilder),
    U32(UInt32Builder),
    I64(Int64Builder),
    F64(Float64Builder),
}

impl Column {
    fn of(kind: &DataType) -> Column {
        match kind {
            DataType::UInt32 => Column::U32(UInt32Builder::new()),
            DataType::Int64 => Column::I64(Int64Builder::new()),
            DataType::Float64 => Column::F64(Float64Builder::new()),
            _ => Column::Text(StringBuilder::new()),
        }
    }

    /// Appends a value; `None` if it is no value of the column's type.
    fn push(&mut self, value: &str, optional: bool) -> Option<()> {
        let null = optional && value.is_empty();
        match self {
            Column::Text(column) => column.append_option((!null).then_some(value)),
            Column::U32(column) if null => column.append_null(),
            Column::U32(column) => column.append_value(value.parse().ok()?),
            Column::I64(column) if null => column.append_null(),
            Column::I64(column) => column.append_value(value.parse().ok()?),
            Column::F64(column) if null => column.append_null(),
            Column::F64(column) => column.append_value(value.parse().ok()?),
        }
        Some(())
    }

    fn finish(&mut self) -> ArrayRef {
        let column: &mut dyn ArrayBuilder = match self {
            Column::Text(column) => column,
            Column::U32(column) => column,
            Column::I64(column) => column,
            Column::F64(column) => column,
        };
        column.finish()
    }
}

/// The columns of a batch, and its size so far.
struct Batch {
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
}

impl Batch {
    fn new(schema: SchemaRef) -> Batch {
        let fields = schema.fields().iter();
        let columns = fields.map(|field| Column::of(field.data_type())).collect();
        Batch {
            schema,
            columns,
            rows: 0,
            bytes: 0,
        }
    }

    /// Appends a row. `Err` is the first value that does not fit, or `None` if there are too few or
    /// too many.
    fn push<'v>(
        &mut self,
        values: impl Iterator<Item = &'v str>,
    ) -> std::result::Result<(), Option<&'v str>> {
        let mut columns = self.columns.iter_mut().zip(self.schema.fields());
        for value in values {
            let (column, field) = columns.next().ok_or(None)?;
            column.push(value, field.is_nullable()).ok_or(Some(value))?;
            self.bytes += value.len();
        }
        self.rows += 1;
        columns.next().map_or(Ok(()), |_| Err(None))
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    /// The rows so far; `None` if there are none.
    fn take(&mut self) -> std::result::Result<Option<RecordBatch>, ArrowError> {
        if self.rows == 0 {
            return Ok(None);
        }
        (self.rows, self.bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(Column::finish).collect();
        RecordBatch::try_new(self.schema.clone(), columns).map(Some)
    }
}

/// The lines of a file, without their ends.
pub struct Lines {
    path: PathBuf,
    file: BufReader<disk::File>,
    line: String,
    /// Where the line begins, and where the next one does.
    begin: u64,
    end: u64,
}

impl Lines {
    pub fn open(path: &Path) -> Result<Lines> {
        Ok(Lines {
            path: path.into(),
            file: BufReader::with_capacity(disk::READ_BUFFER, disk::open(path)?),
            line: String::new(),
            begin: 0,
            end: 0,
        })
    }

    pub fn corrupt(&self, expected: &str, found: &str) -> Error {
        Error::Corrupt {
            path: self.path.clone(),
            offset_bytes: Some(self.begin),
            what: "a line of results".into(),
            expected: expected.into(),
            found: found.chars().take(100).collect(),
        }
    }

    /// Reads the next line; `false` at the end of the file.
    pub fn advance(&mut self) -> Result<bool> {
        let mut bytes = std::mem::take(&mut self.line).into_bytes();
        bytes.clear();
        self.begin = self.end;
        let mut some = (&mut self.file).take(LONGEST_LINE);
        let read = some.read_until(b'\n', &mut bytes);
        let n = read.map_err(Error::io("read", &self.path))?;
        self.end += n as u64;
        if n == 0 {
            return Ok(false);
        }
        if bytes.pop() != Some(b'\n') {
            let found = "the end of the file, or a very long line";
            return Err(self.corrupt("a whole line", found));
        }
        let line = String::from_utf8(bytes);
        self.line = line.map_err(|error| self.corrupt("UTF-8", &error.to_string()))?;
        Ok(true)
    }

    /// The line that was read.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The names of the columns, which follow the lines of parameters.
    pub fn header(&mut self) -> Result<Vec<String>> {
        while self.advance()? {
            if !self.line.starts_with("# ") {
                return Ok(self.line.split('\t').map(str::to_string).collect());
            }
        }
        Err(self.corrupt("a line of column names", "the end of the file"))
    }
}

/// The type of a column of a TSV file, as in the Parquet files of the command line.
fn field(name: &str) -> Field {
    let (kind, optional) = match name {
        "url" => (DataType::Utf8, true),
        "words" | "record" | "offset" => (DataType::Int64, true),
        "resemblance" | "score" => (DataType::Float64, true),
        "docno" | "docno_a" | "docno_b" | "representative" | "file" | "md5" => {
            (DataType::Utf8, false)
        }
        // Counts, and numbers of documents, groups and clusters.
        _ => (DataType::UInt32, true),
    };
    Field::new(name, kind, optional)
}

/// A file that fills batches with its rows.
trait Source: Send {
    /// Appends the next row; `false` at the end of the file.
    fn row(&mut self, batch: &mut Batch) -> Result<bool>;
}

struct Reading<S> {
    source: S,
    batch: Batch,
}

impl<S: Source> Iterator for Reading<S> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.batch.is_full() {
            match self.source.row(&mut self.batch) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Some(Err(ArrowError::ExternalError(Box::new(error)))),
            }
        }
        self.batch.take().transpose()
    }
}

impl<S: Source> RecordBatchReader for Reading<S> {
    fn schema(&self) -> SchemaRef {
        self.batch.schema.clone()
    }
}

fn reading<S: Source + 'static>(source: S, schema: SchemaRef) -> Rows {
    let batch = Batch::new(schema);
    Box::new(Reading { source, batch })
}

/// A table that `open` opens, given its schema.
fn table(
    schema: SchemaRef,
    open: impl Fn(SchemaRef) -> Result<Rows> + Send + Sync + 'static,
) -> Table {
    Table {
        schema: schema.clone(),
        open: Arc::new(move || open(schema.clone())),
    }
}

/// A TSV file, after its header.
impl Source for Lines {
    fn row(&mut self, batch: &mut Batch) -> Result<bool> {
        if !self.advance()? {
            return Ok(false);
        }
        let Err(value) = batch.push(self.line.split('\t')) else {
            return Ok(true);
        };
        let found = value.unwrap_or("another number of values").to_string();
        Err(self.corrupt("a value for each column", &found))
    }
}

/// Compares a result file with the manifest of its directory; returns its path.
pub fn whole(directory: &Path, name: &str) -> Result<PathBuf> {
    let manifest = pipeline::look(directory)?;
    let results = manifest.get::<ResultsEntry>().into_iter();
    let mut files = results.flat_map(|results| &results.files);
    let file = files.find(|file| file.name == name);
    let file = file.ok_or_else(|| Error::StageMissing {
        path: directory.into(),
        stage: "cluster",
    })?;
    let path = directory.join(name);
    disk::check(&path, file.bytes, &file.checksum)?;
    Ok(path)
}

/// A TSV file of a directory as a table.
pub fn tsv(directory: PathBuf, name: &'static str) -> Result<Table> {
    let opened = move || {
        let mut lines = Lines::open(&whole(&directory, name)?)?;
        let names = lines.header()?;
        let fields: Vec<Field> = names.iter().map(|name| field(name)).collect();
        Ok((lines, Arc::new(Schema::new(fields))))
    };
    let (_, schema) = opened()?;
    let open = move |schema: SchemaRef| {
        let (lines, found) = opened()?;
        if found != schema {
            return Err(lines.corrupt("the columns that the file had before", "others"));
        }
        Ok(reading(lines, schema))
    };
    Ok(table(schema, open))
}

/// The members of all clusters, from clusters.jsonl. A cluster can be larger than memory, so its
/// line is read member by member.
struct Members {
    path: PathBuf,
    file: BufReader<disk::File>,
    offset: u64,
    cluster: String,
    representative: String,
    text: Vec<u8>,
}

#[derive(Deserialize)]
struct Cluster {
    id: u32,
    representative: String,
}

#[derive(Deserialize)]
struct Member {
    docno: String,
    kind: String,
    #[serde(alias = "score")]
    resemblance: Option<f64>,
}

impl Members {
    fn corrupt(&self, found: impl ToString) -> Error {
        Error::Corrupt {
            path: self.path.clone(),
            offset_bytes: Some(self.offset),
            what: "a cluster".into(),
            expected: "an object with id, representative and members".into(),
            found: found.to_string(),
        }
    }

    /// Reads up to the next brace outside of strings; returns it, or `None` at the end of the file.
    /// `text` gets what precedes it.
    fn next_brace(&mut self) -> Result<Option<u8>> {
        self.text.clear();
        let (mut in_string, mut escaped) = (false, false);
        loop {
            let bytes = self
                .file
                .fill_buf()
                .map_err(Error::io("read", &self.path))?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let brace = bytes.iter().position(|&byte| {
                if escaped {
                    escaped = false;
                } else if in_string {
                    escaped = byte == b'\\';
                    in_string = byte != b'"';
                } else {
                    in_string = byte == b'"';
                    return matches!(byte, b'{' | b'}');
                }
                false
            });
            let n = brace.unwrap_or(bytes.len());
            self.text.extend_from_slice(&bytes[..n]);
            let found = brace.map(|at| bytes[at]);
            let n = n + usize::from(found.is_some());
            self.file.consume(n);
            self.offset += n as u64;
            if found.is_some() {
                return Ok(found);
            }
            if self.text.len() as u64 > LONGEST_LINE {
                return Err(self.corrupt("a very long member"));
            }
        }
    }

    /// What was read, between braces.
    fn object<'t, T: Deserialize<'t>>(&'t mut self, end: &str) -> Result<T> {
        self.text.insert(0, b'{');
        self.text.extend_from_slice(end.as_bytes());
        serde_json::from_slice(&self.text).map_err(|error| Error::Corrupt {
            path: self.path.clone(),
            offset_bytes: Some(self.offset),
            what: "a cluster".into(),
            expected: "an object with id, representative and members".into(),
            found: error.to_string(),
        })
    }
}

impl Source for Members {
    fn row(&mut self, batch: &mut Batch) -> Result<bool> {
        // Outside of clusters, an opening brace begins one; inside, it begins a member.
        loop {
            match self.next_brace()? {
                None if self.cluster.is_empty() => return Ok(false),
                None => return Err(self.corrupt("the end of the file")),
                Some(b'}') => self.cluster.clear(),
                Some(_) if !self.cluster.is_empty() => break,
                Some(_) => {
                    // The first member's brace ends the part before the members.
                    if self.next_brace()? != Some(b'{') {
                        return Err(self.corrupt("a cluster without members"));
                    }
                    let cluster: Cluster = self.object("]}")?;
                    self.cluster = cluster.id.to_string();
                    self.representative = cluster.representative;
                    break;
                }
            }
        }
        if self.next_brace()? != Some(b'}') {
            return Err(self.corrupt("a member that does not end"));
        }
        let member: Member = self.object("}")?;
        let likeness = member
            .resemblance
            .map(|value| value.to_string())
            .unwrap_or_default();
        let values = [
            &*self.cluster,
            &self.representative,
            &member.docno,
            &member.kind,
            &likeness,
        ];
        let pushed = batch.push(values.into_iter()).is_ok();
        pushed
            .then_some(true)
            .ok_or_else(|| self.corrupt("another type"))
    }
}

/// clusters.jsonl as a table with a row for each member.
pub fn clusters(directory: PathBuf) -> Result<Table> {
    whole(&directory, "clusters.jsonl")?;
    let schema = Arc::new(Schema::new(vec![
        Field::new("cluster", DataType::UInt32, false),
        Field::new("representative", DataType::Utf8, false),
        Field::new("docno", DataType::Utf8, false),
        Field::new("kind", DataType::Utf8, false),
        Field::new("resemblance", DataType::Float64, true),
    ]));
    let open = move |schema: SchemaRef| {
        let path = whole(&directory, "clusters.jsonl")?;
        let members = Members {
            file: BufReader::with_capacity(disk::READ_BUFFER, disk::open(&path)?),
            path,
            offset: 0,
            cluster: String::new(),
            representative: String::new(),
            text: Vec::new(),
        };
        Ok(reading(members, schema))
    };
    Ok(table(schema, open))
}

/// A line of rejects.jsonl.
#[derive(Deserialize)]
struct Reject {
    file: String,
    offset: u64,
    #[serde(default)]
    docno: String,
    reason: String,
    #[serde(default)]
    detail: String,
    document: String,
}

struct Rejects(Lines);

impl Source for Rejects {
    fn row(&mut self, batch: &mut Batch) -> Result<bool> {
        if !self.0.advance()? {
            return Ok(false);
        }
        let reject = serde_json::from_str(self.0.line()).map_err(|error| error.to_string());
        let reject: Reject =
            reject.map_err(|found| self.0.corrupt("an object about a record", &found))?;
        let Reject {
            file,
            docno,
            reason,
            detail,
            document,
            ..
        } = &reject;
        let offset = reject.offset.to_string();
        let values = [file, &offset, docno, reason, detail, document];
        let pushed = batch.push(values.into_iter().map(String::as_str)).is_ok();
        pushed
            .then_some(true)
            .ok_or_else(|| self.0.corrupt("a place in the file", &offset))
    }
}

/// rejects.jsonl as a table.
pub fn rejects(directory: PathBuf) -> Result<Table> {
    whole(&directory, "rejects.jsonl")?;
    let schema = Arc::new(Schema::new(vec![
        Field::new("file", DataType::Utf8, false),
        Field::new("offset", DataType::Int64, false),
        Field::new("docno", DataType::Utf8, true),
        Field::new("reason", DataType::Utf8, false),
        Field::new("detail", DataType::Utf8, true),
        Field::new("document", DataType::Utf8, false),
    ]));
    Ok(table(schema, move |schema| {
        let path = whole(&directory, "rejects.jsonl")?;
        Ok(reading(Rejects(Lines::open(&path)?), schema))
    }))
}
