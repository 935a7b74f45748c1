//! Killed anywhere and called again with other threads, `dedup` leaves the bytes of one thread that
//! nobody disturbed, and the same list of finished files.

use crate::common::one_in;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::{dedup, place};
use crate::common::corpus::{Shape, random_corpus};
use crate::common::{assert_same_files, copy_directory, sample_corpora, tree};

/// Small files, a large one, archives, and two files with a compressor of 96 MiB for each output.
fn write_inputs(directory: &Path) {
    let shape = Shape {
        families: 40,
        members: 3,
        words: 40,
        vocabulary: 60,
        boilerplate: 8,
    };
    fs::create_dir_all(directory.join("small")).unwrap();
    let docs = random_corpus(5, shape);
    let line = |n: usize| serde_json::json!({"score": n * 7 % 31, "text": docs[n].text});
    for n in 0..docs.len() {
        let other = n * 5 % docs.len();
        let lines = format!("{}\n{}\n", line(n), line(other));
        fs::write(directory.join(format!("small/{n:03}.jsonl")), lines).unwrap();
    }
    let all: String = (0..docs.len()).map(|n| format!("{}\n", line(n))).collect();
    fs::write(directory.join("large.jsonl"), all.repeat(20)).unwrap();
    for name in ["x.jsonl.xz", "y.jsonl.xz"] {
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
        xz.write_all(all.as_bytes()).unwrap();
        fs::write(directory.join(name), xz.finish().unwrap()).unwrap();
    }
    copy_directory(&sample_corpora("warc"), &directory.join("warc"));
}

/// Returns the files in the directories of the kept and of the removed records.
fn outputs(place: &Path, number: usize) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for kind in ["kept", "removed"] {
        let files = tree(&place.join(format!("{kind}{number}")));
        all.extend(
            files
                .into_iter()
                .map(|(name, bytes)| (format!("{kind}/{name}"), bytes)),
        );
    }
    all
}

#[test]
fn killed_anywhere_and_continued_with_other_threads() {
    let (_guard, place) = place(&[]);
    write_inputs(&place.join("in"));
    let how = "in --work work --shingle-size 3 --threshold 0.4 --keep max:score --revisit \
               --segment-size 16KiB --max-document 1MiB";
    let into = |number| format!("{how} -o kept{number} --removed removed{number}");
    let first = dedup(&place, &format!("{} --threads 1", into(0)));
    let expected = outputs(&place, 0);
    assert!(
        expected["kept/.lookalike/files.jsonl"]
            .split(|b| *b == b'\n')
            .count()
            > 100
    );
    let mut killed = 0;
    // Sometimes in the lists, sometimes in the copies, sometimes while it continues.
    for (number, (op, nth)) in [
        ("create", 2),
        ("rename", 5),
        ("rename", 60),
        ("sync", 150),
        ("write", 200),
        ("rename", 222),
        ("rename", 100_000),
    ]
    .into_iter()
    .enumerate()
    .step_by(one_in(2))
    {
        let number = number + 1;
        let threads = 1 + number % 4;
        for (on, threads) in [(format!("kept{number}/"), threads), ("removed".into(), 3)] {
            let faults = format!("op={op} on={on} nth={nth} do=kill");
            let call = format!("dedup {} --threads {threads} --memory 400MiB", into(number));
            let ended = Command::new(env!("CARGO_BIN_EXE_lookalike"))
                .current_dir(&place)
                .args(call.split_whitespace())
                .env("LOOKALIKE_FAULTS", faults)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            killed += usize::from(ended.status.code().is_none());
        }
        let again = dedup(
            &place,
            &format!("{} --threads {}", into(number), 1 + number % 3),
        );
        assert_eq!(again, first, "{op} {nth}");
        assert_same_files(&outputs(&place, number), &expected, &format!("{op} {nth}"));
    }
    assert!(killed * one_in(2) >= 6, "{killed}");
}
