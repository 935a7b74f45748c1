//! Text in UTF-16: how it is recognised, decoded to UTF-8, and written again. UTF-32 is recognised,
//! so that it can be rejected by name.
//!
//! # Recognition
//! A byte order mark, or evidence in the first [`LOOK`] bytes: decoded, they are text without
//! control characters, at least one character in [`ASCII_SHARE`] is ASCII, and zeros are where the
//! zeros of ASCII characters are. Other encodings of text have no zeros at all. Chinese, Japanese and
//! Korean may have no ASCII: nearly all characters are theirs, and the bytes have controls and are not
//! UTF-8, which excludes the other encodings of these languages.
//!
//! # Decoding
//! A surrogate without its partner becomes U+FFFD, like half a unit at the end. The faithful form
//! has other bytes in their place, of the same number, from which [`WideEncoder`] makes the
//! original ones again: so a file can be written again without some of its records, at the places
//! that a reader of the file found.
//!
//! # Other encodings in the text
//! Programs append to a file without looking at its encoding. [`FOREIGN`] units that follow each
//! other, without repetitions, with spaces or line ends among them, are such a text if their
//! bytes are UTF-8 without controls, or if they are ASCII in the other order of bytes.

use crate::keywords::keywords;

/// Bytes in which evidence is looked for.
pub const LOOK: usize = 4 << 10;

/// If there is evidence, one of this many bytes is zero. Most documents are not examined further.
const LOOK_ZERO: usize = 64;

/// Text without a byte order mark needs one ASCII character, such as a space, in this many.
const ASCII_SHARE: usize = 16;

/// Text without a byte order mark needs this many characters, and without ASCII in it that many.
const LEAST_CHARACTERS: usize = 8;
const LEAST_EASTERN: usize = 16;

/// Without ASCII, it has a control character among this many bytes.
const LOOK_CONTROL: usize = 256;

/// Units of a text in another encoding. Half of the units of Japanese text look so, but spaces.
const FOREIGN: usize = 32;
/// Units with a space or a line end among them.
const FOREIGN_SPACES: usize = 2;

/// Bytes of a unit.
pub const WIDTH: usize = 2;

/// The most bytes that a step gives: U+FFFD for a surrogate, and the unit or half unit after it.
const MOST: usize = 6;

keywords! {
    /// An encoding with units of more than one byte.
    pub enum Wide {
        Utf16Le = "UTF-16LE",
        Utf16Be = "UTF-16BE",
    }
}

/// The name of UTF-32, which is not decoded, if the bytes begin with its byte order mark or are
/// evidently text in it: characters, some of them ASCII, and no other control characters.
pub fn utf32(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => return Some("UTF-32LE"),
        [0, 0, 0xfe, 0xff, ..] => return Some("UTF-32BE"),
        _ => {}
    }
    let (units, _) = bytes[..bytes.len().min(LOOK)].as_chunks();
    let is_text = |code: fn([u8; 4]) -> u32| {
        let codes = || units.iter().map(|unit| code(*unit));
        let is_used = |c: char| !c.is_control() || "\t\n\u{c}\r".contains(c);
        units.len() >= LEAST_CHARACTERS
            && codes().all(|code| char::from_u32(code).is_some_and(is_used))
            && codes().filter(|code| *code < 0x80).count() * ASCII_SHARE >= units.len()
    };
    match () {
        () if is_text(u32::from_le_bytes) => Some("UTF-32LE"),
        () if is_text(u32::from_be_bytes) => Some("UTF-32BE"),
        () => None,
    }
}

impl Wide {
    /// The encoding whose byte order mark these bytes begin with.
    pub fn of_mark(bytes: &[u8]) -> Option<Wide> {
        match bytes {
            // UTF-32. It could be UTF-16 that begins with NUL, which text does not.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(Wide::Utf16Le),
            [0xfe, 0xff, ..] => Some(Wide::Utf16Be),
            _ => None,
        }
    }

    /// The encoding by a byte order mark or by evidence.
    pub fn of(bytes: &[u8]) -> Option<Wide> {
        Wide::of_mark(bytes).or_else(|| Wide::of_evidence(bytes))
    }

    /// The encoding by evidence.
    pub fn of_evidence(bytes: &[u8]) -> Option<Wide> {
        let head = &bytes[..bytes.len().min(LOOK)];
        let most = |eastern: bool| {
            let found = Wide::ALL.map(|wide| (wide.evidence(head, eastern), wide));
            let (most, wide) = found.into_iter().max_by_key(|(most, _)| *most)?;
            (most? > 0).then_some(wide)
        };
        if memchr::memchr(0, &head[..head.len().min(LOOK_ZERO)]).is_some()
            && let Some(wide) = most(false)
        {
            return Some(wide);
        }
        let is_control = |byte: &u8| *byte < b' ' && !is_printable(byte) && *byte != 0x1b;
        // All of them, which takes a few vectors: to stop at the first one takes a step for each byte.
        let first = &head[..head.len().min(LOOK_CONTROL)];
        let controls = first
            .iter()
            .fold(false, |found, byte| found | is_control(byte));
        let is_utf8 =
            || std::str::from_utf8(head).map_or_else(|e| e.error_len().is_none(), |_| true);
        (controls && !is_utf8()).then(|| most(true))?
    }

    /// The number of ASCII characters in the text, or of characters of Chinese, Japanese and Korean;
    /// `None` if this is not evidently text.
    fn evidence(self, head: &[u8], eastern: bool) -> Option<usize> {
        let (mut characters, mut ascii, mut zeros, mut pairs) = (0, 0, 0, 0);
        let (mut high, mut east) = (false, 0);
        for bytes in head.as_chunks::<WIDTH>().0 {
            let unit = self.unit(*bytes);
            let low = (0xdc00..0xe000).contains(&unit);
            if std::mem::take(&mut high) != low {
                return None;
            }
            if low {
                continue;
            }
            high = (0xd800..0xdc00).contains(&unit);
            characters += 1;
            east += usize::from(matches!(
                unit,
                0x3000..0x3100 | 0x4e00..0xa000 | 0xac00..0xd7a4 | 0xff00..0xfff0
            ));
            match unit {
                9 | 10 | 12 | 13 | 0x20..0x7f => ascii += 1,
                _ if high => {}
                // Controls, surrogates, private use, noncharacters.
                0..0xa0 | 0xd800..0xf900 | 0xfdd0..0xfdf0 | 0xfffe.. => {
                    return None;
                }
                // U+4E00 is the most frequent character of many texts.
                0x4e00 => {}
                // A zero where ASCII characters have none.
                _ if unit & 0xff == 0 => zeros += 1,
                _ => pairs += usize::from(bytes.iter().all(is_printable)),
            }
        }
        // Two ASCII characters look like a Chinese one: these may be names with a zero after each.
        let others = characters - ascii - zeros;
        if 2 * pairs > ascii && pairs * ASCII_SHARE > others * (ASCII_SHARE - 1) {
            return None;
        }
        if eastern {
            let few = |count| count * ASCII_SHARE <= characters;
            let enough = characters >= LEAST_EASTERN && few(characters - ascii - east);
            return (enough && few(zeros)).then_some(east);
        }
        let enough = characters >= LEAST_CHARACTERS && ascii * ASCII_SHARE >= characters;
        (enough && ascii >= 4 * zeros).then_some(ascii)
    }

    fn unit(self, bytes: [u8; WIDTH]) -> u32 {
        u32::from(match self {
            Wide::Utf16Le => u16::from_le_bytes(bytes),
            Wide::Utf16Be => u16::from_be_bytes(bytes),
        })
    }

    fn put_unit(self, unit: u32, out: &mut Vec<u8>) {
        match self {
            Wide::Utf16Le => out.extend((unit as u16).to_le_bytes()),
            Wide::Utf16Be => out.extend((unit as u16).to_be_bytes()),
        }
    }
}

/// Whether this is a character of ASCII text.
fn is_printable(byte: &u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')
}

/// Decodes text that comes in pieces, which may end anywhere.
#[derive(Debug)]
pub struct WideDecoder {
    wide: Wide,
    faithful: bool,
    /// The first byte of a unit.
    held: Option<u8>,
    /// A surrogate that waits for its partner.
    high: Option<u32>,
    read: u64,
    written: u64,
    malformed: Option<Malformed>,
    foreign: Foreign,
}

/// The first text in another encoding.
#[derive(Debug, Default)]
struct Foreign {
    found: Option<(Malformed, &'static str)>,
    /// The unit before, and units that are UTF-8, or ASCII in the other order, up to it.
    before: [u8; WIDTH],
    runs: [Run; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    length: usize,
    spaces: usize,
    /// Bytes of a character of UTF-8 that are to come.
    more: u8,
    begin: Malformed,
}

impl Foreign {
    fn push(&mut self, wide: Wide, bytes: [u8; WIDTH], at: Malformed) {
        if self.found.is_some() {
            return;
        }
        // Characters that are repeated, such as leaders, make no text.
        if std::mem::replace(&mut self.before, bytes) == bytes {
            return;
        }
        let swapped = wide.unit([bytes[1], bytes[0]]);
        // Below are scripts that have a line end or a tab in each unit.
        let is = [
            wide.unit(bytes) >= 0x2000,
            u8::try_from(swapped).is_ok_and(|byte| is_printable(&byte)),
        ];
        for (of, run) in self.runs.iter_mut().enumerate() {
            let mut is = is[of];
            for &byte in bytes.iter().filter(|_| of == 0) {
                let more = match byte {
                    0xc2..=0xdf => 1,
                    0xe0..=0xef => 2,
                    0xf0..=0xf4 => 3,
                    _ => 0,
                };
                is &= match byte {
                    0x80..0xc0 => run.more > 0,
                    _ => run.more == 0 && (more > 0 || is_printable(&byte)),
                };
                run.more = match byte {
                    0x80..0xc0 => run.more.saturating_sub(1),
                    _ => more,
                };
            }
            if !is {
                *run = Run::default();
                continue;
            }
            if run.length == 0 {
                run.begin = at;
            }
            run.length += 1;
            run.spaces += usize::from(bytes.iter().any(|byte| b" \n".contains(byte)));
            if run.length >= FOREIGN && run.spaces >= FOREIGN_SPACES {
                let other = match wide {
                    Wide::Utf16Le => Wide::Utf16Be,
                    Wide::Utf16Be => Wide::Utf16Le,
                };
                self.found = Some((run.begin, [UTF_8, other.text()][of]));
            }
        }
    }
}

const UTF_8: &str = "UTF-8 or ASCII";

/// Where in a text that is not UTF-16 a text in it begins: units of ASCII that follow each other,
/// with spaces or line ends among them.
pub fn wide_within(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    for nul in memchr::memchr_iter(0, text) {
        if nul < from {
            continue;
        }
        // The zeros are every other byte from here on, in either order.
        let (units, _) = text[nul.saturating_sub(1)..].as_chunks::<WIDTH>();
        let is_ascii = |unit: &&[u8; WIDTH]| unit[1] == 0 && is_printable(&unit[0]);
        let run = units.iter().take_while(is_ascii).count();
        let run = &units[..run];
        let spaces = run.iter().filter(|unit| b" \n".contains(&unit[0]));
        if run.len() >= FOREIGN && spaces.count() >= FOREIGN_SPACES {
            return Some(nul.saturating_sub(1));
        }
        from = nul + WIDTH * run.len();
    }
    None
}

/// Where the first bytes are that are not text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Malformed {
    /// In the bytes that were decoded.
    pub from: u64,
    /// In the text.
    pub to: u64,
}

impl WideDecoder {
    pub fn new(wide: Wide) -> Self {
        WideDecoder {
            wide,
            faithful: false,
            held: None,
            high: None,
            read: 0,
            written: 0,
            malformed: None,
            foreign: Foreign::default(),
        }
    }

    /// A decoder into the form from which a [`WideEncoder`] makes the same bytes again.
    pub fn faithful(wide: Wide) -> Self {
        WideDecoder {
            faithful: true,
            ..WideDecoder::new(wide)
        }
    }

    pub fn wide(&self) -> Wide {
        self.wide
    }

    /// The place of the first bytes that are not text, in the part that was read so far.
    pub fn malformed(&self) -> Option<Malformed> {
        self.malformed
    }

    /// The place and the encoding of the first text in another one, in the part that was read so
    /// far.
    pub fn foreign(&self) -> Option<(Malformed, &'static str)> {
        self.foreign.found
    }

    /// Decodes as much as there is room for, which must be at least 16 bytes; returns the number of
    /// bytes read and written. With `last`, nothing follows the input. All of it is decoded when a
    /// call returns zeros.
    pub fn decode(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> (usize, usize) {
        let (mut at, mut made) = (0, 0);
        while out.len() - made >= MOST {
            match (self.held.take(), &input[at..]) {
                (Some(first), &[second, ..]) => {
                    self.advance(1, &mut at);
                    self.put([first, second], out, &mut made);
                }
                (None, &[first, second, ..]) => {
                    self.advance(2, &mut at);
                    self.put([first, second], out, &mut made);
                }
                (None, &[first]) => {
                    self.advance(1, &mut at);
                    self.held = Some(first);
                }
                (held, []) => {
                    self.held = held;
                    if last {
                        self.finish(out, &mut made);
                    }
                    break;
                }
            }
        }
        (at, made)
    }

    fn advance(&mut self, bytes: usize, at: &mut usize) {
        *at += bytes;
        self.read += bytes as u64;
    }

    /// Writes what waits for more, of which there is none.
    fn finish(&mut self, out: &mut [u8], made: &mut usize) {
        let held = self.held.take();
        if let Some(high) = self.high.take() {
            self.put_lone(high, 2 + u64::from(held.is_some()), out, made);
        }
        if let Some(byte) = held {
            self.put_malformed([RAW, 0x80 | byte >> 4, 0x80 | byte & 15], 1, out, made);
        }
    }

    fn put(&mut self, bytes: [u8; WIDTH], out: &mut [u8], made: &mut usize) {
        let unit = self.wide.unit(bytes);
        let mut code = unit;
        let at = Malformed {
            from: self.read - WIDTH as u64,
            to: self.written,
        };
        self.foreign.push(self.wide, bytes, at);
        if let Some(high) = self.high.take() {
            if (0xdc00..0xe000).contains(&unit) {
                code = 0x1_0000 + ((high - 0xd800) << 10 | (unit - 0xdc00));
            } else {
                self.put_lone(high, 4, out, made);
            }
        }
        match char::from_u32(code) {
            Some(c) => {
                let length = c.encode_utf8(&mut out[*made..]).len();
                *made += length;
                self.written += length as u64;
            }
            None if code < 0xdc00 => self.high = Some(code),
            None => self.put_lone(code, 2, out, made),
        }
    }

    /// Writes a surrogate without a partner, `before` bytes before the last byte read.
    fn put_lone(&mut self, unit: u32, before: u64, out: &mut [u8], made: &mut usize) {
        let bits = |shift: u32| 0x80 | (unit >> shift & 0x3f) as u8;
        let faithful = [0xe0 | (unit >> 12) as u8, bits(6), bits(0)];
        self.put_malformed(faithful, before, out, made);
    }

    /// Writes 3 bytes for some that are not text.
    fn put_malformed(&mut self, faithful: [u8; 3], before: u64, out: &mut [u8], made: &mut usize) {
        let at = Malformed {
            from: self.read - before,
            to: self.written,
        };
        self.malformed.get_or_insert(at);
        self.written += 3;
        let bytes = match self.faithful {
            true => faithful,
            false => *b"\xef\xbf\xbd",
        };
        out[*made..*made + 3].copy_from_slice(&bytes);
        *made += 3;
    }
}

/// In the faithful form, this begins a byte that belongs to no character.
const RAW: u8 = 0xff;

/// Writes text in the faithful form as the bytes that it was decoded from.
#[derive(Debug)]
pub struct WideEncoder {
    wide: Wide,
    /// Whether a byte order mark is still to be written, unless the text begins with it.
    mark: bool,
    /// The first bytes of a character.
    held: Vec<u8>,
}

impl WideEncoder {
    /// With `mark`, the bytes begin with a byte order mark.
    pub fn new(wide: Wide, mark: bool) -> Self {
        WideEncoder {
            wide,
            mark,
            held: Vec::new(),
        }
    }

    /// Appends the encoded text to `out`.
    pub fn encode(&mut self, text: &[u8], out: &mut Vec<u8>) {
        for &byte in text {
            self.held.push(byte);
            let (length, lead) = match self.held[0] {
                lead @ 0xe0..0xf0 => (3, lead & 0x0f),
                RAW => (3, 0),
                lead @ 0xf0.. => (4, lead & 0x07),
                lead @ 0xc0.. => (2, lead & 0x1f),
                lead => (1, lead),
            };
            if self.held.len() < length {
                continue;
            }
            let tail = &self.held[1..];
            if self.held[0] == RAW {
                out.push(tail[0] << 4 | tail[1] & 15);
            } else {
                let join = |code: u32, byte: &u8| code << 6 | u32::from(byte & 0x3f);
                let code = tail.iter().fold(u32::from(lead), join);
                if std::mem::take(&mut self.mark) && code != 0xfeff {
                    self.wide.put_unit(0xfeff, out);
                }
                if code >= 0x1_0000 {
                    let code = code - 0x1_0000;
                    self.wide.put_unit(0xd800 + (code >> 10), out);
                    self.wide.put_unit(0xdc00 + (code & 0x3ff), out);
                } else {
                    self.wide.put_unit(code, out);
                }
            }
            self.held.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(wide: Wide, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        WideEncoder::new(wide, false).encode(text.as_bytes(), &mut out);
        out
    }

    fn decoded(mut decoder: WideDecoder, bytes: &[u8], each: usize, room: usize) -> Vec<u8> {
        let (mut text, mut out) = (Vec::new(), vec![0; room]);
        for (i, piece) in bytes.chunks(each).chain([&[][..]]).enumerate() {
            let last = i == bytes.len().div_ceil(each);
            let mut piece = piece;
            loop {
                let (read, made) = decoder.decode(piece, last, &mut out);
                piece = &piece[read..];
                text.extend_from_slice(&out[..made]);
                if (read, made) == (0, 0) {
                    break;
                }
            }
            assert!(piece.is_empty());
        }
        text
    }

    #[test]
    fn text_is_recognised_by_evidence_and_by_marks() {
        let texts = [
            "The quick brown fox",
            "Съешь же ещё этих мягких французских булок",
            "第一章 一个人\n第二章 一天\n",
            "{\"id\":1}\n",
            "𝒳 and 😀 beyond the plane",
        ];
        for text in texts {
            for (name, code) in [
                ("UTF-32LE", u32::to_le_bytes as fn(u32) -> [u8; 4]),
                ("UTF-32BE", u32::to_be_bytes),
            ] {
                let bytes = |text: &str| -> Vec<u8> {
                    text.chars().flat_map(|c| code(u32::from(c))).collect()
                };
                for bytes in [bytes(text), bytes(&format!("\u{feff}{text}"))] {
                    assert_eq!(
                        (utf32(&bytes), Wide::of(&bytes)),
                        (Some(name), None),
                        "{text}"
                    );
                }
            }
            for wide in Wide::ALL {
                let bytes = encoded(wide, text);
                assert_eq!(Wide::of(&bytes), Some(wide), "{text} {wide:?}");
                assert_eq!(utf32(&bytes), None, "{text}");
                let marked = encoded(wide, &format!("\u{feff}{text}"));
                assert_eq!(Wide::of_mark(&marked), Some(wide));
            }
            assert_eq!(Wide::of(text.as_bytes()), None);
        }
        // Without ASCII.
        for text in [
            "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
            "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。\n",
            "모든인간은태어날때부터자유로우며그존엄과권리에있어동등하다",
            "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。",
        ] {
            for wide in Wide::ALL {
                assert_eq!(
                    Wide::of(&encoded(wide, text)),
                    Some(wide),
                    "{text} {wide:?}"
                );
            }
        }
        let many_names: Vec<u8> = (0..400u32)
            .flat_map(|n| format!("{}\0", n * n).into_bytes())
            .collect();
        for other in [
            &b""[..],
            b"a\0b\0",
            b"\0\0\0\0\0\0\0\0",
            b"name\0\0\0\0other\0\0\0",
            b"a\0b\0c\0\x01\0d\0e\0",
            b"text with a \0 in it",
            // EUC-KR, Shift_JIS with a control, and ISO-2022-KR.
            b"\xb8\xf0\xb5\xe7\xc0\xce\xb0\xa3\xc0\xba\xc5\xc2\xbe\xee\xb3\xaf\xb6\xa7\xba\xce\xc5\xcd\xc0\xda\xc0\xaf\xb7\xce\xbf\xec\xb8\xe7\xb1\xd7",
            b"\x8c\xe1\x94y\x82\xcd\x94L\x82\xc5\x82\xa0\x82\xe9\x81B\x01\x96\xbc\x91O\x82\xcd\x82\xdc\x82\xbe\x96\xb3\x82\xa2\x81B\x82\xc7",
            b"\x1b$)C\x0e8pg@N0#3@:EBeo\x0f\x0e8pg@N0#3@:EBeo\x0f\x0e8pg@N0#3@:EBeo\x0f",
            b"one\0 stray NUL in a text that goes on and on and on and on and on and on and on",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0",
            &many_names,
        ] {
            assert_eq!(
                (Wide::of(other), utf32(other)),
                (None, None),
                "{:?}",
                other.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn what_is_no_text_is_replaced_and_can_be_written_again() {
        for (wide, bytes, text, from) in [
            (Wide::Utf16Le, &b"a\0\0\xd8b\0"[..], "a\u{fffd}b", 2),
            (
                Wide::Utf16Be,
                b"\0a\xd8\0\xd8\0\xdc\0",
                "a\u{fffd}\u{10000}",
                2,
            ),
            (Wide::Utf16Le, b"a\0\0\xd8", "a\u{fffd}", 2),
            (Wide::Utf16Le, b"a\0\0\xdcb", "a\u{fffd}\u{fffd}", 2),
            (Wide::Utf16Le, b"a\0\n", "a\u{fffd}", 2),
        ] {
            let mut decoder = WideDecoder::new(wide);
            let mut out = [0; 64];
            let (read, made) = decoder.decode(bytes, true, &mut out);
            assert_eq!(read, bytes.len());
            assert_eq!(std::str::from_utf8(&out[..made]).unwrap(), text);
            let at = Malformed { from, to: 1 };
            assert_eq!(decoder.malformed(), Some(at), "{text}");
        }
    }

    /// Programs append to a file without looking at its encoding.
    #[test]
    fn another_encoding_in_the_text_is_found() {
        let japanese = "これは日本語の文章です。\n第一章《はじめに》…………………………………………………………一一一\n";
        let hindi = "सभीमनुष्योंकोगौरवऔरअधिकारोंकेमामलेमेंजन्मजातस्वतन्त्रता\n";
        let english = "It goes on in another encoding, and nobody looks at that before.\r\n";
        let russian = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n";
        for wide in Wide::ALL {
            let foreign = |bytes: &[u8]| {
                let mut decoder = WideDecoder::new(wide);
                decoder.decode(bytes, true, &mut vec![0; 3 * bytes.len() + 16]);
                decoder.foreign()
            };
            for first in [japanese, hindi, english, russian] {
                let mut bytes = encoded(wide, first);
                let length = bytes.len() as u64;
                assert_eq!(foreign(&bytes), None, "{first}");
                bytes.extend(encoded(wide, english));
                assert_eq!(foreign(&bytes), None, "{first}");
                let other = Wide::ALL.into_iter().find(|other| *other != wide).unwrap();
                for (behind, name) in [
                    (english.as_bytes().to_vec(), UTF_8),
                    (russian.as_bytes().to_vec(), UTF_8),
                    (encoded(other, english), other.text()),
                ] {
                    let bytes = [encoded(wide, first), behind].concat();
                    let (at, found) = foreign(&bytes).unwrap();
                    assert_eq!(found, name, "{first}");
                    assert!(at.from.abs_diff(length) <= 4, "{first} {name} {at:?}");
                }
            }
            let bytes = [english.as_bytes(), &encoded(wide, english)].concat();
            let at = wide_within(&bytes).unwrap();
            assert!(at.abs_diff(english.len()) < 2, "{at}");
            assert_eq!(wide_within(&bytes[..english.len() + 40]), None);
        }
    }

    #[test]
    fn a_mark_is_written_once() {
        for (text, mark, units) in [
            ("a", true, &b"\xff\xfea\0"[..]),
            ("\u{feff}a", true, b"\xff\xfea\0"),
            ("a", false, b"a\0"),
            ("", true, b""),
        ] {
            let mut out = Vec::new();
            WideEncoder::new(Wide::Utf16Le, mark).encode(text.as_bytes(), &mut out);
            assert_eq!(out, units, "{text} {mark}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_and_written_again(
            units in prop::collection::vec(
                prop_oneof![
                    any::<u32>(), 0u32..0x80, 0xd7f0u32..0xe010,
                ], 0..40),
            tail in prop::collection::vec(any::<u8>(), 0..2),
            wide in prop::sample::select(Wide::ALL.to_vec()),
            each in 1usize..9,
            room in 16usize..40,
        ) {
            let mut bytes = Vec::new();
            for unit in units {
                wide.put_unit(unit, &mut bytes);
            }
            bytes.extend(tail);
            let text = decoded(WideDecoder::new(wide), &bytes, each, room);
            prop_assert!(std::str::from_utf8(&text).is_ok());
            let faithful = decoded(WideDecoder::faithful(wide), &bytes, each, room);
            prop_assert_eq!(faithful.len(), text.len());
            let mut again = Vec::new();
            let mut encoder = WideEncoder::new(wide, false);
            faithful.chunks(each).for_each(|piece| encoder.encode(piece, &mut again));
            prop_assert_eq!(again, bytes.clone());
            let oracle = match wide {
                Wide::Utf16Le => encoding_rs::UTF_16LE,
                Wide::Utf16Be => encoding_rs::UTF_16BE,
            };
            // A surrogate and half a unit at the end are one error for the other decoder.
            if bytes.len() % 2 == 0 {
                let expected = oracle.decode_without_bom_handling(&bytes).0;
                prop_assert_eq!(expected.as_bytes(), &text[..]);
            }
        }
    }
}
