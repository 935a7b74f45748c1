//! A batch of queries that are looked up together.

use lookalike_base::{Context, Key, Measure, Queue, Result, on_threads};
use lookalike_engine::collection::{
    self, Captured, Catalogue, Column, DocumentReader, Representatives, SegmentEntry, SetReader,
};
use lookalike_engine::index::IndexSearcher;
use lookalike_store::{Workspace, disk};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::indexed::{Asked, Indexed, Looker, prefix};
use super::{Answer, Compared, Match, QueryConfig, STAGE, Why};

/// Allocator overhead of a docno, and the score while it is printed.
const MATCH_BYTES: usize = 64;

/// Memory that is always available for matches.
const LEAST_MATCHES: u64 = 1 << 20;

/// How long the first pass over the sets is expected to take.
const FIRST_PASS: Duration = Duration::from_millis(100);

/// Queries with their keys.
pub(super) struct QueryBatch<'a, K> {
    workspace: &'a Workspace,
    config: &'a QueryConfig,
    indexed: Option<Indexed<'a>>,
    /// Read when the sets are searched for the first time.
    columns: Option<(Representatives, Column)>,
    queries: Vec<Asked>,
    /// The keys of each query, little-endian, and the end of each query's keys.
    sets: Vec<u8>,
    ends: Vec<usize>,
    /// Queries by MD5.
    md5s: HashMap<[u8; 16], Vec<u32>>,
    of: PhantomData<K>,
    /// How long the last pass over the sets took.
    pass: Duration,
}

/// The rank of a match; the greatest is the best. It consists of whether the match is exact, its
/// score before rounding, the share of the query that the document contains, and the document, the
/// first one being the greatest. No score or share is negative, so their bits sort as they do.
type Rank = (bool, u64, u64, Reverse<u32>);

/// Memory of a match, including its docno and its capture.
fn match_bytes(found: &Match) -> u64 {
    let Captured { url, date } = &found.captured;
    let captured = [url, date].into_iter().flatten();
    let captured: usize = captured.map(|text| MATCH_BYTES + text.len()).sum();
    (size_of::<(Rank, Match)>() + MATCH_BYTES + found.docno.len() + captured) as u64
}

/// The best matches of a query, and the number of all its matches.
#[derive(Default)]
struct Best {
    found: u64,
    kept: BTreeMap<Rank, Match>,
    /// Memory of all matches that were found, and of the largest one.
    bytes: u64,
    largest: u64,
}

impl Best {
    /// Keeps a match and returns the match that it displaces.
    fn keep(&mut self, (rank, found): (Rank, Match), top: Option<usize>) -> Option<Match> {
        self.kept.insert(rank, found);
        let full = top.is_some_and(|top| self.kept.len() > top);
        let worst = full.then(|| self.kept.pop_first()).flatten();
        worst.map(|(_, found)| found)
    }

    fn merge(&mut self, other: Best, top: Option<usize>) {
        self.found += other.found;
        self.bytes += other.bytes;
        self.largest = self.largest.max(other.largest);
        for found in other.kept {
            self.keep(found, top);
        }
    }
}

impl<'a, K: Key> QueryBatch<'a, K> {
    pub(super) fn new(workspace: &'a Workspace, config: &'a QueryConfig) -> Result<Self> {
        Ok(QueryBatch {
            workspace,
            config,
            indexed: Indexed::open::<K>(workspace, config)?,
            columns: None,
            queries: Vec::new(),
            sets: Vec::new(),
            ends: Vec::new(),
            md5s: HashMap::new(),
            of: PhantomData,
            pass: FIRST_PASS,
        })
    }

    /// Memory of a query with this number of keys.
    pub(super) fn bytes_of(keys: usize) -> u64 {
        // The set, the entries in the sorted keys, and one number of the index for every two keys.
        (keys * (K::BYTES + size_of::<(K, u32)>() + 8)) as u64 + 1024
    }

    /// Memory of a query looked up by itself, including its set during construction.
    pub(super) fn bytes_of_one(keys: usize) -> u64 {
        Self::bytes_of(keys) + (keys * K::BYTES) as u64
    }

    pub(super) fn has_index(&self) -> bool {
        self.indexed.is_some()
    }

    /// How long the input may pause until the batch is looked up: the time that the look-up takes,
    /// so that waiting at most doubles it. More queries may come, and share a pass over the sets.
    pub(super) fn patience(&self) -> Duration {
        match self.has_index() {
            true => Duration::ZERO,
            false => self.pass,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        Self::bytes_of(self.sets.len() / K::BYTES) + self.queries.len() as u64 * 1024
    }

    pub(super) fn push(&mut self, asked: Asked, set: &[K]) {
        let query = self.queries.len() as u32;
        for key in set {
            key.put_le(&mut self.sets);
        }
        self.ends.push(self.sets.len());
        // A document without words equals no other.
        if asked.words > 0 {
            self.md5s.entry(asked.md5).or_default().push(query);
        }
        self.queries.push(asked);
    }

    /// Looks up all queries, empties the batch and returns how many times it read the collection.
    /// `room` is the memory for the batch and its matches; `fixed` bytes are in use elsewhere.
    ///
    /// # Errors
    /// `BudgetTooSmall` if the matches of one query do not fit.
    pub(super) fn ask(
        &mut self,
        fixed: u64,
        room: u64,
        context: &Context<'_>,
        mut each: impl FnMut(Answer) -> Result<()>,
    ) -> Result<u64> {
        let most = room.saturating_sub(self.bytes()).max(LEAST_MATCHES);
        let mut readings = 0;
        let mut waiting: Vec<Range<usize>> = Vec::new();
        waiting.push(0..self.queries.len());
        while let Some(queries) = waiting.pop() {
            if queries.is_empty() {
                continue;
            }
            if !self.has_index() {
                if self.columns.is_none() {
                    let representatives = Catalogue::representatives(self.workspace)?;
                    self.columns = Some((representatives, Catalogue::stored(self.workspace)?));
                }
                readings += 1;
            }
            let is_alone = queries.len() == 1;
            // A query alone needs no memory for lists that it shares with others.
            let together = match self.has_index() && !is_alone {
                true => most / 4,
                false => 0,
            };
            let look_up = LookUp {
                batch: self,
                context,
                queries: queries.clone(),
                most: most - together,
                together,
                held: AtomicU64::new(0),
                over: AtomicBool::new(false),
            };
            let begun = Instant::now();
            let best = look_up.run()?;
            let allowed = look_up.allows(&best);
            self.pass = begun.elapsed();
            if allowed {
                for (asked, best) in self.queries[queries].iter_mut().zip(best) {
                    each(answer(asked, best))?;
                }
                continue;
            }
            // Retry in halves, the first half first. For a single query, report the memory that it
            // needs.
            let middle = queries.start + queries.len() / 2;
            if !is_alone {
                waiting.extend([middle..queries.end, queries.start..middle]);
                continue;
            }
            let first = best.first();
            let (bytes, largest) = first.map_or((0, 0), |best| (best.bytes, best.largest));
            let kept = self.config.top.map_or(u64::MAX, |top| {
                (top as u64 + 1).saturating_mul(context.budget.threads as u64)
            });
            // Doubled, because handing the matches on copies them.
            let matches = 2 * bytes.min(largest.saturating_mul(kept));
            let alone = Self::bytes_of_one(self.set(queries.start as u32).len() / K::BYTES);
            // A batch leaves half of the room to matches.
            let needed = (2 * matches).max(alone + matches);
            let docno = &self.queries[queries.start].docno;
            context.budget.require(fixed + needed, || {
                format!("listing the matches of {docno} (a smaller --top needs less)")
            })?;
        }
        self.queries.clear();
        self.sets.clear();
        self.ends.clear();
        self.md5s.clear();
        Ok(readings)
    }

    /// The number of keys of a query that are looked up in any case.
    fn first_keys(&self, asked: &Asked) -> u64 {
        match asked.keys {
            0 => 0,
            keys => IndexSearcher::wanted(prefix(self.config, keys, asked.words)).min(keys),
        }
    }

    /// Cuts the queries into groups whose keys are looked up together. Each thread gets at least
    /// two groups if there are enough queries, and a group has at most `most` keys.
    fn groups(&self, queries: Range<usize>, threads: u64, most: u64) -> Vec<Range<usize>> {
        let keys = |query: usize| self.first_keys(&self.queries[query]);
        let all: u64 = queries.clone().map(keys).sum();
        let most = most.min(all / threads / 2);
        let (mut groups, mut begin, mut held) = (Vec::new(), queries.start, 0);
        for query in queries.clone() {
            let own = keys(query);
            if query > begin && held + own > most {
                groups.push(begin..query);
                (begin, held) = (query, 0);
            }
            held += own;
        }
        if begin < queries.end {
            groups.push(begin..queries.end);
        }
        groups
    }

    /// The match of a query and a document, if it is to be listed.
    fn found(
        &self,
        query: u32,
        document: &Compared<'_>,
        named: impl FnOnce() -> Result<(String, Captured)>,
    ) -> Result<Option<(Rank, Match)>> {
        let asked = &self.queries[query as usize];
        let criterion = self.config.criterion;
        let measure = criterion.measure;
        let (keys, keys_of_document, shared) = (asked.keys, document.keys, document.shared);
        let (x, y) = match measure.of_words() {
            true => (asked.words, document.words),
            false => (keys, keys_of_document),
        };
        let counted = match measure {
            Measure::Smallest(n) => K::shared_smallest_le(self.set(query), document.set, n.into()),
            _ => shared,
        };
        let exact = asked.words > 0 && asked.md5 == document.md5;
        let alike = counted > 0 && criterion.reached(counted, x, y);
        // The size of the query is used twice: containment is then the share of the query's keys.
        let whole = self.config.inside();
        let inside = whole.is_some_and(|whole| shared > 0 && whole.reached(shared, keys, keys));
        if !(exact || alike || inside) {
            return Ok(None);
        }
        // Two documents without keys that are identical have resemblance 1.
        let (score, printed) = match keys + keys_of_document {
            0 => (1.0, "1".into()),
            _ => (measure.value(counted, x, y), measure.text(counted, x, y)),
        };
        let (docno, captured) = named()?;
        let found = Match {
            document: document.number,
            docno,
            why: match (exact, alike) {
                (true, _) => Why::equal(asked.text, document.text),
                (false, true) => Why::Near,
                (false, false) => Why::Contains,
            },
            score: printed.parse().unwrap_or(score),
            contains_query: shared as f64 / keys.max(1) as f64,
            in_query: counted as f64 / keys_of_document.max(1) as f64,
            shared: counted,
            keys: keys_of_document,
            captured,
        };
        let rank = (
            exact,
            score.to_bits(),
            found.contains_query.to_bits(),
            Reverse(found.document),
        );
        Ok(Some((rank, found)))
    }

    /// The keys of a query.
    fn set(&self, query: u32) -> &[u8] {
        let query = query as usize;
        let from = query.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sets[from..self.ends[query]]
    }
}

fn answer(asked: &mut Asked, best: Best) -> Answer {
    let matches = best.kept.into_values().rev();
    Answer {
        query: std::mem::take(&mut asked.docno),
        words: asked.words,
        keys_query: asked.keys,
        found: best.found,
        matches: matches.collect(),
    }
}

/// The sorted keys of the queries of a look-up, and where those with the same leading bits are.
struct BatchIndex<K> {
    /// Each with its query.
    keys: Vec<(K, u32)>,
    starts: Vec<u32>,
    shift: u32,
}

impl<K: Key> BatchIndex<K> {
    fn new(mut keys: Vec<(K, u32)>) -> BatchIndex<K> {
        keys.sort_unstable();
        let bits = (usize::BITS - keys.len().leading_zeros()).clamp(1, 30);
        let shift = K::BITS - bits;
        let mut starts = vec![0u32; (1 << bits) + 1];
        for (key, _) in &keys {
            starts[(key.to_u128() >> shift) as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        BatchIndex {
            keys,
            starts,
            shift,
        }
    }

    /// The queries that have a key.
    #[inline]
    fn queries(&self, key: K) -> impl Iterator<Item = u32> {
        let at = (key.to_u128() >> self.shift) as usize;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        let same = self.keys[range]
            .iter()
            .filter(move |(other, _)| *other == key);
        same.map(|(_, query)| *query)
    }
}

/// A look-up of some queries of a batch. All threads use its memory for matches.
struct LookUp<'l, 'b, K> {
    batch: &'l QueryBatch<'b, K>,
    context: &'l Context<'l>,
    queries: Range<usize>,
    /// The limit of the memory for matches, and the memory in use.
    most: u64,
    held: AtomicU64,
    over: AtomicBool,
    /// Memory for the lists of keys that are looked up together.
    together: u64,
}

impl<K: Key> LookUp<'_, '_, K> {
    /// Looks up the queries, in the index or else in the sets. If the memory is over its limit, the
    /// result is incomplete; of one query, all matches are counted.
    fn run(&self) -> Result<Vec<Best>> {
        match &self.batch.indexed {
            Some(indexed) => self.by_index(indexed),
            None => self.by_sets(),
        }
    }

    /// Counts a match, and keeps it as long as the memory is not over its limit.
    fn push(&self, best: &mut Best, found: (Rank, Match)) {
        let bytes = match_bytes(&found.1);
        best.found += 1;
        best.bytes += bytes;
        best.largest = best.largest.max(bytes);
        if self.is_over() {
            return;
        }
        if self.held.fetch_add(bytes, Ordering::Relaxed) + bytes > self.most {
            self.over.store(true, Ordering::Relaxed);
        }
        if let Some(worst) = best.keep(found, self.batch.config.top) {
            self.held.fetch_sub(match_bytes(&worst), Ordering::Relaxed);
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Whether the look-up ends here: several queries are looked up again in halves.
    fn ends(&self) -> bool {
        self.queries.len() > 1 && self.is_over()
    }

    /// Whether there is room for all matches plus a second copy of one query's, needed to hand it
    /// on.
    fn allows(&self, best: &[Best]) -> bool {
        let kept = |best: &Best| best.kept.values().map(match_bytes).sum::<u64>();
        let largest = best.iter().map(kept).max().unwrap_or(0);
        !self.is_over() && self.held.load(Ordering::Relaxed) + largest <= self.most
    }

    fn nothing(&self) -> Vec<Best> {
        self.queries.clone().map(|_| Best::default()).collect()
    }

    /// Reads all sets; the threads share the segments.
    fn by_sets(&self) -> Result<Vec<Best>> {
        let keys = self.queries.clone().flat_map(|query| {
            let set = self.batch.set(query as u32).chunks_exact(K::BYTES);
            set.map(move |key| (K::get_le(key), query as u32))
        });
        let index = BatchIndex::new(keys.collect());
        let segments = Queue::new(collection::segments(&self.batch.workspace.manifest));
        let work = |_| -> Result<Vec<Best>> {
            let (mut best, mut counts) = (self.nothing(), vec![0; self.batch.queries.len()]);
            while let Some(segment) = segments.next() {
                disk::point("query: worker");
                self.context.stop.check(STAGE)?;
                self.segment(segment, &index, &mut counts, &mut best)?;
                if self.ends() {
                    break;
                }
            }
            Ok(best)
        };
        let threads = self.context.budget.threads;
        let mut results = on_threads(STAGE, threads, work, None)?.into_iter();
        let mut best = results.next().unwrap_or_default();
        for result in results {
            for (best, other) in best.iter_mut().zip(result) {
                best.merge(other, self.batch.config.top);
            }
        }
        Ok(best)
    }

    /// Looks up the queries in a segment. `counts` has a 0 for each query of the batch.
    fn segment(
        &self,
        segment: &SegmentEntry,
        index: &BatchIndex<K>,
        counts: &mut [u64],
        best: &mut [Best],
    ) -> Result<()> {
        let batch = self.batch;
        let Some((representatives, stored)) = &batch.columns else {
            return Ok(());
        };
        let mut documents = DocumentReader::of(batch.workspace.places(), segment)?;
        let mut sets = SetReader::<K>::open(batch.workspace.places(), segment)?;
        let mut number = segment.first_document;
        let (mut set, mut met): (Vec<u8>, Vec<u32>) = (Vec::new(), Vec::new());
        // The other measures need only the number of shared keys.
        let whole = matches!(batch.config.criterion.measure, Measure::Smallest(_));
        while let Some(document) = documents.next()? {
            self.context.tick(STAGE, number)?;
            let takes_part = representatives.has(number);
            let size = stored.get(number);
            let size = size.ok_or_else(|| documents.not_catalogued(number))?;
            set.clear();
            sets.next(size, |keys| {
                for &key in keys.iter().filter(|_| takes_part) {
                    for query in index.queries(key) {
                        let count = &mut counts[query as usize];
                        if *count == 0 {
                            met.push(query);
                        }
                        *count += 1;
                    }
                    if whole {
                        key.put_le(&mut set);
                    }
                }
                Ok(())
            })?;
            let same = batch.md5s.get(&document.md5).filter(|_| takes_part);
            for &query in same.into_iter().flatten() {
                if self.queries.contains(&(query as usize)) && counts[query as usize] == 0 {
                    met.push(query);
                }
            }
            for query in met.drain(..) {
                let compared = Compared {
                    number,
                    md5: document.md5,
                    text: document.text,
                    words: document.words,
                    keys: size.into(),
                    set: &set,
                    shared: std::mem::take(&mut counts[query as usize]),
                };
                let named = || Ok((document.docno.clone(), Captured::of(&document)));
                if let Some(found) = batch.found(query, &compared, named)? {
                    self.push(&mut best[query as usize - self.queries.start], found);
                }
            }
            if self.ends() {
                return Ok(());
            }
            number += 1;
        }
        documents.finish()?;
        sets.finish()
    }

    /// Answers the queries from the index; the threads share the queries.
    fn by_index(&self, indexed: &Indexed<'_>) -> Result<Vec<Best>> {
        let (batch, context) = (self.batch, self.context);
        let threads = context.budget.threads.min(self.queries.len());
        let together = self.together / threads as u64 / indexed.index.bytes_read();
        let groups = batch.groups(self.queries.clone(), threads as u64, together);
        let groups = Queue::new(groups);
        let work = |_| -> Result<Vec<(usize, Best)>> {
            let mut answered = Vec::new();
            let mut looker = Looker::new(indexed);
            let mut keys: Vec<K> = Vec::new();
            while let Some(group) = groups.next() {
                disk::point("query: worker");
                keys.clear();
                let mut ends = Vec::with_capacity(group.len());
                // The keys of a query that is alone in its group are read later, in blocks.
                for query in group.clone().filter(|_| group.len() > 1) {
                    let set = batch.set(query as u32).chunks_exact(K::BYTES);
                    let first = batch.first_keys(&batch.queries[query]) as usize;
                    keys.extend(set.take(first).map(K::get_le));
                    ends.push(keys.len());
                }
                let lists = looker.read(&keys)?;
                let mut begin = 0;
                for (n, query) in group.enumerate() {
                    if self.ends() {
                        return Ok(answered);
                    }
                    context.stop.check(STAGE)?;
                    let end = ends.get(n).copied().unwrap_or(0);
                    let read = (&lists, begin..end);
                    begin = end;
                    let (asked, set) = (&batch.queries[query], batch.set(query as u32));
                    let (mut best, mut looked_at) = (Best::default(), 0u32);
                    looker.query::<K>(batch.config, asked, set, read, |document, facts| {
                        looked_at += 1;
                        context.tick(STAGE, looked_at)?;
                        let named = || indexed.documents.named(document.number, facts);
                        if let Some(found) = batch.found(query as u32, &document, named)? {
                            self.push(&mut best, found);
                        }
                        Ok(match self.ends() {
                            true => ControlFlow::Break(()),
                            false => ControlFlow::Continue(()),
                        })
                    })?;
                    answered.push((query - self.queries.start, best));
                }
            }
            Ok(answered)
        };
        let mut best = self.nothing();
        let answered = on_threads(STAGE, threads, work, None)?.into_iter();
        answered.flatten().for_each(|(at, found)| best[at] = found);
        Ok(best)
    }
}
