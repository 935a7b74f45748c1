//! Near misses: pairs of documents that are just below the threshold, so that both are kept.
//!
//! The pair list does not have them. If the collection lists pairs to review down to [`BELOW`] under
//! the threshold, they are read from that list. Otherwise the join runs again, in scratch space.

use std::cmp::Reverse;

use super::STAGE;
use super::samples::{SampleKind, SamplePair, pair};
use crate::dedup::Decided;
use lookalike_base::{Criterion, Least, Ratio, Result, Threshold};
use lookalike_engine::join::{JoinConfig, List, Pair, PairsEntry, each_measured_pair};
use lookalike_engine::sample::Sampling;
use lookalike_engine::trial;
use lookalike_store::Workspace;

/// How far below the threshold near misses are: a tenth.
pub const BELOW: (u64, u64) = (1, 10);

/// The threshold that is lower by [`BELOW`]. A threshold that is not more than twice that is
/// halved: a join with a threshold near 0 lists almost all pairs.
fn lower(threshold: Threshold) -> Threshold {
    let (p, q) = (threshold.numerator(), threshold.denominator());
    let (below, of) = BELOW;
    let lower = match p * of > 2 * below * q {
        // A denominator has at most nine digits.
        true if q * of <= 1_000_000_000 => Threshold::new(p * of - below * q, q * of),
        true => {
            let scale = 1_000_000_000;
            let part = u128::from(p) * u128::from(scale) / u128::from(q);
            Threshold::new(part as u64 - below * scale / of, scale)
        }
        false => Threshold::new(p, 2 * q).or(Threshold::new(p / 2, q)),
    };
    lower.unwrap_or(threshold)
}

/// The near misses that are nearest to the threshold; of equal ones, those that come first.
pub(super) fn misses(
    decided: &Decided<'_>,
    most: usize,
) -> Result<(Vec<SamplePair>, u64, Threshold)> {
    let criterion = decided.criterion;
    let from = lower(criterion.threshold);
    if most == 0 || from >= criterion.threshold {
        return Ok((Vec::new(), 0, from));
    }
    let place = decided.scratch.path().join("near");
    let lower = Criterion {
        threshold: from,
        ..criterion
    };
    let (base, held, context) = (decided.workspace, decided.used, decided.context);
    let join = JoinConfig {
        review: Some(from),
        ..JoinConfig::from(criterion)
    };
    let reviewed = |pairs: &PairsEntry| pairs.config.review.is_some_and(|review| review <= from);
    let near = match base.matches(reviewed) {
        true => None,
        false => Some(trial::ask(base, &place, &Sampling::Full, join, held, context)?.0),
    };
    let first = decided.choice.first;
    let mut nearest = Least::new(most);
    let (mut passed, mut all) = (0u64, 0);
    let list = near.as_ref().unwrap_or(base);
    each_measured_pair(list, List::Review, &decided.sizes, |pair, sizes| {
        passed += 1;
        context.tick(STAGE, passed)?;
        let Pair { a, b, shared, .. } = pair;
        if !lower.reached(shared.into(), sizes.0.into(), sizes.1.into()) {
            return Ok(());
        }
        let kept = |class| decided.choice.kept_of(class);
        let (Some(a), Some(b)) = (kept(a), kept(b)) else {
            return Ok(());
        };
        // Two documents of another collection were not compared.
        if a.max(b) < first {
            return Ok(());
        }
        all += 1;
        let score = Ratio::of(criterion.measure, shared, sizes);
        nearest.offer((Reverse(score), a.min(b), a.max(b), shared));
        Ok(())
    })?;
    near.map_or(Ok(()), Workspace::discard)?;
    let nearest = nearest.sorted().into_iter();
    let pair = |(_, a, b, shared)| pair(decided, SampleKind::NearMiss, (a, b), shared);
    Ok((nearest.map(pair).collect(), all, from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_threshold_is_a_tenth_below() {
        let of = |p, q| Threshold::new(p, q).unwrap();
        assert_eq!(lower(of(17, 20)), of(3, 4));
        assert_eq!(lower(of(1, 1)), of(9, 10));
        assert_eq!(lower(of(2, 3)), of(17, 30));
        assert_eq!(lower(of(1, 5)), of(1, 10));
        assert_eq!(lower(of(1, 10)), of(1, 20));
        assert_eq!(
            lower(of(999_999_999, 1_000_000_000)),
            of(899_999_999, 1_000_000_000)
        );
        assert_eq!(lower(of(1, 1_000_000_000)), of(1, 1_000_000_000));
    }
}
