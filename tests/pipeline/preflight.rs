//! A disk that will not do is found out before it is full, and one that will do is not refused.

use crate::common;
use lookalike::Error;
use lookalike::base::budget::{ByteSize, Disk};
use lookalike::base::progress::{Progress, Silent, Stop, Unit};
use lookalike::engine::join::PairsEntry;
use lookalike::engine::merge::PostingsEntry;
use lookalike::engine::pipeline;
use lookalike::engine::sort::RunsEntry;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::corpus::{Shape, random_corpus, write_jsonl};
use common::{Run, manifest, paths};

/// Some 5 MB of documents of which few are alike and none equal.
fn input(directory: &Path) -> PathBuf {
    let shape = Shape {
        families: 900,
        members: 2,
        words: 1200,
        vocabulary: 3000,
        boilerplate: 20,
    };
    write_jsonl(directory, &random_corpus(5, shape), 9)
}

fn bytes_of(out: &Path, directory: &str) -> u64 {
    let files = paths(&out.join(directory));
    files.iter().map(|f| fs::metadata(f).unwrap().len()).sum()
}

/// The figures of a refusal, and what it says.
fn refused<T>(result: Result<T, Error>) -> (u64, u64, String) {
    match result {
        Err(
            error @ Error::DiskSpace {
                needed, available, ..
            },
        ) => {
            let text = format!("{error}; {}", error.help().unwrap());
            (needed.0, available.0, text)
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

fn with(run: &Run, available: u64) -> Run {
    run.clone().disk(Disk::Bytes(ByteSize(available)))
}

/// Notes what it is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Progress for Notes {
    fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {}
    fn at(&self, _: u64) {}
    fn end(&self, _: &str) {}
    fn note(&self, line: &str) {
        self.0.lock().unwrap().push(line.into());
    }
}

#[test]
fn a_run_is_refused_before_anything_is_written() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = Run::default();
    let (needed, available, text) = refused(with(&run, 1000).run(&[&input], &out));
    assert!(!out.exists());
    assert_eq!(available, 1000);
    for what in [
        format!("{} has 1000B", out.display()),
        "reading 9 files of ".into(),
        format!("needs about {}", ByteSize(needed)),
        "free ".into(),
        "--ignore-disk-space".into(),
    ] {
        assert!(text.contains(&what), "`{what}` is not in: {text}");
    }
    // Nothing is refused that the disk has room for.
    let free = run.clone().disk(Disk::Unchecked);
    drop(free.ingest(&[&input], &out).unwrap());
    assert!(needed <= bytes_of(&out, "collection"), "{needed}");
    // All is read: nothing is asked any more.
    with(&run, 0).ingest(&[&input], &out).unwrap();
}

#[test]
fn what_is_in_doubt_is_told_and_done() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = Run::default();
    let (needed, ..) = refused(with(&run, 1000).ingest(&[&input], &out));
    for (available, noted) in [(needed * 2 / 3, 1), (needed, 0)] {
        let out = directory.path().join(noted.to_string());
        let (stop, notes) = (Stop::default(), Notes::default());
        let inputs = pipeline::inputs(std::slice::from_ref(&input), &out).unwrap();
        let run = with(&run, available);
        let context = run.context(&stop, &notes);
        pipeline::ingest(&inputs, &out, &run.collection, false, &context).unwrap();
        let notes = notes.0.into_inner().unwrap();
        assert_eq!(notes.len(), noted, "{notes:?}");
        for note in notes {
            assert!(note.contains("reading 9 files"), "{note}");
            assert!(note.contains(&format!("may need {}", ByteSize(needed))));
        }
    }
}

#[test]
fn what_was_read_before_a_stop_is_not_needed_again() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = Run::default().threads(1).segment_size(512 << 10);
    let (whole, ..) = refused(with(&run, 1000).run(&[&input], &out));

    /// Asks for a stop when a part of the input is read.
    struct Part<'a>(&'a Stop);
    impl Progress for Part<'_> {
        fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {}
        fn at(&self, done: u64) {
            if done > 1 << 20 {
                self.0.request();
            }
        }
        fn end(&self, _: &str) {}
        fn note(&self, _: &str) {}
    }
    let stop = Stop::default();
    let free = run.clone().disk(Disk::Unchecked);
    let stopped = free.watched(&[&input], &out, &stop, &Part(&stop));
    assert!(matches!(
        stopped,
        Err(Error::Interrupted { stage: "ingest" })
    ));
    let segments = &manifest(&out).segments;
    let there = segments
        .iter()
        .map(|s| s.documents.bytes + s.fingerprints.bytes);
    let there: u64 = there.sum();
    assert!(there > 512 << 10);
    let (rest, ..) = refused(with(&run, 1000).run(&[&input], &out));
    assert!(
        (whole - there).abs_diff(rest) <= 1 << 20,
        "{whole} {there} {rest}"
    );
}

#[test]
fn a_join_is_refused_before_its_runs_are_written() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = Run::default().join("count").spill();
    let join = |run: &Run, run_of: &mut lookalike::store::workspace::Workspace| {
        let stop = Stop::default();
        pipeline::join(run_of, &run.question, &run.context(&stop, &Silent))
    };
    let mut workspace = run.ingest(&[&input], &out).unwrap();
    let (needed, _, text) = refused(join(&with(&run, 1000), &mut workspace));
    assert!(text.contains("sorting and merging "), "{text}");
    assert_eq!(bytes_of(&out, "runs"), 0);
    join(&with(&run, needed), &mut workspace).unwrap();
    let manifest = &workspace.manifest;
    let sort = manifest.get::<RunsEntry>().unwrap().stats;
    let merge = manifest.get::<PostingsEntry>().unwrap().stats;
    let written = sort.bytes + merge.bytes;
    assert!(
        needed >= written && needed <= 2 * written,
        "{needed} for {written}"
    );
    // Postings that are there are joined again wherever it is.
    workspace.manifest.remove::<PairsEntry>();
    join(&with(&run, 0), &mut workspace).unwrap();
}
