//! A sampling plan: a ratio for each size group, with the measurements that it rests on.
//!
//! Plans are made by [`crate::experiments::plan`]; this is what a run needs to apply one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Rate, Sampling};
use crate::collection::{CollectionConfig, SizeGroups};
use crate::ids::Threshold;
use crate::shingle::ShingleConfig;
use crate::{Error, Result};

pub use super::plan_file::{read, write};

/// Name of the file with the last plan made in an output directory.
pub const PLAN_FILE: &str = "plan.toml";

/// Precision or recall, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The share measured.
    pub value: f64,
    /// It is at least this, with 95 % confidence,
    pub low: f64,
    /// and at most this, with 95 % confidence.
    pub high: f64,
    /// Pairs that it was measured on.
    pub pairs: u64,
    /// How many pairs that have nothing to do with each other would say as much.
    pub worth: f64,
}

/// What is wanted of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Pairs at or above it are asked for.
    pub threshold: Threshold,
    /// At least this share of the pairs found is to be true.
    pub precision: Threshold,
    /// At least this share of the true pairs is to be found, if anything is asked.
    pub recall: Option<Threshold>,
}

impl Target {
    pub(crate) fn precision_asked(&self) -> f64 {
        self.precision.to_f64()
    }

    pub(crate) fn recall_asked(&self) -> Option<f64> {
        self.recall.map(Threshold::to_f64)
    }
}

/// A random part of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subset {
    /// Share of the documents, about.
    pub share: Threshold,
    /// Which of them.
    pub seed: u64,
}

impl Subset {
    /// Refuses a share of 100 %.
    pub fn check(&self) -> Result<()> {
        if self.share.numerator() == self.share.denominator() {
            return Err(Error::BadParameter {
                name: "subset",
                given: "100%".into(),
                limit: "below 100%; without --subset the plan is made on the whole collection"
                    .into(),
            });
        }
        Ok(())
    }
}

/// What a plan is made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanConfig {
    /// What is wanted.
    pub target: Target,
    /// The n of each ratio 1/n that may be chosen, rising, each dividing the next.
    pub ratios: Vec<u32>,
    /// Where it is measured; the whole collection if `None`.
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
    /// Refuses what cannot be planned.
    pub fn check(&self) -> Result<()> {
        if let Some(subset) = &self.subset {
            subset.check()?;
        }
        let nest = |pair: &[u32]| pair[1] > pair[0] && pair[1].is_multiple_of(pair[0]);
        let first = self.ratios.first().copied().unwrap_or(0);
        if first < 2 || self.ratios.len() > 100 || !self.ratios.windows(2).all(nest) {
            let given: Vec<String> = self.ratios.iter().map(|n| format!("1/{n}")).collect();
            return Err(Error::BadParameter {
                name: "ratios",
                given: given.join(","),
                limit:
                    "the n of each 1/n, 2 or more, divides the next: documents of two ratios are \
                        compared on the coarser"
                        .into(),
            });
        }
        Ok(())
    }
}

/// On which pairs the choice of a group rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// On its own.
    Own,
    /// On those of groups from `first` to its own, which had too few.
    Pooled {
        /// The group of the smallest documents that lend theirs.
        first: u8,
    },
    /// There were too few: every fingerprint is taken.
    TooLittle,
}

/// The ratio of a size group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedGroup {
    /// Its bounds in words, as `0-499`.
    pub words: String,
    /// Representatives in it, in the whole collection,
    pub documents: u64,
    /// and their shingles.
    pub shingles: u64,
    /// The ratio.
    pub ratio: Ratio,
    /// What the choice rests on,
    pub evidence: Evidence,
    /// with the precision measured there,
    pub precision: Option<Estimate>,
    /// and the recall.
    pub recall: Option<Estimate>,
}

/// A ratio 1/n, class 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(pub u32);

impl Ratio {
    /// As a sampling of this ratio takes it.
    #[must_use]
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

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A ratio for each size group, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What it was made with.
    pub config: PlanConfig,
    /// How the documents became fingerprints,
    pub shingle: ShingleConfig,
    /// and size groups.
    pub size_groups: SizeGroups,
    /// Documents (representatives) that it was measured on.
    pub documents: u64,
    /// By size group.
    pub groups: Vec<PlannedGroup>,
    /// Share of all shingles that a run with it processes, about.
    pub share: f64,
    /// The coarsest ratio that would do for every group, if all had the same.
    pub uniform: Ratio,
    /// The coarsest one that would do for all pairs together, as the overall figure has it.
    pub uniform_overall: Ratio,
}

impl Plan {
    /// As a sampling.
    #[must_use]
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

    /// Refuses the plan for other parameters than those that it was measured with.
    pub fn check(
        &self,
        path: &std::path::Path,
        collection: &CollectionConfig,
        threshold: Threshold,
    ) -> Result<()> {
        let (ours, theirs) = (&self.shingle, &collection.shingle);
        let compared: [(&str, String, String); 8] = [
            (
                "threshold",
                threshold.to_string(),
                self.config.target.threshold.to_string(),
            ),
            (
                "tokens",
                theirs.parse.tokens.to_string(),
                ours.parse.tokens.to_string(),
            ),
            (
                "detect-charset",
                theirs.parse.detector.to_string(),
                ours.parse.detector.to_string(),
            ),
            (
                "shingle-size",
                theirs.shingle_size.to_string(),
                ours.shingle_size.to_string(),
            ),
            ("short", theirs.short.to_string(), ours.short.to_string()),
            (
                "fingerprint",
                theirs.fingerprint.to_string(),
                ours.fingerprint.to_string(),
            ),
            ("seed", theirs.seed.to_string(), ours.seed.to_string()),
            (
                "size-groups",
                collection.size_groups.to_string(),
                self.size_groups.to_string(),
            ),
        ];
        for (name, expected, found) in compared {
            if expected != found {
                return Err(Error::OtherPlan {
                    path: path.into(),
                    name: format!("--{name}"),
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }
}
