//! Locks that are left behind, directories in use, and signals: nothing needs to be removed or repaired by hand.
//!
//! Like `killed.rs` this starts processes, in a file of its own: for a moment, a process being started has a copy
//! of every lock that another test of the same file holds.

#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use common::stopped::{corpus, names, uninterrupted};
use common::{assert_same_files, copy_directory, lasting};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");
const READ: [&str; 6] = [
    "--shingle-size",
    "3",
    "--segment-size",
    "8KiB",
    "--max-document",
    "64KiB",
];

fn program<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The parameters of [`corpus`].
fn run(input: &Path, out: &Path) -> Command {
    let mut command = program([
        "run".as_ref(),
        input.as_os_str(),
        "-o".as_ref(),
        out.as_os_str(),
    ]);
    command
        .args(READ)
        .args(["--threshold", "0.2", "--spill", "always"]);
    command.args(["--memory", "128MiB", "--threads", "2", "--quiet"]);
    command
}

/// Ends by itself within this, or it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

struct Ended {
    status: ExitStatus,
    stderr: String,
}

fn end(mut child: Child) -> Ended {
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut stderr = String::new();
    if let Some(mut text) = child.stderr.take() {
        text.read_to_string(&mut stderr).unwrap();
    }
    Ended { status, stderr }
}

fn done(command: &mut Command) {
    let ended = end(command.spawn().unwrap());
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
}

fn signal(name: &str, child: &Child) {
    let id = child.id().to_string();
    let status = Command::new("kill")
        .args([&format!("-{name}"), &id])
        .status();
    assert!(status.unwrap().success());
}

fn wait_for(what: &str, there: impl Fn() -> bool) {
    let begin = Instant::now();
    while !there() {
        assert!(begin.elapsed() < PATIENCE, "{what} never comes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A run that waits for standard input, which gives nothing: it holds its directory.
fn waiting(out: &Path) -> Child {
    let mut command = program([
        "run", "-", "--format", "jsonl", "--quiet", "--memory", "128MiB",
    ]);
    command.args(READ).arg("-o").arg(out).stdin(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("the manifest", || out.join("manifest.json").exists());
    child
}

#[test]
fn locks_left_behind_need_no_hands() {
    let directory = tempfile::tempdir().unwrap();
    let (input, of) = corpus(directory.path(), 4);
    let (expected, _) = uninterrupted(&of, &input);
    let contents: [&[u8]; 6] = [
        b"process 4194303 on this host\n",
        b"process 1 on another.example.org\n",
        b"",
        b"\xff\xfe\x00garbage without an end",
        &[b'x'; 100_000],
        b"0\n",
    ];
    for content in contents {
        let out = directory.path().join("out");
        fs::create_dir(&out).unwrap();
        fs::write(out.join("lock"), content).unwrap();
        done(&mut run(&input, &out));
        assert_same_files(&lasting(&out), &expected, "a lock alone");
        // And over what is finished, with another question.
        fs::write(out.join("lock"), content).unwrap();
        let mut join = program(["join"]);
        join.arg(&out)
            .args(["--threshold", "0.3", "--quiet", "--memory", "128MiB"]);
        done(&mut join);
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn locks_that_cannot_be_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let (input, _) = corpus(directory.path(), 2);
    let out = directory.path().join("out");
    fs::create_dir_all(out.join("lock")).unwrap();
    let ended = end(run(&input, &out).spawn().unwrap());
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let place = out.join("lock").display().to_string();
    assert!(
        ended.stderr.contains(&format!("cannot open {place}")),
        "{}",
        ended.stderr
    );

    // A directory that this user may not write to. Nothing keeps root from it.
    let out = directory.path().join("read-only");
    done(&mut run(&input, &out));
    let by_nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM]);
        command.args(arguments).arg(&out).args(["--quiet"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let probe = by_nobody(&["verify"]).args(["--help"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("LEFT OUT: the program cannot be started as another user here");
        return;
    }
    let ended = end(by_nobody(&["join", "--threshold", "0.3"]).spawn().unwrap());
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("lock: Permission denied"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("help: "), "{}", ended.stderr);
    // Looking takes no lock.
    let looked = end(Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            PROGRAM,
            "status",
        ])
        .arg(&out)
        .stdout(Stdio::null())
        .spawn()
        .unwrap());
    assert!(looked.status.success());
}

#[test]
fn a_directory_in_use_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (input, _) = corpus(directory.path(), 2);
    let out = directory.path().join("out");
    let holder = waiting(&out);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let says = format!("is in use by process {} on {}", holder.id(), host.trim());
    let place = out.to_str().unwrap();
    for arguments in [
        vec!["run", input.to_str().unwrap(), "-o", place],
        vec!["ingest", input.to_str().unwrap(), "-o", place],
        vec!["join", place],
        vec!["cluster", place],
        vec!["study", place],
        vec!["plan", place, "--precision", "0.9"],
        vec!["report", place],
    ] {
        let begin = Instant::now();
        let ended = end(program(&arguments).spawn().unwrap());
        let took = begin.elapsed();
        assert_eq!(
            ended.status.code(),
            Some(1),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains(&says),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("nothing needs to be removed by hand"),
            "{}",
            ended.stderr
        );
        // A second, on a machine that does nothing else; CI's may.
        assert!(took < Duration::from_secs(5), "{arguments:?}: {took:?}");
    }
    // The holder is killed: the next comes in, though its name stands in the lock.
    signal("KILL", &holder);
    end(holder);
    assert!(
        fs::read_to_string(out.join("lock"))
            .unwrap()
            .starts_with("process ")
    );
    fs::remove_dir_all(&out).unwrap();
    fs::create_dir(&out).unwrap();
    fs::write(out.join("lock"), "process 1 on nowhere\n").unwrap();
    done(&mut run(&input, &out));
}

/// Two at once in a new directory: one wins; the other is refused, or comes after it and finds all done.
#[test]
fn two_that_start_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (input, of) = corpus(directory.path(), 1);
    let (expected, _) = uninterrupted(&of, &input);
    let rounds = std::env::var("LOOKALIKE_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(100);
    let mut refused = 0;
    for round in 0..rounds {
        let out = directory.path().join("out");
        let both = [
            run(&input, &out).spawn().unwrap(),
            run(&input, &out).spawn().unwrap(),
        ];
        let ids = [both[1].id(), both[0].id()];
        let both = both.map(end);
        let mut won = 0;
        for (ended, other) in both.iter().zip(ids) {
            match ended.status.code() {
                Some(0) => won += 1,
                Some(1) => {
                    let text = &ended.stderr;
                    assert!(
                        text.contains(&format!("is in use by process {other} on ")),
                        "{text}"
                    );
                    refused += 1;
                }
                _ => panic!("round {round}: {}: {}", ended.status, ended.stderr),
            }
        }
        assert!(
            won >= 1,
            "round {round}: {}{}",
            both[0].stderr,
            both[1].stderr
        );
        assert_same_files(&lasting(&out), &expected, &format!("round {round}"));
        fs::remove_dir_all(&out).unwrap();
    }
    // Whether they met depends on how fast they are; a_directory_in_use_is_refused_at_once does not.
    println!("{refused} of {rounds} met");
}

/// A command, and when signals are to come.
struct Case {
    /// `OUT` is the directory.
    line: String,
    /// After which line of progress, and in which stage it must land then; none: anywhere, three times.
    stages: &'static [(&'static str, &'static str)],
    /// Does it begin with a finished run?
    finished: bool,
}

/// A signal in every stage of every command: status 130, the stage and the way to go on are said, and going on
/// ends with the same bytes.
#[test]
fn a_signal_in_every_stage() {
    let directory = tempfile::tempdir().unwrap();
    let (input, _) = corpus(directory.path(), 60);
    let place = directory.path().join("finished");
    done(&mut run(&input, &place));
    let input = input.display();
    let read = "--shingle-size 3 --segment-size 8KiB --max-document 64KiB";
    let means = "--memory 128MiB --threads 2";
    let case = |line: String, stages, finished| Case {
        line,
        stages,
        finished,
    };
    let cases = [
        case(
            format!("run {input} -o OUT {read} --threshold 0.2 --spill always {means}"),
            &[
                ("", "ingest"),
                ("ingest:", "catalogue"),
                ("sample:", "sort"),
                ("sort:", "merge"),
                ("merge:", "join"),
                ("join:", "cluster"),
            ][..],
            false,
        ),
        case(
            format!("ingest {input} -o OUT {read} {means}"),
            &[("", "ingest")],
            false,
        ),
        case(
            format!("join OUT --threshold 0.1 --join count {means}"),
            &[],
            true,
        ),
        case(
            format!("study OUT --ratios 1/2,1/4 --thresholds 0.3,0.5 {means}"),
            &[],
            true,
        ),
        case(
            format!("plan OUT --ratios 1/2,1/4 --precision 0.8 --threshold 0.3 {means}"),
            &[],
            true,
        ),
        case(
            "evaluate --truth OUT --run OUT/pairs.tsv --scratch OUT/../scratch --memory 128MiB"
                .into(),
            &[],
            true,
        ),
        case("report OUT --memory 128MiB --pairs 30".into(), &[], true),
    ];
    for case in &cases {
        landed_everywhere(case, &place);
    }
}

fn landed_everywhere(case: &Case, finished: &Path) {
    let name = case.line.split(' ').next().unwrap();
    let attempt = |out: &Path| {
        let line = case.line.replace("OUT", out.to_str().unwrap());
        program(line.split_whitespace())
    };
    let fresh = || {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("out");
        fs::create_dir(directory.path().join("scratch")).unwrap();
        if case.finished {
            copy_directory(finished, &out);
        }
        (directory, out)
    };
    let (_kept, plain) = fresh();
    let begin = Instant::now();
    done(&mut attempt(&plain));
    let whole = begin.elapsed();
    let of = |out: &Path| {
        let mut files = common::tree(out);
        files.retain(|name, _| {
            let costs = ["lock", "manifest.json", "summary.json"].contains(&name.as_str());
            // Tables of a study and the page say how long things took.
            !costs && !name.starts_with("study/") && !name.ends_with("report.html")
        });
        files
    };
    let mut signals = ["INT", "TERM", "HUP"].iter().cycle();
    // One attempt: the stage that it landed in, if it did.
    let mut once = |when: &dyn Fn(&mut dyn BufRead, &Path)| -> Option<String> {
        let (_kept, out) = fresh();
        let mut child = attempt(&out).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        when(&mut said, &out);
        signal(signals.next().unwrap(), &child);
        let ended = end(child);
        let mut text = String::new();
        said.read_to_string(&mut text).unwrap();
        let stage = match ended.status.code() {
            Some(130) => {
                assert!(
                    text.contains("stopping at the next safe point"),
                    "{name}: {text}"
                );
                assert!(
                    text.contains("repeat the same command to go on"),
                    "{name}: {text}"
                );
                let (_, stage) = text.split_once("stopped in stage ").unwrap();
                Some(stage.split(';').next().unwrap().to_string())
            }
            // Too late, or before it could be caught.
            Some(0) | None => None,
            _ => panic!("{name}: {}: {text}", ended.status),
        };
        if stage.is_some() {
            done(&mut attempt(&out));
            assert_same_files(&of(&out), &of(&plain), name);
            assert_eq!(names(&out), names(&plain), "{name}");
        }
        stage
    };
    for &(line, stage) in case.stages {
        let landed = (0..40).any(|_| {
            let landed = once(&|said, out| {
                if line.is_empty() {
                    wait_for("the manifest", || out.join("manifest.json").exists());
                }
                let mut read = String::new();
                while !line.is_empty() && !read.starts_with(line) {
                    read.clear();
                    assert_ne!(
                        said.read_line(&mut read).unwrap(),
                        0,
                        "{name} never says {line}"
                    );
                }
            });
            landed.as_deref() == Some(stage)
        });
        // A stage can be over before the signal comes; tests/resume.rs stops in each of them by count.
        if !landed {
            println!("{name}: no signal landed in {stage}");
        }
    }
    if case.stages.is_empty() {
        let wait = |n: u32| whole.mul_f64(f64::from((n * 5) % 13 + 1) / 14.0);
        let landed = (0..60).filter(|&n| once(&|_, _| std::thread::sleep(wait(n))).is_some());
        println!("{name}: {} signals landed", landed.take(3).count());
    }
}

/// Standard input that gives nothing used to keep a stopped run waiting, without a word under `--quiet`.
#[test]
fn a_signal_while_standard_input_gives_nothing() {
    for name in ["INT", "TERM", "HUP"] {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("out");
        let mut child = waiting(&out);
        let stdin = child.stdin.take();
        signal(name, &child);
        let ended = end(child);
        assert_eq!(ended.status.code(), Some(130), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("stopped in stage ingest"),
            "{}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("repeat the same command"),
            "{}",
            ended.stderr
        );
        drop(stdin);
        // What came of it is nothing, and the same command goes on.
        let mut again = program([
            "run", "-", "--format", "jsonl", "--quiet", "--memory", "128MiB",
        ]);
        again.args(READ).arg("-o").arg(&out);
        let input = directory.path().join("input");
        fs::write(&input, "{\"id\":\"a\",\"text\":\"one two three four\"}\n").unwrap();
        done(again.stdin(fs::File::open(&input).unwrap()));
        assert_eq!(
            common::manifest(&out)
                .segments
                .iter()
                .map(|s| s.stats.documents)
                .sum::<u64>(),
            1
        );
    }
}

/// A file that nobody writes cannot be waited for with an eye on signals: the first says that it came, the
/// second ends the command at once.
#[test]
fn twice_stops_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (input, _) = corpus(directory.path(), 2);
    let fifo = directory.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for name in ["INT", "TERM", "HUP"] {
        let mut command = program(["evaluate", "--quiet", "--truth"]);
        command.arg(&fifo).arg("--run").arg(&input);
        let mut child = command.spawn().unwrap();
        // Until it is caught: the signal's bit in the mask of those.
        wait_for("the handler", || caught(child.id()));
        signal(name, &child);
        let mut text = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        text.read_line(&mut line).unwrap();
        assert!(line.contains("once more stops at once"), "{line}");
        assert!(child.try_wait().unwrap().is_none());
        signal(name, &child);
        let begin = Instant::now();
        let ended = end(child);
        assert_eq!(ended.status.code(), Some(130));
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
    // A run that is busy: whatever it is at, it ends, and can be resumed.
    let (input, of) = corpus(directory.path(), 60);
    let (expected, _) = uninterrupted(&of, &input);
    for n in 0..5 {
        let out = tempfile::tempdir().unwrap();
        let child = run(&input, out.path()).spawn().unwrap();
        wait_for("the manifest", || out.path().join("manifest.json").exists());
        std::thread::sleep(Duration::from_millis(n * 40));
        signal("INT", &child);
        signal("INT", &child);
        let ended = end(child);
        assert!(
            [Some(130), Some(0)].contains(&ended.status.code()),
            "{}",
            ended.stderr
        );
        done(&mut run(&input, out.path()));
        assert_same_files(&lasting(out.path()), &expected, "stopped twice");
    }
}

/// Does a process catch SIGINT?
fn caught(id: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.map(|mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    mask.is_some_and(|mask| mask & 2 != 0)
}

/// `nohup` has SIGHUP ignored, a script's background SIGINT: both used to stop the run all the same.
#[test]
fn signals_that_are_ignored_stay_so() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\"", PROGRAM]);
    command.args([
        "run", "-", "--format", "jsonl", "--quiet", "--memory", "128MiB", "-o",
    ]);
    command
        .arg(&out)
        .args(READ)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    wait_for("the manifest", || out.join("manifest.json").exists());
    let stdin: Option<_> = child.stdin.take();
    signal("HUP", &child);
    signal("INT", &child);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it stopped");
    // The end of its input ends it.
    drop(stdin);
    let ended = end(child);
    assert!(ended.status.success(), "{}", ended.stderr);
}
