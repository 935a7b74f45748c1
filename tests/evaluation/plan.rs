//! A plan says what a run with it reaches, takes no more than it must, and is applied to nothing
//! else than what it was measured on.

use crate::common;
use lookalike::base::ids::Threshold;
use lookalike::engine::pipeline::{self, AppliedPlan};
use lookalike::engine::sample::Sampling;
use lookalike::tasks::inspect::verify;
use lookalike::tasks::plan::{
    self, Estimate, Evidence, PLAN_FILE, Plan, PlanConfig, Planned, Ratio, Subset, Target,
};
use lookalike::{Error, Result};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use common::corpus::{Doc, Shape, documents, random_corpus, write_jsonl};
use common::oracle::{Both, Fact, Spec, THRESHOLDS, pairs};
use common::stopped::{StopAt, stage_of};
use common::{Run, assert_same_files, least_memory, manifest, one_in, rows_of, tree};

const GROUPS: usize = 4;

/// The message about a file that is not a plan.
const NOT_A_PLAN: &str = " is not a valid sampling plan: ";

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

/// A plan that a person gave.
fn given(plan: &Plan) -> AppliedPlan {
    AppliedPlan {
        plan: plan.clone(),
        given: true,
    }
}

fn make(run: &Run, out: &Path, config: &PlanConfig) -> Result<Plan> {
    watched(run, out, config, &StopAt::never()).map(|planned| planned.plan)
}

fn watched(run: &Run, out: &Path, config: &PlanConfig, watch: &StopAt) -> Result<Planned> {
    let mut workspace = pipeline::open(out)?;
    plan::make(&mut workspace, config, &run.context(&watch.stop, watch))
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

/// An interval from pairs, each right or not: the variance is the sum of the products of the
/// residuals of any two pairs that have a document in common.
fn interval(pairs: &[((usize, usize), bool)]) -> Option<Estimate> {
    if pairs.is_empty() {
        return None;
    }
    let n = pairs.len() as f64;
    let p = pairs.iter().filter(|pair| pair.1).count() as f64 / n;
    let residual = |right: bool| f64::from(u8::from(right)) - p;
    let mut of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, &((a, b), _)) in pairs.iter().enumerate() {
        of.entry(a).or_default().push(at);
        of.entry(b).or_default().push(at);
    }
    let mut variance = 0.0;
    for (at, &((a, b), right)) in pairs.iter().enumerate() {
        // Two pairs have one document in common at most; a pair has both with itself.
        for &other in of[&a]
            .iter()
            .chain(of[&b].iter().filter(|&&other| other != at))
        {
            variance += residual(right) * residual(pairs[other].1) / (n * n);
        }
    }
    let degrees: BTreeMap<usize, f64> = of.iter().map(|(&d, of)| (d, of.len() as f64)).collect();
    let squares: f64 = degrees.values().map(|degree| degree * degree).sum();
    let equal = (4.0 * n * n / squares / 2.0).max(1.0);
    // Sums of fractions are not 0 where they should be.
    let worth = if variance > 1e-12 && p > 0.0 && p < 1.0 {
        (p * (1.0 - p) / variance).max(equal).min(n.max(equal))
    } else {
        equal
    };
    let (low, high) = wilson(p, worth);
    Some(Estimate {
        value: p,
        low,
        high,
        pairs: pairs.len() as u64,
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
    let all: BTreeSet<_> = known.found.iter().flatten().collect();
    let all: Vec<_> = all
        .into_iter()
        .map(|pair| {
            let found: Vec<bool> = known
                .found
                .iter()
                .map(|found| found.contains(pair))
                .collect();
            (known.groups(pair), *pair, known.truth.contains(pair), found)
        })
        .collect();
    let estimates = |first: usize, group: usize, of: &[usize]| {
        let (mut precision, mut recall) = (Vec::new(), Vec::new());
        for &((smaller, larger), pair, right, ref found) in &all {
            if smaller < first || smaller > group {
                continue;
            }
            let found = found[of[smaller].max(of[larger])];
            if found {
                precision.push((pair, right));
            }
            if right {
                recall.push((pair, found));
            }
        }
        (interval(&precision), interval(&recall))
    };
    let shown = |estimate: Option<Estimate>, asked: f64| estimate.is_some_and(|e| e.low >= asked);
    let enough = |estimate: Option<Estimate>, asked: f64| {
        estimate.is_some_and(|e| wilson(1.0, e.worth).0 >= asked)
    };
    let mut most = [known.found.len() - 1; GROUPS];
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
    let (mut inside, mut turn) = (0, 0);
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let directory = common::temporary();
        let docs = random_corpus(60 + i as u64, shape);
        let input = write_jsonl(directory.path(), &docs, 2);
        let (w, md5) = (2 + i % 2, i % 2 == 1);
        let out = directory.path().join("out");
        let run = spec(w, md5, 1).run();
        drop(run.ingest(&[&input], &out).unwrap());
        let all = [
            ("0.5", &[2, 4, 8, 16][..]),
            ("0.3", &[3, 6]),
            ("0.3", &[2, 4, 8, 32]),
        ];
        for (threshold, ratios) in all.into_iter().skip(i % one_in(2)).step_by(one_in(2)) {
            let known = Known::of(&docs, w, md5, threshold, ratios);
            let asked = [
                ("0.5", None),
                ("0.7", None),
                ("0.9", None),
                ("1", None),
                ("0.5", Some("0.5")),
                ("0.6", Some("0.8")),
            ];
            turn += 1;
            for (precision, recall) in asked.into_iter().skip(turn % one_in(3)).step_by(one_in(3)) {
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
                question.plan = Some(given(&plan));
                let mut workspace = pipeline::open(&out).unwrap();
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
    let one_in = one_in(6);
    assert!(
        own * one_in > 50 && pooled > 5 / one_in && too_little > 5 / one_in,
        "{met}"
    );
    assert!(
        mixed * one_in > 10 && across * one_in > 100 && inside * one_in > 20,
        "{met}"
    );
}

fn small(directory: &Path) -> (Vec<Doc>, PathBuf) {
    let docs = random_corpus(60, SHAPES[0]);
    let input = write_jsonl(directory, &docs, 2);
    (docs, input)
}

fn subset(config: &PlanConfig, share_: &str, seed: u64) -> PlanConfig {
    PlanConfig {
        subset: Some(Subset {
            share: share(share_),
            seed,
        }),
        ..config.clone()
    }
}

/// The directory, but for the lock.
fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(out);
    files.remove("lock");
    files
}

fn assert_nothing_left(out: &Path, what: &str) {
    assert!(
        !out.join("plan").exists(),
        "{what}: {:?}",
        common::paths(&out.join("plan"))
    );
    let verified = verify(out).unwrap();
    assert!(verified.errors.is_empty(), "{what}: {:?}", verified.errors);
}

#[test]
fn plans_are_the_same_for_all_means() {
    let directory = common::temporary();
    let (_, input) = small(directory.path());
    for (md5, ingested_only) in [(false, false), (true, true)] {
        let run = spec(2, md5, 1)
            .run()
            .segment_size(8 << 10)
            .max_document(64 << 10);
        let out = directory.path().join(format!("out{md5}"));
        if ingested_only {
            drop(run.ingest(&[&input], &out).unwrap());
        } else {
            run.run(&[&input], &out).unwrap();
        }
        let whole = config("0.5", "0.6", Some("0.5"), &[2, 4, 8]);
        let mut texts = BTreeSet::new();
        for config in [&whole, &subset(&whole, "0.5", 3), &subset(&whole, "0.9", 4)] {
            let before = files(&out);
            let expected = plan::write(&make(&run, &out, config).unwrap());
            assert_same_files(&files(&out), &before, "plenty");
            for threads in [2, 1, 4].into_iter().step_by(one_in(3)) {
                let run = run.clone().threads(threads);
                let (memory, found) =
                    least_memory(|memory| make(&run.clone().memory(memory), &out, config));
                let what = format!("{threads} threads, {memory} bytes");
                assert_eq!(plan::write(&found), expected, "{what}");
                assert_same_files(&files(&out), &before, &what);
                assert_nothing_left(&out, &what);
            }
            texts.insert(expected);
        }
        assert_eq!(texts.len(), 3);
    }
}

#[test]
fn stopped_plans_are_made_all_the_same() {
    let directory = common::temporary();
    let (_, input) = small(directory.path());
    let run = spec(2, false, 1).run();
    let out = directory.path().join("out");
    drop(run.ingest(&[&input], &out).unwrap());
    let whole = config("0.5", "0.7", None, &[2, 4]);
    let part = subset(&whole, "0.6", 1);
    let before = files(&out);
    let mut stops = 0;
    for config in [&whole, &part] {
        let watch = StopAt::never();
        let expected = watched(&run, &out, config, &watch).unwrap().plan;
        for after in (1..=watch.calls.load(Ordering::SeqCst)).step_by(one_in(2)) {
            // Another plan in between finds what the stopped one left.
            for then in [config, &whole, &part] {
                match watched(&run, &out, config, &StopAt::call(after)) {
                    Ok(found) => assert_eq!(found.plan, expected),
                    Err(error) => {
                        stage_of(&error);
                        stops += 1;
                    }
                }
                let what = format!("stopped at call {after}");
                let found = make(&run, &out, then).unwrap();
                if then == config {
                    assert_eq!(found, expected, "{what}");
                }
                assert_same_files(&files(&out), &before, &what);
                assert_nothing_left(&out, &what);
            }
        }
    }
    assert!(stops > 10, "{stops}");
    // In the midst of a trial.
    let expected = make(&run, &out, &part).unwrap();
    let mut stops = 0;
    for micros in (0..30).step_by(one_in(2)).map(|i| i * i * 40) {
        let stop = lookalike::base::progress::Stop::default();
        let asked = stop.clone();
        let ended = std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_micros(micros));
                asked.request();
            });
            let mut workspace = pipeline::open(&out).unwrap();
            let context = run.context(&stop, &lookalike::base::progress::Silent);
            plan::make(&mut workspace, &part, &context).map(drop)
        });
        stops += usize::from(ended.is_err());
        assert_eq!(make(&run, &out, &part).unwrap(), expected);
        assert_same_files(&files(&out), &before, "in the midst");
        assert_nothing_left(&out, "in the midst");
    }
    assert!(stops * one_in(2) > 3, "{stops}");
}

/// A plan with everything in it.
fn rich(directory: &Path) -> (Run, PathBuf, PathBuf, Plan) {
    let (_, input) = small(directory);
    let run = spec(2, false, 1).run().threshold("0.5");
    let out = directory.join("out");
    drop(run.ingest(&[&input], &out).unwrap());
    let config = subset(&config("0.5", "0.7", Some("1/3"), &[2, 4, 8]), "0.8", 7);
    let plan = make(&run, &out, &config).unwrap();
    (run, out, input, plan)
}

#[test]
fn a_plan_file_is_the_plan() {
    let directory = common::temporary();
    let (run, out, input, plan) = rich(directory.path());
    let path = directory.path().join("a plan.toml");
    let evidence = [
        Evidence::Own,
        Evidence::Pooled { first: 1 },
        Evidence::TooLittle,
    ];
    for seed in [0, 7, u64::MAX] {
        for (i, evidence) in evidence.into_iter().enumerate() {
            let mut plan = plan.clone();
            plan.config.subset = plan.config.subset.map(|subset| Subset { seed, ..subset });
            plan.shingle.seed = seed;
            plan.groups[2].evidence = evidence;
            plan.groups[3].precision = None;
            if i == 2 {
                plan.config.subset = None;
                plan.config.target.recall = None;
            }
            plan::write_file(&path, &plan).unwrap();
            let read = plan::read(&path).unwrap();
            assert_eq!(plan::write(&read), plan::write(&plan));
            // Shares are written with six digits; all else is the same.
            let rounded = |plan: &Plan| {
                let mut plan = plan.clone();
                plan.share = (plan.share * 1e6).round();
                for group in &mut plan.groups {
                    for one in [&mut group.precision, &mut group.recall]
                        .into_iter()
                        .flatten()
                    {
                        for share in [&mut one.value, &mut one.low, &mut one.high] {
                            *share = (*share * 1e6).round();
                        }
                        one.worth = (one.worth * 10.0).round();
                    }
                }
                plan
            };
            assert_eq!(rounded(&read), rounded(&plan));
            assert_eq!(read.sampling(), plan.sampling());
        }
    }
    // A ratio changed by hand is applied.
    let rates: Vec<Ratio> = plan.groups.iter().map(|group| group.ratio).collect();
    let mut changed = plan::write(&plan);
    for ratio in ["1/2", "1/4", "1/8", "full"] {
        changed = changed.replace(&format!("\nratio = \"{ratio}\""), "\nratio = \"1/16\"");
    }
    fs::write(&path, &changed).unwrap();
    let changed = plan::read(&path).unwrap();
    assert!(
        changed.groups.iter().all(|group| group.ratio == Ratio(16)),
        "{rates:?}"
    );
    assert_eq!(changed.sampling(), Sampling::Uniform(Ratio(16).rate()));
    let mut given = run.clone();
    given.question.plan = Some(self::given(&changed));
    given.run(&[&input], &out).unwrap();
    let found = fs::read(out.join("pairs.tsv")).unwrap();
    assert_eq!(manifest(&out).sample.unwrap().sampling, changed.sampling());
    let other = directory.path().join("other");
    run.clone().sampling("1/16").run(&[&input], &other).unwrap();
    assert_eq!(common::rows(&found), rows_of(&other, "pairs.tsv"));
    // It is not taken for the plan that would be made.
    let mut asked = run.clone();
    asked.planning = Some(plan.config.clone());
    let watch = StopAt::never();
    asked.watched(&[&input], &out, &watch.stop, &watch).unwrap();
    assert!(watch.begun().contains(&"plan"), "{:?}", watch.begun());
    let last = manifest(&out).plan.unwrap();
    assert_eq!(plan::write(&last), plan::write(&plan));
    assert_eq!(
        fs::read_to_string(out.join(PLAN_FILE)).unwrap(),
        plan::write(&plan)
    );
    // Made once, it is there.
    let watch = StopAt::never();
    asked.watched(&[&input], &out, &watch.stop, &watch).unwrap();
    assert!(
        !watch.begun().contains(&"plan") && !watch.begun().contains(&"join"),
        "{:?}",
        watch.begun()
    );
    // And written again where the file is not it.
    fs::write(out.join(PLAN_FILE), "another").unwrap();
    asked.run(&[&input], &out).unwrap();
    assert_eq!(
        fs::read_to_string(out.join(PLAN_FILE)).unwrap(),
        plan::write(&plan)
    );
}

#[test]
fn a_plan_is_refused_for_other_parameters() {
    let directory = common::temporary();
    let (run, _, _, plan) = rich(directory.path());
    let (collection, threshold) = (&run.collection, run.question.join.threshold);
    let path = Path::new("some/plan.toml");
    plan.check(path, collection, threshold).unwrap();
    let refused = |collection: &_, threshold: Threshold, named: &str, both: [&str; 2]| match plan
        .check(path, collection, threshold)
    {
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(" is a plan for "), "{text}");
            for part in [named, both[0], both[1], "some/plan.toml"] {
                assert!(text.contains(part), "`{part}` is not in: {text}");
            }
        }
        other => panic!("{named}: {other:?}"),
    };
    refused(collection, share("0.85"), "--threshold", ["0.85", "0.5"]);
    let other = |change: fn(&mut lookalike::engine::collection::CollectionConfig)| {
        let mut collection = collection.clone();
        change(&mut collection);
        collection
    };
    let cases: [(_, &str, [&str; 2]); 8] = [
        (
            other(|c| c.shingle.shingle_size = 3),
            "--shingle-size",
            ["3", "2"],
        ),
        (
            other(|c| c.shingle.parse.tokens = "whitespace".parse().unwrap()),
            "--tokens",
            ["whitespace", "words"],
        ),
        (
            other(|c| c.shingle.parse.fold = "compat".parse().unwrap()),
            "--fold",
            ["compat", "none"],
        ),
        (
            other(|c| c.shingle.parse.detector = !c.shingle.parse.detector),
            "--detect-charset",
            ["true", "false"],
        ),
        (other(|c| c.shingle.seed = 12345), "--seed", ["12345", "0"]),
        (
            other(|c| c.shingle.fingerprint = "md5".parse().unwrap()),
            "--fingerprint",
            ["md5", "64"],
        ),
        (
            other(|c| c.shingle.short = "skip".parse().unwrap()),
            "--short",
            ["skip", "whole"],
        ),
        (
            other(|c| c.size_groups = "10,20".parse().unwrap()),
            "--size-groups",
            ["10,20", "60,90,120"],
        ),
    ];
    for (collection, named, both) in &cases {
        refused(collection, threshold, named, *both);
    }
}

#[test]
fn damaged_plan_files_are_refused() {
    let directory = common::temporary();
    let (_, _, _, plan) = rich(directory.path());
    let text = plan::write(&plan);
    let path = directory.path().join("plan.toml");
    let first_ratio = text
        .lines()
        .find(|line| line.starts_with("ratio = "))
        .unwrap();
    let group = &text[text.find("\n[[group]]").unwrap()..];
    let one_group = &group[..group[1..].find("\n[[group]]").unwrap() + 1];
    let cases: [(String, &str); 13] = [
        (String::new(), "format"),
        ("not TOML at all".into(), "expected"),
        (text[..text.len() / 2].to_string(), ""),
        (text.replacen("threshold = ", "treshold = ", 1), "treshold"),
        (
            text.replacen("threshold = \"0.5\"", "threshold = \"1.5\"", 1),
            "above 0, at most 1",
        ),
        (
            text.replacen(first_ratio, "ratio = \"1/3\"", 1)
                + &one_group.replacen(first_ratio, "ratio = \"1/4\"", 1),
            "groups",
        ),
        (
            text.replacen(first_ratio, "ratio = \"1/4:1\"", 1),
            "without a class",
        ),
        (text.replacen(first_ratio, "ratio = \"2\"", 1), "2"),
        (format!("{text}{one_group}"), "5 groups"),
        (text.replacen(one_group, "", 1), "3 groups"),
        (text.replacen("subset-seed = 7\n", "", 1), "belong together"),
        (
            text.replacen("subset-seed = 7\n", "subset-seed = \"seven\"\n", 1),
            "seven",
        ),
        (
            text.replacen("evidence = ", "evidence = \"hearsay\" # ", 1),
            "hearsay",
        ),
    ];
    for (case, says) in cases {
        assert_ne!(case, text, "{says}");
        fs::write(&path, &case).unwrap();
        match plan::read(&path) {
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains(NOT_A_PLAN), "{message}");
                assert!(message.contains(says), "`{says}` is not in: {message}");
                assert!(
                    message.contains("plan.toml") && !message.contains('\n'),
                    "{message}"
                );
            }
            other => panic!("{says}: {other:?}"),
        }
    }
    // Ratios of which none lies within the other.
    let mut other = plan.clone();
    other.groups[0].ratio = Ratio(2);
    other.groups[1].ratio = Ratio(3);
    plan::write_file(&path, &other).unwrap();
    let message = plan::read(&path).unwrap_err().to_string();
    assert!(
        message.contains("1/3") && message.contains("1/2"),
        "{message}"
    );
    // Of another format; too long to be one; not there; not text.
    fs::write(&path, text.replacen("format = 1", "format = 2", 1)).unwrap();
    let message = plan::read(&path).unwrap_err().to_string();
    assert!(message.contains(" has format 2; "), "{message}");
    fs::write(&path, "# \n".repeat(1 << 20)).unwrap();
    let message = plan::read(&path).unwrap_err().to_string();
    assert!(message.contains(NOT_A_PLAN), "{message}");
    fs::write(&path, [0xff, 0xfe, 0]).unwrap();
    let message = plan::read(&path).unwrap_err().to_string();
    assert!(message.contains(NOT_A_PLAN), "{message}");
    fs::remove_file(&path).unwrap();
    assert!(matches!(plan::read(&path), Err(Error::Io { .. })));
    // Every beginning of a plan is a plan or is refused; none is a panic.
    for end in (0..text.len())
        .filter(|&end| text.is_char_boundary(end))
        .step_by(7)
    {
        fs::write(&path, &text[..end]).unwrap();
        let _ = plan::read(&path);
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let directory = common::temporary();
    let (_, input) = small(directory.path());
    let run = spec(2, false, 1).run();
    let out = directory.path().join("out");
    drop(run.ingest(&[&input], &out).unwrap());
    let before = files(&out);
    for ratios in [&[][..], &[1, 2], &[2, 3], &[4, 2], &[2, 2], &[2, 4, 6]] {
        match make(&run, &out, &config("0.5", "0.7", None, ratios)) {
            Err(Error::BadParameter { name: "ratios", .. }) => {}
            other => panic!("{ratios:?}: {other:?}"),
        }
    }
    let all = subset(&config("0.5", "0.7", None, &[2]), "1", 0);
    match make(&run, &out, &all) {
        Err(Error::BadParameter { name: "subset", .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_same_files(&files(&out), &before, "refused");
}

/// Where there is nothing to measure every fingerprint is taken.
#[test]
fn plans_of_small_collections() {
    for texts in [
        &[""][..],
        &["one"],
        &["one two", "one two"],
        &["a b c d e", "a b c d f", ""],
    ] {
        let directory = common::temporary();
        let docs = documents(texts);
        let input = write_jsonl(directory.path(), &docs, 1);
        let out = directory.path().join("out");
        let run = spec(2, false, 1).run();
        drop(run.ingest(&[&input], &out).unwrap());
        let whole = config("0.5", "0.7", None, &[2, 4]);
        for config in [&whole, &subset(&whole, "0.1", 0), &subset(&whole, "0.5", 1)] {
            let plan = make(&run, &out, config).unwrap();
            assert_eq!(plan.sampling(), Sampling::Full, "{texts:?}");
            assert!(
                plan.groups
                    .iter()
                    .all(|group| group.evidence == Evidence::TooLittle)
            );
            assert_nothing_left(&out, "small");
        }
    }
}
