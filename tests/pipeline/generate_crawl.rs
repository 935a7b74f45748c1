//! The generated crawl is what `scripts/generate-crawl.rs` says: the same bytes for any number of
//! threads, the shares asked for, and documents that are what the truth beside them says.

use crate::common;
#[path = "../../scripts/generate-crawl/mod.rs"]
mod crawl;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use common::{Run, rows_of, tree};
use crawl::{BUNDLE, BUNDLES, Crawl, Parameters, docno, short, sizes};

const PARAMETERS: Parameters = Parameters {
    seed: 7,
    edited: 0.15,
    exact: 0.09,
    forms: 0.02,
    short: false,
};

fn unzipped(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).unwrap();
    let mut file = flate2::read::GzDecoder::new(file);
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn bytes_depend_on_seed_and_size_alone() {
    let directory = common::temporary();
    let documents = 2 * BUNDLE + 100;
    let make = |name: &str, seed, documents, gzip, threads| {
        let out = directory.path().join(name);
        let parameters = Parameters { seed, ..PARAMETERS };
        let crawl = Crawl::new(parameters, documents);
        crawl.write(&out, gzip, threads).unwrap();
        out
    };
    let one = make("one", 7, documents, false, 1);
    let three = make("three", 7, documents, false, 3);
    let files = tree(&one);
    assert_eq!(files.len(), 5);
    assert!(files == tree(&three));

    // Compressed, it is the same; and it is the beginning of a larger one.
    let small = make("small", 7, BUNDLE + 50, true, 2);
    let bundle = |name: &str| unzipped(&small.join(BUNDLES).join(name));
    assert!(bundle("GX000/00.gz") == files["bundles/GX000/00"]);
    let second = bundle("GX000/01.gz");
    assert!(!second.is_empty() && files["bundles/GX000/01"].starts_with(&second));

    let other = make("other", 8, 100, false, 1);
    let other = fs::read(other.join("bundles/GX000/00")).unwrap();
    assert!(!files["bundles/GX000/00"].starts_with(&other));

    // What is there stays there.
    let again = Crawl::new(PARAMETERS, 1).write(&one, false, 1);
    let refused = again.unwrap_err();
    let kind = std::io::ErrorKind::DirectoryNotEmpty;
    assert_eq!((refused.path, refused.source.kind()), (one, kind));
}

/// Every exact duplicate of short texts is found, and the share of pairs of originals and edited
/// versions that their rates let expect.
#[test]
fn short_texts_are_what_the_truth_says() {
    let directory = common::temporary();
    let parameters = Parameters {
        short: true,
        ..PARAMETERS
    };
    let make = |name: &str, documents, threads| {
        let out = directory.path().join(name);
        let counts = Crawl::new(parameters, documents)
            .write(&out, false, threads)
            .unwrap();
        (out, counts)
    };
    let (out, counts) = make("out", 4_000, 2);
    let (larger, _) = make("larger", short::FILE + 1, 1);
    let [texts, more] = [&out, &larger].map(|out| fs::read(out.join("texts/00000.jsonl")).unwrap());
    assert!(more.starts_with(&texts) && more.len() > texts.len());
    assert!(larger.join("texts/00001.jsonl").exists());
    let mean = counts.bytes / counts.documents;
    assert!(mean.abs_diff(short::MEAN_DOCUMENT) < 9, "{mean} bytes");

    let truth = String::from_utf8(unzipped(&out.join("truth.tsv.gz"))).unwrap();
    let kinds = |kind: &str| {
        truth
            .lines()
            .filter(|line| line.split('\t').nth(1) == Some(kind))
            .count()
    };
    assert_eq!(kinds("exact") as u64, counts.exact_duplicates);
    assert!((kinds("edited") as f64 / 4_000.0 - PARAMETERS.edited).abs() < 0.02);
    let found = directory.path().join("found");
    let run = Run::default().shingle_size(3).threshold("0.5");
    let summary = run.run(&[&out.join(short::TEXTS)], &found).unwrap();
    let ingest = &summary.ingest;
    assert_eq!((ingest.records, ingest.documents), (4_000, 4_000));
    assert_eq!(ingest.words, counts.words);
    let exact = rows_of(&found, "exact-duplicates.tsv").len() as u64;
    // An edited version may have no edit.
    assert!(
        (counts.exact_duplicates..counts.exact_duplicates + 300).contains(&exact),
        "{exact}"
    );
    let pairs = rows_of(&found, "pairs.tsv").len();
    assert!((200..2_000).contains(&pairs), "{pairs} pairs");
}

#[test]
fn documents_are_what_the_truth_says() {
    let directory = common::temporary();
    let out = directory.path().join("crawl");
    let documents = 3 * BUNDLE;
    let counts = Crawl::new(PARAMETERS, documents)
        .write(&out, true, 2)
        .unwrap();
    assert_eq!(counts.documents, documents);

    let near = |count: u64, share: f64, of: u64, by: f64| {
        let found = count as f64 / of as f64;
        assert!((found - share).abs() <= by, "{found}, expected {share}");
    };
    near(counts.edited, PARAMETERS.edited, documents, 0.02);
    near(counts.exact_duplicates, PARAMETERS.exact, documents, 0.02);
    near(counts.forms, PARAMETERS.forms, documents, 0.01);
    near(counts.not_ascii, 0.045, documents, 0.02);
    near(
        counts.bytes,
        crawl::MEAN_DOCUMENT as f64,
        documents,
        1_500.0,
    );
    let table: u32 = sizes::GROUPS.iter().map(|group| group.documents).sum();
    let kept = documents - counts.exact_duplicates;
    for (group, &made) in sizes::GROUPS.iter().zip(&counts.by_size_without_exact) {
        let share = f64::from(group.documents) / f64::from(table);
        near(made, share, kept, 0.03);
    }

    let truth = String::from_utf8(unzipped(&out.join("truth.tsv.gz"))).unwrap();
    let truth: BTreeMap<&str, Vec<&str>> = truth
        .lines()
        .skip(1)
        .map(|line| (line.split('\t').next().unwrap(), line.split('\t').collect()))
        .collect();
    assert_eq!(truth.len() as u64, documents);
    let last = docno(documents - 1);
    assert_eq!(truth.keys().last(), Some(&last.as_str()));

    let found = directory.path().join("found");
    let run = Run::default().threshold("0.2").max_document(8 << 20);
    let summary = run.run(&[&out.join(BUNDLES)], &found).unwrap();
    let ingest = &summary.ingest;
    assert_eq!((ingest.records, ingest.documents), (documents, documents));
    assert!(ingest.rejected.is_empty() && ingest.noticed.is_empty() && ingest.skipped.is_empty());
    assert_eq!(ingest.words, counts.words);

    // Every exact duplicate, and no other.
    let exact: BTreeMap<String, String> = rows_of(&found, "exact-duplicates.tsv")
        .into_iter()
        .map(|row| {
            let mut cells = row.split('\t').map(str::to_string);
            (cells.next().unwrap(), cells.next().unwrap())
        })
        .collect();
    let stated = truth.values().filter(|row| row[1] == "exact");
    let stated: BTreeMap<String, String> = stated
        .map(|row| (row[0].to_string(), row[2].to_string()))
        .collect();
    assert_eq!(exact.len() as u64, counts.exact_duplicates);
    assert_eq!(exact, stated);

    // Edits by words have about the resemblance that their rate gives.
    let pairs: BTreeMap<(String, String), f64> = rows_of(&found, "pairs.tsv")
        .into_iter()
        .map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            let pair = (cells[0].to_string(), cells[1].to_string());
            (pair, cells[2].parse().unwrap())
        })
        .collect();
    let (mut edits, mut deviation, mut of_forms) = (0, 0.0, 0);
    for row in truth.values() {
        let words: u32 = row[6].parse().unwrap();
        if row[1] != "edited" || row[3] != "words" || row[5] != "same-host" || words < 300 {
            continue;
        }
        let survive = (1.0 - row[4].parse::<f64>().unwrap()).powi(10);
        let pair = (row[2].to_string(), row[0].to_string());
        let resemblance = pairs.get(&pair).copied().unwrap_or_default();
        let expected = survive / (2.0 - survive);
        deviation += (resemblance - expected).abs();
        edits += 1;
    }
    for (a, b) in pairs.keys() {
        let (a, b) = (&truth[a.as_str()], &truth[b.as_str()]);
        of_forms += u32::from(a[1] == "form" && b[1] == "form" && a[2] == b[2]);
    }
    assert!(deviation / f64::from(edits) < 0.1, "{deviation} of {edits}");
    assert!(edits >= 50 && of_forms >= 50, "{edits} and {of_forms}");
}
