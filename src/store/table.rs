//! Result files for databases and data frames: Parquet files with a few flat columns.
//!
//! # In and out
//! In: rows of cells. Out: a Parquet file with a fixed schema, compressed with zstd, with the
//! least and greatest value of each column of a row group, and key-value metadata.
//!
//! # Invariants
//! - The bytes depend on the rows alone: a row group ends after [`GROUP_ROWS`] rows or
//!   [`GROUP_BYTES`] of values, whatever the memory and the threads.
//! - `created_by` is the program and its version.
//!
//! # Cost
//! Memory: at most [`TABLE_BYTES`], one row, and for each row group a few KiB, which the footer
//! consists of. 6.1 million pairs, 382 MB as text, make a file of 9.8 MB with 64 MiB of memory.
//!
//! # Errors
//! `Io` with the path if writing fails.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;
use bytes::Bytes;

use crate::{Error, Result};

/// The most rows in a row group. Readers divide the work among threads by row groups, and DuckDB
/// writes as many.
pub const GROUP_ROWS: usize = 122_880;
/// A row group ends with the row that makes its values this large.
pub const GROUP_BYTES: usize = 8 << 20;
/// The most memory of a table whose rows are small: a row group with room to grow, the encoded
/// pages of a column, and its compressor.
pub const TABLE_BYTES: u64 = 32 << 20;
/// Rows that are passed to the encoder at a time.
const BATCH_ROWS: usize = 1024;
/// The program that writes the files, as stated in them.
pub(crate) const CREATED_BY: &str = concat!("lookalike ", env!("CARGO_PKG_VERSION"));

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    /// INT32 with the logical type of an unsigned number.
    U32,
    /// INT64, for numbers below 2^63.
    I64,
    /// DOUBLE.
    F64,
    /// BYTE_ARRAY with the logical type of a string.
    Text,
}

/// A column: its name, its type, and whether a cell may be [`Cell::Null`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpec {
    pub name: &'static str,
    pub kind: ColumnType,
    pub optional: bool,
}

impl ColumnSpec {
    /// A column without nulls.
    pub const fn required(name: &'static str, kind: ColumnType) -> ColumnSpec {
        ColumnSpec {
            name,
            kind,
            optional: false,
        }
    }

    /// A column with nulls.
    pub const fn optional(name: &'static str, kind: ColumnType) -> ColumnSpec {
        ColumnSpec {
            name,
            kind,
            optional: true,
        }
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    U32(u32),
    /// A number of a column [`ColumnType::I64`].
    U64(u64),
    F64(f64),
    Text(&'a str),
}

impl From<Option<u32>> for Cell<'_> {
    fn from(value: Option<u32>) -> Self {
        value.map_or(Cell::Null, Cell::U32)
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(value: Option<&'a str>) -> Self {
        value.map_or(Cell::Null, Cell::Text)
    }
}

impl From<Option<u64>> for Cell<'_> {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Cell::Null, Cell::U64)
    }
}

impl From<Option<f64>> for Cell<'_> {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Cell::Null, Cell::F64)
    }
}

/// The values of a column that are not written yet, without the nulls.
enum Values {
    U32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    /// All texts, one after the other, and where each ends.
    Text(Vec<u8>, Vec<usize>),
}

/// The cells of a column that are not written yet.
struct Pending {
    optional: bool,
    /// For each cell of an optional column, whether there is a value: 1 or 0.
    levels: Vec<i16>,
    values: Values,
}

impl Pending {
    fn new(spec: &ColumnSpec) -> Pending {
        Pending {
            optional: spec.optional,
            levels: Vec::new(),
            values: match spec.kind {
                ColumnType::U32 => Values::U32(Vec::new()),
                ColumnType::I64 => Values::I64(Vec::new()),
                ColumnType::F64 => Values::F64(Vec::new()),
                ColumnType::Text => Values::Text(Vec::new(), Vec::new()),
            },
        }
    }

    /// Adds a cell, and returns its bytes in memory.
    fn push(&mut self, cell: Cell<'_>) -> Result<usize, ParquetError> {
        let null = cell == Cell::Null;
        if self.optional {
            self.levels.push(i16::from(!null));
        }
        let bytes = match (&mut self.values, cell) {
            (_, Cell::Null) if self.optional => 0,
            (Values::U32(values), Cell::U32(value)) => {
                values.push(value.cast_signed());
                size_of::<i32>()
            }
            (Values::I64(values), Cell::U64(value)) => {
                values.push(i64::try_from(value)?);
                size_of::<i64>()
            }
            (Values::F64(values), Cell::F64(value)) => {
                values.push(value);
                size_of::<f64>()
            }
            (Values::Text(bytes, ends), Cell::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                text.len() + size_of::<usize>()
            }
            (_, cell) => {
                let text = format!("{cell:?} in a column of another type");
                return Err(ParquetError::General(text));
            }
        };
        Ok(bytes + if self.optional { size_of::<i16>() } else { 0 })
    }

    /// Encodes all cells, and forgets them.
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        let Pending {
            optional,
            levels,
            values,
        } = self;
        let levels_of = optional.then_some(&levels[..]);
        match (writer, values) {
            (ColumnWriter::Int32ColumnWriter(out), Values::U32(values)) => {
                out.write_batch(values, levels_of, None)?;
                values.clear();
            }
            (ColumnWriter::Int64ColumnWriter(out), Values::I64(values)) => {
                out.write_batch(values, levels_of, None)?;
                values.clear();
            }
            (ColumnWriter::DoubleColumnWriter(out), Values::F64(values)) => {
                out.write_batch(values, levels_of, None)?;
                values.clear();
            }
            (ColumnWriter::ByteArrayColumnWriter(out), Values::Text(bytes, ends)) => {
                let all = Bytes::from(std::mem::take(bytes));
                let (mut begin, mut texts) = (0, Vec::with_capacity(BATCH_ROWS));
                let mut ends = ends.drain(..);
                let mut next = || {
                    let end = ends.next()?;
                    let text = ByteArray::from(all.slice(begin..end));
                    begin = end;
                    Some(text)
                };
                match levels_of {
                    None => {
                        while let Some(text) = next() {
                            texts.push(text);
                            if texts.len() == BATCH_ROWS {
                                out.write_batch(&texts, None, None)?;
                                texts.clear();
                            }
                        }
                        out.write_batch(&texts, None, None)?;
                    }
                    Some(levels) => {
                        for levels in levels.chunks(BATCH_ROWS) {
                            texts.clear();
                            let present = levels.iter().filter(|&&level| level > 0);
                            texts.extend(present.map_while(|_| next()));
                            out.write_batch(&texts, Some(levels), None)?;
                        }
                    }
                }
            }
            _ => {
                let other = "a column of another type than the schema says";
                return Err(ParquetError::General(other.into()));
            }
        }
        levels.clear();
        Ok(())
    }
}

/// An error of the output that the `parquet` crate may turn into text.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// Takes the error.
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A writer that remembers its error.
pub(crate) struct Remembering<W> {
    inner: W,
    failure: Failure,
}

impl<W: Write> Remembering<W> {
    /// The error is left in `failure`.
    pub fn new(inner: W, failure: Failure) -> Self {
        Remembering { inner, failure }
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let (text, kind) = (error.to_string(), error.kind());
            if kind == io::ErrorKind::Interrupted {
                return error;
            }
            let mut failure = self
                .failure
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *failure = Some(error);
            io::Error::new(kind, text)
        })
    }
}

impl<W: Write> Write for Remembering<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.note(result)
    }
}

/// A table that is being written.
pub(crate) struct Table<W: Write + Send> {
    path: PathBuf,
    failure: Failure,
    writer: SerializedFileWriter<Remembering<W>>,
    columns: Vec<Pending>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> Table<W> {
    /// Begins a table. `path` is for messages.
    pub fn new(
        path: &Path,
        output: W,
        columns: &[ColumnSpec],
        metadata: Vec<(String, String)>,
    ) -> Result<Self> {
        let failure = Failure::default();
        let output = Remembering::new(output, failure.clone());
        let begin = || {
            let metadata = metadata.into_iter();
            let metadata: Vec<_> = metadata.map(|(k, v)| KeyValue::new(k, v)).collect();
            let properties = WriterProperties::builder()
                .set_created_by(CREATED_BY.into())
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true)
                .set_key_value_metadata((!metadata.is_empty()).then_some(metadata))
                .build();
            SerializedFileWriter::new(output, Arc::new(schema(columns)?), Arc::new(properties))
        };
        let writer = begin().map_err(|error| error_of(path, &failure, error))?;
        Ok(Table {
            path: path.into(),
            failure,
            writer,
            columns: columns.iter().map(Pending::new).collect(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Appends a row with a cell for each column.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        let pushed = (|| {
            if cells.len() != self.columns.len() {
                let text = format!("{} cells for {} columns", cells.len(), self.columns.len());
                return Err(ParquetError::General(text));
            }
            let mut cells = self.columns.iter_mut().zip(cells);
            cells.try_fold(0, |sum, (column, &cell)| Ok(sum + column.push(cell)?))
        })();
        self.bytes += pushed.map_err(|error| error_of(&self.path, &self.failure, error))?;
        self.rows += 1;
        if self.rows == GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the pending rows as a row group.
    fn write_group(&mut self) -> Result<()> {
        let columns = &mut self.columns;
        let writer = &mut self.writer;
        let mut write = || {
            let mut group = writer.next_row_group()?;
            for column in columns.iter_mut() {
                let Some(mut out) = group.next_column()? else {
                    let text = "more columns than the schema has";
                    return Err(ParquetError::General(text.into()));
                };
                column.write(out.untyped())?;
                out.close()?;
            }
            group.close().map(drop)
        };
        write().map_err(|error| error_of(&self.path, &self.failure, error))?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Writes the rest of the file, and returns the output.
    pub fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        let output = self.writer.into_inner();
        let output = output.map_err(|error| error_of(&self.path, &self.failure, error))?;
        Ok(output.inner)
    }
}

/// The schema of a file.
fn schema(columns: &[ColumnSpec]) -> Result<Type, ParquetError> {
    let field = |column: &ColumnSpec| {
        let (physical, logical) = match column.kind {
            ColumnType::U32 => (Physical::INT32, Some(LogicalType::integer(32, false))),
            ColumnType::I64 => (Physical::INT64, None),
            ColumnType::F64 => (Physical::DOUBLE, None),
            ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = match column.optional {
            true => Repetition::OPTIONAL,
            false => Repetition::REQUIRED,
        };
        Type::primitive_type_builder(column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("lookalike")
        .with_fields(fields)
        .build()
}

fn error_of(path: &Path, failure: &Failure, error: ParquetError) -> Error {
    let error = failure
        .take()
        .unwrap_or_else(|| io::Error::other(error.to_string()));
    Error::io("write", path)(error)
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;

    use super::*;

    const COLUMNS: [ColumnSpec; 6] = [
        ColumnSpec::required("number", ColumnType::U32),
        ColumnSpec::optional("perhaps", ColumnType::U32),
        ColumnSpec::required("long", ColumnType::I64),
        ColumnSpec::optional("share", ColumnType::F64),
        ColumnSpec::required("name", ColumnType::Text),
        ColumnSpec::optional("address", ColumnType::Text),
    ];

    fn table(rows: usize, text: &str) -> Vec<u8> {
        let metadata = vec![("threshold".to_string(), "0.85".to_string())];
        let mut table = Table::new(Path::new("t"), Vec::new(), &COLUMNS, metadata).unwrap();
        for n in 0..rows {
            let name = format!("{text}{n}");
            let third = n.is_multiple_of(3);
            let cells = [
                Cell::U32(u32::MAX - n as u32),
                third.then_some(n as u32).into(),
                Cell::U64((1 << 40) + n as u64),
                (!third).then_some(n as f64 / 7.0).into(),
                Cell::Text(&name),
                if n % 5 == 1 {
                    Cell::Text(text)
                } else {
                    Cell::Null
                },
            ];
            table.row(&cells).unwrap();
        }
        table.finish().unwrap()
    }

    #[test]
    fn rows_come_back_from_bounded_groups() {
        let long = "x".repeat(1000);
        for (rows, text, groups) in [
            (0, "t", 0),
            (1, "", 1),
            (1025, "ä\0\n", 1),
            (GROUP_ROWS, "t", 1),
            (GROUP_ROWS + 1, "t", 2),
            (20_000, &long, 3),
        ] {
            let bytes = table(rows, text);
            assert!(bytes == table(rows, text), "always the same bytes");
            let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
            let metadata = reader.metadata();
            assert_eq!(metadata.num_row_groups(), groups, "{rows} rows");
            let file = metadata.file_metadata();
            assert_eq!(file.created_by(), Some(CREATED_BY));
            let entry = &file.key_value_metadata().unwrap()[0];
            let entry = (entry.key.as_str(), entry.value.as_deref());
            assert_eq!(entry, ("threshold", Some("0.85")));
            for group in metadata.row_groups() {
                assert!(group.num_rows() as usize <= GROUP_ROWS);
                for column in group.columns() {
                    assert!(column.statistics().is_some());
                    assert!(matches!(column.compression(), Compression::ZSTD(_)));
                }
            }
            let mut n = 0;
            for row in reader.get_row_iter(None).unwrap() {
                let row = row.unwrap();
                let row: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
                let third = n % 3 == 0;
                let some = |field: Field, there: bool| if there { field } else { Field::Null };
                let wanted = [
                    Field::UInt(u32::MAX - n),
                    some(Field::UInt(n), third),
                    Field::Long((1 << 40) + i64::from(n)),
                    some(Field::Double(f64::from(n) / 7.0), !third),
                    Field::Str(format!("{text}{n}")),
                    some(Field::Str(text.to_string()), n % 5 == 1),
                ];
                assert!(row.into_iter().eq(wanted.iter()), "row {n} of {rows}");
                n += 1;
            }
            assert_eq!(n as usize, rows);
        }
    }

    /// The `parquet` crate would make a text of it, without the number of the error.
    #[test]
    fn a_full_disk_is_an_error_of_the_file() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self
                    .0
                    .checked_sub(bytes.len())
                    .ok_or(io::Error::from_raw_os_error(28))?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for room in [0, 10, 100, 300] {
            let columns = &COLUMNS[..1];
            let written = Table::new(Path::new("t"), Full(room), columns, Vec::new()).and_then(
                |mut table| {
                    (0..100).try_for_each(|n| table.row(&[Cell::U32(n)]))?;
                    table.finish().map(drop)
                },
            );
            let Err(Error::Io { path, source, .. }) = written else {
                panic!("{room}: {written:?}");
            };
            assert_eq!(
                (path.as_path(), source.raw_os_error()),
                (Path::new("t"), Some(28))
            );
        }
    }

    #[test]
    fn cells_of_another_type_are_refused() {
        let mut table = Table::new(Path::new("t"), Vec::new(), &COLUMNS[..1], Vec::new()).unwrap();
        for cells in [
            &[Cell::Null][..],
            &[Cell::F64(0.5)],
            &[],
            &[Cell::U32(1); 2],
        ] {
            assert!(table.row(cells).is_err(), "{cells:?}");
        }
    }
}
