//! What flows out of stage 1: batches of framed records, and the raw documents in them.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Where a record stands: file by number in the list of inputs, bytes of the decompressed stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSpan {
    /// Index of the input file in the sorted list of inputs.
    pub file: u32,
    /// First byte of the record in the file's decompressed bytes.
    pub offset: u64,
    /// Bytes of the record there.
    pub length: u64,
}

/// How the bytes of a framed record are to be read; decides what [`super::interpret()`] does.
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
    /// One mail message.
    Mail {
        /// The docno of a message that gives itself none.
        docno: String,
        /// Of an mbox file: it begins with its separator, and lines of `From ` are escaped.
        mbox: bool,
    },
    /// A whole file. Its docno is its path relative to the input directory.
    Plain {
        /// The docno.
        docno: String,
    },
    /// The framer could not deliver a record here; `bytes` is empty.
    Rejected(Reject),
}

/// One framed record of a [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How to read it.
    pub kind: RecordKind,
    /// Where it was.
    pub source: SourceSpan,
    /// Its bytes in [`Batch::bytes`].
    pub bytes: Range<usize>,
    /// What the framer noticed though the record is usable (a wrong length, say).
    pub notice: Option<Reject>,
}

/// Framed records in input order, in one buffer. The unit of work of one worker.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The records' bytes, one after the other.
    pub bytes: Vec<u8>,
    /// The records, in input order.
    pub records: Vec<Record>,
}

impl Batch {
    /// Empties the batch and keeps its buffers.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
    }
}

/// What the body of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// HTML, XHTML, XML or SGML markup, to be reduced to text.
    Markup,
    /// Plain text.
    Text,
}

/// A document as its source gives it, before decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawDocument<'a> {
    /// The document's own name, trimmed.
    pub docno: Cow<'a, str>,
    /// Its address, where the source has one.
    pub url: Option<Cow<'a, str>>,
    /// Its title, where the source has one apart from the body (JSONL). The title of markup is
    /// found by the parser.
    pub title: Option<Cow<'a, str>>,
    /// What the body is.
    pub content: ContentKind,
    /// The charset that the HTTP header (or the format: JSON is UTF-8) declares, as written there.
    pub charset: Option<Cow<'a, str>>,
    /// The body, in whatever charset; transfer and content encodings undone.
    pub body: Cow<'a, [u8]>,
    /// What was noticed though the document is usable.
    pub notices: Vec<Reject>,
}

/// Why a record was rejected, or what was noticed about one that is used all the same.
///
/// The text of each is what `rejects.jsonl` says under `reason`, and what the ledger counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    // The file as a whole, or its rest.
    /// The file could not be opened or read.
    Unreadable,
    /// Nothing in the file.
    EmptyFile,
    /// Neither text nor a known container.
    BinaryFile,
    /// The compressed stream is damaged from here on.
    CorruptCompression,
    /// The compressed stream ends too early.
    TruncatedCompression,
    /// More decompressed bytes per compressed byte than `--max-ratio`.
    DecompressionBomb,
    /// The decompressor would need more memory than it may have.
    DecompressorMemory,
    /// A format that is recognised and not read.
    UnsupportedFormat,
    /// Neither a file nor a directory: a FIFO, socket or device.
    NotAFile,
    /// Forced `--format` and the content have nothing in common.
    WrongFormat,
    // One record.
    /// The record is larger than `--max-document`.
    TooLarge,
    /// A record that starts and does not end.
    NotClosed,
    /// A record cut off by the end of the file.
    Truncated,
    /// No docno.
    MissingDocno,
    /// No text field.
    MissingText,
    /// Not valid JSON.
    BadJson,
    /// Record header that cannot be parsed.
    BadHeader,
    /// The HTTP header cannot be parsed.
    BadHttp,
    /// An HTTP status other than 2xx.
    HttpStatus,
    /// The body is no text (an image, say), by its content type or by its bytes.
    NotText,
    /// Bytes between records that belong to none.
    StrayBytes,
    // Notices: the document is used.
    /// A length that the record states is wrong; the true boundary was found.
    WrongLength,
    /// The body says it is chunked and is not, or its chunks are broken.
    BadChunks,
    /// The body says it is compressed and is not, or its stream is broken.
    BadContentEncoding,
    /// The charset declared is unknown or the bytes are not in it.
    WrongCharset,
    /// Bytes that the charset does not allow were replaced by U+FFFD.
    InvalidBytes,
    /// Another document has the same docno.
    DuplicateDocno,
    /// The path is not UTF-8; its bytes were escaped in the docno.
    OddPath,
    /// An HTTP or record header line that was passed over.
    OddHeader,
}

impl Reason {
    /// The text in `rejects.jsonl` and in the ledger.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Reason::Unreadable => "cannot be read",
            Reason::EmptyFile => "empty file",
            Reason::BinaryFile => "binary file",
            Reason::CorruptCompression => "compressed stream damaged",
            Reason::TruncatedCompression => "compressed stream cut off",
            Reason::DecompressionBomb => "decompression ratio above --max-ratio",
            Reason::DecompressorMemory => "decompressor needs too much memory",
            Reason::UnsupportedFormat => "format not supported",
            Reason::NotAFile => "not a regular file",
            Reason::WrongFormat => "not in the format given by --format",
            Reason::TooLarge => "larger than --max-document",
            Reason::NotClosed => "DOC not closed",
            Reason::Truncated => "record cut off",
            Reason::MissingDocno => "no docno",
            Reason::MissingText => "no text field",
            Reason::BadJson => "not valid JSON",
            Reason::BadHeader => "record header not readable",
            Reason::BadHttp => "HTTP header not readable",
            Reason::HttpStatus => "HTTP status not 2xx",
            Reason::NotText => "not text",
            Reason::StrayBytes => "bytes between records",
            Reason::WrongLength => "wrong length stated",
            Reason::BadChunks => "chunked encoding broken",
            Reason::BadContentEncoding => "content encoding broken",
            Reason::WrongCharset => "wrong charset declared",
            Reason::InvalidBytes => "invalid bytes replaced",
            Reason::DuplicateDocno => "docno not unique",
            Reason::OddPath => "path not UTF-8",
            Reason::OddHeader => "header line passed over",
        }
    }
}

/// One line of `rejects.jsonl`: a record that was rejected, or a notice about one that is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Where.
    pub source: SourceSpan,
    /// The docno, where it is known.
    pub docno: Option<String>,
    /// Why.
    pub reason: Reason,
    /// The particulars: what was expected and found. Empty where the reason says it all.
    pub detail: String,
}
