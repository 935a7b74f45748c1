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

use super::Form::Number;
use super::model::{claim, exhibit, listed};
use super::{Bench, Claim, Exhibit, Reproduction};
use crate::compare::{Levels, at_levels};
use crate::formulas::missed;
use crate::perturb::{Chowdhury, Recipe};
use crate::study::line;
use lookalike_base::Result;
use lookalike_base::ids::Threshold;
use lookalike_base::measure::{Criterion, Measure};
use lookalike_base::numbers::{count, counted, percent};
use lookalike_base::progress::Context;
use lookalike_engine::collection::{Catalogue, each_document};
use lookalike_engine::join::each_pair;
use lookalike_engine::merge::{PostingsEntry, PostingsReader};
use lookalike_methods::{DECO_THRESHOLDS, SPEX_FILE};
use lookalike_store::disk;
use lookalike_store::workspace::Workspace;

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
        let both = (self.pairs + reference).max(1);
        2.0 * self.known as f64 / both as f64
    }
}

/// A score at T1 to T5, divided by the modulo.
fn criteria(score: usize, modulo: u64) -> Vec<Criterion> {
    let of = |hundredths: u64| {
        let least = hundredths.div_ceil(100 * modulo) as u32;
        let measure = [
            Measure::Shared(least),
            Measure::S2,
            Measure::S3,
            Measure::S4,
        ][score];
        let threshold = match score {
            0 => Threshold::new(1, 1)?,
            _ => Threshold::new(hundredths, 100 * modulo)?,
        };
        Some(Criterion { measure, threshold })
    };
    DECO_THRESHOLDS[score].into_iter().filter_map(of).collect()
}

/// Joins features by each score, and counts the pairs at each threshold.
fn scored(
    bench: &Bench<'_>,
    features: &Workspace,
    (name, modulo): (&str, u64),
    mut known: impl FnMut(&Workspace, &Levels) -> Result<Vec<(u64, u64)>>,
) -> Result<Vec<Scored>> {
    let mut all = Vec::new();
    for score in 0..4 {
        let criteria = criteria(score, modulo);
        let name = format!("{name}-s{}-{modulo}", score + 1);
        let pairs = bench.pairs(features, &name, criteria[0])?;
        let levels = Levels::new(&pairs, criteria, &bench.context())?;
        let counts = known(&pairs, &levels)?.into_iter().enumerate();
        all.extend(counts.map(|(threshold, (pairs, known))| Scored {
            modulo,
            score,
            threshold,
            pairs,
            known,
        }));
    }
    Ok(all)
}

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Reproduction) -> Result<()> {
    let bench = &*bench;
    let (chunks, _) = bench.method(&bench.base, CHUNKS)?;
    counters_and_growth(bench, &chunks, made)?;
    sizes(bench, &chunks, made)?;
    made.exhibits.push(table_1());
    table_2(bench, made)?;
    scores(bench, &chunks, made)?;
    made.claims.push(lost_as_predicted(bench, &chunks)?);
    made.claims.push(claim!("Section 8.4", "",
        "Of 30 random edges of a relationship graph, 28 to 30 were true.";
        whether None, "Whether a pair is true has to be judged by people."));
    Ok(())
}

/// Sections 4.3 to 8.1: Figures 1 to 5.
fn counters_and_growth(
    bench: &Bench<'_>,
    chunks: &Workspace,
    made: &mut Reproduction,
) -> Result<()> {
    let drawing = |at: (&str, &str), title: &str, more: &str| {
        let about = format!("Cannot be tested here: a drawing that explains {more}");
        Exhibit::new(at, title, about)
    };
    let passes = passes(chunks)?;
    let refined = FEW_COUNTERS.map(|spec| self::passes(&bench.method(&bench.base, spec)?.0));
    let refined = refined.into_iter().collect::<Result<Vec<_>>>()?;
    let growth = growth(chunks, STEPS, &bench.context())?;
    let all_chunks = passes.last().map_or(0, |pass| pass.chunks);
    let last = growth.last().copied().unwrap_or_default();
    let graph =
        "a term, without numbers. `lookalike graph` writes the relationship graph of a collection.";
    made.exhibits.extend([
        drawing(("figure-1", "Figure 1"), "A relationship graph", graph),
        section_4_3(all_chunks, last),
        drawing(
            ("figure-2", "Figure 2"),
            "The insertion of a chunk by SPEX",
            "an algorithm, without numbers.",
        ),
        figure_3(&passes, &refined),
        drawing(
            ("figure-4", "Figure 4"),
            "A relationship graph with errors",
            graph,
        ),
        figure_5(&growth),
    ]);
    made.claims.extend([
        most_chunks_are_unique(all_chunks, last),
        refinement_empties_counters(&passes),
        refinement_avoids_collisions(&refined),
        growth_is_linear(&growth),
    ]);
    Ok(())
}

/// Tables 3 and 4.
fn scores(bench: &Bench<'_>, chunks: &Workspace, made: &mut Reproduction) -> Result<()> {
    let (reference, found) = bench.method(&bench.base, REFERENCE)?;
    let pairs = found.join.map_or(0, |join| join.pairs);
    let known = |pairs: &Workspace, levels: &Levels| {
        let counts = at_levels(pairs, levels, Some(&reference), &bench.context())?;
        Ok(counts.iter().map(|at| (at.pairs, at.known)).collect())
    };
    let mut all = scored(bench, chunks, ("bernstein", MODULO[0]), known)?;
    for modulo in MODULO.into_iter().skip(1) {
        let (features, _) = bench.method(&bench.base, &selection(modulo))?;
        all.extend(scored(bench, &features, ("bernstein", modulo), known)?);
    }
    made.exhibits.extend(tables_3_and_4(&all, pairs));
    let claims = [
        length_helps(&all, pairs),
        thresholds_trade(&all),
        modulo_loses(&all, pairs),
    ];
    made.claims.extend(claims);
    Ok(())
}

/// The method that selects one chunk in so many.
fn selection(modulo: u64) -> String {
    format!("deco:selection=modulo-{modulo}")
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
    for step in &mut by_step {
        sum.documents += step.documents;
        sum.bytes += step.bytes;
        sum.instances += step.instances;
        sum.distinct += step.distinct;
        *step = sum;
    }
    Ok(by_step)
}

fn section_4_3(all: u64, shared: Prefix) -> Exhibit {
    let rows = [
        ("all", all, 67_808_917u64),
        ("shared", shared.instances, 2_816_822),
        ("shared, each once", shared.distinct, 907_981),
    ];
    exhibit!("section-4.3", "Section 4.3", "Chunks of eight words",
        "All chunks of the documents without exact duplicates; the chunks that two or more documents have, counted in \
         each document; and the same chunks counted once. The paper's values are for the LA Times.";
        (chunks, here, paper) in rows =>
        chunks: Text = chunks, number: Count = here, share: Share = here as f64 / all as f64,
        number_paper: Count = paper, share_paper: Share = paper as f64 / 67_808_917.0)
}

fn figure_3(passes: &[Pass], refined: &[Vec<Pass>]) -> Exhibit {
    let names = ["2^26, refined", "2^23, refined", "2^23, not refined"];
    let runs = [passes]
        .into_iter()
        .chain(refined.iter().map(Vec::as_slice));
    let rows = names.into_iter().zip(runs);
    let rows = rows.flat_map(|(name, passes)| passes.iter().map(move |pass| (name, pass)));
    exhibit!("figure-3", "Figure 3", "Occupied counters by the size of chunks",
        "Counters that counted one chunk, and more than one, after each pass of SPEX: (a) with 2^26 counters; (b) with \
         2^23, with and without refinement. The paper's collections are larger, so fewer of these counters are \
         occupied here.";
        (name, pass) in rows =>
        counters: Text = name, words: Count = pass.words, once: Count = pass.once, more_than_once: Count = pass.more)
    .lines("words", &["once", "more_than_once"], Some("counters"))
}

fn figure_5(growth: &[Prefix]) -> Exhibit {
    exhibit!("figure-5", "Figure 5", "Shared chunks of the first part of the collection",
        "For the first documents of the collection: chunks that two or more of them have, counted in each document, and \
         counted once. The paper draws the LA Times without printing numbers.";
        prefix in growth =>
        bytes: Bytes = prefix.bytes, documents: Count = prefix.documents,
        shared_chunks: Count = prefix.instances, distinct: Count = prefix.distinct)
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
fn sizes(bench: &Bench<'_>, chunks: &Workspace, made: &mut Reproduction) -> Result<()> {
    let without = index(chunks)?;
    let with = index(&bench.method(&bench.base, WITH_DUPLICATES)?.0)?;
    let mut text = 0u64;
    each_document(&bench.base, |_, document| {
        text += document.length;
        Ok(())
    })?;
    made.exhibits.push(exhibit!("section-8.2", "Section 8.2", "The index of shared chunks",
        "CPU seconds of SPEX and of making the posting lists, from texts that are already read. The paper's numbers are \
         for newswire of 5.3 GB, and its index also has the text of each chunk.";
        index in [without] =>
        collection_bytes: Bytes = text, index_bytes: Bytes = index.bytes, share: Share = index.bytes as f64 / text as f64,
        seconds: Seconds = index.seconds, share_paper: Share = 2.3 / 5.3, hours_paper: Number(0) = 4.0));
    made.exhibits.push(exhibit!("section-8.3", "Section 8.3", "The index with and without exact duplicates",
        "Documents in the posting lists, and bytes of the lists on the disk. The paper's numbers are for newswire: 2.3 GB \
         with exact duplicates, 2.1 GB without them.";
        (which, index, paper) in [("kept", with, 2_300_000_000u64), ("removed", without, 2_100_000_000)] =>
        exact_duplicates: Text = which, entries: Count = index.entries, bytes: Bytes = index.bytes,
        bytes_paper: Bytes = paper));
    let duplicates = Catalogue::stats(&bench.base)?.exact_duplicates;
    made.claims
        .push(duplicates_cost(with.entries, without.entries, duplicates));
    Ok(())
}

fn table_1() -> Exhibit {
    exhibit!("table-1", "Table 1", "Thresholds of the scores", "The thresholds of `deco`, which Tables 2 to 4 use.";
        score in 1..=DECO_THRESHOLDS.len() => score: Text = format!("S{score}"))
    .columns((1..=5).map(|t| format!("t{t}_paper")), Number(2), |row, t| {
        DECO_THRESHOLDS[row][t] as f64 / 100.0
    })
}

/// Edited copies of some documents.
fn table_2(bench: &Bench<'_>, made: &mut Reproduction) -> Result<()> {
    let title = "Coverage of edited copies";
    let originals = bench.originals(ORIGINALS)?;
    if originals == 0 {
        let about = "Cannot be tested here: the collection has no documents to copy.";
        made.exhibits
            .push(Exhibit::new(("table-2", "Table 2"), title, about));
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
    made.exhibits.push(exhibit!("table-2", "Table 2", title, about;
        at in &all =>
        score: Text = format!("S{}", at.score + 1), threshold: Text = format!("T{}", at.threshold + 1),
        coverage: Share = at.known as f64 / reference as f64, precision: Share = at.precision(),
        coverage_paper: Share = TABLE_2[at.score][at.threshold].map(|tenths| tenths as f64 / 1000.0),
        average_precision_paper: Share = 1.0));
    made.claims
        .push(lowest_threshold_covers_all(&all, reference));
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
    let table = |(name, place): (&str, &str), title: &str, wanted: fn(u64) -> bool| {
        exhibit!(name, place, title, about.as_str();
            at in all.iter().filter(|at| wanted(at.modulo)) =>
            modulo: Count = at.modulo, score: Text = format!("S{}", at.score + 1),
            threshold: Text = format!("T{}", at.threshold + 1), pairs: Count = at.pairs,
            coverage: Share = at.known as f64 / reference as f64, precision: Share = at.precision(),
            coverage_paper: Share = paper(at).map(|of| of.0), average_precision_paper: Share = paper(at).map(|of| of.1))
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
fn lost_as_predicted(bench: &Bench<'_>, chunks: &Workspace) -> Result<Claim> {
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

// The claims. Each is a function of counts.

/// Fewer pairs than this say nothing about a share of 9.1 %.
const LEAST_PAIRS: u64 = 100;

/// `pairs` share about 64 chunks; of them, `lost` share fewer than two of one in 16.
fn lost(pairs: u64, lost: u64) -> Claim {
    let predicted = missed(SHARED as f64, MODULO[1] as f64, 2).unwrap_or(0.0);
    let share = lost as f64 / pairs as f64;
    // Twice the deviation of the binomial distribution, and what overlapping chunks add.
    let margin = 2.0 * (predicted * (1.0 - predicted) / pairs as f64).sqrt() + 0.02;
    claim!("Section 4.3", "",
        "If four selected chunks of a pair are expected, 9.1 % of the pairs share fewer than two, by the Poisson \
         distribution.";
        share in (pairs >= LEAST_PAIRS).then_some(share) => (share - predicted).abs() <= margin,
        "Of {} pairs that share 56 to 72 chunks, {} share fewer than two chunks that are 0 modulo 16 ({}).",
        count(pairs), count(lost), percent(share, 1);
        else format!("{} share 56 to 72 chunks. That is too few.", counted(pairs, "pair")))
}

fn most_chunks_are_unique(all: u64, shared: Prefix) -> Claim {
    let part = |part: u64| part as f64 / all as f64;
    claim!("Section 4.3", "section-4.3",
        "Most chunks occur in one document only (95.5 % and more of the LA Times).";
        instances in (all > 0).then(|| part(shared.instances)) => instances < 0.5,
        "{} of the chunks are in one document only; the distinct shared chunks are {} of all.",
        percent(1.0 - instances, 1), percent(part(shared.distinct), 1);
        else "No document has eight words.")
}

fn refinement_empties_counters(passes: &[Pass]) -> Claim {
    let occupied = |pass: &Pass| pass.once + pass.more;
    let most = passes.iter().max_by_key(|pass| occupied(pass));
    let both = most
        .zip(passes.last())
        .filter(|(most, _)| occupied(most) > 0);
    let now = |most: &Pass, last: &Pass| match most.words == last.words {
        true => "there are no longer ones".to_string(),
        false => format!(
            "for chunks of {} words, {}",
            last.words,
            count(occupied(last))
        ),
    };
    claim!("Section 5, Figure 3(a)", "figure-3",
        "From some size of chunks on, fewer counters are occupied in each pass.";
        (most, last) in both => occupied(last) < occupied(most),
        "Most counters are occupied for chunks of {} words, {}; {}.", most.words, count(occupied(most)), now(most, last);
        else "")
}

fn refinement_avoids_collisions(runs: &[Vec<Pass>]) -> Claim {
    let last = |n: usize| runs.get(n).and_then(|passes| passes.last());
    claim!("Section 5, Figure 3(b)", "figure-3",
        "Without refinement more counters say that a chunk is repeated, because chunks collide.";
        (with, without) in last(0).zip(last(1)) => without.more > with.more,
        "After the last pass {} counters say so with refinement, {} without.", count(with.more), count(without.more);
        else "")
}

/// The share of the variance that a straight line has to explain. A parabola's is 0.94.
const STRAIGHT: f64 = 0.98;

fn growth_is_linear(growth: &[Prefix]) -> Claim {
    let points = growth
        .iter()
        .map(|prefix| (prefix.bytes as f64, prefix.instances as f64));
    let line = line(&points.collect::<Vec<_>>());
    let instances = |n: usize| growth.get(n).map_or(0, |prefix| prefix.instances);
    let (half, all) = (instances(growth.len() / 2 - 1), instances(growth.len() - 1));
    claim!("Section 8.1, Figure 5", "figure-5", "The number of duplicate chunks grows linearly with the collection.";
        (.., explained) in line.filter(|_| instances(0) < all) => explained >= STRAIGHT,
        "A straight line explains {} of the variance. Half of the documents share {} chunks, all of them {}.",
        percent(explained, 1), count(half), count(all);
        else "No chunks are shared.")
}

fn duplicates_cost(with: u64, without: u64, duplicates: u64) -> Claim {
    let saved = (with > 0).then(|| (with as f64 - without as f64) / with as f64);
    let here = saved.map(|saved| {
        let (duplicates, saved) = (count(duplicates), percent(saved, 1));
        format!("{duplicates} exact duplicates. Without them the posting lists have {saved} fewer entries.")
    });
    claim!("Section 8.3", "section-8.3",
        "Without exact duplicates the index is somewhat smaller: by about 10 % for newswire (here by anything).";
        whether saved.filter(|_| duplicates > 0).map(|saved| saved > 0.0),
        "{}", here.unwrap_or("No chunks are shared.".into()))
}

fn lowest_threshold_covers_all(all: &[Scored], reference: u64) -> Claim {
    let at: Vec<&Scored> = all.iter().filter(|at| at.threshold == 0).collect();
    let whole = |at: &&Scored| at.known == reference && at.pairs == reference;
    let share = |at: &Scored| percent(at.known as f64 / reference as f64, 1);
    claim!("Section 8.4, Table 2", "table-2",
        "At T1 every score finds all pairs of the edited documents, and none is false.";
        whether (reference > 0 && !at.is_empty()).then(|| at.iter().all(whole)),
        "Coverage at T1: {}.", listed(", ", &at, |at| format!("S{} {}", at.score + 1, share(at))))
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
    claim!("Section 8.4, Table 3", "table-3",
        "S2, S3 and S4, which consider the lengths of the documents, are better than S1.";
        whether known.then(|| best.iter().skip(1).all(|f1| *f1 > best[0])),
        "Best F1 over the thresholds: {}.", listed(", ", (1..).zip(&best), |(n, f1)| format!("S{n} {f1:.3}")))
}

fn thresholds_trade(all: &[Scored]) -> Claim {
    let found = [0, 1, 2, 3].map(|score| {
        let of = all.iter().filter(|at| (at.modulo, at.score) == (1, score));
        of.filter_map(Scored::precision).collect::<Vec<f64>>()
    });
    let ends = (1..)
        .zip(&found)
        .filter_map(|(n, of)| Some((n, *of.first()?, *of.last()?)));
    let ends: Vec<(usize, f64, f64)> = ends.collect();
    let said = |(n, first, last): &(usize, f64, f64)| {
        format!("S{n} from {} to {}", percent(*first, 1), percent(*last, 1))
    };
    claim!("Section 8.4, Table 3", "table-3", "A higher threshold loses coverage and gains precision.";
        whether found.iter().all(|of| of.len() > 1).then(|| ends.iter().all(|(_, first, last)| last >= first)),
        "Precision at T1 and at the highest threshold with pairs: {}.", listed(", ", &ends, said))
}

fn modulo_loses(all: &[Scored], reference: u64) -> Claim {
    let coverage = |modulo: u64| {
        let at = all.iter().filter(|at| at.modulo == modulo && at.score > 0);
        at.map(|at| at.known as f64 / reference as f64)
            .fold(0.0, f64::max)
    };
    claim!("Section 8.5, Table 4", "table-4",
        "One chunk in 16 loses some of the pairs, and one in 256 many of them (a tenth or more of the best coverage).";
        [full, sixteen, most] in (reference > 0).then(|| MODULO.map(coverage)) =>
        full >= sixteen && sixteen > most && most < 0.9 * full,
        "Best coverage of S2, S3 and S4: {} with all chunks, {} with one in 16, {} with one in 256.",
        percent(full, 1), percent(sixteen, 1), percent(most, 1);
        else "The reference has no pairs.")
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
        let unique = |(all, of)| most_chunks_are_unique(all, shared(of));
        assert_findings([(100, 5), (100, 80), (0, 0)].map(unique));
        let linear = |of: fn(u64) -> u64| growth_is_linear(&prefixes(of));
        assert_findings([linear(|n| 7 * n), linear(|n| n * n * n), linear(|_| 0)]);
        let cost = |(without, duplicates)| duplicates_cost(100, without, duplicates);
        assert_findings([(90, 3), (100, 3), (100, 0)].map(cost));
        // 9.2 % are predicted.
        assert_findings([(1000, 92), (1000, 300), (99, 9)].map(|(pairs, of)| lost(pairs, of)));
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
        assert_findings([&passes[..], &passes[..2], &[]].map(refinement_empties_counters));
        let run = |more| vec![pass(8, more)];
        let runs = [[run(4), run(9)], [run(9), run(9)], [run(9), Vec::new()]];
        assert_findings(runs.map(|runs| refinement_avoids_collisions(&runs)));
    }

    #[test]
    fn claims_about_scores() {
        let t1 = |found| (0..4).map(move |score| at(score, 0, 1, found, 100));
        let t1 = [t1(100).collect(), t1(120).collect(), Vec::new()];
        assert_findings(t1.map(|at| lowest_threshold_covers_all(&at, 100)));
        let better = table(1, [(100, 50), (20, 18)], [(100, 90), (70, 69)]);
        let worse = table(1, [(100, 90), (20, 10)], [(100, 50), (20, 5)]);
        let scores = [(&better, 100), (&worse, 100), (&better, 0)];
        assert_findings(scores.map(|(all, reference)| length_helps(all, reference)));
        assert_findings([&better[..], &worse, &[]].map(thresholds_trade));
        let loses = |(sixteen, most, reference)| {
            let same =
                |modulo, known| table(modulo, [(100, known), (9, 9)], [(100, known), (9, 9)]);
            let tables = [same(1, 95), same(16, sixteen), same(256, most)];
            modulo_loses(&tables.concat(), reference)
        };
        assert_findings([(90, 50, 100), (95, 94, 100), (90, 50, 0)].map(loses));
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
