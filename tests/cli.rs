//! The command: what it says, where it says it, and with which status it ends.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::corpus::{Random, Shape, random_corpus, write_jsonl};
use common::{RESULTS, Run, paths, rows_of, sample_corpora};
use lookalike::progress::{Silent, Stop};
use lookalike::{sample, sort};
use serde_json::Value;
use tempfile::TempDir;

fn lookalike<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    command.args(arguments).output().unwrap()
}

/// The arguments of a line; none of them has a space in it.
fn line(line: &str) -> Output {
    lookalike(line.split(' '))
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// A command that ends as it should.
fn done(output: Output) -> Output {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    output
}

/// A command that fails: status, and what its message must say; nothing on standard output.
fn failed(output: &Output, status: i32, says: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{message}");
    assert!(message.starts_with("error: "), "{message}");
    for what in says {
        assert!(message.contains(what), "`{what}` is not in: {message}");
    }
    assert_eq!(stdout(output), "");
}

/// A finished run over a sample corpus.
fn finished() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    done(lookalike([
        "run",
        "sample-corpora/trec-web/a.gz",
        "-q",
        "-o",
        out.to_str().unwrap(),
    ]));
    (directory, out)
}

#[test]
fn help_of_every_command() {
    let commands = [
        "run",
        "ingest",
        "join",
        "cluster",
        "report",
        "status",
        "inspect",
        "verify",
        "evaluate",
        "plan",
        "study",
        "perturb",
        "qrels",
        "method",
        "compare",
        "query",
        "graph",
        "completions",
        "man",
    ];
    let all = done(line("--help"));
    for command in commands {
        assert!(stdout(&all).contains(&format!(" {command} ")), "{command}");
        for flag in ["-h", "--help"] {
            let help = done(lookalike([command, flag]));
            assert!(stdout(&help).contains(&format!("Usage: lookalike {command} ")));
            assert_eq!(stderr(&help), "");
            for line in stdout(&help).lines() {
                assert!(line.chars().count() <= 100, "{line}");
            }
        }
    }
    // Every flag is documented, with the default that it has.
    let help = done(line("run --help"));
    let flags = [
        "--threshold",
        "--sampling",
        "--join",
        "--max-postings",
        "--tokens",
        "--shingle-size",
        "--short",
        "--fingerprint",
        "--seed",
        "--format",
        "--max-document",
        "--segment-size",
        "--memory",
        "--threads",
        "--ignore-disk-space",
        "--strict",
        "--quiet",
        "--json",
        "--output",
    ];
    for flag in flags {
        assert!(stdout(&help).contains(flag), "{flag}");
    }
    assert!(stdout(&help).contains("[default: 0.85]") && stdout(&help).contains("[default: 10]"));
    let flags: [(&str, &[&str]); 4] = [
        (
            "run",
            &[
                "--precision",
                "--recall",
                "--subset",
                "--ratios",
                "--verified",
                "--candidates",
            ],
        ),
        (
            "plan",
            &[
                "--precision",
                "--recall",
                "--threshold",
                "--ratios",
                "--subset",
                "--plan-seed",
                "--output",
                "[default: 0.8]",
            ],
        ),
        (
            "perturb",
            &[
                "--recipe",
                "--originals",
                "--copies",
                "--every",
                "--alpha",
                "--edit",
                "--edits",
                "--spread",
                "--word",
                "--seed",
                "--no-background",
                "--format",
                "--text-field",
                "[default: 1..50]",
            ],
        ),
        (
            "study",
            &[
                "--ratios",
                "--thresholds",
                "[default: 1/2,1/4,1/8,1/16]",
                "DIR/study",
            ],
        ),
    ];
    for (command, flags) in flags {
        let help = done(lookalike([command, "--help"]));
        for flag in flags {
            assert!(stdout(&help).contains(flag), "{command} {flag}");
        }
    }
    let version = done(line("--version"));
    assert_eq!(
        stdout(&version),
        concat!("lookalike ", env!("CARGO_PKG_VERSION"), "\n")
    );
    // No command at all is wrong usage.
    let nothing = lookalike(Vec::<&str>::new());
    assert_eq!(nothing.status.code(), Some(2));
    assert!(stderr(&nothing).contains("Usage: lookalike COMMAND"));
}

#[test]
fn wrong_usage_is_2_and_names_what_would_be_right() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let cases: [(&str, &[&str]); 16] = [
        ("--threshold 1.5", &["--threshold", "above 0, at most 1"]),
        ("--threshold 0", &["--threshold", "above 0"]),
        ("--threshold half", &["0.85 or 17/20"]),
        ("--sampling 1/4:4", &["--sampling", "classes 0 to 3"]),
        ("--sampling some", &["1/16", "broder97"]),
        ("--fingerprint sha1", &["--fingerprint", "64 or md5"]),
        (
            "--tokens letters",
            &["--tokens", "words", "whitespace", "bytes:"],
        ),
        ("--short drop", &["--short", "whole or skip"]),
        ("--shingle-size 0", &["--shingle-size", "1 to 1000"]),
        ("--memory 4X", &["--memory", "MiB"]),
        ("--threads 0", &["--threads", "1 to 1024"]),
        ("--format pdf", &["--format", "trec-web", "warc"]),
        ("--join hash", &["--join", "count"]),
        ("--max-postings 1", &["--max-postings", "at least 2"]),
        ("--segment-size 10", &["--segment-size", "1KiB"]),
        ("--similarity 0.9", &["--similarity"]),
    ];
    for (arguments, says) in cases {
        let mut all = vec![
            "run",
            "sample-corpora/trec-web/a.gz",
            "-o",
            out.to_str().unwrap(),
        ];
        all.extend(arguments.split(' '));
        let output = lookalike(all);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments}: {}",
            stderr(&output)
        );
        failed(&output, 2, says);
        assert!(!out.exists(), "{arguments} made a directory");
    }
    for missing in [
        "run",
        "run sample-corpora/trec-web/a.gz",
        "status",
        "inspect",
        "verify",
        "join",
    ] {
        let output = line(missing);
        failed(&output, 2, &["required arguments were not provided"]);
    }
}

#[test]
fn wrong_usage_of_perturb_names_what_would_be_right() {
    let directory = tempfile::tempdir().unwrap();
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
            "perturb",
            "sample-corpora/trec-web/a.gz",
            "-o",
            out.to_str().unwrap(),
        ];
        all.extend(arguments.split(' '));
        let output = lookalike(all);
        failed(&output, 2, says);
        assert!(!out.exists(), "{arguments} made a directory");
    }
}

#[test]
fn failures_are_1_and_say_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let run = |input: &str, out: &str| lookalike(["run", input, "-o", out]);
    failed(
        &run("no/such/file", &at("a")),
        1,
        &["cannot read no/such/file", "help: check the path"],
    );
    assert!(!Path::new(&at("a")).exists());

    // A directory with nothing in it.
    fs::create_dir(at("empty")).unwrap();
    failed(
        &run(&at("empty"), &at("b")),
        2,
        &["INPUT", "at least one file"],
    );

    // An output directory that is a file, or belongs to others.
    fs::write(at("file"), "").unwrap();
    failed(
        &run("sample-corpora/trec-web/a.gz", &at("file")),
        1,
        &[&at("file"), "help: "],
    );
    failed(
        &run(
            "sample-corpora/trec-web/a.gz",
            directory.path().to_str().unwrap(),
        ),
        2,
        &["--output", "it is not empty and holds no manifest.json"],
    );

    // What has not been made.
    for command in ["status", "verify", "join", "cluster"] {
        let output = lookalike([command, &at("nothing")]);
        failed(&output, 1, &[&at("nothing"), "lookalike run INPUT"]);
    }
    failed(
        &line("inspect Cargo.toml"),
        1,
        &["Cargo.toml is not a lookalike file"],
    );
    failed(&line("inspect no/such/file"), 1, &["no/such/file"]);
}

/// Names and contents are other people's: none of them clears the screen or writes a line as if it were ours.
#[test]
fn nothing_told_commands_the_terminal() {
    let (_directory, out) = finished();
    let asked = tempfile::tempdir().unwrap();
    let input = asked.path().join("a.jsonl");
    fs::write(&input, r#"{"id":"a\u001b[2J\u009b2J\nerror: b","none":1}"#).unwrap();
    let input = input.to_str().unwrap();
    let output = lookalike(["query", out.to_str().unwrap(), input]);
    let told = stderr(&output);
    assert!(told.contains(r"a\x1b[2J\xc2\x9b2J\x0aerror: b"), "{told:?}");
    let output = lookalike(["verify", "no\u{1b}[2Jsuch"]);
    failed(&output, 1, &[r"no\x1b[2Jsuch"]);
    for output in [stderr(&output), told] {
        assert!(!output.contains(['\u{1b}', '\u{9b}']), "{output:?}");
    }
}

#[test]
fn a_budget_that_is_too_small_names_the_least() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    // A limit that makes the least no round number.
    let run = |memory: &str| {
        let arguments = [
            "run",
            "sample-corpora/trec-web/a.gz",
            "--max-document",
            "1234567",
        ];
        let rest = [
            "--threads",
            "1",
            "--quiet",
            "--memory",
            memory,
            "-o",
            out.to_str().unwrap(),
        ];
        lookalike(arguments.into_iter().chain(rest))
    };
    let output = run("1MiB");
    failed(
        &output,
        1,
        &[
            "--memory 1MiB is too small",
            "needs at least",
            "--max-document",
        ],
    );
    let (_, least) = stderr(&output).split_once("help: give --memory ").unwrap();
    let (least, _) = least.split_once(" or more").unwrap();
    // What it says would do, does.
    done(run(least));
}

#[test]
fn a_directory_in_use_says_by_whom() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web/a.gz");
    let workspace = Run::default().ingest(&[&input], &out).unwrap();
    let holder = format!("is in use by process {}", std::process::id());
    for command in [
        vec!["run", input.to_str().unwrap(), "-o"],
        vec!["join"],
        vec!["cluster"],
    ] {
        let output = lookalike(command.into_iter().chain([out.to_str().unwrap()]));
        failed(&output, 1, &[&holder, "help: wait for it to end"]);
    }
    // To look is not to touch.
    done(lookalike(["status", out.to_str().unwrap()]));
    done(lookalike(["verify", out.to_str().unwrap()]));
    drop(workspace);
}

#[test]
fn quiet_says_nothing() {
    let (_directory, out) = finished();
    let input = [
        "run",
        "sample-corpora/trec-web/a.gz",
        "--quiet",
        "-o",
        out.to_str().unwrap(),
    ];
    for more in [&[][..], &["--threshold", "0.5"], &["--sampling", "1/2"]] {
        let output = done(lookalike(input.iter().chain(more)));
        assert_eq!((stdout(&output), stderr(&output)), ("", ""));
    }
    // But errors are said.
    let output = lookalike(input.iter().chain(&["--shingle-size", "5"]));
    failed(
        &output,
        1,
        &[
            "was made with --shingle-size 10; this command says 5",
            "start in a new",
        ],
    );
}

#[test]
fn progress_goes_to_standard_error_as_lines() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let output = done(lookalike([
        "run",
        "sample-corpora/trec-web/a.gz",
        "-o",
        out,
        "--spill",
        "always",
    ]));
    let stages = [
        "ingest",
        "catalogue",
        "sample",
        "sort",
        "merge",
        "join",
        "cluster",
    ];
    for (line, stage) in stderr(&output).lines().zip(stages) {
        assert!(line.starts_with(&format!("{stage}: ")), "{line}");
    }
    assert_eq!(stderr(&output).lines().count(), stages.len());
    assert!(!stderr(&output).contains('\x1b') && !stdout(&output).contains('\x1b'));
    assert!(stdout(&output).contains(&format!("results in {out}")));
}

#[test]
fn json_is_json_and_the_summary() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let out = out.to_str().unwrap();
    let output = done(lookalike([
        "run",
        "sample-corpora/warc/a.warc.gz",
        "--json",
        "-o",
        out,
    ]));
    let printed: Value = serde_json::from_str(stdout(&output)).unwrap();
    let written = fs::read_to_string(Path::new(out).join("summary.json")).unwrap();
    assert_eq!(printed, serde_json::from_str::<Value>(&written).unwrap());
    assert_eq!(printed["ingest"]["documents"], 95);
    assert_eq!(printed["catalogue"]["exact_duplicates"], 18);
    assert_eq!(
        printed["join"]["pairs"].as_u64(),
        Some(count_rows(out, "pairs.tsv"))
    );
    let clusters = fs::read_to_string(Path::new(out).join("clusters.jsonl")).unwrap();
    assert_eq!(
        printed["cluster"]["clusters"].as_u64(),
        Some(clusters.lines().count() as u64)
    );
    let status = done(lookalike(["status", "--json", out]));
    let status: Value = serde_json::from_str(stdout(&status)).unwrap();
    assert_eq!(status["ingest"], printed["ingest"]);
    assert_eq!(status["cluster"], printed["cluster"]);
}

fn count_rows(out: &str, name: &str) -> u64 {
    common::rows_of(Path::new(out), name).len() as u64
}

#[test]
fn stages_as_commands_make_the_same_as_run() {
    let (_directory, whole) = finished();
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let states = |expected: [&str; 3]| {
        let status = done(lookalike(["status", out]));
        for (stage, expected) in ["ingest", "join", "cluster"].into_iter().zip(expected) {
            let line = stdout(&status)
                .lines()
                .find(|line| line.starts_with(stage))
                .unwrap();
            assert!(
                line[stage.len()..].trim_start().starts_with(expected),
                "{line}"
            );
        }
    };
    done(lookalike([
        "ingest",
        "sample-corpora/trec-web/a.gz",
        "-o",
        out,
    ]));
    states(["done", "not begun", "not begun"]);
    failed(
        &lookalike(["cluster", "--quiet", out]),
        1,
        &["has no committed join stage"],
    );
    done(lookalike(["join", out, "--threshold", "0.3"]));
    states(["done", "done (threshold 0.3)", "not begun"]);
    done(lookalike(["join", out]));
    done(lookalike(["cluster", out]));
    states(["done", "done (threshold 0.85)", "done"]);
    let (found, expected) = (common::results(directory.path()), common::results(&whole));
    common::assert_same_files(&found, &expected, "stage by stage");
}

#[test]
fn strict_fails_and_shows_the_rejects() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let run = ["run", "sample-corpora/broken/bad-line.jsonl", "-o", out];
    let output = lookalike(run.iter().chain(&["--strict", "-q"]));
    failed(
        &output,
        1,
        &[
            "1 records were rejected (--strict)",
            "bad-line.jsonl",
            "not valid JSON",
        ],
    );
    assert!(stderr(&output).contains("rejects.jsonl"));
    let rejects = fs::read_to_string(directory.path().join("rejects.jsonl")).unwrap();
    assert!(rejects.contains("not valid JSON"), "{rejects}");
    // Without it, they are only reported: in the same directory, at once.
    let output = done(lookalike(run));
    let reported = stdout(&output)
        .lines()
        .find(|line| line.contains("not valid JSON"));
    assert!(
        reported.is_some_and(|line| line.ends_with(" 1")),
        "{}",
        stdout(&output)
    );
    // Notices are not rejects.
    let other = tempfile::tempdir().unwrap();
    let out = other.path().to_str().unwrap();
    let input = "sample-corpora/broken/invalid-utf8.jsonl";
    done(lookalike(["run", input, "--strict", "-o", out]));
}

/// Every kind of file can be printed: of a finished run, and of one that stopped with runs.
#[test]
fn inspect_prints_every_kind_of_file() {
    let directory = tempfile::tempdir().unwrap();
    let input = write_jsonl(directory.path(), &random_corpus(3, Shape::default()), 1);
    fs::write(
        input.join("more.jsonl"),
        "{\"id\": \"D0001\", \"text\": \"again\"}\n{broken\n",
    )
    .unwrap();
    let mut kinds = BTreeSet::new();
    for fingerprint in ["64", "md5"] {
        let run = Run::default()
            .fingerprint(fingerprint)
            .threshold("0.3")
            .shingle_size(3);
        let (whole, part) = (
            directory.path().join("whole"),
            directory.path().join("part"),
        );
        run.run(&[&input], &whole).unwrap();
        let mut workspace = run.ingest(&[&input], &part).unwrap();
        let (stop, sampling) = (Stop::default(), run.question.sampling.clone());
        let context = run.context(&stop, &Silent);
        if fingerprint == "md5" {
            sample::run::<u128>(&mut workspace, &sampling, &context).unwrap();
            sort::form_runs::<u128>(&mut workspace, &context).unwrap();
        } else {
            sample::run::<u64>(&mut workspace, &sampling, &context).unwrap();
            sort::form_runs::<u64>(&mut workspace, &context).unwrap();
        }
        drop(workspace);
        for path in paths(&whole).into_iter().chain(paths(&part)) {
            let name = path.file_name().unwrap().to_str().unwrap().to_string();
            let text = ["lock", "inputs.jsonl", "manifest.json", "summary.json"].contains(&&*name)
                || RESULTS.contains(&&*name);
            if text {
                continue;
            }
            let path = path.to_str().unwrap();
            let output = done(lookalike(["inspect", path]));
            let lines: Vec<&str> = stdout(&output).lines().collect();
            assert!(
                lines[0].starts_with("# ") && lines[0].contains(" part "),
                "{path}: {lines:?}"
            );
            assert!(
                lines[1].starts_with("# ") && lines[1].contains("checksum"),
                "{path}"
            );
            assert!(lines.len() <= 102, "{path}: {} lines", lines.len());
            let records: usize = lines[1][2..].split(' ').next().unwrap().parse().unwrap();
            if records > 0 {
                assert!(lines.len() > 2, "{path} prints no record");
                let fewer = done(lookalike(["inspect", path, "--records", "1"]));
                let fewer: Vec<&str> = stdout(&fewer).lines().collect();
                assert_eq!(fewer.len(), 3, "{path}");
                // Names have no records of their own: a part of the text is shown.
                if !path.ends_with(".names") {
                    assert_eq!(fewer, lines[..3], "{path}");
                }
                kinds.insert(name.rsplit('.').next().unwrap().to_string());
            }
        }
        fs::remove_dir_all(whole).unwrap();
        fs::remove_dir_all(part).unwrap();
    }
    let expected = [
        "col", "docs", "fps", "names", "pairs", "post", "rejects", "run",
    ];
    assert_eq!(
        kinds.iter().collect::<Vec<_>>(),
        expected,
        "kinds with records in them"
    );
}

/// The pair list printed is the pair list written.
#[test]
fn inspect_shows_the_pairs() {
    let (_directory, out) = finished();
    let path = out.join("pairs/000000.pairs");
    let output = done(lookalike([
        "inspect",
        path.to_str().unwrap(),
        "--records",
        "1000",
    ]));
    let docnos: Vec<String> = common::rows_of(&out, "documents.tsv")
        .iter()
        .map(|row| row.split('\t').next().unwrap().to_string())
        .collect();
    let printed = stdout(&output)
        .lines()
        .filter(|line| !line.starts_with('#'));
    let printed: Vec<String> = printed
        .map(|line| {
            let numbers: Vec<usize> = line.split(' ').map(|n| n.parse().unwrap()).collect();
            format!(
                "{}\t{}\t{}",
                docnos[numbers[0]], docnos[numbers[1]], numbers[2]
            )
        })
        .collect();
    let written = common::rows_of(&out, "pairs.tsv").into_iter().map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        format!("{}\t{}\t{}", cells[0], cells[1], cells[3])
    });
    assert_eq!(printed, written.collect::<Vec<_>>());
    assert!(!printed.is_empty());
}

#[test]
fn verify_says_what_is_damaged() {
    let (_directory, out) = finished();
    let verify = || lookalike(["verify", out.to_str().unwrap()]);
    let output = done(verify());
    assert!(
        stdout(&output).ends_with(", 0 damaged\n"),
        "{}",
        stdout(&output)
    );
    assert_eq!(stderr(&output), "");
    let path = out.join("postings/000000.post");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 4;
    fs::write(&path, bytes).unwrap();
    fs::remove_file(out.join("pairs.tsv")).unwrap();
    let output = verify();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).ends_with(", 2 damaged\n"),
        "{}",
        stdout(&output)
    );
    for name in ["000000.post", "pairs.tsv"] {
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
    }
}

/// `lookalike status DIR | head -1` and the like.
#[test]
fn a_reader_who_goes_away_is_no_failure() {
    let (_directory, out) = finished();
    let out = out.to_str().unwrap();
    let post = format!("{out}/postings/000000.post");
    let commands = [
        vec!["status", out],
        vec!["status", "--json", out],
        vec!["verify", out],
        vec!["inspect", "--records", "1000000", &post],
        vec!["run", "sample-corpora/trec-web/a.gz", "-o", out],
        vec!["run", "sample-corpora/trec-web/a.gz", "--json", "-o", out],
    ];
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(&arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    }
}

/// Standard input is an input.
#[test]
fn standard_input_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let random = &mut Random(5);
    let words: Vec<String> = (0..50).map(|_| random.below(1000).to_string()).collect();
    let lines = format!(
        "{{\"id\":\"a\",\"text\":\"{0}\"}}\n{{\"id\":\"b\",\"text\":\"{0} more\"}}\n",
        words.join(" ")
    );
    fs::write(directory.path().join("input"), lines).unwrap();
    let out = directory.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.args(["run", "-", "-q", "-o", out.to_str().unwrap()]);
    command.stdin(fs::File::open(directory.path().join("input")).unwrap());
    done(command.output().unwrap());
    assert_eq!(
        common::rows_of(&out, "pairs.tsv"),
        ["a\tb\t0.976190\t41\t41\t42"]
    );
}

/// A block of the README: a command, and what it is said to print.
struct Shown {
    command: Vec<String>,
    printed: String,
}

const BEGIN: &str = "<!-- output of: ";
const END: &str = "<!-- end -->";

fn shown(readme: &str) -> Vec<Shown> {
    let parts = readme.split(BEGIN).skip(1);
    let block = |part: &str| {
        let (command, rest) = part.split_once("-->").expect("a comment ends");
        let (block, _) = rest.split_once(END).expect("a block ends");
        let fenced = block.trim().strip_prefix("```");
        let fenced = fenced.and_then(|text| text.strip_suffix("```"));
        // Nothing shown yet is nothing printed.
        let printed = fenced.and_then(|text| text.split_once('\n'));
        Shown {
            command: command.split_whitespace().map(String::from).collect(),
            printed: printed.map_or(String::new(), |(_, lines)| lines.to_string()),
        }
    };
    parts.map(block).collect()
}

/// The README with other output in its blocks.
fn with_output(readme: &str, outputs: &[String]) -> String {
    let mut parts = readme.split(BEGIN);
    let mut out = parts.next().unwrap_or_default().to_string();
    for (part, output) in parts.zip(outputs) {
        let (command, rest) = part.split_once("-->").expect("a comment ends");
        let (_, after) = rest.split_once(END).expect("a block ends");
        let lines: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
        let lines = lines.join("\n");
        let fenced = match lines.as_str() {
            "" => String::new(),
            lines => format!("```text\n{lines}\n```\n"),
        };
        out += &format!("{BEGIN}{command}-->\n{fenced}{END}{after}");
    }
    out
}

/// Lines without what differs from one run to the next: seconds, sizes, the width of columns.
fn normal(text: &str) -> Vec<String> {
    let word = |word: &str| {
        let number = |text: &str, decimals: usize| {
            let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
            let (whole, part) = text.split_once('.').unwrap_or((text, ""));
            digits(whole) && (part.is_empty() || digits(part)) && part.len() == decimals
        };
        let bare = word.trim_matches(|c| matches!(c, ',' | '(' | ')'));
        let size = ["KiB", "MiB", "GiB"]
            .iter()
            .find_map(|unit| bare.strip_suffix(unit));
        if size.is_some_and(|n| number(n, 0) || number(n, 1) || number(n, 2)) {
            word.replace(bare, "SIZE")
        } else if number(bare, 2) && bare == word {
            "SECONDS".to_string()
        } else {
            word.to_string()
        }
    };
    let lines = text.trim_end().lines();
    lines
        .map(|line| {
            line.split_whitespace()
                .map(word)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

/// Prints what a command of the README prints: one of ours, or `head -N FILE`.
fn output_of(command: &[String]) -> String {
    match command[0].as_str() {
        "lookalike" => stdout(&done(lookalike(&command[1..]))).to_string(),
        "head" => {
            let count: usize = command[1].trim_start_matches('-').parse().unwrap();
            let text = fs::read_to_string(&command[2]).unwrap();
            text.lines()
                .take(count)
                .map(|line| format!("{line}\n"))
                .collect()
        }
        other => panic!("the README may show the output of lookalike and of head, not of {other}"),
    }
}

/// What the README shows is what the program prints. A directory given with `-o` is a temporary one
/// here; the blocks after it that name it find it there. With `LOOKALIKE_REWRITE_README` set, the
/// README gets the true output.
#[test]
fn the_readme_shows_true_output() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let blocks = shown(&readme);
    assert!(!blocks.is_empty(), "the README shows no output");
    let directory = tempfile::tempdir().unwrap();
    let place = format!("{}/", directory.path().display());
    let (mut directories, mut outputs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for block in &blocks {
        for pair in block.command.windows(2) {
            if pair[0] == "-o" || pair[0] == "--output" {
                directories.push(pair[1].clone());
            }
        }
        let placed = |argument: &String| {
            let inside = |out: &String| argument == out || argument.starts_with(&format!("{out}/"));
            if directories.iter().any(inside) {
                format!("{place}{argument}")
            } else {
                argument.clone()
            }
        };
        let command: Vec<String> = block.command.iter().map(placed).collect();
        outputs.push(output_of(&command).replace(&place, ""));
    }
    if std::env::var_os("LOOKALIKE_REWRITE_README").is_some() {
        fs::write(&path, with_output(&readme, &outputs)).unwrap();
        return;
    }
    for (block, output) in blocks.iter().zip(&outputs) {
        let command = block.command.join(" ");
        assert_eq!(
            normal(output),
            normal(&block.printed),
            "{command} (LOOKALIKE_REWRITE_README=1 writes what is true)"
        );
    }
}

#[test]
fn what_the_readme_test_takes_for_equal() {
    let readme = "x\n<!-- output of: lookalike run a -o out -->\n```text\nall 1.33 0.76 20MiB\n\
                  pairs  7\n```\n<!-- end -->\ny";
    let blocks = shown(readme);
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].command, ["lookalike", "run", "a", "-o", "out"]);
    assert_eq!(
        normal(&blocks[0].printed),
        ["all SECONDS SECONDS SIZE", "pairs 7"]
    );
    let rewritten = with_output(readme, &["new  \n".into()]);
    let block = "<!-- output of: lookalike run a -o out -->\n```text\nnew\n```\n<!-- end -->";
    assert_eq!(rewritten, format!("x\n{block}\ny"));
    assert_eq!(shown("<!-- output of: a -->\n<!-- end -->")[0].printed, "");
    assert_eq!(
        normal("a  0.833333\n\n2 files, 3.5KiB (7)"),
        ["a 0.833333", "", "2 files, SIZE (7)"]
    );
}

/// Results of another question do not stay where the new question's pairs are.
#[test]
fn join_removes_results_that_are_no_longer_true() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let out = out.to_str().unwrap();
    let shown = || fs::read_to_string(format!("{out}/pairs.tsv"));
    done(line(&format!(
        "run sample-corpora/trec-web/a.gz -o {out} --quiet"
    )));
    assert!(shown().unwrap().contains("# threshold: 0.85\n"));
    done(line(&format!("join {out} --threshold 0.5 --quiet")));
    assert!(shown().is_err());
    // The same question again leaves nothing to do, and nothing to remove.
    done(line(&format!("cluster {out} --quiet")));
    done(line(&format!("join {out} --threshold 0.5 --quiet")));
    assert!(shown().unwrap().contains("# threshold: 0.5\n"));
}

#[test]
fn a_report_is_a_page_in_the_directory_or_elsewhere() {
    let (directory, out) = finished();
    let at = out.to_str().unwrap();
    let reported = done(lookalike(["report", at]));
    assert_eq!(stdout(&reported), format!("page in {at}/report.html\n"));
    assert!(stderr(&reported).contains("0 of their texts missing"));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.ends_with("</html>\n") && page.contains("<del>"));
    let elsewhere = directory.path().join("page.html");
    let to = elsewhere.to_str().unwrap();
    let quiet = done(lookalike([
        "report", at, "-o", to, "-q", "--memory", "300MiB",
    ]));
    assert_eq!((stdout(&quiet), stderr(&quiet)), ("", ""));
    assert!(fs::read_to_string(&elsewhere).unwrap() == page);
    let small = lookalike(["report", at, "--memory", "8MiB"]);
    failed(&small, 1, &["--memory 8MiB is too small", "help: give"]);
    // The page is not in the way of what else is done there, and goes when it is no longer true.
    done(lookalike(["verify", at]));
    done(lookalike(["join", at, "-q", "--threshold", "0.5"]));
    assert!(!out.join("report.html").exists());
    failed(
        &lookalike(["report", at]),
        1,
        &[
            "no committed cluster stage",
            "help: run `lookalike cluster ",
        ],
    );
}

#[test]
fn a_report_says_that_standard_input_cannot_be_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let at = out.to_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.stdin(fs::File::open(sample_corpora("trec-web/a.gz")).unwrap());
    done(command.args(["run", "-", "-q", "-o", at]).output().unwrap());
    done(lookalike(["report", at]));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("standard input, which cannot be read again"));
}

/// Documents of four size groups, with many pairs about the threshold.
fn many(directory: &Path) -> PathBuf {
    let shape = Shape {
        families: 150,
        members: 8,
        words: 200,
        vocabulary: 400,
        boilerplate: 40,
    };
    write_jsonl(directory, &random_corpus(90, shape), 2)
}

/// The pairs listed, without the comments that say how they were found.
fn pairs_of(out: &str) -> Vec<String> {
    rows_of(Path::new(out), "pairs.tsv")
}

#[test]
fn run_plans_for_a_precision() {
    let directory = tempfile::tempdir().unwrap();
    let input = many(directory.path());
    let input = input.to_str().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let out = at("out");
    let run = |out: &str, rest: &str| {
        let line = format!(
            "run {input} -o {out} --shingle-size 2 --threshold 0.5 --size-groups 60,90,120 {rest}"
        );
        lookalike(line.split(' '))
    };
    let asked = "--precision 0.8 --subset 60% --plan-seed 3 --ratios 1/2,1/4,1/8";
    let first = done(run(&out, asked));
    assert!(stderr(&first).contains("plan: "), "{}", stderr(&first));
    let summary = fs::read_to_string(format!("{out}/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let groups = summary["plan"]["groups"].as_array().unwrap();
    let ratios: Vec<&str> = groups
        .iter()
        .map(|g| g["ratio"].as_str().unwrap())
        .collect();
    assert_eq!(ratios.len(), 4);
    assert!(
        ratios.iter().any(|ratio| *ratio != ratios[0]),
        "one ratio for all: {ratios:?}"
    );
    assert_eq!(summary["plan"]["config"]["target"]["precision"], "0.8");
    let pairs = pairs_of(&out);
    assert!(pairs.len() > 50);
    assert!(!Path::new(&out).join("plan").exists());
    // The same again finds everything there.
    let names = ["pairs.tsv", "clusters.jsonl", "plan.toml"];
    let times = || {
        names.map(|name| {
            fs::metadata(format!("{out}/{name}"))
                .unwrap()
                .modified()
                .unwrap()
        })
    };
    let before = times();
    let again = done(run(&out, asked));
    assert_eq!(times(), before);
    assert!(
        !stderr(&again).contains("plan: ") && !stderr(&again).contains("join: "),
        "{}",
        stderr(&again)
    );
    // Its plan, or the ratios of it, in one go.
    let plan = format!("{out}/plan.toml");
    done(run(&at("given"), &format!("--sampling {plan} -q")));
    assert_eq!(pairs_of(&at("given")), pairs);
    done(run(
        &at("list"),
        &format!("--sampling {} -q", ratios.join(",")),
    ));
    assert_eq!(pairs_of(&at("list")), pairs);
    // `plan` makes the same, in the same place or another.
    done(line(&format!(
        "ingest {input} -o {} --shingle-size 2 --size-groups 60,90,120 -q",
        at("alone")
    )));
    let asked = "--precision 0.8 --threshold 0.5 --subset 60% --plan-seed 3 --ratios 1/2,1/4,1/8";
    let printed = done(line(&format!("plan {} {asked}", at("alone"))));
    assert!(stdout(&printed).contains(&format!("plan in {}/plan.toml", at("alone"))));
    done(line(&format!(
        "plan {} {asked} -q -o {}",
        at("alone"),
        at("here.toml")
    )));
    for path in [format!("{}/plan.toml", at("alone")), at("here.toml")] {
        assert_eq!(fs::read(path).unwrap(), fs::read(&plan).unwrap());
    }
    let json = done(line(&format!("plan {} {asked} --json", at("alone"))));
    let json: Value = serde_json::from_str(stdout(&json)).unwrap();
    assert_eq!(json["groups"], summary["plan"]["groups"]);
    // Of another threshold, or another collection, it is refused.
    let other = run(&at("other"), &format!("--sampling {plan} --threshold 0.6"));
    assert_eq!(other.status.code(), Some(2), "the threshold twice");
    let other = line(&format!(
        "run {input} -o {} --shingle-size 2 --threshold 0.6 --size-groups 60,90,120 --sampling {plan}",
        at("other")
    ));
    failed(
        &other,
        1,
        &[
            "--threshold",
            "0.6",
            "0.5",
            "help: make a plan for these parameters",
        ],
    );
    let other = line(&format!(
        "run {input} -o {} --threshold 0.5 --sampling {plan}",
        at("other")
    ));
    failed(&other, 1, &["--shingle-size", "10", "2"]);
    assert!(!Path::new(&at("other")).exists());
}

#[test]
fn verified_sampling_belongs_to_sampling() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let out = out.to_str().unwrap();
    let cases: [(&str, &[&str]); 6] = [
        ("--verified", &["--verified", "full"]),
        (
            "--sampling 1/4 --candidates 0.5",
            &["--candidates", "--verified"],
        ),
        (
            "--sampling 1/4 --verified --candidates 0.9",
            &["--candidates", "0.9", "0.85"],
        ),
        (
            "--sampling 1/4 --verified --pairs none",
            &["--verified", "--pairs none"],
        ),
        (
            "--sampling 1/4 --precision 0.8",
            &["--sampling", "--precision"],
        ),
        ("--subset 10%", &["--precision"]),
    ];
    for (arguments, says) in cases {
        let line = format!("run sample-corpora/trec-web/a.gz -o {out} {arguments}");
        let output = lookalike(line.split(' '));
        let message = stderr(&output);
        assert!(
            matches!(output.status.code(), Some(1 | 2)),
            "{arguments}: {message}"
        );
        for what in says {
            assert!(
                message.contains(what),
                "{arguments}: `{what}` is not in: {message}"
            );
        }
        assert!(!Path::new(out).exists(), "{arguments}");
    }
    let run = "run sample-corpora/trec-web -q --sampling 1/4 --threshold 0.5";
    done(line(&format!("{run} -o {out} --verified --candidates 0.3")));
    let found = pairs_of(out);
    let exact = directory.path().join("exact");
    let exact = exact.to_str().unwrap();
    done(line(&format!(
        "run sample-corpora/trec-web -q --threshold 0.5 -o {exact}"
    )));
    let all: BTreeSet<String> = pairs_of(exact).into_iter().collect();
    assert!(!found.is_empty() && found.iter().all(|row| all.contains(row)));
}

#[test]
fn study_writes_tables_and_figures() {
    let (_directory, out) = finished();
    let out = out.to_str().unwrap();
    let study = done(line(&format!(
        "study {out} --ratios 1/2,1/4 --thresholds 0.5,0.85"
    )));
    assert!(stdout(&study).contains(&format!("tables and figures in {out}/study")));
    for name in [
        "figure1.svg",
        "summary.csv",
        "trials.csv",
        "study.json",
        "trials/1-4-3.json",
    ] {
        assert!(Path::new(out).join("study").join(name).is_file(), "{name}");
    }
    let json = done(line(&format!(
        "study {out} --ratios 1/2,1/4 --thresholds 0.5,0.85 --json"
    )));
    let json: Value = serde_json::from_str(stdout(&json)).unwrap();
    // The exact run, two classes of a half, four of a quarter.
    assert_eq!(json[0]["trials"].as_array().unwrap().len(), 7);
    failed(
        &line(&format!("study {out} --ratios 1/2,1/2048")),
        2,
        &["--ratios", "1/2,1/2048"],
    );
    failed(
        &line(&format!("study {out} --thresholds 0.9,0.5")),
        2,
        &["--thresholds", "0.9,0.5"],
    );
    done(line(&format!("verify {out}")));
}
