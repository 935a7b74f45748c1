//! Compare the pairs of the run with those of the ground truth.

use std::path::Path;

use super::classes::{Classes, pair_key, pair_of, pairs_of};
use super::documents::{Documents, Side, stop};
use super::list::PairList;
use super::{ListCounts, Sources};
use crate::Result;
use crate::base::budget::ByteSize;
use crate::base::ids::Threshold;
use crate::base::precision::{Counts, PairTable};
use crate::base::progress::Context;
use crate::store::{Tagged, sort_tagged};

/// Pairs by size group of the smaller document, and by whether both documents are in that group.
pub(super) struct Tally {
    groups: Vec<[PairTable; 2]>,
    /// Rows are the levels in the ground truth and columns those in the run, instead of the
    /// reverse.
    swapped: bool,
}

impl Tally {
    fn new(groups: usize, levels: usize, swapped: bool) -> Tally {
        let tables = || [PairTable::new(levels), PairTable::new(levels)];
        Tally {
            groups: (0..groups).map(|_| tables()).collect(),
            swapped,
        }
    }

    /// The cell for pairs of two size groups that reach this number of thresholds in the other list
    /// and in the base.
    fn cell(&mut self, groups: (u8, u8), other: usize, base: usize) -> &mut u64 {
        let (row, column) = if self.swapped {
            (base, other)
        } else {
            (other, base)
        };
        let group = usize::from(groups.0.min(groups.1));
        let table = &mut self.groups[group][usize::from(groups.0 != groups.1)];
        &mut table.cells[row * (table.thresholds + 1) + column]
    }

    /// For each group, same-group and cross-group pairs at a threshold.
    pub fn at(&self, threshold: usize) -> impl Iterator<Item = [Counts; 2]> {
        let counts =
            move |tables: &[PairTable; 2]| [tables[0].at(threshold), tables[1].at(threshold)];
        self.groups.iter().map(counts)
    }
}

/// The result of the comparison.
pub(super) struct Compared {
    /// Counts with each class of identical documents as one document.
    pub representatives: Tally,
    /// Counts with each document on its own.
    pub all: Tally,
    /// The counts of the lists: ground truth, run.
    pub counts: [ListCounts; 2],
    /// Pairs of identical documents in one directory, if the other list is a file that names none
    /// of them.
    pub unnamed: u64,
}

/// The list that a sorted pair comes from.
const TRUTH: usize = 0;
const RUN: usize = 1;

/// Compares the two lists; `truth` is one of `sources`.
pub(super) fn compare(
    sources: &Sources,
    thresholds: &[Threshold],
    documents: &Documents,
    scratch: &Path,
    memory: ByteSize,
    context: &Context<'_>,
) -> Result<Compared> {
    let top = thresholds.len().max(1);
    let groups = documents
        .size_groups
        .as_ref()
        .map_or(1, |groups| groups.count());
    // The base is the list whose classes group the pairs.
    let base_is = if !documents.truth.has_classes() && documents.run.has_classes() {
        RUN
    } else {
        TRUTH
    };
    let sides: [&Side; 2] = [&documents.truth, &documents.run];
    let (base, other) = (sides[base_is], sides[1 - base_is]);
    let new = || Tally::new(groups, top, base_is == RUN);
    let (mut representatives, mut all) = (new(), new());
    // All pairs, for the case that the other list is a file of representatives.
    let mut expanded = new();
    let mut duplicates = 0;
    // Pairs of the other list that are identical in the base: by level in the other list, and in
    // total.
    let (mut identical, mut taken) = (new(), new());

    // Known documents of each class of the base, stored at the document that represents the class.
    let mut sizes = vec![0u32; documents.count() as usize];
    // Identical documents have the same number of words, so a class has one size group. If the two
    // collections disagree, the lowest group counts.
    let mut class_group = vec![u8::MAX; documents.count() as usize];
    for document in (0..documents.count()).filter(|&document| documents.known(document)) {
        let root = base.root(document) as usize;
        sizes[root] += 1;
        class_group[root] = class_group[root].min(documents.group(document));
    }
    let size = |root: u32| u64::from(sizes[root as usize]);
    let group_of = |a: u32, b: u32| (class_group[a as usize], class_group[b as usize]);
    for root in (0..documents.count()).filter(|&root| size(root) >= 2) {
        *all.cell(group_of(root, root), 0, top) += pairs_of(size(root));
        *expanded.cell(group_of(root, root), top, top) += pairs_of(size(root));
        duplicates += pairs_of(size(root));
    }
    let mixed = other.has_classes().then(|| {
        let known = (0..documents.count()).filter(|&document| documents.known(document));
        let labelled = known.map(|document| (other.root(document), base.root(document)));
        Classes::new(documents.count(), labelled)
    });

    let half = ByteSize(memory.0 / 2);
    let mut counts = [ListCounts::default(), ListCounts::default()];
    let mut here = Here {
        pair: (0, 0),
        any: false,
        base: 0,
        others: vec![0; top + 1],
    };
    let mut finish = |here: &Here| {
        if !here.any {
            return;
        }
        let groups = group_of(here.pair.0, here.pair.1);
        let most = here
            .others
            .iter()
            .rposition(|&weight| weight > 0)
            .unwrap_or(0);
        *representatives.cell(groups, most, here.base) += 1;
        let mut rest = size(here.pair.0) * size(here.pair.1);
        *expanded.cell(groups, most, here.base) += rest;
        for (level, weight) in here.others.iter().enumerate() {
            *all.cell(groups, level, here.base) += weight;
            rest = rest.saturating_sub(*weight);
        }
        *all.cell(groups, 0, here.base) += rest;
    };
    sort_tagged(
        scratch,
        "pairs",
        half,
        |push| {
            // A pair of the other list stands for `weight` pairs of documents of these two classes
            // of the base.
            let mut put = |list: usize, a: u32, b: u32, level: usize, weight: u64| {
                if a == b {
                    *identical.cell(group_of(a, a), level, top) += weight;
                    *taken.cell(group_of(a, a), 0, top) += weight;
                    return Ok(true);
                }
                let kind = u128::from(list != base_is) << 32;
                push(Tagged {
                    key: pair_key(a, b) | kind | level as u128,
                    document: (weight >> 32) as u32,
                    extra: weight as u32,
                })
                .map(|()| false)
            };
            if let Some(mixed) = &mixed {
                for class in 0..documents.count() {
                    let labels = mixed.of(class);
                    for (i, &(a, n)) in labels.iter().enumerate() {
                        put(1 - base_is, a, a, top, pairs_of(n.into()))?;
                        for &(b, m) in &labels[i + 1..] {
                            put(1 - base_is, a, b, top, u64::from(n) * u64::from(m))?;
                        }
                    }
                }
            }
            let take = |list: usize, (a, b), level, counts: &mut ListCounts| {
                if list == base_is {
                    if size(a) * size(b) == 0 {
                        counts.unknown += 1;
                    } else {
                        put(list, a, b, level, 0)?;
                    }
                    return Ok(());
                }
                let Some(mixed) = &mixed else {
                    if !documents.known(a) || !documents.known(b) {
                        counts.unknown += 1;
                    } else if put(list, base.root(a), base.root(b), level, 1)? {
                        counts.identical += 1;
                    }
                    return Ok(());
                };
                let mut same = false;
                for &(a, n) in mixed.of(a) {
                    for &(b, m) in mixed.of(b) {
                        same |= put(list, a, b, level, u64::from(n) * u64::from(m))?;
                    }
                }
                counts.unknown += u64::from(mixed.of(a).is_empty() || mixed.of(b).is_empty());
                counts.identical += u64::from(same);
                Ok(())
            };
            counts = distinct(sources, thresholds, documents, scratch, half, context, take)?;
            Ok(())
        },
        |Tagged {
             key,
             document,
             extra,
         }| {
            let pair = pair_of(key);
            if here.pair != pair {
                finish(&here);
                here.pair = pair;
                here.base = 0;
                here.others.fill(0);
            }
            let level = (key & 0xffff_ffff) as usize;
            if key >> 32 & 1 == 0 {
                here.base = level;
            } else {
                here.others[level] += u64::from(document) << 32 | u64::from(extra);
            }
            here.any = true;
            Ok(())
        },
    )?;
    finish(&here);
    for ((all, identical), taken) in all
        .groups
        .iter_mut()
        .zip(&identical.groups)
        .zip(&taken.groups)
    {
        for kind in 0..2 {
            all[kind].add(&identical[kind]);
            for (sum, n) in all[kind].cells.iter_mut().zip(&taken[kind].cells) {
                *sum -= n;
            }
        }
    }
    let file = !other.has_classes() && base.has_classes();
    let unnamed = if file && counts[1 - base_is].identical == 0 {
        duplicates
    } else {
        0
    };
    // A run has missed the pairs that it does not list. A ground truth that names none of the pairs
    // of identical documents does not say that they are false.
    if unnamed > 0 && base_is == RUN {
        all = expanded;
    }
    Ok(Compared {
        representatives,
        all,
        counts,
        unnamed,
    })
}

/// The current pair of classes, while its lines arrive.
struct Here {
    pair: (u32, u32),
    any: bool,
    /// Number of thresholds that it reaches in the base; 0 if the base does not list it.
    base: usize,
    /// Pairs of documents of the two classes in the other list, by the number of thresholds
    /// reached.
    others: Vec<u64>,
}

/// Passes on the distinct pairs of both lists, each with the highest level at which it is listed:
/// pairs of classes if the list has classes, otherwise pairs of documents.
fn distinct(
    sources: &Sources,
    thresholds: &[Threshold],
    documents: &Documents,
    scratch: &Path,
    memory: ByteSize,
    context: &Context<'_>,
    mut take: impl FnMut(usize, (u32, u32), usize, &mut ListCounts) -> Result<()>,
) -> Result<[ListCounts; 2]> {
    let mut read = [ListCounts::default(); 2];
    let mut counts = [ListCounts::default(); 2];
    // Pair and list, and the level so far. The highest level comes last.
    let mut here: Option<(u128, usize)> = None;
    let mut finish = |(key, level): (u128, usize), counts: &mut [ListCounts; 2]| {
        let list = (key & 1) as usize;
        counts[list].pairs += 1;
        take(list, pair_of(key), level, &mut counts[list])
    };
    sort_tagged(
        scratch,
        "listed",
        memory,
        |push| {
            let lists = [(TRUTH, sources.truth.as_ref()), (RUN, Some(&sources.run))];
            for (list, source) in lists {
                let Some(source) = source else { continue };
                let side = if list == TRUTH {
                    &documents.truth
                } else {
                    &documents.run
                };
                let mut pairs = PairList::open(&source.pairs, source.columns.as_ref())?;
                while let Some(listed) = pairs.next(thresholds)? {
                    stop(pairs.table(), context)?;
                    read[list].lines += 1;
                    let [x, y] = listed.documents;
                    if x == y {
                        read[list].to_themselves += 1;
                        continue;
                    }
                    let a = side.root(documents.find(x, pairs.table())?);
                    let b = side.root(documents.find(y, pairs.table())?);
                    if a == b {
                        read[list].identical += 1;
                        continue;
                    }
                    push(Tagged {
                        key: pair_key(a, b) | list as u128,
                        document: listed.level as u32,
                        extra: 0,
                    })?;
                }
            }
            Ok(())
        },
        |Tagged { key, document, .. }| {
            match &mut here {
                Some((open, level)) if *open == key => {
                    counts[(key & 1) as usize].repeated += 1;
                    *level = document as usize;
                }
                _ => {
                    if let Some(before) = here.replace((key, document as usize)) {
                        finish(before, &mut counts)?;
                    }
                }
            }
            Ok(())
        },
    )?;
    if let Some(last) = here {
        finish(last, &mut counts)?;
    }
    for (counts, read) in counts.iter_mut().zip(read) {
        counts.lines = read.lines;
        counts.to_themselves = read.to_themselves;
        counts.identical += read.identical;
    }
    Ok(counts)
}
