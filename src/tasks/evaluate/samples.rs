//! Compare the run with pairs and families that people have judged.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::Sources;
use super::classes::{Classes, pair_key, pair_of, pairs_of};
use super::documents::{Documents, NONE, each_row, stop};
use super::list::PairList;
use crate::base::budget::ByteSize;
use crate::base::ids::Threshold;
use crate::base::precision::share;
use crate::base::progress::Context;
use crate::store::{Tagged, sort_tagged};
use crate::text::read::lines::shorten;
use crate::{Error, Result};

/// Columns of judged pairs.
pub(super) const JUDGED: [&str; 3] = ["docno_a", "docno_b", "judgement"];
/// Columns of families.
pub(super) const FAMILIES: [&str; 2] = ["docno", "family"];

/// The quality of a run by a judged sample (Bernstein & Zobel 2006, section 7).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Distinct pairs judged true.
    pub true_pairs: u64,
    /// Distinct pairs judged false.
    pub false_pairs: u64,
    /// Judged pairs, or documents of families, that are left out because a docno is not in the
    /// collection.
    pub unknown: u64,
    /// The same for docnos that the run's directory does not have: these pairs count as not found.
    pub not_in_run: u64,
    /// Results by threshold.
    pub at: Vec<SampleAt>,
}

/// The results at one threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleAt {
    /// The threshold; `None` for everything in the list.
    pub threshold: Option<Threshold>,
    /// Pairs found that are judged true.
    pub true_found: u64,
    /// Pairs found that are judged false.
    pub false_found: u64,
    /// Pairs found and judged true / judged true.
    pub coverage: Option<f64>,
    /// Pairs found and judged true / found and judged.
    pub density: Option<f64>,
    /// Mean over documents of true / judged among the found pairs of each document.
    pub average_precision: Option<f64>,
    /// Documents in that mean.
    pub documents: u64,
    /// Documents left out of that mean because none of their judged pairs were found.
    pub documents_without: u64,
}

/// Pairs by the number of thresholds that they reach in the run: judged false, judged true.
#[derive(Clone)]
struct Levels(Vec<[u64; 2]>);

impl Levels {
    fn new(top: usize) -> Levels {
        Levels(vec![[0; 2]; top + 1])
    }

    /// Pairs at or above a threshold: judged false, judged true.
    fn from(&self, threshold: usize) -> [u64; 2] {
        let above = &self.0[threshold + 1..];
        above
            .iter()
            .fold([0; 2], |sum, n| [sum[0] + n[0], sum[1] + n[1]])
    }
}

/// Mean precision by threshold, accumulated document by document.
struct Means {
    sums: Vec<(f64, u64)>,
    here: Option<(u128, Levels)>,
    top: usize,
}

impl Means {
    fn new(top: usize) -> Means {
        Means {
            sums: vec![(0.0, 0); top],
            here: None,
            top,
        }
    }

    /// Adds the found pairs of a document (`key`). `alike` gives the number of documents that share
    /// the key.
    fn add(&mut self, key: u128, level: usize, found: [u64; 2], alike: impl Fn(u128) -> u64) {
        if self.here.as_ref().is_none_or(|here| here.0 != key) {
            self.finish(&alike);
            self.here = Some((key, Levels::new(self.top)));
        }
        if let Some((_, levels)) = &mut self.here {
            levels.0[level][0] += found[0];
            levels.0[level][1] += found[1];
        }
    }

    fn finish(&mut self, alike: impl Fn(u128) -> u64) {
        if let Some((key, levels)) = self.here.take() {
            for (threshold, (sum, documents)) in self.sums.iter_mut().enumerate() {
                let [wrong, right] = levels.from(threshold);
                if let Some(precision) = share(right, right + wrong) {
                    *sum += precision * alike(key) as f64;
                    *documents += alike(key);
                }
            }
        }
    }
}

/// Assembles the results; `levels` counts the pairs found.
fn sample(
    thresholds: &[Threshold],
    judged: [u64; 2],
    documents: u64,
    levels: &Levels,
    means: &Means,
) -> Vec<SampleAt> {
    let at = |(threshold, &(sum, averaged)): (usize, &(f64, u64))| {
        let [false_found, true_found] = levels.from(threshold);
        SampleAt {
            threshold: thresholds.get(threshold).copied(),
            true_found,
            false_found,
            coverage: share(true_found, judged[1]),
            density: share(true_found, true_found + false_found),
            average_precision: (averaged > 0).then(|| sum / averaged as f64),
            documents: averaged,
            documents_without: documents - averaged,
        }
    };
    means.sums.iter().enumerate().map(at).collect()
}

/// Pushes the pairs of the run, with the level in the low half of the key.
fn push_run(
    sources: &Sources,
    thresholds: &[Threshold],
    documents: &Documents,
    context: &Context<'_>,
    push: &mut dyn FnMut(Tagged) -> Result<()>,
) -> Result<()> {
    let mut pairs = PairList::open(&sources.run.pairs, sources.run.columns.as_ref())?;
    while let Some(listed) = pairs.next(thresholds)? {
        stop(pairs.table(), context)?;
        let [a, b] = listed.documents;
        let a = documents.run.root(documents.find(a, pairs.table())?);
        let b = documents.run.root(documents.find(b, pairs.table())?);
        if a != b {
            push(Tagged {
                key: pair_key(a, b) | listed.level as u128,
                document: 0,
                extra: 0,
            })?;
        }
    }
    Ok(())
}

/// Marks a judged pair. It sorts after the same pair of the run.
const IS_JUDGED: u128 = 1 << 32;

/// Compares the run with judged pairs.
pub(super) fn judged(
    path: &Path,
    sources: &Sources,
    thresholds: &[Threshold],
    documents: &mut Documents,
    scratch: &Path,
    memory: ByteSize,
    context: &Context<'_>,
) -> Result<Sample> {
    let top = thresholds.len().max(1);
    let memory = ByteSize(memory.0 / 3);
    let mut selected = 0u64;
    each_row(path, &JUDGED, context, |table, row| {
        let (a, b) = (documents.of(table, &row[0])?, documents.of(table, &row[1])?);
        if a != b && documents.known(a) && documents.known(b) {
            selected += u64::from(documents.select(a));
        }
        Ok(())
    })?;
    let documents = &*documents;
    let (mut all, mut unknown, mut not_in_run) = ([0; 2], 0, 0);
    let mut levels = Levels::new(top);
    let mut means = Means::new(top);
    let alone = |_: u128| 1;
    sort_tagged(
        scratch,
        "documents",
        memory,
        |push_document| {
            // The current pair of the run, and its highest level.
            let mut here = (0, 0);
            let pairs = |push: &mut dyn FnMut(Tagged) -> Result<()>| {
                push_run(sources, thresholds, documents, context, push)?;
                distinct_judged(
                    path,
                    documents,
                    scratch,
                    memory,
                    context,
                    |(a, b), judgement| {
                        if !documents.known(a) || !documents.known(b) {
                            unknown += 1;
                            return Ok(());
                        }
                        all[usize::from(judgement)] += 1;
                        not_in_run += u64::from(!documents.in_run(a) || !documents.in_run(b));
                        let classes = pair_key(documents.run.root(a), documents.run.root(b));
                        push(Tagged {
                            key: classes | IS_JUDGED | u128::from(judgement),
                            document: a,
                            extra: b,
                        })
                    },
                )
            };
            sort_tagged(
                scratch,
                "judged",
                memory,
                pairs,
                |Tagged {
                     key,
                     document,
                     extra,
                 }| {
                    let low = key as u64;
                    if key & IS_JUDGED == 0 {
                        here = (key >> 64, low as usize);
                        return Ok(());
                    }
                    let (a, b) = pair_of(key);
                    let level = match here {
                        _ if a == b => top,
                        (pair, level) if pair == key >> 64 => level,
                        _ => 0,
                    };
                    let judgement = usize::from(low & 1 == 1);
                    levels.0[level][judgement] += 1;
                    for document in [document, extra] {
                        if level > 0 && documents.selected(document) {
                            push_document(Tagged {
                                key: document.into(),
                                document: level as u32,
                                extra: judgement as u32,
                            })?;
                        }
                    }
                    Ok(())
                },
            )
            .map(|_| ())
        },
        |Tagged {
             key,
             document,
             extra,
         }| {
            let found = if extra == 1 { [0, 1] } else { [1, 0] };
            means.add(key, document as usize, found, alone);
            Ok(())
        },
    )?;
    means.finish(alone);
    Ok(Sample {
        true_pairs: all[1],
        false_pairs: all[0],
        unknown,
        not_in_run,
        at: sample(thresholds, all, selected, &levels, &means),
    })
}

/// Passes on the distinct judged pairs. A pair judged both true and false is an error.
fn distinct_judged(
    path: &Path,
    documents: &Documents,
    scratch: &Path,
    memory: ByteSize,
    context: &Context<'_>,
    mut take: impl FnMut((u32, u32), bool) -> Result<()>,
) -> Result<()> {
    let mut here: Option<(u128, u64, u32)> = None;
    sort_tagged(
        scratch,
        "judgements",
        memory,
        |push| {
            each_row(path, &JUDGED, context, |table, row| {
                let (a, b) = (documents.of(table, &row[0])?, documents.of(table, &row[1])?);
                let judgement = match row[2].as_slice() {
                    b"0" => 0,
                    b"1" => 1,
                    other => return Err(table.bad("a judgement, 0 or 1", shorten(other))),
                };
                if a == b {
                    return Ok(());
                }
                push(Tagged {
                    key: pair_key(a, b) | u128::from(table.number()),
                    document: judgement,
                    extra: 0,
                })
            })
        },
        |Tagged { key, document, .. }| {
            let (pair, line) = (key >> 64, key as u64);
            match here {
                Some((open, first, judgement)) if open == pair => {
                    if judgement != document {
                        let expected = format!("the judgement {judgement} that line {first} has");
                        return Err(Error::bad_line(path, line, expected, document));
                    }
                    Ok(())
                }
                _ => {
                    here = Some((pair, line, document));
                    take(pair_of(key), document == 1)
                }
            }
        },
    )
    .map(|_| ())
}

/// Memory of a document for families: its family, [`Classes`], and the names of families.
pub(super) const FAMILY_BYTES: u64 = 4 + 12 + 64;

/// Compares the run with families.
pub(super) fn families(
    path: &Path,
    sources: &Sources,
    thresholds: &[Threshold],
    documents: &Documents,
    scratch: &Path,
    memory: ByteSize,
    context: &Context<'_>,
) -> Result<Sample> {
    let top = thresholds.len().max(1);
    let half = ByteSize(memory.0 / 2);
    let mut family = vec![NONE; documents.count() as usize];
    let (mut unknown, mut not_in_run, mut members) = (0u64, 0u64, Vec::new());
    {
        let mut names: HashMap<u128, u32> = HashMap::new();
        let mut seen = vec![false; documents.count() as usize];
        each_row(path, &FAMILIES, context, |table, row| {
            let document = documents.of(table, &row[0])?;
            if row[1].is_empty() {
                return Err(table.bad("a family", "an empty field"));
            }
            let next = names.len() as u32;
            let number = *names.entry(xxh3_128(&row[1])).or_insert(next);
            if number == next {
                members.push(0u64);
            }
            let place = document as usize;
            if std::mem::replace(&mut seen[place], true) {
                if documents.known(document) && family[place] != number {
                    let found = shorten(&row[1]);
                    return Err(
                        table.bad("the family that an earlier line gives this docno", found)
                    );
                }
                return Ok(());
            }
            if !documents.known(document) {
                unknown += 1;
                return Ok(());
            }
            not_in_run += u64::from(!documents.in_run(document));
            family[place] = number;
            members[number as usize] += 1;
            Ok(())
        })?;
    }
    let judged: u64 = members.iter().sum();
    let true_pairs: u64 = members.iter().map(|&n| pairs_of(n)).sum();
    let all = [pairs_of(judged) - true_pairs, true_pairs];
    drop(members);
    let with_family = (0..documents.count()).filter(|&d| family[d as usize] != NONE);
    let labelled = with_family.map(|d| (documents.run.root(d), family[d as usize]));
    let classes = Classes::new(documents.count(), labelled);
    drop(family);

    let mut levels = Levels::new(top);
    let mut means = Means::new(top);
    let alike = |key: u128| classes.with((key >> 32) as u32, key as u32);
    sort_tagged(
        scratch,
        "documents",
        half,
        |push_document| {
            // What each member of `label` in `class` has found: `hits` of `judged` pairs are true.
            let mut put = |class: u32, label: u32, level: usize, judged: u64, hits: u64| {
                if level == 0 || judged == 0 {
                    return Ok(());
                }
                push_document(Tagged {
                    key: u128::from(class) << 96 | u128::from(label) << 64 | level as u128,
                    document: judged as u32,
                    extra: hits as u32,
                })
            };
            for class in 0..documents.count() {
                let size = classes.size(class);
                let mut right = 0;
                for &(label, n) in classes.of(class) {
                    right += pairs_of(n.into());
                    put(class, label, top, size - 1, u64::from(n) - 1)?;
                }
                levels.0[top][0] += pairs_of(size) - right;
                levels.0[top][1] += right;
            }
            let mut finish = |(key, level): (u128, usize)| {
                let (a, b) = pair_of(key);
                let mut right = 0;
                for (class, other) in [(a, b), (b, a)] {
                    for &(label, n) in classes.of(class) {
                        let hits = classes.with(other, label);
                        put(class, label, level, classes.size(other), hits)?;
                        if class == a {
                            right += u64::from(n) * hits;
                        }
                    }
                }
                levels.0[level][0] += classes.size(a) * classes.size(b) - right;
                levels.0[level][1] += right;
                Ok(())
            };
            let mut here: Option<(u128, usize)> = None;
            sort_tagged(
                scratch,
                "listed",
                half,
                |push| push_run(sources, thresholds, documents, context, push),
                |Tagged { key, .. }| {
                    let level = (key & 0xffff_ffff) as usize;
                    let pair = key >> 64 << 64;
                    match &mut here {
                        Some((open, highest)) if *open == pair => *highest = level,
                        _ => {
                            if let Some(before) = here.replace((pair, level)) {
                                finish(before)?;
                            }
                        }
                    }
                    Ok(())
                },
            )?;
            here.map_or(Ok(()), finish)
        },
        |Tagged {
             key,
             document,
             extra,
         }| {
            let level = (key & 0xffff_ffff) as usize;
            let found = [u64::from(document - extra), extra.into()];
            means.add(key >> 64, level, found, alike);
            Ok(())
        },
    )?;
    means.finish(alike);
    Ok(Sample {
        true_pairs: all[1],
        false_pairs: all[0],
        unknown,
        not_in_run,
        at: sample(thresholds, all, judged, &levels, &means),
    })
}
