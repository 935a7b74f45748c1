//! A sampling ratio for each size group: the least that is enough for a wanted precision.
//!
//! # Source
//! Ye, Wen & Ma 2008, section 6: precision falls with the sampling ratio, and most for small documents,
//! which have few of all shingles. So each size group gets the smallest ratio that keeps the
//! precision asked for, found on a subset of the collection.
//!
//! # In and out
//! In: a collection, a target, a list of ratios that nest. Out: a [`Plan`]: a ratio for each size group
//! with what was measured, as a small commented TOML file.
//!
//! # Algorithm
//! 1. The pairs of the collection (or of a subset) are found exactly, and with class 0 of each ratio, which is
//!    the class that a run with the plan takes.
//! 2. Every pair that is found or true is counted by ratio and by the size groups of its two documents, for
//!    either document.
//! 3. From the largest documents to the smallest, each group gets the coarsest ratio of which the lower end
//!    of the interval of precision (and recall, if asked) is at or above the target: [`Estimate`]. Pairs
//!    across groups are taken on the coarser of two ratios, as they will be compared. A group with too
//!    few pairs to show anything borrows those of the next smaller groups, where precision is lower rather than
//!    higher; if that does not show it either, it takes every fingerprint.
//!
//! # The subset
//! Documents are drawn by their MD5, each with the same probability s, whatever else there is. Of the pairs,
//! s² are left, right and wrong ones alike, so that shares of them are unbiased. Drawing alike documents
//! together left more pairs, but whole templates of wrong ones were in the subset or not at all, and
//! a plan without them promised too much (`docs/experiments.md`).
//!
//! # Invariants
//! - A plan depends on collection and [`PlanConfig`] alone.
//! - Measured on the whole collection, precision and recall are those that a run with the plan has there.
//!
//! # Cost
//! One exact join of the subset at the threshold, and one for each ratio; a pass over all sets to draw it.
//!
//! # Where we depart from the source
//! The paper takes measured precision as it is, within groups only, and as the mean over classes. It
//! splits documents into eleven groups; a group of six pairs says nothing, and here it is told so.
//!
//! # What is not promised
//! The interval is about pairs like those measured, for each group apart: at 95 %, one group in twenty is
//! expected to fall short. Another class, seed or collection needs another plan.

mod cells;
mod choose;
mod estimate;
mod file;
mod run;
pub(crate) mod subset;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use estimate::Estimate;
pub use file::{read, write};
pub(crate) use run::run_all;
pub use run::{DIRECTORY, PlanCost, Planned, run};

use crate::collection::{CollectionConfig, SizeGroups};
use crate::ids::Threshold;
use crate::sample::{Rate, Sampling};
use crate::shingle::ShingleConfig;
use crate::{Error, Result};

/// What the stage is called in progress and messages.
pub const STAGE: &str = "plan";

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
        number(self.precision)
    }

    pub(crate) fn recall_asked(&self) -> Option<f64> {
        self.recall.map(number)
    }
}

fn number(share: Threshold) -> f64 {
    share.numerator() as f64 / share.denominator() as f64
}

/// A random part of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subset {
    /// Share of the documents, about.
    pub share: Threshold,
    /// Which of them.
    pub seed: u64,
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
            subset::check(subset)?;
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
