//! Whatever is asked, the pipeline answers what a brute force over the definitions answers; and on
//! the sample corpora it finds what is known to be there.

use crate::common;
use lookalike::engine::pipeline::Summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use common::corpus::{Doc, Random, Shape, documents, random_corpus, write_files, write_jsonl};
use common::oracle::{Answer, BY_GROUP, FULL, SAMPLINGS, Spec, THRESHOLDS, answer};
use common::{Run, assert_same_files, one_in, results, rows, rows_of, sample_corpora};

/// Every value of `--max-postings` that is tried.
const MAX_POSTINGS: [Option<usize>; 3] = [None, Some(2), Some(7)];

/// What was met on the way, so that a corpus without near-duplicates cannot make a test pass.
#[derive(Default)]
struct Met {
    pairs: usize,
    exact: usize,
    clusters: usize,
    /// Clusters with a member that is not paired with the representative.
    chained: usize,
    differing_counts: BTreeSet<usize>,
}

impl Met {
    fn note(&mut self, answer: &Answer) {
        self.pairs += answer.pairs.len();
        self.exact += answer.exact_duplicates.len();
        self.clusters += answer.clusters.len();
        let chained = answer.clusters.iter().filter(|cluster| {
            let members = cluster["members"].as_array().unwrap();
            members.iter().any(|member| member["resemblance"].is_null())
        });
        self.chained += chained.count();
        self.differing_counts.insert(answer.pairs.len());
    }
}

/// Runs one question and compares all of the answer.
fn check(spec: &Spec, docs: &[Doc], input: &Path, out: &Path, seed: u64, met: &mut Met) {
    let summary = spec.run().run(&[input], out).unwrap();
    let found = Answer::read(&results(out));
    let expected = answer(spec, docs);
    let what = format!("seed {seed}, {spec:?}, {}", input.display());
    assert_eq!(found.pairs, expected.pairs, "pairs: {what}");
    assert_eq!(found.documents, expected.documents, "documents: {what}");
    let (a, b) = (&found.exact_duplicates, &expected.exact_duplicates);
    assert_eq!(a, b, "exact duplicates: {what}");
    assert_eq!(found.clusters, expected.clusters, "clusters: {what}");
    assert_eq!(
        summary.join.as_ref().unwrap().pairs as usize,
        expected.pairs.len()
    );
    assert_eq!(
        summary.cluster.unwrap().clusters as usize,
        expected.clusters.len()
    );
    assert_balanced(&summary);
    met.note(&expected);
    let selects = spec.max_postings.is_none() && spec.sampling.0 != "broder97";
    assert_eq!(summary.selected.is_some(), selects, "selected: {what}");
    if spec.max_postings.is_some() {
        return;
    }
    // The other ways to the pairs, and the clusters without them.
    let before = results(out);
    let summary = spec.run().join("count").run(&[input], out).unwrap();
    assert_same_files(&results(out), &before, &format!("count, {what}"));
    assert_balanced(&summary);
    spec.run().pairs("none").run(&[input], out).unwrap();
    let after = results(out);
    assert_eq!(rows(&after["pairs.tsv"]), Vec::<String>::new(), "{what}");
    let name = "clusters.jsonl";
    assert_eq!(after[name], before[name], "clusters without pairs: {what}");
}

/// What came in is what left: documents, rejects and skipped records are all the records; shared
/// and single fingerprints are all the fingerprints sampled.
fn assert_balanced(summary: &Summary) {
    let ingest = &summary.ingest;
    let rejected: u64 = ingest.rejected.values().sum();
    let skipped: u64 = ingest.skipped.values().sum();
    assert_eq!(ingest.records, ingest.documents + rejected + skipped);
    let (sample, merge) = (summary.sample.as_ref().unwrap(), summary.merge.unwrap());
    let sorted = summary.selected.map_or(sample.sampled, |s| s.stats.keys);
    assert_eq!(sorted, merge.entries + merge.singles);
    let join = summary.join.clone().unwrap();
    if let Some(join) = join.count {
        assert_eq!(merge.entries, join.entries + join.entries_dropped);
        assert_eq!(merge.lists, join.lists + join.lists_dropped);
        assert_eq!(
            merge.pair_tokens,
            join.pair_tokens + join.pair_tokens_dropped
        );
    }
    if let Some(prefix) = &join.prefix {
        assert_eq!(prefix.entries, merge.entries);
        let excluded = prefix.probes_repeated
            + prefix.probes_by_length
            + prefix.probes_by_singles
            + prefix.pairs_by_prefix
            + prefix.probes_clustered;
        assert!(prefix.probes >= excluded + prefix.candidates);
        assert!(prefix.spilled >= prefix.candidates && prefix.candidates >= join.pairs);
        assert_eq!(prefix.verified, prefix.candidates);
    }
}

/// Each way to make a collection; of each, some of all questions, other ones each time.
#[test]
fn every_question_is_answered_as_by_brute_force() {
    let mut met = Met::default();
    let mut seed = 1;
    for w in [1, 2, 5, 10] {
        for md5 in [false, true] {
            for whole in [true, false] {
                let collection = Spec {
                    w,
                    md5,
                    whole,
                    ..Spec::default()
                };
                questions(collection, seed, 7 / one_in(2), &mut met);
                seed += 1;
            }
        }
    }
    for tokens in ["whitespace", "bytes:5"] {
        for (w, md5, whole) in [(2, false, true), (5, true, false), (10, false, false)] {
            let collection = Spec {
                tokens,
                w,
                md5,
                whole,
                ..Spec::default()
            };
            questions(collection, seed, 7 / one_in(2), &mut met);
            seed += 1;
        }
    }
    assert!(
        met.pairs * one_in(2) > 1000
            && met.exact * one_in(2) > 500
            && met.clusters * one_in(2) > 500,
        "found next to nothing"
    );
    assert!(met.chained * one_in(2) > 50 && met.differing_counts.len() * one_in(2) > 30);
}

/// Puts `count` questions to the same collection, half the time as JSONL, half as files.
fn questions(collection: Spec, seed: u64, count: usize, met: &mut Met) {
    let directory = common::temporary();
    let docs = random_corpus(seed, Shape::default());
    let (input, docs) = if seed.is_multiple_of(2) {
        (write_jsonl(directory.path(), &docs, 3), docs)
    } else {
        write_files(directory.path(), &docs)
    };
    let random = &mut Random(seed);
    for _ in 0..count {
        let spec = Spec {
            threshold: *random.pick(&THRESHOLDS),
            sampling: *random.pick(&SAMPLINGS),
            max_postings: *random.pick(&MAX_POSTINGS),
            ..collection
        };
        check(
            &spec,
            &docs,
            &input,
            &directory.path().join("out"),
            seed,
            met,
        );
    }
}

/// All 75 questions to one collection, in one directory.
#[test]
fn all_questions_to_one_collection() {
    let directory = common::temporary();
    let docs = random_corpus(77, Shape::default());
    let input = write_jsonl(directory.path(), &docs, 2);
    let mut met = Met::default();
    for sampling in SAMPLINGS {
        for threshold in THRESHOLDS {
            for max_postings in MAX_POSTINGS {
                let spec = Spec {
                    w: 5,
                    sampling,
                    threshold,
                    max_postings,
                    ..Spec::default()
                };
                check(
                    &spec,
                    &docs,
                    &input,
                    &directory.path().join("out"),
                    77,
                    &mut met,
                );
            }
        }
    }
    assert!(met.differing_counts.len() > 10);
}

/// Shingles of excluded texts count for nobody, for every kind of token and hash.
#[test]
fn without_the_shingles_of_other_texts() {
    let mut met = Met::default();
    for seed in 500..500 + 8 / one_in(2) as u64 {
        let directory = common::temporary();
        let docs = random_corpus(seed, Shape::default());
        let input = write_jsonl(directory.path(), &docs, 2);
        // A document, the middle of another one, and a text of a word.
        let words: Vec<&str> = docs[3].text.split(' ').collect();
        let middle = words[words.len() / 4..words.len() * 3 / 4].join(" ");
        let texts = vec![docs[seed as usize % 3].text.clone(), middle, "one".into()];
        let texts: Vec<String> = texts
            .into_iter()
            .filter(|text| text.chars().any(char::is_alphanumeric))
            .collect();
        let collection = Spec {
            tokens: ["words", "whitespace", "words", "bytes:5"][seed as usize % 4],
            w: [2, 5][seed as usize % 2],
            md5: seed % 3 == 0,
            whole: seed % 2 == 0,
            excluded: Box::leak(texts.into_boxed_slice()),
            ..Spec::default()
        };
        for threshold in [THRESHOLDS[0], THRESHOLDS[2]] {
            let spec = Spec {
                threshold,
                ..collection
            };
            let out = directory.path().join("out");
            check(&spec, &docs, &input, &out, seed, &mut met);
            let all = Spec {
                excluded: &[],
                ..spec
            };
            assert_ne!(answer(&spec, &docs), answer(&all, &docs), "{seed}");
            // Threads and memory change nothing.
            spec.run().run(&[&input], &out).unwrap();
            let before = results(&out);
            for (threads, memory) in [(1, 256 << 20), (3, 300 << 20)] {
                let out = directory
                    .path()
                    .join(format!("out{threads}-{}", threshold.1));
                let run = spec.run().threads(threads).memory(memory);
                run.run(&[&input], &out).unwrap();
                assert_same_files(&results(&out), &before, &format!("{threads} threads"));
            }
        }
    }
    assert!(met.pairs * one_in(2) > 100, "{}", met.pairs);
}

/// Each size group has a ratio of its own: documents of different ratios are compared on the
/// coarser.
#[test]
fn ratios_by_size_group() {
    let mut met = Met::default();
    let (mut across, mut groups) = (0, BTreeSet::new());
    for (seed, by_group) in (300..).zip(BY_GROUP.into_iter().cycle().take(8 / one_in(2))) {
        let directory = common::temporary();
        let docs = random_corpus(seed, Shape::default());
        let input = write_jsonl(directory.path(), &docs, 2);
        let out = directory.path().join("out");
        for (threshold, max_postings) in
            THRESHOLDS
                .into_iter()
                .zip([None, None, None, Some(7), None])
        {
            let spec = Spec {
                w: 2,
                md5: seed % 2 == 0,
                threshold,
                by_group: Some(by_group),
                max_postings,
                ..Spec::default()
            };
            check(&spec, &docs, &input, &out, seed, &mut met);
            let group: BTreeMap<String, String> = rows_of(&out, "documents.tsv")
                .iter()
                .map(|row| {
                    let mut cells = row.split('\t').map(String::from);
                    (cells.next().unwrap(), cells.nth(3).unwrap())
                })
                .collect();
            for row in answer(&spec, &docs).pairs {
                let mut docnos = row.split('\t').take(2).map(|docno| &group[docno]);
                across += usize::from(docnos.next() != docnos.next());
            }
            groups.extend(group.into_values());
        }
    }
    assert_eq!(groups.len(), BY_GROUP[0].1.len());
    assert!(
        met.pairs * one_in(2) > 500 && across * one_in(2) > 50,
        "{} {across}",
        met.pairs
    );
}

/// Documents of more than 25 x 400 shingles: Broder's limit is reached, and so are the larger size
/// groups; and more than 1,000 documents share a fingerprint: they are too many for him.
#[test]
fn the_limits_of_broder_1997() {
    let directory = common::temporary();
    let long = Shape {
        families: 3,
        members: 4,
        words: 16_000,
        vocabulary: 5000,
        boilerplate: 9000,
    };
    let docs = random_corpus(5, long);
    let spec = Spec {
        w: 3,
        threshold: THRESHOLDS[0],
        sampling: SAMPLINGS[4],
        max_postings: Some(1000),
        ..Spec::default()
    };
    let mut met = Met::default();
    let input = write_jsonl(&directory.path().join("long"), &docs, 1);
    check(
        &spec,
        &docs,
        &input,
        &directory.path().join("long/out"),
        5,
        &mut met,
    );
    let capped = rows_of(&directory.path().join("long/out"), "pairs.tsv");
    let capped = capped.iter().filter(|row| row.ends_with("\t400\t400"));
    assert!(capped.count() > 1, "no document reached the limit");
    let groups: BTreeSet<String> = rows_of(&directory.path().join("long/out"), "documents.tsv")
        .iter()
        .map(|row| row.split('\t').nth(4).unwrap().to_string())
        .collect();
    assert!(groups.contains("10") && groups.contains("0"), "{groups:?}");

    let common = "one sentence stands in every document of the whole collection and twice over";
    let docs: Vec<Doc> = (0..1002)
        .map(|i| Doc {
            docno: format!("{i}"),
            url: None,
            text: format!("{common} n{} m{} n{}", i / 2, i / 2, i / 2),
        })
        .collect();
    let docs: Vec<Doc> = docs
        .into_iter()
        .enumerate()
        .map(|(i, mut doc)| {
            doc.text.push_str(["", " end"][i % 2]);
            doc
        })
        .collect();
    let input = write_jsonl(&directory.path().join("many"), &docs, 1);
    let asked = [
        (FULL, Some(1000)),
        (FULL, Some(1002)),
        (SAMPLINGS[1], Some(1001)),
    ];
    for (sampling, max_postings) in asked.into_iter().step_by(one_in(3)) {
        let spec = Spec {
            w: 2,
            threshold: THRESHOLDS[0],
            sampling,
            max_postings,
            ..Spec::default()
        };
        let mut few = Met::default();
        check(
            &spec,
            &docs,
            &input,
            &directory.path().join("many/out"),
            0,
            &mut few,
        );
        let dropped = common::manifest(&directory.path().join("many/out"));
        let dropped = dropped.pairs.unwrap().stats.count.unwrap().lists_dropped;
        assert_eq!(dropped > 0, max_postings != Some(1002));
    }
}

/// Nothing, or next to nothing, to read.
#[test]
fn the_smallest_collections() {
    for texts in [
        &[""][..],
        &["one"],
        &["one", "one"],
        &["", "", "..."],
        &["a b", "a b c"],
    ] {
        for w in [1, 2, 10] {
            let directory = common::temporary();
            let docs = documents(texts);
            let input = write_jsonl(directory.path(), &docs, 1);
            let spec = Spec {
                w,
                threshold: THRESHOLDS[0],
                ..Spec::default()
            };
            check(
                &spec,
                &docs,
                &input,
                &directory.path().join("out"),
                0,
                &mut Met::default(),
            );
        }
    }
}

/// A table of `index.toml`.
type Table = toml::Table;

fn index() -> Table {
    let text = fs::read_to_string(sample_corpora("index.toml")).unwrap();
    text.parse().unwrap()
}

fn tables(index: &Table, name: &str) -> Vec<Table> {
    let list = index[name].as_array().unwrap();
    list.iter()
        .map(|table| table.as_table().unwrap().clone())
        .collect()
}

fn number(table: &Table, name: &str) -> u64 {
    table[name].as_integer().unwrap() as u64
}

fn counts(table: &Table, name: &str) -> BTreeMap<String, u64> {
    let counts = table[name].as_table().unwrap();
    let pair =
        |(reason, n): (&String, &toml::Value)| (reason.clone(), n.as_integer().unwrap() as u64);
    counts.iter().map(pair).collect()
}

/// The rows of a table over all sample corpora that are about one of them, without its name.
fn known(file: &str, corpus: &str, columns: usize) -> Vec<String> {
    let bytes = fs::read(sample_corpora(file)).unwrap();
    let rows = rows(&bytes);
    let rows = rows.iter().filter_map(|row| {
        let (name, rest) = row.split_once('\t').unwrap();
        let cells: Vec<&str> = rest.split('\t').take(columns).collect();
        (name == corpus).then(|| cells.join("\t"))
    });
    rows.collect()
}

/// A row of `pairs.tsv` without the resemblance, which is the quotient of the others.
fn without_resemblance(row: &str) -> String {
    let cells: Vec<&str> = row.split('\t').collect();
    [cells[0], cells[1], cells[3], cells[4], cells[5]].join("\t")
}

/// Reasons in `rejects.jsonl`, of records refused and of records used.
fn reasons(out: &Path) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let (mut refused, mut used) = (BTreeMap::new(), BTreeMap::new());
    for line in fs::read_to_string(out.join("rejects.jsonl"))
        .unwrap()
        .lines()
    {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            line["file"].is_string() && line["offset"].is_u64(),
            "{line}"
        );
        let counts = match line["document"].as_str().unwrap() {
            "rejected" => &mut refused,
            "used" => &mut used,
            other => panic!("{other}"),
        };
        *counts
            .entry(line["reason"].as_str().unwrap().to_string())
            .or_default() += 1;
    }
    (refused, used)
}

/// A run over a sample corpus: ten words, 0.5.
fn sample_run() -> Run {
    Run::default().threshold("0.5").max_document(8 << 20)
}

#[test]
fn sample_corpora_hold_what_the_index_says() {
    let index = index();
    let mut pairs = 0;
    for corpus in tables(&index, "corpus") {
        let path = corpus["path"].as_str().unwrap();
        let directory = common::temporary();
        let out = directory.path();
        let summary = sample_run().run(&[&sample_corpora(path)], out).unwrap();
        assert_balanced(&summary);
        assert_eq!(
            summary.ingest.documents,
            number(&corpus, "documents"),
            "{path}"
        );
        let skipped: u64 = summary.ingest.skipped.values().sum();
        assert_eq!(skipped, number(&corpus, "skipped"), "{path}");
        assert_eq!(
            summary.ingest.rejected,
            counts(&corpus, "rejects"),
            "{path}"
        );
        assert_eq!(summary.ingest.noticed, counts(&corpus, "notices"), "{path}");
        let expected = (counts(&corpus, "rejects"), counts(&corpus, "notices"));
        assert_eq!(reasons(out), expected, "{path}: rejects.jsonl");

        let found = rows_of(out, "exact-duplicates.tsv");
        let cells = |row: &String| row.split('\t').take(3).collect::<Vec<_>>().join("\t");
        let found: Vec<String> = found.iter().map(cells).collect();
        assert_eq!(found, known("exact-duplicates.tsv", path, 3), "{path}");
        assert_eq!(
            found.len() as u64,
            number(&corpus, "exact_duplicates"),
            "{path}"
        );
        let found: Vec<String> = rows_of(out, "pairs.tsv")
            .iter()
            .map(|row| without_resemblance(row))
            .collect();
        // Ours come in input order; so do the known ones.
        assert_eq!(found, known("known-pairs.tsv", path, 5), "{path}");
        assert_eq!(found.len() as u64, number(&corpus, "pairs"), "{path}");
        pairs += found.len();
    }
    assert_eq!(
        pairs,
        rows(&fs::read(sample_corpora("known-pairs.tsv")).unwrap()).len()
    );
}

/// For every sample corpus the two hashes give the same pairs, and a higher threshold gives the
/// part of the list of a lower one that reaches it.
#[test]
fn sample_corpora_with_either_hash_and_at_every_threshold() {
    for corpus in tables(&index(), "corpus") {
        let path = sample_corpora(corpus["path"].as_str().unwrap());
        let directory = common::temporary();
        let (a, b) = (directory.path().join("64"), directory.path().join("md5"));
        let lowest = sample_run().threshold("0.3");
        lowest.run(&[&path], &a).unwrap();
        lowest.clone().fingerprint("md5").run(&[&path], &b).unwrap();
        let all = rows_of(&a, "pairs.tsv");
        assert_eq!(all, rows_of(&b, "pairs.tsv"), "{}", path.display());
        assert_eq!(rows_of(&a, "documents.tsv"), rows_of(&b, "documents.tsv"));
        for tenths in (3..=10u64).step_by(one_in(3)) {
            let threshold = format!("{}.{}", tenths / 10, tenths % 10);
            lowest
                .clone()
                .threshold(&threshold)
                .run(&[&path], &a)
                .unwrap();
            let reached = all.iter().filter(|row| {
                let cell = |i| row.split('\t').nth(i).unwrap().parse::<u64>().unwrap();
                let (shared, size_a, size_b) = (cell(3), cell(4), cell(5));
                shared * 10 >= (size_a + size_b - shared) * tenths
            });
            let reached: Vec<String> = reached.cloned().collect();
            assert_eq!(
                rows_of(&a, "pairs.tsv"),
                reached,
                "{} {threshold}",
                path.display()
            );
        }
    }
}

#[test]
fn broken_files_give_what_can_be_had_and_say_what_not() {
    for broken in tables(&index(), "broken") {
        let path = broken["path"].as_str().unwrap();
        let directory = common::temporary();
        let out = directory.path();
        let summary = sample_run().run(&[&sample_corpora(path)], out).unwrap();
        assert_balanced(&summary);
        assert_eq!(
            summary.ingest.documents,
            number(&broken, "documents"),
            "{path}"
        );
        let docnos: Vec<String> = rows_of(out, "documents.tsv")
            .iter()
            .map(|row| row.split('\t').next().unwrap().to_string())
            .collect();
        let expected = broken["docnos"].as_array().unwrap();
        let expected: Vec<&str> = expected
            .iter()
            .map(|docno| docno.as_str().unwrap())
            .collect();
        assert_eq!(docnos, expected, "{path}");
        let (mut all, used) = reasons(out);
        for (reason, n) in used {
            *all.entry(reason).or_default() += n;
        }
        assert_eq!(all, counts(&broken, "reasons"), "{path}");
    }
}

/// All broken files at once, with sound ones around them: they do no harm to each other.
#[test]
fn broken_files_harm_no_others() {
    let directory = common::temporary();
    let (a, b) = (directory.path().join("a"), directory.path().join("b"));
    let (broken, sound) = (sample_corpora("broken"), sample_corpora("trec-web/a.gz"));
    let summary = sample_run().run(&[&broken, &sound], &a).unwrap();
    assert_balanced(&summary);
    let documents: u64 = tables(&index(), "broken")
        .iter()
        .map(|t| number(t, "documents"))
        .sum();
    assert_eq!(summary.ingest.documents, documents + 95);
    // The same again with one thread and many segments.
    sample_run()
        .threads(1)
        .segment_size(1024)
        .run(&[&broken, &sound], &b)
        .unwrap();
    assert_same_files(&results(&b), &results(&a), "one thread, many segments");
}
