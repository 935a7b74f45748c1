//! A plan and a study as tables for people.

use std::fmt::Write;

use crate::evaluate::Counts;
use crate::evaluate::plan::{Estimate, Evidence, PlanCost, Planned, PlannedGroup, Ratio};
use crate::evaluate::study::{Study, StudyCost};
use crate::manifest::Manifest;

/// With less saved of a whole run, an exact answer is the better bargain.
const WORTH_SAVING: f64 = 0.25;

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn estimated(estimate: Option<Estimate>) -> String {
    estimate.map_or("-".into(), |e| {
        format!("{:.3} ({:.3} to {:.3})", e.value, e.low, e.high)
    })
}

fn evidence(group: &PlannedGroup, groups: &[PlannedGroup]) -> String {
    let pairs = group.precision.or(group.recall).map_or(0, |e| e.pairs);
    match group.evidence {
        Evidence::Own => format!("{pairs} pairs of its own"),
        Evidence::Pooled { first } => {
            let from = groups
                .get(usize::from(first))
                .map_or("", |group| &group.words);
            format!("{pairs} pairs, pooled with the groups from {from} words")
        }
        Evidence::TooLittle => format!("too few pairs ({pairs}): every fingerprint"),
    }
}

/// CPU seconds from the collection to the pairs: of the exact run, and of the planned one, about. Both
/// as measured, for as many records as the whole collection has; between ratios by the records.
#[must_use]
pub fn expected_seconds(planned: &Planned) -> (f64, f64) {
    let PlanCost { exact, trials, .. } = &planned.cost;
    let all: u64 = planned.plan.groups.iter().map(|group| group.shingles).sum();
    let factor = all as f64 / (exact.records as f64).max(1.0);
    let whole = exact.cpu_seconds * factor;
    let Some(coarsest) = trials.values().next_back() else {
        return (whole, whole);
    };
    let spread = (exact.records as f64 - coarsest.records as f64).max(1.0);
    let slope = (exact.cpu_seconds - coarsest.cpu_seconds).max(0.0) / spread;
    let records = planned.plan.share * exact.records as f64;
    let seconds = coarsest.cpu_seconds + slope * (records - coarsest.records as f64);
    (whole, seconds.max(0.0) * factor)
}

/// A plan for people.
#[must_use]
pub fn plan(planned: &Planned, manifest: &Manifest) -> String {
    let plan = &planned.plan;
    let mut out = String::new();
    let target = &plan.config.target;
    let recall = target
        .recall
        .map_or(String::new(), |recall| format!(", recall {recall}"));
    let on = match &plan.config.subset {
        Some(subset) => format!(
            "a subset of {} documents (share {}, seed {})",
            plan.documents, subset.share, subset.seed
        ),
        None => format!("all {} documents", plan.documents),
    };
    let _ = writeln!(
        out,
        "plan for precision {}{recall} at threshold {}, measured on {on}\n\n{:>10} {:>10} {:>13}  {:<6} {:<24} {:<24} {}",
        target.precision,
        target.threshold,
        "words",
        "documents",
        "shingles",
        "ratio",
        "precision (90 % interval)",
        "recall (90 % interval)",
        "measured on",
    );
    for group in &plan.groups {
        let _ = writeln!(
            out,
            "{:>10} {:>10} {:>13}  {:<6} {:<25} {:<24} {}",
            group.words,
            group.documents,
            group.shingles,
            group.ratio.to_string(),
            estimated(group.precision),
            estimated(group.recall),
            evidence(group, &plan.groups),
        );
    }
    let share_of = |ratio: Ratio| percent(1.0 / f64::from(ratio.0));
    let _ = writeln!(
        out,
        "\nshingles to process                          {}",
        percent(plan.share)
    );
    let _ = writeln!(
        out,
        "one ratio for all, target met in each group  {} ({})\none ratio for all, target met over all pairs {} ({})",
        share_of(plan.uniform),
        plan.uniform,
        share_of(plan.uniform_overall),
        plan.uniform_overall,
    );
    let (exact, sampled) = expected_seconds(planned);
    let reading: f64 = ["ingest", "catalogue"]
        .iter()
        .filter_map(|stage| manifest.costs.get(*stage))
        .map(|cost| cost.cpu_seconds)
        .sum();
    let _ = writeln!(
        out,
        "\nCPU seconds: reading took {reading:.1}; from there an exact run takes about {exact:.1}, this plan {sampled:.1}"
    );
    let saved = (exact - sampled) / (reading + exact).max(f64::MIN_POSITIVE);
    if saved < WORTH_SAVING {
        let _ = writeln!(
            out,
            "Sampling saves {:.0} % of a whole run here. Without it precision and recall are 1: better run exactly.",
            (saved * 100.0).max(0.0)
        );
    } else {
        let _ = writeln!(
            out,
            "Sampling saves {:.0} % of a whole run here.",
            saved * 100.0
        );
    }
    out
}

/// A study for people: precision and recall over all pairs, by ratio, with what an exact run costs.
#[must_use]
pub fn study(study: &Study, cost: &StudyCost) -> String {
    let mut out = String::new();
    let at = study.config.nearest();
    let threshold = &study.config.thresholds[at];
    let _ = writeln!(
        out,
        "precision and recall at threshold {threshold}, over all pairs: mean, and least to greatest of the classes\n\n\
         {:<7} {:>8} {:>24} {:>24} {:>10} {:>10} {:>9}",
        "ratio", "shingles", "precision", "recall", "pairs", "nothing", "CPU s"
    );
    let all: f64 = study.trials.first().map_or(1.0, |trial| {
        trial.groups.iter().map(|group| group.shingles as f64).sum()
    });
    let exact = &cost.exact;
    let _ = writeln!(
        out,
        "{:<7} {:>8} {:>24} {:>24} {:>10} {:>10} {:>9.2}",
        "exact",
        percent(exact.records as f64 / all.max(1.0)),
        "1",
        "1",
        true_pairs(study, at),
        "-",
        exact.cpu_seconds
    );
    for &n in &study.config.ratios {
        let trials: Vec<_> = study.trials.iter().filter(|trial| trial.n == n).collect();
        let counts: Vec<Counts> = trials
            .iter()
            .map(|trial| {
                let groups = trial.groups.iter();
                groups.fold(Counts::default(), |sum, group| {
                    sum + group.same.at(at) + group.cross.at(at)
                })
            })
            .collect();
        let count = trials.len().max(1) as f64;
        let sum = |of: fn(&crate::evaluate::study::TrialGroup) -> u64| -> f64 {
            trials
                .iter()
                .flat_map(|trial| &trial.groups)
                .map(|group| of(group) as f64)
                .sum::<f64>()
                / count
        };
        let found = counts
            .iter()
            .map(|counts| counts.found() as f64)
            .sum::<f64>()
            / count;
        let _ = writeln!(
            out,
            "{:<7} {:>8} {:>24} {:>24} {:>10.0} {:>10.0} {:>9.2}",
            format!("1/{n}"),
            percent(sum(|group| group.sampled) / all.max(1.0)),
            spread(counts.iter().filter_map(|counts| counts.precision())),
            spread(counts.iter().filter_map(|counts| counts.recall())),
            found,
            sum(|group| group.nothing_sampled),
            cost.trials.get(&n).map_or(0.0, |cost| cost.cpu_seconds),
        );
    }
    for planned in &cost.planned {
        let show = |share: Option<f64>| share.map_or("-".into(), |share| format!("{share:.3}"));
        let _ = writeln!(
            out,
            "{:<7} {:>8} {:>24} {:>24} {:>10} {:>10} {:>9.2}",
            format!("p {}", planned.plan.config.target.precision),
            percent(planned.cost.records as f64 / all.max(1.0)),
            show(planned.counts.precision()),
            show(planned.counts.recall()),
            planned.counts.found(),
            "",
            planned.cost.cpu_seconds,
        );
    }
    let _ = writeln!(
        out,
        "\n\"p 0.9\" is a plan for precision 0.9 in every size group. CPU s is from the collection to the pairs at {}, the lowest threshold; reading took {:.2}. \"nothing\" are\n\
         documents of which nothing is sampled. {} trials in {:.1} s ({:.0} a minute), peak {} MiB",
        study.config.thresholds[0],
        cost.reading.cpu_seconds,
        cost.count,
        cost.wall_seconds,
        cost.count as f64 * 60.0 / cost.wall_seconds.max(f64::MIN_POSITIVE),
        cost.peak_bytes >> 20,
    );
    if let Some(share) = cost.prefix_share {
        let _ = writeln!(
            out,
            "the exact join looked at {} of the postings",
            percent(share)
        );
    }
    out
}

fn true_pairs(study: &Study, at: usize) -> u64 {
    study.trials.first().map_or(0, |trial| {
        let groups = trial.groups.iter();
        groups
            .map(|group| group.same.at(at).true_pairs() + group.cross.at(at).true_pairs())
            .sum()
    })
}

fn spread(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    if values.is_empty() {
        return "-".into();
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{mean:.3} ({least:.3} to {most:.3})")
}
