//! Copies of the inputs without removable text.
//!
//! # In and out
//! In: a collection with [`super::REMOVABLE_FILE`], and the inputs that it was read from. Out: each
//! input file again, in its format and compression, without the removable text; if wanted, for each
//! input file that loses text, a file with the removed text ([`REMOVED_ENDING`]).
//!
//! # Algorithm
//! 1. One pass over the documents of the collection finds the files that change, and sets the ranges
//!    of each document aside.
//! 2. Each input file is written again by an [`Edit`]. A file that does not change is copied byte
//!    by byte.
//! 3. A record that changes is in memory at once. `cuts` decides which bytes its text loses, and
//!    the record loses the same bytes: a JSON object from the strings of its text, a row of Parquet
//!    from the values of its columns of text. A passage may continue from one string or column into
//!    the next one: each loses its part, and the bytes between them are kept.
//!
//! # Invariants
//! - Records without removable text, JSON objects whose text is in another charset than UTF-8, and
//!   all bytes of other records outside of their text, are kept.
//! - The kept text is the text as read without the ranges that the side files list, with a space
//!   where they say so.
//! - The output depends on inputs and parameters alone. The directories follow the rules of
//!   [`lookalike_rewrite`].
//!
//! # Cost
//! The inputs are read once more. Memory: 424 bytes an input file; for each thread its compressor
//! and 8 times the largest record that changes, of Parquet 1.5 times `--max-document`. A thread
//! waits until there is memory for its file. If the text has several columns, the cuts of the later
//! columns in a row group wait in a temporary file (`later`).
//!
//! # Errors
//! `BadParameter` for texts that cannot be rewritten: markup, texts that are not UTF-8, and formats
//! other than JSON, Parquet and plain text; `InputChanged`; `BudgetTooSmall`; `BadLine` for removable
//! ranges that are out of order or of no document; `Corrupt`.

mod later;

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::cuts::{Align, TextCut, cuts};
use super::removable::{Document, FileDocuments, Removable};
use super::{REMOVABLE_FILE, STAGE};
use crate::dedup::{self, Unusable};
use lookalike_base::{Context, Credit, Error, Result, error, lock, unlocked};
use lookalike_engine::collection::{self, CollectionConfig, InputRecord, InputRecords};
use lookalike_rewrite::output::{self, OutputDirectory, OutputFile, Outputs, Places};
use lookalike_rewrite::{self as rewrite, Action, Edit, FileEdit, Job, Span, Target, parquet};
use lookalike_store::{Cost, Meter, Scratch, Workspace, disk};
use lookalike_text::parse::{Parser, TokenKind};
use lookalike_text::read::parquet::columns::text_columns;
use lookalike_text::read::parquet::footer;
use lookalike_text::read::{
    Container, Cut, FileRecords, InputFile, Interpreted, JsonStrings, RawDocument, ReadConfig,
    RecordKind, document_of, interpret, is_blanked, is_markup_by_name,
};

use later::Later;

/// The ending of a file with removed text, after the name of the input.
const REMOVED_ENDING: &str = ".removed.jsonl";

/// Memory for each byte of a record that changes: the record, its strings, its text in the bytes of
/// the file and as read, the record again, a line of removed text, and ranges.
const RECORD_BYTES: u64 = 8;

/// The memory of a row of Parquet that is larger is given back before its new values are made.
const ROW_BYTES: usize = 1 << 20;

/// Parameters of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RemovalConfig {
    /// The smallest text that is removed: a token, a line or a paragraph.
    pub align: Align,
    /// Whether documents without tokens, including documents that lose all of them, are kept.
    pub empty: Unusable,
}

/// Counts of a removal.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RemovalSummary {
    /// Documents of the collection.
    pub documents: u64,
    /// Documents that lose text.
    pub changed: u64,
    /// Documents that lose all their tokens.
    pub emptied: u64,
    /// Documents that are left out: those, and documents that had no token.
    pub dropped: u64,
    /// Ranges of text that are removed.
    pub ranges: u64,
    /// Tokens in them.
    pub removed_tokens: u64,
    /// Bytes in them.
    pub removed_bytes: u64,
    /// JSON objects that keep it, because it is in another charset than UTF-8.
    #[serde(skip)]
    pub other_charset: u64,
    /// Input files.
    pub files: u64,
    /// Input files that lose nothing.
    pub whole_files: u64,
    /// The cost of the work.
    #[serde(skip)]
    pub cost: Cost,
}

impl RemovalSummary {
    fn add(&mut self, part: &RemovalSummary) {
        lookalike_base::add!(self, part => documents, changed, emptied, dropped, ranges,
            removed_tokens, removed_bytes, other_charset);
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
    error::refuse("remove", given.display(), limit)
}

/// Refuses inputs from whose formats no text can be removed.
///
/// # Errors
/// `BadParameter`; `Io`.
pub(super) fn check_removal_inputs(
    inputs: &[InputFile],
    read: &ReadConfig,
    context: &Context<'_>,
) -> Result<()> {
    const ADVICE: &str = "leave the file out (--exclude), or use removable.tsv without --remove";
    dedup::check_names(inputs)?;
    let field = read.text_field.as_deref().unwrap_or_default();
    if field.split(['.', ',']).any(|name| name == "html") {
        return Err(Error::parameter("text-field", field)
            .because(format!("a field html is read as markup; {MARKUP}")));
    }
    for input in inputs {
        context.stop.check(STAGE)?;
        let mut records = FileRecords::open(input, 0, read, STAGE, context.stop);
        let container = records.container()?;
        let limit = match container {
            None | Some(Container::Json) => None,
            Some(Container::Plain) => is_markup_by_name(&input.docno, read)
                .then(|| format!("it is markup; {MARKUP}, or {ADVICE}")),
            Some(Container::Elements) => {
                Some(format!("its elements are markup; {MARKUP}, or {ADVICE}"))
            }
            Some(Container::Parquet) => {
                let file = disk::open_regular(&input.path)?;
                parquet::refuse_encrypted(&file, &input.path)?;
                // A damaged file has no documents.
                let footer = footer(&file, None).ok();
                let columns =
                    footer.map(|of| text_columns(of.file_metadata().schema_descr(), read));
                columns.and_then(Result::err).map(|why| {
                    format!(
                        "{why}; text is removed from columns of strings of any length; name them \
                         with --text-field, or {ADVICE}"
                    )
                })
            }
            Some(other) => Some(format!(
                "its format is {}, and text is removed from JSON, Parquet and plain text only; \
                 {ADVICE}",
                other.text()
            )),
        };
        let limit = match (limit, container) {
            (None, Some(Container::Json | Container::Parquet)) => first_limit(&mut records, read)?,
            (limit, _) => limit,
        };
        if let Some(limit) = limit {
            return refuse(&input.path, limit);
        }
    }
    Ok(())
}

/// Why nothing is removed from an input whose first document is markup: most others then are also
/// markup, and would be refused only after the search.
fn first_limit(records: &mut FileRecords<'_>, read: &ReadConfig) -> Result<Option<String>> {
    for _ in 0..FIRST_RECORDS {
        let Some((record, bytes)) = records.next_record()? else {
            break;
        };
        if let Interpreted::Document(raw) = interpret(record, bytes, read) {
            let limit = || format!("its document {} is markup; {MARKUP}", raw.docno);
            return Ok(raw.content.is_markup().then(limit));
        }
    }
    Ok(None)
}

/// Records among which the first document of an input is looked for.
const FIRST_RECORDS: usize = 16;

/// Says why text of markup cannot be removed, and what to do.
const MARKUP: &str = "its text as read is not a part of the file, so no part of the file can be \
                      removed; extract the text first";

/// Refuses a collection or directories that [`remove`] would refuse, before the search. Returns the
/// inputs.
///
/// # Errors
/// `BadParameter`; the errors of reading.
pub(super) fn check_removal(
    workspace: &Workspace,
    outputs: Places<'_>,
    context: &Context<'_>,
) -> Result<Vec<InputFile>> {
    let inputs = dedup::inputs_of(workspace)?;
    output::check_places(workspace.directory(), &inputs, outputs, context.stop)?;
    let collection = collection::config(&workspace.manifest);
    let tokens = &collection.shingle.parse.tokens;
    if let TokenKind::Code(_) | TokenKind::Auto(_) = tokens {
        // Without a quote or the beginning of a comment, the rest would be cut into other tokens.
        let limit = "no text is removed from programs; leave --remove out, or use words";
        return error::refuse("tokens", tokens, limit);
    }
    if let Some(converter) = collection.read.convert.first() {
        let limit = "the text of a converted document is not a part of the file, so no part of the \
                     file can be removed; leave --remove out, or extract the texts first";
        return error::refuse("convert", converter, limit);
    }
    check_removal_inputs(&inputs, &collection.read, context)?;
    Outputs::look(outputs, workspace.directory())?;
    Ok(inputs)
}

/// Writes the inputs of a collection again to `kept`, without the text that is removable of them by
/// the search `sought`. The removed text is written to `removed`.
///
/// # Errors
/// As the module says; `BadParameter` if an output directory is not empty.
pub fn remove(
    workspace: &Workspace,
    sought: &impl Serialize,
    config: &RemovalConfig,
    outputs: Places<'_>,
    context: &Context<'_>,
) -> Result<RemovalSummary> {
    let meter = Meter::start();
    let inputs = check_removal(workspace, outputs, context)?;
    let collection = collection::config(&workspace.manifest);
    collection.check_rule(workspace.directory())?;
    let removable = Removable::open(workspace, &inputs, context)?;

    let files = inputs.len() as u64;
    let tables = Removable::bytes(files) + files * 2 * rewrite::FINISHED_BYTES;
    let used = rewrite::FIXED_BYTES + tables;
    let record = removable.largest().saturating_mul(RECORD_BYTES);
    let there = context.budget.without(used + record).memory.0;
    let least = record + rewrite::least_memory(&inputs, 1, there);
    let what = || "writing the inputs again".into();
    let spare = context.budget.rest(used, least, what)?;

    let digest = digest(workspace, sought, config, outputs.1.is_some())?;
    let outputs = Outputs::open(outputs, (workspace.directory(), &digest))?;
    let kept = inputs.iter().map(|input| (Cow::from(&*input.docno), None));
    let side = |input: &InputFile| format!("{}{REMOVED_ENDING}", input.docno);
    let sides = inputs.iter().map(|input| (Cow::from(side(input)), None));
    outputs.begin((&kept.collect(), &sides.collect()), context)?;
    let removal = Removal {
        workspace,
        collection,
        removable: &removable,
        config,
        removed: outputs.removed.as_ref(),
        context,
        summary: Mutex::default(),
    };
    let job = Job {
        inputs: &inputs,
        first: 0,
        read: &collection.read,
        kept: &outputs.kept,
        removed: None,
        annotated: false,
        link: false,
        memory: spare,
        context,
    };
    let whole_files = rewrite::rewrite(&job, &removal)?;
    outputs.complete(context)?;
    let summary = unlocked(removal.summary);
    if summary.other_charset > 0 {
        context.progress.note(&format!(
            "JSON objects that keep all their text, because it is not UTF-8 (`wrong charset declared` \
             in rejects.jsonl): {}; convert the files first",
            summary.other_charset
        ));
    }
    Ok(RemovalSummary {
        files,
        whole_files,
        cost: meter.cost(),
        ..summary
    })
}

/// Digest of everything that decides the output.
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
    lookalike_store::digest_of(&all, &path)
}

/// The data that the writing pass works with.
struct Removal<'p> {
    workspace: &'p Workspace,
    collection: &'p CollectionConfig,
    removable: &'p Removable,
    config: &'p RemovalConfig,
    removed: Option<&'p OutputDirectory>,
    context: &'p Context<'p>,
    /// The counts of the files so far.
    summary: Mutex<RemovalSummary>,
}

impl<'p> Edit for Removal<'p> {
    type Records = InputRecords<'p>;
    type File<'f>
        = FileRemoval<'f, 'p>
    where
        Self: 'f;

    fn open(&self, file: u32) -> InputRecords<'p> {
        InputRecords::of_file(self.workspace, file)
    }

    fn changes(&self, file: u32, entries: &mut InputRecords<'p>) -> Result<bool> {
        let needs = self.removable.of(file);
        if needs.changing > 0 || needs.wordless && self.config.empty == Unusable::Drop {
            return Ok(true);
        }
        let mut summary = RemovalSummary::default();
        while let Some(entry) = entries.next_of(file)? {
            summary.documents += u64::from(matches!(entry, InputRecord::Document(..)));
        }
        self.count(&summary);
        Ok(false)
    }

    fn file<'f>(
        &'f self,
        target: Target<'f>,
        entries: &'f mut InputRecords<'p>,
        _: &Credit,
    ) -> Result<FileRemoval<'f, 'p>> {
        let Target { number, input, .. } = target;
        let rows = target.is_parquet.then(|| RowRemoval::new(self, target));
        Ok(FileRemoval {
            removal: self,
            entries,
            documents: self.removable.documents(number),
            current: Document::default(),
            rows: rows.transpose()?,
            cutter: Cutter {
                collection: self.collection,
                config: self.config,
                input,
                parser: Parser::new(&self.collection.shingle.parse),
                text: String::new(),
                side: self.side(number, input)?,
                summary: RemovalSummary::default(),
            },
        })
    }

    fn memory(&self, file: u32, is_parquet: bool) -> u64 {
        let read = &self.collection.read;
        if !is_parquet {
            return self.removable.of(file).largest.saturating_mul(RECORD_BYTES);
        }
        let paths = read.text_field.iter().flat_map(|paths| paths.split(','));
        read.max_document.0.saturating_mul(3) / 2 + paths.count() as u64 * Later::BYTES
    }

    fn edits_again(&self) -> bool {
        true
    }
}

impl<'p> Removal<'p> {
    /// Adds the counts of a file.
    fn count(&self, part: &RemovalSummary) {
        lock(&self.summary).add(part);
    }

    /// Whether a document is left out.
    fn is_dropped(&self, document: &Document) -> bool {
        self.config.empty == Unusable::Drop && (document.facts.words == 0 || document.is_emptied())
    }

    /// The place for the removed text of a file.
    fn side(&self, number: u32, input: &InputFile) -> Result<Side<'p>> {
        let name = format!("{}{REMOVED_ENDING}", input.docno);
        let is_there = self.removed.map_or(Ok(false), |of| of.has(&name))?;
        Ok(Side {
            directory: self.removed.filter(|_| !is_there),
            name,
            number,
            out: None,
        })
    }
}

/// The edit of a file.
struct FileRemoval<'f, 'p> {
    removal: &'f Removal<'p>,
    entries: &'f mut InputRecords<'p>,
    documents: FileDocuments<'p>,
    /// The last document.
    current: Document,
    /// The edit of a Parquet file.
    rows: Option<RowRemoval<'f, 'p>>,
    cutter: Cutter<'f>,
}

impl FileEdit for FileRemoval<'_, '_> {
    fn next(&mut self) -> Result<Option<Span>> {
        self.removal.context.stop.check(STAGE)?;
        let Some(document) = self.documents.next(self.entries)? else {
            return Ok(None);
        };
        let kept = !self.removal.is_dropped(&document);
        self.cutter.count(&document, !kept);
        let span = Span {
            offset: document.facts.offset,
            length: document.facts.length,
            action: match document.ranges.bytes.is_empty() {
                false => Action::Change { kept },
                true if kept => Action::Keep,
                true => Action::Remove,
            },
        };
        self.current = document;
        Ok(Some(span))
    }

    fn record(&mut self, bytes: Vec<u8>, is_json: bool) -> Result<Vec<u8>> {
        self.cutter.record(&self.current, bytes, is_json)
    }

    fn columns(&self) -> &[usize] {
        self.rows.as_ref().map_or(&[], |rows| &rows.columns)
    }

    fn value(&mut self, column: usize, row: u64, old: &[u8]) -> Result<Vec<u8>> {
        let rows = self.rows.as_mut();
        let cuts = rows.map(|rows| rows.cuts(column, row, old, &mut self.cutter));
        match cuts.transpose()?.flatten() {
            Some(cuts) => Ok(without(old, &cuts)),
            None => Err(self.cutter.changed(&format!("the text of row {row}"))),
        }
    }

    fn finish(&mut self) -> Result<()> {
        while self.next()?.is_some() {}
        if let Some(rows) = &mut self.rows {
            rows.until(u64::MAX, &mut self.cutter)?;
        }
        if let Some(out) = self.cutter.side.out.take() {
            out.finish()?;
        }
        self.removal.count(&self.cutter.summary);
        Ok(())
    }
}

/// Reads the texts of a Parquet file, which change column by column.
struct RowRemoval<'f, 'p> {
    entries: InputRecords<'p>,
    documents: FileDocuments<'p>,
    records: FileRecords<'f>,
    /// The columns of the text, among the leaf columns; none if nothing is written.
    columns: Vec<usize>,
    /// For each of them, the cuts in the rows of the current row group; `None` for the column that
    /// is written first, whose values need not be kept.
    later: Vec<Option<Later>>,
    /// The place of these files.
    _scratch: Option<Scratch>,
}

impl<'f, 'p> RowRemoval<'f, 'p> {
    fn new(removal: &'f Removal<'p>, target: Target<'f>) -> Result<RowRemoval<'f, 'p>> {
        let Target { number, input, .. } = target;
        let read = &removal.collection.read;
        let mut rows = RowRemoval {
            entries: removal.open(number),
            documents: removal.removable.documents(number),
            records: FileRecords::open(input, number, read, STAGE, removal.context.stop),
            columns: Vec::new(),
            later: Vec::new(),
            _scratch: None,
        };
        if target.is_there {
            return Ok(rows);
        }
        let damaged = |what: String| Error::InputChanged {
            path: input.path.clone(),
            expected: "had columns of text".into(),
            found: what,
        };
        let opened = disk::open_regular(&input.path)?;
        let footer = footer(&opened, None).map_err(|error| damaged(error.to_string()))?;
        let columns = text_columns(footer.file_metadata().schema_descr(), read);
        rows.columns = columns.map_err(damaged)?;
        let scratch = removal.workspace.scratch(removal.context)?;
        let first = rows.columns.iter().min();
        let later = |column| (Some(column) != first).then(|| Later::new(scratch.path()));
        rows.later = rows.columns.iter().map(later).collect();
        rows._scratch = Some(scratch);
        Ok(rows)
    }

    /// The cuts of a value of a column; `None` if it is not the value that was read. For each
    /// column it is called with rising rows that change.
    fn cuts(
        &mut self,
        column: usize,
        row: u64,
        value: &[u8],
        cutter: &mut Cutter<'_>,
    ) -> Result<Option<Vec<Cut>>> {
        if let Some(Some(later)) = self.later.get_mut(column) {
            return later.take(value);
        }
        let first = self.until(row, cutter)?;
        let first = first.filter(|(checksum, _)| *checksum == xxh3_128(value));
        Ok(first.map(|(_, cuts)| cuts))
    }

    /// Cuts the documents up to a row. Returns the cuts of this row in the column that is written
    /// first, with a checksum of the value; the cuts of the other columns are kept.
    fn until(&mut self, row: u64, cutter: &mut Cutter<'_>) -> Result<Option<(u128, Vec<Cut>)>> {
        while let Some(document) = self.documents.next(&mut self.entries)? {
            if document.ranges.bytes.is_empty() {
                continue;
            }
            let is_last = document.facts.offset == row;
            let first = self.cut(&document, is_last, cutter)?;
            if is_last {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    /// Cuts a document. If it is `written`, the cuts of the columns that are written later are
    /// kept.
    fn cut(
        &mut self,
        document: &Document,
        written: bool,
        cutter: &mut Cutter<'_>,
    ) -> Result<(u128, Vec<Cut>)> {
        let Some((record, bytes)) = self.records.reach(document.facts.offset)? else {
            return Err(cutter.changed(&document.facts.docno));
        };
        let raw = match interpret(record, bytes, &cutter.collection.read) {
            Interpreted::Document(raw) => raw,
            _ => return Err(cutter.changed(&document.facts.docno)),
        };
        let parts = match &record.kind {
            RecordKind::Row(fields) if !fields.parts.is_empty() => &fields.parts[..],
            _ => &[Some(0..bytes.len())],
        };
        let value = |part: &Range<usize>| bytes.get(part.clone()).unwrap_or_default();
        let texts = parts.iter().flatten().map(value);
        let texts: Vec<_> = texts.map(String::from_utf8_lossy).collect();
        let mut cuts = cutter.cut(document, &raw, &texts)?.into_iter();
        let mut first = (0, Vec::new());
        for (column, part) in parts.iter().enumerate() {
            // A null value has no cuts.
            let (value, cuts) = match part {
                Some(part) => (value(part), cuts.next().unwrap_or_default()),
                None => Default::default(),
            };
            match self.later.get_mut(column) {
                Some(Some(later)) if written => later.put(value, &cuts)?,
                Some(Some(_)) => {}
                _ => first = (xxh3_128(value), cuts),
            }
        }
        // The value of the column is in memory next.
        if bytes.len() > ROW_BYTES {
            self.records.forget();
            cutter.text = String::new();
            cutter.parser.shrink();
        }
        Ok(first)
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
        let line = lookalike_store::json::line(line, &out.path)?;
        out.write_all(line.as_bytes())
            .map_err(Error::io("write", &out.path))
    }
}

/// Cuts the texts of a file.
struct Cutter<'f> {
    collection: &'f CollectionConfig,
    config: &'f RemovalConfig,
    input: &'f InputFile,
    parser: Parser,
    /// The text of a document, as read.
    text: String,
    side: Side<'f>,
    summary: RemovalSummary,
}

impl Cutter<'_> {
    fn count(&mut self, document: &Document, dropped: bool) {
        self.summary.documents += 1;
        self.summary.emptied += u64::from(document.is_emptied());
        self.summary.dropped += u64::from(dropped);
    }

    fn changed(&self, what: &str) -> Error {
        let expected = format!("{what} when it was read");
        Error::input_changed(&self.input.path, expected, "another text")
    }

    /// A record without its cuts.
    fn record(&mut self, document: &Document, bytes: Vec<u8>, is_json: bool) -> Result<Vec<u8>> {
        let read = &self.collection.read;
        let Some(raw) = document_of(is_json, &self.input.docno, &bytes, read) else {
            return Err(self.changed(&document.facts.docno));
        };
        if !is_json {
            let text = String::from_utf8_lossy(&bytes);
            let cuts = self.cut(document, &raw, std::slice::from_ref(&text))?;
            return Ok(without(&bytes, cuts.iter().flatten()));
        }
        if raw.charset.is_none() {
            self.summary.other_charset += 1;
            return Ok(bytes);
        }
        let strings = JsonStrings::find(&bytes, read).or_else(|error| {
            let limit = format!(
                "the text of {} cannot be found in its record again ({error}); name its field with \
                 --text-field",
                document.facts.docno
            );
            refuse(&self.input.path, limit)
        })?;
        let parts = strings.decoded();
        let cuts = self.cut(document, &raw, &parts)?;
        Ok(strings.without(&cuts))
    }

    /// Returns the ranges to cut out of each part of a document's body; the parts are joined by
    /// line feeds.
    fn cut<S: AsRef<str>>(
        &mut self,
        document: &Document,
        raw: &RawDocument<'_>,
        parts: &[S],
    ) -> Result<Vec<Vec<Cut>>> {
        let about = |why: &str| {
            let limit = format!("{} of {}; {why}", document.facts.docno, self.input.docno);
            refuse(&self.input.path, limit)
        };
        if raw.content.is_markup() {
            return about(&format!("it is markup; {MARKUP}"));
        }
        self.text.clear();
        self.parser.text_as_read(raw, &mut self.text);
        // A byte order mark is not text.
        let skipped = raw.body.len().checked_sub(self.text.len());
        let Some(skipped) = skipped.filter(|_| raw.body.ends_with(self.text.as_bytes())) else {
            return about("it is not UTF-8; convert the file first");
        };
        let joined = parts.iter().map(|part| part.as_ref().len() + 1);
        let joined: usize = joined.sum();
        let same = joined == raw.body.len() + 1 || parts.is_empty() && raw.body.is_empty();
        let mut begin = 0;
        let is_part = |part: &S| {
            let end = begin + part.as_ref().len();
            let body = raw.body.get(begin..end);
            begin = end + 1;
            body.is_some_and(|body| is_blanked(body, part.as_ref().as_bytes()))
        };
        if !same || !parts.iter().all(is_part) {
            return Err(self.changed(&document.facts.docno));
        }
        let (mut begin, mut token) = (0usize, 0u32);
        let mut all = Vec::new();
        let any = self.summary.ranges;
        for part in parts {
            let whole = part.as_ref();
            let hidden = skipped.saturating_sub(begin).min(whole.len());
            let first = (begin + hidden).saturating_sub(skipped);
            let end = first + whole.len() - hidden;
            let text = self.text.get(first..end).unwrap_or_default();
            let within = within(&document.ranges.bytes, first..first + text.len());
            let parse = &self.collection.shingle.parse;
            let (found, count) = cuts(text, parse, &within, self.config.align);
            for TextCut { cut, tokens } in &found {
                let line = RemovedLine {
                    file: &self.input.docno,
                    record: document.record,
                    docno: &document.facts.docno,
                    begin_byte: first + cut.range.start,
                    end_byte: first + cut.range.end,
                    begin_token: token + tokens.start,
                    end_token: token + tokens.end,
                    space: cut.space,
                    text: whole
                        .get(hidden + cut.range.start..hidden + cut.range.end)
                        .unwrap_or_default(),
                };
                self.side.put(&line)?;
                self.summary.ranges += 1;
                self.summary.removed_tokens += u64::from(tokens.end - tokens.start);
                self.summary.removed_bytes += cut.range.len() as u64;
            }
            let shifted = found.into_iter().map(|TextCut { cut, .. }| Cut {
                range: cut.range.start + hidden..cut.range.end + hidden,
                space: cut.space,
            });
            all.push(shifted.collect());
            token += count;
            begin += whole.len() + 1;
        }
        if u64::from(token) != document.facts.words {
            return Err(self.changed(&document.facts.docno));
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
