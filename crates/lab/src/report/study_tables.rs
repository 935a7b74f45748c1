//! The study as comma-separated tables.
//!
//! # Source
//! Ye, Wen & Ma 2008, sections 4 to 6. The paper's tables and figures, with its values and claims,
//! are those of [`crate::reproduce`]; Figures 2 and 3 are columns of `summary.csv`.
//!
//! | file | content |
//! | --- | --- |
//! | `trials.csv` | counts, precision, recall by trial, threshold, size group and kind of pairs |
//! | `summary.csv` | the same over the classes of each ratio: mean, deviation, minimum, maximum |
//! | `verified.csv` | pairs with estimates from c, verified against t: look-ups and recall |
//! | `figure4.csv` | shingles to process for a required precision |
//!
//! # Algorithm
//! Means are over the classes of a ratio, each class one value. A class in which precision or
//! recall is undefined (no pair found, no true pair) is left out and counted. Standard deviations
//! describe the population, because the statements concern only the classes that were tried. For a
//! group, the figures have the pairs of two of its documents, because the paper ran each group by
//! itself; for the whole collection they have all pairs.
//!
//! Figure 4: each group gets the coarsest ratio whose mean precision meets the target, or every
//! fingerprint if none does. A group without any pair, true or found, gets the coarsest ratio and
//! is counted. The single ratio for all groups must meet the target with the mean precision over
//! all pairs, including those between groups. The lower limit is the fewest shingles of any choice
//! of ratios by group for which all pairs within groups, counted together, reach the target.
//!
//! # Invariants
//! - The same study gives the same bytes.
//! - Verified pairs are all true, so their precision is 1 and is not listed.
//!
//! # Cost
//! For each trial, size group, kind of pairs and threshold, one pass over a table of
//! (thresholds + 1)^2 cells; `verified.csv` has thresholds^2 lines for each ratio, and takes a pass
//! for each trial and line.
//!
//! # Where we depart from the source
//! The paper shows only means. The spread over classes, verification, and the single ratio that
//! suffices for all groups are ours. The paper's coarsest ratio is 1/16; here it is the coarsest
//! that was tried. Shares of shingles are those that were actually sampled.
//!
//! # Errors
//! `Other` if a trial's tables do not have the study's groups and thresholds.

use crate::report::csv::csv;
use crate::reproduce::{Cell, cells, rows};
use crate::study::{
    ClassSpread, GroupRatios, Metric, Moments, PairKind, Scope, Study, View, mean, plans,
    ratio_name,
};
use lookalike_base::Result;

/// The name and the content of every table.
///
/// # Errors
/// If the study's tables do not match its ratios, groups and thresholds.
pub fn files(study: &Study) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let view = View::new(study)?;
    let tables = [
        ("trials.csv", trials(&view)),
        ("summary.csv", summary(&view)),
        ("verified.csv", verified(&view)),
        ("figure4.csv", figure4(&view, &plans(&view))),
    ];
    Ok(tables.map(|(name, text)| (name, text.into_bytes())).into())
}

/// Mean, standard deviation, minimum and maximum.
fn moments(spread: &ClassSpread) -> [Option<f64>; 4] {
    let each = |m: Moments| [m.mean, m.deviation, m.least, m.greatest].map(Some);
    spread.moments.map_or([None; 4], each)
}

/// The columns `group,words,pairs`.
fn kind(view: &View, scope: Scope, pairs: PairKind) -> Vec<Cell> {
    cells![view.group_name(scope), view.words(scope), pairs.text()]
}

fn trials(view: &View) -> String {
    let columns = "ratio,class,threshold,group,words,pairs,documents,nothing_sampled,shingles,sampled,\
                   true_pairs,found,correct,wrong,missed,precision,recall";
    let mut rows = Vec::new();
    for ratio in &view.ratios {
        for tried in &ratio.trials {
            for (place, threshold) in view.thresholds().iter().enumerate() {
                for scope in view.scopes() {
                    let of = tried.sizes(scope);
                    let sizes = [of.documents, of.nothing_sampled, of.shingles, of.sampled];
                    for pairs in PairKind::ALL {
                        let of = tried.counts(scope, pairs, place);
                        let listed = [of.true_pairs(), of.found()];
                        let counts = [of.correct, of.wrong, of.missed];
                        let mut row =
                            cells![ratio.name(), tried.trial.class, threshold.to_string()];
                        row.extend(kind(view, scope, pairs));
                        let numbers = sizes.into_iter().chain(listed).chain(counts);
                        row.extend(numbers.map(Cell::from));
                        row.extend(cells![of.precision(), of.recall()]);
                        rows.push(row);
                    }
                }
            }
        }
    }
    csv(columns, rows)
}

fn summary(view: &View) -> String {
    let columns = "ratio,threshold,group,words,pairs,trials,\
                   precision_undefined,precision_mean,precision_sd,precision_least,precision_greatest,\
                   recall_undefined,recall_mean,recall_sd,recall_least,recall_greatest,\
                   found_mean,sampled_mean,nothing_sampled_mean";
    let mut rows = Vec::new();
    for ratio in &view.ratios {
        for (place, threshold) in view.thresholds().iter().enumerate() {
            for scope in view.scopes() {
                let trials = || ratio.trials.iter();
                for pairs in PairKind::ALL {
                    let found = trials().map(|t| t.counts(scope, pairs, place).found());
                    let empty = trials().map(|t| t.sizes(scope).nothing_sampled);
                    let mut row = cells![ratio.name(), threshold.to_string()];
                    row.extend(kind(view, scope, pairs));
                    row.extend(cells![ratio.trials.len() as u64]);
                    for metric in Metric::ALL {
                        let spread = ratio.spread(metric, scope, pairs, place);
                        row.extend(cells![spread.undefined as u64; moments(&spread)]);
                    }
                    row.extend(cells![mean(found), ratio.sampled(scope), mean(empty)]);
                    rows.push(row);
                }
            }
        }
    }
    csv(columns, rows)
}

fn verified(view: &View) -> String {
    let columns = "ratio,c,t,trials,true_pairs,candidates_mean,\
                   recall_undefined,recall_mean,recall_sd,recall_least,recall_greatest";
    let mut rows = Vec::new();
    for ratio in &view.ratios {
        for (estimated, c) in view.thresholds().iter().enumerate() {
            for (actual, t) in view.thresholds().iter().enumerate() {
                let counts = || ratio.trials.iter().map(|x| x.all.counts(estimated, actual));
                let recall = ClassSpread::of(counts().map(|c| c.recall()));
                // The true pairs are the same in every trial.
                let true_pairs = counts().next().map(|c| c.true_pairs());
                let found = mean(counts().map(|c| c.found()));
                let (trials, undefined) = (ratio.trials.len() as u64, recall.undefined as u64);
                let mut row = cells![ratio.name(), c.to_string(), t.to_string(), trials];
                row.extend(cells![true_pairs, found, undefined; moments(&recall)]);
                rows.push(row);
            }
        }
    }
    csv(columns, rows)
}

fn figure4(view: &View, plans: &[GroupRatios]) -> String {
    let mut columns =
        "target,threshold,share,groups_without_pairs,uniform,uniform_share,least_share".to_string();
    for group in 0..view.study.groups.len() {
        columns += &format!(",group_{group}");
    }
    let rows = rows!(plan in plans =>
        format!("{:.2}", f64::from(plan.target) / 100.0), view.threshold(plan.threshold), plan.share,
        plan.without_pairs as u64, ratio_name(plan.uniform), plan.uniform_share, plan.least_share;
        plan.groups.iter().map(|&n| ratio_name(n)));
    csv(&columns, rows)
}
