//! `--exclude-text`: what documents have from a template does not make them duplicates.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{call, dedup, done, place};
use crate::common::{rows_of, sample_corpora};

/// Sentences of a template, and an answer.
fn text(answer: &str) -> String {
    let template: String = (0..40)
        .map(|n| format!("Question {n}: explain topic {n}. "))
        .collect();
    template + answer
}

fn answer(of: usize) -> String {
    (0..15).map(|n| format!("word{} ", n * of)).collect()
}

fn write(place: &Path) {
    fs::write(place.join("template.txt"), text("")).unwrap();
    fs::create_dir(place.join("in")).unwrap();
    let answers = [
        answer(1),
        answer(2),
        answer(3),
        answer(2) + "and more",
        answer(1),
    ];
    for (n, answer) in answers.iter().enumerate() {
        fs::write(place.join(format!("in/{n}.txt")), text(answer)).unwrap();
    }
    fs::write(place.join("in/5.txt"), text("")).unwrap();
}

fn kept(summary: &Value) -> u64 {
    summary["kept"].as_u64().unwrap()
}

#[test]
fn answers_to_a_template_are_compared_alone() {
    let (_guard, place) = place(&[]);
    write(&place);
    let all = dedup(&place, "in -o all --threshold 0.6");
    assert_eq!(kept(&all), 1);
    let with = "--exclude-text template.txt --threshold 0.6";
    let apart = dedup(&place, &format!("in -o kept --removed gone {with}"));
    // Two copies, and an answer with two more words. The template alone resembles nothing.
    assert_eq!(kept(&apart), 4);
    let (removed, expected) = (&apart["removed"], (json!(1), json!(1)));
    assert_eq!(
        (&removed["identical"], &removed["near"]),
        (&expected.0, &expected.1)
    );
    assert!(place.join("kept/5.txt").exists());

    // The search of a run is the same, and its directory says what is excluded.
    done(&place, &format!("run in -o run {with} --quiet"));
    let from = dedup(&place, "--from run -o again");
    assert_eq!(kept(&from), 4);
    let pairs = fs::read_to_string(place.join("run/pairs.tsv")).unwrap();
    assert!(pairs.contains("\n# exclude-text: "), "{pairs}");
    let summary = fs::read_to_string(place.join("run/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let excluded = &summary["collection"]["shingle"]["excluded"];
    assert_eq!(excluded["texts"], 1);
    assert!(excluded["shingles"].as_u64() > Some(100) && excluded["keys"].is_null());
    let said = done(&place, "status run").stdout;
    assert!(said.contains("excluded"), "{said}");
}

#[test]
fn queries_and_additions_leave_out_the_same() {
    let (_guard, place) = place(&[]);
    write(&place);
    let with = "--exclude-text template.txt --threshold 0.6 --quiet";
    done(
        &place,
        &format!("run in/0.txt in/1.txt in/2.txt -o run {with}"),
    );
    done(&place, &format!("run in -o whole {with}"));
    fs::create_dir(place.join("new")).unwrap();
    fs::write(place.join("new/q.txt"), text(&(answer(3) + "and more"))).unwrap();
    for _ in 0..2 {
        let said = done(&place, "query run new/q.txt --json --quiet").stdout;
        let found: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&found["found"], &found["matches"][0]["docno"]),
            (&json!(1), &json!("2.txt"))
        );
        let said = done(&place, "query run template.txt --json --quiet").stdout;
        let found: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&found["found"], &found["keys_query"]),
            (&json!(0), &json!(0))
        );
        done(&place, "stage index run --quiet");
    }
    done(&place, "add run in/3.txt in/4.txt in/5.txt --quiet");
    for name in ["pairs.tsv", "exact-duplicates.tsv"] {
        assert_eq!(
            rows_of(&place.join("run"), name),
            rows_of(&place.join("whole"), name)
        );
    }
    // Another template is another collection.
    fs::write(
        place.join("other.txt"),
        text("and another sentence of eleven words that is not in it"),
    )
    .unwrap();
    for with in ["", "--exclude-text other.txt"] {
        let ran = call(&place, &format!("run in new -o run --threshold 0.6 {with}"));
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("--exclude-text"), "{}", ran.stderr);
    }
    let ran = call(&place, "run new -o compared --against run --threshold 0.6");
    assert!(ran.stderr.contains("--exclude-text"), "{}", ran.stderr);
    done(&place, &format!("run new -o compared --against run {with}"));
    assert_eq!(rows_of(&place.join("compared"), "pairs.tsv").len(), 1);
}

#[test]
fn texts_that_cannot_be_excluded_are_refused() {
    let (_guard, place) = place(&[]);
    write(&place);
    let words: String = (0..300_000).map(|n| format!("w{n} ")).collect();
    fs::write(place.join("long.txt"), words).unwrap();
    fs::write(place.join("empty.txt"), "").unwrap();
    fs::write(
        place.join("rejected.jsonl"),
        "{\"id\": \"a\"}\n{\"id\": \"b\", \"text\": \"x\"}\n",
    )
    .unwrap();
    for (with, says) in [
        (
            "--exclude-text long.txt",
            "more than 262,144 different shingles",
        ),
        ("--exclude-text empty.txt", "empty.txt"),
        ("--exclude-text rejected.jsonl", "no text field"),
        ("--exclude-text missing.txt", "missing.txt"),
        ("--exclude-text -", "give a file"),
        (
            "--exclude-text template.txt --method i-match",
            "cannot be used with",
        ),
    ] {
        let ran = call(&place, &format!("run in -o out {with}"));
        assert_ne!(ran.code, Some(0), "{with}: {ran:?}");
        assert!(ran.stderr.contains(says), "{with}: {}", ran.stderr);
        assert!(!place.join("out").exists());
    }
    done(
        &place,
        "run in -o run --keep-text --exclude-text template.txt --quiet",
    );
    for command in ["lab method i-match run", "plan run"] {
        let ran = call(&place, command);
        assert!(
            ran.stderr.contains("it was made with --exclude-text"),
            "{command}: {ran:?}"
        );
    }
    // Real texts: without the words of one of them, it has no pairs, and no others appear.
    let input = sample_corpora("files");
    let input = input.display();
    done(
        &place,
        &format!("run {input} -o all --threshold 0.5 --quiet"),
    );
    let pairs = rows_of(&place.join("all"), "pairs.tsv");
    let name = pairs[0].split('\t').next().unwrap();
    let file = fs::read_to_string(place.join("all/documents.tsv")).unwrap();
    let file = file
        .lines()
        .find(|line| line.starts_with(&format!("{name}\t")))
        .unwrap();
    let file = file.split('\t').nth(7).unwrap();
    let with = format!("--exclude-text {input}/{file}");
    done(
        &place,
        &format!("run {input} -o without --threshold 0.5 {with} --quiet"),
    );
    let left = rows_of(&place.join("without"), "pairs.tsv");
    assert!(
        left.iter()
            .all(|row| !row.split('\t').take(2).any(|docno| docno == name))
    );
    assert!(left.len() < pairs.len());
}
