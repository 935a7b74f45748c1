//! What the tests of stops and of kills share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::corpus::{Shape, random_corpus, write_jsonl};
use super::{Run, lasting, paths};

/// Some input, and how it is asked about: through runs on disk, which memory would not need.
pub fn corpus(directory: &Path, families: usize) -> (PathBuf, Run) {
    let shape = Shape {
        families,
        members: 6,
        words: 200,
        vocabulary: 1500,
        boilerplate: 40,
    };
    let input = write_jsonl(directory, &random_corpus(21, shape), 3);
    let run = Run::default()
        .shingle_size(3)
        .threshold("0.2")
        .segment_size(8 << 10);
    (input, run.max_document(64 << 10).spill())
}

/// The files of an uninterrupted run, and those of the whole directory by name.
pub fn uninterrupted(run: &Run, input: &Path) -> (BTreeMap<String, Vec<u8>>, Vec<PathBuf>) {
    let out = tempfile::tempdir().unwrap();
    run.clone().threads(1).run(&[input], out.path()).unwrap();
    (lasting(out.path()), names(out.path()))
}

/// Files by their path in the directory, whatever is in them.
pub fn names(out: &Path) -> Vec<PathBuf> {
    let all = paths(out);
    all.iter()
        .map(|path| path.strip_prefix(out).unwrap().into())
        .collect()
}
