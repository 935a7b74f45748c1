//! Repeated lines and paragraphs are those of the definition.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::Path;

use super::support::{passages, refused, texts, tokens};
use crate::common::{one_in, temporary};

/// The units of a text: what their tokens say, and the range of these.
fn units(text: &str, unit: &str) -> Vec<(String, Range<usize>)> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let (mut at, mut blank) = (0, true);
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let is_blank = line.trim().is_empty();
        match blocks.last_mut() {
            _ if is_blank => {}
            Some(last) if unit == "paragraph" && !blank => last.end = range.end,
            _ => blocks.push(range),
        }
        blank = is_blank;
    }
    let all = tokens(text);
    let of = |block: &Range<usize>| {
        let first = all
            .iter()
            .take_while(|(r, _)| r.start < block.start)
            .count();
        let own = all[first..].iter().take_while(|(r, _)| r.start < block.end);
        let own: Vec<&str> = own.map(|(_, token)| token.as_str()).collect();
        (own.join(" "), first..first + own.len())
    };
    blocks.iter().map(of).collect()
}

/// Token ranges that marks cover.
fn runs(marks: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..marks.len()).filter(|at| marks[*at]) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Docno, first token, end, first byte and end of each range in a result file.
fn ranges(out: &Path, name: &str) -> String {
    let text = fs::read_to_string(out.join(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.fold(String::new(), |mut all, line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let _ = writeln!(all, "{}", cells[..5].join("\t"));
        all
    })
}

#[test]
fn of_random_texts_those_of_the_definition() {
    let mut removed = 0;
    for seed in 0..80 / one_in(4) as u64 {
        let home = temporary();
        let place = home.path();
        let texts = texts(seed);
        let records = texts.iter().enumerate().map(|(n, text)| {
            let record = serde_json::json!({"id": format!("d{n}"), "text": text});
            format!("{record}\n")
        });
        let records: Vec<String> = records.collect();
        fs::create_dir(place.join("in")).unwrap();
        for (n, records) in records.chunks(records.len().div_ceil(2)).enumerate() {
            fs::write(place.join(format!("in/{n}.jsonl")), records.concat()).unwrap();
        }
        let unit = ["line", "paragraph"][seed as usize % 2];
        let scope = ["collection", "document", "collection"][seed as usize % 3];
        let least = [1, 1, 3][(seed / 5) as usize % 3];
        let how = format!("--unit {unit} --scope {scope} --least {least}");
        let stats = passages(
            place,
            &format!("in -o out {how} --threads {}", 1 + seed % 2),
        );
        let mut places: HashMap<_, Vec<(usize, Range<usize>)>> = HashMap::new();
        for (n, text) in texts.iter().enumerate() {
            for (words, range) in units(text.trim_start_matches('\u{feff}'), unit) {
                if range.len() >= least {
                    let group = if scope == "document" { n } else { 0 };
                    places.entry((words, group)).or_default().push((n, range));
                }
            }
        }
        let blank = |text: &String| vec![false; tokens(text).len()];
        let mut spans: Vec<Vec<bool>> = texts.iter().map(blank).collect();
        let mut can_go = spans.clone();
        for places in places.values().filter(|places| places.len() > 1) {
            for (n, (doc, range)) in places.iter().enumerate() {
                spans[*doc][range.clone()].fill(true);
                can_go[*doc][range.clone()].fill(n > 0);
            }
        }
        for (name, marks) in [("spans.tsv", &spans), ("removable.tsv", &can_go)] {
            let mut expected = String::new();
            for (n, text) in texts.iter().enumerate() {
                let tokens = tokens(text.trim_start_matches('\u{feff}'));
                for run in runs(&marks[n]) {
                    let (from, to) = (tokens[run.start].0.start, tokens[run.end - 1].0.end);
                    let _ = writeln!(expected, "d{n}\t{}\t{}\t{from}\t{to}", run.start, run.end);
                }
            }
            assert_eq!(
                ranges(&place.join("out"), name),
                expected,
                "seed {seed} {name} {how}"
            );
        }
        let count = |marks: &[Vec<bool>]| marks.concat().iter().filter(|mark| **mark).count();
        assert_eq!(stats["removable_tokens"], count(&can_go));
        // With copies, exactly these tokens go, and nothing is repeated in them any more.
        let how = format!("{how} --remove");
        let summary = passages(place, &format!("out {how} -o kept"));
        assert_eq!(
            summary["removal"]["removed_tokens"],
            count(&can_go),
            "seed {seed}"
        );
        if scope == "collection" && unit == "line" {
            let again = passages(place, &format!("kept {how} -o twice"));
            assert_eq!(again["removable_tokens"], 0, "seed {seed}");
            assert_eq!(again["tokens"], spans.concat().len() - count(&can_go));
        }
        removed += count(&can_go);
    }
    assert!(removed * one_in(4) > 1000, "{removed}");
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let home = temporary();
    let place = home.path();
    fs::write(place.join("in.jsonl"), "{\"text\":\"a\"}\n").unwrap();
    for (how, says) in [
        ("--unit line --length 3", "cannot be used with"),
        ("--unit word", "not line or paragraph"),
        ("--unit line --least 0", "at least 1 token"),
        ("--scope document", "--unit"),
        ("--least 4", "--unit"),
    ] {
        let said = refused(place, &format!("in.jsonl -o out {how}"));
        assert!(said.contains(says), "{how}: {said}");
        assert!(!place.join("out").exists());
    }
}

/// A line that the parser passes on in several portions, most of which end between two tokens, has
/// each token once.
#[test]
fn tokens_of_a_long_line_count_once() {
    let home = temporary();
    let place = home.path();
    let line = "a. . . b. . . ".repeat(100_000);
    let record = |id: &str| serde_json::json!({"id": id, "text": format!("{id}\n{line}\n{id} c")});
    fs::write(
        place.join("in.jsonl"),
        format!("{}\n{}\n", record("d0"), record("d1")),
    )
    .unwrap();
    passages(place, "in.jsonl -o out --unit line");
    let found = ranges(&place.join("out"), "spans.tsv");
    let found = found
        .lines()
        .map(|row| row.split('\t').take(3).collect::<Vec<_>>());
    assert_eq!(
        found.collect::<Vec<_>>(),
        [["d0", "1", "200001"], ["d1", "1", "200001"]]
    );
}
