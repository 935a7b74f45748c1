//! The command: what it says, where it says it, and with which status it ends.

use crate::common;
use lookalike::Error;
use lookalike::base::ids::Threshold;
use lookalike::base::measure::Measure;
use lookalike::base::numbers::count;
use lookalike::base::progress::{Progress, Silent, Stop};
use lookalike::cli::{Failure, Host, execute};
use lookalike::engine::sample;
use lookalike::engine::sort;
use lookalike::methods::{DECO_THRESHOLDS, Spec};

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::corpus::{Random, Shape, random_corpus, write_jsonl};
use common::{RESULTS, Run, paths, sample_corpora};
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
    let directory = common::temporary();
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

/// The thresholds of Bernstein & Zobel 2006, Table 1, are the same in the documentation, the
/// help and the method.
#[test]
fn the_thresholds_of_deco_are_the_same_everywhere() {
    let guide = fs::read_to_string("docs/laboratory/methods.md").unwrap();
    for (score, row) in (1..).zip(DECO_THRESHOLDS) {
        let number = |hundredths: u64| match score {
            1 => count(hundredths / 100),
            _ => format!("{}.{:02}", hundredths / 100, hundredths % 100),
        };
        let cells = row.map(number).join(" | ");
        let line = format!("| S{score} | {cells} |");
        assert!(guide.contains(&line), "{line}");
    }
    let t3 = DECO_THRESHOLDS[2][2] as f64 / 100.0;
    let help = done(line("run --help"));
    let help: Vec<&str> = stdout(&help).split_whitespace().collect();
    let help = help.join(" ");
    for said in [
        format!("its threshold T3 is {t3} for s3"),
        format!("--score s3 --threshold {t3}"),
    ] {
        assert!(help.contains(&said), "{said}");
    }
    assert!(guide.contains(&format!("--score s3 --threshold {t3:.2}")));
    // The method takes T3 of S3 by default.
    let default = Spec::read("deco").unwrap().method.join;
    assert_eq!(default.measure, Measure::S3);
    assert_eq!(
        Some(default.threshold),
        Threshold::new(DECO_THRESHOLDS[2][2], 100)
    );
}

#[test]
fn help_of_run_and_plan() {
    // Every flag is documented, with the default that it has.
    let mut help = done(line("run --help"));
    for topic in ["inputs", "shingles", "sampling", "resources"] {
        let page = done(lookalike(["help", topic]));
        help.stdout.extend(page.stdout);
    }
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
    let flags: [(&str, &[&str]); 2] = [
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
    let directory = common::temporary();
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
        "check inspect",
        "check verify",
        "stage join",
    ] {
        let output = line(missing);
        failed(&output, 2, &["required arguments were not provided"]);
    }
}

#[test]
fn failures_are_1_and_say_what_to_do() {
    let directory = common::temporary();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let run = |input: &str, out: &str| lookalike(["run", input, "-o", out]);
    failed(
        &run("no/such/file", &at("a")),
        1,
        &[
            "no such file or directory: no/such/file",
            "help: check the path",
        ],
    );
    assert!(!Path::new(&at("a")).exists());

    // A directory with nothing in it.
    fs::create_dir(at("empty")).unwrap();
    failed(
        &run(&at("empty"), &at("b")),
        2,
        &[&at("empty"), "nothing to read", "help: give a file"],
    );

    // An output directory that is a file, or belongs to others.
    fs::write(at("file"), "").unwrap();
    failed(
        &run("sample-corpora/trec-web/a.gz", &at("file")),
        2,
        &[&at("file"), "give another path"],
    );
    failed(
        &run(
            "sample-corpora/trec-web/a.gz",
            directory.path().to_str().unwrap(),
        ),
        2,
        &["--output", "it is not empty and has no manifest.json"],
    );

    // A directory that has not been made.
    for command in ["status", "check verify", "stage join", "stage cluster"] {
        let output = line(&format!("{command} {}", at("nothing")));
        failed(&output, 1, &[&at("nothing"), "lookalike run INPUT"]);
    }
    failed(
        &line("check inspect Cargo.toml"),
        1,
        &["Cargo.toml is a text file"],
    );
    failed(&line("check inspect no/such/file"), 1, &["no/such/file"]);
}

/// Names and contents are other people's: none of them clears the screen or writes a line as if it
/// were ours.
#[test]
fn nothing_told_commands_the_terminal() {
    let (_directory, out) = finished();
    let asked = common::temporary();
    let input = asked.path().join("a.jsonl");
    fs::write(&input, r#"{"id":"a\u001b[2J\u009b2J\nerror: b","none":1}"#).unwrap();
    let input = input.to_str().unwrap();
    let output = lookalike(["query", out.to_str().unwrap(), input]);
    let told = stderr(&output);
    assert!(told.contains(r"a\x1b[2J\xc2\x9b2J\x0aerror: b"), "{told:?}");
    let output = lookalike(["check", "verify", "no\u{1b}[2Jsuch"]);
    failed(&output, 1, &[r"no\x1b[2Jsuch"]);
    for output in [stderr(&output), told] {
        assert!(!output.contains(['\u{1b}', '\u{9b}']), "{output:?}");
    }
}

#[test]
fn a_budget_that_is_too_small_names_the_least() {
    let directory = common::temporary();
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
    let directory = common::temporary();
    let out = directory.path().join("out");
    let input = sample_corpora("trec-web/a.gz");
    let workspace = Run::default().ingest(&[&input], &out).unwrap();
    let holder = format!("is in use by process {}", std::process::id());
    for command in [
        vec!["run", input.to_str().unwrap(), "-o"],
        vec!["stage", "join"],
        vec!["stage", "cluster"],
    ] {
        let output = lookalike(command.into_iter().chain([out.to_str().unwrap()]));
        failed(&output, 1, &[&holder, "help: wait for it to end"]);
    }
    // To look is not to touch.
    done(lookalike(["status", out.to_str().unwrap()]));
    done(lookalike(["check", "verify", out.to_str().unwrap()]));
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
    let directory = common::temporary();
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
    for (n, (line, stage)) in stderr(&output).lines().zip(stages).enumerate() {
        let begin = format!("{} of 7 {stage}: ", n + 1);
        assert!(line.starts_with(&begin), "{line}");
    }
    assert_eq!(stderr(&output).lines().count(), stages.len());
    assert!(!stderr(&output).contains('\x1b') && !stdout(&output).contains('\x1b'));
    assert!(stdout(&output).contains(&format!("Results in {out}.")));
}

#[test]
fn progress_as_json_is_one_object_on_a_line() {
    let directory = common::temporary();
    let out = directory.path().to_str().unwrap();
    let arguments = ["run", "sample-corpora/trec-web/a.gz", "-o", out];
    let form = ["--progress", "json", "--quiet"];
    let output = done(lookalike(arguments.into_iter().chain(form)));
    let lines: Vec<Value> = stderr(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ended = lines.iter().filter(|line| line["event"] == "end");
    let ended: Vec<&str> = ended.filter_map(|line| line["stage"].as_str()).collect();
    assert_eq!(
        ended,
        [
            "ingest",
            "catalogue",
            "sample",
            "sort",
            "merge",
            "join",
            "cluster"
        ]
    );
    for line in &lines {
        assert!(line["seconds"].is_number(), "{line}");
        let of_stage = line["event"] == "start" || line["event"] == "progress";
        assert!(!of_stage || line["done"].is_u64(), "{line}");
    }
}

/// A host that keeps what it is given.
#[derive(Default)]
struct Keeping {
    said: std::sync::Mutex<String>,
    stop: Stop,
}

impl Host for Keeping {
    fn say(&self, text: &str) -> lookalike::Result<()> {
        self.said.lock().unwrap().push_str(text);
        Ok(())
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn progress(&self, _: bool, _: &[&str]) -> Box<dyn Progress + '_> {
        Box::new(Silent)
    }
}

#[test]
fn another_host_gets_what_the_program_prints() {
    let directory = common::temporary();
    let out = directory.path().to_str().unwrap();
    let arguments = ["run", "sample-corpora/warc/a.warc.gz", "--json", "-o", out];
    let host = Keeping::default();
    execute(arguments.map(Into::into), &host).unwrap();
    // Each call adds what it cost.
    let without_costs = |json: &str| {
        let mut summary: Value = serde_json::from_str(json).unwrap();
        assert!(summary["costs"].take().is_object());
        summary
    };
    let said = without_costs(&host.said.lock().unwrap());
    assert_eq!(said, without_costs(stdout(&done(lookalike(arguments)))));

    let stopped = Keeping::default();
    stopped.stop.request();
    let other = common::temporary();
    let other = other.path().to_str().unwrap();
    let arguments = ["run", "sample-corpora/warc", "-o", other];
    let failure = execute(arguments.map(Into::into), &stopped).unwrap_err();
    assert!(
        matches!(&failure, Failure::Failed(error) if matches!(**error, Error::Interrupted { .. })),
        "{failure:?}"
    );
    let failure = execute(["run".into(), "--no-such-flag".into()], &stopped).unwrap_err();
    assert!(matches!(failure, Failure::Usage(_)), "{failure:?}");
}

#[test]
fn json_is_json_and_the_summary() {
    let directory = common::temporary();
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
    let directory = common::temporary();
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
        "stage",
        "ingest",
        "sample-corpora/trec-web/a.gz",
        "-o",
        out,
    ]));
    states(["done", "not begun", "not begun"]);
    failed(
        &lookalike(["stage", "cluster", "--quiet", out]),
        1,
        &["has no committed join stage"],
    );
    done(lookalike(["stage", "join", out, "--threshold", "0.3"]));
    states(["done", "done (threshold 0.3)", "done"]);
    done(lookalike(["stage", "join", out]));
    states(["done", "done (threshold 0.3)", "done"]);
    done(lookalike(["stage", "join", out, "--threshold", "0.85"]));
    fs::remove_file(directory.path().join("pairs.tsv")).unwrap();
    done(lookalike(["stage", "cluster", out]));
    states(["done", "done (threshold 0.85)", "done"]);
    let (found, expected) = (common::results(directory.path()), common::results(&whole));
    common::assert_same_files(&found, &expected, "stage by stage");
}

#[test]
fn strict_fails_and_shows_the_rejects() {
    let directory = common::temporary();
    let out = directory.path().to_str().unwrap();
    let run = ["run", "sample-corpora/broken/bad-line.jsonl", "-o", out];
    let output = lookalike(run.iter().chain(&["--strict", "-q"]));
    failed(
        &output,
        1,
        &[
            "1 record rejected (--strict)",
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
        reported.is_some_and(|line| line.contains("(not valid JSON 1)")),
        "{}",
        stdout(&output)
    );
    // Notices are not rejects.
    let other = common::temporary();
    let out = other.path().to_str().unwrap();
    let input = "sample-corpora/broken/invalid-utf8.jsonl";
    done(lookalike(["run", input, "--strict", "-o", out]));
}

/// Every kind of file can be printed: of a finished run, and of one that stopped with runs.
#[test]
fn inspect_prints_every_kind_of_file() {
    let help = lookalike(["check", "inspect", "--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for kind in lookalike::store::Kind::ALL {
        let name = format!(".{}", kind.extension());
        assert!(help.contains(&name), "{name} is not in: {help}");
    }
    let directory = common::temporary();
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
            let output = done(lookalike(["check", "inspect", path]));
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
                let fewer = done(lookalike(["check", "inspect", path, "--most", "1"]));
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
        "check",
        "inspect",
        path.to_str().unwrap(),
        "--most",
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
    let verify = || lookalike(["check", "verify", out.to_str().unwrap()]);
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
        vec!["check", "verify", out],
        vec!["check", "inspect", "--most", "1000000", &post],
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
    let directory = common::temporary();
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
