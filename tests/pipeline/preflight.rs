//! A disk that will not do is found out before it is full, and one that will do is not refused.

use crate::common;
use lookalike::Error;
use lookalike::base::budget::{ByteSize, Disk};
use lookalike::base::progress::{Progress, Silent, Stop, Unit};
use lookalike::engine::join::PairsEntry;
use lookalike::engine::merge::PostingsEntry;
use lookalike::engine::pipeline::{self, preflight};
use lookalike::engine::sort::RunsEntry;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::corpus::{Shape, random_corpus, write_jsonl};
use common::{Run, lasting, manifest, one_in, paths};

/// What is counted beside what grows with the input.
const FIXED: u64 = 4 << 20;

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
    let asked = [("64", "1/4"), ("64", "full"), ("md5", "full")];
    for (fingerprint, sampling) in asked.into_iter().step_by(one_in(3)) {
        let run = Run::default().fingerprint(fingerprint).sampling(sampling);
        let out = directory
            .path()
            .join(format!("{fingerprint}-{}", sampling.len()));
        let (needed, available, text) = refused(with(&run, 1000).run(&[&input], &out));
        assert!(!out.exists());
        assert_eq!(available, 1000);
        let size = ByteSize(needed);
        for what in [
            format!("{} has 1000B", out.display()),
            "reading and joining 9 files of ".into(),
            format!("needs about {size}"),
            "free ".into(),
            "--ignore-disk-space".into(),
        ] {
            assert!(text.contains(&what), "`{what}` is not in: {text}");
        }

        // What the same run writes: not more than that, and not less than half of it.
        let summary = run
            .clone()
            .disk(Disk::Unchecked)
            .run(&[&input], &out)
            .unwrap();
        let (sort, merge) = (summary.sort.unwrap(), summary.merge.unwrap());
        let written = bytes_of(&out, "collection") + bytes_of(&out, "catalogue");
        let written = written + sort.bytes + merge.bytes;
        assert!(written > 5 << 20);
        assert!(needed >= written, "{needed} < {written}");
        assert!(needed <= FIXED + 2 * written, "{needed} for {written}");

        // It is done where as much is there, and not told to be tight.
        let notes = Notes::default();
        let enough = directory
            .path()
            .join(format!("{fingerprint}-{}-enough", sampling.len()));
        with(&run, needed)
            .watched(&[&input], &enough, &Stop::default(), &notes)
            .unwrap();
        assert_eq!(notes.0.into_inner().unwrap(), Vec::<String>::new());
        assert!(lasting(&enough) == lasting(&out));
    }
}

#[test]
fn what_is_in_doubt_is_told_and_done() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = Run::default();
    let (needed, ..) = refused(with(&run, 1000).run(&[&input], &out));
    let notes = Notes::default();
    let tight = with(&run, needed * 2 / 3);
    tight
        .watched(&[&input], &out, &Stop::default(), &notes)
        .unwrap();
    let notes = notes.0.into_inner().unwrap();
    assert!(
        notes[0].contains("reading and joining 9 files"),
        "{notes:?}"
    );
    assert!(notes[0].contains(&format!("may need {}", ByteSize(needed))));
}

#[test]
fn to_read_only_takes_less_than_to_join() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = Run::default();
    let (all, ..) = refused(with(&run, 1000).run(&[&input], &out));
    let (read, _, text) = refused(with(&run, 1000).ingest(&[&input], &out));
    assert!(text.contains("; reading 9 files of "), "{text}");
    assert!(read < all);
    drop(
        run.clone()
            .disk(Disk::Unchecked)
            .ingest(&[&input], &out)
            .unwrap(),
    );
    assert!(read >= bytes_of(&out, "collection") + bytes_of(&out, "catalogue"));
    // All is read: nothing is asked any more.
    with(&run, 0).ingest(&[&input], &out).unwrap();
}

#[test]
fn what_was_read_before_a_stop_is_not_needed_again() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = Run::default().threads(1).segment_size(512 << 10);
    let (whole, ..) = refused(with(&run, 1000).run(&[&input], &out));

    /// Asks for a stop when half of the input is read.
    struct Half<'a>(&'a Stop);
    impl Progress for Half<'_> {
        fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {}
        fn at(&self, done: u64) {
            if done > 3 << 20 {
                self.0.request();
            }
        }
        fn end(&self, _: &str) {}
        fn note(&self, _: &str) {}
    }
    let stop = Stop::default();
    let free = run.clone().disk(Disk::Unchecked);
    let stopped = free.watched(&[&input], &out, &stop, &Half(&stop));
    assert!(matches!(
        stopped,
        Err(Error::Interrupted { stage: "ingest" })
    ));
    let segments = &manifest(&out).segments;
    let there = segments
        .iter()
        .map(|s| s.documents.bytes + s.fingerprints.bytes);
    let there: u64 = there.sum();
    assert!(there > 2 << 20);
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
        needed >= written && needed <= FIXED + 2 * written,
        "{needed} for {written}"
    );
    // Postings that are there are joined again wherever it is.
    workspace.manifest.remove::<PairsEntry>();
    join(&with(&run, 0), &mut workspace).unwrap();
}

#[test]
fn what_is_no_document_needs_no_space() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let zeros = directory.path().join("zeros.bin");
    fs::write(&zeros, vec![0; 3 << 20]).unwrap();
    let run = Run::default();
    let (needed, ..) = refused(with(&run, 1000).run(&[&zeros], &out));
    assert!(needed <= FIXED + (1 << 20), "{needed}");
    with(&run, needed).run(&[&zeros], &out).unwrap();
}

#[test]
fn standard_input_is_not_guessed_at() {
    let directory = common::temporary();
    let input = input(directory.path());
    let out = directory.path().join("out");
    let run = with(&Run::default(), 0);
    let stop = Stop::default();
    let before = |arguments: &[PathBuf]| {
        let inputs = pipeline::inputs(arguments, &out).unwrap();
        let (question, context) = (Some(&run.question), run.context(&stop, &Silent));
        preflight::before_ingest(&inputs, &out, &run.collection, question, &context)
    };
    assert!(before(std::slice::from_ref(&input)).is_err());
    before(&["-".into()]).unwrap();
    before(&["-".into(), input.clone()]).unwrap();
}
