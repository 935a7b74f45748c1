//! The output of stage 1: batches of framed records, and the raw documents in them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

use super::dialect::Dialect;
use super::split_at::SplitAt;
use lookalike_base::Stop;
use lookalike_source::Reason;

/// The place of a record: the number of the input file and a range of its decompressed bytes, which
/// are decoded to UTF-8 if the file is in UTF-16.
///
/// A row of a Parquet file is not a range of bytes. Its offset is the number of the row in the
/// file, from 0, and its length is 1. A reject of several rows has their number as its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSpan {
    /// Index of the input file in the sorted list of inputs.
    pub file: u32,
    /// First byte of the record in the file's decompressed bytes, or its row in a Parquet file.
    pub offset: u64,
    /// Bytes of the record there, or rows.
    pub length: u64,
}

/// The format of a framed record, with what its file says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// `<DOC>` ... `</DOC>` with a `<DOCHDR>`: TREC GOV, GOV2, WT10G.
    TrecWeb,
    /// `<DOC>` ... `</DOC>` of fields: AP, WSJ, FT, LA, NTCIR ...
    TrecSgml,
    /// `<REUTERS ...>` ... `</REUTERS>`.
    Reuters,
    /// One WARC record: header lines, empty line, block.
    Warc,
    /// One ARC record: URL line, block.
    Arc,
    /// One JSON object.
    Json,
    /// An action of the bulk format of Elasticsearch, and the object with its document.
    Bulk,
    /// An action that deletes a document, which has no number.
    Deletion,
    /// One mail message.
    Mail(Message),
    /// One row of a CSV or TSV file, with its line end.
    Cells(Arc<Table>),
    /// One row of a Parquet file; the bytes are its text.
    Row(Box<RowFields>),
    /// An element of markup; what its file says before it is with it.
    Element(Arc<Prolog>),
    /// A section that begins with a line that `--split-at` matches.
    Section(Arc<Sections>),
    /// A whole file.
    Plain(WholeFile),
    /// The framer rejected the bytes at this place; `bytes` is empty.
    Rejected(Reject),
}

/// The facts about a message that come from its mailbox, or from the file that is this message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The docno to use if the message has no Message-ID.
    pub docno: String,
    /// The message is from an mbox file: it begins with its separator, and its `From ` lines are
    /// escaped.
    pub mbox: bool,
}

/// A file that is one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeFile {
    /// Its path relative to the input directory.
    pub docno: String,
}

/// The properties that all sections of a text have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sections {
    pub(crate) at: SplitAt,
    /// The last byte of a line end.
    pub(crate) end: u8,
    /// Their kind of content; with `None`, the first bytes of each section decide.
    pub(crate) content: Option<ContentKind>,
}

/// The declarations of a file of markup before its records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prolog {
    pub(crate) declaration: Option<Box<[u8]>>,
    /// The charset that it declares.
    pub(crate) encoding: Option<&'static Encoding>,
    /// Whether the file is XML, and not some other markup.
    pub(crate) xml: bool,
    /// Whether its first element is one of HTML.
    pub(crate) html: bool,
}

/// A field of the text, and the ways to it that there are: the first with a value counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field<'p, F> {
    pub name: Cow<'p, str>,
    pub ways: Vec<F>,
}

/// The values of a text: where each begins, and whether it comes from a field called `html`. A value
/// without a `<` leaves no markup open, so the one behind it is counted as a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub values: Vec<(usize, bool)>,
    /// Bytes of the text before the last value.
    searched: usize,
}

impl Marks {
    /// Notes that the next addition to the text, which is this so far, is a value.
    pub fn add(&mut self, text: &[u8], html: bool) {
        let last = text.get(self.searched..).unwrap_or_default();
        self.searched = text.len();
        let other = self.values.last().is_none_or(|(_, last)| *last != html);
        if other || memchr::memchr(b'<', last).is_some() {
            self.values.push((text.len(), html));
        }
    }

    /// Where the values but the first begin.
    pub fn begins(&self) -> Vec<usize> {
        let values = self.values.iter().skip(1);
        values.map(|(begin, _)| *begin).collect()
    }
}

/// The facts that all rows of a CSV or TSV file have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub(crate) dialect: Dialect,
    pub(crate) columns: Vec<String>,
    /// The columns of the text, in the order in which they are joined.
    pub(crate) text: Vec<Field<'static, usize>>,
    /// The usual name of the column of the text, if no flag names it.
    pub(crate) usual: Option<&'static str>,
    /// The columns of HTML.
    pub(crate) htmls: Vec<usize>,
    pub(crate) ids: Vec<usize>,
    pub(crate) urls: Vec<usize>,
    pub(crate) titles: Vec<usize>,
    pub(crate) kinds: Vec<usize>,
    /// Cells that stand for nothing.
    pub(crate) nulls: Vec<String>,
    /// All of these, in rising order.
    pub(crate) wanted: Vec<usize>,
}

/// The fields of a row of a Parquet file that concern its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFields {
    /// The docno.
    pub docno: String,
    /// The URL, if the row has one.
    pub url: Option<String>,
    /// The title, if the row has one.
    pub title: Option<String>,
    /// The content type that a column of the row declares.
    pub content_type: Option<String>,
    /// The column of the text, if no flag names it.
    pub field: Option<&'static str>,
    /// Which values are HTML.
    pub(crate) marks: Marks,
    /// The column's type says that the text is UTF-8.
    pub utf8: bool,
    /// If the text has several columns: where the value of each is in the text; `None` if it is
    /// null. A line feed between two values is in neither.
    pub parts: Vec<Option<Range<usize>>>,
    /// The values of [`super::config::ReadConfig::fields`], by their names.
    pub kept: Vec<(String, String)>,
    /// Problems with a row that is usable.
    pub notices: Vec<(Reason, String)>,
}

/// A part of a file whose records are numbered from 1.
pub(crate) trait Part: fmt::Debug + Send + Sync {
    /// Where it begins in the file.
    fn begin(&self) -> u64;

    /// The records and rejects of the parts before it.
    fn records_before(&self) -> u64;
}

/// The file, or the piece of a file, to which the number of a record refers.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The name of the file.
    pub(crate) name: Arc<str>,
    /// As of [`crate::read::InputFile`].
    pub(crate) below: usize,
    pub(crate) part: Option<Arc<dyn Part>>,
    /// Whether the file was decoded to UTF-8.
    pub(crate) decoded: bool,
    /// The charset that the file declares before its records.
    pub(crate) charset: Option<&'static Encoding>,
    /// Ends the conversion of its documents.
    pub(crate) stop: Stop,
}

impl PartialEq for Origin {
    fn eq(&self, other: &Origin) -> bool {
        let begin = |origin: &Origin| origin.part.as_ref().map(|part| part.begin());
        self.name == other.name && begin(self) == begin(other)
    }
}

impl Eq for Origin {}

impl Origin {
    /// The path of the file below the argument that led to it.
    pub(crate) fn below(&self) -> Option<&str> {
        self.name.get(self.below..)
    }

    /// The name of a record that has none of its own: `FILE:RECORD`.
    pub(crate) fn name_of(&self, number: u64) -> String {
        let before = self.part.as_ref().map_or(0, |part| part.records_before());
        format!("{}:{}", self.name, before + number)
    }
}

/// One framed record of a [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The format of its bytes.
    pub kind: RecordKind,
    /// Its place in the input.
    pub source: SourceSpan,
    /// Its number in its origin, from 1. Rejected records count, deletions do not.
    pub number: u64,
    /// Its file, or the piece of a file that was read.
    pub origin: Arc<Origin>,
    /// Its bytes in [`Batch::bytes`].
    pub bytes: Range<usize>,
    /// A problem that the framer found although the record is usable (a wrong length, for example).
    pub notice: Option<Notice>,
    /// Records before this one, which is a reject, turned out to be damaged: all records with bytes
    /// in [`Record::source`]. Nothing that came from them may be used.
    pub retracts: bool,
}

/// Framed records in input order, in one buffer. One worker processes one batch at a time.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The records' bytes, one after the other.
    pub bytes: Vec<u8>,
    /// The records, in input order.
    pub records: Vec<Record>,
}

impl Batch {
    /// Empties the batch but keeps its buffers.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
    }

    /// The first record with its bytes.
    pub fn first(&self) -> Option<(&Record, &[u8])> {
        self.each().next()
    }

    /// Each record, and its bytes.
    pub fn each(&self) -> impl Iterator<Item = (&Record, &[u8])> {
        let bytes = |record: &Record| self.bytes.get(record.bytes.clone()).unwrap_or_default();
        self.records
            .iter()
            .map(move |record| (record, bytes(record)))
    }
}

/// The kind of a document's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentKind {
    /// HTML, XHTML, XML or SGML markup, to be reduced to text.
    Markup,
    /// Markup that is XML. It is HTML only if its root or its namespace says so.
    Xml,
    /// Plain text.
    #[default]
    Text,
}

impl ContentKind {
    pub(crate) fn of(markup: bool) -> Self {
        match markup {
            true => ContentKind::Markup,
            false => ContentKind::Text,
        }
    }

    /// Whether it is reduced to text.
    #[must_use]
    pub fn is_markup(self) -> bool {
        self != ContentKind::Text
    }
}

/// A document as its source stores it, before decoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawDocument<'a> {
    /// The document's own name, trimmed of white space.
    pub docno: Cow<'a, str>,
    /// The record has no name, and the docno is `FILE:RECORD`.
    pub unnamed: bool,
    /// The URL, if the source has one.
    pub url: Option<Cow<'a, str>>,
    /// The title, if the source keeps it apart from the body (JSONL). The parser finds the title of
    /// markup.
    pub title: Option<Cow<'a, str>>,
    /// The kind of the body.
    pub content: ContentKind,
    /// The charset label that the HTTP header declares, verbatim, or that the format implies (JSON
    /// is UTF-8).
    pub charset: Option<Cow<'a, str>>,
    /// The charset that its file declares before its records, if it declares none itself.
    pub of_file: Option<&'static Encoding>,
    /// The body, in its own charset, with transfer and content encodings undone.
    pub body: Cow<'a, [u8]>,
    /// A hash of what the source has in place of characters U+FFFD of the body; 0 for nothing.
    pub replaced: u64,
    /// Where the values of a body of markup begin, but the first: what one does not close ends with
    /// it.
    pub begins: Vec<usize>,
    /// Where its text is, if no flag says so: the field, or the elements of a record of markup.
    pub fields: Vec<Cow<'static, str>>,
    /// Problems with a document that is usable.
    pub notices: Vec<Notice>,
    /// The place of its record.
    pub source: SourceSpan,
    /// Whether it is an element of a file ([`RecordKind::Element`]).
    pub element: bool,
}

/// A problem with a record that is used, or why it is not used: the reason and details, without the
/// place.
pub type Notice = (Reason, String);

impl<'a> RawDocument<'a> {
    /// A text or markup that comes from no source, as a document called `text`.
    pub fn of_text(text: &'a str, content: ContentKind) -> Self {
        RawDocument {
            charset: Some("utf-8".into()),
            ..RawDocument::of("text".into(), content, text.as_bytes().into())
        }
    }

    /// A document of which nothing else is known. Until it is in its place, its docno is empty if
    /// the record has none.
    pub(crate) fn of(docno: Cow<'a, str>, content: ContentKind, body: Cow<'a, [u8]>) -> Self {
        RawDocument {
            docno,
            content,
            body,
            ..RawDocument::default()
        }
    }
}

/// One line of `rejects.jsonl`: a rejected record, or a warning about a record that is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// The place of the record.
    pub source: SourceSpan,
    /// The docno, if it is known.
    pub docno: Option<String>,
    /// The reason.
    pub reason: Reason,
    /// Details: what was expected and what was found. Empty if the reason says enough.
    pub detail: String,
}

impl Reject {
    /// A reject without a docno.
    pub(crate) fn new(source: SourceSpan, reason: Reason, detail: impl Into<String>) -> Reject {
        Reject {
            source,
            docno: None,
            reason,
            detail: detail.into(),
        }
    }

    /// Whether the warning is about a record that lost or changed a part: its stated length is
    /// wrong, or an encoding of its body is broken. A body that is not encoded at all is whole.
    pub fn is_damage(&self) -> bool {
        match self.reason {
            Reason::WrongLength => true,
            Reason::BadChunks | Reason::BadContentEncoding => ["broken", "invalid"]
                .iter()
                .any(|word| self.detail.contains(word)),
            _ => false,
        }
    }

    /// The reject in one line, for messages.
    pub fn line(&self, file: &str) -> String {
        let place = match &self.docno {
            Some(docno) => format!("document {docno}"),
            None => format!("offset {}", self.source.offset),
        };
        let reason = self.reason.text();
        match &*self.detail {
            "" => format!("{file}, {place}: {reason}"),
            detail => format!("{file}, {place}: {reason}: {detail}"),
        }
    }
}
