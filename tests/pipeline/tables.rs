//! The Parquet files of `--results parquet` have the rows of the text files, whatever the threads
//! and the interruptions, and stay only while they are true.

use crate::common::one_in;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::cluster::{ResultFormat, TABLE_FILES, TablesEntry};
use lookalike::engine::outputs::{self, Home};
use lookalike::engine::pipeline;
use lookalike::tasks::inspect::{inspect, verify};
use serde_json::{Value, json};

use crate::common::stopped::{StopAt, corpus, names};
use crate::common::{
    Run, assert_same_files, cells_of, lasting, least_memory, manifest, parquet_rows, results,
    sample_corpora, tree,
};

type Row = BTreeMap<String, Value>;

/// Writes the tables of a finished run.
fn tables(run: &Run, out: &Path) -> Result<(), Error> {
    let mut workspace = pipeline::open(out)?;
    pipeline::tables(&mut workspace, &run.context(&Stop::default(), &Silent)).map(drop)
}

/// A run and its tables, watched.
fn whole(run: &Run, input: &Path, out: &Path, watch: &StopAt) -> Result<(), Error> {
    run.watched(&[input], out, &watch.stop, watch)?;
    let mut workspace = pipeline::open(out)?;
    pipeline::tables(&mut workspace, &run.context(&watch.stop, watch)).map(drop)
}

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}

/// A score of a table is that of the text, before it was rounded.
fn same_score(found: &Value, text: &str, what: &str) {
    assert!(found.is_f64(), "{what}: {found} is no double");
    let (found, text) = (found.as_f64().unwrap(), text.parse::<f64>().unwrap());
    assert!(
        (found - text).abs() <= 0.500_001e-6,
        "{what}: {found}, {text}"
    );
}

/// Compares every row of the tables of a directory with the text files. Returns the numbers of
/// pairs and of members of clusters.
fn compare(out: &Path, what: &str) -> (usize, usize) {
    let documents = documents(out, what);
    let docno = |document: &Value| &documents[document.as_u64().unwrap() as usize]["docno"];

    let pairs = parquet_rows(&out.join("pairs.parquet"));
    let texts = cells_of(&out.join("pairs.tsv"));
    assert_eq!(pairs.len(), texts.len(), "{what}: pairs");
    for (row, text) in pairs.iter().zip(&texts) {
        let what = format!("{what}: {text:?}");
        let mut left = row.clone();
        for (name, cell) in text {
            let found = left.remove(name).expect(name);
            match name.as_str() {
                "docno_a" | "docno_b" => assert_eq!(found, json!(cell), "{what}"),
                "resemblance" | "score" => same_score(&found, cell, &what),
                // Documents that are not captures have none.
                "url_a" | "url_b" | "date_a" | "date_b" => {
                    let expected = Some(cell).filter(|cell| !cell.is_empty());
                    assert_eq!(found, json!(expected), "{what}");
                }
                _ => assert_eq!(found, json!(number(cell)), "{what}: {name}"),
            }
        }
        for side in ["a", "b"] {
            let document = &row[&format!("document_{side}")];
            assert_eq!(docno(document), &row[&format!("docno_{side}")], "{what}");
        }
        // The one column that the text does not have.
        let kinds = ["shingles", "keys", "words"].into_iter();
        let kind = { kinds }.find(|kind| text.contains_key(&format!("{kind}_a")));
        let kind = kind.unwrap();
        if kind != "words" {
            let [a, b] = ["a", "b"].map(|side| number(&text[&format!("{kind}_{side}")]));
            let shared = number(&text["shared"]);
            let union = left.remove(&format!("{kind}_union")).unwrap();
            assert_eq!(union, json!(a + b - shared), "{what}");
            if let Some(resemblance) = row.get("resemblance") {
                let exact = shared as f64 / (a + b - shared) as f64;
                assert_eq!(resemblance, &json!(exact), "{what}");
            }
        }
        assert_eq!(left, Row::new(), "{what}");
    }

    let clusters = parquet_rows(&out.join("clusters.parquet"));
    let text = fs::read_to_string(out.join("clusters.jsonl")).unwrap();
    let mut expected = Vec::new();
    for line in text.lines() {
        let cluster: Value = serde_json::from_str(line).unwrap();
        for member in cluster["members"].as_array().unwrap() {
            expected.push((cluster.clone(), member.clone()));
        }
    }
    assert_eq!(clusters.len(), expected.len(), "{what}: members");
    for (row, (cluster, member)) in clusters.iter().zip(&expected) {
        let what = format!("{what}: {member}");
        let mut left = row.clone();
        let mut taken = |name: &str| left.remove(name).unwrap();
        assert_eq!(taken("cluster"), cluster["id"], "{what}");
        assert_eq!(taken("representative"), cluster["representative"], "{what}");
        for (name, value) in member.as_object().unwrap() {
            let found = taken(name);
            match value.is_f64() {
                true => same_score(&found, &value.to_string(), &what),
                // A score of S1 is a whole number in the text.
                false if value.is_u64() => assert_eq!(found.as_f64(), value.as_f64(), "{what}"),
                false => assert_eq!(&found, value, "{what}"),
            }
        }
        let document = taken("document");
        assert_eq!(docno(&document), &member["docno"], "{what}");
        let in_cluster = &documents[document.as_u64().unwrap() as usize]["cluster"];
        assert_eq!(in_cluster, &cluster["id"], "{what}");
        let representative = taken("representative_document");
        assert_eq!(docno(&representative), &cluster["representative"], "{what}");
        let is_it = representative == document;
        assert_eq!(is_it, member["kind"] == "representative", "{what}");
        left.retain(|name, value| !["url", "date"].contains(&&**name) || !value.is_null());
        assert_eq!(left, Row::new(), "{what}");
    }
    (pairs.len(), clusters.len())
}

/// Compares `documents.parquet` with `documents.tsv` and `exact-duplicates.tsv`, and returns it.
fn documents(out: &Path, what: &str) -> Vec<Row> {
    let documents = parquet_rows(&out.join("documents.parquet"));
    let texts = cells_of(&out.join("documents.tsv"));
    assert_eq!(documents.len(), texts.len(), "{what}: documents");
    let mut duplicates = Vec::new();
    for (row, text) in documents.iter().zip(&texts) {
        let what = format!("{what}: {text:?}");
        let mut left = row.clone();
        for (name, cell) in text {
            let found = left.remove(name).expect(name);
            let expected = match name.as_str() {
                "docno" | "file" => json!(cell),
                "url" if found == "" => json!(cell),
                _ if cell.is_empty() => Value::Null,
                "url" | "date" => json!(cell),
                _ => json!(number(cell)),
            };
            assert_eq!(found, expected, "{what}: {name}");
        }
        let md5 = left.remove("md5").unwrap();
        if let Some(first) = left.remove("exact_duplicate_of").unwrap().as_u64() {
            let representative = &documents[first as usize];
            assert!(first < row["document"].as_u64().unwrap(), "{what}");
            assert_eq!(representative["md5"], md5, "{what}");
            assert_eq!(representative["exact_duplicate_of"], Value::Null, "{what}");
            let names = [&row["docno"], &representative["docno"], &md5];
            duplicates.push(names.map(|name| name.as_str().unwrap().to_string()));
        }
        assert_eq!(left, Row::new(), "{what}");
    }
    let expected = cells_of(&out.join("exact-duplicates.tsv"));
    let expected: Vec<_> = expected
        .iter()
        .map(|row| ["docno", "representative", "md5"].map(|name| row[name].clone()))
        .collect();
    assert_eq!(duplicates, expected, "{what}");
    documents
}

fn scored(mut run: Run, score: &str) -> Run {
    run.question.join.measure = score.parse().unwrap();
    run
}

#[test]
fn sample_corpora_have_the_rows_of_the_text_files() {
    let index: toml::Table = fs::read_to_string(sample_corpora("index.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let mut inputs: Vec<PathBuf> = Vec::new();
    for corpus in index["corpus"].as_array().unwrap() {
        inputs.push(sample_corpora(corpus["path"].as_str().unwrap()));
    }
    inputs.push(sample_corpora("broken"));
    let sampled = Run::default().threshold("0.3").sampling("1/4");
    let mut verified = sampled.clone();
    verified.question.join.candidates = Some("0.2".parse().unwrap());
    let runs = [
        ("0.85", Run::default()),
        ("0.3", Run::default().threshold("0.3")),
        ("none", Run::default().threshold("0.3").pairs("none")),
        ("sampled", sampled),
        ("verified", verified),
        ("containment", scored(Run::default(), "containment")),
        ("s1", scored(Run::default(), "s1:20")),
        ("s3", scored(Run::default().threshold("0.3"), "s3")),
        ("s4", scored(Run::default().threshold("0.1"), "s4")),
    ];
    let (mut pairs, mut members) = (0, 0);
    for (number, input) in inputs.iter().enumerate().step_by(one_in(2)) {
        // Formats differ in their documents; the runs differ in their pairs.
        let runs = if number == 0 { &runs[..] } else { &runs[1..3] };
        for (name, run) in runs {
            let what = format!("{} {name}", input.display());
            let mut both = [1, 4].map(|threads| {
                let place = crate::common::temporary();
                let run = run.clone().threads(threads);
                run.run(&[input], place.path()).unwrap();
                let texts = results(place.path());
                tables(&run, place.path()).unwrap();
                assert!(texts == results(place.path()), "{what}: texts changed");
                let found = compare(place.path(), &what);
                pairs += found.0;
                members += found.1;
                assert!(verify(place.path()).unwrap().errors.is_empty());
                lasting(place.path())
            });
            let [one, four] = &mut both;
            assert_same_files(four, one, &what);
        }
    }
    assert!(
        pairs > 1000 && members > 1000,
        "{pairs} pairs, {members} members"
    );
}

/// Names with every character that a cell escapes, an address or none, and documents of all kinds
/// of clusters.
#[test]
fn odd_names_are_not_escaped() {
    let place = crate::common::temporary();
    let input = place.path().join("in.jsonl");
    let words: Vec<String> = (0..60).map(|n| format!("w{n}")).collect();
    let names = [
        "a\tb",
        "c\nd\\n",
        "\u{1b}[31m",
        "e\r",
        "ä\u{85}",
        "=1+1",
        "",
    ];
    let mut lines = String::new();
    for (n, name) in names.iter().enumerate() {
        let text = words[n / 2 * 3..].join(" ");
        let document = match n % 3 {
            0 => json!({"id": name, "text": text, "url": format!("http://e.org/\t{n}")}),
            _ => json!({"id": name, "text": text}),
        };
        lines += &format!("{document}\n");
    }
    fs::write(&input, lines).unwrap();
    let out = place.path().join("out");
    let run = Run::default().threshold("0.5");
    run.run(&[&input], &out).unwrap();
    tables(&run, &out).unwrap();
    let (pairs, members) = compare(&out, "odd names");
    assert!(
        pairs >= 3 && members >= 6,
        "{pairs} pairs, {members} members"
    );
    let rows = parquet_rows(&out.join("documents.parquet"));
    assert_eq!(rows[1]["docno"], json!("c\nd\\n"));
}

/// A method counts features, and does not number records.
#[test]
fn a_method_has_tables() {
    let base = crate::common::temporary();
    let run = Run::default().keep_text();
    let mut workspace = run
        .ingest(&[&sample_corpora("trec-web")], base.path())
        .unwrap();
    workspace.commit(&[]).unwrap();
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    for spec in ["super-shingles", "sketch", "min"] {
        let spec = lookalike::methods::Spec::read(spec).unwrap();
        let (mut made, _) = lookalike::methods::run(&workspace, &spec, &context).unwrap();
        pipeline::tables(&mut made, &context).unwrap();
        let directory = made.directory().to_path_buf();
        drop(made);
        let (pairs, _) = compare(&directory, &spec.to_string());
        assert!(pairs >= 10, "{spec}: {pairs} pairs");
        let rows = parquet_rows(&directory.join("documents.parquet"));
        assert_eq!(rows.len(), 253, "{spec}");
        assert!(rows.iter().all(|row| row["record"] == Value::Null));
        assert!(verify(&directory).unwrap().errors.is_empty());
    }
}

#[test]
fn stopped_at_any_call_and_run_again() {
    let directory = crate::common::temporary();
    let (input, run) = corpus(directory.path(), 12);
    let reference = crate::common::temporary();
    let watch = StopAt::never();
    whole(&run, &input, reference.path(), &watch).unwrap();
    let (expected, expected_names) = (lasting(reference.path()), names(reference.path()));
    compare(reference.path(), "uninterrupted");
    let text_only = {
        let (out, watch) = (crate::common::temporary(), StopAt::never());
        run.watched(&[&input], out.path(), &watch.stop, &watch)
            .unwrap();
        watch.calls.load(Ordering::SeqCst)
    };
    let mut stopped = Vec::new();
    for after in text_only.saturating_sub(6)..=watch.calls.load(Ordering::SeqCst) + 2 {
        let out = crate::common::temporary();
        let watch = StopAt::call(after);
        let first = run.clone().threads(1 + after % 3);
        if let Err(error) = whole(&first, &input, out.path(), &watch) {
            assert!(matches!(error, Error::Interrupted { .. }), "{error}");
            // What ran, not what the error names: passes that both steps make call themselves `cluster`.
            stopped.extend(watch.begun().last().copied());
        }
        let what = format!("stopped at call {after}");
        assert!(verify(out.path()).unwrap().errors.is_empty(), "{what}");
        whole(&run, &input, out.path(), &StopAt::never()).unwrap();
        assert_same_files(&lasting(out.path()), &expected, &what);
        assert_eq!(names(out.path()), expected_names, "{what}");
    }
    assert!(stopped.contains(&"tables"), "{stopped:?}");
}

/// A finished directory gets tables without another run, and keeps them while they are true.
#[test]
fn tables_come_and_go_with_the_pairs() {
    let place = crate::common::temporary();
    let (input, out) = (sample_corpora("trec-web"), place.path().join("out"));
    let mut run = Run::default();
    run.question.join.review = Some("0.3".parse().unwrap());
    run.run(&[&input], &out).unwrap();
    let before = tree(&out);
    tables(&run, &out).unwrap();
    let with = tree(&out);
    let news: Vec<&String> = with
        .keys()
        .filter(|name| !before.contains_key(*name))
        .collect();
    assert_eq!(
        news,
        [
            "clusters.parquet",
            "documents.parquet",
            "pairs.parquet",
            "review.parquet"
        ]
    );
    let changed = |name: &&String| !news.contains(name) && with[*name] != before[*name];
    let changed: Vec<_> = with.keys().filter(changed).collect();
    assert_eq!(changed, ["manifest.json", "summary.json"]);

    let there = || TABLE_FILES.map(|name| out.join(name).exists());
    // Made once: not even opened again.
    let watch = StopAt::never();
    whole(&run, &input, &out, &watch).unwrap();
    assert!(!watch.begun().contains(&"tables"), "{:?}", watch.begun());
    // The same pairs without the flag keep them; a text file alone is made again.
    fs::remove_file(out.join("clusters.jsonl")).unwrap();
    run.run(&[&input], &out).unwrap();
    assert_eq!(there(), [true; 4]);
    assert!(manifest(&out).get::<TablesEntry>().is_some());
    assert_same_files(&lasting(&out), &without_costs(&with), "a text again");

    // Damage is seen, and repaired by the same command.
    for name in TABLE_FILES {
        let mut bytes = fs::read(out.join(name)).unwrap();
        bytes[100] ^= 1;
        fs::write(out.join(name), bytes).unwrap();
        let errors = verify(&out).unwrap().errors;
        assert!(
            errors.len() == 1 && errors[0].to_string().contains(name),
            "{errors:?}"
        );
        tables(&run, &out).unwrap();
        fs::remove_file(out.join(name)).unwrap();
        assert_eq!(verify(&out).unwrap().errors.len(), 1);
        tables(&run, &out).unwrap();
        assert_same_files(&lasting(&out), &without_costs(&with), name);
    }

    // Other pairs: a command without the flag removes them, one with it makes them anew.
    run.clone().threshold("0.5").run(&[&input], &out).unwrap();
    assert_eq!(there(), [false; 4]);
    assert!(verify(&out).unwrap().errors.is_empty());
    tables(&run, &out).unwrap();
    let (pairs, _) = compare(&out, "0.5");
    assert!(pairs > 77);
    run.run(&[&input], &out).unwrap();
    tables(&run, &out).unwrap();
    // The postings serve 0.5 as well now.
    let but_postings = |mut files: BTreeMap<String, Vec<u8>>| {
        files.retain(|name, _| !name.starts_with("postings/") && !name.starts_with("runs/"));
        files
    };
    let found = but_postings(lasting(&out));
    let expected = but_postings(without_costs(&with));
    assert_same_files(&found, &expected, "back at 0.85");
    // A directory whose texts were read again has new pairs.
    run.clone().keep_text().run(&[&input], &out).unwrap();
    assert_eq!(there(), [false; 4]);
}

fn without_costs(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let mut files = files.clone();
    files.retain(|name, _| !["lock", "manifest.json", "summary.json"].contains(&name.as_str()));
    files
}

/// A stop after the pairs and before the results may leave tables of earlier pairs.
#[test]
fn tables_of_other_pairs_are_never_taken() {
    let place = crate::common::temporary();
    let (input, out) = (sample_corpora("trec-web"), place.path().join("out"));
    let run = Run::default();
    run.run(&[&input], &out).unwrap();
    tables(&run, &out).unwrap();
    let old = fs::read(out.join("pairs.parquet")).unwrap();
    run.clone().threshold("0.5").run(&[&input], &out).unwrap();
    let mut workspace = pipeline::open(&out).unwrap();
    workspace
        .manifest
        .remove::<lookalike::engine::cluster::ResultsEntry>();
    workspace.commit(&[]).unwrap();
    fs::write(out.join("pairs.parquet"), &old).unwrap();
    pipeline::cluster(&mut workspace, &run.context(&Stop::default(), &Silent)).unwrap();
    assert!(!out.join("pairs.parquet").exists());
}

#[test]
fn outputs_do_not_replace_tables() {
    let place = crate::common::temporary();
    let out = place.path().join("out");
    let mut run = Run::default();
    run.question.join.review = Some("0.3".parse().unwrap());
    run.run(&[&sample_corpora("trec-web/a.gz")], &out).unwrap();
    let mut workspace = pipeline::open(&out).unwrap();
    pipeline::tables(
        &mut workspace,
        &Run::default().context(&Stop::default(), &Silent),
    )
    .unwrap();
    for name in TABLE_FILES {
        // Nor are they taken for damaged parts.
        let error = inspect(&out.join(name), 1, &mut |_| Ok(true)).unwrap_err();
        assert!(error.help().unwrap().contains("DuckDB"), "{error}");
        let error = outputs::check("output", &out.join(name), Home::Files(&[]), &[]).unwrap_err();
        assert!(error.to_string().contains("output directory"), "{error}");
    }
}

#[test]
fn too_little_memory_is_refused_with_what_would_do() {
    let place = crate::common::temporary();
    let out = place.path().join("out");
    let run = Run::default();
    run.run(&[&sample_corpora("trec-web")], &out).unwrap();
    let (memory, ()) = least_memory(|memory| tables(&run.clone().memory(memory), &out));
    assert!(memory > 32 << 20, "{memory}");
    compare(&out, "the least memory");
}

/// The columns of a file as `FORMAT.md` lists them: name and type.
fn described(file: &str) -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("FORMAT.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once(&format!("# {file}\n")).expect(file);
    let (_, table) = section.split_once("| --- | --- | --- |\n").unwrap();
    let lines = table.lines().take_while(|line| line.starts_with("| "));
    lines
        .map(|line| {
            let mut cells = line.split('|').map(str::trim).skip(1);
            let name = cells.next().unwrap().trim_matches('`').to_string();
            (name, cells.next().unwrap().to_string())
        })
        .collect()
}

/// The columns of a file: name and type.
fn columns(path: &Path) -> Vec<(String, String)> {
    use parquet::basic::{LogicalType, Type as Physical};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let column = |column: &parquet::schema::types::ColumnDescPtr| {
        let kind = match (column.physical_type(), column.logical_type_ref()) {
            (Physical::INT32, Some(kind)) if *kind == LogicalType::integer(32, false) => "UINT32",
            (Physical::INT64, None) => "INT64",
            (Physical::DOUBLE, None) => "DOUBLE",
            (Physical::BYTE_ARRAY, Some(LogicalType::String)) => "STRING",
            other => panic!("{}: {other:?}", column.name()),
        };
        let null = match column.max_def_level() {
            0 => "",
            _ => " or null",
        };
        (column.name().to_string(), format!("{kind}{null}"))
    };
    schema.columns().iter().map(column).collect()
}

#[test]
fn the_page_on_formats_lists_the_columns() {
    use lookalike::tasks::dedup::{self, DedupConfig, Form, KEPT_TABLE, REMOVED_TABLE};

    let place = crate::common::temporary();
    let out = place.path().join("out");
    let run = Run::default();
    run.run(&[&sample_corpora("jsonl")], &out).unwrap();
    tables(&run, &out).unwrap();
    for name in &TABLE_FILES[..3] {
        assert_eq!(columns(&out.join(name)), described(name), "{name}");
    }
    let lists = place.path().join("lists");
    let config = DedupConfig {
        form: Form::Lists,
        results: ResultFormat::Parquet,
        ..DedupConfig::default()
    };
    let stop = Stop::default();
    let workspace = pipeline::open(&out).unwrap();
    dedup::run(
        &workspace,
        &config,
        (&lists, None),
        &run.context(&stop, &Silent),
    )
    .unwrap();
    for name in [KEPT_TABLE, REMOVED_TABLE] {
        assert_eq!(columns(&lists.join(name)), described(name), "{name}");
    }
}
