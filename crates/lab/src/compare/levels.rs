//! Pairs at several thresholds, counted from the list of the lowest: each method is joined once.
//!
//! # Cost
//! The list is streamed. Memory: the sizes of the sets of one method.

use super::STAGE;
use lookalike_base::{Context, Criterion, Measure, PROCESS_BYTES, Result, counted};
use lookalike_engine::collection::Catalogue;
use lookalike_engine::join::{List, Pair, each_pair, open_pairs, sizes_of_pairs};
use lookalike_engine::sample::Sampled;
use lookalike_store::Workspace;

/// Memory for each document: its size, in keys and in words.
const DOCUMENT_BYTES: u64 = 8;

/// The criteria that the pairs of a list may reach, each stricter than the one before.
pub struct Levels {
    sizes: Sampled,
    criteria: Vec<Criterion>,
}

/// The pairs that reach a criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtLevel {
    /// The number of pairs.
    pub pairs: u64,
    /// The pairs among them that the reference has.
    pub known: u64,
}

impl Levels {
    /// The criteria for the pairs of `workspace`.
    pub(crate) fn new(
        workspace: &Workspace,
        criteria: Vec<Criterion>,
        context: &Context<'_>,
    ) -> Result<Levels> {
        let documents = Catalogue::extent(workspace)?.documents;
        let what = || format!("the sizes of {}", counted(documents, "document"));
        let least = PROCESS_BYTES + documents * DOCUMENT_BYTES;
        context.budget.require(least, what)?;
        let sizes = sizes_of_pairs(workspace)?;
        Ok(Levels { sizes, criteria })
    }

    /// The number of criteria that a pair reaches.
    pub(crate) fn reached(&self, pair: &Pair) -> usize {
        let (a, b) = self.sizes.measured(pair.a, pair.b);
        let reached = |criterion: &Criterion| match criterion.measure {
            // The stored score is rounded down.
            Measure::S4 => {
                let t = criterion.threshold;
                let (p, q) = (t.numerator(), t.denominator());
                u128::from(pair.score) >= (u128::from(p) << 32) / u128::from(q)
            }
            _ => criterion.reached(pair.shared.into(), a.into(), b.into()),
        };
        self.criteria.partition_point(reached)
    }
}

/// Counts the pairs of a list at every criterion, and those that the list of `reference` has.
pub fn at_levels(
    workspace: &Workspace,
    levels: &Levels,
    reference: Option<&Workspace>,
    context: &Context<'_>,
) -> Result<Vec<AtLevel>> {
    let known = reference.map(open_pairs).transpose()?;
    let mut cursor = known.as_ref().map(|list| list.range(0, u64::MAX));
    let mut cursor = cursor.take().transpose()?;
    // By the number of criteria reached.
    let mut exactly = vec![AtLevel::default(); levels.criteria.len() + 1];
    let mut number = 0u32;
    each_pair(workspace, List::Pairs, |pair| {
        context.tick(STAGE, number)?;
        number = number.wrapping_add(1);
        let key = Pair::key(pair.a, pair.b);
        let mut is_known = false;
        if let Some(cursor) = &mut cursor {
            while cursor.head().is_some_and(|record| record.key < key) {
                cursor.advance()?;
            }
            is_known = cursor.head().is_some_and(|record| record.key == key);
        }
        if let Some(at) = exactly.get_mut(levels.reached(&pair)) {
            at.pairs += 1;
            at.known += u64::from(is_known);
        }
        Ok(())
    })?;
    let mut counts = exactly.split_off(1);
    // A pair that reaches a criterion reaches those before it.
    for n in (1..counts.len()).rev() {
        let stricter = counts[n];
        lookalike_base::add!(counts[n - 1], stricter => pairs, known);
    }
    Ok(counts)
}
