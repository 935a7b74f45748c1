//! SPEX: find the chunks that occur more than once in a collection, with two small tables of
//! counters.
//!
//! # Source
//! Bernstein & Zobel 2006, section 5 and Algorithm 1. Chunks of 8 words; 64 MB for about 256
//! million counters of 2 bits.
//!
//! # In and out
//! In: the texts of the representatives. Out: for each chunk of l words, whether it may occur more
//! than once. "No" is always right (selection is lossless); "yes" is wrong if chunks collide in a
//! counter.
//!
//! # Algorithm
//! Pass n of l looks at every chunk of n words. It counts the chunk in the counter that its hash
//! selects, but only if the counters of the previous pass say that both subchunks of n - 1 words
//! occur more than once. A chunk is selected if, after the last pass, both its subchunks and the
//! chunk itself occur more than once.
//!
//! # Invariants
//! - A counter never falls, and stops at "more than once". Counting therefore commutes, and threads
//!   share the counters without any order.
//! - At most two tables exist at a time.
//!
//! # Cost
//! l passes over the texts, and two tables of the given size, which must fit in the budget.
//!
//! # Where we depart from the paper
//! - The memory is a power of two, so that the first bits of a hash select a counter.
//! - If exact duplicates count, each text is read once and counted for all documents that have it.
//! - A chunk that occurs twice in one document occurs more than once, as in the paper. Its feature
//!   is dropped when postings are made, because no second document has it.
//! - With `iterate=false` every pass counts every chunk, which is the other line in Figure 3b.

use lookalike_base::{Context, Result};
use lookalike_engine::collection;
use lookalike_store::Workspace;
use lookalike_text::parse::Tokens;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Document;
use super::document::fingerprint;
use super::texts::Texts;

/// The file that reports the state of the counters after each pass (Figure 3).
pub const FILE: &str = "spex.tsv";
const STAGE: &str = "spex";
/// Memory for each byte of text: the byte and, at the start of a token (in the worst case a letter
/// and a space), the token's place.
const COST: u64 = 1 + 8;
/// Counters in a 64-bit word.
const IN_WORD: u64 = 32;
/// The lower bit of each counter.
const LOW: u64 = 0x5555_5555_5555_5555;
/// Chunks that are processed together.
const BLOCK: usize = 256;
/// The least memory: one word.
pub(super) const LEAST_BYTES: u64 = 8;

/// Counters with the states never, once and more than once (0, 1 and 3).
struct HashCounter {
    words: Vec<AtomicU64>,
}

impl HashCounter {
    /// `bytes` is a power of two, and [`LEAST_BYTES`] or more.
    fn new(bytes: u64) -> Self {
        let words = (bytes / LEAST_BYTES).max(1).next_power_of_two();
        HashCounter {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The word of a hash's counter, and the position of the counter in it.
    #[inline]
    fn place(&self, hash: u64) -> (&AtomicU64, u32) {
        let fields = self.words.len() as u64 * IN_WORD;
        // The first bits: 1 and more of them, so the shift is below 64.
        let field = hash >> (64 - fields.trailing_zeros());
        let word = (field / IN_WORD) as usize;
        (&self.words[word], (field % IN_WORD) as u32 * 2)
    }

    #[inline]
    fn more(&self, hash: u64) -> bool {
        let (word, shift) = self.place(hash);
        word.load(Ordering::Relaxed) >> shift & 3 == 3
    }

    /// Counts at most [`BLOCK`] hashes, so that the words just loaded are still in the cache when
    /// they are changed.
    fn count(&self, hashes: &[u64]) {
        let mut few = [true; BLOCK];
        for (few, &hash) in few.iter_mut().zip(hashes) {
            *few = !self.more(hash);
        }
        let counted = hashes.iter().zip(&few).filter(|(_, few)| **few);
        for (&hash, _) in counted {
            let (word, shift) = self.place(hash);
            // The thread that sets the first bit is the first; all others set the second, in any
            // order.
            if word.fetch_or(1 << shift, Ordering::Relaxed) >> shift & 1 == 1 {
                word.fetch_or(2 << shift, Ordering::Relaxed);
            }
        }
    }

    /// Counters at once, and at more than once.
    fn occupied(&self) -> (u64, u64) {
        self.words.iter().fold((0, 0), |(once, more), word| {
            let word = word.load(Ordering::Relaxed);
            let two = u64::from((word >> 1 & LOW).count_ones());
            let any = u64::from((word & LOW).count_ones());
            (once + any - two, more + two)
        })
    }
}

/// The counters after the last pass.
pub(super) struct Spex {
    size: usize,
    last: HashCounter,
    before: Option<HashCounter>,
    pub(super) bytes: u64,
    pub(super) table: String,
}

impl Spex {
    /// Makes the passes for chunks of `size` words with tables of `bytes` each.
    pub(super) fn run(
        base: &Workspace,
        size: usize,
        bytes: u64,
        iterate: bool,
        duplicates: bool,
        context: &Context<'_>,
    ) -> Result<Spex> {
        let fields = bytes / LEAST_BYTES * IN_WORD;
        let mut table = format!("# fields: {fields}\n# iterate: {iterate}\n");
        table.push_str("words\tchunks\tcounted\tfields_one\tfields_more\n");
        let held = bytes.saturating_mul(2);
        let mut before: Option<HashCounter> = None;
        let mut last: Option<HashCounter> = None;
        for n in 1..=size {
            let texts = Texts::new(base, STAGE, (held, COST), duplicates, context)?;
            // Frees the table before the last one, so that there are at most two.
            before = last.take().filter(|_| iterate);
            let now = HashCounter::new(bytes);
            let (mut chunks, mut counted) = (0u64, 0u64);
            for segment in collection::segments(&base.manifest) {
                let count = |document: &mut Document<'_>| {
                    let mut counted = 0u64;
                    let copies = document.copies;
                    let words = document.words();
                    let chunks = admitted(&words, n, before.as_ref(), |_, hashes| {
                        // More than twice counts as twice.
                        (0..copies.min(2)).for_each(|_| now.count(hashes));
                        counted += hashes.len() as u64;
                    });
                    (chunks * copies, counted * copies)
                };
                texts.segment(segment, count, |_, _, counts| {
                    let (all, some) = counts.unwrap_or_default();
                    chunks += all;
                    counted += some;
                    Ok(())
                })?;
            }
            let (once, more) = now.occupied();
            let _ = writeln!(table, "{n}\t{chunks}\t{counted}\t{once}\t{more}");
            last = Some(now);
        }
        Ok(Spex {
            size,
            last: last.unwrap_or_else(|| HashCounter::new(LEAST_BYTES)),
            before,
            bytes: held,
            table,
        })
    }

    /// Deselects the chunks of a document that occur only once.
    pub(super) fn keep(&self, document: &mut Document<'_>, keep: &mut [bool]) {
        let mut next = 0;
        let words = document.words();
        admitted(&words, self.size, self.before.as_ref(), |places, hashes| {
            let mut more = [false; BLOCK];
            for (more, &hash) in more.iter_mut().zip(hashes) {
                *more = self.last.more(hash);
            }
            for (&at, more) in places.iter().zip(more) {
                keep[next..at].fill(false);
                next = at + usize::from(more);
            }
        });
        keep[next..].fill(false);
    }
}

/// Calls `each` with places and hashes of the chunks of `size` words whose subchunks both occur
/// more than once by the counters `before`, if given. Passes at most [`BLOCK`] chunks at a time, in
/// order. Returns the number of all chunks.
///
/// Counters are rarely in a CPU cache. Many are therefore loaded before any decision depends on
/// them, so that the processor waits for all of them at once.
fn admitted(
    words: &Tokens<'_>,
    size: usize,
    before: Option<&HashCounter>,
    mut each: impl FnMut(&[usize], &[u64]),
) -> u64 {
    let (mut places, mut hashes) = ([0; BLOCK], [0; BLOCK]);
    let mut chunks = words.windows(size).enumerate();
    let before = before.filter(|_| size > 1);
    let mut subchunks = words.windows(size.max(2) - 1);
    let mut left = before.is_some_and(|before| {
        let first = subchunks.next();
        first.is_some_and(|first| before.more(fingerprint(first)))
    });
    let mut all = 0;
    loop {
        let mut admitted = [true; BLOCK];
        if let Some(before) = before {
            let mut asked = 0;
            for (hash, subchunk) in hashes.iter_mut().zip(subchunks.by_ref().take(BLOCK)) {
                *hash = fingerprint(subchunk);
                asked += 1;
            }
            for (more, &hash) in admitted.iter_mut().zip(&hashes[..asked]) {
                *more = before.more(hash);
            }
            for more in &mut admitted[..asked] {
                (left, *more) = (*more, left & *more);
            }
        }
        let (mut looked, mut found) = (0, 0);
        for (admitted, (at, chunk)) in admitted.into_iter().zip(chunks.by_ref()) {
            looked += 1;
            if admitted {
                (places[found], hashes[found]) = (at, fingerprint(chunk));
                found += 1;
            }
        }
        each(&places[..found], &hashes[..found]);
        all += looked;
        if looked < BLOCK as u64 {
            return all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_tell_never_once_and_more_apart() {
        let counter = HashCounter::new(1 << 10);
        let hash = |n: u64| super::super::mix(n);
        for n in 0..20 {
            for _ in 0..n % 4 {
                counter.count(&[hash(n)]);
            }
        }
        for n in 0..20 {
            assert_eq!(counter.more(hash(n)), n % 4 > 1, "{n}");
        }
        assert_eq!(counter.occupied(), (5, 10));
        // 32 counters for everything.
        let least = HashCounter::new(LEAST_BYTES);
        (0..1000).for_each(|n| least.count(&[hash(n)]));
        assert_eq!(least.occupied(), (0, 32));
    }
}
