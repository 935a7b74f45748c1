//! Frames JSON lines of standard input: each line that is not empty is a record, whatever is in it.
//!
//! [`crate::read::json::frame_json`] finds objects whose lines do not matter, and so it may have to read the
//! next line before it knows that an object is broken. Whoever writes a line and waits for the
//! answer to it never writes the next one. Here the line end decides, and the parser what the line
//! is.

use crate::read::ground::bytes::spaces;
use crate::read::ground::framer::Step;
use crate::read::ground::record::RecordKind;
use crate::read::ground::stream::{Sink, Stream};

/// Whether an input with this first line has one document on each line. `forced` says that the
/// caller gave the format.
///
/// Objects and arrays that are written over several lines begin with a line of their own bracket.
pub(crate) fn one_per_line(line: &[u8], forced: bool) -> bool {
    match unmarked(line) {
        [b'{', rest @ ..] => match rest.trim_ascii_start() {
            [b'"' | b'}', ..] => true,
            rest => forced && !rest.is_empty(),
        },
        [b'[', rest @ ..] => forced && !matches!(rest.trim_ascii_start(), [] | [b'{' | b']', ..]),
        line => forced && !line.is_empty(),
    }
}

/// A line without white space and the separator of JSON text sequences.
fn unmarked(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    line.strip_prefix(b"\x1e")
        .unwrap_or(line)
        .trim_ascii_start()
}

/// Frames the next line. Returns `None` if `pauses` says so before more is read; the bytes so
/// far are kept in the batch.
pub(crate) fn next_line(
    stream: &mut Stream,
    sink: &mut Sink<'_>,
    mut pauses: impl FnMut(&Stream) -> bool,
) -> Option<Step> {
    loop {
        if sink.begun.offset.is_none() {
            stream.consume(spaces(stream.window()));
        }
        let window = stream.window();
        let end = memchr::memchr(b'\n', window);
        let n = end.unwrap_or(window.len());
        if n > 0 {
            sink.take(stream, n);
        }
        if end.is_some() {
            return Some(Step::record(RecordKind::Json));
        }
        if stream.ended {
            return Some(match sink.begun.offset {
                None => Step::End,
                Some(_) if stream.cut() => Step::cut(None, sink),
                Some(_) => Step::record(RecordKind::Json),
            });
        }
        if pauses(stream) {
            return None;
        }
        stream.read();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_whether_each_is_a_document() {
        for line in [
            "{\"id\": 1, \"text\": \"a\"}",
            " {}",
            "\u{1e}{\"id\": 1}",
            "{ \"id\": 1,",
            "{\"broken",
        ] {
            assert!(one_per_line(line.as_bytes(), false), "{line}");
            assert!(one_per_line(line.as_bytes(), true), "{line}");
        }
        for line in ["{broken", "broken", "[1, 2]", "5", "\"text\""] {
            assert!(!one_per_line(line.as_bytes(), false), "{line}");
            assert!(one_per_line(line.as_bytes(), true), "{line}");
        }
        for line in ["", " ", "{", "[", "[{\"id\": 1},", "[]"] {
            assert!(!one_per_line(line.as_bytes(), false), "{line}");
            assert!(!one_per_line(line.as_bytes(), true), "{line}");
        }
    }
}
