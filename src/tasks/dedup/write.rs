//! Writes the inputs again, without the removed records.
//!
//! Threads write files of their own, and share the memory: a compressor of xz takes a hundred times
//! as much as one of gzip.

use std::cell::RefCell;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::choose::{Choice, Fate};
use super::places::Places;
use super::revisit::Revisits;
use super::{Rejects, STAGE, values, warc};
use crate::base::progress::Context;
use crate::engine::collection::{InputRecord, InputRecords};
use crate::store::disk::{self, SharedFile};
use crate::store::workspace::Workspace;
use crate::text::read::parquet::pages::ReadAt;
use crate::text::read::{Codec, Container, Decompressed, InputFile, ReadConfig, RecordReader};
use crate::text::rewrite::copy::{self, Failed, Removed, Span};
use crate::text::rewrite::encode::Encoder;
use crate::text::rewrite::files::Shared;
use crate::text::rewrite::output::{OutputDirectory, OutputFile, is_regular};
use crate::text::rewrite::parquet::{self, Annotation};
use crate::text::rewrite::source::{Source, copy_whole, is_parquet};
use crate::{Error, Result};

/// Memory of one copy, without its compressors and decompressor.
pub(crate) const COPY_BYTES: u64 = 4 << 20;
/// Memory of a copy of a Parquet file: what the writer collects of a column.
pub(crate) const ROWS_BYTES: u64 = 96 << 20;

/// What the writing pass needs to know.
pub(super) struct Writing<'p> {
    pub workspace: &'p Workspace,
    pub inputs: &'p [InputFile],
    pub choice: &'p Choice,
    pub places: &'p Places,
    pub read: &'p ReadConfig,
    pub rejects: Rejects,
    /// Add a member to each record, in place of removing records.
    pub annotate: Option<&'p (dyn Fn(u32) -> Result<String> + Sync)>,
    /// The same, for a row of a Parquet file.
    pub note: &'p (dyn Fn(u32) -> Result<Annotation> + Sync),
    pub link: bool,
    /// The `revisit` records in place of removed ones, and the score of a removed document.
    pub revisits: Option<(&'p Revisits, &'p (dyn Fn(u32) -> String + Sync))>,
    pub kept: &'p OutputDirectory,
    pub removed: Option<&'p OutputDirectory>,
}

/// What the writing pass did.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Input files of which nothing is removed, copied as they are.
    pub whole: AtomicU64,
    /// Requests and metadata that went with a removed WARC record.
    pub companions: AtomicU64,
}

/// Memory of a thread that copies a file of this compression to this number of outputs.
pub(crate) fn memory_of(codec: Codec, outputs: u64) -> u64 {
    COPY_BYTES + outputs * Encoder::<io::Sink>::memory(codec)
}

/// The least memory with which each of the inputs can be copied. Looks at the inputs only if there
/// may not be enough for the largest compressor.
pub(crate) fn least_memory(inputs: &[InputFile], outputs: u64, there: u64) -> u64 {
    let most = memory_of(Codec::Xz, outputs);
    if there >= most {
        return most;
    }
    let mut least = memory_of(Codec::None, outputs);
    let readable = |input: &&InputFile| input.problem.is_none() && is_regular(&input.path);
    for input in inputs.iter().filter(readable) {
        // One that cannot be opened is not copied, or an error when it is.
        if let Ok(content) = Decompressed::open_input(&input.path) {
            least = least.max(memory_of(content.codec(), outputs));
        }
    }
    least
}

/// Writes every file that is not in its place yet, with `memory` for all threads together.
pub(super) fn write(plan: &Writing<'_>, memory: u64, context: &Context<'_>) -> Result<Written> {
    let written = Written::default();
    let memory = Shared::new(memory);
    let from = (plan.workspace, plan.inputs);
    super::each_file("write", from, context, |file, input, entries| {
        plan.write_file(file, input, (entries, &memory), &written, context)
    })?;
    Ok(written)
}

impl<'p> Writing<'p> {
    /// Whether a record of the file goes to another place than the kept file.
    fn changes(&self, file: u32) -> Result<bool> {
        let mut documents = self.places.documents(file);
        if self.annotate.is_some() {
            return Ok(!documents.is_empty());
        }
        Ok(
            documents.any(|document| self.choice.fate(document) != Fate::Kept)
                || self.rejects == Rejects::Drop,
        )
    }

    fn write_file(
        &self,
        file: u32,
        input: &InputFile,
        (entries, memory): (&mut InputRecords<'p>, &Shared),
        written: &Written,
        context: &Context<'_>,
    ) -> Result<()> {
        // An input that could not be opened is a reject without bytes.
        if input.problem.is_some() {
            return Ok(());
        }
        input.check_path()?;
        let name = &input.docno;
        if !self.changes(file)? {
            written.whole.fetch_add(1, Ordering::Relaxed);
            if self.kept.has(name)? {
                return Ok(());
            }
            if !(self.link && self.kept.link(&input.path, name)?) {
                let _memory = memory.take(COPY_BYTES);
                let mut out = self.kept.create(name, file)?;
                copy_whole(&input.path, &mut out, context)?;
                out.finish()?;
            }
            return input.check_path();
        }
        if is_parquet(&input.path)? {
            let _memory = memory.take(COPY_BYTES + ROWS_BYTES);
            return self.write_rows(file, input, context);
        }
        // They count in every call, also if an earlier one wrote the file.
        let companions = self.companions(file, input, memory, context)?;
        written
            .companions
            .fetch_add(companions.len() as u64, Ordering::Relaxed);
        let removed_is_there = self.removed.map(|removed| removed.has(name)).transpose()?;
        if self.kept.has(name)? && removed_is_there != Some(false) {
            return Ok(());
        }
        let mut source = Source::open(&input.path)?;
        let codec = source.decompressed.codec();
        let decoder = source.decompressed.memory();
        let _memory = memory.take(memory_of(codec, self.outputs()) + decoder);
        let encoder =
            |output: &OutputDirectory| -> Result<(Encoder<OutputFile>, std::path::PathBuf)> {
                let out = output.create(name, file)?;
                let path = out.path().to_path_buf();
                let encoder = Encoder::like(&source.decompressed, out, codec);
                Ok((encoder.map_err(Error::io("write", &path))?, path))
            };
        let (mut kept, kept_path) = encoder(self.kept)?;
        let mut removed = self.removed.map(encoder).transpose()?;
        let mut reader = RecordReader::open(input, file, self.read, context.stop);
        let container = reader.container();
        let is_table = container == Some(Container::Table);
        if let Some(error) = reader.failure() {
            return Err(error).map_err(Error::io("read", &input.path));
        }
        let header = is_table.then(|| reader.header());
        drop(reader);
        let spans = self.spans(file, entries, companions);
        let removed_sink = match removed.as_mut().map(|(encoder, _)| encoder) {
            None => Removed::Nowhere,
            Some(encoder) if container == Some(Container::Elements) => Removed::Around(encoder),
            Some(encoder) => Removed::Records(encoder),
        };
        let copied = copy::copy(&mut source, spans, &mut kept, removed_sink, header);
        let removed_path = removed.as_ref().map(|(_, path)| path.clone());
        let lone = copied.map_err(|failed| match failed {
            Failed::Reading(error) => Error::io("read", &input.path)(error),
            Failed::Keeping(error) => Error::io("write", &kept_path)(error),
            Failed::Removing(error) => {
                Error::io("write", removed_path.as_deref().unwrap_or(&kept_path))(error)
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
                    "its record at byte {offset} is no JSON object; write lists with --ids-only"
                ),
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
        if let Some((encoder, path)) = removed {
            let out = encoder.finish().map_err(Error::io("write", &path))?;
            out.finish()?;
        }
        let out = kept.finish().map_err(Error::io("write", &kept_path))?;
        // A file that is one document, which is removed, has no kept file.
        if lone { out.discard() } else { out.finish() }
    }

    /// Whether a `revisit` record takes the place of a removed document.
    fn stands(&self, document: u32) -> bool {
        self.revisits
            .is_some_and(|(revisits, _)| revisits.stands(document))
    }

    /// The number of directories that get records.
    fn outputs(&self) -> u64 {
        1 + u64::from(self.removed.is_some())
    }

    /// The records of a file whose fate is known.
    fn spans<'e>(
        &'e self,
        file: u32,
        entries: &'e mut InputRecords<'p>,
        companions: Vec<(u64, u64)>,
    ) -> Spans<'e, 'p> {
        Spans {
            plan: self,
            file,
            entries,
            companions: companions.into_iter().peekable(),
            next: None,
        }
    }

    /// Writes a Parquet file, and then the removed rows.
    fn write_rows(&self, file: u32, input: &InputFile, context: &Context<'_>) -> Result<()> {
        let opened = SharedFile::new(disk::open_regular(&input.path)?);
        let opened: Arc<dyn ReadAt> = Arc::new(opened);
        let outputs = [
            self.removed.map(|removed| (removed, false)),
            Some((self.kept, true)),
        ];
        for (output, kept) in outputs.into_iter().flatten() {
            if output.has(&input.docno)? {
                continue;
            }
            let mut out = output.create(&input.docno, file)?;
            let to = out.path().to_path_buf();
            let source = parquet::Source {
                file: opened.clone(),
                path: &input.path,
                to: &to,
            };
            let mut entries = InputRecords::of_file(self.workspace, file);
            let rows = Rows {
                spans: self.spans(file, &mut entries, Vec::new()),
                current: None,
                failed: None,
            };
            let rows = RefCell::new(rows);
            let keep = |row| rows.borrow_mut().is_kept(row) == kept;
            let mut check = || {
                let failed = rows.borrow_mut().failed.take();
                failed.map_or_else(|| context.stop.check(STAGE), Err)
            };
            match self.annotate {
                None => parquet::copy_rows(&source, &mut out, keep, &mut check)?,
                Some(_) => {
                    let mut documents = Numbers::new(self, file);
                    let note = |row| match documents.number(row) {
                        Ok(Some(number)) => (self.note)(number),
                        Ok(None) => Ok(Annotation::default()),
                        Err(error) => Err(error),
                    };
                    let mut note = note;
                    let note = |row| {
                        note(row).unwrap_or_else(|error| {
                            rows.borrow_mut().failed = Some(error);
                            Annotation::default()
                        })
                    };
                    parquet::annotate(&source, &mut out, |_| true, note, &mut check)?
                }
            };
            check()?;
            input.check_path()?;
            out.finish()?;
        }
        Ok(())
    }

    fn companions(
        &self,
        file: u32,
        input: &InputFile,
        memory: &Shared,
        context: &Context<'_>,
    ) -> Result<Vec<(u64, u64)>> {
        let mut head = [0; 5];
        let mut source = Source::open(&input.path)?;
        let found = source.read_exact(&mut head);
        if self.annotate.is_some() || found.is_err() || &head != b"WARC/" {
            return Ok(Vec::new());
        }
        drop(source);
        let _memory = memory.take(values::memory_of_reader(self.read));
        let mut entries = InputRecords::of_file(self.workspace, file);
        let mut current: Option<(u64, bool)> = None;
        warc::companions(
            input,
            self.read,
            |offset| {
                while current.is_none_or(|(at, _)| at < offset) {
                    match entries.next_of(file)? {
                        None => return Ok(false),
                        Some(InputRecord::Document(number, document)) => {
                            // Those of a capture that a revisit record stands for stay.
                            let removed = self.choice.fate(number) != Fate::Kept;
                            current = Some((document.offset, removed && !self.stands(number)));
                        }
                        Some(InputRecord::Rejected(_)) => {}
                    }
                }
                Ok(current.is_some_and(|(at, removed)| at == offset && removed))
            },
            context,
        )
    }
}

/// The records of one file whose fate is known, in order.
struct Spans<'e, 'p> {
    plan: &'e Writing<'p>,
    file: u32,
    entries: &'e mut InputRecords<'p>,
    companions: std::iter::Peekable<std::vec::IntoIter<(u64, u64)>>,
    /// An entry that comes after a companion.
    next: Option<Span>,
}

impl Spans<'_, '_> {
    /// The next document or reject of the file.
    fn entry(&mut self) -> Result<Option<Span>> {
        while let Some(entry) = self.entries.next_of(self.file)? {
            let span = match entry {
                InputRecord::Document(number, document) => {
                    let member = self.plan.annotate.map(|annotate| annotate(number));
                    let revisit = match self.plan.revisits {
                        Some((revisits, score)) => revisits.reference(number, score)?,
                        None => None,
                    };
                    Span {
                        offset: document.offset,
                        length: document.length,
                        kept: member.is_some() || self.plan.choice.fate(number) == Fate::Kept,
                        member: member.transpose()?,
                        revisit,
                        rewritten: false,
                    }
                }
                InputRecord::Rejected(reject)
                    if reject.source.length > 0 && self.plan.rejects == Rejects::Drop =>
                {
                    Span {
                        offset: reject.source.offset,
                        length: reject.source.length,
                        kept: false,
                        member: None,
                        revisit: None,
                        rewritten: false,
                    }
                }
                InputRecord::Rejected(_) => continue,
            };
            return Ok(Some(span));
        }
        Ok(None)
    }
}

impl Iterator for Spans<'_, '_> {
    type Item = Result<Span>;

    fn next(&mut self) -> Option<Result<Span>> {
        let entry = match self.next.take() {
            Some(entry) => Some(entry),
            None => match self.entry() {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            },
        };
        let companion = self
            .companions
            .next_if(|(offset, _)| entry.as_ref().is_none_or(|entry| *offset < entry.offset));
        match companion {
            Some((offset, length)) => {
                self.next = entry;
                Some(Ok(Span {
                    offset,
                    length,
                    kept: false,
                    member: None,
                    revisit: None,
                    rewritten: false,
                }))
            }
            None => entry.map(Ok),
        }
    }
}

/// Which rows of a Parquet file stay.
struct Rows<'e, 'p> {
    spans: Spans<'e, 'p>,
    current: Option<Span>,
    failed: Option<Error>,
}

impl Rows<'_, '_> {
    /// Whether a row stays; it is called with rising rows.
    fn is_kept(&mut self, row: u64) -> bool {
        while self
            .current
            .as_ref()
            .is_none_or(|span| span.offset + span.length <= row)
        {
            match self.spans.next() {
                Some(Ok(span)) => self.current = Some(span),
                Some(Err(error)) => {
                    self.failed = Some(error);
                    return true;
                }
                None => return true,
            }
        }
        self.current
            .as_ref()
            .is_none_or(|span| span.kept || row < span.offset)
    }
}

/// The numbers of the documents of a file, by their rows.
struct Numbers<'p> {
    entries: InputRecords<'p>,
    file: u32,
    next: Option<(u64, u32)>,
}

impl<'p> Numbers<'p> {
    fn new(plan: &Writing<'p>, file: u32) -> Self {
        Numbers {
            entries: InputRecords::of_file(plan.workspace, file),
            file,
            next: None,
        }
    }

    /// The document in a row, if there is one; it is called with rising rows.
    fn number(&mut self, row: u64) -> Result<Option<u32>> {
        while self.next.is_none_or(|(at, _)| at < row) {
            match self.entries.next_of(self.file)? {
                None => return Ok(None),
                Some(InputRecord::Document(number, document)) => {
                    self.next = Some((document.offset, number));
                }
                Some(InputRecord::Rejected(_)) => {}
            }
        }
        Ok(self
            .next
            .filter(|(at, _)| *at == row)
            .map(|(_, number)| number))
    }
}
