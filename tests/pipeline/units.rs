//! Inputs of many files: each thread reads some of them, and nobody can tell.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Progress, Stop, Unit};
use lookalike::engine::collection::SegmentEntry;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use common::corpus::{Random, Shape, random_corpus, write_jsonl};
use common::{Run, assert_same_files, lasting, manifest, one_in};

/// Files of very different lengths, some of them compressed, some empty, some damaged, and among
/// them more than one that takes several segments.
fn files(directory: &Path) -> (PathBuf, Run) {
    let random = &mut Random(5);
    let shape = Shape {
        families: 40,
        members: 5,
        words: 300,
        ..Shape::default()
    };
    let input = write_jsonl(directory, &random_corpus(31, shape), 60);
    for (n, path) in common::paths(&input).into_iter().enumerate() {
        let mut text = fs::read_to_string(&path).unwrap();
        if n % 5 == 1 {
            // Their names have the numbers of their records.
            let ids = text.matches("\"id\"").count();
            text = text.replace("\"id\"", "\"no name\"");
            assert!(ids > 0);
        }
        let mut bytes = text.into_bytes();
        match random.below(6) {
            0 => bytes = zstd::encode_all(&bytes.repeat(7)[..], 3).unwrap(),
            1 => {
                let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 9);
                xz.write_all(&bytes).unwrap();
                bytes = xz.finish().unwrap();
            }
            2 if n % 4 == 0 => bytes.clear(),
            3 => bytes.truncate(bytes.len() / 2),
            4 => bytes = bytes.repeat(7),
            _ => {}
        }
        fs::write(path, bytes).unwrap();
    }
    super::parquet::write_row_groups(&input.join("rows.parquet"));
    let run = Run::default()
        .shingle_size(3)
        .threshold("0.3")
        .segment_size(8 << 10)
        .max_document(64 << 10);
    (input, run)
}

/// The units that the segments belong to.
fn units(out: &Path) -> BTreeSet<String> {
    let segments = manifest(out).segments;
    let unit = |name: &str| {
        name.split_once('-')
            .map_or("0", |(unit, _)| unit)
            .to_string()
    };
    segments
        .iter()
        .map(|segment| unit(&segment.documents.name))
        .collect()
}

#[test]
fn many_files_by_any_number_of_threads() {
    let directory = common::temporary();
    let (input, run) = files(directory.path());
    let run = run.keep_text();
    let of = |run: Run| {
        let out = common::temporary();
        run.run(&[&input], out.path()).unwrap();
        (lasting(out.path()), units(out.path()), manifest(out.path()))
    };
    let (plain, units, plain_manifest) = of(run.clone().threads(1));
    assert!(units.len() > 30, "{units:?}");
    assert!(plain_manifest.segments.len() > units.len());
    // Some of them are pieces of one file.
    let inside = |segment: &&SegmentEntry| segment.next.piece > 0 && segment.next.event == 0;
    assert!(plain_manifest.segments.iter().filter(inside).count() > 30);
    let documents = String::from_utf8(plain["documents.tsv"].clone()).unwrap();
    let numbers = documents
        .split('\t')
        .filter_map(|cell| cell.split_once(".jsonl:"));
    let largest = numbers
        .filter_map(|(_, number)| number.parse::<u64>().ok())
        .max();
    assert!(largest > Some(20), "{documents}");
    for (threads, memory) in [(2, 1 << 30), (8, 1 << 30), (8, 100 << 20), (32, 4 << 30)] {
        let (found, ..) = of(run.clone().threads(threads).memory(memory));
        assert_same_files(
            &found,
            &plain,
            &format!("{threads} threads, {memory} bytes"),
        );
    }
}

/// One file of JSON lines in parts that threads can decompress ahead of the reader, in each format
/// that has some; and the same files cut off.
fn compressed(directory: &Path) -> Vec<PathBuf> {
    let shape = Shape {
        families: 1800,
        members: 2,
        words: 400,
        ..Shape::default()
    };
    let input = write_jsonl(directory, &random_corpus(37, shape), 1);
    let path = common::paths(&input).pop().unwrap();
    let text = fs::read(&path).unwrap();
    let each = |compress: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<u8> {
        text.chunks(40_000).flat_map(compress).collect()
    };
    let gzip = |bytes: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    for block in text.chunks(400_000) {
        xz.write_all(block).unwrap();
        xz.flush().unwrap();
    }
    let files = [
        ("gz", each(&gzip)),
        ("zst", each(&|bytes| zstd::encode_all(bytes, 1).unwrap())),
        ("bz2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
    ];
    fs::remove_file(path).unwrap();
    let mut paths = Vec::new();
    for (name, bytes) in files {
        assert!(bytes.len() > 1_150_000, "{name}: {}", bytes.len());
        for length in [bytes.len(), bytes.len() - 100_000] {
            paths.push(input.join(format!("{length}.jsonl.{name}")));
            fs::write(paths.last().unwrap(), &bytes[..length]).unwrap();
        }
    }
    paths
}

#[test]
fn one_compressed_file_by_any_number_of_threads() {
    let directory = common::temporary();
    let run = Run::default().segment_size(200 << 10);
    let mut turn = 0;
    for path in compressed(directory.path()).into_iter().step_by(one_in(2)) {
        let out = common::temporary();
        run.clone().threads(1).run(&[&path], out.path()).unwrap();
        let plain = lasting(out.path());
        turn += 1;
        let means = [(8, 1 << 30), (3, 100 << 20)];
        for (threads, memory) in means.into_iter().skip(turn % one_in(2)).step_by(one_in(2)) {
            let what = format!("{}, {threads} threads, {memory} bytes", path.display());
            let (out, run) = (common::temporary(), run.clone().threads(threads));
            let (stop, random) = (Stop::default(), &mut Random(threads as u64));
            let after = After(&stop, 1 + random.below(8) as u64, AtomicU64::new(0));
            let first = run.clone().memory(memory);
            match first.watched(&[&path], out.path(), &stop, &after) {
                Err(Error::Interrupted { .. }) => {}
                other => panic!("{what}: {:?}", other.map(|_| ())),
            }
            run.memory(memory).run(&[&path], out.path()).unwrap();
            assert_same_files(&lasting(out.path()), &plain, &what);
        }
    }
}

/// A record that is skipped or rejected may have taken in bytes that are not its own.
#[test]
fn warnings_about_records_that_are_no_documents_are_listed() {
    let directory = common::temporary();
    let record = |id: u32, kind: &str, status: u32, length: usize| {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
             Content-Length: {length}\r\n\r\nHTTP/1.1 {status} OK\r\n\r\nsome words\r\n\r\n"
        )
    };
    let text = [
        record(1, "request", 200, 3),
        record(2, "response", 404, 4),
        record(3, "response", 200, 29),
    ];
    let path = directory.path().join("x.warc");
    fs::write(&path, text.concat()).unwrap();
    let out = common::temporary();
    Run::default().run(&[&path], out.path()).unwrap();
    let rejects = fs::read_to_string(out.path().join("rejects.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = rejects
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {} {}", line["docno"], line["reason"], line["document"]))
        .collect();
    let expected = [
        r#""1" "wrong length stated" "used""#,
        r#""2" "HTTP status not 2xx" "rejected""#,
        r#""2" "wrong length stated" "used""#,
    ];
    assert_eq!(found, expected);
}

/// A large member shows only at its end that it is damaged, after segments with its documents were
/// committed. They are forgotten, and everything else is there.
#[test]
fn documents_of_a_large_damaged_member_are_forgotten() {
    let directory = common::temporary();
    let gzip = |text: &str, damaged: bool| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        let mut bytes = out.finish().unwrap();
        let crc = bytes.len() - 8;
        bytes[crc] ^= u8::from(damaged);
        bytes
    };
    let lines = |name: &str, count: usize| -> String {
        let line = |n| {
            let text = format!("{name} {n} some words of it ").repeat(9);
            format!("{{\"id\": \"{name}{n}\", \"text\": \"{text}\"}}\n")
        };
        (0..count).map(line).collect()
    };
    let large = lines("large", 12_000);
    assert!(large.len() > 3 << 20);
    let two = [
        gzip(&lines("a", 9), false),
        gzip(&large, true),
        gzip(&lines("b", 9), false),
        gzip(&lines("larger", 12_000), true),
        gzip(&lines("c", 9), false),
    ];
    for (name, bytes) in [
        ("1.jsonl", lines("first", 9).into_bytes()),
        ("2.jsonl.gz", two.concat()),
        ("3.jsonl", lines("last", 9).into_bytes()),
    ] {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    let run = Run::default().segment_size(500 << 10);
    let mut plain = None;
    for threads in [1, 3] {
        let out = common::temporary();
        let run = run.clone().threads(threads);
        run.run(&[directory.path()], out.path()).unwrap();
        let found = lasting(out.path());
        let documents = String::from_utf8(found["documents.tsv"].clone()).unwrap();
        let docnos = documents
            .lines()
            .filter(|line| !line.starts_with('#'))
            .skip(1);
        let docnos: Vec<&str> = docnos.filter_map(|line| line.split('\t').next()).collect();
        let expected = ["first", "a", "b", "c", "last"];
        let expected = expected
            .iter()
            .flat_map(|name| (0..9).map(move |n| format!("{name}{n}")));
        assert_eq!(docnos, expected.collect::<Vec<_>>());
        let rejects = String::from_utf8(found["rejects.jsonl"].clone()).unwrap();
        assert_eq!(rejects.lines().count(), 2, "{rejects}");
        assert!(
            rejects
                .lines()
                .all(|line| line.contains("compressed stream damaged"))
        );
        match &plain {
            None => plain = Some(found),
            Some(plain) => assert_same_files(&found, plain, "3 threads"),
        }
        // The same command again finds nothing to do.
        run.run(&[directory.path()], out.path()).unwrap();
        assert_same_files(&lasting(out.path()), plain.as_ref().unwrap(), "again");
    }
}

/// Asks for a stop when so many bytes are read.
struct After<'a>(&'a Stop, u64, AtomicU64);

impl Progress for After<'_> {
    fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {}
    fn at(&self, _: u64) {
        if self.2.fetch_add(1, Ordering::Relaxed) >= self.1 {
            self.0.request();
        }
    }
    fn end(&self, _: &str) {}
    fn note(&self, _: &str) {}
}

/// A stop leaves units that are finished, begun and not begun, in any order. What is committed
/// stays as it is, and the rest is read by any number of threads.
#[test]
fn stopped_and_continued_by_other_threads() {
    let directory = common::temporary();
    let (input, run) = files(directory.path());
    let out = common::temporary();
    run.clone().threads(1).run(&[&input], out.path()).unwrap();
    let plain = lasting(out.path());
    let random = &mut Random(77);
    let mut begun = 0;
    for _ in 0..8 / one_in(4) {
        let out = common::temporary();
        let mut attempts = 0;
        loop {
            let threads = [1, 2, 8][random.below(3)];
            let stop = Stop::default();
            let after = After(
                &stop,
                attempts + 1 + random.below(40) as u64,
                AtomicU64::new(0),
            );
            let run = run.clone().threads(threads);
            match run.watched(&[&input], out.path(), &stop, &after) {
                Ok(_) => break,
                Err(Error::Interrupted { .. }) => attempts += 1,
                Err(error) => panic!("{error}"),
            }
            let segments = manifest(out.path()).segments;
            let mut documents = 0;
            for segment in &segments {
                assert_eq!(segment.first_document, documents);
                documents += segment.stats.documents as u32;
            }
            begun += usize::from(!segments.is_empty() && !manifest(out.path()).ingested);
            assert!(attempts < 1000);
        }
        assert_same_files(&lasting(out.path()), &plain, &format!("{attempts} stops"));
    }
    assert!(begun > 8, "{begun}");
}

/// A file that changes while others are read ends the run, whoever reads it.
#[test]
fn a_file_that_changes_ends_all_threads() {
    let directory = common::temporary();
    let (input, run) = files(directory.path());

    /// Appends a line to the last file when the reading begins.
    struct Appends(PathBuf);
    impl Progress for Appends {
        fn start(&self, stage: &'static str, _: Unit, _: Option<u64>) {
            if stage == "ingest" {
                let mut file = fs::OpenOptions::new().append(true).open(&self.0).unwrap();
                file.write_all(b"{}\n").unwrap();
            }
        }
        fn at(&self, _: u64) {}
        fn end(&self, _: &str) {}
        fn note(&self, _: &str) {}
    }
    let last = common::paths(&input).pop().unwrap();
    for threads in [1, 2, 8] {
        let out = common::temporary();
        let run = run.clone().threads(threads);
        let changes = Appends(last.clone());
        match run.watched(&[&input], out.path(), &Stop::default(), &changes) {
            Err(Error::InputChanged { path, .. }) => assert_eq!(path, last),
            other => panic!("{threads} threads: {:?}", other.map(|_| ())),
        }
    }
}
