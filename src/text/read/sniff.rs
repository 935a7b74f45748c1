//! Detects the type of a file or a body from its first bytes.

use super::archive::{is_arc_line, is_warc_line};
use super::config::Format;
use super::frame_mbox::begins_message;
use super::frame_trec::Tag;
use super::mail;
use super::source::compression_of;
use crate::base::keywords::keywords;
use crate::base::wide::{Wide, WideDecoder};

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Number of bytes examined to distinguish text from binary data.
pub(super) const LOOK_BINARY: usize = 8 << 10;

/// Magic numbers of file types that are not text.
const MAGICS: [(&[u8], &str); 27] = [
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x7fELF", "an ELF program"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old office document",
    ),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x04\x22\x4d\x18", "an LZ4 stream"),
    (b"LZIP\x01", "an lzip stream"),
    (b"ID3\x03", "an MP3 file"),
    (b"ID3\x04", "an MP3 file"),
    (b"OggS\0", "an Ogg file"),
    (b"fLaC\0", "a FLAC file"),
    (b"\x1aE\xdf\xa3", "a Matroska file"),
    (b"FWS\x05", "a Flash film"),
    (b"CWS\x06", "a Flash film"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\xca\xfe\xba\xbe\0", "a Java class"),
    (b"!<arch>\ndebian", "a Debian package"),
];

/// The type of a file that is not text, or the bytes that show that it is not text.
pub(super) fn binary_kind(bytes: &[u8]) -> Option<String> {
    if let Some((_, name)) = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some((*name).to_string());
    }
    if bytes.starts_with(b"RIFF") && bytes.len() >= 12 {
        return Some("a RIFF file (audio, film or image)".into());
    }
    if bytes.len() >= 262 && bytes[257..262] == *b"ustar" {
        return Some("a tar archive".into());
    }
    if bytes.len() >= 12 && bytes[4..8] == *b"ftyp" {
        return Some("an MP4 film".into());
    }
    if let Some(name) = compression_of(bytes) {
        return Some(format!("a {name} stream"));
    }
    if let Some(wide) = Wide::of(bytes) {
        return wide_kind(wide, bytes);
    }
    let head = &bytes[..bytes.len().min(LOOK_BINARY)];
    let nuls = memchr::memchr_iter(0, head).count();
    // A page with one NUL has a mistake in it; in UTF-16, every other byte of ASCII text is 0.
    if nuls * 64 > head.len() {
        return Some(format!("{nuls} of the first {} bytes are NUL", head.len()));
    }
    let controls = controls_in(head);
    if controls * 10 > head.len() {
        return Some(format!(
            "{controls} of the first {} bytes are control characters",
            head.len()
        ));
    }
    None
}

/// Like [`binary_kind`], but for a whole file: one NUL suffices, because text files have none.
pub(super) fn binary_file_kind(bytes: &[u8]) -> Option<String> {
    binary_kind(bytes).or_else(|| {
        let head = &bytes[..bytes.len().min(LOOK_BINARY)];
        let nul = memchr::memchr(0, head)?;
        Wide::of(bytes)
            .is_none()
            .then(|| format!("byte {nul} is NUL"))
    })
}

/// Whether this is a control character that text does not use. Escape begins the shifts of
/// ISO-2022; form feed and backspace occur in manuals.
///
/// Written without short-circuit operators, so that the count is vectorised.
fn is_control(byte: u8) -> bool {
    let used = (byte == b'\t')
        | (byte == b'\n')
        | (byte == b'\r')
        | (byte == 8)
        | (byte == 12)
        | (byte == 27);
    ((byte < 32) & !used) | (byte == 127)
}

/// The number of control characters among these bytes that text does not use.
fn controls_in(bytes: &[u8]) -> usize {
    // A sum of 255 flags fits a byte.
    bytes
        .chunks(255)
        .map(|chunk| {
            usize::from(
                chunk
                    .iter()
                    .map(|&byte| u8::from(is_control(byte)))
                    .sum::<u8>(),
            )
        })
        .sum()
}

/// Why bytes that begin like a text in UTF-16 or UTF-32 are none.
fn wide_kind(wide: Wide, bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(LOOK_BINARY)];
    let mut text = vec![0; 3 * head.len() + 16];
    let (_, length) = WideDecoder::new(wide).decode(head, false, &mut text);
    let text = String::from_utf8_lossy(&text[..length]);
    let is_odd = |c: &char| *c == char::REPLACEMENT_CHARACTER || (*c < ' ' && is_control(*c as u8));
    let (odd, all) = (text.chars().filter(is_odd).count(), text.chars().count());
    (odd * 10 > all).then(|| {
        let name = wide.text();
        format!("it begins like {name}, and {odd} of the first {all} characters are not text")
    })
}

/// Whether this is text with such certainty that it cannot be a compressed stream.
pub(super) fn surely_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(LOOK_BINARY)];
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The examined range may end inside a character.
        Err(error) => error.valid_up_to() + 4 > head.len(),
    };
    let controls = head
        .iter()
        .filter(|&&byte| byte == 0 || is_control(byte))
        .count();
    // In compressed bytes, one in ten is a control character.
    if valid {
        controls * 10 <= head.len()
    } else {
        controls * 50 <= head.len()
    }
}

/// Skips a UTF-8 byte order mark and white space.
pub(super) fn trim_front(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii_start()
}

/// Whether the bytes begin like markup: with a tag, a declaration or a comment.
pub(super) fn looks_like_markup(bytes: &[u8]) -> bool {
    match trim_front(bytes) {
        [b'<', b'!' | b'?' | b'/', ..] => true,
        [b'<', letter, rest @ ..] if letter.is_ascii_alphabetic() => {
            memchr::memchr(b'>', &rest[..rest.len().min(1024)]).is_some()
        }
        _ => false,
    }
}

keywords! {
    /// The format of an input: what its records are cut by.
    pub(crate) enum Container {
        Trec = "TREC",
        Reuters = "Reuters-21578",
        Warc = "WARC",
        Arc = "ARC",
        Json = "JSON",
        Mbox = "mbox",
        Mail = "mail",
        Table = "CSV or TSV",
        Parquet = "Parquet",
        /// Markup that is split at the elements of one name.
        Elements = "markup split by --record",
        Plain = "text or HTML",
    }
}

/// The container whose beginning these first bytes are.
pub(super) fn container_of(head: &[u8]) -> Container {
    let at = trim_front(head);
    if is_warc_line(at) {
        return Container::Warc;
    }
    if is_arc_line(at) {
        return Container::Arc;
    }
    // A mailbox begins with its first message; plain text may also begin with `From `.
    let lines = head.strip_prefix(MARK).unwrap_or(head);
    let first = lines.iter().position(|byte| !matches!(byte, b'\r' | b'\n'));
    if begins_message(&lines[first.unwrap_or_default()..], true) {
        return Container::Mbox;
    }
    // The separator of JSON text sequences.
    match at.strip_prefix(b"\x1e").unwrap_or(at) {
        [b'{', rest @ ..] if matches!(rest.trim_ascii_start(), [b'"' | b'}', ..]) => {
            return Container::Json;
        }
        [b'[', rest @ ..] => {
            let rest = rest.trim_ascii_start();
            if rest.starts_with(b"{") || rest == b"]" {
                return Container::Json;
            }
        }
        _ => {}
    }
    match Tag::of(at) {
        Some(tag) if tag.is_reuters() => Container::Reuters,
        Some(_) => Container::Trec,
        None if mail::begins_parts(head.strip_prefix(MARK).unwrap_or(head)) => Container::Mail,
        None => Container::Plain,
    }
}

/// Whether an object of JSON begins at the beginning of one of these lines, as far as they go: with
/// a name and a colon, or without a member.
pub(super) fn can_be_json(head: &[u8]) -> bool {
    let begins = |line: &[u8]| {
        let line = line.trim_ascii_start();
        let line = line.strip_prefix(b"\x1e").unwrap_or(line);
        let line = line.strip_prefix(b"[").unwrap_or(line);
        let [b'{', rest @ ..] = line.trim_ascii_start() else {
            return false;
        };
        match rest.trim_ascii_start() {
            [] | [b'}', ..] => true,
            [b'"', rest @ ..] => {
                let mut at = 0;
                while let Some(found) = memchr::memchr2(b'"', b'\\', &rest[at.min(rest.len())..]) {
                    at += found;
                    if rest[at] == b'"' {
                        return matches!(rest[at + 1..].trim_ascii_start(), [] | [b':', ..]);
                    }
                    at += 2;
                }
                true
            }
            _ => false,
        }
    };
    let head = trim_front(head);
    begins(head) || memchr::memchr_iter(b'\n', head).any(|at| begins(&head[at + 1..]))
}

/// The last extension of a file name, in lower case, ignoring the extension of its compression.
pub(super) fn extension_of(name: &str) -> String {
    let name = name
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(name)
        .to_ascii_lowercase();
    let mut parts = name.rsplit('.');
    let last = parts.next().unwrap_or_default();
    let extension = match last {
        "gz" | "z" | "bz2" | "xz" | "zst" | "zstd" => parts.next().unwrap_or_default(),
        _ => last,
    };
    extension.to_string()
}

/// The format that a file's extension implies, for files with inconclusive content.
pub(super) fn format_of_extension(extension: &str) -> Option<Format> {
    match extension {
        "txt" | "text" | "md" | "markdown" | "rst" | "adoc" | "org" | "log" => Some(Format::Text),
        "html" | "htm" | "xhtml" | "shtml" | "xml" | "sgml" | "sgm" => Some(Format::Html),
        "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
        "csv" => Some(Format::Csv),
        "tsv" => Some(Format::Tsv),
        "mbox" | "mbx" => Some(Format::Mbox),
        "eml" | "mht" | "mhtml" => Some(Format::Eml),
        "warc" | "wet" => Some(Format::Warc),
        "arc" => Some(Format::Arc),
        _ => None,
    }
}
