//! Parquet files: each row is a record.
//!
//! # Source
//! `parquet.thrift`, `Encodings.md` and `LogicalTypes.md` of the Apache Parquet format. The
//! `parquet` crate parses the footer and decodes levels and values. [`pages`] finds and
//! decompresses the pages.
//!
//! # Algorithm
//! 1. The footer at the end of the file names the row groups and columns.
//! 2. [`columns`] chooses the columns of text, docno and URL. No other column is read.
//! 3. Row group by row group, each chosen column is decoded row by row. Several threads can each
//!    read some of the row groups ([`super::pieces`]).
//!
//! # Invariants
//! - Each row is one record or is part of one reject, in the order of the file.
//! - What is damaged in one row group affects no other.
//!
//! # Cost
//! One page of each chosen column is in memory, and its dictionary. Most writers close a page after
//! 1 MiB; DuckDB does so after 95 MiB. A page of more than 128 MiB, or of 8 MiB more than the
//! largest document if that is more, is a reject. While a page is decompressed, its compressed
//! bytes are also in memory. The footer is in memory as long as the file is read.

pub mod columns;
pub mod pages;
mod thrift;
pub mod written;

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
    RowGroupMetaData,
};

use self::columns::{Chosen, Column, Role, TextColumns};
use self::pages::{Limits, Trouble, exactly};
use self::thrift::Fields;
use crate::read::ground::config::ReadConfig;
use crate::read::ground::fields::{FieldPath, Known, TEXT_FIELDS, no_column};
use crate::read::ground::outcome::HEAD;
use crate::read::ground::record::{
    Batch, Field, Marks, Origin, Record, RecordKind, Reject, RowFields, SourceSpan,
};
use crate::read::ground::resolve::{Texts, is_null, no_docno, take_each, usual_of};
use lookalike_base::{append, counted};
use lookalike_source::{Fault, ReadAt, Reason};

/// The first and the last bytes of a file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// The first and the last bytes of a file whose footer is encrypted.
pub(super) const ENCRYPTED: &[u8] = b"PARE";

/// Largest footer that is read. A parsed footer takes many times its size.
const LARGEST_FOOTER: usize = 16 << 20;

/// Deepest nesting of columns. The crate parses a schema by recursion without a limit, so a deep
/// one would overflow the stack.
const DEEPEST_SCHEMA: usize = 100;

/// Rows that any file may have, however small it is. A few bytes can state billions of null
/// values, and each row of them would be a reject.
const FREE_ROWS: u64 = 1 << 16;

thread_local! {
    /// Whether [`guarded`] expects a panic of this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of the `parquet` crate, and turns a panic into an error. Nothing is printed.
///
/// Its decoders check some lengths by assertions and slices of pages, so a few damaged bytes make
/// them panic. A record that cannot be read must not end the process.
pub fn guarded<T>(act: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(act));
    GUARDED.set(outer);
    done.unwrap_or_else(|panic| {
        Err(ParquetError::General(format!(
            "values cannot be decoded: {}",
            message(&*panic)
        )))
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "the decoder panicked".into())
}

/// Returns the fault of a damaged or refused part of a file.
fn fault_of(error: ParquetError) -> Fault {
    let general = |error: &ParquetError| match error {
        ParquetError::General(what) | ParquetError::EOF(what) | ParquetError::NYI(what) => {
            what.clone()
        }
        error => error.to_string(),
    };
    match error {
        ParquetError::External(error) => match error.downcast::<Trouble>() {
            Ok(trouble) => match *trouble {
                Trouble::Io(error) => Fault::refused(&error),
                Trouble::TooLarge(what) => Fault::new(Reason::DecompressorMemory, what),
                Trouble::Bomb(what) => Fault::new(Reason::DecompressionBomb, what),
            },
            Err(error) => Fault::new(Reason::BadParquet, error.to_string()),
        },
        error => Fault::new(Reason::BadParquet, general(&error)),
    }
}

/// Reads and parses the footer.
pub fn footer(
    file: &dyn ReadAt,
    options: Option<&ParquetMetaDataOptions>,
) -> Result<ParquetMetaData, ParquetError> {
    Ok(footer_and_encrypted(file, options)?.0)
}

/// The path of an encrypted column of a file whose footer can be read, if it has one. Such a file
/// cannot be written again.
pub fn encrypted_column(file: &dyn ReadAt) -> Option<String> {
    let (metadata, encrypted) = footer_and_encrypted(file, None).ok()?;
    path_of(&metadata, *encrypted.first()?)
}

/// The number of rows of a file of `length` bytes.
///
/// # Errors
/// `Bomb` if it is too large for the file.
pub fn rows_of(metadata: &ParquetMetaData, length: u64, max_ratio: u64) -> Result<u64, Trouble> {
    let rows = sum_of_rows(metadata.row_groups().iter());
    if rows > FREE_ROWS && rows > length.saturating_mul(max_ratio) {
        let what = format!("{rows} rows in {length} bytes, at most {max_ratio} in one");
        return Err(Trouble::Bomb(what));
    }
    Ok(rows)
}

fn rows_in(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

fn sum_of_rows<'g>(groups: impl Iterator<Item = &'g RowGroupMetaData>) -> u64 {
    groups.map(rows_in).fold(0, u64::saturating_add)
}

fn path_of(metadata: &ParquetMetaData, leaf: u64) -> Option<String> {
    let schema = metadata.file_metadata().schema_descr();
    let leaf = usize::try_from(leaf)
        .ok()
        .filter(|&leaf| leaf < schema.num_columns())?;
    Some(schema.column(leaf).path().string())
}

/// The footer, and the numbers of the columns that are encrypted.
fn footer_and_encrypted(
    file: &dyn ReadAt,
    options: Option<&ParquetMetaDataOptions>,
) -> Result<(ParquetMetaData, BTreeSet<u64>), ParquetError> {
    let damaged = |what: String| Err(ParquetError::General(what));
    let length = file.length().map_err(Trouble::Io)?;
    let tail = exactly(file, length.saturating_sub(8), 8)?;
    let (size, magic) = match tail.split_first_chunk::<4>() {
        Some((size, magic)) => (u32::from_le_bytes(*size) as usize, magic),
        None => (0, &[][..]),
    };
    if magic != MAGIC {
        return damaged(format!(
            "the file ends with {}, expected PAR1: it is cut off",
            magic.escape_ascii()
        ));
    }
    if size as u64 + 12 > length {
        return damaged(format!(
            "a footer of {size} bytes in a file of {length} bytes"
        ));
    }
    if size > LARGEST_FOOTER {
        let what = format!("a footer of {size} bytes, at most {LARGEST_FOOTER} are read");
        return Err(Trouble::TooLarge(what).into());
    }
    let bytes = exactly(file, length - 8 - size as u64, size)?;
    check_schema(&bytes)?;
    let encrypted = Fields::new(&bytes).encrypted_columns();
    let encrypted = encrypted.map_err(|what| ParquetError::General(format!("footer: {what}")))?;
    let metadata = guarded(|| ParquetMetaDataReader::decode_metadata_with_options(&bytes, options));
    Ok((metadata?, encrypted))
}

/// Checks that the schema in a footer is not nested too deep and has as many nodes as it says.
fn check_schema(bytes: &[u8]) -> Result<(), ParquetError> {
    let damaged = |what: &str| Err(ParquetError::General(format!("footer: {what}")));
    let children = match Fields::new(bytes).schema_children() {
        Ok(children) => children,
        Err(what) => return damaged(what),
    };
    // For each open group, the children that are still to come.
    let mut open: Vec<u64> = Vec::new();
    for &children in &children {
        if children > bytes.len() as u64 {
            return damaged("a group of more columns than the footer has bytes");
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > 0 {
            open.push(children);
        }
        if open.len() > DEEPEST_SCHEMA {
            return damaged("columns that are nested too deep");
        }
    }
    Ok(())
}

/// Frames the rows of one file.
pub(super) struct ParquetFramer {
    file: Arc<dyn ReadAt>,
    number: u32,
    origin: Arc<Origin>,
    /// Bytes of the file.
    length: u64,
    config: ReadConfig,
    limits: Limits,
    chosen: Vec<Chosen>,
    texts: TextColumns,
    /// Why a row has no text.
    missing: String,
    /// Why no row has some of the fields of its text.
    absent: Option<String>,
    state: State,
    /// The row groups to read; all of them if there are fewer.
    pub groups: Range<u64>,
    /// The first row of these.
    first: u64,
    /// The next row of the file.
    row: u64,
    rows: u64,
    /// Bytes of documents delivered.
    pub delivered: u64,
    /// Error number of the disk or machine failure that ended the file.
    pub failure: Option<i32>,
}

enum State {
    Start,
    Rows(Box<RowsLeft>),
    End,
}

/// The rows of a file that are not yet read.
struct RowsLeft {
    metadata: ParquetMetaData,
    /// The row group after the current one.
    next: usize,
    /// Rows that are left of that one, and its columns.
    rows: u64,
    columns: Vec<Column>,
}

/// The document of a row, or its docno and why it has none.
type Row = Result<RecordKind, (String, Fault)>;

/// The path of a column, and why it cannot be read.
type BadColumn = (String, ParquetError);

impl ParquetFramer {
    pub fn new(
        file: Arc<dyn ReadAt>,
        number: u32,
        origin: Arc<Origin>,
        config: &ReadConfig,
    ) -> Self {
        ParquetFramer {
            file,
            number,
            origin,
            length: 0,
            config: config.clone(),
            limits: Limits::new(config.max_document.0, config.max_ratio),
            chosen: Vec::new(),
            texts: Vec::new(),
            missing: String::new(),
            absent: None,
            state: State::Start,
            groups: 0..u64::MAX,
            first: 0,
            row: 0,
            rows: 0,
            delivered: 0,
            failure: None,
        }
    }

    /// The places between row groups that cut the file into pieces of about `bytes`, and for each
    /// piece its bytes; nothing if the footer cannot be read.
    pub fn cuts(&mut self, bytes: u64) -> (Vec<u64>, Vec<u64>) {
        let Ok(metadata) = self.open() else {
            return Default::default();
        };
        let (mut bounds, mut sizes) = (vec![0], vec![0u64]);
        let mut left = self.length;
        for (number, group) in (0..).zip(metadata.row_groups()) {
            let size = u64::try_from(group.compressed_size()).unwrap_or(0);
            // The last piece is not much smaller than the others.
            if sizes.last().is_some_and(|&size| size >= bytes) && left >= bytes / 2 {
                bounds.push(number);
                sizes.push(0);
            }
            // A footer can state any size.
            if let Some(sum) = sizes.last_mut() {
                *sum += size.min(left);
            }
            left = left.saturating_sub(size);
        }
        bounds.push(metadata.num_row_groups() as u64);
        (bounds, sizes)
    }

    /// The columns of the file, for a message, while its rows are read.
    pub fn known(&self) -> Vec<Known> {
        match &self.state {
            State::Rows(left) => columns::known_columns(&left.metadata),
            State::Start | State::End => Vec::new(),
        }
    }

    /// Bytes of the file that the rows so far stand for: rows are read column by column from
    /// several places.
    pub fn position(&self) -> u64 {
        let part = u128::from(self.length) * u128::from(self.row - self.first);
        let done = part.checked_div(u128::from(self.rows));
        done.map_or(0, |done| u64::try_from(done).unwrap_or(u64::MAX))
    }

    /// Appends the next row, or a reject, to the batch; `false` at the end.
    pub fn next_into(&mut self, batch: &mut Batch) -> bool {
        let mut left = match std::mem::replace(&mut self.state, State::End) {
            State::Start => match self.open() {
                Ok(metadata) => {
                    let next = usize::try_from(self.groups.start).unwrap_or(usize::MAX);
                    self.first = sum_of_rows(metadata.row_groups().iter().take(next));
                    self.row = self.first;
                    Box::new(RowsLeft {
                        metadata,
                        next,
                        rows: 0,
                        columns: Vec::new(),
                    })
                }
                Err(fault) => {
                    let docno = Some(self.origin.name.to_string());
                    self.reject(batch, 0, docno, fault);
                    return true;
                }
            },
            State::Rows(left) => left,
            State::End => return false,
        };
        while left.rows == 0 {
            if left.next >= left.metadata.num_row_groups() || left.next as u64 >= self.groups.end {
                return false;
            }
            let group = left.metadata.row_group(left.next);
            left.next += 1;
            left.rows = rows_in(group);
            match self.columns(group) {
                Ok(columns) => left.columns = columns,
                Err(bad) => {
                    self.damaged(batch, left, bad);
                    return true;
                }
            }
        }
        match self.read_row(&mut left.columns, &mut batch.bytes) {
            Ok((row, start)) => {
                self.deliver(batch, row, start);
                left.rows -= 1;
                self.state = State::Rows(left);
            }
            Err(bad) => self.damaged(batch, left, bad),
        }
        true
    }

    fn open(&mut self) -> Result<ParquetMetaData, Fault> {
        let length = self.file.length();
        self.length = length.map_err(|error| Fault::refused(&error))?;
        let skip = ParquetStatisticsPolicy::SkipAll;
        let options = ParquetMetaDataOptions::new()
            .with_column_stats_policy(skip.clone())
            .with_size_stats_policy(skip.clone())
            .with_encoding_stats_policy(skip);
        let opened = footer_and_encrypted(&*self.file, Some(&options));
        let (metadata, encrypted) = opened.map_err(fault_of)?;
        let rows = rows_of(&metadata, self.length, self.config.max_ratio);
        self.rows = rows.map_err(|trouble| fault_of(trouble.into()))?;
        let schema = metadata.file_metadata().schema_descr();
        (self.chosen, self.texts) = columns::choose(schema, &self.config);
        let secret = |chosen: &&Chosen| encrypted.contains(&(chosen.leaf as u64));
        if let Some(chosen) = self.chosen.iter().find(secret) {
            let path = path_of(&metadata, chosen.leaf as u64).unwrap_or_default();
            let what = format!("its column {path} is encrypted; decrypt the file first");
            return Err(Fault::new(Reason::UnsupportedFormat, what));
        }
        let texts = self
            .chosen
            .iter()
            .filter(|chosen| chosen.role == Role::Text);
        let beneath = texts.clone().any(|chosen| chosen.beneath);
        let mut paths: Vec<&str> = texts.map(|chosen| &*chosen.path).collect();
        paths.dedup();
        let why = |given: Option<&str>| {
            no_column(given, &TEXT_FIELDS, &columns::known_columns(&metadata))
        };
        self.missing = match &paths[..] {
            [] => why(self.config.text_field.as_deref()),
            [path] if beneath => format!("no text in {path}"),
            [path] => format!("{path} is null"),
            paths => format!("none of {}", paths.join(", ")),
        };
        // No row has a field without a column.
        let given = Texts::of(&self.config);
        let given = given.given();
        let absent = given.iter().zip(&self.texts);
        let absent = absent.filter(|(_, columns)| columns.ways.is_empty());
        let literals = |field: &Field<'_, &FieldPath<'_>>| {
            let ways = field.ways.iter().map(|way| way.literal.trim());
            ways.collect::<Vec<_>>().join("|")
        };
        let absent: Vec<String> = absent.map(|(field, _)| literals(field)).collect();
        self.absent = (!absent.is_empty()).then(|| why(Some(&absent.join(","))));
        self.texts.retain(|field| !field.ways.is_empty());
        Ok(metadata)
    }

    /// Opens the chosen columns of a row group.
    fn columns(&self, group: &RowGroupMetaData) -> Result<Vec<Column>, BadColumn> {
        let open = |chosen: &Chosen| {
            let column = guarded(|| Column::open(&self.file, group, chosen.leaf, self.limits));
            column.map_err(|error| (chosen.path.clone(), error))
        };
        self.chosen.iter().map(open).collect()
    }

    /// Reads the next row of each column; the text is appended to `out`, from the returned place
    /// on.
    fn read_row(
        &self,
        columns: &mut [Column],
        out: &mut Vec<u8>,
    ) -> Result<(Row, usize), BadColumn> {
        let start = out.len();
        let mut docno = None;
        // Unless a column of the text says nothing of UTF-8.
        let mut row = RowFields {
            utf8: true,
            ..RowFields::default()
        };
        for (column, chosen) in columns.iter_mut().zip(&self.chosen) {
            guarded(|| column.next()).map_err(|error| (chosen.path.clone(), error))?;
        }
        for (at, chosen) in self.chosen.iter().enumerate() {
            let name = || chosen.name(at, columns, HEAD);
            match chosen.role {
                Role::Id => docno = docno.or_else(name),
                Role::Url => row.url = row.url.or_else(name),
                Role::Title => row.title = name(),
                Role::Kind => row.content_type = name(),
                Role::Condition => {}
                Role::Kept(field) => {
                    let field = self.config.fields.get(field);
                    let new = |field: &&String| row.kept.iter().all(|(known, _)| known != *field);
                    let new = field.filter(new);
                    row.kept.extend(new.cloned().zip(name()));
                }
                Role::Text => {
                    row.utf8 &= columns.get(at).is_some_and(Column::is_text);
                    row.parts.push(None);
                }
            }
        }
        // The length of the text.
        let mut text = None;
        let mut is_list = false;
        let is_blank = |&(at, _): &(usize, usize)| {
            let (mut values, mut blank) = (false, true);
            let chosen = self.chosen.get(at);
            let list = chosen.is_some_and(|chosen| {
                let take = |bytes: &[u8]| {
                    values = true;
                    blank &= bytes.trim_ascii().is_empty() || is_null(&self.config.null, bytes);
                };
                chosen.texts(at, columns, take).0
            });
            blank && (values || list)
        };
        let Ok(missing) = take_each::<_, Infallible>(&self.texts, is_blank, |&(at, number)| {
            let Some(chosen) = self.chosen.get(at) else {
                return Ok(false);
            };
            let before = text;
            let begin = out.len() - start + usize::from(before.is_some());
            let (list, without) = self.take_text(
                (chosen, at, columns),
                &mut text,
                (out, start),
                &mut row.marks,
            );
            (row.notices).extend(chosen.left_out(without, text != before));
            // A null value does not even add a separator.
            if let Some(part) = row.parts.get_mut(number).filter(|_| text != before) {
                *part = Some(begin..out.len() - start);
            }
            is_list |= list;
            Ok(list || text != before)
        });
        row.notices.extend(missing);
        let absent = self.absent.iter().cloned();
        row.notices
            .extend(absent.map(|absent| (Reason::MissingField, absent)));
        (row.notices).extend(no_docno(&self.config).filter(|_| docno.is_none()));
        if row.parts.len() < 2 {
            row.parts.clear();
        }
        let docno = docno.unwrap_or_else(|| self.origin.name_of(self.row + 1));
        // Lists without a string are an empty text, as in JSON.
        let row = match text.or(is_list.then_some(0)) {
            None => Err((docno, Fault::new(Reason::MissingText, self.missing.clone()))),
            Some(length) if length > self.config.max_document.0 => {
                let limit = self.config.max_document.0;
                let detail = format!("{length} bytes, at most {limit} are read");
                Err((docno, Fault::new(Reason::TooLarge, detail)))
            }
            Some(_) => Ok(RecordKind::Row(Box::new(RowFields {
                docno,
                field: usual_of(&self.config, &self.texts),
                ..row
            }))),
        };
        Ok((row, start))
    }

    fn deliver(&mut self, batch: &mut Batch, row: Row, start: usize) {
        match row {
            Ok(kind) => {
                self.delivered += (batch.bytes.len() - start) as u64;
                self.push(batch, kind, self.span(1), start);
            }
            Err((docno, fault)) => {
                batch.bytes.truncate(start);
                let docno = (docno.len() <= HEAD).then_some(docno);
                self.reject(batch, 1, docno, fault);
            }
        }
        self.row += 1;
    }

    /// Rejects the rest of a row group, and continues with the next one.
    fn damaged(&mut self, batch: &mut Batch, mut left: Box<RowsLeft>, bad: BadColumn) {
        let mut fault = fault_of(bad.1);
        let rows = std::mem::take(&mut left.rows);
        fault.detail = format!(
            "row group {}, column {}: {}; {} left out",
            left.next - 1,
            bad.0,
            fault.detail,
            counted(rows, "row")
        );
        let failed = fault.failure.is_some();
        self.reject(batch, rows, None, fault);
        self.row = self.row.saturating_add(rows);
        if !failed {
            self.state = State::Rows(left);
        }
    }

    fn span(&self, rows: u64) -> SourceSpan {
        SourceSpan {
            file: self.number,
            offset: self.row,
            length: rows,
        }
    }

    fn reject(&mut self, batch: &mut Batch, rows: u64, docno: Option<String>, fault: Fault) {
        self.failure = self.failure.or(fault.failure);
        let source = self.span(rows);
        let kind = RecordKind::Rejected(Reject {
            source,
            docno,
            reason: fault.reason,
            detail: fault.detail,
        });
        self.push(batch, kind, source, batch.bytes.len());
    }

    /// Adds a record. Its bytes begin at `start` in the batch and end where the batch ends.
    fn push(&self, batch: &mut Batch, kind: RecordKind, source: SourceSpan, start: usize) {
        batch.records.push(Record {
            kind,
            source,
            bytes: start..batch.bytes.len(),
            notice: None,
            retracts: false,
            number: self.row + 1,
            origin: self.origin.clone(),
        });
    }

    /// Appends the values of a row as lines to the lines of other columns, which have the length
    /// `length`, as far as a document may have them. Returns what [`Chosen::texts`] does.
    fn take_text(
        &self,
        (chosen, at, columns): (&Chosen, usize, &[Column]),
        length: &mut Option<u64>,
        (out, start): (&mut Vec<u8>, usize),
        marks: &mut Marks,
    ) -> (bool, usize) {
        let limit = self.config.max_document.0;
        let add = |bytes: &[u8], out: &mut Vec<u8>| {
            let room = limit.saturating_sub((out.len() - start) as u64);
            let n = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            append(out, &bytes[..n]);
        };
        chosen.texts(at, columns, |bytes| {
            if is_null(&self.config.null, bytes) {
                return;
            }
            marks.add(&out[start..], chosen.html);
            if length.is_some() {
                add(b"\n", out);
            }
            let before = length.map_or(0, |length| length + 1);
            *length = Some(before + bytes.len() as u64);
            add(bytes, out);
        })
    }
}
