//! Every document can be found in its input, whatever its name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{Run, rows_of};

/// The rows of a TSV file: the cells by the names of their columns.
fn table(out: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(out.join(name)).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with("# "));
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        let cells = names.iter().zip(cells);
        cells
            .map(|(name, cell)| (name.to_string(), cell.to_string()))
            .collect()
    };
    lines.map(row).collect()
}

/// Text number `n`, of 40 words. Its last word alone differs from that of text `n + 1`.
fn text(n: usize) -> String {
    let words: Vec<String> = (0..39).map(|i| format!("w{i}")).collect();
    format!("{} end{n}", words.join(" "))
}

/// Two shards number their rows from 0, one has no ids at all, and each has records that are
/// rejected: no docno says which record a pair is about.
#[test]
fn documents_and_pairs_have_places_where_names_repeat() {
    let directory = crate::common::temporary();
    let input = directory.path().join("in");
    fs::create_dir(&input).unwrap();
    let (mut expected, mut n) = (Vec::new(), 0);
    for (file, ids) in [("a.jsonl", true), ("b.jsonl", true), ("c.jsonl", false)] {
        let mut bytes = String::new();
        for record in 1..=90 {
            let offset = bytes.len();
            if record % 7 == 3 {
                bytes += ["broken\n", "{\"id\": 1}\n", "{\"text\": \n"][record % 3];
                continue;
            }
            let id = if ids {
                format!("\"id\": {record}, ")
            } else {
                String::new()
            };
            bytes += &format!("{{{id}\"text\": \"{}\"}}\n", text(n));
            let docno = if ids {
                record.to_string()
            } else {
                format!("{file}:{record}")
            };
            let row = [
                docno,
                n.to_string(),
                file.into(),
                record.to_string(),
                offset.to_string(),
            ];
            expected.push(row);
            n += 1;
        }
        fs::write(input.join(file), bytes).unwrap();
    }
    let out = directory.path().join("out");
    let run = Run::default().segment_size(1 << 10).threshold("0.5");
    let summary = run.run(&[&input], &out).unwrap();
    assert_eq!(summary.ingest.unnamed, 77);
    assert_eq!(summary.catalogue.unwrap().docnos_repeated, 77);
    let columns = ["docno", "document", "file", "record", "offset"];
    let documents = table(&out, "documents.tsv");
    let found: Vec<_> = documents
        .iter()
        .map(|row| columns.map(|name| row[name].clone()))
        .collect();
    assert_eq!(found, expected);
    let pairs = table(&out, "pairs.tsv");
    assert_eq!(pairs.len(), n * (n - 1) / 2);
    let mut listed = Vec::new();
    for row in &pairs {
        let [a, b] = ["a", "b"].map(|side| {
            let document: usize = row[&format!("document_{side}")].parse().unwrap();
            assert_eq!(row[&format!("docno_{side}")], documents[document]["docno"]);
            document
        });
        listed.push((a, b));
    }
    let all: Vec<(usize, usize)> = (0..n)
        .flat_map(|a| (a + 1..n).map(move |b| (a, b)))
        .collect();
    assert_eq!(listed, all);
    // More than one segment, some of them within a file.
    assert!(crate::common::manifest(&out).segments.len() > 10);
    assert_eq!(rows_of(&out, "documents.tsv")[0].split('\t').count(), 6);
}

/// Records that are skipped do not count.
#[test]
fn records_of_a_web_archive_have_offsets() {
    let directory = crate::common::temporary();
    let record = |kind: &str, id: usize, text: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
             Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    let (mut bytes, mut expected) = (String::new(), Vec::new());
    for n in 0..5 {
        bytes += &record("warcinfo", 100 + n, "software: x");
        expected.push((n.to_string(), (n + 1).to_string(), bytes.len().to_string()));
        bytes += &record("conversion", n, &text(n));
    }
    let input = directory.path().join("x.warc");
    fs::write(&input, bytes).unwrap();
    let out = directory.path().join("out");
    Run::default().run(&[&input], &out).unwrap();
    let found: Vec<_> = table(&out, "documents.tsv")
        .into_iter()
        .map(|row| {
            (
                row["docno"].clone(),
                row["record"].clone(),
                row["offset"].clone(),
            )
        })
        .collect();
    assert_eq!(found, expected);
}
