//! Kept records keep their bytes and order, in the format and compression of the input.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use serde_json::Value;

use super::support::{content, dedup, lines, place, records, written};
use crate::common::{copy_directory, sample_corpora};

/// The record of a letter: `b` has the words of `a`, and `d` those of `c`.
fn json_of(letter: char) -> Option<&'static str> {
    Some(match letter {
        'A' => r#"{ "text":"alpha beta gamma" ,"id":"1", "n": 1.50e2 }"#,
        'B' => r#"{"id":"2","text":"Alpha, beta: gamma!","more":[{"x":"}, {"}]}"#,
        'C' => r#"{"id":"3","text":"d\u00e9lta \"epsilon\" \\"}"#,
        'D' => r#"{"text":"délta epsilon", "id":"4"}"#,
        _ => return None,
    })
}

fn spelled(template: &str) -> String {
    let letters = template
        .chars()
        .map(|c| json_of(c).map_or_else(|| c.to_string(), String::from));
    letters.collect()
}

/// Deduplicates one file, and returns what is kept of it.
fn kept(name: &str, bytes: &[u8], more: &str) -> Option<Vec<u8>> {
    let (_place, place) = place(&[(&format!("in/{name}"), bytes)]);
    dedup(&place, &format!("in -o kept --removed removed {more}"));
    fs::read(place.join("kept").join(name)).ok()
}

#[test]
fn json_in_every_layout() {
    for (template, keep, expected) in [
        ("A\nB\nC\nD\n", "first", "A\nC\n"),
        ("A\nB\nC\nD\n", "last", "B\nD\n"),
        ("A\nB\nC\nD", "first", "A\nC"),
        ("A\nB\nC\nD", "last", "B\nD"),
        ("A\r\nB\r\nC\r\nD\r\n", "first", "A\r\nC\r\n"),
        ("A\r\nB\r\nC\r\nD\r\n", "last", "B\r\nD\r\n"),
        ("A\n\n\nB\n\nC\n", "first", "A\n\n\nC\n"),
        ("\u{feff}A\nB\nC\n", "first", "\u{feff}A\nC\n"),
        ("\u{feff}A\nB\nC\n", "last", "\u{feff}B\nC\n"),
        (
            "A\nno object\nB\n{\"id\":9}\nC\nD\n",
            "first",
            "A\nno object\n{\"id\":9}\nC\n",
        ),
        ("[A,B,C]", "first", "[A,C]"),
        ("[A, B, C, D]\n", "first", "[A, C]\n"),
        ("[A, B, C, D]\n", "last", "[B, D]\n"),
        (
            "[\n  A,\n  B,\n  C,\n  D\n]\n",
            "first",
            "[\n  A,\n  C\n]\n",
        ),
        ("[\r\n\tA,\r\n\tB\r\n]", "first", "[\r\n\tA\r\n]"),
        ("[A\n,B\n,C]", "last", "[B\n,C]"),
        ("ABCD", "first", "AC"),
        ("A B  C D", "last", "B  D"),
        ("AB\nCD\n", "first", "AC\n"),
    ] {
        for name in ["a.jsonl", "a.json"] {
            let input = spelled(template);
            let found = kept(name, input.as_bytes(), &format!("--keep {keep}"));
            let found = String::from_utf8(found.unwrap()).unwrap();
            assert_eq!(found, spelled(expected), "{name} {template:?} {keep}");
            if template.starts_with('[') {
                assert!(serde_json::from_str::<Value>(&found).unwrap().is_array());
            }
        }
    }
}

/// A text in UTF-16, in two orders of bytes.
fn wide(text: &str, kind: usize) -> Vec<u8> {
    let units = text.encode_utf16();
    match kind {
        0 => units.flat_map(u16::to_le_bytes).collect(),
        _ => units.flat_map(u16::to_be_bytes).collect(),
    }
}

#[test]
fn wide_encodings_stay() {
    for (kind, mark, template, expected, more) in [
        (0, "\u{feff}", "A\nB\nC\n", "A\nC\n", ""),
        (
            1,
            "\u{feff}",
            "A\r\nB\r\nC\r\n",
            "B\r\nC\r\n",
            "--keep last",
        ),
        (1, "\u{feff}", "[A, B, C, D]\n", "[A, C]\n", ""),
        (1, "", "A\nB\nC\nD", "A\nC", ""),
        (0, "", "A\nB\n", "A\n", ""),
    ] {
        let of = |text: &str| wide(&format!("{mark}{}", spelled(text)), kind);
        let (_place, place) = place(&[
            ("in/a.json", &of(template)),
            ("in/b.txt", &of("other words")),
        ]);
        dedup(&place, &format!("in -o kept --removed removed {more}"));
        let found = fs::read(place.join("kept/a.json")).unwrap();
        assert_eq!(found, of(expected), "{kind} {template:?}");
        let removed = fs::read(place.join("removed/a.json")).unwrap();
        let begun = &wide(&format!("{mark}{{"), kind)[..];
        assert!(
            removed.starts_with(begun),
            "{kind} {}",
            removed.escape_ascii()
        );
        // Both files together have the records of the input.
        let lengths = of("").len() + wide("\n\n\n\n", kind).len();
        assert!(found.len() + removed.len() <= of(template).len() + lengths);
    }
}

/// Bytes that are not text in the encoding are also copied unchanged.
#[test]
fn broken_wide_encodings_stay() {
    let of = |text: &str| wide(&spelled(text), 0);
    let odd = [
        wide("{\"id\":\"5\",\"text\":\"zeta ", 0),
        vec![0, 0xd8],
        wide("\"}\n", 0),
    ]
    .concat();
    let input = [of("\u{feff}A\nB\n"), odd.clone(), b"x".to_vec()].concat();
    let expected = [of("\u{feff}A\n"), odd, b"x".to_vec()].concat();
    let found = kept("a.jsonl", &input, "").unwrap();
    assert_eq!(found, expected, "{}", found.escape_ascii());
    let packed = kept("a.jsonl.gz", &gzip(&input), "").unwrap();
    assert_eq!(members(&packed).concat(), expected);
}

/// What is around elements is in both directories, which are read again like the input.
#[test]
fn elements_in_their_root() {
    let element = |id: u8, text: &str| format!("<p id='{id}'><t>{text}</t></p>");
    let [a, b, c] = [
        (1, "one tw\u{f3}"),
        (2, "One, &#116;w\u{f3}!"),
        (3, "three"),
    ]
    .map(|(id, text)| element(id, text));
    let file = |inside: &str| {
        let text = format!("<?xml version='1.0' encoding='iso-8859-1'?>\n<r>\n{inside}</r>\n");
        text.chars().map(|c| c as u8).collect::<Vec<u8>>()
    };
    let input = file(&format!("  {a}\n  <x/>\n  {b}\n  {c}\n"));
    let (_place, place) = place(&[("in/a.xml", &input)]);
    dedup(
        &place,
        "in -o kept --removed removed --record p --id-field @id",
    );
    let written = |name: &str| fs::read(place.join(name).join("a.xml")).unwrap();
    assert_eq!(written("kept"), file(&format!("  {a}\n  <x/>\n  {c}\n")));
    assert_eq!(written("removed"), file(&format!("  <x/>\n  {b}\n")));
    let again = dedup(&place, "kept removed -o again --record p --id-field @id");
    assert_eq!(again["documents"], 3);
}

/// An array without its elements is an array, and lines without records are an empty file.
#[test]
fn nothing_is_left() {
    for template in [
        "[A,B]",
        "[A, B, C, D]\n",
        "[\n  A,\n  B\n]\n",
        "[\n  A\n, B\n, C\n, D\n]",
    ] {
        let found = kept("a.json", spelled(template).as_bytes(), "--rule none").unwrap();
        let found: Value = serde_json::from_slice(&found).unwrap();
        assert_eq!(found, serde_json::json!([]), "{template:?}");
    }
    for template in ["A\nB\n", "A\r\nB\r\nC\r\nD\r\n", "AB"] {
        let found = kept("a.jsonl", spelled(template).as_bytes(), "--rule none").unwrap();
        assert_eq!(found, b"", "{template:?}");
    }
}

/// What is left of a record whose middle is damaged does not become a part of another one.
#[test]
fn damaged_members_are_left_out() {
    let gzip = |text: &str| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    };
    let cut = r#"{"id":"9","text":"cut"#;
    let mut damaged = gzip("\"}\nB\n{\"text\":\"");
    let crc = damaged.len() - 8;
    damaged[crc] ^= 1;
    let [start, end] = [format!("A\n{cut}"), "rest\"}\nC\nD\n".into()].map(|text| spelled(&text));
    let bytes = [gzip(&start), damaged, gzip(&end)].concat();
    let found = kept("a.jsonl.gz", &bytes, "").unwrap();
    let mut text = String::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(&found[..]);
    decoder.read_to_string(&mut text).unwrap();
    assert_eq!(text, format!("{start}\n{}", spelled("rest\"}\nC\n")));
}

/// Records that are longer than any buffer, with separators anywhere in one.
#[test]
fn long_records() {
    let long = |name: &str, length: usize, word: &str| {
        let text = format!("{word} ").repeat(length / (word.len() + 1));
        format!("{{\"id\":\"{name}\",\"text\":\"{text}\"}}")
    };
    let (a, b) = (long("1", 700_000, "one"), long("2", 700_003, "four"));
    let (c, d) = (long("3", 262_100, "two"), long("4", 10, "three"));
    let input = [
        &a[..],
        "\n",
        &c,
        "\n",
        &a.replace("\"1\"", "\"5\""),
        "\n",
        &d,
        "\n",
        &b,
        "\n",
    ]
    .concat();
    let expected = [&a[..], "\n", &c, "\n", &d, "\n", &b, "\n"].concat();
    let found = kept("a.jsonl", input.as_bytes(), "").unwrap();
    assert!(
        found == expected.as_bytes(),
        "{} bytes of {}",
        found.len(),
        expected.len()
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// As `compress` writes it, with a code for each byte. The table is emptied before its codes need a
/// tenth bit, at the end of a group of eight codes.
fn compress(bytes: &[u8]) -> Vec<u8> {
    let chunks = bytes
        .chunks(239)
        .map(|chunk| chunk.iter().map(|&byte| u32::from(byte)));
    let mut codes: Vec<u32> = Vec::new();
    for chunk in chunks {
        if !codes.is_empty() {
            codes.push(256);
        }
        codes.extend(chunk);
    }
    let (mut out, mut bits, mut held) = (vec![0x1f, 0x9d, 0x90], 0u32, 0);
    for code in codes {
        bits |= code << held;
        held += 9;
        while held >= 8 {
            out.push(bits as u8);
            (bits, held) = (bits >> 8, held - 8);
        }
    }
    if held > 0 {
        out.push(bits as u8);
    }
    out
}

#[test]
fn every_compression() {
    let input = spelled("A\nB\nC\nD\n").repeat(3);
    let expected = spelled("A\nC\n");
    let half = input.len() / 2 + 3;
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(input.as_bytes()).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(input.as_bytes()).unwrap();
    // The second member begins within a record.
    let members = [
        gzip(&input.as_bytes()[..half]),
        gzip(&input.as_bytes()[half..]),
    ]
    .concat();
    let cases: [(&str, Vec<u8>); 6] = [
        ("a.jsonl.gz", gzip(input.as_bytes())),
        ("b.jsonl.gz", members),
        (
            "a.jsonl.zst",
            zstd::encode_all(input.as_bytes(), 1).unwrap(),
        ),
        ("a.jsonl.bz2", bzip2.finish().unwrap()),
        ("a.jsonl.xz", xz.finish().unwrap()),
        ("a.jsonl.Z", compress(input.as_bytes())),
    ];
    for (name, bytes) in cases {
        let (_place, place) = place(&[(&format!("in/{name}"), &bytes)]);
        let summary = dedup(&place, "in -o kept --removed removed");
        assert_eq!(summary["documents"], 12, "{name}");
        let (kept, removed) = (
            place.join("kept").join(name),
            place.join("removed").join(name),
        );
        assert_eq!(fs::read(&kept).unwrap()[..2], bytes[..2], "{name}");
        let of = |path: &Path| -> Vec<u8> {
            let all = records(path, 0)
                .into_iter()
                .map(|record| [record.bytes, b"\n".to_vec()].concat());
            all.collect::<Vec<_>>().concat()
        };
        assert_eq!(String::from_utf8(of(&kept)).unwrap(), expected, "{name}");
        assert_eq!(of(&removed).len(), input.len() - expected.len(), "{name}");
        if let Some(bytes) = content(&kept) {
            assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{name}");
        }
    }
}

/// A capture: a request, a response with some words, and metadata.
fn capture(number: usize, words: &str) -> Vec<Vec<u8>> {
    let id = |kind: &str| format!("<urn:uuid:{kind}-{number}>");
    let record = |kind: &str, more: String, block: String| {
        let length = block.len();
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {}\r\n\
             WARC-Date: 2020-01-0{number}T00:00:00Z\r\n{more}Content-Length: {length}\r\n\r\n{block}\r\n\r\n",
            id(kind)
        )
        .into_bytes()
    };
    let url = format!("WARC-Target-URI: http://example.org/{number}\r\n");
    let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{words}");
    let to = format!("WARC-Concurrent-To: {}\r\n", id("response"));
    vec![
        record(
            "request",
            format!("{url}{to}"),
            "GET / HTTP/1.1\r\n\r\n".into(),
        ),
        record(
            "response",
            format!("{url}Content-Type: application/http; msgtype=response\r\n"),
            page,
        ),
        record(
            "metadata",
            format!("{to}Content-Type: text/plain\r\n"),
            "fetchTimeMs: 5".into(),
        ),
    ]
}

/// Members of a gzip file, each decompressed on its own.
pub fn members(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut members = Vec::new();
    while !bytes.is_empty() {
        let mut decoder = flate2::bufread::GzDecoder::new(bytes);
        let mut member = Vec::new();
        decoder.read_to_end(&mut member).unwrap();
        bytes = decoder.into_inner();
        members.push(member);
    }
    members
}

/// A request and metadata go with their response; `warcinfo` and the rest stay.
#[test]
fn captures_of_a_web_archive() {
    let info = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:i>\r\n\
                 Content-Length: 3\r\n\r\na:b\r\n\r\n"
        .to_vec();
    let captures = [
        capture(1, "one two three"),
        capture(2, "four five"),
        capture(3, "One, two. Three"),
    ];
    let all: Vec<Vec<u8>> = [&[info.clone()][..], &captures.concat()].concat();
    let kept: Vec<Vec<u8>> = [&[info][..], &captures[..2].concat()].concat();
    let packed: Vec<u8> = all.iter().flat_map(|record| gzip(record)).collect();
    let (_place, place) = place(&[("in/a.warc.gz", &packed), ("in/z/b.warc", &all.concat())]);
    let summary = dedup(&place, "in/a.warc.gz -o kept --removed removed");
    assert_eq!(
        (&summary["kept"], &summary["companions"]),
        (&2.into(), &2.into()),
        "{summary}"
    );
    assert!(members(&fs::read(place.join("kept/a.warc.gz")).unwrap()) == kept);
    let text = |all: &[Vec<u8>]| -> Vec<String> {
        all.iter()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect()
    };
    let removed = members(&fs::read(place.join("removed/a.warc.gz")).unwrap());
    assert_eq!(text(&removed), text(&captures[2]));
    dedup(&place, "in/z/b.warc -o plain --removed plain-removed");
    assert!(fs::read(place.join("plain/b.warc")).unwrap() == kept.concat());
    assert!(fs::read(place.join("plain-removed/b.warc")).unwrap() == captures[2].concat());
    // Of what has no duplicate in its own file, the first file is kept whole.
    dedup(&place, "in -o both --removed both-removed");
    assert!(members(&fs::read(place.join("both/a.warc.gz")).unwrap()) == kept);
    let left = fs::read(place.join("both/z/b.warc")).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&left),
        String::from_utf8_lossy(&all[0])
    );
}

/// A second annotation replaces the first, and is that of its own run.
#[test]
fn records_are_annotated_again_in_place() {
    for template in ["A\nB\nC\nD\n", "[\n  A,\n  B,\n  C\n]\n", "ABCD"] {
        let input = spelled(template);
        let (_place, place) = place(&[("in/a.json", input.as_bytes())]);
        let of =
            |directory: &str| fs::read_to_string(place.join(directory).join("a.json")).unwrap();
        dedup(&place, "in -o once --annotate");
        dedup(&place, "once -o twice --annotate");
        assert_eq!(of("twice"), of("once"), "{template:?}");
        dedup(&place, "once -o last --annotate --keep last");
        let marks = |text: &str, mark: &str| text.matches(mark).count();
        let (once, last) = (of("once"), of("last"));
        assert_eq!(marks(&once, "\"lookalike\""), marks(&last, "\"lookalike\""));
        assert_eq!(marks(&once, "\"kept\":true"), marks(&last, "\"kept\":true"));
        assert_ne!(once, last, "{template:?}");
        // Without the annotations nothing has changed.
        let plain = |text: &str| {
            let mut out = String::new();
            for (number, part) in text.split(",\"lookalike\":").enumerate() {
                let end = match number {
                    0 => 0,
                    _ => part.find("}").map_or(0, |end| end + 1),
                };
                let nested = number > 0 && part[..end].contains("\"survivor\":{");
                let end = match nested {
                    true => end + part[end..].find('}').unwrap() + 1,
                    false => end,
                };
                out.push_str(&part[end..]);
            }
            out
        };
        assert_eq!(plain(&once), input);
        assert_eq!(plain(&last), input);
    }
    // A name that the object gave itself is replaced, too, and the first of two.
    let own = "{\"lookalike\": \"mine\", \"id\":1,\"text\":\"one two\",\"lookalike\":2}\n";
    let (_place, place) = place(&[("in/a.jsonl", own.as_bytes())]);
    dedup(&place, "in -o kept --annotate");
    let text = fs::read_to_string(place.join("kept/a.jsonl")).unwrap();
    assert_eq!(
        text,
        "{\"lookalike\": {\"cluster\":null,\"cluster_size\":1,\"survivor\":null,\"resemblance\":null,\"kept\":true}, \"id\":1,\"text\":\"one two\"}\n"
    );
}

#[test]
fn trec_documents_with_comments_between_them() {
    let doc = |n: usize, text: &str| {
        format!("<DOC>\n<DOCNO> T-{n} </DOCNO>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n")
    };
    let (a, b, c) = (
        doc(1, "one two three"),
        doc(2, "One; two; three"),
        doc(3, "four five six"),
    );
    let input = format!("{a}<!-- about 2 -->\n{b}<!-- about 3 -->\n{c}<!-- end -->\n");
    let expected = format!("{a}<!-- about 2 -->\n<!-- about 3 -->\n{c}<!-- end -->\n");
    let found = kept("a.trec", input.as_bytes(), "").unwrap();
    assert_eq!(String::from_utf8(found).unwrap(), expected);
}

#[test]
fn a_mailbox() {
    let mail = |n: usize, text: &str| {
        format!(
            "From a@example.org Mon Jan  5 10:00:0{n} 2004\nFrom: a@example.org\nMessage-ID: <{n}@x>\n\
             Subject: s\n\n{text}\n>From quoted\n\n"
        )
    };
    let (a, b, c) = (
        mail(1, "one two three"),
        mail(2, "one, two, three"),
        mail(3, "four"),
    );
    for (input, expected) in [([&a, &b, &c], [&a, &c]), ([&a, &c, &b], [&a, &c])] {
        let input: String = input.iter().map(|mail| &mail[..]).collect();
        let expected: String = expected.iter().map(|mail| &mail[..]).collect();
        let found = kept("a.mbox", input.as_bytes(), "").unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }
}

/// A file that is one document is there as it is, or not at all.
#[test]
fn files_that_are_documents() {
    let (_place, place) = place(&[
        ("in/a.txt", b"one two three"),
        ("in/b/c.txt", b"One two, three"),
        ("in/b/d.html", b"<p>One<p>two three</p>\n"),
        ("in/e.txt", b"four"),
        ("in/f.txt.gz", &gzip(b"Four.")),
        ("in/picture.gif", b"GIF89a\0\0\0\0"),
        ("in/empty.txt", b""),
    ]);
    dedup(&place, "in -o kept --removed removed");
    let (input, kept) = (written(&place.join("in")), written(&place.join("kept")));
    let names: Vec<&str> = kept.keys().map(String::as_str).collect();
    assert_eq!(names, ["a.txt", "e.txt", "empty.txt", "picture.gif"]);
    assert!(kept.iter().all(|(name, bytes)| input[name] == *bytes));
    let removed = written(&place.join("removed"));
    let names: Vec<&str> = removed.keys().map(String::as_str).collect();
    assert_eq!(names, ["b/c.txt", "b/d.html", "f.txt.gz", "removed.jsonl"]);
    for name in ["b/c.txt", "b/d.html", "f.txt.gz"] {
        let of = |directory: &str| content(&place.join(directory).join(name)).unwrap();
        assert_eq!(of("removed"), of("in"), "{name}");
    }
}

/// A segment may end between the rejected records at the beginning of a file and its documents.
#[test]
fn rejected_records_of_every_segment_are_dropped() {
    for length in (20..400).step_by(20) {
        let (_place, place) = place(&[]);
        let mut names = Vec::new();
        for file in 0..6 {
            let note = "x".repeat(length + 30 * file);
            let words: Vec<String> = (0..60).map(|word| format!("w{file}x{word}")).collect();
            let text = words.join(" ");
            let lines = format!(
                "{{\"note\":\"{note}\"}}\n{{\"note\":\"{note}\"}}\n{{\"id\":1,\"text\":\"{text}\"}}\n"
            );
            names.push(format!("in/{file}.jsonl"));
            let path = place.join(&names[file]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, lines).unwrap();
        }
        let summary = dedup(&place, "in -o kept --rejects drop --segment-size 1KiB");
        assert_eq!(summary["rejected_dropped"], 12, "{summary}");
        for (name, content) in written(&place.join("kept")) {
            assert!(content.starts_with(b"{\"id\""), "{length}, {name}");
        }
    }
}

#[test]
fn rejected_records_stay_unless_they_are_dropped() {
    let doc = "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>one two</TEXT>\n</DOC>\n";
    let trec = format!("{doc}stray bytes\n{}", doc.replace('1', "2"));
    let files: [(&str, &[u8]); 3] = [
        ("in/a.jsonl", b"{\"id\":1,\"text\":\"x y\"}\n{\"id\":2}\nnothing\n{\"id\":3,\"text\":\"x y\"}\n{\"id\":4}\n"),
        ("in/b.trec", trec.as_bytes()),
        ("in/c.gif", b"GIF89a\0\0\0\0"),
    ];
    let (_place, place) = place(&files);
    let summary = dedup(&place, "in -o kept");
    assert_eq!(
        (&summary["rejected"], &summary["rejected_dropped"]),
        (&5.into(), &0.into())
    );
    let kept = written(&place.join("kept"));
    let text = |name: &str| String::from_utf8(kept[name].clone()).unwrap();
    assert_eq!(
        text("a.jsonl"),
        "{\"id\":1,\"text\":\"x y\"}\n{\"id\":2}\nnothing\n{\"id\":4}\n"
    );
    assert_eq!(text("b.trec"), format!("{doc}stray bytes\n"));
    assert_eq!(kept["c.gif"], files[2].1);

    let summary = dedup(&place, "in -o fewer --rejects drop --removed dropped");
    assert_eq!(summary["rejected_dropped"], 4, "{summary}");
    let fewer = written(&place.join("fewer"));
    assert_eq!(fewer["a.jsonl"], b"{\"id\":1,\"text\":\"x y\"}\n");
    assert_eq!(fewer["b.trec"], doc.as_bytes());
    // A file in which there are no records at all stays.
    assert_eq!(fewer["c.gif"], files[2].1);
    let dropped = fs::read_to_string(place.join("dropped/a.jsonl")).unwrap();
    assert_eq!(
        dropped,
        "{\"id\":2}\nnothing\n{\"id\":3,\"text\":\"x y\"}\n{\"id\":4}\n"
    );
    assert_eq!(lines(&place.join("dropped/removed.jsonl")).len(), 2);
}

/// Whatever a file has for damage: what is rejected of it stays.
#[test]
fn damaged_files() {
    let (_place, place) = place(&[]);
    copy_directory(&sample_corpora("broken"), &place.join("in"));
    // So that every file loses a document.
    fs::create_dir(place.join("in/0")).unwrap();
    for entry in fs::read_dir(sample_corpora("broken")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), place.join("in/0").join(entry.file_name())).unwrap();
    }
    let summary = dedup(&place, "in -o kept --removed removed");
    assert!(summary["rejected"].as_u64().unwrap() > 20, "{summary}");
    let (all, kept) = (
        records(&place.join("in"), 0),
        records(&place.join("kept"), 0),
    );
    let removed = records(&place.join("removed"), 0);
    for record in all.iter().filter(|record| !record.bytes.is_empty()) {
        let same = |other: &&super::support::Record| {
            other.file == record.file
                && (other.bytes == record.bytes
                    || !record.bytes.is_empty() && other.bytes.starts_with(&record.bytes))
        };
        let found = kept.iter().chain(&removed).any(|other| same(&other));
        assert!(
            found,
            "{} {} {}",
            record.file, record.offset, record.rejected
        );
        if record.rejected {
            assert!(
                kept.iter().any(|other| same(&other)),
                "{} {}",
                record.file,
                record.offset
            );
        }
    }
}
