//! Compressed inputs, of whatever format is inside, and files that are one document.
//!
//! A fuzzer does not find its way past checksums. So the input is either the stream as it is, or
//! what is in the stream: then it is compressed here, and damaged as the controls say.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use lookalike::base::budget::ByteSize;
use lookalike::text::read::{
    Batch, Format, Interpreted, ReadConfig, Reason, RecordKind, RecordReader, interpret,
};

use super::controls::Controls;

/// What a decoder that meets damage may lose of what came before it, at most.
const LOST: usize = 256 << 10;

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    match controls.byte() % 8 {
        0 => super::records::check(
            controls.rest(),
            &[None, Some(Format::Text), Some(Format::Html)],
        ),
        7 => content_coding(controls),
        kind => stream(kind, controls),
    }
}

fn gzip(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn compress(kind: u8, bytes: &[u8]) -> Vec<u8> {
    match kind {
        1 => gzip(bytes, 6),
        2 => zstd::bulk::compress(bytes, 1).expect("memory"),
        3 => {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
        4 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
        5 => gzip(bytes, 0),
        _ => {
            // A frame that does not say how much is in it.
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("memory");
            encoder.include_checksum(true).expect("memory");
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
    }
}

/// A text file of some members, whole or damaged.
fn stream(kind: u8, mut controls: Controls<'_>) {
    let damage = controls.byte() % 4;
    let at = controls.u16();
    let with = controls.byte();
    let members = usize::from(controls.byte() % 4) + 1;
    let content = controls.rest();
    let piece = content.len().div_ceil(members).max(1);
    let mut bytes: Vec<u8> = Vec::new();
    for member in content.chunks(piece) {
        bytes.extend(compress(kind, member));
    }
    if bytes.is_empty() {
        bytes = compress(kind, b"");
    }
    let place = usize::from(at) % bytes.len();
    match damage {
        1 => bytes[place] ^= with.max(1),
        2 => bytes.truncate(place),
        3 => bytes.extend_from_slice(&[with; 9][..usize::from(with % 9)]),
        _ => {}
    }
    let config = ReadConfig {
        format: Some(Format::Text),
        max_document: ByteSize::mib(4),
        ..ReadConfig::default()
    };
    let mut reader = RecordReader::from_reader(Cursor::new(bytes), "a", 0, &config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    if damage == 0 {
        let nested = batch.records.iter().any(|record| {
            matches!(&record.kind, RecordKind::Rejected(reject)
                if matches!(reject.reason, Reason::UnsupportedFormat | Reason::BinaryFile | Reason::EmptyFile))
        });
        if !nested {
            assert_eq!(
                reader.decompressed(),
                content.len() as u64,
                "bytes are lost"
            );
            let record = batch.records.first().expect("a record");
            assert_eq!(&batch.bytes[record.bytes.clone()], content);
            assert_eq!(batch.records.len(), 1, "{:?}", batch.records);
        }
    } else if damage == 2 && content.len() > LOST {
        assert!(reader.decompressed() as usize <= content.len());
    }
}

/// An HTTP response whose body has content codings and chunks, whole or damaged.
fn content_coding(mut controls: Controls<'_>) {
    let coding = controls.byte() % 6;
    let chunk = usize::from(controls.byte());
    let damage = controls.byte() % 3;
    let at = controls.u16();
    let with = controls.byte();
    let max_document = controls.one_of(&[1 << 20, 1 << 12, 100]);
    let content = controls.rest();
    let (name, mut body) = match coding {
        0 => ("gzip", gzip(content, 6)),
        1 => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
            encoder.write_all(content).expect("memory");
            ("deflate", encoder.finish().expect("memory"))
        }
        2 => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
            encoder.write_all(content).expect("memory");
            ("deflate", encoder.finish().expect("memory"))
        }
        3 => {
            let (mut from, mut out) = (content, Vec::new());
            brotli::BrotliCompress(&mut from, &mut out, &Default::default()).expect("memory");
            ("br", out)
        }
        4 => ("zstd", zstd::bulk::compress(content, 1).expect("memory")),
        _ => ("identity", content.to_vec()),
    };
    let place = usize::from(at) % body.len().max(1);
    match damage {
        1 if !body.is_empty() => body[place] ^= with.max(1),
        2 => body.truncate(place),
        _ => {}
    }
    let mut head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: {name}\r\n");
    if chunk > 0 {
        head.push_str("Transfer-Encoding: chunked\r\n");
        let mut chunked = Vec::new();
        for piece in body.chunks(chunk) {
            chunked.extend(format!("{:x}\r\n", piece.len()).bytes());
            chunked.extend_from_slice(piece);
            chunked.extend_from_slice(b"\r\n");
        }
        chunked.extend_from_slice(b"0\r\n\r\n");
        body = chunked;
    }
    let mut block = head.into_bytes();
    block.extend_from_slice(b"\r\n");
    block.extend_from_slice(&body);
    let mut archive = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
         Content-Length: {}\r\n\r\n",
        block.len()
    )
    .into_bytes();
    archive.extend_from_slice(&block);
    archive.extend_from_slice(b"\r\n\r\n");
    let config = ReadConfig {
        max_document: ByteSize(max_document),
        ..ReadConfig::default()
    };
    let mut reader = RecordReader::from_reader(Cursor::new(archive), "a.warc", 0, &config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    let Some(record) = batch.records.first() else {
        panic!("no record");
    };
    let found = interpret(record, &batch.bytes[record.bytes.clone()], &config);
    if let Interpreted::Document(document) = &found {
        assert!(document.body.len() as u64 <= max_document);
        let whole = damage == 0 && batch.records.len() == 1 && document.notices.is_empty();
        if whole && coding != 2 {
            assert_eq!(&document.body[..], content, "{name}, chunks of {chunk}");
        }
    }
}
