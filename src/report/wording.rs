//! Describes in words what a run compared and which threshold pairs had to reach.

use lookalike_base::{Measure, Threshold, count, counted, cut_after, listed};
use lookalike_engine::collection::Condition;
use lookalike_engine::pipeline::Summary;

use super::terminal::visible;

/// The most characters of a condition that are shown.
const MOST_OF_CONDITION: usize = 200;

/// The words for the query parameters of one directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wording<'a> {
    /// The method whose features are compared instead of shingles.
    pub method: Option<&'a str>,
    pub measure: Measure,
    pub threshold: Threshold,
    /// The condition that limits the pairs, also those of equal documents.
    pub(super) condition: Option<&'a Condition>,
}

impl<'a> Wording<'a> {
    /// `None` without a join.
    pub fn of(summary: &'a Summary) -> Option<Self> {
        let config = summary.join_config?;
        Some(Wording {
            method: summary.method.as_deref(),
            measure: config.measure,
            threshold: config.threshold,
            condition: summary.collection.condition.as_ref(),
        })
    }

    /// The noun for the elements of a document.
    pub fn feature(&self) -> &'static str {
        match self.method {
            Some(_) => "feature",
            None => "shingle",
        }
    }

    /// The plural of this noun.
    pub fn features(&self) -> String {
        format!("{}s", self.feature())
    }

    /// The measure.
    pub(crate) fn noun(&self) -> &'static str {
        match self.measure {
            Measure::Resemblance => "resemblance",
            Measure::Containment => "containment",
            Measure::Cosine => "cosine",
            Measure::Dice => "Dice coefficient",
            Measure::Of(_) | Measure::Smallest(_) => "similarity",
            _ => "score",
        }
    }

    /// The meaning of the measure for two documents.
    pub fn definition(&self) -> String {
        let features = self.features();
        let what = match self.measure {
            Measure::Resemblance => {
                format!("the share of the {features} of both together that both have, from 0 to 1")
            }
            Measure::Containment => format!(
                "the share of the {features} of the smaller one that the other has too, from 0 to 1"
            ),
            Measure::Cosine => format!(
                "the number of {features} that both have, divided by the square root of the product of \
                 the numbers that each has, from 0 to 1"
            ),
            Measure::Dice => format!(
                "the number of {features} that both have, divided by the mean of the numbers that each has, \
                 from 0 to 1"
            ),
            Measure::Shared(_) => format!("the number of {features} that both have (S1)"),
            Measure::S2 => format!(
                "the number of {features} that both have, divided by the number of words of the shorter (S2)"
            ),
            Measure::S3 => format!(
                "the number of {features} that both have, divided by the mean of their numbers of words (S3)"
            ),
            Measure::S4 => format!(
                "the sum over the {features} that both have of 1 / f, where f is the number of \
                 documents that have it, divided by the mean of their numbers of words (S4)"
            ),
            Measure::Of(n) => {
                format!("the share of their {n} {features} that both have, from 0 to 1")
            }
            Measure::Smallest(n) => format!(
                "the share of the {n} smallest {features} of both together that both have, from 0 to 1"
            ),
        };
        format!("The {} of two documents is {what}.", self.noun())
    }

    /// The property of a listed pair: `a resemblance of 0.85 or more`.
    pub fn listed(&self) -> String {
        match self.measure {
            Measure::Shared(n) => counted(n.into(), self.feature()) + " or more in common",
            _ => format!("a {} of {} or more", self.noun(), self.threshold),
        }
    }

    /// The condition of listed pairs, after the noun: ` for which a.source != b.source`.
    pub fn limit(&self) -> String {
        listed("", self.condition, |condition| {
            let text = visible(&condition.to_string());
            format!(" for which {}", cut_after(text, MOST_OF_CONDITION))
        })
    }

    /// The score of two documents that make no listed pair.
    pub fn unlisted(&self) -> String {
        match self.condition.is_some() {
            true => "no pair".into(),
            false => self.below(),
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

/// First and last number of words of a group called `500-999` or `9000-`.
fn bounds(words: &str) -> Option<(u64, Option<u64>)> {
    let (low, high) = words.split_once('-')?;
    let high = Some(high).filter(|high| !high.is_empty());
    Some((low.parse().ok()?, high.map(str::parse).transpose().ok()?))
}

/// A size group as people write it: `500–999`, `9,000 or more`.
pub fn group_name(words: &str) -> String {
    match bounds(words) {
        Some((low, Some(high))) => format!("{}\u{2013}{}", count(low), count(high)),
        Some((0, None)) => "any".into(),
        Some((low, None)) => format!("{} or more", count(low)),
        None => words.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups_have_bounds() {
        assert_eq!(bounds("500-999"), Some((500, Some(999))));
        assert_eq!(bounds("9000-"), Some((9000, None)));
        assert_eq!(bounds("long"), None);
    }

    #[test]
    fn size_groups_are_named_for_readers() {
        assert_eq!(group_name("1000-1999"), "1,000\u{2013}1,999");
        assert_eq!(group_name("9000-"), "9,000 or more");
        assert_eq!(group_name("0-"), "any");
    }
}
