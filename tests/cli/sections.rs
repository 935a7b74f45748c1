//! Copies of files with many records keep the bytes of each, with what belongs to it.

use std::fs;
use std::process::{Command, Stdio};

use crate::common;

/// Runs the program in a directory and returns what it says.
#[track_caller]
fn lookalike(place: &std::path::Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(arguments)
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn copies_keep_the_bytes_of_records() {
    let a = "one two three four five six seven eight nine ten eleven";
    let b = "alpha beta gamma delta epsilon zeta eta theta iota kappa";
    let ris = |text: &str| format!("TY  - JOUR\r\nAB  - {text}\r\nER  - \r\n\r\n");
    let bulk = |id: u8, text: &str| {
        format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"text\":\"{text}\"}}\n")
    };
    let row = |id: u8, text: &str| format!("þ{id}þ\u{14}þ{text}®þþþ\r\n");
    let delete = "{\"delete\":{\"_id\":\"9\"}}\n";
    for (name, flags, [head, first, second, third, last], in_both) in [
        (
            "r.ris",
            &["--split-at", "^TY  - "][..],
            [
                "Provider: x\r\n\r\n".into(),
                ris(a),
                ris(a),
                ris(b),
                String::new(),
            ],
            true,
        ),
        (
            "b.ndjson",
            &[],
            [
                delete.into(),
                bulk(1, a),
                bulk(2, a),
                bulk(3, b),
                delete.into(),
            ],
            false,
        ),
        (
            "t.dat",
            &["--delimiter", "DC4", "--quote", "þ"],
            [
                "þidþ\u{14}þtextþ\r\n".into(),
                row(1, a),
                row(2, a),
                row(3, b),
                String::new(),
            ],
            true,
        ),
        (
            "m.dat",
            &["--delimiter", "~|^"],
            [
                "id~|^text\n".into(),
                format!("1~|^{a}\n"),
                format!("2~|^{a}\n"),
                format!("3~|^{b}\n"),
                String::new(),
            ],
            true,
        ),
        (
            "p.txt",
            &["--split-at", "^$"],
            [
                String::new(),
                format!("{a}\n\n"),
                format!("{a}\n\n"),
                format!("{b}\n"),
                String::new(),
            ],
            false,
        ),
    ] {
        let place = common::temporary();
        let file = [&*head, &first, &second, &third, &last].concat();
        fs::write(place.path().join(name), &file).unwrap();
        let mut arguments = vec![
            "dedup",
            name,
            "-o",
            "kept",
            "--removed",
            "gone",
            "--work",
            "w",
            "--quiet",
        ];
        arguments.extend(flags);
        lookalike(place.path(), &arguments);
        let read =
            |directory: &str| fs::read_to_string(place.path().join(directory).join(name)).unwrap();
        assert_eq!(
            read("kept"),
            [&*head, &first, &third, &last].concat(),
            "{name}"
        );
        let gone = if in_both { head + &second } else { second };
        assert_eq!(read("gone").trim_end(), gone.trim_end(), "{name}");
    }
}

/// What a run says at its end can be typed, and an addition reads as the run did.
#[test]
fn the_last_line_names_the_flag() {
    let place = common::temporary();
    let text = "one two three four five six seven eight nine ten eleven";
    let records = |n: usize| format!("TY  - JOUR\nID  - {n}\nAB  - {text}\nER  - \n\n").repeat(n);
    fs::write(place.path().join("a.ris"), records(2)).unwrap();
    fs::write(place.path().join("b.ris"), records(3)).unwrap();
    let said = lookalike(place.path(), &["run", "a.ris", "-o", "one"]);
    let next = "\nRead the inputs again with --split-at '^TY  - ' and another -o: 1 document may be \
                several (one/rejects.jsonl says which, and why).\n";
    assert!(said.ends_with(next), "{said}");
    lookalike(
        place.path(),
        &[
            "run",
            "a.ris",
            "-o",
            "two",
            "--split-at",
            "^TY  - ",
            "--quiet",
        ],
    );
    lookalike(place.path(), &["add", "two", "b.ris", "--quiet"]);
    let documents = fs::read_to_string(place.path().join("two/documents.tsv")).unwrap();
    assert_eq!(
        documents
            .lines()
            .filter(|line| line.contains(".ris:"))
            .count(),
        5
    );
    let found = lookalike(place.path(), &["query", "two", "a.ris"]);
    assert!(found.contains("a.ris:1"), "{found}");
}
