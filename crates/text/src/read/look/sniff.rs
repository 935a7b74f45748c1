//! Detects the type of a file or a body from its first bytes.

use super::tags::{Tags, local};
use crate::read::ground::bytes::{first_line, is_one_of, trim_front};
use crate::read::ground::fields::is_page;
use crate::read::ground::record::ContentKind;
use lookalike_base::{Wide, WideDecoder, wide, words};
use lookalike_source::compression_of;

/// Number of bytes examined to distinguish text from binary data.
pub(crate) const LOOK_BINARY: usize = 8 << 10;

/// Bytes in which the first element of markup is looked for.
const LOOK_ROOT: usize = 64 << 10;

/// Magic numbers of file types that are not text.
const MAGICS: [(&[u8], &str); 50] = [
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"%PDF-", "a PDF file"),
    (b"{\\rtf", "an RTF document"),
    (
        b"PK\x03\x04",
        "a ZIP archive or an office document; unpack it (unzip), or use --convert",
    ),
    (b"PK\x07\x08", "a ZIP archive in parts; unpack it (7z x)"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x7fELF", "an ELF program"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old office document",
    ),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it (unrar x)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it (7z x)"),
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
    (
        b"ARROW1\0\0",
        "an Arrow or Feather table; write it as Parquet",
    ),
    (
        b"\xff\xff\xff\xff",
        "perhaps an Arrow stream; write it as Parquet",
    ),
    (
        b"FEA1\0",
        "a Feather table of version 1; write it as Parquet",
    ),
    (b"SEQ\x06", "a Hadoop sequence file"),
    (
        b"!BDN",
        "an Outlook mailbox; readpst -r writes it as mailboxes",
    ),
    (b"\xcf\xad\x12\xfe", "an Outlook Express mailbox"),
    (b"AT&TFORM", "a DjVu document"),
    (b"\xffWPC", "a WordPerfect document"),
    (b"ITSF\x03", "a compiled help file"),
    (b"bplist00", "a binary property list"),
    (
        b"\xde\x12\x04\x95",
        "a gettext catalogue; msgunfmt writes it as text",
    ),
    (b"\xed\xab\xee\xdb", "an RPM package"),
    (b"MSCF\0\0\0\0", "a cabinet file"),
    (b"\0asm", "a WebAssembly module"),
    (b"8BPS\0", "a Photoshop image"),
    (b"GGUF\x03\0", "the weights of a model"),
    (b"Obj\x01", "an Avro table"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\xca\xfe\xba\xbe\0", "a Java class"),
    (b"!<arch>\ndebian", "a Debian package"),
    (b"!<arch>\n", "an ar archive"),
    (b"!<thin>\n", "an ar archive"),
];

/// The type of a file that is not text, or the bytes that show that it is not text.
pub(crate) fn binary_kind(bytes: &[u8]) -> Option<String> {
    if let Some((_, name)) = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some((*name).to_string());
    }
    let found = match bytes.get(..12).unwrap_or_default() {
        [b'R', b'I', b'F', b'F', ..] => Some("a RIFF file (audio, film or image)"),
        _ if is_tar(bytes) => Some("a tar archive; unpack it (tar xf)"),
        _ if is_cpio(bytes) => Some("a cpio archive; unpack it (cpio -i)"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("an MP4 film"),
        _ => None,
    };
    if let Some(name) = found {
        return Some(name.into());
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
    // A text with a few NULs has mistakes in it; in UTF-16, every other byte of ASCII text is 0.
    if nuls * 8 > head.len() || nuls > 2 && nuls * 64 > head.len() {
        return Some(format!("{nuls} of the first {} bytes are NUL", head.len()));
    }
    let controls = controls_in(head);
    if controls * 10 > head.len() {
        let shifts = [&b"\x1b$)C"[..], b"\x1b$)A", b"\x1b$)G"];
        let is_text = shifts
            .iter()
            .any(|shift| memchr::memmem::find(head, shift).is_some());
        return Some(match is_text {
            true => {
                "a text in ISO-2022-KR or ISO-2022-CN, which are not decoded; convert it".into()
            }
            false => format!(
                "{controls} of the first {} bytes are control characters",
                head.len()
            ),
        });
    }
    None
}

/// Like [`binary_kind`], but for a whole file: if there is a NUL, all else must be text, and there
/// are no numbers, whose first bytes are 0.
pub(crate) fn binary_file_kind(bytes: &[u8]) -> Option<String> {
    binary_kind(bytes).or_else(|| {
        let head = &bytes[..bytes.len().min(LOOK_BINARY)];
        let nul = memchr::memchr(0, head)?;
        let odd = !surely_text(head) || memchr::memmem::find(head, &[0; 3]).is_some();
        (Wide::of(bytes).is_none() && odd).then(|| format!("byte {nul} is NUL"))
    })
}

/// Whether this is the header of a cpio archive, whose numbers have digits: octal (POSIX 1003.1) or
/// hexadecimal ones.
fn is_cpio(bytes: &[u8]) -> bool {
    const HEADER: usize = 76;
    let magic = [b"070707", b"070701", b"070702"];
    magic.iter().any(|magic| bytes.starts_with(*magic))
        && (bytes.get(..HEADER)).is_some_and(|header| header.iter().all(u8::is_ascii_hexdigit))
}

/// Whether this is the header of a tar archive (POSIX 1003.1, pax): the sum of its bytes, with
/// spaces in the place of the sum, is what it states. Some writers added signed bytes.
fn is_tar(bytes: &[u8]) -> bool {
    const SUM: std::ops::Range<usize> = 148..156;
    let Some(header) = bytes.get(..512) else {
        return false;
    };
    let stated = header[SUM].trim_ascii();
    let stated = stated.strip_suffix(b"\0").unwrap_or(stated).trim_ascii();
    let stated = std::str::from_utf8(stated).map(|digits| i64::from_str_radix(digits, 8));
    let bytes = header[..SUM.start].iter().chain(&header[SUM.end..]);
    let sum = |value: fn(u8) -> i64| bytes.clone().map(|&byte| value(byte)).sum::<i64>() + 8 * 32;
    let (plain, signed) = (sum(i64::from), sum(|byte| i64::from(byte as i8)));
    matches!(stated, Ok(Ok(stated)) if stated == plain || stated == signed)
}

/// The kind of a text that is about other files and has no text of its own.
pub(crate) fn index_kind(bytes: &[u8]) -> Option<&'static str> {
    let is_place = |line: &[u8]| {
        let mut words = line.split(|&byte| byte == b' ');
        let (key, date) = (words.next(), words.next().unwrap_or_default());
        let digits = date.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let dated = digits == 14 && matches!(date.get(digits), None | Some(b'\t'));
        dated && key.is_some_and(|key| memchr::memmem::find(key, b")/").is_some())
    };
    let line = first_line(bytes);
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let is_index = line.trim_ascii_start().starts_with(b"CDX ")
        || line.starts_with(b"!OpenWayback-CDXJ ")
        || lines
            .find(|line| !line.starts_with(b"!"))
            .is_some_and(is_place);
    is_index.then_some("an index of web archives (CDX), which has no texts; the archives are read")
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
pub(crate) fn controls_in(bytes: &[u8]) -> usize {
    let flag = |byte: &u8| u8::from(is_control(*byte));
    let sum = |chunk: &[u8]| chunk.iter().map(flag).sum::<u8>();
    // A sum of 255 flags fits a byte.
    bytes.chunks(255).map(sum).map(usize::from).sum()
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
pub(crate) fn surely_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(LOOK_BINARY)];
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The examined range may end inside a character.
        Err(error) => error.valid_up_to() + 4 > head.len(),
    };
    let controls = controls_in(head);
    // In compressed bytes, one in ten is a control character.
    if valid {
        controls * 10 <= head.len()
    } else {
        controls * 50 <= head.len()
    }
}

/// The elements with which a stretch of HTML may begin.
const HTML: [&str; 74] = words(
    "html head body title meta link base style script noscript template frameset frame div p span a \
     b i u s em strong small big sub sup font center table caption thead tbody tr td th ul ol li dl \
     dt dd h1 h2 h3 h4 h5 h6 hr br img pre form input select button textarea iframe nav main header \
     footer aside blockquote code tt svg math embed label fieldset figure video marquee",
);

/// Whether markup without a declared type is XML: it has a declaration, or its first element is
/// unknown to HTML and closes at the end.
pub(crate) fn kind_of_markup(bytes: &[u8]) -> ContentKind {
    let start = trim_front(bytes);
    let root = Tags::of(&start[..start.len().min(LOOK_ROOT)]).next();
    let Some(root) = root.filter(|root| !is_page(start) && !is_one_of(local(root.name), &HTML))
    else {
        return ContentKind::Markup;
    };
    let is_bound = memchr::memmem::find(root.attributes, b"xmlns").is_some();
    let close = start.trim_ascii_end().strip_suffix(b">");
    let close = close.and_then(|rest| rest.trim_ascii_end().strip_suffix(root.name));
    let closes = close.is_some_and(|rest| rest.ends_with(b"</"));
    match start.starts_with(b"<?xml") || is_bound || closes && !root.name.contains(&b':') {
        true => ContentKind::Xml,
        false => ContentKind::Markup,
    }
}

/// Whether the bytes begin like markup: with a tag, a declaration or a comment.
pub(crate) fn looks_like_markup(bytes: &[u8]) -> bool {
    match trim_front(bytes) {
        [b'<', b'!' | b'?' | b'/', ..] => true,
        [b'<', letter, rest @ ..] if letter.is_ascii_alphabetic() => {
            memchr::memchr(b'>', &rest[..rest.len().min(1024)]).is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_tells_xml_from_html() {
        for (text, xml) in [
            ("<play><title>a</title></play>\n", true),
            ("<?xml version='1.0'?><play>", true),
            ("<play xmlns='urn:x'>", true),
            ("<x:play xmlns:x='urn:x'>", true),
            ("<article>a</article >", true),
            ("<!-- <p> --><play>a</play>", true),
            ("<play>a", false),
            ("<x:play>a</x:play>", false),
            ("<!DOCTYPE html><app>a</app>", false),
            ("<?xml version='1.0'?><html>", false),
            ("<svg xmlns='http://www.w3.org/2000/svg'></svg>", false),
            ("<P>a</P>", false),
            ("a", false),
        ] {
            let expected = if xml {
                ContentKind::Xml
            } else {
                ContentKind::Markup
            };
            assert_eq!(kind_of_markup(text.as_bytes()), expected, "{text}");
        }
    }
}
