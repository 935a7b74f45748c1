//! A comparison as comma-separated tables.

use super::csv::csv;
use crate::compare::{Comparison, Families, QueryResults};
use crate::reproduce::rows;

/// The name and the content of every table of the whole comparison.
pub fn compared_files(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let mut files = vec![
        ("methods.csv", methods(comparison)),
        ("agreement.csv", agreement(comparison)),
    ];
    if let Some(results) = &comparison.queries {
        files.push(("queries.csv", queries(results)));
    }
    if let Some(families) = &comparison.families {
        files.push(("families.csv", originals(comparison, families)));
        files.push(("similarity-by-edits.csv", curves(families)));
        files.push(("similarity-of-distinct.csv", distributions(families)));
    }
    files
}

/// The comparison as CSV: a line for each method and ground truth, with all numbers of the method.
pub fn methods(comparison: &Comparison) -> String {
    let families = &comparison.families;
    let more = match families {
        Some(_) => ",family_documents,family_found,family_clusters,family_false_positives",
        None => "",
    };
    let columns = "method,truth,true_pairs,found,precision,recall,utility,ignored,keys,pairs,found_alone,clusters,\
                   exact_only,documents_in_clusters,largest,sets,wall_seconds,cpu_seconds,peak_bytes,disk_bytes";
    let each = comparison.methods.iter().enumerate();
    let lines = each.flat_map(|(n, row)| {
        let without = row.against.is_empty().then_some(None);
        let against = row.against.iter().map(Some).chain(without);
        against.map(move |against| (n, row, against))
    });
    let seconds = |of: f64| format!("{of:.3}");
    let rows = rows!((n, row, of) in lines =>
        row.method.as_str(), of.map(|of| of.truth.as_str()), of.map(|of| of.true_pairs), of.map(|of| of.found),
        of.and_then(|of| of.precision), of.and_then(|of| of.recall), of.map(|of| of.utility.to_string()),
        row.ignored, row.keys, row.pairs, comparison.agreement.alone[n], row.clusters, row.exact_only, row.documents,
        row.largest, row.sets, seconds(row.wall_seconds), seconds(row.cpu_seconds), row.peak_bytes, row.disk_bytes;
        families.iter().flat_map(|of| of.sums(n)));
    csv(&format!("{columns}{more}"), rows)
}

fn agreement(comparison: &Comparison) -> String {
    let each = comparison.agreement.both.iter().zip(&comparison.methods);
    let lines = each.flat_map(|(row, of)| {
        let others = row.iter().zip(&comparison.methods);
        others.map(move |(both, other)| (of, other, *both))
    });
    let rows = rows!((of, other, both) in lines => of.method.as_str(), other.method.as_str(), both);
    csv("method,other,pairs_of_both", rows)
}

fn queries(results: &QueryResults) -> String {
    let columns = "method,truth,queries,with_neighbours,recall,increase,precision,utility,wrong,clusters,pure,\
                   labelled_clusters,pure_by_label";
    let rows = rows!(row in &results.rows =>
        row.method.as_str(), row.truth.as_str(), results.queries, row.with_neighbours, row.recall, row.increase,
        row.precision, row.utility, row.wrong, row.clusters, row.pure, row.labelled, row.pure_by_label);
    csv(columns, rows)
}

/// Each original with each method.
fn originals(comparison: &Comparison, families: &Families) -> String {
    let lines = families.rows.iter().flat_map(|row| {
        let methods = comparison.methods.iter().enumerate();
        methods.map(move |(n, method)| (row, n, method))
    });
    let of = |counts: &[u64], n: usize| counts.get(n).copied();
    let rows = rows!((row, n, method) in lines =>
        row.original.as_str(), method.method.as_str(), row.documents, of(&row.found, n), of(&row.clusters, n),
        of(&row.false_positives, n));
    let columns = "original,method,documents,found,clusters,false_positives";
    csv(columns, rows)
}

fn curves(families: &Families) -> String {
    let curves = families.curves.iter();
    let points = curves.flat_map(|of| of.points.iter().map(|point| (&*of.method, *point)));
    let rows = rows!((method, (edits, copies, mean, least)) in points =>
        method, edits, copies, mean, least);
    csv("method,edits,copies,mean_similarity,least_similarity", rows)
}

/// The share of pairs of originals that have at most each similarity.
fn distributions(families: &Families) -> String {
    let lines = families.distributions.iter().flat_map(|of| {
        let similarities = std::iter::once(0.0).chain(of.similar.iter().copied());
        let at_most = of.pairs - of.similar.len() as u64..;
        let shares = at_most.map(|n| n as f64 / of.pairs.max(1) as f64);
        similarities.zip(shares).map(|both| (&*of.method, both))
    });
    let rows = rows!((method, (similarity, share)) in lines => method, similarity, share);
    csv("method,similarity,share_of_pairs_at_most", rows)
}
