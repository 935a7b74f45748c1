//! Parameters of a join.

use serde::{Deserialize, Serialize};

use lookalike_base::{Criterion, Measure, Result, Threshold, keywords, refuse};

keywords! {
    /// The algorithm that finds the pairs.
    #[derive(Default)]
    pub enum Join: "is not a join; use" {
        /// [`Join::Prefix`] or [`Join::Count`], whichever is expected to take less time.
        #[default]
        Auto = "auto",
        /// Find candidates by the rarest fingerprints of each document only, and verify them exactly.
        Prefix = "prefix",
        /// Count the shared fingerprints of every two documents that share one.
        Count = "count",
        /// As [`Join::Count`]. If the postings need several blocks, a first pass counts by a hash of
        /// each pair, and pairs that this bound excludes are not written to runs.
        Probabilistic = "probabilistic",
    }
}

impl Join {
    /// Does this algorithm count every shared fingerprint of every pair?
    pub fn counts(self) -> bool {
        matches!(self, Join::Count | Join::Probabilistic)
    }
}

keywords! {
    /// Which pairs are listed.
    #[derive(Default)]
    pub enum Pairs: "is not a choice of pairs; use" {
        /// All pairs at or above the threshold.
        #[default]
        All = "all",
        /// Pairs of a document of the other collection and an own one, if the collection is compared
        /// with another.
        Across = "across",
        /// No pairs, only clusters. The join skips pairs that cannot change a cluster.
        None = "none",
    }
}

/// Parameters of a join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinConfig {
    /// The algorithm that finds the pairs.
    pub join: Join,
    /// Pairs at or above this threshold are listed.
    pub threshold: Threshold,
    /// The measure that is compared with the threshold.
    #[serde(default, skip_serializing_if = "Measure::is_default")]
    pub measure: Measure,
    /// Fingerprints with more documents than this are dropped, which may lose pairs; `None` keeps
    /// all. Not possible with [`Join::Prefix`].
    pub max_postings: Option<u32>,
    /// Which pairs are listed. [`Pairs::None`] is not possible with [`Join::Count`].
    pub pairs: Pairs,
    /// Verified sampling: pairs whose estimate reaches this threshold are candidates. Candidates
    /// whose full sets reach [`JoinConfig::threshold`] are listed with the shared count of the full
    /// sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Threshold>,
    /// Pairs that reach this lower threshold only are listed apart, to be looked at. Nothing else
    /// depends on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Threshold>,
}

impl From<Criterion> for JoinConfig {
    /// Lists all pairs that reach a criterion.
    fn from(Criterion { measure, threshold }: Criterion) -> JoinConfig {
        JoinConfig {
            measure,
            threshold,
            ..JoinConfig::default()
        }
    }
}

impl From<Threshold> for JoinConfig {
    fn from(threshold: Threshold) -> JoinConfig {
        JoinConfig {
            threshold,
            ..JoinConfig::default()
        }
    }
}

impl JoinConfig {
    /// Refuses a sample, if the score or a review does not allow one.
    pub(crate) fn check_sampling(&self, sampled: bool) -> Result<()> {
        if let Some(review) = self.review.filter(|_| sampled) {
            let limit =
                "a sample only estimates what is below the threshold; use `--sampling full`";
            return refuse("review", review, limit);
        }
        if self.measure.of_words() && sampled {
            let limit =
                "it divides the number of all shared shingles by lengths; use `--sampling full`";
            return refuse("score", self.measure, limit);
        }
        Ok(())
    }

    /// The criterion that listed pairs must reach.
    pub fn criterion(&self) -> Criterion {
        Criterion {
            measure: self.measure,
            threshold: self.threshold,
        }
    }

    /// The criterion that the samples of a pair must reach, or the pair itself to be listed apart.
    pub(crate) fn of_samples(&self) -> Criterion {
        let lower = self.candidates.or(self.review);
        Criterion {
            threshold: lower.unwrap_or(self.threshold),
            ..self.criterion()
        }
    }

    /// Whether the join needs the postings of all fingerprints.
    #[must_use]
    pub fn reads_all_postings(&self) -> bool {
        // S4 weighs each shared fingerprint by its documents. A prefix of containment or S2 is the
        // whole set, so candidates cost as much as counts.
        let whole = matches!(self.measure, Measure::Containment | Measure::S2);
        self.join.counts()
            || self.max_postings.is_some()
            || self.measure == Measure::S4
            || whole && self.may_count()
    }

    /// Whether the join may count, and may do without.
    #[must_use]
    pub fn may_count(&self) -> bool {
        self.join == Join::Auto
            && self.pairs != Pairs::None
            && !matches!(self.measure, Measure::Smallest(_))
    }

    /// Refuses a review that cannot list all pairs below the threshold.
    fn check_review(&self) -> Result<()> {
        let (Some(review), t, measure) = (self.review, self.threshold, self.measure) else {
            return Ok(());
        };
        let limit = match measure {
            _ if review >= t => format!("it must be below the threshold, {t}"),
            _ if self.pairs == Pairs::None => "`--pairs none` lists no pairs".into(),
            _ if self.max_postings.is_some() => "`--max-postings` loses pairs".into(),
            Measure::Shared(_) => format!("`--score {measure}` has no threshold"),
            Measure::S4 => "`--score s4` is computed only at the threshold".into(),
            _ => return Ok(()),
        };
        refuse("review", review, limit)
    }

    /// Refuses parameters that cannot be combined.
    pub fn check(&self) -> Result<()> {
        self.check_review()?;
        if let Some(most) = self.max_postings
            && most < 2
        {
            let limit = "at least 2: a pair needs two documents";
            return refuse("max-postings", most, limit);
        }
        if let Some(candidates) = self.candidates {
            let (c, t) = (candidates, self.threshold);
            if c > t {
                let limit = format!(
                    "at most the threshold, {t}: estimates err in both \
                                     directions"
                );
                return refuse("candidates", c, &limit);
            }
            if self.pairs == Pairs::None {
                let limit = "`--pairs none` lists no pairs that could be verified";
                return refuse("verified", c, limit);
            }
        }
        if matches!(self.measure, Measure::Smallest(_))
            && (self.join.counts() || self.max_postings.is_some())
        {
            let limit = "it needs the smallest shared keys, and this join only counts shared \
                         keys; use `--join prefix`";
            return refuse("score", self.measure, limit);
        }
        if self.measure == Measure::S4 && self.pairs == Pairs::None {
            let limit = "it is computed only for listed pairs; use `--pairs all`";
            return refuse("score", self.measure, limit);
        }
        if !self.measure.is_default() && self.candidates.is_some() {
            let limit = "`--verified` works only with `--score resemblance`";
            return refuse("score", self.measure, limit);
        }
        match (self.join, self.max_postings, self.pairs) {
            (Join::Prefix, Some(most), _) => refuse(
                "max-postings",
                most,
                "it drops fingerprints that `--join count` would count; `--join prefix` is exact \
                 and counts none",
            ),
            (join @ (Join::Count | Join::Probabilistic), _, Pairs::None) => {
                let limit = format!("`--join {join}` counts every pair; use `--join prefix`");
                refuse("pairs", Pairs::None, &limit)
            }
            (_, Some(most), Pairs::None) => {
                let limit = format!(
                    "`--max-postings {most}` drops fingerprints where every pair is counted"
                );
                refuse("pairs", Pairs::None, &limit)
            }
            _ => Ok(()),
        }
    }
}
