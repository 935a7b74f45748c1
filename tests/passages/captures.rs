//! Captures in the tables of passages: their addresses and dates in every row, and the earlier one of
//! two first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::reuse::{Doc, addressed, documents, write};
use super::support::{call, passages, program};
use crate::common::{cells_of, parquet_rows, temporary};
use serde_json::Value;

type Row = BTreeMap<String, String>;

/// The rows of a table in both formats, which are the same.
fn rows(out: &Path, name: &str) -> Vec<Row> {
    let rows = cells_of(&out.join(name));
    let values = parquet_rows(&out.join(name.replace(".tsv", ".parquet")));
    assert_eq!(rows.len(), values.len(), "{name}");
    for (row, values) in rows.iter().zip(values) {
        for (column, value) in values {
            let text = match value {
                Value::String(text) => text,
                Value::Null => String::new(),
                Value::Number(number) if number.is_f64() => continue,
                other => other.to_string(),
            };
            assert_eq!(
                row[&column].trim_start_matches('-'),
                text,
                "{name}: {row:?}"
            );
        }
    }
    rows
}

/// Checks the last cells of all rows of a table; returns the rows without them and without numbers of
/// documents and passages.
fn checked(out: &Path, name: &str, docs: &[Doc]) -> BTreeSet<String> {
    let without = |mut row: Row| {
        for end in ["", "_a", "_b"] {
            let Some(docno) = row.get(&format!("docno{end}")) else {
                continue;
            };
            let doc = &docs[docno[1..].parse::<usize>().unwrap()];
            let is_place = row.contains_key("capture_date");
            let date = if is_place {
                "capture_date".into()
            } else {
                format!("date{end}")
            };
            let cells = [format!("url{end}"), date].map(|name| row.remove(&name));
            let url = doc.url.as_ref().filter(|_| doc.date.is_some());
            let expected = [url, doc.date.as_ref()];
            assert_eq!(
                cells,
                expected.map(|it| Some(it.cloned().unwrap_or_default())),
                "{row:?}"
            );
            row.remove(&format!("document{end}"));
        }
        for name in ["file", "record", "passage"] {
            row.remove(name);
        }
        format!("{row:?}")
    };
    rows(out, name).into_iter().map(without).collect()
}

const TABLES: [&str; 9] = [
    "spans.tsv",
    "removable.tsv",
    "coverage.tsv",
    "common.tsv",
    "common-places.tsv",
    "boilerplate.tsv",
    "boilerplate-places.tsv",
    "matches.tsv",
    "overlaps.tsv",
];
const HOW: &str = "--length 4 --max-documents 3 --by source --results parquet";

/// The tables of captures in any order are those of the same texts in the order of their dates.
#[test]
fn rows_state_captures_and_the_earlier_one_is_first() {
    let home = temporary();
    let at = home.path();
    let mut swapped = 0;
    for seed in [3, 9, 14] {
        let place = at.join(seed.to_string());
        fs::create_dir(&place).unwrap();
        let mut docs = documents(seed, 14, 25);
        addressed(&mut docs);
        // No two have the same date.
        let shuffled = |n: usize| n * 5 % 14;
        for (n, doc) in docs.iter_mut().enumerate() {
            doc.date = Some(format!("2024-01-01T00:00:{:02}Z", shuffled(n)));
        }
        write(&docs, &place.join("in"), 4);
        passages(&place, &format!("in -o out {HOW} --threads 2"));
        let of = |name| checked(&place.join("out"), name, &docs);
        let found = TABLES.map(of);
        assert!(found.iter().all(|rows| !rows.is_empty()), "{found:?}");
        let pairs = cells_of(&place.join("out/overlaps.tsv"));
        let numbers =
            |row: &Row| [&row["document_a"], &row["document_b"]].map(|n| n.parse::<u32>().unwrap());
        let numbers: Vec<[u32; 2]> = pairs.iter().map(numbers).collect();
        assert!(numbers.is_sorted());
        swapped += numbers.iter().filter(|[a, b]| a > b).count();

        // The same texts without dates, in the order of their dates.
        let mut lines: Vec<(usize, String)> = (docs.iter().enumerate())
            .map(|(n, doc)| {
                let line = serde_json::json!({"id": format!("d{n}"), "text": doc.words.join(" ")});
                (shuffled(n), format!("{line}\n"))
            })
            .collect();
        lines.sort();
        let lines: String = lines.into_iter().map(|(_, line)| line).collect();
        fs::write(place.join("ordered.jsonl"), lines).unwrap();
        passages(
            &place,
            &format!("ordered.jsonl -o ordered {HOW} --threads 1"),
        );
        for (name, found) in TABLES.iter().zip(found).skip(7) {
            let expected = cells_of(&place.join("ordered").join(name)).into_iter();
            let expected = expected.map(|mut row| {
                assert!(!row.contains_key("url_a"));
                row.retain(|column, _| !column.starts_with("document"));
                format!("{row:?}")
            });
            assert_eq!(
                found,
                expected.collect::<BTreeSet<_>>(),
                "{name}, seed {seed}"
            );
        }
    }
    assert!(swapped > 5, "{swapped}");
}

#[test]
fn the_page_and_the_terminal_name_captures() {
    let home = temporary();
    let at = home.path();
    let words = |from: usize, to: usize| (from..to).map(|n| format!("w{n}")).collect();
    let doc = |words, second: usize, page: &str| Doc {
        words,
        date: Some(format!("2024-01-01T00:00:0{second}Z")),
        url: Some(format!("http://e.org/{page}")),
    };
    let docs = [
        doc(words(0, 60), 5, "late"),
        doc(words(20, 90), 1, "early"),
        doc(words(200, 230), 3, "other"),
    ];
    write(&docs, &at.join("in"), 1);
    let ran = call(at, "in -o out --length 20 --report --threads 1", None);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The beginnings of long names are left out.
    let line = ran.stdout.lines().find(|line| line.contains("early"));
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    let ends = [
        "early",
        "2024-01-01T00:00:01Z",
        "late",
        "2024-01-01T00:00:05Z",
    ];
    let mut ends = words.iter().zip(ends);
    assert!(ends.all(|(word, end)| word.ends_with(end)), "{words:?}");
    let page = fs::read_to_string(at.join("out/report.html")).unwrap();
    for said in [
        "Of two captures, the first is the earlier one",
        "The first is the earlier one.",
        "the document: 2024-01-01T00:00:05Z",
        "id=\"pair-1-0\"",
        "http://e.org/early",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

/// Captures that contain items of a test set are named by their addresses and dates, and the bytes of
/// other corpora are as before.
#[test]
fn contaminated_captures_are_named() {
    let home = temporary();
    let at = home.path();
    let mut docs = documents(5, 8, 30);
    addressed(&mut docs);
    for (n, doc) in docs.iter_mut().enumerate() {
        let own = (0..30).map(|word| format!("d{}w{word}", n / 2));
        doc.words.extend(own);
    }
    write(&docs, &at.join("in"), 2);
    for doc in &mut docs {
        doc.url = None;
    }
    write(&docs, &at.join("plain"), 2);
    let item = |n: usize| {
        let text: String = (3..25).map(|word| format!("d{n}w{word} ")).collect();
        serde_json::json!({"id": format!("i{n}"), "text": text}).to_string() + "\n"
    };
    fs::write(at.join("test.jsonl"), (0..5).map(item).collect::<String>()).unwrap();
    for corpus in ["in", "plain"] {
        let line = format!("contamination {corpus} --test-set test.jsonl -o {corpus}.out --quiet");
        assert!(program(at, &line));
    }
    addressed(&mut docs);
    let named = |row: &Row, before: &str| {
        let cell = |name: &str| row.get(&format!("{before}{name}")).cloned();
        [cell("docno"), cell("url"), cell("date")]
    };
    let expected = |docno: &str| {
        let number = docno
            .strip_prefix('d')
            .and_then(|number| number.parse::<usize>().ok());
        let doc = number
            .map(|number| &docs[number])
            .filter(|doc| doc.date.is_some());
        let url = doc.and_then(|doc| doc.url.clone()).unwrap_or_default();
        [
            Some(docno.into()),
            Some(url),
            Some(doc.and_then(|doc| doc.date.clone()).unwrap_or_default()),
        ]
    };
    let mut dated = 0;
    for (name, before, docs) in [("items.tsv", "best_", 4), ("drop.tsv", "", 8)] {
        let rows = cells_of(&at.join("in.out").join(name));
        let plain = cells_of(&at.join("plain.out").join(name));
        assert_eq!(
            rows.iter()
                .filter(|row| !row[&format!("{before}docno")].is_empty())
                .count(),
            docs
        );
        assert_eq!(rows.len(), plain.len());
        for (row, plain) in rows.iter().zip(&plain) {
            let of = named(row, before);
            assert_eq!(of, expected(of[0].as_ref().unwrap()), "{row:?}");
            assert_eq!(named(plain, before), [of[0].clone(), None, None]);
            dated += usize::from(of[2] != Some(String::new()));
        }
    }
    for line in fs::read_to_string(at.join("in.out/contaminated.jsonl"))
        .unwrap()
        .lines()
    {
        let line: Value = serde_json::from_str(line).unwrap();
        for listed in line["listed"].as_array().unwrap() {
            let text = |name: &str| Some(listed[name].as_str().unwrap_or_default().to_string());
            assert_eq!(
                [text("docno"), text("url"), text("date")],
                expected(&text("docno").unwrap())
            );
        }
    }
    assert!(dated > 5, "{dated}");
}
