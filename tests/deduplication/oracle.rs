//! Which documents stay, by brute force: every two documents are compared, the order of preference
//! is a sort, and the rules are the sentences of their definitions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::{Document, Record, warc_fields};

/// The parameters of a deduplication.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// A fraction.
    pub threshold: (usize, usize),
    pub containment: bool,
    pub rule: &'q str,
    pub keep: &'q [&'q str],
    pub drop_empty: bool,
    /// Documents that are removed before the choice.
    pub listed: &'q [usize],
}

/// The fate of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    Kept,
    Removed(&'static str, Option<usize>),
}

/// Documents with all that is known of every two of them.
pub struct Oracle<'r> {
    pub records: Vec<(&'r Record, &'r Document)>,
    shared: BTreeMap<(usize, usize), usize>,
}

impl<'r> Oracle<'r> {
    pub fn new(records: &'r [Record]) -> Oracle<'r> {
        let documents = records
            .iter()
            .filter_map(|r| Some((r, r.document.as_ref()?)));
        let documents: Vec<_> = documents.collect();
        let mut shared = BTreeMap::new();
        for a in 0..documents.len() {
            for b in a + 1..documents.len() {
                let number = common(&documents[a].1.set, &documents[b].1.set);
                shared.insert((a, b), number);
            }
        }
        Oracle {
            records: documents,
            shared,
        }
    }

    pub fn shared(&self, a: usize, b: usize) -> usize {
        self.shared[&(a.min(b), a.max(b))]
    }

    fn size(&self, document: usize) -> usize {
        self.records[document].1.set.len()
    }

    fn is_empty(&self, document: usize) -> bool {
        self.records[document].1.words == 0
    }

    pub fn equal(&self, a: usize, b: usize) -> bool {
        !self.is_empty(a) && self.records[a].1.md5 == self.records[b].1.md5
    }

    /// What two documents share, and of how much.
    pub fn score(&self, containment: bool, a: usize, b: usize) -> (usize, usize) {
        let shared = self.shared(a, b);
        match containment {
            true => (shared, self.size(a).min(self.size(b))),
            false => (shared, self.size(a) + self.size(b) - shared),
        }
    }

    pub fn reach(&self, question: &Question<'_>, a: usize, b: usize) -> bool {
        let (shared, whole) = self.score(question.containment, a, b);
        let (numerator, denominator) = question.threshold;
        shared > 0 && shared * denominator >= whole * numerator || self.equal(a, b)
    }

    /// The documents in the order of preference.
    fn preference(&self, question: &Question<'_>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.records.len()).collect();
        let keys = |document: usize| -> Vec<f64> {
            let mut keys = Vec::new();
            if question.containment {
                keys.push(-(self.size(document) as f64));
            }
            for policy in question.keep {
                let words = self.records[document].1.words as f64;
                keys.push(match *policy {
                    "first" => document as f64,
                    "last" => -(document as f64),
                    "longest" => -words,
                    "shortest" => words,
                    policy => self.field_key(document, policy),
                });
            }
            keys
        };
        // Stable: the order of the input breaks what ties are left.
        order.sort_by(|&a, &b| keys(a).partial_cmp(&keys(b)).unwrap_or(Ordering::Equal));
        order
    }

    /// The key of a policy that reads something of the record; documents without it come last.
    fn field_key(&self, document: usize, policy: &str) -> f64 {
        let record = self.records[document].0;
        let (name, field) = policy.split_once(':').unwrap_or((policy, "WARC-Date"));
        let place = |values: &str, is: &dyn Fn(&str) -> bool| {
            let place = values.split(',').position(is);
            place.map_or(f64::INFINITY, |place| place as f64)
        };
        if name == "prefer-input" {
            return place(field, &|glob| {
                matches(glob.as_bytes(), record.file.as_bytes())
            });
        }
        if let Some((field, values)) = field.split_once('=') {
            let value = value(record, field);
            return place(values, &|wanted| value.as_deref() == Some(wanted));
        }
        // The generator writes dates twice: as text, and in seconds.
        let seconds = value(record, &format!("{field}_seconds"));
        let mut text = seconds.or_else(|| value(record, field)).unwrap_or_default();
        if field == "WARC-Date" {
            // The dates of one crawl have one length and one zone.
            text.retain(|c| c.is_ascii_digit());
        }
        let number: Option<f64> = text.parse().ok();
        let sign = match name {
            "newest" | "max" => -1.0,
            _ => 1.0,
        };
        number.map_or(f64::INFINITY, |number| number * sign)
    }

    /// The first document of the cluster of each document, if only these documents are there.
    fn clusters(&self, question: &Question<'_>, there: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut label: Vec<usize> = (0..self.records.len()).collect();
        loop {
            let before = label.clone();
            for &(a, b) in self.shared.keys() {
                if there(a) && there(b) && self.reach(question, a, b) {
                    let least = label[a].min(label[b]);
                    (label[a], label[b]) = (least, least);
                }
            }
            if label == before {
                return label;
            }
        }
    }

    /// Returns the fate of each document, and its cluster by the first document of it.
    pub fn fates(&self, question: &Question<'_>) -> (Vec<Fate>, Vec<usize>) {
        let is_listed = |document: usize| question.listed.contains(&document);
        let all = self.clusters(question, |_| true);
        let label = self.clusters(question, |document| !is_listed(document));
        let mut fates = vec![Fate::Kept; self.records.len()];
        let mut kept: Vec<usize> = Vec::new();
        for document in self.preference(question) {
            if is_listed(document) {
                fates[document] = Fate::Removed("listed", None);
                continue;
            }
            if self.is_empty(document) {
                if question.drop_empty {
                    fates[document] = Fate::Removed("empty", None);
                }
                continue;
            }
            let reaches = |&kept: &usize| self.reach(question, document, kept);
            let connected = |&kept: &usize| label[kept] == label[document];
            let survivor = match question.rule {
                "star" => kept.iter().copied().find(reaches),
                "cluster" => kept.iter().copied().find(connected),
                "all" => continue,
                _ => {
                    if label.iter().filter(|&&l| l == label[document]).count() > 1 {
                        fates[document] = Fate::Removed("cluster", None);
                    }
                    continue;
                }
            };
            let Some(survivor) = survivor else {
                kept.push(document);
                continue;
            };
            let reason = match () {
                () if self.equal(document, survivor) => {
                    let [a, b] = [document, survivor].map(|of| self.records[of].1.text);
                    if a == b { "identical" } else { "same words" }
                }
                () if !self.reach(question, document, survivor) => "chain",
                () if question.containment => "contained",
                () => "near",
            };
            fates[document] = Fate::Removed(reason, Some(survivor));
        }
        (fates, all)
    }

    fn place(&self, document: usize) -> Value {
        let (record, document) = self.records[document];
        json!({"file": record.file, "record": record.number, "docno": document.docno})
    }

    /// The lines of `removed.jsonl`. The score is a pair of numbers here.
    pub fn evidence(
        &self,
        question: &Question<'_>,
        (fates, label): &(Vec<Fate>, Vec<usize>),
    ) -> Vec<(Value, Option<(usize, usize)>)> {
        let clusters = numbered(label);
        let mut lines = Vec::new();
        for (document, fate) in fates.iter().enumerate() {
            let Fate::Removed(reason, survivor) = fate else {
                continue;
            };
            let mut line = self.place(document);
            line["offset"] = self.records[document].0.offset.into();
            line["reason"] = (*reason).into();
            let mut score = None;
            if let Some(survivor) = *survivor {
                line["survivor"] = self.place(survivor);
                line["shared"] = self.shared(document, survivor).into();
                score = Some(self.score(question.containment, document, survivor));
            }
            if let Some((number, size)) = clusters[document] {
                line["cluster"] = number.into();
                line["cluster_size"] = size.into();
            }
            if let Some(address) = &self.records[document].1.address {
                line["address"] = address.as_str().into();
            }
            lines.push((line, score));
        }
        lines
    }
}

/// Number and size of the cluster of each document that is in one.
fn numbered(label: &[usize]) -> Vec<Option<(usize, usize)>> {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    label
        .iter()
        .for_each(|label| *sizes.entry(*label).or_default() += 1);
    sizes.retain(|_, size| *size > 1);
    let number = |of: usize| sizes.keys().position(|&first| first == of);
    label
        .iter()
        .map(|l| Some((number(*l)?, sizes[l])))
        .collect()
}

/// The number of elements of two sorted lists.
fn common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, both) = (i + 1, j + 1, both + 1),
        }
    }
    both
}

/// The value of a field of a JSON object (by a path with dots) or of a WARC header.
fn value(record: &Record, field: &str) -> Option<String> {
    if record.bytes.starts_with(b"WARC/") {
        return warc_fields(&record.bytes).remove(&field.to_lowercase());
    }
    let object: Value = serde_json::from_slice(&record.bytes).ok()?;
    let found = field
        .split('.')
        .try_fold(&object, |at, name| at.get(name))?;
    match found {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether a glob of plain characters and `*` matches the whole text.
fn matches(glob: &[u8], text: &[u8]) -> bool {
    match glob.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|at| matches(rest, &text[at..])),
        Some((byte, rest)) => text
            .split_first()
            .is_some_and(|(t, after)| t == byte && matches(rest, after)),
    }
}
