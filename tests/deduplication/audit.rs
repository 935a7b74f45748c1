//! The audit of a deduplication says what the oracle says, changes nothing, and takes nothing of a
//! document for markup.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use html5gum::{Token, Tokenizer};
use lookalike::base::progress::{Silent, Stop};
use lookalike::tasks::audit::review::Correct;
use lookalike::tasks::audit::{self, Audit, AuditConfig, ROWS_SHOWN, SampleKind, Source};
use lookalike::tasks::dedup::Removal;
use serde_json::{Value, json};

use super::oracle::{Fate, Oracle, Question};
use super::support::{Record, call, dedup, done, lines, place, records, warc_fields};
use crate::common::corpus::{Random, Shape, random_corpus};
use crate::common::{Run, assert_same_files, copy_directory, sample_corpora, tree};

const HOSTS: usize = 30;

/// A random corpus in 26 files. A document may have an address, a date and a source.
fn write_corpus(seed: u64, directory: &Path) {
    let shape = Shape {
        families: 16,
        members: 4,
        words: 50,
        vocabulary: 70,
        boilerplate: 8,
    };
    let random = &mut Random(seed);
    let docs = random_corpus(seed, shape);
    let mut files = vec![String::new(); 26];
    for (i, doc) in docs.iter().enumerate() {
        let mut value = json!({"id": format!("D{i}"), "text": doc.text});
        if !random.once_in(10) {
            let host = random.below(HOSTS) * random.below(HOSTS) / HOSTS;
            let form = [
                "http://host-@.example/a",
                "https://u:p@HOST-@.example.:80?q",
            ];
            value["url"] = random.pick(&form).replace('@', &host.to_string()).into();
        }
        if !random.once_in(10) {
            let year = 1990 + random.below(25);
            let form = [
                "@-05-06T07:08:09Z",
                "@",
                "@0506",
                "Sun, 6 May @ 07:08:09 GMT",
            ];
            value["date"] = random.pick(&form).replace('@', &year.to_string()).into();
        }
        if random.once_in(3) {
            value["date"] = "soon".into();
        }
        if !random.once_in(10) {
            value["meta"] = json!({"source": format!("s{}", random.below(25))});
        }
        // Without a text it is rejected.
        if random.once_in(15) {
            value["note"] = value["text"].take();
        }
        files[i * 26 / docs.len()] += &format!("{value}\n");
    }
    fs::create_dir_all(directory).unwrap();
    for (number, text) in files.iter().enumerate() {
        fs::write(directory.join(format!("{number:02}.jsonl")), text).unwrap();
    }
}

/// The audit of a directory, by the library.
fn audited(place: &Path, kept: &str, config: &AuditConfig) -> Audit {
    let stop = Stop::default();
    let run = Run::default();
    let kept = place.join(kept);
    let context = run.context(&stop, &Silent);
    let workspace = audit::open_work(&kept, &context).unwrap();
    audit::audit(&kept, &workspace, config, &context).unwrap()
}

/// A row of a table: value, documents, removed by reason.
type Row = (String, u64, [u64; 9]);

/// The rows that are shown; the number of other values, with their documents and removals; the
/// documents without a value, and the removals of these.
type Rows = (Vec<Row>, (u64, u64, [u64; 9]), (u64, [u64; 9]));

fn reason_number(reason: &str) -> usize {
    let all = Removal::ALL.map(Removal::text);
    all.iter().position(|text| *text == reason).unwrap()
}

/// Documents counted by a value.
fn counted(fates: &[Fate], value: impl Fn(usize) -> Option<String>) -> Rows {
    let mut rows: BTreeMap<Option<String>, (u64, [u64; 9], usize)> = BTreeMap::new();
    for (document, fate) in fates.iter().enumerate() {
        let row = rows.entry(value(document)).or_insert((0, [0; 9], document));
        row.0 += 1;
        if let Fate::Removed(reason, _) = fate {
            row.1[reason_number(reason)] += 1;
        }
    }
    let without = rows.remove(&None).unwrap_or_default();
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, (documents, _, first))| (u64::MAX - documents, *first));
    let rest = rows.split_off(ROWS_SHOWN.min(rows.len()));
    let mut others = (rest.len() as u64, 0, [0; 9]);
    for (_, (documents, removed, _)) in rest {
        others.1 += documents;
        for (sum, more) in others.2.iter_mut().zip(removed) {
            *sum += more;
        }
    }
    let rows = rows.into_iter();
    let rows = rows.map(|(value, (documents, removed, _))| (value.unwrap(), documents, removed));
    (rows.collect(), others, (without.0, without.1))
}

/// Reads the document of a record.
fn object(record: &Record) -> Value {
    serde_json::from_slice(&record.bytes).unwrap_or_default()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(Into::into)
}

/// The value of a source, by a second way.
fn value_of(record: &Record, source: Option<&str>) -> Option<String> {
    let warc = warc_fields(&record.bytes);
    match source {
        None => Some(record.file.clone()),
        Some("host") => {
            let url = text(&object(record)["url"]).or(warc.get("warc-target-uri").cloned())?;
            let host = url.split('/').nth(2)?.rsplit('@').next()?;
            let host = host.split([':', '?']).next()?.trim_end_matches('.');
            Some(host.to_lowercase())
        }
        Some("year") => {
            let date = text(&object(record)["date"]).or(warc.get("warc-date").cloned())?;
            let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
            let part = date.split([' ', '-', ',']);
            let mut part = part.filter(|part| part.len() >= 4 && digits(part));
            Some(part.next()?[..4].into())
        }
        Some(_) => text(&object(record)["meta"]["source"]),
    }
}

/// Compares fractions.
fn order(a: (usize, usize), b: (usize, usize)) -> Ordering {
    (a.0 * b.1.max(1)).cmp(&(b.0 * a.1.max(1)))
}

/// Counts the events, so that a test in which nothing happened is seen.
#[derive(Debug, Default)]
struct Met(BTreeMap<&'static str, usize>);

/// Compares an audit with the oracle.
fn check(audit: &Audit, oracle: &Oracle<'_>, question: &Question<'_>, met: &mut Met) {
    let what = format!("{question:?}");
    let (fates, label) = oracle.fates(question);
    let most = audit.config.samples;

    // Counts.
    let kept = fates.iter().filter(|fate| **fate == Fate::Kept).count();
    assert_eq!(audit.source.summary.kept, kept as u64, "{what}");
    for table in &audit.tables {
        let source = table.source.as_ref().map(|source| match source {
            Source::Host => "host",
            Source::Year(_) => "year",
            Source::Field(_) => "field",
        });
        let (rows, rest, without) = counted(&fates, |document| {
            value_of(oracle.records[document].0, source)
        });
        let found = table.rows.iter();
        let found = found.map(|row| (row.value.clone(), row.tally.documents, row.tally.removed));
        assert_eq!(found.collect::<Vec<_>>(), rows, "{what} {source:?}");
        let (others, tally) = table.rest;
        assert_eq!(
            (others, tally.documents, tally.removed),
            rest,
            "{what} {source:?}"
        );
        let tally = table.without;
        assert_eq!(
            (tally.documents, tally.removed),
            without,
            "{what} {source:?}"
        );
        *met.0.entry("others").or_default() += rest.0 as usize;
        *met.0.entry("without").or_default() += without.0 as usize;
    }

    // Clusters.
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    label
        .iter()
        .for_each(|label| *sizes.entry(*label).or_default() += 1);
    sizes.retain(|_, size| *size > 1);
    assert_eq!(audit.all_clusters, sizes.len() as u64, "{what}");
    let mut sizes: Vec<(usize, usize)> = sizes.into_iter().collect();
    sizes.sort_by_key(|(root, size)| (usize::MAX - size, *root));
    sizes.truncate(audit.config.clusters);
    assert_eq!(audit.clusters.len(), sizes.len(), "{what}");
    for (cluster, (root, size)) in audit.clusters.iter().zip(sizes) {
        let members: Vec<usize> = (0..fates.len()).filter(|of| label[*of] == root).collect();
        let is_kept = |of: &&usize| fates[**of] == Fate::Kept;
        let (survivors, gone): (Vec<&usize>, Vec<&usize>) = members.iter().partition(is_kept);
        assert_eq!(cluster.members, size as u64, "{what}");
        assert_eq!(cluster.kept, survivors.len() as u64, "{what}");
        let shown = survivors.into_iter().chain(gone).take(audit::MEMBERS_SHOWN);
        let shown: Vec<u32> = shown.map(|of| *of as u32).collect();
        let found: Vec<u32> = cluster.shown.iter().map(|member| member.document).collect();
        assert_eq!(found, shown, "{what}");
        for member in &cluster.shown {
            let expected = match &fates[member.document as usize] {
                Fate::Kept => None,
                Fate::Removed(reason, _) => Some(*reason),
            };
            assert_eq!(member.removed.map(Removal::text), expected, "{what}");
        }
    }

    // Removals.
    let score = |a, b| oracle.score(question.containment, a, b);
    let mut removals = Vec::new();
    for (document, fate) in fates.iter().enumerate() {
        if let Fate::Removed(reason, Some(survivor)) = fate
            && !["identical", "same words"].contains(reason)
        {
            removals.push((document, *survivor, *reason));
        }
    }
    let pairs = |kind| -> Vec<(usize, usize)> {
        let pairs = audit.sample(kind);
        pairs
            .map(|pair| (pair.document as usize, pair.other as usize))
            .collect()
    };
    let random = pairs(SampleKind::Random);
    assert_eq!(audit.drawn_from, removals.len() as u64, "{what}");
    assert_eq!(random.len(), most.min(removals.len()), "{what}");
    assert!(random.is_sorted_by(|a, b| a.0 < b.0), "{what}");
    let there: BTreeSet<(usize, usize)> = removals.iter().map(|of| (of.0, of.1)).collect();
    assert!(random.iter().all(|pair| there.contains(pair)), "{what}");
    let all = removals.len();
    removals.retain(|(.., reason)| *reason != "chain");
    *met.0.entry("chains").or_default() += all - removals.len();
    removals.sort_by(|a, b| order(score(a.0, a.1), score(b.0, b.1)).then(a.0.cmp(&b.0)));
    assert_eq!(audit.reaching, removals.len() as u64, "{what}");
    let nearest: Vec<_> = removals.iter().take(most).map(|of| (of.0, of.1)).collect();
    assert_eq!(pairs(SampleKind::Nearest), nearest, "{what}");
    *met.0.entry("nearest").or_default() += nearest.len();

    // Near misses: of exact duplicates that all stay, one is compared.
    let (p, q) = question.threshold;
    let from = if p * 10 > 2 * q {
        (p * 10 - q, q * 10)
    } else {
        (p, q * 2)
    };
    let mut kept: Vec<usize> = Vec::new();
    for (document, fate) in fates.iter().enumerate() {
        let again = kept.iter().any(|&kept| oracle.equal(kept, document));
        if *fate == Fate::Kept && !again {
            kept.push(document);
        }
    }
    let mut misses = Vec::new();
    for (at, &a) in kept.iter().enumerate() {
        for &b in &kept[at + 1..] {
            let score = score(a, b);
            if score.0 > 0 && order(score, (p, q)).is_lt() && order(score, from).is_ge() {
                misses.push((score, a, b));
            }
        }
    }
    misses.sort_by(|a, b| order(b.0, a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    assert_eq!(audit.near_misses, misses.len() as u64, "{what}");
    let misses: Vec<_> = misses.iter().take(most).map(|of| (of.1, of.2)).collect();
    assert_eq!(pairs(SampleKind::NearMiss), misses, "{what}");
    *met.0.entry("near misses").or_default() += misses.len();

    // The pairs, whatever the kind.
    for pair in &audit.pairs {
        let (shared, whole) = score(pair.document as usize, pair.other as usize);
        let expected = shared as f64 / whole as f64;
        let found: f64 = pair.score.parse().unwrap();
        assert!((found - expected).abs() < 5.1e-7, "{what}: {pair:?}");
        for document in [pair.document, pair.other] {
            let (record, expected) = &oracle.records[document as usize];
            let found = &audit.documents[&document];
            let place = (&found.docno, &*found.file, found.record, found.words);
            assert_eq!(
                place,
                (
                    &expected.docno,
                    &*record.file,
                    Some(record.number.into()),
                    expected.words
                )
            );
        }
    }
}

fn config(by: &[&str], samples: usize) -> AuditConfig {
    AuditConfig {
        by: by.iter().map(|source| source.parse().unwrap()).collect(),
        samples,
        clusters: 5,
        ..AuditConfig::default()
    }
}

#[test]
fn audits_of_random_corpora_are_those_of_the_definitions() {
    let mut met = Met::default();
    for (seed, threshold, fraction) in [
        (1, "0.5", (1, 2)),
        (2, "0.3", (3, 10)),
        (3, "0.15", (3, 20)),
    ] {
        let (_place, place) = place(&[]);
        write_corpus(seed, &place.join("in"));
        let more = format!("--shingle-size 3 --threshold {threshold} --segment-size 2KiB --quiet");
        done(&place, &format!("run in -o run {more}"));
        done(
            &place,
            &format!("run in -o contained --score containment {more}"),
        );
        let all = records(&place.join("in"), 3);
        let oracle = Oracle::new(&all);
        assert!(all.iter().any(|record| record.rejected));
        let listed = [0, 3, 7, 20];
        for (number, (from, rule, keep, listed)) in [
            ("run", "star", &[][..], &[][..]),
            ("run", "star", &["longest", "last"], &listed),
            ("run", "cluster", &["last"], &[]),
            ("run", "none", &[], &listed),
            ("run", "all", &[], &[]),
            ("contained", "star", &[], &[]),
        ]
        .into_iter()
        .enumerate()
        {
            let question = Question {
                threshold: fraction,
                containment: from == "contained",
                rule,
                keep,
                drop_empty: number % 2 == 1,
                listed,
            };
            let keep: String = keep
                .iter()
                .map(|policy| format!(" --keep {policy}"))
                .collect();
            let empty = ["keep", "drop"][usize::from(question.drop_empty)];
            let mut how =
                format!("--from {from} -o kept{number} --rule {rule} --empty {empty}{keep}");
            if !listed.is_empty() {
                let rows = listed.iter().map(|&listed: &usize| {
                    let record = oracle.records[listed].0;
                    format!("{}\t{}\n", record.file, record.number)
                });
                let rows: String = rows.collect();
                fs::write(place.join("list.tsv"), format!("file\trecord\n{rows}")).unwrap();
                how.push_str(" --remove list.tsv");
            }
            dedup(&place, &how);
            let kept = format!("kept{number}");
            for (by, samples) in [
                (&["host", "year", "field:meta.source"][..], 7),
                (&["year:date", "host", "host"], 1000),
                (&[], 0),
            ] {
                let audit = audited(&place, &kept, &config(by, samples));
                if samples > 0 {
                    check(&audit, &oracle, &question, &mut met);
                }
                // A source that is given twice has one table.
                let different: BTreeSet<&&str> = by.iter().collect();
                assert_eq!(audit.tables.len(), different.len() + 1);
            }
        }
    }
    for what in ["others", "without", "nearest", "near misses", "chains"] {
        assert!(met.0.get(what).is_some_and(|n| *n > 20), "{what}: {met:?}");
    }
}

#[test]
fn audits_of_real_pages_are_those_of_the_definitions() {
    let mut met = Met::default();
    for (format, by) in [
        ("warc", &["host", "year"][..]),
        ("trec-web", &[]),
        ("trec-sgml", &[]),
        ("jsonl", &[]),
    ] {
        let (_place, place) = place(&[]);
        copy_directory(&sample_corpora(format), &place.join("in"));
        dedup(&place, "in -o kept --threshold 0.9");
        let all = records(&place.join("in"), 10);
        let question = Question {
            threshold: (9, 10),
            containment: false,
            rule: "star",
            keep: &[],
            drop_empty: false,
            listed: &[],
        };
        let audit = audited(&place, "kept", &config(by, 25));
        check(&audit, &Oracle::new(&all), &question, &mut met);
    }
    assert!(
        met.0["nearest"] > 20 && met.0["near misses"] > 20,
        "{met:?}"
    );
}

/// The seed decides which removals are drawn, and all are drawn equally often.
#[test]
fn random_removals_are_random() {
    let (_place, place) = place(&[]);
    write_corpus(5, &place.join("in"));
    dedup(&place, "in -o kept --shingle-size 3 --threshold 0.3");
    let mut drawn: BTreeMap<u32, u32> = BTreeMap::new();
    let mut all = 0;
    for seed in 0..60 {
        let config = AuditConfig {
            samples: 5,
            seed,
            clusters: 0,
            by: Vec::new(),
        };
        let audit = audited(&place, "kept", &config);
        all = audit.drawn_from;
        for pair in audit.sample(SampleKind::Random) {
            *drawn.entry(pair.document).or_default() += 1;
        }
    }
    assert!(all >= 15, "{all}");
    // Each is expected 300 / all times: about ten times or more.
    assert_eq!(drawn.len() as u64, all, "{drawn:?}");
    let expected = 300.0 / all as f64;
    for (document, times) in drawn {
        let away = f64::from(times) - expected;
        assert!(
            away.abs() < 5.0 * expected.sqrt(),
            "{document}: {times} of {expected}"
        );
    }
}

#[test]
fn pages_are_the_same_for_any_threads_and_memory() {
    let (_place, place) = place(&[]);
    write_corpus(6, &place.join("in"));
    dedup(&place, "in -o kept --shingle-size 3 --threshold 0.3");
    let before = tree(&place.join("kept"));
    let run = tree(&place.join("kept.work"));
    let mut pages = Vec::new();
    for (number, resources) in [
        "--threads 1",
        "--threads 2",
        "--threads 8",
        "--threads 1 --memory 400MiB",
        "--threads 8 --memory 700MiB",
        "--threads 2 --memory 4GiB --scratch .",
    ]
    .into_iter()
    .enumerate()
    {
        let resources = match resources.contains("scratch") {
            // `report` has no scratch directory; `dedup` has.
            true => {
                let how = "dedup --from kept.work -o again";
                let more = "--report=page-5.html --by host --by year --by field:meta.source";
                done(
                    &place,
                    &format!("{how} {more} --verdicts review-5.jsonl {resources} -q"),
                );
                continue;
            }
            false => resources,
        };
        let by = "--by host --by year --by field:meta.source";
        let files = format!("--output page-{number}.html --verdicts review-{number}.jsonl");
        done(&place, &format!("report kept {by} {files} {resources} -q"));
        pages.push(fs::read(place.join(format!("page-{number}.html"))).unwrap());
    }
    let page = String::from_utf8(pages[0].clone()).unwrap();
    assert!(page.len() > 20_000, "{}", page.len());
    assert!(pages.iter().all(|page| *page == pages[0]));
    let review = |number: usize| fs::read(place.join(format!("review-{number}.jsonl"))).unwrap();
    assert!((1..5).all(|number| review(number) == review(0)));
    assert_eq!(fs::read_to_string(place.join("page-5.html")).unwrap(), page);
    assert_eq!(review(5), review(0));
    assert_same_files(&tree(&place.join("kept")), &before, "kept");
    let mut after = tree(&place.join("kept.work"));
    let mut run = run;
    run.remove("lock");
    after.remove("lock");
    assert_same_files(&after, &run, "kept.work");
}

#[test]
fn a_pass_over_the_inputs_is_shown_if_there_is_one() {
    let (_place, place) = place(&[]);
    write_corpus(6, &place.join("in"));
    dedup(&place, "in -o kept --shingle-size 3 --threshold 0.3");
    for (by, is_read) in [("host", false), ("field:meta.source", true)] {
        let how = format!("report kept --progress json --by {by} --output page.html");
        let ran = call(&place, &how);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let shown = ran.stderr.contains("\"stage\":\"fields\"");
        assert_eq!(shown, is_read, "{by}: {}", ran.stderr);
    }
}

#[test]
fn a_budget_that_is_too_small_is_refused_with_one_that_is_enough() {
    let (_place, place) = place(&[]);
    write_corpus(6, &place.join("in"));
    dedup(&place, "in -o kept --shingle-size 3 --threshold 0.3");
    let ran = call(
        &place,
        "report kept --memory 40MiB --threads 1 -q --by host",
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let mut told = ran.stderr;
    for _ in 0..5 {
        let least = told.split("give --memory ").nth(1).expect(&told);
        let least = least.split_whitespace().next().unwrap();
        let how = format!("report kept --memory {least} --threads 1 -q --by host");
        let ran = call(&place, &how);
        if ran.code == Some(0) {
            return;
        }
        told = ran.stderr;
    }
    panic!("{told}");
}

/// Fills in the verdicts of a review file: by place, whether each is correct.
fn judge(path: &Path, verdict: impl Fn(usize, &Value) -> Value) {
    let mut all = lines(path);
    for (place, line) in all.iter_mut().enumerate() {
        line["correct"] = verdict(place, line);
        line["note"] = format!("note {place}").into();
    }
    let text: String = all.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, text).unwrap();
}

/// The text of a page.
fn page_text(path: &Path) -> String {
    parse(&without_scripts(&fs::read_to_string(path).unwrap()).0).0
}

#[test]
fn verdicts_come_back_with_intervals() {
    let (_place, place) = place(&[]);
    copy_directory(&sample_corpora("warc"), &place.join("in"));
    dedup(&place, "in -o kept --threshold 0.9");
    let review = place.join("review.jsonl");
    let ran = done(&place, "report kept --verdicts review.jsonl");
    assert!(
        ran.stdout.contains("pairs to judge in review.jsonl"),
        "{ran:?}"
    );
    assert!(!page_text(&place.join("kept.report.html")).contains("What the review found"));

    let written = lines(&review);
    let audit = audited(&place, "kept", &AuditConfig::default());
    assert_eq!(written.len(), audit.pairs.len());
    for (line, pair) in written.iter().zip(&audit.pairs) {
        assert_eq!(line["id"], pair.id);
        assert_eq!(line["deduplication"], audit.digest);
        assert_eq!(line["kind"], pair.kind.text());
        assert_eq!(line["correct"], Value::Null);
        assert_eq!(line["note"], "");
        let score: f64 = pair.score.parse().unwrap();
        assert_eq!(line["resemblance"], score);
        for (name, number) in [("document", pair.document), ("other", pair.other)] {
            let (found, expected) = (&line[name], &audit.documents[&number]);
            assert_eq!(found["docno"], expected.docno);
            assert_eq!(found["file"], *expected.file);
            assert_eq!(found["record"], expected.record.unwrap());
            let text = found["text"].as_str().unwrap();
            assert!(text.len() > 100 && text.len() <= audit::review::TEXT_BYTES + 3);
            assert!(
                !text.contains(['\n', '\t']) && !text.contains("  "),
                "{text}"
            );
        }
    }
    // A file that exists is not written.
    let before = fs::read(&review).unwrap();
    let ran = done(&place, "report kept --verdicts review.jsonl");
    assert!(!ran.stdout.contains("pairs to judge"), "{ran:?}");
    assert_eq!(fs::read(&review).unwrap(), before);
    let text = page_text(&place.join("kept.report.html"));
    assert!(text.contains("Removals at random1000––"), "{text}");

    // 9 of 10 at random, 3 of 4 near misses; in any order, with blank lines.
    judge(&review, |place, line| {
        match line["kind"].as_str().unwrap() {
            "random" => (place != 3).into(),
            "near_miss" if place % 2 == 0 => (place != 20).into(),
            "near_miss" => Value::Null,
            _ => Value::Null,
        }
    });
    let mut all: Vec<String> = lines(&review).iter().map(Value::to_string).collect();
    all.reverse();
    fs::write(&review, all.join("\r\n\n")).unwrap();
    done(&place, "report kept --verdicts review.jsonl");
    let text = page_text(&place.join("kept.report.html"));
    assert!(
        text.contains("Removals at random1010990.0 %59.6 % to 98.2 %"),
        "{text}"
    );
    assert!(
        text.contains("Removals nearest the threshold1000––"),
        "{text}"
    );
    let misses = audit.sample(SampleKind::NearMiss).count() as u64;
    let judged = (20..20 + misses).filter(|place| place % 2 == 0).count() as u64;
    let expected = Correct::of(judged - 1, judged).unwrap();
    assert!(expected.low < expected.share && expected.share < expected.high);
    assert!(
        text.contains(&format!("Near misses{misses}{judged}{}", judged - 1)),
        "{text}"
    );
    for what in [
        "✗ wrong",
        "✓ correct",
        "not judged",
        "The review says: wrongly removed. note 3",
        "The review says: rightly removed. note 0",
        "The review says: one of them should go. note 20",
    ] {
        assert!(text.contains(what), "{what}");
    }
}

#[test]
fn damaged_reviews_are_refused_with_the_line() {
    let (_place, place) = place(&[]);
    copy_directory(&sample_corpora("warc"), &place.join("in"));
    dedup(&place, "in -o kept --threshold 0.9");
    dedup(&place, "in -o other --threshold 0.8");
    let review = place.join("review.jsonl");
    done(&place, "report kept --verdicts review.jsonl -q");
    let sound = fs::read_to_string(&review).unwrap();
    let all: Vec<&str> = sound.lines().collect();
    let with = |number: usize, line: &str| {
        let mut all = all.clone();
        all[number - 1] = line;
        all.join("\n")
    };
    let edited = |number: usize, from: &str, to: &str| {
        let line = all[number - 1].replacen(from, to, 1);
        assert_ne!(line, all[number - 1]);
        with(number, &line)
    };
    let end = format!("line {}", all.len() - 1);
    let twice = with(2, all[0]);
    let missing = all[..all.len() - 1].join("\n");
    for (number, (text, arguments, said)) in [
        (with(3, "correct"), "", ["line 3", "expected a JSON object"]),
        (with(3, "{}"), "", ["line 3", "missing field `id`"]),
        (with(1, "[1, 2]"), "", ["line 1", "expected a JSON object"]),
        (
            edited(4, "\"correct\":null", "\"correct\":\"yes\""),
            "",
            ["line 4", "true, false or null"],
        ),
        (edited(4, "\"correct\":null,", ""), "", ["review.jsonl", ""]),
        (
            edited(5, "\"id\":\"", "\"id\":\"0"),
            "",
            ["line 5", "the id of a pair"],
        ),
        (twice, "", ["line 2", "each pair once"]),
        (missing, "", [&end, "1 pair missing"]),
        (
            sound.clone(),
            "--samples 9",
            ["the id of a pair", "--samples and --sample-seed"],
        ),
        (
            sound.clone(),
            "--samples 11",
            ["missing", "--samples and --sample-seed"],
        ),
        (
            sound.clone(),
            "--seed 1",
            ["the id of a pair", "--samples and --sample-seed"],
        ),
        (
            format!("{sound}\0\n"),
            "",
            [&format!("line {}", all.len() + 1), ""],
        ),
        (
            format!("{}\n", "x".repeat(2 << 20)),
            "",
            ["line 1", "a line of at most"],
        ),
        (String::new(), "", ["the end of the file", "missing"]),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(&review, &text).unwrap();
        let ran = call(
            &place,
            &format!("report kept -o page.html --verdicts review.jsonl {arguments}"),
        );
        // A line without a verdict is a pair that is not judged.
        if number == 4 {
            assert_eq!(ran.code, Some(0), "{ran:?}");
            fs::remove_file(place.join("page.html")).unwrap();
            continue;
        }
        assert_eq!(ran.code, Some(1), "{number}: {ran:?}");
        assert!(ran.stderr.contains("review.jsonl"), "{number}: {ran:?}");
        for said in said {
            assert!(ran.stderr.contains(said), "{number}: {said}: {ran:?}");
        }
        assert!(!place.join("page.html").exists(), "{number}");
        assert_eq!(fs::read_to_string(&review).unwrap(), text, "{number}");
    }
    fs::write(&review, &sound).unwrap();
    let ran = call(&place, "report other --verdicts review.jsonl");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for said in [
        "line 1",
        "a pair of the deduplication that wrote other",
        "another one",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {ran:?}");
    }
}

/// The name of an element, and its attributes.
type Element = (String, BTreeMap<String, String>);

/// The text of a page, and its elements. Elements are nested as they should be.
fn parse(page: &str) -> (String, Vec<Element>) {
    let (mut text, mut elements, mut open) = (String::new(), Vec::new(), Vec::new());
    let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    for token in Tokenizer::new(page) {
        match token.unwrap() {
            Token::StartTag(tag) => {
                let name = utf8(&tag.name);
                let attributes = tag.attributes.iter();
                let attributes = attributes.map(|(name, value)| (utf8(name), utf8(value)));
                elements.push((name.clone(), attributes.collect()));
                if !tag.self_closing && !["meta", "br", "img", "input"].contains(&name.as_str()) {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => assert_eq!(open.pop(), Some(utf8(&tag.name))),
            Token::String(more) => text.push_str(&utf8(&more)),
            Token::Comment(comment) => panic!("a comment: {comment:?}"),
            Token::Doctype(_) => {}
            Token::Error(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(open, Vec::<String>::new(), "elements left open");
    (text, elements)
}

/// A page without its scripts, and each with its attributes.
fn without_scripts(page: &str) -> (String, Vec<(&str, &str)>) {
    let mut pieces = page.split("<script");
    let mut rest = pieces.next().unwrap().to_string();
    let mut scripts = Vec::new();
    for piece in pieces {
        let (script, after) = piece.split_once("</script>").unwrap();
        scripts.push(script.split_once('>').unwrap());
        rest += after;
    }
    (rest, scripts)
}

#[test]
fn the_page_begins_with_what_a_person_judges() {
    let (_guard, place) = place(&[]);
    write_corpus(7, &place.join("in"));
    let keep = "--keep prefer:meta.source=s1,s2 --keep longest";
    dedup(
        &place,
        &format!("in -o kept --shingle-size 3 --threshold 0.3 {keep}"),
    );
    done(&place, "report kept --samples 5 -q");
    let page = fs::read_to_string(place.join("kept.report.html")).unwrap();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    let ids = [
        "found",
        "pairs",
        "random",
        "nearest",
        "near-misses",
        "reasons",
        "by-0",
        "clusters",
    ];
    let places: Vec<usize> = ids.iter().map(|id| at(&format!("id=\"{id}\""))).collect();
    assert!(places.is_sorted(), "{places:?}");
    let (rest, scripts) = without_scripts(&page);
    let (text, elements) = parse(&rest);
    assert!(
        text.contains(&format!(
            "lookalike dedup --rule star {keep}, resemblance of at least 0.3"
        )),
        "{text}"
    );
    // Three decimals, and one colour for each kind of document.
    let audit = audited(
        &place,
        "kept",
        &AuditConfig {
            samples: 5,
            ..AuditConfig::default()
        },
    );
    for pair in &audit.pairs {
        let score: f64 = pair.score.parse().unwrap();
        assert!(
            text.contains(&format!("{score:.3}")) && !text.contains(&pair.score),
            "{pair:?}"
        );
    }
    let (_, legend) = page.split_once("<ul class=\"legend\">").unwrap();
    let (legend, _) = legend.split_once("</ul>").unwrap();
    let mut known = 0;
    for name in ["kept", "near-duplicates", "identical"] {
        for item in legend
            .split("<li>")
            .filter(|item| item.contains(&format!("</b> {name} ")))
        {
            assert!(item.contains(&format!("class=\"key {name}\"")), "{item}");
            known += 1;
        }
    }
    assert!(known >= 2, "{legend}");
    // Members of clusters have their dates and addresses.
    let clusters = page.split_once("<section id=\"clusters\">").unwrap().1;
    assert!(
        clusters.contains("T07:08:09Z") || clusters.contains("-05-06 07:08:09"),
        "{clusters}"
    );
    assert!(clusters.contains("href=\"http"), "{clusters}");
    // Each pair has a place for the judgement, and a table of judgements is one for `evaluate`.
    let data = scripts
        .iter()
        .find(|(opening, _)| opening.contains("id=\"pairs\""))
        .unwrap()
        .1;
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["deduplication"], audit.digest);
    let pairs = data["pairs"].as_object().unwrap();
    assert_eq!(pairs.len(), audit.pairs.len());
    let mut table = "docno_a\tdocno_b\tjudgement\n".to_string();
    for pair in &audit.pairs {
        let names =
            [pair.document, pair.other].map(|number| audit.documents[&number].docno.clone());
        assert_eq!(pairs[&pair.id], json!(names));
        let place = ("id".to_string(), format!("judge-{}", pair.id));
        assert!(
            elements
                .iter()
                .any(|(_, attributes)| attributes.get(&place.0) == Some(&place.1))
        );
        let judged = u8::from(pair.kind != SampleKind::NearMiss);
        table += &format!("{}\t{}\t{judged}\n", names[0], names[1]);
    }
    fs::write(place.join("judged.tsv"), table).unwrap();
    let ran = done(&place, "evaluate kept.work --judged judged.tsv --json");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["judged"]["at"][0]["coverage"], 1.0, "{found}");
}

#[test]
fn a_page_about_nothing_has_no_empty_sections() {
    let (_guard, place) = place(&[(
        "in/a.jsonl",
        b"{\"text\": \"a b c\"}\n{\"text\": \"d e f\"}\n",
    )]);
    dedup(&place, "in -o kept");
    done(&place, "report kept -q");
    let page = fs::read_to_string(place.join("kept.report.html")).unwrap();
    let heads: Vec<&str> = page
        .split("<h2")
        .skip(1)
        .map(|rest| &rest[..rest.find("</h2>").unwrap()])
        .collect();
    assert_eq!(heads, [">By input file"], "{page}");
    assert!(
        !page.contains("<script") && page.matches("href=\"#").count() == 2,
        "{page}"
    );
}

#[test]
fn hostile_documents_stay_text() {
    const PAYLOADS: [&str; 7] = [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>",
        "a\u{2028}b\u{2029}c\u{202e}d\0e\u{7f}\u{85}\u{ffff}",
        "<!-- --><![CDATA[x]]>",
        "</td></table></details></style><b>",
        "&lt;b&gt;&#39;javascript:alert(1)",
    ];
    let words =
        |from: usize, to: usize| -> String { (from..to).map(|n| format!("w{n} ")).collect() };
    let mut text = String::new();
    for (number, payload) in PAYLOADS.iter().enumerate() {
        let base = 1000 * number;
        // A removal, and a near miss: 86 and 74 of 100 shingles.
        for (name, end) in [("a", 160), ("b", 150), ("c", 132)] {
            let body = format!("{payload} {}{payload}", words(base, base + end));
            let document = json!({
                "id": format!("{payload}{name}"), "text": body, "title": payload,
                "url": format!("javascript:{payload}"), "source": payload, "date": payload,
            });
            text += &format!("{document}\n");
        }
    }
    let name = "<img src=x onerror=alert(2)>.jsonl";
    let (_guard, place) = place(&[(&format!("in/{name}"), text.as_bytes())]);
    dedup(&place, "in -o kept --shingle-size 3");
    let how = "report kept --by host --by field:source --by year --samples 30 --verdicts r.jsonl";
    done(&place, &format!("{how} -q"));
    judge(&place.join("r.jsonl"), |_, _| true.into());
    let mut all = lines(&place.join("r.jsonl"));
    for (line, payload) in all.iter_mut().zip(PAYLOADS.iter().cycle()) {
        line["note"] = (*payload).into();
    }
    assert!(all.len() >= PAYLOADS.len() * 2, "{}", all.len());
    let all: String = all.iter().map(|line| format!("{line}\n")).collect();
    fs::write(place.join("r.jsonl"), all).unwrap();
    done(&place, &format!("{how} -q"));

    let page = fs::read_to_string(place.join("kept.report.html")).unwrap();
    // The names of the pairs, no judgements, and the program's own script.
    let (page, scripts) = without_scripts(&page);
    assert_eq!(scripts.len(), 3);
    for (opening, script) in &scripts {
        let data = opening.contains("type=\"application/json\"");
        assert!(data != script.contains("localStorage"), "{opening}");
        assert!(!data || !script.contains(['<', '>', '&']), "{script}");
    }
    let (text, elements) = parse(&page);
    let known = "html head meta title style body header h1 nav a main section ul li b span p h2 h3 \
                 div table thead tbody tr th td details summary strong em bdi del ins code footer \
                 label input svg rect fieldset";
    let known: BTreeSet<&str> = known.split_whitespace().collect();
    for (element, attributes) in &elements {
        assert!(known.contains(element.as_str()), "<{element}>");
        for (name, value) in attributes {
            assert!(!name.starts_with("on"), "<{element} {name}={value}>");
            if name == "href" {
                let begins = ["#", "http://", "https://"];
                assert!(
                    begins.iter().any(|start| value.starts_with(start)),
                    "{value}"
                );
            }
        }
    }
    for c in page.chars() {
        let hidden = matches!(c, '\u{2028}'..='\u{202e}' | '\u{ffff}');
        assert!(!hidden && (c == '\n' || !c.is_control()), "{c:?}");
    }
    for payload in [
        PAYLOADS[0],
        PAYLOADS[1],
        PAYLOADS[2],
        PAYLOADS[4],
        PAYLOADS[5],
        name,
    ] {
        assert!(text.contains(payload), "{payload}");
    }
}

/// Documents of another collection are not records read, and may be in a near miss.
#[test]
fn the_other_collection_is_not_counted() {
    let words =
        |from: usize, to: usize| -> String { (from..to).map(|n| format!("w{n} ")).collect() };
    let line = |id: &str, text: &str| format!("{}\n", json!({"id": id, "text": text}));
    let long = words(0, 160);
    let old =
        line("old", &long) + &line("apart", &words(500, 600)) + &line("near", &words(500, 592));
    let new = line("again", &long) + &line("miss", &words(0, 132)) + &line("close", &words(0, 150));
    let (_guard, place) = place(&[
        ("old/a.jsonl", old.as_bytes()),
        ("in/b.jsonl", new.as_bytes()),
    ]);
    done(
        &place,
        "run old -o out --shingle-size 3 --threshold 0.95 --quiet",
    );
    let how = "dedup in -o kept --shingle-size 3 --threshold 0.9 --against out --quiet";
    done(&place, &format!("{how} --report --verdicts r.jsonl"));
    let audit = audited(&place, "kept", &AuditConfig::default());
    assert_eq!(
        (audit.source.summary.documents, audit.source.summary.kept),
        (3, 1)
    );
    assert_eq!(audit.tables[0].rows.len(), 1);
    assert_eq!(audit.tables[0].rows[0].value, "b.jsonl");
    let docno = |number: u32| audit.documents[&number].docno.as_str();
    let pairs = |kind| -> Vec<(&str, &str)> {
        let pairs = audit.sample(kind);
        pairs
            .map(|pair| (docno(pair.document), docno(pair.other)))
            .collect()
    };
    assert_eq!(pairs(SampleKind::Random), [("close", "old")]);
    assert_eq!(pairs(SampleKind::NearMiss), [("old", "miss")]);
    assert!(audit.clusters[0].shown[0].of_other);
    let review = lines(&place.join("r.jsonl"));
    assert!(
        review.iter().all(|line| line["other"]["text"].is_string()),
        "{review:?}"
    );
    let text = page_text(&place.join("kept.report.html"));
    assert!(text.contains("in the other collection"), "{text}");
    assert!(
        text.contains("compared with the documents of out"),
        "{text}"
    );
}

/// A directory with a deduplication.
fn deduplicated() -> (tempfile::TempDir, PathBuf) {
    let (guard, place) = place(&[]);
    write_corpus(7, &place.join("in"));
    dedup(&place, "in -o kept --shingle-size 3 --threshold 0.3");
    (guard, place)
}

#[test]
fn what_cannot_be_audited_is_refused_with_what_to_do() {
    let (_guard, place) = deduplicated();
    let refused = |arguments: &str, said: &[&str]| {
        let before = tree(&place.join("kept"));
        let ran = call(&place, arguments);
        assert!(matches!(ran.code, Some(1 | 2)), "{arguments}: {ran:?}");
        for said in said {
            assert!(ran.stderr.contains(said), "{arguments}: {said}: {ran:?}");
        }
        assert_same_files(&tree(&place.join("kept")), &before, "kept");
    };
    refused(
        "report kept --by field:nothing",
        &["no record has a field nothing"],
    );
    refused(
        "report kept.work --by host",
        &["not an output directory of `lookalike dedup`"],
    );
    refused(
        "report kept.work --verdicts r",
        &["not an output directory of `lookalike dedup`"],
    );
    refused("report kept --output kept/page.html", &["it lies in kept"]);
    refused("report kept --verdicts kept/r.jsonl", &["it lies in kept"]);
    refused(
        "report kept --verdicts page --output page",
        &["give another one"],
    );
    refused(
        "report kept --output in/00.jsonl",
        &["an input of the collection"],
    );
    refused(
        "report kept --output kept.work/pairs.tsv",
        &["output directory"],
    );
    refused(
        "report kept --verdicts kept.work/pairs.tsv",
        &["expected a JSON object"],
    );
    refused("dedup --from kept.work -o new --by host", &["add --report"]);
    refused(
        "dedup --from kept.work -o new --report=new/page.html",
        &["it lies in new"],
    );
    assert!(!place.join("new").exists());
    let ran = call(&place, "report kept --by town");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr
            .contains("use host, year, year:FIELD or field:NAME"),
        "{ran:?}"
    );

    // Both moved: the path leads from one to the other. KEPT alone: not.
    fs::create_dir(place.join("moved")).unwrap();
    for name in ["kept", "kept.work"] {
        fs::rename(place.join(name), place.join("moved").join(name)).unwrap();
    }
    done(&place, "report moved/kept/ -q");
    assert!(place.join("moved/kept.report.html").exists());
    fs::rename(place.join("moved/kept"), place.join("kept")).unwrap();
    refused(
        "report kept",
        &["its work directory", "kept.work is gone", "move both back"],
    );
    fs::rename(place.join("moved/kept.work"), place.join("kept.work")).unwrap();
    done(&place, "report kept -q");

    // Other pairs.
    done(&place, "stage join kept.work --threshold 0.4 -q");
    refused(
        "report kept",
        &["made from an earlier state of the work directory"],
    );
    done(&place, "stage join kept.work --threshold 0.3 -q");
    done(&place, "stage cluster kept.work -q");
    done(&place, "report kept -q");

    // Without the record, or with a damaged one. The same command writes it again.
    let source = place.join("kept/.lookalike/source.json");
    let sound = fs::read(&source).unwrap();
    fs::write(&source, &sound[..sound.len() / 2]).unwrap();
    refused(
        "report kept",
        &["source.json", "what `lookalike dedup` writes"],
    );
    fs::remove_file(&source).unwrap();
    refused(
        "report kept",
        &[
            "source.json is missing",
            "run the same `lookalike dedup` again",
        ],
    );
    dedup(&place, "--from kept.work -o kept");
    assert_eq!(fs::read(&source).unwrap(), sound);
    done(&place, "report kept -q");

    // One that is not complete.
    let state = place.join("kept/.lookalike/dedup.json");
    let text = fs::read_to_string(&state).unwrap();
    fs::write(&state, text.replace("true", "false")).unwrap();
    refused("report kept", &["has not finished"]);
}

/// Texts that cannot be read again are missing, with the reason.
#[test]
fn missing_inputs_leave_the_counts() {
    let (_guard, place) = deduplicated();
    fs::rename(place.join("in"), place.join("away")).unwrap();
    done(&place, "report kept --by host --verdicts r.jsonl -q");
    let text = page_text(&place.join("kept.report.html"));
    assert!(text.contains("is not shown: in/"), "{text}");
    let review = lines(&place.join("r.jsonl"));
    assert!(
        review
            .iter()
            .all(|line| line["document"]["missing"].is_string())
    );
}

/// A directory of kept records may come from someone else, and the place beside it is the user's.
#[test]
fn no_link_or_pipe_is_opened_and_only_pages_are_replaced() {
    let (_guard, place) = deduplicated();
    let program = env!("CARGO_BIN_EXE_lookalike");
    let report = || {
        // A command that waits for a pipe is stopped, with another exit status.
        let mut command = std::process::Command::new("timeout");
        let command = command.args(["60", program, "report", "kept", "-q"]);
        let ran = command.current_dir(&place).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        (ran.status.code(), stderr)
    };
    for name in ["source.json", "dedup.json"] {
        let path = place.join("kept/.lookalike").join(name);
        let sound = fs::read(&path).unwrap();
        let elsewhere = place.join(name);
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        let (code, stderr) = report();
        assert!(
            code == Some(1) && stderr.contains("symbolic link"),
            "{name}: {stderr}"
        );
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let (code, stderr) = report();
        assert!(
            code == Some(1) && stderr.contains(name),
            "{name}: {code:?} {stderr}"
        );
        fs::remove_file(&path).unwrap();
        fs::write(&path, sound).unwrap();
    }
    let page = place.join("kept.report.html");
    assert!(!page.exists());
    let made = std::process::Command::new("mkfifo").arg(&page).status();
    assert!(made.unwrap().success());
    let (code, stderr) = report();
    assert!(
        code == Some(2) && stderr.contains("it is a FIFO"),
        "{stderr}"
    );
    fs::remove_file(&page).unwrap();
    for mine in [
        "mine",
        "<!DOCTYPE html><html lang=\"en\"><head><title>mine</title>",
    ] {
        fs::write(&page, mine).unwrap();
        let (code, stderr) = report();
        assert!(
            code == Some(2) && stderr.contains("lookalike did not write this file"),
            "{stderr}"
        );
        let ran = call(&place, "dedup --from kept.work -o new --report");
        assert_eq!(ran.code, Some(0), "another page: {ran:?}");
        fs::write(place.join("new.report.html"), mine).unwrap();
        let ran = call(&place, "dedup --from kept.work -o new --report");
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_eq!(fs::read(&page).unwrap(), mine.as_bytes());
        assert_eq!(
            fs::read(place.join("new.report.html")).unwrap(),
            mine.as_bytes()
        );
        fs::remove_file(place.join("new.report.html")).unwrap();
    }
    fs::remove_file(&page).unwrap();
    // A page is replaced, also under a name that is given, and no other file is.
    assert_eq!(report().0, Some(0));
    assert_eq!(report().0, Some(0));
    let named = place.join("named.html");
    fs::write(&named, "mine").unwrap();
    let ran = call(&place, "report kept -q --output named.html");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(fs::read(&named).unwrap(), b"mine");
    fs::copy(&page, &named).unwrap();
    done(&place, "report kept -q --output named.html");
    assert!(page_text(&named).contains("removed"));
}
