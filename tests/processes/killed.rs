//! The program killed anywhere, or stopped by a signal, and run again: the outcome is that of an
//! uninterrupted run.
//!
//! These tests start processes: for a moment, a process being started has a copy of every lock that
//! another test of the same binary holds.

use crate::common;
use lookalike::Error;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::corpus::Random;
use common::stopped::{corpus, names, uninterrupted};
use common::{assert_same_files, lasting};

/// The program, with the parameters of [`corpus`].
fn program(input: &Path, out: &Path, threads: usize) -> Command {
    #[cfg(target_os = "linux")]
    super::children_receive_signals();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.arg("run").arg(input).arg("-o").arg(out);
    command.args([
        "--shingle-size",
        "3",
        "--threshold",
        "0.2",
        "--segment-size",
        "8KiB",
    ]);
    command.args(["--max-document", "64KiB", "--memory", "256MiB", "--quiet"]);
    command.args(["--threads", &threads.to_string()]);
    command.args(["--spill", ["auto", "always"][threads % 2]]);
    command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn wait_successfully(child: Child) {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", output.status);
    assert_eq!(stderr, "");
}

#[test]
fn killed_anywhere_and_run_again() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 40);
    let (expected, expected_names) = uninterrupted(&run, &input);
    let whole = {
        let (out, begin) = (common::temporary(), Instant::now());
        wait_successfully(program(&input, out.path(), 2).spawn().unwrap());
        assert_same_files(
            &lasting(out.path()),
            &expected,
            "the program, uninterrupted",
        );
        begin.elapsed()
    };
    let random = &mut Random(1999);
    let (mut kills, mut directories) = (0, 0);
    while kills < 12 || directories < 4 {
        let out = common::temporary();
        // Up to eight kills in one directory, then it may end.
        for _ in 0..1 + random.below(8) {
            let mut child = program(&input, out.path(), 1 + random.below(4))
                .spawn()
                .unwrap();
            let wait = whole.as_micros() as usize * 9 / 10;
            std::thread::sleep(Duration::from_micros(random.below(wait) as u64));
            let alive = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            kills += usize::from(alive);
        }
        wait_successfully(
            program(&input, out.path(), 1 + random.below(4))
                .spawn()
                .unwrap(),
        );
        let what = format!("after {kills} kills");
        assert_same_files(&lasting(out.path()), &expected, &what);
        assert_eq!(names(out.path()), expected_names, "{what}");
        directories += 1;
        assert!(directories < 500, "it is never killed in time");
    }
}

/// A signal that asks for an end: status 130, what to do is said, and it can be done.
///
/// The program is held where the signal is to come: nothing depends on how fast anything is.
#[cfg(all(unix, feature = "faults"))]
#[test]
fn interrupted_by_a_signal_and_run_again() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 40);
    let (expected, _) = uninterrupted(&run, &input);
    for signal in ["-INT", "-TERM"] {
        let out = common::temporary();
        let held = directory.path().join("held");
        let hold = format!(
            "op=point on=ingest:+worker nth=2 do=hold:{}",
            held.display()
        );
        // A file, which nobody has to read for the program to go on.
        let said = directory.path().join("said");
        let mut command = program(&input, out.path(), 2);
        command.stderr(std::fs::File::create(&said).unwrap());
        let child = command.env("LOOKALIKE_FAULTS", hold).spawn().unwrap();
        let wait = |what: &str, there: &dyn Fn() -> bool| {
            let begin = Instant::now();
            while !there() {
                assert!(begin.elapsed() < Duration::from_secs(60), "never: {what}");
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        wait("held", &|| held.exists());
        let id = child.id().to_string();
        let mut kill = Command::new("kill");
        assert!(kill.args([signal, &id]).status().unwrap().success());
        let heard = || std::fs::read_to_string(&said).unwrap();
        wait("heard", &|| {
            heard().contains("stopping at the next safe point")
        });
        std::fs::remove_file(&held).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = heard();
        assert_eq!(output.status.code(), Some(130), "{signal}: {stderr}");
        assert!(stderr.contains("stopped in stage"), "{stderr}");
        assert!(stderr.contains("repeat the same command"), "{stderr}");
        wait_successfully(program(&input, out.path(), 1).spawn().unwrap());
        assert_same_files(&lasting(out.path()), &expected, signal);
    }
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let directory = common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let out = directory.path().join("out");
    let workspace = run.ingest(&[&input], &out).unwrap();
    let output = program(&input, &out, 1)
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let holder = format!("process {}", std::process::id());
    assert!(
        stderr.contains("is in use by") && stderr.contains(&holder),
        "{stderr}"
    );
    match run.run(&[&input], &out).unwrap_err() {
        Error::Locked {
            path,
            holder: found,
        } => {
            assert_eq!(path, out);
            assert!(found.contains(&holder), "{found}");
        }
        error => panic!("{error}"),
    }
    // Looking is allowed meanwhile.
    assert!(common::manifest(&out).ingested);
    drop(workspace);
    wait_successfully(program(&input, &out, 1).spawn().unwrap());
}

/// A killed task leaves directories for incomplete files in the exchange, which stayed for ever. The
/// same task and the end remove them, and nothing else; a process that still works is not disturbed.
#[cfg(all(unix, feature = "faults"))]
#[test]
fn what_killed_tasks_leave_is_removed() {
    let place = common::temporary();
    let at = |name: &str| place.path().join(name);
    let text = (0..60).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{n} two three\"}}\n"));
    std::fs::write(at("in.jsonl"), text.collect::<String>()).unwrap();
    let tasks = |arguments: &str, faults: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        command.current_dir(place.path()).arg("tasks");
        command
            .args(arguments.split(' '))
            .args(["--json", "--quiet"]);
        command.env("LOOKALIKE_FAULTS", faults).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let never = "op=point on=never do=kill";
    let done = |child: Child| {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    };
    done(tasks("plan in.jsonl --tasks 2 -o ex", never));
    let left = || {
        let directories = std::fs::read_dir(at("ex")).unwrap();
        let directories = directories.map(|entry| entry.unwrap().path());
        let entries = directories.filter_map(|path| std::fs::read_dir(path).ok());
        let names = entries.flatten().map(|entry| entry.unwrap().path());
        let mut names: Vec<std::path::PathBuf> = names
            .map(|path| path.strip_prefix(at("ex")).unwrap().into())
            .collect();
        names.retain(|name| name.to_str().unwrap().contains("lookalike"));
        names.sort();
        names
    };
    // Names of others, and of no file of a task. The second task reads the input.
    let theirs = [
        "1-read/lookalike-00002.rows-AAAAAA",
        "1-read/lookalike-AAAAAA",
        "1-read/lookalike-00001.rows-AAAAA",
        "1-read/lookalike-00001.rows-AAAA/A",
        "collection/lookalike-bashrc-AAAAAA",
    ];
    theirs
        .iter()
        .for_each(|name| std::fs::create_dir_all(at("ex").join(name)).unwrap());
    let others = left();
    let other_task = at("ex/1-read/lookalike-00000.rows-AAAAAA");
    std::fs::create_dir(&other_task).unwrap();
    let ways = [
        "op=create on=collection/lookalike- do=kill",
        "op=create on=1-read/lookalike- do=kill",
        "op=rename on=1-read/lookalike- nth=2 do=kill-after",
    ];
    for (n, faults) in ways.into_iter().enumerate() {
        let killed = tasks("run ex --task 1", faults).wait_with_output().unwrap();
        assert_eq!(killed.status.code(), None, "{faults}");
        assert_eq!(left().len(), others.len() + 2 + n, "{faults}: {:?}", left());
    }
    let said = done(tasks("run ex --task 1", never));
    assert!(said.contains("already"), "{said}");
    std::fs::remove_dir(&other_task).unwrap();
    assert_eq!(left(), others);
    // Another process does a task, and is done first.
    let held = at("held");
    let hold = format!("op=sync on=1-read/lookalike- do=hold:{}", held.display());
    let late = tasks("run ex --task 0", &hold);
    while !held.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let said = done(tasks("run ex --task 0", never));
    assert!(said.contains("done"), "{said}");
    std::fs::remove_file(&held).unwrap();
    let said = done(late);
    assert!(said.contains("already"), "{said}");
    (2..16).for_each(|task| drop(done(tasks(&format!("run ex --task {task}"), never))));
    for name in [
        "4-prefixes/lookalike-00001.rows-AAAAAA",
        "lookalike-plan.json-AAAAAA",
    ] {
        std::fs::create_dir_all(at("ex").join(name).join("file")).unwrap();
    }
    done(tasks("finish ex -o out", never));
    assert_eq!(left(), others);
    assert!(!at("ex/lookalike-plan.json-AAAAAA").exists());
}
