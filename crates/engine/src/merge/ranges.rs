//! The parts that a merge of runs and a merge in memory share: the ranges, their counters and their
//! commit.

use crate::sample::{Rate, Selection};
use crate::sort::{Record, RunsEntry};
use lookalike_base::{Context, Error, Key, Result, lock};
use lookalike_store::{Kind, Manifest, PartInfo, Places, StageRecord, Workspace};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::postings::{
    PackedBlock, PostingsBlock, PostingsDecoder, PostingsReader, PostingsWriter,
};

/// Approximate number of records in a range.
const RANGE_RECORDS: u64 = 4 << 20;
/// Approximate number of selected records in a range. There are fewer of them, and as many threads.
const SELECTED_RECORDS: u64 = 1 << 20;
/// The most ranges. Each range is a file.
const MOST_RANGES: u64 = 1024;
/// Level of zstd for the packed columns of postings. Near-duplicate documents share hundreds of
/// fingerprints, so the same list occurs many times (`docs/experiments.md`).
const ZSTD_LEVEL: i32 = 1;
/// Memory of a thread's writer and compressor.
pub(super) const WORKER_BYTES: u64 = 4 << 20;

/// From this number of documents on, a list is long.
pub(super) const LONG: usize = if cfg!(test) { 1000 } else { 256 << 10 };

/// Lets one thread at a time hold a long list. A list can name every document of the collection,
/// and without this the budget would have to count such a list for each thread.
pub type LongLists = Mutex<()>;

/// The most bytes of the lists that threads make at the same time. A list is collected, copied into
/// a block of postings and turned into gaps; a long one is collected once, and packed.
pub(super) fn list_bytes(documents: u64, threads: u64) -> u64 {
    let long = if documents < LONG as u64 {
        0
    } else {
        documents * 5
    };
    threads * documents.min(LONG as u64) * 12 + long
}

/// Counters of the merge. Records = entries + singles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeStats {
    /// Records merged.
    pub records: u64,
    /// Distinct fingerprints that occur in one document only. They are dropped, because they cannot
    /// contribute to a pair.
    pub singles: u64,
    /// Distinct fingerprints of two documents or more.
    pub lists: u64,
    /// Documents in these lists.
    pub entries: u64,
    /// The most documents of one fingerprint.
    pub longest: u64,
    /// Pairs of documents under one fingerprint, summed over all lists: the tokens of the `count`
    /// join.
    pub pair_tokens: u64,
    /// The most merges that a record went through, including this one.
    pub generations: u32,
    /// Runs that this merge had open.
    pub fan_in: u64,
    /// Bytes of postings.
    pub bytes: u64,
}

/// The counts of the postings that a directory has.
pub fn stats(manifest: &Manifest) -> MergeStats {
    let postings = manifest.get::<PostingsEntry>();
    postings.map_or_else(MergeStats::default, |postings| postings.stats)
}

impl MergeStats {
    fn add(&mut self, other: &MergeStats) {
        lookalike_base::add!(self, other => records, singles, lists, entries, pair_tokens, bytes);
        self.longest = self.longest.max(other.longest);
        self.generations = self.generations.max(other.generations);
        self.fan_in = self.fan_in.max(other.fan_in);
    }

    /// Counts the documents of a fingerprint, and returns whether there are two or more.
    #[inline]
    fn list(&mut self, documents: u64) -> bool {
        if documents < 2 {
            self.singles += documents;
            return false;
        }
        self.lists += 1;
        self.entries += documents;
        self.longest = self.longest.max(documents);
        self.pair_tokens += documents * (documents - 1) / 2;
        true
    }
}

/// The number of ranges for this number of records.
pub(super) fn ranges_of(records: u64) -> u32 {
    records.div_ceil(RANGE_RECORDS).clamp(1, MOST_RANGES) as u32
}

/// The ranges into which records are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    pub(super) ranges: u32,
    selection: Option<Selection>,
}

impl Cuts {
    pub(super) fn of(records: u64, selection: Option<Selection>) -> Cuts {
        let ranges = match selection {
            None => ranges_of(records),
            Some(selection) => {
                let most = selection.bytes().min(MOST_RANGES);
                records.div_ceil(SELECTED_RECORDS).clamp(1, most) as u32
            }
        };
        Cuts { ranges, selection }
    }

    pub(super) fn bounds<K: Key>(self, range: u32) -> (K, K) {
        match self.selection {
            None => bounds(self.ranges, range),
            Some(selection) => selection.bounds(self.ranges, range),
        }
    }
}

/// The least and the greatest fingerprint of a range.
pub(super) fn bounds<K: Key>(ranges: u32, range: u32) -> (K, K) {
    Rate::new(ranges, range).unwrap_or(Rate::FULL).bounds::<K>()
}

/// Writes the postings of a range, and counts them.
pub(super) struct RangeWriter<'a, K> {
    pub(super) range: u32,
    pub(super) long: &'a LongLists,
    writer: PostingsWriter<K>,
    stats: MergeStats,
}

/// The postings of a range, which are complete but not committed.
pub(super) struct MergedRange {
    range: u32,
    part: PartInfo,
    stats: MergeStats,
}

impl<'a, K: Key> RangeWriter<'a, K> {
    pub(super) fn create(
        out: &Path,
        parameters: u128,
        range: u32,
        long: &'a LongLists,
    ) -> Result<Self> {
        Ok(RangeWriter {
            range,
            long,
            writer: PostingsWriter::create(out, parameters, range.into(), Some(ZSTD_LEVEL))?,
            stats: MergeStats::default(),
        })
    }

    /// Counts a list, and returns whether it is shared.
    #[inline]
    fn count(&mut self, documents: usize) -> bool {
        self.stats.records += documents as u64;
        self.stats.list(documents as u64)
    }

    /// Takes all documents of a fingerprint. The caller is the one thread that holds a long list,
    /// if the list is long; its memory is freed here then.
    pub(super) fn push_list(&mut self, key: K, list: &mut Vec<u32>) -> Result<()> {
        if !self.count(list.len()) {
            return Ok(());
        }
        if list.len() < LONG {
            self.writer.push(key, list.iter().copied())
        } else {
            self.writer.push_alone(key, std::mem::take(list))
        }
    }

    /// Takes all records of some fingerprints, sorted.
    pub(super) fn push_records(&mut self, records: &[Record<K>]) -> Result<()> {
        for list in records.chunk_by(|a, b| a.key == b.key) {
            if !self.count(list.len()) {
                continue;
            }
            let (key, documents) = (list[0].key, list.iter().map(|record| record.value));
            if list.len() < LONG {
                self.writer.push(key, documents)?;
            } else {
                let _alone = lock(self.long);
                self.writer.push_alone(key, documents.collect())?;
            }
        }
        Ok(())
    }

    /// The number of records taken so far.
    pub(super) fn records(&self) -> u64 {
        self.stats.records
    }

    pub(super) fn finish(mut self) -> Result<MergedRange> {
        let part = self.writer.finish()?;
        self.stats.bytes = part.bytes;
        Ok(MergedRange {
            range: self.range,
            part,
            stats: self.stats,
        })
    }
}

/// Commits the postings of a range.
pub(super) fn commit_range(workspace: &mut Workspace, merged: MergedRange) -> Result<()> {
    if let Some(postings) = workspace.manifest.get_mut::<PostingsEntry>() {
        postings.stats.add(&merged.stats);
        postings.parts.insert(merged.range, merged.part);
    }
    workspace.commit_part(&["postings"], merged.stats.bytes)
}

/// Completes the merge after all ranges: checks that they hold all records.
pub(super) fn finish(workspace: &mut Workspace, records: u64, context: &Context<'_>) -> Result<()> {
    let path = workspace.path("postings");
    if let Some(postings) = workspace.manifest.get_mut::<PostingsEntry>() {
        if postings.stats.records != records {
            return Err(
                Error::corrupt(path, "records merged").expected(records, postings.stats.records)
            );
        }
        postings.complete = true;
    }
    // Keep the counters of the runs; the postings replace their files.
    if let Some(entry) = workspace.manifest.get_mut::<RunsEntry>() {
        entry.runs.clear();
    }
    workspace.commit(&["postings"])?;
    workspace.remove_scrap(context.budget.threads)
}

/// The shared postings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PostingsEntry {
    /// Number of fingerprint ranges.
    pub ranges: u32,
    /// The part of each range that is done.
    pub parts: BTreeMap<u32, PartInfo>,
    /// Counters of the merge.
    pub stats: MergeStats,
    /// Whether all ranges are done.
    pub complete: bool,
    /// Whether the postings were made from the sets, without runs.
    pub direct: bool,
    /// Which of the sampled fingerprints they have; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
}

impl PostingsEntry {
    pub(super) fn begin(cuts: Cuts, stats: MergeStats, direct: bool) -> PostingsEntry {
        PostingsEntry {
            ranges: cuts.ranges,
            selection: cuts.selection,
            parts: BTreeMap::new(),
            stats,
            complete: false,
            direct,
        }
    }

    /// Those of the ranges that have no committed part.
    pub(super) fn ranges_left(&self, ranges: u32) -> Vec<u32> {
        let left = (0..ranges).filter(|range| !self.parts.contains_key(range));
        left.collect()
    }

    /// Opens the postings of a range.
    pub(crate) fn open<K: Key>(
        &self,
        workspace: &Workspace,
        range: u32,
        documents: usize,
    ) -> Result<PostingsReader<K>> {
        let missing = || Error::no_stage(workspace.path("postings"), "merge");
        let info = self.parts.get(&range).ok_or_else(missing)?;
        PostingsReader::of_range(workspace.places(), info, documents as u64)
    }
}

/// The blocks of all postings, in order.
pub struct AllPostings<K> {
    places: Places,
    parts: std::vec::IntoIter<PartInfo>,
    documents: u64,
    reader: Option<PostingsReader<K>>,
}

impl<K: Key> AllPostings<K> {
    pub fn of(workspace: &Workspace, documents: u64) -> Self {
        let postings = workspace.manifest.get::<PostingsEntry>().into_iter();
        let parts = postings.flat_map(|postings| postings.parts.values().cloned());
        AllPostings {
            places: workspace.places().clone(),
            parts: parts.collect::<Vec<_>>().into_iter(),
            documents,
            reader: None,
        }
    }

    /// Takes the next block; `false` at the end.
    pub(crate) fn take(&mut self, packed: &mut PackedBlock) -> Result<bool> {
        loop {
            if let Some(reader) = &mut self.reader {
                if reader.take_packed(packed)? {
                    return Ok(true);
                }
                if let Some(reader) = self.reader.take() {
                    reader.finish()?;
                }
            }
            let Some(info) = self.parts.next() else {
                return Ok(false);
            };
            let reader = PostingsReader::of_range(&self.places, &info, self.documents)?;
            self.reader = Some(reader);
        }
    }

    /// Calls `each` with all blocks.
    pub fn each(mut self, mut each: impl FnMut(&PostingsBlock<K>) -> Result<()>) -> Result<()> {
        let (mut packed, mut decoder) = (PackedBlock::default(), PostingsDecoder::default());
        while self.take(&mut packed)? {
            each(decoder.decode(&packed)?)?;
        }
        Ok(())
    }
}

impl StageRecord for PostingsEntry {
    const NAME: &'static str = "postings";
    const DIRECTORY: Option<&'static str> = Some("postings");
    // The runs are removed when the postings are complete. If the postings are lost, both are made
    // again.
    const TAKES_ALONG: &'static [&'static str] = &["runs", "joining"];

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let parts = self.parts.values();
        parts.map(|part| (Kind::Postings, part)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Long and short lists from two threads, by record and as lists, are read back as they were.
    #[test]
    fn long_lists_are_written_like_others() {
        let directory = tempfile::tempdir().unwrap();
        let long = LongLists::default();
        let list = |key: u64| -> Vec<u32> {
            let length = [1, 2, 999, 1000, 20_000, 3, 1001, 2][key as usize % 8];
            (0..length)
                .map(|n| n * (key as u32 % 3 + 1) + key as u32)
                .collect()
        };
        let keys: Vec<u64> = (0..40).collect();
        thread::scope(|scope| {
            for range in 0..2 {
                let (keys, long, list, place) = (&keys, &long, &list, directory.path());
                scope.spawn(move || {
                    let mut writer = RangeWriter::<u64>::create(place, 5, range, long).unwrap();
                    for &key in keys {
                        let mut list = list(key);
                        if key % 2 == u64::from(range) {
                            writer.push_list(key, &mut list).unwrap();
                        } else {
                            let records: Vec<_> =
                                list.iter().map(|&value| Record { key, value }).collect();
                            writer.push_records(&records).unwrap();
                        }
                    }
                    let merged = writer.finish().unwrap();
                    let path = place.join(&merged.part.name);
                    let mut reader = PostingsReader::<u64>::open(&path, Some(5), None).unwrap();
                    let mut found = Vec::new();
                    while let Some(block) = reader.next_below(1 << 20).unwrap() {
                        for (&key, list) in block.keys.iter().zip(block.lists()) {
                            found.push((key, list.to_vec()));
                        }
                    }
                    let shared = keys.iter().map(|&key| (key, list(key)));
                    let expected: Vec<_> = shared.filter(|(_, list)| list.len() > 1).collect();
                    assert_eq!(found, expected);
                    assert_eq!(merged.stats.longest, 20_000);
                });
            }
        });
    }
}
