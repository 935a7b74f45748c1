//! Input files written again, with some of their records removed or changed.
//!
//! # In and out
//! In: input files, and an `Edit` that says what happens to their records. Out: each file again,
//! in its format and compression, in a directory that mirrors the inputs; if wanted, the removed
//! records in another directory with the same layout.
//!
//! # Algorithm
//! 1. Each thread takes consecutive files (`files`), and waits until there is memory for a copy.
//! 2. A file that does not change is copied byte by byte, or linked.
//! 3. The records of other files are copied one by one (`copy`), the rows of Parquet files row
//!    group by row group (`parquet`).
//!
//! # Invariants
//! - The output depends on the inputs and the edit alone, not on threads and memory.
//! - Every byte outside of removed and changed records is kept, except for separators (`copy`).
//! - A file gets its name when it is complete, and nothing is ever overwritten, except by the same
//!   bytes (`output`).
//!
//! # Errors
//! `InputChanged` if a record is not where the edit says; `Other` for damaged Parquet files; `Io`.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod again;
pub mod annotate;
mod batch;
mod copy;
mod encode;
pub mod files;
mod finished;
mod log;
mod lzw;
pub mod objects;
pub mod output;
pub mod parquet;
pub mod source;

pub use parquet::parquet_again;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use again::is_regular;
use annotate::Annotation;
use copy::{Failed, Layout};
use encode::Encoder;
use lookalike_base::{Context, Credit, Error, Result};
use lookalike_source::{Codec, Decompressed};
use lookalike_store::disk;
use lookalike_text::read::{Container, FileRecords, InputFile, ReadConfig, Reference};
use output::{OutputDirectory, OutputFile};
use source::{Source, copy_whole, is_parquet};

const STAGE: &str = "write";
/// Memory for a finished file of an output directory, by its name, length and checksum.
pub const FINISHED_BYTES: u64 = 200;
/// Memory for the buffers of readers and writers.
pub const FIXED_BYTES: u64 = 24 << 20;
/// Memory of one copy, without its compressors and decompressor.
const COPY_BYTES: u64 = 4 << 20;
/// Memory of a copy of a Parquet file: what the writer collects of a column.
const ROWS_BYTES: u64 = 96 << 20;

/// The decision about a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It is kept.
    Keep,
    /// It is removed.
    Remove,
    /// It is kept with an annotation. It must be a JSON object or a row of a Parquet file.
    Annotate(Annotation),
    /// It is removed, and a `revisit` record takes its place. It must be a record of a WARC file.
    Revisit(Reference),
    /// The edit makes other bytes of it ([`FileEdit::record`], [`FileEdit::value`]), which are kept
    /// or not.
    Change {
        /// Whether the record is kept.
        kept: bool,
    },
}

impl Action {
    fn keeps(&self) -> bool {
        !matches!(
            self,
            Action::Remove | Action::Revisit(_) | Action::Change { kept: false }
        )
    }
}

/// A record, by its place in the decompressed bytes of its file, or by its rows in a Parquet file.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub offset: u64,
    pub length: u64,
    pub action: Action,
}

/// How the records of one file are written again.
pub trait FileEdit {
    /// The next record, in order. Bytes and rows between these records are kept.
    fn next(&mut self) -> Result<Option<Span>>;

    /// The bytes that take the place of the last record, if its action is [`Action::Change`].
    fn record(&mut self, bytes: Vec<u8>, _is_json: bool) -> Result<Vec<u8>> {
        Ok(bytes)
    }

    /// The columns of a Parquet file whose values change, among its leaf columns.
    fn columns(&self) -> &[usize] {
        &[]
    }

    /// The new value of a row in one of [`FileEdit::columns`], given by its number among these. The
    /// old value is empty if it is null. The columns of a row group are written one after the
    /// other, and each asks once for each of its rows with [`Action::Change`], in order.
    fn value(&mut self, _column: usize, _row: u64, old: &[u8]) -> Result<Vec<u8>> {
        Ok(old.to_vec())
    }

    /// Called after the last record, before the copy gets its name.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A file that is written again.
#[derive(Clone, Copy)]
pub struct Target<'i> {
    /// Its number among the inputs.
    pub number: u32,
    pub input: &'i InputFile,
    pub is_parquet: bool,
    /// Whether its copy is in its place, from an earlier command.
    pub is_there: bool,
}

impl Target<'_> {
    /// Begins its copy in a directory.
    fn create(self, output: &OutputDirectory) -> Result<OutputFile> {
        match self.is_there {
            true => Ok(output.nothing(&self.input.docno)),
            false => output.create_copy(self.input, self.number),
        }
    }
}

/// How input files are written again.
pub trait Edit: Sync {
    /// The facts about the records of consecutive files.
    type Records;
    /// The edit of a file.
    type File<'f>: FileEdit
    where
        Self: 'f;

    /// Begins with the records of a file.
    fn open(&self, file: u32) -> Self::Records;

    /// Whether a record of a file is removed or changed. If not, the file is copied unchanged.
    fn changes(&self, file: u32, records: &mut Self::Records) -> Result<bool>;

    /// The edit of a file. It may take from `memory` what it gives back before it returns.
    fn file<'f>(
        &'f self,
        target: Target<'f>,
        records: &'f mut Self::Records,
        memory: &Credit,
    ) -> Result<Self::File<'f>>;

    /// Memory for the edit of a file.
    fn memory(&self, _file: u32, _is_parquet: bool) -> u64 {
        0
    }

    /// Whether the records of a file are edited again, for their counts, if its copy is in its
    /// place.
    fn edits_again(&self) -> bool {
        false
    }
}

/// Input files, and where their copies are written.
pub struct Job<'j> {
    pub inputs: &'j [InputFile],
    /// The first file that is written.
    pub first: u32,
    pub read: &'j ReadConfig,
    pub kept: &'j OutputDirectory,
    /// Gets the removed records.
    pub removed: Option<&'j OutputDirectory>,
    /// Whether the actions are annotations.
    pub annotated: bool,
    /// Whether files that do not change are linked, if the file system can.
    pub link: bool,
    /// Bytes of memory for all threads together.
    pub memory: u64,
    pub context: &'j Context<'j>,
}

/// Writes every file that is not in its place yet. Returns the number of files that do not change.
pub fn rewrite<E: Edit>(job: &Job<'_>, edit: &E) -> Result<u64> {
    let running = Running {
        job,
        edit,
        memory: Credit::new(job.memory),
        whole: AtomicU64::new(0),
    };
    files::each(
        "write",
        (job.inputs, job.first),
        |file| edit.open(file),
        |file, input, records| running.file(file, input, records),
        job.context,
    )?;
    Ok(running.whole.into_inner())
}

/// Memory of a thread that copies a file of this compression to this number of outputs.
fn memory_of(codec: Codec, outputs: u64) -> u64 {
    COPY_BYTES + outputs * Encoder::<io::Sink>::memory(codec)
}

/// The least memory with which each of the inputs can be copied. Looks at the inputs only if there
/// may not be enough for the largest compressor.
pub fn least_memory(inputs: &[InputFile], outputs: u64, there: u64) -> u64 {
    let most = memory_of(Codec::Xz, outputs);
    if there >= most {
        return most;
    }
    let mut least = memory_of(Codec::None, outputs);
    let readable = |input: &&InputFile| input.problem.is_none() && is_regular(&input.path);
    for input in inputs.iter().filter(readable) {
        // A file that cannot be opened is either not copied, or it fails when it is copied.
        if let Ok(content) = Decompressed::open_input(&input.path) {
            least = least.max(memory_of(content.codec(), outputs));
        }
    }
    least
}

struct Running<'r, E> {
    job: &'r Job<'r>,
    edit: &'r E,
    memory: Credit,
    whole: AtomicU64,
}

impl<E: Edit> Running<'_, E> {
    fn file(&self, number: u32, input: &InputFile, records: &mut E::Records) -> Result<()> {
        // An input that could not be opened is a reject without bytes.
        if input.problem.is_some() {
            return Ok(());
        }
        input.check_path()?;
        if !self.edit.changes(number, records)? {
            self.whole.fetch_add(1, Ordering::Relaxed);
            return self.whole_file(number, input);
        }
        match is_parquet(&input.path)? {
            true => self.row_outputs(number, input),
            false => self.records(number, input, records),
        }
    }

    fn whole_file(&self, number: u32, input: &InputFile) -> Result<()> {
        let (kept, name) = (self.job.kept, &input.docno);
        if kept.has(name)? {
            return Ok(());
        }
        if !(self.job.link && kept.link(&input.path, name, number)?) {
            let _memory = self.memory.hold(COPY_BYTES + kept.memory(input));
            let mut out = kept.create_copy(input, number)?;
            copy_whole(&input.path, &mut out, self.job.context)?;
            out.finish()?;
        }
        input.check_path()
    }

    /// Writes the removed rows of a Parquet file, and then the kept ones.
    fn row_outputs(&self, number: u32, input: &InputFile) -> Result<()> {
        let removed = self.job.removed.map(|removed| (removed, true));
        for (output, removed) in removed.into_iter().chain([(self.job.kept, false)]) {
            let is_there = output.has(&input.docno)?;
            if is_there && !self.edit.edits_again() {
                continue;
            }
            let editing = self.edit.memory(number, true);
            let writing = ROWS_BYTES + output.memory(input);
            let _memory = self.memory.hold(COPY_BYTES + writing + editing);
            let target = Target {
                number,
                input,
                is_parquet: true,
                is_there,
            };
            let mut records = self.edit.open(number);
            let mut edit = self.edit.file(target, &mut records, &self.memory)?;
            let mut out = target.create(output)?;
            if !is_there {
                self.rows(target, (&mut out, removed), &mut edit)?;
            }
            edit.finish()?;
            out.finish()?;
        }
        Ok(())
    }

    fn rows(
        &self,
        target: Target<'_>,
        (out, removed): (&mut OutputFile, bool),
        edit: &mut dyn FileEdit,
    ) -> Result<()> {
        let input = target.input;
        let to = out.path.clone();
        let source = parquet::Source {
            file: Arc::new(disk::open_regular(&input.path)?),
            path: &input.path,
            to: &to,
        };
        let mut rows = parquet::Rows::new(edit);
        (rows.removed, rows.annotated) = (removed, self.job.annotated);
        let stop = self.job.context.stop;
        parquet::copy(&source, out, &mut rows, stop)?;
        stop.check(STAGE)?;
        input.check_path()
    }

    /// Writes the records of a file of any other format.
    fn records(&self, number: u32, input: &InputFile, records: &mut E::Records) -> Result<()> {
        let (job, name) = (self.job, &input.docno);
        let removed_is_there = job.removed.map(|removed| removed.has(name)).transpose()?;
        let target = Target {
            number,
            input,
            is_parquet: false,
            is_there: job.kept.has(name)? && removed_is_there != Some(false),
        };
        let mut edit = self.edit.file(target, records, &self.memory)?;
        if target.is_there && !self.edit.edits_again() {
            return Ok(());
        }
        let mut source = Source::open(&input.path)?;
        let content = &source.decompressed;
        let outputs = 1 + u64::from(job.removed.is_some());
        let sending = job.kept.memory(input) + job.removed.map_or(0, |to| to.memory(input));
        let bytes = memory_of(content.codec(), outputs) + content.source.memory + sending;
        let _memory = self.memory.hold(bytes + self.edit.memory(number, false));
        let (mut kept, kept_path) = encoder(content, job.kept, target)?;
        let removed = job.removed.map(|removed| encoder(content, removed, target));
        let (mut removed, removed_path) = removed.transpose()?.unzip();
        let layout = self.layout(target)?;
        let copied = copy::copy(&mut source, &mut edit, &mut kept, removed.as_mut(), layout);
        let lone = copied.map_err(|failed| match failed {
            Failed::Keeping(error) => Error::io("write", &kept_path)(error),
            Failed::Removing(error) => {
                Error::io("write", removed_path.as_deref().unwrap_or(&kept_path))(error)
            }
            failed => failed.about(input),
        })?;
        input.check_path()?;
        if let Some(damage) = &source.damage {
            let path = input.path.display();
            let line = format!("{path}: the damaged part cannot be copied ({damage})");
            job.context.progress.note(&line);
        }
        edit.finish()?;
        if let (Some(removed), Some(path)) = (removed, &removed_path) {
            let out = removed.finish().map_err(Error::io("write", path))?;
            out.finish()?;
        }
        let out = kept.finish().map_err(Error::io("write", &kept_path))?;
        // A file that is one document, which is removed, has no kept file.
        if lone { out.discard() } else { out.finish() }
    }

    fn layout(&self, target: Target<'_>) -> Result<Layout> {
        let Target { number, input, .. } = target;
        let stop = self.job.context.stop;
        let mut records = FileRecords::open(input, number, self.job.read, STAGE, stop);
        let container = records.container()?;
        let header = match container {
            Some(Container::Table) => records.reader.header,
            _ => 0,
        };
        Ok(Layout { container, header })
    }
}

/// A copy in the encoding and the compression of its input, and its path. Nothing is compressed if
/// the copy is in its place.
fn encoder(
    content: &Decompressed,
    output: &OutputDirectory,
    target: Target<'_>,
) -> Result<(Encoder<OutputFile>, PathBuf)> {
    let codec = match target.is_there {
        true => Codec::None,
        false => content.codec(),
    };
    let out = target.create(output)?;
    let path = out.path.clone();
    let encoder = Encoder::like(content, out, codec);
    Ok((encoder.map_err(Error::io("write", &path))?, path))
}

impl Failed {
    /// The error of a copy of this input.
    fn about(self, input: &InputFile) -> Error {
        match self {
            Failed::Reading(error) | Failed::Keeping(error) | Failed::Removing(error) => {
                Error::io("read", &input.path)(error)
            }
            Failed::Place(offset) => Error::InputChanged {
                path: input.path.clone(),
                expected: format!("a record at byte {offset} of its content"),
                found: "the end of the file, or other records".into(),
            },
            Failed::NotAnObject(offset) => Error::BadParameter {
                name: "annotate",
                given: input.path.display().to_string(),
                limit: format!(
                    "its record at byte {offset} is not a JSON object; write lists with --ids-only"
                ),
            },
            Failed::Edit(error) => error,
        }
    }
}
