//! Frames the elements of one name, at which `--record` splits markup.
//!
//! # What a record is
//! - A record begins with an opening tag of the name and ends with its closing tag. A tag that ends
//!   with `/>` is a whole record. A `>` in a quoted attribute does not end a tag.
//! - Names are compared exactly in XML, and without regard to case in other markup. A prefix
//!   (`dc:title`) counts only if the name that is looked for has one.
//! - Tags in comments, CDATA sections and processing instructions do not count, nor do tags in a
//!   document type declaration before the first record. Each of these ends within [`ASIDE`] bytes,
//!   and a comment before another begins; otherwise its beginning is text.
//! - In HTML, tags in the attributes of others and in [`TAGLESS`] elements do not count.
//! - A record may contain elements of its own name, if it ends within [`NESTED`] bytes from the
//!   first of them on. Otherwise it is rejected as not closed, and the first of them begins the
//!   next record.
//! - What is outside of the records is passed over. A file without records is rejected.

use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memmem};

use crate::read::ground::bytes::find_any_case;
use crate::read::ground::framer::{Cuts, Framer, Step};
use crate::read::ground::record::{Prolog, RecordKind};
use crate::read::ground::stream::{Sink, Stream};
use crate::read::look::tags::{Aside, COMMENT, Stop, TagRest, closes, has_declarations, is_named};
use lookalike_source::Reason;

/// Look-ahead for the name of a tag, and for a closing tag.
const TAG: usize = 1 << 10;
/// The longest prefix of a name.
const PREFIX: usize = 64;

/// The longest comment, CDATA section, processing instruction or document type declaration: longer
/// than the articles that feeds put into CDATA sections, and small beside a reader's other memory.
const ASIDE: usize = 1 << 20;
/// How far the end of a record may be from the first element of its name inside it. The window
/// grows to this size only for such records.
const NESTED: usize = 2 << 20;
/// Elements of HTML whose content has no tags.
const TAGLESS: [&[u8]; 4] = [b"script", b"style", b"title", b"textarea"];
/// Elements of the name that may be open at the same time. Without a limit, each of many elements
/// that are not closed would cost a search of [`NESTED`] bytes.
const DEPTH: usize = 32;

/// Cuts markup into the elements of one name.
pub(crate) struct ElementFramer {
    name: Vec<u8>,
    prolog: Arc<Prolog>,
    /// Between which bytes of the stream comments, CDATA sections and processing instructions are
    /// known not to end. Without it, each of many would cost a search.
    endless: [Range<u64>; 4],
    /// The same of elements of HTML whose content has no tags.
    open: Range<u64>,
    /// Whether a document type declaration may still come: before the first record, and unless one
    /// had no end.
    doctype: bool,
    /// Whether the file had a record.
    begun: bool,
}

/// The markup that a `<` begins, and its length.
enum Mark {
    /// A tag that opens the element, up to the end of its name.
    Opens(usize),
    /// A tag that closes it.
    Closes(usize),
    /// Something else.
    Passes(usize),
}

/// Where passed bytes go.
enum To<'s, 'b> {
    /// To the record.
    Record(&'s mut Sink<'b>),
    /// Nowhere: they are outside of records.
    Outside(&'s mut Sink<'b>),
    /// They remain in the window, and this many bytes of it are examined.
    Window(usize),
}

/// A place in the stream.
struct Cursor<'c, 'b> {
    stream: &'c mut Stream,
    to: To<'c, 'b>,
    /// Bytes of the window before the place.
    at: usize,
}

impl<'c, 'b> Cursor<'c, 'b> {
    fn new(stream: &'c mut Stream, to: To<'c, 'b>) -> Self {
        Cursor { stream, to, at: 0 }
    }

    /// The most bytes of the window that are examined.
    fn most(&self) -> usize {
        match self.to {
            To::Window(most) => most,
            _ => usize::MAX,
        }
    }

    /// The bytes from here on: at least `n`, unless there are fewer.
    fn ahead(&mut self, n: usize) -> &[u8] {
        let most = self.most();
        let window = self.stream.ensure((self.at + n).min(most));
        &window[self.at.min(window.len())..window.len().min(most)]
    }

    /// The next `n` bytes, or fewer if there are fewer, however many are in memory.
    fn look(&mut self, n: usize) -> &[u8] {
        let bytes = self.ahead(n);
        &bytes[..bytes.len().min(n)]
    }

    fn pass(&mut self, n: usize) {
        match &mut self.to {
            To::Record(sink) => sink.take(self.stream, n),
            To::Outside(sink) => sink.pass(self.stream, n),
            To::Window(_) => self.at += n,
        }
    }

    /// Whether the bytes that may be looked at end within the next `n`, although the stream
    /// continues.
    fn ends_before(&self, n: usize) -> bool {
        self.at + n > self.most() && self.stream.window().len() >= self.most()
    }

    /// The place of the next byte in the stream.
    fn offset(&self) -> u64 {
        self.stream.offset + self.at as u64
    }

    /// Passes everything before the next `<`; `false` if there is none.
    fn skip_to_bracket(&mut self) -> bool {
        loop {
            let bytes = self.ahead(1);
            let length = bytes.len();
            if length == 0 {
                return false;
            }
            match memchr(b'<', bytes) {
                Some(at) => {
                    self.pass(at);
                    return true;
                }
                None => self.pass(length),
            }
        }
    }
}

impl ElementFramer {
    pub(crate) fn new(name: &str, prolog: Prolog) -> Self {
        ElementFramer {
            name: name.as_bytes().to_vec(),
            prolog: Arc::new(prolog),
            endless: [0..0, 0..0, 0..0, 0..0],
            open: 0..0,
            doctype: true,
            begun: false,
        }
    }
}

impl Framer for ElementFramer {
    fn cuts(&self) -> Cuts {
        Cuts::Found
    }

    fn begun(&mut self) {
        self.begun = true;
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        let none_yet = !std::mem::replace(&mut self.begun, true);
        self.doctype &= none_yet;
        let mut cursor = Cursor::new(stream, To::Outside(sink));
        let mut tags = std::iter::from_fn(|| self.next_tag(&mut cursor));
        let name = tags.find_map(|tag| match tag {
            Mark::Opens(length) => Some(length),
            _ => None,
        });
        match name {
            Some(length) => {
                self.doctype = false;
                sink.forget();
                sink.take(stream, length);
                self.record(stream, sink)
            }
            None if none_yet => {
                let name = String::from_utf8_lossy(&self.name);
                Step::rejected(Reason::NoRecords, format!("no element <{name}>"))
            }
            None => Step::End,
        }
    }
}

impl ElementFramer {
    /// Frames a record after its name.
    fn record(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        let mut cursor = Cursor::new(stream, To::Record(sink));
        match self.is_empty(&mut cursor) {
            Some(false) => {}
            Some(true) => return self.framed(),
            None => return self.cut(sink),
        }
        match self.next_tag(&mut cursor) {
            None => return self.cut(sink),
            Some(Mark::Opens(_)) => {}
            Some(_) => return self.framed(),
        }
        match self.nested(stream) {
            Some(length) => {
                sink.take(stream, length);
                self.framed()
            }
            None => {
                let (name, length) = (String::from_utf8_lossy(&self.name), sink.begun.length);
                let detail = format!("<{name}>: another begins after {length} bytes");
                let docno = self.kind().docno(sink.held());
                Step::named(docno, Reason::NotClosed, detail)
            }
        }
    }

    fn framed(&self) -> Step {
        Step::record(self.kind())
    }

    fn kind(&self) -> RecordKind {
        RecordKind::Element(self.prolog.clone())
    }

    fn cut(&self, sink: &Sink<'_>) -> Step {
        Step::cut(self.kind().docno(sink.held()), sink)
    }

    /// How many bytes after this, where an element of the name begins inside a record, the record
    /// ends.
    fn nested(&mut self, stream: &mut Stream) -> Option<usize> {
        let mut cursor = Cursor::new(stream, To::Window(NESTED));
        let mut depth = 1;
        while let Some(tag) = self.next_tag(&mut cursor) {
            if let Mark::Opens(length) = tag {
                cursor.pass(length);
                depth += usize::from(!self.is_empty(&mut cursor)?);
                if depth > DEPTH {
                    return None;
                }
            } else {
                depth -= 1;
                if depth == 0 {
                    return Some(cursor.at);
                }
            }
        }
        None
    }

    /// Passes everything before the next tag that opens the element, or up to the end of the next
    /// tag that closes it. `None` if the bytes end before.
    fn next_tag(&mut self, cursor: &mut Cursor<'_, '_>) -> Option<Mark> {
        while cursor.skip_to_bracket() {
            let mark = self.mark(cursor)?;
            match mark {
                Mark::Opens(_) => return Some(mark),
                Mark::Closes(length) => {
                    cursor.pass(length);
                    return Some(mark);
                }
                Mark::Passes(length) => cursor.pass(length),
            }
        }
        None
    }

    /// Returns the markup that begins at this `<`; `None` if there are too few bytes to decide.
    fn mark(&mut self, cursor: &mut Cursor<'_, '_>) -> Option<Mark> {
        let bytes = cursor.look(TAG);
        if let Some(name) = bytes.strip_prefix(b"</") {
            let tag = self.named(name).map(|name| 2 + name);
            let closes = tag.and_then(|tag| Some(tag + closes(&bytes[tag..])?));
            return Some(closes.map_or(Mark::Passes(2), Mark::Closes));
        }
        match Aside::at(bytes) {
            Some(Aside::Doctype) if !self.doctype || !has_declarations(bytes) => {}
            Some(aside) => return self.aside(cursor, aside).map(Mark::Passes),
            None => {}
        }
        if let Some(name) = self.named(&bytes[1..]) {
            return Some(Mark::Opens(1 + name));
        }
        let html = self.prolog.html && !self.prolog.xml;
        match whole_tag(bytes).filter(|_| html) {
            Some(tag) => self.content(cursor, tag).map(Mark::Passes),
            None => Some(Mark::Passes(1)),
        }
    }

    /// The length of another tag of HTML, with the content of its element if tags there do not
    /// count.
    fn content(&mut self, cursor: &mut Cursor<'_, '_>, tag: usize) -> Option<usize> {
        let bytes = cursor.look(TAG);
        let is = |name: &&[u8]| is_named(&bytes[1..], name, false, b">/");
        let Some(name) = TAGLESS.into_iter().find(is) else {
            return Some(tag);
        };
        let (offset, close) = (cursor.offset(), [b"</", name].concat());
        let mut seen = TAG;
        while !self.open.contains(&offset) {
            let bytes = cursor.look(seen);
            if let Some(at) = find_any_case(bytes.get(tag..)?, &close) {
                return Some(tag + at);
            }
            if bytes.len() < seen || seen >= ASIDE {
                if cursor.ends_before(ASIDE) {
                    return None;
                }
                self.open = offset..offset + ASIDE as u64;
                break;
            }
            seen = (seen * 8).min(ASIDE);
        }
        Some(tag)
    }

    /// The length of the name that these bytes begin with, if it is the name that is looked for.
    fn named(&self, bytes: &[u8]) -> Option<usize> {
        let (name, exact) = (&self.name[..], self.prolog.xml);
        let is = |bytes| is_named(bytes, name, exact, b">/").then_some(name.len());
        if let Some(length) = is(bytes) {
            return Some(length);
        }
        if name.contains(&b':') {
            return None;
        }
        let colon = memchr(b':', &bytes[..bytes.len().min(PREFIX)])?;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"<>/=\"'".contains(byte);
        if bytes[..colon].iter().any(ends) {
            return None;
        }
        is(&bytes[colon + 1..]).map(|length| colon + 1 + length)
    }

    /// The length of a stretch in which tags do not count; of its `<` alone, if it does not end.
    fn aside(&mut self, cursor: &mut Cursor<'_, '_>, aside: Aside) -> Option<usize> {
        let most = match aside {
            // The two bytes `<?` occur in encoded images.
            Aside::Instruction if !self.prolog.xml => TAG,
            _ => ASIDE,
        };
        let offset = cursor.offset();
        let endless = &mut self.endless[aside as usize];
        // A look ahead may have been beyond this place, and the next one begins before it again.
        let (begin, known) = match endless.contains(&offset) {
            true => (endless.start, endless.end - offset),
            false => (offset, 0),
        };
        let known = usize::try_from(known).unwrap_or(most);
        let mut seen = TAG;
        loop {
            let bytes = cursor.look(seen);
            let length = aside.length(bytes, known);
            let inside = &bytes[..length.unwrap_or(bytes.len())];
            // Another comment shows that the first one has no end.
            if aside == Aside::Comment && memmem::find(&inside[4..], COMMENT).is_some() {
                return Some(1);
            }
            if length.is_some() {
                return length;
            }
            if bytes.len() < seen || seen >= most {
                break;
            }
            seen = (seen * 8).min(most);
        }
        if cursor.ends_before(most) {
            return None;
        }
        self.doctype &= aside != Aside::Doctype;
        // The last of the searched bytes may begin an end.
        *endless = begin..offset + (most - 3) as u64;
        Some(1)
    }

    /// Passes the rest of a tag of the element, up to another tag of the element if one begins in
    /// it. Returns whether the tag is a whole element; `None` if the bytes end in it.
    fn is_empty(&self, cursor: &mut Cursor<'_, '_>) -> Option<bool> {
        let mut tag = TagRest::default();
        loop {
            let bytes = cursor.ahead(1);
            let length = bytes.len();
            if length == 0 {
                return None;
            }
            match tag.feed(bytes) {
                Some(Stop::End { length, empty }) => {
                    cursor.pass(length);
                    return Some(empty);
                }
                Some(Stop::Bracket { at, quoted }) => {
                    cursor.pass(at);
                    let bytes = cursor.look(TAG);
                    if quoted && tag.is_closed_in(bytes) {
                        cursor.pass(1);
                        continue;
                    }
                    let name = bytes.get(1 + usize::from(bytes.get(1) == Some(&b'/'))..);
                    if name.is_some_and(|name| self.named(name).is_some()) {
                        return Some(false);
                    }
                    cursor.pass(1);
                }
                None => cursor.pass(length),
            }
        }
    }
}

/// The length of a tag of HTML that these bytes begin with and that ends in them.
fn whole_tag(bytes: &[u8]) -> Option<usize> {
    if !bytes.get(1)?.is_ascii_alphabetic() {
        return None;
    }
    let (mut tag, mut at) = (TagRest::default(), 1);
    loop {
        match tag.feed(&bytes[at..])? {
            Stop::End { length, .. } => return Some(at + length),
            Stop::Bracket { at: next, quoted } => {
                at += next + 1;
                if !quoted || !tag.is_closed_in(&bytes[at..]) {
                    return None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_source::{Input, Source};

    /// Each record searched up to 1 MiB for the end of the same section again.
    #[test]
    fn what_has_no_end_is_searched_once() {
        let bytes = "<row><![CDATA[".repeat(1000).into_bytes();
        let source = Source::plain(Input::new(Box::new(std::io::Cursor::new(bytes))));
        let mut stream = Stream::new(Ok(source), 1000);
        let mut framer = ElementFramer::new("row", Prolog::default());
        for _ in 0..900 {
            let mut out = Vec::new();
            framer.step(&mut stream, &mut Sink::new(&mut out, 1 << 20, None));
            assert_eq!(framer.endless[Aside::Cdata as usize].start, 5);
        }
    }
}
