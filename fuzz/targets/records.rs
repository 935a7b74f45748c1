//! From the bytes of an input to records, raw documents and tokens, and what holds on the way.

use std::cell::RefCell;
use std::io::Read;

use lookalike::base::budget::ByteSize;
use lookalike::engine::shingle::{ShingleConfig, Shingler};
use lookalike::text::read::{
    Batch, Format, Interpreted, ReadConfig, Reason, Record, RecordKind, RecordReader, interpret,
};

use super::controls::Controls;

/// Gives a few bytes at a time, in turn.
struct Dribble {
    bytes: Vec<u8>,
    at: usize,
    steps: [usize; 3],
    turn: usize,
}

impl Read for Dribble {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let step = self.steps[self.turn % self.steps.len()];
        self.turn += 1;
        let n = step.min(out.len()).min(self.bytes.len() - self.at);
        out[..n].copy_from_slice(&self.bytes[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// All records of an input.
struct All {
    batch: Batch,
    position: u64,
    decompressed: u64,
    header: u64,
}

fn read_all(reader: impl Read + Send + 'static, docno: &str, config: &ReadConfig) -> All {
    let mut reader = RecordReader::from_reader(reader, docno, 7, config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    assert!(!reader.next_into(&mut batch), "the end is not the end");
    All {
        position: reader.position(),
        decompressed: reader.decompressed(),
        header: reader.header,
        batch,
    }
}

thread_local! {
    static SHINGLER: RefCell<Shingler<u64>> = RefCell::new(Shingler::new(&ShingleConfig {
        shingle_size: 3,
        ..ShingleConfig::default()
    }));
}

/// Reads `input` as one of `formats` (`None`: whatever it is), from a reader that gives all at once
/// and from one that dribbles, and parses what comes out.
pub fn check(data: &[u8], formats: &[Option<Format>]) {
    check_split(data, formats, None);
}

/// As [`check`], with markup split at the elements of this name.
pub fn check_split(data: &[u8], formats: &[Option<Format>], record: Option<&str>) {
    let mut controls = Controls::new(data);
    let format = controls.one_of(formats);
    let names = controls.byte();
    let docno = [
        "a",
        "a.html",
        "a.txt",
        "a.jsonl",
        "a.warc.gz",
        "a.arc",
        "a.eml",
        "a.csv",
        "a.tsv.gz",
    ];
    let more = usize::from(names & 15) >= docno.len();
    let docno = docno[usize::from(names & 15) % docno.len()];
    let field = |bit: u8, name: &str| (names & bit != 0).then(|| name.to_string());
    let max_document = controls.one_of(&[1 << 20, 64 << 10, 1 << 10, 100, 1]);
    let config = ReadConfig {
        format,
        record: record.map(Into::into),
        text_field: field(16, "a.text"),
        id_field: field(32, "a.id"),
        url_field: field(64, "url"),
        columns: field(128, "id,a.text"),
        split_at: more.then(|| "^[a<]|^$".parse().ok()).flatten(),
        delimiter: more.then(|| ";;".into()),
        max_document: ByteSize(max_document),
        max_ratio: 20,
        ..ReadConfig::default()
    };
    let seed = usize::from(controls.byte());
    let input = controls.rest();

    let whole = read_all(std::io::Cursor::new(input.to_vec()), docno, &config);
    let steps = [1 + seed % 7, 1 + seed % 64 * 3, 1 + seed * 11];
    let dribble = Dribble {
        bytes: input.to_vec(),
        at: 0,
        steps,
        turn: 0,
    };
    let parts = read_all(dribble, docno, &config);
    assert_eq!(
        whole.batch.records, parts.batch.records,
        "records depend on reads"
    );
    assert_eq!(
        whole.batch.bytes, parts.batch.bytes,
        "bytes depend on reads"
    );
    assert_eq!(whole.decompressed, parts.decompressed);

    accounted(&whole, input, &config);
    for record in &whole.batch.records {
        let bytes = &whole.batch.bytes[record.bytes.clone()];
        document(record, bytes, &config);
    }
}

/// What a record of a batch is, down to its tokens.
fn document(record: &Record, bytes: &[u8], config: &ReadConfig) {
    if matches!(record.kind, RecordKind::Rejected(_)) {
        assert!(bytes.is_empty(), "a rejected record has bytes");
    }
    assert!(bytes.len() as u64 <= config.max_document.0);
    match interpret(record, bytes, config) {
        Interpreted::Document(document) => {
            let most = config.max_document.0 + most_around(&record.kind);
            assert!(document.body.len() as u64 <= most);
            SHINGLER.with_borrow_mut(|shingler| {
                let mut set = Vec::new();
                shingler.shingle(&document, (0, u64::MAX), &mut set);
                assert!(set.is_sorted_by(|a, b| a < b));
            });
        }
        Interpreted::Skipped(_) | Interpreted::Rejected(_) => {}
    }
}

/// Bytes of a body that are not in its record.
fn most_around(kind: &RecordKind) -> u64 {
    match kind {
        // The XML declaration of its file.
        RecordKind::Element(_) => 256,
        _ => 0,
    }
}

/// No byte vanishes: what is in no record is a gap that the format allows.
fn accounted(all: &All, input: &[u8], config: &ReadConfig) {
    let records = &all.batch.records;
    let whole_file = records.iter().any(|record| match &record.kind {
        RecordKind::Rejected(reject) => {
            matches!(
                reject.reason,
                Reason::BinaryFile | Reason::UnsupportedFormat | Reason::EmptyFile
            ) || reject.source.length == 0
                && matches!(reject.reason, Reason::MissingText | Reason::BadRow)
        }
        _ => false,
    });
    let mut at = 0;
    for record in records {
        if record.source.length == 0 || record.retracts {
            continue;
        }
        assert!(record.source.offset >= at, "records overlap: {record:?}");
        at = record.source.offset + record.source.length;
    }
    assert!(at <= all.decompressed, "more than there is");
    assert!(all.position <= input.len() as u64);
    // The bytes themselves are at hand only where nothing was decompressed.
    if whole_file || all.position != all.decompressed || all.position != input.len() as u64 {
        return;
    }
    if compressed(input) || wide(input) {
        return;
    }
    // What is around elements belongs to no record.
    let gap = |bytes: &[u8]| match config.record {
        Some(_) => {}
        None => gap(bytes),
    };
    // The header of a table is in no record.
    let header = all.header as usize;
    let mut at = header;
    for record in records.iter().filter(|record| record.source.length > 0) {
        let start = record.source.offset as usize;
        gap(&input[at..start]);
        at = start + record.source.length as usize;
        if !matches!(record.kind, RecordKind::Rejected(_)) && record.notice.is_none() {
            let held = &all.batch.bytes[record.bytes.clone()];
            if held
                .windows(20)
                .any(|name| name.eq_ignore_ascii_case(b"WARC-Segment-Number:"))
            {
                // Of other segments, only the blocks.
                continue;
            }
            // A message has LF where a line of its header ends with CR.
            let there = &input[start..start + held.len()];
            let mail = matches!(record.kind, RecordKind::Mail(_));
            let same = |(&held, &there): (&u8, &u8)| {
                held == there || mail && held == b'\n' && there == b'\r'
            };
            assert!(
                held.iter().zip(there).all(same),
                "bytes of a record: {held:?}, {there:?}"
            );
        }
    }
    gap(&input[at..]);
}

/// Do these bytes begin a compressed stream?
fn compressed(input: &[u8]) -> bool {
    let magics: [&[u8]; 6] = [
        &[0x1f, 0x8b],
        &[0x1f, 0x9d],
        b"BZh",
        b"\xfd7zXZ\0",
        &[0x28, 0xb5, 0x2f, 0xfd],
        &[0x2a, 0x4d, 0x18],
    ];
    let behind = input.get(1..).unwrap_or_default();
    magics[..5].iter().any(|magic| input.starts_with(magic)) || behind.starts_with(magics[5])
}

/// May these bytes be UTF-16, which is decoded, or UTF-32?
fn wide(input: &[u8]) -> bool {
    let marks: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
    let head = &input[..input.len().min(64)];
    marks.iter().any(|mark| input.starts_with(mark)) || head.contains(&0)
}

/// White space, byte order marks, commas, brackets and separators of JSON, comments and
/// declarations of SGML, and the tags of elements around documents.
fn gap(mut bytes: &[u8]) {
    let shown = String::from_utf8_lossy(bytes).into_owned();
    loop {
        let used = bytes
            .iter()
            .take_while(|&&byte| byte.is_ascii_whitespace() || b",[]\x1e".contains(&byte))
            .count();
        bytes = &bytes[used..];
        if bytes.is_empty() {
            return;
        }
        if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
            bytes = rest;
            continue;
        }
        let is_tag = match bytes {
            [b'<', b'/', c, ..] | [b'<', c, ..] => c.is_ascii_alphabetic(),
            _ => false,
        };
        let end = if let Some(rest) = bytes.strip_prefix(b"<!--") {
            let end = rest.windows(3).position(|end| end == b"-->");
            end.map(|at| at + 7)
        } else if bytes.starts_with(b"<!") || bytes.starts_with(b"<?") || is_tag {
            // A DOCTYPE may have declarations inside.
            let inside = (0..bytes.len()).find_map(|at| {
                let rest = bytes[at..].strip_prefix(b"]")?.trim_ascii_start();
                rest.starts_with(b">").then(|| bytes.len() - rest.len() + 1)
            });
            let tag = bytes.iter().position(|&byte| byte == b'>');
            let brackets = bytes.iter().position(|&byte| byte == b'[');
            match (tag, brackets, inside) {
                (Some(tag), Some(bracket), Some(inside)) if bracket < tag => Some(inside),
                (tag, ..) => tag.map(|at| at + 1),
            }
        } else {
            None
        };
        match end {
            Some(end) => bytes = &bytes[end..],
            None => panic!("bytes have vanished: {shown:?}"),
        }
    }
}
