//! Copies a Parquet file as an edit says.
//!
//! # In and out
//! In: a Parquet file, and an edit of its rows. Out: a Parquet file with the kept rows, or with the
//! removed ones, in the same order. The edit may change texts ([`FileEdit::value`]). Annotations
//! are a column that is appended, or that replaces the column of that name.
//!
//! # Algorithm
//! Row group by row group:
//! 1. A row group that loses nothing is copied byte by byte, without decoding it.
//! 2. A row group that loses everything is left out.
//! 3. In any other row group, each column is decoded and encoded again in turn. Definition and
//!    repetition levels are copied with the values, so nesting needs no special treatment.
//!
//! # Invariants
//! - The schema, the order of columns, the key-value metadata, the codec of each column, and
//!   whether it has a dictionary, statistics and a bloom filter do not change.
//! - Values are copied in their stored form; no value changes its type.
//!
//! # Cost
//! In memory: about 1 MiB of values of one column with the pages that they are in, and the
//! compressed pages of one column chunk, which the writer collects until their dictionary is
//! complete; the annotations of one row group.
//!
//! # What is not guaranteed
//! - Page indexes are left out: row groups that are copied byte by byte would lack them.
//! - In row groups that are encoded again, data pages have version 1, and compression has the
//!   default level of its codec, because files do not state the level.
//! - Sorting columns are kept if all row groups have the same.
//! - `created_by` names the program that wrote the copy.
//! - An annotated file does not have the key `ARROW:schema`, which would contradict the new schema.
//!   Readers then derive the Arrow types from the Parquet types. An Arrow type that Parquet does
//!   not have, such as a time zone name or a duration, is lost.
//!
//! # Errors
//! `Io` if reading or writing fails. `Other` with the row group and column if the file is
//! damaged.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use ::parquet::bloom_filter::Sbbf;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData, SortingColumn,
};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use bytes::Bytes;

use super::annotate::{Annotation, MEMBER};
use super::{Action, FileEdit, STAGE, Span};
use lookalike_base::{Error, Result, Stop};
use lookalike_source::{FromPlace, ReadAt};
use lookalike_store::{CREATED_BY, Failure, Remembering};
use lookalike_text::read::DEFAULT_MAX_RATIO;
use lookalike_text::read::parquet::pages::{Limits, Pages, Trouble, exactly};
use lookalike_text::read::parquet::{encrypted_column, footer, guarded, rows_of};

/// Values decoded at a time, in bytes, as far as the average row tells.
const PIECE_BYTES: u64 = 1 << 20;

/// Rows decoded at a time, at most.
const PIECE_ROWS: u64 = 1024;

/// The key whose value is the Arrow schema of the file.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// The encodings with a dictionary.
const DICTIONARIES: [Encoding; 2] = [Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY];
/// The encodings without one that a copy has where the file has them.
const NEWER: [Encoding; 4] = [
    Encoding::DELTA_BINARY_PACKED,
    Encoding::DELTA_LENGTH_BYTE_ARRAY,
    Encoding::DELTA_BYTE_ARRAY,
    Encoding::BYTE_STREAM_SPLIT,
];

/// The file to copy, and where the copy is written to; the paths are for messages.
#[derive(Clone)]
pub(super) struct Source<'a> {
    /// The bytes of the file.
    pub file: Arc<dyn ReadAt>,
    /// Its path.
    pub path: &'a Path,
    /// The path of the copy.
    pub to: &'a Path,
}

/// The Parquet file with these bytes, as an edit says.
///
/// # Errors
/// `Other` or `BadParameter` if it cannot be written again.
pub fn parquet_again(bytes: Vec<u8>, edit: &mut dyn FileEdit) -> Result<Vec<u8>> {
    let place = Path::new("the file");
    let source = Source {
        file: Arc::new(bytes),
        path: place,
        to: place,
    };
    let mut out = Vec::new();
    copy(&source, &mut out, &mut Rows::new(edit), &Stop::default())?;
    Ok(out)
}

/// The rows of a file that are written, and how.
pub(super) struct Rows<'e> {
    edit: &'e mut dyn FileEdit,
    /// The last record of the edit.
    span: Option<Span>,
    /// Whether the removed rows are written, and not the kept ones.
    pub removed: bool,
    /// Whether the file gets a column of annotations.
    pub annotated: bool,
}

/// The rows of a row group that are written. Rows are numbered from the first one of the row group.
#[derive(Default)]
struct GroupRows {
    /// Stretches of rows.
    runs: Vec<Range<u64>>,
    count: u64,
    /// The rows whose texts change.
    changed: Vec<u64>,
    /// If there is a column of annotations: the annotation of each row.
    notes: Vec<Option<Annotation>>,
}

impl<'e> Rows<'e> {
    /// The kept rows.
    pub fn new(edit: &'e mut dyn FileEdit) -> Rows<'e> {
        Rows {
            edit,
            span: None,
            removed: false,
            annotated: false,
        }
    }

    /// The record in a row, if the edit has one. Rows rise.
    fn at(&mut self, row: u64) -> Result<Option<&mut Span>> {
        let is_over = |span: &Span| span.offset + span.length <= row;
        while self.span.as_ref().is_none_or(is_over) {
            match self.edit.next()? {
                Some(span) => self.span = Some(span),
                None => return Ok(None),
            }
        }
        Ok(self.span.as_mut().filter(|span| span.offset <= row))
    }

    /// The rows that are written of the `rows` rows from number `first` on.
    fn of_group(&mut self, first: u64, rows: u64, stop: &Stop) -> Result<GroupRows> {
        let mut group = GroupRows::default();
        let (removed, annotated) = (self.removed, self.annotated);
        for row in 0..rows {
            if row.is_multiple_of(1 << 16) {
                stop.check(STAGE)?;
            }
            let mut action = self.at(first + row)?.map(|span| &mut span.action);
            if action.as_ref().is_none_or(|action| action.keeps()) == removed {
                continue;
            }
            if let Some(Action::Change { .. }) = action {
                group.changed.push(row);
            }
            if annotated {
                group.notes.push(match &mut action {
                    Some(Action::Annotate(note)) => Some(std::mem::take(note)),
                    _ => None,
                });
            }
            group.count += 1;
            match group.runs.last_mut() {
                Some(run) if run.end == row => run.end += 1,
                _ => group.runs.push(row..row + 1),
            }
        }
        Ok(group)
    }
}

/// Refuses a file with encrypted columns, which would be lost.
///
/// # Errors
/// `BadParameter`.
pub fn refuse_encrypted(file: &dyn ReadAt, path: &Path) -> Result<()> {
    match encrypted_column(file) {
        None => Ok(()),
        Some(column) => Err(Error::parameter("INPUT", path.display()).because(format!(
            "its column {column} is encrypted, so it cannot be written again; decrypt it \
                 first, or leave the file out (--exclude)"
        ))),
    }
}

/// The file in the form that the `parquet` crate reads to copy column chunks unchanged.
struct Chunks(Arc<dyn ReadAt>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.length().unwrap_or(0)
    }
}

impl ChunkReader for Chunks {
    type T = FromPlace;

    fn get_read(&self, start: u64) -> Result<FromPlace, ParquetError> {
        Ok(FromPlace {
            file: self.0.clone(),
            at: start,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        exactly(&*self.0, start, length).map(Bytes::from)
    }
}

/// Wraps a stop or an error of the edit, so that the `parquet` crate passes it on.
fn stopped(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// Makes errors of the paths of a copy.
struct Errors<'a> {
    source: &'a Source<'a>,
    /// Why the copy could not be written.
    failed: Failure,
}

impl Errors<'_> {
    fn of(&self, place: &str, mut error: ParquetError) -> Error {
        if let ParquetError::External(other) = error {
            match other.downcast::<Error>() {
                Ok(own) => return *own,
                Err(other) => error = ParquetError::External(other),
            }
        }
        if let Some(error) = self.failed.take() {
            return Error::io("write", self.source.to)(error);
        }
        let found = match error {
            ParquetError::External(error) => match error.downcast::<Trouble>() {
                Ok(trouble) => match *trouble {
                    Trouble::Io(error) => return Error::io("read", self.source.path)(error),
                    trouble => trouble.to_string(),
                },
                Err(error) => error.to_string(),
            },
            ParquetError::General(what) | ParquetError::EOF(what) => what,
            error => error.to_string(),
        };
        let help =
            "leave the file out (--exclude), or write it again with the program that made it";
        Error::of(
            self.source.path,
            format!(" is damaged: {place}: {found}"),
            help,
        )
    }
}

/// Copies the rows of a file.
///
/// # Errors
/// See the module.
pub(super) fn copy<W: Write + Send>(
    source: &Source<'_>,
    output: W,
    rows: &mut Rows<'_>,
    stop: &Stop,
) -> Result<()> {
    let failed = Failure::default();
    let output = Remembering::new(output, failed.clone());
    let errors = Errors { source, failed };
    refuse_encrypted(&*source.file, source.path)?;
    let metadata = footer(&*source.file, None).map_err(|error| errors.of("footer", error))?;
    let length = source.file.length();
    let length = length.map_err(Error::io("read", source.path))?;
    rows_of(&metadata, length, DEFAULT_MAX_RATIO)
        .map_err(|trouble| errors.of("footer", ParquetError::from(trouble)))?;
    let mut schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    if rows.annotated {
        let annotated = guarded(|| with_annotation(&schema));
        schema = annotated.map_err(|error| errors.of("schema", error))?;
    }
    let properties = Arc::new(properties(&metadata, rows.annotated));
    let new = || SerializedFileWriter::new(output, schema, properties);
    let mut writer = guarded(new).map_err(|error| errors.of("header", error))?;
    let mut first = 0;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        stop.check(STAGE)?;
        let count = u64::try_from(group.num_rows()).unwrap_or(0);
        let group = Group {
            errors: &errors,
            number,
            group,
            first,
            rows: rows.of_group(first, count, stop)?,
        };
        first += count;
        if group.rows.count > 0 {
            group.write(count, &mut writer, rows, stop)?;
        }
    }
    guarded(|| writer.close()).map_err(|error| errors.of("footer", error))?;
    Ok(())
}

/// A row group whose rows are written one by one.
struct Group<'a> {
    errors: &'a Errors<'a>,
    number: usize,
    group: &'a RowGroupMetaData,
    /// Its first row in the file.
    first: u64,
    rows: GroupRows,
}

impl Group<'_> {
    fn error(&self, column: Option<&ColumnChunkMetaData>, error: ParquetError) -> Error {
        let mut place = format!("row group {}", self.number);
        if let Some(column) = column {
            place += &format!(", column {}", column.column_path().string());
        }
        self.errors.of(&place, error)
    }

    /// Writes its rows. It has `all` rows.
    fn write<W: Write + Send>(
        &self,
        all: u64,
        writer: &mut SerializedFileWriter<W>,
        rows: &mut Rows<'_>,
        stop: &Stop,
    ) -> Result<()> {
        let written = &self.rows;
        let columns = self.group.columns();
        let whole =
            written.count == all && written.changed.is_empty() && columns.iter().all(can_be_copied);
        let mut out =
            guarded(|| writer.next_row_group()).map_err(|error| self.error(None, error))?;
        let mut noted = !rows.annotated;
        let mut put_notes = |out: &mut _| match std::mem::replace(&mut noted, true) {
            true => Ok(()),
            false => guarded(|| write_annotation(out, &written.notes))
                .map_err(|error| self.error(None, error)),
        };
        for (leaf, column) in columns.iter().enumerate() {
            // The annotation of an earlier command has its place among the columns.
            if rows.annotated && is_annotation(column) {
                put_notes(&mut out)?;
                continue;
            }
            let part = Part {
                file: &self.errors.source.file,
                group: self.group,
                column,
                runs: &written.runs,
                in_piece: Arc::default(),
            };
            let done = match whole {
                true => part.append(&mut out),
                false => {
                    let column = (rows.edit.columns().iter()).position(|column| *column == leaf);
                    let texts = column.map(|column| Texts {
                        edit: &mut *rows.edit,
                        column,
                        first: self.first,
                        changed: &written.changed,
                    });
                    part.encode(&mut out, texts, stop)
                }
            };
            done.map_err(|error| self.error(Some(column), error))?;
        }
        put_notes(&mut out)?;
        guarded(|| out.close()).map_err(|error| self.error(None, error))?;
        Ok(())
    }
}

/// Whether a column is the annotation, or a part of it.
fn is_annotation(column: &ColumnChunkMetaData) -> bool {
    column.column_path().parts().first().map(String::as_str) == Some(MEMBER)
}

/// Whether a column chunk can be copied without decoding: some writers state the offset of a
/// dictionary that they did not write.
fn can_be_copied(column: &ColumnChunkMetaData) -> bool {
    let data = column.data_page_offset();
    let dictionary = column.dictionary_page_offset();
    column.file_path().is_none()
        && data > 0
        && column.compressed_size() >= 0
        && dictionary.is_none_or(|at| at > 0 && at < data)
}

/// The properties of the columns, as the first row group has them.
fn properties(metadata: &ParquetMetaData, annotated: bool) -> WriterProperties {
    let file = metadata.file_metadata();
    let entries = file.key_value_metadata().map(|entries| {
        let mut entries = entries.clone();
        entries.retain(|entry| !annotated || entry.key != ARROW_SCHEMA);
        entries
    });
    let groups = metadata.row_groups();
    let sorting = groups.first().and_then(|group| group.sorting_columns());
    // Columns have other numbers after a replaced annotation that had other parts.
    let columns = groups.first().map_or(&[][..], RowGroupMetaData::columns);
    let fixed = match columns.iter().position(is_annotation) {
        Some(first) if annotated => first,
        _ => columns.len(),
    };
    let keeps_place = |column: &SortingColumn| {
        usize::try_from(column.column_idx).is_ok_and(|number| number < fixed)
    };
    let sorted = sorting.is_none_or(|sorting| sorting.iter().all(keeps_place))
        && groups
            .iter()
            .all(|group| group.sorting_columns() == sorting);
    let mut builder = WriterProperties::builder()
        .set_created_by(CREATED_BY.into())
        .set_key_value_metadata(entries.filter(|entries| !entries.is_empty()))
        .set_sorting_columns(sorting.filter(|_| sorted).cloned())
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false);
    for column in columns {
        if annotated && is_annotation(column) {
            continue;
        }
        let path = column.column_path();
        let plain = column.encodings().find(|encoding| NEWER.contains(encoding));
        if column.statistics().is_some() {
            let chunk = EnabledStatistics::Chunk;
            builder = builder.set_column_statistics_enabled(path.clone(), chunk);
        }
        if column.bloom_filter_offset().is_some() {
            builder = builder.set_column_bloom_filter_enabled(path.clone(), true);
        }
        let has_dictionary = column
            .encodings()
            .any(|encoding| DICTIONARIES.contains(&encoding))
            && column.column_type() != Physical::BOOLEAN;
        builder = builder
            .set_column_encoding(path.clone(), plain.unwrap_or(Encoding::PLAIN))
            .set_column_dictionary_enabled(path.clone(), has_dictionary)
            .set_column_compression(path.clone(), column.compression());
    }
    builder.build()
}

/// The texts of a column of a row group that are replaced.
struct Texts<'e> {
    edit: &'e mut dyn FileEdit,
    /// The number of the column among the columns of the text.
    column: usize,
    /// The first row of the row group in the file.
    first: u64,
    /// The rows that change, from the first of the row group; those done are cut off.
    changed: &'e [u64],
}

impl Texts<'_> {
    /// Replaces values of some rows. `most` is the definition level of a value that is not null.
    fn apply(
        &mut self,
        rows: Range<u64>,
        (definitions, most): (&[i16], i16),
        values: &mut [ByteArray],
    ) -> Result<()> {
        let mut values = values.iter_mut();
        for (row, at) in rows.zip(0..) {
            let is_null = most > 0 && definitions.get(at) != Some(&most);
            let value = if is_null { None } else { values.next() };
            let [next, rest @ ..] = self.changed else {
                break;
            };
            if *next != row {
                continue;
            }
            self.changed = rest;
            let old = value.as_ref().map_or(&[][..], |value| value.data());
            let new = self.edit.value(self.column, self.first + row, old)?;
            if let Some(value) = value {
                *value = ByteArray::from(new);
            }
        }
        Ok(())
    }
}

/// One column of a row group.
struct Part<'a> {
    file: &'a Arc<dyn ReadAt>,
    group: &'a RowGroupMetaData,
    column: &'a ColumnChunkMetaData,
    runs: &'a [Range<u64>],
    /// Values in the pages that were opened for a piece.
    in_piece: Arc<AtomicU64>,
}

impl Part<'_> {
    /// Copies the column unchanged.
    fn append<W: Write + Send>(
        &self,
        out: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let chunks = Chunks(self.file.clone());
        let bloom_filter = guarded(|| Sbbf::read_from_column_chunk(self.column, &chunks))?;
        let close = ColumnCloseResult {
            bytes_written: u64::try_from(self.column.compressed_size())?,
            rows_written: u64::try_from(self.group.num_rows())?,
            metadata: self.column.clone(),
            bloom_filter,
            column_index: None,
            offset_index: None,
        };
        guarded(|| out.append_column(&chunks, close))
    }

    /// Decodes the column, and encodes the kept rows.
    fn encode<W: Write + Send>(
        &self,
        out: &mut SerializedRowGroupWriter<'_, W>,
        mut texts: Option<Texts<'_>>,
        stop: &Stop,
    ) -> Result<(), ParquetError> {
        let in_piece = self.in_piece.clone();
        let pages = Pages::new(self.file.clone(), self.column, Limits::of_copy(), in_piece)?;
        let column = self.column.column_descr_ptr();
        let reader = guarded(|| Ok(get_column_reader(column, Box::new(pages))))?;
        let Some(mut writer) = guarded(|| out.next_column())? else {
            let missing = "the column is not in the schema";
            return Err(ParquetError::General(missing.into()));
        };
        fn none<T>(_: Range<u64>, _: &[i16], _: &mut [T]) -> Result<()> {
            Ok(())
        }
        use ColumnReader as R;
        use ColumnWriter as W;
        match (reader, writer.untyped()) {
            (R::BoolColumnReader(r), W::BoolColumnWriter(w)) => self.values(r, w, none, stop)?,
            (R::Int32ColumnReader(r), W::Int32ColumnWriter(w)) => self.values(r, w, none, stop)?,
            (R::Int64ColumnReader(r), W::Int64ColumnWriter(w)) => self.values(r, w, none, stop)?,
            (R::Int96ColumnReader(r), W::Int96ColumnWriter(w)) => self.values(r, w, none, stop)?,
            (R::FloatColumnReader(r), W::FloatColumnWriter(w)) => self.values(r, w, none, stop)?,
            (R::DoubleColumnReader(r), W::DoubleColumnWriter(w)) => {
                self.values(r, w, none, stop)?
            }
            (R::ByteArrayColumnReader(r), W::ByteArrayColumnWriter(w)) => {
                let most = self.column.column_descr().max_def_level();
                let edit = |rows, definitions: &[i16], values: &mut [ByteArray]| match &mut texts {
                    Some(texts) => texts.apply(rows, (definitions, most), values),
                    None => Ok(()),
                };
                self.values(r, w, edit, stop)?;
            }
            (R::FixedLenByteArrayColumnReader(r), W::FixedLenByteArrayColumnWriter(w)) => {
                self.values(r, w, none, stop)?;
            }
            _ => {
                let other = "the column has another type than the schema says";
                return Err(ParquetError::General(other.into()));
            }
        }
        guarded(|| writer.close())
    }

    fn values<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        writer: &mut ColumnWriterImpl<'_, T>,
        mut edit: impl FnMut(Range<u64>, &[i16], &mut [T::T]) -> Result<()>,
        stop: &Stop,
    ) -> Result<(), ParquetError> {
        let rows = u64::try_from(self.group.num_rows()).unwrap_or(1).max(1);
        let bytes = u64::try_from(self.column.uncompressed_size()).unwrap_or(0);
        // Values that all are the same take no bytes, but the levels of each do.
        let levels = u64::try_from(self.column.num_values())
            .unwrap_or(0)
            .saturating_mul(4);
        let piece = (PIECE_BYTES / (bytes.max(levels) / rows).max(1)).clamp(1, PIECE_ROWS);
        let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let column = self.column.column_descr();
        let (nullable, list) = (column.max_def_level() > 0, column.max_rep_level() > 0);
        let ended = || Err(ParquetError::General("fewer values than rows".into()));
        let mut at = 0;
        for run in self.runs {
            while at < run.start {
                stop.check(STAGE).map_err(stopped)?;
                let gap = PIECE_ROWS.min(run.start - at) as usize;
                self.in_piece.store(0, Ordering::Relaxed);
                if guarded(|| reader.skip_records(gap))? != gap {
                    return ended();
                }
                at += gap as u64;
            }
            while at < run.end {
                stop.check(STAGE).map_err(stopped)?;
                self.in_piece.store(0, Ordering::Relaxed);
                let rows = piece.min(run.end - at);
                definitions.clear();
                repetitions.clear();
                values.clear();
                let read = guarded(|| {
                    let levels = (Some(&mut definitions), Some(&mut repetitions));
                    let rows = usize::try_from(rows)?;
                    reader.read_records(rows, levels.0, levels.1, &mut values)
                })?;
                if read.0 as u64 != rows {
                    return ended();
                }
                edit(at..at + rows, &definitions, &mut values).map_err(stopped)?;
                let levels = (
                    nullable.then_some(&definitions[..]),
                    list.then_some(&repetitions[..]),
                );
                guarded(|| writer.write_batch(&values, levels.0, levels.1))?;
                at += rows;
            }
        }
        Ok(())
    }
}

/// The schema with the annotation as its last column.
fn with_annotation(schema: &TypePtr) -> Result<TypePtr, ParquetError> {
    let leaf = |name, physical, logical| {
        let builder = Type::primitive_type_builder(name, physical);
        let builder = builder.with_repetition(Repetition::OPTIONAL);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = vec![
        leaf("cluster", Physical::INT64, None)?,
        leaf("cluster_size", Physical::INT64, None)?,
        leaf("survivor", Physical::BYTE_ARRAY, Some(LogicalType::String))?,
        leaf("resemblance", Physical::DOUBLE, None)?,
        leaf("kept", Physical::BOOLEAN, None)?,
    ];
    let group = Type::group_type_builder(MEMBER)
        .with_repetition(Repetition::OPTIONAL)
        .with_fields(fields)
        .build()?;
    let mut all = schema.get_fields().to_vec();
    match all.iter_mut().find(|field| field.name() == MEMBER) {
        Some(field) => *field = Arc::new(group),
        None => all.push(Arc::new(group)),
    }
    let root = Type::group_type_builder(schema.name()).with_fields(all);
    root.build().map(Arc::new)
}

fn write_annotation<W: Write + Send>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    notes: &[Option<Annotation>],
) -> Result<(), ParquetError> {
    fn column<T: DataType, W: Write + Send>(
        out: &mut SerializedRowGroupWriter<'_, W>,
        values: impl Iterator<Item = Option<T::T>>,
    ) -> Result<(), ParquetError> {
        let mut levels = Vec::new();
        let values: Vec<T::T> = values
            .inspect(|value| levels.push(if value.is_some() { 2 } else { 1 }))
            .flatten()
            .collect();
        if let Some(mut column) = out.next_column()? {
            column
                .typed::<T>()
                .write_batch(&values, Some(&levels), None)?;
            column.close()?;
        }
        Ok(())
    }
    let of = || notes.iter().map(Option::as_ref);
    let survivor = |note: Option<&Annotation>| {
        let survivor = note?.survivor.as_ref()?;
        let place = format!("{}:{}", survivor.file, survivor.record);
        Some(ByteArray::from(place.into_bytes()))
    };
    column::<Int64Type, W>(out, of().map(|note| Some(note?.cluster?.into())))?;
    column::<Int64Type, W>(out, of().map(|note| Some(note?.cluster_size.into())))?;
    column::<ByteArrayType, W>(out, of().map(survivor))?;
    column::<DoubleType, W>(out, of().map(|note| note?.score.parse().ok()))?;
    column::<BoolType, W>(out, of().map(|note| Some(note?.kept)))
}

#[cfg(test)]
mod tests {
    use ::parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
    use ::parquet::data_type::{FixedLenByteArrayType, Int32Type};
    use ::parquet::file::metadata::KeyValue;
    use ::parquet::file::properties::WriterVersion;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::schema::parser::parse_message_type;

    use super::super::annotate::Survivor;
    use super::*;
    use std::io;

    const SCHEMA: &str = "message rows {
        required int32 id = 7;
        optional binary text (STRING);
        optional group turns (LIST) {
            repeated group list { optional group element {
                optional binary content (STRING); optional double score;
            } }
        }
        optional group map (MAP) {
            repeated group key_value { required binary key (STRING); optional boolean value; }
        }
        required fixed_len_byte_array(4) code;
        optional int96 at;
    }";

    /// Rows of every nesting, with a null at each level.
    fn write(properties: WriterProperties, groups: &[Range<i32>]) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties.into()).unwrap();
        for rows in groups {
            let rows: Vec<i32> = rows.clone().collect();
            let mut out = writer.next_row_group().unwrap();
            fn put<T: DataType>(
                out: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
                values: &[T::T],
                definitions: &[i16],
                repetitions: &[i16],
            ) {
                let mut column = out.next_column().unwrap().unwrap();
                let given = |levels: &[i16]| (!levels.is_empty()).then(|| levels.to_vec());
                let levels = (given(definitions), given(repetitions));
                let typed = column.typed::<T>();
                typed
                    .write_batch(values, levels.0.as_deref(), levels.1.as_deref())
                    .unwrap();
                column.close().unwrap();
            }
            put::<Int32Type>(&mut out, &rows, &[], &[]);
            let some = |n: &&i32| **n % 5 != 2;
            let present: Vec<i16> = rows.iter().map(|n| i16::from(some(&n))).collect();
            let text = |n: &i32| ByteArray::from(format!("text {} ", n % 9).repeat(9).as_str());
            let texts: Vec<ByteArray> = rows.iter().filter(some).map(text).collect();
            put::<ByteArrayType>(&mut out, &texts, &present, &[]);
            // A null list, an empty one, one of a null, one of two values.
            let levels = |n: &i32, deepest: i16| -> Vec<(i16, i16)> {
                match n % 4 {
                    0 => vec![(0, 0)],
                    1 => vec![(1, 0)],
                    2 => vec![(2, 0)],
                    _ => vec![(deepest, 0), (deepest, 1)],
                }
            };
            let nested: Vec<(i16, i16)> = rows.iter().flat_map(|n| levels(n, 4)).collect();
            let (d, r): (Vec<i16>, Vec<i16>) = nested.iter().copied().unzip();
            let full = d.iter().filter(|&&d| d == 4).count();
            let strings: Vec<ByteArray> = (0..full).map(|n| text(&(n as i32))).collect();
            put::<ByteArrayType>(&mut out, &strings, &d, &r);
            let numbers: Vec<f64> = (0..full).map(|n| n as f64 / 7.0).collect();
            put::<DoubleType>(&mut out, &numbers, &d, &r);
            let keyed: Vec<(i16, i16)> = rows
                .iter()
                .flat_map(|n| {
                    if n % 3 == 0 {
                        vec![(1, 0)]
                    } else {
                        vec![(2, 0), (2, 1)]
                    }
                })
                .collect();
            let (d, r): (Vec<i16>, Vec<i16>) = keyed.iter().copied().unzip();
            let full = d.iter().filter(|&&d| d == 2).count();
            let keys: Vec<ByteArray> = (0..full).map(|n| text(&(n as i32))).collect();
            put::<ByteArrayType>(&mut out, &keys, &d, &r);
            let d: Vec<i16> = d.iter().map(|&d| if d == 2 { 3 } else { d }).collect();
            let flags: Vec<bool> = (0..full).map(|n| n % 3 == 0).collect();
            put::<BoolType>(&mut out, &flags, &d, &r);
            let code = |n: &i32| ByteArray::from(n.to_be_bytes().to_vec()).into();
            let codes: Vec<_> = rows.iter().map(code).collect();
            put::<FixedLenByteArrayType>(&mut out, &codes, &[], &[]);
            let time = |n: &i32| {
                let mut time = ::parquet::data_type::Int96::new();
                time.set_data(1, 2, n.unsigned_abs());
                time
            };
            let times: Vec<_> = rows.iter().filter(some).map(time).collect();
            put::<::parquet::data_type::Int96Type>(&mut out, &times, &present, &[]);
            out.close().unwrap();
        }
        writer.into_inner().unwrap()
    }

    /// Every row as text, by the crate's own reader of rows.
    fn shown(bytes: &[u8]) -> Vec<String> {
        let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes)).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| format!("{:?}", row.unwrap())).collect()
    }

    fn metadata(bytes: &[u8]) -> ParquetMetaData {
        footer(&bytes.to_vec(), None).unwrap()
    }

    fn source(bytes: &[u8]) -> Source<'static> {
        Source {
            file: Arc::new(bytes.to_vec()),
            path: Path::new("in.parquet"),
            to: Path::new("out.parquet"),
        }
    }

    /// Says for each row what happens to it.
    struct ByRow<A> {
        act: A,
        next: u64,
    }

    impl<A: FnMut(u64) -> Action> FileEdit for ByRow<A> {
        fn next(&mut self) -> Result<Option<Span>> {
            let row = self.next;
            self.next += 1;
            Ok(Some(Span {
                offset: row,
                length: 1,
                action: (self.act)(row),
            }))
        }
    }

    /// Copies the rows that `keep` returns `true` for.
    fn copy_rows(
        source: &Source<'_>,
        out: impl Write + Send,
        mut keep: impl FnMut(u64) -> bool,
    ) -> Result<()> {
        let act = |row| match keep(row) {
            true => Action::Keep,
            false => Action::Remove,
        };
        let mut edit = ByRow { act, next: 0 };
        copy(source, out, &mut Rows::new(&mut edit), &Stop::default())
    }

    fn annotate(
        source: &Source<'_>,
        out: impl Write + Send,
        act: impl FnMut(u64) -> Action,
    ) -> Result<()> {
        let mut edit = ByRow { act, next: 0 };
        let mut rows = Rows::new(&mut edit);
        rows.annotated = true;
        copy(source, out, &mut rows, &Stop::default())
    }

    /// Removes a row, and changes the second column of some others.
    struct Texts(u64);

    impl FileEdit for Texts {
        fn next(&mut self) -> Result<Option<Span>> {
            let row = self.0;
            self.0 += 1;
            Ok(Some(Span {
                offset: row,
                length: 1,
                action: match row {
                    3 => Action::Remove,
                    _ if row % 5 == 1 => Action::Change { kept: true },
                    _ => Action::Keep,
                },
            }))
        }

        fn columns(&self) -> &[usize] {
            &[1]
        }

        fn value(&mut self, _: usize, _: u64, old: &[u8]) -> Result<Vec<u8>> {
            Ok(old.to_ascii_uppercase())
        }
    }

    #[test]
    fn kept_rows_are_the_same_with_every_codec_and_encoding() {
        let codecs = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::BROTLI(BrotliLevel::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
            Compression::ZSTD(ZstdLevel::default()),
        ];
        let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
        let entry = || KeyValue::new("ARROW:schema".into(), "kept".to_string());
        for (codec, version, dictionary) in codecs
            .into_iter()
            .flat_map(|codec| versions.map(|version| (codec, version)))
            .flat_map(|(codec, version)| [true, false].map(|on| (codec, version, on)))
        {
            let properties = WriterProperties::builder()
                .set_compression(codec)
                .set_writer_version(version)
                .set_dictionary_enabled(dictionary)
                .set_data_page_size_limit(300)
                .set_write_batch_size(8)
                .set_column_bloom_filter_enabled("text".into(), true)
                .set_sorting_columns(Some(vec![SortingColumn {
                    column_idx: 0,
                    descending: false,
                    nulls_first: false,
                }]))
                .set_key_value_metadata(Some(vec![entry()]));
            // The first row group loses nothing, the second all, the third some.
            let input = write(properties.build(), &[0..90, 90..130, 130..400]);
            let keep = |row: u64| row < 90 || row >= 130 && (row % 7 < 3 || row > 380);
            let mut asked = 0;
            let mut out = Vec::new();
            let copied = copy_rows(&source(&input), &mut out, |row| {
                assert_eq!(row, asked, "rows are asked for once and in order");
                asked += 1;
                keep(row)
            });
            copied.unwrap();
            let rows = shown(&input).into_iter().zip(0..);
            let wanted: Vec<String> = rows.filter(|(_, n)| keep(*n)).map(|(row, _)| row).collect();
            assert_eq!(shown(&out), wanted, "{codec} {version:?} {dictionary}");
            assert_eq!(asked, 400);
            let (before, after) = (metadata(&input), metadata(&out));
            // The bytes of the row group that loses nothing are copied, and no others.
            let bytes = |file: &[u8], of: &ParquetMetaData, group: usize| {
                let columns = of.row_group(group).columns().iter();
                let places = columns.map(|column| column.byte_range());
                let bytes =
                    places.map(|(at, length)| file[at as usize..][..length as usize].to_vec());
                bytes.collect::<Vec<_>>()
            };
            assert_eq!(bytes(&input, &before, 0), bytes(&out, &after, 0));
            assert_ne!(bytes(&input, &before, 2), bytes(&out, &after, 1));
            let schemas =
                [&before, &after].map(|m| m.file_metadata().schema_descr().root_schema_ptr());
            assert_eq!(schemas[0], schemas[1]);
            let entries = after.file_metadata().key_value_metadata().unwrap();
            assert_eq!(entries, &vec![entry()]);
            assert_eq!(after.num_row_groups(), 2);
            for group in after.row_groups() {
                assert_eq!(
                    group.sorting_columns(),
                    before.row_group(0).sorting_columns()
                );
                for (a, b) in group.columns().iter().zip(before.row_group(0).columns()) {
                    assert_eq!(a.compression(), b.compression());
                    let has = |c: &ColumnChunkMetaData| {
                        let dictionary = c.dictionary_page_offset().is_some();
                        let bloom = c.bloom_filter_offset().is_some();
                        (dictionary, bloom, c.statistics().is_some())
                    };
                    assert_eq!(has(a), has(b), "{}", a.column_path());
                }
            }
        }
    }

    fn in_cluster(row: u64) -> Action {
        Action::Annotate(Annotation {
            cluster: Some(row as u32),
            ..Annotation::default()
        })
    }

    #[test]
    fn annotations_follow_their_rows() {
        let entries = [("ARROW:schema", "gone"), ("huggingface", "kept")];
        let entry = |(key, value): (&str, &str)| KeyValue::new(key.into(), value.to_string());
        let properties =
            WriterProperties::builder().set_key_value_metadata(Some(entries.map(entry).to_vec()));
        let input = write(properties.build(), &[0..30, 30..60]);
        let note = |row: u64| Annotation {
            cluster: (row.is_multiple_of(2)).then_some(row as u32),
            cluster_size: 2,
            survivor: (row.is_multiple_of(3)).then(|| Survivor {
                file: "s".into(),
                record: row as u32,
                docno: String::new(),
            }),
            score: "0.5".into(),
            kept: row.is_multiple_of(5),
            ..Annotation::default()
        };
        let mut out = Vec::new();
        let action = |row: u64| match row < 30 || row % 2 == 1 {
            true => Action::Annotate(note(row)),
            false => Action::Remove,
        };
        annotate(&source(&input), &mut out, action).unwrap();
        let rows = shown(&out);
        assert_eq!(rows.len(), 45);
        let last = |row: usize| rows[row].split("\"lookalike\"").nth(1).unwrap().to_string();
        let (first, second) = (last(6), last(31));
        for part in [
            "Long(6)",
            "Long(2)",
            "Str(\"s:6\")",
            "Double(0.5)",
            "Bool(false)",
        ] {
            assert!(first.contains(part), "{first}");
        }
        // Row 33 is the second that is kept of the second row group.
        assert!(
            second.contains("Str(\"s:33\")") && second.contains("Null"),
            "{second}"
        );
        let metadata = metadata(&out);
        let kept = metadata.file_metadata().key_value_metadata().unwrap();
        assert_eq!(kept, &vec![entry(entries[1])]);

        // Once more, the column is replaced, and everything else is kept.
        let renoted = |row: u64| {
            Action::Annotate(Annotation {
                cluster: Some(1000 + row as u32),
                ..note(row)
            })
        };
        let mut again = Vec::new();
        annotate(&source(&out), &mut again, renoted).unwrap();
        let split = |row: &String| {
            let (before, after) = row.split_once("\"lookalike\"").unwrap();
            (before.to_string(), after.to_string())
        };
        for (number, (before, after)) in rows.iter().zip(shown(&again)).enumerate() {
            let (before, after) = (split(before), split(&after));
            assert_eq!(before.0, after.0);
            assert!(
                after.1.contains(&format!("Long({})", 1000 + number)),
                "{}",
                after.1
            );
            assert!(!after.1.contains("\"lookalike\""));
        }
    }

    /// A column of that name may be anything, and may stand before others.
    #[test]
    fn a_column_of_another_type_is_replaced_in_its_place() {
        let schema = "message rows {
            required int32 id; required int64 lookalike; required int32 last;
        }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let sorting = |column_idx| SortingColumn {
            column_idx,
            descending: false,
            nulls_first: false,
        };
        for (sorted_by, stays) in [(0, true), (2, false)] {
            let properties = WriterProperties::builder()
                .set_column_encoding("lookalike".into(), Encoding::DELTA_BINARY_PACKED)
                .set_sorting_columns(Some(vec![sorting(sorted_by)]));
            let properties = Arc::new(properties.build());
            let mut writer =
                SerializedFileWriter::new(Vec::new(), schema.clone(), properties).unwrap();
            let mut out = writer.next_row_group().unwrap();
            for number in 0..3 {
                let mut column = out.next_column().unwrap().unwrap();
                match number {
                    1 => column.typed::<Int64Type>().write_batch(&[7, 8], None, None),
                    _ => column.typed::<Int32Type>().write_batch(&[1, 2], None, None),
                }
                .unwrap();
                column.close().unwrap();
            }
            out.close().unwrap();
            let input = writer.into_inner().unwrap();
            let mut out = Vec::new();
            annotate(&source(&input), &mut out, in_cluster).unwrap();
            let metadata = metadata(&out);
            let fields = metadata.file_metadata().schema().get_fields();
            let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
            assert_eq!(names, ["id", "lookalike", "last"]);
            let rows = shown(&out);
            assert_eq!(rows.len(), 2);
            assert!(
                rows[1].contains("Long(1)") && !rows[1].contains("Long(8)"),
                "{rows:?}"
            );
            assert!(rows[1].contains("(\"last\", Int(2))"), "{rows:?}");
            let kept = metadata.row_group(0).sorting_columns();
            assert_eq!(kept.is_some(), stays);
        }
    }

    #[test]
    fn damage_names_row_group_and_column() {
        let mut input = write(WriterProperties::default(), &[0..30, 30..60]);
        let at = metadata(&input).row_group(1).column(1).data_page_offset();
        input[at as usize..][..20].fill(0xff);
        let error = copy_rows(&source(&input), Vec::new(), |row| row != 31);
        let text = error.unwrap_err().to_string();
        assert!(
            text.starts_with("in.parquet is damaged: row group 1, column text: "),
            "{text}"
        );
    }

    /// Whatever bytes a file has, it is copied or refused: nothing panics, and nothing is read for
    /// ever.
    #[test]
    fn damage_anywhere_is_an_error_or_nothing() {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_column_bloom_filter_enabled("text".into(), true)
            .build();
        let input = write(properties, &[0..20, 20..40]);
        let note = |row: u64| match row {
            3 => Action::Remove,
            _ => in_cluster(row),
        };
        let (mut copied, mut refused) = (0, 0);
        for at in 0..input.len() {
            for flip in [1u8, 0x80, 0xff] {
                // The values themselves are not checked; levels and headers are spread over all.
                if at % 3 != usize::from(flip) % 3 && at + 1500 < input.len() {
                    continue;
                }
                let mut bytes = input.clone();
                bytes[at] ^= flip;
                let source = source(&bytes);
                let done = match (at + usize::from(flip)) % 3 {
                    0 => copy_rows(&source, io::sink(), |row| row != 3),
                    1 => annotate(&source, io::sink(), note),
                    _ => {
                        let mut edit = Texts(0);
                        copy(
                            &source,
                            io::sink(),
                            &mut Rows::new(&mut edit),
                            &Stop::default(),
                        )
                    }
                };
                match done {
                    Ok(_) => copied += 1,
                    Err(Error::Other { .. } | Error::BadParameter { .. }) => refused += 1,
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
        assert!(copied > 500 && refused > 500, "{copied} {refused}");
    }

    #[test]
    fn a_stop_and_a_full_disk_end_the_copy() {
        let input = write(
            WriterProperties::default(),
            &[std::ops::Range { start: 0, end: 30 }],
        );
        let stop = Stop::default();
        stop.request();
        let act = |_| Action::Keep;
        let mut edit = ByRow { act, next: 0 };
        let stopped = copy(
            &source(&input),
            Vec::new(),
            &mut Rows::new(&mut edit),
            &stop,
        );
        assert!(matches!(stopped, Err(Error::Interrupted { .. })));
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(28))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let full = copy_rows(&source(&input), Full, |row| row > 3);
        let Err(Error::Io { path, source, .. }) = full else {
            panic!("{full:?}");
        };
        assert_eq!(
            (path.as_path(), source.raw_os_error()),
            (Path::new("out.parquet"), Some(28))
        );
    }
}
