//! Pair lists, ours and those of other systems, with all that `evaluate` reads beside them.
//!
//! The input is a line of options and then sections, each behind a line `==`: truth, run, judged
//! pairs, families, documents. Options, apart by `;`: columns of the truth, columns of the run,
//! thresholds, and any of
//! `judged`, `families`, `documents`, `directory`, `itself`, `gzip`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lookalike::Error;
use lookalike::base::budget::ByteSize;
use lookalike::base::ids::Threshold;
use lookalike::store::checksum;
use lookalike::tasks::evaluate::{EvaluateConfig, Evaluation, ListFile, evaluate};
use serde_json::Value;

use super::place;

/// Memory of an evaluation.
const MEMORY: ByteSize = ByteSize::mib(64);

pub fn run(data: &[u8]) {
    let mut sections = sections(data).into_iter();
    let mut next = || sections.next().unwrap_or_default();
    let options = String::from_utf8_lossy(next()).into_owned();
    let mut options = options.split(';');
    let mut option = || options.next().unwrap_or_default().to_string();
    let [truth_columns, run_columns, thresholds] = [option(), option(), option()];
    let flags = option();
    let on = |name: &str| flags.contains(name);
    let home = place::subdirectory("lists");
    let scratch = place::subdirectory("lists/scratch");
    let file = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = home.join(name);
        place::put(&path, bytes);
        path
    };
    let list = |path: PathBuf, columns: &str| ListFile {
        path,
        columns: columns.parse().ok(),
    };
    let truth = next();
    let run = next();
    let mut truth = if on("gzip") {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
        encoder.write_all(truth).expect("memory");
        list(
            file("truth", &encoder.finish().expect("memory")),
            &truth_columns,
        )
    } else {
        list(file("truth", truth), &truth_columns)
    };
    let mut run = list(file("run", run), &run_columns);
    let (judged, families, documents) = (next(), next(), next());
    let mut documents = on("documents").then(|| file("documents", documents));
    if on("directory") {
        // The sections are the files of a directory, which the truth or the run is of.
        let from_truth = on("truth-directory");
        let pairs = std::fs::read(if from_truth { &truth.path } else { &run.path });
        let text = documents.take();
        let text = text.and_then(|path| std::fs::read(path).ok());
        let out = directory(&[
            ("pairs.tsv", Some(pairs.unwrap_or_default())),
            ("documents.tsv", text),
            (
                "exact-duplicates.tsv",
                on("duplicates").then(|| families.to_vec()),
            ),
        ]);
        let made = ListFile {
            path: out,
            columns: None,
        };
        *(if from_truth { &mut truth } else { &mut run }) = made;
    }
    let mut rising: Vec<Threshold> = thresholds
        .split(',')
        .filter_map(|text| text.parse().ok())
        .take(6)
        .collect();
    rising.sort();
    rising.dedup();
    let mut config = EvaluateConfig {
        truth: Some(truth),
        run,
        documents,
        thresholds: rising,
        judged: on("judged").then(|| file("judged", judged)),
        true_grade: 1,
        run_lists: Default::default(),
        disagreements: None,
        families: on("families").then(|| file("families", families)),
        scratch,
    };
    if on("itself") {
        config.run = config.truth.clone().expect("there is a truth");
    }
    let Ok(found) = evaluated(&config) else {
        return;
    };
    let again = evaluated(&config).expect("what was evaluated once");
    assert_eq!(found, again, "an evaluation depends on what was before");
    for at in &found.pairs {
        let all = [Some(&at.documents), at.representatives.as_ref()];
        for pairs in all.into_iter().flatten() {
            let counts = pairs.all.counts;
            assert_eq!(pairs.all.found, counts.correct + counts.wrong);
            assert_eq!(pairs.all.true_pairs, counts.correct + counts.missed);
            for share in [pairs.all.precision, pairs.all.recall, pairs.all.f1] {
                assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
            if on("itself") {
                assert_eq!(
                    (counts.wrong, counts.missed),
                    (0, 0),
                    "a list is not itself"
                );
            }
        }
    }
}

fn evaluated(config: &EvaluateConfig) -> Result<Evaluation, Error> {
    place::with_context(MEMORY, |context| evaluate(config, context))
}

/// The parts of an input.
fn sections(data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in data.split_inclusive(|&byte| byte == b'\n') {
        let end = at + line.len();
        if line == b"==\n" {
            parts.push(
                data[start..at]
                    .strip_suffix(b"\n")
                    .unwrap_or(&data[start..at]),
            );
            start = end;
        }
        at = end;
    }
    parts.push(&data[start..]);
    parts
}

/// A finished directory with other contents of these files, which its manifest says it has.
fn directory(files: &[(&str, Option<Vec<u8>>)]) -> PathBuf {
    static RUN: OnceLock<(PathBuf, Vec<u8>)> = OnceLock::new();
    let (out, manifest) = RUN.get_or_init(|| {
        let out = place::finished_run("lists-run");
        let manifest = std::fs::read(out.join("manifest.json")).expect("a manifest");
        for name in ["pairs.tsv", "documents.tsv", "exact-duplicates.tsv"] {
            let content = std::fs::read(out.join(name)).expect("a result");
            place::put(&out.join(format!("{name}.kept")), &content);
        }
        (out, manifest)
    });
    let mut value: Value = serde_json::from_slice(manifest).expect("JSON");
    value.as_object_mut().expect("an object").remove("checksum");
    for (name, content) in files {
        let kept = || std::fs::read(out.join(format!("{name}.kept"))).expect("a kept file");
        let content = content.clone().unwrap_or_else(kept);
        place::put(&out.join(name), &content);
        let entries = value["results"]["files"].as_array_mut().expect("results");
        for entry in entries {
            if entry["name"] == *name {
                entry["bytes"] = content.len().into();
                entry["checksum"] = format!("{:016x}", checksum(&content)).into();
            }
        }
    }
    put_manifest(
        &out.join("manifest.json"),
        format!("{value:#}\n").as_bytes(),
    );
    out.clone()
}

/// Writes a manifest with the line of its checksum.
pub fn put_manifest(path: &Path, body: &[u8]) {
    let mut bytes = body.to_vec();
    bytes.extend(format!("{:016x}\n", checksum(body)).bytes());
    place::put(path, &bytes);
}
