//! Frames the messages of an mbox file.
//!
//! A message begins with a separator: a line of `From `, a sender and a date, that is followed by a header field. It
//! ends where the next one begins. Lines of a text that begin with `From ` are escaped by a `>` in mbox files; those
//! that are not, and lack the date or the field after them, end nothing. `Content-Length` is not looked at: it is
//! wrong wherever a mailbox was edited.

use memchr::memmem;

use super::reader::Step;
use super::record::{Reason, RecordKind};
use super::stream::{Sink, Stream};

/// How far a separator and the field after it are looked ahead for: senders may be long.
const LOOK: usize = 4 << 10;

/// What a separator begins with, the end of the line before it included.
const BEGINS: &[u8] = b"\nFrom ";

/// Does a message begin with these bytes?
pub(super) fn begins_message(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(LOOK)];
    if !bytes.starts_with(&BEGINS[1..]) {
        return false;
    }
    let Some(end) = memchr::memchr(b'\n', bytes) else {
        return false;
    };
    is_dated(&bytes[..end]) && begins_field(&bytes[end + 1..])
}

/// Does a line have a time of day and a year in it?
fn is_dated(line: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    let time = line
        .windows(5)
        .any(|five| five[2] == b':' && digits(&five[..2]) && digits(&five[3..]));
    let mut words = line.split(|byte| byte.is_ascii_whitespace());
    time && words.any(|word| word.len() == 4 && digits(word))
}

/// Is this a header field, or one that was escaped (`>From ` after the separator)?
pub(super) fn begins_field(bytes: &[u8]) -> bool {
    if bytes.starts_with(b">From ") {
        return true;
    }
    let name = bytes
        .iter()
        .take_while(|&&byte| byte.is_ascii_graphic() && byte != b':')
        .count();
    name > 0 && bytes.get(name) == Some(&b':')
}

/// Counts the messages.
#[derive(Default)]
pub(super) struct MboxFramer {
    messages: u64,
}

impl MboxFramer {
    /// `file` names the messages that have no name of their own.
    pub fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>, file: &str) -> Step {
        if stream.at_end() {
            return Step::End;
        }
        let message = begins_message(stream.ensure(LOOK));
        to_next(stream, sink);
        if !message {
            return Step::rejected(Reason::StrayBytes, "before the first message");
        }
        self.messages += 1;
        let kind = RecordKind::Mail {
            docno: format!("{file}#{}", self.messages),
            mbox: true,
        };
        if stream.cut() && stream.at_end() {
            return Step::Rejected {
                reason: Reason::Truncated,
                docno: super::interpret::docno_of(&kind, sink.held()),
                detail: format!("the stream ends after {} bytes of it", sink.length()),
            };
        }
        Step::Record { kind, notice: None }
    }
}

/// Takes what comes before the next separator.
fn to_next(stream: &mut Stream, sink: &mut Sink<'_>) {
    loop {
        let window = stream.ensure(BEGINS.len());
        let Some(at) = memmem::find(window, BEGINS) else {
            // What the window ends with may be the beginning of one.
            let keep = BEGINS.len() - 1;
            let length = window.len();
            if stream.ended() {
                sink.take(stream, length);
                return;
            }
            sink.take(stream, length.saturating_sub(keep));
            continue;
        };
        let window = stream.ensure(at + 1 + LOOK);
        let found = begins_message(&window[at + 1..]);
        sink.take(stream, at + 1);
        if found {
            return;
        }
    }
}
