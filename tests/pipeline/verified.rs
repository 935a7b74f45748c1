//! Verified sampling: what the samples propose, the full sets decide; the list has no pair that is
//! not true, and every pair that is true and proposed.

use crate::common;
use lookalike::Error;
use lookalike::engine::pipeline;

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::Ordering;

use common::corpus::{Random, Shape, random_corpus, write_jsonl};
use common::oracle::{Answer, BY_GROUP, Spec, THRESHOLDS, answer};
use common::stopped::{StopAt, stage_of};
use common::{RESULTS, assert_same_files, lasting, least_memory, one_in, results, rows_of};

const SAMPLINGS: [(&str, u128, u128, usize); 4] = [
    ("1/2", 2, 0, usize::MAX),
    ("1/4:3", 4, 3, usize::MAX),
    ("1/7:5", 7, 5, usize::MAX),
    ("broder97", 25, 0, 400),
];
/// Thresholds of candidates and of pairs.
const BELOW: [(usize, usize); 5] = [(0, 0), (0, 1), (1, 1), (1, 2), (0, 2)];

#[test]
fn pairs_are_those_proposed_that_are_true() {
    // Pairs that sampling alone would have listed wrongly; true ones that the lower threshold adds;
    // that it misses.
    let (mut wrong, mut added, mut missed, mut chained) = (0, 0, 0, 0);
    for seed in (500..506).step_by(one_in(2)) {
        let directory = common::temporary();
        let docs = random_corpus(seed, Shape::default());
        let input = write_jsonl(directory.path(), &docs, 2);
        let out = directory.path().join("out");
        let random = &mut Random(seed);
        for (c, t) in BELOW {
            let by_group = (seed % 2 == 1).then(|| *random.pick(&BY_GROUP));
            let spec = Spec {
                w: 2 + (seed % 3) as usize,
                md5: seed % 4 < 2,
                threshold: THRESHOLDS[t],
                sampling: *random.pick(&SAMPLINGS),
                by_group,
                candidates: Some(THRESHOLDS[c]),
                ..Spec::default()
            };
            let what = format!("seed {seed}, {spec:?}");
            let expected = answer(&spec, &docs);
            for (join, threads) in [("prefix", 1), ("count", 3), ("auto", 2)] {
                let run = spec.run().join(join).threads(threads);
                let summary = run.run(&[&input], &out).unwrap();
                assert_eq!(Answer::read(&results(&out)), expected, "{join}, {what}");
                let join = summary.join.unwrap();
                assert_eq!(join.pairs as usize, expected.pairs.len(), "{what}");
                let proposed = Spec {
                    threshold: THRESHOLDS[c],
                    candidates: None,
                    ..spec
                };
                let proposed = answer(&proposed, &docs).pairs;
                assert_eq!(join.looked_up, Some(proposed.len() as u64), "{what}");
                wrong += proposed.len() - expected.pairs.len();
            }
            let pairs = |spec: Spec| -> BTreeSet<String> {
                answer(&spec, &docs).pairs.into_iter().collect()
            };
            let equal = pairs(Spec {
                candidates: Some(spec.threshold),
                ..spec
            });
            let found: BTreeSet<String> = expected.pairs.iter().cloned().collect();
            assert!(found.is_superset(&equal));
            added += found.len() - equal.len();
            let all = Spec {
                sampling: common::oracle::FULL,
                by_group: spec.by_group.map(|_| ("full", [(1, 0); 4])),
                candidates: None,
                ..spec
            };
            let all = pairs(all);
            assert!(all.is_superset(&found), "a pair that is not true");
            missed += all.len() - found.len();
            for cluster in &expected.clusters {
                let members = cluster["members"].as_array().unwrap();
                chained += members
                    .iter()
                    .filter(|m| m["resemblance"].is_null())
                    .count();
            }
        }
    }
    assert!(
        wrong * one_in(2) > 50 && added * one_in(2) > 20 && missed * one_in(2) > 50 && chained > 0,
        "{wrong} {added} {missed} {chained}"
    );
}

/// Common shingles dropped from the samples' counts are there again when the full sets decide.
#[test]
fn common_shingles_count_when_pairs_are_verified() {
    let directory = common::temporary();
    let docs = random_corpus(520, LARGER);
    let input = write_jsonl(directory.path(), &docs, 1);
    let mut found = 0;
    for most in [4, 12] {
        let spec = Spec {
            w: 4,
            threshold: THRESHOLDS[1],
            sampling: SAMPLINGS[0],
            candidates: Some(THRESHOLDS[0]),
            max_postings: Some(most),
            ..Spec::default()
        };
        let out = directory.path().join("out");
        spec.run().run(&[&input], &out).unwrap();
        let expected = answer(&spec, &docs);
        assert_eq!(Answer::read(&results(&out)), expected);
        found += expected.pairs.len();
    }
    assert!(found > 10, "{found}");
}

fn larger() -> Spec {
    Spec {
        w: 2,
        threshold: THRESHOLDS[1],
        by_group: Some(BY_GROUP[0]),
        candidates: Some(THRESHOLDS[0]),
        ..Spec::default()
    }
}

const LARGER: Shape = Shape {
    families: 60,
    members: 6,
    words: 200,
    vocabulary: 300,
    boilerplate: 40,
};

/// Memory for few records at a time, so that there are several runs, blocks and generations.
#[test]
fn all_means_give_the_same_bytes() {
    let directory = common::temporary();
    let docs = random_corpus(530, LARGER);
    let input = write_jsonl(directory.path(), &docs, 2);
    let expected = answer(&larger(), &docs);
    assert!(expected.pairs.len() > 100, "{}", expected.pairs.len());
    let mut first = None;
    for join in ["prefix", "count"] {
        for (threads, spill) in [(1, false), (2, true), (4, true)] {
            let run = larger().run().join(join).threads(threads);
            let run = run.segment_size(8 << 10).max_document(64 << 10).fan_in(2);
            let run = if spill { run.spill() } else { run };
            let (_, out) = least_memory(|memory| {
                let out = common::temporary();
                let run = run.clone().memory(memory);
                run.run(&[&input], out.path()).map(|_| out)
            });
            let found = results(out.path());
            assert_eq!(Answer::read(&found), expected, "{join}, {threads} threads");
            assert_same_files(&found, first.get_or_insert(found.clone()), join);
        }
    }
}

#[test]
fn stopped_and_run_again() {
    let directory = common::temporary();
    let docs = random_corpus(531, Shape::default());
    let input = write_jsonl(directory.path(), &docs, 2);
    for join in ["prefix", "count"] {
        let run = larger().run().join(join).spill().threads(2);
        let whole = directory.path().join("whole");
        let watch = StopAt::never();
        run.watched(&[&input], &whole, &watch.stop, &watch).unwrap();
        let calls = watch.calls.load(Ordering::SeqCst);
        let expected = lasting(&whole);
        assert!(rows_of(&whole, "pairs.tsv").len() > 10);
        let mut stopped = BTreeSet::new();
        // Progress is reported more often or less often from one run to the next, so calls are
        // tried until a run ends before its stop.
        for after in 1.. {
            let out = common::temporary();
            let watch = StopAt::call(after);
            let ended = run.watched(&[&input], out.path(), &watch.stop, &watch);
            let finished = ended.is_ok();
            if let Err(error) = ended {
                stopped.insert(stage_of(&error));
            }
            run.run(&[&input], out.path()).unwrap();
            assert_same_files(
                &lasting(out.path()),
                &expected,
                &format!("call {after} of {calls} or so"),
            );
            if finished {
                break;
            }
        }
        assert!(
            stopped.contains("join") && stopped.contains("cluster"),
            "{stopped:?}"
        );
        fs::remove_dir_all(whole).unwrap();
    }
}

/// Another threshold of candidates is another question; the same again is none.
#[test]
fn candidates_are_part_of_the_question() {
    let directory = common::temporary();
    let docs = random_corpus(532, Shape::default());
    let input = write_jsonl(directory.path(), &docs, 1);
    let out = directory.path().join("out");
    let mut lists = BTreeSet::new();
    let spec = Spec {
        w: 2,
        sampling: SAMPLINGS[1],
        threshold: THRESHOLDS[1],
        ..Spec::default()
    };
    for candidates in [None, Some(THRESHOLDS[1]), Some(THRESHOLDS[0]), None] {
        let spec = Spec { candidates, ..spec };
        spec.run().run(&[&input], &out).unwrap();
        assert_eq!(Answer::read(&results(&out)), answer(&spec, &docs));
        lists.insert(fs::read(out.join("pairs.tsv")).unwrap());
        let before: Vec<_> = RESULTS
            .map(|name| fs::metadata(out.join(name)).unwrap().modified().unwrap())
            .into();
        let mut workspace = pipeline::open(&out).unwrap();
        let (run, watch) = (spec.run(), StopAt::never());
        pipeline::join(
            &mut workspace,
            &run.question,
            &run.context(&watch.stop, &watch),
        )
        .unwrap();
        assert_eq!(watch.begun(), Vec::<&str>::new());
        let after: Vec<_> = RESULTS
            .map(|name| fs::metadata(out.join(name)).unwrap().modified().unwrap())
            .into();
        assert_eq!(after, before);
    }
    assert_eq!(lists.len(), 3);
}

#[test]
fn what_cannot_be_verified_is_refused() {
    let refused = |spec: Spec, pairs: &str| {
        let run = spec.run().pairs(pairs);
        match run.question.join.check() {
            Err(Error::BadParameter { name, given, limit }) => (name, given, limit),
            other => panic!("{other:?}"),
        }
    };
    let spec = Spec {
        threshold: THRESHOLDS[1],
        sampling: SAMPLINGS[0],
        candidates: Some(THRESHOLDS[2]),
        ..Spec::default()
    };
    let (name, given, limit) = refused(spec, "all");
    assert_eq!((name, &given[..]), ("candidates", "0.85"));
    assert!(limit.contains("0.5"), "{limit}");
    let spec = Spec {
        candidates: Some(THRESHOLDS[0]),
        ..spec
    };
    let (name, _, limit) = refused(spec, "none");
    assert!(
        name == "verified" && limit.contains("--pairs none"),
        "{limit}"
    );
    assert!(spec.run().question.join.check().is_ok());
    let equal = Spec {
        candidates: Some(THRESHOLDS[1]),
        ..spec
    };
    assert!(equal.run().question.join.check().is_ok());
}
