//! Chowdhury et al. 2002: filters, I-Match, DSC and DSC-SS.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe, *Collection statistics for fast duplicate document
//! detection*, 2002. Tables I to XI, Figures 1 to 4, sections 4.3 and 4.6.
//!
//! # Algorithm
//! - Tables II and IX: every combination of filters and every variant, in one reading of the texts
//!   ([`methods::filters`], [`methods::variants`]).
//! - Tables V, VI, VII, VIII and XI, Figures 1 and 4: the methods are run.
//! - Tables III and IV and section 4.3: edited copies of ten documents among all documents, at
//!   several rates of edits.
//!
//! # Where we depart from the source
//! - The paper does not state its rate of edits. The tables here have several.
//! - Table IX counts the duplicates of a cluster without its first document: with the variant
//!   `IDF-l-f9` the largest cluster is 2, and there are more duplicates than clusters. The columns
//!   here do the same.
//! - Table IX counts terms and sizes after filtering over the documents that are left, and counts
//!   all of their terms: `Doc-l-f9` keeps a tenth of the terms and has the same average.

use super::model::{mean, pairs};
use super::published::{Measured, Rows};
use super::{Bench, Cell, cells, rows, table};
use crate::compare::{Families, MethodRow};
use crate::perturb::{Chowdhury, Recipe};
use lookalike_base::{Bits, Result, count, counted, listed, percent};
use lookalike_engine::collection::{Catalogue, each_document};
use lookalike_methods::{self as methods, Counts, Variants};
use lookalike_store::Workspace;

/// Documents of which copies are made, if there are as many.
const ORIGINALS: u64 = 10;
/// Every how many words one is edited, with a probability of one half.
const RATES: [u32; 3] = [5, 20, 80];
/// The methods of Tables III and IV.
const COPIES: [(&str, &str); 5] = [
    ("DSC", "shingles:preset=broder97"),
    ("DSC-SS-2", "super-shingles"),
    ("DSC-SS-4", "super-shingles:k=4"),
    ("DOC-L-90", "i-match:variant=doc-l-90"),
    ("IDF-L-10", "i-match"),
];
/// The thresholds of DSC (section 4.1), after the method's default.
const THRESHOLDS: [&str; 5] = [
    "",
    ",threshold=0.6",
    ",threshold=0.7",
    ",threshold=0.8",
    ",threshold=0.9",
];
/// The variants of I-Match that are timed: the best two of the paper.
const TIMED: [(&str, &str); 2] = [
    ("idf-l-10", "i-match"),
    ("doc-l-90", "i-match:variant=doc-l-90"),
];
/// The techniques of Tables VII and VIII.
const TECHNIQUES: [&str; 4] = ["DSC", "DSC-SS", "I-Match", "Syntactic"];
/// Shingles in a super-shingle, of Tables V, VI and XI.
const SUPER: [u32; 10] = [2, 4, 5, 10, 15, 20, 25, 50, 75, 100];

/// A number for each method of [`COPIES`].
type Five = [f64; 5];

/// Edited copies at one rate.
struct Edited {
    /// Edits per copy.
    edits: f64,
    /// By document and then on average: its name, and by method the share found and the clusters.
    rows: Vec<(String, Five, Five)>,
    /// By method, over all families: the share found, clusters per family, false positives.
    found: Five,
    clusters: Five,
    false_positives: [u64; 5],
}

/// The documents that a method compares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Kept {
    documents: u64,
    words: u64,
    bytes: u64,
    /// Documents that are not exact duplicates, and their shingles.
    representatives: u64,
    shingles: u64,
}

impl Kept {
    /// Mean words, bytes and shingles of a document.
    fn means(&self) -> [f64; 3] {
        let documents = self.documents as f64;
        let shingles = self.shingles as f64 / self.representatives as f64;
        [
            self.words as f64 / documents,
            self.bytes as f64 / documents,
            shingles,
        ]
    }
}

/// A super-shingle of `k` shingles.
struct SuperShingles<'r> {
    k: u32,
    kept: Kept,
    row: &'r MethodRow,
}

/// The methods to run for each of [`TECHNIQUES`]. The last one is the syntactic filter of Figure 1.
fn techniques() -> [Vec<String>; 4] {
    let super_shingles = SUPER.map(|k| match k {
        2 => "super-shingles".into(),
        _ => format!("super-shingles:k={k}"),
    });
    [
        THRESHOLDS
            .map(|of| format!("shingles:preset=broder97{of}"))
            .into(),
        super_shingles.into(),
        TIMED.map(|(_, spec)| spec.into()).into(),
        vec!["syntactic:filters=nosc+stem".into()],
    ]
}

/// Measures the rows of the tables and the values of the claims.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Measured) -> Result<()> {
    let context = bench.context();
    let scratch = bench.scratch()?.to_path_buf();
    bench.note("the combinations of filters")?;
    let filters = methods::filters(&bench.base, &scratch, &context)?;
    bench.note("the variants of I-Match")?;
    let variants = methods::variants(&bench.base, &scratch, &context)?;
    made.table("table-2", table_ii(&filters));
    table_ix(&variants, made);
    made.claim("special characters", special_characters(&filters));
    made.claim("filters and variants", beyond_filters(&filters, &variants));
    variant_claims(&variants, made);
    let all = kept(&bench.base, None)?;
    made.table("table-1", [cells!["this one", all.documents, all.bytes]]);
    let techniques = techniques();
    let compared = bench.compare(&bench.base, &techniques.concat(), None)?;
    let mut rows = compared.methods.into_iter();
    let rows = techniques.map(|specs| rows.by_ref().take(specs.len()).collect::<Vec<_>>());
    by_technique(&rows, made);
    let mut shingled = Vec::new();
    for (k, row) in SUPER.into_iter().zip(&rows[1]) {
        let (made, _) = bench.method(&bench.base, &row.method)?;
        let kept = kept(&bench.base, Some(&made))?;
        shingled.push(SuperShingles { k, kept, row });
    }
    by_size(&shingled, &all, made);
    let most = variants.counts.iter();
    let most = most
        .map(|of| variants.all.documents - of.kept.documents)
        .max();
    let ignored = rows[0].first().map_or(0, |row| row.ignored);
    table!(made, "figure-4", [ignored, most.unwrap_or(0)] of in &shingled =>
        of.k, all.documents - of.kept.documents);
    let sizes: Vec<(u32, f64, f64)> = shingled.iter().map(|of| of.short(&all)).collect();
    short_claims(&sizes, &variants, made);
    let originals = bench.originals(ORIGINALS)?;
    let rates = RATES.into_iter().filter(|_| originals > 0);
    let rates = rates.map(|every| edited(bench, every, originals));
    let rates = rates.collect::<Result<Vec<_>>>()?;
    copies(&rates, made);
    found_claims(&rates, made);
    Ok(())
}

/// The documents that a method compares: those with features, and their exact duplicates. All
/// documents without a method.
fn kept(base: &Workspace, made: Option<&Workspace>) -> Result<Kept> {
    let representatives = Catalogue::representatives(base)?;
    let mut with = Bits::new(representatives.len());
    if let Some(made) = made {
        each_document(made, |number, document| {
            if document.shingles > 0 {
                with.insert(number);
            }
            Ok(())
        })?;
    }
    let mut kept = Kept::default();
    each_document(base, |number, document| {
        let first = representatives.of(number);
        if made.is_some() && !with.contains(first) {
            return Ok(());
        }
        kept.documents += 1;
        kept.words += document.words;
        kept.bytes += document.length;
        if first == number {
            kept.representatives += 1;
            kept.shingles += u64::from(document.shingles);
        }
        Ok(())
    })?;
    Ok(kept)
}

/// Copies of some documents, with one edit in `2 * every` words, among all documents.
fn edited(bench: &Bench<'_>, every: u32, originals: u64) -> Result<Edited> {
    let recipe = Recipe::Chowdhury(Chowdhury {
        every,
        ..Chowdhury::default()
    });
    let copies = bench.copies(&format!("chowdhury-{every}"), recipe, originals, true)?;
    let specs = COPIES.map(|(_, spec)| spec);
    let of = bench.compare(&copies.collection, &specs, Some(&copies.edits))?;
    Ok(Edited::of(&of.families.unwrap_or_default()))
}

impl Edited {
    fn of(families: &Families) -> Edited {
        let points = families.curves.first().into_iter();
        let points = points.flat_map(|curve| &curve.points);
        let edits: u64 = points.map(|point| point.0 * point.1).sum();
        let sums: [[u64; 4]; 5] = std::array::from_fn(|n| families.sums(n));
        let found = sums.map(|[documents, found, ..]| found as f64 / documents as f64);
        let clusters = sums.map(|[_, _, clusters, _]| clusters as f64 / families.originals as f64);
        let number = |of: &[u64], n: usize| of.get(n).map_or(f64::NAN, |n| *n as f64);
        let each = families.rows.iter().map(|row| {
            let share = |n| number(&row.found, n) / row.documents as f64;
            let clusters = std::array::from_fn(|n| number(&row.clusters, n));
            (row.original.clone(), std::array::from_fn(share), clusters)
        });
        Edited {
            edits: edits as f64 / families.copies as f64,
            rows: each.chain([("Average".into(), found, clusters)]).collect(),
            found,
            clusters,
            false_positives: sums.map(|[.., wrong]| wrong),
        }
    }
}

impl SuperShingles<'_> {
    /// Shingles in a super-shingle, the share of the documents that are ignored, and the mean words
    /// of the others.
    fn short(&self, all: &Kept) -> (u32, f64, f64) {
        let ignored = 1.0 - self.kept.documents as f64 / all.documents as f64;
        (self.k, ignored, self.kept.means()[0])
    }
}

/// Mean, standard deviation and median.
fn spread(numbers: &[f64]) -> [f64; 3] {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let average = mean(sorted.iter().copied());
    let squares: f64 = sorted.iter().map(|n| (n - average).powi(2)).sum();
    // A single number has no deviation: the division by 0 gives NaN, an empty cell.
    let deviation = (squares / (n as f64 - 1.0)).sqrt();
    let middle = sorted
        .get(n.saturating_sub(1) / 2..=n / 2)
        .unwrap_or_default();
    [average, deviation, mean(middle.to_vec())]
}

/// Whether numbers never fall, and the last is above the first.
fn rises(numbers: &[f64]) -> bool {
    let ends = numbers.first().zip(numbers.last());
    numbers.is_sorted() && ends.is_some_and(|(first, last)| first < last)
}

/// Figure 1, Tables VII and VIII and their claims, from the rows of each technique.
fn by_technique(rows: &[Vec<MethodRow>; 4], made: &mut Measured) {
    let first = rows.each_ref().map(|rows| rows.first());
    let figure_1 = [3, 2, 0, 1].into_iter();
    let figure_1 = figure_1.filter_map(|n: usize| Some((TECHNIQUES[n], first[n]?)));
    table!(made, "figure-1", (name, row) in figure_1 =>
        name, row.method.as_str(), row.pairs, row.clusters);
    let found = [1, 0, 2, 3].map(|n: usize| first[n].map_or(0, |row| row.pairs));
    made.claim("restrictiveness", restrictiveness(found));
    let sets = first[1].map(|row| (row.sets.unwrap_or(0), row.clusters));
    made.claim("several sets", several_sets(sets));
    let seconds = rows.each_ref().map(|rows| {
        let seconds = rows.iter().map(|row| row.cpu_seconds);
        seconds.collect::<Vec<f64>>()
    });
    for name in ["table-7", "table-8"] {
        table!(made, name, (name, of) in TECHNIQUES.into_iter().zip(&seconds) =>
            name, of.len() as u64; spread(of));
    }
    let [dsc, ss, i_match, _] = seconds.map(mean);
    time_claims(dsc, ss, i_match, made);
}

fn table_ii(filters: &Variants) -> Rows {
    let all = filters.all.documents;
    rows!(of in &filters.counts =>
        of.name.as_str(), of.lexicon as f64 / filters.lexicon as f64, of.duplicates() as f64 / all as f64,
        all - of.duplicates(), all - of.kept.documents)
}

/// Tables III and IV, and the false positives of section 4.3.
fn copies(rates: &[Edited], made: &mut Measured) {
    let all = || {
        rates
            .iter()
            .flat_map(|rate| pairs([rate.edits], &rate.rows))
    };
    table!(made, "table-3", (edits, (document, found, _)) in all() =>
        edits, document.as_str(); *found);
    table!(made, "table-4", (edits, (document, _, clusters)) in all() =>
        edits, document.as_str(); *clusters);
    table!(made, "section-4.3", (n, rate) in pairs(0..COPIES.len(), rates) =>
        rate.edits, COPIES[n].0, rate.found[n], rate.clusters[n], rate.false_positives[n]);
}

/// Tables V, VI and XI: by the size of a super-shingle.
fn by_size(shingled: &[SuperShingles<'_>], all: &Kept, made: &mut Measured) {
    let gone = |of: &Kept| all.documents - of.documents;
    table!(made, "table-5", SuperShingles { k, kept, .. } in shingled =>
        *k, gone(kept), gone(kept) as f64 / all.documents as f64);
    let [words, bytes, shingles] = all.means();
    table!(made, "table-6", SuperShingles { k, kept, .. } in shingled =>
        *k, words, kept.means()[0], bytes, kept.means()[1]);
    table!(made, "table-11", SuperShingles { k, kept, row } in shingled =>
        *k, kept.documents, gone(kept), shingles, kept.means()[2], words, kept.means()[0],
        row.sets, row.cpu_seconds);
}

fn table_ix(variants: &Variants, made: &mut Measured) {
    let named = |count: u64, what: &str| match count {
        0 => format!("No document of this collection has {what}"),
        n => format!("{} have {what}", counted(n, "document")),
    };
    let (addresses, titles) = (variants.with_address, variants.with_title);
    let about = cells![named(addresses, "an address"), named(titles, "a title")];
    let all = variants.all;
    let mean = |sum: u64, documents: u64| sum as f64 / documents as f64;
    let known = |total: u64, n: u64| (total > 0).then_some(n);
    made.table_about("table-9", about, rows!(of in &variants.counts =>
        of.name.as_str(), of.kept.documents, all.documents - of.kept.documents,
        mean(all.terms, all.documents), mean(of.kept.terms, of.kept.documents),
        mean(all.words, all.documents), mean(of.kept.words, of.kept.documents),
        mean(of.kept.bytes, of.kept.documents), mean(of.hashed, of.kept.documents), mean(of.lexicon, variants.lexicon),
        of.duplicates(), known(addresses, of.same_address), known(titles, of.same_title), of.clusters,
        of.most_duplicates));
}

// The values of the claims. Each is a function of counts.

/// Figure 1. `pairs` has the number of pairs of DSC-SS, DSC, I-Match and the syntactic filter.
fn restrictiveness(pairs: [u64; 4]) -> Vec<Cell> {
    let any = pairs.iter().any(|n| *n > 0).then_some(true);
    let [ss, dsc, i_match, syntactic] = pairs;
    cells![ss, dsc, i_match, syntactic, any]
}

/// The counts of a combination of filters or a variant.
fn named<'v>(of: &'v Variants, name: &str) -> Option<&'v Counts> {
    of.counts.iter().find(|of| of.name == name)
}

/// Table II: unique documents with each filter, and whether the filter that keeps least of the
/// lexicon has the fewest.
fn special_characters(filters: &Variants) -> Vec<Cell> {
    let unique = ["sw", "tg5", "tl25", "nosc", "stem"]
        .into_iter()
        .filter_map(|name| {
            let found = named(filters, name)?.duplicates();
            Some((name, filters.all.documents - found))
        });
    let unique: Vec<(&str, u64)> = unique.collect();
    let own = unique.iter().find(|(name, _)| *name == "nosc");
    let others = |own: u64| unique.iter().all(|(name, n)| *name == "nosc" || own < *n);
    let shown = listed(", ", &unique, |(name, n)| format!("{name} {}", count(*n)));
    cells![shown, own.map(|(_, n)| others(*n))]
}

/// Section 4.2: the best timed variant of I-Match, the best combination of filters and the best of all
/// variants with the shares that they find, and whether the first finds more than the second.
fn beyond_filters(filters: &Variants, variants: &Variants) -> Vec<Cell> {
    let best = |of: &Variants, wanted: fn(usize, &str) -> bool| {
        let counts = of.counts.iter().enumerate();
        let counts = counts.filter(|(n, of)| wanted(*n, &of.name));
        let best = counts.map(|(_, of)| of).max_by_key(|of| of.duplicates());
        let best = best.cloned().unwrap_or_default();
        let share = best.duplicates() as f64 / of.all.documents as f64;
        (best.duplicates(), cells![best.name, share])
    };
    let (filter, any) = (best(filters, |_, _| true), best(variants, |n, _| n > 0));
    let two = best(variants, |_, name| TIMED.iter().any(|(of, _)| *of == name));
    let more = (filters.all.documents > 0).then_some(two.0 > filter.0);
    [two.1, filter.1, any.1, cells![more]].concat()
}

/// Section 4.3: sets and clusters of DSC-SS, and whether there are more sets.
fn several_sets(of: Option<(u64, u64)>) -> Vec<Cell> {
    let (sets, clusters) = of.unwrap_or_default();
    let several = of.filter(|_| sets > 0).map(|_| sets > clusters);
    cells![counted(sets, "set"), counted(clusters, "cluster"), several]
}

/// The claims about edited copies: whether each holds at every rate, and with what.
fn found_claims(rates: &[Edited], made: &mut Measured) {
    let known = !rates.is_empty() && rates.iter().all(|rate| rate.edits.is_finite());
    let mut claim = |name, holds: &dyn Fn(&Edited) -> bool, shows: &dyn Fn(&Edited) -> String| {
        let each = listed("; ", rates, |rate| {
            let finding = if holds(rate) { "holds" } else { "differs" };
            let (edits, shown) = (rate.edits, shows(rate));
            format!("{edits:.1} edits a copy: {shown} ({finding})")
        });
        made.claim(name, cells![each, known.then(|| rates.iter().all(holds))]);
    };
    // Some methods find more than all of some others.
    for (name, more, fewer) in [
        ("I-Match finds more", &[3, 4][..], &[0, 1, 2][..]),
        ("DSC finds more", &[0], &[1, 2]),
        ("larger super-shingles", &[1], &[2]),
        ("IDF-L-10 finds more", &[4], &[3]),
    ] {
        let holds = |of: &Edited| pairs(more, fewer).all(|(a, b)| of.found[*a] > of.found[*b]);
        let shows = |rate: &Edited| {
            let shown = COPIES.iter().zip(rate.found).enumerate();
            let shown = shown.filter(|(n, _)| more.contains(n) || fewer.contains(n));
            listed(", ", shown, |(_, ((name, _), found))| {
                format!("{name} {}", percent(found, 1))
            })
        };
        claim(name, &holds, &shows);
    }
    let numbers = |of: Five| {
        let each = of.iter().zip(COPIES);
        listed(", ", each, |(n, (name, _))| format!("{name} {n:.1}"))
    };
    let fewer_clusters = |rate: &Edited| {
        let [dsc, two, four, doc, idf] = rate.clusters;
        doc.max(idf) < dsc.min(two).min(four)
    };
    let none_is_wrong = |rate: &Edited| rate.false_positives[3..] == [0, 0];
    claim("fewer clusters", &fewer_clusters, &|rate| {
        numbers(rate.clusters)
    });
    let wrong = |rate: &Edited| numbers(rate.false_positives.map(|n| n as f64));
    claim("false positives", &none_is_wrong, &wrong);
}

/// The claims about short documents. `sizes` are shingles in a super-shingle, the share ignored and the
/// mean words of the others.
fn short_claims(sizes: &[(u32, f64, f64)], variants: &Variants, made: &mut Measured) {
    let shown = |of: &[(u32, f64, f64)], value: &dyn Fn(&(u32, f64, f64)) -> String| {
        let ends = of.first().into_iter().chain(of.last());
        listed(", ", ends, |end| {
            format!("{} with k = {}", value(end), end.0)
        })
    };
    let ignored: Vec<f64> = sizes.iter().map(|(_, share, _)| *share).collect();
    // With a large super-shingle no document may be left.
    let some = sizes.iter().filter(|(.., words)| words.is_finite());
    let some: Vec<_> = some.copied().collect();
    let words: Vec<f64> = some.iter().map(|(.., words)| *words).collect();
    let all = variants.all.documents;
    let doc = variants.counts.iter();
    let doc = doc.filter(|of| of.name.starts_with("doc-"));
    let most = doc.map(|of| all - of.kept.documents).max();
    let most = most.unwrap_or(0) as f64 / all as f64;
    let least = ignored.first().copied();
    let fewer = least.map(|least| most < 0.001 && most < least);
    let shares = shown(sizes, &|(_, share, _)| percent(*share, 1));
    let left = shown(&some, &|(.., words)| {
        format!("{} words", count(words.round() as u64))
    });
    let any = !sizes.is_empty();
    made.claim(
        "documents ignored",
        cells![shares, any.then(|| rises(&ignored))],
    );
    let longer = (words.len() > 1).then(|| rises(&words));
    made.claim("documents left", cells![left, longer]);
    let values = cells![percent(most, 2), least.unwrap_or(0.0), fewer];
    made.claim("variants ignore few", values);
}

/// The claims about mean CPU seconds.
fn time_claims(dsc: f64, ss: f64, i_match: f64, made: &mut Measured) {
    // Below, times are those of the machine rather than of the methods.
    let known =
        |a: f64, b: f64| a.is_finite() && b.is_finite() && a.max(b) >= 0.1 && a.min(b) > 0.0;
    let a_fifth = known(ss, i_match).then_some(ss >= 5.0 * i_match);
    let longer = known(dsc, ss).then_some(dsc > ss);
    made.claim("time of I-Match", cells![ss, i_match, a_fifth]);
    made.claim("time of DSC", cells![dsc, ss, longer]);
}

/// The claims about Table IX.
fn variant_claims(variants: &Variants, made: &mut Measured) {
    let all = variants.all.documents;
    let gone = |of: &Counts| (all - of.kept.documents) as f64 / all as f64;
    let shares = (1..=9).filter_map(|x| Some(gone(named(variants, &format!("idf-l-{x}0"))?)));
    let shares: Vec<f64> = shares.collect();
    let last = shares.last().copied();
    let best = variants.counts.iter().max_by_key(|of| of.duplicates());
    let best = best.cloned().unwrap_or_default();
    let common = (all > 0).then(|| ["idf-h-10", "doc-h-90"].contains(&best.name.as_str()));
    let rise = last.map(|last| rises(&shares) && last > 0.5);
    let found = best.duplicates();
    made.claim("best variant", cells![best.name, found, common]);
    made.claim("lower bounds", cells![last.unwrap_or(0.0), rise]);
}

#[cfg(test)]
mod tests {
    use super::super::Finding::{self, Differs, Holds, Untested};
    use super::super::Paper::Chowdhury2002;
    use super::super::published::{self, Published};
    use super::*;
    use lookalike_methods::Sizes;

    fn findings(measure: impl FnOnce(&mut Measured)) -> Vec<Finding> {
        published::findings(Chowdhury2002, measure)
    }

    fn finding(claim: &str, values: Vec<Cell>) -> Finding {
        findings(|made| made.claim(claim, values))[0]
    }

    /// The numbers of a published table: rows without the values that say which.
    fn printed(name: &str, keys: usize) -> Vec<Vec<f64>> {
        let file = Published::of(Chowdhury2002).unwrap();
        let rows = file.rows(name).iter();
        let rows = rows.map(|row| row.iter().skip(keys).filter_map(Cell::number).collect());
        rows.collect()
    }

    fn five(row: &[f64]) -> Five {
        row.try_into().unwrap()
    }

    fn rate(edits: f64, found: Five, clusters: Five, wrong: [u64; 5]) -> Edited {
        Edited {
            edits,
            rows: Vec::new(),
            found,
            clusters,
            false_positives: wrong,
        }
    }

    /// The averages of the paper, and numbers that contradict each claim at one rate.
    #[test]
    fn claims_about_copies() {
        let average = |name| five(&printed(name, 1)[10]);
        let (share, clusters) = (average("table-3").map(|n| n / 100.0), average("table-4"));
        let paper = || rate(5.0, share, clusters, [2, 1, 1, 0, 0]);
        let all = findings(|made| found_claims(&[paper()], made));
        assert_eq!(all, [Holds; 6]);
        let other = rate(
            13.0,
            [0.1, 0.4, 0.5, 0.3, 0.2],
            [8.0, 6.0, 5.0, 9.0, 9.5],
            [0, 0, 0, 1, 0],
        );
        let rates = [paper(), other];
        let all = published::found(Chowdhury2002, |made| found_claims(&rates, made));
        assert!(all.iter().all(|of| of.0 == Differs), "{all:?}");
        let here = &all[0].1;
        let (first, second) = here.split_once("; ").unwrap();
        assert!(
            first.starts_with("5.0 edits") && first.ends_with("(holds)"),
            "{here}"
        );
        assert!(
            second.starts_with("13.0 edits") && second.ends_with("(differs)"),
            "{here}"
        );
        assert_eq!(findings(|made| found_claims(&[], made)), [Untested; 6]);
    }

    fn counts(name: &str, kept: u64, unique: u64) -> Counts {
        Counts {
            name: name.into(),
            kept: Sizes {
                documents: kept,
                ..Sizes::default()
            },
            unique,
            ..Counts::default()
        }
    }

    fn of_100(counts: Vec<Counts>) -> Variants {
        Variants {
            all: Sizes {
                documents: 100,
                ..Sizes::default()
            },
            counts,
            ..Variants::default()
        }
    }

    #[test]
    fn claims_about_filters_and_variants() {
        let alone = ["none", "sw", "tg5", "tl25", "nosc", "stem"];
        let filters = |unique: [u64; 6]| {
            let all = alone.into_iter().zip(unique);
            of_100(all.map(|(name, n)| counts(name, 100, n)).collect())
        };
        let good = filters([90, 90, 88, 60, 40, 89]);
        let special = |of: Variants| finding("special characters", special_characters(&of));
        assert_eq!(special(good.clone()), Holds);
        assert_eq!(special(filters([90, 90, 88, 40, 40, 89])), Differs);
        assert_eq!(special(of_100(Vec::new())), Untested);
        let beyond = |idf: u64| {
            let variants = of_100(vec![
                counts("baseline", 100, 90),
                counts("idf-l-10", 100, idf),
            ]);
            finding("filters and variants", beyond_filters(&good, &variants))
        };
        assert_eq!([30, 50].map(beyond), [Holds, Differs]);
        let several = |of| finding("several sets", several_sets(Some(of)));
        assert_eq!(
            [(20, 7), (7, 7), (0, 0)].map(several),
            [Holds, Differs, Untested]
        );
        let order = |pairs| finding("restrictiveness", restrictiveness(pairs));
        let pairs = [[9, 5, 3, 1], [9, 5, 3, 4], [0; 4]];
        assert_eq!(pairs.map(order), [Holds, Differs, Untested]);
        // idf-l as in Table IX, and a variant that finds more than those of the common terms.
        let table = |last: u64, best: &str| {
            let mut all: Vec<Counts> = (1..=8)
                .map(|n| counts(&format!("idf-l-{n}0"), 100 - n, 90))
                .collect();
            all.push(counts("idf-l-90", last, last));
            all.push(counts(best, 100, 5));
            of_100(all)
        };
        let of = |last, best| findings(|made| variant_claims(&table(last, best), made));
        assert_eq!(of(46, "idf-h-10"), [Holds; 2]);
        assert_eq!(of(60, "doc-l-50"), [Differs; 2]);
    }

    #[test]
    fn claims_about_short_documents_and_times() {
        let (table_v, table_xi) = (printed("table-5", 1), printed("table-11", 1));
        let of = |n: usize| (SUPER[n], table_v[n][1] / 100.0, table_xi[n][2]);
        let sizes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(of);
        let i_match = |kept| of_100(vec![counts("doc-l-90", kept, kept)]);
        let short = |sizes: &[_], kept| findings(|made| short_claims(sizes, &i_match(kept), made));
        assert_eq!(short(&sizes, 100), [Holds; 3]);
        let mut turned = sizes;
        turned.reverse();
        assert_eq!(short(&turned, 90), [Differs; 3]);
        assert_eq!(short(&[], 90), [Untested; 3]);
        let times = printed("table-8", 1);
        let time = |dsc, ss, i_match| findings(|made| time_claims(dsc, ss, i_match, made));
        assert_eq!(time(times[0][0], times[1][0], times[2][0]), [Holds; 2]);
        assert_eq!(time(0.1, 0.2, 0.3), [Differs; 2]);
        assert_eq!(time(0.0, 0.0, 0.3), [Untested; 2]);
    }

    /// The published tables agree with each other, and with the methods that are run.
    #[test]
    fn published_tables_agree() {
        let web = 247_491.0;
        let (table_v, table_xi) = (printed("table-5", 0), printed("table-11", 0));
        let table_vi = printed("table-6", 0);
        for (n, (of, row)) in table_v.iter().zip(&table_xi).enumerate() {
            let k = f64::from(SUPER[n]);
            assert_eq!([of[0], row[0], table_vi[n][0]], [k; 3]);
            assert_eq!(table_vi[n][2], row[3]);
            // Table V counts against another total than Table XI.
            assert!((of[1] / web * 100.0 - of[2]).abs() < 0.01);
            assert!(row[1] + of[1] < web);
        }
        let table_ix = printed("table-9", 1);
        // The baseline is the first.
        assert_eq!(table_ix.len(), methods::variant_names().len() + 1);
        for row in table_ix {
            assert!(row[4] >= row[5] && row[6] >= 1.0, "{row:?}");
            assert_eq!(row[0] + row[1], web);
        }
        let averages = printed("section-4.3", 1);
        for (column, name) in ["table-3", "table-4"].into_iter().enumerate() {
            let table = printed(name, 1);
            for (n, averages) in averages.iter().enumerate() {
                let of = table.iter().take(10).map(|row| row[n]);
                assert!((mean(of) - table[10][n]).abs() < 0.06, "{n}");
                assert_eq!(averages[column], table[10][n]);
            }
        }
        assert_eq!(
            spread(&[1.0, 2.0, 3.0, 6.0])[..],
            [3.0, (14.0f64 / 3.0).sqrt(), 2.5]
        );
        assert!(spread(&[1.0])[1].is_nan() && spread(&[])[0].is_nan());
    }
}
