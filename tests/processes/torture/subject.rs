//! Commands over small corpora, and what they leave when nothing happens to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::corpus::{Shape, random_corpus, write_jsonl};
use crate::common::{self, copy_directory, tree};

/// How a process ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Killed,
    Failed(String),
}

/// As many as the run with the least memory has at most.
pub const LEAST_THREADS: usize = 4;

/// A command, killed over and over.
pub struct Subject {
    pub name: String,
    home: TempDir,
    pub input: PathBuf,
    /// A small input more, if the commands name one.
    new: PathBuf,
    arguments: Vec<String>,
    /// What lies in the output directory before it.
    prepared: Option<PathBuf>,
    /// Threads of which its operations are told: with one they are the same each time, with more
    /// there are runs of each.
    pub threads: usize,
    expected: BTreeMap<String, Vec<u8>>,
    took: Duration,
}

/// What does not depend on times, and is not the lock.
fn lasting(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(out);
    let costs = |name: &str| {
        let last = name.rsplit('/').next().unwrap_or(name);
        let compared = ["compare.json", "compare.html", "methods.csv"];
        ["lock", "manifest.json", "summary.json"].contains(&last)
            || name.starts_with("study/") && (name.ends_with(".json") || name.ends_with(".html"))
            || name.starts_with("compare/") && compared.contains(&last)
    };
    // That they are there is to be seen; what they say of times differs.
    for (name, bytes) in &mut files {
        if costs(name) {
            bytes.clear();
        }
    }
    files
}

/// The kind of a file, or the name of one that is alone of its kind. A method's keys are of other
/// kinds than the collection that they are made from: another stage writes them.
pub fn kind(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, rest) = name.split_once('.').unwrap_or((name, ""));
    let kind = if stem.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        rest
    } else {
        name
    };
    // One table of a study is written as the other.
    let extension = name.rsplit('.').next();
    let figure = path.contains("/study/") && extension == Some("csv");
    let kind = if figure {
        extension.unwrap_or(kind)
    } else {
        kind
    };
    if path.contains("/methods/") && path.contains("/collection") {
        format!("keys {kind}")
    } else {
        kind.into()
    }
}

impl Subject {
    /// `first` over an empty directory, each of `then` over what the one before it left; the last
    /// is killed.
    fn new(name: &str, families: usize, first: &[&str], then: &[&[&str]]) -> Subject {
        let home = common::temporary();
        let shape = Shape {
            families,
            members: 5,
            words: 120,
            vocabulary: 900,
            boilerplate: 30,
        };
        let mut docs = random_corpus(5, shape);
        let new = home.path().join("new.jsonl");
        if then.iter().any(|words| words.contains(&"NEW")) {
            let few = docs.split_off(docs.len() * 15 / 16);
            let at = write_jsonl(&home.path().join("few"), &few, 1);
            fs::rename(at.join("000.jsonl"), &new).unwrap();
        }
        let files = if name.contains("in batches") { 40 } else { 2 };
        let input = write_jsonl(home.path(), &docs, files);
        let all = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut subject = Subject {
            name: name.into(),
            home,
            input,
            new,
            arguments: all(first),
            prepared: None,
            threads: 1,
            expected: BTreeMap::new(),
            took: Duration::ZERO,
        };
        for (number, then) in then.iter().enumerate() {
            let place = subject.place();
            assert_eq!(subject.start(place.path(), 1, "", None), End::Done);
            let prepared = subject.home.path().join(format!("prepared-{number}"));
            copy_directory(&subject.out(place.path()), &prepared);
            subject.prepared = Some(prepared);
            subject.arguments = all(then);
        }
        subject.find_least();
        let place = subject.place();
        let begin = Instant::now();
        assert_eq!(subject.start(place.path(), 1, "", None), End::Done);
        subject.took = begin.elapsed();
        subject.expected = lasting(&subject.out(place.path()));
        match name {
            "add" | "add, with an index" => subject.assert_grown(place.path(), first),
            _ if name.starts_with("run against") => {
                subject.assert_added(&place.path().join("out/new"))
            }
            _ => {}
        }
        subject
    }

    /// What has grown has the results of one run over all inputs, and the pairs that it had were
    /// not found again.
    fn assert_grown(&self, place: &Path, first: &[&str]) {
        self.assert_added(&self.out(place));
        let all = Subject {
            name: "all inputs".into(),
            home: common::temporary(),
            input: self.input.clone(),
            new: self.new.clone(),
            arguments: first.iter().map(ToString::to_string).collect(),
            prepared: None,
            threads: 1,
            expected: BTreeMap::new(),
            took: Duration::ZERO,
        };
        let mut all = all;
        all.arguments.insert(2, "NEW".into());
        let joint = all.place();
        assert_eq!(all.start(joint.path(), 1, "", None), End::Done);
        let results = |place: &Path| common::results(&self.out(place));
        common::assert_same_files(&results(place), &results(joint.path()), &self.name);
    }

    fn assert_added(&self, out: &Path) {
        let pairs = common::manifest(out).pairs.unwrap();
        assert!(
            pairs.stats.added.is_some() && pairs.stats.pairs > 0,
            "{}",
            self.name
        );
    }

    /// Where `LEAST` stands: the least memory that does for some threads, as the refusals tell it.
    fn find_least(&mut self) {
        let Some(at) = self.arguments.iter().position(|a| a == "LEAST") else {
            return;
        };
        self.arguments[at] = "1KiB".into();
        self.threads = LEAST_THREADS;
        loop {
            let place = self.place();
            let End::Failed(text) = self.start(place.path(), LEAST_THREADS, "", None) else {
                return;
            };
            let told = text.split("give --memory ").nth(1);
            let told = told.and_then(|rest| rest.split(' ').next());
            self.arguments[at] = told.unwrap_or_else(|| panic!("{text}")).into();
        }
    }

    /// A directory to be run in: the output directory is `out` in it.
    pub fn place(&self) -> TempDir {
        let place = common::temporary();
        if let Some(prepared) = &self.prepared {
            copy_directory(prepared, &self.out(place.path()));
        }
        place
    }

    pub fn out(&self, place: &Path) -> PathBuf {
        place.join("out")
    }

    /// How long it takes when nothing happens.
    pub fn duration(&self) -> Duration {
        self.took
    }

    fn command(&self, place: &Path, threads: usize, faults: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        let places = [
            ("OUT", self.out(place)),
            ("INPUT", self.input.clone()),
            ("NEW", self.new.clone()),
        ];
        let name = &self.arguments[0];
        if ["study", "method", "compare", "perturb"].contains(&name.as_str()) {
            command.arg("lab");
        }
        for argument in &self.arguments {
            let of = |(_, path): &(_, PathBuf)| path.clone().into_os_string();
            let below = argument.strip_prefix("OUT/");
            let found = places.iter().find(|(name, _)| name == argument).map(of);
            let found = found.or(below.map(|below| places[0].1.join(below).into_os_string()));
            command.arg(found.unwrap_or_else(|| argument.into()));
        }
        command.arg("--quiet");
        // It has one thread.
        if name != "perturb" {
            command.args(["--threads", &threads.to_string()]);
        }
        // Not of what it starts.
        let mut faults = format!("{faults};command={name}");
        if self.threads > 1 {
            // So that every thread has something to sort, and its own run.
            faults.push_str("; op=point on=sort: times=64 do=sleep:2");
        }
        if self.name.contains("sorts on disk") {
            faults.push_str("; do=items:600");
        }
        if self.name.contains("in batches") {
            faults.push_str("; do=items:7");
        }
        command.env("LOOKALIKE_FAULTS", faults);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::piped());
        command
    }

    /// Runs it, with these faults; kills it when it has run for so long.
    pub fn start(&self, place: &Path, threads: usize, faults: &str, wait: Option<Duration>) -> End {
        let mut child = self.command(place, threads, faults).spawn().unwrap();
        if let Some(wait) = wait {
            std::thread::sleep(wait);
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        if self.arguments[0] == "compare" {
            self.wait_for_others(place);
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => {
                assert_eq!(text, "");
                End::Done
            }
            None => End::Killed,
            Some(code) => End::Failed(format!("exit {code}: {text}")),
        }
    }

    /// Waits for the end of the processes that it had started: they see a moment later that it is
    /// gone.
    fn wait_for_others(&self, place: &Path) {
        let out = self.out(place).display().to_string();
        let works_there = |process: &fs::DirEntry| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&out)
        };
        let begin = Instant::now();
        while fs::read_dir("/proc").is_ok_and(|all| all.flatten().any(|one| works_there(&one))) {
            assert!(begin.elapsed() < Duration::from_secs(60), "it never ends");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs it to its end, and holds what it left against what it leaves when nothing happens.
    pub fn finish(&self, place: &Path, threads: usize, what: &str) {
        let end = self.start(place, threads, "", None);
        assert_eq!(end, End::Done, "{}: {what}", self.name);
        self.assert_whole(place, what);
    }

    /// The same, when what was removed may have come back: it is scrap, and gone after the next
    /// start.
    pub fn assert_nothing_lost(&self, place: &Path, what: &str) {
        let mut found = lasting(&self.out(place));
        found.retain(|name, _| self.expected.contains_key(name));
        let what = format!("{}: {what}", self.name);
        crate::common::assert_same_files(&found, &self.expected, &what);
    }

    pub fn is_whole(&self, place: &Path) -> bool {
        self.out(place).exists() && lasting(&self.out(place)) == self.expected
    }

    pub fn assert_whole(&self, place: &Path, what: &str) {
        let found = lasting(&self.out(place));
        let what = format!("{}: {what}", self.name);
        crate::common::assert_same_files(&found, &self.expected, &what);
        // A directory that is only read is what it was, byte for byte.
        if self.name.starts_with("run against") {
            let old = |out: &Path| tree(&out.join("old"));
            let before = old(self.prepared.as_ref().unwrap());
            crate::common::assert_same_files(&old(&self.out(place)), &before, &what);
        }
    }

    /// Every operation that changes something: its kind, and the file.
    pub fn operations(&self) -> Vec<(String, String)> {
        let place = self.place();
        let trace = place.path().join("trace");
        let faults = format!("trace={}", trace.display());
        let end = self.start(place.path(), self.threads, &faults, None);
        assert_eq!(end, End::Done);
        let lines = fs::read_to_string(&trace).unwrap();
        let out = self.out(place.path()).display().to_string();
        let operations = lines.lines().filter_map(|line| {
            let mut fields = line.split('\t');
            let (op, path) = (fields.next()?, fields.next()?);
            let counts = lookalike::store::disk::Op::named(op).is_some_and(|op| op.changes());
            counts.then(|| (op.to_string(), path.replace(&out, "OUT")))
        });
        operations.collect()
    }
}

/// Name, families of its corpus, first command, those after it.
type Parts<'a> = (&'a str, usize, &'a [&'a str], &'a [&'a [&'a str]]);

/// The subjects: between them they write every kind of file.
pub fn subjects(which: impl Fn(usize) -> bool) -> Vec<Subject> {
    let asked = |threshold: &'static str, more: &[&'static str]| -> Vec<&'static str> {
        let first = ["run", "INPUT", "-o", "OUT", "--shingle-size", "3"];
        let parts = [
            "--segment-size",
            "8KiB",
            "--max-document",
            "64KiB",
            "--keep-text",
        ];
        let means = ["--threshold", threshold];
        [&first[..], &parts, &means, more].concat()
    };
    let ample = ["--memory", "256MiB"];
    let run = |more: &[&'static str]| asked("0.2", &[&ample, more].concat());
    let spilled = run(&["--spill", "always", "--join", "prefix"]);
    // Reading needs more memory than all that comes after: apart from it the runs are many.
    let read = [
        "stage",
        "ingest",
        "INPUT",
        "-o",
        "OUT",
        "--shingle-size",
        "3",
    ];
    let read = [
        &read[..],
        &[
            "--segment-size",
            "8KiB",
            "--max-document",
            "64KiB",
            "--keep-text",
        ],
        &ample,
    ]
    .concat();
    let least = [
        "stage",
        "join",
        "OUT",
        "--threshold",
        "0.2",
        "--memory",
        "LEAST",
    ];
    let least = [&least[..], &["--spill", "always", "--fan-in", "2"]].concat();
    let counted = run(&["--join", "count"]);
    let verified = run(&["--sampling", "1/2", "--verified", "--candidates", "0.1"]);
    let selected = run(&["--join", "prefix"]);
    let higher = asked("0.5", &ample);
    let lower = asked("0.1", &[&ample[..], &["--spill", "always"]].concat());
    let base = run(&[]);
    let again = asked(
        "0.3",
        &["--memory", "256MiB", "--spill", "always", "--join", "count"],
    );
    let study = [
        "study",
        "OUT",
        "--ratios",
        "1/2,1/4",
        "--thresholds",
        "0.2,0.5",
    ];
    let plan = ["plan", "OUT", "--threshold", "0.2", "--ratios", "1/2,1/4"];
    let (study, plan) = (
        [&study[..], &["--memory", "256MiB"]].concat(),
        [&plan[..], &["--memory", "256MiB", "--subset", "50%"]].concat(),
    );
    let method = ["method", "super-shingles", "OUT", "--memory", "256MiB"];
    // Tables that take no time to be emptied, eight times a run.
    let deco = "deco:memory=64KiB";
    let compare = ["compare", "OUT", "--methods", deco, "--truth", "shingles"];
    let deco = ["method", deco, "OUT", "--memory", "256MiB"];
    let compare = [&compare[..], &["--memory", "256MiB"]].concat();
    let perturb = ["perturb", "INPUT", "-o", "OUT", "--recipe", "chowdhury"];
    let perturb = [&perturb[..], &["--memory", "256MiB"]].concat();
    let over = ["perturb", "INPUT", "-o", "OUT", "--recipe", "cherkasova"];
    let over = [&over[..], &["--memory", "256MiB", "--no-background"]].concat();
    let of_copies = [
        "--max-document",
        "64KiB",
        "--shingle-size",
        "3",
        "--threshold",
        "0.2",
    ];
    let work = ["run", "INPUT", "-o", "OUT/work"];
    let work = [&work[..], &of_copies, &ample].concat();
    let into = [
        "-o",
        "OUT/kept",
        "--removed",
        "OUT/removed",
        "--keep",
        "longest",
    ];
    let dedup = ["dedup", "INPUT", "--work", "OUT/work"];
    let dedup = [&dedup[..], &into, &of_copies, &ample].concat();
    let from = [&["dedup", "--from", "OUT/work"][..], &into, &ample].concat();
    let linked = [&from[..], &["--link"]].concat();
    let index = [&["stage", "index", "OUT"][..], &ample].concat();
    let add = [&["add", "OUT", "NEW"][..], &ample].concat();
    let old = ["run", "INPUT", "-o", "OUT/old"];
    let old = [&old[..], &of_copies, &["--segment-size", "8KiB"], &ample].concat();
    let passages = ["passages", "OUT", "--length", "3", "--max-documents", "3"];
    let passages = [&passages[..], &["--by", "source"], &ample].concat();
    let found = [
        "contamination",
        "INPUT",
        "--against",
        "NEW",
        "-o",
        "OUT/found",
    ];
    let found = [&found[..], &["--ngram", "5"], &ample].concat();
    let index_old = [&["stage", "index", "OUT/old"][..], &ample].concat();
    let against = ["run", "NEW", "--against", "OUT/old", "-o", "OUT/new"];
    let against = [&against[..], &of_copies, &ample].concat();
    let all: [Parts<'_>; 24] = [
        ("join, least memory", 60, &read, &[&least]),
        ("run, spilled, prefix join", 14, &spilled, &[]),
        ("run, in memory, count join", 14, &counted, &[]),
        (
            "run, selected, and other thresholds",
            14,
            &selected,
            &[&higher, &lower],
        ),
        ("run, sampled and verified", 14, &verified, &[]),
        ("run again, another question", 14, &base, &[&again]),
        ("study", 8, &base, &[&study]),
        ("plan", 8, &base, &[&plan]),
        ("method, super-shingles", 8, &read, &[&method]),
        ("method, deco", 8, &read, &[&deco]),
        ("compare", 8, &read, &[&deco, &compare, &compare]),
        ("perturb, over another", 8, &perturb, &[&over]),
        ("dedup", 8, &dedup, &[]),
        ("dedup, from a run", 8, &work, &[&from]),
        ("dedup, in batches", 8, &work, &[&from]),
        ("dedup, in batches, with links", 8, &work, &[&linked]),
        ("index", 8, &base, &[&index]),
        ("passages", 8, &read, &[&passages]),
        ("passages, sorts on disk", 8, &read, &[&passages]),
        ("contamination", 8, &work, &[&found]),
        ("add", 14, &base, &[&add]),
        ("add, with an index", 14, &base, &[&index, &add]),
        ("run against", 14, &old, &[&against]),
        ("run against an index", 14, &old, &[&index_old, &against]),
    ];
    // Some of them, for who looks into one.
    let wanted = std::env::var("LOOKALIKE_TORTURE_SUBJECT").unwrap_or_default();
    let all = all.iter().filter(|(name, ..)| name.contains(&wanted));
    let all = all.enumerate().filter(|(number, _)| which(*number));
    all.map(|(_, part)| part)
        .map(|(name, families, first, then)| Subject::new(name, *families, first, then))
        .collect()
}
