//! Compares methods: what each finds in one collection, and how their results overlap.
//!
//! # Source
//! The columns follow the papers: documents ignored, clusters (Chowdhury et al. 2002, Tables V, IX,
//! XI), found ratio and clusters of each perturbed original (Tables III and IV), recall, precision
//! and utility against a ground truth (Kolcz & Chowdhury 2008, equations 3 to 5, over all pairs, and
//! with queries as means over them), pairs found by all methods and by only one (Cherkasova et al.
//! 2009, Table 2), similarity against edits and its distribution over distinct documents (Figures 2
//! to 8).
//!
//! # In and out
//! In: a collection, and the directories of its methods ([`lookalike_methods`]), each with its
//! pairs. Out: a [`Comparison`].
//!
//! # Algorithm
//! Every pair list is sorted by document numbers, which are the same for all methods. One merge of
//! all lists counts, for every two methods, the pairs that both have. Everything else follows from
//! these counts.
//!
//! # Invariants
//! - Pairs are of representatives: every method finds exact duplicates, so they would show nothing.
//! - Counts add up: the pairs found by exactly k methods, summed over k, are all pairs found.
//!
//! # Cost
//! Pairs are streamed. Memory: 4 bytes per document for the clusters of one method at a time; with
//! edits, the docnos of the edited copies and their originals as well.
//!
//! # Errors
//! `StageMissing` if a method was not run; `BadParameter`; `BudgetTooSmall`; `Corrupt`; `Io`.

mod families;
mod levels;
mod queries;
mod verdict;

use lookalike_base::{
    Context, Error, PROCESS_BYTES, Result, Unit, counted, precision::share, refuse,
};
use lookalike_engine::cluster::ResultsEntry;
use lookalike_engine::collection::Catalogue;
use lookalike_engine::join::{Pair, open_pairs};
use lookalike_engine::pipeline::Summary;
use lookalike_methods::{self as methods, Spec};
use lookalike_store::{Cost, Kind, Workspace};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use families::{Curve, Distribution, Families, FamilyRow, each_copy};
pub use levels::{AtLevel, Levels, at_levels};
pub use queries::{Labels, QueryResults, QueryRow, Sample, increases, of_method};
pub use verdict::{CLOSE, Standing, Verdict, f1, verdicts};

const STAGE: &str = "compare";
/// Bytes for reading one pair list.
const LIST_BYTES: u64 = 1 << 20;
/// Limit on the number of methods.
pub(crate) const MOST_METHODS: usize = 64;

/// Default cost of a false pair in the utility, in true pairs (Kolcz & Chowdhury 2008).
pub(crate) const COST: u64 = 100;

/// The parameters of a comparison: the options of the command.
#[derive(Clone, Debug, clap::Args)]
pub struct CompareConfig {
    /// Method to run (repeatable): NAME[:PARAMETER=VALUE,...] [default: all]
    ///
    /// Parameters that are not given have the values of the method's paper.
    ///
    /// Example: --method super-shingles:k=4 --method minhash
    #[arg(long = "method", value_name = "SPEC")]
    pub methods: Vec<Spec>,
    /// Method whose pairs are the ground truth (repeatable)
    ///
    /// It is also run. The default is shingles and cosine.
    ///
    /// Example: --method minhash --truth shingles
    #[arg(long = "truth", value_name = "SPEC")]
    pub truths: Vec<Spec>,
    /// Edit list (edits.jsonl) of `lookalike lab perturb`
    ///
    /// For a collection of a corpus that `lookalike lab perturb` made. Adds tables of how many of the
    /// edited copies each method finds.
    #[arg(long, value_name = "FILE")]
    pub edits: Option<PathBuf>,
    /// Print means over queries: N documents, all, or a file of docnos
    ///
    /// The file has a docno on each line.
    ///
    /// A query is a document of the collection (Kolcz & Chowdhury 2008, equations 3 to 5). Recall and
    /// precision are means over the queries for which the ground truth finds another document,
    /// utility is one over all queries. The table also has the share of pure clusters: those in
    /// which all pairs found are true.
    ///
    /// Example: --method minhash --queries 100
    #[arg(long, value_name = "SAMPLE")]
    pub queries: Option<Sample>,
    /// Method that the increase of recall over queries is relative to
    ///
    /// It is also run.
    ///
    /// Example: --queries all --method minhash --baseline mod
    #[arg(long, value_name = "SPEC", requires = "queries")]
    pub baseline: Option<Spec>,
    /// A label for each document, such as "spam" or "legitimate"
    ///
    /// As for `lookalike evaluate --families`: lines of DOCNO LABEL. With labels, the utility of a
    /// query counts documents of its label, and a cost for each document of another label.
    #[arg(long, value_name = "FILE", requires = "queries")]
    pub labels: Option<PathBuf>,
    /// Seed of the random choice of queries
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "queries",
        hide_short_help = true
    )]
    pub query_seed: u64,
    /// Cost of a false pair in the utility, in true pairs
    ///
    /// Example: --method minhash --cost 10
    #[arg(long, value_name = "N", default_value_t = COST, hide_short_help = true)]
    pub cost: u64,
}

impl Default for CompareConfig {
    fn default() -> Self {
        CompareConfig {
            methods: Vec::new(),
            truths: Vec::new(),
            edits: None,
            queries: None,
            baseline: None,
            labels: None,
            query_seed: 0,
            cost: COST,
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Documents of the collection.
    pub documents: u64,
    /// Documents that are not exact duplicates of earlier ones.
    pub representatives: u64,
    /// One row per method.
    pub methods: Vec<MethodRow>,
    /// Pairs found by several methods.
    pub agreement: Agreement,
    /// Results for the edited copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub families: Option<Families>,
    /// Averages over queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<QueryResults>,
}

/// The results of a method, and their cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MethodRow {
    /// Its specification.
    pub method: String,
    /// Representatives without features.
    pub ignored: u64,
    /// Features, over all documents.
    pub keys: u64,
    /// Pairs of representatives.
    pub pairs: u64,
    /// Clusters of two or more documents, including clusters of exact duplicates only.
    pub clusters: u64,
    /// Clusters of exact duplicates only.
    pub exact_only: u64,
    /// Documents in clusters.
    pub documents: u64,
    /// Documents in the largest cluster.
    pub largest: u64,
    /// Shared features: sets of duplicates, for a method in which one feature stands for a set.
    /// `None` if a join sorted only the features that it needs.
    pub sets: Option<u64>,
    /// The comparison with each ground truth.
    pub against: Vec<AgainstTruth>,
    /// Seconds of wall time, over all stages.
    pub wall_seconds: f64,
    /// Seconds of CPU time.
    pub cpu_seconds: f64,
    /// Peak resident memory of the process that ran the method.
    pub peak_bytes: u64,
    /// Bytes of features, postings and pairs on disk.
    pub disk_bytes: u64,
}

/// A method's pairs compared with the pairs of a ground truth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgainstTruth {
    /// Specification of the method that is the ground truth.
    pub truth: String,
    /// Its pairs.
    pub true_pairs: u64,
    /// True pairs that the method found.
    pub found: u64,
    /// Share of the method's pairs that are true; `None` if it has none.
    pub precision: Option<f64>,
    /// Share of the true pairs that the method found; `None` if there are none.
    pub recall: Option<f64>,
    /// True pairs found minus the cost of the false ones (Kolcz & Chowdhury 2008, equation 5).
    pub utility: i128,
}

/// The overlap between the pairs of several methods.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Agreement {
    /// Pairs that at least one method found.
    pub any: u64,
    /// Pairs by the number of methods that found them: exactly one, exactly two ...
    pub by_methods: Vec<u64>,
    /// Pairs found only by each method.
    pub alone: Vec<u64>,
    /// For every two methods, the pairs that both found; on the diagonal, all pairs of a method.
    pub both: Vec<Vec<u64>>,
}

/// Compares methods that were run on a collection.
pub fn run(base: &Workspace, config: &CompareConfig, context: &Context<'_>) -> Result<Comparison> {
    let count = config.methods.len();
    if count == 0 || count > MOST_METHODS {
        return refuse("methods", count, format!("1 to {MOST_METHODS}"));
    }
    let names: Vec<String> = config.methods.iter().map(Spec::to_string).collect();
    for (n, name) in names.iter().enumerate() {
        if names[..n].contains(name) {
            return refuse("methods", name, "each once");
        }
    }
    let mut truths = Vec::new();
    for truth in &config.truths {
        let name = truth.to_string();
        match names.iter().position(|other| *other == name) {
            Some(at) => truths.push(at),
            None => return refuse("truth", name, "one of the methods"),
        }
    }
    if let Some(name) = config.baseline.as_ref().map(ToString::to_string)
        && !names.contains(&name)
    {
        return refuse("baseline", name, "one of the methods");
    }
    let stats = Catalogue::stats(base)?;
    let least = PROCESS_BYTES + count as u64 * LIST_BYTES;
    let what = || format!("comparing {}", counted(count as u64, "method"));
    context.budget.require(least, what)?;
    let open = |spec: &Spec| {
        let workspace = methods::open(base, spec)?;
        let known = workspace
            .manifest
            .has::<ResultsEntry>()
            .then_some(workspace);
        known.ok_or_else(|| Error::no_stage(methods::directory(base, spec), "method"))
    };
    let workspaces = (config.methods.iter().map(open)).collect::<Result<Vec<_>>>()?;
    let agreement = agree(&workspaces, |_, _| true, context)?;
    let mut rows = Vec::with_capacity(count);
    for (n, workspace) in workspaces.iter().enumerate() {
        let against = truths.iter().map(|&t| {
            let both = &agreement.both;
            against(&names[t], both[n][n], both[t][t], both[n][t], config.cost)
        });
        rows.push(row(workspace, names[n].clone(), against.collect()));
    }
    let run = |edits| families::run(base, &workspaces, config, edits, context);
    let families = config.edits.as_deref().map(run).transpose()?;
    let queries = config.queries.as_ref().map(|sample| {
        let named: Vec<(String, Workspace)> = names.into_iter().zip(workspaces).collect();
        queries::run(base, &named, &truths, (sample, config), context)
    });
    Ok(Comparison {
        documents: stats.documents,
        representatives: stats.representatives,
        methods: rows,
        agreement,
        families,
        queries: queries.transpose()?,
    })
}

fn against(truth: &str, pairs: u64, true_pairs: u64, found: u64, cost: u64) -> AgainstTruth {
    AgainstTruth {
        truth: truth.into(),
        true_pairs,
        found,
        precision: share(found, pairs),
        recall: share(found, true_pairs),
        utility: i128::from(found) - i128::from(cost) * i128::from(pairs - found),
    }
}

fn row(workspace: &Workspace, method: String, against: Vec<AgainstTruth>) -> MethodRow {
    let summary = Summary::of(&workspace.manifest);
    let clusters = summary.cluster.unwrap_or_default();
    let mut cost = Cost::default();
    summary.costs.values().for_each(|of| cost.add(of));
    let parts = workspace.manifest.parts().into_iter();
    let kinds = [Kind::Fingerprints, Kind::Postings, Kind::Pairs];
    MethodRow {
        method,
        // All empty documents but the first are its exact duplicates.
        ignored: summary.ingest.short + summary.ingest.empty.min(1),
        keys: summary.ingest.stored,
        pairs: summary.join.map_or(0, |join| join.pairs),
        clusters: clusters.clusters,
        exact_only: clusters.exact_only,
        documents: clusters.documents,
        largest: clusters.largest,
        sets: (summary.merge)
            .filter(|_| summary.selected.is_none())
            .map(|merge| merge.lists),
        against,
        wall_seconds: cost.wall_seconds,
        cpu_seconds: cost.cpu_seconds,
        peak_bytes: cost.peak_bytes,
        disk_bytes: parts
            .filter(|(_, kind, _)| kinds.contains(kind))
            .map(|(.., part)| part.bytes)
            .sum(),
    }
}

/// Merges all pair lists and counts which methods have each pair. `keep` chooses the pairs of a
/// method that count; it does not know their S4.
pub(crate) fn agree(
    workspaces: &[Workspace],
    keep: impl Fn(usize, Pair) -> bool,
    context: &Context<'_>,
) -> Result<Agreement> {
    let count = workspaces.len();
    let mut agreement = Agreement {
        any: 0,
        by_methods: vec![0; count],
        alone: vec![0; count],
        both: vec![vec![0; count]; count],
    };
    let all: Vec<&Workspace> = workspaces.iter().collect();
    merged(&all, keep, context, |_, having| {
        agreement.any += 1;
        agreement.by_methods[having.len() - 1] += 1;
        if let [one] = having[..] {
            agreement.alone[one] += 1;
        }
        for &a in having {
            for &b in having {
                agreement.both[a][b] += 1;
            }
        }
    })?;
    Ok(agreement)
}

/// Merges pair lists. Calls `each` with every pair that one of them has and `keep` keeps, in order,
/// and with the numbers of these lists.
fn merged(
    workspaces: &[&Workspace],
    keep: impl Fn(usize, Pair) -> bool,
    context: &Context<'_>,
    mut each: impl FnMut(u64, &[usize]),
) -> Result<()> {
    let files = workspaces
        .iter()
        .map(|workspace| open_pairs(workspace))
        .collect::<Result<Vec<_>>>()?;
    let total = files.iter().map(|file| file.records()).sum();
    context.start(STAGE, Unit::Count("pairs"), Some(total));
    let mut cursors = files
        .iter()
        .map(|file| file.range(0, u64::MAX))
        .collect::<Result<Vec<_>>>()?;
    let mut having: Vec<usize> = Vec::with_capacity(files.len());
    let (mut read, mut pairs) = (0u64, 0u64);
    while let Some(least) = cursors.iter().filter_map(|c| Some(c.head()?.key)).min() {
        having.clear();
        let (a, b) = Pair::of_key(least);
        for (n, cursor) in cursors.iter_mut().enumerate() {
            if let Some(record) = cursor.head().filter(|record| record.key == least) {
                let (shared, score) = (record.value, 0);
                let pair = Pair {
                    a,
                    b,
                    shared,
                    score,
                };
                if keep(n, pair) {
                    having.push(n);
                }
                cursor.advance()?;
                read += 1;
            }
        }
        if !having.is_empty() {
            each(least, &having);
        }
        pairs += 1;
        if pairs.is_multiple_of(1 << 14) {
            context.stop.check(STAGE)?;
            context.progress.at(read);
        }
    }
    Ok(())
}
