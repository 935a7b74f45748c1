//! Which ratio each size group needs (Ye, Wen & Ma 2008, section 6).

use super::measure::{PairKind, RatioTrials, Scope, View};

/// Target precisions, in hundredths: the paper's 0.50 to 0.99, every one of them.
pub(super) const TARGETS: std::ops::RangeInclusive<u32> = 50..=99;

/// Means are sums of a few fractions: a mean that misses the target only by rounding meets it.
const ROUNDING: f64 = 1e-9;

/// The ratios needed to reach a precision at a threshold.
#[derive(Debug, PartialEq)]
pub(super) struct GroupRatios {
    /// In hundredths.
    pub target: u32,
    /// Number of the threshold.
    pub threshold: usize,
    /// The n of each group's ratio 1/n.
    pub groups: Vec<u32>,
    /// Groups that have no pairs, true or found, at any ratio.
    pub without_pairs: usize,
    /// Sampled shingles / all, in the mean over the classes; `None` where there are no shingles.
    pub share: Option<f64>,
    /// The n of the single ratio that suffices for all groups.
    pub uniform: u32,
    /// The share of the shingles that this ratio takes.
    pub uniform_share: Option<f64>,
}

/// Plans for every threshold (outer) and target (inner).
pub(super) fn plans(view: &View) -> Vec<GroupRatios> {
    let mut plans = Vec::new();
    for threshold in 0..view.thresholds().len() {
        plans.extend(TARGETS.map(|target| plan(view, target, threshold)));
    }
    plans
}

/// The plan for one threshold and target.
pub(super) fn plan(view: &View, target: u32, threshold: usize) -> GroupRatios {
    let mut groups = Vec::with_capacity(view.study.groups.len());
    let mut without_pairs = 0;
    let mut sampled = 0.0;
    for group in 0..view.study.groups.len() {
        let scope = Scope::Group(group);
        without_pairs += usize::from(!has_pairs(view, scope, PairKind::Same, threshold));
        let chosen = coarsest(view, scope, PairKind::Same, threshold, target);
        groups.push(chosen.map_or(1, |ratio| ratio.n));
        sampled += taken(view, chosen, scope);
    }
    let uniform = coarsest(view, Scope::All, PairKind::All, threshold, target);
    let all = view.whole(Scope::All).shingles as f64;
    let share = |part: f64| (all > 0.0).then(|| part / all);
    GroupRatios {
        target,
        threshold,
        groups,
        without_pairs,
        share: share(sampled),
        uniform: uniform.map_or(1, |ratio| ratio.n),
        uniform_share: share(taken(view, uniform, Scope::All)),
    }
}

/// Whether there is any pair, true or found at some ratio.
pub(super) fn has_pairs(view: &View, scope: Scope, pairs: PairKind, threshold: usize) -> bool {
    let mut trials = view.ratios.iter().flat_map(|ratio| &ratio.trials);
    trials.any(|trial| {
        let counts = trial.counts(scope, pairs, threshold);
        counts.found() + counts.true_pairs() > 0
    })
}

/// The coarsest ratio whose mean precision meets the target, or the coarsest of all if there are no
/// pairs that could be false; `None` if only the exact run meets it.
fn coarsest<'v, 'a>(
    view: &'v View<'a>,
    scope: Scope,
    pairs: PairKind,
    threshold: usize,
    target: u32,
) -> Option<&'v RatioTrials<'a>> {
    let target = f64::from(target) / 100.0;
    if !has_pairs(view, scope, pairs, threshold) {
        return view.sampled_ratios().next_back();
    }
    view.sampled_ratios().rev().find(|ratio| {
        let mean = ratio.precision(scope, pairs, threshold).mean();
        mean.is_some_and(|mean| mean + ROUNDING >= target)
    })
}

/// Shingles to process: the mean number sampled, or all.
fn taken(view: &View, ratio: Option<&RatioTrials>, scope: Scope) -> f64 {
    let sampled = ratio.and_then(|ratio| ratio.sampled(scope));
    sampled.unwrap_or_else(|| view.whole(scope).shingles as f64)
}
