//! The `count` join counts every fingerprint that any two documents share.
//!
//! # Source
//! Step 3 of Broder's algorithm (Ye, Wen & Ma 2008, section 2.1): scan the sorted <fingerprint,
//! document> list, expand it to <document, document> tokens, and count these. The number of tokens
//! is quadratic in the length of the posting lists.
//!
//! # Algorithm
//! 1. Read postings until a *block* of them fills the budget. Record for each document its places
//!    in the lists of the block.
//! 2. For each document a of the block, in order, walk from its places to the ends of the lists.
//!    Each step is one pair token (a, b), which is counted in an array indexed by b. So the tokens
//!    are aggregated at once and never written.
//! 3. For each b, write the number of fingerprints that a and b share as a record (pair, count),
//!    unless the pair is certain to stay below the threshold. The records that a worker writes for
//!    a block form a sorted run.
//! 4. Merge the runs of all blocks and add the counts of equal pairs. Keep the pairs at or above
//!    the threshold.
//!
//! Step 3 leaves out a pair in two cases. Either the smaller set is too small for the larger one
//! (length filter). Or the count of the pair in this block, plus the most that other blocks can
//! add, min(|A| - |A in block|, |B| - |B in block|), is below the least shared count. A pair that
//! step 3 leaves out in one block and counts in others gets too low a total, but the pair is below
//! the threshold anyway.
//!
//! # Where we depart from the source
//! The paper writes the tokens to a file and sorts it. Counting block by block gives the same sums.
//! It takes a fraction of the time and puts no tokens on disk (measured in `docs/experiments.md`).
//!
//! # Cost
//! Memory: 8 bytes for each document in a list of the block, 8 bytes per document of the
//! collection, and for each thread 8 bytes per document b that it counts. If memory does not allow
//! that for all documents, step 2 is repeated for one window of documents b after another. Time:
//! one step for each pair token, and for each window that passes over it.
//!
//! # What is lost with `--max-postings`
//! The join skips lists with more documents. This lowers shared counts but not set sizes, so
//! resemblance is underestimated and pairs are missed. The join counts the lists, entries and
//! tokens that it drops.

use crate::collection::Catalogue;
use crate::merge::PostingsEntry;
use crate::sample::{SampleEntry, Sampled};
use crate::sort::{Record, RunEntry, RunWriter};
use lookalike_base::{
    Context, Criterion, Key, PROCESS_BYTES, Result, Stop, Unit, is_zero, on_threads,
};
use lookalike_store::{Workspace, disk};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::counters::Counters;
use super::{
    COMPRESSION, DIRECTORY, Join, JoinConfig, JoinProgress, Joining, Pair, STAGE, commit, list,
};

/// Memory of a thread's run writer, and of the postings reader.
const WORKER_BYTES: u64 = 4 << 20;
/// Bytes of a block for each document in a list: the document (or the mark that ends a list), and
/// its place in the index.
const ENTRY_BYTES: u64 = 8;
/// Below this number of entries a block is not worth its fixed costs.
const LEAST_ENTRIES: u64 = 16 << 10;
/// Number of documents that a worker takes at once.
const PIECE: u32 = 64;
/// The least number of documents in a window, if the collection has as many.
const LEAST_WINDOW: u64 = 1 << 10;
/// Ends a list. No document has this number.
const END: u32 = u32::MAX;

/// Counters of the `count` join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountStats {
    /// Posting lists joined.
    pub lists: u64,
    /// Documents in these lists.
    pub entries: u64,
    /// Pair tokens counted.
    pub pair_tokens: u64,
    /// Lists dropped by `--max-postings`.
    pub lists_dropped: u64,
    /// Documents in the dropped lists.
    pub entries_dropped: u64,
    /// Pair tokens that the dropped lists would have given.
    pub pair_tokens_dropped: u64,
    /// Blocks of postings.
    pub blocks: u64,
    /// Counted pairs written to runs.
    pub counted: u64,
    /// With [`super::Join::Probabilistic`]: counted pairs that were not written, because their hash
    /// counters exclude them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned: u64,
}

/// Where the join resumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountPlace {
    /// The range of postings.
    pub range: u32,
    /// The number of blocks of this range's part that are done.
    pub skip: u64,
}

/// Joins by counting. It resumes after the last committed block.
pub(super) fn run<K: Key>(
    workspace: &mut Workspace,
    config: &JoinConfig,
    listed: &list::Listable,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    let levels = workspace.record::<SampleEntry>("sample")?.sizes.len();
    let postings = workspace.record::<PostingsEntry>("merge")?.clone();
    let extent = Catalogue::extent(workspace)?;
    let documents = extent.documents;
    let threads = context.budget.threads as u64;
    let sizes = Sampled::bytes_for(config.measure, levels, extent);
    let fixed = PROCESS_BYTES
        + listed.bytes()
        + sizes
        + list::least_bytes(workspace, config)
        + documents * 8
        + (threads + 1) * WORKER_BYTES;
    let least_window = LEAST_WINDOW.min(documents);
    let least = threads * least_window * 8 + LEAST_ENTRIES * ENTRY_BYTES;
    let mut memory = super::rest(documents, fixed, least, &context.budget)?;
    // As few windows as fit in half of the memory, all of about the same size.
    let window = (memory / 2 / (threads * 8)).max(least_window).max(1);
    let window = documents.div_ceil(documents.div_ceil(window).max(1));
    memory -= threads * window * 8;
    let tokens = postings.stats.pair_tokens;
    // If everything fits into one block, counts are final and counters cannot help.
    let several = postings.stats.entries > memory / ENTRY_BYTES;
    let counters = (config.join == Join::Probabilistic && several)
        .then(|| Counters::bytes(memory / 2, tokens));
    memory -= counters.unwrap_or(0);
    let capacity = (memory / ENTRY_BYTES).min(1 << 31) as usize;
    let sampled = Sampled::load_for(workspace, config.measure)?;
    let counters = counters.map(|bytes| {
        let (most, documents) = (config.max_postings, sampled.documents());
        Counters::run::<K>(workspace, &postings, most, documents, bytes, context)
    });
    let counters = counters.transpose()?;
    context.start(STAGE, Unit::Count("pair tokens"), Some(tokens));
    let join = &Joining::new(config, (&sampled, listed), limit, context);
    let counting = Counting {
        join,
        counters: counters.as_ref(),
        window: window as u32,
    };
    blocks::<K>(workspace, &counting, &postings, capacity)?;
    drop(counters);
    let used = WORKER_BYTES + sizes * 2 + listed.bytes();
    let memory = context.budget.memory.0.saturating_sub(used);
    list::finish::<K>(workspace, join, memory)
}

/// The inputs that all blocks have in common.
struct Counting<'a> {
    join: &'a Joining<'a>,
    counters: Option<&'a Counters>,
    /// The number of documents b whose tokens are counted at the same time.
    window: u32,
}

/// Steps 1 to 3.
fn blocks<K: Key>(
    workspace: &mut Workspace,
    counting: &Counting<'_>,
    postings: &PostingsEntry,
    capacity: usize,
) -> Result<()> {
    let (config, sampled) = (counting.join.config, counting.join.sampled);
    let mut progress = workspace.manifest.get_or_default::<JoinProgress>();
    let mut block = Block::new(sampled.documents(), capacity);
    // If everything fits into one block, its counts are final.
    let fits =
        postings.stats.entries as usize <= capacity && progress.count == CountPlace::default();
    let counted = progress.stats.count.unwrap_or_default();
    let done = AtomicU64::new(counted.pair_tokens);
    progress.stats.count = Some(counted);
    while progress.count.range < postings.ranges {
        let range = progress.count.range;
        let mut reader = postings.open::<K>(workspace, range, sampled.documents())?;
        let mut read = 0;
        while let Some(lists) = reader.next_below(sampled.documents())? {
            read += 1;
            if read <= progress.count.skip {
                continue;
            }
            // A block of the postings file goes as a whole into this block or opens the next one.
            if !block.is_empty() && block.entries() + lists.documents.len() > capacity {
                let skip = read - 1;
                write_block(workspace, &mut progress, &mut block, counting, fits, &done)?;
                progress.count = CountPlace { range, skip };
                commit(workspace, &progress)?;
            }
            for list in lists.lists() {
                let stats = progress.stats.count.get_or_insert_default();
                let n = list.len() as u64;
                if config.max_postings.is_some_and(|most| n > most.into()) {
                    stats.lists_dropped += 1;
                    stats.entries_dropped += n;
                    stats.pair_tokens_dropped += n * (n - 1) / 2;
                } else {
                    stats.lists += 1;
                    stats.entries += n;
                    block.push(list);
                }
            }
        }
        reader.finish()?;
        progress.count.range += 1;
        progress.count.skip = 0;
    }
    write_block(workspace, &mut progress, &mut block, counting, fits, &done)?;
    commit(workspace, &progress)
}

/// Posting lists in memory, and the places of each document in them.
struct Block {
    /// The lists, each ended by [`END`].
    lists: Vec<u32>,
    count: usize,
    /// The beginning of each document's places in `places`, and one more element for their end.
    starts: Vec<u32>,
    places: Vec<u32>,
    capacity: usize,
}

impl Block {
    fn new(documents: usize, capacity: usize) -> Block {
        Block {
            lists: Vec::new(),
            count: 0,
            starts: vec![0; documents + 1],
            places: Vec::new(),
            capacity,
        }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of documents in the lists.
    fn entries(&self) -> usize {
        self.lists.len() - self.count
    }

    fn push(&mut self, list: &[u32]) {
        let wanted = self.lists.len() + list.len() + 1;
        if wanted > self.lists.capacity() {
            // Doubling could take twice the memory that the budget counts. Growth by half stays
            // within the share of the index.
            let most = self.capacity + self.capacity / 2 + 1;
            let target = (self.lists.capacity() * 3 / 2)
                .max(1 << 16)
                .min(most)
                .max(wanted);
            self.lists.reserve_exact(target - self.lists.len());
        }
        self.lists.extend_from_slice(list);
        self.lists.push(END);
        self.count += 1;
    }

    /// Records the places of each document. The last document of a list gets none, because no
    /// partner follows it.
    fn index(&mut self) {
        self.starts.fill(0);
        let followed = |pair: &[u32]| pair[0] != END && pair[1] != END;
        for pair in self.lists.windows(2).filter(|pair| followed(pair)) {
            self.starts[pair[0] as usize + 1] += 1;
        }
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        let total = self.starts.last().map_or(0, |&n| n as usize);
        self.places.clear();
        self.places.reserve_exact(total);
        self.places.resize(total, 0);
        // Filling moves each start to the start of the next document. The shift below undoes this.
        for (at, pair) in self.lists.windows(2).enumerate() {
            if followed(pair) {
                let start = &mut self.starts[pair[0] as usize];
                self.places[*start as usize] = at as u32 + 1;
                *start += 1;
            }
        }
        let n = self.starts.len();
        self.starts.copy_within(0..n - 1, 1);
        self.starts[0] = 0;
    }

    fn clear(&mut self) {
        self.lists.clear();
        self.places.clear();
        self.count = 0;
    }

    /// The number of lists of the block that each document stands in.
    fn in_block(&self) -> Vec<u32> {
        let mut counts = vec![0; self.starts.len() - 1];
        for &document in &self.lists {
            if document != END {
                counts[document as usize] += 1;
            }
        }
        counts
    }
}

/// Counts a block's tokens and writes a run for each worker that found pairs.
fn write_block(
    workspace: &Workspace,
    progress: &mut JoinProgress,
    block: &mut Block,
    counting: &Counting<'_>,
    whole: bool,
    done: &AtomicU64,
) -> Result<()> {
    let (join, context) = (counting.join, counting.join.context);
    if block.is_empty() {
        return Ok(());
    }
    block.index();
    let in_block = if whole { Vec::new() } else { block.in_block() };
    let counter = Counter {
        block,
        sampled: join.sampled,
        counters: counting.counters,
        window: counting.window,
        criterion: join.config.of_samples(),
        whole,
        in_block: &in_block,
        next: AtomicU64::new(0),
        directory: &workspace.path(DIRECTORY),
        parameters: workspace.collection_parameters(),
        stop: context.stop,
        done,
    };
    let first = progress.next_number;
    let threads = context.budget.threads;
    let work = |number| counter.work(first + number as u64 * counter.windows());
    let watch = || context.progress.at(done.load(Ordering::Relaxed));
    for counted in on_threads(STAGE, threads, work, Some(&watch))? {
        let stats = progress.stats.count.get_or_insert_default();
        stats.pair_tokens += counted.tokens;
        stats.pruned += counted.pruned;
        for run in counted.runs {
            stats.counted += run.part.records;
            progress.stats.spilled_bytes += run.part.bytes;
            progress.stats.runs += 1;
            progress.runs.push(run);
        }
    }
    progress.next_number += threads as u64 * counter.windows();
    progress.stats.count.get_or_insert_default().blocks += 1;
    block.clear();
    Ok(())
}

struct Counted {
    tokens: u64,
    pruned: u64,
    /// One for each window in which pairs were found.
    runs: Vec<RunEntry>,
}

/// The data that the workers of a block share.
struct Counter<'a> {
    block: &'a Block,
    sampled: &'a Sampled,
    counters: Option<&'a Counters>,
    window: u32,
    criterion: Criterion,
    whole: bool,
    in_block: &'a [u32],
    next: AtomicU64,
    directory: &'a Path,
    parameters: u128,
    stop: &'a Stop,
    done: &'a AtomicU64,
}

impl Counter<'_> {
    fn windows(&self) -> u64 {
        (self.sampled.documents() as u64).div_ceil(self.window.into())
    }

    /// Takes pieces of documents in ascending order, in one window after the other, so that the
    /// records of a window are ascending too. Writes them to runs with the numbers from `number`
    /// on.
    fn work(&self, number: u64) -> Result<Counted> {
        let documents = self.sampled.documents() as u64;
        let pieces = documents.div_ceil(PIECE.into());
        let mut counts = vec![0u32; self.window as usize];
        let mut met: Vec<u32> = Vec::new();
        let mut run: Option<RunWriter<u64>> = None;
        let mut runs = Vec::new();
        let mut window = 0;
        let (mut tokens, mut pruned) = (0, 0);
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces * self.windows() {
                break;
            }
            self.stop.check(STAGE)?;
            disk::point("count: worker");
            if window != piece / pieces {
                runs.extend(run.take().map(RunWriter::finish).transpose()?);
                window = piece / pieces;
            }
            let first = window as u32 * self.window;
            let before = tokens;
            let a = (piece % pieces) as u32 * PIECE;
            for a in a..a.saturating_add(PIECE).min(documents as u32) {
                tokens += self.count(a, first, &mut counts, &mut met);
                met.retain(|&b| {
                    let mut keep = self.keep(a, b, counts[(b - first) as usize]);
                    if keep && !self.may_share_enough(a, b) {
                        pruned += 1;
                        keep = false;
                    }
                    if !keep {
                        counts[(b - first) as usize] = 0;
                    }
                    keep
                });
                met.sort_unstable();
                for &b in &met {
                    let value = std::mem::take(&mut counts[(b - first) as usize]);
                    if run.is_none() {
                        let (place, parameters) = (self.directory, self.parameters);
                        let number = number + window;
                        run = Some(RunWriter::create(place, number, parameters, COMPRESSION)?);
                    }
                    if let Some(run) = &mut run {
                        run.push(Record {
                            key: Pair::key(a, b),
                            value,
                        })?;
                    }
                }
                met.clear();
            }
            self.done.fetch_add(tokens - before, Ordering::Relaxed);
        }
        runs.extend(run.map(RunWriter::finish).transpose()?);
        Ok(Counted {
            tokens,
            pruned,
            runs: runs.into_iter().map(RunEntry::from).collect(),
        })
    }

    /// Counts the tokens (a, b) of the block for all b of the window that begins at `first`; `met`
    /// gets each b once.
    fn count(&self, a: u32, first: u32, counts: &mut [u32], met: &mut Vec<u32>) -> u64 {
        let (lists, starts) = (&self.block.lists, &self.block.starts);
        let places = starts[a as usize] as usize..starts[a as usize + 1] as usize;
        let places = &self.block.places[places];
        let mut tokens = 0;
        for &place in places {
            for &b in &lists[place as usize..] {
                // The mark that ends a list is after every window.
                let Some(count) = counts.get_mut(b.wrapping_sub(first) as usize) else {
                    if b < first {
                        continue;
                    }
                    break;
                };
                if *count == 0 {
                    met.push(b);
                }
                *count += 1;
                tokens += 1;
            }
        }
        tokens
    }

    /// Does the pair's counter allow it to reach the threshold? Always true without counters.
    fn may_share_enough(&self, a: u32, b: u32) -> bool {
        self.counters.is_none_or(|counters| {
            let (size_a, size_b) = self.sampled.measured(a, b);
            let least = self.criterion.least_shared(size_a.into(), size_b.into());
            counters.may_share(a, b, least)
        })
    }

    /// Could this pair reach the threshold?
    fn keep(&self, a: u32, b: u32, count: u32) -> bool {
        let (size_a, size_b) = self.sampled.sizes(a, b);
        let (size_a, size_b) = (u64::from(size_a), u64::from(size_b));
        let (a_measured, b_measured) = self.sampled.measured(a, b);
        let (a_measured, b_measured) = (u64::from(a_measured), u64::from(b_measured));
        if self.whole {
            return self.criterion.reached(count.into(), a_measured, b_measured);
        }
        let rest = |document: u32| {
            let size = u64::from(self.sampled.own(document));
            size - u64::from(self.in_block[document as usize]).min(size)
        };
        let most = (u64::from(count) + rest(a).min(rest(b)))
            .min(size_a)
            .min(size_b);
        self.criterion.reached(most, a_measured, b_measured)
    }
}
