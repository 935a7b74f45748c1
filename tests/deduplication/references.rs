//! Captures to which `revisit` records of the inputs refer are kept, whatever the rule says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::revisit::{packed, record, sha1};
use super::support::{call, content, dedup, done, lines, place, records, warc_fields, written};
use crate::common::assert_same_files;
use crate::common::corpus::Random;

type Fields = BTreeMap<String, String>;

/// A `response` with these fields.
fn response(fields: &str, body: &str) -> String {
    let fields = format!(
        "WARC-Type: response\n{fields}WARC-Payload-Digest: {}",
        sha1(body)
    );
    record("1.1", &fields, &format!("HTTP/1.1 200 OK\r\n\r\n{body}"))
}

/// A `revisit` record with these fields.
fn revisit(fields: &str) -> String {
    record("1.1", &format!("WARC-Type: revisit\n{fields}"), "")
}

/// The id, the URL and the date of capture `number`. Some captures have no id, some share their URL
/// and date, and some are copies of others. URLs are written in two ways.
fn named(number: usize, more: &str) -> String {
    let id = match number % 11 {
        10 => String::new(),
        _ => format!("WARC-{more}ID: <urn:{}>\n", number % 50),
    };
    let id = id
        .replace("Refers-To-ID", "Refers-To")
        .replace("WARC-ID", "WARC-Record-ID");
    let (url, day) = (number % 7, 1 + number % 3);
    let seconds = if more.is_empty() { "00" } else { "00.000" };
    let site = match number % 4 {
        0 => "HTTP://E.org:80",
        _ => "http://e.org",
    };
    format!(
        "{id}WARC-{more}Target-URI: {site}/{url}\nWARC-{more}Date: 2020-01-0{day}T00:00:{seconds}Z\n"
    )
}

/// Two files of captures, many of them duplicates, with `revisit` records of every kind among them.
fn crawl(seed: u64, with_revisits: bool) -> [Vec<String>; 2] {
    let mut random = Random(seed);
    let mut files = [Vec::new(), Vec::new()];
    for number in 0..60 {
        let file = &mut files[usize::from(number >= 35)];
        let text = random.below(12);
        let words: Vec<String> = (0..20)
            .map(|n| format!("w{}", text / 2 * 100 + n + text % 2))
            .collect();
        let mut capture = response(&named(number, ""), &words.join(" "));
        if number % 5 == 0 {
            capture = capture.replace("WARC-Payload-Digest", "X-Digest");
        }
        if number % 13 == 12 {
            capture = capture.replace("WARC-Date", "X-Date");
        }
        file.push(capture);
        let to = random.below(70);
        let date = match random.below(5) {
            0 => "WARC-Date: 2019-12-31T00:00:00Z\n",
            1 => "WARC-Date: 2020-01-02T00:00:00Z\n",
            2 => "",
            _ => "WARC-Date: 2021-01-01T00:00:00Z\n",
        };
        // No capture has the last of these URLs.
        let url = [to % 7, 7][usize::from(random.below(2) == 0)];
        let own =
            format!("WARC-Record-ID: <urn:v{number}>\n{date}WARC-Target-URI: http://e.org/{url}\n");
        let names = named(to, "Refers-To-");
        let (id, dated) = match names.split_once("WARC-Refers-To-Target") {
            Some((id, rest)) => (id.to_string(), format!("WARC-Refers-To-Target{rest}")),
            None => unreachable!(),
        };
        let digest = format!(
            "WARC-Payload-Digest: {}\n",
            sha1(&words.join(" ")).replace("sha1", "SHA1")
        );
        let reference = match random.below(12) {
            0 => id,
            1 => dated,
            2 => names,
            3 => format!("WARC-Refers-To: <urn:gone>\n{dated}"),
            4 => "WARC-Refers-To: <urn:gone>\n".into(),
            5 => format!("WARC-Refers-To: <urn:v{}>\n", random.below(60)),
            6 => digest,
            7 => format!("WARC-Refers-To: <urn:gone>\n{digest}"),
            8 => "WARC-Profile: server-not-modified\n".into(),
            9 => format!("WARC-Refers-To-Target-URI: http://e.org:80/{}\n", to % 8),
            10 => format!("WARC-Refers-To: <urn:v{number}>\n{digest}"),
            _ => continue,
        };
        if with_revisits {
            file.push(revisit(&(own + &reference)));
        }
    }
    files
}

fn instant(date: &str) -> &str {
    date.split(['.', 'Z']).next().unwrap()
}

/// A record with its fields, and whether it is kept.
struct Known {
    fields: Fields,
    bytes: Vec<u8>,
    kept: bool,
    is_revisit: bool,
}

impl Known {
    /// A field, in the form in which it is compared.
    fn get(&self, name: &str) -> Option<String> {
        let text = self
            .fields
            .get(name)?
            .replace("HTTP://E.org", "http://e.org");
        Some(text.replace("org:80", "org").replace("SHA1:", "sha1:"))
    }

    /// When it was captured; without a date, after all others.
    fn when(&self) -> String {
        let date = self.get("warc-date").unwrap_or("9".into());
        instant(&date).to_string()
    }
}

/// The records to which a `revisit` record refers, by the first kind of name that leads to one, and
/// the place of this kind in the order of kinds.
fn targets(all: &[Known], from: &Known) -> (usize, Vec<usize>) {
    let find = |is: &dyn Fn(&Known) -> bool| {
        (0..all.len())
            .filter(|&at| is(&all[at]))
            .collect::<Vec<_>>()
    };
    let id = from
        .get("warc-refers-to")
        .filter(|id| from.get("warc-record-id").as_ref() != Some(id));
    let url = from.get("warc-refers-to-target-uri");
    let url = url.or(from.get("warc-target-uri"));
    // A name of the record itself leads to no other record.
    let date = from.get("warc-refers-to-date");
    let own = (from.get("warc-target-uri") == url).then(|| from.when());
    let date = date.filter(|date| own.as_deref() != Some(instant(date)));
    let digest = from.get("warc-payload-digest");
    let of_url = |known: &Known| known.get("warc-target-uri") == url;
    let by_id = find(&|known| id.is_some() && known.get("warc-record-id") == id);
    let by_date = find(&|known| {
        let dates = known.get("warc-date").zip(date.clone());
        of_url(known) && dates.is_some_and(|(own, date)| instant(&own) == instant(&date))
    });
    let by_digest = find(&|known| {
        let same = digest.is_some() && known.get("warc-payload-digest") == digest;
        same && !known.is_revisit && of_url(known)
    });
    let captures = find(&|known| !known.is_revisit && of_url(known));
    let times = || captures.iter().map(|&at| all[at].when());
    let before = times().filter(|time| *time <= from.when()).max();
    let time = before.or(times().min()).unwrap_or_default();
    let by_url = captures.iter().copied();
    let by_url = by_url.filter(|&at| all[at].when() == time).collect();
    let kinds = [by_id, by_date, by_digest, by_url];
    let first = kinds.iter().position(|found| !found.is_empty());
    (first.unwrap_or(3), kinds[first.unwrap_or(3)].clone())
}

/// Keeps what the references need. Returns the counts.
fn resolve(all: &mut [Known]) -> [u64; 4] {
    let mut counts = [0; 4];
    for kind in 0..4 {
        for from in 0..all.len() {
            if !all[from].is_revisit {
                continue;
            }
            let (of, found) = targets(all, &all[from]);
            if of != kind {
                continue;
            }
            counts[0] += 1;
            counts[3] += u64::from(found.is_empty());
            // By its URL alone, one record suffices; else one of each id.
            let id = |at: usize| match kind {
                3 => String::new(),
                _ => all[at].get("warc-record-id").unwrap_or(format!("{at}")),
            };
            let of: Vec<(usize, String)> = found.iter().map(|&at| (at, id(at))).collect();
            let ids: BTreeSet<&String> = of.iter().map(|(_, id)| id).collect();
            for id in ids {
                let has = |at: &usize| of.contains(&(*at, id.clone()));
                let copies: Vec<usize> = found.iter().copied().filter(has).collect();
                if !copies.iter().any(|&at| all[at].kept) {
                    all[copies[0]].kept = true;
                    counts[1] += 1;
                }
            }
        }
    }
    counts
}

/// Against the definition, for every rule, any number of threads, and compressed or not.
#[test]
fn a_capture_to_which_a_revisit_record_refers_is_kept() {
    let mut kept_for_it = 0;
    for (seed, rule) in [
        "--keep oldest",
        "--keep longest --keep last",
        "--rule cluster",
        "--rule none",
        "--rule all",
    ]
    .into_iter()
    .enumerate()
    {
        let [first, second] = crawl(seed as u64, true);
        let plain = crawl(seed as u64, false).map(|file| file.concat());
        let second: Vec<&str> = second.iter().map(String::as_str).collect();
        let (_guard, place) = place(&[
            ("in/a.warc", first.concat().as_bytes()),
            ("in/b.warc.gz", &packed(&second)),
            ("plain/a.warc", plain[0].as_bytes()),
            ("plain/b.warc", plain[1].as_bytes()),
        ]);
        let how = format!("--shingle-size 3 --threshold 0.6 {rule}");
        dedup(&place, &format!("plain -o by_rule --removed gone {how}"));
        let mut gone: Vec<(bool, u64)> = lines(&place.join("gone/removed.jsonl"))
            .iter()
            .map(|line| (line["file"] == "b.warc", line["record"].as_u64().unwrap()))
            .collect();
        gone.sort_unstable();
        let mut known: Vec<Known> = records(&place.join("in"), 0)
            .into_iter()
            .map(|record| {
                let at = (record.file == "b.warc.gz", u64::from(record.number));
                Known {
                    fields: warc_fields(&record.bytes),
                    kept: record.document.is_none() || gone.binary_search(&at).is_err(),
                    is_revisit: record.document.is_none(),
                    bytes: record.bytes,
                }
            })
            .collect();
        let counts = resolve(&mut known);
        kept_for_it += counts[1];
        assert!(counts[0] > 30 && counts[3] > 3, "{counts:?}");
        let mut before = None;
        for threads in [1, 3] {
            let out = format!("-o kept{threads} --removed removed{threads} --threads {threads}");
            let call = format!("in {out} {how}");
            let summary = dedup(&place, &call);
            let references = ["revisits", "kept", "removed", "outside"]
                .map(|name| summary["references"][name].as_u64().unwrap());
            assert_eq!(references, counts, "{rule}: {summary}");
            let kept = place.join(format!("kept{threads}"));
            let files = ["a.warc", "b.warc.gz"].map(|name| content(&kept.join(name)).unwrap());
            let wanted: Vec<&[u8]> = known
                .iter()
                .filter(|r| r.kept)
                .map(|r| &r.bytes[..])
                .collect();
            let strip = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace("\r\n", "");
            assert_eq!(strip(files.concat()), strip(wanted.concat()), "{rule}");
            // The evidence says what would have removed them.
            let evidence = place.join(format!("removed{threads}/referred.jsonl"));
            assert_eq!(evidence.exists(), counts[1] > 0);
            if counts[1] > 0 {
                let evidence = lines(&evidence);
                assert_eq!(evidence.len() as u64, counts[1]);
                for line in evidence {
                    let at = (
                        line["file"] == "b.warc.gz",
                        line["record"].as_u64().unwrap(),
                    );
                    assert!(gone.binary_search(&at).is_ok(), "{line}");
                    let near = ["identical", "same words", "near", "chain"]
                        .contains(&line["reason"].as_str().unwrap());
                    assert_eq!(near, line["resemblance"].as_f64().is_some(), "{line}");
                }
            }
            // A repeated command counts the same, and the page makes the same choice.
            if threads == 1 {
                fs::remove_file(kept.join("a.warc")).unwrap();
                assert_eq!(dedup(&place, &call), summary);
                done(&place, "report kept1");
            }
            let files = (
                written(&kept),
                written(&place.join(format!("removed{threads}"))),
            );
            if let Some((kept, removed)) = before.replace(files.clone()) {
                assert_same_files(&files.0, &kept, rule);
                assert_same_files(&files.1, &removed, rule);
            }
        }
        // Nothing more is removed from the output, because its revisit records refer to the same.
        let again = dedup(&place, &format!("kept1 -o again {how}"));
        if rule != "--rule none" {
            assert_eq!(again["kept"], again["documents"], "{rule}: {again}");
        }
    }
    assert!(kept_for_it > 20, "{kept_for_it}");
}

/// A record that a flag names is removed all the same, and the program says so.
#[test]
fn what_a_flag_removes_is_counted_and_reported() {
    let body = "one two three four five";
    let of = |id: &str| {
        format!(
            "WARC-Record-ID: <urn:{id}>\nWARC-Date: 2020-01-01T00:00:00Z\nWARC-Target-URI: http://e.org/{id}\n"
        )
    };
    let refers = |id: &str, to: &str| revisit(&format!("{}WARC-Refers-To: <urn:{to}>\n", of(id)));
    let image = response(&of("image"), "\u{89}PNG\r\n\u{1a}\n\0\0\0\rIHDR\0\0\0\0");
    let warc = response(&of("a"), body)
        + &response(&of("b"), body)
        + &image
        + &refers("v", "b")
        + &refers("w", "image")
        + &refers("x", "v")
        + &refers("y", "far");
    let (_guard, place) = place(&[
        ("in/a.warc", warc.as_bytes()),
        ("drop.tsv", b"file\trecord\na.warc\t2\n"),
    ]);
    let ran = done(
        &place,
        "dedup in -o kept --removed removed --results parquet",
    );
    let says = "1 duplicate was kept, because a revisit record refers to it. \
                1 of 4 revisit records refers to a capture outside of the inputs, perhaps of an \
                earlier crawl.";
    assert!(ran.stdout.contains(says), "{ran:?}");
    assert!(place.join("removed/referred.parquet").exists());
    assert_eq!(fs::read_to_string(place.join("kept/a.warc")).unwrap(), warc);
    // Lists have it also, and a revisit record does not take its place.
    done(&place, "dedup in -o lists --ids-only");
    let list = fs::read_to_string(place.join("lists/referred.tsv")).unwrap();
    assert!(
        list.contains("\turn:b\tidentical\ta.warc\t1\turn:a\t"),
        "{list}"
    );
    assert_eq!(
        fs::read_to_string(place.join("lists/kept.tsv"))
            .unwrap()
            .lines()
            .count(),
        3
    );
    let summary = dedup(&place, "in -o revisits --revisit=all --work kept.work");
    assert_eq!(summary["revisits"], 0, "{summary}");
    // Flags that name records decide.
    let how = "dedup in -o flags --drop drop.tsv --rejects drop --quiet --work kept.work";
    let ran = done(&place, how);
    let warning = "warning: 2 revisit records of the inputs refer to records that --drop or";
    assert!(ran.stderr.contains(warning), "{ran:?}");
    let kept = fs::read_to_string(place.join("flags/a.warc")).unwrap();
    assert!(
        !kept.contains("Record-ID: <urn:b>") && !kept.contains("Record-ID: <urn:image>"),
        "{kept}"
    );
    let ran = call(&place, "report flags");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Names are compared in a normal form, the search ends only where a name leads to a record, and ARC
/// records are captures.
#[test]
fn every_name_is_tried_until_one_leads_to_a_capture() {
    let body = "one two three four five";
    let http = format!("HTTP/1.1 200 OK\r\n\r\n{body}");
    let arc = |url: &str, date: &str| {
        let length = http.len();
        format!("{url} 192.0.2.1 {date} text/html {length}\n{http}\n")
    };
    let capture = |id: &str, url: &str, date: &str| {
        let date = format!("WARC-Date: {date}T00:00:00Z");
        let fields = format!("WARC-Record-ID: <urn:{id}>\nWARC-Target-URI: {url}\n{date}\n");
        response(&fields, body)
    };
    let refers = |id: &str, url: &str, more: &str| {
        let fields = format!("WARC-Record-ID: <urn:{id}>\nWARC-Target-URI: {url}\n{more}");
        revisit(&format!("{fields}WARC-Date: 2020-06-01T00:00:00Z\n"))
    };
    let files = [
        "filedesc://a.arc 0.0.0.0 20200101000000 text/plain 6\n1 0 X\n\n".to_string()
            + &arc("http://arc.org/", "20200101000000")
            + &arc("http://arc.org/", "20200201000000"),
        capture("early", "http://e.org/", "2020-01-01")
            + &capture("latest", "HTTP://E.org:80/", "2020-06-01")
            + &capture("late", "http://e.org/", "2020-06-02")
            + &capture("digest", "https://User@F.org:443?A", "2020-01-01")
            + &capture("later", "http://g.org:443/A", "2020-07-01")
            + &capture("last", "http://g.org:443/A", "2020-08-01")
            + &capture("path", "http://g.org:443/a", "2020-01-01"),
        refers("v1", "http://e.org/", "WARC-Profile: server-not-modified\n")
            + &refers(
                "v2",
                "HTTPS://User@f.ORG?A",
                &format!(
                    "WARC-Refers-To: <urn:gone>\nWARC-Payload-Digest: {}\n",
                    sha1(body).replace("sha1", "SHA1")
                ),
            )
            + &refers("v3", "http://G.org:443/A", "WARC-Refers-To: <urn:v3>\n")
            + &refers("v4", "http://h.org/", "WARC-Refers-To: <urn:gone>\n")
            + &refers(
                "v5",
                "http://i.org/",
                "WARC-Refers-To-Target-URI: http://ARC.org/\n\
                 WARC-Refers-To-Date: 2020-01-01T00:00:00Z\n",
            )
            + &capture("kept", "http://z.org/", "2020-01-01"),
    ];
    let (_guard, place) = place(&[
        ("in/a.arc", files[0].as_bytes()),
        ("in/b.warc", files[1].as_bytes()),
        ("in/c.warc", files[2].as_bytes()),
    ]);
    for rule in ["--keep last", "--keep last --rule none"] {
        let how = format!("in -o kept --removed removed --work work {rule}");
        let summary = dedup(&place, &how);
        assert_eq!(summary["references"]["outside"], 1, "{summary}");
        assert_eq!(summary["references"]["kept"], 4, "{summary}");
        let kept: Vec<String> = lines(&place.join("removed/referred.jsonl"))
            .iter()
            .map(|line| line["docno"].as_str().unwrap().to_string())
            .collect();
        let wanted = [
            "http://arc.org/@20200101000000",
            "urn:latest",
            "urn:digest",
            "urn:later",
        ];
        assert_eq!(kept, wanted, "{rule}");
        for directory in ["kept", "removed"] {
            fs::remove_dir_all(place.join(directory)).unwrap();
        }
    }
}

/// A WARC record of a text, with a stated length that is wrong by some bytes.
fn warc_record(id: &str, text: &str, wrong: usize) -> String {
    let length = text.len() + wrong;
    format!(
        "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <x:{id}>\r\nContent-Type: \
         text/plain\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: {length}\r\n\r\n{text}\
         \r\n\r\n"
    )
}

/// An intact copy is kept in the place of a damaged one, whatever is preferred.
#[test]
fn intact_copies_win_over_damaged_ones() {
    let text = "twelve words of a page that is in both files, and once more";
    let near = "twelve words of a page that is in both files, and once again";
    let other = "another page with other words, which nothing else in the files resembles at all";
    let (_guard, place) = place(&[]);
    fs::create_dir(place.join("in")).unwrap();
    let a = warc_record("1", text, 7) + &warc_record("2", other, 0);
    let b = warc_record("1", text, 0) + &warc_record("3", other, 5);
    fs::write(place.join("in/a.warc"), a).unwrap();
    fs::write(place.join("in/b.warc"), b).unwrap();
    fs::write(place.join("in/c.warc"), warc_record("4", near, 9)).unwrap();
    for (to, keep) in [
        ("kept1", "first"),
        ("kept2", "last"),
        ("kept3", "prefer-input:c*"),
    ] {
        let call = format!("in -o {to} --removed gone-{to} --keep {keep} --threshold 0.4");
        let summary = dedup(&place, &call);
        assert_eq!(summary["kept"], 2, "{summary}");
        let removed = lines(&place.join(format!("gone-{to}/removed.jsonl")));
        let places: Vec<_> = removed
            .iter()
            .map(|line| {
                (
                    line["file"].as_str().unwrap(),
                    line["record"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            places,
            [("a.warc", 1), ("b.warc", 2), ("c.warc", 1)],
            "{keep}"
        );
    }
}
