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

use super::Form::{Bytes, Count, Number, Seconds, Share, Text};
use super::{Bench, Claim, Exhibit};
use crate::Result;
use crate::base::ids::Threshold;
use crate::base::measure::{Criterion, Measure};
use crate::base::numbers::{count, counted, percent};
use crate::base::progress::Context;
use crate::engine::collection::{Catalogue, each_document};
use crate::engine::join::each_pair;
use crate::engine::merge::{PostingsEntry, PostingsReader};
use crate::engine::methods::{DECO_THRESHOLDS, SPEX_FILE};
use crate::lab::compare::{Levels, at_levels};
use crate::lab::formulas::missed;
use crate::lab::perturb::{Chowdhury, Recipe};
use crate::store::disk;
use crate::store::workspace::Workspace;

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

/// Coverage of Table 2, in tenths of a per cent; the copy of the paper that we have lacks a value.
const TABLE_2: [[Option<u64>; 5]; 4] = [
    [Some(1000), None, Some(972), Some(361), Some(83)],
    [Some(1000), Some(1000), Some(1000), Some(833), Some(583)],
    [Some(1000), Some(1000), Some(917), Some(722), Some(528)],
    [Some(1000), Some(1000), Some(972), Some(917), Some(583)],
];

/// Coverage and average precision of Tables 3 and 4, in per cent: by modulo, score and threshold.
const TABLES_3_AND_4: [[[(u64, u64); 5]; 4]; 3] = [
    [
        [(100, 70), (89, 71), (56, 93), (36, 95), (34, 100)],
        [(100, 57), (100, 75), (100, 92), (89, 94), (57, 100)],
        [(98, 75), (96, 84), (94, 100), (84, 100), (47, 100)],
        [(99, 83), (96, 91), (94, 100), (78, 100), (30, 100)],
    ],
    [
        [(90, 72), (88, 76), (56, 94), (36, 96), (34, 100)],
        [(90, 75), (90, 75), (80, 94), (78, 100), (57, 100)],
        [(88, 82), (86, 91), (74, 100), (74, 100), (47, 100)],
        [(88, 85), (86, 93), (86, 93), (69, 100), (60, 100)],
    ],
    [
        [(54, 95), (54, 95), (54, 95), (54, 95), (34, 97)],
        [(54, 97), (54, 97), (54, 97), (54, 97), (44, 97)],
        [(54, 97), (54, 100), (54, 100), (51, 100), (42, 100)],
        [(54, 97), (54, 100), (54, 100), (44, 100), (31, 100)],
    ],
];

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
        (self.pairs > 0).then(|| self.known as f64 / self.pairs as f64)
    }

    /// Harmonic mean of precision and coverage.
    fn f1(&self, reference: u64) -> f64 {
        let both = self.pairs + reference;
        match both {
            0 => 0.0,
            both => 2.0 * self.known as f64 / both as f64,
        }
    }
}

/// A score at T1 to T5, divided by the modulo.
fn criteria(score: usize, modulo: u64) -> Vec<Criterion> {
    let row = DECO_THRESHOLDS.get(score).copied().unwrap_or_default();
    let of = |hundredths: u64| {
        let whole = Threshold::new(1, 1);
        Some(match score {
            0 => Criterion {
                measure: Measure::Shared(hundredths.div_ceil(100 * modulo) as u32),
                threshold: whole?,
            },
            n => Criterion {
                measure: [Measure::S2, Measure::S3, Measure::S4][n - 1],
                threshold: Threshold::new(hundredths, 100 * modulo)?,
            },
        })
    };
    row.iter()
        .filter_map(|&hundredths| of(hundredths))
        .collect()
}

/// Joins features by each score, and counts the pairs at each threshold.
fn scored(
    bench: &Bench<'_>,
    features: &Workspace,
    (name, modulo): (&str, u64),
    mut known: impl FnMut(&Workspace, &Levels) -> Result<Vec<(u64, u64)>>,
) -> Result<Vec<Scored>> {
    let context = bench.context();
    let mut all = Vec::new();
    for score in 0..4 {
        let criteria = criteria(score, modulo);
        let Some(&lowest) = criteria.first() else {
            continue;
        };
        let name = format!("{name}-s{}-{modulo}", score + 1);
        let pairs = bench.pairs(features, &name, lowest)?;
        let levels = Levels::new(&pairs, criteria, &context)?;
        let counts = known(&pairs, &levels)?;
        all.extend(
            counts
                .into_iter()
                .enumerate()
                .map(|(threshold, (pairs, known))| Scored {
                    modulo,
                    score,
                    threshold,
                    pairs,
                    known,
                }),
        );
    }
    Ok(all)
}

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(bench: &mut Bench<'_>) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
    let (mut exhibits, mut claims) = (Vec::new(), Vec::new());
    let context = bench.context();
    let drawing = |name: &str, place: &str, title: &str, more: &str| {
        let about = format!("Cannot be tested here: a drawing that explains {more}");
        Exhibit::new((name, place), title, &about)
    };
    let term =
        "a term, without numbers. `lookalike graph` writes the relationship graph of a collection.";
    exhibits.push(drawing(
        "figure-1",
        "Figure 1",
        "A relationship graph",
        term,
    ));
    let (chunks, _) = bench.method(&bench.base, CHUNKS)?;
    let passes = passes(&chunks)?;
    let mut refined = Vec::new();
    for spec in FEW_COUNTERS {
        refined.push(self::passes(&bench.method(&bench.base, spec)?.0)?);
    }
    let growth = growth(&chunks, STEPS, &context)?;
    let all_chunks = passes.last().map_or(0, |pass| pass.chunks);
    let last = growth.last().copied().unwrap_or_default();
    exhibits.push(section_4_3(all_chunks, last));
    claims.push(most_chunks_are_unique(all_chunks, last));
    let title = "The insertion of a chunk by SPEX";
    let algorithm = "an algorithm, without numbers.";
    exhibits.push(drawing("figure-2", "Figure 2", title, algorithm));
    exhibits.push(figure_3(&passes, &refined));
    claims.push(refinement_empties_counters(&passes));
    claims.push(refinement_avoids_collisions(&refined));
    let title = "A relationship graph with errors";
    exhibits.push(drawing("figure-4", "Figure 4", title, term));
    exhibits.push(figure_5(&growth));
    claims.push(growth_is_linear(&growth));
    sizes(bench, &chunks, &mut exhibits, &mut claims)?;

    exhibits.push(table_1());
    table_2(bench, &mut exhibits, &mut claims)?;
    let (reference, found) = bench.method(&bench.base, REFERENCE)?;
    let pairs = found.join.map_or(0, |join| join.pairs);
    let mut all = Vec::new();
    let mut full = Some(chunks);
    let mut selected = None;
    for modulo in MODULO {
        let spec = format!("deco:selection=modulo-{modulo}");
        let features = match full.take() {
            Some(chunks) => chunks,
            None => bench.method(&bench.base, &spec)?.0,
        };
        let known = |pairs: &Workspace, levels: &Levels| {
            let counts = at_levels(pairs, levels, Some(&reference), &context)?;
            Ok(counts.iter().map(|at| (at.pairs, at.known)).collect())
        };
        all.extend(scored(bench, &features, ("bernstein", modulo), known)?);
        if modulo == 1 {
            selected = Some(features);
        }
    }
    exhibits.extend(tables_3_and_4(&all, pairs));
    claims.push(length_helps(&all, pairs));
    claims.push(thresholds_trade(&all));
    claims.push(modulo_loses(&all, pairs));
    if let Some(features) = selected {
        claims.push(lost_as_predicted(bench, &features, &context)?);
    }
    claims.push(Claim::new(
        ("Section 8.4", ""),
        "Of 30 random edges of a relationship graph, 28 to 30 were true.",
        None,
        "Whether a pair is true has to be judged by people.",
    ));
    Ok((exhibits, claims))
}

/// A line of `spex.tsv`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pass {
    words: u64,
    chunks: u64,
    once: u64,
    more: u64,
}

/// The passes of a SPEX that was run.
fn passes(workspace: &Workspace) -> Result<Vec<Pass>> {
    let bytes = disk::read_all(&workspace.directory().join(SPEX_FILE))?;
    let text = String::from_utf8_lossy(&bytes);
    let pass = |line: &str| {
        let numbers: Option<Vec<u64>> = line.split('\t').map(|n| n.parse().ok()).collect();
        match numbers?[..] {
            [words, chunks, _, once, more] => Some(Pass {
                words,
                chunks,
                once,
                more,
            }),
            _ => None,
        }
    };
    Ok(text.lines().filter_map(pass).collect())
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
    let postings = workspace.record::<PostingsEntry>("merge")?;
    let (directory, parameters) = (
        workspace.path("postings"),
        workspace.collection_parameters(),
    );
    for part in postings.parts.values() {
        let path = directory.join(&part.name);
        let mut reader = PostingsReader::<u64>::open(&path, Some(parameters), Some(part))?;
        while let Some(block) = reader.next()? {
            context.stop.check(STAGE)?;
            let mut documents = &block.documents[..];
            for &length in &block.lengths {
                let (list, rest) = documents.split_at(length as usize);
                documents = rest;
                // The second document makes the chunk a shared one, of two documents.
                for (n, &document) in list.iter().enumerate().skip(1) {
                    if let Some(prefix) = by_step.get_mut(step(document)) {
                        prefix.instances += if n == 1 { 2 } else { 1 };
                        prefix.distinct += u64::from(n == 1);
                    }
                }
            }
        }
        reader.finish()?;
    }
    let mut sum = Prefix::default();
    Ok(by_step
        .into_iter()
        .map(|step| {
            sum.documents += step.documents;
            sum.bytes += step.bytes;
            sum.instances += step.instances;
            sum.distinct += step.distinct;
            sum
        })
        .collect())
}

fn section_4_3(all: u64, shared: Prefix) -> Exhibit {
    let rows = [
        ("all", all, 67_808_917u64),
        ("shared", shared.instances, 2_816_822),
        ("shared, each once", shared.distinct, 907_981),
    ];
    Exhibit::new(
        ("section-4.3", "Section 4.3"),
        "Chunks of eight words",
        "All chunks of the documents without exact duplicates; the chunks that two or more documents have, counted in \
         each document; and the same chunks counted once. The paper's values are for the LA Times.",
    )
    .rows(rows)
    .column("chunks", Text, |row| row.0)
    .column("number", Count, |row| row.1)
    .column("share", Share, |row| row.1 as f64 / all as f64)
    .column("number_paper", Count, |row| row.2)
    .column("share_paper", Share, |row| row.2 as f64 / 67_808_917.0)
    .end()
}

fn figure_3(passes: &[Pass], refined: &[Vec<Pass>]) -> Exhibit {
    let names = ["2^26, refined", "2^23, refined", "2^23, not refined"];
    let runs = [passes]
        .into_iter()
        .chain(refined.iter().map(Vec::as_slice));
    let rows = names.into_iter().zip(runs);
    let rows = rows.flat_map(|(name, passes)| passes.iter().map(move |pass| (name, pass)));
    Exhibit::new(
        ("figure-3", "Figure 3"),
        "Occupied counters by the size of chunks",
        "Counters that counted one chunk, and more than one, after each pass of SPEX: (a) with 2^26 counters; (b) with \
         2^23, with and without refinement. The paper's collections are larger, so fewer of these counters are \
         occupied here.",
    )
    .rows(rows)
    .column("counters", Text, |(name, _)| *name)
    .column("words", Count, |(_, pass)| pass.words)
    .column("once", Count, |(_, pass)| pass.once)
    .column("more_than_once", Count, |(_, pass)| pass.more)
    .end()
    .lines("words", &["once", "more_than_once"], Some("counters"))
}

fn figure_5(growth: &[Prefix]) -> Exhibit {
    Exhibit::new(
        ("figure-5", "Figure 5"),
        "Shared chunks of the first part of the collection",
        "For the first documents of the collection: chunks that two or more of them have, counted in each document, and \
         counted once. The paper draws the LA Times without printing numbers.",
    )
    .rows(growth)
    .column("bytes", Bytes, |prefix| prefix.bytes)
    .column("documents", Count, |prefix| prefix.documents)
    .column("shared_chunks", Count, |prefix| prefix.instances)
    .column("distinct", Count, |prefix| prefix.distinct)
    .end()
    .lines("bytes", &["shared_chunks", "distinct"], None)
}

/// The index with and without exact duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Index {
    seconds: f64,
    /// Documents in the posting lists.
    entries: u64,
    bytes: u64,
}

fn index(workspace: &Workspace) -> Result<Index> {
    let postings = workspace.record::<PostingsEntry>("merge")?;
    let costs = ["keys", "sample", "sort", "merge"].iter();
    let costs = costs.filter_map(|stage| workspace.manifest.costs.get(*stage));
    Ok(Index {
        seconds: costs.map(|cost| cost.cpu_seconds).sum(),
        entries: postings.stats.entries,
        bytes: postings.parts.values().map(|part| part.bytes).sum(),
    })
}

/// Sections 8.2 and 8.3.
fn sizes(
    bench: &Bench<'_>,
    chunks: &Workspace,
    exhibits: &mut Vec<Exhibit>,
    claims: &mut Vec<Claim>,
) -> Result<()> {
    let without = index(chunks)?;
    let with = index(&bench.method(&bench.base, WITH_DUPLICATES)?.0)?;
    let mut text = 0u64;
    each_document(&bench.base, |_, document| {
        text += document.length;
        Ok(())
    })?;
    let index_of_text = Exhibit::new(
        ("section-8.2", "Section 8.2"),
        "The index of shared chunks",
        "CPU seconds of SPEX and of making the posting lists, from texts that are already read. The paper's numbers are \
         for newswire of 5.3 GB, and its index also has the text of each chunk.",
    )
    .rows([without])
    .column("collection_bytes", Bytes, |_| text)
    .column("index_bytes", Bytes, |index| index.bytes)
    .column("share", Share, |index| index.bytes as f64 / text as f64)
    .column("seconds", Seconds, |index| index.seconds)
    .column("share_paper", Share, |_| 2.3 / 5.3)
    .column("hours_paper", Number(0), |_| 4.0);
    exhibits.push(index_of_text.end());
    let both = Exhibit::new(
        ("section-8.3", "Section 8.3"),
        "The index with and without exact duplicates",
        "Documents in the posting lists, and bytes of the lists on the disk. The paper's numbers are for newswire: 2.3 GB \
         with exact duplicates, 2.1 GB without them.",
    )
    .rows([("kept", with, 2_300_000_000u64), ("removed", without, 2_100_000_000)])
    .column("exact_duplicates", Text, |row| row.0)
    .column("entries", Count, |row| row.1.entries)
    .column("bytes", Bytes, |row| row.1.bytes)
    .column("bytes_paper", Bytes, |row| row.2);
    exhibits.push(both.end());
    let duplicates = Catalogue::stats(&bench.base)?.exact_duplicates;
    claims.push(duplicates_cost(with.entries, without.entries, duplicates));
    Ok(())
}

fn table_1() -> Exhibit {
    let mut rows = Exhibit::new(
        ("table-1", "Table 1"),
        "Thresholds of the scores",
        "The thresholds of `deco`, which Tables 2 to 4 use.",
    )
    .rows((1..).zip(DECO_THRESHOLDS))
    .column("score", Text, |(score, _)| format!("S{score}"));
    for t in 0..5 {
        let name = format!("t{}_paper", t + 1);
        rows = rows.column(&name, Number(2), |(_, row)| row[t] as f64 / 100.0);
    }
    rows.end()
}

/// Edited copies of some documents.
fn table_2(bench: &Bench<'_>, exhibits: &mut Vec<Exhibit>, claims: &mut Vec<Claim>) -> Result<()> {
    let title = "Coverage of edited copies";
    let place = ("table-2", "Table 2");
    let originals = bench.originals(ORIGINALS)?;
    if originals == 0 {
        let about = "Cannot be tested here: the collection has no documents to copy.";
        exhibits.push(Exhibit::new(place, title, about));
        return Ok(());
    }
    let recipe = Recipe::Chowdhury(Chowdhury {
        copies: COPIES,
        ..Chowdhury::default()
    });
    let copies = bench.copies("bernstein-copies", recipe, originals, false)?;
    let mut names: HashMap<String, u32> = HashMap::new();
    let mut families = Vec::new();
    each_document(&copies.collection, |_, document| {
        let docno = document.docno;
        let original = docno
            .rsplit_once('~')
            .map_or(docno, |(original, _)| original);
        let next = names.len() as u32;
        families.push(*names.entry(original.into()).or_insert(next));
        Ok(())
    })?;
    let mut members: HashMap<u32, u64> = HashMap::new();
    for family in &families {
        *members.entry(*family).or_default() += 1;
    }
    let reference: u64 = members.values().map(|n| n * (n - 1) / 2).sum();
    let (features, _) = bench.method(&copies.collection, "deco:selection=full")?;
    let known = |pairs: &Workspace, levels: &Levels| {
        let mut counts = vec![(0, 0); 5];
        each_pair(pairs, |pair| {
            let [a, b] = [pair.a, pair.b].map(|document| families.get(document as usize));
            for (found, known) in counts.iter_mut().take(levels.reached(&pair)) {
                *found += 1;
                *known += u64::from(a == b);
            }
            Ok(())
        })?;
        Ok(counts)
    };
    let all = scored(bench, &features, ("bernstein-copies", 1), known)?;
    let about = format!(
        "Share of the {} pairs of an original and its copies, or of two copies, that reach the threshold; and the share \
         of such pairs among all that do. A pair of two families counts as false, even if their originals resemble each \
         other. {} originals have {} copies each. The paper's nine documents are edits by \
         different authors of one report, and no pair was false. Its precision is the average precision.",
        count(reference),
        count(originals),
        count(COPIES.into())
    );
    let paper = |at: &Scored| TABLE_2[at.score][at.threshold];
    let rows = Exhibit::new(place, title, &about)
        .rows(&all)
        .column("score", Text, |at| format!("S{}", at.score + 1))
        .column("threshold", Text, |at| format!("T{}", at.threshold + 1))
        .column("coverage", Share, |at| at.known as f64 / reference as f64)
        .column("precision", Share, |at| at.precision())
        .column("coverage_paper", Share, |at| {
            paper(at).map(|tenths| tenths as f64 / 1000.0)
        })
        .column("average_precision_paper", Share, |_| 1.0);
    exhibits.push(rows.end());
    claims.push(lowest_threshold_covers_all(&all, reference));
    Ok(())
}

fn tables_3_and_4(all: &[Scored], reference: u64) -> [Exhibit; 2] {
    let about = format!(
        "The reference are the {} pairs that `cosine` lists: documents with nearly the same words. Coverage is the share \
         of the reference that reaches the threshold; precision is the share of the reference among the pairs that do. \
         The paper compares with lists that people made for ten documents of linuxdocs, so its values are for another \
         question. Its precision is the average precision, a mean over documents.",
        count(reference)
    );
    let paper = |at: &Scored| {
        let place = MODULO.iter().position(|modulo| *modulo == at.modulo)?;
        let (coverage, precision) = TABLES_3_AND_4[place][at.score][at.threshold];
        Some((coverage as f64 / 100.0, precision as f64 / 100.0))
    };
    let table = |name: (&str, &str), title: &str, wanted: fn(u64) -> bool| {
        Exhibit::new(name, title, &about)
            .rows(all.iter().filter(|at| wanted(at.modulo)))
            .column("modulo", Count, |at| at.modulo)
            .column("score", Text, |at| format!("S{}", at.score + 1))
            .column("threshold", Text, |at| format!("T{}", at.threshold + 1))
            .column("pairs", Count, |at| at.pairs)
            .column("coverage", Share, |at| at.known as f64 / reference as f64)
            .column("precision", Share, |at| at.precision())
            .column("coverage_paper", Share, |at| paper(at).map(|of| of.0))
            .column("average_precision_paper", Share, |at| {
                paper(at).map(|of| of.1)
            })
            .end()
    };
    let titles = [
        "Coverage and precision of all shared chunks",
        "Coverage and precision of one chunk in 16 and in 256",
    ];
    [
        table(("table-3", "Table 3"), titles[0], |modulo| modulo == 1),
        table(("table-4", "Table 4"), titles[1], |modulo| modulo > 1),
    ]
}

/// The share of the pairs that share about 64 chunks and fewer than two chunks of one in 16.
fn lost_as_predicted(
    bench: &Bench<'_>,
    features: &Workspace,
    context: &Context<'_>,
) -> Result<Claim> {
    let one_in = MODULO[1];
    let of = |score: usize, modulo: u64| criteria(score, modulo).into_iter().next();
    let (Some(all), Some(some)) = (of(0, 1), of(0, one_in)) else {
        return Ok(lost(0, 0));
    };
    let pairs = bench.pairs(features, "bernstein-s1-1", all)?;
    let spec = format!("deco:selection=modulo-{one_in}");
    let (sampled, _) = bench.method(&bench.base, &spec)?;
    let sampled = bench.pairs(&sampled, &format!("bernstein-s1-{one_in}"), some)?;
    let band = [SHARED - 8, SHARED + 9].map(|least| Criterion {
        measure: Measure::Shared(least as u32),
        ..all
    });
    let levels = Levels::new(&pairs, band.to_vec(), context)?;
    let counts = at_levels(&pairs, &levels, Some(&sampled), context)?;
    let [from, above] = counts[..] else {
        return Ok(lost(0, 0));
    };
    let within = from.pairs - above.pairs;
    Ok(lost(within, within - (from.known - above.known)))
}

/// Shared chunks of the pairs that are looked at: four of them are expected among one in 16.
const SHARED: u64 = 64;

// The claims. Each is a function of counts.

/// Fewer pairs than this say nothing about a share of 9.1 %.
const LEAST_PAIRS: u64 = 100;

/// `pairs` share about 64 chunks; of them, `lost` share fewer than two of one in 16.
fn lost(pairs: u64, lost: u64) -> Claim {
    let predicted = missed(SHARED as f64, MODULO[1] as f64, 2).unwrap_or(0.0);
    let share = lost as f64 / pairs as f64;
    // Twice the deviation of the binomial distribution, and what overlapping chunks add.
    let margin = 2.0 * (predicted * (1.0 - predicted) / pairs as f64).sqrt() + 0.02;
    Claim::new(
        ("Section 4.3", ""),
        "If four selected chunks of a pair are expected, 9.1 % of the pairs share fewer than two, by the Poisson \
         distribution.",
        (pairs >= LEAST_PAIRS).then_some((share - predicted).abs() <= margin),
        match pairs {
            0..LEAST_PAIRS => format!(
                "{} share 56 to 72 chunks. That is too few.",
                counted(pairs, "pair")
            ),
            _ => format!(
                "Of {} pairs that share 56 to 72 chunks, {} share fewer than two chunks that are 0 modulo 16 ({}).",
                count(pairs),
                count(lost),
                percent(share, 1)
            ),
        },
    )
}

fn most_chunks_are_unique(all: u64, shared: Prefix) -> Claim {
    let part = |part: u64| part as f64 / all as f64;
    Claim::new(
        ("Section 4.3", "section-4.3"),
        "Most chunks occur in one document only (95.5 % and more of the LA Times).",
        (all > 0).then(|| part(shared.instances) < 0.5),
        match all {
            0 => "No document has eight words.".into(),
            _ => format!(
                "{} of the chunks are in one document only; the distinct shared chunks are {} of all.",
                percent(1.0 - part(shared.instances), 1),
                percent(part(shared.distinct), 1)
            ),
        },
    )
}

fn refinement_empties_counters(passes: &[Pass]) -> Claim {
    let occupied = |pass: &Pass| pass.once + pass.more;
    let most = passes.iter().max_by_key(|pass| occupied(pass));
    let both = most
        .zip(passes.last())
        .filter(|(most, _)| occupied(most) > 0);
    Claim::new(
        ("Section 5, Figure 3(a)", "figure-3"),
        "From some size of chunks on, fewer counters are occupied in each pass.",
        both.map(|(most, last)| occupied(last) < occupied(most)),
        both.map_or_else(String::new, |(most, last)| {
            let now = match most.words == last.words {
                true => "there are no longer ones".to_string(),
                false => format!(
                    "for chunks of {} words, {}",
                    last.words,
                    count(occupied(last))
                ),
            };
            let (words, counters) = (most.words, count(occupied(most)));
            format!("Most counters are occupied for chunks of {words} words, {counters}; {now}.")
        }),
    )
}

fn refinement_avoids_collisions(runs: &[Vec<Pass>]) -> Claim {
    let last = |n: usize| runs.get(n).and_then(|passes| passes.last());
    let both = last(0).zip(last(1));
    Claim::new(
        ("Section 5, Figure 3(b)", "figure-3"),
        "Without refinement more counters say that a chunk is repeated, because chunks collide.",
        both.map(|(with, without)| without.more > with.more),
        both.map_or_else(String::new, |(with, without)| {
            format!(
                "After the last pass {} counters say so with refinement, {} without.",
                count(with.more),
                count(without.more)
            )
        }),
    )
}

/// The share of the variance that a straight line has to explain. A parabola's is 0.94.
const STRAIGHT: f64 = 0.98;

fn growth_is_linear(growth: &[Prefix]) -> Claim {
    let points: Vec<(f64, f64)> = growth
        .iter()
        .map(|prefix| (prefix.bytes as f64, prefix.instances as f64))
        .collect();
    let explained = explained(&points);
    Claim::new(
        ("Section 8.1, Figure 5", "figure-5"),
        "The number of duplicate chunks grows linearly with the collection.",
        explained.map(|explained| explained >= STRAIGHT),
        explained.map_or_else(
            || "No chunks are shared.".into(),
            |explained| {
                let half = growth.get(growth.len() / 2 - 1).copied().unwrap_or_default();
                let all = growth.last().copied().unwrap_or_default();
                format!(
                    "A straight line explains {} of the variance. Half of the documents share {} chunks, all of them {}.",
                    percent(explained, 1),
                    count(half.instances),
                    count(all.instances)
                )
            },
        ),
    )
}

/// The share of the variance that the best straight line explains.
fn explained(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|a, _| a * a), sum(&|_, b| b * b), sum(&|a, b| a * b));
    (xx > 0.0 && yy > 0.0).then(|| xy * xy / (xx * yy))
}

fn duplicates_cost(with: u64, without: u64, duplicates: u64) -> Claim {
    let saved = (with > 0).then(|| (with as f64 - without as f64) / with as f64);
    Claim::new(
        ("Section 8.3", "section-8.3"),
        "Without exact duplicates the index is somewhat smaller: by about 10 % for newswire (here by anything).",
        saved.filter(|_| duplicates > 0).map(|saved| saved > 0.0),
        saved.map_or_else(
            || "No chunks are shared.".into(),
            |saved| {
                format!(
                    "{} exact duplicates. Without them the posting lists have {} fewer entries.",
                    count(duplicates),
                    percent(saved, 1)
                )
            },
        ),
    )
}

fn lowest_threshold_covers_all(all: &[Scored], reference: u64) -> Claim {
    let at: Vec<&Scored> = all.iter().filter(|at| at.threshold == 0).collect();
    let shares = at.iter().map(|at| {
        let share = at.known as f64 / reference as f64;
        format!("S{} {}", at.score + 1, percent(share, 1))
    });
    Claim::new(
        ("Section 8.4, Table 2", "table-2"),
        "At T1 every score finds all pairs of the edited documents, and none is false.",
        (reference > 0 && !at.is_empty()).then(|| {
            at.iter()
                .all(|at| at.known == reference && at.pairs == reference)
        }),
        format!("Coverage at T1: {}.", shares.collect::<Vec<_>>().join(", ")),
    )
}

/// The highest F1 of each score at a modulo.
fn best(all: &[Scored], modulo: u64, reference: u64) -> Vec<f64> {
    let of = |score: usize| {
        let at = all.iter();
        let at = at.filter(|at| at.score == score && at.modulo == modulo);
        at.map(|at| at.f1(reference)).fold(0.0, f64::max)
    };
    (0..4).map(of).collect()
}

fn length_helps(all: &[Scored], reference: u64) -> Claim {
    let best = best(all, 1, reference);
    let known = reference > 0 && best.iter().any(|f1| *f1 > 0.0);
    let each = (1..).zip(&best).map(|(n, f1)| format!("S{n} {f1:.3}"));
    Claim::new(
        ("Section 8.4, Table 3", "table-3"),
        "S2, S3 and S4, which consider the lengths of the documents, are better than S1.",
        known.then(|| best.iter().skip(1).all(|f1| *f1 > best[0])),
        format!(
            "Best F1 over the thresholds: {}.",
            each.collect::<Vec<_>>().join(", ")
        ),
    )
}

fn thresholds_trade(all: &[Scored]) -> Claim {
    let full = |score: usize, threshold: usize| {
        all.iter()
            .find(|at| (at.modulo, at.score, at.threshold) == (1, score, threshold))
    };
    let mut known = true;
    let mut holds = true;
    let mut said = Vec::new();
    for score in 0..4 {
        let of: Vec<&Scored> = (0..5).filter_map(|t| full(score, t)).collect();
        let found: Vec<f64> = of.iter().filter_map(|at| at.precision()).collect();
        known &= found.len() > 1;
        if let (Some(first), Some(last)) = (found.first(), found.last()) {
            holds &= last >= first;
            said.push(format!(
                "S{} from {} to {}",
                score + 1,
                percent(*first, 1),
                percent(*last, 1)
            ));
        }
    }
    Claim::new(
        ("Section 8.4, Table 3", "table-3"),
        "A higher threshold loses coverage and gains precision.",
        known.then_some(holds),
        format!(
            "Precision at T1 and at the highest threshold with pairs: {}.",
            said.join(", ")
        ),
    )
}

fn modulo_loses(all: &[Scored], reference: u64) -> Claim {
    let coverage = |modulo: u64| {
        let at = all.iter().filter(|at| at.modulo == modulo && at.score > 0);
        at.map(|at| at.known as f64 / reference as f64)
            .fold(0.0, f64::max)
    };
    let [full, sixteen, most] = MODULO.map(coverage);
    Claim::new(
        ("Section 8.5, Table 4", "table-4"),
        "One chunk in 16 loses some of the pairs, and one in 256 many of them (a tenth or more of the best \
         coverage).",
        (reference > 0).then_some(full >= sixteen && sixteen > most && most < 0.9 * full),
        match reference {
            0 => "The reference has no pairs.".into(),
            _ => format!(
                "Best coverage of S2, S3 and S4: {} with all chunks, {} with one in 16, {} with one in 256.",
                percent(full, 1),
                percent(sixteen, 1),
                percent(most, 1)
            ),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::model::assert_findings;
    use super::*;

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
        let unique = |all, of| most_chunks_are_unique(all, shared(of));
        assert_findings([unique(100, 5), unique(100, 80), unique(0, 0)]);
        let linear = |of: &dyn Fn(u64) -> u64| growth_is_linear(&prefixes(of));
        assert_findings([linear(&|n| 7 * n), linear(&|n| n * n * n), linear(&|_| 0)]);
        assert_findings([
            duplicates_cost(100, 90, 3),
            duplicates_cost(90, 90, 3),
            duplicates_cost(100, 100, 0),
        ]);
        // 9.2 % are predicted.
        assert_findings([lost(1000, 92), lost(1000, 300), lost(99, 9)]);
    }

    #[test]
    fn claims_about_counters() {
        let pass = |words, more| Pass {
            words,
            chunks: 100,
            once: 5,
            more,
        };
        let falls = |passes: &[Pass]| refinement_empties_counters(passes);
        assert_findings([
            falls(&[pass(1, 9), pass(2, 20), pass(3, 4)]),
            falls(&[pass(1, 9), pass(2, 20)]),
            falls(&[]),
        ]);
        let run = |more| vec![pass(8, more)];
        assert_findings([
            refinement_avoids_collisions(&[run(4), run(9)]),
            refinement_avoids_collisions(&[run(9), run(9)]),
            refinement_avoids_collisions(&[run(9), Vec::new()]),
        ]);
    }

    #[test]
    fn claims_about_scores() {
        let t1 = |found, known| {
            (0..4)
                .map(|score| at(score, 0, 1, found, known))
                .collect::<Vec<_>>()
        };
        assert_findings([
            lowest_threshold_covers_all(&t1(100, 100), 100),
            lowest_threshold_covers_all(&t1(120, 100), 100),
            lowest_threshold_covers_all(&[], 100),
        ]);
        let better = table(1, [(100, 50), (20, 18)], [(100, 90), (70, 69)]);
        let worse = table(1, [(100, 90), (20, 10)], [(100, 50), (20, 5)]);
        assert_findings([
            length_helps(&better, 100),
            length_helps(&worse, 100),
            length_helps(&better, 0),
        ]);
        assert_findings([
            thresholds_trade(&better),
            thresholds_trade(&worse),
            thresholds_trade(&[]),
        ]);
        let of = |sixteen: u64, most: u64| {
            let same =
                |modulo, known| table(modulo, [(100, known), (9, 9)], [(100, known), (9, 9)]);
            let tables = [same(1, 95), same(16, sixteen), same(256, most)];
            tables.concat()
        };
        assert_findings([
            modulo_loses(&of(90, 50), 100),
            modulo_loses(&of(95, 94), 100),
            modulo_loses(&of(90, 50), 0),
        ]);
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
