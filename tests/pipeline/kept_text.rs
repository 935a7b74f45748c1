//! The text of a collection's documents, where it is kept, has the tokens of the documents.

use crate::common;
use lookalike::Error;
use lookalike::engine::collection::{self, DocumentReader, TextReader};
use lookalike::engine::pipeline::{self, Summary};
use lookalike::engine::shingle::Shingler;
use lookalike::report::ledger;
use lookalike::tasks::inspect::verify;
use lookalike::text::read::{ContentKind, RawDocument};

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Run, assert_same_files, corpora, manifest, sample_corpora, tree};

/// Every document of a collection whose set is stored: its text, parsed as plain text, has its MD5
/// and its words. Says how many there are.
fn assert_texts(out: &Path) -> u64 {
    let workspace = pipeline::open(out).unwrap();
    let mut shingler = Shingler::<u64>::new(&collection::config(&workspace.manifest).shingle);
    let (mut set, mut text, mut texts, mut bytes) = (Vec::new(), Vec::new(), 0, 0);
    for segment in collection::segments(&workspace.manifest) {
        let path = workspace.path("collection").join(&segment.documents.name);
        let mut documents = DocumentReader::open(&path, None, Some(&segment.documents)).unwrap();
        let mut reader = TextReader::of(&workspace, segment).unwrap().unwrap();
        while let Some(document) = documents.next().unwrap() {
            if !document.stored {
                continue;
            }
            assert!(reader.next(&mut text).unwrap());
            let plain = RawDocument {
                body: text.clone().into(),
                ..RawDocument::of_text("", ContentKind::Text)
            };
            let facts = shingler.shingle(&plain, (0, u64::MAX), &mut set);
            let found = (facts.md5, facts.words, set.len() as u32);
            let expected = (document.md5, document.words, document.shingles);
            let shown = String::from_utf8(text.clone()).unwrap();
            assert_eq!(found, expected, "{}: {shown:?}", document.docno);
            texts += 1;
            bytes += text.len() as u64;
        }
        assert!(!reader.next(&mut text).unwrap());
        reader.finish().unwrap();
    }
    let summary = Summary::of(&workspace.manifest);
    assert_eq!(summary.ingest.text, bytes);
    assert_eq!(summary.ingest.documents - summary.ingest.omitted, texts);
    assert!(ledger(&summary).contains("text kept"));
    texts
}

fn kept(input: &Path, tokens: &str) -> u64 {
    let out = common::temporary();
    let run = Run::default()
        .keep_text()
        .tokens(tokens)
        .max_document(8 << 20);
    drop(run.ingest(&[input], out.path()).unwrap());
    let found = verify(out.path()).unwrap();
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    assert_texts(out.path())
}

#[test]
fn of_every_sample() {
    for tokens in ["words", "whitespace", "bytes:20"] {
        let texts = kept(&sample_corpora(""), tokens);
        assert!(texts > 300, "{texts} texts");
    }
}

/// Every folder below `LOOKALIKE_CORPORA`.
#[test]
fn of_real_collections() {
    let Some(root) = corpora("the texts of real collections") else {
        return;
    };
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let texts = kept(&path, "whitespace");
            eprintln!("{}: {texts} texts", path.display());
        }
    }
}

/// Documents that go through the writer in passes, and those that a worker shingles whole.
#[test]
fn of_oversized_documents_the_same_bytes() {
    let home = common::temporary();
    let input = home.path().join("in.jsonl");
    let mut lines = String::new();
    for i in 0..6 {
        // Of more than one block, the last ones of one word each two bytes.
        let word = ["word, and <b>an</b>other &amp; ", "é \u{2028} ", "a "][i % 3];
        let text = format!("{i} {}", word.repeat(900_000 / word.len()));
        lines.push_str(&serde_json::json!({"id": i.to_string(), "text": text}).to_string());
        lines.push('\n');
        lines.push_str(&format!("{{\"id\": \"s{i}\", \"text\": \"short {i}\"}}\n"));
    }
    fs::write(&input, lines).unwrap();
    let made = |memory: u64, threads: usize| {
        let out = home.path().join(format!("{memory}-{threads}"));
        let run = Run::default().keep_text().shingle_size(2);
        let run = run.memory(memory).threads(threads);
        drop(run.ingest(&[&input], &out).unwrap());
        let mut files = tree(&out);
        files.retain(|name, _| name.starts_with("collection/"));
        assert!(files.contains_key("collection/000000.text"));
        (out, files)
    };
    let (out, ample) = made(1 << 30, 1);
    assert_eq!(assert_texts(&out), 12);
    let config = Run::default().keep_text().collection;
    let least = lookalike::engine::collection::least_memory(&config, 1).0;
    for threads in [1, 3] {
        let (_, found) = made(least, threads);
        assert_same_files(&found, &ample, &format!("least memory, {threads} threads"));
    }
}

fn refused(run: &Run, input: &Path, out: &Path) -> (String, String, String) {
    match run.ingest(&[input], out).map(drop).unwrap_err() {
        Error::Incompatible {
            name,
            expected,
            found,
            ..
        } => (name, expected, found),
        error => panic!("{error}"),
    }
}

/// The files of the collection.
fn parts(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(out.join("collection")).unwrap();
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).unwrap())
    };
    entries.map(read).collect()
}

/// Texts can be added to a collection, where one had to begin in a new directory; and what is kept
/// changes nothing else.
#[test]
fn texts_can_be_added() {
    let home = common::temporary();
    let input = sample_corpora("jsonl/a.jsonl.zst");
    let [with, without]: [PathBuf; 2] = ["with", "without"].map(|name| home.path().join(name));
    let plain = Run::default();
    let keeping = plain.clone().keep_text();
    plain.run(&[&input], &without).unwrap();
    keeping.run(&[&input], &with).unwrap();
    let added = home.path().join("added");
    plain
        .clone()
        .threshold("0.5")
        .run(&[&input], &added)
        .unwrap();
    keeping.run(&[&input], &added).unwrap();
    assert_same_files(&common::results(&added), &common::results(&with), "results");
    assert_same_files(&parts(&added), &parts(&with), "parts");
    assert!(verify(&added).unwrap().errors.is_empty());
    // A run without the flag continues the directory, and the texts stay.
    plain.run(&[&input], &added).unwrap();
    assert_same_files(&parts(&added), &parts(&with), "parts");
    // What differs beside it is refused.
    let other = keeping.clone().shingle_size(3);
    assert_eq!(refused(&other, &input, &with).0, "--shingle-size");
    assert_same_files(
        &common::results(&with),
        &common::results(&without),
        "results",
    );
    let written = fs::read_to_string(without.join("manifest.json")).unwrap();
    assert!(!written.contains("keep_text"));
    for segment in manifest(&without).segments {
        assert!(segment.text.is_none());
    }
    // What is made again after it is gone is what it was.
    let part = with.join("collection/000000.text");
    let before = fs::read(&part).unwrap();
    fs::remove_file(&part).unwrap();
    keeping.run(&[&input], &with).unwrap();
    assert_eq!(fs::read(&part).unwrap(), before);
}
