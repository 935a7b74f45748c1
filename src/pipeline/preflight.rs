//! Whether the disk will hold what a run writes, asked before the work that would fill it.
//!
//! # Source
//! None: the sizes are those of our own files (FORMAT.md).
//!
//! # In and out
//! In: the list of inputs before they are read ([`before_ingest`]), or a collection of which a sample
//! is drawn ([`before_sort`]). Out: nothing, a line for who watches where it may be tight, or
//! [`Error::DiskSpace`] with what is needed and what there is.
//!
//! # Algorithm
//! 1. Nobody knows what inputs hold before they are read. So the beginnings of some of them, spread over
//!    the list by bytes, are read, parsed and shingled as they will be: that gives documents and
//!    fingerprints for each byte on disk.
//! 2. From documents, fingerprints and records follows the size of every file, by the arithmetic of
//!    its encoding, at its worst: no record's fingerprint twice in a run, every record in a posting
//!    list of two. From these follows the worst moment: the end of the merge, as a rule, when the runs
//!    are still there and the postings are whole.
//! 3. What is committed already is on the disk and not needed again. Before the sort documents and
//!    records are known, so the question is asked again, without a sample.
//!
//! # Invariants
//! - Nothing is written, and a refusal comes before anything is.
//! - Inputs that are small for the disk are not read here at all.
//! - What is in doubt is not refused: see `DOUBT_BEFORE_INGEST` and `DOUBT_BEFORE_SORT`.
//!
//! # Cost
//! Decompressing, parsing and shingling about `SAMPLE_BYTES`, on one thread. Measured on
//! linuxdocs-small: 0.2 s of CPU time from gzip and zstd, 0.35 from xz, 1.7 from bzip2. Memory: one
//! record of at most `LARGEST_RECORD` and its fingerprints.
//!
//! # What is not guaranteed
//! Not counted are: counted pairs, the pair list and the result files of pairs, which nobody can
//! foresee and which are written after the runs are gone; `rejects.jsonl`; what others write
//! meanwhile; quotas, which the file system does not tell. Exact duplicates are counted before
//! reading as if each were stored.

use crate::budget::{Budget, ByteSize, Disk};
use crate::collection::{
    self, Catalogue, CatalogueEntry, CollectionConfig, TEXT_BLOCK_BYTES, TEXT_ZSTD_LEVEL,
};
use crate::ids::{FingerprintKind, Key};
use crate::merge::PostingsEntry;
use crate::numbers::counted;
use crate::progress::Context;
use crate::read::{
    Batch, InputFile, Interpreted, Reason, RecordKind, RecordReader, Reject, interpret,
};
use crate::sample::{SampleEntry, Sampling};
use crate::shingle::Shingler;
use crate::sort::RunsEntry;
use crate::store::disk;
use crate::workspace::Workspace;
use crate::{Error, Result, merge, sort};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::Path;

use super::{JoinParameters, Spill};

/// Inputs of fewer bytes are not sampled where the disk has [`PLENTY`] times as many available.
const SMALL_INPUTS: u64 = 256 << 20;
/// What a byte of input can become at its worst, short of hostile inputs: 36 bytes for each of its
/// shingles with MD5, a shingle for every 6 bytes of text, text of a tenth of its size in xz.
const PLENTY: u64 = 64;

/// Decompressed bytes of all inputs that are shingled, about.
const SAMPLE_BYTES: u64 = 24 << 20;
/// Places in the list of inputs that are looked at: as many as there is [`SAMPLE_BYTES`] for files of
/// average size, within these bounds.
const PLACES: (u64, u64) = (12, 256);
/// A larger record is left out of the sample, so that memory stays far below the least that ingest needs.
const LARGEST_RECORD: ByteSize = ByteSize::mib(4);
/// Where a sample decompresses to more than this times its size, it ends; hostile inputs take no time.
const MOST_RATIO: u64 = 64;

/// Bytes of a document's record in a documents part beside its names, which zstd halves or better:
/// its MD5 and seven numbers. Measured, names and all, at 63 to 70 bytes a document on linuxdocs.
const DOCUMENT_BYTES: u64 = 44;
/// Of a document in the catalogue beside its docno: end of the docno, representative, stored size.
const CATALOGUE_BYTES: u64 = 16;
/// Of a document in a sort that needs no checkpoint ([`sort::Tagged`]).
const SCRATCH_BYTES: u64 = 24;
/// Of a document in the samples' sizes.
const SAMPLED_BYTES: u64 = 4;
/// Of a document in the result files beside its names, which stand there up to twice. Measured, names
/// and all, at 218 bytes a document on linuxdocs-medium and 212 on small.
const RESULT_BYTES: u64 = 100;
/// Of an input file in `inputs.jsonl` beside its path and docno.
const INPUT_BYTES: u64 = 130;
/// Manifest, headers and the unused ends of blocks of the file system: 2 MiB on linuxdocs-medium.
const FIXED_BYTES: u64 = 4 << 20;

/// Bits by which a frame of 128 differences of random keys is wider than their mean: the largest of
/// 128 is 5.4 times the mean, and a width is whole.
const FRAME_BITS: f64 = 3.0;
/// Bits of the frames' widths, a byte each of 128, for a record of a run and a list of postings.
const WIDTH_BITS: f64 = 0.25;
/// Bytes of a block's head and its line of the index, for each of its records (4,096, 16,384).
const BLOCK_SHARE: f64 = 48.0 / 4096.0;

/// What is refused before reading: an estimate of which so much is more than there is. Exact
/// duplicates may be half of a crawl, and are stored once: linuxdocs-medium, a fourth of whose documents
/// are, takes 0.66 of its estimate.
const DOUBT_BEFORE_INGEST: f64 = 0.5;
/// The same before the sort, where the runs are known and the postings may be next to nothing: they
/// are two fifths of what is needed at most.
const DOUBT_BEFORE_SORT: f64 = 0.6;

/// Refuses to read inputs into a collection, and to ask a question of it if there is one, where the
/// disk will not do.
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
    let size = |input: &InputFile| input.identity.as_ref().map_or(0, |f| f.size);
    let total: u64 = inputs.iter().map(size).sum();
    // Of standard input nothing is known.
    let unknown = inputs.iter().any(|input| input.path == Path::new("-"));
    let small = total < SMALL_INPUTS && total.saturating_mul(PLENTY) < available.0;
    if unknown || small || total == 0 {
        return Ok(());
    }
    // A manifest that cannot be read is for those to tell who open the directory.
    let manifest = match super::look(out) {
        Ok(manifest) => Some(manifest),
        Err(Error::StageMissing { .. }) => None,
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
    let volume = Volume {
        documents: whole(density.documents),
        names: whole(density.names),
        text: whole(density.text),
        stored: whole(density.fingerprints),
        records: whole(density.records),
        key_bytes: K::BYTES as u64,
    };
    let list: u64 = inputs
        .iter()
        .map(|i| (i.path.as_os_str().len() + i.docno.len()) as u64 + INPUT_BYTES)
        .sum();
    let after = match parameters {
        Some(parameters) => {
            let mut merging = volume.merging::<K>(&context.budget, 1, parameters.fan_in);
            let (records, documents) = (volume.records, volume.documents);
            if parameters.spill == Spill::Auto
                && merge::direct::takes::<K>(&context.budget, records, documents, 1)
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

/// Refuses to sort and merge the records of a sample where the disk will not do. `limit` bounds the
/// fan-in as it does in the merge; with `direct` there are no runs.
pub fn before_sort<K: Key>(
    workspace: &Workspace,
    direct: bool,
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
    let volume = Volume {
        documents: Catalogue::stats(workspace)?.documents,
        // It lies there already.
        text: 0,
        names: catalogue.names.bytes + segments.map(|s| s.documents.bytes).sum::<u64>(),
        stored: catalogue.stats.shingles,
        records: sample.stats.sampled,
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
        // Generations are over when the first range is merged.
        asking.extra = 0;
        let ranges = u64::from(postings.ranges);
        let left = ranges.saturating_sub(postings.parts.len() as u64);
        asking.postings = part(asking.postings, left, ranges);
    }
    let needed = volume.asking(asking).saturating_add(FIXED_BYTES);
    let records = volume.records;
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

/// Refuses, tells, or does nothing.
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

/// What may be written; `None` where nobody asks, or nobody knows.
fn available(out: &Path, budget: &Budget) -> Option<ByteSize> {
    match budget.disk {
        Disk::Unchecked => None,
        Disk::Bytes(bytes) => Some(bytes),
        Disk::Available => free(out),
    }
}

/// What the file system of a directory, or of where it will be made, has left for this user.
fn free(out: &Path) -> Option<ByteSize> {
    let out = std::path::absolute(out).ok()?;
    let place = out
        .ancestors()
        .find(|place| disk::exists(place).unwrap_or(false))?;
    let found = rustix::fs::statvfs(place).ok()?;
    // Some file systems of networks and user space have no sizes to tell.
    (found.f_blocks > 0).then(|| ByteSize(found.f_bavail.saturating_mul(found.f_frsize)))
}

/// What goes through a run, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Volume {
    documents: u64,
    /// Bytes of their docnos, addresses and titles.
    names: u64,
    /// Bytes of their texts, where they are kept, behind zstd.
    text: u64,
    /// Fingerprints in the collection.
    stored: u64,
    /// Those that are sorted.
    records: u64,
    /// Bytes of a fingerprint.
    key_bytes: u64,
}

/// Bytes of what sort and merge write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Merging {
    runs: u64,
    /// What merging runs into fewer takes beside the runs themselves.
    extra: u64,
    postings: u64,
}

impl Volume {
    /// Documents and fingerprints: 8 bytes each (16 with MD5), as they are.
    fn collection(&self) -> u64 {
        self.stored * self.key_bytes + self.documents * DOCUMENT_BYTES + self.names + self.text
    }

    fn catalogue(&self) -> u64 {
        self.documents * CATALOGUE_BYTES + self.names
    }

    fn sample(&self) -> u64 {
        self.documents * SAMPLED_BYTES
    }

    /// From the sort to the end: runs beside the larger of what replaces them, or results beside
    /// postings.
    fn asking(&self, merging: Merging) -> u64 {
        let Merging {
            runs,
            extra,
            postings,
        } = merging;
        let results = self.documents * RESULT_BYTES + self.names * 2;
        (runs + extra.max(postings)).max(postings + results)
    }

    /// What sort and merge write with these means. A budget that is too small for them is for them
    /// to refuse.
    fn merging<K: Key>(&self, budget: &Budget, levels: usize, limit: Option<usize>) -> Merging {
        let (documents, records) = (self.documents, self.records);
        let run = sort::run_records::<K>(budget, documents, levels, records).unwrap_or(1) as u64;
        let runs = self.runs(run);
        let fan_in = merge::runs_at_once::<K>(budget, documents, limit).unwrap_or(usize::MAX);
        // A worker's last run is not full.
        let count = records.div_ceil(run) + budget.threads as u64;
        Merging {
            runs,
            extra: merged_at_once(runs, count, fan_in),
            postings: self.postings() + merge::profile_bytes(documents, levels),
        }
    }

    /// Bits of a document's number: frames are as wide as their largest.
    fn document_bits(&self) -> f64 {
        f64::from(u64::BITS - self.documents.leading_zeros())
    }

    /// Bits of the difference of two neighbours among so many random keys.
    fn key_bits(&self, keys: u64) -> f64 {
        let all = (self.key_bytes * 8) as f64;
        (all - (keys.max(1) as f64).log2() + FRAME_BITS).max(1.0)
    }

    /// Runs of so many records each, none of which has the fingerprint of another. 7.4 and 7.8 bytes
    /// a record for linuxdocs-small and medium, which take 5.8 and 7.2.
    fn runs(&self, run: u64) -> u64 {
        let bits = self.key_bits(run.min(self.records)) + self.document_bits() + WIDTH_BITS;
        (self.records as f64 * (bits / 8.0 + BLOCK_SHARE)) as u64
    }

    /// Postings in which every record stands in a list of two, not compressed: longer lists share
    /// their key, and a fingerprint of one document only is left out. 4.6 and 4.9 bytes a record for
    /// linuxdocs-small and medium, which take 2.9 and 3.2.
    fn postings(&self) -> u64 {
        const LENGTH_BITS: f64 = 2.0;
        let lists = self.records / 2;
        let bits = self.key_bits(lists) + LENGTH_BITS + 2.0 * self.document_bits() + WIDTH_BITS;
        (lists as f64 * (bits / 8.0 + 2.0 * BLOCK_SHARE)) as u64
    }
}

/// The most bytes of runs that one merge of a generation has before it removes them, as
/// [`merge::merge_generations`] goes about it with `count` runs of equal size.
fn merged_at_once(bytes: u64, count: u64, fan_in: usize) -> u64 {
    /// More runs are merged so often that the last merge may take nearly all.
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

/// What a byte of input on disk comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Density {
    documents: f64,
    names: f64,
    text: f64,
    fingerprints: f64,
    records: f64,
}

/// Samples the inputs; `None` where none of those looked at tells anything.
fn density<K: Key>(
    inputs: &[InputFile],
    total: u64,
    config: &CollectionConfig,
    sampling: Option<Sampling>,
    context: &Context<'_>,
) -> Result<Option<Density>> {
    let places = places(inputs, total);
    let limit = SAMPLE_BYTES / places.len().max(1) as u64;
    let mut sampler = Sampler::<K>::new(config, sampling, limit);
    let (mut sum, mut weights) = (Density::default(), 0.0);
    for (file, weight) in places {
        context.stop.check("preflight")?;
        // Files are drawn by their size, so the mean of their densities is that of all bytes.
        if let Some(density) = sampler.look(&inputs[file]) {
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

/// Which inputs to look at: those in which places lie that are spread evenly over the bytes of all, and
/// how many lie in each.
fn places(inputs: &[InputFile], total: u64) -> BTreeMap<usize, u32> {
    let average = (total / inputs.len().max(1) as u64).max(1);
    let count = (SAMPLE_BYTES / average).clamp(PLACES.0, PLACES.1);
    let mut found = BTreeMap::new();
    let (mut end, mut next) = (0u64, 0);
    for (file, input) in inputs.iter().enumerate() {
        end += input.identity.as_ref().map_or(0, |f| f.size);
        // The middle of the next of `count` equal stretches.
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
    read: crate::read::ReadConfig,
    sampling: Sampling,
    limit: u64,
    shingler: Shingler<K>,
    set: Vec<K>,
    /// Texts not yet counted.
    text: Vec<u8>,
    batch: Batch,
}

impl<'a, K: Key> Sampler<'a, K> {
    fn new(config: &'a CollectionConfig, sampling: Option<Sampling>, limit: u64) -> Self {
        let mut read = config.read.clone();
        read.max_document = read.max_document.min(LARGEST_RECORD);
        read.max_ratio = read.max_ratio.min(MOST_RATIO);
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

    /// What the first bytes of an input come to; `None` where they do not tell.
    fn look(&mut self, input: &InputFile) -> Option<Density> {
        let size = input.identity.as_ref()?.size;
        let file = disk::open_input(&input.path).ok()?.take(self.limit);
        let mut reader = RecordReader::from_reader(file, &input.docno, 0, &self.read);
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
            let end = record.source.offset + record.source.length;
            match &record.kind {
                RecordKind::Rejected(reject) => {
                    // Ingest reads records that are only here too large.
                    if reject.reason == Reason::TooLarge
                        && record.source.length <= self.config.read.max_document.0
                    {
                        unknown += record.source.length;
                    }
                    first_reject.get_or_insert_with(|| reject.clone());
                }
                _ => {
                    // Rejects count as read where a record comes after them: the last may be one
                    // that is cut off here only.
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
        // What a byte on disk decompresses to, as far as the decompressor has come.
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

    /// Counts the record of the batch.
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

/// Counts what texts come to, and empties them.
fn pack(texts: &mut Vec<u8>, found: &mut Density) {
    for block in texts.chunks(TEXT_BLOCK_BYTES) {
        let packed = zstd::bulk::compress(block, TEXT_ZSTD_LEVEL);
        found.text += packed.map_or(block.len(), |packed| packed.len()) as f64;
    }
    texts.clear();
}

/// Is a file that begins with this reject one that ingest gets nothing out of?
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
    use crate::read::FileIdentity;

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

    /// Every size is at least what two collections came to, and not much more.
    #[test]
    fn sizes_are_at_least_what_was_measured() {
        let md5 = Volume {
            key_bytes: 16,
            ..SMALL
        };
        // Files of the collection, runs of so many records, postings.
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
            // Three of ten, and eight are left.
            (10, 8, 1536),
            (4, 2, 2560),
            // 2, 2, 2, 2, then 4, and 4 and 4 are left.
            (8, 2, 2560),
            // 64 of eight, then eight of 64.
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
        let file = |size: &u64| InputFile {
            path: "x".into(),
            docno: "x".into(),
            odd_path: false,
            identity: Some(FileIdentity {
                size: *size,
                modified_ns: 0,
                digest: String::new(),
            }),
            problem: None,
        };
        sizes.iter().map(file).collect()
    }

    #[test]
    fn places_are_spread_by_bytes() {
        let of = |sizes: &[u64]| places(&inputs(sizes), sizes.iter().sum());
        let (least, most) = PLACES;
        // As many as there are, all in one, none in what is empty.
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
