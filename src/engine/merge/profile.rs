//! Profiles: the number of a document's fingerprints in each class of document frequency.

use crate::Result;
use crate::base::ids::Key;
use crate::base::numbers::counted;
use crate::base::progress::{Context, Unit, joined_all};
use crate::base::threads;
use crate::base::threads::{lock, unlocked};
use crate::base::workers::Queue;
use crate::engine::merge::PostingsEntry;
use crate::engine::sample::Sampled;
use crate::store::workspace::Workspace;
use crate::store::{Header, Kind, PartInfo, PartReader, PartWriter, VERSION, disk};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{PostingsReader, STAGE};

/// Number of classes of document frequency: 1 (one document only), 2, 3, 4, 5-8, 9-16, ..., 8,193
/// and more.
pub(crate) const CLASSES: usize = 16;
/// Bytes of a document's counts.
pub(crate) const PROFILE_BYTES: u64 = CLASSES as u64 * 4;
/// The least number of documents that is worth a pass.
const LEAST_DOCUMENTS: u64 = 1 << 12;

/// Bytes of the profiles of this number of documents in memory.
fn profile_bytes(documents: u64, levels: usize) -> u64 {
    documents * levels as u64 * PROFILE_BYTES
}

/// About the most bytes of the profiles on disk.
pub(crate) fn stored_bytes(documents: u64, fingerprints: u64, levels: usize) -> u64 {
    let classes = fingerprints
        .div_ceil(documents.max(1))
        .min(CLASSES as u64 - 1);
    documents * (1 + classes) * NUMBER_BYTES as u64 * levels as u64
}

/// Bytes of a stored number.
const NUMBER_BYTES: usize = 2;
/// In front of a count that takes two numbers.
const WIDE: u16 = u16::MAX;

/// Appends a profile as it is stored: a bit for each class that has fingerprints, then their
/// counts.
fn encode(profile: &Profile, out: &mut Vec<u8>) {
    let bits = (0..CLASSES).filter(|&class| profile[class] > 0);
    let mask = bits.fold(0u16, |mask, class| mask | 1 << class);
    out.extend(mask.to_le_bytes());
    for &count in profile.iter().filter(|&&count| count > 0) {
        match u16::try_from(count) {
            Ok(count) if count < WIDE => out.extend(count.to_le_bytes()),
            _ => {
                out.extend(WIDE.to_le_bytes());
                out.extend(count.to_le_bytes());
            }
        }
    }
}

/// Reads a stored profile.
fn decode(part: &mut PartReader) -> Result<Profile> {
    let mut profile = [0; CLASSES];
    let mask = take_u16(part)?;
    for (class, count) in profile.iter_mut().enumerate() {
        if mask >> class & 1 == 1 {
            *count = match take_u16(part)? {
                WIDE => part.take_u32()?,
                count => count.into(),
            };
        }
    }
    Ok(profile)
}

fn take_u16(part: &mut PartReader) -> Result<u16> {
    let bytes = part.take(NUMBER_BYTES)?;
    Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
}

/// The number of a document's fingerprints in each class; class 0 is not counted.
pub type Profile = [u32; CLASSES];

/// The class of a fingerprint in `df` documents, 1 or more.
#[inline]
pub fn class(df: u32) -> u8 {
    match df {
        0..=4 => df.saturating_sub(1) as u8,
        // Frequencies 5 to 8 are class 4.
        _ => (((df - 1).ilog2() + 2) as u8).min(CLASSES as u8 - 1),
    }
}

/// The document frequency that represents a class in estimates of cost: the middle of its bounds.
pub(crate) fn typical(class: usize) -> u64 {
    match class {
        0..=3 => class as u64 + 1,
        _ => 3 << (class - 3),
    }
}

/// The set of documents over which frequencies are counted, with one bit for each document.
pub(crate) struct Base(Vec<u64>);

impl Base {
    pub(crate) fn of(documents: usize, mut holds: impl FnMut(u32) -> bool) -> Base {
        let mut bits = vec![0; documents.div_ceil(64)];
        for document in 0..documents as u32 {
            if holds(document) {
                bits[document as usize / 64] |= 1 << (document % 64);
            }
        }
        Base(bits)
    }

    #[inline]
    pub(crate) fn holds(&self, document: u32) -> bool {
        self.0[document as usize / 64] >> (document % 64) & 1 == 1
    }

    /// The number of documents of a list that are in the set.
    #[inline]
    pub(crate) fn frequency(&self, list: &[u32]) -> u32 {
        list.iter().map(|&d| u32::from(self.holds(d))).sum()
    }
}

/// Counts profiles while posting lists are made.
#[derive(Debug)]
pub(crate) struct Collector<'a, K> {
    sampled: &'a Sampled,
    bounds: Vec<(K, K)>,
    /// By document, then by level.
    counts: Vec<Profile>,
}

impl<'a, K: Key> Collector<'a, K> {
    /// Bytes of memory of a collector.
    pub(crate) fn bytes(documents: u64, levels: usize) -> u64 {
        profile_bytes(documents, levels)
    }

    pub(crate) fn new(sampled: &'a Sampled) -> Self {
        let rates = sampled.rates();
        Collector {
            sampled,
            bounds: rates.iter().map(|rate| rate.bounds()).collect(),
            counts: vec![[0; CLASSES]; sampled.documents() * rates.len()],
        }
    }

    /// A collector that has counted nothing and takes no memory yet.
    pub(crate) fn nothing(sampled: &'a Sampled) -> Self {
        Collector {
            sampled,
            bounds: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Counts a fingerprint of two documents or more.
    #[inline]
    pub(crate) fn list(&mut self, key: K, documents: impl ExactSizeIterator<Item = u32> + Clone) {
        let levels = self.bounds.len();
        let class = usize::from(class(documents.len() as u32));
        for (level, (low, high)) in self.bounds.iter().enumerate() {
            if levels > 1 && (key < *low || key > *high) {
                continue;
            }
            for document in documents.clone() {
                if levels == 1 || self.sampled.level(document) <= level {
                    let at = document as usize * levels + level;
                    // A document outside the collection is reported when the postings are read.
                    if let Some(profile) = self.counts.get_mut(at) {
                        profile[class] += 1;
                    }
                }
            }
        }
    }

    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: Collector<'a, K>) {
        if self.counts.is_empty() {
            *self = other;
            return;
        }
        for (sum, other) in self.counts.iter_mut().zip(&other.counts) {
            for (sum, other) in sum.iter_mut().zip(other) {
                *sum += other;
            }
        }
    }
}

/// Profiles may take this fraction (one in `PROFILE_SHARE`) of the memory.
pub(super) const PROFILE_SHARE: u64 = 4;

/// The profiles that the threads of a merge collect.
pub(super) struct Collected<'a, K> {
    sampled: &'a Sampled,
    sum: Option<Mutex<Collector<'a, K>>>,
}

impl<'a, K: Key> Collected<'a, K> {
    pub(super) fn new(sampled: &'a Sampled, collect: bool) -> Self {
        // The first thread that ends provides its collector; until then the sum takes no memory.
        let sum = collect.then(|| Mutex::new(Collector::nothing(sampled)));
        Collected { sampled, sum }
    }

    /// A collector for one thread.
    pub(super) fn begin(&self) -> Option<Collector<'a, K>> {
        self.sum.as_ref().map(|_| Collector::new(self.sampled))
    }

    /// Adds the counts of a thread that has ended.
    pub(super) fn end(&self, counted: Option<Collector<'a, K>>) {
        if let (Some(sum), Some(counted)) = (&self.sum, counted) {
            lock(sum).add(counted);
        }
    }

    /// The sum of all counts; `None` if profiles were not counted.
    pub(super) fn whole(self) -> Option<Collector<'a, K>> {
        let sum = self.sum?;
        Some(unlocked(sum))
    }
}

/// Writes the profiles of all documents and levels over all shared postings. If they were not
/// collected while the lists were made, it counts them in passes over the lists.
pub(crate) fn write<K: Key>(
    workspace: &Workspace,
    sampled: &Sampled,
    collected: Option<Collector<'_, K>>,
    memory: u64,
    context: &Context<'_>,
) -> Result<Vec<PartInfo>> {
    let directory = workspace.path("postings");
    let parameters = workspace.collection_parameters();
    let levels = sampled.rates().len();
    let writers = (0..levels as u64).map(|number| {
        let header = Header {
            kind: Kind::Column,
            version: VERSION,
            parameters,
            number,
            key_bytes: NUMBER_BYTES as u32,
        };
        PartWriter::create(&directory, &header)
    });
    let mut writers = writers.collect::<Result<Vec<_>>>()?;
    let mut bytes = Vec::new();
    let mut numbers = vec![0u64; levels];
    let mut put = |level: usize, _: u32, profile: &Profile| {
        bytes.clear();
        encode(profile, &mut bytes);
        numbers[level] += (bytes.len() / NUMBER_BYTES) as u64;
        writers[level].put(&bytes)
    };
    match collected {
        Some(collected) => {
            for (at, profile) in collected.counts.iter().enumerate() {
                put(at % levels, (at / levels) as u32, profile)?;
            }
        }
        None => {
            let all = (0..levels).map(|_| None).collect::<Vec<_>>();
            each_profile::<K>(workspace, sampled, &all, memory, (STAGE, context), put)?;
        }
    }
    writers
        .into_iter()
        .zip(numbers)
        .map(|(writer, numbers)| writer.finish(numbers, 0, 0))
        .collect()
}

/// Calls `each` with level, document and profile of every document, from the committed profiles.
pub(crate) fn each_committed(
    workspace: &Workspace,
    sampled: &Sampled,
    (stage, context): (&'static str, &Context<'_>),
    mut each: impl FnMut(usize, u32, &Profile) -> Result<()>,
) -> Result<()> {
    let profiles = workspace.manifest.get::<PostingsEntry>().into_iter();
    let profiles: Vec<PartInfo> = profiles.flat_map(|p| p.profiles.clone()).collect();
    for (level, info) in profiles.iter().enumerate() {
        let path = workspace.path("postings").join(&info.name);
        let parameters = Some(workspace.collection_parameters());
        let mut part = PartReader::open(&path, Kind::Column, parameters, Some(info))?;
        let documents = sampled.documents();
        // Version 0.1 stored every count, in four bytes.
        let all = part.header.key_bytes == 4;
        let expected = documents as u64 * PROFILE_BYTES;
        if all && part.footer.payload_bytes != expected {
            let found = part.footer.payload_bytes;
            return Err(part.corrupt("bytes of the profiles", expected, found));
        }
        for document in 0..documents as u32 {
            context.tick(stage, document)?;
            let profile = if all {
                let mut profile = [0; CLASSES];
                for count in &mut profile {
                    *count = part.take_u32()?;
                }
                profile
            } else {
                decode(&mut part)?
            };
            each(level, document, &profile)?;
        }
        if part.remaining() > 0 {
            let found = part.remaining();
            return Err(part.corrupt("bytes after the last profile", 0, found));
        }
        part.finish()?;
    }
    Ok(())
}

/// Counts profiles in passes over the postings, and calls `each` with level, document and profile
/// of every document. A pass takes as many documents as fit in memory. Frequencies are counted over
/// `bases` (by level; `None` for all documents), and only documents of the base have a profile.
pub(crate) fn each_profile<K: Key>(
    workspace: &Workspace,
    sampled: &Sampled,
    bases: &[Option<Base>],
    memory: u64,
    (stage, context): (&'static str, &Context<'_>),
    mut each: impl FnMut(usize, u32, &Profile) -> Result<()>,
) -> Result<()> {
    let documents = sampled.documents() as u64;
    let levels = bases.len() as u64;
    let threads = context.budget.threads as u64;
    let bytes = threads * levels * PROFILE_BYTES;
    let (at_once, least) = (memory / bytes, LEAST_DOCUMENTS.min(documents));
    let what = || {
        let (documents, threads) = (counted(documents, "document"), counted(threads, "thread"));
        format!("profiles of {documents} with {threads}")
    };
    (context.budget).require_share(at_once * bytes, least * bytes, what)?;
    let mut first = 0;
    while first < documents {
        let last = (first + at_once).min(documents);
        let range = first as u32..last as u32;
        let counts = count::<K>(workspace, sampled, bases, &range, (stage, context))?;
        // By level, so that a column is written from start to end if all documents fit in one pass.
        for level in 0..bases.len() {
            for document in range.clone() {
                let at = (document - range.start) as usize * bases.len() + level;
                each(level, document, &counts[at])?;
            }
        }
        first = last;
    }
    Ok(())
}

/// Counts the profiles of a range of documents: by document, then by level.
fn count<K: Key>(
    workspace: &Workspace,
    sampled: &Sampled,
    bases: &[Option<Base>],
    range: &Range<u32>,
    (stage, context): (&'static str, &Context<'_>),
) -> Result<Vec<Profile>> {
    let entries = workspace.manifest.get::<PostingsEntry>();
    let entries = entries.map(|postings| postings.stats.entries);
    context.start(stage, Unit::Count("posting entries"), entries);
    let directory = workspace.path("postings");
    let parameters = Some(workspace.collection_parameters());
    let postings = workspace.manifest.get::<PostingsEntry>().into_iter();
    let queue = Queue::new(postings.flat_map(|p| p.parts.values()));
    let done = AtomicU64::new(0);
    let levels = bases.len();
    let bounds: Vec<(K, K)> = sampled.rates().iter().map(|rate| rate.bounds()).collect();
    let work = || -> Result<Vec<Profile>> {
        let mut counts = vec![[0; CLASSES]; range.len() * levels];
        while let Some(info) = queue.next() {
            let path = directory.join(&info.name);
            let mut reader = PostingsReader::<K>::open(&path, parameters, Some(info))?;
            while let Some(block) = reader.next_below(sampled.documents())? {
                context.stop.check(stage)?;
                let mut rest = &block.documents[..];
                for (&key, &length) in block.keys.iter().zip(&block.lengths) {
                    let (list, after) = rest.split_at(length as usize);
                    rest = after;
                    for (level, base) in bases.iter().enumerate() {
                        if levels > 1 && !(bounds[level].0 <= key && key <= bounds[level].1) {
                            continue;
                        }
                        let df = base.as_ref().map_or(length, |base| base.frequency(list));
                        let class = usize::from(class(df));
                        if class == 0 {
                            continue;
                        }
                        for &document in list {
                            if !range.contains(&document)
                                || sampled.level(document) > level
                                || base.as_ref().is_some_and(|base| !base.holds(document))
                            {
                                continue;
                            }
                            let at = (document - range.start) as usize * levels + level;
                            counts[at][class] += 1;
                        }
                    }
                }
                disk::point("profile: worker");
                let entries = block.documents.len() as u64;
                context
                    .progress
                    .at(done.fetch_add(entries, Ordering::Relaxed) + entries);
            }
            reader.finish()?;
        }
        Ok(counts)
    };
    let threads = context.budget.threads;
    let results = threads::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        joined_all(stage, workers)
    })?;
    Ok(sum_of(results, threads))
}

/// Adds tables of the same length, a stretch of them in each thread. They can be as large as all
/// other memory, so they are given back by several threads too.
fn sum_of(mut tables: Vec<Vec<Profile>>, threads: usize) -> Vec<Profile> {
    let mut sum = tables.pop().unwrap_or_default();
    let stretch = sum.len().div_ceil(threads).max(1);
    threads::scope(|scope| {
        for (number, sums) in sum.chunks_mut(stretch).enumerate() {
            let tables = &tables;
            scope.spawn(move || {
                for table in tables {
                    for (sum, other) in sums.iter_mut().zip(&table[number * stretch..]) {
                        for (sum, other) in sum.iter_mut().zip(other) {
                            *sum += other;
                        }
                    }
                }
            });
        }
    });
    threads::scope(|scope| {
        for table in tables {
            scope.spawn(move || drop(table));
        }
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_added() {
        let table =
            |factor: u32| -> Vec<Profile> { (0..10).map(|at| [at * factor; CLASSES]).collect() };
        for threads in [1, 3, 16] {
            let sum = sum_of(vec![table(1), table(10), table(100)], threads);
            assert_eq!(sum, table(111));
        }
        assert_eq!(
            sum_of(vec![Vec::new(), Vec::new()], 2),
            Vec::<Profile>::new()
        );
    }

    #[test]
    fn profiles_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let header = Header {
            kind: Kind::Column,
            version: VERSION,
            parameters: 3,
            number: 0,
            key_bytes: NUMBER_BYTES as u32,
        };
        let mut full = [7; CLASSES];
        full[0] = 0;
        let mut wide = [0; CLASSES];
        (wide[1], wide[4], wide[15]) = (65_534, 65_535, u32::MAX);
        let profiles = [[0; CLASSES], full, wide, [0; CLASSES]];
        let mut out = PartWriter::create(directory.path(), &header).unwrap();
        let mut bytes = Vec::new();
        profiles
            .iter()
            .for_each(|profile| encode(profile, &mut bytes));
        out.put(&bytes).unwrap();
        assert_eq!(bytes.len(), 4 * 2 + 15 * 2 + 2 + 2 * 6);
        let info = out.finish(bytes.len() as u64 / 2, 0, 0).unwrap();
        let path = directory.path().join(&info.name);
        let mut part = PartReader::open(&path, Kind::Column, Some(3), Some(&info)).unwrap();
        for profile in profiles {
            assert_eq!(decode(&mut part).unwrap(), profile);
        }
        part.finish().unwrap();
    }

    #[test]
    fn classes_rise_with_frequency() {
        let bounds = [
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 3),
            (5, 4),
            (8, 4),
            (9, 5),
            (16, 5),
            (17, 6),
        ];
        for (df, expected) in bounds {
            assert_eq!(class(df), expected, "{df}");
        }
        assert_eq!(class(8192), 14);
        assert_eq!(class(8193), 15);
        assert_eq!(class(u32::MAX), 15);
        for c in 1..CLASSES - 1 {
            assert_eq!(usize::from(class(typical(c) as u32)), c);
        }
    }
}
