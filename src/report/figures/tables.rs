//! The study as comma-separated tables.

use std::fmt::Display;

use super::measure::{ClassSpread, Metric, PairKind, RatioTrials, Scope, View, mean, ratio_name};
use super::plan::GroupRatios;
use crate::report::wording::bounds;

/// Words, documents and shingles by group of the TREC .GOV collection without exact duplicates
/// (Ye, Wen & Ma 2008, Table 3).
pub(super) const GOV: [(&str, u64, u64); 11] = [
    ("0-499", 651_983, 118_247_397),
    ("500-999", 153_741, 105_876_410),
    ("1000-1999", 78_590, 107_785_579),
    ("2000-2999", 28_917, 69_980_491),
    ("3000-3999", 14_669, 50_329_605),
    ("4000-4999", 8_808, 39_165_329),
    ("5000-5999", 5_636, 30_760_394),
    ("6000-6999", 3_833, 24_750_365),
    ("7000-7999", 2_790, 20_796_424),
    ("8000-8999", 1_983, 16_770_544),
    ("9000-", 7_775, 93_564_410),
];

/// Lines of fields. The first line has the names of the columns.
struct Table(String);

impl Table {
    fn new(columns: &[&str]) -> Table {
        let mut table = Table(String::new());
        table.line(columns.iter().map(|&column| column.to_string()));
        table
    }

    fn line(&mut self, fields: impl IntoIterator<Item = String>) {
        for (place, field) in fields.into_iter().enumerate() {
            if place > 0 {
                self.0.push(',');
            }
            if field.contains(['"', ',', '\n', '\r']) {
                self.0.push('"');
                self.0.push_str(&field.replace('"', "\"\""));
                self.0.push('"');
            } else {
                self.0.push_str(&field);
            }
        }
        self.0.push('\n');
    }
}

fn text(field: impl Display) -> String {
    field.to_string()
}

/// Six decimals; empty where undefined.
fn decimal(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| format!("{number:.6}"))
}

/// Mean, standard deviation, minimum and maximum.
fn moments(spread: &ClassSpread) -> [String; 4] {
    let of = spread.moments;
    [
        decimal(of.map(|m| m.mean)),
        decimal(of.map(|m| m.deviation)),
        decimal(of.map(|m| m.least)),
        decimal(of.map(|m| m.greatest)),
    ]
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(super) fn trials(view: &View) -> String {
    let mut table = Table::new(&[
        "ratio",
        "class",
        "threshold",
        "group",
        "words",
        "pairs",
        "documents",
        "nothing_sampled",
        "shingles",
        "sampled",
        "true_pairs",
        "found",
        "correct",
        "wrong",
        "missed",
        "precision",
        "recall",
    ]);
    for ratio in &view.ratios {
        for tried in &ratio.trials {
            for (place, threshold) in view.thresholds().iter().enumerate() {
                for scope in view.scopes() {
                    let sizes = tried.sizes(scope);
                    for pairs in PairKind::ALL {
                        let counts = tried.counts(scope, pairs, place);
                        table.line([
                            ratio.name(),
                            text(tried.trial.class),
                            text(threshold),
                            view.group_name(scope),
                            text(view.words(scope)),
                            text(pairs.text()),
                            text(sizes.documents),
                            text(sizes.nothing_sampled),
                            text(sizes.shingles),
                            text(sizes.sampled),
                            text(counts.true_pairs()),
                            text(counts.found()),
                            text(counts.correct),
                            text(counts.wrong),
                            text(counts.missed),
                            decimal(counts.precision()),
                            decimal(counts.recall()),
                        ]);
                    }
                }
            }
        }
    }
    table.0
}

pub(super) fn summary(view: &View) -> String {
    let mut table = Table::new(&[
        "ratio",
        "threshold",
        "group",
        "words",
        "pairs",
        "trials",
        "precision_undefined",
        "precision_mean",
        "precision_sd",
        "precision_least",
        "precision_greatest",
        "recall_undefined",
        "recall_mean",
        "recall_sd",
        "recall_least",
        "recall_greatest",
        "found_mean",
        "sampled_mean",
        "nothing_sampled_mean",
    ]);
    for ratio in &view.ratios {
        for (place, threshold) in view.thresholds().iter().enumerate() {
            for scope in view.scopes() {
                let trials = || ratio.trials.iter();
                for pairs in PairKind::ALL {
                    let precision = ratio.precision(scope, pairs, place);
                    let recall = ratio.spread(Metric::Recall, scope, pairs, place);
                    let found = trials().map(|t| t.counts(scope, pairs, place).found());
                    let empty = trials().map(|t| t.sizes(scope).nothing_sampled);
                    let mut line = vec![
                        ratio.name(),
                        text(threshold),
                        view.group_name(scope),
                        text(view.words(scope)),
                        text(pairs.text()),
                        text(ratio.trials.len()),
                    ];
                    for spread in [precision, recall] {
                        line.push(text(spread.undefined));
                        line.extend(moments(&spread));
                    }
                    line.push(decimal(mean(found)));
                    line.push(decimal(ratio.sampled(scope)));
                    line.push(decimal(mean(empty)));
                    table.line(line);
                }
            }
        }
    }
    table.0
}

pub(super) fn verified(view: &View) -> String {
    let mut table = Table::new(&[
        "ratio",
        "c",
        "t",
        "trials",
        "true_pairs",
        "candidates_mean",
        "recall_undefined",
        "recall_mean",
        "recall_sd",
        "recall_least",
        "recall_greatest",
    ]);
    for ratio in &view.ratios {
        for (estimated, c) in view.thresholds().iter().enumerate() {
            for (actual, t) in view.thresholds().iter().enumerate() {
                let counts = || ratio.trials.iter().map(|x| x.verified(estimated, actual));
                let recall = ClassSpread::of(counts().map(|c| c.recall()));
                let mut line = vec![
                    ratio.name(),
                    text(c),
                    text(t),
                    text(ratio.trials.len()),
                    // The true pairs are the same in every trial.
                    counts()
                        .next()
                        .map_or_else(String::new, |c| text(c.true_pairs())),
                    decimal(mean(counts().map(|c| c.found()))),
                    text(recall.undefined),
                ];
                line.extend(moments(&recall));
                table.line(line);
            }
        }
    }
    table.0
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

pub(super) fn table3(view: &View) -> String {
    let mut table = Table::new(&[
        "group",
        "words",
        "documents",
        "documents_share",
        "shingles",
        "shingles_share",
        "gov_documents",
        "gov_documents_share",
        "gov_shingles",
        "gov_shingles_share",
    ]);
    let all = view.whole(Scope::All);
    let gov_all = gov_total();
    for scope in view.scopes() {
        let here = view.whole(scope);
        let there = match scope {
            Scope::Group(_) => gov(view.words(scope)),
            Scope::All => Some(gov_all),
        };
        let there_text =
            |of: fn((u64, u64)) -> u64| there.map_or_else(String::new, |g| text(of(g)));
        table.line([
            view.group_name(scope),
            text(view.words(scope)),
            text(here.documents),
            decimal(share(here.documents, all.documents)),
            text(here.shingles),
            decimal(share(here.shingles, all.shingles)),
            there_text(|g| g.0),
            decimal(there.and_then(|g| share(g.0, gov_all.0))),
            there_text(|g| g.1),
            decimal(there.and_then(|g| share(g.1, gov_all.1))),
        ]);
    }
    table.0
}

pub(super) fn figure1(view: &View) -> String {
    let mut table = Table::new(&["rank", "words"]);
    for (rank, words) in &view.study.sizes {
        table.line([text(rank), text(words)]);
    }
    table.0
}

/// Precision or recall of a ratio by threshold and group.
pub(super) fn by_threshold(view: &View, ratio: &RatioTrials, measure: Metric) -> String {
    let name = measure.text();
    let columns = ["mean", "sd", "least", "greatest"].map(|of| format!("{name}_{of}"));
    let mut names = vec![
        "threshold",
        "group",
        "words",
        "pairs",
        "defined",
        "undefined",
    ];
    names.extend(columns.iter().map(String::as_str));
    let mut table = Table::new(&names);
    for (place, threshold) in view.thresholds().iter().enumerate() {
        for scope in view.scopes() {
            let pairs = drawn(scope);
            let spread = ratio.spread(measure, scope, pairs, place);
            let mut line = vec![
                text(threshold),
                view.group_name(scope),
                text(view.words(scope)),
                text(pairs.text()),
                text(spread.defined),
                text(spread.undefined),
            ];
            line.extend(moments(&spread));
            table.line(line);
        }
    }
    table.0
}

/// The pairs that figures show: the paper ran each group by itself, and the whole collection.
pub(super) fn drawn(scope: Scope) -> PairKind {
    match scope {
        Scope::Group(_) => PairKind::Same,
        Scope::All => PairKind::All,
    }
}

pub(super) fn figure4(view: &View, plans: &[GroupRatios]) -> String {
    let mut columns: Vec<String> = [
        "target",
        "threshold",
        "share",
        "groups_without_pairs",
        "uniform",
        "uniform_share",
    ]
    .map(String::from)
    .into();
    columns.extend((0..view.study.groups.len()).map(|group| format!("group_{group}")));
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(&names);
    for plan in plans {
        let mut line = vec![
            format!("{:.2}", f64::from(plan.target) / 100.0),
            view.thresholds()
                .get(plan.threshold)
                .map_or_else(String::new, text),
            decimal(plan.share),
            text(plan.without_pairs),
            ratio_name(plan.uniform),
            decimal(plan.uniform_share),
        ];
        line.extend(plan.groups.iter().map(|&n| ratio_name(n)));
        table.line(line);
    }
    table.0
}

/// Precision over the classes of each ratio, at one threshold.
pub(super) fn spread(view: &View, threshold: usize) -> String {
    let mut table = Table::new(&[
        "ratio",
        "threshold",
        "group",
        "words",
        "pairs",
        "defined",
        "undefined",
        "least",
        "mean",
        "greatest",
        "sd",
    ]);
    for ratio in &view.ratios {
        for scope in view.scopes() {
            let pairs = drawn(scope);
            let spread = ratio.precision(scope, pairs, threshold);
            let [mean, deviation, least, greatest] = moments(&spread);
            table.line([
                ratio.name(),
                view.thresholds()
                    .get(threshold)
                    .map_or_else(String::new, text),
                view.group_name(scope),
                text(view.words(scope)),
                text(pairs.text()),
                text(spread.defined),
                text(spread.undefined),
                least,
                mean,
                greatest,
                deviation,
            ]);
        }
    }
    table.0
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

    #[test]
    fn fields_with_commas_are_quoted() {
        let mut table = Table::new(&["a", "b"]);
        table.line([text("1,2"), text("say \"x\"")]);
        assert_eq!(table.0, "a,b\n\"1,2\",\"say \"\"x\"\"\"\n");
    }
}
