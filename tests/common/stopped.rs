//! Helpers that the tests of stops and of kills share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lookalike::Error;
use lookalike::base::progress::{Progress, Stop, Unit};

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
    let out = crate::common::temporary();
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

/// Asks for a stop when it has been called often enough, and keeps the stages that began.
pub struct StopAt {
    pub stop: Stop,
    pub after: usize,
    pub calls: AtomicUsize,
    begun: Mutex<Vec<&'static str>>,
}

impl StopAt {
    pub fn call(after: usize) -> StopAt {
        StopAt {
            stop: Stop::default(),
            after,
            calls: AtomicUsize::new(0),
            begun: Mutex::new(Vec::new()),
        }
    }

    /// Only watches.
    pub fn never() -> StopAt {
        StopAt::call(usize::MAX)
    }

    fn called(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.after {
            self.stop.request();
        }
    }

    /// The stages that began, each once however many passes it has.
    pub fn begun(&self) -> Vec<&'static str> {
        let mut begun = self.begun.lock().unwrap().clone();
        begun.dedup();
        begun
    }
}

impl Progress for StopAt {
    fn start(&self, stage: &'static str, _: Unit, _: Option<u64>) {
        self.begun.lock().unwrap().push(stage);
        self.called();
    }

    fn at(&self, _: u64) {
        self.called();
    }

    fn end(&self, _: &str) {
        self.called();
    }

    fn note(&self, _: &str) {
        self.called();
    }
}

pub fn stage_of(error: &Error) -> &'static str {
    match error {
        Error::Interrupted { stage } => stage,
        other => panic!("{other}"),
    }
}
