//! MD5 of many whole documents at once.
//!
//! # Source
//! R. Rivest, "The MD5 Message-Digest Algorithm", RFC 1321; the steps are the same as in
//! `md5_lanes.rs`.
//!
//! # In and out
//! In: texts, each in one or more pieces. Out: their digests, in the order of the texts.
//!
//! # Algorithm
//! 1. Texts are collected one after the other, each padded in place to whole blocks.
//! 2. Each of [`LANES`] lanes takes the longest remaining text, and the next one when it is done,
//!    so that all lanes end at about the same time.
//! 3. A text of more than [`MOST_TEXT`] bytes is hashed by itself as it arrives: it would keep one
//!    lane busy after all others are done.
//!
//! # Invariants
//! - The digest of each ended text is delivered exactly once, in order.
//! - Each digest equals the `md-5` crate's, whatever the other lanes contain (tests).
//!
//! # Cost
//! One copy of the texts. Memory: the collected texts, which the caller bounds, and [`MOST_TEXT`]
//! bytes.

use md5::{Digest, Md5};

use super::md5_lanes::{BLOCK, BLOCK_WORDS, LANES, Registers, START, registers};

/// The longest text that is hashed in a lane: twice a lane's share of a batch of 1 MiB.
const MOST_TEXT: usize = 128 << 10;

/// Maximum number of blocks of each lane per call; their words are first interleaved.
const MOST_ROUND: usize = 4;

/// The place of a text.
#[derive(Clone, Copy, Debug)]
enum TextPlace {
    /// In `blocks` blocks, beginning with block `first`.
    Collected { first: usize, blocks: usize },
    /// The text was hashed by itself.
    Done([u8; 16]),
}

/// A text that a lane is hashing.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Number of the text.
    text: usize,
    next: usize,
    left: usize,
}

/// How the open text is hashed: with others in a lane, by itself, or not at all.
#[derive(Debug, Default)]
enum Fate {
    #[default]
    Collected,
    Alone(Md5),
    Dropped,
}

/// Collects texts and hashes them, several at once.
#[derive(Debug)]
pub(super) struct Md5Texts {
    /// Padded texts, followed by the open one.
    bytes: Vec<u8>,
    /// Offset of the open text in `bytes`.
    open: usize,
    texts: Vec<TextPlace>,
    fate: Fate,
    words: Box<[[u32; LANES]; MOST_ROUND * BLOCK_WORDS]>,
}

impl Default for Md5Texts {
    fn default() -> Self {
        Md5Texts {
            bytes: Vec::new(),
            open: 0,
            texts: Vec::new(),
            fate: Fate::Collected,
            words: Box::new([[0; LANES]; MOST_ROUND * BLOCK_WORDS]),
        }
    }
}

impl Md5Texts {
    /// Appends to the open text.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        match &mut self.fate {
            Fate::Alone(md5) => md5.update(bytes),
            Fate::Dropped => {}
            Fate::Collected if self.bytes.len() - self.open + bytes.len() <= MOST_TEXT => {
                self.bytes.extend_from_slice(bytes);
            }
            Fate::Collected => {
                let mut md5 = Md5::new();
                md5.update(&self.bytes[self.open..]);
                md5.update(bytes);
                self.bytes.truncate(self.open);
                self.fate = Fate::Alone(md5);
            }
        }
    }

    /// Starts a text that is not hashed.
    pub(super) fn begin_dropped(&mut self) {
        self.fate = Fate::Dropped;
    }

    /// Starts a text that is hashed by itself.
    pub(super) fn begin_alone(&mut self) {
        self.fate = Fate::Alone(Md5::new());
    }

    /// Ends a text that is hashed by itself or not at all.
    pub(super) fn end_alone(&mut self) -> [u8; 16] {
        match std::mem::take(&mut self.fate) {
            Fate::Alone(md5) => md5.finalize().into(),
            _ => [0; 16],
        }
    }

    /// Ends the open text and begins the next.
    pub(super) fn end(&mut self) {
        if matches!(self.fate, Fate::Alone(_)) {
            let digest = self.end_alone();
            self.texts.push(TextPlace::Done(digest));
            return;
        }
        let bits = 8 * (self.bytes.len() - self.open) as u64;
        self.bytes.push(0x80);
        let padded = (self.bytes.len() - self.open + 8).next_multiple_of(BLOCK);
        self.bytes.resize(self.open + padded - 8, 0);
        self.bytes.extend_from_slice(&bits.to_le_bytes());
        self.texts.push(TextPlace::Collected {
            first: self.open / BLOCK,
            blocks: padded / BLOCK,
        });
        self.open = self.bytes.len();
    }

    /// Number of bytes collected.
    pub(super) fn collected(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the digests of all ended texts and drops the texts.
    pub(super) fn digests(&mut self, digests: &mut Vec<[u8; 16]>) {
        digests.clear();
        let mut waiting: Vec<Lane> = Vec::with_capacity(self.texts.len());
        for (text, place) in self.texts.iter().enumerate() {
            digests.push(match *place {
                TextPlace::Done(digest) => digest,
                TextPlace::Collected { first, blocks } => {
                    waiting.push(Lane {
                        text,
                        next: first,
                        left: blocks,
                    });
                    [0; 16]
                }
            });
        }
        waiting.sort_unstable_by_key(|lane| lane.left);
        let blocks = self.bytes.as_chunks::<BLOCK>().0;
        let mut lanes = [Lane::default(); LANES];
        let mut state: Registers<LANES> = START.map(|register| [register; LANES]);
        loop {
            let mut round = usize::MAX;
            for (i, lane) in lanes.iter_mut().enumerate() {
                if lane.left == 0
                    && let Some(next) = waiting.pop()
                {
                    *lane = next;
                    for (register, start) in state.iter_mut().zip(START) {
                        register[i] = start;
                    }
                }
                if lane.left > 0 {
                    round = round.min(lane.left);
                }
            }
            if round == usize::MAX {
                break;
            }
            let round = round.min(MOST_ROUND);
            // The result of an idle lane is ignored.
            for (i, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.left > 0) {
                let blocks = blocks.get(lane.next..lane.next + round).unwrap_or_default();
                for (block, words) in blocks
                    .iter()
                    .zip(self.words.as_chunks_mut::<BLOCK_WORDS>().0)
                {
                    for (word, to) in block.as_chunks::<4>().0.iter().zip(words) {
                        to[i] = u32::from_le_bytes(*word);
                    }
                }
            }
            state = registers(&state, &self.words[..round * BLOCK_WORDS]);
            for (i, lane) in lanes
                .iter_mut()
                .enumerate()
                .filter(|(_, lane)| lane.left > 0)
            {
                lane.next += round;
                lane.left -= round;
                if lane.left == 0
                    && let Some(digest) = digests.get_mut(lane.text)
                {
                    for (bytes, register) in digest.as_chunks_mut::<4>().0.iter_mut().zip(&state) {
                        *bytes = register[i].to_le_bytes();
                    }
                }
            }
        }
        self.bytes.drain(..self.open);
        self.open = 0;
        self.texts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(texts: &mut Md5Texts, messages: &[&[u8]], piece: usize) {
        for message in messages {
            for piece in message.chunks(piece) {
                texts.push(piece);
            }
            texts.end();
        }
        let mut found = Vec::new();
        texts.digests(&mut found);
        let expected: Vec<[u8; 16]> = messages.iter().map(|m| Md5::digest(m).into()).collect();
        assert_eq!(found, expected);
        assert_eq!(texts.collected(), 0);
    }

    fn text(len: usize) -> Vec<u8> {
        (0..len as u64)
            .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
            .collect()
    }

    #[test]
    fn every_length_alone_and_among_others() {
        let text = text(2 * MOST_TEXT);
        let mut texts = Md5Texts::default();
        check(&mut texts, &[], 1);
        let messages: Vec<&[u8]> = (0..400).map(|len| &text[len..2 * len]).collect();
        for message in &messages {
            check(&mut texts, &[message], 64);
        }
        check(&mut texts, &messages, 7);
        let lengths = [
            MOST_TEXT,
            3,
            MOST_TEXT + 1,
            0,
            2 * MOST_TEXT,
            MOST_TEXT - 1,
            100,
        ];
        let messages: Vec<&[u8]> = lengths.iter().map(|&len| &text[..len]).collect();
        check(&mut texts, &messages, 1000);
        check(&mut texts, &messages, 1 << 20);
    }

    #[test]
    fn a_text_alone_does_not_disturb_the_others() {
        let (mut texts, mut found) = (Md5Texts::default(), Vec::new());
        texts.push(b"a");
        texts.end();
        texts.begin_alone();
        texts.push(b"b");
        assert_eq!(texts.end_alone(), <[u8; 16]>::from(Md5::digest(b"b")));
        texts.digests(&mut found);
        assert_eq!(found, [<[u8; 16]>::from(Md5::digest(b"a"))]);
    }

    #[test]
    fn an_open_text_is_kept() {
        let (mut texts, mut found) = (Md5Texts::default(), Vec::new());
        texts.push(b"a");
        texts.end();
        texts.push(b"b");
        texts.digests(&mut found);
        assert_eq!(found, [<[u8; 16]>::from(Md5::digest(b"a"))]);
        texts.push(b"c");
        texts.end();
        texts.digests(&mut found);
        assert_eq!(found, [<[u8; 16]>::from(Md5::digest(b"bc"))]);
    }

    proptest! {
        #[test]
        fn mixtures_of_lengths(lengths in prop::collection::vec(0usize..3000, 0..100)) {
            let text = text(3000);
            let messages: Vec<&[u8]> = lengths.iter().map(|&len| &text[..len]).collect();
            check(&mut Md5Texts::default(), &messages, 500);
        }
    }
}
