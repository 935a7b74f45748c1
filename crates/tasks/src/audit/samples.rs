//! Removals for a person to judge: at random, and nearest the threshold.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{AuditConfig, Reading, STAGE, score_text};
use crate::dedup::Removal;
use lookalike_base::Result;
use lookalike_base::keywords::keywords;
use lookalike_base::least::Least;
use lookalike_base::ratio::Ratio;

keywords! {
    /// How a pair was chosen.
    #[derive(PartialOrd, Ord)]
    pub enum SampleKind {
        /// A removal, at random.
        Random = "random",
        /// A removal that is among the nearest to the threshold.
        Nearest = "nearest",
        /// Two kept documents that are just below the threshold.
        NearMiss = "near_miss",
    }
}

/// Two documents for a person to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplePair {
    /// How it was chosen.
    pub kind: SampleKind,
    /// The name of the pair in a review file.
    pub id: String,
    /// The removed document; of a near miss the one that comes first.
    pub document: u32,
    /// Its survivor; of a near miss the other document.
    pub other: u32,
    /// Why the document was removed.
    pub reason: Option<Removal>,
    /// Shared shingles.
    pub shared: u32,
    /// Shingles of each.
    pub sizes: (u32, u32),
    /// The printed score.
    pub score: String,
}

/// Draws both samples. Returns them and the numbers of removals from which the random ones are
/// drawn and among which the nearest are. A random sample without replacement: the removals with the smallest hashes.
pub(super) fn draw(
    reading: &Reading<'_>,
    config: &AuditConfig,
) -> Result<(Vec<SamplePair>, [u64; 2])> {
    let choice = &reading.decided.choice;
    let mut random = Least::new(config.samples);
    let mut nearest = Least::new(config.samples);
    let (mut random_of, mut nearest_of) = (0, 0);
    for document in choice.first..choice.documents() {
        reading.context.tick(STAGE, document)?;
        let fate = choice.fate(document);
        let fate = fate.filter(|fate| !fate.reason.is_of_equals());
        let Some((fate, survivor)) = fate.and_then(|fate| Some((fate, fate.survivor?))) else {
            continue;
        };
        random_of += 1;
        let hash = xxh3_64_with_seed(&document.to_le_bytes(), config.seed);
        random.offer((hash, document));
        if fate.reason != Removal::Chain {
            nearest_of += 1;
            let sizes = sizes(reading, document, survivor);
            let score = Ratio::of(reading.criterion.measure, fate.shared, sizes);
            nearest.offer((score, document));
        }
    }
    let mut random: Vec<u32> = random.sorted().into_iter().map(|(_, of)| of).collect();
    random.sort_unstable();
    let random = random.into_iter().map(|of| (SampleKind::Random, of));
    let nearest = nearest.sorted().into_iter();
    let nearest = nearest.map(|(_, of)| (SampleKind::Nearest, of));
    let pairs = random.chain(nearest);
    let pairs = pairs.filter_map(|(kind, document)| removal(reading, kind, document));
    Ok((pairs.collect(), [random_of, nearest_of]))
}

pub(super) fn sizes(reading: &Reading<'_>, a: u32, b: u32) -> (u32, u32) {
    let class = |document| reading.decided.choice.representative(document);
    reading.sizes.measured(class(a), class(b))
}

/// A removal and its survivor.
fn removal(reading: &Reading<'_>, kind: SampleKind, document: u32) -> Option<SamplePair> {
    let fate = reading.decided.choice.fate(document)?;
    Some(SamplePair {
        reason: Some(fate.reason),
        ..pair(reading, kind, (document, fate.survivor?), fate.shared)
    })
}

/// Two documents that share this number of shingles.
pub(super) fn pair(
    reading: &Reading<'_>,
    kind: SampleKind,
    (document, other): (u32, u32),
    shared: u32,
) -> SamplePair {
    let sizes = sizes(reading, document, other);
    SamplePair {
        kind,
        id: String::new(),
        document,
        other,
        reason: None,
        shared,
        sizes,
        score: score_text(reading.criterion.measure, shared, sizes),
    }
}
