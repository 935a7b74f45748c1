//! Every operation on a file fails, one after the other: what can be repeated is repeated,
//! everything else is an error that names the file and the operation, and what comes afterwards is
//! as if nothing had been.
//!
//! `LOOKALIKE_EVERY_FAULT=1` does all that are listed here; without it, each kind of failure for
//! each kind of operation and file, and some more.

use crate::common;
use lookalike::Error;
use lookalike::base::measure::Criterion;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::cluster::ResultFormat;
use lookalike::engine::join;
use lookalike::engine::join::PairsEntry;
use lookalike::engine::merge;
use lookalike::engine::merge::PostingsEntry;
use lookalike::engine::pipeline;
use lookalike::engine::sample;
use lookalike::engine::sample::SampleEntry;
use lookalike::engine::sort;
use lookalike::engine::sort::RunsEntry;
use lookalike::methods::{self, Spec};
use lookalike::report::page::{self, PageConfig};
use lookalike::store::disk::faults::{Do, Fault, arm, errno};
use lookalike::store::disk::{Op, is_unnamed, temporary};
use lookalike::store::workspace::Workspace;
use lookalike::tasks::contamination::{self, ContaminationConfig};
use lookalike::tasks::dedup::{self, DedupConfig, Policy, Revisit};
use lookalike::tasks::evaluate::{EvaluateConfig, ListFile, evaluate};
use lookalike::tasks::inspect::verify;
use lookalike::tasks::passages::{
    self, BoilerplateConfig, By, MatchesConfig, PassagesConfig, Then,
};
use lookalike::tasks::plan::{self, PlanConfig, Target};
use lookalike::tasks::query::{self, QueryConfig};
use lookalike_lab::compare::CompareConfig;
use lookalike_lab::perturb::{self, Chowdhury, PerturbConfig, Recipe};
use lookalike_lab::qrels::{self, QrelsConfig};
use lookalike_lab::study::StudyConfig;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::corpus::{Doc, Shape, few_more, random_corpus, write_jsonl};
use common::stopped::StopAt;
use common::{Run, assert_same_files, copy_directory, least_memory, one_in, paths, tree};

/// What is done, in `out` below the directory that it is given; says what it found.
type Act = Box<dyn Fn(&Path) -> Result<String, Error> + Send + Sync>;

/// Something the program does, and where it begins.
struct Subject {
    name: &'static str,
    /// Holds the inputs, and `out`; what `out` holds at the beginning is in `begin`.
    root: tempfile::TempDir,
    act: Act,
}

impl Subject {
    /// Puts `out` back to what it is at the beginning.
    fn reset(&self) {
        let (out, begin) = (self.out(), self.root.path().join("begin"));
        if out.exists() {
            fs::remove_dir_all(&out).unwrap();
        }
        if begin.exists() {
            copy_directory(&begin, &out);
        }
    }

    fn out(&self) -> PathBuf {
        self.root.path().join("out")
    }

    /// Of its failures that are like those of other subjects, one in this number is made. A search
    /// for contamination is short.
    fn step(&self) -> usize {
        let one_in = one_in(3);
        if self.name == CONTAMINATION {
            7 * one_in
        } else {
            397 * one_in
        }
    }

    fn act(&self) -> Result<String, Error> {
        (self.act)(self.root.path())
    }

    /// What is left, without what a run costs.
    fn left(&self) -> BTreeMap<String, Vec<u8>> {
        if !self.out().exists() {
            return BTreeMap::new();
        }
        let mut files = tree(&self.out());
        for (name, bytes) in &mut files {
            // What was done, not what it cost; of a study, the tables without it; a comparison says
            // it of each method.
            if name.starts_with("old/") || name.starts_with("from/") {
                // It is only read.
                continue;
            }
            let of_study = name.starts_with("study/") && !name.ends_with(".tsv");
            let costs = ["lock", "manifest.json", "summary.json"];
            let last = name.rsplit('/').next().unwrap();
            if of_study || name.starts_with("compare") || costs.contains(&last) {
                bytes.clear();
            }
        }
        files
    }
}

const CONTAMINATION: &str = "contamination";

/// An attempt at a failure.
#[derive(Clone, Debug)]
struct Attempt {
    op: Op,
    path: PathBuf,
    /// Of the operations of this kind on this path, from 1.
    nth: u64,
    failure: Failure,
    /// Of the failures that fit.
    number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    /// An error once.
    Once(&'static str),
    /// Fewer bytes than asked for.
    Short(usize),
    /// Fewer bytes, then no more space.
    ShortThenFull,
    /// No more space from here on.
    Full,
}

impl Failure {
    /// Is nobody to notice?
    fn harmless(self) -> bool {
        matches!(self, Failure::Once("EINTR") | Failure::Short(_))
    }

    fn error(self) -> &'static str {
        match self {
            Failure::Once(name) => name,
            _ => "ENOSPC",
        }
    }

    /// Those that fit an operation. Of an input, that it may not be read is not a failure: it is
    /// rejected.
    fn of(op: Op, input: bool) -> Vec<Failure> {
        use Failure::{Full, Once, Short, ShortThenFull};
        match op {
            Op::Read => vec![Once("EIO"), Once("EINTR"), Short(1), Short(7)],
            Op::Write => vec![
                Once("EIO"),
                Once("ENOSPC"),
                Once("EINTR"),
                Short(1),
                Short(7),
                ShortThenFull,
                Full,
            ],
            Op::Sync | Op::SyncDirectory | Op::Lock => vec![Once("EIO")],
            Op::Open | Op::Inspect | Op::List if input => {
                vec![Once("EIO"), Once("EMFILE"), Once("ENOMEM")]
            }
            Op::Open => vec![Once("EIO"), Once("EMFILE"), Once("EACCES")],
            Op::List => vec![Once("EIO"), Once("EMFILE")],
            Op::Inspect => vec![Once("EIO"), Once("ENOMEM"), Once("EACCES")],
            Op::Create | Op::CreateDirectory => {
                vec![
                    Once("ENOSPC"),
                    Once("EMFILE"),
                    Once("EACCES"),
                    Once("EROFS"),
                ]
            }
            Op::Rename => vec![Once("EIO"), Once("ENOSPC"), Once("EACCES")],
            Op::Remove | Op::RemoveDirectory => vec![Once("EIO"), Once("EACCES")],
            Op::Map => vec![Once("ENOMEM"), Once("EIO")],
            Op::Point => Vec::new(),
        }
    }
}

/// The part of a path that is the same every time.
fn lasting_part(path: &Path) -> String {
    let text = path.to_str().unwrap();
    match text.find("/out/lookalike-") {
        Some(at) => text[at + "/out/lookalike-".len()..]
            .find('/')
            .map_or(text.into(), |slash| {
                text[at + "/out/lookalike-".len() + slash..].into()
            }),
        None => text.into(),
    }
}

/// What sort of file a path is: its name without numbers, and whether it is an input.
fn class(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap();
    let place = if below.starts_with("in") { "in" } else { "out" };
    let name = below.file_name().map_or("".into(), |n| n.to_string_lossy());
    let name = match name.strip_prefix("lookalike-") {
        Some(_) => "scratch".into(),
        None => name.replace(|c: char| c.is_ascii_digit(), ""),
    };
    format!("{place}/{name}")
}

impl Attempt {
    fn faults(&self) -> Vec<Fault> {
        let one = |nth, times, what| Fault {
            op: Some(self.op),
            changes: false,
            on: lasting_part(&self.path),
            // A directory is not what lies in it.
            ends: true,
            nth,
            times,
            what,
        };
        let full = Do::Fail(errno("ENOSPC").unwrap());
        match self.failure {
            Failure::Once(name) => vec![one(self.nth, 1, Do::Fail(errno(name).unwrap()))],
            Failure::Short(bytes) => vec![one(self.nth, 1, Do::Short(bytes))],
            Failure::ShortThenFull => {
                vec![one(self.nth, 1, Do::Short(7)), one(self.nth + 1, 1, full)]
            }
            Failure::Full => {
                let trigger = one(self.nth, u64::MAX, full);
                vec![trigger]
            }
        }
    }
}

/// Operations by what errors call them.
fn called(op: Op) -> &'static [&'static str] {
    match op {
        Op::Open => &["open", "open directory", "read"],
        Op::Create => &["create", "open", "make a file in", "link"],
        Op::Read => &["read", "read a temporary file in"],
        Op::Write => &["write", "write a temporary file in"],
        Op::Sync => &["sync"],
        Op::SyncDirectory => &["sync directory"],
        Op::Rename => &["rename"],
        Op::Remove => &["remove"],
        Op::CreateDirectory => &["create directory", "make a directory in"],
        Op::RemoveDirectory => &["remove"],
        Op::List => &["list", "read"],
        Op::Inspect => &["inspect", "read", "open"],
        Op::Map => &["map"],
        Op::Lock => &["lock"],
        Op::Point => &[],
    }
}

/// The output of `dedup` in whose private directory a file is written. Errors name its place.
fn of_output(temporary: &Path) -> Option<&Path> {
    let private = temporary
        .parent()
        .filter(|place| place.ends_with(dedup::PRIVATE))?;
    private.parent()
}

/// The directory of a file without a name. Errors name the directory.
fn of_unnamed(path: &Path) -> Option<&Path> {
    let unnamed = path.file_name()?.to_str().is_some_and(is_unnamed);
    path.parent().filter(|_| unnamed)
}

/// What is wrong with an error as the outcome of a failure.
fn wrong_with(error: &Error, attempt: &Attempt) -> Option<String> {
    let Error::Io {
        operation,
        path,
        source,
    } = error
    else {
        return Some(format!("another error: {error:?}"));
    };
    let text = error.to_string();
    let part = lasting_part(&attempt.path);
    let own = path.ends_with(part.trim_start_matches('/'))
        || temporary(path).ends_with(part.trim_start_matches('/'))
        || of_unnamed(&attempt.path) == Some(path)
        || of_output(&attempt.path).is_some_and(|output| path.starts_with(output))
        || *path == attempt.path;
    if !own {
        return Some(format!("names another path: {text}"));
    }
    if !called(attempt.op).contains(operation) {
        return Some(format!("names another operation: {text}"));
    }
    if source.raw_os_error() != errno(attempt.failure.error()) {
        return Some(format!("names another cause: {source:?}"));
    }
    let says = match attempt.failure.error() {
        "ENOSPC" => "free space on that disk",
        "EACCES" => "check the permissions",
        "EMFILE" => "ulimit -n",
        "EROFS" => "can be written to",
        _ => "repeat the command",
    };
    let help = error.help().unwrap_or_default();
    (!help.contains(says)).then(|| format!("its help is {help:?}"))
}

/// Ends the process if something takes too long: a test that hangs tells nobody where.
struct Watch(Mutex<BTreeMap<usize, (Instant, String)>>);

impl Watch {
    fn on(&self, worker: usize, what: String) {
        self.0
            .lock()
            .unwrap()
            .insert(worker, (Instant::now(), what));
    }

    fn off(&self, worker: usize) {
        self.0.lock().unwrap().remove(&worker);
    }

    fn look(&self) {
        for (began, what) in self.0.lock().unwrap().values() {
            if began.elapsed() > Duration::from_secs(600) {
                eprintln!("it hangs: {what}");
                std::process::abort();
            }
        }
    }
}

/// What was counted of all.
#[derive(Default)]
struct Counts {
    operations: usize,
    attempts: usize,
    /// Where another order of threads never came to the operation.
    not_met: usize,
    by_kind: BTreeMap<String, usize>,
    /// Failures that made no difference, by operation and file.
    passed_over: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

/// Failures that may make no difference, and why.
fn may_be_passed_over(subject: &Subject, attempt: &Attempt, class: &str, repeat: usize) -> bool {
    // Its directory is there at the beginning, with a lock.
    let is_look = subject.name == CONTAMINATION && attempt.nth == 1;
    let name = class.strip_prefix("out/").unwrap_or_default();
    match attempt.op {
        // The look at inputs before they are read is a sample; what cannot be looked at tells
        // nothing.
        Op::Open | Op::Read | Op::Inspect if class.starts_with("in/") => true,
        // Nor does a directory of which the disk space cannot be told.
        Op::Inspect
            if !name.contains('.') || attempt.path.parent() == Some(&std::env::temp_dir()) =>
        {
            true
        }
        // Before the look that counts, `output_kind` and `locked_by` take a lock file that they cannot
        // read for none: `OwnDirectory::look` and `Lock::take` meet the same file again.
        Op::Open if name == "lock" => subject.name == CONTAMINATION && attempt.nth <= 2,
        Op::Read if name == "lock" => is_look,
        // A new directory has no manifest, which its reading tells.
        Op::Inspect if name == "manifest.json" => attempt.nth == 1,
        // Where a directory is looked for and not found, names like it are a help, no more.
        Op::List => matches!(name, "plan" | "study"),
        // A list of parts that cannot be read does not keep the files beside it from saying that
        // this is an output directory; where its parts are needed, the error counts.
        Op::Open | Op::Read if name == "manifest.json" => true,
        // Result files that cannot be read are made again, of what is committed; and of a list that
        // is only looked at, more is read at once than is needed.
        Op::Open | Op::Read | Op::Inspect => common::RESULTS.contains(&name),
        // A directory that is there is looked at before it is locked, and this is the look's.
        Op::Lock => (repeat > 0 || is_look) && name == "lock",
        _ => false,
    }
}

/// The names of parts that are committed, in `out` and in directories below it.
fn committed(out: &Path) -> BTreeSet<String> {
    fn names(value: &serde_json::Value, all: &mut BTreeSet<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                // Not the checksum: a trial tells what it cost.
                if let (Some(name), Some(_)) = (fields.get("name"), fields.get("checksum")) {
                    all.insert(name.to_string());
                }
                fields.values().for_each(|value| names(value, all));
            }
            serde_json::Value::Array(values) => values.iter().for_each(|value| names(value, all)),
            _ => {}
        }
    }
    let mut all = BTreeSet::new();
    if !out.exists() {
        return all;
    }
    for path in paths(out) {
        if path.ends_with("manifest.json") {
            let text = fs::read_to_string(&path).unwrap();
            let body = &text[..=text.rfind('}').unwrap()];
            names(&serde_json::from_str(body).unwrap(), &mut all);
        }
    }
    all
}

fn size(out: &Path) -> (usize, u64) {
    if !out.exists() {
        return (0, 0);
    }
    let all = paths(out);
    let bytes = all.iter().map(|path| fs::metadata(path).unwrap().len());
    (all.len(), bytes.sum())
}

fn all_attempts(subject: &Subject, trace: &[(Op, PathBuf)]) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    let inputs = subject.root.path().join("in");
    for (at, (op, path)) in trace.iter().enumerate() {
        let part = lasting_part(path);
        let before = trace[..=at].iter();
        let same = before.filter(|(o, p)| o == op && p.to_string_lossy().ends_with(&part));
        let nth = same.count() as u64;
        let failures = Failure::of(*op, path.starts_with(&inputs));
        for (number, failure) in failures.into_iter().enumerate() {
            attempts.push(Attempt {
                op: *op,
                path: path.clone(),
                nth,
                failure,
                number,
            });
        }
    }
    attempts
}

struct Sweep<'a> {
    subject: &'a Subject,
    expected: BTreeMap<String, Vec<u8>>,
    says: String,
    everything: bool,
}

impl Sweep<'_> {
    /// Makes one failure, looks at what becomes of it, and goes on without.
    fn attempt(&self, number: usize, attempt: &Attempt, counts: &Mutex<Counts>) {
        let subject = self.subject;
        let class = class(&attempt.path, subject.root.path());
        let what = format!("{}: {:?} at {attempt:?}", subject.name, attempt.failure);
        let wrong = |text: String| counts.lock().unwrap().wrong.push(format!("{what}: {text}"));
        subject.reset();
        let again = attempt.failure.harmless() || !(self.everything || number.is_multiple_of(5));
        let (mut most, mut quiet, mut seen) = ((0, 0), 0, BTreeSet::new());
        for repeat in 0.. {
            let armed = arm(subject.root.path(), attempt.faults(), false);
            let outcome = subject.act();
            let met = armed.met();
            drop(armed);
            if met == 0 {
                counts.lock().unwrap().not_met += usize::from(repeat == 0);
                break;
            }
            match outcome {
                Ok(says) => {
                    if says != self.says {
                        wrong("it found something else".into());
                    }
                    if subject.left() != self.expected {
                        wrong("other bytes".into());
                    }
                    if !attempt.failure.harmless() {
                        if !may_be_passed_over(subject, attempt, &class, repeat) {
                            wrong("as if nothing had been".into());
                        }
                        let key = format!("{:?} {class}", attempt.op);
                        *counts.lock().unwrap().passed_over.entry(key).or_default() += 1;
                    }
                    break;
                }
                Err(error) if attempt.failure.harmless() => wrong(format!("{error}")),
                Err(error) => {
                    if repeat == 0
                        && let Some(text) = wrong_with(&error, attempt)
                    {
                        wrong(text);
                    }
                }
            }
            // What is committed is progress. Apart from it a failure may leave now more, now less,
            // but once it has left the most it leaves no more: times in the manifest differ by some
            // bytes.
            let (now, parts) = (size(&subject.out()), committed(&subject.out()));
            if seen.insert(parts) || now.0 > most.0 || now.1 > most.1 + 4096 {
                quiet = 0;
            } else {
                quiet += 1;
            }
            most = (most.0.max(now.0), most.1.max(now.1));
            if again || quiet == 4 {
                break;
            }
            if repeat == 30 {
                wrong(format!("it leaves more each time: {now:?}"));
                break;
            }
        }
        match subject.act() {
            Err(error) => wrong(format!("afterwards: {error}")),
            Ok(says) if says != self.says => wrong("afterwards it found something else".into()),
            Ok(_) => {
                let left = subject.left();
                if left != self.expected {
                    let names = |files: &BTreeMap<String, Vec<u8>>| {
                        files.keys().cloned().collect::<BTreeSet<_>>()
                    };
                    let (here, there) = (names(&left), names(&self.expected));
                    let differ: Vec<_> = here.symmetric_difference(&there).collect();
                    wrong(format!("afterwards other bytes, or files {differ:?}"));
                }
            }
        }
    }
}

fn inputs(directory: &Path, docs: &[Doc]) -> PathBuf {
    use std::io::Write;
    let place = write_jsonl(directory, docs, 6);
    let to = directory.join("in");
    fs::rename(place, &to).unwrap();
    let bytes = |number: usize| {
        let path = to.join(format!("{number:03}.jsonl"));
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        bytes
    };
    let gzip = |bytes: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    fs::write(to.join("000.jsonl.gz"), gzip(&bytes(0))).unwrap();
    let zstd = zstd::encode_all(&bytes(1)[..], 1).unwrap();
    fs::write(to.join("001.jsonl.zst"), zstd).unwrap();
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    out.write_all(&bytes(2)).unwrap();
    fs::write(to.join("002.jsonl.bz2"), out.finish().unwrap()).unwrap();
    let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
    out.write_all(&bytes(3)).unwrap();
    fs::write(to.join("003.jsonl.xz"), out.finish().unwrap()).unwrap();
    let mut warc = Vec::new();
    for n in 0..5 {
        let text = format!("<p>page {n} of words that are alike but for their number {n}");
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{text}");
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/{n}\r\n\
             WARC-Record-ID: <urn:uuid:{n}>\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        );
        warc.extend(gzip(head.as_bytes()));
    }
    fs::write(to.join("100.warc.gz"), warc).unwrap();
    fs::create_dir(to.join("files")).unwrap();
    fs::write(to.join("files/a.html"), "<p>a page alone in its file").unwrap();
    fs::write(to.join("files/empty.txt"), "").unwrap();
    to
}

fn small() -> Run {
    Run::default()
        .shingle_size(3)
        .threshold("0.2")
        .segment_size(8 << 10)
        .max_document(64 << 10)
        .threads(1)
}

fn shape(families: usize) -> Shape {
    Shape {
        families,
        members: 5,
        words: 120,
        vocabulary: 900,
        boilerplate: 30,
    }
}

/// A directory with inputs, and nothing else.
fn place(families: usize) -> tempfile::TempDir {
    let root = common::temporary();
    inputs(root.path(), &random_corpus(21, shape(families)));
    root
}

/// What `out` holds now is what it is to hold at the beginning.
fn keep(root: &Path) {
    fs::rename(root.join("out"), root.join("begin")).unwrap();
    copy_directory(&root.join("begin"), &root.join("out"));
}

fn ran(run: &Run, root: &Path) -> Result<String, Error> {
    run.run(&[&root.join("in")], &root.join("out"))
        .map(|_| String::new())
}

/// In a directory that holds nothing, the whole job.
fn fresh(name: &'static str, run: Run) -> Subject {
    Subject {
        name,
        root: place(4),
        act: Box::new(move |root| ran(&run, root)),
    }
}

/// From a collection on, or from a finished run.
fn onwards(name: &'static str, begin: &Run, act: Act) -> Subject {
    let root = place(4);
    ran(begin, root.path()).unwrap();
    keep(root.path());
    Subject { name, root, act }
}

/// From the collection on, with so little memory that there are many runs and generations.
fn generations(name: &'static str, join: &str) -> Subject {
    let root = place(30);
    let run = small().spill().join(join);
    let out = root.path().join("out");
    drop(run.ingest(&[&root.path().join("in")], &out).unwrap());
    keep(root.path());
    let stage = |number: usize, w: &mut Workspace, run: &Run| {
        let stop = Stop::default();
        let context = run.context(&stop, &Silent);
        let question = &run.question;
        match number {
            0 => sample::run::<u64>(w, &question.sampling, &context),
            1 => sort::form_runs::<u64>(w, &context),
            2 => merge::run::<u64>(w, Some(2), &context),
            3 => join::run::<u64>(w, &question.join, Some(2), &context),
            _ => pipeline::cluster(w, &context).map(drop),
        }
    };
    let mut memories = Vec::new();
    let mut workspace = pipeline::open(&out).unwrap();
    for number in 0..5 {
        let (memory, ()) =
            least_memory(|memory| stage(number, &mut workspace, &run.clone().memory(memory)));
        memories.push(memory);
    }
    let merged = workspace
        .manifest
        .get::<PostingsEntry>()
        .unwrap()
        .stats
        .generations;
    assert!(merged >= 2, "{merged} generations");
    drop(workspace);
    Subject {
        name,
        root,
        act: Box::new(move |root| {
            let mut workspace = pipeline::open(&root.join("out"))?;
            for (number, &memory) in memories.iter().enumerate() {
                // Only what is not there yet, as the pipeline does.
                let manifest = &workspace.manifest;
                let there = match number {
                    0 => manifest.has::<SampleEntry>(),
                    1 => {
                        manifest
                            .get::<RunsEntry>()
                            .is_some_and(|runs| runs.complete)
                            || manifest.has::<PostingsEntry>()
                    }
                    2 => manifest.get::<PostingsEntry>().is_some_and(|p| p.complete),
                    3 => manifest.has::<PairsEntry>(),
                    _ => false,
                };
                if !there {
                    stage(number, &mut workspace, &run.clone().memory(memory))?;
                }
            }
            Ok(String::new())
        }),
    }
}

/// An input more, so small that its pairs are added to those that are there.
fn one_more(root: &Path) {
    let docs = few_more(&random_corpus(21, shape(4)));
    let place = write_jsonl(&root.join("few"), &docs, 1);
    fs::rename(place.join("000.jsonl"), root.join("in/new.jsonl")).unwrap();
    fs::write(
        root.join("in/new.html"),
        "<p>another page alone in its file",
    )
    .unwrap();
}

/// A finished run, with an index or without, gets an input more.
fn added(name: &'static str, indexed: bool) -> Subject {
    let root = place(4);
    let out = root.path().join("out");
    ran(&small(), root.path()).unwrap();
    if indexed {
        make_index(&out);
    }
    keep(root.path());
    one_more(root.path());
    Subject {
        name,
        root,
        act: Box::new(|root| {
            let out = root.join("out");
            let inputs = pipeline::inputs(&[root.join("in")], &out)?;
            let stop = Stop::default();
            let summary =
                pipeline::add(&out, &inputs, false, None, &small().context(&stop, &Silent))?;
            let join = summary.join.unwrap();
            assert!(join.added.is_some() && join.pairs > 0);
            Ok(String::new())
        }),
    }
}

fn make_index(out: &Path) {
    let stop = Stop::default();
    let mut workspace = pipeline::open(out).unwrap();
    pipeline::index(&mut workspace, None, &small().context(&stop, &Silent)).unwrap();
}

/// An input is compared with a collection that is only read.
fn compared(name: &'static str, indexed: bool) -> Subject {
    let root = place(4);
    let old = root.path().join("out/old");
    small().run(&[&root.path().join("in")], &old).unwrap();
    if indexed {
        make_index(&old);
    }
    keep(root.path());
    one_more(root.path());
    Subject {
        name,
        root,
        act: Box::new(|root| {
            let (old, new) = (root.join("out/old"), root.join("out/new"));
            let given = ["in/new.jsonl", "in/new.html"].map(|name| root.join(name));
            let inputs = pipeline::inputs(&given, &new)?;
            let (stop, run) = (Stop::default(), small());
            let (config, question) = (&run.collection, &run.question);
            let context = run.context(&stop, &Silent);
            let summary =
                pipeline::run_against(&inputs, &old, &new, config, question, false, &context)?;
            let join = summary.join.unwrap();
            assert!(join.added.is_some() && join.pairs > 0);
            Ok(String::new())
        }),
    }
}

fn interrupted() -> Subject {
    let root = place(4);
    let run = small().spill();
    let out = root.path().join("out");
    let watched =
        |watch: &StopAt| run.watched(&[&root.path().join("in")], &out, &watch.stop, watch);
    let all = StopAt::never();
    watched(&all).unwrap();
    fs::remove_dir_all(&out).unwrap();
    let watch = StopAt::call(all.calls.load(Ordering::SeqCst) / 2);
    let stopped = watched(&watch);
    assert!(
        matches!(stopped, Err(Error::Interrupted { .. })),
        "{:?}",
        watch.begun()
    );
    keep(root.path());
    Subject {
        name: "goes on after an interruption",
        root,
        act: Box::new(move |root| ran(&run, root)),
    }
}

fn plan_config() -> PlanConfig {
    PlanConfig {
        target: Target {
            threshold: "0.5".parse().unwrap(),
            precision: "0.8".parse().unwrap(),
            recall: None,
        },
        ratios: vec![2, 4],
        subset: None,
    }
}

fn subjects() -> Vec<Subject> {
    let mut sampled = small().sampling("1/2");
    sampled.question.join.candidates = Some("0.2".parse().unwrap());
    let context_of = |root: &Path, act: &dyn Fn(&mut Workspace) -> Result<String, Error>| {
        act(&mut pipeline::open(&root.join("out"))?)
    };
    let evaluated = small();
    let evaluation = onwards(
        "evaluate",
        &evaluated,
        Box::new(|root| {
            let list = |name: &str| ListFile {
                path: root.join(name),
                columns: None,
            };
            let config = EvaluateConfig {
                truth: Some(list("out")),
                run: list("out/pairs.tsv"),
                documents: None,
                thresholds: vec!["0.5".parse().unwrap()],
                judged: None,
                true_grade: 1,
                run_lists: Default::default(),
                disagreements: None,
                families: None,
                scratch: root.join("out"),
            };
            let stop = Stop::default();
            let found = evaluate(&config, &small().context(&stop, &Silent))?;
            Ok(serde_json::to_string(&found).unwrap())
        }),
    );
    vec![
        fresh("through runs", small().spill()),
        fresh("in memory, by counting", small().join("count")),
        fresh("md5", small().fingerprint("md5").sampling("1/2")),
        generations("generations of runs, prefix join", "prefix"),
        generations("generations of runs, count join", "count"),
        interrupted(),
        added("add", false),
        added("add, with an index", true),
        compared("against", false),
        compared("against an index", true),
        onwards("sampled and verified, after another question", &small(), {
            Box::new(move |root| ran(&sampled, root))
        }),
        onwards(
            "nothing to do",
            &small(),
            Box::new(|root| ran(&small(), root)),
        ),
        onwards(
            "study",
            &small(),
            Box::new(move |root| {
                let config = StudyConfig {
                    ratios: vec![2],
                    thresholds: vec!["0.2".parse().unwrap(), "0.5".parse().unwrap()],
                };
                context_of(root, &|w| {
                    let stop = Stop::default();
                    let study = lookalike_lab::report::write_study(
                        w,
                        &config,
                        &small().context(&stop, &Silent),
                    )?;
                    Ok(serde_json::to_string(&study.0).unwrap())
                })
            }),
        ),
        onwards(
            "plan",
            &small(),
            Box::new(move |root| {
                context_of(root, &|w| {
                    let stop = Stop::default();
                    let context = small();
                    let context = context.context(&stop, &Silent);
                    let planned = plan::make(w, &plan_config(), &context)?;
                    plan::write_file(&root.join("out/plan.toml"), &planned.plan)?;
                    Ok(String::new())
                })
            }),
        ),
        onwards(
            "report",
            &small(),
            Box::new(move |root| {
                context_of(root, &|w| {
                    let stop = Stop::default();
                    let page = root.join("out/report.html");
                    let context = small();
                    let context = context.context(&stop, &Silent);
                    page::write(w, &PageConfig::default(), &page, &context)?;
                    Ok(String::new())
                })
            }),
        ),
        onwards(
            "verify",
            &small(),
            Box::new(|root| {
                let mut verified = verify(&root.join("out"))?;
                match verified.errors.pop() {
                    Some(error) => Err(error),
                    None => Ok(format!("{} {}", verified.files, verified.bytes)),
                }
            }),
        ),
        evaluation,
        methods_of_papers(),
        onwards(
            "query",
            &small(),
            Box::new(|root| {
                let stop = Stop::default();
                let run = small();
                let context = run.context(&stop, &Silent);
                let base = pipeline::open(&root.join("out"))?;
                let inputs = pipeline::inputs(&[root.join("in")], &root.join("out"))?;
                let config = QueryConfig {
                    criterion: Criterion {
                        measure: Default::default(),
                        threshold: "0.2".parse().unwrap(),
                    },
                    containing: None,
                    top: None,
                };
                let mut answers = String::new();
                let read = &run.collection.read;
                query::run(&base, None, &inputs, read, &config, &context, |answer| {
                    answers += &serde_json::to_string(&answer).unwrap();
                    Ok(())
                })?;
                Ok(answers)
            }),
        ),
        Subject {
            name: "perturb",
            root: place(4),
            act: Box::new(|root| {
                let config = PerturbConfig {
                    selection: Default::default(),
                    read: small().collection.read,
                    detector: true,
                    recipe: Recipe::Chowdhury(Chowdhury::default()),
                    originals: Some(2),
                    background: None,
                    seed: 0,
                };
                let stop = Stop::default();
                let run = small();
                let context = run.context(&stop, &Silent);
                perturb::run(&[root.join("in")], &root.join("out"), &config, &context)?;
                Ok(String::new())
            }),
        },
        judged(),
        contaminated(),
        searched(),
        deduplicated("dedup", false, DedupConfig::default()),
        deduplicated(
            "dedup, with revisit records",
            true,
            DedupConfig {
                revisit: Revisit::All,
                ..DedupConfig::default()
            },
        ),
        deduplicated("dedup, from a run", true, DedupConfig::default()),
        deduplicated(
            "dedup, from a run, with links",
            true,
            DedupConfig {
                link: true,
                ..DedupConfig::default()
            },
        ),
        deduplicated(
            "dedup, from a run, with a table",
            true,
            DedupConfig {
                results: ResultFormat::Parquet,
                ..DedupConfig::default()
            },
        ),
        onwards("tables", &small(), {
            Box::new(move |root| {
                context_of(root, &|w| {
                    let stop = Stop::default();
                    pipeline::tables(w, &small().context(&stop, &Silent))?;
                    Ok(String::new())
                })
            })
        }),
    ]
}

/// Two test sets, with texts of the corpus beside them, are looked for in it, where an earlier
/// search left its files.
fn contaminated() -> Subject {
    let root = place(4);
    let (inputs, aside) = (root.path().join("in"), root.path().join("aside"));
    fs::rename(&inputs, &aside).unwrap();
    fs::create_dir(&inputs).unwrap();
    fs::rename(aside, inputs.join("corpus")).unwrap();
    let docs = random_corpus(21, shape(4));
    let words = |at: usize| docs[at].text.split_whitespace().take(30);
    let texts = [0, 5, 9].map(|at| words(at).collect::<Vec<_>>().join(" "));
    let rows = texts.iter().map(|text| format!("{text},yes\n"));
    let csv = format!("question,answer\n{}", rows.collect::<String>());
    fs::write(inputs.join("test.csv"), csv).unwrap();
    let lines = texts.iter().map(|text| {
        let text = text.to_uppercase();
        serde_json::json!({"question": text, "answer": "one two three four five"}).to_string()
            + "\n"
    });
    let lines = zstd::encode_all(lines.collect::<String>().as_bytes(), 1).unwrap();
    fs::write(inputs.join("test.jsonl.zst"), lines).unwrap();
    let search = |root: &Path| {
        let out = root.join("out");
        let config = ContaminationConfig {
            against: vec![root.join("in/test.csv"), root.join("in/test.jsonl.zst")],
            fields: vec!["question".into(), "answer".into()],
            read: small().collection.read,
            output: Some(out.clone()),
            ..ContaminationConfig::default()
        };
        let corpus = pipeline::inputs(&[root.join("in/corpus")], &out)?;
        let stop = Stop::default();
        let run = small();
        let report = contamination::run(&corpus, &config, &run.context(&stop, &Silent))?;
        assert!(report.corpus.found > 3 && report.corpus.to_drop > 1);
        Ok(serde_json::to_string(&report).unwrap())
    };
    search(root.path()).unwrap();
    fs::write(root.path().join("out/items.tsv"), "of another search\n").unwrap();
    keep(root.path());
    Subject {
        name: CONTAMINATION,
        root,
        act: Box::new(search),
    }
}

/// Passages of a collection that was read, whose sorts do not fit in memory.
fn searched() -> Subject {
    let root = place(4);
    let stop = Stop::default();
    let (run, out) = (small(), root.path().join("out"));
    drop(run.ingest(&[&root.path().join("in")], &out).unwrap());
    let mut workspace = pipeline::open(&out).unwrap();
    pipeline::catalogued(&mut workspace, &run.context(&stop, &Silent)).unwrap();
    drop(workspace);
    keep(root.path());
    Subject {
        name: "passages",
        root,
        act: Box::new(|root| {
            let out = root.join("out");
            let items = Fault::at(Op::Point, 1, Do::Items(300));
            let _small = arm(&out, vec![items], false);
            let config = PassagesConfig {
                length: 3,
                matches: Some(MatchesConfig {
                    max_documents: 3,
                    reuse: None,
                }),
                boilerplate: Some(BoilerplateConfig {
                    by: By::Source,
                    top: 10,
                }),
                ..PassagesConfig::default()
            };
            let (stop, run) = (Stop::default(), small());
            let mut workspace = pipeline::open(&out)?;
            let context = run.context(&stop, &Silent);
            let found = passages::run(&mut workspace, &config, Then::End, &context)?;
            assert!(found.matches > 10 && found.common > 0);
            Ok(serde_json::to_string(&found).unwrap())
        }),
    }
}

/// The inputs again without their duplicates, beside the work directory.
fn deduplicated(name: &'static str, from: bool, config: DedupConfig) -> Subject {
    let root = place(4);
    if config.link {
        for number in 0..3 {
            let text = format!("a file of its own, number {number}: it is whole");
            fs::write(root.path().join(format!("in/whole-{number}.txt")), text).unwrap();
        }
    }
    if config.revisit != Revisit::None {
        let record = |number: usize, text: &str| {
            format!(
                "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:{number}>\r\n\
                 WARC-Date: 2020-01-01T00:00:0{number}Z\r\nWARC-Target-URI: http://e.org/{number}\r\n\
                 Content-Length: {}\r\n\r\n{text}\r\n\r\n",
                text.len()
            )
        };
        let warc = [(1, "one two"), (2, "One, two"), (3, "one two"), (4, "four")];
        let warc: String = warc.map(|(number, text)| record(number, text)).concat();
        fs::write(root.path().join("in/z.warc"), warc).unwrap();
    }
    let work = |root: &Path| small().run(&[&root.join("in")], &root.join("out/work"));
    if from {
        work(root.path()).unwrap();
        keep(root.path());
    }
    Subject {
        name,
        root,
        act: Box::new(move |root| {
            if !from {
                work(root)?;
            }
            let workspace = pipeline::open(&root.join("out/work"))?;
            let config = DedupConfig {
                keep: vec!["prefer:id=D0000".parse().unwrap(), Policy::Longest],
                ..config.clone()
            };
            let stop = Stop::default();
            let run = small();
            let context = run.context(&stop, &Silent);
            let outputs = [root.join("out/kept"), root.join("out/removed")];
            let outputs = (outputs[0].as_path(), Some(outputs[1].as_path()));
            let summary = dedup::run(&workspace, &config, outputs, &context)?;
            Ok(serde_json::to_string(&summary).unwrap())
        }),
    }
}

/// A method's keys and what comes of them, and its comparison with another.
fn methods_of_papers() -> Subject {
    let specs = || ["super-shingles", "shingles"].map(|spec| Spec::read(spec).unwrap());
    onwards(
        "methods, compared",
        &small().keep_text(),
        Box::new(move |root| {
            let stop = Stop::default();
            let run = small();
            let context = run.context(&stop, &Silent);
            let mut base = pipeline::open(&root.join("out"))?;
            for spec in specs() {
                methods::run(&base, &spec, &context)?;
            }
            let [one, other] = specs();
            let config = CompareConfig {
                methods: vec![one, other.clone()],
                truths: vec![other],
                cost: 100,
                ..CompareConfig::default()
            };
            let compared = lookalike_lab::report::write_comparison(&mut base, &config, &context)?;
            Ok(serde_json::to_string(&compared.agreement).unwrap())
        }),
    )
}

/// Judgements of all documents against the clusters.
fn judged() -> Subject {
    let root = place(4);
    let from = root.path().join("out/from");
    drop(small().run(&[&root.path().join("in")], &from).unwrap());
    keep(root.path());
    let subject = Subject {
        name: "qrels",
        root,
        act: Box::new(|root| {
            let config = QrelsConfig {
                qrels_format: Default::default(),
                qrels: root.join("judged.txt"),
                clusters: root.join("out/from"),
                runs: Vec::new(),
                output: Some(root.join("out/thin")),
                keep: Default::default(),
            };
            let stop = Stop::default();
            let report = qrels::run(&config, &small().context(&stop, &Silent))?;
            Ok(serde_json::to_string(&report).unwrap())
        }),
    };
    let rows = common::rows_of(&subject.out().join("from"), "documents.tsv");
    let lines = rows.iter().enumerate().map(|(n, row)| {
        let docno = row.split('\t').next().unwrap();
        format!("301 0 {docno} {}\n", n % 2)
    });
    let lines: String = lines.collect();
    fs::write(subject.root.path().join("judged.txt"), lines).unwrap();
    subject
}

#[test]
fn every_operation_fails() {
    let began = Instant::now();
    let everything = std::env::var_os("LOOKALIKE_EVERY_FAULT").is_some();
    let only = std::env::var("LOOKALIKE_FAULTS_OF").ok();
    let counts = Mutex::new(Counts::default());
    let seen = Mutex::new(BTreeSet::new());
    let subjects = subjects();
    let next = AtomicUsize::new(0);
    let watch = Watch(Mutex::default());
    let working = AtomicUsize::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while working.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_millis(100));
                watch.look();
            }
        });
        for worker in 0..2 {
            let (subjects, next, counts, seen, watch, working, only) =
                (&subjects, &next, &counts, &seen, &watch, &working, &only);
            scope.spawn(move || {
                // Even if something panics, so that the watch ends.
                struct Done<'a>(&'a AtomicUsize);
                impl Drop for Done<'_> {
                    fn drop(&mut self) {
                        self.0.fetch_sub(1, Ordering::SeqCst);
                    }
                }
                let _done = Done(working);
                while let Some(subject) = subjects.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if only.as_ref().is_some_and(|only| subject.name != only) {
                        continue;
                    }
                    watch.on(worker, subject.name.into());
                    sweep(subject, everything, counts, seen, &|what| {
                        watch.on(worker, what)
                    });
                    watch.off(worker);
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    eprintln!(
        "{} operations, {} failures, {} of them not met, in {:.1} s; by kind {:?}; passed over {:?}",
        counts.operations,
        counts.attempts,
        counts.not_met,
        began.elapsed().as_secs_f64(),
        counts.by_kind,
        counts.passed_over,
    );
    let first: Vec<_> = counts.wrong.iter().take(60).collect();
    assert!(
        first.is_empty(),
        "{} are wrong: {first:#?}",
        counts.wrong.len()
    );
    assert!(
        counts.not_met * 20 <= counts.attempts,
        "too many were not met"
    );
    if only.is_none() {
        for op in Op::ALL {
            let met = counts
                .by_kind
                .keys()
                .any(|kind| kind.starts_with(&format!("{op:?} ")));
            assert!(met || op == Op::Point, "nothing fails to {op}");
        }
    }
}

fn sweep(
    subject: &Subject,
    everything: bool,
    counts: &Mutex<Counts>,
    seen: &Mutex<BTreeSet<String>>,
    watch: &dyn Fn(String),
) {
    let began = Instant::now();
    subject.reset();
    let armed = arm(subject.root.path(), Vec::new(), true);
    let says = subject.act().unwrap();
    let trace = armed.trace();
    drop(armed);
    let expected = subject.left();
    subject.reset();
    assert_eq!(subject.act().unwrap(), says, "{}", subject.name);
    assert_same_files(&subject.left(), &expected, subject.name);
    let attempts = all_attempts(subject, &trace);
    let sweep = Sweep {
        subject,
        expected,
        says,
        everything,
    };
    let mut done = 0;
    for (number, attempt) in attempts.iter().enumerate() {
        let class = class(&attempt.path, subject.root.path());
        let kind = format!("{:?} {:?}", attempt.op, attempt.failure);
        // Each operation on each sort of file, with one of its failures after the other; and each
        // failure.
        let new = {
            let mut seen = seen.lock().unwrap();
            let of_file = format!("{:?} {class}", attempt.op);
            let turn = of_file.len() % Failure::of(attempt.op, class.starts_with("in/")).len();
            let its_turn = attempt.number == turn
                && seen.insert(of_file)
                && seen.len().is_multiple_of(one_in(4));
            seen.insert(kind.clone()) || its_turn
        };
        if !everything && !new && !(number + 1).is_multiple_of(subject.step()) {
            continue;
        }
        watch(format!("{}: {attempt:?}", subject.name));
        sweep.attempt(done, attempt, counts);
        done += 1;
        *counts.lock().unwrap().by_kind.entry(kind).or_default() += 1;
    }
    let mut counts = counts.lock().unwrap();
    counts.operations += trace.len();
    counts.attempts += done;
    let seconds = began.elapsed().as_secs_f64();
    let operations = trace.len();
    eprintln!(
        "{}: {operations} operations, {done} failures, {seconds:.1} s",
        subject.name
    );
}

/// A file that could not be read once was rejected for ever, and so was what came after the failure
/// in it.
#[test]
fn a_disk_that_fails_once_is_no_reject() {
    let root = place(4);
    let run = small();
    let expected = {
        ran(&run, root.path()).unwrap();
        common::lasting(&root.path().join("out"))
    };
    fs::remove_dir_all(root.path().join("out")).unwrap();
    for (op, on) in [
        (Op::Read, "000.jsonl.gz"),
        (Op::Read, "002.jsonl.bz2"),
        (Op::Open, "100.warc.gz"),
        (Op::List, "in/files"),
        (Op::Inspect, "a.html"),
    ] {
        for nth in 1.. {
            let mut fault = Fault::at(op, nth, Do::Fail(errno("EIO").unwrap()));
            fault.on = on.into();
            let armed = arm(root.path(), vec![fault], false);
            let outcome = ran(&run, root.path());
            if armed.met() == 0 {
                assert!(nth > 1, "{op:?} {on} was never met");
                break;
            }
            match outcome {
                Err(Error::Io { path, .. }) => {
                    assert!(path.to_string_lossy().contains(on), "{path:?}");
                }
                outcome => panic!("{op:?} {on} {nth}: {outcome:?}"),
            }
        }
        ran(&run, root.path()).unwrap();
        let out = root.path().join("out");
        assert_same_files(&common::lasting(&out), &expected, on);
        fs::remove_dir_all(out).unwrap();
    }
}

/// Where a path leads to could not be found out, and it was taken for another file than the
/// judgements: they were replaced by what is kept of them.
#[test]
fn judgements_that_cannot_be_looked_at_are_not_replaced() {
    let root = place(4);
    ran(&small(), root.path()).unwrap();
    let output = root.path().join("thin");
    fs::create_dir(&output).unwrap();
    let config = QrelsConfig {
        qrels_format: Default::default(),
        qrels: output.join("qrels"),
        clusters: root.path().join("out"),
        runs: Vec::new(),
        output: Some(output),
        keep: Default::default(),
    };
    fs::write(&config.qrels, "301 0 nowhere 1\n").unwrap();
    let stop = Stop::default();
    let judge = || qrels::run(&config, &small().context(&stop, &Silent));
    assert!(matches!(judge(), Err(Error::BadParameter { .. })));
    for nth in 1.. {
        let mut fault = Fault::at(Op::Inspect, nth, Do::Fail(errno("EIO").unwrap()));
        fault.on = "thin/qrels".into();
        let armed = arm(root.path(), vec![fault], false);
        let outcome = judge();
        if armed.met() == 0 {
            assert!(nth > 2, "it was never looked at");
            break;
        }
        assert!(outcome.is_err(), "they were replaced: {nth}");
    }
}

/// Files are touched through `store::disk` alone, or the tests here do not reach them.
#[test]
fn no_file_is_touched_but_through_the_layer() {
    // A process's standard input is not a file with a path.
    let forbidden = [
        "std::fs",
        "fs::",
        "File::open(",
        "File::create(",
        "OpenOptions",
        "read_dir(",
        ".exists()",
        "Mmap::map",
        ".canonicalize()",
        "fs::read",
        "remove_file",
        "create_dir",
        ".symlink_metadata(",
        "tempfile::",
        "Path::exists",
        "Path::is_file",
        "Path::is_dir",
        "tempdir(",
        "try_exists",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut looked = 0;
    let sources = ["src", "crates"].map(|name| root.join(name));
    for path in sources.iter().flat_map(|source| paths(source)) {
        let name = path
            .strip_prefix(root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_string();
        let is_test = name.ends_with("/tests.rs") || name.contains("/tests/");
        if name.starts_with("crates/store/src/disk/") || is_test {
            continue;
        }
        looked += 1;
        let text = fs::read_to_string(&path).unwrap();
        // Test modules stand at the end.
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let code = code
                .replace("rustix::fs::", "")
                .replace("os::unix::fs::", "");
            let allowed = match &name[..] {
                "crates/store/src/map.rs" => code.contains("Mmap::map"),
                // Types of what the layer hands out, not operations.
                "crates/text/src/read/inputs.rs" | "crates/store/src/workspace/inputs.rs" => {
                    code.contains("use std::fs;") || code.contains("fs::Metadata")
                }
                // The type of a descriptor that is open already.
                "src/cli/mod.rs" => {
                    code.contains("fn standard_output() -> std::io::Result<std::fs::File>")
                }
                // What the kernel says about this process.
                "crates/base/src/process.rs" => {
                    code.contains("read_to_string(path)") || code.contains("/proc/self/fd")
                }
                _ => false,
            };
            if !allowed && forbidden.iter().any(|word| contains_word(&code, word)) {
                found.push(format!("{name}:{}: {line}", number + 1));
            }
        }
    }
    assert!(looked > 50);
    assert!(found.is_empty(), "{found:#?}");
}

/// A text that does not go on to the left: `Cutoffs::` is not `fs::`, `PartFile::open` not
/// `File::open`.
fn contains_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let goes_on = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let own = code[..at].ends_with("disk::");
        word.starts_with('.') || !goes_on && !own
    })
}
