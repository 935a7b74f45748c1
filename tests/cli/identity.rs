//! Inputs are known by their places, and a run that cannot be useful says so and leaves nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::rows_of;

/// Runs a command line in a directory.
fn lookalike(place: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.current_dir(place).args(line.split(' '));
    command.output().unwrap()
}

fn done(place: &Path, line: &str) -> String {
    let output = lookalike(place, line);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(place: &Path, line: &str, says: &[&str]) {
    let output = lookalike(place, line);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{line}: {message}");
    for what in says {
        assert!(message.contains(what), "`{what}` is not in: {message}");
    }
}

/// A text of 30 words.
fn words(seed: usize) -> String {
    let words: Vec<String> = (0..30).map(|n| format!("w{}", seed * 100 + n)).collect();
    words.join(" ")
}

/// Four shards that could not be read were `documents 0` and exit 0.
#[test]
fn reading_nothing_fails_and_leaves_nothing() {
    let place = crate::common::temporary();
    let place = place.path();
    let line = |n: usize| format!("{{\"id\": {n}, \"txt\": \"{}\"}}\n", words(n));
    fs::write(place.join("a.jsonl"), (0..3).map(line).collect::<String>()).unwrap();
    fs::write(place.join("b.bin"), [0, 1, 2, 255].repeat(100)).unwrap();
    let no_field = [
        "no document was found in 1 input: no text field 3; the first: a.jsonl, document 0: no text field: none of \
         text, contents, content, body, html, raw_content, article; it has id (integer), txt (string); the longest text \
         is in txt",
        "help: give --text-field txt;",
        "--allow-empty",
    ];
    fails(place, "run a.jsonl -o out", &no_field);
    assert!(!place.join("out").exists());
    fails(place, "stage ingest a.jsonl -o out", &no_field);
    assert!(!place.join("out").exists());
    fails(
        place,
        "run a.jsonl b.bin -o out",
        &["2 inputs: no text field 3, binary file 1"],
    );
    fails(place, "run b.bin -o out", &["binary file 1", "--include"]);
    fails(
        place,
        "run a.jsonl -o out --format warc",
        &["not in the format", "--format"],
    );
    // A directory that was there stays, empty.
    fs::create_dir(place.join("out")).unwrap();
    fails(place, "run a.jsonl -o out", &no_field);
    assert_eq!(fs::read_dir(place.join("out")).unwrap().count(), 0);
    fails(
        place,
        "run a.jsonl -o out --text-field text",
        &[
            "no field text; it has id (integer), txt (string); did you mean txt?",
            "help: give --text-field txt;",
        ],
    );
    let usage = lookalike(place, "run a.jsonl -o out --text-field messages[role");
    let message = String::from_utf8_lossy(&usage.stderr);
    assert_eq!(usage.status.code(), Some(2), "{message}");
    assert!(message.contains("expected `=` and a value"), "{message}");
    // So the right parameters can be tried at once.
    done(place, "run a.jsonl -o out --text-field txt");
    assert_eq!(rows_of(&place.join("out"), "documents.tsv").len(), 3);
    let ledger = done(place, "run a.jsonl -o empty --allow-empty");
    // The fields are listed once.
    let rejects = fs::read_to_string(place.join("empty/rejects.jsonl")).unwrap();
    let listed: Vec<bool> = rejects
        .lines()
        .map(|line| line.contains("it has id"))
        .collect();
    assert_eq!(listed, [true, false, false], "{rejects}");
    assert!(ledger.contains("no text field"), "{ledger}");
    let rejects = fs::read_to_string(place.join("empty/rejects.jsonl")).unwrap();
    assert_eq!(rejects.lines().count(), 3);
}

/// An input that could not be opened was one of the rejects, and exit 0.
#[test]
fn an_input_that_cannot_be_opened_is_an_error() {
    let place = crate::common::temporary();
    let place = place.path();
    fs::create_dir(place.join("in")).unwrap();
    fs::write(place.join("in/a.txt"), words(1)).unwrap();
    for name in ["b.txt", "c.txt"] {
        symlink("nowhere", place.join("in").join(name)).unwrap();
    }
    let says = [
        "cannot read in/b.txt: symbolic link: ",
        "(and 1 input more)",
        "--skip-unreadable",
    ];
    fails(place, "run in -o out", &says);
    assert!(!place.join("out").exists());
    done(place, "run in -o out --skip-unreadable");
    assert_eq!(rows_of(&place.join("out"), "documents.tsv").len(), 1);
}

/// The directory of a run that was refused for its memory refused another --max-document.
#[test]
fn a_run_without_enough_memory_leaves_nothing() {
    let place = crate::common::temporary();
    let place = place.path();
    fs::write(place.join("a.txt"), words(1)).unwrap();
    let says = ["--memory 100MiB is too small", "64MiB (--max-document)"];
    fails(place, "run a.txt -o out --memory 100MiB", &says);
    assert!(!place.join("out").exists());
    done(
        place,
        "run a.txt -o out --memory 100MiB --max-document 8MiB",
    );
}

/// Both were `hw1.rs`.
#[test]
fn names_of_several_arguments_differ() {
    let place = crate::common::temporary();
    let place = place.path();
    for (n, name) in [
        "s/alice/hw1.rs",
        "s/bob/hw1.rs",
        "t/alice/hw1.rs",
        "s/bob/src/x.rs",
    ]
    .into_iter()
    .enumerate()
    {
        fs::create_dir_all(place.join(name).parent().unwrap()).unwrap();
        fs::write(place.join(name), words(n)).unwrap();
    }
    for (arguments, expected) in [
        ("s", "alice/hw1.rs bob/hw1.rs bob/src/x.rs"),
        ("s/bob", "hw1.rs src/x.rs"),
        ("s/alice/hw1.rs s/bob/src", "hw1.rs x.rs"),
        ("s/alice s/bob", "alice/hw1.rs bob/hw1.rs bob/src/x.rs"),
        ("s/alice/hw1.rs s/bob/hw1.rs", "alice/hw1.rs bob/hw1.rs"),
        ("s/alice t/alice", "s/alice/hw1.rs t/alice/hw1.rs"),
        ("s/alice s/../t/alice", "t/alice/hw1.rs s/alice/hw1.rs"),
    ] {
        let out = crate::common::temporary();
        done(
            place,
            &format!("run {arguments} -o {}", out.path().display()),
        );
        let rows = rows_of(out.path(), "documents.tsv");
        let mut found: Vec<&str> = rows
            .iter()
            .map(|row| row.split('\t').next().unwrap())
            .collect();
        let mut expected: Vec<&str> = expected.split(' ').collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{arguments}");
    }
}

/// From elsewhere, a report had no texts, and a run over the same files was refused.
#[test]
fn a_directory_works_from_everywhere() {
    let place = crate::common::temporary();
    let place = place.path();
    fs::create_dir_all(place.join("in/deep")).unwrap();
    for (name, last) in [("a.txt", "x"), ("deep/b.txt", "y")] {
        fs::write(
            place.join("in").join(name),
            format!("{} unmistakable {last}", words(1)),
        )
        .unwrap();
    }
    done(place, "run in -o out --threshold 0.5");
    let report = |at: &str, line: &str| {
        done(&place.join(at), line);
        fs::read_to_string(place.join("out/report.html")).unwrap()
    };
    let here = report(".", "report out");
    assert!(here.contains("unmistakable"));
    let elsewhere = report("in/deep", "report ../../out");
    assert_eq!(
        elsewhere.matches("unmistakable").count(),
        here.matches("unmistakable").count()
    );
    symlink("in", place.join("link")).unwrap();
    let before = fs::read(place.join("out/inputs.jsonl")).unwrap();
    done(&place.join("in"), "run . -o ../out --threshold 0.5");
    done(place, "run ./in -o out --threshold 0.5");
    done(place, "run link -o out --threshold 0.5");
    done(
        place,
        &format!("run {} -o out --threshold 0.5", place.join("in").display()),
    );
    assert_eq!(fs::read(place.join("out/inputs.jsonl")).unwrap(), before);
    // A list that was lost is made again, however the inputs are named.
    for input in [place.join("in").display().to_string(), "link".into()] {
        fs::remove_file(place.join("out/inputs.jsonl")).unwrap();
        done(place, &format!("run {input} -o out --threshold 0.5"));
        assert_eq!(fs::read(place.join("out/inputs.jsonl")).unwrap(), before);
    }
    // Another directory with the same names is another input.
    fs::create_dir_all(place.join("other/deep")).unwrap();
    for name in ["a.txt", "deep/b.txt"] {
        fs::copy(place.join("in").join(name), place.join("other").join(name)).unwrap();
    }
    fails(
        place,
        "run other -o out --threshold 0.5",
        &[
            "holds results of other inputs",
            "lookalike add out INPUT...",
        ],
    );
}

/// Two names with the same altered path were taken for one file, which had changed.
#[test]
fn names_that_are_not_utf8_are_told_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = crate::common::temporary();
    let place = place.path();
    let put = |name: &[u8], words: &str| {
        let path = place.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, words).unwrap();
    };
    put(b"in/caf\xe8.txt", "one two three");
    put(b"in/caf\xe9.txt", "four");
    put(b"both/\xe8/a.txt", "five six seven");
    put(b"both/\xe9/a.txt", "eight");
    for of in ["in", "both"] {
        done(place, &format!("run {of} -o of-{of}"));
        let list = place.join(format!("of-{of}/inputs.jsonl"));
        let before = fs::read(&list).unwrap();
        done(place, &format!("run {of} -o of-{of}"));
        done(place, &format!("add of-{of} {of}"));
        assert_eq!(fs::read(&list).unwrap(), before);
    }
    put(b"in/caf\xea.txt", "nine ten");
    done(place, "add of-in in");
    done(place, "run in -o of-in");
    assert_eq!(rows_of(&place.join("of-in"), "documents.tsv").len(), 3);
    // The arguments themselves.
    for again in [false, true] {
        let arguments = [
            &b"run"[..],
            b"both/\xe8",
            b"both/\xe9",
            b"-o",
            b"of-arguments",
        ];
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        command
            .current_dir(place)
            .args(arguments.map(OsStr::from_bytes));
        let output = command.output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{again}: {message}");
    }
}

/// It removed the results, and `report` refused until `cluster` was run.
#[test]
fn join_leaves_complete_results() {
    let place = crate::common::temporary();
    let place = place.path();
    for (name, n) in [("a.txt", 0), ("b.txt", 5)] {
        let text = format!("{} {}", words(1), words(2).split_at(n * 4).0);
        fs::write(place.join(name), text).unwrap();
    }
    done(place, "run a.txt b.txt -o out");
    done(place, "run a.txt b.txt -o other --threshold 0.3");
    done(place, "stage join out --threshold 0.3");
    for name in [
        "pairs.tsv",
        "clusters.jsonl",
        "documents.tsv",
        "rejects.jsonl",
    ] {
        let [found, expected] = ["out", "other"].map(|out| fs::read(place.join(out).join(name)));
        assert_eq!(found.unwrap(), expected.unwrap(), "{name}");
    }
    done(place, "report out");
    assert!(place.join("out/summary.json").exists());
}
