//! The help, and what it promises.

use std::collections::BTreeSet;

use lookalike_lab::cli::Commands;
use lookalike_lab::perturb::{Cherkasova, Chowdhury};

use crate::common;
use crate::help::{Place, Program};

fn program() -> Program {
    Program {
        path: env!("CARGO_BIN_EXE_lookalike-lab").into(),
        started: "lookalike lab",
        described: lookalike::cli::described::<Commands>(),
        others: &[],
    }
}

#[test]
fn the_overview_fits_a_screen_and_has_every_command_in_a_group() {
    let groups = [
        "Methods", "Papers", "Samples", "Corpora", "Labels", "Program",
    ];
    program().check_overview(&groups, "lookalike lab compare KEPT");
}

#[test]
fn short_help_fits_a_screen_and_first_lines_are_short() {
    let (flags, words) = program().check_lengths();
    assert!(
        flags <= 130 && words <= 6_000,
        "{flags} flags, {words} words"
    );
}

#[test]
fn examples_of_commands_run() {
    program().check_examples();
}

#[test]
fn examples_of_flags_run() {
    let bases = [
        ("study", "study out"),
        ("compare", "compare out"),
        ("perturb", "perturb sample-corpora/trec-web/b.gz -o @"),
    ];
    let lookalike = common::lookalike();
    let place = Place::new(&lookalike);
    place.shell("lookalike run sample-corpora/trec-web/b.gz --keep-text -o out -q");
    place.shell("lookalike lab study out --ratios 1/2 -q");
    let mut run = BTreeSet::new();
    for (command, base) in bases {
        for example in program().examples_of_flags(command) {
            // A flag that commands share is tried with the first of them.
            if !run.insert(example.clone()) || run.len() % common::one_in(2) > 0 {
                continue;
            }
            let base = base.replace('@', &format!("out-{}", run.len()));
            let more = if command == "perturb" && !example.contains("--recipe") {
                "--recipe cherkasova"
            } else {
                ""
            };
            place.shell(&format!("lookalike lab {base} {example} {more}"));
        }
    }
    assert!(run.len() > 15, "{run:?}");
}

#[test]
fn defaults_in_words_are_those_of_the_library() {
    let (chowdhury, cherkasova) = (Chowdhury::default(), Cherkasova::default());
    let help = program().printed(["perturb", "-h"]);
    for (flag, default) in [
        ("--copies", chowdhury.copies.to_string()),
        ("--every", chowdhury.every.to_string()),
        ("--alpha", chowdhury.alpha.to_string()),
        ("--edit ", cherkasova.edit.to_string()),
        ("--word", cherkasova.word),
    ] {
        let line = help.lines().find(|line| line.contains(flag)).unwrap();
        assert!(line.ends_with(&format!("[default: {default}]")), "{line}");
    }
    let counts = "1..50".parse().unwrap();
    assert_eq!(cherkasova.edits, counts);
    assert!(help.contains("[default: 1..50]"));
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    program().check_completions_and_pages();
}

#[test]
fn help_has_what_a_command_takes_and_its_defaults() {
    let flags: [(&str, &[&str]); 2] = [
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
        let help = program().printed([command, "--help"]);
        for flag in flags {
            assert!(help.contains(flag), "{command} {flag}");
        }
    }
}

/// What is printed for people is also JSON for programs.
#[test]
fn methods_are_listed_as_json() {
    let json = |line: &str| {
        let printed = program().printed(line.split(' '));
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()
    };
    let list = json("method --json");
    assert_eq!(
        list["mod"],
        "Fingerprints of byte windows that are 0 modulo n"
    );
    assert!(json("method minhash --json").is_object());
    assert!(program().printed(["method", "-q"]).contains("minhash"));
}
