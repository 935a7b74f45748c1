//! Stage 3 of 9: tokens to fingerprint sets.
//!
//! # Source
//! Shingles as in Broder, Glassman, Manasse & Zweig 1997; MD5 and ten words as in Ye, Wen & Ma
//! 2008, sections 2.1 and 4.3. xxh3: Y. Collet, the XXH3 algorithm.
//!
//! # In and out
//! In: a [`RawDocument`], parsed by stage 2. Out: its sorted set of distinct fingerprints, and its
//! [`DocumentFacts`], which include the MD5 of its canonical document.
//!
//! # Algorithm
//! 1. Each window of w tokens is a stretch of the canonical text and is hashed in place; with MD5,
//!    16 stretches at once.
//! 2. The windows of a long document are hashed portion by portion; the last w - 1 tokens are kept
//!    for the next portion.
//! 3. The fingerprints are sorted and deduplicated.
//! 4. The MD5 of a document is computed by itself, or together with other documents
//!    (`md5_texts.rs`).
//!
//! # Invariants
//! - If ranges partition the keys, the sets of these ranges partition the set of the full range.
//! - A document of n tokens, n >= w, has n - w + 1 fingerprints before deduplication. A shorter
//!   document has one if it is taken whole.
//!
//! # Cost
//! One hash of about 60 bytes per token. Memory: twice the distinct fingerprints in the range (with
//! room for at least a million), plus the memory of [`lookalike_text::parse`].
//!
//! # Where we depart from the source
//! A document with fewer than w tokens has one shingle by default ([`Short::Whole`]); the papers
//! give it none.

mod config;
mod excluded;
mod fingerprint;
mod md5_lanes;
mod md5_texts;
mod sort;

use std::ops::Range;

use lookalike_base::{FingerprintKind, Key, Rate};
use lookalike_text::parse::{ParseFacts, Parser, TokenConsumer, TokenKind, Tokens};
use lookalike_text::read::{Notice, RawDocument};

use md5_texts::Md5Texts;
use sort::Sorter;

pub(crate) use config::flags;
pub use config::{MAX_SHINGLE_SIZE, ShingleConfig, Short};
pub use excluded::{Excluded, MOST_EXCLUDED};
pub use fingerprint::{Fingerprinter, Md5Fingerprinter, Xxh3Fingerprinter};

/// The results of stage 3 for a document, apart from its fingerprints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFacts {
    /// Number of tokens; for `bytes:N`, of words separated by white space.
    pub words: u64,
    /// The document is not empty, but has fewer tokens than a shingle (for `bytes:N`: fewer than N
    /// bytes).
    pub short: bool,
    /// MD5 of the canonical document.
    pub md5: [u8; 16],
    /// The xxh3 hash of the text as read ([`ParseFacts::text`]).
    pub text: u64,
    /// The first title outside SVG, or the title of the source, white space folded, at most
    /// [`lookalike_text::parse::TITLE_CHARS`] characters.
    pub title: Option<String>,
    /// The source charset, by its name in the Encoding standard.
    pub charset: &'static str,
    /// Problems with the charset. The caller fills in source and docno.
    pub notices: Vec<Notice>,
}

/// A set is deduplicated early once it has this many fingerprints and twice the number of distinct
/// ones at the last time. So one shingle repeated a million times costs no memory.
const COMPACT_FINGERPRINTS: usize = 1 << 20;

/// The unit that the windows slide over.
#[derive(Clone, Copy, Debug)]
enum Window {
    Tokens(usize),
    Bytes(usize),
}

/// Parses and shingles one document after the other, reusing the same buffers.
///
/// `K` must match the kind of fingerprint: `u64` for [`FingerprintKind::Xxh3`], `u128` for
/// [`FingerprintKind::Md5`].
#[derive(Debug)]
pub struct Shingler<K: Key> {
    parser: Parser,
    tokens: TokenKind,
    window: Window,
    short: Short,
    fingerprint: FingerprintKind,
    seed: u64,
    md5_fingerprinter: Md5Fingerprinter,
    md5: Md5Texts,
    digests: Vec<[u8; 16]>,
    sorter: Sorter<K>,
    excluded: Option<Excluded>,
}

impl<K: Key> Shingler<K> {
    /// A shingler with empty buffers. The caller has checked the configuration
    /// ([`ShingleConfig::check`]); a shingle size of 0 is treated as 1.
    pub fn new(config: &ShingleConfig) -> Self {
        debug_assert_eq!(
            K::BITS,
            match config.fingerprint {
                FingerprintKind::Xxh3 => u64::BITS,
                FingerprintKind::Md5 => u128::BITS,
            },
            "the key belongs to the kind of fingerprint"
        );
        Shingler {
            parser: Parser::new(&config.parse),
            tokens: config.parse.tokens.clone(),
            window: match config.parse.tokens {
                TokenKind::Bytes(n) => Window::Bytes(n.get() as usize),
                _ => Window::Tokens(config.shingle_size.max(1) as usize),
            },
            short: config.short,
            fingerprint: config.fingerprint,
            seed: config.seed,
            md5_fingerprinter: Md5Fingerprinter::default(),
            md5: Md5Texts::default(),
            digests: Vec::new(),
            sorter: Sorter::default(),
            excluded: config.excluded.clone(),
        }
    }

    /// Parses and shingles one document.
    ///
    /// Empties `set` and fills it with the sorted, distinct fingerprints from `range.0` to
    /// `range.1`, both included. Normally that is the full range. If the fingerprints of a document
    /// do not fit in memory, the caller makes several passes with partial ranges. If the range is
    /// empty, nothing is hashed. The facts always describe the whole document.
    pub fn shingle(
        &mut self,
        document: &RawDocument<'_>,
        range: (K, K),
        set: &mut Vec<K>,
    ) -> DocumentFacts {
        self.md5.begin_alone();
        let mut facts = self.parse(document, range, set, None);
        facts.md5 = self.md5.end_alone();
        facts
    }

    /// Like [`Shingler::shingle`], but leaves the MD5 in the facts zero, for
    /// callers that do not need it.
    pub fn shingle_only(
        &mut self,
        document: &RawDocument<'_>,
        range: (K, K),
        set: &mut Vec<K>,
    ) -> DocumentFacts {
        self.md5.begin_dropped();
        let facts = self.parse(document, range, set, None);
        self.md5.end_alone();
        facts
    }

    /// Shingles one document in passes over ranges of fingerprints, so that `set` takes at most
    /// `room` bytes. Passes the set of each range to `take`, in rising order.
    pub(crate) fn in_passes(
        &mut self,
        document: &RawDocument<'_>,
        room: u64,
        set: &mut Vec<K>,
        mut take: impl FnMut(&DocumentFacts, &[K]),
    ) -> DocumentFacts {
        let bytes = |most: usize| most as u64 * K::BYTES as u64;
        let most = self.most_shingles(document, |most| bytes(most) <= room);
        let passes = bytes(most).div_ceil(room.max(1)) as u32;
        let mut pass = 0;
        loop {
            let range = Rate::new(passes, pass).unwrap_or(Rate::FULL).bounds();
            let facts = self.shingle(document, range, set);
            take(&facts, set);
            pass += 1;
            if pass >= passes {
                return facts;
            }
            // The next pass needs the buffer of the longest token again.
            self.shrink();
        }
    }

    /// An upper bound on the shingles of a document: a bound that `fits` if that takes no work, and
    /// otherwise the number of its tokens.
    pub fn most_shingles(
        &mut self,
        document: &RawDocument<'_>,
        fits: impl Fn(usize) -> bool,
    ) -> usize {
        let most = self.most_fingerprints(document.body.len());
        if fits(most) || matches!(self.tokens, TokenKind::Bytes(_)) {
            return most;
        }
        // Counting tokens needs no hashing.
        let facts = self.shingle_only(document, (K::MAX, K::default()), &mut Vec::new());
        self.shrink();
        facts.words as usize
    }

    /// Like [`Shingler::shingle`], but leaves the MD5 in the facts zero; [`Shingler::digests`]
    /// returns it. Computing the MD5s of several documents together takes a fraction of the time.
    pub fn shingle_undigested(
        &mut self,
        document: &RawDocument<'_>,
        range: (K, K),
        set: &mut Vec<K>,
    ) -> DocumentFacts {
        let facts = self.parse(document, range, set, None);
        self.md5.end();
        facts
    }

    /// Like [`Shingler::shingle_undigested`], and also appends the document's text, as
    /// [`Parser::text`] defines it, to `text`.
    pub fn shingle_keeping(
        &mut self,
        document: &RawDocument<'_>,
        range: (K, K),
        set: &mut Vec<K>,
        text: &mut Vec<u8>,
    ) -> DocumentFacts {
        let facts = self.parse(document, range, set, Some(text));
        self.md5.end();
        facts
    }

    /// The text alone, without shingling ([`Parser::text_in_pieces`]).
    pub fn text_in_pieces(&mut self, document: &RawDocument<'_>, take: &mut dyn FnMut(&[u8])) {
        self.parser.text_in_pieces(document, take);
    }

    /// The MD5s of the documents passed to `shingle_undigested` since the last call, in their
    /// order.
    pub fn digests(&mut self) -> &[[u8; 16]] {
        self.md5.digests(&mut self.digests);
        &self.digests
    }

    /// Bytes buffered of documents whose MD5s are still to be computed.
    pub fn undigested_bytes(&self) -> usize {
        self.md5.collected()
    }

    fn parse(
        &mut self,
        document: &RawDocument<'_>,
        range: (K, K),
        set: &mut Vec<K>,
        text: Option<&mut Vec<u8>>,
    ) -> DocumentFacts {
        set.clear();
        let base = Collector {
            window: self.window,
            short: self.short,
            range,
            set,
            hashed: false,
            is_short: false,
            md5: &mut self.md5,
            sorter: &mut self.sorter,
            compact_at: COMPACT_FINGERPRINTS,
        };
        let (facts, short) = match self.fingerprint {
            FingerprintKind::Xxh3 => {
                let mut hash = Xxh3Fingerprinter { seed: self.seed };
                parse(&mut self.parser, document, text, base, &mut hash)
            }
            FingerprintKind::Md5 => {
                let hash = &mut self.md5_fingerprinter;
                parse(&mut self.parser, document, text, base, hash)
            }
        };
        self.sorter.sort_distinct(set);
        if let Some(excluded) = &self.excluded {
            excluded.remove_from(set);
        }
        DocumentFacts {
            words: facts.words,
            short,
            md5: [0; 16],
            text: facts.text,
            title: facts.title,
            charset: facts.charset,
            notices: facts.notices,
        }
    }

    /// An upper bound on the fingerprints, before deduplication, of a body of `body_bytes` bytes.
    /// It serves to choose the number of passes.
    ///
    /// Words: one for each byte, as half-width Katakana has in Shift_JIS. Code: the same, for
    /// operators. Runs between white space:
    /// one for every two bytes. Bytes: up to three for each byte, because that is what a byte of a
    /// legacy charset can become.
    pub fn most_fingerprints(&self, body_bytes: usize) -> usize {
        match self.tokens {
            TokenKind::Words | TokenKind::Code(_) | TokenKind::Auto(_) => body_bytes,
            TokenKind::Whitespace => body_bytes.div_ceil(2),
            TokenKind::Bytes(_) => body_bytes.saturating_mul(3),
        }
    }

    /// Releases memory that only an oversized document needs.
    pub fn shrink(&mut self) {
        self.parser.shrink();
    }
}

/// The facts of a document, and whether it is short.
fn parse<K: Key, F: Fingerprinter>(
    parser: &mut Parser,
    document: &RawDocument<'_>,
    text: Option<&mut Vec<u8>>,
    base: Collector<'_, K>,
    hash: &mut F,
) -> (ParseFacts, bool) {
    let mut consumer = Hashing { base, hash };
    let facts = match text {
        Some(text) => parser.parse_keeping(document, &mut consumer, text),
        None => parser.parse(document, &mut consumer),
    };
    (facts, consumer.base.is_short)
}

/// The results for one document, while they are collected.
struct Collector<'a, K: Key> {
    window: Window,
    short: Short,
    range: (K, K),
    set: &'a mut Vec<K>,
    /// Whether a whole window has been hashed.
    hashed: bool,
    is_short: bool,
    md5: &'a mut Md5Texts,
    sorter: &'a mut Sorter<K>,
    compact_at: usize,
}

/// A collector together with its hash.
struct Hashing<'a, K: Key, F> {
    base: Collector<'a, K>,
    hash: &'a mut F,
}

impl<K: Key, F: Fingerprinter> Hashing<'_, K, F> {
    /// Adds the fingerprints in range. Each shingle is a stretch of `text`.
    fn add(&mut self, text: &[u8], shingles: impl Iterator<Item = Range<usize>>) {
        let (low, high) = self.base.range;
        if low > high {
            return;
        }
        let set = &mut *self.base.set;
        self.hash.fingerprints(text, shingles, |fingerprint| {
            let fingerprint = K::from_u128(fingerprint.to_u128());
            if fingerprint >= low && fingerprint <= high {
                set.push(fingerprint);
            }
        });
    }
}

impl<K: Key, F: Fingerprinter> TokenConsumer for Hashing<'_, K, F> {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let bytes = tokens.bytes;
        let mut done = 0;
        match self.base.window {
            Window::Tokens(size) => {
                if let Some(first_kept) = (tokens.len() + 1).checked_sub(size)
                    && first_kept > 0
                {
                    self.base.hashed = true;
                    self.add(bytes, tokens.spans(size));
                    done = tokens.starts[first_kept].min(bytes.len());
                }
            }
            Window::Bytes(size) => {
                if bytes.len() >= size {
                    self.base.hashed = true;
                    done = bytes.len() - (size - 1);
                    self.add(bytes, (0..done).map(|start| start..start + size));
                }
            }
        }
        if last {
            if !self.base.hashed && !bytes.is_empty() {
                self.base.is_short = true;
                if self.base.short == Short::Whole {
                    self.add(bytes, std::iter::once(0..bytes.len()));
                }
            }
            done = bytes.len();
        }
        self.base.md5.push(&bytes[..done]);
        if !last && self.base.set.len() >= self.base.compact_at {
            self.base.sorter.sort_distinct(self.base.set);
            self.base.compact_at = COMPACT_FINGERPRINTS.max(2 * self.base.set.len());
        }
        done
    }
}
