//! Frames `<DOC>` ... `</DOC>`, and likewise `<REUTERS ...>` ... `</REUTERS>`.
//!
//! The names match in any case: `<doc>`, `<Doc>`. A record ends at its first closing tag in the
//! spelling of its opening tag, so a page of a bundle of `<DOC>` may contain `</doc>`. A closing
//! tag in another spelling ends it if another record or the end of the file follows. A record that
//! is not closed ends at the next line that begins a record: `<DOC>` with only white space before
//! `<DOCNO>`, or `<DOC id="...">`. The characters `<DOC>` in the text of a page do not match this
//! and end nothing.
//!
//! The records may be inside other elements (`<ROOT>`, `<add>`). The tags of these elements belong
//! to no record, like comments and declarations between records.

use memchr::memmem::{self, Finder};

use super::sgml::{attribute, find_close, is_known, leading_name, open_tag};
use crate::read::ground::bytes::{begins_any_case, find_any_case};
use crate::read::ground::framer::{Behind, Cuts, Framer, Step};
use crate::read::ground::record::RecordKind;
use crate::read::ground::stream::{Sink, Stream};
use crate::read::look::tags::{Aside, COMMENT, closes, is_named};
use lookalike_source::Reason;

/// Maximum look-ahead for a tag, and for a comment between records.
const TAG: usize = 1 << 10;
const BETWEEN: usize = 64 << 10;

/// How many bytes are searched for a `<DOCHDR>`, which follows the docno.
const HEADER_LOOK: usize = 16 << 10;

/// Maximum number of elements around the records.
const MOST_ROOTS: usize = 4;

const DOC: &[u8] = b"DOC";
const REUTERS: &[u8] = b"REUTERS";

/// The element that forms a record, as a file spells it.
#[derive(Clone)]
pub(crate) struct Tag {
    name: &'static [u8],
    /// Finds the name as the first record spells it. Most files have one spelling.
    spelled: Finder<'static>,
    /// The names of the elements around the records.
    roots: Vec<Vec<u8>>,
}

/// The names of the elements around the records, and what follows their opening tags, comments and
/// declarations.
fn front(head: &[u8]) -> (Vec<Vec<u8>>, &[u8]) {
    let (mut roots, mut rest) = (Vec::new(), head.trim_ascii_start());
    loop {
        let end = match comment_or_declaration(rest) {
            Some(end) => end,
            None if opens(rest, DOC) || opens(rest, REUTERS) => return (roots, rest),
            None => match root(rest) {
                Some((name, end)) if roots.len() < MOST_ROOTS => {
                    roots.push(name.to_vec());
                    end
                }
                _ => return (roots, rest),
            },
        };
        rest = rest[end..].trim_ascii_start();
    }
}

/// The name and the length of an opening tag of an element that may contain records. A page of
/// HTML contains none.
fn root(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let tag = open_tag(&bytes[..bytes.len().min(TAG)])?;
    let length = tag
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(tag.len());
    let name = &tag[..length];
    let is_name = name.first()?.is_ascii_alphabetic()
        && !tag.ends_with(b"/")
        && memchr::memchr(b'<', tag).is_none()
        && !name.eq_ignore_ascii_case(b"html");
    is_name.then_some((name, tag.len() + 2))
}

/// The length of the comment, declaration or processing instruction at the start of these bytes.
fn comment_or_declaration(bytes: &[u8]) -> Option<usize> {
    let look = &bytes[..bytes.len().min(BETWEEN)];
    if look.starts_with(COMMENT) {
        let inside = COMMENT.len();
        return Aside::Comment
            .length(look, inside)
            // A comment that contains the start of another comment was not closed.
            .filter(|&end| memmem::find(&look[inside..end - 3], COMMENT).is_none());
    }
    if !look.starts_with(b"<!") && !look.starts_with(b"<?") {
        return None;
    }
    let tag = &look[..look.len().min(TAG)];
    let end = memchr::memchr(b'>', tag)?;
    // The declarations inside a DOCTYPE are in brackets.
    if tag.starts_with(b"<!") && memchr::memchr(b'[', &tag[..end]).is_some() {
        let close = memchr::memchr_iter(b']', look)
            .find(|&at| look[at + 1..].trim_ascii_start().first() == Some(&b'>'))?;
        let other = |at: usize| !matches!(look.get(at + 1), Some(b'!' | b'?'));
        if memchr::memchr_iter(b'<', &look[..close]).any(other) {
            return None;
        }
        return Some(close + memchr::memchr(b'>', &look[close..])? + 1);
    }
    Some(end + 1)
}

/// Whether these bytes begin with the opening tag of this name, in any case.
fn opens(bytes: &[u8], name: &[u8]) -> bool {
    let tag = bytes.strip_prefix(b"<");
    tag.is_some_and(|tag| is_named(tag, name, false, b">"))
}

/// Whether a file that begins with this opening tag, in any case, is a bundle of records. Single
/// documents of XML also begin with `<doc>`, such as the comments of a .NET assembly.
fn is_bundle(bytes: &[u8]) -> bool {
    let Some(tag) = open_tag(&bytes[..bytes.len().min(TAG)]) else {
        return false;
    };
    let named = |name: &&[u8]| attribute(tag, name).is_some();
    if tag.starts_with(DOC) || [&b"id"[..], b"docno", b"docid", b"url"].iter().any(named) {
        return true;
    }
    let content = bytes[tag.len() + 2..].trim_ascii_start();
    let child = content.strip_prefix(b"<").map_or(&b""[..], leading_name);
    if child.eq_ignore_ascii_case(b"docno") || child.eq_ignore_ascii_case(b"docid") {
        return true;
    }
    match find_any_case(content, b"</doc>") {
        Some(at) => opens(content[at + 6..].trim_ascii_start(), DOC),
        None => child.is_empty() || is_known(child),
    }
}

impl Tag {
    /// The element that forms the records of a file, by the first bytes of the file. `None` if the
    /// file is not a bundle of such records.
    pub(crate) fn of(head: &[u8]) -> Option<Tag> {
        let (roots, rest) = front(head);
        let name = if opens(rest, REUTERS) {
            REUTERS
        } else if opens(rest, DOC) && is_bundle(rest) {
            DOC
        } else {
            return None;
        };
        Some(Tag::new(name, &rest[1..=name.len()], roots))
    }

    /// As [`Tag::of`], for a file that certainly is a bundle, of `<DOC>` if nothing says otherwise.
    pub(crate) fn certainly(head: &[u8]) -> Tag {
        Tag::of(head).unwrap_or_else(|| {
            let found = find_any_case(head, b"<DOC")
                .filter(|&at| opens(&head[at..], DOC))
                .map_or(DOC, |at| &head[at + 1..at + 4]);
            Tag::new(DOC, found, front(head).0)
        })
    }

    fn new(name: &'static [u8], spelled: &[u8], roots: Vec<Vec<u8>>) -> Tag {
        Tag {
            name,
            spelled: Finder::new(spelled).into_owned(),
            roots,
        }
    }

    pub(crate) fn is_reuters(&self) -> bool {
        self.name == REUTERS
    }

    /// Whether these bytes begin with the opening tag.
    fn opens(&self, bytes: &[u8]) -> bool {
        opens(bytes, self.name)
    }

    /// The length of the tag, opening or closing, of an element around the records.
    fn root(&self, bytes: &[u8]) -> Option<usize> {
        let tag = bytes.strip_prefix(b"<")?;
        let tag = tag.strip_prefix(b"/").unwrap_or(tag);
        let mut roots = self.roots.iter();
        roots.find(|root| is_named(tag, root, false, b">"))?;
        let end = memchr::memchr2(b'<', b'>', &bytes[1..bytes.len().min(TAG)])? + 1;
        (bytes[end] == b'>').then_some(end + 1)
    }

    /// Whether these bytes, at the start of a line, certainly begin a record. Between records, an
    /// opening tag suffices; inside a record, a mark is required that only a new record has.
    fn begins_record(&self, bytes: &[u8]) -> bool {
        if !self.opens(bytes) {
            return false;
        }
        let Some(end) = memchr::memchr(b'>', &bytes[..bytes.len().min(TAG)]) else {
            return false;
        };
        let attributes = &bytes[1 + self.name.len()..end];
        if attributes.trim_ascii().is_empty() {
            let rest = &bytes[end + 1..bytes.len().min(TAG)];
            return begins_any_case(rest.trim_ascii_start(), b"<DOCNO>");
        }
        attributes.contains(&b'=')
    }

    /// Whether the name after this `<` has the spelling of the file.
    fn is_spelled(&self, bytes: &[u8]) -> bool {
        bytes.get(1..=self.name.len()) == Some(self.spelled.needle())
    }

    /// The length of a record up to a closing tag, in any case, after which there is nothing but
    /// what may be between records.
    fn closed_at(&self, record: &[u8]) -> Option<usize> {
        let mut record = record.trim_ascii_end();
        loop {
            let start = record.len().saturating_sub(TAG);
            let at = start + memchr::memrchr(b'<', &record[start..])?;
            let (before, tag) = record.split_at(at);
            let name = tag.strip_prefix(b"</");
            if name.is_some_and(|name| is_named(name, self.name, false, b">")) {
                return tag.ends_with(b">").then_some(record.len());
            }
            let between = self.root(tag).or_else(|| comment_or_declaration(tag));
            if between != Some(tag.len()) {
                return None;
            }
            record = before.trim_ascii_end();
        }
    }

    /// Ends a record that another record or the end of the file follows, if a closing tag in
    /// another spelling is the only one in it. `looked`: there are several.
    fn end(&self, sink: &mut Sink<'_>, looked: &mut bool) -> bool {
        let Some(length) = self.closed_at(sink.held()).filter(|_| !*looked) else {
            return false;
        };
        *looked = true;
        // Whether the closing tag, in any case, at the end of the record is its only one.
        let close = find_close(&sink.held()[..length], self.name, TAG);
        let ends = close.is_some_and(|(_, end)| end == length);
        if ends {
            sink.shorten(sink.held().len() - length);
        }
        ends
    }
}

impl Framer for Tag {
    fn cuts(&self) -> Cuts {
        Cuts::Certain
    }

    /// A record certainly begins only on a new line: there, an open record, a stray stretch and a
    /// comment end.
    fn certain_begin(&self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr_iter(b'<', bytes).find(|&at| {
            at > 0
                && matches!(bytes[at - 1], b'\n' | b'\r')
                && self.is_spelled(&bytes[at..])
                && self.begins_record(&bytes[at..])
        })
    }

    fn behind(&self) -> Option<Box<dyn Framer>> {
        Some(Behind::of(self.clone()))
    }

    fn begins(&self, bytes: &[u8]) -> bool {
        self.opens(bytes)
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        // Between records: white space, comments, declarations, tags of the elements around them.
        loop {
            let window = stream.skip_space(BETWEEN);
            if window.is_empty() {
                return Step::End;
            }
            if self.opens(window) {
                return record(stream, sink, self);
            }
            let end = comment_or_declaration(window).or_else(|| self.root(window));
            // A comment that contains the start of a record was not closed.
            let end = end.filter(|&end| {
                self.certain_begin(&window[..window.len().min(end + TAG)])
                    .is_none_or(|begin| begin >= end)
            });
            match end {
                Some(end) => stream.consume(end),
                None => return stray(stream, sink, self),
            }
        }
    }
}

fn stray(stream: &mut Stream, sink: &mut Sink<'_>, tag: &Tag) -> Step {
    loop {
        let window = stream.ensure(TAG);
        let begins = |at: &usize| tag.opens(&window[*at..]);
        let begin = memchr::memchr_iter(b'<', window).find(begins);
        let last = begin.is_some() || window.len() < TAG;
        // The bracket and the name of a tag may be the last bytes.
        let keep = if last { 0 } else { 1 + tag.name.len() };
        let length = begin.unwrap_or(window.len() - keep);
        sink.pass(stream, length);
        if last {
            break;
        }
    }
    Step::rejected(Reason::StrayBytes, format!("{} bytes", sink.begun.length))
}

fn record(stream: &mut Stream, sink: &mut Sink<'_>, tag: &Tag) -> Step {
    // A record in the spelling of the file is searched for that spelling alone.
    let spelled = tag.is_spelled(stream.window());
    sink.take(stream, 1 + tag.name.len());
    let kind = |sink: &Sink<'_>| {
        let head = &sink.held()[..sink.held().len().min(HEADER_LOOK)];
        let any_case = || !head.starts_with(b"<DOC") && find_any_case(head, b"<DOCHDR>").is_some();
        match tag.is_reuters() {
            true => RecordKind::Reuters,
            _ if memmem::find(head, b"<DOCHDR>").is_some() || any_case() => RecordKind::TrecWeb,
            false => RecordKind::TrecSgml,
        }
    };
    // The bytes `</` before a name make it a closing tag, so the window keeps room for them and the
    // name.
    let keep = tag.name.len() + 2;
    // If there are several closing tags in another spelling, none ends the record. One search
    // suffices.
    let mut looked = false;
    loop {
        let window = stream.ensure(TAG);
        let found = match spelled {
            true => tag.spelled.find(window),
            false => find_any_case(window, tag.name),
        };
        let Some(at) = found else {
            let length = window.len();
            if length >= TAG {
                sink.take(stream, length - keep);
                continue;
            }
            sink.take(stream, length);
            if tag.end(sink, &mut looked) {
                return Step::record(kind(sink));
            }
            return Step::cut(kind(sink).docno(sink.held()), sink);
        };
        let window = stream.ensure(at + TAG);
        let end = at + tag.name.len();
        match &window[..at] {
            [.., b'<', b'/'] => {
                if let Some(rest) = closes(&window[end..window.len().min(end + TAG)]) {
                    sink.take(stream, end + rest);
                    return Step::record(kind(sink));
                }
            }
            [.., b'\n' | b'\r', b'<'] if tag.opens(&window[at - 1..]) => {
                let begins = tag.begins_record(&window[at - 1..]);
                sink.take(stream, at - 1);
                if tag.end(sink, &mut looked) {
                    return Step::record(kind(sink));
                }
                if begins {
                    let docno = kind(sink).docno(sink.held());
                    let detail = format!("another begins after {} bytes", sink.begun.length);
                    return Step::named(docno, Reason::NotClosed, detail);
                }
                sink.take(stream, 2);
                continue;
            }
            _ => {}
        }
        sink.take(stream, at + 1);
    }
}
