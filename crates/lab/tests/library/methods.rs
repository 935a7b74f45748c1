//! Every method finds the pairs that its definition, written once more in memory, gives; and it
//! keeps the invariants of the main job.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Progress, Silent, Stop, Unit};
use lookalike::methods::{self, METHODS, Spec};
use lookalike_lab::compare::{self, CompareConfig};
use lookalike_lab::report;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use common::corpus::Random;
use common::{Run, assert_same_files, one_in, results, rows_of, tree};
use xxhash_rust::xxh3::xxh3_64;

/// Texts of lines of words: copies of a few originals with edits, short ones, an empty one, and
/// exact copies.
pub(super) fn corpus(seed: u64) -> Vec<(String, String)> {
    let mut random = Random(seed);
    let mut documents = vec![("empty".to_string(), String::new())];
    for original in 0..7 {
        let lines = [1, 4, 12, 40, 90, 90, 90][original] + random.below(5);
        let mut words: Vec<Vec<String>> = (0..lines)
            .map(|_| {
                let words = 3 + random.below(9);
                (0..words)
                    .map(|_| format!("word{}", random.below(3000)))
                    .collect()
            })
            .collect();
        for copy in 0..4 + random.below(4) {
            for _ in 0..[0, 0, 1, 2, 4, 8, 16][copy % 7] {
                let line = random.below(words.len());
                let at = random.below(words[line].len());
                words[line][at] = format!("other{}", random.below(500));
            }
            let text: Vec<String> = words.iter().map(|line| line.join(" ")).collect();
            documents.push((format!("d{original}-{copy}"), text.join("\n")));
        }
    }
    documents
}

fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `i`th of a family of hash functions.
fn hash(i: u64, fingerprint: u64) -> u64 {
    mix(fingerprint ^ mix(mix(i)))
}

/// Shingles of words, in their order.
fn shingles(text: &str, size: usize) -> Vec<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let windows = words.windows(size);
    windows.map(|w| xxh3_64(w.join(" ").as_bytes())).collect()
}

fn windows(text: &str, size: usize) -> Vec<u64> {
    text.as_bytes().windows(size).map(xxh3_64).collect()
}

/// The least under each of `n` functions.
fn minima(fingerprints: &[u64], n: u64) -> Vec<u64> {
    (0..n)
        .filter_map(|i| fingerprints.iter().map(|&f| hash(i, f)).min())
        .collect()
}

fn smallest(keys: Vec<u64>, n: usize) -> BTreeSet<u64> {
    keys.into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .take(n)
        .collect()
}

/// A key is a tuple of numbers here, so that nothing can be confused.
type Keys = BTreeSet<Vec<u64>>;

fn single(keys: impl IntoIterator<Item = u64>) -> Keys {
    keys.into_iter().map(|key| vec![key]).collect()
}

/// Places of a vector with what stands there.
fn placed<'a>(groups: impl Iterator<Item = &'a [u64]>) -> Keys {
    groups
        .enumerate()
        .map(|(i, group)| [&[i as u64], group].concat())
        .collect()
}

/// A document's keys.
fn keys(method: &str, text: &str) -> Keys {
    match method {
        "shingles" => single(shingles(text, 10)),
        "shingles:preset=broder97" => {
            let sampled = shingles(text, 10).into_iter().filter(|f| f % 25 == 0);
            single(smallest(sampled.collect(), 400))
        }
        "shingles:preset=heintze" => single(smallest(shingles(text, 10), 100)),
        "shingles:preset=shivakumar2" | "shingles:preset=shivakumar4,threshold=3" => {
            let n = if method.ends_with('3') { 4 } else { 2 };
            let lines: Vec<&str> = text.split('\n').filter(|line| !line.is_empty()).collect();
            single(
                lines
                    .chunks_exact(n)
                    .map(|c| xxh3_64(c.join("\n").as_bytes())),
            )
        }
        "super-shingles" | "super-shingles:k=4,every=3" | "super-shingles:k=3,groups=adjacent" => {
            let every = if method.contains("every=3") { 3 } else { 25 };
            let sampled = shingles(text, 10).into_iter().filter(|f| f % every == 0);
            let sampled: Vec<u64> = smallest(sampled.collect(), usize::MAX)
                .into_iter()
                .collect();
            if method.ends_with("adjacent") {
                return sampled.chunks_exact(3).map(<[u64]>::to_vec).collect();
            }
            let k = if method.contains("k=4") { 4 } else { 2 };
            sampled.windows(k).map(<[u64]>::to_vec).collect()
        }
        "megashingles" => placed(minima(&shingles(text, 5), 84).chunks_exact(14)),
        "minhash" => placed(minima(&shingles(text, 5), 128).chunks_exact(8)),
        "minhash:bands=3,rows=2,one-permutation=true" => {
            let hashes = shingles(text, 5).into_iter().map(|f| hash(0, f));
            let hashes: Vec<u64> = hashes.collect();
            let bin = |h: u64| ((u128::from(h) * 6) >> 64) as usize;
            let least = |b: usize| hashes.iter().copied().filter(|&h| bin(h) == b).min();
            if hashes.is_empty() {
                return Keys::new();
            }
            // The next bin that is not empty, and how far it is.
            let filled = (0..6).map(|b| {
                (0..6)
                    .find_map(|d| Some((d as u64, least((b + d) % 6)?)))
                    .unwrap()
            });
            let filled: Vec<(u64, u64)> = filled.collect();
            filled
                .chunks(2)
                .enumerate()
                .map(|(i, rows)| vec![i as u64, rows[0].0, rows[0].1, rows[1].0, rows[1].1])
                .collect()
        }
        "mod:n=20" | "mod:n=20,measure=containment" => {
            single(windows(text, 20).into_iter().filter(|f| f % 20 == 0))
        }
        "min:n=50" => single(smallest(windows(text, 20), 50)),
        "sketch:n=40" => placed(minima(&windows(text, 20), 40).chunks(1)),
        "bsw:n=30" | "bsw:n=30,keep=chunk" => {
            let fingerprints = windows(text, 20);
            let mut found = Keys::new();
            let (mut chunk, mut start) = (Vec::new(), 0);
            for (at, &f) in fingerprints.iter().enumerate() {
                chunk.push(f);
                if f % 30 == 0 || at + 1 == fingerprints.len() {
                    if method.ends_with("chunk") {
                        let end = at + 20;
                        found.insert(vec![xxh3_64(&text.as_bytes()[start..end])]);
                        start = end;
                    } else {
                        found.insert(vec![*chunk.iter().min().unwrap()]);
                    }
                    chunk.clear();
                }
            }
            found
        }
        _ => panic!("{method}"),
    }
}

/// Is a pair of key sets found, and with which score and count?
fn found(method: &str, a: &Keys, b: &Keys) -> Option<(String, usize)> {
    let shared = a.intersection(b).count();
    let (x, y, s) = (a.len(), b.len(), shared);
    let name = method.split(':').next().unwrap();
    let ratio = |s: usize, whole: usize, t: f64| {
        let value = s as f64 / whole as f64;
        (whole > 0 && value >= t - 1e-12).then(|| (format!("{value:.6}"), s))
    };
    let at_least = |least: usize| (s >= least).then(|| (s.to_string(), s));
    match (name, method) {
        (_, "shingles") => ratio(s, x + y - s, 0.85),
        (_, "shingles:preset=broder97" | "shingles:preset=heintze") => ratio(s, x + y - s, 0.5),
        (_, "shingles:preset=shivakumar2") => at_least(25),
        (_, "shingles:preset=shivakumar4,threshold=3") => at_least(3),
        ("super-shingles" | "minhash", _) => at_least(1),
        ("megashingles", _) => at_least(2),
        (_, "mod:n=20,measure=containment") => ratio(s, x.min(y), 0.7),
        ("mod" | "bsw", _) => ratio(s, x + y - s, 0.7),
        ("sketch", _) => ratio(s, 40, 0.7),
        ("min", _) => {
            let union: BTreeSet<_> = a.union(b).take(50).collect();
            let s = union
                .iter()
                .filter(|key| a.contains(**key) && b.contains(**key))
                .count();
            ratio(s, union.len(), 0.7).filter(|_| s > 0)
        }
        _ => panic!("{method}"),
    }
}

const TRIED: [&str; 17] = [
    "shingles",
    "shingles:preset=broder97",
    "shingles:preset=heintze",
    "shingles:preset=shivakumar2",
    "shingles:preset=shivakumar4,threshold=3",
    "super-shingles",
    "super-shingles:k=4,every=3",
    "super-shingles:k=3,groups=adjacent",
    "megashingles",
    "minhash",
    "minhash:bands=3,rows=2,one-permutation=true",
    "mod:n=20",
    "mod:n=20,measure=containment",
    "min:n=50",
    "sketch:n=40",
    "bsw:n=30",
    "bsw:n=30,keep=chunk",
];

/// A run that keeps texts, in segments so small that there are many.
pub(super) fn keeping() -> Run {
    let mut run = Run::default().segment_size(4 << 10);
    run.collection.text = true;
    run
}

pub(super) fn write(documents: &[(String, String)], path: &Path) {
    let mut lines = String::new();
    for (id, text) in documents {
        let line = serde_json::json!({"id": id, "text": text});
        writeln!(lines, "{line}").unwrap();
    }
    fs::write(path, lines).unwrap();
}

/// Has the method find the pairs of the collection in `out`.
pub(super) fn ask(
    run: &Run,
    spec: &str,
    input: &Path,
    out: &Path,
) -> Result<lookalike::engine::pipeline::Summary, Error> {
    watched(run, spec, input, out, &Stop::default(), &Silent)
}

fn watched(
    run: &Run,
    spec: &str,
    input: &Path,
    out: &Path,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<lookalike::engine::pipeline::Summary, Error> {
    let base = run.ingest(&[input], out)?;
    let context = run.context(stop, progress);
    let (_, summary) = methods::run(&base, &Spec::read(spec)?, &context)?;
    Ok(summary)
}

pub(super) fn place(out: &Path, spec: &str) -> std::path::PathBuf {
    out.join("methods")
        .join(Spec::read(spec).unwrap().file_name())
}

#[test]
fn methods_find_what_their_definitions_say() {
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..3 / one_in(3) as u64 {
        let documents = corpus(seed);
        let directory = common::temporary();
        let (input, out) = (
            directory.path().join("in.jsonl"),
            directory.path().join("out"),
        );
        write(&documents, &input);
        let words: Vec<Vec<&str>> = documents
            .iter()
            .map(|(_, text)| text.split_whitespace().collect())
            .collect();
        // Is it no exact duplicate of an earlier one?
        let first: Vec<bool> = (0..words.len())
            .map(|i| !words[..i].contains(&words[i]))
            .collect();
        for method in TRIED {
            let summary = ask(&keeping(), method, &input, &out).unwrap();
            let sets: Vec<Keys> = documents
                .iter()
                .map(|(_, text)| keys(method, text))
                .collect();
            let mut expected = Vec::new();
            let mut ignored = 0;
            for (j, (b, _)) in documents.iter().enumerate() {
                if !first[j] {
                    continue;
                }
                ignored += u64::from(sets[j].is_empty());
                for (i, (a, _)) in documents[..j].iter().enumerate() {
                    if !first[i] {
                        continue;
                    }
                    if let Some((score, shared)) = found(method, &sets[i], &sets[j]) {
                        let (x, y) = (sets[i].len(), sets[j].len());
                        expected.push((i, j, format!("{a}\t{b}\t{score}\t{shared}\t{x}\t{y}")));
                    }
                }
            }
            expected.sort();
            let expected: Vec<String> = expected.into_iter().map(|(.., row)| row).collect();
            let place = place(&out, method);
            assert_eq!(
                rows_of(&place, "pairs.tsv"),
                expected,
                "seed {seed}, {method}"
            );
            assert_eq!(
                summary.ingest.short + summary.ingest.empty,
                ignored,
                "{method}"
            );
            *met.entry(method).or_default() += expected.len();
        }
    }
    for (method, pairs) in met {
        assert!(pairs * one_in(3) >= 10, "{method}: {pairs} pairs");
    }
}

/// Chowdhury et al. 2002, section 4.3: D1 has super-shingle A, D2 has A and B, D3 and D4 have B;
/// the sets are {D1, D2} and {D2, D3, D4}.
#[test]
fn the_sets_of_super_shingles_are_those_of_the_papers_example() {
    let words = |from: usize| {
        (from..from + 10)
            .map(|n| format!("w{n}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let (a, b) = (words(0), words(100));
    let apart = |n: usize| format!("x{n}");
    // Shingles of ten words, all kept, one to a super-shingle; what stands between A and B differs.
    let documents = vec![
        ("D1".to_string(), a.clone()),
        ("D2".to_string(), format!("{a} {} {b}", apart(2))),
        ("D3".to_string(), format!("{b} {}", apart(3))),
        ("D4".to_string(), format!("{} {b}", apart(4))),
    ];
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&documents, &input);
    let spec = "super-shingles:k=1,every=1";
    let summary = ask(&keeping(), spec, &input, &out).unwrap();
    let place = place(&out, spec);
    let sets = fs::read_to_string(place.join(methods::SETS_FILE)).unwrap();
    let sets: BTreeSet<Vec<String>> = sets
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            serde_json::from_value(line["members"].clone()).unwrap()
        })
        .collect();
    let named = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        sets,
        BTreeSet::from([named(&["D1", "D2"]), named(&["D2", "D3", "D4"])])
    );
    // Merged, they are one cluster.
    assert_eq!(summary.cluster.unwrap().clusters, 1);
    assert_eq!(summary.cluster.unwrap().documents, 4);
}

/// Stops at the nth piece of news of a stage.
struct StopAt<'a> {
    stop: &'a Stop,
    left: std::sync::atomic::AtomicI64,
}

impl Progress for StopAt<'_> {
    fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {
        self.at(0);
    }
    fn at(&self, _: u64) {
        if self.left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) <= 0 {
            self.stop.request();
        }
    }
    fn end(&self, _: &str) {
        self.at(0);
    }
    fn note(&self, _: &str) {}
}

#[test]
fn bytes_do_not_depend_on_means_or_interruptions() {
    let mut documents = corpus(7);
    documents.truncate(documents.len() / 2);
    let directory = common::temporary();
    let input = directory.path().join("in.jsonl");
    write(&documents, &input);
    for entry in METHODS.iter().step_by(one_in(3)) {
        // Its counters take what they are given.
        let spec = match entry.name {
            "deco" => "deco:memory=1MiB",
            name => name,
        };
        let reference = directory.path().join("reference");
        ask(&keeping(), spec, &input, &reference).unwrap();
        let expected = results(&place(&reference, spec));
        for threads in [3, 1].into_iter().step_by(one_in(2)) {
            let out = directory.path().join("other");
            let run = keeping().threads(threads).memory(96 << 20);
            ask(&run, spec, &input, &out).unwrap();
            let what = format!("{spec} with {threads} threads");
            assert_same_files(&results(&place(&out, spec)), &expected, &what);
            fs::remove_dir_all(&out).unwrap();
        }
        // Stopped again and again, each time a little later.
        let out = directory.path().join("stopped");
        let mut stops = 0;
        for patience in 1.. {
            let stop = Stop::default();
            let watch = StopAt {
                stop: &stop,
                left: patience.into(),
            };
            match watched(&keeping(), spec, &input, &out, &stop, &watch) {
                Ok(_) => break,
                Err(Error::Interrupted { .. }) => stops += 1,
                Err(error) => panic!("{spec}: {error}"),
            }
        }
        assert!(stops >= 3, "{spec}: {stops}");
        assert_same_files(
            &results(&place(&out, spec)),
            &expected,
            &format!("{spec}, stopped"),
        );
        // Asked again, nothing is made again.
        let before = tree(&place(&out, spec));
        ask(&keeping(), spec, &input, &out).unwrap();
        let after = tree(&place(&out, spec));
        assert_eq!(
            before.keys().collect::<Vec<_>>(),
            after.keys().collect::<Vec<_>>()
        );
        fs::remove_dir_all(&out).unwrap();
        fs::remove_dir_all(&reference).unwrap();
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&corpus(1), &input);
    let error = ask(&Run::default(), "mod", &input, &out)
        .unwrap_err()
        .to_string();
    assert!(error.contains("--keep-text"), "{error}");
    fs::remove_dir_all(&out).unwrap();
    let error = ask(&keeping(), "md5", &input, &out)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("super-shingles"),
        "it says which there are: {error}"
    );
    let (least, _) =
        common::least_memory(|memory| ask(&keeping().memory(memory), "mod", &input, &out));
    assert!(least > 1 << 20);
}

#[test]
fn a_comparison_adds_up() {
    let mut documents = corpus(3);
    documents.push(("empty too".into(), String::new()));
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&documents, &input);
    let run = keeping();
    let specs: Vec<Spec> = ["shingles", "megashingles", "mod:n=20", "super-shingles"]
        .iter()
        .map(|text| Spec::read(text).unwrap())
        .collect();
    for spec in &specs {
        ask(&run, &spec.to_string(), &input, &out).unwrap();
    }
    // Copies of `d4-0` are of its family, but for the last one, which is similar to them.
    let edits = directory.path().join("edits.jsonl");
    let mut lines = String::new();
    let mut family: Vec<&String> = documents
        .iter()
        .map(|d| &d.0)
        .filter(|id| id.starts_with("d4-"))
        .collect();
    family.pop();
    let mut strangers = 0;
    for (n, copy) in family.iter().enumerate().skip(1) {
        let edits: Vec<usize> = (0..n).collect();
        let line = serde_json::json!({"copy": copy, "original": family[0], "edits": edits});
        writeln!(lines, "{line}").unwrap();
    }
    writeln!(
        lines,
        "{{\"copy\":\"nobody\",\"original\":\"{}\",\"edits\":[]}}",
        family[0]
    )
    .unwrap();
    fs::write(&edits, lines).unwrap();
    let mut base = run.ingest(&[&input], &out).unwrap();
    let (stop, silent) = (Stop::default(), Silent);
    let config = CompareConfig {
        methods: specs.clone(),
        truths: vec![specs[0].clone()],
        edits: Some(edits),
        cost: 100,
        ..CompareConfig::default()
    };
    let comparison =
        report::write_comparison(&mut base, &config, &run.context(&stop, &silent)).unwrap();
    let pairs: Vec<BTreeSet<String>> = specs
        .iter()
        .map(|spec| {
            let rows = rows_of(&place(&out, &spec.to_string()), "pairs.tsv");
            let pair = |row: &String| row.split('\t').take(2).collect::<Vec<_>>().join("\t");
            rows.iter().map(pair).collect()
        })
        .collect();
    // Of two empty documents one takes part, and is ignored.
    for (row, spec) in comparison.methods.iter().zip(&specs) {
        let texts: BTreeSet<&str> = documents.iter().map(|(_, text)| text.as_str()).collect();
        let without = |text: &&&str| keys(&spec.to_string(), text).is_empty();
        let expected = texts.iter().filter(without).count();
        assert_eq!(row.ignored as usize, expected, "{spec}");
    }
    let any: BTreeSet<&String> = pairs.iter().flatten().collect();
    let agreement = &comparison.agreement;
    assert_eq!(agreement.any as usize, any.len());
    assert_eq!(agreement.by_methods.iter().sum::<u64>(), agreement.any);
    for k in 1..=specs.len() {
        let by = |pair: &&&String| pairs.iter().filter(|p| p.contains(**pair)).count() == k;
        assert_eq!(
            agreement.by_methods[k - 1] as usize,
            any.iter().filter(by).count()
        );
    }
    for (a, left) in pairs.iter().enumerate() {
        for (b, right) in pairs.iter().enumerate() {
            assert_eq!(
                agreement.both[a][b] as usize,
                left.intersection(right).count()
            );
        }
        let others = |pair: &&String| pairs.iter().filter(|p| p.contains(*pair)).count() == 1;
        assert_eq!(
            agreement.alone[a] as usize,
            left.iter().filter(others).count()
        );
        let against = &comparison.methods[a].against[0];
        let found = left.intersection(&pairs[0]).count();
        assert_eq!(
            (against.found as usize, against.true_pairs as usize),
            (found, pairs[0].len())
        );
        let wrong = left.len() - found;
        assert_eq!(against.utility, found as i128 - 100 * wrong as i128);
        assert_eq!(against.recall, Some(found as f64 / pairs[0].len() as f64));
    }
    // The family, counted from the clusters that were written.
    let families = comparison.families.as_ref().unwrap();
    assert_eq!((families.originals, families.unknown), (1, 1));
    assert_eq!(families.copies as usize, family.len() - 1);
    for (n, spec) in specs.iter().enumerate() {
        let clusters =
            fs::read_to_string(place(&out, &spec.to_string()).join("clusters.jsonl")).unwrap();
        let mut of: BTreeMap<String, u64> = BTreeMap::new();
        let mut distinct: Vec<(u64, String)> = Vec::new();
        for line in clusters.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            for member in line["members"].as_array().unwrap() {
                let (docno, id) = (
                    member["docno"].as_str().unwrap(),
                    line["id"].as_u64().unwrap(),
                );
                of.insert(docno.into(), id);
                if member["kind"] != "exact" {
                    distinct.push((id, docno.into()));
                }
            }
        }
        let mut groups: BTreeMap<String, u64> = BTreeMap::new();
        for id in &family {
            let group = of.get(*id).map_or(format!("alone {id}"), u64::to_string);
            *groups.entry(group).or_default() += 1;
        }
        let row = &families.rows[0];
        assert_eq!(row.clusters[n] as usize, groups.len(), "{spec}");
        assert_eq!(
            row.found[n],
            groups.values().filter(|n| **n > 1).sum::<u64>(),
            "{spec}"
        );
        let ids: BTreeSet<&u64> = family.iter().filter_map(|id| of.get(*id)).collect();
        let wrong = distinct
            .iter()
            .filter(|(id, docno)| ids.contains(id) && !family.contains(&docno));
        assert_eq!(row.false_positives[n] as usize, wrong.count(), "{spec}");
        strangers += row.false_positives[n];
    }
    assert!(strangers > 0, "the test has a false positive");
    // The copy without an edit in it is as similar as can be; more edits, less similar.
    let curve = &families.curves[0];
    assert!(
        curve
            .points
            .windows(2)
            .all(|two| two[0].2 >= two[1].2 - 0.2),
        "{curve:?}"
    );
    for (name, text) in report::compared_files(&comparison) {
        let written = fs::read_to_string(out.join("compare").join(name)).unwrap();
        assert_eq!(written, text);
        let columns = text.lines().next().unwrap().split(',').count();
        assert!(columns >= 3, "{name}");
    }
    let table = report::compared(&comparison, 100);
    assert!(table.contains("megashingles"));
    // The verdict, from the pairs that were written.
    let f1_of = |pairs: &BTreeSet<String>, truth: &BTreeSet<String>| {
        let both = pairs.intersection(truth).count() as f64;
        2.0 * both / (pairs.len() + truth.len()) as f64
    };
    let f1: Vec<f64> = pairs.iter().map(|found| f1_of(found, &pairs[0])).collect();
    let [verdict] = &compare::verdicts(&comparison)[..] else {
        panic!("one ground truth");
    };
    let (best, cheapest) = (verdict.best.unwrap(), verdict.cheapest.unwrap());
    let most = f1[1..].iter().copied().fold(0.0, f64::max);
    assert!(most > 0.0 && (best.f1 - most).abs() < 1e-12 && (f1[best.method] - most).abs() < 1e-12);
    let close = (1..specs.len()).filter(|&n| most - f1[n] <= compare::CLOSE + 1e-12);
    let close: Vec<usize> = close.collect();
    assert_eq!(verdict.close, close.len());
    let seconds = |n: usize| comparison.methods[n].cpu_seconds;
    assert!(close.contains(&cheapest.method));
    assert!(
        close
            .iter()
            .all(|&n| seconds(n) >= seconds(cheapest.method))
    );
    let sentence = format!(
        "agrees best with shingles ({} pairs): precision {}",
        pairs[0].len(),
        lookalike::base::numbers::fraction(best.precision, 3)
    );
    let flowed = table.replace('\n', " ");
    assert!(flowed.contains(&sentence), "{sentence}: {table}");
    // The page has every method, every truth, the tables, and nothing that is loaded from
    // elsewhere.
    let path = out.join("compare").join(report::COMPARE_PAGE);
    let page = fs::read_to_string(&path).unwrap();
    for spec in &specs {
        let text = format!("<code class=\"spec\"><bdi>{spec}</bdi></code>");
        assert!(page.contains(&text), "{spec}");
    }
    assert!(page.contains(&sentence) && page.contains("<span class=\"soft\">n = 20</span>"));
    // The scores of each method by the number of edits. One original: there are no two to compare.
    let scores = page
        .split_once("aria-label=\"Mean score by the number of edits\"")
        .unwrap();
    let scores = scores.1.split_once("</table>").unwrap().0;
    assert_eq!(scores.matches("scope=\"row\"").count(), specs.len());
    let first = format!(
        "{:.3}",
        comparison.families.as_ref().unwrap().curves[0].points[0].2
    );
    assert!(scores.contains(&first), "{first}: {scores}");
    assert!(!page.contains("class=\"plot") && !page.contains("Scores of different originals"));
    for wrong in ["href=\"http", "<script", "<img", "NaN", " style="] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    for link in page.split("href=\"").skip(1) {
        let link = link.split('"').next().unwrap();
        let there = match link.strip_prefix('#') {
            Some(id) => page.contains(&format!("id=\"{id}\"")),
            None => out.join("compare").join(link).exists(),
        };
        assert!(there, "{link}");
    }
    report::write_comparison(&mut base, &config, &run.context(&stop, &silent)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), page, "the same bytes");
    csv_has_what_json_has(&comparison);
    tables_are_narrow(&comparison);
}

/// Every number of a comparison is in the CSV, as it is in the JSON.
fn csv_has_what_json_has(comparison: &compare::Comparison) {
    let mut comparison = comparison.clone();
    comparison.methods[1].method = "i-match:lexicon=a,\"b\"\nc".into();
    let text = report::compared_csv(&comparison);
    let json = serde_json::to_value(&comparison).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let truths = comparison.methods[0].against.len();
    assert_eq!(rows.len(), comparison.methods.len() * truths);
    for (line, row) in rows.iter().enumerate() {
        let (n, truth) = (line / truths, line % truths);
        let method = &json["methods"][n];
        let mut left: BTreeSet<&str> = head.iter().collect();
        let mut same = |column: &str, value: &serde_json::Value| {
            assert!(left.remove(column), "{column}");
            let cell = row.get(head.iter().position(|name| name == column).unwrap());
            let cell = cell.unwrap();
            match value {
                serde_json::Value::Null => assert_eq!(cell, "", "{column}"),
                serde_json::Value::String(text) => assert_eq!(cell, text, "{column}"),
                value => {
                    let (shown, value) = (cell.parse::<f64>().unwrap(), value.as_f64().unwrap());
                    assert!((shown - value).abs() <= 0.000_5, "{column}: {cell} {value}");
                    let decimals = cell.split_once('.').map_or(0, |(_, part)| part.len());
                    assert!(matches!(decimals, 0 | 3 | 6), "{column}: {cell}");
                }
            }
        };
        for column in [
            "method",
            "ignored",
            "keys",
            "pairs",
            "clusters",
            "exact_only",
            "largest",
            "sets",
            "wall_seconds",
            "cpu_seconds",
            "peak_bytes",
            "disk_bytes",
        ] {
            same(column, &method[column]);
        }
        same("documents_in_clusters", &method["documents"]);
        same("found_alone", &json["agreement"]["alone"][n]);
        for column in [
            "truth",
            "true_pairs",
            "found",
            "precision",
            "recall",
            "utility",
        ] {
            same(column, &method["against"][truth][column]);
        }
        let rows = json["families"]["rows"].as_array().unwrap();
        let sum = |of: &dyn Fn(&serde_json::Value) -> u64| rows.iter().map(of).sum::<u64>().into();
        same(
            "family_documents",
            &sum(&|row| row["documents"].as_u64().unwrap()),
        );
        same(
            "family_found",
            &sum(&|row| row["found"][n].as_u64().unwrap()),
        );
        same(
            "family_clusters",
            &sum(&|row| row["clusters"][n].as_u64().unwrap()),
        );
        same(
            "family_false_positives",
            &sum(&|row| row["false_positives"][n].as_u64().unwrap()),
        );
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Tables for the terminal have at most 100 columns, whatever a method is called.
fn tables_are_narrow(comparison: &compare::Comparison) {
    let mut comparison = comparison.clone();
    let long = format!("i-match:lexicon=/{}", "long/".repeat(60));
    for (n, row) in comparison.methods.iter_mut().enumerate() {
        row.method = format!("{long}{n}\u{1b}[31m\u{202e}");
        (row.pairs, row.peak_bytes) = (u64::MAX, u64::MAX);
        let against = row.against[0].clone();
        row.against = vec![against; 5];
        for against in &mut row.against {
            against.truth = long.clone();
        }
    }
    let table = report::compared(&comparison, 100);
    for line in table.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(!table.contains(['\u{1b}', '\u{202e}']));
    let whole: String = table.lines().collect();
    assert!(whole.contains(&long), "the whole name is below the table");
}
