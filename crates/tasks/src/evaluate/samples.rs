//! Compares the run with families that people have made, and with judged pairs.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::Evaluating;
use super::bootstrap::Graded;
use super::classes::{Classes, Pair, pairs_of};
use super::documents::{AnyKnown, Documents, FAMILIES, NONE, each_row, stop};
use super::list::PairList;
use super::rank::{Ranked, Ranking, SAME, place, ranking};
use lookalike_base::{Context, Result, Threshold, precision::share};
use lookalike_engine::table::Table;
use lookalike_store::{Sort, item};
use lookalike_text::read::lines::shorten;

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
    /// How the run's own score ranks the judged pairs; `None` if its list has no scores.
    pub ranking: Option<Ranking>,
    /// The measures that depend on the grades of judged pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graded: Option<Graded>,
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
pub(super) struct Levels(pub Vec<[u64; 2]>);

impl Levels {
    pub fn new(top: usize) -> Levels {
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

item! {
    /// Counts the pairs of a document: of `judged` pairs that reach `level` thresholds, `hits` are
    /// true.
    pub(super) struct Found {
        /// The document, or the class that it is in.
        class: u32,
        /// The family of the document.
        label: u32,
        level: u32,
        judged: u32,
        hits: u32,
    }
}

/// By threshold, the sum of the precisions of documents and the number of the documents. `alike`
/// gives the number of documents that share a class and a label.
pub(super) type Means = Vec<(f64, u64)>;

pub(super) fn means(sort: Sort<Found>, top: usize, alike: impl Fn(&Found) -> u64) -> Result<Means> {
    let mut sums = vec![(0.0, 0); top];
    let key = |found: &Found| (found.class, found.label);
    sort.finish()?.groups(key, |first, all| {
        let mut levels = Levels::new(top);
        while let Some(found) = all.next()? {
            let [wrong, right] = &mut levels.0[found.level as usize];
            *wrong += u64::from(found.judged - found.hits);
            *right += u64::from(found.hits);
        }
        for (threshold, (sum, documents)) in sums.iter_mut().enumerate() {
            let [wrong, right] = levels.from(threshold);
            if let Some(precision) = share(right, right + wrong) {
                *sum += precision * alike(&first) as f64;
                *documents += alike(&first);
            }
        }
        Ok(())
    })?;
    Ok(sums)
}

/// Assembles the results; `levels` counts the pairs found.
pub(super) fn sample(
    thresholds: &[Threshold],
    judged: [u64; 2],
    documents: u64,
    levels: &Levels,
    means: &[(f64, u64)],
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
    means.iter().enumerate().map(at).collect()
}

/// Passes on the pairs of the run, each with the number of thresholds that it reaches and its place
/// in the order of scores, which is above 0.
pub(super) fn each_pair(
    of: Evaluating<'_>,
    documents: &Documents,
    mut each: impl FnMut(Pair, u32, u64) -> Result<()>,
) -> Result<()> {
    let run = &of.sources.run;
    let mut pairs = PairList::open(&run.pairs, run.columns.as_ref())?;
    while let Some(listed) = pairs.next(of.thresholds)? {
        stop(&pairs.table, of.context)?;
        let [a, b] = listed.documents;
        let a = documents.run.root(documents.find(a, &pairs.table)?);
        let b = documents.run.root(documents.find(b, &pairs.table)?);
        if a != b {
            each(Pair::new(a, b), listed.level as u32, place(listed.score))?;
        }
    }
    Ok(())
}

/// Memory of a document for families: its family, [`Classes`], and the names of families.
pub(super) const FAMILY_BYTES: u64 = 4 + 12 + 64;

/// The content of a file of families.
struct Families {
    /// For each document, its family.
    of: Vec<u32>,
    /// For each family, the number of its documents.
    members: Vec<u64>,
    unknown: u64,
    not_in_run: u64,
}

impl Families {
    fn read(path: &Path, documents: &Documents, context: &Context<'_>) -> Result<Families> {
        let count = documents.count() as usize;
        let mut families = Families {
            of: vec![NONE; count],
            members: Vec::new(),
            unknown: 0,
            not_in_run: 0,
        };
        let mut names: HashMap<u128, u32> = HashMap::new();
        let mut seen = vec![false; count];
        let mut any_known = AnyKnown::default();
        each_row(Table::open(path)?, &FAMILIES, context, |table, row| {
            let document = documents.of(table, &row[0])?;
            any_known.see(document, documents, table, &row[0]);
            if row[1].is_empty() {
                return Err(table.bad("a family", "an empty field"));
            }
            let next = names.len() as u32;
            let number = *names.entry(xxh3_128(&row[1])).or_insert(next);
            if number == next {
                families.members.push(0);
            }
            let family = &mut families.of[document as usize];
            if std::mem::replace(&mut seen[document as usize], true) {
                if documents.known(document) && *family != number {
                    let expected = "the family that an earlier line gives this docno";
                    return Err(table.bad(expected, shorten(&row[1])));
                }
                return Ok(());
            }
            if !documents.known(document) {
                families.unknown += 1;
                return Ok(());
            }
            families.not_in_run += u64::from(!documents.in_run(document));
            *family = number;
            families.members[number as usize] += 1;
            Ok(())
        })?;
        any_known.check()?;
        Ok(families)
    }

    /// The composition of the classes of the run.
    fn classes(self, documents: &Documents) -> Classes {
        let with_family = (0..documents.count()).filter(|&d| self.of[d as usize] != NONE);
        let labelled = with_family.map(|d| (documents.run.root(d), self.of[d as usize]));
        Classes::new(documents.count(), labelled)
    }
}

item! {
    /// A pair of classes that the run lists, with the number of thresholds that it reaches.
    struct ListedClasses {
        classes: Pair,
        place: u64,
        level: u32,
    }
}

/// Compares the run with families.
pub(super) fn families(path: &Path, of: Evaluating<'_>, documents: &Documents) -> Result<Sample> {
    let top = of.top();
    let families = Families::read(path, documents, of.context)?;
    let (unknown, not_in_run) = (families.unknown, families.not_in_run);
    let judged: u64 = families.members.iter().sum();
    let true_pairs: u64 = families.members.iter().map(|&n| pairs_of(n)).sum();
    let all = [pairs_of(judged) - true_pairs, true_pairs];
    let classes = families.classes(documents);
    let mut levels = Levels::new(top);
    let mut found = of.sort_beside(2, "documents")?;
    let mut ranked = of.sort_beside(2, "ranking")?;
    // The count of each member of `label` in `class`: `hits` of `judged` pairs are true.
    let mut put = |class: u32, label: u32, level: usize, judged: u64, hits: u64| {
        if level == 0 || judged == 0 {
            return Ok(());
        }
        found.push(Found {
            class,
            label,
            level: level as u32,
            judged: judged as u32,
            hits: hits as u32,
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
        ranked.push(Ranked::placed(SAME, [pairs_of(size) - right, right]))?;
    }
    let mut listed = of.sort_beside(2, "listed")?;
    each_pair(of, documents, |classes, level, place| {
        listed.push(ListedClasses::new(classes, place, level))
    })?;
    let key = |listed: &ListedClasses| listed.classes;
    listed.finish()?.groups(key, |first, all| {
        let Pair { a, b } = first.classes;
        let (mut level, mut place) = (0, 0);
        while let Some(listed) = all.next()? {
            // The highest score comes last.
            (level, place) = (listed.level as usize, listed.place);
        }
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
        let wrong = classes.size(a) * classes.size(b) - right;
        levels.0[level][0] += wrong;
        levels.0[level][1] += right;
        ranked.push(Ranked::placed(place, [wrong, right]))
    })?;
    let means = means(found, top, |found| classes.with(found.class, found.label))?;
    Ok(Sample {
        true_pairs: all[1],
        false_pairs: all[0],
        unknown,
        not_in_run,
        at: sample(of.thresholds, all, judged, &levels, &means),
        ranking: ranking(ranked, all, of)?,
        graded: None,
    })
}
