//! Copies a file without the bytes of removed records. A `revisit` record can take the place of a
//! removed WARC record.
//!
//! # Algorithm
//! The bytes between records are *separators* (white space, and commas and record separators of RFC
//! 7464 between JSON objects) and content (brackets, comments, byte order marks, records that are
//! not documents, rejected bytes). Content is copied. A separator belongs to the record before it.
//! At the end of a file or of an array, the bytes after the last record take the place of the
//! separator after the last kept record, so that no comma and no empty line is left over. The same
//! holds before a tag, which may end the element around the records.
//!
//! A table has no separators: rows have their line ends. Its header is copied to both outputs.
//!
//! The removed records of most formats are written one after the other. Elements of markup are
//! written with the content around them, which may have their charset, and so are sections of text,
//! which a header may precede. If several XML documents follow each other in a file, the prolog of
//! each (its declaration and its document type) belongs to the record after it, and to later ones
//! without a prolog.

use std::io::{self, Read, Write};

use memchr::memmem;

use super::annotate::Annotator;
use super::{Action, FileEdit, Span};
use lookalike_base::Error;
use lookalike_text::read::{Container, REVISIT_HEAD, doctype_end, is_doctype, revisit};

/// The number of bytes that are read at once.
const PIECE: usize = 256 << 10;
/// A longer separator counts as content.
const MOST_SEPARATOR: usize = 64 << 10;

/// The bytes of a file, decompressed.
pub(super) trait Members: Read {
    /// The number of members of the compressed file that have begun. A call of `read` gives bytes
    /// of one member only.
    fn members(&self) -> u64;

    /// The number of damaged stretches that were left out. A call of `read` gives bytes between two
    /// of them only.
    fn gaps(&self) -> u64 {
        0
    }
}

/// A sink that can end a member of a compressed file and begin another.
pub(super) trait MemberSink: Write {
    /// Ends the current member, unless it is empty.
    fn end_member(&mut self) -> io::Result<()>;
}

/// Why a copy failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// The input cannot be read.
    Reading(io::Error),
    /// The kept file cannot be written.
    Keeping(io::Error),
    /// The removed records cannot be written.
    Removing(io::Error),
    /// The record that should be at this offset is not.
    Place(u64),
    /// A member cannot be added to the record at this offset, which is not a JSON object.
    NotAnObject(u64),
    /// The edit failed.
    Edit(Error),
}

/// The format of a file, and for a table the number of bytes of its header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    pub container: Option<Container>,
    pub header: u64,
}

/// Copies `input` to `kept` as `edit` says, and the removed records to `removed`. Returns whether
/// the file is one removed record and nothing else.
pub(super) fn copy<O: MemberSink>(
    input: &mut impl Members,
    edit: &mut dyn FileEdit,
    kept: &mut O,
    removed: Option<&mut O>,
    layout: Layout,
) -> Result<bool, Failed> {
    let mut copy = Copy::new(input, kept, removed, layout);
    copy.header(layout.header)?;
    while let Some(span) = edit.next().map_err(Failed::Edit)? {
        copy.record(&span, edit)?;
    }
    copy.finish()
}

/// A file that is being copied.
struct Copy<'c, I, O> {
    window: Window<'c, I>,
    /// The place in the input.
    at: u64,
    kept: Kept<'c, O>,
    /// Gets the removed records one after the other.
    removed: Option<&'c mut O>,
    /// Gets the removed records as if they were the kept ones, in markup and sections.
    around: Option<Kept<'c, O>>,
    /// The end of the last removed record, which is not yet separated from a next one.
    ending: Option<Ending>,
    /// Whether the file begins with a removed record, and has no other record so far.
    lone: bool,
    is_json: bool,
    /// Whether the content around records may be the prologs of documents.
    is_markup: bool,
}

impl<'c, I: Members, O: MemberSink> Copy<'c, I, O> {
    fn new(
        input: &'c mut I,
        kept: &'c mut O,
        removed: Option<&'c mut O>,
        layout: Layout,
    ) -> Copy<'c, I, O> {
        let mut kept = Kept::new(kept);
        kept.table = layout.container == Some(Container::Table);
        let (removed, around) = match layout.container {
            Some(Container::Elements | Container::Sections) => (None, removed.map(Kept::new)),
            _ => (removed, None),
        };
        Copy {
            window: Window::new(input),
            at: 0,
            kept,
            removed,
            around,
            ending: None,
            lone: false,
            is_json: layout.container == Some(Container::Json),
            is_markup: layout.container == Some(Container::Elements),
        }
    }

    /// Copies the header of a table to both outputs.
    fn header(&mut self, length: u64) -> Result<(), Failed> {
        while self.at < length {
            let piece = self.window.next(length - self.at);
            let piece = piece.map_err(Failed::Reading)?.ok_or(Failed::Place(0))?;
            self.at += piece.bytes.len() as u64;
            if let Some(removed) = &mut self.removed {
                removed.write_all(piece.bytes).map_err(Failed::Removing)?;
            }
            self.kept.between(piece).map_err(Failed::Keeping)?;
        }
        Ok(())
    }

    /// Copies the bytes before a place; the input may end before it. Bytes that may be the prolog
    /// of a document are held back. If there is a record at that place, they are its prolog.
    fn between(&mut self, end: u64) -> Result<(), Failed> {
        let mut held = Vec::new();
        while self.at < end {
            let piece = self.window.next(end - self.at).map_err(Failed::Reading)?;
            let Some(piece) = piece else { break };
            self.at += piece.bytes.len() as u64;
            if let Some(ending) = &mut self.ending {
                let missing = CRLF.len() - ending.behind.len();
                ending.behind.extend(piece.bytes.iter().take(missing));
            }
            let Some(around) = self.around.as_mut() else {
                self.kept.between(piece).map_err(Failed::Keeping)?;
                continue;
            };
            held.extend_from_slice(piece.bytes);
            let prolog = match prolog(&held) {
                Some(at)
                    if self.is_markup && held.len() - at <= MOST_SEPARATOR && end < u64::MAX =>
                {
                    at
                }
                _ => held.len(),
            };
            let bytes = &held[..prolog];
            let piece = Piece { bytes, ..piece };
            self.kept.between(piece).map_err(Failed::Keeping)?;
            around.between(piece).map_err(Failed::Removing)?;
            held.drain(..prolog);
        }
        if !held.is_empty()
            && let Some(around) = &mut self.around
        {
            self.kept.prolog.clone_from(&held);
            around.prolog = held;
        }
        Ok(())
    }

    fn record(&mut self, span: &Span, edit: &mut dyn FileEdit) -> Result<(), Failed> {
        self.between(span.offset)?;
        if self.at != span.offset {
            return Err(Failed::Place(span.offset));
        }
        let first = self.window.peek().map_err(Failed::Reading)?;
        self.kept.gap |= std::mem::take(&mut self.window.gap);
        self.kept.json |= first == Some(b'{') && !self.kept.table;
        self.lone = span.offset == 0 && !self.kept.table;
        match &span.action {
            Action::Keep => self.keep(span, None)?,
            Action::Annotate(_) if first != Some(b'{') => {
                return Err(Failed::NotAnObject(span.offset));
            }
            Action::Annotate(annotation) => self.keep(span, Some(&annotation.json()))?,
            Action::Change { kept } => self.change(span, *kept, edit)?,
            Action::Remove if self.around.is_some() => self.remove_around(span)?,
            Action::Remove | Action::Revisit(_) => self.remove(span)?,
        }
        self.lone &= matches!(span.action, Action::Remove | Action::Change { kept: false });
        Ok(())
    }

    /// Copies a record, a JSON object with this value of its member `lookalike`.
    fn keep(&mut self, span: &Span, member: Option<&str>) -> Result<(), Failed> {
        if let Some(around) = &mut self.around {
            around.after_removed();
        }
        let out = &mut self.kept;
        out.begin_record().map_err(Failed::Keeping)?;
        let mut annotator = member.map(Annotator::new);
        let mut annotated = Vec::new();
        self.window
            .record(&mut self.at, span, |bytes, new_member| {
                let bytes = match &mut annotator {
                    None => bytes,
                    Some(annotator) => {
                        annotated.clear();
                        annotator.push(bytes, &mut annotated);
                        &annotated
                    }
                };
                out.record(bytes, new_member).map_err(Failed::Keeping)
            })?;
        if annotator.is_some_and(|annotator| !annotator.is_complete()) {
            return Err(Failed::NotAnObject(span.offset));
        }
        out.state = State::AfterKept;
        Ok(())
    }

    /// Copies a record as the edit changes it. The whole record is in memory.
    fn change(&mut self, span: &Span, kept: bool, edit: &mut dyn FileEdit) -> Result<(), Failed> {
        let (mut bytes, mut new_member) = (Vec::new(), false);
        self.window
            .record(&mut self.at, span, |piece, begins_member| {
                new_member |= begins_member && bytes.is_empty();
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
        let bytes = edit.record(bytes, self.is_json).map_err(Failed::Edit)?;
        match kept {
            true => self.kept.whole_record(&bytes, new_member),
            false => {
                self.kept.after_removed();
                Ok(())
            }
        }
    }

    /// Copies a record to the removed ones as if these were kept.
    fn remove_around(&mut self, span: &Span) -> Result<(), Failed> {
        self.kept.after_removed();
        let Some(around) = &mut self.around else {
            return Ok(());
        };
        around.begin_record().map_err(Failed::Removing)?;
        self.window
            .record(&mut self.at, span, |bytes, new_member| {
                around.record(bytes, new_member).map_err(Failed::Removing)
            })?;
        around.state = State::AfterKept;
        Ok(())
    }

    /// Copies a record to the removed ones. A `revisit` record may take its place.
    fn remove(&mut self, span: &Span) -> Result<(), Failed> {
        let before = self.ending.take();
        let line_end = before.as_ref().map_or(&b"\n"[..], Ending::line_end);
        if let (Some(removed), Some(before), false) = (&mut self.removed, before, self.kept.table) {
            before
                .write(*removed)
                .and_then(|()| before.end_member(*removed))
                .map_err(Failed::Removing)?;
        }
        let ending = self.ending.insert(Ending {
            before: line_end,
            ..Ending::default()
        });
        // The beginning of the record, for a `revisit` record.
        let (mut head, mut new_member) = (Vec::new(), None);
        self.window
            .record(&mut self.at, span, |bytes, begins_member| {
                ending.see(bytes);
                new_member.get_or_insert(begins_member);
                if let Action::Revisit(_) = span.action {
                    let missing = REVISIT_HEAD - head.len();
                    head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
                }
                match &mut self.removed {
                    Some(removed) => removed.write_all(bytes).map_err(Failed::Removing),
                    None => Ok(()),
                }
            })?;
        let Action::Revisit(reference) = &span.action else {
            self.kept.after_removed();
            return Ok(());
        };
        let bytes = revisit(&head, reference).ok_or(Failed::Place(span.offset))?;
        self.kept.whole_record(&bytes, new_member == Some(true))
    }

    fn finish(mut self) -> Result<bool, Failed> {
        let last = self.at;
        self.between(u64::MAX)?;
        self.kept.finish().map_err(Failed::Keeping)?;
        if let Some(around) = &mut self.around {
            around.finish().map_err(Failed::Removing)?;
        }
        let lone = self.lone && self.at == last;
        // A file that is one document keeps its end.
        if let (Some(removed), Some(ending), false) =
            (self.removed, self.ending, lone || self.kept.table)
        {
            ending.write(removed).map_err(Failed::Removing)?;
        }
        Ok(lone)
    }
}

/// Bytes of the input, and whether they begin a member.
#[derive(Clone, Copy)]
struct Piece<'w> {
    bytes: &'w [u8],
    new_member: bool,
    gap: bool,
}

struct Window<'i, I> {
    input: &'i mut I,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    members: u64,
    new_member: bool,
    gaps: u64,
    /// Whether a damaged stretch was left out before the next byte.
    gap: bool,
}

impl<'i, I: Members> Window<'i, I> {
    fn new(input: &'i mut I) -> Self {
        Window {
            input,
            buffer: vec![0; PIECE].into_boxed_slice(),
            start: 0,
            end: 0,
            members: 0,
            new_member: false,
            gaps: 0,
            gap: false,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start < self.end {
            return Ok(());
        }
        (self.start, self.end) = (0, 0);
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(n) => {
                    self.end = n;
                    let before = std::mem::replace(&mut self.members, self.input.members());
                    self.new_member = before != self.members;
                    let before = std::mem::replace(&mut self.gaps, self.input.gaps());
                    self.gap |= before != self.gaps;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next bytes, at most `most` of them; `None` at the end.
    fn next(&mut self, most: u64) -> io::Result<Option<Piece<'_>>> {
        self.fill()?;
        if self.start == self.end {
            return Ok(None);
        }
        let left = self.end - self.start;
        let taken = usize::try_from(most).unwrap_or(left).min(left);
        let bytes = &self.buffer[self.start..self.start + taken];
        self.start += taken;
        let new_member = std::mem::take(&mut self.new_member);
        let gap = std::mem::take(&mut self.gap);
        Ok(Some(Piece {
            bytes,
            new_member,
            gap,
        }))
    }

    /// Passes on the bytes of a record, from the place `at` on, and whether they begin a member.
    fn record(
        &mut self,
        at: &mut u64,
        span: &Span,
        mut pass: impl FnMut(&[u8], bool) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let end = span.offset + span.length;
        while *at < end {
            let piece = self.next(end - *at).map_err(Failed::Reading)?;
            let piece = piece.ok_or(Failed::Place(span.offset))?;
            *at += piece.bytes.len() as u64;
            pass(piece.bytes, piece.new_member)?;
        }
        Ok(())
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        self.fill()?;
        Ok(self.buffer[self.start..self.end].first().copied())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// After content, or at the start.
    Content,
    /// After a kept record.
    AfterKept,
    /// After a removed record.
    AfterRemoved,
}

/// The kept file. Nothing but separators is held back.
struct Kept<'o, O> {
    out: &'o mut O,
    /// The separator after the last kept record.
    held: Vec<u8>,
    /// The separator after the removed record before this place.
    dropped: Vec<u8>,
    /// A member of the input ended since the last byte was written.
    member_ended: bool,
    /// A damaged stretch was left out since the last byte was written.
    gap: bool,
    /// The prolog of the last document, unless it is written.
    prolog: Vec<u8>,
    /// The last byte that was written.
    last: u8,
    /// Whether the file has no separators.
    table: bool,
    /// Whether commas and record separators are separators.
    json: bool,
    state: State,
    /// Whether anything was written.
    any: bool,
    /// Whether the last bytes written, apart from bytes that are held back, are a record.
    ends_with_record: bool,
}

impl<'o, O: MemberSink> Kept<'o, O> {
    fn new(out: &'o mut O) -> Self {
        Kept {
            out,
            held: Vec::new(),
            dropped: Vec::new(),
            member_ended: false,
            gap: false,
            prolog: Vec::new(),
            last: b'\n',
            json: false,
            table: false,
            state: State::Content,
            any: false,
            ends_with_record: false,
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(&last) = bytes.last() else {
            return Ok(());
        };
        self.any = true;
        // The rest of a record must not become a part of the next one.
        if std::mem::take(&mut self.gap) && self.last != b'\n' {
            self.out.write_all(b"\n")?;
        }
        self.last = last;
        self.out.write_all(bytes)
    }

    fn put_held(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.put(&held)?;
        self.end_member()
    }

    fn end_member(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.member_ended) {
            self.out.end_member()?;
        }
        Ok(())
    }

    fn between(&mut self, piece: Piece<'_>) -> io::Result<()> {
        let mut bytes = piece.bytes;
        self.member_ended |= piece.new_member;
        if self.table {
            self.state = State::Content;
        }
        self.gap |= piece.gap;
        if self.state != State::Content {
            let is_separator =
                |byte: &u8| byte.is_ascii_whitespace() || self.json && matches!(byte, b',' | 0x1e);
            let length = bytes.iter().take_while(|byte| is_separator(byte)).count();
            let pending = match self.state {
                State::AfterKept => &mut self.held,
                _ => &mut self.dropped,
            };
            pending.extend_from_slice(&bytes[..length]);
            bytes = &bytes[length..];
            if bytes.is_empty() && pending.len() <= MOST_SEPARATOR {
                return Ok(());
            }
            let closes = match bytes.first() {
                Some(b']') => self.json,
                Some(b'<') => !self.json,
                _ => false,
            };
            self.put_separator(closes)?;
            self.state = State::Content;
        }
        self.end_member()?;
        self.ends_with_record &= bytes.is_empty();
        if memmem::find(bytes, XML).is_some() {
            self.prolog.clear();
        }
        // The root of a document whose first records are removed.
        let is_tag = |two: &[u8]| two[0] == b'<' && !b"?!".contains(&two[1]);
        if !self.prolog.is_empty() && bytes.windows(2).any(is_tag) {
            self.put_prolog()?;
        }
        self.put(bytes)
    }

    /// Writes the separator before content or the end. If the content ends the list of records, the
    /// separator after the last record takes the place of the one after the last kept record.
    fn put_separator(&mut self, ends: bool) -> io::Result<()> {
        if ends && self.state == State::AfterRemoved && self.ends_with_record {
            self.dropped.retain(|byte| *byte != b',');
            std::mem::swap(&mut self.held, &mut self.dropped);
        }
        self.dropped.clear();
        self.put_held()
    }

    fn begin_record(&mut self) -> io::Result<()> {
        self.dropped.clear();
        self.put_held()?;
        self.put_prolog()
    }

    fn put_prolog(&mut self) -> io::Result<()> {
        let prolog = std::mem::take(&mut self.prolog);
        self.put(&prolog)
    }

    fn record(&mut self, bytes: &[u8], new_member: bool) -> io::Result<()> {
        self.member_ended |= new_member;
        self.end_member()?;
        self.ends_with_record = true;
        self.put(bytes)
    }

    /// Writes a record that is in memory.
    fn whole_record(&mut self, bytes: &[u8], new_member: bool) -> Result<(), Failed> {
        self.begin_record()
            .and_then(|()| self.record(bytes, new_member))
            .map_err(Failed::Keeping)?;
        self.state = State::AfterKept;
        Ok(())
    }

    fn after_removed(&mut self) {
        // The separator of an earlier removed record is also left out.
        self.dropped.clear();
        self.state = State::AfterRemoved;
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.any {
            self.held.clear();
            self.dropped.clear();
        }
        self.put_separator(true)
    }
}

/// The beginning of a declaration.
const XML: &[u8] = b"<?xml";

/// Where the prolog begins that these bytes end with: a declaration or a document type, followed by
/// nothing but white space, comments and processing instructions, whose last one may be incomplete.
fn prolog(bytes: &[u8]) -> Option<usize> {
    let from = memmem::rfind(bytes, b"</").unwrap_or(0);
    let mut begins = memchr::memchr_iter(b'<', &bytes[from..]).map(|at| from + at);
    begins.find(|&begin| {
        let rest = &bytes[begin..];
        let begins = rest.starts_with(XML) || XML.starts_with(rest) || is_doctype(rest);
        begins && is_misc(rest)
    })
}

fn is_misc(mut rest: &[u8]) -> bool {
    loop {
        rest = rest.trim_ascii_start();
        let end: &[u8] = match rest {
            [] | [b'<'] => return true,
            [b'<', b'?', ..] => b"?>",
            [b'<', b'!', b'-', ..] => b"-->",
            [b'<', b'!', ..] => match doctype_end(rest) {
                Some(length) => {
                    rest = &rest[length..];
                    continue;
                }
                None => return !rest.contains(&b'>') || rest.contains(&b'['),
            },
            _ => return false,
        };
        match memmem::find(rest, end) {
            Some(at) => rest = &rest[at + end.len()..],
            None => return true,
        }
    }
}

/// The end of a removed record, which decides how it is separated from the next one.
#[derive(Default)]
struct Ending {
    first: Vec<u8>,
    last: u8,
    /// The first bytes of what follows.
    behind: Vec<u8>,
    /// The line end behind the removed record before it.
    before: &'static [u8],
}

const CRLF: &[u8] = b"\r\n";

/// The first bytes of a WARC record.
const WARC: &[u8] = b"WARC/";

impl Ending {
    /// A record comes in pieces of any length.
    fn see(&mut self, bytes: &[u8]) {
        let missing = WARC.len() - self.first.len();
        self.first.extend(bytes.iter().take(missing));
        self.last = bytes.last().copied().unwrap_or(self.last);
    }

    /// The line end of the file, as it is behind the record.
    fn line_end(&self) -> &'static [u8] {
        match &self.behind[..] {
            CRLF => CRLF,
            [b'\r', ..] => b"\r",
            [b'\n', ..] => b"\n",
            _ => self.before,
        }
    }

    fn write(&self, out: &mut impl MemberSink) -> io::Result<()> {
        match self.last {
            _ if self.first == WARC => out.write_all(b"\r\n\r\n"),
            b'\n' | b'\r' => Ok(()),
            _ => out.write_all(self.line_end()),
        }
    }

    /// Each WARC record is a member of its own.
    fn end_member(&self, out: &mut impl MemberSink) -> io::Result<()> {
        if self.first == WARC {
            out.end_member()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::annotate::Annotation;
    use super::*;

    /// Reads the pieces that it was made of, each a member, a few bytes at a time.
    struct Parts(Vec<Vec<u8>>, u64, usize);

    impl Read for Parts {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            while self.0.first().is_some_and(Vec::is_empty) {
                self.0.remove(0);
                self.1 += 1;
            }
            let Some(part) = self.0.first_mut() else {
                return Ok(0);
            };
            self.1 = self.1.max(1);
            let n = part.len().min(out.len()).min(self.2);
            out[..n].copy_from_slice(&part[..n]);
            part.drain(..n);
            Ok(n)
        }
    }

    impl Members for Parts {
        fn members(&self) -> u64 {
            self.1
        }
    }

    #[derive(Default)]
    struct Out(Vec<Vec<u8>>, Vec<u8>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MemberSink for Out {
        fn end_member(&mut self) -> io::Result<()> {
            if !self.1.is_empty() {
                self.0.push(std::mem::take(&mut self.1));
            }
            Ok(())
        }
    }

    impl FileEdit for std::vec::IntoIter<Span> {
        fn next(&mut self) -> lookalike_base::Result<Option<Span>> {
            Ok(Iterator::next(self))
        }
    }

    fn span(offset: usize, length: usize, kept: bool) -> Span {
        Span {
            offset: offset as u64,
            length: length as u64,
            action: if kept { Action::Keep } else { Action::Remove },
        }
    }

    /// Copies the records of an input to two outputs.
    fn both(
        mut input: Parts,
        spans: Vec<Span>,
        container: Option<Container>,
        header: u64,
    ) -> (Result<bool, Failed>, Out, Out) {
        let (mut out, mut removed) = (Out::default(), Out::default());
        let layout = Layout { container, header };
        let edit = &mut spans.into_iter();
        let copied = copy(&mut input, edit, &mut out, Some(&mut removed), layout);
        (copied, out, removed)
    }

    /// Each XML document keeps its prolog, in both outputs, and every other byte is in one of them.
    #[test]
    fn prologs_go_with_their_documents() {
        let p = "<?xml version=\"1.0\"?>\n<!DOCTYPE r SYSTEM \"a.dtd\" [ ]>\n";
        let short = "<?xml version='1.0'?>";
        let kept = "<r>k</r>";
        let removed = "<r>x</r>";
        for (text, expected, rest) in [
            (
                format!("{p}{kept}\n{p}{removed}\n{p}{kept}\n"),
                format!("{p}{kept}\n{p}{kept}\n"),
                format!("{p}{removed}\n"),
            ),
            (
                format!("{p}{removed}\n{p}{removed}\n{p}{kept}\n"),
                format!("{p}{kept}\n"),
                format!("{p}{removed}\n{p}{removed}\n"),
            ),
            (
                format!("{p}{kept}{short}{removed}\n<!-- c -->\n"),
                format!("{p}{kept}\n<!-- c -->\n"),
                format!("{short}{removed}\n<!-- c -->\n"),
            ),
            // Later documents without a prolog have the first one's charset.
            (
                format!("{short}\n{removed}\n{kept}\n"),
                format!("{short}\n{kept}\n"),
                format!("{short}\n{removed}\n"),
            ),
            // Roots are in both outputs.
            (
                format!("{p}<a>\n{removed}\n{kept}\n</a>\n{p}<a>{removed}</a>"),
                format!("{p}<a>\n{kept}\n</a>\n{p}<a></a>"),
                format!("{p}<a>\n{removed}\n</a>\n{p}<a>{removed}</a>"),
            ),
            (
                format!("{p}{removed}\n{short}<b>other</b>\n"),
                format!("{short}<b>other</b>\n"),
                format!("{p}{removed}\n{short}<b>other</b>\n"),
            ),
        ] {
            for size in [1, 7, 1000] {
                let mut spans = Vec::new();
                for (at, _) in text.match_indices("<r>") {
                    spans.push(span(at, kept.len(), text[at..].starts_with(kept)));
                }
                let input = Parts(vec![text.clone().into_bytes()], 0, size);
                let (lone, out, others) = both(input, spans, Some(Container::Elements), 0);
                lone.unwrap();
                let text_of = |out: Out| String::from_utf8([out.0.concat(), out.1].concat());
                assert_eq!(text_of(out).unwrap(), expected, "{text} {size}");
                assert_eq!(text_of(others).unwrap(), rest, "{text} {size}");
            }
        }
    }

    /// Copies a text in which `<...>` are kept records and `(...)` removed ones.
    fn copied(text: &str) -> (String, String, bool) {
        let mut spans = Vec::new();
        let (mut bytes, mut start, mut kept) = (Vec::new(), 0, true);
        for byte in text.bytes() {
            match byte {
                b'<' | b'(' => (start, kept) = (bytes.len(), byte == b'<'),
                b'>' | b')' => spans.push(span(start, bytes.len() - start, kept)),
                _ => bytes.push(byte),
            }
        }
        let (lone, out, removed) = both(Parts(vec![bytes], 0, 7), spans, None, 0);
        let text = |out: Out| String::from_utf8([out.0.concat(), out.1].concat()).unwrap();
        (text(out), text(removed), lone.unwrap())
    }

    #[test]
    fn separators_go_with_their_records() {
        for (text, expected) in [
            ("<{a}>\n({b})\n<{c}>\n", "{a}\n{c}\n"),
            ("({a})\n<{b}>\n<{c}>", "{b}\n{c}"),
            ("<{a}>\n<{b}>\n({c})\n", "{a}\n{b}\n"),
            ("<{a}>\n<{b}>\n({c})", "{a}\n{b}"),
            ("({a})\n({b})\n", ""),
            ("<{a}>\r\n\r\n({b})\n({c})\r\n<{d}>", "{a}\r\n\r\n{d}"),
            ("[<{a}>, ({b}), <{c}>]\n", "[{a}, {c}]\n"),
            ("[<{a}>, ({b})]\n", "[{a}]\n"),
            ("[\n  ({a}),\n  <{b}>\n]", "[\n  {b}\n]"),
            ("[\n  <{a}>,\n  ({b}),\n  ({c})\n]\n", "[\n  {a}\n]\n"),
            ("[({a}),({b})]", "[]"),
            ("<{a}>\n({b})\n{bad\n<{c}>\n", "{a}\n{bad\n{c}\n"),
            ("\x1e<{a}>\n\x1e({b})\n\x1e<{c}>\n", "\x1e{a}\n\x1e{c}\n"),
            ("\x1e({a})\n\x1e<{b}>\n\x1e({c})\n", "\x1e{b}\n"),
            ("\u{feff}({a})\n\u{feff}<{b}>\n", "\u{feff}\u{feff}{b}\n"),
            ("head <a> , (b) , <c>", "head a , , c"),
            ("# x\n<a>\n(b)\n# y\n(c)\n", "# x\na\n# y\n"),
        ] {
            assert_eq!(copied(text).0, expected, "{text}");
        }
    }

    #[test]
    fn both_outputs_have_what_is_around_elements() {
        let text = "<?xml?>\n<r>\n  <p>a</p>\n  <p>b</p>\n  <p>c</p>\n</r>\n";
        let place = |name: &str| text.find(&format!("<p>{name}")).unwrap();
        for (kept, expected, other) in [
            (
                "ac",
                "<r>\n  <p>a</p>\n  <p>c</p>\n</r>\n",
                "<r>\n  <p>b</p>\n</r>\n",
            ),
            (
                "a",
                "<r>\n  <p>a</p>\n</r>\n",
                "<r>\n  <p>b</p>\n  <p>c</p>\n</r>\n",
            ),
            ("", "<r>\n  </r>\n", &text["<?xml?>\n".len()..]),
        ] {
            let spans = ["a", "b", "c"].map(|name| span(place(name), 8, kept.contains(name)));
            let input = Parts(vec![text.as_bytes().to_vec()], 0, 5);
            let (lone, out, removed) = both(input, spans.into(), Some(Container::Elements), 0);
            assert!(!lone.unwrap());
            for (out, expected) in [(out, expected), (removed, other)] {
                let out = String::from_utf8(out.1).unwrap();
                assert_eq!(out, format!("<?xml?>\n{expected}"), "{kept}");
            }
        }
    }

    #[test]
    fn removed_records_are_separated_and_a_lone_one_is_noticed() {
        for (text, expected) in [
            ("[({a}), ({b}), <{c}>]", "{a}\n{b}\n"),
            // The line ends of the file.
            ("({a})\r\n<{b}>\r\n({c})\r\n", "{a}\r\n{c}\r\n"),
            ("<{a}>\r\n({b})\r\n({c})", "{b}\r\n{c}\r\n"),
            ("<{a}>\r({b})\r", "{b}\r"),
            ("<a\r>(b\r)", "b\r"),
        ] {
            assert_eq!(copied(text).1, expected, "{text:?}");
        }
        assert_eq!(
            copied("(WARC/a)\r\n\r\n<WARC/b>\r\n\r\n").1,
            "WARC/a\r\n\r\n"
        );
        assert_eq!(
            copied("(all of it)"),
            (String::new(), "all of it".into(), true)
        );
        assert!(!copied("(all)\n").2);
        assert!(!copied("<all>").2);
    }

    /// Rows keep every byte, and both outputs have the header.
    #[test]
    fn tables_keep_their_header_and_their_rows() {
        let rows = [
            "{1,a\r\n",
            "2,\"b\r\n, \"\"c\"\r\n",
            "\r\n\tstray\r\n",
            "3,c\r",
            "4,d",
        ];
        let text = format!("\u{feff}id,text\r\n{}", rows.concat());
        for removed in 0..32 {
            let kept = |row: usize| removed >> row & 1 == 0;
            let (mut at, mut spans) = (12, Vec::new());
            for (row, bytes) in rows.iter().enumerate() {
                if row != 2 {
                    spans.push(span(at, bytes.len(), kept(row)));
                }
                at += bytes.len();
            }
            let input = Parts(vec![text.as_bytes().to_vec()], 0, 5);
            let (lone, out, gone) = both(input, spans, Some(Container::Table), 12);
            assert!(!lone.unwrap());
            let of = |wanted: &dyn Fn(usize) -> bool| {
                let rows = rows.iter().enumerate().filter(|(row, _)| wanted(*row));
                let rows: String = rows.map(|(_, bytes)| *bytes).collect();
                format!("\u{feff}id,text\r\n{rows}")
            };
            assert_eq!(
                String::from_utf8(out.1).unwrap(),
                of(&|row| row == 2 || kept(row))
            );
            assert_eq!(
                String::from_utf8(gone.1).unwrap(),
                of(&|row| row != 2 && !kept(row))
            );
        }
    }

    #[test]
    fn members_of_the_input_are_members_of_the_output() {
        let parts = [
            "WARC/1 one\r\n\r\n",
            "WARC/1 two\r\n\r\n",
            "WARC/1 three\r\n\r\n",
        ];
        let mut at = 0;
        let spans = parts.iter().zip([true, false, true]).map(|(part, kept)| {
            let offset = at;
            at += part.len();
            span(offset, part.len() - 4, kept)
        });
        let input = Parts(parts.map(|part| part.as_bytes().to_vec()).to_vec(), 0, 7);
        let (_, mut out, _) = both(input, spans.collect(), None, 0);
        out.end_member().unwrap();
        assert_eq!(out.0, [parts[0].as_bytes(), parts[2].as_bytes()]);
    }

    /// A read may end anywhere, also within the first bytes of a record.
    #[test]
    fn removed_records_are_members_however_they_are_read() {
        let parts = ["WARC/1 one", "WARC/1 two", "WARC/1 three"];
        for most in 1..20 {
            let mut at = 0;
            let spans = parts.map(|part| {
                let offset = at;
                at += part.len() + 4;
                span(offset, part.len(), false)
            });
            let bytes = parts.map(|part| format!("{part}\r\n\r\n").into_bytes());
            let input = Parts(bytes.to_vec(), 0, most);
            let (_, _, mut removed) = both(input, spans.into(), None, 0);
            removed.end_member().unwrap();
            assert_eq!(removed.0, bytes, "{most} bytes at a time");
        }
    }

    #[test]
    fn a_member_goes_before_the_closing_brace() {
        let text = b"{\"a\":1}\n{\"b\":2}\n";
        let spans = [0, 8].map(|offset| Span {
            action: Action::Annotate(Annotation::default()),
            ..span(offset, 7, true)
        });
        let input = Parts(vec![text.to_vec()], 0, 7);
        let (_, out, _) = both(input, spans.into(), None, 0);
        let value = Annotation::default().json();
        let expected =
            format!("{{\"a\":1,\"lookalike\":{value}}}\n{{\"b\":2,\"lookalike\":{value}}}\n");
        assert_eq!(String::from_utf8(out.1).unwrap(), expected);
    }

    #[test]
    fn places_that_do_not_fit_are_errors() {
        for spans in [
            vec![span(0, 9, true)],
            vec![span(9, 1, true)],
            vec![span(0, 3, true), span(2, 1, true)],
        ] {
            let input = Parts(vec![b"12345678".to_vec()], 0, 7);
            let (copied, ..) = both(input, spans, None, 0);
            assert!(matches!(copied, Err(Failed::Place(_))));
        }
    }
}
