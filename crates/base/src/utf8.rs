//! Decodes UTF-8 that arrives in pieces, which may end inside a character; and shows text of others
//! without its effects on a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether this byte belongs to a character but does not begin it.
pub fn is_continuation(b: u8) -> bool {
    b & 0xc0 == 0x80
}

/// Whether this character is invisible and changes how the text around it is shown: marks,
/// embeddings, overrides and isolates of the bidirectional algorithm (UAX 9), which can make a text
/// look like another; the separators that end its lines and paragraphs; tags; interlinear
/// annotations.
pub fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{e0000}'..='\u{e0fff}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether this character is deceptive, or takes no room, so that names which differ by it look
/// alike. The joiners U+200C and U+200D do so too, but words of several scripts need them.
pub fn is_hidden(c: char) -> bool {
    is_deceptive(c)
        || matches!(
            c,
            '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        )
}

/// Appends a character of a name or text that comes from elsewhere, for a terminal: escaped if it
/// controls the terminal or is hidden.
pub fn push_visible(c: char, out: &mut String) {
    if is_hidden(c) {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else if c.is_control() {
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    } else {
        out.push(c);
    }
}

/// As [`push_visible`], for lines of this program that contain such names: ends of lines and tabs
/// are kept, and hidden characters are escaped only if `all`.
pub fn visible_lines(lines: &str, all: bool) -> Cow<'_, str> {
    let hidden = |c: char| c != '\n' && c != '\t' && (c.is_control() || all && is_hidden(c));
    if !lines.contains(hidden) {
        return lines.into();
    }
    let mut out = String::with_capacity(lines.len());
    for c in lines.chars() {
        match hidden(c) {
            true => push_visible(c, &mut out),
            false => out.push(c),
        }
    }
    out.into()
}

/// The `@` behind the name and the password in an address without its scheme.
pub fn login(address: &str) -> Option<usize> {
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    // A password may have slashes, and a port has only digits.
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let has_password = || host.split_once(':').is_some_and(|(_, port)| !is_port(port));
    (host.rfind('@')).or_else(|| address.find('@').filter(|_| has_password()))
}

/// Removes secrets from the addresses that a message names: the user and password
/// (`//USER:PASSWORD@`), and the part after a `?` or `#` if it has a signature or token.
pub fn without_secrets(message: &str) -> Cow<'_, str> {
    const SECRET: [&str; 5] = ["sig", "token", "secret", "password", "credential"];
    let mut parts = message.split(":/");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'`<>".contains(c);
        let (address, after) = part.split_at(part.find(ends).unwrap_or(part.len()));
        let host = address.trim_start_matches('/');
        let (from, hidden) = login(host).map_or((0, ""), |at| (at, "..."));
        let query = host
            .find(['?', '#'])
            .map_or(host.len(), |at| at + 1)
            .max(from);
        let known = host[query..].to_lowercase();
        let is_secret = SECRET.iter().any(|word| known.contains(word));
        let query = if is_secret {
            (query, "...")
        } else {
            (host.len(), "")
        };
        let slashes = &address[..address.len() - host.len()];
        out += &[":/", slashes, hidden, &host[from..query.0], query.1, after].concat();
    }
    out.into()
}

/// The last place at or before `at` where a character of `text` begins or the text ends.
pub fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A text of at most this number of characters, and an ellipsis if it was longer.
pub fn cut_after(mut text: String, characters: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(characters) {
        text.truncate(end);
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// The beginning of a sequence of bytes.
pub enum Decoded {
    /// A character and its length in bytes.
    Char(char, usize),
    /// The bytes end inside a character.
    Cut,
    /// No character begins here.
    Invalid,
}

/// Decodes the first character of UTF-8 bytes that begin with a non-ASCII one.
#[inline]
pub fn decode(bytes: &[u8]) -> Decoded {
    let tail = |i: usize| u32::from(bytes[i] & 0x3f);
    let Some(&lead) = bytes.first() else {
        return Decoded::Cut;
    };
    let len = match lead {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Decoded::Invalid,
    };
    if bytes.len() < len {
        return if bytes[1..].iter().all(|&b| is_continuation(b)) {
            Decoded::Cut
        } else {
            Decoded::Invalid
        };
    }
    if !bytes[1..len].iter().all(|&b| is_continuation(b)) {
        return Decoded::Invalid;
    }
    let lead = u32::from(lead);
    let code = match len {
        2 => (lead & 0x1f) << 6 | tail(1),
        3 => (lead & 0x0f) << 12 | tail(1) << 6 | tail(2),
        _ => (lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3),
    };
    char::from_u32(code).map_or(Decoded::Invalid, |c| Decoded::Char(c, len))
}

/// The incomplete character at the end of a piece.
#[derive(Debug, Default)]
pub struct Carry {
    bytes: [u8; 4],
    len: usize,
}

impl Carry {
    /// Stores bytes that are [`Decoded::Cut`].
    pub fn hold(&mut self, cut: &[u8]) {
        self.bytes[..cut.len()].copy_from_slice(cut);
        self.len = cut.len();
    }

    /// Takes the rest of the stored character off the front of a piece. `None` if nothing is
    /// stored, or if the piece ends before the character does. An invalid sequence becomes U+FFFD.
    pub fn complete(&mut self, piece: &mut &[u8]) -> Option<char> {
        while self.len > 0 {
            let (&b, rest) = piece.split_first()?;
            if !is_continuation(b) {
                return self.end();
            }
            *piece = rest;
            self.bytes[self.len] = b;
            self.len += 1;
            match decode(&self.bytes[..self.len]) {
                Decoded::Cut => {}
                Decoded::Char(c, _) => {
                    self.len = 0;
                    return Some(c);
                }
                Decoded::Invalid => return self.end(),
            }
        }
        None
    }

    /// Hands over the whole characters of the next piece, and stores an incomplete one at its end. A
    /// byte that belongs to no character becomes U+FFFD.
    pub fn push(&mut self, mut piece: &[u8], mut take: impl FnMut(&str)) {
        if let Some(c) = self.complete(&mut piece) {
            take(c.encode_utf8(&mut [0; 4]));
        }
        let mut left = piece.len();
        for chunk in piece.utf8_chunks() {
            take(chunk.valid());
            let invalid = chunk.invalid();
            left -= chunk.valid().len() + invalid.len();
            if left == 0 && !invalid.is_empty() && matches!(decode(invalid), Decoded::Cut) {
                return self.hold(invalid);
            }
            for _ in invalid {
                take("\u{fffd}");
            }
        }
    }

    /// Ends the text: U+FFFD if an incomplete character is stored.
    pub fn end(&mut self) -> Option<char> {
        let held = std::mem::take(&mut self.len) > 0;
        held.then_some(char::REPLACEMENT_CHARACTER)
    }
}

/// Checks whether bytes that arrive in pieces are UTF-8.
#[derive(Debug, Default)]
pub struct Utf8Check {
    wrong: bool,
    /// The incomplete character at the end of a piece.
    cut: Vec<u8>,
}

impl Utf8Check {
    /// Checks a piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.cut.extend_from_slice(piece);
        let (valid, wrong) = match std::str::from_utf8(&self.cut) {
            Ok(text) => (text.len(), false),
            Err(error) => (error.valid_up_to(), error.error_len().is_some()),
        };
        self.wrong |= wrong;
        self.cut
            .drain(..if self.wrong { self.cut.len() } else { valid });
    }

    /// Whether all pieces together are UTF-8.
    pub fn is_valid(&self) -> bool {
        !self.wrong && self.cut.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_secrets() {
        for (message, shown) in [
            (
                "no s3://user:secret@b/k, or s3://k:se/cret@b",
                "no s3://...@b/k, or s3://...@b",
            ),
            ("`http:///u:s@h/a@b` is x", "`http:///...@h/a@b` is x"),
            (
                "https://h/a?x=1&X-Amz-Signature=secret&y=2 z",
                "https://h/a?... z",
            ),
            ("az://c/k?sv=1&sig=secret", "az://c/k?..."),
            (
                "https:/u:secret@h/a is no path",
                "https:/...@h/a is no path",
            ),
            ("https://h:80/a?b=c#token=secret", "https://h:80/a?..."),
            ("https://h:80/a?b=c", "https://h:80/a?b=c"),
            ("hf://datasets/o/n@v1/a", "hf://datasets/o/n@v1/a"),
            (
                "http://[::1]:9000/a, a@b sig=c",
                "http://[::1]:9000/a, a@b sig=c",
            ),
        ] {
            assert_eq!(without_secrets(message), shown);
        }
    }

    #[test]
    fn names_of_others_have_no_effect_on_a_terminal() {
        let line = "a\u{202e}b\u{2066}\tc\u{1b}[2J\u{9b}\n";
        let escaped = "a\\u{202e}b\\u{2066}\tc\\x1b[2J\\xc2\\x9b\n";
        assert_eq!(visible_lines(line, true), escaped);
        let alike = visible_lines(
            "d1\u{ad}\u{180e}\u{200b}\u{2060}\u{feff}\u{200c}\u{200d}",
            true,
        );
        assert_eq!(
            alike,
            "d1\\u{ad}\\u{180e}\\u{200b}\\u{2060}\\u{feff}\u{200c}\u{200d}"
        );
        let data = "a\u{202e}b\u{2066}\tc\\x1b[2J\\xc2\\x9b\n";
        assert_eq!(visible_lines(line, false), data);
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let shown = visible_lines(&text, true);
            let hidden = |c: char| is_hidden(c) || c.is_control() && !"\n\t".contains(c);
            assert!(!shown.contains(hidden), "{c:?}");
        }
    }

    /// The result does not depend on how a text is cut into pieces.
    #[test]
    fn utf8_is_told_from_pieces() {
        let texts: [&[u8]; 7] = [
            "aé€😀é".as_bytes(),
            b"plain",
            b"caf\xe9 au lait",
            b"cut \xf0\x9f\x98",
            b"\xc3\xa9\x80",
            b"\xed\xa0\x80 lone",
            b"\xf0\x9fa",
        ];
        for text in texts {
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let mut utf8 = Utf8Check::default();
                    for piece in [&text[..first], &text[first..second], &text[second..]] {
                        utf8.push(piece);
                    }
                    let whole = utf8.is_valid();
                    let expected = std::str::from_utf8(text).is_ok();
                    assert_eq!(whole, expected, "{text:02x?} at {first}, {second}");
                }
            }
        }
    }
}
