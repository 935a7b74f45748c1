//! `summary.json`.

use crate::cluster::{ClusterStats, ResultsEntry, reject_line};
use crate::collection::{
    self, CatalogueEntry, CatalogueStats, CollectionConfig, RejectReader, SegmentStats,
};
use crate::join::{JoinConfig, JoinStats, PairsEntry};
use crate::merge::{MergeStats, PostingsEntry};
use crate::sample::plan::Plan;
use crate::sample::{SampleEntry, SampleStats, Sampling};
use crate::sort::{FormStats, RunsEntry};
use crate::store::json;
use crate::workspace::{Cost, InputList, Manifest, Skipped, Workspace};
use crate::{Error, Result};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Every count of every stage. The counts depend on input and parameters alone, but for those of
/// runs and blocks, which depend on the budget, and for `costs`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The program.
    pub program: String,
    /// The method whose keys stand for shingles, if one's do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What the collection is made with.
    pub collection: CollectionConfig,
    /// Input files.
    pub inputs: u64,
    /// Their bytes, before decompression.
    pub input_bytes: u64,
    /// What the walk through named directories left out.
    #[serde(default, skip_serializing_if = "Skipped::is_nothing")]
    pub skipped: Skipped,
    /// Segments of the collection.
    pub segments: u64,
    /// What was read.
    pub ingest: SegmentStats,
    /// What there is over all documents.
    pub catalogue: Option<CatalogueStats>,
    /// The sampling.
    pub sampling: Option<Sampling>,
    /// The plan that it comes from, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What was sampled.
    pub sample: Option<SampleStats>,
    /// What was sorted.
    pub sort: Option<FormStats>,
    /// What was merged.
    pub merge: Option<MergeStats>,
    /// The join's parameters.
    pub join_config: Option<JoinConfig>,
    /// What was joined.
    pub join: Option<JoinStats>,
    /// What was clustered.
    pub cluster: Option<ClusterStats>,
    /// Bytes on disk of each kind of part.
    pub disk_bytes: BTreeMap<String, u64>,
    /// Wall and CPU seconds and peak memory of each stage.
    pub costs: BTreeMap<String, Cost>,
}

impl Summary {
    /// Adds up a manifest.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Summary {
        let mut ingest = SegmentStats::default();
        for segment in collection::segments(manifest) {
            ingest.add(&segment.stats);
        }
        let mut disk_bytes = BTreeMap::new();
        for (_, kind, part) in manifest.parts() {
            *disk_bytes
                .entry(format!("{kind:?}").to_lowercase())
                .or_default() += part.bytes;
        }
        Summary {
            program: manifest.program.clone(),
            method: manifest.method.clone(),
            collection: collection::config(manifest).clone(),
            inputs: manifest.inputs.files,
            input_bytes: manifest.inputs.bytes,
            skipped: manifest.inputs.skipped,
            segments: collection::segments(manifest).len() as u64,
            ingest,
            catalogue: manifest.get::<CatalogueEntry>().map(|c| c.stats.clone()),
            sampling: manifest.get::<SampleEntry>().map(|s| s.sampling.clone()),
            plan: manifest.get::<Plan>().cloned(),
            sample: manifest.get::<SampleEntry>().map(|s| s.stats.clone()),
            sort: manifest.get::<RunsEntry>().map(|r| r.stats),
            merge: manifest.get::<PostingsEntry>().map(|p| p.stats),
            join_config: manifest.get::<PairsEntry>().map(|p| p.config),
            join: manifest.get::<PairsEntry>().map(|p| p.stats.clone()),
            cluster: manifest.get::<ResultsEntry>().map(|r| r.stats),
            disk_bytes,
            costs: manifest.costs.clone(),
        }
    }
}

/// Name of the summary in an output directory.
pub const SUMMARY_FILE: &str = "summary.json";

/// Writes `summary.json`, and commits.
pub fn write_summary(workspace: &mut Workspace, summary: &Summary) -> Result<()> {
    let text = json::pretty(summary, workspace.directory().join(SUMMARY_FILE))?;
    workspace.put_other(SUMMARY_FILE, text.as_bytes())
}

/// With `--strict`: the error that the first reject is, if there is one. Notices are not rejects.
pub fn first_reject(workspace: &Workspace) -> Result<Option<Error>> {
    let manifest = &workspace.manifest;
    let rejected = |stats: &SegmentStats| stats.rejected.values().sum::<u64>();
    let count = collection::segments(manifest)
        .iter()
        .map(|s| rejected(&s.stats))
        .sum::<u64>();
    for segment in collection::segments(manifest)
        .iter()
        .filter(|s| rejected(&s.stats) > 0)
    {
        let path = workspace.path("collection").join(&segment.rejects.name);
        let mut rejects = RejectReader::open(&path, None, Some(&segment.rejects))?;
        while let Some((reject, kept)) = rejects.next()? {
            if !kept {
                let mut inputs = InputList::open(workspace.directory())?;
                let file = inputs.path_of(reject.source.file)?;
                let first = reject_line(file, &reject, false).trim_end().to_string();
                return Ok(Some(Error::Rejected { count, first }));
            }
        }
    }
    Ok(None)
}
