//! Text in pieces to the text that is kept: white space folded, nothing else changed.
//!
//! Pieces may end anywhere, also inside a character. Every byte is written and its place decided by how
//! far an index moves, so that there is no branch on ordinary text: a byte of white space after another
//! takes its place. Only characters that begin as a wide space does are looked at one by one.
//!
//! # Invariants
//! - What is handed on is valid UTF-8 when put together: a byte that begins no character is U+FFFD, by
//!   the rules of `tokens.rs`, so that the tokens of the text are those of the document.
//! - `buffer[..used]` is text not yet handed on. It ends in white space exactly if `gap`; that is
//!   handed on only before something else.

use super::tokens::{Decoded, decode, is_continuation};

/// Text is handed on when about so much has come together; stays in the second-level cache.
const DRAIN_BYTES: usize = 64 << 10;

/// Text taken at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// A byte order mark in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// In [`FOLDED`]: a character that begins with this byte may be white space.
const WIDE: u8 = 0;

/// What a byte becomes: a space or a line feed for white space, [`WIDE`], or itself. (NUL is itself too,
/// which the table has no other way to say; it is looked at like a wide space, and is none.)
static FOLDED: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b'\n' | b'\r' => b'\n',
            b' ' | b'\t' | 0x0b | 0x0c => b' ',
            0xc2 | 0xe1 | 0xe2 | 0xe3 => WIDE,
            other => other,
        };
        b += 1;
    }
    table
};

/// The white space beyond ASCII that UTF-8 text begins with: its bytes, and what it is folded to.
fn wide_space(text: &[u8]) -> Option<(usize, u8)> {
    match text {
        [0xc2, 0x85 | 0xa0, ..] => Some((2, b' ')),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some((3, b'\n')),
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => Some((3, b' ')),
        _ => None,
    }
}

/// The text of the document being parsed.
#[derive(Debug)]
pub(super) struct Text {
    /// As large as it gets from the first document on.
    buffer: Vec<u8>,
    used: usize,
    /// The last byte is white space, to which more may come.
    gap: bool,
    /// Nothing was handed on yet: the first byte is a gap before all text, and goes.
    begins: bool,
    /// The bytes of a character that a piece ended in, so far.
    carry: [u8; 4],
    carry_len: usize,
}

impl Default for Text {
    fn default() -> Self {
        let mut text = Text {
            buffer: Vec::new(),
            used: 0,
            gap: false,
            begins: false,
            carry: [0; 4],
            carry_len: 0,
        };
        text.begin();
        text
    }
}

impl Text {
    /// Before a document is a gap.
    fn begin(&mut self) {
        self.begins = true;
        self.keep_gap(b' ');
    }

    /// Nothing but white space is in the buffer.
    fn keep_gap(&mut self, space: u8) {
        self.buffer.resize(DRAIN_BYTES + CHUNK_BYTES, 0);
        self.buffer[0] = space;
        self.used = 1;
        self.gap = true;
    }

    /// Appends a piece of UTF-8 text, which may begin and end inside a character.
    pub(super) fn push(&mut self, mut piece: &[u8], take: &mut dyn FnMut(&[u8])) {
        while self.carry_len > 0 {
            let Some((&b, rest)) = piece.split_first() else {
                return;
            };
            if !is_continuation(b) {
                self.end_carry(take);
                break;
            }
            piece = rest;
            self.carry[self.carry_len] = b;
            self.carry_len += 1;
            match decode(&self.carry[..self.carry_len]) {
                Decoded::Cut => {}
                Decoded::Char(c, _) => {
                    self.carry_len = 0;
                    self.push_valid(c.encode_utf8(&mut [0; 4]).as_bytes(), take);
                }
                Decoded::Invalid => self.end_carry(take),
            }
        }
        let mut left = piece.len();
        for chunk in piece.utf8_chunks() {
            self.push_valid(chunk.valid().as_bytes(), take);
            let invalid = chunk.invalid();
            left -= chunk.valid().len() + invalid.len();
            if invalid.is_empty() {
                continue;
            }
            if left == 0 && matches!(decode(invalid), Decoded::Cut) {
                self.carry[..invalid.len()].copy_from_slice(invalid);
                self.carry_len = invalid.len();
                return;
            }
            for _ in invalid {
                self.push_valid("\u{fffd}".as_bytes(), take);
            }
        }
    }

    /// What follows is apart from what went before.
    pub(super) fn word_break(&mut self, take: &mut dyn FnMut(&[u8])) {
        if self.carry_len > 0 {
            self.end_carry(take);
        }
        self.push_valid(b"\n", take);
    }

    /// Hands on the rest, and makes ready for the next document.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(&[u8])) {
        if self.carry_len > 0 {
            self.end_carry(take);
        }
        self.drain(take);
        self.begin();
    }

    /// A character that was cut off and does not go on.
    fn end_carry(&mut self, take: &mut dyn FnMut(&[u8])) {
        self.carry_len = 0;
        self.push_valid("\u{fffd}".as_bytes(), take);
    }

    /// Appends whole characters.
    fn push_valid(&mut self, text: &[u8], take: &mut dyn FnMut(&[u8])) {
        // A chunk may end inside a character: a wide space is looked for in all that there is.
        let mut at = 0;
        while at < text.len() {
            if self.used > DRAIN_BYTES {
                self.drain(take);
            }
            let end = text.len().min(at + CHUNK_BYTES - 1);
            while at < end {
                at = self.fold(text, at, end);
                let Some(&b) = text.get(at).filter(|_| at < end) else {
                    break;
                };
                match wide_space(&text[at..]) {
                    Some((length, folded)) => {
                        self.put(folded, true);
                        at += length;
                    }
                    None => {
                        self.put(b, false);
                        at += 1;
                    }
                }
            }
        }
    }

    /// Appends bytes of `text` from `at` to `end`, or to the first that may begin a wide space; answers
    /// where.
    #[inline]
    fn fold(&mut self, text: &[u8], at: usize, end: usize) -> usize {
        let (mut used, mut gap) = (self.used, self.gap);
        let mut last = self.buffer.get(used.wrapping_sub(1)).copied().unwrap_or(0);
        let mut taken = end - at;
        // Not more is written than there are bytes, for which there is room.
        let out = &mut self.buffer[..];
        for (i, &b) in text[at..end].iter().enumerate() {
            let folded = FOLDED[usize::from(b)];
            if folded == WIDE {
                taken = i;
                break;
            }
            let space = folded <= b' ' && (folded == b' ' || folded == b'\n');
            let more = space & gap;
            used -= usize::from(more);
            // A line feed is less than a space: of both it stays.
            last = if more { last.min(folded) } else { folded };
            out[used] = last;
            used += 1;
            gap = space;
        }
        (self.used, self.gap) = (used, gap);
        at + taken
    }

    /// Appends a byte: of a character, or what white space is folded to.
    fn put(&mut self, byte: u8, space: bool) {
        if space && self.gap {
            let last = &mut self.buffer[self.used - 1];
            *last = byte.min(*last);
        } else {
            self.buffer[self.used] = byte;
            self.used += 1;
        }
        self.gap = space;
    }

    /// Hands on all but a gap at the end.
    fn drain(&mut self, take: &mut dyn FnMut(&[u8])) {
        let end = self.used - usize::from(self.gap);
        let start = usize::from(self.begins).min(end);
        let text = &self.buffer[start..end];
        if !text.is_empty() {
            if self.begins && text.starts_with(MARK) {
                take(MARK);
            }
            take(text);
            self.begins = false;
        }
        if self.gap {
            self.keep_gap(self.buffer[self.used - 1]);
        } else {
            self.used = 0;
        }
    }
}
