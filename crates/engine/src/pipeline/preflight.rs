//! Estimates, before a run begins, whether the disk has room for everything that the run will
//! write.
//!
//! # Source
//! None: the sizes follow from our own formats (FORMAT.md).
//!
//! # In and out
//! In: the list of inputs before they are read ([`before_ingest`]), or a collection and its sample
//! (`before_sort`). Out: nothing if there is room; a progress note if space may be short; or
//! [`Error::DiskSpace`] with the space needed and the space available.
//!
//! # Algorithm
//! 1. The content of the inputs is unknown before they are read. So the check samples them: it
//!    reads, parses and shingles the beginnings of some inputs, spread evenly over the bytes of
//!    all. This gives the number of documents and fingerprints per byte on disk.
//! 2. The numbers of documents, fingerprints and records give the size of every file, by the
//!    arithmetic of its encoding. The check assumes the worst case: no fingerprint occurs twice in
//!    a run, and every record stands in a posting list of two. The sizes give the moment at which
//!    the run needs most space. As a rule this is the end of the merge, when the postings are
//!    complete and the runs still exist.
//! 3. Committed parts are on the disk already and need no more space. Before the sort the numbers
//!    of documents and records are known, so the check is repeated then, without reading any input.
//!
//! # Invariants
//! - The check writes nothing, and it refuses a run before the run writes anything.
//! - The check does not read inputs that are small compared with the disk.
//! - The check refuses a run only if the space is far too small: see `DOUBT_BEFORE_INGEST` and
//!   `DOUBT_BEFORE_SORT`.
//!
//! # Cost
//! Decompressing, parsing and shingling about `SAMPLE_BYTES`. Measured on linuxdocs-small: 0.2 s of
//! CPU time from gzip and zstd, 0.35 from xz, 1.7 from bzip2. Memory of each thread: one record of
//! at most `LARGEST_RECORD` and its fingerprints.
//!
//! # What is not guaranteed
//! The estimate leaves out:
//! - counted pairs, the pair list and the result files of pairs: their size is unknown, and they
//!   are written after the runs are removed;
//! - `rejects.jsonl`;
//! - files that other processes write during the run;
//! - quotas, which the file system does not report.
//!
//! Before reading, the estimate counts every exact duplicate as if it were stored.

use crate::collection::{
    self, Catalogue, CatalogueEntry, CollectionConfig, Extent, TEXT_BLOCK_BYTES, TEXT_ZSTD_LEVEL,
};
use crate::merge;
use crate::merge::PostingsEntry;
use crate::sample::{SampleEntry, Sampling};
use crate::shingle::Shingler;
use crate::sort;
use crate::sort::RunsEntry;
use lookalike_base::budget::{Budget, ByteSize, Disk};
use lookalike_base::ids::{FingerprintKind, Key};
use lookalike_base::measure::Measure;
use lookalike_base::numbers::counted;
use lookalike_base::progress::Context;
use lookalike_base::workers::{Tasks, work_and_commit};
use lookalike_base::{Error, Result};
use lookalike_store::disk;
use lookalike_store::workspace::Workspace;
use lookalike_text::read::{
    Batch, InputFile, Interpreted, Reason, RecordKind, RecordReader, Reject, interpret,
};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use super::{JoinParameters, Spill};

const STAGE: &str = "preflight";

/// Inputs of fewer bytes are not sampled if the disk has [`PLENTY`] times their size available.
const SMALL_INPUTS: u64 = 256 << 20;
/// The most bytes that one byte of input needs in a run, hostile inputs excepted: 36 bytes for each
/// shingle with MD5, one shingle for every 6 bytes of text, and text that xz compresses to a tenth.
const PLENTY: u64 = 64;

/// Approximate number of decompressed bytes that are sampled from all inputs together.
const SAMPLE_BYTES: u64 = 24 << 20;
/// Bounds for the number of places in the list of inputs at which the check samples. Within them,
/// the number is [`SAMPLE_BYTES`] divided by the average size of a file.
const PLACES: (u64, u64) = (12, 256);
/// Memory for which one more thread may sample: a record with its fingerprints, and the largest
/// decoder.
const SAMPLER_BYTES: ByteSize = ByteSize::mib(160);
/// The sample leaves out larger records, so that its memory is far below the least that ingest
/// needs.
const LARGEST_RECORD: ByteSize = ByteSize::mib(4);
/// The sample of an input ends if it decompresses to more than this times its size, so that hostile
/// inputs cost no time.
const MOST_RATIO: u64 = 64;

/// Bytes of a document in a documents part, without its names: its MD5, the digest of its text and
/// seven numbers. zstd compresses the names to half or less. With names and without the digest, 63
/// to 70 bytes per document were measured on linuxdocs.
const DOCUMENT_BYTES: u64 = 52;
/// Bytes of a document in the catalogue, without its docno: end of the docno, representative,
/// stored size.
const CATALOGUE_BYTES: u64 = 16;
/// Bytes of a document in a sort that needs no checkpoint ([`lookalike_store::Sort`]).
const SCRATCH_BYTES: u64 = 24;
/// Bytes of a document in the file of sample sizes.
const SAMPLED_BYTES: u64 = 4;
/// Bytes of a document in the result files, without its names, which occur up to twice. With names,
/// 218 bytes per document were measured on linuxdocs-medium and 212 on linuxdocs-small.
const RESULT_BYTES: u64 = 100;
/// Bytes of an input file in `inputs.jsonl`, without its path and docno.
const INPUT_BYTES: u64 = 130;
/// Bytes of the manifest, of headers, and of the unused ends of file system blocks. They take 2 MiB
/// on linuxdocs-medium.
const FIXED_BYTES: u64 = 4 << 20;

/// Bits by which a frame of 128 differences of random keys is wider than their mean. The largest of
/// 128 differences is 5.4 times the mean, and the width is rounded up to whole bits.
const FRAME_BITS: f64 = 3.0;
/// Bits per record of a run, or per posting list, for the widths of the frames: one byte for each
/// frame of 128 values.
const WIDTH_BITS: f64 = 0.25;
/// Bytes per record for the head of its block and the block's entry in the index. A block has 4,096
/// or 16,384 records.
const BLOCK_SHARE: f64 = 48.0 / 4096.0;

/// Before reading, the check refuses a run if this fraction of the estimate exceeds the space
/// available. Half of a crawl may be exact duplicates, which are stored once. linuxdocs-medium, of
/// whose documents a fourth are exact duplicates, takes 0.66 of its estimate.
const DOUBT_BEFORE_INGEST: f64 = 0.5;
/// The same fraction before the sort. The size of the runs is then known, but the postings may take
/// almost nothing. They are at most two fifths of the space needed.
const DOUBT_BEFORE_SORT: f64 = 0.6;

/// Refuses to read inputs into a collection if the disk has too little space. With `parameters` the
/// estimate includes the join.
pub fn before_ingest(
    inputs: &[InputFile],
    out: &Path,
    config: &CollectionConfig,
    parameters: Option<&JoinParameters>,
    context: &Context<'_>,
) -> Result<()> {
    config.check()?;
    match config.shingle.fingerprint {
        FingerprintKind::Xxh3 => of_inputs::<u64>(inputs, out, config, parameters, context),
        FingerprintKind::Md5 => of_inputs::<u128>(inputs, out, config, parameters, context),
    }
}

fn of_inputs<K: Key>(
    inputs: &[InputFile],
    out: &Path,
    config: &CollectionConfig,
    parameters: Option<&JoinParameters>,
    context: &Context<'_>,
) -> Result<()> {
    let Some(available) = available(out, &context.budget) else {
        return Ok(());
    };
    let total: u64 = inputs.iter().map(InputFile::size).sum();
    // The size of standard input is unknown.
    let unknown = inputs.iter().any(|input| input.path == Path::new("-"));
    let small = total < SMALL_INPUTS && total.saturating_mul(PLENTY) < available.0;
    if unknown || small || total == 0 {
        return Ok(());
    }
    // If the manifest cannot be read, the caller reports that when it opens the directory.
    let manifest = match super::look(out) {
        Ok(manifest) => Some(manifest),
        Err(Error::NotOutput { .. }) => None,
        Err(_) => return Ok(()),
    };
    if manifest.as_ref().is_some_and(collection::ingested) {
        return Ok(());
    }
    let segments = manifest.iter().flat_map(collection::segments);
    let there: u64 = segments
        .map(|s| s.documents.bytes + s.fingerprints.bytes)
        .sum();
    let sampling = parameters.map(|parameters| parameters.sampling.clone());
    let Some(density) = density::<K>(inputs, total, config, sampling, context)? else {
        return Ok(());
    };
    let whole = |each: f64| (each * total as f64) as u64;
    let (documents, records) = (whole(density.documents), whole(density.records));
    let needs = parameters.and_then(JoinParameters::needs);
    let volume = Volume {
        documents,
        names: whole(density.names),
        text: whole(density.text),
        stored: whole(density.fingerprints),
        records: needs.map_or(records, |needs| needs.records(records, documents)),
        key_bytes: K::BYTES as u64,
    };
    let list: u64 = inputs
        .iter()
        .map(|i| (i.path.as_os_str().len() + i.docno.len()) as u64 + INPUT_BYTES)
        .sum();
    let after = match parameters {
        Some(parameters) => {
            let mut merging = volume.merging::<K>(&context.budget, 1, parameters.fan_in);
            if parameters.spill == Spill::Auto
                && merge::direct::fits::<K>(&context.budget, volume.records, volume.extent(), 1)
            {
                (merging.runs, merging.extra) = (0, 0);
            }
            volume.sample().saturating_add(volume.asking(merging))
        }
        None => 0,
    };
    let mut sorted = volume.documents * SCRATCH_BYTES;
    if let Some(scratch) = context.scratch
        && let Some(available) = self::available(scratch, &context.budget)
    {
        let what = || "sorting documents".into();
        decide(
            scratch,
            sorted,
            available,
            DOUBT_BEFORE_INGEST,
            what,
            context,
        )?;
        sorted = 0;
    }
    let needed = [
        FIXED_BYTES,
        list,
        volume.collection(),
        volume.catalogue(),
        after.max(sorted),
    ];
    let needed = needed.into_iter().fold(0, u64::saturating_add);
    let files = counted(inputs.len() as u64, "file");
    let verb = parameters.map_or("reading", |_| "reading and joining");
    decide(
        out,
        needed.saturating_sub(there),
        available,
        DOUBT_BEFORE_INGEST,
        || format!("{verb} {files} of {}", ByteSize(total)),
        context,
    )
}

/// Refuses to sort and merge `records` records of a sample if the disk has too little space.
/// `limit` bounds the fan-in as it does in the merge. With `direct` there are no runs.
pub(crate) fn before_sort<K: Key>(
    workspace: &Workspace,
    (records, direct): (u64, bool),
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    let out = workspace.directory();
    let Some(available) = available(out, &context.budget) else {
        return Ok(());
    };
    let manifest = &workspace.manifest;
    let (Some(sample), Some(catalogue)) = (
        manifest.get::<SampleEntry>(),
        manifest.get::<CatalogueEntry>(),
    ) else {
        return Ok(());
    };
    let segments = collection::segments(manifest).iter();
    let names: u64 = catalogue.levels().map(|level| level.names.bytes).sum();
    let volume = Volume {
        documents: Catalogue::stats(workspace)?.documents,
        // The texts are on the disk already.
        text: 0,
        names: names + segments.map(|s| s.documents.bytes).sum::<u64>(),
        stored: catalogue.stats.shingles,
        records,
        key_bytes: K::BYTES as u64,
    };
    let mut asking = volume.merging::<K>(&context.budget, sample.sizes.len(), limit);
    if direct {
        (asking.runs, asking.extra) = (0, 0);
    } else if let Some(runs) = manifest.get::<RunsEntry>() {
        let left = volume.records.saturating_sub(runs.stats.records);
        asking.runs = part(asking.runs, left, volume.records);
        if runs.complete {
            let bytes = runs.runs.iter().map(|run| run.part.bytes);
            asking.extra = asking.extra.min(bytes.sum());
        }
    }
    if let Some(postings) = manifest.get::<PostingsEntry>() {
        // The generations are complete before the first range is merged.
        asking.extra = 0;
        let ranges = u64::from(postings.ranges);
        let left = ranges.saturating_sub(postings.parts.len() as u64);
        asking.postings = part(asking.postings, left, ranges);
    }
    let needed = volume.asking(asking).saturating_add(FIXED_BYTES);
    decide(
        out,
        needed,
        available,
        DOUBT_BEFORE_SORT,
        || format!("sorting and merging {}", counted(records, "record")),
        context,
    )
}

/// `of / all` of `bytes`.
fn part(bytes: u64, of: u64, all: u64) -> u64 {
    (u128::from(bytes) * u128::from(of) / u128::from(all.max(1))) as u64
}

/// Returns an error if the space is far too small, and writes a note if it may be too small.
fn decide(
    out: &Path,
    needed: u64,
    available: ByteSize,
    doubt: f64,
    what: impl FnOnce() -> String,
    context: &Context<'_>,
) -> Result<()> {
    let rounded = ByteSize(needed).round_up();
    if needed as f64 * doubt > available.0 as f64 {
        return Err(Error::DiskSpace {
            path: out.into(),
            needed: rounded,
            available,
            what: what(),
        });
    }
    if needed > available.0 {
        context.progress.note(&format!(
            "{} has {available} of disk space left; {} may need {rounded}",
            out.display(),
            what()
        ));
    }
    Ok(())
}

/// The bytes that may be written; `None` if the check is switched off or the space is unknown.
fn available(out: &Path, budget: &Budget) -> Option<ByteSize> {
    match budget.disk {
        Disk::Unchecked => None,
        Disk::Bytes(bytes) => Some(bytes),
        Disk::Available => free(out),
    }
}

/// The space that the file system has left for this user, at the directory or at the place where it
/// will be made.
fn free(out: &Path) -> Option<ByteSize> {
    let out = std::path::absolute(out).ok()?;
    let mut places = out.ancestors();
    let place = places.find(|place| disk::exists(place).unwrap_or(false))?;
    disk::space(place).map(|space| space.left)
}

/// The amounts of data that a run processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Volume {
    documents: u64,
    /// Bytes of the documents' docnos, addresses and titles.
    names: u64,
    /// Bytes of the documents' texts after compression with zstd, if the collection keeps them.
    text: u64,
    /// Fingerprints in the collection.
    stored: u64,
    /// Records that are sorted.
    records: u64,
    /// Bytes of a fingerprint.
    key_bytes: u64,
}

/// Bytes that the sort and the merge write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Merging {
    runs: u64,
    /// Bytes that a merge of runs into fewer runs takes in addition to the runs themselves.
    extra: u64,
    postings: u64,
}

impl Volume {
    /// Documents, and fingerprints, which are stored uncompressed with 8 bytes each (16 with MD5).
    fn collection(&self) -> u64 {
        self.stored * self.key_bytes + self.documents * DOCUMENT_BYTES + self.names + self.text
    }

    fn extent(&self) -> Extent {
        Extent {
            documents: self.documents,
            fingerprints: self.stored,
        }
    }

    fn catalogue(&self) -> u64 {
        self.documents * CATALOGUE_BYTES + self.names
    }

    fn sample(&self) -> u64 {
        self.documents * SAMPLED_BYTES
    }

    /// The most bytes needed from the sort to the end: either the runs together with the larger of
    /// the files that replace them, or the results together with the postings.
    fn asking(&self, merging: Merging) -> u64 {
        let Merging {
            runs,
            extra,
            postings,
        } = merging;
        let results = self.documents * RESULT_BYTES + self.names * 2;
        (runs + extra.max(postings)).max(postings + results)
    }

    /// The bytes that the sort and the merge write under this budget. If the budget is too small
    /// for them, they refuse it themselves.
    fn merging<K: Key>(&self, budget: &Budget, levels: usize, limit: Option<usize>) -> Merging {
        let (documents, records) = (self.documents, self.records);
        let sampled = (levels, Measure::default());
        let fixed = sort::fixed_bytes(self.extent(), sampled, budget.threads as u64);
        let run = sort::run_records::<K>(budget, fixed, records);
        let run = run.unwrap_or(1) as u64;
        let runs = self.runs(run);
        let fan_in = merge::runs_at_once::<K>(budget, documents, limit).unwrap_or(usize::MAX);
        // The last run of each worker is not full.
        let count = records.div_ceil(run) + budget.threads as u64;
        Merging {
            runs,
            extra: merged_at_once(runs, count, fan_in),
            postings: self.postings(),
        }
    }

    /// Bits of a document's number. A frame is as wide as its largest value.
    fn document_bits(&self) -> f64 {
        f64::from(u64::BITS - self.documents.leading_zeros())
    }

    /// Bits of the difference of two neighbours among this number of random keys.
    fn key_bits(&self, keys: u64) -> f64 {
        let all = (self.key_bytes * 8) as f64;
        (all - (keys.max(1) as f64).log2() + FRAME_BITS).max(1.0)
    }

    /// Bytes of runs of `run` records each, if all fingerprints in a run are distinct. This
    /// estimates 7.4 bytes per record for linuxdocs-small and 7.8 for linuxdocs-medium, which take
    /// 5.8 and 7.2.
    fn runs(&self, run: u64) -> u64 {
        let bits = self.key_bits(run.min(self.records)) + self.document_bits() + WIDTH_BITS;
        (self.records as f64 * (bits / 8.0 + BLOCK_SHARE)) as u64
    }

    /// Bytes of postings in which every record stands in a list of two, without compression. This
    /// is the worst case: the documents of a longer list share one key, and fingerprints that occur
    /// in one document only are left out. It estimates 4.6 bytes per record for linuxdocs-small and
    /// 4.9 for linuxdocs-medium, which take 2.9 and 3.2.
    fn postings(&self) -> u64 {
        const LENGTH_BITS: f64 = 2.0;
        let lists = self.records / 2;
        let bits = self.key_bits(lists) + LENGTH_BITS + 2.0 * self.document_bits() + WIDTH_BITS;
        (lists as f64 * (bits / 8.0 + 2.0 * BLOCK_SHARE)) as u64
    }
}

/// The most bytes of runs that one merge of a generation reads before it removes them, if
/// [`merge::merge_generations`] merges `count` runs of equal size.
fn merged_at_once(bytes: u64, count: u64, fan_in: usize) -> u64 {
    /// With more runs, the last merge of the many generations may take nearly all bytes.
    const MANY: u64 = 1 << 16;
    if count <= fan_in as u64 {
        return 0;
    }
    if count > MANY {
        return bytes;
    }
    let mut runs: VecDeque<u64> = (0..count).map(|_| bytes.div_ceil(count)).collect();
    let mut most = 0;
    while runs.len() > fan_in {
        let take = fan_in.min(runs.len() - fan_in + 1);
        let merged = runs.drain(..take).sum();
        most = most.max(merged);
        runs.push_back(merged);
    }
    most.min(bytes)
}

/// Documents, bytes, fingerprints and records per byte of input on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Density {
    documents: f64,
    names: f64,
    text: f64,
    fingerprints: f64,
    records: f64,
}

/// Samples the inputs; `None` if no sampled input allows an estimate.
fn density<K: Key>(
    inputs: &[InputFile],
    total: u64,
    config: &CollectionConfig,
    sampling: Option<Sampling>,
    context: &Context<'_>,
) -> Result<Option<Density>> {
    let places = places(inputs, total);
    let limit = SAMPLE_BYTES / places.len().max(1) as u64;
    let threads = (context.budget.memory.0 / SAMPLER_BYTES.0).max(1) as usize;
    let threads = threads.min(context.budget.threads).min(places.len());
    let mut found: Vec<_> = places.values().map(|&weight| (None, weight)).collect();
    let work = |tasks: &Tasks<'_, _, _>| {
        let mut sampler = Sampler::<K>::new(config, sampling.clone(), limit);
        while let Some((place, file)) = tasks.next() {
            context.stop.check(STAGE)?;
            tasks.finished((place, sampler.look(&inputs[file])));
        }
        Ok(())
    };
    let tasks = places.keys().copied().enumerate();
    work_and_commit(STAGE, threads, tasks, work, |(place, density)| {
        found[place].0 = density;
        Ok(())
    })?;
    let (mut sum, mut weights) = (Density::default(), 0.0);
    for (density, weight) in found {
        // Files are chosen in proportion to their size, so the mean of their densities is the
        // density of all bytes.
        if let Some(density) = density {
            let weight = f64::from(weight);
            weights += weight;
            sum.documents += weight * density.documents;
            sum.names += weight * density.names;
            sum.text += weight * density.text;
            sum.fingerprints += weight * density.fingerprints;
            sum.records += weight * density.records;
        }
    }
    Ok((weights > 0.0).then(|| Density {
        documents: sum.documents / weights,
        names: sum.names / weights,
        text: sum.text / weights,
        fingerprints: sum.fingerprints / weights,
        records: sum.records / weights,
    }))
}

/// Chooses the inputs to sample. The places are spread evenly over the bytes of all inputs; the
/// result has each input that contains a place, with the number of its places.
fn places(inputs: &[InputFile], total: u64) -> BTreeMap<usize, u32> {
    let average = (total / inputs.len().max(1) as u64).max(1);
    let count = (SAMPLE_BYTES / average).clamp(PLACES.0, PLACES.1);
    let mut found = BTreeMap::new();
    let (mut end, mut next) = (0u64, 0);
    for (file, input) in inputs.iter().enumerate() {
        end += input.size();
        // The middle of stretch `next` of `count` equal stretches.
        let middle =
            |next: u64| (u128::from(total) * u128::from(2 * next + 1)) / (2 * u128::from(count));
        while next < count && middle(next) < u128::from(end) {
            *found.entry(file).or_default() += 1;
            next += 1;
        }
    }
    found
}

/// Reads, parses and shingles the beginnings of inputs.
struct Sampler<'a, K: Key> {
    config: &'a CollectionConfig,
    read: lookalike_text::read::ReadConfig,
    sampling: Sampling,
    limit: u64,
    shingler: Shingler<K>,
    set: Vec<K>,
    /// Texts whose compressed size is not yet counted.
    text: Vec<u8>,
    batch: Batch,
}

impl<'a, K: Key> Sampler<'a, K> {
    fn new(config: &'a CollectionConfig, sampling: Option<Sampling>, limit: u64) -> Self {
        let mut read = config.read.clone();
        read.max_document = read.max_document.min(LARGEST_RECORD);
        read.max_ratio = read.max_ratio.min(MOST_RATIO);
        // The estimate is not worth starting programs: what they convert counts as rejected.
        read.convert.clear();
        Sampler {
            config,
            read,
            sampling: sampling.unwrap_or_default(),
            limit,
            shingler: Shingler::new(&config.shingle),
            set: Vec::new(),
            text: Vec::new(),
            batch: Batch::default(),
        }
    }

    /// The density of the first bytes of an input; `None` if they do not allow an estimate.
    fn look(&mut self, input: &InputFile) -> Option<Density> {
        let size = input.identity.as_ref()?.size;
        let mut reader = RecordReader::beginning(input, self.limit, &self.read).ok()?;
        let (mut found, mut counted, mut unknown) = (Density::default(), 0, 0);
        let mut first_reject = None;
        while counted < self.limit {
            self.batch.clear();
            if !reader.next_into(&mut self.batch) {
                break;
            }
            let Some(record) = self.batch.records.first() else {
                break;
            };
            let end = match &record.kind {
                // Rows have no place in bytes; what is read of them is counted.
                RecordKind::Row(_) => reader.decompressed().max(1),
                _ => record.source.offset.saturating_add(record.source.length),
            };
            match &record.kind {
                RecordKind::Rejected(reject) => {
                    // Ingest accepts records that are too large for the sample only.
                    if reject.reason == Reason::TooLarge
                        && record.source.length <= self.config.read.max_document.0
                    {
                        unknown += record.source.length;
                    }
                    first_reject.get_or_insert_with(|| reject.clone());
                }
                _ => {
                    // A reject counts as read only if a record follows it: the last reject may be a
                    // record that the end of the sample cut off.
                    counted = end;
                    self.shingle(&mut found);
                }
            }
        }
        pack(&mut self.text, &mut found);
        let read = match counted.saturating_sub(unknown) {
            0 => return first_reject.filter(useless).map(|_| Density::default()),
            counted => counted as f64,
        };
        // Decompressed bytes per byte on disk, as far as the decompressor has read.
        let ratio = reader.decompressed() as f64 / reader.position().clamp(1, size.max(1)) as f64;
        let bytes = read / ratio;
        Some(Density {
            documents: found.documents / bytes,
            names: found.names / bytes,
            text: found.text / bytes,
            fingerprints: found.fingerprints / bytes,
            records: found.records / bytes,
        })
    }

    /// Shingles the record of the batch and adds it to `found`.
    fn shingle(&mut self, found: &mut Density) {
        let Some(record) = self.batch.records.first() else {
            return;
        };
        let bytes = &self.batch.bytes[record.bytes.clone()];
        let Interpreted::Document(document) = interpret(record, bytes, &self.read) else {
            return;
        };
        let range = (K::default(), K::MAX);
        let facts = self.shingler.shingle(&document, range, &mut self.set);
        if self.config.text {
            let text = &mut self.text;
            self.shingler
                .text_in_pieces(&document, &mut |piece| text.extend_from_slice(piece));
            if text.len() >= TEXT_BLOCK_BYTES {
                pack(&mut self.text, found);
            }
        }
        let groups = &self.config.size_groups;
        let levels = self.sampling.levels(groups.count());
        let level = usize::from(levels.level_of_group[usize::from(groups.group(facts.words))]);
        let sampled = self.set.len() as f64 / f64::from(levels.rates[level].n());
        let most = self
            .sampling
            .most_per_document()
            .map_or(f64::MAX, f64::from);
        let url = document.url.as_ref().map_or(0, |url| url.len());
        let title = facts.title.as_ref().map_or(0, String::len);
        found.documents += 1.0;
        found.names += (document.docno.len() + url + title) as f64;
        found.fingerprints += self.set.len() as f64;
        found.records += sampled.min(most);
    }
}

/// Adds the compressed size of the texts to `found`, and clears them.
fn pack(texts: &mut Vec<u8>, found: &mut Density) {
    for block in texts.chunks(TEXT_BLOCK_BYTES) {
        let packed = zstd::bulk::compress(block, TEXT_ZSTD_LEVEL);
        found.text += packed.map_or(block.len(), |packed| packed.len()) as f64;
    }
    texts.clear();
}

/// Does this reject at the beginning of a file show that ingest will find no document in it?
fn useless(reject: &Reject) -> bool {
    matches!(
        reject.reason,
        Reason::EmptyFile
            | Reason::BinaryFile
            | Reason::UnsupportedFormat
            | Reason::WrongFormat
            | Reason::Unreadable
            | Reason::NotAFile
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Volume = Volume {
        documents: 5_496,
        names: 700_000,
        text: 0,
        stored: 11_032_060,
        records: 11_028_151,
        key_bytes: 8,
    };
    const MEDIUM: Volume = Volume {
        documents: 86_274,
        names: 11_000_000,
        text: 0,
        stored: 61_742_634,
        records: 61_478_023,
        key_bytes: 8,
    };

    /// Every estimate is at least the size measured on two collections, and not much larger.
    #[test]
    fn sizes_are_at_least_what_was_measured() {
        let md5 = Volume {
            key_bytes: 16,
            ..SMALL
        };
        // Bytes of the collection, records per run, bytes of the runs, bytes of the postings.
        for (volume, collection, run, runs, postings) in [
            (SMALL, 88_602_079, 3 << 20, 63_817_534, 32_068_284),
            (md5, 176_858_559, 3 << 20, 126_644_372, 53_799_080),
            (MEDIUM, 499_987_958, 4 << 20, 442_066_068, 197_505_422),
        ] {
            for (found, measured, most) in [
                (volume.collection(), collection, 1.05),
                (volume.runs(run), runs, 1.4),
                (volume.postings(), postings, 2.0),
            ] {
                let ratio = found as f64 / measured as f64;
                assert!(ratio >= 1.0 && ratio < most, "{ratio}: {volume:?}");
            }
        }
    }

    #[test]
    fn nothing_is_needed_of_nothing() {
        let nothing = Volume {
            documents: 0,
            names: 0,
            text: 0,
            stored: 0,
            records: 0,
            key_bytes: 8,
        };
        assert_eq!(nothing.collection() + nothing.catalogue(), 0);
        assert_eq!((nothing.runs(1), nothing.postings()), (0, 0));
        assert_eq!(part(7, 0, 0), 0);
        assert_eq!(part(u64::MAX, 3, 4), u64::MAX / 4 * 3 + 2);
    }

    #[test]
    fn the_worst_moment_is_the_largest() {
        let merging = |runs, extra, postings| Merging {
            runs,
            extra,
            postings,
        };
        let results = MEDIUM.documents * RESULT_BYTES + MEDIUM.names * 2;
        assert_eq!(MEDIUM.asking(merging(1 << 30, 5, 9)), (1 << 30) + 9);
        assert_eq!(MEDIUM.asking(merging(1 << 30, 9, 5)), (1 << 30) + 9);
        assert_eq!(MEDIUM.asking(merging(0, 0, 5)), 5 + results);
    }

    #[test]
    fn merges_of_generations() {
        for (count, fan_in, merged) in [
            (0, 2, 0),
            (8, 8, 0),
            // Three of ten runs are merged, and eight are left.
            (10, 8, 1536),
            (4, 2, 2560),
            // Runs of size 2, 2, 2, 2, then one of 4; two of size 4 are left.
            (8, 2, 2560),
            // 64 merges of eight runs, then merges of eight of those.
            (512, 8, 640),
            (u64::MAX, 8, 5120),
        ] {
            assert_eq!(
                merged_at_once(5120, count, fan_in),
                merged,
                "{count} {fan_in}"
            );
        }
    }

    fn inputs(sizes: &[u64]) -> Vec<InputFile> {
        sizes.iter().map(|&size| InputFile::of_size(size)).collect()
    }

    #[test]
    fn places_are_spread_by_bytes() {
        let of = |sizes: &[u64]| places(&inputs(sizes), sizes.iter().sum());
        let (least, most) = PLACES;
        // No inputs have no places, a single input has all of them, and an empty one has none.
        assert_eq!(of(&[]), BTreeMap::new());
        assert_eq!(of(&[1 << 40]), [(0, least as u32)].into());
        assert_eq!(of(&[0, 1 << 40, 0]), [(1, least as u32)].into());
        let half = least as u32 / 2;
        assert_eq!(of(&[1 << 40, 1 << 40]), [(0, half), (1, half)].into());
        assert_eq!(of(&vec![1 << 30; 1000]).len(), least as usize);
        assert_eq!(of(&vec![1; 100_000]).len(), most as usize);
        // A file of nine tenths of the bytes gets nine tenths of the places.
        let mut sizes = vec![1 << 30; 1001];
        sizes[500] = 9000 << 30;
        let large = of(&sizes)[&500];
        assert!((least as u32 * 9 / 10).abs_diff(large) <= 1, "{large}");
    }
}
