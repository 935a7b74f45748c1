//! Stage 1 of 10: read inputs and cut them into raw documents.
//!
//! # Source
//! Formats: TREC SGML and TREC web bundles (NIST), WARC 0.18 to 1.1 (ISO 28500), ARC 1 and 2
//! (Internet Archive), Reuters-21578 (Lewis 1997), JSON (RFC 8259), mail (RFC 4155, 5322, 2045 to 2047). HTTP: RFC 9110
//! and 9112. `.Z`: Welch 1984 as compress 4.0 writes it.
//!
//! # In and out
//! In: files, directories, standard input; compressed by gzip, bzip2, xz, zstd or compress, or not.
//! Out: [`Batch`]es of framed [`Record`]s in input order, and from each, by [`interpret()`], a
//! [`RawDocument`], a kind of record that is no document, or a [`Reject`].
//!
//! # Algorithm
//! 1. [`list_inputs`] walks the arguments and sorts the files by the bytes of their paths.
//! 2. [`RecordReader`] looks at the first bytes: compression, then format. Content decides; the
//!    extension only where content says nothing; `--format` overrules both.
//! 3. It frames: finds where records begin and end, with as little work as that takes, since one
//!    thread does it for each input.
//! 4. [`interpret()`] does the rest on any thread: header fields, HTTP codings, JSON.
//!
//! What names a document: `DOCNO`, or the `id` of `<DOC>` (NTCIR); `NEWID` (Reuters); WARC-TREC-ID,
//! else WARC-Record-ID without `urn:uuid:`, else the URL (WARC); `URL@date` (ARC); a field
//! ([`ID_FIELDS`], JSON); the Message-ID, or the path of the mailbox and the number of the message in it
//! (`box#7`; mail); the path (a file that is one document; in NITF its `id-string`). A name has at
//! most 64 KiB: a longer docno is none, a longer URL is left out.
//!
//! # Invariants
//! - No byte vanishes: it is in a record, in a stretch that was rejected, or it is white space, a
//!   comment or a declaration between TREC documents, or punctuation between JSON objects.
//! - Records do not depend on how the operating system splits reads, nor on batches.
//! - A record is cut off, too large or broken alone: framing goes on with the next.
//! - One layer of compression is undone. What it held before it broke is kept
//!   (where it is damaged, not merely cut: bzip2 and xz up to 32 KiB less, zstd up to 256).
//!
//! # Cost
//! A byte is decompressed into a window, searched (memchr) and copied once, to its batch. Memory:
//! the window (half a mebibyte; up to 3 in an archive whose lengths are wrong), the decoder (at
//! most 128 MiB, of which common settings need 8), one record of at most
//! [`ReadConfig::max_document`].
//!
//! # What is not guaranteed
//! A `.Z` file cut between two codes cannot be told from a whole one: the format has no length. A
//! page that contains `</DOC>` ends there; what follows it is rejected as stray bytes. A WARC inside
//! a WARC whose header lies more than 1 MiB before the stated end is read as records of the outer.
//! A mail message in a file of its own is told by its ending (`.eml`) or by `--format`, since texts may begin as
//! messages do; of an mbox file, lines of `From `, a date, and a field after them that were not escaped begin a message.
//! Brotli is not undone. A file that changes while it is read is found by its size and time of
//! modification alone.
//!
//! # Errors
//! `Io` for an argument that does not exist, and where a disk or the machine fails while inputs are listed;
//! `InputChanged` for a file that is no longer what was listed (told by [`InputFile::check_path`] and
//! [`RecordReader::check_unchanged`]). Everything else is a [`Reject`]. While a file is read, a failure of the
//! disk is one too, and [`RecordReader::failure`] tells who keeps rejects that it may not come again.

mod archive;
mod config;
mod each;
mod frame_archive;
mod frame_json;
mod frame_mbox;
mod frame_trec;
mod http;
mod inputs;
mod interpret;
mod json;
mod lzw;
mod mail;
mod reader;
mod record;
mod sgml;
mod sniff;
mod source;
mod stream;

pub use crate::workspace::FileIdentity;
pub use crate::workspace::Skipped;
pub use config::{DEFAULT_MAX_RATIO, Format, RATIO_FREE_BYTES, ReadConfig};
pub(crate) use each::each_interpreted;
pub use inputs::{InputFile, Inputs, Selection, list_inputs, list_selected};
pub use interpret::{Interpreted, interpret};
pub use json::{ID_FIELDS, TEXT_FIELDS, URL_FIELDS};
pub use reader::RecordReader;
pub use record::{Batch, ContentKind, RawDocument, Reason, Record, RecordKind, Reject, SourceSpan};
pub(crate) use source::Decompressed;
pub(crate) use source::lasting;
