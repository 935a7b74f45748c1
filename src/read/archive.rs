//! The header lines of web archives: where a WARC or ARC record can begin, and what it says.

use std::net::IpAddr;

/// `name: value` lines with their continuation lines, up to the empty line that ends them.
///
/// Line ends are CRLF or a bare LF. [`Fields::body`] is where the empty line ends, once the fields
/// have been walked.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    ended: bool,
    /// End at the first line without a colon.
    strict: bool,
    /// Lines without a colon, which were passed over.
    pub odd: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// Of a header without a first line.
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields {
            bytes,
            at: 0,
            ended: false,
            strict: false,
            odd: None,
        }
    }

    /// Of a header that begins after its first line (`WARC/1.0`, `HTTP/1.1 200 OK`).
    pub fn after_line(bytes: &'a [u8]) -> Self {
        let at = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        Fields {
            bytes,
            at,
            ended: false,
            strict: false,
            odd: None,
        }
    }

    /// Where the block begins.
    pub fn body(&mut self) -> usize {
        while self.next().is_some() {}
        self.at
    }

    fn line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        self.at += length;
        trim_line(&rest[..length])
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            if self.at >= self.bytes.len() {
                self.ended = true;
                break;
            }
            let start = self.at;
            let line = self.line();
            if line.is_empty() {
                self.ended = true;
                break;
            }
            let mut end = start + line.len();
            // Continuation lines begin with white space and are not empty.
            while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
                let start = self.at;
                let more = self.line();
                if more.trim_ascii().is_empty() {
                    self.at = start;
                    break;
                }
                end = start + more.len();
            }
            match memchr::memchr(b':', line) {
                Some(colon) => {
                    let value = &self.bytes[start + colon + 1..end];
                    return Some((line[..colon].trim_ascii(), value.trim_ascii()));
                }
                None => {
                    self.odd = self.odd.or(Some(line));
                    if self.strict {
                        self.ended = true;
                    }
                }
            }
        }
        None
    }
}

/// A line without its line end.
pub(super) fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The first line of these bytes, without its line end.
pub(super) fn first_line(bytes: &[u8]) -> &[u8] {
    trim_line(&bytes[..memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)])
}

/// A value as text: bytes that are not UTF-8 replaced, folded lines joined.
pub(super) fn text_of(value: &[u8]) -> std::borrow::Cow<'_, str> {
    let text = String::from_utf8_lossy(value);
    if text.contains(['\r', '\n']) {
        // Straight into one string: of a million folded lines, a list of their words is many times
        // what they are.
        let mut folded = String::with_capacity(text.len());
        for word in text.split_ascii_whitespace() {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(word);
        }
        return folded.into();
    }
    text
}

/// Is this the first line of a WARC header, `WARC/1.0`?
pub(super) fn is_warc_line(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"WARC/") else {
        return false;
    };
    let line = first_line(&rest[..rest.len().min(16)]).trim_ascii_end();
    line.len() >= 3
        && line.len() <= 8
        && line[0].is_ascii_digit()
        && line.contains(&b'.')
        && line
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Is this a WARC header and not merely a line that looks like its first: with a type, an id or a
/// date, and a length?
pub(super) fn is_warc_header(bytes: &[u8]) -> bool {
    is_warc_header_of(bytes, true)
}

/// As [`is_warc_header`]; its length may be missing unless it is `measured`.
pub(super) fn is_warc_header_of(bytes: &[u8], measured: bool) -> bool {
    if !is_warc_line(bytes) {
        return false;
    }
    let (mut named, mut length) = (false, !measured);
    // A line without a colon, the next record's first line even: this is no header. Stopping there
    // keeps a file of nothing but first lines from being read over and over.
    let fields = Fields {
        strict: true,
        ..Fields::after_line(bytes)
    };
    for (name, _) in fields {
        named |=
            name.eq_ignore_ascii_case(b"WARC-Type") || name.eq_ignore_ascii_case(b"WARC-Record-ID");
        length |= name.eq_ignore_ascii_case(b"Content-Length");
        if named && length {
            return true;
        }
    }
    false
}

/// The line that begins an ARC record: `URL IP date ... length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArcLine<'a> {
    /// The URL; some have spaces in them.
    pub url: &'a [u8],
    /// Time of capture, 14 digits as a rule.
    pub date: &'a [u8],
    /// Content type.
    pub mime: &'a [u8],
    /// Bytes of the block, if that is a number.
    pub length: Option<u64>,
}

impl<'a> ArcLine<'a> {
    /// ARC 1 has the fields URL, IP, date, type, length; ARC 2 has five more before the length. A
    /// URL with spaces in it makes fields of its own, so the IP address followed by a date is what
    /// the line is read from.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let scheme = line.iter().position(|&byte| byte == b':')?;
        if scheme == 0
            || scheme > 16
            || !line[0].is_ascii_alphabetic()
            || !line[..scheme]
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
        {
            return None;
        }
        // From the right: the address is one of the last fields.
        let mut fields: Vec<&[u8]> = line.rsplit(|&byte| byte == b' ').take(16).collect();
        fields.reverse();
        for at in (0..fields.len().saturating_sub(3)).rev() {
            let (address, date) = (fields[at], fields[at + 1]);
            if !(8..=20).contains(&date.len())
                || !date.iter().all(u8::is_ascii_digit)
                || !std::str::from_utf8(address).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
            {
                continue;
            }
            let from_address: usize = fields[at..].iter().map(|field| field.len() + 1).sum();
            let url = line[..(line.len() + 1).saturating_sub(from_address)].trim_ascii();
            if url.is_empty() {
                return None;
            }
            let length = fields
                .last()
                .and_then(|field| std::str::from_utf8(field).ok());
            return Some(ArcLine {
                url,
                date,
                mime: fields[at + 2],
                length: length.and_then(|text| text.trim().parse().ok()),
            });
        }
        None
    }
}

/// Do these bytes begin with the line of an ARC record? Its length may be wrong.
pub(super) fn is_arc_line(bytes: &[u8]) -> bool {
    // Most lines are told by their first bytes.
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && memchr::memchr(b':', &bytes[..bytes.len().min(17)]).is_some()
        && ArcLine::parse(first_line(&bytes[..bytes.len().min(ARC_LINE)])).is_some()
}

/// The longest line of an ARC record that is looked for: URLs have up to some thousand bytes.
pub(super) const ARC_LINE: usize = 16 << 10;
