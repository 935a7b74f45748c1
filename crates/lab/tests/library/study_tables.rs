//! Tables of a study: every number of a small one worked out by hand, and what must hold of any.

use std::collections::BTreeMap;

use lookalike_lab::report::{study as terminal, study_files as files, study_page};
use lookalike_lab::study::{PairTable, Study, StudyConfig, StudyCost, Trial, TrialGroup, adaptive};

fn thresholds(texts: &[&str]) -> Vec<lookalike::base::ids::Threshold> {
    texts.iter().map(|t| t.parse().unwrap()).collect()
}

/// Pairs as (estimated, true) levels with their number.
fn table(thresholds: usize, pairs: &[(usize, usize, u64)]) -> PairTable {
    let mut table = PairTable::new(thresholds);
    for &(estimated, truth, number) in pairs {
        for _ in 0..number {
            table.count(estimated, truth);
        }
    }
    table
}

/// The content of every file.
fn contents(study: &Study) -> BTreeMap<String, String> {
    let files = files(study).unwrap();
    let named: BTreeMap<String, String> = files
        .into_iter()
        .map(|(name, content)| (name.into(), String::from_utf8(content).unwrap()))
        .collect();
    named
}

/// Lines of a table that begin so, in order.
fn lines<'a>(table: &'a str, start: &str) -> Vec<&'a str> {
    table.lines().filter(|l| l.starts_with(start)).collect()
}

/// Two groups, two thresholds, ratios 1/2 and 1/4 of which two classes were tried each.
///
/// Truth: group 0 has 4 pairs of its own, of which 2 reach 0.8 and 2 only 0.5; 1 pair with group 1,
/// at 0.8. Group 1 has none of its own.
fn small() -> Study {
    let group =
        |documents, nothing_sampled, shingles, sampled, same: &[_], cross: &[_]| TrialGroup {
            documents,
            nothing_sampled,
            shingles,
            sampled,
            same: table(2, same),
            cross: table(2, cross),
        };
    let trial = |n, class, zero: TrialGroup| {
        let (sampled, sampled_of) = (zero.sampled, [600, 600 / n as u64]);
        let one = group(
            2,
            0,
            600,
            if sampled == 400 { 600 } else { sampled_of[1] },
            &[],
            &[],
        );
        Trial {
            n,
            class,
            groups: vec![zero, one],
        }
    };
    Study {
        config: StudyConfig {
            ratios: vec![2, 4],
            thresholds: thresholds(&["0.5", "0.8"]),
        },
        groups: vec!["0-499".into(), "500-".into()],
        sizes: vec![(1, 1000), (2, 100), (3, 10)],
        trials: vec![
            trial(
                1,
                0,
                group(8, 0, 400, 400, &[(2, 2, 2), (1, 1, 2)], &[(2, 2, 1)]),
            ),
            // At 0.8: 2 right, 1 too high. At 0.5: 4 right, 1 that is below 0.5.
            trial(
                2,
                0,
                group(
                    8,
                    0,
                    400,
                    190,
                    &[(2, 2, 2), (2, 1, 1), (1, 1, 1), (1, 0, 1)],
                    &[(2, 2, 1)],
                ),
            ),
            // At 0.8: 1 right, 1 missed. At 0.5: 3 right, 1 missed.
            trial(
                2,
                1,
                group(
                    8,
                    1,
                    400,
                    210,
                    &[(2, 2, 1), (1, 2, 1), (1, 1, 1), (0, 1, 1)],
                    &[(2, 2, 1)],
                ),
            ),
            // At 0.8: 1 right, 3 wrong, 1 missed. At 0.5: 4 right, 4 wrong.
            trial(
                4,
                0,
                group(
                    8,
                    2,
                    400,
                    90,
                    &[(2, 2, 1), (1, 2, 1), (2, 1, 2), (2, 0, 1), (1, 0, 3)],
                    &[(1, 2, 1)],
                ),
            ),
            // At 0.8 nothing is found: precision is undefined. At 0.5: 2 right, 2 missed.
            trial(
                4,
                1,
                group(
                    8,
                    4,
                    400,
                    110,
                    &[(1, 2, 1), (0, 2, 1), (1, 1, 1), (0, 1, 1)],
                    &[(0, 2, 1)],
                ),
            ),
        ],
    }
}

#[test]
fn every_trial_is_in_the_table() {
    let files = contents(&small());
    let trials = &files["trials.csv"];
    // 5 trials, 2 thresholds, 2 groups and all, 3 kinds of pairs.
    assert_eq!(trials.lines().count(), 1 + 5 * 2 * 3 * 3);
    let line = lines(trials, "1/4,0,0.8,0,0-499,same,");
    assert_eq!(
        line,
        ["1/4,0,0.8,0,0-499,same,8,2,400,90,2,4,1,3,1,0.250000,0.500000"]
    );
    let line = lines(trials, "1/4,0,0.8,0,0-499,cross,");
    assert_eq!(
        line,
        ["1/4,0,0.8,0,0-499,cross,8,2,400,90,1,0,0,0,1,,0.000000"]
    );
    // All pairs of all groups: 1 + 0 right, 3 wrong, 1 + 1 missed; 8 + 2 documents, 90 + 150
    // sampled.
    let line = lines(trials, "1/4,0,0.8,all,");
    assert_eq!(
        line[2],
        "1/4,0,0.8,all,all,all,10,2,1000,240,3,4,1,3,2,0.250000,0.333333"
    );
    // At the lower threshold the same pairs are counted otherwise.
    let line = lines(trials, "1/2,0,0.5,0,0-499,all,");
    assert_eq!(
        line,
        ["1/2,0,0.5,0,0-499,all,8,0,400,190,5,6,5,1,0,0.833333,1.000000"]
    );
    // The exact run finds what is true; a group without pairs has neither precision nor recall.
    let line = lines(trials, "full,0,0.8,0,0-499,same,");
    assert_eq!(
        line,
        ["full,0,0.8,0,0-499,same,8,0,400,400,2,2,2,0,0,1.000000,1.000000"]
    );
    let line = lines(trials, "1/2,0,0.8,1,500-,same,");
    assert_eq!(line, ["1/2,0,0.8,1,500-,same,2,0,600,300,0,0,0,0,0,,"]);
}

#[test]
fn the_summary_is_over_the_classes() {
    let files = contents(&small());
    let summary = &files["summary.csv"];
    // Ratios full, 1/2 and 1/4.
    assert_eq!(summary.lines().count(), 1 + 3 * 2 * 3 * 3);
    // Precision 2/3 and 1: mean 5/6, deviation of the population 1/6. Recall 1 and 1/2.
    // Found 3 and 1; sampled 190 and 210; nothing sampled 0 and 1.
    assert_eq!(
        lines(summary, "1/2,0.8,0,0-499,same,"),
        [
            "1/2,0.8,0,0-499,same,2,0,0.833333,0.166667,0.666667,1.000000,\
          0,0.750000,0.250000,0.500000,1.000000,2.000000,200.000000,0.500000"
        ]
    );
    // Precision 1/4 and undefined; recall 1/2 and 0; found 4 and 0.
    assert_eq!(
        lines(summary, "1/4,0.8,0,0-499,same,"),
        [
            "1/4,0.8,0,0-499,same,2,1,0.250000,0.000000,0.250000,0.250000,\
          0,0.250000,0.250000,0.000000,0.500000,2.000000,100.000000,3.000000"
        ]
    );
    // A group without pairs is undefined in every trial.
    assert_eq!(
        lines(summary, "1/4,0.5,1,500-,same,"),
        ["1/4,0.5,1,500-,same,2,2,,,,,2,,,,,0.000000,150.000000,0.000000"]
    );
}

#[test]
fn verification_needs_candidates_and_loses_what_the_estimate_misses() {
    let files = contents(&small());
    let verified = &files["verified.csv"];
    assert_eq!(verified.lines().count(), 1 + 3 * 2 * 2);
    // 1/2, c = 0.5, t = 0.8: candidates 5 + 1 and 3 + 1; all 3 true pairs are among them in both
    // classes.
    assert_eq!(
        lines(verified, "1/2,0.5,0.8,"),
        ["1/2,0.5,0.8,2,3,5.000000,0,1.000000,0.000000,1.000000,1.000000"]
    );
    // 1/4, c = 0.5, t = 0.8: candidates 8 + 1 and 2; of 3 true pairs 3 and 1 are among them.
    assert_eq!(
        lines(verified, "1/4,0.5,0.8,"),
        ["1/4,0.5,0.8,2,3,5.500000,0,0.666667,0.333333,0.333333,1.000000"]
    );
    // c above t finds fewer: 4 and 0 candidates at 0.8; of the 5 pairs that reach 0.5, 3 and 0.
    assert_eq!(
        lines(verified, "1/4,0.8,0.5,"),
        ["1/4,0.8,0.5,2,5,2.000000,0,0.300000,0.300000,0.000000,0.600000"]
    );
}

#[test]
fn precision_and_recall_are_means_of_the_classes() {
    let files = contents(&small());
    let summary = &files["summary.csv"];
    // Trials, then precision and recall: undefined, mean, deviation, least and greatest.
    let at = |start: &str| {
        let found = lines(summary, start);
        assert_eq!(found.len(), 1, "{start}");
        let cells: Vec<&str> = found[0].split(',').collect();
        (cells[5..11].join(","), cells[11..16].join(","))
    };
    // Precision at 1/2 and 0.8 of all pairs: 3/4 and 2/2.
    let (precision, _) = at("1/2,0.8,all,all,all,");
    assert_eq!(precision, "2,0,0.875000,0.125000,0.750000,1.000000");
    // Recall at 1/4 and 0.5: of group 0's pairs 4/4 and 2/4; of all pairs 5/5 and 2/5.
    let (_, recall) = at("1/4,0.5,0,0-499,same,");
    assert_eq!(recall, "0,0.750000,0.250000,0.500000,1.000000");
    let (_, recall) = at("1/4,0.5,all,all,all,");
    assert_eq!(recall, "0,0.700000,0.300000,0.400000,1.000000");
}

#[test]
fn each_group_takes_the_coarsest_ratio_that_will_do() {
    let files = contents(&small());
    let plans = &files["figure4.csv"];
    assert_eq!(plans.lines().count(), 1 + 50 * 2);
    // At 0.5, group 0 has mean precision (1/2 + 1) / 2 = 0.75 at 1/4 and (4/5 + 1) / 2 = 0.9 at
    // 1/2. Group 1 has no pairs. All pairs: at 1/4 (5/9 + 1) / 2 = 0.777..., at 1/2 (5/6 + 1) / 2 =
    // 0.916...
    let at = |target: &str, threshold: &str| {
        let found = lines(plans, &format!("{target},{threshold},"));
        assert_eq!(found.len(), 1);
        found[0]
    };
    // 100 of group 0 and 150 of group 1; uniform 100 + 150.
    assert_eq!(
        at("0.75", "0.5"),
        "0.75,0.5,0.250000,1,1/4,0.250000,0.250000,1/4,1/4"
    );
    // 200 + 150; uniform as above.
    assert_eq!(
        at("0.76", "0.5"),
        "0.76,0.5,0.350000,1,1/4,0.250000,0.250000,1/2,1/4"
    );
    assert_eq!(
        at("0.78", "0.5"),
        "0.78,0.5,0.350000,1,1/2,0.500000,0.350000,1/2,1/4"
    );
    assert_eq!(
        at("0.90", "0.5"),
        "0.90,0.5,0.350000,1,1/2,0.500000,0.350000,1/2,1/4"
    );
    // 400 + 150: only the whole group will do.
    assert_eq!(
        at("0.91", "0.5"),
        "0.91,0.5,0.550000,1,1/2,0.500000,0.500000,full,1/4"
    );
    assert_eq!(
        at("0.92", "0.5"),
        "0.92,0.5,0.550000,1,full,1.000000,0.550000,full,1/4"
    );
    // At 0.8 and 1/4 one class is undefined; the other has 0.25.
    assert_eq!(
        at("0.50", "0.8"),
        "0.50,0.8,0.350000,1,1/2,0.500000,0.350000,1/2,1/4"
    );
}

/// The lower limit is the fewest shingles of all choices of ratios, one by one.
#[test]
fn the_lower_limit_is_that_of_all_choices() {
    let mut study = plausible();
    study.groups.truncate(3);
    for trial in &mut study.trials {
        trial.groups.truncate(3);
    }
    let files = contents(&study);
    let mut reader = csv::Reader::from_reader(files["figure4.csv"].as_bytes());
    let ratios = [1, 2, 4, 8, 16, 32];
    let all: u64 = study.trials[0].groups.iter().map(|g| g.shingles).sum();
    let (mut below, mut rows) = (0, 0);
    for line in reader.records() {
        let line = line.unwrap();
        let number = |column: usize| line[column].parse::<f64>().unwrap();
        let names = study.config.thresholds.iter();
        let at = names.map(ToString::to_string).position(|t| t == line[1]);
        let at = at.unwrap();
        // For each group and ratio: shingles, correct pairs, pairs found.
        let of: Vec<Vec<[f64; 3]>> = (0..3)
            .map(|group| {
                let each = ratios.iter().map(|&n| {
                    let trials = study.trials.iter().filter(|trial| trial.n == n);
                    let sum = trials.fold([0.0; 3], |sum, trial| {
                        let (group, counts) =
                            (&trial.groups[group], trial.groups[group].same.at(at));
                        let own = [group.sampled, counts.correct, counts.correct + counts.wrong];
                        [0, 1, 2].map(|n| sum[n] + own[n] as f64)
                    });
                    sum.map(|sum| sum / f64::from(n))
                });
                each.collect()
            })
            .collect();
        let mut least = number(2).min(number(5));
        for choice in 0..6 * 6 * 6 {
            let chosen = [choice % 6, choice / 6 % 6, choice / 36];
            let [shingles, correct, found] = [0, 1, 2].map(|n| {
                let groups = chosen.iter().zip(&of);
                groups.map(|(&ratio, of)| of[ratio][n]).sum::<f64>()
            });
            if correct + 1e-9 >= number(0) * found {
                least = least.min(shingles / all as f64);
            }
        }
        assert!((least - number(6)).abs() < 2e-6, "{line:?} {least}");
        below += usize::from(number(6) + 1e-6 < number(2).min(number(5)));
        rows += 1;
    }
    assert!(below > 10 && below < rows, "{below} of {rows}");
}

#[test]
fn without_pairs_the_coarsest_ratio_will_do() {
    let mut study = small();
    for group in study.trials.iter_mut().flat_map(|t| &mut t.groups) {
        group.same = PairTable::new(2);
    }
    let at = |study: &Study| {
        let files = contents(study);
        lines(&files["figure4.csv"], "0.99,0.8,")[0].to_string()
    };
    // Pairs between the groups are left, of which 1/2 finds all and 1/4 none.
    assert_eq!(
        at(&study),
        "0.99,0.8,0.250000,2,1/2,0.500000,0.250000,1/4,1/4"
    );
    for group in study.trials.iter_mut().flat_map(|t| &mut t.groups) {
        group.cross = PairTable::new(2);
    }
    assert_eq!(
        at(&study),
        "0.99,0.8,0.250000,2,1/4,0.250000,0.250000,1/4,1/4"
    );
}

/// Random numbers of a fixed seed, uniform in 0..1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Groups, ratios and thresholds as of the paper, pairs whose estimates scatter as those of samples
/// do.
fn plausible() -> Study {
    let names = [
        "0-499",
        "500-999",
        "1000-1999",
        "2000-2999",
        "3000-3999",
        "4000-4999",
        "5000-5999",
        "6000-6999",
        "7000-7999",
        "8000-8999",
        "9000-",
    ];
    let documents = [
        60_000, 15_000, 7_800, 2_900, 1_400, 880, 560, 380, 270, 190, 800u64,
    ];
    let shingles = [
        180, 700, 1_400, 2_400, 3_400, 4_400, 5_400, 6_400, 7_400, 8_400, 12_000u64,
    ];
    let levels = thresholds(&[
        "0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95", "0.97", "0.99",
    ]);
    let level = |r: f64| {
        let reached = |t: &&lookalike::base::ids::Threshold| {
            r * t.denominator() as f64 >= t.numerator() as f64 - 1e-12
        };
        levels.iter().filter(reached).count()
    };
    let mut trials = Vec::new();
    for n in [1u32, 2, 4, 8, 16, 32] {
        for class in 0..n {
            let mut groups = Vec::new();
            for (group, &size) in shingles.iter().enumerate() {
                let mut truth = Random(group as u64 + 1);
                let mut noise = Random(u64::from(n * 100 + class) * 1_000 + group as u64);
                let mut tables = [PairTable::new(levels.len()), PairTable::new(levels.len())];
                let pairs = 12 + documents[group] / 20;
                for pair in 0..pairs {
                    let r = truth.next().powf(0.8);
                    let size = size as f64 * (0.3 + truth.next());
                    let sample = (size / f64::from(n)).floor();
                    let scatter = (r * (1.0 - r) / sample.max(1.0)).sqrt();
                    let estimate = match (n, sample) {
                        (1, _) => r,
                        (_, s) if s < 3.0 => 0.0,
                        (_, s) => ((r + scatter * noise.normal()) * s).round() / s,
                    };
                    let estimate = level(estimate.clamp(0.0, 1.0));
                    tables[usize::from(pair % 4 == 0)].count(estimate, level(r));
                }
                let [same, cross] = tables;
                let all = documents[group] * size;
                groups.push(TrialGroup {
                    documents: documents[group],
                    nothing_sampled: if group == 0 { u64::from(n - 1) * 31 } else { 0 },
                    shingles: all,
                    sampled: all / u64::from(n),
                    same,
                    cross,
                });
            }
            trials.push(Trial { n, class, groups });
        }
    }
    let ranks = (1..100).chain((0..287).map(|k| (100.0 * 10f64.powf(f64::from(k) / 100.0)) as u64));
    let words = |rank: u64| {
        let rank = rank as f64;
        (200_000.0 * rank.powf(-0.45) * (1.0 - (rank / 90_200.0).powi(3)).max(0.0)) as u64 + 10
    };
    Study {
        config: StudyConfig {
            ratios: vec![2, 4, 8, 16, 32],
            thresholds: levels.clone(),
        },
        groups: names.map(String::from).into(),
        sizes: ranks.map(|rank| (rank, words(rank))).collect(),
        trials,
    }
}

#[test]
fn the_same_study_gives_the_same_bytes() {
    assert_eq!(files(&plausible()).unwrap(), files(&plausible()).unwrap());
}

/// Studies in which something is missing.
fn degenerate() -> Vec<(&'static str, Study)> {
    let change = |change: fn(&mut Study)| {
        let mut study = small();
        change(&mut study);
        study
    };
    vec![
        (
            "no pairs",
            change(|study| {
                for group in study.trials.iter_mut().flat_map(|t| &mut t.groups) {
                    group.same = PairTable::new(2);
                    group.cross = PairTable::new(2);
                }
            }),
        ),
        (
            "one ratio, one class",
            change(|study| {
                study.trials.truncate(2);
                study.config.ratios = vec![2];
            }),
        ),
        (
            "the exact run alone",
            change(|study| study.trials.truncate(1)),
        ),
        ("no trials", change(|study| study.trials.clear())),
        (
            "one threshold",
            change(|study| {
                study.config.thresholds.truncate(1);
                for group in study.trials.iter_mut().flat_map(|t| &mut t.groups) {
                    for pairs in [&mut group.same, &mut group.cross] {
                        pairs.thresholds = 1;
                        pairs.cells.truncate(4);
                    }
                }
            }),
        ),
        (
            "no thresholds",
            change(|study| {
                study.config.thresholds.clear();
                for group in study.trials.iter_mut().flat_map(|t| &mut t.groups) {
                    group.same = PairTable::new(0);
                    group.cross = PairTable::new(0);
                }
            }),
        ),
        (
            "one group",
            change(|study| {
                study.groups = vec!["0-".into()];
                for trial in &mut study.trials {
                    trial.groups.truncate(1);
                }
            }),
        ),
        (
            "no groups",
            change(|study| {
                study.groups.clear();
                for trial in &mut study.trials {
                    trial.groups.clear();
                }
            }),
        ),
        (
            "no documents",
            change(|study| {
                study.sizes.clear();
                for trial in &mut study.trials {
                    trial.groups.fill_with(|| TrialGroup {
                        same: PairTable::new(2),
                        cross: PairTable::new(2),
                        ..TrialGroup::default()
                    });
                }
            }),
        ),
        (
            "empty documents",
            change(|study| study.sizes = vec![(1, 0), (2, 0)]),
        ),
        ("one document", change(|study| study.sizes.truncate(1))),
        (
            "a group by name",
            change(|study| study.groups[0] = "short <&\", ones".into()),
        ),
        (
            "many groups",
            change(|study| {
                study.groups = (0..60)
                    .map(|g| format!("{}-{}", g * 10, g * 10 + 9))
                    .collect();
                for trial in &mut study.trials {
                    trial.groups.resize(60, trial.groups[0].clone());
                }
            }),
        ),
    ]
}

#[test]
fn degenerate_studies_read_well_too() {
    for (what, study) in degenerate() {
        let mut texts = contents(&study);
        if study.config.check().is_ok() {
            let shown = terminal(&study, &StudyCost::default(), 80).unwrap();
            texts.insert("terminal".into(), shown);
        }
        for (name, content) in &texts {
            for wrong in ["NaN", "inf", "-0.00"] {
                assert!(!content.contains(wrong), "{what}: {name}: {wrong}");
            }
        }
    }
}

/// Every study has a page, which is the same each time and has no markup of names.
#[test]
fn every_study_has_a_page() {
    let cost = StudyCost::default();
    let mut studies = degenerate();
    studies.push(("plausible", plausible()));
    for (what, mut study) in studies {
        if let Some(group) = study.groups.first_mut() {
            *group = format!("{group}</script><script>\u{202e}\"'");
        }
        if study.config.check().is_err() {
            assert!(study_page(&study, &cost, "p").is_err(), "{what}");
            continue;
        }
        let page = study_page(&study, &cost, "program <1>").unwrap();
        assert_eq!(page, study_page(&study, &cost, "program <1>").unwrap());
        let page = String::from_utf8(page).unwrap();
        for wrong in [
            "NaN", ">inf", "-0.00", "<script", "\u{202e}", "<img", " style=", "<1>",
        ] {
            assert!(!page.contains(wrong), "{what}: {wrong}");
        }
        assert!(page.contains("sampling") && page.contains("<h2>By size group</h2>"));
    }
}

/// The verdict has the shares of `figure4.csv`, and counts its lines.
#[test]
fn the_verdict_is_that_of_figure_4() {
    let study = plausible();
    let files = contents(&study);
    let adaptive = adaptive(&study).unwrap();
    let mut reader = csv::Reader::from_reader(files["figure4.csv"].as_bytes());
    let (mut cases, mut targets) = ([0; 3], Vec::new());
    for line in reader.records() {
        let line = line.unwrap();
        let (share, uniform): (f64, f64) = (line[2].parse().unwrap(), line[5].parse().unwrap());
        let case = match share - uniform {
            less if less < -1e-7 => 0,
            more if more > 1e-7 => 2,
            _ => 1,
        };
        cases[case] += 1;
        if &line[1] == "0.85" && ["0.80", "0.90", "0.95"].contains(&&line[0]) {
            targets.push((line[0].to_string(), share, uniform, line[4].to_string()));
        }
    }
    assert_eq!(adaptive.cases, cases);
    assert!(cases.iter().all(|&count| count > 0), "{cases:?}");
    assert_eq!(adaptive.targets.len(), 3);
    for (at, (target, share, uniform, ratio)) in adaptive.targets.iter().zip(targets) {
        assert_eq!(format!("0.{}", at.target), target);
        assert!((at.share - share).abs() < 1e-6 && (at.uniform_share - uniform).abs() < 1e-6);
        let name = match at.uniform {
            1 => "full".into(),
            n => format!("1/{n}"),
        };
        assert_eq!(name, ratio);
    }
    let sentences = adaptive.sentences();
    assert_eq!(sentences.len(), 4);
    let dearest: u64 = adaptive.dearest.iter().map(|(_, n)| n).sum();
    assert_eq!(dearest, adaptive.cases[2]);
    let page = study_page(&study, &StudyCost::default(), "p").unwrap();
    let page = String::from_utf8(page).unwrap();
    for sentence in &sentences {
        assert!(page.contains(sentence), "{sentence}");
    }
    // The answer comes first, then the ratios of each size group in one table.
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(
        at(&sentences[0]) < at("Ratio by size group")
            && at("Ratio by size group") < at("the share of true pairs")
    );
    let rows = table_of(&page, "Ratio by size group");
    let mut reader = csv::Reader::from_reader(files["figure4.csv"].as_bytes());
    let plans = reader.records().map(Result::unwrap);
    let plans: Vec<_> = plans
        .filter(|line| &line[1] == "0.85" && ["0.80", "0.90", "0.95"].contains(&&line[0]))
        .collect();
    let column = |of: usize| plans.iter().map(move |line| line[of].to_string());
    for (group, row) in rows.iter().take(study.groups.len()).enumerate() {
        assert_eq!(row[1..], column(7 + group).collect::<Vec<_>>(), "{row:?}");
    }
    assert_eq!(rows.len(), study.groups.len() + 4);
    for (row, of) in [(0, 4), (1, 2), (2, 5), (3, 6)] {
        let cells = column(of).map(|text| match text.parse::<f64>() {
            Ok(share) => format!("{share:.3}"),
            Err(_) => text,
        });
        let found = &rows[study.groups.len() + row];
        assert_eq!(found[1..], cells.collect::<Vec<_>>(), "{found:?}");
    }
    // The terminal shows the same table, first.
    let shown = terminal(&study, &StudyCost::default(), 80).unwrap();
    let mut lines = shown
        .lines()
        .skip_while(|line| !line.starts_with("size group"))
        .skip(1);
    for row in &rows {
        let line = lines.next().unwrap();
        let cells: Vec<&str> = line.split_whitespace().rev().take(3).collect();
        assert!(
            line.starts_with(&row[0]) && cells.iter().rev().eq(&row[1..]),
            "{line} {row:?}"
        );
    }
    assert!(shown.starts_with("Ratio by size group"), "{shown}");
}

/// The rows of the table on a page whose label begins so, as text.
fn table_of(page: &str, label: &str) -> Vec<Vec<String>> {
    let start = format!("aria-label=\"{label}");
    let table = page
        .split_once(&start)
        .unwrap_or_else(|| panic!("{label}: {page}"))
        .1;
    let table = table.split_once("</table>").unwrap().0;
    let rows = table.split("<tr>").skip(2).map(|row| {
        let cells = row
            .split("</t")
            .filter_map(|cell| Some(cell.rsplit_once('>')?.1));
        let cells = cells.map(String::from).filter(|cell| !cell.is_empty());
        cells.collect::<Vec<_>>()
    });
    rows.collect()
}

/// Precision and recall of each size group, sizes, and no chart: the page has the numbers of the
/// files, and names every file.
#[test]
fn the_page_has_the_numbers_of_the_files_by_size_group() {
    let study = plausible();
    let files = contents(&study);
    let page = study_page(&study, &StudyCost::default(), "p").unwrap();
    let page = String::from_utf8(page).unwrap();
    for (metric, mean_of) in [("precision", 7), ("recall", 12)] {
        let label = format!("Mean {metric} by size group at threshold 0.85");
        let rows = table_of(&page, &label);
        assert_eq!(rows.len(), study.groups.len() + 1);
        for (column, n) in [2, 4, 8, 16, 32].into_iter().enumerate() {
            let lines = lines(&files["summary.csv"], &format!("1/{n},0.85,"));
            let own = |line: &&&str| line.contains(",same,") || line.contains(",all,all,all,");
            let own: Vec<_> = lines.iter().filter(own).collect();
            let of_groups = own.iter().filter(|line| !line.contains(",all,all,same,"));
            assert_eq!(of_groups.clone().count(), rows.len());
            for (row, line) in rows.iter().zip(of_groups) {
                let mean: f64 = line.split(',').nth(mean_of).unwrap().parse().unwrap();
                assert_eq!(
                    row[1 + column],
                    lookalike::base::numbers::fraction(mean, 3),
                    "{line}"
                );
            }
        }
    }
    let rows = table_of(&page, "Documents and shingles by size group");
    let first = ["0–499", "60,000", "0.665", "10,800,000", "0.162"];
    assert_eq!(rows[0], first);
    assert!(!page.contains("class=\"plot"));
    for name in files.keys() {
        assert!(page.contains(&format!("href=\"{name}\"")), "{name}");
    }
}

#[test]
fn a_study_that_contradicts_itself_is_refused() {
    let mut study = small();
    study.trials[3].groups.pop();
    let error = files(&study).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the study's class 0 of 1/4 has 1 size groups, expected 2"
    );
    let mut study = small();
    study.trials[1].groups[1].cross = PairTable::new(3);
    let error = files(&study).unwrap_err().to_string();
    assert!(
        error.starts_with("the study's class 0 of 1/2 has 3 "),
        "{error}"
    );
    let mut study = small();
    study.trials[1].groups[1].same.cells.pop();
    let error = files(&study).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the study's class 0 of 1/2 has 8 cells in a table, expected 9"
    );
}
