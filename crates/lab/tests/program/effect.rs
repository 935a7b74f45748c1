//! Metrics before and after near-duplicates: by hand, and against a plain version of the
//! definitions. `python/tests/test_effect.py` compares with trec_eval itself.

use crate::common;
use lookalike::base::progress::{Silent, Stop};
use lookalike_lab::effect::{EffectConfig, run as measure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Exit status, standard output and standard error of `lookalike lab effect` in a directory.
fn effect(place: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(common::lookalike());
    let command = command.current_dir(place).args(["lab", "effect"]);
    let output = command.args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Writes clusters of these documents.
fn clusters(place: &Path, of: &[&[String]]) {
    let mut lines = String::new();
    for (id, members) in of.iter().enumerate() {
        let each = members.iter().enumerate().map(|(n, docno)| {
            let kind = if n == 0 { "representative" } else { "near" };
            format!("{{\"docno\":\"{docno}\",\"kind\":\"{kind}\",\"resemblance\":null}}")
        });
        let each = each.collect::<Vec<_>>().join(",");
        let first = &members[0];
        writeln!(
            lines,
            "{{\"id\":{id},\"representative\":\"{first}\",\"members\":[{each}]}}"
        )
        .unwrap();
    }
    fs::write(place.join("clusters.jsonl"), lines).unwrap();
}

/// Topic 1 has the cluster a1, a2, a3 (relevance 0, 2, unjudged) and the relevant documents b and d.
/// Topic 2 has no relevant document, and no ranking has topic 3.
const QRELS: &str = "1 0 a1 0\n1 0 a2 2\n1 0 b 1\n1 0 c 0\n1 0 d 1\n2 0 a1 0\n2 0 c -2\n3 0 b 1\n";
/// In order: a3, a1, x, b, a2.
const FIRST: &str = "1 Q0 b 9 2.0 t\n1 Q0 a3 1 5 t\n1 Q0 x 3 3 t\n1 Q0 a1 2 4 t\n1 Q0 a2 5 1e0 t\n2 Q0 c 1 1 t\n9 Q0 c 1 1 t\n";
/// In order: b, and then by docno, the greater first: c, a2.
const SECOND: &str = "1 Q0 b 1 7 u\n1 Q0 a2 2 6.00000001 u\n1 Q0 c 3 6 u\n2 Q0 z 1 1 u\n";

fn written(place: &Path) {
    let members = ["a1", "a2", "a3"].map(String::from);
    clusters(place, &[&members[..]]);
    fs::write(place.join("qrels.txt"), QRELS).unwrap();
    fs::write(place.join("first.txt"), FIRST).unwrap();
    fs::write(place.join("second.txt"), SECOND).unwrap();
}

const BOTH: [&str; 8] = [
    "--qrels",
    "qrels.txt",
    "--run",
    "first.txt",
    "--run",
    "second.txt",
    "--clusters",
    "clusters.jsonl",
];

#[test]
fn metrics_by_hand() {
    let directory = common::temporary();
    let place = directory.path();
    written(place);
    let (status, text, error) = effect(place, &[&BOTH[..], &["--json"]].concat());
    assert_eq!(status, Some(0), "{error}");
    let json: Value = serde_json::from_str(&text).unwrap();
    // Of topic 1, the only one with a relevant document that is found; the mean is over three.
    let log = |rank: f64| (rank + 1.0).log2();
    let expected = [
        // a2, b and d are relevant, with gains 2, 1, 1.
        (
            "given",
            [
                (0.25 + 0.4) / 3.0,
                (1.0 / log(4.0) + 2.0 / log(5.0)) / (2.0 + 1.0 / log(2.0) + 0.5),
                0.2,
                0.25,
                2.0 / 3.0,
            ],
        ),
        // So is a1, with a gain of 2.
        (
            "unified",
            [
                (0.5 + 0.5 + 0.6) / 4.0,
                (2.0 / log(2.0) + 1.0 / log(4.0) + 2.0 / log(5.0))
                    / (2.0 + 2.0 / log(2.0) + 0.5 + 1.0 / log(4.0)),
                0.3,
                0.5,
                0.75,
            ],
        ),
        // a3 stands for the cluster: relevant, and the others of it are not.
        (
            "irrelevant",
            [
                (1.0 + 0.5) / 3.0,
                (2.0 + 1.0 / log(4.0)) / (2.0 + 1.0 / log(2.0) + 0.5),
                0.2,
                1.0,
                2.0 / 3.0,
            ],
        ),
        // a3, x, b.
        (
            "removed",
            [
                (1.0 + 2.0 / 3.0) / 3.0,
                (2.0 + 0.5) / (2.0 + 1.0 / log(2.0) + 0.5),
                0.2,
                1.0,
                2.0 / 3.0,
            ],
        ),
        // a3, b.
        (
            "condensed",
            [
                (1.0 + 1.0) / 3.0,
                (2.0 + 1.0 / log(2.0)) / (2.0 + 1.0 / log(2.0) + 0.5),
                0.2,
                1.0,
                2.0 / 3.0,
            ],
        ),
    ];
    let names = ["map", "ndcg_cut_10", "P_10", "recip_rank", "recall_1000"];
    for (treatment, values) in expected {
        for (name, value) in names.iter().zip(values) {
            let found = json["systems"][0]["means"][treatment][name]
                .as_f64()
                .unwrap();
            assert!(
                (found - value / 3.0).abs() < 1e-12,
                "{treatment} {name}: {found} {}",
                value / 3.0
            );
        }
    }
    // b, c, a2: scores are compared in single precision, and then the greater docno is first.
    let second = json["systems"][1]["means"]["given"]["map"]
        .as_f64()
        .unwrap();
    assert!(
        (second - (1.0 + 2.0 / 3.0) / 3.0 / 3.0).abs() < 1e-12,
        "{second}"
    );
    assert_eq!(json["systems"][0]["missing"], 1);
    // Lines of judged topics: 5 and 1, of which a1 and a2 are below a3.
    let file = &json["systems"][0]["file"];
    assert_eq!(
        (&file["lines"], &file["kept"], &file["removed"]),
        (&7.into(), &4.into(), &2.into())
    );
    // In topic 1, the second is better as given and by 5/9 to 1/2, and worse condensed.
    assert_eq!(json["tau"]["irrelevant"]["map"], 1.0);
    assert_eq!(json["tau"]["condensed"]["map"], -1.0);
    assert_eq!(json["swaps"]["irrelevant"], serde_json::json!([0, 0, 0]));
    assert_eq!(json["swaps"]["condensed"], serde_json::json!([1, 0, 0]));
    assert_eq!(json["tau"]["removed"]["recip_rank"], Value::Null);
}

#[test]
fn tables_fit_and_name_what_changes() {
    let directory = common::temporary();
    let place = directory.path();
    written(place);
    // A third ranking that lives on copies: best as given.
    fs::write(
        place.join("third.txt"),
        "1 Q0 a2 1 9 t\n1 Q0 a1 2 8 t\n1 Q0 a3 3 7 t\n1 Q0 b 4 6 t\n1 Q0 d 5 5 t\n",
    )
    .unwrap();
    let arguments = [&BOTH[..], &["--run", "third.txt"]].concat();
    let (status, text, error) = effect(place, &arguments);
    assert_eq!(status, Some(0), "{error}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let expected = "\
qrels.txt: 3 topics, 8 judgements of 7 clusters or single documents

first.txt: 7 lines, 2 of judged topics below a document of their cluster; 1
topic missing

treatment          MAP     nDCG@10        P@10         MRR      R@1000
given       0.0722 (3)  0.1282 (3)  0.0667 (2)  0.0833 (3)  0.2222 (2)
unified     0.1333 (3)  0.1961 (2)  0.1000 (2)  0.1667 (3)  0.2500 (2)
irrelevant  0.1667 (3)  0.2588 (2)  0.0667 (2)  0.3333 (1)  0.2222 (2)
removed     0.1852 (2)  0.2662 (2)  0.0667 (2)  0.3333 (1)  0.2222 (2)
condensed   0.2222 (2)  0.2801 (2)  0.0667 (2)  0.3333 (1)  0.2222 (2)

second.txt: 4 lines, 0 below a document of their cluster; 1 topic missing

treatment          MAP     nDCG@10        P@10         MRR      R@1000
given       0.1852 (2)  0.2129 (2)  0.0667 (2)  0.3333 (1)  0.2222 (2)
";
    assert!(text.starts_with(expected), "{text}");
    let expected = "\
Kendall's tau of the order of 3 runs and their order as given

treatment     MAP  nDCG@10   P@10    MRR  R@1000
unified     1.000    0.333  0.816  1.000   0.816
irrelevant  1.000    0.333  1.000      -   1.000
removed     0.816    0.333  1.000      -   1.000
condensed   0.333    0.333  1.000      -   1.000

1 of 3 topics with another order of the runs by MAP: pairs in another order

topic  unified  irrelevant  removed  condensed
1            0           0        0          1
";
    assert!(text.ends_with(expected), "{text}");
    // Of one ranking: the values that change.
    let (_, text, _) = effect(place, &[&BOTH[..4], &BOTH[6..]].concat());
    let expected = "\
1 of 3 topics with another average precision

topic   given  unified  irrelevant  removed  condensed
1      0.2167   0.4000      0.5000   0.5556     0.6667
";
    assert!(
        text.ends_with(expected) && !text.contains("Kendall"),
        "{text}"
    );
    let (_, tsv, _) = effect(place, &[&arguments[..], &["--tsv"]].concat());
    let lines: Vec<&str> = tsv.lines().collect();
    assert_eq!(
        lines[0],
        "run\ttreatment\ttopic\tmap\tndcg_cut_10\tP_10\trecip_rank\trecall_1000"
    );
    assert_eq!(lines.len(), 1 + 3 * 5 * (3 + 1));
    assert!(tsv.contains("first.txt\tremoved\t1\t0.555556\t"), "{tsv}");
    assert!(tsv.contains("third.txt\tgiven\tall\t"), "{tsv}");
    assert!(!tsv.contains('-'), "{tsv}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let directory = common::temporary();
    let place = directory.path();
    for (name, text, found) in [
        (
            "qrels.txt",
            "1 0 a 1\n1 0 a 0\n",
            "qrels.txt, line 2: expected one line for each docno of a topic, found a again",
        ),
        (
            "qrels.txt",
            "1 0 a x\n",
            "qrels.txt, line 1: expected a relevance that is an integer, found x",
        ),
        (
            "qrels.txt",
            "1 a 1 0 0.5\n",
            "qrels.txt, line 1: expected 4 fields (topic, iteration, docno, relevance), found 5",
        ),
        (
            "first.txt",
            "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n",
            "first.txt, line 2: expected one line for each docno of a topic, found a again",
        ),
        (
            "first.txt",
            "1 Q0 a 1 nan t\n",
            "first.txt, line 1: expected a score that is a number, found nan",
        ),
        (
            "first.txt",
            "1 Q0 a\n",
            "first.txt, line 1: expected 6 fields",
        ),
        (
            "first.txt",
            "\n1 Q0 a one 1 t\n",
            "first.txt, line 2: expected a rank that is an integer, found one",
        ),
    ] {
        written(place);
        fs::write(place.join(name), text).unwrap();
        let (status, _, error) = effect(place, &BOTH);
        assert!(status == Some(1) || status == Some(2), "{status:?} {error}");
        let flowed = error.split_whitespace().collect::<Vec<_>>().join(" ");
        let flowed = flowed.replace('`', "");
        assert!(flowed.contains(found), "{found}: {error}");
    }
}

/// A budget too small is refused with the least that will do, and that will do.
#[test]
fn the_least_memory_that_is_told_is_enough() {
    let directory = common::temporary();
    let place = directory.path();
    written(place);
    let mut ranking = String::from(FIRST);
    for n in 0..20_000 {
        writeln!(ranking, "1 Q0 document-{n} {n} -{n} t").unwrap();
    }
    fs::write(place.join("first.txt"), ranking).unwrap();
    let config = EffectConfig {
        qrels: place.join("qrels.txt"),
        runs: vec![place.join("first.txt"), place.join("second.txt")],
        clusters: place.join("clusters.jsonl"),
    };
    let stop = Stop::default();
    let measured = |memory| {
        let run = common::Run::default().memory(memory);
        let report = measure(&config, &run.context(&stop, &Silent))?;
        Ok(report.systems[0].means[0][0])
    };
    let (least, map) = common::least_memory(measured);
    assert!(
        least > 8 << 20 && (map - 0.65 / 9.0).abs() < 1e-12,
        "{least} {map}"
    );
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % n
    }
}

/// Metrics from the definitions, by sets and sorting, for a list of documents.
fn metrics(ranked: &[String], grades: &BTreeMap<String, i64>) -> [f64; 5] {
    let relevant = |docno: &String| grades.get(docno).copied().unwrap_or(0) > 0;
    let all = grades.values().filter(|grade| **grade > 0).count() as f64;
    let hits = |most: usize| {
        ranked
            .iter()
            .take(most)
            .filter(|docno| relevant(docno))
            .count() as f64
    };
    let places: Vec<usize> = (1..=ranked.len())
        .filter(|n| relevant(&ranked[n - 1]))
        .collect();
    let sum = places.iter().fold(0.0, |sum, &n| sum + hits(n) / n as f64);
    let gain = |n: usize, grade: i64| grade.max(0) as f64 / (n as f64 + 1.0).log2();
    let own = |docno: &String| grades.get(docno).copied().unwrap_or(0);
    let dcg: f64 = (1..=ranked.len().min(10))
        .map(|n| gain(n, own(&ranked[n - 1])))
        .sum();
    let mut best: Vec<i64> = grades.values().copied().collect();
    best.sort();
    let ideal: f64 = best
        .iter()
        .rev()
        .take(10)
        .zip(1..)
        .map(|(&grade, n)| gain(n, grade))
        .sum();
    let or = |value: f64| {
        if value > 0.0 && value.is_finite() {
            value
        } else {
            0.0
        }
    };
    let first = places.first().map_or(0.0, |&n| 1.0 / n as f64);
    [
        or(sum / all),
        or(dcg / ideal),
        hits(10) / 10.0,
        first,
        or(hits(1000) / all),
    ]
}

/// The ranking of each topic in the order of trec_eval, and the judgements, that `qrels` writes.
fn deduplicated(place: &Path) -> Vec<(Vec<String>, BTreeMap<String, i64>)> {
    let arguments = "lab qrels qrels.txt --run run.txt --clusters clusters.jsonl -o clean --quiet";
    let mut command = Command::new(common::lookalike());
    let command = command.current_dir(place).args(arguments.split(' '));
    assert!(command.status().unwrap().success());
    let lines = |name: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(place.join("clean").join(name)).unwrap();
        let fields = |line: &str| line.split(' ').map(String::from).collect();
        text.lines().map(fields).collect()
    };
    let (mut run, qrels) = (lines("run.txt"), lines("qrels"));
    let score = |line: &[String]| line[4].parse::<f32>().unwrap();
    run.sort_by(|a, b| (score(b), &b[2]).partial_cmp(&(score(a), &a[2])).unwrap());
    let of = |topic: usize| {
        let topic = topic.to_string();
        let ranked = run.iter().filter(|line| line[0] == topic);
        let judged = qrels.iter().filter(|line| line[0] == topic);
        (
            ranked.map(|line| line[2].clone()).collect(),
            judged
                .map(|line| (line[2].clone(), line[3].parse().unwrap()))
                .collect(),
        )
    };
    (0..3).map(of).collect()
}

/// Random collections: each treatment is made as files would be, and evaluated plainly.
#[test]
fn random_rankings_are_evaluated_as_defined() {
    let directory = common::temporary();
    let place = directory.path();
    for seed in 0..30u64 {
        let mut numbers = Numbers(seed);
        let mut groups: Vec<Vec<String>> = Vec::new();
        for cluster in 0..numbers.below(8) {
            let size = 2 + numbers.below(4);
            groups.push((0..size).map(|n| format!("{n}-c{cluster}")).collect());
        }
        let slices: Vec<&[String]> = groups.iter().map(Vec::as_slice).collect();
        clusters(place, &slices);
        let mut all: Vec<String> = groups.concat();
        all.extend((0..15).map(|n| format!("alone{n}")));
        let unit = |docno: &str| {
            docno
                .split_once('-')
                .map_or(docno, |both| both.1)
                .to_string()
        };
        let (mut qrels, mut run) = (String::new(), String::new());
        let mut judged: Vec<BTreeMap<String, i64>> = Vec::new();
        let mut ranked: Vec<Vec<(u64, String)>> = Vec::new();
        for topic in 0..3 {
            let mut grades = BTreeMap::from([("nowhere".to_string(), 0)]);
            let mut order = Vec::new();
            writeln!(qrels, "{topic} 0 nowhere 0").unwrap();
            for docno in &all {
                if numbers.below(2) == 0 {
                    let grade = numbers.below(5) as i64 - 2;
                    writeln!(qrels, "{topic} 0 {docno} {grade}").unwrap();
                    grades.insert(docno.clone(), grade);
                }
                if numbers.below(3) > 0 {
                    let score = numbers.below(12);
                    // Zero with either sign is one score.
                    let sign = ["", "-"][usize::from(score == 0 && docno.ends_with('1'))];
                    writeln!(run, "{topic} Q0 {docno} 1 {sign}{score} x").unwrap();
                    order.push((score, docno.clone()));
                }
            }
            order.sort_by(|a, b| b.cmp(a));
            judged.push(grades);
            ranked.push(order);
        }
        fs::write(place.join("qrels.txt"), qrels).unwrap();
        fs::write(place.join("run.txt"), run).unwrap();
        let arguments = [
            "--qrels",
            "qrels.txt",
            "--run",
            "run.txt",
            "--clusters",
            "clusters.jsonl",
            "--tsv",
        ];
        let (status, text, error) = effect(place, &arguments);
        assert_eq!(status, Some(0), "{error}");
        let written = deduplicated(place);
        let mut lines = text.lines().skip(1);
        for treatment in ["given", "unified", "irrelevant", "removed", "condensed"] {
            let mut sums = [0.0; 5];
            for (topic, (grades, order)) in judged.iter().zip(&ranked).enumerate() {
                let mut units: BTreeMap<String, i64> = BTreeMap::new();
                for (docno, grade) in grades {
                    let most = units.entry(unit(docno)).or_insert(*grade);
                    *most = (*most).max(*grade);
                }
                let documents = order.iter().map(|(_, docno)| docno.clone());
                let mut seen = BTreeSet::new();
                let (documents, grades): (Vec<String>, BTreeMap<String, i64>) = match treatment {
                    "given" => (documents.collect(), grades.clone()),
                    "unified" => {
                        let own = grades
                            .keys()
                            .map(|docno| (docno.clone(), units[&unit(docno)]));
                        (documents.collect(), own.collect())
                    }
                    "irrelevant" => {
                        let name = |docno: String| match seen.insert(unit(&docno)) {
                            true => unit(&docno),
                            false => docno + " again",
                        };
                        (documents.map(name).collect(), units)
                    }
                    _ => {
                        let named = documents.map(|docno| unit(&docno));
                        let kept = named.filter(|unit| seen.insert(unit.clone()));
                        let kept =
                            kept.filter(|unit| treatment == "removed" || units.contains_key(unit));
                        (kept.collect(), units.clone())
                    }
                };
                let values = metrics(&documents, &grades);
                let cells = values.map(|value| format!("{value:.6}")).join("\t");
                if treatment == "removed" {
                    let (documents, grades) = &written[topic];
                    assert_eq!(metrics(documents, grades), values, "{seed}");
                }
                assert_eq!(
                    lines.next(),
                    Some(&*format!("run.txt\t{treatment}\t{topic}\t{cells}")),
                    "{seed}"
                );
                sums = std::array::from_fn(|n| sums[n] + values[n]);
            }
            let cells = sums.map(|sum| format!("{:.6}", sum / 3.0)).join("\t");
            assert_eq!(
                lines.next(),
                Some(&*format!("run.txt\t{treatment}\tall\t{cells}")),
                "{seed}"
            );
        }
        assert_eq!(lines.next(), None);
    }
}
