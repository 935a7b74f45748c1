//! The least memory of the commands. A change of how a stage counts its memory changes a value here.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

/// Commands, and the MiB that their refusals name, beginning with 1 MiB and then following each
/// refusal until the command succeeds. `BASE` is a collection, `WHOLE` an output directory with
/// results, and `MADE` does not exist.
#[rustfmt::skip]
const LEAST: &[(&str, &[u64])] = &[
    ("stage ingest CORPUS -o MADE --threads 1", &[217]),
    ("stage ingest CORPUS -o MADE --threads 3 --keep-text --max-document 200MiB", &[702]),
    ("stage join BASE --threads 1 --join prefix --spill always", &[8, 25, 33]),
    ("stage join BASE --threads 3 --join prefix", &[8, 33, 34, 45]),
    ("stage join BASE --threads 3 --join count", &[8, 33, 34, 39]),
    ("stage cluster WHOLE --results parquet", &[46]),
    ("stage index BASE --threads 1", &[27]),
    ("stage index BASE --threads 3", &[39]),
    ("query WHOLE CORPUS --threads 3", &[43]),
    ("export graph WHOLE", &[29]),
    ("report WHOLE --threads 3", &[177, 178]),
    ("report WHOLE --split", &[177]),
    ("dedup --from WHOLE -o MADE --threads 3", &[125]),
    ("evaluate WHOLE --truth WHOLE", &[9, 12]),
    ("lab transfer --labels labels.tsv --from WHOLE --to WHOLE --threads 1", &[51]),
    ("lab transfer --labels labels.tsv --from WHOLE --to WHOLE --threads 3", &[63]),
    ("contamination CORPUS --threads 3 --test-set test.jsonl", &[213]),
    ("passages CORPUS -o MADE --threads 3", &[217, 253]),
    ("check count CORPUS --threads 3", &[253]),
    ("lab perturb CORPUS -o MADE --recipe chowdhury", &[217]),
    ("lab method super-shingles BASE --threads 3", &[76]),
    ("lab method i-match BASE --threads 1", &[72]),
    ("lab study BASE --ratios 1/2 --thresholds 0.5 --threads 3", &[33, 34, 45]),
    ("plan BASE --ratios 1/2 --subset 50% --threads 3", &[25, 33, 34, 45]),
    ("lab compare BASE --method super-shingles --truth shingles --threads 1", &[72]),
];

/// Runs a command; returns the MiB that a refusal names.
fn refusal(place: &Path, command: &str, memory: u64) -> Option<u64> {
    let corpus = common::sample_corpora("trec-web");
    let words = command.split(' ').map(|word| match word {
        "CORPUS" => corpus.as_os_str(),
        word => word.as_ref(),
    });
    let mut program = Command::new(PROGRAM);
    program.current_dir(place).stdin(Stdio::null()).args(words);
    program.args(["--memory", &format!("{memory}MiB")]);
    let output = program.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let named = error.split_once("give --memory ");
    assert_eq!(
        output.status.success(),
        named.is_none(),
        "{command}: {error}"
    );
    let (least, _) = named?.1.split_once("MiB").expect(&error);
    Some(least.parse().expect(&error))
}

#[test]
fn refusals_name_the_values_of_the_table() {
    let place = common::temporary();
    let place = place.path();
    let text = (0..14).map(|n| format!("word{n}")).collect::<Vec<_>>();
    let item = serde_json::json!({"id": "a", "text": text.join(" ")});
    fs::write(place.join("test.jsonl"), item.to_string()).unwrap();
    fs::write(place.join("labels.tsv"), "PG-000025\tspam\n").unwrap();
    for command in ["stage ingest CORPUS -o base", "run CORPUS -o whole"] {
        let command = format!("{command} --keep-text --quiet");
        assert_eq!(refusal(place, &command, 512), None);
    }
    for (command, expected) in LEAST {
        let (mut memory, mut found) = (1, Vec::new());
        loop {
            for made in ["MADE", "BASE", "WHOLE"] {
                let _ = fs::remove_dir_all(place.join(made));
            }
            common::copy_directory(&place.join("base"), &place.join("BASE"));
            common::copy_directory(&place.join("whole"), &place.join("WHOLE"));
            match refusal(place, command, memory) {
                Some(least) => found.push(least),
                None => break,
            }
            memory = found[found.len() - 1];
            assert!(found.is_sorted_by(|a, b| a < b), "{command}: {found:?}");
        }
        assert_eq!(found, *expected, "{command}");
    }
}

/// The table in docs/scale.md, which `LOOKALIKE_BLESS=1` writes.
#[test]
fn the_documentation_has_the_table() {
    const BEGIN: &str = "<!-- made by: tests/cli/least_memory.rs -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scale.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once("<!-- end -->\n").unwrap();
    let mut table = String::from("| command | MiB |\n| --- | ---: |\n");
    for (command, found) in LEAST {
        table += &format!("| `{command}` | {} |\n", found[found.len() - 1]);
    }
    let expected = format!("{before}{BEGIN}{table}<!-- end -->\n{after}");
    if std::env::var_os("LOOKALIKE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}
