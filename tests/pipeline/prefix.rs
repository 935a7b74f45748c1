//! The prefix join where it is hardest, beside the count join, which must say the same.

use crate::common;
use lookalike::base::measure::{Criterion, Measure};
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::collection::{self, Catalogue};
use lookalike::engine::join::PrefixStats;
use lookalike::engine::pipeline::Summary;
use lookalike::engine::sample::{self, Chooser, Sampled, Sampling, Selection, Selector, Sets};
use lookalike::store::workspace::Workspace;

use std::path::Path;

use common::corpus::{Doc, Random, Shape, random_corpus, write_jsonl};
use common::{Run, assert_same_files, one_in, results, rows, sample_corpora};

fn doc(number: usize, text: String) -> Doc {
    Doc {
        docno: number.to_string(),
        url: None,
        text,
    }
}

/// So many words that nobody else has.
fn own(random: &mut Random, words: usize) -> String {
    let words: Vec<String> = (0..words).map(|_| format!("{:x}", random.next())).collect();
    words.join(" ")
}

/// What the prefix join counted, after the count join and the clusters alone have said the same.
fn agree(run: &Run, input: &Path) -> (Summary, PrefixStats, PrefixStats) {
    let directory = common::temporary();
    let out = directory.path();
    let counted = run.clone().join("count").run(&[input], out).unwrap();
    let expected = results(out);
    let summary = run.run(&[input], out).unwrap();
    assert_same_files(&results(out), &expected, "prefix");
    assert_eq!(
        summary.join.as_ref().unwrap().pairs,
        counted.join.as_ref().unwrap().pairs
    );
    assert!(summary.selected.is_some() && counted.selected.is_none());
    // Left to itself it takes one of the two.
    run.clone().join("auto").run(&[input], out).unwrap();
    assert_same_files(&results(out), &expected, "auto");
    let alone = run.clone().pairs("none").run(&[input], out).unwrap();
    let found = results(out);
    assert_eq!(found["clusters.jsonl"], expected["clusters.jsonl"]);
    assert!(rows(&found["pairs.tsv"]).is_empty());
    // The table says that pairs were not asked for, and is the same otherwise.
    assert_eq!(
        rows(&found["documents.tsv"]),
        rows(&expected["documents.tsv"])
    );
    let prefix = |summary: &Summary| summary.join.clone().unwrap().prefix.unwrap();
    let (all, none) = (prefix(&summary), prefix(&alone));
    (summary, all, none)
}

/// A thousand pages of one template that differ in a number: half a million pairs, one cluster, and
/// no more work for it than some look-ups a page.
#[test]
fn a_template() {
    let random = &mut Random(1);
    let (before, after) = (own(random, 60), own(random, 60));
    let pages = 1000;
    let docs: Vec<Doc> = (0..pages)
        .map(|n| doc(n, format!("{before} {n} {after}")))
        .collect();
    let directory = common::temporary();
    let input = write_jsonl(directory.path(), &docs, 1);
    for threads in [3, 1].into_iter().step_by(one_in(2)) {
        let run = Run::default().threads(threads).threshold("0.6");
        let (summary, all, none) = agree(&run, &input);
        let pairs = (pages * (pages - 1) / 2) as u64;
        assert_eq!(summary.join.unwrap().pairs, pairs);
        assert_eq!(all.candidates, pairs);
        assert!(all.probes_repeated > all.probes / 2, "{all:?}");
        assert!(none.candidates < 4 * pages as u64, "{none:?}");
        assert!(none.verified < 8 * pages as u64, "{none:?}");
    }
}

/// The same, and every page has something of its own, so that the lists of no two fingerprints are
/// the same documents.
#[test]
fn a_template_with_choices() {
    let random = &mut Random(2);
    let phrases: Vec<String> = (0..90).map(|_| own(random, 4)).collect();
    let pages = 600;
    let docs: Vec<Doc> = (0..pages)
        .map(|n| {
            let text: Vec<&str> = phrases
                .iter()
                .filter(|_| !random.once_in(60))
                .map(String::as_str)
                .collect();
            doc(n, text.join(" "))
        })
        .collect();
    let directory = common::temporary();
    let input = write_jsonl(directory.path(), &docs, 1);
    for threshold in ["0.7", "0.4", "0.8"].into_iter().step_by(one_in(3)) {
        let run = Run::default().shingle_size(4).threshold(threshold);
        let (summary, all, none) = agree(&run, &input);
        assert!(all.verified >= summary.join.unwrap().pairs);
        assert!(none.verified < all.verified / 5, "{threshold}: {none:?}");
        // So many probes are no better than counting.
        let auto = run
            .join("auto")
            .run(&[&input], &directory.path().join("out"));
        assert!(auto.unwrap().join.unwrap().count.is_some(), "{threshold}");
    }
}

/// One paragraph in every document, which is otherwise nobody's: nothing is paired at all.
#[test]
fn boilerplate_everywhere() {
    let random = &mut Random(3);
    let boilerplate = own(random, 50);
    let docs: Vec<Doc> = (0..400)
        .map(|n| doc(n, format!("{boilerplate} {}", own(random, 60))))
        .collect();
    let directory = common::temporary();
    let input = write_jsonl(directory.path(), &docs, 1);
    let (summary, all, none) = agree(&Run::default(), &input);
    assert!(summary.selected.unwrap().stats.pruned > 100);
    assert!(all.probes < 400 && none.probes < 400, "{}", all.probes);
    let auto = Run::default().join("auto");
    let auto = auto.run(&[&input], &directory.path().join("out"));
    assert!(auto.unwrap().join.unwrap().prefix.is_some());
    // Two in five shingles are shared: 41 of 101, r = 41/161.
    for (threshold, pairs) in [("0.25", 400 * 399 / 2), ("0.26", 0)] {
        let (summary, ..) = agree(&Run::default().threshold(threshold), &input);
        assert_eq!(summary.join.unwrap().pairs, pairs, "{threshold}");
    }
}

#[test]
fn all_distinct_and_all_the_same() {
    let random = &mut Random(4);
    let distinct: Vec<Doc> = (0..200).map(|n| doc(n, own(random, 40))).collect();
    let same: Vec<Doc> = (0..200).map(|n| doc(n, distinct[0].text.clone())).collect();
    for (docs, clusters) in [(&distinct, 0), (&same, 1)] {
        let directory = common::temporary();
        let input = write_jsonl(directory.path(), docs, 2);
        for threshold in ["0.1", "0.85", "1.0"] {
            let (summary, all, _) = agree(&Run::default().threshold(threshold), &input);
            assert_eq!((all.entries, all.probes, all.candidates), (0, 0, 0));
            assert_eq!(summary.cluster.unwrap().clusters, clusters);
        }
    }
}

/// Real pages, at thresholds from very low to equal.
#[test]
fn real_pages_at_every_threshold() {
    let input = sample_corpora("trec-web");
    let mut pairs = Vec::new();
    for threshold in ["0.1", "0.3", "0.5", "0.7", "0.85", "0.95", "1.0"] {
        let (summary, ..) = agree(&Run::default().threshold(threshold), &input);
        pairs.push(summary.join.unwrap().pairs);
    }
    assert!(
        pairs.is_sorted_by(|a, b| a > b) && pairs[0] > 150,
        "{pairs:?}"
    );
}

/// More candidates than a thread holds: they are spilled in many runs and merged by generations,
/// with the least fan-in, and windows of them are verified one after the other.
#[test]
fn more_candidates_than_are_held() {
    let random = &mut Random(5);
    let blocks: Vec<String> = (0..24).map(|_| own(random, 12)).collect();
    let docs: Vec<Doc> = (0..600)
        .map(|n| {
            let mut text = Vec::new();
            while text.len() < 12 {
                let block = random.pick(&blocks);
                if !text.contains(&block.as_str()) {
                    text.push(block);
                }
            }
            doc(n, text.join(" "))
        })
        .collect();
    let directory = common::temporary();
    let input = write_jsonl(directory.path(), &docs, 1);
    let run = Run::default().shingle_size(3).threshold("0.3");
    for (threads, fan_in) in [(1, 2), (3, 3)] {
        let (summary, all, _) = agree(&run.clone().threads(threads).fan_in(fan_in), &input);
        let join = summary.join.unwrap();
        assert!(join.runs > 6 && join.generations >= 2, "{join:?}");
        assert!(all.candidates > 100_000 && all.spilled > all.candidates);
        assert!(join.pairs > 1000 && join.pairs < all.candidates);
        // In memory, all partners of a document are met at once, and some need no look at the sets.
        let (summary, held, _) = agree(&run.clone().threads(threads), &input);
        assert_eq!(summary.join.unwrap().pairs, join.pairs);
        assert_eq!(held.spilled, held.candidates);
        assert!(
            held.candidates < all.candidates && held.pairs_by_prefix > 0,
            "{held:?}"
        );
        let excluded = held.probes_repeated + held.probes_by_length + held.probes_by_singles;
        assert_eq!(
            held.probes,
            excluded + held.pairs_by_prefix + held.candidates
        );
    }
}

/// Documents whose prefixes nobody shares are not paired, although much of them is boilerplate.
#[test]
fn documents_are_pruned() {
    let random = &mut Random(6);
    let common: Vec<String> = (0..6).map(|_| own(random, 30)).collect();
    let docs: Vec<Doc> = (0..300)
        .map(|n| {
            let mut text = common.join(" ");
            if n % 3 == 0 {
                text = format!("{text} {}", own(random, 120));
            } else {
                text = format!("{} {text}", own(random, 3 + n % 7));
            }
            doc(n, text)
        })
        .collect();
    let directory = common::temporary();
    let input = write_jsonl(directory.path(), &docs, 1);
    for threads in [1, 2] {
        let (summary, ..) = agree(&Run::default().threads(threads), &input);
        assert_eq!(summary.selected.unwrap().stats.pruned, 100);
        assert!(summary.join.unwrap().pairs > 10_000);
    }
}

/// What documents choose is the same from kept keys and from the sets, and with any number of
/// threads.
#[test]
fn a_choice_does_not_depend_on_where_the_keys_come_from() {
    let directory = common::temporary();
    let shape = Shape {
        families: 30,
        members: 5,
        words: 400,
        vocabulary: 3000,
        boilerplate: 100,
    };
    let input = write_jsonl(directory.path(), &random_corpus(5, shape), 3);
    let mut run = Run::default().shingle_size(3).segment_size(16 << 10);
    run.collection.size_groups = "100,300".parse().unwrap();
    let mut workspace = run
        .ingest(&[&input], &directory.path().join("out"))
        .unwrap();
    for sampling in ["full", "1/3:1", "full,1/2,1/6"] {
        chosen_of(&mut workspace, &run, &sampling.parse().unwrap());
    }
}

fn chosen_of(workspace: &mut Workspace, run: &Run, sampling: &Sampling) {
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    sample::run::<u64>(workspace, sampling, &context).unwrap();
    let sampled = Sampled::load(workspace).unwrap();
    let stored = Catalogue::stored(workspace).unwrap();
    let segments = collection::segments(&workspace.manifest).to_vec();
    let sets = Sets {
        places: workspace.places(),
        segments: &segments,
        stored: &stored,
    };
    let shingles = (0..stored.len() as u32)
        .map(|d| u64::from(stored.at(d)))
        .sum();
    for threshold in ["0.5", "0.85", "1"] {
        let criterion = Criterion {
            measure: Measure::default(),
            threshold: threshold.parse().unwrap(),
        };
        let narrow = Selection::of(criterion, &sampled, shingles, 1 << 30);
        let wide = narrow.wider(1 << 30).unwrap_or(narrow);
        // Many keys share a counter.
        let crowded = Selection::of(criterion, &sampled, shingles, 0);
        for selection in [narrow, wide, crowded] {
            let chosen = |threads| {
                let (sampled, stop) = (&sampled, &stop);
                let selector =
                    Selector::<u64>::count(selection, sampled, sets, threads, "sort", stop);
                let selector = selector.unwrap();
                let expected = selector.expected(1 << 20, "sort", stop).unwrap();
                let mut chooser = Chooser::new(&selector);
                let mut chosen = Vec::new();
                for (number, segment) in segments.iter().enumerate() {
                    chooser.begin(number).unwrap();
                    let first = segment.first_document;
                    for document in first..first + segment.stats.documents as u32 {
                        let take = |keys: &[u64]| {
                            chosen.extend(keys.iter().map(|&key| (document, key)));
                            Ok(())
                        };
                        chooser.next(document, take).unwrap();
                    }
                    chooser.finish().unwrap();
                }
                drop(chooser);
                assert_eq!(selector.stats().keys, chosen.len() as u64);
                (chosen, expected, selector.stats())
            };
            let plain = chosen(1);
            assert!(threshold == "1" || !plain.0.is_empty());
            for threads in [2, 3] {
                assert_eq!(chosen(threads), plain, "{threads} threads");
            }
        }
    }
}
