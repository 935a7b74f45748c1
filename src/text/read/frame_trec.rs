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

use super::bytes::{find_any_case, spaces};
use super::framer::{Behind, Cuts, Framer, Step};
use super::record::{Reason, RecordKind};
use super::sgml::{attribute, is_known, open_tag};
use super::stream::{Sink, Stream};

/// Maximum look-ahead for a tag, and for a comment between records.
const TAG: usize = 1 << 10;
const COMMENT: usize = 64 << 10;

/// How many bytes are searched for a `<DOCHDR>`, which follows the docno.
const HEADER_LOOK: usize = 16 << 10;

/// Maximum number of elements around the records.
const MOST_ROOTS: usize = 4;

const DOC: &[u8] = b"DOC";
const REUTERS: &[u8] = b"REUTERS";

/// The element that forms a record, as a file spells it.
#[derive(Clone)]
pub(super) struct Tag {
    name: &'static [u8],
    /// Finds the name as the first record spells it. Most files have one spelling.
    spelled: Finder<'static>,
    /// The names of the elements around the records.
    roots: Vec<Vec<u8>>,
}

/// The bytes before the first record of a file.
struct Front<'a> {
    roots: Vec<Vec<u8>>,
    rest: &'a [u8],
}

/// Passes over comments, declarations and the opening tags of the elements around the records.
fn front(head: &[u8]) -> Front<'_> {
    let mut front = Front {
        roots: Vec::new(),
        rest: head.trim_ascii_start(),
    };
    loop {
        let rest = front.rest;
        let end = match comment_or_declaration(rest) {
            Some(end) => end,
            None if opens(rest, DOC) || opens(rest, REUTERS) => return front,
            None => match root(rest) {
                Some((name, end)) if front.roots.len() < MOST_ROOTS => {
                    front.roots.push(name.to_vec());
                    end
                }
                _ => return front,
            },
        };
        front.rest = rest[end..].trim_ascii_start();
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
    let look = &bytes[..bytes.len().min(COMMENT)];
    if let Some(rest) = look.strip_prefix(b"<!--") {
        return memmem::find(rest, b"-->")
            // A comment that contains the start of another comment was not closed.
            .filter(|&end| memmem::find(&rest[..end], b"<!--").is_none())
            .map(|end| end + 7);
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
    bytes
        .strip_prefix(b"<")
        .and_then(|rest| rest.split_at_checked(name.len()))
        .is_some_and(|(start, rest)| {
            start.eq_ignore_ascii_case(name)
                && rest
                    .first()
                    .is_some_and(|&next| next == b'>' || next.is_ascii_whitespace())
        })
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
    let child = match content.strip_prefix(b"<") {
        Some(child) => {
            let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
            &child[..child.iter().take_while(is_name).count()]
        }
        None => b"",
    };
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
    pub(super) fn of(head: &[u8]) -> Option<Tag> {
        let Front { roots, rest } = front(head);
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
    pub(super) fn certainly(head: &[u8]) -> Tag {
        Tag::of(head).unwrap_or_else(|| {
            let found = find_any_case(head, b"<DOC")
                .filter(|&at| opens(&head[at..], DOC))
                .map_or(DOC, |at| &head[at + 1..at + 4]);
            Tag::new(DOC, found, front(head).roots)
        })
    }

    fn new(name: &'static [u8], spelled: &[u8], roots: Vec<Vec<u8>>) -> Tag {
        Tag {
            name,
            spelled: Finder::new(spelled).into_owned(),
            roots,
        }
    }

    pub(super) fn is_reuters(&self) -> bool {
        self.name == REUTERS
    }

    /// Whether these bytes begin with the opening tag.
    fn opens(&self, bytes: &[u8]) -> bool {
        opens(bytes, self.name)
    }

    /// The length of the tag, opening or closing, of an element around the records.
    fn root(&self, bytes: &[u8]) -> Option<usize> {
        let rest = bytes.strip_prefix(b"<")?;
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        let is = |root: &Vec<u8>| {
            let (name, rest) = rest.split_at_checked(root.len())?;
            let next = rest.first()?;
            let ends = *next == b'>' || next.is_ascii_whitespace();
            (ends && name.eq_ignore_ascii_case(root)).then_some(())
        };
        self.roots.iter().find_map(is)?;
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
            return rest
                .trim_ascii_start()
                .get(..7)
                .is_some_and(|docno| docno.eq_ignore_ascii_case(b"<DOCNO>"));
        }
        attributes.contains(&b'=')
    }

    /// Whether the name after this `<` has the spelling of the file.
    fn is_spelled(&self, bytes: &[u8]) -> bool {
        bytes.get(1..=self.name.len()) == Some(self.spelled.needle())
    }

    /// The first place in these bytes, on a new line, where a record certainly begins, whatever
    /// precedes the bytes: there, an open record, a stray stretch and a comment end.
    fn certain_begin(&self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr_iter(b'<', bytes).find(|&at| {
            at > 0
                && matches!(bytes[at - 1], b'\n' | b'\r')
                && self.is_spelled(&bytes[at..])
                && self.begins_record(&bytes[at..])
        })
    }

    /// The length of the rest of a closing tag, if these bytes after its name complete it: `>`.
    fn closes(bytes: &[u8]) -> Option<usize> {
        let space = spaces(&bytes[..bytes.len().min(TAG)]);
        (bytes.get(space) == Some(&b'>')).then_some(space + 1)
    }

    /// The length of a record up to a closing tag, in any case, after which there is nothing but
    /// what may be between records.
    fn closed_at(&self, record: &[u8]) -> Option<usize> {
        let mut record = record.trim_ascii_end();
        loop {
            let start = record.len().saturating_sub(TAG);
            let at = start + memchr::memrchr(b'<', &record[start..])?;
            let (before, tag) = record.split_at(at);
            if tag.get(1) == Some(&b'/') && opens(&[b"<", &tag[2..]].concat(), self.name) {
                return tag.ends_with(b">").then_some(record.len());
            }
            let between = self.root(tag).or_else(|| comment_or_declaration(tag));
            if between != Some(tag.len()) {
                return None;
            }
            record = before.trim_ascii_end();
        }
    }

    /// Whether the closing tag, in any case, at the end of a record is its only one.
    fn is_only_end(&self, record: &[u8]) -> bool {
        let mark = [b"</", self.name].concat();
        let mut from = 0;
        while let Some(at) = find_any_case(&record[from..], &mark) {
            from += at + mark.len();
            if let Some(rest) = Tag::closes(&record[from..]) {
                return from + rest == record.len();
            }
        }
        false
    }

    /// Ends a record that another record or the end of the file follows, if a closing tag in
    /// another spelling is the only one in it. `looked`: there are several.
    fn end(&self, sink: &mut Sink<'_>, looked: &mut bool) -> bool {
        let Some(length) = self.closed_at(sink.held()).filter(|_| !*looked) else {
            return false;
        };
        *looked = true;
        let ends = self.is_only_end(&sink.held()[..length]);
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

    fn certain_begin(&self, bytes: &[u8]) -> Option<usize> {
        self.certain_begin(bytes)
    }

    fn behind(&self) -> Option<Box<dyn Framer>> {
        Some(Behind::of(self.clone()))
    }

    fn begins(&self, bytes: &[u8]) -> bool {
        self.opens(bytes)
    }

    fn kind_of(&self, head: &[u8]) -> Option<RecordKind> {
        (self.opens(head) && !self.is_reuters()).then_some(RecordKind::TrecSgml)
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        step(stream, sink, self)
    }
}

fn step(stream: &mut Stream, sink: &mut Sink<'_>, tag: &Tag) -> Step {
    // Between records: white space, comments, declarations, tags of the elements around them.
    loop {
        let window = stream.skip_space(COMMENT);
        if window.is_empty() {
            return Step::End;
        }
        if tag.opens(window) {
            break;
        }
        let end = comment_or_declaration(window).or_else(|| tag.root(window));
        // A comment that contains the start of a record was not closed.
        let end = end.filter(|&end| {
            tag.certain_begin(&window[..window.len().min(end + TAG)])
                .is_none_or(|begin| begin >= end)
        });
        match end {
            Some(end) => stream.consume(end),
            None => return stray(stream, sink, tag),
        }
    }
    record(stream, sink, tag)
}

fn stray(stream: &mut Stream, sink: &mut Sink<'_>, tag: &Tag) -> Step {
    loop {
        let window = stream.ensure(TAG);
        let ended = window.len() < TAG;
        match find_any_case(window, tag.name) {
            Some(at) if at > 0 && window[at - 1] == b'<' => {
                let window = stream.ensure(at + TAG);
                if tag.opens(&window[at - 1..]) {
                    sink.pass(stream, at - 1);
                    break;
                }
                sink.pass(stream, at + 1);
            }
            Some(at) => sink.pass(stream, at + 1),
            None if ended => {
                let n = window.len();
                sink.pass(stream, n);
                break;
            }
            None => {
                let n = window.len() - tag.name.len();
                sink.pass(stream, n);
            }
        }
    }
    Step::rejected(Reason::StrayBytes, format!("{} bytes", sink.length()))
}

fn record(stream: &mut Stream, sink: &mut Sink<'_>, tag: &Tag) -> Step {
    // A record in the spelling of the file is searched for that spelling alone.
    let spelled = tag.is_spelled(stream.window());
    sink.take(stream, 1 + tag.name.len());
    let kind = |sink: &Sink<'_>| {
        let head = sink.held();
        let head = &head[..head.len().min(HEADER_LOOK)];
        if tag.is_reuters() {
            RecordKind::Reuters
        } else if memmem::find(head, b"<DOCHDR>").is_some()
            || !head.starts_with(b"<DOC") && find_any_case(head, b"<DOCHDR>").is_some()
        {
            RecordKind::TrecWeb
        } else {
            RecordKind::TrecSgml
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
        let after = &window[at + tag.name.len()..];
        if at >= 2 && window[at - 2..at] == *b"</" {
            if let Some(rest) = Tag::closes(after) {
                sink.take(stream, at + tag.name.len() + rest);
                return Step::record(kind(sink));
            }
        } else if at >= 2
            && window[at - 1] == b'<'
            && matches!(window[at - 2], b'\n' | b'\r')
            && tag.opens(&window[at - 1..])
        {
            let begins = tag.begins_record(&window[at - 1..]);
            sink.take(stream, at - 1);
            if tag.end(sink, &mut looked) {
                return Step::record(kind(sink));
            }
            if begins {
                let docno = kind(sink).docno(sink.held());
                let detail = format!("another begins after {} bytes", sink.length());
                return Step::named(docno, Reason::NotClosed, detail);
            }
            sink.take(stream, 2);
            continue;
        }
        sink.take(stream, at + 1);
    }
}
