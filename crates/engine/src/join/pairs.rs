//! The pair list on disk: a part in the format of a run, with key = a·2^32 + b and value = shared
//! count.

use crate::join::list::{count, open_part};
use crate::join::{DIRECTORY, List, Pairs, PairsEntry};
use crate::merge::LoserTree;
use crate::sample::Sampled;
use crate::sort::RunFile;
use lookalike_base::{Error, Measure, Result};
use lookalike_store::{Kind, Workspace};

/// Two representatives, a < b, and their shared count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The document that comes first.
    pub a: u32,
    /// The other document.
    pub b: u32,
    /// Fingerprints in both samples.
    pub shared: u32,
    /// With [`Measure::S4`]: the score, in units of 2^-32.
    pub score: u32,
}

impl Pair {
    /// The key that orders pairs.
    pub fn key(a: u32, b: u32) -> u64 {
        u64::from(a) << 32 | u64::from(b)
    }

    /// The number from which a measure computes its value ([`Measure::text`]).
    pub fn amount(&self, measure: Measure) -> u64 {
        self.stored_amount(measure).into()
    }

    /// [`Pair::amount`] in the width of the stored number.
    pub(crate) fn stored_amount(&self, measure: Measure) -> u32 {
        match measure {
            Measure::S4 => self.score,
            _ => self.shared,
        }
    }

    /// The two documents of a key.
    pub fn of_key(key: u64) -> (u32, u32) {
        ((key >> 32) as u32, key as u32)
    }
}

/// Opens the pair list of a directory that documents cannot be added to: it has one part.
pub fn open_pairs(workspace: &Workspace) -> Result<RunFile<u64>> {
    open_part(
        workspace,
        Kind::Pairs,
        &workspace.record::<PairsEntry>("join")?.part,
    )
}

/// Calls `each` with every pair of a committed list, in order.
pub fn each_pair(
    workspace: &Workspace,
    list: List,
    mut each: impl FnMut(Pair) -> Result<()>,
) -> Result<()> {
    let corrupt = |list: &RunFile<u64>, what: &str, expected: u64, found: u64| {
        Error::corrupt(list.path(), what).expected(expected, found)
    };
    let entry = workspace.record::<PairsEntry>("join")?;
    let open = |part| open_part(workspace, Kind::Pairs, part);
    let lists = entry.parts_of(list).map(open).collect::<Result<Vec<_>>>()?;
    if lists.is_empty() && entry.config.review.is_some() {
        return Err(Error::no_stage(workspace.directory(), "join"));
    }
    let scores = entry.scores.as_ref().map(open).transpose()?;
    let mut scored = scores.as_ref().map(|run| run.range(0, u64::MAX));
    let mut scored = scored.take().transpose()?;
    let cursors = lists.iter().map(|list| list.range(0, u64::MAX));
    let mut merged = LoserTree::new(cursors.collect::<Result<_>>()?);
    let mut pairs = 0;
    while let Some(record) = merged.next()? {
        let mut score = 0;
        if let (Some(scored), Some(list)) = (&mut scored, &scores) {
            let found = scored.head().unwrap_or_default();
            if found.key != record.key {
                return Err(corrupt(list, "the pair of a score", record.key, found.key));
            }
            score = found.value;
            scored.advance()?;
        }
        let (a, b) = Pair::of_key(record.key);
        let shared = record.value;
        each(Pair {
            a,
            b,
            shared,
            score,
        })?;
        pairs += 1;
    }
    let records = count(&lists);
    if pairs != records {
        return Err(corrupt(&lists[0], "pairs in the list", records, pairs));
    }
    Ok(())
}

/// As [`each_pair`], with the sizes of both documents ([`sizes_of_pairs`]).
///
/// # Errors
/// As [`each_pair`]; `Corrupt` if two sets of these sizes cannot share as many, or do not reach the
/// threshold.
pub fn each_measured_pair(
    workspace: &Workspace,
    list: List,
    sizes: &Sampled,
    mut each: impl FnMut(Pair, (u32, u32)) -> Result<()>,
) -> Result<()> {
    let entry = workspace.record::<PairsEntry>("join")?;
    let config = entry.config;
    let criterion = match list {
        List::Pairs => config.criterion(),
        List::Review => config.of_samples(),
    };
    each_pair(workspace, list, |pair| {
        let (a, b) = sizes.measured(pair.a, pair.b);
        let possible = pair.shared <= a.min(b);
        // A link of a cluster may be below the threshold.
        let reached = || criterion.reached(pair.shared.into(), a.into(), b.into());
        if possible && (config.pairs == Pairs::None || reached()) {
            return each(pair, (a, b));
        }
        let part = entry.parts_of(list).next().unwrap_or(&entry.part);
        let path = workspace.part(DIRECTORY, &part.name);
        let expected = match possible {
            true => format!("at least the threshold {}", criterion.threshold),
            false => format!("at most {}, the size of the smaller set", a.min(b)),
        };
        let what = format!("what the documents {} and {} share", pair.a, pair.b);
        let found = format!("{} fingerprints of {a} and {b}", pair.shared);
        Err(Error::corrupt(path, what).expected(expected, found))
    })
}

/// The sizes that the join used to compare the committed pairs: of the samples, or of the full sets
/// if the pairs were verified against them.
pub fn sizes_of_pairs(workspace: &Workspace) -> Result<Sampled> {
    let pairs = workspace.manifest.get::<PairsEntry>();
    if pairs.is_some_and(|pairs| pairs.config.candidates.is_some()) {
        return Sampled::of_full_sets(workspace);
    }
    let measure = pairs.map_or(Measure::default(), |pairs| pairs.config.measure);
    Sampled::load_for(workspace, measure)
}
