//! `deco`: shared chunks that SPEX selects, and the scores of co-derivation.
//!
//! # Source
//! Bernstein & Zobel 2006: chunks of 8 words, selected by SPEX (section 5) or another selection of
//! `selection.rs` (sections 4.2 and 6.1); scores S1 to S4 (6.2) with the thresholds T1 to T5 of
//! Table 1, divided by the modulo if there is one (8.5); exact duplicates first (6.1); pairs
//! counted by probabilistic counting (4.2.2, 6.2); the pairs are the edges of the relationship
//! graph (3; `lookalike export graph`). `duplicates=keep` leaves exact duplicates in the index, as the
//! comparison of section 8.3 does.
//!
//! # Algorithm
//! The features of a document are the hashes of its selected chunks. S1 to S3 are measures of the
//! join. S4 weighs every shared chunk by 1 / f, where f is the number of documents with it
//! (`join/weigh.rs`).
//!
//! # Where we depart from the paper
//! - SPEX is a selection of `deco` and not a method of its own: without a score it has no pairs.
//! - The paper has no default score and threshold. Ours is S3 at T3, which it ranks among the best
//!   (Table 3).
//! - Hashes are 64 bits of xxh3, and chunks are a set: a chunk that a document repeats counts once.
//!   Chunk texts are not kept.
//! - With `duplicates=remove`, f counts only representatives, because exact duplicates have no
//!   features.
//! - S4 as printed is at most 1/2: a shared chunk has an f of at least two, and no document has
//!   more chunks than words. T5 of Table 1 (1.0) therefore selects nothing, and T4 (0.5) almost
//!   nothing, although Table 2 lists results for both. The authors must have measured something
//!   other than the printed formula.
//! - The text gives MD5 160 bits; it has 128.
//! - `counting=probabilistic` applies if pairs are counted in several blocks of postings. The
//!   budget includes the memory of its counters.

use super::selection::ChunkSelection;
use super::spex::{self, Spex};
use super::{Entry, Keys, Method, Values, join_by, join_by_shared};
use lookalike_base::{Context, Measure, Result, Threshold, budget::ByteSize};
use lookalike_engine::join::{Join, JoinConfig};
use lookalike_store::Workspace;

pub(super) const METHOD: Entry = Entry {
    name: "deco",
    about: "Chunks that occur more than once (SPEX), with scores S1 to S4 of the shared ones",
    paper: "Bernstein & Zobel 2006, sections 3 to 8",
    parameters: &[
        "size=8: words in a chunk",
        "selection=spex: chunks to compare: full, spex, modulo-K, random-N, every-N, rare-N, anchor-A.B, winnowing-W or \
             min-N; chunks that two of them select: spex+modulo-16",
        "memory=64MiB: size of each of SPEX's two tables of counters, a power of two; a byte has four counters",
        "iterate=true: true: SPEX counts only chunks whose subchunks occur more than once; false: all chunks",
        "score=s3: s1: number of shared chunks; s2: divided by the words of the shorter document; s3: by their mean; \
             s4: as s3, but rare chunks weigh more",
        "threshold=T3: T1 to T5 of the paper's Table 1 (divided by K with modulo-K), or a number",
        "duplicates=remove: exact duplicates: remove, or keep: they have features and pairs like all other documents",
        "counting=auto: algorithm: auto, exact (by counting) or probabilistic; the pairs are the same",
    ],
    build: |values| {
        let selection = ChunkSelection::read(values.text("selection"))?;
        let memory: ByteSize = values.text("memory").parse()?;
        if !memory.0.is_power_of_two() || memory.0 < spex::LEAST_BYTES {
            let least = spex::LEAST_BYTES;
            return Err(format!(
                "memory is a power of two of at least {least} bytes"
            ));
        }
        let counting = [
            ("auto", Join::Auto),
            ("exact", Join::Count),
            ("probabilistic", Join::Probabilistic),
        ];
        let mut join = join(values, selection.modulo())?;
        join.join = values.one_of("counting", &counting)?;
        join.max_postings = selection.rare();
        if join.max_postings.is_some() && join.join == Join::Auto {
            join.join = Join::Count;
        }
        let size = values.number("size", 1..=1000)? as usize;
        let iterate = values.flag("iterate")?;
        let keeps_duplicates = values.one_of("duplicates", &[("remove", false), ("keep", true)])?;
        let prepare = move |collection: &Workspace, context: &Context<'_>| {
            let run = || {
                Spex::run(
                    collection,
                    size,
                    memory.0,
                    iterate,
                    keeps_duplicates,
                    context,
                )
            };
            let spex = selection.spex().then(run).transpose()?;
            let held_bytes = spex.as_ref().map_or(0, |spex| spex.bytes);
            let files = spex.iter().map(|spex| (spex::FILE, spex.table.clone()));
            let (files, selection) = (files.collect(), selection.clone());
            let keys = Keys::of(move |document, keys| {
                selection.select(document, size, spex.as_ref(), keys);
            });
            Ok(Keys {
                held_bytes,
                files,
                ..keys
            })
        };
        Ok(Method {
            keeps_duplicates,
            ..Method::new(join, prepare)
        })
    },
};

/// The thresholds T1 to T5 of Bernstein & Zobel 2006, Table 1, in hundredths: of the scores S1, S2,
/// S3 and S4.
pub const TABLE_1: [[u64; 5]; 4] = [
    [2000, 10_000, 20_000, 50_000, 100_000],
    [3, 5, 10, 15, 30],
    [2, 5, 10, 15, 30],
    [2, 5, 20, 50, 100],
];

/// The measures of the scores S2, S3 and S4.
const MEASURES: [Measure; 3] = [Measure::S2, Measure::S3, Measure::S4];

/// A join by the score in a row of [`TABLE_1`], at a threshold in hundredths, divided by the modulo;
/// `None` if that is too small.
pub fn at(score: usize, hundredths: u64, modulo: u64) -> Option<JoinConfig> {
    Some(match score {
        0 => join_by_shared(hundredths.div_ceil(100 * modulo) as u32),
        n => join_by(MEASURES[n - 1], Threshold::new(hundredths, 100 * modulo)?),
    })
}

/// Score and threshold.
fn join(values: &Values, modulo: u64) -> Result<JoinConfig, String> {
    let scores = [("s1", 0), ("s2", 1), ("s3", 2), ("s4", 3)];
    let score: usize = values.one_of("score", &scores)?;
    let text = values.text("threshold");
    let mut named = ["T1", "T2", "T3", "T4", "T5"].iter().zip(TABLE_1[score]);
    if let Some((_, hundredths)) = named.find(|(name, _)| **name == text) {
        let too_small = || format!("{text} divided by {modulo} is too small a threshold");
        return at(score, hundredths, modulo).ok_or_else(too_small);
    }
    Ok(match score {
        0 => join_by_shared(values.number("threshold", 1..=u64::from(u32::MAX))? as u32),
        n => join_by(MEASURES[n - 1], values.threshold("threshold")?),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;

    #[test]
    fn thresholds_are_those_of_table_1() {
        let join = |text: &str| Spec::read(text).unwrap().method.join;
        let threshold = |text: &str| join(text).threshold.to_string();
        assert_eq!(
            join("deco:score=s1,threshold=T1").measure,
            Measure::Shared(20)
        );
        assert_eq!(
            join("deco:score=s1,threshold=T5").measure,
            Measure::Shared(1000)
        );
        // 20 / 16: a pair needs two shared chunks to reach it.
        let modulo = "deco:selection=spex+modulo-16,score=s1,threshold=T1";
        assert_eq!(join(modulo).measure, Measure::Shared(2));
        assert_eq!(join("deco").measure, Measure::S3);
        let same = |a: &str, b: &str| assert_eq!(a.parse::<Threshold>(), b.parse(), "{a} {b}");
        same(&threshold("deco"), "1/10");
        same(&threshold("deco:score=s2,threshold=T1"), "3/100");
        same(&threshold("deco:score=s4,threshold=T5"), "1");
        same(&threshold("deco:selection=modulo-256,score=s4"), "1/1280");
        same(&threshold("deco:selection=modulo-256,threshold=0.2"), "0.2");
        for text in [
            "deco:memory=63MiB",
            "deco:memory=4",
            "deco:score=s1,threshold=0.5",
            "deco:threshold=T6",
            "deco:selection=modulo-0",
        ] {
            assert!(Spec::read(text).is_err(), "{text}");
        }
    }
}
