//! From postings to sorted candidates.

use crate::collection::{Column, MappedSets, Tried};
use crate::join::{DIRECTORY, JoinProgress, Pair, Pairs, STAGE};
use crate::merge::{self, AllPostings, PackedBlock, PostingsDecoder};
use crate::sample::SampleEntry;
use crate::sort::{RunEntry, RunsEntry};
use lookalike_base::{Error, Key, Result, UnionFind, lock, on_threads};
use lookalike_store::{Workspace, disk};
use std::path::PathBuf;
use std::sync::Mutex;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::verify::Verifier;
use super::{Joining, PrefixStats, start_pass, write_run};

/// The least and the most candidates that a thread buffers before it writes them, and the most for
/// each document of the collection. The buffer is bounded because sorting in cache is faster.
const LEAST_CANDIDATES: u64 = 1 << 10;
const MOST_CANDIDATES: u64 = 8 << 20;
const CANDIDATES_OF_A_DOCUMENT: u64 = 32;
/// Bytes of the smallest buffer of a thread.
pub(super) const LEAST_BYTES: u64 = LEAST_CANDIDATES * 8;
/// Slots of the tables of recently paired lists and recent pairs; powers of two.
const LISTS_MET: usize = 64 << 10;
const PAIRS_MET: usize = 64 << 10;
/// Lists of fewer documents are not looked up in the table, because pairing them costs less.
const LEAST_MET: usize = 4;
/// With [`Pairs::None`], a worker verifies neighbours in size at once if a fingerprint has this
/// number of documents or more. So the pages of a template become one cluster before all their
/// pairs become candidates.
const LONG: usize = 16;
/// The number of further pairs of the list that a worker verifies at once for each pair that unites
/// two clusters. It begins with the number of documents in the list. Fewer pairs than documents can
/// unite clusters, so this bounds the pairs that are verified twice.
const CREDIT: usize = 16;
/// The most documents in the long lists that a worker keeps in order to pair shorter lists first.
/// Documents that share a rare fingerprint reach the threshold more often. Once they are in one
/// cluster, most pairs of a list of thousands of documents need no work.
const MOST_DEFERRED: usize = 256 << 10;

/// Streams the postings once and commits runs of candidates.
pub(super) fn run<K: Key>(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    mut memory: u64,
) -> Result<()> {
    let threads = join.context.budget.threads;
    let documents = join.sampled.documents();
    let most = workspace.manifest.get::<SampleEntry>();
    let most = most.and_then(|sample| sample.sampling.most_per_document());
    let early = match join.config.pairs {
        Pairs::All | Pairs::Across => None,
        Pairs::None => {
            memory /= 2;
            let sets = MappedSets::open::<K>(workspace, memory)?;
            Some(Early {
                verifier: Verifier::new(sets, join, most),
                clusters: UnionFind::new(documents as u32),
            })
        }
    };
    let capacity = (memory / threads as u64 / 8).min(documents as u64 * CANDIDATES_OF_A_DOCUMENT);
    let capacity = capacity.clamp(LEAST_CANDIDATES, MOST_CANDIDATES) as usize;
    let entries = merge::stats(&workspace.manifest).entries;
    let shareable = shareable(workspace, join)?;
    start_pass(workspace, join.context);
    let shared = Shared::<K> {
        join,
        shareable,
        bounds: join.sampled.rates().iter().map(|r| r.bounds()).collect(),
        source: Mutex::new(AllPostings::of(workspace, documents as u64)),
        early: early.as_ref(),
        numbers: Mutex::new(0),
        directory: workspace.path(DIRECTORY),
        parameters: workspace.collection_parameters(),
        capacity,
        done: Mutex::new(0),
    };
    let results = on_threads(STAGE, threads, |_| Worker::new(&shared).work(), None)?;
    let numbers = *lock(&shared.numbers);
    let mut progress = workspace.manifest.get_or_default::<JoinProgress>();
    let stats = progress.stats.prefix.get_or_insert_default();
    stats.entries = entries;
    let mut runs = Vec::new();
    for (found, written) in results {
        lookalike_base::add!(stats, found => probes, probes_repeated, probes_by_length,
            probes_by_singles, probes_clustered, verified);
        runs.extend(written);
    }
    runs.sort_by(|a: &RunEntry, b| a.part.name.cmp(&b.part.name));
    stats.spilled += runs.iter().map(|run| run.part.records).sum::<u64>();
    progress.next_number += numbers;
    progress.take_candidates(runs);
    crate::join::commit(workspace, &progress)
}

/// Loads the number of fingerprints that each document can share, as the sort counted them, if it
/// selected from one level.
pub(super) fn shareable(workspace: &Workspace, join: &Joining<'_>) -> Result<Option<Column>> {
    let runs = workspace.manifest.get::<RunsEntry>();
    let part = runs.and_then(|runs| runs.shareable.as_ref());
    let Some(part) = part.filter(|_| join.sampled.rates().len() == 1) else {
        return Ok(None);
    };
    let path = workspace.path("runs").join(&part.name);
    let column = Column::load(&path, workspace.collection_parameters(), part)?;
    let (expected, found) = (join.sampled.documents(), column.len());
    if found != expected {
        return Err(Error::corrupt(path, "numbers in the column").expected(expected, found));
    }
    Ok(Some(column))
}

/// Verifies pairs while candidates are generated, and keeps the clusters found so far.
struct Early<'a> {
    verifier: Verifier<'a>,
    clusters: UnionFind,
}

/// A table of lists that were met, by number.
pub(super) struct Lists {
    digests: Vec<u128>,
    numbers: Vec<u32>,
    bytes: Vec<u8>,
}

impl Default for Lists {
    fn default() -> Self {
        Lists {
            digests: vec![0; LISTS_MET],
            numbers: vec![0; LISTS_MET],
            bytes: Vec::new(),
        }
    }
}

impl Lists {
    pub(super) const BYTES: u64 = (LISTS_MET * (size_of::<u128>() + size_of::<u32>())) as u64;

    /// The number of the same list, if it was met recently; otherwise the list gets this number.
    pub(super) fn met(&mut self, level: usize, list: &[u32], number: u32) -> Option<u32> {
        if list.len() < LEAST_MET {
            return None;
        }
        self.bytes.clear();
        self.bytes.extend(list.iter().flat_map(|d| d.to_le_bytes()));
        let digest = xxh3_128_with_seed(&self.bytes, level as u64);
        let slot = digest as usize & (LISTS_MET - 1);
        if std::mem::replace(&mut self.digests[slot], digest) == digest {
            return Some(self.numbers[slot]);
        }
        self.numbers[slot] = number;
        None
    }
}

/// The data that all threads share.
struct Shared<'a, K> {
    join: &'a Joining<'a>,
    /// How many fingerprints each document can share, at most, if it is known.
    shareable: Option<Column>,
    /// The bounds of the fingerprints of each level.
    bounds: Vec<(K, K)>,
    source: Mutex<AllPostings<K>>,
    early: Option<&'a Early<'a>>,
    /// Number of the last run begun.
    numbers: Mutex<u64>,
    directory: PathBuf,
    parameters: u128,
    capacity: usize,
    /// Entries streamed.
    done: Mutex<u64>,
}

/// A list of a block, or those of its documents that are compared at a level.
struct Kept {
    level: usize,
    length: usize,
}

/// A document of a list that is being paired. The order puts the members of a cluster together, and
/// sorts them by size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    cluster: u32,
    size: u32,
    document: u32,
}

struct Worker<'a, K> {
    shared: &'a Shared<'a, K>,
    stats: PrefixStats,
    heads: Vec<Kept>,
    kept: Vec<u32>,
    members: Vec<Member>,
    lists_met: Lists,
    pairs_met: Vec<u64>,
    /// With [`Pairs::None`]: recent pairs that were verified and are below the threshold.
    pairs_failed: Vec<u64>,
    /// With [`Pairs::None`]: lists kept for later, each with its beginning, length and level.
    deferred: Vec<u32>,
    deferred_lists: Vec<(usize, usize, usize)>,
    buffer: Vec<u64>,
    runs: Vec<RunEntry>,
}

/// Marks an empty slot. No pair has this key.
const NOTHING: u64 = u64::MAX;

fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & (PAIRS_MET - 1)
}

impl<'a, K: Key> Worker<'a, K> {
    fn new(shared: &'a Shared<'a, K>) -> Self {
        let failed = if shared.early.is_some() { PAIRS_MET } else { 0 };
        Worker {
            shared,
            stats: PrefixStats::default(),
            heads: Vec::new(),
            kept: Vec::new(),
            members: Vec::new(),
            lists_met: Lists::default(),
            pairs_met: vec![NOTHING; PAIRS_MET],
            pairs_failed: vec![NOTHING; failed],
            deferred: Vec::new(),
            deferred_lists: Vec::new(),
            buffer: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn work(mut self) -> Result<(PrefixStats, Vec<RunEntry>)> {
        let shared = self.shared;
        let (mut packed, mut decoder) = (PackedBlock::default(), PostingsDecoder::<K>::default());
        loop {
            if !lock(&shared.source).take(&mut packed)? {
                break;
            }
            shared.join.context.stop.check(STAGE)?;
            // Keys are needed only to assign lists to levels.
            let block = if shared.bounds.len() > 1 {
                decoder.decode(&packed)?
            } else {
                decoder.decode_lists(&packed)?
            };
            packed.check(&block.documents, shared.join.sampled.documents())?;
            disk::point("candidates: worker");
            self.keep(&block.keys, &block.lengths, &block.documents);
            self.pair()?;
            let mut done = lock(&shared.done);
            *done += packed.entries as u64;
            shared.join.context.progress.at(*done);
        }
        self.pair_deferred()?;
        self.spill()?;
        Ok((self.stats, self.runs))
    }

    /// Keeps of each list, for each level that has its fingerprint, the documents that are compared at
    /// this level.
    fn keep(&mut self, keys: &[K], lengths: &[u32], documents: &[u32]) {
        let Shared { bounds, join, .. } = self.shared;
        self.heads.clear();
        self.kept.clear();
        let mut rest = documents;
        for (at, &length) in lengths.iter().enumerate() {
            let (list, after) = rest.split_at(length as usize);
            rest = after;
            for (level, (low, high)) in bounds.iter().enumerate() {
                let before = self.kept.len();
                if bounds.len() == 1 {
                    self.kept.extend_from_slice(list);
                } else if (low..=high).contains(&&keys[at]) {
                    let compared = |&&document: &&u32| join.sampled.level(document) <= level;
                    self.kept.extend(list.iter().filter(compared));
                }
                let length = self.kept.len() - before;
                self.heads.push(Kept { level, length });
            }
        }
    }

    /// Pairs the documents of each list.
    fn pair(&mut self) -> Result<()> {
        let (heads, kept) = (
            std::mem::take(&mut self.heads),
            std::mem::take(&mut self.kept),
        );
        let mut rest = &kept[..];
        let mut paired = Ok(());
        for head in &heads {
            let (list, after) = rest.split_at(head.length);
            rest = after;
            if list.len() >= 2 {
                paired = self.pair_or_defer(head.level, list);
                if paired.is_err() {
                    break;
                }
            }
        }
        (self.heads, self.kept) = (heads, kept);
        paired
    }

    /// Keeps a long list for later if clusters are wanted.
    fn pair_or_defer(&mut self, level: usize, list: &[u32]) -> Result<()> {
        if self.shared.early.is_none() || list.len() < LONG || list.len() > MOST_DEFERRED {
            return self.pair_list(level, list);
        }
        if self.deferred.len() + list.len() > MOST_DEFERRED {
            self.pair_deferred()?;
        }
        self.deferred_lists
            .push((self.deferred.len(), list.len(), level));
        self.deferred.extend_from_slice(list);
        Ok(())
    }

    /// Pairs the lists that were kept, the shortest first.
    fn pair_deferred(&mut self) -> Result<()> {
        let mut lists = std::mem::take(&mut self.deferred_lists);
        let documents = std::mem::take(&mut self.deferred);
        lists.sort_unstable_by_key(|&(from, length, _)| (length, from));
        for (from, length, level) in lists.drain(..) {
            self.shared.join.context.stop.check(STAGE)?;
            self.pair_list(level, &documents[from..from + length])?;
        }
        (self.deferred_lists, self.deferred) = (lists, documents);
        self.deferred.clear();
        Ok(())
    }

    fn pair_list(&mut self, level: usize, list: &[u32]) -> Result<()> {
        let n = list.len() as u64;
        let probes = n * (n - 1) / 2;
        self.stats.probes += probes;
        if let (&[a, b], None) = (list, self.shared.early) {
            // Two documents need no sort and no table.
            let sampled = self.shared.join.sampled;
            let member = |document| Member {
                cluster: 0,
                size: sampled.measured_at(level, document),
                document,
            };
            let (a, b) = (member(a), member(b));
            return self.pair_members(level, &[a.min(b), a.max(b)], probes);
        }
        if self.lists_met.met(level, list, 0).is_some() {
            self.stats.probes_repeated += probes;
            return Ok(());
        }
        let shared = self.shared;
        let sampled = shared.join.sampled;
        let cluster = |document| shared.early.map_or(document, |e| e.clusters.find(document));
        self.members.clear();
        self.members.extend(list.iter().map(|&document| Member {
            cluster: if shared.early.is_some() {
                cluster(document)
            } else {
                0
            },
            size: sampled.measured_at(level, document),
            document,
        }));
        if let Some(early) = shared.early {
            self.members.sort_unstable_by_key(|m| (m.size, m.document));
            if list.len() >= LONG {
                self.unite_neighbours(level, early)?;
                for member in &mut self.members {
                    member.cluster = cluster(member.document);
                }
            }
        }
        self.members.sort_unstable();
        let members = std::mem::take(&mut self.members);
        let paired = self.pair_members(level, &members, probes);
        self.members = members;
        paired
    }

    /// Verifies documents that are neighbours in size, and unites those that reach the threshold.
    fn unite_neighbours(&mut self, level: usize, early: &Early<'_>) -> Result<()> {
        for i in 1..self.members.len() {
            let (a, b) = (self.members[i - 1], self.members[i]);
            let (a, b) = (a.document.min(b.document), a.document.max(b.document));
            let key = Pair::key(a, b);
            if !self.is_of(level, a, b)
                || early.clusters.find(a) == early.clusters.find(b)
                || self.pairs_failed[slot(key)] == key
            {
                continue;
            }
            self.verify_now(early, key)?;
        }
        Ok(())
    }

    /// Verifies a pair, and unites the two documents if they reach the threshold.
    fn verify_now(&mut self, early: &Early<'_>, key: u64) -> Result<bool> {
        let (a, b) = Pair::of_key(key);
        self.stats.verified += 1;
        let mut tried = Tried::default();
        let found = self.shared.join.listed.has((a, b), &mut tried)
            && early.verifier.verify::<K>(None, a, b)?.is_some();
        if found {
            early.clusters.union(a, b);
        } else {
            self.pairs_failed[slot(key)] = key;
        }
        // The pair is verified again with the other candidates when the clusters are made, and one
        // for which the condition has no answer is counted then.
        if found || tried.first.is_some() {
            self.push(key)?;
        }
        Ok(found)
    }

    /// Are the two documents compared on this level?
    fn is_of(&self, level: usize, a: u32, b: u32) -> bool {
        let sampled = self.shared.join.sampled;
        sampled.rates().len() == 1 || sampled.level(a).max(sampled.level(b)) == level
    }

    /// Pairs documents that are not in one cluster and whose sizes allow the threshold.
    fn pair_members(&mut self, level: usize, members: &[Member], probes: u64) -> Result<()> {
        let shared = self.shared;
        let criterion = shared.join.config.of_samples();
        let clustered = shared.early.is_some();
        let (mut looked_at, mut apart) = (0u64, 0u64);
        let early = shared.early.filter(|_| members.len() >= LONG);
        let mut credit = members.len();
        let mut united = false;
        let mut next = 0;
        for (i, a) in members.iter().enumerate() {
            let largest = criterion.largest_partner(a.size);
            if !clustered {
                next = i + 1;
            } else if next <= i {
                // The first member of another cluster.
                let others = members[i..].iter().position(|m| m.cluster != a.cluster);
                next = others.map_or(members.len(), |n| i + n);
            }
            apart += (members.len() - next) as u64;
            for b in &members[next..] {
                if u64::from(b.size) > largest {
                    if clustered {
                        continue;
                    }
                    break;
                }
                if clustered && criterion.largest_partner(b.size) < a.size.into() {
                    continue;
                }
                looked_at += 1;
                let (x, y) = (a.document, b.document);
                if !self.is_of(level, x, y) {
                    continue;
                }
                if let Some(shareable) = &shared.shareable {
                    let least = criterion.least_shared(a.size.into(), b.size.into());
                    let most = shareable.at(x).min(shareable.at(y));
                    if u64::from(most) < least {
                        self.stats.probes_by_singles += 1;
                        continue;
                    }
                }
                let key = Pair::key(x.min(y), x.max(y));
                if clustered && self.pairs_failed[slot(key)] == key {
                    continue;
                }
                if let Some(early) = early {
                    if united && early.clusters.find(x) == early.clusters.find(y) {
                        self.stats.probes_clustered += 1;
                        continue;
                    }
                    if credit > 0 {
                        let found = self.verify_now(early, key)?;
                        united |= found;
                        credit = if found { credit + CREDIT } else { credit - 1 };
                        continue;
                    }
                }
                self.push(key)?;
            }
        }
        self.stats.probes_clustered += probes - apart;
        self.stats.probes_by_length += apart - looked_at;
        Ok(())
    }

    #[inline]
    fn push(&mut self, key: u64) -> Result<()> {
        let met = &mut self.pairs_met[slot(key)];
        if std::mem::replace(met, key) == key {
            return Ok(());
        }
        if self.buffer.len() == self.shared.capacity {
            self.distinct();
            // If most pairs were repetitions, the buffer has room again.
            if self.buffer.len() > self.shared.capacity / 2 {
                self.spill()?;
            }
        }
        self.buffer.push(key);
        Ok(())
    }

    fn distinct(&mut self) {
        self.buffer.sort_unstable();
        self.buffer.dedup();
    }

    /// Writes the buffered candidates as a run.
    fn spill(&mut self) -> Result<()> {
        self.distinct();
        if self.buffer.is_empty() {
            return Ok(());
        }
        let shared = self.shared;
        let number = {
            let mut numbers = lock(&shared.numbers);
            *numbers += 1;
            *numbers
        };
        let (directory, parameters) = (&shared.directory, shared.parameters);
        let context = shared.join.context;
        let run = write_run(directory, parameters, number, &self.buffer, context)?;
        self.buffer.clear();
        self.runs.push(run);
        Ok(())
    }
}
