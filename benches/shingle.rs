//! Stages 2 and 3: plain text to a set of fingerprints. Each bench checks the number it found.

use std::borrow::Cow;
use std::hint::black_box;
use std::num::NonZeroU32;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lookalike::base::ids::{FingerprintKind, Key};
use lookalike::engine::shingle::{Fingerprinter, Md5Fingerprinter, ShingleConfig, Shingler};
use lookalike::text::parse::{ParseConfig, TokenKind};
use lookalike::text::read::{ContentKind, RawDocument};

/// Text of so many words, no two shingles of which are equal.
fn text(words: usize) -> String {
    let word = |i: usize| {
        format!(
            "{:x} ",
            (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
        )
    };
    (0..words).map(word).collect()
}

fn bench_kind<K: Key>(c: &mut Criterion, name: &str, words: usize, config: &ShingleConfig) {
    let body = text(words);
    let document = RawDocument {
        charset: None,
        body: Cow::Borrowed(body.as_bytes()),
        ..RawDocument::of_text("", ContentKind::Text)
    };
    let expected = match config.parse.tokens {
        TokenKind::Bytes(n) => body.len() - 1 - (n.get() as usize - 1),
        _ => words + 1 - config.shingle_size as usize,
    };
    let mut shingler = Shingler::<K>::new(config);
    let mut set = Vec::new();
    let mut group = c.benchmark_group("shingle");
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function(BenchmarkId::new(name, words), |b| {
        b.iter(|| {
            let range = (K::default(), K::MAX);
            let facts = shingler.shingle(black_box(&document), range, &mut set);
            assert_eq!((set.len(), facts.words), (expected, words as u64));
        });
    });
    group.finish();
}

/// MD5 of every ten words, one at a time as the `md-5` crate does and several at once.
fn bench_md5(c: &mut Criterion) {
    // Words of 1 to 9 letters, so that some two thirds of the shingles have two blocks, as on web
    // pages.
    let (mut text, mut starts) = (Vec::new(), vec![0]);
    for i in 0..10_000u64 {
        let random = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = format!("{:x} ", random >> (28 + 4 * ((random >> 8) % 9)));
        text.extend_from_slice(word.as_bytes());
        starts.push(text.len());
    }
    let shingles: Vec<_> = starts.windows(11).map(|w| w[0]..w[10] - 1).collect();
    let two_blocks = shingles.iter().filter(|s| s.len() >= 56).count();
    assert!(two_blocks > shingles.len() / 2 && two_blocks < shingles.len());
    let one_at_a_time = |found: &mut Vec<u128>| {
        let mut fingerprinter = Md5Fingerprinter::default();
        let shingles = shingles.iter().cloned();
        found.extend(shingles.map(|shingle| fingerprinter.fingerprint(&text[shingle])));
    };
    let mut fingerprinter = Md5Fingerprinter::default();
    let mut at_once = |found: &mut Vec<u128>| {
        let shingles = shingles.iter().cloned();
        fingerprinter.fingerprints(&text, shingles, |fingerprint| found.push(fingerprint));
    };
    let mut group = c.benchmark_group("md5");
    group.throughput(Throughput::Elements(shingles.len() as u64));
    let mut run = |name: &str, hash: &mut dyn FnMut(&mut Vec<u128>)| {
        let mut found = Vec::new();
        group.bench_function(name, |b| {
            b.iter(|| {
                found.clear();
                hash(&mut found);
                assert_eq!(found.len(), shingles.len());
            });
        });
        found.sort_unstable();
        found
    };
    let expected = run("one at a time", &mut { one_at_a_time });
    let found = run("several at once", &mut at_once);
    // Both are empty where only some benches were asked for.
    assert!(found == expected || found.is_empty() || expected.is_empty());
    group.finish();
}

fn bench(c: &mut Criterion) {
    let config = ShingleConfig::default();
    for words in [100, 1000, 100_000] {
        bench_kind::<u64>(c, "words", words, &config);
    }
    let md5 = ShingleConfig {
        fingerprint: FingerprintKind::Md5,
        ..config.clone()
    };
    bench_kind::<u128>(c, "words-md5", 1000, &md5);
    bench_md5(c);
    let tokens = TokenKind::Bytes(NonZeroU32::MIN.saturating_add(19));
    let bytes = ShingleConfig {
        parse: ParseConfig {
            tokens,
            ..ParseConfig::default()
        },
        ..config
    };
    bench_kind::<u64>(c, "bytes-20", 1000, &bytes);
}

criterion_group!(benches, bench);
criterion_main!(benches);
