//! Cuts documents into stretches of k-grams, and hashes single k-grams.
//!
//! # Source
//! Minimizers: Schleimer, Wilkerson & Aiken 2003 ("Winnowing"), sections 3 and 4; Roberts, Hayes,
//! Hunt, Mount & Yorke 2004. Consecutive k-grams with the same minimizer are one record, as in
//! k-mer counters ("super-k-mers": Li et al. 2013).
//!
//! # Definition
//! The *anchor* of a k-gram is the q-gram in it with the least hash, the last one if several have
//! it; q = k/2 + 1. A *stretch* is a maximal run of consecutive k-grams whose anchor is at the same
//! place of the document.
//!
//! # Invariants
//! - Equal k-grams have equal anchors at the same place in them, because the anchor depends on the
//!   content of the k-gram alone. So a k-gram is repeated only within the stretches of one anchor,
//!   and occurs in a stretch at most once.
//! - The stretches of a document contain each of its k-grams once.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use lookalike_base::{Error, Result};
use lookalike_store::{Item, UnitSort, item};
use lookalike_text::parse::{TokenConsumer, Tokens};

use super::places::{Place, Repeat, RepeatsReader};

/// The longest k-grams: a stretch then has less than 256 of them.
pub(super) const MOST_LENGTH: u32 = 500;

/// Bits of the content of a stretch in a key, and of the number of its k-grams.
const CONTENT_BITS: u32 = 60;
const COUNT_BITS: u32 = 8;

/// An odd number without structure, by which the hashes of tokens are combined.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

item! {
    /// A stretch in a sort.
    pub(super) struct Stretch {
        /// Its anchor, a hash of its text, and the number of its k-grams. Stretches with the same
        /// content are equal.
        content: u128,
        place: Place,
    }
}

impl Stretch {
    pub fn anchor(&self) -> u64 {
        (self.content >> (CONTENT_BITS + COUNT_BITS)) as u64
    }

    pub fn count(&self) -> u32 {
        (self.content as u32) & ((1 << COUNT_BITS) - 1)
    }
}

item! {
    /// A k-gram or a unit of text in a sort.
    pub(super) struct Hashed {
        hash: u128,
        place: Place,
    }
}

fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}

/// Items on their way into a sort.
pub(super) struct Found<'s, 'c, T> {
    sorter: &'s UnitSort<'c, T>,
    items: Vec<T>,
    /// Why the sort did not take items. Those that follow are lost.
    failed: Option<Error>,
}

/// Items that a thread collects before it takes the sorter.
pub(super) const ITEMS: usize = 16 << 10;

impl<'s, 'c, T: Item> Found<'s, 'c, T> {
    fn new(sorter: &'s UnitSort<'c, T>) -> Found<'s, 'c, T> {
        Found {
            sorter,
            items: Vec::new(),
            failed: None,
        }
    }

    /// Hands the items over, if they are so many.
    fn pass(&mut self, least: usize) {
        match self.failed {
            None if self.items.len() < least => {}
            None => self.failed = self.sorter.push(&mut self.items).err(),
            Some(_) => self.items.clear(),
        }
    }

    /// Whether the sort took everything so far.
    pub fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Hands all items over.
    pub fn finish(&mut self) -> Result<()> {
        self.pass(0);
        self.check()
    }
}

/// Cuts documents into stretches, one document after the other, and puts them into a sort.
pub(super) struct Stretches<'s, 'c> {
    length: u64,
    /// Tokens of a q-gram.
    q: u64,
    /// [`MULTIPLIER`] to the power of q.
    power: u64,
    /// The hashes of the last tokens, and of the last q-grams by their first token.
    tokens: Vec<u64>,
    grams: Vec<u64>,
    mask: u64,
    document: u32,
    /// The number of the first token that the consumer still has, and of those hashed.
    kept: u64,
    seen: u64,
    rolling: u64,
    /// The q-gram with the least hash in the current k-gram.
    least: (u64, u64),
    /// The open stretch: its first k-gram and the place and hash of its anchor.
    open: Option<(u64, (u64, u64))>,
    pub found: Found<'s, 'c, Stretch>,
}

impl<'s, 'c> Stretches<'s, 'c> {
    pub fn new(length: u32, sorter: &'s UnitSort<'c, Stretch>) -> Stretches<'s, 'c> {
        let length = u64::from(length);
        let q = length / 2 + 1;
        let window = (length + 1).next_power_of_two();
        Stretches {
            length,
            q,
            power: (0..q).fold(1, |power: u64, _| power.wrapping_mul(MULTIPLIER)),
            tokens: vec![0; window as usize],
            grams: vec![0; window as usize],
            mask: window - 1,
            document: 0,
            kept: 0,
            seen: 0,
            rolling: 0,
            least: (0, 0),
            open: None,
            found: Found::new(sorter),
        }
    }

    pub fn begin(&mut self, document: u32) {
        self.document = document;
        (self.kept, self.seen, self.rolling) = (0, 0, 0);
        self.least = (0, u64::MAX);
        self.open = None;
    }

    /// Takes the next token, which `tokens` has.
    #[inline]
    fn token(&mut self, hash: u64, tokens: &Tokens<'_>) {
        let (length, q, mask) = (self.length, self.q, self.mask);
        let at = self.seen;
        self.seen += 1;
        self.rolling = self.rolling.wrapping_mul(MULTIPLIER).wrapping_add(hash);
        if at >= q {
            let gone = self.tokens[((at - q) & mask) as usize];
            self.rolling = self.rolling.wrapping_sub(gone.wrapping_mul(self.power));
        }
        self.tokens[(at & mask) as usize] = hash;
        let Some(gram) = (at + 1).checked_sub(q) else {
            return;
        };
        let value = mixed(self.rolling);
        self.grams[(gram & mask) as usize] = value;
        if value <= self.least.1 {
            self.least = (gram, value);
        }
        let Some(k_gram) = (at + 1).checked_sub(length) else {
            return;
        };
        if self.least.0 < k_gram {
            self.least = (k_gram, u64::MAX);
            for gram in k_gram..=gram {
                let value = self.grams[(gram & mask) as usize];
                if value <= self.least.1 {
                    self.least = (gram, value);
                }
            }
        }
        match self.open {
            Some((_, anchor)) if anchor == self.least => return,
            Some((first, anchor)) => self.close(first, k_gram - 1, anchor.1, tokens),
            None => {}
        }
        self.open = Some((k_gram, self.least));
    }

    /// Puts out the stretch of the k-grams from `first` to `last`.
    fn close(&mut self, first: u64, last: u64, anchor: u64, tokens: &Tokens<'_>) {
        let count = last - first + 1;
        let length = last + self.length - first;
        let bytes = tokens.run((first - self.kept) as usize, length as usize);
        let content = xxh3_64(bytes.unwrap_or_default()) >> (64 - CONTENT_BITS);
        let anchor = anchor >> (64 - CONTENT_BITS);
        let content = u128::from(anchor) << CONTENT_BITS | u128::from(content);
        self.found.items.push(Stretch {
            content: content << COUNT_BITS | u128::from(count),
            place: Place {
                document: self.document,
                token: first as u32,
            },
        });
    }
}

impl TokenConsumer for Stretches<'_, '_> {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let from = (self.seen - self.kept) as usize;
        for span in tokens.spans(1).skip(from) {
            let token = tokens.bytes.get(span).unwrap_or_default();
            self.token(xxh3_64(token), &tokens);
        }
        self.found.pass(ITEMS);
        if last {
            if let Some((first, anchor)) = self.open.take() {
                self.close(first, self.seen - self.length, anchor.1, &tokens);
            }
            return tokens.bytes.len();
        }
        let next = (self.seen + 1).saturating_sub(self.length);
        let kept = self.open.map_or(next, |(first, _)| first);
        let consumed = tokens.offset((kept - self.kept) as usize);
        self.kept = kept;
        consumed
    }
}

/// Hashes the k-grams at given places of documents, and puts the hashes and the places into a sort.
pub(super) struct Grams<'a, 'c> {
    length: u64,
    document: u32,
    wanted: RepeatsReader<'a>,
    /// Ranges of k-grams that are wanted next, and how many of them are done.
    some: Vec<Repeat>,
    at: usize,
    /// The next one of the k-grams of the range, and its end.
    range: Option<(u32, u32)>,
    kept: u64,
    pub found: Found<'a, 'c, Hashed>,
}

impl<'a, 'c> Grams<'a, 'c> {
    pub fn new(
        length: u32,
        wanted: RepeatsReader<'a>,
        sorter: &'a UnitSort<'c, Hashed>,
    ) -> Grams<'a, 'c> {
        Grams {
            length: length.into(),
            document: 0,
            wanted,
            some: Vec::new(),
            at: 0,
            range: None,
            kept: 0,
            found: Found::new(sorter),
        }
    }

    /// Begins a document.
    pub fn begin(&mut self, document: u32) {
        self.document = document;
        self.wanted.begin(document);
        (self.at, self.kept) = (0, 0);
        self.some.clear();
        self.advance();
    }

    /// Goes on to the next range that is wanted.
    fn advance(&mut self) {
        if self.at == self.some.len() {
            self.at = 0;
            if let Err(error) = self.wanted.next(&mut self.some) {
                self.some.clear();
                self.found.failed.get_or_insert(error);
            }
        }
        let next = self.some.get(self.at);
        self.range = next.map(|next| (next.place.token, next.place.token + next.count));
        self.at += usize::from(self.range.is_some());
    }
}

impl TokenConsumer for Grams<'_, '_> {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let end = self.kept + tokens.len() as u64;
        let mut next = end;
        while let Some((from, to)) = self.range {
            let at = u64::from(from);
            if from == to {
                self.advance();
                continue;
            }
            if at + self.length > end {
                next = at.min(end);
                break;
            }
            let bytes = tokens.run((at - self.kept) as usize, self.length as usize);
            self.found.items.push(Hashed {
                hash: xxh3_128(bytes.unwrap_or_default()),
                place: Place {
                    document: self.document,
                    token: from,
                },
            });
            self.range = Some((from + 1, to));
        }
        self.found.pass(ITEMS);
        if last {
            return tokens.bytes.len();
        }
        let consumed = tokens.offset((next - self.kept) as usize);
        self.kept = next;
        consumed
    }
}
