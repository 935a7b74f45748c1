//! Stage 1 of 9: read inputs and cut them into raw documents.
//!
//! # Source
//! Formats: TREC SGML and TREC web bundles (NIST), WARC 0.18 to 1.1 (ISO 28500), ARC 1 and 2
//! (Internet Archive), Reuters-21578 (Lewis 1997), JSON (RFC 8259), CSV (RFC 4180), TSV, Apache
//! Parquet, mail (RFC 4155, 5322, 2045 to 2047, 2557). HTTP: RFC 9110 and 9112. `.Z`: Welch 1984 as
//! compress 4.0 writes it.
//!
//! # In and out
//! In: files, directories and standard input, either uncompressed or compressed by gzip, bzip2, xz,
//! zstd or compress. Out: [`Batch`]es of framed [`Record`]s in input order. [`interpret()`] turns
//! each record into a [`RawDocument`], the name of a record kind that is not a document, or a
//! [`Reject`].
//!
//! # Algorithm
//! 1. [`list_inputs`] walks the arguments and sorts the files by the bytes of their paths.
//! 2. [`RecordReader`] detects the compression and then the format from the first bytes. The
//!    content decides; the extension counts only if the content is inconclusive. `--format`
//!    overrides both.
//!    A file in UTF-16 is decoded to UTF-8 first, and its places are places in UTF-8.
//! 3. A Parquet file is read from its end; each row is a record. All other files are framed.
//! 4. The reader frames: it finds where records begin and end, and does no more work than that. A
//!    large file that is not compressed can be framed in several [`Piece`]s at the same time; parts
//!    of a compressed one can be decompressed at the same time.
//! 5. [`interpret()`] does the rest on any thread: header fields, HTTP codings, JSON. Programs of the
//!    user convert documents in other formats (`convert`).
//!
//! A document gets its name (docno) from the following source:
//!
//! - TREC: `DOCNO`, or the `id` of `<DOC>` (NTCIR, WikiExtractor), or `<field name="id">` (Solr).
//! - Reuters: `NEWID`.
//! - WARC: WARC-TREC-ID, else WARC-Record-ID without `urn:uuid:`, else the URL.
//! - ARC: `URL@date`.
//! - JSON: a field ([`ID_FIELDS`]).
//! - CSV and TSV: a column ([`ID_FIELDS`]).
//! - Parquet: a column ([`ID_FIELDS`]), or the path of the file and the number of the row
//!   (`file:7`).
//! - Mail: the Message-ID, or the path of the mailbox and the number of the message in it
//!   (`box#7`).
//! - An element of `--record`: a child or attribute (`elements`).
//! - A section of `--split-at`: the group `docno` of the expression.
//! - A file that is one document: its path; in NITF its `id-string`.
//!
//! A name has at most 64 KiB. A longer docno counts as missing, and a longer URL is left out.
//!
//! # Invariants
//! - No byte is lost without a trace. Every byte is in a record, in a rejected stretch, in white
//!   space, in a comment, a declaration or a tag around TREC documents, in punctuation between
//!   JSON objects, in the header of a table, or outside of the elements that `--record` names.
//! - Records depend neither on how the operating system splits reads nor on batches.
//! - A record that is cut off, too large or broken affects no other record: framing continues with
//!   the next one.
//! - One layer of compression is undone. No record comes from a member of gzip, a frame of zstd or
//!   a block of bzip2 or xz that is damaged: it is not read, or a reject retracts its records
//!   ([`Record::retracts`]).
//! - What other threads decompress ahead of a reader changes no byte and no reject.
//!
//! # Cost
//! Each byte is decompressed into a window, searched (memchr) and copied once, to its batch.
//! Memory: the window (512 KiB; up to 3 MiB in an archive with wrong lengths or a table with long
//! rows), the decoder (at most 128 MiB; common settings need 8 MiB) or pages of Parquet
//! (`parquet`), and one record of at most [`ReadConfig::max_document`]. Threads that decompress
//! ahead take the memory that they are given.
//!
//! # What is not guaranteed
//! - A `.Z` file that is cut between two codes looks like a whole one: the format has no length.
//! - A page that contains `</DOC>` ends there; the rest of the page is rejected as stray bytes.
//! - In a WARC inside a WARC, if the inner header lies more than 1 MiB before the stated end of the
//!   outer record, the inner records are read as records of the outer file.
//! - A message in a file of its own is recognised by what programs write into its header (`mail`).
//!   Without that, as in a draft, it is a text unless its name or `--format` says otherwise.
//! - In an mbox file, an unescaped separator with a field after it begins a message, even if it is
//!   part of a text (`frame_mbox`).
//! - A bundle of TREC whose first document is `<doc>` in another case than `<DOC>`, without a name
//!   and longer than 64 KiB, is recognised only if an element that is known follows the tag.
//! - `--record` looks for tags in bytes, so it does not find them in the charset ISO-2022-JP, in
//!   which a `<` may be half a character.
//! - A file that changes while it is read is detected only by its size and modification time.
//!
//! # Errors
//! `Io` if an argument does not exist, or if the disk or the machine fails while inputs are listed.
//! `InputChanged` if a file differs from the file that was listed ([`InputFile::check_path`] and
//! `RecordReader::check_unchanged` return it). Everything else is a [`Reject`]. A disk failure
//! while a file is read is a reject too, but it may be transient: a caller that stores rejects
//! checks [`RecordReader::failure`].

// From the ground up: `inputs`; `ground`; `look`; the interpreters and framers of the formats, each
// with its own: `markup`, `web`, `mail`, `json`, `table`, `parquet`, `plain`; `formats`, which
// recognises each; `interpret`, which calls the interpreters; `reader`, `pieces`, `each`.
mod each;
mod formats;
mod ground;
mod inputs;
mod interpret;
mod json;
pub mod lines;
mod look;
mod mail;
mod markup;
pub mod parquet;
mod pieces;
mod plain;
mod reader;
mod table;
mod web;

pub use each::{Coming, FileRecords, each_as_it_comes, each_interpreted, retracted};
pub(crate) use ground::bytes::{in_its_order, is_damaged_utf8};
pub use ground::config::{
    DEFAULT_MAX_RATIO, Format, Markup, NO_QUOTE, READ_RULE, ReadConfig, UrlGlobs, WARC_TYPES,
};
pub(crate) use ground::config::{first_rule, is_first_rule};
pub use ground::convert::{Converter, extension, is_compressed, uncompressed};
pub use ground::date::{date, day, moment, seconds, stated_date, usual_date};
pub use ground::fields::{
    ID_FIELDS, SaidOnce, TEXT_FIELDS, URL_FIELDS, advised, astray, fields_in, other_fields,
    suggested,
};
pub use ground::framer::Container;
pub use ground::record::{
    Batch, ContentKind, Message, Notice, Origin, Prolog, RawDocument, Record, RecordKind, Reject,
    RowFields, Sections, SourceSpan, Table, WholeFile,
};
pub use ground::split_at::{SPLIT_BYTES, SplitAt};
pub use ground::unread::Unread;
pub use inputs::{
    InputFile, Inputs, Selection, bad_globs, list_inputs, list_outside, list_selected, tell_apart,
};
pub use interpret::{
    FACTS, Interpreted, MOST_VALUE_BYTES, document_of, folder_of, host, interpret,
    is_markup_by_name, stated,
};
pub use json::strings::{Cut, JsonStrings};
pub(crate) use look::tags::{
    Aside, MOST_WORDS, PRESCAN_BYTES, internal_subset, is_word, labels, local, perhaps_no_tag,
};
pub use look::tags::{doctype_end, is_doctype};
pub use look::wordless::warnings;
pub use lookalike_source::Reason;
pub use lookalike_store::workspace::{FileIdentity, Skipped};
pub use mail::encoded::is_blanked;
pub use parquet::written;
pub use pieces::{Piece, Stretch};
pub use reader::RecordReader;
pub use web::archive::WarcHead;
pub use web::capture::{Capture, REVISIT_HEAD, Reference, capture, labelled, revisit};
pub use web::warc::{normal_digest, normal_url, page_address, warc_links};
