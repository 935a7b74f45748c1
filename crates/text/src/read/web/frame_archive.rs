//! Frames WARC and ARC records: a header that states a length, then a block of that length.
//!
//! A stated length is believed if the block then ends where a record can end: the empty lines that
//! separate records (in ARC: a line end), the next header, or the end of the stream follow. Bytes
//! after that which are not a header are stray bytes: they are reported, and framing continues at
//! the next header. So a neighbour that is damaged never becomes part of a record.
//!
//! Other stated lengths are wrong:
//!
//! - If the bytes go on after the stated end, the block is extended to the next header.
//! - If a header begins inside the block, and the stated end is none, the block is cut at the
//!   header inside. A stated end more than [`TRUST`] bytes ahead is not examined, and the header
//!   inside wins. So an archive within an archive is read correctly up to that size. In ARC, where
//!   a line end says little, a header must follow the stated end.
//! - If no length is stated, the block extends to the next header, with or without a length.
//! - If the stream ends before the block does, the block is used if it contains the empty lines
//!   that end a record, or lacks at most those lines. Otherwise the record is cut off.
//!
//! The segments of a WARC record (ISO 28500, section 7) are joined if they follow each other. A
//! record whose other segments are elsewhere is cut off.

use memchr::memmem;

use super::archive::{
    ARC_LINE, ArcLine, WarcHead, arc_line, is_arc_line, is_warc_header, is_warc_line, number,
};
use crate::read::ground::bytes::{first_line, spaces};
use crate::read::ground::framer::{Framer, Step};
use crate::read::ground::record::RecordKind;
use crate::read::ground::stream::{Sink, Stream};
use lookalike_source::Reason;

/// Maximum length of a record's header.
const HEADER: usize = 64 << 10;

/// Maximum distance of a stated end that is examined before a header inside the block is believed.
const TRUST: u64 = 1 << 20;

/// Maximum white space examined after a stated end that is far ahead.
const SPACE: usize = 1 << 10;

/// Maximum length of the empty lines between two records.
const SEPARATOR: u64 = 4;

/// The length of a header, the length of the block that it states, and, for the first segment of a
/// record, the id that the others name, if it has one.
type Header = (usize, Option<u64>, Option<Option<Vec<u8>>>);

/// The docno of a record without a usable header, and the reason why it has none.
type NoHeader = (Option<String>, Reason, String);

/// Which of the two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Warc,
    Arc,
}

impl Shape {
    /// The next place in the window where a line begins that could be a header.
    fn candidate(self, window: &[u8], line_start: bool) -> Option<usize> {
        match self {
            Shape::Warc => {
                if line_start && window.starts_with(b"WARC/") {
                    return Some(0);
                }
                memmem::find(window, b"\nWARC/").map(|at| at + 1)
            }
            Shape::Arc => {
                let starts = memchr::memchr_iter(b'\n', window).map(|at| at + 1);
                let first = line_start.then_some(0);
                first.into_iter().chain(starts).find(|&at| {
                    // A line too close to the end of the window is decided later.
                    let line = &window[at..window.len().min(at + 17)];
                    line.first().is_some_and(u8::is_ascii_alphabetic)
                        && (memchr::memchr(b':', line).is_some() || line.len() < 17)
                })
            }
        }
    }

    /// Whether a record certainly begins here. Within a record that states no length (not
    /// `measured`), the next may state none either.
    fn begins(self, bytes: &[u8], measured: bool) -> bool {
        match self {
            Shape::Warc => is_warc_header(&bytes[..bytes.len().min(HEADER)], measured),
            Shape::Arc => is_arc_line(bytes),
        }
    }

    /// Whether a record begins here, at a place where one is expected.
    fn begins_as_expected(self, bytes: &[u8]) -> bool {
        match self {
            Shape::Warc => is_warc_line(bytes),
            Shape::Arc => arc_line(bytes).is_some(),
        }
    }

    /// Whether what separates two records is here.
    fn separates(self, bytes: &[u8]) -> bool {
        let rest = match self {
            Shape::Warc => after_line_end(bytes),
            Shape::Arc => Some(bytes),
        };
        rest.and_then(after_line_end).is_some()
    }

    /// The header at the start of the window. `Err` if there is none, or if it is not usable.
    fn header(self, window: &[u8]) -> Result<Header, NoHeader> {
        let look = &window[..window.len().min(HEADER)];
        if !self.begins_as_expected(window) {
            let named = self == Shape::Warc && look.starts_with(b"WARC/");
            let docno = named.then(|| self.docno(look)).flatten();
            let line = first_line(&look[..look.len().min(200)]);
            let line = String::from_utf8_lossy(line);
            let detail = format!("which begin with `{line}`");
            return Err((docno, Reason::StrayBytes, detail));
        }
        if self == Shape::Warc {
            let header = header_length(look).map_err(|length| {
                let docno = self.docno(&look[..length]);
                match length == look.len() && length < HEADER {
                    true => (
                        docno,
                        Reason::Truncated,
                        "the stream ends in its header".into(),
                    ),
                    false => {
                        let detail = format!("no empty line in {length} bytes");
                        (docno, Reason::BadHeader, detail)
                    }
                }
            })?;
            let head = WarcHead::parse(&look[..header]);
            let first = head.segment.and_then(number) == Some(1);
            let id = first.then(|| head.record_id.map(<[u8]>::to_vec));
            return Ok((header, head.length, id));
        }
        let look = &look[..look.len().min(ARC_LINE)];
        let line = first_line(look);
        let Some(length) = ArcLine::parse(line).and_then(|line| line.length) else {
            let shown = String::from_utf8_lossy(&line[line.len().saturating_sub(200)..]);
            let detail = format!("no length in `{shown}`");
            return Err((self.docno(look), Reason::BadHeader, detail));
        };
        let header = memchr::memchr(b'\n', look).map_or(look.len(), |end| end + 1);
        Ok((header, Some(length), None))
    }

    /// The docno in the first bytes of a record.
    fn docno(self, held: &[u8]) -> Option<String> {
        self.kind().docno(held)
    }

    fn kind(self) -> RecordKind {
        match self {
            Shape::Warc => RecordKind::Warc,
            Shape::Arc => RecordKind::Arc,
        }
    }
}

pub(crate) struct ArchiveFramer {
    pub shape: Shape,
}

enum BlockEnd {
    Stated,
    Extended,
    Cut,
    StreamEnd { missing: u64 },
}

impl Framer for ArchiveFramer {
    fn behind(&self) -> Option<Box<dyn Framer>> {
        let shape = self.shape;
        Some(Box::new(ArchiveFramer { shape }))
    }

    fn begins(&self, bytes: &[u8]) -> bool {
        self.shape.begins_as_expected(bytes)
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        let window = stream.skip_space(HEADER);
        if window.is_empty() {
            return Step::End;
        }
        let (header, stated, first) = match self.shape.header(window) {
            Ok(header) => header,
            Err((docno, reason, detail)) => {
                self.to_next_header(stream, sink);
                let detail = match reason {
                    Reason::StrayBytes => format!("{} bytes, {detail}", sink.begun.length),
                    _ => detail,
                };
                return Step::named(docno, reason, detail);
            }
        };
        sink.take(stream, header);
        let end = self.block(stream, sink, stated);
        let block = sink.begun.length - header as u64;
        if let (Some(id), BlockEnd::Stated) = (first, &end)
            && let Err(detail) = self.join(stream, sink, id)
        {
            return self.cut(sink, detail);
        }
        let ends = match end {
            BlockEnd::Stated => return Step::record(self.shape.kind()),
            BlockEnd::StreamEnd { .. } => "the stream ends",
            BlockEnd::Cut => "the next record begins",
            BlockEnd::Extended if stream.cut() && stream.at_end() => "the stream ends",
            BlockEnd::Extended => "it ends",
        };
        let detail = match stated {
            Some(stated) => format!("length {stated} stated, {ends} after {block} bytes"),
            None => format!("no length stated, {ends} after {block} bytes"),
        };
        let whole = match end {
            BlockEnd::StreamEnd { missing } => {
                let held = sink.held();
                let separated = held.ends_with(b"\r\n\r\n") || held.ends_with(b"\n\n");
                !stream.cut() && (missing <= SEPARATOR || separated)
            }
            BlockEnd::Extended => !(stream.cut() && stream.at_end()),
            BlockEnd::Stated | BlockEnd::Cut => true,
        };
        if !whole {
            return self.cut(sink, detail);
        }
        trim_separator(sink);
        Step::Record {
            kind: self.shape.kind(),
            notice: Some((Reason::WrongLength, detail)),
        }
    }
}

impl ArchiveFramer {
    /// Rejects a record that is cut off.
    fn cut(&self, sink: &Sink<'_>, detail: String) -> Step {
        let docno = self.shape.docno(sink.held());
        Step::named(docno, Reason::Truncated, detail)
    }

    /// Appends the blocks of the other segments of a record, which follow it, up to the last one.
    /// `Err` names the missing part.
    fn join(
        &self,
        stream: &mut Stream,
        sink: &mut Sink<'_>,
        id: Option<Vec<u8>>,
    ) -> Result<(), String> {
        for part in 2.. {
            let missing = || {
                let before = part - 1;
                format!("segment {before} of a record, and segment {part} does not follow it")
            };
            let window = stream.ensure(SPACE + HEADER);
            let space = spaces(&window[..window.len().min(SPACE)]);
            let look = &window[space..window.len().min(space + HEADER)];
            let header = match header_length(look) {
                Ok(header) if is_warc_line(look) => header,
                _ => return Err(missing()),
            };
            let segment = WarcHead::parse(&look[..header]);
            let (Some(id), Some(length)) = (&id, segment.length) else {
                return Err(missing());
            };
            if !segment.continues(id, part) {
                return Err(missing());
            }
            let last = segment.last;
            sink.pass(stream, space + header);
            if !matches!(self.block(stream, sink, Some(length)), BlockEnd::Stated) {
                let detail = format!("segment {part} of a record does not end as it states");
                return Err(detail);
            }
            if last {
                break;
            }
        }
        Ok(())
    }

    /// Skips everything up to the next header, at least one byte.
    fn to_next_header(&self, stream: &mut Stream, sink: &mut Sink<'_>) {
        let mut line_start = false;
        loop {
            let window = stream.ensure(HEADER);
            if window.is_empty() {
                return;
            }
            match self.shape.candidate(window, line_start) {
                Some(at) => {
                    let window = stream.ensure(at + HEADER);
                    if self.shape.begins(&window[at..], true) {
                        sink.pass(stream, at);
                        return;
                    }
                    line_start = window[at] == b'\n';
                    sink.pass(stream, at + 1);
                }
                None => {
                    let n = self.passable(stream);
                    line_start = stream.ensure(n)[n - 1] == b'\n';
                    sink.pass(stream, n);
                }
            }
        }
    }

    /// How many bytes of the window can be released when it contains no candidate.
    fn passable(&self, stream: &Stream) -> usize {
        let n = stream.window().len();
        // The window may end with the beginning of `\nWARC/`.
        if stream.ended {
            n
        } else {
            n.saturating_sub(5).max(1)
        }
    }

    fn block(&self, stream: &mut Stream, sink: &mut Sink<'_>, stated: Option<u64>) -> BlockEnd {
        let mut remaining = stated;
        let mut trusted = false;
        let mut line_start = true;
        loop {
            if remaining == Some(0) {
                if self.ends_here(stream, 0) {
                    return BlockEnd::Stated;
                }
                remaining = None;
            }
            let window = stream.ensure(HEADER);
            if window.is_empty() {
                return match remaining {
                    Some(missing) => BlockEnd::StreamEnd { missing },
                    None => BlockEnd::Extended,
                };
            }
            let span = remaining.map_or(window.len(), |rest| {
                usize::try_from(rest)
                    .unwrap_or(usize::MAX)
                    .min(window.len())
            });
            if trusted {
                sink.take(stream, span);
                remaining = remaining.map(|rest| rest - span as u64);
                continue;
            }
            let candidate = self
                .shape
                .candidate(window, line_start)
                .filter(|&at| at < span);
            let n = match candidate {
                Some(at) => {
                    let window = stream.ensure(at + HEADER);
                    if self.shape.begins(&window[at..], stated.is_some()) {
                        match remaining {
                            Some(rest)
                                if rest <= TRUST && self.ends_here(stream, rest as usize) =>
                            {
                                trusted = true;
                                continue;
                            }
                            Some(_) => {
                                sink.take(stream, at);
                                return BlockEnd::Cut;
                            }
                            None => {
                                sink.take(stream, at);
                                return BlockEnd::Extended;
                            }
                        }
                    }
                    at + 1
                }
                None => self.passable(stream).min(span),
            };
            line_start = stream.ensure(n)[n - 1] == b'\n';
            sink.take(stream, n);
            remaining = remaining.map(|rest| rest - n as u64);
        }
    }

    /// Whether a block ends `ahead` bytes from here: the next record or the end of the stream
    /// follows.
    fn ends_here(&self, stream: &mut Stream, ahead: usize) -> bool {
        let window = stream.ensure(ahead + HEADER);
        let Some(after) = window.get(ahead..) else {
            return false;
        };
        if self.shape.separates(after) && (ahead == 0 || self.shape == Shape::Warc) {
            return true;
        }
        // For an end far ahead, examine only little white space: many records may point to one
        // place.
        let look = if ahead == 0 {
            after.len()
        } else {
            after.len().min(SPACE + 1)
        };
        let space = spaces(&after[..look]);
        if ahead > 0 && space > SPACE {
            return false;
        }
        let next = &after[space..];
        next.is_empty() || self.shape.begins_as_expected(next)
    }
}

/// The bytes after a line end, if these bytes begin with one.
fn after_line_end(bytes: &[u8]) -> Option<&[u8]> {
    bytes
        .strip_prefix(b"\r")
        .unwrap_or(bytes)
        .strip_prefix(b"\n")
}

/// The length of a header including the empty line that ends it. `Err` gives the place where the
/// header breaks off, because the first line of another header or the end follows.
fn header_length(bytes: &[u8]) -> Result<usize, usize> {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        let line = &bytes[start..end];
        if matches!(line, b"" | b"\r") {
            return Ok(end + 1);
        }
        if start > 0 && is_warc_line(line) {
            return Err(start);
        }
        start = end + 1;
    }
    Err(bytes.len())
}

/// Removes the empty lines between two records from the end of the first.
fn trim_separator(sink: &mut Sink<'_>) {
    for separator in [&b"\r\n\r\n"[..], b"\n\n", b"\r\n", b"\n"] {
        if sink.held().ends_with(separator) {
            return sink.shorten(separator.len());
        }
    }
}
