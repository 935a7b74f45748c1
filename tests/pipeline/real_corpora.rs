//! Real collections, which are not part of this project: every folder below the directory that the
//! environment variable `LOOKALIKE_CORPORA` names. Without it these tests say that they were left
//! out, and check nothing.

use crate::common;
use lookalike::engine::pipeline::Summary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Run, rows_of};

/// The folder of a collection, or nothing and a loud word.
fn folder(name: &str) -> Option<PathBuf> {
    let folder = common::corpora(if name.is_empty() { "every file" } else { name })?.join(name);
    assert!(folder.is_dir(), "{} is no directory", folder.display());
    Some(folder)
}

/// Two threads, 256 MiB, and documents of up to 8 MiB.
fn run() -> Run {
    Run::default()
        .threads(2)
        .memory(256 << 20)
        .max_document(8 << 20)
}

/// Runs, and checks that nothing has vanished.
fn balanced(run: &Run, input: &Path, out: &Path) -> Summary {
    let summary = run.run(&[input], out).unwrap();
    let ingest = &summary.ingest;
    let rejected: u64 = ingest.rejected.values().sum();
    let skipped: u64 = ingest.skipped.values().sum();
    assert_eq!(ingest.records, ingest.documents + rejected + skipped);
    let lines = fs::read_to_string(out.join("rejects.jsonl")).unwrap();
    let count = |what: &str| {
        let end = format!("\"document\":\"{what}\"}}");
        lines.lines().filter(|line| line.ends_with(&end)).count() as u64
    };
    assert_eq!(count("rejected"), rejected);
    let noticed: u64 = ingest.noticed.values().sum();
    let repeated = summary.catalogue.as_ref().unwrap().docnos_repeated;
    assert_eq!(count("used"), noticed + repeated);
    assert_eq!(rows_of(out, "documents.tsv").len() as u64, ingest.documents);
    summary
}

/// Every folder that there is: nothing panics, nothing vanishes.
#[test]
fn every_folder_can_be_read() {
    let Some(root) = folder("") else { return };
    let mut documents = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let out = common::temporary();
            let summary = balanced(&run().threshold("0.5"), &path, out.path());
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            documents.insert(name, summary.ingest.documents);
        }
    }
    eprintln!("documents read: {documents:?}");
    assert!(documents.values().all(|&n| n > 0), "{documents:?}");
}

/// Real mail, as one mailbox and as a file for each message: all of it is read, and as the same
/// words.
#[test]
fn mail() {
    let Some(folder) = folder("email") else {
        return;
    };
    // Of Enron, 15 have the words of another, and 6 have none.
    for (name, messages, exact) in [
        ("spamassassin-sample.jsonl.gz", 1660, 40..100),
        ("enron-spam-sample.jsonl.gz", 1800, 15..16),
    ] {
        let packed = fs::File::open(folder.join(name)).unwrap();
        let lines = std::io::BufReader::new(flate2::read::MultiGzDecoder::new(packed));
        let place = common::temporary();
        let files = place.path().join("files");
        fs::create_dir(&files).unwrap();
        let mut mailbox = String::new();
        for (n, line) in std::io::BufRead::lines(lines).enumerate() {
            let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            let text = line["text"].as_str().unwrap();
            // Some begin with the separator that they had.
            let text = match text.split_once('\n') {
                Some((first, rest)) if first.starts_with("From ") => rest,
                _ => text,
            };
            fs::write(files.join(format!("{n:05}.eml")), text).unwrap();
            mailbox.push_str("From nobody Mon Jan  5 10:00:00 2004\n");
            for line in text.split_inclusive('\n') {
                if line.trim_start_matches('>').starts_with("From ") {
                    mailbox.push('>');
                }
                mailbox.push_str(line);
            }
            mailbox.push_str("\n\n");
        }
        let input = place.path().join("all.mbox");
        fs::write(&input, mailbox).unwrap();
        let mut words = Vec::new();
        for input in [input, files] {
            let out = common::temporary();
            let summary = balanced(&run(), &input, out.path());
            assert_eq!(summary.ingest.documents, messages, "{name}");
            assert!(summary.ingest.rejected.is_empty(), "{:?}", summary.ingest);
            let duplicates = rows_of(out.path(), "exact-duplicates.tsv").len();
            assert!(exact.contains(&duplicates), "{name}: {duplicates}");
            eprintln!(
                "{name}: {:?}, {duplicates} exact duplicates, {} pairs",
                summary.ingest.noticed,
                rows_of(out.path(), "pairs.tsv").len(),
            );
            let rows = rows_of(out.path(), "documents.tsv");
            let column = |row: &String| row.split('\t').nth(2).unwrap().to_string();
            words.push(rows.iter().map(column).collect::<Vec<_>>());
        }
        assert_eq!(words[0], words[1], "{name}");
    }
}

/// Reuters-21578, distribution 1.0: as many stories as its name says.
#[test]
fn reuters() {
    let Some(folder) = folder("reuters21578") else {
        return;
    };
    let out = common::temporary();
    let stories = common::temporary();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with(".sgm.gz") {
            fs::copy(&path, stories.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let summary = balanced(&run().threshold("0.5"), stories.path(), out.path());
    assert_eq!(summary.ingest.documents, 21_578);
    assert_eq!(summary.inputs, 22);
    assert_eq!(summary.ingest.rejected.values().sum::<u64>(), 0);
    let catalogue = summary.catalogue.unwrap();
    assert_eq!(catalogue.docnos_repeated, 0);
    // A few hundred near-duplicates.
    let pairs = summary.join.unwrap().pairs;
    assert!((200..5000).contains(&pairs), "{pairs} pairs");
}

#[test]
fn vaswani() {
    let Some(folder) = folder("formats/trec-sgml") else {
        return;
    };
    let out = common::temporary();
    let summary = balanced(&run(), &folder.join("vaswani-doc-text.trec.gz"), out.path());
    assert_eq!(summary.ingest.documents, 11_429);
    assert_eq!(summary.ingest.rejected.values().sum::<u64>(), 0);
}

/// Resemblances that were measured with other words (`\w+`) by another program.
#[test]
fn scans_of_a_book_and_two_codes_of_law() {
    let Some(folder) = folder("ocr-and-law") else {
        return;
    };
    let book = ("remember00palm.txt.gz", "remembermeorholy00palm.txt.gz");
    let law = ("ca1851-match.txt", "ny1850-match.txt");
    let measured = [
        (3, book, 0.79),
        (8, book, 0.60),
        (3, law, 0.53),
        (8, law, 0.36),
    ];
    for w in [3, 8] {
        let out = common::temporary();
        balanced(&run().shingle_size(w).threshold("0.3"), &folder, out.path());
        let mut found = BTreeMap::new();
        for row in rows_of(out.path(), "pairs.tsv") {
            let cells: Vec<&str> = row.split('\t').collect();
            let resemblance: f64 = cells[2].parse().unwrap();
            let mut names = [cells[0].to_string(), cells[1].to_string()];
            names.sort();
            found.insert(names, resemblance);
        }
        for (_, (a, b), expected) in measured.iter().filter(|(size, ..)| *size == w) {
            // A docno may be without the ending that tells of compression.
            let named = |name: &str, docno: &str| name.starts_with(docno);
            let pair = found
                .iter()
                .find(|(names, _)| named(a, &names[0]) && named(b, &names[1]));
            let (_, resemblance) = pair.unwrap_or_else(|| panic!("{a} and {b}: {found:?}"));
            assert!(
                (resemblance - expected).abs() < 0.02,
                "w = {w}, {a}: {resemblance}"
            );
        }
        // Books that only share a publisher, and a code that was not copied, are in no pair.
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
