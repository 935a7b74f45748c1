//! Relevance judgements against clusters: counts by hand, and against a plain version of the
//! definitions.

use crate::common;
use lookalike::Error;
use lookalike::base::budget::ByteSize;
use lookalike::base::progress::{Silent, Stop};
use lookalike_lab::qrels::{
    Differing, Keep, QrelsConfig, QrelsFormat, QrelsReport, TopicCounts, run,
};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::Run;
use tempfile::TempDir;

/// Two clusters: `a1`, its copy `a2`, `a3` with another word, its copy `a4`; `b1` and `b2`; `c` is
/// alone.
fn collection() -> (TempDir, PathBuf) {
    let directory = common::temporary();
    let text = |name: &str, last: &str| {
        let words: Vec<String> = (0..60).map(|n| format!("{name}{n}")).collect();
        format!("{} {last}", words.join(" "))
    };
    let mut lines = String::new();
    for (docno, text) in [
        ("a1", text("alpha", "x")),
        ("b1", text("beta", "x")),
        ("a2", text("alpha", "x")),
        ("a3", text("alpha", "y")),
        ("c", text("gamma", "x")),
        ("a4", text("alpha", "y")),
        ("b2", text("beta", "y")),
    ] {
        writeln!(lines, "{{\"id\":\"{docno}\",\"text\":\"{text}\"}}").unwrap();
    }
    let input = directory.path().join("input.jsonl");
    fs::write(&input, lines).unwrap();
    let out = directory.path().join("out");
    Run::default().run(&[&input], &out).unwrap();
    (directory, out)
}

const QRELS: &str = "\
301 0 a3 2
301\t0  a2 0
301 1 a1 1

302 0 a4 0
301 0 c 1
301 0 nowhere 0
301 0 b2 1
301 0 b1 2
302 0 a3 1\r
302 0 b1 -1
303 0 a2 -2
303 0 a1 0
304 0 a3 1
304 0 a2 1
";

const RANKING: &str = "\
301 Q0 a2 1 9.50 tag
301 Q0 c 2 9.0 tag
301 Q0 a1 3 8 tag
301 Q0 b2 4 7e0 tag
301 Q0 elsewhere 5 6 tag
302 Q0 b1 0 1 tag
301 Q0 b1 6 5 tag
302 Q0 a4 1 2 tag
";

fn config(directory: &Path, clusters: &Path, keep: Keep) -> QrelsConfig {
    QrelsConfig {
        qrels: directory.join("qrels.txt"),
        qrels_format: QrelsFormat::Auto,
        clusters: clusters.into(),
        runs: vec![directory.join("run.txt")],
        output: Some(directory.join("thin")),
        keep,
    }
}

fn compare(config: &QrelsConfig, memory: ByteSize) -> Result<QrelsReport, Error> {
    let stop = Stop::default();
    let setting = Run::default().memory(memory.0);
    run(config, &setting.context(&stop, &Silent))
}

fn compared(config: &QrelsConfig) -> QrelsReport {
    compare(config, ByteSize::mib(64)).unwrap()
}

fn differing(groups: u64, exact: u64, documents: u64) -> Differing {
    Differing {
        groups,
        exact,
        near: groups - exact,
        documents,
    }
}

fn counts(
    [judged, clustered, groups, exact_groups, documents]: [u64; 5],
    inconsistent: Differing,
    grades_differ: Differing,
) -> TopicCounts {
    TopicCounts {
        judged,
        clustered,
        groups,
        exact_groups,
        documents,
        inconsistent,
        grades_differ,
    }
}

#[test]
fn counted_by_hand() {
    let (directory, out) = collection();
    let place = directory.path();
    fs::write(place.join("qrels.txt"), QRELS).unwrap();
    fs::write(place.join("run.txt"), RANKING).unwrap();
    let report = compared(&config(place, &out, Keep::First));
    let expected = [
        (
            "301",
            counts([7, 5, 2, 0, 5], differing(1, 1, 3), differing(2, 1, 5)),
        ),
        (
            "302",
            counts([3, 3, 1, 1, 2], differing(1, 1, 2), differing(1, 1, 2)),
        ),
        (
            "303",
            counts([2, 2, 1, 1, 2], differing(0, 0, 0), differing(1, 1, 2)),
        ),
        (
            "304",
            counts([2, 2, 1, 0, 2], differing(0, 0, 0), differing(0, 0, 0)),
        ),
    ];
    assert_eq!(
        report.topics,
        expected.map(|(topic, counts)| (topic.to_string(), counts))
    );
    assert_eq!(
        report.all,
        counts([14, 12, 5, 2, 11], differing(2, 2, 5), differing(4, 3, 9))
    );
    let lines = &report.qrels;
    assert_eq!((lines.lines, lines.kept, lines.removed), (14, 8, 6));
    assert_eq!((lines.renamed, lines.unknown), (0, Some(1)));
    let ranked = &report.runs[0];
    assert_eq!((ranked.lines, ranked.kept, ranked.removed), (8, 6, 2));
    assert_eq!((ranked.unjudged, ranked.rescored), (0, 0));
    assert_eq!(ranked.first_unknown, [("elsewhere".into(), 5)]);
    assert_eq!(
        (ranked.renamed, ranked.unknown, ranked.scores_rise),
        (3, Some(1), Some(1))
    );
    let listed = fs::read_to_string(place.join("thin/contradictions.jsonl")).unwrap();
    let member = |docno, grade, kind| {
        format!("{{\"docno\":\"{docno}\",\"grade\":{grade},\"kind\":\"{kind}\"}}")
    };
    let group = |topic, cluster, differs, between, members: &[String]| {
        format!(
            "{{\"topic\":\"{topic}\",\"cluster\":{cluster},\"differs\":\"{differs}\",\"between\":\"{between}\",\
             \"members\":[{}]}}\n",
            members.join(",")
        )
    };
    let (first, exact, near) = ("representative", "exact", "near");
    let wanted = [
        group(
            "301",
            0,
            "relevance",
            exact,
            &[
                member("a1", 1, first),
                member("a2", 0, exact),
                member("a3", 2, near),
            ],
        ),
        group(
            "301",
            1,
            "grade",
            near,
            &[member("b1", 2, first), member("b2", 1, near)],
        ),
        group(
            "302",
            0,
            "relevance",
            exact,
            &[member("a3", 1, near), member("a4", 0, exact)],
        ),
        group(
            "303",
            0,
            "grade",
            exact,
            &[member("a1", 0, first), member("a2", -2, exact)],
        ),
    ];
    assert_eq!(listed, wanted.concat());
}

/// `clusters.jsonl` alone does not say that `a4` is a copy of `a3` and not of `a1`.
#[test]
fn clusters_without_their_tables() {
    let (directory, out) = collection();
    let place = directory.path();
    fs::write(place.join("qrels.txt"), QRELS).unwrap();
    fs::write(place.join("run.txt"), RANKING).unwrap();
    let report = compared(&config(place, &out.join("clusters.jsonl"), Keep::First));
    let second = counts([3, 3, 1, 0, 2], differing(1, 0, 2), differing(1, 0, 2));
    assert_eq!(report.topics[1], ("302".to_string(), second));
    assert_eq!(
        report.all,
        counts([14, 12, 5, 1, 11], differing(2, 1, 5), differing(4, 2, 9))
    );
    assert_eq!(report.qrels.unknown, None);
    assert_eq!(report.runs[0].unknown, None);
}

#[test]
fn what_is_kept() {
    let (directory, out) = collection();
    let place = directory.path();
    // Compressed inputs are read as others are.
    for (name, text) in [("qrels.txt", QRELS), ("other.run.gz", RANKING)] {
        let file = fs::File::create(place.join(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap();
    }
    fs::write(place.join("run.txt"), RANKING).unwrap();
    let thin_run = "301 Q0 a2 1 9.50 tag\n301 Q0 c 2 9.0 tag\n301 Q0 b2 3 7e0 tag\n301 Q0 elsewhere 4 6 tag\n\
                    302 Q0 a4 0 2 tag\n302 Q0 b1 1 1 tag\n";
    let first = "301 1 a1 1\n301 0 c 1\n301 0 nowhere 0\n301 0 b1 2\n302 0 a3 1\n302 0 b1 -1\n303 0 a1 0\n304 0 a2 1\n";
    let best = "301 0 a3 2\n301 0 c 1\n301 0 nowhere 0\n301 0 b1 2\n302 0 a3 1\n302 0 b1 -1\n303 0 a1 0\n304 0 a2 1\n";
    let map = "301 0 a1 2\n302 0 a1 1\n301 0 c 1\n301 0 nowhere 0\n301 0 b1 2\n302 0 b1 -1\n303 0 a1 0\n304 0 a1 1\n";
    // The ranking has the docnos that the judgements keep.
    let renamed = |a: [&str; 2]| {
        let run = thin_run.replace("a2", a[0]).replace("a4", a[1]);
        run.replace("b2", "b1")
    };
    for (keep, qrels, ranking) in [
        (Keep::First, first, renamed(["a1", "a3"])),
        (Keep::Best, best, renamed(["a3", "a3"])),
        (Keep::Map, map, renamed(["a1", "a1"])),
    ] {
        let mut asked = config(place, &out, keep);
        asked.runs.push(place.join("other.run.gz"));
        let report = compared(&asked);
        for (name, expected) in [
            ("qrels", qrels),
            ("run.txt", &ranking),
            ("other.run", &ranking),
        ] {
            let written = fs::read_to_string(place.join("thin").join(name)).unwrap();
            assert_eq!(written, expected, "{keep}");
        }
        assert!(report.runs.iter().all(|run| run.renamed == 3));
        // a3 302 -> a1, b2 301 -> b1, and so on: those whose line was another's.
        assert_eq!(report.qrels.renamed, if keep == Keep::Map { 5 } else { 0 });
    }
    // With what is kept once more, nothing is a duplicate.
    let mut again = config(place, &out, Keep::Map);
    again.qrels = place.join("thin/qrels");
    again.runs = vec![place.join("thin/run.txt")];
    again.output = Some(place.join("thinner"));
    let report = compared(&again);
    assert_eq!(
        (
            report.qrels.removed,
            report.qrels.renamed,
            report.all.groups
        ),
        (0, 0, 0)
    );
    assert_eq!(report.runs[0].removed, 0);
    for name in ["qrels", "run.txt"] {
        let (a, b) = (
            place.join("thin").join(name),
            place.join("thinner").join(name),
        );
        assert_eq!(fs::read(a).unwrap(), fs::read(b).unwrap());
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let (directory, out) = collection();
    let place = directory.path();
    let many = "301 0 a1 1\n".to_string();
    for (qrels, ranking, clusters, says) in [
        (
            "301 0 a1\n",
            RANKING,
            None,
            "qrels.txt, line 1: expected 4 fields (topic, iteration, docno, relevance) or 5 fields (topic, \
             docno, relevance, method, probability), found 3: `301 0 a1`",
        ),
        (
            "\n301 0 a1 yes\n",
            RANKING,
            None,
            "qrels.txt, line 2: expected a relevance that is an integer, found `yes`",
        ),
        (
            "1 0 a 1\n\n1 0 b 1\n2 0 a 1\n1 0 a 0\n",
            RANKING,
            None,
            "qrels.txt, line 5: expected one line for each docno of a topic, found `a` again",
        ),
        (
            &many,
            "301 Q0 a1 1 1\n",
            None,
            "run.txt, line 1: expected 6 fields",
        ),
        (
            &many,
            "301 Q0 a1 x 1 t\n",
            None,
            "run.txt, line 1: expected a rank that is an integer, found `x`",
        ),
        (
            &many,
            "301 Q0 a1 1 NaN t\n",
            None,
            "run.txt, line 1: expected a score that is a number, found `NaN`",
        ),
        (
            &many,
            "1 Q0 a1 1 1 t\n2 Q0 a1 1 1 t\n1 Q0 a1 1 1 t\n",
            None,
            "run.txt, line 3: expected one line for each docno of a topic, found `a1` again",
        ),
        (
            &many,
            RANKING,
            Some("{\"id\":0,\"representative\":\"x\",\"members\":[]}\n[]\n"),
            "clusters.jsonl, line 2: expected a cluster",
        ),
        (
            &many,
            RANKING,
            Some("{\"id\":0,\"members\":[{\"docno\":\"a1\"}]}\n"),
            "clusters.jsonl, line 1: expected a cluster",
        ),
        (
            &many,
            RANKING,
            Some(
                "{\"id\":0,\"representative\":\"a b\",\"members\":[{\"docno\":\"a b\",\"kind\":\"representative\"},{\"docno\":\"a1\",\"kind\":\"near\"}]}\n",
            ),
            "without white space, found `a b`",
        ),
    ] {
        fs::write(place.join("qrels.txt"), qrels).unwrap();
        fs::write(place.join("run.txt"), ranking).unwrap();
        let path = match clusters {
            None => out.clone(),
            Some(text) => {
                let path = place.join("clusters.jsonl");
                fs::write(&path, text).unwrap();
                path
            }
        };
        let error = compare(&config(place, &path, Keep::Map), ByteSize::mib(64)).unwrap_err();
        assert!(matches!(error, Error::BadLine { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}\n{says}");
    }
    // A damaged table is not believed.
    fs::write(place.join("qrels.txt"), QRELS).unwrap();
    fs::write(place.join("run.txt"), RANKING).unwrap();
    let table = out.join("exact-duplicates.tsv");
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.replace("a2\ta1", "a2\tc1")).unwrap();
    let error = compare(&config(place, &out, Keep::First), ByteSize::mib(64)).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[test]
fn nothing_is_replaced_that_is_read_or_ours() {
    let (directory, out) = collection();
    let place = directory.path();
    fs::create_dir(place.join("thin")).unwrap();
    fs::write(place.join("thin/qrels"), QRELS).unwrap();
    let mut asked = config(place, &out, Keep::First);
    // A file of the user's that has the name of a ranking.
    fs::write(place.join("thin/run.txt"), "mine").unwrap();
    let error = compare(&asked, ByteSize::mib(64)).unwrap_err().to_string();
    assert!(
        error.contains("qrels, and no lock file of an earlier qrels"),
        "{error}"
    );
    assert_eq!(fs::read(place.join("thin/run.txt")).unwrap(), b"mine");
    fs::remove_file(place.join("thin/run.txt")).unwrap();
    for name in ["more/run.txt", "qrels", "contradictions.jsonl.gz"] {
        asked.runs.push(place.join(name));
        let error = compare(&asked, ByteSize::mib(64)).unwrap_err();
        assert!(error.to_string().contains("would be two files"), "{error}");
        asked.runs.pop();
    }
    asked.runs.clear();
    asked.qrels = place.join("thin/../thin/qrels");
    let error = compare(&asked, ByteSize::mib(64)).unwrap_err();
    assert!(
        matches!(error, Error::BadParameter { name: "output", .. }),
        "{error}"
    );
    assert_eq!(fs::read_to_string(place.join("thin/qrels")).unwrap(), QRELS);
    asked.output = Some(out.clone());
    let error = compare(&asked, ByteSize::mib(64)).unwrap_err();
    assert!(
        error.to_string().contains("output directory of a run"),
        "{error}"
    );
    asked.output = Some(place.join("thin/qrels"));
    let error = compare(&asked, ByteSize::mib(64)).unwrap_err();
    assert!(error.to_string().contains("it is a file"), "{error}");
}

/// Some numbers, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % most
    }
}

/// Random clusters, judgements and rankings: every count and line is that of the definition, said
/// with sets.
#[test]
fn random_judgements_are_counted_as_defined() {
    let directory = common::temporary();
    let place = directory.path();
    let (mut seen_exact, mut seen_raised) = (0, 0);
    for seed in 0..40u64 {
        let mut numbers = Numbers(seed);
        // Document -> cluster, place, whether it comes before any near one.
        let mut member: BTreeMap<String, (u64, usize, bool)> = BTreeMap::new();
        let mut first_of: Vec<String> = Vec::new();
        let mut clusters = String::new();
        for cluster in 0..1 + numbers.below(6) {
            let size = 2 + numbers.below(5);
            let (mut near, mut members) = (false, Vec::new());
            for n in 0..size {
                let docno = format!("d{n}-{cluster}");
                let kind = match (n, numbers.below(2)) {
                    (0, _) => "representative",
                    (_, 0) => "exact",
                    _ => "near",
                };
                near |= kind == "near";
                member.insert(docno.clone(), (cluster, n as usize, !near));
                members.push(format!(
                    "{{\"docno\":\"{docno}\",\"kind\":\"{kind}\",\"resemblance\":null}}"
                ));
            }
            first_of.push(format!("d0-{cluster}"));
            let members = members.join(",");
            writeln!(
                clusters,
                "{{\"id\":{cluster},\"representative\":\"d0-{cluster}\",\"members\":[{members}]}}"
            )
            .unwrap();
        }
        let mut all: Vec<String> = member.keys().cloned().collect();
        all.extend((0..10).map(|n| format!("alone{n}")));
        let topics = 1 + numbers.below(4);
        let mut judged: Vec<(u64, String, i64)> = Vec::new();
        let mut ranked: Vec<(u64, String)> = Vec::new();
        for topic in 0..topics {
            for docno in &all {
                if numbers.below(3) > 0 {
                    judged.push((topic, docno.clone(), numbers.below(4) as i64 - 1));
                }
                if numbers.below(3) > 0 {
                    ranked.push((topic, docno.clone()));
                }
            }
        }
        for n in (1..judged.len()).rev() {
            judged.swap(n, numbers.below(n as u64 + 1) as usize);
        }
        for n in (1..ranked.len()).rev() {
            ranked.swap(n, numbers.below(n as u64 + 1) as usize);
        }
        let score = |n: usize| 5 - n as i64 / 4;
        let qrels: String = judged
            .iter()
            .map(|(t, d, g)| format!("{t} 0 {d} {g}\n"))
            .collect();
        let ranking: String = ranked
            .iter()
            .enumerate()
            .map(|(n, (t, d))| format!("{t} Q0 {d} 1 {} x\n", score(n)))
            .collect();
        fs::write(place.join("clusters.jsonl"), clusters).unwrap();
        fs::write(place.join("qrels.txt"), qrels).unwrap();
        fs::write(place.join("run.txt"), ranking).unwrap();

        for keep in [Keep::First, Keep::Best, Keep::Map] {
            let report = compared(&config(place, &place.join("clusters.jsonl"), keep));
            // The groups, by definition.
            let mut groups: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
            for (n, (topic, docno, _)) in judged.iter().enumerate() {
                if let Some((cluster, ..)) = member.get(docno) {
                    groups.entry((*topic, *cluster)).or_default().push(n);
                }
            }
            let mut expected = TopicCounts {
                judged: judged.len() as u64,
                clustered: groups.values().map(|group| group.len() as u64).sum(),
                ..TopicCounts::default()
            };
            let mut kept: BTreeMap<usize, (String, i64)> = judged
                .iter()
                .enumerate()
                .map(|(n, (_, d, g))| (n, (d.clone(), *g)))
                .collect();
            for ((_, cluster), group) in &groups {
                let grade = |n: &usize| judged[*n].2;
                let place_of = |n: &usize| member[&judged[*n].1].1;
                let early = |n: &&usize| member[&judged[**n].1].2;
                let first = *group.iter().min_by_key(|n| place_of(n)).unwrap();
                let best = *group
                    .iter()
                    .min_by_key(|n| (-grade(n), place_of(n)))
                    .unwrap();
                for n in group {
                    kept.remove(n);
                }
                match keep {
                    Keep::First => kept.insert(first, (judged[first].1.clone(), grade(&first))),
                    Keep::Best => kept.insert(best, (judged[best].1.clone(), grade(&best))),
                    Keep::Map => kept.insert(
                        group[0],
                        (first_of[*cluster as usize].clone(), grade(&best)),
                    ),
                };
                if group.len() < 2 {
                    continue;
                }
                expected.groups += 1;
                expected.documents += group.len() as u64;
                expected.exact_groups += u64::from(group.iter().all(|n| early(&n)));
                let add = |into: &mut Differing, of: &dyn Fn(&usize) -> i64| {
                    let distinct = |set: BTreeSet<i64>| set.len() > 1;
                    if distinct(group.iter().map(of).collect()) {
                        let exact = distinct(group.iter().filter(early).map(of).collect());
                        into.groups += 1;
                        into.exact += u64::from(exact);
                        into.near += u64::from(!exact);
                        into.documents += group.len() as u64;
                    }
                };
                add(&mut expected.inconsistent, &|n| i64::from(grade(n) > 0));
                add(&mut expected.grades_differ, &grade);
            }
            assert_eq!(report.all, expected, "seed {seed}");
            // Each cluster and each document once.
            let names = |of: &dyn Fn(&String) -> bool| {
                let all = judged.iter().map(|(_, docno, _)| docno);
                all.filter(|docno| of(docno)).collect::<BTreeSet<_>>().len() as u64
            };
            let several: Vec<_> = groups.iter().filter(|(_, group)| group.len() > 1).collect();
            let differ = |group: &[usize], of: &dyn Fn(i64) -> i64| {
                let all = group.iter().map(|&n| of(judged[n].2));
                all.collect::<BTreeSet<_>>().len() > 1
            };
            let some = |of: &dyn Fn(i64) -> i64| {
                let (mut clusters, mut exact) = (BTreeSet::new(), BTreeSet::new());
                let mut documents = BTreeSet::new();
                for ((_, cluster), group) in &several {
                    if differ(group, of) {
                        clusters.insert(cluster);
                        documents.extend(group.iter().map(|&n| &judged[n].1));
                        let early = group.iter().filter(|&&n| member[&judged[n].1].2);
                        let early: Vec<usize> = early.copied().collect();
                        if differ(&early, of) {
                            exact.insert(cluster);
                        }
                    }
                }
                differing(
                    clusters.len() as u64,
                    exact.len() as u64,
                    documents.len() as u64,
                )
            };
            let near: BTreeSet<u64> = several
                .iter()
                .filter(|(_, group)| !group.iter().all(|&n| member[&judged[n].1].2))
                .map(|((_, cluster), _)| *cluster)
                .collect();
            let clusters: BTreeSet<u64> = several.iter().map(|((_, c), _)| *c).collect();
            let grouped: BTreeSet<&String> = several
                .iter()
                .flat_map(|(_, group)| group.iter().map(|&n| &judged[n].1))
                .collect();
            let distinct = TopicCounts {
                judged: names(&|_| true),
                clustered: names(&|docno| member.contains_key(docno)),
                groups: clusters.len() as u64,
                exact_groups: clusters.difference(&near).count() as u64,
                documents: grouped.len() as u64,
                inconsistent: some(&|grade| i64::from(grade > 0)),
                grades_differ: some(&|grade| grade),
            };
            assert_eq!(report.distinct, distinct, "seed {seed}");
            seen_exact += expected.inconsistent.exact;
            let lines: String = kept
                .iter()
                .map(|(n, (docno, grade))| format!("{} 0 {docno} {grade}\n", judged[*n].0))
                .collect();
            assert_eq!(
                fs::read_to_string(place.join("thin/qrels")).unwrap(),
                lines,
                "seed {seed}, {keep}"
            );
            assert_eq!(report.qrels.kept, kept.len() as u64);
            assert_eq!(report.qrels.kept + report.qrels.removed, report.qrels.lines);
            let sum = report
                .topics
                .iter()
                .fold((0, 0), |(judged, groups), (_, topic)| {
                    (judged + topic.judged, groups + topic.groups)
                });
            assert_eq!(sum, (expected.judged, expected.groups));

            // In the order of trec_eval.
            let mut order: Vec<usize> = (0..ranked.len()).collect();
            let begins = |topic| ranked.iter().position(|(of, _)| *of == topic);
            order.sort_by_key(|&n| (begins(ranked[n].0), Reverse((score(n), &ranked[n].1))));
            let (mut seen, mut ranks, mut lines) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
            for n in order {
                let (topic, docno) = &ranked[n];
                let cluster = member.get(docno).map(|(cluster, ..)| *cluster);
                if cluster.is_some_and(|cluster| !seen.insert((*topic, cluster))) {
                    continue;
                }
                let rank = ranks.entry(*topic).or_insert(0u64);
                *rank += 1;
                let group = cluster.and_then(|cluster| groups.get(&(*topic, cluster)));
                let name = match (cluster, group) {
                    (Some(cluster), _) if keep == Keep::Map => &first_of[cluster as usize],
                    // What the judgements keep.
                    (_, Some(group)) => {
                        let n = group.iter().find(|n| kept.contains_key(n)).unwrap();
                        &kept[n].0
                    }
                    _ => docno,
                };
                lines.push((topic, name, *rank, score(n)));
            }
            let run = &report.runs[0];
            let written = fs::read_to_string(place.join("thin/run.txt")).unwrap();
            let written: Vec<&str> = written.lines().collect();
            let (mut below, mut raised) = ((u64::MAX, f32::NEG_INFINITY, ""), 0);
            for (line, (topic, name, rank, score)) in written.iter().zip(&lines).rev() {
                let text = line.rsplit(' ').nth(1).unwrap();
                assert_eq!(
                    *line,
                    format!("{topic} Q0 {name} {rank} {text} x"),
                    "{seed} {keep}"
                );
                if below.0 != **topic {
                    below = (**topic, f32::NEG_INFINITY, "");
                }
                // Lines are sorted by score, and a score changes only if the order needs it.
                let stands = |score: f32| (score, name.as_str()) > (below.1, below.2);
                let value = text.parse().unwrap();
                assert!(stands(value), "{seed} {keep}: {line}");
                let stays = text == score.to_string();
                assert!(stays || !stands(*score as f32), "{seed} {keep}: {line}");
                raised += u64::from(!stays);
                below = (**topic, value, name.as_str());
            }
            seen_raised += raised;
            assert_eq!((run.kept, run.rescored), (lines.len() as u64, raised));
            assert_eq!(written.len(), lines.len());
            assert_eq!(run.kept + run.removed, run.lines);
            assert_eq!(run.lines, ranked.len() as u64);
        }
    }
    assert!(seen_exact > 0 && seen_raised > 0);
}

/// A budget too small is refused with the least that will do, and that will do.
#[test]
fn the_least_memory_that_is_told_is_enough() {
    let (directory, out) = collection();
    let place = directory.path();
    let mut qrels = String::from(QRELS);
    let mut ranking = String::from(RANKING);
    for n in 0..20_000 {
        writeln!(qrels, "400 0 document-{n} 1").unwrap();
        writeln!(ranking, "400 Q0 document-{n} {n} {} t", -n).unwrap();
    }
    fs::write(place.join("qrels.txt"), qrels).unwrap();
    fs::write(place.join("run.txt"), ranking).unwrap();
    let asked = config(place, &out, Keep::Map);
    let whole = compared(&asked);
    let (least, report) = common::least_memory(|memory| compare(&asked, ByteSize(memory)));
    assert!(least > 8 << 20, "{least}");
    assert_eq!(report, whole);
}

/// Exit status, standard output and standard error of `lookalike lab qrels` in a directory.
fn command(place: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(common::lookalike());
    command
        .current_dir(place)
        .args(["lab", "qrels"])
        .args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Each file is closed before the next one begins.
#[test]
fn many_rankings_need_few_open_files() {
    let (directory, _) = collection();
    let place = directory.path();
    fs::write(place.join("judged"), QRELS).unwrap();
    let mut line =
        String::from("ulimit -n 30; exec \"$0\" lab qrels judged --clusters out -o clean");
    for n in 0..60 {
        fs::write(place.join(format!("run-{n}")), RANKING).unwrap();
        write!(line, " --run run-{n}").unwrap();
    }
    let mut ran = Command::new("sh");
    ran.args(["-c", &line]).arg(common::lookalike());
    ran.current_dir(place);
    let ran = ran.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(fs::read_dir(place.join("clean")).unwrap().count(), 63);
}

#[test]
fn the_command_prints_a_table() {
    let (directory, out) = collection();
    let place = directory.path();
    fs::write(place.join("qrels.txt"), QRELS).unwrap();
    fs::write(place.join("run.txt"), RANKING).unwrap();
    let command = |arguments: &[&str]| command(place, arguments);
    let clusters = out.to_str().unwrap();
    let (status, table, warnings) = command(&[
        "qrels.txt",
        "--clusters",
        clusters,
        "--run",
        "run.txt",
        "--keep",
        "map",
        "-o",
        "thin",
    ]);
    assert_eq!(status, Some(0), "{warnings}");
    let expected = "\
qrels qrels.txt: 14 lines, 8 kept (--keep map), 6 removed, 5 renamed, 1 not in the collection: nowhere (line 7)
run   run.txt: 8 lines, 6 kept (--keep map), 2 removed, 3 renamed, 1 not in the collection: elsewhere (line 5)

Judged documents and their clusters

topic     judged  clustered  groups  exact  documents
301            7          5       2      0          5
302            3          3       1      1          2
303            2          2       1      1          2
304            2          2       1      0          2
all           14         12       5      2         11
distinct       8          6       2      0          6

Contradictions: relevant and other documents in a group, or several grades

topic     inconsistent  exact  near  documents  grades  exact  near  documents
301                  1      1     0          3       2      1     1          5
302                  1      1     0          2       1      1     0          2
303                  0      0     0          0       1      1     0          2
304                  0      0     0          0       0      0     0          0
all                  2      2     0          5       4      3     1          9
distinct             1      1     0          4       2      1     1          6

4 contradictions in thin/contradictions.jsonl
";
    assert_eq!(table, expected);
    assert!(
        warnings.contains("run.txt: 1 line with a higher score"),
        "{warnings}"
    );
    assert!(place.join("thin/run.txt").exists());
    let quiet = ["qrels.txt", "--clusters", clusters, "-o", "thin", "--quiet"];
    assert_eq!(command(&quiet), (Some(0), String::new(), String::new()));
    // Removed lines of topics without judgements, and lines that are not known, are told.
    let more =
        "7 Q0 a1 1 2 t\n7 Q0 a2 2 1 t\n7 Q0 x 3 0 t\n7 Q0 y 4 0 t\n7 Q0 z 5 0 t\n\n7 Q0 u 6 0 t\n";
    fs::write(place.join("more.txt"), more).unwrap();
    let arguments = ["qrels.txt", "--clusters", clusters, "--run", "more.txt"];
    let (_, table, _) = command(&arguments);
    let expected = "run   more.txt: 6 lines, 5 kept (--keep best), 1 removed, 1 of these in topics \
                    without judgements, 4 not in the collection: z (line 5), y (line 4), x (line 3), \
                    ...\n";
    assert!(table.contains(expected), "{table}");
    let (status, text, _) = command(&["qrels.txt", "--clusters", clusters, "--json", "-q"]);
    assert_eq!(status, Some(0));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["all"]["inconsistent"]["exact"], 2);
    assert_eq!(json["topics"][2][0], "303");
    assert_eq!(json["runs"], serde_json::json!([]));
    let (status, _, error) = command(&["qrels.txt", "--clusters", clusters, "--keep", "last"]);
    assert_eq!(status, Some(2));
    assert!(error.contains("best, first or map"), "{error}");
}

/// A document has a line for each subtopic: judgements of different subtopics do not contradict
/// each other, and each subtopic keeps its own line.
#[test]
fn diversity_judgements_are_compared_by_subtopic() {
    let (directory, out) = collection();
    let place = directory.path();
    let qrels = "1 1 a1 1\n1 2 a1 0\n1 2 a3 1\n1 1 c 1\n1 2 c 1\n2 1 b1 1\n2 1 b2 1\n2 3 b2 -1\n";
    fs::write(place.join("qrels.txt"), qrels).unwrap();
    let clusters = out.to_str().unwrap();
    let arguments = ["qrels.txt", "--clusters", clusters, "-o", "thin"];
    let (status, table, warnings) = command(place, &arguments);
    assert_eq!(status, Some(0), "{warnings}");
    let expected = "\
qrels qrels.txt (ndeval): 8 lines, 6 kept (--keep best), 2 removed, 2 renamed

Judged documents and their clusters

topic     judged  clustered  groups  exact  documents
1              5          3       1      0          2
2              3          3       1      0          2
all            8          6       2      0          4
distinct       5          4       2      0          4

Contradictions: relevant and other documents in a group, or several grades

topic     inconsistent  exact  near  documents  grades  exact  near  documents
1                    1      0     1          2       1      0     1          2
2                    0      0     0          0       0      0     0          0
all                  1      0     1          2       1      0     1          2
distinct             1      0     1          2       1      0     1          2

1 contradiction in thin/contradictions.jsonl
";
    assert_eq!(table, expected);
    let read = |name: &str| fs::read_to_string(place.join("thin").join(name)).unwrap();
    assert_eq!(
        read("qrels"),
        "1 1 a1 1\n1 2 a1 1\n1 1 c 1\n1 2 c 1\n2 1 b1 1\n2 3 b1 -1\n"
    );
    assert_eq!(
        read("contradictions.jsonl"),
        "{\"topic\":\"1\",\"subtopic\":\"2\",\"cluster\":0,\"differs\":\"relevance\",\"between\":\"near\",\"members\":[\
         {\"docno\":\"a1\",\"grade\":0,\"kind\":\"representative\"},{\"docno\":\"a3\",\"grade\":1,\"kind\":\"near\"}]}\n"
    );
    // With map, the lines of a document that lost its name remain lines of subtopics.
    let arguments = [
        "qrels.txt",
        "--clusters",
        clusters,
        "-o",
        "thin",
        "--keep",
        "map",
    ];
    let (status, ..) = command(place, &arguments);
    assert_eq!(status, Some(0));
    assert_eq!(
        read("qrels"),
        "1 1 a1 1\n1 2 a1 1\n1 1 c 1\n1 2 c 1\n2 1 b1 1\n2 3 b1 -1\n"
    );
    // A flag decides where no document has two lines.
    fs::write(place.join("one.txt"), "1 1 a1 1\n1 2 a3 0\n").unwrap();
    for (format, groups) in [("auto", 1), ("trec", 1), ("ndeval", 0)] {
        let arguments = [
            "one.txt",
            "--clusters",
            clusters,
            "--json",
            "--qrels-format",
            format,
        ];
        let (status, text, error) = command(place, &arguments);
        assert_eq!(status, Some(0), "{error}");
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["all"]["groups"], groups, "{format}");
        let expected = if format == "auto" { "trec" } else { format };
        assert_eq!(json["format"], expected);
    }
    for (format, text, says) in [
        (
            "ndeval",
            "1 1 a 1\n1 2 a 1\n1 1 a 0\n",
            "line 3: expected one line for each docno and subtopic of a topic",
        ),
        (
            "auto",
            "1 1 a 1\n1 2 a 1\n1 1 a 0\n",
            "line 3: expected one line for each docno and subtopic of a topic",
        ),
        (
            "trec",
            "1 1 a 1\n1 2 a 1\n",
            "line 2: expected one line for each docno of a topic",
        ),
        (
            "prels",
            "1 1 a 1\n",
            "line 1: expected 5 fields (topic, docno, relevance, method, probability)",
        ),
        ("auto", "1 1 a 1\n1 a 1 1 .5\n", "line 2: expected 4 fields"),
        ("auto", "1 a 1 1 .5\n1 1 a 1\n", "line 2: expected 5 fields"),
        (
            "auto",
            "1 a 1 1 x\n",
            "line 1: expected a probability that is a number, found `x`",
        ),
        (
            "auto",
            "1 a 1 1 1\n1 a 1 2 1\n",
            "line 2: expected one line for each docno of a topic",
        ),
        (
            "auto",
            "1 a 1\n",
            "line 1: expected 4 fields (topic, iteration, docno, relevance) or 5",
        ),
    ] {
        fs::write(place.join("bad.txt"), text).unwrap();
        let arguments = ["bad.txt", "--clusters", clusters, "--qrels-format", format];
        let (status, _, error) = command(place, &arguments);
        assert_eq!(status, Some(1), "{error}");
        assert!(error.contains(says), "{error}\n{says}");
        // Those flags belong to `evaluate`.
        assert!(!error.contains("-columns"), "{error}");
    }
}

/// A line of the Million Query track keeps its method and probability.
#[test]
fn judgements_with_probabilities_are_read_and_written() {
    let (directory, out) = collection();
    let place = directory.path();
    let qrels = "10001 a3 2 0 0.25\n10001\ta1  0 1 1.0\n10001 c 1 2 .5\n10002 b2 0 1 1e-3\n";
    fs::write(place.join("prels"), qrels).unwrap();
    let clusters = out.to_str().unwrap();
    for (keep, expected) in [
        (
            "first",
            "10001 a1 0 1 1.0\n10001 c 1 2 .5\n10002 b2 0 1 1e-3\n",
        ),
        (
            "best",
            "10001 a3 2 0 0.25\n10001 c 1 2 .5\n10002 b2 0 1 1e-3\n",
        ),
        (
            "map",
            "10001 a1 2 0 0.25\n10001 c 1 2 .5\n10002 b1 0 1 1e-3\n",
        ),
    ] {
        let arguments = [
            "prels",
            "--clusters",
            clusters,
            "-o",
            "thin",
            "--keep",
            keep,
        ];
        let (status, table, error) = command(place, &arguments);
        assert_eq!(status, Some(0), "{error}");
        assert!(
            table.starts_with("qrels prels (prels): 4 lines, 3 kept"),
            "{table}"
        );
        let written = fs::read_to_string(place.join("thin/qrels")).unwrap();
        assert_eq!(written, expected, "{keep}");
    }
}

/// The judgements of another collection gave zeros and nothing else.
#[test]
fn unknown_names_are_printed_as_a_warning() {
    let (directory, out) = collection();
    let place = directory.path();
    let many: String = (0..20).map(|n| format!("1 0 x{n} 1\n")).collect();
    fs::write(place.join("other.txt"), &many).unwrap();
    fs::write(place.join("one.txt"), "1 0 a1 1\n1 0 x 1\n").unwrap();
    let known = ["a1", "a2", "a3", "a4", "b1", "b2", "c"];
    let lines = |extra: &str| -> String {
        let lines = (0..3).flat_map(|topic| known.map(|docno| format!("{topic} 0 {docno} 1\n")));
        lines.chain([extra.to_string()]).collect()
    };
    fs::write(place.join("few.txt"), lines("1 0 x 1\n")).unwrap();
    fs::write(place.join("none.txt"), lines("")).unwrap();
    let ranking: String = (0..20).map(|n| format!("1 Q0 y{n} {n} 1 t\n")).collect();
    fs::write(place.join("run.txt"), ranking).unwrap();
    let clusters = out.to_str().unwrap();
    for (name, warned) in [
        ("other.txt", Some("20 of 20 lines")),
        ("one.txt", Some("1 of 2 lines")),
        ("few.txt", None),
        ("none.txt", None),
    ] {
        let (status, _, warnings) = command(place, &[name, "--clusters", clusters]);
        assert_eq!(status, Some(0), "{warnings}");
        match warned {
            Some(warned) => assert!(
                warnings.contains(&format!("warning: {name}: {warned} name a document that")),
                "{warnings}"
            ),
            None => assert!(!warnings.contains("warning"), "{warnings}"),
        }
    }
    let arguments = ["none.txt", "--clusters", clusters, "--run", "run.txt"];
    let (_, _, warnings) = command(place, &arguments);
    assert!(
        warnings.contains("run.txt: 20 of 20 lines name"),
        "{warnings}"
    );
    // A file of clusters does not say what the collection has.
    let file = out.join("clusters.jsonl");
    let file = file.to_str().unwrap();
    let (_, _, warnings) = command(place, &["other.txt", "--clusters", file]);
    assert!(
        warnings.contains("warning: other.txt: none of 20 lines names a document"),
        "{warnings}"
    );
    let (_, _, warnings) = command(place, &["few.txt", "--clusters", file]);
    assert!(!warnings.contains("warning"), "{warnings}");
}

/// Topics without groups are left out, and a cluster of several topics counts once in the last row.
#[test]
fn the_table_has_no_rows_of_zeros() {
    let (directory, out) = collection();
    let place = directory.path();
    let mut qrels = String::from("1 0 a1 1\n1 0 a2 0\n2 0 a2 1\n2 0 a3 0\n3 0 b1 1\n3 0 b2 1\n");
    for topic in 4..100 {
        writeln!(qrels, "{topic} 0 a1 1").unwrap();
    }
    fs::write(place.join("qrels.txt"), qrels).unwrap();
    let clusters = out.to_str().unwrap();
    let (status, table, _) = command(place, &["qrels.txt", "--clusters", clusters]);
    assert_eq!(status, Some(0));
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(5)
        .map(|row| row.split_whitespace().collect())
        .collect();
    let expected = [
        "1 2 2 1 1 2",
        "2 2 2 1 0 2",
        "3 2 2 1 0 2",
        "all 102 102 3 1 6",
        "distinct 5 5 2 0 5",
        "",
        "Contradictions: relevant and other documents in a group, or several grades",
        "",
        "topic inconsistent exact near documents grades exact near documents",
        "1 1 1 0 2 1 1 0 2",
        "2 1 0 1 2 1 0 1 2",
        "3 0 0 0 0 0 0 0 0",
        "all 2 1 1 4 2 1 1 4",
        "distinct 1 1 0 3 1 1 0 3",
        "",
        "2 contradictions; -o DIR lists them in DIR/contradictions.jsonl",
        "",
        "96 topics without groups are not listed",
    ];
    assert_eq!(
        rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>(),
        expected
    );
    let (_, json, _) = command(place, &["qrels.txt", "--clusters", clusters, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["topics"].as_array().unwrap().len(), 99);
    assert_eq!(json["distinct"]["inconsistent"]["groups"], 1);
}

/// Each file of TREC is read in its own form, and written again as it was.
#[test]
fn judgements_of_tracks_are_recognised() {
    let Some(corpora) = common::corpora("the judgements of tracks") else {
        return;
    };
    let (directory, out) = collection();
    let place = directory.path();
    for (name, format) in [
        ("prels.web.1-50.head400.txt", QrelsFormat::Prels),
        ("qrels.web.201-250.ndeval.head400.txt", QrelsFormat::Ndeval),
        ("qrels.web.151-200.negative-grades.txt", QrelsFormat::Trec),
        ("qrels.web.401-450.txt.gz", QrelsFormat::Trec),
    ] {
        let mut asked = config(place, &out, Keep::Map);
        asked.qrels = corpora.join("formats/qrels").join(name);
        asked.runs.clear();
        let report = compared(&asked);
        assert_eq!(report.format, format, "{name}");
        let bytes = fs::read(&asked.qrels).unwrap();
        let mut text = String::new();
        if name.ends_with(".gz") {
            let mut unpacked = flate2::read::MultiGzDecoder::new(&bytes[..]);
            std::io::Read::read_to_string(&mut unpacked, &mut text).unwrap();
        } else {
            text = String::from_utf8(bytes).unwrap();
        }
        let lines = text.lines().map(|line| line.split_whitespace());
        let lines: Vec<String> = lines.map(|f| f.collect::<Vec<_>>().join(" ")).collect();
        let written = fs::read_to_string(place.join("thin/qrels")).unwrap();
        assert!(written.lines().eq(&lines), "{name}");
        assert_eq!(report.qrels.unknown, Some(lines.len() as u64));
    }
}
