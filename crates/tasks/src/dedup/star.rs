//! The star rule for a collection whose pairs are not listed: documents are compared with kept
//! documents only, so a cluster of thousands of similar pages takes one comparison for each page.
//!
//! # Source
//! The prefix filter, as in [`lookalike_engine::join::prefix`].
//!
//! # In and out
//! In: the *open* documents, whose survivor is unknown, in the order (cluster, preference); their
//! sets. Out: the survivor of each removed one, and the number of fingerprints that they share. The
//! other ones are kept.
//!
//! # Algorithm
//! 1. Count in how many open documents each fingerprint is. Counters of a byte are shared by
//!    several fingerprints, so a count may be too high; the order of fingerprints may be any order.
//! 2. In the order of preference, look up the rarest fingerprints of each document in an index of
//!    the rarest fingerprints of the kept ones, and compare it with each kept document found, in
//!    the order of preference. The first that reaches the threshold is its survivor. If there is
//!    none, the document is kept, and enters the index.
//! 3. If the kept documents of a cluster fill their memory, the later ones are only compared with
//!    these. Those without a survivor wait for another pass, which has an empty index. All
//!    documents that it keeps come later in the order of preference than the kept documents of the
//!    passes before, so the survivor is the same for any memory.
//!
//! # Invariants
//! - A kept document that reaches the threshold with a later one is found: the two share a
//!   fingerprint that is among the rarest of both ([`Criterion::prefix`]). With containment, the
//!   kept document has at least as many fingerprints, and all of them are in the index.
//! - A set that is too large to be loaded is compared with all kept documents of its cluster, and
//!   all later documents with it.
//!
//! # Cost
//! Two passes over the sets of the open documents, in the order of the files as far as memory has
//! room for them. Memory: [`bytes()`], and the rest is divided into [`SHARES`].

use super::{Choosing, STAGE};
use lookalike_base::{Bits, Context, Criterion, Key, Measure, Result, budget::ByteSize};
use lookalike_engine::collection::{Catalogue, LoadedSets, MappedSets, Wanted};
use lookalike_store::{Sort, Workspace, item};

item! {
    /// A document that is compared with kept ones.
    struct OpenDocument {
        /// The first document of its cluster.
        root: u32,
        rank: u32,
        class: u32,
    }
}

/// The documents that are compared with kept ones.
pub(super) struct OpenDocuments {
    classes: Bits,
    sort: Sort<OpenDocument>,
}

impl OpenDocuments {
    /// None of this number of documents.
    pub fn new(documents: usize, choosing: Choosing<'_>) -> Result<OpenDocuments> {
        Ok(OpenDocuments {
            classes: Bits::new(documents),
            sort: sort(choosing, "open")?,
        })
    }

    /// Adds a document, with the first document of its cluster and its rank in the order of
    /// preference.
    pub fn push(&mut self, class: u32, root: u32, rank: u32) -> Result<()> {
        self.classes.insert(class);
        self.sort.push(OpenDocument { root, rank, class })
    }
}

/// Equal parts of the memory: two for sorting, and one each for loaded sets, the list of these,
/// mapped sets, counters, sets of kept documents, their index, and candidates with the keys of a
/// document.
const SHARES: u64 = 9;
/// The most chains of the index, as a power of two: 4 MiB, which every search has to write once.
const MOST_CHAINS: u32 = 20;
/// Bytes for a kept document in addition to its set: its number, and where the set begins.
const KEPT_BYTES: usize = size_of::<u32>() + size_of::<usize>();

/// Bytes of memory in addition to the shares: columns over all documents.
pub(super) fn bytes(workspace: &Workspace) -> Result<u64> {
    let extent = Catalogue::extent(workspace)?;
    // The preferred document of each cluster, and the number of open ones.
    let columns = extent.documents * 5 + extent.documents / 8;
    Ok(columns + MappedSets::bytes(extent) + Wanted::bytes(extent.documents))
}

/// One of two sorts at the same time.
fn sort(choosing: Choosing<'_>, name: &str) -> Result<Sort<OpenDocument>> {
    let memory = ByteSize(choosing.memory / SHARES);
    Sort::scratch(&choosing.scratch.join(name), memory)
}

/// Passes each open document that is removed to `removed`, with its survivor and the number of
/// fingerprints that they share. Returns the number of passes.
pub(super) fn run<K: Key>(
    choosing: Choosing<'_>,
    open: OpenDocuments,
    criterion: Criterion,
    mut removed: impl FnMut(u32, (u32, u32)),
) -> Result<u32> {
    let (workspace, context) = (choosing.workspace, choosing.context);
    let (classes, mut all) = (open.classes, open.sort);
    if classes.iter().next().is_none() {
        return Ok(0);
    }
    let share = choosing.memory / SHARES;
    let sets = MappedSets::open::<K>(workspace, share)?;
    let mut comparing = Comparing::<K> {
        counters: Counters::count::<K>(&sets, &classes, share, context)?,
        kept: Kept::new(share as usize),
        sets: &sets,
        criterion,
        root: None,
        keys: Vec::new(),
        candidates: Vec::new(),
    };
    let documents = Catalogue::stats(workspace)?.documents as usize;
    let mut wanted = Wanted::new(documents, share);
    let mut pass = 0;
    loop {
        let mut left = sort(choosing, &format!("open{pass}"))?;
        let (mut batch, mut waiting) = (Vec::new(), 0u64);
        let mut compare = |batch: &mut Vec<OpenDocument>, wanted: &mut Wanted| {
            let full = std::mem::replace(wanted, Wanted::new(0, 0));
            let loaded = full.load(&sets, context.budget.threads, context.stop)?;
            for open in batch.drain(..) {
                context.tick(STAGE, open.class)?;
                match comparing.compare(open, &loaded)? {
                    Verdict::Survivor(survivor, shared) => removed(open.class, (survivor, shared)),
                    Verdict::Kept => {}
                    Verdict::Waits => {
                        waiting += 1;
                        left.push(open)?;
                    }
                }
            }
            *wanted = loaded.into_wanted();
            Ok(())
        };
        all.finish()?.for_each(|open| {
            if !wanted.add(&sets, open.class, open.class) {
                compare(&mut batch, &mut wanted)?;
                wanted.add(&sets, open.class, open.class);
            }
            batch.push(open);
            Ok(())
        })?;
        compare(&mut batch, &mut wanted)?;
        if waiting == 0 {
            context.stop.check(STAGE)?;
            return Ok(pass + 1);
        }
        comparing.root = None;
        all = left;
        pass += 1;
    }
}

/// How a document is treated.
enum Verdict {
    /// It is removed. It shares this number of fingerprints with its survivor.
    Survivor(u32, u32),
    Kept,
    /// It is compared with more kept documents in the next pass.
    Waits,
}

struct Comparing<'s, K> {
    counters: Counters,
    kept: Kept,
    sets: &'s MappedSets,
    criterion: Criterion,
    /// The cluster of the kept documents.
    root: Option<u32>,
    /// The rarest keys of a set, with their counts.
    keys: Vec<(u8, K)>,
    /// Kept documents to compare with a document.
    candidates: Vec<u32>,
}

impl<K: Key> Comparing<'_, K> {
    /// Compares a document with the kept ones of its cluster, and keeps it if it reaches the
    /// threshold with none.
    fn compare(&mut self, open: OpenDocument, loaded: &LoadedSets) -> Result<Verdict> {
        if self.root != Some(open.root) {
            self.root = Some(open.root);
            self.kept.clear();
        }
        let set = loaded.get(open.class);
        self.find_candidates(set);
        if let Some((survivor, shared)) = self.first_reached(open.class, set)? {
            return Ok(Verdict::Survivor(survivor, shared));
        }
        if self.kept.is_full() {
            return Ok(Verdict::Waits);
        }
        let Some(set) = set else {
            self.kept.add_large(open.class);
            return Ok(Verdict::Kept);
        };
        if self.criterion.measure == Measure::Containment {
            self.find_rarest(set, u32::MAX);
        }
        let keys = self.keys.iter().map(|&(_, key)| key.to_u128() as u64);
        self.kept.add(open.class, set, keys);
        Ok(Verdict::Kept)
    }

    /// The kept documents that may reach the threshold with a set, in the order of preference. All
    /// of them may, if the set is not loaded.
    fn find_candidates(&mut self, set: Option<&[u8]>) {
        self.candidates.clear();
        let Some(set) = set else {
            self.candidates.extend(0..self.kept.count());
            return;
        };
        let size = (set.len() / K::BYTES) as u32;
        let length = match self.criterion.measure {
            // The kept set is not smaller, and all of it is in the index.
            Measure::Containment => {
                let least = self.criterion.least_shared(size.into(), size.into());
                (size + 1).saturating_sub(least as u32)
            }
            _ => self.criterion.prefix(size, size),
        };
        self.find_rarest(set, length);
        for &(_, key) in &self.keys {
            self.kept
                .look_up(key.to_u128() as u64, &mut self.candidates);
        }
        self.candidates.extend_from_slice(&self.kept.large);
        self.candidates.sort_unstable();
        self.candidates.dedup();
    }

    /// The first candidate that reaches the threshold with a document, and the shared count.
    fn first_reached(&self, document: u32, set: Option<&[u8]>) -> Result<Option<(u32, u32)>> {
        let keys = |set: &[u8]| (set.len() / K::BYTES) as u64;
        for &candidate in &self.candidates {
            let class = self.kept.classes[candidate as usize];
            // A thread may look once at a time.
            let looking = self.sets.look();
            let get = |set, class| match set {
                Some(set) => Ok(set),
                None => looking.get(class),
            };
            let (set, other) = (get(set, document)?, get(self.kept.set(candidate), class)?);
            let (a, b) = (keys(set), keys(other));
            let least = self.criterion.least_shared(a, b);
            let shared = K::shared_le(set, other, least);
            if let Some(shared) = shared.filter(|&shared| self.criterion.reached(shared, a, b)) {
                return Ok(Some((class, shared as u32)));
            }
        }
        Ok(None)
    }

    /// The rarest keys of a set, of which there are `length`, without those that no other document
    /// has.
    fn find_rarest(&mut self, set: &[u8], length: u32) {
        let length = length as usize;
        let (keys, counters) = (&mut self.keys, &self.counters);
        keys.clear();
        keys.extend(set.chunks_exact(K::BYTES).map(|bytes| {
            let key = K::get_le(bytes);
            (counters.get(key), key)
        }));
        if length == 0 {
            keys.clear();
        } else if length < keys.len() {
            keys.select_nth_unstable(length - 1);
            keys.truncate(length);
        }
        keys.retain(|&(count, _)| count > 1);
    }
}

/// In how many open documents a key is, at least.
struct Counters {
    counts: Vec<u8>,
    shift: u32,
}

impl Counters {
    /// Counts the keys of all open documents whose sets are loaded.
    fn count<K: Key>(
        sets: &MappedSets,
        open: &Bits,
        memory: u64,
        context: &Context<'_>,
    ) -> Result<Counters> {
        let keys: u64 = (open.iter())
            .map(|class| (sets.bytes_of(class) / K::BYTES) as u64)
            .sum();
        let bits = (2 * keys).min(memory).max(2).ilog2();
        let mut counters = Counters {
            counts: vec![0; 1 << bits],
            shift: u64::BITS - bits,
        };
        let (mut reader, mut set) = (sets.reader(), Vec::new());
        for class in open.iter() {
            context.tick(STAGE, class)?;
            let bytes = sets.bytes_of(class);
            // A larger set is not loaded later either ([`Wanted::add`]).
            if bytes as u64 > memory / 8 {
                continue;
            }
            set.resize(bytes, 0);
            reader.read(class, &mut set)?;
            for bytes in set.chunks_exact(K::BYTES) {
                let at = counters.at(K::get_le(bytes));
                let count = &mut counters.counts[at];
                *count = count.saturating_add(1);
            }
        }
        Ok(counters)
    }

    /// Fingerprints are random, so any of their bits will do. The index uses others.
    fn at<K: Key>(&self, key: K) -> usize {
        (key.to_u128() as u64 >> self.shift) as usize
    }

    fn get<K: Key>(&self, key: K) -> u8 {
        self.counts[self.at(key)]
    }
}

/// Marks the end of a chain of the index.
const END: u32 = u32::MAX;

/// An entry of the index. A chain has the entries of all keys with the same low bits.
struct KeptKey {
    key: u64,
    kept: u32,
    /// The next entry of the chain.
    next: u32,
}

/// The kept documents of a cluster, numbered in the order of preference, and an index of keys.
struct Kept {
    classes: Vec<u32>,
    /// By number, where the set ends. A large set is not in memory, and empty here.
    ends: Vec<usize>,
    sets: Vec<u8>,
    /// The numbers of documents with large sets.
    large: Vec<u32>,
    /// The first entry of each chain. Their number is a power of two.
    heads: Vec<u32>,
    entries: Vec<KeptKey>,
    /// Bytes for the sets, and for everything else.
    room: usize,
}

impl Kept {
    fn new(room: usize) -> Kept {
        let heads = (room / 4 / size_of::<u32>()).max(1).ilog2();
        // Room that is not used takes no memory, and a vector that grows takes twice its size.
        Kept {
            classes: Vec::new(),
            ends: Vec::new(),
            sets: Vec::with_capacity(room),
            large: Vec::new(),
            heads: vec![END; 1 << heads.min(MOST_CHAINS)],
            entries: Vec::with_capacity(room / 2 / size_of::<KeptKey>()),
            room,
        }
    }

    /// Whether there may be no room for another document.
    fn is_full(&self) -> bool {
        let entries = self.entries.len() * size_of::<KeptKey>();
        // A set that is loaded has an eighth of the room, and its entries twice as many bytes.
        self.sets.len() + self.room / 8 > self.room
            || entries + self.room / 4 > self.room / 2
            || self.classes.len() > self.room / 4 / KEPT_BYTES
    }

    fn clear(&mut self) {
        for entry in &self.entries {
            let chain = entry.key as usize & (self.heads.len() - 1);
            self.heads[chain] = END;
        }
        self.entries.clear();
        self.classes.clear();
        self.ends.clear();
        self.sets.clear();
        self.large.clear();
    }

    fn count(&self) -> u32 {
        self.classes.len() as u32
    }

    /// The set of a document, unless it is large.
    fn set(&self, number: u32) -> Option<&[u8]> {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.sets[start..self.ends[number]]).filter(|set| !set.is_empty())
    }

    fn add(&mut self, class: u32, set: &[u8], keys: impl Iterator<Item = u64>) {
        let kept = self.count();
        self.classes.push(class);
        self.sets.extend_from_slice(set);
        self.ends.push(self.sets.len());
        for key in keys {
            let chain = key as usize & (self.heads.len() - 1);
            let next = std::mem::replace(&mut self.heads[chain], self.entries.len() as u32);
            self.entries.push(KeptKey { key, kept, next });
        }
    }

    fn add_large(&mut self, class: u32) {
        self.large.push(self.count());
        self.classes.push(class);
        self.ends.push(self.sets.len());
    }

    /// Adds the documents that have a key to `found`.
    fn look_up(&self, key: u64, found: &mut Vec<u32>) {
        let mut at = self.heads[key as usize & (self.heads.len() - 1)];
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.key == key {
                found.push(entry.kept);
            }
            at = entry.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BTreeMap;

    use super::*;
    use lookalike_base::budget::{Budget, Disk};
    use lookalike_base::progress::{Silent, Stop};
    use lookalike_base::random::Random;
    use lookalike_base::union_find::UnionFind;
    use lookalike_engine::collection::CollectionConfig;
    use lookalike_engine::join::{JoinConfig, List, each_pair};
    use lookalike_engine::pipeline::{self, JoinParameters};
    use lookalike_engine::shingle::ShingleConfig;

    /// Pages of templates with a few words of their own, chains in which each text resembles the
    /// next ones, extracts, a text that is many times as long, and texts by themselves.
    fn texts(random: &mut Random) -> Vec<String> {
        let words = |random: &mut Random, count: u64, of: u64| -> Vec<String> {
            (0..count)
                .map(|_| format!("w{}", random.below(of)))
                .collect()
        };
        let mut texts = Vec::new();
        for family in 0..6 {
            let base = words(random, 60, 500);
            for member in 0..40u64 {
                let mut text = base.clone();
                match family % 3 {
                    0 => (0..=member % 4).for_each(|_| {
                        let at = random.below(60) as usize;
                        text[at] = format!("own{}", random.below(1000));
                    }),
                    1 => {
                        let end = words(&mut Random::new(family), 3 * member, 500);
                        text = [base.clone(), end].concat().split_off(3 * member as usize);
                    }
                    _ => text.truncate(60 - member as usize),
                }
                texts.push(text.join(" "));
            }
            texts.push(words(random, 60, 500).join(" "));
        }
        let long = [
            texts[3].clone(),
            words(random, 3000, 100_000).join(" "),
            texts[90].clone(),
        ];
        texts.push(long.join(" "));
        texts.push(long[..2].join(" "));
        for at in (1..texts.len()).rev() {
            texts.swap(at, random.below(at as u64 + 1) as usize);
        }
        texts
    }

    /// The survivor of each removed document, by the definition, over the list of all pairs.
    fn by_pairs(order: &[u32], pairs: &BTreeMap<(u32, u32), u32>) -> BTreeMap<u32, (u32, u32)> {
        let mut kept: Vec<u32> = Vec::new();
        let mut removed = BTreeMap::new();
        for &document in order {
            let reached = |&kept: &u32| {
                let pair = (document.min(kept), document.max(kept));
                Some((kept, *pairs.get(&pair)?))
            };
            match kept.iter().find_map(reached) {
                Some(survivor) => _ = removed.insert(document, survivor),
                None => kept.push(document),
            }
        }
        removed
    }

    #[test]
    fn survivors_are_those_of_all_pairs_with_any_memory() {
        let place = tempfile::tempdir().unwrap();
        let (stop, threads, memory) = (Stop::default(), 2, ByteSize::mib(512));
        let disk = Disk::default();
        let context = Context {
            budget: Budget {
                memory,
                threads,
                disk,
            },
            stop: &stop,
            progress: &Silent,
            scratch: None,
            programs: &[],
        };
        for (seed, measure, threshold) in [
            (1, Measure::Resemblance, "0.6"),
            (2, Measure::Resemblance, "0.3"),
            (3, Measure::Containment, "0.7"),
        ] {
            let random = &mut Random::new(seed);
            let texts = texts(random);
            let path = |name: &str| place.path().join(format!("{name}{seed}"));
            let (input, out) = (path("in").with_extension("jsonl"), path("out"));
            let line =
                |(n, text): (usize, &String)| format!("{{\"id\":{n},\"text\":\"{text}\"}}\n");
            let lines: String = texts.iter().enumerate().map(line).collect();
            let mut file = lookalike_store::disk::AtomicFile::create(&input).unwrap();
            file.put(lines.as_bytes()).unwrap();
            file.finish().unwrap();
            let config = CollectionConfig {
                read: Default::default(),
                shingle: ShingleConfig {
                    shingle_size: 2,
                    ..ShingleConfig::default()
                },
                size_groups: Default::default(),
                segment_size: ByteSize::mib(1),
                text: false,
                condition: None,
            };
            let threshold = threshold.parse().unwrap();
            let criterion = Criterion { measure, threshold };
            let join = JoinParameters::from(JoinConfig::from(criterion));
            let inputs = pipeline::inputs(&[input], &out).unwrap();
            pipeline::run(&inputs, &out, &config, &join, true, &context).unwrap();
            let workspace = pipeline::open(&out).unwrap();
            let mut pairs = BTreeMap::new();
            let clusters = UnionFind::new(texts.len() as u32);
            let all = each_pair(&workspace, List::Pairs, |pair| {
                clusters.union(pair.a, pair.b);
                pairs.insert((pair.a, pair.b), pair.shared);
                Ok(())
            });
            all.unwrap();
            let sets = MappedSets::open::<u64>(&workspace, 1 << 20).unwrap();
            let mut order: Vec<u32> = (0..texts.len() as u32).collect();
            order.sort_by_cached_key(|&document| match measure {
                Measure::Containment => (Reverse(sets.bytes_of(document)), random.draw()),
                _ => (Reverse(0), random.draw()),
            });
            let expected = by_pairs(&order, &pairs);
            assert!((100..texts.len()).contains(&expected.len()));
            for memory in [0, 9 << 10, 9 << 12, 9 << 14, 1 << 30] {
                let scratch = tempfile::tempdir_in(place.path()).unwrap();
                let choosing = Choosing {
                    workspace: &workspace,
                    inputs: &[],
                    scratch: scratch.path(),
                    memory,
                    context: &context,
                };
                let mut open = OpenDocuments::new(texts.len(), choosing).unwrap();
                for (rank, &document) in (0..).zip(&order) {
                    open.push(document, clusters.find(document), rank).unwrap();
                }
                let mut found = BTreeMap::new();
                let removed = |document, survivor| {
                    found.insert(document, survivor);
                };
                let passes = run::<u64>(choosing, open, criterion, removed);
                let passes = passes.unwrap();
                assert!(memory != 9 << 12 || passes > 1, "{measure} {passes}");
                assert!(memory < 1 << 30 || passes == 1, "{measure} {passes}");
                assert!(found == expected, "{measure} {memory}");
            }
        }
    }
}
