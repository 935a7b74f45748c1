//! FORMAT.md is true, and what was written yesterday is read today.
//!
//! The dumps and examples of FORMAT.md stand between `<!-- dump: NAME -->` and `<!-- end -->`. They
//! are made here, through the public API, field by field: a field that moves, grows or goes shows.
//! Files of every kind and version are in `tests/fixtures/KIND/vN/`, each with a text of what is in
//! it; a fixture is never deleted or made anew, for it stands for the files that users have.
//!
//! `LOOKALIKE_BLESS=1 cargo test --test library format::` rewrites the dumps and the texts, and
//! adds fixtures that are not there yet. Read the difference before it is committed.

use lookalike::Error;
use lookalike::base::budget::{Budget, ByteSize, Disk};
use lookalike::base::ids::Key;
use lookalike::base::measure::Criterion;
use lookalike::base::progress::{Context, Silent, Stop};
use lookalike::engine::collection::{
    Addition, Additions, Against, CatalogueBefore, CatalogueEntry, CollectionConfig,
    DocumentRecord, DocumentWriter, RejectWriter, SetWriter, Since, SizeGroups, TextDigest,
    TextWriter,
};
use lookalike::engine::index::{IndexEntry, IndexStats, Layout, Level};
use lookalike::engine::join::prefix;
use lookalike::engine::join::{
    AddedStats, Before, CountStats, Join, JoinConfig, JoinProgress, JoinStats, Pair, Pairs,
    PairsEntry, PrefixStats, count,
};
use lookalike::engine::merge::PostingsWriter;
use lookalike::engine::pipeline::{self, JoinParameters, Spill};
use lookalike::engine::sample::Sampling;
use lookalike::engine::shingle::ShingleConfig;
use lookalike::engine::sort::{Compression, Record, RunEntry, RunWriter, RunsEntry};
use lookalike::store::workspace::{Base, MANIFEST_FILE};
use lookalike::store::{
    FOOTER_BYTES, HEADER_BYTES, Header, Item, Kind, NAMES_WITH_CAPTURES, PartInfo, PartWriter,
    Sort, VERSION, checksum,
};
use lookalike::tasks::evaluate::{EvaluateConfig, ListFile, evaluate};
use lookalike::tasks::inspect::{inspect, verify};
use lookalike::tasks::plan;
use lookalike::text::read::{ReadConfig, Reason, Reject, SourceSpan};
use lookalike_lab::study::StudyConfig;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The digest of parameters in every file made here.
const PARAMETERS: u128 = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn bless() -> bool {
    std::env::var_os("LOOKALIKE_BLESS").is_some_and(|value| value == "1")
}

// Parts, made through the public API.

fn header(kind: Kind, number: u64, key_bytes: u32) -> Header {
    Header {
        kind,
        version: kind.version(),
        parameters: PARAMETERS,
        number,
        key_bytes,
    }
}

fn document(docno: &str, words: u64) -> DocumentRecord {
    DocumentRecord {
        docno: docno.into(),
        url: None,
        title: None,
        charset: "UTF-8".into(),
        words,
        shingles: (words as u32).saturating_sub(9).max(1),
        stored: true,
        short: words < 10,
        group: 0,
        md5: std::array::from_fn(|i| i as u8 * 17),
        file: 0,
        offset: 0,
        length: 0,
        text: TextDigest::new(words << 40 | 5),
        fields: Default::default(),
        date: Default::default(),
    }
}

fn reject(docno: Option<&str>, reason: Reason, detail: &str) -> Reject {
    let source = SourceSpan {
        file: 2,
        offset: 70_000,
        length: 300,
    };
    Reject {
        source,
        docno: docno.map(Into::into),
        reason,
        detail: detail.into(),
    }
}

fn numbers<K: Key>(directory: &Path, header: &Header, numbers: &[K]) -> PartInfo {
    let mut part = PartWriter::create(directory, header).unwrap();
    let mut bytes = Vec::new();
    for number in numbers {
        number.put_le(&mut bytes);
    }
    part.put(&bytes).unwrap();
    part.finish(numbers.len() as u64, 0, 0).unwrap()
}

fn sets<K: Key>(directory: &Path, number: u64, keys: &[K]) -> PartInfo {
    let mut part = SetWriter::create(directory, PARAMETERS, number, K::BYTES).unwrap();
    let mut bytes = Vec::new();
    for key in keys {
        key.put_le(&mut bytes);
    }
    part.put(&bytes).unwrap();
    part.finish(keys.len() as u64).unwrap()
}

fn column(directory: &Path, number: u64, values: &[u32]) -> PartInfo {
    let mut part = PartWriter::create(directory, &header(Kind::Column, number, 4)).unwrap();
    for value in values {
        part.put(&value.to_le_bytes()).unwrap();
    }
    part.finish(values.len() as u64, 0, 0).unwrap()
}

/// The numbers of an item of a sort.
#[derive(Clone, Copy)]
struct Words([u32; 6]);

impl Item for Words {
    fn words(&self) -> [u32; 6] {
        self.0
    }

    fn of(words: [u32; 6]) -> Words {
        Words(words)
    }
}

fn sorted(directory: &Path, number: u64, items: &[(u128, u32, u32)]) -> PartInfo {
    let place = (directory, PARAMETERS);
    let mut sort = Sort::resumed(place, number, Vec::new(), ByteSize(1 << 20));
    for &(key, document, extra) in items {
        let word = |n: u32| (key >> (96 - 32 * n)) as u32;
        let words = [word(0), word(1), word(2), word(3), document, extra];
        sort.push(Words(words)).unwrap();
    }
    sort.untyped.flush().unwrap();
    sort.untyped.parts().0[0].clone()
}

fn names(directory: &Path, docnos: &[&str]) -> PartInfo {
    let captures = docnos.iter().any(|docno| docno.contains('\t'));
    let version = if captures {
        NAMES_WITH_CAPTURES
    } else {
        VERSION
    };
    let header = Header {
        version,
        ..header(Kind::Names, 0, 0)
    };
    let mut part = PartWriter::create(directory, &header).unwrap();
    for docno in docnos {
        part.put(docno.as_bytes()).unwrap();
    }
    part.finish(docnos.len() as u64, 0, 0).unwrap()
}

fn documents(directory: &Path, documents: &[DocumentRecord]) -> PartInfo {
    let mut part = DocumentWriter::create(directory, PARAMETERS, 0).unwrap();
    for document in documents {
        part.push(document).unwrap();
    }
    part.finish().unwrap()
}

fn rejects(directory: &Path, rejects: &[(Reject, bool)]) -> PartInfo {
    let mut part = RejectWriter::create(directory, PARAMETERS, 0).unwrap();
    for (reject, kept) in rejects {
        part.push(reject, *kept).unwrap();
    }
    part.finish().unwrap()
}

fn texts(directory: &Path, texts: &[&str]) -> PartInfo {
    let mut part = TextWriter::create(directory, PARAMETERS, 0).unwrap();
    for text in texts {
        part.push(text.as_bytes()).unwrap();
    }
    part.finish().unwrap()
}

fn run<K: Key>(
    directory: &Path,
    kind: Kind,
    number: u64,
    compression: Compression,
    records: impl IntoIterator<Item = (K, u32)>,
) -> PartInfo {
    let header = header(kind, number, K::BYTES as u32);
    let mut part = RunWriter::of(directory, header, compression).unwrap();
    for (key, value) in records {
        part.push(Record { key, value }).unwrap();
    }
    part.finish().unwrap()
}

fn postings<K: Key>(
    directory: &Path,
    number: u64,
    level: Option<i32>,
    lists: &[(K, Vec<u32>)],
) -> PartInfo {
    let mut part = PostingsWriter::create(directory, PARAMETERS, number, level).unwrap();
    for (key, documents) in lists {
        part.push(*key, documents.iter().copied()).unwrap();
    }
    part.finish().unwrap()
}

// Dumps: hexadecimal bytes beside what they are.

/// The kind whose dump has its header and footer. Other kinds differ there in numbers only.
const SHOWN_WHOLE: &str = "DOCS";

/// Walks over bytes and writes down what each of them is.
struct Page<'a> {
    bytes: &'a [u8],
    at: usize,
    out: String,
}

impl<'a> Page<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Page {
            bytes,
            at: 0,
            out: String::new(),
        }
    }

    fn peek(&self, n: usize) -> &'a [u8] {
        &self.bytes[self.at..self.at + n]
    }

    /// The next `n` bytes are `text`.
    fn field(&mut self, n: usize, text: &str) -> &'a [u8] {
        let bytes = self.peek(n);
        for (i, row) in bytes.chunks(16).enumerate() {
            let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            let text = if i == 0 { text } else { "" };
            let line = format!("{:04x}  {:<47}  {text}", self.at + i * 16, hex.join(" "));
            let _ = writeln!(self.out, "{}", line.trim_end());
        }
        self.at += n;
        bytes
    }

    /// The next `n` bytes are a little-endian number.
    fn number(&mut self, n: usize, text: &str) -> u128 {
        let mut word = [0; 16];
        word[..n].copy_from_slice(self.peek(n));
        let value = u128::from_le_bytes(word);
        self.field(n, &format!("{text}: {value}"));
        value
    }

    fn zeros(&mut self, n: usize, text: &str) {
        assert!(self.peek(n).iter().all(|&byte| byte == 0), "{text}");
        self.field(n, text);
    }

    fn checksum(&mut self, text: &str, of: &[u8]) {
        assert_eq!(self.peek(8), checksum(of).to_le_bytes(), "{text}");
        self.field(8, text);
    }

    fn header(&mut self, tag: &str) {
        assert_eq!(self.peek(12)[8..], *tag.as_bytes());
        self.field(8, "magic");
        self.field(4, &format!("kind: {tag}"));
        self.number(2, "version");
        self.zeros(2, "flags");
        self.field(16, "digest of the parameters");
        self.number(8, "number");
        self.number(4, "key bytes");
        self.zeros(12, "reserved");
        self.checksum("checksum of the 56 bytes before", &self.bytes[..56]);
        assert_eq!(self.at, HEADER_BYTES);
        if tag != SHOWN_WHOLE {
            self.out.clear();
        }
    }

    /// Ends the page with the footer.
    fn footer(mut self) -> String {
        let (start, shown) = (self.at, self.out.len());
        self.number(8, "records");
        let payload = self.number(8, "payload bytes");
        assert_eq!(payload as usize, start - HEADER_BYTES);
        self.number(8, "index offset");
        self.number(8, "extra");
        self.zeros(16, "reserved");
        let before = &self.bytes[..self.at];
        self.checksum("checksum of all before", before);
        self.field(8, "footer magic");
        assert_eq!(self.at - start, FOOTER_BYTES);
        if self.bytes[8..12] != *SHOWN_WHOLE.as_bytes() {
            self.out.truncate(shown);
        }
        self.end()
    }

    fn end(self) -> String {
        assert_eq!(self.at, self.bytes.len(), "bytes that nothing describes");
        self.out
    }

    /// A packed column of fewer than 128 numbers: one frame.
    fn frame(&mut self, text: &str, count: usize) -> Vec<u64> {
        let width = usize::from(self.peek(1)[0]);
        let length = (count * width).div_ceil(8);
        let bits = self.bytes[self.at + 1..][..length]
            .iter()
            .rev()
            .fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
        let values: Vec<u64> = (0..count)
            .map(|i| (bits >> (i * width)) as u64 & ((1u128 << width) - 1) as u64)
            .collect();
        self.field(1, &format!("{text}: width {width}"));
        if length > 0 {
            self.field(length, &format!("  {values:?}"));
        } else {
            let _ = writeln!(self.out, "{:55}  {values:?}", "");
        }
        values
    }

    /// A variable-length number of bincode.
    fn varint(&mut self, text: &str) -> u64 {
        let (n, value) = match self.peek(1)[0] {
            251 => (
                3,
                u64::from(u16::from_le_bytes([self.peek(3)[1], self.peek(3)[2]])),
            ),
            252 => {
                let b = self.peek(5);
                (5, u64::from(u32::from_le_bytes([b[1], b[2], b[3], b[4]])))
            }
            253 => panic!("no number in a dump is that large"),
            small => (1, u64::from(small)),
        };
        self.field(n, &format!("{text}: {value}"));
        value
    }

    fn string(&mut self, text: &str) {
        let n = self.peek(1)[0] as usize;
        assert!(n < 251);
        let content = std::str::from_utf8(&self.peek(n + 1)[1..])
            .unwrap()
            .to_string();
        self.field(n + 1, &format!("{text}: {content:?}"));
    }

    fn option(&mut self, text: &str) {
        match self.peek(1)[0] {
            0 => drop(self.field(1, &format!("{text}: none"))),
            1 => {
                self.field(1, &format!("{text}: some"));
                self.string(text);
            }
            other => panic!("{other} in an option"),
        }
    }

    fn flag(&mut self, text: &str) {
        let value = self.peek(1)[0] == 1;
        self.field(1, &format!("{text}: {value}"));
    }
}

fn read(directory: &Path, info: &PartInfo) -> Vec<u8> {
    fs::read(directory.join(&info.name)).unwrap()
}

/// A block of documents or rejects: its page up to the footer, and its records uncompressed.
fn compressed_block(page: &mut Page<'_>) -> Vec<u8> {
    // Of texts those that begin in it.
    page.number(4, "records in the block");
    let packed = page.number(4, "bytes of the block, compressed") as usize;
    let raw = page.number(8, "bytes of the block, uncompressed") as usize;
    let body = &page.bytes[page.at + 8..page.at + 8 + packed];
    page.checksum("checksum of the compressed bytes", body);
    let body = page.field(packed, "one zstd frame");
    let raw_bytes = zstd::bulk::decompress(body, raw).unwrap();
    assert_eq!(raw_bytes.len(), raw);
    raw_bytes
}

/// A run of 64-bit keys in one packed block: its page up to the footer.
fn run_block(page: &mut Page<'_>) {
    let start = page.at;
    let records = page.number(4, "records in the block") as usize;
    let length = page.number(4, "bytes of the body") as usize;
    assert_eq!(page.number(4, "codec"), 0);
    let distinct = page.number(4, "distinct keys in the block") as usize;
    let body = &page.bytes[page.at + 8..page.at + 8 + length];
    page.checksum("checksum of the body", body);
    page.field(8, "first key");
    page.frame("key gaps", distinct);
    page.frame("more of the same key", distinct);
    page.frame("values", records);
    let index = page.at;
    page.field(8, "index: first key of block 0");
    let offset = page.number(8, "  where block 0 begins");
    assert_eq!(offset as usize, start);
    page.checksum("checksum of the index", &page.bytes[index..page.at]);
}

/// Every dump of FORMAT.md, by name.
fn dumps() -> Vec<(&'static str, String)> {
    let place = crate::common::temporary();
    let directory = place.path();
    let mut out = Vec::new();

    let one = DocumentRecord {
        url: Some("http://a.org/".into()),
        words: 300,
        group: 0,
        offset: 70_000,
        length: 1_500,
        date: Since(Some("2004-01-31T12:00:00Z".into())),
        ..document("D-7", 300)
    };
    let bytes = read(directory, &documents(directory, &[one]));
    let mut page = Page::new(&bytes);
    page.header("DOCS");
    let raw = compressed_block(&mut page);
    out.push(("documents", page.footer()));
    let mut page = Page::new(&raw);
    page.string("docno");
    page.option("url");
    page.option("title");
    page.string("charset");
    page.varint("words");
    page.varint("shingles");
    page.flag("stored");
    page.flag("short");
    page.number(1, "group");
    page.field(16, "md5");
    page.varint("file");
    page.varint("offset");
    page.varint("length");
    page.field(8, "text");
    page.string("fields");
    page.option("date");
    out.push(("document", page.end()));

    let one = (
        reject(Some("D-8"), Reason::WrongLength, "stated 12, is 300"),
        true,
    );
    let bytes = read(directory, &rejects(directory, &[one]));
    let mut page = Page::new(&bytes);
    page.header("RJCT");
    // The block is laid out as that of documents.
    let raw = compressed_block(&mut page);
    page.footer();
    let mut page = Page::new(&raw);
    page.varint("file");
    page.varint("offset");
    page.varint("length");
    page.option("docno");
    page.string("reason");
    page.flag("kept");
    page.string("detail");
    out.push(("reject", page.end()));

    let bytes = read(
        directory,
        &texts(directory, &["A dull,\ndark dock.", "Short"]),
    );
    let mut page = Page::new(&bytes);
    page.header("TEXT");
    let raw = compressed_block(&mut page);
    out.push(("texts", page.footer()));
    let mut page = Page::new(&raw);
    for document in ["the first", "the second"] {
        let length = page.number(8, &format!("bytes of {document} text")) as usize;
        let text = String::from_utf8(page.peek(length).to_vec()).unwrap();
        page.field(length, &format!("{text:?}"));
    }
    out.push(("text", page.end()));

    let keys = [0x0102_0304_0506_0708u64, 0xfedc_ba98_7654_3210];
    let bytes = read(directory, &sets(directory, 0, &keys));
    let mut page = Page::new(&bytes);
    page.header("FPRS");
    for key in keys {
        assert_eq!(page.peek(8), key.to_le_bytes());
        page.field(8, &format!("fingerprint {key:016x}"));
    }
    page.field(8, "checksum of the block");
    out.push(("fingerprints", page.footer()));

    let bytes = read(directory, &column(directory, 1, &[0, 1, 0]));
    let mut page = Page::new(&bytes);
    page.header("COLM");
    for document in 0..3 {
        page.number(4, &format!("document {document}"));
    }
    out.push(("column", page.footer()));

    let bytes = read(directory, &names(directory, &["D-7", "page/8.html"]));
    let mut page = Page::new(&bytes);
    page.header("NAME");
    page.field(3, "docno of document 0: D-7");
    page.field(11, "docno of document 1: page/8.html");
    out.push(("names", page.footer()));

    let records = [(0x1000u64, 3), (0x1000, 9), (0x1007, 3)];
    let info = run(directory, Kind::Run, 1, None, records);
    let bytes = read(directory, &info);
    let mut page = Page::new(&bytes);
    page.header("RUNS");
    run_block(&mut page);
    out.push(("run", page.footer()));

    let lists = [(0x1000u64, vec![3, 9, 10]), (0x2000, vec![3, 4])];
    let bytes = read(directory, &postings(directory, 0, Some(1), &lists));
    let mut page = Page::new(&bytes);
    page.header("POST");
    let lists = page.number(4, "lists in the block") as usize;
    let entries = page.number(4, "documents in them") as usize;
    let length = page.number(4, "bytes of the body") as usize;
    assert_eq!(page.number(4, "codec"), 0);
    assert_eq!(
        page.number(8, "bytes of the body, uncompressed"),
        length as u128
    );
    let body = &bytes[page.at + 8..page.at + 8 + length];
    page.checksum("checksum of the body", body);
    page.field(8, "first fingerprint");
    page.frame("fingerprint gaps", lists);
    page.frame("lengths", lists);
    page.frame("first documents", lists);
    page.frame("document gaps", entries - lists);
    out.push(("postings", page.footer()));

    let items = [
        (1 << 64 | 7, 3, 9),
        (1 << 64 | 7, 5, 0),
        (1 << 64 | 263, 4, 9),
    ];
    let bytes = read(directory, &sorted(directory, 1, &items));
    let mut page = Page::new(&bytes);
    page.header("SORT");
    let count = page.number(4, "items in the block");
    page.number(4, "bytes of the items");
    for _ in 0..count {
        let widths = page.number(2, "bytes of each number") as usize;
        let names = [
            "key, upper half",
            "key, next 32 bits",
            "key, last 32 bits",
            "document",
            "other number",
        ];
        for (n, name) in names.iter().enumerate() {
            let width = if n == 0 {
                widths & 15
            } else {
                widths >> (3 * n + 1) & 7
            };
            if width > 0 {
                page.number(width, name);
            }
        }
    }
    out.push(("sorted", page.footer()));

    out.extend(results());
    out
}

// The files that are text, of a collection of five documents.

/// Runs the whole pipeline over five documents and a line that is none.
fn tiny_run(place: &Path) -> PathBuf {
    tiny_run_of(place, false)
}

/// The same, with the texts kept or not.
fn tiny_run_of(place: &Path, keep_text: bool) -> PathBuf {
    let text = "to sit in solemn silence in a dull dark dock";
    let lines = [
        format!("{{\"id\":\"a\",\"url\":\"http://a.org/\",\"text\":\"{text}\"}}"),
        format!("{{\"id\":\"b\\tb\",\"text\":\"{text} again\"}}"),
        format!("{{\"id\":\"c\",\"text\":\"{text}\"}}"),
        "{\"id\":\"d\",\"text\":\"short\"}".to_string(),
        "{\"id\":\"e\"".to_string(),
    ];
    let input = place.join("in.jsonl");
    fs::write(&input, lines.join("\n") + "\n").unwrap();
    let out = place.join("out");
    let config = CollectionConfig {
        read: ReadConfig::default(),
        shingle: ShingleConfig {
            shingle_size: 3,
            ..ShingleConfig::default()
        },
        size_groups: SizeGroups::default(),
        segment_size: ByteSize::mib(64),
        text: keep_text,
        condition: None,
    };
    let question = JoinParameters {
        sampling: Sampling::Full,
        plan: None,
        join: JoinConfig {
            join: Join::Prefix,
            threshold: "0.8".parse().unwrap(),
            measure: Default::default(),
            max_postings: None,
            pairs: Pairs::All,
            ..JoinConfig::default()
        },
        spill: Spill::Auto,
        all_postings: false,
        results: Default::default(),
        fan_in: None,
    };
    let budget = Budget {
        memory: ByteSize::mib(512),
        threads: 1,
        disk: Disk::default(),
    };
    let context = Context {
        budget,
        stop: &Stop::default(),
        progress: &Silent,
        scratch: None,
        programs: &[],
    };
    let inputs = pipeline::inputs(&[input], &out).unwrap();
    pipeline::run(&inputs, &out, &config, &question, false, &context).unwrap();
    out
}

fn results() -> Vec<(&'static str, String)> {
    let place = crate::common::temporary();
    let out = tiny_run(place.path());
    let prefix = format!("{}/", place.path().display());
    [
        "pairs.tsv",
        "clusters.jsonl",
        "exact-duplicates.tsv",
        "documents.tsv",
        "rejects.jsonl",
    ]
    .into_iter()
    .map(|name| {
        let text = fs::read_to_string(out.join(name)).unwrap();
        let text = text.replace(&prefix, "");
        // The comment lines of all files are the same, and shown once.
        let shown = text
            .lines()
            .filter(|line| name == "pairs.tsv" || !line.starts_with("# "));
        (name, shown.map(|line| format!("{line}\n")).collect())
    })
    .collect()
}

/// Names of the fields of a JSON value, not of maps whose keys are data.
fn fields(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map {
                out.push(name.clone());
                match name.as_str() {
                    // Their keys are reasons, kinds and numbers; their values all of one shape.
                    "rejected" | "noticed" | "skipped" | "disk_bytes" => {}
                    "parts" | "costs" => {
                        if let Some(first) = value.as_object().and_then(|m| m.values().next()) {
                            fields(first, out);
                        }
                    }
                    _ => fields(value, out),
                }
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| fields(value, out)),
        _ => {}
    }
}

// The tests.

#[test]
fn dumps_are_true() {
    let path = root().join("FORMAT.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut new = String::new();
    let mut rest = &page[..];
    let mut dumps = dumps();
    let mut wrong = Vec::new();
    while let Some(at) = rest.find("<!-- dump: ") {
        let name_at = at + "<!-- dump: ".len();
        let name_end = name_at + rest[name_at..].find(" -->").unwrap();
        let name = rest[name_at..name_end].to_string();
        let start = name_end + " -->\n".len();
        let end = start
            + rest[start..]
                .find("<!-- end -->")
                .expect("a marker that ends");
        let known = dumps.iter().position(|(n, _)| *n == name);
        let known = known.unwrap_or_else(|| panic!("nobody makes the dump `{name}`"));
        let (_, dump) = dumps.remove(known);
        let dump = format!("```text\n{dump}```\n");
        if dump != rest[start..end] {
            wrong.push(format!("{name} is\n{dump}"));
        }
        new.push_str(&rest[..start]);
        new.push_str(&dump);
        rest = &rest[end..];
    }
    new.push_str(rest);
    let missing: Vec<_> = dumps.iter().map(|(name, _)| name).collect();
    assert!(missing.is_empty(), "FORMAT.md has no place for {missing:?}");
    if bless() {
        fs::write(&path, new).unwrap();
    } else {
        let wrong = wrong.join("\n");
        assert!(
            wrong.is_empty(),
            "FORMAT.md (see the head of tests/pipeline/format.rs):\n{wrong}"
        );
    }
}

/// FORMAT.md has a word on every field of `manifest.json` and `summary.json`, interrupted runs
/// included.
#[test]
fn every_json_field_is_described() {
    let place = crate::common::temporary();
    let out = tiny_run_of(place.path(), true);
    let mut names = Vec::new();
    for (make, file) in [
        (interrupted as fn(&Path), MANIFEST_FILE),
        (in_an_addition, MANIFEST_FILE),
        (|_| (), "summary.json"),
    ] {
        make(&out);
        let text = fs::read_to_string(out.join(file)).unwrap();
        let mut values = serde_json::Deserializer::from_str(&text).into_iter();
        fields(&values.next().unwrap().unwrap(), &mut names);
    }
    names.sort_unstable();
    names.dedup();
    assert!(names.len() > 80, "{names:?}");
    let page = fs::read_to_string(root().join("FORMAT.md")).unwrap();
    names.retain(|name| !page.contains(&format!("`{name}`")));
    assert!(
        names.is_empty(),
        "FORMAT.md does not say what these are: {names:?}"
    );
}

/// Makes the manifest of a finished run one of a run that stopped while merging and joining.
fn interrupted(out: &Path) {
    let mut workspace = pipeline::open(out).unwrap();
    let part = |name: &str| PartInfo {
        name: name.into(),
        bytes: 160,
        records: 3,
        checksum: "00112233aabbccdd".into(),
    };
    let run = |name: &str, generation, covers: &[(u32, u32)]| RunEntry {
        part: part(name),
        generation,
        covers: covers.to_vec(),
    };
    workspace.manifest.set(RunsEntry {
        runs: vec![
            run("000001.run", 0, &[(0, 2), (4, 9)]),
            run("000002.run", 1, &[(2, 4)]),
        ],
        next_number: 3,
        ..RunsEntry::default()
    });
    workspace.manifest.set(JoinProgress {
        digest: "0123456789abcdef0011223344556677".into(),
        runs: vec![run("000001.run", 0, &[])],
        next_number: 3,
        count: count::CountPlace { range: 1, skip: 2 },
        prefix: Some(prefix::PrefixPlace {
            candidates: vec![run("000002.run", 0, &[])],
            done: Some(7),
        }),
        stats: JoinStats {
            count: Some(CountStats::default()),
            prefix: Some(PrefixStats::default()),
            ..JoinStats::default()
        },
        tried: None,
    });
    workspace.commit(&[]).unwrap();
}

/// Makes it that of an addition that stopped, to a directory that uses parts of another one.
/// (No directory is both.)
fn in_an_addition(out: &Path) {
    let mut workspace = pipeline::open(out).unwrap();
    let part = |name: &str| PartInfo {
        name: name.into(),
        bytes: 160,
        records: 3,
        checksum: "00112233aabbccdd".into(),
    };
    let level = Level {
        number: 1,
        first: 2,
        documents: 2,
        layout: Layout {
            ranges: 1,
            buckets: 1,
        },
        parts: [(0, part("1-000000.index"))].into(),
        facts: Some((part("1-000000.facts"), part("1-000001.facts"))),
        stats: IndexStats::default(),
    };
    let manifest = &mut workspace.manifest;
    manifest.set(IndexEntry {
        levels: vec![level.clone()],
        making: Some(level),
        criterion: Some(Criterion::default()),
    });
    manifest.set(Before {
        documents: 2,
        digest: "0123456789abcdef0011223344556677".into(),
        config: JoinConfig::default(),
        sampling: Sampling::Full,
        plan: None,
        tables: false,
        part: Some(part("000000.pairs")),
        added: vec![part("000001.pairs")],
    });
    let mut catalogue = manifest.take::<CatalogueEntry>().unwrap();
    catalogue.added.push(catalogue.first.clone());
    manifest.set(CatalogueBefore(catalogue));
    manifest.set(Additions(vec![Addition::default()]));
    manifest.set(Against::default());
    manifest.base = Some(Base {
        path: "old".into(),
        real: Some("/old".into()),
        below: [("collection".into(), 1)].into(),
    });
    let mut joining = JoinProgress::default();
    joining.stats.added = Some(AddedStats::default());
    manifest.set(joining);
    workspace.commit(&[]).unwrap();
}

type Make = fn(&Path) -> PartInfo;

/// Every fixture: kind, number in its name, how it was made when its version was the latest.
fn fixtures() -> Vec<(&'static str, &'static str, Make)> {
    vec![
        ("documents", "000000.docs", |to| {
            let odd = DocumentRecord {
                docno: "clueweb09-\"en\"0000\t\u{5b57}\u{301}".into(),
                url: Some("http://example.org/?q=\u{e9}".into()),
                title: Some(String::new()),
                charset: "windows-1252".into(),
                words: u64::from(u32::MAX) + 1,
                shingles: u32::MAX,
                stored: false,
                group: 254,
                file: 65_536,
                offset: u64::MAX,
                length: 250,
                fields: Since(r#"["x\n\u0000\"",null]"#.into()),
                date: Since(Some("2004-01-31\t\u{e9}".into())),
                ..document("", 1000)
            };
            let plain = [
                ("a", 0),
                ("b", 9),
                ("c", 10),
                ("d", 250),
                ("e", 251),
                ("f", 65_536),
            ];
            let mut all: Vec<_> = plain.iter().map(|&(d, words)| document(d, words)).collect();
            all.push(odd);
            documents(to, &all)
        }),
        ("fingerprints", "000000.fps", |to| {
            sets(to, 0, &[0u64, 1, 1 << 40, u64::MAX, 7, 8])
        }),
        ("fingerprints", "000001.fps", |to| {
            sets(to, 1, &[0u128, 1, 1 << 100, u128::MAX, 7, 8])
        }),
        ("rejects", "000000.rejects", |to| {
            let all: Vec<_> = REASONS
                .iter()
                .enumerate()
                .map(|(i, &reason)| {
                    let docno = (i % 3 > 0).then_some("D-8");
                    (
                        reject(docno, reason, ["", "stated 12, is \"300\""][i % 2]),
                        i % 4 == 0,
                    )
                })
                .collect();
            rejects(to, &all)
        }),
        ("column", "000001.col", |to| {
            column(to, 1, &[0, 1, 0, u32::MAX])
        }),
        ("column", "000003.col", |to| {
            numbers(to, &header(Kind::Column, 3, 8), &[3u64, 14, 1 << 33])
        }),
        ("names", "000000.names", |to| {
            names(to, &["\tD-7", "2004\thttp://a/\\\\\tD\t8", "\t\u{5b57}"])
        }),
        ("run", "000001.run", |to| {
            // Two blocks, and keys that go on from one into the other.
            let records = (0..5000u32).map(|i| (u64::from(i / 9) * 3, i % 9 * 5));
            run(to, Kind::Run, 1, None, records)
        }),
        ("run", "000002.run", |to| {
            let records = (0..5000u32).map(|i| (u64::from(i / 50) << 32 | u64::from(i % 50), 4));
            run(to, Kind::Run, 2, Some(1), records)
        }),
        ("run", "000003.run", |to| {
            let records = (0..300u128).map(|i| ((i * i) << 64 | i, i as u32));
            run(to, Kind::Run, 3, None, records)
        }),
        ("run", "000004.run", |to| {
            run::<u64>(to, Kind::Run, 4, None, [])
        }),
        ("postings", "000000.post", |to| {
            let list = |i: u64| (i << 50 | i, (0..2 + i as u32 % 30).map(|j| j * 7).collect());
            postings(to, 0, Some(1), &(0..1500).map(list).collect::<Vec<_>>())
        }),
        ("postings", "000001.post", |to| {
            let list = |i: u128| (i << 99 | i, vec![i as u32, u32::MAX - 1]);
            postings(to, 1, None, &(0..150).map(list).collect::<Vec<_>>())
        }),
        ("pairs", "000000.pairs", |to| {
            let records = (0..200u32).map(|i| (Pair::key(i / 7, i / 7 + 1 + i % 7), i + 1));
            run(to, Kind::Pairs, 0, Some(1), records)
        }),
        ("sorted", "000001.sorted", |to| {
            // Two blocks, numbers of every width, and equal ones.
            let item = |i: u32| {
                let key = (1u128 << (i % 128) | 5).wrapping_mul(u128::from(i / 3));
                (key, i.wrapping_mul(i) << (i % 24), i % 3)
            };
            sorted(to, 1, &(0..700).map(item).collect::<Vec<_>>())
        }),
        ("text", "000000.text", |to| {
            // Two blocks, and a text that goes on from one into the other.
            let long: String = (0..60_000u64)
                .map(|i| format!("{} ", i * i % 8191))
                .collect();
            let odd = "\u{feff}\u{feff}\"a\"\n\t\u{5b57}\u{301}\0";
            texts(to, &["", "A dull,\ndark dock.", odd, long.trim_end(), "x"])
        }),
    ]
}

/// Every reason that version 1 has had. Files name them, so none may be forgotten.
const REASONS: [Reason; 29] = [
    Reason::Unreadable,
    Reason::EmptyFile,
    Reason::BinaryFile,
    Reason::CorruptCompression,
    Reason::TruncatedCompression,
    Reason::DecompressionBomb,
    Reason::DecompressorMemory,
    Reason::UnsupportedFormat,
    Reason::NotAFile,
    Reason::WrongFormat,
    Reason::TooLarge,
    Reason::NotClosed,
    Reason::Truncated,
    Reason::MissingDocno,
    Reason::MissingText,
    Reason::BadJson,
    Reason::BadHeader,
    Reason::BadHttp,
    Reason::HttpStatus,
    Reason::NotText,
    Reason::StrayBytes,
    Reason::WrongLength,
    Reason::BadChunks,
    Reason::BadContentEncoding,
    Reason::WrongCharset,
    Reason::InvalidBytes,
    Reason::DuplicateDocno,
    Reason::OddPath,
    Reason::OddHeader,
];

/// Lines of a fixture's text that are written out; the rest is in the count and the checksum.
const SHOWN: usize = 32;

/// Returns the text of `inspect` about a part.
fn content(path: &Path) -> String {
    let (mut shown, mut all, mut lines) = (String::new(), String::new(), 0);
    inspect(path, u64::MAX, &mut |line| {
        lines += 1;
        if lines <= SHOWN {
            let _ = writeln!(shown, "{line}");
        }
        let _ = writeln!(all, "{line}");
        Ok(true)
    })
    .unwrap_or_else(|error| panic!("{error}"));
    let sum = checksum(all.as_bytes());
    shown + &format!("= {lines} lines, checksum {sum:016x}\n")
}

/// The directory of the fixtures of a kind in its latest version.
fn latest(kind: &str) -> PathBuf {
    let version = match kind {
        "documents" => Kind::Documents.version(),
        "names" => NAMES_WITH_CAPTURES,
        _ => VERSION,
    };
    let kind = root().join("tests/fixtures").join(kind);
    kind.join(format!("v{version}"))
}

/// With `LOOKALIKE_BLESS=1`: makes the fixtures that are not there.
fn add_fixtures() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (kind, name, make) in fixtures().into_iter().filter(|_| bless()) {
            let directory = latest(kind);
            fs::create_dir_all(&directory).unwrap();
            if !directory.join(name).exists() {
                assert_eq!(make(&directory).name, name);
            }
        }
    });
}

#[test]
fn fixtures_are_read() {
    let all = root().join("tests/fixtures");
    add_fixtures();
    let (mut read, mut wrong) = (0, Vec::new());
    for kind in fs::read_dir(&all).unwrap().map(|kind| kind.unwrap().path()) {
        // Whole directories have a test of their own, and inputs are not our files.
        let own = ["directory", "inputs", "captures"];
        if own.iter().any(|own| kind.ends_with(own)) {
            continue;
        }
        for version in fs::read_dir(kind).unwrap() {
            for file in fs::read_dir(version.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let ending = path.extension().unwrap().to_str().unwrap();
                if ["txt", "json"].contains(&ending) {
                    continue;
                }
                let found = content(&path);
                let golden = path.with_extension(format!("{ending}.txt"));
                if bless() {
                    fs::write(&golden, &found).unwrap();
                }
                if fs::read_to_string(&golden).unwrap_or_default() != found {
                    wrong.push(format!("{} is\n{found}", path.display()));
                }
                read += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        read >= fixtures().len(),
        "{read} fixtures are not all of them"
    );
}

/// While a version is the latest, its writer makes the fixtures of it again, byte for byte: a
/// change of bytes without a new version shows. zstd's own bytes may change with its version, so
/// what it compressed is compared by content only.
#[test]
fn writers_make_the_fixtures() {
    add_fixtures();
    let place = crate::common::temporary();
    for (kind, name, make) in fixtures() {
        let old = latest(kind).join(name);
        let new = place.path().join(make(place.path()).name);
        if fs::read(&new).unwrap() == fs::read(&old).unwrap() {
            continue;
        }
        let lines = |path: &Path| {
            let mut lines = Vec::new();
            inspect(path, u64::MAX, &mut |line| {
                lines.push(line);
                Ok(true)
            })
            .unwrap();
            // The footer's checksum and size are those of other bytes.
            lines.remove(1);
            lines
        };
        let compressed = matches!(
            (kind, name),
            ("documents" | "rejects" | "pairs" | "text", _)
                | ("run", "000002.run")
                | ("postings", "000000.post")
        );
        assert!(compressed, "{kind}/{name} has other bytes now");
        assert_eq!(lines(&new), lines(&old), "{kind}/{name}");
    }
}

#[test]
fn manifests_are_read() {
    let all = root().join("tests/fixtures/manifest");
    let latest = all.join("v1");
    if bless() && !latest.join(MANIFEST_FILE).exists() {
        let place = crate::common::temporary();
        let out = tiny_run(place.path());
        interrupted(&out);
        let mut workspace = pipeline::open(&out).unwrap();
        // A path that is the same wherever the tests run.
        workspace.manifest.inputs.list.checksum = "0123456789abcdef".into();
        workspace.commit(&[]).unwrap();
        fs::create_dir_all(&latest).unwrap();
        fs::copy(out.join(MANIFEST_FILE), latest.join(MANIFEST_FILE)).unwrap();
    }
    let mut read = 0;
    for version in fs::read_dir(&all).unwrap() {
        let directory = version.unwrap().path();
        let manifest = pipeline::look(&directory).unwrap_or_else(|error| panic!("{error}"));
        // Nothing that it said is lost.
        let bytes = fs::read_to_string(directory.join(MANIFEST_FILE)).unwrap();
        let (body, sum) = match bytes.rsplit_once("\"checksum\": \"") {
            Some((covered, end)) if bytes.ends_with("}\n") => {
                let sum = format!("{:016x}", checksum(covered.as_bytes()));
                assert_eq!(end, sum + "\"\n}\n");
                (&*bytes, None)
            }
            // Format 1.
            _ => {
                let end = bytes.trim_end().rfind('\n').unwrap() + 1;
                let (body, sum) = bytes.split_at(end);
                (body, Some(sum.trim_end()))
            }
        };
        if let Some(sum) = sum {
            assert_eq!(sum, format!("{:016x}", checksum(body.as_bytes())));
        }
        let mut old: serde_json::Value = serde_json::from_str(body).unwrap();
        let fields = old.as_object_mut().unwrap();
        fields.remove("checksum");
        fields["format"] = 2.into();
        let new = serde_json::to_value(&manifest).unwrap();
        contains(&new, &old, "manifest");
        read += 1;
    }
    assert!(read > 0);
}

/// The profiles of documents, and what a join counted with them. No join needs them now.
const GONE: [&str; 4] = [
    "postings.profiles",
    "prefix.prefix_postings",
    "prefix.rounds",
    "prefix.singles",
];

/// Is everything of `old` in `new`?
fn contains(new: &serde_json::Value, old: &serde_json::Value, place: &str) {
    match (new, old) {
        (serde_json::Value::Object(new), serde_json::Value::Object(old)) => {
            for (name, value) in old {
                let place = format!("{place}.{name}");
                if GONE.iter().any(|gone| place.ends_with(gone)) {
                    continue;
                }
                let new = new.get(name).unwrap_or_else(|| panic!("{place} is lost"));
                contains(new, value, &place);
            }
        }
        _ => assert_eq!(new, old, "{place}"),
    }
}

/// A file of a newer or an older version, of any kind, is refused by its name, with both versions
/// and what to do.
#[test]
fn other_versions_are_refused_by_name() {
    add_fixtures();
    let place = crate::common::temporary();
    let refused = |path: &Path, (found, most): (u32, u32), error: Error| {
        let says = format!(
            "{} has format {found}; this build reads formats 1 to {most}",
            path.display()
        );
        assert_eq!(error.to_string(), says);
        let remedy = if found > most {
            "upgrade lookalike, or"
        } else {
            "read it with the lookalike that wrote it"
        };
        assert!(error.help().unwrap().starts_with(remedy), "{says}");
    };
    let mut kinds = std::collections::BTreeSet::new();
    for (kind, name, _) in fixtures() {
        let old = fs::read(latest(kind).join(name)).unwrap();
        let most = match kind {
            "documents" => Kind::Documents.version(),
            "names" => NAMES_WITH_CAPTURES,
            _ => VERSION,
        };
        for version in [0u16, most + 1, 999] {
            let mut bytes = old.clone();
            bytes[12..14].copy_from_slice(&version.to_le_bytes());
            let sum = checksum(&bytes[..HEADER_BYTES - 8]);
            bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
            let path = place.path().join(name);
            fs::write(&path, bytes).unwrap();
            let error = inspect(&path, u64::MAX, &mut |_| Ok(true)).unwrap_err();
            refused(&path, (version.into(), most.into()), error);
        }
        kinds.insert(kind);
    }
    assert_eq!(kinds.len(), 10, "{kinds:?}");

    // The manifest, whatever other fields it has; and so a plan.
    let old = fs::read_to_string(
        root()
            .join("tests/fixtures/manifest/v1")
            .join(MANIFEST_FILE),
    )
    .unwrap();
    let path = place.path().join(MANIFEST_FILE);
    for version in [0, 3] {
        let (body, _) = old.trim_end().rsplit_once('\n').unwrap();
        let body = body.replacen(
            "\"format\": 1,",
            &format!("\"format\": {version}, \"later\": [],"),
            1,
        ) + "\n";
        fs::write(&path, format!("{body}{:016x}\n", checksum(body.as_bytes()))).unwrap();
        refused(
            &path,
            (version, 2),
            pipeline::look(place.path()).unwrap_err(),
        );
    }
    let old = fs::read_to_string(root().join("tests/fixtures/directory/v1/plan.toml")).unwrap();
    let path = place.path().join("plan.toml");
    for version in [0, 2] {
        let text = old.replacen(
            "format = 1\n",
            &format!("format = {version}\nlater = []\n"),
            1,
        );
        fs::write(&path, text).unwrap();
        refused(&path, (version, 1), plan::read(&path).unwrap_err());
    }
}

/// A finished run's whole directory, as each version wrote it, is read by all that read one: it is
/// verified, its results are made again with the same bytes, it is asked something else, and
/// evaluated.
///
/// `LOOKALIKE_BLESS=1` makes that of the latest version where it is not there.
#[test]
fn directories_are_read() {
    let all = root().join("tests/fixtures/directory");
    let study = StudyConfig {
        ratios: vec![2],
        thresholds: vec!["0.5".parse().unwrap(), "0.8".parse().unwrap()],
    };
    for name in ["v1", "v1-text", "v1-study"] {
        let latest = all.join(name);
        if !bless() || latest.exists() {
            continue;
        }
        let place = crate::common::temporary();
        let out = tiny_run_of(place.path(), name == "v1-text");
        let context = context();
        let mut workspace = pipeline::open(&out).unwrap();
        if name == "v1-study" {
            lookalike_lab::report::write_study(&mut workspace, &study, &context).unwrap();
        }
        let config = plan::PlanConfig {
            target: plan::Target {
                threshold: "0.5".parse().unwrap(),
                precision: "0.5".parse().unwrap(),
                recall: None,
            },
            ratios: vec![2],
            subset: None,
        };
        let planned = plan::make(&mut workspace, &config, &context).unwrap();
        plan::write_file(&out.join(plan::PLAN_FILE), &planned.plan).unwrap();
        drop(workspace);
        fs::remove_file(out.join("lock")).unwrap();
        copy(&out, &latest);
    }
    let (mut read, mut studies) = (0, 0);
    for version in fs::read_dir(&all).unwrap() {
        let version = version.unwrap().path();
        let place = crate::common::temporary();
        let out = place.path().join("out");
        copy(&version, &out);
        let verified = verify(&out).unwrap();
        assert!(verified.errors.is_empty(), "{:?}", verified.errors);
        assert!(verified.files > 15, "{}", verified.files);
        plan::read(&out.join(plan::PLAN_FILE)).unwrap();
        let context = context();
        let texts = [
            "pairs.tsv",
            "clusters.jsonl",
            "documents.tsv",
            "exact-duplicates.tsv",
            "rejects.jsonl",
        ];
        for name in texts {
            fs::remove_file(out.join(name)).unwrap();
        }
        let mut workspace = pipeline::open(&out).unwrap();
        if version.join("study").exists() {
            // Its trials are not run again (what they cost would be another time), and its table is
            // shown.
            lookalike_lab::report::write_study(&mut workspace, &study, &context).unwrap();
            // Their numbers are in the other tables of this version.
            let gone = ["figure1.", "figure2-", "figure3-", "spread.", "table3."];
            for place in ["study", "study/trials"] {
                for entry in fs::read_dir(version.join(place)).unwrap() {
                    let name = Path::new(place).join(entry.unwrap().file_name());
                    if gone
                        .iter()
                        .any(|gone| name.to_string_lossy().contains(gone))
                    {
                        continue;
                    }
                    let bytes = |directory: &Path| fs::read(directory.join(&name)).unwrap();
                    if place.ends_with("trials") {
                        assert!(bytes(&out) == bytes(&version), "{}", name.display());
                    } else if name.extension().is_some_and(|kind| kind == "csv") {
                        // Later versions may have more columns.
                        let known = csv_columns(&version.join(&name));
                        let mut found = csv_columns(&out.join(&name));
                        found.retain(|column, _| known.contains_key(column));
                        assert_eq!(found, known, "{}", name.display());
                    }
                }
            }
            studies += 1;
        }
        pipeline::cluster(&mut workspace, &context).unwrap();
        for name in texts {
            // Version 0.1.0 wrote no places.
            if name.ends_with(".tsv") {
                if name == "exact-duplicates.tsv" {
                    // The texts were read without their digests.
                    let (found, known) = (
                        crate::common::rows_of(&out, name),
                        crate::common::rows_of(&version, name),
                    );
                    let known = known.into_iter().map(|row| row + "\texact");
                    assert_eq!(found, known.collect::<Vec<_>>());
                    continue;
                }
                assert_eq!(
                    crate::common::rows_of(&out, name),
                    crate::common::rows_of(&version, name),
                    "{name}"
                );
                continue;
            }
            let text = |directory: &Path| fs::read_to_string(directory.join(name)).unwrap();
            assert_eq!(text(&out), text(&version), "{name}");
        }
        let pairs = workspace.manifest.get::<PairsEntry>().cloned().unwrap();
        let question = JoinParameters {
            sampling: Sampling::Full,
            plan: None,
            join: JoinConfig {
                threshold: "0.3".parse().unwrap(),
                ..pairs.config
            },
            spill: Spill::Auto,
            all_postings: false,
            results: Default::default(),
            fan_in: None,
        };
        pipeline::join(&mut workspace, &question, &context).unwrap();
        pipeline::cluster(&mut workspace, &context).unwrap();
        assert!(workspace.manifest.get::<PairsEntry>().unwrap().stats.pairs >= pairs.stats.pairs);
        drop(workspace);
        let list = |path: &Path| ListFile {
            path: path.into(),
            columns: None,
        };
        let config = EvaluateConfig {
            truth: Some(list(&version)),
            run: list(&out),
            documents: None,
            thresholds: vec!["0.8".parse().unwrap()],
            judged: None,
            true_grade: 1,
            run_lists: Default::default(),
            disagreements: None,
            families: None,
            scratch: place.path().into(),
        };
        let found = evaluate(&config, &context).unwrap();
        assert_eq!(found.pairs[0].documents.all.recall, Some(1.0));
        read += 1;
    }
    assert!(read > 2 && studies > 0);
}

/// The values of each column of a table whose cells have no quotes.
fn csv_columns(path: &Path) -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').map(String::from));
    let mut columns: Vec<_> = (rows.next().unwrap())
        .map(|name| (name, Vec::new()))
        .collect();
    for row in rows {
        let row: Vec<String> = row.collect();
        assert_eq!(row.len(), columns.len(), "{}", path.display());
        for ((_, values), cell) in columns.iter_mut().zip(row) {
            values.push(cell);
        }
    }
    columns.into_iter().collect()
}

/// What a study took, of another version: the page does not guess at it. A trial of another version
/// is run again.
#[test]
fn studies_of_other_versions_are_refused_by_name_and_their_trials_run_again() {
    let fixture = root().join("tests/fixtures/directory/v1-study");
    for version in [0, 2] {
        let place = crate::common::temporary();
        let out = place.path().join("out");
        copy(&fixture, &out);
        let mut workspace = pipeline::open(&out).unwrap();
        let mut put = |name: &str, format: &str| {
            let old = fs::read_to_string(out.join(name)).unwrap();
            assert!(old.contains(format), "{name}");
            let later = format.replace('1', &format!("{version},\"later\":[]"));
            let text = old.replacen(format, &later, 1);
            workspace.put_other(name, text.as_bytes()).unwrap();
        };
        put("study/study.json", "\"format\": 1");
        put("study/trials/1-2-1.json", "\"format\":1");
        let page = || {
            let mut workspace = pipeline::open(&out).unwrap();
            lookalike_lab::report::write_study_page(&mut workspace, &context())
        };
        drop(workspace);
        let path = out.join("study/study.json");
        let error = page().unwrap_err();
        assert!(
            error.path() == Some(&path)
                && error
                    .to_string()
                    .contains(&format!(" has format {version}; ")),
            "{error}"
        );
        let mut workspace = pipeline::open(&out).unwrap();
        let config = StudyConfig {
            ratios: vec![2],
            thresholds: vec!["0.5".parse().unwrap(), "0.8".parse().unwrap()],
        };
        lookalike_lab::report::write_study(&mut workspace, &config, &context()).unwrap();
        drop(workspace);
        for name in ["study/trials/1-2-1.json", "study/trials/1-2-0.json"] {
            let text = |directory: &Path| fs::read_to_string(directory.join(name)).unwrap();
            assert!(text(&out).contains("\"format\":1,"));
            let again = text(&out) != text(&fixture);
            assert_eq!(again, name.ends_with("1-2-1.json"), "{name}");
        }
        page().unwrap();
    }
}

fn context() -> Context<'static> {
    static STOP: std::sync::OnceLock<Stop> = std::sync::OnceLock::new();
    Context {
        budget: Budget {
            memory: ByteSize::mib(512),
            threads: 1,
            disk: Disk::default(),
        },
        stop: STOP.get_or_init(Stop::default),
        progress: &Silent,
        scratch: None,
        programs: &[],
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
