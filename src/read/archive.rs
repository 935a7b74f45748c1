//! The header lines of web archives: where a WARC or ARC record can begin, and its fields.

use std::net::IpAddr;

/// Iterates over `name: value` lines and their continuation lines, up to the empty line that ends
/// them.
///
/// Line ends are CRLF or a bare LF. [`Fields::body`] is the end of the empty line, once all fields
/// have been read.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    ended: bool,
    /// Whether to end at the first line without a colon.
    strict: bool,
    /// A line without a colon that was skipped.
    pub odd: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// The fields of a header without a first line.
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields {
            bytes,
            at: 0,
            ended: false,
            strict: false,
            odd: None,
        }
    }

    /// The fields of a header after its first line (`WARC/1.0`, `HTTP/1.1 200 OK`).
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

    /// The offset at which the block begins.
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

/// A value as text, with bytes that are not UTF-8 replaced and folded lines joined.
pub(super) fn text_of(value: &[u8]) -> std::borrow::Cow<'_, str> {
    let text = String::from_utf8_lossy(value);
    if text.contains(['\r', '\n']) {
        // Build one string directly: for a million folded lines, a list of their words would take
        // many times their size.
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

/// Whether this is the first line of a WARC header, `WARC/1.0`.
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

/// Whether this is a WARC header and not just a line that looks like its first. A header has a
/// type, an id or a date, and it has a length.
pub(super) fn is_warc_header(bytes: &[u8]) -> bool {
    is_warc_header_of(bytes, true)
}

/// Like [`is_warc_header`], but the length may be missing unless `measured` is set.
pub(super) fn is_warc_header_of(bytes: &[u8], measured: bool) -> bool {
    if !is_warc_line(bytes) {
        return false;
    }
    let (mut named, mut length) = (false, !measured);
    // A line without a colon, even the next record's first line, means that this is not a header.
    // Stopping there avoids rereading a file that consists only of first lines.
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
    /// The URL; it may contain spaces.
    pub url: &'a [u8],
    /// Time of capture, usually 14 digits.
    pub date: &'a [u8],
    /// Content type.
    pub mime: &'a [u8],
    /// Length of the block in bytes, if the field is a number.
    pub length: Option<u64>,
}

impl<'a> ArcLine<'a> {
    /// ARC 1 has the fields URL, IP, date, type and length; ARC 2 has five more before the length.
    /// A URL that contains spaces looks like several fields, so parsing starts at an IP address
    /// that is followed by a date.
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
        // Search from the right: the address is one of the last fields.
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

/// Whether these bytes begin with the line of an ARC record. Its length may be wrong.
pub(super) fn is_arc_line(bytes: &[u8]) -> bool {
    // The first bytes suffice to reject most lines.
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && memchr::memchr(b':', &bytes[..bytes.len().min(17)]).is_some()
        && ArcLine::parse(first_line(&bytes[..bytes.len().min(ARC_LINE)])).is_some()
}

/// Maximum length of an ARC record's line: URLs have up to several thousand bytes.
pub(super) const ARC_LINE: usize = 16 << 10;
