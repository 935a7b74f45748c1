//! The study as comma-separated tables.

use crate::report::csv::{Csv, text};
use crate::reproduce::GOV;
use crate::study::{
    ClassSpread, GroupRatios, Metric, PairKind, RatioTrials, Scope, View, mean, ratio_name,
};
use lookalike::report::wording::bounds;

/// Six decimals; empty where undefined.
fn decimal(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| format!("{number:.6}"))
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
    .map(decimal)
}

/// The columns `group,words,pairs`.
fn kind(view: &View, scope: Scope, pairs: PairKind) -> [String; 3] {
    let words = view.words(scope);
    [view.group_name(scope), text(words), text(pairs.text())]
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(super) fn trials(view: &View) -> String {
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
                        let mut line = vec![ratio.name(), text(tried.trial.class), text(threshold)];
                        line.extend(kind(view, scope, pairs));
                        line.extend(sizes.into_iter().chain(listed).chain(counts).map(text));
                        line.extend([of.precision(), of.recall()].map(decimal));
                        table.line(line);
                    }
                }
            }
        }
    }
    table.finish()
}

pub(super) fn summary(view: &View) -> String {
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
                    let mut line = vec![ratio.name(), text(threshold)];
                    line.extend(kind(view, scope, pairs));
                    line.push(text(ratio.trials.len()));
                    for metric in Metric::ALL {
                        let spread = ratio.spread(metric, scope, pairs, place);
                        line.push(text(spread.undefined));
                        line.extend(moments(&spread));
                    }
                    line.extend([mean(found), ratio.sampled(scope), mean(empty)].map(decimal));
                    table.line(line);
                }
            }
        }
    }
    table.finish()
}

pub(super) fn verified(view: &View) -> String {
    let mut table = Csv::new(
        "ratio,c,t,trials,true_pairs,candidates_mean,\
         recall_undefined,recall_mean,recall_sd,recall_least,recall_greatest",
    );
    for ratio in &view.ratios {
        for (estimated, c) in view.thresholds().iter().enumerate() {
            for (actual, t) in view.thresholds().iter().enumerate() {
                let counts = || ratio.trials.iter().map(|x| x.verified(estimated, actual));
                let recall = ClassSpread::of(counts().map(|c| c.recall()));
                let mut line = vec![ratio.name(), text(c), text(t), text(ratio.trials.len())];
                // The true pairs are the same in every trial.
                let true_pairs = counts().next().map(|c| text(c.true_pairs()));
                line.push(true_pairs.unwrap_or_default());
                line.push(decimal(mean(counts().map(|c| c.found()))));
                line.push(text(recall.undefined));
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

pub(super) fn table3(view: &View) -> String {
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
        let mut line = vec![view.group_name(scope), text(view.words(scope))];
        for (part, whole) in both {
            line.push(part.map_or_else(String::new, text));
            line.push(decimal(part.and_then(|part| share(part, whole))));
        }
        table.line(line);
    }
    table.finish()
}

pub(super) fn figure1(view: &View) -> String {
    let mut table = Csv::new("rank,words");
    for (rank, words) in &view.study.sizes {
        table.line([text(rank), text(words)]);
    }
    table.finish()
}

/// Precision or recall of a ratio by threshold and group.
pub(super) fn by_threshold(view: &View, ratio: &RatioTrials, metric: Metric) -> String {
    let name = metric.text();
    let mut table = Csv::new(&format!(
        "threshold,group,words,pairs,defined,undefined,{name}_mean,{name}_sd,{name}_least,{name}_greatest"
    ));
    for (place, threshold) in view.thresholds().iter().enumerate() {
        for scope in view.scopes() {
            let spread = ratio.spread(metric, scope, drawn(scope), place);
            let mut line = vec![text(threshold)];
            line.extend(kind(view, scope, drawn(scope)));
            line.extend([spread.defined, spread.undefined].map(text));
            line.extend(moments(&spread));
            table.line(line);
        }
    }
    table.finish()
}

/// The pairs that figures show: the paper ran each group by itself, and the whole collection.
pub(super) fn drawn(scope: Scope) -> PairKind {
    match scope {
        Scope::Group(_) => PairKind::Same,
        Scope::All => PairKind::All,
    }
}

pub(super) fn figure4(view: &View, plans: &[GroupRatios]) -> String {
    let mut columns =
        "target,threshold,share,groups_without_pairs,uniform,uniform_share,least_share".to_string();
    for group in 0..view.study.groups.len() {
        columns += &format!(",group_{group}");
    }
    let mut table = Csv::new(&columns);
    for plan in plans {
        let mut line = vec![
            format!("{:.2}", f64::from(plan.target) / 100.0),
            view.threshold(plan.threshold),
            decimal(plan.share),
            text(plan.without_pairs),
            ratio_name(plan.uniform),
            decimal(plan.uniform_share),
            decimal(plan.least_share),
        ];
        line.extend(plan.groups.iter().map(|&n| ratio_name(n)));
        table.line(line);
    }
    table.finish()
}

/// Precision over the classes of each ratio, at one threshold.
pub(super) fn spread(view: &View, threshold: usize) -> String {
    let mut table =
        Csv::new("ratio,threshold,group,words,pairs,defined,undefined,least,mean,greatest,sd");
    for ratio in &view.ratios {
        for scope in view.scopes() {
            let spread = ratio.precision(scope, drawn(scope), threshold);
            let [mean, deviation, least, greatest] = moments(&spread);
            let mut line = vec![ratio.name(), view.threshold(threshold)];
            line.extend(kind(view, scope, drawn(scope)));
            line.extend([spread.defined, spread.undefined].map(text));
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
