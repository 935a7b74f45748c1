//! `count`, against counts by the definition.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::common;

/// Runs the program and returns what it prints.
fn printed(arguments: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    let output = program.args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn counts_follow_the_definition_in_every_form() {
    let place = common::temporary();
    let place = place.path().to_str().unwrap();
    let packed = fs::File::open(common::sample_corpora("jsonl/text.jsonl.zst")).unwrap();
    let corpus = std::io::read_to_string(zstd::Decoder::new(packed).unwrap()).unwrap();
    let lines: Vec<&str> = corpus.lines().collect();
    let (mut expected, mut all, mut sizes) = (Vec::new(), BTreeSet::new(), Vec::new());
    for (name, lines) in ["a", "b"].iter().zip(lines.chunks(40)) {
        let path = format!("{place}/{name}.jsonl");
        fs::write(path, format!("{}\n{{\"id\":1}}\n", lines.join("\n"))).unwrap();
        let (mut bytes, mut words, mut shingles, mut distinct) = (0, 0, 0, BTreeSet::new());
        for line in lines {
            let document: Value = serde_json::from_str(line).unwrap();
            let text = document["text"].as_str().unwrap().to_string();
            let tokens: Vec<String> = text.split_whitespace().map(String::from).collect();
            let set: BTreeSet<_> = tokens.windows(3).map(<[String]>::to_vec).collect();
            (bytes, words) = (bytes + text.len(), words + tokens.len());
            shingles += set.len();
            sizes.push(tokens.len());
            distinct.extend(set);
        }
        expected.push(json!({
            "input": format!("{name}.jsonl"), "documents": lines.len(), "rejected": 1,
            "bytes": bytes, "words": words, "shingles": shingles,
            "distinct_shingles": distinct.len(),
        }));
        all.extend(distinct);
    }
    sizes.sort();
    for more in ["--threads 1", "--threads 3 --fingerprint md5"] {
        let command = format!("check count {place} --tokens whitespace --shingle-size 3 {more}");
        let out = format!("{place}.json");
        let shown = printed(&format!("{command} --json --output {out}"));
        assert_eq!(fs::read_to_string(out).unwrap(), shown);
        let counts: Value = serde_json::from_str(&shown).unwrap();
        let inputs = counts["inputs"].as_array().unwrap();
        assert_eq!(inputs[..2], expected);
        assert_eq!(inputs[2]["distinct_shingles"], all.len());
        let median = sizes[(sizes.len() - 1) / 2];
        let told = counts["words_median"].as_u64().unwrap() as usize;
        assert!(
            (median * 98 / 100..=median).contains(&told),
            "{told} {median}"
        );
        let rows = |ending: &str, cell: &str| {
            let out = format!("{place}.{ending}");
            let shown = printed(&format!("{command} --output {out}"));
            assert_eq!(shown.lines().count(), 6, "{shown}");
            fs::read_to_string(out).unwrap().matches(cell).count()
        };
        let cell = inputs[1]["shingles"].to_string();
        assert_eq!(rows("tsv", &format!("\t{cell}\t")), 1);
        let cell = lookalike::base::numbers::count(cell.parse().unwrap());
        assert_eq!(rows("html", &format!(">{cell}<")), 1);
    }
}
