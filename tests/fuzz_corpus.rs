//! What the fuzzer has been through holds without it: every committed input, every input that once
//! broke something, and some hundred mutations of them, the same ones each time.
//!
//! `scripts/fuzz.sh` looks for new ones; CONTRIBUTING.md says how.

#[path = "../fuzz/targets/mod.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use targets::{TARGETS, place};

/// Mutations of the inputs of a target.
const MUTATIONS: u64 = 500;
/// No input of a few kilobytes takes a hundredth of it, on a busy machine.
const MOST_TIME: Duration = Duration::from_secs(20);
/// Longer inputs are not made.
const MOST_BYTES: usize = 1 << 16;
/// Bytes that are edges of something.
const EDGES: [u8; 12] = [0, 1, 9, 10, 13, 32, 34, 60, 127, 128, 254, 255];

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Removes the targets' files when the last test that runs is over.
struct Running;

static RUNNING: Mutex<u32> = Mutex::new(0);

impl Running {
    fn begin() -> Running {
        *RUNNING.lock().unwrap() += 1;
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(|e| e.into_inner());
        *running -= 1;
        if *running == 0 {
            let _ = fs::remove_dir_all(place::directory());
        }
    }
}

/// The inputs of a target, sorted by name.
fn inputs(directory: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let Ok(entries) = fs::read_dir(home.join(directory).join(target)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    paths.into_iter().map(read).collect()
}

/// Changes an input in a few places.
fn mutated(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let length = random.below(32.min(bytes.len() - at + 1));
        match random.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 if !bytes.is_empty() => bytes[at] = EDGES[random.below(EDGES.len())],
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let again = bytes[at..at + length].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let from = random.below(other.len());
                let to = (from + random.below(200)).min(other.len());
                bytes.splice(at..at + length, other[from..to].iter().copied());
            }
            _ => {
                let new = random.next().to_le_bytes();
                bytes.splice(at..at + length, new[..random.below(9)].iter().copied());
            }
        }
    }
    bytes.truncate(MOST_BYTES);
    bytes
}

/// Gives an input to a target. What breaks it is kept.
fn hold(target: &str, run: targets::Target, name: &str, input: &[u8]) {
    let begun = Instant::now();
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(input))) {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}"));
        fs::write(&kept, input).unwrap();
        eprintln!("{name} breaks {target}; it is kept as {}", kept.display());
        resume_unwind(panic);
    }
    let took = begun.elapsed();
    assert!(took < MOST_TIME, "{name} takes {target} {took:?}");
}

fn replay(name: &str, mutations: u64) {
    let _running = Running::begin();
    let (_, run) = *TARGETS.iter().find(|(target, _)| *target == name).unwrap();
    let corpus = inputs("corpus", name);
    assert!(corpus.len() >= 3, "the corpus of {name} is missing");
    let all: Vec<_> = corpus
        .into_iter()
        .chain(inputs("regressions", name))
        .collect();
    for (path, input) in &all {
        hold(name, run, &path.display().to_string(), input);
    }
    hold(name, run, "nothing", b"");
    let mut random = Random(1);
    // LOOKALIKE_FUZZ_SECONDS: for so long, and so many at least.
    let seconds = std::env::var("LOOKALIKE_FUZZ_SECONDS").map_or(0, |text| text.parse().unwrap());
    let begun = Instant::now();
    let more = || begun.elapsed() < Duration::from_secs(seconds);
    for number in (0..).take_while(|&number| number < mutations || more()) {
        let (path, input) = &all[random.below(all.len())];
        let (_, other) = &all[random.below(all.len())];
        let input = mutated(input, other, &mut random);
        hold(
            name,
            run,
            &format!("mutation {number}, of {}", path.display()),
            &input,
        );
    }
}

/// A test for each target, with the number of mutations.
macro_rules! replayed {
    ($($name:ident: $mutations:expr,)+) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name), $mutations);
        })+

        #[test]
        fn every_target_is_replayed() {
            let names = [$(stringify!($name)),+];
            assert_eq!(names.to_vec(), TARGETS.map(|(name, _)| name));
        }
    };
}

// Each input of `names` and `pages` is several commands, so there are fewer.
replayed! {
    archives: MUTATIONS,
    compressed: MUTATIONS,
    directory: MUTATIONS,
    elements: MUTATIONS,
    json: MUTATIONS,
    lists: MUTATIONS,
    mail: MUTATIONS,
    manifest: MUTATIONS,
    names: MUTATIONS / 10,
    pages: MUTATIONS / 10,
    parquet: MUTATIONS,
    parts: MUTATIONS,
    plan: MUTATIONS,
    study: MUTATIONS,
    tables: MUTATIONS,
    text: MUTATIONS,
    trec: MUTATIONS,
}
