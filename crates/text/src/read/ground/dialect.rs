//! How the bytes of a table are cut into rows and cells, and how `--delimiter` and `--quote` say it.

use std::ops::Deref;

use encoding_rs::WINDOWS_1252;
use memchr::memmem;

/// The most bytes of a [`Mark`].
pub(crate) const LONGEST_MARK: usize = 8;

/// The names of control characters, from 0 on.
const CONTROLS: [&str; 32] = lookalike_base::words::words(
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM \
     SUB ESC FS GS RS US",
);

/// A few bytes that separate or enclose cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    bytes: [u8; LONGEST_MARK],
    length: u8,
}

impl Deref for Mark {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Mark {
    /// A mark of one byte.
    pub(crate) const fn byte(byte: u8) -> Mark {
        Mark {
            bytes: [byte, 0, 0, 0, 0, 0, 0, 0],
            length: 1,
        }
    }

    /// A mark of these bytes, if there are neither none nor too many.
    pub(crate) fn of(bytes: &[u8]) -> Option<Mark> {
        let mut mark = Mark::byte(0);
        mark.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        mark.length = bytes.len() as u8;
        (!bytes.is_empty()).then_some(mark)
    }

    /// The mark that a flag gives: its characters, the name of one (`tab`, `DC4`), `^A` for a
    /// control character, or `\x14` for a byte.
    pub(crate) fn parse(text: &str) -> Result<Mark, String> {
        let named = CONTROLS
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text));
        let bytes = match (text.to_ascii_lowercase().as_str(), text.as_bytes()) {
            ("tab" | "\\t", _) => vec![b'\t'],
            ("comma", _) => vec![b','],
            ("semicolon", _) => vec![b';'],
            ("bar" | "pipe", _) => vec![b'|'],
            ("space", _) => vec![b' '],
            (_, [b'^', letter]) if letter.is_ascii_alphabetic() => vec![letter & 31],
            _ => match named {
                Some(control) => vec![control as u8],
                None => with_escapes(text)?,
            },
        };
        if bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
            return Err("it has a line end, which ends a row".into());
        }
        let most = LONGEST_MARK;
        Mark::of(&bytes).ok_or_else(|| format!("it has {} bytes, not 1 to {most}", bytes.len()))
    }

    /// The same characters in windows-1252, if they are others there.
    pub(crate) fn in_windows_1252(self) -> Option<Mark> {
        let text = std::str::from_utf8(&self).ok()?;
        let (bytes, _, unmappable) = WINDOWS_1252.encode(text);
        Mark::of(&bytes).filter(|_| !unmappable && !text.is_ascii())
    }

    /// Whether this is a control character other than the tab.
    pub(crate) fn is_control(self) -> bool {
        matches!(*self, [byte] if byte < 32 && byte != b'\t')
    }

    /// Where it is first in these bytes.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        match **self {
            [byte] => memchr::memchr(byte, bytes),
            _ => memmem::find(bytes, self),
        }
    }

    fn last(&self) -> u8 {
        self.last_chunk::<1>().map_or(0, |last| last[0])
    }
}

/// The bytes of a text in which `\xHH` is a byte.
fn with_escapes(text: &str) -> Result<Vec<u8>, String> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or("two hexadecimal digits follow \\x")?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Ok(bytes)
}

/// How the bytes of a table are cut into rows and cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub delimiter: Mark,
    /// The last byte of a line end.
    pub end: u8,
    /// The mark that encloses a cell if the cell begins with it, and whether there are quotes.
    pub quote: Mark,
    pub quotes: bool,
    /// Whether a backslash in quotes takes the meaning of the next character, as Spark writes.
    pub escape: bool,
    /// Whether a backslash outside of quotes does, as `COPY` and `mysqldump --tab` write.
    pub copied: bool,
}

impl Dialect {
    /// Cells with this delimiter and with the usual quotes.
    pub(crate) fn of(delimiter: Mark, end: u8) -> Dialect {
        Dialect {
            delimiter,
            end,
            quote: Mark::byte(b'"'),
            quotes: true,
            escape: false,
            copied: false,
        }
    }

    /// Where the next quote, or a backslash with a meaning, is.
    pub(crate) fn next_quote(&self, bytes: &[u8]) -> Option<usize> {
        match self.escape {
            true => memchr::memchr2(self.quote.last(), b'\\', bytes),
            false => self.quote.find(bytes),
        }
    }
}

/// Finds the end of a row. Its state is the one between two bytes, so the row may come in pieces.
pub(crate) struct Scan {
    dialect: Dialect,
    /// A delimiter with a quote after it.
    opening: ([u8; 2 * LONGEST_MARK], usize),
    place: Place,
    /// The last bytes, as far as they may be the first ones of `opening`.
    tail: ([u8; 2 * LONGEST_MARK], usize),
    /// Whether a line end was taken into a cell.
    spans_lines: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    Quoted,
    /// Behind an escape character, which is in quotes or not.
    Escaped(bool),
    /// Behind a quote in quotes, and as many bytes of another one.
    Closed(usize),
    /// Behind spaces after it.
    Spaced,
}

/// How a row ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowEnd {
    /// With its line end.
    Line,
    /// Its quotes do not fit.
    Broken,
}

impl Scan {
    pub fn new(dialect: Dialect) -> Scan {
        let joined = |first: &[u8], second: &[u8]| {
            let mut both = [0; 2 * LONGEST_MARK];
            for (place, byte) in both.iter_mut().zip(first.iter().chain(second)) {
                *place = *byte;
            }
            (both, first.len() + second.len())
        };
        Scan {
            dialect,
            opening: joined(&dialect.delimiter, &dialect.quote),
            place: Place::Plain,
            // A quote may open the first cell.
            tail: joined(&dialect.delimiter, &[]),
            spans_lines: false,
        }
    }

    /// Whether the row may end here, at the end of the file.
    pub(crate) fn may_end(&self) -> bool {
        !matches!(self.place, Place::Quoted | Place::Escaped(true))
    }

    /// Whether the bytes so far, of which these are the last ones, end with a mark.
    fn ends_with(&self, bytes: &[u8], mark: &[u8]) -> bool {
        match mark.len().checked_sub(bytes.len()) {
            None | Some(0) => bytes.ends_with(mark),
            Some(before) => {
                mark.ends_with(bytes) && self.tail.0[..self.tail.1].ends_with(&mark[..before])
            }
        }
    }

    /// Scans more bytes; returns how many of them belong to the row, and how it ends, if it does.
    pub fn feed(&mut self, bytes: &[u8]) -> (usize, Option<RowEnd>) {
        let fed = self.scan(bytes);
        if fed.1.is_some() {
            return fed;
        }
        let (mut tail, most) = (self.tail.0[..self.tail.1].to_vec(), self.tail.0.len());
        tail.extend_from_slice(&bytes[bytes.len().saturating_sub(most)..]);
        let last = &tail[tail.len().saturating_sub(most)..];
        self.tail.0[..last.len()].copy_from_slice(last);
        self.tail.1 = last.len();
        fed
    }

    fn scan(&mut self, bytes: &[u8]) -> (usize, Option<RowEnd>) {
        let dialect = self.dialect;
        let (end, quote) = (dialect.end, dialect.quote);
        let (opening, length) = self.opening;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at..];
            match self.place {
                Place::Plain => {
                    let quote = if dialect.quotes { quote.last() } else { end };
                    let found = match dialect.copied {
                        true => memchr::memchr3(quote, b'\\', end, rest),
                        false => memchr::memchr2(quote, end, rest),
                    };
                    let Some(found) = found else { break };
                    at += found + 1;
                    if rest[found] == end {
                        return (at, Some(RowEnd::Line));
                    }
                    if rest[found] != quote {
                        self.place = Place::Escaped(false);
                    } else if self.ends_with(&bytes[..at], &opening[..length]) {
                        self.place = Place::Quoted;
                    }
                }
                Place::Quoted => {
                    let found = match dialect.escape {
                        true => memchr::memchr2(quote.last(), b'\\', rest),
                        false => memchr::memchr(quote.last(), rest),
                    };
                    let inside = &rest[..found.unwrap_or(rest.len())];
                    self.spans_lines = self.spans_lines || memchr::memchr(end, inside).is_some();
                    let Some(found) = found else { break };
                    at += found + 1;
                    if rest[found] != quote.last() {
                        self.place = Place::Escaped(true);
                    } else if self.ends_with(&bytes[..at], &quote) {
                        self.place = Place::Closed(0);
                    }
                }
                Place::Escaped(quoted) => {
                    self.spans_lines |= quoted && byte == end;
                    self.place = if quoted { Place::Quoted } else { Place::Plain };
                    at += 1;
                }
                Place::Closed(n) if quote.get(n) == Some(&byte) => {
                    self.place = match n + 1 == quote.len() {
                        true => Place::Quoted,
                        false => Place::Closed(n + 1),
                    };
                    at += 1;
                }
                Place::Closed(0) | Place::Spaced if byte == b' ' && *dialect.delimiter != *b" " => {
                    self.place = Place::Spaced;
                    at += 1;
                }
                Place::Closed(_) | Place::Spaced => {
                    let cell = dialect.delimiter.first().copied();
                    let follows = [cell.unwrap_or(end), end, b'\r'];
                    if self.spans_lines && !follows.contains(&byte) {
                        return (at, Some(RowEnd::Broken));
                    }
                    self.place = Place::Plain;
                }
            }
        }
        (bytes.len(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_written_in_several_ways() {
        for (text, bytes) in [
            (",", &b","[..]),
            ("tab", b"\t"),
            ("\\t", b"\t"),
            ("^A", b"\x01"),
            ("\\x14", b"\x14"),
            ("DC4", b"\x14"),
            ("us", b"\x1f"),
            ("Pipe", b"|"),
            ("~|^", b"~|^"),
            ("^^", b"^^"),
            ("::", b"::"),
            ("\u{fe}", b"\xc3\xbe"),
            ("\\xfe", b"\xfe"),
            ("a\\x09b", b"a\tb"),
        ] {
            assert_eq!(Mark::parse(text).as_deref(), Ok(bytes), "{text}");
        }
        for text in ["", "\n", "\\x0a", "LF", "\\x1", "\\xzz", "123456789"] {
            assert!(Mark::parse(text).is_err(), "{text:?}");
        }
        let thorn = Mark::parse("\u{fe}").unwrap();
        assert_eq!(thorn.in_windows_1252().as_deref(), Some(&b"\xfe"[..]));
        assert!(Mark::byte(b'|').in_windows_1252().is_none());
        assert!(Mark::parse("\u{4e00}").unwrap().in_windows_1252().is_none());
    }

    /// A row has one end, however its bytes come.
    #[test]
    fn rows_end_wherever_their_bytes_are_cut() {
        let thorn = Mark::parse("\u{fe}").unwrap();
        let usual = |delimiter: &str| Dialect::of(Mark::parse(delimiter).unwrap(), b'\n');
        let load = Dialect {
            quote: thorn,
            ..usual("DC4")
        };
        for (dialect, row) in [
            (usual(","), "a,\"b\nc\"\"d\",e\n"),
            (usual("~|^"), "a~|^\"b\nc\"~|^d|\"\n"),
            (usual("::"), "a::\"b::c\n\"\"\"::d\n"),
            (
                load,
                "\u{fe}a\u{fe}\x14\u{fe}b \u{be}\nc\u{fe}\u{fe}d\u{fe}\n",
            ),
        ] {
            let bytes = [row, "next"].concat().into_bytes();
            for each in 1..bytes.len() {
                let (mut scan, mut at) = (Scan::new(dialect), 0);
                let end = bytes.chunks(each).find_map(|piece| {
                    let (n, end) = scan.feed(piece);
                    at += n;
                    end
                });
                assert_eq!((at, end), (row.len(), Some(RowEnd::Line)), "{row:?} {each}");
            }
        }
    }
}
