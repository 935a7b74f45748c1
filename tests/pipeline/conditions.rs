//! Conditions on pairs against a brute force over the definition, which knows nothing of the
//! expression language: each condition is a tree of ours, evaluated here and printed for the library.

use crate::common;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::collection::{Condition, Ingested};
use lookalike::engine::pipeline;
use lookalike::tasks::passages::{self, PassagesConfig, Then};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::corpus::Random;
use common::{Run, assert_same_files, results, rows};
use serde_json::{Value, json};

use super::add::add;
use super::against::against;

#[derive(Clone, Debug)]
enum Test {
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
    Not(Box<Test>),
    Same(&'static str),
    Differ(&'static str),
    Is(char, &'static str, &'static str),
    Has(char, &'static str),
    /// `a.date` is before `b.date`.
    Before,
    /// Their dates differ by fewer days.
    Near(i64),
    /// The first has fewer words than this number more than the second.
    Words(i64),
    /// Nothing is asked.
    True,
}

/// No condition.
const NONE: Test = Test::True;

#[derive(Clone, Debug, Default)]
struct Document {
    docno: String,
    fields: BTreeMap<&'static str, String>,
    words: Vec<String>,
}

const FIELDS: [&str; 2] = ["source", "meta.lang"];

impl Test {
    fn random(random: &mut Random, depth: usize) -> Test {
        let field = FIELDS[random.below(2)];
        let side = *random.pick(&['a', 'b']);
        if depth > 0 && random.below(3) > 0 {
            let mut inner = || Box::new(Test::random(random, depth - 1));
            let (one, other) = (inner(), inner());
            return match random.below(5) {
                0 | 1 => Test::And(one, other),
                2 | 3 => Test::Or(one, other),
                _ => Test::Not(one),
            };
        }
        match random.below(10) {
            0 | 1 => Test::Same(field),
            2 | 3 => Test::Differ(field),
            4 => Test::Is(side, field, ["x", "y"][random.below(2)]),
            5 => Test::Has(side, ["source", "date"][random.below(2)]),
            6 => Test::Before,
            7 | 8 => Test::Near(1 + random.below(20) as i64),
            _ => Test::Words(random.below(9) as i64 - 4),
        }
    }

    fn text(&self) -> String {
        match self {
            Test::And(a, b) => format!("({} && {})", a.text(), b.text()),
            Test::Or(a, b) => format!("({} || {})", a.text(), b.text()),
            Test::Not(a) => format!("!({})", a.text()),
            Test::Same(field) => format!("a.{field} == b.{field}"),
            Test::Differ(field) => format!("a.{field} != b.{field}"),
            Test::Is(side, field, value) => format!("{side}.{field} == '{value}'"),
            Test::Has(side, field) => format!("has({side}.{field})"),
            Test::Before => "a.date - b.date < 0".into(),
            Test::Near(days) => format!("abs(a.date - b.date) < days({days})"),
            Test::True => "true".into(),
            Test::Words(more) => format!("a.words - b.words < {more}"),
        }
    }

    /// `None` if it cannot be evaluated.
    fn holds(&self, a: &Document, b: &Document) -> Option<bool> {
        let of = |side: char| if side == 'a' { a } else { b };
        let both = |field| a.fields.get(field).zip(b.fields.get(field));
        let days = |text: &String| {
            let parts: Vec<i64> = text
                .split('-')
                .filter_map(|part| part.parse().ok())
                .collect();
            // All dates are of one month.
            parts.get(2).copied()
        };
        let difference = |test: &dyn Fn(i64) -> bool| match both("date") {
            None => Some(false),
            Some((a, b)) => Some(test(days(a)? - days(b)?)),
        };
        match self {
            Test::And(one, other) => match (one.holds(a, b), other.holds(a, b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (one, other) => one.and(other),
            },
            Test::Or(one, other) => match (one.holds(a, b), other.holds(a, b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (one, other) => one.and(other),
            },
            Test::Not(inner) => inner.holds(a, b).map(|holds| !holds),
            Test::Same(field) => Some(both(field).is_some_and(|(a, b)| a == b)),
            Test::Differ(field) => Some(both(field).is_some_and(|(a, b)| a != b)),
            Test::Is(side, field, value) => Some(
                of(*side)
                    .fields
                    .get(field)
                    .is_some_and(|found| found == value),
            ),
            Test::Has(side, field) => Some(of(*side).fields.contains_key(field)),
            Test::Before => difference(&|days| days < 0),
            Test::Near(most) => difference(&|days| days.abs() < *most),
            Test::True => Some(true),
            Test::Words(more) => Some((a.words.len() as i64 - b.words.len() as i64) < *more),
        }
    }
}

fn documents(random: &mut Random) -> Vec<Document> {
    let word = |random: &mut Random| format!("w{}", random.below(400));
    let bases: Vec<Vec<String>> = (0..3)
        .map(|_| (0..12 + random.below(25)).map(|_| word(random)).collect())
        .collect();
    let count = 20 + random.below(20);
    (0..count)
        .map(|n| {
            let mut words = random.pick(&bases).clone();
            // Most are exact duplicates of others.
            if random.once_in(2) {
                for _ in 0..1 + random.below(3) {
                    let at = random.below(words.len());
                    words[at] = word(random);
                }
            }
            if random.once_in(25) {
                words.clear();
            }
            let mut fields = BTreeMap::new();
            let mut put = |name, value: String, missing| {
                if missing > 0 {
                    fields.insert(name, value);
                }
            };
            put(
                "source",
                random.pick(&["x", "y", "z\t\"{"]).to_string(),
                random.below(7),
            );
            put(
                "meta.lang",
                random.pick(&["x", "de"]).to_string(),
                random.below(5),
            );
            let date = match random.below(10) {
                0 => "soon".to_string(),
                _ => format!("2024-03-{:02}", 1 + random.below(28)),
            };
            put("date", date, random.below(6));
            let docno = format!("d{n}");
            Document {
                docno,
                fields,
                words,
            }
        })
        .collect()
}

fn write(documents: &[Document], path: &Path) {
    let line = |document: &Document| {
        let mut record = json!({"id": document.docno, "text": document.words.join(" ")});
        for (name, value) in &document.fields {
            match name.split_once('.') {
                Some((outer, inner)) => record[outer] = json!({inner: value}),
                None => record[*name] = json!(value),
            }
        }
        format!("{record}\n")
    };
    fs::write(path, documents.iter().map(line).collect::<String>()).unwrap();
}

fn shingles(document: &Document) -> BTreeSet<&[String]> {
    match document.words.len() {
        0 => BTreeSet::new(),
        1..3 => [&document.words[..]].into(),
        _ => document.words.windows(3).collect(),
    }
}

type Pairs = BTreeSet<(usize, usize)>;

/// All pairs of documents that reach the threshold (in tenths), and for which the condition holds.
fn expected(documents: &[Document], tenths: usize, test: &Test) -> Pairs {
    let sets: Vec<_> = documents.iter().map(shingles).collect();
    let mut pairs = Pairs::new();
    for b in 0..documents.len() {
        for a in 0..b {
            let shared = sets[a].intersection(&sets[b]).count();
            let all = sets[a].len() + sets[b].len() - shared;
            let reached = shared > 0 && shared * 10 >= all * tenths;
            if reached && test.holds(&documents[a], &documents[b]) == Some(true) {
                pairs.insert((a, b));
            }
        }
    }
    pairs
}

/// All pairs of documents that share a passage of four words, and for which the condition holds.
fn expected_passages(documents: &[Document], test: &Test) -> Pairs {
    let grams = |document: &Document| -> BTreeSet<Vec<String>> {
        document.words.windows(4).map(<[String]>::to_vec).collect()
    };
    let grams: Vec<_> = documents.iter().map(grams).collect();
    let mut pairs = Pairs::new();
    for b in 0..documents.len() {
        for a in 0..b {
            let holds = || test.holds(&documents[a], &documents[b]) == Some(true);
            if !grams[a].is_disjoint(&grams[b]) && holds() {
                pairs.insert((a, b));
            }
        }
    }
    pairs
}

/// The pairs that a search for passages lists, under the condition of the directory or this one.
fn found_passages(out: &Path, condition: Option<&str>, documents: &[Document]) -> Pairs {
    let (run, stop) = (Run::default(), Stop::default());
    let context = run.context(&stop, &Silent);
    let config = PassagesConfig {
        length: 4,
        condition: condition.map(|condition| condition.parse().unwrap()),
        ..PassagesConfig::default()
    };
    let mut workspace = pipeline::open_texts(out).unwrap();
    let stats = passages::run(&mut workspace, &config, Then::End, &context).unwrap();
    let number = |docno: &str| documents.iter().position(|d| d.docno == docno).unwrap();
    let tables = ["overlaps.tsv", "matches.tsv"].map(|name| -> Pairs {
        let text = fs::read_to_string(out.join(name)).unwrap();
        let wheres = text.lines().filter(|line| line.starts_with("# where: "));
        assert_eq!(
            wheres.count(),
            usize::from(condition != Some("true")),
            "{text}"
        );
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.map(|row| {
            let mut cells = row.split('\t').map(number);
            (cells.next().unwrap(), cells.next().unwrap())
        })
        .collect()
    });
    let [overlaps, matches] = tables;
    assert_eq!(overlaps, matches);
    assert_eq!(overlaps.len() as u64, stats.pairs);
    overlaps
}

/// The pairs that a directory has, between all documents: those of representatives stand for those
/// of their exact duplicates.
fn found(out: &Path, documents: &[Document]) -> Pairs {
    found_in(&[out], documents)
}

/// As [`found`], of a collection and others that are compared with it.
fn found_in(directories: &[&Path], documents: &[Document]) -> Pairs {
    let all = |name: &str| -> Vec<String> {
        let files = directories.iter().map(|out| rows(&results(out)[name]));
        files.flatten().collect()
    };
    let number = |docno: &str| documents.iter().position(|d| d.docno == docno).unwrap();
    let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for row in all("exact-duplicates.tsv") {
        let mut cells = row.split('\t').map(number);
        let (document, first) = (cells.next().unwrap(), cells.next().unwrap());
        classes
            .entry(first)
            .or_insert_with(|| vec![first])
            .push(document);
    }
    let class = |first: usize| classes.get(&first).cloned().unwrap_or_else(|| vec![first]);
    let mut pairs = Pairs::new();
    let mut put = |a: usize, b: usize| assert!(pairs.insert((a.min(b), a.max(b))));
    for members in classes.values() {
        for (at, a) in members.iter().enumerate() {
            members[at + 1..].iter().for_each(|b| put(*a, *b));
        }
    }
    for row in all("pairs.tsv") {
        let mut cells = row.split('\t').map(number);
        let (a, b) = (cells.next().unwrap(), cells.next().unwrap());
        for x in class(a) {
            class(b).into_iter().for_each(|y| put(x, y));
        }
    }
    pairs
}

fn components(pairs: &Pairs, count: usize) -> BTreeSet<BTreeSet<usize>> {
    let mut labels: Vec<usize> = (0..count).collect();
    while let Some(&(a, b)) = pairs.iter().find(|(a, b)| labels[*a] != labels[*b]) {
        let (from, to) = (labels[a].max(labels[b]), labels[a].min(labels[b]));
        labels
            .iter_mut()
            .filter(|label| **label == from)
            .for_each(|label| *label = to);
    }
    let all = (0..count).map(|n| (0..count).filter(|m| labels[*m] == labels[n]).collect());
    all.filter(|members: &BTreeSet<usize>| members.len() > 1)
        .collect()
}

fn clusters(out: &Path, documents: &[Document]) -> BTreeSet<BTreeSet<usize>> {
    let files = results(out);
    let lines = std::str::from_utf8(&files["clusters.jsonl"])
        .unwrap()
        .lines();
    let number = |member: &Value| {
        let docno = member["docno"].as_str().unwrap();
        documents.iter().position(|d| d.docno == docno).unwrap()
    };
    lines
        .map(|line| {
            let cluster: Value = serde_json::from_str(line).unwrap();
            let members = cluster["members"].as_array().unwrap();
            let numbers: Vec<usize> = members.iter().map(number).collect();
            for (n, member) in members.iter().enumerate() {
                // Equal words are an exact duplicate, whether or not the condition parts them.
                let words = |of: usize| &documents[numbers[of]].words;
                let kind = match (n, (0..n).any(|before| words(before) == words(n))) {
                    (0, _) => "representative",
                    (_, true) => "exact",
                    (_, false) => "near",
                };
                assert_eq!(member["kind"], kind, "{line}");
            }
            numbers.into_iter().collect()
        })
        .collect()
}

fn with(run: Run, condition: &str) -> Run {
    let condition: Condition = condition
        .parse()
        .unwrap_or_else(|e| panic!("{condition}: {e}"));
    let collection = run.collection.clone().with_condition(Some(condition));
    Run { collection, ..run }
}

#[test]
fn the_pairs_are_those_for_which_the_condition_holds() {
    let (mut some, mut limited, mut twins, mut shared) = (0, 0, 0, 0);
    for seed in 0..120 {
        let random = &mut Random(seed * 7919 + 3);
        let place = common::temporary();
        let place = place.path();
        let all = documents(random);
        let cuts = [0, all.len() / 3, all.len() * 2 / 3, all.len()];
        let files: Vec<PathBuf> = (0..3).map(|n| place.join(format!("{n}.jsonl"))).collect();
        for (n, file) in files.iter().enumerate() {
            write(&all[cuts[n]..cuts[n + 1]], file);
        }
        let paths: Vec<&Path> = files.iter().map(|file| &**file).collect();
        let test = match seed {
            0 => Test::Differ("source"),
            1 => Test::Near(5),
            2 => Test::Before,
            _ => Test::random(random, 3),
        };
        let text = match test.text() {
            text if text.contains("source") => text,
            // Some field of every record that is never built in.
            text => format!("{text} || a.source == 'none of them'"),
        };
        let tenths = 3 + random.below(6);
        let threshold = format!("0.{tenths}");
        let what = format!("seed {seed}, {threshold}: {text}");
        let run = || with(Run::default().shingle_size(3), &text).threshold(&threshold);
        let out = place.join("out");
        run().run(&paths, &out).unwrap();
        let wanted = expected(&all, tenths, &test);
        assert_eq!(found(&out, &all), wanted, "{what}");
        assert_eq!(
            clusters(&out, &all),
            components(&wanted, all.len()),
            "{what}"
        );
        let without = expected(&all, tenths, &NONE);
        some += usize::from(!wanted.is_empty());
        limited += usize::from(wanted.len() < without.len());
        let twin = |&(a, b): &(usize, usize)| all[a].words == all[b].words;
        twins += usize::from(without.difference(&wanted).any(twin) && wanted.iter().any(twin));

        let before = results(&out);
        run().join("count").threads(1).run(&paths, &out).unwrap();
        assert_same_files(&results(&out), &before, &format!("count, {what}"));
        run().pairs("none").run(&paths, &out).unwrap();
        assert_eq!(
            clusters(&out, &all),
            components(&wanted, all.len()),
            "none, {what}"
        );

        if seed % 4 == 0 {
            let passages = expected_passages(&all, &test);
            assert_eq!(
                found_passages(&out, None, &all),
                passages,
                "passages, {what}"
            );
            let other = Test::Differ("source");
            let passages = expected_passages(&all, &other);
            let found = found_passages(&out, Some(&other.text()), &all);
            assert_eq!(found, passages, "other passages, {what}");
            let none = expected_passages(&all, &NONE);
            assert_eq!(found_passages(&out, Some("true"), &all), none);
            shared += usize::from(passages.len() < none.len());
        }
        if seed % 3 == 0 {
            let grown = place.join("grown");
            run().run(&paths[..2], &grown).unwrap();
            add(&run(), &grown, &files[2..]).unwrap();
            assert_same_files(&results(&grown), &before, &format!("added, {what}"));
        }
        if seed % 3 == 1 {
            let (old, new) = (place.join("old"), place.join("new"));
            run().run(&paths[..1], &old).unwrap();
            against(&run(), &files[1..], &old, &new).unwrap();
            let late = |pairs: &Pairs| -> Pairs {
                pairs
                    .iter()
                    .copied()
                    .filter(|(_, b)| *b >= cuts[1])
                    .collect()
            };
            assert_eq!(
                late(&found_in(&[&old, &new], &all)),
                late(&wanted),
                "against, {what}"
            );
        }
        if seed % 3 < 2 {
            continue;
        }

        // What a sample estimates does not depend on the condition.
        let (sampled, plain) = (place.join("sampled"), place.join("plain"));
        run().sampling("1/2").run(&paths, &sampled).unwrap();
        let base = Run::default()
            .shingle_size(3)
            .threshold(&threshold)
            .sampling("1/2");
        base.run(&paths, &plain).unwrap();
        let differ = |(a, b): &(usize, usize)| all[*a].words != all[*b].words;
        let mut holds = found(&plain, &all);
        holds.retain(|pair| differ(pair) && test.holds(&all[pair.0], &all[pair.1]) == Some(true));
        let mut of_sample = found(&sampled, &all);
        of_sample.retain(differ);
        assert_eq!(of_sample, holds, "sampled, {what}");
    }
    assert!(
        some > 60 && limited > 80 && twins > 20 && shared > 20,
        "{some}, {limited}, {twins}, {shared}"
    );
}

/// Which of the pairs are listed depends on the parameters alone.
#[test]
fn another_condition_needs_no_reading() {
    let place = common::temporary();
    let all = documents(&mut Random(5));
    let file = place.path().join("in.jsonl");
    write(&all, &file);
    let first = "a.source != b.source && abs(a.date - b.date) < days(3)";
    let second = "a.date != b.date";
    let run = |text: &str| with(Run::default().shingle_size(3), text).threshold("0.5");
    let out = place.path().join("out");
    run(first).run(&[&file], &out).unwrap();
    fs::remove_file(&file).unwrap();
    let stop = Stop::default();
    let base = run(first);
    let context = base.context(&stop, &Silent);
    let change = |to: &str| {
        let mut workspace = pipeline::open_texts(&out).unwrap();
        let other = to.parse().unwrap();
        pipeline::change_condition(&mut workspace, Some(other), &context).unwrap();
        pipeline::search_again(&mut workspace, &base.question, &context).unwrap();
    };
    change("true");
    assert_eq!(found(&out, &all), expected(&all, 5, &NONE));
    let plain = place.path().join("plain");
    write(&all, &file);
    let usual = || Run::default().shingle_size(3).threshold("0.5");
    usual().run(&[&file], &plain).unwrap();
    assert_same_files(&results(&out), &results(&plain), "without a condition");
    change(second);
    let wanted = expected(&all, 5, &Test::Differ("date"));
    assert_eq!(found(&out, &all), wanted);

    let mut workspace = pipeline::open_texts(&out).unwrap();
    let other = "a.author != b.author".parse().unwrap();
    let error = pipeline::change_condition(&mut workspace, Some(other), &context).unwrap_err();
    assert!(
        error.to_string().contains("keeps no field author, only"),
        "{error}"
    );
    drop(workspace);
    assert_eq!(found(&out, &all), wanted);
    let mut workspace = pipeline::open_texts(&plain).unwrap();
    let other = second.parse().unwrap();
    let error = pipeline::change_condition(&mut workspace, Some(other), &context).unwrap_err();
    assert!(
        error.to_string().contains("keeps no fields, because"),
        "{error}"
    );
}

#[test]
fn conditions_that_make_no_sense_are_refused() {
    for (text, why) in [
        ("", "is not an expression"),
        ("a.x ==", "is not an expression"),
        ("a == b", "name a field"),
        ("x == a.y", "`x` is not known; write a.x or b.x for a field"),
        (
            "a.X-Source != b.X-Source",
            "`Source` is not known; write a[\"X-Source\"] for a field",
        ),
        (
            "a.y == 1 && !(-b.meta.x-of-y < 2)",
            "`of` is not known; write b.meta[\"x-of-y\"] for a field",
        ),
        ("1 < 2", "names no field"),
        ("false", "`true` lists all pairs"),
        ("a.date < '2024-02-30'", "\"2024-02-30\" is no date"),
        ("a.meta.date >= 'soon'", "\"soon\" is no date"),
        ("f(a.x)", "`f` is not possible"),
        ("a.x == true", "by itself"),
        (
            "contains(a.x, 'y')",
            "`contains` takes one value: a.title.contains",
        ),
        ("abs(a.x, b.x) < 1", "`abs` takes one value"),
        ("a.x == 1 || 5", "a number or a text gives no truth value"),
        ("a.x < date('2024-02-30')", "\"2024-02-30\" is no date"),
        ("a.x - b.x", "`-` gives no truth value"),
        ("a.x == b.x && size(a.y)", "`size` gives no truth value"),
        ("abs(a.x - b.x) < days('30')", "`days` takes numbers"),
        (
            "a.x - '2024-01-31' > 0",
            "`-` takes numbers, and \"2024-01-31\" is a text",
        ),
        (
            "a.y == 5 + 'x'",
            "`+` of a number and the text \"x\" has no value",
        ),
        ("a.n == null", "no value is null"),
        ("a.n / 0 > 1", "divided by 0"),
        ("a.n / 0.0 > 1", "divided by 0"),
        ("a.date > 2024", "2024 is not a date"),
        ("a.date in [2024, 20240131]", "2024 is not a date"),
        ("a.x + 'y' == b.x", "`+` takes numbers"),
        (
            "string(a.x) - 1 > 0",
            "`-` of a number and the text has no value",
        ),
        ("a.x.contains(5)", "`contains` takes one value"),
        ("size(5) > 1", "`size` takes one value"),
        ("a.x in b.x", "a list stands after `in`"),
        ("a.x < ['y']", "a list stands after `in`"),
        ("(a.x == b.x) > 5", "by itself"),
        ("date(a.x) > 'soon'", "\"soon\" is no date"),
        ("size(a.title) > '5'", "`>` of a number and the text \"5\""),
        ("a.x % 2 == 0", "is not possible"),
        ("[1, 2].all(n, a.x > n)", "no loops"),
        ("a.x.all(n, n > 1)", "no loops"),
        ("{'a': a.x} == {}", "no loops"),
        ("a.x == 'b\nc'", "one line"),
        (
            &format!("a.x == '{}'", "y".repeat(5000)),
            "at most 4096 bytes",
        ),
        (&format!("a.x{} == b.x", "-1".repeat(1500)), "too deep"),
        (&format!("{}a.x == b.x", "!".repeat(4000)), ""),
        (
            &format!("{}a.x{} == b.x", "(".repeat(2000), ")".repeat(2000)),
            "",
        ),
        (&format!("a.x{} == b.x", "[0]".repeat(1300)), ""),
        (&vec!["a.x == b.x"; 280].join(" && "), "-"),
    ] {
        let parsed = text.parse::<Condition>();
        match why {
            // Deep or long: whatever it is, it ends.
            "" => {}
            "-" => assert!(parsed.is_ok(), "{parsed:?}"),
            why => {
                let error = parsed.expect_err(text);
                assert!(error.contains(why), "{text}: {error}");
            }
        }
    }
}

#[test]
fn an_addition_says_what_is_missing() {
    let place = common::temporary();
    let place = place.path();
    let mut said = Vec::new();
    for (file, fields, command) in [
        (
            "1.jsonl",
            json!({"source": "s"}),
            "run 1.jsonl -o out --where a.source!=b.source",
        ),
        ("2.jsonl", json!({"other": "s"}), "add out 2.jsonl"),
        (
            "3.jsonl",
            json!({}),
            "run 3.jsonl --against out -o new --where a.source!=b.source",
        ),
    ] {
        let mut document = json!({"id": file, "text": "some words"});
        document
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        fs::write(place.join(file), format!("{document}\n")).unwrap();
        let mut program = std::process::Command::new(common::lookalike());
        let ran = program
            .current_dir(place)
            .args(command.split(' '))
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        said.push(String::from_utf8(ran.stderr).unwrap());
    }
    let missing = "warning: --where: 1 of 2 documents without source";
    assert!(
        !said[0].contains("warning") && said[1].contains(missing),
        "{said:?}"
    );
    let missing = "warning: --where: 2 of 3 documents without source";
    assert!(said[2].contains(missing), "{said:?}");
}

/// A field of the records was taken for the folder of their file, which changes with the inputs.
#[test]
fn a_field_of_the_records_is_no_folder() {
    let place = common::temporary();
    let place = place.path();
    fs::create_dir_all(place.join("x/y")).unwrap();
    let line = |n| json!({"id": n, "text": "some words", "folder": "f", "top_folder": "f"});
    let lines: String = (0..2).map(|n| format!("{}\n", line(n))).collect();
    fs::write(place.join("x/y/1.jsonl"), lines).unwrap();
    let rule = "--where a.folder==b.folder&&a.top_folder==b.top_folder";
    for command in [
        format!("run x -o out {rule}"),
        format!("run x/y -o out {rule}"),
        "add out x/y".into(),
    ] {
        let mut program = std::process::Command::new(common::lookalike());
        let ran = program.current_dir(place).args(command.split(' '));
        let ran = ran.output().unwrap();
        assert!(ran.status.success(), "{command}: {ran:?}");
    }
    // As long as records are missing, nobody knows which folders they have.
    let mut workspace = pipeline::open(&place.join("out")).unwrap();
    workspace.manifest.set(Ingested(false));
    workspace.commit(&[]).unwrap();
    drop(workspace);
    for command in [format!("run x/y -o out {rule}"), "add out x/y".into()] {
        let mut program = std::process::Command::new(common::lookalike());
        let ran = program.current_dir(place).args(command.split(' '));
        let said = String::from_utf8(ran.output().unwrap().stderr).unwrap();
        assert!(said.contains("compares folders"), "{command}: {said}");
    }
}

/// The docnos of the pairs of a file under a condition.
fn pairs_of(bytes: &[u8], name: &str, condition: &str) -> Vec<String> {
    let place = common::temporary();
    let (file, out) = (place.path().join(name), place.path().join("out"));
    fs::write(&file, bytes).unwrap();
    with(Run::default(), condition)
        .threshold("0.5")
        .run(&[&file], &out)
        .unwrap();
    let pairs = rows(&results(&out)["pairs.tsv"]);
    let docnos = |row: &String| row.split('\t').take(2).collect::<Vec<_>>().join(" ");
    pairs.iter().map(docnos).collect()
}

#[test]
fn fields_are_columns_and_headers() {
    let text: String = (0..40).map(|n| format!("w{n} ")).collect();
    let all = 0..4;
    let table: String = all
        .clone()
        .map(|n| format!("c{n},{},{n},{text}{n}\n", n % 2))
        .collect();
    let table = format!("id,source,n,text\n{table}");
    let found = pairs_of(
        table.as_bytes(),
        "t.csv",
        "a.source == b.source && b.n in [2, 3.0]",
    );
    assert_eq!(found, ["c0 c2", "c1 c3"]);
    let mail: String = all
        .clone()
        .map(|n| {
            let day = 10 + n * 2;
            format!(
                "From a@b Sat Jan 31 12:00:00 2004\nMessage-ID: <m{n}>\nX-List: l{}\n\
                 Date: {day} Jan 2004 12:00:00 +0000\n\n{text}{n}\n\n",
                n % 2
            )
        })
        .collect();
    let near = r#"a["X-List"] != b["X-List"] && b.date - a.date <= days(2)"#;
    assert_eq!(pairs_of(mail.as_bytes(), "m.mbox", near).len(), 3);
    let web: String = all
        .map(|n| {
            let page = format!("HTTP/1.1 200 OK\r\nServer: s{}\r\n\r\n{text}{n}", n % 2);
            format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{n}>\r\n\
                 WARC-Target-URI: http://H{n}.org:80/p{}?q\r\nWARC-Date: 2024-01-0{}T00:00:00Z\r\n\
                 Content-Length: {}\r\n\r\n{page}\r\n\r\n",
                n / 2,
                n + 1,
                page.len()
            )
        })
        .collect();
    for (condition, expected) in [
        (
            "a.Server == b.Server && a.date < b.date",
            vec!["0 2", "1 3"],
        ),
        ("a.path == b.path && a.host != b.host", vec!["0 1", "2 3"]),
        ("a.path == b.path && a.host == 'h0.org'", vec!["0 1"]),
        ("a['WARC-Date'] > b['WARC-Date']", vec![]),
        (
            "a.words == b.words && date('2024-01-02') == a.date",
            vec!["1 2", "1 3"],
        ),
        (
            "size(a.docno) == 1 && b.url.contains('p1') && a.file == 'w.warc' && a.docno == '0'",
            vec!["0 2", "0 3"],
        ),
    ] {
        assert_eq!(
            pairs_of(web.as_bytes(), "w.warc", condition),
            expected,
            "{condition}"
        );
    }
}

/// Dates in seconds, in milliseconds, as eight digits and as text are of one kind, and so is a date in
/// the condition.
#[test]
fn dates_may_have_any_unit() {
    let text: String = (0..40).map(|n| format!("w{n} ")).collect();
    let dates = [
        json!("2024-01-30"),
        json!(1_706_659_200_000_u64),
        json!(1_706_745_600),
        json!(20_240_301),
        json!("soon"),
        // As a table writes a column of numbers with a missing one.
        json!(20_250_101.0),
        json!("20250102.0"),
        json!("2.0250104E7"),
        json!(20_250_106_100_000_u64),
        json!("07-Jan-2025"),
        json!(2026),
        json!(202_602),
    ];
    let lines = dates.iter().enumerate().map(|(n, date)| {
        let text = format!("{text}{n}");
        format!(
            "{}\n",
            json!({"id": format!("d{n}"), "date": date, "when": date, "text": text})
        )
    });
    let lines: String = lines.collect();
    for (condition, expected) in [
        (
            "abs(a.date - b.date) <= days(2)",
            vec!["d0 d1", "d0 d2", "d1 d2", "d5 d6", "d6 d7", "d8 d9"],
        ),
        (
            "a.date < '2024-01-31' && b.date > \"2024-02-01\" && b.date < '2025-01-01'",
            vec!["d0 d3"],
        ),
        (
            "date(b.date) == date('2024-03-01')",
            vec!["d0 d3", "d1 d3", "d2 d3"],
        ),
        (
            "b.date - a.date > 2592000 && b.date < '2025-01-01'",
            vec!["d0 d3"],
        ),
        (
            "abs(a.when - b.when) < days(2)",
            vec!["d0 d1", "d1 d2", "d5 d6", "d8 d9"],
        ),
        (
            "date(a.when) >= date('2025-01-04') && date(b.when) - date(a.when) < hours(59)",
            vec!["d7 d8", "d8 d9"],
        ),
        (
            "a.date >= 20240131 && b.date != 20240201 && b.date <= 20240301",
            vec!["d1 d3", "d2 d3"],
        ),
        (
            "a.date in [20240131, 20240201] && b.date == 20240301",
            vec!["d1 d3", "d2 d3"],
        ),
        (
            "date(a.when) == date('2026') && b.date > '2026-01-31'",
            vec!["d10 d11"],
        ),
    ] {
        assert_eq!(
            pairs_of(lines.as_bytes(), "in.jsonl", condition),
            expected,
            "{condition}"
        );
    }
}

/// Integers that differ only behind the digits of a number of 64 bits have an order.
#[test]
fn large_integers_keep_their_order() {
    let place = common::temporary();
    let at = place.path();
    let text: String = (0..40).map(|n| format!("w{n} ")).collect();
    let line = |n: i64| {
        let id = 1_750_000_000_000_000_000 + 3 * n;
        let record = json!({"id": format!("d{n}"), "text": format!("{text}{n}"), "tid": id,
            "edge": 9_007_199_254_740_992_i64 + n % 2});
        format!("{record}\n")
    };
    let lines = (0..3).map(line).collect::<String>();
    for (condition, pairs) in [
        ("a.tid < b.tid", vec!["d0 d1", "d0 d2", "d1 d2"]),
        ("a.tid > b.tid", vec![]),
        ("a.tid <= '1750000000000000002'", vec!["d0 d1", "d0 d2"]),
        ("a.edge < b.edge", vec!["d0 d1"]),
    ] {
        let found = pairs_of(lines.as_bytes(), "in.jsonl", condition);
        assert_eq!(found, pairs, "{condition}");
    }
    fs::write(at.join("in.jsonl"), lines).unwrap();
    for (condition, warns) in [
        ("a.tid<b.tid", false),
        ("b.tid-a.tid<4", true),
        ("a.tid<1750000000000000002", true),
        ("b.words-a.words<4", false),
    ] {
        let out = format!("out{}", condition.len());
        let warned = said(at, &format!("run in.jsonl -o {out} --where {condition}"));
        let found = warned.contains("2 values of tid with too many digits, such as \"17500000");
        assert_eq!(found, warns, "{warned}");
    }
}

/// Returns the output of a command that succeeds.
#[track_caller]
fn said(at: &Path, command: &str) -> String {
    let mut program = std::process::Command::new(common::lookalike());
    let ran = program.current_dir(at).args(command.split(' ')).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stderr).unwrap() + &String::from_utf8(ran.stdout).unwrap()
}

/// Dates that `date` cannot read are counted, also with `--against` and by `dedup`; if it can read
/// none, or all texts are empty, the condition is refused.
#[test]
fn dates_that_cannot_be_read_are_told() {
    let place = common::temporary();
    let at = place.path();
    let text: String = (0..40).map(|n| format!("w{n} ")).collect();
    let record = |n: usize| {
        let when = ["31.01.2024", "01.02.2024", "2024-02-01", "2024-02-02"][n];
        json!({"id": format!("d{n}"), "text": format!("{text}{n}"), "when": when, "k": ""})
    };
    let lines = |range: std::ops::Range<usize>| {
        let lines = range.map(|n| format!("{}\n", record(n)));
        lines.collect::<String>()
    };
    fs::write(at.join("in.jsonl"), lines(0..4)).unwrap();
    fs::write(at.join("bad.jsonl"), lines(0..2)).unwrap();
    let told = " values of when not a number or a date, such as \"31.01.2024\"";
    let condition = "date(a.when)<=date(b.when)";
    for (values, command) in [
        (2, "run in.jsonl -o old"),
        (4, "run in.jsonl -o new --against old"),
        (2, "dedup in.jsonl -o kept"),
    ] {
        let warned = said(at, &format!("{command} --where {condition}"));
        assert!(warned.contains(&format!("{values}{told}")), "{warned}");
    }
    let read = said(
        at,
        &format!("stage ingest in.jsonl -o read --where {condition}"),
    );
    assert!(
        read.contains("are pairs if --where holds for them.\n"),
        "{read}"
    );
    assert!(!read.contains("0 documents repeat"), "{read}");
    for (condition, why) in [
        (condition, "no value of when is a number or a date, such as"),
        (
            "a.k == b.k",
            "k (string), text (string), when (string); an empty text counts as missing",
        ),
    ] {
        let (file, out) = (at.join("bad.jsonl"), at.join("refused"));
        let error = with(Run::default(), condition).run(&[&file], &out);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains(why) && !error.contains("did you mean"),
            "{error}"
        );
    }
    // A condition may begin with a minus.
    said(at, "run in.jsonl -o minus --where -(b.when-a.when)<days(5)");
}

/// What no pair can meet is refused when the values are known.
#[test]
fn conditions_that_no_values_meet_are_refused() {
    let place = common::temporary();
    let (file, out) = (place.path().join("in.jsonl"), place.path().join("out"));
    let line = |n: usize| {
        let text: String = (0..40).map(|n| format!("w{n} ")).collect();
        let some = ["true", "x", "y"][n];
        let record = json!({"id": format!("d{n}"), "text": format!("{text}{n}"), "src": "x",
            "n": n, "flag": n > 0, "some": some, "zero": 0});
        format!("{record}\n")
    };
    fs::write(&file, (0..3).map(line).collect::<String>()).unwrap();
    for condition in ["a.n", "!b.n"] {
        let error = with(Run::default(), condition).run(&[&file], &out);
        let error = error.unwrap_err().to_string();
        let said = "no value of n is true or false, such as \"0\"";
        assert!(error.contains(said) && !out.exists(), "{error}");
    }
    for (condition, docnos) in [
        ("a.some < b.some", vec!["d0 d1", "d0 d2", "d1 d2"]),
        ("a.src < 'y' && a.flag", vec!["d1 d2"]),
        ("!a.flag", vec!["d0 d1", "d0 d2"]),
        // What is neither is neither true nor false.
        ("a.some || !b.some", vec!["d0 d1", "d0 d2"]),
        ("string(a.zero) == b.zero", vec!["d0 d1", "d0 d2", "d1 d2"]),
    ] {
        let bytes = fs::read(&file).unwrap();
        assert_eq!(
            pairs_of(&bytes, "in.jsonl", condition),
            docnos,
            "{condition}"
        );
    }
}

/// A condition that has no answer for any pair says so, with the first reason.
#[test]
fn a_condition_without_answers_is_told() {
    let place = common::temporary();
    let at = place.path();
    let line = |n: usize| {
        let text: String = (0..40).map(|n| format!("w{n} ")).collect();
        let mut record =
            json!({"id": format!("d{n}"), "text": format!("{text}{n}"), "n": 0, "src": "x"});
        let field = if n == 0 { "first" } else { "other" };
        record[field] = json!("x");
        format!("{record}\n")
    };
    fs::write(at.join("in.jsonl"), (0..3).map(line).collect::<String>()).unwrap();
    let said = |command: &str| said(at, command);
    let missing = "--where holds for no pair and has no answer for 3 of 3, such as d0 and d1: ";
    for (join, condition, why) in [
        ("prefix", "a.first==b.first", "b has no first"),
        ("count", "a.first==b.first", "b has no first"),
        ("prefix", "a.n/b.n>1", "or a calculation no result"),
        ("count", "a.n<b.src", "numbers and texts have no order"),
    ] {
        let out = format!("{join}-{}", condition.len());
        let run = format!("run in.jsonl -o {out} --threshold 0.5 --join {join} --where");
        let warned = said(&format!("{run} {condition}"));
        assert!(warned.contains(missing) && warned.contains(why), "{warned}");
        let next = format!("\nTry another condition: lookalike run --from {out} --where 'EXPR'\n");
        assert!(warned.contains(&next), "{warned}");
        let status = said(&format!("status {out}"));
        let row = status.lines().find(|line| line.starts_with("no answer "));
        assert!(row.unwrap().contains(missing), "{status}");
        said(&format!("report {out}"));
        let page = fs::read_to_string(at.join(&out).join("report.html")).unwrap();
        assert!(page.contains(missing), "{page}");
        let found = said(&format!("passages {out} --length 5 --quiet"));
        assert!(found.contains("no answer for"), "{found}");
    }
    // Pairs are counted once, however early they are looked at.
    fs::write(
        at.join("many.jsonl"),
        (0..200).map(line).collect::<String>(),
    )
    .unwrap();
    let all =
        "run many.jsonl -o many --threshold 0.5 --quiet --pairs none --where a.first==b.first";
    let counts = "no answer for 19,900 of 19,900, such as d0 and d1: b has no first";
    assert!(said(all).contains(counts), "{}", said(all));
    // One pair that can be decided is enough.
    let warned = said("run in.jsonl -o some --threshold 0.5 --quiet --where a.other==b.other");
    assert!(!warned.contains("no answer"), "{warned}");
}

/// The survivor of a removed document is the first kept one with the same words for which the
/// condition holds, and without one the first other.
#[test]
fn survivors_with_the_same_words_come_first() {
    let (mut same, mut near) = (0, 0);
    for (seed, keep) in (0..12).flat_map(|seed| [(seed, "first"), (seed, "newest:date")]) {
        let mut random = Random(seed + 900);
        let all = documents(&mut random);
        let date = |n: &usize| {
            let date = all[*n].fields.get("date").filter(|date| **date != "soon");
            std::cmp::Reverse(date.filter(|_| keep != "first"))
        };
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(date);
        let test = match seed % 3 {
            0 => Test::Differ("source"),
            1 => Test::Before,
            _ => Test::Words(1),
        };
        let pairs = expected(&all, 5, &test);
        let mut kept: Vec<usize> = Vec::new();
        let mut wanted = BTreeMap::new();
        for b in order {
            let with = |a: &&usize| pairs.contains(&(b.min(**a), b.max(**a)));
            let is_same = |a: &&usize| all[**a].words == all[b].words;
            let first = kept.iter().find(|a| with(a) && is_same(a));
            let first = first.inspect(|_| same += 1);
            match first.or_else(|| kept.iter().find(|a| with(a)).inspect(|_| near += 1)) {
                Some(&a) => drop(wanted.insert(all[b].docno.clone(), all[a].docno.clone())),
                None => kept.push(b),
            }
        }
        let place = common::temporary();
        write(&all, &place.path().join("in.jsonl"));
        let mut program = std::process::Command::new(common::lookalike());
        let ran = program.current_dir(place.path()).args([
            "dedup",
            "in.jsonl",
            "-o",
            "lists",
            "--keep",
            keep,
            "--ids-only",
            "--threshold",
            "0.5",
            "--shingle-size",
            "3",
            "--where",
            &test.text(),
        ]);
        assert!(ran.output().unwrap().status.success());
        let removed = fs::read_to_string(place.path().join("lists/removed.tsv")).unwrap();
        let mut lines = removed.lines().filter(|line| !line.starts_with('#'));
        let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
        let [docno, survivor] = ["docno", "survivor_docno"]
            .map(|name| head.iter().position(|column| *column == name).unwrap());
        let found = lines.map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            (cells[docno].to_string(), cells[survivor].to_string())
        });
        assert_eq!(
            found.collect::<BTreeMap<_, _>>(),
            wanted,
            "seed {seed} {keep}"
        );
    }
    assert!(same > 40 && near > 10, "{same}, {near}");
}

/// What cannot be read as a date is never before or after one, nor beside another such text.
#[test]
fn unreadable_dates_are_in_no_pair() {
    let text: String = (0..40).map(|n| format!("w{n} ")).collect();
    let line = |(n, date): (usize, &&str)| {
        let record = json!({"id": format!("d{n}"), "date": date, "x": date, "text": text});
        format!("{record}\n")
    };
    let lines = |dates: &[&str]| dates.iter().enumerate().map(line).collect::<String>();
    let some = lines(&["soon", "later", "2024-01-30", "2024-01-31"]);
    for (condition, expected) in [
        ("a.date < b.date", vec!["d2 d3"]),
        ("a.date > b.date", vec![]),
        // Texts have an order if nothing says that they are dates.
        ("a.x > b.x", vec!["d0 d1"]),
    ] {
        assert_eq!(pairs_of(some.as_bytes(), "in.jsonl", condition), expected);
    }
    let place = common::temporary();
    let (file, out) = (place.path().join("in.jsonl"), place.path().join("out"));
    fs::write(&file, lines(&["soon", "later"])).unwrap();
    let run = |condition| with(Run::default(), condition).run(&[&file], &out);
    let error = run("a.date < b.date").unwrap_err().to_string();
    assert!(
        error.contains("no value of date is a number or a date, such as \"soon\""),
        "{error}"
    );
    assert!(!out.exists());
    run("a.x < b.x").unwrap();
}

/// Pages of one template are united as soon as they are verified: only those that the condition allows.
#[test]
fn clusters_without_pairs_are_those_of_the_pairs() {
    let place = common::temporary();
    let template: String = (0..200).map(|n| format!("w{n} ")).collect();
    let lines = (0..90).map(|n| {
        let text = format!("{template}page {n}");
        format!(
            "{}\n",
            json!({"id": format!("d{n}"), "source": format!("s{}", n % 3), "text": text})
        )
    });
    let file = place.path().join("in.jsonl");
    fs::write(&file, lines.collect::<String>()).unwrap();
    let clusters = ["all", "none"].map(|pairs| {
        let out = place.path().join(pairs);
        let mut run = with(Run::default(), "a.source == b.source");
        run.question.join.pairs = pairs.parse().unwrap();
        run.run(&[&file], &out).unwrap();
        let files = results(&out);
        let lines = std::str::from_utf8(&files["clusters.jsonl"])
            .unwrap()
            .lines();
        let members = lines.map(|line| {
            let cluster: Value = serde_json::from_str(line).unwrap();
            cluster["members"].as_array().unwrap().len()
        });
        members.collect::<Vec<_>>()
    });
    assert_eq!(clusters, [vec![30; 3], vec![30; 3]]);
}
