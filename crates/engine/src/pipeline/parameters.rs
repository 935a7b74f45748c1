//! Parameters of stages 5 to 8.

use crate::cluster::ResultFormat;
use crate::collection::SizeGroups;
use crate::join::JoinConfig;
use crate::sample::Sampling;
use crate::sample::plan::Plan;
use lookalike_base::{Criterion, Error, Result, keywords, refuse};

keywords! {
    /// When records go through sorted runs on disk.
    #[derive(Default)]
    pub enum Spill: "is not a value of --spill; use" {
        /// Only if memory cannot take them in a few passes over the sets ([`crate::merge::direct`]).
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
    }
}

/// Which postings a join by prefixes needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// The pairs that it finds.
    pub(super) criterion: Criterion,
    /// Whether it may count all pairs under every fingerprint instead, if that is cheaper.
    pub(super) may_count: bool,
}

/// A sampling plan, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedPlan {
    /// The plan.
    pub plan: Plan,
    /// Whether the user gave the plan. It may have been edited then, so it does not replace a plan
    /// that the program would make.
    pub given: bool,
}

/// The parameters of stages 5 to 8: which fingerprints take part, and which pairs are found.
///
/// By default everything takes part, and the results are exact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinParameters {
    /// Which fingerprints take part, unless a plan says so.
    pub sampling: Sampling,
    /// A plan that determines the sampling.
    pub plan: Option<AppliedPlan>,
    /// How pairs are found, and which.
    pub join: JoinConfig,
    /// When records go through runs on disk. Results are the same.
    pub spill: Spill,
    /// Whether the postings of all fingerprints are made, because they are a result.
    pub all_postings: bool,
    /// Which result files a run writes.
    pub results: ResultFormat,
    /// The most runs merged at once, below what the budget allows: for tests and measurements.
    pub fan_in: Option<usize>,
}

impl From<JoinConfig> for JoinParameters {
    fn from(join: JoinConfig) -> Self {
        JoinParameters {
            join,
            ..JoinParameters::default()
        }
    }
}

impl JoinParameters {
    /// Refuses parameters that cannot be combined with each other or with these size groups. With
    /// `planned`, a plan will be made.
    ///
    /// # Errors
    /// [`Error::BadParameter`] names the parameter.
    pub fn check(&self, groups: &SizeGroups, planned: bool) -> Result<()> {
        self.join.check()?;
        self.sampling().check(groups.count())?;
        if let Some(runs) = self.fan_in
            && runs < 2
        {
            return refuse("fan-in", runs, "at least 2");
        }
        self.join
            .check_sampling(planned || self.sampling() != Sampling::Full)?;
        let exact = self.plan.is_none() && !planned && self.sampling == Sampling::Full;
        if self.join.candidates.is_some() && exact {
            return Err(Error::parameter("verified", "with --sampling full")
                .because("without sampling every pair is exact; add --sampling or --precision"));
        }
        Ok(())
    }

    /// Which postings the join needs; `None` for all of them.
    pub(super) fn needs(&self) -> Option<Needs> {
        let config = &self.join;
        // A sample that is cut off has none of what follows it to choose from.
        let cut_off = self.sampling().most_per_document().is_some();
        if self.all_postings || cut_off || config.reads_all_postings() {
            return None;
        }
        Some(Needs {
            criterion: config.of_samples(),
            may_count: config.may_count(),
        })
    }

    /// The sampling of the plan if there is one, otherwise the given sampling.
    pub fn sampling(&self) -> Sampling {
        match &self.plan {
            Some(applied) => applied.plan.sampling(),
            None => self.sampling.clone(),
        }
    }
}
