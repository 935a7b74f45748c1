//! Frames the messages of an mbox file.
//!
//! A message begins with a separator: a line of `From `, a sender and a date, followed by a header
//! field. It ends where the next message begins. In mbox files, a `>` escapes the lines of a text
//! that begin with `From `. An unescaped one without a date, or without a field after it, does not
//! end the message. `Content-Length` is ignored: it is wrong in every mailbox that was edited.

use memchr::memmem;

use super::reader::Step;
use super::record::{Reason, RecordKind};
use super::stream::{Sink, Stream};

/// Maximum look-ahead for a separator and the field after it: senders may be long.
const LOOK: usize = 4 << 10;

/// The beginning of a separator, including the end of the line before it.
const BEGINS: &[u8] = b"\nFrom ";

/// Whether a message begins with these bytes.
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

/// Whether a line contains a time of day and a year.
fn is_dated(line: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    let time = line
        .windows(5)
        .any(|five| five[2] == b':' && digits(&five[..2]) && digits(&five[3..]));
    let mut words = line.split(|byte| byte.is_ascii_whitespace());
    time && words.any(|word| word.len() == 4 && digits(word))
}

/// Whether this is a header field, or an escaped line (`>From ` after the separator).
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
    /// `file` is the base of the docnos of messages without a Message-ID.
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
                detail: format!(
                    "the stream ends after {} bytes of the message",
                    sink.length()
                ),
            };
        }
        Step::Record { kind, notice: None }
    }
}

/// Takes everything before the next separator.
fn to_next(stream: &mut Stream, sink: &mut Sink<'_>) {
    loop {
        let window = stream.ensure(BEGINS.len());
        let Some(at) = memmem::find(window, BEGINS) else {
            // The window may end with the beginning of a separator.
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
