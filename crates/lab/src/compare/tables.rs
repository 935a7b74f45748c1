//! A comparison as CSV files.

use std::fmt::Write;

use super::{Comparison, QueryResults};

/// A file of a comparison.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// Its name.
    pub name: &'static str,
    /// Its content.
    pub text: String,
}

/// A cell of a CSV file.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.into()
}

/// The whole comparison as CSV files, each with a header line.
pub fn files(comparison: &Comparison) -> Vec<TableFile> {
    let mut files = vec![
        TableFile {
            name: "methods.csv",
            text: methods(comparison),
        },
        TableFile {
            name: "agreement.csv",
            text: agreement(comparison),
        },
    ];
    if let Some(results) = &comparison.queries {
        files.push(TableFile {
            name: "queries.csv",
            text: queries(results),
        });
    }
    if let Some(families) = &comparison.families {
        let mut rows = String::from("original,method,documents,found,clusters,false_positives\n");
        let mut curves = String::from("method,edits,copies,mean_similarity,least_similarity\n");
        let mut distributions = String::from("method,similarity,share_of_pairs_at_most\n");
        for row in &families.rows {
            for (n, method) in comparison.methods.iter().enumerate() {
                let (original, method) = (cell(&row.original), cell(&method.method));
                let (found, clusters) = (row.found[n], row.clusters[n]);
                let (documents, wrong) = (row.documents, row.false_positives[n]);
                let _ = writeln!(
                    rows,
                    "{original},{method},{documents},{found},{clusters},{wrong}"
                );
            }
        }
        for curve in &families.curves {
            for (edits, copies, mean, least) in &curve.points {
                let method = cell(&curve.method);
                let _ = writeln!(curves, "{method},{edits},{copies},{mean:.6},{least:.6}");
            }
        }
        for distribution in &families.distributions {
            let method = cell(&distribution.method);
            let dissimilar = distribution.pairs - distribution.similar.len() as u64;
            let whole = distribution.pairs.max(1) as f64;
            let at_most = |n: u64| n as f64 / whole;
            let _ = writeln!(
                distributions,
                "{method},0.000000,{:.6}",
                at_most(dissimilar)
            );
            for (n, similarity) in distribution.similar.iter().enumerate() {
                let share = at_most(dissimilar + n as u64 + 1);
                let _ = writeln!(distributions, "{method},{similarity:.6},{share:.6}");
            }
        }
        for (name, text) in [
            ("families.csv", rows),
            ("similarity-by-edits.csv", curves),
            ("similarity-of-distinct.csv", distributions),
        ] {
            files.push(TableFile { name, text });
        }
    }
    files
}

fn methods(comparison: &Comparison) -> String {
    let mut out = String::from(
        "method,truth,true_pairs,found,precision,recall,utility,ignored,keys,pairs,found_alone,clusters,\
         exact_only,documents_in_clusters,largest,sets,wall_seconds,cpu_seconds,peak_bytes,disk_bytes\n",
    );
    for (n, row) in comparison.methods.iter().enumerate() {
        let rest = format!(
            "{},{},{},{},{},{},{},{},{},{:.3},{:.3},{},{}",
            row.ignored,
            row.keys,
            row.pairs,
            comparison.agreement.alone[n],
            row.clusters,
            row.exact_only,
            row.documents,
            row.largest,
            row.sets.map_or(String::new(), |sets| sets.to_string()),
            row.wall_seconds,
            row.cpu_seconds,
            row.peak_bytes,
            row.disk_bytes
        );
        let method = cell(&row.method);
        if row.against.is_empty() {
            let _ = writeln!(out, "{method},,,,,,,{rest}");
        }
        for against in &row.against {
            let _ = writeln!(
                out,
                "{method},{},{},{},{},{},{},{rest}",
                cell(&against.truth),
                against.true_pairs,
                against.found,
                number(against.precision),
                number(against.recall),
                against.utility
            );
        }
    }
    out
}

/// A share with six decimals; empty if it is undefined.
fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.6}"))
}

fn queries(results: &QueryResults) -> String {
    let mut out = String::from(
        "method,truth,queries,with_neighbours,recall,increase,precision,utility,wrong,clusters,pure,\
         labelled_clusters,pure_by_label\n",
    );
    for row in &results.rows {
        let (method, truth) = (cell(&row.method), cell(&row.truth));
        let shares = [row.recall, row.increase, row.precision, row.utility].map(number);
        let _ = writeln!(
            out,
            "{method},{truth},{},{},{},{},{},{},{},{}",
            results.queries,
            row.with_neighbours,
            shares.join(","),
            row.wrong,
            row.clusters,
            row.pure,
            row.labelled,
            row.pure_by_label
        );
    }
    out
}

fn agreement(comparison: &Comparison) -> String {
    let mut out = String::from("method,other,pairs_of_both\n");
    for (a, row) in comparison.agreement.both.iter().enumerate() {
        for (b, both) in row.iter().enumerate() {
            let (a, b) = (&comparison.methods[a].method, &comparison.methods[b].method);
            let _ = writeln!(out, "{},{},{both}", cell(a), cell(b));
        }
    }
    out
}
