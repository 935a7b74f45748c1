//! Pairs to be reviewed: all pairs from the lower threshold up to the other one, apart from the
//! results, which do not change.

use crate::common;
use lookalike::Error;
use lookalike::engine::collection::Condition;
use lookalike::engine::pipeline;
use lookalike::tasks::inspect;
use lookalike::{Collection, Options, Results};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::add::{add, files, paths, run};
use super::against::against;
use common::corpus::{Shape, random_corpus, write_jsonl};
use common::oracle::{Answer, Spec, THRESHOLDS, answer};
use common::stopped::{StopAt, stage_of};
use common::{
    Run, assert_same_files, lasting, least_memory, one_in, results, rows_of, sample_corpora,
};

fn reviewed(mut run: Run, from: &str) -> Run {
    run.question.join.review = Some(from.parse().unwrap());
    run
}

/// The rows at a lower threshold that are not among those of the pairs.
fn between(lower: &[String], pairs: &[String]) -> Vec<String> {
    let listed: BTreeSet<&String> = pairs.iter().collect();
    let rows = lower.iter().filter(|row| !listed.contains(row));
    rows.cloned().collect()
}

#[test]
fn they_are_those_of_brute_force() {
    let mut found = 0;
    for seed in (700..706).step_by(one_in(2)) {
        let directory = common::temporary();
        let docs = random_corpus(seed, Shape::default());
        let input = write_jsonl(directory.path(), &docs, 2);
        let out = directory.path().join("out");
        for (lower, threshold) in [(0, 1), (1, 2), (4, 3)] {
            let spec = Spec {
                w: 2 + (seed % 3) as usize,
                md5: seed % 2 == 0,
                threshold: THRESHOLDS[threshold],
                ..Spec::default()
            };
            let expected = answer(&spec, &docs);
            let low = Spec {
                threshold: THRESHOLDS[lower],
                ..spec
            };
            let expected_rows = between(&answer(&low, &docs).pairs, &expected.pairs);
            found += expected_rows.len();
            spec.run().run(&[&input], &out).unwrap();
            let plain = results(&out);
            let mut first = None;
            for (join, threads, spill) in [
                ("prefix", 1, false),
                ("count", 3, true),
                ("auto", 2, false),
                ("prefix", 2, true),
            ] {
                let run = reviewed(spec.run(), THRESHOLDS[lower].0);
                let run = run.join(join).threads(threads);
                let run = if spill { run.spill() } else { run };
                let summary = run.run(&[&input], &out).unwrap();
                let what = format!("seed {seed}, {join}, {spec:?}");
                assert_eq!(rows_of(&out, "review.tsv"), expected_rows, "{what}");
                let join = summary.join.unwrap();
                assert_eq!(join.review, Some(expected_rows.len() as u64), "{what}");
                assert_eq!(join.pairs as usize, expected.pairs.len(), "{what}");
                let mut all = results(&out);
                assert_same_files(&all, first.get_or_insert(all.clone()), &what);
                all.remove("review.tsv").unwrap();
                assert_same_files(&all, &plain, &what);
                assert_eq!(Answer::read(&all), expected, "{what}");
            }
            spec.run().run(&[&input], &out).unwrap();
            assert!(!out.join("review.tsv").exists());
        }
    }
    assert!(found * one_in(2) > 500, "{found}");
}

/// Few bytes of memory, any threads and a stop at any time give the same bytes.
#[test]
fn they_do_not_depend_on_the_means() {
    let directory = common::temporary();
    let docs = random_corpus(531, Shape::default());
    let input = write_jsonl(directory.path(), &docs, 2);
    let spec = Spec {
        w: 2,
        threshold: THRESHOLDS[1],
        ..Spec::default()
    };
    for join in ["prefix", "count"] {
        let run = reviewed(spec.run(), "0.1").join(join).spill().threads(2);
        let whole = directory.path().join(join);
        let watch = StopAt::never();
        run.watched(&[&input], &whole, &watch.stop, &watch).unwrap();
        let (calls, expected) = (watch.calls.load(Ordering::SeqCst), lasting(&whole));
        assert!(rows_of(&whole, "review.tsv").len() > 10);
        let small = run.clone().segment_size(8 << 10).max_document(64 << 10);
        let small = small.threads(4).fan_in(2);
        let (_, out) = least_memory(|memory| {
            let out = common::temporary();
            let run = small.clone().memory(memory);
            run.run(&[&input], out.path()).map(|_| out)
        });
        assert_same_files(&results(out.path()), &results(&whole), join);
        let mut stopped = BTreeSet::new();
        for after in 1.. {
            let out = common::temporary();
            let watch = StopAt::call(after);
            let ended = run.watched(&[&input], out.path(), &watch.stop, &watch);
            let finished = ended.is_ok();
            stopped.extend(ended.err().map(|error| stage_of(&error)));
            run.run(&[&input], out.path()).unwrap();
            let what = format!("{join}, call {after} of {calls} or so");
            assert_same_files(&lasting(out.path()), &expected, &what);
            if finished {
                break;
            }
        }
        assert!(stopped.contains("join") && stopped.contains("cluster"));
    }
}

/// A collection that grows and one that is compared with another have them, and a condition holds
/// for them too.
#[test]
fn they_follow_the_collection() {
    let directory = common::temporary();
    let files = files(directory.path(), 5, 40, 10);
    let plain = run().threshold("0.5");
    let run = reviewed(plain.clone(), "0.2");
    let at = |name: &str| directory.path().join(name);
    let made = |run: &Run, name: &str, number: usize| -> BTreeMap<String, Vec<u8>> {
        run.run(&paths(&files[..number]), &at(name)).unwrap();
        results(&at(name))
    };
    let expected = made(&run, "whole", 10);
    made(&run, "out", 8);
    add(&run, &at("out"), &files[8..]).unwrap();
    assert_same_files(&results(&at("out")), &expected, "an addition");
    assert!(rows_of(&at("out"), "review.tsv").len() > 10);
    // One without them does not find them only for what is added.
    made(&plain, "other", 9);
    add(&plain, &at("other"), &files[9..]).unwrap();
    made(&run, "other", 10);
    assert_same_files(&results(&at("other")), &expected, "later");

    let rows = |run: &Run, name: &str, file: &str| {
        against(run, &files[9..], &at("old"), &at(name)).unwrap();
        rows_of(&at(name), file)
    };
    made(&plain, "old", 9);
    let lower = rows(&plain.clone().threshold("0.2"), "lower", "pairs.tsv");
    let pairs = rows(&plain, "pairs", "pairs.tsv");
    let found = rows(&run, "review", "review.tsv");
    assert_eq!(found, between(&lower, &pairs));
    assert_eq!(rows_of(&at("review"), "pairs.tsv"), pairs);
    assert!(found.len() > 3, "{found:?}");

    let limited = |mut run: Run, name: &str, file: &str| {
        let condition: Condition = "a.words < b.words".parse().unwrap();
        run.collection = run.collection.with_condition(Some(condition));
        made(&run, name, 10);
        rows_of(&at(name), file)
    };
    let lower = limited(plain.clone().threshold("0.2"), "low", "pairs.tsv");
    let found = limited(run.clone(), "limited", "review.tsv");
    assert_eq!(
        found,
        between(&lower, &rows_of(&at("limited"), "pairs.tsv"))
    );
    assert!(!found.is_empty());
}

/// Damage is found, another lower threshold joins again and reads nothing, and the library reads
/// the list.
#[test]
fn the_list_is_a_result() {
    let directory = common::temporary();
    let (input, out) = (sample_corpora("trec-web"), directory.path().join("out"));
    let run = reviewed(Run::default(), "0.5");
    run.run(&[&input], &out).unwrap();
    let list = fs::read(out.join("review.tsv")).unwrap();
    assert!(list.starts_with(b"# format: lookalike 1\n"));
    assert!(String::from_utf8_lossy(&list).contains("\n# review: 0.5\n"));
    for name in ["review.tsv", "pairs/000001.pairs"] {
        let path = out.join(name);
        let mut bytes = fs::read(&path).unwrap();
        let place = bytes.len() / 2;
        bytes[place] ^= 1;
        fs::write(&path, bytes).unwrap();
        let errors = inspect::verify(&out).unwrap().errors;
        assert!(errors.iter().any(|e| e.to_string().contains(name)));
        fs::remove_file(path).unwrap();
        run.run(&[&input], &out).unwrap();
        assert!(inspect::verify(&out).unwrap().errors.is_empty());
        assert_eq!(fs::read(out.join("review.tsv")).unwrap(), list);
    }
    let mut workspace = pipeline::open(&out).unwrap();
    let watch = StopAt::never();
    let other = reviewed(Run::default(), "0.6");
    let context = other.context(&watch.stop, &watch);
    pipeline::join(&mut workspace, &other.question, &context).unwrap();
    assert_eq!(watch.begun(), ["join"]);
    drop(workspace);
    other.run(&[&input], &out).unwrap();
    let rows = rows_of(&out, "review.tsv");
    let collection = Collection::open(&out, Options::default()).unwrap();
    let mut table = collection.table(Results::Review).unwrap();
    let mut read = 0;
    while table.row(|_| ()).unwrap().is_some() {
        read += 1;
    }
    assert!(read > 0 && read == rows.len());
    Run::default().run(&[&input], &out).unwrap();
    let missing = |out: &Path| {
        let collection = Collection::open(out, Options::default()).unwrap();
        collection.table(Results::Review).err().unwrap().to_string()
    };
    assert!(missing(&out).contains("--review"), "{}", missing(&out));
}

#[test]
fn what_would_not_be_exact_is_refused() {
    let refused = |run: Run| {
        let directory = common::temporary();
        let out = directory.path().join("out");
        match run.run(&[&sample_corpora("jsonl")], &out) {
            Err(Error::BadParameter { name, limit, .. }) => {
                assert_eq!(name, "review");
                limit
            }
            other => panic!("{other:?}"),
        }
    };
    let run = || reviewed(Run::default(), "0.5");
    let score = |text: &str| {
        let mut run = run();
        run.question.join.measure = text.parse().unwrap();
        run
    };
    let mut most = run().join("count");
    most.question.join.max_postings = Some(9);
    for (run, says) in [
        (run().threshold("0.5"), "below the threshold, 0.5"),
        (run().pairs("none"), "--pairs none"),
        (run().sampling("1/2"), "--sampling full"),
        (most, "--max-postings"),
        (score("s4"), "s4"),
        (score("s1:3"), "s1:3"),
    ] {
        let limit = refused(run);
        assert!(limit.contains(says), "{limit}");
    }
    for measure in ["containment", "cosine", "dice", "s2", "s3"] {
        let directory = common::temporary();
        let out = directory.path().join("out");
        let low = |from: &str| {
            let mut run = score(measure);
            run.question.join.review = None;
            run.threshold(from).run(&[&sample_corpora("jsonl")], &out)
        };
        low("0.3").unwrap();
        let lower = rows_of(&out, "pairs.tsv");
        let run = reviewed(score(measure), "0.3").threshold("0.7");
        run.run(&[&sample_corpora("jsonl")], &out).unwrap();
        let pairs = rows_of(&out, "pairs.tsv");
        let found = rows_of(&out, "review.tsv");
        assert_eq!(found, between(&lower, &pairs), "{measure}");
        assert!(found.len() > 3, "{measure}");
    }
}
