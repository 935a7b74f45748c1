//! Lines, words and names in bytes.

use std::borrow::Cow;

use encoding_rs::{DecoderResult, Encoding, UTF_16BE, UTF_16LE};
use lookalike_base::Wide;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The byte order mark of UTF-8.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The charset of a text that declares this one: UTF-16 in the order of its bytes, which its label
/// often leaves open.
pub(crate) fn in_its_order(declared: &'static Encoding, text: &[u8]) -> &'static Encoding {
    match declared == UTF_16LE && Wide::of_evidence(text) == Some(Wide::Utf16Be) {
        true => UTF_16BE,
        false => declared,
    }
}

/// Whether most of the non-ASCII bytes are in UTF-8.
pub(crate) fn is_damaged_utf8(text: &[u8]) -> bool {
    let (mut characters, mut damages) = (0u64, 0u64);
    for chunk in text.utf8_chunks() {
        let leads = chunk.valid().bytes().filter(|&byte| byte >= 0xc0);
        characters += leads.count() as u64;
        damages += u64::from(!chunk.invalid().is_empty());
    }
    characters > 2 * damages
}

/// A hash of the bytes that are invalid in a charset, continued from `hash`; of them alone, so that the
/// same damage is the same in every format.
pub(crate) fn invalid(charset: &'static Encoding, bytes: &[u8], mut hash: u64) -> u64 {
    let mut decoder = charset.new_decoder_without_bom_handling();
    let (mut rest, mut out) = (bytes, [0; 1 << 10]);
    loop {
        let (result, read, _) = decoder.decode_to_utf8_without_replacement(rest, &mut out, true);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            DecoderResult::InputEmpty => return hash,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(length, after) => {
                let end = bytes.len() - rest.len() - usize::from(after);
                let begin = end.saturating_sub(length.into());
                hash = xxh3_64_with_seed(&bytes[begin..end], hash);
            }
        }
    }
}

/// The number of white-space characters that these bytes begin with.
pub(crate) fn spaces(bytes: &[u8]) -> usize {
    let is_space = |byte: &&u8| byte.is_ascii_whitespace();
    bytes.iter().take_while(is_space).count()
}

/// A line without its line end.
pub(crate) fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Where the next line begins: behind LF, CRLF or CR.
pub(crate) fn next_line(bytes: &[u8]) -> Option<usize> {
    let at = memchr::memchr2(b'\n', b'\r', bytes)?;
    if bytes[at] == b'\n' {
        return Some(at + 1);
    }
    // Some programs write a CR too many.
    let returns = bytes[at..].iter().take_while(|byte| **byte == b'\r');
    let end = at + returns.count();
    Some(match bytes.get(end) {
        Some(b'\n') => end + 1,
        _ => at + 1,
    })
}

/// The first line of these bytes, without its line end.
pub(crate) fn first_line(bytes: &[u8]) -> &[u8] {
    trim_line(&bytes[..memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)])
}

/// A value as text, with bytes that are not UTF-8 replaced and folded lines joined.
pub(crate) fn text_of(value: &[u8]) -> Cow<'_, str> {
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

/// A value without the angle brackets around it.
pub(crate) fn unbracket(value: &[u8]) -> &[u8] {
    let value = value.strip_prefix(b"<").unwrap_or(value);
    value.strip_suffix(b">").unwrap_or(value).trim_ascii()
}

/// Skips a UTF-8 byte order mark and white space.
pub(crate) fn trim_front(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii_start()
}

/// Whether these bytes begin with others, in any case.
pub(crate) fn begins_any_case(bytes: &[u8], prefix: &[u8]) -> bool {
    let begin = bytes.get(..prefix.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// The first place of these bytes in any case.
pub(crate) fn find_any_case(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let (&first, _) = needle.split_first()?;
    let is = |&at: &usize| begins_any_case(&bytes[at..], needle);
    memchr::memchr2_iter(
        first.to_ascii_lowercase(),
        first.to_ascii_uppercase(),
        bytes,
    )
    .find(is)
}

/// Appends a text as markup.
pub(crate) fn escape(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            byte => out.push(byte),
        }
    }
}

/// Whether a name is one of these, in any case.
pub(crate) fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names
        .iter()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}
