//! Every score of pairs, by every join, is what the formulas of the papers say of all pairs of
//! sets.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use common::corpus::Random;
use common::{Run, one_in, rows_of};

/// Names and texts: copies of a few originals, each with some words changed; some long, some short.
fn corpus(random: &mut Random) -> Vec<(String, Vec<String>)> {
    let mut documents: Vec<(String, Vec<String>)> = Vec::new();
    for original in 0..8 {
        let length = [3, 9, 20, 60][original % 4] + random.below(20);
        let words: Vec<String> = (0..length)
            .map(|_| format!("w{}", random.below(90)))
            .collect();
        for copy in 0..random.below(6) + 2 {
            let mut words = words.clone();
            for _ in 0..random.below(1 + copy * 2) {
                let at = random.below(words.len());
                words[at] = format!("x{}", random.below(50));
            }
            if copy % 3 == 2 {
                let from = random.below(words.len() / 2 + 1);
                words.drain(..from);
            }
            documents.push((format!("d{}", documents.len()), words));
        }
    }
    documents
}

fn shingles(words: &[String], w: usize) -> BTreeSet<&[String]> {
    if words.len() < w {
        return BTreeSet::from([words]);
    }
    words.windows(w).collect()
}

/// The score as a fraction, and whether there is one.
fn fraction(score: &str, shared: u64, sets: (u64, u64), words: (u64, u64)) -> (f64, f64) {
    let (a, b) = (sets.0 as f64, sets.1 as f64);
    let (u, v) = (words.0 as f64, words.1 as f64);
    let s = shared as f64;
    match score {
        "resemblance" => (s, a + b - s),
        "containment" => (s, a.min(b)),
        "overlap" => (s, a.min(b)),
        "cosine" => (s, (a * b).sqrt()),
        "dice" => (2.0 * s, a + b),
        "s2" => (s, u.min(v)),
        "s3" => (s, (u + v) / 2.0),
        _ => (s, 1.0),
    }
}

#[test]
fn all_pairs_by_every_score() {
    let mut listed: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for seed in 0..6 / one_in(2) as u64 {
        let documents = corpus(&mut Random(seed));
        let directory = common::temporary();
        let (input, out) = (
            directory.path().join("in.jsonl"),
            directory.path().join("out"),
        );
        let mut lines = String::new();
        for (id, words) in &documents {
            writeln!(
                lines,
                "{{\"id\":\"{id}\",\"text\":\"{}\"}}",
                words.join(" ")
            )
            .unwrap();
        }
        fs::write(&input, lines).unwrap();
        // Exact duplicates are represented by the first.
        let first = |words: &Vec<String>| documents.iter().position(|(_, w)| w == words);
        for (score, thresholds) in [
            ("resemblance", ["0.3", "0.85"]),
            ("containment", ["0.4", "0.9"]),
            ("overlap", ["0.55", "1"]),
            ("cosine", ["0.45", "0.9"]),
            ("dice", ["0.4", "0.9"]),
            ("s2", ["0.03", "0.3"]),
            ("s3", ["0.02", "0.3"]),
            ("s1:1", ["1", "1"]),
            ("s1:5", ["1", "0.5"]),
        ] {
            for threshold in thresholds {
                let t: f64 = threshold.parse().unwrap();
                let mut expected = Vec::new();
                for (j, (b, right)) in documents.iter().enumerate() {
                    for (i, (a, left)) in documents[..j].iter().enumerate() {
                        if first(left) != Some(i) || first(right) != Some(j) {
                            continue;
                        }
                        let (x, y) = (shingles(left, 4), shingles(right, 4));
                        let shared = x.intersection(&y).count() as u64;
                        let sets = (x.len() as u64, y.len() as u64);
                        let words = (left.len() as u64, right.len() as u64);
                        let (part, whole) = fraction(score, shared, sets, words);
                        let least = score.strip_prefix("s1:").map(|n| n.parse::<u64>().unwrap());
                        let reached = match least {
                            Some(least) => shared >= least,
                            // Squared, so that the root of a square is none.
                            None => {
                                part * part * (1.0 + 1e-12) >= t * t * whole * whole && shared > 0
                            }
                        };
                        if reached {
                            let value = match least {
                                Some(_) => shared.to_string(),
                                None => format!("{:.6}", part / whole),
                            };
                            let (n, m) = if score.starts_with("s2") || score.starts_with("s3") {
                                words
                            } else {
                                sets
                            };
                            expected.push((i, j, format!("{a}\t{b}\t{value}\t{shared}\t{n}\t{m}")));
                        }
                    }
                }
                expected.sort();
                let expected: Vec<String> = expected.into_iter().map(|(.., row)| row).collect();
                listed.entry(score).or_default().insert(expected.len());
                let mut clusters = Vec::new();
                for (join, pairs) in [("prefix", "all"), ("count", "all"), ("prefix", "none")] {
                    let mut run = Run::default()
                        .shingle_size(4)
                        .threshold(threshold)
                        .join(join)
                        .pairs(pairs);
                    run.question.join.measure = score.parse().unwrap();
                    run.run(&[&input], &out).unwrap();
                    let what = format!("seed {seed}, {score} at {threshold} by {join}");
                    if pairs == "all" {
                        assert_eq!(rows_of(&out, "pairs.tsv"), expected, "{what}");
                    }
                    clusters.push(fs::read_to_string(out.join("clusters.jsonl")).unwrap());
                }
                assert_eq!(clusters[0], clusters[1]);
                assert_eq!(
                    clusters[0], clusters[2],
                    "seed {seed}, {score} at {threshold}"
                );
            }
        }
    }
    for (score, counts) in listed {
        assert!(counts.len() * one_in(2) > 3, "{score}: {counts:?}");
    }
}

#[test]
fn scores_that_cannot_be_are_refused() {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    fs::write(&input, "{\"id\":\"a\",\"text\":\"some words\"}\n").unwrap();
    let ask = |change: &dyn Fn(&mut Run)| {
        let mut run = Run::default();
        change(&mut run);
        run.run(&[&input], &out).unwrap_err().to_string()
    };
    let sampled = ask(&|run| {
        run.question.join.measure = "s3".parse().unwrap();
        run.question.sampling = "1/2".parse().unwrap();
    });
    assert!(sampled.contains("--sampling full"), "{sampled}");
    assert!(!out.exists(), "it is refused before anything is read");
    let counted = ask(&|run| {
        run.question.join.measure = "smallest:9".parse().unwrap();
        run.question.join.join = "count".parse().unwrap();
    });
    assert!(counted.contains("--join prefix"), "{counted}");
    if out.exists() {
        fs::remove_dir_all(&out).unwrap();
    }
    let bytes = ask(&|run| {
        run.question.join.measure = "s2".parse().unwrap();
        run.collection.shingle.parse.tokens = "bytes:9".parse().unwrap();
    });
    assert!(bytes.contains("lengths in words"), "{bytes}");
}
