//! Stage 6: runs on disk, and beside the `extsort` crate the same records, sorted through disk with
//! buffers of the same number of records, in one thread each. Everything checks the number of what
//! comes back, and its order; bytes per record are printed once.
//!
//! The two sorts do not do the same: our runs are packed, carry checksums and are synced to the
//! disk before they count; extsort writes 12 bytes a record and leaves them to the page cache.
//!
//! Sorts of items (`store::Sort`) beside extsort: MD5s of a catalogue, pairs of two lists, members of
//! clusters. Both write their files to the page cache, and have buffers of the same number of bytes.

mod made;

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::path::Path;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use extsort::{ExternalSorter, Sortable};
use lookalike::base::budget::ByteSize;
use lookalike::base::ids::Key;
use lookalike::engine::merge::{Batches, LongLists, Merged};
use lookalike::engine::sort::{Buffer, Compression, Record, RunFile, RunWriter};
use lookalike::store::{Item, Kind, Sort};
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
        let mut run = RunWriter::create(place, number as u64, 7, None).unwrap();
        let drained = buffer.drain(|records| {
            for &record in records {
                run.push(record)?;
            }
            Ok(())
        });
        drained.unwrap();
        let info = run.finish().unwrap();
        bytes += info.bytes;
        files
            .push(RunFile::open(Kind::Run, &place.join(&info.name), Some(7), Some(&info)).unwrap());
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
            let run = RunFile::<K>::open(Kind::Run, &path, Some(7), None).unwrap();
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
    runs_of::<u64>(c, "u64", None);
    runs_of::<u64>(c, "u64-zstd-1", Some(1));
    runs_of::<u128>(c, "u128", None);
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

/// An item of 24 bytes: its sort key, a document, and another number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Tagged(u128, u32, u32);

impl Item for Tagged {
    fn words(&self) -> [u32; 6] {
        let word = |n: u32| (self.0 >> (32 * n)) as u32;
        [word(3), word(2), word(1), word(0), self.1, self.2]
    }

    fn of(words: [u32; 6]) -> Tagged {
        let key = words[..4].iter();
        let key = key.fold(0, |key, &word| key << 32 | u128::from(word));
        Tagged(key, words[4], words[5])
    }
}

impl Sortable for Tagged {
    fn encode<W: Write>(&self, writer: &mut W) -> io::Result<()> {
        let mut bytes = [0; 24];
        bytes[..16].copy_from_slice(&self.0.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.1.to_le_bytes());
        bytes[20..].copy_from_slice(&self.2.to_le_bytes());
        writer.write_all(&bytes)
    }

    fn decode<R: Read>(reader: &mut R) -> io::Result<Self> {
        let (mut key, mut two) = ([0; 16], [[0; 4]; 2]);
        reader.read_exact(&mut key)?;
        reader.read_exact(two.as_flattened_mut())?;
        let [document, extra] = two.map(u32::from_le_bytes);
        Ok(Tagged(u128::from_le_bytes(key), document, extra))
    }
}

/// The number of items, and their sum, which depends on the order.
fn summed(sum: (u64, u64), item: Tagged) -> (u64, u64) {
    let value = (item.0 as u64) ^ u64::from(item.1) ^ u64::from(item.2);
    (sum.0 + 1, sum.1.rotate_left(1).wrapping_add(value))
}

fn items_by_ours(items: &[Tagged], place: &Path, memory: u64) -> (u64, u64) {
    let mut sort = Sort::scratch(&place.join("items"), ByteSize(memory)).unwrap();
    items.iter().for_each(|item| sort.push(*item).unwrap());
    let mut sum = (0, 0);
    let each = |item| {
        sum = summed(sum, item);
        Ok(())
    };
    sort.finish().unwrap().for_each(each).unwrap();
    sum
}

fn items_by_extsort(items: &[Tagged], place: &Path, memory: u64) -> (u64, u64) {
    let sorter = ExternalSorter::new()
        .with_segment_size(memory as usize / size_of::<Tagged>())
        .with_sort_dir(place.to_path_buf());
    let mut pushed = sorter.pushed::<Tagged>();
    items.iter().for_each(|item| pushed.push(*item).unwrap());
    let sorted = pushed.done().unwrap();
    sorted.fold((0, 0), |sum, item| summed(sum, item.unwrap()))
}

fn items(c: &mut Criterion) {
    let mut state = 5;
    let mut made = |make: &mut dyn FnMut(&mut u64, u32) -> Tagged| -> Vec<Tagged> {
        (0..UNSORTED as u32).map(|n| make(&mut state, n)).collect()
    };
    let kinds = [
        (
            "md5s",
            made(&mut |state, n| {
                let key = u128::from(random(state)) << 64 | u128::from(random(state));
                Tagged(key, n, 0)
            }),
        ),
        (
            "pairs",
            made(&mut |state, n| {
                let (a, b) = (n / 4, n / 4 + random(state) as u32 % 1000 + 1);
                Tagged(u128::from(a) << 96 | u128::from(b) << 64 | 1, 9, 0)
            }),
        ),
        (
            "members",
            made(&mut |state, n| {
                let root = (random(state) as u32 % 8).min(n);
                Tagged(u128::from(n - root), n, n)
            }),
        ),
    ];
    let place = tempfile::tempdir().unwrap();
    type Sort = fn(&[Tagged], &Path, u64) -> (u64, u64);
    let sorts = [
        ("ours", items_by_ours as Sort),
        ("extsort", items_by_extsort),
    ];
    // In memory, and with parts of an eighth.
    let all = (UNSORTED * size_of::<Tagged>()) as u64;
    for (how, memory) in [("memory", all), ("disk", all / 8)] {
        let mut group = c.benchmark_group(format!("items-{how}"));
        group.sampling_mode(SamplingMode::Flat);
        group.throughput(Throughput::Elements(UNSORTED as u64));
        for (kind, items) in &kinds {
            let expected = items_by_ours(items, place.path(), all);
            for (name, sort) in sorts {
                group.bench_function(BenchmarkId::new(*kind, name), |b| {
                    b.iter(|| assert_eq!(sort(items, place.path(), memory), expected));
                });
            }
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = made::criterion();
    targets = runs, sorts, items
}
criterion_main!(benches);
