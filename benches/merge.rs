//! Stage 7: merge runs, and write and read postings. Each bench checks the number of records, or of
//! documents in posting lists. The bytes per document in a list are printed once.

mod made;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use lookalike::engine::merge::{
    Batches, LongLists, LoserTree, Merged, PostingsReader, PostingsWriter,
};
use lookalike::engine::sort::{Record, RunFile};
use lookalike::store::Kind;
use made::{RECORDS, random, records, write_run};

/// Merges records one by one, as the generations before the last do.
fn by_record(files: &[RunFile<u64>]) -> usize {
    let cursors = files.iter().map(|file| file.range(0, u64::MAX));
    let mut tree = LoserTree::new(cursors.collect::<Result<_, _>>().unwrap());
    let (mut n, mut before) = (0, Record::default());
    while let Some(record) = tree.next().unwrap() {
        assert!(before <= record);
        before = record;
        n += 1;
    }
    n
}

/// Merges records in batches, as the last generation does.
fn by_batch(files: &[RunFile<u64>]) -> usize {
    let cursors = files.iter().map(|file| file.range(0, u64::MAX));
    let long = LongLists::default();
    let mut batches = Batches::new(cursors.collect::<Result<_, _>>().unwrap(), &long);
    let mut n = 0;
    while let Some(batch) = batches.next().unwrap() {
        n += match batch {
            Merged::Records(records) => records.len(),
            Merged::Key(_, values) => values.len(),
        };
    }
    n
}

fn merges(c: &mut Criterion) {
    let mut group = c.benchmark_group("merge");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(RECORDS as u64));
    for runs in [2, 16, 128] {
        let place = tempfile::tempdir().unwrap();
        let files: Vec<_> = (0..runs as u64)
            .map(|i| {
                let records = records::<u64>(RECORDS / runs, i);
                let (path, _) = write_run(place.path(), i, None, &records);
                RunFile::open(Kind::Run, &path, Some(7), None).unwrap()
            })
            .collect();
        group.bench_function(BenchmarkId::new("by record", runs), |b| {
            b.iter(|| assert_eq!(by_record(&files), RECORDS));
        });
        group.bench_function(BenchmarkId::new("by batch", runs), |b| {
            b.iter(|| assert_eq!(by_batch(&files), RECORDS));
        });
    }
    group.finish();
}

fn postings(c: &mut Criterion) {
    const LISTS: usize = 200_000;
    let place = tempfile::tempdir().unwrap();
    // Eight lists in a row are equal: documents that resemble each other share many fingerprints.
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
    println!("postings: {each:.2} bytes per document in a list");
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

criterion_group! {
    name = benches;
    config = made::criterion();
    targets = merges, postings
}
criterion_main!(benches);
