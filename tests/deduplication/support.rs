//! Calls of the program, and the records of a file as the readers of the library frame them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lookalike::base::progress::Stop;
use lookalike::engine::shingle::{ShingleConfig, Shingler};
use lookalike::text::read::{Batch, Interpreted, ReadConfig, RecordReader, interpret, list_inputs};
use serde_json::Value;

/// A call of the program that has ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Calls the program in a directory. The arguments are separated by white space.
pub fn call(place: &Path, arguments: &str) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .current_dir(place)
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Calls the program, which must succeed.
pub fn done(place: &Path, arguments: &str) -> Ran {
    let ran = call(place, arguments);
    assert_eq!(ran.code, Some(0), "{arguments}: {ran:?}");
    ran
}

/// Calls `dedup` with `--json`, and returns its summary without the costs, which differ.
pub fn dedup(place: &Path, arguments: &str) -> Value {
    let ran = done(place, &format!("dedup {arguments} --json --quiet"));
    let mut summary: Value = serde_json::from_str(&ran.stdout).unwrap();
    let costs = summary.as_object_mut().unwrap().remove("costs").unwrap();
    assert!(costs["choose"]["wall_seconds"].as_f64().unwrap() > 0.0);
    summary
}

/// The facts about a document that the oracle needs.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub docno: String,
    pub address: Option<String>,
    /// Of the words.
    pub md5: [u8; 16],
    /// Hash of the text as read.
    pub text: u64,
    pub words: u64,
    /// Fingerprints, sorted.
    pub set: Vec<u64>,
}

/// A framed record of an input.
#[derive(Clone, Debug)]
pub struct Record {
    /// Path of the file below the directory.
    pub file: String,
    /// Place in the decompressed file.
    pub offset: u64,
    /// The number of the record among documents and rejected records of its file, from 1.
    pub number: u32,
    pub bytes: Vec<u8>,
    pub document: Option<Document>,
    pub rejected: bool,
}

/// Every record of a file, or of the files of a directory, in the order of the input. Without a
/// size of shingles, what documents say is left out.
pub fn records(path: &Path, shingle_size: u32) -> Vec<Record> {
    let config = ReadConfig::default();
    let shingle = ShingleConfig {
        shingle_size: shingle_size.max(1),
        ..ShingleConfig::default()
    };
    let mut shingler = Shingler::<u64>::new(&shingle);
    let mut all = Vec::new();
    for input in list_inputs(&[path.to_path_buf()]).unwrap().iter() {
        let stop = Stop::default();
        let mut reader = RecordReader::open(input, 0, &config, &stop);
        let (mut batch, mut number) = (Batch::default(), 0);
        let whole = content(&input.path);
        while reader.next_into(&mut batch) {
            let record = batch.records.last().unwrap();
            let source = record.source;
            let mut bytes = batch.bytes[record.bytes.clone()].to_vec();
            let (mut document, mut rejected) = (None, false);
            match interpret(record, &bytes, &config) {
                Interpreted::Document(raw) => {
                    let mut found = Document {
                        docno: raw.docno.to_string(),
                        address: raw.url.as_ref().map(ToString::to_string),
                        ..Document::default()
                    };
                    if shingle_size > 0 {
                        let facts = shingler.shingle(&raw, (0, u64::MAX), &mut found.set);
                        (found.md5, found.words) = (facts.md5, facts.words);
                        found.text = facts.text;
                    }
                    document = Some(found);
                }
                Interpreted::Rejected(_) => rejected = true,
                Interpreted::Skipped(_) => {}
            }
            if let (true, Some(whole)) = (bytes.is_empty(), &whole) {
                let end = (source.offset + source.length) as usize;
                bytes = whole[source.offset as usize..end.min(whole.len())].to_vec();
            }
            number += u32::from(rejected || document.is_some());
            all.push(Record {
                file: input.docno.clone(),
                offset: source.offset,
                number,
                bytes,
                document,
                rejected,
            });
            batch.clear();
        }
    }
    all
}

/// A file, decompressed by its first bytes; `None` if it is damaged, or made by `compress`.
pub fn content(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let mut out = Vec::new();
    let read = match &bytes[..] {
        [0x1f, 0x8b, ..] => flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut out),
        [0x1f, 0x9d, ..] => return None,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return zstd::decode_all(&bytes[..]).ok(),
        [b'B', b'Z', b'h', ..] => {
            bzip2::read::MultiBzDecoder::new(&bytes[..]).read_to_end(&mut out)
        }
        [0xfd, b'7', b'z', ..] => {
            liblzma::read::XzDecoder::new_multi_decoder(&bytes[..]).read_to_end(&mut out)
        }
        // What is in UTF-16 has its places in UTF-8.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            let unit = |pair: &[u8]| match bytes[0] {
                0xff => u16::from_le_bytes([pair[0], pair[1]]),
                _ => u16::from_be_bytes([pair[0], pair[1]]),
            };
            let units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
            return String::from_utf16(&units).ok().map(String::into_bytes);
        }
        _ => return Some(bytes),
    };
    read.ok().map(|_| out)
}

/// The header fields of a WARC record, with names in lower case.
pub fn warc_fields(bytes: &[u8]) -> BTreeMap<String, String> {
    if !bytes.starts_with(b"WARC/") {
        return BTreeMap::new();
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 10)]);
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_string()))
        .collect()
}

/// Lines of JSON.
pub fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every file below a directory except the program's own, by its path from there.
pub fn written(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = crate::common::tree(directory);
    files.retain(|name, _| !name.starts_with(".lookalike/"));
    files
}

/// A new directory with these files.
pub fn place(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
    let place = crate::common::temporary();
    for (name, bytes) in files {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let path = place.path().to_path_buf();
    (place, path)
}
