//! The content of `manifest.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::inputs::InputsEntry;
use crate::cluster::ClusterStats;
use crate::collection::{CatalogueStats, CollectionConfig, SegmentStats};
use crate::experiments::plan::Plan;
use crate::join::{JoinConfig, JoinProgress, JoinStats};
use crate::merge::MergeStats;
use crate::read::FileIdentity;
use crate::sample::{SampleStats, Sampling};
use crate::sort::{FormStats, RunEntry};
use crate::store::PartInfo;

/// The format of `manifest.json` that this build writes and reads.
pub const MANIFEST_FORMAT: u32 = 1;

/// The whole of `manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this file's format.
    pub format: u32,
    /// Version of the program that wrote it last.
    pub program: String,
    /// What the collection is made with.
    pub collection: CollectionConfig,
    /// Digest of the collection's parameters, in the header of every part of it.
    pub collection_digest: String,
    /// The input files.
    pub inputs: InputsEntry,
    /// What this directory stands on, where it is one of trials over another's collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The method whose keys stand in place of shingles, where they do: its specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The segments committed so far, in order.
    pub segments: Vec<SegmentEntry>,
    /// Whether they are all there.
    pub ingested: bool,
    /// Columns over all documents.
    pub catalogue: Option<CatalogueEntry>,
    /// The sampling plan that was made for this collection last, or given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// Whether it was given: it may have been changed by hand, and is not what would be made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan_given: bool,
    /// Sample sizes.
    pub sample: Option<SampleEntry>,
    /// Sorted runs.
    pub runs: Option<RunsEntry>,
    /// Shared postings.
    pub postings: Option<PostingsEntry>,
    /// A join that is not finished.
    pub joining: Option<JoinProgress>,
    /// The pair list.
    pub pairs: Option<PairsEntry>,
    /// The files for people.
    pub results: Option<ResultsEntry>,
    /// Files that were written beside them, by name: summary, page, plan, those of a study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ResultFile>,
    /// What each stage cost, summed over interruptions.
    pub costs: BTreeMap<String, Cost>,
}

/// An input file: a line of `inputs.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputEntry {
    /// Its path, bytes that are not UTF-8 replaced.
    pub path: String,
    /// What it is called in docnos and rejects.
    pub name: String,
    /// Size, time and digest; none for standard input and what cannot be read.
    pub identity: Option<FileIdentity>,
}

/// A position in the input: records before `event` of file `file` are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// Index in the list of inputs.
    pub file: u32,
    /// Records and rejects of it that the reader has delivered.
    pub event: u64,
}

/// A committed segment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SegmentEntry {
    /// Number of its first document.
    pub first_document: u32,
    /// Its documents.
    pub documents: PartInfo,
    /// Their fingerprint sets.
    pub fingerprints: PartInfo,
    /// What was rejected or noticed.
    pub rejects: PartInfo,
    /// The texts of the documents whose sets are stored, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<PartInfo>,
    /// Where the next segment begins.
    pub next: Cursor,
    /// What was counted.
    pub stats: SegmentStats,
}

/// The columns over all documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CatalogueEntry {
    /// Docnos, one after the other.
    pub names: PartInfo,
    /// Where each docno ends.
    pub name_ends: PartInfo,
    /// Representative of each document.
    pub representatives: PartInfo,
    /// Fingerprints stored of each document.
    pub stored: PartInfo,
    /// Notices about docnos that are not unique.
    pub rejects: PartInfo,
    /// What was counted.
    pub stats: CatalogueStats,
}

/// The samples' sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SampleEntry {
    /// Digest of the collection and the sampling.
    pub digest: String,
    /// The sampling.
    pub sampling: Sampling,
    /// One column of sizes a level.
    pub sizes: Vec<PartInfo>,
    /// What was counted.
    pub stats: SampleStats,
}

/// The sorted runs; gone when the postings are made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunsEntry {
    /// Runs committed so far.
    pub runs: Vec<RunEntry>,
    /// Whether they cover every document.
    pub complete: bool,
    /// Number of the next run.
    pub next_number: u64,
    /// What was counted.
    pub stats: FormStats,
}

/// The shared postings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PostingsEntry {
    /// Number of fingerprint ranges.
    pub ranges: u32,
    /// The part of each range that is done.
    pub parts: BTreeMap<u32, PartInfo>,
    /// What was counted.
    pub stats: MergeStats,
    /// Whether all ranges are done.
    pub complete: bool,
    /// Whether they were made from the sets, without runs.
    pub direct: bool,
    /// How many fingerprints each document has in each class of document frequency, by level.
    pub profiles: Vec<PartInfo>,
}

/// The pair list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PairsEntry {
    /// Digest of sample and join parameters.
    pub digest: String,
    /// The join's parameters.
    pub config: JoinConfig,
    /// The pairs.
    pub part: PartInfo,
    /// Their scores in units of 2^-32, in a part of the same shape, where what they share does not tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<PartInfo>,
    /// What was counted.
    pub stats: JoinStats,
}

/// The files for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultsEntry {
    /// Digest of the pairs that they show.
    pub digest: String,
    /// Name, size and checksum of each.
    pub files: Vec<ResultFile>,
    /// What was counted.
    pub stats: ClusterStats,
}

/// A finished result file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    /// File name.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// xxh3 of the content, 16 hexadecimal digits.
    pub checksum: String,
}

impl ResultFile {
    /// One of so many bytes with this checksum.
    #[must_use]
    pub fn new(name: &str, (bytes, checksum): (u64, u64)) -> ResultFile {
        ResultFile {
            name: name.into(),
            bytes,
            checksum: format!("{checksum:016x}"),
        }
    }
}

/// What a stage cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds of wall time.
    pub wall_seconds: f64,
    /// Seconds of CPU time, user and system, all threads.
    pub cpu_seconds: f64,
    /// Peak resident memory of the process until the end of the stage, bytes, earlier stages of the
    /// same process included; 0 where the system does not say.
    pub peak_bytes: u64,
}
