//! A study counts what a brute force over the definitions counts, whatever it may use, and however
//! often it is stopped; the directory that it is about stays as it is.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline;
use lookalike::report::page::{self, PageConfig};
use lookalike::tasks::inspect::verify;
use lookalike_lab::study::{
    COST_FILE, DIRECTORY, PAGE_FILE, PairTable, Study, StudyConfig, Trial, TrialGroup, comparison,
};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use common::corpus::{Doc, Shape, documents, random_corpus, write_jsonl};
use common::oracle::{Both, Fact, Spec, THRESHOLDS, pairs};
use common::stopped::{StopAt, stage_of};
use common::{
    Run, assert_same_files, lasting, least_memory, one_in, rows_of, sample_corpora, tree,
};
use serde_json::Value;

type Fraction = (&'static str, u128, u128);
const AT: [Fraction; 3] = [THRESHOLDS[0], THRESHOLDS[1], THRESHOLDS[2]];

fn config(ratios: &[u32]) -> StudyConfig {
    StudyConfig {
        ratios: ratios.to_vec(),
        thresholds: AT.iter().map(|(text, ..)| text.parse().unwrap()).collect(),
    }
}

/// Group documents by the bounds of [`common::oracle::BOUNDS_OF_LEVELS`], all with one ratio.
fn spec(w: usize, md5: bool, n: u32, class: u32) -> Spec {
    Spec {
        w,
        md5,
        threshold: AT[0],
        by_group: Some(("full,full,full,full", [(n.into(), class.into()); 4])),
        ..Spec::default()
    }
}

fn study(run: &Run, out: &Path, config: &StudyConfig) -> Result<Study, Error> {
    watched(run, out, config, &StopAt::never())
}

fn watched(run: &Run, out: &Path, config: &StudyConfig, watch: &StopAt) -> Result<Study, Error> {
    let mut workspace = pipeline::open(out)?;
    let context = run.context(&watch.stop, watch);
    lookalike_lab::report::write_study(&mut workspace, config, &context).map(|(study, _)| study)
}

/// How many thresholds a pair reaches by the sample, and in truth.
fn levels(both: &Both) -> (usize, usize) {
    let reached =
        |counts: &common::oracle::Counts| AT.iter().filter(|at| counts.reach(**at)).count();
    (reached(&both.sampled), reached(&both.full))
}

/// A trial by brute force.
fn trial(facts: &[Fact], pairs: &[Both], n: u32, class: u32) -> Trial {
    let empty = TrialGroup {
        same: PairTable::new(AT.len()),
        cross: PairTable::new(AT.len()),
        ..TrialGroup::default()
    };
    let mut groups = vec![empty; 4];
    for (i, fact) in facts.iter().enumerate() {
        if fact.first == i && fact.shingles > 0 {
            let group = &mut groups[fact.group];
            group.documents += 1;
            group.shingles += fact.shingles as u64;
            group.sampled += fact.sampled as u64;
            group.nothing_sampled += u64::from(fact.sampled == 0);
        }
    }
    for both in pairs {
        let (a, b) = (facts[both.a].group, facts[both.b].group);
        let group = &mut groups[a.min(b)];
        let (found, truth) = levels(both);
        if (found, truth) != (0, 0) {
            let table = if a == b {
                &mut group.same
            } else {
                &mut group.cross
            };
            table.cells[found * (AT.len() + 1) + truth] += 1;
        }
    }
    Trial { n, class, groups }
}

/// What was met on the way: a study of nothing, or one in which everything is right, shows nothing.
#[derive(Default)]
struct Met {
    precisions: usize,
    recalls: usize,
    cross: u64,
    nothing_sampled: u64,
}

/// Every trial of a study against brute force.
fn check(study: &Study, docs: &[Doc], w: usize, md5: bool, met: &mut Met, what: &str) {
    let mut trials = study.trials.iter();
    for n in std::iter::once(1).chain(study.config.ratios.iter().copied()) {
        for class in 0..n {
            let found = trials.next().unwrap();
            let (facts, pairs) = pairs(&spec(w, md5, n, class), docs);
            assert_eq!(
                *found,
                trial(&facts, &pairs, n, class),
                "{what}, 1/{n}:{class}"
            );
            // The counts of any two thresholds, from the pairs themselves.
            for (number, group) in found.groups.iter().enumerate() {
                met.nothing_sampled += group.nothing_sampled;
                for (table, across) in [(&group.same, false), (&group.cross, true)] {
                    let of_group: Vec<(usize, usize)> = pairs
                        .iter()
                        .filter(|both| {
                            let (a, b) = (facts[both.a].group, facts[both.b].group);
                            a.min(b) == number && (a != b) == across
                        })
                        .map(levels)
                        .collect();
                    for c in 0..AT.len() {
                        for t in 0..AT.len() {
                            let count = |found: bool, truth: bool| {
                                let is = |pair: &&(usize, usize)| {
                                    (pair.0 > c) == found && (pair.1 > t) == truth
                                };
                                of_group.iter().filter(is).count() as u64
                            };
                            let counts = table.counts(c, t);
                            let found = (counts.correct, counts.wrong, counts.missed);
                            let expected =
                                (count(true, true), count(true, false), count(false, true));
                            assert_eq!(found, expected, "{what}, group {number}, {c} {t}");
                        }
                        let counts = table.at(c);
                        assert_eq!(counts, table.counts(c, c));
                        let inside = |share: Option<f64>| share.is_some_and(|p| p > 0.0 && p < 1.0);
                        met.precisions += usize::from(inside(counts.precision()));
                        met.recalls += usize::from(inside(counts.recall()));
                        met.cross += if across { counts.correct } else { 0 };
                    }
                }
            }
        }
    }
    assert_eq!(trials.next(), None);
}

const SHAPES: [Shape; 3] = [
    Shape {
        families: 18,
        members: 4,
        words: 120,
        vocabulary: 150,
        boilerplate: 25,
    },
    // Much boilerplate.
    Shape {
        families: 25,
        members: 3,
        words: 100,
        vocabulary: 400,
        boilerplate: 60,
    },
    // Few and large families.
    Shape {
        families: 6,
        members: 14,
        words: 200,
        vocabulary: 100,
        boilerplate: 10,
    },
];

#[test]
fn studies_count_what_brute_force_counts() {
    let mut met = Met::default();
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for md5 in [false, true]
            .into_iter()
            .skip(i % one_in(2))
            .step_by(one_in(2))
        {
            let directory = common::temporary();
            let docs = random_corpus(40 + i as u64, shape);
            let input = write_jsonl(directory.path(), &docs, 2);
            let w = 2 + i % 2;
            let run = spec(w, md5, 1, 0).run();
            let ratios = [[2, 3, 4], [2, 4, 8]].into_iter().enumerate();
            for (at, ratios) in ratios.skip(i % one_in(2)).step_by(one_in(2)) {
                // After a run, whose postings are used; after a sampled run, whose postings are
                // not; and after none.
                let mut studies = Vec::new();
                let all = ["full", "1/2,1/2,1/4,1/4", ""];
                let befores = if at == 0 { &all[..1] } else { &all };
                for &before in befores {
                    let out = directory
                        .path()
                        .join(format!("{at}{before}").replace(['/', ','], "-"));
                    match before {
                        "" => drop(run.ingest(&[&input], &out).unwrap()),
                        sampling => {
                            _ = run.clone().sampling(sampling).run(&[&input], &out).unwrap()
                        }
                    }
                    studies.push(study(&run, &out, &config(&ratios)).unwrap());
                }
                for other in &studies[1..] {
                    assert_eq!(*other, studies[0]);
                }
                let what = format!("{shape:?}, md5 {md5}, {ratios:?}");
                check(&studies[0], &docs, w, md5, &mut met, &what);
            }
        }
    }
    assert!(
        met.precisions > 100 && met.recalls > 100,
        "{} {}",
        met.precisions,
        met.recalls
    );
    assert!(
        met.cross > 100 && met.nothing_sampled > 10,
        "{} {}",
        met.cross,
        met.nothing_sampled
    );
}

/// The oracle does not read a sample corpus. So this test compares each trial with the files of a run
/// with the same sampling.
#[test]
fn trials_are_the_runs_of_their_samplings() {
    let directory = common::temporary();
    let (out, other) = (directory.path().join("out"), directory.path().join("other"));
    let input = sample_corpora("trec-web");
    let mut run = Run::default().threshold("0.3").max_document(8 << 20);
    run.collection.size_groups = "100,200,400".parse().unwrap();
    drop(run.ingest(&[&input], &out).unwrap());
    let study = study(&run, &out, &config(&[2, 3, 4])).unwrap();
    let read = |out: &Path| -> BTreeMap<(String, String), usize> {
        let rows = rows_of(out, "pairs.tsv");
        let pairs = rows.iter().map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            let number = |i: usize| cells[i].parse::<usize>().unwrap();
            let counts = common::oracle::Counts {
                shared: number(3),
                sizes: (number(4), number(5)),
            };
            let levels = AT.iter().filter(|at| counts.reach(**at)).count();
            ((cells[0].to_string(), cells[1].to_string()), levels)
        });
        pairs.collect()
    };
    run.run(&[&input], &other).unwrap();
    let truth = read(&other);
    let rows = rows_of(&other, "documents.tsv");
    let group = |docno: &str| -> usize {
        let row = rows
            .iter()
            .find(|row| row.split('\t').next() == Some(docno))
            .unwrap();
        row.split('\t').nth(4).unwrap().parse().unwrap()
    };
    let (mut wrong, mut missed, mut across) = (0, 0, 0);
    for trial in &study.trials {
        let sampling = format!("1/{}:{}", trial.n, trial.class);
        let sampling = if trial.n == 1 { "full" } else { &sampling };
        let summary = run
            .clone()
            .sampling(sampling)
            .run(&[&input], &other)
            .unwrap();
        let found = read(&other);
        let mut tables = vec![[PairTable::new(3), PairTable::new(3)]; 4];
        for pair in truth.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
            let (a, b) = (group(&pair.0), group(&pair.1));
            let of = |pairs: &BTreeMap<_, usize>| pairs.get(pair).copied().unwrap_or(0);
            tables[a.min(b)][usize::from(a != b)].cells[of(&found) * 4 + of(&truth)] += 1;
        }
        for (group, [same, cross]) in trial.groups.iter().zip(tables) {
            assert_eq!((&group.same, &group.cross), (&same, &cross), "{sampling}");
            wrong += same.at(1).wrong;
            missed += same.at(1).missed;
            across += cross.at(0).correct;
        }
        let sum = |of: fn(&TrialGroup) -> u64| trial.groups.iter().map(of).sum::<u64>();
        let sample = summary.sample.unwrap();
        assert_eq!(sum(|g| g.shingles), sample.shingles);
        assert_eq!(sum(|g| g.sampled), sample.sampled);
        assert_eq!(sum(|g| g.nothing_sampled), sample.nothing_sampled);
    }
    assert!(
        wrong > 0 && missed > 0 && across > 0,
        "{wrong} {missed} {across}"
    );
}

/// What a study leaves that is the same each time: trials without what they cost, and all but that
/// of the whole.
fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(&out.join(DIRECTORY));
    files.remove(COST_FILE).unwrap();
    files.remove(PAGE_FILE).unwrap();
    for (name, bytes) in &mut files {
        if name.starts_with("trials/") {
            let mut kept: Value = serde_json::from_slice(bytes).unwrap();
            let fields = kept.as_object_mut().unwrap();
            assert!(fields.remove("cost").is_some());
            *bytes = kept.to_string().into_bytes();
        }
    }
    files
}

/// The files of the directory itself: all that is not the study's.
fn base(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(out);
    files.retain(|name, _| !name.starts_with("study/") && name != "lock");
    // The manifest names the study's files.
    let manifest = files.get_mut("manifest.json").unwrap();
    let mut values = serde_json::Deserializer::from_slice(manifest).into_iter::<Value>();
    let mut value = values.next().unwrap().unwrap();
    if let Some(others) = value.get_mut("others").and_then(Value::as_array_mut) {
        others.retain(|file| !file["name"].as_str().unwrap().starts_with("study/"));
        if others.is_empty() {
            value.as_object_mut().unwrap().remove("others");
        }
    }
    value.as_object_mut().unwrap().remove("checksum");
    *manifest = value.to_string().into_bytes();
    files
}

fn assert_nothing_left(out: &Path, what: &str) {
    for name in ["study/trial", "study/truth", "plan"] {
        assert!(!out.join(name).exists(), "{what}: {name} is left");
    }
    let verified = verify(out).unwrap();
    assert!(verified.errors.is_empty(), "{what}: {:?}", verified.errors);
}

fn input(directory: &Path) -> (Vec<Doc>, std::path::PathBuf) {
    let docs = random_corpus(7, SHAPES[2]);
    let input = write_jsonl(directory, &docs, 2);
    (docs, input)
}

#[test]
fn studies_are_the_same_for_all_means() {
    let directory = common::temporary();
    let (_, input) = input(directory.path());
    let run = spec(2, false, 1, 0)
        .run()
        .segment_size(4 << 10)
        .max_document(4 << 10);
    for ingested_only in [false, true] {
        let out = directory.path().join(format!("out{ingested_only}"));
        if ingested_only {
            drop(run.ingest(&[&input], &out).unwrap());
        } else {
            run.run(&[&input], &out).unwrap();
            assert!(!lasting(&out).is_empty());
        }
        let before = base(&out);
        let config = config(&[2, 4]);
        let first = study(&run, &out, &config).unwrap();
        let expected = files(&out);
        assert!(expected.len() > 10, "{:?}", expected.keys());
        for threads in [2, 1, 4].into_iter().step_by(one_in(3)) {
            let anew = |memory: u64| {
                let _ = fs::remove_dir_all(out.join(DIRECTORY));
                study(&run.clone().threads(threads).memory(memory), &out, &config)
            };
            let (least, found) = least_memory(anew);
            for (memory, found) in [(least, found), (1 << 30, anew(1 << 30).unwrap())] {
                assert_eq!(found, first);
                let what = format!("{threads} threads, {memory} bytes");
                assert_same_files(&files(&out), &expected, &what);
                assert_same_files(&base(&out), &before, &what);
                assert_nothing_left(&out, &what);
            }
        }
    }
}

/// Runs a study that is stopped after one more call each time, in one directory, and each time in a
/// new one.
#[test]
fn stopped_studies_go_on() {
    let directory = common::temporary();
    let (_, input) = input(directory.path());
    let run = spec(2, true, 1, 0).run();
    for (ingested_only, ratios) in [(false, [2, 4]), (true, [2, 3])] {
        let made = directory.path().join(format!("made{ingested_only}"));
        if ingested_only {
            drop(run.ingest(&[&input], &made).unwrap());
        } else {
            run.run(&[&input], &made).unwrap();
        }
        let copy = |name: &str| {
            let out = directory.path().join(name);
            let _ = fs::remove_dir_all(&out);
            common::copy_directory(&made, &out);
            out
        };
        let config = config(&ratios);
        let whole = copy("whole");
        let watch = StopAt::never();
        let first = watched(&run, &whole, &config, &watch).unwrap();
        let calls = watch.calls.load(Ordering::SeqCst);
        let (expected, before) = (files(&whole), base(&whole));
        let mut stops = 0;
        let mut tried = 0;
        for after in (1..=calls).step_by(one_in(3)) {
            tried += 1;
            let out = copy("once");
            match watched(&run, &out, &config, &StopAt::call(after)) {
                Err(error) => {
                    assert!(!stage_of(&error).is_empty());
                    stops += 1;
                }
                // Only the call that says it is over comes too late.
                Ok(_) => assert!(after + 1 >= calls, "call {after} of {calls}"),
            }
            if after == 3 && !ingested_only {
                // The exact pairs are joined from the postings of the run.
                assert!(!out.join("study/truth/postings").exists());
                assert!(out.join("study/truth/pairs").exists());
            }
            let what = format!("stopped at call {after} of {calls}");
            assert_eq!(study(&run, &out, &config).unwrap(), first, "{what}");
            assert_same_files(&files(&out), &expected, &what);
            assert_same_files(&base(&out), &before, &what);
            assert_nothing_left(&out, &what);
        }
        assert!(stops + 1 >= tried, "{stops} {tried}");
        let out = copy("again");
        let mut attempts = 0;
        while let Err(error) = watched(&run, &out, &config, &StopAt::call(3 + attempts)) {
            stage_of(&error);
            attempts += 1;
            assert!(attempts < calls, "it never ends");
        }
        assert!(attempts > 2, "{attempts}");
        assert_same_files(&files(&out), &expected, "again and again");
        assert_nothing_left(&out, "again and again");
        // All trials are there, and with them what the last ones were made with.
        let out = copy("ended");
        let ended = watched(&run, &out, &config, &StopAt::call(4));
        assert!(ended.is_err() && out.join("study/truth").exists());
        let trials = Path::new(DIRECTORY).join("trials");
        common::copy_directory(&whole.join(&trials), &out.join(&trials));
        study(&run, &out, &config).unwrap();
        assert_same_files(&files(&out), &expected, "with all trials there");
        assert_nothing_left(&out, "with all trials there");
    }
}

/// Stops after so many checks of its own, wherever they are, deep in the stages of a trial.
#[test]
fn studies_stopped_in_the_midst_of_a_trial_go_on() {
    let directory = common::temporary();
    let (_, input) = input(directory.path());
    let run = spec(2, false, 1, 0).run();
    let made = directory.path().join("made");
    drop(run.ingest(&[&input], &made).unwrap());
    let config = config(&[2, 3]);
    let whole = directory.path().join("whole");
    common::copy_directory(&made, &whole);
    study(&run, &whole, &config).unwrap();
    let expected = files(&whole);
    let mut stops = 0;
    for micros in (0..40).step_by(one_in(3)).map(|i| i * i * 60) {
        let out = directory.path().join("out");
        let _ = fs::remove_dir_all(&out);
        common::copy_directory(&made, &out);
        let stop = Stop::default();
        let asked = stop.clone();
        let ended = std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_micros(micros));
                asked.request();
            });
            let mut workspace = pipeline::open(&out).unwrap();
            let context = run.context(&stop, &Silent);
            lookalike_lab::report::write_study(&mut workspace, &config, &context).map(drop)
        });
        if let Err(error) = ended {
            stage_of(&error);
            stops += 1;
        }
        // A run in between: now its postings are used instead.
        if stops % 2 == 1 {
            run.run(&[&input], &out).unwrap();
        }
        study(&run, &out, &config).unwrap();
        let what = format!("stopped after {micros} microseconds");
        assert_same_files(&files(&out), &expected, &what);
        assert_nothing_left(&out, &what);
    }
    assert!(stops * one_in(3) > 5, "{stops}");
}

/// What a trial depends on is asked again when it changes, and no other.
#[test]
fn trials_are_kept_while_they_hold() {
    let directory = common::temporary();
    let (docs, input) = input(directory.path());
    let run = spec(2, false, 1, 0).run();
    let out = directory.path().join("out");
    run.run(&[&input], &out).unwrap();
    study(&run, &out, &config(&[2])).unwrap();
    let kept = |name: &str| out.join(DIRECTORY).join("trials").join(name);
    let before = fs::read(kept("1-2-1.json")).unwrap();
    // More ratios: the old trials stay, with their costs.
    study(&run, &out, &config(&[2, 4])).unwrap();
    assert_eq!(fs::read(kept("1-2-1.json")).unwrap(), before);
    // Damaged, it is made again.
    fs::write(kept("1-2-1.json"), b"{").unwrap();
    let again = study(&run, &out, &config(&[2, 4])).unwrap();
    let mut met = Met::default();
    check(&again, &docs, 2, false, &mut met, "damaged");
    assert_ne!(fs::read(kept("1-2-1.json")).unwrap(), b"{");
    // Other thresholds are other trials.
    let mut other = config(&[2]);
    other.thresholds.remove(0);
    let found = study(&run, &out, &other).unwrap();
    for (found, old) in found.trials.iter().zip(&again.trials) {
        for (found, old) in found.groups.iter().zip(&old.groups) {
            assert_eq!(found.same.at(0), old.same.at(1));
            assert_eq!(found.cross.counts(0, 1), old.cross.counts(1, 2));
        }
    }
}

#[test]
fn what_cannot_be_studied_is_refused() {
    let directory = common::temporary();
    let (_, input) = input(directory.path());
    let run = spec(2, false, 1, 0).run();
    let out = directory.path().join("out");
    drop(run.ingest(&[&input], &out).unwrap());
    for (ratios, thresholds, named) in [
        (&[][..], &["0.5"][..], "ratios"),
        (&[1, 2], &["0.5"], "ratios"),
        (&[4, 2], &["0.5"], "ratios"),
        (&[2, 2], &["0.5"], "ratios"),
        (&[2, 2048], &["0.5"], "ratios"),
        (&[2], &[], "thresholds"),
        (&[2], &["0.5", "0.5"], "thresholds"),
        (&[2], &["0.9", "0.5"], "thresholds"),
    ] {
        let config = StudyConfig {
            ratios: ratios.to_vec(),
            thresholds: thresholds.iter().map(|t| t.parse().unwrap()).collect(),
        };
        match study(&run, &out, &config) {
            Err(Error::BadParameter { name, .. }) => assert_eq!(name, named),
            other => panic!("{other:?}"),
        }
        assert!(!out.join(DIRECTORY).exists());
    }
}

/// Nothing to count, and next to nothing.
#[test]
fn studies_of_small_collections() {
    for texts in [
        &[""][..],
        &["one"],
        &["one two", "one two"],
        &["a b c d e", "a b c d f", ""],
    ] {
        let directory = common::temporary();
        let docs = documents(texts);
        let input = write_jsonl(directory.path(), &docs, 1);
        let out = directory.path().join("out");
        let run = spec(2, false, 1, 0).run();
        drop(run.ingest(&[&input], &out).unwrap());
        let found = study(&run, &out, &config(&[2, 3])).unwrap();
        check(
            &found,
            &docs,
            2,
            false,
            &mut Met::default(),
            &format!("{texts:?}"),
        );
        assert_nothing_left(&out, "small");
    }
}

/// What a study tells of its plans is what runs with them list.
#[test]
fn plans_of_a_study_are_what_runs_with_them_list() {
    let directory = common::temporary();
    let shape = Shape {
        families: 150,
        members: 8,
        words: 200,
        vocabulary: 400,
        boilerplate: 40,
    };
    let input = write_jsonl(directory.path(), &random_corpus(90, shape), 2);
    let mut run = spec(2, false, 1, 0).run().threshold("0.85");
    let listed = |run: &Run, name: &str| -> BTreeSet<String> {
        let out = directory.path().join(name);
        run.run(&[&input], &out).unwrap();
        let docnos = |row: &String| row.split('\t').take(2).collect::<Vec<_>>().join("\t");
        rows_of(&out, "pairs.tsv").iter().map(docnos).collect()
    };
    let exact = listed(&run, "exact");
    let mut workspace = pipeline::open(&directory.path().join("exact")).unwrap();
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let (_, cost) =
        lookalike_lab::report::write_study(&mut workspace, &config(&[2, 4]), &context).unwrap();
    assert_eq!(cost.planned.len(), 3);
    let mut wrong = 0;
    for (number, planned) in cost.planned.iter().enumerate() {
        run.question.sampling = planned.plan.sampling();
        let found = listed(&run, &format!("planned{number}"));
        let counts = planned.counts;
        assert_eq!(counts.correct, found.intersection(&exact).count() as u64);
        assert_eq!(counts.wrong, found.difference(&exact).count() as u64);
        assert_eq!(counts.missed, exact.difference(&found).count() as u64);
        let of_groups = planned.groups.iter().map(|group| group.found());
        assert_eq!(of_groups.sum::<u64>(), counts.found());
        wrong += counts.wrong + counts.missed;
    }
    assert!(wrong > 0, "every plan takes everything");
}

/// Runs a study of a random collection, and returns what it found and the collection's directory.
fn studied(directory: &Path) -> (Run, std::path::PathBuf) {
    let (_, input) = input(directory);
    let run = spec(2, false, 1, 0).run();
    let out = directory.join("out");
    run.run(&[&input], &out).unwrap();
    study(&run, &out, &config(&[2, 4])).unwrap();
    (run, out)
}

#[test]
fn the_page_of_a_study_is_written_again_with_the_same_bytes() {
    let directory = common::temporary();
    let (run, out) = studied(directory.path());
    let path = out.join(DIRECTORY).join(PAGE_FILE);
    let page = fs::read_to_string(&path).unwrap();
    for name in ["trials.csv", "summary.csv", "verified.csv", "figure4.csv"] {
        assert!(page.contains(&format!("href=\"{name}\"")), "{name}");
        assert!(out.join(DIRECTORY).join(name).exists());
    }
    assert!(page.contains("<html lang=\"en\">") && page.contains("Ratio by size group"));
    assert!(!page.contains("<img") && !page.contains("<script") && !page.contains("NaN"));
    // Every link leads to a file of the study, or to a section.
    for link in page.split("href=\"").skip(1) {
        let link = link.split('"').next().unwrap();
        let there = match link.strip_prefix('#') {
            Some(id) => page.contains(&format!("id=\"{id}\"")),
            None => out.join(DIRECTORY).join(link).exists(),
        };
        assert!(there, "{link}");
    }
    fs::remove_file(&path).unwrap();
    let again = || {
        let mut workspace = pipeline::open(&out)?;
        let (stop, silent) = (Stop::default(), Silent);
        lookalike_lab::report::write_study_page(&mut workspace, &run.context(&stop, &silent))
    };
    assert_eq!(again().unwrap(), path);
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
    assert!(verify(&out).unwrap().errors.is_empty());
    // A trial that is damaged or missing is not guessed at.
    let trial = out.join("study/trials/1-2-0.json");
    fs::write(&trial, "{}").unwrap();
    for _ in 0..2 {
        let error = again().unwrap_err();
        assert!(
            matches!(&error, Error::StageMissing { stage: "study", .. }),
            "{error}"
        );
        assert!(
            error
                .help()
                .unwrap_or_default()
                .contains("lookalike lab study")
        );
        let _ = fs::remove_file(&trial);
    }
}

#[test]
fn runs_of_a_study_are_the_same_as_csv_and_as_json() {
    let directory = common::temporary();
    let (run, out) = studied(directory.path());
    let mut workspace = pipeline::open(&out).unwrap();
    let (stop, silent) = (Stop::default(), Silent);
    let context = run.context(&stop, &silent);
    let (study, cost) =
        lookalike_lab::report::write_study(&mut workspace, &config(&[2, 4]), &context).unwrap();
    let compared = comparison(&study, &cost).unwrap();
    let text = lookalike_lab::report::study_csv(&compared);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), compared.rows.len());
    for (record, row) in rows.iter().zip(&compared.rows) {
        let json = serde_json::to_value(row).unwrap();
        let cell = |name: &str| {
            record
                .get(head.iter().position(|h| h == name).unwrap())
                .unwrap()
        };
        let number = |name: &str| cell(name).parse::<f64>().ok();
        assert_eq!(cell("run"), row.name);
        assert_eq!(cell("threshold"), compared.threshold.to_string());
        for name in [
            "share",
            "found",
            "looked_up",
            "nothing_sampled",
            "cpu_seconds",
        ] {
            assert_eq!(number(name), json[name].as_f64(), "{name}");
        }
        for measure in ["precision", "recall"] {
            for part in ["mean", "least", "greatest"] {
                let expected = json[measure][part].as_f64();
                assert_eq!(
                    number(&format!("{measure}_{part}")),
                    expected,
                    "{measure} {part}"
                );
            }
        }
    }
    for line in lookalike_lab::report::study(&study, &cost, 100)
        .unwrap()
        .lines()
    {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// The tables of a study are on a page of its own; the page of the directory links to it.
#[test]
fn a_page_in_the_directory_links_to_the_page_of_the_study() {
    let directory = common::temporary();
    let (run, out) = studied(directory.path());
    let links = |output: &Path| {
        let workspace = pipeline::open(&out).unwrap();
        let (stop, config) = (Stop::default(), PageConfig::default());
        page::write(&workspace, &config, output, &run.context(&stop, &Silent)).unwrap();
        let page = fs::read_to_string(output).unwrap();
        page.matches("href=\"study/study.html\"").count()
    };
    let inside = out.join(page::PAGE_FILE);
    assert_eq!(links(&inside), 1);
    // From another directory, the link would lead nowhere.
    assert_eq!(links(&directory.path().join("page.html")), 0);
    fs::remove_file(out.join(DIRECTORY).join(PAGE_FILE)).unwrap();
    assert_eq!(links(&inside), 0);
}
