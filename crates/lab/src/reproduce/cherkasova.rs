//! Cherkasova et al.: four algorithms over windows of bytes.
//!
//! # Source
//! Cherkasova, Eshghi, Morrey, Tucek & Veitch, *Applying syntactic similarity algorithms for
//! enterprise information management*, 2009: Tables 1 and 2, Figures 1 to 11.
//!
//! # Algorithm
//! The research corpus is the first [`ORIGINALS`] documents of the collection and copies of them
//! with known numbers of edits ([`crate::perturb`]): words inserted at random places, inserted
//! at even distances, or removed. Figures 2 to 8 compare the signatures of originals and copies.
//! Figure 9 and Table 2 join the collection once by each algorithm, at the lowest threshold, and
//! count the pairs of the list at every threshold.
//!
//! # Where we depart from the paper
//! It has copies with every number of edits from 1 to 50; we make copies with the numbers of [`EDITS`]. Its
//! documents have 9 to 540 KB.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use super::model::{mean, pairs};
use super::published::{Measured, Rows};
use super::{Bench, Cell, Copies, cells, rows, table};
use crate::compare::{Agreement, Comparison, Distribution, Levels, agree, at_levels, each_copy};
use crate::perturb::{Cherkasova, EditCounts, EditPlaces, Operation, Recipe};
use crate::study::Moments;
use lookalike_base::{Criterion, PROCESS_BYTES, Result, Threshold, percent};
use lookalike_engine::collection::{TextReader, config, each_document, segments};
use lookalike_methods::{Keyer, Spec};
use lookalike_store::Workspace;

/// Documents of the research corpus.
const ORIGINALS: u64 = 100;
/// The numbers of edits, and the greatest.
const EDITS: [u32; 8] = [1, 2, 5, 10, 20, 30, 40, MOST];
const MOST: u32 = 50;
/// Bytes in a window, for Figures 2 and 3, and the methods there.
const WINDOWS: [u64; 7] = [5, 10, 20, 40, 60, 80, 100];
const WINDOWED: [&str; 2] = ["mod:n=100", "bsw:n=400"];
/// The algorithms of Figure 7.
const RESEARCH: [&str; 4] = ["mod:n=500", "min", "sketch", "bsw:n=500"];
/// Coarse and fine samples, of Figures 5 and 6.
const FREQUENCIES: [&str; 4] = ["sketch:n=10", "sketch", "bsw:n=1000", "bsw:n=100"];
/// The algorithms of section 5, for short documents, and their names in the paper.
const METHODS: [&str; 4] = ["mod", "min", "sketch", "bsw"];
const NAMES: [&str; 4] = ["Mod100", "Min100", "Sketch100", "BSW100"];
/// The thresholds of Figure 9, in per cent, and the place of 70 %, that of Table 2.
const THRESHOLDS: [u64; 11] = [40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90];
const AT_70: usize = 6;
/// Similarities at which distributions are printed.
const SIMILARITIES: [f64; 9] = [0.0, 0.01, 0.02, SLIGHT, 0.06, 0.1, 0.2, 0.3, 0.5];
/// A similarity up to this is slight.
const SLIGHT: f64 = 0.04;
/// Bytes of the text of Figure 11, and its windows.
const TEXT_BYTES: usize = 500_000;
const TIMED_WINDOWS: [u64; 4] = [5, 20, 50, 100];

/// Measures the rows of the tables and the values of the claims; nothing without documents to copy.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Measured) -> Result<()> {
    let originals = bench.originals(ORIGINALS)?;
    if originals == 0 {
        return Ok(());
    }
    let research = Research::new(bench, originals)?;
    research.signatures(made);
    research.samples(made);
    research.algorithms(bench, originals, made)?;
    enterprise(bench, made)?;
    time(bench, made)
}

/// Mean similarity by the number of edits.
type Points = Vec<(u64, f64)>;

/// The curve of a method. Specifications of one method have one name.
fn curve(of: &Comparison, spec: &str) -> Points {
    let name = name(spec);
    let curves = of.families.iter().flat_map(|of| &of.curves);
    let points = curves.filter(|of| of.method == name);
    let points = points.flat_map(|of| &of.points);
    points.map(|&(edits, _, mean, _)| (edits, mean)).collect()
}

/// The name of a method that was run: parameters with their defaults are not in it.
fn name(spec: &str) -> String {
    Spec::read(spec).map_or_else(|_| spec.into(), |spec| spec.to_string())
}

/// A method with a window.
fn window(method: &str, bytes: u64) -> String {
    format!("{method},window={bytes}")
}

/// A method with each window of Figures 2 and 3.
fn windows(method: &str) -> [String; 7] {
    WINDOWS.map(|bytes| window(method, bytes))
}

/// The last value of a curve: with the most edits.
fn last(points: &Points) -> Option<f64> {
    points.last().map(|(_, mean)| *mean)
}

/// Share of the pairs with a similarity of at most `most`.
fn share_at_most(of: &Distribution, most: f64) -> Option<f64> {
    let similar = of.similar.partition_point(|&similarity| similarity <= most) as u64;
    let none = of.pairs - of.similar.len() as u64;
    (of.pairs > 0).then(|| (none + similar) as f64 / of.pairs as f64)
}

/// A copy of each original with each number of edits: words inserted or removed, at random or
/// evenly. The methods are compared on them.
fn edited(
    bench: &Bench<'_>,
    originals: u64,
    name: &str,
    edit: Operation,
    spread: EditPlaces,
    specs: &[impl AsRef<str>],
) -> Result<(Copies, Comparison)> {
    let recipe = Recipe::Cherkasova(Cherkasova {
        edit,
        edits: EditCounts(EDITS.to_vec()),
        spread,
        ..Cherkasova::default()
    });
    let copies = bench.copies(name, recipe, originals, false)?;
    let compared = bench.compare(&copies.collection, specs, Some(&copies.edits))?;
    Ok((copies, compared))
}

/// Originals and their copies with insertions, for Table 1 and Figures 1 to 8.
struct Research {
    compared: Comparison,
    /// Words and number of each original, the shortest first.
    by_size: Vec<(u64, u32)>,
    /// The similarity of a copy, by method, original and edits.
    by_copy: HashMap<(&'static str, u32, u64), f64>,
}

impl Research {
    fn new(bench: &Bench<'_>, originals: u64) -> Result<Research> {
        let windowed = WINDOWED.into_iter().flat_map(windows);
        let each = BTreeSet::from_iter([FREQUENCIES, RESEARCH].concat());
        let specs = windowed.chain(each.iter().map(ToString::to_string));
        let specs: BTreeSet<String> = specs.map(|spec| name(&spec)).collect();
        let specs: Vec<String> = specs.into_iter().collect();
        let (insert, edit, spread) = ("cherkasova-insert", Operation::Insert, EditPlaces::Random);
        let (copies, compared) = edited(bench, originals, insert, edit, spread, &specs)?;
        let mut by_copy = HashMap::new();
        for spec in each {
            let measure = Spec::read(spec)?.method.join.measure;
            let workspace = bench.method(&copies.collection, spec)?.0;
            let of = (&workspace, measure);
            let each = each_copy(&copies.collection, of, &copies.edits, &bench.context())?;
            for (original, edits, similarity) in each {
                by_copy.entry((spec, original, edits)).or_insert(similarity);
            }
        }
        let originals: BTreeSet<u32> = by_copy.keys().map(|(_, original, _)| *original).collect();
        let mut by_size = Vec::new();
        each_document(&copies.collection, |number, document| {
            if originals.contains(&number) {
                by_size.push((document.words, number));
            }
            Ok(())
        })?;
        by_size.sort_unstable();
        Ok(Research {
            compared,
            by_size,
            by_copy,
        })
    }

    fn curves<const N: usize>(&self, specs: [&str; N]) -> [Points; N] {
        specs.map(|spec| curve(&self.compared, spec))
    }

    /// Share of the pairs of originals with a similarity of at most `most`.
    fn share(&self, spec: &str, most: f64) -> Option<f64> {
        let name = name(spec);
        let families = self.compared.families.iter();
        let mut all = families.flat_map(|of| &of.distributions);
        share_at_most(all.find(|of| of.method == name)?, most)
    }

    fn of_copy(&self, spec: &'static str, original: u32, edits: u32) -> Option<f64> {
        self.by_copy.get(&(spec, original, edits.into())).copied()
    }

    /// The similarities of all copies with the most edits, that of the shortest document first.
    fn at_most(&self, spec: &'static str) -> Vec<f64> {
        let each = self.by_size.iter();
        each.filter_map(|&(_, original)| self.of_copy(spec, original, MOST))
            .collect()
    }

    /// Table 1 and Figures 1 to 4: signatures, and windows.
    fn signatures(&self, made: &mut Measured) {
        let entries = |spec: &str| {
            let mut methods = self.compared.methods.iter();
            let row = methods.find(|row| row.method == name(spec))?;
            Some(row.keys as f64 / self.compared.representatives.max(1) as f64)
        };
        table!(made, "table-1", spec in RESEARCH => spec, entries(spec));
        table!(made, "figure-1", (n, (words, _)) in (1u64..).zip(&self.by_size) => n, *words);
        let windowed = WINDOWED.map(windows);
        let specs: Vec<&str> = windowed.as_flattened().iter().map(String::as_str).collect();
        made.table("figure-2", self.by_edits(&specs));
        table!(made, "figure-3", (spec, most) in pairs(specs, SIMILARITIES) =>
            spec, most, self.share(spec, most));
        let sides = windowed.iter().flat_map(|specs| {
            let ends = specs.iter().map(|spec| last(&curve(&self.compared, spec)));
            let ends: Vec<f64> = ends.flatten().collect();
            [ends.first().copied(), ends.last().copied()]
        });
        made.claim("larger windows", cells![; sides]);
        let overlaps = pairs(WINDOWED, [5, 10, 20, 100]);
        let overlaps = overlaps.map(|(method, bytes)| self.share(&window(method, bytes), 0.0));
        let overlaps = overlaps.map(|without| without.map(|share| 1.0 - share));
        made.claim("small windows", cells![; overlaps]);
        let slightly = |spec: &str| Some(self.share(spec, SLIGHT)? - self.share(spec, 0.0)?);
        let specs = ["mod:n=100", "min", "sketch", "bsw:n=100"];
        table!(made, "figure-4", (spec, most) in pairs(specs, SIMILARITIES) =>
            spec, most, self.share(spec, most), slightly(spec).filter(|_| most == SLIGHT));
        let [of_mod, of_bsw] = ["mod:n=100", "bsw:n=100"].map(slightly);
        let more = of_mod.zip(of_bsw).map(|(a, b)| a > b);
        let [a, b] = [of_mod, of_bsw].map(|share| share.map(|share| percent(share, 2)));
        made.claim("slight similarity", cells![a, b, more]);
    }

    /// The mean similarities of some methods, by the number of edits.
    fn by_edits(&self, specs: &[&str]) -> Rows {
        let points = |spec: &&str| pairs([spec.to_string()], curve(&self.compared, spec));
        rows!((spec, (edits, mean)) in specs.iter().flat_map(points) => spec, edits, mean)
    }

    /// Figures 5 and 6: sampling frequency, and each document.
    fn samples(&self, made: &mut Measured) {
        made.table("figure-5", self.by_edits(&FREQUENCIES));
        made.claim("frequency", farthest(&self.curves(FREQUENCIES)));
        let rows = pairs(FREQUENCIES, (1u64..).zip(&self.by_size));
        let rows = rows.map(|(spec, (n, (_, of)))| (spec, n, self.of_copy(spec, *of, MOST)));
        let rows = rows.filter(|(.., similarity)| similarity.is_some());
        table!(made, "figure-6", (spec, n, similarity) in rows => spec, n, similarity);
        let deviation = |spec| Moments::of(&self.at_most(spec)).map(|of| of.deviation);
        made.claim("few samples", cells![; FREQUENCIES.map(deviation)]);
    }

    /// Figures 7 and 8: the algorithms side by side, and each document.
    fn algorithms(&self, bench: &Bench<'_>, originals: u64, made: &mut Measured) -> Result<()> {
        let inserted = self.curves(RESEARCH);
        let other = |name, edit, spread| -> Result<[Points; 4]> {
            let (_, compared) = edited(bench, originals, name, edit, spread, &RESEARCH)?;
            Ok(RESEARCH.map(|spec| curve(&compared, spec)))
        };
        let removed = other("cherkasova-remove", Operation::Remove, EditPlaces::Random)?;
        let evenly = other("cherkasova-even", Operation::Insert, EditPlaces::Uniform)?;
        let at = |curve: &Points, edits| Some(curve.iter().find(|point| point.0 == edits)?.1);
        let rows = inserted.iter().enumerate();
        let rows = rows.flat_map(|(n, points)| pairs([n], points.clone()));
        table!(made, "figure-7", (n, (edits, mean)) in rows =>
            RESEARCH[n], edits, mean, at(&removed[n], edits), at(&evenly[n], edits));
        made.claim("few edits", range_of_few_edits(&inserted));
        let ends = |curves: &[Points; 4]| curves.each_ref().map(last);
        made.claim("insertions", cells![; ends(&inserted)]);
        made.claim("removals", cells![; ends(&removed)]);
        made.claim("removed words", means(ends(&removed), ends(&inserted)));
        made.claim("even distances", means(ends(&evenly), ends(&inserted)));
        let rows = pairs(RESEARCH, (1u64..).zip(&self.by_size));
        table!(made, "figure-8", (spec, (n, (_, of))) in rows =>
            spec, n, self.of_copy(spec, *of, 5), self.of_copy(spec, *of, MOST));
        let (sketch, bsw) = (self.at_most("sketch"), self.at_most("bsw:n=500"));
        made.claim("short documents", halves(&sketch, &bsw));
        Ok(())
    }
}

/// Figures 9 and 10, Table 2.
fn enterprise(bench: &Bench<'_>, made: &mut Measured) -> Result<()> {
    let context = bench.context();
    let (mut workspaces, mut levels, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for method in METHODS {
        let spec = format!("{method}:threshold=0.4");
        let (workspace, _) = bench.method(&bench.base, &spec)?;
        let measure = Spec::read(&spec)?.method.join.measure;
        let criteria = THRESHOLDS.iter().filter_map(|&hundredths| {
            let threshold = Threshold::new(hundredths, 100)?;
            Some(Criterion { measure, threshold })
        });
        let of = Levels::new(&workspace, criteria.collect(), &context)?;
        counts.push(at_levels(&workspace, &of, None, &context)?);
        workspaces.push(workspace);
        levels.push(of);
    }
    let pairs = |level: usize, method: usize| counts[method].get(level).map(|at| at.pairs);
    table!(made, "figure-9", (level, of) in THRESHOLDS.into_iter().enumerate() =>
        of as f64 / 100.0; (0..METHODS.len()).map(|method| pairs(level, method)));
    table!(made, "figure-10", (share, words) in sizes(&bench.base)? => share, words);
    let keep = |method: usize, pair| levels[method].reached(&pair) > AT_70;
    let agreement = agree(&workspaces, keep, &context)?;
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let [a, b, c, d] = [0, 1, 2, 3].map(|method| pairs(AT_70, method).unwrap_or(0));
    let names = NAMES.into_iter().chain(["any", "all four"]);
    let rows = names.zip([a, b, c, d, agreement.any, all]).enumerate();
    table!(made, "table-2", (n, (name, pairs)) in rows =>
        name, pairs, agreement.alone.get(n).copied());
    let found = (a + b + c + d > 0).then_some(true);
    made.claim("pairs at 70 %", cells![a, b, c, d, found]);
    made.claim("agreement", found_by_all(&agreement));
    Ok(())
}

/// Words of documents by the share of documents that are shorter.
fn sizes(base: &Workspace) -> Result<Vec<(f64, u64)>> {
    // By the number of words: bounded by the number of different lengths, in steps of 1 % for long
    // documents.
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut documents = 0u64;
    each_document(base, |_, document| {
        let step = (document.words / 100).max(1);
        *counts.entry(document.words / step * step).or_default() += 1;
        documents += 1;
        Ok(())
    })?;
    let mut shares = Vec::new();
    let (mut before, mut counts) = (0, counts.into_iter().peekable());
    for twentieth in 0..=20u64 {
        let wanted = (documents * twentieth / 20).min(documents.saturating_sub(1));
        while let Some((_, n)) = counts.next_if(|(_, n)| before + n <= wanted) {
            before += n;
        }
        if let Some((words, _)) = counts.peek() {
            shares.push((twentieth as f64 / 20.0, *words));
        }
    }
    Ok(shares)
}

/// Figure 11.
fn time(bench: &Bench<'_>, made: &mut Measured) -> Result<()> {
    let context = bench.context();
    let what = || "the features of a text of 500 KB".to_string();
    let least = PROCESS_BYTES + 64 * TEXT_BYTES as u64;
    context.budget.require(least, what)?;
    let text = text(&bench.base)?;
    let parse = &config(&bench.base.manifest).shingle.parse;
    let mut rows = Vec::new();
    for (method, window) in pairs(METHODS, TIMED_WINDOWS) {
        bench.note(&format!("{method}: window of {window} bytes"))?;
        let spec = Spec::read(&format!("{method}:window={window}"))?;
        let keys = spec.method.prepare(&bench.base, &context)?;
        let mut keyer = Keyer::new(&keys, parse);
        let begin = Instant::now();
        keyer.keys(&text, &mut Vec::new());
        rows.push((method, window, begin.elapsed().as_secs_f64()));
    }
    let seconds = rows.chunks_exact(TIMED_WINDOWS.len());
    let means = seconds.map(|of| mean(of.iter().map(|row| row.2)));
    made.claim("time of Sketch", cells![; means]);
    table!(made, "figure-11", [text.len() as u64] (method, window, seconds) in rows =>
        method, window, seconds);
    Ok(())
}

/// Texts of the collection, one after the other, up to [`TEXT_BYTES`].
fn text(base: &Workspace) -> Result<String> {
    let mut bytes = Vec::new();
    'segments: for segment in segments(&base.manifest) {
        let Some(mut texts) = TextReader::of(base, segment)? else {
            continue;
        };
        while texts.next_length()?.is_some() {
            while let Some(piece) = texts.piece()? {
                bytes.extend_from_slice(piece);
                if bytes.len() >= TEXT_BYTES {
                    break 'segments;
                }
            }
            bytes.push(b' ');
        }
    }
    bytes.truncate(TEXT_BYTES);
    let whole = bytes.utf8_chunks().next();
    Ok(whole.map_or_else(String::new, |whole| whole.valid().into()))
}

// The values of the claims. Each is a function of counts.

/// How far the means of two frequencies are apart, at most. The curves are those of two coarse and
/// fine samples: coarse, fine, coarse, fine.
fn farthest(curves: &[Points]) -> Vec<Cell> {
    let pairs = curves.chunks_exact(2);
    let points = pairs.flat_map(|pair| pair[0].iter().zip(&pair[1]));
    let apart = points.map(|(coarse, fine)| (coarse.1 - fine.1).abs());
    cells![apart.reduce(f64::max)]
}

/// How far the means of some curves are apart at fewer than 10 edits, at most.
fn range_of_few_edits(curves: &[Points]) -> Vec<Cell> {
    let few = curves.first().into_iter().flatten();
    let few = few.filter(|point| point.0 < 10);
    let apart = few.map(|(edits, _)| {
        let at = curves.iter();
        let at = at.flat_map(|points| points.iter().find(|p| p.0 == *edits));
        let range = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) = at.fold(range, |(a, b), point| (a.min(point.1), b.max(point.1)));
        most - least
    });
    cells![apart.reduce(f64::max)]
}

/// The means of the ends of some curves and of others, if each curve has an end.
fn means(ends: [Option<f64>; 4], others: [Option<f64>; 4]) -> Vec<Cell> {
    let mean = |of: [Option<f64>; 4]| of.into_iter().collect::<Option<Vec<f64>>>().map(mean);
    cells![mean(ends), mean(others)]
}

/// The means of the similarities of Sketch and BSW in the shorter and in the longer half of the
/// documents, of which the shortest is the first.
fn halves(sketch: &[f64], bsw: &[f64]) -> Vec<Cell> {
    let halves = [sketch, bsw].map(|of| of.split_at(of.len() / 2));
    let halves = halves.iter().flat_map(|(short, long)| [short, long]);
    halves.map(|of| mean(of.to_vec()).into()).collect()
}

/// The pairs that all methods find and those that any does, and whether the first are fewer than
/// 60 %. In the paper they are 12 of 65 and 45 of 81.
fn found_by_all(agreement: &Agreement) -> Vec<Cell> {
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let any = agreement.any;
    cells![all, any, (any > 0).then_some(all * 10 < any * 6)]
}

#[cfg(test)]
mod tests {
    use super::super::Paper::Cherkasova2009;
    use super::super::published;
    use super::*;

    fn assert_findings(claim: &str, values: [Vec<Cell>; 3]) {
        published::assert_findings(Cherkasova2009, claim, values);
    }

    /// Curves that fall by this much from 1 edit to 50.
    fn falling<const N: usize>(by: [f64; N]) -> [Points; N] {
        by.map(|by| vec![(1, 1.0 - by / 50.0), (50, 1.0 - by)])
    }

    #[test]
    fn claims_about_windows() {
        let of = |values: [Option<f64>; 4]| cells![; values];
        let sides = [
            [Some(0.97), Some(0.66), Some(0.9), Some(0.5)],
            [Some(0.97), Some(0.66), Some(0.5), Some(0.5)],
            [None, None, Some(0.5), Some(0.4)],
        ];
        assert_findings("larger windows", sides.map(of));
        let overlaps = |ten, twenty| [Some(1.0), ten, twenty, Some(0.1)];
        let overlaps = [
            overlaps(Some(0.9), Some(0.5)),
            overlaps(Some(0.4), Some(0.5)),
            overlaps(None, Some(0.5)),
        ];
        assert_findings(
            "small windows",
            overlaps.map(|of| [cells![; of], cells![; of]].concat()),
        );
    }

    #[test]
    fn claims_about_samples() {
        let (near, far) = (
            falling([0.4, 0.42, 0.3, 0.33]),
            falling([0.4, 0.42, 0.3, 0.36]),
        );
        assert_findings("frequency", [&near[..], &far, &[]].map(farthest));
        let deviations = [
            cells![0.4, 0.1, 0.4, 0.1],
            cells![0.4, 0.1, 0.1, 0.4],
            cells![0.4, 0.1, None::<f64>, None::<f64>],
        ];
        assert_findings("few samples", deviations);
    }

    #[test]
    fn claims_about_algorithms() {
        let (near, far) = (falling([0.2, 0.2, 0.4, 0.4]), falling([0.2, 0.2, 9.0, 0.4]));
        let few = [&near[..], &far, &[]].map(range_of_few_edits);
        assert_findings("few edits", few);
        let report = |by: [Option<f64>; 4]| cells![; by];
        for claim in ["insertions", "removals"] {
            let (a, b, low) = (Some(0.8), Some(0.5), Some(0.6));
            let curves = [[a, a, low, low], [a, b, low, low], [a, a, low, None]];
            assert_findings(claim, curves.map(report));
        }
        let below = |others: f64| {
            means(
                [Some(others); 4],
                [Some(0.7), Some(0.7), Some(0.6), Some(0.6)],
            )
        };
        let none = means([Some(0.7), None, Some(0.7), None], [Some(0.7); 4]);
        for claim in ["removed words", "even distances"] {
            assert_findings(claim, [below(0.6), below(0.9), none.clone()]);
        }
        let (rising, level) = ([0.1, 0.9], [0.5, 0.5]);
        let short = [
            halves(&rising, &rising),
            halves(&rising, &level),
            halves(&[], &rising),
        ];
        assert_findings("short documents", short);
        let seconds = [
            cells![0.1, 0.2, 1.0, 0.1],
            cells![0.1, 2.0, 1.0, 0.1],
            cells![0.1, 0.2, f64::NAN, 0.1],
        ];
        assert_findings("time of Sketch", seconds);
    }

    #[test]
    fn claims_about_pairs() {
        let pairs = [
            cells![61u64, 50u64, 40u64, 45u64, true],
            cells![61u64, 40u64, 40u64, 45u64, true],
            cells![0u64, 0u64, 0u64, 0u64, None::<bool>],
        ];
        assert_findings("pairs at 70 %", pairs);
        assert_findings(
            "slight similarity",
            [Some(true), Some(false), None].map(|more| cells!["", "", more]),
        );
        let agreement = |(all, any)| Agreement {
            any,
            by_methods: vec![any - all, 0, 0, all],
            ..Agreement::default()
        };
        let agreements = [(12, 65), (60, 65), (0, 0)].map(agreement);
        assert_findings("agreement", agreements.map(|of| found_by_all(&of)));
    }

    #[test]
    fn shares_of_a_distribution() {
        let of = Distribution {
            method: "m".into(),
            pairs: 10,
            similar: vec![0.02, 0.04, 0.3],
        };
        let shares = [0.0, 0.04, 0.1, 1.0].map(|most| share_at_most(&of, most));
        assert_eq!(shares, [Some(0.7), Some(0.9), Some(0.9), Some(1.0)]);
    }
}
