//! Frames the messages of an mbox file.
//!
//! A message begins with a separator: a line that begins with `From `, followed by a header field.
//! It ends where the next message begins. In mbox files, a `>` escapes the lines of a text that
//! begin with `From `. `Content-Length` is ignored: it is wrong in every mailbox that was edited.
//!
//! Programs write different separators (RFC 4155, appendix A), and texts also have lines that begin
//! with `From `. A line with a time of day and a year is a separator wherever it is. Another one is
//! a separator only at the beginning of the file or after an empty line, and only in these forms:
//!
//! - nothing after `From ` (Thunderbird), or `-` and whatever follows (Netscape);
//! - an address alone;
//! - an address and whatever follows, another sender alone, or another sender before a date, if the
//!   field after it is a field of mail. A date is a time of day, or a day of the week with a month
//!   or a year.
//!
//! A line ends with LF, CRLF or CR, in each message as its own program wrote it.
//!
//! In MMDF, a line of four Control-A begins a message, and another one ends it. Some programs write
//! only one line between two messages. Such a line separates messages only before a header.

use std::sync::Arc;

use memchr::memmem;

use super::{MMDF, begins_field, is_field_of_mail, put_line_feeds};
use crate::read::ground::bytes::{first_line, is_one_of, next_line, trim_line};
use crate::read::ground::framer::{Framer, Step};
use crate::read::ground::record::{Message, RecordKind};
use crate::read::ground::stream::{Sink, Stream};
use lookalike_base::words;
use lookalike_source::Reason;

/// Maximum look-ahead for a separator and the field after it: senders may be long.
const LOOK: usize = 4 << 10;

/// The beginning of a separator.
const BEGINS: &[u8] = b"From ";

/// The end of an empty line before a separator, which is kept in the window: `\n\r\n`.
const BEFORE: usize = 3;

/// Whether a message begins with these bytes. `after_blank`: they are at the beginning of the file,
/// or after an empty line.
pub(crate) fn begins_message(bytes: &[u8], after_blank: bool) -> bool {
    let bytes = &bytes[..bytes.len().min(LOOK)];
    if let Some(length) = mmdf_line(bytes) {
        let next = &bytes[length..];
        return begins_field(next) || begins_message(next, true);
    }
    let Some(rest) = bytes.strip_prefix(BEGINS) else {
        return false;
    };
    let Some(end) = next_line(rest) else {
        return false;
    };
    let (line, next) = (rest[..end].trim_ascii(), &rest[end..]);
    if !begins_field(next) {
        return false;
    }
    if is_dated(line) {
        return true;
    }
    if !after_blank {
        return false;
    }
    let mut rest = words_of(line);
    match rest.next() {
        None | Some(b"-") => true,
        Some(sender) => {
            let address = sender.contains(&b'@');
            let date = &line[sender.len()..];
            let name = &next[..memchr::memchr(b':', next).unwrap_or_default()];
            let known = is_field_of_mail(name.trim_ascii_end());
            let day = words_of(date).any(|word| is_one_of(word, &DAYS));
            let dated = day && words_of(date).any(|word| is_year(word) || is_one_of(word, &MONTHS));
            match date {
                [] => address || known,
                _ => known && (address || has_time(line) || dated),
            }
        }
    }
}

/// Whether a line has a time of day and a year.
fn is_dated(line: &[u8]) -> bool {
    has_time(line) && words_of(line).any(is_year)
}

fn ends_line(bytes: &[u8]) -> bool {
    matches!(bytes, [.., b'\n' | b'\r'])
}

/// Where a dated line follows an empty one in the text of a message, as if another message began there.
/// No field is behind it.
pub(super) fn separator_in(text: &[u8]) -> Option<usize> {
    memmem::find_iter(text, BEGINS).find(|&at| {
        let before = &text[..at];
        let after_blank = at == 0 || ends_line(before) && ends_line(trim_line(before));
        after_blank && is_dated(first_line(&text[at..]))
    })
}

/// The length of the line around a message of MMDF, if the bytes begin with it.
fn mmdf_line(bytes: &[u8]) -> Option<usize> {
    match bytes.strip_prefix(MMDF)? {
        [] => Some(MMDF.len()),
        rest @ [b'\n' | b'\r', ..] => next_line(rest).map(|end| MMDF.len() + end),
        _ => None,
    }
}

const DAYS: [&str; 7] = words("Mon Tue Wed Thu Fri Sat Sun");
const MONTHS: [&str; 12] = words("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec");

fn words_of(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace() || *byte == b',')
        .filter(|word| !word.is_empty())
}

fn are_digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}

fn is_year(word: &[u8]) -> bool {
    word.len() == 4 && are_digits(word)
}

/// Whether a line contains a time of day.
fn has_time(line: &[u8]) -> bool {
    line.windows(5)
        .any(|five| five[2] == b':' && are_digits(&five[..2]) && are_digits(&five[3..]))
}

/// Counts the messages.
#[derive(Clone, Default)]
pub(crate) struct MboxFramer {
    /// The base of the docnos of messages without a Message-ID.
    file: Arc<str>,
    messages: u64,
    begun: bool,
    mmdf: bool,
}

impl MboxFramer {
    pub fn new(file: Arc<str>) -> Self {
        MboxFramer {
            file,
            ..MboxFramer::default()
        }
    }
}

impl Framer for MboxFramer {
    fn behind(&self) -> Option<Box<dyn Framer>> {
        Some(Box::new(self.clone()))
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        if stream.at_end() {
            return Step::End;
        }
        if !std::mem::replace(&mut self.begun, true) {
            // Empty lines at the beginning of a file.
            while let [b'\r' | b'\n', ..] = stream.ensure(1) {
                stream.consume(1);
            }
            self.mmdf = mmdf_line(stream.ensure(LOOK)).is_some();
        }
        let head = stream.ensure(LOOK);
        let message = begins_message(head, true) || self.mmdf && begins_field(head);
        match self.mmdf {
            true => to_end(stream, sink),
            false => to_next(stream, sink),
        }
        if !message {
            return Step::rejected(Reason::StrayBytes, "before the first message");
        }
        put_line_feeds(sink.held_mut());
        self.messages += 1;
        let docno = format!("{}#{}", self.file, self.messages);
        let kind = RecordKind::Mail(Message { docno, mbox: true });
        if stream.cut() && stream.at_end() {
            let length = sink.begun.length;
            let detail = format!("the stream ends after {length} bytes of the message");
            return Step::named(kind.docno(sink.held()), Reason::Truncated, detail);
        }
        Step::record(kind)
    }
}

/// Takes everything to the end of a message of MMDF: to a line that ends it, before another message
/// or nothing.
fn to_end(stream: &mut Stream, sink: &mut Sink<'_>) {
    let begin = mmdf_line(stream.ensure(LOOK)).unwrap_or_default();
    sink.take(stream, begin);
    loop {
        let window = stream.ensure(LOOK);
        let Some(at) = memmem::find(window, MMDF) else {
            let length = window.len();
            // The window may end with the beginning of such a line.
            let keep = if stream.ended { 0 } else { MMDF.len() };
            sink.take(stream, length.saturating_sub(keep));
            if keep == 0 {
                return;
            }
            continue;
        };
        let starts = at == 0 || matches!(window[at - 1], b'\n' | b'\r');
        sink.take(stream, at);
        let line = mmdf_line(stream.ensure(2 * LOOK)).filter(|_| starts);
        sink.take(stream, line.unwrap_or(MMDF.len()));
        let next = stream.ensure(LOOK);
        let blank = next.len() < LOOK && next.trim_ascii().is_empty();
        if line.is_some() && (blank || begins_field(next) || begins_message(next, true)) {
            if blank {
                let length = next.len();
                sink.take(stream, length);
            }
            return;
        }
    }
}

/// Takes everything before the next separator.
fn to_next(stream: &mut Stream, sink: &mut Sink<'_>) {
    loop {
        let window = stream.ensure(BEFORE + BEGINS.len());
        let Some(at) = memmem::find(window, BEGINS) else {
            // The window may end with the beginning of a separator.
            let keep = BEFORE + BEGINS.len() - 1;
            let length = window.len();
            if stream.ended {
                sink.take(stream, length);
                return;
            }
            sink.take(stream, length.saturating_sub(keep));
            continue;
        };
        let window = stream.ensure(at + LOOK);
        let before = &window[..at];
        let after_blank = ends_line(trim_line(before));
        if ends_line(before) && begins_message(&window[at..], after_blank) {
            sink.take(stream, at);
            return;
        }
        sink.take(stream, at + 1);
    }
}
