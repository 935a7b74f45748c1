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
/// and date, and some are copies of others.
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
    format!(
        "{id}WARC-{more}Target-URI: http://e.org/{url}\nWARC-{more}Date: 2020-01-0{day}T00:00:{seconds}Z\n"
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
        file.push(response(&named(number, ""), &words.join(" ")));
        let to = random.below(70);
        let of = format!("WARC-Record-ID: <urn:v{number}>\nWARC-Date: 2021-01-01T00:00:00Z\n");
        let own = format!("{of}WARC-Target-URI: http://e.org/{}\n", to % 7);
        let names = named(to, "Refers-To-");
        let (id, dated) = match names.split_once("WARC-Refers-To-Target") {
            Some((id, rest)) => (id.to_string(), format!("WARC-Refers-To-Target{rest}")),
            None => unreachable!(),
        };
        let reference = match random.below(8) {
            0 => id,
            1 => dated,
            2 => names,
            3 => format!("WARC-Refers-To: <urn:gone>\n{dated}"),
            4 => "WARC-Refers-To: <urn:gone>\n".into(),
            5 => format!("WARC-Refers-To: <urn:v{}>\n", random.below(60)),
            6 => format!("WARC-Payload-Digest: {}\n", sha1(&words.join(" "))),
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
    fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
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
    let (id, url, date) = (
        from.get("warc-refers-to"),
        from.get("warc-refers-to-target-uri"),
        from.get("warc-refers-to-date"),
    );
    let by_id = find(&|known| id.is_some() && known.get("warc-record-id") == id);
    if !by_id.is_empty() {
        return (0, by_id);
    }
    if let (Some(_), Some(date)) = (url, date) {
        let of = |known: &Known| {
            let on = known.get("warc-date").map(instant);
            known.get("warc-target-uri") == url && on == Some(instant(date))
        };
        return (1, find(&of));
    }
    if id.is_some() {
        return (1, Vec::new());
    }
    let same = |known: &Known, name| from.get(name).is_some() && known.get(name) == from.get(name);
    (
        2,
        find(&|known| {
            !known.is_revisit
                && same(known, "warc-target-uri")
                && same(known, "warc-payload-digest")
        }),
    )
}

/// Keeps what the references need. Returns the counts.
fn resolve(all: &mut [Known]) -> [u64; 4] {
    let mut counts = [0; 4];
    for kind in 0..3 {
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
            let ids: BTreeSet<String> = found
                .iter()
                .map(|&at| {
                    all[at]
                        .get("warc-record-id")
                        .map_or(format!("{at}"), Into::into)
                })
                .collect();
            for id in ids {
                let has = |at: &usize| {
                    all[*at]
                        .get("warc-record-id")
                        .map_or(*at == id.parse().unwrap_or(usize::MAX), |own| own == id)
                };
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
                    let near =
                        ["exact", "near", "chain"].contains(&line["reason"].as_str().unwrap());
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
                1 of 4 revisit records refers to no record of the inputs.";
    assert!(ran.stdout.contains(says), "{ran:?}");
    assert!(place.join("removed/referred.parquet").exists());
    assert_eq!(fs::read_to_string(place.join("kept/a.warc")).unwrap(), warc);
    // Lists have it also, and a revisit record does not take its place.
    done(&place, "dedup in -o lists --ids-only");
    let list = fs::read_to_string(place.join("lists/referred.tsv")).unwrap();
    assert!(
        list.contains("\turn:b\texact\ta.warc\t1\turn:a\t"),
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
    let how = "dedup in -o flags --remove drop.tsv --rejects drop --quiet --work kept.work";
    let ran = done(&place, how);
    let warning = "warning: 2 revisit records of the inputs refer to records that --remove or";
    assert!(ran.stderr.contains(warning), "{ran:?}");
    let kept = fs::read_to_string(place.join("flags/a.warc")).unwrap();
    assert!(
        !kept.contains("Record-ID: <urn:b>") && !kept.contains("Record-ID: <urn:image>"),
        "{kept}"
    );
    let ran = call(&place, "report flags");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
