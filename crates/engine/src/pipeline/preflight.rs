//! Refuses a run for which the disk is far too small, before the run writes what would fill it.
//!
//! # Source
//! None: the sizes are those of our own formats (FORMAT.md), as measured.
//!
//! # In and out
//! In: the list of inputs before they are read ([`before_ingest`]), or the number of records before
//! they are sorted ([`before_sort`]). Out: nothing if there is room; a progress note if space may
//! be short; or [`Error::DiskSpace`] with the space needed and the space available.
//!
//! # Algorithm
//! Before the inputs are read, only their sizes are known, so each counts with a fixed part of its
//! size, which is the least of several collections. Before the sort the number of records is known,
//! and with it the size of the runs and postings. Committed parts need no more space.
//!
//! # What is not guaranteed
//! Nothing counts temporary sorts, counted pairs, the pair list and the result files of pairs, what
//! other processes write during the run, and quotas, which the file system does not report.

use crate::collection::{self, Catalogue};
use crate::merge::PostingsEntry;
use crate::sort::RunsEntry;
use lookalike_base::{Budget, Context, Disk, Error, Key, Result, budget::ByteSize, counted};
use lookalike_store::{Workspace, disk};
use lookalike_text::read::{InputFile, is_compressed};
use std::path::Path;

/// Percent of a plain input's bytes that its part of the collection takes. From 41 (pages of
/// linuxdocs-medium) to 144 (books) were measured (`docs/measurements.md`).
const PERCENT_OF_PLAIN: u64 = 40;
/// The same for a compressed input. From 105 (the generated crawl) to 373 (books) were measured.
const PERCENT_OF_COMPRESSED: u64 = 100;
/// The same for a crawl, which may consist of pictures. In samples of WARC and ARC files from 16 to
/// 102 were measured, compressed or not.
const PERCENT_OF_CRAWL: u64 = 15;
/// Bytes of a document in the result files. 218 were measured on linuxdocs-medium and 212 on
/// linuxdocs-small.
const RESULT_BYTES: u64 = 220;

/// Before reading, the check refuses a run if this percentage of the estimate exceeds the space
/// available. Many inputs may be exact duplicates, which are stored once, or no documents.
const SURE_BEFORE_INGEST: u64 = 50;
/// The same percentage before the sort. The size of the runs is then known, but the postings may
/// take almost nothing.
const SURE_BEFORE_SORT: u64 = 60;

/// Refuses to read inputs into the collection of `out` if the disk has too little space.
pub(super) fn before_ingest(inputs: &[InputFile], out: &Path, context: &Context<'_>) -> Result<()> {
    let needed = inputs
        .iter()
        .map(|input| input.size().saturating_mul(percent(&input.docno)) / 100);
    let needed: u64 = needed.sum();
    // The size of standard input is unknown.
    if super::is_piped(inputs) || less_than(needed, out, &context.budget).is_none() {
        return Ok(());
    }
    // If the manifest cannot be read, the caller reports that when it opens the directory.
    let there: u64 = match super::look(out) {
        Ok(manifest) if collection::ingested(&manifest) => return Ok(()),
        Ok(manifest) => {
            let segments = collection::segments(&manifest).iter();
            let bytes = segments.map(|s| s.documents.bytes + s.fingerprints.bytes);
            bytes.sum()
        }
        Err(Error::NotOutput { .. }) => 0,
        Err(_) => return Ok(()),
    };
    let what = || {
        let files = counted(inputs.len() as u64, "file");
        let bytes = inputs.iter().map(InputFile::size).sum();
        format!("reading {files} of {}", ByteSize(bytes))
    };
    let left = needed.saturating_sub(there);
    decide(out, left, SURE_BEFORE_INGEST, what, context)
}

/// The percentage of an input of this name that the collection takes at least.
fn percent(name: &str) -> u64 {
    let lower = name.to_ascii_lowercase();
    if [".warc", ".arc"].iter().any(|crawl| lower.contains(crawl)) {
        PERCENT_OF_CRAWL
    } else if is_compressed(name) {
        PERCENT_OF_COMPRESSED
    } else {
        PERCENT_OF_PLAIN
    }
}

/// Refuses to sort and merge `records` records if the disk has too little space. With `direct`
/// there are no runs.
pub(super) fn before_sort<K: Key>(
    workspace: &Workspace,
    (records, direct): (u64, bool),
    context: &Context<'_>,
) -> Result<()> {
    let manifest = &workspace.manifest;
    // A record of a run takes 5.8 to 7.2 bytes if its key has 8, and 11.5 if it has 16.
    let key_bytes = K::BYTES as u64;
    let sorted = manifest.get::<RunsEntry>();
    let sorted = sorted.map_or(0, |runs| runs.stats.records);
    let runs = match direct {
        true => 0,
        false => records.saturating_sub(sorted).saturating_mul(key_bytes),
    };
    // In the postings it takes 2.9 to 3.2 bytes, or 4.9.
    let postings = records.saturating_mul(key_bytes / 2);
    let postings = match manifest.get::<PostingsEntry>() {
        Some(made) => {
            let left = u64::from(made.ranges).saturating_sub(made.parts.len() as u64);
            postings / u64::from(made.ranges).max(1) * left
        }
        None => postings,
    };
    // The runs are removed before the results are written.
    let documents = Catalogue::stats(workspace)?.documents;
    let results = documents.saturating_mul(RESULT_BYTES);
    decide(
        workspace.directory(),
        postings.saturating_add(runs.max(results)),
        SURE_BEFORE_SORT,
        || format!("sorting and merging {}", counted(records, "record")),
        context,
    )
}

/// Returns an error if the space is too small even for `sure` percent of the bytes needed, and
/// writes a note if it is too small for all of them.
fn decide(
    out: &Path,
    needed: u64,
    sure: u64,
    what: impl FnOnce() -> String,
    context: &Context<'_>,
) -> Result<()> {
    let Some(available) = less_than(needed, out, &context.budget) else {
        return Ok(());
    };
    let rounded = ByteSize(needed).round_up();
    if needed / 100 * sure > available.0 {
        return Err(Error::DiskSpace {
            path: out.into(),
            needed: rounded,
            available,
            what: what(),
        });
    }
    context.progress.note(&format!(
        "{} has {available} of disk space left; {} may need {rounded}",
        out.display(),
        what()
    ));
    Ok(())
}

/// The bytes that may be written, if they are fewer than `needed`; `None` if there are more, the
/// check is switched off, or the space is unknown. The directory may not exist yet.
fn less_than(needed: u64, out: &Path, budget: &Budget) -> Option<ByteSize> {
    let available = match budget.disk {
        Disk::Unchecked => None,
        Disk::Bytes(bytes) => Some(bytes),
        Disk::Available => {
            let out = std::path::absolute(out).ok()?;
            let mut places = out.ancestors();
            let place = places.find(|place| disk::exists(place).unwrap_or(false))?;
            disk::space(place).map(|space| space.left)
        }
    };
    available.filter(|available| available.0 < needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::progress::{Silent, Stop};
    use lookalike_store::workspace::FileIdentity;

    #[test]
    fn inputs_count_by_their_sizes() {
        let budget = |disk| Budget {
            memory: ByteSize(0),
            threads: 1,
            disk,
        };
        let of_size = |size| InputFile {
            identity: Some(FileIdentity {
                size,
                ..FileIdentity::default()
            }),
            ..InputFile::named("x", "x")
        };
        let (plain, piped) = (of_size(10 << 20), InputFile::named("-", "-"));
        let packed = InputFile {
            docno: "a/b.JSONL.Gz".into(),
            ..plain.clone()
        };
        let crawl = InputFile {
            docno: "a/b.Warc.gz".into(),
            ..of_size(40 << 20)
        };
        let given = [&plain, &packed, &plain, &crawl];
        let inputs = given.map(InputFile::clone);
        let needed = |inputs: &[InputFile], disk| {
            let context = Context {
                budget: budget(disk),
                stop: &Stop::default(),
                progress: &Silent,
                scratch: None,
                programs: &[],
            };
            match before_ingest(inputs, Path::new("/nowhere/x"), &context) {
                Ok(()) => None,
                Err(Error::DiskSpace { needed, what, .. }) => Some((needed.0, what)),
                Err(other) => panic!("{other}"),
            }
        };
        let bytes = |bytes| Disk::Bytes(ByteSize(bytes));
        let told = (24 << 20, "reading 4 files of 70MiB".to_string());
        assert_eq!(needed(&inputs, bytes((12 << 20) - 100)), Some(told));
        for disk in [bytes(12 << 20), Disk::Unchecked, Disk::Available] {
            assert_eq!(needed(&inputs, disk), None);
        }
        assert_eq!(needed(&[plain, piped], bytes(0)), None);
        assert_eq!(needed(&[], bytes(0)), None);
    }
}
