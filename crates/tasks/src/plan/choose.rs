//! The smallest ratio of each size group that meets the target.

use super::cells::Cells;
use super::estimate::could_show;
use super::{Estimate, Evidence, Target};

/// The choice for a size group.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Number of its ratio in the list of ratios; 0 is every fingerprint.
    pub ratio: u8,
    pub evidence: Evidence,
    pub precision: Option<Estimate>,
    pub recall: Option<Estimate>,
}

/// Chooses for every size group the coarsest of `ratios` ratios that meets the target. The ratios
/// are numbered from 0, which takes every fingerprint, to the coarsest.
///
/// A pair across groups is compared at the coarser of two ratios, so the result of a group depends
/// on the ratios of the groups of larger documents: those are chosen first. If such pairs keep a
/// group below the target at every ratio of its own, the group of larger documents with the most
/// false pairs among them (or missed pairs, if a recall is required) gets a finer ratio, and the
/// choice starts over.
pub fn choose(cells: &Cells, groups: usize, ratios: u8, target: &Target) -> Vec<Choice> {
    let mut coarsest = vec![ratios - 1; groups];
    loop {
        match attempt(cells, &coarsest, target) {
            Ok(choices) => return choices,
            Err(group) => coarsest[group] -= 1,
        }
    }
}

/// The choices under a limit for each group, or the group whose limit must be lowered.
fn attempt(cells: &Cells, coarsest: &[u8], target: &Target) -> Result<Vec<Choice>, usize> {
    let groups = coarsest.len();
    let mut chosen = vec![0u8; groups];
    let mut choices: Vec<Choice> = Vec::new();
    for group in (0..groups).rev() {
        let choice = (0..=coarsest[group])
            .rev()
            .find_map(|ratio| meets(cells, &chosen, group, ratio, target));
        let Some(choice) = choice else {
            // If a group uses all its own fingerprints, only pairs with larger documents can be
            // false or missed.
            let larger = (group + 1..groups).filter(|&larger| chosen[larger] > 0);
            let errors = |larger: usize| {
                let (wrong, missed) = cells.errors(chosen[larger], group as u8, larger as u8);
                wrong + target.recall.map_or(0, |_| missed)
            };
            let worst = larger.max_by_key(|&larger| errors(larger));
            // There is one: if all larger groups use every fingerprint, every pair is correct.
            return Err(worst.unwrap_or(groups - 1));
        };
        chosen[group] = choice.ratio;
        choices.push(choice);
    }
    choices.reverse();
    Ok(choices)
}

/// Whether a group meets the target at a ratio, given the ratios of the larger groups.
fn meets(cells: &Cells, chosen: &[u8], group: usize, ratio: u8, target: &Target) -> Option<Choice> {
    let mut first = group;
    loop {
        // Groups of smaller documents have no ratio yet; their pairs are borrowed at this one.
        let mut of = Vec::new();
        for smaller in first..=group {
            for (larger, &theirs) in chosen.iter().enumerate().skip(smaller) {
                let on = if larger <= group {
                    ratio
                } else {
                    ratio.max(theirs)
                };
                of.push((on, smaller as u8, larger as u8));
            }
        }
        let measured = cells.estimates(&of);
        let met = target.all_of(measured, |estimate, asked| estimate.low >= asked);
        let choice = Choice {
            ratio,
            evidence: match (met, first == group) {
                (false, _) => Evidence::TooLittle,
                (true, true) => Evidence::Own,
                (true, false) => Evidence::Pooled { first: first as u8 },
            },
            precision: measured.0,
            recall: measured.1,
        };
        if met || of.iter().all(|&(ratio, ..)| ratio == 0) {
            return Some(choice);
        }
        let enough = |estimate: Estimate, asked| could_show(estimate.worth, asked);
        if first == group && target.all_of(measured, enough) {
            return None;
        }
        if first == 0 {
            // Too few pairs to show anything. If the group uses all its own fingerprints, false
            // pairs are pairs with larger documents, and there are not enough of them to draw a
            // conclusion.
            return (ratio == 0).then_some(choice);
        }
        first -= 1;
    }
}

/// The coarsest ratio that meets the target over all pairs if every group uses it.
pub fn uniform_overall(
    cells: &Cells,
    groups: usize,
    ratios: u8,
    target: &Target,
) -> (u8, Option<Estimate>) {
    for ratio in (1..ratios).rev() {
        let mut of = Vec::new();
        for smaller in 0..groups as u8 {
            of.extend((smaller..groups as u8).map(|larger| (ratio, smaller, larger)));
        }
        let measured = cells.estimates(&of);
        if target.all_of(measured, |estimate, asked| estimate.low >= asked) {
            return (ratio, measured.0);
        }
    }
    (0, None)
}

/// The coarsest ratio at which every group meets the target if every group uses it.
pub fn uniform(cells: &Cells, groups: usize, ratios: u8, target: &Target) -> u8 {
    (1..ratios)
        .rev()
        .find(|&ratio| {
            let all = vec![ratio; groups];
            (0..groups).all(|group| meets(cells, &all, group, ratio, target).is_some())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::ids::Threshold;

    /// Pairs of two size groups at a ratio: ratio, smaller group, larger group, and the numbers of
    /// correct, wrong and missed pairs. No two pairs share a document.
    type Pairs = (u8, u8, u8, [u32; 3]);

    fn cells(pairs: &[Pairs]) -> Cells {
        let mut cells = Cells::default();
        let mut unit = 0;
        for &(ratio, smaller, larger, [correct, wrong, missed]) in pairs {
            for (n, found, truth) in [
                (correct, true, true),
                (wrong, true, false),
                (missed, false, true),
            ] {
                for _ in 0..n {
                    for document in [unit, unit + 1] {
                        cells.count((ratio, smaller, larger, document), found, truth);
                    }
                    unit += 2;
                }
            }
        }
        cells.settle();
        cells
    }

    fn target(precision: u64, recall: Option<u64>) -> Target {
        let share = |percent| Threshold::new(percent, 100).unwrap();
        Target {
            threshold: share(85),
            precision: share(precision),
            recall: recall.map(share),
        }
    }

    fn ratios(choices: &[Choice]) -> Vec<u8> {
        choices.iter().map(|choice| choice.ratio).collect()
    }

    #[test]
    fn the_coarsest_ratio_with_a_low_end_at_the_target() {
        // At ratio 2, 80 of 100 are correct (lower end 0.726); at ratio 1, 90 of 100 (0.8396).
        let cells = cells(&[
            (0, 0, 0, [95, 0, 0]),
            (1, 0, 0, [90, 10, 5]),
            (2, 0, 0, [80, 20, 15]),
        ]);
        for (precision, ratio) in [(72, 2), (73, 1), (83, 1), (84, 0), (99, 0)] {
            let choice = &choose(&cells, 1, 3, &target(precision, None))[0];
            assert_eq!(choice.ratio, ratio, "{precision}");
        }
        let choice = &choose(&cells, 1, 3, &target(80, None))[0];
        let found = choice.precision.unwrap();
        assert_eq!((choice.evidence, found.pairs), (Evidence::Own, 100));
        assert!((found.value - 0.9).abs() < 1e-12 && (found.low - 0.8396).abs() < 1e-4);
        assert_eq!(choice.recall.unwrap().pairs, 95);
        // Recall at ratio 1 is 90 / 95 (lower end 0.8962); at ratio 2 it is 80 / 95 (0.7709).
        for (recall, ratio) in [(77, 2), (78, 1), (89, 1), (90, 0)] {
            let choice = &choose(&cells, 1, 3, &target(70, Some(recall)))[0];
            assert_eq!(choice.ratio, ratio, "{recall}");
        }
        // The lower end is below 1 for any finite number of pairs.
        let all = &choose(&cells, 1, 3, &target(100, None))[0];
        assert_eq!((all.ratio, all.evidence), (0, Evidence::TooLittle));
    }

    #[test]
    fn pairs_across_are_taken_on_the_coarser_ratio() {
        // If the larger group has ratio 2, the pairs across groups keep the smaller group below the
        // target at every ratio of its own. So the larger group gets a finer ratio.
        let cells = cells(&[
            (0, 0, 0, [30, 0, 0]),
            (1, 0, 0, [30, 0, 0]),
            (2, 0, 0, [30, 0, 0]),
            (0, 1, 1, [50, 0, 0]),
            (1, 1, 1, [50, 0, 0]),
            (2, 1, 1, [50, 0, 0]),
            (0, 0, 1, [100, 0, 0]),
            (1, 0, 1, [95, 5, 5]),
            (2, 0, 1, [40, 60, 60]),
        ]);
        let choices = choose(&cells, 2, 3, &target(80, None));
        assert_eq!(ratios(&choices), [1, 1]);
        let found = choices[0].precision.unwrap();
        assert!((found.value - 125.0 / 130.0).abs() < 1e-12 && found.pairs == 130);
        assert_eq!(choices[1].precision.unwrap().pairs, 50);
        // 70 of 130 correct pairs suffice for a target of 0.45.
        assert_eq!(ratios(&choose(&cells, 2, 3, &target(45, None))), [2, 2]);
        // One ratio for all groups: at 2 the smaller group is below the target, and so are all
        // pairs together (120 of 180).
        assert_eq!(uniform(&cells, 2, 3, &target(80, None)), 1);
        let (ratio, found) = uniform_overall(&cells, 2, 3, &target(80, None));
        assert!(ratio == 1 && (found.unwrap().value - 175.0 / 180.0).abs() < 1e-12);
        assert_eq!(uniform(&cells, 2, 3, &target(55, None)), 1);
        assert_eq!(uniform_overall(&cells, 2, 3, &target(55, None)).0, 2);
    }

    #[test]
    fn the_group_with_most_wrong_pairs_is_refined() {
        let mut pairs = vec![(0, 0, 1, [60, 0, 0]), (1, 0, 1, [20, 40, 40])];
        for ratio in 0..2 {
            let groups = (0..3).map(|group| (ratio, group, group, [40, 0, 0]));
            pairs.extend(groups.chain([(ratio, 0, 2, [50, 0, 0])]));
        }
        let choices = choose(&cells(&pairs), 3, 2, &target(80, None));
        assert_eq!(ratios(&choices), [0, 0, 1]);
    }

    #[test]
    fn the_group_with_most_missed_pairs_is_refined_for_recall() {
        // No pair is wrong, but two thirds of the pairs with the middle group are missed.
        let mut pairs = vec![(0, 0, 1, [60, 0, 0]), (1, 0, 1, [20, 0, 40])];
        for ratio in 0..2 {
            let groups = (0..3).map(|group| (ratio, group, group, [40, 0, 0]));
            pairs.extend(groups.chain([(ratio, 0, 2, [50, 0, 0])]));
        }
        let cells = cells(&pairs);
        let choices = choose(&cells, 3, 2, &target(80, Some(80)));
        assert_eq!(ratios(&choices), [0, 0, 1]);
        assert_eq!(ratios(&choose(&cells, 3, 2, &target(80, None))), [1, 1, 1]);
    }

    #[test]
    fn few_pairs_are_pooled_with_those_of_smaller_documents() {
        // A target of 0.8 needs 11 correct pairs. The larger group has 5, and 45 with the smaller
        // group.
        let mut pairs = Vec::new();
        for ratio in 0..3 {
            let wrong = if ratio == 2 { 40 } else { 0 };
            pairs.push((ratio, 0, 0, [40, wrong, 0]));
            pairs.push((ratio, 1, 1, [5, 0, 0]));
        }
        let choices = choose(&cells(&pairs), 2, 3, &target(80, None));
        assert_eq!(ratios(&choices), [1, 1]);
        assert_eq!(choices[0].evidence, Evidence::Own);
        assert_eq!(choices[1].evidence, Evidence::Pooled { first: 0 });
        assert_eq!(choices[1].precision.unwrap().pairs, 45);
        // A group without documents borrows the pairs of all smaller groups.
        let choices = choose(&cells(&pairs), 3, 3, &target(80, None));
        assert_eq!(choices[2].evidence, Evidence::Pooled { first: 0 });
        // Ten pairs in total show nothing.
        let few = cells(&[(1, 0, 0, [5, 0, 0]), (1, 1, 1, [5, 0, 0])]);
        for choice in choose(&few, 2, 2, &target(80, None)) {
            assert_eq!((choice.ratio, choice.evidence), (0, Evidence::TooLittle));
        }
        assert_eq!(uniform(&few, 2, 2, &target(80, None)), 0);
        // Without any pairs, every group uses every fingerprint.
        let nothing = choose(&cells(&[]), 2, 2, &target(80, None));
        assert_eq!(ratios(&nothing), [0, 0]);
    }
}
