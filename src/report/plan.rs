//! A plan as a table for readers.

use std::fmt::Write;

use lookalike_base::{count, counted, fraction, listed, numbers};
use lookalike_store::Manifest;
use lookalike_tasks::plan::{Estimate, Evidence, PlanCost, Planned, PlannedGroup, Ratio, saving};

fn percent(share: f64) -> String {
    numbers::percent(share, 2)
}

fn estimated(estimate: Option<Estimate>) -> String {
    estimate.map_or("-".into(), |e| {
        let [value, low, high] = [e.value, e.low, e.high].map(|of| fraction(of, 3));
        format!("{value} ({low} to {high})")
    })
}

fn evidence(group: &PlannedGroup, groups: &[PlannedGroup]) -> String {
    let n = group.precision.or(group.recall).map_or(0, |e| e.pairs);
    let pairs = counted(n, "pair");
    match group.evidence {
        Evidence::Own => format!("{pairs} of its own"),
        Evidence::Pooled { first } => {
            let from = groups.get(usize::from(first));
            let from = from.map_or("", |group| &group.words);
            format!("{pairs}, pooled with the groups from {from} words")
        }
        Evidence::TooLittle => format!("too few pairs ({}): every fingerprint", count(n)),
    }
}

/// Expected CPU seconds from the collection to the pairs: of the exact run, and of the planned one.
/// The measured times are scaled to the records of the whole collection, and interpolated between
/// ratios by the number of records.
pub(crate) fn expected_seconds(planned: &Planned) -> (f64, f64) {
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

/// The plan as a table.
#[must_use]
pub fn plan(planned: &Planned, manifest: &Manifest) -> String {
    let plan = &planned.plan;
    let mut out = String::new();
    let target = &plan.config.target;
    let recall = listed("", target.recall, |recall| format!(", recall {recall}"));
    let on = match &plan.config.subset {
        Some(subset) => format!(
            "a subset of {} (share {}, seed {})",
            counted(plan.documents, "document"),
            subset.share,
            subset.seed
        ),
        None => format!("all of {}", counted(plan.documents, "document")),
    };
    let _ = writeln!(
        out,
        "plan for precision {}{recall} at threshold {}, measured on {on}\n\n{:>10} {:>10} {:>13}  {:<6} {:<24} {:<24} measured on",
        target.precision,
        target.threshold,
        "words",
        "documents",
        "shingles",
        "ratio",
        "precision (90 % interval)",
        "recall (90 % interval)",
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
    let reading = ["ingest", "catalogue"]
        .iter()
        .filter_map(|stage| manifest.costs.get(*stage))
        .fold(0.0, |sum, cost| sum + cost.cpu_seconds);
    let _ = writeln!(
        out,
        "\nCPU seconds: reading took {reading:.1}. After that, an exact run takes about {exact:.1} and this plan about {sampled:.1}."
    );
    let better = "An exact run is better value: its precision and recall are 1.";
    let _ = match saving(reading, exact, sampled) {
        None => writeln!(out, "These times are too short to compare. {better}"),
        Some((saved, worth)) => writeln!(
            out,
            "Sampling saves {} of a whole run here.{}{}",
            numbers::percent(saved, 0),
            if worth { "" } else { " " },
            if worth { "" } else { better }
        ),
    };
    out
}
