//! Stages 6 to 8 on disk: runs, their merge, postings, the count join. Each bench checks the number
//! that came out; bytes per record are printed once.

use lookalike::budget::{Budget, ByteSize};
use lookalike::collection::{CollectionConfig, SizeGroups};
use lookalike::ids::Key;
use lookalike::join::{self, Join, JoinConfig, Pairs, PairsEntry};
use lookalike::merge::{LoserTree, PostingsEntry, PostingsReader, PostingsWriter};
use lookalike::pipeline::{self, JoinParameters, Spill};
use lookalike::progress::{Context, Silent, Stop};
use lookalike::read::ReadConfig;
use lookalike::sample::Sampling;
use lookalike::shingle::ShingleConfig;
use lookalike::sort::{Compression, Record, RunFile, RunWriter};
use lookalike::workspace::Workspace;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};

/// Records of a run, and of all runs of a merge together.
const RECORDS: usize = 1 << 20;

/// The next of a fixed sequence of random numbers (splitmix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Sorted records with random keys, of documents in the hundred thousands.
fn records<K: Key>(n: usize, seed: u64) -> Vec<Record<K>> {
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

fn write<K: Key>(
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

fn count<K: Key>(files: &[RunFile<K>]) -> usize {
    let cursors = files.iter().map(|file| file.range(K::default(), K::MAX));
    let mut tree = LoserTree::new(cursors.collect::<Result<_, _>>().unwrap());
    let (mut n, mut before) = (0, Record::default());
    while let Some(record) = tree.next().unwrap() {
        assert!(before <= record);
        before = record;
        n += 1;
    }
    n
}

fn runs_of<K: Key>(c: &mut Criterion, name: &str, how: Compression) {
    let place = tempfile::tempdir().unwrap();
    let records = records::<K>(RECORDS, 1);
    let mut group = c.benchmark_group("run");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(RECORDS as u64));
    let (path, bytes) = write(place.path(), 0, how, &records);
    let each = bytes as f64 / RECORDS as f64;
    println!("run/{name}: {each:.2} bytes a record of {}", K::BYTES + 4);
    assert!(each < (K::BYTES + 4) as f64);
    group.bench_function(BenchmarkId::new("write", name), |b| {
        b.iter(|| assert_eq!(write(place.path(), 1, how, &records).1, bytes));
    });
    group.bench_function(BenchmarkId::new("read", name), |b| {
        b.iter(|| {
            let run = RunFile::<K>::open(&path, Some(7), None).unwrap();
            let mut cursor = run.range(K::default(), K::MAX).unwrap();
            let mut n = 0;
            while cursor.head().is_some() {
                n += 1;
                cursor.advance().unwrap();
            }
            assert_eq!(n, RECORDS);
        });
    });
    group.finish();
}

fn runs(c: &mut Criterion) {
    runs_of::<u64>(c, "u64", Compression::Packed);
    runs_of::<u64>(c, "u64-zstd-1", Compression::Zstd(1));
    runs_of::<u128>(c, "u128", Compression::Packed);
}

fn merges(c: &mut Criterion) {
    let mut group = c.benchmark_group("merge");
    group.sampling_mode(SamplingMode::Flat);
    for runs in [2, 16, 128] {
        let place = tempfile::tempdir().unwrap();
        let files: Vec<_> = (0..runs as u64)
            .map(|i| {
                let records = records::<u64>(RECORDS / runs, i);
                let (path, _) = write(place.path(), i, Compression::Packed, &records);
                RunFile::<u64>::open(&path, Some(7), None).unwrap()
            })
            .collect();
        group.throughput(Throughput::Elements(RECORDS as u64));
        group.bench_function(BenchmarkId::new("runs", runs), |b| {
            b.iter(|| assert_eq!(count(&files), RECORDS));
        });
    }
    group.finish();
}

fn postings(c: &mut Criterion) {
    const LISTS: usize = 200_000;
    let place = tempfile::tempdir().unwrap();
    // Runs of lists that are alike, as documents that are alike make them.
    let mut state = 3;
    let mut list = Vec::new();
    let lists: Vec<(u64, Vec<u32>)> = (0..LISTS)
        .map(|i| {
            if i % 8 == 0 {
                let first = random(&mut state) as u32 % 100_000;
                let length = 2 + random(&mut state) % 9;
                list = (0..length as u32).map(|j| first + j * 17).collect();
            }
            (random(&mut state), list.clone())
        })
        .collect();
    let mut keys: Vec<u64> = lists.iter().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    let entries: usize = lists.iter().map(|(_, list)| list.len()).sum();
    let write = |number| {
        let mut out = PostingsWriter::create(place.path(), 7, number, Some(1)).unwrap();
        for (&key, (_, list)) in keys.iter().zip(&lists) {
            out.push(key, list.iter().copied()).unwrap();
        }
        out.finish().unwrap()
    };
    let info = write(0);
    let each = info.bytes as f64 / entries as f64;
    println!("postings: {each:.2} bytes a document in a list");
    let path = place.path().join(&info.name);
    let mut group = c.benchmark_group("postings");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(entries as u64));
    group.bench_function("write", |b| {
        b.iter(|| assert_eq!(write(1).bytes, info.bytes));
    });
    group.bench_function("read", |b| {
        b.iter(|| {
            let mut reader = PostingsReader::<u64>::open(&path, Some(7), Some(&info)).unwrap();
            let mut n = 0;
            while let Some(block) = reader.next().unwrap() {
                n += block.documents.len();
            }
            reader.finish().unwrap();
            assert_eq!(n, entries);
        });
    });
    group.finish();
}

const FAMILIES: usize = 300;
const MEMBERS: usize = 20;
const WORDS: usize = 200;

/// Families of documents that differ in their last words, and only there: every two of a family are
/// at 0.85 or above, no two others share a shingle.
fn collection(place: &Path, context: &Context<'_>) -> (Workspace, JoinParameters) {
    let mut text = String::new();
    let mut state = 5;
    for family in 0..FAMILIES {
        let words: Vec<String> = (0..WORDS)
            .map(|_| format!("{:x}", random(&mut state)))
            .collect();
        for member in 0..MEMBERS {
            let words = words.join(" ");
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
    };
    let question = JoinParameters {
        sampling: Sampling::Full,
        plan: None,
        join: JoinConfig {
            join: Join::Count,
            threshold: "0.85".parse().unwrap(),
            measure: Default::default(),
            max_postings: None,
            pairs: Pairs::All,
            candidates: None,
        },
        spill: Spill::Auto,
        fan_in: None,
    };
    let out = place.join("out");
    let inputs = pipeline::inputs(&[input], &out).unwrap();
    let mut workspace = pipeline::ingest(&inputs, &out, &config, true, context).unwrap();
    pipeline::join(&mut workspace, &question, context).unwrap();
    (workspace, question)
}

fn joins(c: &mut Criterion) {
    let place = tempfile::tempdir().unwrap();
    let stop = Stop::default();
    let context = Context {
        budget: Budget {
            memory: ByteSize::mib(512),
            threads: 2,
            disk: lookalike::budget::Disk::default(),
        },
        stop: &stop,
        progress: &Silent,
        scratch: None,
    };
    let (mut workspace, question) = collection(place.path(), &context);
    let pairs = (FAMILIES * MEMBERS * (MEMBERS - 1) / 2) as u64;
    let mut group = c.benchmark_group("join");
    group.sampling_mode(SamplingMode::Flat);
    let entries = workspace
        .manifest
        .get::<PostingsEntry>()
        .unwrap()
        .stats
        .entries;
    group.throughput(Throughput::Elements(entries));
    for join in [Join::Count, Join::Prefix] {
        group.bench_function(join.to_string(), |b| {
            b.iter(|| {
                workspace.manifest.remove::<PairsEntry>();
                let config = JoinConfig {
                    join,
                    ..question.join
                };
                join::run::<u64>(&mut workspace, &config, None, &context).unwrap();
                let found = &workspace.manifest.get::<PairsEntry>().unwrap().stats;
                assert_eq!(found.pairs, pairs);
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        // What is measured varies with the disk by more than finer statistics would show.
        .nresamples(2000)
        .without_plots()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = runs, merges, postings, joins
}
criterion_main!(benches);
