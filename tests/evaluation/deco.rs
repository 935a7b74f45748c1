//! SPEX, the selections, the scores S1 to S4 and the graph of `deco`, by definition and by the
//! examples of Bernstein & Zobel 2006.

use crate::common;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::collection::{self, DocumentReader, SetReader};
use lookalike::engine::join::PairsEntry;
use lookalike::engine::pipeline;
use lookalike::methods::{self, Spec};
use lookalike::report::{GraphFormat, graph, write_graph};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::corpus::Random;
use common::stopped::{StopAt, stage_of};
use common::{
    Run, assert_same_files, lasting, least_memory, one_in, rows_of, sample_corpora, tree,
};
use xxhash_rust::xxh3::xxh3_64;

type Texts = Vec<Vec<String>>;

/// Copies of a few originals, each with some words changed; some exact duplicates.
fn corpus(seed: u64, originals: usize) -> Texts {
    let random = &mut Random(seed);
    let mut documents: Texts = Vec::new();
    for original in 0..originals {
        let length = [5, 30, 90, 200][original % 4] + random.below(40);
        let words: Vec<String> = (0..length)
            .map(|_| format!("w{}", random.below(160) * random.below(160) / 160))
            .collect();
        for copy in 0..random.below(6) + 2 {
            let mut words = words.clone();
            for _ in 0..random.below(1 + copy * 4) {
                let at = random.below(words.len());
                words[at] = format!("x{}", random.below(60));
            }
            if copy % 3 == 2 {
                let from = random.below(words.len() * 3 / 4 + 1);
                words.drain(..from);
            }
            documents.push(words);
        }
    }
    documents
}

fn of_text(texts: &[&str]) -> Texts {
    let words = |text: &&str| text.split(' ').map(String::from).collect();
    texts.iter().map(words).collect()
}

/// A collection that keeps its texts, its documents named by their numbers.
fn ingested(documents: &Texts) -> (tempfile::TempDir, PathBuf) {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    let lines = documents.iter().enumerate().map(|(id, words)| {
        let text = words.join(" ");
        format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")
    });
    fs::write(&input, lines.collect::<String>()).unwrap();
    catalogued(&Run::default().keep_text(), &[&input], &out);
    (directory, out)
}

fn catalogued(run: &Run, inputs: &[&Path], out: &Path) {
    let mut base = run.ingest(inputs, out).unwrap();
    let stop = Stop::default();
    pipeline::catalogued(&mut base, &run.context(&stop, &Silent)).unwrap();
}

/// Results of a method; its directory.
fn method(run: &Run, out: &Path, spec: &str) -> PathBuf {
    let base = pipeline::open(out).unwrap();
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let spec = Spec::read(spec).unwrap();
    let (made, _) = methods::run(&base, &spec, &context).unwrap();
    made.directory().to_path_buf()
}

/// The keys of each document.
fn keys(directory: &Path) -> Vec<Vec<u64>> {
    let workspace = pipeline::open(directory).unwrap();
    let mut all = Vec::new();
    for segment in collection::segments(&workspace.manifest) {
        let path = workspace.path("collection").join(&segment.documents.name);
        let mut documents = DocumentReader::open(&path, None, None).unwrap();
        let mut sets = SetReader::<u64>::open(workspace.places(), segment).unwrap();
        while let Some(document) = documents.next().unwrap() {
            let mut keys: Vec<u64> = Vec::new();
            if document.stored {
                let take = |some: &[u64]| {
                    keys.extend(some);
                    Ok(())
                };
                sets.next(document.shingles, take).unwrap();
            }
            all.push(keys);
        }
    }
    all
}

fn representative(documents: &Texts, n: usize) -> bool {
    documents.iter().position(|words| *words == documents[n]) == Some(n)
}

/// Every document, whether or not it is a duplicate.
fn any(_: &Texts, _: usize) -> bool {
    true
}

/// Whether a document counts.
type Counts = fn(&Texts, usize) -> bool;

/// How often the documents that count have each chunk, and how many of them have it.
fn chunks(documents: &Texts, size: usize, counts: Counts) -> BTreeMap<String, (usize, usize)> {
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (n, words) in documents.iter().enumerate() {
        let chunks: Vec<String> = words.windows(size).map(|c| c.join(" ")).collect();
        if counts(documents, n) {
            for chunk in &chunks {
                found.entry(chunk.clone()).or_default().0 += 1;
            }
            for chunk in chunks.into_iter().collect::<BTreeSet<_>>() {
                found.entry(chunk).or_default().1 += 1;
            }
        }
    }
    found
}

/// Chunks are those of exact counters where memory is ample; none that is shared is ever missing.
#[test]
fn spex_misses_no_shared_chunk() {
    let mut false_positives = BTreeSet::new();
    for (seed, size) in [(1, 8), (2, 3), (3, 1)] {
        let documents = corpus(seed, 8);
        let (_held, out) = ingested(&documents);
        let chunks = chunks(&documents, size, representative);
        let hash = |chunk: &String| xxh3_64(chunk.as_bytes());
        let of = |which: &dyn Fn(&(usize, usize)) -> bool| -> BTreeSet<u64> {
            let some = chunks.iter().filter(|(_, counts)| which(counts));
            some.map(|(chunk, _)| hash(chunk)).collect()
        };
        let (all, shared) = (of(&|_| true), of(&|(_, documents)| *documents > 1));
        let more = of(&|(count, _)| *count > 1);
        assert!(shared.len() > 20 && shared.len() < all.len());
        for memory in ["8B", "64B", "2KiB", "1MiB"] {
            for iterate in [true, false] {
                let spec = format!("deco:size={size},memory={memory},iterate={iterate}");
                let directory = method(&Run::default(), &out, &spec);
                let found: BTreeSet<u64> = keys(&directory).into_iter().flatten().collect();
                assert!(found.is_subset(&all) && found.is_superset(&more), "{spec}");
                if memory == "1MiB" {
                    assert_eq!(found, more, "{spec}");
                }
                false_positives.insert((memory, found.len() - more.len()));
                // What SPEX kept by mistake is in no posting list. (Some lists need no postings.)
                let manifest = common::manifest(&directory);
                let lists = manifest.postings.unwrap().stats.lists;
                assert!(lists > 0 && lists <= shared.len() as u64, "{spec}");
                let table = rows_of(&directory, "spex.tsv");
                assert_eq!(table.len(), size);
                let first: Vec<u64> = table[0].split('\t').map(|n| n.parse().unwrap()).collect();
                let words: usize = (0..documents.len())
                    .filter(|&n| representative(&documents, n))
                    .map(|n| documents[n].len())
                    .sum();
                assert_eq!(first[1..3], [words as u64; 2], "{spec}");
            }
        }
    }
    let most = |memory| {
        let of = false_positives.iter().filter(|(m, _)| *m == memory);
        of.map(|(_, count)| *count).max().unwrap()
    };
    assert!(
        most("8B") > most("2KiB") && most("1MiB") == 0,
        "{false_positives:?}"
    );
}

/// The passes of Algorithm 1 with exact counters in place of hashed ones.
#[test]
fn passes_count_what_algorithm_1_counts() {
    let documents = with_duplicates(5);
    let (_held, out) = ingested(&documents);
    let modes: [(&str, Counts); 2] = [("remove", representative), ("keep", any)];
    for (duplicates, counts) in modes {
        let spec = format!("deco:size=6,memory=32MiB,duplicates={duplicates}");
        assert_passes(&documents, &method(&Run::default(), &out, &spec), counts);
    }
}

/// A corpus in which every third document occurs again, some of them twice.
fn with_duplicates(seed: u64) -> Texts {
    let mut documents = corpus(seed, 8);
    documents.truncate(26);
    let again: Vec<_> = documents.iter().step_by(3).cloned().collect();
    documents.extend(again.iter().take(4).cloned());
    documents.extend(again);
    documents
}

fn assert_passes(documents: &Texts, directory: &Path, counts: Counts) {
    let mut before: Option<BTreeMap<String, usize>> = None;
    for (n, row) in rows_of(directory, "spex.tsv").iter().enumerate() {
        let (mut chunks, mut counted) = (0, 0);
        let mut now: BTreeMap<String, usize> = BTreeMap::new();
        for (d, words) in documents.iter().enumerate() {
            if !counts(documents, d) {
                continue;
            }
            for chunk in words.windows(n + 1) {
                chunks += 1;
                let more = |subchunk: &[String]| {
                    let before = before.as_ref();
                    before.is_none_or(|b| b.get(&subchunk.join(" ")).is_some_and(|&c| c > 1))
                };
                if n == 0 || more(&chunk[..n]) && more(&chunk[1..]) {
                    counted += 1;
                    *now.entry(chunk.join(" ")).or_default() += 1;
                }
            }
        }
        let one = now.values().filter(|&&count| count == 1).count();
        let more = now.len() - one;
        assert_eq!(
            *row,
            format!("{}\t{chunks}\t{counted}\t{one}\t{more}", n + 1)
        );
        before = Some(now);
    }
}

const T: [[(u128, u128); 5]; 4] = [
    [(20, 1), (100, 1), (200, 1), (500, 1), (1000, 1)],
    [(3, 100), (5, 100), (10, 100), (15, 100), (30, 100)],
    [(2, 100), (5, 100), (10, 100), (15, 100), (30, 100)],
    [(2, 100), (5, 100), (20, 100), (50, 100), (100, 100)],
];
/// All up to 40 divide it.
const ALL: u128 = 5_342_931_457_063_200;

/// Lines of `pairs.tsv` but for the scores, and the scores, as fractions.
fn pairs_by_definition(
    (documents, counts): (&Texts, Counts),
    size: usize,
    keep: impl Fn(u64) -> bool,
    score: usize,
    (p, q): (u128, u128),
) -> BTreeMap<(usize, usize), (u128, f64)> {
    let f = chunks(documents, size, counts);
    let own = |n: usize| -> BTreeSet<String> {
        let chunks = documents[n].windows(size).map(|chunk| chunk.join(" "));
        chunks.filter(|c| keep(xxh3_64(c.as_bytes()))).collect()
    };
    let representatives: Vec<usize> = (0..documents.len())
        .filter(|&n| counts(documents, n))
        .collect();
    let sets: BTreeMap<usize, _> = representatives.iter().map(|&n| (n, own(n))).collect();
    let mut found = BTreeMap::new();
    for &a in &representatives {
        for &b in representatives.iter().filter(|&&b| b > a) {
            let shared: Vec<&String> = sets[&a].intersection(&sets[&b]).collect();
            let (u, v) = (documents[a].len() as u128, documents[b].len() as u128);
            let n = shared.len() as u128;
            let (part, whole) = match score {
                0 => (n, 1),
                1 => (n, u.min(v)),
                2 => (2 * n, u + v),
                _ => {
                    let weights = shared.iter().map(|chunk| ALL / f[*chunk].1 as u128);
                    (2 * weights.sum::<u128>(), (u + v) * ALL)
                }
            };
            if n > 0 && part * q >= whole * p {
                found.insert((a, b), (n, part as f64 / whole as f64));
            }
        }
    }
    found
}

fn assert_pairs(directory: &Path, expected: &BTreeMap<(usize, usize), (u128, f64)>, what: &str) {
    let rows = rows_of(directory, "pairs.tsv");
    let found: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.split('\t').map(String::from).collect())
        .collect();
    let docnos: Vec<(usize, usize)> = found
        .iter()
        .map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap()))
        .collect();
    let wanted: Vec<(usize, usize)> = expected.keys().copied().collect();
    assert_eq!(docnos, wanted, "{what}");
    for (row, (shared, score)) in found.iter().zip(expected.values()) {
        assert_eq!(row[3], shared.to_string(), "{what}: {row:?}");
        let printed: f64 = row[2].parse().unwrap();
        assert!((printed - score).abs() < 6e-7, "{what}: {row:?} {score}");
    }
}

#[test]
fn scores_are_those_of_section_6_at_every_threshold() {
    let mut listed: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (seed, size) in [(11, 3), (12, 8)] {
        let mut documents = corpus(seed, 8);
        // No chunk can be in more, so that ALL has a fraction for each.
        documents.truncate(40);
        let (_held, out) = ingested(&documents);
        let of = (&documents, representative as Counts);
        for (score, thresholds) in T.iter().enumerate() {
            for (t, &threshold) in thresholds.iter().enumerate() {
                let name = format!("score=s{},threshold=T{}", score + 1, t + 1);
                let expected = pairs_by_definition(of, size, |_| true, score, threshold);
                listed.entry(score).or_default().insert(expected.len());
                let ways = ["auto", "exact"].into_iter();
                for counting in ways.skip(t % one_in(2)).step_by(one_in(2)) {
                    let how = format!("size={size},memory=1MiB,counting={counting}");
                    let spec = format!("deco:{how},{name}");
                    assert_pairs(&method(&Run::default(), &out, &spec), &expected, &spec);
                }
            }
            // Thresholds are divided by the modulo; selections that are not SPEX.
            let (p, q) = thresholds[1];
            let modulo = |hash: u64| hash.is_multiple_of(4);
            let expected = pairs_by_definition(of, size, modulo, score, (p, q * 4));
            for selection in ["modulo-4", "spex+modulo-4"] {
                let name = format!("selection={selection},score=s{},threshold=T2", score + 1);
                let spec = format!("deco:size={size},memory=8B,{name}");
                assert_pairs(&method(&Run::default(), &out, &spec), &expected, &spec);
            }
        }
    }
    for (score, counts) in listed {
        assert!(counts.len() > 2, "S{}: {counts:?}", score + 1);
    }
}

/// Section 8.3: exact duplicates stay in the index. The features, the numbers of documents in S4
/// and the pairs are those of all documents.
#[test]
fn duplicates_that_are_kept_count_like_all_documents() {
    let documents = with_duplicates(21);
    assert!(documents.len() <= 40, "ALL has a fraction for each number");
    let (_held, out) = ingested(&documents);
    let sets = |duplicates: &str| {
        let spec = format!("deco:size=3,duplicates={duplicates}");
        keys(&method(&Run::default(), &out, &spec))
    };
    let (removed, kept) = (sets("remove"), sets("keep"));
    for (n, set) in kept.iter().enumerate() {
        let first = documents.iter().position(|words| *words == documents[n]);
        assert_eq!(set, &kept[first.unwrap()], "{n}");
        // Chunks of a document that occurs again occur more than once.
        if representative(&documents, n) {
            assert!(removed[n].iter().all(|key| set.contains(key)), "{n}");
        }
    }
    let sum = |sets: &[Vec<u64>]| sets.iter().map(Vec::len).sum::<usize>();
    assert!(sum(&kept) > sum(&removed));
    for (score, thresholds) in T.iter().enumerate() {
        let mut pairs = BTreeSet::new();
        for (t, &threshold) in thresholds.iter().enumerate() {
            let how = format!("score=s{},threshold=T{}", score + 1, t + 1);
            let spec = format!("deco:size=3,duplicates=keep,{how}");
            let of = (&documents, any as Counts);
            let expected = pairs_by_definition(of, 3, |_| true, score, threshold);
            assert_pairs(&method(&Run::default(), &out, &spec), &expected, &spec);
            pairs.insert(expected.len());
        }
        assert!(pairs.len() > 1, "S{}: {pairs:?}", score + 1);
    }
}

/// Section 4.2.1: the postings lists of three phrases, asked for with all three.
#[test]
fn the_postings_of_section_4_2_1() {
    let mut texts: Vec<String> = (0..13).map(|n| format!("own{n}")).collect();
    for (phrase, list) in [("fo", [3, 6, 9]), ("ob", [2, 4, 6]), ("ar", [6, 9, 11])] {
        for document in list {
            texts[document].push_str(&format!(" {phrase}"));
        }
    }
    // The query, so that it has a number of its own.
    texts[12] = "query fo ob ar".into();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (_held, out) = ingested(&of_text(&texts));
    let shared = |threshold: usize| -> Vec<(String, String)> {
        let spec = format!("deco:size=1,memory=1KiB,score=s1,threshold={threshold}");
        let rows = rows_of(&method(&Run::default(), &out, &spec), "pairs.tsv");
        let cells = rows.iter().map(|row| row.split('\t').collect::<Vec<_>>());
        let of_query = cells.filter(|cells| cells[1] == "12");
        of_query
            .map(|cells| (cells[0].into(), cells[3].into()))
            .collect()
    };
    let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = list.iter().map(|(a, b)| (a.to_string(), b.to_string()));
        pairs.collect()
    };
    let tuples = [
        ("2", "1"),
        ("3", "1"),
        ("4", "1"),
        ("6", "3"),
        ("9", "2"),
        ("11", "1"),
    ];
    assert_eq!(shared(1), pairs(&tuples));
    assert_eq!(shared(2), pairs(&[("6", "3"), ("9", "2")]));
}

/// Section 4.2.2: a postings list is expanded to a token for every pair.
#[test]
fn the_expansion_of_section_4_2_2() {
    let mut texts: Vec<String> = (0..14).map(|n| format!("own{n}")).collect();
    for document in [3, 7, 9, 13] {
        texts[document] = format!("first{document} quick brown fox last{document}");
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (_held, out) = ingested(&of_text(&texts));
    let spec = "deco:size=3,memory=1KiB,score=s1,threshold=1,counting=exact";
    let directory = method(&Run::default(), &out, spec);
    let rows = rows_of(&directory, "pairs.tsv");
    let pairs: Vec<String> = rows
        .iter()
        .map(|row| row.split('\t').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(pairs, ["3 7", "3 9", "3 13", "7 9", "7 13", "9 13"]);
    let stats = common::manifest(&directory).pairs.unwrap().stats;
    assert_eq!(stats.count.unwrap().pair_tokens, 6);
}

/// Every selection on a collection of files, and chunks that are rare by the number of their
/// documents.
#[test]
fn selections_on_documents() {
    let documents = corpus(21, 8);
    let (_held, out) = ingested(&documents);
    let f = chunks(&documents, 4, representative);
    let all: BTreeSet<u64> = f.keys().map(|chunk| xxh3_64(chunk.as_bytes())).collect();
    for selection in [
        "full",
        "random-3",
        "every-4",
        "anchor-w1.x",
        "winnowing-5",
        "min-6",
    ] {
        let spec = format!("deco:size=4,selection={selection},score=s1,threshold=1");
        let directory = method(&Run::default(), &out, &spec);
        let found: BTreeSet<u64> = keys(&directory).into_iter().flatten().collect();
        assert!(found.is_subset(&all) && !found.is_empty(), "{selection}");
        assert_eq!(found.len() == all.len(), selection == "full", "{selection}");
    }
    let spec = "deco:size=4,selection=rare-3,score=s1,threshold=1";
    let rare: BTreeSet<u64> = f
        .iter()
        .filter(|(_, (_, documents))| *documents <= 3)
        .map(|(chunk, _)| xxh3_64(chunk.as_bytes()))
        .collect();
    let expected = pairs_by_definition(
        (&documents, representative),
        4,
        |h| rare.contains(&h),
        0,
        (1, 1),
    );
    assert_pairs(&method(&Run::default(), &out, spec), &expected, spec);
    let spec = "deco:size=4,selection=rare-3,score=s4,threshold=0.01";
    let expected = pairs_by_definition(
        (&documents, representative),
        4,
        |h| rare.contains(&h),
        3,
        (1, 100),
    );
    assert_pairs(&method(&Run::default(), &out, spec), &expected, spec);
}

/// All documents share some words: every pair is a candidate.
fn alike(documents: usize) -> Texts {
    let mut random = Random(31);
    let common: Vec<String> = (0..150).map(|n| format!("c{n}")).collect();
    let words = |n: usize| {
        let from = random.below(60);
        let own = (0..20).map(move |i| format!("o{n}x{i}"));
        let shared = common[from..from + 90].iter().cloned();
        shared.chain(own).collect()
    };
    (0..documents).map(words).collect()
}

/// Postings in several blocks, and pairs in several windows.
#[test]
fn pairs_are_the_same_in_little_memory() {
    let documents = alike(240);
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    let lines = documents.iter().enumerate().map(|(id, words)| {
        let text = words.join(" ");
        format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")
    });
    fs::write(&input, lines.collect::<String>()).unwrap();
    let run = |score: &str, threshold: &str, join: &str| {
        let mut run = Run::default()
            .shingle_size(3)
            .threshold(threshold)
            .join(join);
        run.question.join.measure = score.parse().unwrap();
        run
    };
    for (score, threshold) in [("s4", "0.004"), ("s3", "0.4"), ("s1:50", "1")] {
        // Postings and pairs of enough memory.
        run(score, threshold, "count").run(&[&input], &out).unwrap();
        let expected = tree(&out)["pairs.tsv"].clone();
        let pairs = common::rows(&expected).len();
        assert!(pairs > 1000 && pairs < 28_000, "{score}: {pairs}");
        if score == "s4" {
            let by_definition = pairs_by_definition_few(&documents, 3, (4, 1000));
            assert_eq!(pairs, by_definition);
        }
        let mut counted = Vec::new();
        for join in ["count", "probabilistic"] {
            let again = run(score, threshold, "prefix").threshold("0.9");
            again.run(&[&input], &out).unwrap();
            let (_, stats) = least_memory(|memory| {
                let asked = run(score, threshold, join).memory(memory).threads(1);
                let mut workspace = pipeline::open(&out).unwrap();
                let stop = Stop::default();
                let context = asked.context(&stop, &Silent);
                pipeline::join(&mut workspace, &asked.question, &context)?;
                Ok(workspace
                    .manifest
                    .get::<PairsEntry>()
                    .cloned()
                    .unwrap()
                    .stats)
            });
            run(score, threshold, join).run(&[&input], &out).unwrap();
            assert!(tree(&out)["pairs.tsv"] == expected, "{score} {join}");
            counted.push(stats.count.unwrap());
        }
        let [exact, probabilistic] = [counted[0], counted[1]];
        if exact.blocks > 1 {
            assert!(probabilistic.blocks > 1);
            assert_eq!(exact.pruned, 0);
        }
        assert!(exact.blocks > 1, "{score}: {exact:?}");
        if score != "s4" {
            assert!(probabilistic.pruned > 0, "{score}: {probabilistic:?}");
            assert!(probabilistic.counted < exact.counted, "{score}");
        }
    }
}

/// Pairs at a threshold of S4, with frequencies of more than 40 documents.
fn pairs_by_definition_few(documents: &Texts, size: usize, (p, q): (u64, u64)) -> usize {
    let f = chunks(documents, size, representative);
    let sets: Vec<BTreeSet<String>> = documents
        .iter()
        .map(|words| words.windows(size).map(|chunk| chunk.join(" ")).collect())
        .collect();
    let mut found = 0;
    for (b, right) in sets.iter().enumerate() {
        for (a, left) in sets[..b].iter().enumerate() {
            let weight: f64 = left.intersection(right).map(|c| 1.0 / f[c].1 as f64).sum();
            let mean = (documents[a].len() + documents[b].len()) as f64 / 2.0;
            let (score, t) = (weight / mean, p as f64 / q as f64);
            assert!((score - t).abs() > 1e-9, "too near to tell");
            found += usize::from(score > t);
        }
    }
    found
}

#[test]
fn bytes_depend_on_collection_and_specification_alone() {
    let inputs = sample_corpora("trec-web/a.gz");
    let directory = common::temporary();
    let out = directory.path().join("out");
    let base = Run::default().keep_text().segment_size(64 << 10);
    catalogued(&base, &[&inputs], &out);
    for spec in [
        "deco:memory=4KiB,score=s4,threshold=T1",
        "deco:memory=64KiB,selection=spex+winnowing-4,score=s2,threshold=T1,counting=probabilistic",
        "deco:memory=4KiB,duplicates=keep",
    ] {
        let of = |made: &Path| {
            let files = lasting(made);
            fs::remove_dir_all(made).unwrap();
            files
        };
        let made = method(&Run::default().threads(1), &out, spec);
        assert!(!rows_of(&made, "pairs.tsv").is_empty(), "{spec}");
        let expected = of(&made);
        for (threads, memory) in [(4, 256 << 20), (2, 90 << 20)] {
            let run = Run::default().threads(threads).memory(memory);
            let what = format!("{spec} {threads} {memory}");
            assert_same_files(&of(&method(&run, &out, spec)), &expected, &what);
        }
        // Stopped again and again, a little later each time.
        let mut stages = BTreeSet::new();
        let mut after = 1;
        loop {
            let at = StopAt::call(after);
            let base = pipeline::open(&out).unwrap();
            let run = Run::default();
            let context = run.context(&at.stop, &at);
            match methods::run(&base, &Spec::read(spec).unwrap(), &context) {
                Ok(_) => break,
                Err(error) => stages.insert(stage_of(&error)),
            };
            after += one_in(3);
        }
        assert!(
            stages.contains("spex") && stages.contains("keys"),
            "{stages:?}"
        );
        assert_same_files(&of(&made), &expected, &format!("{spec} stopped"));
    }
}

/// Docnos with all that a form of a graph could stumble over.
#[test]
fn graphs_hold_any_docno() {
    let docnos = [
        "plain",
        "with \"quotes\" & <tags>",
        "back\\slash\\n",
        "tab\tand\nline\r\nfeeds",
        "Füße 東京 😀",
        "];}-- \u{1}",
        "]]>",
    ];
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    let mut lines = String::new();
    for (n, docno) in docnos.iter().enumerate() {
        let docno = serde_json::Value::from(*docno).to_string();
        let text = format!("one two three four five six own{n}");
        lines.push_str(&format!("{{\"id\":{docno},\"text\":\"{text}\"}}\n"));
    }
    lines.push_str("{\"id\":\"alone\",\"text\":\"something else\"}\n");
    fs::write(&input, lines).unwrap();
    let run = Run::default().shingle_size(2).threshold("0.5");
    run.run(&[&input], &out).unwrap();
    let mut workspace = pipeline::open(&out).unwrap();
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    // The rows of the table of pairs.
    let rows = rows_of(&out, "pairs.tsv");
    assert_eq!(rows.len(), 21, "{rows:#?}");
    let mut written = BTreeMap::new();
    for format in GraphFormat::ALL {
        let mut text = Vec::new();
        graph(&workspace, format, &context, |bytes| {
            text.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        let path = out.join(format.file_name());
        write_graph(&mut workspace, format, &path, &context).unwrap();
        assert_eq!(fs::read(&path).unwrap(), text);
        assert!(workspace.is_whole(&format.file_name()));
        written.insert(format.to_string(), String::from_utf8(text).unwrap());
    }
    let names = docnos.map(String::from);

    let xml = roxmltree::Document::parse(&written["graphml"]).unwrap();
    let nodes = xml.descendants().filter(|node| node.has_tag_name("node"));
    let labels: BTreeMap<&str, String> = nodes
        .map(|node| {
            let data = node.first_element_child().unwrap();
            (
                node.attribute("id").unwrap(),
                data.text().unwrap_or("").into(),
            )
        })
        .collect();
    let expected: Vec<String> = names
        .iter()
        .map(|n| n.replace('\u{1}', "\u{fffd}"))
        .collect();
    assert_eq!(labels.values().cloned().collect::<Vec<_>>(), expected);
    let edges: Vec<(String, String, String)> = xml
        .descendants()
        .filter(|node| node.has_tag_name("edge"))
        .map(|edge| {
            let at = |name| edge.attribute(name).unwrap().to_string();
            let weight = edge.first_element_child().unwrap().text().unwrap();
            (at("source"), at("target"), weight.to_string())
        })
        .collect();
    assert_eq!(edges.len(), rows.len());

    let mut dot_labels = BTreeMap::new();
    let mut dot_edges = Vec::new();
    let body = written["dot"]
        .strip_prefix("graph relationships {\n")
        .unwrap();
    for line in body.strip_suffix("}\n").unwrap().lines() {
        if let Some((node, label)) = line.split_once(" [label=\"") {
            let label = label.strip_suffix("\"];").unwrap();
            dot_labels.insert(node.to_string(), unquoted(label));
        } else {
            let (nodes, weight) = line.split_once(" [weight=").unwrap();
            let (a, b) = nodes.split_once(" -- ").unwrap();
            let weight = weight.strip_suffix("];").unwrap();
            dot_edges.push((a.to_string(), b.to_string(), weight.to_string()));
        }
    }
    // Control characters are written out, so that a label cannot control a terminal.
    let harmless = |name: &String| name.replace('\r', "\\r").replace('\u{1}', "\\x01");
    let expected: Vec<String> = names.iter().map(harmless).collect();
    assert_eq!(dot_labels.into_values().collect::<Vec<_>>(), expected);
    assert_eq!(dot_edges, edges);

    let table: Vec<&str> = written["tsv"].lines().skip(1).collect();
    for ((row, line), (a, b, weight)) in rows.iter().zip(&table).zip(&edges) {
        let cells: Vec<&str> = row.split('\t').collect();
        assert_eq!(*line, [cells[0], cells[1], cells[2]].join("\t"));
        assert_eq!(
            (a.as_str(), b.as_str()),
            (node(&names, cells[0]), node(&names, cells[1]))
        );
        assert_eq!(weight, cells[2]);
    }
}

/// The name of the vertex of a document, by its cell in a table.
fn node(names: &[String], cell: &str) -> &'static str {
    let nodes = ["n0", "n1", "n2", "n3", "n4", "n5", "n6"];
    let escape = |name: &String| {
        let name = name.replace('\\', "\\\\").replace('\t', "\\t");
        let name = name.replace('\n', "\\n").replace('\r', "\\r");
        name.replace('\u{1}', "\\x01")
    };
    let at = names.iter().position(|name| escape(name) == cell).unwrap();
    nodes[at]
}

/// A label as Graphviz reads it.
fn unquoted(label: &str) -> String {
    let mut text = String::new();
    let mut chars = label.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => panic!("a quote within {label}"),
            '\\' => match chars.next().unwrap() {
                'n' => text.push('\n'),
                c @ ('"' | '\\') => text.push(c),
                other => panic!("\\{other} in {label}"),
            },
            c => text.push(c),
        }
    }
    text
}
