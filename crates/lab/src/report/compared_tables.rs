//! A comparison as comma-separated tables.

use super::csv::{AsField, Csv, fields};
use crate::compare::{AgainstTruth, Comparison, Families, QueryResults};

/// Columns of the results and costs of a method.
const FOUND: &str = "ignored,keys,pairs,found_alone,clusters,exact_only,documents_in_clusters,\
                     largest,sets,wall_seconds,cpu_seconds,peak_bytes,disk_bytes";

/// The results and costs of method number `n`.
fn found(comparison: &Comparison, n: usize) -> Vec<String> {
    let (row, alone) = (&comparison.methods[n], comparison.agreement.alone[n]);
    let mut cells = fields![row.ignored, row.keys, row.pairs, alone, row.clusters];
    cells.extend(fields![
        row.exact_only,
        row.documents,
        row.largest,
        row.sets
    ]);
    cells.extend([row.wall_seconds, row.cpu_seconds].map(|s| format!("{s:.3}")));
    cells.extend(fields![row.peak_bytes, row.disk_bytes]);
    cells
}

/// What a method found of a truth.
fn of_truth(against: &AgainstTruth) -> Vec<String> {
    let (truth, counts) = (&against.truth, [against.true_pairs, against.found]);
    let (shares, utility) = ([against.precision, against.recall], against.utility);
    fields![*truth, counts[0], counts[1], shares[0], shares[1], utility]
}

/// The name and the content of every table of the whole comparison.
#[must_use]
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
#[must_use]
pub fn methods(comparison: &Comparison) -> String {
    let families = &comparison.families;
    let more = match families {
        Some(_) => ",family_documents,family_found,family_clusters,family_false_positives",
        None => "",
    };
    let columns = "method,truth,true_pairs,found,precision,recall,utility,";
    let mut table = Csv::new(&format!("{columns}{FOUND}{more}"));
    for (n, row) in comparison.methods.iter().enumerate() {
        let of_families = families.iter().flat_map(|of| of.sums(n).map(|n| n.field()));
        let of_families: Vec<String> = of_families.collect();
        let mut line = |against: Vec<String>| {
            let cells = std::iter::once(row.method.clone()).chain(against);
            table.line(cells.chain(found(comparison, n)).chain(of_families.clone()));
        };
        if row.against.is_empty() {
            line(vec![String::new(); 6]);
        }
        row.against.iter().map(of_truth).for_each(line);
    }
    table.finish()
}

fn agreement(comparison: &Comparison) -> String {
    let mut table = Csv::new("method,other,pairs_of_both");
    for (row, of) in comparison.agreement.both.iter().zip(&comparison.methods) {
        for (both, other) in row.iter().zip(&comparison.methods) {
            table.line(fields![of.method, other.method, *both]);
        }
    }
    table.finish()
}

fn queries(results: &QueryResults) -> String {
    let mut table = Csv::new(
        "method,truth,queries,with_neighbours,recall,increase,precision,utility,wrong,clusters,pure,\
         labelled_clusters,pure_by_label",
    );
    for row in &results.rows {
        let mut line = fields![row.method, row.truth, results.queries, row.with_neighbours];
        line.extend(fields![
            row.recall,
            row.increase,
            row.precision,
            row.utility
        ]);
        line.extend(fields![row.wrong, row.clusters, row.pure]);
        line.extend(fields![row.labelled, row.pure_by_label]);
        table.line(line);
    }
    table.finish()
}

fn originals(comparison: &Comparison, families: &Families) -> String {
    let mut table = Csv::new("original,method,documents,found,clusters,false_positives");
    for row in &families.rows {
        let counts = row
            .found
            .iter()
            .zip(&row.clusters)
            .zip(&row.false_positives);
        for (method, ((found, clusters), wrong)) in comparison.methods.iter().zip(counts) {
            let mut line = fields![row.original, method.method, row.documents];
            line.extend(fields![*found, *clusters, *wrong]);
            table.line(line);
        }
    }
    table.finish()
}

fn curves(families: &Families) -> String {
    let mut table = Csv::new("method,edits,copies,mean_similarity,least_similarity");
    for curve in &families.curves {
        for &(edits, copies, mean, least) in &curve.points {
            table.line(fields![curve.method, edits, copies, mean, least]);
        }
    }
    table.finish()
}

fn distributions(families: &Families) -> String {
    let mut table = Csv::new("method,similarity,share_of_pairs_at_most");
    for of in &families.distributions {
        let similarities = std::iter::once(0.0).chain(of.similar.iter().copied());
        let at_most = of.pairs - of.similar.len() as u64..;
        for (similarity, n) in similarities.zip(at_most) {
            let share = n as f64 / of.pairs.max(1) as f64;
            table.line(fields![of.method, similarity, share]);
        }
    }
    table.finish()
}
