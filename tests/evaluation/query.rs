//! A look-up gives what a run over collection and queries together gives.

use crate::common;
use lookalike::Error;
use lookalike::base::measure::Criterion;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::index::IndexEntry;
use lookalike::engine::pipeline;
use lookalike::methods::{self, Spec};
use lookalike::store::workspace::Workspace;
use lookalike::tasks::query::{self, Answer, QueryConfig, QueryStats, Reply, Why};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use common::corpus::Random;
use common::{Run, one_in, rows_of};

fn corpus(seed: u64) -> Vec<(String, String)> {
    let mut random = Random(seed);
    let mut documents = vec![("empty".to_string(), String::new())];
    for original in 0..8 {
        let length = 5 + 25 * original;
        let words: Vec<String> = (0..length)
            .map(|_| format!("w{}", random.below(900)))
            .collect();
        for copy in 0..5 {
            let mut words = words.clone();
            for _ in 0..[0, 0, 1, 2, 6][copy] {
                let at = random.below(words.len());
                words[at] = format!("x{}", random.below(300));
            }
            if copy == 4 {
                words.truncate(length / 2 + 1);
            }
            documents.push((format!("d{original}-{copy}"), words.join(" ")));
        }
    }
    documents
}

fn write(documents: &[(String, String)], path: &Path) {
    let mut lines = String::new();
    for (id, text) in documents {
        writeln!(lines, "{}", serde_json::json!({"id": id, "text": text})).unwrap();
    }
    fs::write(path, lines).unwrap();
}

fn run() -> Run {
    let mut run = Run::default().segment_size(2 << 10).shingle_size(3);
    run.collection.text = true;
    run
}

fn config(threshold: &str) -> QueryConfig {
    QueryConfig {
        criterion: Criterion {
            measure: Default::default(),
            threshold: threshold.parse().unwrap(),
        },
        containing: None,
        top: None,
    }
}

/// The answer, unless it is a warning about a query.
fn answered(reply: Reply) -> Option<Answer> {
    match reply {
        Reply::Answer(answer) => Some(answer),
        Reply::Warning(_) => None,
        Reply::Rejected(rejected) => panic!("{rejected:?}"),
    }
}

fn ask(
    run: &Run,
    out: &Path,
    collection: &Path,
    queries: &Path,
    spec: Option<&Spec>,
    config: &QueryConfig,
) -> Result<(Vec<Answer>, QueryStats), Error> {
    let mut base = run.ingest(&[collection], out)?;
    let inputs = pipeline::inputs(&[queries.to_path_buf()], out)?;
    let (stop, silent) = (Stop::default(), Silent);
    let context = run.context(&stop, &silent);
    let without_index = |workspace: &mut Workspace| {
        workspace.manifest.remove::<IndexEntry>();
        workspace.commit(&[])
    };
    match spec {
        Some(spec) => without_index(&mut methods::keys(&base, spec, &context)?)?,
        None => without_index(&mut base)?,
    }
    let mut answers = Vec::new();
    let read = &run.collection.read;
    let stats = query::run(&base, spec, &inputs, read, config, &context, |reply| {
        answers.extend(answered(reply));
        Ok(())
    })?;
    // The index gives the same answers.
    match spec {
        Some(spec) => pipeline::index(&mut methods::keys(&base, spec, &context)?, None, &context)?,
        None => pipeline::index(&mut base, None, &context)?,
    };
    let mut again = Vec::new();
    let by_index = query::run(&base, spec, &inputs, read, config, &context, |reply| {
        again.extend(answered(reply));
        Ok(())
    })?;
    assert_eq!(again, answers);
    assert_eq!((by_index.batches, by_index.matched), (0, stats.matched));
    Ok((answers, stats))
}

/// (query, docno) with the score as it is printed.
fn listed(answers: &[Answer]) -> BTreeMap<(String, String), String> {
    let all = answers.iter().flat_map(|answer| {
        let query = &answer.query;
        answer.matches.iter().map(move |found| {
            let key = (query.clone(), found.docno.clone());
            (
                key,
                if matches!(found.why, Why::Identical | Why::SameWords) {
                    "exact".into()
                } else {
                    format!("{:.6}", found.score)
                },
            )
        })
    });
    all.collect()
}

/// Both ways round, what a run says of the documents of a collection: its pairs, with the copies of
/// what they represent asking too, and the exact duplicates.
fn expected(
    place: &Path,
    documents: &[(String, String)],
    whole: bool,
) -> BTreeMap<(String, String), String> {
    let mut representative: BTreeMap<String, String> = BTreeMap::new();
    for row in rows_of(place, "exact-duplicates.tsv") {
        let cells: Vec<&str> = row.split('\t').collect();
        representative.insert(cells[0].into(), cells[1].into());
    }
    let of = |id: &String| representative.get(id).cloned().unwrap_or(id.clone());
    let mut found = BTreeMap::new();
    let rows = rows_of(place, "pairs.tsv");
    for (id, text) in documents {
        // A document without words equals no other.
        if text.chars().any(char::is_alphanumeric) {
            found.insert((id.clone(), of(id)), "exact".to_string());
        }
        for row in &rows {
            let cells: Vec<&str> = row.split('\t').collect();
            let score = if whole {
                cells[2].parse::<f64>().map(|n| format!("{n:.6}")).unwrap()
            } else {
                cells[2].to_string()
            };
            for (a, b) in [(cells[0], cells[1]), (cells[1], cells[0])] {
                if of(id) == a {
                    found.insert((id.clone(), b.to_string()), score.clone());
                }
            }
        }
    }
    found
}

#[test]
fn every_document_finds_what_a_run_pairs_it_with() {
    let documents = corpus(1);
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&documents, &input);
    for (fingerprint, threshold, measure) in [
        ("64", "0.5", "resemblance"),
        ("md5", "0.3", "resemblance"),
        ("64", "0.4", "containment"),
        ("64", "0.2", "s3"),
        ("64", "0.6", "cosine"),
        ("64", "0.6", "dice"),
    ] {
        let mut run = run().fingerprint(fingerprint).threshold(threshold);
        run.question.join.measure = measure.parse().unwrap();
        run.run(&[&input], &out).unwrap();
        let mut config = config(threshold);
        config.criterion.measure = measure.parse().unwrap();
        let (answers, stats) = ask(&run, &out, &input, &input, None, &config).unwrap();
        let expected = expected(&out, &documents, false);
        let what = format!("{fingerprint} {threshold} {measure}");
        assert_eq!(listed(&answers), expected, "{what}");
        assert!(expected.len() > documents.len() + 20, "{what}");
        assert_eq!(stats.queries as usize, documents.len());
        assert_eq!(stats.batches, 1);
        let order: Vec<&String> = answers.iter().map(|answer| &answer.query).collect();
        assert_eq!(
            order,
            documents.iter().map(|(id, _)| id).collect::<Vec<_>>()
        );
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn every_document_finds_what_a_method_pairs_it_with() {
    let documents = corpus(2);
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&documents, &input);
    for entry in methods::METHODS.iter().skip(1).step_by(one_in(3)) {
        let spec = Spec::read(entry.name).unwrap();
        let base = run().ingest(&[&input], &out).unwrap();
        let (stop, silent) = (Stop::default(), Silent);
        let (made, _) = methods::run(&base, &spec, &run().context(&stop, &silent)).unwrap();
        let expected = expected(made.directory(), &documents, true);
        drop((base, made));
        let asked = ask(&run(), &out, &input, &input, Some(&spec), &config("0.85"));
        assert_eq!(listed(&asked.unwrap().0), expected, "{spec}");
    }
}

#[test]
fn batches_threads_and_limits() {
    let (documents, others) = (corpus(3), corpus(3));
    let directory = common::temporary();
    let path = |name: &str| directory.path().join(name);
    let (input, out) = (path("in.jsonl"), path("out"));
    write(&documents, &input);
    // Parts of documents, which resemble little and are contained in much.
    let parts: Vec<(String, String)> = others
        .iter()
        .map(|(id, text)| {
            let words: Vec<&str> = text.split(' ').collect();
            (format!("part of {id}"), words[..words.len() / 3].join(" "))
        })
        .chain((0..3000).map(|n| {
            (
                format!("other {n}"),
                format!("{n} is alone with {n} {}", n * 7),
            )
        }))
        .collect();
    write(&parts, &path("queries.jsonl"));
    let mut containing = config("0.85");
    containing.containing = Some("0.95".parse().unwrap());
    let queries = path("queries.jsonl");
    let (answers, stats) = ask(&run(), &out, &input, &queries, None, &containing).unwrap();
    let shingles = |text: &str| -> BTreeSet<Vec<String>> {
        let words: Vec<String> = text.split_whitespace().map(String::from).collect();
        if words.len() < 3 && !words.is_empty() {
            return BTreeSet::from([words]);
        }
        words.windows(3).map(<[String]>::to_vec).collect()
    };
    // Those that are not exact duplicates of earlier ones.
    let first = |&(n, (_, text)): &(usize, &(String, String))| {
        documents.iter().position(|(_, other)| other == text) == Some(n)
    };
    let sets: Vec<(&str, BTreeSet<Vec<String>>)> = documents
        .iter()
        .enumerate()
        .filter(first)
        .map(|(_, (docno, text))| (docno.as_str(), shingles(text)))
        .collect();
    let mut found = 0;
    for ((id, text), answer) in parts.iter().zip(&answers) {
        assert_eq!(*id, answer.query);
        let query = shingles(text);
        let mut expected = BTreeSet::new();
        for (docno, set) in &sets {
            let shared = query.intersection(set).count();
            let union = query.len() + set.len() - shared;
            let reached = shared * 20 >= union * 17 || shared * 20 >= query.len() * 19;
            if shared > 0 && reached {
                expected.insert(docno.to_string());
            }
        }
        found += expected.len();
        let listed: BTreeSet<String> = answer.matches.iter().map(|m| m.docno.clone()).collect();
        assert_eq!(listed, expected, "{id}");
        assert_eq!(answer.found as usize, expected.len());
    }
    assert!(found > 30, "{found}");
    assert_eq!(stats.queries, stats.records);
    for (threads, memory) in [(1, 256 << 20), (4, 256 << 20), (2, 60 << 20)] {
        let run = run().threads(threads).memory(memory);
        let (least, (again, batches)) = common::least_memory(|more| {
            ask(
                &run.clone().memory(memory.max(more)),
                &out,
                &input,
                &queries,
                None,
                &containing,
            )
            .map(|(answers, stats)| (answers, stats.batches))
            .map_err(|error| match error {
                // Told of what was given, not of what was tried.
                Error::BudgetTooSmall {
                    least,
                    what,
                    instead,
                    ..
                } => Error::BudgetTooSmall {
                    given: lookalike::base::budget::ByteSize(more),
                    least,
                    what,
                    instead,
                },
                other => other,
            })
        });
        assert_eq!(again, answers, "{threads} threads, {least}");
        assert!(batches >= 1);
    }
    // No more than are asked for, and the best of them.
    let top = QueryConfig {
        top: Some(1),
        ..containing.clone()
    };
    let (best, _) = ask(&run(), &out, &input, &queries, None, &top).unwrap();
    for (best, all) in best.iter().zip(&answers) {
        assert_eq!(best.found, all.found);
        assert_eq!(best.matches[..], all.matches[..all.matches.len().min(1)]);
    }
}

/// A query whose keys did not fit took the memory all the same: 815 MiB of 256.
#[test]
fn a_query_too_large_is_refused_with_the_least_that_would_do() {
    let mut random = Random(11);
    let text: Vec<String> = (0..120_000)
        .map(|_| format!("{:x}", random.below(4096)))
        .collect();
    let documents = [
        ("large".to_string(), text.join(" ")),
        ("small".to_string(), "a few words of a text".to_string()),
    ];
    let directory = common::temporary();
    let path = |name: &str| directory.path().join(name);
    let (input, out, queries) = (path("in.jsonl"), path("out"), path("queries.jsonl"));
    write(&documents, &input);
    // One word of a hundred thousand is another.
    write(
        &documents
            .clone()
            .map(|(id, text)| (id, text.replacen(' ', " x ", 1))),
        &queries,
    );
    let run = run().max_document(1 << 20);
    let min: Spec = "min".parse().unwrap();
    for spec in [None, Some(&min)] {
        let ask = |run: &Run| ask(run, &out, &input, &queries, spec, &config("0.5"));
        let (expected, _) = ask(&run).unwrap();
        assert_eq!(expected.len(), 2);
        assert_eq!(expected[0].matches.len(), 1, "{spec:?}");
        let mut refusals = Vec::new();
        let (least, (found, _)) = common::least_memory(|memory| {
            let found = ask(&run.clone().memory(memory));
            if let Err(error) = &found {
                refusals.push(error.to_string());
            }
            found
        });
        let last = refusals.last().unwrap();
        assert!(last.contains("looking large up"), "{refusals:?}");
        assert!(least > 40 << 20, "{least}");
        assert_eq!(listed(&found), listed(&expected), "{spec:?}");
    }
}

/// Asks with nothing at all, then with what each refusal says would do. What they were about, and
/// the answer.
fn with_what_is_told<T>(mut attempt: impl FnMut(u64) -> Result<T, Error>) -> (Vec<String>, T) {
    let (mut memory, mut refusals) = (0, Vec::new());
    loop {
        match attempt(memory) {
            Ok(answer) => return (refusals, answer),
            Err(Error::BudgetTooSmall { least, what, .. }) => {
                assert!(least.0 > memory, "{least}: {what}");
                refusals.push(what);
                memory = least.0;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// What was found was not counted: 1549 MiB of 1024, where each of many queries found many
/// documents.
#[test]
fn what_is_found_stays_within_the_memory() {
    let text = "one text that all of the documents have but for a word at the end of each of them";
    let named = |kind: &str, n: usize| (format!("{kind} {n}"), format!("{text} {kind}{n}"));
    let documents: Vec<_> = (0..300).map(|n| named("document", n)).collect();
    let queries: Vec<_> = (0..200).map(|n| named("query", n)).collect();
    let directory = common::temporary();
    let path = |name: &str| directory.path().join(name);
    write(&documents, &path("in.jsonl"));
    write(&queries, &path("queries.jsonl"));
    let (input, asked, out) = (path("in.jsonl"), path("queries.jsonl"), path("out"));
    let means = [(Some(250), 2), (None, 1), (Some(3), 3), (None, 3)];
    for (top, threads) in means.into_iter().step_by(one_in(2)) {
        let config = QueryConfig {
            top,
            ..config("0.5")
        };
        let run = run().threads(threads);
        let (expected, plenty) = ask(&run, &out, &input, &asked, None, &config).unwrap();
        assert_eq!(plenty.batches, 1);
        for (query, answer) in expected.iter().enumerate() {
            assert_eq!(answer.query, format!("query {query}"));
            assert_eq!(answer.found, 300);
            assert_eq!(answer.matches.len(), top.unwrap_or(300));
        }
        let (_, (found, stats)) = with_what_is_told(|memory| {
            ask(
                &run.clone().memory(memory),
                &out,
                &input,
                &asked,
                None,
                &config,
            )
        });
        // Sixty thousand matches are 12 MB: the queries are looked up again in halves.
        let many = top.is_none_or(|top| top > 100);
        assert_eq!(stats.batches > 1, many, "{top:?}: {}", stats.batches);
        assert!(found == expected, "{top:?} with {threads} threads");
        assert_eq!((stats.queries, stats.matched), (200, 200));
    }
    // One query alone that finds more than there is room for.
    let many: Vec<_> = (0..60_000).map(|n| named("document", n)).collect();
    write(&many, &path("many.jsonl"));
    write(&queries[..1], &asked);
    let (input, out) = (path("many.jsonl"), path("out of many"));
    let run = run().threads(2).segment_size(256 << 10);
    let ask = |run: &Run| ask(run, &out, &input, &asked, None, &config("0.5"));
    let (expected, _) = ask(&run).unwrap();
    assert_eq!(expected[0].matches.len(), 60_000);
    let (refusals, (found, _)) = with_what_is_told(|memory| ask(&run.clone().memory(memory)));
    let last = "listing the matches of query 0 (a smaller --top needs less)";
    assert_eq!(refusals.last().map(String::as_str), Some(last));
    assert!(refusals.len() <= 5, "{refusals:?}");
    assert!(found == expected);
}
