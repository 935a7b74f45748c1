//! The result of a comparison in a few numbers: for each ground truth, the best method, and the
//! cheapest of the methods that are close to it.

use super::{Comparison, MethodRow};

/// A method is close to the best one if its F1 is lower by at most this number.
pub const CLOSE: f64 = 0.05;

/// A method's agreement with a ground truth, and its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The number of the method.
    pub method: usize,
    /// Share of its pairs that are true.
    pub precision: f64,
    /// Share of the true pairs that it found.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// CPU seconds from the collection to the clusters.
    pub cpu_seconds: f64,
}

/// The result against one ground truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Specification of the method that is the ground truth.
    pub truth: String,
    /// Its pairs.
    pub true_pairs: u64,
    /// Its CPU seconds.
    pub truth_seconds: f64,
    /// The methods besides the ground truth with a precision and a recall, in the order of the
    /// comparison.
    pub standings: Vec<Standing>,
    /// The method with the highest F1; among equals, the method with the least CPU time.
    pub best: Option<Standing>,
    /// The method that took the least CPU time among those that are [`CLOSE`] to the best.
    pub cheapest: Option<Standing>,
    /// The number of methods that are close to the best, including the best.
    pub close: usize,
}

/// The harmonic mean of precision and recall.
pub fn f1(precision: f64, recall: f64) -> f64 {
    match precision + recall > 0.0 {
        true => 2.0 * precision * recall / (precision + recall),
        false => 0.0,
    }
}

/// A verdict for each ground truth, in the order of the comparison.
pub fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    let truths = comparison.methods.first();
    let truths = truths.map_or(0, |row| row.against.len());
    (0..truths).filter_map(|n| verdict(comparison, n)).collect()
}

/// The verdict for ground truth number `n`.
fn verdict(comparison: &Comparison, n: usize) -> Option<Verdict> {
    let against = comparison.methods.first()?.against.get(n)?;
    let is_truth = |row: &&MethodRow| row.method == against.truth;
    let rows = comparison.methods.iter().enumerate();
    let standings: Vec<Standing> = rows
        .filter(|(_, row)| !is_truth(row))
        .filter_map(|(method, row)| {
            let against = row.against.get(n)?;
            let (precision, recall) = (against.precision?, against.recall?);
            Some(Standing {
                method,
                precision,
                recall,
                f1: f1(precision, recall),
                cpu_seconds: row.cpu_seconds,
            })
        })
        .collect();
    let cheaper = |a: &Standing, b: &Standing| a.cpu_seconds.total_cmp(&b.cpu_seconds);
    let better = |a: &Standing, b: &Standing| b.f1.total_cmp(&a.f1);
    let best = standings.iter().copied();
    // The first of equals.
    let best = best.min_by(|a, b| better(a, b).then(cheaper(a, b)));
    let close = |standing: &&Standing| best.is_some_and(|best| best.f1 - standing.f1 <= CLOSE);
    let cheapest = standings.iter().filter(close).copied();
    let cheapest = cheapest.min_by(|a, b| cheaper(a, b).then(better(a, b)));
    Some(Verdict {
        truth: against.truth.clone(),
        true_pairs: against.true_pairs,
        truth_seconds: comparison
            .methods
            .iter()
            .find(is_truth)
            .map_or(0.0, |row| row.cpu_seconds),
        close: standings.iter().filter(close).count(),
        standings,
        best,
        cheapest,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{AgainstTruth, Agreement};
    use super::*;

    /// A method with its precision, recall and CPU seconds against `truth`.
    fn row(method: &str, precision: Option<f64>, recall: Option<f64>, seconds: f64) -> MethodRow {
        MethodRow {
            method: method.into(),
            ignored: 0,
            keys: 0,
            pairs: 10,
            clusters: 0,
            exact_only: 0,
            documents: 0,
            largest: 0,
            sets: None,
            against: vec![AgainstTruth {
                truth: "truth".into(),
                true_pairs: 8,
                found: 4,
                precision,
                recall,
                utility: 0,
            }],
            wall_seconds: seconds,
            cpu_seconds: seconds,
            peak_bytes: 0,
            disk_bytes: 0,
        }
    }

    fn comparison(methods: Vec<MethodRow>) -> Comparison {
        Comparison {
            documents: 0,
            representatives: 0,
            agreement: Agreement::default(),
            methods,
            families: None,
            queries: None,
        }
    }

    #[test]
    fn the_best_and_the_cheapest_near_it() {
        let comparison = comparison(vec![
            row("truth", Some(1.0), Some(1.0), 2.0),
            row("good", Some(0.9), Some(0.9), 5.0),
            row("near", Some(0.88), Some(0.85), 0.5),
            row("far and cheap", Some(0.9), Some(0.2), 0.1),
            row("nothing found", None, Some(0.0), 0.0),
        ]);
        let [verdict] = &verdicts(&comparison)[..] else {
            panic!("one ground truth");
        };
        assert_eq!((verdict.true_pairs, verdict.truth_seconds), (8, 2.0));
        assert_eq!(verdict.standings.len(), 3);
        let (best, cheapest) = (verdict.best.unwrap(), verdict.cheapest.unwrap());
        assert_eq!((best.method, cheapest.method, verdict.close), (1, 2, 2));
        assert!((best.f1 - 0.9).abs() < 1e-12);
        assert_eq!(cheapest.cpu_seconds, 0.5);
    }

    #[test]
    fn of_equals_the_cheaper_one_and_of_none_none() {
        let half = |name, seconds| row(name, Some(0.5), Some(0.5), seconds);
        let equal = comparison(vec![
            row("truth", Some(1.0), Some(1.0), 1.0),
            half("a", 3.0),
            half("b", 1.0),
        ]);
        assert_eq!(verdicts(&equal)[0].best.unwrap().method, 2);
        let alone = comparison(vec![row("truth", Some(1.0), Some(1.0), 1.0)]);
        assert_eq!(verdicts(&alone)[0].best, None);
        assert_eq!(verdicts(&alone)[0].close, 0);
        assert!(verdicts(&comparison(Vec::new())).is_empty());
        assert_eq!(f1(0.0, 0.0), 0.0);
    }
}
