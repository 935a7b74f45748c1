//! Classifies a block of text as bits: what each byte becomes, and which bytes separate.
//!
//! The loops over [`LANES`] bytes have no branches, so the compiler turns them into vector
//! instructions on any machine.

/// Bytes of text processed at a time. Room is made once per block, so that the inner loops never
/// grow a buffer.
pub(super) const BLOCK: usize = 4096;

/// Number of bytes whose bits share one word.
pub(super) const LANES: usize = 64;

const WORDS_IN_BLOCK: usize = BLOCK / LANES;

/// The masks of one block.
#[derive(Debug)]
pub(super) struct Masks {
    /// The output for each byte, with a space for each separator, and [`LANES`] spare bytes for
    /// reads beyond the end.
    text: [u8; BLOCK + LANES],
    space: [u64; WORDS_IN_BLOCK],
    slow: [u64; WORDS_IN_BLOCK],
}

impl Default for Masks {
    fn default() -> Self {
        Masks {
            text: [0; BLOCK + LANES],
            space: [0; WORDS_IN_BLOCK],
            slow: [0; WORDS_IN_BLOCK],
        }
    }
}

impl Masks {
    /// Classifies a block of at most [`BLOCK`] bytes, by the table of words or of white space
    /// (`class.rs`); with `hyphens`, a hyphen is not settled.
    pub(super) fn set(&mut self, block: &[u8], words: bool, hyphens: bool) {
        match (words, hyphens) {
            // Two loops: without hyphens, no byte is compared with one.
            (true, false) => self.set_by(block, |b| word_byte(b, false), true),
            (true, true) => self.set_by(block, |b| word_byte(b, true), true),
            (false, _) => self.set_by(block, whitespace_byte, false),
        }
    }

    /// For word `i` of the block: which bytes become spaces, and which are not settled here or lie
    /// behind the end of the block.
    #[inline]
    pub(super) fn bits(&self, i: usize) -> (u64, u64) {
        match (self.space.get(i), self.slow.get(i)) {
            (Some(&space), Some(&slow)) => (space, slow),
            _ => (0, u64::MAX),
        }
    }

    /// The output bytes of word `i` and of the next word.
    #[inline]
    pub(super) fn text(&self, i: usize) -> Option<&[u8; 2 * LANES]> {
        self.text.get(i * LANES..)?.first_chunk()
    }

    #[inline(always)]
    fn set_by(&mut self, block: &[u8], byte: impl Fn(u8) -> (u8, bool, bool), apostrophes: bool) {
        let (chunks, rest) = block.as_chunks::<LANES>();
        let words = self
            .text
            .as_chunks_mut::<LANES>()
            .0
            .iter_mut()
            .zip(&mut self.space)
            .zip(&mut self.slow);
        let mut last = [0; LANES];
        let last = (!rest.is_empty()).then(|| {
            last[..rest.len()].copy_from_slice(rest);
            &last
        });
        for (((text, space), slow), chunk) in words.zip(chunks.iter().chain(last)) {
            let mut spaces = [0; LANES];
            let mut slows = [0; LANES];
            let mut any_slow = 0;
            for i in 0..LANES {
                let (becomes, is_space, is_slow) = byte(chunk[i]);
                text[i] = becomes;
                spaces[i] = u8::from(is_space);
                slows[i] = u8::from(is_slow);
                any_slow |= slows[i];
            }
            *space = bits_of(&spaces);
            *slow = if any_slow == 0 { 0 } else { bits_of(&slows) };
            if apostrophes && *slow != 0 {
                // An apostrophe between two letters or digits belongs to the word.
                let letters = !(*space | *slow);
                let mut inner = *slow & letters << 1 & letters >> 1;
                while inner != 0 {
                    let at = inner.trailing_zeros() as usize;
                    inner &= inner - 1;
                    if chunk[at] == b'\'' {
                        text[at] = b'\'';
                        *slow &= !(1 << at);
                        *space &= !(1 << at);
                    }
                }
            }
        }
        if !rest.is_empty()
            && let Some(slow) = self.slow.get_mut(chunks.len())
        {
            *slow |= u64::MAX << rest.len();
        }
    }
}

/// Returns the byte that stands for `b` in the canonical text of words, whether it is a space, and
/// whether the table does not settle the byte; with `hyphens`, it does not settle a hyphen.
#[inline(always)]
pub(super) const fn word_byte(b: u8, hyphens: bool) -> (u8, bool, bool) {
    let lower = b | 0x20;
    let letter = lower.wrapping_sub(b'a') < 26;
    let digit = b.wrapping_sub(b'0') < 10;
    let becomes = if letter {
        lower
    } else if digit {
        b
    } else {
        b' '
    };
    let slow = (b >= 0x80) | (b == b'\'') | (hyphens & (b == b'-'));
    (becomes, !(letter | digit), slow)
}

/// The same for the canonical text of `whitespace` and `bytes:N`.
#[inline(always)]
pub(super) const fn whitespace_byte(b: u8) -> (u8, bool, bool) {
    let space = (b.wrapping_sub(b'\t') < 5) | (b == b' ');
    (if space { b' ' } else { b }, space, (b >= 0x80) | (b == 0))
}

/// Packs bytes of 0 or 1 into bits. For eight bytes at a time, a multiplication moves each bit to
/// its place in the topmost byte.
#[inline(always)]
fn bits_of(bytes: &[u8; LANES]) -> u64 {
    let mut bits = 0;
    for (i, &eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        bits |= u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * i);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::super::class::{SLOW, WHITESPACE, WORDS, WORDS_AND_HYPHENS};
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_as_in_the_table() {
        let mut masks = Masks::default();
        for (words, hyphens, table) in [
            (true, false, &WORDS),
            (true, true, &WORDS_AND_HYPHENS),
            (false, false, &WHITESPACE),
        ] {
            for length in [1, LANES - 1, LANES, LANES + 1, BLOCK] {
                for shift in 0..256 {
                    let block: Vec<u8> = (0..length).map(|i| (i + shift) as u8).collect();
                    masks.set(&block, words, hyphens);
                    for (at, &b) in block.iter().enumerate() {
                        let (space, slow) = masks.bits(at / LANES);
                        let (space, slow) = (space >> (at % LANES) & 1, slow >> (at % LANES) & 1);
                        let mapped = table[usize::from(b)];
                        assert_eq!(slow == 1, mapped == SLOW, "{b} {at} {length}");
                        if mapped != SLOW {
                            assert_eq!(space == 1, mapped == b' ', "{b} {at} {length}");
                            assert_eq!(masks.text[at], mapped, "{b} {at} {length}");
                        }
                    }
                    let (_, slow) = masks.bits(length / LANES);
                    assert!(
                        length == BLOCK || slow >> (length % LANES) & 1 == 1 || length % LANES == 0
                    );
                }
            }
        }
        assert_eq!(masks.bits(WORDS_IN_BLOCK), (0, u64::MAX));
    }

    #[test]
    fn an_apostrophe_between_letters_is_settled() {
        let mut masks = Masks::default();
        masks.set(b"'a'b''c'\xc3'd1'2'", true, false);
        let settled: Vec<usize> = (0..17).filter(|i| masks.slow[0] >> i & 1 == 0).collect();
        assert_eq!(settled, [1, 2, 3, 6, 10, 11, 12, 13]);
        assert_eq!(&masks.text[1..4], b"a'b");
        assert_eq!(masks.space[0] >> 1 & 7, 0);
        masks.set(b"'a'b''c'", false, false);
        assert_eq!(masks.slow[0], u64::MAX << 8);
    }
}
