//! Helpers that the tests share: runs of the pipeline in temporary directories, random corpora, and
//! the oracle, a second and much slower implementation of every definition.
#![allow(dead_code, reason = "each test file uses some of it")]

pub mod corpus;
pub mod oracle;
pub mod stopped;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::time::{Duration, Instant};

use lookalike::Error;
use lookalike::base::budget::{Budget, ByteSize, Disk};
use lookalike::base::ids::Key;
use lookalike::base::progress::{Context, Progress, Silent, Stop};
use lookalike::engine::cluster::ResultsEntry;
use lookalike::engine::collection::{self, CollectionConfig, SegmentEntry, SizeGroups};
use lookalike::engine::index::{Buffers, Index};
use lookalike::engine::join::{JoinConfig, JoinProgress, PairsEntry};
use lookalike::engine::merge::PostingsEntry;
use lookalike::engine::pipeline::{self, JoinParameters, Spill, Summary};
use lookalike::engine::sample::SampleEntry;
use lookalike::engine::sample::plan::Plan;
use lookalike::engine::shingle::ShingleConfig;
use lookalike::engine::sort::RunsEntry;
use lookalike::store::workspace::{Manifest, Workspace};
use lookalike::tasks::plan::{self, PlanConfig};
use lookalike::text::read::ReadConfig;
use tempfile::TempDir;

/// The files that a run makes for people, which must be the same bytes however they were made.
pub const RESULTS: [&str; 5] = [
    "clusters.jsonl",
    "documents.tsv",
    "exact-duplicates.tsv",
    "pairs.tsv",
    "rejects.jsonl",
];

/// The end of a process, and the most KiB of memory that it had when it was looked at. One that does
/// not end within `patience` is killed.
pub fn ended(mut child: Child, patience: Duration, what: &str) -> (Output, u64) {
    // What it says is read meanwhile: a pipe that is full would make it hang.
    fn reading(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            pipe.map(|mut pipe| pipe.read_to_end(&mut all).unwrap());
            all
        })
    }
    let (out, err) = (reading(child.stdout.take()), reading(child.stderr.take()));
    let about = format!("/proc/{}/status", child.id());
    let (begun, mut peak) = (Instant::now(), 0);
    let status = loop {
        let lines = fs::read_to_string(&about).unwrap_or_default();
        let line = lines.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let words = line.and_then(|line| line.split_whitespace().next());
        peak = words.map_or(peak, |kib| kib.parse().unwrap());
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > patience {
            child.kill().unwrap();
            panic!("{what}: hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = [out, err].map(|read| read.join().unwrap());
    let output = Output {
        status,
        stdout,
        stderr,
    };
    (output, peak)
}

/// Of many cases, a test takes one in this number: one in `of`, so that all tests take two minutes on
/// two cores, or all of them with `LOOKALIKE_THOROUGH=1`, as `.ci/run` sets it.
pub fn one_in(of: usize) -> usize {
    let thorough = std::env::var_os("LOOKALIKE_THOROUGH").is_some_and(|value| value == "1");
    if thorough { 1 } else { of }
}

/// A new directory, in memory if there is room for what the tests write at once. Disks take several
/// times as long to make, sync and delete so many small files, and no test depends on them: where
/// the power is cut, what is lost is calculated.
pub fn temporary() -> TempDir {
    const ROOM: u64 = 4 << 30;
    let memory = Path::new("/dev/shm");
    let free = rustix::fs::statvfs(memory).map_or(0, |disk| disk.f_bavail * disk.f_frsize);
    let place = if free < ROOM {
        std::env::temp_dir()
    } else {
        memory.to_path_buf()
    };
    tempfile::tempdir_in(place).unwrap()
}

/// One run: what is asked of which collection, and with what means.
#[derive(Clone, Debug)]
pub struct Run {
    pub collection: CollectionConfig,
    pub question: JoinParameters,
    /// A plan is made with this, and used.
    pub planning: Option<PlanConfig>,
    pub memory: ByteSize,
    pub threads: usize,
    pub disk: Disk,
    pub strict: bool,
}

impl Default for Run {
    /// Everything in memory, nothing sampled, all postings, ten words, 0.85.
    fn default() -> Self {
        Run {
            collection: CollectionConfig {
                read: ReadConfig {
                    max_document: ByteSize::mib(1),
                    ..ReadConfig::default()
                },
                shingle: ShingleConfig::default(),
                size_groups: SizeGroups::default(),
                segment_size: ByteSize::mib(64),
                text: false,
                condition: None,
            },
            planning: None,
            question: JoinParameters {
                sampling: "full".parse().unwrap(),
                plan: None,
                join: JoinConfig {
                    join: "prefix".parse().unwrap(),
                    threshold: "0.85".parse().unwrap(),
                    measure: Default::default(),
                    max_postings: None,
                    pairs: "all".parse().unwrap(),
                    ..JoinConfig::default()
                },
                spill: Spill::Auto,
                all_postings: false,
                results: Default::default(),
                fan_in: None,
            },
            memory: ByteSize::mib(256),
            threads: 2,
            disk: Disk::default(),
            strict: false,
        }
    }
}

impl Run {
    pub fn threshold(mut self, text: &str) -> Run {
        self.question.join.threshold = text.parse().unwrap();
        self
    }

    /// `prefix` or `count`.
    pub fn join(mut self, text: &str) -> Run {
        self.question.join.join = text.parse().unwrap();
        self
    }

    /// Records go through runs on disk.
    pub fn spill(mut self) -> Run {
        self.question.spill = Spill::Always;
        self
    }

    /// They do so only where memory does not take them.
    pub fn direct(mut self) -> Run {
        self.question.spill = Spill::Auto;
        self
    }

    /// `all` or `none`.
    pub fn pairs(mut self, text: &str) -> Run {
        self.question.join.pairs = text.parse().unwrap();
        self
    }

    pub fn sampling(mut self, text: &str) -> Run {
        self.question.sampling = text.parse().unwrap();
        self
    }

    pub fn tokens(mut self, text: &str) -> Run {
        self.collection.shingle.parse.tokens = text.parse().unwrap();
        self
    }

    pub fn fingerprint(mut self, text: &str) -> Run {
        self.collection.shingle.fingerprint = text.parse().unwrap();
        self
    }

    pub fn shingle_size(mut self, words: u32) -> Run {
        self.collection.shingle.shingle_size = words;
        self
    }

    pub fn segment_size(mut self, bytes: u64) -> Run {
        self.collection.segment_size = ByteSize(bytes);
        self
    }

    pub fn keep_text(mut self) -> Run {
        self.collection.text = true;
        self
    }

    pub fn max_document(mut self, bytes: u64) -> Run {
        self.collection.read.max_document = ByteSize(bytes);
        self
    }

    pub fn memory(mut self, bytes: u64) -> Run {
        self.memory = ByteSize(bytes);
        self
    }

    pub fn threads(mut self, threads: usize) -> Run {
        self.threads = threads;
        self
    }

    pub fn disk(mut self, disk: Disk) -> Run {
        self.disk = disk;
        self
    }

    pub fn fan_in(mut self, runs: usize) -> Run {
        self.question.fan_in = Some(runs);
        self
    }

    /// Runs the whole pipeline.
    pub fn run(&self, inputs: &[&Path], out: &Path) -> Result<Summary, Error> {
        self.watched(inputs, out, &Stop::default(), &Silent)
    }

    /// The same, watched by somebody who may stop it.
    pub fn watched(
        &self,
        inputs: &[&Path],
        out: &Path,
        stop: &Stop,
        progress: &dyn Progress,
    ) -> Result<Summary, Error> {
        let arguments: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
        let inputs = pipeline::inputs(&arguments, out)?;
        let (collection, question) = (&self.collection, &self.question);
        let context = self.context(stop, progress);
        match &self.planning {
            None => pipeline::run(&inputs, out, collection, question, self.strict, &context),
            Some(planning) => plan::run_with_plan(
                &inputs,
                out,
                collection,
                planning,
                question,
                self.strict,
                &context,
            ),
        }
    }

    /// Reads the inputs into a collection, and no more.
    pub fn ingest(&self, inputs: &[&Path], out: &Path) -> Result<Workspace, Error> {
        let arguments: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
        let inputs = pipeline::inputs(&arguments, out)?;
        let stop = Stop::default();
        let context = self.context(&stop, &Silent);
        pipeline::ingest(&inputs, out, &self.collection, self.strict, &context)
    }

    pub fn context<'a>(&self, stop: &'a Stop, progress: &'a dyn Progress) -> Context<'a> {
        Context {
            budget: Budget {
                memory: self.memory,
                threads: self.threads,
                disk: self.disk,
            },
            stop,
            progress,
            scratch: None,
            programs: &[],
        }
    }
}

/// How much more is tried each time where a refusal has told the next whole MiB.
const STEP: u64 = 16 << 10;

/// Asks with nothing at all, then, led by what the refusals say would do, with more, until it does.
///
/// Returns the budget that did. A refusal must ask for more than it was given.
pub fn least_memory<T>(attempt: impl FnMut(u64) -> Result<T, Error>) -> (u64, T) {
    least_memory_in_steps(STEP, attempt)
}

/// The same in other steps, for what takes long.
pub fn least_memory_in_steps<T>(
    step: u64,
    mut attempt: impl FnMut(u64) -> Result<T, Error>,
) -> (u64, T) {
    let mut memory = 0;
    loop {
        match attempt(memory) {
            Ok(done) => return (memory, done),
            Err(Error::BudgetTooSmall { given, least, .. }) => {
                assert_eq!(given.0, memory);
                assert!(least.0 > memory, "{least} is no more than {given}");
                let below = least.0.saturating_sub(1 << 20);
                memory = below.max(memory) + step;
            }
            Err(error) => panic!("with {memory} bytes: {error}"),
        }
    }
}

/// Keys that are read together have the lists that each has alone, in whatever order they are
/// given.
pub fn assert_read_together<K: Key>(index: &Index, keys: &[K]) {
    let (mut buffers, mut together) = (Buffers::default(), Buffers::default());
    let random = &mut corpus::Random(keys.len() as u64);
    for count in [0, 1, keys.len() / 3, keys.len() * 2] {
        let some: Vec<K> = (0..count).map(|_| *random.pick(keys)).collect();
        let lists = index.read(&some, &mut together).unwrap();
        for (n, &key) in some.iter().enumerate() {
            let (mut short, mut long) = (Vec::new(), Vec::new());
            let alone = index.read(&[key], &mut buffers).unwrap();
            let count = alone.get(0, &mut short, &mut long);
            let (mut read, mut places) = (Vec::new(), Vec::new());
            assert_eq!(lists.get(n, &mut read, &mut places), count);
            assert_eq!((read, places), (short, long), "{key:x}");
        }
    }
}

/// The result files, by name.
pub fn results(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let review = Some("review.tsv").filter(|name| out.join(name).exists());
    RESULTS
        .into_iter()
        .chain(review)
        .map(|name| (name.to_string(), fs::read(out.join(name)).unwrap()))
        .collect()
}

/// Every file of a directory, by path from it.
pub fn tree(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in paths(out) {
        let name = path.strip_prefix(out).unwrap().to_str().unwrap();
        // It names the process that wrote the copies.
        if !name.ends_with(".lookalike/lock") {
            files.insert(name.to_string(), fs::read(&path).unwrap());
        }
    }
    files
}

/// The files of a finished run that depend on input and parameters alone: all but the lock, and
/// those that say what the run cost.
pub fn lasting(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(out);
    for name in ["lock", "manifest.json", "summary.json"] {
        files.remove(name).unwrap();
    }
    files
}

/// Every file below a directory.
pub fn paths(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Are two sets of files the same? Says which file differs, and where, without printing them.
pub fn assert_same_files(
    found: &BTreeMap<String, Vec<u8>>,
    expected: &BTreeMap<String, Vec<u8>>,
    what: &str,
) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{what}: the files");
    for (name, bytes) in expected {
        let other = &found[name];
        if bytes == other {
            continue;
        }
        let at = bytes.iter().zip(other).position(|(a, b)| a != b);
        let at = at.unwrap_or(bytes.len().min(other.len()));
        let near = |bytes: &[u8]| {
            let from = at.saturating_sub(40);
            String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 60)]).into_owned()
        };
        let (expected, found) = (near(bytes), near(other));
        panic!("{what}: {name} differs at byte {at}:\nexpected {expected:?}\nfound    {found:?}");
    }
}

/// Lines of a TSV file without its comments, its line of column names, and the places of documents,
/// which depend on how a test writes its inputs.
pub fn rows(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with("# "));
    let mut header = lines.next().unwrap_or_default().split('\t');
    let places = header.position(|name| name == "document" || name == "document_a");
    let without = |line: &str| match places {
        Some(n) => line.split('\t').take(n).collect::<Vec<_>>().join("\t"),
        None => line.to_string(),
    };
    lines.map(without).collect()
}

/// The rows of a TSV file of a run.
pub fn rows_of(out: &Path, name: &str) -> Vec<String> {
    rows(&fs::read(out.join(name)).unwrap())
}

/// The manifest of a run, without locking it.
pub fn manifest(out: &Path) -> Contents {
    let manifest = pipeline::look(out).unwrap();
    Contents {
        segments: collection::segments(&manifest).to_vec(),
        ingested: collection::ingested(&manifest),
        plan: manifest.get().cloned(),
        sample: manifest.get().cloned(),
        runs: manifest.get().cloned(),
        postings: manifest.get().cloned(),
        joining: manifest.get().cloned(),
        pairs: manifest.get().cloned(),
        results: manifest.get().cloned(),
        manifest,
    }
}

/// A manifest and what the stages left in it.
pub struct Contents {
    manifest: Manifest,
    pub segments: Vec<SegmentEntry>,
    pub ingested: bool,
    pub plan: Option<Plan>,
    pub sample: Option<SampleEntry>,
    pub runs: Option<RunsEntry>,
    pub postings: Option<PostingsEntry>,
    pub joining: Option<JoinProgress>,
    pub pairs: Option<PairsEntry>,
    pub results: Option<ResultsEntry>,
}

impl std::ops::Deref for Contents {
    type Target = Manifest;
    fn deref(&self) -> &Manifest {
        &self.manifest
    }
}

/// `sample-corpora`, or a path in it.
pub fn sample_corpora(path: &str) -> PathBuf {
    root().join("sample-corpora").join(path)
}

/// The directory of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut above = own.ancestors();
    let root = above.find(|place| place.join("sample-corpora").is_dir());
    root.unwrap().into()
}

/// The program `lookalike`. For the tests of the laboratory it lies beside theirs, which cargo builds
/// at the same time if it builds the tests of both.
pub fn lookalike() -> PathBuf {
    let own = option_env!("CARGO_BIN_EXE_lookalike");
    let own = Path::new(own.or(option_env!("CARGO_BIN_EXE_lookalike-lab")).unwrap());
    let found = own.with_file_name("lookalike");
    assert!(found.exists(), "cargo build --features faults builds it");
    found
}

/// Where real collections are, as `LOOKALIKE_CORPORA` says; or nothing, and a loud word that `what`
/// is left out.
pub fn corpora(what: &str) -> Option<PathBuf> {
    let root = std::env::var_os("LOOKALIKE_CORPORA").filter(|root| !root.is_empty());
    if root.is_none() {
        // Not by a macro: what those print is shown of failing tests only.
        let line =
            format!("LEFT OUT: {what}: LOOKALIKE_CORPORA does not say where the collections are\n");
        std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
    }
    root.map(PathBuf::from)
}

/// Copies a directory with all that is in it.
pub fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_directory(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The rows of a Parquet file with flat columns, by the reader of rows of the `parquet` crate: the
/// values by the names of their columns. Numbers keep their type: `1` is none of a column of
/// doubles.
pub fn parquet_rows(path: &Path) -> Vec<BTreeMap<String, serde_json::Value>> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use serde_json::{Value, json};

    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    let value = |field: &Field| match field {
        Field::Null => Value::Null,
        Field::UInt(n) => json!(n),
        Field::Long(n) => json!(n),
        Field::Double(n) => json!(n),
        Field::Str(text) => json!(text),
        other => panic!("{}: {other:?}", path.display()),
    };
    rows.map(|row| {
        let cells = row.get_column_iter();
        cells
            .map(|(name, field)| (name.clone(), value(field)))
            .collect()
    })
    .collect()
}

/// The rows of a TSV file: the cells by the names of their columns, without their escapes.
pub fn cells_of(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().skip_while(|line| line.starts_with("# "));
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        let cells = names.iter().zip(cells);
        cells
            .map(|(name, cell)| (name.to_string(), unescaped(cell)))
            .collect()
    };
    lines.map(row).collect()
}

/// Returns the text that a cell of a TSV file stands for.
fn unescaped(cell: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), cell.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&kind, after) = rest.split_first().unwrap();
        rest = after;
        out.push(match kind {
            b'\\' => b'\\',
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => {
                let digits = std::str::from_utf8(&rest[..2]).unwrap();
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).unwrap()
            }
            other => panic!("\\{} in {cell}", char::from(other)),
        });
    }
    String::from_utf8(out).unwrap()
}
