//! Directories to be damaged, in every state that a command can leave one in, and what is done to
//! them.
//!
//! `LOOKALIKE_EVERY_BIT=1` flips each of the eight bits of every byte, and cuts at every length, of
//! every file (`scripts/every-bit.sh`), `LOOKALIKE_EVERY_BIT=one` one bit of every byte; without
//! it, text files of more than [`EVERY_BYTE`] bytes have every byte near both ends flipped and
//! every [`STEP`]th between: one checksum covers all of them.
#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(unsafe_code, reason = "an allocator that watches")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::common::corpus::{Doc, Shape, few_more, random_corpus, write_jsonl};
use crate::common::stopped::StopAt;
use crate::common::{
    self, Run, assert_same_files, copy_directory, manifest, one_in, results, tree,
};
use lookalike::Error;
use lookalike::base::progress::{Progress, Silent, Stop, Unit};
use lookalike::engine::index::IndexEntry;
use lookalike::engine::join::{Before, JoinProgress};
use lookalike::engine::pipeline::{self, Summary};
use lookalike::engine::sample;
use lookalike::engine::sort;
use lookalike::report::page::PageConfig;
use lookalike::report::{self, ledger};
use lookalike::tasks::evaluate::{EvaluateConfig, ListFile, evaluate};
use lookalike::tasks::inspect::{inspect, stages, verify};
use lookalike::tasks::passages::{self, PassagesConfig, Then};
use lookalike::tasks::plan::{self, PlanConfig, Subset, Target};
use lookalike_lab::study::StudyConfig;
use tempfile::TempDir;

/// Files of at most so many bytes have every byte flipped.
const EVERY_BYTE: usize = 1200;
/// Bytes at each end of a longer file that are flipped one by one.
const ENDS: usize = 40;
/// A prime, so that all places within a record are met.
const STEP: usize = 97;

/// The largest request for memory so far.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// The most memory that a damaged file may make the program ask for at once; its own tables are
/// below it.
const MOST_AT_ONCE: usize = 64 << 20;

/// The system's allocator, watched.
struct Watched;

#[global_allocator]
static WATCHED: Watched = Watched;

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Nothing that was asked for at once was large.
pub fn assert_modest(what: &str) {
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= MOST_AT_ONCE, "{what}: {largest} bytes at once");
}

/// Steps made, for the watch to see that there is one now and then.
static STEPS: AtomicU64 = AtomicU64::new(0);

/// Ends the process if nothing happens for ten to twenty minutes while its value lives: a test
/// that hangs tells nobody where. The tests that run afterwards make no steps.
#[must_use]
pub fn watch() -> Sender<()> {
    let (lives, ends) = channel();
    std::thread::spawn(move || {
        let mut last = u64::MAX;
        while ends.recv_timeout(Duration::from_secs(600)) == Err(RecvTimeoutError::Timeout) {
            let now = STEPS.load(Ordering::Relaxed);
            if now == last {
                eprintln!("it hangs after {now} damages");
                std::process::abort();
            }
            last = now;
        }
    });
    lives
}

/// Is every byte to be flipped, and each file cut at every length?
pub fn every_byte() -> bool {
    std::env::var_os("LOOKALIKE_EVERY_BIT").is_some_and(|value| value == "1" || value == "one")
}

/// Is every bit to be flipped?
fn every_bit() -> bool {
    std::env::var_os("LOOKALIKE_EVERY_BIT").is_some_and(|value| value == "1")
}

pub type Files = BTreeMap<String, Vec<u8>>;

/// How a directory differs from another that is made in the same way.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub corpus: u64,
    pub shingle_size: u32,
    pub seed: u64,
    pub md5: bool,
}

impl Variant {
    pub const PLAIN: Variant = Variant {
        corpus: 6,
        shingle_size: 2,
        seed: 0,
        md5: false,
    };
    pub const MD5: Variant = Variant {
        md5: true,
        ..Variant::PLAIN
    };

    /// Of another input, with another parameter, and of the same input with another seed.
    fn others(self) -> [Variant; 3] {
        let shingle_size = self.shingle_size + 1;
        [
            Variant { corpus: 7, ..self },
            Variant {
                shingle_size,
                ..self
            },
            Variant { seed: 1, ..self },
        ]
    }
}

/// A directory to be damaged.
pub struct Subject {
    pub home: TempDir,
    /// The directory.
    pub out: PathBuf,
    pub input: PathBuf,
    /// The documents of the input, but for a few.
    docs: Vec<Doc>,
    pub run: Run,
    /// Its files, undamaged.
    pub files: Files,
    /// Those of directories made in the same way from something else.
    pub strangers: Vec<Files>,
}

fn plan_config(subset: bool) -> PlanConfig {
    PlanConfig {
        target: Target {
            threshold: "0.3".parse().unwrap(),
            precision: "0.8".parse().unwrap(),
            recall: None,
        },
        ratios: vec![2, 4],
        subset: subset.then(|| Subset {
            share: "1/2".parse().unwrap(),
            seed: 1,
        }),
    }
}

fn study_config() -> StudyConfig {
    StudyConfig {
        ratios: vec![2],
        thresholds: vec!["0.3".parse().unwrap(), "0.6".parse().unwrap()],
    }
}

/// Stops when a stage is at its so many-th step.
struct StopWhen {
    stop: Stop,
    stage: &'static str,
    at: u64,
}

impl Progress for StopWhen {
    fn start(&self, stage: &'static str, _: Unit, _: Option<u64>) {
        if stage == self.stage && self.at == 0 {
            self.stop.request();
        }
    }
    fn at(&self, at: u64) {
        if self.at > 0 && at >= self.at {
            self.stop.request();
        }
    }
    fn end(&self, _: &str) {}
    fn note(&self, _: &str) {}
}

impl Subject {
    /// A collection of several segments, with rejects and docnos that come twice.
    fn ingested(variant: Variant, families: usize, segment: u64) -> Subject {
        let home = common::temporary();
        let shape = Shape {
            families,
            members: 3,
            words: 50,
            vocabulary: 90,
            boilerplate: 10,
        };
        let corpus = random_corpus(variant.corpus, shape);
        let input = write_jsonl(home.path(), &corpus, 2);
        let more = "{\"id\": \"D0001\", \"text\": \"this docno comes twice\"}\n{\"broken\n";
        fs::write(input.join("more.jsonl"), more).unwrap();
        let mut run = Run::default()
            .shingle_size(variant.shingle_size)
            .fingerprint(if variant.md5 { "md5" } else { "64" })
            .threshold("0.3")
            .segment_size(segment);
        run.collection.shingle.seed = variant.seed;
        run.collection.text = true;
        let out = home.path().join("out");
        drop(run.ingest(&[&input], &out).unwrap());
        Subject {
            home,
            out,
            input,
            docs: corpus,
            run,
            files: Files::new(),
            strangers: Vec::new(),
        }
    }

    fn kept(mut self, variant: Variant, made: impl Fn(Variant) -> Subject) -> Subject {
        self.files = tree(&self.out);
        self.strangers = variant.others().map(|other| made(other).files).into();
        self
    }

    /// Of the strangers themselves.
    fn alone(mut self) -> Subject {
        self.files = tree(&self.out);
        self
    }

    /// With everything that a run makes.
    pub fn finished(variant: Variant) -> Subject {
        let made = |variant| {
            let subject = Subject::ingested(variant, 3, 3 << 10);
            subject.run.run(&[&subject.input], &subject.out).unwrap();
            subject.alone()
        };
        made(variant).kept(variant, made)
    }

    /// A finished run with page, plan and study.
    pub fn full() -> Subject {
        let made = |variant| {
            let subject = Subject::ingested(variant, 3, 6 << 10);
            subject.run.run(&[&subject.input], &subject.out).unwrap();
            for make in [plan_made, study_made, page_made] {
                make(&subject, &subject.out).unwrap();
            }
            subject.alone()
        };
        made(Variant::PLAIN).kept(Variant::PLAIN, made)
    }

    /// With sorted runs, not yet merged.
    pub fn sorted(variant: Variant) -> Subject {
        let made = |variant: Variant| {
            let mut subject = Subject::ingested(variant, 45, 1 << 20);
            // A count join reads runs of all fingerprints.
            subject.run = subject.run.join("count");
            if variant.md5 {
                subject.sort::<u128>();
            } else {
                subject.sort::<u64>();
            }
            let subject = subject.alone();
            assert!(subject.names(|name| name.starts_with("runs/")).len() >= 2);
            subject
        };
        made(variant).kept(variant, made)
    }

    fn sort<K: lookalike::base::ids::Key>(&self) {
        let mut workspace = pipeline::open(&self.out).unwrap();
        let stop = Stop::default();
        let sampling = self.run.question.sampling.clone();
        sample::run::<K>(&mut workspace, &sampling, &self.run.context(&stop, &Silent)).unwrap();
        // As little memory as makes more than one run, with one thread.
        let run = self.run.clone().threads(1);
        common::least_memory(|memory| {
            let run = run.clone().memory(memory);
            sort::form_runs::<K>(&mut workspace, &run.context(&stop, &Silent))
        });
    }

    /// In the midst of a join, with runs of candidates and of counted pairs.
    pub fn joining(variant: Variant) -> Subject {
        let made = |variant| {
            let subject = Subject::ingested(variant, 6, 1 << 20);
            let whole = tree(&subject.out);
            for after in 1.. {
                let watch = StopAt::call(after);
                let run = subject.run.clone().threads(1);
                let stopped = run.watched(&[&subject.input], &subject.out, &watch.stop, &watch);
                assert!(stopped.is_err(), "it was never in the midst of a join");
                let joining = manifest(&subject.out).joining;
                let runs = joining.map(|joining| (joining.runs.len(), joining.prefix));
                if let Some((1.., Some(prefix))) = runs
                    && !prefix.candidates.is_empty()
                {
                    break;
                }
                restored(&subject.out, &whole);
            }
            subject.alone()
        };
        made(variant).kept(variant, made)
    }

    /// In the midst of an addition to a finished run with an index: a level of the index is being
    /// made, or both are there and pairs are being added to those of before.
    pub fn growing(stage: &'static str) -> Subject {
        let made = |variant| {
            let subject = Subject::ingested(variant, 12, 1 << 20);
            let run = subject.run.clone().threads(1);
            run.run(&[&subject.input], &subject.out).unwrap();
            let stop = Stop::default();
            let mut workspace = pipeline::open(&subject.out).unwrap();
            pipeline::index(&mut workspace, None, &run.context(&stop, &Silent)).unwrap();
            drop(workspace);
            let few = few_more(&subject.docs);
            let few = write_jsonl(&subject.home.path().join("few"), &few, 1);
            fs::rename(few.join("000.jsonl"), subject.input.join("new.jsonl")).unwrap();
            let whole = tree(&subject.out);
            for after in 1.. {
                let watch = StopAt::call(after);
                let stopped = run.watched(&[&subject.input], &subject.out, &watch.stop, &watch);
                assert!(stopped.is_err(), "it was never in the midst of it");
                let left = pipeline::look(&subject.out).unwrap();
                let has_before = left.get::<Before>().is_some_and(|b| b.part.is_some());
                let index = left.get::<IndexEntry>().cloned().unwrap_or_default();
                let joining = left.get::<JoinProgress>().and_then(|j| j.prefix.clone());
                let reached = match stage {
                    "index" => index.making.is_some_and(|level| level.facts.is_some()),
                    _ => {
                        let candidates = joining.is_some_and(|p| !p.candidates.is_empty());
                        index.levels.len() == 2 && candidates
                    }
                };
                if has_before && reached {
                    break;
                }
                restored(&subject.out, &whole);
            }
            subject.alone()
        };
        made(Variant::PLAIN).kept(Variant::PLAIN, made)
    }

    /// With a pair list, and no results yet.
    pub fn joined() -> Subject {
        let made = |variant| {
            let subject = Subject::ingested(variant, 3, 3 << 10);
            let (stop, stage) = (Stop::default(), "cluster");
            let watch = StopWhen { stop, stage, at: 0 };
            let run = &subject.run;
            let run = run.watched(&[&subject.input], &subject.out, &watch.stop, &watch);
            assert!(matches!(run, Err(Error::Interrupted { stage: "cluster" })));
            subject.alone()
        };
        made(Variant::PLAIN).kept(Variant::PLAIN, made)
    }

    /// With what a study and a plan leave that were stopped.
    pub fn in_trials() -> Subject {
        let made = |variant| {
            let subject = Subject::ingested(variant, 3, 6 << 10);
            let (stop, stage) = (Stop::default(), "study");
            let watch = StopWhen { stop, stage, at: 2 };
            let mut workspace = pipeline::open(&subject.out).unwrap();
            let context = subject.run.context(&watch.stop, &watch);
            let study =
                lookalike_lab::report::write_study(&mut workspace, &study_config(), &context);
            assert!(matches!(study, Err(Error::Interrupted { .. })));
            let (stop, stage) = (Stop::default(), "plan");
            let watch = StopWhen { stop, stage, at: 2 };
            let context = subject.run.context(&watch.stop, &watch);
            let plan = plan::make(&mut workspace, &plan_config(true), &context);
            assert!(matches!(plan, Err(Error::Interrupted { .. })));
            drop(workspace);
            let subject = subject.alone();
            for place in ["study/truth", "study/trial", "plan/subset", "plan/truth"] {
                let parts = subject.names(|name| name.starts_with(place));
                assert!(parts.len() > 3, "{place}: {parts:?}");
            }
            subject
        };
        made(Variant::PLAIN).kept(Variant::PLAIN, made)
    }

    /// In the midst of a search for passages, with sorts of all its first steps.
    #[cfg(feature = "faults")]
    pub fn searching() -> Subject {
        use lookalike::store::disk::Op;
        use lookalike::store::disk::faults::{Do, Fault, arm};
        let made = |variant| {
            let subject = Subject::ingested(variant, 4, 6 << 10);
            let items = Fault::at(Op::Point, 1, Do::Items(200));
            let fail = Fault {
                on: "checkpoint/3-".into(),
                ..Fault::at(Op::Create, 1, Do::Fail(5))
            };
            let armed = arm(&subject.out, vec![items, fail], false);
            assert!(passages_made(&subject, &subject.out).is_err());
            drop(armed);
            let subject = subject.alone();
            for sort in ["1-", "2-", "4-"] {
                let of_sort = |name: &str| name.starts_with(&format!("checkpoint/{sort}"));
                assert!(!subject.names(of_sort).is_empty(), "{sort}");
            }
            subject
        };
        made(Variant::PLAIN).kept(Variant::PLAIN, made)
    }

    /// The files but the locks, and the beginnings of files, which are scrap.
    pub fn names(&self, which: impl Fn(&str) -> bool) -> Vec<String> {
        let names = self.files.keys().filter(|name| {
            let lock = name.rsplit('/').next() == Some("lock");
            !lock && !name.ends_with(".tmp") && which(name)
        });
        names.cloned().collect()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// Puts a file back as it was.
    pub fn restore(&self, name: &str) {
        let path = self.path(name);
        clear(&path);
        fs::write(path, &self.files[name]).unwrap();
    }

    /// `verify` must name each of the damaged files, which are given with what was done to them.
    pub fn are_found(&self, damaged: &[(&str, String)]) {
        STEPS.fetch_add(damaged.len() as u64, Ordering::Relaxed);
        let verified = catch_unwind(AssertUnwindSafe(|| verify(&self.out)));
        let found = verified.unwrap_or_else(|_| panic!("verify panicked: {damaged:?}"));
        let unreadable = found.is_err();
        let errors = found.map_or_else(|error| vec![error], |found| found.errors);
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        for (name, what) in damaged {
            let path = self.path(name);
            let shown = path.display().to_string();
            // A whole manifest of something else is told by every other file.
            let other = !unreadable && name.ends_with("manifest.json") && !told.is_empty();
            let any = other || told.iter().any(|error| error.contains(&shown));
            assert!(any, "not found: {name}, {what}: {told:?}");
            // Whoever looks at the file gets what is sound of it, or an error.
            let look = || inspect(&path, 1000, &mut |_| Ok(true)).map(drop);
            let look = catch_unwind(AssertUnwindSafe(look));
            look.map(drop)
                .unwrap_or_else(|_| panic!("inspect panicked: {name}, {what}"));
        }
        // No error stands for two files.
        assert!(told.len() >= damaged.len(), "{damaged:?}: {told:?}");
        assert!(
            errors.iter().all(|error| error.help().is_some()),
            "{told:?}"
        );
        assert_modest(&format!("{damaged:?}"));
    }

    /// Whatever is asked now is answered rightly, or not at all. Says whether it was answered.
    pub fn answers(&self, question: &JoinParameters, what: &str) -> bool {
        STEPS.fetch_add(1, Ordering::Relaxed);
        let copy = tempfile::tempdir_in(self.home.path()).unwrap();
        copied(&self.out, copy.path());
        let what = format!("{what}: {}", question.name);
        let ask = || (question.ask)(self, copy.path());
        let asked = catch_unwind(AssertUnwindSafe(ask));
        assert_modest(&what);
        match asked.unwrap_or_else(|_| panic!("it panicked: {what}")) {
            Ok(answer) => {
                let expected = question.expected.as_ref();
                let expected = expected.unwrap_or_else(|| panic!("{what}: answered"));
                assert_same_files(&answer, expected, &what);
                true
            }
            Err(error @ Error::Panicked { .. }) => panic!("{what}: {error}"),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        }
    }

    /// Questions, with what is answered while nothing is damaged.
    pub fn questions(&self, which: &[Ask]) -> Vec<JoinParameters> {
        let question = |&(name, ask): &Ask| {
            let copy = tempfile::tempdir_in(self.home.path()).unwrap();
            copied(&self.out, copy.path());
            let expected = ask(self, copy.path()).ok();
            JoinParameters {
                name,
                ask,
                expected,
            }
        };
        which.iter().map(question).collect()
    }

    /// Damages done to a file other than flips, cuts and additions: what, and how.
    pub fn replacements(&self, name: &str) -> Vec<(String, Replacement)> {
        let bytes = &self.files[name];
        let mut all = vec![
            ("removed".to_string(), Replacement::Nothing),
            ("replaced by a directory".into(), Replacement::Directory),
            ("replaced by a link to itself".into(), Replacement::Loop),
        ];
        if reads_everything(self.home.path()) {
            say_once("LEFT OUT: files made unreadable, as root reads everything");
        } else {
            all.push(("made unreadable".into(), Replacement::Unreadable));
        }
        let kind = kind_of(name);
        let mut kinds = BTreeSet::from([kind.clone()]);
        for (other, content) in &self.files {
            if content != bytes && (same_kind(other, name) || kinds.insert(kind_of(other))) {
                let what = format!("replaced by {other}");
                all.push((what, Replacement::Content(content.clone())));
            }
        }
        for (number, stranger) in self.strangers.iter().enumerate() {
            if let Some(content) = stranger.get(name).filter(|content| *content != bytes) {
                let what = format!("replaced by that of stranger {number}");
                all.push((what, Replacement::Content(content.clone())));
            }
        }
        all
    }
}

/// The damage done to a file.
pub enum Damage {
    /// A byte, and which of its bits.
    Flipped((usize, u8)),
    /// To that many bytes.
    Cut(usize),
    /// By these bytes.
    Longer(Vec<u8>),
    Replaced(String, Replacement),
}

impl Damage {
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        match self {
            Damage::Flipped(flip) => fs::write(path, flipped(bytes, *flip)).unwrap(),
            Damage::Cut(length) => fs::write(path, &bytes[..*length]).unwrap(),
            Damage::Longer(more) => fs::write(path, [bytes, more].concat()).unwrap(),
            Damage::Replaced(_, replacement) => replacement.put(path),
        }
    }
}

impl Display for Damage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Flipped((at, mask)) => write!(to, "byte {at} flipped by {mask:#x}"),
            Damage::Cut(length) => write!(to, "cut to {length} bytes"),
            Damage::Longer(more) => write!(to, "{} bytes more", more.len()),
            Damage::Replaced(what, _) => to.write_str(what),
        }
    }
}

/// The replacement of a file.
pub enum Replacement {
    Nothing,
    Directory,
    Loop,
    Unreadable,
    Content(Vec<u8>),
}

impl Replacement {
    pub fn put(&self, path: &Path) {
        match self {
            Replacement::Unreadable => {
                fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
                return;
            }
            _ => clear(path),
        }
        match self {
            Replacement::Nothing | Replacement::Unreadable => {}
            Replacement::Directory => fs::create_dir(path).unwrap(),
            Replacement::Loop => symlink(path.file_name().unwrap(), path).unwrap(),
            Replacement::Content(bytes) => fs::write(path, bytes).unwrap(),
        }
    }
}

/// Does this user read files that nobody may read? Root does.
fn reads_everything(directory: &Path) -> bool {
    let probe = directory.join("probe");
    fs::write(&probe, "").unwrap();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o000)).unwrap();
    let read = fs::read(&probe).is_ok();
    fs::remove_file(&probe).unwrap();
    read
}

fn say_once(text: &'static str) {
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| eprintln!("{text}"));
}

/// Removes whatever is there.
pub fn clear(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir(path).unwrap();
    } else if path.is_symlink() || path.exists() {
        fs::remove_file(path).unwrap();
    }
}

/// Puts a directory back as it was.
fn restored(out: &Path, files: &Files) {
    fs::remove_dir_all(out).unwrap();
    for (name, bytes) in files {
        let path = out.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Copies a directory with what stands in for a file, a link to itself included.
fn copied(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_symlink() {
            symlink(path.file_name().unwrap(), &target).unwrap();
        } else if path.is_dir() {
            fs::create_dir(&target).unwrap();
            copied(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

pub fn kind_of(name: &str) -> String {
    name.rsplit('.').next().unwrap_or_default().into()
}

pub fn same_kind(a: &str, b: &str) -> bool {
    kind_of(a) == kind_of(b)
}

/// Which bits of a file of so many bytes are flipped: byte and mask.
pub fn flips(name: &str, bytes: usize) -> Vec<(usize, u8)> {
    if every_bit() {
        return (0..bytes)
            .flat_map(|at| (0..8).map(move |bit| (at, 1 << bit)))
            .collect();
    }
    // Another bit each time.
    places(name, bytes)
        .into_iter()
        .map(|at| (at, 1 << (at % 8)))
        .collect()
}

fn places(name: &str, bytes: usize) -> Vec<usize> {
    let text = ["json", "jsonl", "tsv", "csv", "svg", "html", "toml"];
    let most = if text.contains(&kind_of(name).as_str()) {
        EVERY_BYTE / 2
    } else {
        EVERY_BYTE * 2
    };
    let most = most / one_in(4);
    if every_byte() || bytes <= most {
        return (0..bytes).collect();
    }
    let between = (ENDS..bytes - ENDS).step_by(STEP);
    (0..ENDS)
        .chain(between)
        .chain(bytes - ENDS..bytes)
        .collect()
}

/// Lengths at which a file is cut.
pub fn cuts(name: &str, bytes: usize) -> Vec<usize> {
    if every_byte() {
        return (0..bytes).collect();
    }
    // A length is checked before anything else is.
    let all = places(name, bytes);
    all.into_iter()
        .step_by(3)
        .chain(bytes.checked_sub(1))
        .collect()
}

pub fn flipped(bytes: &[u8], (at, mask): (usize, u8)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= mask;
    bytes
}

/// Some of `from`, evenly, both ends among them.
pub fn some<T: Copy>(from: &[T], count: usize) -> Vec<T> {
    let last = from.len().saturating_sub(1);
    let chosen: BTreeSet<usize> = (0..=count).map(|i| i * last / count.max(1)).collect();
    chosen
        .into_iter()
        .filter_map(|i| from.get(i).copied())
        .collect()
}

/// Something to be asked of a directory: its name, and how its answer is got, as files.
pub type Ask = (&'static str, fn(&Subject, &Path) -> Result<Files, Error>);

/// With the right answer, if there is one.
pub struct JoinParameters {
    pub name: &'static str,
    pub ask: fn(&Subject, &Path) -> Result<Files, Error>,
    pub expected: Option<Files>,
}

fn run_made(run: &Run, subject: &Subject, out: &Path) -> Result<Files, Error> {
    run.run(&[&subject.input], out)?;
    Ok(results(out))
}

fn same_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    run_made(&subject.run, subject, out)
}

fn threshold_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    run_made(&subject.run.clone().threshold("0.6"), subject, out)
}

fn sampling_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    run_made(&subject.run.clone().sampling("1/2:1"), subject, out)
}

fn clusters_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    let mut workspace = pipeline::open(out)?;
    let stop = Stop::default();
    pipeline::cluster(&mut workspace, &subject.run.context(&stop, &Silent))?;
    Ok(results(out))
}

pub fn passages_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    let stop = Stop::default();
    let context = subject.run.context(&stop, &Silent);
    let mut workspace = pipeline::open(out)?;
    pipeline::catalogued(&mut workspace, &context)?;
    let config = PassagesConfig {
        length: 3,
        ..PassagesConfig::default()
    };
    passages::run(&mut workspace, &config, Then::End, &context)?;
    let read = |name: &&str| Some((name.to_string(), fs::read(out.join(name)).ok()?));
    Ok(passages::FILES.iter().filter_map(read).collect())
}

pub fn page_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    let mut workspace = pipeline::open(out)?;
    let (stop, page) = (Stop::default(), out.join("report.html"));
    let context = subject.run.context(&stop, &Silent);
    report::write_page(&mut workspace, &PageConfig::default(), &page, &context)?;
    Ok(Files::from([("page".into(), fs::read(page).unwrap())]))
}

pub fn study_page_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    let mut workspace = pipeline::open(out)?;
    let stop = Stop::default();
    let context = subject.run.context(&stop, &Silent);
    let page = lookalike_lab::report::write_study_page(&mut workspace, &context)?;
    Ok(Files::from([("page".into(), fs::read(page).unwrap())]))
}

pub fn plan_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    let mut workspace = pipeline::open(out)?;
    let stop = Stop::default();
    let context = subject.run.context(&stop, &Silent);
    let planned = plan::make(&mut workspace, &plan_config(true), &context)?;
    let path = out.join(plan::PLAN_FILE);
    plan::keep(&mut workspace, &path, &planned.plan)?;
    assert_eq!(plan::read(&path)?.groups.len(), planned.plan.groups.len());
    Ok(Files::from([("plan".into(), fs::read(path).unwrap())]))
}

pub fn study_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    let mut workspace = pipeline::open(out)?;
    let stop = Stop::default();
    let context = subject.run.context(&stop, &Silent);
    lookalike_lab::report::write_study(&mut workspace, &study_config(), &context)?;
    let entries = fs::read_dir(out.join("study")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    // Its costs differ each time.
    let timed = |path: &Path| path.ends_with("study.json") || path.ends_with("study.html");
    let files = files.filter(|path| path.is_file() && !timed(path));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_string();
    Ok(files
        .map(|path| (name(&path), fs::read(path).unwrap()))
        .collect())
}

fn evaluation_made(subject: &Subject, out: &Path) -> Result<Files, Error> {
    let list = |path: &Path| ListFile {
        path: path.into(),
        columns: None,
    };
    // The other list is sound.
    let sound = subject.home.path().join("sound");
    if !sound.exists() {
        subject.run.run(&[&subject.input], &sound)?;
    }
    let stop = Stop::default();
    let config = EvaluateConfig {
        truth: Some(list(&sound)),
        run: list(out),
        documents: None,
        thresholds: vec!["0.5".parse().unwrap()],
        judged: None,
        true_grade: 1,
        run_lists: Default::default(),
        disagreements: None,
        families: None,
        scratch: subject.home.path().into(),
    };
    let found = evaluate(&config, &subject.run.context(&stop, &Silent))?;
    let text = serde_json::to_vec(&(&found.pairs, &found.clusters)).unwrap();
    Ok(Files::from([("evaluation".into(), text)]))
}

fn state_told(_: &Subject, out: &Path) -> Result<Files, Error> {
    let manifest = pipeline::look(out)?;
    let told = format!(
        "{:?}\n{}",
        stages(&manifest),
        ledger(&Summary::of(&manifest))
    );
    Ok(Files::from([("state".into(), told.into())]))
}

/// Everything that can be asked of a directory.
pub const ASKS: [Ask; 9] = [
    ("another threshold", threshold_made),
    ("another sampling", sampling_made),
    ("the same", same_made),
    ("cluster", clusters_made),
    ("report", page_made),
    ("evaluate", evaluation_made),
    ("plan", plan_made),
    ("study", study_made),
    ("status", state_told),
];

/// The first of them.
pub const RUNS: [Ask; 3] = [ASKS[0], ASKS[1], ASKS[2]];

/// Makes a whole directory again after a remedy; `copy_directory` as it was.
pub fn copy(subject: &Subject, to: &Path) {
    copy_directory(&subject.out, to);
}
