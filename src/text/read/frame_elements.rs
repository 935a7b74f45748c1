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
//! - A record may contain elements of its own name, if it ends within [`NESTED`] bytes from the
//!   first of them on. Otherwise it is rejected as not closed, and the first of them begins the
//!   next record.
//! - What is outside of the records is passed over. A file without records is rejected.

use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr3, memmem};

use super::bytes::spaces;
use super::framer::{Cuts, Framer, Step};
use super::record::{Prolog, Reason, RecordKind};
use super::stream::{Sink, Stream};
use super::tags::{Stop, TagRest, doctype_end, is_doctype};

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
/// Elements of the name that may be open at the same time. Without a limit, each of many elements
/// that are not closed would cost a search of [`NESTED`] bytes.
const DEPTH: usize = 32;

/// Cuts markup into the elements of one name.
pub(super) struct ElementFramer {
    name: Vec<u8>,
    prolog: Arc<Prolog>,
    /// Between which bytes of the stream comments, CDATA sections and processing instructions are
    /// known not to end. Without it, each of many would cost a search.
    endless: [Range<u64>; 3],
    /// Whether a document type declaration may still come: before the first record, and unless one
    /// had no end.
    doctype: bool,
    /// Whether the file had a record.
    begun: bool,
}

/// A stretch of markup in which tags do not count.
struct Aside {
    begin: &'static [u8],
    end: &'static [u8],
    /// Where the end may begin: `<!-->` is a comment.
    inside: usize,
    /// Whether another beginning shows that the first one has no end.
    excludes_itself: bool,
    /// Its limit in bytes in what is not XML. The two bytes `<?` occur in encoded images.
    most_outside_xml: usize,
    /// Its place in [`ElementFramer::endless`].
    number: usize,
}

const COMMENT: Aside = Aside {
    begin: b"<!--",
    end: b"-->",
    inside: 2,
    excludes_itself: true,
    most_outside_xml: ASIDE,
    number: 0,
};
const CDATA: Aside = Aside {
    begin: b"<![CDATA[",
    end: b"]]>",
    inside: 9,
    excludes_itself: false,
    most_outside_xml: ASIDE,
    number: 1,
};
const INSTRUCTION: Aside = Aside {
    begin: b"<?",
    end: b"?>",
    inside: 2,
    excludes_itself: false,
    most_outside_xml: TAG,
    number: 2,
};

/// What a `<` begins.
enum Mark {
    /// A tag that opens the element; the length of its bracket and name.
    Opens(usize),
    /// A tag that closes it, and its length.
    Closes(usize),
    /// Something else of this length.
    Passes(usize),
    /// There is too little to see it.
    End,
}

/// How a tag ends.
enum TagEnd {
    Open,
    Empty,
    /// Another tag of the element begins in it.
    Broken,
    /// The bytes end in it.
    Missing,
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

impl Cursor<'_, '_> {
    /// The bytes from here on: at least `n`, unless there are fewer.
    fn ahead(&mut self, n: usize) -> &[u8] {
        match self.to {
            To::Window(most) => {
                let window = self.stream.ensure((self.at + n).min(most));
                &window[self.at.min(window.len())..window.len().min(most)]
            }
            _ => self.stream.ensure(n),
        }
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
        match self.to {
            To::Window(most) => self.at + n > most && self.stream.window().len() >= most,
            _ => false,
        }
    }

    /// The place of the next byte in the stream.
    fn offset(&self) -> u64 {
        self.stream.offset() + self.at as u64
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
    pub(super) fn new(name: &str, prolog: Prolog) -> Self {
        ElementFramer {
            name: name.as_bytes().to_vec(),
            prolog: Arc::new(prolog),
            endless: [0..0, 0..0, 0..0],
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
        let mut cursor = Cursor {
            stream,
            to: To::Outside(sink),
            at: 0,
        };
        let name = loop {
            if !cursor.skip_to_bracket() {
                break None;
            }
            match self.mark(&mut cursor) {
                Mark::Opens(length) => break Some(length),
                Mark::Closes(length) | Mark::Passes(length) => cursor.pass(length),
                Mark::End => cursor.pass(1),
            }
        };
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
        let mut cursor = Cursor {
            stream,
            to: To::Record(sink),
            at: 0,
        };
        match self.tag_end(&mut cursor) {
            TagEnd::Open | TagEnd::Broken => {}
            TagEnd::Empty => return self.framed(),
            TagEnd::Missing => return self.cut(sink),
        }
        loop {
            if !cursor.skip_to_bracket() {
                return self.cut(sink);
            }
            match self.mark(&mut cursor) {
                Mark::Closes(length) => {
                    cursor.pass(length);
                    return self.framed();
                }
                Mark::Passes(length) => cursor.pass(length),
                Mark::End => cursor.pass(1),
                Mark::Opens(_) => break,
            }
        }
        match self.nested(stream) {
            Some(length) => {
                sink.take(stream, length);
                self.framed()
            }
            None => {
                let (name, length) = (String::from_utf8_lossy(&self.name), sink.length());
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
        let mut cursor = Cursor {
            stream,
            to: To::Window(NESTED),
            at: 0,
        };
        let mut depth = 1;
        while cursor.skip_to_bracket() {
            match self.mark(&mut cursor) {
                Mark::Opens(length) => {
                    cursor.pass(length);
                    match self.tag_end(&mut cursor) {
                        TagEnd::Empty => {}
                        TagEnd::Missing => return None,
                        TagEnd::Open | TagEnd::Broken => depth += 1,
                    }
                    if depth > DEPTH {
                        return None;
                    }
                }
                Mark::Closes(length) => {
                    cursor.pass(length);
                    depth -= 1;
                    if depth == 0 {
                        return Some(cursor.at);
                    }
                }
                Mark::Passes(length) => cursor.pass(length),
                Mark::End => return None,
            }
        }
        None
    }

    /// The kind of thing that begins at this `<`.
    fn mark(&mut self, cursor: &mut Cursor<'_, '_>) -> Mark {
        let bytes = cursor.look(TAG);
        match bytes.get(1) {
            Some(b'/') => match self.named(&bytes[2..]) {
                Some(length) => {
                    let rest = &bytes[2 + length..];
                    let space = spaces(rest);
                    match rest.get(space) {
                        Some(b'>') => Mark::Closes(2 + length + space + 1),
                        _ => Mark::Passes(2),
                    }
                }
                None => Mark::Passes(2),
            },
            Some(b'?') => self.aside(cursor, &INSTRUCTION),
            Some(b'!') if bytes.starts_with(COMMENT.begin) => self.aside(cursor, &COMMENT),
            Some(b'!') if bytes.starts_with(CDATA.begin) => self.aside(cursor, &CDATA),
            Some(b'!') if self.doctype && is_doctype(bytes) => self.doctype(cursor),
            Some(_) => match self.named(&bytes[1..]) {
                Some(length) => Mark::Opens(1 + length),
                None => Mark::Passes(1),
            },
            None => Mark::Passes(1),
        }
    }

    /// The length of the name that these bytes begin with, if it is the one that is looked for.
    fn named(&self, bytes: &[u8]) -> Option<usize> {
        let name = &self.name[..];
        let is = |bytes: &[u8]| {
            let found = bytes.get(..name.len())?;
            let same = match self.prolog.is_xml() {
                true => found == name,
                false => found.eq_ignore_ascii_case(name),
            };
            let next = bytes.get(name.len())?;
            (same && (next.is_ascii_whitespace() || matches!(next, b'>' | b'/')))
                .then_some(name.len())
        };
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

    /// A comment, a CDATA section or a processing instruction.
    fn aside(&mut self, cursor: &mut Cursor<'_, '_>, aside: &Aside) -> Mark {
        let most = match self.prolog.is_xml() {
            true => ASIDE,
            false => aside.most_outside_xml,
        };
        let offset = cursor.offset();
        // A look ahead may have been beyond this place.
        let endless = self.endless.get(aside.number);
        let endless = endless.filter(|endless| endless.contains(&offset));
        let known = endless.map_or(0, |endless| endless.end - offset);
        let known = usize::try_from(known).unwrap_or(most);
        let mut seen = TAG;
        loop {
            let bytes = cursor.look(seen);
            let again = match aside.excludes_itself {
                true => memmem::find(&bytes[aside.begin.len()..], aside.begin),
                false => None,
            };
            let inside = &bytes[..again.map_or(bytes.len(), |at| at + aside.begin.len())];
            let from = aside.inside.max(known);
            let end = inside
                .get(from..)
                .and_then(|rest| memmem::find(rest, aside.end));
            if let Some(at) = end {
                return Mark::Passes(from + at + aside.end.len());
            }
            if again.is_some() {
                return Mark::Passes(aside.begin.len());
            }
            if bytes.len() < seen || seen >= most {
                break;
            }
            seen = (seen * 8).min(most);
        }
        if cursor.ends_before(most) {
            return Mark::End;
        }
        // The last bytes of what was searched may begin an end.
        if let Some(endless) = self.endless.get_mut(aside.number) {
            *endless = offset..offset + (most - aside.end.len()) as u64;
        }
        Mark::Passes(aside.begin.len())
    }

    /// A document type declaration. Only one with declarations inside it can contain tags.
    fn doctype(&mut self, cursor: &mut Cursor<'_, '_>) -> Mark {
        let begin = Mark::Passes(2);
        let bytes = cursor.look(TAG);
        let first = memchr3(b'[', b'>', b'<', &bytes[2..]).map(|at| bytes[2 + at]);
        if first != Some(b'[') {
            return begin;
        }
        let mut seen = TAG;
        loop {
            let bytes = cursor.look(seen);
            if let Some(length) = doctype_end(bytes) {
                return Mark::Passes(length);
            }
            if bytes.len() < seen || seen == ASIDE {
                self.doctype = false;
                return begin;
            }
            seen = (seen * 8).min(ASIDE);
        }
    }

    /// Passes the rest of a tag of the element.
    fn tag_end(&self, cursor: &mut Cursor<'_, '_>) -> TagEnd {
        let mut tag = TagRest::default();
        loop {
            let bytes = cursor.ahead(1);
            let length = bytes.len();
            if length == 0 {
                return TagEnd::Missing;
            }
            match tag.feed(bytes) {
                Some(Stop::End { length, empty }) => {
                    cursor.pass(length);
                    return if empty { TagEnd::Empty } else { TagEnd::Open };
                }
                Some(Stop::Bracket { at, .. }) => {
                    cursor.pass(at);
                    let bytes = cursor.look(TAG);
                    let name = bytes.get(1 + usize::from(bytes.get(1) == Some(&b'/'))..);
                    if name.is_some_and(|name| self.named(name).is_some()) {
                        return TagEnd::Broken;
                    }
                    cursor.pass(1);
                }
                None => cursor.pass(length),
            }
        }
    }
}
