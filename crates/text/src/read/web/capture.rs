//! A capture in a WARC file, and the `revisit` record that can stand for it.
//!
//! # Source
//! ISO 28500:2017 (WARC 1.1): sections 5 (fields) and 6.7 (`revisit`). Its profile for identical
//! payloads compares digests of the payload, which is the body of an HTTP response without its
//! transfer coding, or the block of a `resource`. It recommends that a `revisit` record keeps the
//! HTTP header of the response as its block.
//!
//! # Where we depart from the source
//! WARC 1.0 does not define `WARC-Refers-To-Target-URI` and `WARC-Refers-To-Date`. Records of
//! version 1.0 also have them, as the IIPC recommends; readers ignore fields that they do not know.

use bincode::{Decode, Encode};
use memchr::memmem;
use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::xxh3_128;

use super::archive::{Fields, WarcHead};
use super::http;
use crate::read::ground::bytes::{first_line, is_one_of, unbracket};
use crate::read::ground::outcome::HEAD;
use lookalike_base::words;

/// The most bytes of a record that [`revisit`] needs: its header and the header of the response.
pub const REVISIT_HEAD: usize = 2 * HEAD;

/// The bytes that a response delivered, in digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Payload {
    /// For the field `WARC-Payload-Digest`.
    pub sha1: [u8; 20],
    /// Beside SHA-1, for which different bytes of equal digests have been made.
    pub xxh3: u128,
    /// Its length in bytes.
    pub length: u64,
}

impl Payload {
    fn of(bytes: &[u8]) -> Payload {
        Payload {
            sha1: Sha1::digest(bytes).into(),
            xxh3: xxh3_128(bytes),
            length: bytes.len() as u64,
        }
    }
}

/// The fields of a `response` or `resource` record about its capture.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Capture {
    /// `WARC-Record-ID`, as the record has it.
    pub id: Vec<u8>,
    /// `WARC-Target-URI` without angle brackets.
    pub target: Vec<u8>,
    /// `WARC-Date`.
    pub date: Vec<u8>,
    /// `WARC-Payload-Digest`, if the record states one.
    pub stated: Option<Vec<u8>>,
    /// `None` if the record is truncated, or if where its payload begins or ends is unclear.
    pub payload: Option<Payload>,
}

/// Reads the capture of a record. `None` if the record has another type, lacks a field that every
/// such record has, or continues in other records. `measured` is false if the stated length of the
/// record was wrong.
pub fn capture(bytes: &[u8], measured: bool) -> Option<Capture> {
    let head = WarcHead::of_capture(bytes)?;
    let whole = measured && head.truncated.is_none();
    Some(Capture {
        payload: whole.then(|| head.payload(bytes)).flatten(),
        stated: head.payload_digest.map(<[u8]>::to_vec),
        id: head.record_id?.to_vec(),
        target: head.target?.to_vec(),
        date: head.date?.to_vec(),
    })
}

/// The fields that a `revisit` record adds to the fields of the record that it replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The record that it refers to.
    pub to: Capture,
    /// `WARC-Profile`; `{version}` stands for the version of WARC, 1.0 or 1.1.
    pub profile: &'static str,
    /// `WARC-Payload-Digest` of the replaced record.
    pub digest: Option<Vec<u8>>,
    /// More fields.
    pub more: Vec<(&'static str, String)>,
}

/// The `revisit` record in place of a record whose first [`REVISIT_HEAD`] bytes are `head`.
///
/// It has the fields of the record, in their order, except for those that describe the block or the
/// reference. It keeps the record's id: the requests and metadata of the capture name it.
pub fn revisit(head: &[u8], reference: &Reference) -> Option<Vec<u8>> {
    const REPLACED: [&str; 9] = words(
        "content-length content-type warc-block-digest warc-payload-digest warc-profile \
         warc-refers-to warc-refers-to-date warc-refers-to-target-uri warc-truncated",
    );
    let parsed = WarcHead::of_capture(head)?;
    let block = parsed.http_header(head).unwrap_or_default();
    let line = first_line(head);
    let end: &[u8] = match head.get(line.len()) {
        Some(b'\n') => b"\n",
        _ => b"\r\n",
    };
    let mut out = [line, end].concat();
    let mut put = |name: &[u8], value: &[u8]| {
        for part in [name, b": ", value, end] {
            out.extend_from_slice(part);
        }
    };
    for (name, value) in Fields::after_line(head) {
        match name.to_ascii_lowercase().as_slice() {
            b"warc-type" => put(name, b"revisit"),
            b"warc-target-uri" => put(name, unbracket(value)),
            _ if is_one_of(name, &REPLACED) => {}
            _ => put(name, value),
        }
    }
    let version = match line {
        b"WARC/1.0" => "1.0",
        line if line.starts_with(b"WARC/0") => "1.0",
        _ => "1.1",
    };
    let profile = reference.profile.replace("{version}", version);
    put(b"WARC-Profile", profile.as_bytes());
    put(b"WARC-Refers-To", &reference.to.id);
    put(b"WARC-Refers-To-Target-URI", &reference.to.target);
    put(b"WARC-Refers-To-Date", &reference.to.date);
    for (name, value) in &reference.more {
        put(name.as_bytes(), value.as_bytes());
    }
    if let Some(digest) = &reference.digest {
        put(b"WARC-Payload-Digest", digest);
    }
    if let (false, Some(content_type)) = (block.is_empty(), parsed.content_type) {
        put(b"Content-Type", content_type);
    }
    // The body after the header of the response is left out.
    if !block.is_empty() {
        put(b"WARC-Truncated", b"length");
    }
    put(b"Content-Length", block.len().to_string().as_bytes());
    out.extend_from_slice(end);
    out.extend_from_slice(block);
    Some(out)
}

impl<'a> WarcHead<'a> {
    /// The header of a record that has a payload, and all fields that such a record must have.
    fn of_capture(bytes: &'a [u8]) -> Option<WarcHead<'a>> {
        let head = WarcHead::parse(bytes);
        // A field of several lines, or a longer one, is neither an id nor an address.
        let plain =
            |value: &[u8]| !value.is_empty() && value.len() <= HEAD && !value.contains(&b'\n');
        let needed = [head.record_id?, head.target?, head.date?];
        let usable = (head.is(b"response") || head.is(b"resource"))
            && head.segment.is_none()
            && needed.into_iter().chain(head.payload_digest).all(plain);
        usable.then_some(head)
    }

    /// The header of the HTTP response in the block, with the empty line that ends it.
    fn http_header<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let block = bytes.get(self.block..)?;
        let look = &block[..block.len().min(HEAD)];
        if !self.is(b"response") || !block.starts_with(b"HTTP/") || http::final_head(look) > 0 {
            return None;
        }
        let mut ends = [&b"\r\n\r\n"[..], b"\n\n", b"\n\r\n"]
            .map(|end| memmem::find(look, end).map(|at| at + end.len()));
        ends.sort_unstable();
        let end = ends.into_iter().flatten().next()?;
        Some(&block[..end])
    }

    fn payload(&self, bytes: &[u8]) -> Option<Payload> {
        if !self.is(b"response") {
            return Some(Payload::of(bytes.get(self.block..)?));
        }
        let header = self.http_header(bytes)?;
        let body = bytes.get(self.block + header.len()..)?;
        http::without_transfer_coding(header, body).map(|body| Payload::of(&body))
    }
}

/// A digest as `WARC-Payload-Digest` states it: `sha1:` and Base32 (RFC 4648).
pub fn labelled(sha1: &[u8; 20]) -> Vec<u8> {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = b"sha1:".to_vec();
    for five in sha1.chunks(5) {
        let bits = five
            .iter()
            .fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        out.extend(
            (0..8)
                .rev()
                .map(|at| ALPHABET[(bits >> (5 * at)) as usize & 31]),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESPONSE: &str = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:a>\r\n\
        WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: <http://e.org/>\r\n\
        WARC-Block-Digest: sha1:X\r\nContent-Type: application/http; msgtype=response\r\n\
        WARC-TREC-ID: T-1\r\nContent-Length: 42\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n\r\n<p>one two three";

    fn reference(profile: &'static str) -> Reference {
        Reference {
            to: capture(RESPONSE.replace("urn:a", "urn:b").as_bytes(), true).unwrap(),
            profile,
            digest: Some(labelled(&[0; 20])),
            more: vec![("Lookalike-Resemblance", "0.5".into())],
        }
    }

    #[test]
    fn digests_are_those_of_sha1sum() {
        // printf abc | sha1sum | xxd -r -p | base32
        let digest = labelled(&Payload::of(b"abc").sha1);
        assert_eq!(digest, b"sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    }

    #[test]
    fn a_revisit_record_has_the_fields_of_its_record() {
        let made = revisit(RESPONSE.as_bytes(), &reference("p/{version}")).unwrap();
        let expected = "WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Record-ID: <urn:a>\r\n\
            WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: http://e.org/\r\nWARC-TREC-ID: T-1\r\n\
            WARC-Profile: p/1.0\r\nWARC-Refers-To: <urn:b>\r\n\
            WARC-Refers-To-Target-URI: http://e.org/\r\nWARC-Refers-To-Date: 2020-01-01T00:00:00Z\r\n\
            Lookalike-Resemblance: 0.5\r\nWARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n\
            Content-Type: application/http; msgtype=response\r\nWARC-Truncated: length\r\n\
            Content-Length: 25\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n\r\n";
        assert_eq!(String::from_utf8(made).unwrap(), expected);
        // The kind of the block follows from its beginning.
        let front = &RESPONSE.as_bytes()[..RESPONSE.len() - 9];
        assert_eq!(
            revisit(front, &reference("p/{version}")),
            revisit(RESPONSE.as_bytes(), &reference("p/{version}"))
        );
    }

    /// Lines may end with a line feed alone, and a resource has no header to keep.
    #[test]
    fn other_line_ends_and_records_without_a_header() {
        let resource = RESPONSE
            .replace("\r\n", "\n")
            .replace("response\nWARC-Rec", "resource\nWARC-Rec")
            .replace("WARC/1.0", "WARC/1.1");
        let made = revisit(resource.as_bytes(), &reference("p/{version}")).unwrap();
        let made = String::from_utf8(made).unwrap();
        assert!(
            !made.contains('\r') && !made.contains("Content-Type"),
            "{made}"
        );
        assert!(made.ends_with("Content-Length: 0\n\n"), "{made}");
        assert!(made.contains("WARC-Profile: p/1.1\n"), "{made}");
    }

    #[test]
    fn payloads_are_compared_without_their_transfer_coding() {
        let record = |fields: &str, http: &str, body: &str| {
            let record = RESPONSE
                .replace("WARC-TREC-ID: T-1", fields)
                .replace("X: y", http)
                .replace("<p>one two three", body);
            capture(record.as_bytes(), true).unwrap().payload
        };
        let plain = record("A: b", "X: y", "one two");
        assert_eq!(plain, Some(Payload::of(b"one two")));
        let chunked = "Transfer-Encoding: chunked";
        assert_eq!(
            record("A: b", chunked, "3\r\none\r\n4\r\n two\r\n0\r\n\r\n"),
            plain
        );
        // Some crawlers undo the coding and keep the field.
        assert_eq!(record("A: b", chunked, "one two"), plain);
        // If a coding is broken, the delivered bytes are unknown.
        assert_eq!(record("A: b", chunked, "3\r\none\r\nx two"), None);
        assert_eq!(record("WARC-Truncated: time", "X: y", "one two"), None);
        assert_eq!(capture(RESPONSE.as_bytes(), false).unwrap().payload, None);
    }

    #[test]
    fn records_that_nothing_can_stand_for() {
        for (from, to) in [
            ("WARC-Record-ID: <urn:a>\r\n", ""),
            ("WARC-Date", "Date"),
            ("WARC-Target-URI", "URI"),
            ("WARC-Target-URI: <http://e.org/>", "WARC-Target-URI: <>"),
            ("WARC-Type: response", "WARC-Type: conversion"),
            ("WARC-TREC-ID: T", "WARC-Segment-Number: 1"),
            ("<urn:a>", "<urn:\r\n a>"),
        ] {
            let record = RESPONSE.replace(from, to);
            assert_eq!(capture(record.as_bytes(), true), None, "{to}");
            assert_eq!(revisit(record.as_bytes(), &reference("p")), None, "{to}");
        }
        for end in 0..RESPONSE.len() {
            let _ = capture(&RESPONSE.as_bytes()[..end], true);
            let _ = revisit(&RESPONSE.as_bytes()[..end], &reference("p"));
        }
    }
}
