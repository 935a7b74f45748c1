//! Turns a mail message into a document: its subject and the text of its body.
//!
//! # Source
//! RFC 5322 (messages), 2045 and 2046 (MIME), 2047 (encoded words), 2231 (parameters), 2387
//! (multipart/related), 2557 (MHTML), 3676 (flowed text), 4155 (mbox). Kolcz & Chowdhury
//! (2008, section 6) also use only subject and body: the other fields differ between copies of one
//! mail.
//!
//! # What is the text
//! The text is the subject, then the parts of type text in their order, with the bytes that are in
//! no part. One part of a multipart/alternative is taken: the first of type text/plain that has
//! text, else the first of type text/html, else the first other one. But a text/html with over a
//! quarter more letters and digits than the text/plain is taken instead. A line names alternatives
//! that say something else. In a multipart/related, all parts but the root are resources, which are
//! not text, except text/html.
//!
//! Unknown subtypes of text are plain text (RFC 2046, section 4.1.4), and so is message/partial. A
//! part without a type is text/plain. Multiparts and nested messages, encoded or not, are walked. All
//! other parts, parts whose disposition is `attachment`, style sheets, scripts, and files inside a
//! text (uuencode, yEnc) are left out. A notice counts those whose bytes are text. If something was
//! left out and the parts that were read have no letter or digit, the message is not comparable, and
//! its text is empty.
//!
//! If one of the parts is markup, the text is markup, and the others are escaped.
//!
//! A page that a browser saved (MHTML) is a message whose subject is the title of the page, and no
//! part of its text.
//!
//! A file may have something around its message (`inside`): Apple Mail writes emlx files.
//!
//! A header ends at an empty line, or before the first line that is not a field: some collections
//! omit the empty line. Its first line end says whether the lines of a message or a part end with CR
//! alone. If they do, each such CR becomes LF, because programs join messages of several origins.
//!
//! # Charsets
//! If the subject and all parts that are not ASCII declare the same charset, or none of them
//! declares any, they are passed on undecoded, and the parser decodes them like any other document.
//! Otherwise each is decoded here: from the charset that it declares, else as UTF-8 if it is valid
//! UTF-8, else as windows-1252.
//!
//! # Invariants
//! - Any bytes are a message. Broken input only causes a notice, and input that cannot be decoded
//!   is used unchanged.
//! - Depth, number of parts and length of names are bounded. Apart from the record, only its
//!   decoded text is in memory.

pub(super) mod encoded;
pub(super) mod frame_mbox;
pub(super) mod text;

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, WINDOWS_1252};
use memchr::memmem;

use self::encoded::{Files, is_base64};
use self::frame_mbox::separator_in;
use self::text::{ENTITY, Enriched, Visible};
use super::ground::bytes::{
    self, MARK, begins_any_case, find_any_case, first_line, in_its_order, invalid, is_one_of,
    next_line, text_of, trim_line, unbracket,
};
use super::ground::config::ReadConfig;
use super::ground::date::usual_date;
use super::ground::outcome::{Interpreter, Outcome, head_of, refused};
use super::ground::record::{ContentKind, Marks, Message, RawDocument};
use super::look::sniff::{LOOK_BINARY, binary_file_kind, controls_in, surely_text};
use super::web::archive::Fields;
use lookalike_base::{LOOK, Wide, append, words};
use lookalike_source::Reason;

/// Maximum nesting of parts: mail programs make three or four levels, and forwarding adds some.
const MOST_DEPTH: usize = 16;
/// Maximum number of parts of one message that are examined.
const MOST_PARTS: usize = 1000;
/// Maximum number of bytes of a field that are examined.
const MOST_VALUE: usize = 64 << 10;
/// Maximum length of a Message-ID; a longer one is ignored.
const MOST_ID: usize = 998;
/// Maximum number of fields of type and of parameters that are examined.
const MOST_TYPES: usize = 8;
const MOST_PARAMETERS: usize = 100;
/// A text/plain lacks something if the text/html beside it has more letters and digits, by this
/// ratio.
const LACKS: (u64, u64) = (5, 4);
/// Words in the fields of a header, which are not read, that may be a text.
const MANY_WORDS: usize = 8;
/// Maximum length of a sentence that tells a reader about the format.
const MOST_NOTICE: usize = 300;
/// Words of sentences before the first part that tell a reader about the format.
const NOTICE: &str =
    "mime|multi-part|multipart|multi part|several parts|multiple parts|mail reader";
/// Bytes at the beginning of a file in which its message begins.
const LOOK_BEFORE: usize = 1 << 10;
/// The first field of a mailbox of Babyl, which is not a message with text before its header.
const BABYL: &[u8] = b"BABYL OPTIONS:";
/// The line around a message of MMDF, without its line end.
pub(super) const MMDF: &[u8] = &[1; 4];
/// Bytes of alternatives that are compared.
const LOOK_ALIKE: u64 = 1 << 20;
/// Bytes decoded at a time.
const PIECE: usize = 4 << 10;

/// The transfer encoding of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Transfer {
    #[default]
    AsIs,
    Base64,
    Quoted,
}

/// The relevant fields of the header of a message or a part.
#[derive(Default)]
struct Header<'a> {
    mime: String,
    boundary: Option<Vec<u8>>,
    charset: Option<String>,
    transfer: Transfer,
    /// Whether the reader removes the space at the end of a line together with the line end.
    delsp: bool,
    attachment: bool,
    subject: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    /// The Content-ID, and the Content-ID of the root of a multipart/related.
    part_id: Option<&'a [u8]>,
    root: Option<Vec<u8>>,
    /// Bytes of the part that Apple Mail keeps in another file.
    elsewhere: Option<&'a [u8]>,
    /// A browser saved the page as a message.
    saved: bool,
    /// The address of a saved page.
    location: Option<&'a [u8]>,
    body: usize,
}

/// A type and its parameters.
type Typed = (String, Vec<(String, Vec<u8>)>);

impl<'a> Header<'a> {
    /// `default` is the type of a part that declares none.
    fn parse(bytes: &'a [u8], default: &str, notices: &mut Notices) -> Self {
        let (end, body) = header_end(bytes);
        let mut fields = Fields::new(&bytes[..end]);
        let mut header = Header {
            mime: default.into(),
            body,
            ..Header::default()
        };
        let mut encoded = false;
        let (mut unread, mut is_mail) = (0, false);
        let mut types: Vec<Typed> = Vec::new();
        for (name, value) in &mut fields {
            let value = &value[..value.len().min(MOST_VALUE)];
            // The first of a repeated field counts.
            match name.to_ascii_lowercase().as_slice() {
                b"content-type" if types.len() < MOST_TYPES => types.push(split_parameters(value)),
                b"content-transfer-encoding" if !encoded => {
                    encoded = true;
                    let coding = split_parameters(value).0;
                    header.transfer = match coding.as_str() {
                        "base64" => Transfer::Base64,
                        "quoted-printable" => Transfer::Quoted,
                        "" | "7bit" | "8bit" | "binary" => Transfer::AsIs,
                        // Files inside a text are found whatever declares them.
                        "x-uuencode" | "uuencode" | "x-uue" | "uue" | "x-yenc" => Transfer::AsIs,
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
                b"content-id" => header.part_id = Some(value),
                b"x-apple-content-length" => header.elsewhere = Some(value),
                b"snapshot-content-location" => {
                    (header.saved, header.location) = (true, Some(value.trim_ascii()));
                }
                b"from" => {
                    let sender = value.trim_ascii_start();
                    let sender = sender.strip_prefix(b"<").unwrap_or(sender);
                    header.saved |= sender.starts_with(b"Saved by ");
                }
                _ => {}
            }
            match is_one_of(name, &FIELDS) {
                true => is_mail |= !name.eq_ignore_ascii_case(b"Content-Type"),
                false if !begins_any_case(name, b"Content-") => unread += words_in(value),
                false => {}
            }
        }
        if unread > MANY_WORDS && (!is_mail || bytes[body..].trim_ascii().is_empty()) {
            notices.add(Reason::OddHeader, || {
                format!(
                    "the header has {unread} words in fields that mail does not have, which are \
                     left out; put an empty line before them if they are the text"
                )
            });
        }
        header.set_type(types, &bytes[body..]);
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

impl Header<'_> {
    /// If there are several types, the one whose boundary is in the body counts, or else the first.
    fn set_type(&mut self, mut types: Vec<Typed>, body: &[u8]) {
        let occurs = |(kind, parameters): &Typed| {
            let boundary = parameters.iter().find(|(name, _)| name == "boundary");
            kind.starts_with("multipart/")
                && boundary.is_some_and(|(_, boundary)| {
                    memmem::find(body, &[b"--", &boundary[..]].concat()).is_some()
                })
        };
        let chosen = match types.len() {
            0 => return,
            1 => 0,
            _ => types.iter().position(occurs).unwrap_or(0),
        };
        let (kind, parameters) = types.swap_remove(chosen);
        if kind.contains('/') {
            self.mime = kind;
        }
        for (name, value) in parameters {
            match name.as_str() {
                "boundary" if self.boundary.is_none() => self.boundary = Some(value),
                "charset" if self.charset.is_none() => {
                    self.charset = Some(String::from_utf8_lossy(&value).into_owned());
                }
                "start" => self.root = Some(value),
                "delsp" => self.delsp = value.eq_ignore_ascii_case(b"yes"),
                _ => {}
            }
        }
    }
}

/// The number of words of letters.
fn words_in(value: &[u8]) -> usize {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let words = value.split(u8::is_ascii_whitespace).map(|word| {
        let end = word.iter().rposition(is_letter).map_or(0, |at| at + 1);
        &word[..end]
    });
    words
        .filter(|word| !word.is_empty() && word.iter().all(is_letter))
        .count()
}

/// Fields that messages have. Others begin with `X-`.
const FIELDS: [&str; 26] = words(
    "ARC-Seal Authentication-Results Bcc Cc Content-Type Date Delivered-To Delivery-Date \
     DKIM-Signature DomainKey-Signature Envelope-To From In-Reply-To List-Id Message-ID \
     MIME-Version Newsgroups Path Received References Reply-To Return-Path Sender Status Subject \
     To",
);

/// Whether this is the name of a field that mail has.
pub(super) fn is_field_of_mail(name: &[u8]) -> bool {
    begins_any_case(name, b"X-") || is_one_of(name, &FIELDS)
}

/// Whether this is a header field, or an escaped line (`>From ` after the separator). Old programs write
/// spaces before the colon of fields that mail has (RFC 5322, section 4.5); French text has them too.
pub(super) fn begins_field(bytes: &[u8]) -> bool {
    if bytes.starts_with(b">From ") {
        return true;
    }
    let name = bytes
        .iter()
        .take_while(|&&byte| byte.is_ascii_graphic() && byte != b':')
        .count();
    let behind = bytes[name..].iter().find(|byte| !b" \t".contains(byte));
    let is_known = || is_field_of_mail(&bytes[..name]) || begins_any_case(bytes, b"Content-");
    name > 0 && behind == Some(&b':') && (bytes[name] == b':' || is_known())
}

/// Replaces each CR that ends a line by LF, if the header, or the line before it, ends its lines with CR
/// alone.
pub(super) fn put_line_feeds(bytes: &mut [u8]) {
    if ends_lines_with_cr(bytes) {
        for at in 0..bytes.len() {
            if bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                bytes[at] = b'\n';
            }
        }
    }
}

/// A copy with line feeds, if one is needed.
pub(super) fn with_line_feeds(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !ends_lines_with_cr(bytes) {
        return bytes.into();
    }
    let mut bytes = bytes.to_vec();
    put_line_feeds(&mut bytes);
    bytes.into()
}

fn ends_lines_with_cr(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < LOOK_BEFORE
        && let Some(length) = next_line(&bytes[at..])
    {
        if bytes[at + length - 1] == b'\r' {
            return true;
        }
        if begins_field(&bytes[at..]) {
            return false;
        }
        at += length;
    }
    false
}

/// Whether these first bytes of a file are a message: a page that a browser saved, a message of
/// several parts, or a header that no other text has. `named`: its name is one of a message.
pub(super) fn begins_message(head: &[u8], named: bool) -> bool {
    let head = head.strip_prefix(MARK).unwrap_or(head);
    let several = head.starts_with(BABYL);
    let head = &head[inside(head).start..];
    if several || !begins_field(head) {
        return false;
    }
    let header = Header::parse(head, "text/plain", &mut Notices::default());
    let page = header.saved && (header.boundary.is_some() || header.mime == "text/html");
    let body = &head[header.body.saturating_sub(1)..];
    let bounded = |boundary: &Vec<u8>| {
        let mark = [b"\n--", &boundary[..]].concat();
        memmem::find(body, &mark).is_some()
    };
    page || header.mime.starts_with("multipart/") && header.boundary.as_ref().is_some_and(bounded)
        || is_header(head, named)
}

/// Whether a text begins with the header of a message. It has two fields that mail has and ends at
/// an empty line. Unless its name says so, a sender is among them, and what programs write: a path,
/// a version of MIME, an id in brackets, or a date with a time beside an address. People write
/// other headers: of a memo, or above a letter.
fn is_header(head: &[u8], named: bool) -> bool {
    let (end, body) = header_end(head);
    let (mut known, mut sender, mut address) = (0, false, false);
    let (mut written, mut dated) = (false, false);
    for (name, value) in Fields::new(&head[..end]) {
        let is = |names: &[&str]| is_one_of(name, names);
        let value = &value[..value.len().min(MOST_VALUE)];
        known += usize::from(is_field_of_mail(name));
        sender |= is(&["From", "Sender", "Return-Path", "Received"]);
        address |= is(&["From", "Sender"]) && value.contains(&b'@');
        written |= match value {
            [b'<', .., b'>'] => is(&["Message-ID", "Return-Path"]),
            [b'0'..=b'9', ..] => is(&["MIME-Version"]),
            _ => is(&["Received"]) && memmem::find(value, b"by ").is_some(),
        };
        let date = || usual_date(&text_of(value));
        dated |= is(&["Date"]) && date().ends_with('Z');
    }
    // The bytes may end within a line of the header.
    (end < body || memchr::memchr(b'\n', &head[end..]).is_none())
        && known >= 2
        && (named || sender && (written || address && dated))
}

/// Where the message is in a file: Apple Mail writes its length before it and a property list
/// behind it, Outlook for the Mac writes controls before it, and some programs empty lines.
fn inside(bytes: &[u8]) -> Range<usize> {
    let line = first_line(&bytes[..bytes.len().min(LOOK_BEFORE)]);
    if let Some(length) = length_in(line) {
        let begin = bytes.len().min(line.len() + 1);
        let end = begin.saturating_add(length);
        let list =
            |rest: &[u8]| matches!(rest.trim_ascii_start(), [] | [b'<', b'?' | b'!' | b'p', ..]);
        let end = match bytes.get(end..) {
            Some(rest) if list(rest) => end,
            _ => memmem::rfind(bytes, b"\n<?xml ")
                .filter(|&at| memmem::find(&bytes[at..], b"<plist").is_some())
                .map_or(bytes.len(), |at| at + 1),
        };
        return begin..end.max(begin);
    }
    let head = &bytes[..bytes.len().min(LOOK_BEFORE)];
    let begin = memchr::memchr_iter(b':', head).find_map(|colon| {
        let length = head[..colon].iter().rev();
        let length = length.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-');
        let mut begins = colon - length.count()..colon;
        begins.find(|&at| is_field_of_mail(&head[at..colon]))
    });
    let is_odd = |before: &[u8]| controls_in(before) > 0 || before.trim_ascii().is_empty();
    match begin {
        Some(begin) if is_odd(&head[..begin]) => begin..bytes.len(),
        _ => 0..bytes.len(),
    }
}

/// The length of a message on the first line of an emlx file.
fn length_in(line: &[u8]) -> Option<usize> {
    let digits = line.trim_ascii_end();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    Some(number.parse().unwrap_or(usize::MAX))
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

/// Splits `text/plain; charset="utf-8"` into its value in lower case and its unquoted parameters,
/// without comments.
fn split_parameters(value: &[u8]) -> Typed {
    let mut pieces = Vec::new();
    let (mut piece, mut quoted, mut escaped, mut comments) = (Vec::new(), false, false, 0);
    let last = memchr::memrchr(b')', value).unwrap_or_default();
    for (at, &byte) in value.iter().enumerate() {
        match byte {
            _ if escaped => {
                if comments == 0 {
                    piece.push(byte);
                }
                escaped = false;
            }
            b'\\' if quoted || comments > 0 => escaped = true,
            // Some programs do not quote a name in which there is one.
            b'(' if !quoted && at < last && piece.last().is_none_or(u8::is_ascii_whitespace) => {
                comments += 1;
            }
            b')' if comments > 0 => comments -= 1,
            _ if comments > 0 => {}
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
    let mut parameters = Vec::new();
    // The pieces of parameters that are split or encoded (RFC 2231), by name and number.
    let mut parts: BTreeMap<String, BTreeMap<u32, Vec<u8>>> = BTreeMap::new();
    for piece in pieces.take(MOST_PARAMETERS) {
        let Some(at) = memchr::memchr(b'=', &piece) else {
            continue;
        };
        let (name, value) = (lower(&piece[..at]), piece[at + 1..].trim_ascii());
        let Some((base, rest)) = name.split_once('*') else {
            parameters.push((name, value.to_vec()));
            continue;
        };
        let encoded = rest.is_empty() || rest.ends_with('*');
        let number = rest.trim_end_matches('*');
        let Ok(number) = (if number.is_empty() { "0" } else { number }).parse() else {
            continue;
        };
        let value = match encoded {
            true => percent_decoded(value, number == 0),
            false => value.to_vec(),
        };
        let parts = parts.entry(base.into()).or_default();
        parts.entry(number).or_insert(value);
    }
    for (name, values) in parts {
        parameters.push((name, values.into_values().flatten().collect()));
    }
    (kind, parameters)
}

/// Decodes a value of RFC 2231. The first piece begins with its charset and language: `utf-8''`.
fn percent_decoded(value: &[u8], first: bool) -> Vec<u8> {
    let mut quotes = memchr::memchr_iter(b'\'', value);
    let begin = match (first, quotes.next(), quotes.next()) {
        (true, Some(_), Some(second)) => second + 1,
        _ => 0,
    };
    let mut out = Vec::new();
    let mut rest = &value[begin..];
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = hex_byte(after).filter(|_| byte == b'%');
        out.push(escaped.unwrap_or(byte));
        rest = &after[escaped.map_or(0, |_| 2)..];
    }
    out
}

/// The byte that two hexadecimal digits at the start of these bytes give.
fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
    Some((digit(0)? << 4 | digit(1)?) as u8)
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

    /// A transfer encoding is broken.
    fn broken(&mut self, transfer: Transfer) {
        let coding = match transfer {
            Transfer::Base64 => "base64",
            _ => "quoted-printable",
        };
        self.add(Reason::BadContentEncoding, || {
            format!("invalid {coding}: the bytes that could not be decoded are kept")
        });
    }
}

/// How the text of a part is made from its decoded bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Plain text whose lines are joined (`delsp=yes`).
    Flowed,
    Markup,
    Enriched,
    /// Other subtypes of text, which are read as plain text.
    Other,
}

/// The kind of the text of a part with this type, if it is text.
fn kind_of(mime: &str) -> Option<Kind> {
    Some(match mime {
        "text/plain" | "plain/text" | "message/partial" => Kind::Plain,
        "text/html" | "application/xhtml+xml" => Kind::Markup,
        "text/enriched" | "text/richtext" => Kind::Enriched,
        "text/css" | "text/javascript" | "text/ecmascript" | "text/rfc822-headers" => return None,
        mime if mime.starts_with("text/") => Kind::Other,
        _ => return None,
    })
}

/// A part that contains text.
struct TextPart {
    /// The message that it is in, if that was encoded.
    within: Option<Rc<Vec<u8>>>,
    range: Range<usize>,
    kind: Kind,
    mime: String,
    /// It is in no part.
    outside: bool,
    transfer: Transfer,
    mbox: bool,
    charset: Option<String>,
    look: Look,
}

impl TextPart {
    /// The charset that it declares.
    fn label(&self) -> Option<String> {
        let charset = self.charset.as_deref();
        charset.map(|label| label.trim().to_ascii_lowercase())
    }

    /// Decodes its text.
    fn decoded(&self, message: &[u8], text: &mut Text, notices: &mut Notices) {
        let label = self.label();
        let known = label
            .as_ref()
            .and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()));
        if let (Some(label), None) = (&label, known) {
            let label: String = label.chars().take(40).collect();
            notices.add(Reason::WrongCharset, || {
                format!("label {label:?} of a part is not known")
            });
        }
        let utf8 = self.look.utf8;
        let mut encoding = known.unwrap_or(if utf8 { UTF_8 } else { WINDOWS_1252 });
        if !encoding.is_ascii_compatible() {
            let mut head = Vec::new();
            self.each(message, &mut |piece| {
                let room = LOOK.saturating_sub(head.len());
                head.extend_from_slice(&piece[..piece.len().min(room)]);
            });
            encoding = in_its_order(encoding, &head);
        }
        let mut decoder = encoding.new_decoder_with_bom_removal();
        let mut bad = false;
        self.each(message, &mut |piece| {
            bad |= decode_into(text, &mut decoder, piece, false);
        });
        bad |= decode_into(text, &mut decoder, b"", true);
        if bad {
            let mut bytes = Vec::new();
            self.each(message, &mut |piece| append(&mut bytes, piece));
            text.replaced = invalid(encoding, &bytes, text.replaced);
            notices.add(Reason::InvalidBytes, || {
                format!("a part is not in {}", encoding.name())
            });
        }
    }

    /// Whether it is a page, perhaps for other programs.
    fn is_page(&self) -> bool {
        self.kind == Kind::Markup || self.mime.ends_with("html")
    }

    /// The words of its visible text, in small letters and in order. Those with [`ENTITY`] are not
    /// known.
    fn words(&self, message: &[u8]) -> Vec<String> {
        let mut text = Text {
            most: LOOK_ALIKE,
            ..Text::default()
        };
        self.decoded(message, &mut text, &mut Notices::default());
        let mut visible = Visible::new(&text.bytes, self.is_page());
        visible.shown = Some(Vec::new());
        visible.read(text.bytes.len());
        let shown = visible.shown.unwrap_or_default();
        let words = String::from_utf8_lossy(&shown).to_lowercase();
        let words = words.split(|c: char| !c.is_alphanumeric() && c != ENTITY);
        let words = words.filter(|word| !word.is_empty());
        words.map(Into::into).collect()
    }

    /// The bytes of its letters and digits.
    fn letters(&self, message: &[u8]) -> Vec<u8> {
        let mut letters = Vec::new();
        let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        self.each(message, &mut |piece| {
            letters.extend(piece.iter().filter(is_letter));
        });
        letters
    }

    /// Its text, with the transfer encoding undone, in pieces.
    fn each(&self, message: &[u8], out: &mut dyn FnMut(&[u8])) {
        let message = match &self.within {
            Some(within) => within,
            None => message,
        };
        let part = &message[self.range.clone()];
        text_of_part(part, self.kind, self.transfer, self.mbox, out);
    }
}

/// The walk over the parts of a message.
#[derive(Default)]
struct Walk<'a> {
    message: &'a [u8],
    /// The message is from an mbox file.
    mbox: bool,
    parts: usize,
    texts: Vec<TextPart>,
    /// The first thing that was left out.
    left: Option<String>,
    /// The number of parts with text that were left out, by type.
    unread: BTreeMap<String, usize>,
    /// The first limit that a part exceeded.
    beyond: Option<String>,
    /// Bytes of messages within that were encoded, and the most that are decoded.
    decoded: u64,
    most: u64,
    notices: Notices,
}

impl Walk<'_> {
    /// Handles a message or a part that begins at `range.start` and whose header has been parsed.
    fn entity(&mut self, header: &Header<'_>, range: Range<usize>, depth: usize) {
        self.parts += 1;
        if self.parts > MOST_PARTS || depth > MOST_DEPTH {
            let what = match depth > MOST_DEPTH {
                true => format!("more than {MOST_DEPTH} deep"),
                false => format!("after the first {MOST_PARTS} (of any type)"),
            };
            self.left.get_or_insert_with(|| format!("a part {what}"));
            self.beyond.get_or_insert(what);
            return;
        }
        let body = (range.start + header.body).min(range.end)..range.end;
        let mime = header.mime.as_str();
        if let Some(length) = header.elsewhere
            && self.message[body.clone()].trim_ascii().is_empty()
        {
            let what = format!("{mime} of {} bytes, in another file,", text_of(length));
            self.left.get_or_insert_with(|| what.clone());
            if kind_of(mime).is_some() && !header.attachment {
                let what = || format!("{what} is left out");
                self.notices.add(Reason::Truncated, what);
            }
            return;
        }
        let is_message = matches!(mime, "message/rfc822" | "message/global" | "message/news");
        if header.attachment && depth > 0 && !is_message {
            return self.leave(mime, header.transfer, &body);
        }
        let mut kind = kind_of(mime);
        if mime.starts_with("multipart/") {
            if self.multipart(header, &body, depth) {
                return;
            }
            if header.transfer != Transfer::AsIs && header.boundary.is_some() {
                // The standard forbids it, but some programs encode the parts together.
                return self.encoded(header, body, depth);
            }
            let detail = format!("{mime} without its boundary is read as text");
            self.notices.add(Reason::OddHeader, || detail);
            kind = Some(Kind::Plain);
        } else if is_message {
            return match header.transfer {
                Transfer::AsIs => self.part(body, "text/plain", depth + 1),
                _ => self.encoded(header, body, depth),
            };
        }
        let Some(mut kind) = kind else {
            return self.leave(mime, header.transfer, &body);
        };
        if header.delsp && kind == Kind::Plain {
            kind = Kind::Flowed;
        }
        self.text(header, kind, body, false);
    }

    /// Takes a part as text, or the bytes that are in no part.
    fn text(&mut self, header: &Header<'_>, kind: Kind, range: Range<usize>, outside: bool) {
        let bytes = &self.message[range.clone()];
        let look = look(bytes, kind, header.transfer, self.mbox);
        let mime = shown(&header.mime);
        if look.media || look.file {
            let what = if look.file { "a file" } else { "an image" };
            self.left.get_or_insert_with(|| format!("{what} in {mime}"));
        }
        if self.mbox
            && let Some(at) = separator_in(bytes)
        {
            self.notices.add(Reason::PerhapsSeveral, || {
                format!(
                    "the line at byte {at} of a text is like one between messages, but no field is \
                     behind it; if a message begins there, write a header, such as \"Subject: \""
                )
            });
        }
        if let Some(at) = message_behind(bytes, outside) {
            self.notices.add(Reason::PerhapsSeveral, || {
                format!(
                    "another message seems to begin at byte {at} of a text; a line that begins \
                     with \"From \" before each header makes a mailbox of them"
                )
            });
        }
        self.texts.push(TextPart {
            within: None,
            range,
            kind,
            mime,
            outside,
            transfer: header.transfer,
            mbox: self.mbox,
            charset: header.charset.clone(),
            look,
        });
    }

    /// Takes the bytes before the parts of a multipart, between them or behind them.
    fn outside(&mut self, range: Range<usize>) {
        if !self.message[range.clone()].trim_ascii().is_empty() {
            let header = Header {
                mime: "text/plain".into(),
                ..Header::default()
            };
            self.text(&header, Kind::Plain, range, true);
        }
    }

    /// Leaves out a part of this type. Signatures say nothing of their own.
    fn leave(&mut self, mime: &str, transfer: Transfer, body: &Range<usize>) {
        let bytes = &self.message[body.clone()];
        if mime.ends_with("-signature") || bytes.trim_ascii().is_empty() {
            return;
        }
        if has_text(mime, transfer, bytes, self.mbox) {
            self.count_unread(mime);
        }
        self.left.get_or_insert_with(|| shown(mime));
    }

    fn count_unread(&mut self, mime: &str) {
        *self.unread.entry(shown(mime)).or_default() += 1;
    }

    /// Walks the parts of a multipart. Returns whether there are any.
    fn multipart(&mut self, header: &Header<'_>, body: &Range<usize>, depth: usize) -> bool {
        let (parts, outside) = match &header.boundary {
            Some(boundary) => self.split(body, boundary),
            None => Default::default(),
        };
        let Some(first) = parts.first().map(|part| part.start) else {
            return false;
        };
        let (before, behind): (Vec<_>, Vec<_>) =
            outside.into_iter().partition(|text| text.start < first);
        for text in before {
            let notice = notice_in(&self.message[text.clone()]);
            self.outside(text.start + notice..text.end);
        }
        let default = match header.mime.as_str() {
            "multipart/digest" => "message/rfc822",
            _ => "text/plain",
        };
        let from = self.texts.len();
        match header.mime.as_str() {
            "multipart/alternative" => {
                let mut ends = Vec::new();
                for part in parts {
                    self.part(part, default, depth + 1);
                    ends.push(self.texts.len());
                }
                self.choose(from, &ends);
            }
            "multipart/related" => {
                let root = self.root_of(header, &parts);
                for (number, part) in parts.into_iter().enumerate() {
                    let first = self.texts.len();
                    self.part(part, default, depth + 1);
                    if number == root {
                        continue;
                    }
                    let is_resource = |text: &mut TextPart| text.kind != Kind::Markup;
                    let resources = self.texts.extract_if(first.., is_resource);
                    for resource in resources.collect::<Vec<_>>() {
                        self.count_unread(&resource.mime);
                        self.left.get_or_insert_with(|| "a resource".into());
                    }
                }
            }
            _ => {
                for part in parts {
                    self.part(part, default, depth + 1);
                }
            }
        }
        behind.into_iter().for_each(|text| self.outside(text));
        true
    }

    /// The number of the root among the parts of a multipart/related.
    fn root_of(&mut self, header: &Header<'_>, parts: &[Range<usize>]) -> usize {
        let Some(root) = &header.root else {
            return 0;
        };
        let is_root = |part: &Range<usize>| {
            let part = with_line_feeds(&self.message[part.clone()]);
            let header = Header::parse(&part, "text/plain", &mut Notices::default());
            header.part_id.map(unbracket) == Some(unbracket(root))
        };
        parts.iter().position(is_root).unwrap_or(0)
    }

    /// Keeps one of several alternatives. Each ends at one of `ends`, and the first begins at
    /// `from`.
    fn choose(&mut self, from: usize, ends: &[usize]) {
        let begins = [from].into_iter().chain(ends.iter().copied());
        let options: Vec<_> = begins.zip(ends).map(|(begin, &end)| begin..end).collect();
        let rank = |option: &Range<usize>| {
            let texts = &self.texts[option.clone()];
            let has = |kind| texts.iter().any(|text| text.kind == kind);
            match has(Kind::Enriched) || has(Kind::Other) {
                _ if has(Kind::Markup) => 1,
                other => 2 * u8::from(other),
            }
        };
        let letters = |option: &Range<usize>| -> u64 {
            let texts = &self.texts[option.clone()];
            texts.iter().map(|text| text.look.letters).sum()
        };
        let key = |option: &&Range<usize>| (letters(option) == 0, rank(option));
        let taken = options.iter().filter(|option| !option.is_empty());
        let Some(first) = taken.clone().min_by_key(key) else {
            return;
        };
        let page = taken.clone().find(|option| {
            let (more, least) = LACKS;
            let lacks = least * letters(option) > more * letters(first);
            rank(first) == 0 && rank(option) == 1 && lacks
        });
        let taken = page.unwrap_or(first).clone();
        let texts = &self.texts[taken.clone()];
        let words = || texts.iter().flat_map(|part| part.words(self.message));
        let known = LazyCell::new(|| words().collect::<BTreeSet<_>>());
        // The others usually say the same. A text/plain beside a page may only say that there is one.
        let same = |text: &TextPart| match text.kind {
            Kind::Other if !text.is_page() => false,
            Kind::Plain | Kind::Flowed | Kind::Enriched
                if rank(&taken) == 0 && text.look.letters > 0 =>
            {
                let all = texts.iter().flat_map(|of| of.letters(self.message));
                text.look.letters == letters(&taken) && all.eq(text.letters(self.message))
            }
            Kind::Plain | Kind::Flowed => true,
            _ => !self.differs(text, &known),
        };
        let others = options.iter().filter(|option| **option != taken);
        let texts = others.flat_map(|option| &self.texts[option.clone()]);
        let unread: Vec<String> = texts
            .filter(|text| !same(text))
            .map(|text| text.mime.clone())
            .collect();
        unread.iter().for_each(|mime| self.count_unread(mime));
        self.texts.truncate(taken.end.max(from));
        self.texts.drain(from..taken.start);
    }

    /// Whether a part says what others do not: a number, three words in a row, or a quarter of its
    /// words. `known` are the words of the others. Links and footers of real mail have a word or two.
    fn differs(&self, part: &TextPart, known: &BTreeSet<String>) -> bool {
        let words = part.words(self.message);
        let is_new = |word: &&String| !word.contains(ENTITY) && !known.contains(*word);
        words.iter().filter(is_new).count() * 4 > words.len()
            || (words.iter().filter(is_new)).any(|word| word.contains(char::is_numeric))
            || words
                .windows(3)
                .any(|row| row.iter().all(|word| is_new(&word)))
    }

    /// Walks a message within, or the parts of a multipart, that are encoded.
    fn encoded(&mut self, header: &Header<'_>, body: Range<usize>, depth: usize) {
        let mut bytes = Vec::new();
        let body = &self.message[body];
        let broken = decode(body, header.transfer, self.mbox, &mut |piece| {
            self.decoded += piece.len() as u64;
            if self.decoded <= self.most {
                append(&mut bytes, piece);
            }
        });
        if broken {
            self.notices.broken(header.transfer);
        }
        let all = 0..bytes.len();
        self.within(bytes, false, |walk| {
            if !header.mime.starts_with("multipart/") {
                walk.part(all, "text/plain", depth + 1);
            } else if !walk.multipart(header, &all, depth) {
                walk.leave(&header.mime, Transfer::AsIs, &all);
            }
        });
    }

    /// Walks the decoded bytes of a part.
    fn within(&mut self, bytes: Vec<u8>, mbox: bool, walk: impl FnOnce(&mut Walk<'_>)) {
        let mut within = Walk {
            message: &bytes,
            mbox,
            texts: Vec::new(),
            left: self.left.take(),
            unread: std::mem::take(&mut self.unread),
            beyond: self.beyond.take(),
            notices: std::mem::take(&mut self.notices),
            ..*self
        };
        walk(&mut within);
        (self.parts, self.decoded, self.left) = (within.parts, within.decoded, within.left);
        (self.unread, self.beyond) = (within.unread, within.beyond);
        self.notices = within.notices;
        let texts = within.texts;
        let bytes = Rc::new(bytes);
        self.texts.extend(texts.into_iter().map(|text| TextPart {
            within: text.within.or_else(|| Some(bytes.clone())),
            ..text
        }));
    }

    fn part(&mut self, range: Range<usize>, default: &str, depth: usize) {
        let message = self.message;
        let part = &message[range.clone()];
        if !matches!(part, [b'\r' | b'\n', ..])
            && let Cow::Owned(part) = with_line_feeds(part)
        {
            self.decoded += part.len() as u64;
            let all = 0..part.len();
            if self.decoded <= self.most {
                self.within(part, self.mbox, |walk| walk.part(all, default, depth));
            }
            return;
        }
        let header = Header::parse(part, default, &mut self.notices);
        self.entity(&header, range, depth);
    }

    /// The parts between lines of `--boundary`, and the stretches that are in no part. A part
    /// extends to the next such line, to `--boundary--` or to the end.
    fn split(
        &self,
        body: &Range<usize>,
        boundary: &[u8],
    ) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
        // The bytes that are in no part, and the parts.
        let mut found = [Vec::new(), Vec::new()];
        if boundary.is_empty() {
            return Default::default();
        }
        let mark = [b"--", boundary].concat();
        let bytes = &self.message[body.clone()];
        // Where a part begins, or a stretch that is in none.
        let (mut is_part, mut start) = (false, 0);
        for at in memmem::find_iter(bytes, &mark) {
            if at > 0 && !matches!(bytes[at - 1], b'\n' | b'\r') {
                continue;
            }
            let rest = &bytes[at + mark.len()..];
            let length = next_line(rest).unwrap_or(rest.len());
            let line = trim_line(&rest[..length]).trim_ascii_end();
            let last = line.starts_with(b"--");
            if !last && !line.is_empty() {
                continue;
            }
            // The line end before a boundary belongs to the boundary.
            let end = start + trim_line(&bytes[start.min(at)..at]).len();
            found[usize::from(is_part)].push(body.start + start..body.start + end);
            (is_part, start) = (!last, at + mark.len() + length);
            if found.iter().map(Vec::len).sum::<usize>() > MOST_PARTS {
                break;
            }
        }
        found[usize::from(is_part)].push(body.start + start..body.end);
        let [outside, parts] = found;
        (parts, outside)
    }
}

/// The beginning of a type, for a message.
fn shown(mime: &str) -> String {
    mime.chars().take(100).collect()
}

/// The length of the sentences at the beginning of what precedes the first part that tell a reader
/// about the format.
fn notice_in(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let ends = |end: &usize| match rest[*end] {
            b'\n' => rest[..*end].trim_ascii_end().ends_with(b"format"),
            byte => b".!?".contains(&byte) && rest.get(end + 1).is_none_or(u8::is_ascii_whitespace),
        };
        let end = (0..rest.len()).find(ends).map_or(rest.len(), |end| end + 1);
        let is = |words: &str| find_any_case(&rest[..end], words.as_bytes()).is_some();
        if end > MOST_NOTICE || !NOTICE.split('|').any(is) {
            return at;
        }
        at += end;
    }
}

/// Whether a part that is not read has text: by its bytes, unless its type says what else it is.
fn has_text(mime: &str, transfer: Transfer, bytes: &[u8], mbox: bool) -> bool {
    const OTHER: [&str; 5] = words("image audio video font model");
    const FOR_PROGRAMS: [&str; 6] = words(
        "text/css text/javascript text/ecmascript text/rfc822-headers message/external-body \
         application/pgp-encrypted",
    );
    let kind = mime.split('/').next().unwrap_or_default();
    if OTHER.contains(&kind) || FOR_PROGRAMS.contains(&mime) {
        return false;
    }
    let (mut head, bytes) = (Vec::new(), &bytes[..bytes.len().min(LOOK_BINARY)]);
    decode(bytes, transfer, mbox, &mut |piece| {
        head.extend_from_slice(piece);
    });
    binary_file_kind(&head).is_none() && (surely_text(&head) || Wide::of(&head).is_some())
}

/// Where another message begins in a text, or `at_begin` perhaps at its beginning: with a header,
/// unless the line before it introduces a message that the text is about.
fn message_behind(text: &[u8], at_begin: bool) -> Option<usize> {
    let (mut at, mut before) = (0, if at_begin { &b""[..] } else { b"-" });
    while at < text.len() {
        let rest = &text[at..];
        let (end, body) = match begins_field(rest) {
            true => header_end(rest),
            false => (0, 0),
        };
        let introduced = before
            .first()
            .is_some_and(|byte| b"-*=_>|#+".contains(byte))
            || before.last().is_some_and(|byte| b":-=_*".contains(byte));
        if end < body && !introduced && is_header(rest, false) {
            return Some(at);
        }
        let line = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let length = end.max(line);
        let last = trim_line(&rest[..length]);
        let last = &last[memchr::memrchr(b'\n', last).map_or(0, |at| at + 1)..];
        if !last.trim_ascii().is_empty() {
            before = last.trim_ascii();
        }
        at += length;
    }
    None
}

/// Whether the first line of a base64 text has spaces, which RFC 2045 (section 6.8) ignores. Words seldom
/// have a capital or a digit behind a small letter, and a multiple of four letters.
fn has_spaces(bytes: &[u8]) -> bool {
    let line = first_line(bytes.trim_ascii_start()).trim_ascii();
    let blank = line.iter().filter(|byte| b" \t".contains(byte)).count();
    let code = line.iter().filter(|byte| is_base64(byte)).count();
    let is_code = |two: &[u8]| matches!(two, [b'a'..=b'z', b'A'..=b'Z' | b'0'..=b'9']);
    let is_all = blank > 0 && code + blank == line.len() && code.is_multiple_of(4);
    is_all && line.windows(2).any(is_code)
}

/// Undoes the transfer encoding of a part and passes the bytes on. Returns whether the encoding is
/// broken.
fn decode(bytes: &[u8], transfer: Transfer, mbox: bool, out: &mut dyn FnMut(&[u8])) -> bool {
    let mut broken = false;
    let mut base64 = Base64::default();
    let spaced = transfer == Transfer::Base64 && has_spaces(bytes);
    let is_coded = |byte: &u8| is_base64(byte) || spaced && b" \t".contains(byte);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = if mbox { unescape(line) } else { line };
        match transfer {
            Transfer::AsIs => out(line),
            Transfer::Quoted => broken |= quoted(line, out),
            Transfer::Base64 if !broken && line.trim_ascii().iter().all(is_coded) => {
                base64.push(line, out);
            }
            // Mailing lists append plain text below the encoded text.
            Transfer::Base64 => {
                if !std::mem::replace(&mut broken, true) {
                    out(b"\n");
                }
                out(line);
            }
        }
    }
    broken | base64.cut()
}

/// Passes on the text of a part: its decoded bytes without commands of text/enriched and files.
/// Returns whether the encoding is broken, and whether there was a file.
fn text_of_part(
    bytes: &[u8],
    kind: Kind,
    transfer: Transfer,
    mbox: bool,
    out: &mut dyn FnMut(&[u8]),
) -> (bool, bool) {
    let mut enriched = Enriched::default();
    let mut push = |piece: &[u8]| match kind {
        Kind::Enriched => enriched.push(piece, out),
        Kind::Flowed => out(flowed(piece)),
        _ => out(piece),
    };
    let (mut broken, mut found) = (false, false);
    let (mut decoded, mut rest, mut mbox) = (Vec::new(), bytes, mbox);
    if transfer != Transfer::AsIs {
        broken = decode(bytes, transfer, mbox, &mut |piece| {
            append(&mut decoded, piece)
        });
        (rest, mbox) = (&decoded, false);
    }
    let mut files = Files::default();
    while !rest.is_empty() {
        let length = match rest[0] {
            b'b' | b'=' | b'-' => files.length(rest),
            _ => None,
        };
        if let Some(length) = length {
            found = true;
            rest = &rest[length..];
            continue;
        }
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = &rest[..length];
        push(if mbox { unescape(line) } else { line });
        rest = &rest[length..];
    }
    enriched.end(out);
    (broken, found)
}

/// A line without the space and the line end that join it to the next (RFC 3676, section 4.1); quoted lines
/// stay lines.
fn flowed(line: &[u8]) -> &[u8] {
    match trim_line(line) {
        b"-- " | [b'>', ..] => line,
        [text @ .., b' '] => text,
        _ => line,
    }
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

/// An incremental Base64 decoder.
#[derive(Default)]
struct Base64 {
    bits: u32,
    count: u32,
}

impl Base64 {
    fn push(&mut self, text: &[u8], out: &mut dyn FnMut(&[u8])) {
        // No byte becomes more than one.
        for text in text.chunks(PIECE) {
            let (mut piece, mut length) = ([0; PIECE], 0);
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
                }
            }
            out(&piece[..length]);
        }
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
    for at in memchr::memchr_iter(b'=', text) {
        if at < from {
            continue;
        }
        match hex_byte(&text[at + 1..]) {
            Some(byte) => {
                out(&text[from..at]);
                out(&[byte]);
                from = at + 3;
            }
            None => broken = true,
        }
    }
    out(&text[from..]);
    if !soft && line.ends_with(b"\n") {
        out(b"\n");
    }
    broken
}

/// Decodes the encoded words of a subject and unfolds it. `None` if it has no encoded words.
///
/// The bytes of adjacent words in one charset are decoded together: some programs split characters.
fn encoded_words(value: &[u8]) -> Option<String> {
    // Stretches of bytes in one charset; without one, they are not encoded.
    let mut stretches: Vec<(Option<&'static Encoding>, Vec<u8>)> = Vec::new();
    let mut add = |encoding, bytes: &[u8]| match stretches.last_mut() {
        Some((last, stretch)) if *last == encoding => stretch.extend_from_slice(bytes),
        _ => stretches.push((encoding, bytes.to_vec())),
    };
    let (mut from, mut any) = (0, false);
    while let Some(at) = memmem::find(&value[from..], b"=?").map(|at| from + at) {
        let Some((encoding, bytes, length)) = encoded_word(&value[at..]) else {
            add(None, &value[from..at + 2]);
            from = at + 2;
            continue;
        };
        let between = &value[from..at];
        // White space between two encoded words is dropped.
        if !std::mem::replace(&mut any, true) || !between.trim_ascii().is_empty() {
            add(None, between);
        }
        add(Some(encoding), &bytes);
        from = at + length;
    }
    add(None, &value[from..]);
    let decoded = stretches.iter().map(|(encoding, bytes)| match encoding {
        Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
        None => String::from_utf8_lossy(bytes),
    });
    any.then(|| decoded.collect())
}

/// Decodes `=?charset?B?...?=` or `=?charset?Q?...?=`: the charset, the bytes, and the length in the
/// field.
fn encoded_word(bytes: &[u8]) -> Option<(&'static Encoding, Vec<u8>, usize)> {
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
    // `=?`, two `?` and `?=` are around the three.
    let length = 2 + charset.len() + 1 + coding.len() + 1 + text.len() + 2;
    Some((encoding, decoded, length))
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

/// The message in a record, without the separator of a mailbox and the second separator that some
/// programs write.
fn message_of(bytes: &[u8], mbox: bool) -> &[u8] {
    if !mbox {
        return &bytes[inside(bytes)];
    }
    let mut bytes = bytes;
    while [MMDF, b"From ", b">From "]
        .iter()
        .any(|line| bytes.starts_with(line))
    {
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        bytes = &bytes[end..];
    }
    let text = bytes.trim_ascii_end().strip_suffix(MMDF);
    text.filter(|text| text.is_empty() || text.ends_with(b"\n"))
        .unwrap_or(bytes)
}

/// Properties of the text of a part, found before it is used.
struct Look {
    ascii: bool,
    blank: bool,
    utf8: bool,
    /// Letters and digits.
    letters: u64,
    /// It shows images, and has a file inside.
    media: bool,
    file: bool,
    broken: bool,
}

fn look(bytes: &[u8], kind: Kind, transfer: Transfer, mbox: bool) -> Look {
    let mut text = Vec::new();
    let mut push = |piece: &[u8]| append(&mut text, piece);
    let (broken, file) = text_of_part(bytes, kind, transfer, mbox, &mut push);
    let visible = Visible::whole(&text, kind == Kind::Markup);
    Look {
        ascii: text.is_ascii(),
        blank: text.trim_ascii().is_empty(),
        utf8: std::str::from_utf8(&text).is_ok(),
        letters: visible.count,
        media: visible.media,
        file,
        broken,
    }
}

/// The text under construction: a bounded number of bytes is stored, and all are counted.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    length: u64,
    most: u64,
    /// The text that arrives is put into markup.
    escaped: bool,
    /// A hash of the bytes that are not in the charsets of their parts; 0 if there are none.
    replaced: u64,
}

impl Text {
    fn push(&mut self, piece: &[u8]) {
        let piece = &*escape(piece, self.escaped);
        self.length += piece.len() as u64;
        if self.length <= self.most {
            append(&mut self.bytes, piece);
        }
    }
}

/// The one charset in which the subject and all parts can be passed on, if any declares one. `None`
/// if there are several. `decoded`: the subject had encoded words.
fn one_charset(subject: &[u8], decoded: bool, texts: &[TextPart]) -> Option<Option<String>> {
    // The charsets of all parts that are not ASCII.
    let mut labels: Vec<Option<String>> = Vec::new();
    if !subject.is_ascii() {
        labels.push(decoded.then(|| "utf-8".into()));
    }
    let wide = |label: &Option<String>| {
        let label = label.as_deref().unwrap_or_default();
        // UTF-7, which is not read, looks like ASCII.
        let encoding = Encoding::for_label(label.as_bytes());
        encoding.map_or(label.contains("utf-7"), |one| !one.is_ascii_compatible())
    };
    for part in texts {
        let label = part.label();
        if !part.look.ascii || wide(&label) {
            labels.push(label);
        }
    }
    labels.dedup();
    let one = labels.len() <= 1 && !labels.iter().any(wide);
    one.then(|| labels.pop().flatten())
}

impl Interpreter for Message {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let message = message_of(bytes, self.mbox);
        let mut walk = Walk {
            message,
            mbox: self.mbox,
            most: config.max_document.0,
            ..Walk::default()
        };
        let header = Header::parse(message, "text/plain", &mut walk.notices);
        let docno: Cow<'a, str> = match header.id.and_then(own_name) {
            Some(id) => id,
            None => self.docno.clone().into(),
        };
        if !self.mbox {
            self.notice(bytes, message, &mut walk.notices);
        }
        if self.docno.ends_with(".partial.emlx") && message[header.body..].trim_ascii().is_empty() {
            walk.left = Some("its body, which this file does not have,".into());
        }
        walk.entity(&header, 0..message.len(), 0);
        if walk.decoded > walk.most {
            return too_large(docno, "messages within", walk.decoded, walk.most);
        }
        let (mut texts, mut notices) = (walk.texts, walk.notices);
        texts.retain(|part| !part.look.blank);
        for part in texts.iter().filter(|part| part.look.broken) {
            notices.broken(part.transfer);
        }
        if let Some(left) = walk.left
            && (texts.iter()).all(|part| part.outside || part.look.letters == 0)
        {
            texts.clear();
            notices.add(Reason::NotComparable, || {
                format!("the message has no text besides its subject, and {left} is left out")
            });
        } else {
            if let Some(part) = texts.iter().find(|part| part.look.file) {
                let what = || format!("an encoded file in {}", part.mime);
                notices.add(Reason::EncodedText, what);
            }
            let shown = walk.unread.iter().take(MOST_TYPES);
            let shown = shown.map(|(mime, count)| format!("{count} {mime}"));
            let parts: Vec<_> = walk.beyond.into_iter().chain(shown).collect();
            if !parts.is_empty() {
                let parts = parts.join(", ");
                let what = "with text that is not compared; extract them to files to compare them";
                notices.add(Reason::MessageParts, || format!("parts {what}: {parts}"));
            }
        }
        let mut reasons = notices.0.iter().map(|(reason, _)| *reason);
        let comparable = reasons.all(|reason| reason != Reason::NotComparable);
        let markup = texts.iter().any(|part| part.kind == Kind::Markup);

        let decoded = header.subject.and_then(encoded_words);
        let subject: Cow<'_, [u8]> = match (&decoded, header.subject) {
            _ if !comparable || header.saved => Cow::Borrowed(b""),
            (Some(decoded), _) => decoded.as_bytes().into(),
            (None, Some(raw)) => raw.into(),
            (None, None) => Cow::Borrowed(b""),
        };
        let one = one_charset(&subject, decoded.is_some(), &texts);

        let mut text = Text {
            most: config.max_document.0,
            escaped: markup,
            ..Text::default()
        };
        if one.is_some() {
            text.push(&subject);
        } else {
            let utf8 = decoded.is_some() || std::str::from_utf8(&subject).is_ok();
            let encoding = if utf8 { UTF_8 } else { WINDOWS_1252 };
            let mut decoder = encoding.new_decoder_with_bom_removal();
            let _ = decode_into(&mut text, &mut decoder, &subject, true);
        }
        text.push(b"\n");
        let mut marks = Marks::default();
        marks.add(&[], true);
        for part in &texts {
            marks.add(&text.bytes, true);
            text.escaped = markup && part.kind != Kind::Markup;
            match one {
                Some(_) => part.each(message, &mut |piece| text.push(piece)),
                None => part.decoded(message, &mut text, &mut notices),
            }
            text.push(b"\n");
        }
        if text.length > text.most {
            return too_large(docno, "a text", text.length, text.most);
        }
        let charset = one.unwrap_or_else(|| Some("utf-8".into()));
        Outcome::Document(RawDocument {
            url: header.location.map(String::from_utf8_lossy),
            title: header.subject.map(|raw| match decoded {
                Some(text) => text.into(),
                None => Cow::Owned(String::from_utf8_lossy(raw).into_owned()),
            }),
            charset: charset.map(Cow::Owned),
            begins: if markup { marks.begins() } else { Vec::new() },
            notices: notices.0,
            replaced: text.replaced,
            ..RawDocument::of(docno, ContentKind::of(markup), text.bytes.into())
        })
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        let head = message_of(head, self.mbox);
        let header = Header::parse(head, "text/plain", &mut Notices::default());
        let own = header.id.and_then(own_name);
        Some(own.map_or_else(|| self.docno.clone(), Cow::into_owned))
    }

    fn field(&self, bytes: &[u8], name: &str) -> Option<String> {
        Fields::new(message_of(head_of(bytes), self.mbox)).first(name)
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        self.field(bytes, "date")
    }
}

impl Message {
    /// Notes the odd lines and bytes that a file has besides its message.
    fn notice(&self, bytes: &[u8], message: &[u8], notices: &mut Notices) {
        let before = bytes.len() - message.len();
        let line = first_line(&bytes[..bytes.len().min(LOOK_BEFORE)]);
        match length_in(line) {
            Some(stated) if before > 0 && stated != message.len() => {
                notices.add(Reason::WrongLength, || {
                    format!(
                        "{stated} bytes of a message are stated, there are {}",
                        message.len()
                    )
                });
            }
            None if before > 0 => notices.add(Reason::OddHeader, || {
                format!("{before} bytes before the header")
            }),
            _ => {}
        }
    }
}

fn too_large<'a>(docno: Cow<'a, str>, what: &str, bytes: u64, most: u64) -> Outcome<'a> {
    let detail = format!("{what} of {bytes} bytes, at most {most} are read");
    refused(Some(docno), Reason::TooLarge, detail)
}

/// Escapes a text that is put into markup.
fn escape(subject: &[u8], markup: bool) -> Cow<'_, [u8]> {
    if !markup || memchr::memchr2(b'<', b'&', subject).is_none() {
        return subject.into();
    }
    let mut out = Vec::with_capacity(subject.len() + 16);
    bytes::escape(subject, &mut out);
    out.into()
}

/// Decodes a piece to UTF-8. Returns whether there were bytes that are invalid in the charset; they
/// become U+FFFD.
fn decode_into(text: &mut Text, decoder: &mut Decoder, mut bytes: &[u8], last: bool) -> bool {
    let (mut bad, mut piece) = (false, [0; PIECE]);
    loop {
        let (result, read, written, replaced) = decoder.decode_to_utf8(bytes, &mut piece, last);
        text.push(&piece[..written]);
        bytes = &bytes[read..];
        bad |= replaced;
        if result == CoderResult::InputEmpty {
            return bad;
        }
    }
}
