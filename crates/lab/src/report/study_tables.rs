//! The study as comma-separated tables.
//!
//! # Source
//! Ye, Wen & Ma 2008: Table 3, Figures 1 to 4, and the discussion of them in sections 4 to 6. The
//! figures, with the paper's values and claims, are those of [`crate::reproduce`].
//!
//! | file | content |
//! | --- | --- |
//! | `trials.csv` | counts, precision, recall by trial, threshold, size group and kind of pairs |
//! | `summary.csv` | the same over the classes of each ratio: mean, deviation, minimum, maximum |
//! | `verified.csv` | pairs with estimates from c, verified against t: look-ups and recall |
//! | `table3.csv` | documents and shingles by size group, and the paper's for .GOV |
//! | `figure1.csv` | words against rank |
//! | `figure2-N.csv` | precision against the threshold at 1/N |
//! | `figure3-N.csv` | recall against the threshold at 1/N |
//! | `figure4.csv` | shingles to process for a required precision |
//! | `spread.csv` | precision over a ratio's classes, at the threshold nearest 0.85 |
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
//! `BadStudy` if a trial's tables do not have the study's groups and thresholds.

use crate::report::csv::{AsField, Csv, fields};
use crate::reproduce::GOV;
use crate::study::{
    ClassSpread, GroupRatios, Metric, PairKind, RatioTrials, Scope, Study, USUAL, View, mean,
    plans, ratio_name,
};
use lookalike::report::wording::bounds;
use lookalike_base::Result;
use lookalike_base::precision::share;

/// The name and the content of every table.
///
/// # Errors
/// If the study's tables do not match its ratios, groups and thresholds.
pub fn files(study: &Study) -> Result<Vec<(String, Vec<u8>)>> {
    let view = View::new(study)?;
    let mut tables = vec![
        ("trials".to_string(), trials(&view)),
        ("summary".into(), summary(&view)),
        ("verified".into(), verified(&view)),
        ("table3".into(), table3(&view)),
        ("figure1".into(), figure1(&view)),
        ("figure4".into(), figure4(&view, &plans(&view))),
    ];
    for (figure, metric) in [(2, Metric::Precision), (3, Metric::Recall)] {
        for ratio in view.sampled_ratios() {
            let name = format!("figure{figure}-{}", ratio.n);
            tables.push((name, by_threshold(&view, ratio, metric)));
        }
    }
    if let Some(threshold) = study.config.nearest(USUAL) {
        tables.push(("spread".into(), spread(&view, threshold)));
    }
    let files = tables.into_iter();
    let files = files.map(|(name, text)| (name + ".csv", text.into_bytes()));
    Ok(files.collect())
}

/// Mean, standard deviation, minimum and maximum.
fn moments(spread: &ClassSpread) -> [String; 4] {
    let of = spread.moments;
    [
        of.map(|m| m.mean),
        of.map(|m| m.deviation),
        of.map(|m| m.least),
        of.map(|m| m.greatest),
    ]
    .map(|of| of.field())
}

/// The columns `group,words,pairs`.
fn kind(view: &View, scope: Scope, pairs: PairKind) -> Vec<String> {
    fields![view.group_name(scope), *view.words(scope), *pairs.text()]
}

fn trials(view: &View) -> String {
    let mut table = Csv::new(
        "ratio,class,threshold,group,words,pairs,documents,nothing_sampled,shingles,sampled,\
         true_pairs,found,correct,wrong,missed,precision,recall",
    );
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
                        let mut line = fields![ratio.name(), tried.trial.class, *threshold];
                        line.extend(kind(view, scope, pairs));
                        let numbers = sizes.into_iter().chain(listed).chain(counts);
                        line.extend(numbers.map(|n| n.field()));
                        line.extend(fields![of.precision(), of.recall()]);
                        table.line(line);
                    }
                }
            }
        }
    }
    table.finish()
}

fn summary(view: &View) -> String {
    let mut table = Csv::new(
        "ratio,threshold,group,words,pairs,trials,\
         precision_undefined,precision_mean,precision_sd,precision_least,precision_greatest,\
         recall_undefined,recall_mean,recall_sd,recall_least,recall_greatest,\
         found_mean,sampled_mean,nothing_sampled_mean",
    );
    for ratio in &view.ratios {
        for (place, threshold) in view.thresholds().iter().enumerate() {
            for scope in view.scopes() {
                let trials = || ratio.trials.iter();
                for pairs in PairKind::ALL {
                    let found = trials().map(|t| t.counts(scope, pairs, place).found());
                    let empty = trials().map(|t| t.sizes(scope).nothing_sampled);
                    let mut line = fields![ratio.name(), *threshold];
                    line.extend(kind(view, scope, pairs));
                    line.push(ratio.trials.len().field());
                    for metric in Metric::ALL {
                        let spread = ratio.spread(metric, scope, pairs, place);
                        line.push(spread.undefined.field());
                        line.extend(moments(&spread));
                    }
                    line.extend(fields![mean(found), ratio.sampled(scope), mean(empty)]);
                    table.line(line);
                }
            }
        }
    }
    table.finish()
}

fn verified(view: &View) -> String {
    let mut table = Csv::new(
        "ratio,c,t,trials,true_pairs,candidates_mean,\
         recall_undefined,recall_mean,recall_sd,recall_least,recall_greatest",
    );
    for ratio in &view.ratios {
        for (estimated, c) in view.thresholds().iter().enumerate() {
            for (actual, t) in view.thresholds().iter().enumerate() {
                let counts = || ratio.trials.iter().map(|x| x.verified(estimated, actual));
                let recall = ClassSpread::of(counts().map(|c| c.recall()));
                let mut line = fields![ratio.name(), *c, *t, ratio.trials.len()];
                // The true pairs are the same in every trial.
                let true_pairs = counts().next().map(|c| c.true_pairs());
                let found = mean(counts().map(|c| c.found()));
                line.extend(fields![true_pairs, found, recall.undefined]);
                line.extend(moments(&recall));
                table.line(line);
            }
        }
    }
    table.finish()
}

/// The paper's group with the same bounds, if it has one.
pub(super) fn gov(words: &str) -> Option<(u64, u64)> {
    let same = |&&(name, _, _): &&(&str, u64, u64)| bounds(name) == bounds(words);
    GOV.iter().find(same).map(|&(_, d, s)| (d, s))
}

/// Documents and shingles of the paper's collection.
pub(super) fn gov_total() -> (u64, u64) {
    GOV.iter()
        .fold((0, 0), |(d, s), row| (d + row.1, s + row.2))
}

/// The documents and shingles of the paper that are compared with a group or with the whole.
pub(super) fn beside(view: &View, scope: Scope) -> Option<(u64, u64)> {
    match scope {
        Scope::Group(_) => gov(view.words(scope)),
        Scope::All => Some(gov_total()),
    }
}

fn table3(view: &View) -> String {
    let mut table = Csv::new(
        "group,words,documents,documents_share,shingles,shingles_share,\
         gov_documents,gov_documents_share,gov_shingles,gov_shingles_share",
    );
    let (all, gov_all) = (view.whole(Scope::All), gov_total());
    for scope in view.scopes() {
        let (here, there) = (view.whole(scope), beside(view, scope));
        let both = [
            (Some(here.documents), all.documents),
            (Some(here.shingles), all.shingles),
            (there.map(|there| there.0), gov_all.0),
            (there.map(|there| there.1), gov_all.1),
        ];
        let mut line = fields![view.group_name(scope), *view.words(scope)];
        for (part, whole) in both {
            line.extend(fields![part, part.and_then(|part| share(part, whole))]);
        }
        table.line(line);
    }
    table.finish()
}

fn figure1(view: &View) -> String {
    let mut table = Csv::new("rank,words");
    for (rank, words) in &view.study.sizes {
        table.line(fields![*rank, *words]);
    }
    table.finish()
}

/// Precision or recall of a ratio by threshold and group.
fn by_threshold(view: &View, ratio: &RatioTrials, metric: Metric) -> String {
    let name = metric.text();
    let mut table = Csv::new(&format!(
        "threshold,group,words,pairs,defined,undefined,{name}_mean,{name}_sd,{name}_least,{name}_greatest"
    ));
    for (place, threshold) in view.thresholds().iter().enumerate() {
        for scope in view.scopes() {
            let spread = ratio.spread(metric, scope, scope.pairs(), place);
            let mut line = fields![*threshold];
            line.extend(kind(view, scope, scope.pairs()));
            line.extend(fields![spread.defined, spread.undefined]);
            line.extend(moments(&spread));
            table.line(line);
        }
    }
    table.finish()
}

fn figure4(view: &View, plans: &[GroupRatios]) -> String {
    let mut columns =
        "target,threshold,share,groups_without_pairs,uniform,uniform_share,least_share".to_string();
    for group in 0..view.study.groups.len() {
        columns += &format!(",group_{group}");
    }
    let mut table = Csv::new(&columns);
    for plan in plans {
        let target = format!("{:.2}", f64::from(plan.target) / 100.0);
        let [own, uniform, least] = [plan.share, plan.uniform_share, plan.least_share]
            .map(|share| Some(share).filter(|share| share.is_finite()));
        let mut line = fields![
            target,
            view.threshold(plan.threshold),
            own,
            plan.without_pairs
        ];
        line.extend(fields![ratio_name(plan.uniform), uniform, least]);
        line.extend(plan.groups.iter().map(|&n| ratio_name(n)));
        table.line(line);
    }
    table.finish()
}

/// Precision over the classes of each ratio, at one threshold.
fn spread(view: &View, threshold: usize) -> String {
    let mut table =
        Csv::new("ratio,threshold,group,words,pairs,defined,undefined,least,mean,greatest,sd");
    for ratio in &view.ratios {
        for scope in view.scopes() {
            let spread = ratio.precision(scope, scope.pairs(), threshold);
            let [mean, deviation, least, greatest] = moments(&spread);
            let mut line = vec![ratio.name(), view.threshold(threshold)];
            line.extend(kind(view, scope, scope.pairs()));
            line.extend(fields![spread.defined, spread.undefined]);
            line.extend([least, mean, greatest, deviation]);
            table.line(line);
        }
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_table_adds_up_as_the_paper_says() {
        let (documents, shingles) = gov_total();
        // Section 4.2; section 6: 68 % of the documents and 17 % of the shingles in group 0.
        assert_eq!(documents, 958_725);
        assert_eq!(651_983 * 100 / documents, 68);
        assert_eq!(118_247_397 * 100 / shingles, 17);
    }
}
