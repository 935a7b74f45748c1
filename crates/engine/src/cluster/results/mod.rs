//! The result files of a run.

mod clusters;
mod components;
mod documents;
mod lines;
mod members;
mod pairs;
mod rejects;
mod tables;

use crate::collection::{self, Catalogue, Names, SharedTexts};
use crate::join::{JoinConfig, Pairs, PairsEntry, sizes_of_pairs};
use crate::sample::Sampled;
use lookalike_base::{
    Context, Error, MOST_SORT_BYTES, Measure, Result, Unit, budget::ByteSize, caught, counted,
    joined, keywords, threads,
};
use lookalike_store::{Column, Format, Manifest, ResultFile, StageRecord, Workspace, check_file};

use serde::{Deserialize, Serialize};

use clusters::write_clusters;
use components::Components;
use documents::write_documents;
use pairs::write_pairs;

pub use lines::{parameters, parameters_of};
pub use members::{Member, MemberKind, Members};
pub use pairs::pair_columns;
pub use rejects::{each_reject, reject_line, write_rejects};
pub use tables::{TABLE_FILES, TablesEntry, write_tables};

const STAGE: &str = "cluster";
/// The step that writes Parquet files.
const TABLES: &str = "tables";
/// Buffers of readers and writers.
const FIXED_BYTES: u64 = 12 << 20;
/// The least memory for sorting the members of clusters.
const LEAST_SORT_BYTES: u64 = 1 << 20;

keywords! {
    /// Which result files are written.
    #[derive(Default)]
    pub enum ResultFormat: "is not a value of --results; use" {
        /// None. The stage is left out, and can run at any time later.
        None = "none",
        /// The text files.
        #[default]
        Tsv = "tsv",
        /// The text files, and the same as Parquet files ([`TABLE_FILES`]).
        Parquet = "parquet",
    }
}

/// The result files of this stage. The last one is there if pairs are to be reviewed.
pub const RESULT_FILES: [&str; 6] = [
    "pairs.tsv",
    "clusters.jsonl",
    "exact-duplicates.tsv",
    "documents.tsv",
    "rejects.jsonl",
    "review.tsv",
];

/// The columns of a result file.
pub fn columns(manifest: &Manifest, file: &str) -> Vec<Column> {
    let pairs = manifest.get::<PairsEntry>();
    let measure = pairs.map_or_else(Measure::default, |pairs| pairs.config.measure);
    let columns = match file {
        "pairs.tsv" | "review.tsv" => {
            let captures = collection::has_captures(manifest);
            pair_columns(lines::size_column(manifest), measure, captures).to_vec()
        }
        "clusters.jsonl" => clusters::columns(manifest, measure).to_vec(),
        "exact-duplicates.tsv" => documents::exact_columns(manifest).to_vec(),
        "documents.tsv" => documents::columns(manifest).to_vec(),
        _ => rejects::COLUMNS.to_vec(),
    };
    let in_lines = columns
        .into_iter()
        .filter(|column| column.is_in(Format::Lines));
    in_lines.collect()
}

/// Counters of the clustering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStats {
    /// Clusters of two documents or more.
    pub clusters: u64,
    /// Documents in these clusters.
    pub documents: u64,
    /// Documents of the largest cluster.
    pub largest: u64,
    /// The number of its representative; of clusters of this size, the first. Unknown if an earlier
    /// program wrote the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_document: Option<u32>,
    /// Clusters of exact duplicates only.
    pub exact_only: u64,
    /// Exact duplicates whose text equals the text of their representative, byte for byte.
    /// Unknown if an earlier program wrote the results.
    #[serde(default)]
    pub identical: Option<u64>,
    /// Documents in clusters other than the representatives. Keeping one document of each cluster
    /// removes them.
    pub redundant: u64,
    /// Pairs listed; none if the run makes no pair list.
    pub pairs: Option<u64>,
    /// Lines of `rejects.jsonl`.
    pub rejects: u64,
}

/// Writes the result files, unless complete files of these pairs exist.
pub fn run(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    let pairs = workspace.record::<PairsEntry>("join")?;
    let (digest, lists) = (pairs.digest.clone(), pairs.lists());
    let listed = pairs.config.pairs != Pairs::None;
    let listed = listed.then_some(pairs.stats.pairs);
    if workspace.matches::<ResultsEntry>(|of| of.digest == digest && exist(workspace, &of.files)) {
        return Ok(());
    }
    tables::remove_stale(workspace, &digest)?;
    let mut stats = ClusterStats {
        pairs: listed,
        ..ClusterStats::default()
    };
    let texts = SharedTexts::bytes(workspace)?;
    let mut of = Clustered::open(workspace, (STAGE, texts), &mut stats, context)?;
    // Threads make the lines of `pairs.tsv` in a quarter of the memory.
    let most = of.memory.0 / 4 / pairs::THREAD_BYTES;
    let formatters = context.budget.threads.min(most as usize);
    of.memory.0 -= formatters as u64 * pairs::THREAD_BYTES;
    let write_pairs = || {
        let written = lists.map(|list| write_pairs(&of, list, formatters));
        written.collect::<Result<Vec<_>>>()
    };
    let write_clusters = || write_clusters(&of);
    let write_documents = || {
        let mut stats = ClusterStats::default();
        let [exact, all] = write_documents(&of, &mut stats)?;
        let rejects = write_rejects(workspace, &mut stats)?;
        Ok(([exact, all, rejects], stats))
    };
    let (pairs, (clusters, of_clusters), files) = if context.budget.threads <= 1 {
        (write_pairs()?, write_clusters()?, write_documents()?)
    } else {
        threads::scope(|scope| {
            let pairs = scope.spawn(write_pairs);
            let documents = scope.spawn(write_documents);
            let clusters = caught(STAGE, write_clusters);
            let (pairs, documents) = (joined(STAGE, pairs), joined(STAGE, documents));
            Ok::<_, Error>((pairs?, clusters?, documents?))
        })?
    };
    let ([exact, all, rejects], of_documents) = files;
    (stats.exact_only, stats.largest) = (of_clusters.exact_only, of_clusters.largest);
    stats.largest_document = of_clusters.largest_document;
    (stats.identical, stats.rejects) = (of_documents.identical, of_documents.rejects);
    drop(of);
    let mut files = vec![clusters, exact, all, rejects];
    files.splice(0..0, pairs);
    workspace.manifest.set(ResultsEntry {
        digest,
        files,
        stats,
    });
    workspace.commit(&[])
}

/// Whether these files exist as they were written.
fn exist(workspace: &Workspace, files: &[ResultFile]) -> bool {
    let complete = |file| check_file(workspace.directory(), file).is_ok();
    files.iter().all(complete)
}

/// The data from which the result files are made.
struct Clustered<'c> {
    workspace: &'c Workspace,
    config: JoinConfig,
    names: Names,
    sampled: Sampled,
    components: Components,
    /// The memory that is left for sorting the members of clusters.
    memory: ByteSize,
    context: &'c Context<'c>,
}

impl<'c> Clustered<'c> {
    /// Begins a step that needs `others` more bytes of memory.
    fn open(
        workspace: &'c Workspace,
        (step, others): (&'static str, u64),
        stats: &mut ClusterStats,
        context: &'c Context<'c>,
    ) -> Result<Clustered<'c>> {
        let config = workspace.record::<PairsEntry>("join")?.config;
        let documents = Catalogue::extent(workspace)?.documents;
        let sampled = Sampled::bytes_in(workspace, config.measure)?;
        let names = Catalogue::names_bytes(workspace, &context.budget)?;
        let used = FIXED_BYTES + others + components::bytes(documents) + sampled + names;
        let what = || format!("clustering {}", counted(documents, "document"));
        let memory = context.budget.rest(used, LEAST_SORT_BYTES, what)?;
        context.start(step, Unit::Count("documents"), Some(documents));
        Ok(Clustered {
            workspace,
            config,
            names: Catalogue::names(workspace, &context.budget)?,
            sampled: sizes_of_pairs(workspace)?,
            components: Components::new(workspace, stats, context)?,
            memory: ByteSize(memory.min(MOST_SORT_BYTES)),
            context,
        })
    }
}

/// The cluster of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterOf {
    /// Its number, as in `clusters.jsonl`.
    pub number: u32,
    /// Its representative.
    pub root: u32,
    /// Number of its members.
    pub members: u64,
    /// Its first members.
    pub listed: Vec<u32>,
}

/// The cluster of a document with its first members, from the committed pairs; `None` if the
/// document is in no cluster.
pub fn cluster_of(
    workspace: &Workspace,
    document: u32,
    most: usize,
    context: &Context<'_>,
) -> Result<Option<ClusterOf>> {
    let components = Components::new(workspace, &mut ClusterStats::default(), context)?;
    if document as usize >= components.roots.len() {
        return Ok(None);
    }
    let Some((root, number)) = components.cluster(document) else {
        return Ok(None);
    };
    let mut cluster = ClusterOf {
        number,
        root,
        members: 0,
        listed: Vec::new(),
    };
    for (member, _) in (0..).zip(&components.roots).filter(|of| *of.1 == root) {
        cluster.members += 1;
        if cluster.listed.len() < most {
            cluster.listed.push(member);
        }
    }
    Ok(Some(cluster))
}

/// The memory that [`cluster_of`] takes.
pub fn cluster_of_bytes(documents: u64) -> u64 {
    // Union-find, then roots and numbers.
    documents * 4 + components::bytes(documents)
}

/// The result files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultsEntry {
    /// Digest of the pairs that they were made from.
    pub digest: String,
    /// Name, size and checksum of each.
    pub files: Vec<ResultFile>,
    /// The counters.
    pub stats: ClusterStats,
}

impl StageRecord for ResultsEntry {
    const NAME: &'static str = "results";

    fn files(&self) -> &[ResultFile] {
        &self.files
    }
}
