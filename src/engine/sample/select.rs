//! The fingerprints that a threshold needs: a selection that loses no pair.
//!
//! # Source
//! The prefix filter (Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007, section 3): a set
//! that may miss k keys of every partner meets all of them under any k + 1 of its keys, if all sets
//! choose by the same total order. The order is that of rare keys first (Bernstein & Zobel 2006,
//! section 5, estimate rareness from counters as well). Counting only the keys that can be chosen,
//! and taking any order that the counters give, are ours.
//!
//! # In and out
//! In: the stored sets, the sizes of the samples, a [`Criterion`]. Out: for each document, the keys
//! that enter the sort.
//!
//! # Algorithm
//! 1. *Count*: all documents count their keys in one table of counters of a byte. Keys are random,
//!    so the counter of a key is given by its highest bits. Only keys of the *region* are counted:
//!    the lowest sixteenths of all keys, enough of them to choose from.
//! 2. *Choose*: the order is (in the region, class of the counter, key) before (outside, key). A
//!    document takes its first p keys in this order, where p is the length of its prefix. Keys whose
//!    counter is 1 are in no other document. They take up places, but do not enter the sort.
//!
//! # Invariants
//! - Counters are at least the document frequency, so a key that is left out is in one document
//!   only. A counter that is too high changes the order, which may be any order.
//! - Classes do not depend on the order in which threads count: counters stop at [`MOST`], and all
//!   counters from there on have the same class.
//! - What is chosen depends on the collection, the criterion and the size of the table.
//!
//! # Cost
//! Two passes over the sets, or one if memory has room for the keys of the region. Memory: the table, and the set of one document in each thread. A set of
//! more than [`HELD`] keys is not held; all its counted keys of other documents enter the sort.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};

use crate::Result;
use crate::base::budget::Budget;
use crate::base::ids::Key;
use crate::base::measure::{Criterion, Measure};
use crate::base::progress::{Stop, joined_all};
use crate::base::threads::{self, lock};
use crate::base::workers::Queue;
use crate::engine::collection::{Column, SegmentEntry, SetReader};
use crate::engine::sample::Sampled;
use crate::store::workspace::Places;

use serde::{Deserialize, Serialize};

/// Where counters stop. Each thread may pass it by one, and a byte must have room for that: a
/// counter that begins again at zero would lose pairs.
const MOST: u8 = 200;
/// The most threads that count.
const MOST_THREADS: usize = (u8::MAX - MOST) as usize;
/// Parts of all keys in which the region is given.
const PARTS: u32 = 16;
/// The region has this number of keys for each key that is chosen, so that there is a choice, and
/// so that few documents have too few keys in it.
const KEYS_OF_A_CHOICE: u64 = 2;
/// The share of all keys, two in five, up to which choosing pays (at a threshold of about 0.6). With
/// more, counting and sorting them takes as long as sorting all.
const MOST_CHOSEN: (u64, u64) = (2, 5);
/// With fewer keys in a set, their number in a part of the keys varies too much: all are counted.
const FEW_KEYS: u64 = 64;
/// The most keys of a set that are held for a choice.
const HELD: usize = 1 << 20;
/// There is about one counter for a key. If memory is short, up to this number of keys share one.
const CROWDED: u64 = 8;
/// The counters may take one part in this number of the memory.
const TABLE_SHARE: u64 = 4;
/// One in this number of documents is tried before all are.
const TRIED: u32 = 16;
/// Bits of the smallest table, and of the largest that a manifest may ask for.
const LEAST_BITS: u32 = 16;
const MOST_BITS: u32 = 48;

/// Which fingerprints the sort has, if not all: those that pairs from a threshold on need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The score, and the lowest threshold at which no pair is lost.
    #[serde(flatten)]
    pub criterion: Criterion,
    /// The part of all keys that is counted, in sixteenths.
    pub sixteenths: u32,
    /// The table would have two to the power of this number of counters if it counted all keys.
    pub bits: u32,
}

impl Selection {
    /// The selection for a criterion; `None` if all fingerprints are needed, if memory has no room
    /// for the counters, or, unless it is wanted `always`, if so many keys would be chosen that a
    /// sort of all is as fast.
    pub fn of(
        criterion: Criterion,
        sampled: &Sampled,
        budget: &Budget,
        always: bool,
    ) -> Option<Selection> {
        let prefixes = match criterion.measure {
            Measure::Resemblance | Measure::Cosine | Measure::Shared(_) | Measure::Of(_) => true,
            // A prefix of containment is the whole set. S2 to S4 divide by lengths in words.
            _ => false,
        };
        if !prefixes || sampled.rates() != [super::Rate::FULL] {
            return None;
        }
        let sizes = || (0..sampled.documents() as u32).map(|document| sampled.own(document));
        let keys: u64 = sizes().map(u64::from).sum();
        let documents = sizes().filter(|&size| size > 0).count() as u64;
        let chosen = chosen_keys(criterion, sampled);
        if !always && chosen * MOST_CHOSEN.1 > keys * MOST_CHOSEN.0 {
            return None;
        }
        let parts = (u128::from(chosen * KEYS_OF_A_CHOICE) * u128::from(PARTS))
            .div_ceil(keys.max(1).into());
        let few = keys < documents * FEW_KEYS;
        let selection = Selection {
            criterion,
            sixteenths: if few {
                PARTS
            } else {
                parts.clamp(1, PARTS.into()) as u32
            },
            bits: (keys.max(1).ilog2() + 1).clamp(LEAST_BITS, MOST_BITS),
        };
        selection.within(budget)
    }

    /// The most keys that documents choose. (A few sets of more than a million keys may choose more.)
    pub(crate) fn most_keys(&self, sampled: &Sampled) -> u64 {
        chosen_keys(self.criterion, sampled)
    }

    /// With as many counters as memory has room for; `None` if they would be too crowded.
    fn within(mut self, budget: &Budget) -> Option<Selection> {
        let wanted = self.bits;
        while !self.fits(budget) {
            self.bits -= 1;
            if self.bits < LEAST_BITS || wanted - self.bits > CROWDED.ilog2() {
                return None;
            }
        }
        Some(self)
    }

    /// With a region that is twice as large, so that there is more to choose from; `None` if it has
    /// all keys, or if memory has no room for more.
    pub fn wider(&self, budget: &Budget) -> Option<Selection> {
        let sixteenths = (2 * self.sixteenths).min(PARTS);
        let wider = Selection {
            sixteenths,
            ..*self
        };
        wider.within(budget).filter(|_| self.sixteenths < PARTS)
    }

    /// Whether it can be used, and memory has room for the counters. It may come from a manifest
    /// that this program did not write.
    pub(crate) fn fits(&self, budget: &Budget) -> bool {
        (LEAST_BITS..=MOST_BITS).contains(&self.bits)
            && (1..=PARTS).contains(&self.sixteenths)
            && self.bytes() <= budget.memory.0 / TABLE_SHARE
    }

    /// Whether postings of this selection have all pairs that reach `criterion`.
    pub fn serves(&self, criterion: Criterion) -> bool {
        let own = self.criterion;
        own.measure == criterion.measure && own.threshold <= criterion.threshold
    }

    /// Bytes of the counters.
    pub fn bytes(&self) -> u64 {
        (1u64 << self.bits) / u64::from(PARTS) * u64::from(self.sixteenths)
    }

    /// How far a key is shifted to the right to be the number of its counter.
    fn shift<K: Key>(&self) -> u32 {
        K::BITS - self.bits
    }

    /// The greatest key of the counters below `end`, of which there is one.
    fn greatest<K: Key>(&self, end: u64) -> K {
        let shift = self.shift::<K>();
        K::from_u128((u128::from(end - 1) << shift) + ((1 << shift) - 1))
    }

    /// The keys of one of `ranges` ranges: equal parts of the region. The last one also has the keys
    /// that follow the region.
    pub fn bounds<K: Key>(&self, ranges: u32, range: u32) -> (K, K) {
        let start = |range: u32| {
            let counters = u128::from(self.bytes()) * u128::from(range) / u128::from(ranges);
            counters as u64
        };
        let low = K::from_u128(u128::from(start(range)) << self.shift::<K>());
        if range + 1 >= ranges {
            return (low, K::MAX);
        }
        (low, self.greatest(start(range + 1).max(start(range) + 1)))
    }
}

/// The lengths of all prefixes, added up.
fn chosen_keys(criterion: Criterion, sampled: &Sampled) -> u64 {
    let sizes = (0..sampled.documents() as u32).map(|document| sampled.own(document));
    sizes
        .map(|size| u64::from(criterion.prefix(size, size)))
        .sum()
}

/// The class of each counter. Higher classes are more documents; class 0 is one document.
const CLASS_OF: [u8; 256] = {
    let mut classes = [0; 256];
    let mut counter = 2;
    while counter < 256 {
        classes[counter] = match counter {
            0..=4 => counter as u8 - 1,
            _ => (counter - 1).ilog2() as u8 + 2,
        };
        counter += 1;
    }
    classes
};

#[inline]
fn class(counter: u8) -> u8 {
    CLASS_OF[usize::from(counter)]
}

/// The greatest counter of the class before the last.
const MOST_OF_A_CLASS: u8 = 128;
/// The most keys of the last class that are held for an estimate.
const MOST_FREQUENT: usize = 1 << 17;

/// Number of classes: 1, 2, 3, 4, 5-8, ..., 65-128, more.
const CLASSES: usize = 10;

/// Other documents that a key of this class is expected to have, for estimates.
fn others(class: usize) -> u64 {
    match class {
        0..=3 => class as u64,
        _ => (3 << (class - 3)) - 1,
    }
}

/// Counters of all documents' keys in the region.
pub struct Selector<'a, K> {
    selection: Selection,
    sampled: &'a Sampled,
    sets: Sets<'a>,
    counters: Vec<AtomicU8>,
    /// By segment, what its documents choose from, if memory had room to keep it.
    kept: Vec<Mutex<Option<Kept<K>>>>,
    /// What the choosers that have ended have chosen.
    chosen: Mutex<SelectStats>,
}

/// The stored sets of a collection.
#[derive(Clone, Copy)]
pub struct Sets<'a> {
    /// Where the parts are.
    pub places: &'a Places,
    /// The parameters in their headers.
    pub parameters: u128,
    /// The segments.
    pub segments: &'a [SegmentEntry],
    /// The number of stored keys of each document.
    pub stored: &'a Column,
}

/// The keys from which the documents of a segment choose, kept from the count to the choice.
struct Kept<K> {
    keys: Vec<K>,
    /// For each document, the end of its keys.
    ends: Vec<u32>,
}

/// What a [`Selector`] has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectStats {
    /// Documents with fingerprints.
    pub documents: u64,
    /// Of these, documents none of whose keys entered the sort, because those of their prefixes are
    /// in no other document.
    pub pruned: u64,
    /// Keys that entered the sort.
    pub keys: u64,
    /// Expected pairs of documents under one chosen key.
    pub probes_expected: u64,
    /// Expected pairs of documents under one key, of all keys.
    pub tokens_expected: u64,
}

impl<K: Key> Kept<K> {
    /// Room for the documents of a segment; `None` if it would take more than what is left.
    fn new(selector: &Selector<'_, K>, documents: Range<u32>, room: &AtomicI64) -> Option<Self> {
        let number = documents.len() as u64;
        let keys: u64 = documents.map(|d| u64::from(selector.sampled.own(d))).sum();
        let sixteenths = u64::from(selector.selection.sixteenths);
        // Some documents have more of their keys in the region than others.
        let keys = keys * sixteenths / u64::from(PARTS) / 16 * 17 + 16 * number + 4096;
        let bytes = i64::try_from(keys * K::BYTES as u64 + 4 * number).ok()?;
        if keys > u32::MAX.into() || room.fetch_sub(bytes, Ordering::Relaxed) < bytes {
            return None;
        }
        Some(Kept {
            keys: Vec::with_capacity(keys as usize),
            ends: Vec::with_capacity(number as usize),
        })
    }

    /// Keeps keys of the region and the first `missing` keys outside it. Returns `None` if memory has
    /// no room for them.
    fn put(mut self, keys: &[K], others: &[u8], missing: &mut usize) -> Option<Self> {
        let others = others.chunks_exact(K::BYTES).map(K::get_le).take(*missing);
        let room = self.keys.capacity() - self.keys.len();
        if keys.len() + others.len() > room {
            return None;
        }
        *missing -= others.len();
        self.keys.extend_from_slice(keys);
        self.keys.extend(others);
        Some(self)
    }
}

/// Reads the keys from which the documents of a segment choose.
enum Source<K> {
    Kept { kept: Kept<K>, document: usize },
    Sets(Box<SetReader<K>>),
}

/// The documents of a segment.
fn documents_of(segment: &SegmentEntry) -> Range<u32> {
    let first = segment.first_document;
    first..first + segment.stats.documents as u32
}

impl<'a, K: Key> Selector<'a, K> {
    /// Counts the keys of all documents. May keep `room` bytes of keys, so that they need not be
    /// read again.
    ///
    /// # Errors
    /// The errors of reading the sets; `Interrupted`.
    pub fn count(
        selection: Selection,
        sampled: &'a Sampled,
        sets: Sets<'a>,
        (threads, room): (usize, u64),
        (stage, stop): (&'static str, &Stop),
    ) -> Result<Selector<'a, K>> {
        let selector = Selector {
            selection,
            sampled,
            sets,
            counters: (0..selection.bytes()).map(|_| AtomicU8::new(0)).collect(),
            kept: sets.segments.iter().map(|_| Mutex::default()).collect(),
            chosen: Mutex::default(),
        };
        let queue = Queue::new(0..sets.segments.len());
        let room = AtomicI64::new(i64::try_from(room).unwrap_or(i64::MAX));
        let work = || -> Result<()> {
            while let Some(number) = queue.next() {
                let kept = selector.count_segment(number, threads == 1, &room, (stage, stop))?;
                *lock(&selector.kept[number]) = kept;
            }
            Ok(())
        };
        let work = || work().inspect_err(|_| queue.clear());
        threads::scope(|scope| {
            let workers = (0..threads.min(MOST_THREADS)).map(|_| scope.spawn(work));
            let workers: Vec<_> = workers.collect();
            joined_all(stage, workers)
        })?;
        Ok(selector)
    }

    fn count_segment(
        &self,
        number: usize,
        alone: bool,
        room: &AtomicI64,
        (stage, stop): (&'static str, &Stop),
    ) -> Result<Option<Kept<K>>> {
        let Sets {
            places,
            parameters,
            segments,
            stored,
        } = self.sets;
        let segment = &segments[number];
        let documents = documents_of(segment);
        let mut kept = Kept::new(self, documents.clone(), room);
        let criterion = self.selection.criterion;
        let mut sets = SetReader::<K>::open(places, parameters, segment)?;
        for document in documents {
            stop.tick(stage, document)?;
            let size = self.sampled.own(document);
            if size == 0 {
                sets.next(stored.at(document), |_| Ok(()))?;
            } else {
                let mut missing = criterion.prefix(size, size) as usize;
                sets.next_split(stored.at(document), self.greatest(), |keys, others| {
                    self.add(keys, alone);
                    missing = missing.saturating_sub(keys.len());
                    kept = kept
                        .take()
                        .and_then(|kept| kept.put(keys, others, &mut missing));
                    Ok(())
                })?;
            }
            if let Some(kept) = &mut kept {
                kept.ends.push(kept.keys.len() as u32);
            }
        }
        sets.finish()?;
        Ok(kept)
    }

    /// The greatest key of the region.
    fn greatest(&self) -> K {
        self.selection.greatest(self.selection.bytes())
    }

    #[inline]
    fn counter(&self, key: K) -> Option<&AtomicU8> {
        (self.counters).get(key.above(K::default(), self.selection.shift::<K>()))
    }

    /// Whether a key is in the last class.
    fn is_frequent(&self, key: K) -> bool {
        let counter = self.counter(key);
        counter.is_some_and(|counter| counter.load(Ordering::Relaxed) > MOST_OF_A_CLASS)
    }

    fn add(&self, keys: &[K], alone: bool) {
        let counters = keys.iter().filter_map(|&key| self.counter(key));
        if alone {
            for counter in counters {
                let n = counter.load(Ordering::Relaxed);
                counter.store(n + u8::from(n < MOST), Ordering::Relaxed);
            }
            return;
        }
        // An atomic addition waits for its counter to come from memory, one after the other. Loads
        // do not wait for each other, so they bring the counters into the cache first.
        let loaded = (counters.clone()).map(|counter| counter.load(Ordering::Relaxed));
        std::hint::black_box(loaded.fold(0, u8::wrapping_add));
        for counter in counters {
            if counter.load(Ordering::Relaxed) < MOST {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// What is expected to be chosen of all documents, from one in 16 of them. Documents that
    /// lie together resemble each other more than others do.
    ///
    /// # Errors
    /// The errors of reading the sets; `Interrupted`.
    pub fn expected(&self, (stage, stop): (&'static str, &Stop)) -> Result<SelectStats> {
        let (mut all, mut some) = (0u64, 0u64);
        let mut chooser = Chooser::new(self);
        let mut frequent: Vec<K> = Vec::new();
        for (number, segment) in self.sets.segments.iter().enumerate() {
            chooser.begin(number)?;
            for document in documents_of(segment) {
                stop.tick(stage, document)?;
                let size = u64::from(self.sampled.own(document));
                all += size;
                if document % TRIED > 0 {
                    chooser.skip(document)?;
                    continue;
                }
                some += size;
                chooser.next(document, |keys| {
                    let rest = MOST_FREQUENT - frequent.len();
                    let keys = keys.iter().filter(|&&key| self.is_frequent(key));
                    frequent.extend(keys.take(rest));
                    Ok(())
                })?;
            }
            chooser.put_back(number);
        }
        let of_all = |n: u64| (u128::from(n) * u128::from(all) / u128::from(some.max(1))) as u64;
        let stats = std::mem::take(&mut chooser.choice.stats);
        // How many documents have a key of the last class is not known. If they choose the same
        // ones, because they have little else, there are very many pairs.
        frequent.sort_unstable();
        let lists = frequent.chunk_by(|a, b| a == b);
        let of_list = |n: u64| u128::from(of_all(n)).pow(2) / 2;
        let frequent: u128 = lists.map(|list| of_list(list.len() as u64)).sum();
        let frequent = u64::try_from(frequent).unwrap_or(u64::MAX);
        Ok(self.of_all_keys(SelectStats {
            keys: of_all(stats.keys),
            probes_expected: of_all(stats.probes_expected).max(frequent),
            tokens_expected: of_all(stats.tokens_expected),
            ..stats
        }))
    }

    /// Whether so many pairs are expected under the chosen keys that a wider region may pay, in a
    /// collection of this number of keys: if most of a document is in many others, and the rest
    /// has too few keys in the region. (Twice the region costs 17 ns for each key of the
    /// collection, and a pair 30; a wider region saves some of the pairs.)
    pub(crate) fn is_crowded(expected: &SelectStats, keys: u64) -> bool {
        expected.probes_expected > keys
    }

    /// With the pairs under all keys, of which the region has a part.
    fn of_all_keys(&self, stats: SelectStats) -> SelectStats {
        let sixteenths = u64::from(self.selection.sixteenths);
        SelectStats {
            tokens_expected: stats.tokens_expected * u64::from(PARTS) / sixteenths,
            ..stats
        }
    }

    /// The selection.
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// What was chosen by choosers that have ended.
    pub fn stats(&self) -> SelectStats {
        self.of_all_keys(*lock(&self.chosen))
    }
}

/// Chooses the keys of documents, in one thread.
pub struct Chooser<'a, K> {
    selector: &'a Selector<'a, K>,
    source: Option<Source<K>>,
    choice: Choice<'a, K>,
}

/// The choice among the keys of one document.
struct Choice<'a, K> {
    selector: &'a Selector<'a, K>,
    stats: SelectStats,
    /// Keys of the region, their classes, and how many there were of each.
    set: Vec<K>,
    classes: Vec<u8>,
    found: [u64; CLASSES],
    chosen: Vec<K>,
    /// The number of keys to choose.
    prefix: usize,
    /// Keys of the region, and chosen ones outside, so far.
    inside: usize,
    outside: usize,
    /// Whether all keys of the region are held.
    whole: bool,
    /// Keys that were chosen of the documents before.
    keys_before: u64,
}

impl<'a, K: Key> Chooser<'a, K> {
    /// Bytes of memory for sets of at most this number of keys.
    pub fn bytes(largest: u64) -> u64 {
        largest.min(HELD as u64) * (2 * K::BYTES as u64 + 1)
    }

    /// Begins with no document.
    pub fn new(selector: &'a Selector<'a, K>) -> Self {
        Chooser {
            selector,
            source: None,
            choice: Choice {
                selector,
                stats: SelectStats::default(),
                set: Vec::new(),
                classes: Vec::new(),
                found: [0; CLASSES],
                chosen: Vec::new(),
                prefix: 0,
                inside: 0,
                outside: 0,
                whole: true,
                keys_before: 0,
            },
        }
    }

    /// Begins with the first document of a segment, by its number.
    ///
    /// # Errors
    /// The errors of opening the sets.
    pub fn begin(&mut self, number: usize) -> Result<()> {
        let sets = self.selector.sets;
        self.source = Some(match lock(&self.selector.kept[number]).take() {
            Some(kept) => Source::Kept { kept, document: 0 },
            None => {
                let segment = &sets.segments[number];
                let sets = SetReader::open(sets.places, sets.parameters, segment)?;
                Source::Sets(Box::new(sets))
            }
        });
        Ok(())
    }

    /// Passes the keys of the next document that enter the sort to `take`, in rising pieces.
    ///
    /// # Errors
    /// The errors of reading the set, and of `take`.
    pub fn next(&mut self, document: u32, mut take: impl FnMut(&[K]) -> Result<()>) -> Result<()> {
        let Selector {
            selection, sampled, ..
        } = self.selector;
        let stored = self.selector.sets.stored.at(document);
        let size = sampled.own(document);
        let prefix = selection.criterion.prefix(size, size) as usize;
        let greatest = self.selector.greatest();
        let choice = &mut self.choice;
        match &mut self.source {
            None => return Ok(()),
            Some(Source::Kept { kept, document }) => {
                let before = document
                    .checked_sub(1)
                    .map_or(0, |before| kept.ends[before]);
                let keys = &kept.keys[before as usize..kept.ends[*document] as usize];
                *document += 1;
                if size == 0 {
                    return Ok(());
                }
                let inside = keys.partition_point(|&key| key <= greatest);
                let (inside, others) = keys.split_at(inside);
                choice.begin(prefix);
                choice.take(inside, others.iter().copied(), &mut take)?;
            }
            Some(Source::Sets(sets)) if size == 0 => return sets.next(stored, |_| Ok(())),
            Some(Source::Sets(sets)) => {
                choice.begin(prefix);
                sets.next_split(stored, greatest, |keys, others| {
                    let others = others.chunks_exact(K::BYTES).map(K::get_le);
                    choice.take(keys, others, &mut take)
                })?;
            }
        }
        choice.end(&mut take)
    }

    /// Leaves out the next document.
    fn skip(&mut self, document: u32) -> Result<()> {
        match &mut self.source {
            None => {}
            Some(Source::Kept { document, .. }) => *document += 1,
            Some(Source::Sets(sets)) => {
                sets.next(self.selector.sets.stored.at(document), |_| Ok(()))?;
            }
        }
        Ok(())
    }

    /// Ends a segment.
    ///
    /// # Errors
    /// `Corrupt` if its sets are damaged.
    pub fn finish(&mut self) -> Result<()> {
        match self.source.take() {
            Some(Source::Sets(sets)) => sets.finish(),
            _ => Ok(()),
        }
    }

    /// Ends a segment of which others will choose.
    fn put_back(&mut self, number: usize) {
        if let Some(Source::Kept { kept, .. }) = self.source.take() {
            *lock(&self.selector.kept[number]) = Some(kept);
        }
    }
}

impl<K: Key> Choice<'_, K> {
    fn begin(&mut self, prefix: usize) {
        self.stats.documents += 1;
        self.set.clear();
        self.found = [0; CLASSES];
        self.keys_before = self.stats.keys;
        (self.prefix, self.inside, self.outside, self.whole) = (prefix, 0, 0, true);
    }

    /// Takes keys of the region, and those that follow it, which are needed if it has too few.
    fn take(
        &mut self,
        keys: &[K],
        mut others: impl ExactSizeIterator<Item = K>,
        take: &mut impl FnMut(&[K]) -> Result<()>,
    ) -> Result<()> {
        self.set.extend_from_slice(keys);
        self.inside += keys.len();
        if self.set.len() > HELD {
            self.pass_all(take)?;
        }
        let missing = self.prefix.saturating_sub(self.inside + self.outside);
        if missing > 0 && others.len() > 0 {
            self.pass_all(take)?;
            self.chosen.clear();
            self.chosen.extend(others.by_ref().take(missing));
            self.outside += self.chosen.len();
            self.pass(take)?;
        }
        Ok(())
    }

    fn end(&mut self, take: &mut impl FnMut(&[K]) -> Result<()>) -> Result<()> {
        if self.whole {
            self.choose(self.prefix as u64);
            self.pass(take)?;
        } else {
            self.pass_all(take)?;
            self.stats.probes_expected += pairs(&self.found) / 2;
        }
        self.stats.tokens_expected += pairs(&self.found) / 2;
        self.stats.pruned += u64::from(self.stats.keys == self.keys_before);
        Ok(())
    }

    /// Chooses the first keys of a whole set, of which the region has enough.
    fn choose(&mut self, mut left: u64) {
        self.look_up();
        let mut class = 0;
        while self.found[class] < left {
            left -= self.found[class];
            class += 1;
        }
        self.put(class as u8, if class > 0 { left as usize } else { 0 });
        let mut chosen = self.found;
        chosen[class..].fill(0);
        chosen[class] = left;
        self.stats.probes_expected += pairs(&chosen) / 2;
    }

    /// Passes all keys of the held ones that are in several documents, because the rarest of the
    /// set are not known, or are too few.
    fn pass_all(&mut self, take: &mut impl FnMut(&[K]) -> Result<()>) -> Result<()> {
        self.whole = false;
        self.look_up();
        self.put(CLASSES as u8, 0);
        self.set.clear();
        self.pass(take)
    }

    fn pass(&mut self, take: &mut impl FnMut(&[K]) -> Result<()>) -> Result<()> {
        self.stats.keys += self.chosen.len() as u64;
        take(&self.chosen)
    }

    /// Looks up and counts the classes of the held keys.
    fn look_up(&mut self) {
        let counters = self
            .set
            .iter()
            .filter_map(|&key| self.selector.counter(key));
        self.classes.clear();
        self.classes
            .extend(counters.map(|counter| class(counter.load(Ordering::Relaxed))));
        for &class in &self.classes {
            self.found[usize::from(class)] += 1;
        }
    }

    /// Chooses the keys of the classes from 1 to before `end`, and the first `of_last` keys of
    /// class `end`.
    fn put(&mut self, end: u8, of_last: usize) {
        self.chosen.clear();
        self.chosen.resize(self.classes.len(), K::default());
        let (mut n, mut left) = (0, of_last);
        for (&key, &class) in self.set.iter().zip(&self.classes) {
            let last = class == end && left > 0;
            left -= usize::from(last);
            self.chosen[n] = key;
            n += usize::from((1..end).contains(&class) || last);
        }
        self.chosen.truncate(n);
    }
}

impl<K> Drop for Choice<'_, K> {
    fn drop(&mut self) {
        let (sum, own) = (&mut *lock(&self.selector.chosen), &self.stats);
        sum.documents += own.documents;
        sum.pruned += own.pruned;
        sum.keys += own.keys;
        sum.probes_expected += own.probes_expected;
        sum.tokens_expected += own.tokens_expected;
    }
}

/// Twice the expected pairs under this number of keys in each class.
fn pairs(keys: &[u64; CLASSES]) -> u64 {
    (0..).zip(keys).map(|(class, &n)| n * others(class)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(sixteenths: u32, bits: u32) -> Selection {
        Selection {
            criterion: Criterion::default(),
            sixteenths,
            bits,
        }
    }

    /// A class has the counters between its bounds. Threads may pass the last counter by one each;
    /// the class does not change.
    #[test]
    fn classes_rise_with_counters() {
        let classes = [
            (1, 0),
            (2, 1),
            (4, 3),
            (5, 4),
            (8, 4),
            (9, 5),
            (128, 8),
            (129, 9),
        ];
        for (counter, expected) in classes {
            assert_eq!(class(counter), expected, "{counter}");
        }
        for counter in MOST..=u8::MAX {
            assert_eq!(usize::from(class(counter)), CLASSES - 1);
        }
    }

    fn ranges_cover_all_keys<K: Key>() {
        for (sixteenths, bits) in [(1, 16), (5, 16), (16, 16), (5, 30)] {
            let selection = selection(sixteenths, bits);
            for ranges in [1, 2, 7, 1024] {
                let bounds = (0..ranges).map(|range| selection.bounds::<K>(ranges, range));
                let bounds: Vec<_> = bounds.collect();
                assert_eq!(bounds[0].0, K::default());
                assert_eq!(bounds[ranges as usize - 1].1, K::MAX);
                for pair in bounds.windows(2) {
                    assert_eq!(pair[0].1.to_u128() + 1, pair[1].0.to_u128());
                }
            }
        }
    }

    #[test]
    fn ranges_cover_all_keys_once() {
        ranges_cover_all_keys::<u64>();
        ranges_cover_all_keys::<u128>();
    }
}
