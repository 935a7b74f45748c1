//! `--revisit`: a removed record leaves a `revisit` record, which says only what is true.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::Value;
use sha1::{Digest, Sha1};

use super::support::{call, content, dedup, done, lines, place, records, warc_fields, written};
use crate::common::{assert_same_files, copy_directory, sample_corpora};

const STANDARD: &str = "identical-payload-digest";
const OWN: &str = "urn:x-lookalike:revisit:similar-text";

/// A record with the separator after it.
pub(super) fn record(version: &str, fields: &str, block: &str) -> String {
    let length = block.len();
    let fields = fields.trim_end().replace('\n', "\r\n");
    format!("WARC/{version}\r\n{fields}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n")
}

/// A capture at `http://e.org/NUMBER` in the given year, with a request.
fn capture(number: usize, year: usize, http: &str, body: &str) -> String {
    let response = record(
        "1.1",
        &format!(
            "WARC-Type: response\nWARC-Record-ID: <urn:r{number}>\nWARC-Date: {year}-01-01T00:00:00Z\n\
             WARC-Target-URI: http://e.org/{number}\nWARC-IP-Address: 192.0.2.{number}\n\
             WARC-Block-Digest: sha1:{number}\nContent-Type: application/http; msgtype=response"
        ),
        &format!("HTTP/1.1 200 OK\r\nX-Number: {number}\r\n{http}\r\n{body}"),
    );
    let request = record(
        "1.1",
        &format!(
            "WARC-Type: request\nWARC-Record-ID: <urn:q{number}>\nWARC-Date: {year}-01-01T00:00:00Z\n\
             WARC-Concurrent-To: <urn:r{number}>\nWARC-Target-URI: http://e.org/{number}"
        ),
        "GET / HTTP/1.1\r\n\r\n",
    );
    response + &request
}

fn base32(bytes: &[u8]) -> String {
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let value = |five: &[u8]| u8::from_str_radix(std::str::from_utf8(five).unwrap(), 2).unwrap();
    let digit = |five| b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[value(five) as usize] as char;
    bits.as_bytes().chunks(5).map(digit).collect()
}

pub(super) fn sha1(payload: &str) -> String {
    format!("sha1:{}", base32(&Sha1::digest(payload.as_bytes())))
}

/// The revisit record of [`capture`] `number`.
fn expected(number: usize, year: usize, http: &str, to: (usize, usize), own: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nX-Number: {number}\r\n{http}\r\n");
    let (profile, more) = match own.split_once(' ') {
        None => (
            "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest".into(),
            own,
        ),
        Some((score, digest)) => (format!("{OWN}\nWARC-S: {score}"), digest),
    };
    let (first, score) = profile.split_once("\nWARC-S: ").unwrap_or((&profile, ""));
    let score = match score {
        "" => String::new(),
        score => format!("Lookalike-Resemblance: {score}\n"),
    };
    record(
        "1.1",
        &format!(
            "WARC-Type: revisit\nWARC-Record-ID: <urn:r{number}>\nWARC-Date: {year}-01-01T00:00:00Z\n\
             WARC-Target-URI: http://e.org/{number}\nWARC-IP-Address: 192.0.2.{number}\n\
             WARC-Profile: {first}\nWARC-Refers-To: <urn:r{}>\n\
             WARC-Refers-To-Target-URI: http://e.org/{}\nWARC-Refers-To-Date: {}-01-01T00:00:00Z\n\
             {score}WARC-Payload-Digest: {more}\n\
             Content-Type: application/http; msgtype=response\nWARC-Truncated: length",
            to.0, to.0, to.1
        ),
        &block,
    )
}

pub(super) fn packed(records: &[&str]) -> Vec<u8> {
    let member = |record: &&str| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(record.as_bytes()).unwrap();
        out.finish().unwrap()
    };
    records.iter().flat_map(member).collect()
}

const BODY: &str = "<p>one two three four five";

/// The captures of an archive: the first, one of its bytes, one of its words, one that is similar,
/// one of its bytes in chunks, one of its bytes that is older, and one of its own.
fn archive() -> Vec<String> {
    let chunked = "Transfer-Encoding: chunked\r\n";
    vec![
        capture(1, 2015, "", BODY),
        capture(2, 2016, "A: b\r\n", BODY),
        capture(3, 2017, "", "<p>One, two, three, four, five!"),
        capture(4, 2017, "", "<p>one two three four five six"),
        capture(
            5,
            2018,
            chunked,
            "6\r\n<p>one\r\n14\r\n two three four five\r\n0\r\n\r\n",
        ),
        capture(6, 2014, "", BODY),
        capture(7, 2019, "", "<p>of its own"),
    ]
}

/// What stands in the place of the captures, by `--revisit=WHICH`.
fn in_place(which: &str) -> Vec<String> {
    let all = archive();
    let request = |number: usize| all[number - 1].split_inclusive("<p>").count();
    assert_eq!(request(1), 2);
    let request = |number: usize| {
        let at = all[number - 1]
            .find("WARC/1.1\r\nWARC-Type: request")
            .unwrap();
        all[number - 1][at..].to_string()
    };
    let chunked = "Transfer-Encoding: chunked\r\n";
    let (to, same) = ((1, 2015), sha1(BODY));
    let mut out = vec![
        all[0].clone(),
        expected(2, 2016, "A: b\r\n", to, &same) + &request(2),
        String::new(),
        String::new(),
        expected(5, 2018, chunked, to, &same) + &request(5),
        String::new(),
        all[6].clone(),
    ];
    if which == "all" {
        let words = format!("1.000000 {}", sha1("<p>One, two, three, four, five!"));
        let near = format!("0.750000 {}", sha1("<p>one two three four five six"));
        let older = format!("1.000000 {same}");
        out[2] = expected(3, 2017, "", to, &words) + &request(3);
        out[3] = expected(4, 2017, "", to, &near) + &request(4);
        out[5] = expected(6, 2014, "", to, &older) + &request(6);
    }
    out
}

const HOW: &str = "--shingle-size 3 --threshold 0.6";

#[test]
fn records_say_what_is_true_in_every_compression() {
    let all = archive();
    let parts: Vec<&str> = all
        .iter()
        .flat_map(|capture| {
            let at = capture.find("WARC/1.1\r\nWARC-Type: request").unwrap();
            let (response, request) = capture.split_at(at);
            [response, request]
        })
        .collect();
    let plain = all.concat();
    for (which, count) in [("identical", 2), ("all", 5)] {
        let wanted = in_place(which).concat();
        for (name, bytes) in [
            ("a.warc", plain.clone().into_bytes()),
            ("a.warc.gz", packed(&parts)),
            ("a.warc.zst", zstd::encode_all(plain.as_bytes(), 1).unwrap()),
        ] {
            let (_guard, place) = place(&[(&format!("in/{name}"), &bytes)]);
            let call = format!("in -o kept --removed removed --revisit={which} {HOW}");
            let summary = dedup(&place, &call);
            assert_eq!(
                (
                    &summary["kept"],
                    &summary["revisits"],
                    &summary["companions"]
                ),
                (&2.into(), &count.into(), &(5 - count).into()),
                "{which} {name}: {summary}"
            );
            let kept = content(&place.join("kept").join(name)).unwrap();
            assert_eq!(String::from_utf8(kept).unwrap(), wanted, "{which} {name}");
            // Each record is a member of its own, if the input has it so.
            if name.ends_with(".gz") {
                let starts: Vec<&str> = wanted.split_inclusive("\r\n\r\nWARC/1.1").collect();
                let file = fs::read(place.join("kept").join(name)).unwrap();
                let members = super::bytes::members(&file);
                assert_eq!(members.len(), starts.len());
                assert!(
                    members
                        .iter()
                        .all(|member| member.starts_with(b"WARC/1.1\r\n"))
                );
            }
            // The removed records are there with their own bytes.
            let removed = records(&place.join("removed"), 0);
            let removed: Vec<_> = removed
                .iter()
                .filter(|r| r.file != "removed.jsonl")
                .collect();
            assert_eq!(removed.iter().filter(|r| r.document.is_some()).count(), 5);
            let whole = |bytes: &[u8]| plain.contains(std::str::from_utf8(bytes).unwrap());
            assert!(removed.iter().all(|record| whole(&record.bytes)));
            // A revisit record is not a document, and nothing is left to remove.
            let again = dedup(&place, &format!("kept -o again --revisit={which} {HOW}"));
            assert_eq!(again["documents"], 2, "{again}");
            assert_eq!(again["revisits"], 0, "{again}");
            assert_same_files(
                &written(&place.join("again")),
                &written(&place.join("kept")),
                name,
            );
            // A second call counts the same, and an interrupted one continues.
            assert_eq!(dedup(&place, &call), summary);
            let before = written(&place.join("kept"));
            fs::remove_file(place.join("kept").join(name)).unwrap();
            assert_eq!(dedup(&place, &call), summary);
            assert_same_files(&written(&place.join("kept")), &before, name);
        }
    }
}

/// With `--keep oldest` every survivor is the first capture, so all equal payloads leave a record.
#[test]
fn the_oldest_capture_is_the_one_to_refer_to() {
    let plain = archive().concat();
    let (_guard, place) = place(&[("in/a.warc", plain.as_bytes())]);
    let call = format!("in -o kept --revisit --keep oldest {HOW}");
    let summary = dedup(&place, &call);
    assert_eq!(summary["revisits"], 3, "{summary}");
    let kept = fs::read_to_string(place.join("kept/a.warc")).unwrap();
    assert_eq!(kept.matches("WARC-Refers-To: <urn:r6>").count(), 3);
    assert_eq!(kept.matches(STANDARD).count(), 3);
}

/// The survivor may be in another file, and some records cannot be referred to.
#[test]
fn survivors_in_other_files() {
    let bare = |kind: &str, id: &str, version: &str, more: &str, block: &str| {
        let fields = format!(
            "WARC-Type: {kind}\n{id}WARC-Date: 2020-01-01T00:00:00Z\nWARC-Target-URI: http://e.org/x\n\
             {more}Content-Type: text/plain"
        );
        record(version, &fields, block)
    };
    let digest = "WARC-Payload-Digest: sha256:00\n";
    let first = bare(
        "resource",
        "WARC-Record-ID: <urn:a>\n",
        "1.0",
        digest,
        "one two",
    ) + &bare(
        "conversion",
        "WARC-Record-ID: <urn:b>\n",
        "1.0",
        "",
        "three four",
    ) + &bare("resource", "", "1.0", "", "five six")
        + &bare(
            "resource",
            "WARC-Record-ID: <urn:c>\n",
            "1.0",
            "WARC-Truncated: time\n",
            "seven",
        );
    let second = bare(
        "resource",
        "WARC-Record-ID: <urn:1>\n",
        "1.0",
        digest,
        "one two",
    ) + &bare(
        "resource",
        "WARC-Record-ID: <urn:2>\n",
        "1.1",
        "",
        "one two",
    ) + &bare(
        "resource",
        "WARC-Record-ID: <urn:3>\n",
        "1.1",
        "",
        "three four",
    ) + &bare(
        "resource",
        "WARC-Record-ID: <urn:4>\n",
        "1.1",
        "",
        "five six",
    ) + &bare("resource", "WARC-Record-ID: <urn:5>\n", "1.1", "", "seven")
        + &bare(
            "conversion",
            "WARC-Record-ID: <urn:6>\n",
            "1.1",
            "",
            "one two",
        )
        + &bare(
            "resource",
            "WARC-Record-ID: <urn:7>\n",
            "1.1",
            "",
            "eight nine",
        );
    let (_guard, place) = place(&[
        ("in/a.warc", first.as_bytes()),
        ("in/b.warc", second.as_bytes()),
        ("in/c.jsonl", b"{\"id\":1,\"text\":\"eight nine\"}\n"),
    ]);
    let summary = dedup(&place, "in -o kept --keep prefer-input:c* --revisit");
    assert_eq!(summary["revisits"], 2, "{summary}");
    let kept = fs::read_to_string(place.join("kept/b.warc")).unwrap();
    let revisit = |id: u32, version: &str, digest: &str| {
        record(
            version,
            &format!(
                "WARC-Type: revisit\nWARC-Record-ID: <urn:{id}>\nWARC-Date: 2020-01-01T00:00:00Z\n\
                 WARC-Target-URI: http://e.org/x\n\
                 WARC-Profile: http://netpreserve.org/warc/{version}/revisit/identical-payload-digest\n\
                 WARC-Refers-To: <urn:a>\nWARC-Refers-To-Target-URI: http://e.org/x\n\
                 WARC-Refers-To-Date: 2020-01-01T00:00:00Z\nWARC-Payload-Digest: {digest}"
            ),
            "",
        )
    };
    // A digest that both records state is the one by which indexes know the survivor.
    let wanted = revisit(1, "1.0", "sha256:00") + &revisit(2, "1.1", &sha1("one two"));
    assert_eq!(kept, wanted);
    assert_eq!(
        fs::read_to_string(place.join("kept/a.warc")).unwrap(),
        first
    );
    dedup(
        &place,
        "in -o all --keep prefer-input:c* --revisit=all --work work",
    );
    let all = fs::read_to_string(place.join("all/b.warc")).unwrap();
    assert_eq!(all.matches(OWN).count(), 1, "{all}");
}

#[test]
fn a_file_that_is_one_record_leaves_a_file() {
    let one = |number| {
        let capture = capture(number, 2015, "", BODY);
        let at = capture.find("\r\n\r\nWARC/1.1").unwrap();
        capture[..at].to_string()
    };
    let (_guard, place) = place(&[
        ("in/a.warc", one(1).as_bytes()),
        ("in/b.warc", one(2).as_bytes()),
    ]);
    dedup(&place, "in -o kept --removed removed --revisit");
    let wanted = expected(2, 2015, "", (1, 2015), &sha1(BODY));
    let kept = fs::read_to_string(place.join("kept/b.warc")).unwrap();
    assert_eq!(kept, wanted[..wanted.len() - 4]);
    let removed = fs::read_to_string(place.join("removed/b.warc")).unwrap();
    assert_eq!(removed, one(2) + "\r\n\r\n");
}

/// On a real archive, against the definition: whatever claims the profile of the standard has the
/// payload of the record that it refers to.
#[test]
fn the_sample_archives() {
    let (_guard, place) = place(&[]);
    copy_directory(&sample_corpora("warc"), &place.join("in"));
    // Each capture again, with another id and at another time, so that many payloads are equal.
    let name = "a.warc.gz";
    let again = content(&sample_corpora("warc").join(name)).unwrap();
    let again: Vec<Vec<u8>> = again
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| match line {
            [b'W', b'A', b'R', b'C', b'-', ..] => {
                let line = std::str::from_utf8(line).unwrap();
                let line = line.replace("ID: <urn:uuid:", "ID: <urn:uuid:0");
                line.replace("Date: 2", "Date: 3").into_bytes()
            }
            line => line.to_vec(),
        })
        .collect();
    fs::write(place.join("in/again.warc"), again.concat()).unwrap();
    let how = "in -o kept --removed removed --revisit=all --threshold 0.5 --keep oldest";
    let summary = dedup(&place, how);
    let by_id = |directory: &str| -> BTreeMap<String, Vec<u8>> {
        let of = |record: super::support::Record| {
            let id = warc_fields(&record.bytes).remove("warc-record-id")?;
            record.document.is_some().then_some((id, record.bytes))
        };
        let all = records(&place.join(directory), 0);
        all.into_iter().filter_map(of).collect()
    };
    let (stay, gone) = (by_id("kept"), by_id("removed"));
    let end = |bytes: &[u8]| bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    let payload = |record: &[u8]| {
        let block = &record[end(record)..];
        block[end(block)..].to_vec()
    };
    let (mut standard, mut own) = (0, 0);
    for record in records(&place.join("kept"), 0) {
        let fields = warc_fields(&record.bytes);
        // The crawler wrote revisit records of its own.
        let id = fields.get("warc-record-id");
        if !fields.contains_key("warc-profile") || id.is_none_or(|id| !gone.contains_key(id)) {
            continue;
        }
        assert!(record.document.is_none() && !record.rejected);
        let survivor = &stay[&fields["warc-refers-to"]];
        let (to, removed) = (warc_fields(survivor), &gone[&fields["warc-record-id"]]);
        assert_eq!(fields["warc-refers-to-date"], to["warc-date"]);
        assert_eq!(fields["warc-refers-to-target-uri"], to["warc-target-uri"]);
        for same in ["warc-date", "warc-target-uri"] {
            assert_eq!(fields[same], warc_fields(removed)[same]);
        }
        // The block is the header of the response.
        let header = &removed[end(removed)..];
        let header = &header[..end(header)];
        assert_eq!(&record.bytes[end(&record.bytes)..], header);
        assert_eq!(fields["content-length"], header.len().to_string());
        let same = payload(survivor) == payload(removed);
        if fields["warc-profile"].ends_with(STANDARD) {
            assert!(same && fields["warc-refers-to-date"] <= fields["warc-date"]);
            standard += 1;
        } else {
            assert!(fields["warc-profile"] == OWN && !same);
            own += 1;
        }
    }
    assert!(standard > 10 && own > 3, "{standard} {own}");
    assert_eq!(summary["revisits"], standard + own);
    let evidence = lines(&place.join("removed/removed.jsonl"));
    assert!(evidence.len() as u64 >= standard + own);
}

/// The same file twice is not a second visit, and a record must not refer to itself.
#[test]
fn a_copy_of_a_record_leaves_none() {
    let warc = archive().concat();
    let (_guard, place) = place(&[
        ("in/a.warc", warc.as_bytes()),
        ("in/b.warc", warc.as_bytes()),
    ]);
    dedup(&place, &format!("in -o kept --revisit=all {HOW}"));
    let kept = fs::read_to_string(place.join("kept/b.warc")).unwrap();
    for line in kept
        .lines()
        .filter(|line| line.starts_with("WARC-Record-ID: "))
    {
        let to = line.replace("Record-ID", "Refers-To");
        assert!(!kept.contains(&to), "{line}");
    }
    assert!(kept.contains("WARC-Refers-To: <urn:r1>"), "{kept}");
}

/// What the flag cannot do is said before anything is read.
#[test]
fn what_has_no_revisit_records_is_refused_first() {
    let warc = archive().concat();
    let (_guard, place) = place(&[
        ("in/a.warc", warc.as_bytes()),
        ("lines/a.jsonl", b"{\"id\":1,\"text\":\"one two\"}\n"),
    ]);
    for (arguments, says) in [
        ("in -o kept --revisit --annotate", "--annotate"),
        ("in -o kept --revisit --ids-only", "--ids-only"),
        ("lines -o kept --revisit", "no input is a WARC file"),
        ("in -o kept --revisit=near", "use none, identical or all"),
    ] {
        let ran = call(&place, &format!("dedup {arguments}"));
        assert_eq!(ran.code, Some(2), "{arguments}: {ran:?}");
        assert!(ran.stderr.contains(says), "{arguments}: {}", ran.stderr);
        assert!(!place.join("kept.work").exists() && !place.join("kept").exists());
    }
    done(&place, "run lines -o run --quiet");
    let ran = call(&place, "dedup --from run -o kept --revisit");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(!place.join("kept").exists());
    // Other files are written as without the flag; whole ones are linked.
    let summary = dedup(&place, "in lines -o mixed --revisit --link");
    assert_eq!(summary["whole_files"], 1, "{summary}");
    linked(&place.join("mixed/a.jsonl"), &place.join("lines/a.jsonl"));
}

fn linked(one: &Path, other: &Path) {
    use std::os::unix::fs::MetadataExt;
    let number = |path: &Path| fs::metadata(path).unwrap().ino();
    assert_eq!(number(one), number(other));
}

/// A revisit is of something older, so a removed record whose survivor is later leaves none. The
/// answer says so.
#[test]
fn a_survivor_that_is_later_is_counted() {
    let all = [(1, 2021), (2, 2020), (3, 2022)];
    let all = all.map(|(number, year)| capture(number, year, "", BODY));
    let (_guard, place) = place(&[("in/a.warc", all.concat().as_bytes())]);
    let summary = dedup(&place, &format!("in -o kept --revisit {HOW}"));
    assert_eq!(summary["revisits"], 1, "{summary}");
    assert_eq!(summary["later_survivors"], 1, "{summary}");
    let said = done(&place, &format!("dedup in -o said --revisit {HOW}"));
    let told = "For 1, the kept record with the same payload is later";
    assert!(said.stdout.contains(told), "{}", said.stdout);
    let oldest = format!("in -o oldest --revisit --keep oldest {HOW}");
    assert_eq!(dedup(&place, &oldest)["later_survivors"], Value::Null);
}

/// Only copies are removed, and with equal payloads each of them leaves a record.
#[test]
fn identical_says_what_a_removed_record_shares_with_the_kept_one() {
    let mut all = archive();
    all.push(capture(8, 2020, "", &BODY.replace("<p>", "<p class=x>")));
    all.push(capture(9, 2021, "", "<p>One, two, three, four, five!"));
    let (_guard, place) = place(&[("in/a.warc", all.concat().as_bytes())]);
    for (which, kept, revisits) in [
        ("payload", &[3, 4, 6, 7, 8][..], 4),
        ("text", &[3, 4, 6, 7], 4),
        ("words", &[4, 6, 7], 3),
    ] {
        for work in ["", " --pairs none", " --threads 1"] {
            let out = format!("kept-{which}{}", work.len());
            let call =
                format!("in -o {out} --identical {which} --revisit --keep oldest {HOW}{work}");
            let summary = dedup(&place, &call);
            assert_eq!(summary["kept"], kept.len(), "{call}: {summary}");
            assert_eq!(summary["revisits"], revisits, "{call}: {summary}");
            let untraced = 9 - kept.len() - revisits;
            assert_eq!(summary["untraced_copies"], untraced, "{call}: {summary}");
            let bytes = fs::read_to_string(place.join(out).join("a.warc")).unwrap();
            let stay = (1..=9).filter(|n| bytes.contains(&all[n - 1]));
            assert_eq!(stay.collect::<Vec<_>>(), kept, "{call}");
        }
    }
    let said = done(
        &place,
        &format!("dedup in -o said --revisit --report {HOW}"),
    );
    let told = "Of these, 4 have the words of the record that was kept (see --identical).";
    assert!(said.stdout.contains(told), "{}", said.stdout);
    let page = fs::read_to_string(place.join("said.report.html")).unwrap();
    assert!(page.contains(told));
    fs::create_dir(place.join("text")).unwrap();
    fs::write(place.join("text/a.txt"), "one two three").unwrap();
    let refused = call(&place, "dedup text -o none --identical payload");
    assert!(
        refused.stderr.contains("--identical payload"),
        "{refused:?}"
    );
}
