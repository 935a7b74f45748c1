//! Removals for a person to judge: at random, and nearest the threshold.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{AuditConfig, STAGE};
use crate::dedup::{Decided, Removal};
use lookalike_base::{Least, Ratio, Result, keywords};

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
    /// The removed document; for a near miss, the document that comes first.
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
    decided: &Decided<'_>,
    config: &AuditConfig,
) -> Result<(Vec<SamplePair>, [u64; 2])> {
    let choice = &decided.choice;
    let mut random = Least::new(config.samples);
    let mut nearest = Least::new(config.samples);
    let (mut random_of, mut nearest_of) = (0, 0);
    for document in choice.first..choice.documents() {
        decided.context.tick(STAGE, document)?;
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
            let sizes = decided.measured(document, survivor);
            let score = Ratio::of(decided.criterion.measure, fate.shared, sizes);
            nearest.offer((score, document));
        }
    }
    let mut random: Vec<u32> = random.sorted().into_iter().map(|(_, of)| of).collect();
    random.sort_unstable();
    let random = random.into_iter().map(|of| (SampleKind::Random, of));
    let nearest = nearest.sorted().into_iter();
    let nearest = nearest.map(|(_, of)| (SampleKind::Nearest, of));
    let pairs = random.chain(nearest);
    let pairs = pairs.filter_map(|(kind, document)| removal(decided, kind, document));
    Ok((pairs.collect(), [random_of, nearest_of]))
}

/// A removal and its survivor.
fn removal(decided: &Decided<'_>, kind: SampleKind, document: u32) -> Option<SamplePair> {
    let fate = decided.choice.fate(document)?;
    Some(SamplePair {
        reason: Some(fate.reason),
        ..pair(decided, kind, (document, fate.survivor?), fate.shared)
    })
}

/// Two documents that share this number of shingles.
pub(super) fn pair(
    decided: &Decided<'_>,
    kind: SampleKind,
    (document, other): (u32, u32),
    shared: u32,
) -> SamplePair {
    let (a, b) = decided.measured(document, other);
    SamplePair {
        kind,
        id: String::new(),
        document,
        other,
        reason: None,
        shared,
        sizes: (a, b),
        score: (decided.criterion.measure).text(shared.into(), a.into(), b.into()),
    }
}
