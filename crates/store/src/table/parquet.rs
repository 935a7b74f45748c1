//! Parquet files with a few flat columns, for databases and data frames.
//!
//! A file is compressed with zstd. It has the least and greatest value of each column of a row
//! group, and key-value metadata.
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
use std::path::Path;
use std::sync::{Arc, Mutex};

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use ::parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;
use bytes::Bytes;

use super::{Cell, Column, Format, Kind};
use crate::digest_text;
use lookalike_base::{Error, Result, lock};

/// The most rows in a row group. Readers divide the work among threads by row groups, and DuckDB
/// writes as many.
const GROUP_ROWS: usize = 122_880;
/// A row group ends with the row that makes its values this large.
const GROUP_BYTES: usize = 8 << 20;
/// The most memory of a table whose rows are small: a row group with room to grow, the encoded
/// pages of a column, and its compressor.
pub const TABLE_BYTES: u64 = 32 << 20;
/// Rows that are passed to the encoder at a time.
const BATCH_ROWS: usize = 1024;
/// The program that writes the files, as stated in them.
pub const CREATED_BY: &str = concat!("lookalike ", env!("CARGO_PKG_VERSION"));

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
    fn new(column: &Column) -> Pending {
        Pending {
            optional: column.null.is_some(),
            levels: Vec::new(),
            values: match column.kind {
                Kind::U32 => Values::U32(Vec::new()),
                Kind::I64 => Values::I64(Vec::new()),
                Kind::F64 => Values::F64(Vec::new()),
                Kind::Text => Values::Text(Vec::new(), Vec::new()),
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
            (Values::U32(values), Cell::Number(value)) => {
                values.push(u32::try_from(value)?.cast_signed());
                size_of::<i32>()
            }
            (Values::I64(values), Cell::Number(value)) => {
                values.push(i64::try_from(value)?);
                size_of::<i64>()
            }
            (Values::F64(values), Cell::Real(value)) => {
                values.push(value);
                size_of::<f64>()
            }
            (Values::F64(values), Cell::Measured(measure, [amount, a, b])) => {
                values.push(measure.value(amount, a, b));
                size_of::<f64>()
            }
            (Values::Text(bytes, ends), Cell::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                text.len() + size_of::<usize>()
            }
            (Values::Text(bytes, ends), Cell::Digest(digest)) => {
                let text = digest_text(digest);
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
        let levels = self.optional.then_some(&self.levels[..]);
        match (writer, &mut self.values) {
            (ColumnWriter::Int32ColumnWriter(out), Values::U32(values)) => {
                encode(out, values, levels)?;
            }
            (ColumnWriter::Int64ColumnWriter(out), Values::I64(values)) => {
                encode(out, values, levels)?;
            }
            (ColumnWriter::DoubleColumnWriter(out), Values::F64(values)) => {
                encode(out, values, levels)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(out), Values::Text(bytes, ends)) => {
                let all = Bytes::from(std::mem::take(bytes));
                let (mut begin, mut texts) = (0, Vec::with_capacity(BATCH_ROWS));
                let mut ends = ends.drain(..);
                let rows = levels.map_or(ends.len(), <[i16]>::len);
                for from in (0..rows).step_by(BATCH_ROWS) {
                    let batch = from..rows.min(from + BATCH_ROWS);
                    let levels = levels.and_then(|levels| levels.get(batch.clone()));
                    let present = levels.map_or(batch.len(), |levels| {
                        levels.iter().filter(|&&level| level > 0).count()
                    });
                    for end in ends.by_ref().take(present) {
                        texts.push(ByteArray::from(all.slice(begin..end)));
                        begin = end;
                    }
                    encode(out, &mut texts, levels)?;
                }
            }
            _ => {
                let other = "a column of another type than the schema says";
                return Err(ParquetError::General(other.into()));
            }
        }
        self.levels.clear();
        Ok(())
    }
}

/// Encodes values, and forgets them.
fn encode<T: DataType>(
    out: &mut ColumnWriterImpl<'_, T>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    out.write_batch(values, levels, None)?;
    values.clear();
    Ok(())
}

/// An error of the output that the `parquet` crate may turn into text.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// Takes the error.
    pub fn take(&self) -> Option<io::Error> {
        lock(&self.0).take()
    }
}

/// A writer that remembers its error.
pub struct Remembering<W> {
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
            *lock(&self.failure.0) = Some(error);
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

/// The rows of a file that is being written.
pub(super) struct ParquetRows<W: Write + Send> {
    failure: Failure,
    writer: SerializedFileWriter<Remembering<W>>,
    /// For each column of a row, the cells that are not written yet, if the file has the column.
    columns: Vec<Option<Pending>>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> ParquetRows<W> {
    /// Begins a file. `path` is for messages, here and below.
    pub fn new(
        path: &Path,
        output: W,
        parameters: &[(&str, String)],
        columns: &[Column],
    ) -> Result<Self> {
        let failure = Failure::default();
        let output = Remembering::new(output, failure.clone());
        let parameters = parameters
            .iter()
            .map(|(name, value)| KeyValue::new(format!("lookalike.{name}"), value.clone()));
        let parameters: Vec<_> = parameters.collect();
        let begin = || {
            let properties = WriterProperties::builder()
                .set_created_by(CREATED_BY.into())
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true)
                .set_key_value_metadata((!parameters.is_empty()).then_some(parameters))
                .build();
            SerializedFileWriter::new(output, Arc::new(schema(columns)?), Arc::new(properties))
        };
        let writer = begin().map_err(|error| error_of(path, &failure, error))?;
        let pending = |column: &Column| column.is_in(Format::Parquet).then(|| Pending::new(column));
        Ok(ParquetRows {
            failure,
            writer,
            columns: columns.iter().map(pending).collect(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Appends a row with a cell for each column.
    pub fn row(&mut self, path: &Path, cells: &[Cell<'_>]) -> Result<()> {
        let pushed = (|| {
            if cells.len() != self.columns.len() {
                let text = format!("{} cells for {} columns", cells.len(), self.columns.len());
                return Err(ParquetError::General(text));
            }
            let mut cells = self.columns.iter_mut().zip(cells);
            cells.try_fold(0, |sum, (column, &cell)| match column {
                Some(column) => Ok(sum + column.push(cell)?),
                None => Ok(sum),
            })
        })();
        self.bytes += pushed.map_err(|error| error_of(path, &self.failure, error))?;
        self.rows += 1;
        match self.rows == GROUP_ROWS || self.bytes >= GROUP_BYTES {
            true => self.write_group(path),
            false => Ok(()),
        }
    }

    /// Writes the pending rows as a row group.
    fn write_group(&mut self, path: &Path) -> Result<()> {
        let columns = self.columns.iter_mut().flatten();
        let writer = &mut self.writer;
        let write = || {
            let mut group = writer.next_row_group()?;
            for column in columns {
                let Some(mut out) = group.next_column()? else {
                    let text = "more columns than the schema has";
                    return Err(ParquetError::General(text.into()));
                };
                column.write(out.untyped())?;
                out.close()?;
            }
            group.close().map(drop)
        };
        write().map_err(|error| error_of(path, &self.failure, error))?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Writes the rest of the file, and returns the output.
    pub fn finish(mut self, path: &Path) -> Result<W> {
        if self.rows > 0 {
            self.write_group(path)?;
        }
        let output = self.writer.into_inner();
        let output = output.map_err(|error| error_of(path, &self.failure, error))?;
        Ok(output.inner)
    }
}

/// The schema of a file.
fn schema(columns: &[Column]) -> Result<Type, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::U32 => (Physical::INT32, Some(LogicalType::integer(32, false))),
            Kind::I64 => (Physical::INT64, None),
            Kind::F64 => (Physical::DOUBLE, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = match column.null {
            Some(_) => Repetition::OPTIONAL,
            None => Repetition::REQUIRED,
        };
        Type::primitive_type_builder(column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = columns
        .iter()
        .filter(|column| column.is_in(Format::Parquet));
    let fields = fields.map(field).collect::<Result<_, _>>()?;
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

    use super::super::{Table, columns};
    use super::*;

    const COLUMNS: [Column; 7] = columns! {
        number: U32, perhaps: U32 or "", long: I64, share: F64 or "", elsewhere: Text in Lines,
        name: Text, address: Text or "",
    };

    fn table(rows: usize, text: &str) -> Vec<u8> {
        let parameters = [("threshold", "0.85".to_string())];
        let path = Path::new("t.parquet");
        let mut table = Table::new(path, Vec::new(), &parameters, &COLUMNS).unwrap();
        for n in 0..rows {
            let name = format!("{text}{n}");
            let third = n.is_multiple_of(3);
            let cells = [
                (u32::MAX - n as u32).into(),
                third.then_some(n as u32).into(),
                ((1 << 40) + n as u64).into(),
                (!third).then_some(n as f64 / 7.0).into(),
                "elsewhere".into(),
                name.as_str().into(),
                (n % 5 == 1).then_some(text).into(),
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
            assert_eq!(entry, ("lookalike.threshold", Some("0.85")));
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
            let path = Path::new("t.parquet");
            let written = Table::new(path, Full(room), &[], columns).and_then(|mut table| {
                (0..100u32).try_for_each(|n| table.row(&[n.into()]))?;
                table.finish().map(drop)
            });
            let Err(Error::Io { path, source, .. }) = written else {
                panic!("{room}: {written:?}");
            };
            assert_eq!(
                (path.as_path(), source.raw_os_error()),
                (Path::new("t.parquet"), Some(28))
            );
        }
    }

    #[test]
    fn cells_of_another_type_are_refused() {
        let path = Path::new("t.parquet");
        let mut table = Table::new(path, Vec::new(), &[], &COLUMNS[..1]).unwrap();
        for cells in [
            &[Cell::Null][..],
            &[Cell::Real(0.5)],
            &[Cell::Number(1 << 32)],
            &[],
            &[Cell::Number(1); 2],
        ] {
            assert!(table.row(cells).is_err(), "{cells:?}");
        }
    }
}
