//! Detects the type of a file or a body from its first bytes.

use super::bytes::trim_front;
use super::source::compression_of;
use crate::base::wide::{self, Wide, WideDecoder};

/// Number of bytes examined to distinguish text from binary data.
pub(super) const LOOK_BINARY: usize = 8 << 10;

/// Magic numbers of file types that are not text.
const MAGICS: [(&[u8], &str); 32] = [
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"%PDF-", "a PDF file"),
    (b"{\\rtf", "an RTF document"),
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
    (b"ARROW1\0\0", "an Arrow or Feather table"),
    (b"Obj\x01", "an Avro table"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
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
    if let Some(name) = wide::utf32(bytes) {
        return Some(format!("a text in {name}"));
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

/// Why bytes that begin like a text in UTF-16 are none.
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
