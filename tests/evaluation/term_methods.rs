//! The methods that work with terms give what a plain version gives that is written from the
//! papers: no hashes, no fingerprints, sets of words in memory and logarithms.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline;
use lookalike::methods::{self, Spec};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use common::corpus::{Doc, Random, Shape, random_corpus, write_jsonl};
use common::stopped::StopAt;
use common::{Run, assert_same_files, least_memory, one_in, results, rows_of, sample_corpora};
use xxhash_rust::xxh3::xxh3_64;

/// A collection that keeps its texts.
struct Collection {
    _directory: tempfile::TempDir,
    out: PathBuf,
    docs: Vec<Doc>,
    run: Run,
}

impl Collection {
    fn new(docs: Vec<Doc>, run: Run) -> Collection {
        let directory = common::temporary();
        let input = write_jsonl(directory.path(), &docs, 2);
        let out = directory.path().join("out");
        let run = run.keep_text();
        run.ingest(&[&input], &out).unwrap();
        Collection {
            _directory: directory,
            out,
            docs,
            run,
        }
    }

    fn try_method(&self, spec: &str, run: &Run) -> Result<PathBuf, Error> {
        let base = pipeline::open(&self.out)?;
        let stop = Stop::default();
        let (made, _) = methods::run(&base, &Spec::read(spec)?, &run.context(&stop, &Silent))?;
        Ok(made.directory().to_path_buf())
    }

    fn method(&self, spec: &str) -> PathBuf {
        self.try_method(spec, &self.run)
            .unwrap_or_else(|error| panic!("{spec}: {error}"))
    }

    /// The documents that take part: the first of those that are equal.
    fn representatives(&self, made: &Path) -> Vec<&Doc> {
        let rows = rows_of(made, "exact-duplicates.tsv");
        let equal: BTreeSet<&str> = rows
            .iter()
            .map(|row| row.split('\t').next().unwrap())
            .collect();
        let docs = self.docs.iter();
        docs.filter(|doc| !equal.contains(doc.docno.as_str()))
            .collect()
    }

    /// Are pairs and number of keys those of the plain version? Returns how many pairs there are.
    fn same(&self, spec: &str, plain: impl Fn(&[&Doc]) -> Plain) -> usize {
        let made = self.method(spec);
        let documents = self.representatives(&made);
        let mut plain = plain(&documents);
        // A document without words has no keys, so it equals no other.
        for (keys, doc) in plain.keys.iter_mut().zip(&documents) {
            if !doc.text.chars().any(char::is_alphanumeric) {
                keys.clear();
            }
        }
        let pairs: BTreeSet<(String, String)> = rows_of(&made, "pairs.tsv")
            .iter()
            .map(|row| {
                let mut cells = row.split('\t');
                ordered(cells.next().unwrap(), cells.next().unwrap())
            })
            .collect();
        assert_eq!(pairs, plain.pairs(&documents), "{spec}");
        let segments = common::manifest(&made).segments;
        let keys: u64 = segments.iter().map(|segment| segment.stats.stored).sum();
        let expected: usize = plain.keys.iter().map(BTreeSet::len).sum();
        assert_eq!(keys, expected as u64, "{spec}: keys");
        pairs.len()
    }
}

fn ordered(a: &str, b: &str) -> (String, String) {
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    (a.into(), b.into())
}

/// The keys of each document, and what two must have.
struct Plain {
    keys: Vec<BTreeSet<String>>,
    alike: fn(usize, usize, usize) -> bool,
}

impl Plain {
    fn pairs(&self, documents: &[&Doc]) -> BTreeSet<(String, String)> {
        let mut pairs = BTreeSet::new();
        for (i, a) in self.keys.iter().enumerate() {
            for (j, b) in self.keys[..i].iter().enumerate() {
                if (self.alike)(a.intersection(b).count(), a.len(), b.len()) {
                    pairs.insert(ordered(&documents[i].docno, &documents[j].docno));
                }
            }
        }
        pairs
    }
}

fn shares_one(shared: usize, _: usize, _: usize) -> bool {
    shared > 0
}

/// Words with their stems.
fn stems() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("../../crates/methods/src/stems.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap()).collect()
}

fn stop_words() -> BTreeSet<&'static str> {
    let lines = include_str!("../../crates/methods/src/stop-words.txt").lines();
    lines.filter(|line| !line.starts_with('#')).collect()
}

/// What the papers say of a term: no letter, digit or mark in it is nothing special.
fn is_special(token: &str) -> bool {
    token
        .chars()
        .any(|c| !c.is_alphanumeric() && !('\u{300}'..='\u{36f}').contains(&c))
}

/// The unique terms by `kolcz`, or by filters.
fn terms(text: &str, how: &str) -> BTreeSet<String> {
    let (stems, stop_words) = (stems(), stop_words());
    let on = |name: &str| how.split('+').any(|filter| filter == name);
    let mut terms = BTreeSet::new();
    for token in text.split_whitespace() {
        let token: String = token.chars().flat_map(char::to_lowercase).collect();
        let length = token.chars().count();
        if how == "kolcz" {
            let digits = token.chars().filter(|c| c.is_numeric()).count();
            if length >= 4 && digits <= 1 && !is_special(&token) {
                terms.insert(token);
            }
            continue;
        }
        let out = on("sw") && stop_words.contains(token.as_str())
            || on("tg5") && length < 5
            || on("tl25") && length > 25
            || on("nosc") && is_special(&token);
        if out {
            continue;
        }
        // Of other words of this test but one, the stem is the word.
        let stem = stems
            .get(token.as_str())
            .or((token == "a's").then_some(&"a'"));
        let stem = stem.filter(|_| on("stem"));
        terms.insert(stem.map_or(token.clone(), ToString::to_string));
    }
    terms
}

/// Document frequencies.
#[derive(Clone)]
struct Frequencies {
    documents: f64,
    of: BTreeMap<String, f64>,
}

impl Frequencies {
    fn new(sets: &[BTreeSet<String>]) -> Frequencies {
        let mut of: BTreeMap<String, f64> = BTreeMap::new();
        for term in sets.iter().flatten() {
            *of.entry(term.clone()).or_default() += 1.0;
        }
        Frequencies {
            documents: sets.len() as f64,
            of,
        }
    }

    /// Normalised idf; none of a term that is not known.
    fn idf(&self, term: &str) -> Option<f64> {
        let df = self.of.get(term)?;
        Some((self.documents / df).ln() / self.documents.ln())
    }
}

const SLIGHTLY: f64 = 1e-9;

/// I-Match as the papers have it.
#[derive(Clone)]
struct IMatch {
    terms: &'static str,
    variant: String,
    secondary: f64,
    reject_size: usize,
    reject_ratio: f64,
    lexicons: u64,
    /// Of 2^64.
    removed: f64,
    seed: u64,
}

impl IMatch {
    fn of(terms: &'static str, variant: &str) -> IMatch {
        IMatch {
            terms,
            variant: variant.into(),
            secondary: 0.0,
            reject_size: 0,
            reject_ratio: 0.0,
            lexicons: 0,
            removed: (-1f64).exp(),
            seed: 0,
        }
    }

    fn plain(&self, documents: &[&Doc], lexicon: Option<&Frequencies>) -> Plain {
        let sets: Vec<_> = documents
            .iter()
            .map(|doc| terms(&doc.text, self.terms))
            .collect();
        let own = Frequencies::new(&sets);
        let lexicon = lexicon.unwrap_or(&own);
        let keys = sets.iter().map(|unique| {
            let keys = (0..=self.lexicons).filter_map(|k| self.signature(unique, lexicon, k));
            keys.collect()
        });
        Plain {
            keys: keys.collect(),
            alike: shares_one,
        }
    }

    fn signature(
        &self,
        unique: &BTreeSet<String>,
        lexicon: &Frequencies,
        k: u64,
    ) -> Option<String> {
        let known: Vec<(&String, f64)> = unique
            .iter()
            .filter(|term| k == 0 || !self.removes(term, k))
            .filter_map(|term| Some((term, lexicon.idf(term)?)))
            .collect();
        let mut ranked = known.clone();
        ranked.sort_by(|a, b| {
            (a.1 + SLIGHTLY < b.1)
                .cmp(&(b.1 + SLIGHTLY < a.1))
                .reverse()
        });
        let n = ranked.len();
        let parts: Vec<&str> = self.variant.split('-').collect();
        let number = |at: usize| parts[at].parse::<f64>().unwrap();
        let whole = |at: usize| parts[at].parse::<usize>().unwrap();
        let from = |idf: f64, bound: f64| idf > bound - SLIGHTLY;
        let to = |idf: f64, bound: f64| idf < bound + SLIGHTLY;
        let by_place = |keep: &dyn Fn(usize) -> bool| -> Vec<&String> {
            let places = ranked.iter().enumerate();
            places
                .filter(|(at, _)| keep(*at))
                .map(|(_, (term, _))| *term)
                .collect()
        };
        let by_idf = |keep: &dyn Fn(f64) -> bool| -> Vec<&String> {
            let kept = known.iter().filter(|(_, idf)| keep(*idf));
            kept.map(|(term, _)| *term).collect()
        };
        let mut chosen: Vec<&String> = match (parts[0], parts[1]) {
            ("doc", "l") => by_place(&|at| at >= n * whole(2) / 100),
            ("doc", "h") => by_place(&|at| at < n - n * whole(2) / 100),
            ("docr", side) => {
                let start = (n * whole(2)).div_ceil(100);
                let end = start + n * (whole(3) - whole(2)) / 100;
                by_place(&|at| (start..end).contains(&at) == (side == "i"))
            }
            ("idf", "l") => by_idf(&|idf| from(idf, number(2) / 100.0)),
            ("idf", "h") => by_idf(&|idf| !from(idf, number(2) / 100.0)),
            ("idfr", side) => {
                let (low, high) = (number(2) / 100.0, number(3) / 100.0);
                by_idf(&|idf| (from(idf, low) && to(idf, high)) == (side == "i"))
            }
            ("nidf", _) => by_idf(&|idf| from(idf, number(1)) && to(idf, number(2))),
            other => panic!("{other:?}"),
        };
        if self.secondary > 0.0 {
            for (term, idf) in &ranked {
                let enough = chosen.len() as f64 > self.secondary * unique.len() as f64 - SLIGHTLY;
                if !enough && !to(*idf, number(2)) {
                    chosen.push(term);
                }
            }
        }
        let ratio = chosen.len() as f64 / unique.len() as f64;
        let rejected = chosen.is_empty()
            || chosen.len() < self.reject_size
            || ratio < self.reject_ratio - SLIGHTLY;
        chosen.sort();
        let chosen: Vec<&str> = chosen.iter().map(|term| term.as_str()).collect();
        (!rejected).then(|| format!("{k} {}", chosen.join(" ")))
    }

    fn removes(&self, term: &str, k: u64) -> bool {
        let hash = mix(xxh3_64(term.as_bytes()) ^ mix(self.seed ^ mix(k)));
        (hash as f64) < self.removed * 2f64.powi(64)
    }
}

fn mix(key: u64) -> u64 {
    // The generator's next is the same function.
    Random(key).next()
}

/// Families of documents of words that have a stem, and of some that have none.
fn english(seed: u64, families: usize) -> Vec<Doc> {
    let random = &mut Random(seed);
    let stems = stems();
    let words: Vec<String> = stems.keys().map(ToString::to_string).collect();
    let capital = |word: &str| -> String {
        let mut rest = word.chars();
        rest.next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .chain(rest)
            .collect()
    };
    let mut odd: Vec<String> = [
        "x=1",
        "1998",
        "42",
        "東京大学",
        "m/z-9",
        "zz9",
        "a's",
        "--",
        "été",
    ]
    .map(String::from)
    .to_vec();
    odd.extend([
        "x".repeat(25),
        "x".repeat(26),
        "(http://example.org/0123456789)".into(),
    ]);
    let pick = |random: &mut Random| -> String {
        // Some words are in all documents, most in few.
        let at = random.below(words.len()) * random.below(words.len()) / words.len();
        let at = at * random.below(words.len()) / words.len();
        match random.below(16) {
            0 => random.pick(&odd).clone(),
            1 => capital(&words[at]),
            _ => words[at].clone(),
        }
    };
    let mut texts = vec![String::new(), "--".into(), "the".into(), "The a's".into()];
    for _ in 0..families {
        let mut text: Vec<String> = (0..1 + random.below(60)).map(|_| pick(random)).collect();
        for _ in 0..1 + random.below(5) {
            texts.push(text.join(random.pick::<&str>(&[" ", "\n", "  "])));
            for _ in 0..random.below(4) {
                let at = random.below(text.len());
                match random.below(4) {
                    0 => text[at] = pick(random),
                    1 => text.insert(at, pick(random)),
                    2 if text.len() > 1 => _ = text.remove(at),
                    // The same word in another form.
                    _ => text[at] = capital(&text[at]),
                }
            }
        }
    }
    for length in 1..12 {
        texts.push(
            (0..length)
                .map(|_| pick(random))
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    let docs = texts.into_iter().enumerate();
    docs.map(|(i, text)| Doc {
        docno: format!("E{i:04}"),
        url: None,
        text,
    })
    .collect()
}

fn collection(seed: u64) -> Collection {
    Collection::new(english(seed, 40), Run::default())
}

/// What the plain version says of a method with one signature per document: terms that take part,
/// documents, their unique terms, terms of signatures, different signatures, clusters, most
/// duplicates, and documents with the address or title of an earlier one of their cluster.
fn counted(
    docs: &[Doc],
    unique: &[BTreeSet<String>],
    signatures: &[Option<BTreeSet<String>>],
    named: [&dyn Fn(usize) -> Option<String>; 2],
) -> [u64; 9] {
    let mut clusters: BTreeMap<&BTreeSet<String>, Vec<usize>> = BTreeMap::new();
    let (mut kept, mut terms, mut hashed) = (0, 0, 0);
    for (n, signature) in signatures.iter().enumerate() {
        if let Some(signature) = signature {
            kept += 1;
            terms += unique[n].len() as u64;
            hashed += signature.len() as u64;
            clusters.entry(signature).or_default().push(n);
        }
    }
    assert_eq!(docs.len(), signatures.len());
    let used: BTreeSet<&String> = signatures.iter().flatten().flatten().collect();
    let again = |name: &dyn Fn(usize) -> Option<String>| {
        let of = clusters.values().map(|members| {
            let names: Vec<String> = members.iter().filter_map(|&n| name(n)).collect();
            names.len() - names.iter().collect::<BTreeSet<_>>().len()
        });
        of.sum::<usize>() as u64
    };
    let largest = clusters.values().map(|members| members.len() - 1).max();
    [
        used.len() as u64,
        kept,
        terms,
        hashed,
        clusters.len() as u64,
        clusters
            .values()
            .filter(|members| members.len() > 1)
            .count() as u64,
        largest.unwrap_or(0) as u64,
        again(named[0]),
        again(named[1]),
    ]
}

/// The same numbers of the library.
fn counts(of: &methods::Counts) -> [u64; 9] {
    [
        of.lexicon,
        of.kept.documents,
        of.kept.terms,
        of.hashed,
        of.unique,
        of.clusters,
        of.most_duplicates,
        of.same_address,
        of.same_title,
    ]
}

/// All variants and combinations of filters in one reading are what they are one by one. Exact
/// duplicates, addresses and titles count.
#[test]
fn variants_and_filters_at_once() {
    let mut docs = english(7, 30);
    let copies: Vec<Doc> = docs.iter().step_by(9).cloned().collect();
    docs.extend(copies.into_iter().enumerate().map(|(n, doc)| Doc {
        docno: format!("copy-{n}"),
        ..doc
    }));
    let address = |n: usize| (!n.is_multiple_of(3)).then(|| format!("http://site/{}", n % 4));
    let title = |n: usize| (!n.is_multiple_of(5)).then(|| format!("Title {}", n % 2));
    let lines = docs.iter().enumerate().map(|(n, doc)| {
        let line = serde_json::json!({
            "id": doc.docno, "text": doc.text, "url": address(n), "title": title(n),
        });
        format!("{line}\n")
    });
    let directory = common::temporary();
    let input = directory.path().join("in.jsonl");
    fs::write(&input, lines.collect::<String>()).unwrap();
    let out = directory.path().join("out");
    let run = Run::default().keep_text().segment_size(8 << 10);
    let base = run.ingest(&[&input], &out).unwrap();
    // Documents with the same words are exact duplicates.
    let words = |text: &str| {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut texts: Vec<String> = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let classes: Vec<usize> = docs
        .iter()
        .enumerate()
        .map(|(n, doc)| *first.entry(words(&doc.text)).or_insert(n))
        .collect();
    texts.extend(docs.iter().map(|doc| doc.text.clone()));
    assert!(first.len() + 3 < docs.len());
    let named: [&dyn Fn(usize) -> Option<String>; 2] = [&address, &title];
    let each = |sets: &[BTreeSet<String>],
                of: &dyn Fn(&BTreeSet<String>) -> Option<BTreeSet<String>>| {
        let none = |n: usize| !docs[n].text.chars().any(char::is_alphanumeric);
        let of = |(n, set): (usize, &BTreeSet<String>)| if none(n) { None } else { of(set) };
        sets.iter().enumerate().map(of).collect::<Vec<_>>()
    };
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let scratch = directory.path();

    let made = methods::filters(&base, scratch, &context).unwrap();
    assert_eq!(made.all.documents as usize, docs.len());
    assert_eq!(made.counts.len(), 32);
    let raw: Vec<BTreeSet<String>> = texts.iter().map(|text| terms(text, "none")).collect();
    assert_eq!(
        made.lexicon as usize,
        raw.iter().flatten().collect::<BTreeSet<_>>().len()
    );
    for of in &made.counts {
        let sets: Vec<_> = texts.iter().map(|text| terms(text, &of.name)).collect();
        let signatures = each(&sets, &|set| (!set.is_empty()).then(|| set.clone()));
        assert_eq!(
            counts(of),
            counted(&docs, &raw, &signatures, named),
            "{}",
            of.name
        );
    }
    let found: BTreeSet<u64> = made
        .counts
        .iter()
        .map(methods::Counts::duplicates)
        .collect();
    assert!(found.len() > 2, "{found:?}");

    let names = methods::variant_names();
    assert_eq!(
        names.iter().collect::<BTreeSet<_>>(),
        variants().iter().collect()
    );
    let made = methods::variants(&base, scratch, &context).unwrap();
    let sets: Vec<_> = texts.iter().map(|text| terms(text, "nosc+stem")).collect();
    let distinct: Vec<_> = (0..docs.len()).filter(|&n| classes[n] == n).collect();
    let distinct: Vec<_> = distinct.into_iter().map(|n| sets[n].clone()).collect();
    let lexicon = Frequencies::new(&distinct);
    assert_eq!(made.counts[0].name, "baseline");
    let signatures = each(&sets, &|set| (!set.is_empty()).then(|| set.clone()));
    assert_eq!(
        counts(&made.counts[0]),
        counted(&docs, &sets, &signatures, named)
    );
    assert_eq!(made.lexicon as usize, lexicon.of.len());
    for of in &made.counts[1..] {
        let plain = IMatch::of("nosc+stem", &of.name);
        let signatures = each(&sets, &|set| {
            let key = plain.signature(set, &lexicon, 0)?;
            Some(key.split(' ').skip(1).map(String::from).collect())
        });
        assert_eq!(
            counts(of),
            counted(&docs, &sets, &signatures, named),
            "{}",
            of.name
        );
    }
    let seen = |count: fn(&methods::Counts) -> u64| made.counts.iter().map(count).max().unwrap();
    assert!(seen(|of| of.same_address) > 0 && seen(|of| of.same_title) > 0);
    assert!(made.counts.iter().any(|of| of.lexicon < made.lexicon));
    // Any budget and number of threads gives the same.
    let (_, least) = least_memory(|memory| {
        let run = run.clone().memory(memory).threads(1);
        methods::variants(&base, scratch, &run.context(&stop, &Silent))
    });
    assert_eq!(least, made);
}

/// The 52 experiments of Table IX.
fn variants() -> Vec<String> {
    let mut variants = Vec::new();
    for x in (10..=90).step_by(10) {
        for kind in ["doc-l", "doc-h", "idf-l", "idf-h"] {
            variants.push(format!("{kind}-{x}"));
        }
    }
    for a in [10, 20, 30, 40] {
        for kind in ["docr-i", "docr-o", "idfr-i", "idfr-o"] {
            variants.push(format!("{kind}-{a}-{}", 100 - a));
        }
    }
    variants
}

#[test]
fn every_variant_of_table_x() {
    let collection = collection(1);
    assert_eq!(variants().len(), 52);
    let mut found = BTreeSet::new();
    for variant in variants().into_iter().step_by(one_in(3)) {
        let plain = IMatch::of("nosc+stem", &variant);
        let pairs = collection.same(&format!("i-match:variant={variant}"), |docs| {
            plain.plain(docs, None)
        });
        found.insert(pairs);
    }
    // They are not all the same.
    assert!(found.len() * one_in(3) > 10, "{found:?}");
}

#[test]
fn every_combination_of_filters() {
    let collection = collection(2);
    let names = ["sw", "tg5", "tl25", "nosc", "stem"];
    let mut found = BTreeSet::new();
    for which in 0..32 {
        let on: Vec<&str> = (0..5)
            .filter(|i| which >> i & 1 == 1)
            .map(|i| names[i])
            .collect();
        let filters = if on.is_empty() {
            "none".into()
        } else {
            on.join("+")
        };
        let pairs = collection.same(&format!("syntactic:filters={filters}"), |docs| {
            let keys = docs.iter().map(|doc| {
                let terms = terms(&doc.text, &filters);
                let key: Vec<String> = terms.into_iter().collect();
                (!key.is_empty())
                    .then(|| key.join(" "))
                    .into_iter()
                    .collect()
            });
            Plain {
                keys: keys.collect(),
                alike: shares_one,
            }
        });
        found.insert(pairs);
    }
    assert!(found.len() > 3, "{found:?}");
}

#[test]
fn randomised_lexicons_and_a_secondary_one() {
    let collection = collection(3);
    let default = IMatch::of("kolcz", "nidf-0.2-0.8");
    let mut pairs = Vec::new();
    for (spec, plain) in [
        ("lexicons=0", default.clone()),
        (
            "lexicons=1",
            IMatch {
                lexicons: 1,
                ..default.clone()
            },
        ),
        (
            "",
            IMatch {
                lexicons: 10,
                ..default.clone()
            },
        ),
        (
            "lexicons=4,p=0.33,seed=7",
            IMatch {
                lexicons: 4,
                removed: 0.33,
                seed: 7,
                ..default.clone()
            },
        ),
        (
            "lexicons=0,variant=nidf-0.2-0.4",
            IMatch {
                variant: "nidf-0.2-0.4".into(),
                ..default.clone()
            },
        ),
        (
            "lexicons=0,variant=nidf-0.2-0.4,secondary=0.5",
            IMatch {
                variant: "nidf-0.2-0.4".into(),
                secondary: 0.5,
                ..default.clone()
            },
        ),
        (
            "lexicons=3,variant=nidf-0.3-0.5,secondary=0.4,reject-size=3,reject-ratio=0.35",
            IMatch {
                variant: "nidf-0.3-0.5".into(),
                secondary: 0.4,
                reject_size: 3,
                reject_ratio: 0.35,
                lexicons: 3,
                ..default.clone()
            },
        ),
    ] {
        let spec = format!("i-match:preset=kolcz,{spec}");
        pairs.push(collection.same(&spec, |docs| plain.plain(docs, None)));
    }
    assert!(pairs[0] < pairs[1] && pairs[1] < pairs[2], "{pairs:?}");
    assert!(pairs[5] < pairs[4], "{pairs:?}");
}

#[test]
fn the_cosine_of_unique_terms() {
    let collection = collection(4);
    for (spec, how, alike) in [
        (
            "cosine",
            "kolcz",
            (|s, a, b| s > 0 && s * s * 100 >= 81 * a * b) as fn(usize, usize, usize) -> bool,
        ),
        ("cosine:threshold=0.5", "kolcz", |s, a, b| {
            s > 0 && s * s * 4 >= a * b
        }),
        ("cosine:terms=chowdhury,filters=stem", "stem", |s, a, b| {
            s > 0 && s * s * 100 >= 81 * a * b
        }),
    ] {
        let pairs = collection.same(spec, |docs| Plain {
            keys: docs.iter().map(|doc| terms(&doc.text, how)).collect(),
            // Two documents without terms have nothing in common.
            alike,
        });
        assert!(pairs > 20, "{spec}: {pairs}");
    }
}

/// Other shapes of text: every script, marks, white space of every kind.
#[test]
fn odd_words_and_real_ones() {
    let random = random_corpus(5, Shape::default());
    let bytes = fs::read(sample_corpora("jsonl/text.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    let sample: Vec<Doc> = text
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| value[name].as_str().unwrap().to_string();
            Doc {
                docno: field("id"),
                url: None,
                text: field("text"),
            }
        })
        .collect();
    for docs in [random, sample] {
        let collection = Collection::new(docs, Run::default());
        for variant in ["doc-l-90", "idf-l-10", "idfr-o-20-80", "docr-i-30-70"] {
            let plain = IMatch::of("tl25", variant);
            let spec = format!("i-match:variant={variant},filters=tl25");
            collection.same(&spec, |docs| plain.plain(docs, None));
        }
        let plain = IMatch {
            lexicons: 10,
            ..IMatch::of("kolcz", "nidf-0.2-0.8")
        };
        collection.same("i-match:preset=kolcz", |docs| plain.plain(docs, None));
    }
}

fn lexicon_of(made: &Path, terms: &str) -> PathBuf {
    let directory = made.parent().unwrap().join(format!("terms_{terms}"));
    directory.join("lexicon.tsv")
}

#[test]
fn a_lexicon_of_another_collection() {
    let (news, mail) = (collection(6), collection(7));
    let made = news.method("i-match:preset=kolcz");
    let lexicon = lexicon_of(&made, "kolcz");
    let documents = news.representatives(&made);
    let sets: Vec<_> = documents
        .iter()
        .map(|doc| terms(&doc.text, "kolcz"))
        .collect();
    let mut known = Frequencies::new(&sets);
    known.of.retain(|_, df| *df > 1.0);
    for (parameters, plain) in [
        (
            "",
            IMatch {
                lexicons: 10,
                ..IMatch::of("kolcz", "nidf-0.2-0.8")
            },
        ),
        (
            ",lexicons=2,variant=nidf-0.2-0.3,secondary=0.9,reject-ratio=0.5",
            IMatch {
                secondary: 0.9,
                reject_ratio: 0.5,
                lexicons: 2,
                ..IMatch::of("kolcz", "nidf-0.2-0.3")
            },
        ),
        (
            ",lexicons=0,variant=doc-l-50",
            IMatch::of("kolcz", "doc-l-50"),
        ),
    ] {
        let spec = format!(
            "i-match:preset=kolcz{parameters},lexicon={}",
            lexicon.display()
        );
        mail.same(&spec, |docs| plain.plain(docs, Some(&known)));
    }
    // Another content of the same file is another method.
    let spec = format!("i-match:preset=kolcz,lexicon={}", lexicon.display());
    let before = results(&mail.method(&spec));
    let other = lexicon_of(&mail.method("i-match:preset=kolcz"), "kolcz");
    fs::copy(&other, &lexicon).unwrap();
    assert_ne!(results(&mail.method(&spec)), before);
}

#[test]
fn a_lexicon_that_cannot_be_used_is_refused_by_its_line() {
    let collection = collection(8);
    let made = collection.method("i-match:preset=kolcz");
    let whole = fs::read_to_string(lexicon_of(&made, "kolcz")).unwrap();
    let file = made.join("other.tsv");
    let attempt = |text: &str, terms: &str| {
        fs::write(&file, text).unwrap();
        let spec = format!("i-match:terms={terms},lexicon={}", file.display());
        collection.try_method(&spec, &collection.run)
    };
    attempt(&whole, "kolcz").unwrap();
    let line_of = |text: &str, terms: &str| match attempt(text, terms).unwrap_err() {
        Error::BadLine { path, line, .. } => {
            assert_eq!(path, file);
            line
        }
        other => panic!("{other}"),
    };
    assert_eq!(line_of(&whole, "chowdhury"), 2);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines.len() > 20);
    for at in 0..lines.len() {
        let without = [&lines[..at], &lines[at + 1..]].concat().concat();
        let line = line_of(&without, "kolcz");
        assert!(
            line as usize > at && line as usize <= lines.len(),
            "{at}: {line}"
        );
        // Another digit, where it is one.
        let changed = lines[at].replacen(|c| matches!(c, '0'..='8'), "9", 1);
        if changed != lines[at] {
            let text = [&lines[..at], &[&changed[..]], &lines[at + 1..]]
                .concat()
                .concat();
            if at == 3 {
                // So many terms that it would need more memory.
                assert!(attempt(&text, "kolcz").is_err());
            } else {
                assert!(line_of(&text, "kolcz") as usize > at);
            }
        }
    }
    line_of(&(whole.clone() + "\n"), "kolcz");
    line_of(&"x".repeat(100_000), "kolcz");
    line_of("", "kolcz");
    fs::remove_file(&file).unwrap();
    let spec = format!("i-match:lexicon={}", file.display());
    let error = collection.try_method(&spec, &collection.run).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

/// All that a method leaves for people, with its lexicon.
fn outcome(made: &Path, terms: Option<&str>) -> BTreeMap<String, Vec<u8>> {
    let mut files = results(made);
    // Both name the directory's method, and are the same if these are.
    files.insert(
        "sets.jsonl".into(),
        fs::read(made.join("sets.jsonl")).unwrap(),
    );
    if let Some(terms) = terms {
        files.insert(
            "lexicon.tsv".into(),
            fs::read(lexicon_of(made, terms)).unwrap(),
        );
    }
    files
}

const KOLCZ: &str = "i-match:preset=kolcz,lexicons=3,secondary=0.5";

#[test]
fn the_same_bytes_by_any_means() {
    let docs = english(9, 120);
    let expected = {
        let collection = Collection::new(docs.clone(), Run::default());
        outcome(&collection.method(KOLCZ), Some("kolcz"))
    };
    for (segment, threads) in [(4 << 10, 1), (16 << 10, 3), (64 << 20, 2)] {
        let run = Run::default().segment_size(segment).threads(threads);
        let collection = Collection::new(docs.clone(), run.max_document(4 << 10).memory(128 << 20));
        let what = format!("{threads} threads");
        assert_same_files(
            &outcome(&collection.method(KOLCZ), Some("kolcz")),
            &expected,
            &what,
        );
    }
    // With as little memory as will do.
    let collection = Collection::new(docs, Run::default());
    let run = Run::default().keep_text();
    let (memory, made) =
        least_memory(|memory| collection.try_method(KOLCZ, &run.clone().memory(memory)));
    assert!(memory < 200 << 20, "{memory}");
    assert_same_files(
        &outcome(&made, Some("kolcz")),
        &expected,
        "the least memory",
    );
}

#[test]
fn stopped_at_any_call_and_made_again() {
    let docs = english(10, 60);
    let run = Run::default()
        .segment_size(8 << 10)
        .max_document(4 << 10)
        .threads(1);
    let fresh = || Collection::new(docs.clone(), run.clone());
    let watched = |collection: &Collection, watch: &StopAt| -> Result<(), Error> {
        let base = pipeline::open(&collection.out)?;
        let context = collection.run.context(&watch.stop, watch);
        methods::run(&base, &Spec::read(KOLCZ)?, &context).map(|_| ())
    };
    let collection = fresh();
    let watch = StopAt::never();
    watched(&collection, &watch).unwrap();
    let calls = watch.calls.load(Ordering::SeqCst);
    assert!(calls > 20, "{calls}");
    let expected = outcome(&collection.method(KOLCZ), Some("kolcz"));
    let mut stopped = 0;
    for after in (1..=calls).step_by(2 * one_in(4)) {
        let collection = fresh();
        let stop = StopAt::call(after);
        stopped += usize::from(watched(&collection, &stop).is_err());
        let what = format!("stopped at call {after} of {calls}");
        let made = collection.method(KOLCZ);
        assert_same_files(&outcome(&made, Some("kolcz")), &expected, &what);
    }
    assert!(stopped * one_in(4) > 5, "{stopped}");
}

/// A lexicon that was deleted, or changed in its own place, is made again.
#[test]
fn a_lexicon_that_is_gone_is_made_again() {
    let collection = collection(11);
    let lexicon = lexicon_of(&collection.method("i-match:preset=kolcz"), "kolcz");
    let whole = fs::read(&lexicon).unwrap();
    for damage in [None, Some(&b"else"[..])] {
        match damage {
            None => fs::remove_file(&lexicon).unwrap(),
            Some(bytes) => fs::write(&lexicon, bytes).unwrap(),
        }
        let variant = if damage.is_none() {
            "0.1-0.9"
        } else {
            "0.3-0.7"
        };
        collection.method(&format!("i-match:preset=kolcz,variant=nidf-{variant}"));
        assert_eq!(fs::read(&lexicon).unwrap(), whole);
    }
}
