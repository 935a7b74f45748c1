//! The same documents in four formats are the same documents: the same pairs, clusters, exact
//! duplicates, and sizes.

use crate::common;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

use common::{Run, rows_of, sample_corpora};

/// A docno as the other formats have it: a file's is its name.
fn plain(docno: &str) -> &str {
    docno.strip_suffix(".html").unwrap_or(docno)
}

/// Rows of a table, with the docnos in their first `docnos` columns as the other formats have them,
/// and only the columns `keep`.
fn table(out: &std::path::Path, name: &str, docnos: usize, keep: &[usize]) -> Vec<String> {
    let rows = rows_of(out, name).into_iter().map(|row| {
        let cells = row.split('\t').enumerate();
        let cells = cells.map(|(i, cell)| if i < docnos { plain(cell) } else { cell });
        let cells: Vec<&str> = cells.collect();
        keep.iter()
            .map(|&i| cells[i])
            .collect::<Vec<_>>()
            .join("\t")
    });
    rows.collect()
}

#[test]
fn four_formats_give_the_same_answer() {
    let index: toml::Table = fs::read_to_string(sample_corpora("index.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let corpora = index["same-documents"].as_table().unwrap();
    assert_eq!(corpora.len(), 4);
    for threshold in ["0.3", "0.85"] {
        let mut answers = BTreeMap::new();
        for (format, path) in corpora {
            let directory = common::temporary();
            let out = directory.path();
            let input = sample_corpora(path.as_str().unwrap());
            let run = Run::default().threshold(threshold).max_document(8 << 20);
            run.run(&[&input], out).unwrap();
            let pairs = table(out, "pairs.tsv", 2, &[0, 1, 2, 3, 4, 5]);
            let exact = table(out, "exact-duplicates.tsv", 2, &[0, 1, 2]);
            // Not every format has addresses.
            let documents = table(out, "documents.tsv", 1, &[0, 2, 3, 4, 5]);
            let clusters = fs::read_to_string(out.join("clusters.jsonl")).unwrap();
            let clusters = clusters.replace(".html\"", "\"");
            let clusters = clusters.lines().map(|line| {
                let mut cluster: Value = serde_json::from_str(line).unwrap();
                for member in cluster["members"].as_array_mut().unwrap() {
                    let member = member.as_object_mut().unwrap();
                    member.retain(|name, _| name != "url" && name != "date");
                }
                cluster
            });
            let clusters: Vec<Value> = clusters.collect();
            assert!(pairs.len() >= 20 && exact.len() == 18 && documents.len() == 95);
            answers.insert(format, (pairs, exact, documents, clusters));
        }
        let first = &answers[&"files".to_string()];
        for (format, answer) in &answers {
            assert_eq!(answer, first, "{format} and files, at {threshold}");
        }
    }
}
