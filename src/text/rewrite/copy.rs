//! Copies a file without the bytes of removed records. A `revisit` record can take the place of a
//! removed WARC record.
//!
//! # Algorithm
//! What lies between records is *separators* (white space, and commas and record separators of RFC
//! 7464 between JSON objects) and content (brackets, comments, byte order marks, records that are no
//! documents, rejected bytes). Content is copied. A separator goes with the record before it. At
//! the end of a file or of an array, what follows the last record takes the place of the separator
//! after the last kept record, so that no comma and no empty line is left over. So it is
//! before a tag, which may end the element around the records.
//!
//! A table has no separators: rows have their line ends. Its header is copied to both outputs.
//!
//! The removed records of most formats are written one after the other. Elements of markup are
//! written with the content around them ([`Removed::Around`]), which may have their charset.

use std::io::{self, Read, Write};

use super::annotate::Annotator;
use crate::text::read::{REVISIT_HEAD, Reference, revisit};

/// The number of bytes that are read at once.
const PIECE: usize = 256 << 10;
/// A longer separator counts as content.
const MOST_SEPARATOR: usize = 64 << 10;

/// A record whose fate is known, by its place in the decompressed bytes of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub offset: u64,
    pub length: u64,
    pub kept: bool,
    /// The value of the member `lookalike` that the record, a JSON object, gets.
    pub member: Option<String>,
    /// What the `revisit` record says that takes the place of a WARC record that is not kept.
    pub revisit: Option<Reference>,
    /// Whether the record is rewritten as a whole ([`copy_rewriting`]).
    pub rewritten: bool,
}

/// The bytes of a file, decompressed.
pub(crate) trait Members: Read {
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
pub(crate) trait MemberSink: Write {
    /// Ends the current member, unless it is empty.
    fn end_member(&mut self) -> io::Result<()>;
}

/// Why a copy failed.
#[derive(Debug)]
pub(crate) enum Failed<E> {
    /// The input cannot be read.
    Reading(io::Error),
    /// The kept file cannot be written.
    Keeping(io::Error),
    /// The removed records cannot be written.
    Removing(io::Error),
    /// The record that should be at this offset is not.
    Place(u64),
    /// A member cannot be added to the record at this offset, which is no JSON object.
    NotAnObject(u64),
    /// The next span is not known.
    Span(E),
}

/// How removed records are written.
pub(crate) enum Removed<'r> {
    /// Nowhere.
    Nowhere,
    /// One after the other.
    Records(&'r mut dyn MemberSink),
    /// As if they were the kept ones.
    Around(&'r mut dyn MemberSink),
}

/// Copies `input` to `kept` without the removed records, and those to `removed`. `spans` has every
/// document of the file, in order. A table has a `header` of this number of bytes. Returns whether
/// the file is one removed record and nothing else.
pub(crate) fn copy<E>(
    input: &mut impl Members,
    spans: impl Iterator<Item = Result<Span, E>>,
    kept: &mut impl MemberSink,
    removed: Removed<'_>,
    header: Option<u64>,
) -> Result<bool, Failed<E>> {
    copy_rewriting(input, spans, kept, (removed, header), &mut |_, bytes| {
        Ok(bytes)
    })
}

/// Makes a new record from one.
pub(crate) type Rewrite<'r, E> = dyn FnMut(&Span, Vec<u8>) -> Result<Vec<u8>, E> + 'r;

/// As [`copy`], with what `rewrite` returns in place of each rewritten record that is kept. A
/// rewritten record is in memory as a whole. `rewrite` also sees those that are removed.
pub(crate) fn copy_rewriting<E>(
    input: &mut impl Members,
    spans: impl Iterator<Item = Result<Span, E>>,
    kept: &mut impl MemberSink,
    (removed, header): (Removed<'_>, Option<u64>),
    rewrite: &mut Rewrite<'_, E>,
) -> Result<bool, Failed<E>> {
    let mut window = Window::new(input);
    let mut out = Kept::new(kept);
    out.table = header.is_some();
    let (mut removed, mut around) = match removed {
        Removed::Nowhere => (None, None),
        Removed::Records(sink) => (Some(sink), None),
        Removed::Around(sink) => (None, Some(Kept::new(sink))),
    };
    let mut at = 0;
    while let Some(left) = header.map(|header| header - at).filter(|left| *left > 0) {
        let piece = window.next(left).map_err(Failed::Reading)?;
        let piece = piece.ok_or(Failed::Place(0))?;
        at += piece.bytes.len() as u64;
        if let Some(removed) = &mut removed {
            removed.write_all(piece.bytes).map_err(Failed::Removing)?;
        }
        out.between(piece).map_err(Failed::Keeping)?;
    }
    let mut whole = false;
    // The end of the last removed record, which is not yet separated from a next one.
    let mut ending: Option<Ending> = None;
    for span in spans {
        let span = span.map_err(Failed::Span)?;
        let misplaced = || Failed::Place(span.offset);
        if span.offset < at {
            return Err(misplaced());
        }
        while at < span.offset {
            let piece = window.next(span.offset - at).map_err(Failed::Reading)?;
            let piece = piece.ok_or_else(misplaced)?;
            at += piece.bytes.len() as u64;
            out.between(piece).map_err(Failed::Keeping)?;
            if let Some(around) = &mut around {
                around.between(piece).map_err(Failed::Removing)?;
            }
        }
        let end = span.offset + span.length;
        let first = window.peek().map_err(Failed::Reading)?;
        out.gap |= std::mem::take(&mut window.gap);
        out.json |= first == Some(b'{') && !out.table;
        if span.member.is_some() && first != Some(b'{') {
            return Err(Failed::NotAnObject(span.offset));
        }
        if span.rewritten {
            let (mut bytes, mut new_member) = (Vec::new(), false);
            at = record(&mut window, at, end, &span, |piece, begins_member| {
                new_member |= begins_member && bytes.is_empty();
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
            let bytes = rewrite(&span, bytes).map_err(Failed::Span)?;
            if span.kept {
                out.begin_record()
                    .and_then(|()| out.record(&bytes, new_member))
                    .map_err(Failed::Keeping)?;
                out.state = State::AfterKept;
            } else {
                out.after_removed();
            }
        } else if let (Some(around), false) = (&mut around, span.kept) {
            out.after_removed();
            around.begin_record().map_err(Failed::Removing)?;
            at = record(&mut window, at, end, &span, |bytes, new_member| {
                around.record(bytes, new_member).map_err(Failed::Removing)
            })?;
            around.state = State::AfterKept;
        } else if span.kept {
            if let Some(around) = &mut around {
                around.after_removed();
            }
            out.begin_record().map_err(Failed::Keeping)?;
            at = record(&mut window, at, end, &span, |bytes, new_member| {
                out.record(bytes, new_member).map_err(Failed::Keeping)
            })?;
            out.state = State::AfterKept;
        } else {
            if let (Some(removed), Some(before), false) = (&mut removed, ending.take(), out.table) {
                before
                    .write(*removed)
                    .and_then(|()| before.end_member(*removed))
                    .map_err(Failed::Removing)?;
            }
            let ending = ending.insert(Ending::default());
            // The beginning of the record, if another one takes its place.
            let (mut head, mut new_member) = (Vec::new(), None);
            at = record(&mut window, at, end, &span, |bytes, begins_member| {
                ending.see(bytes);
                new_member.get_or_insert(begins_member);
                if span.revisit.is_some() {
                    let missing = REVISIT_HEAD - head.len();
                    head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
                }
                match &mut removed {
                    Some(removed) => removed.write_all(bytes).map_err(Failed::Removing),
                    None => Ok(()),
                }
            })?;
            match &span.revisit {
                Some(reference) => {
                    let bytes = revisit(&head, reference).ok_or_else(misplaced)?;
                    out.begin_record()
                        .and_then(|()| out.record(&bytes, new_member == Some(true)))
                        .map_err(Failed::Keeping)?;
                    out.state = State::AfterKept;
                }
                None => out.after_removed(),
            }
        }
        whole = !span.kept && span.revisit.is_none() && span.offset == 0 && !out.table;
    }
    let last = at;
    while let Some(piece) = window.next(u64::MAX).map_err(Failed::Reading)? {
        at += piece.bytes.len() as u64;
        out.between(piece).map_err(Failed::Keeping)?;
        if let Some(around) = &mut around {
            around.between(piece).map_err(Failed::Removing)?;
        }
    }
    out.finish().map_err(Failed::Keeping)?;
    if let Some(around) = &mut around {
        around.finish().map_err(Failed::Removing)?;
    }
    let lone = whole && at == last;
    let ending = ending.filter(|_| header.is_none());
    // A file that is one document ends as it did.
    if let (Some(removed), Some(ending), false) = (removed, ending, lone) {
        ending.write(removed).map_err(Failed::Removing)?;
    }
    Ok(lone)
}

/// Passes on the bytes of a record, up to `end`.
fn record<E>(
    window: &mut Window<'_, impl Members>,
    mut at: u64,
    end: u64,
    span: &Span,
    mut pass: impl FnMut(&[u8], bool) -> Result<(), Failed<E>>,
) -> Result<u64, Failed<E>> {
    let member = span.member.as_ref().filter(|_| span.kept);
    let mut annotator = member.map(|value| Annotator::new(value));
    let mut annotated = Vec::new();
    while at < end {
        let piece = window.next(end - at).map_err(Failed::Reading)?;
        let piece = piece.ok_or(Failed::Place(span.offset))?;
        at += piece.bytes.len() as u64;
        match &mut annotator {
            None => pass(piece.bytes, piece.new_member)?,
            Some(annotator) => {
                annotated.clear();
                annotator.push(piece.bytes, &mut annotated);
                pass(&annotated, piece.new_member)?;
            }
        }
    }
    match annotator {
        Some(annotator) if !annotator.is_complete() => Err(Failed::NotAnObject(span.offset)),
        _ => Ok(at),
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
struct Kept<'o, O: ?Sized> {
    out: &'o mut O,
    /// The separator after the last kept record.
    held: Vec<u8>,
    /// The separator after the removed record before this place.
    dropped: Vec<u8>,
    /// A member of the input ended since the last byte was written.
    member_ended: bool,
    /// A damaged stretch was left out since the last byte was written.
    gap: bool,
    /// The last byte that was written.
    last: u8,
    /// Whether there are no separators.
    table: bool,
    /// Whether commas and record separators are separators.
    json: bool,
    state: State,
    /// Whether anything was written.
    any: bool,
    /// Whether the last bytes written, but for what is held, are a record.
    ends_with_record: bool,
}

impl<'o, O: MemberSink + ?Sized> Kept<'o, O> {
    fn new(out: &'o mut O) -> Self {
        Kept {
            out,
            held: Vec::new(),
            dropped: Vec::new(),
            member_ended: false,
            gap: false,
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
        // What is left of a record must not become a part of the next one.
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
        self.put_held()
    }

    fn record(&mut self, bytes: &[u8], new_member: bool) -> io::Result<()> {
        self.member_ended |= new_member;
        self.end_member()?;
        self.ends_with_record = true;
        self.put(bytes)
    }

    fn after_removed(&mut self) {
        // The separator of an earlier removed record goes, too.
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

/// The end of a removed record, which decides how it is separated from the next one.
#[derive(Default)]
struct Ending {
    first: Vec<u8>,
    last: u8,
}

/// What a WARC record begins with.
const WARC: &[u8] = b"WARC/";

impl Ending {
    /// A record comes in pieces of any length.
    fn see(&mut self, bytes: &[u8]) {
        let missing = WARC.len() - self.first.len();
        self.first.extend(bytes.iter().take(missing));
        self.last = bytes.last().copied().unwrap_or(self.last);
    }

    fn write(&self, out: &mut dyn MemberSink) -> io::Result<()> {
        match self.last {
            _ if self.first == WARC => out.write_all(b"\r\n\r\n"),
            b'\n' => Ok(()),
            _ => out.write_all(b"\n"),
        }
    }

    /// Each WARC record is a member of its own.
    fn end_member(&self, out: &mut dyn MemberSink) -> io::Result<()> {
        if self.first == WARC {
            out.end_member()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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

    /// Copies a text in which `<...>` are records that stay and `(...)` records that go.
    fn copied(text: &str) -> (String, String, bool) {
        let mut spans = Vec::new();
        let (mut bytes, mut start, mut kept) = (Vec::new(), 0, true);
        for byte in text.bytes() {
            match byte {
                b'<' | b'(' => (start, kept) = (bytes.len(), byte == b'<'),
                b'>' | b')' => spans.push(Ok::<_, ()>(Span {
                    offset: start as u64,
                    length: (bytes.len() - start) as u64,
                    kept,
                    member: None,
                    revisit: None,
                    rewritten: false,
                })),
                _ => bytes.push(byte),
            }
        }
        let (mut out, mut removed) = (Out::default(), Out::default());
        let mut input = Parts(vec![bytes], 0, 7);
        let whole = copy(
            &mut input,
            spans.into_iter(),
            &mut out,
            Removed::Records(&mut removed),
            None,
        )
        .unwrap();
        let text = |out: Out| String::from_utf8([out.0.concat(), out.1].concat()).unwrap();
        (text(out), text(removed), whole)
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
        let place = |name: &str| text.find(&format!("<p>{name}")).unwrap() as u64;
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
            let spans = ["a", "b", "c"].map(|name| {
                Ok::<_, ()>(Span {
                    offset: place(name),
                    length: 8,
                    kept: kept.contains(name),
                    member: None,
                    revisit: None,
                    rewritten: false,
                })
            });
            let (mut out, mut removed) = (Out::default(), Out::default());
            let mut input = Parts(vec![text.as_bytes().to_vec()], 0, 5);
            let removed_sink = Removed::Around(&mut removed);
            let lone = copy(&mut input, spans.into_iter(), &mut out, removed_sink, None).unwrap();
            assert!(!lone);
            for (out, expected) in [(out, expected), (removed, other)] {
                let out = String::from_utf8(out.1).unwrap();
                assert_eq!(out, format!("<?xml?>\n{expected}"), "{kept}");
            }
        }
    }

    #[test]
    fn removed_records_are_separated_and_a_lone_one_is_noticed() {
        assert_eq!(copied("[({a}), ({b}), <{c}>]").1, "{a}\n{b}\n");
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
                    spans.push(Ok::<_, ()>(Span {
                        offset: at,
                        length: bytes.len() as u64,
                        kept: kept(row),
                        member: None,
                        revisit: None,
                        rewritten: false,
                    }));
                }
                at += bytes.len() as u64;
            }
            let (mut out, mut gone) = (Out::default(), Out::default());
            let mut input = Parts(vec![text.as_bytes().to_vec()], 0, 5);
            let header = Some(12);
            let lone = copy(
                &mut input,
                spans.into_iter(),
                &mut out,
                Removed::Records(&mut gone),
                header,
            );
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
            at += part.len() as u64;
            Ok::<_, ()>(Span {
                offset,
                length: part.len() as u64 - 4,
                kept,
                member: None,
                revisit: None,
                rewritten: false,
            })
        });
        let mut input = Parts(parts.map(|part| part.as_bytes().to_vec()).to_vec(), 0, 7);
        let mut out = Out::default();
        copy(&mut input, spans, &mut out, Removed::Nowhere, None).unwrap();
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
                at += part.len() as u64 + 4;
                Ok::<_, ()>(Span {
                    offset,
                    length: part.len() as u64,
                    kept: false,
                    member: None,
                    revisit: None,
                    rewritten: false,
                })
            });
            let bytes = parts.map(|part| format!("{part}\r\n\r\n").into_bytes());
            let mut input = Parts(bytes.to_vec(), 0, most);
            let (mut out, mut removed) = (Out::default(), Out::default());
            copy(
                &mut input,
                spans.into_iter(),
                &mut out,
                Removed::Records(&mut removed),
                None,
            )
            .unwrap();
            removed.end_member().unwrap();
            assert_eq!(removed.0, bytes, "{most} bytes at a time");
        }
    }

    #[test]
    fn a_member_goes_before_the_closing_brace() {
        let text = b"{\"a\":1}\n{\"b\":2}\n";
        let span = |offset, kept| {
            Ok::<_, ()>(Span {
                offset,
                length: 7,
                kept,
                member: Some("0".into()),
                revisit: None,
                rewritten: false,
            })
        };
        let mut out = Out::default();
        let spans = [span(0, true), span(8, true)].into_iter();
        copy(
            &mut Parts(vec![text.to_vec()], 0, 7),
            spans,
            &mut out,
            Removed::Nowhere,
            None,
        )
        .unwrap();
        let expected = b"{\"a\":1,\"lookalike\":0}\n{\"b\":2,\"lookalike\":0}\n";
        assert_eq!(out.1, expected);
    }

    #[test]
    fn places_that_do_not_fit_are_errors() {
        let span = |offset, length| {
            Ok::<_, ()>(Span {
                offset,
                length,
                kept: true,
                member: None,
                revisit: None,
                rewritten: false,
            })
        };
        for spans in [
            vec![span(0, 9)],
            vec![span(9, 1)],
            vec![span(0, 3), span(2, 1)],
        ] {
            let mut input = Parts(vec![b"12345678".to_vec()], 0, 7);
            let copied = copy(
                &mut input,
                spans.into_iter(),
                &mut Out::default(),
                Removed::Nowhere,
                None,
            );
            assert!(matches!(copied, Err(Failed::Place(_))));
        }
    }
}
