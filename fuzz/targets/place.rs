//! Files for what reads files: a directory of this process, in memory where the system has that.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lookalike::base::budget::{Budget, ByteSize, Disk};
use lookalike::base::progress::{Context, Silent, Stop};
use lookalike::engine::collection::CollectionConfig;
use lookalike::engine::pipeline::{self, JoinParameters};

/// The directory: `lookalike-fuzz-PROCESS` in `TMPDIR`, or in memory. Whoever starts the process
/// removes it.
pub fn directory() -> PathBuf {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    let path = DIRECTORY.get_or_init(|| {
        let memory = || Some("/dev/shm".into()).filter(|path: &PathBuf| path.is_dir());
        let parent = std::env::var_os("TMPDIR")
            .map(PathBuf::from)
            .or_else(memory);
        let parent = parent.unwrap_or_else(std::env::temp_dir);
        parent.join(format!("lookalike-fuzz-{}", std::process::id()))
    });
    fs::create_dir_all(path).expect("a directory for files");
    path.clone()
}

/// A directory of this name in it.
pub fn subdirectory(name: &str) -> PathBuf {
    let path = directory().join(name);
    fs::create_dir_all(&path).expect("a directory for files");
    path
}

/// Writes a file.
pub fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file is written");
}

/// Calls `work` with a budget of one thread.
pub fn with_context<T>(memory: ByteSize, work: impl FnOnce(&Context<'_>) -> T) -> T {
    let stop = Stop::default();
    let budget = Budget {
        memory,
        threads: 1,
        disk: Disk::Unchecked,
    };
    work(&Context {
        budget,
        stop: &stop,
        progress: &Silent,
        scratch: None,
        programs: &[],
    })
}

/// Texts of a small collection: near-duplicates, exact ones, a short one.
const TEXTS: [&str; 7] = [
    "one two three four five six seven eight nine ten eleven twelve",
    "one two three four five six seven eight nine ten eleven thirteen",
    "one two three four five six seven eight nine ten eleven twelve",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu",
    "short",
    "",
];

/// A finished run over a small collection, made anew under this name.
pub fn finished_run(name: &str) -> PathBuf {
    let home = subdirectory(name);
    let input = home.join("input.jsonl");
    let lines = TEXTS.iter().enumerate();
    let lines = lines.map(|(i, text)| format!("{{\"id\":\"D{i}\",\"text\":\"{text}\"}}\n"));
    let text: String = lines.chain(["{\"broken\n".to_string()]).collect();
    put(&input, text.as_bytes());
    let out = home.join("out");
    let _ = fs::remove_dir_all(&out);
    let collection = CollectionConfig {
        shingle: lookalike::engine::shingle::ShingleConfig {
            shingle_size: 2,
            ..Default::default()
        },
        read: Default::default(),
        size_groups: Default::default(),
        segment_size: ByteSize(1 << 10),
        text: false,
        condition: None,
    };
    let question = JoinParameters {
        sampling: "full".parse().expect("a sampling"),
        plan: None,
        join: lookalike::engine::join::JoinConfig {
            join: "prefix".parse().expect("a join"),
            threshold: "0.5".parse().expect("a threshold"),
            measure: Default::default(),
            max_postings: None,
            pairs: "all".parse().expect("a kind of pairs"),
            ..lookalike::engine::join::JoinConfig::default()
        },
        results: Default::default(),
        spill: pipeline::Spill::Auto,
        all_postings: false,
        fan_in: None,
    };
    let inputs = pipeline::inputs(&[input], &out).expect("the input is listed");
    with_context(ByteSize::mib(256), |context| {
        pipeline::run(&inputs, &out, &collection, &question, false, context)
            .expect("the collection is run")
    });
    out
}
