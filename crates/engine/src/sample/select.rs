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
//! 1. *Count*: all documents count their sampled keys in one table of counters of a byte. Keys are
//!    random, so the counter of a key is given by its highest bits. Only keys of the *region* are
//!    counted: the lowest sixteenths of the keys that can be sampled, enough of them to choose from.
//!    If memory has no room for a byte for each key, a counter has two bits, and sixteen counters
//!    share a byte that continues them. Most keys are in one document, so most counters need only
//!    the two bits. The table then has three times as many counters, so fewer keys share one.
//!    Counters stop, so keys of very many documents are also counted in some documents only, in a
//!    small table of counters that do not stop.
//! 2. *Choose*: the order is (in the region, class of the counter, key) before (outside, key). A
//!    document takes its first p keys in this order, where p is the length of its prefix. Keys whose
//!    counter is 1 are in no other document. They take up places, but do not enter the sort.
//!
//! Two documents with different ratios are compared on the coarser one. So a document takes a
//! prefix of its keys at its own level, and one at each coarser level. The region then has all keys.
//!
//! # Invariants
//! - Counters are at least the document frequency, so a key that is left out is in one document
//!   only. A counter that is too high changes the order, which may be any order.
//! - Classes do not depend on the order in which threads count: counters stop at [`MOST`], and the
//!   class of a counter that stopped is given by the small table. Which documents count there is
//!   given by their numbers.
//! - What is chosen depends on the collection, the sampling, the criterion and the size of the table.
//!
//! # Cost
//! Two passes over the sets. Memory: the table, and the set of one document in each thread. A set of more than [`HELD`] keys is not held;
//! all its counted keys of other documents enter the sort.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::collection::{Column, SegmentEntry, SetReader, keys_of, position};
use crate::sample::Sampled;
use crate::sample::estimate::{Expected, Meetings};
use lookalike_base::{
    Criterion, Key, Rate, Result, Stop, counters_in_large_pages, is_zero, lock, mix_key, within,
    workers::share,
};
use lookalike_store::Places;

use serde::{Deserialize, Serialize};

/// Where counters stop. Each thread may pass it by one, and a byte must have room for that: a
/// counter that begins again at zero would lose pairs.
const MOST: u8 = 200;
/// The most threads that count.
const MOST_THREADS: usize = (u8::MAX - MOST) as usize;
/// Parts of all keys in which the region is given.
pub const PARTS: u32 = 16;
/// The region has this number of keys for each key that is chosen, so that there is a choice, and
/// so that few documents have too few keys in it.
pub const KEYS_OF_A_CHOICE: u64 = 2;
/// With fewer keys in a set, their number in a part of the keys varies too much: all are counted.
const FEW_KEYS: u64 = 64;
/// The most keys of a set that are held for a choice.
const HELD: usize = 1 << 16;
/// The counters may take one part in this number of the memory that the sort can do without. Counters
/// of two bits may take twice as much: what they save is worth more than longer runs.
const TABLE_SHARE: u64 = 4;
/// One in this number of documents is tried before all are, chosen at random: in some collections,
/// every other document is of another kind.
const TRIED: u64 = 16;
/// Of fewer documents, more are tried.
const LEAST_TRIED: u64 = 256;
/// Bits of the smallest table, and of the largest that a manifest may ask for. There is about one
/// counter for a key; if memory is short, several keys share one.
const LEAST_BITS: u32 = 16;
const MOST_BITS: u32 = 48;
/// The greatest value of a counter of two bits, the number of such counters in a byte, and of those
/// that share the byte which continues them.
const FULL: u8 = 3;
const IN_A_BYTE: usize = 4;
const ON_A_BYTE: usize = 16;
/// Bytes of the counters that share a byte, with that byte.
const GROUP: usize = ON_A_BYTE / IN_A_BYTE + 1;
/// Bits of the table of keys whose counters stop, and about how many documents count there. More keys
/// than counters would differ by chance only, so documents are few enough for that.
const FREQUENT_BITS: u32 = 16;
const COUNT_FREQUENT: u64 = 1 << 16;
/// The most keys whose counters are brought into the cache together.
const TOGETHER: usize = 1 << 10;

/// Which fingerprints the sort has, if not all: those that pairs from a threshold on need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The score, and the lowest threshold at which no pair is lost.
    #[serde(flatten)]
    pub criterion: Criterion,
    /// The finest ratio of the sample, whose class has all sampled keys.
    #[serde(default, skip_serializing_if = "Rate::is_full")]
    pub rate: Rate,
    /// The part of these keys that is counted, in sixteenths.
    pub sixteenths: u32,
    /// The table would have two to the power of this number of counters if it counted all keys.
    pub bits: u32,
    /// Whether a counter has two bits, and shares the byte that continues it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packed: bool,
    /// Keys whose counters stop are counted in one of this number of documents. If it is 0, as in
    /// directories of versions before, these keys are in no order.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub frequent_in: u32,
}

impl Selection {
    /// The selection for a criterion, with as many counters as `spare` bytes have room for. The
    /// documents have `shingles` keys in all, before sampling.
    pub fn of(criterion: Criterion, sampled: &Sampled, shingles: u64, spare: u64) -> Selection {
        let sizes = || (0..sampled.documents() as u32).map(|document| sampled.own(document));
        let keys: u64 = sizes().map(u64::from).sum();
        let documents = sizes().filter(|&size| size > 0).count() as u64;
        let chosen = chosen_keys(criterion, sampled);
        let parts = (u128::from(chosen * KEYS_OF_A_CHOICE) * u128::from(PARTS))
            .div_ceil(keys.max(1).into());
        let all = sampled.rates().len() > 1 || keys < documents * FEW_KEYS;
        let selection = Selection {
            criterion,
            rate: sampled.rates().first().copied().unwrap_or(Rate::FULL),
            sixteenths: if all {
                PARTS
            } else {
                parts.clamp(1, PARTS.into()) as u32
            },
            bits: (shingles.max(1).ilog2() + 1).clamp(LEAST_BITS, MOST_BITS),
            packed: false,
            frequent_in: documents.div_ceil(COUNT_FREQUENT).max(1) as u32,
        };
        selection.within(spare)
    }

    /// With counters for which memory has room.
    fn within(mut self, spare: u64) -> Selection {
        self.packed |= !self.fits(spare);
        while !self.fits(spare) {
            self.bits -= 1;
        }
        self
    }

    /// The most keys that documents choose. (A few sets of more than a million keys may choose more.)
    pub(crate) fn most_keys(&self, sampled: &Sampled) -> u64 {
        chosen_keys(self.criterion, sampled)
    }

    /// With a region that is twice as large, so that there is more to choose from; `None` if it has
    /// all keys.
    pub fn wider(&self, spare: u64) -> Option<Selection> {
        let wider = Selection {
            sixteenths: (2 * self.sixteenths).min(PARTS),
            ..*self
        };
        Some(wider.within(spare)).filter(|_| self.sixteenths < PARTS)
    }

    /// Whether it counts all keys of all documents, because documents have few.
    pub(crate) fn counts_all(&self, sampled: &Sampled) -> bool {
        self.sixteenths == PARTS && self.rate.is_full() && sampled.rates().len() == 1
    }

    /// Whether it can be used, and memory has room for the counters. It may come from a manifest
    /// that this program did not write.
    pub fn fits(&self, spare: u64) -> bool {
        (LEAST_BITS..=MOST_BITS).contains(&self.bits)
            && (1..=PARTS).contains(&self.sixteenths)
            && (self.bits == LEAST_BITS
                || self.bytes() <= spare / (TABLE_SHARE >> u32::from(self.packed)))
    }

    /// The first counter of the sampled keys, and the number of their counters, in a table of all
    /// keys.
    fn counters(&self) -> (u64, u64) {
        let (n, class) = (u128::from(self.rate.n()), u128::from(self.rate.class()));
        let first = (class << self.bits) / n;
        let end = ((class + 1) << self.bits).div_ceil(n);
        (first as u64, (end - first) as u64)
    }

    /// The number of counters of the region.
    pub fn places(&self) -> u64 {
        let (_, all) = self.counters();
        (all * u64::from(self.sixteenths) / u64::from(PARTS)).max(1)
    }

    /// Bytes of these counters.
    pub fn bytes(&self) -> u64 {
        match self.packed {
            true => self.places().div_ceil(ON_A_BYTE as u64) * GROUP as u64,
            false => self.places(),
        }
    }

    /// Whether a document counts its keys also in the table of frequent ones.
    fn counts_frequent(&self, document: u32) -> bool {
        self.frequent_in > 0 && mix_key(document.into()).is_multiple_of(self.frequent_in.into())
    }

    /// How far a key is shifted to the right to be the number of its counter.
    fn shift<K: Key>(&self) -> u32 {
        K::BITS - self.bits
    }

    /// The least key of a counter of the region, by its number.
    fn least<K: Key>(&self, counter: u64) -> u128 {
        let (first, _) = self.counters();
        u128::from(first + counter) << self.shift::<K>()
    }

    /// The greatest key of the counters below `end`, of which there is one.
    fn greatest<K: Key>(&self, end: u64) -> K {
        K::from_u128(self.least::<K>(end - 1) + ((1 << self.shift::<K>()) - 1))
    }

    /// The keys of one of `ranges` ranges, which are equal parts of the region. The first range also
    /// has the keys before the region, and the last one the keys after it. There must be at least as
    /// many counters as ranges.
    pub fn bounds<K: Key>(self, ranges: u32, range: u32) -> (K, K) {
        let start = |range: u32| {
            let counters = u128::from(self.places()) * u128::from(range) / u128::from(ranges);
            counters as u64
        };
        let low = match range {
            0 => K::default(),
            _ => K::from_u128(self.least::<K>(start(range))),
        };
        if range + 1 >= ranges {
            return (low, K::MAX);
        }
        (low, self.greatest(start(range + 1)))
    }
}

/// The lengths of all prefixes, added up.
fn chosen_keys(criterion: Criterion, sampled: &Sampled) -> u64 {
    let levels = sampled.rates().len();
    let documents = 0..sampled.documents() as u32;
    let of = |document: u32| {
        let levels = sampled.level(document)..levels;
        levels.map(move |level| u64::from(prefix(criterion, sampled, level, document)))
    };
    documents.flat_map(of).sum()
}

/// The length of a document's prefix at a level.
fn prefix(criterion: Criterion, sampled: &Sampled, level: usize, document: u32) -> u32 {
    let measured = sampled.measured_at(level, document);
    criterion.prefix(sampled.at(level, document), measured)
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

/// Counters of the keys of a region.
struct RegionCounters<K> {
    /// The least key of the first counter, and [`Selection::shift`].
    first: K,
    shift: u32,
    /// The number of counters, and whether they are [`Selection::packed`].
    places: usize,
    packed: bool,
    bytes: Vec<AtomicU8>,
    /// Counters of frequent keys, by the last bits of the place.
    frequent: Vec<AtomicU32>,
}

impl<K: Key> RegionCounters<K> {
    fn new(selection: &Selection) -> RegionCounters<K> {
        RegionCounters {
            first: K::from_u128(selection.least::<K>(0)),
            shift: selection.shift::<K>(),
            places: selection.places() as usize,
            packed: selection.packed,
            bytes: counters_in_large_pages(selection.bytes() as usize),
            frequent: (0..1 << FREQUENT_BITS).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// The number of a key's counter; `None` outside the region.
    #[inline]
    fn place(&self, key: K) -> Option<usize> {
        Some(key.above(self.first, self.shift)).filter(|&place| place < self.places)
    }

    /// The byte that has a counter, or the counter of two bits in it.
    #[inline]
    fn byte(&self, place: usize) -> &AtomicU8 {
        match self.packed {
            true => &self.bytes[place / ON_A_BYTE * GROUP + place % ON_A_BYTE / IN_A_BYTE],
            false => &self.bytes[place],
        }
    }

    /// The first bit of a counter of two bits in its byte, and the byte that continues it.
    #[inline]
    fn rest(&self, place: usize) -> (usize, &AtomicU8) {
        let rest = place / ON_A_BYTE * GROUP + GROUP - 1;
        (2 * (place % IN_A_BYTE), &self.bytes[rest])
    }

    /// Brings the counters of keys into the cache. An atomic addition, or a branch on what a counter
    /// says, waits for the counter to come from memory, one after the other. Loads do not wait for
    /// each other.
    fn bring(&self, keys: &[K]) {
        let places = keys.iter().filter_map(|&key| self.place(key));
        let loaded = places.map(|place| self.byte(place).load(Ordering::Relaxed));
        std::hint::black_box(loaded.fold(0, u8::wrapping_add));
    }

    /// Appends the classes of the keys of the region.
    fn classes(&self, keys: &[K], classes: &mut Vec<u8>) {
        for keys in keys.chunks(TOGETHER) {
            if self.packed {
                self.bring(keys);
            }
            classes.extend(keys.iter().filter_map(|&key| self.class(key)));
        }
    }

    /// The class of a key; `None` outside the region.
    #[inline]
    fn class(&self, key: K) -> Option<u8> {
        let place = self.place(key)?;
        Some(match self.counted(place) {
            MOST.. => self.class_of_frequent(place),
            n => CLASS_OF[usize::from(n)],
        })
    }

    /// The class of a counter that stopped: two for each doubling.
    fn class_of_frequent(&self, place: usize) -> u8 {
        let n = self.frequent(place).load(Ordering::Relaxed);
        let Some(log) = n.checked_ilog2() else {
            return CLASS_OF[usize::from(MOST)];
        };
        let half = if log > 0 { (n >> (log - 1)) & 1 } else { 0 };
        CLASS_OF[usize::from(MOST)] + (2 * log + half) as u8 + 1
    }

    fn frequent(&self, place: usize) -> &AtomicU32 {
        &self.frequent[place % (1 << FREQUENT_BITS)]
    }

    /// Returns the value of a counter.
    #[inline]
    fn counted(&self, place: usize) -> u8 {
        let byte = self.byte(place).load(Ordering::Relaxed);
        if !self.packed {
            return byte;
        }
        let (at, rest) = self.rest(place);
        match (byte >> at) & FULL {
            FULL => rest.load(Ordering::Relaxed).saturating_add(FULL),
            n => n,
        }
    }

    fn add_frequent(&self, keys: &[K]) {
        for place in keys.iter().filter_map(|&key| self.place(key)) {
            self.frequent(place).fetch_add(1, Ordering::Relaxed);
        }
    }

    fn add(&self, keys: &[K], alone: bool) {
        for keys in keys.chunks(TOGETHER) {
            if self.packed || !alone {
                self.bring(keys);
            }
            let places = keys.iter().filter_map(|&key| self.place(key));
            if self.packed {
                places.for_each(|place| self.add_packed(place, alone));
            } else {
                places.for_each(|place| add_one(self.byte(place), alone));
            }
        }
    }

    fn add_packed(&self, place: usize, alone: bool) {
        let (byte, (at, rest)) = (self.byte(place), self.rest(place));
        let more = |n: u8| ((n >> at) & FULL < FULL).then(|| n + (1 << at));
        let added = match more(byte.load(Ordering::Relaxed)) {
            Some(more) if alone => {
                byte.store(more, Ordering::Relaxed);
                true
            }
            Some(_) => (byte.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)).is_ok(),
            None => false,
        };
        if !added {
            add_one(rest, alone);
        }
    }
}

/// Counts one more in a byte.
#[inline]
fn add_one(counter: &AtomicU8, alone: bool) {
    let n = counter.load(Ordering::Relaxed);
    if alone {
        counter.store(n + u8::from(n < MOST), Ordering::Relaxed);
    } else if n < MOST {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Number of classes: 1, 2, 3, 4, 5-8, ..., 65-128, more; and 64 of counters that stopped.
const CLASSES: usize = 10 + 64;

/// Counters of all documents' keys in the region.
pub struct Selector<'a, K> {
    selection: Selection,
    sampled: &'a Sampled,
    sets: Sets<'a>,
    counters: RegionCounters<K>,
    /// The counts of the choosers that have ended.
    chosen: Mutex<SelectStats>,
}

/// The stored sets of a collection.
#[derive(Clone, Copy)]
pub struct Sets<'a> {
    /// Where the parts are.
    pub places: &'a Places,
    /// The segments.
    pub segments: &'a [SegmentEntry],
    /// The number of stored keys of each document.
    pub stored: &'a Column,
}

impl Sets<'_> {
    /// Whether documents have so few pairs that counting all keys pays even if they need not be
    /// sorted, from some of the documents and `room` of their keys.
    ///
    /// # Errors
    /// The errors of reading the sets; `Interrupted`.
    pub(crate) fn have_few_pairs<K: Key>(
        &self,
        sampled: &Sampled,
        room: usize,
        stage: &'static str,
        stop: &Stop,
    ) -> Result<bool> {
        let one_in = (sampled.documents() as u64 / LEAST_TRIED).clamp(1, TRIED);
        let (mut all, mut some) = (0u64, 0u64);
        let mut every = Meetings::new(room);
        let mut of_document = Vec::new();
        for segment in self.segments {
            let mut sets = SetReader::<K>::open(self.places, segment)?;
            for document in documents_of(segment) {
                stop.tick(stage, document)?;
                let stored = self.stored.at(document);
                all += u64::from(stored);
                if !mix_key(document.into()).is_multiple_of(one_in) {
                    sets.next(stored, |_| Ok(()))?;
                    continue;
                }
                some += u64::from(stored);
                of_document.clear();
                sets.next(stored, |keys| {
                    of_document.extend_from_slice(keys);
                    Ok(())
                })?;
                every.take(&of_document, document);
            }
            sets.finish()?;
        }
        let share = some.max(1) as f64 / all.max(1) as f64;
        Ok(every.met(share, 1.0, |_, _| true).is_little_beside(all))
    }
}

/// The counts of the documents and fingerprints that a [`Selector`] has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectStats {
    /// Documents with fingerprints.
    pub documents: u64,
    /// Of these, documents none of whose keys entered the sort, because those of their prefixes are
    /// in no other document.
    pub pruned: u64,
    /// Keys that entered the sort.
    pub keys: u64,
}

/// The documents of a segment.
fn documents_of(segment: &SegmentEntry) -> Range<u32> {
    let first = segment.first_document;
    first..first + segment.stats.documents as u32
}

impl<'a, K: Key> Selector<'a, K> {
    /// Counts the keys of all documents.
    ///
    /// # Errors
    /// The errors of reading the sets; `Interrupted`.
    pub fn count(
        selection: Selection,
        sampled: &'a Sampled,
        sets: Sets<'a>,
        threads: usize,
        stage: &'static str,
        stop: &Stop,
    ) -> Result<Selector<'a, K>> {
        let selector = Selector {
            selection,
            sampled,
            sets,
            counters: RegionCounters::new(&selection),
            chosen: Mutex::default(),
        };
        let (segments, most) = (0..sets.segments.len(), threads.min(MOST_THREADS));
        share(stage, most, segments, |queue| {
            while let Some(number) = queue.next() {
                selector.count_segment(number, threads == 1, stage, stop)?;
            }
            Ok(())
        })?;
        Ok(selector)
    }

    fn count_segment(
        &self,
        number: usize,
        alone: bool,
        stage: &'static str,
        stop: &Stop,
    ) -> Result<()> {
        let all = self.sets;
        let segment = &all.segments[number];
        let mut sets = SetReader::<K>::open(all.places, segment)?;
        for document in documents_of(segment) {
            stop.tick(stage, document)?;
            let frequent = self.selection.counts_frequent(document);
            self.read(&mut sets, document, |keys, _| {
                self.counters.add(keys, alone);
                if frequent {
                    self.counters.add_frequent(keys);
                }
                Ok(())
            })?;
        }
        sets.finish()
    }

    /// Reads the next document's sampled keys in rising pieces, and passes on the keys inside the
    /// region and the bytes of the keys outside.
    fn read(
        &self,
        sets: &mut SetReader<K>,
        document: u32,
        mut take: impl FnMut(&[K], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let stored = self.sets.stored.at(document);
        if self.sampled.own(document) == 0 {
            return sets.next(stored, |_| Ok(()));
        }
        let rate = self.sampled.rate(document);
        if rate == Rate::FULL {
            return sets.next_split(stored, self.greatest(), take);
        }
        let bounds = rate.bounds::<K>();
        sets.next_split(stored, self.greatest(), |keys, others| {
            let end = position(others, |key: K| key <= bounds.1) * K::BYTES;
            take(within(keys, bounds), &others[..end])
        })
    }

    /// The length of a document's prefix at a level.
    fn prefix(&self, level: usize, document: u32) -> u32 {
        prefix(self.selection.criterion, self.sampled, level, document)
    }

    /// The greatest key of the region.
    fn greatest(&self) -> K {
        self.selection.greatest(self.selection.places())
    }

    /// Estimates from some documents how much is chosen from all of them. Documents that lie
    /// together resemble each other more than others do. `room` is the number of keys that may be
    /// held.
    ///
    /// # Errors
    /// The errors of reading the sets; `Interrupted`.
    pub fn expected(&self, room: usize, stage: &'static str, stop: &Stop) -> Result<Expected> {
        let one_in = (self.sampled.documents() as u64 / LEAST_TRIED).clamp(1, TRIED);
        let (mut all, mut some, mut documents) = (0u64, 0u64, 0u64);
        let mut chooser = Chooser::new(self);
        chooser.choice.shared = Some(Vec::new());
        let (mut chosen, mut every) = (Meetings::new(room / 2), Meetings::new(room / 2));
        let mut shareable = HashMap::new();
        for (number, segment) in self.sets.segments.iter().enumerate() {
            chooser.begin(number)?;
            for document in documents_of(segment) {
                stop.tick(stage, document)?;
                let size = u64::from(self.sampled.own(document));
                all += size;
                documents += u64::from(size > 0);
                if !mix_key(document.into()).is_multiple_of(one_in) {
                    chooser.skip(document)?;
                    continue;
                }
                some += size;
                chooser.next(document, |keys| {
                    chosen.take(keys, document);
                    Ok(())
                })?;
                shareable.insert(document, chooser.shareable());
                if let Some(shared) = &mut chooser.choice.shared {
                    every.take(shared, document);
                    shared.clear();
                }
            }
        }
        let share = some.max(1) as f64 / all.max(1) as f64;
        let keys = std::mem::take(&mut chooser.choice.stats).keys;
        let counted = f64::from(self.selection.sixteenths) / f64::from(PARTS);
        Ok(Expected {
            keys: (keys as f64 / share) as u64,
            records: all,
            documents,
            chosen: chosen.met(share, 1.0, |a, b| self.may_reach(&shareable, a, b)),
            every: every.met(share, counted, |_, _| true),
        })
    }

    /// Whether two documents may reach the threshold, by their sizes and by what they can share.
    fn may_reach(&self, shareable: &HashMap<u32, u32>, a: u32, b: u32) -> bool {
        let criterion = self.selection.criterion;
        let (size_a, size_b) = self.sampled.measured(a, b);
        let least = criterion.least_shared(size_a.into(), size_b.into());
        let most = |document| shareable.get(&document).copied().unwrap_or(u32::MAX);
        let most = u64::from(most(a).min(most(b)));
        (self.sampled.rates().len() > 1 || most >= least)
            && u64::from(size_a.max(size_b)) <= criterion.largest_partner(size_a.min(size_b))
    }

    /// Bytes of all counters.
    pub fn bytes(&self) -> u64 {
        self.selection.bytes() + size_of_val(self.counters.frequent.as_slice()) as u64
    }

    /// The selection.
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// Returns the counts of the choosers that have ended.
    pub fn stats(&self) -> SelectStats {
        *lock(&self.chosen)
    }
}

/// Chooses the keys of documents, in one thread.
pub struct Chooser<'a, K> {
    selector: &'a Selector<'a, K>,
    source: Option<SetReader<K>>,
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
    /// Keys of the last document, without those that only it has.
    shareable: u32,
    /// If it is wanted: the keys of the region that are in several documents.
    shared: Option<Vec<K>>,
    /// The document, and the number of keys that it chooses at its own level.
    document: u32,
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
    /// Bytes of memory for the largest set that is held, with the piece that makes it too large.
    pub const BYTES: u64 = 2 * HELD as u64 * (2 * K::BYTES as u64 + 2);

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
                shareable: 0,
                shared: None,
                document: 0,
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
        let Sets {
            places, segments, ..
        } = self.selector.sets;
        self.source = Some(SetReader::open(places, &segments[number])?);
        Ok(())
    }

    /// Passes the keys of the next document that enter the sort to `take`, in rising pieces.
    ///
    /// # Errors
    /// The errors of reading the set, and of `take`.
    pub fn next(&mut self, document: u32, mut take: impl FnMut(&[K]) -> Result<()>) -> Result<()> {
        let selector = self.selector;
        let size = selector.sampled.own(document);
        let choice = &mut self.choice;
        choice.shareable = 0;
        let Some(sets) = &mut self.source else {
            return Ok(());
        };
        if size > 0 {
            choice.begin(document);
        }
        selector.read(sets, document, |keys, others| {
            choice.take(keys, keys_of(others), &mut take)
        })?;
        if size == 0 {
            return Ok(());
        }
        choice.end(&mut take)
    }

    /// The most keys that the last document can share with another. Keys of the region with a
    /// counter of 1 are in no other document.
    pub fn shareable(&self) -> u32 {
        self.choice.shareable
    }

    /// Leaves out the next document.
    fn skip(&mut self, document: u32) -> Result<()> {
        match &mut self.source {
            Some(sets) => sets.next(self.selector.sets.stored.at(document), |_| Ok(())),
            None => Ok(()),
        }
    }

    /// Ends a segment.
    ///
    /// # Errors
    /// `Corrupt` if its sets are damaged.
    pub fn finish(&mut self) -> Result<()> {
        self.source.take().map_or(Ok(()), SetReader::finish)
    }
}

impl<K: Key> Choice<'_, K> {
    fn begin(&mut self, document: u32) {
        let level = self.selector.sampled.level(document);
        let prefix = self.selector.prefix(level, document) as usize;
        self.document = document;
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
        self.inside += keys.len();
        for keys in keys.chunks(HELD) {
            self.set.extend_from_slice(keys);
            if self.set.len() > HELD {
                self.pass_all(take)?;
            }
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
            self.look_up();
            if self.selector.sampled.rates().len() == 1 {
                let (class, left) = self.border(0..self.set.len(), self.prefix as u64);
                self.put(class as u8, left);
            } else {
                self.choose_at_levels();
            }
            self.pass(take)?;
        } else {
            self.pass_all(take)?;
        }
        let size = self.selector.sampled.own(self.document);
        self.shareable = size.saturating_sub(self.found[0] as u32);
        self.stats.pruned += u64::from(self.stats.keys == self.keys_before);
        Ok(())
    }

    /// Where a prefix of `left` of the held keys at these places ends: in which class, and after how
    /// many keys of it. The region has enough keys.
    fn border(&mut self, places: Range<usize>, mut left: u64) -> (usize, usize) {
        let mut chosen = self.found;
        if places.len() < self.set.len() {
            chosen = [0; CLASSES];
            for &class in &self.classes[places] {
                chosen[usize::from(class)] += 1;
            }
        }
        let mut class = 0;
        // The sizes may be those of other sets, if files are damaged.
        while chosen[class] < left && class + 1 < CLASSES {
            left -= chosen[class];
            class += 1;
        }
        (class, if class > 0 { left as usize } else { 0 })
    }

    /// Chooses a prefix of the whole set at the document's level, and at each coarser one.
    fn choose_at_levels(&mut self) {
        let Selector { sampled, .. } = self.selector;
        let mut is_chosen = vec![false; self.set.len()];
        for level in sampled.level(self.document)..sampled.rates().len() {
            let (low, high) = sampled.rates()[level].bounds::<K>();
            let from = self.set.partition_point(|&key| key < low);
            let to = self.set.partition_point(|&key| key <= high);
            let prefix = self.selector.prefix(level, self.document);
            let (end, mut left) = self.border(from..to, prefix.into());
            let classes = self.classes[from..to]
                .iter()
                .map(|&class| usize::from(class));
            for (chosen, class) in is_chosen[from..to].iter_mut().zip(classes) {
                let last = class == end && left > 0;
                left -= usize::from(last);
                *chosen |= (1..end).contains(&class) || last;
            }
        }
        let keys = self.set.iter().zip(is_chosen);
        self.chosen.clear();
        (self.chosen).extend(keys.filter(|(_, chosen)| *chosen).map(|(&key, _)| key));
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
        self.classes.clear();
        (self.selector.counters).classes(&self.set, &mut self.classes);
        for &class in &self.classes {
            self.found[usize::from(class)] += 1;
        }
        if let Some(shared) = &mut self.shared {
            let keys = self.set.iter().zip(&self.classes);
            shared.extend(keys.filter(|(_, class)| **class > 0).map(|(key, _)| key));
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
        lookalike_base::add!(sum, own => documents, pruned, keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(sixteenths: u32, bits: u32) -> Selection {
        Selection {
            criterion: Criterion::default(),
            rate: Rate::FULL,
            sixteenths,
            bits,
            packed: false,
            frequent_in: 1,
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
            assert_eq!(CLASS_OF[counter], expected, "{counter}");
        }
        for counter in MOST..=u8::MAX {
            assert_eq!(CLASS_OF[usize::from(counter)], CLASS_OF[128] + 1);
        }
    }

    /// A key of more documents is in the same class or in a higher one, also if its counter stopped;
    /// in twice as many, it is in a higher one.
    #[test]
    fn classes_of_frequent_keys_rise() {
        let numbers = [1, 2, 100, 199, 210, 299, 300, 425, 1_000, 50_000, 100_000];
        for packed in [false, true] {
            let selection = Selection {
                packed,
                ..selection(16, 18)
            };
            let counters = RegionCounters::new(&selection);
            let classes = numbers.iter().map(|&n| {
                let key = mix_key(n);
                (0..n).for_each(|_| counters.add(&[key], true));
                (0..n).for_each(|_| counters.add_frequent(&[key]));
                (n, counters.class(key).unwrap())
            });
            let classes: Vec<(u64, u8)> = classes.collect();
            for (&(n, class), &(more, next)) in classes.iter().zip(&classes[1..]) {
                assert!(
                    class <= next && (class < next || more < 2 * n),
                    "{classes:?}"
                );
            }
            let most = RegionCounters::<u64>::new(&selection);
            most.frequent
                .iter()
                .for_each(|n| n.store(u32::MAX, Ordering::Relaxed));
            assert_eq!(usize::from(most.class_of_frequent(0)), CLASSES - 1);
        }
    }

    /// Whatever a counter has room for, it says at least in how many documents a key is, and threads
    /// count the same as one alone.
    #[test]
    fn counters_are_never_too_low() {
        let mut keys: Vec<(u64, u32)> = Vec::new();
        for n in 0..60_000 {
            let key = mix_key(n.into());
            keys.push((key, if n % 100 == 0 { 1 + n / 100 } else { 1 + n % 5 }));
        }
        for packed in [false, true] {
            let selection = Selection {
                packed,
                ..selection(16, 18)
            };
            let count = |threads: usize| {
                let counters = RegionCounters::new(&selection);
                let add = |part: usize| {
                    for &(key, times) in keys.iter().skip(part).step_by(threads) {
                        (0..times).for_each(|_| counters.add(&[key], threads == 1));
                    }
                };
                std::thread::scope(|scope| {
                    for part in 0..threads {
                        scope.spawn(move || add(part));
                    }
                });
                let place = |key| counters.place(key).unwrap();
                let counted = keys.iter().map(|&(key, _)| counters.counted(place(key)));
                counted.collect::<Vec<u8>>()
            };
            let alone = count(1);
            for ((counted, threads), &(_, times)) in alone.iter().zip(count(4)).zip(&keys) {
                assert!(u32::from(*counted) >= times.min(MOST.into()), "{times}");
                assert_eq!((*counted).min(MOST), threads.min(MOST));
            }
            let all = alone.iter().zip(&keys);
            let unique = all.filter(|(counted, (_, times))| **counted == 1 && *times == 1);
            assert!(
                unique.count() > 8_000,
                "of 12,000, with four counters for a key"
            );
        }
    }

    #[test]
    fn counters_are_packed_if_memory_is_short() {
        for (spare, packed, bits) in [
            (64 << 20, false, 24),
            (11 << 20, true, 24),
            (9 << 20, true, 23),
        ] {
            let within = selection(16, 24).within(spare);
            assert_eq!((within.packed, within.bits), (packed, bits));
            let most = spare / TABLE_SHARE * (1 + u64::from(packed));
            assert!(within.bytes() <= most && within.fits(spare));
        }
    }

    fn ranges_cover_all_keys<K: Key>() {
        for (sixteenths, bits) in [(1, 16), (5, 16), (16, 16), (5, 30)] {
            let all = selection(sixteenths, bits);
            let rates = [(1, 0), (3, 1), (7, 6), (60_000, 4)];
            for (ranges, rate) in [1, 2, 7, 1024].into_iter().zip(rates) {
                let selection = Selection {
                    rate: Rate::new(rate.0, rate.1).unwrap(),
                    ..all
                };
                let (low, high) = selection.rate.bounds::<K>();
                let greatest = selection.greatest::<K>(selection.counters().1);
                assert!(selection.least::<K>(0) <= low.to_u128() && greatest >= high);
                let ranges = ranges.min(selection.places() as u32);
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
