//! Defects that were found and mended: a test for each, named for what went wrong.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Run, sample_corpora};
use lookalike::Error;
use lookalike::budget::ByteSize;
use lookalike::ids::Threshold;
use lookalike::pipeline::{self, Planning};
use lookalike::progress::{Silent, Stop};

/// The name of the parameter that was refused.
fn refused<T>(what: &str, result: Result<T, Error>) -> &'static str {
    match result {
        Err(Error::BadParameter { name, .. }) => name,
        Err(error) => panic!("{what}: {error}"),
        Ok(_) => panic!("{what} is accepted"),
    }
}

/// `--max-ratio 0` divided by zero: the configuration was checked by `perturb` alone.
#[test]
fn impossible_parameters_of_a_collection_are_refused_before_anything_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web");
    let change: [(&str, fn(&mut Run)); 7] = [
        ("max-ratio", |run| run.collection.read.max_ratio = 0),
        ("max-document", |run| {
            run.collection.read.max_document = ByteSize(0);
        }),
        ("text-field", |run| {
            run.collection.read.text_field = Some("a..b".into());
        }),
        ("shingle-size", |run| run.collection.shingle.shingle_size = 0),
        ("segment-size", |run| {
            run.collection.segment_size = ByteSize(0);
        }),
        ("threads", |run| run.threads = 0),
        ("threads", |run| run.threads = 1025),
    ];
    for (name, change) in change {
        let mut run = Run::default();
        change(&mut run);
        assert_eq!(refused(name, run.ingest(&[&input], &out)), name);
        assert_eq!(refused(name, run.run(&[&input], &out)), name);
        assert!(!out.exists(), "{name}");
    }
}

#[test]
fn impossible_questions_are_refused_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let (out, there) = (directory.path().join("out"), directory.path().join("there"));
    let input = sample_corpora("trec-web");
    let mut workspace = Run::default().ingest(&[&input], &there).unwrap();
    let plan = |ratios: &[u32]| {
        let all = Threshold::new(1, 2).unwrap();
        Planning::Make(lookalike::evaluate::plan::PlanConfig {
            target: lookalike::evaluate::plan::Target {
                threshold: all,
                precision: all,
                recall: None,
            },
            ratios: ratios.to_vec(),
            subset: None,
        })
    };
    let mut questions = vec![
        ("fan-in", Run::default().fan_in(1)),
        ("sampling", Run::default().sampling("1/2,1/4")),
        ("max-postings", Run::default().join("count")),
        ("verified", Run::default()),
        ("ratios", Run::default()),
        ("pairs", Run::default().join("count").pairs("none")),
    ];
    questions[2].1.question.join.max_postings = Some(1);
    questions[3].1.question.join.candidates = Some("0.85".parse().unwrap());
    questions[4].1.question.plan = Some(plan(&[3, 2]));
    for (name, run) in questions {
        assert_eq!(refused(name, run.run(&[&input], &out)), name);
        assert!(!out.exists(), "{name}");
        let stop = Stop::default();
        let joined = pipeline::join(&mut workspace, &run.question, &run.context(&stop, &Silent));
        assert_eq!(refused(name, joined), name);
    }
}

#[test]
fn a_query_is_not_read_with_impossible_parameters() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web");
    let run = Run::default();
    run.run(&[&input], &out).unwrap();
    let base = lookalike::manifest::Workspace::open(&out).unwrap();
    let mut read = run.collection.read.clone();
    read.max_ratio = 0;
    let inputs = pipeline::inputs(&[input], &out).unwrap();
    let config = lookalike::query::QueryConfig {
        criterion: run.question.join.criterion(),
        containing: None,
        top: None,
    };
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let asked = lookalike::query::run(&base, None, &inputs, &read, &config, &context, |_| Ok(()));
    assert_eq!(refused("max-ratio", asked), "max-ratio");
}

/// A reader of its own, which no stage checks for, does not divide by it either.
#[test]
fn a_ratio_of_nothing_allows_nothing() {
    use lookalike::read::{Batch, ReadConfig, RecordReader, Reason};
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&vec![b'a'; 20 << 20]).unwrap();
    let bytes = std::io::Cursor::new(gzip.finish().unwrap());
    let config = ReadConfig {
        max_ratio: 0,
        ..ReadConfig::default()
    };
    let mut reader = RecordReader::from_reader(bytes, "x.gz", 0, &config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    let text = format!("{:?}", batch.records);
    assert!(text.contains(&format!("{:?}", Reason::DecompressionBomb)), "{text}");
}
