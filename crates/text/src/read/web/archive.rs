//! The header lines of web archives: where a WARC or ARC record can begin, and its fields.

use std::net::IpAddr;

use crate::read::ground::bytes::{first_line, text_of, trim_line, unbracket};
use lookalike_base::words;

/// Iterates over `name: value` lines and their continuation lines, up to the empty line that ends
/// them.
///
/// Line ends are CRLF or a bare LF. [`Fields::body`] is the end of the empty line, once all fields
/// have been read.
#[derive(Default)]
pub(crate) struct Fields<'a> {
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
            ..Fields::default()
        }
    }

    /// The fields of a header after its first line (`WARC/1.0`, `HTTP/1.1 200 OK`).
    pub(crate) fn after_line(bytes: &'a [u8]) -> Self {
        let at = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        Fields {
            at,
            ..Fields::new(bytes)
        }
    }

    /// The offset at which the block begins.
    pub fn body(&mut self) -> usize {
        while self.next().is_some() {}
        self.at
    }

    /// The value of the first field of this name.
    pub fn first(mut self, wanted: &str) -> Option<String> {
        let found = self.find(|(name, _)| name.eq_ignore_ascii_case(wanted.as_bytes()));
        found.map(|(_, value)| text_of(value).into_owned())
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
            // Continuation lines begin with white space, and may have nothing else.
            while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
                let start = self.at;
                end = start + self.line().len();
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

/// The value of a field of a header after its first line.
pub(crate) fn field_after_line(header: &[u8], wanted: &str) -> Option<String> {
    Fields::after_line(header).first(wanted)
}

/// Whether this is the first line of a WARC header, `WARC/1.0`.
pub(crate) fn is_warc_line(bytes: &[u8]) -> bool {
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
/// type, an id or a date, and if it is `measured`, a length.
pub(crate) fn is_warc_header(bytes: &[u8], measured: bool) -> bool {
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
pub(crate) struct ArcLine<'a> {
    /// The URL; it may contain spaces.
    pub url: &'a [u8],
    /// Time of capture, usually 14 digits.
    pub date: &'a [u8],
    /// Content type.
    pub mime: &'a [u8],
    /// Length of the block in bytes, if the field is a number.
    pub length: Option<u64>,
    /// Whether the line certainly begins a record, and is not a line of a page.
    certain: bool,
}

impl<'a> ArcLine<'a> {
    /// ARC 1 has the fields URL, IP, date, type and length; ARC 2 has five more before the length.
    ///
    /// URLs and types can contain spaces, and writers leave out the address, or write `-` or the
    /// name of the host. So parsing starts at the date, from the right: at 8 to 20 digits after an
    /// IP address, or else at 14 digits.
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
        let line = line.trim_ascii_end();
        let mut fields: Vec<&[u8]> = line.rsplit(|&byte| byte == b' ').take(16).collect();
        fields.reverse();
        let is_ip = |field: &[u8]| {
            std::str::from_utf8(field).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
        };
        let digits = |field: &[u8]| match field.iter().all(u8::is_ascii_digit) {
            true => field.len(),
            false => 0,
        };
        let dates = 1..fields.len().saturating_sub(1);
        let after_address =
            |&at: &usize| (8..=20).contains(&digits(fields[at])) && is_ip(fields[at - 1]);
        let addressed = dates.clone().rev().find(after_address);
        let at = addressed.or_else(|| dates.rev().find(|&at| digits(fields[at]) == 14))?;
        let before = fields[at - 1];
        let stands_for_address = addressed.is_some()
            || matches!(before, b"" | b"-")
            || at > 1
                && before.contains(&b'.')
                && !before.iter().any(|byte| b"/:?&=".contains(byte));
        let from = if stands_for_address { at - 1 } else { at };
        let length: usize = fields[from..].iter().map(|field| field.len() + 1).sum();
        let url = line[..(line.len() + 1).saturating_sub(length)].trim_ascii();
        if url.is_empty() {
            return None;
        }
        let length = fields.last().and_then(|field| number(field));
        let mime = fields[at + 1];
        let is_type = mime.is_empty() || mime.contains(&b'/') || matches!(mime, b"-" | b"no-type");
        let years = fields[at].starts_with(b"19") || fields[at].starts_with(b"20");
        Some(ArcLine {
            url,
            date: fields[at],
            mime,
            length,
            certain: addressed.is_some() || years && is_type && length.is_some(),
        })
    }
}

/// Whether these bytes certainly begin with the line of an ARC record. Its length may be wrong.
pub(crate) fn is_arc_line(bytes: &[u8]) -> bool {
    arc_line(bytes).is_some_and(|line| line.certain)
}

/// The line of an ARC record with which these bytes may begin.
pub(crate) fn arc_line(bytes: &[u8]) -> Option<ArcLine<'_>> {
    // The first bytes suffice to reject most lines.
    let begins = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && memchr::memchr(b':', &bytes[..bytes.len().min(17)]).is_some();
    begins
        .then(|| ArcLine::parse(first_line(&bytes[..bytes.len().min(ARC_LINE)])))
        .flatten()
}

/// Maximum length of an ARC record's line: URLs have up to several thousand bytes.
pub(crate) const ARC_LINE: usize = 16 << 10;

/// The fields of a WARC header that matter here. The first value that is not empty counts. Old
/// versions of wget put URLs in angle brackets, which are removed.
#[derive(Default)]
pub struct WarcHead<'a> {
    /// `WARC-Type`.
    pub kind: Option<&'a [u8]>,
    pub(crate) trec_id: Option<&'a [u8]>,
    /// `WARC-Record-ID`, as the record has it.
    pub(crate) record_id: Option<&'a [u8]>,
    /// `WARC-Target-URI`.
    pub target: Option<&'a [u8]>,
    /// `WARC-Date`.
    pub date: Option<&'a [u8]>,
    /// `WARC-Payload-Digest`.
    pub payload_digest: Option<&'a [u8]>,
    /// `WARC-Refers-To` without its brackets, and the URL and the date of what it refers to.
    pub to_id: Option<&'a [u8]>,
    pub to_target: Option<&'a [u8]>,
    pub to_date: Option<&'a [u8]>,
    pub(crate) content_type: Option<&'a [u8]>,
    /// The number of the record's segment, from 1, and the id of the first segment (ISO 28500,
    /// section 7).
    pub(crate) segment: Option<&'a [u8]>,
    pub(crate) segment_origin: Option<&'a [u8]>,
    /// Whether this is the last segment, which states the length of all.
    pub(crate) last: bool,
    /// `WARC-Truncated`: why the crawler cut the block.
    pub(crate) truncated: Option<&'a [u8]>,
    /// The length of the block.
    pub(crate) length: Option<u64>,
    /// A line without a colon that was skipped.
    pub(crate) odd: Option<&'a [u8]>,
    /// Where the block begins.
    pub(crate) block: usize,
}

impl<'a> WarcHead<'a> {
    pub fn parse(bytes: &'a [u8]) -> Self {
        const NAMES: [&str; 13] = words(
            "WARC-Type WARC-TREC-ID WARC-Record-ID WARC-Target-URI WARC-Date Content-Type \
             WARC-Payload-Digest WARC-Segment-Number WARC-Segment-Origin-ID WARC-Refers-To \
             WARC-Refers-To-Target-URI WARC-Refers-To-Date WARC-Truncated",
        );
        let mut values = [None; NAMES.len()];
        let mut head = WarcHead::default();
        let mut fields = Fields::after_line(bytes);
        for (name, value) in &mut fields {
            let is = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
            if let Some(at) = NAMES.iter().position(is) {
                let value = match NAMES[at] {
                    "WARC-Target-URI" | "WARC-Refers-To" | "WARC-Refers-To-Target-URI" => {
                        unbracket(value)
                    }
                    _ => value,
                };
                values[at] = values[at].or(Some(value).filter(|value| !value.is_empty()));
            } else if is(&"Content-Length") {
                head.length = head.length.or_else(|| number(value));
            }
            head.last |= is(&"WARC-Segment-Total-Length");
        }
        head.odd = fields.odd;
        head.block = fields.body();
        [
            head.kind,
            head.trec_id,
            head.record_id,
            head.target,
            head.date,
            head.content_type,
            head.payload_digest,
            head.segment,
            head.segment_origin,
            head.to_id,
            head.to_target,
            head.to_date,
            head.truncated,
        ] = values;
        head
    }

    /// The head of a record of an ARC file, which is a capture.
    pub fn of_arc(bytes: &'a [u8]) -> Self {
        let line = ArcLine::parse(first_line(bytes));
        let head = |line: ArcLine<'a>| WarcHead {
            kind: Some(b"response"),
            target: Some(line.url),
            date: Some(line.date),
            block: memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1),
            ..WarcHead::default()
        };
        line.map(head).unwrap_or_default()
    }

    /// `WARC-Record-ID` without its brackets.
    pub fn id(&self) -> Option<&'a [u8]> {
        self.record_id.map(unbracket).filter(|id| !id.is_empty())
    }

    /// Whether the record has this type.
    pub fn is(&self, kind: &[u8]) -> bool {
        self.kind.is_some_and(|own| own.eq_ignore_ascii_case(kind))
    }

    /// Whether this is segment `segment` of the record `first`.
    pub(crate) fn continues(&self, first: &[u8], segment: u64) -> bool {
        self.is(b"continuation")
            && self.segment.and_then(number) == Some(segment)
            && self.segment_origin == Some(first)
    }
}

/// A number in digits.
pub(crate) fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
