//! Locks that are left behind, directories in use, and signals: nothing needs to be removed or
//! repaired by hand.
//!
//! Where a signal has to come at some moment, the program is held there (`do=hold` in
//! `LOOKALIKE_FAULTS`) until it has come: nothing here depends on how fast anything is.

#![cfg(target_os = "linux")]

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use common::stopped::{corpus, uninterrupted};
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
    super::children_receive_signals();
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

fn end(child: Child) -> Ended {
    let (output, _) = common::ended(child, PATIENCE, "it");
    Ended {
        status: output.status,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
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

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
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
    let directory = common::temporary();
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
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 2);
    let out = directory.path().join("out");
    fs::create_dir_all(out.join("lock")).unwrap();
    let ended = end(run(&input, &out).spawn().unwrap());
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let place = out.join("lock").display().to_string();
    assert!(
        ended
            .stderr
            .contains(&format!("{place} is a directory, expected a regular file")),
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
    let ended = end(by_nobody(&["stage", "join", "--threshold", "0.3"])
        .spawn()
        .unwrap());
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
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 2);
    let out = directory.path().join("out");
    let holder = waiting(&out);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let says = format!("is in use by process {} on {}", holder.id(), host.trim());
    let place = out.to_str().unwrap();
    for arguments in [
        vec!["run", input.to_str().unwrap(), "-o", place],
        vec!["stage", "ingest", input.to_str().unwrap(), "-o", place],
        vec!["stage", "join", place],
        vec!["stage", "cluster", place],
        vec!["lab", "study", place],
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
            ended.stderr.contains("no file needs to be removed"),
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

/// Two at once in a new directory: neither knows of the other until it is in front of the lock. One
/// gets it and is held behind it, the other is refused.
#[test]
fn two_that_start_at_once() {
    let directory = common::temporary();
    let (input, of) = corpus(directory.path(), 1);
    let (expected, _) = uninterrupted(&of, &input);
    let rounds = std::env::var("LOOKALIKE_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(6);
    for round in 0..rounds {
        let place = common::temporary();
        let out = place.path().join("out");
        let before = [0, 1].map(|n| place.path().join(format!("before-{n}")));
        let behind = [0, 1].map(|n| place.path().join(format!("behind-{n}")));
        let mut both = [0, 1].map(|n| {
            let before = format!("op=create on=/out/lock do=hold:{}", before[n].display());
            let behind = format!("op=create on=manifest do=hold:{}", behind[n].display());
            let mut command = run(&input, &out);
            command.env("LOOKALIKE_FAULTS", format!("{before};{behind}"));
            command.spawn().unwrap()
        });
        for (child, before) in both.iter_mut().zip(&before) {
            wait_until_held(child, before, "before the lock");
        }
        // The one or the other comes first, or both at once.
        let first = (round % 3 < 2).then_some(round % 3);
        if let Some(first) = first {
            fs::remove_file(&before[first]).unwrap();
            wait_until_held(&mut both[first], &behind[first], "behind the lock");
            fs::remove_file(&before[1 - first]).unwrap();
        } else {
            before
                .iter()
                .for_each(|file| fs::remove_file(file).unwrap());
        }
        wait_for("the lock", || behind.iter().any(|file| file.exists()));
        let winner = usize::from(behind[1].exists());
        assert!(first.is_none_or(|first| first == winner), "round {round}");
        let [one, other] = both;
        let (won, lost) = if winner == 0 {
            (one, other)
        } else {
            (other, one)
        };
        let (id, lost) = (won.id(), refused(lost, &behind[1 - winner]));
        assert_eq!(
            lost.status.code(),
            Some(1),
            "round {round}: {}",
            lost.stderr
        );
        // Whoever has it may not have said who it is when both come at once.
        let says = match first {
            Some(_) => format!("is in use by process {id} on "),
            None => "is in use by ".into(),
        };
        assert!(
            lost.stderr.contains(&says),
            "round {round}: {}",
            lost.stderr
        );
        fs::remove_file(&behind[winner]).unwrap();
        let won = end(won);
        assert!(won.status.success(), "round {round}: {}", won.stderr);
        assert_same_files(&lasting(&out), &expected, &format!("round {round}"));
    }
}

/// What `compare` has started ends with it, however that comes: the directory is free, and the same
/// command goes on.
#[test]
fn a_comparison_that_is_killed_leaves_no_process() {
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 2);
    let out = directory.path().join("out");
    done(run(&input, &out).arg("--keep-text"));
    let compare = || {
        let mut command = program(["lab".as_ref(), "compare".as_ref(), out.as_os_str()]);
        command.args(["--methods", "super-shingles", "--truth", "shingles"]);
        command.args(["--memory", "128MiB", "--threads", "1", "--quiet"]);
        command
    };
    let held = directory.path().join("held");
    let faults = format!("op=point on=keys: do=hold:{}", held.display());
    let mut child = compare().env("LOOKALIKE_FAULTS", faults).spawn().unwrap();
    wait_until_held(&mut child, &held, "a method");
    let lock = fs::read_to_string(out.join("lock")).unwrap();
    let method = lock.split(' ').nth(1).unwrap();
    assert_ne!(method, child.id().to_string());
    signal("KILL", &child);
    end(child);
    let process = Path::new("/proc").join(method);
    wait_for("the end of the method", || !process.exists());
    // It was ended where it was held, and did not go on to its end.
    assert!(held.exists() && !out.join("methods/shingles/pairs.tsv").exists());
    done(&mut compare());
    assert!(out.join("methods/shingles/pairs.tsv").exists());
    assert!(out.join("compare/compare.json").exists());
}

/// A controlled corpus keeps its directory as a run does, before its files are there and while they
/// are written.
#[test]
fn a_corpus_in_the_making_is_refused_at_once() {
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 1);
    let out = directory.path().join("made");
    let perturb = |held: &Path, at: &str| {
        let mut command = program([
            "lab".as_ref(),
            "perturb".as_ref(),
            input.as_os_str(),
            "-o".as_ref(),
        ]);
        command
            .arg(&out)
            .args(["--recipe", "cherkasova", "--quiet"]);
        command.args(["--originals", "3"]);
        command.env(
            "LOOKALIKE_FAULTS",
            format!("op=create on={at} do=hold:{}", held.display()),
        );
        command
    };
    let (held, never) = (
        directory.path().join("held"),
        directory.path().join("never"),
    );
    let mut holder = perturb(&held, "copies").spawn().unwrap();
    wait_until_held(&mut holder, &held, "the files");
    let lost = refused(perturb(&never, "copies").spawn().unwrap(), &never);
    let says = format!("is in use by process {} on ", holder.id());
    assert_eq!(lost.status.code(), Some(1), "{}", lost.stderr);
    assert!(lost.stderr.contains(&says), "{}", lost.stderr);
    let mut collected = run(&input, &out);
    let lost = refused(collected.spawn().unwrap(), &never);
    assert!(lost.stderr.contains(&says), "{}", lost.stderr);
    fs::remove_file(&held).unwrap();
    let ended = end(holder);
    assert!(ended.status.success(), "{}", ended.stderr);
    done(&mut perturb(&never, "nothing"));

    // Both have found the directory free: one gets it, and the other touches nothing.
    let first = directory.path().join("first");
    let mut late = perturb(&held, "/made/lock").spawn().unwrap();
    wait_until_held(&mut late, &held, "the lock");
    let mut early = perturb(&first, "edits").spawn().unwrap();
    wait_until_held(&mut early, &first, "its files");
    fs::remove_file(&held).unwrap();
    let lost = end(late);
    assert_eq!(lost.status.code(), Some(1), "{}", lost.stderr);
    assert!(lost.stderr.contains("is in use by "), "{}", lost.stderr);
    fs::remove_file(&first).unwrap();
    let ended = end(early);
    assert!(ended.status.success(), "{}", ended.stderr);
    assert!(out.join("perturb.json").exists());
}

/// The end of a process that is not to come to where it would be held.
fn refused(mut child: Child, file: &Path) -> Ended {
    wait_for("the end of the other", || {
        assert!(!file.exists(), "both have the lock");
        child.try_wait().unwrap().is_some()
    });
    end(child)
}

/// Until a process is held (`do=hold` in `LOOKALIKE_FAULTS`).
fn wait_until_held(child: &mut Child, file: &Path, what: &str) {
    let begin = Instant::now();
    while !file.exists() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "{what}: it ended with {ended:?} before");
        assert!(begin.elapsed() < PATIENCE, "{what}: it never comes");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A command, and where signals are to come.
struct Case {
    /// `OUT` is the directory, `PLACE` the one it lies in.
    line: String,
    /// Where it is held until a signal has come, and the stage that it says it stopped in.
    held: &'static [(&'static str, &'static str)],
    /// Does it begin with a finished run?
    finished: bool,
}

/// A signal in every stage of every command: status 130, the stage and the way to go on are said,
/// and going on ends with the same bytes.
#[test]
fn a_signal_in_every_stage() {
    let directory = common::temporary();
    let (input, _) = corpus(directory.path(), 8);
    let place = directory.path().join("finished");
    done(run(&input, &place).arg("--keep-text"));
    let input = input.display();
    let read = "--shingle-size 3 --segment-size 8KiB --max-document 64KiB";
    let means = "--memory 128MiB --threads 2";
    let case = |line: String, held, finished| Case {
        line,
        held,
        finished,
    };
    let cases = [
        case(
            format!("run {input} -o OUT {read} --threshold 0.2 --spill always {means}"),
            &[
                ("op=point on=ingest:+reader", "ingest"),
                ("op=create on=.names", "catalogue"),
                ("op=point on=sort:+worker", "sort"),
                ("op=point on=merge:+worker", "merge"),
                ("op=point on=candidates:+worker", "join"),
                ("op=create on=pairs.tsv", "cluster"),
            ][..],
            false,
        ),
        case(
            format!("stage ingest {input} -o OUT {read} --memory 128MiB --threads 1"),
            &[("op=point on=ingest:+reader", "ingest")],
            false,
        ),
        case(
            format!("stage join OUT --threshold 0.1 --sampling 1/2 --join count {means}"),
            &[
                ("op=create on=manifest", "sample"),
                ("op=point on=merge+in+memory:+worker", "merge"),
                ("op=point on=count:+worker", "join"),
            ],
            true,
        ),
        case(
            format!("lab study OUT --ratios 1/2,1/4 --thresholds 0.3,0.5 {means}"),
            &[
                ("op=point on=merge+in+memory:+worker nth=2", "merge"),
                ("op=create on=trials/1-1-0.json", "study"),
            ],
            true,
        ),
        case(
            format!(
                "plan OUT --ratios 1/2,1/4 --precision 0.8 --threshold 0.3 --subset 50% {means}"
            ),
            &[
                ("op=create on=plan/subset", "plan"),
                ("op=point on=merge+in+memory:+worker", "merge"),
            ],
            true,
        ),
        case(
            "evaluate --truth OUT --run OUT/pairs.tsv --scratch PLACE/scratch --memory 128MiB"
                .into(),
            &[("op=open on=pairs.tsv", "evaluate")],
            true,
        ),
        case(
            "report OUT --memory 128MiB --pairs 30".into(),
            &[("op=create on=report.html", "report")],
            true,
        ),
        case(
            format!("lab method super-shingles OUT {means}"),
            &[
                ("op=point on=keys:+worker", "keys"),
                ("op=point on=merge+in+memory:+worker", "merge"),
            ],
            true,
        ),
        case(
            format!("lab compare OUT --methods super-shingles --truth shingles {means}"),
            &[("op=point on=keys:+worker", "compare")],
            true,
        ),
        case(
            format!("query OUT {input} --memory 128MiB --threads 1"),
            &[("op=point on=query:+worker nth=2", "query")],
            true,
        ),
        case(
            format!("lab perturb {input} -o PLACE/edited --recipe chowdhury --memory 256MiB"),
            &[("op=create on=edited/", "perturb")],
            false,
        ),
    ];
    let mut signals = ["INT", "TERM", "HUP"].iter().cycle();
    for case in &cases {
        lands_everywhere(case, &place, &mut signals);
    }
}

/// What a command leaves, without what it cost: tables of a study or comparison and the page say
/// how long things took.
fn left(place: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = common::tree(place);
    for (name, bytes) in &mut files {
        let costs = ["lock", "manifest.json", "summary.json"];
        let last = name.rsplit('/').next().unwrap();
        let timed = ["out/study/", "out/compare", "out/report.html"];
        if costs.contains(&last) || timed.iter().any(|start| name.starts_with(start)) {
            bytes.clear();
        }
    }
    files
}

fn lands_everywhere<'a>(
    case: &Case,
    finished: &Path,
    signals: &mut impl Iterator<Item = &'a &'static str>,
) {
    let name = case.line.split(' ').next().unwrap();
    let attempt = |place: &Path| {
        let line = case.line.replace("PLACE", place.to_str().unwrap());
        let line = line.replace("OUT", place.join("out").to_str().unwrap());
        program(line.split_whitespace())
    };
    let fresh = || {
        let place = common::temporary();
        fs::create_dir(place.path().join("scratch")).unwrap();
        if case.finished {
            copy_directory(finished, &place.path().join("out"));
        }
        place
    };
    // What is printed is the outcome of a query alone; elsewhere it says how long things took.
    let whole = |place: &Path| {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut command = attempt(place);
        done(command.stdout(file.reopen().unwrap()));
        let said = fs::read_to_string(file.path()).unwrap();
        if name == "query" { said } else { String::new() }
    };
    let plain = fresh();
    let said = whole(plain.path());
    assert_eq!(said.is_empty(), name != "query");
    for &(at, stage) in case.held {
        let what = format!("{name}, held at {at}");
        let (place, aside) = (fresh(), common::temporary());
        let held = aside.path().join("held");
        let mut command = attempt(place.path());
        command.env(
            "LOOKALIKE_FAULTS",
            format!("{at} do=hold:{}", held.display()),
        );
        // Files, which nobody has to read for the program to go on.
        let [out, err] = ["out", "err"].map(|name| aside.path().join(name));
        command.stdout(fs::File::create(&out).unwrap());
        command.stderr(fs::File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        wait_until_held(&mut child, &held, &what);
        signal(signals.next().unwrap(), &child);
        let heard = "stopping at the next safe point";
        wait_for(&format!("{what}: the signal"), || {
            fs::read_to_string(&err).unwrap().contains(heard)
        });
        // A process that `compare` started may have ended while it was held.
        let _ = fs::remove_file(&held);
        let status = end(child).status;
        let text = fs::read_to_string(&err).unwrap();
        assert_eq!(status.code(), Some(130), "{what}: {text}");
        let stopped = format!("stopped in stage {stage};");
        // A list of members may be stopped while it is read.
        let at = text.contains(&stopped) || text.contains("stopped in stage read;");
        assert!(at, "{what}, not in {stage}: {text}");
        let way = "repeat the same command to continue";
        assert!(text.contains(way), "{what}: {text}");
        assert_eq!(whole(place.path()), said, "{what}");
        assert_same_files(&left(place.path()), &left(plain.path()), &what);
    }
}

/// Standard input that gives nothing used to keep a stopped run waiting, without a word under
/// `--quiet`.
#[test]
fn a_signal_while_standard_input_gives_nothing() {
    for name in ["INT", "TERM", "HUP"] {
        let directory = common::temporary();
        let out = directory.path().join("out");
        let mut child = waiting(&out);
        let stdin = child.stdin.take();
        signal(name, &child);
        let ended = end(child);
        assert_eq!(ended.status.code(), Some(130), "{}", ended.stderr);
        assert!(
            ["ingest", "read"]
                .iter()
                .any(|stage| { ended.stderr.contains(&format!("stopped in stage {stage};")) }),
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

/// The tests of this file pass in the background of a script, too, where SIGINT is ignored, and
/// under `nohup`.
#[test]
fn signals_arrive_though_the_tests_ignore_them() {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT TERM; exec \"$0\" \"$@\""]);
    command.arg(std::env::current_exe().unwrap()).args([
        "--exact",
        "processes::signals::a_signal_while_standard_input_gives_nothing",
    ]);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// A file that nobody writes cannot be waited for with an eye on signals: the first says that it
/// came, the second ends the command at once.
#[test]
fn twice_stops_at_once() {
    let directory = common::temporary();
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
        assert!(line.contains("a second signal stops at once"), "{line}");
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
        let out = common::temporary();
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

/// `nohup` has SIGHUP ignored, a script's background SIGINT: both used to stop the run all the
/// same.
#[test]
fn signals_that_are_ignored_stay_so() {
    let directory = common::temporary();
    let out = directory.path().join("out");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\"", PROGRAM]);
    command.args([
        "run", "-", "--format", "jsonl", "--quiet", "--memory", "128MiB", "-o",
    ]);
    command
        .arg(&out)
        .args(READ)
        .arg("--allow-empty")
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
