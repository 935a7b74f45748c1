//! `summary.json`: all counts of a run.

use crate::cluster::{ClusterStats, ResultsEntry};
use crate::collection::{
    self, CatalogueEntry, CatalogueStats, CollectionConfig, RejectReader, SegmentEntry,
    SegmentStats,
};
use crate::join::{JoinConfig, JoinStats, PairsEntry};
use crate::merge::{MergeStats, PostingsEntry};
use crate::sample::plan::Plan;
use crate::sample::{SampleEntry, SampleStats, Sampling, SelectStats, Selection};
use crate::shingle::Excluded;
use crate::sort::{FormStats, RunsEntry};
use lookalike_base::{Error, Result, count, counted};
use lookalike_store::{Cost, InputList, Manifest, Skipped, Workspace, json};
use lookalike_text::read::{Reason, Reject, advised};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Every count of every stage. The counts depend only on the inputs and the parameters, with two
/// exceptions: the counts of runs and blocks depend on the budget, and `costs` on the machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Name and version of the program.
    pub program: String,
    /// The method whose features replace shingles, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The parameters of the collection.
    pub collection: CollectionConfig,
    /// Number of input files.
    pub inputs: u64,
    /// Bytes of the input files before decompression.
    pub input_bytes: u64,
    /// Files that the walk through the given directories left out.
    #[serde(default, skip_serializing_if = "Skipped::is_nothing")]
    pub skipped: Skipped,
    /// Number of segments of the collection.
    pub segments: u64,
    /// Counts of reading.
    pub ingest: SegmentStats,
    /// Counts over all documents.
    pub catalogue: Option<CatalogueStats>,
    /// The sampling.
    pub sampling: Option<Sampling>,
    /// The plan that determines the sampling, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// Counts of the sample.
    pub sample: Option<SampleStats>,
    /// Counts of the sort.
    pub sort: Option<FormStats>,
    /// Which of the sampled fingerprints were sorted, if not all, and how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Selected>,
    /// Counts of the merge.
    pub merge: Option<MergeStats>,
    /// The join's parameters.
    pub join_config: Option<JoinConfig>,
    /// Counts of the join.
    pub join: Option<JoinStats>,
    /// Counts of the clusters.
    pub cluster: Option<ClusterStats>,
    /// Bytes on disk of each kind of part.
    pub disk_bytes: BTreeMap<String, u64>,
    /// Wall and CPU seconds and peak memory of each stage.
    pub costs: BTreeMap<String, Cost>,
}

/// A selection of fingerprints, and its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    /// The selection.
    #[serde(flatten)]
    pub selection: Selection,
    /// The counts.
    #[serde(flatten)]
    pub stats: SelectStats,
}

impl Summary {
    /// Whether only a sample of the fingerprints was searched.
    pub fn is_sampled(&self) -> bool {
        let sampling = self.sampling.as_ref();
        sampling.is_some_and(|sampling| *sampling != Sampling::Full)
    }

    /// The documents of another collection with which those that were read were compared.
    pub fn others(&self) -> u64 {
        let all = self
            .catalogue
            .as_ref()
            .map_or(0, |catalogue| catalogue.documents);
        all.saturating_sub(self.ingest.documents)
    }

    /// Sums up the records of a manifest.
    pub fn of(manifest: &Manifest) -> Summary {
        let mut ingest = SegmentStats::default();
        for segment in collection::own_segments(manifest) {
            ingest.add(&segment.stats);
        }
        let mut disk_bytes = BTreeMap::new();
        let base = manifest.base.as_ref();
        for (place, kind, part) in manifest.parts() {
            if base.is_some_and(|base| base.has(place, &part.name)) {
                continue;
            }
            *disk_bytes
                .entry(format!("{kind:?}").to_lowercase())
                .or_default() += part.bytes;
        }
        let sort = manifest.get::<RunsEntry>().map(|r| r.stats);
        let merge = manifest.get::<PostingsEntry>().map(|p| p.stats);
        let pairs = manifest.get::<PairsEntry>();
        let before = pairs.and_then(|pairs| pairs.before);
        let selected = match manifest.get::<RunsEntry>() {
            Some(runs) => runs.selection.zip(runs.selected),
            None => pairs.and_then(|pairs| pairs.selected),
        };
        let mut collection = collection::config(manifest).clone();
        let excluded = &mut collection.shingle.excluded;
        *excluded = excluded.as_ref().map(Excluded::named);
        Summary {
            program: manifest.program.clone(),
            method: manifest.method.clone(),
            collection,
            inputs: (manifest.inputs.files)
                .saturating_sub(collection::against(manifest).files.into()),
            input_bytes: manifest.inputs.bytes,
            skipped: manifest.inputs.skipped,
            segments: collection::segments(manifest).len() as u64,
            ingest,
            catalogue: manifest.get::<CatalogueEntry>().map(|c| c.stats.clone()),
            sampling: manifest.get::<SampleEntry>().map(|s| s.sampling.clone()),
            plan: manifest.get::<Plan>().cloned(),
            sample: manifest.get::<SampleEntry>().map(|s| s.stats.clone()),
            sort: sort.or(before.map(|(sort, _)| sort)),
            selected: selected.map(|(selection, stats)| Selected { selection, stats }),
            merge: merge.or(before.map(|(_, merge)| merge)),
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

/// Writes `summary.json` and commits the manifest.
pub(super) fn write(workspace: &mut Workspace) -> Result<Summary> {
    let summary = Summary::of(&workspace.manifest);
    let text = json::pretty(&summary, workspace.directory().join(SUMMARY_FILE))?;
    workspace.put_other(SUMMARY_FILE, text.as_bytes())?;
    Ok(summary)
}

/// The error for a collection without documents; `None` if it has some.
pub(super) fn no_documents(workspace: &Workspace) -> Result<Option<Error>> {
    let summary = Summary::of(&workspace.manifest);
    let ingest = &summary.ingest;
    if ingest.documents > 0 {
        return Ok(None);
    }
    let mut found: Vec<(String, u64)> = ingest.rejected.clone().into_iter().collect();
    found.extend(ingest.skipped.clone());
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let first = first(workspace)?;
    let hint = hint(
        &found,
        summary.collection.read.text_field.is_some(),
        first.as_ref().map(|(_, reject)| reject),
    );
    let inputs = counted(summary.inputs, "input");
    let mut message = format!("no document was found in {inputs}");
    for (at, (reason, n)) in found.iter().enumerate() {
        let before = if at == 0 { ": " } else { ", " };
        message += &format!("{before}{reason} {}", count(*n));
    }
    if let Some((file, reject)) = first {
        message += &format!("; the first: {}", reject.line(&file));
    }
    let help = format!("{hint}; with --allow-empty, such a run succeeds");
    Ok(Some(Error::other(message, help)))
}

/// The flags to try if this was found instead of documents. `named` says whether the field of the
/// text was given, and `first` is the first reject.
fn hint(found: &[(String, u64)], named: bool, first: Option<&Reject>) -> String {
    let most = found.first().map(|(reason, _)| reason.as_str());
    let most = Reason::ALL
        .into_iter()
        .find(|reason| Some(reason.text()) == most);
    let first = first.filter(|first| first.reason == Reason::MissingText);
    let flag = first.and_then(|first| advised(&first.detail, ""));
    let hint = match (most, flag) {
        (Some(Reason::MissingText), Some(flag)) => return format!("give {flag}"),
        (Some(Reason::MissingText), None) if named => "give --text-field a field that has strings",
        (Some(Reason::MissingText), None) => "name the field of the text with --text-field",
        (Some(Reason::WrongFormat | Reason::StrayBytes), _) => {
            "name the format of the inputs with --format, or leave --format out if it is given"
        }
        (Some(Reason::NoRecords), _) => "check the name given by --record",
        (Some(Reason::NoList), _) => "check the path given by --records",
        (Some(Reason::NoMatch), _) => "check the expression given by --split-at",
        (Some(Reason::BinaryFile | Reason::UnsupportedFormat), _) => {
            "unpack or convert the inputs, or choose other files with --include GLOB"
        }
        (Some(Reason::TooLarge), _) => "raise --max-document",
        _ => "check the inputs, --format and --text-field",
    };
    hint.into()
}

/// The first reject as an error, for `--strict`; `None` if there is no reject. Notices are not
/// rejects.
pub fn first_reject(workspace: &Workspace) -> Result<Option<Error>> {
    let own = collection::own_segments(&workspace.manifest);
    let count = own.iter().map(rejected).sum::<u64>();
    let first = first(workspace)?;
    Ok(first.map(|(file, reject)| Error::Rejected {
        count,
        first: reject.line(&file),
    }))
}

fn rejected(segment: &SegmentEntry) -> u64 {
    segment.stats.rejected.values().sum()
}

/// The first reject and its file.
fn first(workspace: &Workspace) -> Result<Option<(String, Reject)>> {
    let own = collection::own_segments(&workspace.manifest).iter();
    for segment in own.filter(|segment| rejected(segment) > 0) {
        let mut rejects = RejectReader::of(workspace.places(), segment)?;
        while let Some((reject, kept)) = rejects.next_reject()? {
            if !kept {
                let mut inputs = InputList::open(workspace.directory())?;
                let file = inputs.path_of(reject.source.file)?.to_string();
                return Ok(Some((file, reject)));
            }
        }
    }
    Ok(None)
}
