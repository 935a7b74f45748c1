//! Items of test sets in a corpus: against a plain version of the definition, in every format of a
//! test set, with any resources, and what is refused.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline::selected_inputs;
use lookalike::tasks::contamination::{
    ContaminationConfig, ContaminationReport, DROP_FILE, FOUND_FILE, ITEMS_FILE, MOST_RUNS,
    REJECTS_FILE, ShownItem, ShownWindow, run,
};

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use common::corpus::Random;
use common::{Run, sample_corpora, tree};
use serde_json::{Value, json};

/// A text by its tokens, and what is written for them.
#[derive(Clone, Debug, Default)]
struct Text {
    tokens: Vec<String>,
    /// The bytes of each token in `written`.
    spans: Vec<Range<usize>>,
    written: String,
}

const WORDS: [&str; 12] = [
    "a", "b", "the", "don't", "été", "漢", "42", "of", "to", "straße", "ж", "x",
];

impl Text {
    /// Writes tokens with other case and punctuation every time.
    fn of(tokens: Vec<String>, random: &mut Random) -> Text {
        let mut text = Text::default();
        for (n, token) in tokens.iter().enumerate() {
            if n > 0 {
                text.written
                    .push_str(random.pick::<&str>(&[" ", ", ", "-", "\n", ". ", " (", "/"]));
            }
            let start = text.written.len();
            match random.below(3) {
                0 if token.is_ascii() => text.written.push_str(&token.to_uppercase()),
                1 => text.written.push_str(&token.replace('\'', "\u{2019}")),
                _ => text.written.push_str(token),
            }
            text.spans.push(start..text.written.len());
        }
        if !tokens.is_empty() && random.once_in(2) {
            text.written.push('!');
        }
        text.tokens = tokens;
        text
    }
}

fn words(random: &mut Random, count: usize, vocabulary: usize) -> Vec<String> {
    let one = |random: &mut Random| {
        random
            .pick(&WORDS[..vocabulary.min(WORDS.len())])
            .to_string()
    };
    (0..count).map(|_| one(random)).collect()
}

/// A document, or a record that is none.
#[derive(Clone, Debug)]
struct Document {
    file: usize,
    record: usize,
    docno: String,
    text: Text,
}

#[derive(Clone, Debug)]
struct TestItem {
    id: String,
    /// Question and answer.
    fields: [Option<Text>; 2],
}

const FIELDS: [&str; 2] = ["question", "answer"];

/// A corpus of three files, some of whose records are broken, and a test set.
struct World {
    documents: Vec<Document>,
    /// The lines of each file.
    files: [String; 3],
    items: Vec<TestItem>,
    rejected: u64,
}

impl World {
    fn new(seed: u64, vocabulary: usize, longest: usize) -> World {
        let mut random = Random(seed);
        let mut items: Vec<TestItem> = Vec::new();
        for n in 0..14 {
            if random.once_in(6) && n > 0 {
                // A repeated item.
                let again = items[random.below(n)].clone();
                items.push(TestItem {
                    id: format!("q{n}"),
                    ..again
                });
                continue;
            }
            let mut field = |longest: usize| {
                let length = random.below(longest);
                let tokens = words(&mut random, length, vocabulary);
                (!random.once_in(7)).then(|| Text::of(tokens, &mut random))
            };
            let question = field(longest);
            let answer = field(9);
            // One of the two is there.
            let question = match &answer {
                None => question.or_else(|| Some(Text::default())),
                Some(_) => question,
            };
            items.push(TestItem {
                id: format!("q{n}"),
                fields: [question, answer],
            });
        }
        let mut world = World {
            documents: Vec::new(),
            files: Default::default(),
            items,
            rejected: 0,
        };
        for file in 0..3 {
            for record in 1..=7 {
                if random.once_in(7) {
                    world.files[file].push_str("{\"id\": broken}\n");
                    world.rejected += 1;
                    continue;
                }
                let mut tokens = Vec::new();
                for _ in 0..random.below(4) {
                    let length = random.below(20);
                    tokens.extend(words(&mut random, length, vocabulary));
                    let item = random.pick(&world.items);
                    let Some(field) = item.fields[random.below(2)].as_ref() else {
                        continue;
                    };
                    let all = field.tokens.len();
                    let part = match random.below(3) {
                        0 => 0..all,
                        1 => 0..all - all / 3,
                        _ => all / 3..all,
                    };
                    tokens.extend_from_slice(&field.tokens[part]);
                }
                let text = Text::of(tokens, &mut random);
                let docno = format!("d{file}-{record}");
                let line = json!({"id": docno, "text": text.written});
                world.files[file].push_str(&format!("{line}\n"));
                world.documents.push(Document {
                    file,
                    record,
                    docno,
                    text,
                });
            }
        }
        world
    }

    fn write(&self, place: &Path) {
        fs::create_dir_all(place.join("corpus")).unwrap();
        for (n, lines) in self.files.iter().enumerate() {
            fs::write(place.join(format!("corpus/f{n}.jsonl")), lines).unwrap();
        }
        fs::write(place.join("test.jsonl"), self.test_set()).unwrap();
    }

    fn objects(&self) -> Vec<Value> {
        let object = |item: &TestItem| {
            let mut object = json!({"id": item.id});
            for (name, field) in FIELDS.iter().zip(&item.fields) {
                if let Some(text) = field {
                    object[*name] = json!(text.written);
                }
            }
            object
        };
        self.items.iter().map(object).collect()
    }

    fn test_set(&self) -> String {
        let objects = self.objects();
        objects.iter().map(|object| format!("{object}\n")).collect()
    }
}

/// A run, as it is written.
fn written(run: &(usize, usize, usize, usize), item: &TestItem, document: &Document) -> Value {
    let &(field, i, j, length) = run;
    let of = item.fields[field].as_ref().unwrap();
    let bytes = |text: &Text, from: usize| {
        json!([text.spans[from].start, text.spans[from + length - 1].end])
    };
    json!({
        "field": FIELDS[field], "tokens": length, "item_token": i, "document_token": j,
        "item_bytes": bytes(of, i), "document_bytes": bytes(&document.text, j),
    })
}

/// The maximal runs, by definition, as field, token of the field, token of the document, length.
fn runs(
    item: &TestItem,
    document: &[String],
    (n, least): (usize, usize),
) -> Vec<(usize, usize, usize, usize)> {
    let mut found = Vec::new();
    for (number, field) in item.fields.iter().enumerate() {
        let Some(Text { tokens: field, .. }) =
            field.as_ref().filter(|_| looked_for(field, least) > 0)
        else {
            continue;
        };
        for i in 0..field.len() {
            for j in 0..document.len() {
                let same = |k: usize| {
                    field
                        .get(i + k)
                        .is_some_and(|t| document.get(j + k) == Some(t))
                };
                if i > 0 && j > 0 && field[i - 1] == document[j - 1] {
                    continue;
                }
                let length = (0..).take_while(|&k| same(k)).count();
                let whole = i == 0 && length == field.len();
                if length >= n || field.len() < n && whole {
                    found.push((number, i, j, length));
                }
            }
        }
    }
    found
}

/// The tokens of a field, if it is looked for.
fn looked_for(field: &Option<Text>, least: usize) -> usize {
    let length = field.as_ref().map_or(0, |text| text.tokens.len());
    if length >= least { length } else { 0 }
}

fn six(covered: usize, tokens: usize) -> String {
    let millionths = (covered as u128 * 2_000_000 / tokens as u128).div_ceil(2);
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

/// Compares what a search wrote with the definition.
fn check(world: &World, config: &ContaminationConfig, report: &ContaminationReport, what: &str) {
    let how = (config.ngram as usize, config.least as usize);
    let out = config.output.as_ref().unwrap();
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    // By document, the shares of items: covered, tokens, item.
    let mut shares: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); world.documents.len()];
    let mut levels = [[0u64; 2]; 4];
    let (mut searched, mut items_found) = (0, 0);
    for (number, item) in world.items.iter().enumerate() {
        let lengths: Vec<usize> = item.fields.iter().map(|f| looked_for(f, how.1)).collect();
        let tokens: usize = lengths.iter().sum();
        searched += u64::from(tokens > 0);
        let mut union = BTreeSet::new();
        let mut hits = Vec::new();
        for (d, document) in world.documents.iter().enumerate() {
            let runs = runs(item, &document.text.tokens, how);
            if runs.is_empty() {
                continue;
            }
            let covered: BTreeSet<(usize, usize)> = (runs.iter())
                .flat_map(|&(field, i, _, length)| (i..i + length).map(move |t| (field, t)))
                .collect();
            union.extend(covered.iter().copied());
            shares[d].push((covered.len(), tokens, number));
            hits.push((covered.len(), d, runs));
        }
        hits.sort_by_key(|(covered, d, _)| (std::cmp::Reverse(*covered), *d));
        let best = hits.first().map_or(0, |hit| hit.0);
        for (level, (a, b)) in levels.iter_mut().zip([(3, 10), (1, 2), (4, 5), (1, 1)]) {
            for (count, covered) in level.iter_mut().zip([best, union.len()]) {
                *count += u64::from(tokens > 0 && covered * b >= tokens * a);
            }
        }
        let place = |d: usize| {
            let document = &world.documents[d];
            (format!("f{}.jsonl", document.file), document.record)
        };
        let share = match tokens {
            0 => "-".into(),
            _ => six(union.len(), tokens),
        };
        let last = match hits.first() {
            None => "-\t\t\t".into(),
            Some(&(covered, d, _)) => {
                let (file, record) = place(d);
                let docno = &world.documents[d].docno;
                format!("{}\t{file}\t{record}\t{docno}", six(covered, tokens))
            }
        };
        let covered = union.len();
        let all = hits.len();
        rows.push(format!(
            "test.jsonl\t{}\t{tokens}\t{covered}\t{share}\t{all}\t{last}",
            item.id
        ));
        if hits.is_empty() {
            continue;
        }
        items_found += 1;
        let listed: Vec<Value> = (hits.iter().take(config.most))
            .map(|(covered, d, runs)| {
                let (file, record) = place(*d);
                let document = &world.documents[*d];
                let few: Vec<Value> = (runs.iter().take(MOST_RUNS))
                    .map(|run| written(run, item, document))
                    .collect();
                json!({
                    "file": file, "record": record, "docno": document.docno, "covered": covered,
                    "share": six(*covered, tokens).parse::<f64>().unwrap(), "runs": few,
                    "all_runs": runs.len() <= MOST_RUNS,
                })
            })
            .collect();
        lines.push(json!({
            "test_set": "test.jsonl", "item": item.id, "tokens": tokens, "covered": covered,
            "share": share.parse::<f64>().unwrap(), "documents": all, "listed": listed,
        }));
    }
    let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let found: Vec<Value> = (text(FOUND_FILE).lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (n, (found, expected)) in found.iter().zip(&lines).enumerate() {
        assert_eq!(found, expected, "{what}, line {n}");
    }
    assert_eq!(found.len(), lines.len(), "{what}");
    let table: Vec<String> = text(ITEMS_FILE).lines().skip(2).map(String::from).collect();
    assert_eq!(table, rows, "{what}");
    let drop: Vec<String> = (shares.iter().enumerate())
        .filter_map(|(d, shares)| {
            let mut best = *shares.first()?;
            for &share in shares {
                if share.0 * best.1 > best.0 * share.1 {
                    best = share;
                }
            }
            let (covered, tokens, item) = best;
            let at = config.drop_at;
            let reached = covered as u64 * at.denominator() >= tokens as u64 * at.numerator();
            let Document {
                file,
                record,
                docno,
                ..
            } = &world.documents[d];
            reached.then(|| {
                format!(
                    "f{file}.jsonl\t{record}\t{docno}\ttest.jsonl\t{}\t{covered}\t{tokens}\t{}",
                    world.items[item].id,
                    six(covered, tokens)
                )
            })
        })
        .collect();
    let dropped: Vec<String> = text(DROP_FILE).lines().skip(2).map(String::from).collect();
    assert_eq!(dropped, drop, "{what}");
    let rejects = text(REJECTS_FILE);
    let unused = rejects
        .lines()
        .filter(|line| !line.contains("\"document\":\"used\""));
    assert_eq!(unused.count() as u64, world.rejected);

    let set = &report.test_sets[0];
    assert_eq!(set.items, world.items.len() as u64);
    assert_eq!((set.searched, set.found), (searched, items_found), "{what}");
    for (level, counts) in set.levels.iter().zip(levels) {
        let found = [level.by_one_document, level.by_all_documents];
        assert_eq!(found, counts, "{what}: {}", level.share);
    }
    let fields = set.fields;
    let all = fields.long + fields.short + fields.left_out + fields.empty + fields.missing;
    assert_eq!(all, 2 * set.items, "{what}");
    let corpus = &report.corpus;
    assert_eq!(corpus.documents, world.documents.len() as u64);
    assert_eq!(corpus.rejected.values().sum::<u64>(), world.rejected);
    assert_eq!(corpus.to_drop, drop.len() as u64);
    let with_runs = shares.iter().filter(|shares| !shares.is_empty()).count();
    assert_eq!(corpus.found, with_runs as u64);
    let tokens: usize = world.documents.iter().map(|d| d.text.tokens.len()).sum();
    assert_eq!(corpus.tokens, tokens as u64);
}

fn config(place: &Path, output: &str) -> ContaminationConfig {
    ContaminationConfig {
        against: vec![place.join("test.jsonl")],
        fields: FIELDS.map(String::from).to_vec(),
        output: Some(place.join(output)),
        read: Run::default().collection.read,
        ..ContaminationConfig::default()
    }
}

fn search(
    corpus: &[PathBuf],
    config: &ContaminationConfig,
    setting: &Run,
) -> Result<ContaminationReport, Error> {
    let out = config.output.clone().unwrap_or_default();
    let inputs = selected_inputs(corpus, &Default::default(), &out)?;
    run(&inputs, config, &setting.context(&Stop::default(), &Silent))
}

#[test]
fn runs_are_those_of_the_definition() {
    for seed in 0..120 {
        let place = common::temporary();
        let mut random = Random(seed);
        let vocabulary = *random.pick(&[1, 2, 3, 12]);
        let longest = *random.pick(&[6, 20, 60]);
        let world = World::new(seed, vocabulary, longest);
        world.write(place.path());
        let ngram = *random.pick(&[1, 2, 3, 5, 13]);
        let config = ContaminationConfig {
            ngram,
            least: *random.pick(&[1, 2, 5, 8]),
            most: *random.pick(&[1, 2, 100, 1_000_000]),
            drop_at: random.pick(&["0.3", "0.8", "1"]).parse().unwrap(),
            page: (seed % 2 == 0).then(|| place.path().join("page.html")),
            ..config(place.path(), "out")
        };
        let setting = Run::default().threads(1 + random.below(3));
        let report = search(&[place.path().join("corpus")], &config, &setting).unwrap();
        let what = format!("seed {seed}, {ngram} tokens of {vocabulary} words");
        check(&world, &config, &report, &what);
        check_shown(&world, &config, &report, &what);
    }
}

/// A page shows the items of the largest shares, each beside its first documents, with the words of
/// every run in both texts.
fn check_shown(
    world: &World,
    config: &ContaminationConfig,
    report: &ContaminationReport,
    what: &str,
) {
    if config.page.is_none() {
        assert!(report.shown.is_empty(), "{what}");
        return;
    }
    let lines = fs::read_to_string(config.output.as_ref().unwrap().join(FOUND_FILE)).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let mut found: Vec<Value> = lines.collect();
    let share = |line: &Value| {
        let covered = line["listed"][0]["covered"].as_f64().unwrap();
        covered / line["tokens"].as_f64().unwrap()
    };
    found.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let names = |of: &ShownItem| (of.id.clone(), of.documents, of.tokens, of.covered);
    let shown: Vec<_> = report.shown.iter().map(names).collect();
    let number = |line: &Value, name: &str| line[name].as_u64().unwrap();
    let expected = found.iter().map(|line| {
        let counts = ["tokens", "covered"].map(|name| number(line, name) as u32);
        let id = line["item"].as_str().unwrap().to_string();
        (id, number(line, "documents"), counts[0], counts[1])
    });
    assert_eq!(shown, expected.collect::<Vec<_>>(), "{what}");
    for (line, shown) in found.iter().zip(&report.shown) {
        let item = world.items.iter().find(|item| item.id == shown.id).unwrap();
        let listed = line["listed"].as_array().unwrap();
        assert_eq!(shown.listed.len(), listed.len().min(3), "{what}");
        for (line, shown) in listed.iter().zip(&shown.listed) {
            let (file, record) = (line["file"].as_str().unwrap(), number(line, "record"));
            assert_eq!((&shown.file[..], shown.record), (file, record), "{what}");
            assert_eq!(u64::from(shown.covered), number(line, "covered"), "{what}");
            assert_eq!(
                &shown.texts.docno,
                line["docno"].as_str().unwrap(),
                "{what}"
            );
            let of = |document: &&Document| document.docno == shown.texts.docno;
            let document = &world.documents.iter().find(of).unwrap().text.written;
            for window in &shown.texts.windows {
                let at = FIELDS
                    .iter()
                    .position(|name| *name == window.field)
                    .unwrap();
                let field = &item.fields[at].as_ref().unwrap().written;
                assert!(field.contains(&window.texts[0]), "{what}: {window:?}");
                assert!(document.contains(&window.texts[1]), "{what}: {window:?}");
            }
            if shown.texts.more > 0 || line["all_runs"] == false {
                continue;
            }
            for run in line["runs"].as_array().unwrap() {
                let at = FIELDS
                    .iter()
                    .position(|name| run["field"] == *name)
                    .unwrap();
                let field = &item.fields[at].as_ref().unwrap().written;
                let part = |text: &str, name: &str| {
                    let [begin, end] = [0, 1].map(|n| run[name][n].as_u64().unwrap() as usize);
                    text[begin..end].to_string()
                };
                let run_texts = [part(field, "item_bytes"), part(document, "document_bytes")];
                let has = |window: &ShownWindow| {
                    let each = window.texts.iter().zip(&run_texts);
                    window.field == FIELDS[at]
                        && each.fold(true, |all, (a, b)| all && a.contains(b))
                };
                assert!(shown.texts.windows.iter().any(has), "{what}: {run}");
            }
        }
    }
}

/// The portions in which a long document's tokens come end anywhere.
#[test]
fn items_are_found_anywhere_in_a_long_document() {
    let place = common::temporary();
    let mut random = Random(5);
    let filler = |n: usize| format!("w{}", n % 9973);
    let items: Vec<Vec<String>> = (0..300)
        .map(|n| (0..5 + n % 30).map(|k| format!("item{n}x{k}")).collect())
        .collect();
    let (mut document, mut n) = (String::new(), 0);
    for item in &items {
        for _ in 0..random.below(1500) {
            document.push_str(&filler(n));
            document.push(' ');
            n += 1;
        }
        document.push_str(&item.join(" "));
        document.push(' ');
    }
    assert!(document.len() > 1 << 20);
    let corpus = place.path().join("corpus.jsonl");
    let lines = |texts: Vec<String>| -> String {
        let line = |text| format!("{}\n", json!({"text": text}));
        texts.into_iter().map(line).collect()
    };
    fs::write(&corpus, lines(vec![document])).unwrap();
    let items: Vec<String> = items.iter().map(|item| item.join(" ")).collect();
    fs::write(place.path().join("test.jsonl"), lines(items)).unwrap();
    for ngram in [1, 2, 5, 13, 14] {
        let config = ContaminationConfig {
            fields: Vec::new(),
            output: None,
            ngram,
            read: Default::default(),
            ..config(place.path(), "")
        };
        let report = search(std::slice::from_ref(&corpus), &config, &Run::default()).unwrap();
        let set = &report.test_sets[0];
        assert_eq!(set.searched, 300);
        let levels = set.levels.iter().map(|level| level.by_one_document);
        assert!(levels.eq([300; 4]), "{ngram}: {set:?}");
    }
}

#[test]
fn any_resources_give_the_same_bytes() {
    let place = common::temporary();
    let world = World::new(77, 3, 40);
    world.write(place.path());
    let corpus = [place.path().join("corpus")];
    let mut expected = None;
    for (threads, memory) in [(1, 80), (2, 256), (3, 1024), (16, 2048)] {
        let out = format!("out-{threads}");
        let config = ContaminationConfig {
            ngram: 4,
            most: 3,
            ..config(place.path(), &out)
        };
        let setting = Run::default().threads(threads).memory(memory << 20);
        let report = search(&corpus, &config, &setting).unwrap();
        let files = tree(&place.path().join(&out));
        let (report_before, files_before) = expected.get_or_insert((report.clone(), files.clone()));
        assert_eq!(*report_before, report);
        for (name, bytes) in &files {
            if name != "lock" {
                assert_eq!(Some(bytes), files_before.get(name), "{name} with {threads}");
            }
        }
    }
}

/// The pieces of a large file are read at the same time, and records without a name are called by
/// their number in the file.
#[test]
fn a_file_in_pieces_has_the_numbers_of_the_file() {
    let place = common::temporary();
    let mut random = Random(3);
    let (mut lines, mut records) = (String::new(), Vec::new());
    while lines.len() < 13 << 20 {
        let record = records.len() + 1;
        let filler: Vec<String> = (0..3000)
            .map(|_| random.below(100_000).to_string())
            .collect();
        let planted = match record % 9 {
            0 => "one two three four five six seven eight nine ten eleven twelve thirteen",
            _ => "",
        };
        lines.push_str(&format!(
            "{}\n",
            json!({"text": format!("{} {planted}", filler.join(" "))})
        ));
        records.push(!planted.is_empty());
        if record % 50 == 7 {
            lines.push_str("{\"no\":\"text\"}\n");
            records.push(false);
        }
    }
    let test = json!({"text": "ONE two, three four five six seven eight nine ten eleven twelve thirteen."});
    fs::write(place.path().join("test.jsonl"), format!("{test}\n")).unwrap();
    let expected: Vec<String> = (records.iter().enumerate().filter(|(_, planted)| **planted))
        .map(|(n, _)| format!("c.jsonl\t{0}\tc.jsonl:{0}", n + 1))
        .collect();
    for (directory, compressed) in [("plain", false), ("packed", true)] {
        let path = place.path().join(directory);
        fs::create_dir(&path).unwrap();
        let bytes = match compressed {
            false => lines.clone().into_bytes(),
            true => zstd::encode_all(lines.as_bytes(), 1).unwrap(),
        };
        fs::write(path.join("c.jsonl"), bytes).unwrap();
        for threads in [1, 3] {
            let out = format!("{directory}-{threads}");
            let config = ContaminationConfig {
                fields: Vec::new(),
                ..config(place.path(), &out)
            };
            let setting = Run::default().threads(threads).memory(1 << 30);
            let report = search(std::slice::from_ref(&path), &config, &setting).unwrap();
            assert_eq!(report.corpus.records, records.len() as u64);
            let drop = fs::read_to_string(place.path().join(&out).join(DROP_FILE)).unwrap();
            let rows = drop.lines().skip(2);
            let places: Vec<String> = rows
                .map(|row| row.split('\t').take(3).collect::<Vec<_>>().join("\t"))
                .collect();
            assert_eq!(places, expected, "{out}");
            let files = [ITEMS_FILE, FOUND_FILE, DROP_FILE].map(|name| {
                let first = place.path().join("plain-1").join(name);
                let this = place.path().join(&out).join(name);
                fs::read(first).unwrap() == fs::read(this).unwrap()
            });
            assert_eq!(files, [true; 3], "{out}");
        }
    }
}

fn write_parquet(path: &Path, items: &[TestItem]) {
    let schema = "message m { required binary id (UTF8); optional binary question (UTF8); \
                  optional binary answer (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Default::default()).unwrap();
    for items in items.chunks(5) {
        let mut group = writer.next_row_group().unwrap();
        for column in 0..3 {
            let cell = |item: &TestItem| match column {
                0 => Some(item.id.clone()),
                n => item.fields[n - 1].as_ref().map(|text| text.written.clone()),
            };
            let cells: Vec<Option<String>> = items.iter().map(cell).collect();
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let values: Vec<ByteArray> =
                cells.iter().flatten().map(|c| c.as_str().into()).collect();
            let mut to = group.next_column().unwrap().unwrap();
            let levels = (column > 0).then_some(&levels[..]);
            to.typed::<ByteArrayType>()
                .write_batch(&values, levels, None)
                .unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_format_of_a_test_set_gives_the_same_answers() {
    let place = common::temporary();
    let mut world = World::new(8, 12, 40);
    for item in &mut world.items {
        item.fields[0].get_or_insert_default();
    }
    world.write(place.path());
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut csv = String::from("\u{feff}id,question,answer\r\n");
    let mut tsv = String::from("ignored\tanswer\tid\tquestion\n");
    for item in &world.items {
        let [question, answer] = item.fields.clone();
        let question = quoted(&question.unwrap().written);
        csv.push_str(&format!("{},{question}", item.id));
        if let Some(answer) = &answer {
            csv.push_str(&format!(",{}", quoted(&answer.written)));
        }
        csv.push_str("\r\n");
        let answer = quoted(&answer.unwrap_or_default().written);
        tsv.push_str(&format!("-\t{answer}\t{}\t{question}\n", item.id));
    }
    let at = |name: &str| place.path().join(name);
    fs::write(at("test.csv"), &csv).unwrap();
    fs::write(at("test.tsv"), &tsv).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    gzip.write_all(csv.as_bytes()).unwrap();
    fs::write(at("test.csv.gz"), gzip.finish().unwrap()).unwrap();
    let array = serde_json::to_string_pretty(&world.objects()).unwrap();
    fs::write(at("test.json"), array).unwrap();
    let list = json!({"version": 1, "parts": [{"data": world.objects()}, {"data": []}]});
    fs::write(at("list.json"), list.to_string()).unwrap();
    write_parquet(&at("test.parquet"), &world.items);
    let mut expected = None;
    for name in [
        "test.jsonl",
        "test.json",
        "list.json",
        "test.parquet",
        "test.csv",
        "test.csv.gz",
        "test.tsv",
    ] {
        let out = format!("out-{name}");
        // Each element of a list in one object is an item.
        let list = if name == "list.json" {
            "parts[].data[]."
        } else {
            ""
        };
        let config = ContaminationConfig {
            against: vec![at(name)],
            fields: FIELDS.map(|field| format!("{list}{field}")).to_vec(),
            ngram: 5,
            least: 3,
            ..config(place.path(), &out)
        };
        let mut report = search(&[at("corpus")], &config, &Run::default()).unwrap();
        let mut texts = [ITEMS_FILE, FOUND_FILE, DROP_FILE].map(|file| {
            let text = fs::read_to_string(at(&out).join(file)).unwrap();
            text.replace(name, "NAME").replace("parts[].data[].", "")
        });
        texts.sort();
        report.test_sets[0].name = "NAME".into();
        for field in &mut report.fields {
            *field = field.replace("parts[].data[].", "");
        }
        if name.contains("csv") || name.contains("tsv") {
            // An empty cell is a missing one.
            let before: &Option<(ContaminationReport, _)> = &expected;
            let empty = before.as_ref().unwrap().0.test_sets[0].fields.empty;
            let fields = &mut report.test_sets[0].fields;
            fields.missing -= empty;
            fields.empty += empty;
        }
        let (report_before, before) = expected.get_or_insert((report.clone(), texts.clone()));
        assert_eq!(*before, texts, "{name}");
        // The places of warnings, which are not part of the summary, differ by format.
        let json = |report| serde_json::to_value::<&ContaminationReport>(report).unwrap();
        assert_eq!(json(report_before), json(&report), "{name}");
    }
}

/// A Parquet file without one of the columns, and a field that only later records have.
#[test]
fn items_keep_their_order_whichever_fields_they_have() {
    let place = common::temporary();
    let at = |name: &str| place.path().join(name);
    let items = [
        json!({"id": "a", "answer": "one two three four five"}),
        json!({"id": 7, "question": "six seven eight nine ten", "answer": 5}),
        json!({"id": "none", "question": {"y": 7}, "answer": {"x": "y"}}),
        json!({"question": ["six seven", "eight nine ten"], "answer": ""}),
    ];
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    fs::write(
        at("test.jsonl"),
        lines + "[1, 2]\n\"text\"\n{\"id\":\"bad\",}\n",
    )
    .unwrap();
    let document = json!({"id": "d", "text": "One two three four five; six seven eight nine ten"});
    fs::write(at("corpus.jsonl"), format!("{document}\n")).unwrap();
    let report = search(
        &[at("corpus.jsonl")],
        &config(place.path(), "out"),
        &Run::default(),
    );
    let report = report.unwrap();
    let set = &report.test_sets[0];
    assert_eq!((set.items, set.found), (3, 3), "{set:?}");
    assert_eq!(set.rejected["no text field"], 1);
    assert!(set.rejected.len() > 1, "{set:?}");
    assert!(
        set.first
            .as_ref()
            .unwrap()
            .contains("none of question, answer"),
        "{set:?}"
    );
    assert_eq!(
        (set.fields.short, set.fields.empty, set.fields.missing),
        (3, 1, 1)
    );
    let table = fs::read_to_string(at("out").join(ITEMS_FILE)).unwrap();
    let ids: Vec<&str> = table
        .lines()
        .skip(2)
        .map(|row| row.split('\t').nth(1).unwrap())
        .collect();
    assert_eq!(ids, ["a", "7", "test.jsonl:4"]);

    write_parquet(&at("rows.parquet"), &World::new(8, 12, 40).items);
    let config = ContaminationConfig {
        against: vec![at("rows.parquet")],
        fields: ["nothing", "question"].map(String::from).to_vec(),
        ngram: 3,
        ..config(place.path(), "rows")
    };
    let report = search(&[at("corpus.jsonl")], &config, &Run::default()).unwrap();
    let set = &report.test_sets[0];
    assert_eq!(set.items + set.rejected["no text field"], 14, "{set:?}");
    let table = fs::read_to_string(at("rows").join(ITEMS_FILE)).unwrap();
    let ids: Vec<&str> = table
        .lines()
        .skip(2)
        .map(|row| &row.split('\t').nth(1).unwrap()[1..])
        .collect();
    assert!(
        ids.is_sorted_by_key(|id| id.parse::<u32>().unwrap()),
        "{ids:?}"
    );
}

#[test]
fn a_budget_that_is_too_small_is_refused_with_one_that_is_enough() {
    let place = common::temporary();
    let world = World::new(4, 12, 60);
    world.write(place.path());
    let corpus = [place.path().join("corpus")];
    let mut lines = world.test_set();
    for n in 0..20_000 {
        let words: Vec<String> = (0..40).map(|k| format!("w{}", n * 40 + k)).collect();
        lines.push_str(&format!(
            "{}\n",
            json!({"id": n, "question": words.join(" ")})
        ));
    }
    fs::write(place.path().join("test.jsonl"), lines).unwrap();
    let config = config(place.path(), "out");
    let (least, report) = common::least_memory_in_steps(128 << 10, |memory| {
        search(&corpus, &config, &Run::default().threads(4).memory(memory))
    });
    assert!(least > 100 << 20, "{least}");
    let plenty = Run::default().threads(4).memory(4 << 30);
    assert_eq!(search(&corpus, &config, &plenty).unwrap(), report);
}

/// Memory is for documents that are there, not for the documents that may be listed.
#[test]
fn listed_documents_take_the_memory_of_their_number() {
    let place = common::temporary();
    let words = |item: usize| format!("item {item} has words of its own like w{item} and v{item}");
    let all: Vec<String> = (0..20).map(words).collect();
    let line = |n: usize| format!("{}\n", json!({"id": n, "text": all.join(". ")}));
    let write = |name: &str, lines: String| fs::write(place.path().join(name), lines).unwrap();
    write("corpus.jsonl", (0..600).map(line).collect());
    let item = |n| format!("{}\n", json!({"id": n, "question": words(n)}));
    write("test.jsonl", (0..20).map(item).collect());
    let corpus = [place.path().join("corpus.jsonl")];
    let config = |most, output| ContaminationConfig {
        ngram: 8,
        most,
        ..config(place.path(), output)
    };
    let (few, all) = (config(10, "few"), config(1_000_000, "all"));
    let least = |config: &ContaminationConfig| {
        let run = |memory| search(&corpus, config, &Run::default().threads(2).memory(memory));
        common::least_memory_in_steps(128 << 10, run)
    };
    let ((few, _), (all, report)) = (least(&few), least(&all));
    assert!(few < all && all < few + (20 << 20), "{few} {all}");
    let found = tree(&place.path().join("all"));
    let plenty = Run::default().threads(1).memory(1 << 30);
    let again = search(&corpus, &config(600, "all"), &plenty).unwrap();
    assert_eq!(again, report);
    assert_eq!(tree(&place.path().join("all")), found);
}

/// Periodic texts have many pairs of runs, and one token may be a whole document.
#[test]
fn hostile_texts_are_searched() {
    let place = common::temporary();
    let at = |name: &str| place.path().join(name);
    let periodic = "a b ".repeat(300_000);
    let giant = "x".repeat(3 << 20);
    let documents = [
        json!({"id": "periodic", "text": periodic}),
        json!({"id": "giant", "text": format!("{giant} and {giant}")}),
        json!({"id": "empty", "text": ""}),
    ];
    let lines: String = documents.iter().map(|d| format!("{d}\n")).collect();
    fs::write(at("corpus.jsonl"), lines).unwrap();
    let items = [
        json!({"id": "p", "question": "b a ".repeat(2000)}),
        json!({"id": "g", "question": format!("{giant} and"), "answer": "nothing of the kind is there"}),
    ];
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    fs::write(at("test.jsonl"), lines).unwrap();
    let config = ContaminationConfig {
        least: 2,
        read: Default::default(),
        ..config(place.path(), "out")
    };
    let report = search(
        &[at("corpus.jsonl")],
        &config,
        &Run::default().memory(512 << 20),
    )
    .unwrap();
    assert_eq!(report.test_sets[0].found, 2);
    let found = fs::read_to_string(at("out").join(FOUND_FILE)).unwrap();
    let first: Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    assert_eq!(first["share"], 1.0);
    assert_eq!(first["listed"][0]["all_runs"], false);
    assert_eq!(
        first["listed"][0]["runs"].as_array().unwrap().len(),
        MOST_RUNS
    );

    // A row without an end.
    fs::write(
        at("open.csv"),
        format!("id,question\n1,\"{}", "a b c ".repeat(1 << 19)),
    )
    .unwrap();
    let config = ContaminationConfig {
        against: vec![at("open.csv")],
        ..config_of_small_documents(place.path())
    };
    let error = search(&[at("corpus.jsonl")], &config, &Run::default()).unwrap_err();
    assert!(error.to_string().contains("--max-document"), "{error}");
    // Columns that are not there.
    fs::write(at("other.csv"), "qid,prompt\n1,a\n").unwrap();
    let config = ContaminationConfig {
        against: vec![at("other.csv")],
        ..config_of_small_documents(place.path())
    };
    let error = search(&[at("corpus.jsonl")], &config, &Run::default()).unwrap_err();
    assert!(
        error.to_string().contains("give --fields prompt"),
        "{error}"
    );
    // The items are named by what names them in most test sets.
    let question = "one two three four five six seven eight nine ten";
    let csv = format!("question,task_id,answer\n{question},t7,no\n");
    fs::write(at("ids.csv"), csv).unwrap();
    let line = json!({"question": question, "qid": 8}).to_string();
    fs::write(at("ids.jsonl"), line).unwrap();
    let config = ContaminationConfig {
        against: vec![at("ids.csv"), at("ids.jsonl")],
        fields: vec!["question".into()],
        output: Some(at("ids")),
        ..config_of_small_documents(place.path())
    };
    search(&[at("corpus.jsonl")], &config, &Run::default()).unwrap();
    let items = common::rows_of(&at("ids"), ITEMS_FILE);
    let ids: Vec<&str> = items
        .iter()
        .map(|row| row.split('\t').nth(1).unwrap())
        .collect();
    assert_eq!(ids, ["t7", "8"]);
    // The elements of a list in each of several objects are one item, and one of many fields means
    // none of them.
    let choices = json!({"choices": [{"question": question}, {"question": question}]});
    let objects = json!({"q0": {"question": question}, "q1": {"question": question}});
    for (text, field, expected) in [
        (
            format!("{choices}\n{choices}\n"),
            "choices[].question",
            Ok(2),
        ),
        (format!("{choices}\n"), "choices[].question", Ok(2)),
        (
            format!("{choices}\n"),
            "question",
            Err("give --fields 'choices[].question'"),
        ),
        (
            format!("{choices}\n"),
            "choices[].prompt",
            Err("give --fields 'choices[].question'"),
        ),
        (
            objects.to_string(),
            "question",
            Err("name the fields of its records"),
        ),
    ] {
        fs::write(at("lists.json"), text).unwrap();
        let config = ContaminationConfig {
            against: vec![at("lists.json")],
            fields: vec![field.into()],
            output: None,
            ..config_of_small_documents(place.path())
        };
        match (
            search(&[at("corpus.jsonl")], &config, &Run::default()),
            expected,
        ) {
            (Ok(report), Ok(items)) => assert_eq!(report.test_sets[0].items, items, "{field}"),
            (Err(error), Err(advice)) => assert!(error.to_string().contains(advice), "{error}"),
            (result, _) => panic!("{field}: {result:?}"),
        }
    }
    // Fields that no record has.
    let config = ContaminationConfig {
        fields: vec!["prompt".into()],
        ..config_of_small_documents(place.path())
    };
    let error = search(&[at("corpus.jsonl")], &config, &Run::default()).unwrap_err();
    assert!(error.to_string().contains("it has no item"), "{error}");
}

fn config_of_small_documents(place: &Path) -> ContaminationConfig {
    config(place, "refused")
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let place = common::temporary();
    let world = World::new(2, 3, 20);
    world.write(place.path());
    let at = |name: &str| place.path().join(name);
    let refused = |config: ContaminationConfig, what: &str| {
        let error = search(&[at("corpus")], &config, &Run::default()).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert!(
            matches!(error, Error::BadParameter { .. } | Error::Rejected { .. }),
            "{error}"
        );
    };
    let usual = || config(place.path(), "out");
    refused(
        ContaminationConfig {
            ngram: 0,
            ..usual()
        },
        "--ngram 0",
    );
    refused(
        ContaminationConfig {
            ngram: 1001,
            ..usual()
        },
        "1 to 1000",
    );
    refused(
        ContaminationConfig {
            least: 0,
            ..usual()
        },
        "--least 0",
    );
    refused(ContaminationConfig { most: 0, ..usual() }, "--most 0");
    refused(
        ContaminationConfig {
            against: vec!["-".into()],
            ..usual()
        },
        "--test-set -",
    );
    let fields = vec!["a".into(), "a".into()];
    refused(
        ContaminationConfig { fields, ..usual() },
        "name each field once",
    );
    let against = vec![at("corpus/f1.jsonl")];
    refused(
        ContaminationConfig { against, ..usual() },
        "would be found in itself",
    );
    fs::create_dir(at("taken")).unwrap();
    fs::write(at("taken/notes.txt"), "x").unwrap();
    refused(config(place.path(), "taken"), "notes.txt");
    assert_eq!(fs::read(at("taken/notes.txt")).unwrap(), b"x");
    // A link to an input in the place of an output.
    fs::create_dir(at("linked")).unwrap();
    fs::hard_link(at("test.jsonl"), at("linked/items.tsv")).unwrap();
    refused(config(place.path(), "linked"), "this command reads it");
    // An earlier search is replaced.
    let found = search(&[at("corpus")], &usual(), &Run::default()).unwrap();
    match (world.rejected, found.check_strict()) {
        (0, strict) => strict.unwrap(),
        (_, strict) => assert!(strict.unwrap_err().to_string().contains("(--strict)")),
    }
    let first = tree(&at("out"));
    search(&[at("corpus")], &usual(), &Run::default()).unwrap();
    assert_eq!(first, tree(&at("out")));

    lookalike_on(
        &["stage", "ingest", "sample-corpora/trec-web", "-o"],
        &at("ingested"),
    );
    let error = lookalike::tasks::contamination::check_corpus(&[at("ingested")]).unwrap_err();
    assert!(
        error.to_string().contains("give the inputs of the run"),
        "{error}"
    );
}

fn lookalike_on(arguments: &[&str], last: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.current_dir(sample_corpora("").parent().unwrap());
    let output = command.args(arguments).arg(last).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout).unwrap()
}

/// A file, a directory and standard input are read by the same names of fields, and print the same.
#[test]
fn files_and_standard_input_are_corpora() {
    let place = common::temporary();
    let at = |name: &str| place.path().join(name);
    let text = "one two three four five six seven eight nine ten eleven twelve thirteen";
    fs::create_dir(at("corpus")).unwrap();
    fs::write(
        at("corpus/c.jsonl"),
        format!("{}\n", json!({"id": "d", "body": text})),
    )
    .unwrap();
    fs::write(
        at("t.jsonl"),
        format!("{}\n", json!({"id": "i", "q": text})),
    )
    .unwrap();
    let ran = |corpus: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
        let how = [
            "--against",
            "t.jsonl",
            "--fields",
            "q",
            "--json",
            "-o",
            "out",
            "-q",
        ];
        command
            .current_dir(place.path())
            .args(["contamination", corpus])
            .args(how);
        let input = fs::File::open(at("corpus/c.jsonl")).unwrap();
        let output = command.stdin(input).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{corpus}: {message}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["test_sets"][0]["levels"][3]["by_one_document"], 1);
        let found = fs::read_to_string(at("out/contaminated.jsonl")).unwrap();
        let found: Value = serde_json::from_str(&found).unwrap();
        (
            report,
            found["listed"][0]["file"].as_str().unwrap().to_string(),
        )
    };
    let (report, name) = ran("corpus");
    assert_eq!(name, "c.jsonl");
    assert_eq!(ran("corpus/c.jsonl"), (report.clone(), name));
    assert_eq!(ran("-"), (report, "-".into()));
    let error = lookalike::tasks::contamination::check_corpus(&[at("nowhere")]);
    assert!(error.is_ok(), "the list of inputs says what is wrong");

    // Warnings that no file lists are counted in a line.
    let lines = [
        json!({"id": "d", "body": text}),
        json!({"id": "e", "body": ""}),
    ];
    fs::write(
        at("c.jsonl"),
        lines.map(|line| format!("{line}\n")).concat(),
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.current_dir(place.path());
    let arguments = [
        "contamination",
        "c.jsonl",
        "--against",
        "t.jsonl",
        "--fields",
        "q",
    ];
    let output = command.args(arguments).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    let expected = "warning: the corpus: 1 warning; the first: c.jsonl, document e: ";
    assert!(message.contains(expected), "{message}");
}

/// Words of real documents, as another writer would set them, are found in exactly the documents
/// that have them.
#[test]
fn passages_of_real_documents_are_found() {
    let place = common::temporary();
    let corpus = sample_corpora("trec-web");
    let mut random = Random(12);
    // The texts, by `ingest`'s reader and the definition of words for ASCII.
    let inputs = selected_inputs(
        std::slice::from_ref(&corpus),
        &Default::default(),
        place.path(),
    )
    .unwrap();
    let mut parser = lookalike::text::parse::Parser::new(&Default::default());
    let mut documents: Vec<(String, Vec<String>)> = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        let read = Default::default();
        let mut reader =
            lookalike::text::read::RecordReader::open(input, n as u32, &read, &Stop::default());
        let mut batch = lookalike::text::read::Batch::default();
        while reader.next_into(&mut batch) {}
        for record in &batch.records {
            let bytes = &batch.bytes[record.bytes.clone()];
            if let lookalike::text::read::Interpreted::Document(document) =
                lookalike::text::read::interpret(record, bytes, &read)
            {
                let mut text = Vec::new();
                parser.text(&document, &mut text);
                let text = String::from_utf8(text).unwrap();
                let lower = text.to_lowercase().replace('\u{2019}', "'");
                let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
                let words = words
                    .map(|word| word.trim_matches('\''))
                    .filter(|w| !w.is_empty());
                let ascii = text.is_ascii();
                if ascii {
                    let words = words.map(String::from).collect();
                    documents.push((document.docno.to_string(), words));
                }
            }
        }
    }
    assert!(documents.len() > 50, "{}", documents.len());
    let mut lines = String::new();
    let mut items = Vec::new();
    for n in 0..60 {
        let (_, words) = random.pick(&documents);
        if words.len() < 20 {
            continue;
        }
        let at = random.below(words.len() - 15);
        let item = words[at..at + 15].to_vec();
        let text = Text::of(item.clone(), &mut random);
        lines.push_str(&format!(
            "{}\n",
            json!({"id": n.to_string(), "question": text.written})
        ));
        items.push((n.to_string(), item));
    }
    fs::write(place.path().join("test.jsonl"), lines).unwrap();
    let config = ContaminationConfig {
        ngram: 15,
        most: 10_000,
        ..config(place.path(), "out")
    };
    search(&[corpus], &config, &Run::default()).unwrap();
    let found = fs::read_to_string(place.path().join("out").join(FOUND_FILE)).unwrap();
    let found: Vec<Value> = found
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(found.len(), items.len());
    let of_ascii: BTreeSet<&str> = documents.iter().map(|(docno, _)| docno.as_str()).collect();
    for (line, (id, item)) in found.iter().zip(&items) {
        assert_eq!(line["item"], *id);
        let listed = line["listed"].as_array().unwrap();
        let listed: BTreeSet<&str> = (listed.iter().map(|found| found["docno"].as_str().unwrap()))
            .filter(|docno| of_ascii.contains(docno))
            .collect();
        let expected: BTreeSet<&str> = documents
            .iter()
            .filter(|(_, words)| words.windows(item.len()).any(|window| window == &item[..]))
            .map(|(docno, _)| docno.as_str())
            .collect();
        assert_eq!(listed, expected, "{item:?}");
    }
}
