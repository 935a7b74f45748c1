//! Adaptive sampling (a ratio for each size group) compared with uniform sampling (one ratio for
//! all): the shingles that each takes to reach a mean precision over the classes.

use super::{GroupRatios, ROUNDING, TARGETS, has_pairs, plans};
use super::{PairKind, Scope, Study, USUAL, View, ratio_name};
use lookalike::report::wording::group_name;
use lookalike_base::{Result, Threshold, count, fraction, listed};

/// The precisions of the verdict, in hundredths: the targets of the plans that a study runs.
const SHOWN: [u32; 3] = [80, 90, 95];

/// The comparison on one collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adaptive {
    /// The threshold nearest 0.85.
    pub threshold: Option<Threshold>,
    /// At this threshold, for three precisions; empty without pairs or sampled runs.
    pub targets: Vec<GroupRatios>,
    /// Combinations of a threshold and a precision for which adaptive sampling takes fewer
    /// shingles, as many, and more.
    pub cases: [u64; 3],
    /// The bounds of the size groups that add most shingles where adaptive sampling takes more, each
    /// with the number of combinations; the most frequent group first.
    pub dearest: Vec<(String, u64)>,
    /// Combinations in which fewer shingles than adaptive sampling takes would keep the precision.
    pub beaten: u64,
}

impl GroupRatios {
    /// How much less adaptive sampling takes.
    fn saved(&self) -> f64 {
        self.uniform_share - self.share
    }

    /// 0 for fewer shingles, 1 for as many, 2 for more.
    fn case(&self) -> usize {
        match self.saved() {
            saved if saved > ROUNDING => 0,
            saved if saved >= -ROUNDING => 1,
            _ => 2,
        }
    }

    fn text(&self) -> String {
        let uniform = match self.uniform {
            1 => "every shingle".into(),
            n => format!("{} ({})", fraction(self.uniform_share, 3), ratio_name(n)),
        };
        format!(
            "for precision 0.{} it takes {} of the shingles, and one ratio for all takes {uniform}",
            self.target,
            fraction(self.share, 3)
        )
    }
}

impl Adaptive {
    pub(crate) fn of(view: &View) -> Adaptive {
        let usual = view.study.config.nearest(USUAL);
        let there = |threshold| has_pairs(view, Scope::All, PairKind::All, threshold);
        let mut compared = Adaptive {
            threshold: usual.and_then(|usual| view.thresholds().get(usual).copied()),
            ..Adaptive::default()
        };
        let mut dearest = vec![0; view.study.groups.len()];
        if view.sampled_ratios().next().is_none() {
            return compared;
        }
        let defined = |at: &GroupRatios| there(at.threshold) && at.share.is_finite();
        for at in plans(view).into_iter().filter(defined) {
            compared.cases[at.case()] += 1;
            if let Some(group) = at.dearest {
                dearest[group] += 1;
            }
            compared.beaten += u64::from(at.least_share < at.share - ROUNDING);
            if Some(at.threshold) == usual && SHOWN.contains(&at.target) {
                compared.targets.push(at);
            }
        }
        let names = view.study.groups.iter().cloned();
        compared.dearest = names.zip(dearest).filter(|(_, n)| *n > 0).collect();
        compared.dearest.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        compared
    }

    /// Explains why adaptive sampling takes more shingles where it does, and how few are possible.
    fn reasons(&self) -> Vec<String> {
        let [.., more] = self.cases;
        let mut sentences = Vec::new();
        if more > 0 {
            let groups = listed(", ", &self.dearest, |(words, n)| {
                format!("{} words ({})", group_name(words), count(*n))
            });
            sentences.push(format!(
                "It takes more where the bound of a size group decides: adaptive sampling keeps the precision \
                 in every group by itself, and one ratio for all keeps it only over all pairs. The groups \
                 that add most shingles there: {groups}."
            ));
        }
        sentences.push(format!(
            "The lower limit is the fewest shingles of any choice of ratios that keeps the precision over all \
             pairs within groups, as only the exact pairs can tell. It is below adaptive sampling in {} of the {}.",
            count(self.beaten),
            count(self.cases.iter().sum())
        ));
        sentences
    }

    /// The comparison in some sentences, or one if there is nothing to compare.
    pub fn sentences(&self) -> Vec<String> {
        let Some(threshold) = self.threshold.filter(|_| !self.targets.is_empty()) else {
            return vec![
                "This study has no pairs or no sampled runs, so it cannot compare adaptive with uniform \
                 sampling."
                    .into(),
            ];
        };
        let saved = |a: &&GroupRatios, b: &&GroupRatios| a.saved().total_cmp(&b.saved());
        let text = |at: Option<&GroupRatios>| at.map_or_else(String::new, GroupRatios::text);
        let most = text(self.targets.iter().max_by(saved));
        let least = text(self.targets.iter().min_by(saved));
        let met = |case| self.targets.iter().any(|at| at.case() == case);
        // Whether some precision takes fewer shingles, and whether some takes more.
        let first = match (met(0), met(2)) {
            (true, false) => format!(
                "Adaptive sampling beats uniform sampling here: at threshold {threshold}, {most}."
            ),
            (false, true) => format!(
                "Adaptive sampling does not beat uniform sampling here: at threshold {threshold}, {least}."
            ),
            (false, false) => format!(
                "Adaptive sampling takes as many shingles as uniform sampling here: at threshold \
                 {threshold}, {most}."
            ),
            (true, true) => format!(
                "Whether adaptive sampling beats uniform sampling depends on the precision here: at \
                 threshold {threshold}, {most}; {least}."
            ),
        };
        let [fewer, same, more] = self.cases.map(count);
        let all = count(self.cases.iter().sum());
        let (from, to) = (TARGETS.start(), TARGETS.end());
        let second = format!(
            "Of {all} combinations of a threshold and a mean precision from 0.{from} to 0.{to}, adaptive \
             sampling takes fewer shingles in {fewer}, as many in {same} and more in {more}."
        );
        let mut sentences = vec![first, second];
        sentences.extend(self.reasons());
        sentences
    }
}

/// Compares adaptive with uniform sampling.
///
/// # Errors
/// If the study's tables do not match its ratios, groups and thresholds.
pub fn adaptive(study: &Study) -> Result<Adaptive> {
    Ok(Adaptive::of(&View::new(study)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(shares: &[(f64, u32, f64)]) -> Adaptive {
        let targets = SHOWN.iter().zip(shares);
        let targets = targets.map(|(&target, &(share, uniform, uniform_share))| GroupRatios {
            target,
            threshold: 0,
            groups: vec![uniform],
            without_pairs: 0,
            share,
            uniform,
            uniform_share,
            least_share: share / 2.0,
            dearest: None,
        });
        Adaptive {
            threshold: Threshold::new(17, 20),
            targets: targets.collect(),
            cases: [3, 1000, 0],
            dearest: Vec::new(),
            beaten: 700,
        }
    }

    #[test]
    fn every_outcome_has_its_sentence() {
        let fewer = compared(&[(0.1, 4, 0.25), (0.5, 2, 0.5), (0.9, 1, 1.0)]);
        assert_eq!(
            fewer.sentences(),
            [
                "Adaptive sampling beats uniform sampling here: at threshold 0.85, for precision 0.80 it \
                 takes 0.100 of the shingles, and one ratio for all takes 0.250 (1/4).",
                "Of 1,003 combinations of a threshold and a mean precision from 0.50 to 0.99, adaptive \
                 sampling takes fewer shingles in 3, as many in 1,000 and more in 0.",
                "The lower limit is the fewest shingles of any choice of ratios that keeps the precision over \
                 all pairs within groups, as only the exact pairs can tell. It is below adaptive sampling in 700 \
                 of the 1,003."
            ]
        );
        let some = Adaptive {
            cases: [0, 1, 3],
            dearest: vec![("0-499".into(), 2), ("9000-".into(), 1)],
            ..fewer
        };
        let why = &some.sentences()[2];
        assert!(why.contains("the bound of a size group decides"), "{why}");
        assert!(
            why.ends_with("0\u{2013}499 words (2), 9,000 or more words (1)."),
            "{why}"
        );
        let more = compared(&[(0.5, 2, 0.5), (1.0, 2, 0.5)]);
        assert!(more.sentences()[0].contains("for precision 0.90 it takes 1.000 of the shingles"));
        let mixed = compared(&[(0.1, 4, 0.25), (0.6, 2, 0.5)]);
        assert!(mixed.sentences()[0].contains("0.80 it takes 0.100 of"));
        assert!(mixed.sentences()[0].contains("0.90 it takes 0.600 of"));
        let same = compared(&[(1.0, 1, 1.0)]);
        assert!(same.sentences()[0].ends_with("one ratio for all takes every shingle."));
        assert_eq!(compared(&[]).sentences().len(), 1);
    }
}
