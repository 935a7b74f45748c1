//! What a join is given.

use crate::join::JoinConfig;
use crate::sample::Sampling;
use crate::sample::plan::Plan;

/// When records go through sorted runs on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spill {
    /// When memory does not take them in a few passes over the sets ([`crate::merge::direct`]).
    #[default]
    Auto,
    /// Always.
    Always,
}

impl std::str::FromStr for Spill {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(Spill::Auto),
            "always" => Ok(Spill::Always),
            _ => Err(format!("`{text}` is not when to spill; use auto or always")),
        }
    }
}

/// A sampling plan, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedPlan {
    /// The plan.
    pub plan: Plan,
    /// Whether a person gave it: then it may have been edited, and is not used in place of one that the
    /// program would make.
    pub given: bool,
}

/// The parameters of stages 5 to 8: which fingerprints take part, and which pairs are found.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinParameters {
    /// Which fingerprints take part, unless a plan says so.
    pub sampling: Sampling,
    /// A plan that says which.
    pub plan: Option<AppliedPlan>,
    /// How pairs are found, and which.
    pub join: JoinConfig,
    /// When records go through runs on disk. Results are the same.
    pub spill: Spill,
    /// The most runs merged at once, below what the budget allows: for tests and measurements.
    pub fan_in: Option<usize>,
}

impl JoinParameters {
    /// The sampling of the plan, or the one given.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        match &self.plan {
            Some(applied) => applied.plan.sampling(),
            None => self.sampling.clone(),
        }
    }
}
