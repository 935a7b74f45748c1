//! A thread that panics, wherever it is: the program ends soon with an error, and the same command
//! without the defect gives what it would have given.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::stopped::corpus;
use common::{assert_same_files, copy_directory, one_in, paths, tree};

/// One way to run the program.
struct Subject {
    /// `INPUT` and `OUT` stand for their places.
    line: String,
    threads: usize,
    /// The preparations in the directory.
    before: Vec<Before>,
    /// A panic at this point only; at each that it comes to, if there is none.
    only: Option<&'static str>,
}

struct Before {
    line: String,
    threads: usize,
    faults: &'static str,
    /// So many threads are held (`HOLD1` and so on in the faults), and let go when all of them are.
    held: usize,
    /// Its exit status; none if it is killed.
    ends: Option<i32>,
}

const READ: &str = "INPUT -o OUT --shingle-size 3 --segment-size 8KiB --max-document 64KiB";

/// Both joins, through runs and in memory, exact and sampled, on one thread and several; and what
/// is met only in a directory that was left in some state.
fn subjects() -> Vec<Subject> {
    let run = |threads: usize, more: &str| Subject {
        line: format!("run {READ} --threshold 0.2 {more}"),
        threads,
        before: Vec::new(),
        only: None,
    };
    let before = |line: &str, faults, ends| Before {
        line: line.into(),
        threads: 1,
        faults,
        held: 0,
        ends,
    };
    let kept = format!("stage ingest {READ} --keep-text");
    let spilled = format!("run {READ} --threshold 0.2 --spill always");
    let direct = format!("run {READ} --threshold 0.2");
    vec![
        run(1, "--spill always --join prefix"),
        run(3, "--spill always --join count --fan-in 2"),
        run(1, "--spill auto --join count"),
        run(3, "--spill auto --join count"),
        run(1, "--sampling 1/2 --verified --join count"),
        run(3, "--sampling 1/2 --verified --join prefix"),
        run(3, "--spill always --join count"),
        run(3, "--spill auto --join prefix --pairs none"),
        run(3, "--spill auto"),
        run(1, "--spill always"),
        run(3, "--spill auto --score s4"),
        run(1, "--spill auto --score s4"),
        // Each of three threads has something to sort, and so a run of its own: one more than are
        // merged at once.
        Subject {
            line: format!("{spilled} --fan-in 2"),
            threads: 3,
            before: vec![Before {
                line: format!("{spilled} --fan-in 2"),
                threads: 3,
                faults: "op=point on=sort:+worker nth=1 do=hold:HOLD1; \
                         op=point on=sort:+worker nth=2 do=hold:HOLD2; \
                         op=point on=sort:+worker nth=3 do=hold:HOLD3; \
                         op=point on=generation do=kill",
                held: 3,
                ends: None,
            }],
            only: Some("generation"),
        },
        Subject {
            line: "lab method super-shingles OUT".into(),
            threads: 3,
            before: vec![before(&kept, "", Some(0))],
            only: Some("keys: worker"),
        },
        Subject {
            line: "lab method super-shingles OUT".into(),
            threads: 1,
            before: vec![before(&kept, "", Some(0))],
            only: Some("keys: worker"),
        },
        Subject {
            line: "stage index OUT".into(),
            threads: 3,
            before: vec![before(&kept, "", Some(0))],
            only: None,
        },
        Subject {
            line: "add OUT MORE".into(),
            threads: 3,
            before: vec![before(&direct, "", Some(0))],
            only: None,
        },
        Subject {
            line: "passages OUT --length 3 --max-documents 3 --by source".into(),
            threads: 3,
            before: vec![before(&kept, "", Some(0))],
            only: None,
        },
        Subject {
            line: "passages OUT --length 3".into(),
            threads: 1,
            before: vec![before(&kept, "", Some(0))],
            only: None,
        },
        // Its corpus is small, so one thread has all of it.
        Subject {
            line: "contamination INPUT --against MORE --ngram 5 -o OUT".into(),
            threads: 3,
            before: Vec::new(),
            only: None,
        },
        Subject {
            line: "query OUT INPUT --top 1".into(),
            threads: 3,
            before: vec![before(&kept, "", Some(0))],
            only: None,
        },
        Subject {
            line: "query OUT INPUT --top 1".into(),
            threads: 1,
            before: vec![before(&kept, "", Some(0))],
            only: None,
        },
    ]
}

/// It ends by itself within this, or it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A line that is to be run.
fn command(line: &str, threads: usize, input: &Path, out: &Path, faults: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    for word in line.split_whitespace() {
        match word {
            "INPUT" => command.arg(input),
            "MORE" => command.arg(input.with_file_name("more.jsonl")),
            "OUT" => command.arg(out),
            word => command.arg(word),
        };
    }
    command.args(["--memory", "256MiB", "--quiet"]);
    command.args(["--threads", &threads.to_string()]);
    command.env("LOOKALIKE_FAULTS", faults).stdin(Stdio::null());
    // Nobody reads the backtraces that a caller may have asked for.
    command.env("RUST_BACKTRACE", "0");
    command
}

/// Runs a command, with what it prints in files, which nobody has to read for it to go on; it must
/// end by itself.
fn ended(mut command: Command, what: &str, meanwhile: impl FnOnce()) -> Output {
    let files = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
    let [out, err] = [0, 1].map(|n: usize| files[n].reopen().unwrap());
    let mut child = command.stdout(out).stderr(err).spawn().unwrap();
    meanwhile();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it hangs: {what}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = files.map(|file| fs::read(file.path()).unwrap());
    Output {
        status,
        stdout,
        stderr,
    }
}

impl Subject {
    /// What lies in the directory before: made once, copied each time.
    fn prepare(&self, input: &Path, aside: &Path) {
        let out = aside.join("out");
        for before in &self.before {
            let hold = aside.join("hold-");
            let faults = before.faults.replace("HOLD", hold.to_str().unwrap());
            let command = command(&before.line, before.threads, input, &out, &faults);
            let output = ended(command, &before.line, || {
                let files = (1..=before.held).map(|n| aside.join(format!("hold-{n}")));
                let files: Vec<_> = files.collect();
                let began = Instant::now();
                while !files.iter().all(|file| file.exists()) {
                    assert!(began.elapsed() < PATIENCE, "not all are held: {faults}");
                    std::thread::sleep(Duration::from_millis(2));
                }
                files.iter().for_each(|file| fs::remove_file(file).unwrap());
            });
            let stderr = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert_eq!(code, before.ends, "{} with {faults}: {stderr}", before.line);
        }
    }

    /// The directory as it is before.
    fn reset(&self, aside: &Path, out: &Path) {
        if out.exists() {
            fs::remove_dir_all(out).unwrap();
        }
        if !self.before.is_empty() {
            copy_directory(&aside.join("out"), out);
        }
    }

    /// Runs it with these faults.
    fn run(&self, input: &Path, out: &Path, faults: &str) -> Output {
        let command = command(&self.line, self.threads, input, out, faults);
        ended(command, &format!("{} with {faults}", self.line), || {})
    }
}

/// Returns the files that a run leaves, without its costs.
fn left(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(out);
    for (name, bytes) in &mut files {
        let costs = ["lock", "manifest.json", "summary.json"];
        if costs.contains(&name.rsplit('/').next().unwrap()) {
            bytes.clear();
        }
    }
    files
}

/// The names of all points in the source.
fn points() -> BTreeSet<String> {
    let sources = ["src", "crates"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let mut found = BTreeSet::new();
    for path in sources.iter().flat_map(|source| paths(source)) {
        let text = fs::read_to_string(path).unwrap();
        for after in text.split("disk::point(\"").skip(1) {
            found.insert(after.split('"').next().unwrap().to_string());
        }
    }
    found
}

#[test]
fn a_panic_at_every_point_ends_the_run_with_an_error() {
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 6);
    // Some of its documents again, a little longer.
    let first = fs::read_to_string(paths(&input).first().unwrap()).unwrap();
    let more = first
        .lines()
        .take(4)
        .map(|line| line.replacen(": \"", ": \"new ", 2) + "\n");
    fs::write(input.with_file_name("more.jsonl"), more.collect::<String>()).unwrap();
    let (mut met, mut panics) = (BTreeSet::new(), 0);
    let subjects = subjects();
    // What has a subject of its own may be met elsewhere once and never again: which thread sorts
    // how much decides whether there are runs for a generation.
    let own: BTreeSet<_> = subjects.iter().filter_map(|one| one.only).collect();
    for (number, subject) in subjects.iter().enumerate() {
        let aside = directory.path().join(format!("before-{number}"));
        fs::create_dir(&aside).unwrap();
        subject.prepare(&input, &aside);
        let trace = directory.path().join(format!("trace-{number}"));
        let out = directory.path().join("out");
        subject.reset(&aside, &out);
        let whole = subject.run(&input, &out, &format!("trace={}", trace.display()));
        let stderr = String::from_utf8_lossy(&whole.stderr);
        assert!(whole.status.success(), "{}: {stderr}", subject.line);
        let expected = left(&out);
        let mut here: BTreeMap<String, u64> = BTreeMap::new();
        for line in fs::read_to_string(&trace).unwrap().lines() {
            if let Some(name) = line.strip_prefix("point\t") {
                *here.entry(name.into()).or_default() += 1;
            }
        }
        here.retain(|name, _| match subject.only {
            Some(only) => name == only,
            None => !own.contains(name.as_str()),
        });
        assert!(!here.is_empty(), "{}: {:?}", subject.line, subject.only);
        for (name, times) in here {
            let on = name.replace(' ', "+");
            let middle = times.div_ceil(2);
            // One thread, somewhere in the middle; and every thread that comes there.
            let one = format!("op=point on={on} nth={middle} do=panic");
            let every = format!("op=point on={on} times=1000000 do=panic");
            let several = (subject.threads > 1).then_some(every);
            let all = several.into_iter().chain([one]);
            // What an earlier subject has met is tried with fewer.
            let of = if met.contains(&name) { one_in(5) } else { 1 };
            for faults in all.skip((number + on.len()) % of).step_by(of) {
                let (line, threads) = (&subject.line, subject.threads);
                let what = format!("{line}, {threads} threads, {faults}");
                let mut attempts = (0..50).map(|_| {
                    subject.reset(&aside, &out);
                    subject.run(&input, &out, &faults)
                });
                let output = attempts.find(|output| output.status.code() != Some(0));
                let output = output.unwrap_or_else(|| panic!("{what}: it was never met"));
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(1), "{what}: {stderr}");
                let error = stderr.lines().find(|line| line.starts_with("error: "));
                let error = error.unwrap_or_default();
                assert!(
                    error.contains("thread panicked: a fault: Point")
                        && stderr.contains("help: this is a defect of lookalike"),
                    "{what}: {stderr}"
                );
                let again = subject.run(&input, &out, "");
                let stderr = String::from_utf8_lossy(&again.stderr);
                assert!(again.status.success(), "{what}: {stderr}");
                assert!(
                    again.stdout == whole.stdout,
                    "{what}: it says another thing"
                );
                assert_same_files(&left(&out), &expected, &what);
                panics += 1;
            }
            met.insert(name);
        }
    }
    eprintln!("{panics} panics at {} points", met.len());
    assert_eq!(met, points(), "met, and in the source");
}
