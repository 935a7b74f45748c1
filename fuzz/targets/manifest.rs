//! `manifest.json`, behind a checksum that is right, and `inputs.jsonl`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lookalike::base::budget::{Budget, ByteSize, Disk};
use lookalike::engine::collection::{Catalogue, MappedSets};
use lookalike::engine::join::{List, each_pair};
use lookalike::engine::pipeline::{self, Summary};
use lookalike::report::{cost_rows, ledger};
use lookalike::store::workspace::{InputList, Manifest};
use lookalike::tasks::inspect::{stages, verify};

use super::controls::Controls;
use super::lists::put_manifest;
use super::place;

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    match controls.byte() % 4 {
        0 => inputs(controls.rest()),
        1 => edited(controls),
        _ => manifest(controls.rest()),
    }
}

struct Base {
    out: PathBuf,
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// The manifest.
    body: String,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let out = place::finished_run("manifest-run");
        let mut files = BTreeMap::new();
        collect(&out, &mut files);
        let whole = String::from_utf8(files[&out.join("manifest.json")].clone()).expect("UTF-8");
        Base {
            body: whole,
            out,
            files,
        }
    })
}

fn collect(directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            let content = std::fs::read(&path).expect("a file");
            files.insert(path, content);
        }
    }
}

/// A whole manifest from the input.
fn manifest(body: &[u8]) {
    let base = base();
    put_manifest(&base.out.join("manifest.json"), body);
    use_directory(base);
}

/// The manifest of a finished run with some stretches replaced.
fn edited(mut controls: Controls<'_>) {
    let base = base();
    let mut body = base.body.clone().into_bytes();
    for _ in 0..controls.byte() % 4 {
        let at = usize::from(controls.u16()) % body.len();
        let gone = usize::from(controls.byte() % 32).min(body.len() - at);
        let length = usize::from(controls.byte() % 32);
        let new = controls.bytes(length);
        body.splice(at..at + gone, new.iter().copied());
    }
    put_manifest(&base.out.join("manifest.json"), &body);
    use_directory(base);
}

/// All that looks at a directory, with its files as they were.
fn use_directory(base: &Base) {
    let Ok(manifest) = pipeline::look(&base.out) else {
        return;
    };
    assert!(!stages(&manifest).is_empty());
    let _ = verify(&base.out);
    round_trip(&manifest);
    if let Ok(workspace) = pipeline::open(&base.out) {
        let summary = Summary::of(&workspace.manifest);
        assert!(!ledger(&summary).is_empty());
        let _ = cost_rows(&summary);
        // Mapped, and read one by one.
        for memory in [ByteSize(1 << 30), ByteSize(0)] {
            let budget = Budget {
                memory,
                threads: 1,
                disk: Disk::Unchecked,
            };
            if let Ok(names) = Catalogue::names(&workspace, &budget) {
                for document in [0, 1, 6, 7, u32::MAX] {
                    let _ = names.get(document);
                }
            }
        }
        let _ = Catalogue::representatives(&workspace);
        if let Ok(sets) = MappedSets::open::<u64>(&workspace, 1 << 20) {
            for document in [0, 1, 6, 7, u32::MAX] {
                let _ = sets.look().get(document);
            }
        }
        let _ = each_pair(&workspace, List::Pairs, |_| Ok(()));
    }
    // Opening removes what the manifest does not name.
    for (path, content) in &base.files {
        if !path.exists() {
            place::put(path, content);
        }
    }
}

/// What is committed again says the same.
fn round_trip(manifest: &Manifest) {
    let json = serde_json::to_vec(manifest).expect("a manifest is written");
    let again = Manifest::from_json(&json, lookalike::engine::pipeline::RECORDS).expect("and read");
    assert_eq!(serde_json::to_vec(&again).expect("and written"), json);
}

/// A list of inputs.
fn inputs(lines: &[u8]) {
    let directory = place::subdirectory("inputs");
    place::put(&directory.join("inputs.jsonl"), lines);
    let mut list = InputList::open(&directory).expect("the list is there");
    let mut entries = Vec::new();
    while let Ok(Some(entry)) = list.next() {
        entries.push(entry.clone());
    }
    let mut list = InputList::open(&directory).expect("the list is there");
    for (number, entry) in entries.iter().enumerate().rev().take(4) {
        let found = list.entry_of(number as u32).expect("it was read");
        assert_eq!(found, Some(entry));
    }
}
