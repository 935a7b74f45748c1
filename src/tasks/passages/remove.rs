//! Copies of the inputs without removable text.
//!
//! # In and out
//! In: a collection with [`super::REMOVABLE_FILE`], and the inputs that it was read from. Out: each
//! input file again, in its format and compression, without the removable text; if wanted, for each
//! input file that loses text a file with what it lost ([`REMOVED_ENDING`]).
//!
//! # Algorithm
//! 1. One pass over the documents of the collection finds the files that change.
//! 2. Each input file is copied as `dedup` copies it ([`crate::tasks::dedup`]). A file that does not
//!    change is copied as it is.
//! 3. A record that changes is in memory as a whole. `cuts` decides what goes of its text, and the
//!    same bytes go from the record: of a JSON object from the strings of its text, of a row of
//!    Parquet from the values of its columns of text. A passage may go on from one string or column
//!    into the next one: each loses its part, and what is between them stays.
//!
//! # Invariants
//! - Records without removable text, and all bytes of other records outside of their text, stay.
//! - The kept text is the text as read without the ranges that the side files list, with a space
//!   where they say so.
//! - What is written depends on inputs and parameters alone. The directories follow the rules of
//!   those of `dedup`.
//!
//! # Cost
//! The inputs are read once more. Memory: 424 bytes an input file; for each thread its compressor
//! and 8 times the largest record that changes, of Parquet 1.5 times `--max-document`. A thread
//! waits until there is memory for its file. If the text has several columns, what the later ones
//! lose of a row group waits in a temporary file (`later`).
//!
//! # Errors
//! `BadParameter` for texts that cannot be rewritten: markup, texts that are not UTF-8, and formats
//! other than JSON, Parquet and plain text; `InputChanged`; `BudgetTooSmall`; `Corrupt`.

mod later;

use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::cuts::{Align, TextCut, cuts};
use super::removable::{FileRanges, Ranges, Removable};
use super::{REMOVABLE_FILE, STAGE};
use crate::base::budget::ByteSize;
use crate::base::progress::Context;
use crate::engine::collection::{self, CollectionConfig, InputRecord, InputRecords};
use crate::store::disk::{self, SharedFile};
use crate::store::workspace::{Cost, Meter, Workspace};
use crate::tasks::dedup::write;
use crate::tasks::dedup::{self, Empty};
use crate::text::parse::Parser;
use crate::text::read::parquet::columns::text_columns;
use crate::text::read::parquet::footer;
use crate::text::read::parquet::pages::ReadAt;
use crate::text::read::{
    Batch, Codec, Container, ContentKind, Cut, InputFile, Interpreted, JsonStrings, RawDocument,
    ReadConfig, RecordKind, RecordReader, document_of, interpret, is_markup_by_name,
};
use crate::text::rewrite::copy::{Failed, Removed, Span, copy_rewriting};
use crate::text::rewrite::encode::Encoder;
use crate::text::rewrite::files::Shared;
use crate::text::rewrite::output::{OutputDirectory, OutputFile};
use crate::text::rewrite::parquet::{self, Texts};
use crate::text::rewrite::source::{self, Source};
use crate::{Error, Result};

use later::Later;

/// What the name of a file with removed text has behind the name of the input.
pub const REMOVED_ENDING: &str = ".removed.jsonl";

/// Memory for each byte of a record that changes: the record, its strings, its text as the reader
/// finds it and as it is read, the record again, a line of removed text, and ranges.
const RECORD_BYTES: u64 = 8;

/// The memory of a row of Parquet that is larger is given back before its new values are made.
const ROW_BYTES: usize = 1 << 20;

/// Parameters of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RemovalConfig {
    /// What is removed as a whole.
    pub align: Align,
    /// What becomes of documents without tokens, and of those of which no token stays.
    pub empty: Empty,
}

/// Counts of a removal.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RemovalSummary {
    /// Documents of the collection.
    pub documents: u64,
    /// Documents that lose text.
    pub changed: u64,
    /// Documents of which no token stays.
    pub emptied: u64,
    /// Documents that are left out: those, and documents that had no token.
    pub dropped: u64,
    /// Ranges of text that are removed.
    pub ranges: u64,
    /// Tokens in them.
    pub removed_tokens: u64,
    /// Bytes in them.
    pub removed_bytes: u64,
    /// Input files.
    pub files: u64,
    /// Input files that lose nothing.
    pub whole_files: u64,
    /// What it cost.
    #[serde(skip)]
    pub cost: Cost,
}

impl RemovalSummary {
    fn add(&mut self, part: &RemovalSummary) {
        self.documents += part.documents;
        self.changed += part.changed;
        self.emptied += part.emptied;
        self.dropped += part.dropped;
        self.ranges += part.ranges;
        self.removed_tokens += part.removed_tokens;
        self.removed_bytes += part.removed_bytes;
        self.whole_files += part.whole_files;
    }
}

/// A line of a file with removed text.
#[derive(Serialize)]
struct RemovedLine<'l> {
    file: &'l str,
    record: u64,
    docno: &'l str,
    begin_byte: usize,
    end_byte: usize,
    begin_token: u32,
    end_token: u32,
    /// Whether a space takes the place of the text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    space: bool,
    text: &'l str,
}

fn refuse<T>(given: &Path, limit: impl Into<String>) -> Result<T> {
    Err(Error::BadParameter {
        name: "remove",
        given: given.display().to_string(),
        limit: limit.into(),
    })
}

/// Refuses inputs and directories that [`remove`] would refuse, before the inputs are read.
///
/// # Errors
/// `BadParameter`.
pub fn check_before_removal(
    inputs: &[PathBuf],
    work: &Path,
    outputs: (&Path, Option<&Path>),
) -> Result<()> {
    if inputs.iter().any(|input| input.as_os_str() == "-") {
        return Err(dedup::standard_input());
    }
    dedup::check_outputs(inputs, work, outputs)
}

/// Refuses inputs from whose formats no text can be removed.
///
/// # Errors
/// `BadParameter`; `Io`.
pub fn check_removal_inputs(
    inputs: &[InputFile],
    read: &ReadConfig,
    context: &Context<'_>,
) -> Result<()> {
    const ADVICE: &str = "leave the file out (--exclude), or use removable.tsv without --remove";
    dedup::check_names(inputs)?;
    let field = read.text_field.as_deref().unwrap_or_default();
    if field.split(['.', ',']).any(|name| name == "html") {
        return Err(Error::BadParameter {
            name: "text-field",
            given: field.into(),
            limit: format!("a field html is read as markup; {MARKUP}"),
        });
    }
    for input in inputs {
        context.stop.check(STAGE)?;
        let mut reader = RecordReader::open(input, 0, read, context.stop);
        let container = reader.container();
        if let Some(error) = reader.failure() {
            return Err(error).map_err(Error::io("read", &input.path));
        }
        match container {
            None => {}
            Some(Container::Json) => check_first(&mut reader, input, read)?,
            Some(Container::Plain) if is_markup_by_name(&input.docno, read) => {
                return refuse(&input.path, format!("it is markup; {MARKUP}, or {ADVICE}"));
            }
            Some(Container::Plain) => {}
            Some(Container::Elements) => {
                return refuse(
                    &input.path,
                    format!("its elements are markup; {MARKUP}, or {ADVICE}"),
                );
            }
            Some(Container::Parquet) => {
                let file: Arc<dyn ReadAt> =
                    Arc::new(SharedFile::new(disk::open_regular(&input.path)?));
                parquet::refuse_encrypted(&*file, &input.path)?;
                // A damaged file has no documents.
                if let Ok(footer) = footer(&*file, None)
                    && let Err(why) = text_columns(footer.file_metadata().schema_descr(), read)
                {
                    let limit = format!(
                        "{why}; text is removed from columns of strings of any length; name them \
                         with --text-field, or {ADVICE}"
                    );
                    return refuse(&input.path, limit);
                }
                check_first(&mut reader, input, read)?;
            }
            Some(other) => {
                let limit = format!(
                    "its format is {}, and text is removed from JSON, Parquet and plain text only; \
                     {ADVICE}",
                    other.text()
                );
                return refuse(&input.path, limit);
            }
        }
    }
    Ok(())
}

/// Refuses an input whose first document is markup: most others then are, too, and would be refused
/// only after the search.
fn check_first(reader: &mut RecordReader, input: &InputFile, read: &ReadConfig) -> Result<()> {
    let mut batch = Batch::default();
    for _ in 0..FIRST_RECORDS {
        batch.clear();
        if !reader.next_into(&mut batch) {
            break;
        }
        let Some(record) = batch.records.first() else {
            break;
        };
        let bytes = batch.bytes.get(record.bytes.clone()).unwrap_or_default();
        if let Interpreted::Document(raw) = interpret(record, bytes, read) {
            if raw.content == ContentKind::Markup {
                let limit = format!("its document {} is markup; {MARKUP}", raw.docno);
                return refuse(&input.path, limit);
            }
            break;
        }
    }
    Ok(())
}

/// Records among which the first document of an input is looked for.
const FIRST_RECORDS: usize = 16;

/// What to do about markup.
const MARKUP: &str = "its text as read is not a part of the file, so no part of the file can be \
                      removed; extract the text first";

/// Refuses a collection or directories that [`remove`] would refuse, before the search. Returns the
/// inputs.
///
/// # Errors
/// `BadParameter`; those of reading.
pub fn check_removal(
    workspace: &Workspace,
    outputs: (&Path, Option<&Path>),
    context: &Context<'_>,
) -> Result<Vec<InputFile>> {
    let inputs = dedup::inputs_of(workspace)?;
    dedup::check_places(workspace, &inputs, outputs)?;
    let collection = collection::config(&workspace.manifest);
    check_removal_inputs(&inputs, &collection.read, context)?;
    // Neither directory is begun if the other one is refused.
    let (kept, removed) = outputs;
    for (parameter, output) in [("output", Some(kept)), ("removed", removed)] {
        output
            .map(|output| OutputDirectory::look(output, parameter))
            .transpose()?;
    }
    Ok(inputs)
}

/// Writes the inputs of a collection again to `kept`, without the text that is removable of them by
/// the search `sought`. What is removed goes to `removed`.
///
/// # Errors
/// As the module says; `BadParameter` if an output directory is not empty.
pub fn remove(
    workspace: &Workspace,
    sought: &impl Serialize,
    config: &RemovalConfig,
    (kept, removed): (&Path, Option<&Path>),
    context: &Context<'_>,
) -> Result<RemovalSummary> {
    let meter = Meter::start();
    let inputs = check_removal(workspace, (kept, removed), context)?;
    let collection = collection::config(&workspace.manifest);
    collection.shingle.parse.check_rule(workspace.directory())?;
    let removable = Removable::open(workspace, &inputs, context)?;

    let files = inputs.len() as u64;
    let tables = Removable::bytes(files) + files * 2 * dedup::FINISHED_BYTES;
    let fixed = dedup::FIXED_BYTES + tables + removable.largest().saturating_mul(RECORD_BYTES);
    let there = context.budget.memory.0.saturating_sub(fixed);
    let least = ByteSize(fixed + write::least_memory(&inputs, 1, there));
    context
        .budget
        .require(least, || "writing the inputs again".into())?;
    let spare = context.budget.memory.0 - dedup::FIXED_BYTES - tables;

    let digest = digest(workspace, sought, config, removed.is_some())?;
    let kept = OutputDirectory::open(kept, "output", &digest)?;
    let removed = removed.map(|removed| OutputDirectory::open(removed, "removed", &digest));
    let removed = removed.transpose()?;
    let names: Vec<_> = inputs.iter().map(|input| &*input.docno).collect();
    let files_of = |ending| names.iter().map(move |name| format!("{name}{ending}"));
    for (output, ending) in [(Some(&kept), ""), (removed.as_ref(), REMOVED_ENDING)] {
        let Some(output) = output else { continue };
        let names: Vec<String> = files_of(ending).collect();
        let names: Vec<_> = names.iter().map(|name| (&name[..], None)).collect();
        output.check_files(&names, context.budget.threads, context)?;
        output.begin()?;
    }
    let removal = Removal {
        workspace,
        collection,
        removable: &removable,
        config,
        kept: &kept,
        removed: removed.as_ref(),
    };
    let summary = Mutex::new(RemovalSummary {
        files,
        ..RemovalSummary::default()
    });
    let memory = Shared::new(spare);
    dedup::each_file(
        "write",
        (workspace, &inputs),
        context,
        |file, input, entries| {
            let part = removal.write_file(file, input, (entries, &memory), context)?;
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            summary.add(&part);
            Ok(())
        },
    )?;
    kept.complete()?;
    if let Some(removed) = &removed {
        removed.complete()?;
    }
    let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.cost = meter.cost();
    Ok(summary)
}

/// Digest of everything that decides what is written.
fn digest(
    workspace: &Workspace,
    sought: &impl Serialize,
    config: &RemovalConfig,
    removed: bool,
) -> Result<String> {
    let inputs = &workspace.manifest.inputs.list.checksum;
    let collection = &workspace.manifest.collection_digest;
    let all = (STAGE, inputs, collection, sought, config, removed);
    let path = workspace.directory().join(REMOVABLE_FILE);
    let bytes = crate::store::to_json(&all, &path)?;
    Ok(format!("{:032x}", xxh3_128(&bytes)))
}

/// What the writing pass works with.
struct Removal<'p> {
    workspace: &'p Workspace,
    collection: &'p CollectionConfig,
    removable: &'p Removable,
    config: &'p RemovalConfig,
    kept: &'p OutputDirectory,
    removed: Option<&'p OutputDirectory>,
}

/// A document of a file, and what is removable of it.
#[derive(Clone, Debug, Default)]
struct Document {
    record: u64,
    docno: String,
    words: u64,
    offset: u64,
    length: u64,
    ranges: Ranges,
}

impl Document {
    /// Whether no token of it stays.
    fn is_emptied(&self) -> bool {
        self.words > 0 && self.ranges.tokens == self.words
    }
}

/// The documents of a file, in order.
struct Documents<'e, 'p> {
    entries: &'e mut InputRecords<'p>,
    file: u32,
    record: u64,
    ranges: FileRanges,
}

impl Documents<'_, '_> {
    fn next(&mut self) -> Result<Option<Document>> {
        while let Some(entry) = self.entries.next_of(self.file)? {
            self.record += 1;
            if let InputRecord::Document(_, document) = entry {
                return Ok(Some(Document {
                    record: self.record,
                    words: document.words,
                    offset: document.offset,
                    length: document.length,
                    docno: document.docno,
                    ranges: self.ranges.of(self.record)?,
                }));
            }
        }
        Ok(None)
    }
}

impl<'p> Removal<'p> {
    fn documents<'e>(
        &self,
        entries: &'e mut InputRecords<'p>,
        file: u32,
        input: &InputFile,
    ) -> Result<Documents<'e, 'p>> {
        Ok(Documents {
            entries,
            file,
            record: 0,
            ranges: self.removable.reader(file, input)?,
        })
    }

    /// Whether a document is left out.
    fn is_dropped(&self, document: &Document) -> bool {
        self.config.empty == Empty::Drop && (document.words == 0 || document.is_emptied())
    }

    fn write_file(
        &self,
        file: u32,
        input: &InputFile,
        (entries, memory): (&mut InputRecords<'p>, &Shared),
        context: &Context<'_>,
    ) -> Result<RemovalSummary> {
        // An input that could not be opened is a reject without bytes.
        if input.problem.is_some() {
            return Ok(RemovalSummary::default());
        }
        input.check_path()?;
        let needs = self.removable.of(file);
        let drops = needs.wordless && self.config.empty == Empty::Drop;
        let summary = if !needs.is_removable() && !drops {
            let _memory = memory.take(write::COPY_BYTES);
            self.copy_whole(file, input, entries, context)?
        } else if source::is_parquet(&input.path)? {
            let read = &self.collection.read;
            let rows = read.max_document.0.saturating_mul(3) / 2;
            let paths = read.text_field.iter().flat_map(|paths| paths.split(','));
            let later = paths.count() as u64 * Later::BYTES;
            let _memory = memory.take(write::COPY_BYTES + write::ROWS_BYTES + rows + later);
            self.write_rows(file, input, entries, context)?
        } else {
            let record = needs.largest.saturating_mul(RECORD_BYTES);
            self.write_records(file, input, entries, (memory, record), context)?
        };
        input.check_path()?;
        Ok(summary)
    }

    fn copy_whole(
        &self,
        file: u32,
        input: &InputFile,
        entries: &mut InputRecords<'p>,
        context: &Context<'_>,
    ) -> Result<RemovalSummary> {
        let mut summary = RemovalSummary {
            whole_files: 1,
            ..RemovalSummary::default()
        };
        while let Some(entry) = entries.next_of(file)? {
            summary.documents += u64::from(matches!(entry, InputRecord::Document(..)));
        }
        if !self.kept.has(&input.docno)? {
            let mut out = self.kept.create(&input.docno, file)?;
            source::copy_whole(&input.path, &mut out, context)?;
            out.finish()?;
        }
        Ok(summary)
    }

    /// Where the removed text of a file goes.
    fn side(&self, file: u32, input: &InputFile) -> Result<Side<'p>> {
        let name = format!("{}{REMOVED_ENDING}", input.docno);
        let directory = match self.removed {
            Some(directory) if !directory.has(&name)? => Some(directory),
            _ => None,
        };
        Ok(Side {
            directory,
            name,
            number: file,
            out: None,
        })
    }

    fn cutter<'i>(&self, file: u32, input: &'i InputFile) -> Result<Cutter<'p, 'i>> {
        Ok(Cutter {
            collection: self.collection,
            config: self.config,
            input,
            parser: Parser::new(&self.collection.shingle.parse),
            text: String::new(),
            side: self.side(file, input)?,
            summary: RemovalSummary::default(),
        })
    }

    /// Writes a file of JSON, or one that is a plain text.
    fn write_records(
        &self,
        file: u32,
        input: &InputFile,
        entries: &mut InputRecords<'p>,
        (memory, record): (&Shared, u64),
        context: &Context<'_>,
    ) -> Result<RemovalSummary> {
        let read = &self.collection.read;
        let is_json = RecordReader::open(input, file, read, context.stop).container()
            == Some(Container::Json);
        let mut source = Source::open(&input.path)?;
        let codec = source.decompressed.codec();
        let decoder = source.decompressed.memory();
        let _memory = memory.take(write::memory_of(codec, 1) + decoder + record);
        // A file that is in its place is made again, without being written, for the counts.
        let is_there = self.kept.has(&input.docno)?;
        let out = match is_there {
            true => Target::Nothing,
            false => Target::File(Box::new(self.kept.create(&input.docno, file)?)),
        };
        let path = self.kept.path(&input.docno);
        let codec = if is_there { Codec::None } else { codec };
        let kept = Encoder::like(&source.decompressed, out, codec);
        let mut kept = kept.map_err(Error::io("write", &path))?;
        let mut documents = self.documents(entries, file, input)?;
        let cutter = RefCell::new(self.cutter(file, input)?);
        let current = RefCell::new(Document::default());
        let spans = std::iter::from_fn(|| {
            let document = match documents.next() {
                Ok(document) => document?,
                Err(error) => return Some(Err(error)),
            };
            if let Err(error) = context.stop.check(STAGE) {
                return Some(Err(error));
            }
            let dropped = self.is_dropped(&document);
            cutter.borrow_mut().count(&document, dropped);
            let span = Span {
                offset: document.offset,
                length: document.length,
                kept: !dropped,
                member: None,
                revisit: None,
                rewritten: !document.ranges.bytes.is_empty(),
            };
            *current.borrow_mut() = document;
            Some(Ok(span))
        });
        let mut rewrite = |_: &Span, bytes: Vec<u8>| {
            let document = current.borrow();
            cutter.borrow_mut().record(&document, bytes, is_json)
        };
        let removed = (Removed::Nowhere, None);
        let copied = copy_rewriting(&mut source, spans, &mut kept, removed, &mut rewrite);
        let lone = copied.map_err(|failed| match failed {
            Failed::Reading(error) => Error::io("read", &input.path)(error),
            Failed::Keeping(error) | Failed::Removing(error) => Error::io("write", &path)(error),
            Failed::Place(offset) | Failed::NotAnObject(offset) => Error::InputChanged {
                path: input.path.clone(),
                expected: format!("a record at byte {offset} of its content"),
                found: "the end of the file, or other records".into(),
            },
            Failed::Span(error) => error,
        })?;
        input.check_path()?;
        if let Some(damage) = &source.damage {
            let line = format!(
                "{}: the damaged part cannot be copied ({damage})",
                input.path.display()
            );
            context.progress.note(&line);
        }
        let summary = cutter.into_inner().finish()?;
        let out = kept.finish().map_err(Error::io("write", &path))?;
        if let Target::File(out) = out {
            // A file that is one document, which is left out, has no kept file.
            if lone { out.discard() } else { out.finish() }?;
        }
        Ok(summary)
    }

    /// Writes a Parquet file.
    fn write_rows(
        &self,
        file: u32,
        input: &InputFile,
        entries: &mut InputRecords<'p>,
        context: &Context<'_>,
    ) -> Result<RemovalSummary> {
        let read = &self.collection.read;
        let mut rows = Rows {
            removal: self,
            documents: self.documents(entries, file, input)?,
            reader: RecordReader::open(input, file, read, context.stop),
            batch: Batch::default(),
            cutter: self.cutter(file, input)?,
            columns: Vec::new(),
            context,
        };
        if !self.kept.has(&input.docno)? {
            let opened: Arc<dyn ReadAt> =
                Arc::new(SharedFile::new(disk::open_regular(&input.path)?));
            let mut out = self.kept.create(&input.docno, file)?;
            let to = out.path().to_path_buf();
            let source = parquet::Source {
                file: opened.clone(),
                path: &input.path,
                to: &to,
            };
            let damaged = |what: String| Error::InputChanged {
                path: input.path.clone(),
                expected: "had columns of text".into(),
                found: what,
            };
            let footer = footer(&*opened, None).map_err(|error| damaged(error.to_string()))?;
            let columns = text_columns(footer.file_metadata().schema_descr(), read);
            let columns = columns.map_err(damaged)?;
            let scratch = self.workspace.scratch(context)?;
            let first = columns.iter().min();
            let later = columns.iter().map(|column| match Some(column) == first {
                true => Ok(None),
                false => Later::create(scratch.path()).map(Some),
            });
            rows.columns = later.collect::<Result<_>>()?;
            let mut entries = InputRecords::of_file(self.workspace, file);
            let fates = RefCell::new(Fates {
                removal: self,
                documents: self.documents(&mut entries, file, input)?,
                current: None,
                failed: None,
            });
            let keep = |row| fates.borrow_mut().of(row).0;
            let mut check = || {
                let failed = fates.borrow_mut().failed.take();
                failed.map_or_else(|| context.stop.check(STAGE), Err)
            };
            let mut texts = Texts {
                columns: &columns,
                changes: &mut |row| fates.borrow_mut().of(row).1,
                text: &mut |column, row, value| rows.text(column, row, value),
            };
            parquet::copy_with_texts(&source, &mut out, keep, &mut texts, &mut check)?;
            check()?;
            input.check_path()?;
            rows.until(u64::MAX)?;
            let summary = rows.cutter.finish()?;
            out.finish()?;
            return Ok(summary);
        }
        rows.until(u64::MAX)?;
        rows.cutter.finish()
    }
}

/// Which rows of a Parquet file stay, and which change.
struct Fates<'e, 'p> {
    removal: &'e Removal<'p>,
    documents: Documents<'e, 'p>,
    /// The last document: its row, whether it stays, and whether it changes.
    current: Option<(u64, bool, bool)>,
    failed: Option<Error>,
}

impl Fates<'_, '_> {
    /// Whether a row stays, and whether it changes; it is called with rising rows.
    fn of(&mut self, row: u64) -> (bool, bool) {
        while self.current.is_none_or(|(at, ..)| at < row) {
            match self.documents.next() {
                Ok(Some(document)) => {
                    let changes = !document.ranges.bytes.is_empty();
                    let stays = !self.removal.is_dropped(&document);
                    self.current = Some((document.offset, stays, changes));
                }
                Ok(None) => return (true, false),
                Err(error) => {
                    self.failed = Some(error);
                    return (true, false);
                }
            }
        }
        match self.current {
            Some((at, stays, changes)) if at == row => (stays, changes),
            _ => (true, false),
        }
    }
}

/// The new texts of the rows of a Parquet file.
struct Rows<'e, 'p, 'i, 'c> {
    removal: &'e Removal<'p>,
    documents: Documents<'e, 'p>,
    reader: RecordReader,
    batch: Batch,
    cutter: Cutter<'p, 'i>,
    /// For each column of the text, what it loses of the rows of the current row group; `None` for
    /// the column that is written first, of which nothing is kept. Empty if nothing is written.
    columns: Vec<Option<Later>>,
    context: &'c Context<'c>,
}

impl Rows<'_, '_, '_, '_> {
    /// The new value of a column of the text; for each column it is called with rising rows that
    /// change.
    fn text(&mut self, column: usize, row: u64, value: &[u8]) -> Result<Vec<u8>> {
        let cuts = match self.columns.get_mut(column) {
            Some(Some(later)) => later.take(value)?,
            _ => self
                .until(row)?
                .filter(|(checksum, _)| *checksum == xxh3_128(value))
                .map(|(_, cuts)| cuts),
        };
        match cuts {
            Some(cuts) => Ok(without(value, &cuts)),
            None => Err(self.cutter.changed(&format!("the text of row {row}"))),
        }
    }

    /// Cuts the documents up to a row. Returns the cuts of this row in the column that is written
    /// first, with a checksum of the value; those of the other columns are kept.
    fn until(&mut self, row: u64) -> Result<Option<(u128, Vec<Cut>)>> {
        while let Some(document) = self.documents.next()? {
            self.context.stop.check(STAGE)?;
            let dropped = self.removal.is_dropped(&document);
            self.cutter.count(&document, dropped);
            if document.ranges.bytes.is_empty() {
                continue;
            }
            let is_last = document.offset == row;
            let first = self.cut(&document, is_last)?;
            if is_last {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    /// Cuts a document. If it is `written`, the cuts of the columns that are written later are
    /// kept.
    fn cut(&mut self, document: &Document, written: bool) -> Result<(u128, Vec<Cut>)> {
        let changed = |cutter: &Cutter<'_, '_>| cutter.changed(&document.docno);
        loop {
            self.context.stop.check(STAGE)?;
            self.batch.clear();
            let more = self.reader.next_into(&mut self.batch);
            if let Some(error) = self.reader.failure() {
                return Err(error).map_err(Error::io("read", &self.cutter.input.path));
            }
            if !more {
                return Err(changed(&self.cutter));
            }
            let found = self.batch.records.first();
            if found.is_some_and(|record| record.source.offset >= document.offset) {
                break;
            }
        }
        let Some(record) = self.batch.records.first() else {
            return Err(changed(&self.cutter));
        };
        let bytes = self.batch.bytes.get(record.bytes.clone());
        let bytes = bytes.unwrap_or_default();
        let raw = match interpret(record, bytes, &self.cutter.collection.read) {
            Interpreted::Document(raw) if record.source.offset == document.offset => raw,
            _ => return Err(changed(&self.cutter)),
        };
        let parts = match &record.kind {
            RecordKind::Row(fields) if !fields.parts.is_empty() => &fields.parts[..],
            _ => &[Some(0..bytes.len())],
        };
        let value = |part: &Range<usize>| bytes.get(part.clone()).unwrap_or_default();
        let texts = parts.iter().flatten().map(value);
        let texts: Vec<_> = texts.map(String::from_utf8_lossy).collect();
        let mut cuts = self.cutter.cut(document, &raw, &texts)?.into_iter();
        let mut first = (0, Vec::new());
        for (column, part) in parts.iter().enumerate() {
            // A null value has no cuts.
            let (value, cuts) = match part {
                Some(part) => (value(part), cuts.next().unwrap_or_default()),
                None => Default::default(),
            };
            match self.columns.get_mut(column) {
                Some(Some(later)) if written => later.put(value, &cuts)?,
                Some(Some(_)) => {}
                _ => first = (xxh3_128(value), cuts),
            }
        }
        // The value of the column is in memory next.
        if bytes.len() > ROW_BYTES {
            self.batch = Batch::default();
            self.cutter.text = String::new();
            self.cutter.parser.shrink();
        }
        Ok(first)
    }
}

/// Where a copy goes.
enum Target {
    /// Nowhere.
    Nothing,
    File(Box<OutputFile>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Nothing => Ok(bytes.len()),
            Target::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The removed text of a file.
struct Side<'p> {
    /// `None` if the text is not wanted, or in its place.
    directory: Option<&'p OutputDirectory>,
    name: String,
    number: u32,
    out: Option<OutputFile>,
}

impl Side<'_> {
    fn put(&mut self, line: &RemovedLine<'_>) -> Result<()> {
        let Some(directory) = self.directory else {
            return Ok(());
        };
        let out = match &mut self.out {
            Some(out) => out,
            // The numbers of kept files are used in their own directory.
            None => self.out.insert(directory.create(&self.name, self.number)?),
        };
        let mut bytes = crate::store::to_json(line, out.path())?;
        bytes.push(b'\n');
        out.write_all(&bytes)
            .map_err(Error::io("write", out.path()))
    }
}

/// Cuts the texts of a file.
struct Cutter<'p, 'i> {
    collection: &'p CollectionConfig,
    config: &'p RemovalConfig,
    input: &'i InputFile,
    parser: Parser,
    /// The text of a document, as read.
    text: String,
    side: Side<'p>,
    summary: RemovalSummary,
}

impl Cutter<'_, '_> {
    fn count(&mut self, document: &Document, dropped: bool) {
        self.summary.documents += 1;
        self.summary.emptied += u64::from(document.is_emptied());
        self.summary.dropped += u64::from(dropped);
    }

    fn changed(&self, what: &str) -> Error {
        Error::InputChanged {
            path: self.input.path.clone(),
            expected: format!("had {what} as it was read"),
            found: "another text".into(),
        }
    }

    fn finish(self) -> Result<RemovalSummary> {
        if let Some(out) = self.side.out {
            out.finish()?;
        }
        Ok(self.summary)
    }

    /// What becomes of a record.
    fn record(&mut self, document: &Document, bytes: Vec<u8>, is_json: bool) -> Result<Vec<u8>> {
        let read = &self.collection.read;
        let Some(raw) = document_of(is_json, &self.input.docno, &bytes, read) else {
            return Err(self.changed(&document.docno));
        };
        if !is_json {
            return self.plain(document, &raw);
        }
        let strings = JsonStrings::find(&bytes, read).map_err(|error| {
            let limit = format!(
                "the text of {} cannot be found in its record again ({error}); name its field with \
                 --text-field",
                document.docno
            );
            Error::BadParameter {
                name: "remove",
                given: self.input.path.display().to_string(),
                limit,
            }
        })?;
        let parts = strings.decoded();
        let cuts = self.cut(document, &raw, &parts)?;
        Ok(strings.without(&cuts))
    }

    /// What becomes of a text that is one part.
    fn plain(&mut self, document: &Document, raw: &RawDocument<'_>) -> Result<Vec<u8>> {
        let text = String::from_utf8_lossy(&raw.body);
        let cuts = self.cut(document, raw, std::slice::from_ref(&text))?;
        Ok(without(&raw.body, cuts.iter().flatten()))
    }

    /// What is cut out of each part of a document's body; the parts are joined by line feeds.
    fn cut<S: AsRef<str>>(
        &mut self,
        document: &Document,
        raw: &RawDocument<'_>,
        parts: &[S],
    ) -> Result<Vec<Vec<Cut>>> {
        let about = |why: &str| {
            let limit = format!("{} of {}; {why}", document.docno, self.input.docno);
            Err(Error::BadParameter {
                name: "remove",
                given: self.input.path.display().to_string(),
                limit,
            })
        };
        if raw.content == ContentKind::Markup {
            return about(&format!("it is markup; {MARKUP}"));
        }
        self.text.clear();
        self.parser.text_as_read(raw, &mut self.text);
        // A byte order mark is not text.
        let skipped = raw.body.len().checked_sub(self.text.len());
        let Some(skipped) = skipped.filter(|_| raw.body.ends_with(self.text.as_bytes())) else {
            return about("it is not UTF-8; convert the file first");
        };
        let joined = parts
            .iter()
            .map(|part| part.as_ref().len() + 1)
            .sum::<usize>();
        let same = joined == raw.body.len() + 1 || parts.is_empty() && raw.body.is_empty();
        let mut begin = 0;
        let is_part = |part: &S| {
            let end = begin + part.as_ref().len();
            let same = raw.body.get(begin..end) == Some(part.as_ref().as_bytes());
            begin = end + 1;
            same
        };
        if !same || !parts.iter().all(is_part) {
            return Err(self.changed(&document.docno));
        }
        let (mut begin, mut token) = (0usize, 0u32);
        let mut all = Vec::new();
        let any = self.summary.ranges;
        for part in parts {
            let whole = part.as_ref();
            let hidden = skipped.saturating_sub(begin).min(whole.len());
            let text = whole.get(hidden..).unwrap_or_default();
            let first = (begin + hidden).saturating_sub(skipped);
            let within = within(&document.ranges.bytes, first..first + text.len());
            let parse = &self.collection.shingle.parse;
            let found = cuts(text, parse, &within, self.config.align);
            for TextCut { cut, tokens } in &found.cuts {
                let line = RemovedLine {
                    file: &self.input.docno,
                    record: document.record,
                    docno: &document.docno,
                    begin_byte: first + cut.range.start,
                    end_byte: first + cut.range.end,
                    begin_token: token + tokens.start,
                    end_token: token + tokens.end,
                    space: cut.space,
                    text: text.get(cut.range.clone()).unwrap_or_default(),
                };
                self.side.put(&line)?;
                self.summary.ranges += 1;
                self.summary.removed_tokens += u64::from(tokens.end - tokens.start);
                self.summary.removed_bytes += cut.range.len() as u64;
            }
            let shifted = found.cuts.into_iter().map(|TextCut { cut, .. }| Cut {
                range: cut.range.start + hidden..cut.range.end + hidden,
                space: cut.space,
            });
            all.push(shifted.collect());
            token += found.tokens;
            begin += whole.len() + 1;
        }
        if u64::from(token) != document.words {
            return Err(self.changed(&document.docno));
        }
        self.summary.changed += u64::from(self.summary.ranges > any);
        Ok(all)
    }
}

/// A text without its cuts.
fn without<'c>(text: &[u8], cuts: impl IntoIterator<Item = &'c Cut>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for Cut { range, space } in cuts {
        out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
        if *space {
            out.push(b' ');
        }
        at = range.end;
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

/// The parts of ranges that lie within a part of the text, from its beginning.
fn within(ranges: &[Range<usize>], part: Range<usize>) -> Vec<Range<usize>> {
    let first = ranges.partition_point(|range| range.end <= part.start);
    let ranges = ranges.get(first..).unwrap_or_default().iter();
    let ranges = ranges.take_while(|range| range.start < part.end);
    ranges
        .map(|range| {
            let (start, end) = (range.start.max(part.start), range.end.min(part.end));
            start - part.start..end - part.start
        })
        .collect()
}
