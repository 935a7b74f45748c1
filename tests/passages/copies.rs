//! Copies of all formats: what stays byte for byte, what is refused, and how a command continues.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::json;

use super::support::{call, passages, refused, texts};
use crate::common::corpus::Random;
use crate::common::{
    assert_same_files, copy_directory, parquet_rows, sample_corpora, temporary, tree,
};

fn write(place: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = place.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn read(place: &Path, name: &str) -> String {
    String::from_utf8(fs::read(place.join(name)).unwrap()).unwrap()
}

const SCHEMA: &str = "message rows {
    optional int64 id;
    optional binary text (STRING);
    optional binary title (STRING);
    optional binary kind (STRING);
}";

/// Writes rows of a number, a text and a title, in row groups. `strings` says whether columns of
/// text are strings of another type (`binary` without one).
fn write_rows(path: &Path, rows: &[(Option<String>, String)], group: usize) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let entry = KeyValue::new("ARROW:schema".to_string(), "large_string".to_string());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![entry]))
        .build();
    let file = fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut id = 0;
    for rows in rows.chunks(group) {
        let mut out = writer.next_row_group().unwrap();
        let ones = vec![1; rows.len()];
        let ids: Vec<i64> = (id..).take(rows.len()).collect();
        id += rows.len() as i64;
        let mut column = out.next_column().unwrap().unwrap();
        let typed = column.typed::<Int64Type>();
        typed.write_batch(&ids, Some(&ones), None).unwrap();
        column.close().unwrap();
        let bytes = |text: &String| ByteArray::from(text.as_bytes().to_vec());
        for column in 0..3 {
            let (values, levels): (Vec<ByteArray>, Vec<i16>) = match column {
                0 => (
                    rows.iter()
                        .filter_map(|(text, _)| text.as_ref().map(bytes))
                        .collect(),
                    rows.iter()
                        .map(|(text, _)| i16::from(text.is_some()))
                        .collect(),
                ),
                1 => (
                    rows.iter().map(|(_, title)| bytes(title)).collect(),
                    ones.clone(),
                ),
                _ => (Vec::new(), vec![0; rows.len()]),
            };
            let mut column = out.next_column().unwrap().unwrap();
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&values, Some(&levels), None).unwrap();
            column.close().unwrap();
        }
        out.close().unwrap();
    }
    writer.close().unwrap();
}

/// A Parquet file loses what the same rows lose in JSON lines.
#[test]
fn parquet_loses_what_json_loses() {
    let mut changed = 0;
    for seed in 0..24 {
        let home = temporary();
        let place = home.path();
        let mut random = Random(seed);
        let texts: Vec<Option<String>> = texts(seed)
            .into_iter()
            .enumerate()
            .map(|(n, text)| (n == 0 || !random.once_in(5)).then_some(text))
            .collect();
        let rows: Vec<(Option<String>, String)> = texts
            .iter()
            .enumerate()
            .map(|(n, text)| (text.clone(), format!("title {n}")))
            .collect();
        fs::create_dir(place.join("rows")).unwrap();
        fs::create_dir(place.join("lines")).unwrap();
        write_rows(&place.join("rows/a.parquet"), &rows, 1 + random.below(5));
        let lines = texts.iter().enumerate().map(|(n, text)| match text {
            Some(text) => format!("{}\n", json!({"id": n, "text": text})),
            None => format!("{}\n", json!({"id": n})),
        });
        write(place, "lines/a.jsonl", lines.collect::<String>());
        let empty = ["keep", "drop"][seed as usize % 2];
        let how = format!(
            "--remove --length {} --align {} --empty {empty}",
            [1, 2, 4][seed as usize % 3],
            ["token", "line"][(seed / 2) as usize % 2],
        );
        let lines = passages(
            place,
            &format!("lines -o kept-lines --removed gone-lines {how}"),
        );
        let found = passages(place, &format!("rows -o kept --removed gone {how}"));
        assert_eq!(found["removal"], lines["removal"], "seed {seed}");
        changed += found["removal"]["changed"].as_u64().unwrap();
        // The rows, but for those without a text, which are kept in both.
        let mut expected = BTreeMap::new();
        for line in read(place, "kept-lines/a.jsonl").lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            expected.insert(line["id"].as_u64().unwrap(), line["text"].clone());
        }
        if place.join("kept/a.parquet").exists() {
            let rows = parquet_rows(&place.join("kept/a.parquet"));
            assert_eq!(rows.len(), expected.len(), "seed {seed}");
            for row in rows {
                let id = row["id"].as_u64().unwrap();
                assert_eq!(row["text"], expected[&id], "seed {seed}, row {id}");
                assert_eq!(row["title"], format!("title {id}"));
                assert_eq!(row["kind"], serde_json::Value::Null);
            }
            let file = fs::File::open(place.join("kept/a.parquet")).unwrap();
            let reader = SerializedFileReader::new(file).unwrap();
            let metadata = reader.metadata().file_metadata();
            let entries = metadata.key_value_metadata().unwrap();
            assert_eq!(entries[0].value.as_deref(), Some("large_string"));
        }
        let sides = |directory: &str, name: &str| {
            let path = place.join(directory).join(format!("{name}.removed.jsonl"));
            let text = fs::read_to_string(path).unwrap_or_default();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            let lines = lines.map(|mut line: serde_json::Value| {
                line.as_object_mut().unwrap().remove("file");
                line
            });
            lines.collect::<Vec<_>>()
        };
        assert_eq!(sides("gone", "a.parquet"), sides("gone-lines", "a.jsonl"));
        // Once more, everything is in its place, and counts the same.
        let again = passages(place, &format!("rows -o kept --removed gone {how}"));
        assert_eq!(again["removal"], found["removal"], "seed {seed}");
    }
    assert!(changed > 50, "{changed}");
}

#[test]
fn what_does_not_change_keeps_its_bytes() {
    let home = temporary();
    let place = home.path();
    let passage = "one two three four five six seven eight nine ten";
    let first = format!("{{\"text\" : \"{passage}\",\"n\":1.0}}");
    let bad = b"{\"x\":\"\xff\xfe\",\"text\":\"\xff\\u2026 ahead ONE two, three four five six seven eight nine TEN behind\"}";
    let mut lines = Vec::new();
    lines.extend_from_slice(format!("{first}\n\n{{bad json}}\n").as_bytes());
    lines.extend_from_slice(bad);
    lines.extend_from_slice(b"\r\n{\"id\":3,\"text\":\"other\",\"text\":\"no\"}");
    write(place, "in/a.jsonl", &lines);
    write(
        place,
        "in/b.jsonl",
        "{\"text\" :\"no words are shared here\" }",
    );
    let half = "\\ud83d one two three four five six seven eight nine ten. \\ud83d\\ude00 \\ude00";
    write(place, "in/c.jsonl", format!("{{\"text\":\"{half}\"}}\n"));
    write(
        place,
        "in/d.txt",
        format!("Before.\n\n{passage}.\n\nAfter.\n"),
    );
    // In another charset, an object keeps its text.
    let latin = [b"{\"text\":\"caf\xe9 ", passage.as_bytes(), b"\"}\n"].concat();
    write(place, "in/f.jsonl", &latin);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
    gz.write_all(format!("\u{feff}{passage}.\n").as_bytes())
        .unwrap();
    write(place, "in/e.txt.gz", gz.finish().unwrap());
    let found = passages(place, "in -o kept --removed gone --remove --length 5");
    let expected = [
        &format!("{first}\n\n{{bad json}}\n").into_bytes()[..],
        b"{\"x\":\"\xff\xfe\",\"text\":\"\xff\\u2026 ahead behind\"}\r\n{\"id\":3,\"text\":\"other\",\"text\":\"no\"}",
    ]
    .concat();
    assert_eq!(fs::read(place.join("kept/a.jsonl")).unwrap(), expected);
    assert_eq!(
        read(place, "kept/b.jsonl"),
        "{\"text\" :\"no words are shared here\" }"
    );
    // Nothing is left of it, so nothing is left of the rest.
    assert_eq!(read(place, "kept/c.jsonl"), "{\"text\":\"\"}\n");
    assert_eq!(read(place, "kept/d.txt"), "Before.\n\nAfter.\n");
    assert_eq!(fs::read(place.join("kept/f.jsonl")).unwrap(), latin);
    let ran = call(place, "in -o again --remove --length 5", None);
    assert!(
        ran.stderr
            .contains("not UTF-8 (`wrong charset declared` in rejects.jsonl): 1;"),
        "{ran:?}"
    );
    let gz = fs::read(place.join("kept/e.txt.gz")).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&gz[..]), &mut text)
        .unwrap();
    assert_eq!(text, "\u{feff}");
    assert_eq!(found["removal"]["changed"], 4);
    assert_eq!(found["removal"]["emptied"], 2);
    assert_eq!(found["removal"]["whole_files"], 1);
    assert_eq!(found["removal"]["removed_tokens"], 40);
    let gone = read(place, "gone/d.txt.removed.jsonl");
    let gone: serde_json::Value = serde_json::from_str(&gone).unwrap();
    let expected = json!({"file": "d.txt", "record": 1, "docno": "d.txt", "begin_byte": 9,
        "end_byte": 60, "begin_token": 1, "end_token": 11, "text": format!("{passage}.\n\n")});
    assert_eq!(gone, expected);
    // Documents without text are left out, and a file that is one of them, too.
    let found = passages(place, "kept.work -o fewer --remove --length 5 --empty drop");
    assert_eq!(found["removal"]["dropped"], 2);
    assert_eq!(read(place, "fewer/c.jsonl"), "");
    assert!(!place.join("fewer/e.txt.gz").exists());
    assert_eq!(read(place, "fewer/d.txt"), "Before.\n\nAfter.\n");
}

/// Words of scripts without spaces do not become other words.
#[test]
fn words_never_run_together() {
    let home = temporary();
    let place = home.path();
    let lines = [
        "漢字仮名",
        "abc漢字仮名def",
        "ghi'漢字仮名jkl",
        "m漢字仮名'n",
        "o漢字仮名。p",
    ];
    let lines = lines.map(|text| format!("{}\n", json!({ "text": text })));
    write(place, "in.jsonl", lines.concat());
    passages(place, "in.jsonl -o kept --remove --length 4");
    let kept = read(place, "kept/in.jsonl");
    let kept: Vec<String> = kept
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["text"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(kept, ["漢字仮名", "abc def", "ghi' jkl", "m n", "o p"]);
}

#[test]
fn several_fields_and_lists_are_rewritten() {
    let home = temporary();
    let place = home.path();
    let passage = "one two three four five";
    let lines = [
        format!("{{\"b\":\"x. {passage}! y\",\"a\":\"{passage}\"}}\n"),
        format!("{{\"b\":\"{passage}! t\",\"n\":0,\"a\":\"z\\n {passage}\"}}\n"),
        "{\"a\":\"u one two\",\"b\":\"three four five v\"}\n".into(),
    ];
    write(place, "in.jsonl", lines.concat());
    passages(
        place,
        "in.jsonl -o kept --remove --length 5 --text-field a,b",
    );
    // The text is that of a, a line feed, and that of b; so the third one repeats it, too.
    let expected = [
        "{\"b\":\"x. y\",\"a\":\"one two three four five\"}\n",
        "{\"b\":\"t\",\"n\":0,\"a\":\"z\"}\n",
        "{\"a\":\"u\",\"b\":\"v\"}\n",
    ];
    assert_eq!(read(place, "kept/in.jsonl"), expected.concat());
    let lists = format!(
        "{{\"m\":[{{\"t\":\"{passage}\"}},{{\"r\":\"u\",\"t\":\"a {passage} b\"}}]}}\n\
         {{\"m\":[{{\"t\":[\"{passage}\",\"c\"]}}],\"text\":\"{passage}\"}}\n"
    );
    write(place, "lists.jsonl", lists);
    passages(
        place,
        "lists.jsonl -o lists --remove --length 5 --text-field m[].t",
    );
    let expected = format!(
        "{{\"m\":[{{\"t\":\"{passage}\"}},{{\"r\":\"u\",\"t\":\"a b\"}}]}}\n\
         {{\"m\":[{{\"t\":[\"\",\"c\"]}}],\"text\":\"{passage}\"}}\n"
    );
    assert_eq!(read(place, "lists/lists.jsonl"), expected);
    let said = refused(
        place,
        "lists.jsonl -o x --remove --length 5 --text-field text,m[].t,text",
    );
    assert!(said.contains("twice"), "{said}");
}

/// Every file below a directory, with its content.
fn state(place: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut state = tree(place);
    state.retain(|name, _| !name.ends_with("lock"));
    state
}

#[test]
fn what_cannot_be_rewritten_is_refused_before_anything_is_written() {
    let home = temporary();
    let place = home.path();
    copy_directory(&sample_corpora("warc"), &place.join("warc"));
    copy_directory(&sample_corpora("trec-sgml"), &place.join("trec"));
    copy_directory(&sample_corpora("mail"), &place.join("mail"));
    let page = "<p>one two three four five</p>";
    write(place, "pages/a.html", page);
    write(
        place,
        "lines/a.jsonl",
        format!("{{\"text\":\"a\"}}\n{{\"html\":\"{page}\"}}\n"),
    );
    write(place, "lines/b.jsonl", "{\"text\":\"b\"}\n");
    write(place, "other/mine", "mine");
    let schema = "message rows { optional group text (LIST) { repeated group list {
        optional binary element (STRING); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let value = [ByteArray::from("one two")];
    let typed = column.typed::<ByteArrayType>();
    typed.write_batch(&value, Some(&[3]), Some(&[0])).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    write(place, "lists/a.parquet", writer.into_inner().unwrap());
    fs::create_dir(place.join("rows")).unwrap();
    let rows = [(Some("one two".into()), "title".into())];
    write_rows(&place.join("rows/a.parquet"), &rows, 1);
    let before = state(place);
    for (call, says) in [
        (
            "rows -o kept --text-field text,title,text",
            "in the text twice",
        ),
        ("warc -o kept", "its format is WARC"),
        ("trec -o kept", "its format is"),
        ("mail -o kept", "its format is m"),
        ("pages -o kept", "it is markup"),
        ("lists -o kept", "has lists"),
        ("lines -o kept --text-field html", "read as markup"),
        ("lines", "give -o KEPT"),
        ("lines -o other", "not empty"),
        ("lines -o kept --removed other", "not empty"),
        ("lines -o lines/kept", "lies in the input"),
        ("lines -o kept --removed kept/removed", "overlaps"),
        ("lines -o kept --work kept/work", "overlaps"),
        ("- -o kept", "standard input"),
    ] {
        let said = refused(place, &format!("{call} --remove"));
        assert!(said.contains(says), "{call}: {said}");
        assert_same_files(&state(place), &before, call);
    }
    for (call, says) in [
        ("lines -o kept --align line", "--remove"),
        ("lines -o kept --removed gone", "--remove"),
        ("lines -o kept --empty drop", "--remove"),
        (
            "lines -o kept --remove --align word",
            "not token, line or paragraph",
        ),
    ] {
        let said = refused(place, call);
        assert!(said.contains(says), "{call}: {said}");
        assert_same_files(&state(place), &before, call);
    }
    // A collection is refused before it is searched.
    for input in ["warc", "lines"] {
        passages(place, &format!("{input} -o {input}-out"));
    }
    let before = state(place);
    for (call, says) in [
        ("warc-out -o kept", "its format is WARC"),
        ("lines-out -o other", "not empty"),
        ("lines-out -o lines-out/kept", "overlaps"),
        ("lines-out", "give -o KEPT"),
        ("lines-out -o kept --work w", "leave --work out"),
        ("lines-out -o .", ""),
    ] {
        let said = refused(place, &format!("{call} --remove"));
        assert!(said.contains(says), "{call}: {said}");
        assert_same_files(&state(place), &before, call);
    }
}

/// Markup within JSON, and text that is not UTF-8, are known when the record is read.
#[test]
fn records_that_cannot_be_rewritten_are_named() {
    let home = temporary();
    let place = home.path();
    let text = "one two three four five";
    let page = format!("{{\"id\":\"p7\",\"text\":\"<html> {text}\"}}\n");
    write(place, "a.jsonl", format!("{{\"text\":\"{text}\"}}\n{page}"));
    let said = refused(place, "a.jsonl -o kept --remove --length 5 --markup auto");
    assert!(said.contains("p7 of a.jsonl; it is markup"), "{said}");
    write(place, "pages.jsonl", page);
    let said = refused(
        place,
        "pages.jsonl -o pages --remove --length 5 --markup auto",
    );
    assert!(said.contains("its document p7 is markup"), "{said}");
    assert!(!place.join("pages").exists() && !place.join("pages.work").exists());
    write(place, "b/1.txt", text);
    write(
        place,
        "b/2.txt",
        [text.as_bytes(), b" caf\xe9 \xe9t\xe9 cr\xe8me br\xfbl\xe9e"].concat(),
    );
    let said = refused(place, "b -o b-kept --remove --length 5");
    assert!(said.contains("2.txt; it is not UTF-8"), "{said}");
}

/// Inputs of all kinds, which several threads write.
fn write_inputs(place: &Path) {
    let mut all = Vec::new();
    for seed in 100..130 {
        all.extend(texts(seed));
    }
    for (n, texts) in all.chunks(5).enumerate() {
        let lines = texts
            .iter()
            .map(|text| format!("{}\n", json!({ "text": text })));
        write(
            place,
            &format!("in/{n:03}.jsonl"),
            lines.collect::<String>(),
        );
        write(place, &format!("in/text/{n:03}.txt"), &texts[0]);
    }
    let lines: String = all
        .iter()
        .map(|text| format!("{}\n", json!({ "text": text })))
        .collect();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(lines.as_bytes()).unwrap();
    write(place, "in/x.jsonl.xz", xz.finish().unwrap());
    let rows = all.into_iter().map(|text| (Some(text), "title".into()));
    write_rows(&place.join("in/y.parquet"), &rows.collect::<Vec<_>>(), 40);
}

/// Returns the files in the directories of the copies and of the removed text.
fn outputs(place: &Path, number: usize) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for kind in ["kept", "removed"] {
        let files = tree(&place.join(format!("{kind}{number}"))).into_iter();
        all.extend(files.map(|(name, bytes)| (format!("{kind}/{name}"), bytes)));
    }
    all.retain(|name, _| !name.ends_with("lock"));
    all
}

#[test]
fn stopped_anywhere_and_continued_with_other_threads_and_memory() {
    let home = temporary();
    let place = home.path();
    write_inputs(place);
    let how = |n: usize| {
        format!(
            "in --work work --remove --length 3 -o kept{n} --removed removed{n} --segment-size 64KiB \
             --max-document 1MiB"
        )
    };
    let first = passages(place, &format!("{} --threads 1", how(0)));
    assert!(first["removal"]["changed"].as_u64() > Some(100));
    let expected = outputs(place, 0);
    let mut killed = 0;
    let faults = [
        ("create", 2),
        ("rename", 5),
        ("rename", 40),
        ("sync", 60),
        ("write", 70),
        ("rename", 100_000),
    ];
    for (number, (op, nth)) in (1..).zip(faults) {
        for (on, threads) in [
            (format!("kept{number}/"), 1 + number % 4),
            ("removed".into(), 3),
        ] {
            if cfg!(feature = "faults") {
                let faults = format!("op={op} on={on} nth={nth} do=kill");
                let call_ = format!("{} --threads {threads} --memory 400MiB", how(number));
                killed += usize::from(call(place, &call_, Some(&faults)).code.is_none());
            }
        }
        let threads = 1 + number % 3;
        let again = passages(
            place,
            &format!("{} --threads {threads} --memory 300MiB", how(number)),
        );
        assert_eq!(again, first, "{op} {nth}");
        assert_same_files(&outputs(place, number), &expected, &format!("{op} {nth}"));
    }
    assert!(killed >= 6 || !cfg!(feature = "faults"), "{killed}");
    // With other parameters, or after a change, the directory is refused.
    let said = refused(place, &format!("{} --align line", how(1)));
    assert!(said.contains("with other parameters"), "{said}");
    let kept = place.join("kept1/000.jsonl");
    fs::write(&kept, "changed").unwrap();
    let ran = call(place, &how(1), None);
    assert!(ran.stderr.contains("kept1/000.jsonl"), "{ran:?}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "changed");
    // As little memory as there may be.
    let mut memory = 1u64 << 20;
    loop {
        let call_ = format!("{} --threads 2 --memory {memory}", how(9));
        let ran = call(place, &call_, None);
        if ran.code == Some(0) {
            break;
        }
        assert!(ran.stderr.contains("too small"), "{ran:?}");
        memory += 8 << 20;
        assert!(memory < 400 << 20, "{ran:?}");
    }
    assert_same_files(&outputs(place, 9), &expected, "little memory");
}
