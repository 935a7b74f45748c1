//! Methods side by side: what each finds of one collection, and of what the others find.
//!
//! # Source
//! The columns are those of the papers: documents ignored, clusters (Chowdhury et al. 2002, Tables V, IX, XI),
//! found ratio and clusters of each perturbed original (Tables III and IV), recall, precision and utility against
//! a truth (Kolcz & Chowdhury 2008, equations 3 to 5, over all pairs in place of a query's), pairs found by all
//! methods and by each alone (Cherkasova et al. 2009, Table 2), similarity against edits and its distribution
//! over distinct documents (Figures 2 to 8).
//!
//! # In and out
//! In: a collection, and the directories of its methods ([`crate::methods`]), each with its pairs. Out: a
//! [`Comparison`].
//!
//! # Algorithm
//! Every pair list is in the order of the documents' numbers, which all methods share: one merge of all lists
//! counts for every two methods the pairs that both have, and everything else follows from these counts.
//!
//! # Invariants
//! - Pairs are of representatives: exact duplicates are found by every method and tell nothing.
//! - Counts add up: the pairs found by exactly k methods, summed over k, are all that any found.
//!
//! # Cost
//! Pairs are streamed. Memory: four bytes a document for the clusters of one method at a time; with edits, the
//! docnos of these.
//!
//! # Errors
//! `StageMissing` where a method was not run; `BadParameter`; `BudgetTooSmall`; `Corrupt`; `Io`.

mod families;
mod tables;

use crate::budget::ByteSize;
use crate::cluster::ResultsEntry;
use crate::collection::Catalogue;
use crate::join::open_pairs;
use crate::methods::{self, Spec};
use crate::numbers::counted;
use crate::pipeline::Summary;
use crate::progress::{Context, Unit};
use crate::store::Kind;
use crate::workspace::Workspace;
use crate::{Error, Result};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use families::{Curve, Distribution, Families, FamilyRow};
pub use tables::{TableFile, files, table};

const STAGE: &str = "compare";
/// Bytes that a pair list being read takes.
const LIST_BYTES: u64 = 1 << 20;
/// Methods side by side at most.
pub const MOST_METHODS: usize = 64;

/// What a false pair costs in the utility, in true pairs, by default (Kolcz & Chowdhury 2008).
pub const COST: u64 = 100;

/// What is compared.
#[derive(Clone, Debug)]
pub struct CompareConfig {
    /// The methods, in the order of the tables.
    pub methods: Vec<Spec>,
    /// Those of them that the others are held against.
    pub truths: Vec<Spec>,
    /// The edit list of `perturb`, if the collection is made of copies.
    pub edits: Option<PathBuf>,
    /// What a false pair costs in the utility, in true pairs ([`COST`]).
    pub cost: u64,
}

/// What was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Documents of the collection.
    pub documents: u64,
    /// Those that are no exact duplicates of earlier ones.
    pub representatives: u64,
    /// One row a method.
    pub methods: Vec<MethodRow>,
    /// What they have in common.
    pub agreement: Agreement,
    /// What they make of edited copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub families: Option<Families>,
}

/// What a method found, and what it cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MethodRow {
    /// Its specification.
    pub method: String,
    /// Representatives without a key.
    pub ignored: u64,
    /// Keys, over all documents.
    pub keys: u64,
    /// Pairs of representatives.
    pub pairs: u64,
    /// Clusters of two documents or more, those of exact duplicates alone included.
    pub clusters: u64,
    /// Clusters of exact duplicates alone.
    pub exact_only: u64,
    /// Documents in clusters.
    pub documents: u64,
    /// Documents of the largest.
    pub largest: u64,
    /// Shared keys: sets of duplicates, where a key stands for one.
    pub sets: u64,
    /// Against each truth.
    pub against: Vec<Against>,
    /// Seconds of wall time, over all stages.
    pub wall_seconds: f64,
    /// Seconds of CPU time.
    pub cpu_seconds: f64,
    /// Peak resident memory of the process that made it.
    pub peak_bytes: u64,
    /// Bytes of keys, postings and pairs on disk.
    pub disk_bytes: u64,
}

/// A method's pairs against those of a truth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Against {
    /// The truth's specification.
    pub truth: String,
    /// Its pairs.
    pub true_pairs: u64,
    /// Those of them that the method has.
    pub found: u64,
    /// Share of the method's pairs that are true; none where it has none.
    pub precision: Option<f64>,
    /// Share of the true pairs that the method has; none where there are none.
    pub recall: Option<f64>,
    /// True pairs less the cost of the wrong ones (Kolcz & Chowdhury 2008, equation 5).
    pub utility: i128,
}

/// Pairs that methods have in common.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Agreement {
    /// Pairs that any method has.
    pub any: u64,
    /// Pairs that exactly so many methods have: of one, of two ...
    pub by_methods: Vec<u64>,
    /// Pairs that each method alone has.
    pub alone: Vec<u64>,
    /// For every two methods, pairs that both have; a method's own with itself.
    pub both: Vec<Vec<u64>>,
}

/// Opens the directories of methods that were run.
fn opened(base: &Workspace, config: &CompareConfig) -> Result<Vec<Workspace>> {
    let mut workspaces = Vec::with_capacity(config.methods.len());
    for spec in &config.methods {
        let workspace = methods::open(base, spec)?;
        if !workspace.manifest.has::<ResultsEntry>() {
            return Err(Error::StageMissing {
                path: methods::directory(base, spec),
                stage: "method",
            });
        }
        workspaces.push(workspace);
    }
    Ok(workspaces)
}

/// Compares methods that were run on a collection.
pub fn run(base: &Workspace, config: &CompareConfig, context: &Context<'_>) -> Result<Comparison> {
    let refuse =
        |name, given: String, limit: String| Err(Error::BadParameter { name, given, limit });
    let count = config.methods.len();
    if count == 0 || count > MOST_METHODS {
        return refuse("methods", count.to_string(), format!("1 to {MOST_METHODS}"));
    }
    let names: Vec<String> = config.methods.iter().map(Spec::to_string).collect();
    for (n, name) in names.iter().enumerate() {
        if names[..n].contains(name) {
            return refuse("methods", name.clone(), "each once".into());
        }
    }
    let mut truths = Vec::new();
    for truth in &config.truths {
        let name = truth.to_string();
        match names.iter().position(|other| *other == name) {
            Some(at) => truths.push(at),
            None => return refuse("truth", name, "one of the methods".into()),
        }
    }
    let stats = Catalogue::stats(base)?;
    let least = ByteSize(crate::budget::PROCESS_BYTES + count as u64 * LIST_BYTES);
    let what = || format!("comparing {}", counted(count as u64, "method"));
    context.budget.require(least, what)?;
    let workspaces = opened(base, config)?;
    let agreement = agree(&workspaces, context)?;
    let mut rows = Vec::with_capacity(count);
    for (n, workspace) in workspaces.iter().enumerate() {
        let against = truths.iter().map(|&t| {
            let both = &agreement.both;
            against(&names[t], both[n][n], both[t][t], both[n][t], config.cost)
        });
        rows.push(row(workspace, names[n].clone(), against.collect()));
    }
    let families = match &config.edits {
        Some(edits) => Some(families::run(base, &workspaces, config, edits, context)?),
        None => None,
    };
    Ok(Comparison {
        documents: stats.documents,
        representatives: stats.representatives,
        methods: rows,
        agreement,
        families,
    })
}

fn against(truth: &str, pairs: u64, true_pairs: u64, found: u64, cost: u64) -> Against {
    let share = |whole: u64| (whole > 0).then(|| found as f64 / whole as f64);
    Against {
        truth: truth.into(),
        true_pairs,
        found,
        precision: share(pairs),
        recall: share(true_pairs),
        utility: i128::from(found) - i128::from(cost) * i128::from(pairs - found),
    }
}

fn row(workspace: &Workspace, method: String, against: Vec<Against>) -> MethodRow {
    let summary = Summary::of(&workspace.manifest);
    let clusters = summary.cluster.unwrap_or_default();
    let costs = || summary.costs.values();
    let parts = workspace.manifest.parts().into_iter();
    let kinds = [Kind::Fingerprints, Kind::Postings, Kind::Pairs];
    MethodRow {
        method,
        // Of the empty documents all but the first are its exact duplicates.
        ignored: summary.ingest.short + summary.ingest.empty.min(1),
        keys: summary.ingest.stored,
        pairs: summary.join.map_or(0, |join| join.pairs),
        clusters: clusters.clusters,
        exact_only: clusters.exact_only,
        documents: clusters.documents,
        largest: clusters.largest,
        sets: summary.merge.map_or(0, |merge| merge.lists),
        against,
        wall_seconds: costs().fold(0.0, |sum, cost| sum + cost.wall_seconds),
        cpu_seconds: costs().fold(0.0, |sum, cost| sum + cost.cpu_seconds),
        peak_bytes: costs().map(|cost| cost.peak_bytes).max().unwrap_or(0),
        disk_bytes: parts
            .filter(|(_, kind, _)| kinds.contains(kind))
            .map(|(.., part)| part.bytes)
            .sum(),
    }
}

/// Merges all pair lists and counts who has what.
fn agree(workspaces: &[Workspace], context: &Context<'_>) -> Result<Agreement> {
    let files = workspaces
        .iter()
        .map(open_pairs)
        .collect::<Result<Vec<_>>>()?;
    let total = files.iter().map(|file| file.records()).sum();
    context
        .progress
        .start(STAGE, Unit::Count("pairs"), Some(total));
    let mut cursors = files
        .iter()
        .map(|file| file.range(0, u64::MAX))
        .collect::<Result<Vec<_>>>()?;
    let count = files.len();
    let mut agreement = Agreement {
        any: 0,
        by_methods: vec![0; count],
        alone: vec![0; count],
        both: vec![vec![0; count]; count],
    };
    let mut having: Vec<usize> = Vec::with_capacity(count);
    let mut read = 0u64;
    while let Some(least) = cursors.iter().filter_map(|c| Some(c.head()?.key)).min() {
        having.clear();
        for (n, cursor) in cursors.iter_mut().enumerate() {
            if cursor.head().is_some_and(|record| record.key == least) {
                having.push(n);
                cursor.advance()?;
            }
        }
        agreement.any += 1;
        agreement.by_methods[having.len() - 1] += 1;
        if let [one] = having[..] {
            agreement.alone[one] += 1;
        }
        for &a in &having {
            for &b in &having {
                agreement.both[a][b] += 1;
            }
        }
        read += having.len() as u64;
        if agreement.any.is_multiple_of(1 << 14) {
            context.stop.check(STAGE)?;
            context.progress.at(read);
        }
    }
    Ok(agreement)
}
