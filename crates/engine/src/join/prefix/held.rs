//! From postings in memory to sorted candidates, document by document.
//!
//! # Source
//! All-Pairs (Bayardo, Ma & Srikant 2007, section 3) and PPJoin (Xiao, Wang, Lin & Yu 2008, section 3)
//! look up each document's prefix in an index in memory, and so meet all its partners at once.
//!
//! # Algorithm
//! Near-duplicates share dozens of the fingerprints in their prefixes. [`super::candidates`] streams
//! the postings and writes a candidate for each of these, which are sorted to find the repetitions.
//! If memory has room for the postings and for the places of each document in them, no repetition is
//! written: a document counts the fingerprints that it shares with each partner, and looks at each
//! partner once.
//!
//! 1. The lists are read into one column, each followed by [`END`]. For each document, the places
//!    behind its entries are collected. A list that equals one of the lists before it is counted
//!    there, if a table remembers that one.
//! 2. A thread takes a range of documents. From each place of a document to the end of the list are
//!    the later documents that share this fingerprint.
//! 3. Let A's last fingerprint of the prefix come before that of B, in the order of all fingerprints.
//!    Up to there, A and B share the n that were counted, and after it at most the |A| - p(A) that
//!    are not in the prefix of A. If n and this number are too few for the threshold, the pair is
//!    not a candidate. (PPJoin, section 3, has this bound for each shared fingerprint.) The order
//!    is not known here, so the greater of the two numbers is taken.
//!
//! # Invariants
//! - Each candidate is also one of [`super::candidates`], and comes once and in order. No pair that
//!   reaches the threshold is missing.
//!
//! # Cost
//! Memory: 10 bytes for each entry of the postings, 2 for each list and 4 for each document, and in
//! each thread 6 bytes for each document. Time: a few instructions for each pair under one
//! fingerprint.

use super::candidates::{Lists, shareable};
use super::{Joining, PrefixStats, start_pass};
use crate::collection::Column;
use crate::join::{COMPRESSION, DIRECTORY, JoinProgress, Pair, STAGE, commit};
use crate::merge::{self, AllPostings, MergeStats, PackedBlock, PostingsDecoder};
use crate::sort::{Record, RunWriter};
use lookalike_base::{Criterion, Key, Result, Stop, in_order};
use lookalike_store::{Workspace, disk};
use std::ops::Range;

/// Behind the last document of a list. No document has this number.
const END: u32 = u32::MAX;
/// Candidates that a thread passes on at a time.
const PIECE: usize = 64 << 10;
/// Ranges of documents for each thread, so that all of them end at about the same time, and the
/// fewest documents in one.
const RANGES: usize = 64;
const LEAST_RANGE: usize = 1 << 10;

/// Bytes that these postings and the candidates of all threads take.
fn bytes(postings: &MergeStats, documents: u64, threads: u64) -> u64 {
    let held = 10 * postings.entries + 2 * postings.lists + 4 * (documents + 1) + Lists::BYTES;
    // A thread makes one piece while others wait.
    let of_thread = 6 * documents + 3 * 8 * PIECE as u64;
    held + threads * of_thread
}

/// Whether all candidates can be found in memory, and are not to go through runs on disk.
pub(super) fn fits(workspace: &Workspace, join: &Joining<'_>, memory: u64) -> bool {
    let postings = merge::stats(&workspace.manifest);
    let documents = join.sampled.documents() as u64;
    let threads = join.context.budget.threads as u64;
    join.limit.is_none()
        && join.sampled.rates().len() == 1
        // The places are numbers of 32 bits.
        && postings.entries + postings.lists < u64::from(u32::MAX)
        && bytes(&postings, documents, threads) <= memory
}

/// Commits a run of all candidates.
pub(super) fn run<K: Key>(workspace: &mut Workspace, join: &Joining<'_>) -> Result<()> {
    let context = join.context;
    let entries = merge::stats(&workspace.manifest).entries;
    let shareable = shareable(workspace, join)?;
    start_pass(workspace, context);
    let mut stats = PrefixStats {
        entries,
        ..PrefixStats::default()
    };
    let held = Held::load::<K>(workspace, join, &mut stats)?;
    let documents = join.sampled.documents();
    let range = (documents / (RANGES * context.budget.threads)).max(LEAST_RANGE);
    let (directory, parameters) = (workspace.path(DIRECTORY), workspace.collection_parameters());
    let mut run = RunWriter::create(&directory, 1, parameters, COMPRESSION)?;
    in_order(
        STAGE,
        context.budget.threads,
        |hand_out| {
            (0..documents)
                .step_by(range)
                .try_for_each(|from| hand_out(from..documents.min(from + range)))
        },
        |documents, pass| {
            disk::point("candidates: worker");
            Partners::of(&held, join, shareable.as_ref()).find(documents, pass, context.stop)
        },
        |(keys, found): (Vec<u64>, PrefixStats)| {
            lookalike_base::add!(stats, found => probes_repeated, probes_by_length,
                probes_by_singles, pairs_by_prefix);
            stats.spilled += keys.len() as u64;
            (keys.into_iter()).try_for_each(|key| run.push(Record { key, value: 1 }))
        },
    )?;
    let part = run.finish()?;
    context.progress.at(entries);
    let mut progress = workspace.manifest.get_or_default::<JoinProgress>();
    progress.stats.prefix = Some(stats);
    progress.next_number += 1;
    progress.take_candidates(vec![part.into()]);
    commit(workspace, &progress)
}

/// Postings in memory.
struct Held {
    /// The documents of all lists, each list followed by [`END`].
    lists: Vec<u32>,
    /// By list, how many lists there were with these documents.
    times: Vec<u16>,
    /// By document, where its places begin; one more for the end.
    starts: Vec<u32>,
    /// By document, the places behind its entries. The last document of a list has none there.
    places: Vec<u32>,
    /// By place, the number of its list in `times`.
    place_times: Vec<u16>,
}

impl Held {
    fn load<K: Key>(
        workspace: &Workspace,
        join: &Joining<'_>,
        stats: &mut PrefixStats,
    ) -> Result<Held> {
        let documents = join.sampled.documents();
        let MergeStats { entries, lists, .. } = merge::stats(&workspace.manifest);
        let mut held = Held {
            lists: Vec::with_capacity((entries + lists) as usize),
            times: Vec::with_capacity(lists as usize),
            starts: vec![0; documents + 1],
            places: Vec::new(),
            place_times: Vec::new(),
        };
        let mut source = AllPostings::<K>::of(workspace, documents as u64);
        let (mut packed, mut decoder) = (PackedBlock::default(), PostingsDecoder::<K>::default());
        let mut met = Lists::default();
        let mut read = 0;
        while source.take(&mut packed)? {
            join.context.stop.check(STAGE)?;
            let block = decoder.decode_lists(&packed)?;
            packed.check(&block.documents, documents)?;
            for list in block.lists() {
                held.put(list, &mut met, stats);
            }
            read += packed.entries as u64;
            join.context.progress.at(read / 2);
        }
        held.place(join.context.stop)?;
        Ok(held)
    }

    /// Takes a list and counts the places of its documents.
    fn put(&mut self, list: &[u32], met: &mut Lists, stats: &mut PrefixStats) {
        let n = list.len() as u64;
        let probes = n * n.saturating_sub(1) / 2;
        stats.probes += probes;
        if let Some(before) = met.met(0, list, self.times.len() as u32) {
            let times = &mut self.times[before as usize];
            if *times < u16::MAX {
                *times += 1;
                stats.probes_repeated += probes;
                return;
            }
        }
        let Some((_, earlier)) = list.split_last() else {
            return;
        };
        for &document in earlier {
            self.starts[document as usize + 1] += 1;
        }
        self.lists.extend_from_slice(list);
        self.lists.push(END);
        self.times.push(1);
    }

    /// Collects the places of each document.
    fn place(&mut self, stop: &Stop) -> Result<()> {
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.places = vec![0; end as usize];
        self.place_times = vec![0; end as usize];
        let mut list = 0;
        for (at, pair) in self.lists.windows(2).enumerate() {
            stop.tick(STAGE, at)?;
            let &[document, next] = pair else { continue };
            if document == END {
                list += 1;
            } else if next != END {
                // Each start moves to the end of its document, where the next document began.
                let start = &mut self.starts[document as usize];
                self.places[*start as usize] = at as u32 + 1;
                self.place_times[*start as usize] = self.times[list];
                *start += 1;
            }
        }
        self.starts.rotate_right(1);
        if let Some(first) = self.starts.first_mut() {
            *first = 0;
        }
        Ok(())
    }

    /// The places behind the entries of a document, and how often to count each.
    fn places(&self, document: usize) -> impl Iterator<Item = (u32, u16)> {
        let range = self.starts[document] as usize..self.starts[document + 1] as usize;
        let times = self.place_times[range.clone()].iter();
        self.places[range].iter().copied().zip(times.copied())
    }
}

/// The partners of one document after the other.
struct Partners<'a> {
    held: &'a Held,
    join: &'a Joining<'a>,
    shareable: Option<&'a Column>,
    /// By document, the fingerprints that it shares with the present one; no more than 65,535 are
    /// counted.
    shared: Vec<u16>,
    /// The documents that share some.
    found: Vec<u32>,
    stats: PrefixStats,
}

impl<'a> Partners<'a> {
    fn of(held: &'a Held, join: &'a Joining<'a>, shareable: Option<&'a Column>) -> Self {
        Partners {
            held,
            join,
            shareable,
            shared: vec![0; join.sampled.documents()],
            found: Vec::new(),
            stats: PrefixStats::default(),
        }
    }

    /// Passes on the candidates of some documents.
    fn find(
        mut self,
        documents: Range<usize>,
        pass: &mut dyn FnMut((Vec<u64>, PrefixStats)) -> Result<()>,
        stop: &Stop,
    ) -> Result<()> {
        let mut keys = Vec::new();
        for document in documents {
            stop.tick(STAGE, document)?;
            self.count(document);
            if self.found.is_empty() {
                continue;
            }
            let a = document as u32;
            let compared = Compared::of(self.join, a, self.shareable);
            let (shared, stats) = (&mut self.shared, &mut self.stats);
            self.found.retain(|&b| {
                let shared = std::mem::take(&mut shared[b as usize]);
                compared.may_reach(b, shared, stats)
            });
            self.found.sort_unstable();
            for part in self.found.chunks(PIECE) {
                if keys.len() + part.len() > PIECE {
                    pass((std::mem::take(&mut keys), PrefixStats::default()))?;
                }
                keys.extend(part.iter().map(|&b| Pair::key(a, b)));
            }
            self.found.clear();
        }
        pass((keys, self.stats))
    }

    /// Counts the fingerprints that later documents share with this one.
    fn count(&mut self, document: usize) {
        let mut probes = 0;
        for (place, times) in self.held.places(document) {
            for &other in &self.held.lists[place as usize..] {
                if other == END {
                    break;
                }
                probes += 1;
                let shared = &mut self.shared[other as usize];
                if *shared == 0 {
                    self.found.push(other);
                }
                *shared = shared.saturating_add(times);
            }
        }
        self.stats.probes_repeated += probes - self.found.len() as u64;
    }
}

/// A document whose partners are compared.
struct Compared<'a> {
    join: &'a Joining<'a>,
    criterion: Criterion,
    size: u32,
    /// The largest size of a partner that is at least as large.
    largest: u64,
    /// The keys behind its prefix.
    rest: u32,
    shareable: Option<(&'a Column, u32)>,
}

impl<'a> Compared<'a> {
    fn of(join: &'a Joining<'a>, document: u32, shareable: Option<&'a Column>) -> Self {
        let criterion = join.config.of_samples();
        let size = join.sampled.measured_at(0, document);
        Compared {
            join,
            criterion,
            size,
            largest: criterion.largest_partner(size),
            rest: rest(join, criterion, document, size),
            shareable: shareable.map(|column| (column, column.at(document))),
        }
    }

    /// Whether the document and another one may reach the threshold, by their sizes, by what they
    /// can share with any document, and by what their prefixes share.
    fn may_reach(&self, other: u32, shared: u16, stats: &mut PrefixStats) -> bool {
        let size = self.join.sampled.measured_at(0, other);
        let fits = match size < self.size {
            true => u64::from(self.size) <= self.criterion.largest_partner(size),
            false => u64::from(size) <= self.largest,
        };
        if !fits {
            stats.probes_by_length += 1;
            return false;
        }
        let least = self.criterion.least_shared(self.size.into(), size.into());
        if let Some((column, own)) = self.shareable
            && u64::from(own.min(column.at(other))) < least
        {
            stats.probes_by_singles += 1;
            return false;
        }
        let rest = self.rest.max(rest(self.join, self.criterion, other, size));
        let few = shared < u16::MAX && u64::from(shared) + u64::from(rest) < least;
        stats.pairs_by_prefix += u64::from(few);
        !few
    }
}

/// The number of keys of a document that are not in its prefix.
fn rest(join: &Joining<'_>, criterion: Criterion, document: u32, size: u32) -> u32 {
    let keys = join.sampled.at(0, document);
    keys - criterion.prefix(keys, size)
}
