//! Decides the charset of a document and decodes its bytes to UTF-8.
//!
//! The first rule that applies wins, after the WHATWG Encoding and HTML standards:
//!
//! 1. A byte order mark.
//! 2. The charset declared by the HTTP header, by the XML declaration, or by a `<meta>` tag within
//!    the first [`PRESCAN_BYTES`]; or else by the file, before its records.
//! 3. UTF-16, if the bytes evidently are ([`lookalike_base::wide`]).
//! 4. ISO-2022-JP, if all bytes are ASCII and have its escape sequences.
//! 5. UTF-8, if the bytes are valid.
//! 6. UTF-8 that is damaged only in some places.
//! 7. The charset declared by a later `<meta>` tag, or by one behind a wrong declaration of UTF-8.
//! 8. The detector, or windows-1252.
//!
//! Labels have the meaning that the Encoding standard gives them (`latin1` is windows-1252).
//!
//! # Where we depart from the standards
//! - Bytes declared as UTF-8 that are not valid UTF-8 are treated as undeclared, with a notice, and
//!   a `<meta>` tag with another label counts: on the web such a label is a server's default far
//!   more often than the bytes are damaged. The bytes count as damaged UTF-8, declared or not, if
//!   characters of several bytes outnumber the invalid places by more than two to one: in other
//!   charsets such sequences are rare. None of the 217 pages in EUC-KR of linuxdocs-medium has a
//!   ratio above one to four. It has three other pages that are not valid UTF-8 and declare no
//!   charset; two of them have a ratio of eleven to one. A text that is only cut off inside its
//!   last character counts as UTF-8.
//! - Bytes declared as UTF-16 that are valid UTF-8 without a NUL, and ASCII with escape sequences
//!   that is declared as another Japanese charset, are treated as undeclared, with a notice.
//! - A late `<meta>` tag does not count where the bytes are UTF-8, which is better evidence.
//! - The charsets that browsers refuse to decode (`hz-gb-2312`, `iso-2022-kr` ...) count as unknown
//!   labels. So their ASCII part can be read, where browsers show nothing.

use std::io;
use std::str::Utf8Error;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    Decoder, DecoderResult, EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_1252, X_USER_DEFINED,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::doubt;
use crate::read::{Notice, RawDocument, Reason};
use crate::read::{PRESCAN_BYTES, in_its_order, is_damaged_utf8, labels};
use lookalike_base::{Wide, wide};

/// Bytes passed to the detector. That is enough text for a confident guess, and the detector reads
/// only about ten megabytes a second.
const DETECT_BYTES: usize = 4096;

/// Bytes of a longer stretch of ASCII that are passed to the detector, on either side. The others
/// say nothing of the charset.
const DETECT_ASCII: usize = 16;

/// Escape sequences among which one of ISO-2022-JP is looked for.
const MOST_ESCAPES: usize = 64;

/// Bytes after an escape sequence that must be ISO-2022-JP.
const ESCAPED_BYTES: usize = 1024;

/// Fewer bytes may be UTF-16 and valid UTF-8.
const LEAST_BYTES: usize = 8;

/// The source of a label in a `<meta>` tag.
const META: &str = "meta tag";
/// The source of the charset that a file declares before its records.
const OF_FILE: &str = "the file";

/// The source of a guess.
const DETECTOR: &str = "detector";

/// Maximum characters of a label in a notice: a label may be any bytes of any length.
const LABEL_CHARS: usize = 40;

/// The decision about a document's charset.
#[derive(Debug)]
pub(super) struct Charset {
    /// The charset to decode from.
    pub(super) coding: &'static Encoding,
    /// Length of the byte order mark, which is not part of the text.
    pub(super) start: usize,
    /// Whether the bytes from `start` on are UTF-8 already.
    pub(super) as_is: bool,
    /// Whether this is markup that begins with an XML declaration.
    pub(super) xml: bool,
    /// The origin of the label, for the notice about bytes that are not in the charset.
    pub(super) source: &'static str,
}

/// Decides the charset and adds problems with a declaration, or with the text that results, to
/// `notices`.
pub(super) fn decide(
    document: &RawDocument<'_>,
    detector: bool,
    notices: &mut Vec<Notice>,
) -> Charset {
    let (mark, start) = match &document.body[..] {
        [0xef, 0xbb, 0xbf, ..] => (Some(UTF_8), 3),
        body => match Wide::of_mark(body) {
            Some(wide) => (Some(encoding_of(wide)), wide::WIDTH),
            None => (None, 0),
        },
    };
    let text = &document.body[start..];
    let ascii = Encoding::ascii_valid_up_to(text);
    let charset = choose(document, (text, ascii), mark, detector, notices);
    let charset = Charset { start, ..charset };
    let doubt = match charset.coding {
        _ if charset.as_is => {
            let told = |notice: &Notice| notice.0 == Reason::InvalidBytes;
            doubt::of(text, ascii, document.notices.iter().any(told))
        }
        coding if coding == UTF_8 => None,
        coding => {
            let from = match coding.is_ascii_compatible() {
                true => ascii,
                false => 0,
            };
            let end = text.len().min(from + doubt::LOOK);
            let mut sample = vec![0; 2 * doubt::LOOK];
            let length = Decoding::of(coding, &text[from..end], 0).next_piece(&mut sample);
            doubt::of(&sample[..length], 0, true)
        }
    };
    // Different bytes become the same characters if each is guessed to be in another charset.
    let guessed = charset.source == DETECTOR && charset.coding != WINDOWS_1252;
    let guess = || {
        let name = charset.coding.name();
        let detail = format!("{name} is a guess from a few bytes; convert the text to UTF-8");
        (guessed && !doubt::says_enough(&text[ascii..])).then_some(detail)
    };
    let told = |notice: &Notice| notice.0 == Reason::DoubtfulText;
    if let Some(detail) = doubt.or_else(guess)
        && !notices.iter().any(told)
    {
        notices.push((Reason::DoubtfulText, detail));
    }
    charset
}

/// Decides by the text behind the mark. Its first `ascii` bytes are ASCII.
fn choose(
    document: &RawDocument<'_>,
    (text, ascii): (&[u8], usize),
    mark: Option<&'static Encoding>,
    detector: bool,
    notices: &mut Vec<Notice>,
) -> Charset {
    let markup = document.content.is_markup();
    let utf8 = std::str::from_utf8(&text[ascii..]);
    let mut charset = Charset {
        coding: UTF_8,
        start: 0,
        as_is: false,
        xml: markup && is_xml(text),
        source: "byte order mark",
    };
    let mut declared = match mark {
        Some(coding) => Some(coding),
        None => declared(document, text, markup, notices).map(|(coding, source)| {
            charset.source = source;
            in_its_order(coding, text)
        }),
    };
    if let (Some(coding), None, Ok(_)) = (declared, mark, utf8)
        && contradicts(coding, text, ascii)
    {
        let (name, source) = (coding.name(), charset.source);
        notices.push((
            Reason::WrongCharset,
            format!("{name} by {source}, but the bytes are not"),
        ));
        declared = None;
    }
    if declared.is_none()
        && let Some(wide) = Wide::of_evidence(text)
    {
        (charset.coding, charset.source) = (encoding_of(wide), "its first bytes");
        return charset;
    }
    let is_ascii = ascii == text.len() && declared.is_none_or(Encoding::is_ascii_compatible);
    match is_ascii.then(|| escapes_in(text)).flatten() {
        Some(Escapes::Japanese) if declared.is_none() => {
            charset.coding = ISO_2022_JP;
            charset.source = "its escape sequences";
            return charset;
        }
        Some(Escapes::Other(names)) => {
            let detail = format!("escape sequences of {names} are not decoded");
            notices.push((Reason::DoubtfulText, detail));
        }
        _ => {}
    }
    let error = match (declared, utf8) {
        (declared, Ok(_)) if declared.is_none_or(|coding| coding == UTF_8) => {
            charset.as_is = true;
            return charset;
        }
        (Some(coding), utf8) if coding != UTF_8 || mark.is_some() => {
            charset.coding = coding;
            charset.as_is = coding.is_ascii_compatible() && ascii == text.len();
            if utf8.is_ok() && coding.is_ascii_compatible() && doubt::says_enough(&text[ascii..]) {
                let (name, source) = (coding.name(), charset.source);
                let detail = format!("{name} by {source}, but all its bytes are UTF-8");
                notices.push((Reason::DoubtfulText, detail));
            }
            return charset;
        }
        (_, Ok(_)) => return charset,
        (_, Err(error)) => error,
    };
    let found = (declared, ascii, error);
    not_utf8(document, text, found, detector, charset, notices)
}

/// The charset of a text that is undeclared, or declared as UTF-8, and is not valid UTF-8.
fn not_utf8(
    document: &RawDocument<'_>,
    text: &[u8],
    (mut declared, ascii, error): (Option<&'static Encoding>, usize, Utf8Error),
    detector: bool,
    mut charset: Charset,
    notices: &mut Vec<Notice>,
) -> Charset {
    let valid = ascii + error.valid_up_to();
    if error.error_len().is_none() && valid > ascii {
        return charset;
    }
    if is_damaged_utf8(text) {
        if declared.is_none() {
            charset.source = "most of its bytes";
        }
        return charset;
    }
    let mut other = None;
    if document.content.is_markup() && charset.source != META {
        let late = first_label(labels(text, true), |coding| coding != UTF_8, notices);
        other = late.filter(|coding| *coding != UTF_8);
        if declared.is_none() {
            charset.source = META;
            declared = late.xor(other);
        }
    }
    if declared.is_some() {
        let start = document.body.len() - text.len();
        notices.push((
            Reason::WrongCharset,
            format!(
                "UTF-8 by {}, but byte {} is not",
                charset.source,
                start + valid
            ),
        ));
    }
    (charset.source, charset.coding) = match other.or(document.of_file.filter(|it| *it != UTF_8)) {
        Some(coding) if other.is_none() => (OF_FILE, coding),
        Some(coding) => (META, coding),
        None if detector => (DETECTOR, detect(text)),
        None => ("default", WINDOWS_1252),
    };
    charset
}

/// Whether text that is valid UTF-8 is certainly not in the charset that it declares.
fn contradicts(coding: &'static Encoding, text: &[u8], ascii: usize) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    if is_utf16(coding) {
        return text.len() >= LEAST_BYTES && !text.iter().any(is_control);
    }
    [SHIFT_JIS, EUC_JP].contains(&coding)
        && ascii == text.len()
        && escapes_in(text) == Some(Escapes::Japanese)
}

fn is_utf16(coding: &'static Encoding) -> bool {
    [UTF_16LE, UTF_16BE].contains(&coding)
}

fn encoding_of(wide: Wide) -> &'static Encoding {
    match wide {
        Wide::Utf16Le => UTF_16LE,
        Wide::Utf16Be => UTF_16BE,
    }
}

/// The charsets that escape sequences of ISO-2022 in ASCII begin.
#[derive(PartialEq)]
enum Escapes {
    Japanese,
    /// Characters of others, which are not decoded.
    Other(&'static str),
}

/// The characters of HZ that make sure that it is HZ.
const LEAST_HZ: usize = 2;

/// Whether these are characters of HZ (RFC 1843), behind `~{` and before `~}`.
fn is_hz(text: &[u8]) -> bool {
    let (characters, _) = text.as_chunks();
    let is = |[row, cell]: &&[u8; 2]| (0x21..0x78).contains(row) && (0x21..0x7f).contains(cell);
    let count = characters.iter().take_while(is).count();
    count >= LEAST_HZ && text[2 * count..].starts_with(b"~}")
}

/// Whether ASCII has an escape sequence that begins Japanese characters, and is ISO-2022-JP from
/// there on; or another one of ISO-2022.
fn escapes_in(text: &[u8]) -> Option<Escapes> {
    let escapes = memchr::memchr2_iter(b'\x1b', b'~', text);
    let escapes = escapes.filter(|&at| text[at] != b'~' || text[at + 1..].starts_with(b"{"));
    for at in escapes.take(MOST_ESCAPES) {
        match text[at + 1..] {
            [b'{', ref rest @ ..] if is_hz(rest) => return Some(Escapes::Other("HZ")),
            [b'$', b'B' | b'@', ..] | [b'(', b'I', ..] => {
                let sample = &text[at..text.len().min(at + ESCAPED_BYTES)];
                let mut decoder = ISO_2022_JP.new_decoder_without_bom_handling();
                let mut out = [0; 3 * ESCAPED_BYTES];
                let (result, ..) =
                    decoder.decode_to_utf8_without_replacement(sample, &mut out, false);
                return (result == DecoderResult::InputEmpty).then_some(Escapes::Japanese);
            }
            [b'$', b')', b'A' | b'C' | b'G', ..] => {
                return Some(Escapes::Other("ISO-2022-KR or ISO-2022-CN"));
            }
            _ => {}
        }
    }
    None
}

/// The charset of a label, or a notice that there is none.
fn of_label(label: &[u8], source: &str, notices: &mut Vec<Notice>) -> Option<&'static Encoding> {
    let label = label.trim_ascii();
    let known = Encoding::for_label_no_replacement(label);
    if known.is_none() && !label.is_empty() {
        let shown: String = String::from_utf8_lossy(label)
            .chars()
            .take(LABEL_CHARS)
            .collect();
        notices.push((
            Reason::WrongCharset,
            format!("label {shown:?} of the {source} is not known"),
        ));
    }
    known
}

/// A declaration that can be read as ASCII is not in UTF-16, even if it names UTF-16.
fn readable(coding: &'static Encoding) -> &'static Encoding {
    if is_utf16(coding) { UTF_8 } else { coding }
}

/// The charset that the first known label declares; if there is none, the charset that the file
/// declares.
fn declared(
    document: &RawDocument<'_>,
    text: &[u8],
    markup: bool,
    notices: &mut Vec<Notice>,
) -> Option<(&'static Encoding, &'static str)> {
    if let Some(label) = &document.charset {
        let label = label.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'');
        let label = label.as_bytes();
        if let Some(coding) = of_label(label, "header", notices) {
            return Some((coding, "header"));
        }
    }
    let of_file = document.of_file.map(|coding| (coding, OF_FILE));
    if !markup {
        return of_file;
    }
    let head = &text[..text.len().min(PRESCAN_BYTES)];
    // The standard looks at only three characters in UTF-16.
    let coding = match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(UTF_16BE),
        _ if is_xml(head) => xml_label(head)
            .and_then(|label| of_label(label, "XML declaration", notices))
            .map(readable),
        _ => None,
    };
    if let Some(coding) = coding {
        return Some((coding, "XML declaration"));
    }
    let own = first_label(labels(text, false), |_| true, notices);
    own.map(|coding| (coding, META)).or(of_file)
}

/// The first label of a `<meta>` tag that is `wanted`, or else a known one. Only the first unknown one
/// gives a notice, and that once.
fn first_label<'a>(
    labels: impl Iterator<Item = &'a [u8]>,
    wanted: impl Fn(&'static Encoding) -> bool,
    notices: &mut Vec<Notice>,
) -> Option<&'static Encoding> {
    let (mut unknown, mut known) = (Vec::new(), None);
    for label in labels {
        let found = of_label(label, META, &mut unknown).map(|coding| match coding {
            coding if coding == X_USER_DEFINED => WINDOWS_1252,
            coding => readable(coding),
        });
        unknown.truncate(1);
        known = found.or(known);
        if found.is_some_and(&wanted) {
            break;
        }
    }
    unknown.retain(|notice| !notices.contains(notice));
    notices.append(&mut unknown);
    known
}

/// Guesses the charset from the first parts of the text that are not ASCII.
fn detect(text: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut at = Encoding::ascii_valid_up_to(text).saturating_sub(DETECT_ASCII);
    let mut left = DETECT_BYTES;
    while left > 0 && at < text.len() {
        // Up to the next long stretch of ASCII.
        let part = &text[at..text.len().min(at + left)];
        let mut end = 0;
        while end < part.len() {
            let ascii = Encoding::ascii_valid_up_to(&part[end..]);
            if ascii > 2 * DETECT_ASCII {
                end += DETECT_ASCII;
                break;
            }
            let other = part[end + ascii..].iter().position(u8::is_ascii);
            end += ascii + other.unwrap_or(part.len() - end - ascii);
        }
        detector.feed(&part[..end], false);
        left -= end;
        at += end;
        let ascii = Encoding::ascii_valid_up_to(&text[at..]);
        at += ascii.saturating_sub(DETECT_ASCII);
    }
    detector.feed(&[], true);
    detector.guess(None, Utf8Detection::Allow)
}

/// Whether the text begins with the whole name of an XML declaration, in units of any width. Other
/// processing instructions begin with a part of it.
fn is_xml(text: &[u8]) -> bool {
    // The position of an ASCII character's byte in a unit.
    let (width, at) = match text {
        [0, ..] => (2, 1),
        [_, 0, ..] => (2, 0),
        _ => (1, 0),
    };
    let mut name = [0; 6];
    for (byte, unit) in name.iter_mut().zip(text.chunks_exact(width)) {
        if unit.iter().map(|&b| u32::from(b != 0)).sum::<u32>() == 1 {
            *byte = unit[at];
        }
    }
    name[..5].eq_ignore_ascii_case(b"<?xml") && name[5].is_ascii_whitespace()
}

/// The value of `encoding` in an XML declaration (HTML standard, "get an XML encoding").
fn xml_label(head: &[u8]) -> Option<&[u8]> {
    let declaration = &head[..memchr::memchr(b'>', head)?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let rest = declaration[at + b"encoding".len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let (&quote, rest) = rest.split_first()?;
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    Some(&rest[..memchr::memchr(quote, rest)?])
}

/// Decodes in pieces, so that memory never has two copies of a large body.
pub(super) struct Decoding<'a> {
    decoder: Decoder,
    input: &'a [u8],
    /// Number of bytes of `input` that are decoded, and of the body before `input`.
    read: usize,
    before: usize,
    done: bool,
    /// Offset in the body of the first byte that is invalid in the charset.
    first_malformed: Option<usize>,
    /// A hash of the bytes that were replaced.
    replaced: u64,
}

impl<'a> Decoding<'a> {
    /// Decodes bytes that have this number of bytes before them.
    pub(super) fn of(coding: &'static Encoding, input: &'a [u8], before: usize) -> Self {
        Decoding {
            decoder: coding.new_decoder_without_bom_handling(),
            input,
            read: 0,
            before,
            done: false,
            first_malformed: None,
            replaced: 0,
        }
    }

    /// Writes the next piece as UTF-8 to the beginning of `out`; returns 0 at the end. `out` needs
    /// room for several characters, at least 16 bytes.
    pub(super) fn next_piece(&mut self, out: &mut [u8]) -> usize {
        const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
        let mut written = 0;
        // Reserve room for a replacement character, which is added to the decoder's output.
        while !self.done && out.len() - written >= 16 {
            let room = out.len() - REPLACEMENT.len();
            let (result, read, wrote) = self.decoder.decode_to_utf8_without_replacement(
                &self.input[self.read..],
                &mut out[written..room],
                true,
            );
            self.read += read;
            written += wrote;
            match result {
                DecoderResult::InputEmpty => self.done = true,
                DecoderResult::OutputFull => break,
                DecoderResult::Malformed(length, after) => {
                    let end = self.read.saturating_sub(after.into());
                    let at = end.saturating_sub(length.into());
                    self.replaced = xxh3_64_with_seed(&self.input[at..end], self.replaced);
                    self.first_malformed.get_or_insert(self.before + at);
                    out[written..written + REPLACEMENT.len()].copy_from_slice(REPLACEMENT);
                    written += REPLACEMENT.len();
                }
            }
        }
        written
    }

    /// To be called after the last piece: the notice if bytes were replaced, which `replaced` has a
    /// hash of.
    pub(super) fn notice(&self, charset: &Charset, replaced: &mut u64) -> Option<Notice> {
        let at = self.first_malformed?;
        *replaced = replaced.rotate_left(1) ^ self.replaced;
        let (name, source) = (charset.coding.name(), charset.source);
        Some((
            Reason::InvalidBytes,
            format!("{name} by {source}, but byte {at} is not"),
        ))
    }
}

impl io::Read for Decoding<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Ok(self.next_piece(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_labels_are_found() {
        for (html, label) in [
            ("<meta charset=utf-8>", Some("utf-8")),
            ("<META CHARSET = 'a b' >", Some("a b")),
            ("<meta\ncharset=\"x\"/>", Some("x")),
            ("<meta/charset=x>", Some("x")),
            ("<meta charset=x charset=y>", Some("x")),
            (
                "<meta content='text/html;charset=x' http-equiv=content-type>",
                Some("x"),
            ),
            (
                "<meta http-equiv=Content-Type content='a; charset = \"x\"'>",
                Some("x"),
            ),
            (
                "<meta http-equiv=Content-Type content='charset charset=x;y'>",
                Some("x"),
            ),
            ("<meta content='text/html; charset=x'>", None),
            ("<meta http-equiv=refresh content='0; charset=x'>", None),
            ("<metal charset=x>", None),
            ("</meta charset=x>", None),
            ("<!-- <meta charset=x> --><meta charset=y>", Some("y")),
            ("<!--><meta charset=x>", Some("x")),
            ("<!doctype <meta charset=x><meta charset=y>", Some("y")),
            ("<?x <meta charset=x><meta charset=y>", Some("y")),
            ("<a title='<meta charset=x>'><meta charset=y>", Some("y")),
            ("<a <meta charset=x>", None),
            ("<meta charset=x", None),
            ("<meta charset='x", None),
            ("<meta =charset=x>", None),
            ("< meta charset=x>", None),
            ("<", None),
            ("", None),
        ] {
            let found = labels(html.as_bytes(), false)
                .next()
                .map(|l| String::from_utf8_lossy(l).into_owned());
            assert_eq!(found.as_deref(), label, "{html}");
        }
    }

    #[test]
    fn xml_is_told_alike_in_every_width() {
        for (text, xml) in [
            ("<?xml version='1.0'?>", true),
            ("<?XML\n?>", true),
            ("<?xml", false),
            ("<?xml-stylesheet?>", false),
            ("<?xpacket begin=''?>", false),
            ("<?x", false),
            ("", false),
        ] {
            let wide = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
            let (little, big): (Vec<u8>, Vec<u8>) =
                (wide(u16::to_le_bytes), wide(u16::to_be_bytes));
            for bytes in [text.as_bytes(), &little, &big] {
                assert_eq!(is_xml(bytes), xml, "{text} {bytes:?}");
            }
        }
    }

    #[test]
    fn xml_labels_are_found() {
        for (xml, label) in [
            ("<?xml version='1.0' encoding = \"x\" ?>", Some("x")),
            ("<?xml encoding='x'?>", Some("x")),
            ("<?xml version='1.0'?><a encoding='x'>", None),
            ("<?xml encoding=x?>", None),
            ("<?xml encoding='x?>", None),
            ("<?xml encoding", None),
        ] {
            let found = xml_label(xml.as_bytes()).map(|l| String::from_utf8_lossy(l).into_owned());
            assert_eq!(found.as_deref(), label, "{xml}");
        }
    }

    #[test]
    fn decoding_in_pieces_is_decoding() {
        let text = "a日本é漢\u{20000} ".repeat(500);
        for label in ["shift_jis", "gb18030", "utf-16le", "iso-2022-jp", "utf-8"] {
            let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
                unreachable!()
            };
            let mut body: Vec<u8> = if label == "utf-16le" {
                text.encode_utf16().flat_map(u16::to_le_bytes).collect()
            } else {
                encoding.encode(&text).0.into_owned()
            };
            body.extend_from_slice(b"\xff\xff\x81");
            let expected = encoding.decode_without_bom_handling(&body).0;
            let mut first = None;
            for room in [16, 17, 40, 5000] {
                let charset = Charset {
                    coding: encoding,
                    start: 0,
                    as_is: false,
                    xml: false,
                    source: "test",
                };
                let mut decoding =
                    Decoding::of(charset.coding, &body[charset.start..], charset.start);
                let (mut out, mut found) = (vec![0; room], Vec::new());
                loop {
                    let length = decoding.next_piece(&mut out);
                    if length == 0 {
                        break;
                    }
                    found.extend_from_slice(&out[..length]);
                }
                assert!(found == expected.as_bytes(), "{label} {room}");
                let mut replaced = 0;
                assert!(decoding.notice(&charset, &mut replaced).is_some());
                assert!(*first.get_or_insert(replaced) == replaced && replaced != 0);
            }
        }
    }
}
