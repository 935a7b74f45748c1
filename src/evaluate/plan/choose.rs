//! The smallest ratio of each size group that meets the target.

use super::cells::Cells;
use super::estimate::{Estimate, could_show};
use super::{Evidence, Target};

/// What was chosen for a size group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// Number of its ratio in the list of ratios; 0 is every fingerprint.
    pub ratio: u8,
    pub evidence: Evidence,
    pub precision: Option<Estimate>,
    pub recall: Option<Estimate>,
}

/// Chooses for every size group the coarsest of `ratios` ratios (numbered from 0, which takes all, to the
/// coarsest) that meets the target.
///
/// A pair across groups is compared on the coarser of two ratios, so what a group reaches depends on the
/// ratios of groups of larger documents: those are chosen first. Where a group cannot reach the
/// target with any ratio of its own because of such pairs, the group of larger documents that most of
/// the wrong ones (or, for recall, of all) are of gets a finer ratio, and all begins anew.
pub(crate) fn choose(cells: &Cells, groups: usize, ratios: u8, target: &Target) -> Vec<Choice> {
    let mut coarsest = vec![ratios - 1; groups];
    loop {
        match attempt(cells, &coarsest, target) {
            Ok(choices) => return choices,
            Err(group) => coarsest[group] -= 1,
        }
    }
}

/// Choices under a limit for each group; or the group whose limit is to be lowered.
fn attempt(cells: &Cells, coarsest: &[u8], target: &Target) -> Result<Vec<Choice>, usize> {
    let groups = coarsest.len();
    let mut chosen = vec![0u8; groups];
    let mut choices: Vec<Choice> = Vec::new();
    for group in (0..groups).rev() {
        let choice = (0..=coarsest[group])
            .rev()
            .find_map(|ratio| meets(cells, &chosen, group, ratio, target));
        let Some(choice) = choice else {
            // With all of its own fingerprints only pairs with larger documents can be wrong or missed.
            let larger = (group + 1..groups).filter(|&larger| chosen[larger] > 0);
            let wrong = |larger: usize| cells.wrong(chosen[larger], group as u8, larger as u8);
            let worst = larger.max_by_key(|&larger| wrong(larger));
            // There is one: where all larger ones take all, everything is right.
            return Err(worst.unwrap_or(groups - 1));
        };
        chosen[group] = choice.ratio;
        choices.push(choice);
    }
    choices.reverse();
    Ok(choices)
}

/// Does a group meet the target with a ratio, larger ones having theirs?
fn meets(cells: &Cells, chosen: &[u8], group: usize, ratio: u8, target: &Target) -> Option<Choice> {
    let groups = chosen.len();
    let precision_asked = target.precision_asked();
    let mut first = group;
    loop {
        // Groups whose documents are smaller have no ratio yet; they lend their pairs at this one.
        let mut of = Vec::new();
        for smaller in first..=group {
            for larger in smaller..groups {
                let on = if larger <= group {
                    ratio
                } else {
                    ratio.max(chosen[larger])
                };
                of.push((on, smaller as u8, larger as u8));
            }
        }
        let (precision, recall) = cells.estimates(&of);
        let evidence = if first == group {
            Evidence::Own
        } else {
            Evidence::Pooled { first: first as u8 }
        };
        let recall_asked = target.recall_asked();
        let all = of.iter().all(|&(ratio, ..)| ratio == 0);
        let at_least = |estimate: &Option<Estimate>, asked: f64| {
            estimate.is_some_and(|estimate| estimate.low >= asked)
        };
        let met = at_least(&precision, precision_asked)
            && recall_asked.is_none_or(|asked| at_least(&recall, asked));
        if met || all {
            let evidence = if met { evidence } else { Evidence::TooLittle };
            return Some(Choice {
                ratio,
                evidence,
                precision,
                recall,
            });
        }
        let enough = |estimate: &Option<Estimate>, asked: f64| {
            estimate.is_some_and(|estimate| could_show(estimate.worth, asked))
        };
        if first == group
            && enough(&precision, precision_asked)
            && recall_asked.is_none_or(|asked| enough(&recall, asked))
        {
            return None;
        }
        if first == 0 {
            // Too little to show anything. With all of its own fingerprints, what is found wrongly are pairs
            // with larger documents, and so few of them that nothing can be said.
            return (ratio == 0).then_some(Choice {
                ratio,
                evidence: Evidence::TooLittle,
                precision,
                recall,
            });
        }
        first -= 1;
    }
}

/// The coarsest ratio that meets the target over all pairs, if every group has it.
pub(crate) fn uniform_overall(
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
        let (precision, recall) = cells.estimates(&of);
        let at_least =
            |estimate: &Option<Estimate>, asked: f64| estimate.is_some_and(|e| e.low >= asked);
        if at_least(&precision, target.precision_asked())
            && target
                .recall_asked()
                .is_none_or(|asked| at_least(&recall, asked))
        {
            return (ratio, precision);
        }
    }
    (0, None)
}

/// The coarsest ratio with which every group meets the target, if every group has it.
pub(crate) fn uniform(cells: &Cells, groups: usize, ratios: u8, target: &Target) -> u8 {
    (1..ratios)
        .rev()
        .find(|&ratio| {
            let all = vec![ratio; groups];
            (0..groups).all(|group| meets(cells, &all, group, ratio, target).is_some())
        })
        .unwrap_or(0)
}
