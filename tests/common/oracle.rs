//! The oracle: the definitions once more, by brute force and in memory, with nothing of the
//! library's own.
//!
//! Shingles are strings in a set, every two documents are intersected, the threshold is compared by
//! multiplying out the fractions, clusters come from labels that are spread until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use md5::{Digest, Md5};
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;

use super::corpus::Doc;
use lookalike::engine::excluded::excluded;

use super::{Run, rows};

/// The parameters of a run in plain values; [`Spec::run`] puts the same question to the library.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub tokens: &'static str,
    pub w: usize,
    /// A document with fewer tokens has one shingle, or none.
    pub whole: bool,
    pub md5: bool,
    pub threshold: (&'static str, u128, u128),
    pub sampling: Sampling,
    /// Instead of it: a ratio for each of the groups that [`BOUNDS_OF_LEVELS`] make.
    pub by_group: Option<ByGroup>,
    pub max_postings: Option<usize>,
    /// Verified sampling: what an estimate has to reach, so that the full sets are asked.
    pub candidates: Option<(&'static str, u128, u128)>,
    /// Texts whose shingles count for nobody.
    pub excluded: &'static [String],
}

/// As the flag has it; n and class; the most fingerprints of a document.
pub type Sampling = (&'static str, u128, u128, usize);

/// As the flag has it; n and class of each group.
pub type ByGroup = (&'static str, [(u128, u128); 4]);

/// Words at which size groups begin where each has a ratio of its own.
pub const BOUNDS_OF_LEVELS: [usize; 3] = [60, 90, 120];
pub const BY_GROUP: [ByGroup; 4] = [
    ("full,1/2,1/4,1/8", [(1, 0), (2, 0), (4, 0), (8, 0)]),
    ("1/6:4,1/3:2,1/6:4,full", [(6, 4), (3, 2), (6, 4), (1, 0)]),
    ("1/4:3,1/4:3,1/2:1,1/2:1", [(4, 3), (4, 3), (2, 1), (2, 1)]),
    ("1/2,full,full,full", [(2, 0), (1, 0), (1, 0), (1, 0)]),
];

pub const FULL: Sampling = ("full", 1, 0, usize::MAX);
pub const SAMPLINGS: [Sampling; 5] = [
    FULL,
    ("1/2", 2, 0, usize::MAX),
    ("1/4:3", 4, 3, usize::MAX),
    ("1/7:5", 7, 5, usize::MAX),
    ("broder97", 25, 0, 400),
];
pub const THRESHOLDS: [(&str, u128, u128); 5] = [
    ("0.3", 3, 10),
    ("0.5", 1, 2),
    ("0.85", 17, 20),
    ("1.0", 1, 1),
    ("1/3", 1, 3),
];

impl Default for Spec {
    fn default() -> Self {
        Spec {
            tokens: "words",
            w: 10,
            whole: true,
            md5: false,
            threshold: THRESHOLDS[2],
            sampling: FULL,
            by_group: None,
            max_postings: None,
            candidates: None,
            excluded: &[],
        }
    }
}

impl Spec {
    /// The same question to the library.
    pub fn run(&self) -> Run {
        let mut run = Run::default()
            .tokens(self.tokens)
            .shingle_size(self.w as u32)
            .fingerprint(if self.md5 { "md5" } else { "64" })
            .threshold(self.threshold.0)
            .sampling(self.by_group.map_or(self.sampling.0, |(text, _)| text));
        if self.by_group.is_some() {
            let bounds = BOUNDS_OF_LEVELS.map(|bound| bound.to_string()).join(",");
            run.collection.size_groups = bounds.parse().unwrap();
        }
        run.collection.shingle.short = if self.whole { "whole" } else { "skip" }.parse().unwrap();
        run.question.join.max_postings = self.max_postings.map(|n| n as u32);
        if self.max_postings.is_some() {
            run = run.join("count");
        }
        let candidates = self.candidates.map(|(text, ..)| text.parse().unwrap());
        run.question.join.candidates = candidates;
        if !self.excluded.is_empty() {
            let place = super::temporary();
            let lines =
                self.excluded.iter().enumerate().map(|(id, text)| {
                    json!({"id": id.to_string(), "text": text}).to_string() + "\n"
                });
            let file = place.path().join("excluded.jsonl");
            std::fs::write(&file, lines.collect::<String>()).unwrap();
            let stop = lookalike::base::progress::Stop::default();
            let context = run.context(&stop, &lookalike::base::progress::Silent);
            let excluded = excluded(&[file], &run.collection, &context).unwrap();
            run.collection.shingle.excluded = excluded;
        }
        run
    }
}

/// The answer that the library must give: rows of the TSV files, the clusters.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub documents: Vec<String>,
    pub exact_duplicates: Vec<String>,
    pub pairs: Vec<String>,
    pub clusters: Vec<Value>,
}

impl Answer {
    /// The answer in the result files of a run.
    pub fn read(files: &BTreeMap<String, Vec<u8>>) -> Answer {
        let clusters = std::str::from_utf8(&files["clusters.jsonl"]).unwrap();
        Answer {
            documents: rows(&files["documents.tsv"]),
            exact_duplicates: rows(&files["exact-duplicates.tsv"]),
            pairs: rows(&files["pairs.tsv"]),
            clusters: clusters
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
        }
    }
}

fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn stands_alone(c: char) -> bool {
    // Hiragana and Katakana letters, and unified ideographs: what the random corpora have of them.
    ('\u{3041}'..='\u{30fa}').contains(&c) || ('\u{4e00}'..='\u{9fff}').contains(&c)
}

fn words(text: &str) -> Vec<String> {
    let letter = |c: char| c.is_alphanumeric() && !stands_alone(c);
    let mut found: Vec<String> = Vec::new();
    // Whether the last token may go on with letters, or with marks.
    let (mut open, mut takes_marks) = (false, false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let inside =
            open && matches!(c, '\'' | '\u{2019}') && rest.peek().is_some_and(|&c| letter(c));
        if letter(c) || inside || (is_mark(c) && takes_marks) {
            if !open && !is_mark(c) {
                found.push(String::new());
            }
            let token = found.last_mut().unwrap();
            if inside {
                token.push('\'');
            } else {
                token.extend(c.to_lowercase());
            }
            open = open || letter(c);
            takes_marks = !inside;
        } else if stands_alone(c) {
            found.push(c.to_string());
            (open, takes_marks) = (false, true);
        } else {
            (open, takes_marks) = (false, false);
        }
    }
    found
}

struct Document {
    md5: String,
    words: usize,
    /// Every shingle with its fingerprint.
    shingles: BTreeMap<Vec<u8>, u128>,
}

fn document(spec: &Spec, text: &str) -> Document {
    let composed: String = text.nfc().collect();
    let tokens: Vec<String> = match spec.tokens {
        "words" => words(&composed),
        "whitespace" => composed.split_whitespace().map(String::from).collect(),
        _ => text.split_whitespace().map(String::from).collect(),
    };
    let canonical = tokens.join(" ");
    let mut shingles: BTreeSet<Vec<u8>> = match spec.tokens.strip_prefix("bytes:") {
        Some(n) => {
            let windows = canonical.as_bytes().windows(n.parse().unwrap());
            windows.map(<[u8]>::to_vec).collect()
        }
        None => {
            let windows = tokens.windows(spec.w);
            windows
                .map(|tokens| tokens.join(" ").into_bytes())
                .collect()
        }
    };
    if shingles.is_empty() && !tokens.is_empty() && spec.whole {
        shingles.insert(canonical.clone().into_bytes());
    }
    for text in spec.excluded {
        let all = Spec {
            excluded: &[],
            ..*spec
        };
        for shingle in document(&all, text).shingles.keys() {
            shingles.remove(shingle);
        }
    }
    let fingerprint = |shingle: &Vec<u8>| {
        if spec.md5 {
            u128::from_be_bytes(Md5::digest(shingle).into())
        } else {
            u128::from(xxhash_rust::xxh3::xxh3_64(shingle))
        }
    };
    let md5: [u8; 16] = Md5::digest(canonical).into();
    Document {
        md5: md5.iter().map(|byte| format!("{byte:02x}")).collect(),
        words: tokens.len(),
        shingles: shingles
            .into_iter()
            .map(|s| {
                let h = fingerprint(&s);
                (s, h)
            })
            .collect(),
    }
}

/// floor(h n / 2^b).
fn class(h: u128, n: u128, md5: bool) -> u128 {
    if md5 {
        ((h >> 64) * n + (((h & u128::from(u64::MAX)) * n) >> 64)) >> 64
    } else {
        (h * n) >> 64
    }
}

/// Ratio and class of a document.
fn rate(spec: &Spec, document: &Document) -> (u128, u128) {
    match spec.by_group {
        None => (spec.sampling.1, spec.sampling.2),
        Some((_, rates)) => rates[size_group(spec, document.words)],
    }
}

fn sample<'a>(
    spec: &Spec,
    document: &'a Document,
    (n, wanted): (u128, u128),
) -> BTreeSet<&'a [u8]> {
    let most = spec.sampling.3;
    let mut inside: Vec<(u128, &[u8])> = document
        .shingles
        .iter()
        .filter(|(_, h)| class(**h, n, spec.md5) == wanted)
        .map(|(shingle, h)| (*h, &shingle[..]))
        .collect();
    inside.sort_unstable();
    inside.truncate(most);
    inside.into_iter().map(|(_, shingle)| shingle).collect()
}

/// Six decimals, the last rounded to the nearest, a half upwards.
fn decimals(shared: usize, union: usize) -> String {
    let millionths = (shared as f64 / union as f64 * 1e6) as usize;
    // The division was only a guess: the neighbours are compared as fractions.
    let near = |m: usize| (2 * m + 1) * union > 2_000_000 * shared;
    let m = (millionths.saturating_sub(2)..).find(|&m| near(m)).unwrap();
    format!("{}.{:06}", m / 1_000_000, m % 1_000_000)
}

fn size_group(spec: &Spec, words: usize) -> usize {
    const BOUNDS: [usize; 10] = [500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000];
    let bounds = match spec.by_group {
        None => &BOUNDS[..],
        Some(_) => &BOUNDS_OF_LEVELS,
    };
    bounds.iter().filter(|&&bound| words >= bound).count()
}

fn full(document: &Document) -> BTreeSet<&[u8]> {
    document
        .shingles
        .keys()
        .map(|shingle| &shingle[..])
        .collect()
}

/// How many shingles two sets share, and have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    pub shared: usize,
    pub sizes: (usize, usize),
}

impl Counts {
    fn of(a: &BTreeSet<&[u8]>, b: &BTreeSet<&[u8]>) -> Counts {
        Counts {
            shared: a.intersection(b).count(),
            sizes: (a.len(), b.len()),
        }
    }

    /// Is the resemblance of the sets at or above a threshold?
    pub fn reach(&self, (_, numerator, denominator): (&str, u128, u128)) -> bool {
        let union = (self.sizes.0 + self.sizes.1 - self.shared) as u128;
        union > 0 && self.shared as u128 * denominator >= union * numerator
    }
}

/// The facts about a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fact {
    /// The first of its exact duplicates.
    pub first: usize,
    pub words: usize,
    pub group: usize,
    pub shingles: usize,
    /// At its own ratio.
    pub sampled: usize,
}

/// Two representatives that share a shingle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Both {
    pub a: usize,
    pub b: usize,
    /// On the coarser of their ratios.
    pub sampled: Counts,
    pub full: Counts,
}

/// Every document, and every two representatives that have anything in common.
pub fn pairs(spec: &Spec, docs: &[Doc]) -> (Vec<Fact>, Vec<Both>) {
    let documents: Vec<Document> = docs.iter().map(|doc| document(spec, &doc.text)).collect();
    let mut facts: Vec<Fact> = Vec::new();
    for (i, one) in documents.iter().enumerate() {
        // A document without words duplicates nothing.
        let same = |other: &Document| other.words > 0 && other.md5 == one.md5;
        facts.push(Fact {
            first: documents.iter().position(same).unwrap_or(i),
            words: one.words,
            group: size_group(spec, one.words),
            shingles: one.shingles.len(),
            sampled: sample(spec, one, rate(spec, one)).len(),
        });
    }
    let sets: Vec<BTreeSet<&[u8]>> = documents.iter().map(full).collect();
    let mut all = Vec::new();
    let firsts: Vec<usize> = (0..docs.len()).filter(|&i| facts[i].first == i).collect();
    for (at, &a) in firsts.iter().enumerate() {
        for &b in &firsts[at + 1..] {
            let full = Counts::of(&sets[a], &sets[b]);
            if full.shared == 0 {
                continue;
            }
            let coarser = rate(spec, &documents[a]).max(rate(spec, &documents[b]));
            let sampled = |i: usize| sample(spec, &documents[i], coarser);
            let sampled = Counts::of(&sampled(a), &sampled(b));
            all.push(Both {
                a,
                b,
                sampled,
                full,
            });
        }
    }
    (facts, all)
}

/// The answer to `spec` over documents in input order.
pub fn answer(spec: &Spec, docs: &[Doc]) -> Answer {
    let documents: Vec<Document> = docs.iter().map(|doc| document(spec, &doc.text)).collect();
    // Exact duplicates: the first of equal MD5 represents all. A document without words has none.
    let first_of = |i: usize| {
        (0..=i)
            .find(|&j| j == i || documents[i].words > 0 && documents[j].md5 == documents[i].md5)
            .unwrap()
    };
    let first: Vec<usize> = (0..docs.len()).map(first_of).collect();
    let samples: Vec<BTreeSet<&[u8]>> = (0..docs.len())
        .map(|i| {
            if first[i] == i {
                sample(spec, &documents[i], rate(spec, &documents[i]))
            } else {
                BTreeSet::new()
            }
        })
        .collect();
    let mut frequency: BTreeMap<&[u8], usize> = BTreeMap::new();
    for shingle in samples.iter().flatten() {
        *frequency.entry(shingle).or_default() += 1;
    }
    let common = |shingle: &[u8]| {
        spec.max_postings
            .is_some_and(|most| frequency[shingle] > most)
    };

    // Pairs.
    let mut listed: BTreeMap<(usize, usize), String> = BTreeMap::new();
    let mut pairs = Vec::new();
    for a in 0..docs.len() {
        for b in a + 1..docs.len() {
            let both = samples[a].intersection(&samples[b]);
            let shared = both.filter(|shingle| !common(shingle)).count();
            let (size_a, size_b) = match spec.by_group {
                None => (samples[a].len(), samples[b].len()),
                // Compared on the coarser ratio.
                Some(_) => {
                    let (a, b) = (&documents[a], &documents[b]);
                    let coarser = rate(spec, a).max(rate(spec, b));
                    (
                        sample(spec, a, coarser).len(),
                        sample(spec, b, coarser).len(),
                    )
                }
            };
            let mut counts = Counts {
                shared,
                sizes: (size_a, size_b),
            };
            if let Some(candidates) = spec.candidates {
                if !counts.reach(candidates) {
                    continue;
                }
                counts = Counts::of(&full(&documents[a]), &full(&documents[b]));
            }
            if counts.reach(spec.threshold) {
                let (shared, (size_a, size_b)) = (counts.shared, counts.sizes);
                let union = size_a + size_b - shared;
                let resemblance = decimals(shared, union);
                let (docno_a, docno_b) = (&docs[a].docno, &docs[b].docno);
                pairs.push(format!(
                    "{docno_a}\t{docno_b}\t{resemblance}\t{shared}\t{size_a}\t{size_b}"
                ));
                listed.insert((a, b), resemblance);
            }
        }
    }

    // Clusters: the least number spreads over pairs and over exact duplicates.
    let mut label: Vec<usize> = first.clone();
    loop {
        let before = label.clone();
        for &(a, b) in listed.keys() {
            let least = label[a].min(label[b]);
            (label[a], label[b]) = (least, least);
        }
        for i in 0..docs.len() {
            let least = label[i].min(label[first[i]]);
            (label[i], label[first[i]]) = (least, least);
        }
        if label == before {
            break;
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, &label) in label.iter().enumerate() {
        members.entry(label).or_default().push(i);
    }
    members.retain(|_, members| members.len() > 1);
    let mut cluster_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut clusters = Vec::new();
    for (id, (&root, members)) in members.iter().enumerate() {
        let described = members.iter().map(|&i| {
            cluster_of.insert(i, id);
            let kind = match i {
                _ if i == root => "representative",
                _ if first[i] != i => "exact",
                _ => "near",
            };
            let resemblance = if first[i] == root {
                json!(1.0)
            } else {
                let text = listed.get(&(root, first[i]));
                text.map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
            };
            json!({"docno": docs[i].docno, "kind": kind, "resemblance": resemblance})
        });
        let described: Vec<Value> = described.collect();
        clusters.push(json!({
            "id": id,
            "representative": docs[root].docno,
            "members": described,
        }));
    }

    // The tables.
    let rows = docs.iter().zip(&documents).enumerate();
    let documents_rows = rows.map(|(i, (doc, document))| {
        let url = doc.url.as_deref().unwrap_or_default();
        let (words, shingles) = (document.words, document.shingles.len());
        let cluster = cluster_of.get(&i).map_or(String::new(), usize::to_string);
        let group = size_group(spec, words);
        format!(
            "{}\t{url}\t{words}\t{shingles}\t{group}\t{cluster}",
            doc.docno
        )
    });
    let documents_rows = documents_rows.collect();
    let exact = (0..docs.len()).filter(|&i| first[i] != i);
    let exact = exact.map(|i| {
        let (docno, representative) = (&docs[i].docno, &docs[first[i]].docno);
        let same = match docs[i].text == docs[first[i]].text {
            true => "identical",
            false => "same words",
        };
        format!("{docno}\t{representative}\t{}\t{same}", documents[i].md5)
    });
    Answer {
        documents: documents_rows,
        exact_duplicates: exact.collect(),
        pairs,
        clusters,
    }
}
