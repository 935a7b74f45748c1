//! Turns a mail message into a document: its subject and the text of its body.
//!
//! # Source
//! RFC 5322 (messages), 2045 and 2046 (MIME), 2047 (encoded words), 4155 (mbox). Kolcz & Chowdhury
//! (2008, section 6) also use only subject and body: the other fields differ between copies of one
//! mail.
//!
//! # What is the text
//! The text is the subject, then all parts of type text/plain that are not attachments. If there
//! are no such parts or they are blank, the parts of type text/html follow instead, as markup. A
//! part without a type is text/plain. Multiparts and nested messages are walked. All other parts,
//! and parts whose disposition is `attachment`, are left out.
//!
//! A header ends at an empty line, or before the first line that is not a field: some collections
//! omit the empty line.
//!
//! # Charsets
//! If the subject and all parts that are not ASCII declare the same charset, or none of them
//! declares any, they are passed on undecoded, and the parser decodes them like any other document.
//! Otherwise each is decoded here: from the charset that it declares, else as UTF-8 if it is valid
//! UTF-8, else as windows-1252.
//!
//! # Invariants
//! - Any bytes are a message. Broken input only causes a notice, and input that cannot be decoded
//!   is used as it is.
//! - Depth, number of parts and length of names are bounded. Apart from the record, only its
//!   decoded text is in memory.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{DecoderResult, Encoding, UTF_8, WINDOWS_1252};
use memchr::memmem;

use super::archive::{Fields, first_line, trim_line};
use super::config::ReadConfig;
use super::frame_mbox::begins_field;
use super::interpret::{Outcome, Parts, Refusal};
use super::record::{ContentKind, Reason};
use super::stream::reserve;
use crate::utf8::Utf8Check;

/// Maximum nesting of parts: mail programs make three or four levels, and forwarding adds some.
const MOST_DEPTH: usize = 16;
/// Maximum number of parts of one message that are examined.
const MOST_PARTS: usize = 1000;
/// Maximum number of bytes of a field that are examined.
const MOST_VALUE: usize = 64 << 10;
/// Maximum length of a Message-ID; a longer one is ignored.
const MOST_ID: usize = 998;
/// Bytes decoded at a time.
const PIECE: usize = 4 << 10;

/// The transfer encoding of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transfer {
    AsIs,
    Base64,
    Quoted,
}

/// The relevant fields of the header of a message or a part.
struct Header<'a> {
    mime: String,
    boundary: Option<Vec<u8>>,
    charset: Option<String>,
    transfer: Transfer,
    attachment: bool,
    subject: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    body: usize,
}

impl<'a> Header<'a> {
    /// `default` is the type of a part that declares none.
    fn parse(bytes: &'a [u8], default: &str, notices: &mut Notices) -> Self {
        let (end, body) = header_end(bytes);
        let mut fields = Fields::new(&bytes[..end]);
        let mut header = Header {
            mime: default.into(),
            boundary: None,
            charset: None,
            transfer: Transfer::AsIs,
            attachment: false,
            subject: None,
            id: None,
            body,
        };
        let (mut typed, mut encoded) = (false, false);
        for (name, value) in &mut fields {
            let value = &value[..value.len().min(MOST_VALUE)];
            // Of a repeated field, the first counts.
            match name.to_ascii_lowercase().as_slice() {
                b"content-type" if !typed => {
                    typed = true;
                    let (kind, parameters) = split_parameters(value);
                    if kind.contains('/') {
                        header.mime = kind;
                    }
                    for (name, value) in parameters {
                        match name.as_str() {
                            "boundary" if header.boundary.is_none() => {
                                header.boundary = Some(value)
                            }
                            "charset" if header.charset.is_none() => {
                                header.charset = Some(String::from_utf8_lossy(&value).into_owned());
                            }
                            _ => {}
                        }
                    }
                }
                b"content-transfer-encoding" if !encoded => {
                    encoded = true;
                    let coding = String::from_utf8_lossy(value).trim().to_ascii_lowercase();
                    header.transfer = match coding.as_str() {
                        "base64" => Transfer::Base64,
                        "quoted-printable" => Transfer::Quoted,
                        "" | "7bit" | "8bit" | "binary" => Transfer::AsIs,
                        _ => {
                            let shown: String = coding.chars().take(40).collect();
                            notices.add(Reason::BadContentEncoding, || {
                                format!("{shown:?} is not known")
                            });
                            Transfer::AsIs
                        }
                    };
                }
                b"content-disposition" => {
                    header.attachment |= split_parameters(value).0 == "attachment";
                }
                b"subject" if header.subject.is_none() => header.subject = Some(value),
                b"message-id" if header.id.is_none() => header.id = Some(value),
                _ => {}
            }
        }
        if end == body && end < bytes.len() {
            notices.add(Reason::OddHeader, || {
                let line = &bytes[end..bytes.len().min(end + 200)];
                let line = String::from_utf8_lossy(first_line(line)).into_owned();
                format!("the text begins without an empty line: {line}")
            });
        }
        header
    }
}

/// Where the fields end, and where the text begins: after an empty line, or at the first line that
/// neither is a field nor continues one.
fn header_end(bytes: &[u8]) -> (usize, usize) {
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        if trim_line(&rest[..length]).is_empty() {
            return (at, at + length);
        }
        let continues = at > 0 && matches!(rest[0], b' ' | b'\t');
        if !continues && !begins_field(rest) {
            return (at, at);
        }
        at += length;
    }
    (at, at)
}

/// Splits `text/plain; charset="utf-8"` into its value in lower case and its unquoted parameters.
fn split_parameters(value: &[u8]) -> (String, Vec<(String, Vec<u8>)>) {
    let mut pieces = Vec::new();
    let (mut piece, mut quoted, mut escaped) = (Vec::new(), false, false);
    for &byte in value {
        match byte {
            _ if escaped => {
                piece.push(byte);
                escaped = false;
            }
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b';' if !quoted => pieces.push(std::mem::take(&mut piece)),
            b'\r' | b'\n' => {}
            _ => piece.push(byte),
        }
    }
    pieces.push(piece);
    let lower = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).to_ascii_lowercase();
    let mut pieces = pieces.into_iter();
    let kind = lower(&pieces.next().unwrap_or_default());
    let parameters = pieces.filter_map(|piece| {
        let at = memchr::memchr(b'=', &piece)?;
        Some((lower(&piece[..at]), piece[at + 1..].trim_ascii().to_vec()))
    });
    (kind, parameters.take(100).collect())
}

/// Problems found in a message, one of each kind.
#[derive(Default)]
struct Notices(Vec<(Reason, String)>);

impl Notices {
    fn add(&mut self, reason: Reason, detail: impl FnOnce() -> String) {
        if self.0.iter().all(|(other, _)| *other != reason) {
            self.0.push((reason, detail()));
        }
    }
}

/// A part that contains text.
struct TextPart {
    bytes: Range<usize>,
    markup: bool,
    transfer: Transfer,
    charset: Option<String>,
}

/// The walk over the parts of a message.
struct Walk<'a> {
    message: &'a [u8],
    parts: usize,
    texts: Vec<TextPart>,
    notices: Notices,
}

impl Walk<'_> {
    /// Handles a message or a part that begins at `range.start` and whose header has been parsed.
    fn entity(&mut self, header: &Header<'_>, range: Range<usize>, depth: usize) {
        self.parts += 1;
        if self.parts > MOST_PARTS || depth > MOST_DEPTH {
            let limit = if depth > MOST_DEPTH {
                format!("parts more than {MOST_DEPTH} deep are left out")
            } else {
                format!("parts after the first {MOST_PARTS} are left out")
            };
            self.notices.add(Reason::OddHeader, || limit);
            return;
        }
        if header.attachment && depth > 0 {
            return;
        }
        let body = (range.start + header.body).min(range.end)..range.end;
        let mime = header.mime.as_str();
        if mime.starts_with("multipart/") {
            let parts = header
                .boundary
                .as_ref()
                .map(|boundary| self.split(&body, boundary));
            match parts {
                Some(parts) if !parts.is_empty() => {
                    let default = if mime == "multipart/digest" {
                        "message/rfc822"
                    } else {
                        "text/plain"
                    };
                    for part in parts {
                        self.part(part, default, depth + 1);
                    }
                    return;
                }
                _ => {
                    let detail = format!("{mime} without its boundary is read as text");
                    self.notices.add(Reason::OddHeader, || detail);
                }
            }
        } else if mime == "message/rfc822" {
            if header.transfer == Transfer::AsIs {
                self.part(body, "text/plain", depth + 1);
            }
            return;
        } else if mime != "text/plain" && mime != "text/html" {
            return;
        }
        self.texts.push(TextPart {
            bytes: body,
            markup: mime == "text/html",
            transfer: header.transfer,
            charset: header.charset.clone(),
        });
    }

    fn part(&mut self, range: Range<usize>, default: &str, depth: usize) {
        let message = self.message;
        let header = Header::parse(&message[range.clone()], default, &mut self.notices);
        self.entity(&header, range, depth);
    }

    /// The parts between lines of `--boundary`; the last one extends to `--boundary--` or to the
    /// end.
    fn split(&mut self, body: &Range<usize>, boundary: &[u8]) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        if boundary.is_empty() {
            return parts;
        }
        let mut mark = b"--".to_vec();
        mark.extend_from_slice(boundary);
        let bytes = &self.message[body.clone()];
        let mut open: Option<usize> = None;
        for at in memmem::find_iter(bytes, &mark) {
            if at > 0 && bytes[at - 1] != b'\n' {
                continue;
            }
            let rest = &bytes[at + mark.len()..];
            let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = trim_line(&rest[..length]).trim_ascii_end();
            let last = line.starts_with(b"--");
            if !last && !line.is_empty() {
                continue;
            }
            if let Some(start) = open.take() {
                // The line end before a boundary belongs to the boundary.
                let end = start + trim_line(&bytes[start.min(at)..at]).len();
                parts.push(body.start + start..body.start + end);
            }
            if last || parts.len() > MOST_PARTS {
                return parts;
            }
            open = Some(at + mark.len() + length);
        }
        if let Some(start) = open {
            parts.push(body.start + start..body.end);
        }
        parts
    }
}

/// Undoes the transfer encoding of a part and passes the bytes on. Returns whether the encoding is
/// broken.
fn decode(bytes: &[u8], transfer: Transfer, mbox: bool, out: &mut dyn FnMut(&[u8])) -> bool {
    let mut broken = false;
    let mut base64 = Base64::default();
    let mut plain = false;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = if mbox { unescape(line) } else { line };
        match transfer {
            Transfer::AsIs => out(line),
            Transfer::Quoted => broken |= quoted(line, out),
            Transfer::Base64 => {
                // Mailing lists append plain text below the encoded text.
                let encoded = !plain && line.trim_ascii().iter().all(|&byte| is_base64(byte));
                if encoded {
                    base64.push(line, out);
                } else {
                    if !plain {
                        out(b"\n");
                    }
                    plain = true;
                    broken = true;
                    out(line);
                }
            }
        }
    }
    broken | base64.cut()
}

/// Restores a line of an mbox file, where one `>` was added before `From ` or `>From ` (mboxrd).
fn unescape(line: &[u8]) -> &[u8] {
    let marks = line.iter().take_while(|&&byte| byte == b'>').count();
    if marks > 0 && line[marks..].starts_with(b"From ") {
        &line[1..]
    } else {
        line
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// An incremental Base64 decoder.
#[derive(Default)]
struct Base64 {
    bits: u32,
    count: u32,
}

impl Base64 {
    fn push(&mut self, text: &[u8], out: &mut dyn FnMut(&[u8])) {
        let mut piece = [0; PIECE];
        let mut length = 0;
        for &byte in text {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                b'=' => {
                    // Padding; another Base64 stretch may follow.
                    (self.bits, self.count) = (0, 0);
                    continue;
                }
                _ => continue,
            };
            self.bits = self.bits << 6 | u32::from(value);
            self.count += 6;
            if self.count >= 8 {
                self.count -= 8;
                piece[length] = (self.bits >> self.count) as u8;
                self.bits &= (1 << self.count) - 1;
                length += 1;
                if length == PIECE {
                    out(&piece);
                    length = 0;
                }
            }
        }
        out(&piece[..length]);
    }

    /// Whether the input ended within a byte.
    fn cut(&self) -> bool {
        self.count == 6 || self.bits != 0
    }
}

/// Undoes quoted-printable in a line. Returns whether an `=` had no meaning and was kept.
fn quoted(line: &[u8], out: &mut dyn FnMut(&[u8])) -> bool {
    let text = trim_line(line);
    // White space at the end of a line was added in transit.
    let text = text.trim_ascii_end();
    let soft = text.ends_with(b"=");
    let text = if soft { &text[..text.len() - 1] } else { text };
    let mut broken = false;
    let mut from = 0;
    let hex = |byte: Option<&u8>| (*byte? as char).to_digit(16);
    for at in memchr::memchr_iter(b'=', text) {
        if at < from {
            continue;
        }
        match (hex(text.get(at + 1)), hex(text.get(at + 2))) {
            (Some(high), Some(low)) => {
                out(&text[from..at]);
                out(&[(high << 4 | low) as u8]);
                from = at + 3;
            }
            _ => broken = true,
        }
    }
    out(&text[from..]);
    if !soft && line.ends_with(b"\n") {
        out(b"\n");
    }
    broken
}

/// Decodes the encoded words of a subject and unfolds it. `None` if it has no encoded words.
fn encoded_words(value: &[u8]) -> Option<String> {
    memmem::find(value, b"=?")?;
    let mut out = String::new();
    let mut from = 0;
    let mut any = false;
    while let Some(at) = memmem::find(&value[from..], b"=?").map(|at| from + at) {
        let Some((text, end)) = encoded_word(&value[at..]) else {
            out.push_str(&String::from_utf8_lossy(&value[from..at + 2]));
            from = at + 2;
            continue;
        };
        // White space between two encoded words is dropped.
        let between = &value[from..at];
        if !(any && between.trim_ascii().is_empty()) {
            out.push_str(&String::from_utf8_lossy(between));
        }
        out.push_str(&text);
        any = true;
        from = at + end;
    }
    out.push_str(&String::from_utf8_lossy(&value[from..]));
    any.then_some(out)
}

/// Decodes `=?charset?B?...?=` or `=?charset?Q?...?=`; returns the text and the length of the word.
fn encoded_word(bytes: &[u8]) -> Option<(String, usize)> {
    let mut parts = bytes.get(2..)?.splitn(4, |&byte| byte == b'?');
    let (charset, coding, text) = (parts.next()?, parts.next()?, parts.next()?);
    if !parts.next()?.starts_with(b"=") || text.contains(&b'\n') {
        return None;
    }
    // A language may follow the charset (RFC 2231).
    let label = charset.split(|&byte| byte == b'*').next()?;
    let encoding = Encoding::for_label_no_replacement(label)?;
    let mut decoded = Vec::new();
    let mut add = |bytes: &[u8]| decoded.extend_from_slice(bytes);
    match coding {
        b"B" | b"b" => Base64::default().push(text, &mut add),
        b"Q" | b"q" => {
            let spaced: Vec<u8> = text
                .iter()
                .map(|&b| if b == b'_' { b' ' } else { b })
                .collect();
            // A final `=` is not a soft line break here, but no known writer produces one.
            quoted(&spaced, &mut add);
            if spaced.ends_with(b" ") {
                add(b" ");
            }
        }
        _ => return None,
    }
    let (text, _) = encoding.decode_without_bom_handling(&decoded);
    Some((
        text.into_owned(),
        2 + charset.len() + 1 + coding.len() + 1 + text_length(bytes, charset, coding)? + 2,
    ))
}

/// The length of the third field of an encoded word.
fn text_length(bytes: &[u8], charset: &[u8], coding: &[u8]) -> Option<usize> {
    memchr::memchr(b'?', bytes.get(2 + charset.len() + 1 + coding.len() + 1..)?)
}

/// The Message-ID, if it looks like a unique one.
fn own_name(id: &[u8]) -> Option<Cow<'_, str>> {
    let id = id.trim_ascii();
    let id = id.strip_prefix(b"<").unwrap_or(id);
    let id = id.strip_suffix(b">").unwrap_or(id);
    let unique = id.len() > 3 && id.len() <= MOST_ID && id.iter().all(u8::is_ascii_graphic);
    let (name, host) = id.split_at(memchr::memchr(b'@', id)?);
    (unique && !name.is_empty() && host.len() > 1).then(|| String::from_utf8_lossy(id))
}

/// The docno in the first bytes of a message, or else `otherwise`, which its position gives.
pub(super) fn docno_of(bytes: &[u8], otherwise: &str) -> String {
    let header = Header::parse(message_of(bytes), "text/plain", &mut Notices::default());
    header
        .id
        .and_then(own_name)
        .map_or_else(|| otherwise.into(), Cow::into_owned)
}

/// Strips the mbox separator, and the second separator line that some programs write.
fn message_of(bytes: &[u8]) -> &[u8] {
    let mut bytes = bytes;
    while bytes.starts_with(b"From ") || bytes.starts_with(b">From ") {
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        bytes = &bytes[end..];
    }
    bytes
}

/// Properties of a stretch of text, found before it is decoded.
#[derive(Default)]
struct Look {
    ascii: bool,
    blank: bool,
    utf8: Utf8Check,
}

fn look(bytes: &[u8], transfer: Transfer, mbox: bool) -> (Look, bool) {
    let mut look = Look {
        ascii: true,
        blank: true,
        utf8: Utf8Check::default(),
    };
    let broken = decode(bytes, transfer, mbox, &mut |piece| {
        look.ascii &= piece.is_ascii();
        look.blank &= piece.trim_ascii().is_empty();
        look.utf8.push(piece);
    });
    (look, broken)
}

/// The text under construction: a bounded number of bytes is stored, and all are counted.
struct Text {
    bytes: Vec<u8>,
    length: u64,
    most: u64,
}

impl Text {
    fn push(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        if self.length <= self.most {
            reserve(&mut self.bytes, piece.len());
            self.bytes.extend_from_slice(piece);
        }
    }
}

/// Interprets a message, which begins with a separator if it is from an mbox file.
pub(super) fn document<'a>(
    bytes: &'a [u8],
    docno: &str,
    mbox: bool,
    config: &ReadConfig,
) -> Outcome<'a> {
    let message = if mbox { message_of(bytes) } else { bytes };
    let mut walk = Walk {
        message,
        parts: 0,
        texts: Vec::new(),
        notices: Notices::default(),
    };
    let header = Header::parse(message, "text/plain", &mut walk.notices);
    let docno: Cow<'a, str> = match header.id.and_then(own_name) {
        Some(id) => id,
        None => docno.to_string().into(),
    };
    walk.entity(&header, 0..message.len(), 0);
    let Walk {
        texts, mut notices, ..
    } = walk;

    // Plain text, or else markup.
    let mut looks: Vec<(TextPart, Look)> = Vec::new();
    for markup in [false, true] {
        if looks.iter().any(|(_, look)| !look.blank) {
            break;
        }
        looks.clear();
        for part in texts.iter().filter(|part| part.markup == markup) {
            let (look, broken) = look(&message[part.bytes.clone()], part.transfer, mbox);
            if broken {
                let coding = match part.transfer {
                    Transfer::Base64 => "base64",
                    _ => "quoted-printable",
                };
                notices.add(Reason::BadContentEncoding, || {
                    format!("invalid {coding}: the bytes that could not be decoded are kept")
                });
            }
            let part = TextPart {
                bytes: part.bytes.clone(),
                charset: part.charset.clone(),
                ..*part
            };
            looks.push((part, look));
        }
    }
    let markup = looks.iter().any(|(part, _)| part.markup);

    let decoded = header.subject.and_then(encoded_words);
    let subject: Cow<'_, [u8]> = match (&decoded, header.subject) {
        (Some(decoded), _) => decoded.as_bytes().into(),
        (None, Some(raw)) => raw.into(),
        (None, None) => Cow::Borrowed(b""),
    };
    let label = |charset: &Option<String>| {
        charset
            .as_deref()
            .map(|label| label.trim().to_ascii_lowercase())
    };
    // The charsets of all parts that are not ASCII.
    let mut labels: Vec<Option<String>> = Vec::new();
    if !subject.is_ascii() {
        labels.push(decoded.is_some().then(|| "utf-8".into()));
    }
    let wide = |label: &Option<String>| {
        let encoding = label
            .as_ref()
            .and_then(|label| Encoding::for_label(label.as_bytes()));
        encoding.is_some_and(|encoding| !encoding.is_ascii_compatible())
    };
    for (part, look) in &looks {
        let label = label(&part.charset);
        if !look.ascii || wide(&label) {
            labels.push(label);
        }
    }
    labels.dedup();
    let one = labels.len() <= 1 && !labels.iter().any(wide);

    let mut text = Text {
        bytes: Vec::new(),
        length: 0,
        most: config.max_document.0,
    };
    let shown = escape(&subject, markup);
    if one {
        text.push(&shown);
    } else {
        let utf8 = decoded.is_some() || std::str::from_utf8(&subject).is_ok();
        let encoding = if utf8 { UTF_8 } else { WINDOWS_1252 };
        let _ = Decode::new(encoding).push(&shown, true, &mut text);
    }
    text.push(b"\n");
    for (part, look) in &looks {
        let bytes = &message[part.bytes.clone()];
        if one {
            decode(bytes, part.transfer, mbox, &mut |piece| text.push(piece));
        } else {
            let label = label(&part.charset);
            let known = label
                .as_ref()
                .and_then(|l| Encoding::for_label_no_replacement(l.as_bytes()));
            if let (Some(label), None) = (&label, known) {
                let label: String = label.chars().take(40).collect();
                notices.add(Reason::WrongCharset, || {
                    format!("label {label:?} of a part is not known")
                });
            }
            let utf8 = look.utf8.is_valid();
            let encoding = known.unwrap_or(if utf8 { UTF_8 } else { WINDOWS_1252 });
            let mut decoder = Decode::new(encoding);
            let mut bad = false;
            decode(bytes, part.transfer, mbox, &mut |piece| {
                bad |= decoder.push(piece, false, &mut text)
            });
            bad |= decoder.push(b"", true, &mut text);
            if bad {
                notices.add(Reason::InvalidBytes, || {
                    format!("a part is not in {}", encoding.name())
                });
            }
        }
        text.push(b"\n");
    }
    if text.length > text.most {
        return Outcome::Refused {
            docno: Some(docno),
            refusal: Refusal::new(
                Reason::TooLarge,
                format!(
                    "a text of {} bytes, at most {} are read",
                    text.length, text.most
                ),
            ),
        };
    }
    let charset = if one {
        labels.pop().flatten()
    } else {
        Some("utf-8".into())
    };
    Outcome::Document(Parts {
        docno,
        url: None,
        title: header.subject.map(|raw| match decoded {
            Some(text) => text.into(),
            None => Cow::Owned(String::from_utf8_lossy(raw).into_owned()),
        }),
        content: if markup {
            ContentKind::Markup
        } else {
            ContentKind::Text
        },
        charset: charset.map(Cow::Owned),
        body: text.bytes.into(),
        notices: notices.0,
    })
}

/// Escapes a subject that is put before markup.
fn escape(subject: &[u8], markup: bool) -> Cow<'_, [u8]> {
    if !markup || memchr::memchr2(b'<', b'&', subject).is_none() {
        return subject.into();
    }
    let mut out = Vec::with_capacity(subject.len() + 16);
    for &byte in subject {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            _ => out.push(byte),
        }
    }
    out.into()
}

/// Decodes a charset to UTF-8, piece by piece.
struct Decode(encoding_rs::Decoder);

impl Decode {
    fn new(encoding: &'static Encoding) -> Self {
        Decode(encoding.new_decoder_with_bom_removal())
    }

    /// Returns whether there were bytes that are invalid in the charset; they become U+FFFD.
    fn push(&mut self, mut bytes: &[u8], last: bool, into: &mut Text) -> bool {
        let mut bad = false;
        let mut piece = [0; PIECE];
        loop {
            let (result, read, written) = self
                .0
                .decode_to_utf8_without_replacement(bytes, &mut piece, last);
            into.push(&piece[..written]);
            bytes = &bytes[read..];
            match result {
                DecoderResult::InputEmpty => return bad,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    bad = true;
                    into.push("\u{fffd}".as_bytes());
                }
            }
        }
    }
}
