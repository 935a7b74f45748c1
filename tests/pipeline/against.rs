//! New documents compared with another collection: the part of a joint run that is about them.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Progress, Silent, Stop};
use lookalike::engine::collection;
use lookalike::engine::index::IndexEntry;
use lookalike::engine::pipeline::{self, Summary};
use lookalike::tasks::inspect;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::add::{add, files, paths, run};
use common::stopped::StopAt;
use common::{Run, assert_same_files, one_in, results, rows_of, tree};

fn against_watched(
    run: &Run,
    (files, old): (&[PathBuf], &Path),
    out: &Path,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Summary, Error> {
    let inputs = pipeline::inputs(files, out)?;
    let (config, parameters) = (&run.collection, &run.question);
    let context = run.context(stop, progress);
    pipeline::run_against(&inputs, old, out, config, parameters, run.strict, &context)
}

pub fn against(run: &Run, files: &[PathBuf], old: &Path, out: &Path) -> Result<Summary, Error> {
    against_watched(run, (files, old), out, &Stop::default(), &Silent)
}

/// Rows of a table with the columns that are compared, from a document on.
fn cells(out: &Path, name: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let cells = common::cells_of(&out.join(name));
    let pick = |row: &BTreeMap<String, String>| columns.iter().map(|c| row[*c].clone()).collect();
    cells.iter().map(pick).collect()
}

/// Compares the results with the part of a joint run that is about the documents from `first` on.
fn is_part(out: &Path, joint: &Path, first: u32, across: bool) -> usize {
    let number = |cell: &String| cell.parse::<u32>().unwrap();
    let columns = [
        "document_a",
        "document_b",
        "docno_a",
        "docno_b",
        "shared",
        "shingles_a",
        "shingles_b",
    ];
    let mut pairs = cells(joint, "pairs.tsv", &columns);
    pairs.retain(|row| number(&row[1]) >= first && (!across || number(&row[0]) < first));
    assert_eq!(cells(out, "pairs.tsv", &columns), pairs);
    let columns = [
        "document",
        "docno",
        "url",
        "words",
        "shingles",
        "size_group",
        "file",
        "record",
        "offset",
    ];
    let mut documents = cells(joint, "documents.tsv", &columns);
    documents.retain(|row| number(&row[0]) >= first);
    assert_eq!(cells(out, "documents.tsv", &columns), documents);
    let own: Vec<&String> = documents.iter().map(|row| &row[1]).collect();
    let columns = ["docno", "representative", "md5"];
    let mut exact = cells(joint, "exact-duplicates.tsv", &columns);
    exact.retain(|row| own.contains(&&row[0]));
    assert_eq!(cells(out, "exact-duplicates.tsv", &columns), exact);
    assert!(!exact.is_empty() && !documents.is_empty());
    pairs.len()
}

#[test]
fn results_are_part_of_those_of_a_joint_run() {
    let directory = common::temporary();
    let files = files(directory.path(), 31, 60, 20);
    let containment = {
        let mut run = run().threshold("0.5");
        run.question.join.measure = "containment".parse().unwrap();
        run
    };
    let all = [
        ("few are new", run(), 18..20),
        ("one thread", run().threads(1), 18..20),
        ("half are new", run(), 10..20),
        ("most are new", run().threads(8), 2..20),
        ("across", run().pairs("across"), 18..20),
        ("across, half", run().pairs("across"), 10..20),
        ("MD5", run().fingerprint("md5"), 18..20),
        ("S3", containment, 18..20),
    ];
    for (what, run, new) in all.into_iter().step_by(one_in(2)) {
        let (old, joint) = (common::temporary(), common::temporary());
        let across = run.question.join.pairs.to_string() == "across";
        let all = run.clone().pairs("all");
        let summary = all.run(&paths(&files[..new.start]), old.path()).unwrap();
        let first = summary.ingest.documents as u32;
        all.run(&paths(&files), joint.path()).unwrap();
        let before = tree(old.path());
        for indexed in [false, true] {
            let out = common::temporary();
            if indexed {
                let mut workspace = pipeline::open(old.path()).unwrap();
                let stop = Stop::default();
                pipeline::index(&mut workspace, None, &run.context(&stop, &Silent)).unwrap();
            }
            let before = if indexed {
                tree(old.path())
            } else {
                before.clone()
            };
            let summary = against(&run, &files[new.clone()], old.path(), out.path()).unwrap();
            assert_same_files(
                &tree(old.path()),
                &before,
                &format!("{what}: the old directory"),
            );
            let pairs = is_part(out.path(), joint.path(), first, across);
            let adds = summary.join.is_some_and(|join| join.added.is_some());
            assert_eq!(adds, new.len() < 5, "{what}");
            assert!(pairs > 3, "{what}: {pairs} pairs");
            let verified = inspect::verify(out.path()).unwrap();
            assert!(verified.errors.is_empty(), "{what}: {:?}", verified.errors);
            let copied = fs::read_dir(out.path().join("collection")).unwrap().count();
            assert!(copied <= 3 * summary.segments as usize);
            if indexed {
                let manifest = pipeline::look(out.path()).unwrap();
                let levels = manifest
                    .get::<IndexEntry>()
                    .map_or(0, |index| index.levels.len());
                assert!(!adds || levels == 2, "{what}: {levels} levels");
            }
        }
    }
}

/// Stopped at any moment, the same command continues; two of them work at the same time.
#[test]
fn stopped_comparisons_continue() {
    let directory = common::temporary();
    let files = files(directory.path(), 32, 24, 12);
    let run = run().threads(1);
    let old = common::temporary();
    run.run(&paths(&files[..11]), old.path()).unwrap();
    let expected = {
        let out = common::temporary();
        against(&run, &files[11..], old.path(), out.path()).unwrap();
        results(out.path())
    };
    let mut stopped = 0;
    for after in 0.. {
        let out = common::temporary();
        let stop = StopAt::call(after);
        let given = (&files[11..], old.path());
        match against_watched(&run, given, out.path(), &stop.stop, &stop) {
            Err(Error::Interrupted { .. }) => stopped += 1,
            Err(error) => panic!("stopped after {after} calls: {error}"),
            Ok(_) if stop.calls.load(std::sync::atomic::Ordering::SeqCst) < after => break,
            Ok(_) => {}
        }
        against(&run, &files[11..], old.path(), out.path()).unwrap();
        let what = format!("stopped after {after} calls");
        assert_same_files(&results(out.path()), &expected, &what);
    }
    assert!(stopped > 5, "{stopped}");
    let outs = [common::temporary(), common::temporary()];
    std::thread::scope(|scope| {
        for out in &outs {
            let (run, files, old) = (&run, &files[11..], old.path());
            scope.spawn(move || against(run, files, old, out.path()).unwrap());
        }
    });
    for out in &outs {
        assert_same_files(&results(out.path()), &expected, "two at a time");
    }
}

/// The other collection may grow later. While it is read, nobody changes it.
#[test]
fn the_other_collection_may_grow() {
    let directory = common::temporary();
    let files = files(directory.path(), 33, 30, 12);
    let (old, out) = (common::temporary(), common::temporary());
    run().run(&paths(&files[..10]), old.path()).unwrap();
    against(&run(), &files[11..], old.path(), out.path()).unwrap();
    let expected = results(out.path());
    {
        let _open = pipeline::open(out.path()).unwrap();
        let error = add(&run(), old.path(), &files[10..11]).unwrap_err();
        assert!(matches!(error, Error::Locked { .. }), "{error}");
    }
    add(&run(), old.path(), &files[10..11]).unwrap();
    against(&run(), &files[11..], old.path(), out.path()).unwrap();
    assert_same_files(
        &results(out.path()),
        &expected,
        "after the other one has grown",
    );
    let stop = Stop::default();
    let mut workspace = pipeline::open(out.path()).unwrap();
    let question = run().threshold("0.4").question;
    pipeline::join(&mut workspace, &question, &run().context(&stop, &Silent)).unwrap();
    assert!(collection::segments(&workspace.manifest).len() > 1);
}

/// The levels of the other collection's index are gone when larger ones have replaced them.
#[test]
fn the_index_of_the_other_collection_may_be_replaced() {
    let directory = common::temporary();
    let files = files(directory.path(), 36, 60, 24);
    let stop = Stop::default();
    let indexed = |out: &Path| {
        let mut workspace = pipeline::open(out).unwrap();
        pipeline::index(&mut workspace, None, &run().context(&stop, &Silent)).unwrap();
        let entry = workspace.manifest.get::<IndexEntry>().cloned();
        entry.unwrap().levels
    };
    let (old, out) = (common::temporary(), common::temporary());
    run().run(&paths(&files[..9]), old.path()).unwrap();
    let first = indexed(old.path());
    against(&run(), &files[23..], old.path(), out.path()).unwrap();
    add(&run(), old.path(), &files[9..22]).unwrap();
    let replaced = indexed(old.path());
    assert_eq!((replaced.len(), replaced[0].first), (1, 0));
    assert_ne!(replaced[0].number, first[0].number);
    let question = run().threshold("0.4").question;
    let mut workspace = pipeline::open(out.path()).unwrap();
    pipeline::join(&mut workspace, &question, &run().context(&stop, &Silent)).unwrap();
    drop(workspace);
    assert_eq!(indexed(out.path()).len(), 1);
    let verified = inspect::verify(out.path()).unwrap();
    assert!(verified.errors.is_empty(), "{:?}", verified.errors);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let directory = common::temporary();
    let files = files(directory.path(), 34, 20, 4);
    let (old, out) = (common::temporary(), directory.path().join("out"));
    run().run(&paths(&files[..3]), old.path()).unwrap();
    let before = tree(old.path());
    for (run, name) in [
        (run().shingle_size(4), "--shingle-size"),
        (run().fingerprint("md5"), "--fingerprint"),
        (run().pairs("none"), "pairs"),
        (run().sampling("1/2"), "sampling"),
    ] {
        let error = against(&run, &files[3..], old.path(), &out).unwrap_err();
        assert!(error.to_string().contains(name), "{name}: {error}");
        assert!(!out.exists(), "{name}");
    }
    let error = run()
        .pairs("across")
        .run(&paths(&files[..3]), &out)
        .unwrap_err();
    assert!(error.to_string().contains("across"), "{error}");
    against(&run(), &files[3..], old.path(), &out).unwrap();
    let other = common::temporary();
    run().run(&paths(&files[..2]), other.path()).unwrap();
    let error = against(&run(), &files[3..], other.path(), &out).unwrap_err();
    assert!(error.to_string().contains("--against"), "{error}");
    let error = add(&run(), &out, &files[2..3]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("compared with another collection"),
        "{error}"
    );
    let error = against(&run(), &files[3..], &out, &directory.path().join("third")).unwrap_err();
    assert!(error.to_string().contains("itself compared"), "{error}");
    assert_same_files(&tree(old.path()), &before, "the old directory");
    assert!(rows_of(&out, "documents.tsv").len() > 1);

    // Without the other collection, it says which one that was, and forgets nothing of its own.
    let before = tree(&out);
    fs::rename(old.path(), directory.path().join("moved")).unwrap();
    for opened in [
        pipeline::open(&out).err(),
        pipeline::open_to_read(&out).err(),
    ] {
        let error = opened.unwrap();
        let line = format!(
            "{} needs {}, which is gone",
            out.display(),
            old.path().display()
        );
        assert_eq!(error.to_string(), line);
        assert!(
            error
                .help()
                .unwrap()
                .starts_with("move that collection back")
        );
    }
    assert_same_files(&tree(&out), &before, "the directory without the other");
    fs::rename(directory.path().join("moved"), old.path()).unwrap();
}

/// What stays of the new documents, by the definition: those of the other collection come first.
fn kept(joint: &Path, first: u32, last_first: bool) -> Vec<String> {
    let number = |cell: &String| cell.parse::<u32>().unwrap();
    let documents = cells(joint, "documents.tsv", &["document", "docno", "words"]);
    let mut classes: BTreeMap<String, u32> = BTreeMap::new();
    let md5s = cells(joint, "exact-duplicates.tsv", &["docno", "representative"]);
    for row in &documents {
        classes.insert(row[1].clone(), number(&row[0]));
    }
    let of = classes.clone();
    for row in &md5s {
        classes.insert(row[0].clone(), of[&row[1]]);
    }
    let mut pairs: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for row in cells(joint, "pairs.tsv", &["document_a", "document_b"]) {
        let (a, b) = (number(&row[0]), number(&row[1]));
        pairs.entry(a).or_default().push(b);
        pairs.entry(b).or_default().push(a);
    }
    let mut order: Vec<_> = documents
        .iter()
        .filter(|row| number(&row[0]) >= first)
        .collect();
    if last_first {
        order.reverse();
    }
    let mut stays: Vec<u32> = (0..first).collect();
    let mut names = Vec::new();
    for row in order {
        let class = classes[&row[1]];
        let alike = pairs.get(&class).into_iter().flatten();
        let goes = stays.contains(&class) || alike.into_iter().any(|other| stays.contains(other));
        if row[2] == "0" || !goes {
            names.push(row[1].clone());
        }
        if row[2] != "0" && !goes {
            stays.push(class);
        }
    }
    names.sort();
    names
}

#[test]
fn deduplication_against_another_collection() {
    use lookalike::tasks::dedup::{self, DedupConfig};
    let directory = common::temporary();
    let files = files(directory.path(), 35, 60, 20);
    for (new, last_first) in [(17..20, false), (17..20, true), (6..20, true)] {
        let (old, joint, work) = (
            common::temporary(),
            common::temporary(),
            common::temporary(),
        );
        let summary = run().run(&paths(&files[..new.start]), old.path()).unwrap();
        let first = summary.ingest.documents as u32;
        run().run(&paths(&files), joint.path()).unwrap();
        let before = tree(old.path());
        against(&run(), &files[new.clone()], old.path(), work.path()).unwrap();
        let policy = if last_first { "last" } else { "first" };
        let config = DedupConfig {
            keep: vec![policy.parse().unwrap()],
            ..DedupConfig::default()
        };
        let place = common::temporary();
        let (kept_place, removed) = (place.path().join("kept"), place.path().join("removed"));
        let stop = Stop::default();
        let workspace = pipeline::open(work.path()).unwrap();
        let outputs = (kept_place.as_path(), Some(removed.as_path()));
        let context = run().context(&stop, &Silent);
        let summary = dedup::run(&workspace, &config, outputs, &context).unwrap();
        let ids = |place: &Path| {
            let mut ids = Vec::new();
            for file in &files {
                let name = file.file_name().unwrap();
                let text = fs::read_to_string(place.join(name)).unwrap_or_default();
                for line in text.lines() {
                    let value: serde_json::Value = serde_json::from_str(line).unwrap();
                    ids.push(value["id"].as_str().unwrap().to_string());
                }
            }
            ids.sort();
            ids
        };
        let expected = kept(joint.path(), first, last_first);
        assert_eq!(ids(&kept_place), expected, "{new:?}, {policy}");
        assert_eq!(summary.kept, expected.len() as u64);
        assert_eq!(summary.removed_documents(), ids(&removed).len() as u64);
        assert!(summary.kept > 0 && summary.removed_documents() > 0);
        assert_eq!(summary.files, new.len() as u64);
        assert!(
            !kept_place.join("00.jsonl").exists(),
            "a file of the other collection"
        );
        assert_same_files(&tree(old.path()), &before, "the old directory");
    }
}
