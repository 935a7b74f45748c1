//! Which ratio each size group needs (Ye, Wen & Ma 2008, section 6), and the fewest shingles with
//! which any choice of ratios would have kept the precision.

use super::view::{PairKind, RatioTrials, Scope, View};

/// Target precisions, in hundredths: the paper's 0.50 to 0.99, every one of them.
pub const TARGETS: std::ops::RangeInclusive<u32> = 50..=99;

/// Means are sums of a few fractions: a mean that misses the target only by rounding meets it.
pub const ROUNDING: f64 = 1e-9;

/// The ratios needed to reach a precision at a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRatios {
    /// In hundredths.
    pub target: u32,
    /// Number of the threshold.
    pub threshold: usize,
    /// The n of each group's ratio 1/n.
    pub groups: Vec<u32>,
    /// Groups that have no pairs, true or found, at any ratio.
    pub without_pairs: usize,
    /// Sampled shingles / all, in the mean over the classes. Shares are not finite without
    /// shingles.
    pub share: f64,
    /// The n of the single ratio that suffices for all groups.
    pub uniform: u32,
    /// The share of the shingles that this ratio takes.
    pub uniform_share: f64,
    /// The smallest share of any choice that keeps the precision, known afterwards: one of the two
    /// choices above, or ratios by group for which the pairs within groups, counted together over
    /// all classes, reach it.
    pub least_share: f64,
    /// The group that takes most shingles beyond the single ratio, if all groups together take more.
    pub dearest: Option<usize>,
}

/// Plans for every threshold (outer) and target (inner).
pub fn plans(view: &View) -> Vec<GroupRatios> {
    let mut plans = Vec::new();
    for threshold in 0..view.thresholds().len() {
        plans.extend(TARGETS.map(|target| plan(view, target, threshold)));
    }
    plans
}

/// The plan for one threshold and target.
fn plan(view: &View, target: u32, threshold: usize) -> GroupRatios {
    let mut groups = Vec::with_capacity(view.study.groups.len());
    let mut without_pairs = 0;
    let mut sampled = 0.0;
    let uniform = coarsest(view, Scope::All, PairKind::All, threshold, target);
    let mut dearest: Option<(f64, usize)> = None;
    for group in 0..view.study.groups.len() {
        let scope = Scope::Group(group);
        without_pairs += usize::from(!has_pairs(view, scope, PairKind::Same, threshold));
        let chosen = coarsest(view, scope, PairKind::Same, threshold, target);
        groups.push(chosen.map_or(1, |ratio| ratio.n));
        let own = taken(view, chosen, scope);
        let more = own - taken(view, uniform, scope);
        if dearest.is_none_or(|(most, _)| more > most) {
            dearest = Some((more, group));
        }
        sampled += own;
    }
    let of_uniform = taken(view, uniform, Scope::All);
    let all = view.whole(Scope::All).shingles as f64;
    GroupRatios {
        target,
        threshold,
        groups,
        without_pairs,
        share: sampled / all,
        uniform: uniform.map_or(1, |ratio| ratio.n),
        uniform_share: of_uniform / all,
        least_share: least(view, threshold, target, sampled.min(of_uniform)) / all,
        dearest: dearest
            .filter(|_| sampled > of_uniform + ROUNDING * all)
            .map(|(_, group)| group),
    }
}

/// Limit on the choices that are kept from group to group. Of more, one of each interval of shingles
/// is kept: an interval is a thousandth of the bound.
const MOST_CHOICES: usize = 1000;

/// The fewest shingles, but at most `bound`, of any choice of ratios for which the pairs within
/// groups reach the target, counted together over the classes of each ratio.
///
/// Choices are compared after each group. One is dropped if another takes no more shingles and has
/// no fewer correct pairs to spare: the later groups add the same to both.
fn least(view: &View, threshold: usize, target: u32, bound: f64) -> f64 {
    let target = f64::from(target) / 100.0;
    // Shingles, and correct pairs beyond those that the precision needs: of each group and ratio.
    let option = |group: usize, ratio: &RatioTrials| {
        let scope = Scope::Group(group);
        let counts = ratio.trials.iter();
        let counts = counts.map(|trial| trial.counts(scope, PairKind::Same, threshold));
        let spare = counts.map(|c| c.correct as f64 - target * c.found() as f64);
        let spare = spare.sum::<f64>() / ratio.trials.len() as f64;
        (taken(view, Some(ratio), scope), spare)
    };
    let groups = 0..view.study.groups.len();
    let mut options: Vec<Vec<(f64, f64)>> = groups
        .map(|group| view.ratios.iter().map(|r| option(group, r)).collect())
        .collect();
    let mut choices = vec![(0.0, 0.0)];
    while let Some(of_group) = options.pop() {
        // The least that the other groups take, and the most that they can spare.
        let (mut lowest, mut highest) = (0.0, 0.0);
        for of_group in &options {
            let each = of_group.iter();
            lowest += each.clone().map(|o| o.0).fold(f64::INFINITY, f64::min);
            highest += each.map(|o| o.1).fold(f64::NEG_INFINITY, f64::max);
        }
        let mut next: Vec<(f64, f64)> = choices
            .iter()
            .flat_map(|&(shingles, spare)| {
                let each = of_group.iter();
                each.map(move |option| (shingles + option.0, spare + option.1))
            })
            .filter(|(shingles, spare)| shingles + lowest < bound && spare + highest >= -ROUNDING)
            .collect();
        next.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut most = f64::NEG_INFINITY;
        next.retain(|&(_, spare)| {
            let better = spare > most;
            most = most.max(spare);
            better
        });
        if next.len() > MOST_CHOICES {
            let interval = |choice: &(f64, f64)| (choice.0 / bound * MOST_CHOICES as f64) as u64;
            // The last of an interval has most to spare.
            next.reverse();
            next.dedup_by_key(|choice| interval(choice));
            next.reverse();
        }
        choices = next;
    }
    let kept = choices.iter().filter(|(_, spare)| *spare >= -ROUNDING);
    kept.map(|(shingles, _)| *shingles).fold(bound, f64::min)
}

/// Whether there is any pair, true or found at some ratio.
pub fn has_pairs(view: &View, scope: Scope, pairs: PairKind, threshold: usize) -> bool {
    let mut trials = view.ratios.iter().flat_map(|ratio| &ratio.trials);
    trials.any(|trial| {
        let counts = trial.counts(scope, pairs, threshold);
        counts.found() + counts.true_pairs() > 0
    })
}

/// The coarsest ratio whose mean precision meets the target, or the coarsest of all if no pair
/// could be false; `None` if only the exact run meets it.
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
