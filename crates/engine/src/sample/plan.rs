//! A sampling plan: a ratio for each size group, with the measurements behind it.
//!
//! `lookalike_tasks::plan` makes plans. This module has what a run needs to apply one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Rate, Sampling};
use crate::collection::{CollectionConfig, SizeGroups};
use crate::shingle::ShingleConfig;
use lookalike_base::{Error, Result, Threshold, refuse, stored_as_text};

/// Name of the file with the last plan made in an output directory.
pub const PLAN_FILE: &str = "plan.toml";

/// An estimate of precision or recall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The measured share.
    pub value: f64,
    /// Lower bound of the 95 % confidence interval.
    pub low: f64,
    /// Upper bound of the 95 % confidence interval.
    pub high: f64,
    /// Number of pairs that it was measured on.
    pub pairs: u64,
    /// The effective number of pairs: this many unrelated pairs would be equally strong evidence.
    pub worth: f64,
}

/// The target of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The plan is for pairs at or above this threshold.
    pub threshold: Threshold,
    /// The least share of the pairs found that must be true pairs.
    pub precision: Threshold,
    /// The least share of the true pairs that must be found, if there is such a target.
    pub recall: Option<Threshold>,
}

impl Target {
    /// Whether the precision, and the recall if it counts, are known and enough for what is asked of
    /// them.
    pub fn all_of(
        &self,
        (precision, recall): (Option<Estimate>, Option<Estimate>),
        is_enough: impl Fn(Estimate, f64) -> bool,
    ) -> bool {
        let holds = |estimate: Option<Estimate>, asked: Threshold| {
            estimate.is_some_and(|estimate| is_enough(estimate, asked.to_f64()))
        };
        holds(precision, self.precision) && self.recall.is_none_or(|asked| holds(recall, asked))
    }
}

/// A random subset of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subset {
    /// Approximate share of the documents.
    pub share: Threshold,
    /// Seed of the random choice.
    pub seed: u64,
}

impl Subset {
    /// Refuses a share of 100 %.
    pub fn check(&self) -> Result<()> {
        if self.share.numerator() == self.share.denominator() {
            return Err(Error::parameter("subset", "100%")
                .because("below 100%; without --subset the plan is made on the whole collection"));
        }
        Ok(())
    }
}

/// The parameters for making a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanConfig {
    /// The target.
    pub target: Target,
    /// The n of each ratio 1/n that the plan may choose, in rising order. Each divides the next.
    pub ratios: Vec<u32>,
    /// The subset to measure; the whole collection if `None`.
    pub subset: Option<Subset>,
}

impl Default for PlanConfig {
    fn default() -> Self {
        let precision = Threshold::new(4, 5);
        PlanConfig {
            target: Target {
                threshold: Threshold::default(),
                precision: precision.unwrap_or_default(),
                recall: None,
            },
            ratios: vec![2, 4, 8, 16, 32],
            subset: None,
        }
    }
}

impl PlanConfig {
    /// Refuses parameters that cannot make a plan.
    pub fn check(&self) -> Result<()> {
        if let Some(subset) = &self.subset {
            subset.check()?;
        }
        let nest = |pair: &[u32]| pair[1] > pair[0] && pair[1].is_multiple_of(pair[0]);
        let first = self.ratios.first().copied().unwrap_or(0);
        if first < 2 || self.ratios.len() > 100 || !self.ratios.windows(2).all(nest) {
            let given: Vec<String> = self.ratios.iter().map(|n| format!("1/{n}")).collect();
            let limit = "the n of each 1/n, 2 or more, divides the next: documents of two ratios are \
                        compared on the coarser";
            return refuse("ratios", given.join(","), limit);
        }
        Ok(())
    }
}

/// The pairs behind the choice of a group's ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The group's own pairs.
    Own,
    /// The pairs of the groups from `first` to this one, because this one had too few.
    Pooled {
        /// The group of the smallest documents whose pairs are included.
        first: u8,
    },
    /// Too few pairs, so the ratio is full.
    TooLittle,
}

/// The ratio of a size group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedGroup {
    /// Its bounds in words, as `0-499`.
    pub words: String,
    /// Representatives in the group, in the whole collection.
    pub documents: u64,
    /// Shingles of these representatives.
    pub shingles: u64,
    /// The ratio.
    pub ratio: Ratio,
    /// The pairs behind the choice.
    pub evidence: Evidence,
    /// Precision measured on these pairs.
    pub precision: Option<Estimate>,
    /// Recall measured on these pairs.
    pub recall: Option<Estimate>,
}

/// A ratio 1/n, class 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(pub u32);

impl Ratio {
    /// The ratio as a sampling rate.
    pub fn rate(self) -> Rate {
        Rate::new(self.0, 0).unwrap_or(Rate::FULL)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rate().fmt(f)
    }
}

impl FromStr for Ratio {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let rate: Rate = text.parse()?;
        match rate.class() {
            0 => Ok(Ratio(rate.n())),
            _ => Err(format!("`{text}`: give a ratio without a class")),
        }
    }
}

stored_as_text!(Ratio);

/// A ratio for each size group, with the measurements behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The parameters that it was made with.
    pub config: PlanConfig,
    /// The parameters that turned documents into fingerprints.
    pub shingle: ShingleConfig,
    /// The bounds of the size groups.
    pub size_groups: SizeGroups,
    /// Number of documents (representatives) that it was measured on.
    pub documents: u64,
    /// The groups, by size.
    pub groups: Vec<PlannedGroup>,
    /// Approximate share of all shingles that a run with this plan processes.
    pub share: f64,
    /// The coarsest single ratio that reaches the target in every group.
    pub uniform: Ratio,
    /// The coarsest single ratio that reaches the target over all pairs together.
    pub uniform_overall: Ratio,
}

impl Plan {
    /// The plan as a sampling.
    pub fn sampling(&self) -> Sampling {
        let rates: Vec<Rate> = self.groups.iter().map(|group| group.ratio.rate()).collect();
        match rates.first() {
            Some(&first) if rates.iter().all(|&rate| rate == first) => {
                if first == Rate::FULL {
                    Sampling::Full
                } else {
                    Sampling::Uniform(first)
                }
            }
            _ => Sampling::Groups(rates),
        }
    }

    /// Refuses the plan if it was measured with other parameters.
    pub fn check(
        &self,
        path: &std::path::Path,
        collection: &CollectionConfig,
        threshold: Threshold,
    ) -> Result<()> {
        let of = |shingle: &ShingleConfig, threshold: Threshold, size_groups: &SizeGroups| {
            let mut flags = vec![("threshold", threshold.to_string())];
            flags.extend(shingle.flags());
            flags.push(("size-groups", size_groups.to_string()));
            flags
        };
        let expected = of(&collection.shingle, threshold, &collection.size_groups);
        let own = self.config.target.threshold;
        let found = of(&self.shingle, own, &self.size_groups);
        for ((name, expected), (_, found)) in expected.into_iter().zip(found) {
            // A collection that excludes texts has no plan.
            if expected != found && name != "exclude-text" {
                let what = format!(" is a plan for --{name} {found}; this run has {expected}");
                let help = "make a plan for these parameters with `lookalike plan`: its precision \
                            holds only for the parameters that it was measured with";
                return Err(Error::of(path, what, help));
            }
        }
        Ok(())
    }
}
