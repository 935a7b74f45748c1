//! Stage 6: runs on disk, and beside the `extsort` crate the same records, sorted through disk with
//! buffers of the same number of records, in one thread each. Everything checks the number of what
//! comes back, and its order; bytes per record are printed once.
//!
//! The two sorts do not do the same: our runs are packed, carry checksums and are synced to the
//! disk before they count; extsort writes 12 bytes a record and leaves them to the page cache.

mod made;

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::path::Path;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use extsort::{ExternalSorter, Sortable};
use lookalike::base::ids::Key;
use lookalike::engine::merge::{Batches, LongLists, Merged};
use lookalike::engine::sort::{Buffer, Compression, Record, RunFile, RunWriter};
use made::{RECORDS, random, write_run};

/// Records that are sorted.
const UNSORTED: usize = 2_000_000;
/// Records in a buffer: eight runs.
const BUFFER: usize = UNSORTED / 8;

/// A record of 12 bytes, for extsort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Plain(Record<u64>);

impl Sortable for Plain {
    fn encode<W: Write>(&self, writer: &mut W) -> io::Result<()> {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.0.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.0.value.to_le_bytes());
        writer.write_all(&bytes)
    }

    fn decode<R: Read>(reader: &mut R) -> io::Result<Self> {
        let (mut key, mut value) = ([0; 8], [0; 4]);
        reader.read_exact(&mut key)?;
        reader.read_exact(&mut value)?;
        Ok(Plain(Record {
            key: u64::from_le_bytes(key),
            value: u32::from_le_bytes(value),
        }))
    }
}

/// Random records; 40 % of them have the key of an earlier one.
fn unsorted() -> Vec<Record<u64>> {
    let mut state = 11;
    let mut records: Vec<Record<u64>> = Vec::with_capacity(UNSORTED);
    for i in 0..UNSORTED {
        let key = if i > 0 && random(&mut state) % 10 < 4 {
            records[random(&mut state) as usize % i].key
        } else {
            random(&mut state)
        };
        // A document of 500 fingerprints.
        let value = (i / 500) as u32;
        records.push(Record { key, value });
    }
    records
}

/// Counts records and checks their order.
#[derive(Default)]
struct Sorted {
    records: usize,
    distinct: usize,
    last: Option<Record<u64>>,
}

impl Sorted {
    fn take(&mut self, record: Record<u64>) {
        assert!(self.last.is_none_or(|last| last <= record));
        let repeated = self.last.is_some_and(|last| last.key == record.key);
        self.distinct += usize::from(!repeated);
        self.last = Some(record);
        self.records += 1;
    }
}

/// Ours: a buffer sorted and spilled, all runs merged. Returns the bytes that were on disk, too.
fn ours(records: &[Record<u64>], place: &Path) -> (Sorted, u64) {
    let (mut files, mut bytes) = (Vec::new(), 0);
    let mut buffer = Buffer::new(BUFFER, 0, u64::MAX);
    let mut keys = Vec::new();
    for (number, records) in records.chunks(BUFFER).enumerate() {
        for document in records.chunk_by(|a, b| a.value == b.value) {
            keys.clear();
            keys.extend(document.iter().map(|record| record.key));
            buffer.extend(&keys, document[0].value);
        }
        let mut run = RunWriter::create(place, number as u64, 7, Compression::Packed).unwrap();
        let drained = buffer.drain(|records| {
            for &record in records {
                run.push(record)?;
            }
            Ok(())
        });
        drained.unwrap();
        let info = run.finish().unwrap();
        bytes += info.bytes;
        files.push(RunFile::open(&place.join(&info.name), Some(7), Some(&info)).unwrap());
    }
    let cursors = files.iter().map(|file| file.range(0, u64::MAX));
    let long = LongLists::default();
    let mut batches = Batches::new(cursors.collect::<Result<_, _>>().unwrap(), &long);
    let mut sorted = Sorted::default();
    while let Some(batch) = batches.next().unwrap() {
        match batch {
            Merged::Records(records) => records.iter().for_each(|&record| sorted.take(record)),
            Merged::Key(key, values) => {
                for &value in &*values {
                    sorted.take(Record { key, value });
                }
            }
        }
    }
    (sorted, bytes)
}

fn theirs(records: &[Record<u64>], place: &Path) -> (Sorted, u64) {
    let sorter = ExternalSorter::new()
        .with_segment_size(BUFFER)
        .with_sort_dir(place.to_path_buf());
    let out = sorter.sort(records.iter().copied().map(Plain)).unwrap();
    let bytes = std::fs::read_dir(place)
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    let mut sorted = Sorted::default();
    for record in out {
        sorted.take(record.unwrap().0);
    }
    (sorted, bytes)
}

fn runs_of<K: Key>(c: &mut Criterion, name: &str, how: Compression) {
    let place = tempfile::tempdir().unwrap();
    let records = made::records::<K>(RECORDS, 1);
    let mut group = c.benchmark_group("run");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(RECORDS as u64));
    let (path, bytes) = write_run(place.path(), 0, how, &records);
    let each = bytes as f64 / RECORDS as f64;
    println!("run/{name}: {each:.2} bytes a record of {}", K::BYTES + 4);
    assert!(each < (K::BYTES + 4) as f64);
    group.bench_function(BenchmarkId::new("write", name), |b| {
        b.iter(|| assert_eq!(write_run(place.path(), 1, how, &records).1, bytes));
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

fn sorts(c: &mut Criterion) {
    let records = unsorted();
    let place = tempfile::tempdir().unwrap();
    let mut group = c.benchmark_group("sort");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(UNSORTED as u64));
    let mut distinct = None;
    type Sort = fn(&[Record<u64>], &Path) -> (Sorted, u64);
    for (name, sort) in [("ours", ours as Sort), ("extsort", theirs)] {
        let directory = place.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        let (sorted, bytes) = sort(&records, &directory);
        let each = bytes as f64 / UNSORTED as f64;
        println!("sort/{name}: {each:.2} bytes a record of 12 on disk");
        // Four in ten repeat a key.
        let share = sorted.distinct as f64 / UNSORTED as f64;
        assert!((0.59..0.61).contains(&share), "{share}");
        assert_eq!(*distinct.get_or_insert(sorted.distinct), sorted.distinct);
        group.bench_function(name, |b| {
            b.iter(|| {
                let (sorted, _) = sort(black_box(&records), &directory);
                assert_eq!(
                    (sorted.records, Some(sorted.distinct)),
                    (UNSORTED, distinct)
                );
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = made::criterion();
    targets = runs, sorts
}
criterion_main!(benches);
