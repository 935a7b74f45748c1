//! Labels that go to near-duplicates in another collection: against a plain version of the
//! definition, by hand, and what is refused.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline;
use lookalike_lab::transfer::{LabelsFormat, TransferConfig, TransferReport, run};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::corpus::{Doc, Random, Shape, random_corpus};
use common::oracle::{Both, Fact, Spec, pairs};
use common::{Run, sample_corpora, tree};
use serde_json::{Value, json};

/// A label: topic, second field or method and probability, docno, relevance or label.
#[derive(Clone, Debug)]
struct Label {
    topic: String,
    other: String,
    docno: String,
    label: String,
}

/// The two collections and the pairs of their documents, by definition.
struct World {
    old: Vec<Doc>,
    new: Vec<Doc>,
    facts: Vec<Fact>,
    both: BTreeMap<(usize, usize), usize>,
}

impl World {
    fn new(spec: &Spec, old: Vec<Doc>, new: Vec<Doc>) -> World {
        let all: Vec<Doc> = old.iter().chain(&new).cloned().collect();
        let (facts, both) = pairs(spec, &all);
        let shared = |both: &Both| ((both.a, both.b), both.full.shared);
        World {
            old,
            new,
            facts,
            both: both.iter().map(shared).collect(),
        }
    }

    /// Shared shingles and sizes of a document of either collection; `None` if they share nothing.
    fn shared(&self, old: usize, new: usize) -> Option<(usize, usize, usize)> {
        let [a, b] = [old, self.old.len() + new].map(|at| self.facts[at]);
        let (first, second) = (a.first.min(b.first), a.first.max(b.first));
        let shared = match first == second {
            true => Some(a.shingles),
            false => self.both.get(&(first, second)).copied(),
        };
        shared.map(|shared| (shared, a.shingles, b.shingles))
    }

    /// Whether a document of the new collection is the first of its exact duplicates there.
    fn is_first(&self, new: usize) -> bool {
        self.first(new) == new
    }

    fn first(&self, new: usize) -> usize {
        let of = |new: usize| self.facts[self.old.len() + new].first;
        (0..=new).find(|&other| of(other) == of(new)).unwrap()
    }
}

/// The expected content of the files: the labels, the rows of the table, and the contradictions.
#[derive(Debug, PartialEq)]
struct Expected {
    labels: String,
    rows: Vec<String>,
    contradictions: Vec<Value>,
}

/// Whether two labels are for the same topic: in diversity judgements for the same subtopic.
fn topic(format: LabelsFormat, label: &Label) -> (String, String) {
    let other = match format {
        LabelsFormat::Ndeval => label.other.clone(),
        _ => String::new(),
    };
    (label.topic.clone(), other)
}

fn line(format: LabelsFormat, label: &Label, docno: &str) -> String {
    let Label {
        topic,
        other,
        label,
        ..
    } = label;
    match format {
        LabelsFormat::Trec | LabelsFormat::Ndeval => format!("{topic} {other} {docno} {label}\n"),
        LabelsFormat::Prels => format!("{topic} {docno} {label} {other}\n"),
        LabelsFormat::Tsv => format!("{docno}\t{label}\n"),
        LabelsFormat::Text => format!("{docno} {label}\n"),
        LabelsFormat::Csv => format!("{docno},{label}\n"),
        _ => format!("{{\"docno\":\"{docno}\",\"label\":\"{label}\"}}\n"),
    }
}

fn first_line(format: LabelsFormat) -> &'static str {
    match format {
        LabelsFormat::Csv => "docno,label\n",
        _ => "",
    }
}

fn expected(
    world: &World,
    (numerator, denominator): (u128, u128),
    format: LabelsFormat,
    labels: &[Label],
) -> Expected {
    let place = |docno: &str| world.old.iter().position(|doc| doc.docno == docno);
    // Label, document -> decision.
    let mut decided: BTreeMap<(usize, usize), (usize, usize, usize)> = BTreeMap::new();
    // New document, order of the topics in the input -> candidates.
    let mut contradictions = Vec::new();
    let mut topics: Vec<(String, String)> = Vec::new();
    for label in labels {
        if !topics.contains(&topic(format, label)) {
            topics.push(topic(format, label));
        }
    }
    // Subtopics and topics have numbers by their first use.
    let number = |of: &dyn Fn(&Label) -> String, wanted: &str| {
        labels.iter().position(|label| of(label) == wanted).unwrap()
    };
    topics.sort_by_key(|(topic, other)| {
        (
            number(&|label| label.topic.clone(), topic),
            if other.is_empty() {
                0
            } else {
                number(&|label| label.other.clone(), other)
            },
        )
    });
    for new in (0..world.new.len()).filter(|&new| world.is_first(new)) {
        for wanted in &topics {
            let mut candidates: Vec<(usize, usize, (usize, usize, usize))> = Vec::new();
            for (n, label) in labels.iter().enumerate() {
                let old = place(&label.docno).filter(|_| topic(format, label) == *wanted);
                let Some((old, counts)) = old.and_then(|old| Some((old, world.shared(old, new)?)))
                else {
                    continue;
                };
                let (shared, a, b) = counts;
                let union = (a + b - shared) as u128;
                if union == 0 || shared as u128 * denominator >= union * numerator {
                    candidates.push((n, old, counts));
                }
            }
            candidates.sort_by(|x, y| {
                let fraction = |(shared, a, b): (usize, usize, usize)| match a + b - shared {
                    0 => (1, 1),
                    union => (shared as u128, union as u128),
                };
                let ((s, u), (t, v)) = (fraction(x.2), fraction(y.2));
                (t * u).cmp(&(s * v)).then(x.1.cmp(&y.1))
            });
            let Some(&(best, _, counts)) = candidates.first() else {
                continue;
            };
            decided.insert((best, new), counts);
            let different: BTreeSet<&str> =
                candidates.iter().map(|c| &labels[c.0].label[..]).collect();
            if different.len() > 1 {
                let all: Vec<Value> = candidates
                    .iter()
                    .map(|&(n, _, (shared, a, b))| {
                        let number = labels[n].label.parse::<i64>();
                        let label = match format {
                            LabelsFormat::Trec | LabelsFormat::Ndeval | LabelsFormat::Prels => {
                                json!(number.unwrap())
                            }
                            _ => json!(labels[n].label),
                        };
                        json!({
                            "docno": labels[n].docno, "label": label, "shared": shared,
                            "shingles": a, "resemblance": rounded(shared, a, b),
                        })
                    })
                    .collect();
                let mut contradiction = json!({
                    "docno": world.new[new].docno,
                    "shingles": candidates[0].2.2,
                    "candidates": all,
                });
                if !wanted.0.is_empty() {
                    contradiction["topic"] = json!(wanted.0);
                }
                if !wanted.1.is_empty() {
                    contradiction["subtopic"] = json!(wanted.1);
                }
                contradictions.push(contradiction);
            }
        }
    }
    let (mut text, mut rows) = (String::from(first_line(format)), Vec::new());
    for ((n, first), (shared, a, b)) in decided {
        let label = &labels[n];
        for new in (first..world.new.len()).filter(|&new| world.first(new) == first) {
            let docno = &world.new[new].docno;
            text.push_str(&line(format, label, docno));
            let Label { topic, other, .. } = label;
            let cells = match format {
                LabelsFormat::Trec | LabelsFormat::Ndeval => {
                    format!("{topic}\t{other}\t{}", label.label)
                }
                LabelsFormat::Prels => {
                    format!("{topic}\t{}\t{}", label.label, other.replace(' ', "\t"))
                }
                _ => label.label.clone(),
            };
            rows.push(format!(
                "{cells}\t{}\t{docno}\t{:.6}\t{shared}\t{a}\t{b}",
                label.docno,
                rounded(shared, a, b)
            ));
        }
    }
    Expected {
        labels: text,
        rows,
        contradictions,
    }
}

fn rounded(shared: usize, a: usize, b: usize) -> f64 {
    match a + b - shared {
        0 => 1.0,
        union => (shared as f64 / union as f64 * 1e6 + 0.5).floor() / 1e6,
    }
}

fn config(place: &Path, output: &str) -> TransferConfig {
    TransferConfig {
        labels: place.join("labels"),
        format: LabelsFormat::Auto,
        from: place.join("old"),
        to: place.join("new"),
        threshold: "0.85".parse().unwrap(),
        output: Some(place.join(output)),
    }
}

fn transfer(config: &TransferConfig, setting: &Run) -> Result<TransferReport, Error> {
    run(config, &setting.context(&Stop::default(), &Silent))
}

fn file_name(format: LabelsFormat) -> &'static str {
    match format {
        LabelsFormat::Tsv => "labels.tsv",
        LabelsFormat::Text => "labels.txt",
        LabelsFormat::Csv => "labels.csv",
        LabelsFormat::Jsonl => "labels.jsonl",
        _ => "qrels",
    }
}

fn read(output: &Path, format: LabelsFormat) -> Expected {
    let text = |name: &str| fs::read_to_string(output.join(name)).unwrap();
    let contradictions = text("contradictions.jsonl");
    Expected {
        labels: text(file_name(format)),
        rows: text("transferred.tsv")
            .lines()
            .skip(2)
            .map(String::from)
            .collect(),
        contradictions: contradictions
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    }
}

fn write_docs(docs: &[Doc], path: &Path) {
    let lines = docs
        .iter()
        .map(|doc| json!({"id": doc.docno, "text": doc.text}).to_string() + "\n");
    fs::write(path, lines.collect::<String>()).unwrap();
}

/// Labels of some documents, and of some that are unknown.
fn random_labels(random: &mut Random, format: LabelsFormat, old: &[Doc]) -> Vec<Label> {
    use LabelsFormat::{Ndeval, Prels, Trec};
    let topics = if matches!(format, Trec | Ndeval | Prels) {
        3
    } else {
        1
    };
    let subtopics = if format == Ndeval { 3 } else { 1 };
    let mut labels = Vec::new();
    for topic in 0..topics {
        for subtopic in 0..subtopics {
            let unknown = ["nowhere", "nobody"].map(String::from);
            for docno in old.iter().map(|doc| doc.docno.clone()).chain(unknown) {
                if random.once_in(3) {
                    continue;
                }
                labels.push(Label {
                    topic: if topics > 1 {
                        format!("t{topic}")
                    } else {
                        String::new()
                    },
                    other: match format {
                        Ndeval => format!("{}", 5 - subtopic),
                        Prels => format!("{} 0.{}", random.below(3), random.below(9)),
                        Trec => "0".into(),
                        _ => String::new(),
                    },
                    docno,
                    label: format!("{}", random.below(3)),
                });
            }
        }
    }
    for n in (1..labels.len()).rev() {
        labels.swap(n, random.below(n + 1));
    }
    labels
}

/// Runs a transfer with and without an index, with several budgets and threads: always the same
/// files, and those of the definition.
fn check(
    place: &Path,
    world: &World,
    threshold: (&str, u128, u128),
    format: LabelsFormat,
    labels: &[Label],
) -> TransferReport {
    let text: String = labels
        .iter()
        .map(|label| line(format, label, &label.docno))
        .collect();
    fs::write(place.join("labels"), first_line(format).to_string() + &text).unwrap();
    let mut config = config(place, "out");
    config.threshold = threshold.0.parse().unwrap();
    let report = transfer(&config, &Run::default()).unwrap();
    let wanted = expected(world, (threshold.1, threshold.2), format, labels);
    let found = read(&place.join("out"), format);
    assert_eq!(found, wanted, "{format}");
    assert_eq!(report.format, format);
    let sum = report.unknown_labels + report.alone + report.overruled + report.transferred;
    assert_eq!(
        (report.labels, sum),
        (labels.len() as u64, labels.len() as u64)
    );
    assert_eq!(report.written, wanted.rows.len() as u64);
    assert_eq!(report.contradictions, wanted.contradictions.len() as u64);
    let known = |label: &&Label| world.old.iter().any(|doc| doc.docno == label.docno);
    let known = labels.iter().filter(known).count();
    assert_eq!(report.unknown_labels as usize, labels.len() - known);
    let documents: BTreeSet<&str> = (wanted.rows.iter())
        .map(|row| row.rsplit('\t').nth(4).unwrap())
        .collect();
    assert_eq!(report.documents as usize, documents.len());
    // Other resources.
    let files = tree(&place.join("out"));
    for (threads, memory) in [(1, 256 << 20), (3, 1 << 30)] {
        let setting = Run::default().threads(threads).memory(memory);
        config.output = Some(place.join("again"));
        let again = transfer(&config, &setting).unwrap();
        assert_eq!(again, report);
        assert_eq!(tree(&place.join("again")), files, "{threads} {memory}");
    }
    let (least, again) =
        common::least_memory(|memory| transfer(&config, &Run::default().threads(1).memory(memory)));
    assert!(least > 20 << 20, "{least}");
    assert_eq!(again, report);
    assert_eq!(tree(&place.join("again")), files);
    report
}

fn index(directory: &Path) {
    let mut workspace = pipeline::open(directory).unwrap();
    let (stop, silent) = (Stop::default(), Silent);
    let setting = Run::default();
    let context = setting.context(&stop, &silent);
    pipeline::catalogued(&mut workspace, &context).unwrap();
    pipeline::index(&mut workspace, None, &context).unwrap();
}

const FORMATS: [LabelsFormat; 7] = [
    LabelsFormat::Trec,
    LabelsFormat::Ndeval,
    LabelsFormat::Prels,
    LabelsFormat::Tsv,
    LabelsFormat::Text,
    LabelsFormat::Csv,
    LabelsFormat::Jsonl,
];

#[test]
fn random_labels_are_transferred_as_defined() {
    let shape = Shape {
        families: 12,
        members: 5,
        words: 90,
        vocabulary: 300,
        boilerplate: 8,
    };
    let specs = [
        Spec {
            w: 2,
            threshold: ("0.5", 1, 2),
            ..Spec::default()
        },
        Spec {
            w: 5,
            threshold: ("1/3", 1, 3),
            whole: false,
            md5: true,
            ..Spec::default()
        },
        Spec {
            tokens: "bytes:9",
            threshold: ("0.85", 17, 20),
            ..Spec::default()
        },
    ];
    let (mut contradictions, mut overruled, mut more) = (0, 0, 0);
    for (seed, spec) in specs.iter().enumerate() {
        let directory = common::temporary();
        let place = directory.path();
        let all = random_corpus(seed as u64 + 40, shape);
        let mut random = Random(seed as u64);
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for doc in all {
            // Some documents are in both, under another docno.
            match random.below(5) {
                0 | 1 => old.push(doc),
                2 | 3 => new.push(doc),
                _ => {
                    new.push(Doc {
                        docno: format!("N{}", doc.docno),
                        ..doc.clone()
                    });
                    old.push(doc);
                }
            }
        }
        for (docs, name) in [(&old, "old"), (&new, "new")] {
            let input = place.join(format!("{name}.jsonl"));
            write_docs(docs, &input);
            let run = spec.run().segment_size(2 << 10);
            run.ingest(&[&input], &place.join(name)).unwrap();
        }
        let world = World::new(spec, old, new);
        for indexed in [false, true] {
            if indexed {
                index(&place.join("new"));
            }
            for format in FORMATS {
                let labels = random_labels(&mut random, format, &world.old);
                let report = check(place, &world, spec.threshold, format, &labels);
                contradictions += report.contradictions;
                overruled += report.overruled;
                more += report.documents;
            }
        }
    }
    assert!(
        contradictions > 100 && overruled > 20 && more > 300,
        "{contradictions} {overruled} {more}"
    );
}

/// Few labels, for which look-ups in the index cost less than reading the sets.
#[test]
fn a_few_labels_of_real_pages() {
    let bytes = fs::read(sample_corpora("jsonl/text.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for (n, line) in text.lines().enumerate() {
        let value: Value = serde_json::from_str(line).unwrap();
        let doc = Doc {
            docno: value["id"].as_str().unwrap().into(),
            url: None,
            text: value["text"].as_str().unwrap().into(),
        };
        if n % 2 == 0 { &mut old } else { &mut new }.push(doc);
    }
    let directory = common::temporary();
    let place = directory.path();
    let spec = Spec {
        threshold: ("0.3", 3, 10),
        ..Spec::default()
    };
    for (docs, name) in [(&old, "old"), (&new, "new")] {
        let input = place.join(format!("{name}.jsonl"));
        write_docs(docs, &input);
        spec.run().ingest(&[&input], &place.join(name)).unwrap();
    }
    let world = World::new(&spec, old, new);
    let label = |(n, doc): (usize, &Doc)| Label {
        topic: String::new(),
        other: String::new(),
        docno: doc.docno.clone(),
        label: format!("{}", n % 2),
    };
    let labels: Vec<Label> = world.old.iter().enumerate().map(label).collect();
    let report = check(place, &world, spec.threshold, LabelsFormat::Tsv, &labels);
    assert!(report.documents > 5, "{report:?}");
    index(&place.join("new"));
    check(place, &world, spec.threshold, LabelsFormat::Tsv, &labels);
    check(
        place,
        &world,
        spec.threshold,
        LabelsFormat::Tsv,
        &labels[..3],
    );
}

/// From a collection to itself: the pairs are those that another program found in the texts.
#[test]
fn known_pairs_of_pages_are_found() {
    let directory = common::temporary();
    let place = directory.path();
    let run = Run::default();
    run.ingest(&[&sample_corpora("trec-web/b.gz")], &place.join("old"))
        .unwrap();
    let known = |name: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(sample_corpora(name)).unwrap();
        let rows = text
            .lines()
            .filter_map(|line| line.strip_prefix("trec-web/b.gz\t"));
        rows.map(|row| row.split('\t').map(String::from).collect())
            .collect()
    };
    let duplicates = known("exact-duplicates.tsv");
    let representative: BTreeMap<&str, &str> = duplicates
        .iter()
        .map(|row| (&row[0][..], &row[1][..]))
        .collect();
    let of = |docno: &str| {
        representative
            .get(docno)
            .copied()
            .unwrap_or(docno)
            .to_string()
    };
    let workspace = pipeline::open_to_read(&place.join("old")).unwrap();
    assert!(workspace.is_some(), "a finished collection is only read");
    drop(workspace);
    // One label at a time finds all that it is paired with.
    let mut pairs = known("known-pairs.tsv");
    let mut names: BTreeSet<String> = pairs.iter().flat_map(|row| row[..2].to_vec()).collect();
    pairs.retain(|row| {
        let [shared, a, b] = [2, 3, 4].map(|n| row[n].parse::<u64>().unwrap());
        shared * 20 >= (a + b - shared) * 17
    });
    names.extend(representative.keys().map(|docno| docno.to_string()));
    let mut config = config(place, "out");
    // Without the facts about its documents, the copy can be read by its index alone.
    common::copy_directory(&place.join("old"), &place.join("new"));
    index(&place.join("new"));
    for segment in common::manifest(&place.join("new")).segments {
        fs::remove_file(place.join("new/collection").join(segment.documents.name)).unwrap();
    }
    let targets = [config.from.clone(), config.to.clone()];
    let mut more = 0;
    for (n, docno) in names.iter().step_by(2).enumerate() {
        config.to = targets[n % 2].clone();
        fs::write(place.join("labels"), format!("{docno} yes\n")).unwrap();
        transfer(&config, &run).unwrap();
        let text = fs::read_to_string(place.join("out/transferred.tsv")).unwrap();
        let found: BTreeMap<String, [String; 3]> = text
            .lines()
            .skip(2)
            .map(|row| row.split('\t').collect::<Vec<_>>())
            .map(|cells| {
                (
                    cells[2].to_string(),
                    [4, 5, 6].map(|n| cells[n].to_string()),
                )
            })
            .collect();
        let own = of(docno);
        let mut wanted: BTreeMap<String, Option<[String; 3]>> = BTreeMap::new();
        wanted.insert(own.clone(), None);
        for row in &pairs {
            let [a, b, shared, x, y] = [0, 1, 2, 3, 4].map(|n| row[n].clone());
            if a == own {
                wanted.insert(b, Some([shared, x, y]));
            } else if b == own {
                wanted.insert(a, Some([shared, y, x]));
            }
        }
        for (copy, first) in &representative {
            if let Some(numbers) = wanted.get(*first).cloned() {
                wanted.insert(copy.to_string(), numbers);
            }
        }
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            wanted.keys().collect::<Vec<_>>(),
            "{docno}"
        );
        for (name, numbers) in wanted {
            match numbers {
                Some(numbers) => assert_eq!(found[&name], numbers),
                None => assert_eq!(found[&name][0], found[&name][1]),
            }
        }
        more += usize::from(found.len() > 2);
    }
    assert!(more > 10, "{more}");
}

/// Two small collections for what is checked by hand.
fn small() -> (tempfile::TempDir, PathBuf) {
    let directory = common::temporary();
    let place = directory.path().to_path_buf();
    let words: Vec<String> = (0..60).map(|n| format!("w{n}")).collect();
    let with = |last: &str| format!("{} {last}", words.join(" "));
    let doc = |docno: &str, text: String| Doc {
        docno: docno.into(),
        url: None,
        text,
    };
    write_docs(
        &[
            doc("a1", with("x")),
            doc("a2", with("x")),
            doc("a3", with("y")),
            doc("b", "other words that are here alone".into()),
            doc("e", String::new()),
        ],
        &place.join("old.jsonl"),
    );
    write_docs(
        &[
            doc("n1", with("y")),
            doc("with space", with("y")),
            doc("n2", with("z")),
            doc("n1", with("z")),
            doc("m", "nothing that resembles any of it".into()),
            doc("f", String::new()),
        ],
        &place.join("new.jsonl"),
    );
    for name in ["old", "new"] {
        let input = place.join(format!("{name}.jsonl"));
        Run::default().ingest(&[&input], &place.join(name)).unwrap();
    }
    (directory, place)
}

fn command(place: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(common::lookalike());
    command
        .current_dir(place)
        .args(["lab", "transfer"])
        .args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_command_says_what_became_of_the_labels() {
    let (_directory, place) = small();
    let qrels = "1 0 a1 1\n1 0 a2 0\n1 0 b 1\n1 0 e 1\n1 0 gone 1\n2 0 a1 2\n2 0 a3 2\n";
    fs::write(place.join("labels"), qrels).unwrap();
    let arguments = [
        "--labels", "labels", "--from", "old", "--to", "new", "-o", "out",
    ];
    let (status, text, warnings) = command(&place, &arguments);
    assert_eq!(status, Some(0), "{warnings}");
    let expected = "\
labels labels (trec)
labels read                                      7
  of unknown documents                           1
  without a near-duplicate                       2
  overruled by more similar documents            1
  transferred                                    3
documents that get labels                        4
labels that they get                             8
contradictions                                   2
docnos of the labels                             6
  unknown                                        1
";
    assert_eq!(text, expected);
    for warning in [
        "warning: labels: the collection in old does not have 1 of 6 docnos",
        "warning: 2 labels left out of the written labels, whose form cannot hold the docno",
        "warning: 2 labels left out of the written labels, because several documents of new have",
    ] {
        assert!(warnings.contains(warning), "{warnings}");
    }
    let read = |name: &str| fs::read_to_string(place.join("out").join(name)).unwrap();
    // a1 comes first of two with the same resemblance to n2; a3 equals n1.
    assert_eq!(read("qrels"), "1 0 n1 1\n1 0 n2 1\n2 0 n2 2\n2 0 n1 2\n");
    assert_eq!(
        read("transferred.tsv"),
        "# format: lookalike 1\n\
         topic\titeration\trelevance\tdocno_from\tdocno_to\tresemblance\tshared\tshingles_from\tshingles_to\n\
         1\t0\t1\ta1\tn1\t0.962264\t51\t52\t52\n\
         1\t0\t1\ta1\twith space\t0.962264\t51\t52\t52\n\
         1\t0\t1\ta1\tn2\t0.962264\t51\t52\t52\n\
         1\t0\t1\ta1\tn1\t0.962264\t51\t52\t52\n\
         2\t0\t2\ta1\tn2\t0.962264\t51\t52\t52\n\
         2\t0\t2\ta1\tn1\t0.962264\t51\t52\t52\n\
         2\t0\t2\ta3\tn1\t1.000000\t52\t52\t52\n\
         2\t0\t2\ta3\twith space\t1.000000\t52\t52\t52\n"
    );
    let candidate = |docno, label| {
        format!(
            "{{\"docno\":\"{docno}\",\"label\":{label},\"resemblance\":0.962264,\"shared\":51,\"shingles\":52}}"
        )
    };
    let contradiction = |docno| {
        format!(
            "{{\"topic\":\"1\",\"docno\":\"{docno}\",\"shingles\":52,\"candidates\":[{},{}]}}\n",
            candidate("a1", 1),
            candidate("a2", 0)
        )
    };
    assert_eq!(
        read("contradictions.jsonl"),
        contradiction("n1") + &contradiction("n2")
    );
    // Without a directory it only counts, and JSON has the same numbers.
    let before = tree(&place);
    let (status, text, warnings) = command(
        &place,
        &[
            "--labels", "labels", "--from", "old", "--to", "new", "--json", "-q",
        ],
    );
    assert_eq!((status, &warnings[..]), (Some(0), ""));
    let report: Value = serde_json::from_str(&text).unwrap();
    let numbers = [
        "labels",
        "unknown_labels",
        "alone",
        "overruled",
        "transferred",
        "documents",
        "written",
    ];
    assert_eq!(
        numbers.map(|name| report[name].as_u64().unwrap()),
        [7, 1, 2, 1, 3, 4, 8]
    );
    assert_eq!(
        (&report["unwritable"], &report["repeated"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(report["format"], "trec");
    assert_eq!(tree(&place), before);
}

/// Names of columns, quotes, numbers and truth values stay as they are.
#[test]
fn lists_keep_their_form() {
    let (_directory, place) = small();
    let mut config = config(&place, "out");
    for (labels, format, expected) in [
        (
            "docno\tlabel\na3\tvery good\n",
            LabelsFormat::Tsv,
            "docno\tlabel\nn1\tvery good\nwith space\tvery good\nn2\tvery good\n",
        ),
        (
            "docno label\na3 good\n",
            LabelsFormat::Text,
            "docno label\nn1 good\nn2 good\n",
        ),
        (
            "label,docno\n\"a \"\"b\"\", c\",a3\n",
            LabelsFormat::Csv,
            "docno,label\nn1,\"a \"\"b\"\", c\"\nwith space,\"a \"\"b\"\", c\"\nn2,\"a \"\"b\"\", c\"\n",
        ),
        (
            "{\"docno\":\"a3\",\"label\":true,\"more\":[]}\n",
            LabelsFormat::Jsonl,
            "{\"docno\":\"n1\",\"label\":true}\n{\"docno\":\"with space\",\"label\":true}\n{\"docno\":\"n2\",\"label\":true}\n",
        ),
        (
            "{\"label\":1.50,\"docno\":\"a3\"}\n",
            LabelsFormat::Jsonl,
            "{\"docno\":\"n1\",\"label\":1.5}\n{\"docno\":\"with space\",\"label\":1.5}\n{\"docno\":\"n2\",\"label\":1.5}\n",
        ),
        ("a3 1\n", LabelsFormat::Text, "n1 1\nn2 1\n"),
    ] {
        fs::write(place.join("labels"), labels).unwrap();
        config.format = LabelsFormat::Auto;
        let report = transfer(&config, &Run::default()).unwrap();
        assert_eq!(report.format, format);
        let read = || fs::read_to_string(place.join("out").join(file_name(format))).unwrap();
        assert_eq!(read(), expected, "{labels}");
        // Written labels can be read again.
        config.format = format;
        transfer(&config, &Run::default()).unwrap();
        assert_eq!(read(), expected, "{labels}");
    }
    // Two documents with the same label do not contradict each other, however the label is written.
    fs::write(place.join("labels"), "1 0 a1 01\n1 0 a2 1\n").unwrap();
    config.format = LabelsFormat::Auto;
    assert_eq!(
        transfer(&config, &Run::default()).unwrap().contradictions,
        0
    );
    fs::write(place.join("labels"), "").unwrap();
    let report = transfer(&config, &Run::default()).unwrap();
    assert_eq!((report.labels, report.written), (0, 0));
}

#[test]
fn labels_that_cannot_be_read_are_named() {
    let (_directory, place) = small();
    let mut config = config(&place, "out");
    for (labels, says) in [
        (
            &b"a1\n"[..],
            "line 1: expected 4 or 5 fields of judgements, 2 columns",
        ),
        (b"a1 b c\n", "line 1: expected 4 or 5 fields"),
        (
            b"a1\tx\na2 y\n",
            "line 2: expected 2 fields (docno, label) separated by a tab, found 1",
        ),
        (
            b"a1 x\na2 y z\n",
            "line 2: expected 2 fields (docno, label) separated by white space, found 3",
        ),
        (
            b"a1 x\n\na2 y\na1 x\n",
            "line 4: expected one line for each docno, found `a1` again",
        ),
        (b"\tx\n", "line 1: expected a docno, found an empty field"),
        (b"a1 x\n\xff y\n", "line 2: expected UTF-8"),
        (
            b"docno,label\na1\n",
            "line 2: expected 2 columns or more, found 1",
        ),
        (b"docno,label\na1,\xff\n", "line 2: expected UTF-8"),
        (
            b"{\"docno\":\"a1\"}\n",
            "line 1: expected a string, a number, true or false in `label`",
        ),
        (
            b"{\"label\":1}\n",
            "line 1: expected a string or a number in `docno`",
        ),
        (
            b"{\"docno\":\"a1\",\"label\":1}\n[]\n",
            "line 2: expected a JSON object",
        ),
        (
            b"1 0 a1 1\n1 0 a1 0\n",
            "line 2: expected one line for each docno of a topic",
        ),
        (b"1 0 a1 1\n1 0 a2\n", "line 2: expected 4 fields"),
    ] {
        fs::write(place.join("labels"), labels).unwrap();
        let error = transfer(&config, &Run::default()).unwrap_err();
        assert!(matches!(error, Error::BadLine { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}\n{says}");
    }
    // A damaged byte anywhere is an error or another label.
    let mut random = Random(7);
    for start in [
        "1 0 a1 1\n2 0 a3 1\n",
        "docno,label\na1,\"x\"\n",
        "{\"docno\":\"a1\",\"label\":\"x\"}\n",
        "a1\tx\n",
    ] {
        for _ in 0..60 {
            let mut bytes = start.as_bytes().to_vec();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = *random.pick(b"\0\t\n\r \",:{}[]\\u\xc3\xff01ae.");
            }
            fs::write(place.join("labels"), &bytes).unwrap();
            config.format = *random.pick(&[
                LabelsFormat::Auto,
                LabelsFormat::Auto,
                LabelsFormat::Csv,
                LabelsFormat::Text,
            ]);
            match transfer(&config, &Run::default()) {
                Ok(_) | Err(Error::BadLine { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn collections_with_other_fingerprints_are_refused_by_flag() {
    let (_directory, place) = small();
    fs::write(place.join("labels"), "a1 x\n").unwrap();
    let input = place.join("new.jsonl");
    let config = |to: &str| TransferConfig {
        to: place.join(to),
        ..config(&place, "out")
    };
    let mut short = Run::default();
    short.collection.shingle.short = "skip".parse().unwrap();
    let mut seed = Run::default();
    seed.collection.shingle.seed = 1;
    for (flag, run) in [
        ("--tokens whitespace", Run::default().tokens("whitespace")),
        ("--shingle-size 5", Run::default().shingle_size(5)),
        ("--short skip", short),
        ("--fingerprint md5", Run::default().fingerprint("md5")),
        ("--seed 1", seed),
    ] {
        let name = flag.replace(' ', "-");
        run.ingest(&[&input], &place.join(&name)).unwrap();
        let error = transfer(&config(&name), &Run::default()).unwrap_err();
        assert!(
            matches!(error, Error::BadParameter { name: "to", .. }),
            "{error}"
        );
        assert!(error.to_string().contains(flag), "{error}");
    }
    // What does not change a fingerprint may differ.
    let mut other = Run::default().segment_size(1 << 10).keep_text();
    other.collection.size_groups = "10,20".parse().unwrap();
    other.ingest(&[&input], &place.join("alike")).unwrap();
    assert_eq!(
        transfer(&config("alike"), &Run::default()).unwrap().written,
        4
    );
    let error = transfer(&config("nowhere"), &Run::default()).unwrap_err();
    assert!(!matches!(error, Error::BadParameter { .. }), "{error}");
}

#[test]
fn nothing_is_replaced_that_is_read_or_belongs_to_a_collection() {
    let (_directory, place) = small();
    fs::create_dir(place.join("out")).unwrap();
    fs::write(place.join("out/labels.txt"), "a1 x\n").unwrap();
    fs::write(place.join("labels"), "a1 x\n").unwrap();
    fs::hard_link(place.join("old.jsonl"), place.join("out/transferred.tsv")).unwrap();
    fs::create_dir(place.join("mine")).unwrap();
    fs::write(place.join("mine/labels.txt"), "my notes\n").unwrap();
    let before = tree(&place);
    let with = |labels: &str, output: &str| TransferConfig {
        labels: place.join(labels),
        ..config(&place, output)
    };
    for (config, says) in [
        (
            with("out/labels.txt", "out/../out"),
            "this command reads it",
        ),
        (with("labels", "old"), "output directory of a run"),
        (with("labels", "new"), "output directory of a run"),
        (with("labels", "new/collection"), "output directory"),
        (with("labels", "out"), "an input of the collection"),
        (
            with("labels", "mine"),
            "labels.txt, and no lock file of an earlier transfer",
        ),
    ] {
        let error = transfer(&config, &Run::default()).unwrap_err();
        assert!(
            matches!(error, Error::BadParameter { name: "output", .. }),
            "{error}"
        );
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!(tree(&place), before);
    // Two processes may transfer at the same time.
    let readers = [place.join("old"), place.join("new")]
        .map(|path| pipeline::open_to_read(&path).unwrap().unwrap());
    transfer(&with("labels", "elsewhere"), &Run::default()).unwrap();
    drop(readers);
    for name in ["old", "new"] {
        let of = |files: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
            let files = files
                .iter()
                .filter(|(path, _)| path.starts_with(&format!("{name}/")));
            files
                .map(|(path, bytes)| (path.clone(), bytes.clone()))
                .collect()
        };
        assert_eq!(of(&tree(&place)), of(&before));
    }
}

/// Many labels and many links need memory, which a refusal names.
#[test]
fn the_least_memory_that_is_refused_for_suffices() {
    let directory = common::temporary();
    let place = directory.path();
    let text = "one text that all of the documents have but for a word at the end of each of them";
    let docs = |kind: &str, count: usize| -> Vec<Doc> {
        let doc = |n: usize| Doc {
            docno: format!("{kind}{n}"),
            url: None,
            text: format!("{text} {kind}{}", n / 2),
        };
        (0..count).map(doc).collect()
    };
    for (name, count) in [("old", 400), ("new", 1500)] {
        let input = place.join(format!("{name}.jsonl"));
        write_docs(&docs(name, count), &input);
        Run::default().ingest(&[&input], &place.join(name)).unwrap();
    }
    let mut labels = String::new();
    for topic in 0..5 {
        for n in 0..400 {
            writeln!(labels, "{topic} 0 old{n} {}", n % 3).unwrap();
        }
    }
    fs::write(place.join("labels"), labels).unwrap();
    let mut config = config(place, "out");
    config.threshold = "0.5".parse().unwrap();
    let whole = transfer(&config, &Run::default()).unwrap();
    let files = tree(&place.join("out"));
    assert_eq!((whole.documents, whole.written), (1500, 7_500));
    let mut refusals = BTreeSet::new();
    let (least, report) = common::least_memory_in_steps(512 << 10, |memory| {
        let result = transfer(&config, &Run::default().threads(1).memory(memory));
        if let Err(Error::BudgetTooSmall { what, .. }) = &result {
            refusals.insert(what.clone());
        }
        result
    });
    assert!(least > 40 << 20, "{least}");
    assert!(
        refusals.iter().all(|what| !what.contains("--top")),
        "{refusals:?}"
    );
    assert!(
        refusals.iter().any(|what| what.contains("judgements")),
        "{refusals:?}"
    );
    assert!(
        refusals
            .iter()
            .any(|what| what.contains("pairs of a labelled")),
        "{refusals:?}"
    );
    assert_eq!(report, whole);
    assert_eq!(tree(&place.join("out")), files);
}
