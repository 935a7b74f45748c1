//! Bernstein & Zobel: SPEX and DECO.
//!
//! # Source
//! Bernstein & Zobel, *Accurate discovery of co-derivative documents via duplicate text detection*,
//! 2006: sections 4.3 and 8, Tables 1 to 4, Figures 1 to 5.
//!
//! # Algorithm
//! SPEX runs with the paper's number of counters. One pass over the posting lists of its chunks
//! gives the growth of Figure 5: the chunk of a list is shared from the second document of the list
//! on. For each score, the pairs at its lowest threshold are joined once and counted at all five.
//!
//! # Where we depart from the paper
//! - A chunk counts as duplicate if two documents have it. The paper also counts chunks that one
//!   document repeats.
//! - People judged the pairs of Tables 3 and 4. Here the reference are the pairs of documents with
//!   nearly the same words (`cosine`), a definition without chunks.
//! - Table 2 has nine edits of a report by different authors. Here there are an original and eight
//!   copies in which about one word in twenty is edited, for up to ten originals.
//! - Modulo selections are made of all chunks. SPEX loses no shared chunk, so the pairs are the same.

use std::collections::HashMap;

use serde::Deserialize;

use super::model::pairs;
use super::published::Measured;
use super::{Bench, Cell, cells, table};
use crate::compare::{AtLevel, Levels, at_levels};
use crate::formulas::missed;
use crate::perturb::{Chowdhury, Recipe};
use crate::study::line;
use lookalike_base::{
    Context, Criterion, Measure, Result, count, counted, listed, percent, precision::share,
};
use lookalike_engine::collection::{Catalogue, each_document};
use lookalike_engine::join::{List, each_pair};
use lookalike_engine::merge::{AllPostings, PostingsEntry};
use lookalike_methods::{DECO_THRESHOLDS, SPEX_FILE, deco_at};
use lookalike_store::{Workspace, disk};

/// The stage in messages.
const STAGE: &str = super::STAGE;
/// 2^26 counters of two bits, as in Figure 3(a). Exact counting makes all posting lists.
const CHUNKS: &str = "deco:memory=16MiB,counting=exact";
/// The same with exact duplicates in the index.
const WITH_DUPLICATES: &str = "deco:memory=16MiB,counting=exact,duplicates=keep";
/// 2^23 counters, as in Figure 3(b), with and without refinement.
const FEW_COUNTERS: [&str; 2] = ["deco:memory=2MiB", "deco:memory=2MiB,iterate=false"];
/// The method whose pairs are the reference.
const REFERENCE: &str = "cosine";
/// Points of Figure 5.
const STEPS: u64 = 20;
/// Originals and copies of each for Table 2.
const ORIGINALS: u64 = 10;
const COPIES: u32 = 8;
const MODULO: [u64; 3] = [1, 16, 256];

/// The pairs of a score at a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scored {
    modulo: u64,
    /// 0 for S1.
    score: usize,
    /// 0 for T1.
    threshold: usize,
    pairs: u64,
    /// Pairs of the reference among them.
    known: u64,
}

impl Scored {
    fn precision(&self) -> Option<f64> {
        share(self.known, self.pairs)
    }

    /// The names of the score and the threshold.
    fn names(&self) -> (String, String) {
        let (score, threshold) = (self.score + 1, self.threshold + 1);
        (format!("S{score}"), format!("T{threshold}"))
    }

    fn coverage(&self, reference: u64) -> f64 {
        self.known as f64 / reference as f64
    }

    /// Harmonic mean of precision and coverage.
    fn f1(&self, reference: u64) -> f64 {
        let both = (self.pairs + reference).max(1);
        2.0 * self.known as f64 / both as f64
    }
}

/// A score at T1 to T5, divided by the modulo.
fn criteria(score: usize, modulo: u64) -> Vec<Criterion> {
    let of_table = DECO_THRESHOLDS[score].into_iter();
    let joins = of_table.filter_map(|hundredths| deco_at(score, hundredths, modulo));
    joins.map(|join| join.criterion()).collect()
}

/// Joins features by each score, and counts the pairs at each threshold.
fn scored(
    bench: &Bench<'_>,
    features: &Workspace,
    (name, modulo): (&str, u64),
    mut known: impl FnMut(&Workspace, &Levels) -> Result<Vec<AtLevel>>,
) -> Result<Vec<Scored>> {
    let mut all = Vec::new();
    for score in 0..4 {
        let criteria = criteria(score, modulo);
        let name = format!("{name}-s{}-{modulo}", score + 1);
        let pairs = bench.pairs(features, &name, criteria[0])?;
        let levels = Levels::new(&pairs, criteria, &bench.context())?;
        let counts = known(&pairs, &levels)?.into_iter().enumerate();
        all.extend(counts.map(|(threshold, AtLevel { pairs, known })| Scored {
            modulo,
            score,
            threshold,
            pairs,
            known,
        }));
    }
    Ok(all)
}

/// Measures the rows of the tables and the values of the claims.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Measured) -> Result<()> {
    let bench = &*bench;
    let (chunks, _) = bench.method(&bench.base, CHUNKS)?;
    counters_and_growth(bench, &chunks, made)?;
    sizes(bench, &chunks, made)?;
    let thresholds = |row: [u64; 5]| row.map(|hundredths| hundredths as f64 / 100.0);
    table!(made, "table-1", (score, row) in (1..).zip(DECO_THRESHOLDS) =>
        format!("S{score}"); thresholds(row));
    table_2(bench, made)?;
    scores(bench, &chunks, made)?;
    made.claim("lost pairs", lost_as_predicted(bench, &chunks)?);
    Ok(())
}

/// Sections 4.3 to 8.1: Figures 1 to 5.
fn counters_and_growth(bench: &Bench<'_>, chunks: &Workspace, made: &mut Measured) -> Result<()> {
    let passes = passes(chunks)?;
    let refined = FEW_COUNTERS.map(|spec| self::passes(&bench.method(&bench.base, spec)?.0));
    let refined = refined.into_iter().collect::<Result<Vec<_>>>()?;
    let growth = growth(chunks, STEPS, &bench.context())?;
    let all = passes.last().map_or(0, |pass| pass.chunks);
    let last = growth.last().copied().unwrap_or_default();
    let chunks = [
        ("all", all),
        ("shared", last.instances),
        ("shared, each once", last.distinct),
    ];
    table!(made, "section-4.3", (chunks, here) in chunks => chunks, here, here as f64 / all as f64);
    let names = ["2^26, refined", "2^23, refined", "2^23, not refined"];
    let runs = names.into_iter().zip([&passes].into_iter().chain(&refined));
    let runs = runs.flat_map(|(name, passes)| pairs([name], passes));
    table!(made, "figure-3", (name, pass) in runs => name, pass.words, pass.once, pass.more);
    table!(made, "figure-5", of in &growth => of.bytes, of.documents, of.instances, of.distinct);
    made.claim("unique chunks", unique(all, last));
    made.claim("occupied counters", most_occupied(&passes));
    made.claim("collisions", repeated(&refined));
    made.claim("growth", straight(&growth));
    Ok(())
}

/// Tables 3 and 4.
fn scores(bench: &Bench<'_>, chunks: &Workspace, made: &mut Measured) -> Result<()> {
    let (reference, found) = bench.method(&bench.base, REFERENCE)?;
    let pairs = found.join.map_or(0, |join| join.pairs);
    let known = |pairs: &Workspace, levels: &Levels| {
        at_levels(pairs, levels, Some(&reference), &bench.context())
    };
    let mut all = scored(bench, chunks, ("bernstein", MODULO[0]), known)?;
    for modulo in MODULO.into_iter().skip(1) {
        let (features, _) = bench.method(&bench.base, &selection(modulo))?;
        all.extend(scored(bench, &features, ("bernstein", modulo), known)?);
    }
    for (name, sampled) in [("table-3", false), ("table-4", true)] {
        let named = all.iter().map(|at| (at, at.names()));
        let named = named.filter(|(at, _)| (at.modulo > 1) == sampled);
        table!(made, name, [pairs] (at, (score, threshold)) in named =>
            at.modulo, score, threshold, at.pairs, at.coverage(pairs), at.precision());
    }
    made.claim("lengths", best_of_scores(&all, pairs));
    made.claim("thresholds", ends(&all));
    made.claim("modulo", best_of_modulo(&all, pairs));
    Ok(())
}

/// The method that selects one chunk in so many.
fn selection(modulo: u64) -> String {
    format!("deco:selection=modulo-{modulo}")
}

/// A line of `spex.tsv`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
struct Pass {
    words: u64,
    chunks: u64,
    #[serde(rename = "fields_one")]
    once: u64,
    #[serde(rename = "fields_more")]
    more: u64,
}

/// The passes of a SPEX that was run.
fn passes(workspace: &Workspace) -> Result<Vec<Pass>> {
    let bytes = disk::read_all(&workspace.directory().join(SPEX_FILE))?;
    let mut table = csv::ReaderBuilder::new();
    let table = table.delimiter(b'\t').comment(Some(b'#'));
    let passes = table.from_reader(&bytes[..]).into_deserialize();
    Ok(passes.filter_map(std::result::Result::ok).collect())
}

/// A prefix of the collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Prefix {
    documents: u64,
    bytes: u64,
    /// Chunks of documents that another document of the prefix has too.
    instances: u64,
    /// The same chunks, each counted once.
    distinct: u64,
}

/// The shared chunks of prefixes of the collection, from its posting lists. The memory does not
/// depend on the collection.
fn growth(workspace: &Workspace, steps: u64, context: &Context<'_>) -> Result<Vec<Prefix>> {
    let documents = Catalogue::stats(workspace)?.documents;
    let mut by_step = vec![Prefix::default(); steps as usize];
    let step = |document: u32| (u64::from(document) * steps / documents.max(1)) as usize;
    each_document(workspace, |number, document| {
        if let Some(prefix) = by_step.get_mut(step(number)) {
            prefix.documents += 1;
            prefix.bytes += document.length;
        }
        Ok(())
    })?;
    workspace.record::<PostingsEntry>("merge")?;
    AllPostings::<u64>::of(workspace, documents).each(|block| {
        context.stop.check(STAGE)?;
        for list in block.lists() {
            // The second document makes the chunk a shared one, of two documents.
            for (n, &document) in list.iter().enumerate().skip(1) {
                if let Some(prefix) = by_step.get_mut(step(document)) {
                    prefix.instances += if n == 1 { 2 } else { 1 };
                    prefix.distinct += u64::from(n == 1);
                }
            }
        }
        Ok(())
    })?;
    let mut sum = Prefix::default();
    for step in &mut by_step {
        lookalike_base::add!(sum, step => documents, bytes, instances, distinct);
        *step = sum;
    }
    Ok(by_step)
}

/// Documents in the posting lists, their bytes, and the CPU seconds of making them.
fn index(workspace: &Workspace) -> Result<(u64, u64, f64)> {
    let postings = workspace.record::<PostingsEntry>("merge")?;
    let costs = ["keys", "sample", "sort", "merge"].iter();
    let costs = costs.filter_map(|stage| workspace.manifest.costs.get(*stage));
    let bytes = postings.parts.values().map(|part| part.bytes).sum();
    let seconds = costs.map(|cost| cost.cpu_seconds).sum();
    Ok((postings.stats.entries, bytes, seconds))
}

/// Sections 8.2 and 8.3.
fn sizes(bench: &Bench<'_>, chunks: &Workspace, made: &mut Measured) -> Result<()> {
    let without = index(chunks)?;
    let with = index(&bench.method(&bench.base, WITH_DUPLICATES)?.0)?;
    let mut text = 0u64;
    each_document(&bench.base, |_, document| {
        text += document.length;
        Ok(())
    })?;
    let (entries, bytes, seconds) = without;
    made.table(
        "section-8.2",
        [cells![text, bytes, bytes as f64 / text as f64, seconds]],
    );
    let indexes = [("kept", with), ("removed", without)];
    table!(made, "section-8.3", (which, (entries, bytes, _)) in indexes => which, entries, bytes);
    let duplicates = Catalogue::stats(&bench.base)?.exact_duplicates;
    made.claim("exact duplicates", saved(with.0, entries, duplicates));
    Ok(())
}

/// Edited copies of some documents.
fn table_2(bench: &Bench<'_>, made: &mut Measured) -> Result<()> {
    let originals = bench.originals(ORIGINALS)?;
    if originals == 0 {
        return Ok(());
    }
    let recipe = Recipe::Chowdhury(Chowdhury {
        copies: COPIES,
        ..Chowdhury::default()
    });
    let copies = bench.copies("bernstein-copies", recipe, originals, false)?;
    // The number of each family with its members, and the family of each document.
    let mut names: HashMap<String, (usize, u64)> = HashMap::new();
    let mut families = Vec::new();
    each_document(&copies.collection, |_, document| {
        let docno = document.docno;
        let original = docno.rsplit_once('~').map_or(docno, |(of, _)| of);
        let next = names.len();
        let (family, members) = names.entry(original.into()).or_insert((next, 0));
        *members += 1;
        families.push(*family);
        Ok(())
    })?;
    let reference: u64 = names.values().map(|(_, n)| n * (n - 1) / 2).sum();
    let (features, _) = bench.method(&copies.collection, "deco:selection=full")?;
    let known = |pairs: &Workspace, levels: &Levels| {
        let mut counts = vec![AtLevel::default(); 5];
        each_pair(pairs, List::Pairs, |pair| {
            let [a, b] = [pair.a, pair.b].map(|document| families.get(document as usize));
            for at in counts.iter_mut().take(levels.reached(&pair)) {
                at.pairs += 1;
                at.known += u64::from(a == b);
            }
            Ok(())
        })?;
        Ok(counts)
    };
    let all = scored(bench, &features, ("bernstein-copies", 1), known)?;
    let named = all.iter().map(|at| (at, at.names()));
    table!(made, "table-2", [reference, originals, COPIES] (at, (score, threshold)) in named =>
        score, threshold, at.coverage(reference), at.precision());
    made.claim("lowest threshold", at_lowest(&all, reference));
    Ok(())
}

/// The share of the pairs that share about 64 chunks and fewer than two chunks of one in 16.
fn lost_as_predicted(bench: &Bench<'_>, chunks: &Workspace) -> Result<Vec<Cell>> {
    let one_in = MODULO[1];
    let [all, some] = [1, one_in].map(|modulo| criteria(0, modulo)[0]);
    let pairs = bench.pairs(chunks, "bernstein-s1-1", all)?;
    let (sampled, _) = bench.method(&bench.base, &selection(one_in))?;
    let sampled = bench.pairs(&sampled, &format!("bernstein-s1-{one_in}"), some)?;
    let band = [SHARED - 8, SHARED + 9].map(|least| Criterion {
        measure: Measure::Shared(least as u32),
        ..all
    });
    let levels = Levels::new(&pairs, band.to_vec(), &bench.context())?;
    let counts = at_levels(&pairs, &levels, Some(&sampled), &bench.context())?;
    let within = counts[0].pairs - counts[1].pairs;
    Ok(lost(within, within - (counts[0].known - counts[1].known)))
}

/// Shared chunks of the pairs that are looked at: four of them are expected among one in 16.
const SHARED: u64 = 64;

// The values of the claims. Each is a function of counts.

/// Fewer pairs than this say nothing about a share of 9.1 %.
const LEAST_PAIRS: u64 = 100;

/// `pairs` share about 64 chunks; of them, `lost` share fewer than two of one in 16.
fn lost(pairs: u64, lost: u64) -> Vec<Cell> {
    let predicted = missed(SHARED as f64, MODULO[1] as f64, 2).unwrap_or(0.0);
    let share = lost as f64 / pairs as f64;
    // Twice the deviation of the binomial distribution, and what overlapping chunks add.
    let margin = 2.0 * (predicted * (1.0 - predicted) / pairs as f64).sqrt() + 0.02;
    let near = (pairs >= LEAST_PAIRS).then_some((share - predicted).abs() <= margin);
    cells![pairs, lost, share, counted(pairs, "pair"), near]
}

/// The shares of the chunks that are in one document only, and of the distinct shared and the shared
/// ones.
fn unique(all: u64, shared: Prefix) -> Vec<Cell> {
    let part = |part: u64| part as f64 / all as f64;
    let instances = part(shared.instances);
    cells![1.0 - instances, part(shared.distinct), instances]
}

/// The pass with the most occupied counters, and the last one.
fn most_occupied(passes: &[Pass]) -> Option<Vec<Cell>> {
    let occupied = |pass: &Pass| pass.once + pass.more;
    let (most, last) = (
        passes.iter().max_by_key(|pass| occupied(pass))?,
        passes.last()?,
    );
    let shown = match most.words == last.words {
        true => "there are no longer ones".to_string(),
        false => format!(
            "for chunks of {} words, {}",
            last.words,
            count(occupied(last))
        ),
    };
    let values = cells![most.words, occupied(most), shown, occupied(last)];
    (occupied(most) > 0).then_some(values)
}

/// The counters of the last pass that say that a chunk is repeated, with and without refinement.
fn repeated(runs: &[Vec<Pass>]) -> Vec<Cell> {
    let last = |n: usize| Some(runs.get(n)?.last()?.more);
    cells![last(0), last(1)]
}

/// How much of the variance a straight line explains, and the chunks of half of the documents and of
/// all. A parabola's is 0.94.
fn straight(growth: &[Prefix]) -> Vec<Cell> {
    let points = growth.iter();
    let points = points.map(|prefix| (prefix.bytes as f64, prefix.instances as f64));
    let line = line(&points.collect::<Vec<_>>());
    let instances = |n: usize| growth.get(n).map_or(0, |prefix| prefix.instances);
    let (half, all) = (instances(growth.len() / 2 - 1), instances(growth.len() - 1));
    let line = line.filter(|_| instances(0) < all);
    let explained = line.map(|(_, explained)| explained);
    cells![explained, half, all]
}

/// Duplicates, and the share of the entries of posting lists that they cost, if there are entries.
fn saved(with: u64, without: u64, duplicates: u64) -> Option<Vec<Cell>> {
    let saved = (with as f64 - without as f64) / with as f64;
    let smaller = (duplicates > 0).then_some(saved > 0.0);
    (with > 0).then(|| cells![duplicates, saved, smaller])
}

/// Coverage at T1, and whether it is whole and nothing else is found.
fn at_lowest(all: &[Scored], reference: u64) -> Vec<Cell> {
    let at: Vec<&Scored> = all.iter().filter(|at| at.threshold == 0).collect();
    let whole = |at: &&Scored| at.known == reference && at.pairs == reference;
    let share = |at: &Scored| percent(at.coverage(reference), 1);
    let shown = listed(", ", &at, |at| format!("{} {}", at.names().0, share(at)));
    let known = reference > 0 && !at.is_empty();
    cells![shown, known.then(|| at.iter().all(whole))]
}

/// The highest F1 of each score, and whether that of S1 is below the others.
fn best_of_scores(all: &[Scored], reference: u64) -> Vec<Cell> {
    let of = |score: usize| {
        let at = all.iter().filter(|at| at.score == score && at.modulo == 1);
        at.map(|at| at.f1(reference)).fold(0.0, f64::max)
    };
    let best = [0, 1, 2, 3].map(of);
    let known = reference > 0 && best.iter().any(|f1| *f1 > 0.0);
    let shown = listed(", ", (1..).zip(&best), |(n, f1)| format!("S{n} {f1:.3}"));
    let better = known.then(|| best.iter().skip(1).all(|f1| *f1 > best[0]));
    cells![shown, better]
}

/// The precision of each score at its ends, and whether it never falls.
fn ends(all: &[Scored]) -> Vec<Cell> {
    let found = [0, 1, 2, 3].map(|score| {
        let of = all.iter().filter(|at| (at.modulo, at.score) == (1, score));
        of.filter_map(Scored::precision).collect::<Vec<f64>>()
    });
    let ends = (1..).zip(&found);
    let ends = ends.filter_map(|(n, of)| Some((n, *of.first()?, *of.last()?)));
    let ends: Vec<(usize, f64, f64)> = ends.collect();
    let shown = listed(", ", &ends, |(n, first, last)| {
        format!("S{n} from {} to {}", percent(*first, 1), percent(*last, 1))
    });
    let known = found.iter().all(|of| of.len() > 1);
    let rise = known.then(|| ends.iter().all(|(_, first, last)| last >= first));
    cells![shown, rise]
}

/// The best coverage of S2, S3 and S4 at each modulo, and nine tenths of the first one.
fn best_of_modulo(all: &[Scored], reference: u64) -> Vec<Cell> {
    let coverage = |modulo: u64| {
        let at = all.iter().filter(|at| at.modulo == modulo && at.score > 0);
        at.map(|at| at.coverage(reference)).fold(0.0, f64::max)
    };
    let best = MODULO.map(|modulo| (reference > 0).then(|| coverage(modulo)));
    cells![best[0], best[1], best[2], best[0].map(|full| 0.9 * full)]
}

#[cfg(test)]
mod tests {
    use super::super::Paper::Bernstein2006;
    use super::super::published;
    use super::*;

    fn assert_findings<V: Into<Option<Vec<Cell>>>>(claim: &str, values: [V; 3]) {
        published::assert_findings(Bernstein2006, claim, values);
    }

    fn prefixes(of: impl Fn(u64) -> u64) -> Vec<Prefix> {
        let prefix = |n| Prefix {
            documents: n,
            bytes: n * 1000,
            instances: of(n),
            distinct: of(n) / 2,
        };
        (1..=STEPS).map(prefix).collect()
    }

    fn at(score: usize, threshold: usize, modulo: u64, pairs: u64, known: u64) -> Scored {
        Scored {
            modulo,
            score,
            threshold,
            pairs,
            known,
        }
    }

    /// Two thresholds of each score: pairs, and those of a reference of 100.
    fn table(modulo: u64, s1: [(u64, u64); 2], others: [(u64, u64); 2]) -> Vec<Scored> {
        let rows = (0..4).flat_map(|score| {
            let row = if score == 0 { s1 } else { others };
            let rows = row.into_iter().enumerate();
            rows.map(move |(t, (pairs, known))| at(score, t, modulo, pairs, known))
        });
        rows.collect()
    }

    #[test]
    fn claims_about_chunks() {
        let shared = |instances| Prefix {
            instances,
            ..Prefix::default()
        };
        let unique = |(all, of)| unique(all, shared(of));
        assert_findings("unique chunks", [(100, 5), (100, 80), (0, 0)].map(unique));
        let linear = |of: fn(u64) -> u64| straight(&prefixes(of));
        let linear = [linear(|n| 7 * n), linear(|n| n * n * n), linear(|_| 0)];
        assert_findings("growth", linear);
        let cost = |(without, duplicates)| saved(100, without, duplicates);
        assert_findings("exact duplicates", [(90, 3), (100, 3), (100, 0)].map(cost));
        assert!(saved(0, 0, 3).is_none());
        // 9.2 % are predicted.
        let lost = [(1000, 92), (1000, 300), (99, 9)].map(|(pairs, of)| lost(pairs, of));
        assert_findings("lost pairs", lost);
    }

    #[test]
    fn claims_about_counters() {
        let pass = |words, more| Pass {
            words,
            chunks: 100,
            once: 5,
            more,
        };
        let passes = [pass(1, 9), pass(2, 20), pass(3, 4)];
        let runs = [&passes[..], &passes[..2], &[]];
        assert_findings("occupied counters", runs.map(most_occupied));
        let run = |more| vec![pass(8, more)];
        let runs = [[run(4), run(9)], [run(9), run(9)], [run(9), Vec::new()]];
        assert_findings("collisions", runs.map(|runs| repeated(&runs)));
    }

    #[test]
    fn claims_about_scores() {
        let t1 = |found| (0..4).map(move |score| at(score, 0, 1, found, 100));
        let t1 = [t1(100).collect(), t1(120).collect(), Vec::new()];
        assert_findings("lowest threshold", t1.map(|at| at_lowest(&at, 100)));
        let better = table(1, [(100, 50), (20, 18)], [(100, 90), (70, 69)]);
        let worse = table(1, [(100, 90), (20, 10)], [(100, 50), (20, 5)]);
        let scores = [(&better, 100), (&worse, 100), (&better, 0)];
        let scores = scores.map(|(all, reference)| best_of_scores(all, reference));
        assert_findings("lengths", scores);
        assert_findings("thresholds", [&better[..], &worse, &[]].map(ends));
        let loses = |(sixteen, most, reference)| {
            let same =
                |modulo, known| table(modulo, [(100, known), (9, 9)], [(100, known), (9, 9)]);
            let tables = [same(1, 95), same(16, sixteen), same(256, most)];
            best_of_modulo(&tables.concat(), reference)
        };
        assert_findings(
            "modulo",
            [(90, 50, 100), (95, 94, 100), (90, 50, 0)].map(loses),
        );
    }

    #[test]
    fn thresholds_are_divided_by_the_modulo() {
        for (score, row) in DECO_THRESHOLDS.iter().enumerate() {
            for modulo in MODULO {
                let of = criteria(score, modulo);
                assert_eq!(of.len(), 5);
                for (criterion, &hundredths) in of.iter().zip(row) {
                    let exact = hundredths as f64 / 100.0 / modulo as f64;
                    match criterion.measure {
                        Measure::Shared(least) => assert_eq!(f64::from(least), exact.ceil()),
                        _ => assert!((criterion.threshold.to_f64() - exact).abs() < 1e-12),
                    }
                }
            }
        }
    }
}
