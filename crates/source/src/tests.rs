//! Decoders: their memory, with and without help. The bytes that are decompressed with help equal
//! the bytes that a reader decompresses alone, of sound and of damaged files, to the last byte and
//! the last word of the error.

use std::io::{Cursor, Write};
use std::ops::Range;
use std::sync::LazyLock;

use super::ahead::{Helpers, Parts};
use super::members::Members;
use super::*;
use lookalike_base::{Command, Random, Stop};
use lookalike_store::disk;

fn members<F>(file: File, length: u64) -> Members<F> {
    Members::new(&Helped {
        file: &file,
        length,
        dictionary: &Arc::default(),
    })
}

#[test]
fn a_machine_without_memory_is_not_taken_for_damage() {
    let error = io::Error::other("Allocation error : not enough memory");
    let xz = xz::failure(&liblzma::stream::Error::Mem);
    for (failure, codec) in [(Failure::from(error), Codec::Zstd), (xz, Codec::Xz)] {
        let fault = failure.fault(codec);
        assert_eq!(fault.reason, Reason::DecompressorMemory, "{}", fault.detail);
        assert!(!fault.detail.contains("128 MiB"), "{}", fault.detail);
    }
}

/// Lines of random letters, which lose a quarter when they are compressed.
fn text(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let letter = |number: u64| {
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 \n"[number as usize]
    };
    (0..bytes).map(|_| letter(random.draw() & 63)).collect()
}

/// Cuts into pieces of up to `most` bytes.
fn pieces(text: &[u8], most: usize, seed: u64) -> Vec<&[u8]> {
    let mut random = Random::new(seed);
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let n = rest.len().min(1 + random.below(most as u64) as usize);
        let (piece, more) = rest.split_at(n);
        pieces.push(piece);
        rest = more;
    }
    pieces
}

fn gzip(text: &[u8]) -> Vec<u8> {
    gzip_level(text, 6)
}

fn gzip_level(text: &[u8], level: u32) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    out.write_all(text).unwrap();
    out.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(text, 1).unwrap()
}

fn bzip2(text: &[u8], level: u32) -> Vec<u8> {
    let mut out = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::new(level));
    out.write_all(text).unwrap();
    out.finish().unwrap()
}

/// One stream with blocks of these texts.
fn xz(texts: &[&[u8]]) -> Vec<u8> {
    use liblzma::stream::{Action, Check, Status, Stream};
    let mut stream = Stream::new_easy_encoder(1, Check::Crc64).unwrap();
    let mut out = Vec::new();
    for text in texts {
        let end = stream.total_in() + text.len() as u64;
        loop {
            out.reserve(1 << 20);
            let rest = &text[text.len() - (end - stream.total_in()) as usize..];
            let status = stream.process_vec(rest, &mut out, Action::FullFlush);
            if status.unwrap() == Status::StreamEnd {
                break;
            }
        }
    }
    loop {
        out.reserve(1 << 20);
        let status = stream.process_vec(&[], &mut out, Action::Finish);
        if status.unwrap() == Status::StreamEnd {
            return out;
        }
    }
}

fn each(pieces: &[&[u8]], compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    pieces.iter().flat_map(|piece| compress(piece)).collect()
}

/// Files of every structure, with their names.
fn files() -> &'static [(&'static str, Vec<u8>)] {
    static FILES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(made);
    &FILES
}

fn made() -> Vec<(&'static str, Vec<u8>)> {
    let long = text(1_000_000, 1);
    let records = pieces(&long, 60_000, 2);
    let small = pieces(&long, 9_000, 2);
    let large = pieces(&long, 600_000, 3);
    let frames = pieces(&long, 200_000, 4);
    let skipped = |frame: &[u8]| {
        let mut bytes = b"\x50\x2a\x4d\x18\x04\0\0\0abcd".to_vec();
        bytes.extend(zstd(frame));
        bytes
    };
    // Members that are stored, so that the members inside of them are found.
    let nested = |records: &[&[u8]]| gzip_level(&each(records, gzip), 0);
    let with = |mut bytes: Vec<u8>, more: &[u8]| {
        bytes.extend(more);
        bytes
    };
    let runs = b"a".repeat(20_000_000);
    vec![
        ("gzip, one member", gzip(&long)),
        ("gzip, records", each(&records, gzip)),
        ("gzip, stored records", each(&records, |r| gzip_level(r, 0))),
        ("gzip, large members", each(&large, gzip)),
        ("gzip, nested", small.chunks(20).flat_map(nested).collect()),
        ("gzip, padded", with(each(&records, gzip), &[0; 3000])),
        ("gzip, then text", with(each(&records, gzip), b"and text")),
        ("gzip, then magic", with(each(&records, gzip), b"\x1f\x8b")),
        ("gzip, runs and records", {
            let run = gzip(&runs[..500_000]);
            each(&records, |record| with(gzip(record), &run))
        }),
        (
            "gzip, bombs",
            each(&[&runs, &runs, &long[..9], &runs], gzip),
        ),
        ("zstd, one frame", zstd(&long)),
        ("zstd, frames", each(&frames, zstd)),
        ("zstd, frames between skipped ones", each(&frames, skipped)),
        ("zstd, then text", with(each(&frames, zstd), b"and text")),
        ("bzip2, one stream", bzip2(&long, 9)),
        ("bzip2, small blocks", bzip2(&long, 1)),
        ("bzip2, streams", each(&frames, |frame| bzip2(frame, 9))),
        (
            "bzip2, two levels",
            each(&large, |t| bzip2(t, 1 + t.len() as u32 % 9)),
        ),
        ("bzip2, padded", with(bzip2(&long, 9), &[0; 3000])),
        ("bzip2, bombs", with(bzip2(&runs, 9), &bzip2(&long, 9))),
        ("xz, blocks", xz(&frames)),
        ("xz, one block", xz(&[&long])),
        (
            "xz, streams",
            each(&[xz(&frames).as_slice(), &xz(&frames)], <[u8]>::to_vec),
        ),
        ("xz, padded", with(xz(&frames), &[0; 40])),
    ]
}

/// How a reading ended: the text, and the errors, each after a number of bytes.
type Ending = (Vec<u8>, Vec<(usize, Fault)>);

/// Reads as the framers do, and waits before each time.
fn read(mut source: Source, max_ratio: u64, wait: impl Fn()) -> Ending {
    let (mut text, mut faults) = (Vec::new(), Vec::new());
    loop {
        wait();
        let length = text.len();
        text.resize(length + (256 << 10), 0);
        let result = source.read(&mut text[length..], max_ratio);
        text.truncate(length + *result.as_ref().unwrap_or(&0));
        match result {
            Ok(0) => return (text, faults),
            Ok(_) => {}
            Err(fault) => {
                let goes_on = fault.goes_on;
                faults.push((text.len(), fault));
                if !goes_on {
                    return (text, faults);
                }
            }
        }
    }
}

fn alone(bytes: &[u8], max_ratio: u64) -> Ending {
    let input = Input::new(Box::new(Cursor::new(bytes.to_vec())));
    read(Source::new(input).unwrap(), max_ratio, || {})
}

fn shared(bytes: &[u8]) -> File {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    disk::open(file.path()).unwrap()
}

/// Reads with two threads that help, and some more that never come. If there are two, then they
/// have begun with what they can do before the reader gets there.
fn helped(bytes: &[u8], max_ratio: u64, memory: u64, threads: usize) -> Ending {
    let file = shared(bytes);
    let (helpers, jobs) = Helpers::new(memory);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let jobs = jobs.clone();
            helpers.joined();
            if thread < 2 {
                scope.spawn(move || jobs.iter().for_each(|job| job()));
            }
        }
        let mut source = Source::new(Input::new(Box::new(file.clone()))).unwrap();
        source.decompress_ahead(&file, bytes.len() as u64, &helpers);
        drop(helpers);
        read(source, max_ratio, || {
            while threads == 2 && !jobs.is_empty() {
                std::thread::yield_now();
            }
        })
    })
}

fn require_same(what: &str, one: &Ending, other: &Ending) {
    assert_eq!(one.1, other.1, "{what}");
    if one.0 != other.0 {
        let same = one.0.iter().zip(&other.0).take_while(|(a, b)| a == b);
        let (same, lengths) = (same.count(), (one.0.len(), other.0.len()));
        panic!("{what}: the same up to {same}, of {lengths:?}");
    }
}

/// The files that a test takes: all with `LOOKALIKE_THOROUGH=1`, every second one without it.
fn chosen(skipped: usize) -> impl Iterator<Item = &'static (&'static str, Vec<u8>)> {
    let all = std::env::var_os("LOOKALIKE_THOROUGH").is_some_and(|value| value == "1");
    let chosen = move |number: &usize| all || number % 2 == skipped;
    let files = files().iter().enumerate();
    files
        .filter(move |(number, _)| chosen(number))
        .map(|(_, file)| file)
}

#[test]
fn help_changes_nothing() {
    for &(what, ref bytes) in chosen(0) {
        let expected = alone(bytes, 1000);
        for (memory, threads) in [(1 << 30, 2), (1 << 30, 6), (20 << 20, 0)] {
            let found = helped(bytes, 1000, memory, threads);
            require_same(&format!("{what}, {threads}"), &expected, &found);
        }
    }
}

#[test]
fn help_changes_nothing_of_a_damaged_file() {
    let mut random = Random::new(5);
    for &(what, ref bytes) in chosen(1) {
        if what.contains("bombs") {
            continue;
        }
        for n in 0..3 {
            let mut damaged = bytes.clone();
            let at = match n {
                // Checksums are there.
                0 => bytes.len() - 3,
                _ => random.below(bytes.len() as u64) as usize,
            };
            match n % 3 {
                0 => damaged[at] ^= 1 << random.below(8),
                1 => damaged.truncate(at),
                _ => drop(damaged.splice(at..at, bytes[at / 2..at / 2 + 100].to_vec())),
            }
            let (expected, found) = (alone(&damaged, 1000), helped(&damaged, 1000, 1 << 30, 3));
            require_same(&format!("{what}, {n} at {at}"), &expected, &found);
        }
    }
}

/// A ratio that a part of the text has, but not all of it.
#[test]
fn help_changes_nothing_of_where_a_ratio_is_too_high() {
    for &(what, ref bytes) in chosen(0) {
        for ratio in [3, 20] {
            let (expected, found) = (alone(bytes, ratio), helped(bytes, ratio, 1 << 30, 2));
            require_same(&format!("{what}, {ratio}"), &expected, &found);
        }
    }
}

/// In one range after the other, each part is found at the end of its predecessor, and the texts of
/// all parts are the whole text.
fn require_chain(parts: &dyn Parts, first: u64, expected: &[u8]) {
    let (mut at, mut text, mut found) = (first, Vec::new(), 0);
    let mut last = false;
    for begin in (0..parts.end()).step_by(parts.stride() as usize) {
        let range = begin..(begin + parts.stride()).min(parts.end());
        let known = begin == 0;
        let range = if known { first..range.end } else { range };
        // A buffer that has been used.
        let Some(part) = parts.decompress(range, known, vec![7; 100]) else {
            continue;
        };
        assert_eq!(part.place.start, at);
        at = part.place.end;
        text.extend(part.bytes);
        last = part.last;
        found += 1;
    }
    assert!(found > 1 && last && text == expected, "{found} parts");
}

#[test]
fn parts_are_found_without_the_ones_before() {
    let text = text(1_000_000, 1);
    let (records, frames) = (pieces(&text, 60_000, 2), pieces(&text, 200_000, 4));
    let file = |bytes: &[u8]| (shared(bytes), bytes.len() as u64);
    let (gzip, length) = file(&each(&records, gzip));
    require_chain(&members::<Gzip>(gzip, length), 0, &text);
    for bytes in [bzip2(&text, 1), each(&frames, |text| bzip2(text, 9))] {
        let (bzip2, length) = file(&bytes);
        let blocks = bzip2::Blocks::new(bzip2, length, &bytes).unwrap();
        require_chain(&blocks, bzip2::Blocks::FIRST, &text);
    }
    let bytes = xz(&frames);
    let (xz, length) = file(&bytes);
    require_chain(&xz::Blocks::new(xz, length, &bytes).unwrap(), 0, &text);
    let (zstd, length) = file(&each(&frames, zstd));
    require_chain(&members::<Zstd>(zstd, length), 0, &text);
}

/// The same bytes again and again. Later reads come after the request to stop.
struct Endless {
    member: Vec<u8>,
    at: usize,
    reads: usize,
    stop: Stop,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads > 3 {
            self.stop.request();
        }
        for byte in &mut *out {
            *byte = self.member[self.at];
            self.at = (self.at + 1) % self.member.len();
        }
        Ok(out.len())
    }
}

/// Members without a byte of text were passed over to the end of the file.
#[test]
fn a_stop_is_heard_between_members() {
    let skipped = b"\x50\x2a\x4d\x18\x01\0\0\0x";
    let members = [
        ("gzip", gzip(b"")),
        ("words", gzip(b"a ")),
        ("bzip2", bzip2(b"", 1)),
        ("zstd", zstd(b"")),
        ("skippable", skipped.to_vec()),
    ];
    for (what, member) in members {
        let stop = Stop::default();
        let endless = Endless {
            member,
            at: 0,
            reads: 0,
            stop: stop.clone(),
        };
        let fault = Command::default().run(|| {
            remote::wait_until(&stop);
            let mut source = Source::new(Input::new(Box::new(endless))).unwrap();
            let mut out = vec![0; STEP];
            loop {
                match source.read(&mut out, u64::MAX) {
                    Ok(0) => break None,
                    Ok(_) => {}
                    Err(fault) => break Some(fault),
                }
            }
        });
        assert_eq!(fault, Some(Fault::refused(&remote::stopped())), "{what}");
    }
}

#[test]
fn the_file_is_closed_with_the_reader() {
    let bytes = each(&pieces(&text(1_000_000, 1), 60_000, 2), gzip);
    let file = shared(&bytes);
    let (helpers, jobs) = Helpers::new(1 << 30);
    helpers.joined();
    let mut source = Source::new(Input::new(Box::new(file.clone()))).unwrap();
    source.decompress_ahead(&file, bytes.len() as u64, &helpers);
    let mut out = vec![0; 256 << 10];
    source.read(&mut out, 1000).unwrap();
    source.read(&mut out, 1000).unwrap();
    assert!(!jobs.is_empty());
    drop(source);
    // Ranges that no reader waits for are not decompressed, and their memory is free again.
    jobs.try_iter().for_each(|job| job());
    assert!(helpers.take(1 << 30).is_some());
}

/// Compressors write the requested values in their headers.
#[test]
fn decoders_say_what_memory_they_take() {
    let memory = |bytes: Vec<u8>| {
        let input = Input::new(Box::new(io::Cursor::new(bytes)));
        let memory = Source::new(input).unwrap().memory;
        memory.saturating_sub(checked::MEMORY)
    };
    let text = b"a text ".repeat(100_000);
    assert_eq!(memory(text.clone()), 0);
    for (preset, bytes) in [(0, 1 << 18), (1, 1 << 20), (6, 8 << 20), (9, 64 << 20)] {
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), preset);
        io::Write::write_all(&mut xz, &text).unwrap();
        assert_eq!(memory(xz.finish().unwrap()), bytes);
    }
    for log in [10, 17, 23, 27] {
        let mut zstd = ::zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        zstd.window_log(log).unwrap();
        io::Write::write_all(&mut zstd, &text).unwrap();
        assert_eq!(memory(zstd.finish().unwrap()), 1 << log);
    }
    // Short contents are one segment.
    for length in [5, 255, 256, 300, 65_535, 65_792] {
        let zstd = ::zstd::bulk::compress(&text[..length], 1).unwrap();
        assert_eq!(memory(zstd), length as u64);
    }
    // Frames to be skipped, and headers that are cut off.
    let skipped = b"\x50\x2a\x4d\x18\x01\0\0\0x";
    assert_eq!(memory(skipped.to_vec()), 8 << 20);
    assert_eq!(memory(b"\xfd7zXZ\0".to_vec()), DECODER_MEMORY);
    assert_eq!(memory(vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0]), DECODER_MEMORY);
}

/// Whatever the bytes are, looking for parts in them ends, with parts that lie in the file.
#[test]
fn any_bytes_may_be_searched_for_parts() {
    let mut random = Random::new(6);
    let text = text(6000, 1);
    let pieces = pieces(&text, 2500, 7);
    let files = [
        each(&pieces, gzip),
        each(&pieces, zstd),
        each(&pieces, |text| bzip2(text, 9)),
        xz(&pieces),
    ];
    for n in 0..2000 {
        let mut bytes = files[n % 4].clone();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[at] = [0, 0xff, 0x80, 0x7f][random.below(4) as usize],
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes.truncate(at + 1),
                _ => {
                    let again = bytes[at / 2..at].to_vec();
                    drop(bytes.splice(at..at, again));
                }
            }
        }
        // The checksums of the index and of the footer are right, whatever they are made of.
        if n % 4 == 3 && random.below(2) == 0 {
            let index = xz_index(&bytes).unwrap_or(0..0);
            if let Some(fields) = bytes
                .get_mut(index.clone())
                .filter(|fields| !fields.is_empty())
            {
                let at = random.below(fields.len() as u64) as usize;
                fields[at] = random.draw() as u8;
                let mut crc = flate2::Crc::new();
                crc.update(fields);
                bytes[index.end..index.end + 4].copy_from_slice(&crc.sum().to_le_bytes());
            }
        }
        let (file, length) = (shared(&bytes), bytes.len() as u64);
        let parts: Box<dyn Parts> = match n % 4 {
            0 => Box::new(members::<Gzip>(file, length)),
            1 => Box::new(members::<Zstd>(file, length)),
            2 => match bzip2::Blocks::new(file, length, &bytes) {
                Some(blocks) => Box::new(blocks),
                None => continue,
            },
            _ => match xz::Blocks::new(file, length, &bytes) {
                Some(blocks) => Box::new(blocks),
                None => continue,
            },
        };
        let end = parts.end();
        for known in [true, false] {
            let mut at = 0;
            while at < end {
                let stride = parts.stride().min(1 + random.below(end));
                let range = at..(at + stride).min(end);
                at = range.end;
                if let Some(part) = parts.decompress(range.clone(), known, Vec::new()) {
                    assert!(range.contains(&part.place.start));
                    assert!(part.place.start < part.place.end && part.place.end <= end);
                    assert!(parts.byte(part.place.end) <= length);
                }
            }
        }
    }
}

/// A text about magic numbers takes as long as another one: after some of them, a range is given
/// up.
#[test]
fn a_range_full_of_magic_numbers_is_given_up() {
    let found = |numbers: usize| {
        let mut bytes = b"\x1f\x8b\x08\0\xff\xff\xff\xff".repeat(numbers);
        bytes.extend(gzip(b"a text"));
        let length = bytes.len() as u64;
        let parts = members::<Gzip>(shared(&bytes), length);
        parts.decompress(0..length, false, Vec::new())
    };
    assert_eq!(found(100).unwrap().bytes, b"a text");
    assert!(found(1000).is_none());
}

/// Where the fields of the index are in a file of one stream of xz.
fn xz_index(bytes: &[u8]) -> Option<Range<usize>> {
    let footer = bytes.len().checked_sub(12)?;
    let length = bytes.get(footer + 4..)?.first_chunk()?;
    let length = (u32::from_le_bytes(*length) as usize + 1).checked_mul(4)?;
    Some(footer.checked_sub(length)?..footer - 4)
}
