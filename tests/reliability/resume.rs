//! Stopped anywhere and run again, the outcome is that of an uninterrupted run; what is
//! there and still holds is used again; what no longer holds is refused.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Progress, Stop, Unit};
use lookalike::engine::join::{self, Join};
use lookalike::engine::merge;
use lookalike::engine::pipeline;
use lookalike::engine::sample;
use lookalike::engine::sort;
use lookalike::store::workspace::Workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use common::stopped::{StopAt, corpus, names, stage_of, uninterrupted};
use common::{
    Run, assert_same_files, copy_directory, lasting, least_memory, one_in, paths, results,
};

#[test]
fn stopped_at_any_call_and_run_again() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    stopped_at_any_call(&run, &input, true);
    let counted = run.clone().join("count");
    stopped_at_any_call(&counted, &input, true);
    stopped_at_any_call(&counted.direct().keep_text(), &input, false);
    // What was selected is held in memory, and lost by a stop.
    stopped_at_any_call(&run.direct().threshold("0.5"), &input, true);
}

fn stopped_at_any_call(run: &Run, input: &Path, through_runs: bool) {
    let (expected, expected_names) = uninterrupted(run, input);
    let calls = {
        let (out, watch) = (common::temporary(), StopAt::never());
        run.watched(&[input], out.path(), &watch.stop, &watch)
            .unwrap();
        watch.calls.load(Ordering::SeqCst)
    };
    let mut stopped = BTreeSet::new();
    // Every call until it would have been over, and some after: how often a join tells how far it
    // is depends on the clock.
    let all = (1..=calls).step_by(one_in(3));
    for after in all.chain(calls.saturating_sub(6)..=calls + 4) {
        let out = common::temporary();
        let watch = StopAt::call(after);
        let first = run.clone().threads(1 + after % 3);
        match first.watched(&[input], out.path(), &watch.stop, &watch) {
            Ok(_) => {}
            Err(error) => _ = stopped.insert(stage_of(&error)),
        }
        let again = run
            .clone()
            .threads(1 + after % 4)
            .memory((64 + after as u64 * 8) << 20);
        let again = match again.question.join.join {
            Join::Count => again,
            _ if after % 2 == 0 => again.spill(),
            _ => again.direct(),
        };
        again.run(&[input], out.path()).unwrap();
        let what = format!("stopped at call {after} of {calls}");
        assert_same_files(&lasting(out.path()), &expected, &what);
        assert_eq!(names(out.path()), expected_names, "{what}");
    }
    for stage in [
        "ingest",
        "catalogue",
        "sample",
        "sort",
        "merge",
        "join",
        "cluster",
    ] {
        assert!(
            stopped.contains(stage) || stage == "sort" && !through_runs,
            "never stopped in {stage}: {stopped:?}"
        );
    }
}

/// Stopped again and again in one directory, with so little memory that there are many runs, many
/// blocks and many generations of both.
#[test]
fn stopped_again_and_again_with_the_least_memory() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 100);
    let collection = common::temporary();
    drop(run.ingest(&[&input], collection.path()).unwrap());
    let means = [("count", 2), ("count", 1), ("prefix", 3), ("prefix", 1)];
    for (join, threads) in means.into_iter().step_by(one_in(3)) {
        stopped_again_and_again(
            &run.clone().join(join).threads(threads),
            &input,
            &collection,
        );
    }
}

fn stopped_again_and_again(run: &Run, input: &Path, collection: &tempfile::TempDir) {
    let (expected, expected_names) = uninterrupted(run, input);
    let question = &run.question;
    type Stage<'a> = &'a dyn Fn(&mut Workspace, &Run, &StopAt) -> lookalike::Result<()>;
    let stages: [Stage; 5] = [
        &|w, run, watch| {
            sample::run::<u64>(w, &question.sampling, &run.context(&watch.stop, watch))
        },
        &|w, run, watch| sort::form_runs::<u64>(w, &run.context(&watch.stop, watch)),
        &|w, run, watch| merge::run::<u64>(w, Some(2), &run.context(&watch.stop, watch)),
        &|w, run, watch| {
            let context = run.context(&watch.stop, watch);
            join::run::<u64>(w, &question.join, Some(2), &context)
        },
        &|w, run, watch| pipeline::cluster(w, &run.context(&watch.stop, watch)).map(drop),
    ];
    let threads = run.threads;
    let out = common::temporary();
    copy_directory(collection.path(), out.path());
    let (mut interruptions, mut stopped) = (0, BTreeMap::new());
    for stage in stages {
        // The least memory, found in a copy.
        let trial = common::temporary();
        copy_directory(out.path(), trial.path());
        let mut workspace = pipeline::open(trial.path()).unwrap();
        let (memory, ()) = least_memory(|memory| {
            stage(
                &mut workspace,
                &run.clone().memory(memory),
                &StopAt::never(),
            )
        });
        drop(workspace);
        // A little later every few times, so that there is an end; workers may be done before they
        // see a stop, where the disk is fast.
        for attempt in 1.. {
            let mut workspace = pipeline::open(out.path()).unwrap();
            let watch = StopAt::call(1 + attempt / 8);
            match stage(&mut workspace, &run.clone().memory(memory), &watch) {
                Ok(()) => break,
                Err(error) => {
                    *stopped.entry(stage_of(&error)).or_insert(0) += 1;
                    interruptions += 1;
                }
            }
        }
    }
    assert!(interruptions > 20, "{stopped:?}");
    assert!(
        stopped["sort"] > 3 && stopped["merge"] > 0 && stopped["join"] > 3,
        "{stopped:?}"
    );
    let join = question.join.join;
    let what = format!("{join}, {threads} threads, stopped {interruptions} times");
    // The stages sort everything, and a join by prefixes needs less.
    let but_postings = |mut files: BTreeMap<String, Vec<u8>>| {
        let selects = |name: &str| name.starts_with("postings/") || name.starts_with("runs/");
        files.retain(|name, _| join == Join::Count || !selects(name));
        files
    };
    let found = but_postings(lasting(out.path()));
    assert_same_files(&found, &but_postings(expected), &what);
    if join == Join::Count {
        assert_eq!(names(out.path()), expected_names, "{what}");
    }
    let manifest = common::manifest(out.path());
    let (merge, join) = (
        manifest.postings.unwrap().stats,
        manifest.pairs.unwrap().stats,
    );
    assert!(merge.generations >= 3);
    if let Some(count) = join.count {
        assert!(join.generations >= 2 && count.blocks >= 2);
    }
    if let Some(prefix) = join.prefix {
        assert!(prefix.candidates >= join.pairs && join.pairs > 0);
    }
    assert_eq!(manifest.runs.unwrap().stats.records, merge.records);
}

/// When each file below a subdirectory of a run was written.
fn times(out: &Path, name: &str) -> Vec<(PathBuf, SystemTime)> {
    let all = paths(&out.join(name)).into_iter();
    all.map(|path| {
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        (path, time)
    })
    .collect()
}

#[test]
fn another_question_uses_what_is_there() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    // All postings serve every threshold.
    let run = run.join("count");
    let out = directory.path().join("out");
    let begun = |run: &Run| {
        let watch = StopAt::never();
        run.watched(&[&input], &out, &watch.stop, &watch).unwrap();
        watch.begun()
    };
    let asked = |run: &Run| {
        let stages = begun(run);
        let fresh = common::temporary();
        run.run(&[&input], fresh.path()).unwrap();
        assert_same_files(&lasting(&out), &lasting(fresh.path()), "in a new directory");
        assert_eq!(names(&out), names(fresh.path()));
        stages
    };
    let all = [
        "ingest",
        "catalogue",
        "sample",
        "sort",
        "merge",
        "join",
        "cluster",
    ];
    assert_eq!(asked(&run), all);
    let collection = (times(&out, "collection"), times(&out, "catalogue"));
    let postings = times(&out, "postings");
    assert!(collection.0.len() > 10 && !postings.is_empty());

    assert_eq!(begun(&run), [""; 0], "the same again");
    for threshold in ["0.5", "0.9"] {
        assert_eq!(
            asked(&run.clone().threshold(threshold)),
            ["join", "cluster"]
        );
        assert_eq!(times(&out, "postings"), postings);
    }
    let mut limited = run.clone();
    limited.question.join.max_postings = Some(3);
    let limited = limited.join("count");
    assert_eq!(begun(&limited), ["join", "cluster"]);
    let fresh = common::temporary();
    limited.run(&[&input], fresh.path()).unwrap();
    assert_same_files(&results(&out), &results(fresh.path()), "the other join");
    assert_eq!(times(&out, "postings"), postings);
    let sampled = run.clone().sampling("1/4:1");
    assert_eq!(asked(&sampled), all[2..], "another sampling");
    assert_eq!(asked(&run), all[2..], "and back");
    let mut other = run.clone().threads(1).memory(512 << 20);
    other.question.fan_in = Some(2);
    assert_eq!(begun(&other), [""; 0], "means are no parameters");
    assert_eq!(
        (times(&out, "collection"), times(&out, "catalogue")),
        collection
    );
}

/// Postings of a threshold serve higher ones. Everything else makes its own.
#[test]
fn another_threshold_uses_a_selection_that_serves_it() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let run = run.threshold("0.6");
    let out = directory.path().join("out");
    let asked = |run: &Run| {
        let watch = StopAt::never();
        run.watched(&[&input], &out, &watch.stop, &watch).unwrap();
        let fresh = common::temporary();
        run.run(&[&input], fresh.path()).unwrap();
        assert_same_files(&results(&out), &results(fresh.path()), "in a new directory");
        watch.begun()
    };
    assert_eq!(asked(&run).len(), 7);
    let again = ["sort", "merge", "join", "cluster"];
    assert_eq!(asked(&run.clone().threshold("0.9")), again[2..]);
    assert_eq!(asked(&run), again[2..]);
    assert_eq!(asked(&run.clone().threshold("0.3")), again);
    assert_eq!(asked(&run.clone().join("count")), again);
    assert_eq!(
        asked(&run.clone().join("count").threshold("0.1")),
        again[2..]
    );
    assert_eq!(asked(&run), again);
}

#[test]
fn another_question_after_a_stop_is_answered() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let other = run.clone().threshold("0.6").sampling("1/2");
    let expected = uninterrupted(&other, &input);
    for stage in ["sample", "sort", "merge", "join", "cluster"] {
        let out = common::temporary();
        // Stopped as soon as the stage begins.
        struct StopIn(Stop, &'static str);
        impl Progress for StopIn {
            fn start(&self, stage: &'static str, _: Unit, _: Option<u64>) {
                if stage == self.1 {
                    self.0.request();
                }
            }
            fn at(&self, _: u64) {}
            fn end(&self, _: &str) {}
            fn note(&self, _: &str) {}
        }
        let watch = StopIn(Stop::default(), stage);
        let error = run
            .watched(&[&input], out.path(), &watch.0, &watch)
            .unwrap_err();
        assert_eq!(stage_of(&error), stage);
        other.run(&[&input], out.path()).unwrap();
        assert_same_files(&lasting(out.path()), &expected.0, stage);
        assert_eq!(names(out.path()), expected.1, "{stage}");
    }
}

/// Changes the input by `change`, and expects the run to name the file in its refusal; undoes the
/// change, and expects the run to go on.
fn refused(change: impl FnOnce(&Path), named: &str) {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let (kept, out) = (directory.path().join("kept"), directory.path().join("out"));
    // One thread: otherwise all may have been read before anybody is told.
    let (first, watch) = (run.clone().threads(1), StopAt::call(4));
    let error = first
        .watched(&[&input], &out, &watch.stop, &watch)
        .unwrap_err();
    assert_eq!(stage_of(&error), "ingest");
    copy_directory(&input, &kept);
    for path in paths(&input) {
        keep_time(&path, &kept.join(path.file_name().unwrap()));
    }
    change(&input);
    for run in [run.clone(), run.clone().threshold("0.9")] {
        match run.run(&[&input], &out).unwrap_err() {
            Error::InputChanged { path, .. } => {
                assert_eq!(path.file_name().unwrap().to_str().unwrap(), named);
            }
            other => {
                let said = other.to_string();
                assert!(said.contains(" holds results of other inputs: "), "{said}");
                assert!(said.contains(named), "{said}");
            }
        }
    }
    fs::remove_dir_all(&input).unwrap();
    copy_directory(&kept, &input);
    for path in paths(&kept) {
        keep_time(&path, &input.join(path.file_name().unwrap()));
    }
    run.run(&[&input], &out).unwrap();
    assert_same_files(&lasting(&out), &uninterrupted(&run, &input).0, named);
}

fn keep_time(from: &Path, to: &Path) {
    let time = fs::metadata(from).unwrap().modified().unwrap();
    File::options()
        .write(true)
        .open(to)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn a_changed_input_is_refused() {
    let edit = |path: &Path, edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(path).unwrap();
        edit(&mut bytes);
        fs::write(path, bytes).unwrap();
    };
    let swap_letter = |bytes: &mut Vec<u8>| {
        let at = bytes.iter().position(|&b| b == b'a').unwrap();
        bytes[at] = b'b';
    };
    refused(
        |input| edit(&input.join("001.jsonl"), &swap_letter),
        "001.jsonl",
    );
    // Even if its time is put back.
    let timeless = |input: &Path| {
        let (path, copy) = (input.join("000.jsonl"), input.with_extension("copy"));
        fs::write(&copy, "").unwrap();
        keep_time(&path, &copy);
        edit(&path, &swap_letter);
        keep_time(&copy, &path);
    };
    refused(timeless, "000.jsonl");
    refused(
        |input| edit(&input.join("002.jsonl"), &|bytes| bytes.push(b'\n')),
        "002.jsonl",
    );
    refused(
        |input| edit(&input.join("002.jsonl"), &|bytes| bytes.truncate(9)),
        "002.jsonl",
    );
    refused(
        |input| fs::remove_file(input.join("001.jsonl")).unwrap(),
        "001.jsonl",
    );
    refused(
        |input| fs::remove_file(input.join("002.jsonl")).unwrap(),
        "002.jsonl",
    );
}

/// A new input after a stop is added when those of before have been read, wherever it is listed.
#[test]
fn a_new_input_after_a_stop_is_added() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let text = fs::read_to_string(input.join("000.jsonl")).unwrap();
    let few: Vec<&str> = text.lines().take(3).collect();
    let few = few.join("\n").replace("\"id\":\"D", "\"id\":\"N");
    for (name, last) in [("003.jsonl", true), ("0.jsonl", false)] {
        let mut stopped = std::collections::BTreeSet::new();
        for after in (4..).step_by(3 * one_in(2)) {
            let out = directory.path().join("out");
            let watch = StopAt::call(after);
            let first = run.clone().threads(1);
            match first.watched(&[&input], &out, &watch.stop, &watch) {
                Err(error) => stopped.insert(stage_of(&error)),
                Ok(_) => {
                    fs::remove_dir_all(out).unwrap();
                    break;
                }
            };
            fs::write(input.join(name), &few).unwrap();
            run.run(&[&input], &out).unwrap();
            run.run(&[&input], &out).unwrap();
            if last {
                let all = directory.path().join("all");
                run.run(&[&input], &all).unwrap();
                let what = format!("stopped after {after} calls");
                assert_same_files(&results(&out), &results(&all), &what);
                fs::remove_dir_all(all).unwrap();
            }
            let documents = fs::read_to_string(out.join("documents.tsv")).unwrap();
            assert!(documents.lines().last().unwrap().starts_with("N0"));
            fs::remove_dir_all(out).unwrap();
            fs::remove_file(input.join(name)).unwrap();
        }
        assert!(
            stopped.contains("ingest") && stopped.contains("join"),
            "{stopped:?}"
        );
    }
}

#[test]
fn other_parameters_of_the_collection_are_refused() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let out = directory.path().join("out");
    run.run(&[&input], &out).unwrap();
    let before = lasting(&out);
    let mut seed = run.clone();
    seed.collection.shingle.seed = 7;
    let mut short = run.clone();
    short.collection.shingle.short = "skip".parse().unwrap();
    let cases = [
        (run.clone().shingle_size(4), "--shingle-size", "4", "3"),
        (
            run.clone().tokens("whitespace"),
            "--tokens",
            "whitespace",
            "words",
        ),
        (run.clone().fingerprint("md5"), "--fingerprint", "md5", "64"),
        (
            run.clone().max_document(1 << 20),
            "--max-document",
            "1MiB",
            "64KiB",
        ),
        (seed, "--seed", "7", "0"),
        (short, "--short", "skip", "whole"),
    ];
    for (other, flag, ours, theirs) in cases {
        match other.run(&[&input], &out).unwrap_err() {
            Error::Incompatible {
                path,
                name,
                expected,
                found,
            } => {
                assert_eq!(path, out);
                assert_eq!((&*name, &*expected, &*found), (flag, ours, theirs));
            }
            error => panic!("{flag}: {error}"),
        }
        assert_same_files(&lasting(&out), &before, flag);
    }
}

#[test]
fn results_that_were_deleted_are_made_again() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let out = directory.path().join("out");
    run.run(&[&input], &out).unwrap();
    let (expected, expected_names) = (results(&out), names(&out));
    for name in common::RESULTS.into_iter().chain(["summary.json"]) {
        fs::remove_file(out.join(name)).unwrap();
        run.run(&[&input], &out).unwrap();
        assert_same_files(&results(&out), &expected, name);
        assert_eq!(names(&out), expected_names);
    }
    // A result that was cut is not a result.
    fs::write(out.join("pairs.tsv"), "").unwrap();
    run.run(&[&input], &out).unwrap();
    assert_same_files(&results(&out), &expected, "cut");
}

#[test]
fn scrap_is_removed_and_what_is_not_ours_is_not() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let out = directory.path().join("out");
    run.run(&[&input], &out).unwrap();
    let expected = (lasting(&out), names(&out));
    let scrap = [
        "collection/000999.docs",
        "collection/000999.fps.tmp",
        "runs/000000.run",
        "postings/000003.post.tmp",
        "pairs/000017.run",
        "scratch/left.over",
        "manifest.json.tmp",
    ];
    for name in scrap {
        fs::write(out.join(name), "beginning of a file").unwrap();
    }
    run.run(&[&input], &out).unwrap();
    assert_same_files(&lasting(&out), &expected.0, "scrap");
    assert_eq!(names(&out), expected.1);
    fs::write(out.join("notes.txt"), "mine").unwrap();
    run.clone().threshold("0.7").run(&[&input], &out).unwrap();
    assert_eq!(fs::read_to_string(out.join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_directory_of_others_is_refused() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let out = directory.path().join("theirs");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.tex"), "years of work").unwrap();
    match run.run(&[&input], &out).unwrap_err() {
        Error::BadParameter { name, given, .. } => {
            assert_eq!((name, &*given), ("output", out.to_str().unwrap()));
        }
        error => panic!("{error}"),
    }
    assert_eq!(names(&out), [PathBuf::from("thesis.tex")]);
    // An empty one is not.
    let empty = directory.path().join("empty");
    fs::create_dir(&empty).unwrap();
    run.run(&[&input], &empty).unwrap();
    // Without a run, the later stages say what is missing.
    let error = pipeline::open(&out).unwrap_err();
    assert!(matches!(error, Error::NotOutput { .. }), "{error}");
    assert_eq!(names(&out), [PathBuf::from("thesis.tex")]);
}

/// A directory with a lock was taken for one of ours: the lock was written over, and what lay in
/// `scratch` removed.
#[test]
fn a_directory_of_others_with_names_like_ours_is_not_touched() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let theirs = [
        ("lock", "held since Monday"),
        ("scratch/paper.txt", "the only copy"),
        ("collection/1.names", "Ada, Grace"),
        ("thesis.tex", "years of work"),
    ];
    let refused = |name: &str, more: &[(&str, &str)]| {
        let out = directory.path().join(name);
        for (file, text) in theirs.iter().chain(more) {
            fs::create_dir_all(out.join(file).parent().unwrap()).unwrap();
            fs::write(out.join(file), text).unwrap();
        }
        let before = names(&out);
        let error = run.run(&[&input], &out).unwrap_err();
        assert_eq!(names(&out), before);
        for (file, text) in theirs.iter().chain(more) {
            assert_eq!(fs::read_to_string(out.join(file)).unwrap(), *text, "{file}");
        }
        error
    };
    let error = refused("a lock", &[]);
    assert!(
        matches!(&error, Error::BadParameter { name: "output", .. }),
        "{error}"
    );
    // The manifest of a browser's extension.
    let extension = "{\n  \"manifest_version\": 3,\n  \"name\": \"theirs\"\n}\n";
    let error = refused("a manifest", &[("manifest.json", extension)]);
    assert!(error.to_string().contains("manifest.json"), "{error}");
    // With the manifest gone, what is certainly ours is begun anew.
    let out = directory.path().join("ours");
    run.run(&[&input], &out).unwrap();
    let expected = results(&out);
    fs::remove_file(out.join("manifest.json")).unwrap();
    run.run(&[&input], &out).unwrap();
    assert_same_files(&results(&out), &expected, "without its manifest");
}

/// The output directory may lie in the directory that is read: its files are not input.
#[test]
fn output_below_the_input_is_not_read() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let expected = uninterrupted(&run, &input).0;
    let out = input.join("out");
    for what in ["first", "second"] {
        run.run(&[&input], &out).unwrap();
        assert_same_files(&lasting(&out), &expected, what);
    }
}
