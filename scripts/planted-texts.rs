//! Writes texts with planted near-duplicates, of any size, and compares the pairs that a program
//! lists with those that were planted.
//!
//!     cargo run --release --example planted-texts -- DIR 40 500
//!     lookalike run DIR -o out
//!     cargo run --release --example planted-texts -- --check out/pairs.tsv 40 500
//!
//! This makes 40 files of 500 MB of JSON lines, compressed with zstd to half of that. A text has 60
//! to 16,000 of 65,536 words, and the logarithm of a word's rank is uniform (Zipf's law). One text in
//! eight is a copy of an original of this file or an earlier one, with none to three words replaced,
//! removed or inserted. Every text follows from its number, so the check needs no input: it makes
//! each copy and its original again, and counts what they share. It knows shingles of ten words and
//! the threshold 0.85.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::thread;

const WORDS: u64 = 65_536;
/// Originals of a file from which later files copy. A file of 500 MB has 127,000 texts.
const COPIED: u64 = 40_000;
const SHINGLE: usize = 10;

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

fn vocabulary() -> Vec<String> {
    let mut random = Random(42);
    let word = |rank: u64| -> String {
        let length = 2 + (rank as f64).log2().max(0.0) as u64 / 3 + random.below(4);
        let letters = (0..length).map(|_| char::from(b'a' + random.below(26) as u8));
        letters.collect()
    };
    (0..WORDS).map(word).collect()
}

/// File and number of a text.
type Place = (u64, u64);

fn original((file, number): Place) -> Vec<u16> {
    let seed = (file << 40) + number;
    let mut random = Random(seed.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ 0xAB_CDEF);
    let length = (40.0 * (6.0 * random.fraction() * random.fraction()).exp()) as usize + 20;
    let word = |_| ((WORDS as f64).powf(random.fraction()) - 1.0).min(65_535.0) as u16;
    (0..length).map(word).collect()
}

/// Calls `each` with the place of each text of a file, the place of its original, and its words. It
/// returns the bytes of its line.
fn texts(file: u64, bytes: usize, mut each: impl FnMut(Place, Place, Vec<u16>) -> usize) {
    let mut random = Random(file * 7919 + 1);
    let (mut written, mut number) = (0, 0);
    while written < bytes {
        let mut of = (file, number);
        let copied = random.below(8) == 0 && of != (0, 0);
        if copied {
            let from = random.below(file + 1);
            let most = if from == file { number.max(1) } else { COPIED };
            of = (from, random.below(most));
        }
        let mut words = original(of);
        for _ in 0..if copied { random.below(4) } else { 0 } {
            let at = random.below(words.len() as u64) as usize;
            match random.below(3) {
                0 => words[at] = random.below(WORDS) as u16,
                1 => drop(words.remove(at)),
                _ => words.insert(at, random.below(WORDS) as u16),
            }
        }
        written += each((file, number), of, words);
        number += 1;
    }
}

fn line((file, number): Place, words: &[u16], vocabulary: &[String]) -> String {
    let mut line = format!("{{\"id\":\"{file}-{number}\",\"text\":\"");
    for (n, &word) in words.iter().enumerate() {
        line.push_str(if n > 0 { " " } else { "" });
        line.push_str(&vocabulary[usize::from(word)]);
        line.push_str(if n % 13 == 12 { "." } else { "" });
    }
    line + "\"}\n"
}

fn make(directory: &str, files: u64, bytes: usize) -> std::io::Result<()> {
    let vocabulary = vocabulary();
    std::fs::create_dir_all(directory)?;
    let write = |file: u64| {
        let path = format!("{directory}/{file:04}.jsonl.zst");
        let mut out = zstd::Encoder::new(File::create_new(path)?, 1)?;
        let mut written = Ok(());
        texts(file, bytes, |place, _, words| {
            let line = line(place, &words, &vocabulary);
            written = std::mem::replace(&mut written, Ok(())).and(out.write_all(line.as_bytes()));
            line.len()
        });
        written.and(out.finish()?.sync_all())
    };
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    thread::scope(|scope| {
        let share = |first: u64| (first..files).step_by(threads as usize).try_for_each(write);
        let workers: Vec<_> = (0..threads)
            .map(|n| scope.spawn(move || share(n)))
            .collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().expect("a thread ends"));
        ended.collect()
    })
}

/// The hashes of the shingles of a text, each once, in order.
fn shingles(words: &[u16]) -> Vec<u64> {
    let hash = |shingle: &[u16]| {
        shingle
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |hash: u64, &word| {
                let hash = (hash ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                hash ^ (hash >> 29)
            })
    };
    let mut all: Vec<u64> = words.windows(SHINGLE).map(hash).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn check(pairs: &str, files: u64, bytes: usize) -> std::io::Result<()> {
    let vocabulary = vocabulary();
    // Some words are spelt alike, and are the same word to a program that reads them.
    let mut spelt: HashMap<&str, u16> = HashMap::new();
    let number = |(n, word)| *spelt.entry(word).or_insert(n as u16);
    let words = vocabulary.iter().map(String::as_str);
    let numbers: Vec<u16> = words.enumerate().map(number).collect();
    let mut listed = HashMap::new();
    for line in BufReader::new(File::open(pairs)?).lines() {
        let line = line?;
        let columns: Vec<&str> = line.split('\t').collect();
        let place = |docno: &str| -> Option<Place> {
            let (file, number) = docno.split_once('-')?;
            Some((file.parse().ok()?, number.parse().ok()?))
        };
        if let [a, b, _, shared, ..] = columns[..]
            && let (Some(a), Some(b)) = (place(a), place(b))
        {
            listed.insert((a.min(b), a.max(b)), shared.parse().unwrap_or(0usize));
        }
    }
    let (mut families, mut originals): (HashMap<Place, Vec<_>>, _) =
        (HashMap::new(), HashSet::new());
    let mut documents = 0u64;
    for file in 0..files {
        texts(file, bytes, |place, of, words| {
            let length = line(place, &words, &vocabulary).len();
            documents += 1;
            if place == of {
                originals.insert(of);
            } else {
                families.entry(of).or_default().push((place, words));
            }
            length
        });
    }
    let (mut expected, mut missing, mut miscounted, mut copies) = (0, 0, 0, 0);
    for (of, mut family) in families {
        if originals.contains(&of) {
            family.push((of, original(of)));
        }
        family.sort();
        // The first of identical texts stands for them all.
        let mut members: Vec<(Place, Vec<u16>)> = Vec::new();
        for (place, words) in family {
            let words = words
                .iter()
                .map(|&word| numbers[usize::from(word)])
                .collect();
            match members.iter().any(|(_, other)| *other == words) {
                true => copies += 1,
                false => members.push((place, words)),
            }
        }
        let sets: Vec<(Place, HashSet<u64>)> = members
            .iter()
            .map(|(place, words)| (*place, shingles(words).into_iter().collect()))
            .collect();
        for (n, (a, set)) in sets.iter().enumerate() {
            for (b, other) in &sets[n + 1..] {
                let shared = set.intersection(other).count();
                if shared * 20 < 17 * (set.len() + other.len() - shared) {
                    continue;
                }
                expected += 1;
                match listed.remove(&(*a.min(b), *a.max(b))) {
                    None => missing += 1,
                    Some(count) => miscounted += u64::from(count != shared),
                }
            }
        }
    }
    println!(
        "{documents} texts in {files} files: {expected} pairs planted, {missing} missing, {miscounted} \
         with another count, {} listed and not planted, {copies} exact copies",
        listed.len()
    );
    Ok(())
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (pairs, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "--check" => (true, rest),
        _ => (false, &arguments[..]),
    };
    let [path, files, megabytes] = rest else {
        eprintln!("usage: planted-texts [--check] DIRECTORY|PAIRS FILES MEGABYTES");
        std::process::exit(2);
    };
    let number = |text: &str| text.parse::<u64>().map_err(std::io::Error::other);
    let (files, bytes) = (number(files)?, number(megabytes)? as usize * 1_000_000);
    if pairs {
        check(path, files, bytes)
    } else {
        make(path, files, bytes)
    }
}
