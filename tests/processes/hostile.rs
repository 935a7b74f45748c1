//! Input made to do harm: the program ends in time, within its memory, and says what it found.
//!
//! Small versions, a few MiB each; `scripts/torture-inputs.sh` has them in full size. Each case
//! runs the program with one thread and with three, and looks at the counts of the ledger, which
//! must add up, the peak memory that the kernel tells, and the bytes of all that was written.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Progress, Stop, Unit};
use lookalike::text::read::{Batch, ReadConfig, RecordReader};

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::corpus::Random;
use common::{Run, assert_same_files, lasting, one_in};
use flate2::Compression;
use flate2::write::GzEncoder;

/// The largest document of these tests.
const MOST: usize = 8 << 20;
/// Bytes of markup that never ends: enough that what is quadratic takes minutes.
const LONG: usize = 3 << 20;
/// The least that will do for it, and what the process may have at its peak: 64 MiB more.
const MEMORY: u64 = 77 << 20;
const BEYOND: u64 = 64 << 20;
/// Cases take a second or two on an idle machine.
const TIME: Duration = Duration::from_secs(120);

/// One file, and what is to come of it.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    args: &'static [&'static str],
    documents: u64,
    rejected: &'static [(&'static str, u64)],
    noticed: &'static [(&'static str, u64)],
}

/// A file of so many documents. Its name's extension counts.
fn case(name: &'static str, bytes: impl Into<Vec<u8>>, documents: u64) -> Case {
    Case {
        name,
        bytes: bytes.into(),
        args: &[],
        documents,
        rejected: &[],
        noticed: &[],
    }
}

impl Case {
    fn args(self, args: &'static [&'static str]) -> Case {
        Case { args, ..self }
    }

    fn rejected(self, rejected: &'static [(&'static str, u64)]) -> Case {
        Case { rejected, ..self }
    }

    fn noticed(self, noticed: &'static [(&'static str, u64)]) -> Case {
        Case { noticed, ..self }
    }

    fn check(self) {
        let directory = common::temporary();
        let input = directory.path().join(self.name);
        fs::write(&input, &self.bytes).unwrap();
        self.check_path(&input, directory.path());
    }

    fn check_path(&self, input: &Path, directory: &Path) {
        let mut before = None;
        for threads in [1, 3] {
            let out = directory.join(format!("out{threads}"));
            let ingest = program(self.name, input, &out, threads, self.args);
            let counts = |name: &str| -> BTreeMap<String, u64> {
                serde_json::from_value(ingest[name].clone()).unwrap()
            };
            let sum = |name: &str| counts(name).values().sum::<u64>();
            let found = |expected: &[(&str, u64)]| -> BTreeMap<String, u64> {
                expected
                    .iter()
                    .map(|(reason, n)| (reason.to_string(), *n))
                    .collect()
            };
            let name = self.name;
            assert_eq!(counts("rejected"), found(self.rejected), "{name}: rejected");
            // Each document without words has a warning of its own.
            let mut noticed = counts("noticed");
            let wordless = noticed.remove("text not comparable").unwrap_or(0);
            assert_eq!(ingest["empty"], wordless, "{name}: without words");
            assert_eq!(noticed, found(self.noticed), "{name}: noticed");
            assert_eq!(ingest["documents"], self.documents, "{name}: documents");
            assert_eq!(
                ingest["records"],
                self.documents + sum("rejected") + sum("skipped"),
                "{name}: what came in, left and was dropped"
            );
            let files = lasting(&out);
            if let Some(before) = &before {
                assert_same_files(&files, before, name);
            }
            before = Some(files);
        }
    }
}

/// Runs the program to its end and gives the counts of `summary.json` under `ingest`.
fn program(
    name: &str,
    input: &Path,
    out: &Path,
    threads: usize,
    args: &[&str],
) -> serde_json::Value {
    program_within((MEMORY, MOST), name, input, out, threads, args)
}

/// The same with another budget, for documents of other sizes.
fn program_within(
    (memory, most): (u64, usize),
    name: &str,
    input: &Path,
    out: &Path,
    threads: usize,
    args: &[&str],
) -> serde_json::Value {
    let child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .arg("run")
        .args(args)
        .args(["--memory", &memory.to_string()])
        .args(["--max-document", &most.to_string()])
        .args(["--allow-empty", "--skip-unreadable"])
        .args(["--threads", &threads.to_string(), "--quiet", "-o"])
        .args([out, Path::new("--"), input])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let (Output { status, stderr, .. }, _) = common::ended(child.unwrap(), TIME, name);
    let stderr = String::from_utf8(stderr).unwrap();
    // Files from which nothing was read are named even with --quiet.
    let mut lines = stderr.lines();
    let of_unread = |line: &str| {
        line.starts_with("warning: no document was read from ") || line.starts_with("  help: ")
    };
    assert!(
        status.success() && lines.all(of_unread),
        "{name}: {status}: {stderr}"
    );
    let summary: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let costs = summary["costs"].as_object().unwrap().values();
    let peak = costs
        .map(|cost| cost["peak_bytes"].as_u64().unwrap())
        .max()
        .unwrap();
    assert!(
        peak > 0 && peak <= memory + BEYOND,
        "{name}: {} MiB with {threads} threads",
        peak >> 20
    );
    summary["ingest"].clone()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A gzip member of so many zeros.
fn zeros(bytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..bytes >> 20 {
        encoder.write_all(&[b'0'; 1 << 20]).unwrap();
    }
    encoder.finish().unwrap()
}

fn warc(fields: &str, block: &[u8]) -> Vec<u8> {
    let mut record =
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n".to_vec();
    record.extend_from_slice(b"WARC-Target-URI: http://a.example/\r\n");
    record.extend_from_slice(fields.as_bytes());
    record.extend_from_slice(b"\r\n");
    record.extend_from_slice(block);
    record.extend_from_slice(b"\r\n\r\n");
    record
}

fn http(fields: &[u8], body: &[u8]) -> Vec<u8> {
    let header = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let block = [&header[..], fields, b"\r\n", body].concat();
    warc(&format!("Content-Length: {}\r\n", block.len()), &block)
}

fn json(id: &str, text: &str) -> Vec<u8> {
    format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n").into_bytes()
}

fn trec(id: &str, text: &str) -> Vec<u8> {
    format!("<DOC>\n<DOCNO>{id}</DOCNO>\n<TEXT>{text}</TEXT>\n</DOC>\n").into_bytes()
}

const LARGE: &[(&str, u64)] = &[("larger than --max-document", 1)];

#[test]
fn bombs_are_given_up_and_what_follows_a_bad_body_is_read() {
    // A thousand for one is what deflate can do; beyond the free 16 MiB that is a bomb of 500.
    const RATIO: &[&str] = &["--max-ratio", "500"];
    const CUT: &[(&str, u64)] = &[
        ("decompression ratio above --max-ratio", 1),
        ("record cut off", 1),
    ];
    let plain = vec![b'0'; 64 << 20];
    case("bomb.txt.gz", zeros(64 << 20), 0)
        .args(RATIO)
        .rejected(CUT)
        .check();
    case("bomb.txt.zst", zstd::bulk::compress(&plain, 3).unwrap(), 0)
        .rejected(CUT)
        .check();
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(&plain).unwrap();
    case("bomb.txt.bz2", encoder.finish().unwrap(), 0)
        .rejected(CUT)
        .check();
    let xz = liblzma::encode_all(&plain[..], 1).unwrap();
    case("bomb.txt.xz", xz, 0).rejected(CUT).check();
    drop(plain);
    // One member of many, and one body of many. What comes before is kept.
    let mut members = gzip(&json("1", "a b c"));
    members.extend(zeros(64 << 20));
    case("members.jsonl.gz", members, 1)
        .args(RATIO)
        .rejected(&[
            ("decompression ratio above --max-ratio", 1),
            ("not valid JSON", 1),
        ])
        .check();
    let mut bodies = http(b"Content-Encoding: gzip\r\n", &gzip(b"<p>a b c"));
    bodies.extend(http(b"Content-Encoding: gzip\r\n", &zeros(64 << 20)));
    bodies.extend(http(b"Content-Encoding: gzip\r\n", &gzip(b"<p>d e f")));
    case("bodies.warc", bodies, 2).rejected(LARGE).check();
    // Of a compressed stream within another only the outer is undone.
    const LAYERS: &[(&str, u64)] = &[("format not supported", 1)];
    case("layers.gz", gzip(&gzip(b"a b c")), 0)
        .rejected(LAYERS)
        .check();
    let inner = zstd::bulk::compress(b"a b c", 1).unwrap();
    case("layers.zst", zstd::bulk::compress(&inner, 1).unwrap(), 0)
        .rejected(LAYERS)
        .check();
    case("a.zip", *b"PK\x03\x04\x14\0\0\0\x08\0 and so on", 0)
        .rejected(&[("binary file", 1)])
        .check();
    let mut tar = vec![0; 1024];
    tar[..5].copy_from_slice(b"a.txt");
    tar[257..262].copy_from_slice(b"ustar");
    case("a.tar.gz", gzip(&tar), 0)
        .rejected(&[("binary file", 1)])
        .check();
    // Windows and dictionaries of gigabytes are asked for in a few bytes.
    let window = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x09, 0, 0, b'a'];
    case("window.zst", window, 0)
        .rejected(&[("decompressor needs too much memory", 1)])
        .check();
}

#[test]
fn members_without_number_take_no_more_than_their_time() {
    let members = gzip(b"").repeat(200_000);
    case("empty.gz", members, 0)
        .rejected(&[("empty file", 1)])
        .check();
    let frames = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(500_000);
    case("skipped.zst", frames, 0)
        .rejected(&[("empty file", 1)])
        .check();
}

#[test]
fn very_many_documents_of_nothing() {
    let line = |id: usize| format!("{{\"id\":{id},\"text\":\"\"}}\n");
    let lines: String = (0..300_000).map(line).collect();
    case("tiny.jsonl.gz", gzip(lines.as_bytes()), 300_000).check();
}

#[test]
fn documents_beyond_the_limit_are_passed_over_in_every_container() {
    let huge = "a ".repeat(MOST);
    case("plain.txt", huge.clone(), 0).rejected(LARGE).check();
    case("trec", [trec("1", &huge), trec("2", "a b")].concat(), 1)
        .rejected(LARGE)
        .check();
    case(
        "lines.jsonl",
        [json("1", &huge), json("2", "a b")].concat(),
        1,
    )
    .rejected(LARGE)
    .check();
    let record = [http(b"", huge.as_bytes()), http(b"", b"<p>a b")].concat();
    case("records.warc", record, 1).rejected(LARGE).check();
}

#[test]
fn lengths_that_lie_cost_no_record() {
    let lengths = [
        "18446744073709551616",
        "18446744073709551615",
        "-5",
        "0",
        "99999999999",
        "x",
    ];
    for length in lengths {
        let record = warc(
            &format!("Content-Length: {length}\r\n"),
            b"HTTP/1.1 200 OK\r\n\r\na b c",
        );
        case("lying.warc", record.repeat(3), 3)
            .noticed(&[("wrong length stated", 3)])
            .check();
    }
    let record = warc("", b"HTTP/1.1 200 OK\r\n\r\na b c");
    case("silent.warc", record.repeat(3), 3)
        .noticed(&[("wrong length stated", 3)])
        .check();
    let body = b"fffffffffffffff\r\n<p>a b c";
    case(
        "chunks.warc",
        http(b"Transfer-Encoding: chunked\r\n", body),
        1,
    )
    .noticed(&[("chunked encoding broken", 1)])
    .check();
}

/// Joined anew for each, they took the square of their number: half a million never ended.
#[test]
fn a_header_of_a_million_fields_is_read_once() {
    let encodings = b"Content-Encoding: \r\nContent-Encoding: x\r\n".repeat(190_000);
    case("encodings.warc", http(&encodings, b"<p>a"), 0)
        .rejected(&[("not text", 1)])
        .check();
    let types = [
        &b"Content-Type: a"[..],
        &b"\r\n a".repeat(1_900_000),
        b"\r\n",
    ]
    .concat();
    case("folded.warc", http(&types, b"<p>a b c"), 1).check();
    case(
        "fields.warc",
        http(&b"A: b\r\n".repeat(1_000_000), b"<p>a b c"),
        1,
    )
    .check();
}

#[test]
fn markup_without_end() {
    let all: [(&str, &str, usize); 18] = [
        ("<html>", "<", LONG - 8),
        ("", "<div>", LONG / 5),
        ("<div a=\"", "x", LONG - 8),
        ("<div", " a=1", LONG / 4 - 1),
        ("<!--", "-", LONG - 4),
        ("", "<!--", LONG / 4),
        ("<script>", "</scrip", LONG / 7 - 2),
        ("<title>", "</titl", LONG / 6 - 2),
        ("<script></script", "x", LONG - 16),
        ("<", "x", LONG - 1),
        ("<html>&amp;", "amp;", LONG / 4 - 3),
        ("<html>", "&#99999999999;", LONG / 14 - 1),
        ("<html>&#", "9", LONG - 8),
        ("<html>", "&aaaaaaaa", LONG / 9 - 1),
        ("<?xml?><a><![CDATA[", "]", LONG - 19),
        ("<svg>", "<title>", LONG / 7 - 1),
        ("<plaintext>", "</plaintext>", LONG / 12 - 1),
        ("<!DOCTYPE ", "x", LONG - 10),
    ];
    for (before, again, times) in all.into_iter().step_by(one_in(3)) {
        // What hides words to the end has a line.
        let hides = before.starts_with("<script");
        let noticed: &[_] = if hides {
            &[("markup not closed", 1)]
        } else {
            &[]
        };
        case("page.html", format!("{before}{}", again.repeat(times)), 1)
            .noticed(noticed)
            .check();
    }
}

#[test]
fn newswire_markup_without_end() {
    let record = |inside: String| format!("<DOC><DOCNO>1</DOCNO>{inside}</DOC>");
    let all = [
        "<TEXT>",
        "<DATE>",
        "<H1></H1>",
        "<DATE>a</DATE>",
        "DOC",
        "</DO",
    ];
    for inside in all.into_iter().step_by(one_in(3)) {
        let bytes = record(inside.repeat((LONG - 64) / inside.len()));
        // Many dates are more than a date.
        const DATES: &[(&str, u64)] = &[("elements beside the text left out", 1)];
        let noticed = if inside == "<DATE>a</DATE>" {
            DATES
        } else {
            &[]
        };
        case("trec", bytes, 1).noticed(noticed).check();
    }
    case("trec", "<DOC>\n".repeat(1_000_000), 0)
        .rejected(&[("record cut off", 1)])
        .check();
    case("trec", "<DOC></DOC>".repeat(100_000), 100_000).check();
    let stray = [record("a".into()).as_bytes(), &b"<!--".repeat(1_000_000)].concat();
    case("trec", stray, 1)
        .rejected(&[("bytes between records", 1)])
        .check();
}

#[test]
fn tokens_without_end() {
    case("token.txt", "a".repeat(MOST), 1).check();
    case(
        "marks.txt",
        format!("a{}", "\u{301}".repeat(MOST / 2 - 1)),
        1,
    )
    .check();
    case("apostrophes.txt", "a'".repeat(MOST / 2), 1).check();
    case(
        "windows.txt",
        format!("{} ", "a".repeat(99_999)).repeat(80),
        1,
    )
    .check();
}

/// A tree of the values took 700 MiB for 64 MiB of them, to be rejected.
#[test]
fn json_values_are_not_held_as_a_tree() {
    let list = |before: &str, again: &str, after: &str| {
        let times = (MOST - 64) / again.len();
        format!("{{{before}{}{after}}}", again.repeat(times))
    };
    const TEXT: &[(&str, u64)] = &[("no text field", 1)];
    case("a.jsonl", list("\"id\":1,\"text\":[", "1,", "1]"), 0)
        .rejected(TEXT)
        .check();
    case("a.jsonl", list("\"id\":1,\"text\":[", "{},", "1]"), 0)
        .rejected(TEXT)
        .check();
    case("a.jsonl", list("\"text\":\"a\",\"id\":[", "[],", "1]"), 1).check();
    let fields: String = (0..600_000).map(|i| format!("\"{i:x}\":1,")).collect();
    case(
        "a.jsonl",
        format!("{{\"id\":1,\"text\":{{{fields}\"z\":1}}}}"),
        0,
    )
    .rejected(TEXT)
    .check();
    case("a.jsonl", format!("{{{fields}\"id\":1,\"text\":\"a\"}}"), 1).check();
    // What a warning or a reject looks for took the square of the number of fields.
    let texts = "\"text\":[\"a b\",\"c d\"]";
    case("a.jsonl", format!("{{{fields}\"id\":1,{texts}}}"), 1).check();
    let messages = format!("{{\"id\":1,\"messages\":[{{{fields}\"content\":\"a b\"}}]}}");
    case("a.jsonl", messages, 0).rejected(TEXT).check();
    let words: String = (0..100).map(|i| format!("\"w{i}\":\"v\",")).collect();
    let objects: String = (0..250)
        .map(|i| format!("\"o{i}\":{{{words}\"z\":1}},"))
        .collect();
    let cut = "\"text\":\"one two three four five ...\"";
    case("a.jsonl", format!("{{{objects}\"id\":1,{cut}}}"), 1).check();
    case(
        "a.jsonl",
        list("\"id\":1,\"text\":\"a\"", ",\"text\":\"b\"", ""),
        1,
    )
    .check();
    case("a.jsonl", list("\"id\":1,\"text\":[", "\"a\",", "\"\"]"), 1).check();
}

#[test]
fn json_to_any_depth() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    const BAD: &[(&str, u64)] = &[("not valid JSON", 1)];
    let bytes = format!(
        "{{\"id\":1,\"text\":{}}}\n{{\"id\":2,\"text\":\"a\"}}",
        deep(1_000_000)
    );
    case("a.jsonl", bytes, 1).rejected(BAD).check();
    let bytes = format!("{{\"id\":1,\"text\":\"a\",\"z\":{}}}", deep(1_000_000));
    case("a.jsonl", bytes, 1).check();
    let bytes = format!("{}1{}", "{\"a\":".repeat(1_000_000), "}".repeat(1_000_000));
    case("a.jsonl", bytes, 0)
        .rejected(&[("no text field", 1)])
        .check();
    let number = "1".repeat(1 << 20);
    let bytes =
        format!("{{\"id\":{number},\"text\":\"a\"}}\n{{\"id\":1,\"text\":\"a\",\"n\":{number}}}");
    case("a.jsonl", bytes, 2)
        .noticed(&[("no docno", 1)])
        .check();
}

#[test]
fn bytes_that_are_no_characters() {
    const REPLACED: &[(&str, u64)] = &[("invalid bytes replaced", 1)];
    let json = |again: &[u8]| {
        let times = (MOST - 64) / again.len();
        [
            &b"{\"id\":1,\"text\":\"a "[..],
            &again.repeat(times),
            b"\"}",
        ]
        .concat()
    };
    case("a.jsonl", json(b"\\ud800"), 1)
        .noticed(REPLACED)
        .check();
    case("a.jsonl", json(b"\\n"), 1).check();
    // Each may become two bytes, more than a document may have.
    case("a.jsonl", json(b"\xff"), 0).rejected(LARGE).check();
    case("a.jsonl", *b"{\"id\":1,\"text\":\"a \xed\xa0\x80\"}", 1)
        .noticed(&[
            ("text looks wrongly decoded", 1),
            ("wrong charset declared", 1),
        ])
        .check();
    let wide = [&b"\xff\xfe"[..], &b"a\0 \0".repeat(500_000), b"a"].concat();
    case("wide.txt", wide, 1).noticed(REPLACED).check();
    let wider = [
        &b"\xff\xfe\0\0"[..],
        &b"a\0\0\0 \0\0\0".repeat(200_000),
        b"a",
    ]
    .concat();
    case("wider.txt", wider, 0)
        .rejected(&[("format not supported", 1)])
        .check();
    case("nul.txt", vec![0; MOST], 0)
        .rejected(&[("binary file", 1)])
        .check();
    let shifts = b"\x1b$B".repeat(MOST / 3);
    case("shifts.txt", shifts, 1).check();
    case("ends.txt", "a\rb\r\nc\n\r".repeat(500_000), 1).check();
    let overlong = b"<p>a \xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf".repeat(100_000);
    case("overlong.html", overlong, 1).check();
    // What a page says of itself three times over: the mark counts.
    let page = b"\xef\xbb\xbf<meta charset=utf-16><meta charset=shift_jis><p>\xc3\xa9t\xc3\xa9";
    let bytes = http(b"Content-Type: text/html; charset=koi8-r\r\n", page);
    case("declared.warc", bytes, 1).check();
}

#[test]
fn names_of_any_kind() {
    let line = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"a b\"}}\n");
    let longest = "d".repeat(64 << 10);
    let bytes = format!(
        "{}{}",
        line(&longest),
        line(&format!("{longest}d")).repeat(40)
    );
    case("long.jsonl", bytes, 41)
        .noticed(&[("no docno", 40)])
        .check();
    let url = format!(
        "{{\"id\":1,\"url\":\"{}\",\"text\":\"a\"}}\n",
        "u".repeat(1 << 20)
    );
    case("url.jsonl", url, 1)
        .noticed(&[("header line passed over", 1)])
        .check();
    let directory = common::temporary();
    let input = directory.path().join("odd.jsonl");
    fs::write(&input, line("a\\tb\\n\\\\c\\u0000").repeat(3)).unwrap();
    case("odd.jsonl", "", 3).check_path(&input, directory.path());
    let tsv = fs::read_to_string(directory.path().join("out1/documents.tsv")).unwrap();
    assert_eq!(tsv.matches("\na\\tb\\n\\\\c\\x00\t").count(), 3, "{tsv:?}");
    let rejects = fs::read_to_string(directory.path().join("out1/rejects.jsonl")).unwrap();
    assert_eq!(
        rejects.matches("\"docno not unique\"").count(),
        2,
        "{rejects}"
    );
}

/// Records of 200 KB that become 8 MiB of distinct shingles: a batch was counted at what it was
/// before its content encodings were undone, and four of them took all the memory there was.
#[test]
fn bodies_that_grow_stay_within_the_memory() {
    let random = &mut Random(5);
    let mut phrases = Vec::new();
    for _ in 0..64 {
        let phrase: Vec<u8> = (0..64)
            .flat_map(|_| [b'a' + random.below(26) as u8, b' '])
            .collect();
        phrases.push(phrase);
    }
    let mut all = Vec::new();
    let times = 2 / one_in(2) as u64;
    for _ in 0..times {
        let mut body = b"<p>".to_vec();
        while body.len() + 128 < MOST {
            body.extend_from_slice(random.pick::<Vec<u8>>(&phrases));
        }
        let body = gzip(&body);
        assert!(body.len() * 20 < MOST, "{}", body.len());
        all.extend(http(b"Content-Encoding: gzip\r\n", &body));
        all.extend(http(b"", b"<p>a small one"));
    }
    // Whether there is room for counters depends on the memory.
    case("grown.warc", all, 2 * times)
        .args(&["--shingle-size", "150", "--join", "count"])
        .check();
}

/// A message of one word.
fn mail(word: &str) -> Vec<u8> {
    let header = "From a@b Sat Jan  1 00:00:00 2022\nContent-Type: text/plain; charset=utf-8\n";
    format!("{header}\n{word}\n\n").into_bytes()
}

/// JSON of one word, and an escape: without, the text would lie where it is.
fn escaped(word: &str) -> Vec<u8> {
    json("1", &format!("{word}\\n"))
}

/// A word in one chunk.
fn chunked(word: &str) -> Vec<u8> {
    let chunk = format!("{:x}\r\n{word}\r\n0\r\n\r\n", word.len());
    let block = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}");
    let length = format!("Content-Length: {}\r\n", block.len());
    warc(&length, block.as_bytes())
}

/// A file name, and how a word is put into such a file.
type Container = (&'static str, fn(&str) -> Vec<u8>);

/// Documents of one word that are almost as large as they may be, with the least memory for it.
fn of_one_word((name, container): Container, (most, memory): (usize, u64), letters: &[&str]) {
    let directory = common::temporary();
    let input = directory.path().join(name);
    let mut file = File::create(&input).unwrap();
    for letter in letters {
        let word = letter.repeat((most - (2 << 20)) / letter.len());
        file.write_all(&container(&word)).unwrap();
    }
    drop(file);
    let out = directory.path().join("out");
    let ingest = program_within((memory, most), name, &input, &out, 3, &[]);
    assert_eq!(ingest["documents"], letters.len(), "{name}");
}

/// Each was counted at its record's size, and what it became, its text and its word, came on top of
/// those already read. 398 MiB where 320 are allowed.
#[test]
fn large_documents_in_a_row_stay_within_the_memory() {
    let sizes = (64 << 20, 217 << 20);
    let letters = ["é", "ö"];
    let all: [Container; 3] = [("a.warc", chunked), ("a.jsonl", escaped), ("a.mbox", mail)];
    for container in all.into_iter().step_by(one_in(3)) {
        of_one_word(container, sizes, &letters);
    }
}

/// The least that was asked for was not enough for documents above 100 MiB.
#[test]
fn one_document_of_more_than_100_mebibytes() {
    let sizes = match one_in(2) {
        1 => (160 << 20, 541 << 20),
        _ => (112 << 20, 355 << 20),
    };
    let all: [Container; 2] = [("a.jsonl", escaped), ("a.mbox", mail)];
    for container in all.into_iter().step_by(one_in(2)) {
        of_one_word(container, sizes, &["é"]);
    }
}

/// Every byte of a stream is in a record, in a reject, or white space.
#[test]
fn bytes_are_accounted_for() {
    let random = &mut Random(11);
    let pieces: [&[u8]; 14] = [
        b"<DOC>\n<DOCNO>1</DOCNO>\n",
        b"</DOC>\n",
        b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 5\r\n\r\n",
        b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"\r\n\r\n",
        b"{\"id\":\"1\",",
        b"\"text\":\"a\"}",
        b"}\n",
        b"[[[[",
        b"\\\"\xff\0",
        b"http://a/ 1.2.3.4 20010101000000 text/html 7\n",
        b"words of no meaning ",
        b"</DOC",
        b"{",
    ];
    for round in 0..400 {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(pieces[[0, 2, 5, 10][round % 4]]);
        for _ in 0..random.below(40) {
            bytes.extend_from_slice(random.pick::<&[u8]>(&pieces));
        }
        let stream = std::io::Cursor::new(bytes.clone());
        let mut reader = RecordReader::from_reader(stream, "x", 0, &ReadConfig::default());
        let (mut batch, mut at) = (Batch::default(), 0);
        let between = |from: usize, to: usize| {
            let rest = bytes[from..to].iter();
            let other = rest.filter(|byte| !byte.is_ascii_whitespace() && !b",[]".contains(byte));
            assert_eq!(
                other.count(),
                0,
                "round {round}: {from}..{to} of {:?}",
                bytes.escape_ascii().to_string()
            );
        };
        while reader.next_into(&mut batch) {
            let source = batch.records.last().unwrap().source;
            between(at, source.offset as usize);
            at = (source.offset + source.length) as usize;
        }
        between(at, bytes.len());
    }
}

fn symlink(to: impl AsRef<Path>, at: PathBuf) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

#[test]
fn a_tree_of_traps() {
    let directory = common::temporary();
    let (tree, outside) = (
        directory.path().join("-tree"),
        directory.path().join("outside"),
    );
    for place in [&tree, &tree.join("in"), &tree.join("deep"), &outside] {
        fs::create_dir(place).unwrap();
    }
    let write = |path: &Path| fs::write(path, "one two three four").unwrap();
    write(&tree.join("-o"));
    write(&tree.join("new\nline\ttab"));
    write(&tree.join(OsStr::from_bytes(b"latin\xe9")));
    write(&outside.join("beyond"));
    // Links in a circle, to themselves, out of the tree, to nothing; a second name for a file.
    symlink("..", tree.join("in/up"));
    symlink("self", tree.join("self"));
    symlink(&outside, tree.join("out"));
    symlink("nowhere", tree.join("dangling"));
    fs::hard_link(tree.join("-o"), tree.join("hard")).unwrap();
    symlink("/dev/zero", tree.join("zero"));
    symlink("/dev/full", tree.join("full"));
    let fifo = Command::new("mkfifo")
        .arg("--")
        .arg(tree.join("fifo"))
        .status()
        .unwrap();
    assert!(fifo.success());
    let _socket = std::os::unix::net::UnixListener::bind(tree.join("socket")).unwrap();
    case("traps", "", 5)
        .rejected(&[("cannot be read", 2), ("not a regular file", 4)])
        .noticed(&[("path not UTF-8", 2)])
        .check_path(&tree, directory.path());
}

/// Paths longer than the system takes end in a reject, not in silence.
#[test]
fn ten_thousand_directories_one_in_the_other() {
    let directory = common::temporary();
    let tree = directory.path().join("tree");
    fs::create_dir(&tree).unwrap();
    // From the innermost outwards: no path is ever long.
    fs::create_dir(tree.join("a")).unwrap();
    for _ in 0..10_000 {
        fs::create_dir(tree.join("b")).unwrap();
        fs::rename(tree.join("a"), tree.join("b/a")).unwrap();
        fs::rename(tree.join("b"), tree.join("a")).unwrap();
    }
    fs::write(tree.join("z.txt"), "a b c").unwrap();
    case("deep", "", 1)
        .rejected(&[("cannot be read", 1)])
        .check_path(&tree, directory.path());
    // The standard library's removal opens a file for each level.
    assert!(
        Command::new("rm")
            .arg("-rf")
            .arg(&tree)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn directories_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let directory = common::temporary();
    let (tree, shut) = (
        directory.path().join("tree"),
        directory.path().join("tree/shut"),
    );
    fs::create_dir_all(&shut).unwrap();
    fs::write(tree.join("a.txt"), "a b c").unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&shut).is_ok() {
        eprintln!("LEFT OUT: this user may read every directory");
        return;
    }
    case("shut", "", 1)
        .rejected(&[("cannot be read", 1)])
        .check_path(&tree, directory.path());
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Does something when the reading has come so far.
struct Then<F> {
    calls: AtomicUsize,
    at: usize,
    act: F,
}

impl<F: Fn() + Send + Sync> Progress for Then<F> {
    fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {}
    fn at(&self, _: u64) {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.at {
            (self.act)();
        }
    }
    fn end(&self, _: &str) {}
    fn note(&self, _: &str) {}
}

/// Until this was looked at, whatever happened to be in the file was read, half of the one and half
/// of the other, and the run said that all was well.
#[test]
fn a_file_that_changes_during_the_run_ends_it() {
    type Change = fn(&Path);
    let changes: [(&str, &str, Change); 8] = [
        ("grows", "0.jsonl", |path| {
            File::options()
                .append(true)
                .open(path)
                .unwrap()
                .write_all(b"{}\n")
                .unwrap();
        }),
        ("shrinks", "0.jsonl", |path| {
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(3 << 20)
                .unwrap();
        }),
        ("is cut to nothing", "0.jsonl", |path| {
            fs::write(path, "").unwrap()
        }),
        ("is written over", "0.jsonl", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, bytes).unwrap();
        }),
        ("vanishes", "1.jsonl", |path| fs::remove_file(path).unwrap()),
        ("is replaced", "1.jsonl", |path| {
            fs::write(path.with_extension("new"), "{}").unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        }),
        ("becomes a directory", "1.jsonl", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("becomes a FIFO", "1.jsonl", |path| {
            fs::remove_file(path).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
    ];
    let run = Run::default().max_document(1 << 20).segment_size(2 << 20);
    for (what, name, change) in changes {
        let directory = common::temporary();
        let (input, out) = (directory.path().join("in"), directory.path().join("out"));
        fs::create_dir(&input).unwrap();
        // As long ago as a file system's clock can tell.
        let past = std::time::SystemTime::now() - Duration::from_secs(100);
        let make = |number: usize, lines: usize| {
            let text = "words that say nothing ".repeat(40);
            let line = |i| json(&format!("{number}-{i}"), &format!("{i} {text}"));
            let path = input.join(format!("{number}.jsonl"));
            fs::write(&path, (0..lines).flat_map(line).collect::<Vec<u8>>()).unwrap();
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_modified(past)
                .unwrap();
        };
        make(0, 5000);
        make(1, 10);
        let expected = {
            let out = directory.path().join("whole");
            run.clone().threads(1).run(&[&input], &out).unwrap();
            lasting(&out)
        };
        let path = input.join(name);
        let watch = Then {
            calls: AtomicUsize::new(0),
            at: 0,
            act: || change(&path),
        };
        let changing = run.clone().threads(1);
        match changing.watched(&[&input], &out, &Stop::default(), &watch) {
            Err(Error::InputChanged { path: named, .. }) => assert_eq!(named, path, "{what}"),
            other => panic!("a file that {what}: {other:?}"),
        }
        // Restored, it goes on, and what was committed was of the files as they were listed.
        if path.is_dir() {
            fs::remove_dir(&path).unwrap();
        } else if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        make(0, 5000);
        make(1, 10);
        run.clone().threads(3).run(&[&input], &out).unwrap();
        assert_same_files(&lasting(&out), &expected, what);
    }
}
