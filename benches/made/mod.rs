//! Data that several benches use, and how criterion measures them.
#![allow(dead_code, reason = "each bench uses some of it")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::Criterion;
use lookalike::base::budget::{Budget, ByteSize, Disk};
use lookalike::base::ids::Key;
use lookalike::base::progress::{Context, Silent, Stop};
use lookalike::engine::collection::{CollectionConfig, SizeGroups};
use lookalike::engine::join::{Join, JoinConfig, Pairs};
use lookalike::engine::pipeline::{self, JoinParameters};
use lookalike::engine::shingle::ShingleConfig;
use lookalike::engine::sort::{Compression, Record, RunWriter};
use lookalike::store::workspace::Workspace;
use lookalike::text::read::ReadConfig;

/// Ten samples of a second: the disk varies by more than finer statistics would show.
pub fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .nresamples(2000)
        .without_plots()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

/// The next of a fixed sequence of random numbers (splitmix64).
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Records of a run, and of all runs of a merge together.
pub const RECORDS: usize = 1 << 20;

/// Sorted records with random keys, four per document.
pub fn records<K: Key>(n: usize, seed: u64) -> Vec<Record<K>> {
    let mut state = seed;
    let mut records: Vec<_> = (0..n)
        .map(|i| {
            let (high, low) = (random(&mut state), random(&mut state));
            let number = u128::from(high) << 64 | u128::from(low);
            Record {
                key: K::from_u128(number),
                value: (i / 4) as u32,
            }
        })
        .collect();
    records.sort_unstable();
    records
}

/// Writes a run, and returns its path and its size in bytes.
pub fn write_run<K: Key>(
    place: &Path,
    number: u64,
    how: Compression,
    records: &[Record<K>],
) -> (PathBuf, u64) {
    let mut run = RunWriter::create(place, number, 7, how).unwrap();
    for &record in records {
        run.push(record).unwrap();
    }
    let info = run.finish().unwrap();
    assert_eq!(info.records, records.len() as u64);
    (place.join(info.name), info.bytes)
}

/// Families of documents.
pub const FAMILIES: usize = 300;
/// Documents in a family.
pub const MEMBERS: usize = 20;
/// Words that the documents of a family share.
const WORDS: usize = 200;
/// Pairs of documents in the same family.
pub const PAIRS: u64 = (FAMILIES * MEMBERS * (MEMBERS - 1) / 2) as u64;

/// Makes the pair list of a collection of [`FAMILIES`] families. The documents of a family differ
/// in their last word only, so that every pair of them has a resemblance of at least 0.85; two
/// documents of different families share no shingle.
pub fn joined(place: &Path, context: &Context<'_>) -> (Workspace, JoinConfig) {
    let mut text = String::new();
    let mut state = 5;
    for family in 0..FAMILIES {
        let words: Vec<String> = (0..WORDS)
            .map(|_| format!("{:x}", random(&mut state)))
            .collect();
        let words = words.join(" ");
        for member in 0..MEMBERS {
            let _ = writeln!(
                text,
                "{{\"id\":\"{family}-{member}\",\"text\":\"{words} {member}\"}}"
            );
        }
    }
    let input = place.join("in.jsonl");
    std::fs::write(&input, text).unwrap();
    let config = CollectionConfig {
        read: ReadConfig::default(),
        shingle: ShingleConfig::default(),
        size_groups: SizeGroups::default(),
        segment_size: ByteSize::mib(64),
        text: false,
        condition: None,
    };
    let join = JoinConfig {
        join: Join::Count,
        threshold: "0.85".parse().unwrap(),
        measure: Default::default(),
        max_postings: None,
        pairs: Pairs::All,
        ..JoinConfig::default()
    };
    let parameters = JoinParameters::from(join);
    let out = place.join("out");
    let inputs = pipeline::inputs(&[input], &out).unwrap();
    let mut workspace = pipeline::ingest(&inputs, &out, &config, true, context).unwrap();
    pipeline::join(&mut workspace, &parameters, context).unwrap();
    (workspace, join)
}

/// Two threads and 512 MiB.
pub fn context(stop: &Stop) -> Context<'_> {
    Context {
        budget: Budget {
            memory: ByteSize::mib(512),
            threads: 2,
            disk: Disk::default(),
        },
        stop,
        progress: &Silent,
        scratch: None,
        programs: &[],
    }
}
