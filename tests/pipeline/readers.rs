//! Every input format is read as its documentation promises, and no input does harm.
//!
//! The tests on real sample files need a directory of them, named by `LOOKALIKE_CORPORA`; without
//! it they say loudly that they were left out.

use crate::common;
use lookalike::base::budget::ByteSize;
use lookalike::base::progress::Stop;
use lookalike::text::read::{
    Batch, ContentKind, Format, InputFile, Interpreted, Markup, ReadConfig, Reason, RecordKind,
    RecordReader, interpret, list_inputs,
};

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

use proptest::prelude::*;

/// A reader that gives at most so many bytes at a time, in turn.
struct Dribble {
    bytes: Vec<u8>,
    at: usize,
    steps: Vec<usize>,
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

#[derive(Clone, Debug, PartialEq, Eq)]
struct Document {
    docno: String,
    url: Option<String>,
    title: Option<String>,
    content: ContentKind,
    charset: Option<String>,
    body: Vec<u8>,
    unnamed: bool,
    notices: Vec<Reason>,
    /// The details of the notices.
    details: Vec<String>,
    offset: u64,
    length: u64,
}

impl Document {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rejected {
    reason: Reason,
    docno: Option<String>,
    offset: u64,
    length: u64,
    detail: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outcome {
    documents: Vec<Document>,
    skipped: BTreeMap<&'static str, usize>,
    rejected: Vec<Rejected>,
    /// In the order of the file.
    order: String,
}

impl Outcome {
    fn docnos(&self) -> Vec<&str> {
        self.documents
            .iter()
            .map(|document| document.docno.as_str())
            .collect()
    }

    fn reasons(&self) -> Vec<Reason> {
        self.rejected.iter().map(|reject| reject.reason).collect()
    }

    fn notices(&self) -> Vec<Reason> {
        let notices = self.documents.iter().flat_map(|document| &document.notices);
        notices.copied().collect()
    }
}

fn open(input: &InputFile, file: u32, config: &ReadConfig) -> RecordReader {
    RecordReader::open(input, file, config, &Stop::default())
}

fn drain(mut reader: RecordReader, config: &ReadConfig) -> Outcome {
    let mut outcome = Outcome::default();
    let mut batch = Batch::default();
    let mut before = 0;
    loop {
        let records = batch.records.len();
        if !reader.next_into(&mut batch) {
            assert_eq!(
                batch.records.len(),
                records,
                "nothing is appended at the end"
            );
            break;
        }
        assert_eq!(batch.records.len(), records + 1);
        // Several records to a batch, to see that they do not get into each other's way.
        if batch.records.len() == 3 {
            take(&mut batch, &mut outcome, config, &mut before);
        }
    }
    take(&mut batch, &mut outcome, config, &mut before);
    assert!(!reader.next_into(&mut batch), "the end stays the end");
    outcome
}

fn take(batch: &mut Batch, outcome: &mut Outcome, config: &ReadConfig, before: &mut u64) {
    for record in &batch.records {
        assert!(
            record.source.offset >= *before || record.retracts,
            "records are in order and do not overlap"
        );
        *before = record.source.offset;
        let bytes = &batch.bytes[record.bytes.clone()];
        if matches!(record.kind, RecordKind::Rejected(_)) {
            assert!(bytes.is_empty());
        } else {
            assert!(bytes.len() as u64 <= config.max_document.0);
            *before += record.source.length;
        }
        match interpret(record, bytes, config) {
            Interpreted::Document(document) => {
                outcome.order.push('d');
                outcome.documents.push(Document {
                    docno: document.docno.into_owned(),
                    url: document.url.map(|url| url.into_owned()),
                    title: document.title.map(|title| title.into_owned()),
                    content: document.content,
                    charset: document.charset.map(|charset| charset.into_owned()),
                    body: document.body.into_owned(),
                    unnamed: document.unnamed,
                    notices: document.notices.iter().map(|notice| notice.0).collect(),
                    details: (document.notices.iter())
                        .map(|notice| notice.1.clone())
                        .collect(),
                    offset: record.source.offset,
                    length: record.source.length,
                });
            }
            Interpreted::Skipped(kind) => {
                outcome.order.push('s');
                *outcome.skipped.entry(kind).or_default() += 1;
            }
            Interpreted::Rejected(reject) => {
                outcome.order.push('r');
                outcome.rejected.push(Rejected {
                    reason: reject.reason,
                    docno: reject.docno,
                    offset: reject.source.offset,
                    length: reject.source.length,
                    detail: reject.detail,
                });
            }
        }
    }
    batch.clear();
}

fn read_split(name: &str, bytes: &[u8], config: &ReadConfig, steps: &[usize]) -> Outcome {
    let dribble = Dribble {
        bytes: bytes.to_vec(),
        at: 0,
        steps: steps.to_vec(),
        turn: 0,
    };
    drain(RecordReader::from_reader(dribble, name, 0, config), config)
}

fn read_with(name: &str, bytes: &[u8], config: &ReadConfig) -> Outcome {
    let whole = read_split(name, bytes, config, &[usize::MAX]);
    assert_eq!(
        whole,
        read_split(name, bytes, config, &[1, 7, 2]),
        "split reads change nothing"
    );
    whole
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Outcome {
    read_with(name, bytes.as_ref(), &ReadConfig::default())
}

fn forced(format: Format) -> ReadConfig {
    ReadConfig {
        format: Some(format),
        ..ReadConfig::default()
    }
}

fn small(max_document: u64) -> ReadConfig {
    ReadConfig {
        max_document: ByteSize(max_document),
        ..ReadConfig::default()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    // The library's own dependency decompresses; compression comes with it.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|character| !character.is_whitespace())
        .map(|digit| digit.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn trec_web(docno: &str, body: &str) -> String {
    format!(
        "<DOC>\n<DOCNO>{docno}</DOCNO>\n<DOCHDR>\nhttp://x.gov/{docno}\nHTTP/1.0 200 OK\n\
         content-TYPE: text/html; charset=ISO-8859-1\n</DOCHDR>\n{body}\n</DOC>\n"
    )
}

fn warc_with(id: &str, length: Option<usize>, end: &str, block: &str) -> String {
    let length = length.map_or(String::new(), |length| {
        format!("Content-Length: {length}{end}")
    });
    format!(
        "WARC/1.0{end}WARC-Type: response{end}WARC-Record-ID: <urn:uuid:{id}>{end}\
         WARC-Target-URI: http://x.org/{id}{end}{length}{end}{block}"
    )
}

fn http(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"utf-8\"\r\n\r\n{body}")
}

fn warc(id: &str, body: &str) -> String {
    let block = http(body);
    warc_with(id, Some(block.len()), "\r\n", &block) + "\r\n\r\n"
}

fn arc(url: &str, body: &str) -> String {
    let block = http(body);
    format!(
        "{url} 10.1.2.3 20140216050221 text/html {}\n{block}\n",
        block.len()
    )
}

// ---- compression ----

#[test]
fn every_compression_is_told_by_its_content() {
    let text = "one document of plain text\n".repeat(2000);
    let mut files = vec![("gzip", gzip(text.as_bytes()))];
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    files.push(("bzip2", encoder.finish().unwrap()));
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(text.as_bytes()).unwrap();
    files.push(("xz", encoder.finish().unwrap()));
    // Without its checksum, a stream of zstd may be damaged and decode to something else.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text.as_bytes()).unwrap();
    files.push(("zstd", encoder.finish().unwrap()));
    for (name, one) in files {
        let outcome = read("file", &one);
        assert_eq!(outcome.documents[0].text(), text, "{name}");
        let two = [&one[..], &one[..]].concat();
        let outcome = read("file", &two);
        assert_eq!(
            outcome.documents[0].body.len(),
            2 * text.len(),
            "{name}, two streams"
        );
        assert_eq!(outcome.order, "d");
        let outcome = read("file", &one[..one.len() - 9]);
        // A stream of one block gives nothing before that block is whole.
        let expected = [Reason::Truncated, Reason::TruncatedCompression];
        assert!(
            outcome.reasons() == expected || outcome.reasons() == expected[1..],
            "{name}, cut"
        );
        let mut damaged = one.clone();
        for byte in &mut damaged[one.len() / 2..one.len() / 2 + 4] {
            *byte ^= 0x55;
        }
        let outcome = read("file", &damaged);
        assert!(outcome.documents.is_empty(), "{name}, damaged");
        // Where something came out before the damage, the document was cut off by it. Damage to the
        // length of a block looks like a cut.
        let reasons = outcome.reasons();
        let [before @ .., fault] = &reasons[..] else {
            panic!("{name}, damaged")
        };
        assert!(
            matches!(before, [] | [Reason::Truncated]),
            "{name}: {reasons:?}"
        );
        assert!(
            matches!(
                fault,
                Reason::CorruptCompression | Reason::TruncatedCompression
            ),
            "{name}: {reasons:?}"
        );
    }
}

#[test]
fn zstd_skips_skippable_frames_and_limits_the_window() {
    let mut bytes = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    bytes.extend(zstd::encode_all(&b"text"[..], 1).unwrap());
    assert_eq!(read("file", &bytes).documents[0].text(), "text");
    // A frame header that asks for a window of 2 GiB.
    let outcome = read(
        "file",
        [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00],
    );
    assert_eq!(outcome.reasons(), [Reason::DecompressorMemory]);
    let detail = &outcome.rejected[0].detail;
    assert!(
        detail.contains("zstd -dc --long=31 FILE | lookalike run -"),
        "{detail}"
    );
}

#[test]
fn compress_files_of_the_real_tool() {
    let small = unhex("1f9d9061020a1c48b06018");
    assert_eq!(read("x.Z", &small).documents[0].text(), "a".repeat(22));
    // Grows from 9 to 10 bits, with the padding that goes with it.
    let numbers: String = (0..160).map(|i| format!("{},", i * 7919 % 1000)).collect();
    assert_eq!(read("x.Z", unhex(NUMBERS_Z)).documents[0].text(), numbers);
    // `compress -b 10`: the table fills and is cleared.
    let mut cleared = Vec::new();
    flate2::read::GzDecoder::new(&unhex(CLEARED_Z_GZ)[..])
        .read_to_end(&mut cleared)
        .unwrap();
    let mut expected: String = (0..900u32)
        .flat_map(|i| [33 + (i % 90) as u8, 33 + (i * 7 % 90) as u8])
        .map(char::from)
        .collect();
    expected += &"a".repeat(20_000);
    expected += &("a".repeat(49) + "b").repeat(403);
    assert_eq!(read("x.Z", &cleared).documents[0].text(), expected);
    // Damage.
    let outcome = read("x.Z", unhex("1f9d9061020a1c48b0ffff"));
    assert_eq!(
        outcome.reasons(),
        [Reason::Truncated, Reason::CorruptCompression]
    );
    let outcome = read("x.Z", unhex("1f9d9f61"));
    assert_eq!(outcome.reasons(), [Reason::UnsupportedFormat]);
    assert_eq!(read("x.Z", unhex("1f9d90")).reasons(), [Reason::EmptyFile]);
    assert_eq!(
        read("x.Z", unhex("1f9d")).reasons(),
        [Reason::TruncatedCompression]
    );
}

const NUMBERS_Z: &str = "\
    1f9d903058e4889183058e193858dca87183858d1b3658d4c85143620c1a2c68cc98c162460d192c64dc88c18260\
    c018300aca48988346431c3622dec051f1060c8c366470ac4103240d1b241106949143658c84316634ac1131c742\
    832d0d26553803a48d1a241906a481a3200d1809ab3694f1b3e455831839e6900112070d9210033e2c383121d686\
    1a237aac281223418e3162809c4192624098056726b4d93067449e157fa63dd8110648b6242f069c287026d49731\
    647a74c853e20d8e34d6660cdc71c6d0d46613e2682c504645b7182172b481c32a8cac32b6ce28e831a1c8860423\
    06ae380323458eb341de18a810a543a212b9667cd8116665be644b6abc2e104761188709524d787529c48c1457a7\
    dd18f263c9910203165c2bdba5c2980ed1e4d04d12e994514f1d0115120e271555d2511d35445144b3d514d548bb\
    5525115619d9d41d716085249278119d95835bf941c796426f3964c366d3c197d05b0d6d14916d15c57083738081\
    94036106d510104405f1c61e0c4bc910110d34306703462b71141c48829104";
const CLEARED_Z_GZ: &str = "\
    1f8b0800000000000203edc7e93b9b070000703a470e528248ded79592d755b2ccea68b776d96aa8e2d1ae513ada\
    5025540815c7834eb509751575b7d11089a315e4799cdb639921baf18ca9232bc5dcc71ced9c49eccbfe837d9cdf\
    b79ff1f3c7f82fd3bf20cdaac2414262894974201c6169d95ca3249ad5403ad8acb4696d9d52d5c092e8924d5215\
    4c133ac31fff2dda5403f5a9d3d452a32848e5a4dee7817b3f6efda9ae654a2e83713fb98dd426390f635363e650\
    68b41bc522afc94c5dc7c423c791b1cd43e8da7af7ba7adb11507a9f5dbb749dca0856c318fa3e082537cfc3f5ad\
    fd3be2f1ef8335b14ed4ed741289af8a03829925dad1101cb0a035d46c35f33540fb8885b6a1f70b2a06fa8c30c9\
    0c2904664888ad1c17472f228dec12a44b5c9da85be234b8be7d129611d893897360cab0d1b7fb0b2c7d5a927031\
    7706ca9de27664b87ba143556ec5f6c9406cd89b7adf56a61c60de9d10d1c65a92c138fa6467c2ee8e1c8c8f9ae9\
    ced077483148889effa534627422849b4d91d26a5f8d4ac39b062820590dcfd3fa0a4536d376c65079da2e46a966\
    683788cb43bbdb8acd743cec67783a5ee79509bade5fe3ab75af7a92097ad728d46a3d9f805402c6f70eb71a7383\
    2e26e8fb3367aaf56fa62843582a0bcfc706e590215c7011958f0be1a442008dcfe503e10d62088c38414effe361\
    a7efd20d9698e1fa96dd9751f36dc6001736f9f8f7f650ffac8921c964f6bb658b80dc79e58ca927abb8e580fc2d\
    92dbbb825db7da9b85722a7cbae8a344daad12787eff74e9c929884bd7db61e1a340d4229781875c4ec5989f1754\
    deb3a1a89b32ede82155714eac3ed3840b1c735ea2730bdb2cc97d709197ecbde042b8efa310547fe78f81410f82\
    6c43f969b4b232f0d1f7fe7be5ac9f62af1ba44bb2db9e650c56630d33477e887f9e257d336e9833bdeec8c95d50\
    2d35ca5b33dce7e46f9ff1357ebae7d15e51a808c69914aba424bc2841144d9894b5383bd2cbeb38a0a07e75d472\
    b533417a36b2a2630aac111e62acd6ba3280735155af8d0c6a45481fabf5ee52bf730c8134c0a0ae152c5e2195d7\
    962143ea578671f59df1a356c48a762932547880065e76a563ac3faeea07346822c455e0557709c59a2498f0d308\
    6b050a80bf866b8a0ea1fae541787867dc30b0c1691b3d3417eea31077bbd86870b35282915988e05e8888eee22b\
    e0167f9c22b36cc5e522e87de10beb0b754baff7ad3a99830821a7757875b1610f7160ddc542211b2bfbd06b4bcd\
    30f783d3dd459ec826fed895b5e5166ce6818d21f52251fe61c42752fef7788850bef3366e43be3bcd262af6e68a\
    2315fb4b02a1e260ad754371b8d9473c927d188b3c92ef2d0a8f14b2dd8da363ff1f41c4de236afad67d6ca0cc98\
    853d62e38f7bdce31ef7b8ffad4aca4affa2fefc10e7daf8429c06d3b13a6d11c5ed666ba9db67b936555eccc49a\
    7afe2ad19ee9cd3121b20c704fe624b910a9f2b22f83e09e4d74eac85a8e823c1ed947268e4ce49bf73c3b0f3fa1\
    e9971fea51e59237fb4dc7d3654f813a5bad70a5c0caabfe6cd3d4c8a582f0cb42a2b859b73cffa59bc8ac47e91f\
    ab0981c5690b0000";

#[test]
fn records_before_a_cut_are_kept() {
    let text: String = (0..50)
        .map(|i| trec_web(&format!("D{i}"), "<p>text</p>"))
        .collect();
    // Two members, so that the first is surely whole.
    let (first, second) = text.split_at(text.find("<DOCNO>D30<").unwrap());
    let mut bytes = gzip(first.as_bytes());
    let rest = gzip(second.as_bytes());
    bytes.extend(&rest[..rest.len() / 2]);
    let outcome = read("00.gz", &bytes);
    assert!(outcome.documents.len() >= 30);
    let [.., cut, fault] = &outcome.rejected[..] else {
        panic!("{:?}", outcome.rejected)
    };
    assert_eq!(
        (cut.reason, fault.reason),
        (Reason::Truncated, Reason::TruncatedCompression)
    );
    assert!(fault.offset > 0);
    assert!(outcome.order.ends_with("drr"));
}

/// A checksum that does not hold: nothing of the member is a document, and everything else is.
#[test]
fn damaged_members_and_frames_are_left_out() {
    let zstd = |text: &[u8]| {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let stored = |text: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    };
    let words = |n: usize| {
        let words = (0..60).map(|word| format!("w{} ", word * n % 97));
        words.collect::<String>()
    };
    let records: Vec<String> = (1..5).map(|n| warc(&n.to_string(), &words(n))).collect();
    let lines: Vec<String> = (1..5)
        .map(|n| format!("{{\"id\": \"{n}\", \"text\": \"{}\"}}\n", words(n)))
        .collect();
    let trec: Vec<String> = (1..5)
        .map(|n| trec_web(&n.to_string(), &words(n)))
        .collect();
    type Compress<'c> = &'c dyn Fn(&[u8]) -> Vec<u8>;
    let compressors: [Compress<'_>; 3] = [&gzip, &stored, &zstd];
    for (number, compress) in compressors.into_iter().enumerate() {
        for records in [&records, &lines, &trec] {
            let members: Vec<Vec<u8>> = records.iter().map(|r| compress(r.as_bytes())).collect();
            let whole = read("x", members.concat());
            assert_eq!(whole.docnos(), ["1", "2", "3", "4"]);
            // Each byte of the second one, and bytes too many and too few.
            let step = if records[0].starts_with("WARC") {
                1
            } else {
                13
            };
            for at in (0..members[1].len()).step_by(step) {
                let mut flipped = members[1].clone();
                flipped[at] ^= 1 << (at % 8);
                let (front, back) = members[1].split_at(at);
                let longer = [front, b"garbage", back].concat();
                let shorter = [front, &back[back.len().min(5)..]].concat();
                for second in [flipped, longer, shorter] {
                    let bytes = [&members[0][..], &second, &members[2], &members[3]].concat();
                    let outcome = read("x", &bytes);
                    let what = format!("compressor {number}, byte {at}: {outcome:?}");
                    let documents: Vec<_> = whole
                        .documents
                        .iter()
                        .filter(|document| outcome.docnos().contains(&document.docno.as_str()))
                        .map(|document| (&document.docno, &document.body))
                        .collect();
                    let found = outcome.documents.iter();
                    let found: Vec<_> = found.map(|found| (&found.docno, &found.body)).collect();
                    assert_eq!(found, documents, "{what}");
                    for kept in ["1", "3", "4"] {
                        assert!(outcome.docnos().contains(&kept), "{what}");
                    }
                    let all = outcome.documents.len() == 4;
                    assert!(all || outcome.rejected.len() == 1, "{what}");
                }
            }
            // Among many, only that one is lost.
            let mut many = vec![members[0].clone(); 30];
            many[20] = members[1].clone();
            let crc = members[1].len() - if number == 2 { 4 } else { 8 };
            many[20][crc] ^= 1;
            assert_eq!(
                read("x", many.concat()).order,
                format!("{}r{}", "d".repeat(20), "d".repeat(9))
            );
            // The checksum is wrong, and nothing else.
            let mut second = members[1].clone();
            let crc = second.len() - if number == 2 { 4 } else { 8 };
            second[crc] ^= 1;
            let outcome = read("x", [&members[0][..], &second, &members[2]].concat());
            assert_eq!(outcome.order, "drd");
            assert_eq!(outcome.reasons(), [Reason::CorruptCompression]);
            let lost = format!("{} bytes from byte {}", second.len(), members[0].len());
            assert!(outcome.rejected[0].detail.contains(&lost), "{outcome:?}");
            // All of zstd's text comes at the end, which is damaged.
            if number < 2 {
                assert_eq!(outcome.rejected[0].docno.as_deref(), Some("2"));
                let twice = [&second[..], &second, &members[2]].concat();
                assert_eq!(read("x", twice).order, "rrd");
            }
            // The last one, and the only one.
            let outcome = read("x", [&members[0][..], &second].concat());
            assert_eq!(outcome.order, "dr", "{outcome:?}");
            assert_eq!(read("x", &second).reasons(), [Reason::CorruptCompression]);
        }
        // A record in several members: the next certain beginning is found.
        let text = lines.concat() + &lines.concat().replace("\"id\": \"", "\"id\": \"1");
        let mut members: Vec<Vec<u8>> = text.as_bytes().chunks(100).map(compress).collect();
        let crc = members[2].len() - if number == 2 { 4 } else { 8 };
        members[2][crc] ^= 1;
        let outcome = read("x", members.concat());
        assert_eq!(outcome.docnos()[0], "3", "{outcome:?}");
        assert_eq!(outcome.documents.len(), 6);
        assert!(outcome.reasons().contains(&Reason::CorruptCompression));
    }
    // A file of several members that is one document.
    let mut members = [gzip(b"one "), gzip(b"two "), gzip(b"three")];
    members[1][18] ^= 1;
    let outcome = read("x.txt", members.concat());
    assert_eq!(
        outcome.reasons(),
        [Reason::Truncated, Reason::CorruptCompression]
    );
}

/// A member that is too large to hold back: its records were delivered before its checksum was
/// seen, and a reject retracts them.
#[test]
fn records_of_a_large_damaged_member_are_retracted() {
    let line = |n: usize| {
        let text = format!("{n} some words ").repeat(20);
        format!("{{\"id\": \"{n}\", \"text\": \"{text}\"}}\n")
    };
    let large: String = (0..12_000).map(line).collect();
    assert!(large.len() > 3 << 20);
    let mut damaged = gzip(large.as_bytes());
    let crc = damaged.len() - 8;
    damaged[crc] ^= 1;
    let (before, after) = (gzip(b"{\"id\": \"a\", \"text\": \"b\"}\n"), line(20_000));
    let bytes = [&before[..], &damaged, &gzip(after.as_bytes())].concat();
    let config = ReadConfig::default();
    let mut reader = RecordReader::from_reader(std::io::Cursor::new(bytes), "x", 0, &config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    let retracting: Vec<_> = batch
        .records
        .iter()
        .filter(|record| record.retracts)
        .collect();
    let [reject] = retracting[..] else {
        panic!("{retracting:?}");
    };
    let first = batch.records[0].source;
    assert_eq!(reject.source.offset, first.offset + first.length + 1);
    assert_eq!(reject.source.length, large.len() as u64);
    let last = &batch.records[batch.records.len() - 1];
    let last_bytes = &batch.bytes[last.bytes.clone()];
    assert_eq!(last_bytes, after.trim_end().as_bytes());
    // Large, but one record, which was not delivered yet.
    let page = "<p>some words".repeat(300_000);
    let mut damaged = gzip(warc("2", &page).as_bytes());
    let crc = damaged.len() - 8;
    damaged[crc] ^= 1;
    let bytes = [
        &gzip(warc("1", "one").as_bytes())[..],
        &damaged,
        &gzip(warc("3", "three").as_bytes()),
    ];
    let outcome = read_split("x", &bytes.concat(), &config, &[usize::MAX]);
    assert_eq!(outcome.docnos(), ["1", "3"]);
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("2"));
    assert_eq!(outcome.reasons(), [Reason::CorruptCompression; 2]);
}

#[test]
fn the_dictionary_of_a_zstd_archive_is_used() {
    let records: Vec<String> = (0..40)
        .map(|n| {
            warc(
                &n.to_string(),
                &format!("<p>page {n} of some words that are alike</p>"),
            )
        })
        .collect();
    let dictionary = records[..20].concat().into_bytes();
    let mut compressor = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
    let mut frames: Vec<Vec<u8>> = records
        .iter()
        .map(|record| compressor.compress(record.as_bytes()).unwrap())
        .collect();
    let file = |dictionary: &[u8], frames: &[Vec<u8>]| {
        let size = (dictionary.len() as u32).to_le_bytes();
        [
            &[0x5d, 0x2a, 0x4d, 0x18],
            &size[..],
            dictionary,
            &frames.concat(),
        ]
        .concat()
    };
    let compressed = zstd::encode_all(&dictionary[..], 3).unwrap();
    for dictionary in [&dictionary, &compressed] {
        let outcome = read("x.warc.zst", file(dictionary, &frames));
        assert_eq!(outcome.documents.len(), 40);
        assert!(outcome.rejected.is_empty());
        let cut = &file(dictionary, &frames)[..dictionary.len()];
        assert_eq!(read("x", cut).reasons(), [Reason::TruncatedCompression]);
    }
    let damaged = compressed[..compressed.len() / 2].to_vec();
    let outcome = read("x", file(&damaged, &frames));
    assert_eq!(outcome.reasons(), [Reason::CorruptCompression]);
    // A damaged dictionary was called a lack of memory.
    let parsed = [&[0x37, 0xa4, 0x30, 0xec], &[1; 46][..]].concat();
    let outcome = read("x", file(&parsed, &frames));
    assert_eq!(outcome.reasons(), [Reason::CorruptCompression]);
    assert_eq!(
        outcome.rejected[0].detail,
        "zstd: the dictionary of the file"
    );
    // A frame that names another dictionary.
    let other = unhex("28b52ffd 2105 01 090000 78");
    let detail = &read("x.zst", other).rejected[0].detail;
    assert!(detail.contains("each of joined files alone"), "{detail}");
    // Other frames that are to be skipped contain no dictionary.
    frames.truncate(1);
    let mut other = file(&dictionary, &frames);
    other[0] = 0x5e;
    assert!(read("x", other).documents.is_empty());
}

#[test]
fn what_follows_the_last_member() {
    let mut bytes = gzip(b"text");
    bytes.extend([0; 1000]);
    assert_eq!(read("x.gz", &bytes).order, "d");
    bytes.extend(b"garbage");
    let outcome = read("x.gz", &bytes);
    assert_eq!(outcome.order, "dr");
    assert_eq!(outcome.reasons(), [Reason::StrayBytes]);
    assert!(
        outcome.rejected[0].detail.contains("1007 bytes"),
        "{}",
        outcome.rejected[0].detail
    );
    // The first byte of a magic number is not a member.
    let mut bytes = gzip(b"text");
    bytes.extend([0x1f, 0]);
    assert_eq!(read("x.gz", &bytes).reasons(), [Reason::StrayBytes]);
}

#[test]
fn bombs_are_left_alone() {
    let config = ReadConfig {
        max_ratio: 100,
        ..ReadConfig::default()
    };
    let bomb = gzip(&vec![b'a'; 40 << 20]);
    let outcome = read_split("x.gz", &bomb, &config, &[usize::MAX]);
    assert_eq!(
        outcome.reasons(),
        [Reason::Truncated, Reason::DecompressionBomb]
    );
    // Below the free bytes nothing is a bomb.
    let outcome = read_split("x.gz", &gzip(&vec![b'a'; 10 << 20]), &config, &[usize::MAX]);
    assert_eq!(outcome.order, "d");
    // In an HTTP body.
    let body = gzip(&vec![b'a'; 20 << 20]);
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let mut bytes = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nContent-Length: \
         {}\r\n\r\n{head}",
        head.len() + body.len()
    )
    .into_bytes();
    bytes.extend(&body);
    let outcome = read_split("x.warc", &bytes, &config, &[usize::MAX]);
    assert_eq!(outcome.reasons(), [Reason::DecompressionBomb]);
    let outcome = read_split("x.warc", &bytes, &small(1 << 20), &[usize::MAX]);
    assert_eq!(outcome.reasons(), [Reason::TooLarge]);
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("1"));
}

#[test]
fn one_layer_of_compression_is_undone() {
    let outcome = read("x.gz", gzip(&gzip(b"text")));
    assert_eq!(outcome.reasons(), [Reason::UnsupportedFormat]);
    assert!(outcome.rejected[0].detail.starts_with("gzip inside gzip"));
}

// ---- TREC ----

#[test]
fn trec_web_documents() {
    let text = trec_web("GX1-2", "<html>one</html>") + &trec_web(" GX1-3 ", "two <DOC> words");
    let outcome = read("00", &text);
    assert_eq!(outcome.docnos(), ["GX1-2", "GX1-3"]);
    let first = &outcome.documents[0];
    assert_eq!(first.url.as_deref(), Some("http://x.gov/GX1-2"));
    assert_eq!(first.charset.as_deref(), Some("ISO-8859-1"));
    assert_eq!(
        (first.content, first.text()),
        (ContentKind::Markup, "<html>one</html>\n".into())
    );
    assert_eq!(outcome.documents[1].text(), "two <DOC> words\n");
    let crlf = read("00", text.replace('\n', "\r\n"));
    assert_eq!(crlf.docnos(), ["GX1-2", "GX1-3"]);
    assert_eq!(crlf.documents[0].text(), "<html>one</html>\r\n");
    assert_eq!(crlf.documents[0].charset.as_deref(), Some("ISO-8859-1"));
}

#[test]
fn trec_web_bodies_are_judged_by_their_bytes() {
    let page =
        |mime: &str, body: &str| trec_web("A", body).replace("text/html; charset=ISO-8859-1", mime);
    let text = read("00", page("application/pdf", "Text out of a PDF file."));
    assert_eq!(text.documents[0].content, ContentKind::Text);
    let pdf = read("00", page("application/pdf", "%PDF-1.4 \u{1}\u{2}"));
    assert_eq!(pdf.reasons(), [Reason::NotText]);
    let nul = read("00", page("text/html", &"\0\u{1}ab".repeat(40)));
    assert_eq!(nul.reasons(), [Reason::NotText]);
    let plain = read("00", page("text/plain", "a < b"));
    assert_eq!(plain.documents[0].content, ContentKind::Text);
    let error_page = read("00", page("image/gif", "<html>not found"));
    assert_eq!(error_page.documents[0].content, ContentKind::Markup);
}

#[test]
fn trec_web_first_line_as_in_an_arc_file() {
    let text = trec_web("WTX001-B01-1", "x").replace(
        "http://x.gov/WTX001-B01-1",
        "http://a.b:80/ 206.1.2.3 19970101012345 text/html 9",
    );
    assert_eq!(
        read("B01", text).documents[0].url.as_deref(),
        Some("http://a.b:80/")
    );
}

#[test]
fn trec_documents_that_are_not_closed() {
    let open = trec_web("A", "open").replace("</DOC>\n", "");
    let outcome = read("00", open.clone() + &trec_web("B", "closed") + &open);
    assert_eq!(outcome.docnos(), ["B"]);
    assert_eq!(outcome.reasons(), [Reason::NotClosed, Reason::Truncated]);
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("A"));
    assert_eq!(outcome.rejected[0].length, open.len() as u64);
    assert_eq!(outcome.order, "rdr");
}

#[test]
fn trec_documents_without_docno_and_stray_bytes() {
    let nameless = "<DOC>\nX </DOCNO>\n<DOCHDR>\nu\n</DOCHDR>\nx\n</DOC>\n";
    let text = format!(
        "<!-- a comment, <DOC> and all -->\n{nameless}stray\n{}<!-- open\n{}",
        trec_web("B", "b"),
        trec_web("C", "c")
    );
    let outcome = read("00", text);
    assert_eq!(outcome.docnos(), ["00:1", "B", "C"]);
    assert_eq!(outcome.reasons(), [Reason::StrayBytes, Reason::StrayBytes]);
    assert_eq!(outcome.order, "drdrd");
}

#[test]
fn records_too_large_do_not_stop_the_next() {
    let big = "x".repeat(5000);
    let outcome = read_with(
        "00",
        (trec_web("A", "a") + &trec_web("B", &big) + &trec_web("C", "c")).as_bytes(),
        &small(1000),
    );
    assert_eq!(outcome.docnos(), ["A", "C"]);
    assert_eq!(outcome.reasons(), [Reason::TooLarge]);
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("B"));
    let outcome = read_with(
        "x.warc",
        (warc("A", "a") + &warc("B", &big) + &warc("C", "c")).as_bytes(),
        &small(1000),
    );
    assert_eq!(outcome.docnos(), ["A", "C"]);
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("B"));
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let outcome = read_with(
        "x.jsonl",
        (line("A", "a") + &line("B", &big) + &line("C", "c")).as_bytes(),
        &small(1000),
    );
    assert_eq!(outcome.docnos(), ["A", "C"]);
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("B"));
    let outcome = read_with("x.txt", big.as_bytes(), &small(1000));
    assert_eq!(outcome.reasons(), [Reason::TooLarge]);
    assert_eq!(outcome.rejected[0].length, 5000);
}

#[test]
fn trec_sgml_documents() {
    let text = "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<PROFILE>_AN</PROFILE>\n<DATE>910101\n</DATE>\n\
                <HEADLINE>\nFT 01 JAN 91 / Head\n</HEADLINE>\n<TEXT>\nBody <P>text</P>\n\
                <GRAPHIC>a graph</GRAPHIC></TEXT>\n<GRAPHIC>beside</GRAPHIC>\n<PUB>FT</PUB>\n\
                </DOC>\n<DOC id=\"doc2\">\n<text>two</text>\n</DOC>\n<DOC>\n<DOCNO>3</DOCNO>\n\
                <title>A title</title>\nand <b>text</b> beside it\n<DATE>1</DATE>end\n</DOC>\n";
    let outcome = read("ft", text);
    assert_eq!(outcome.docnos(), ["FT-1", "doc2", "3"]);
    let first = outcome.documents[0].text();
    assert!(
        first.contains("Head\n") && first.contains("a graph"),
        "{first}"
    );
    assert!(
        !first.contains("910101") && !first.contains("beside"),
        "{first}"
    );
    assert_eq!(outcome.documents[1].text(), "two");
    let third = outcome.documents[2].text();
    assert!(third.contains("A title") && third.contains("beside it") && third.contains("end"));
    assert!(!third.contains('1'), "{third}");
}

/// Many documents never become one in silence.
#[test]
fn bundles_in_any_case_and_inside_elements() {
    let wiki = "<doc id=\"12\" url=\"https://w.example/?curid=12&amp;x\" title=\"The \"Best\" A\">\nThe Best A\n\n\
                words &amp; more\n\n</doc>\n<doc id=\"13\" url=\"u\" title=\"B\">\nB\n\nwords\n</doc>\n";
    let outcome = read("wiki_00", wiki);
    assert_eq!(outcome.docnos(), ["12", "13"]);
    let first = &outcome.documents[0];
    assert_eq!(first.url.as_deref(), Some("https://w.example/?curid=12&x"));
    assert_eq!(first.title.as_deref(), Some("The \"Best\" A"));
    assert_eq!(first.text().trim(), "The Best A\n\nwords &amp; more");

    let upper = "<DOC>\n<DOCNO>A-1</DOCNO>\n<TEXT>\none\n</TEXT>\n</DOC>\n\
                 <DOC>\n<DOCNO>A-2</DOCNO>\n<TEXT>\ntwo\n</TEXT>\n</DOC>\n";
    let mixed = upper.replace("<DOC>", "<Doc>").replace("</DOC>", "</Doc>");
    let lower = upper.to_ascii_lowercase();
    let other_end = upper.replace("</DOC>", "</doc>");
    for text in [upper, &mixed, &lower, &other_end] {
        for (before, after) in [
            ("", ""),
            ("\u{feff}", ""),
            ("<ROOT>\n", "</ROOT>\n"),
            (
                "<?xml version=\"1.0\"?>\n<corpus lang=\"en\">\n<docs>",
                "</docs></corpus >\n",
            ),
            (
                "<!DOCTYPE x [<!ELEMENT doc (#PCDATA)> ]>\n<!-- c --><add>",
                "</ADD>",
            ),
        ] {
            let all = format!("{before}{text}{after}");
            // Two such files, one after the other.
            let twice = match text == other_end {
                true => all.clone(),
                false => all.repeat(2).replace("\n\u{feff}", "\n"),
            };
            for all in [all, twice] {
                for format in [None, Some(Format::TrecSgml)] {
                    let config = ReadConfig {
                        format,
                        ..ReadConfig::default()
                    };
                    let outcome = read_with("x.xml", all.as_bytes(), &config);
                    let times = outcome.documents.len() / 2;
                    let names = ["A-1", "A-2"].map(|name| match text {
                        text if text == lower => name.to_ascii_lowercase(),
                        _ => name.into(),
                    });
                    let names = names.iter().map(String::as_str).cycle().take(2 * times);
                    assert_eq!(outcome.docnos(), names.collect::<Vec<_>>(), "{all}");
                    assert_eq!(outcome.order, "dd".repeat(times), "{all}");
                    assert!(times > 0);
                    assert_eq!(outcome.documents[1].text().trim(), "two");
                }
            }
        }
    }
    // A web page may contain the tag in another case.
    let page = trec_web("A", "a <doc> b </doc> c") + &trec_web("B", "b");
    let outcome = read("00", page);
    assert_eq!(
        (outcome.docnos(), outcome.order.as_str()),
        (vec!["A", "B"], "dd")
    );
    assert!(outcome.documents[0].text().contains("</doc> c"));
    // Documents in several spellings; of those that are not closed, each is told.
    let several = format!("{lower}{upper}<Doc>\n<docno>x</docno>\nx\n</doc>\n{lower}");
    let outcome = read("x", several);
    assert_eq!(
        outcome.docnos(),
        ["a-1", "a-2", "A-1", "A-2", "x", "a-1", "a-2"]
    );
    let open = upper.replacen("</DOC>", "", 1).to_ascii_lowercase();
    let outcome = read("x", format!("{open}<DOC>\n</doc>\n<doc>\n</doc>\n"));
    assert_eq!(outcome.reasons()[0], Reason::NotClosed);
    // Two documents in another spelling are not taken for one.
    let outcome = read(
        "x",
        format!("{upper}<DOC>\na\n</doc>\n<doc>\nb\n</doc>\n{upper}"),
    );
    assert_eq!(outcome.docnos(), ["A-1", "A-2", "A-1", "A-2"]);
    assert_eq!(outcome.reasons(), [Reason::NotClosed]);
    // Solr.
    let solr = "<add>\n<doc>\n<field name=\"id\">s1</field>\n<field name=\"title\">Head</field>\n\
                <field name=\"text\">words</field>\n<field name=\"url\">u</field>\n</doc>\n\
                <doc><field name=\"id\">s2</field><field name=\"text\">two</field></doc>\n</add>\n";
    let outcome = read("solr.xml", solr);
    assert_eq!(
        (outcome.docnos(), outcome.order.as_str()),
        (vec!["s1", "s2"], "dd")
    );
    assert_eq!(outcome.documents[0].text(), "Head\nwords");
    // TREC web.
    let web = trec_web("A", "a").to_ascii_lowercase();
    let outcome = read("00", web.clone() + &web);
    assert_eq!(
        (outcome.docnos(), outcome.order.as_str()),
        (vec!["a", "a"], "dd")
    );
    assert!(outcome.documents[0].url.is_some());
}

/// Files that begin with the tag but are one document.
#[test]
fn single_documents_of_xml_are_no_bundles() {
    for text in [
        "<?xml version=\"1.0\"?>\n<doc>\n<assembly><name>A</name></assembly>\n<members></members>\n</doc>\n",
        "<doc><title>t</title><p>words</p></doc>",
        "<html><doc id=\"1\">a</doc><doc id=\"2\">b</doc></html>",
        "<document>a</document><document>b</document>",
        "<docs/>\n<doc>a</doc>",
    ] {
        let outcome = read("a.xml", text);
        assert_eq!(outcome.docnos(), ["a.xml"]);
        assert_eq!(outcome.documents[0].text(), text);
    }
}

#[test]
fn reuters_documents() {
    let text = "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n<REUTERS TOPICS=\"NO\" OLDID=\"5\" \
                NEWID=\"17\">\n<DATE>1987</DATE>\n<TEXT>&#2;\n<TITLE>T &lt;X></TITLE>\
                <DATELINE>NY, </DATELINE><BODY>Story.\n&#3;</BODY></TEXT>\n</REUTERS>\n\
                <REUTERS NEWID='18'>\n<TEXT TYPE=\"BRIEF\">&#2;\nAll of it\n</TEXT>\n</REUTERS>\n\
                <REUTERS OLDID=\"1\"><TEXT>x</TEXT></REUTERS>";
    let outcome = read("reut2-000.sgm", text);
    assert_eq!(outcome.docnos(), ["17", "18", "reut2-000.sgm:3"]);
    assert_eq!(outcome.documents[0].text(), "T &lt;X>\nStory.\n&#3;");
    assert_eq!(outcome.documents[1].text(), "&#2;\nAll of it\n");
    assert_eq!(outcome.reasons(), []);
    // A title within the body is part of it, and stood there twice.
    let within = "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n<REUTERS NEWID=\"1\"><TEXT><BODY>a <TITLE>T</TITLE> \
                  b</BODY></TEXT></REUTERS>\n<REUTERS NEWID=\"2\"><TEXT><BODY>b</BODY><TITLE>after</TITLE>\
                  </TEXT></REUTERS>";
    let outcome = read("reut2-001.sgm", within);
    assert_eq!(outcome.documents[0].text(), "a <TITLE>T</TITLE> b");
    assert_eq!(outcome.documents[1].text(), "after\nb");
}

// ---- web archives ----

#[test]
fn warc_records_with_any_line_end() {
    let text = warc("1", "<p>one") + &warc("2", "two");
    for text in [text.clone(), text.replace("\r\n", "\n")] {
        let outcome = read("x", &text);
        assert_eq!(outcome.docnos(), ["1", "2"]);
        assert_eq!(outcome.documents[0].text().trim(), "<p>one");
        assert_eq!(outcome.documents[0].url.as_deref(), Some("http://x.org/1"));
        assert_eq!(outcome.documents[0].charset.as_deref(), Some("utf-8"));
    }
    // No empty lines between records; a header that is folded; names in capitals and twice.
    let block = http("x");
    let folded = format!(
        "WARC/0.18\nWARC-TYPE: response\nWARC-TREC-ID: clueweb09-1\nWARC-Record-ID: <urn:uuid:9>\n\
         WARC-Target-URI:\n <http://x.org/a b>\nWARC-TREC-ID: other\nContent-Length: {}\n\n{block}",
        block.len()
    );
    let outcome = read("x", folded.clone() + &folded);
    assert_eq!(outcome.docnos(), ["clueweb09-1", "clueweb09-1"]);
    assert_eq!(
        outcome.documents[0].url.as_deref(),
        Some("http://x.org/a b")
    );
    assert!(outcome.documents[0].notices.is_empty());
}

#[test]
fn warc_lengths_that_are_wrong() {
    let block = http("<p>the body</p>");
    let n = block.len();
    let ends = "\r\n\r\n";
    let record = |length| warc_with("1", length, "\r\n", &block) + ends;
    for length in [
        Some(n - 5),
        Some(3),
        Some(0),
        Some(n + 40),
        Some(n + 100_000),
        None,
    ] {
        let outcome = read("x", record(length) + &warc("2", "two"));
        assert_eq!(outcome.docnos(), ["1", "2"], "{length:?}");
        assert_eq!(outcome.documents[0].text(), "<p>the body</p>", "{length:?}");
        assert_eq!(
            outcome.documents[0].notices,
            [Reason::WrongLength],
            "{length:?}"
        );
        assert_eq!(outcome.documents[1].text(), "two");
    }
    // At the end of the file: whole, since the empty lines are there; or cut off.
    let outcome = read("x", record(Some(n + 5000)));
    assert_eq!(outcome.documents[0].notices, [Reason::WrongLength]);
    let outcome = read("x", warc_with("1", Some(n + 5000), "\r\n", &block));
    assert_eq!(outcome.reasons(), [Reason::Truncated]);
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("1"));
    // Stray bytes between two records that are whole.
    let outcome = read("x", warc("1", "one") + "stray\r\n" + &warc("2", "two"));
    assert_eq!(
        (outcome.order.as_str(), outcome.reasons()),
        ("drd", vec![Reason::StrayBytes])
    );
}

#[test]
fn a_page_about_warc_is_not_cut() {
    let page = format!("<pre>\n{}</pre>", warc("inside", "example"));
    let outcome = read("x", warc("1", &page) + &warc("2", "two"));
    assert_eq!(outcome.docnos(), ["1", "2"]);
    assert_eq!(outcome.documents[0].text(), page);
    assert!(outcome.documents[0].notices.is_empty());
}

#[test]
fn hostile_archives_take_linear_time() {
    // Each of these was, or could be, read over again for every one of its lines.
    let space = format!(
        "{}{}",
        warc_with("1", Some(400_000), "\n", "x\n").repeat(2000),
        " ".repeat(300_000)
    );
    for text in [
        "WARC/1.0\n".repeat(300_000),
        "WARC/1.0\nWARC-Type: x\nContent-Length: 0\n".repeat(60_000),
        warc_with("1", Some(1_000_000), "\n", "x\n").repeat(20_000),
        arc("http://x.org/", "x")
            .replace(" 62\n", " 1000000\n")
            .repeat(10_000),
        space,
        "<DOC>\n<!--".repeat(300_000),
        "{\n".repeat(500_000),
    ] {
        let config = ReadConfig::default();
        let before = std::time::Instant::now();
        read_split("x", text.as_bytes(), &config, &[usize::MAX]);
        // A second or two without optimisation; quadratic would be hours.
        let took = before.elapsed();
        assert!(took.as_secs() < 60, "{took:?}: {}", &text[..40]);
    }
}

#[test]
fn warc_records_that_are_no_documents() {
    let record =
        |kind: &str| warc("1", "x").replace("WARC-Type: response", &format!("WARC-Type: {kind}"));
    for kind in ["request", "metadata", "revisit", "warcinfo"] {
        let outcome = read("x", record(kind));
        assert_eq!(outcome.skipped.keys().collect::<Vec<_>>(), [&kind]);
        assert_eq!(outcome.order, "s");
    }
    // A segment of a document that is not there.
    assert_eq!(
        read("x", record("continuation")).reasons(),
        [Reason::Truncated]
    );
    assert_eq!(read("x", record("future")).order, "s");
    assert_eq!(read("x", record("conversion")).order, "d");
    let nameless = warc("1", "x")
        .replace("WARC-Record-ID: <urn:uuid:1>\r\n", "")
        .replace("WARC-Target-URI: http://x.org/1\r\n", "");
    let nameless = nameless.replace("WARC-Type", "WARC-Record-ID:\r\nWARC-Type");
    assert_eq!(read("x", nameless).reasons(), [Reason::MissingDocno]);
    let dns = warc("1", "x").replace("http://x.org/1", "dns:x.org");
    assert_eq!(read("x", dns).skipped.get("dns"), Some(&1));
}

#[test]
fn http_responses() {
    let read_http = |block: &[u8]| {
        let mut bytes = warc_with("1", Some(block.len()), "\r\n", "").into_bytes();
        bytes.extend(block);
        read("x", bytes)
    };
    let outcome = read_http(b"HTTP/1.1 404 Not Found\r\n\r\nx");
    assert_eq!(outcome.reasons(), [Reason::HttpStatus]);
    assert_eq!(outcome.rejected[0].detail, "404 Not Found");
    assert_eq!(
        read_http(b"HTTP/rubbish\r\n\r\nx").reasons(),
        [Reason::BadHttp]
    );
    assert_eq!(read_http(b"").reasons(), [Reason::BadHttp]);
    assert_eq!(read_http(b"HTTP/1.1 200\nx-a: b").documents[0].text(), "");

    // What a crawler or a server cut off became equal to other documents in silence.
    for (head, detail) in [
        ("200 OK\r\nContent-Length: 8", None),
        ("200 OK\r\nContent-Length: 2", None),
        (
            "200 OK\r\nContent-Length: 9\r\nContent-Encoding: identity",
            None,
        ),
        ("200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: x", None),
        (
            "200 OK\r\nContent-Length: 9",
            Some("4 of 9 bytes by Content-Length"),
        ),
        (
            "206 Partial Content\r\nContent-Range: bytes 0-3/9",
            Some("HTTP status 206: bytes 0-3/9"),
        ),
        (
            "206 Partial Content\r\nContent-Range: bytes 5-8/9",
            Some("HTTP status 206: bytes 5-8/9"),
        ),
        (
            "206 Partial Content\r\nContent-Range: bytes 0-3/*",
            Some("HTTP status 206: bytes 0-3/*"),
        ),
        ("206 Partial Content\r\nContent-Range: Bytes 0-3/4", None),
        (
            "206 Partial Content\r\nContent-Range: bytes 0-8/9\r\nContent-Length: 9",
            Some("4 of 9 bytes by Content-Length"),
        ),
    ] {
        let outcome = read_http(format!("HTTP/1.1 {head}\r\n\r\ntext").as_bytes());
        let document = &outcome.documents[0];
        assert_eq!(
            document.details.first().map(|detail| &**detail),
            detail,
            "{head}"
        );
        assert!(
            document
                .notices
                .iter()
                .all(|reason| *reason == Reason::Truncated)
        );
    }
    // A list was read as plain text, and as one label.
    for (head, content, charset) in [
        ("text/plain", ContentKind::Text, None),
        ("text/html, text/html", ContentKind::Markup, None),
        (
            "text/html; charset=iso-8859-2, text/html",
            ContentKind::Markup,
            Some("iso-8859-2"),
        ),
        (
            "text/html; charset=a\r\nContent-Type: text/html",
            ContentKind::Markup,
            Some("a"),
        ),
        (
            "text/html; charset=a, text/plain, */*",
            ContentKind::Text,
            None,
        ),
        (
            "text/plain; title=\"a, b/c\"; charset=b",
            ContentKind::Text,
            Some("b"),
        ),
    ] {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: {head}\r\n\r\ntext");
        let document = read_http(block.as_bytes()).documents.remove(0);
        let found = (document.content, document.charset.as_deref());
        assert_eq!(found, (content, charset), "{head}");
    }
    for (why, length, body, expected) in [
        ("time", 4, "text", &["WARC-Truncated: time"][..]),
        ("length", 4, "text", &["WARC-Truncated: length"]),
        ("length", 99, "text", &["4 of 99 bytes by Content-Length"]),
        // A crawler said so of whole pages that came compressed.
        ("length", 10, "a</Html>\n\n", &[]),
        ("time", 8, "a</html>", &["WARC-Truncated: time"]),
    ] {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        let whole = warc_with("1", Some(http.len()), "\r\n", &http);
        let head = format!("WARC-Truncated: {why}\r\nWARC-Type");
        let outcome = read("x", whole.replace("WARC-Type", &head));
        assert_eq!(outcome.documents[0].details, expected, "{why} {body}");
    }

    let head = "HTTP/1.1 200 OK\r\nTRANSFER-encoding: Chunked\r\n\r\n";
    let chunks = |body: &str| {
        read_http((head.to_string() + body).as_bytes())
            .documents
            .remove(0)
    };
    let whole = chunks("5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n");
    assert_eq!(
        (whole.text(), whole.notices.len()),
        ("hello world".into(), 0)
    );
    let not = chunks("<html>not chunked");
    assert_eq!(
        (not.text(), not.notices),
        ("<html>not chunked".into(), vec![Reason::BadChunks])
    );
    let broken = chunks("5\r\nhello\r\nzz\r\n");
    assert_eq!(
        (broken.text(), broken.notices),
        ("hellozz\r\n".into(), vec![Reason::BadChunks])
    );
    // Bytes behind the last chunk were lost in silence.
    for (body, text, broken) in [
        ("5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n", "hello", false),
        ("5\r\nhello\r\n0", "hello0", true),
        ("0\r\n\r\n", "", false),
        (
            "5\r\nhello\r\n0\r\n\r\n6\r\n world\r\n0\r\n\r\n",
            "hello0\r\n\r\n6\r\n world\r\n0\r\n\r\n",
            true,
        ),
        ("5\nhello\n0\napples\n", "hello0\napples\n", true),
        ("0\napples\n1\npear\n", "0\napples\n1\npear\n", true),
        ("0\na: b\n", "0\na: b\n", true),
    ] {
        let found = chunks(body);
        let reasons = [Reason::BadChunks];
        assert_eq!(found.text(), text, "{body:?}");
        assert_eq!(found.notices, reasons[..usize::from(broken)], "{body:?}");
    }
    let huge = chunks("5\r\nhello\r\nffffffffffffff\r\nx");
    assert_eq!(huge.notices, [Reason::BadChunks]);

    let coded = |coding: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n");
        read_http(&[head.as_bytes(), body].concat())
    };
    let zipped = gzip(b"<p>page</p>");
    assert_eq!(coded("gzip", &zipped).documents[0].text(), "<p>page</p>");
    assert!(coded("gzip", &zipped).documents[0].notices.is_empty());
    let followed = coded("gzip", &[&zipped[..], b"more"].concat());
    let detail = "gzip: bytes that follow the stream are left out";
    assert_eq!(followed.documents[0].details, [detail]);
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    zlib.write_all(b"<p>page</p>").unwrap();
    let mut zlib = zlib.finish().unwrap();
    for (more, notices) in [
        (&b""[..], &[][..]),
        (b"\0\r\n", &[]),
        (b"x", &[Reason::BadContentEncoding]),
    ] {
        zlib.extend(more);
        let outcome = coded("deflate", &zlib);
        assert_eq!(outcome.documents[0].text(), "<p>page</p>");
        assert_eq!(outcome.notices(), notices, "{more:?}");
    }
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    raw.write_all(&b"<p>page</p> ".repeat(9)).unwrap();
    let outcome = coded("deflate", &raw.finish().unwrap());
    assert_eq!(outcome.documents[0].body.len(), 108);
    for coding in ["gzip", "deflate", "br"] {
        let outcome = coded(coding, b"<p>already decoded</p>");
        assert_eq!(outcome.documents[0].text(), "<p>already decoded</p>");
        assert_eq!(
            outcome.documents[0].notices,
            [Reason::BadContentEncoding],
            "{coding}"
        );
    }
    let noise: Vec<u8> = (0..2000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let outcome = coded("br", &noise);
    assert_eq!(outcome.reasons(), [Reason::NotText]);
    assert!(outcome.rejected[0].detail.contains("br"));
    let cut = gzip("<p>page</p> ".repeat(5000).as_bytes());
    let outcome = coded("gzip", &cut[..cut.len() - 20]);
    assert_eq!(outcome.documents[0].notices, [Reason::BadContentEncoding]);
    assert!(outcome.documents[0].body.starts_with(b"<p>page</p>"));
}

#[test]
fn arc_records() {
    let filedesc = "filedesc://x.arc 0.0.0.0 20140216050221 text/plain 6\n1 0 X\n\n";
    let text = filedesc.to_string() + &arc("http://x.org/a b", "<p>1") + &arc("http://x.org/", "2");
    let outcome = read("x", &text);
    assert_eq!(
        outcome.docnos(),
        [
            "http://x.org/a b@20140216050221",
            "http://x.org/@20140216050221"
        ]
    );
    assert_eq!(outcome.order, "sdd");
    assert_eq!(
        outcome.documents[0].url.as_deref(),
        Some("http://x.org/a b")
    );
    // ARC 2 has five fields more.
    let two = arc("http://x.org/", "2").replace("text/html ", "text/html 200 abc - 0 f.arc ");
    assert_eq!(read("x", filedesc.to_string() + &two).order, "sd");
    // A length that is not a number, one too short, one too long.
    let bad = arc("http://x.org/bad", "x").replacen("text/html ", "text/html x", 1);
    let outcome = read(
        "x",
        filedesc.to_string() + &bad + &arc("http://x.org/", "2"),
    );
    assert_eq!(
        (outcome.order.as_str(), outcome.reasons()),
        ("srd", vec![Reason::BadHeader])
    );
    for (from, to) in [("64\n", "53\n"), ("64\n", "93\n")] {
        let block = http("abc");
        assert_eq!(block.len(), 64);
        let wrong = arc("http://x.org/1", "abc").replacen(from, to, 1);
        let outcome = read(
            "x",
            filedesc.to_string() + &wrong + &arc("http://x.org/2", "2"),
        );
        assert_eq!(outcome.order, "sdd");
        assert_eq!(outcome.documents[0].notices, [Reason::WrongLength]);
        assert_eq!(outcome.documents[0].text(), "abc");
    }
}

/// The lengths are right, and what follows is none of a record that is certain. It never becomes
/// part of the record before it.
#[test]
fn a_right_length_is_believed() {
    let filedesc = "filedesc://x.arc 0.0.0.0 20140216050221 text/plain 6\n1 0 X\n\n";
    let page = |line: &str, body: &str| {
        let block = http(body);
        format!("{line} {}\n{block}\n", block.len())
    };
    // Lines that can be understood are those of records.
    for (line, docno) in [
        ("http://a/2 - 20130908181048 text/html", "http://a/2"),
        ("http://a/2  20130908181048 text/html", "http://a/2"),
        ("http://a/2 20130908181048 text/html", "http://a/2"),
        (
            "http://a/2 a.example.org 20130908181048 text/html",
            "http://a/2",
        ),
        (
            "http://a/2?x=A B C 1.2.3.4 20130908181048 text/html",
            "http://a/2?x=A B C",
        ),
        (
            "http://a/2?x=A B - 20130908181048 text/html",
            "http://a/2?x=A B",
        ),
        (
            "http://a/2 1.2.3.4 20130908181048 text/html, text/x",
            "http://a/2",
        ),
        ("http://a/2 1.2.3.4 20130908181048 no-type", "http://a/2"),
        ("http://a/2 1.2.3.4 20130908181048 ", "http://a/2"),
        ("http://a/2 1.2.3.4 20130908181048", "http://a/2"),
        (
            "http://a/2 - 20130908181048 text/html 200 abc - 0 f.arc",
            "http://a/2",
        ),
    ] {
        let rest = page(line, "two") + &arc("http://x.org/3", "three");
        let expected = format!("{docno}@20130908181048");
        let outcome = read(
            "x",
            filedesc.to_string() + &arc("http://x.org/1", "one") + &rest,
        );
        assert_eq!(outcome.order, "sddd", "{line}");
        assert_eq!(outcome.docnos()[1], expected, "{line}");
        let texts: Vec<String> = outcome.documents.iter().map(Document::text).collect();
        assert_eq!(texts, ["one", "two", "three"], "{line}");
        assert_eq!(outcome.notices(), [], "{line}");
        // Behind a record that is not a document.
        let outcome = read("x", filedesc.to_string() + &rest);
        assert_eq!(outcome.order, "sdd", "{line}");
        assert_eq!(outcome.docnos()[0], expected, "{line}");
    }
    // Others are reported, and the next record is found.
    for (line, reason) in [
        (
            "http://a/2 1.2.3.4 20130908181048 08Sep201318:10",
            Reason::BadHeader,
        ),
        ("http://a/2 1.2.3.4 2013 text/html 99", Reason::StrayBytes),
        ("not a line", Reason::StrayBytes),
    ] {
        let text = format!("{line}\n{}\n", http("two"));
        for (first, order) in [
            (String::new(), "srd"),
            (arc("http://x.org/1", "one"), "sdrd"),
        ] {
            let text = filedesc.to_string() + &first + &text + &arc("http://x.org/3", "three");
            let outcome = read("x", text);
            assert_eq!(outcome.order, order, "{line}");
            assert_eq!(outcome.reasons(), [reason]);
            assert!(outcome.rejected[0].detail.contains(line), "{outcome:?}");
            let before: Vec<String> = outcome.documents.iter().map(Document::text).collect();
            assert_eq!(before[before.len() - 1], "three");
            assert_eq!(before.len() == 2, before[0] == "one");
        }
    }
    // WARC, with any line ends, behind a record that is a document or none.
    let request = warc("0", "x").replace("response", "request");
    for (from, to) in [
        ("WARC/1.0\r\n", "WARC/1.O\r\n"),
        ("WARC/1.0\r\n", "WARC/1.0\r"),
    ] {
        let odd = warc("2", "two").replacen(from, to, 1);
        for (first, order) in [(&request, "srd"), (&warc("1", "one"), "drd")] {
            for end in ["\r\n", "\n"] {
                let text = (first.clone() + &odd + &warc("3", "three")).replace("\r\n", end);
                // The lengths are those of blocks with other line ends.
                let length = |text: &str| http(text).len().to_string();
                let shorter = |text: &str| http(text).replace("\r\n", end).len().to_string();
                let text = ["x", "one", "two", "three"].iter().fold(text, |all, text| {
                    let field = |length| format!("Content-Length: {length}{end}");
                    all.replace(&field(length(text)), &field(shorter(text)))
                });
                let outcome = read("x", text);
                assert_eq!(outcome.order, order, "{to:?} {end:?}");
                assert_eq!(outcome.reasons(), [Reason::StrayBytes]);
                let last = &outcome.documents[outcome.documents.len() - 1];
                assert_eq!((last.docno.as_str(), last.text()), ("3", "three".into()));
                assert!(outcome.documents[0].text().len() < 6, "{outcome:?}");
            }
        }
    }
}

#[test]
fn segments_of_a_warc_record_are_joined() {
    let block = http("one two three");
    let (one, rest) = block.split_at(50);
    let (two, three) = rest.split_at(9);
    let segment = |number: usize, block: &str, more: &str| {
        let kind = if number == 1 {
            "response"
        } else {
            "continuation"
        };
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:s{number}>\r\n{more}\
             WARC-Segment-Number: {number}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let origin = "WARC-Segment-Origin-ID: <urn:s1>\r\n";
    let total = format!("{origin}WARC-Segment-Total-Length: {}\r\n", block.len());
    let last = warc("9", "nine");
    let (first, second) = (segment(1, one, ""), segment(2, two, origin));
    let third = segment(3, three, &total);
    let text = [&first, &second, &third, &last]
        .map(String::as_str)
        .concat();
    let outcome = read("x", &text);
    assert_eq!(outcome.docnos(), ["urn:s1", "9"]);
    assert_eq!(outcome.documents[0].text(), "one two three");
    let length = outcome.documents[0].length as usize;
    assert_eq!(&text[length..], format!("\r\n\r\n{last}"));
    // Not within one file, or not one after the other.
    for (text, orphans) in [
        ([&first, &last].map(String::as_str).concat(), 0),
        ([&first, &second, &last].map(String::as_str).concat(), 0),
        ([&first, &third, &last].map(String::as_str).concat(), 1),
        ([&third, &first, &last].map(String::as_str).concat(), 1),
    ] {
        let outcome = read("x", &text);
        assert_eq!(outcome.docnos(), ["9"]);
        assert_eq!(outcome.reasons(), vec![Reason::Truncated; 1 + orphans]);
        let names = outcome
            .rejected
            .iter()
            .map(|reject| reject.docno.as_deref());
        assert!(names.into_iter().any(|docno| docno == Some("urn:s1")));
    }
    // All of it counts.
    let config = small(first.len() as u64 + 40);
    let outcome = read_with("x", text.as_bytes(), &config);
    assert_eq!(outcome.reasons(), [Reason::TooLarge]);
}

#[test]
fn heads_of_http_in_any_form() {
    let response = |head: &str| {
        let block = format!("{head}Content-Type: text/html\r\n\r\n<p>page");
        read("x", warc_with("1", Some(block.len()), "\r\n", &block))
    };
    for head in [
        "http/1.1 200 OK\r\n",
        "Http/1.1 200 Ok\r\n",
        "HTTP/1.1 200OK\r\n",
        "HTTP/1.0 200\tOK\r\n",
        "HTTP/1.1 0200 OK\r\n",
        "HTTP/1.1 200.1 OK\r\n",
        "HTTP/3 200 \r\n",
        "icy 200 OK\r\n",
        "\r\n\nHTTP/1.1 200 OK\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n",
        "HTTP/1.0 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n",
    ] {
        let outcome = response(head);
        assert_eq!(outcome.order, "d", "{head:?}: {outcome:?}");
        assert_eq!(outcome.documents[0].text(), "<p>page", "{head:?}");
        assert_eq!(outcome.documents[0].content, ContentKind::Markup);
    }
    for (head, detail) in [
        ("HTTP/1.1 100 Continue\r\n", "100 Continue"),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n",
            "404 Not Found",
        ),
    ] {
        let outcome = response(head);
        assert_eq!(outcome.reasons(), [Reason::HttpStatus], "{head:?}");
        assert_eq!(outcome.rejected[0].detail, detail);
    }
    // A page that begins with a head of its own.
    let page = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nis a head";
    let outcome = read("x", warc_with("1", Some(page.len()), "\r\n", page));
    assert_eq!(outcome.documents[0].text(), &page[19..]);
    // Without a head, the block is the body.
    for kind in ["application/http; msgtype=response", "text/html"] {
        let text = warc_with("1", Some(15), "\r\n", "<p>page &amp; x")
            .replace("WARC-Type", &format!("Content-Type: {kind}\r\nWARC-Type"));
        let outcome = read("x", text);
        assert_eq!(outcome.documents[0].text(), "<p>page &amp; x");
        assert_eq!(outcome.documents[0].content, ContentKind::Markup, "{kind}");
    }
}

#[test]
fn bodies_compressed_by_brotli_and_zstd() {
    let text = "<p>a page of some words</p> ".repeat(3000);
    let coded = |coding: &str, body: &[u8], config: &ReadConfig| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n");
        let block = [head.as_bytes(), body].concat();
        let mut bytes = warc_with("1", Some(block.len()), "\r\n", "").into_bytes();
        bytes.extend(block);
        read_with("x", &bytes, config)
    };
    let mut brotli = Vec::new();
    let mut from = text.as_bytes();
    brotli::BrotliCompress(&mut from, &mut brotli, &Default::default()).unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let default = ReadConfig::default();
    for (coding, body) in [("br", &brotli), ("zstd", &zstd)] {
        let outcome = coded(coding, body, &default);
        assert_eq!(outcome.documents[0].text(), text, "{coding}");
        assert_eq!(outcome.notices(), [], "{coding}");
        let outcome = coded(coding, body, &small(50_000));
        assert_eq!(outcome.reasons(), [Reason::TooLarge], "{coding}");
        let outcome = coded(coding, &body[..body.len() - 2], &default);
        assert!(
            outcome.notices() == [Reason::BadContentEncoding]
                || outcome.reasons() == [Reason::NotText],
            "{coding}: {outcome:?}"
        );
        // Many frames, and padding: only other bytes behind the stream are worth a line.
        let follow = format!("{coding}: bytes that follow the stream are left out");
        for (more, expected) in [
            (&b"more"[..], &[follow.as_str()][..]),
            (b"\r\n", &[]),
            (b"\0\0\0", &[]),
            (
                b"\x50\x2a\x4d\x18\0\0\0\0",
                &[follow.as_str()][..usize::from(coding == "br")],
            ),
        ] {
            let outcome = coded(coding, &[body, more].concat(), &default);
            assert_eq!(outcome.documents[0].text(), text, "{coding}");
            assert_eq!(outcome.documents[0].details, expected, "{coding} {more:?}");
        }
        let twice = coded(&format!("gzip, {coding}"), body, &default);
        assert_eq!(twice.order.len(), 1, "{coding}");
    }
    let bomb = vec![b'a'; 40 << 20];
    let mut small_bomb = Vec::new();
    brotli::BrotliCompress(&mut &bomb[..], &mut small_bomb, &Default::default()).unwrap();
    let outcome = coded("br", &small_bomb, &default);
    assert_eq!(outcome.reasons(), [Reason::DecompressionBomb]);
}

#[test]
fn what_crawlers_store_beside_pages_is_skipped() {
    let of = |kind: &str, url: &str| {
        warc("1", "x")
            .replace("WARC-Type: response", &format!("WARC-Type: {kind}"))
            .replace("http://x.org/1", url)
    };
    for (url, kind) in [
        ("urn:pageinfo:https://w.example/p1", "urn:pageinfo"),
        ("urn:text:https://w.example/p1", "urn:text"),
        ("urn:view:https://w.example/p1", "screenshot"),
        ("urn:thumbnail:https://w.example/p1", "screenshot"),
        ("urn:new-name:https://w.example/p1", "urn: of a crawler"),
        ("urn:X-wpull:log", "urn: of a crawler"),
        (
            "metadata://gnu.org/software/wget/warc/wget.log",
            "metadata:",
        ),
        ("screenshot:https://w.example/", "screenshot"),
    ] {
        let outcome = read("x", of("resource", url));
        assert_eq!(outcome.skipped, BTreeMap::from([(kind, 1)]), "{url}");
        let line = arc(url, "x");
        let outcome = read_with("x", line.as_bytes(), &forced(Format::Arc));
        assert_eq!(outcome.skipped, BTreeMap::from([(kind, 1)]), "{url}");
        // Unless somebody wants it.
        let config = ReadConfig {
            include_url: vec![globset::Glob::new("*:*").unwrap()].try_into().unwrap(),
            ..ReadConfig::default()
        };
        assert_eq!(
            read_with("x", of("resource", url).as_bytes(), &config).order,
            "d"
        );
    }
    for url in [
        "urn:isbn:0451450523",
        "file:///x/y",
        "ftp://x.org/y",
        "urn:uuid:1",
    ] {
        assert_eq!(read("x", of("resource", url)).order, "d", "{url}");
    }
}

#[test]
fn documents_are_chosen_by_type_and_by_url() {
    let text = warc("1", "one")
        + &warc("2", "two").replace("response", "resource")
        + &warc("3", "three").replace("response", "metadata");
    let glob = |glob: &str| -> lookalike::text::read::UrlGlobs {
        vec![globset::Glob::new(glob).unwrap()].try_into().unwrap()
    };
    let docnos = |config: &ReadConfig| {
        let outcome = read_with("x", text.as_bytes(), config);
        outcome.docnos().join(" ")
    };
    let config = |warc_type: Option<&str>| ReadConfig {
        warc_type: warc_type.map(Into::into),
        ..ReadConfig::default()
    };
    assert_eq!(docnos(&config(None)), "1 2");
    assert_eq!(docnos(&config(Some("response"))), "1");
    assert_eq!(docnos(&config(Some("metadata,resource"))), "2 3");
    assert!(config(Some("responses")).check().is_err());
    assert!(config(Some("response,")).check().is_err());
    let chosen = |include: Option<&str>, exclude: Option<&str>| ReadConfig {
        include_url: include.map(glob).unwrap_or_default(),
        exclude_url: exclude.map(glob).unwrap_or_default(),
        ..ReadConfig::default()
    };
    assert_eq!(docnos(&chosen(Some("http://x.org/2"), None)), "2");
    assert_eq!(docnos(&chosen(Some("*x.org*"), Some("*/2"))), "1");
    assert_eq!(docnos(&chosen(None, Some("http*"))), "");
    let outcome = read_with("x", text.as_bytes(), &chosen(Some("*/2"), None));
    assert_eq!(outcome.skipped.get("URL not in --include-url"), Some(&1));
}

// ---- JSON ----

/// What is not an object costs one reject, and the array goes on behind it.
#[test]
fn other_values_in_an_array_of_json() {
    let object = |n: usize| format!("{{\"id\": \"{n}\", \"text\": \"x\"}}");
    let [a, b, c] = [1, 2, 3].map(object);
    for (text, order) in [
        (format!("[{a},null,{b},{c}]"), "drdd"),
        (format!("[{a},[1, 2],{b},{c}]\n"), "drdd"),
        (format!("[\n{a},\nnull,\n{b},\n{c}\n]\n"), "drdd"),
        (format!("[{a},[{b}],{c}]"), "ddd"),
        (format!("[{a},[{b},{c}]]\n"), "ddd"),
        (format!("[{a}]\n[{b}]\n{c}"), "ddd"),
        // The array was cut off between objects, without a line.
        (format!("[{a},{b},"), "ddc"),
        (format!("[{a},[{b}\n"), "ddc"),
        (format!("[{a},null,{b}] [{c}\n "), "drddc"),
        // The bracket was a part of the reject, and the array was cut off as well.
        (format!("[{a},null]"), "dr"),
        (format!("[{a},\"x\"] \n"), "dr"),
        (format!("[{a},{{\"text\":\"x}}]\n"), "dr"),
        (format!("[{a},1]\n[{b}]\n{c}"), "drdd"),
        (format!("[{a},[1]\n,[{b}],{c}]"), "drdd"),
        (format!("[{a},null]\n[{b},"), "drdc"),
    ] {
        let outcome = read("x", &text);
        assert_eq!(
            outcome.order,
            order.replace('c', "r"),
            "{text}: {outcome:?}"
        );
        let is_cut = outcome.reasons().last() == Some(&Reason::Truncated);
        assert_eq!(is_cut, order.ends_with('c'), "{text}");
    }
}

#[test]
fn json_in_lines_arrays_and_one_after_the_other() {
    let objects = [
        r#"{"id": 7, "text": "a } \" { b", "url": "http://x.org/", "title": "T"}"#,
        r#"{"_id": "two", "contents": "two", "meta": {"id": "m2", "x": [{"y": 1}]}}"#,
    ];
    let texts = [
        objects.join("\n"),
        format!("\u{feff}{}\r\n{}\r\n", objects[0], objects[1]),
        format!("[{}]", objects.join(",")),
        format!("[\n  {}\n]\n", objects.join(",\n  ")),
        objects.concat(),
        objects
            .join("\n")
            .replace(": [{", ":\n [\n {\n")
            .replace(", ", ",\n  "),
    ];
    for text in texts {
        let outcome = read("x", &text);
        assert_eq!(outcome.docnos(), ["7", "two"], "{text}");
        assert_eq!(outcome.order, "dd", "{text}");
        let first = &outcome.documents[0];
        assert_eq!(first.url.as_deref(), Some("http://x.org/"));
        assert_eq!(first.title.as_deref(), Some("T"));
        assert_eq!(first.content, ContentKind::Text);
    }
    let config = ReadConfig {
        id_field: Some("meta.id".into()),
        ..ReadConfig::default()
    };
    let outcome = read_with("x", objects.join("\n").as_bytes(), &config);
    assert_eq!(outcome.docnos(), ["x:1", "m2"]);
    assert_eq!(outcome.notices(), [Reason::MissingDocno]);
}

/// A record without an id was rejected, and its text lost.
#[test]
fn a_record_without_a_name_is_called_by_its_place() {
    let text = "{\"text\": \"one\"}\n{\"text\": broken}\n{\"id\": \"\", \"text\": \"three\"}\n\
                {\"id\": \"4\", \"text\": \"four\"}\n{\"title\": \"no text\"}\n{\"text\": \"six\"}\n";
    let outcome = read("a b.jsonl", text);
    let names = ["a b.jsonl:1", "a b.jsonl:3", "4", "a b.jsonl:6"];
    assert_eq!(outcome.docnos(), names);
    let unnamed = outcome.documents.iter().map(|d| d.unnamed);
    assert_eq!(unnamed.collect::<Vec<_>>(), [true, true, false, true]);
    assert_eq!(outcome.reasons(), [Reason::BadJson, Reason::MissingText]);
    assert_eq!(outcome.rejected[1].docno, None);
    // Nobody asked for an id, so nothing is wrong.
    assert_eq!(outcome.notices(), []);
    let long = format!(
        "{{\"url\": \"data:{}\", \"text\": \"t\"}}",
        "x".repeat(65 << 10)
    );
    let outcome = read("x.jsonl", long);
    assert_eq!(outcome.docnos(), ["x.jsonl:1"]);
    assert!(outcome.notices().contains(&Reason::MissingDocno));
}

#[test]
fn json_lines_that_are_broken_cost_one_record() {
    let good = |id: &str| format!("{{\"id\": \"{id}\", \"text\": \"t\"}}\n");
    for bad in [
        "{\"id\": \"x\", \"text\": \"not closed\n",
        "{\"id\": \"x\", \"text\": \"t\"\n",
        "{\"id\": \"x\", \"text\":\n",
        "{\"id\": \"x\",\n",
        "{\n",
        "{\"id\": \"x\" \"text\": 1}\n",
        "{'id': 1}\n",
        "garbage\n",
        "17\n",
        "[1, 2]\n",
        "{\"id\": \"x\", \"text\": \"t\"} }\n",
    ] {
        let outcome = read("x.jsonl", good("1") + bad + &good("2"));
        assert_eq!(outcome.rejected.len(), 1, "{bad:?}: {outcome:?}");
        assert_eq!(outcome.reasons(), [Reason::BadJson], "{bad:?}");
        assert!(outcome.docnos().starts_with(&["1"]), "{bad:?}");
        assert!(outcome.docnos().ends_with(&["2"]), "{bad:?}");
    }
    let outcome = read("x.jsonl", "{\"id\": 1, \"text\": \"cut");
    assert_eq!(outcome.reasons(), [Reason::Truncated]);
}

/// `NaN` and a number of any size in another field cost the record. So did the byte order mark of the
/// second of two files in one, and record separators.
#[test]
fn json_as_programs_write_it() {
    let lines = [
        "{\"id\": 1, \"text\": \"one\", \"score\": NaN, \"x\": [-Infinity, 1e999, \"\\ud800\"]}",
        "\u{feff}{\"id\": 2, \"text\": \"old\", \"text\": \"two\"}",
        "\u{1e}{\"id\": 3, \"text\": \"three\"}",
        "\u{1e}\u{feff} {\"id\": 4, \"x\": \"\\q\", \"text\": [\"fo\", null, \"ur\"]}",
    ];
    let ends = ["\n", "\r\n", "\n\n", ""];
    for end in ends {
        let outcome = read("x", lines.map(|line| format!("{line}{end}")).concat());
        assert_eq!(outcome.docnos(), ["1", "2", "3", "4"], "{end:?}");
        let texts: Vec<String> = outcome.documents.iter().map(|d| d.text()).collect();
        assert_eq!(texts, ["one", "two", "three", "fo\nur"]);
        assert_eq!(
            (outcome.order.as_str(), outcome.notices()),
            ("dddd", vec![])
        );
    }
    // A sequence of texts, from its first byte on, of which one is cut off.
    let sequence = "\u{1e}{\"id\": 1, \"text\": \"a\"}\n\u{1e}{\"id\": 2, \"te\n\u{1e}{\"id\": 3, \"x\":\n\
                    \u{1e}{\"id\": 4, \"text\": \"d\"}\n";
    let outcome = read("sequence", sequence);
    assert_eq!(outcome.docnos(), ["1", "4"]);
    assert_eq!(outcome.order, "drrd");
    let arrays = "\u{feff}[{\"id\": 1, \"text\": \"a\"}]\n\u{feff}[{\"id\": 2, \"text\": \"b\"}]";
    assert_eq!(read("x", arrays).docnos(), ["1", "2"]);
}

/// A text that begins with a brace and a quote was rejected as JSON.
#[test]
fn a_text_that_begins_like_json_is_a_text() {
    let text = "{\"quoted\" braces begin this text} and it goes on\nsecond line\n";
    let outcome = read("a.txt", text);
    assert_eq!(outcome.docnos(), ["a.txt"]);
    assert_eq!(outcome.documents[0].text(), text);
    assert_eq!(outcome.documents[0].notices, [Reason::PerhapsSeveral]);
    // Its name, a later line and the options may say that it is JSON.
    let reasons = read("a.jsonl", text).reasons();
    assert_eq!(reasons, [Reason::BadJson; 3]);
    let later = format!("{text}{{\"id\": 1, \"text\": \"t\"}}\n");
    assert_eq!(read("a.txt", later).docnos(), ["1"]);
    let one = "{ \"id\" : 1, \"te\\\"xt\": 2, \"text\": \"t\"}";
    assert_eq!(read("a.txt", one).docnos(), ["1"]);
    assert_eq!(read("a.txt", "{\"te\\\"xt").reasons(), [Reason::Truncated]);
}

#[test]
fn json_fields() {
    let one = |text: &str| read("x.jsonl", text);
    assert_eq!(one(r#"{"id": "1"}"#).reasons(), [Reason::MissingText]);
    assert_eq!(
        one(r#"{"id": "1", "text": null}"#).reasons(),
        [Reason::MissingText]
    );
    assert_eq!(
        one(r#"{"id": null, "url": "u", "text": ""}"#).docnos(),
        ["u"]
    );
    let marked = |markup, text: &str| {
        let config = ReadConfig {
            markup: Some(markup),
            ..ReadConfig::default()
        };
        read_with("x.jsonl", text.as_bytes(), &config)
    };
    let auto = |text: &str| marked(Markup::Auto, text);
    let word = r#"{"id": "1", "text": "<p>", "type": "xml questions"}"#;
    assert_eq!(one(word).documents[0].content, ContentKind::Text);
    assert_eq!(auto(word).documents[0].content, ContentKind::Markup);
    let html = one(r#"{"id": "1", "html": "<p>\u0041"}"#);
    assert_eq!(
        (html.documents[0].content, html.documents[0].text()),
        (ContentKind::Markup, "<p>A".into())
    );
    let typed = one(r#"{"id": "1", "text": "<p>", "content_type": "text/HTML"}"#);
    assert_eq!(typed.documents[0].content, ContentKind::Markup);
    for (object, content) in [
        (
            r#"{"id": "1", "body": "<p>", "type": "text/html"}"#,
            ContentKind::Markup,
        ),
        (
            r#"{"id": "1", "body": "<p>", "type": "article"}"#,
            ContentKind::Text,
        ),
        (
            r#"{"id": "1", "body": " <!doctype HTML><p>a"}"#,
            ContentKind::Markup,
        ),
        (
            r#"{"id": "1", "body": "<html> is a tag", "type": "text/plain"}"#,
            ContentKind::Text,
        ),
    ] {
        assert_eq!(auto(object).documents[0].content, content, "{object}");
        // By default, the text itself declares nothing.
        let declared = match object.contains("doctype") {
            true => ContentKind::Text,
            false => content,
        };
        assert_eq!(one(object).documents[0].content, declared, "{object}");
        let never = marked(Markup::Never, object);
        assert_eq!(never.documents[0].content, ContentKind::Text);
        let always = marked(Markup::Always, object);
        assert_eq!(always.documents[0].content, ContentKind::Markup);
    }
    let lone = one(r#"{"id": "1", "text": "a\ud83d b \ud83d\ude00 \\ud83d"}"#);
    assert_eq!(lone.documents[0].text(), "a\u{fffd} b \u{1f600} \\ud83d");
    assert_eq!(lone.documents[0].notices, [Reason::InvalidBytes]);
    // What is not UTF-8 is left as it is for the rules of charsets, unless it is damaged UTF-8 or beside
    // characters that are escaped.
    let (charset, bytes) = (Reason::WrongCharset, Reason::InvalidBytes);
    for (text, body, notice) in [
        (&b"a\xff"[..], &b"a\xff"[..], charset),
        (b"a\xe9\\n\\u0041", b"a\xe9\nA", charset),
        (b"a\xe9\\n\\u20ac", "a\u{fffd}\n€".as_bytes(), bytes),
        (
            b"It\\u2019s a caf\\u00e9",
            "It’s a café".as_bytes(),
            charset,
        ),
        ("ééé\u{fffd}".as_bytes(), "ééé\u{fffd}".as_bytes(), charset),
        (
            b"\xc3\xa9\xc3\xa9\xc3\xa9\xff",
            "ééé\u{fffd}".as_bytes(),
            bytes,
        ),
    ] {
        let name: &[u8] = if notice == charset { b"\xf4\xf4" } else { b"1" };
        let object = [b"{\"id\": \"", name, b"\", \"text\": \"", text, b"\"}"].concat();
        let found = &read("x.jsonl", &object).documents[0];
        assert_eq!((&*found.body, &found.notices[..]), (body, &[notice][..]));
        let is_utf8 = std::str::from_utf8(body).is_ok();
        assert_eq!(found.charset.is_some(), is_utf8, "{}", found.text());
        assert_eq!(found.docno, if notice == charset { "ôô" } else { "1" });
    }
    // Where the values of a field of HTML begin, in bytes.
    let object = b"{\"html\": [\"<p>\xe9\xe9\", \"<p>b\"], \"title\": \"x\"}";
    assert_eq!(
        read("x.jsonl", object).documents[0].body,
        b"<p>\xe9\xe9\n<p>b"
    );
    // Nesting overflows no stack, neither in a field that is passed over nor in one that is wanted.
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(
        one(&format!("{{\"id\": 1, \"text\": \"t\", \"x\": {deep}}}")).order,
        "d"
    );
    let outcome = one(&format!("{{\"id\": 1, \"text\": {deep}}}"));
    assert_eq!(outcome.reasons(), [Reason::BadJson]);
    let number = one(r#"{"id": 1e999999, "text": "t"}"#);
    assert_eq!(number.documents.len() + number.rejected.len(), 1);
}

// ---- plain files and forced formats ----

/// The header of a tar archive, whose checksum is right.
fn tar() -> Vec<u8> {
    let mut header = vec![b' '; 512];
    header[..9].copy_from_slice(b"notes.txt");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[test]
fn a_few_odd_bytes_do_not_reject_a_file() {
    let words = "words and more of them ".repeat(20);
    // "ustar" where tar has it, without a checksum.
    let mustard = format!("{}mustard{}", " ".repeat(256), words);
    let header = "From: a@corp.example\nMessage-ID: <1@corp.example>\n\n";
    for (name, text) in [
        ("a.txt", mustard.as_bytes()),
        ("a.html", mustard.as_bytes()),
        ("nul.txt", format!("\0{words}\0").as_bytes()),
        ("nul.html", format!("<p>{words}\0").as_bytes()),
        (
            "nul.xml",
            format!("<?xml version=\"1.0\"?><p>\0{words}</p>").as_bytes(),
        ),
        (
            "nul.csv",
            format!("id,text\n1,\"a\0b {words}\"\n").as_bytes(),
        ),
        ("table", format!("id\ttext\n1\ta\0b {words}\n").as_bytes()),
        ("nul", format!("{header}\0{words}").as_bytes()),
        ("nul.eml", format!("Subject: a\0\n\n{words}").as_bytes()),
    ] {
        assert_eq!(read(name, text).order, "d", "{name}");
    }
}

#[test]
fn an_index_of_archives_is_named() {
    let line = "com,example)/0 20160606175130";
    for text in [
        " CDX N b a m s k r M S V g\ncom,example)/0 20160606175130 x\n".to_string(),
        format!("{line} http://example.com/0 text/html 200 C2B4 - - 2 4 a.warc.gz\n"),
        format!("{line} {{\"url\": \"http://example.com/0\"}}\n"),
        format!("{line}\tcdx-00000.gz\t0\t188224\t1\n"),
        format!("!OpenWayback-CDXJ 1.0\n{line} {{}}\n"),
        format!("!meta {{}}\n{line} {{}}\n"),
    ] {
        for name in ["index.cdx", "index.txt", "index"] {
            let outcome = read(name, &text);
            assert_eq!(outcome.reasons(), [Reason::UnsupportedFormat], "{text}");
            assert!(outcome.rejected[0].detail.contains("CDX"));
        }
        assert_eq!(
            read_with("x", text.as_bytes(), &forced(Format::Text)).order,
            "d"
        );
    }
    for text in [
        "CDXJ is a format\n",
        "f(x)/y 20160606 words\n",
        "com,example)/0 words\n",
    ] {
        assert_eq!(read("notes", text).order, "d", "{text}");
    }
}

#[test]
fn plain_files() {
    let kinds = [
        ("a/b.txt", "<p>text", ContentKind::Text),
        ("b.html.gz", "no tag", ContentKind::Markup),
        ("b.xml.Z", "no tag", ContentKind::Markup),
        ("README", "text", ContentKind::Text),
        ("page", " <!DOCTYPE html><p>", ContentKind::Markup),
        ("notes.md", "[Illustration] {x}", ContentKind::Text),
    ];
    for (name, text, content) in kinds {
        let outcome = read(name, text);
        assert_eq!(outcome.docnos(), [name]);
        assert_eq!(outcome.documents[0].content, content, "{name}");
        assert_eq!(outcome.documents[0].text(), text);
    }
    assert_eq!(read("x", "").reasons(), [Reason::EmptyFile]);
    assert_eq!(read("x.gz", gzip(b"")).reasons(), [Reason::EmptyFile]);
    for (bytes, name) in [
        (&b"\x89PNG\r\n\x1a\n"[..], "PNG"),
        (b"PK\x03\x04....", "unzip"),
        (b"\x7fELF", "ELF"),
        (b"te\0xt \0with \0many\0 in it", "NUL"),
        (b"\xe9\x01 and\0 \x02 words of a caf\xe9 in the town", "NUL"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "Arrow stream"),
        (b"!BDN....", "readpst"),
        (
            &[&b"\x03\x02\0\0\0"[..], &b"text ".repeat(100)].concat(),
            "NUL",
        ),
        (&tar(), "tar xf"),
    ] {
        let outcome = read("x.txt", bytes);
        assert_eq!(outcome.reasons(), [Reason::BinaryFile]);
        assert!(
            outcome.rejected[0].detail.contains(name),
            "{}",
            outcome.rejected[0].detail
        );
    }
    assert_eq!(read("x.txt", b"\xff\xfet\0e\0x\0t\0").order, "d");
    let nitf = "<?xml version=\"1.0\"?>\n<nitf><head><docdata><doc-id id-string=\"123\"/>";
    assert_eq!(read("x.xml", nitf).docnos(), ["123"]);
}

/// A text in UTF-16 (0 and 1) or UTF-32 (2 and 3), each in two orders of bytes.
fn wide(text: &str, kind: usize) -> Vec<u8> {
    let units = text.encode_utf16();
    match kind {
        0 => units.flat_map(u16::to_le_bytes).collect(),
        1 => units.flat_map(u16::to_be_bytes).collect(),
        2 => text
            .chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect(),
        _ => text
            .chars()
            .flat_map(|c| u32::from(c).to_be_bytes())
            .collect(),
    }
}

/// A file in UTF-16 has the records that it has in UTF-8, at the places in UTF-8.
#[test]
fn wide_files_have_the_records_of_utf8() {
    let page = "<meta charset=latin1><title>été</title><p>Ünïcödé 日本 😀 text";
    let mail = "From a@x Mon Jan  5 10:00:00 2004\nSubject: été\nMessage-ID: <a@x>\n\nBody 日本\n";
    let files = [
        (
            "a.jsonl",
            "{\"id\":1,\"text\":\"é 日本\"}\n{\"id\":\"ü\",\"text\":\"b\"}\n".to_string(),
        ),
        (
            "a.json",
            "[{\"id\":1,\"text\":\"é\"},\n {\"id\":2,\"text\":\"b\"}]".into(),
        ),
        ("a", trec_web("G-1", page) + &trec_web("G-2", page)),
        (
            "a",
            "<DOC>\n<DOCNO>A-1</DOCNO>\n<TEXT>é</TEXT>\n</DOC>\n".repeat(2),
        ),
        (
            "a",
            "<REUTERS NEWID=\"1\"><TEXT>é</TEXT></REUTERS>\n".into(),
        ),
        ("a.mbox", mail.repeat(2)),
        ("a", page.into()),
        ("a.html", page.into()),
        ("a.txt", "Plain é text".into()),
    ];
    for (name, text) in files {
        let expected = read(name, &text);
        assert!(
            !expected.documents.is_empty() && expected.rejected.is_empty(),
            "{name}"
        );
        for kind in 0..4 {
            for mark in ["", "\u{feff}"] {
                let bytes = wide(&format!("{mark}{text}"), kind);
                for bytes in [gzip(&bytes), bytes] {
                    let found = read(name, &bytes);
                    if kind >= 2 {
                        // UTF-32 is not a format, whatever is in it.
                        assert_eq!(found.reasons(), [Reason::UnsupportedFormat], "{name}");
                        let detail = &found.rejected[0].detail;
                        let advice = ["iconv -f UTF-32LE -t UTF-8", "iconv -f UTF-32BE -t UTF-8"];
                        assert!(detail.ends_with(advice[kind - 2]), "{name} {detail}");
                        assert!(found.documents.is_empty());
                        continue;
                    }
                    assert_eq!(found.docnos(), expected.docnos(), "{name} {kind} {mark:?}");
                    assert_eq!(found.rejected, []);
                    for (found, expected) in found.documents.iter().zip(&expected.documents) {
                        assert_eq!(found.text().trim_start_matches('\u{feff}'), expected.text());
                        let before =
                            found.offset - expected.offset + found.length - expected.length;
                        assert_eq!(before as usize, mark.len());
                        assert_eq!(
                            (&found.title, found.content),
                            (&expected.title, expected.content)
                        );
                        assert_eq!(found.notices, []);
                    }
                }
            }
        }
    }
}

#[test]
fn wide_files_with_bytes_that_are_no_text() {
    let line = |id: u8, more: u16| {
        let text = format!("{{\"id\":{id},\"text\":\"a ?\"}}\n");
        let units = text.encode_utf16();
        let units = units.map(|unit| if unit == u16::from(b'?') { more } else { unit });
        units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    };
    let lines = [line(1, 0x62), line(2, 0xdc00), line(3, 0x62)].concat();
    let bytes = [&b"\xff\xfe"[..], &lines, b"x"].concat();
    let found = read("a", &bytes);
    assert_eq!(found.docnos(), ["1", "2", "3"]);
    assert_eq!(found.notices(), [Reason::InvalidBytes]);
    assert_eq!(found.documents[1].text(), "a \u{fffd}");
    // The byte at the end.
    assert_eq!(found.reasons(), [Reason::BadJson]);
    let mut noise = vec![0xff, 0xfe];
    noise.extend((1..5000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 16).to_le_bytes()));
    let found = read("a.txt", &noise);
    assert_eq!(found.reasons(), [Reason::BinaryFile]);
    assert!(
        found.rejected[0].detail.contains("UTF-16LE"),
        "{:?}",
        found.rejected
    );
}

#[test]
fn http_bodies_in_wide_encodings() {
    for kind in 0..4 {
        let body = wide("<p>One two three four", kind);
        for (header, documents) in [
            ("text/html", kind < 2),
            ("text/html; charset=utf-16", kind < 2),
            ("text/html; charset=utf-32", false),
            ("text/html; charset=latin1", false),
        ] {
            let mut block =
                format!("HTTP/1.1 200 OK\r\nContent-Type: {header}\r\n\r\n").into_bytes();
            block.extend(&body);
            let head = format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
                 WARC-Target-URI: http://x.org/\r\nContent-Length: {}\r\n\r\n",
                block.len()
            );
            let bytes = [head.into_bytes(), block, b"\r\n\r\n".to_vec()].concat();
            let found = read("a.warc", &bytes);
            assert_eq!(
                found.documents.len(),
                usize::from(documents),
                "{kind} {header}"
            );
            if !documents {
                assert_eq!(found.reasons(), [Reason::NotText]);
                let why = ["declared as", "a text in UTF-32"][kind / 2];
                assert!(found.rejected[0].detail.contains(why));
            }
        }
    }
}

#[test]
fn forced_formats() {
    for format in [Format::TrecWeb, Format::TrecSgml, Format::Warc, Format::Arc] {
        let outcome = read_with("x", b"nothing of the kind\n", &forced(format));
        assert_eq!(outcome.reasons(), [Reason::WrongFormat], "{format}");
    }
    let outcome = read_with("x", trec_web("A", "a").as_bytes(), &forced(Format::Text));
    assert_eq!(
        (outcome.docnos(), outcome.documents[0].content),
        (vec!["x"], ContentKind::Text)
    );
    let outcome = read_with("x", b"words", &forced(Format::Html));
    assert_eq!(outcome.documents[0].content, ContentKind::Markup);
    let stray = "stray\n".to_string() + &warc("1", "one");
    let outcome = read_with("x", stray.as_bytes(), &forced(Format::Warc));
    assert_eq!(
        (outcome.order.as_str(), outcome.reasons()),
        ("rd", vec![Reason::StrayBytes])
    );
}

// ---- mail ----

/// One message of a mailbox, with its separator.
fn message(header: &str, body: &str) -> String {
    format!("From alice@example.org Mon Jan  5 10:00:00 2004\n{header}\n{body}\n")
}

#[test]
fn mailboxes() {
    let first = message(
        "Message-ID: <1@example.org>\nSubject: one",
        "\nFrom here on there is no date.\n>From the start\n>>From twice\n\
         From bob Tue Jan  6 10:00:00 2004 and no field\n",
    );
    let second = message("Subject: two\nMessage-ID: <local>", "\n\nbody\n");
    let third = message("subject:\n  =?utf-8?Q?th=C3=A9?=", "\n");
    let all = [first.as_str(), &second, &third].concat();
    let outcome = read("box", &all);
    assert_eq!(outcome.docnos(), ["1@example.org", "box#2", "box#3"]);
    assert_eq!(
        outcome.documents[0].text(),
        "one\nFrom here on there is no date.\nFrom the start\n>From twice\n\
         From bob Tue Jan  6 10:00:00 2004 and no field\n\n\n"
    );
    assert_eq!(outcome.documents[1].title.as_deref(), Some("two"));
    // A blank body is none.
    assert_eq!(outcome.documents[2].text(), "thé\n");
    let lengths: Vec<_> = outcome
        .documents
        .iter()
        .map(|d| d.length as usize)
        .collect();
    assert_eq!(lengths, [first.len(), second.len(), third.len()]);
    // Line ends of the network, and compression.
    let crlf = all.replace('\n', "\r\n");
    assert_eq!(
        read("box.gz", gzip(crlf.as_bytes())).docnos(),
        ["1@example.org", "box.gz#2", "box.gz#3"]
    );
    // Whatever is before the first message is told.
    let outcome = read("stray.mbox", "words\n".to_string() + &second);
    assert_eq!(
        (outcome.order.as_str(), outcome.reasons()),
        ("rd", vec![Reason::StrayBytes])
    );
    assert_eq!(outcome.docnos(), ["stray.mbox#1"]);
    // A message over the limit costs itself alone.
    let outcome = read_with("box", all.as_bytes(), &small(190));
    assert_eq!(
        (outcome.order.as_str(), outcome.reasons()),
        ("rdd", vec![Reason::TooLarge])
    );
    assert_eq!(outcome.rejected[0].docno.as_deref(), Some("1@example.org"));
    // One that is cut off by damage is told.
    let mut cut = gzip(all.as_bytes());
    cut.truncate(cut.len() - 12);
    assert!(
        read("box", cut)
            .reasons()
            .contains(&Reason::TruncatedCompression)
    );
}

/// Every program writes other separators.
#[test]
fn mailboxes_of_all_programs() {
    let separators = [
        "From alice@example.org Mon Jan  5 10:00:00 2004",
        "From alice@example.org Mon Jan  5 10:00:00 +0100 2004",
        "From 1234567890@xxx Mon Jan 05 10:00:00 +0000 2004",
        "From ???@??? Mon Jan 05 10:00:00 2004",
        "From ",
        "From    ",
        "From -",
        "From - ",
        "From - Mon Jan  5 10:00:00 2004",
        "From - Mon Jan  5 2004",
        "From alice@example.org",
        "From <alice@example.org> ",
        "From MAILER-DAEMON",
        "From alice at example.org  Mon Jan  5 2004",
        "From alice@example.org 2004-01-05 10:00:00",
        "From alice 2004-01-05T10:00:00Z",
        "From alice@example.org Mon, 5 Jan 04",
        "From alice@example.org Mo 5. Jan. 2004",
        "From alice Mon Jan  5 10:00",
        "From Alice Example Mon, 05 Jan 2004",
    ];
    let message = |separator: &str, n: usize| {
        let field = ["X-Mozilla-Status: 0001\n", "", "Received: by x\n"][n % 3];
        format!(
            "{separator}\n{field}From: a@x.example\nMessage-ID: <m{n}@x.example>\n\n\
             From now on\nTo: the end\n\nFrom now on: all\nSubject: is prose\n\n\
             From January 2024 on\nDate: later\n\nFrom the 10 people\n\nFrom me\n\nwords\n\n"
        )
    };
    let boxes: Vec<String> = separators
        .iter()
        .map(|separator| (0..3).map(|n| message(separator, n)).collect())
        .chain([separators
            .iter()
            .enumerate()
            .map(|(n, separator)| message(separator, n))
            .collect()])
        .collect();
    for (n, text) in boxes.iter().enumerate() {
        let count = if n < separators.len() {
            3
        } else {
            separators.len()
        };
        let names: Vec<_> = (0..count).map(|n| format!("m{n}@x.example")).collect();
        for text in [
            text.clone(),
            text.replace('\n', "\r\n"),
            format!("\n\n{text}"),
        ] {
            for (name, format) in [("Inbox", None), ("a.txt", None), ("a", Some(Format::Mbox))] {
                let config = ReadConfig {
                    format,
                    ..ReadConfig::default()
                };
                let outcome = read_with(name, text.as_bytes(), &config);
                assert_eq!(outcome.docnos(), names, "{text}");
                assert_eq!(outcome.order, "d".repeat(count));
            }
        }
    }
    // The empty line before a separator is seen however the file is read.
    for end in ["\n", "\r\n"] {
        let long: String = (0..3)
            .map(|n| message("From -", n) + &"a line\n".repeat(12_000) + "\n")
            .collect();
        let long = long.replace('\n', end);
        for steps in [&[1][..], &[7, 2]] {
            let outcome = read_split("Inbox", long.as_bytes(), &ReadConfig::default(), steps);
            assert_eq!(outcome.documents.len(), 3, "{steps:?}");
        }
    }
    // Spaces before a colon, and a line between messages without a field behind it.
    let first = message(separators[1], 0) + "words\n\n";
    for (second, names, notices) in [
        (
            "Received : by x\nMessage-ID\t: <m1@x.example>\n\ntwo\n",
            2,
            0,
        ),
        ("\ntwo\n", 1, 1),
        ("Dear all: two\n", 1, 1),
    ] {
        let outcome = read("box", format!("{first}{}\n{second}", separators[1]));
        assert_eq!(outcome.docnos(), ["m0@x.example", "m1@x.example"][..names]);
        assert_eq!(
            outcome.documents[0].notices,
            vec![Reason::PerhapsSeveral; notices]
        );
        let last = outcome.documents[names - 1].text();
        assert!(last.contains("two") && !last.contains("Received"), "{last}");
    }
    // Without an empty line before it, only a dated line counts.
    let text = message(separators[0], 0) + "words\n" + &message("From bob@x.example", 1);
    assert_eq!(read("box", text).docnos(), ["m0@x.example"]);
    let text = message(separators[0], 0) + "words\n" + &message(separators[1], 1);
    assert_eq!(read("box", text).docnos(), ["m0@x.example", "m1@x.example"]);
}

/// Texts that begin as mail does are texts.
#[test]
fn texts_are_not_mail() {
    for text in [
        "From now on\nTo: all\n\nFrom now on\nSubject: nothing\n",
        "From Wikipedia\nTitle: a page\n\nwords\n",
        "Content-Type: multipart/mixed; boundary=b\n\nis such a field\n",
        "From here to eternity\n\nSubject: a film\n",
        "From the 10:30 train in 1999 I saw\nnothing at all\n",
        "Subject: to change\nDate: any\n\nwords\n",
        "Note: this\nDate: Mon, 14 May 2001 16:39:00 -0700\n\nwords\n",
        "From: The Director\nTo: All staff\nDate: 14 May 2001\nSubject: Tea\n\nwords\n",
        "From: C. Darwin\nTo: J. Hooker\nReceived: in May\nDate: 1 May 1860\n\nwords\n",
        "From: a@b.example\nSent: Monday, May 14, 2001 4:39 PM\nTo: c\nSubject: d\n\nwords\n",
        "Date: Sat, 31 Jan 2004 12:00:00 GMT\nMIME-Version: 1.0\nContent-Type: text/html\n\nw\n",
        "HTTP/1.1 200 OK\nDate: Sat, 31 Jan 2004 12:00:00 GMT\nFrom: a@b\n\nwords\n",
        "GET / HTTP/1.0\nFrom: a@b.example\nMIME-Version: 1.0\n\n",
        "---\nFrom: a@b.example\ndate: Sat, 31 Jan 2004 12:00:00 GMT\n---\nwords\n",
        "Metadata-Version: 2.1\nName: x\nVersion: 1.0\nAuthor-email: a@b.example\n\nwords\n",
        "From: a@b.example\nMessage-ID: <1@b.example>\nis how\na message begins\n",
        "From alice@example.org Mon Jan  5 10:00:00 2004\nno field: it has spaces before\n",
    ] {
        let outcome = read("notes", text);
        assert_eq!(outcome.docnos(), ["notes"]);
        assert_eq!(outcome.documents[0].text(), text);
    }
}

/// A message is recognised by its header, whatever its name and its body.
#[test]
fn messages_in_files_of_any_name() {
    let id = "Message-ID: <1@corp.example>\n";
    let (from, subject) = ("From: A <a@corp.example>\n", "Subject: report\n");
    let date = "Date: Mon, 14 May 2001 16:39:00 -0700 (PDT)\n";
    let received = "Received: from mx.corp.example\n\tby mail.corp.example; 14 May 2001\n";
    let to = "To: b@corp.example\n";
    let headers = [
        [id, date, from, subject].concat(),
        [date, from, subject, to].concat(),
        [subject, "Return-Path: <>\n", to].concat(),
        ["Status: RO\n", from, id, subject].concat(),
        ["X-Mozilla-Status: 0001\n", received, subject].concat(),
        [subject, from, "MIME-Version: 1.0\n"].concat(),
        [
            "Path: news!not-for-mail\nNewsgroups: sci.misc\n",
            from,
            subject,
            id,
        ]
        .concat(),
    ];
    let bodies = [
        "three words here\n",
        "<html><p>three words here\n",
        "{\"text\": \"three words here\"}\n",
        "id,text\n1,three words here\n2,b\n3,c\n",
        "Note: three words here\n",
        "",
    ];
    let names = [
        "1",
        "1.",
        "m.txt",
        "a.email",
        "cur/1.M.host:2,S",
        "x",
        "m.html",
        "m.log",
    ];
    for header in &headers {
        for (body, name) in bodies
            .iter()
            .flat_map(|body| names.map(|name| (body, name)))
        {
            let text = format!("{header}\n{body}");
            for text in [
                &text,
                &text.replace('\n', "\r\n"),
                &text.replace('\n', "\r"),
            ] {
                let outcome = read(name, text);
                assert_eq!(outcome.order, "d", "{name}: {text}");
                let document = &outcome.documents[0];
                assert_eq!(document.title.as_deref(), Some("report"), "{name}: {text}");
                assert_eq!(document.length as usize, text.len());
                let text = document.text().replace("\r\n", "\n");
                let expected = match body.is_empty() {
                    true => "report\n".to_string(),
                    false => format!("report\n{body}\n"),
                };
                assert_eq!(text, expected, "{name}: {header}");
            }
        }
    }
    // A draft, and an article without a date, in a folder of messages.
    let draft = [from, subject, "\n", "words\n"].concat();
    for name in ["drafts/7", "7.", "Mail/new/17", "17.M.host:2,D"] {
        assert_eq!(read(name, &draft).documents[0].text(), "report\nwords\n\n");
    }
    assert_eq!(read("draft.txt", &draft).documents[0].text(), draft);
    // Marks and empty lines before the header, and a header that is longer than what is looked at.
    let long = "X-Spam: words and more words\n".repeat(3000);
    for (before, behind) in [
        ("\u{feff}", ""),
        ("\n", ""),
        ("\r\n\r\n", ""),
        ("", long.as_str()),
    ] {
        for name in ["7", "m.txt"] {
            let text = [before, &headers[0], behind, "\nwords\n"].concat();
            assert!(
                read(name, text).documents[0].text() == "report\nwords\n\n",
                "{name}"
            );
        }
    }
    // A mailbox whose lines end with CR.
    let all = message(id.trim_end(), "\none\n") + &message(subject.trim_end(), "\ntwo\n");
    let outcome = read("box", all.replace('\n', "\r"));
    assert_eq!(outcome.docnos(), ["1@corp.example", "box#2"]);
    assert_eq!(outcome.documents[1].text(), "report\ntwo\n\n\n");
}

/// A CR ended no line in a message with a LF anywhere, so all of it was one field of its header.
#[test]
fn each_header_says_how_its_lines_end() {
    let cr = |text: &str| text.replace('\n', "\r");
    let plain = "From: a@x.org\nSubject: s\n\none\ntwo\n";
    let inner = "From: b@x.org\nSubject: t\n\nthree\n";
    let within = |header: &str, inner: &str| {
        format!(
            "From: a@x.org\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\
             {header}{inner}\n--b\n\nfour\n--b--\n"
        )
    };
    let message = "Content-Type: message/rfc822\n";
    let coded = format!("{message}Content-Transfer-Encoding: base64\n\n");
    let list = "<?xml version=\"1.0\"?><plist></plist>\n";
    for (name, text, words) in [
        ("a.eml", cr(plain), "s one two"),
        ("a.eml", cr(plain) + "\n", "s one two"),
        (
            "a.eml",
            cr("From: a@x.org\nSubject: s\n\n") + "one\ntwo\n",
            "s one two",
        ),
        (
            "a.eml",
            cr("From: a@x.org\nSubject: s\n") + "\r\none\r\ntwo\r\n",
            "s one two",
        ),
        ("a.eml", plain.replace('\n', "\r\r\n"), "s one two"),
        (
            "a.emlx",
            format!("{}\n{}{list}", plain.len(), cr(plain)),
            "s one two",
        ),
        (
            "a.emlx",
            cr(&format!("{}\n{plain}{list}", plain.len())),
            "s one two",
        ),
        (
            "a.eml",
            within(&format!("{message}\n"), &cr(inner)),
            "s three four",
        ),
        ("a.eml", within(&coded, &base64(&cr(inner))), "s three four"),
        (
            "a.eml",
            within("", &cr("Content-Type: text/plain\n\nthree")),
            "s three four",
        ),
        (
            "a.eml",
            cr(&within("", &format!("{message}\n{inner}"))),
            "s three four",
        ),
    ] {
        let document = &read(name, &text).documents[0];
        let found = document.text();
        let found: Vec<&str> = found.split_whitespace().collect();
        assert_eq!(found.join(" "), words, "{text:?}");
    }
    let separator = "From a@x.org Mon May 14 16:39:00 2001\n";
    let one = format!("{separator}{plain}\n");
    let two = one.replace("two", "other");
    for mailbox in [
        cr(&one) + &cr(&two) + &one,
        one.clone() + &cr(&two) + &two.replace('\n', "\r\n"),
        cr(&one) + &cr(&two) + &cr(&one) + "\n",
    ] {
        let outcome = read("a.mbox", &mailbox);
        assert_eq!(outcome.order, "ddd", "{mailbox:?}");
        for document in &outcome.documents {
            let text = document.text();
            assert!(
                text.split_whitespace().take(2).eq(["s", "one"]),
                "{mailbox:?}"
            );
        }
    }
}

/// Texts vanished in fields of headers.
#[test]
fn words_in_fields_that_mail_does_not_have_are_reported() {
    let words = "one two three four five six seven eight nine";
    let header = "From: a@x.org\nSubject: s\n";
    let parts = |part: &str| {
        format!("{header}Content-Type: multipart/mixed; boundary=b\n\n--b\n{part}\n--b--\n")
    };
    for (text, reported) in [
        (format!("{header}X-Foo: 1\n  {words}\n"), true),
        (format!("{header}Note: {words}\n"), true),
        (format!("{header}Note: {words}\n\n \n"), true),
        (format!("{header}X-Spam: {words}\n\ntext\n"), false),
        (format!("{header}To: {words}\n\n"), false),
        (format!("{header}Note: one two\n\n"), false),
        (parts(&format!("Note: {words}\n\ntext")), true),
        (
            parts(&format!(
                "Content-Type: message/rfc822\n\n{header}X-Spam: {words}\n\ntext"
            )),
            false,
        ),
        (
            parts(&format!("Content-Description: {words}\n\ntext")),
            false,
        ),
    ] {
        let notices = eml(&text).notices;
        assert_eq!(notices.contains(&Reason::OddHeader), reported, "{text}");
    }
}

/// Two encrypted messages with one subject had the same words.
#[test]
fn encrypted_messages_are_not_comparable() {
    let armour = format!(
        "-----BEGIN PGP MESSAGE-----\nVersion: 1\n\n{}\n=AbCd\n-----END PGP MESSAGE-----\n",
        base64("some bytes that nobody can read but two people who have the key of it")
    );
    let header = "From: a@x.org\nSubject: s\n";
    for (text, comparable) in [
        (format!("{header}\n{armour}"), false),
        (
            format!(
                "{header}Content-Transfer-Encoding: base64\n\n{}\n",
                base64(&armour)
            ),
            false,
        ),
        (
            format!(
                "{header}Content-Transfer-Encoding: quoted-printable\n\n{}",
                armour.replace('=', "=3D")
            ),
            false,
        ),
        (format!("{header}\nHello,\n{armour}"), true),
    ] {
        let read = eml(&text);
        assert_eq!(
            !read.notices.contains(&Reason::NotComparable),
            comparable,
            "{text}"
        );
        assert_eq!(read.text().trim().is_empty(), !comparable, "{text}");
    }
}

/// What is documented for cases in which other programs decide otherwise.
#[test]
fn lengths_and_quotations_of_messages() {
    // A wrong length would hide the next message, so a right one does not count either.
    let body = "\nwords\n\nFrom bob@example.org Mon Jan  5 10:00:00 2004\nSubject: quoted\n\nend\n";
    let length = format!("Subject: one\nContent-Length: {}", body.len());
    let outcome = read(
        "box",
        message(&length, body) + &message("Subject: two", "\nb\n"),
    );
    assert_eq!(outcome.docnos(), ["box#1", "box#2", "box#3"]);
    let reply = "I disagree.\n\nOn Monday, A wrote:\n> Ship it.\n";
    let text = eml(format!("Subject: s\n\n{reply}")).text();
    assert_eq!(text, format!("s\n{reply}\n"));
}

/// Programs of Apple and Microsoft put messages into files of their own.
#[test]
fn messages_in_other_files() {
    let message = "From: A <a@corp.example>\nSubject: report\n\
                   Message-ID: <1@corp.example>\n\nwords\n";
    let list = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist>\n\
                <plist version=\"1.0\"><dict/></plist>\n";
    let (right, wrong) = (message.len(), message.len() + 3);
    let missing = "Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\
                   Content-Type: text/plain\n\nwords\n--b\nContent-Type: text/html\n\
                   X-Apple-Content-Length: 4321\n\n--b--\n";
    let nothing = "From: a@corp.example\nSubject: s\nMessage-ID: <1@corp.example>\n\n";
    for (name, text, expected, notices) in [
        (
            "1.emlx",
            format!("{right}      \n{message}{list}"),
            "report\nwords\n\n",
            &[][..],
        ),
        (
            "1",
            format!("{right}\n{message}{list}"),
            "report\nwords\n\n",
            &[],
        ),
        (
            "1.emlx",
            format!("{right}\n{message}"),
            "report\nwords\n\n",
            &[],
        ),
        ("1.emlx", message.to_string(), "report\nwords\n\n", &[]),
        (
            "1.emlx",
            format!("{wrong}\n{message}{list}"),
            "report\nwords\n\n",
            &[Reason::WrongLength],
        ),
        (
            "1.emlx",
            format!("99999999999999999999\n{message}"),
            "report\nwords\n\n",
            &[Reason::WrongLength],
        ),
        (
            "1.emlx",
            format!("9999\n{message}"),
            "report\nwords\n\n",
            &[Reason::WrongLength],
        ),
        (
            "2.partial.emlx",
            format!("{}\n{missing}{list}", missing.len()),
            "s\nwords\n",
            &[Reason::Truncated],
        ),
        (
            "2.partial.emlx",
            format!("{}\n{nothing}{list}", nothing.len()),
            "\n",
            &[Reason::NotComparable],
        ),
        (
            "olk.eml",
            format!("\x01\x02\n\x0b (MSrc{message}"),
            "report\nwords\n\n",
            &[Reason::OddHeader],
        ),
    ] {
        let outcome = read(name, &text);
        assert_eq!(outcome.order, "d", "{name}: {text}");
        assert_eq!(outcome.documents[0].text(), expected, "{name}: {text}");
        assert_eq!(outcome.notices(), notices, "{name}: {text}");
        assert_eq!(outcome.documents[0].length as usize, text.len());
    }
}

fn eml(text: impl AsRef<[u8]>) -> Document {
    let outcome = read("a.eml", text.as_ref());
    assert_eq!(outcome.order, "d", "{outcome:?}");
    outcome.documents.into_iter().next().unwrap()
}

#[test]
fn messages() {
    // Undeclared bytes are left to the parser, declared ones too where there is one charset.
    let plain = eml(b"Subject: caf\xe9\nX: y\n\nna\xefve\n");
    assert_eq!((plain.docno.as_str(), plain.charset), ("a.eml", None));
    assert_eq!(plain.body, b"caf\xe9\nna\xefve\n\n");
    let declared = eml(
        "Content-Type: text/plain; charset=\"KOI8-R\"\nContent-Transfer-Encoding: Base64\n\n8NLJ18XU\n",
    );
    assert_eq!(
        (declared.charset.as_deref(), &declared.body[..]),
        (Some("koi8-r"), &b"\n\xf0\xd2\xc9\xd7\xc5\xd4\n"[..])
    );
    // Old programs write spaces before a colon.
    let spaced = eml("Subject : s\nContent-Transfer-Encoding : base64\n\nd29yZHM=\n");
    assert_eq!(
        (spaced.text().as_str(), spaced.notices.len()),
        ("s\nwords\n", 0)
    );
    // Lines that are joined, base64 with spaces, and a charset that looks like ASCII.
    for (header, body, expected, notices) in [
        (
            "Content-Type: text/plain; format=flowed; delsp=yes",
            "wo \nrds  \nof\n> a \n> b\n-- \nc",
            "words of\n> a \n> b\n-- \nc",
            None,
        ),
        (
            "Content-Type: text/plain; format=flowed",
            "wo \nrds",
            "wo \nrds",
            None,
        ),
        (
            "Content-Transfer-Encoding: base64",
            "d29y ZHMg\nb2Yg\tYSB0ZXh0",
            "words of a text",
            None,
        ),
        (
            "Content-Transfer-Encoding: base64",
            "Dear all",
            "\nDear all",
            Some(Reason::BadContentEncoding),
        ),
        (
            "Content-Type: text/plain; charset=utf-7",
            "+AOk- is one",
            "+AOk- is one",
            Some(Reason::WrongCharset),
        ),
    ] {
        let read = eml(format!("Subject: s\n{header}\n\n{body}"));
        assert_eq!(read.text(), format!("s\n{expected}\n"));
        assert_eq!(read.notices, Vec::from_iter(notices), "{header}");
    }
    // With a subject in another, both are decoded here.
    let mixed = eml(
        "Subject: =?iso-8859-1?q?caf=E9_au?=\n =?UTF-8*fr?B?bGFpdA==?= x\nContent-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: base64\n\n8NLJ18XU\n",
    );
    assert_eq!(
        (mixed.charset.as_deref(), mixed.text().as_str()),
        (Some("utf-8"), "café aulait x\nПривет\n")
    );
    // A line of white space continues a field.
    for blank in [" ", "\t", " \r"] {
        let folded = eml(format!(
            "Subject: a\n{blank}\n b\nContent-Type:\n{blank}\n text/html\n\nc\n"
        ));
        assert_eq!(folded.content, ContentKind::Markup);
        assert_eq!(folded.text().split_whitespace().collect::<String>(), "abc");
    }
    // UTF-16 whose label does not say in which order its bytes are.
    let wide = eml(
        "Content-Type: text/plain; charset=utf-16\nContent-Transfer-Encoding: base64\n\nAHcAbwByAGQAcwAgAG8AZgAgAGEAIAB0AGUAeAB0\n",
    );
    assert_eq!(wide.text(), "\nwords of a text\n");
    let japanese =
        eml(b"Subject: s\nContent-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B$3$s\x1b(B\n");
    assert_eq!(japanese.text(), "s\nこん\n\n");
    // Markup where there is no plain text, or a blank one; the subject is text in it.
    for parts in ["", "--b\n\n \n"] {
        let page = eml(format!(
            "Subject: a<b & c\nContent-Type: multipart/alternative;\n boundary=\"b\"\n\n{parts}--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p>one=20=\ntwo=3D</p>\n--b--\n"
        ));
        assert_eq!(
            (page.content, page.text().as_str()),
            (ContentKind::Markup, "a&lt;b &amp; c\n<p>one two=</p>\n")
        );
        assert!(page.notices.is_empty());
    }
    // Attachments and other parts are left out; messages within, multiparts within and what is in no
    // part are read.
    let walked = eml(
        "Content-Type: multipart/mixed; boundary=o\n\nbefore\n--o\nContent-Type: multipart/alternative; boundary=oo\n\n--oo\n\none\n--oo\nContent-Type: text/html\n\n<p>six\n--oo--\n--o\nContent-Type: message/rfc822\n\nSubject: within\n\ntwo\n--o\nContent-Disposition: attachment\n\nthree\n--o\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA\n--o  \n\nfour\n--o--\nafter\n",
    );
    assert_eq!(walked.text(), "\nbefore\none\ntwo\nfour\nafter\n\n");
    let digest = eml(
        "Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: =?utf-8?Q?s?=\n\none\n--d\n\n\ntwo",
    );
    assert_eq!(digest.text(), "\none\ntwo\n");
}

/// A part with its header.
fn part(kind: &str, body: &str) -> String {
    format!("--b\nContent-Type: {kind}\n\n{body}\n")
}

fn multipart(kind: &str, parts: &[String]) -> Document {
    let parts = parts.concat();
    eml(format!(
        "Subject: s\nContent-Type: multipart/{kind}; boundary=b\n\n{parts}--b--\n"
    ))
}

#[test]
fn parts_of_all_types_of_text() {
    for (kind, expected) in [
        ("text/markdown", "s\n# Head\n<b>\n\n"),
        ("TEXT/X-Whatever; charset=utf-8", "s\n# Head\n<b>\n\n"),
        ("text/enriched", "s\n# Head\n\n\n"),
    ] {
        let read = eml(format!("Subject: s\nContent-Type: {kind}\n\n# Head\n<b>\n"));
        assert_eq!(
            (read.text().as_str(), read.content),
            (expected, ContentKind::Text)
        );
        assert!(read.notices.is_empty());
    }
    let enriched = "<bold>Now</bold> a <<b> <color><param>red</param>c</color>";
    let read = eml(format!(
        "Content-Type: text/enriched\nContent-Transfer-Encoding: base64\n\n{}\n",
        base64(enriched)
    ));
    assert_eq!(read.text(), "\nNow a <b> c\n");
    // Of several parts, all texts count, in their order.
    let mixed = [
        part("text/html", "<p>page &amp; more"),
        part("text/css", "p { none }"),
        part("text/plain", "a < b & c"),
        part("image/png", "AAAA"),
    ];
    let read = multipart("mixed", &mixed);
    assert_eq!(read.text(), "s\n<p>page &amp; more\na &lt; b &amp; c\n");
    assert_eq!(read.content, ContentKind::Markup);
    // A footer of a mailing list is not the text of the message.
    let plain = part("text/plain", "one two three");
    let page = part("text/html", "<title>t</title><p>one two three");
    let calendar = part("text/calendar", "BEGIN:VCALENDAR");
    for (parts, expected) in [
        (vec![plain.clone(), page.clone()], "s\none two three\n"),
        (
            vec![page.clone(), plain.clone(), calendar.clone()],
            "s\none two three\n",
        ),
        (
            vec![calendar.clone(), page.clone()],
            "s\n<title>t</title><p>one two three\n",
        ),
        (
            vec![calendar.clone(), part("text/plain", " -- ")],
            "s\nBEGIN:VCALENDAR\n",
        ),
    ] {
        assert_eq!(multipart("alternative", &parts).text(), expected);
    }
}

/// Each text of a message is read, or the line of the message names its type.
#[test]
fn texts_in_parts_that_are_left_out_have_a_line() {
    let kind = |kind: &str| part(kind, "other words");
    let attached = |kind: &str| {
        format!(
            "--b\nContent-Type: {kind}\nContent-Disposition: attachment\n\nFrom: a\n\nother words\n"
        )
    };
    let plain = part("text/plain", "one two three");
    let page = |words: &str| part("text/html", &format!("<p>one two three</p>{words}"));
    let mixed = |parts: &str| {
        let parts = parts.replace("--b\n", "--c\n");
        format!("--b\nContent-Type: multipart/mixed; boundary=c\n\n{parts}--c--\n")
    };
    let after = "--b--\nfooter of a list\n".to_string();
    for (of, parts, expected, left) in [
        ("mixed", kind("plain/text"), "other words\n", None),
        ("mixed", kind("message/partial"), "other words\n", None),
        ("mixed", attached("message/news"), "other words\n", None),
        ("mixed", attached("message/rfc822"), "other words\n", None),
        ("mixed", attached("text/plain"), "", Some("1 text/plain")),
        (
            "mixed",
            kind("application/json") + &kind("application/json") + &kind("message/delivery-status"),
            "",
            Some("2 application/json, 1 message/delivery-status"),
        ),
        (
            "mixed",
            kind("application/octet-stream"),
            "",
            Some("1 application/octet-stream"),
        ),
        (
            "mixed",
            part("application/octet-stream", "\0\x01\x02\x03\0\0\0"),
            "",
            None,
        ),
        ("mixed", part("application/pdf", "%PDF-1.4 words"), "", None),
        (
            "mixed",
            kind("image/svg+xml") + &kind("application/pgp-signature"),
            "",
            None,
        ),
        ("related", kind("text/plain"), "", Some("1 text/plain")),
        ("alternative", kind("text/plain"), "", Some("1 text/plain")),
        (
            "alternative",
            part("text/plain", "One  two three")
                .to_lowercase()
                .replace("content-type", "Content-Type"),
            "",
            None,
        ),
        (
            "alternative",
            kind("text/calendar"),
            "",
            Some("1 text/calendar"),
        ),
        (
            "alternative",
            page("four"),
            "<p>one two three</p>four\n",
            None,
        ),
        ("alternative", page(""), "", None),
        (
            "alternative",
            part("text/html", "<p>one two four"),
            "",
            Some("1 text/html"),
        ),
        (
            "alternative",
            part("text/x-amp-html", "<p>one <b>two</b> three"),
            "",
            None,
        ),
        (
            "alternative",
            kind("text/watch-html"),
            "",
            Some("1 text/watch-html"),
        ),
        (
            "alternative",
            part("text/enriched", "<bold>one</bold> two three"),
            "",
            None,
        ),
        (
            "alternative",
            part("text/enriched", "<bold>one</bold> two four"),
            "",
            Some("1 text/enriched"),
        ),
        (
            "alternative",
            mixed(&(page("") + &kind("text/plain"))),
            "<p>one two three</p>\nother words\n",
            None,
        ),
        ("signed", after.clone(), "footer of a list\n", None),
        (
            "mixed",
            after + &kind("text/plain"),
            "other words\nfooter of a list\n",
            None,
        ),
    ] {
        let read = multipart(of, &[plain.clone(), parts.clone()]);
        let first = if expected.starts_with("<p>") {
            "s\n"
        } else {
            "s\none two three\n"
        };
        assert_eq!(read.text(), format!("{first}{expected}"), "{of} {parts}");
        let expected: Vec<_> = left
            .map(|left| format!("parts with text that is not compared; extract them to files to compare them: {left}"))
            .into_iter()
            .collect();
        assert_eq!(read.details, expected, "{of} {parts}");
    }
    // A number or three words in a row are not in the text that is read; a link is nothing to tell.
    let words = "your invoice of this month is ready now, so please look at it and pay soon";
    for (more, left) in [
        ("", None),
        ("Click here", None),
        ("on&eacute;s tw&eacute;s &Eacute;5", None),
        ("900", Some("1 text/html")),
        ("one two three", Some("1 text/html")),
    ] {
        let page = part("text/html", &format!("<p>{words}</p>{more}"));
        let read = multipart("alternative", &[part("text/plain", words), page]);
        let named = read.details.iter().map(|detail| detail.rsplit(": ").next());
        assert!(named.eq(left.map(Some)), "{more}: {:?}", read.details);
    }
    // The words of the text that is read are compared with those of many others.
    let many = (0..300).map(|n| part("text/html", &format!("other{n}")));
    let long: String = (0..100_000).map(|n| format!("w{n} ")).collect();
    let parts: Vec<String> = [part("text/html", &long)].into_iter().chain(many).collect();
    let before = std::time::Instant::now();
    let details = multipart("alternative", &parts).details;
    assert!(details[0].ends_with(": 300 text/html"), "{details:?}");
    assert!(before.elapsed() < std::time::Duration::from_secs(5));
    // What tells a reader about the format is not text.
    let notice = "This message is in MIME format. Since your mail reader does not understand\n\
                  this format, some or all of this message may not be legible.\n";
    for (before, expected) in [
        (notice.to_string(), ""),
        ("A message in several parts.\n".into(), ""),
        (
            "This is a multi-part message in MIME format\nwords\n".into(),
            "words\n",
        ),
        (
            format!("{notice}\nwords. More of MIME.\n"),
            "\n\nwords. More of MIME.\n",
        ),
    ] {
        let header = "Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n";
        let text = eml(format!("{header}{before}--b\n\none\n--b--\n")).text();
        assert_eq!(text, format!("s\n{expected}one\n"));
    }
    // A footer is not text to compare where there is no other.
    let image = part("image/png", "AAAA") + "--b--\nfooter of a list\n";
    let read = multipart("mixed", &[image]);
    assert_eq!(
        (read.text().as_str(), read.notices[0]),
        ("\n", Reason::NotComparable)
    );
}

/// Messages behind each other in one file.
#[test]
fn messages_behind_each_other() {
    let header = "From: A <a@corp.example>\nDate: Mon, 14 May 2001 16:39:01 -0700\nSubject: s\n";
    let multipart =
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b--\n";
    let second = format!("{header}\nsecond\n");
    for (text, several) in [
        (format!("{header}{multipart}{second}"), true),
        (format!("{header}{multipart}\n\n{second}"), true),
        (format!("{header}\none\n{second}"), true),
        (
            format!("{header}\none\n\nReturn-Path: <a@b>\n{second}"),
            true,
        ),
        (
            format!("{header}{}{second}", multipart.replace("--b--\n", "")),
            true,
        ),
        (format!("{header}\n{second}"), false),
        (
            format!("{header}\nSee below.\n\n--- A message ---\n\n{second}"),
            false,
        ),
        (format!("{header}\nA. wrote:\n\n{second}"), false),
        (
            format!("{header}\none\n\nFrom: me\nTo: you\n\nall\n"),
            false,
        ),
    ] {
        let read = eml(&text);
        assert!(
            several == read.text().contains("second") || !several,
            "{text}"
        );
        let expected: &[Reason] = if several {
            &[Reason::PerhapsSeveral]
        } else {
            &[]
        };
        assert_eq!(read.notices, expected, "{text}");
    }
}

/// A mailbox of MMDF has each message between two lines of controls.
#[test]
fn mailboxes_of_mmdf() {
    let mark = "\x01\x01\x01\x01\n";
    let message = |n: usize, body: &str| {
        format!("{mark}From: a@x.example\nMessage-ID: <m{n}@x.example>\n\n{body}\n")
    };
    let part = "one\n\x01\x01\x01\x01\nno header\n\x01\x01\x01\x01\x01\n";
    let two = message(1, part) + mark + &message(2, "two") + mark;
    let long = message(1, &"a line\n".repeat(12_000)) + mark + &message(2, "two") + mark;
    for text in [
        two.clone(),
        two.replace('\n', "\r\n"),
        format!("\n{two}\n\n"),
        // One line between two messages, or one at the end is missing.
        two.replace(&mark.repeat(2), mark),
        two.trim_end_matches(mark).to_string(),
        two.replacen(
            mark,
            &format!("{mark}From MAILER-DAEMON Mon Jan  5 10:00:00 2004\n"),
            1,
        ),
        long,
    ] {
        for steps in [&[1 << 20][..], &[7, 2]] {
            let outcome = read_split("box", text.as_bytes(), &ReadConfig::default(), steps);
            assert_eq!(
                outcome.docnos(),
                ["m1@x.example", "m2@x.example"],
                "{outcome:?}"
            );
            assert_eq!(outcome.documents[1].text().trim(), "two");
            assert!(
                outcome
                    .documents
                    .iter()
                    .all(|document| document.notices.is_empty())
            );
        }
    }
    assert_eq!(
        read("box", two).documents[0].text(),
        format!("\n{part}\n\n")
    );
    let text = format!("{mark}{}{mark}", "no header follows the line\n".repeat(9));
    assert_eq!(read("box", &text).docnos(), ["box"]);
}

/// A text/plain that lacks a fifth of the letters of the page beside it says less than it.
#[test]
fn a_stub_gives_way_to_the_page() {
    let stub = part("text/plain", "No HTML here, friend.");
    for (letters, taken) in [(20, false), (21, true)] {
        let page = part(
            "text/html",
            &format!("<style>p</style><p title='{stub}'>{}", "é ".repeat(letters)),
        );
        let read = multipart("alternative", &[stub.clone(), page]);
        assert_eq!(read.content == ContentKind::Markup, taken, "{letters}");
    }
}

#[test]
fn encoded_messages_within() {
    let within = "Subject: inner\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\none\n--i\n\
                  Content-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n\
                  <p>caf=E9\n--i--\n";
    for (coding, body) in [
        ("base64", base64(within)),
        ("quoted-printable", within.replace('=', "=3D")),
        ("8bit", within.into()),
    ] {
        let part = format!(
            "--b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: {coding}\n\n{body}\n"
        );
        let read = multipart(
            "mixed",
            &[self::part("text/plain; charset=utf-8", "FYI \u{e9}"), part],
        );
        assert_eq!(
            read.text(),
            "s\nFYI \u{e9}\none\n<p>caf\u{e9}\n",
            "{coding}"
        );
        assert!(read.notices.is_empty(), "{:?}", read.notices);
    }
    // Each says where it ends.
    for (levels, detail) in [(15, None), (16, Some(": more than 16 deep"))] {
        let nested = "Content-Type: message/rfc822\n\n".repeat(levels);
        let nested = format!("--b\n{nested}\nthe end\n");
        let read = multipart("mixed", &[part("text/plain", "FYI"), nested]);
        assert_eq!(read.text().contains("the end"), detail.is_none());
        let told = detail.map(|_| Reason::MessageParts);
        assert_eq!(read.notices, told.as_slice());
        let ends = |told: &String| told.ends_with(detail.unwrap_or_default());
        assert!(read.details.iter().all(ends), "{:?}", read.details);
    }
    let pictures = part("image/png", "AAAA").repeat(1001);
    let read = multipart("mixed", &[part("text/plain", "FYI"), pictures]);
    assert!(read.details[0].ends_with(": after the first 1000 (of any type)"));
    // What they become has the limit of a document.
    let mut deep = "\n".to_string() + &"x".repeat(300);
    for _ in 0..4 {
        deep = format!(
            "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{}",
            base64(&deep)
        );
    }
    assert_eq!(eml(&deep).text().trim().len(), 300);
    let outcome = read_with("a.eml", deep.as_bytes(), &small(deep.len() as u64));
    assert_eq!(outcome.reasons(), [Reason::TooLarge]);
}

#[test]
fn fields_that_are_split_or_repeated() {
    let text = |header: &str, boundary: &str| {
        eml(format!(
            "{header}\n\nno\n--{boundary}\n\nyes\n--{boundary}--\n"
        ))
        .text()
    };
    for header in [
        "Content-Type: multipart/mixed;\n boundary*1=\"part\";\n boundary*0=\"long\"",
        "Content-Type: multipart/mixed; boundary*=us-ascii'en'long%70art",
        "Content-Type: multipart/mixed; boundary*0*=''long%70; boundary*1=art",
        "Content-Type: multipart/mixed (a comment; boundary=none); boundary=\"longpart\" (so)",
        "Content-Type: multipart/mixed; boundary=other\nContent-Type: multipart/mixed; boundary=longpart",
        "Content-Type: text/plain\nContent-Type: multipart/mixed; boundary=longpart",
        "Content-Type: multipart/mixed; boundary=longpart\nContent-Type: text/plain",
    ] {
        assert_eq!(text(header, "longpart"), "\nno\nyes\n", "{header}");
    }
    // A character in two encoded words, in either coding.
    for (subject, expected) in [
        (
            "=?utf-8?B?5pel5pys6Kqe4w==?=\n =?utf-8?B?ga7ku7blkI3jg4bjgrnjg4g=?= tail",
            "日本語の件名テスト tail",
        ),
        (
            "=?UTF-8?Q?caf=C3?=\n =?utf-8?b?qQ==?= =?iso-8859-1?q?=E9?=",
            "caféé",
        ),
        ("a =?utf-8?Q?b?= c =?utf-8?Q?d?=", "a b c d"),
    ] {
        let read = eml(format!("Subject: {subject}\n\nx\n"));
        assert_eq!(read.text().lines().next(), Some(expected));
    }
}

/// Messages of which nothing but the subject could be read duplicate nothing.
#[test]
fn messages_without_text_are_not_comparable() {
    let uu = "begin 644 a.txt\n::&5L;&\\@=V]R;&0@=&AI<R!I<R!A('1E<W0 \n`\nend\n";
    let attachment =
        "--b\nContent-Type: application/pdf\nContent-Disposition: attachment\n\nJVBERi0\n";
    let unread = [
        eml(
            "Subject: s\nContent-Type: application/pkcs7-mime\nContent-Transfer-Encoding: base64\n\nAAAA\n",
        ),
        eml(format!(
            "Subject: s\nContent-Type: text/plain\nContent-Transfer-Encoding: x-uuencode\n\n{uu}"
        )),
        eml(format!("Subject: s\n\n--\n{uu}")),
        eml("Subject: s\nContent-Type: text/html\n\n<title>t</title><img src=a alt='a > b'>&nbsp;"),
        multipart("mixed", &[attachment.into()]),
        multipart("mixed", &[part("text/plain", "\n"), attachment.into()]),
        multipart(
            "mixed",
            &[part("text/plain", " -- \n"), part("image/png", "AAAA")],
        ),
        multipart(
            "encrypted",
            &[
                part("application/pgp-encrypted", "Version: 1"),
                part("application/octet-stream", "-----BEGIN PGP MESSAGE-----"),
            ],
        ),
    ];
    for read in unread {
        assert_eq!(read.notices, [Reason::NotComparable]);
        assert_eq!(read.text().trim(), "");
        assert_eq!(read.title.as_deref(), Some("s"));
    }
    // Where there is nothing else, the subject counts; and so does any text.
    let text = |read: Document| {
        let is_file =
            |notice: &Reason| matches!(notice, Reason::EncodedText | Reason::MessageParts);
        assert!(read.notices.iter().all(is_file), "{:?}", read.notices);
        read.text()
    };
    assert_eq!(text(eml("Subject: s\n\n")), "s\n");
    assert_eq!(
        text(eml("Subject: s\nContent-Type: text/html\n\n<p></p>")),
        "s\n<p></p>\n"
    );
    let signed = [
        part("text/plain", ""),
        part("application/pgp-signature", "iQ"),
    ];
    assert_eq!(text(multipart("signed", &signed)), "s\n");
    assert_eq!(
        text(eml(format!("Subject: s\n\nhello\n{uu}bye\n"))),
        "s\nhello\nbye\n\n"
    );
    assert_eq!(
        text(multipart(
            "mixed",
            &[part("text/plain", "see below"), attachment.into()]
        )),
        "s\nsee below\n"
    );
}

#[test]
fn saved_pages() {
    let resource = |kind: &str, body: &str| {
        format!("--B\nContent-Type: {kind}\nContent-Location: x\n\n{body}\n")
    };
    let parts = resource("text/html; charset=utf-8", "<title>x</title><p>words")
        + &resource("text/css", "p {}")
        + &resource("text/plain", "a resource")
        + &resource("image/png", "AAAA")
        + "--B--\n";
    let kind = "MIME-Version: 1.0\nContent-Type: multipart/related;\n\ttype=\"text/html\";\n\tboundary=\"B\"\n\n\n";
    let blink = format!(
        "From: <Saved by Blink>\nSnapshot-Content-Location: https://a.example/\nSubject: x\n{kind}{parts}"
    );
    let explorer =
        format!("From: <Saved by Windows Internet Explorer 8>\nSubject: x\n{kind}{parts}");
    for text in [&blink, &explorer, &blink.replace('\n', "\r\n")] {
        for name in ["page.mht", "page.mhtml", "page", "page.html"] {
            let outcome = read(name, text);
            assert_eq!(
                (outcome.docnos(), outcome.order.as_str()),
                (vec![name], "d")
            );
            let page = &outcome.documents[0];
            assert_eq!(page.text().trim(), "<title>x</title><p>words");
            assert_eq!(page.content, ContentKind::Markup);
            assert_eq!(page.title.as_deref(), Some("x"));
        }
    }
    assert_eq!(
        read("page", &blink).documents[0].url.as_deref(),
        Some("https://a.example/")
    );
    // The root may come later, and a saved page has pages in it.
    let root = "--b\nContent-ID: <r>\nContent-Type: text/plain\n\nroot\n";
    let parts = [
        part("text/plain", "first"),
        root.to_string(),
        part("text/html", "<p>frame"),
    ];
    assert_eq!(
        multipart("related; start=\"<r>\"", &parts).text(),
        "s\nroot\n<p>frame\n"
    );
    // Any message of several parts is recognised.
    let text = "Received: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n--b--\n";
    assert_eq!(read("cur", text).documents[0].text(), "\nwords\n");
}

/// Base64 in lines of 60 characters.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (n, three) in text.as_bytes().chunks(3).enumerate() {
        if n > 0 && n % 15 == 0 {
            out.push('\n');
        }
        let bits = (0..3).fold(0u32, |bits, i| {
            bits << 8 | u32::from(*three.get(i).unwrap_or(&0))
        });
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { digit as char } else { '=' });
        }
    }
    out
}

#[test]
fn broken_messages() {
    for (text, expected, reason) in [
        (
            "Content-Type: multipart/mixed; boundary=b\n\n--a\nwords\n",
            "\n--a\nwords\n\n",
            Reason::OddHeader,
        ),
        (
            "Content-Type: multipart/mixed\n\nwords",
            "\nwords\n",
            Reason::OddHeader,
        ),
        (
            "Subject: s\nno field : here\nX: y\n\nwords",
            "s\nno field : here\nX: y\n\nwords\n",
            Reason::OddHeader,
        ),
        (
            "Content-Transfer-Encoding: base64\n\nb25l\nA list of ours.\n",
            "\none\nA list of ours.\n\n",
            Reason::BadContentEncoding,
        ),
        (
            "Content-Transfer-Encoding: quoted-printable\n\n=zz=4",
            "\n=zz=4\n",
            Reason::BadContentEncoding,
        ),
        (
            "Content-Transfer-Encoding: x-own\n\nwords",
            "\nwords\n",
            Reason::BadContentEncoding,
        ),
        (
            "Subject: =?utf-8?Q?=C3=A9?=\nContent-Type: text/plain; charset=none-such\n\ncaf\u{e9}",
            "é\ncafé\n",
            Reason::WrongCharset,
        ),
        (
            "Subject: =?utf-8?Q?=C3=A9?=\nContent-Type: text/plain; charset=euc-jp\nContent-Transfer-Encoding: quoted-printable\n\na=FFb",
            "é\na\u{fffd}b\n",
            Reason::InvalidBytes,
        ),
    ] {
        let read = eml(text);
        assert_eq!(read.text(), expected);
        assert_eq!(read.notices, [reason], "{text}");
    }
    assert_eq!(eml("Subject: =?utf-8?Q?a\n\nb").text(), "=?utf-8?Q?a\nb\n");
    // Depth and number are bounded, and told.
    let mut deep = String::new();
    for n in 0..40 {
        deep += &format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
    }
    let deep = eml(deep + "\nwords");
    assert_eq!(
        (deep.text().as_str(), &deep.notices[..]),
        ("\n", &[Reason::NotComparable][..])
    );
    let many =
        eml("Content-Type: multipart/mixed; boundary=b\n\n".to_string()
            + &"--b\n\nw\n".repeat(3000));
    assert_eq!(many.notices, [Reason::MessageParts]);
    assert_eq!(many.text().matches('w').count(), 999);
    // What a part becomes has a limit too.
    let grown = b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=koi8-r\n\n".to_vec();
    let grown = [
        grown,
        vec![0xf0; 400],
        b"\n--b\nContent-Type: text/plain; charset=latin1\n\n\xe9".to_vec(),
    ]
    .concat();
    assert_eq!(
        read_with("a.eml", &grown, &small(600)).reasons(),
        [Reason::TooLarge]
    );
    assert_eq!(
        read_with("a", b"words", &forced(Format::Mbox)).reasons(),
        [Reason::WrongFormat]
    );
    assert_eq!(
        read_with("a", b"words", &forced(Format::Eml)).docnos(),
        ["a"]
    );
}

// ---- inputs ----

fn paths(files: &[InputFile], root: &Path) -> Vec<String> {
    files
        .iter()
        .map(|file| {
            file.path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

#[test]
fn inputs_are_listed_once_and_sorted() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    let directory = common::temporary();
    let root = directory.path();
    for sub in ["in/b", "in/b-2", "out"] {
        std::fs::create_dir_all(root.join(sub)).unwrap();
    }
    for file in ["in/b/x.txt", "in/b-2/y.txt", "in/a.txt", "out/z.txt"] {
        std::fs::write(root.join(file), "text").unwrap();
    }
    symlink("..", root.join("in/b/loop")).unwrap();
    symlink("../a.txt", root.join("in/b/again.txt")).unwrap();
    symlink("../../out", root.join("in/b/outside")).unwrap();
    symlink("nowhere", root.join("in/broken")).unwrap();
    let odd = root
        .join("in")
        .join(std::ffi::OsStr::from_bytes(b"d\xe9.txt"));
    std::fs::write(&odd, "odd").unwrap();
    let fifo = root.join("in/fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let arguments = [root.join("in"), root.join("in/a.txt"), root.join("in")];
    let files = list_inputs(&arguments).unwrap();
    assert_eq!(
        paths(&files, root),
        [
            "in/a.txt",
            "in/b-2/y.txt",
            "in/b/outside/z.txt",
            "in/b/x.txt",
            "in/broken",
            "in/d\u{fffd}.txt",
            "in/fifo"
        ]
    );
    let config = ReadConfig::default();
    let outcomes: Vec<Outcome> = files
        .iter()
        .map(|file| drain(open(file, 3, &config), &config))
        .collect();
    assert_eq!(outcomes[2].docnos(), ["b/outside/z.txt"]);
    assert_eq!(outcomes[4].reasons(), [Reason::Unreadable]);
    assert_eq!(outcomes[5].docnos(), ["d\\xe9.txt"]);
    assert_eq!(outcomes[5].documents[0].notices, [Reason::OddPath]);
    assert_eq!(outcomes[6].reasons(), [Reason::NotAFile]);
    let identity = files[0].identity.clone().unwrap();
    assert_eq!(identity.size, 4);
    let json = serde_json::to_string(&identity).unwrap();
    assert_eq!(
        serde_json::from_str::<lookalike::text::read::FileIdentity>(&json).unwrap(),
        identity
    );
    // A file given itself is named by its name; a missing one is an error.
    assert_eq!(
        list_inputs(&[root.join("in/b/x.txt")]).unwrap()[0].docno,
        "x.txt"
    );
    assert!(list_inputs(&[root.join("missing")]).is_err());
    assert_eq!(list_inputs(&["-".into(), "-".into()]).unwrap().len(), 1);
    // A file that vanishes after it was listed.
    std::fs::remove_file(root.join("in/a.txt")).unwrap();
    let outcome = drain(open(&files[0], 0, &config), &config);
    assert_eq!(outcome.reasons(), [Reason::Unreadable]);
}

// ---- any bytes at all ----

/// A file of one of the formats, and how many documents it holds where that is sure.
fn valid_file() -> impl Strategy<Value = (Vec<u8>, Option<usize>)> {
    let pages = prop::collection::vec("[a-z<>/ \n\"{}:,\\[\\]]{0,80}", 0..6);
    (pages, 0..7usize, any::<bool>()).prop_map(|(pages, kind, zip)| {
        let mut text = String::new();
        for (i, page) in pages.iter().enumerate() {
            text += &match kind {
                0 => trec_web(&i.to_string(), page),
                1 => format!("<DOC>\n<DOCNO>{i}</DOCNO>\n<TEXT>{page}</TEXT>\n</DOC>\n"),
                2 => warc(&i.to_string(), page),
                3 => arc(&format!("http://x.org/{i}"), page),
                4 => format!("{{\"id\":{i},\"text\":{}}}\n", serde_json::json!(page)),
                5 => format!("<REUTERS NEWID=\"{i}\"><TEXT>{page}</TEXT></REUTERS>\n"),
                _ => page.clone(),
            };
        }
        let documents = (kind < 6).then_some(pages.len());
        (
            if zip {
                gzip(text.as_bytes())
            } else {
                text.into_bytes()
            },
            documents,
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_rejected(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        start in prop::sample::select(vec![
            &b""[..], b"\x1f\x8b\x08\0", b"\x1f\x9d\x90", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY",
            b"\xfd7zXZ\0", b"<DOC>\n<DOCNO>", b"WARC/1.0\r\n", b"{\"", b"[{", b"<REUTERS ",
            b"http://x.org/ 1.2.3.4 20140101000000 text/html 100\n",
            b"From a Mon Jan  5 10:00:00 2004\nSubject: s\n\n",
        ]),
        format in prop::option::of(prop::sample::select(Format::ALL.to_vec())),
        steps in prop::collection::vec(1..100usize, 1..4),
    ) {
        let bytes = [start, &bytes].concat();
        let config = ReadConfig { format, ..small(500) };
        let whole = read_split("x", &bytes, &config, &[usize::MAX]);
        prop_assert!(bytes.iter().all(u8::is_ascii_whitespace) || !whole.order.is_empty()
            || matches!(format, None | Some(Format::Jsonl | Format::TrecWeb | Format::TrecSgml)));
        prop_assert_eq!(&whole, &read_split("x", &bytes, &config, &steps));
    }

    #[test]
    fn damaged_files_are_read_or_rejected(
        (mut bytes, _) in valid_file(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 0..6),
        steps in prop::collection::vec(1..100usize, 1..4),
        limit in prop::sample::select(vec![50, 300, 1 << 20]),
    ) {
        for (at, byte, how) in damage {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                2 => bytes.insert(at, byte),
                _ => {
                    bytes.remove(at);
                }
            }
        }
        let config = small(limit);
        let marks = bytes.windows(2).any(|pair| pair == b"<!" || pair == b"<?");
        if !marks && bytes.iter().all(u8::is_ascii) && !bytes.starts_with(&[0x1f]) {
            prop_assert!(all_accounted_for(&bytes, &config));
        }
        let whole = read_split("x", &bytes, &config, &[usize::MAX]);
        prop_assert_eq!(whole, read_split("x", &bytes, &config, &steps));
    }

    #[test]
    fn wide_files_give_the_same_documents(
        (bytes, documents) in valid_file(),
        kind in 0..2usize,
        steps in prop::collection::vec(1..100usize, 1..4),
    ) {
        if let (Ok(text), Some(1..)) = (std::str::from_utf8(&bytes), documents) {
            let config = ReadConfig::default();
            let plain = read_split("x", &bytes, &config, &[usize::MAX]);
            let marked = wide(&format!("\u{feff}{text}"), kind);
            let found = read_split("x", &marked, &config, &steps);
            let of = |outcome: &Outcome| -> Vec<(String, String, u64)> {
                let documents = outcome.documents.iter();
                documents.map(|found| (found.docno.clone(), found.text(), found.length)).collect()
            };
            prop_assert_eq!(of(&found), of(&plain));
            prop_assert_eq!(found.reasons(), plain.reasons());
        }
    }

    #[test]
    fn whole_files_give_every_document((bytes, documents) in valid_file()) {
        let outcome = read_split("x", &bytes, &ReadConfig::default(), &[usize::MAX]);
        if let Some(documents) = documents {
            prop_assert_eq!(outcome.documents.len(), documents);
        }
    }
}

/// Every byte is in a record or in a rejected stretch, or is what may stand between records.
fn all_accounted_for(bytes: &[u8], config: &ReadConfig) -> bool {
    let between = |byte: &u8| byte.is_ascii_whitespace() || b",[]".contains(byte);
    let mut reader =
        RecordReader::from_reader(std::io::Cursor::new(bytes.to_vec()), "x", 0, config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    let mut at = 0;
    for record in &batch.records {
        if let RecordKind::Rejected(reject) = &record.kind
            && matches!(
                reject.reason,
                Reason::BinaryFile | Reason::UnsupportedFormat
            )
        {
            return true;
        }
        let start = record.source.offset as usize;
        if !bytes[at..start].iter().all(between) {
            return false;
        }
        at = start + record.source.length as usize;
    }
    bytes[at..].iter().all(between)
}

#[test]
fn large_records_cross_every_buffer() {
    // Longer than the window, with the closing tag at every position around its end.
    for extra in [0, 1, 2, 3, 4, 5, 6, 7, 1000] {
        let body = "word <b>x</b> ".repeat((600 << 10) / 14) + &"y".repeat(extra);
        let text = trec_web("A", &body) + &trec_web("B", "b");
        let outcome = read_split(
            "00",
            text.as_bytes(),
            &ReadConfig::default(),
            &[65_536, 1, 4095],
        );
        assert_eq!(outcome.docnos(), ["A", "B"]);
        assert_eq!(outcome.documents[0].body.len(), body.len() + 1);
        let text = warc("A", &body) + &warc("B", "b");
        let outcome = read_split(
            "00",
            text.as_bytes(),
            &ReadConfig::default(),
            &[65_536, 1, 4095],
        );
        assert_eq!(outcome.docnos(), ["A", "B"]);
        assert_eq!(outcome.documents[0].body.len(), body.len());
    }
}

// ---- real files ----

/// Path, documents, skipped records, rejects by reason, notices by reason.
type Expected = (
    &'static str,
    usize,
    usize,
    &'static [(Reason, usize)],
    &'static [(Reason, usize)],
);

#[rustfmt::skip]
const REAL_FILES: &[Expected] = &[
    ("email/enron-spam-sample.jsonl.gz", 1800, 0, &[], &[]),
    ("email/spamassassin-sample.jsonl.gz", 1660, 0, &[], &[(Reason::EncodedText, 61)]),
    ("formats/clueweb/anserini-cw09-artificial.warc.gz", 1, 1, &[], &[]),
    ("formats/clueweb/anserini-cw12-artificial.warc.gz", 1, 1, &[], &[]),
    ("formats/clueweb/cw09-en0000-00-sample.warc.gz", 23, 1, &[], &[]),
    ("formats/clueweb/cw12-0000tw-00-sample.warc", 2, 1, &[(Reason::HttpStatus, 2)], &[(Reason::WrongLength, 1)]),
    ("formats/commoncrawl/CC-MAIN-2015-11-sample-00000.warc.gz", 4, 10, &[], &[(Reason::BadContentEncoding, 3)]),
    ("formats/commoncrawl/CC-MAIN-2015-11-sample-00336.warc.gz", 16, 38, &[(Reason::NotText, 2)], &[(Reason::Truncated, 1), (Reason::BadContentEncoding, 11)]),
    ("formats/commoncrawl/anserini-cc-news.warc.gz", 1, 1, &[], &[]),
    ("formats/commoncrawl/anserini-cc-news.warc.wet.gz", 1, 1, &[], &[]),
    ("formats/commoncrawl/cc-2008-small-sample.arc.gz", 125, 1, &[(Reason::HttpStatus, 14), (Reason::NotText, 6)], &[(Reason::Truncated, 2), (Reason::BadChunks, 33), (Reason::BadContentEncoding, 14)]),
    ("formats/commoncrawl/jwarc-cc.warc.gz", 1, 0, &[], &[]),
    ("formats/json/anserini-beir-segment1.jsonl.gz", 2, 0, &[], &[]),
    ("formats/json/anserini-c4-train.json.gz", 2, 0, &[], &[]),
    ("formats/json/anserini-collection1-doc1.json", 1, 0, &[], &[]),
    ("formats/json/anserini-collection2-array.json", 2, 0, &[], &[]),
    ("formats/json/anserini-collection3-lines.json", 2, 0, &[], &[]),
    ("formats/json/anserini-collection3-lines.json.gz", 2, 0, &[], &[]),
    ("formats/json/anserini-error-contents-missing.json", 0, 0, &[(Reason::MissingText, 1)], &[]),
    ("formats/json/anserini-error-id-missing.json", 1, 0, &[], &[]),
    ("formats/json/anserini-zh.json", 3, 0, &[], &[]),
    ("formats/nyt/anserini-nyt-artificial.xml", 1, 0, &[], &[]),
    ("formats/qrels/prels.web.1-50.head400.txt", 1, 0, &[], &[]),
    ("formats/qrels/qrels.adhoc.401-450.txt.gz", 1, 0, &[], &[]),
    ("formats/qrels/qrels.terabyte04.701-750.txt.gz", 1, 0, &[], &[]),
    ("formats/qrels/qrels.web.151-200.negative-grades.txt", 1, 0, &[], &[]),
    ("formats/qrels/qrels.web.201-250.ndeval.head400.txt", 1, 0, &[], &[]),
    ("formats/qrels/qrels.web.401-450.txt.gz", 1, 0, &[], &[]),
    ("formats/qrels/topics.terabyte04.701-750.txt", 1, 0, &[], &[(Reason::PerhapsSeveral, 1)]),
    ("formats/qrels/topics.web.1-50.txt", 1, 0, &[], &[(Reason::PerhapsSeveral, 1)]),
    ("formats/trec-sgml/anserini-clean-trec.txt", 2, 0, &[], &[]),
    ("formats/trec-sgml/anserini-trec-ap-ntcir.txt", 2, 0, &[], &[]),
    ("formats/trec-sgml/anserini-trec-ap.txt", 2, 0, &[], &[]),
    ("formats/trec-sgml/anserini-trec-wsj.txt", 1, 0, &[], &[]),
    ("formats/trec-sgml/shakespeare-merchant.qrels", 1, 0, &[], &[]),
    ("formats/trec-sgml/shakespeare-merchant.trec.1", 14, 0, &[], &[]),
    ("formats/trec-sgml/shakespeare-merchant.trec.2", 8, 0, &[], &[]),
    ("formats/trec-sgml/vaswani-doc-text.trec.gz", 11429, 0, &[], &[]),
    ("formats/trec-sgml/vaswani-qrels", 1, 0, &[], &[]),
    ("formats/trec-sgml/vaswani-query-text.trec", 1, 0, &[], &[(Reason::PerhapsSeveral, 1)]),
    ("formats/trec-web/anserini-trecweb-malformed.txt", 3, 0, &[], &[(Reason::OddHeader, 3)]),
    ("formats/trec-web/gov1-G00-00.gz", 3, 0, &[], &[]),
    ("formats/trec-web/gov2-GX000-00.gz", 1, 0, &[], &[]),
    ("formats/warc/iawc-IAH-20080430204825-00000-blackbook-truncated.arc", 4, 2, &[(Reason::NotText, 3)], &[]),
    ("formats/warc/iawc-IAH-urls-wget.warc.gz", 4, 20, &[(Reason::HttpStatus, 9), (Reason::NotText, 3)], &[]),
    ("formats/warc/iawc-abcd.gz", 1, 0, &[], &[]),
    ("formats/warc/iawc-double-single-inflate-error.gz", 0, 0, &[(Reason::CorruptCompression, 1), (Reason::Truncated, 1)], &[]),
    ("formats/warc/iawc-empty.gz", 0, 0, &[(Reason::EmptyFile, 1)], &[]),
    ("formats/warc/iawc-hi-2.gz", 1, 0, &[], &[]),
    ("formats/warc/iawc-html-lang-attribute.warc", 5, 0, &[], &[]),
    ("formats/warc/iawc-link-extraction-test.warc", 9, 1, &[], &[]),
    ("formats/warc/iawc-mutliple-headers.warc", 1, 0, &[], &[]),
    ("formats/warc/iawc-text-extraction-test.warc", 1, 2, &[(Reason::NotText, 1)], &[]),
    ("formats/warc/iawc-title-extraction-embedded-SVG.warc", 1, 0, &[], &[]),
    ("formats/warc/jwarc-gzip_extra_sl.warc.gz", 0, 1, &[], &[]),
    ("formats/warc/warcio-bad.arc", 0, 0, &[(Reason::BadHeader, 3), (Reason::BadHttp, 1)], &[]),
    ("formats/warc/warcio-example-bad-non-chunked.warc.gz", 1, 5, &[], &[]),
    ("formats/warc/warcio-example-bad.warc.gz.bad", 1, 4, &[(Reason::HttpStatus, 1)], &[]),
    ("formats/warc/warcio-example-digest.warc", 0, 4, &[], &[]),
    ("formats/warc/warcio-example-iana.org-chunked.warc", 1, 2, &[], &[]),
    ("formats/warc/warcio-example-resource.warc.gz", 1, 2, &[], &[]),
    ("formats/warc/warcio-example-space-in-target-uri.warc.gz", 0, 1, &[(Reason::NotText, 1)], &[]),
    ("formats/warc/warcio-example-space-in-url.arc", 1, 1, &[], &[(Reason::WrongLength, 1)]),
    ("formats/warc/warcio-example-trunc.warc", 1, 3, &[], &[(Reason::WrongLength, 1)]),
    ("formats/warc/warcio-example-wget-bad-target-uri.warc.gz", 1, 5, &[], &[]),
    ("formats/warc/warcio-example-wrong-chunks.warc.gz", 1, 1, &[], &[]),
    ("formats/warc/warcio-example.arc", 1, 1, &[], &[]),
    ("formats/warc/warcio-example.arc.gz", 1, 1, &[], &[]),
    ("formats/warc/warcio-example.warc", 1, 5, &[], &[]),
    ("formats/warc/warcio-example.warc.gz", 1, 5, &[], &[]),
    ("formats/warc/warcio-post-test.warc.gz", 3, 3, &[], &[]),
    ("ocr-and-law/ca1851-match.txt", 1, 0, &[], &[]),
    ("ocr-and-law/ca1851-nomatch.txt", 1, 0, &[], &[]),
    ("ocr-and-law/gospeltruth00whit.txt.gz", 1, 0, &[], &[]),
    ("ocr-and-law/lifeofrevrichard00baxt.txt.gz", 1, 0, &[], &[]),
    ("ocr-and-law/ny1850-match.txt", 1, 0, &[], &[]),
    ("ocr-and-law/remember00palm.txt.gz", 1, 0, &[], &[]),
    ("ocr-and-law/remembermeorholy00palm.txt.gz", 1, 0, &[], &[]),
    ("ocr-and-law/thoughtsonpopery00nevi.txt.gz", 1, 0, &[], &[]),
    ("reuters21578/README-original.txt", 1, 0, &[], &[]),
    ("reuters21578/lewis.dtd", 1, 0, &[], &[]),
    ("reuters21578/reut2-000.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-001.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-002.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-003.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-004.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-005.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-006.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-007.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-008.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-009.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-010.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-011.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-012.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-013.sgm.gz", 1000, 0, &[], &[(Reason::ElementsLeft, 8)]),
    ("reuters21578/reut2-014.sgm.gz", 1000, 0, &[], &[(Reason::ElementsLeft, 18)]),
    ("reuters21578/reut2-015.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-016.sgm.gz", 1000, 0, &[], &[(Reason::ElementsLeft, 1)]),
    ("reuters21578/reut2-017.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-018.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-019.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-020.sgm.gz", 1000, 0, &[], &[]),
    ("reuters21578/reut2-021.sgm.gz", 578, 0, &[], &[]),
];

fn read_file(path: &Path) -> Outcome {
    let config = ReadConfig::default();
    let files = list_inputs(&[path.to_path_buf()]).unwrap();
    drain(open(&files[0], 0, &config), &config)
}

fn counted(reasons: impl Iterator<Item = Reason>) -> Vec<(Reason, usize)> {
    let mut counts = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn real_files_give_what_they_hold() {
    let Some(root) = common::corpora("real sample files") else {
        return;
    };
    for &(path, documents, skipped, rejects, notices) in REAL_FILES {
        let outcome = read_file(&root.join(path));
        assert_eq!(outcome.documents.len(), documents, "{path}: documents");
        assert_eq!(
            outcome.skipped.values().sum::<usize>(),
            skipped,
            "{path}: skipped"
        );
        assert_eq!(
            counted(outcome.reasons().into_iter()),
            rejects,
            "{path}: rejects"
        );
        let found = counted(
            outcome
                .documents
                .iter()
                .flat_map(|d| d.notices.iter().copied()),
        );
        assert_eq!(found, notices, "{path}: notices");
    }
}

#[test]
fn real_files_have_the_right_names_and_texts() {
    let Some(root) = common::corpora("real sample files") else {
        return;
    };
    // File, number of the document, docno, URL, a piece of its body.
    let spots: [(&str, usize, &str, Option<&str>, &str); 14] = [
        (
            "formats/trec-web/gov1-G00-00.gz",
            0,
            "G00-00-0000000",
            Some("http://www.aspe.hhs.gov"),
            "Assistant Secretary",
        ),
        (
            "formats/trec-web/gov2-GX000-00.gz",
            0,
            "GX000-00-0000000",
            Some("http://sgra.jpl.nasa.gov"),
            "US Space VLBI",
        ),
        (
            "formats/trec-web/anserini-trecweb-malformed.txt",
            2,
            "WEB-0003",
            None,
            "Wh at ever",
        ),
        (
            "formats/trec-sgml/anserini-trec-ap-ntcir.txt",
            0,
            "AP-0001",
            None,
            "This is headline",
        ),
        (
            "formats/trec-sgml/anserini-trec-ap-ntcir.txt",
            1,
            "doc2",
            None,
            "here is some text.",
        ),
        (
            "formats/trec-sgml/shakespeare-merchant.trec.1",
            1,
            "SHK-MOV-I-I",
            None,
            "In sooth",
        ),
        (
            "formats/trec-sgml/vaswani-doc-text.trec.gz",
            11428,
            "11429",
            None,
            "pattern detection",
        ),
        (
            "formats/nyt/anserini-nyt-artificial.xml",
            0,
            "12345678",
            None,
            "Second paragraph",
        ),
        (
            "formats/clueweb/anserini-cw09-artificial.warc.gz",
            0,
            "clueweb09-az0000-00-00000",
            Some("http://clueweb09.test.com/"),
            "whatever here",
        ),
        (
            "formats/warc/warcio-example.arc",
            0,
            "http://example.com/@20140216050221",
            Some("http://example.com/"),
            "Example Domain",
        ),
        (
            "formats/warc/warcio-example-wget-bad-target-uri.warc.gz",
            0,
            "FD8A6D04-AF8A-4A36-A889-8094487CDF2D",
            Some("http://example.com/"),
            "Example Domain",
        ),
        (
            "formats/json/anserini-c4-train.json.gz",
            1,
            "http://www.test2.com",
            Some("http://www.test2.com"),
            "test text2",
        ),
        (
            "formats/json/anserini-zh.json",
            0,
            "doc1",
            None,
            "滑铁卢大学",
        ),
        (
            "reuters21578/reut2-000.sgm.gz",
            0,
            "1",
            None,
            "Showers continued",
        ),
    ];
    for (path, number, docno, url, piece) in spots {
        let outcome = read_file(&root.join(path));
        let document = &outcome.documents[number];
        assert_eq!(document.docno, docno, "{path}");
        assert_eq!(document.url.as_deref(), url, "{path}");
        assert!(
            document.text().contains(piece),
            "{path}: {}",
            document.text()
        );
    }
    // What must have been left out.
    let outcome = read_file(&root.join("formats/trec-sgml/anserini-trec-ap-ntcir.txt"));
    assert!(!outcome.documents[0].text().contains("NOT"));
    let outcome = read_file(&root.join("formats/commoncrawl/cc-2008-small-sample.arc.gz"));
    assert!(
        outcome
            .documents
            .iter()
            .all(|document| document.url.is_some())
    );
}
