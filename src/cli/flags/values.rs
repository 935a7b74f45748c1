//! Types of flag values that only the command line uses.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use lookalike_base::{Threshold, listed};
use lookalike_engine::sample::Sampling;
use lookalike_tasks::plan::Ratio;

/// A sampling, or a file with a plan.
#[derive(Clone, Debug)]
pub(crate) enum SamplingChoice {
    /// A sampling, as the user types it.
    As(Sampling),
    /// The file of a plan.
    Plan(PathBuf),
}

impl FromStr for SamplingChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.ends_with(".toml") {
            return Ok(SamplingChoice::Plan(text.into()));
        }
        text.parse().map(SamplingChoice::As)
    }
}

/// The lowest share of pairs to review, or of a query that a document contains; `none` for none.
pub(crate) type Lowest = Option<Threshold>;

/// Reads it.
pub(crate) fn lowest(text: &str) -> Result<Lowest, String> {
    match text {
        "none" => Ok(None),
        _ => text
            .parse()
            .map(Some)
            .map_err(|why| format!("{why}, or none")),
    }
}

/// Values separated by commas.
#[derive(Clone, Debug)]
pub struct List<T>(pub Vec<T>);

impl List<Ratio> {
    /// The ratios 1/n with these n.
    pub fn of(ratios: &[u32]) -> Self {
        List(ratios.iter().copied().map(Ratio).collect())
    }

    /// The n of each ratio 1/n, in rising order, without repetitions.
    pub fn rising(&self) -> Vec<u32> {
        let mut ratios: Vec<u32> = self.0.iter().map(|ratio| ratio.0).collect();
        ratios.sort_unstable();
        ratios.dedup();
        ratios
    }
}

impl<T: FromStr> FromStr for List<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        text.split(',')
            .map(T::from_str)
            .collect::<Result<_, _>>()
            .map(List)
    }
}

impl<T: fmt::Display> fmt::Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(",", &self.0, T::to_string))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error about a word other than `none` names `none`.
    #[test]
    fn a_wrong_word_for_none_is_told_the_right_one() {
        assert_eq!(lowest("none"), Ok(None));
        assert!(lowest("0.5").is_ok_and(|share| share.is_some()));
        for word in ["off", "no", "0", ""] {
            let why = lowest(word).unwrap_err();
            assert!(why.contains("0.85") && why.ends_with("or none"), "{why}");
        }
    }
}
