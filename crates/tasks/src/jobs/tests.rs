//! Arrays of jobs against a run over the same inputs, damaged files, and more than 2^32 documents.

use std::collections::BTreeMap;
use std::fs;

use std::path::{Path, PathBuf};

use super::exchange::names;
use super::*;
use crate::distributed::Found;
use lookalike_base::{
    Budget, Disk, FingerprintKind, Random, Silent, Stop, Threshold, budget::ByteSize,
};
use lookalike_engine::cluster::{RESULT_FILES, ResultFormat};
use lookalike_engine::collection::CollectionConfig;
use lookalike_engine::join::{JoinConfig, Pairs};
use lookalike_engine::pipeline::{self, JoinParameters};
use lookalike_engine::sample::Sampling;
use lookalike_text::read::Inputs;

fn context(stop: &Stop) -> Context<'_> {
    Context {
        budget: Budget {
            memory: ByteSize(300 << 20),
            threads: 2,
            disk: Disk::Unchecked,
        },
        stop,
        progress: &Silent,
        scratch: None,
        programs: &[],
    }
}

/// Files of JSON lines: texts that resemble each other, copies, one without words, a reject.
fn write_inputs(directory: &Path, files: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut texts: Vec<String> = vec!["".into(), "one".into(), "One!".into()];
    for file in 0..files {
        let mut lines = String::new();
        for _ in 0..40 {
            let from = &texts[random.below(texts.len() as u64) as usize];
            let mut words: Vec<String> = from.split_whitespace().map(Into::into).collect();
            if words.is_empty() || random.below(10) < 4 {
                let length = 5 + random.below(60);
                words = (0..length).map(|_| random.below(90).to_string()).collect();
            }
            for _ in 0..random.below(4) {
                let at = random.below(words.len() as u64) as usize;
                words[at] = random.below(1000).to_string();
            }
            let text = words.join(" ");
            let id = format!("d{}", random.below(900));
            lines += &format!("{}\n", serde_json::json!({"id": id, "text": text}));
            texts.push(text);
        }
        lines += "{\"id\": \"cut\", \"text\"\n";
        fs::write(directory.join(format!("{file:02}.jsonl")), lines).unwrap();
    }
}

struct Search {
    inputs: Inputs,
    collection: CollectionConfig,
    parameters: JoinParameters,
}

impl Search {
    fn new(directory: &Path, threshold: (u64, u64), sampling: &str) -> Search {
        let mut collection = CollectionConfig::default();
        collection.shingle.shingle_size = 2;
        // Several units.
        collection.segment_size = ByteSize(8 << 10);
        let out = directory.join("out");
        Search {
            inputs: pipeline::inputs(&[directory.join("in")], &out).unwrap(),
            collection,
            parameters: JoinParameters {
                join: JoinConfig {
                    threshold: Threshold::new(threshold.0, threshold.1).unwrap(),
                    ..JoinConfig::default()
                },
                sampling: sampling.parse().unwrap(),
                ..JoinParameters::default()
            },
        }
    }

    fn plan(&self, exchange: &Path, tasks: u32, pairs_only: bool) -> Result<Plan> {
        let planned = Planned {
            inputs: &self.inputs,
            collection: &self.collection,
            parameters: &self.parameters,
            tasks,
            pairs_only,
        };
        Plan::make(&planned, exchange)
    }

    fn run(&self, out: &Path) {
        let stop = Stop::default();
        let (inputs, config, parameters) = (&self.inputs, &self.collection, &self.parameters);
        pipeline::run(inputs, out, config, parameters, false, &context(&stop)).unwrap();
    }
}

fn run_all(plan: &Plan) {
    let stop = Stop::default();
    for task in 0..plan.all_tasks() {
        let ran = run(plan, task, Duration::ZERO, &context(&stop)).unwrap();
        assert_eq!((ran.task, ran.outcome), (task, Outcome::Done));
    }
}

fn rows_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut rows: Vec<String> = rows.map(String::from).collect();
    rows.sort();
    rows
}

fn place() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("in")).unwrap();
    directory
}

#[test]
fn the_results_are_those_of_a_run() {
    let cases = [
        (1, (17, 20), "full"),
        (3, (1, 2), "full"),
        (7, (1, 5), "1/2"),
        (40, (1, 1), "full"),
    ];
    for (seed, (tasks, threshold, sampling)) in (0..).zip(cases) {
        let directory = place();
        let at = |name: &str| directory.path().join(name);
        write_inputs(&at("in"), 1 + seed as usize * 2, seed);
        let search = Search::new(directory.path(), threshold, sampling);
        search.run(&at("run"));
        let plan = search.plan(&at("exchange"), tasks, false).unwrap();
        run_all(&plan);
        let stop = Stop::default();
        finish(&plan, &at("out"), ResultFormat::Tsv, &context(&stop)).unwrap();
        for name in &RESULT_FILES[..5] {
            let [expected, found] =
                ["run", "out"].map(|out| fs::read_to_string(at(out).join(name)).unwrap());
            assert_eq!(expected, found, "{name} of {tasks} tasks");
        }
        // The directory is whole, and the same run takes it.
        search.run(&at("out"));
        let plan = search.plan(&at("pairs"), tasks, true).unwrap();
        run_all(&plan);
        let listed = pairs(&plan, &at("listed"), &context(&stop)).unwrap();
        let expected = rows_of(&at("run").join("pairs.tsv"));
        assert_eq!(rows_of(&at("listed").join("pairs.tsv")), expected);
        assert_eq!(listed.pairs, expected.len() as u64);
        assert!(seed == 3 || listed.pairs > 0);
        let docnos = |name: &str, file: &str| -> Vec<String> {
            let rows = rows_of(&at(name).join(file));
            let two = |row: &String| row.split('\t').take(2).collect::<Vec<_>>().join("\t");
            let mut rows: Vec<String> = rows.iter().map(two).collect();
            rows.sort();
            rows
        };
        let exact = docnos("run", "exact-duplicates.tsv");
        assert_eq!(exact, docnos("listed", "same-words.tsv"));
        assert_eq!(listed.exact_duplicates, exact.len() as u64);
        let [all, found] =
            ["run", "listed"].map(|out| fs::read_to_string(at(out).join("rejects.jsonl")).unwrap());
        // Docnos that repeat come last in a run.
        assert!(!found.is_empty() && all.starts_with(&found));
        let rejected = found.matches(r#""document":"rejected""#).count();
        assert_eq!(listed.rejects, rejected as u64);
        // It can be repeated, and replaces nothing else.
        pairs(&plan, &at("listed"), &context(&stop)).unwrap();
        fs::write(at("listed").join("pairs.tsv"), "theirs").unwrap();
        assert!(pairs(&plan, &at("listed"), &context(&stop)).is_err());
    }
}

/// A plan of another version or build is called that, and not corrupt.
#[test]
fn plans_of_other_programs_are_refused() {
    let directory = place();
    write_inputs(&directory.path().join("in"), 1, 7);
    let exchange = directory.path().join("exchange");
    let search = Search::new(directory.path(), (1, 2), "full");
    search.plan(&exchange, 2, false).unwrap();
    let path = exchange.join("plan.json");
    let sound: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (program, format, says) in [
        ("lookalike 0.1.9", 1, "lookalike 0.1.9 planned it"),
        ("", 1, "another build of this version planned it"),
    ] {
        let mut other = sound.clone();
        other["format"] = format.into();
        if !program.is_empty() {
            other["program"] = program.into();
        }
        fs::write(&path, other.to_string()).unwrap();
        let error = Plan::read(&exchange).map(drop).unwrap_err().to_string();
        assert!(
            error.contains(says) && error.contains("plan again"),
            "{error}"
        );
    }
}

#[test]
fn a_task_needs_those_before_and_is_done_once() {
    let directory = place();
    let at = |name: &str| directory.path().join(name);
    write_inputs(&at("in"), 3, 5);
    let search = Search::new(directory.path(), (1, 2), "full");
    let plan = search.plan(&at("exchange"), 2, false).unwrap();
    let stop = Stop::default();
    let context = context(&stop);
    let run = |task| run(&plan, task, Duration::ZERO, &context);
    let missing = |found: Result<Ran>, which: &str| {
        let error = found.map(drop).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!(" of the step read not done: {which}")),
            "{error}"
        );
    };
    missing(run(2), "0-1");
    assert_eq!(run(1).unwrap().outcome, Outcome::Done);
    missing(run(3), "0");
    run(0).unwrap();
    let first = plan.path(plan.task(0).unwrap());
    let before = fs::read(&first).unwrap();
    assert_eq!(run(0).unwrap().outcome, Outcome::Already);
    // One whose file is lost is done again, with the same bytes.
    fs::remove_file(&first).unwrap();
    missing(run(2), "0");
    assert_eq!(run(0).unwrap().outcome, Outcome::Done);
    assert_eq!(before, fs::read(&first).unwrap());
    // So is one whose file is cut off.
    fs::write(&first, &before[..before.len() - 1]).unwrap();
    assert_eq!(run(0).unwrap().outcome, Outcome::Done);
    assert_eq!(before, fs::read(&first).unwrap());
    assert!(matches!(run(16), Err(Error::BadParameter { .. })));
    let finished = finish(&plan, &at("out"), ResultFormat::Tsv, &context);
    let error = finished.map(drop).unwrap_err().to_string();
    assert!(error.contains(": 2 tasks of the step "), "{error}");
    assert!(!at("out").exists());
    let states = plan.state().unwrap();
    assert_eq!((states[0].done, states[1].done), (2, 0));
    assert!(states[1].ready && !states[2].ready);
    // The same plan is accepted, another one is not.
    assert!(search.plan(&at("exchange"), 2, false).is_ok());
    assert!(matches!(
        search.plan(&at("exchange"), 3, false),
        Err(Error::BadParameter { .. })
    ));
    assert!(matches!(
        search.plan(&at("in"), 2, false),
        Err(Error::BadParameter { .. })
    ));

    // It cannot be in the output directory of another command.
    search.run(&at("other"));
    assert!(search.plan(&at("other/shared"), 2, false).is_err());
    (2..16).for_each(|task| _ = run(task).unwrap());
    assert!(finish(&plan, &at("exchange/out"), ResultFormat::Tsv, &context).is_err());
    // A segment that is damaged is told with the task that made it.
    let entries = fs::read_dir(at("exchange/collection")).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let damaged = paths
        .find(|path| path.extension().unwrap() == "fps")
        .unwrap();
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[80] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    let found = finish(&plan, &at("out"), ResultFormat::Tsv, &context)
        .unwrap_err()
        .to_string();
    assert!(
        found.contains("1-read/0000") && found.contains("run task"),
        "{found}"
    );
}

/// Several processes at the same task: each succeeds, and the file is whole.
#[test]
fn a_task_may_be_done_twice_at_the_same_time() {
    let directory = place();
    let at = |name: &str| directory.path().join(name);
    write_inputs(&at("in"), 2, 10);
    let search = Search::new(directory.path(), (1, 2), "full");
    let plan = search.plan(&at("exchange"), 1, false).unwrap();
    for task in 0..plan.all_tasks() {
        std::thread::scope(|scope| {
            let work = || {
                let stop = Stop::default();
                run(&plan, task, Duration::ZERO, &context(&stop)).map(drop)
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap().unwrap());
        });
        let left = names(&at("exchange").join(plan.task(task).unwrap().step.directory())).unwrap();
        assert_eq!(left, ["00000.rows"]);
    }
    let stop = Stop::default();
    finish(&plan, &at("out"), ResultFormat::Tsv, &context(&stop)).unwrap();
    search.run(&at("run"));
    let both = ["run", "out"].map(|out| fs::read(at(out).join("pairs.tsv")).unwrap());
    assert_eq!(both[0], both[1]);
}

/// Whatever the order in which two processes write the same file.
#[test]
fn files_that_are_written_twice_are_whole() {
    let directory = place();
    let path = directory.path().join("step/00000.rows");
    let mut both = [0, 1].map(|_| exchange::Leaving::create(&path).unwrap());
    both.iter_mut()
        .for_each(|file| file.put(b"first ").unwrap());
    let [mut one, mut other] = both;
    one.put(b"second").unwrap();
    one.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first second");
    let third = exchange::Leaving::create(&path).unwrap();
    other.put(b"second").unwrap();
    drop(third);
    other.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first second");
    assert_eq!(names(path.parent().unwrap()).unwrap(), ["00000.rows"]);
}

/// Names with control characters have remarks in the rejects.
#[test]
fn remarks_on_inputs_are_kept() {
    let directory = place();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("in").join("a\tb.txt"), "one two three").unwrap();
    fs::write(at("in").join("c.txt"), "one two three four").unwrap();
    let mut search = Search::new(directory.path(), (1, 2), "full");
    search.run(&at("run"));
    let plan = search.plan(&at("exchange"), 2, false).unwrap();
    run_all(&plan);
    let stop = Stop::default();
    finish(&plan, &at("out"), ResultFormat::Tsv, &context(&stop)).unwrap();
    let both = ["run", "out"].map(|out| fs::read_to_string(at(out).join("rejects.jsonl")).unwrap());
    assert_eq!(both[0], both[1]);
    assert!(both[0].contains("UTF-8"), "{}", both[0]);
    search.inputs.files[0].problem = Some((lookalike_text::read::Reason::Unreadable, "why".into()));
    assert!(search.plan(&at("other"), 2, false).is_err());
}

#[test]
fn a_changed_input_is_refused() {
    let directory = place();
    let at = |name: &str| directory.path().join(name);
    write_inputs(&at("in"), 2, 6);
    let search = Search::new(directory.path(), (1, 2), "full");
    let plan = search.plan(&at("exchange"), 1, false).unwrap();
    fs::write(at("in").join("01.jsonl"), "{\"text\": \"other\"}\n").unwrap();
    let stop = Stop::default();
    let found = run(&plan, 0, Duration::ZERO, &context(&stop));
    assert!(
        matches!(found, Err(Error::InputChanged { .. })),
        "{found:?}"
    );
    assert!(plan.done(Step::Read).unwrap().is_empty());
}

#[test]
fn what_tasks_cannot_do_is_refused() {
    let directory = place();
    write_inputs(&directory.path().join("in"), 1, 7);
    let exchange = directory.path().join("exchange");
    let refused = |change: &dyn Fn(&mut Search)| {
        let mut search = Search::new(directory.path(), (1, 2), "full");
        change(&mut search);
        let found = search.plan(&exchange, 2, false);
        assert!(
            matches!(found, Err(Error::BadParameter { .. })),
            "{found:?}"
        );
    };
    refused(&|search| search.collection.shingle.parse.tokens = "auto".parse().unwrap());
    refused(&|search| search.collection.shingle.fingerprint = FingerprintKind::Md5);
    refused(&|search| search.parameters.join.max_postings = Some(10));
    refused(&|search| search.parameters.join.pairs = Pairs::None);
    refused(&|search| search.parameters.sampling = Sampling::Broder97);
    refused(&|search| search.parameters.join.measure = "s3".parse().unwrap());
    let search = Search::new(directory.path(), (1, 2), "full");
    assert!(search.plan(&exchange, 0, false).is_err());
    assert!(search.plan(&exchange, plan::MOST_TASKS + 1, false).is_err());
    assert!(!exchange.exists());
}

/// A byte changed or cut off anywhere in the file of a task: the tasks that take it fail, or the
/// results are the same.
#[test]
fn damaged_files_give_no_other_results() {
    let directory = place();
    let at = |name: &str| directory.path().join(name);
    write_inputs(&at("in"), 1, 8);
    let search = Search::new(directory.path(), (1, 2), "full");
    let plan = search.plan(&at("exchange"), 2, true).unwrap();
    run_all(&plan);
    let stop = Stop::default();
    pairs(&plan, &at("good"), &context(&stop)).unwrap();
    let good = fs::read(at("good").join("pairs.tsv")).unwrap();
    let whole = files(&at("exchange"));
    let mut random = Random::new(3);
    let mut failed = 0;
    for (n, step) in Step::ALL.into_iter().cycle().take(160).enumerate() {
        let damaged = plan.path(Task {
            step,
            number: random.below(2) as u32,
        });
        let mut bytes = whole[&damaged].clone();
        let place = random.below(bytes.len() as u64) as usize;
        match random.below(4) {
            0 => bytes.truncate(place),
            _ => bytes[place] ^= 1 << random.below(8),
        }
        fs::write(&damaged, bytes).unwrap();
        for later in Step::ALL.into_iter().filter(|later| *later > step) {
            let path = |number| {
                plan.path(Task {
                    step: later,
                    number,
                })
            };
            (0..2).for_each(|number| fs::remove_file(path(number)).unwrap());
        }
        let first = plan.number(Task { step, number: 0 }) + 2;
        let done = (first..plan.all_tasks())
            .try_for_each(|task| run(&plan, task, Duration::ZERO, &context(&stop)).map(drop));
        let out = at(&format!("listed-{n}"));
        match done.and_then(|()| pairs(&plan, &out, &context(&stop))) {
            Ok(_) => assert_eq!(fs::read(out.join("pairs.tsv")).unwrap(), good, "{step}"),
            Err(Error::Corrupt { .. }) => failed += 1,
            Err(error) => panic!("{step}: {error}"),
        }
        for (path, bytes) in &whole {
            fs::write(path, bytes).unwrap();
        }
    }
    assert!(failed > 150, "{failed}");
}

fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => _ = all.insert(path.clone(), fs::read(&path).unwrap()),
        }
    }
    all
}

/// Ten billion documents, with forged files of the first and the last tasks.
#[test]
fn documents_are_counted_beyond_32_bits() {
    let directory = place();
    let at = |name: &str| directory.path().join(name);
    write_inputs(&at("in"), 1, 9);
    let search = Search::new(directory.path(), (1, 2), "full");
    let stop = Stop::default();
    let of_share = 5_000_000_000u64;
    for pairs_only in [true, false] {
        let exchange = at(&format!("exchange-{pairs_only}"));
        let plan = search.plan(&exchange, 2, pairs_only).unwrap();
        let writer = || rows::Writer::new(2, directory.path(), 0);
        for number in 0..2 {
            let task = Task {
                step: Step::Read,
                number,
            };
            let facts = serde_json::json!({"documents": of_share, "segments": []});
            let origin = plan.origin(task);
            writer()
                .finish(&plan.path(task), origin, &facts, &stop)
                .unwrap();
            let task = Task {
                step: Step::Results,
                number,
            };
            let mut out = writer();
            let mut blob = Vec::new();
            for (a, b, exact) in [(7, of_share - 1, false), (1 << 32, (1 << 32) + 1, true)] {
                let name = |task, number, docno| {
                    let mut name = Vec::new();
                    document_name(task, number, docno, &mut name);
                    name.into_boxed_slice()
                };
                let found = Found {
                    a: name(0, a, "\tfirst"),
                    b: name(number, b, "\tsecond\t"),
                    ranks: Default::default(),
                    numbers: [1, 2, 2],
                    exact,
                    same_words: exact,
                };
                found.put(&mut blob);
            }
            out.take(&mut vec![Row { place: 0, blob }]).unwrap();
            out.finish(&plan.path(task), plan.origin(task), &(), &stop)
                .unwrap();
        }
        if !pairs_only {
            let refused = finish(&plan, &at("out"), ResultFormat::Tsv, &context(&stop));
            assert!(
                matches!(refused, Err(Error::BadParameter { .. })),
                "{refused:?}"
            );
            continue;
        }
        let listed = pairs(&plan, &at("listed"), &context(&stop)).unwrap();
        assert_eq!(
            (listed.documents, listed.pairs, listed.exact_duplicates),
            (2 * of_share, 2, 2)
        );
        let expected = [
            "first\tsecond\\t\t0.333333\t1\t2\t2\t7\t4999999999",
            "first\tsecond\\t\t0.333333\t1\t2\t2\t7\t9999999999",
        ];
        assert_eq!(rows_of(&at("listed").join("pairs.tsv")), expected);
        let expected = [
            "second\\t\tfirst\t4294967297\t4294967296",
            "second\\t\tfirst\t9294967297\t4294967296",
        ];
        assert_eq!(rows_of(&at("listed").join("same-words.tsv")), expected);
    }
    // A number that no share has.
    assert_eq!(number_of(&[0, 5, 9], 1, 3), Some(8));
    assert_eq!(number_of(&[0, 5, 9], 1, 4), None);
    assert_eq!(number_of(&[0, 5, 9], 2, 0), None);
    assert_eq!(number_of(&[u64::MAX - 1, u64::MAX], 0, 7), None);
    // Names are in the order of numbers.
    let mut random = Random::new(1);
    let mut last = (Vec::new(), (0u32, 0u64));
    let mut all: Vec<(u32, u64)> = (0..1000)
        .map(|_| {
            (
                random.below(1 << 32) as u32,
                random.below(u64::MAX) >> random.below(64),
            )
        })
        .collect();
    all.sort_unstable();
    for (task, number) in all {
        let mut name = Vec::new();
        document_name(task, number, "", &mut name);
        assert!(name >= last.0, "{:?} {task} {number}", last.1);
        assert_eq!(named_document(&name), Some((task, number, "")));
        last = (name, (task, number));
    }
}

#[test]
fn ranges_are_short() {
    assert_eq!(ranges(&[]), "");
    assert_eq!(ranges(&[3]), "3");
    assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
    let even: Vec<u64> = (0..100).map(|n| n * 2).collect();
    assert_eq!(ranges(&even), "0, 2, 4, 6, 8, 10, 12, 14, ...");
}
