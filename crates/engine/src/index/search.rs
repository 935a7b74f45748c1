//! Finds the documents that share enough keys with a set, by looking few of its keys up.
//!
//! # Source
//! The prefix filter of Chaudhuri, Ganti & Kaushik 2006, for one side: a document that has all but
//! p - 1 of the keys has one of any p of them. And the generalisation that any m >= p of the keys
//! have m - p + 1 of them in common with it (T-occurrence: Sarawagi & Kirpal 2004; Li, Lu & Lu
//! 2008), which leaves few documents that only share a template.
//!
//! Any keys will do, so keys with long lists come last. Fingerprints are random, so the first ones
//! are as good as any others.
//!
//! An index may have only the least keys of each document: more of them, by [`MORE`] or all it has,
//! than its prefix. The least of the keys that two sets share are among the least keys of both, so
//! as many of them as both have beyond their prefixes, and one, are found in it.

use std::ops::{ControlFlow, Range};

use super::SHORT;
use super::look_up::{Buffers, Index, ListPlace, Lists};
use lookalike_base::{Key, Result};

/// Keys of one set that are looked up together, if their lists are not yet read.
pub const TOGETHER: u64 = 512;
/// Candidates in a list; more are bits, one for each document.
const LISTED: usize = 64 << 10;
/// Keys that are looked up beyond the prefix: this many, and this share of the prefix. Each costs
/// a look-up, and makes candidates by chance rarer.
const MORE: u64 = 4;
const MORE_OF_PREFIX: u64 = 8;

/// How many of the keys that are looked up may be left out: one of any others is found.
fn spare(has_all: bool, seen: u64, prefix: u64) -> u64 {
    let more = seen.saturating_sub(prefix);
    // The index of the least keys has as many more of each document.
    if has_all { more } else { more.min(MORE) }
}

/// The state of a thread that searches an index.
#[derive(Debug, Default)]
pub struct IndexSearcher {
    buffers: Buffers,
    /// The documents of short lists. A document is in it once for each key that it has.
    list: Vec<u32>,
    /// The documents of long lists, if there are many: a bit for each document of the collection.
    bits: Vec<u64>,
    many: bool,
    documents: u64,
    /// The long lists of keys with many documents: how many documents, and which of `places`.
    deferred: Vec<(u64, Range<usize>)>,
    places: Vec<ListPlace>,
    /// Keys looked up since the search was made.
    pub look_ups: u64,
}

impl IndexSearcher {
    /// The most bytes of memory for a collection with this number of documents.
    pub fn bytes(documents: u64) -> u64 {
        documents / 8 + (1 << 20)
    }

    /// Starts a search among this number of documents.
    fn begin(&mut self, documents: u64) {
        self.list.clear();
        if self.many {
            self.bits.fill(0);
            self.many = false;
        }
        self.documents = documents;
        self.deferred.clear();
        self.places.clear();
    }

    /// Turns the list into bits if it is long. Documents that the collection does not have, which
    /// only a damaged index names, are left out.
    fn settle(&mut self) {
        if self.list.len() <= LISTED && !self.many {
            return;
        }
        self.bits.resize(self.documents.div_ceil(64) as usize, 0);
        self.many = true;
        for document in self.list.drain(..) {
            if u64::from(document) < self.documents {
                self.bits[document as usize / 64] |= 1 << (document % 64);
            }
        }
        self.list.shrink_to(LISTED);
    }

    /// Reads the lists of many keys ([`Index::read`]).
    pub fn read_lists<K: Key>(&mut self, index: &Index, keys: &[K]) -> Result<Lists> {
        index.read(keys, &mut self.buffers)
    }

    /// Adds the documents of one key.
    pub fn all_of<K: Key>(&mut self, index: &Index, documents: u64, key: K) -> Result<()> {
        self.begin(documents);
        let lists = self.read_lists(index, &[key])?;
        lists.get(0, &mut self.list, &mut self.places);
        self.look_ups += 1;
        self.read(index, 0..self.places.len())
    }

    /// Reads the documents of long lists.
    fn read(&mut self, index: &Index, places: Range<usize>) -> Result<()> {
        for at in places {
            let place = self.places[at];
            let mut buffers = std::mem::take(&mut self.buffers);
            index.long(place, &mut buffers, |documents| {
                self.list.extend_from_slice(documents);
                self.settle();
            })?;
            self.buffers = buffers;
        }
        Ok(())
    }

    /// The number of keys that are looked up for a prefix, unless some have long lists.
    pub fn wanted(prefix: u64) -> u64 {
        prefix + MORE + prefix / MORE_OF_PREFIX
    }

    /// Finds the documents below `documents` that lack fewer than `prefix` of the keys of `set`,
    /// and others. The keys are little-endian. `lists` has the lists of the first keys, as far as
    /// they are read, and the range has their numbers in it.
    pub fn find_in<K: Key>(
        &mut self,
        index: &Index,
        (lists, mut read): (&Lists, Range<usize>),
        documents: u64,
        set: &[u8],
        prefix: u64,
    ) -> Result<()> {
        self.begin(documents);
        let wanted = IndexSearcher::wanted(prefix);
        let (mut found, mut seen) = (0, 0);
        let (mut more, mut of_more) = (Lists::default(), 0..0);
        for n in 0..set.len() / K::BYTES {
            let left = wanted - if index.has_all { found } else { seen };
            if left == 0 {
                break;
            }
            seen += 1;
            if read.is_empty() && of_more.is_empty() {
                let keys = set.chunks_exact(K::BYTES).skip(n);
                let keys = keys.take(left.min(TOGETHER) as usize).map(K::get_le);
                let keys: Vec<K> = keys.collect();
                (more, of_more) = (self.read_lists(index, &keys)?, 0..keys.len());
            }
            let (before, listed) = (self.places.len(), self.list.len());
            let (short, long) = (&mut self.list, &mut self.places);
            let count = match read.next() {
                Some(at) => lists.get(at, short, long),
                None => more.get(of_more.next().unwrap_or_default(), short, long),
            };
            self.look_ups += 1;
            if self.places.len() > before || self.list.len() - listed > SHORT {
                self.deferred.push((count, before..self.places.len()));
            } else {
                self.settle();
                found += 1;
            }
        }
        let spare = spare(index.has_all, seen, prefix);
        let skipped = self.deferred.len() as u64;
        if skipped <= spare {
            self.repeated(spare - skipped + 1);
            return Ok(());
        }
        let mut deferred = std::mem::take(&mut self.deferred);
        deferred.sort_unstable_by_key(|(count, places)| (*count, places.start));
        for (_, places) in deferred.iter().take((skipped - spare) as usize) {
            self.read(index, places.clone())?;
        }
        self.deferred = deferred;
        Ok(())
    }

    /// Keeps the documents that have at least this number of the keys. If the documents are bits,
    /// they are not counted, and all are kept.
    fn repeated(&mut self, least: u64) {
        if self.many || least <= 1 {
            return;
        }
        self.list.sort_unstable();
        let same = self.list.chunk_by(|a, b| a == b);
        let repeated = same.filter(|same| same.len() as u64 >= least);
        self.list = repeated.map(|same| same[0]).collect();
    }

    /// Calls `each` with every document that was found, in order.
    pub fn each(&mut self, mut each: impl FnMut(u32) -> Result<ControlFlow<()>>) -> Result<()> {
        self.settle();
        if !self.many {
            self.list.sort_unstable();
            self.list.dedup();
            for &document in &self.list {
                if u64::from(document) < self.documents && each(document)?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        for (at, &word) in self.bits.iter().enumerate() {
            let mut left = word;
            while left > 0 {
                let document = at as u32 * 64 + left.trailing_zeros();
                if each(document)?.is_break() {
                    return Ok(());
                }
                left &= left - 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::measure::{Criterion, Measure};

    /// In the worst case, the keys that two sets do not share are less than those that they share.
    #[test]
    fn the_least_keys_of_both_sets_have_enough_in_common() {
        let mut tight = 0;
        for measure in ["resemblance", "cosine", "dice", "s1:20"] {
            let measure: Measure = measure.parse().unwrap();
            for threshold in ["0.3", "0.5", "0.85", "1"] {
                let threshold = threshold.parse().unwrap();
                let criterion = Criterion { measure, threshold };
                for [shared, a, b] in
                    (0..40u64 * 40 * 70).map(|n| [1 + n % 70, n / 70 % 40, n / 2800])
                {
                    let sizes = [shared + a, shared + b];
                    if !criterion.reached(shared, sizes[0], sizes[1]) {
                        continue;
                    }
                    let prefixes =
                        sizes.map(|size| criterion.prefix(size as u32, size as u32).into());
                    let least = |at: usize| IndexSearcher::wanted(prefixes[at]).min(sizes[at]);
                    let common = (least(0).saturating_sub(a)).min(least(1).saturating_sub(b));
                    let needed = spare(false, least(0), prefixes[0]) + 1;
                    assert!(
                        common.min(shared) >= needed,
                        "{criterion:?} {shared} {a} {b}"
                    );
                    tight += u64::from(common == needed);
                }
            }
        }
        assert!(tight > 100, "{tight}");
    }
}
