//! A collection that grew is the collection that one run over all inputs would have made.

use crate::common;
use lookalike::Error;
use lookalike::base::measure::Measure;
use lookalike::base::progress::{Progress, Silent, Stop};
use lookalike::engine::cluster::ResultFormat;
use lookalike::engine::collection::{self, CatalogueEntry};
use lookalike::engine::index::{Index, IndexEntry};
use lookalike::engine::join::Before;
use lookalike::engine::pipeline::{self, Summary};
use lookalike::store::workspace::InputList;
use lookalike::tasks::query::{self, Answer, QueryConfig, Reply};
use lookalike::text::read::InputFile;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use common::corpus::{Random, Shape, random_corpus, write_jsonl};
use common::stopped::StopAt;
use common::{Run, assert_read_together, assert_same_files, one_in, results};

use crate::evaluation::index::lists;

/// A corpus in files, in the order in which a run reads them.
pub fn files(directory: &Path, seed: u64, families: usize, files: usize) -> Vec<PathBuf> {
    let shape = Shape {
        families,
        members: 6,
        words: 200,
        vocabulary: 1500,
        boilerplate: 40,
    };
    let docs = random_corpus(seed, shape);
    let mut paths = Vec::new();
    for n in 0..files {
        let from = docs.len() * n / files;
        let place = directory.join(format!("{n:02}"));
        let one = &docs[from..docs.len() * (n + 1) / files];
        let path = write_jsonl(&place, one, 1).join("000.jsonl");
        let named = directory.join(format!("{n:02}.jsonl"));
        fs::rename(path, &named).unwrap();
        paths.push(named);
    }
    paths
}

pub fn run() -> Run {
    Run::default()
        .shingle_size(3)
        .threshold("0.2")
        .segment_size(8 << 10)
        .max_document(64 << 10)
}

pub fn paths(files: &[PathBuf]) -> Vec<&Path> {
    files.iter().map(PathBuf::as_path).collect()
}

fn add_watched(
    run: &Run,
    out: &Path,
    files: &[PathBuf],
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Summary, Error> {
    let inputs = pipeline::inputs(files, out)?;
    let context = run.context(stop, progress);
    let none = (run.question.results == ResultFormat::None).then_some(ResultFormat::None);
    pipeline::add(out, &inputs, run.strict, none, &context)
}

pub fn add(run: &Run, out: &Path, files: &[PathBuf]) -> Result<Summary, Error> {
    add_watched(run, out, files, &Stop::default(), &Silent)
}

/// The answers to the documents of a file, from the index of all documents or from the sets.
fn ask(run: &Run, out: &Path, file: &PathBuf, by_index: bool) -> Vec<Answer> {
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let mut workspace = pipeline::open(out).unwrap();
    pipeline::index(&mut workspace, None, &context).unwrap();
    if !by_index {
        workspace.manifest.remove::<IndexEntry>();
    }
    let inputs = pipeline::inputs(std::slice::from_ref(file), out).unwrap();
    let config = QueryConfig::default();
    let mut answers = Vec::new();
    let read = &run.collection.read;
    let take = |reply| {
        if let Reply::Answer(answer) = reply {
            answers.push(answer);
        }
        Ok(())
    };
    query::run(&workspace, None, &inputs, read, &config, &context, take).unwrap();
    answers
}

/// The results of one run over these files.
fn expected(run: &Run, files: &[PathBuf]) -> BTreeMap<String, Vec<u8>> {
    let out = common::temporary();
    run.run(&paths(files), out.path()).unwrap();
    results(out.path())
}

/// The results after each addition, and how often pairs were added to those that were there.
fn grows(run: &Run, files: &[PathBuf], cuts: &[usize], what: &str) -> usize {
    let out = common::temporary();
    run.run(&paths(&files[..cuts[0]]), out.path()).unwrap();
    let mut added = 0;
    for pair in cuts.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let summary = add(run, out.path(), &files[from..to]).unwrap();
        added += usize::from(summary.join.is_some_and(|join| join.added.is_some()));
        let expected = expected(run, &files[..to]);
        assert_same_files(
            &results(out.path()),
            &expected,
            &format!("{what}, {to} files"),
        );
    }
    let verified = lookalike::tasks::inspect::verify(out.path()).unwrap();
    assert!(verified.errors.is_empty(), "{what}: {:?}", verified.errors);
    added
}

#[test]
fn results_are_those_of_one_run() {
    let directory = common::temporary();
    let files = files(directory.path(), 5, 60, 20);
    let containment = {
        let mut run = run().threshold("0.5");
        run.question.join.measure = "containment".parse().unwrap();
        run
    };
    let words = {
        let mut run = run().threshold("0.3");
        run.question.join.measure = "s3".parse().unwrap();
        run
    };
    let smallest = {
        let mut run = run();
        run.question.join.measure = "s4".parse().unwrap();
        run.question.join.join = "count".parse().unwrap();
        run.threshold("0.05")
    };
    let cuts = [17, 18, 20];
    let all = [
        ("plain", run(), true),
        ("one thread", run().threads(1), true),
        ("many threads", run().threads(8), true),
        ("MD5", run().fingerprint("md5"), true),
        ("only clusters", run().pairs("none"), true),
        ("containment", containment, true),
        ("S3", words, true),
        ("high threshold", run().threshold("0.9"), true),
        // These depend on all documents.
        ("S4", smallest, false),
        ("a sample", run().sampling("1/2").threshold("0.1"), false),
    ];
    for (what, run, adds) in all.into_iter().step_by(one_in(2)) {
        let added = grows(&run, &files, &cuts, what);
        assert_eq!(added, if adds { 2 } else { 0 }, "{what}");
    }
    // Most of it is new.
    assert_eq!(grows(&run(), &files, &[2, 20], "a large addition"), 0);
}

/// Many small additions: the index has few levels.
#[test]
fn levels_stay_few() {
    let directory = common::temporary();
    let files = files(directory.path(), 6, 40, 24);
    let out = common::temporary();
    run().run(&paths(&files[..12]), out.path()).unwrap();
    let mut most = 0;
    let files = &files[..12 + 12 / one_in(2)];
    for n in 12..files.len() {
        add(&run(), out.path(), &files[n..=n]).unwrap();
        let manifest = pipeline::look(out.path()).unwrap();
        let index = manifest.get::<IndexEntry>().unwrap();
        let documents: u64 = index.levels.iter().map(|level| level.documents).sum();
        let all = collection::segments(&manifest).iter();
        assert_eq!(documents, all.map(|s| s.stats.documents).sum::<u64>());
        assert!(index.making.is_none());
        let keys = index.levels.iter().map(|level| {
            let own = |first: u32| (u64::from(level.first)..level.end()).contains(&first.into());
            let segments = collection::segments(&manifest).iter();
            let own = segments.filter(|segment| own(segment.first_document));
            own.map(|segment| segment.fingerprints.records).sum::<u64>()
        });
        assert!(keys.is_sorted_by(|a, b| a > b), "{:?}", index.levels);
        most = most.max(index.levels.len());
        let workspace = pipeline::open(out.path()).unwrap();
        let pairs = index.criterion;
        let index = Index::open::<u64>(&workspace, pairs).unwrap().unwrap();
        let keys: Vec<u64> = lists(&workspace, pairs).into_keys().collect();
        assert_read_together(&index, &keys);
    }
    assert!((2..=5).contains(&most), "{most} levels");
    assert_same_files(&results(out.path()), &expected(&run(), files), "additions");
}

/// Additions that write no result files, stopped at every third moment, and the results in the end.
#[test]
fn results_can_wait() {
    let directory = common::temporary();
    let files = files(directory.path(), 9, 60, 20);
    // Copies of documents of every level, with their docnos or with others.
    for (n, from) in [(17, 0), (18, 16), (19, 17)] {
        let copied = fs::read_to_string(&files[from]).unwrap();
        let copied = copied.lines().rev().take(6);
        let copied: String = copied.map(|line| format!("{line}\n")).collect();
        let renamed = copied.replace("\"id\":\"", "\"id\":\"again-");
        assert_ne!(copied, renamed);
        let all = fs::read_to_string(&files[n]).unwrap() + &copied + &renamed;
        fs::write(&files[n], all).unwrap();
    }
    let all = expected(&run(), &files);
    let lines = |name: &str| all[name].iter().filter(|&&byte| byte == b'\n').count();
    assert!(lines("rejects.jsonl") >= 18 && lines("exact-duplicates.tsv") >= 36);
    let out = common::temporary();
    run().run(&paths(&files[..12]), out.path()).unwrap();
    let mut waiting = run();
    waiting.question.results = ResultFormat::None;
    let mut most = 0;
    for n in 12..20 {
        let stop = StopAt::call(3 * n - 30);
        let _ = add_watched(&waiting, out.path(), &files[n..=n], &stop.stop, &stop);
        let summary = add(&waiting, out.path(), &files[n..=n]).unwrap();
        assert!(summary.cluster.is_none() && summary.join.unwrap().added.is_some());
        let written = |name| out.path().join(name).exists();
        assert!(!common::RESULTS.into_iter().any(written), "{n}");
        let manifest = pipeline::look(out.path()).unwrap();
        let catalogue = manifest.get::<CatalogueEntry>().unwrap();
        let documents = catalogue.levels().map(|level| level.names.records);
        let documents: Vec<u64> = documents.collect();
        assert_eq!(documents.iter().sum::<u64>(), catalogue.stats.documents);
        assert!(documents.is_sorted_by(|a, b| a > b), "{documents:?}");
        most = most.max(documents.len());
    }
    assert!((3..=5).contains(&most), "{most} levels");
    let verified = lookalike::tasks::inspect::verify(out.path()).unwrap();
    assert!(verified.errors.is_empty(), "{:?}", verified.errors);
    let (stop, run) = (Stop::default(), run());
    let context = run.context(&stop, &Silent);
    let mut workspace = pipeline::open(out.path()).unwrap();
    let joined = workspace.manifest.costs["join"];
    let summary = pipeline::cluster(&mut workspace, &context).unwrap();
    assert_eq!(summary.costs["join"], joined);
    assert_same_files(&results(out.path()), &all, "one run");
    let whole = common::temporary();
    let at_once = run.run(&paths(&files), whole.path()).unwrap();
    assert_eq!(summary.catalogue, at_once.catalogue);
}

/// Stopped at any moment, the same command continues.
#[test]
fn stopped_additions_continue() {
    let directory = common::temporary();
    let files = files(directory.path(), 7, 30, 12);
    let run = run().threads(1);
    let expected = expected(&run, &files);
    let base = common::temporary();
    run.run(&paths(&files[..11]), base.path()).unwrap();
    let mut stages = std::collections::BTreeSet::new();
    for after in 0.. {
        let out = common::temporary();
        common::copy_directory(base.path(), out.path());
        let stop = StopAt::call(after);
        match add_watched(&run, out.path(), &files[11..], &stop.stop, &stop) {
            Err(Error::Interrupted { stage }) => stages.insert(stage),
            Err(error) => panic!("stopped after {after} calls: {error}"),
            Ok(_) if stop.calls.load(std::sync::atomic::Ordering::SeqCst) < after => break,
            Ok(_) => false,
        };
        add(&run, out.path(), &files[11..]).unwrap();
        let what = format!("stopped after {after} calls");
        assert_same_files(&results(out.path()), &expected, &what);
    }
    for stage in ["ingest", "index", "join", "cluster"] {
        assert!(stages.contains(stage), "no stop in {stage}: {stages:?}");
    }
}

/// Stopped at any moment, another search knows what the command does not name.
#[test]
fn stopped_searches_keep_their_parameters() {
    let directory = common::temporary();
    let files = files(directory.path(), 9, 12, 2);
    let mut run = run().threads(1);
    run.question.join.measure = "containment".parse().unwrap();
    let base = common::temporary();
    run.run(&paths(&files), base.path()).unwrap();
    let mut asked = run.question.clone();
    asked.join.threshold = "0.35".parse().unwrap();
    asked.results = ResultFormat::Parquet;
    let thresholds = [run.question.join.threshold, asked.join.threshold];
    let mut kept = [0, 0];
    for after in 1.. {
        let out = common::temporary();
        common::copy_directory(base.path(), out.path());
        let mut workspace = pipeline::open(out.path()).unwrap();
        let watch = StopAt::call(after);
        let context = run.context(&watch.stop, &watch);
        let done = pipeline::search_again(&mut workspace, &asked, &context).is_ok();
        drop(workspace);
        let known = pipeline::parameters(&pipeline::look(out.path()).unwrap()).unwrap();
        assert_eq!(known.join.measure, asked.join.measure, "{after}");
        let at = thresholds
            .iter()
            .position(|&t| t == known.join.threshold)
            .unwrap();
        kept[at] += 1;
        if done {
            assert_eq!((known.results, at), (asked.results, 1));
            break;
        }
    }
    assert!(kept[1] > 5, "{kept:?}");
}

/// An input whose time was set anew has the same bytes. Of a large one, not all are known.
#[test]
fn a_touched_input_is_the_same() {
    let directory = common::temporary();
    let inputs = ["1.jsonl", "2.jsonl"].map(|name| directory.path().join(name));
    let touch = |path: &Path, millis| {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(millis))
            .unwrap();
    };
    for (path, words) in inputs.iter().zip([1, 20_000]) {
        let text = "some words ".repeat(words);
        fs::write(path, format!("{{\"text\":\"{text}\"}}\n")).unwrap();
        touch(path, 1500);
    }
    let out = common::temporary();
    run().run(&paths(&inputs), out.path()).unwrap();
    touch(&inputs[0], 3000);
    add(&run(), out.path(), &inputs).unwrap();
    run().run(&paths(&inputs), out.path()).unwrap();
    // What reads them by the list reads them too.
    let listed = InputList::open(out.path())
        .unwrap()
        .next()
        .unwrap()
        .cloned();
    InputFile::found(&listed.unwrap()).check_path().unwrap();
    touch(&inputs[1], 3000);
    let refused = add(&run(), out.path(), &inputs).unwrap_err().to_string();
    assert!(refused.contains("`touch -d @1.500000000 -- /"), "{refused}");
    touch(&inputs[1], 1500);
    add(&run(), out.path(), &inputs).unwrap();
}

/// A lost list of pairs is made again as it was asked for, with the new documents.
#[test]
fn lost_pairs_keep_their_parameters() {
    let directory = common::temporary();
    let files = files(directory.path(), 5, 6, 30);
    let mut run = run().threshold("1/2");
    run.question.join.measure = Measure::Dice;
    let out = common::temporary();
    run.run(&paths(&files[..4]), out.path()).unwrap();
    fs::remove_file(out.path().join("pairs/000000.pairs")).unwrap();
    add(&run, out.path(), &files[4..]).unwrap();
    assert_same_files(&results(out.path()), &expected(&run, &files), "lost pairs");
}

/// Additions, stops, other thresholds and look-ups in a random order.
#[test]
fn random_histories() {
    for seed in 0..6 / one_in(2) as u64 {
        let random = &mut Random(seed + 77);
        let directory = common::temporary();
        let files = files(directory.path(), 100 + seed, 24, 16);
        let out = common::temporary();
        let mut run = run().threads(1 + random.below(3));
        let mut done = 4 + random.below(6);
        run.run(&paths(&files[..done]), out.path()).unwrap();
        while done < files.len() {
            let next = done + 1 + random.below(2.min(files.len() - done));
            if random.once_in(3) {
                let stop = StopAt::call(1 + random.below(12));
                let _ = add_watched(&run, out.path(), &files[done..next], &stop.stop, &stop);
            }
            if random.once_in(4) {
                // Whatever an addition left, another threshold joins all documents again.
                run = run.threshold(["0.2", "0.4"][random.below(2)]);
                let stop = Stop::default();
                if let Ok(mut workspace) = pipeline::open(out.path())
                    && collection::ingested(&workspace.manifest)
                {
                    let context = run.context(&stop, &Silent);
                    pipeline::join(&mut workspace, &run.question, &context).unwrap();
                }
            }
            add(&run, out.path(), &files[done..next]).unwrap();
            done = next;
            let threshold = pipeline::look(out.path()).unwrap();
            let pairs = threshold
                .get::<lookalike::engine::join::PairsEntry>()
                .unwrap();
            run.question.join.threshold = pairs.config.threshold;
            let what = format!("seed {seed}, {done} files");
            if random.once_in(3) {
                let asked = random.pick(&files).clone();
                let answers = [true, false].map(|by_index| ask(&run, out.path(), &asked, by_index));
                assert_eq!(answers[0], answers[1], "{what}");
                assert!(!answers[0].is_empty());
            }
            assert_same_files(&results(out.path()), &expected(&run, &files[..done]), &what);
        }
    }
}

/// `run` with more inputs adds them, in whatever place they are listed.
#[test]
fn a_run_with_more_inputs_adds_them() {
    let directory = common::temporary();
    let files = files(directory.path(), 8, 40, 12);
    let out = common::temporary();
    run().run(&paths(&files[..10]), out.path()).unwrap();
    let summary = run().run(&paths(&files), out.path()).unwrap();
    assert!(summary.join.unwrap().added.is_some());
    assert_same_files(&results(out.path()), &expected(&run(), &files), "run");
    // The same command again, and a name before the others.
    run().run(&paths(&files), out.path()).unwrap();
    let early = files[0].with_file_name("0.jsonl");
    fs::write(&early, "{\"id\":\"new\",\"text\":\"one two three four\"}\n").unwrap();
    let more = [std::slice::from_ref(&early), &files[..]].concat();
    run().run(&paths(&more), out.path()).unwrap();
    let documents = fs::read_to_string(out.path().join("documents.tsv")).unwrap();
    assert!(documents.lines().last().unwrap().starts_with("new\t"));
    run().run(&paths(&more), out.path()).unwrap();
    // A missing or changed old one is an error, and changes nothing.
    let before = common::tree(out.path());
    let refused = |given: &[PathBuf]| {
        let error = run().run(&paths(given), out.path()).unwrap_err();
        assert!(
            matches!(error, Error::InputChanged { .. })
                || error
                    .to_string()
                    .contains(" holds results of other inputs: "),
            "{error}"
        );
        assert_same_files(&common::tree(out.path()), &before, "a refused run");
    };
    refused(&more[1..]);
    fs::write(&early, "{\"id\":\"other\",\"text\":\"one two three\"}\n").unwrap();
    refused(&more);
    let error = add(&run(), out.path(), &[early]).unwrap_err();
    assert!(matches!(error, Error::InputChanged { .. }), "{error}");
}

/// Old inputs may be gone, and inputs that are there are left out.
#[test]
fn old_inputs_are_not_needed() {
    let directory = common::temporary();
    let files = files(directory.path(), 9, 40, 12);
    let all = expected(&run(), &files);
    let out = common::temporary();
    run().run(&paths(&files[..11]), out.path()).unwrap();
    for file in &files[..10] {
        fs::remove_file(file).unwrap();
    }
    add(&run(), out.path(), &files[10..]).unwrap();
    assert_same_files(&results(out.path()), &all, "after the addition");
    add(&run(), out.path(), &files[10..]).unwrap();
    assert_same_files(&results(out.path()), &all, "added twice");
}

/// Files of the same name in other directories, and files that are documents themselves.
#[test]
fn names_are_told_apart() {
    let directory = common::temporary();
    let file = |place: &str, text: &str| {
        let path = directory.path().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let first = file("a/page.txt", "one two three four five");
    let second = file("b/page.txt", "one two three four six");
    let out = directory.path().join("out");
    run().run(&[&first], &out).unwrap();
    add(&run(), &out, &[second]).unwrap();
    let rows = common::rows_of(&out, "documents.tsv");
    let docnos: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.split('\t').next())
        .collect();
    assert_eq!(docnos, ["page.txt", "b/page.txt"]);
}

/// What is lost is made again, and what depends on it.
#[test]
fn lost_parts_are_made_again() {
    let directory = common::temporary();
    let files = files(directory.path(), 10, 40, 12);
    let expected = expected(&run(), &files);
    let base = common::temporary();
    run().run(&paths(&files[..10]), base.path()).unwrap();
    add(&run(), base.path(), &files[10..11]).unwrap();
    let names: Vec<PathBuf> = common::paths(base.path())
        .into_iter()
        .filter(|path| path.parent() != Some(base.path()))
        .map(|path| path.strip_prefix(base.path()).unwrap().to_path_buf())
        .collect();
    let mut lost = 0;
    for name in names.iter().step_by(3 * one_in(4)) {
        let out = common::temporary();
        common::copy_directory(base.path(), out.path());
        fs::remove_file(out.path().join(name)).unwrap();
        let added = add(&run(), out.path(), &files[11..]);
        // The parts of the collection come from inputs, and `run` has all of them. Without the
        // pairs, nobody knows how they were found.
        match name.starts_with("collection") {
            true => assert!(added.is_err(), "{} was lost", name.display()),
            false => drop(added.unwrap()),
        }
        if name.starts_with("collection") || name.starts_with("pairs") {
            run().run(&paths(&files), out.path()).unwrap();
        }
        let what = format!("{} was lost", name.display());
        assert_same_files(&results(out.path()), &expected, &what);
        lost += 1;
    }
    assert!(lost * one_in(4) > 10, "{lost}");
}

/// A stop while inputs are appended leaves lines that do not count.
#[test]
fn lines_of_a_stopped_addition_do_not_count() {
    let directory = common::temporary();
    let files = files(directory.path(), 11, 10, 4);
    let out = common::temporary();
    run().run(&paths(&files[..3]), out.path()).unwrap();
    let list = out.path().join("inputs.jsonl");
    let old = fs::read(&list).unwrap();
    let last = old.split_inclusive(|&byte| byte == b'\n').next_back();
    let last = String::from_utf8_lossy(last.unwrap()).replace("02.jsonl", "77.jsonl");
    let longer = [&old[..], last.as_bytes()].concat();
    fs::write(&list, &longer).unwrap();
    assert!(
        lookalike::tasks::inspect::verify(out.path())
            .unwrap()
            .errors
            .is_empty()
    );
    assert!(pipeline::open_to_read(out.path()).unwrap().is_some());
    assert_eq!(fs::read(&list).unwrap(), longer);
    add(&run(), out.path(), &files[3..]).unwrap();
    assert_same_files(
        &results(out.path()),
        &expected(&run(), &files),
        "more lines",
    );
    // Other bytes are damage.
    let whole = fs::read(&list).unwrap();
    for more in [&b"{}\n"[..], &whole] {
        fs::write(&list, [&whole[..], more].concat()).unwrap();
        let error = pipeline::open(out.path()).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
}

/// A directory without pairs only grows; one with tables keeps them.
#[test]
fn what_was_there_is_made_again() {
    let directory = common::temporary();
    let files = files(directory.path(), 12, 30, 12);
    let out = common::temporary();
    drop(run().ingest(&paths(&files[..10]), out.path()).unwrap());
    add(&run(), out.path(), &files[10..11]).unwrap();
    assert!(!out.path().join("pairs.tsv").exists());
    run().run(&paths(&files[..11]), out.path()).unwrap();
    {
        let mut workspace = pipeline::open(out.path()).unwrap();
        let stop = Stop::default();
        pipeline::tables(&mut workspace, &run().context(&stop, &Silent)).unwrap();
    }
    add(&run(), out.path(), &files[11..]).unwrap();
    assert!(out.path().join("pairs.parquet").exists());
    assert_same_files(
        &results(out.path()),
        &expected(&run(), &files),
        "with tables",
    );
    assert!(!pipeline::look(out.path()).unwrap().has::<Before>());
}

/// The features of a method were those of a collection with fewer inputs: the copy of their list
/// was taken for damaged.
#[test]
fn a_method_follows_a_collection_that_has_grown() {
    let directory = common::temporary();
    let files = files(directory.path(), 13, 20, 12);
    let (out, all) = (common::temporary(), common::temporary());
    let spec = lookalike::methods::Spec::read("super-shingles").unwrap();
    let method = |out: &Path| {
        let stop = Stop::default();
        let workspace = pipeline::open(out).unwrap();
        lookalike::methods::run(&workspace, &spec, &run().context(&stop, &Silent)).unwrap();
        common::tree(&out.join("methods/super-shingles"))
    };
    let run = run().keep_text();
    run.run(&paths(&files[..11]), out.path()).unwrap();
    method(out.path());
    add(&run, out.path(), &files[11..]).unwrap();
    let grown = method(out.path());
    run.run(&paths(&files), all.path()).unwrap();
    let expected = method(all.path());
    for name in ["inputs.jsonl", "pairs.tsv", "documents.tsv"] {
        assert!(grown[name] == expected[name], "{name}");
    }
}
