//! Describes in words what a run compared and which threshold pairs had to reach.

use crate::ids::Threshold;
use crate::measure::Measure;
use crate::pipeline::Summary;

/// The words for the query parameters of one directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wording<'a> {
    /// The method whose features are compared instead of shingles.
    pub method: Option<&'a str>,
    pub measure: Measure,
    pub threshold: Threshold,
}

impl<'a> Wording<'a> {
    /// `None` if there was no join.
    pub fn of(summary: &'a Summary) -> Option<Self> {
        let config = summary.join_config?;
        Some(Wording {
            method: summary.method.as_deref(),
            measure: config.measure,
            threshold: config.threshold,
        })
    }

    /// The noun for the elements of a document.
    pub fn key(&self) -> &'static str {
        match self.method {
            Some(_) => "key",
            None => "shingle",
        }
    }

    /// The plural of this noun.
    pub fn keys(&self) -> &'static str {
        match self.method {
            Some(_) => "keys",
            None => "shingles",
        }
    }

    /// The measure.
    pub fn noun(&self) -> &'static str {
        match self.measure {
            Measure::Resemblance => "resemblance",
            Measure::Containment => "containment",
            Measure::Cosine => "cosine",
            Measure::Of(_) | Measure::Smallest(_) => "similarity",
            _ => "score",
        }
    }

    /// The meaning of the measure for two documents.
    pub fn definition(&self) -> String {
        let keys = self.keys();
        let what = match self.measure {
            Measure::Resemblance => {
                format!("the share of the {keys} of both together that both have, from 0 to 1")
            }
            Measure::Containment => format!(
                "the share of the {keys} of the one with fewer that the other has too, from 0 to 1"
            ),
            Measure::Cosine => format!(
                "the number of {keys} that both have, divided by the square root of the product of how \
                 many each has, from 0 to 1"
            ),
            Measure::Shared(_) => format!("the number of {keys} that both have (S1)"),
            Measure::S2 => format!(
                "the number of {keys} that both have, divided by the words of the shorter (S2)"
            ),
            Measure::S3 => format!(
                "the number of {keys} that both have, divided by the mean of their words (S3)"
            ),
            Measure::S4 => format!(
                "the sum over the {keys} that both have of 1 / f, where f documents have it, divided by the \
                 mean of their words (S4)"
            ),
            Measure::Of(n) => format!("the share of their {n} {keys} that both have, from 0 to 1"),
            Measure::Smallest(n) => format!(
                "the share of the {n} smallest {keys} of both together that both have, from 0 to 1"
            ),
        };
        format!("the {} of two documents is {what}", self.noun())
    }

    /// The property of a listed pair: `a resemblance of 0.85 or more`.
    pub fn listed(&self) -> String {
        match self.measure {
            Measure::Shared(1) => format!("a {} or more in common", self.key()),
            Measure::Shared(least) => format!("{least} {} or more in common", self.keys()),
            _ => format!("a {} of {} or more", self.noun(), self.threshold),
        }
    }

    /// The lowest listed value.
    pub fn least(&self) -> String {
        match self.measure {
            Measure::Shared(least) => least.to_string(),
            _ => self.threshold.to_string(),
        }
    }

    /// Name of the count of listed pairs.
    pub fn row(&self) -> String {
        match self.measure {
            Measure::Shared(least) => format!("pairs with {least} or more in common"),
            _ => format!("pairs at {} or above", self.threshold),
        }
    }

    /// The property of a pair that is not listed.
    pub fn below(&self) -> String {
        format!("below {}", self.least())
    }
}
