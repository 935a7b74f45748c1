//! Defects that were found and mended: a test for each, named for what went wrong.

mod common;

use std::fs;
use std::path::PathBuf;

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
        ("shingle-size", |run| {
            run.collection.shingle.shingle_size = 0
        }),
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
    use lookalike::read::{Batch, ReadConfig, Reason, RecordReader};
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
    assert!(
        text.contains(&format!("{:?}", Reason::DecompressionBomb)),
        "{text}"
    );
}

/// Writes the sizes of the samples anew, as `change` has them, and joins again; what the error says.
fn joined_with_sizes(change: impl Fn(u32) -> u32) -> (PathBuf, String) {
    use lookalike::store::{Header, Kind, PartWriter, VERSION};
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let run = Run::default();
    run.run(&[&sample_corpora("trec-web")], &out).unwrap();
    let mut workspace = lookalike::manifest::Workspace::open(&out).unwrap();
    workspace.manifest.pairs = None;
    let sample = workspace.path("sample");
    let part = workspace.manifest.sample.as_ref().unwrap().sizes[0].clone();
    let bytes = fs::read(sample.join(&part.name)).unwrap();
    let header = Header {
        kind: Kind::Column,
        version: VERSION,
        parameters: u128::from_str_radix(&workspace.manifest.collection_digest, 16).unwrap(),
        number: 0,
        key_bytes: 4,
    };
    let mut column = PartWriter::create_named(&sample.join("000099.col"), &header).unwrap();
    for size in bytes[64..][..4 * part.records as usize].chunks(4) {
        let size = u32::from_le_bytes(size.try_into().unwrap());
        column.put(&change(size).to_le_bytes()).unwrap();
    }
    let info = column.finish(part.records, 0, 0).unwrap();
    workspace.manifest.sample.as_mut().unwrap().sizes[0] = info;
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let error = pipeline::join(&mut workspace, &run.question, &context).unwrap_err();
    (out, error.to_string())
}

/// They were told as at byte 0 of `sample` and of `postings`, wherever the output directory was.
#[test]
fn what_contradicts_itself_is_told_by_its_path() {
    let (out, error) = joined_with_sizes(|size| size + u32::from(size > 0));
    let start = format!(
        "{} is corrupt at byte ",
        out.join("sample/000099.col").display()
    );
    let rest = error
        .strip_prefix(&start)
        .unwrap_or_else(|| panic!("{error}"));
    let (offset, rest) = rest
        .split_once(": size of the sample of document ")
        .unwrap();
    let document: u64 = rest.split_once(':').unwrap().0.parse().unwrap();
    assert_eq!(offset, (64 + 4 * document).to_string(), "{error}");

    let (out, error) = joined_with_sizes(|size| size.min(1));
    let start = format!(
        "{} is corrupt: fingerprints of document ",
        out.join("postings").display()
    );
    assert!(error.starts_with(&start), "{error}");
}
