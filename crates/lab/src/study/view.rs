//! A study by ratio, threshold and size group: the numbers for tables and charts.

use std::collections::BTreeMap;

use lookalike_base::{Counts, Error, PairTable, Result, Threshold, keywords};
use serde::{Deserialize, Serialize};

use super::{Study, Trial, TrialGroup};

/// A size group by its number, or the whole collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Group(usize),
    All,
}

impl Scope {
    /// The pairs that the paper counted: it ran each group by itself, and the whole collection.
    pub(crate) fn pairs(self) -> PairKind {
        match self {
            Scope::Group(_) => PairKind::Same,
            Scope::All => PairKind::All,
        }
    }
}

keywords! {
    /// The pairs of a [`Scope`] to count. In a group: pairs of two of its documents, or of one of
    /// them and a larger document of another group. In the whole collection: the sums over the
    /// groups.
    pub enum PairKind {
        Same = "same",
        Cross = "cross",
        All = "all",
    }
}

keywords! {
    /// The measure of a trial's quality.
    pub(crate) enum Metric {
        Precision = "precision",
        Recall = "recall",
    }
}

impl Metric {
    pub(crate) fn of(self, counts: Counts) -> Option<f64> {
        match self {
            Metric::Precision => counts.precision(),
            Metric::Recall => counts.recall(),
        }
    }
}

/// Statistics over the trials of a ratio. Undefined values are left out and counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClassSpread {
    pub undefined: usize,
    /// `None` if all values are undefined.
    pub moments: Option<Moments>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    pub mean: f64,
    /// The deviation of the population: the classes tried are all classes of interest, not a
    /// sample.
    #[serde(skip)]
    pub deviation: f64,
    pub least: f64,
    pub greatest: f64,
}

impl ClassSpread {
    pub(crate) fn of(values: impl IntoIterator<Item = Option<f64>>) -> ClassSpread {
        let all: Vec<Option<f64>> = values.into_iter().collect();
        let defined: Vec<f64> = all.iter().flatten().copied().collect();
        ClassSpread {
            undefined: all.len() - defined.len(),
            moments: Moments::of(&defined),
        }
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        self.moments.map(|m| m.mean)
    }
}

impl Moments {
    pub(crate) fn of(values: &[f64]) -> Option<Moments> {
        let count = values.len() as f64;
        let (mut least, mut greatest) = (*values.first()?, *values.first()?);
        let mut sum = 0.0;
        for &value in values {
            sum += value;
            least = least.min(value);
            greatest = greatest.max(value);
        }
        let mean = sum / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Some(Moments {
            mean,
            deviation: (squares / count).sqrt(),
            least,
            greatest,
        })
    }
}

/// Mean of counts; `None` without trials.
pub fn mean(values: impl IntoIterator<Item = u64>) -> Option<f64> {
    ClassSpread::of(values.into_iter().map(|v| Some(v as f64))).mean()
}

/// A trial with its counts at every threshold.
pub struct Tried<'a> {
    pub trial: &'a Trial,
    /// By scope (the groups, then all), by kind of pairs, by threshold.
    counts: Vec<[Vec<Counts>; 3]>,
    /// All pairs of the collection. A run is verified if estimates and true values have thresholds of
    /// their own.
    pub(crate) all: PairTable,
}

impl Tried<'_> {
    /// Counts with the same threshold for estimates and true values.
    pub(crate) fn counts(&self, scope: Scope, pairs: PairKind, threshold: usize) -> Counts {
        let place = match scope {
            Scope::Group(group) => group,
            Scope::All => self.trial.groups.len(),
        };
        self.counts[place][pairs as usize][threshold]
    }

    /// The documents and shingles of a scope.
    pub(crate) fn sizes(&self, scope: Scope) -> TrialGroup {
        let mut sum = TrialGroup::default();
        for (place, group) in self.trial.groups.iter().enumerate() {
            if scope == Scope::All || scope == Scope::Group(place) {
                lookalike_base::add!(sum, group => documents, nothing_sampled, shingles, sampled);
            }
        }
        sum
    }
}

/// All classes of a ratio.
pub struct RatioTrials<'a> {
    /// The n of 1/n.
    pub n: u32,
    /// In the study's order.
    pub trials: Vec<Tried<'a>>,
}

impl RatioTrials<'_> {
    /// `1/16`, or `full`.
    pub(crate) fn name(&self) -> String {
        ratio_name(self.n)
    }

    /// A measure over the classes.
    pub(crate) fn spread(
        &self,
        measure: Metric,
        scope: Scope,
        pairs: PairKind,
        threshold: usize,
    ) -> ClassSpread {
        let trials = self.trials.iter();
        ClassSpread::of(trials.map(|t| measure.of(t.counts(scope, pairs, threshold))))
    }

    pub(crate) fn precision(&self, scope: Scope, pairs: PairKind, threshold: usize) -> ClassSpread {
        self.spread(Metric::Precision, scope, pairs, threshold)
    }

    /// Mean number of shingles sampled.
    pub(crate) fn sampled(&self, scope: Scope) -> Option<f64> {
        mean(self.trials.iter().map(|t| t.sizes(scope).sampled))
    }
}

/// The ratio 1/n as the project writes it.
pub(crate) fn ratio_name(n: u32) -> String {
    if n == 1 {
        "full".into()
    } else {
        format!("1/{n}")
    }
}

/// A study, prepared for queries.
pub struct View<'a> {
    pub study: &'a Study,
    /// By n, ascending; the exact run, if there is one, is the first.
    pub ratios: Vec<RatioTrials<'a>>,
}

impl<'a> View<'a> {
    /// Checks that every trial has the groups and thresholds that the study names.
    pub(crate) fn new(study: &'a Study) -> Result<View<'a>> {
        let mut by_n: BTreeMap<u32, Vec<Tried>> = BTreeMap::new();
        for trial in &study.trials {
            by_n.entry(trial.n).or_default().push(tried(study, trial)?);
        }
        let ratios = by_n
            .into_iter()
            .map(|(n, trials)| RatioTrials { n, trials })
            .collect();
        Ok(View { study, ratios })
    }

    /// Ratios that leave fingerprints out.
    pub(crate) fn sampled_ratios(&self) -> impl DoubleEndedIterator<Item = &RatioTrials<'a>> {
        self.ratios.iter().filter(|ratio| ratio.n > 1)
    }

    /// The groups, then all.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = Scope> {
        (0..self.study.groups.len())
            .map(Scope::Group)
            .chain([Scope::All])
    }

    /// `0` and so on, or `all`.
    pub(crate) fn group_name(&self, scope: Scope) -> String {
        match scope {
            Scope::Group(group) => group.to_string(),
            Scope::All => "all".into(),
        }
    }

    /// The words of its documents, as `0-499`; `all` of the whole.
    pub(crate) fn words(&self, scope: Scope) -> &str {
        match scope {
            Scope::Group(group) => self.study.groups.get(group).map_or("", String::as_str),
            Scope::All => "all",
        }
    }

    /// Documents and shingles, which no class changes.
    pub(crate) fn whole(&self, scope: Scope) -> TrialGroup {
        let trial = self.ratios.iter().flat_map(|ratio| &ratio.trials).next();
        trial.map(|trial| trial.sizes(scope)).unwrap_or_default()
    }

    pub(crate) fn thresholds(&self) -> &[Threshold] {
        &self.study.config.thresholds
    }

    /// A threshold by its number.
    pub(crate) fn threshold(&self, number: usize) -> String {
        self.thresholds()[number].to_string()
    }
}

fn tried<'a>(study: &Study, trial: &'a Trial) -> Result<Tried<'a>> {
    let bad = |what: &str, expected: usize, found: usize| {
        let (n, class) = (trial.n, trial.class);
        let message =
            format!("the study's class {class} of 1/{n} has {found} {what}, expected {expected}");
        Error::other(
            message,
            "make the study again: its tables contradict each other",
        )
    };
    if trial.groups.len() != study.groups.len() {
        let found = trial.groups.len();
        return Err(bad("size groups", study.groups.len(), found));
    }
    // The counts come from a file. They describe one collection and are summed in several ways
    // below.
    let numbers = trial.groups.iter().flat_map(|group| {
        let sizes = [
            group.documents,
            group.nothing_sampled,
            group.shingles,
            group.sampled,
        ];
        let cells = group.same.cells.iter().chain(&group.cross.cells);
        sizes.into_iter().chain(cells.copied())
    });
    let sum = numbers.fold(0, u64::saturating_add);
    if sum == u64::MAX {
        return Err(bad("counts, all together", usize::MAX - 1, usize::MAX));
    }
    let thresholds = study.config.thresholds.len();
    let diagonal = |table: &PairTable| (0..thresholds).map(|t| table.at(t)).collect();
    let mut whole: [PairTable; 3] = std::array::from_fn(|_| PairTable::new(thresholds));
    let mut counts = Vec::with_capacity(trial.groups.len() + 1);
    for group in &trial.groups {
        for table in [&group.same, &group.cross] {
            if table.thresholds != thresholds {
                return Err(bad("thresholds in a table", thresholds, table.thresholds));
            }
            let cells = (thresholds + 1) * (thresholds + 1);
            if table.cells.len() != cells {
                return Err(bad("cells in a table", cells, table.cells.len()));
            }
        }
        let mut both = group.same.clone();
        both.add(&group.cross);
        for (sum, table) in whole.iter_mut().zip([&group.same, &group.cross, &both]) {
            sum.add(table);
        }
        counts.push([&group.same, &group.cross, &both].map(diagonal));
    }
    counts.push(whole.each_ref().map(diagonal));
    let [_, _, all] = whole;
    Ok(Tried { trial, counts, all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_leaves_out_what_is_undefined() {
        let spread = ClassSpread::of([Some(0.25), None, Some(0.75), Some(0.5)]);
        assert_eq!(spread.undefined, 1);
        let moments = spread.moments.unwrap();
        assert_eq!((moments.least, moments.greatest), (0.25, 0.75));
        assert_eq!(moments.mean, 0.5);
        // The variance of the population: (0.0625 + 0 + 0.0625) / 3.
        assert!((moments.deviation - (0.125f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(ClassSpread::of([None]).moments, None);
    }
}
