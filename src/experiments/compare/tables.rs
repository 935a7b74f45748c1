//! A comparison as tables: for the terminal, and as files.

use std::fmt::Write;

use super::Comparison;
use crate::budget::ByteSize;
use crate::numbers::{self, counted, fraction};

/// A file of a comparison.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// Its name.
    pub name: &'static str,
    /// Its content.
    pub text: String,
}

fn share(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| fraction(value, 4))
}

/// Rows of cells. Each column is as wide as its widest cell; the first is aligned left, the others
/// right.
fn aligned(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if n == 0 {
                let _ = write!(line, "{cell:<width$}");
            } else {
                let _ = write!(line, "  {cell:>width$}");
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// The tables for the terminal.
#[must_use]
pub fn table(comparison: &Comparison) -> String {
    let mut out = String::new();
    let (documents, representatives) = (comparison.documents, comparison.representatives);
    let _ = writeln!(
        out,
        "{}, {representatives} of them representatives\n",
        counted(documents, "document")
    );
    let mut head: Vec<String> = [
        "method",
        "ignored",
        "keys/doc",
        "pairs",
        "clusters",
        "in them",
        "largest",
        "only here",
    ]
    .map(String::from)
    .to_vec();
    if let Some(first) = comparison.methods.first() {
        for against in &first.against {
            head.push(format!("P {}", against.truth));
            head.push(format!("R {}", against.truth));
        }
    }
    head.extend(["CPU s", "wall s", "peak", "disk"].map(String::from));
    let mut rows = vec![head];
    for (n, method) in comparison.methods.iter().enumerate() {
        let per = method.keys as f64 / (representatives.max(1)) as f64;
        let mut row = vec![
            method.method.clone(),
            method.ignored.to_string(),
            format!("{per:.1}"),
            method.pairs.to_string(),
            method.clusters.to_string(),
            method.documents.to_string(),
            method.largest.to_string(),
            comparison.agreement.alone[n].to_string(),
        ];
        for against in &method.against {
            row.push(share(against.precision));
            row.push(share(against.recall));
        }
        row.push(format!("{:.1}", method.cpu_seconds));
        row.push(format!("{:.1}", method.wall_seconds));
        row.push(ByteSize(method.peak_bytes).to_string());
        row.push(ByteSize(method.disk_bytes).to_string());
        rows.push(row);
    }
    aligned(&mut out, &rows);
    let agreement = &comparison.agreement;
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let _ = writeln!(
        out,
        "\n{} found by any method, {all} by all",
        counted(agreement.any, "pair")
    );
    if let Some(families) = &comparison.families {
        let _ = writeln!(
            out,
            "\n{} of {} ({} of the edit list not in the collection)\n",
            counted(families.copies, "copy"),
            counted(families.originals, "original"),
            counted(families.unknown, "docno")
        );
        let mut rows = vec![
            ["method", "found ratio", "clusters of an original"]
                .map(String::from)
                .to_vec(),
        ];
        let members: u64 = families.rows.iter().map(|row| row.documents).sum();
        for (n, method) in comparison.methods.iter().enumerate() {
            let found: u64 = families.rows.iter().map(|row| row.found[n]).sum();
            let clusters: u64 = families.rows.iter().map(|row| row.clusters[n]).sum();
            rows.push(vec![
                method.method.clone(),
                numbers::share(found, members).unwrap_or_else(|| "-".into()),
                format!("{:.1}", clusters as f64 / families.originals.max(1) as f64),
            ]);
        }
        aligned(&mut out, &rows);
    }
    out
}

/// A cell of a CSV file.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.into()
}

/// The whole comparison as CSV files, each with a header line.
#[must_use]
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
    if let Some(families) = &comparison.families {
        let mut rows = String::from("original,method,documents,found,clusters\n");
        let mut curves = String::from("method,edits,copies,mean_similarity,least_similarity\n");
        let mut distributions = String::from("method,similarity,share_of_pairs_at_most\n");
        for row in &families.rows {
            for (n, method) in comparison.methods.iter().enumerate() {
                let (original, method) = (cell(&row.original), cell(&method.method));
                let (found, clusters) = (row.found[n], row.clusters[n]);
                let documents = row.documents;
                let _ = writeln!(rows, "{original},{method},{documents},{found},{clusters}");
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
            row.sets,
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
            let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.6}"));
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
