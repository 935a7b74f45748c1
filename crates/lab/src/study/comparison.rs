//! Compares exact, sampled, verified and planned runs.

use serde::{Deserialize, Serialize};

use super::results::{Study, StudyCost, USUAL};
use super::view::{ClassSpread, Metric, Moments, PairKind, Scope, Tried, View, mean};
use lookalike_base::{Result, Threshold, fraction};
use lookalike_tasks::plan::saving;

/// One way to find the pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// Description for the reader.
    pub name: String,
    /// Share of all shingles that are sorted.
    pub share: f64,
    /// Precision over all pairs; `None` if none was found.
    pub precision: Option<Moments>,
    /// Recall over all pairs; `None` without true pairs.
    pub recall: Option<Moments>,
    /// Pairs found, on average.
    pub found: f64,
    /// Pairs that are looked up in the full sets, on average.
    pub looked_up: f64,
    /// Documents without sampled shingles, on average.
    pub nothing_sampled: f64,
    /// CPU seconds from the collection to the pairs at the lowest threshold, on average; `None`
    /// without a separate run.
    pub cpu_seconds: Option<f64>,
}

/// The ways to find the pairs, and a recommendation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyComparison {
    /// The threshold for which precision and recall are reported: the one nearest 0.85.
    pub threshold: Threshold,
    /// The lowest threshold, to which the times refer.
    pub lowest: Threshold,
    /// CPU seconds of reading, which every way needs first.
    pub reading_seconds: f64,
    /// The ways to find the pairs.
    pub rows: Vec<Way>,
    /// The recommendation, in one or two sentences.
    pub verdict: String,
}

/// Compares the runs of a study.
pub fn comparison(study: &Study, cost: &StudyCost) -> Result<StudyComparison> {
    let view = View::new(study)?;
    let thresholds = view.thresholds();
    let at = study.config.nearest(USUAL).unwrap_or(0);
    let all = view.whole(Scope::All).shingles.max(1) as f64;
    let mut rows = Vec::new();
    for ratio in &view.ratios {
        let (n, trials) = (ratio.n, &ratio.trials);
        let mean = |of: &dyn Fn(&Tried) -> u64| mean(trials.iter().map(of)).unwrap_or(0.0);
        let spread = |metric| ratio.spread(metric, Scope::All, PairKind::All, at).moments;
        let (name, run) = match n {
            1 => ("exact".into(), Some(&cost.exact)),
            _ => (ratio.name(), cost.trials.get(&n)),
        };
        let row = Way {
            name,
            share: mean(&|of| of.sizes(Scope::All).sampled) / all,
            precision: spread(Metric::Precision),
            recall: spread(Metric::Recall),
            found: mean(&|of| of.all.at(at).found()),
            looked_up: 0.0,
            nothing_sampled: mean(&|of| of.sizes(Scope::All).nothing_sampled),
            cpu_seconds: run.map(|cost| cost.cpu_seconds),
        };
        rows.push(row.clone());
        // Verified, once from the threshold itself and once from three steps below it.
        let mut lower = vec![at, at.saturating_sub(3)];
        lower.dedup();
        for from in lower.into_iter().filter(|_| n > 1) {
            let verified = || trials.iter().map(|of| of.all.counts(from, at));
            let whole = verified().map(|counts| (counts.correct > 0).then_some(1.0));
            rows.push(Way {
                name: format!("1/{n}, verified from {}", thresholds[from]),
                precision: ClassSpread::of(whole).moments,
                recall: ClassSpread::of(verified().map(|counts| counts.recall())).moments,
                found: mean(&|of| of.all.counts(from, at).correct),
                looked_up: mean(&|of| of.all.counts(from, at).found()),
                cpu_seconds: None,
                ..row.clone()
            });
        }
    }
    for planned in &cost.planned {
        let one = |value: Option<f64>| ClassSpread::of([value]).moments;
        rows.push(Way {
            name: format!(
                "plan for precision {}",
                planned.plan.config.target.precision
            ),
            share: planned.cost.records as f64 / all,
            precision: one(planned.counts.precision()),
            recall: one(planned.counts.recall()),
            found: planned.counts.found() as f64,
            looked_up: 0.0,
            nothing_sampled: planned.nothing_sampled as f64,
            cpu_seconds: Some(planned.cost.cpu_seconds),
        });
    }
    Ok(StudyComparison {
        threshold: thresholds[at],
        lowest: thresholds[0],
        reading_seconds: cost.reading.cpu_seconds,
        rows,
        verdict: verdict(cost),
    })
}

/// Whether sampling pays off.
fn verdict(cost: &StudyCost) -> String {
    let (reading, exact) = (cost.reading.cpu_seconds, cost.exact.cpu_seconds);
    let Some(planned) = cost.planned.first() else {
        return format!(
            "An exact run takes {exact:.2} CPU seconds after {reading:.2} of reading. No plans were tried: \
             they need ratios that divide one another."
        );
    };
    let precision = planned.plan.config.target.precision;
    let sampled = planned.cost.cpu_seconds;
    let Some((saved, worth)) = saving(reading, exact, sampled) else {
        return format!(
            "From the collection to the pairs, an exact run takes {exact:.2} CPU seconds, too little to compare. \
             Run exactly: no pair is missed then, and none is false."
        );
    };
    let advice = match worth {
        false => "Run exactly: no pair is missed then, none is false, and it costs little more.",
        true => {
            "Where the answer may be a little wrong, the plan is worth it; where it may not, run exactly."
        }
    };
    format!(
        "Reading the collection took {reading:.2} CPU seconds, and every run has to do that. From there an exact run \
         takes {exact:.2}; with the plan for precision {precision} it is {sampled:.2}, which saves {} of the \
         whole. {advice}",
        fraction(saved, 3)
    )
}
