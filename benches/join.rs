//! Stage 8: both joins, from postings to the pair list. Each bench checks the number of pairs.

mod made;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use lookalike::base::progress::Stop;
use lookalike::engine::join::{self, Join, JoinConfig, PairsEntry};
use lookalike::engine::merge::PostingsEntry;

fn joins(c: &mut Criterion) {
    let place = tempfile::tempdir().unwrap();
    let stop = Stop::default();
    let context = made::context(&stop);
    let (mut workspace, config) = made::joined(place.path(), &context);
    let postings = workspace.manifest.get::<PostingsEntry>().unwrap();
    let entries = postings.stats.entries;
    let mut group = c.benchmark_group("join");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(entries));
    for join in [Join::Count, Join::Prefix] {
        let config = JoinConfig { join, ..config };
        group.bench_function(join.to_string(), |b| {
            b.iter(|| {
                workspace.manifest.remove::<PairsEntry>();
                join::run::<u64>(&mut workspace, &config, None, &context).unwrap();
                let found = &workspace.manifest.get::<PairsEntry>().unwrap().stats;
                assert_eq!(found.pairs, made::PAIRS);
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = made::criterion();
    targets = joins
}
criterion_main!(benches);
