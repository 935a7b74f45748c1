//! A plan says what a run with it reaches, takes no more than it must, and is applied to nothing else than what it
//! was measured on.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use common::corpus::{Doc, Shape, random_corpus, write_jsonl};
use common::oracle::{Both, Fact, Spec, THRESHOLDS, pairs};
use common::stopped::{StopAt, stage_of};
use common::{Run, assert_same_files, least_memory, manifest, rows_of, tree};
use lookalike::evaluate::plan::{
    self, Estimate, Evidence, Plan, PlanConfig, Planned, Ratio, Subset, Target,
};
use lookalike::ids::Threshold;
use lookalike::manifest::Workspace;
use lookalike::pipeline::{self, PLAN_FILE, Planning};
use lookalike::report::verify;
use lookalike::sample::Sampling;
use lookalike::{Error, Result};

const GROUPS: usize = 4;

/// Documents of all four size groups, with many pairs about the threshold.
const SHAPES: [Shape; 3] = [
    Shape {
        families: 60,
        members: 6,
        words: 200,
        vocabulary: 300,
        boilerplate: 40,
    },
    Shape {
        families: 90,
        members: 3,
        words: 150,
        vocabulary: 150,
        boilerplate: 70,
    },
    Shape {
        families: 14,
        members: 16,
        words: 160,
        vocabulary: 500,
        boilerplate: 15,
    },
];

fn share(text: &str) -> Threshold {
    text.parse().unwrap()
}

fn config(threshold: &str, precision: &str, recall: Option<&str>, ratios: &[u32]) -> PlanConfig {
    PlanConfig {
        target: Target {
            threshold: share(threshold),
            precision: share(precision),
            recall: recall.map(share),
        },
        ratios: ratios.to_vec(),
        subset: None,
    }
}

fn spec(w: usize, md5: bool, n: u32) -> Spec {
    Spec {
        w,
        md5,
        by_group: Some(("full,full,full,full", [(n.into(), 0); GROUPS])),
        ..Spec::default()
    }
}

fn make(run: &Run, out: &Path, config: &PlanConfig) -> Result<Plan> {
    watched(run, out, config, &StopAt::never()).map(|planned| planned.plan)
}

fn watched(run: &Run, out: &Path, config: &PlanConfig, watch: &StopAt) -> Result<Planned> {
    let mut workspace = Workspace::open(out)?;
    pipeline::plan(&mut workspace, config, &run.context(&watch.stop, watch))
}

/// Pairs that are true, and that are found with each ratio, by brute force.
struct Known {
    facts: Vec<Fact>,
    truth: BTreeSet<(usize, usize)>,
    /// By number of the ratio; 0 takes all.
    found: Vec<BTreeSet<(usize, usize)>>,
}

impl Known {
    fn of(docs: &[Doc], w: usize, md5: bool, threshold: &str, ratios: &[u32]) -> Known {
        let threshold = *THRESHOLDS.iter().find(|at| at.0 == threshold).unwrap();
        let (facts, all) = pairs(&spec(w, md5, 1), docs);
        let reaching = |all: &[Both], of: fn(&Both) -> &common::oracle::Counts| {
            let reach = all.iter().filter(|both| of(both).reach(threshold));
            reach.map(|both| (both.a, both.b)).collect::<BTreeSet<_>>()
        };
        let truth = reaching(&all, |both| &both.full);
        let mut found = vec![truth.clone()];
        for &n in ratios {
            found.push(reaching(&pairs(&spec(w, md5, n), docs).1, |both| {
                &both.sampled
            }));
        }
        Known {
            facts,
            truth,
            found,
        }
    }

    /// Size groups of the smaller and of the larger document.
    fn groups(&self, &(a, b): &(usize, usize)) -> (usize, usize) {
        let (a, b) = (self.facts[a].group, self.facts[b].group);
        (a.min(b), a.max(b))
    }

    fn small(&self, &(a, b): &(usize, usize)) -> usize {
        if self.facts[b].group < self.facts[a].group {
            b
        } else {
            a
        }
    }
}

/// (correct, found, true) by group of the smaller document.
fn reached(known: &Known, found: &BTreeSet<(usize, usize)>) -> Vec<(usize, usize, usize)> {
    let mut groups = vec![(0, 0, 0); GROUPS];
    for pair in found {
        let group = &mut groups[known.groups(pair).0];
        group.0 += usize::from(known.truth.contains(pair));
        group.1 += 1;
    }
    for pair in &known.truth {
        groups[known.groups(pair).0].2 += 1;
    }
    groups
}

/// The pairs that a run lists, by numbers of documents.
fn listed(out: &Path) -> BTreeSet<(usize, usize)> {
    let number = |docno: &str| docno[1..].parse::<usize>().unwrap();
    let rows = rows_of(out, "pairs.tsv");
    let pairs = rows.iter().map(|row| {
        let mut cells = row.split('\t').map(String::from);
        let (a, b) = (cells.next().unwrap(), cells.next().unwrap());
        (number(&a), number(&b))
    });
    pairs.collect()
}

const Z: f64 = 1.6449;

fn wilson(p: f64, n: f64) -> (f64, f64) {
    // The roots of (p' - p)² = z² p' (1 - p') / n.
    let (a, b, c) = (1.0 + Z * Z / n, -(2.0 * p + Z * Z / n), p * p);
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    (
        ((-b - root) / (2.0 * a)).max(0.0),
        ((-b + root) / (2.0 * a)).min(1.0),
    )
}

/// An interval from pairs by unit: how many count, and how many of them are right.
fn interval(units: &BTreeMap<usize, (f64, f64)>) -> Option<Estimate> {
    let units: Vec<(f64, f64)> = units
        .values()
        .copied()
        .filter(|unit| unit.0 > 0.0)
        .collect();
    if units.is_empty() {
        return None;
    }
    let m = units.len() as f64;
    let whole: f64 = units.iter().map(|unit| unit.0).sum();
    let p = units.iter().map(|unit| unit.1).sum::<f64>() / whole;
    let equal = whole * whole / units.iter().map(|unit| unit.0 * unit.0).sum::<f64>();
    let squares: f64 = units.iter().map(|unit| (unit.1 - p * unit.0).powi(2)).sum();
    let variance = if m > 1.0 {
        m / (m - 1.0) * squares / (whole * whole)
    } else {
        0.0
    };
    let worth = if variance > 0.0 && p > 0.0 && p < 1.0 {
        (p * (1.0 - p) / variance).max(equal).min(whole.max(equal))
    } else {
        equal
    };
    let (low, high) = wilson(p, worth);
    Some(Estimate {
        value: p,
        low,
        high,
        pairs: whole as u64,
        worth,
    })
}

/// One group's choice.
#[derive(Debug)]
struct Chosen {
    ratio: usize,
    evidence: Evidence,
    precision: Option<Estimate>,
    recall: Option<Estimate>,
}

/// The documented way to a plan, pair by pair.
fn planned(known: &Known, precision: f64, recall: Option<f64>) -> (Vec<Chosen>, usize) {
    let estimates = |first: usize, group: usize, of: &[usize]| {
        let (mut precision, mut recall) = (BTreeMap::new(), BTreeMap::new());
        for pair in known.found.iter().flatten().collect::<BTreeSet<_>>() {
            let (smaller, larger) = known.groups(pair);
            if smaller < first || smaller > group {
                continue;
            }
            let on = of[smaller].max(of[larger]);
            let right = f64::from(u8::from(known.truth.contains(pair)));
            let found = f64::from(u8::from(known.found[on].contains(pair)));
            let small = known.small(pair);
            let unit: &mut (f64, f64) = precision.entry(small).or_default();
            *unit = (unit.0 + found, unit.1 + found * right);
            let unit: &mut (f64, f64) = recall.entry(small).or_default();
            *unit = (unit.0 + right, unit.1 + found * right);
        }
        (interval(&precision), interval(&recall))
    };
    let shown = |estimate: Option<Estimate>, asked: f64| estimate.is_some_and(|e| e.low >= asked);
    let enough = |estimate: Option<Estimate>, asked: f64| {
        estimate.is_some_and(|e| wilson(1.0, e.worth).0 >= asked)
    };
    let mut most = vec![known.found.len() - 1; GROUPS];
    let mut begun_anew = 0;
    'anew: loop {
        let mut of = vec![0; GROUPS];
        let mut chosen = Vec::new();
        'group: for group in (0..GROUPS).rev() {
            for ratio in (0..=most[group]).rev() {
                of[..=group].fill(ratio);
                let all = of[group..].iter().all(|&ratio| ratio == 0);
                for first in (0..=group).rev() {
                    let (p, r) = estimates(first, group, &of);
                    let met = shown(p, precision) && recall.is_none_or(|recall| shown(r, recall));
                    let last = first == 0 && ratio == 0;
                    let evidence = match first {
                        _ if !met => Evidence::TooLittle,
                        _ if first == group => Evidence::Own,
                        _ => Evidence::Pooled { first: first as u8 },
                    };
                    let could =
                        enough(p, precision) && recall.is_none_or(|recall| enough(r, recall));
                    if met || all || (last && !(first == group && could)) {
                        chosen.push(Chosen {
                            ratio,
                            evidence,
                            precision: p,
                            recall: r,
                        });
                        continue 'group;
                    }
                    if first == group && could {
                        break;
                    }
                }
            }
            let errors = |larger: usize| {
                let on = of[larger];
                let of_both = |pair: &&(usize, usize)| known.groups(pair) == (group, larger);
                let wrong = known.found[on]
                    .difference(&known.truth)
                    .filter(of_both)
                    .count();
                let missed = known
                    .truth
                    .difference(&known.found[on])
                    .filter(of_both)
                    .count();
                wrong + if recall.is_some() { missed } else { 0 }
            };
            let refined = (group + 1..GROUPS).filter(|&larger| of[larger] > 0);
            most[refined.max_by_key(|&larger| errors(larger)).unwrap()] -= 1;
            begun_anew += 1;
            continue 'anew;
        }
        chosen.reverse();
        return (chosen, begun_anew);
    }
}

fn close(a: Option<Estimate>, b: Option<Estimate>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * a.max(1.0);
            let ends = near(a.low, b.low) && near(a.high, b.high);
            near(a.value, b.value) && ends && near(a.worth, b.worth) && a.pairs == b.pairs
        }
        (None, None) => true,
        _ => false,
    }
}

/// Plans by brute force are the plans, and runs with them reach what they say.
#[test]
fn plans_are_kept_by_runs_and_take_no_more_than_they_must() {
    let (mut own, mut pooled, mut too_little, mut mixed, mut across, mut anew) = (0, 0, 0, 0, 0, 0);
    let mut inside = 0;
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let docs = random_corpus(60 + i as u64, shape);
        let input = write_jsonl(directory.path(), &docs, 2);
        let (w, md5) = (2 + i % 2, i % 2 == 1);
        let out = directory.path().join("out");
        let run = spec(w, md5, 1).run();
        drop(run.ingest(&[&input], &out).unwrap());
        for (threshold, ratios) in [
            ("0.5", &[2, 4, 8, 16][..]),
            ("0.3", &[3, 6]),
            ("0.3", &[2, 4, 8, 32]),
        ] {
            let known = Known::of(&docs, w, md5, threshold, ratios);
            for (precision, recall) in [
                ("0.5", None),
                ("0.6", None),
                ("0.7", None),
                ("0.8", None),
                ("0.9", None),
                ("1", None),
                ("0.5", Some("0.5")),
                ("0.6", Some("0.8")),
            ] {
                let config = config(threshold, precision, recall, ratios);
                let plan = make(&run, &out, &config).unwrap();
                let what = format!("{shape:?}, {threshold}, {ratios:?}, {precision}, {recall:?}");
                let number = |text: &str| text.parse::<f64>().unwrap();
                let (expected, restarts) = planned(&known, number(precision), recall.map(number));
                anew += restarts;
                for (group, expected) in plan.groups.iter().zip(&expected) {
                    let n = match expected.ratio {
                        0 => 1,
                        ratio => ratios[ratio - 1],
                    };
                    let what = format!("{what}: {group:?}, {expected:?}");
                    assert_eq!(
                        (group.ratio, group.evidence),
                        (Ratio(n), expected.evidence),
                        "{what}"
                    );
                    assert!(close(group.precision, expected.precision), "{what}");
                    assert!(close(group.recall, expected.recall), "{what}");
                }
                // The run.
                let mut question = run.question.clone();
                question.join.threshold = share(threshold);
                question.plan = Some(Planning::Given(Box::new(plan.clone())));
                let mut workspace = Workspace::open(&out).unwrap();
                let watch = StopAt::never();
                let context = run.context(&watch.stop, &watch);
                pipeline::join(&mut workspace, &question, &context).unwrap();
                let summary = pipeline::cluster(&mut workspace, &context).unwrap();
                drop(workspace);
                let found = listed(&out);
                for (group, (correct, found, truth)) in
                    plan.groups.iter().zip(reached(&known, &found))
                {
                    match group.evidence {
                        Evidence::Own => own += 1,
                        Evidence::Pooled { .. } => pooled += 1,
                        Evidence::TooLittle => too_little += 1,
                    }
                    if group.evidence != Evidence::Own {
                        continue;
                    }
                    let (p, r) = (group.precision.unwrap(), group.recall.unwrap());
                    let value = correct as f64 / found as f64;
                    assert!(
                        (p.value - value).abs() < 1e-9,
                        "{what}: {group:?} {correct} / {found}"
                    );
                    assert!(
                        (r.value - correct as f64 / truth as f64).abs() < 1e-9,
                        "{what}: {group:?}"
                    );
                    assert!(p.low >= number(precision) && p.pairs == found as u64);
                    inside += usize::from(value < 1.0);
                }
                let rates: BTreeSet<Ratio> = plan.groups.iter().map(|group| group.ratio).collect();
                mixed += usize::from(rates.len() > 1);
                if rates.len() > 1 {
                    let over = |pair: &&(usize, usize)| {
                        let (a, b) = known.groups(pair);
                        plan.groups[a].ratio != plan.groups[b].ratio
                    };
                    across += found.iter().filter(over).count();
                }
                // What the plan says of the whole collection.
                let sample = summary.sample.unwrap();
                let shingles: u64 = plan.groups.iter().map(|group| group.shingles).sum();
                assert_eq!(shingles, sample.shingles);
                let taken = sample.sampled as f64 / sample.shingles as f64;
                assert!(
                    (taken - plan.share).abs() < 0.1,
                    "{what}: {taken} {}",
                    plan.share
                );
            }
        }
    }
    let met = format!("{own} {pooled} {too_little} {mixed} {across} {anew} {inside}");
    assert!(own > 50 && pooled > 5 && too_little > 5, "{met}");
    assert!(mixed > 10 && across > 100 && inside > 20, "{met}");
}
