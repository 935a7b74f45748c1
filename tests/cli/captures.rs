//! Addresses and dates of captures in tables and answers, against the records of the inputs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use lookalike::source::Decompressed;
use serde_json::Value;

use crate::common::{self, cells_of, parquet_rows};

fn done(place: &Path, arguments: &[&str]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    let output = program.current_dir(place).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The address and the date of a document; empty if it is not a capture.
type Seen = (String, String);

/// Reads the bytes of a record.
fn seen(record: &[u8]) -> Seen {
    let head = record.split(|byte| *byte == b'\n');
    let mut lines = head.map(|line| String::from_utf8_lossy(line).trim().to_string());
    let first = lines.next().unwrap();
    if !first.starts_with("WARC/") {
        let fields: Vec<&str> = first.rsplitn(5, ' ').collect();
        let is_arc = fields.len() == 5 && fields[2].len() == 14 && fields[4].contains("://");
        let day = |from: usize| &fields[2][from..from + 2];
        let date = || {
            let year = &fields[2][..4];
            let day_of = format!("{year}-{}-{}", day(4), day(6));
            format!("{day_of}T{}:{}:{}Z", day(8), day(10), day(12))
        };
        return match is_arc {
            true => (fields[4].into(), date()),
            false => Seen::default(),
        };
    }
    let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let value = |wanted: &str| {
        let fields = lines.iter().filter_map(|line| line.split_once(':'));
        let mut values = fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let value = values.next().map_or("", |(_, value)| value.trim());
        value.trim_matches(['<', '>']).to_string()
    };
    (value("WARC-Target-URI"), value("WARC-Date"))
}

/// The captures of a directory by their numbers, from the bytes of the inputs.
fn captures(out: &Path) -> BTreeMap<String, Seen> {
    let inputs = fs::read_to_string(out.join("inputs.jsonl")).unwrap();
    let inputs = inputs.lines().map(|line| {
        let input: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| input[name].as_str().unwrap().to_string();
        (text("name"), text("real"))
    });
    let inputs: BTreeMap<String, String> = inputs.collect();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let documents = cells_of(&out.join("documents.tsv")).into_iter();
    let all = documents.map(|row| {
        let name = &row["file"];
        let bytes = files.entry(name.clone()).or_insert_with(|| {
            let mut bytes = Vec::new();
            let mut file = Decompressed::open(Path::new(&inputs[name])).unwrap();
            // Some files of others are cut off.
            let _ = file.read_to_end(&mut bytes);
            bytes
        });
        let offset: usize = row["offset"].parse().unwrap();
        let seen = seen(&bytes[offset..]);
        assert_eq!(row["date"], seen.1, "{row:?}");
        if !seen.1.is_empty() {
            assert_eq!(row["url"], seen.0, "{row:?}");
        }
        (row["document"].clone(), seen)
    });
    all.collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A line of JSON, or a row of a Parquet file, as cells.
fn cells(row: impl IntoIterator<Item = (String, Value)>) -> BTreeMap<String, String> {
    row.into_iter()
        .map(|(name, value)| (name, text(&value)))
        .collect()
}

fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    match path.extension().is_some_and(|ending| ending == "parquet") {
        true => parquet_rows(path).into_iter().map(cells).collect(),
        false => cells_of(path),
    }
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Checks every table of a run of these inputs, and the answers about it. Returns how many rows had
/// captures.
fn check(place: &Path, inputs: &[&str], more: &[&str]) -> usize {
    let out = place.join("out");
    let _ = fs::remove_dir_all(&out);
    let run = [
        "run",
        "-o",
        "out",
        "-t",
        "0.5",
        "--review",
        "0.3",
        "--results",
        "parquet",
    ];
    done(place, &[&run[..], &["--quiet"], more, inputs].concat());
    check_tables(&out) + check_answers(place, inputs)
}

fn check_tables(out: &Path) -> usize {
    let captures = captures(out);
    let docnos = cells_of(&out.join("documents.tsv")).into_iter();
    let docnos = docnos.map(|row| (row["docno"].clone(), captures[&row["document"]].clone()));
    let docnos: BTreeMap<String, Seen> = docnos.collect();
    let mut found = 0;
    let mut same = |row: &BTreeMap<String, String>, [url, date]: [&str; 2], seen: &Seen| {
        let empty = String::new();
        let cell = |name: &str| row.get(name).unwrap_or(&empty).clone();
        let expected = match seen.1.is_empty() {
            true => Seen::default(),
            false => seen.clone(),
        };
        assert_eq!((cell(url), cell(date)), expected, "{row:?}");
        found += usize::from(!seen.1.is_empty());
    };
    for ending in ["tsv", "parquet"] {
        for name in ["pairs", "review"] {
            for row in table(&out.join(format!("{name}.{ending}"))) {
                same(&row, ["url_a", "date_a"], &captures[&row["document_a"]]);
                same(&row, ["url_b", "date_b"], &captures[&row["document_b"]]);
            }
        }
    }
    for row in table(&out.join("documents.parquet")) {
        assert_eq!(row["date"], captures[&row["document"]].1);
    }
    for row in table(&out.join("clusters.parquet")) {
        same(&row, ["url", "date"], &captures[&row["document"]]);
    }
    for row in table(&out.join("exact-duplicates.tsv")) {
        same(&row, ["url", "date"], &docnos[&row["docno"]]);
        let of = ["representative_url", "representative_date"];
        same(&row, of, &docnos[&row["representative"]]);
    }
    for cluster in json_lines(&fs::read_to_string(out.join("clusters.jsonl")).unwrap()) {
        for member in cluster["members"].as_array().unwrap() {
            let row = cells(member.as_object().unwrap().clone());
            same(&row, ["url", "date"], &docnos[&row["docno"]]);
        }
    }
    found
}

/// Answers of `query`, with and without an index, of `show` and of `dedup`.
fn check_answers(place: &Path, inputs: &[&str]) -> usize {
    let out = place.join("out");
    let (mut found, captures) = (0, captures(&out));
    let documents = cells_of(&out.join("documents.tsv"));
    let of = |docno: &str| {
        let mut rows = documents.iter().filter(|row| row["docno"] == docno);
        captures[&rows.next().unwrap()["document"]].clone()
    };
    let mut same = |value: &Value, url: &str| {
        let seen = of(value["docno"].as_str().unwrap());
        let url = if seen.1.is_empty() {
            &Value::Null
        } else {
            &value[url]
        };
        let date = text(&value["date"]);
        let expected = if seen.1.is_empty() {
            String::new()
        } else {
            seen.0
        };
        assert_eq!((text(url), date), (expected, seen.1), "{value}");
        found += 1;
    };
    let asked = |more: &[&str]| {
        let query = ["query", "out", "-t", "0.5", "--quiet"];
        done(place, &[&query[..], more, inputs].concat())
    };
    let before = asked(&["--json"]);
    for answer in json_lines(&before) {
        for found in answer["matches"].as_array().into_iter().flatten() {
            same(found, "url");
        }
    }
    let rows = asked(&["--tsv"]);
    done(place, &["stage", "index", "out", "--quiet"]);
    assert_eq!(before, asked(&["--json"]));
    assert_eq!(rows, asked(&["--tsv"]));
    let path = place.join("answers.tsv");
    fs::write(&path, rows).unwrap();
    for row in cells_of(&path) {
        let value = serde_json::to_value(&row).unwrap();
        same(&value, "url");
    }
    done(place, &["check", "verify", "out"]);
    let graph = |format| {
        let export = ["export", "graph", "out", "--format", format];
        fs::write(&path, done(place, &export)).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let mut dates = BTreeMap::new();
    graph("tsv");
    for row in cells_of(&path) {
        for side in ["a", "b"] {
            let cell = |name: &str| {
                row.get(&format!("{name}_{side}"))
                    .cloned()
                    .unwrap_or_default()
            };
            let value = serde_json::json!({"docno": cell("docno"), "url": cell("url"), "date": cell("date")});
            same(&value, "url");
            dates.insert(cell("docno"), !cell("date").is_empty());
        }
    }
    let dated = dates.values().filter(|is_dated| **is_dated).count();
    assert_eq!(graph("dot").matches(" date=\"").count(), dated);
    assert_eq!(
        graph("graphml").matches("<data key=\"date\">").count(),
        dated
    );

    let dedup = [
        "dedup",
        "-o",
        "kept",
        "--removed",
        "removed",
        "-t",
        "0.5",
        "--quiet",
    ];
    done(place, &[&dedup[..], inputs].concat());
    let removed = fs::read_to_string(place.join("removed/removed.jsonl")).unwrap();
    let lines = json_lines(&removed);
    for line in &lines {
        same(line, "address");
        same(&line["survivor"], "address");
    }
    for (name, results) in [("ids", "tsv"), ("tables", "parquet")] {
        let ids = [
            "dedup",
            "-o",
            name,
            "--ids-only",
            "-t",
            "0.5",
            "--results",
            results,
        ];
        done(place, &[&ids[..], &["--quiet"], inputs].concat());
        let rows = table(&place.join(name).join(format!("removed.{results}")));
        assert_eq!(rows.len(), lines.len());
        for (row, line) in rows.iter().zip(&lines) {
            for (name, of) in [("", line), ("survivor_", &line["survivor"])] {
                for member in ["address", "date"] {
                    assert_eq!(row[&format!("{name}{member}")], text(&of[member]), "{line}");
                }
            }
        }
        for row in table(&place.join(name).join(format!("kept.{results}"))) {
            same(&serde_json::to_value(&row).unwrap(), "address");
        }
    }
    for name in [
        "kept",
        "kept.work",
        "removed",
        "ids",
        "ids.work",
        "tables",
        "tables.work",
    ] {
        let _ = fs::remove_dir_all(place.join(name));
    }
    found
}

/// Two crawls in WARC and one page in ARC: pages that stay and that change, odd addresses and dates.
fn crawls(place: &Path) -> Vec<PathBuf> {
    let words = |from: usize| {
        (from..from + 60)
            .map(|n| format!("w{n} "))
            .collect::<String>()
    };
    let mut files = Vec::new();
    for crawl in 0..2 {
        let mut bytes = Vec::new();
        for page in 0..12 {
            let text = words(1000 * page) + ["", "w1 w2 w3"][crawl * (page % 2)];
            let url = match page {
                3 => "<http://e.org/a\\b?\u{e9}>".to_string(),
                _ => format!("http://e.org/{page}"),
            };
            let date = match page {
                4 => "odd \u{e9}\\ date".into(),
                _ => format!("2024-0{}-01T00:00:{page:02}Z", crawl + 1),
            };
            // Two ids, and a page without a date.
            let date = if page == 5 {
                String::new()
            } else {
                format!("WARC-Date: {date}\r\n")
            };
            let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}");
            let head = format!(
                "WARC/1.0\r\nWARC-Type: response\r\n{date}WARC-Target-URI: {url}\r\n\
                 WARC-Record-ID: <urn:uuid:{crawl}-{page:04}>\r\nContent-Length: {}\r\n\r\n",
                block.len()
            );
            bytes.extend((head + &block + "\r\n\r\n").into_bytes());
        }
        files.push(place.join(format!("{crawl}.warc")));
        fs::write(&files[crawl], bytes).unwrap();
    }
    let block = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}",
        words(1000)
    );
    let line = "http://e.org/a b 1.2.3.4 20040131120000 text/plain";
    files.push(place.join("page.arc"));
    fs::write(&files[2], format!("{line} {}\n{block}\n", block.len())).unwrap();
    files
}

/// The same pages as JSON, whose addresses are in no table but that of documents.
fn as_json(place: &Path) -> PathBuf {
    let line = |page: usize| {
        let words: String = (0..60).map(|n| format!("w{} ", 1000 * page + n)).collect();
        format!("{{\"id\":\"j{page}\",\"url\":\"http://j/{page}\",\"text\":\"{words}\"}}\n")
    };
    let path = place.join("0-pages.jsonl");
    fs::write(&path, (0..12).map(line).collect::<String>()).unwrap();
    path
}

#[test]
fn every_table_states_the_address_and_the_date_of_a_capture() {
    let place = common::temporary();
    let place = place.path();
    let mut files = crawls(place);
    files.push(as_json(place));
    let names: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    assert!(check(place, &names[..2], &[]) > 100);
    assert!(check(place, &names, &["--threads", "3"]) > 200);
    assert!(check(place, &names, &["--segment-size", "1k", "--threads", "1"]) > 200);
    let samples = common::sample_corpora("warc");
    assert!(check(place, &[samples.to_str().unwrap()], &[]) > 100);
    for folder in ["formats/warc", "commoncrawl"] {
        if let Some(root) = common::corpora("web archives") {
            let folder = root.join(folder);
            if folder.is_dir() {
                check(place, &[folder.to_str().unwrap()], &[]);
            }
        }
    }
}

#[test]
fn collections_without_captures_have_no_cells_for_them() {
    let place = common::temporary();
    let place = place.path();
    let json = as_json(place);
    let json = json.to_str().unwrap();
    done(place, &["run", "-o", "out", "--quiet", json]);
    for (name, columns) in [
        ("pairs.tsv", 8),
        ("documents.tsv", 10),
        ("exact-duplicates.tsv", 4),
    ] {
        let text = fs::read_to_string(place.join("out").join(name)).unwrap();
        let head = text.lines().find(|line| !line.starts_with("# ")).unwrap();
        assert_eq!(head.split('\t').count(), columns, "{head}");
    }
    let answers = done(place, &["query", "out", json, "--quiet"]);
    assert!(!answers.contains("date") && !answers.contains("url"));
}

#[test]
fn captures_come_later_and_from_another_collection() {
    let place = common::temporary();
    let place = place.path();
    let files = crawls(place);
    let json = as_json(place);
    let [a, b, c, d] = [&json, &files[0], &files[1], &files[2]].map(|file| file.to_str().unwrap());
    let results = |name: &str| common::results(&place.join(name));
    done(
        place,
        &["run", "-o", "whole", "-t", "0.5", "--quiet", a, b, c, d],
    );
    for indexed in [false, true] {
        let _ = fs::remove_dir_all(place.join("out"));
        done(place, &["run", "-o", "out", "-t", "0.5", "--quiet", a]);
        if indexed {
            done(place, &["stage", "index", "out", "--quiet"]);
        }
        for file in [b, c, d] {
            done(place, &["add", "out", "--quiet", file]);
        }
        let (mut whole, mut added) = (results("whole"), results("out"));
        for summary in [&mut whole, &mut added] {
            summary.remove("summary.json");
        }
        common::assert_same_files(&whole, &added, "added one by one");
        captures(&place.join("out"));
    }
    let answers = |out: &str| {
        let query = ["query", out, "-t", "0.5", "--quiet", a, b, c, d];
        done(place, &query)
    };
    assert_eq!(answers("whole"), answers("out"));
    // The pairs of new documents with those of another collection.
    let run = ["run", "-t", "0.5", "--quiet", "-o"];
    done(place, &[&run[..], &["joint", b, c, d]].concat());
    done(place, &[&run[..], &["old", b]].concat());
    done(
        place,
        &[&run[..], &["new", "--against", "old", c, d]].concat(),
    );
    let (whole, new) = (captures(&place.join("joint")), captures(&place.join("new")));
    let mut of_old = 0;
    for row in cells_of(&place.join("new/pairs.tsv")) {
        for side in ["a", "b"] {
            // Numbers of documents count the other directory first.
            let number = &row[&format!("document_{side}")];
            let seen = &whole[number];
            let cell = |name: &str| row[&format!("{name}_{side}")].clone();
            let url = if seen.1.is_empty() {
                String::new()
            } else {
                seen.0.clone()
            };
            assert_eq!(
                (cell("url"), cell("date")),
                (url, seen.1.clone()),
                "{row:?}"
            );
            of_old += usize::from(!new.contains_key(number) && !seen.1.is_empty());
        }
    }
    assert!(of_old > 0);
}

#[test]
fn several_captures_of_an_address_are_listed_with_their_dates() {
    let place = common::temporary();
    let place = place.path();
    let files = crawls(place);
    let [a, b] = [&files[0], &files[1]].map(|file| file.to_str().unwrap());
    done(place, &["run", "-o", "out", "--quiet", a, b]);
    let mut program = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    let show = ["show", "out", "http://e.org/7"];
    let output = program.current_dir(place).args(show).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let listed = "0.warc:8 of 2024-01-01T00:00:07Z, 1.warc:8 of 2024-02-01T00:00:07Z";
    assert!(
        !output.status.success() && error.contains(listed),
        "{error}"
    );
    let help = done(place, &["show", "--help"]);
    assert!(help.contains("ADDRESS@DATE"), "{help}");
    let dated = "http://e.org/7@2024-02";
    let day = format!("{dated}-01T00:00:07Z");
    for one in ["1.warc:8", dated, &day, "http://e.org/7@20240201000007"] {
        let shown = done(place, &["show", "out", one, "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["date"], "2024-02-01T00:00:07Z", "{one}");
    }
    // Where another capture is named, its address and its date are too.
    let shown = done(place, &["show", "out", dated]);
    let named: Vec<&str> = shown
        .lines()
        .filter(|line| line.contains("0-0007"))
        .collect();
    assert!(named.len() > 1, "{shown}");
    for line in named {
        let known = ["http://e.org/7", "2024-01-01T00:00:07Z"];
        assert!(known.iter().all(|known| line.contains(known)), "{line}");
    }
    done(place, &["report", "out", "--split"]);
    let index = fs::read_to_string(place.join("out/report/documents-0001.html")).unwrap();
    assert!(
        index.contains("http://e.org/7 2024-01-01T00:00:07Z 0-0007"),
        "{index}"
    );
}

/// A directory with an index, made before captures were stored: it is read as it is, and documents
/// that are added have captures.
#[test]
fn directories_without_captures_answer_and_grow() {
    let place = common::temporary();
    let place = place.path();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures");
    common::copy_directory(&fixture.join("v2"), &place.join("old"));
    for file in ["old.warc", "new.warc"] {
        fs::copy(fixture.join(file), place.join(file)).unwrap();
    }
    let of = ["--shingle-size", "3", "-t", "0.3", "--quiet"];
    done(
        place,
        &[&["run", "old.warc", "-o", "one"], &of[..]].concat(),
    );
    done(place, &["stage", "index", "one", "--quiet"]);
    let names = ["docno", "match", "score", "url", "date"];
    let answers = |out| {
        let told = done(place, &["query", out, "new.warc", "--quiet"]);
        fs::write(place.join("answers.tsv"), told).unwrap();
        let rows = cells_of(&place.join("answers.tsv")).into_iter();
        let cells = rows.map(|row| names.map(|name| row.get(name).cloned().unwrap_or_default()));
        cells.collect::<Vec<_>>()
    };
    let without = |rows: &[[String; 5]]| -> Vec<Vec<String>> {
        rows.iter().map(|row| row[..3].to_vec()).collect()
    };
    let (old, new) = (answers("old"), answers("one"));
    assert_eq!(without(&old), without(&new));
    assert!(old.len() == 2 && old.iter().all(|row| row[3].is_empty() && row[4].is_empty()));
    assert!(new.iter().all(|row| row[4].starts_with("2024-01-0")));
    for out in ["old", "one"] {
        done(place, &["add", out, "new.warc", "--quiet"]);
        done(place, &["check", "verify", out]);
    }
    let pairs = |out: &str| cells_of(&place.join(out).join("pairs.tsv"));
    let (old, mut new) = (pairs("old"), pairs("one"));
    assert_eq!(old.len(), 3);
    let is_added = |row: &BTreeMap<String, String>| row["document_b"] == "3";
    assert!(
        old.iter()
            .filter(|row| is_added(row))
            .all(|row| row["date_b"] == "2024-02-01T00:00:00Z")
    );
    for row in &mut new {
        let both = if is_added(row) {
            &["a"][..]
        } else {
            &["a", "b"]
        };
        for side in both {
            row.insert(format!("url_{side}"), String::new());
            row.insert(format!("date_{side}"), String::new());
        }
    }
    assert_eq!(old, new);
    let told = done(place, &["query", "old", "new.warc", "--quiet"]);
    assert!(
        told.contains("http://e.org/d\t2024-02-01T00:00:00Z"),
        "{told}"
    );
}

/// Lists for `evaluate` name captures by their addresses as well as by their docnos.
#[test]
fn evaluate_takes_addresses_of_captures() {
    let place = common::temporary();
    let place = place.path();
    let files = crawls(place);
    let [a, b] = [&files[0], &files[1]].map(|file| file.to_str().unwrap());
    let run = |out: &str, inputs: &[&str]| {
        done(
            place,
            &[&["run", "-t", "0.5", "--quiet", "-o", out][..], inputs].concat(),
        )
    };
    run("one", &[a]);
    run("both", &[a, b]);
    let named = |by: &str| -> Vec<String> {
        let rows = cells_of(&place.join("one/documents.tsv"));
        rows.iter().map(|row| row[by].clone()).collect()
    };
    let lists = |names: &[String]| {
        let name = |page: usize| &names[page];
        let lines = |pages: &[[usize; 2]], more: &str| -> String {
            let line = |of: &[usize; 2]| format!("{}\t{}{more}\n", name(of[0]), name(of[1]));
            pages.iter().map(line).collect()
        };
        let judged = "docno_a\tdocno_b\tjudgement\n".to_string();
        let clusters = [(0, 1), (1, 1), (7, 2), (8, 2)];
        let clusters = clusters.map(|(page, of)| format!("{}\t{of}\n", name(page)));
        for (file, text) in [
            (
                "judged.tsv",
                judged + &lines(&[[0, 1], [2, 7]], "\t1") + &lines(&[[1, 8]], "\t0"),
            ),
            ("pairs.tsv", lines(&[[0, 1], [4, 9]], "\t0.9")),
            ("removed.txt", format!("{}\n{}\n", name(1), name(8))),
            (
                "clusters.tsv",
                format!("docno\tcluster\n{}", clusters.concat()),
            ),
        ] {
            fs::write(place.join(file), text).unwrap();
        }
    };
    let commands = |out| {
        [
            vec!["evaluate", out, "--judged", "judged.tsv", "--json"],
            vec!["evaluate", "pairs.tsv", "--truth", out, "--json"],
            vec![
                "evaluate",
                "removed.txt",
                "--truth",
                out,
                "--run-lists",
                "removed",
                "--json",
            ],
            vec![
                "evaluate",
                "clusters.tsv",
                "--truth",
                out,
                "--run-lists",
                "clusters",
                "--json",
            ],
        ]
    };
    lists(&named("docno"));
    let expected = commands("one").map(|command| done(place, &command));
    lists(&named("url"));
    assert_eq!(
        commands("one").map(|command| done(place, &command)),
        expected
    );
    // The captures of both crawls have most addresses.
    for command in commands("both") {
        let mut program = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        let output = program.current_dir(place).args(&command).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        let listed = [
            "2024-01-01T00:00:0",
            "2024-02-01T00:00:0",
            "the address of one capture",
        ];
        assert!(!output.status.success(), "{command:?}");
        assert!(listed.iter().all(|part| error.contains(part)), "{error}");
    }
    // A docno that is another document's address stays a docno.
    let near = (1000..1060).map(|n| format!("w{n} ")).collect::<String>();
    let line = serde_json::json!({"id": "http://e.org/1", "text": near + "w1 w2"});
    fs::write(place.join("page.jsonl"), format!("{line}\n")).unwrap();
    run("named", &[a, "page.jsonl"]);
    let told = done(place, &["evaluate", "named", "--truth", "named", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    let (all, counts) = (
        &told["pairs"][0]["documents"]["all"],
        &told["run"]["counts"],
    );
    assert_eq!((&all["true_pairs"], &all["found"]), (&1.into(), &1.into()));
    assert_eq!(counts["identical"], 0, "{told}");
}
