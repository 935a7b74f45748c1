//! Frames `<DOC>` ... `</DOC>`, and likewise `<REUTERS ...>` ... `</REUTERS>`.
//!
//! A record ends at its first closing tag. A record that is not closed ends at the next line that
//! begins a record: `<DOC>` with only white space before `<DOCNO>`, or `<DOC id="...">`. The
//! characters `<DOC>` in the text of a page do not match this and end nothing.

use memchr::memmem;

use super::interpret::docno_of;
use super::reader::Step;
use super::record::{Reason, RecordKind};
use super::stream::{Sink, Stream};

/// Maximum look-ahead for a tag, and for a comment between records.
const TAG: usize = 1 << 10;
const COMMENT: usize = 64 << 10;

/// How many bytes are searched for a `<DOCHDR>`, which follows the docno.
const HEADER_LOOK: usize = 16 << 10;

/// The element that forms a record.
pub(super) struct Tag {
    name: &'static [u8],
    finder: fn(&[u8]) -> Option<usize>,
}

pub(super) static DOC: Tag = Tag {
    name: b"DOC",
    finder: |bytes| memmem::find(bytes, b"DOC"),
};
pub(super) static REUTERS: Tag = Tag {
    name: b"REUTERS",
    finder: |bytes| memmem::find(bytes, b"REUTERS"),
};

impl Tag {
    /// Whether these bytes begin with the opening tag.
    fn opens(&self, bytes: &[u8]) -> bool {
        bytes
            .strip_prefix(b"<")
            .and_then(|rest| rest.strip_prefix(self.name))
            .and_then(|rest| rest.first())
            .is_some_and(|&next| next == b'>' || next.is_ascii_whitespace())
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
            return rest.trim_ascii_start().starts_with(b"<DOCNO>");
        }
        attributes.contains(&b'=')
    }

    /// The first place in these bytes, on a new line, where a record certainly begins, whatever
    /// precedes the bytes: there, an open record, a stray stretch and a comment end.
    pub(super) fn certain_begin(&self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr_iter(b'<', bytes).find(|&at| {
            at > 0 && matches!(bytes[at - 1], b'\n' | b'\r') && self.begins_record(&bytes[at..])
        })
    }

    /// The length of the rest of a closing tag, if these bytes after its name complete it: `>`.
    fn closes(bytes: &[u8]) -> Option<usize> {
        let space = bytes
            .iter()
            .take(TAG)
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        (bytes.get(space) == Some(&b'>')).then_some(space + 1)
    }
}

/// Frames the next record.
pub(super) fn step(stream: &mut Stream, sink: &mut Sink<'_>, tag: &'static Tag) -> Step {
    // Between records: white space, comments, declarations.
    loop {
        let window = stream.skip_space(COMMENT);
        if window.is_empty() {
            return Step::End;
        }
        if tag.opens(window) {
            break;
        }
        let look = &window[..window.len().min(COMMENT)];
        let end = if let Some(rest) = look.strip_prefix(b"<!--") {
            memmem::find(rest, b"-->")
                // A comment that contains the start of another comment was not closed.
                .filter(|&end| memmem::find(&rest[..end], b"<!--").is_none())
                .map(|end| end + 7)
        } else if look.starts_with(b"<!") || look.starts_with(b"<?") {
            memchr::memchr(b'>', &look[..look.len().min(TAG)]).map(|end| end + 1)
        } else {
            None
        };
        // Nor was one that contains the start of a record.
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
        match (tag.finder)(window) {
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

fn record(stream: &mut Stream, sink: &mut Sink<'_>, tag: &'static Tag) -> Step {
    sink.take(stream, 1 + tag.name.len());
    let kind = |sink: &Sink<'_>| {
        let head = sink.held();
        if tag.name == REUTERS.name {
            RecordKind::Reuters
        } else if memmem::find(&head[..head.len().min(HEADER_LOOK)], b"<DOCHDR>").is_some() {
            RecordKind::TrecWeb
        } else {
            RecordKind::TrecSgml
        }
    };
    // The bytes `</` before a name make it a closing tag, so the window keeps room for them and the
    // name.
    let keep = tag.name.len() + 2;
    loop {
        let window = stream.ensure(TAG);
        let Some(at) = (tag.finder)(window) else {
            let length = window.len();
            if length >= TAG {
                sink.take(stream, length - keep);
                continue;
            }
            sink.take(stream, length);
            return Step::Rejected {
                reason: Reason::Truncated,
                docno: docno_of(&kind(sink), sink.held()),
                detail: format!(
                    "the stream ends after {} bytes of the record",
                    sink.length()
                ),
            };
        };
        let window = stream.ensure(at + TAG);
        let after = &window[at + tag.name.len()..];
        if at >= 2 && window[at - 2..at] == *b"</" {
            if let Some(rest) = Tag::closes(after) {
                sink.take(stream, at + tag.name.len() + rest);
                return Step::Record {
                    kind: kind(sink),
                    notice: None,
                };
            }
        } else if at >= 2
            && window[at - 1] == b'<'
            && matches!(window[at - 2], b'\n' | b'\r')
            && tag.begins_record(&window[at - 1..])
        {
            sink.take(stream, at - 1);
            return Step::Rejected {
                reason: Reason::NotClosed,
                docno: docno_of(&kind(sink), sink.held()),
                detail: format!("another begins after {} bytes", sink.length()),
            };
        }
        sink.take(stream, at + 1);
    }
}
