//! Means over queries and pure clusters, against their definitions on the pairs that were written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::{self, rows_of};
use crate::methods::{ask, corpus, keeping, place, write};
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::methods::Spec;
use lookalike_lab::compare::{CompareConfig, Comparison, QueryRow, Sample};
use lookalike_lab::report;

const SPECS: [&str; 3] = ["cosine:threshold=0.5", "mod:n=20", "i-match:preset=kolcz"];

/// Compares methods; the cosine is the ground truth.
fn compared(out: &Path, input: &Path, config: CompareConfig) -> Result<Comparison, Error> {
    let run = keeping();
    let mut base = run.ingest(&[input], out).unwrap();
    let specs = || SPECS.map(|text| Spec::read(text).unwrap()).into();
    let config = CompareConfig {
        methods: specs(),
        truths: vec![Spec::read(SPECS[0]).unwrap()],
        cost: 3,
        ..config
    };
    let (stop, silent) = (Stop::default(), Silent);
    report::write_comparison(&mut base, &config, &run.context(&stop, &silent))
}

/// The pairs of a method, by docno, each in both orders.
fn pairs(out: &Path, spec: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows_of(&place(out, spec), "pairs.tsv") {
        let mut fields = row.split('\t').map(String::from);
        let (a, b) = (fields.next().unwrap(), fields.next().unwrap());
        found.entry(a.clone()).or_default().insert(b.clone());
        found.entry(b).or_default().insert(a);
    }
    found
}

/// The clusters of a method, without exact duplicates of earlier documents.
fn clusters(out: &Path, spec: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(place(out, spec).join("clusters.jsonl")).unwrap();
    let of = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let members = line["members"].as_array().unwrap().iter();
        let members = members.filter(|member| member["kind"] != "exact");
        let docno = |member: &serde_json::Value| member["docno"].as_str().unwrap().to_string();
        members.map(docno).collect::<Vec<_>>()
    };
    let all = text.lines().map(of);
    all.filter(|members| members.len() > 1).collect()
}

/// Returns the rows of a method by the definitions.
fn expected(
    out: &Path,
    spec: &str,
    queries: &BTreeSet<String>,
    labels: Option<&BTreeMap<String, String>>,
) -> QueryRow {
    let (found, truth) = (pairs(out, spec), pairs(out, SPECS[0]));
    let none = BTreeSet::new();
    let of = |map: &BTreeMap<String, BTreeSet<String>>, docno: &String| {
        map.get(docno).unwrap_or(&none).clone()
    };
    let mut row = QueryRow {
        method: spec.into(),
        truth: SPECS[0].into(),
        ..QueryRow::default()
    };
    let (mut recalls, mut precisions, mut utilities) = (Vec::new(), Vec::new(), Vec::new());
    for query in queries {
        let (found, truth) = (of(&found, query), of(&truth, query));
        let both = found.intersection(&truth).count() as f64;
        if !truth.is_empty() {
            recalls.push(both / truth.len() as f64);
            if !found.is_empty() {
                precisions.push(both / found.len() as f64);
            }
        }
        let (mut right, mut wrong) = (0, 0);
        for other in &found {
            let same = match labels {
                None => Some(truth.contains(other)),
                Some(of) => of.get(query).zip(of.get(other)).map(|(a, b)| a == b),
            };
            right += i64::from(same == Some(true));
            wrong += i64::from(same == Some(false));
        }
        row.wrong += wrong as u64;
        utilities.push((right - 3 * wrong) as f64);
    }
    let mean = |of: &[f64]| (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64);
    row.with_neighbours = recalls.len() as u64;
    (row.recall, row.precision) = (mean(&recalls), mean(&precisions));
    row.utility = mean(&utilities);
    for cluster in clusters(out, spec) {
        row.clusters += 1;
        let wrong = |a: &&String| of(&found, a).iter().any(|b| !of(&truth, a).contains(b));
        row.pure += u64::from(!cluster.iter().any(|a| wrong(&a)));
        if let Some(labels) = labels {
            let of: Vec<&String> = cluster.iter().filter_map(|id| labels.get(id)).collect();
            row.labelled += u64::from(of.len() > 1);
            let same = of.iter().all(|label| *label == of[0]);
            row.pure_by_label += u64::from(of.len() > 1 && same);
        }
    }
    row
}

fn same(found: &QueryRow, expected: &QueryRow, context: &str) {
    let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    };
    let shares = [
        (found.recall, expected.recall),
        (found.precision, expected.precision),
        (found.utility, expected.utility),
    ];
    assert!(
        shares.into_iter().all(|(a, b)| near(a, b)),
        "{context}: {found:?} {expected:?}"
    );
    let counts = |row: &QueryRow| QueryRow {
        recall: None,
        increase: None,
        precision: None,
        utility: None,
        ..row.clone()
    };
    assert_eq!(counts(found), counts(expected), "{context}");
}

#[test]
fn means_over_queries_follow_their_definitions() {
    let documents = corpus(5);
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("out"),
    );
    write(&documents, &input);
    let run = keeping();
    for spec in SPECS {
        ask(&run, spec, &input, &out).unwrap();
    }
    // Exact duplicates count once.
    let mut texts = BTreeSet::new();
    let first: BTreeSet<String> = documents
        .iter()
        .filter(|(_, text)| texts.insert(text.clone()))
        .map(|(id, _)| id.clone())
        .collect();
    // Labels that cut across the families, and documents without one.
    let labels: BTreeMap<String, String> = first
        .iter()
        .enumerate()
        .filter(|(n, _)| n % 5 > 0)
        .map(|(n, id)| (id.clone(), ["spam", "ham"][n / 7 % 2].to_string()))
        .collect();
    let lines: Vec<String> = labels
        .iter()
        .map(|(id, label)| format!("{id}\t{label}\n"))
        .collect();
    let file = directory.path().join("labels.tsv");
    fs::write(&file, lines.concat()).unwrap();
    let listed = directory.path().join("queries.txt");
    let some: BTreeSet<String> = first.iter().step_by(3).cloned().collect();
    let names: Vec<&str> = some.iter().map(String::as_str).collect();
    fs::write(&listed, names.join("\n") + "\n").unwrap();
    let mut seen = [0u64; 4];
    for (sample, queries) in [
        (Sample::All, &first),
        (Sample::Listed(listed.clone()), &some),
    ] {
        for labels in [None, Some(&labels)] {
            let config = CompareConfig {
                queries: Some(sample.clone()),
                baseline: Some(Spec::read(SPECS[1]).unwrap()),
                labels: labels.map(|_| file.clone()),
                ..CompareConfig::default()
            };
            let comparison = compared(&out, &input, config).unwrap();
            let found = comparison.queries.as_ref().unwrap();
            assert_eq!(found.queries as usize, queries.len());
            assert_eq!(
                found.labelled.map(|n| n as usize),
                labels.map(BTreeMap::len)
            );
            for (row, spec) in found.rows.iter().zip(SPECS) {
                same(
                    row,
                    &expected(&out, spec, queries, labels),
                    &format!("{spec} {sample:?}"),
                );
                seen[0] += row.wrong;
                seen[1] += row.clusters - row.pure;
                seen[2] += row.labelled - row.pure_by_label;
                seen[3] += u64::from(
                    row.recall
                        .is_some_and(|recall| recall > 0.0 && recall < 1.0),
                );
            }
            let base = found.rows[1].recall.unwrap();
            let increase = found.rows[2].recall.unwrap() / base - 1.0;
            assert!((found.rows[2].increase.unwrap() - increase).abs() < 1e-9);
            let csv = fs::read_to_string(out.join("compare/queries.csv")).unwrap();
            assert_eq!(csv.lines().count(), 1 + SPECS.len());
            let shown = report::compared(&comparison, 100);
            let with = format!(
                "{} of them with another document",
                found.rows[0].with_neighbours
            );
            assert!(shown.replace('\n', " ").contains(&with), "{shown}");
            let page = fs::read_to_string(out.join("compare/compare.html")).unwrap();
            assert!(page.contains("id=\"queries\""));
        }
    }
    assert!(seen.iter().all(|n| *n > 0), "nothing was tested: {seen:?}");
    // A random sample has the size that was asked for.
    let config = |sample| CompareConfig {
        queries: Some(sample),
        query_seed: 1,
        ..CompareConfig::default()
    };
    let ten = compared(&out, &input, config(Sample::Some(10))).unwrap();
    assert_eq!(ten.queries.unwrap().queries, 10);
    // A docno of another collection is an error that names the line.
    fs::write(&listed, "d1-0\nnobody\n").unwrap();
    let error = compared(&out, &input, config(Sample::Listed(listed)))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2") && error.contains("nobody"),
        "{error}"
    );
    let none = compared(&out, &input, config(Sample::Some(0)))
        .unwrap_err()
        .to_string();
    assert!(none.contains("at least 1"), "{none}");
}
