//! The result files of a run.

mod documents;
mod lines;
mod rejects;

use crate::budget::ByteSize;
use crate::collection::Catalogue;
use crate::join::{Pairs, PairsEntry, each_pair, sizes_of_pairs};
use crate::numbers::counted;
use crate::progress::{Context, Unit};
use crate::sample::{SampleEntry, Sampled};
use crate::store::disk::AtomicFile;
use crate::store::{Tagged, sort_tagged};
use crate::union_find::UnionFind;
use crate::workspace::{ResultFile, StageRecord, Workspace, check_file};
use crate::{Error, Result};
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use documents::write_documents;
use lines::{finished, header, json};

pub use lines::cell;
pub(crate) use rejects::{reject_line, write_rejects};

const STAGE: &str = "cluster";
/// Buffers of readers and writers.
const FIXED_BYTES: u64 = 12 << 20;

/// The result files of this stage, in the order in which they are written.
pub const RESULT_FILES: [&str; 5] = [
    "pairs.tsv",
    "clusters.jsonl",
    "exact-duplicates.tsv",
    "documents.tsv",
    "rejects.jsonl",
];

/// Counters of the clustering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStats {
    /// Clusters of two documents or more.
    pub clusters: u64,
    /// Documents in these clusters.
    pub documents: u64,
    /// Documents of the largest cluster.
    pub largest: u64,
    /// Clusters of exact duplicates only.
    pub exact_only: u64,
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
    let missing = |stage| Error::StageMissing {
        path: workspace.directory().into(),
        stage,
    };
    let pairs = workspace
        .manifest
        .get::<PairsEntry>()
        .ok_or_else(|| missing("join"))?;
    let (digest, config) = (pairs.digest.clone(), pairs.config);
    let measure = config.measure;
    let listed = match config.pairs {
        Pairs::None => None,
        _ => Some(pairs.stats.pairs),
    };
    let there = workspace
        .manifest
        .get::<ResultsEntry>()
        .is_some_and(|results| {
            results.digest == digest
                && results
                    .files
                    .iter()
                    .all(|file| check_file(workspace.directory(), file).is_ok())
        });
    if there {
        return Ok(());
    }
    let documents = Catalogue::stats(workspace)?.documents;
    let levels = workspace
        .manifest
        .get::<SampleEntry>()
        .map_or(1, |s| s.sizes.len());
    let linked = pairs.stats.pairs.min(documents);
    let sampled = Sampled::bytes_for(measure, levels, documents);
    let least = ByteSize(FIXED_BYTES + bytes(documents, linked) + sampled + (1 << 20));
    context.budget.require(least, || {
        format!("clustering {}", counted(documents, "document"))
    })?;
    let memory = ByteSize((context.budget.memory.0 - least.0 + (1 << 20)).min(1 << 30));
    context
        .progress
        .start(STAGE, Unit::Count("documents"), Some(documents));
    let directory = workspace.directory().to_path_buf();
    let mut stats = ClusterStats {
        pairs: listed,
        ..ClusterStats::default()
    };
    let header = header(&workspace.manifest);
    let names = Catalogue::names(workspace)?;
    let mut files = Vec::new();
    let mut line = String::new();

    // pairs.tsv, and the components.
    let mut sets = UnionFind::new(documents as u32);
    {
        let sampled = sizes_of_pairs(workspace)?;
        let mut out = AtomicFile::create(&directory.join("pairs.tsv"))?;
        out.put(header.as_bytes())?;
        let column = measure.column();
        let sizes = match (measure.of_words(), &workspace.manifest.method) {
            (true, _) => "words",
            (_, Some(_)) => "keys",
            (_, None) => "shingles",
        };
        let columns = format!("docno_a\tdocno_b\t{column}\tshared\t{sizes}_a\t{sizes}_b\n");
        out.put(columns.as_bytes())?;
        let mut n = 0u64;
        each_pair(workspace, |pair| {
            if n.is_multiple_of(4096) {
                context.stop.check(STAGE)?;
            }
            n += 1;
            sets.union(pair.a, pair.b);
            if listed.is_none() {
                return Ok(());
            }
            let (a, b) = sampled.measured(pair.a, pair.b);
            let resemblance = measure.text(pair.amount(measure), a.into(), b.into());
            line.clear();
            let (docno_a, docno_b) = (cell(names.get(pair.a)?), cell(names.get(pair.b)?));
            let _ = writeln!(
                line,
                "{docno_a}\t{docno_b}\t{resemblance}\t{}\t{a}\t{b}",
                pair.shared
            );
            out.put(line.as_bytes())
        })?;
        files.push(finished("pairs.tsv", out)?);
    }
    let representatives = Catalogue::representatives(workspace)?;
    for (document, &first) in representatives.0.iter().enumerate() {
        sets.union(first, document as u32);
    }

    // How alike each document is to the root of its cluster, where that pair is listed.
    // A document is in one pair with its root at most, so that this does not grow.
    let mut to_root: Vec<Alike> = Vec::with_capacity(linked as usize);
    {
        let sampled = sizes_of_pairs(workspace)?;
        each_pair(workspace, |pair| {
            let (a, b) = sampled.measured(pair.a, pair.b);
            // Where pairs are not listed, links may be below the threshold.
            let reached = || {
                let criterion = config.criterion();
                criterion.reached(pair.shared.into(), a.into(), b.into())
            };
            if sets.find(pair.a) == pair.a && (listed.is_some() || reached()) {
                to_root.push(Alike {
                    document: pair.b,
                    amount: pair.told(measure),
                    root: a,
                    own: b,
                });
            }
            Ok(())
        })?;
    }
    to_root.sort_unstable_by_key(|alike| alike.document);

    // Sizes of the components, then numbers of those of two or more.
    let mut cluster = vec![0u32; documents as usize];
    for document in 0..documents as u32 {
        cluster[sets.find(document) as usize] += 1;
    }
    let mut next = 0u32;
    for size in &mut cluster {
        if *size >= 2 {
            stats.clusters += 1;
            stats.documents += u64::from(*size);
            stats.largest = stats.largest.max((*size).into());
            *size = next;
            next += 1;
        } else {
            *size = NO_CLUSTER;
        }
    }
    stats.redundant = stats.documents - stats.clusters;

    let mut out = AtomicFile::create(&directory.join("clusters.jsonl"))?;
    let mut open: Option<(u32, bool)> = None;
    let scratch = workspace.scratch(context)?;
    sort_tagged(
        scratch.path(),
        "clusters",
        memory,
        |push| {
            for document in 0..documents as u32 {
                let root = sets.find(document);
                if cluster[root as usize] != NO_CLUSTER {
                    let extra = representatives.0[document as usize];
                    push(Tagged {
                        key: root.into(),
                        document,
                        extra,
                    })?;
                }
            }
            Ok(())
        },
        |Tagged {
             key,
             document,
             extra: first,
         }| {
            let root = key as u32;
            line.clear();
            if open.is_none_or(|(open, _)| open != root) {
                if let Some((_, near)) = open.replace((root, false)) {
                    line.push_str("]}\n");
                    stats.exact_only += u64::from(!near);
                }
                let docno = json(names.get(root)?);
                let id = cluster[root as usize];
                let _ = write!(
                    line,
                    "{{\"id\":{id},\"representative\":{docno},\"members\":["
                );
            } else {
                line.push(',');
            }
            let kind = match document {
                d if d == root => "representative",
                d if d != first => "exact",
                _ => {
                    if let Some(open) = &mut open {
                        open.1 = true;
                    }
                    "near"
                }
            };
            // An exact duplicate is as alike to the root as the document that it equals.
            let resemblance = if first == root {
                "1.000000".to_string()
            } else {
                match to_root.binary_search_by_key(&first, |alike| alike.document) {
                    Ok(at) => {
                        let Alike {
                            amount, root, own, ..
                        } = to_root[at];
                        measure.text(amount.into(), root.into(), own.into())
                    }
                    Err(_) => "null".into(),
                }
            };
            let docno = json(names.get(document)?);
            let _ = write!(
                line,
                "{{\"docno\":{docno},\"kind\":\"{kind}\",\"{}\":{resemblance}}}",
                measure.column()
            );
            out.put(line.as_bytes())
        },
    )?;
    if let Some((_, near)) = open {
        out.put(b"]}\n")?;
        stats.exact_only += u64::from(!near);
    }
    files.push(finished("clusters.jsonl", out)?);
    drop(to_root);

    write_documents(workspace, context, &header, &mut files, |document| {
        (
            representatives.0[document as usize],
            cluster[sets.find(document) as usize],
        )
    })?;
    files.push(write_rejects(workspace, &mut stats)?);
    workspace.manifest.set(ResultsEntry {
        digest,
        files,
        stats,
    });
    workspace.commit(&[])
}

/// Marks a document that is in no cluster.
const NO_CLUSTER: u32 = u32::MAX;

/// A document beside the root of its cluster.
struct Alike {
    document: u32,
    /// What the measure is told by.
    amount: u32,
    root: u32,
    own: u32,
}

/// Memory for so many documents, `linked` of which have a pair with the root of their cluster:
/// sets, representatives and clusters of the documents, and those that are linked.
fn bytes(documents: u64, linked: u64) -> u64 {
    documents * 3 * size_of::<u32>() as u64 + linked * size_of::<Alike>() as u64
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

impl StageRecord for ResultsEntry {
    const NAME: &'static str = "results";

    fn files(&self) -> &[ResultFile] {
        &self.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link took 24 bytes where 16 were counted, and a list that grows up to twice as many.
    #[test]
    fn memory_is_counted_as_it_is_taken() {
        assert_eq!(size_of::<Alike>(), 16);
        assert_eq!(bytes(1000, 600), 1000 * 12 + 600 * 16);
    }
}
