//! Controlled corpora: what is listed is what was done, and the same seed does the same.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::text::read::{ReadConfig, Selection};
use lookalike_lab::perturb::{
    self, Cherkasova, Chowdhury, Edit, EditPlaces, Operation, PerturbConfig, PerturbReport, Recipe,
    apply,
};

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::Run;
use serde_json::Value;
use tempfile::TempDir;

const FILES: [&str; 6] = [
    "background.jsonl",
    "copies.jsonl",
    "edits.jsonl",
    "originals.jsonl",
    "perturb.json",
    "truth.tsv",
];

fn config(recipe: Recipe) -> PerturbConfig {
    PerturbConfig {
        selection: Selection::default(),
        read: ReadConfig::default(),
        detector: true,
        recipe,
        originals: None,
        background: None,
        seed: 0,
    }
}

fn cherkasova(edit: Operation, edits: &str, spread: EditPlaces) -> PerturbConfig {
    config(Recipe::Cherkasova(Cherkasova {
        edit,
        edits: edits.parse().unwrap(),
        spread,
        word: "a".into(),
    }))
}

fn chowdhury(copies: u32, every: u32, alpha: u32) -> PerturbConfig {
    config(Recipe::Chowdhury(Chowdhury {
        copies,
        every,
        alpha,
    }))
}

fn run(config: &PerturbConfig, inputs: &[&Path], out: &Path) -> Result<PerturbReport, Error> {
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
    let stop = Stop::default();
    perturb::run(
        &inputs,
        out,
        config,
        &Run::default().context(&stop, &Silent),
    )
}

fn sample(name: &str) -> PathBuf {
    common::sample_corpora(name)
}

/// Documents of words, one JSON line each.
fn write(directory: &TempDir, documents: &[(&str, &str)]) -> PathBuf {
    let path = directory.path().join("input.jsonl");
    let line = |(id, text): &(&str, &str)| serde_json::json!({"id": id, "text": text}).to_string();
    let lines: Vec<String> = documents.iter().map(line).collect();
    fs::write(&path, lines.join("\n")).unwrap();
    path
}

fn lines(out: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(out.join(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn texts(out: &Path, name: &str) -> BTreeMap<String, String> {
    let text = |line: &Value, field: &str| line[field].as_str().unwrap().to_string();
    lines(out, name)
        .iter()
        .map(|line| (text(line, "id"), text(line, "text")))
        .collect()
}

/// The edits of each copy, with its original; each list applied to the original gives the copy.
fn edits(out: &Path) -> BTreeMap<String, (String, Vec<Edit>)> {
    let (originals, mut copies) = (texts(out, "originals.jsonl"), texts(out, "copies.jsonl"));
    let mut all = BTreeMap::new();
    for line in lines(out, "edits.jsonl") {
        let (copy, original) = (line["copy"].as_str().unwrap(), line["original"].as_str());
        let original = original.unwrap();
        let edits: Vec<Edit> = serde_json::from_value(line["edits"].clone()).unwrap();
        assert_eq!(line["seed"].as_str().unwrap().len(), 16);
        assert_eq!(
            apply(&originals[original], &edits),
            Ok(copies.remove(copy).unwrap())
        );
        assert!(edits.is_sorted_by_key(Edit::at));
        all.insert(copy.to_string(), (original.to_string(), edits));
    }
    assert!(copies.is_empty(), "copies without edits: {copies:?}");
    all
}

fn bytes(out: &Path) -> Vec<Option<Vec<u8>>> {
    FILES
        .iter()
        .map(|name| fs::read(out.join(name)).ok())
        .collect()
}

#[test]
fn originals_of_chowdhury_are_nearest_to_the_average() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let input = sample("trec-web/a.gz");
    let report = run(&chowdhury(10, 10, 5), &[&input], &out).unwrap();
    let (originals, background) = (
        texts(&out, "originals.jsonl"),
        texts(&out, "background.jsonl"),
    );
    assert_eq!((originals.len(), background.len()), (10, 85));
    assert_eq!(
        (report.read.documents, report.copies, report.pairs),
        (95, 100, 550)
    );
    let length = |text: &String| text.split(' ').count() as f64;
    let all = originals.values().chain(background.values());
    let average = all.map(length).sum::<f64>() / 95.0;
    assert_eq!(report.average_words, Some(average));
    let distance = |text: &String| (length(text) - average).abs();
    let farthest = originals.values().map(distance).fold(0.0, f64::max);
    for (docno, text) in &background {
        let same = originals.values().any(|original| original == text);
        assert!(distance(text) >= farthest || same, "{docno}");
    }

    // Half of every tenth word is edited, in each of the three ways as often, but where there is no
    // next.
    let looked_at: f64 = originals.values().map(|t| (length(t) / 10.0).floor()).sum();
    let looked_at = looked_at * 10.0;
    assert_eq!(edits(&out).len(), 100);
    let made: u64 = report.edits.values().sum::<u64>() + report.no_next;
    let near = |n: u64, p: f64| {
        let deviation = (looked_at * p * (1.0 - p)).sqrt();
        assert!(
            (n as f64 - looked_at * p).abs() < 4.5 * deviation,
            "{n} {p} {looked_at}"
        );
    };
    near(made, 0.5);
    for kind in ["insert", "remove", "swap"] {
        near(report.edits[kind], 1.0 / 6.0);
    }
    // Every pair of a family, and none else.
    let truth = fs::read_to_string(out.join("truth.tsv")).unwrap();
    let mut pairs = truth.lines();
    assert_eq!(pairs.next(), Some("docno_a\tdocno_b"));
    let family = |docno: &str| docno.split('~').next().unwrap().to_string();
    let mut families: BTreeMap<String, u32> = BTreeMap::new();
    for pair in pairs {
        let (a, b) = pair.split_once('\t').unwrap();
        assert!(a != b && family(a) == family(b));
        *families.entry(family(a)).or_default() += 1;
    }
    assert!(families.values().all(|&n| n == 55) && families.keys().eq(originals.keys()));
}

#[test]
fn alpha_is_the_share_that_stays() {
    let directory = common::temporary();
    let input = sample("trec-web/a.gz");
    for (alpha, share) in [(0, 1.0), (9, 0.1), (10, 0.0)] {
        let out = directory.path().join(alpha.to_string());
        let report = run(&chowdhury(2, 1, alpha), &[&input], &out).unwrap();
        edits(&out);
        let swaps = report.edits.get("swap").copied().unwrap_or(0);
        let made: u64 = report.edits.values().sum::<u64>() + report.no_next;
        let words = texts(&out, "originals.jsonl");
        let words: usize = words.values().map(|text| text.split(' ').count()).sum();
        // A word that was swapped away is not looked at.
        let looked_at = (2 * words) as f64 - swaps as f64;
        let found = made as f64 / looked_at;
        assert!((found - share).abs() < 0.02, "{alpha}: {found}");
    }
}

#[test]
fn copies_of_cherkasova_have_as_many_edits_as_they_say() {
    let directory = common::temporary();
    let input = sample("trec-web/a.gz");
    for edit in [Operation::Insert, Operation::Remove] {
        for spread in [EditPlaces::Random, EditPlaces::Uniform] {
            let out = directory.path().join(format!("{edit} {spread:?}"));
            let mut config = cherkasova(edit, "0,1,7,50", spread);
            config.originals = Some(5);
            let report = run(&config, &[&input], &out).unwrap();
            assert_eq!((report.originals, report.copies, report.pairs), (5, 20, 50));
            assert_eq!(report.edits[edit.to_string().as_str()], 5 * 58);
            assert!(!out.join("background.jsonl").exists());
            let originals = texts(&out, "originals.jsonl");
            for (copy, (original, edits)) in edits(&out) {
                let (_, count) = copy.rsplit_once('-').unwrap();
                assert_eq!(copy, format!("{original}~{edit}-{count}"));
                assert_eq!(edits.len().to_string(), count);
                let kind = |e: &Edit| e.kind() == edit.to_string();
                assert!(edits.iter().all(kind));
                if edit == Operation::Insert {
                    let a = |e: &Edit| matches!(e, Edit::Insert { word, .. } if word == "a");
                    assert!(edits.iter().all(a));
                }
                let words = originals[&original].split(' ').count() as u64;
                let places = words + u64::from(edit == Operation::Insert);
                if spread == EditPlaces::Uniform {
                    // Gaps as equal as whole numbers allow, and half of one at each end.
                    let n = edits.len() as u64;
                    for (j, edit) in (0..n).zip(&edits) {
                        let exact = (j as f64 + 0.5) * places as f64 / n as f64;
                        assert_eq!(edit.at(), exact.floor() as u64);
                    }
                    for pair in edits.windows(2) {
                        let gap = pair[1].at() - pair[0].at();
                        assert!(gap == places / n || gap == places / n + 1, "{gap}");
                    }
                }
            }
        }
    }
}

#[test]
fn random_edits_are_everywhere() {
    let directory = common::temporary();
    let text: Vec<String> = (0..100).map(|n| format!("w{n}")).collect();
    let input = write(&directory, &[("d", &text.join(" "))]);
    for (edit, places) in [(Operation::Insert, 101), (Operation::Remove, 100)] {
        let out = directory.path().join(edit.to_string());
        run(
            &cherkasova(edit, "1..90", EditPlaces::Random),
            &[&input],
            &out,
        )
        .unwrap();
        let mut times = vec![0u32; places];
        for (_, edits) in edits(&out).values() {
            edits.iter().for_each(|edit| times[edit.at() as usize] += 1);
        }
        // 4,095 edits, some 41 at each place.
        assert!(times.iter().all(|&n| (10..90).contains(&n)), "{times:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let directory = common::temporary();
    let input = sample("trec-web/a.gz");
    let other = sample("jsonl/text.jsonl.zst");
    for recipe in [
        chowdhury(3, 5, 2),
        cherkasova(Operation::Insert, "1..3", EditPlaces::Random),
    ] {
        let at = |name: &str| directory.path().join(name);
        let made = |seed: u64, name: &str, inputs: &[&Path]| {
            let config = PerturbConfig {
                seed,
                ..recipe.clone()
            };
            run(&config, inputs, &at(name)).unwrap();
            edits(&at(name));
            bytes(&at(name))
        };
        let one = made(1, "one", &[&input]);
        assert_eq!(one, made(1, "again", &[&input]));
        // In a directory that has another corpus.
        let two = made(2, "again", &[&input]);
        for (name, (one, two)) in FILES.iter().zip(one.iter().zip(&two)) {
            let same = ["originals.jsonl", "background.jsonl", "truth.tsv"].contains(name);
            assert_eq!(one == two, same, "{name}");
        }
        assert_eq!(one, made(1, "again", &[&input]));
        if let Recipe::Cherkasova(_) = recipe.recipe {
            // Other documents change no copy.
            made(1, "more", &[&input, &other]);
            let (few, more) = (edits(&at("one")), edits(&at("more")));
            assert!(more.len() > few.len());
            assert!(few.iter().all(|(copy, edits)| more[copy] == *edits));
        }
    }
}

/// Documents of 0, 1 and 2 words, of equal texts, of equal docnos.
#[test]
fn short_and_equal_documents() {
    let directory = common::temporary();
    let documents = [
        ("none", " "),
        ("one", "x"),
        ("two", "x y"),
        ("equal", "x\ny "),
        ("two", "other words here"),
        ("three", "x y\u{3000}z"),
    ];
    let input = write(&directory, &documents);
    let out = directory.path().join("insert");
    let insert = cherkasova(Operation::Insert, "1,5", EditPlaces::Uniform);
    let report = run(&insert, &[&input], &out).unwrap();
    assert_eq!(
        (report.empty, report.originals, report.same_text),
        (1, 3, 1)
    );
    assert_eq!((report.copies, report.left_out), (6, 0));
    let copies = texts(&out, "copies.jsonl");
    assert_eq!(copies["one~insert-1"], "x a");
    assert_eq!(copies["one~insert-5"], "a a x a a a");
    assert_eq!(copies["three~insert-1"], "x y a z");
    edits(&out);

    let out = directory.path().join("remove");
    let mut remove = cherkasova(Operation::Remove, "1,2,5", EditPlaces::Random);
    remove.background = Some(true);
    let report = run(&remove, &[&input], &out).unwrap();
    // One word: no copy. Two: one with a word less. Three: with one and with two.
    assert_eq!((report.copies, report.left_out), (3, 6));
    let names: Vec<String> = edits(&out).into_keys().collect();
    assert_eq!(names, ["three~remove-1", "three~remove-2", "two~remove-1"]);
    assert_eq!(report.pairs, 1 + 3);
    assert_eq!(texts(&out, "background.jsonl")["equal"], "x y");
    assert_eq!(lines(&out, "background.jsonl").len(), 3);

    // As many words as there are on average, each of them looked at: a swap has no next, a removal
    // leaves nothing.
    let input = write(&directory, &[("one", "x")]);
    let out = directory.path().join("chowdhury");
    let mut config = chowdhury(200, 1, 0);
    config.originals = Some(1);
    let report = run(&config, &[&input], &out).unwrap();
    assert_eq!(report.copies + report.left_out, 200);
    assert!(report.left_out > 30 && report.no_next > 30, "{report:?}");
    assert_eq!(report.terms, Some(1));
    assert!(
        texts(&out, "copies.jsonl")
            .values()
            .all(|text| text == "x" || text == "x x")
    );
    edits(&out);
}

fn refused(result: Result<PerturbReport, Error>, parameter: &str, says: &str) {
    match result {
        Err(Error::BadParameter { name, given, limit }) => {
            assert_eq!(name, parameter);
            assert!(
                limit.contains(says) || given.contains(says),
                "{given}: {limit}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let input = write(&directory, &[("a", "x y z"), ("b", "x y z")]);
    let insert = cherkasova(Operation::Insert, "1", EditPlaces::Random);
    let of = |change: &dyn Fn(&mut PerturbConfig)| {
        let mut config = insert.clone();
        change(&mut config);
        run(&config, &[&input], &out)
    };
    refused(of(&|c| c.originals = Some(2)), "originals", "1 document");
    refused(of(&|c| c.originals = Some(0)), "originals", "at least 1");
    refused(
        run(&chowdhury(1, 0, 5), &[&input], &out),
        "every",
        "at least 1",
    );
    refused(run(&chowdhury(0, 1, 5), &[&input], &out), "copies", "1 to");
    refused(run(&chowdhury(1, 1, 11), &[&input], &out), "alpha", "10");
    refused(run(&insert, &[Path::new("-")], &out), "INPUT", "read twice");
    for word in ["", "a b", "\u{3000}"] {
        let mut config = insert.clone();
        if let Recipe::Cherkasova(recipe) = &mut config.recipe {
            recipe.word = word.into();
        }
        refused(run(&config, &[&input], &out), "word", "one word");
    }
    assert!(!out.exists());

    // A directory of others.
    fs::create_dir(&out).unwrap();
    fs::write(out.join("mine"), "").unwrap();
    refused(of(&|_| {}), "output", "mine");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    fs::remove_file(out.join("mine")).unwrap();

    // A document that is called as a copy of another will be.
    let input = write(&directory, &[("a", "x y z"), ("a~insert-1", "x y")]);
    refused(run(&insert, &[&input], &out), "INPUT", "a~insert-1");
    let other = cherkasova(Operation::Remove, "1", EditPlaces::Random);
    assert_eq!(run(&other, &[&input], &out).unwrap().copies, 2);

    // Too little memory, and the least that is told will do.
    let stop = Stop::default();
    let mut context = Run::default().context(&stop, &Silent);
    context.budget.memory = lookalike::base::budget::ByteSize::mib(1);
    let inputs = [input.clone()];
    match perturb::run(&inputs, &out, &other, &context) {
        Err(Error::BudgetTooSmall { least, .. }) => context.budget.memory = least,
        other => panic!("{other:?}"),
    }
    // The memory of single documents comes on top, and is requested as they come.
    context.budget.memory.0 += 1 << 20;
    perturb::run(&inputs, &out, &other, &context).unwrap();
}

#[test]
fn a_corpus_without_background_leaves_none_of_an_earlier_one() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let input = sample("trec-web/a.gz");
    let mut config = chowdhury(1, 10, 5);
    run(&config, &[&input], &out).unwrap();
    assert!(out.join("background.jsonl").exists());
    config.background = Some(false);
    let report = run(&config, &[&input], &out).unwrap();
    assert!(!out.join("background.jsonl").exists() && report.background.is_none());
    // perturb.json says the size of each file that is there.
    let written: Value =
        serde_json::from_slice(&fs::read(out.join("perturb.json")).unwrap()).unwrap();
    // Four documents' files, the report, the lock.
    assert_eq!(fs::read_dir(&out).unwrap().count(), 6);
    for (name, sum) in &report.files {
        let size = fs::metadata(out.join(name)).unwrap().len();
        assert_eq!(
            (sum.bytes, written["files"][name]["bytes"].as_u64()),
            (size, Some(size))
        );
    }
}

fn command(arguments: &[&str]) -> Output {
    let mut command = Command::new(common::lookalike());
    let command = command.current_dir(common::root()).args(arguments);
    command.output().unwrap()
}

fn lookalike(arguments: &[&str]) -> String {
    let output = command(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// The command's corpus goes through `run` and `evaluate`; with one edit in a long document all is
/// found.
#[test]
fn a_corpus_is_an_input_whose_truth_is_known() {
    let directory = common::temporary();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let shown = lookalike(&[
        "lab",
        "perturb",
        "sample-corpora/trec-web/a.gz",
        "--recipe",
        "chowdhury",
        "--alpha",
        "9",
        "-o",
        &at("corpus"),
    ]);
    assert!(shown.contains("originals                  10\n"), "{shown}");
    let corpus = |name: &str| at(&format!("corpus/{name}.jsonl"));
    let files = ["originals", "copies", "background"].map(corpus);
    let arguments = [
        "run",
        &files[0],
        &files[1],
        &files[2],
        "-q",
        "-o",
        &at("out"),
        "-t",
        "0.5",
    ];
    lookalike(&arguments);
    let documents = fs::read_to_string(at("out/documents.tsv")).unwrap();
    let documents = documents
        .lines()
        .filter(|line| !line.starts_with('#'))
        .count();
    assert_eq!(documents, 1 + 95 + 100);
    let evaluation = lookalike(&[
        "evaluate",
        "--truth",
        &at("corpus/truth.tsv"),
        &at("out"),
        "--json",
    ]);
    let evaluation: Value = serde_json::from_str(&evaluation).unwrap();
    let all = &evaluation["pairs"][0]["documents"]["all"];
    assert_eq!(all["true_pairs"], 550, "{evaluation}");
    // One of a hundred words is edited: a tenth of the shingles of each copy, so that two copies
    // still share two thirds.
    assert!(all["recall"].as_f64().unwrap() > 0.9, "{all}");
}

#[test]
fn wrong_usage_of_perturb_names_what_would_be_right() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let cases: [(&str, &[&str]); 8] = [
        ("--recipe broder", &["--recipe", "broder"]),
        ("--seed 1", &["--recipe"]),
        (
            "--recipe chowdhury --edits 1..5",
            &["--edits", "--recipe cherkasova"],
        ),
        (
            "--recipe cherkasova --alpha 3",
            &["--alpha", "--recipe chowdhury"],
        ),
        (
            "--recipe cherkasova --edits 5..1",
            &["--edits", "1..50 or 1,2,5"],
        ),
        (
            "--recipe cherkasova --spread even",
            &["--spread", "random or uniform"],
        ),
        (
            "--recipe cherkasova --edit swap",
            &["--edit", "insert or remove"],
        ),
        // Of 95 documents 13 have the text of another.
        (
            "--recipe chowdhury --originals 96",
            &["--originals", "82 documents"],
        ),
    ];
    for (arguments, says) in cases {
        let mut all = vec![
            "lab",
            "perturb",
            "sample-corpora/trec-web/a.gz",
            "-o",
            out.to_str().unwrap(),
        ];
        all.extend(arguments.split(' '));
        let output = command(&all);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        for word in says {
            assert!(told.contains(word), "{arguments}: {word}: {told}");
        }
        assert!(!out.exists(), "{arguments} made a directory");
    }
}
