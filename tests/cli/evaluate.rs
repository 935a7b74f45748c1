//! `evaluate`: tiny cases counted by hand, and a version that lists every pair, which the result
//! must equal.

use crate::common;
use lookalike::Error;
use lookalike::base::ids::Threshold;
use lookalike::base::progress::{Silent, Stop};
use lookalike::tasks::evaluate;
use lookalike::tasks::evaluate::{
    Counts, EvaluateConfig, Evaluation, ListFile, PairCounts, Sample, evaluate as evaluate_library,
};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::corpus::Random;
use common::{Run, rows_of, sample_corpora};
use serde_json::Value;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// A configuration with a scratch directory of its own.
struct Case {
    directory: TempDir,
    config: EvaluateConfig,
}

impl Case {
    /// The run is written by [`Case::file`] or given.
    fn new() -> Case {
        let directory = common::temporary();
        let scratch = directory.path().join("scratch");
        fs::create_dir(&scratch).unwrap();
        let run = ListFile {
            path: PathBuf::new(),
            columns: None,
        };
        let config = EvaluateConfig {
            truth: None,
            run,
            documents: None,
            thresholds: Vec::new(),
            judged: None,
            true_grade: 1,
            run_lists: Default::default(),
            disagreements: None,
            families: None,
            scratch,
        };
        Case { directory, config }
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn truth(mut self, path: &Path) -> Case {
        self.config.truth = Some(ListFile {
            path: path.into(),
            columns: None,
        });
        self
    }

    fn run(mut self, path: &Path) -> Case {
        self.config.run.path = path.into();
        self
    }

    fn lists(self, truth: &str, run: &str) -> Case {
        let (truth, run) = (self.file("truth", truth), self.file("run", run));
        self.truth(&truth).run(&run)
    }

    fn thresholds(mut self, list: &str) -> Case {
        self.config.thresholds = list.split(',').map(|t| t.parse().unwrap()).collect();
        self
    }

    fn with_memory(&self, memory: u64) -> Result<Evaluation, Error> {
        let run = Run::default().memory(memory);
        let result = evaluate_library(&self.config, &run.context(&Stop::default(), &Silent));
        let left = fs::read_dir(&self.config.scratch).unwrap().count();
        assert_eq!(left, 0, "scratch is left");
        result
    }

    fn evaluate(&self) -> Evaluation {
        self.with_memory(64 * MIB).unwrap()
    }

    fn error(&self) -> String {
        self.with_memory(64 * MIB).unwrap_err().to_string()
    }
}

fn counts(correct: u64, wrong: u64, missed: u64) -> Counts {
    Counts {
        correct,
        wrong,
        missed,
    }
}

#[test]
fn pairs_are_unordered_and_counted_once() {
    let truth = "a\tb\nb\tc\nc\td\na\td\n";
    let run = "b\ta\na\tb\nc\tc\nd\tc\nd\te\n";
    let case = Case::new().lists(truth, run);
    let found = case.evaluate();
    let all = &found.pairs[0].documents;
    // Found: ab, cd, de. True: ab, bc, cd, ad.
    assert_eq!(all.all.counts, counts(2, 1, 2));
    assert_eq!(all.all.precision, Some(2.0 / 3.0));
    assert_eq!(all.all.recall, Some(0.5));
    assert_eq!(all.all.f1, Some(4.0 / 7.0));
    assert!(all.groups.is_empty() && found.pairs[0].representatives.is_none());
    let of_run = found.run.counts.unwrap();
    assert_eq!(
        (
            of_run.lines,
            of_run.pairs,
            of_run.repeated,
            of_run.to_themselves
        ),
        (5, 3, 1, 1)
    );
    assert!(found.notes.is_empty() && found.clusters.is_none());
}

#[test]
fn shares_of_nothing_are_undefined() {
    let one = |truth: &str, run: &str| {
        Case::new().lists(truth, run).evaluate().pairs[0]
            .documents
            .all
    };
    let nothing = one("", "");
    assert_eq!(
        (nothing.precision, nothing.recall, nothing.f1),
        (None, None, None)
    );
    let unfound = one("a\tb\n", "");
    assert_eq!(
        (unfound.precision, unfound.recall, unfound.f1),
        (None, Some(0.0), Some(0.0))
    );
    let untrue = one("# nothing here\n", "a\tb\n");
    assert_eq!(
        (untrue.precision, untrue.recall, untrue.f1),
        (Some(0.0), None, Some(0.0))
    );
    let json = serde_json::to_value(unfound).unwrap();
    assert!(json["precision"].is_null() && json["correct"] == 0 && json["missed"] == 1);
}

#[test]
fn thresholds_are_exact_and_the_highest_of_repetitions_counts() {
    let ours = "# format: lookalike 1\n# threshold: 0.5\n\
                docno_a\tdocno_b\tresemblance\tshared\tshingles_a\tshingles_b\n\
                a\tb\t0.850000\t17\t17\t20\nc\td\t0.850000\t8499999\t8499999\t10000000\ne\tf\t1\t3\t3\t3\n";
    let foreign = "b,a,0.849999999999\na,b,8.5e-1\nc,d,.85\ne,f,0.5\ng,h,0.6\n";
    let case = Case::new().lists(ours, foreign).thresholds("0.4,17/20,0.9");
    let found = case.evaluate();
    let at: Vec<Counts> = found
        .pairs
        .iter()
        .map(|pairs| pairs.documents.all.counts)
        .collect();
    // 0.85: of ours ab, ef (cd prints as 0.850000 and is less); of the other ab, cd.
    assert_eq!(at, [counts(3, 1, 0), counts(1, 1, 1), counts(0, 0, 1)]);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(found.notes[0].contains("the ground truth lists no pairs below 0.5"));
    // A list without resemblances has all of its pairs everywhere.
    let case = Case::new()
        .lists("a\tb\nc\td\n", foreign)
        .thresholds("0.55,0.85");
    let found = case.evaluate();
    let at: Vec<Counts> = found
        .pairs
        .iter()
        .map(|pairs| pairs.documents.all.counts)
        .collect();
    assert_eq!(at, [counts(2, 1, 0), counts(2, 0, 0)]);
    assert!(
        Case::new()
            .lists("a b\n", "a b\n")
            .thresholds("0.5")
            .error()
            .contains("resemblances")
    );
    assert!(
        Case::new()
            .lists("a b\n", "a b 1\n")
            .thresholds("0.5,0.5")
            .error()
            .contains("rising")
    );
}

#[test]
fn lists_of_other_systems() {
    let truth = "x\ty\nu\tv,w\n";
    let read = |name: &str, text: &[u8], columns: Option<&str>| {
        let case = Case::new();
        let (truth, run) = (case.file("truth", truth), case.file(name, text));
        let mut case = case.truth(&truth).run(&run);
        case.config.run.columns = columns.map(|columns| columns.parse().unwrap());
        case.evaluate().pairs[0].documents.all.counts
    };
    let csv = b"id,left,right,how\n1,x,y,0.9\n2,\"v,w\",u,0.7\n";
    assert_eq!(read("a.csv", csv, Some("left,right,how")), counts(2, 0, 0));
    let numbered = b"1,x,y,0.9\n2,\"v,w\",u,0.7\n";
    assert_eq!(read("a.csv", numbered, Some("2,3")), counts(2, 0, 0));
    let json = b"{\"p\":{\"a\":\"x\"},\"b\":\"y\"}\n{\"p\":{\"a\":7},\"b\":\"y\"}\n";
    assert_eq!(read("a.jsonl", json, Some("p.a,b")), counts(1, 1, 1));
    let ours = b"{\"docno_a\":\"x\",\"docno_b\":\"y\",\"score\":0.25}\n";
    assert_eq!(read("b.jsonl", ours, None), counts(1, 0, 1));
    for (level, name) in [(0, "a.zst"), (3, "b.zst")] {
        let packed = zstd::encode_all(&b"x\ty\n"[..], level).unwrap();
        assert_eq!(read(name, &packed, None), counts(1, 0, 1));
    }
}

#[test]
fn lines_that_cannot_be_read_are_named() {
    for (run, says) in [
        (
            "a\tb\nc\n",
            "run, line 2: expected 2 columns or more, found 1",
        ),
        (
            "a\tb\t0.5\nc\td\t1.5\n",
            "run, line 2: expected a resemblance from 0 to 1 as a decimal, found `1.5`",
        ),
        (
            "a\t\n",
            "run, line 1: expected a docno, found an empty field",
        ),
        (
            "docno_a,docno_b,shared,shingles_a,shingles_b\na,b,5,4,9\n",
            "line 2: expected no more shared",
        ),
    ] {
        let error = Case::new().lists("a b\n", run).error();
        assert!(error.contains(says), "{error}");
    }
    let mut case = Case::new().lists("a b\n", "id1,id2\na,b\n");
    case.config.run.columns = Some("id1,id3".parse().unwrap());
    assert!(
        case.error()
            .contains("line 1: expected a header with a column `id3`, found `id1,id2`")
    );
    // A cut compressed list is not a short list.
    let whole = zstd::encode_all(&b"a\tb\n".repeat(1000)[..], 0).unwrap();
    let case = Case::new().lists("a b\n", "");
    fs::write(&case.config.run.path, &whole[..whole.len() - 5]).unwrap();
    assert!(case.error().contains("cannot read"), "{}", case.error());
}

#[test]
fn unknown_docnos_are_left_out_and_size_groups_are_of_the_smaller() {
    let case = Case::new().lists("a\tb\nb\tc\nq\ta\n", "a\tc\nc\tb\na\tz\nz\ty\n");
    let documents = case.file(
        "documents.tsv",
        "# format: lookalike 1\n# size-groups: 100\ndocno\turl\twords\tshingles\tsize_group\tcluster\n\
         a\t\t5\t1\t0\t\nb\t\t200\t1\t1\t\nc\t\t300\t1\t1\t\n",
    );
    let mut case = case;
    case.config.documents = Some(documents);
    let found = case.evaluate();
    let pairs = &found.pairs[0].documents;
    // ab (missed) and ac (wrong) are of a's group and a larger one, bc of the second alone.
    assert_eq!(pairs.all.counts, counts(1, 1, 1));
    let groups: Vec<_> = pairs
        .groups
        .iter()
        .map(|g| (&g.words[..], g.same.counts, g.cross.counts))
        .collect();
    let none = counts(0, 0, 0);
    assert_eq!(
        groups,
        [
            ("0-99", none, counts(0, 1, 1)),
            ("100-", counts(1, 0, 0), none)
        ]
    );
    assert_eq!(found.truth.unwrap().counts.unwrap().unknown, 1);
    assert_eq!(found.run.counts.unwrap().unknown, 2);
    assert_eq!(found.notes.len(), 2);
}

#[test]
fn judged_pairs_by_hand() {
    let run = "a\tb\t0.9\na\tc\t0.6\na\td\t0.8\ne\tf\t0.7\ng\th\t0.7\nb\tc\t0.6\n";
    let judged = "a b 1\na c 0\na d 1\na x 1\ne f 0\ne e 1\nf e 0\ng y 1\nb c 1\n";
    let case = Case::new();
    let (run, judged) = (case.file("run", run), case.file("judged", judged));
    let mut case = case.run(&run).thresholds("0.5,0.75");
    case.config.judged = Some(judged);
    let found = case.evaluate().judged.unwrap();
    assert_eq!(
        (found.true_pairs, found.false_pairs, found.unknown),
        (5, 2, 0)
    );
    let [low, high] = &found.at[..] else {
        panic!("two thresholds")
    };
    // Found and judged: ab, ad, bc true; ac, ef false. Named first: a (2 of 3), e and f (0 of 1
    // each), b (ab and bc: 2 of 2), g (none found).
    assert_eq!((low.true_found, low.false_found), (3, 2));
    assert_eq!((low.coverage, low.density), (Some(0.6), Some(0.6)));
    assert_eq!((low.documents, low.documents_without), (4, 1));
    assert!((low.average_precision.unwrap() - (2.0 / 3.0 + 1.0) / 4.0).abs() < 1e-12);
    assert_eq!(
        (high.true_found, high.false_found, high.coverage),
        (2, 0, Some(0.4))
    );
    assert_eq!(
        (high.density, high.average_precision, high.documents),
        (Some(1.0), Some(1.0), 2)
    );
    // By score: ab, ad true; ef false; ac false and bc true together; ax and gy were not found.
    let ranking = found.ranking.unwrap();
    assert_eq!(ranking.average_precision, Some((1.0 + 1.0 + 0.6) / 5.0));
    assert_eq!(ranking.auc, Some((2.0 + 2.0 + 0.5) / 10.0));
    assert_eq!(
        (ranking.best_f1, ranking.best_score),
        (Some(0.6), Some(0.6))
    );
    let [low, high] = ranking.auc_interval.unwrap();
    assert!(low < 0.45 && 0.45 < high && low >= 0.0 && high <= 1.0);
    let curve: Vec<_> = (ranking.curve.iter())
        .map(|point| (point.score.unwrap(), point.true_found, point.false_found))
        .collect();
    assert_eq!(curve, [(0.9, 1, 0), (0.8, 2, 0), (0.6, 3, 2)]);
    // Judged both ways.
    case.config.judged = Some(case.file("judged", "a b 1\nc d 0\nb a 0\n"));
    assert!(
        case.error()
            .contains("judged, line 3: expected the grade 1 that line 1 has, found 0")
    );
    case.config.judged = Some(case.file("judged", "a b yes\n"));
    assert!(case.error().contains(
        "line 1: expected a grade, a whole number from 0 (not alike) to 65535, found `yes`"
    ));
    // Nothing judged, nothing found.
    case.config.judged = Some(case.file("judged", "u v 0\n"));
    let at = case.evaluate().judged.unwrap().at[0].clone();
    assert_eq!(
        (at.coverage, at.density, at.average_precision),
        (None, None, None)
    );
}

/// Grades, collections, names of columns, and what the run and the people disagree about.
#[test]
fn graded_pairs_by_hand() {
    let run = "a\tb\t0.9\na\tc\t0.6\na\td\t0.8\nb\tc\t0.6\ne\tf\t0.7\n";
    let judged = "collection,label,docno_b,docno_a\nnews,3,b,a\nnews,1,c,a\nmail,2,d,a\nmail,2,x,a\n\
                  mail,0,f,e\nnews,3,c,b\n";
    let case = Case::new();
    let (run, judged) = (case.file("run", run), case.file("judged", judged));
    let mut case = case.run(&run).thresholds("0.5,0.75");
    case.config.judged = Some(judged);
    case.config.true_grade = 2;
    let output = case.directory.path().join("wrong.tsv");
    case.config.disagreements = Some(output.clone());
    let found = case.evaluate().judged.unwrap();
    assert_eq!((found.true_pairs, found.false_pairs), (4, 2));
    let graded = found.graded.unwrap();
    let grades: Vec<_> = (graded.grades.iter())
        .map(|of| (of.grade, of.pairs, &of.found[..]))
        .collect();
    assert_eq!(
        grades,
        [
            (0, 1, &[1, 0][..]),
            (1, 1, &[1, 0]),
            (2, 2, &[1, 1]),
            (3, 2, &[2, 1])
        ]
    );
    // The order of the file.
    let names: Vec<_> = (graded.collections.iter())
        .map(|of| (&of.collection[..], of.true_pairs, of.false_pairs))
        .collect();
    assert_eq!(names, [("news", 2, 1), ("mail", 2, 1)]);
    let news = &graded.collections[0].measures;
    assert_eq!(news.coverage, [Some(1.0), Some(0.5)]);
    assert_eq!(news.density, [Some(2.0 / 3.0), Some(1.0)]);
    // ab true; ac false and bc true together.
    assert_eq!(news.auc, Some((1.0 + 0.5) / 2.0));
    assert_eq!(
        fs::read_to_string(&output).unwrap(),
        "docno_a\tdocno_b\tgrade\tcollection\tscore\tdisagreement\n\
         a\tc\t1\tnews\t0.6\twrong\na\tx\t2\tmail\t\tmissed\ne\tf\t0\tmail\t0.7\twrong\n"
    );
    let ranking = found.ranking.unwrap();
    let reaching: Vec<_> = (ranking.reaching.iter())
        .map(|of| (of.precision, of.from.as_ref().and_then(|point| point.score)))
        .collect();
    assert_eq!(
        reaching,
        [(0.9, Some(0.8)), (0.95, Some(0.8)), (0.99, Some(0.8))]
    );
    let intervals = graded.intervals.unwrap();
    assert_eq!((intervals.documents, intervals.replicates), (7, 1000));
    let [low, high] = intervals.measures.coverage[0].unwrap();
    assert!(low < 0.75 && 0.75 <= high);
    // The same as JSON, without names, and one grade that is none.
    case.config.disagreements = None;
    let json = "{\"docno_a\":\"a\",\"docno_b\":\"b\",\"grade\":3}\n{\"docno_a\":\"a\",\"docno_b\":\"x\",\"grade\":2}\n";
    case.config.judged = Some(case.file("judged", json));
    let found = case.evaluate().judged.unwrap();
    assert_eq!((found.true_pairs, found.at[0].true_found), (2, 1));
    assert!(found.graded.unwrap().collections.is_empty());
    case.config.judged = Some(case.file("judged", "a b 3 news\na x -1 mail\n"));
    assert!(
        case.error()
            .contains("line 2: expected a grade, a whole number")
    );
    case.config.true_grade = 0;
    assert!(
        case.error()
            .contains("pairs of a lower grade are judged false")
    );
}

/// The measures of a collection are those of its pairs alone.
#[test]
fn a_collection_is_measured_as_if_it_were_alone() {
    let mut random = Random(5);
    let names: Vec<String> = (0..40).map(|n| format!("d{n}")).collect();
    let mut run = String::new();
    let mut judged: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for _ in 0..300 {
        let (a, b) = (random.pick(&names), random.pick(&names));
        if a != b {
            let graded = (random.below(4) as u64, random.below(3) as u64);
            judged.entry(ordered(a, b)).or_insert(graded);
            if random.once_in(2) {
                run += &format!("{a}\t{b}\t0.{}\n", 1 + random.below(9));
            }
        }
    }
    let case = Case::new();
    let run = case.file("run", run);
    let mut case = case.run(&run);
    case.config.true_grade = 2;
    let text = |of: Option<u64>| -> String {
        let lines = judged
            .iter()
            .filter(|(_, (_, group))| of.is_none_or(|of| of == *group));
        lines
            .map(|((a, b), (grade, group))| format!("{a} {b} {grade} c{group}\n"))
            .collect()
    };
    case.config.judged = Some(case.file("judged", text(None)));
    let all = case.evaluate().judged.unwrap();
    let graded = all.graded.unwrap();
    assert_eq!(graded.collections.len(), 3);
    for of in &graded.collections {
        let number = of.collection[1..].parse().unwrap();
        case.config.judged = Some(case.file("judged", text(Some(number))));
        let alone = case.evaluate().judged.unwrap();
        assert_eq!(
            (of.true_pairs, of.false_pairs),
            (alone.true_pairs, alone.false_pairs)
        );
        assert_eq!(of.measures.coverage, [alone.at[0].coverage]);
        assert_eq!(of.measures.density, [alone.at[0].density]);
        let ranking = alone.ranking.unwrap();
        let pairs = [
            (of.measures.average_precision, ranking.average_precision),
            (of.measures.auc, ranking.auc),
            (of.measures.best_f1, ranking.best_f1),
        ];
        for (a, b) in pairs {
            assert!((a.unwrap() - b.unwrap()).abs() < 1e-12);
        }
        let interval = alone
            .graded
            .unwrap()
            .intervals
            .unwrap()
            .measures
            .auc
            .unwrap();
        assert!(interval[0] <= ranking.auc.unwrap() && ranking.auc.unwrap() <= interval[1]);
    }
}

/// The score of most methods is a number of common features, which no resemblance can be compared
/// with. Their pairs can be judged all the same.
#[test]
fn methods_whose_score_is_a_count_are_evaluated() {
    let run = "# score: s1:1\ndocno_a\tdocno_b\tscore\na\tb\t7\nb\tc\t1\n";
    let case = Case::new();
    let (run, truth) = (
        case.file("run", run),
        case.file("truth", "a b 0.9\nb c 0.5\n"),
    );
    let case = case.run(&run).truth(&truth).thresholds("0.4,0.8");
    let found = case.evaluate();
    assert_eq!(found.run.scores, evaluate::Scores::Counts);
    let at = |n: usize| found.pairs[n].documents.all.counts;
    assert_eq!((at(0), at(1)), (counts(2, 0, 0), counts(1, 1, 0)));
    assert_eq!(
        found.notes,
        ["the run has no resemblances: all its pairs count at each threshold"]
    );
    fs::write(&run, "# score: s1:1\ndocno_a\tdocno_b\tscore\na\tb\t0.7\n").unwrap();
    assert!(
        case.error()
            .contains("line 3: expected a number of features, found `0.7`")
    );

    let directory = common::temporary();
    let out = directory.path().join("out");
    let command = || Command::new(env!("CARGO_BIN_EXE_lookalike"));
    let made = |arguments: &[&str]| {
        let made = command().args(arguments).arg("--quiet").output().unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        made.stdout
    };
    let (input, place) = (sample_corpora("trec-web"), out.to_str().unwrap());
    let input = input.to_str().unwrap();
    made(&[
        "run",
        input,
        "-o",
        place,
        "--keep-text",
        "--threshold",
        "0.5",
    ]);
    let judged: String = rows_of(&out, "pairs.tsv")
        .iter()
        .map(|row| {
            let row: Vec<&str> = row.split('\t').collect();
            format!("{} {} {}\n", row[0], row[1], u8::from(row[2] >= "0.75"))
        })
        .collect();
    let judgements = directory.path().join("judged");
    fs::write(&judgements, judged).unwrap();
    for method in [
        "super-shingles",
        "megashingles",
        "minhash",
        "mod",
        "min",
        "i-match",
        "deco:score=s1",
    ] {
        made(&["lab", "method", method, place]);
        let of_method = out.join("methods").join(method.replace(':', "_"));
        let of_method = of_method.to_str().unwrap();
        for (truth, run) in [(place, of_method), (of_method, place)] {
            let judged = judgements.to_str().unwrap();
            let report = [
                "evaluate", "--truth", truth, run, "--judged", judged, "--json",
            ];
            let report: Value = serde_json::from_slice(&made(&report)).unwrap();
            let measured = &report["pairs"][0]["documents"]["all"];
            let sample = &report["judged"]["at"][0];
            let found = measured["correct"].as_u64().unwrap();
            assert!(found > 0, "{method}: {measured}");
            if run == of_method {
                // Each row is a pair of its own, and identical documents are pairs as well.
                let rows = rows_of(Path::new(of_method), "pairs.tsv").len() as u64;
                assert!(
                    measured["found"].as_u64().unwrap() >= rows,
                    "{method}: {measured}"
                );
                let judged = sample["true_found"].as_u64().unwrap();
                assert!(judged > 0 && judged <= found, "{method}: {sample}");
            }
        }
    }
}

#[test]
fn families_by_hand() {
    let case = Case::new();
    let run = case.file("run", "a b\nb c\na d\nd z\nd e\n");
    let families = case.file("families", "a 1\nb 1\nc 1\na 1\nd 2\ne 2\nf 3\n");
    let mut case = case.run(&run);
    case.config.families = Some(families);
    let found = case.evaluate().families.unwrap();
    assert_eq!((found.true_pairs, found.false_pairs), (4, 11));
    let at = &found.at[0];
    // ab, bc, de true; ad false; dz not judged. a 1/2, b 2/2, c 1/1, d 1/2, e 1/1; f none.
    assert_eq!((at.true_found, at.false_found), (3, 1));
    assert_eq!((at.coverage, at.density), (Some(0.75), Some(0.75)));
    assert_eq!(
        (at.average_precision, at.documents, at.documents_without),
        (Some(0.8), 5, 1)
    );
    case.config.families = Some(case.file("families", "a 1\nb 1\na 2\n"));
    assert!(
        case.error()
            .contains("families, line 3: expected the family that an earlier line")
    );
}

/// A set of pairs by level: how many of the thresholds each reaches.
type Set = BTreeMap<(String, String), usize>;

fn ordered(a: &str, b: &str) -> (String, String) {
    (a.min(b).to_string(), a.max(b).to_string())
}

/// A directory, listed in full.
struct Listed {
    pairs: Set,
    /// The score of each pair; infinite for identical documents.
    scores: BTreeMap<(String, String), f64>,
    representative: BTreeMap<String, String>,
    group: BTreeMap<String, usize>,
    cluster: BTreeMap<String, String>,
}

fn listed(out: &Path, thresholds: &[Threshold]) -> Listed {
    let split = |row: &String| row.split('\t').map(String::from).collect::<Vec<_>>();
    let rows = |name: &str| rows_of(out, name).iter().map(split).collect::<Vec<_>>();
    let (mut group, mut cluster, mut representative) =
        (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for row in rows("documents.tsv") {
        group.insert(row[0].clone(), row[4].parse().unwrap());
        representative.insert(row[0].clone(), row[0].clone());
        if !row[5].is_empty() {
            cluster.insert(row[0].clone(), row[5].clone());
        }
    }
    for row in rows("exact-duplicates.tsv") {
        representative.insert(row[0].clone(), row[1].clone());
    }
    let (mut alike, mut scores) = (Set::new(), BTreeMap::new());
    for row in rows("pairs.tsv") {
        let number = |i: usize| row[i].parse::<u64>().unwrap();
        let reached = thresholds
            .iter()
            .filter(|t| t.reached(number(3), number(4), number(5)));
        let level = if thresholds.is_empty() {
            1
        } else {
            reached.count()
        };
        let pair = ordered(&row[0], &row[1]);
        let union = number(4) + number(5) - number(3);
        scores.insert(pair.clone(), number(3) as f64 / union as f64);
        alike.insert(pair, level);
    }
    let of_classes = scores.clone();
    let mut pairs = Set::new();
    for (a, first) in &representative {
        for (b, second) in representative.range(a.clone()..).skip(1) {
            let level = if first == second {
                Some(thresholds.len().max(1))
            } else {
                alike.get(&ordered(first, second)).copied()
            };
            if let Some(level) = level {
                let score = of_classes.get(&ordered(first, second)).copied();
                scores.insert(ordered(a, b), score.unwrap_or(f64::INFINITY));
                pairs.insert(ordered(a, b), level);
            }
        }
    }
    Listed {
        pairs,
        scores,
        representative,
        group,
        cluster,
    }
}

/// Pairs of the lists at a threshold, counted by (group, cross).
fn brute(
    truth: &Set,
    run: &Set,
    at: usize,
    group: &BTreeMap<String, usize>,
) -> BTreeMap<(usize, bool), Counts> {
    let both: BTreeSet<_> = truth.keys().chain(run.keys()).collect();
    let mut tally: BTreeMap<(usize, bool), Counts> = BTreeMap::new();
    for pair in both {
        let (Some(&a), Some(&b)) = (group.get(&pair.0), group.get(&pair.1)) else {
            continue;
        };
        let is = |set: &Set| set.get(pair).is_some_and(|&level| level > at);
        *tally.entry((a.min(b), a != b)).or_default() += match (is(truth), is(run)) {
            (true, true) => counts(1, 0, 0),
            (false, true) => counts(0, 1, 0),
            (true, false) => counts(0, 0, 1),
            (false, false) => counts(0, 0, 0),
        };
    }
    tally
}

fn assert_pairs(found: &PairCounts, expected: &BTreeMap<(usize, bool), Counts>, what: &str) {
    let mut all = Counts::default();
    for (number, group) in found.groups.iter().enumerate() {
        for (cross, measured) in [(false, group.same), (true, group.cross)] {
            let expected = expected.get(&(number, cross)).copied().unwrap_or_default();
            assert_eq!(measured.counts, expected, "{what}: {} {cross}", group.words);
        }
    }
    for &counts in expected.values() {
        all += counts;
    }
    assert_eq!(found.all.counts, all, "{what}");
}

/// The pairs, each document replaced by its representative.
fn of_representatives(set: &Set, representative: &BTreeMap<String, String>) -> Set {
    let mut out = Set::new();
    for ((a, b), &level) in set {
        let (Some(a), Some(b)) = (representative.get(a), representative.get(b)) else {
            continue;
        };
        if a != b {
            let highest = out.entry(ordered(a, b)).or_insert(0);
            *highest = level.max(*highest);
        }
    }
    out
}

/// Holds everything about two directories and files against the brute-force version.
fn check(truth_out: &Path, run_out: &Path, file: Option<&str>, thresholds: &str, what: &str) {
    let mut case = Case::new().truth(truth_out).run(run_out);
    if !thresholds.is_empty() {
        case = case.thresholds(thresholds);
    }
    let parsed = case.config.thresholds.clone();
    let truth = listed(truth_out, &parsed);
    let mut run = listed(run_out, &parsed);
    if let Some(text) = file {
        let path = case.file("run", text);
        case = case.run(&path);
        run.pairs.clear();
        run.scores.clear();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let score = fields[2].parse::<u64>().unwrap_or(0);
            assert!(fields[2].len() == 1 && score <= 1);
            let level = if score == 1 || parsed.is_empty() {
                parsed.len().max(1)
            } else {
                0
            };
            if fields[0] != fields[1] {
                let highest = run.pairs.entry(ordered(fields[0], fields[1])).or_insert(0);
                *highest = level.max(*highest);
                let highest = run
                    .scores
                    .entry(ordered(fields[0], fields[1]))
                    .or_insert(0.0);
                *highest = highest.max(score as f64);
            }
        }
    }
    let found = case.with_memory(64 * MIB).unwrap();
    for memory in [13 * MIB, 14 * MIB + 345, 300 * MIB] {
        assert_eq!(case.with_memory(memory).unwrap(), found, "{what}: {memory}");
    }
    assert_eq!(found.pairs.len(), parsed.len().max(1));
    let representatives =
        [&truth.pairs, &run.pairs].map(|set| of_representatives(set, &truth.representative));
    for (at, pairs) in found.pairs.iter().enumerate() {
        let expected = brute(&truth.pairs, &run.pairs, at, &truth.group);
        assert_pairs(
            &pairs.documents,
            &expected,
            &format!("{what}: documents {at}"),
        );
        let [a, b] = &representatives;
        let expected = brute(a, b, at, &truth.group);
        let of = pairs.representatives.as_ref().unwrap();
        assert_pairs(of, &expected, &format!("{what}: representatives {at}"));
    }
    if file.is_none() {
        let in_one = |clusters: &BTreeMap<String, String>| {
            let mut pairs = Set::new();
            for (a, first) in clusters {
                for (b, second) in clusters.range(a.clone()..).skip(1) {
                    if first == second {
                        pairs.insert(ordered(a, b), 1);
                    }
                }
            }
            pairs
        };
        let everywhere = truth.group.keys().map(|docno| (docno.clone(), 0)).collect();
        let expected = brute(
            &in_one(&truth.cluster),
            &in_one(&run.cluster),
            0,
            &everywhere,
        );
        let expected = expected.get(&(0, false)).copied().unwrap_or_default();
        assert_eq!(found.clusters.unwrap().counts, expected, "{what}: clusters");
    }
    check_samples(case, &run, what);
}

/// Judged pairs and families, made up.
fn check_samples(mut case: Case, run: &Listed, what: &str) {
    let names: Vec<&String> = run.group.keys().collect();
    let mut random = Random(names.len() as u64);
    let (mut judged, mut family) = (BTreeMap::new(), BTreeMap::new());
    let mut text = String::new();
    let near: Vec<&(String, String)> = run.pairs.keys().collect();
    let mut first = BTreeSet::new();
    for i in 0..120 {
        let (a, b) = if i % 2 == 0 {
            let pair = random.pick(&near);
            (&pair.0, &pair.1)
        } else {
            (*random.pick(&names), *random.pick(&names))
        };
        if a != b && !judged.contains_key(&ordered(a, b)) {
            let judgement = random.once_in(2);
            judged.insert(ordered(a, b), judgement);
            first.insert(a.clone());
            text += &format!("{a}\t{b}\t{}\n", u8::from(judgement));
        }
    }
    case.config.judged = Some(case.file("judged", text));
    let mut text = String::new();
    for name in &names {
        let number = random.below(12);
        // Some are in no family.
        if number >= 9 {
            continue;
        }
        family.insert(name.to_string(), number);
        text += &format!("{name}\t{number}\n");
    }
    case.config.families = Some(case.file("families", text));
    let found = case.with_memory(14 * MIB).unwrap();
    assert_sample(
        &found.judged.unwrap(),
        &judged,
        &first,
        (&run.pairs, &run.scores),
        &format!("{what}: judged"),
    );
    let mut every = BTreeMap::new();
    for (a, f) in &family {
        for (b, g) in family.range(a.clone()..).skip(1) {
            every.insert(ordered(a, b), f == g);
        }
    }
    let first = family.keys().cloned().collect();
    assert_sample(
        &found.families.unwrap(),
        &every,
        &first,
        (&run.pairs, &run.scores),
        &format!("{what}: families"),
    );
}

/// Every true pair against every false one, and precision at every true pair.
fn assert_ranking(
    found: &evaluate::Ranking,
    judged: &BTreeMap<(String, String), bool>,
    scores: &BTreeMap<(String, String), f64>,
    what: &str,
) {
    let score = |pair: &(String, String)| scores.get(pair).copied().unwrap_or(-1.0);
    let of = |wanted: bool| -> Vec<f64> {
        let pairs = judged.iter().filter(|&(_, &judgement)| judgement == wanted);
        pairs.map(|(pair, _)| score(pair)).collect()
    };
    let (right, wrong) = (of(true), of(false));
    let above = |score: &f64, least: f64| *score >= least;
    let (mut before, mut precisions, mut best) = (0.0, 0.0, 0.0f64);
    for &x in &right {
        before += wrong
            .iter()
            .map(|&y| f64::from(u8::from(x > y)) + f64::from(u8::from(x == y)) / 2.0)
            .sum::<f64>();
        if x < 0.0 {
            continue;
        }
        let good = right.iter().filter(|y| above(y, x)).count() as f64;
        let bad = wrong.iter().filter(|y| above(y, x)).count() as f64;
        precisions += good / (good + bad);
        best = best.max(2.0 * good / (good + bad + right.len() as f64));
    }
    let near = |found: Option<f64>, expected: f64| {
        assert!(
            (found.unwrap() - expected).abs() < 1e-9,
            "{what}: {found:?} {expected}"
        );
    };
    near(found.auc, before / (right.len() * wrong.len()) as f64);
    near(found.average_precision, precisions / right.len() as f64);
    near(found.best_f1, best);
}

fn assert_sample(
    found: &Sample,
    judged: &BTreeMap<(String, String), bool>,
    first: &BTreeSet<String>,
    (run, scores): (&Set, &BTreeMap<(String, String), f64>),
    what: &str,
) {
    assert_ranking(found.ranking.as_ref().unwrap(), judged, scores, what);
    let right = judged.values().filter(|&&judgement| judgement).count() as u64;
    assert_eq!((found.true_pairs, found.unknown), (right, 0), "{what}");
    assert_eq!(found.false_pairs, judged.len() as u64 - right, "{what}");
    for (at, sample) in found.at.iter().enumerate() {
        let hit = |pair: &(String, String)| run.get(pair).is_some_and(|&level| level > at);
        let mut each: BTreeMap<&String, [u64; 2]> = BTreeMap::new();
        let mut all = [0; 2];
        for (pair, &judgement) in judged.iter().filter(|(pair, _)| hit(pair)) {
            all[usize::from(judgement)] += 1;
            for name in [&pair.0, &pair.1]
                .into_iter()
                .filter(|name| first.contains(*name))
            {
                each.entry(name).or_default()[usize::from(judgement)] += 1;
            }
        }
        assert_eq!([sample.false_found, sample.true_found], all, "{what} {at}");
        assert!(all[0] > 0 && all[1] > 0, "{what} {at}: nothing to see");
        let precision = each
            .values()
            .map(|[wrong, right]| *right as f64 / (wrong + right) as f64);
        let mean = precision.sum::<f64>() / each.len() as f64;
        assert!(
            (sample.average_precision.unwrap() - mean).abs() < 1e-9,
            "{what} {at}"
        );
        assert_eq!(sample.documents, each.len() as u64, "{what} {at}");
        assert_eq!(
            sample.documents_without,
            (first.len() - each.len()) as u64,
            "{what} {at}"
        );
        assert_eq!(
            sample.coverage,
            Some(all[1] as f64 / right as f64),
            "{what} {at}"
        );
    }
}

#[test]
fn sampled_runs_equal_the_listing_of_every_pair() {
    let directory = common::temporary();
    let out = |name: &str| directory.path().join(name);
    let input = sample_corpora("trec-web");
    let run = |run: Run, name: &str| run.run(&[&input], &out(name)).unwrap();
    run(Run::default().threshold("0.5"), "full");
    run(Run::default().threshold("0.5").sampling("1/4"), "sampled");
    // Other tokens: other documents are identical, and the classes have to be cut.
    run(
        Run::default().threshold("0.5").tokens("whitespace"),
        "spaces",
    );
    let identical = |name: &str| rows_of(&out(name), "exact-duplicates.tsv").len();
    assert!(identical("spaces") < identical("full"));
    // Half of the collection.
    let half = sample_corpora("trec-web/b.gz");
    Run::default().run(&[&half], &out("half")).unwrap();
    for thresholds in ["", "0.5,0.7,17/20,1"] {
        check(&out("full"), &out("sampled"), None, thresholds, "sampled");
        check(&out("full"), &out("spaces"), None, thresholds, "spaces");
        check(
            &out("spaces"),
            &out("full"),
            None,
            thresholds,
            "full against spaces",
        );
    }
    check(&out("full"), &out("half"), None, "", "half");
    let differ = Case::new()
        .truth(&out("full"))
        .run(&out("spaces"))
        .evaluate();
    assert_eq!(differ.notes.len(), 1, "{:?}", differ.notes);
    assert!(
        differ.notes[0].contains("--tokens words, the run with whitespace"),
        "{:?}",
        differ.notes
    );

    // The other way round, unknown docnos are left out.
    let other = Case::new().truth(&out("half")).run(&out("full")).evaluate();
    assert!(other.run.counts.unwrap().unknown > 0 && !other.notes.is_empty());

    // Lists of files: random pairs of all documents, with repetitions.
    let names: Vec<String> = listed(&out("full"), &[]).group.into_keys().collect();
    let alike: Vec<(String, String)> = listed(&out("full"), &[]).pairs.into_keys().collect();
    for seed in 0..3 {
        let mut random = Random(seed);
        let mut text = String::new();
        for _ in 0..400 {
            let (a, b) = if random.once_in(2) {
                let pair = random.pick(&alike).clone();
                if random.once_in(2) {
                    pair
                } else {
                    (pair.1, pair.0)
                }
            } else {
                (random.pick(&names).clone(), random.pick(&names).clone())
            };
            text += &format!("{a}\t{b}\t{}\n", random.below(2));
        }
        check(
            &out("full"),
            &out("sampled"),
            Some(&text),
            "0.5,0.85",
            "a file",
        );

        // A file as the truth and a directory as the run give the same, the other way round.
        let kept = Case::new();
        let file = kept.file("file", &text);
        let a = Case::new()
            .truth(&out("full"))
            .run(&file)
            .thresholds("0.5,0.85")
            .evaluate();
        let mut case = Case::new()
            .truth(&file)
            .run(&out("full"))
            .thresholds("0.5,0.85");
        case.config.documents = Some(out("full").join("documents.tsv"));
        let b = case.evaluate();
        for (a, b) in a.pairs.iter().zip(&b.pairs) {
            let swapped = |c: Counts| counts(c.correct, c.missed, c.wrong);
            let of = |pairs: &PairCounts| -> Vec<[Counts; 2]> {
                pairs
                    .groups
                    .iter()
                    .map(|g| [g.same.counts, g.cross.counts])
                    .collect()
            };
            let turned = |pairs: &PairCounts| -> Vec<[Counts; 2]> {
                of(pairs).into_iter().map(|c| c.map(swapped)).collect()
            };
            assert_eq!(of(&a.documents), turned(&b.documents));
            let representatives = |p: &evaluate::PairsAt| p.representatives.clone().unwrap();
            assert_eq!(of(&representatives(a)), turned(&representatives(b)));
        }
    }
}

#[test]
fn random_lists_of_any_length_give_the_same_with_little_memory() {
    let mut random = Random(7);
    let (mut texts, mut sets) = ([String::new(), String::new()], [Set::new(), Set::new()]);
    for list in 0..2 {
        for _ in 0..60_000 {
            let (a, b) = (random.below(700).to_string(), random.below(700).to_string());
            texts[list] += &format!("{a} {b}\n");
            if a != b {
                sets[list].insert(ordered(&a, &b), 1);
            }
        }
    }
    let case = Case::new().lists(&texts[0], &texts[1]);
    let everywhere = (0..700).map(|n: u32| (n.to_string(), 0)).collect();
    let expected = brute(&sets[0], &sets[1], 0, &everywhere)[&(0, false)];
    // The least that will do makes several sorted pieces of each list.
    let (least, found) = common::least_memory(|memory| case.with_memory(memory));
    assert!(least < 13 * MIB, "{least}");
    assert_eq!(found.pairs[0].documents.all.counts, expected);
    assert_eq!(case.evaluate(), found);
}

#[test]
fn directories_without_results_or_pairs() {
    let directory = common::temporary();
    let out = |name: &str| directory.path().join(name);
    let input = sample_corpora("trec-web/a.gz");
    Run::default().run(&[&input], &out("full")).unwrap();
    Run::default()
        .pairs("none")
        .run(&[&input], &out("none"))
        .unwrap();
    drop(Run::default().ingest(&[&input], &out("half")).unwrap());
    let error = Case::new().truth(&out("full")).run(&out("half")).error();
    assert!(error.contains("has no committed cluster stage"), "{error}");
    let found = Case::new().truth(&out("full")).run(&out("none")).evaluate();
    let clusters = found.clusters.unwrap();
    assert!(
        found.pairs.is_empty() && clusters.recall == Some(1.0) && clusters.precision == Some(1.0)
    );
    assert!(found.notes[0].contains("--pairs none"));
    // Results that were changed are not results.
    let path = out("full").join("pairs.tsv");
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 40]).unwrap();
    let error = Case::new().truth(&out("full")).run(&out("none")).error();
    assert!(error.contains("pairs.tsv is cut off"), "{error}");
}

/// Several runs are lines of one table or a list in JSON, and a line of the disagreements can be shown.
#[test]
fn several_runs_are_lines_of_one_table() {
    let directory = common::temporary();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let text = "the quick brown fox jumps over the lazy dog and runs away from it now";
    let lines: String = (0..4)
        .map(|n| format!("{{\"id\":\"d{n}\",\"text\":\"{text} {n}\"}}\n"))
        .collect();
    fs::write(at("in.jsonl"), lines).unwrap();
    fs::write(at("judged"), "d0 d1 1\nd0 d2 0\n").unwrap();
    fs::write(at("other"), "d0 d2\n").unwrap();
    let command = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_lookalike"))
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .unwrap();
        let [out, error] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (out, error)
    };
    command(&[
        "run",
        &at("in.jsonl"),
        "-o",
        &at("out"),
        "--threshold",
        "0.3",
        "-q",
    ]);
    let judged = at("judged");
    let run = at("out");
    let several = ["evaluate", "out", "other", "--judged", "judged"];
    let (text, _) = command(&several);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let of = |end: &str| {
        let found = rows
            .iter()
            .find(|row| row.first().is_some_and(|name| name.ends_with(end)));
        found.unwrap_or_else(|| panic!("{end}: {text}"))[1..4].join(" ")
    };
    assert_eq!(of("out"), "2 1.0000 0.5000");
    assert_eq!(of("other"), "1 0.0000 0.0000");
    let (json, _) = command(&[&several[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 2);
    assert_eq!(json[1]["judged"]["graded"]["true_grade"], 1);
    let wrong = at("wrong.tsv");
    let (_, error) = command(&[&several[..], &["--disagreements", &wrong]].concat());
    assert!(error.contains("with one RUN only"), "{error}");
    command(&[
        "evaluate",
        &run,
        "--judged",
        &judged,
        "--disagreements",
        &wrong,
    ]);
    let pair = format!("{wrong}:2");
    let (shown, error) = command(&["diff", &run, "--pair", &pair]);
    assert!(
        shown.contains("d0") && shown.contains("d2"),
        "{shown}{error}"
    );
    let (_, error) = command(&["diff", &run, "--pair", &format!("{wrong}:3")]);
    assert!(error.contains("has no pair"), "{error}");
    // An input is not written over.
    let (_, error) = command(&[
        "evaluate",
        &run,
        "--judged",
        &judged,
        "--disagreements",
        &judged,
    ]);
    assert!(
        error.contains("--disagreements") || error.contains("--output"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&judged).unwrap(), "d0 d1 1\nd0 d2 0\n");
}

#[test]
fn the_command_prints_a_table_or_json() {
    let case = Case::new().lists(
        "# format: lookalike 1\n# tokens: words\ndocno_a\tdocno_b\na\tb\nb\tc\nc\td\n",
        "",
    );
    let run = case.file(
        "run",
        "# format: lookalike 1\n# tokens: bytes:5\ndocno_a\tdocno_b\na\tb\nz\ta\n",
    );
    let truth = case.directory.path().join("truth");
    let command = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        command
            .args(["evaluate", "--truth"])
            .arg(&truth)
            .arg(&run)
            .args(more);
        command.output().unwrap()
    };
    let output = command(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].ends_with("truth: 3 pairs, no resemblances"),
        "{text}"
    );
    assert_eq!(
        lines[2..],
        [
            "",
            "pairs of   at   true  found  correct  wrong  missed  precision  recall      F1",
            "documents  all     3      2        1      1       2     0.5000  0.3333  0.4000",
        ]
    );
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        warnings,
        "warning: the ground truth was made with --tokens words, the run with bytes:5\n"
    );
    assert_eq!(output.status.code(), Some(0));

    let output = command(&["--json", "--quiet"]);
    assert!(output.stderr.is_empty());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["pairs"][0]["documents"]["all"]["recall"], 1.0 / 3.0);
    assert_eq!(report["notes"].as_array().unwrap().len(), 1);
    assert!(report["clusters"].is_null() && report["pairs"][0]["threshold"].is_null());

    fs::write(&run, "").unwrap();
    let text = String::from_utf8(command(&[]).stdout).unwrap();
    assert!(
        text.contains(
            "documents  all     3      0        0      0       3          -  0.0000  0.0000"
        ),
        "{text}"
    );

    let output = command(&["--memory", "1MiB"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("help: give --memory 9MiB or more"));
    for (more, says) in [
        (["--thresholds", "0.5"], "no list has resemblances"),
        (["--columns", "a"], "give two docnos"),
        (["--thresholds", "0.9,0.8"], "give them in rising order"),
    ] {
        let output = command(&more);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(says), "{message}");
    }
}

/// Runs the program on a directory, and returns whether it ended well, and what it printed.
fn program(at: &Path, arguments: &str) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    let output = command
        .current_dir(at)
        .args(arguments.split(' '))
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// A removed document needs a kept one that reaches the threshold, and a kept one must not have one:
/// counted from every pair of texts, whether the directory lists them or not.
#[test]
fn removed_and_kept_documents_are_checked_against_every_pair() {
    let mut random = Random(5);
    let place = common::temporary();
    let at = place.path();
    let mut texts: Vec<Vec<u64>> = Vec::new();
    for n in 0..160 {
        let mut words: Vec<u64> = match n % 4 {
            0 => (0..30).map(|_| random.below(100_000) as u64).collect(),
            _ => texts[n - n % 4].clone(),
        };
        for _ in 0..random.below(6) {
            let place = random.below(words.len());
            words[place] = random.below(100_000) as u64;
        }
        texts.push(words);
    }
    let text = |words: &[u64]| words.iter().map(|n| format!("w{n} ")).collect::<String>();
    let lines = texts.iter().enumerate().map(|(n, words)| {
        format!(
            "{}\n",
            serde_json::json!({"id": format!("d{n}"), "text": text(words)})
        )
    });
    fs::write(at.join("in.jsonl"), lines.collect::<String>()).unwrap();
    for run in [
        "-o high --threshold 0.7",
        "-o none --threshold 0.7 --pairs none",
        "-o low --threshold 0.3",
    ] {
        let (done, said) = program(at, &format!("run in.jsonl --shingle-size 3 --quiet {run}"));
        assert!(done, "{said}");
    }
    let sets: Vec<BTreeSet<&[u64]>> = texts
        .iter()
        .map(|words| words.windows(3).collect())
        .collect();
    let removed: Vec<bool> = (0..texts.len()).map(|_| random.once_in(2)).collect();
    // A docno that is not there, and one that is there twice.
    let list = |which: bool| {
        let names = (0..texts.len()).filter(|&n| removed[n] == which);
        let names: String = names.map(|n| format!("d{n}\n")).collect();
        format!("{names}nobody\n{}\n", names.lines().next().unwrap())
    };
    fs::write(at.join("removed.txt"), list(true)).unwrap();
    let kept = list(false).replace("nobody", "nob,ody");
    let kept: String = kept
        .lines()
        .map(|id| format!("{{\"n\":1,\"id\":\"{id}\"}}\n"))
        .collect();
    fs::write(at.join("kept.jsonl"), kept).unwrap();
    for (truth, exact_from) in [("high", 0.7), ("none", 2.0), ("low", 0.3)] {
        for (name, what, unknown) in [
            ("removed.txt", "removed", "nobody"),
            ("kept.jsonl", "kept", "nob,ody"),
        ] {
            let command = format!(
                "evaluate {name} --run-lists {what} --truth {truth} --thresholds 0.3,0.5,0.7,0.9 --json"
            );
            let (done, said) = program(at, &command);
            assert!(done, "{said}");
            let start = said.find('{').unwrap();
            let end = said.rfind("\n}").unwrap();
            let found: Value = serde_json::from_str(&said[start..end + 2]).unwrap();
            let removals = &found["removals"];
            assert!(
                said.contains(&format!("does not have: `{unknown}`")),
                "{said}"
            );
            for (level, threshold) in [3, 5, 7, 9].into_iter().enumerate() {
                let reaches = |a: usize, b: usize| {
                    let shared = sets[a].intersection(&sets[b]).count();
                    let all = sets[a].len() + sets[b].len() - shared;
                    a != b && (texts[a] == texts[b] || shared * 10 >= all * threshold)
                };
                let partners = |n: usize| {
                    (0..texts.len())
                        .filter(|&m| !removed[m] && reaches(n, m))
                        .count()
                };
                let count = |of: bool, wrong: &dyn Fn(usize) -> bool| {
                    (0..texts.len())
                        .filter(|&n| removed[n] == of && wrong(n))
                        .count()
                };
                let without = count(true, &|n| partners(n) == 0);
                let redundant = count(false, &|n| partners(n) > 0);
                let pairs: usize = (0..texts.len())
                    .filter(|&n| !removed[n])
                    .map(partners)
                    .sum();
                let shown = &removals[level];
                let what = format!("{truth}, {what} at 0.{threshold}: {shown}");
                assert_eq!(shown["without_survivor"]["documents"], without, "{what}");
                assert_eq!(shown["redundant"]["documents"], redundant, "{what}");
                let listed = threshold as f64 / 10.0 >= exact_from;
                let expected = if listed {
                    (pairs / 2).into()
                } else {
                    Value::Null
                };
                assert_eq!(shown["pairs"], expected, "{what}");
                // All were looked at, so there is no interval.
                assert_eq!(shown["redundant"]["interval"], Value::Null, "{what}");
            }
        }
    }
}

/// Of many documents some are drawn: the shares have intervals, which contain the true ones here.
#[test]
fn drawn_documents_give_intervals() {
    let place = common::temporary();
    let at = place.path();
    let text = |n: usize, last: &str| {
        let words = (0..14).map(|word| format!("w{n}x{word} "));
        words.collect::<String>() + last
    };
    // Of each four documents, the first is kept, the next two removed, of which one has no survivor,
    // and the last is kept, a near-duplicate of the first in every other group.
    let mut lines = String::new();
    let mut removed = String::from("id\n");
    for n in 0..700 {
        let other = if n % 2 == 0 { 4 * n } else { 4 * n + 3 };
        let texts = [
            text(4 * n, "a"),
            text(4 * n, "b"),
            text(4 * n + 2, "c"),
            text(other, "d"),
        ];
        for (at, text) in texts.into_iter().enumerate() {
            lines += &format!(
                "{}\n",
                serde_json::json!({"id": format!("{n}.{at}"), "text": text})
            );
        }
        removed += &format!("{n}.1\n{n}.2\n");
    }
    fs::write(at.join("in.jsonl"), lines).unwrap();
    fs::write(at.join("removed.csv"), removed).unwrap();
    assert!(
        program(
            at,
            "run in.jsonl -o out --shingle-size 5 --threshold 0.95 --quiet"
        )
        .0
    );
    let command = "evaluate removed.csv --run-lists removed --truth out --thresholds 0.8";
    let (_, json) = program(at, &format!("{command} --json"));
    let found: Value = serde_json::from_str(&json).unwrap();
    let found = &found["removals"][0];
    for part in ["without_survivor", "redundant"] {
        let part = &found[part];
        assert_eq!(part["of"], 1000, "{found}");
        let [low, high] = [0, 1].map(|n| part["interval"][n].as_f64().unwrap());
        assert!(low < 0.5 && 0.5 < high && high - low < 0.07, "{found}");
        assert_eq!(
            part["share"].as_f64().unwrap(),
            part["documents"].as_f64().unwrap() / 1000.0
        );
    }
    let (done, table) = program(at, command);
    assert!(
        done && table.contains("removed without survivor  0.8  1000"),
        "{table}"
    );
    assert!(!table.contains("warning"), "{table}");
}

/// Clusters of another program, one document or one cluster on a line.
#[test]
fn clusters_of_other_programs_are_compared() {
    let place = common::temporary();
    let at = place.path();
    let out = sample_corpora("trec-web");
    let (done, said) = program(at, &format!("run {} -o out --quiet", out.display()));
    assert!(done, "{said}");
    // The clusters of the run itself: in a table, and a cluster on each line, as words or JSON.
    let documents = fs::read_to_string(at.join("out/documents.tsv")).unwrap();
    let mut rows = documents.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = rows.next().unwrap().split('\t').collect();
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let mut clusters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows.map(|row| row.split('\t').collect::<Vec<_>>()) {
        if !row[column("cluster")].is_empty() {
            let all = clusters.entry(row[column("cluster")]).or_default();
            all.push(row[column("docno")]);
        }
    }
    let table = clusters
        .iter()
        .flat_map(|(name, all)| all.iter().map(move |docno| format!("{docno}\tc{name}\n")));
    fs::write(at.join("table.tsv"), table.collect::<String>()).unwrap();
    let words = clusters.values().map(|all| all.join(" ") + "\n");
    fs::write(at.join("lines.txt"), words.collect::<String>()).unwrap();
    // One cluster is missing, two others are one, and a docno is not there.
    let mut all: Vec<Vec<&str>> = clusters.values().cloned().collect();
    let missing = all.pop().unwrap().len() as u64;
    let (one, other) = (all.pop().unwrap(), all.pop().unwrap());
    all.push([&one[..], &other[..], &["nobody"]].concat());
    let json = all
        .iter()
        .map(|all| serde_json::to_string(all).unwrap() + "\n");
    fs::write(at.join("lines.jsonl"), json.collect::<String>()).unwrap();
    let pairs = |n: u64| n * (n - 1) / 2;
    let true_pairs: u64 = clusters.values().map(|all| pairs(all.len() as u64)).sum();
    let wrong = (one.len() * other.len()) as u64;
    for (file, lists, expected) in [
        ("table.tsv", "clusters", [true_pairs, 0, 0]),
        ("lines.txt", "cluster-lines", [true_pairs, 0, 0]),
        (
            "lines.jsonl",
            "cluster-lines",
            [true_pairs - pairs(missing), wrong, pairs(missing)],
        ),
    ] {
        let command = format!("evaluate {file} --run-lists {lists} --truth out");
        let (_, said) = program(at, &format!("{command} --json --quiet"));
        let found: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
        let counts =
            ["correct", "wrong", "missed"].map(|name| found["clusters"][name].as_u64().unwrap());
        assert_eq!(counts, expected, "{file}");
        let (_, said) = program(at, &command);
        assert_eq!(
            said.contains("ignored 1 docno that"),
            file == "lines.jsonl",
            "{said}"
        );
    }
    fs::write(at.join("twice.tsv"), "PG-000001\ta\nPG-000001\tb\n").unwrap();
    for (arguments, why) in [
        (
            "twice.tsv --run-lists clusters --truth out",
            "twice.tsv, line 2",
        ),
        ("out --run-lists removed --truth out", "is a directory"),
        (
            "table.tsv --run-lists clusters --truth lines.txt",
            "give --truth DIR",
        ),
        (
            "table.tsv --run-lists removed --truth lines.txt",
            "give --truth DIR",
        ),
        (
            "table.tsv --run-lists kept --judged twice.tsv",
            "give --truth DIR",
        ),
        ("table.tsv --run-lists pears --truth out", "cluster-lines"),
        (
            "table.tsv --run-lists clusters --truth out --thresholds 0.5",
            "thresholds",
        ),
        (
            "table.tsv --run-lists clusters --truth out --run-columns 1",
            "give a docno and a cluster",
        ),
        ("table.tsv --truth out --run-columns 1", "give two docnos"),
        (
            "table.tsv --run-lists clusters --truth out --disagreements d",
            "give --judged or --run-lists",
        ),
    ] {
        let (done, said) = program(at, &format!("evaluate {arguments}"));
        assert!(!done && said.contains(why), "{arguments}: {said}");
    }
}

/// Writes documents as JSON lines: for each id, a text that only the texts of its group resemble.
fn write_groups(path: &Path, documents: &[(&str, usize)]) {
    let lines = documents.iter().map(|(id, group)| {
        let words = (0..40).map(|word| format!("w{group}x{word} "));
        let text = words.collect::<String>() + &id.replace(|c: char| !c.is_alphanumeric(), "");
        format!("{}\n", serde_json::json!({"id": id, "text": text}))
    });
    fs::write(path, lines.collect::<String>()).unwrap();
}

/// Returns the counts of `evaluate`: removed documents and those of them without a survivor, kept
/// ones and the redundant ones. Nothing is unknown.
fn removals(at: &Path, arguments: &str) -> [u64; 4] {
    let (done, said) = program(at, &format!("evaluate {arguments} --json"));
    assert!(done, "{arguments}: {said}");
    let found: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
    let found = &found["removals"][0];
    let number = |part: &str, name: &str| found[part][name].as_u64().unwrap();
    let [removed, kept] = ["without_survivor", "redundant"];
    [
        number(removed, "of"),
        number(removed, "documents"),
        number(kept, "of"),
        number(kept, "documents"),
    ]
}

/// Docnos with backslashes, tabs, spaces, commas and quotes, in our own lists and in those of others.
#[test]
fn docnos_of_lists_are_read_as_they_were_written() {
    let place = common::temporary();
    let at = place.path();
    let ids = [
        r"C:\data\new 0.txt",
        "tab\t0",
        "doc 11",
        "\"Heroes\" (song)",
        "a, b",
        "doc 12",
    ];
    // Of each two documents, the first is kept.
    let documents: Vec<(&str, usize)> = ids.into_iter().zip([0, 0, 1, 1, 2, 2]).collect();
    write_groups(&at.join("in.jsonl"), &documents);
    for arguments in [
        "run in.jsonl -o out --threshold 0.8 --quiet",
        "dedup --from out -o lists --ids-only --quiet",
    ] {
        let (done, said) = program(at, arguments);
        assert!(done, "{said}");
    }
    let kept: Vec<&str> = ids.into_iter().step_by(2).collect();
    let removed: Vec<&str> = ids.into_iter().skip(1).step_by(2).collect();
    let quote = |id: &&str| format!("\"{}\"", id.replace('"', "\"\""));
    let all = |ids: &[&str]| {
        let lines = ids.iter().map(|id| quote(id) + "\n");
        lines.collect::<String>()
    };
    fs::write(at.join("kept.txt"), kept.join("\n")).unwrap();
    fs::write(at.join("kept.csv"), format!("\"id\"\n{}", all(&kept))).unwrap();
    let some = format!("id\n{}\n{}\n{}\n", kept[0], kept[1], quote(&kept[2]));
    fs::write(at.join("minimal.csv"), some).unwrap();
    let rows = removed.iter().map(|id| format!("\"1\"\t{}\n", quote(id)));
    let rows = rows.collect::<String>();
    fs::write(at.join("removed.tsv"), format!("\"n\"\t\"id\"\n{rows}")).unwrap();
    for arguments in [
        "lists/kept.tsv --run-lists kept",
        "lists/removed.tsv --run-lists removed",
        "kept.txt --run-lists kept",
        "kept.csv --run-lists kept",
        "minimal.csv --run-lists kept",
        "removed.tsv --run-lists removed",
    ] {
        let found = removals(at, &format!("{arguments} --truth out"));
        assert_eq!(found, [3, 0, 3, 0], "{arguments}");
    }
}

/// A docno may have a comma: only a header that names columns, or the name of the file, says that
/// commas separate. Semicolons do in a list whose columns are named.
#[test]
fn a_comma_in_a_list_of_docnos_is_a_part_of_a_docno() {
    let place = common::temporary();
    let at = place.path();
    write_groups(
        &at.join("in.jsonl"),
        &[("a", 0), ("a,1", 0), ("b", 1), ("b,1", 1)],
    );
    assert!(program(at, "run in.jsonl -o out --threshold 0.8 --quiet").0);
    for (name, text, columns) in [
        ("plain.txt", "a,1\nb,1\n", ""),
        ("named.txt", "n,id\n1,\"a,1\"\n2,\"b,1\"\n", ""),
        ("ending.csv", "\"a,1\",x\n\"b,1\",y\n", ""),
        (
            "semicolons.csv",
            "n;id\n1;a,1\n2;\"b,1\"\n",
            " --run-columns id",
        ),
        ("spaces", "1 a ;\n2 b ;\n", " --run-columns 2"),
        ("x.csv.txt", "a,1\nb,1\n", ""),
        ("ending.csv.zstd", "\"a,1\",x\n\"b,1\",y\n", ""),
        ("x.csv.d/plain", "a,1\nb,1\n", ""),
    ] {
        fs::create_dir_all(at.join(name).parent().unwrap()).unwrap();
        fs::write(at.join(name), text).unwrap();
        let arguments = format!("{name} --run-lists kept --truth out{columns}");
        assert_eq!(removals(at, &arguments), [2, 0, 2, 0], "{name}");
    }
}

/// The list of disagreements does not replace a file of the user's, only an earlier list.
#[test]
fn a_list_of_disagreements_replaces_only_its_own() {
    let place = common::temporary();
    let at = place.path();
    write_groups(&at.join("in.jsonl"), &[("a", 0), ("b", 0), ("c", 1)]);
    assert!(program(at, "run in.jsonl -o out --threshold 0.8 --quiet").0);
    fs::write(at.join("removed.txt"), "b\nc\n").unwrap();
    let command = "evaluate removed.txt --run-lists removed --truth out --disagreements";
    // The second could be judgements, which people write.
    for mine in ["my notes\n", "docno_a\tdocno_b\tjudgement\na\tb\t1\n"] {
        fs::write(at.join("mine"), mine).unwrap();
        let (done, said) = program(at, &format!("{command} mine"));
        assert!(!done && said.contains("lookalike did not write"), "{said}");
        assert_eq!(fs::read_to_string(at.join("mine")).unwrap(), mine);
    }
    for _ in 0..2 {
        let (done, said) = program(at, &format!("{command} list"));
        assert!(done, "{said}");
    }
}

/// A list without any docno of the ground truth is of other documents, or was read in another way
/// than it was written.
#[test]
fn lists_of_other_documents_are_refused() {
    let place = common::temporary();
    let at = place.path();
    write_groups(&at.join("in.jsonl"), &[("a", 0), ("b", 0), ("c", 1)]);
    for arguments in [
        "run in.jsonl -o out --threshold 0.8 --quiet",
        "dedup --from out -o lists --ids-only --quiet",
    ] {
        assert!(program(at, arguments).0);
    }
    fs::write(at.join("other.txt"), "x 1\ny\n").unwrap();
    fs::write(at.join("a.parquet"), b"PAR1\x15\x04\x15").unwrap();
    let (done, said) = program(at, "evaluate a.parquet --run-lists removed --truth out");
    assert!(!done && said.contains("a Parquet file"), "{said}");
    fs::write(at.join("pairs.txt"), "x y\nx z\n").unwrap();
    fs::write(at.join("one.txt"), "x y\nx b\n").unwrap();
    fs::write(at.join("none.txt"), "").unwrap();
    for (arguments, line, found, hint) in [
        ("other.txt --run-lists kept", 1, "x 1", "column docno or id"),
        ("other.txt --run-lists clusters", 2, "", "columns"),
        ("pairs.txt", 1, "x", "--run-columns"),
        ("lists/removed.tsv", 1, "file", "--run-lists removed"),
    ] {
        let (done, said) = program(at, &format!("evaluate {arguments} --truth out"));
        let place = format!("line {line}: expected");
        assert!(!done && said.contains(&place), "{arguments}: {said}");
        assert!(said.contains(hint), "{arguments}: {said}");
        if !found.is_empty() {
            let docnos = format!("a docno of the ground truth, such as `a`, found `{found}`");
            assert!(said.contains(&docnos), "{arguments}: {said}");
        }
    }
    // The same for what is compared with the run: neither says anything of its documents.
    fs::write(at.join("judged.tsv"), "x\ty\t1\nx\tz\t0\n").unwrap();
    fs::write(at.join("families.tsv"), "x\t1\ny\t1\n").unwrap();
    for (arguments, of) in [
        ("out --truth pairs.txt", "run"),
        ("out --judged judged.tsv", "run"),
        ("out --families families.tsv", "run"),
        ("one.txt --truth out --judged judged.tsv", "ground truth"),
        (
            "one.txt --truth out --families families.tsv",
            "ground truth",
        ),
    ] {
        let (done, said) = program(at, &format!("evaluate {arguments}"));
        let docnos = format!("line 1: expected a docno of the {of}, such as `a`, found `x`");
        assert!(!done && said.contains(&docnos), "{arguments}: {said}");
    }
    // Where nothing was removed or found, or one docno is known, there is something to count.
    assert_eq!(
        removals(at, "none.txt --run-lists removed --truth out"),
        [0, 0, 3, 2]
    );
    for arguments in [
        "none.txt --truth out",
        "one.txt --truth out",
        "out --truth one.txt",
    ] {
        let (done, said) = program(at, &format!("evaluate {arguments}"));
        assert!(done, "{said}");
    }
}

/// The JSON that a command prints before its notes.
fn first_value(said: &str) -> Value {
    let mut values = serde_json::Deserializer::from_str(said).into_iter();
    values.next().unwrap().unwrap()
}

/// The first line of a list says how the others are written only as far as it can: a cluster of one
/// document has no separator, and numbers have no quotes.
#[test]
fn the_first_line_of_a_list_may_be_short() {
    let place = common::temporary();
    let at = place.path();
    write_groups(
        &at.join("in.jsonl"),
        &[("a", 0), ("b", 0), ("c", 1), ("d 1", 2)],
    );
    assert!(program(at, "run in.jsonl -o out --threshold 0.8 --quiet").0);
    for (name, text) in [
        ("tabs.tsv", "c\na\tb\nd 1\n"),
        ("commas", "c\na,b\n"),
        ("quoted.csv", "\"c\"\n\"a\",\"b\"\n"),
        ("spaces", "c\na b\n"),
        ("arrays", "[\"c\"]\n[\"a\",\"b\"]\n"),
    ] {
        fs::write(at.join(name), text).unwrap();
        let arguments = format!("evaluate {name} --run-lists cluster-lines --truth out --json");
        let (done, said) = program(at, &arguments);
        assert!(done, "{name}: {said}");
        let found: Value = first_value(&said);
        let clusters = &found["clusters"];
        assert_eq!(
            [&clusters["found"], &clusters["correct"]],
            [1, 1],
            "{name}: {said}"
        );
    }
    fs::write(at.join("judged.tsv"), "\"a\"\t\"b\"\t1\n\"a\"\t\"c\"\t0\n").unwrap();
    fs::write(at.join("families.tsv"), "\"a\"\t1\n\"b\"\t1\n\"c\"\t2\n").unwrap();
    for of in ["judged", "families"] {
        let (done, said) = program(at, &format!("evaluate out --{of} {of}.tsv --json"));
        assert!(done, "{of}: {said}");
        let found: Value = first_value(&said);
        assert_eq!(found[of]["true_pairs"], 1, "{of}: {said}");
        assert_eq!(found[of]["at"][0]["true_found"], 1, "{of}: {said}");
    }
}

/// The documents of the other collection are kept, whatever a list says of the new ones.
#[test]
fn documents_of_the_other_collection_survive() {
    let place = common::temporary();
    let at = place.path();
    let old = [("old0", 0), ("old1", 1), ("old2", 2)];
    write_groups(&at.join("old.jsonl"), &old);
    // Near-duplicates of old documents, a copy of one, and near-duplicates of each other.
    let new = [("n0", 0), ("n1", 1), ("n3", 3), ("n4", 3), ("n5", 5)];
    write_groups(&at.join("new.jsonl"), &new);
    let copy = fs::read_to_string(at.join("old.jsonl")).unwrap();
    let copy = copy.lines().nth(2).unwrap().replace("\"old2\"", "\"copy\"");
    let text = fs::read_to_string(at.join("new.jsonl")).unwrap();
    fs::write(at.join("new.jsonl"), format!("{text}{copy}\n")).unwrap();
    for arguments in [
        "run old.jsonl -o old --threshold 0.8 --quiet",
        "run new.jsonl -o new --against old --threshold 0.8 --quiet",
        "run new.jsonl -o across --against old --threshold 0.8 --pairs across --quiet",
    ] {
        let (done, said) = program(at, arguments);
        assert!(done, "{said}");
    }
    // n5 has no survivor, n0 is redundant, and so are n3 and n4.
    fs::write(at.join("removed.txt"), "n1\ncopy\nn5\n").unwrap();
    let removed = "removed.txt --run-lists removed --truth";
    assert_eq!(removals(at, &format!("{removed} new")), [3, 1, 3, 3]);
    fs::write(at.join("kept.txt"), "n0\nn3\nn4\n").unwrap();
    assert_eq!(
        removals(at, "kept.txt --run-lists kept --truth new"),
        [3, 1, 3, 3]
    );
    let command = format!("evaluate {removed} new --disagreements list.tsv");
    assert!(program(at, &command).0);
    let listed = fs::read_to_string(at.join("list.tsv")).unwrap();
    let listed: Vec<Vec<&str>> = listed
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let of = |line: &Vec<&str>| [line[0], line[1], line[2], line[4]].join(" ");
    assert_eq!(
        listed.iter().map(of).collect::<Vec<_>>(),
        [
            "docno_a docno_b threshold disagreement",
            "n0 old0  redundant",
            "n3 n4  redundant",
            "n4 n3  redundant",
            "n5   without survivor",
        ]
    );
    assert!(listed[1..4].iter().all(|line| line[3].starts_with("0.")));
    assert_eq!(listed[4][3], "");
    let (done, said) = program(at, "diff new --pair list.tsv:3");
    assert!(done && said.contains("n3") && said.contains("n4"), "{said}");
    // The docnos may be in any column.
    fs::write(at.join("r.csv"), "n,uid\n1,n1\n2,copy\n3,n5\n").unwrap();
    fs::write(at.join("r.tsv"), "1\tn1\n2\tcopy\n3\tn5\n").unwrap();
    let lines = ["n1", "copy", "n5"].map(|name| format!("{{\"n\":1,\"uid\":\"{name}\"}}\n"));
    fs::write(at.join("r.jsonl"), lines.concat()).unwrap();
    for list in [
        "r.csv --run-columns uid",
        "r.tsv --run-columns 2",
        "r.jsonl --run-columns uid",
    ] {
        let arguments = format!("{list} --run-lists removed --truth new");
        assert_eq!(removals(at, &arguments), [3, 1, 3, 3], "{list}");
    }
    let (done, said) = program(at, &format!("evaluate {removed} across"));
    assert!(!done && said.contains("--pairs across"), "{said}");
}
