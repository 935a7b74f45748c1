//! Sampling ratios and classes, and their assignment to documents.

use std::fmt;
use std::str::FromStr;

use lookalike_base::{Rate, refuse, stored_as_text};

/// How fingerprints are sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// All fingerprints. The results are exact.
    #[default]
    Full,
    /// The same class of the same ratio for every document.
    Uniform(Rate),
    /// A ratio for each size group. All of them nest: each class lies within the class of every
    /// finer ratio. Documents with different ratios are compared on the coarser one.
    Groups(Vec<Rate>),
    /// Like Broder et al. 1997: a ratio of 1/25, at most the 400 least fingerprints of a document's
    /// sample, and (in the join) no fingerprints with more than 1,000 documents.
    Broder97,
}

/// The most fingerprints of a document in [`Sampling::Broder97`].
const BRODER97_MOST: u32 = 400;
/// The most documents of a fingerprint in [`Sampling::Broder97`].
const BRODER97_MAX_POSTINGS: u32 = 1000;

impl Sampling {
    /// The most fingerprints in a document's sample, if there is a limit. The sample keeps the
    /// least ones.
    pub(crate) fn most_per_document(&self) -> Option<u32> {
        matches!(self, Sampling::Broder97).then_some(BRODER97_MOST)
    }

    /// The `--max-postings` that this sampling uses unless another is given.
    pub fn max_postings(&self) -> Option<u32> {
        matches!(self, Sampling::Broder97).then_some(BRODER97_MAX_POSTINGS)
    }

    /// Refuses a list of ratios whose length is not the number of size groups.
    pub fn check(&self, groups: usize) -> lookalike_base::Result<()> {
        match self {
            Sampling::Groups(rates) if rates.len() != groups => {
                let limit = format!(
                    "it has {} ratios; give one for each of the {groups} size groups",
                    rates.len()
                );
                refuse("sampling", self, limit)
            }
            _ => Ok(()),
        }
    }

    /// The ratios of the size groups, as levels.
    pub fn levels(&self, groups: usize) -> Levels {
        let rate = match self {
            Sampling::Full => Rate::FULL,
            Sampling::Uniform(rate) => *rate,
            Sampling::Groups(by_group) => {
                let mut rates = by_group.clone();
                rates.sort_unstable();
                rates.dedup();
                // There are at most as many levels as groups, and at most 255 groups.
                let level = |rate| rates.partition_point(|other| other < rate) as u8;
                return Levels {
                    level_of_group: by_group.iter().map(level).collect(),
                    rates,
                };
            }
            Sampling::Broder97 => Rate::new(25, 0).unwrap_or(Rate::FULL),
        };
        Levels {
            rates: vec![rate],
            level_of_group: vec![0; groups],
        }
    }
}

/// The distinct ratios of a sampling, finest first, and the ratio of each size group.
///
/// A document of level i is compared with a document of level j on level max(i, j). So a document
/// has one sample size for its own level and one for each coarser level. A uniform sampling has one
/// level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The ratios, finest first; each n divides the next.
    pub rates: Vec<Rate>,
    /// Level of each size group.
    pub level_of_group: Vec<u8>,
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sampling::Full => f.write_str("full"),
            Sampling::Uniform(rate) => write!(f, "{rate}"),
            Sampling::Groups(rates) => {
                let rates: Vec<String> = rates.iter().map(Rate::to_string).collect();
                f.write_str(&rates.join(","))
            }
            Sampling::Broder97 => f.write_str("broder97"),
        }
    }
}

impl FromStr for Sampling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "broder97" {
            return Ok(Sampling::Broder97);
        }
        let rates = text.split(',').map(str::parse);
        let rates: Vec<Rate> = rates.collect::<Result<_, String>>()?;
        let mut distinct = rates.clone();
        distinct.sort_unstable();
        distinct.dedup();
        for pair in distinct.windows(2) {
            let (fine, coarse) = (pair[0], pair[1]);
            if !coarse.n().is_multiple_of(fine.n())
                || coarse.class() / (coarse.n() / fine.n()) != fine.class()
            {
                return Err(format!(
                    "`{text}`: the sample {coarse} is not a part of the sample {fine}, so \
                     documents of both could not be compared"
                ));
            }
        }
        Ok(match distinct[..] {
            [Rate::FULL] => Sampling::Full,
            [rate] => Sampling::Uniform(rate),
            _ => Sampling::Groups(rates),
        })
    }
}

stored_as_text!(Sampling);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sampling_reads_and_prints() {
        for text in [
            "full",
            "1/16",
            "1/16:3",
            "broder97",
            "1/25:24",
            "full,1/2,1/8",
            "1/8:5,1/4:2,1/8:5",
        ] {
            assert_eq!(text.parse::<Sampling>().unwrap().to_string(), text);
        }
        assert_eq!("1/1".parse::<Sampling>().unwrap(), Sampling::Full);
        assert_eq!("1/1,full".parse::<Sampling>().unwrap(), Sampling::Full);
        let levels = "1/8:5,1/4:2,full,1/4:2"
            .parse::<Sampling>()
            .unwrap()
            .levels(4);
        assert_eq!(levels.level_of_group, [2, 1, 0, 1]);
        assert_eq!(levels.rates.len(), 3);
        for text in [
            "",
            "2/3",
            "1/0",
            "1/16:16",
            "1/x",
            "1/",
            "16",
            "1/-2",
            "1/4:",
            "1/2,",
            "1/2,1/3",
            "1/2,1/4:2",
            "1/4,1/4:1",
            "1/2,broder97",
        ] {
            assert!(text.parse::<Sampling>().is_err(), "{text}");
        }
    }

    #[test]
    fn classes_follow_the_definition() {
        for n in 1..=40u32 {
            for class in 0..n {
                let (low, high) = Rate::new(n, class).unwrap().bounds::<u64>();
                for h in [low, high] {
                    assert_eq!((u128::from(h) * u128::from(n)) >> 64, u128::from(class));
                }
                let below = low
                    .checked_sub(1)
                    .map(|h| (u128::from(h) * u128::from(n)) >> 64);
                assert_eq!(below, class.checked_sub(1).map(u128::from));
                let wide = Rate::new(n, class).unwrap().bounds::<u128>();
                // The high halves of 128-bit classes begin at the quotient.
                let quotient = (u128::from(class) << 64) / u128::from(n);
                assert_eq!(wide.0 >> 64, quotient);
                if class + 1 < n {
                    let next = Rate::new(n, class + 1).unwrap().bounds::<u128>();
                    assert_eq!(next.0, wide.1 + 1);
                } else {
                    assert_eq!(wide.1, u128::MAX);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn classes_nest(h in any::<u128>(), n in 1u32..100, factor in 1u32..20) {
            let inside = |rate: Rate| { let (l, u) = rate.bounds::<u128>(); l <= h && h <= u };
            let m = n * factor;
            let fine = (0..m).find(|&c| inside(Rate::new(m, c).unwrap())).unwrap();
            prop_assert!(inside(Rate::new(n, fine / factor).unwrap()));
        }

        #[test]
        fn classes_partition_a_set(mut set in prop::collection::vec(any::<u64>(), 0..300), n in 1u32..40) {
            set.sort_unstable();
            set.dedup();
            let mut at = 0;
            for class in 0..n {
                let (low, high) = Rate::new(n, class).unwrap().bounds::<u64>();
                prop_assert_eq!(set.partition_point(|&h| h < low), at);
                at = set.partition_point(|&h| h <= high);
            }
            prop_assert_eq!(at, set.len());
        }
    }
}
