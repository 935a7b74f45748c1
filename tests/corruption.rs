//! A damaged file is found by `verify`, and never makes another answer: whatever is asked of the
//! directory then, the answer is right, or an error, and no panic.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use common::corpus::{Shape, random_corpus, write_jsonl};
use common::{RESULTS, Run, copy_directory, paths, results, tree};
use lookalike::Error;
use lookalike::manifest::Workspace;
use lookalike::progress::{Progress, Silent, Stop, Unit};
use lookalike::report::{inspect, verify};
use lookalike::{sample, sort};
use tempfile::TempDir;

/// Files of at most so many bytes have every byte flipped; of longer ones every byte near both ends,
/// where headers and footers are, and every [`STEP`]th between.
const EVERY_BYTE: usize = 400;
/// Bytes at each end of a longer file that are flipped one by one.
const ENDS: usize = 72;
/// A prime, so that all places within a record are met.
const STEP: usize = 13;

/// Files that hold no committed data: nothing is read from the lock but who has it, and the summary
/// is written anew by every run.
const UNCHECKED: [&str; 2] = ["lock", "summary.json"];

/// A directory to be damaged.
struct Subject {
    home: TempDir,
    /// The directory.
    out: PathBuf,
    input: PathBuf,
    run: Run,
    /// Its files, undamaged.
    files: BTreeMap<String, Vec<u8>>,
}

impl Subject {
    /// A collection of several segments, with rejects and docnos that come twice.
    fn ingested(families: usize) -> Subject {
        let home = tempfile::tempdir().unwrap();
        let shape = Shape {
            families,
            members: 3,
            words: 60,
            vocabulary: 90,
            boilerplate: 10,
        };
        let input = write_jsonl(home.path(), &random_corpus(6, shape), 2);
        let more = "{\"id\": \"D0001\", \"text\": \"this docno comes twice\"}\n{\"broken\n";
        fs::write(input.join("more.jsonl"), more).unwrap();
        let run = Run::default()
            .shingle_size(2)
            .threshold("0.3")
            .segment_size(1 << 10);
        let out = home.path().join("out");
        drop(run.ingest(&[&input], &out).unwrap());
        let mut subject = Subject {
            home,
            out,
            input,
            run,
            files: BTreeMap::new(),
        };
        subject.files = tree(&subject.out);
        subject
    }

    /// With everything that a run makes.
    fn finished() -> Subject {
        let mut subject = Subject::ingested(4);
        subject.run.run(&[&subject.input], &subject.out).unwrap();
        subject.files = tree(&subject.out);
        subject
    }

    /// With sorted runs, not yet merged.
    fn sorted() -> Subject {
        let mut subject = Subject::ingested(40);
        let mut workspace = Workspace::open(&subject.out).unwrap();
        let stop = Stop::default();
        let sampling = subject.run.question.sampling.clone();
        let context = subject.run.context(&stop, &Silent);
        sample::run::<u64>(&mut workspace, &sampling, &context).unwrap();
        // As little memory as makes more than one run, with one thread.
        let run = subject.run.clone().threads(1);
        common::least_memory(|memory| {
            let run = run.clone().memory(memory);
            sort::form_runs::<u64>(&mut workspace, &run.context(&stop, &Silent))
        });
        drop(workspace);
        subject.files = tree(&subject.out);
        let runs = subject
            .files
            .keys()
            .filter(|name| name.starts_with("runs/"))
            .count();
        assert!(runs >= 2, "{runs} runs");
        subject
    }

    /// With a pair list, and no results yet.
    fn joined() -> Subject {
        struct StopBeforeClusters(Stop);
        impl Progress for StopBeforeClusters {
            fn start(&self, stage: &'static str, _: Unit, _: Option<u64>) {
                if stage == "cluster" {
                    self.0.request();
                }
            }
            fn at(&self, _: u64) {}
            fn end(&self, _: &str) {}
            fn note(&self, _: &str) {}
        }
        let mut subject = Subject::ingested(4);
        let watch = StopBeforeClusters(Stop::default());
        let run = subject
            .run
            .watched(&[&subject.input], &subject.out, &watch.0, &watch);
        assert!(matches!(run, Err(Error::Interrupted { stage: "cluster" })));
        subject.files = tree(&subject.out);
        assert!(subject.files.keys().any(|name| name.ends_with(".pairs")));
        subject
    }

    /// The committed files.
    fn names(&self) -> Vec<String> {
        let names = self
            .files
            .keys()
            .filter(|name| !UNCHECKED.contains(&name.as_str()));
        names.cloned().collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    fn restore(&self, name: &str) {
        fs::write(self.path(name), &self.files[name]).unwrap();
    }

    /// `verify` must name the file.
    fn is_found(&self, name: &str, damage: &str) {
        let what = format!("{name}, {damage}");
        let path = self.path(name).display().to_string();
        let verified = catch_unwind(AssertUnwindSafe(|| verify(&self.out)));
        match verified.unwrap_or_else(|_| panic!("verify panicked: {what}")) {
            Ok(found) => {
                let named = |error: &Error| error.to_string().contains(&path);
                assert!(
                    found.errors.iter().any(named),
                    "not found: {what}: {:?}",
                    found.errors
                );
            }
            Err(error) => assert!(error.to_string().contains(&path), "{what}: {error}"),
        }
        // Whoever looks at the file gets what is sound of it, or an error.
        let look = catch_unwind(AssertUnwindSafe(|| {
            let _ = inspect(&self.path(name), 1000, &mut |_| Ok(true));
        }));
        look.unwrap_or_else(|_| panic!("inspect panicked: {what}"));
    }

    /// Whatever is asked now is answered rightly, or not at all. Says how often it was answered.
    fn answers(&self, questions: &[Question], what: &str) -> usize {
        let mut answered = 0;
        for question in questions {
            let copy = tempfile::tempdir_in(self.home.path()).unwrap();
            copy_directory(&self.out, copy.path());
            let run = || question.run.run(&[&self.input], copy.path());
            let ran = catch_unwind(AssertUnwindSafe(run));
            match ran.unwrap_or_else(|_| panic!("the run panicked: {what}")) {
                Ok(_) => {
                    let found = results(copy.path());
                    let name = question.name;
                    common::assert_same_files(
                        &found,
                        &question.expected,
                        &format!("{what}: {name}"),
                    );
                    answered += 1;
                }
                Err(error @ Error::Panicked { .. }) => panic!("{what}: {error}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        answered
    }

    fn questions(&self) -> Vec<Question> {
        let question = |name, run: Run| {
            let directory = tempfile::tempdir().unwrap();
            run.run(&[&self.input], directory.path()).unwrap();
            let expected = results(directory.path());
            Question {
                name,
                run,
                expected,
            }
        };
        vec![
            question("another threshold", self.run.clone().threshold("0.6")),
            question("another sampling", self.run.clone().sampling("1/2:1")),
            question("the same", self.run.clone()),
        ]
    }
}

/// Something to be asked, and the right answer.
struct Question {
    name: &'static str,
    run: Run,
    expected: BTreeMap<String, Vec<u8>>,
}

/// Which bytes of a file of so many are flipped.
fn places(bytes: usize) -> Vec<usize> {
    if bytes <= EVERY_BYTE {
        return (0..bytes).collect();
    }
    let between = (ENDS..bytes - ENDS).step_by(STEP);
    (0..ENDS)
        .chain(between)
        .chain(bytes - ENDS..bytes)
        .collect()
}

/// Some of `from`, evenly, the last among them.
fn some(from: &[usize], count: usize) -> Vec<usize> {
    let last = from.len().saturating_sub(1);
    let chosen: BTreeSet<usize> = (0..=count).map(|i| i * last / count).collect();
    chosen
        .into_iter()
        .filter_map(|i| from.get(i).copied())
        .collect()
}

/// Lengths at which a file is cut.
fn cuts(bytes: usize) -> Vec<usize> {
    let mut cuts: BTreeSet<usize> = (0..bytes).step_by(bytes.div_ceil(60).max(1)).collect();
    cuts.extend(
        [1, 7, 8, 63, 64, 65, 127, 128]
            .into_iter()
            .filter(|&n| n < bytes),
    );
    cuts.extend((1..=66).filter_map(|n| bytes.checked_sub(n)));
    cuts.into_iter().collect()
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    // Another bit each time; eight and thirteen have no common factor.
    bytes[at] ^= 1 << (at % 8);
    bytes
}

/// Every kind of damage to each of the files chosen by `which`.
fn every_damage_is_found(subject: &Subject, which: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut endings = BTreeSet::new();
    let names: Vec<String> = subject
        .names()
        .into_iter()
        .filter(|name| which(name))
        .collect();
    for name in &names {
        let (path, bytes) = (subject.path(name), &subject.files[name]);
        endings.insert(name.rsplit('.').next().unwrap().to_string());
        for at in places(bytes.len()) {
            fs::write(&path, flipped(bytes, at)).unwrap();
            subject.is_found(name, &format!("byte {at} flipped"));
        }
        for length in cuts(bytes.len()) {
            fs::write(&path, &bytes[..length]).unwrap();
            subject.is_found(name, &format!("cut to {length} bytes"));
        }
        for more in [&b"\0"[..], b"\n", &[0; 64], &bytes.clone()] {
            fs::write(&path, [&bytes[..], more].concat()).unwrap();
            subject.is_found(name, &format!("{} bytes more", more.len()));
        }
        fs::remove_file(&path).unwrap();
        subject.is_found_gone(name);
        subject.restore(name);
    }
    // Two of a kind, one in the place of the other.
    for a in &names {
        for b in names.iter().filter(|b| *b > a && same_kind(a, b)) {
            if subject.files[a] == subject.files[b] {
                continue;
            }
            fs::write(subject.path(a), &subject.files[b]).unwrap();
            fs::write(subject.path(b), &subject.files[a]).unwrap();
            subject.is_found(a, &format!("swapped with {b}"));
            subject.is_found(b, &format!("swapped with {a}"));
            subject.restore(a);
            subject.restore(b);
        }
    }
    let found = verify(&subject.out).unwrap();
    assert!(found.errors.is_empty(), "restored: {:?}", found.errors);
    endings
}

fn same_kind(a: &str, b: &str) -> bool {
    a.rsplit('.').next() == b.rsplit('.').next()
}

impl Subject {
    /// A file that is gone is named; a directory without its manifest says what it lacks.
    fn is_found_gone(&self, name: &str) {
        if name == "manifest.json" {
            let error = verify(&self.out).unwrap_err();
            assert!(matches!(error, Error::StageMissing { .. }), "{error}");
        } else {
            self.is_found(name, "removed");
        }
    }
}

#[test]
fn verify_finds_every_damage_to_a_finished_run() {
    let subject = Subject::finished();
    let endings = every_damage_is_found(&subject, |name| name != "manifest.json");
    let expected = [
        "col", "docs", "fps", "jsonl", "names", "pairs", "post", "rejects", "tsv",
    ];
    assert_eq!(endings.iter().collect::<Vec<_>>(), expected);
    assert!(
        subject
            .names()
            .iter()
            .filter(|name| name.ends_with(".docs"))
            .count()
            > 1
    );
}

#[test]
fn verify_finds_every_damage_to_the_manifest() {
    let subject = Subject::finished();
    every_damage_is_found(&subject, |name| name == "manifest.json");
}

#[test]
fn verify_finds_every_damage_to_runs() {
    let subject = Subject::sorted();
    let endings = every_damage_is_found(&subject, |name| name.starts_with("runs/"));
    assert_eq!(endings.iter().collect::<Vec<_>>(), ["run"]);
}

/// Asks a subject questions after some damage to each of the files chosen by `which`.
fn every_damage_leaves_the_answer(subject: &Subject, which: impl Fn(&str) -> bool) {
    let questions = subject.questions();
    let sound = subject.answers(&questions, "undamaged");
    assert_eq!(sound, questions.len());
    let (mut asked, mut answered) = (0, 0);
    let names: Vec<String> = subject
        .names()
        .into_iter()
        .filter(|name| which(name))
        .collect();
    let mut done = BTreeSet::new();
    for name in &names {
        // Of segments, one is as good as the other.
        if name.starts_with("collection/") && !done.insert(name.rsplit('.').next().unwrap()) {
            continue;
        }
        // The results are only written; but "the same" question would take damaged ones as done.
        let result = RESULTS.contains(&name.as_str());
        let questions = if result {
            &questions[..2]
        } else {
            &questions[..]
        };
        let bytes = &subject.files[name];
        let mut damages: Vec<(String, Vec<u8>)> = Vec::new();
        for at in some(&places(bytes.len()), 12) {
            damages.push((format!("byte {at} flipped"), flipped(bytes, at)));
        }
        for length in some(&cuts(bytes.len()), 4) {
            damages.push((format!("cut to {length} bytes"), bytes[..length].to_vec()));
        }
        damages.push(("64 bytes more".into(), [&bytes[..], &[0; 64]].concat()));
        if let Some(other) = names
            .iter()
            .find(|other| *other != name && same_kind(other, name))
        {
            damages.push((format!("replaced by {other}"), subject.files[other].clone()));
        }
        for (i, (damage, bytes)) in damages.into_iter().enumerate() {
            fs::write(subject.path(name), bytes).unwrap();
            // One question for each damage, in turn.
            let question = &questions[i % questions.len()..][..1];
            asked += 1;
            answered += subject.answers(question, &format!("{name}, {damage}"));
        }
        subject.restore(name);
    }
    assert!(asked > 0);
    // Damage that does not matter to a question must not always prevent its answer.
    assert!(answered < asked, "{answered} of {asked}");
}

#[test]
fn a_damaged_finished_run_gives_no_other_answer() {
    let subject = Subject::finished();
    every_damage_leaves_the_answer(&subject, |_| true);
}

#[test]
fn damaged_runs_give_no_other_answer() {
    let subject = Subject::sorted();
    every_damage_leaves_the_answer(&subject, |name| name.starts_with("runs/"));
}

#[test]
fn a_damaged_pair_list_gives_no_other_answer() {
    let subject = Subject::joined();
    every_damage_leaves_the_answer(&subject, |name| name.starts_with("pairs/"));
}

/// What a person is to do: delete the file named, as the help of the error says.
#[test]
fn a_file_of_another_kind_is_told_by_name() {
    let subject = Subject::finished();
    let (docs, fps) = (
        subject.path("collection/000000.docs"),
        "collection/000000.fps",
    );
    fs::write(&docs, &subject.files[fps]).unwrap();
    let found = verify(&subject.out).unwrap();
    assert_eq!(found.errors.len(), 1);
    assert!(matches!(&found.errors[0], Error::WrongKind { path, .. } if *path == docs));
    // What is no file of ours at all.
    fs::write(
        &docs,
        "GIF89a and so on, for more bytes than a header and a footer have".repeat(3),
    )
    .unwrap();
    let found = verify(&subject.out).unwrap();
    assert!(matches!(&found.errors[0], Error::NotOurs { path, .. } if *path == docs));
    for error in &found.errors {
        assert!(error.help().is_some());
    }
    assert_eq!(paths(Path::new(&subject.input)).len(), 3);
}
