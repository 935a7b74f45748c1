//! `--exclude-text`: windows of the excluded texts are no passages.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

use serde_json::json;

use super::support::{passages, refused, texts, tokens};
use crate::common::{one_in, rows_of, temporary};

fn write(file: &Path, texts: &[String]) {
    let lines = texts
        .iter()
        .enumerate()
        .map(|(at, text)| json!({"id": format!("d{at}"), "text": text}).to_string() + "\n");
    fs::write(file, lines.collect::<String>()).unwrap();
}

fn words(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|(_, word)| word).collect()
}

type Span = (String, usize, usize);
type Match = (String, String, usize, usize, usize);

/// The spans, and the matches, by the definitions.
fn expected(all: &[String], excluded: &[String], k: usize) -> (BTreeSet<Span>, BTreeSet<Match>) {
    let windows = |texts: &[String]| -> Vec<Vec<Vec<String>>> {
        let of = |text: &String| words(text).windows(k).map(<[String]>::to_vec).collect();
        texts.iter().map(of).collect()
    };
    let gone: HashSet<Vec<String>> = windows(excluded).into_iter().flatten().collect();
    let grams = windows(all);
    let mut counts: HashMap<&Vec<String>, usize> = HashMap::new();
    for gram in grams.iter().flatten() {
        *counts.entry(gram).or_default() += 1;
    }
    let repeated = |gram: &Vec<String>| counts[gram] > 1 && !gone.contains(gram);
    let (mut spans, mut matches) = (BTreeSet::new(), BTreeSet::new());
    for (n, of) in grams.iter().enumerate() {
        let mut marks = vec![false; of.len() + k + 1];
        for at in (0..of.len()).filter(|&at| repeated(&of[at])) {
            marks[at..at + k].fill(true);
        }
        let mut begin = None;
        for (at, mark) in marks.into_iter().enumerate() {
            match (begin, mark) {
                (None, true) => begin = Some(at),
                (Some(from), false) => {
                    spans.insert((format!("d{n}"), from, at));
                    begin = None;
                }
                _ => {}
            }
        }
        for (m, other) in grams.iter().enumerate().skip(n + 1) {
            let same = |i: usize, j: usize| {
                let both = of.get(i).zip(other.get(j));
                both.is_some_and(|(a, b)| a == b && !gone.contains(a))
            };
            for i in 0..of.len() {
                for j in 0..other.len() {
                    if !same(i, j) || i > 0 && j > 0 && same(i - 1, j - 1) {
                        continue;
                    }
                    let length = (0..).take_while(|n| same(i + n, j + n)).count();
                    matches.insert((format!("d{n}"), format!("d{m}"), i, j, length + k - 1));
                }
            }
        }
    }
    (spans, matches)
}

fn cells(out: &Path, name: &str) -> Vec<Vec<String>> {
    let rows = rows_of(out, name);
    let cells = |row: &String| row.split('\t').map(str::to_string).collect();
    rows.iter().map(cells).collect()
}

fn found(out: &Path) -> (BTreeSet<Span>, BTreeSet<Match>) {
    let number = |cell: &String| cell.parse::<usize>().unwrap();
    let spans = cells(out, "spans.tsv").into_iter();
    let spans = spans.map(|row| (row[0].clone(), number(&row[1]), number(&row[2])));
    let matches = cells(out, "matches.tsv").into_iter().map(|row| {
        let [a, b, tokens] = [&row[2], &row[3], &row[4]].map(number);
        (row[0].clone(), row[1].clone(), a, b, tokens)
    });
    (spans.collect(), matches.collect())
}

#[test]
fn windows_of_excluded_texts_are_no_passages() {
    let mut changed = 0;
    for seed in 0..60 / one_in(4) as u64 {
        let place = temporary();
        let place = place.path();
        let all = texts(seed);
        let k = [1, 2, 3, 5, 13][seed as usize % 5];
        // Parts of some texts, which texts share.
        let part = |text: &String| {
            let words: Vec<&str> = text.split(' ').collect();
            let (from, to) = (words.len() / 5, words.len() * 4 / 5);
            words[from..to].join(" ")
        };
        let parts: Vec<String> = all.iter().step_by(2).map(part).collect();
        let excluded = parts.into_iter().filter(|text| !words(text).is_empty());
        let excluded: Vec<String> = excluded.collect();
        if excluded.is_empty() {
            continue;
        }
        write(&place.join("in.jsonl"), &all);
        write(&place.join("ex.jsonl"), &excluded);
        let expected = expected(&all, &excluded, k);
        let mut files: Option<BTreeMap<_, _>> = None;
        for threads in [1, 2] {
            let out = place.join(format!("out{threads}"));
            let with = format!("--length {k} --exclude-text ex.jsonl --threads {threads}");
            passages(place, &format!("in.jsonl -o out{threads} {with}"));
            assert_eq!(found(&out), expected, "seed {seed}, {k}");
            let names = ["spans.tsv", "matches.tsv", "removable.tsv", "common.tsv"];
            let read = |name: &&'static str| (*name, fs::read_to_string(out.join(name)).unwrap());
            let now: BTreeMap<_, _> = names.iter().map(read).collect();
            assert!(now["spans.tsv"].contains("\n# exclude-text: "));
            assert!(files.is_none_or(|before| before == now), "seed {seed}");
            files = Some(now);
        }
        let before = found(&place.join("out1"));
        passages(place, &format!("out1 --length {k}"));
        changed += usize::from(found(&place.join("out1")) != before);
    }
    assert!(changed * one_in(4) > 20, "{changed}");
}

#[test]
fn files_that_cannot_be_excluded_are_refused() {
    let place = temporary();
    let place = place.path();
    fs::write(place.join("in.txt"), "some words of a text").unwrap();
    fs::write(place.join("empty.txt"), "").unwrap();
    for (file, says) in [("empty.txt", "empty.txt"), ("-", "give a file")] {
        let said = refused(place, &format!("in.txt -o out --exclude-text {file}"));
        assert!(said.contains(says), "{said}");
    }
    let said = refused(place, "in.txt -o out --exclude-text in.txt --unit line");
    assert!(said.contains("lines are compared"), "{said}");
}
