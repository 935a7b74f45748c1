//! A thread that panics, wherever it is: the program ends soon with an error, and the same command without the
//! defect gives what it would have given.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::stopped::{corpus, names};
use common::{assert_same_files, lasting, paths};

/// One way to run the program.
struct Subject {
    threads: usize,
    more: &'static [&'static str],
}

/// Both joins, through runs and in memory, exact and sampled, on one thread and several.
const SUBJECTS: [Subject; 8] = [
    Subject {
        threads: 1,
        more: &["--spill", "always", "--join", "prefix"],
    },
    Subject {
        threads: 3,
        more: &["--spill", "always", "--join", "prefix", "--fan-in", "2"],
    },
    Subject {
        threads: 1,
        more: &["--spill", "auto", "--join", "count"],
    },
    Subject {
        threads: 3,
        more: &["--spill", "auto", "--join", "count"],
    },
    Subject {
        threads: 1,
        more: &["--sampling", "1/2", "--verified", "--join", "count"],
    },
    Subject {
        threads: 3,
        more: &["--sampling", "1/2", "--verified", "--join", "prefix"],
    },
    Subject {
        threads: 3,
        more: &["--spill", "always", "--join", "count"],
    },
    Subject {
        threads: 3,
        more: &["--spill", "auto", "--join", "prefix", "--pairs", "none"],
    },
];

/// Points that are not met here: generations need less memory than reading the inputs takes, profiles are made
/// apart only after an interruption.
const ELSEWHERE: [&str; 2] = ["generation", "profile: worker"];

/// Runs the program with these faults; it must end by itself.
fn program(subject: &Subject, input: &Path, out: &Path, faults: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.arg("run").arg(input).arg("-o").arg(out);
    command.args(["--shingle-size", "3", "--threshold", "0.2"]);
    command.args(["--segment-size", "8KiB", "--max-document", "64KiB"]);
    command.args(["--memory", "256MiB", "--quiet"]);
    command.args(["--threads", &subject.threads.to_string()]);
    command.args(subject.more).env("LOOKALIKE_FAULTS", faults);
    command.stdin(Stdio::null());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it hangs: {:?} with {faults}", subject.more);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.wait_with_output().unwrap()
}

/// The names of all points in the source.
fn points() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for path in paths(&source) {
        let text = fs::read_to_string(path).unwrap();
        for after in text.split("disk::point(\"").skip(1) {
            found.insert(after.split('"').next().unwrap().to_string());
        }
    }
    found
}

#[test]
fn a_panic_at_every_point_ends_the_run_with_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let (input, _) = corpus(directory.path(), 6);
    let (mut met, mut panics) = (BTreeSet::new(), 0);
    for (number, subject) in SUBJECTS.iter().enumerate() {
        let trace = directory.path().join(format!("trace-{number}"));
        let out = directory.path().join(format!("whole-{number}"));
        let output = program(subject, &input, &out, &format!("trace={}", trace.display()));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let (expected, expected_names) = (lasting(&out), names(&out));
        let mut here: BTreeMap<String, u64> = BTreeMap::new();
        for line in fs::read_to_string(&trace).unwrap().lines() {
            if let Some(name) = line.strip_prefix("point\t") {
                *here.entry(name.into()).or_default() += 1;
            }
        }
        assert!(here.len() >= 3, "{here:?}");
        for (name, times) in here {
            let on = name.replace(' ', "+");
            let middle = times.div_ceil(2);
            // One thread, somewhere in the middle; and every thread that comes there.
            let one = format!("op=point on={on} nth={middle} do=panic");
            let every = format!("op=point on={on} times=1000000 do=panic");
            let several = (subject.threads > 1).then_some(every);
            for faults in several.into_iter().chain([one]) {
                let what = format!("{:?}, {} threads, {faults}", subject.more, subject.threads);
                let out = directory.path().join("out");
                let output = program(subject, &input, &out, &faults);
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(1), "{what}: {stderr}");
                let error = stderr.lines().find(|line| line.starts_with("error: "));
                let error = error.unwrap_or_default();
                assert!(
                    error.contains("thread panicked: a fault: Point")
                        && stderr.contains("help: this is a defect of lookalike"),
                    "{what}: {stderr}"
                );
                let again = program(subject, &input, &out, "");
                let stderr = String::from_utf8_lossy(&again.stderr);
                assert!(again.status.success(), "{what}: {stderr}");
                assert_same_files(&lasting(&out), &expected, &what);
                assert_eq!(names(&out), expected_names, "{what}");
                fs::remove_dir_all(&out).unwrap();
                panics += 1;
            }
            met.insert(name);
        }
    }
    eprintln!("{panics} panics at {} points", met.len());
    met.extend(ELSEWHERE.map(String::from));
    assert_eq!(met, points(), "met, and in the source");
}
