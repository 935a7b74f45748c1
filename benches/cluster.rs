//! Stage 9: from the pair list to the result files. The bench checks the number of clusters, of
//! documents in them, and of pairs listed.

mod made;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use lookalike::base::progress::Stop;
use lookalike::engine::cluster::{self, ResultsEntry};
use made::{FAMILIES, MEMBERS, PAIRS};

fn clusters(c: &mut Criterion) {
    let place = tempfile::tempdir().unwrap();
    let stop = Stop::default();
    let context = made::context(&stop);
    let (mut workspace, _) = made::joined(place.path(), &context);
    let mut group = c.benchmark_group("cluster");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(PAIRS));
    group.bench_function("result files", |b| {
        b.iter(|| {
            workspace.manifest.remove::<ResultsEntry>();
            cluster::run(&mut workspace, &context).unwrap();
            let found = &workspace.manifest.get::<ResultsEntry>().unwrap().stats;
            assert_eq!(found.clusters, FAMILIES as u64);
            assert_eq!(found.documents, (FAMILIES * MEMBERS) as u64);
            assert_eq!(found.pairs, Some(PAIRS));
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = made::criterion();
    targets = clusters
}
criterion_main!(benches);
