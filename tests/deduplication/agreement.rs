//! The command keeps, removes and reports the same as the oracle, on random corpora and on the
//! sample corpora, for all policies and rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::oracle::{Fate, Oracle, Question};
use super::support::{Record, content, dedup, done, lines, place, records, warc_fields, written};
use crate::common::corpus::{Random, Shape, random_corpus};
use crate::common::{assert_same_files, copy_directory, one_in, sample_corpora};

const POLICIES: [&[&str]; 18] = [
    &[],
    &["first"],
    &["last"],
    &["longest"],
    &["shortest"],
    &["newest:date"],
    &["oldest:date"],
    &["newest:stamp"],
    &["max:score"],
    &["min:score"],
    &["prefer:meta.source=wiki,books"],
    &["prefer-input:b/*,*two*"],
    &["prefer:meta.source=books,web", "longest"],
    &["prefer-input:b/*", "max:score", "last"],
    &["longest", "newest:date", "last"],
    &["oldest:stamp", "shortest"],
    &["min:score", "prefer:meta.source=web", "last"],
    &["shortest", "first", "last"],
];

const RULES: [&str; 4] = ["star", "cluster", "none", "all"];

/// Counts the events in all cases of a test, so that a test in which nothing happened is seen.
#[derive(Debug, Default)]
struct Met(BTreeMap<String, usize>);

impl Met {
    fn has(&self, reasons: &[&str]) {
        for reason in reasons {
            assert!(self.0.contains_key(*reason), "no {reason}: {self:?}");
        }
    }
}

/// A date of RFC 3339 in some zone, and its seconds since 1970.
fn date(random: &mut Random) -> (String, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (year, month, day) = (
        1970 + random.below(80) as i64,
        random.below(12),
        random.below(28),
    );
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut days: i64 = (1970..year).map(|y| 365 + i64::from(leap(y))).sum();
    days += months[..month].iter().sum::<i64>() + i64::from(month > 1 && leap(year)) + day as i64;
    let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
    let zone = random.below(5) as i64 * 90 - 180;
    let sign = if zone < 0 { '-' } else { '+' };
    let offset = match zone {
        0 => "Z".into(),
        _ => format!("{sign}{:02}:{:02}", zone.abs() / 60, zone.abs() % 60),
    };
    let text = format!(
        "{year}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}{offset}",
        month + 1,
        day + 1
    );
    let clock = (hour * 3600 + minute * 60 + second) as i64;
    (text, days * 86_400 + clock - zone * 60)
}

/// A random corpus in four files: names repeat or are missing, documents are equal, similar, short
/// or empty, and any field may be missing or wrong.
fn write_corpus(seed: u64, directory: &Path) {
    let shape = Shape {
        families: 8,
        members: 3,
        words: 40,
        vocabulary: 60,
        boilerplate: 8,
    };
    let random = &mut Random(seed);
    let docs = random_corpus(seed, shape);
    let mut files = vec![Vec::new(); 4];
    for (i, doc) in docs.iter().enumerate() {
        let mut value = json!({"text": doc.text});
        if !random.once_in(12) {
            value["id"] = format!("D{}", i % 13).into();
        }
        // Without a text it is rejected.
        if random.once_in(12) {
            value["note"] = value["text"].take();
        }
        if !random.once_in(4) {
            let (text, seconds) = date(random);
            value["date"] = text.into();
            value["date_seconds"] = seconds.into();
        } else if random.once_in(2) {
            value["date"] = "soon".into();
        }
        if !random.once_in(4) {
            value["stamp"] = random.below(9).into();
        }
        let scores = [
            json!(-2.5),
            json!(0),
            json!("7"),
            json!(1e30),
            json!("high"),
            json!(3),
            Value::Null,
        ];
        value["score"] = random.pick(&scores).clone();
        value["meta"] = json!({"source": random.pick(&["wiki", "books", "web", "none"])});
        let file: &mut Vec<Value> = &mut files[i * 4 / docs.len()];
        file.push(value);
    }
    let text =
        |file: &[Value]| -> String { file.iter().map(|value| format!("{value}\n")).collect() };
    for name in ["a", "b"] {
        fs::create_dir_all(directory.join(name)).unwrap();
    }
    fs::write(directory.join("a/one.jsonl"), text(&files[0])).unwrap();
    let packed = fs::File::create(directory.join("a/two.jsonl.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed.write_all(text(&files[1]).as_bytes()).unwrap();
    packed.finish().unwrap();
    fs::write(directory.join("b/one.jsonl"), text(&files[2])).unwrap();
    let array = serde_json::to_string_pretty(&files[3]).unwrap();
    fs::write(directory.join("b/three.json"), array).unwrap();
}

/// For each record, whether it is removed: removed documents, and requests and metadata of removed
/// WARC records.
fn gone(all: &[Record], fates: &[Fate]) -> Vec<bool> {
    let mut fates = fates.iter();
    let mut gone: Vec<bool> = all
        .iter()
        .map(|record| record.document.is_some() && *fates.next().unwrap() != Fate::Kept)
        .collect();
    let links = |record: &Record| -> BTreeSet<String> {
        let fields = warc_fields(&record.bytes);
        let named = ["warc-record-id", "warc-concurrent-to", "warc-refers-to"];
        let mut links: BTreeSet<String> = named
            .iter()
            .filter_map(|n| fields.get(*n).cloned())
            .collect();
        if let (Some(url), Some(date)) = (fields.get("warc-target-uri"), fields.get("warc-date")) {
            links.insert(format!("{url} {date}"));
        }
        links
    };
    let removed = all
        .iter()
        .zip(&gone)
        .filter(|(_, gone)| **gone)
        .map(|(record, _)| record);
    let removed: BTreeSet<(&str, String)> = removed
        .flat_map(|r| links(r).into_iter().map(|link| (&r.file[..], link)))
        .collect();
    for (record, gone) in all.iter().zip(&mut gone) {
        let kind = warc_fields(&record.bytes)
            .remove("warc-type")
            .unwrap_or_default();
        if record.document.is_none()
            && !record.rejected
            && ["request", "metadata"].contains(&&kind[..])
        {
            *gone = links(record)
                .into_iter()
                .any(|link| removed.contains(&(&record.file[..], link)));
        }
    }
    gone
}

/// The bytes of records by their file, in order.
fn by_file<'r>(all: impl Iterator<Item = &'r Record>) -> BTreeMap<String, Vec<&'r [u8]>> {
    let mut files: BTreeMap<String, Vec<&[u8]>> = BTreeMap::new();
    for record in all.filter(|record| !record.bytes.is_empty()) {
        files
            .entry(record.file.clone())
            .or_default()
            .push(&record.bytes);
    }
    files
}

/// A corpus, the directories of its runs, and what the oracle knows of it.
struct Case<'c> {
    place: &'c Path,
    input: &'c Path,
    all: &'c [Record],
    oracle: Oracle<'c>,
}

impl Case<'_> {
    /// Runs `dedup --from` and compares what it wrote and said with the oracle.
    fn check(&self, from: &str, question: &Question<'_>, met: &mut Met) {
        let (kept, removed) = (self.place.join("kept"), self.place.join("removed"));
        for directory in [&kept, &removed] {
            let _ = fs::remove_dir_all(directory);
        }
        let keep: String = question
            .keep
            .iter()
            .map(|policy| format!(" --keep {policy}"))
            .collect();
        let empty = ["keep", "drop"][usize::from(question.drop_empty)];
        let mut arguments = format!(
            "--from {from} -o kept --removed removed --rule {} --empty {empty}{keep}",
            question.rule
        );
        if !question.listed.is_empty() {
            let row = |&listed: &usize| {
                let (record, document) = &self.oracle.records[listed];
                format!(
                    "{}\t-\t{}\t{}\n",
                    document.docno, record.file, record.number
                )
            };
            let rows: String = question.listed.iter().map(row).collect();
            let list = format!("# a comment\ndocno\tother\tfile\trecord\n{rows}");
            fs::write(self.place.join("list.tsv"), list).unwrap();
            arguments.push_str(" --remove list.tsv");
        }
        let summary = dedup(self.place, &arguments);

        // The evidence.
        let mut answer = self.oracle.fates(question);
        // `references.rs` has an oracle for the captures to which revisit records refer.
        let (referred, mut held) = (removed.join("referred.jsonl"), BTreeSet::new());
        let others = match referred.exists() {
            true => lines(&referred),
            false => Vec::new(),
        };
        for line in others {
            let is_it = |(record, _): &(&Record, _)| {
                line["file"] == record.file.as_str() && line["record"] == record.number
            };
            let document = self.oracle.records.iter().position(is_it).unwrap();
            assert!(answer.0[document] != Fate::Kept, "{arguments}: {line}");
            answer.0[document] = Fate::Kept;
            held.insert(document);
        }
        let expected = self.oracle.evidence(question, &answer);
        let found = lines(&removed.join("removed.jsonl"));
        let column = if question.containment {
            "score"
        } else {
            "resemblance"
        };
        for (mut line, (wanted, score)) in found.iter().cloned().zip(&expected) {
            let said = line.as_object_mut().unwrap().remove(column);
            assert_eq!(line, *wanted, "{arguments}");
            let score = score.map(|(shared, whole)| match whole {
                0 => 1.0,
                _ => shared as f64 / whole as f64,
            });
            let said = said.map(|said| said.as_f64().unwrap());
            let near = said
                .zip(score)
                .is_none_or(|(said, score)| (said - score).abs() < 5.1e-7);
            assert!(
                near && said.is_some() == score.is_some(),
                "{arguments}: {line}: {said:?} {score:?}"
            );
            *met.0
                .entry(line["reason"].as_str().unwrap().into())
                .or_default() += 1;
        }
        assert_eq!(found.len(), expected.len(), "{arguments}");
        let counts = summary["removed"].as_object().unwrap();
        for (reason, count) in counts {
            let lines = found.iter().filter(|line| line["reason"] == reason[..]);
            assert_eq!(*count, lines.count(), "{arguments}: {reason}");
        }
        assert_eq!(counts.len(), 9, "{arguments}");

        // The records, in both directories, in the order of the input.
        let (fates, _) = answer;
        let gone = gone(self.all, &fates);
        let wanted = |removed: bool| {
            let chosen = self
                .all
                .iter()
                .zip(&gone)
                .filter(move |(_, gone)| **gone == removed);
            by_file(chosen.map(|(record, _)| record))
        };
        let rest = records(&kept, 0);
        assert!(
            by_file(rest.iter()) == wanted(false),
            "{arguments}: other records are kept"
        );
        let out = records(&removed, 0);
        let evidence = ["removed.jsonl", "referred.jsonl"];
        let out = out
            .iter()
            .filter(|record| !evidence.contains(&&*record.file));
        let (out, went) = (by_file(out), wanted(true));
        for (name, records) in &went {
            let found = out.get(name).map_or(&[][..], Vec::as_slice);
            for (number, record) in records.iter().enumerate() {
                assert!(
                    found.get(number) == Some(record),
                    "{arguments}: {name}: record {number}"
                );
            }
        }
        assert!(out == went, "{arguments}: other records are removed");

        // A file is there unless it was one document that went.
        let mut files: BTreeSet<String> =
            self.all.iter().map(|record| record.file.clone()).collect();
        let whole = |record: &Record| {
            let content = content(&self.input.join(&record.file));
            content.is_some_and(|content| content.len() == record.bytes.len())
        };
        for (record, _) in self.all.iter().zip(&gone).filter(|(_, gone)| **gone) {
            if whole(record) {
                files.remove(&record.file);
            }
        }
        let there: BTreeSet<String> = written(&kept).into_keys().collect();
        assert_eq!(there, files, "{arguments}");

        // The summary.
        let number = |name: &str| summary[name].as_u64().unwrap() as usize;
        let removed: u64 = summary["removed"]
            .as_object()
            .unwrap()
            .values()
            .map(|n| n.as_u64().unwrap())
            .sum();
        let documents = fates.iter().filter(|fate| **fate == Fate::Kept).count();
        let companions = gone.iter().filter(|gone| **gone).count() - expected.len();
        assert_eq!(number("documents"), fates.len(), "{arguments}");
        assert_eq!(number("kept"), documents, "{arguments}");
        assert_eq!(removed as usize, expected.len(), "{arguments}");
        assert_eq!(number("companions"), companions, "{arguments}");
        let records = number("documents") + number("rejected") + number("skipped");
        assert_eq!(records, self.all.len(), "{arguments}");

        // Properties of the rules, without the oracle's choice.
        let reasons = found.iter().filter(|line| line["reason"] == "listed");
        assert_eq!(reasons.count(), question.listed.len(), "{arguments}");
        if question.rule == "all" {
            return;
        }
        let kept = |document: &usize| fates[*document] == Fate::Kept && !held.contains(document);
        let kept: Vec<usize> = (0..fates.len()).filter(kept).collect();
        for (at, &a) in kept.iter().enumerate() {
            let close = |b: &&usize| self.oracle.reach(question, a, **b);
            assert_eq!(kept[at + 1..].iter().find(close), None, "{arguments}");
        }
    }
}

#[test]
fn random_corpora_with_every_policy_and_rule() {
    let mut met = Met::default();
    for (seed, threshold, fraction) in [
        (1, "0.5", (1, 2)),
        (2, "0.3", (3, 10)),
        (3, "0.85", (17, 20)),
    ] {
        let (_place, place) = place(&[]);
        let input = place.join("in");
        write_corpus(seed, &input);
        let more = format!("--shingle-size 3 --threshold {threshold} --segment-size 2KiB --quiet");
        for pairs in ["all", "none"] {
            let more = format!("{more} --pairs {pairs}");
            done(&place, &format!("run in -o run-{pairs} {more}"));
            let contained = format!("run in -o contained-{pairs} --score containment {more}");
            done(&place, &contained);
        }
        let all = records(&input, 3);
        let case = Case {
            place: &place,
            input: &input,
            all: &all,
            oracle: Oracle::new(&all),
        };
        assert!(all.iter().any(|record| record.rejected));
        for (at, keep) in POLICIES.into_iter().enumerate() {
            if !(at + seed as usize).is_multiple_of(one_in(3)) {
                continue;
            }
            let mut question = Question {
                threshold: fraction,
                containment: false,
                rule: "star",
                keep,
                drop_empty: at % 5 == 1,
                listed: &[],
            };
            let random = &mut Random(100 * seed + at as u64);
            let all: Vec<usize> = (0..case.oracle.records.len()).collect();
            let listed: Vec<usize> = (all.iter().copied())
                .filter(|_| random.once_in(2 + at % 4))
                .collect();
            for (number, rule) in RULES.into_iter().enumerate() {
                if seed == 1 || at % 4 == number {
                    question.rule = rule;
                    case.check("run-all", &question, &mut met);
                    case.check("run-none", &question, &mut met);
                    question.listed = if at == 17 { &all } else { &listed };
                    case.check("run-all", &question, &mut met);
                    if rule == "star" {
                        case.check("run-none", &question, &mut met);
                    }
                    question.listed = &[];
                }
            }
            question.listed = if at % 4 == 2 { &listed } else { &[] };
            if seed == 1 || at % 2 == 0 {
                (question.rule, question.containment) = ("star", true);
                case.check("contained-all", &question, &mut met);
                case.check("contained-none", &question, &mut met);
            }
        }
    }
    met.has(&[
        "identical",
        "same words",
        "near",
        "chain",
        "contained",
        "cluster",
        "empty",
        "listed",
    ]);
}

/// Every format, one run for each, with the policies that need no field.
#[test]
fn sample_corpora_of_every_format() {
    let mut met = Met::default();
    for (format, dated) in [
        ("jsonl", false),
        ("trec-web", false),
        ("trec-sgml", false),
        ("warc", true),
        ("mail", false),
        ("files", false),
    ]
    .into_iter()
    .step_by(one_in(2))
    {
        let (_place, place) = place(&[]);
        let input = place.join("in");
        copy_directory(&sample_corpora(format), &input);
        done(&place, "run in -o run --threshold 0.5 --quiet");
        done(
            &place,
            "run in -o contained --threshold 0.8 --score containment --quiet",
        );
        let all = records(&input, 10);
        let case = Case {
            place: &place,
            input: &input,
            all: &all,
            oracle: Oracle::new(&all),
        };
        let mut question = Question {
            threshold: (1, 2),
            containment: false,
            rule: "star",
            keep: &[],
            drop_empty: false,
            listed: &[],
        };
        let longest: &[&str] = if dated {
            &["newest", "longest"]
        } else {
            &["longest", "last"]
        };
        let asked = [
            ("star", &[][..]),
            ("cluster", &[]),
            ("star", longest),
            ("none", &[]),
        ];
        for (rule, keep) in asked {
            (question.rule, question.keep) = (rule, keep);
            case.check("run", &question, &mut met);
        }
        (question.rule, question.keep) = ("star", &["last"]);
        (question.containment, question.threshold) = (true, (4, 5));
        case.check("contained", &question, &mut met);
    }
    met.has(&[
        "identical",
        "same words",
        "near",
        "chain",
        "contained",
        "cluster",
    ]);
}

/// The lists and the members that `--annotate` adds say what `removed.jsonl` says.
#[test]
fn lists_and_annotations_agree_with_the_evidence() {
    let (_place, place) = place(&[]);
    write_corpus(4, &place.join("in"));
    done(
        &place,
        "run in -o run --shingle-size 3 --threshold 0.3 --quiet",
    );
    for (number, rule) in RULES[..3].iter().enumerate() {
        let how = format!("--from run --rule {rule} --keep longest");
        dedup(
            &place,
            &format!("{how} -o kept{number} --removed removed{number}"),
        );
        dedup(&place, &format!("{how} -o lists{number} --ids-only"));
        dedup(&place, &format!("{how} -o annotated{number} --annotate"));
        let evidence = lines(&place.join(format!("removed{number}/removed.jsonl")));
        assert!(evidence.len() > 5);

        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), String::from)
        };
        let rows: Vec<String> = evidence
            .iter()
            .map(|line| {
                let mut cells: Vec<String> = ["file", "record", "offset", "docno", "reason"]
                    .iter()
                    .map(|n| text(&line[*n]))
                    .collect();
                match line.get("survivor") {
                    None => cells.extend(["", "", "", ""].map(String::from)),
                    Some(survivor) => {
                        cells.extend(
                            ["file", "record", "docno"]
                                .iter()
                                .map(|n| text(&survivor[*n])),
                        );
                        cells.push(format!("{:.6}", line["resemblance"].as_f64().unwrap()));
                    }
                }
                cells.join("\t")
            })
            .collect();
        let list = fs::read_to_string(place.join(format!("lists{number}/removed.tsv"))).unwrap();
        assert_eq!(list.lines().skip(1).collect::<Vec<_>>(), rows, "{rule}");
        let list = fs::read_to_string(place.join(format!("lists{number}/kept.tsv"))).unwrap();
        let kept: BTreeSet<String> = list.lines().skip(1).map(String::from).collect();
        let all = records(&place.join("in"), 3);
        let gone = |record: &Record| {
            evidence
                .iter()
                .any(|line| line["file"] == record.file && line["record"] == record.number)
        };
        let documents = all.iter().filter(|record| record.document.is_some());
        let expected: BTreeSet<String> = documents
            .filter(|record| !gone(record))
            .map(|record| {
                let docno = &record.document.as_ref().unwrap().docno;
                format!(
                    "{}\t{}\t{}\t{docno}",
                    record.file, record.number, record.offset
                )
            })
            .collect();
        assert_eq!(kept, expected, "{rule}");

        // Annotated: every record, with its own members and one more.
        let annotated = records(&place.join(format!("annotated{number}")), 0);
        assert_eq!(annotated.len(), all.len());
        for (before, after) in all.iter().zip(&annotated) {
            if before.document.is_none() {
                assert_eq!(before.bytes, after.bytes);
                continue;
            }
            let mut value: Value = serde_json::from_slice(&after.bytes).unwrap();
            let member = value.as_object_mut().unwrap().remove("lookalike").unwrap();
            assert_eq!(
                value,
                serde_json::from_slice::<Value>(&before.bytes).unwrap()
            );
            let line =
                |line: &&Value| line["file"] == before.file && line["record"] == before.number;
            let line = evidence.iter().find(line);
            assert_eq!(member["kept"], line.is_none(), "{member}");
            let null = Value::Null;
            for name in ["survivor", "resemblance"] {
                let said = line.and_then(|line| line.get(name)).unwrap_or(&null);
                assert_eq!(member[name], *said, "{member}");
            }
            if let Some(line) = line.filter(|line| line.get("cluster").is_some()) {
                assert_eq!(member["cluster"], line["cluster"]);
                assert_eq!(member["cluster_size"], line["cluster_size"]);
            }
        }
    }
}

/// What is kept has no duplicates. By the cluster rule, too: two documents that stay are of two
/// clusters of the input, so that they do not reach the threshold.
#[test]
fn a_second_pass_removes_nothing() {
    for (seed, score) in [(5, "resemblance"), (6, "containment"), (7, "resemblance")] {
        let (_place, place) = place(&[]);
        write_corpus(seed, &place.join("in"));
        for rule in RULES {
            if score == "containment" && rule != "star" {
                continue;
            }
            let how = format!(
                "--shingle-size 3 --threshold 0.4 --score {score} --rule {rule} --keep shortest"
            );
            let first = dedup(&place, &format!("in -o {rule} {how}"));
            let second = dedup(&place, &format!("{rule} -o {rule}-again {how}"));
            assert_eq!(first["kept"], second["documents"], "{rule}");
            assert_eq!(second["kept"], second["documents"], "{rule}: {second}");
            let (once, twice) = (
                written(&place.join(rule)),
                written(&place.join(format!("{rule}-again"))),
            );
            assert_same_files(&twice, &once, rule);
        }
    }
}

#[test]
fn threads_and_memory_change_no_byte() {
    let (_place, place) = place(&[]);
    let input = place.join("in");
    write_corpus(8, &input);
    copy_directory(&sample_corpora("warc"), &input.join("warc"));
    let how = "in --shingle-size 3 --threshold 0.4 --keep newest:date --keep longest --segment-size 4KiB \
               --max-document 1MiB";
    let pairs = ["all", "none"];
    let mut expected = None;
    for (at, (threads, memory)) in [
        (1, "1GiB"),
        (2, "1GiB"),
        (8, "1GiB"),
        (2, "130MiB"),
        (4, "64MiB"),
        (8, "300MiB"),
    ]
    .iter()
    .enumerate()
    {
        let out = format!("-o kept{at} --removed removed{at} --work work{at}");
        dedup(
            &place,
            &format!(
                "{how} {out} --threads {threads} --memory {memory} --pairs {}",
                pairs[at % 2]
            ),
        );
        let files = |name: &str| written(&place.join(format!("{name}{at}")));
        let found = (files("kept"), files("removed"));
        assert!(found.0.len() > 4 && found.1.len() > 4);
        let (kept, removed) = expected.get_or_insert_with(|| found.clone());
        assert_same_files(&found.0, kept, &format!("{threads} threads, {memory}"));
        assert_same_files(&found.1, removed, &format!("{threads} threads, {memory}"));
    }
}

/// A list of other inputs is an error, so that nobody believes that its documents are gone.
#[test]
fn lists_that_do_not_fit_are_refused() {
    let document = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let file = document("a", "one two three") + "{}\n" + &document("b\t", "four five six");
    let (_place, place) = place(&[("in/x\\y.jsonl", file.as_bytes())]);
    done(&place, "run in -o run --quiet");
    let call_with = |list: &str, output: &str| {
        fs::write(place.join("list.tsv"), list).unwrap();
        let how = "--from run --rule all --remove list.tsv --ids-only -q -o";
        super::support::call(&place, &format!("dedup {how} {output}"))
    };
    for (list, expected) in [
        ("", "found the end of the file"),
        (
            "# x\nfile\tdocno\nx\ta\n",
            "line 2: expected names of columns",
        ),
        (
            "file\trecord\nx\n",
            "line 2: expected a cell for each column",
        ),
        ("file\trecord\nx\tone\n", "found `one`"),
        (
            "file\trecord\nx\ty.jsonl\t1\n",
            "expected the number of a record",
        ),
        (
            "record\tfile\n2\tx\\\\y.jsonl\n",
            "found record 2 of the file",
        ),
        (
            "record\tfile\n1\tx\\\\y.jsonl\n7\tz\n0\tx\\\\y.jsonl\n9\tx\n",
            "line 3: expected a document of the inputs, found record 7 of the file `z`, and 2 such lines more",
        ),
        (
            "record\tfile\tdocno\n1\tx\\\\y.jsonl\tb\n",
            "found docno `b` for the document `a`",
        ),
    ] {
        let ran = call_with(list, "refused");
        assert_eq!(ran.code, Some(1), "{list}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{list}: {}", ran.stderr);
        assert!(!place.join("refused").exists());
    }
    let good = "record\tfile\tdocno\n\n3\tx\\\\y.jsonl\tb\r\n#\n3\tx\\\\y.jsonl\tb\n";
    let ran = call_with(good, "lists");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let removed = fs::read_to_string(place.join("lists/removed.tsv")).unwrap();
    let rows: Vec<&str> = removed.lines().skip(1).collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].starts_with("x\\\\y.jsonl\t3\t"), "{rows:?}");
    assert!(rows[0].contains("\tlisted\t"), "{rows:?}");
    // Another list is another command, the same documents in another order are not.
    let again = call_with("file\trecord\nx\\\\y.jsonl\t3\n", "lists");
    assert_eq!(again.code, Some(0), "{again:?}");
    let other = call_with("file\trecord\nx\\\\y.jsonl\t1\n", "lists");
    assert_ne!(other.code, Some(0), "{other:?}");
}

/// What `contamination` lists is removed, and then nothing is found that reaches the share.
#[test]
fn a_corpus_without_its_contaminated_documents_is_clean() {
    let (_place, place) = place(&[]);
    copy_directory(&sample_corpora("trec-web"), &place.join("in"));
    let question = "the patch should be sent to the maintainers who are listed in the file";
    let mut lines: Vec<String> = Vec::new();
    let mut documents = Vec::new();
    for n in 0..9 {
        let text = format!("Document {n} says: {}", ["nothing", question][n % 2]);
        documents.push(json!({"id": "same", "text": text}).to_string() + "\n");
    }
    lines.push(json!({"id": "q", "question": question.to_uppercase()}).to_string());
    fs::write(place.join("in/more.jsonl"), documents.concat()).unwrap();
    fs::write(place.join("test.jsonl"), lines.join("\n")).unwrap();
    let search = |corpus: &str, out: &str| -> Value {
        let how = "--against test.jsonl --fields question --json -q";
        let ran = done(&place, &format!("contamination {corpus} {how} -o {out}"));
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let before = search("in", "found");
    assert_eq!(before["corpus"]["to_drop"], 4);
    let how = "--remove found/drop.tsv --rule all --removed removed";
    let summary = dedup(&place, &format!("in -o clean {how}"));
    assert_eq!(summary["removed"]["listed"], 4);
    assert_eq!(
        summary["kept"].as_u64().unwrap() + 4,
        summary["documents"].as_u64().unwrap()
    );
    let after = search("clean", "again");
    assert_eq!(after["corpus"]["to_drop"], 0);
    assert_eq!(after["corpus"]["found"], 0);
    let number = |report: &Value| report["corpus"]["documents"].as_u64().unwrap();
    assert_eq!(number(&after) + 4, number(&before));
}

/// With the rule `all` nothing is removed because of a pair, so a collection without pairs is
/// enough, unless the clusters are wanted.
#[test]
fn listed_documents_are_removed_without_pairs() {
    let (_place, place) = place(&[]);
    write_corpus(9, &place.join("in"));
    let shape = "--shingle-size 3 --segment-size 4KiB";
    done(
        &place,
        &format!("run in -o run {shape} --threshold 0.4 --quiet"),
    );
    done(&place, &format!("stage ingest in -o bare {shape} --quiet"));
    let rows = fs::read_to_string(place.join("run/documents.tsv")).unwrap();
    let mut rows = rows.lines().filter(|line| !line.starts_with('#'));
    let header = rows.next().unwrap();
    let listed = rows.step_by(3).map(|row| format!("{row}\n"));
    let list = format!("{header}\n{}", listed.collect::<String>());
    fs::write(place.join("list.tsv"), list).unwrap();
    let all = |from: &str, output: &str, how: &str| {
        format!("--from {from} -o {output} --rule all --remove list.tsv {how}")
    };
    for (n, how) in [
        "",
        "--empty drop --rejects drop",
        "--ids-only",
        "--ids-only --keep newest:date --keep longest",
    ]
    .into_iter()
    .enumerate()
    {
        let (with, without) = (format!("with{n}"), format!("without{n}"));
        let expected = dedup(&place, &all("run", &with, how));
        let found = dedup(&place, &all("bare", &without, how));
        assert_eq!(found, expected, "{how}");
        assert!(found["removed"]["listed"].as_u64().unwrap() > 5, "{found}");
        let [with, without] = [with, without].map(|name| written(&place.join(name)));
        assert_same_files(&without, &with, how);
    }
    // Where clusters are shown, or pairs decide, there must be pairs.
    for how in [
        "--removed removed",
        "--annotate",
        "--ids-only --results parquet",
        "--report",
        "--rule star",
        "--rule cluster",
        "--rule none",
    ] {
        let call = all("bare", "refused", how);
        let call = match how.starts_with("--rule") {
            true => call.replacen("--rule all ", "", 1),
            false => call,
        };
        let ran = super::support::call(&place, &format!("dedup {call} --quiet"));
        assert_eq!(ran.code, Some(1), "{how}: {ran:?}");
        assert!(ran.stderr.contains("join"), "{how}: {}", ran.stderr);
        assert!(!place.join("refused").exists(), "{how}");
        assert!(!place.join("removed").exists(), "{how}");
    }
    // It says what there is, and a page can be made once the pairs are found.
    let ran = done(&place, &format!("dedup {}", all("bare", "said", "")));
    assert!(
        ran.stdout
            .ends_with("; collection without pairs in bare.\n"),
        "{ran:?}"
    );
    let ran = super::support::call(&place, "report said -o page.html");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    done(&place, "stage join bare --threshold 0.4 --quiet");
    done(&place, "report said -o page.html");
}

/// A value that no record has is probably misspelt.
#[test]
fn a_preferred_value_that_never_occurs_is_reported_once() {
    let record = |id: u32, source: &str| {
        format!("{{\"id\":{id},\"source\":\"{source}\",\"text\":\"one two\"}}\n")
    };
    let lines = [record(1, "wiki"), record(2, "books"), record(3, "wiki")].concat();
    let (_guard, place) = place(&[("a.jsonl", lines.as_bytes())]);
    let ran = done(
        &place,
        "dedup a.jsonl -o kept --keep prefer:source=wikipedia,books",
    );
    let says = "warning: --keep prefer:source=wikipedia,books: no record has wikipedia in source; its most frequent \
                values: wiki (2), books (1)";
    assert_eq!(
        ran.stderr.matches("wikipedia in source").count(),
        1,
        "{ran:?}"
    );
    assert!(ran.stderr.contains(says), "{ran:?}");
    let ran = done(
        &place,
        "dedup a.jsonl -o again --work kept.work --keep prefer:source=books,wiki",
    );
    assert!(!ran.stderr.contains("no record has"), "{ran:?}");
}
