//! A search that is stopped goes on where it was, and what it leaves is checked.
#![cfg(feature = "faults")]

use crate::common::corpus::{Shape, random_corpus, write_jsonl};
use crate::common::{assert_same_files, temporary, tree};

use lookalike::engine::pipeline;
use lookalike::tasks::inspect::{stages, verify};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::support::{call, passages};

const ITEMS: &str = "do=items:500";

/// Documents in files of several units, and the calls that read them.
fn write_inputs(place: &Path) {
    let shape = Shape {
        families: 40,
        members: 4,
        words: 100,
        vocabulary: 900,
        boilerplate: 30,
    };
    let input = write_jsonl(place, &random_corpus(11, shape), 8);
    fs::rename(input, place.join("in")).unwrap();
}

const MEANS: &str = "--segment-size 8KiB --max-document 64KiB --threads 1";

fn search(out: &str) -> String {
    format!("in -o {out} {MEANS} --length 3 --max-documents 3 --by source")
}

/// The result files, and nothing of the way to them.
fn results(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(out);
    assert!(files.keys().all(|name| !name.starts_with("checkpoint/")));
    let manifest = String::from_utf8(files["manifest.json"].clone()).unwrap();
    assert!(!manifest.contains("\"checkpoint\""));
    files.retain(|name, _| name.ends_with(".tsv"));
    files
}

fn parts(out: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<PathBuf> = fs::read_dir(out.join("checkpoint"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "sorted"))
        .collect();
    parts.sort();
    parts
}

/// What the same search goes on with: how many units it may read again, and at which step it must
/// not arrive.
#[test]
fn what_was_done_is_not_done_again() {
    let home = temporary();
    let place = home.path();
    write_inputs(place);
    let expected = passages(place, &search("all"));
    let files = results(&place.join("all"));
    assert_eq!(files.len(), 9);
    let stops = [
        // Of 27 units most were read, and the first parts of their sort are on the disk.
        (
            "op=point on=passages:+worker nth=24 do=kill",
            "op=point on=passages:+worker nth=10 do=panic",
        ),
        // All were.
        (
            "op=rename on=checkpoint/2- do=kill",
            "op=point on=passages:+worker do=panic",
        ),
        // Their k-grams, too.
        (
            "op=point on=passages:+repeats do=kill",
            "op=point on=passages:+worker do=panic; op=create on=checkpoint/3- do=EIO",
        ),
        // Everything is found, and the first files are to be written.
        (
            "op=point on=passages:+spans do=kill",
            "op=point on=passages:+worker do=panic; op=create on=checkpoint do=EIO",
        ),
        // They are written.
        (
            "op=point on=passages:+matches do=kill",
            "op=point on=passages:+worker do=panic; op=point on=passages:+spans do=panic",
        ),
        (
            "op=create on=boilerplate.tsv do=kill",
            "op=point on=passages:+worker do=panic; op=point on=passages:+spans do=panic; \
             op=point on=passages:+matches do=panic",
        ),
    ];
    let mut states = BTreeSet::new();
    for (n, (stop, not)) in stops.iter().enumerate() {
        let out = format!("out{n}");
        let killed = call(place, &search(&out), Some(&format!("{stop}; {ITEMS}")));
        assert_eq!(killed.code, None, "{stop}: {killed:?}");
        assert!(!parts(&place.join(&out)).is_empty(), "{stop}");
        let state = state(&place.join(&out)).unwrap_or_default();
        assert!(state.starts_with("begun: "), "{stop}: {state}");
        states.insert(state);
        let how = format!("{} --json --quiet", search(&out));
        let again = call(place, &how, Some(&format!("{not}; {ITEMS}")));
        assert_eq!(again.code, Some(0), "{stop}: {again:?}");
        let found: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
        assert_eq!(found, expected, "{stop}");
        assert_same_files(&results(&place.join(&out)), &files, stop);
        assert_eq!(self::state(&place.join(&out)), None, "{stop}");
    }
    assert!(states.len() > 3, "{states:?}");
}

/// Returns the state of a search as `status` prints it.
fn state(out: &Path) -> Option<String> {
    let stages = stages(&pipeline::look(out).unwrap());
    let of_search = stages.into_iter().find(|(stage, _)| *stage == "passages");
    of_search.map(|(_, state)| state)
}

/// The copies are stopped, and the search that they follow is not made again.
#[test]
fn stopped_copies_need_no_other_search() {
    let home = temporary();
    let place = home.path();
    write_inputs(place);
    let how = |out: &str, more: &str| {
        format!("in --remove -o {out} --work {out}-work {MEANS} {more} --json --quiet")
    };
    for (more, items) in [("--length 3", ITEMS), ("--unit line", "do=items:50")] {
        let whole = call(place, &how("whole", more), Some(items));
        assert_eq!(whole.code, Some(0), "{whole:?}");
        let faults = format!("op=create on=stopped/ nth=3 do=kill; {items}");
        let killed = call(place, &how("stopped", more), Some(&faults));
        assert_eq!(killed.code, None, "{killed:?}");
        let faults = format!("op=point on=passages: do=panic; {items}");
        let again = call(place, &how("stopped", more), Some(&faults));
        assert_eq!(again.code, Some(0), "{again:?}");
        assert_eq!(again.stdout, whole.stdout);
        let work = results(&place.join("stopped-work"));
        assert_same_files(&work, &results(&place.join("whole-work")), more);
        for out in ["whole", "stopped", "whole-work", "stopped-work"] {
            fs::remove_dir_all(place.join(out)).unwrap();
        }
    }
}

/// Another search begins anew, and so does one of other documents.
#[test]
fn another_search_begins_anew() {
    let home = temporary();
    let place = home.path();
    write_inputs(place);
    let stop = format!("op=point on=passages:+matches do=kill; {ITEMS}");
    let others = [
        "--length 4 --no-matches",
        "--length 3 --of representatives",
        "--unit line",
    ];
    for (n, other) in others.iter().enumerate() {
        let how = |out: &str| format!("in -o {out} {MEANS} {other}");
        let (fresh, out) = (format!("fresh{n}"), format!("out{n}"));
        let expected = passages(place, &how(&fresh));
        assert_eq!(call(place, &search(&out), Some(&stop)).code, None);
        assert_eq!(passages(place, &how(&out)), expected, "{other}");
        let (fresh, out) = (place.join(fresh), place.join(out));
        assert_same_files(&results(&out), &results(&fresh), other);
    }
    // Other lists of the same passages.
    let how = |out: &str| search(out).replace("--max-documents 3", "--max-documents 2");
    let expected = passages(place, &how("fresh"));
    assert_eq!(call(place, &search("out"), Some(&stop)).code, None);
    let faults = "op=point on=passages:+worker do=panic; op=point on=passages:+spans do=panic";
    let again = call(
        place,
        &format!("{} --json --quiet", how("out")),
        Some(faults),
    );
    assert_eq!(again.code, Some(0), "{again:?}");
    let found: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(found, expected);
    assert_same_files(
        &results(&place.join("out")),
        &results(&place.join("fresh")),
        "max",
    );
}

/// A damaged part is found, by `verify` and by the search. Without it, the search begins anew.
#[test]
fn damaged_parts_are_found() {
    let home = temporary();
    let place = home.path();
    write_inputs(place);
    let expected = passages(place, &search("all"));
    let files = results(&place.join("all"));
    for (n, stop) in [
        "op=point on=passages:+worker nth=6 do=kill",
        "op=point on=passages:+repeats do=kill",
        "op=point on=passages:+spans do=kill",
    ]
    .iter()
    .enumerate()
    {
        let name = format!("out{n}");
        let out = place.join(&name);
        let killed = call(place, &search(&name), Some(&format!("{stop}; {ITEMS}")));
        assert_eq!(killed.code, None, "{killed:?}");
        let part = parts(&out).swap_remove(0);
        let mut bytes = fs::read(&part).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        fs::write(&part, bytes).unwrap();
        let shown = part.strip_prefix(place).unwrap().display().to_string();
        let verified = verify(&out).unwrap();
        assert!(matches!(&verified.errors[..], [error] if error.to_string().contains(&shown)));
        let said = call(place, &search(&name), Some(ITEMS));
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.stderr.contains(&shown), "{said:?}");
        fs::remove_file(&part).unwrap();
        assert_eq!(passages(place, &search(&name)), expected, "{stop}");
        assert_same_files(&results(&out), &files, stop);
    }
}
