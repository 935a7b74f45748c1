//! The same bytes, whatever the threads, the memory, the fan-in and the segments; and the ways that
//! only small budgets take are really taken.

use crate::common;
use lookalike::base::ids::Key;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::collection;
use lookalike::engine::join;
use lookalike::engine::merge;
use lookalike::engine::pipeline;
use lookalike::engine::sample;
use lookalike::engine::sort;
use lookalike::store::workspace::Workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::corpus::{Doc, Random, Shape, documents, random_corpus, write_jsonl};
use common::{Run, assert_same_files, lasting, least_memory, manifest, one_in, results};
use tempfile::TempDir;

type Files = BTreeMap<String, Vec<u8>>;

/// Families of the corpora: few where it is enough that there are several segments; as many as it
/// takes for several blocks of the smallest join that there is.
const FEW: usize = 30;
const MANY: usize = 160;

/// A corpus in which documents share many shingles, as JSONL files, and how it is asked about.
fn corpus(directory: &Path, families: usize) -> (PathBuf, Run) {
    let shape = Shape {
        families,
        members: 9,
        words: 500,
        vocabulary: 3000,
        boilerplate: 60,
    };
    let input = write_jsonl(directory, &random_corpus(11, shape), 3);
    let run = Run::default()
        .shingle_size(3)
        .threshold("0.2")
        .segment_size(16 << 10);
    (input, run)
}

/// The files of a run in a new directory.
fn files_of(run: &Run, input: &Path) -> Files {
    let directory = common::temporary();
    run.run(&[input], directory.path()).unwrap();
    lasting(directory.path())
}

#[test]
fn threads_change_nothing() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), FEW);
    let plain = files_of(&run.clone().threads(1), &input);
    for threads in [2, 4] {
        let files = files_of(&run.clone().threads(threads), &input);
        assert_same_files(&files, &plain, &format!("{threads} threads"));
    }
    assert!(plain.keys().filter(|name| name.ends_with(".docs")).count() > 10);
}

/// Neither the fingerprints that are sorted nor their postings depend on threads, on memory, or on
/// whether they are sorted there.
#[test]
fn a_selection_is_the_same_however_it_is_sorted() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), FEW);
    for threshold in ["0.2", "0.85"] {
        let run = run.clone().threshold(threshold);
        let plain = files_of(&run.clone().threads(1), &input);
        let spilled = run.clone().spill();
        let little = run.clone().memory(72 << 20);
        for (n, run) in [run.threads(4), spilled.clone(), spilled.fan_in(2), little]
            .into_iter()
            .enumerate()
        {
            let what = format!("{threshold}, run {n}");
            assert_same_files(&files_of(&run, &input), &plain, &what);
        }
    }
}

/// Threads make blocks of 4,096 pairs into lines, and long docnos make several pieces of a block.
#[test]
fn threads_change_nothing_in_long_pair_lists() {
    let directory = common::temporary();
    let text = |n: usize| format!("one two three four five six seven eight {n}");
    let texts: Vec<String> = (0..180).map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut docs = documents(&texts);
    for doc in &mut docs {
        doc.docno = format!("{}\t{}", "\u{e4}".repeat(150), doc.docno);
    }
    let input = write_jsonl(directory.path(), &docs, 3);
    let run = Run::default().shingle_size(2).threshold("0.5");
    let plain = files_of(&run.clone().threads(1), &input);
    assert!(
        plain["pairs.tsv"]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            > 180 * 179 / 2
    );
    let (least, _) = least_memory(|memory| {
        let out = common::temporary();
        run.clone()
            .threads(8)
            .memory(memory)
            .run(&[&input], out.path())
    });
    for (threads, memory) in [(2, 1 << 30), (3, 1 << 30), (8, 1 << 30), (8, least)] {
        let files = files_of(&run.clone().threads(threads).memory(memory), &input);
        assert_same_files(
            &files,
            &plain,
            &format!("{threads} threads, {memory} bytes"),
        );
    }
}

#[test]
fn threads_change_nothing_in_texts() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), FEW);
    let run = run.keep_text();
    let plain = files_of(&run.clone().threads(1), &input);
    for (threads, memory) in [(1, 66 << 20), (3, 1 << 30)] {
        let files = files_of(&run.clone().threads(threads).memory(memory), &input);
        assert_same_files(
            &files,
            &plain,
            &format!("{threads} threads, {memory} bytes"),
        );
    }
    assert!(plain.keys().filter(|name| name.ends_with(".text")).count() > 10);
}

#[test]
fn segments_change_nothing_in_the_results() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), FEW);
    let results_of = |run: &Run| {
        let directory = common::temporary();
        run.run(&[&input], directory.path()).unwrap();
        let segments = manifest(directory.path()).segments.len();
        (results(directory.path()), segments)
    };
    let (plain, one) = results_of(&run.clone().segment_size(64 << 20));
    assert_eq!(one, 1);
    for (bytes, least) in [(2 << 10, 50), (20 << 10, 10), (100 << 10, 2)] {
        let (files, segments) = results_of(&run.clone().segment_size(bytes));
        assert_same_files(&files, &plain, &format!("segments of {bytes} bytes"));
        assert!(segments >= least, "{segments} segments of {bytes} bytes");
    }
}

/// A collection that can be copied, so that it need not be made again.
struct Collection {
    directory: TempDir,
    run: Run,
    plain: Files,
}

impl Collection {
    fn new(run: Run, input: &Path) -> Collection {
        let directory = common::temporary();
        drop(run.ingest(&[input], directory.path()).unwrap());
        let plain = files_of(&run.clone().threads(1), input);
        Collection {
            directory,
            run,
            plain,
        }
    }

    fn copy(&self) -> TempDir {
        let copy = common::temporary();
        common::copy_directory(self.directory.path(), copy.path());
        copy
    }

    /// Does each stage after the collection with the least memory that it does with, and compares.
    fn each_stage_with_the_least<K: Key>(&self, threads: usize, fan_in: usize) -> Least {
        let copy = self.copy();
        let mut workspace = pipeline::open(copy.path()).unwrap();
        let stop = Stop::default();
        let mut with_least = |stage: &dyn Fn(&mut Workspace, &Run) -> lookalike::Result<()>| {
            let attempt = |memory| {
                let run = self.run.clone().threads(threads).memory(memory);
                stage(&mut workspace, &run)
            };
            least_memory(attempt).0
        };
        let question = &self.run.question;
        let fan_in_ = Some(fan_in);
        with_least(&|w, run| sample::run::<K>(w, &question.sampling, &run.context(&stop, &Silent)));
        let sort = with_least(&|w, run| {
            sort::form_runs::<K>(w, &run.context(&stop, &Silent))?;
            // Documents without records do not end what a run covers.
            let runs = &w.manifest.get::<sort::RunsEntry>().unwrap().runs;
            let covered: usize = runs.iter().map(|run| run.covers.len()).sum();
            let segments = collection::segments(&w.manifest).len();
            assert!(covered <= segments + runs.len(), "{covered} intervals");
            Ok(())
        });
        with_least(&|w, run| merge::run::<K>(w, fan_in_, &run.context(&stop, &Silent)));
        let join = &question.join;
        with_least(&|w, run| join::run::<K>(w, join, fan_in_, &run.context(&stop, &Silent)));
        with_least(&|w, run| pipeline::cluster(w, &run.context(&stop, &Silent)).map(drop));
        drop(workspace);
        let what = format!("least memory, {threads} threads, fan-in {fan_in}");
        assert_same_files(&lasting(copy.path()), &self.plain, &what);
        let manifest = manifest(copy.path());
        Least {
            sort_memory: sort,
            runs: manifest.runs.unwrap().stats.runs,
            merge: manifest.postings.unwrap().stats,
            join: manifest.pairs.unwrap().stats,
        }
    }
}

/// What stages with the least memory counted.
struct Least {
    sort_memory: u64,
    runs: u64,
    merge: merge::MergeStats,
    join: join::JoinStats,
}

#[test]
fn the_least_memory_for_each_stage_changes_nothing() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), MANY);
    let run = run.join("count");
    let narrow = Collection::new(run.clone(), &input);
    for (threads, fan_in) in [(2, 3), (1, 2), (4, 2)].into_iter().step_by(one_in(3)) {
        let least = narrow.each_stage_with_the_least::<u64>(threads, fan_in);
        assert!(
            least.sort_memory < 64 << 20,
            "{} bytes to sort",
            least.sort_memory
        );
        assert!(least.runs >= 20, "{} runs", least.runs);
        assert!(least.merge.generations >= 3, "{:?}", least.merge);
        assert!(least.merge.fan_in <= fan_in as u64, "{:?}", least.merge);
        let blocks = least.join.count.unwrap().blocks;
        assert!(blocks >= 3, "{:?}", least.join);
        assert!(least.join.runs >= blocks, "{:?}", least.join);
        assert!(least.join.generations >= 2, "{:?}", least.join);
    }
    // And the other hash, whose keys are twice as wide.
    let wide = Collection::new(run.fingerprint("md5"), &input);
    let least = wide.each_stage_with_the_least::<u128>(2, 2);
    assert!(least.runs >= 20 && least.merge.generations >= 3 && least.join.generations >= 2);
}

#[test]
fn budgets_from_the_least_to_plenty_change_nothing() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), FEW);
    let run = run.max_document(64 << 10);
    let plain = files_of(&run.clone().memory(1 << 30).threads(1), &input);
    for threads in [1, 4] {
        let run = run.clone().threads(threads);
        // One directory for all attempts: what was done before the refusal is kept.
        let (least, files) = {
            let directory = common::temporary();
            let attempt = |memory| run.clone().memory(memory).run(&[&input], directory.path());
            let (least, _) = least_memory(attempt);
            (least, lasting(directory.path()))
        };
        assert_same_files(
            &files,
            &plain,
            &format!("{threads} threads, grown to {least}"),
        );
        for memory in [least, least + 1, least * 2] {
            let files = files_of(&run.clone().memory(memory), &input);
            assert_same_files(
                &files,
                &plain,
                &format!("{threads} threads, {memory} bytes"),
            );
        }
    }
}

/// Documents so many that the count join passes over them window by window: in each it writes a run
/// of its own.
#[test]
fn windows_of_the_count_join_change_nothing() {
    let directory = common::temporary();
    let random = &mut Random(5);
    let mut word = || format!("w{} ", random.below(60));
    let texts: Vec<String> = (0..20_000)
        .map(|_| (0..5).map(|_| word()).collect())
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let input = write_jsonl(directory.path(), &documents(&texts), 1);
    let run = Run::default().shingle_size(2).threshold("0.3");
    let many = Collection::new(run.join("count"), &input);
    for threads in [1, 3] {
        let least = many.each_stage_with_the_least::<u64>(threads, 9);
        let blocks = least.join.count.unwrap().blocks;
        assert!(
            least.join.runs > blocks * threads as u64,
            "{:?}",
            least.join
        );
        assert!(least.join.pairs > 1000, "{:?}", least.join);
    }
}

/// Documents whose fingerprints do not fit what a small budget leaves for them: they are shingled
/// in several passes over their text, and their records are spilled in several runs.
#[test]
fn documents_larger_than_memory_change_nothing() {
    let directory = common::temporary();
    let random = &mut Random(3);
    let letters: Vec<char> = ('a'..='z').chain('0'..='9').collect();
    let mut words: Vec<String> = (0..600_000)
        .map(|_| random.pick(&letters).to_string())
        .collect();
    let mut docs: Vec<Doc> = random_corpus(12, Shape::default());
    for i in 0..3 {
        docs.insert(
            i * 20,
            Doc {
                docno: format!("large{i}"),
                url: None,
                text: words.join(" "),
            },
        );
        // The second is a near-duplicate of the first, the third an exact one of the second.
        if i == 0 {
            for at in (0..words.len()).step_by(500) {
                words[at] = "another".into();
            }
        }
    }
    let input = write_jsonl(directory.path(), &docs, 1);
    let bytes = docs[0].text.len() as u64;
    let max_document = 5 << 18;
    assert!(bytes < max_document - (64 << 10));
    let means = [("words", "md5", 2), ("bytes:12", "64", 1)];
    for (tokens, fingerprint, threads) in means.into_iter().step_by(one_in(2)) {
        let run = Run::default()
            .max_document(max_document)
            .tokens(tokens)
            .fingerprint(fingerprint);
        let run = run.segment_size(64 << 10).threshold("0.5");
        let plain = files_of(&run.clone().memory(2 << 30).threads(1), &input);
        let pairs = String::from_utf8(plain["pairs.tsv"].clone()).unwrap();
        assert!(pairs.contains("large0\tlarge1\t"), "{tokens}");

        let least = collection::least_memory(&run.collection, 1).0;
        // Before anything else, 40 MiB and a document are set aside; a pass gets a quarter of the
        // rest.
        let pass = (least - (40 << 20) - 500 - max_document) / 4;
        let key = if fingerprint == "md5" { 16 } else { 8 };
        let documents = String::from_utf8(plain["documents.tsv"].clone()).unwrap();
        let large = documents.lines().filter(|row| row.starts_with("large"));
        for row in large.clone() {
            let shingles: u64 = row.split('\t').nth(3).unwrap().parse().unwrap();
            assert!(
                shingles * key > 2 * pass,
                "{row} takes fewer than three passes"
            );
        }
        assert_eq!(large.count(), 3);
        let copy = common::temporary();
        let run = run.clone().threads(threads);
        // The sorts of the catalogue need no more than the reading.
        run.clone()
            .memory(least)
            .ingest(&[&input], copy.path())
            .unwrap();
        let mut workspace = pipeline::open(copy.path()).unwrap();
        let stop = Stop::default();
        let (memory, ()) = common::least_memory_in_steps(64 << 10, |memory| {
            let run = run.clone().memory(memory);
            let context = run.context(&stop, &Silent);
            pipeline::join(&mut workspace, &run.question, &context)
        });
        let run = run.clone().memory(memory.max(least));
        pipeline::cluster(&mut workspace, &run.context(&stop, &Silent)).unwrap();
        drop(workspace);
        let what = format!("{tokens}, {threads} threads, {least} and {memory} bytes");
        // With so little memory, there are fewer counters, and others of the fingerprints are sorted.
        let but_postings = |mut files: Files| {
            files.retain(|name, _| !name.starts_with("postings/") && !name.starts_with("runs/"));
            files
        };
        let found = but_postings(lasting(copy.path()));
        assert_same_files(&found, &but_postings(plain), &what);
        let runs = manifest(copy.path()).runs.unwrap().stats;
        assert!(runs.runs > 2, "{runs:?}");
    }
}

/// One document has more records than a sort's buffer: its runs are committed together.
#[test]
fn a_document_larger_than_a_sort_buffer_changes_nothing() {
    let directory = common::temporary();
    let mut docs = random_corpus(4, Shape::default());
    let random = &mut Random(8);
    for i in 0..2 {
        let text: String = (0..30_000)
            .map(|_| format!("{:x} ", random.below(5000)))
            .collect();
        for copy in ["", "and one word more"] {
            docs.push(Doc {
                docno: format!("large{i}{}", copy.len()),
                url: None,
                text: format!("{text}{copy}"),
            });
        }
    }
    let input = write_jsonl(directory.path(), &docs, 2);
    let run = Run::default()
        .shingle_size(2)
        .threshold("0.5")
        .join("count")
        .segment_size(50 << 10);
    let collection = Collection::new(run, &input);
    let least = collection.each_stage_with_the_least::<u64>(2, 3);
    let records = manifest(collection.directory.path());
    let largest = {
        let text = String::from_utf8(collection.plain["documents.tsv"].clone()).unwrap();
        let sizes = text
            .lines()
            .filter_map(|row| row.split('\t').nth(3)?.parse::<u64>().ok());
        sizes.max().unwrap()
    };
    assert!(records.ingested);
    // Runs of no more than this many records each, so that document alone needs ten.
    let most_in_a_run = 2048;
    assert!(largest > 10 * most_in_a_run, "{largest} shingles");
    assert!(
        least.runs > 4 * largest / most_in_a_run,
        "{} runs",
        least.runs
    );
}

/// The order of arguments, and how a directory is named, make no difference; docnos are sorted.
#[test]
fn the_order_of_arguments_changes_nothing() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), FEW);
    let inputs: Vec<PathBuf> = (0..3)
        .map(|i| input.join(format!("{i:03}.jsonl")))
        .collect();
    let mut seen = BTreeSet::new();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let out = common::temporary();
        let inputs: Vec<&Path> = order.iter().map(|&i| &*inputs[i]).collect();
        run.run(&inputs, out.path()).unwrap();
        seen.insert(lasting(out.path()).into_iter().collect::<Vec<_>>());
    }
    assert_eq!(seen.len(), 1);
    let as_directory = files_of(&run, &input);
    assert_eq!(
        seen.first().unwrap(),
        &as_directory.into_iter().collect::<Vec<_>>()
    );
}
