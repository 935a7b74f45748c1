//! `--results parquet`: the lists of documents as tables say what the text files say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{call, dedup, done, lines, place, written};
use crate::common::{cells_of, copy_directory, one_in, parquet_rows, sample_corpora};

type Row = BTreeMap<String, Value>;

/// A score as text, to six decimals.
fn rounded(value: &Value) -> Value {
    match value.as_f64() {
        Some(score) => json!((score * 1e6).round() / 1e6),
        None => Value::Null,
    }
}

/// Returns a line of `removed.jsonl` with a member for each column.
fn flat(line: &Value) -> Row {
    let mut row = Row::new();
    for (name, value) in line.as_object().unwrap() {
        match value.as_object() {
            Some(survivor) => row.extend(
                survivor
                    .iter()
                    .map(|(name, value)| (format!("survivor_{name}"), value.clone())),
            ),
            None => _ = row.insert(name.clone(), value.clone()),
        }
    }
    row
}

/// Compares `removed.parquet` with `removed.jsonl` of another call, and with the documents of the
/// run. Returns the reasons.
fn compare(place: &Path, table: &str, text: &str, what: &str) -> Vec<String> {
    let documents = parquet_rows(&place.join("run/documents.parquet"));
    let rows = parquet_rows(&place.join(table));
    let lines = lines(&place.join(text));
    assert_eq!(rows.len(), lines.len(), "{what}");
    let mut reasons = Vec::new();
    for (row, line) in rows.into_iter().zip(lines) {
        let mut expected = flat(&line);
        let mut found = row.clone();
        for side in ["", "survivor_"] {
            let number = found.remove(&format!("{side}document")).unwrap();
            let Some(number) = number.as_u64() else {
                assert_eq!(expected.get("survivor_docno"), None, "{what}: {line}");
                continue;
            };
            for name in ["docno", "file", "record"] {
                let document = &documents[number as usize][name];
                assert_eq!(document, &row[&format!("{side}{name}")], "{what}: {line}");
            }
        }
        found.retain(|_, value| !value.is_null());
        for score in ["resemblance", "score"] {
            if let Some(value) = found.get_mut(score) {
                assert!(value.is_f64());
                *value = rounded(value);
            }
            if let Some(value) = expected.get_mut(score) {
                *value = rounded(value);
            }
        }
        assert_eq!(found, expected, "{what}");
        reasons.push(row["reason"].as_str().unwrap().to_string());
    }
    reasons
}

#[test]
fn removed_documents_are_those_of_the_text_file() {
    let mut reasons = Vec::new();
    let formats = ["jsonl", "trec-web", "trec-sgml", "warc", "mail", "files"];
    for (turn, format) in formats.into_iter().enumerate() {
        let (_guard, place) = place(&[
            ("in/empty.txt", b""),
            ("in/odd\tname.txt", b"one two three"),
            ("in/other.txt", b"one two three"),
        ]);
        copy_directory(&sample_corpora(format), &place.join("in/samples"));
        done(
            &place,
            "run in -o run --threshold 0.5 --quiet --results parquet",
        );
        done(
            &place,
            "run in -o contained --threshold 0.8 --score containment --quiet",
        );
        for (n, how) in [
            "--from run --rule star --empty drop",
            "--from run --rule cluster",
            "--from run --rule none",
            "--from contained --keep last",
        ]
        .iter()
        .enumerate()
        .skip((turn + 1) % one_in(2))
        .step_by(one_in(2))
        {
            let what = format!("{format} {how}");
            let text = dedup(&place, &format!("{how} -o a{n} --removed b{n}"));
            let call = format!("{how} -o c{n} --removed d{n} --results parquet");
            assert_eq!(dedup(&place, &call), text, "{what}");
            let (table, lines) = (
                format!("d{n}/removed.parquet"),
                format!("b{n}/removed.jsonl"),
            );
            reasons.extend(compare(&place, &table, &lines, &what));

            // The copies are the same, and no other list is there.
            let [mut texts, mut tables] =
                ["b", "d"].map(|name| written(&place.join(format!("{name}{n}"))));
            texts.remove("removed.jsonl").unwrap();
            let bytes = tables.remove("removed.parquet").unwrap();
            let kept = ["jsonl", "parquet"].map(|end| format!("referred.{end}"));
            assert_eq!(
                texts.remove(&kept[0]).is_some(),
                tables.remove(&kept[1]).is_some()
            );
            assert!(texts == tables, "{what}");
            let [texts, tables] = ["a", "c"].map(|name| written(&place.join(format!("{name}{n}"))));
            assert!(texts == tables, "{what}");

            // A list for programs that filter by themselves.
            dedup(&place, &format!("{how} -o e{n} --ids-only"));
            dedup(
                &place,
                &format!("{how} -o f{n} --ids-only --results parquet"),
            );
            let mut lists = written(&place.join(format!("f{n}")));
            lists.remove("referred.parquet");
            assert!(
                lists.keys().eq(["kept.parquet", "removed.parquet"]),
                "{what}"
            );
            assert!(lists["removed.parquet"] == bytes, "{what}");
            let kept = parquet_rows(&place.join(format!("f{n}/kept.parquet")));
            let expected = cells_of(&place.join(format!("e{n}/kept.tsv")));
            assert_eq!(kept.len(), expected.len());
            for (mut row, text) in kept.into_iter().zip(expected) {
                row.remove("document").unwrap();
                let row: BTreeMap<String, String> = row
                    .into_iter()
                    .map(|(name, value)| match value {
                        Value::String(text) => (name, text),
                        // A document that is not a capture has no address.
                        Value::Null => (name, String::new()),
                        value => (name, value.to_string()),
                    })
                    .collect();
                assert_eq!(row, text, "{what}");
            }
        }
    }
    for reason in [
        "identical",
        "near",
        "chain",
        "contained",
        "cluster",
        "empty",
    ] {
        assert!(reasons.iter().any(|found| found == reason), "{reason}");
    }
}

/// Lists in another format belong to the same deduplication.
#[test]
fn a_directory_may_have_both_lists() {
    let (_guard, place) = place(&[]);
    copy_directory(&sample_corpora("jsonl"), &place.join("in"));
    let first = dedup(&place, "in -o kept --removed removed");
    let before = written(&place.join("removed"));
    let again = "in -o kept --removed removed --results parquet";
    assert_eq!(dedup(&place, again), first);
    let mut after = written(&place.join("removed"));
    assert!(after.remove("removed.parquet").is_some());
    assert!(after == before);
    assert!(place.join("kept.work/pairs.parquet").exists());
    done(&place, "check verify kept.work");
    // With every list in place, nothing is left of the writing.
    let left: Vec<_> = fs::read_dir(place.join("removed/.lookalike"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

/// The evidence has a name, too.
#[test]
fn an_input_does_not_replace_the_table() {
    let rows = fs::read(sample_corpora("jsonl/text.jsonl.zst")).unwrap();
    let (_guard, place) = place(&[("in/removed.parquet", &rows)]);
    let ran = call(
        &place,
        "dedup in -o kept --removed removed --results parquet",
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("removed.parquet"), "{}", ran.stderr);
    dedup(&place, "in -o kept --removed removed --work work");
    assert!(place.join("removed/removed.jsonl").exists());
}
