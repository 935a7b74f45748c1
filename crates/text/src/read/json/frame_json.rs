//! Frames JSON objects: one per line, one after the other, or in one array.
//!
//! Braces are matched outside of strings. A byte sequence that no object can contain ends the
//! object: a line end inside a string, or an opening brace at the start of a line where JSON allows
//! none. So a broken line costs one record and not the rest of the file. A byte order mark or a
//! record separator between objects is passed over.
//!
//! In the bulk format of Elasticsearch, an action and the object on the next line are one record.

use super::bulk::Action;
use super::values::decode;
use crate::read::ground::bytes::MARK;
use crate::read::ground::fields::{FieldPath, Step as PathStep};
use crate::read::ground::framer::{Behind, Cuts, Framer, Step};
use crate::read::ground::record::RecordKind;
use crate::read::ground::stream::{Sink, Stream};
use lookalike_source::Reason;

/// Maximum depth at which arrays and objects are distinguished; the parser rejects deeper nesting
/// anyway.
const TOLD_APART: u32 = 128;

#[derive(Clone, Default)]
pub(crate) struct JsonFramer {
    /// Where the records are, if they are within objects.
    within: Option<Within>,
    /// Whether the framer is inside a top-level array.
    in_array: bool,
    /// The number of arrays of objects inside of that one in which the framer is.
    inner: u64,
    /// Whether actions precede documents. Then no place is certain: a line may be either.
    bulk: bool,
    /// Whether a comma or a bracket ended the last bytes that were not an object.
    separated: bool,
    /// Whether the last rejected bytes end with a bracket, which may close the array.
    ended: bool,
}

/// Bytes ahead in which an action ends.
const LOOK: usize = 8 << 10;

/// On the way to the elements of lists that `--records` names.
#[derive(Clone, Default)]
struct Within {
    path: String,
    /// The name of the next member on the way; `None` for all elements of a list.
    steps: Vec<Option<String>>,
    /// The objects and lists in which the framer is.
    open: Vec<Around>,
}

/// An object or a list around the records.
#[derive(Clone, Copy)]
struct Around {
    is_object: bool,
    /// The steps that lead to its values.
    at: usize,
    /// Whether an object has the next value on the way.
    found: bool,
}

/// The separator of JSON text sequences (RFC 7464). Like a byte order mark, it may precede an
/// object on its line, in the middle of files that were put one after the other.
const SEPARATOR: u8 = 0x1e;

enum End {
    /// The closing brace was found.
    Closed,
    /// The object cannot continue from here.
    Broken,
}

/// The state of brace matching within one object.
#[derive(Default)]
struct Braces {
    in_string: bool,
    escape: bool,
    depth: u32,
    /// One bit per level, set if the level is an array.
    arrays: u128,
    /// The amount of white space since the last line end, if there was only white space.
    indent: Option<usize>,
    last: u8,
}

impl Braces {
    /// Scans more bytes; returns how many of them belong to the object, and how it ended, if it
    /// did.
    fn feed(&mut self, bytes: &[u8]) -> (usize, Option<End>) {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                if self.escape {
                    self.escape = false;
                    if bytes[at] != b'\n' {
                        at += 1;
                        continue;
                    }
                }
                let Some(found) = memchr::memchr3(b'"', b'\\', b'\n', &bytes[at..]) else {
                    return (bytes.len(), None);
                };
                at += found;
                match bytes[at] {
                    b'"' => self.in_string = false,
                    b'\\' => self.escape = true,
                    _ => return (at + 1, Some(End::Broken)),
                }
                at += 1;
                continue;
            }
            let byte = bytes[at];
            match byte {
                b'\n' => self.indent = Some(0),
                b' ' | b'\t' | b'\r' => self.indent = self.indent.map(|indent| indent + 1),
                // Neither can be in an object.
                SEPARATOR => return (at, Some(End::Broken)),
                0xef if self.indent == Some(0) => return (at, Some(End::Broken)),
                _ => {
                    if byte == b'{' && self.depth > 0 && self.indent.is_some() && !self.may_open() {
                        return (at, Some(End::Broken));
                    }
                    self.indent = None;
                    self.last = byte;
                    match byte {
                        b'"' => self.in_string = true,
                        b'{' | b'[' => {
                            self.depth = self.depth.saturating_add(1);
                            if self.depth <= TOLD_APART {
                                let bit = 1 << (self.depth - 1);
                                self.arrays &= !bit;
                                if byte == b'[' {
                                    self.arrays |= bit;
                                }
                            }
                        }
                        b'}' | b']' => {
                            self.depth = self.depth.saturating_sub(1);
                            if self.depth == 0 {
                                return (at + 1, Some(End::Closed));
                            }
                        }
                        _ => {}
                    }
                }
            }
            at += 1;
        }
        (at, None)
    }

    /// Whether an object may begin here, first on its line and inside another object or array.
    fn may_open(&self) -> bool {
        let in_array = self.depth > TOLD_APART || self.arrays >> (self.depth - 1) & 1 == 1;
        match self.last {
            b'[' => true,
            b',' => in_array,
            // A line that ends after a colon was cut there, unless the next line is indented.
            b':' => self.indent.is_some_and(|indent| indent > 0),
            _ => false,
        }
    }
}

impl Framer for JsonFramer {
    fn cuts(&self) -> Cuts {
        match (&self.within, self.bulk) {
            (Some(_), _) => Cuts::Nowhere,
            (None, true) => Cuts::Found,
            (None, false) => Cuts::Certain,
        }
    }

    /// An object begins between two records, whatever precedes the bytes, if it is first on its line,
    /// after a line that does not end with a comma, an opening bracket or a mark.
    ///
    /// Inside a string, the line end ends the record. Inside an object, the brace does
    /// ([`Braces::may_open`]), or a mark before it. Inside a top-level array, objects are separated by
    /// commas.
    fn certain_begin(&self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr_iter(b'\n', bytes).find_map(|at| {
            let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let last = bytes[..at].iter().rfind(|byte| !space(byte))?;
            let line = &bytes[at + 1..];
            let line = line.strip_prefix(&[SEPARATOR][..]).unwrap_or(line);
            let line = line.strip_prefix(MARK).unwrap_or(line);
            // A comma may also precede marks.
            let begins = line.first() == Some(&b'{') && !b",[\x1e\xbf".contains(last);
            begins.then_some(bytes.len() - line.len())
        })
    }

    fn behind(&self) -> Option<Box<dyn Framer>> {
        self.within
            .is_none()
            .then(|| Behind::of(JsonFramer::of_bulk(self.bulk)))
    }

    fn begins(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(b"{")
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        if let Some(mut within) = self.within.take() {
            let step = self.step_within(&mut within, stream, sink);
            self.within = Some(within);
            return step;
        }
        let mut separated = std::mem::take(&mut self.separated);
        let mut ended = std::mem::take(&mut self.ended);
        loop {
            match stream.skip_space(1).first().copied() {
                None if self.in_array && !ended && !stream.cut() => {
                    (self.in_array, self.inner) = (false, 0);
                    let what = "the stream ends inside the array around the records";
                    return Step::rejected(Reason::Truncated, what);
                }
                None => return Step::End,
                Some(b'{') => {
                    // So that what precedes such an object does not matter ([`Framer::certain_begin`]).
                    self.in_array &= separated;
                    self.inner *= u64::from(self.in_array);
                    let step = object(stream, sink);
                    let is_whole = matches!(step, Step::Record { .. });
                    self.ended = !is_whole && sink.held().trim_ascii_end().ends_with(b"]");
                    return match Action::of(sink.held()).filter(|_| self.bulk && is_whole) {
                        Some(action) => with_document(&action, stream, sink),
                        None => step,
                    };
                }
                Some(b',') => {
                    (separated, ended) = (true, false);
                    stream.consume(1);
                }
                Some(SEPARATOR) => stream.consume(1),
                Some(0xef) if stream.ensure(MARK.len()).starts_with(MARK) => {
                    stream.consume(MARK.len());
                }
                Some(b'[') => {
                    // An array of objects is a wrapper, which is removed; any other array is a bad
                    // line.
                    let window = stream.ensure(64);
                    if !matches!(window[1..].trim_ascii_start(), [] | [b'{' | b']', ..]) {
                        return self.bad_line(stream, sink);
                    }
                    self.inner += u64::from(self.in_array && !ended);
                    (self.in_array, separated) = (true, true);
                    stream.consume(1);
                }
                Some(b']') if self.in_array => {
                    self.in_array = self.inner > 0;
                    self.inner = self.inner.saturating_sub(1);
                    stream.consume(1);
                }
                Some(_) => return self.bad_line(stream, sink),
            }
        }
    }
}

impl Within {
    /// Whether the next value is an element of a list.
    fn in_list(&self) -> bool {
        self.open.last().is_some_and(|around| !around.is_object)
    }
}

impl JsonFramer {
    /// A framer of objects, or of the elements of the list in them that `--records` names.
    pub fn new(records: Option<&str>) -> Self {
        let within = records.and_then(|path| {
            let steps = FieldPath::one(path).ok()?.steps.into_iter();
            let steps = steps.map(|step| match step {
                PathStep::Name(name) => Some(name.into_owned()),
                _ => None,
            });
            let mut steps: Vec<_> = steps.collect();
            if steps.last().is_some_and(Option::is_some) {
                steps.push(None);
            }
            Some(Within {
                path: path.into(),
                steps,
                ..Within::default()
            })
        });
        JsonFramer {
            // A bad value ends where the next object may begin.
            in_array: within.is_some(),
            within,
            ..JsonFramer::default()
        }
    }

    fn step_within(
        &mut self,
        within: &mut Within,
        stream: &mut Stream,
        sink: &mut Sink<'_>,
    ) -> Step {
        loop {
            let around = within.open.last().copied();
            let at = match (stream.skip_space(1).first().copied(), around) {
                (None, None) => return Step::End,
                (None, _) => {
                    within.open.clear();
                    let what = "the stream ends inside the object around the records";
                    return Step::rejected(Reason::Truncated, what);
                }
                (Some(b',' | SEPARATOR), _) => {
                    stream.consume(1);
                    continue;
                }
                (Some(0xef), _) if stream.ensure(MARK.len()).starts_with(MARK) => {
                    stream.consume(MARK.len());
                    continue;
                }
                (Some(b'}'), Some(object)) if object.is_object => {
                    sink.pass(stream, 1);
                    within.open.pop();
                    if !object.found {
                        let what = match within.open.is_empty() {
                            true => format!("the object has no list {}", within.path),
                            false => format!("an object on the way has no list {}", within.path),
                        };
                        return Step::rejected(Reason::NoList, what);
                    }
                    sink.forget();
                    continue;
                }
                (Some(b']'), Some(list)) if !list.is_object => {
                    stream.consume(1);
                    within.open.pop();
                    continue;
                }
                (Some(b'"'), Some(object)) if object.is_object => {
                    let name = string(stream);
                    if stream.skip_space(1).first() != Some(&b':') {
                        return self.bad_line(stream, sink);
                    }
                    stream.consume(1);
                    stream.skip_space(1);
                    let is_next = within
                        .steps
                        .get(object.at)
                        .is_some_and(|step| *step == name);
                    is_next.then_some(object.at + 1)
                }
                (_, Some(object)) if object.is_object => return self.bad_line(stream, sink),
                (_, Some(list)) => Some(list.at),
                (_, None) => Some(0),
            };
            let step = at.map(|at| (at, within.steps.get(at)));
            let mut enter = |is_object: bool, at| {
                // The value around it has the next value on the way.
                if let Some(around) = within.open.last_mut() {
                    around.found = true;
                }
                let found = !is_object;
                within.open.push(Around {
                    is_object,
                    at,
                    found,
                });
            };
            match (stream.ensure(1).first().copied(), step) {
                (Some(b'{'), Some((_, None))) => return object(stream, sink),
                (Some(b'{'), Some((at, Some(Some(_))))) => {
                    stream.consume(1);
                    enter(true, at);
                }
                (Some(b'['), Some((at, Some(None)))) => {
                    stream.consume(1);
                    enter(false, at + 1);
                }
                (Some(b'['), Some((0, _))) => {
                    stream.consume(1);
                    enter(false, 0);
                }
                // Only objects are expected around the lists.
                (Some(_), Some((0, _))) => return self.bad_line(stream, sink),
                (Some(_), Some((_, next))) if next.is_none() || within.in_list() => {
                    let offset = stream.offset;
                    pass(stream, sink);
                    return match stream.offset == offset {
                        true => self.bad_line(stream, sink),
                        false => Step::rejected(Reason::BadJson, "not an object"),
                    };
                }
                (Some(_), _) => {
                    let offset = stream.offset;
                    if !pass(stream, sink) || stream.offset == offset {
                        return self.bad_line(stream, sink);
                    }
                    sink.forget();
                }
                (None, _) => {}
            }
        }
    }

    /// A framer of JSON; `bulk` says whether actions precede documents.
    pub(crate) fn of_bulk(bulk: bool) -> JsonFramer {
        JsonFramer {
            bulk,
            ..JsonFramer::default()
        }
    }

    /// Skips bytes that are not an object, up to the end of the line or, in an array, to the next
    /// brace.
    fn bad_line(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        let mut what = "not an object";
        loop {
            let window = stream.ensure(1);
            if window.is_empty() {
                break;
            }
            // No record can begin with the first byte here.
            let from = usize::from(sink.begun.length == 0);
            let rest = window.get(from..).unwrap_or_default();
            let end = if self.in_array {
                memchr::memchr2(b'\n', b'{', rest)
            } else {
                memchr::memchr(b'\n', rest)
            };
            let end = end.map(|end| end + from);
            let n = end.unwrap_or(window.len());
            if let Some(last) = window[..n].iter().rfind(|byte| !byte.is_ascii_whitespace()) {
                self.separated = self.in_array && matches!(last, b',' | b'[');
                self.ended = *last == b']';
            }
            if !self.in_array && memchr::memmem::find(&window[..n], b"{\"").is_some() {
                what =
                    "not an object, although one is on the same line: put it on a line of its own";
            }
            sink.pass(stream, n);
            if end.is_some() {
                break;
            }
        }
        Step::rejected(Reason::BadJson, what)
    }
}

/// Consumes a string. Returns it without its quotes and escapes, unless it is too long for a name.
fn string(stream: &mut Stream) -> Option<String> {
    const LONGEST: usize = 64 << 10;
    let (mut literal, mut escape) = (Vec::new(), false);
    stream.consume(1);
    loop {
        let window = stream.ensure(1);
        let end = window.iter().position(|&byte| {
            let ends = byte == b'"' && !escape;
            escape = byte == b'\\' && !escape;
            ends
        });
        let n = end.unwrap_or(window.len());
        let room = LONGEST.saturating_sub(literal.len()).min(n);
        literal.extend_from_slice(&window[..room]);
        let whole = room == n;
        let ended = window.is_empty();
        stream.consume(n + usize::from(end.is_some()));
        if end.is_some() || ended {
            let mut name = String::new();
            decode(&String::from_utf8_lossy(&literal), &mut name);
            return whole.then_some(name);
        }
    }
}

/// Passes over a value that is not a record; `false` if it is broken.
fn pass(stream: &mut Stream, sink: &mut Sink<'_>) -> bool {
    let mut braces = Braces::default();
    let first = stream.ensure(1).first().copied();
    loop {
        let window = stream.ensure(1);
        if window.is_empty() {
            return true;
        }
        let (n, end) = match first {
            Some(b'{' | b'[') => braces.feed(window),
            Some(b'"') => {
                let offset = stream.offset;
                string(stream);
                sink.begun.offset.get_or_insert(offset);
                sink.begun.length += stream.offset - offset;
                return true;
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b",]}[{\"".contains(byte);
                match window.iter().position(ends) {
                    Some(n) => (n, Some(End::Closed)),
                    None => (window.len(), None),
                }
            }
        };
        sink.pass(stream, n);
        if let Some(end) = end {
            return matches!(end, End::Closed);
        }
    }
}

/// The record of an action, with the document on the next line.
fn with_document(action: &Action, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
    if action.deletes {
        return Step::record(RecordKind::Deletion);
    }
    let record = Step::record(RecordKind::Bulk);
    let line_end = match *stream.ensure(3) {
        [b'\n', b'{', ..] => 1,
        [b'\r', b'\n', b'{', ..] => 2,
        _ => return record,
    };
    if Action::of(&stream.ensure(LOOK)[line_end..]).is_some() {
        return record;
    }
    sink.take(stream, line_end);
    match object(stream, sink) {
        Step::Record { .. } => record,
        broken => broken,
    }
}

fn object(stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
    let mut braces = Braces::default();
    loop {
        let window = stream.ensure(1);
        if window.is_empty() {
            return Step::cut(None, sink);
        }
        let (n, end) = braces.feed(window);
        sink.take(stream, n);
        match end {
            None => {}
            Some(End::Closed) => {
                return Step::record(RecordKind::Json);
            }
            Some(End::Broken) => {
                let detail = if braces.in_string {
                    "a line ends inside a string"
                } else {
                    "another object begins before it is closed"
                };
                return Step::rejected(Reason::BadJson, detail);
            }
        }
    }
}
