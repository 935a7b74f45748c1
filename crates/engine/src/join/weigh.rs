//! The score S4 of pairs that may reach the threshold.
//!
//! # Source
//! S4 of Bernstein & Zobel 2006, section 6.2: the sum of 1 / f over the shared fingerprints of two
//! documents, divided by the mean of their lengths in words. f is the number of documents that have
//! the fingerprint.
//!
//! # In and out
//! In: the pairs that would reach the threshold if f were 2 for every shared fingerprint. Either
//! join finds them. Out: the pairs that reach the threshold, and their scores, as two parts in the
//! format of the pair list.
//!
//! # Algorithm
//! Load as many pairs as fit in memory, with an index by their first documents. Stream the postings
//! once. For each list, add a weight of 1 / f to every loaded pair whose two documents are in the
//! list.
//!
//! # Invariants
//! - Weights are integers in units of 2^-32, rounded down, so their sum does not depend on an
//!   order. Two documents share at most as many fingerprints as their mean length in words, so a
//!   score is less than 2^-32 too low. A score that could be at the threshold within this error
//!   counts as at it.
//!
//! # Cost
//! Memory: 4 bytes per document, and 24 bytes per loaded pair. Time: for each document of a list,
//! one step for each loaded pair of which it is the first document.

use crate::merge::PostingsEntry;
use crate::sort::{Record, RunFile, RunWriter};
use lookalike_base::{Key, Result, Unit};
use lookalike_store::{Header, Kind, PartInfo, Workspace};
use std::sync::atomic::{AtomicU64, Ordering};

use super::counters::{self, each_list};
use super::{COMPRESSION, DIRECTORY, Joining, Pair, STAGE};

/// Bytes of a loaded pair: key, shared count and weight, rounded up.
const PAIR_BYTES: u64 = 24;
/// The number of pairs that are loaded even if memory allows no more.
const LEAST_PAIRS: u64 = 16 << 10;
/// A weight of one.
const ONE: u64 = 1 << 32;
/// Numbers of the parts with pairs and scores. The part with the candidates has number 0.
const NUMBERS: (u64, u64) = (1, 2);

/// The pairs at the threshold, and a score for each.
pub(super) struct Weighed {
    pub(super) pairs: PartInfo,
    pub(super) scores: PartInfo,
}

/// The least memory that the computation needs.
pub(super) fn least_bytes(documents: u64) -> u64 {
    documents * 4 + LEAST_PAIRS * PAIR_BYTES
}

/// Computes the scores of the pairs in `candidates`.
pub(super) fn run<K: Key>(
    workspace: &Workspace,
    join: &Joining<'_>,
    candidates: &PartInfo,
    memory: u64,
) -> Result<Weighed> {
    let (config, sampled, context) = (join.config, join.sampled, join.context);
    let documents = sampled.documents();
    let postings = workspace.record::<PostingsEntry>("merge")?;
    let readers = context.budget.threads as u64 * counters::WORKER_BYTES + documents as u64 * 4;
    let capacity = (memory.saturating_sub(readers) / PAIR_BYTES).max(LEAST_PAIRS);
    let (directory, parameters) = (workspace.path(DIRECTORY), workspace.collection_parameters());
    let create = |number| {
        let header = Header::new(Kind::Pairs, parameters, number, u64::BYTES);
        RunWriter::<u64>::of(&directory, header, COMPRESSION)
    };
    let (mut pairs, mut scores) = (create(NUMBERS.0)?, create(NUMBERS.1)?);
    let path = directory.join(&candidates.name);
    let file = RunFile::<u64>::open(Kind::Pairs, &path, Some(parameters), Some(candidates))?;
    let mut cursor = file.range(0, u64::MAX)?;
    let mut held: Vec<Record<u64>> = Vec::new();
    let (p, q) = (config.threshold.numerator(), config.threshold.denominator());
    loop {
        held.clear();
        while let Some(record) = cursor.head().filter(|_| (held.len() as u64) < capacity) {
            held.push(record);
            cursor.advance()?;
        }
        if held.is_empty() {
            break;
        }
        let entries = postings.stats.entries;
        context.start(STAGE, Unit::Count("posting entries"), Some(entries));
        let weights: Vec<AtomicU64> = held.iter().map(|_| AtomicU64::new(0)).collect();
        let starts = starts(&held, documents);
        let most = config.max_postings;
        each_list::<K>(workspace, postings, most, documents, context, |list| {
            let weight = ONE / list.len().max(1) as u64;
            for (at, &a) in list.iter().enumerate() {
                let places = starts[a as usize] as usize..starts[a as usize + 1] as usize;
                if !places.is_empty() {
                    shared(&held[places.clone()], &list[at + 1..], |place| {
                        weights[places.start + place].fetch_add(weight, Ordering::Relaxed);
                    });
                }
            }
        })?;
        for (&record, weight) in held.iter().zip(weights) {
            let (a, b) = Pair::of_key(record.key);
            let (a, b) = sampled.measured(a, b);
            let (words, weight) = (u64::from(a) + u64::from(b), weight.into_inner());
            let most = u128::from(weight + u64::from(record.value));
            if 2 * most * u128::from(q) >= u128::from(words) * u128::from(p) * u128::from(ONE) {
                let score =
                    (2 * u128::from(weight) + u128::from(words / 2)) / u128::from(words.max(1));
                let value = u32::try_from(score).unwrap_or(u32::MAX);
                pairs.push(record)?;
                scores.push(Record {
                    key: record.key,
                    value,
                })?;
            }
        }
    }
    Ok(Weighed {
        pairs: pairs.finish()?,
        scores: scores.finish()?,
    })
}

/// The index at which the pairs of each first document begin.
fn starts(held: &[Record<u64>], documents: usize) -> Vec<u32> {
    let mut starts = vec![0u32; documents + 1];
    for record in held {
        let (a, _) = Pair::of_key(record.key);
        // Candidates were verified, so their documents are in the collection.
        if let Some(after) = starts.get_mut(a as usize + 1) {
            *after += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    starts
}

/// Calls `each` with the index of every pair whose second document is in the list. Both slices are
/// in ascending order.
fn shared(pairs: &[Record<u64>], list: &[u32], mut each: impl FnMut(usize)) {
    let second = |record: &Record<u64>| Pair::of_key(record.key).1;
    if pairs.len() <= list.len() {
        for (place, pair) in pairs.iter().enumerate() {
            if list.binary_search(&second(pair)).is_ok() {
                each(place);
            }
        }
    } else {
        for document in list {
            if let Ok(place) = pairs.binary_search_by_key(document, second) {
                each(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::CollectionConfig;
    use crate::join::JoinConfig;
    use crate::pipeline::{self, JoinParameters};
    use crate::sample::Sampled;
    use crate::shingle::ShingleConfig;
    use lookalike_base::budget::{Budget, ByteSize, Disk};
    use lookalike_base::measure::Measure;
    use lookalike_base::progress::{Context, Silent, Stop};
    use lookalike_text::read::ReadConfig;

    /// More pairs than one load takes under a small budget: 190 documents that all share
    /// fingerprints.
    #[test]
    fn windows_of_pairs_make_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let (input, out) = (
            directory.path().join("in.jsonl"),
            directory.path().join("out"),
        );
        let mut lines = String::new();
        for n in 0..190 {
            let words = (0..30).map(|w| format!("w{}", n % 7 + w));
            let own = (0..n % 11 + 1).map(|w| format!("o{n}x{w}"));
            let words: Vec<String> = words.chain(own).collect();
            let text = words.join(" ");
            lines.push_str(&format!("{{\"id\":\"{n}\",\"text\":\"{text}\"}}\n"));
        }
        let file = lookalike_store::disk::AtomicFile::create(&input);
        let mut file = file.unwrap();
        file.put(lines.as_bytes()).unwrap();
        file.finish().unwrap();
        let config = CollectionConfig {
            read: ReadConfig::default(),
            shingle: ShingleConfig::default(),
            size_groups: Default::default(),
            segment_size: ByteSize::mib(64),
            text: false,
            condition: None,
        };
        let join = JoinConfig {
            join: Default::default(),
            threshold: "0.001".parse().unwrap(),
            measure: Measure::S3,
            max_postings: None,
            pairs: Default::default(),
            ..JoinConfig::default()
        };
        let question = JoinParameters::from(join);
        let (stop, budget) = (
            Stop::default(),
            Budget {
                memory: ByteSize::mib(512),
                threads: 2,
                disk: Disk::default(),
            },
        );
        let context = Context {
            budget,
            stop: &stop,
            progress: &Silent,
            scratch: None,
            programs: &[],
        };
        let inputs = pipeline::inputs(&[input], &out).unwrap();
        pipeline::run(&inputs, &out, &config, &question, true, &context).unwrap();
        let workspace = crate::pipeline::open(&out).unwrap();
        let candidates = workspace
            .manifest
            .get::<crate::join::PairsEntry>()
            .cloned()
            .unwrap()
            .part;
        assert!(candidates.records > LEAST_PAIRS);
        let sampled = Sampled::load_for(&workspace, Measure::S4).unwrap();
        let config = JoinConfig {
            threshold: "0.002".parse().unwrap(),
            measure: Measure::S4,
            ..join
        };
        let listed = crate::join::list::Listable::of(&workspace, config.pairs, &context).unwrap();
        let join = Joining::new(&config, (&sampled, &listed), None, &context);
        let made = |memory| {
            let weighed = run::<u64>(&workspace, &join, &candidates, memory);
            let weighed = weighed.unwrap();
            assert!(weighed.pairs.records > 1000 && weighed.pairs.records < candidates.records);
            [weighed.pairs, weighed.scores].map(|part| {
                let path = workspace.path(DIRECTORY).join(part.name);
                lookalike_store::disk::read_all(&path).unwrap()
            })
        };
        assert!(made(0) == made(1 << 30));
    }
}
