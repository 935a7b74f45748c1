//! `show` and `diff`: what they say is what is there, and nothing of a document controls the
//! terminal.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{one_in, paths, sample_corpora, tree};
use lookalike::text::parse::{ParseConfig, Parser, TokenConsumer, Tokens};
use lookalike::text::read::{ContentKind, RawDocument};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

fn lookalike<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    let mut command = Command::new(PROGRAM);
    command.stdin(Stdio::null()).args(arguments);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the output of a command that succeeds.
fn printed<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    let output = lookalike(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Returns the standard error of a command that fails.
fn refused<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    let output = lookalike(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    text(&output.stderr)
}

/// A row of a result file, by the names of its columns.
type Row = BTreeMap<String, String>;

/// An output directory, and what the commands say about its documents.
struct Made {
    directory: tempfile::TempDir,
}

impl Made {
    /// Runs a command (`run`, `ingest`) over inputs.
    fn new(command: &str, inputs: &[&Path], flags: &[&str]) -> Made {
        let directory = common::temporary();
        let made = Made { directory };
        let mut arguments = vec![command.to_string(), "-o".into(), made.out()];
        arguments.extend(inputs.iter().map(|path| path.display().to_string()));
        arguments.extend(flags.iter().map(ToString::to_string));
        arguments.push("-q".into());
        printed(arguments);
        made
    }

    /// Documents as JSON lines, in the directory of the output.
    fn of(documents: &[Value], command: &str, flags: &[&str]) -> (Made, PathBuf) {
        let directory = common::temporary();
        let input = directory.path().join("in.jsonl");
        let lines: String = documents.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&input, lines).unwrap();
        let made = Made { directory };
        let mut arguments = vec![command.to_string(), "-o".into(), made.out()];
        arguments.push(input.display().to_string());
        arguments.extend(flags.iter().map(ToString::to_string));
        arguments.push("-q".into());
        printed(arguments);
        (made, input)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("out")
    }

    fn out(&self) -> String {
        self.path().display().to_string()
    }

    /// The rows of a result file, with all columns.
    fn rows(&self, name: &str) -> Vec<Row> {
        let table = text(&fs::read(self.path().join(name)).unwrap());
        let mut lines = table.lines().filter(|line| !line.starts_with("# "));
        let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
        let row = |line: &str| {
            let cells = names.iter().zip(line.split('\t'));
            cells
                .map(|(name, cell)| (name.to_string(), cell.to_string()))
                .collect()
        };
        lines.map(row).collect()
    }

    fn call(&self, command: &str, arguments: &[&str]) -> Vec<String> {
        let mut all = vec![command.to_string(), self.out()];
        all.extend(arguments.iter().map(ToString::to_string));
        all
    }

    fn show(&self, arguments: &[&str]) -> String {
        printed(self.call("show", arguments))
    }

    fn diff(&self, arguments: &[&str]) -> String {
        printed(self.call("diff", arguments))
    }

    fn compared(&self, a: &str, b: &str, length: &str) -> Value {
        serde_json::from_str(&self.diff(&[a, b, "--json", "--length", length])).unwrap()
    }

    /// The texts of two documents.
    fn texts(&self, a: &str, b: &str) -> [String; 2] {
        [a, b].map(|name| self.show(&[name, "--text-only"]))
    }
}

struct Canonical(Vec<u8>);

impl TokenConsumer for Canonical {
    fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
        let done = tokens.starts.last().copied().unwrap_or(0);
        let done = done.min(tokens.bytes.len());
        self.0.extend_from_slice(&tokens.bytes[..done]);
        done
    }
}

/// The tokens of a text, by the parser that shingles documents.
fn tokens(text: &str) -> Vec<String> {
    let document = RawDocument::of_text(text, ContentKind::Text);
    let mut out = Canonical(Vec::new());
    Parser::new(&ParseConfig::default()).parse(&document, &mut out);
    let canonical = String::from_utf8(out.0).unwrap();
    canonical
        .split(' ')
        .filter(|token| !token.is_empty())
        .map(Into::into)
        .collect()
}

fn range(value: &Value, what: &str) -> (usize, usize) {
    let at = |n: usize| value[what][n].as_u64().unwrap() as usize;
    (at(0), at(1))
}

/// Checks that a place in a text has the stated tokens, and returns them.
fn check_place(text: &str, all: &[String], place: &Value) -> Vec<String> {
    let ((from, to), (start, end)) = (range(place, "tokens"), range(place, "bytes"));
    let stated = all[from..to].to_vec();
    assert_eq!(tokens(&text[start..end]), stated, "{place}");
    assert!(text[start..end].trim() == &text[start..end], "{place}");
    let feeds = |byte: usize| text.bytes().take(byte).filter(|&b| b == b'\n').count();
    let line = |byte: usize| 1 + feeds(byte);
    assert_eq!(
        range(place, "lines"),
        (line(start), line(end - 1)),
        "{place}"
    );
    stated
}

/// The maximal matches by definition: first token in both, number of tokens.
fn by_definition(a: &[String], b: &[String], least: usize) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    for i in 0..a.len() {
        for j in 0..b.len() {
            if a[i] != b[j] || i > 0 && j > 0 && a[i - 1] == b[j - 1] {
                continue;
            }
            let length = a[i..]
                .iter()
                .zip(&b[j..])
                .take_while(|(x, y)| x == y)
                .count();
            if length >= least {
                found.push((i, j, length));
            }
        }
    }
    found
}

/// Checks the JSON of a comparison against the texts.
fn check(compared: &Value, [a, b]: &[String; 2], least: usize) -> usize {
    let (of_a, of_b) = (tokens(a), tokens(b));
    assert_eq!(compared["a"]["text"]["bytes"], a.len());
    assert_eq!(compared["a"]["words"], of_a.len());
    assert_eq!(compared["b"]["words"], of_b.len());
    let mut before = (0, 0);
    for pair in compared["equal"].as_array().unwrap() {
        let (x, y) = (range(&pair["a"], "tokens"), range(&pair["b"], "tokens"));
        assert!(x.0 >= before.0 && y.0 >= before.1);
        before = (x.1, y.1);
        assert_eq!(pair["tokens"], x.1 - x.0);
        let stated = check_place(a, &of_a, &pair["a"]);
        assert_eq!(stated, check_place(b, &of_b, &pair["b"]));
    }
    let expected = by_definition(&of_a, &of_b, least);
    let passages = &compared["passages"];
    let listed = passages["listed"].as_array().unwrap();
    let found: Vec<_> = listed
        .iter()
        .map(|pair| {
            let stated = check_place(a, &of_a, &pair["a"]);
            assert_eq!(stated, check_place(b, &of_b, &pair["b"]));
            let from = |side: &str| range(&pair[side], "tokens").0;
            (from("a"), from("b"), stated.len())
        })
        .collect();
    assert_eq!(found, expected[..found.len()]);
    assert_eq!(passages["total"], expected.len());
    assert_eq!(found.len(), expected.len().min(1000));
    for (side, all, at) in [("covered_a", &of_a, 0), ("covered_b", &of_b, 1)] {
        let mut covered = BTreeSet::new();
        for &(i, j, length) in &expected {
            let start = [i, j][at];
            covered.extend(start..start + length);
        }
        assert_eq!(passages[side]["covered"], covered.len());
        assert_eq!(passages[side]["tokens"], all.len());
        let share = covered.len() as f64 / all.len().max(1) as f64;
        assert!((passages[side]["share"].as_f64().unwrap() - share).abs() < 1e-9);
    }
    expected.len()
}

/// Every format: positions, passages and scores of pairs that a run finds.
#[test]
fn positions_and_passages_are_those_of_the_texts() {
    let mut passages = 0;
    for (corpus, kept) in [
        ("trec-web", false),
        ("trec-sgml", true),
        ("warc", false),
        ("jsonl", true),
        ("mail", false),
        ("files", true),
    ] {
        let mut flags = vec!["--threshold", "0.2"];
        flags.extend(kept.then_some("--keep-text"));
        let made = Made::new("run", &[&sample_corpora(corpus)], &flags);
        let pairs = made.rows("pairs.tsv");
        let documents = made.rows("documents.tsv");
        let mut checked = 0;
        for row in &pairs {
            let of = |column: &str| {
                let number = &row[column];
                let row = documents.iter().find(|row| row["document"] == *number);
                row.unwrap()
            };
            let (a, b) = (of("document_a"), of("document_b"));
            let words = |row: &Row| row["words"].parse::<usize>().unwrap();
            if words(a).max(words(b)) > 3000 {
                continue;
            }
            let [a, b] = [a, b].map(|row| format!("{}:{}", row["file"], row["record"]));
            let (a, b) = (a.as_str(), b.as_str());
            let compared = made.compared(a, b, "5");
            let resemblance = compared["resemblance"].as_f64().unwrap();
            assert_eq!(format!("{resemblance:.6}"), row["resemblance"], "{row:?}");
            assert_eq!(compared["shared"].to_string(), row["shared"], "{row:?}");
            assert_eq!(compared["a"]["text"]["source"], "input");
            passages += check(&compared, &made.texts(a, b), 5);
            checked += 1;
            if checked == 4 {
                break;
            }
        }
        assert!(
            checked > 0 || corpus == "mail",
            "{corpus}: {} pairs",
            pairs.len()
        );
    }
    assert!(passages > 30, "{passages}");
}

fn numbered(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("w{n} ")).collect()
}

#[test]
fn the_text_of_a_plain_file_is_the_file() {
    let directory = common::temporary();
    let input = directory.path().join("in");
    fs::create_dir(&input).unwrap();
    let content = "  First line,\t“quoted”\r\n\n\nsecond líne; 漢字\u{a0}\nthird \n";
    fs::write(input.join("a.txt"), content).unwrap();
    fs::write(input.join("b.txt"), format!("\n{content}more")).unwrap();
    for flags in [&[][..], &["--keep-text"]] {
        let made = Made::new("ingest", &[&input], flags);
        assert_eq!(made.show(&["a.txt", "--text-only"]), content);
        assert_eq!(made.show(&["a.txt:1", "--text-only"]), content);
        let shown = made.show(&["a.txt", "--text", "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["text"], content);
        let lines = content.replace("\r\n", "\n");
        assert!(
            made.show(&["a.txt", "--text"])
                .ends_with(&format!("\n\n{lines}"))
        );
        // Positions are those in the files.
        let compared = made.compared("a.txt", "b.txt", "1");
        let [passage] = compared["passages"]["listed"]
            .as_array()
            .unwrap()
            .as_slice()
        else {
            panic!("{compared}")
        };
        let end = content.find("third").unwrap() + 5;
        assert_eq!(range(&passage["a"], "bytes"), (2, end));
        assert_eq!(range(&passage["b"], "bytes"), (3, end + 1));
        assert_eq!(range(&passage["a"], "lines"), (1, 5));
        assert_eq!(range(&passage["b"], "lines"), (2, 6));
    }
}

#[test]
fn facts_are_those_of_the_result_files() {
    let made = Made::new(
        "run",
        &[&sample_corpora("trec-web")],
        &["--threshold", "0.5"],
    );
    let documents = made.rows("documents.tsv");
    let exact = made.rows("exact-duplicates.tsv");
    let pairs = made.rows("pairs.tsv");
    let clusters = text(&fs::read(made.path().join("clusters.jsonl")).unwrap());
    assert!(!exact.is_empty() && !pairs.is_empty());
    for row in documents.iter().step_by(one_in(8)) {
        let docno = row["docno"].as_str();
        let shown: Value =
            serde_json::from_str(&made.show(&[docno, "--json", "--most", "100"])).unwrap();
        assert_eq!(shown["docno"], docno);
        assert_eq!(shown["url"].as_str().unwrap_or_default(), row["url"]);
        for name in [
            "words",
            "shingles",
            "size_group",
            "document",
            "record",
            "offset",
        ] {
            assert_eq!(shown[name].to_string(), row[name], "{name}");
        }
        assert_eq!(shown["file"], row["file"]);
        // The place names the same document.
        let place = format!("{}:{}", row["file"], row["record"]);
        assert_eq!(
            made.show(&[&place, "--json", "--most", "100"]),
            made.show(&[docno, "--json", "--most", "100"])
        );
        let duplicate = exact.iter().find(|row| row["docno"] == docno);
        let first = duplicate.map_or(docno, |row| row["representative"].as_str());
        assert_eq!(shown["representative"], first);
        let id = shown["cluster"]
            .get("id")
            .map_or(String::new(), ToString::to_string);
        assert_eq!(id, row["cluster"]);
        if let Some(line) = clusters
            .lines()
            .find(|line| line.starts_with(&format!("{{\"id\":{id},")))
        {
            let cluster: Value = serde_json::from_str(line).unwrap();
            let members = cluster["members"].as_array().unwrap();
            assert_eq!(shown["cluster"]["total"], members.len());
            let docnos: Vec<&Value> = members
                .iter()
                .map(|member| &member["docno"])
                .take(10)
                .collect();
            assert_eq!(
                shown["cluster"]["listed"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .collect::<Vec<_>>(),
                docnos
            );
        }
        let mut partners: Vec<(String, String)> = pairs
            .iter()
            .filter_map(|row| {
                let partner = match first {
                    _ if row["docno_a"] == first => &row["docno_b"],
                    _ if row["docno_b"] == first => &row["docno_a"],
                    _ => return None,
                };
                Some((row["resemblance"].clone(), partner.clone()))
            })
            .collect();
        partners.sort_by(|x, y| y.0.cmp(&x.0));
        let listed = shown["pairs"]["listed"].as_array().unwrap();
        assert_eq!(shown["pairs"]["total"], partners.len());
        let scores: Vec<&str> = listed
            .iter()
            .map(|pair| pair["score"].as_str().unwrap())
            .collect();
        assert_eq!(
            scores,
            partners
                .iter()
                .map(|pair| pair.0.as_str())
                .collect::<Vec<_>>()
        );
        let found: BTreeSet<&str> = listed
            .iter()
            .map(|pair| pair["docno"].as_str().unwrap())
            .collect();
        assert_eq!(found, partners.iter().map(|pair| pair.1.as_str()).collect());
    }
}

#[test]
fn a_directory_without_pairs_says_what_to_do() {
    let made = Made::new("ingest", &[&sample_corpora("trec-web")], &[]);
    let shown = made.show(&["PG-000004"]);
    let expected = format!("no pairs yet: run `lookalike run --from {}`", made.out());
    assert!(shown.contains(&expected), "{shown}");
    assert!(shown.contains("no clusters yet"));
    assert!(
        made.diff(&["PG-000004", "PG-000025"])
            .contains("resemblance 0.97")
    );
}

#[test]
fn repeated_and_unknown_names_are_explained() {
    let (made, _) = Made::of(
        &[
            json!({"id": "same", "text": numbered(0, 50)}),
            json!({"id": "same", "text": numbered(100, 150)}),
            json!({"id": "other-name", "text": numbered(0, 60)}),
            json!({"id": "no text"}),
            json!({"id": "a\tb\\c", "text": numbered(0, 40)}),
        ],
        "run",
        &[],
    );
    let error = refused(made.call("show", &["same"]));
    assert!(
        error.contains("2 documents are called same: in.jsonl:1, in.jsonl:2"),
        "{error}"
    );
    assert!(error.contains("FILE:RECORD"));
    assert!(
        made.show(&["in.jsonl:2", "--text-only"])
            .starts_with("w100 ")
    );
    let error = refused(made.call("diff", &["other-name", "othr-name"]));
    assert!(error.contains("no document is called othr-name"), "{error}");
    assert!(error.contains("did you mean other-name?"), "{error}");
    let error = refused(made.call("show", &["in.jsonl:9"]));
    assert!(error.contains("in.jsonl has 5 records"), "{error}");
    let error = refused(made.call("show", &["in.jsonl:4"]));
    assert!(error.contains("record 4 was rejected"), "{error}");
    let error = refused(made.call("show", &["gone.jsonl:1"]));
    assert!(
        error.contains("no input has the name gone.jsonl"),
        "{error}"
    );
    // As it is, and as documents.tsv has it.
    for name in ["a\tb\\c", "a\\tb\\\\c"] {
        assert!(made.show(&[name]).starts_with("a\\tb\\\\c\n"), "{name}");
    }
    let error = refused(made.call("show", &["\x1b[2J\u{202e}"]));
    assert!(!error.contains('\x1b'), "{error:?}");
}

#[test]
fn exact_duplicates_are_the_same_words() {
    let words = numbered(0, 60);
    let (made, input) = Made::of(
        &[
            json!({"id": "one", "text": words}),
            json!({"id": "two", "text": words.to_uppercase()}),
            json!({"id": "empty", "text": " "}),
            json!({"id": "void", "text": "?"}),
        ],
        "run",
        &["--keep-text"],
    );
    let diff = made.diff(&["one", "two"]);
    assert!(
        diff.contains("The documents have the same words.")
            && diff.contains("resemblance 1.000000"),
        "{diff}"
    );
    assert!(diff.contains("no word differs"), "{diff}");
    let shown = made.show(&["two"]);
    assert!(shown.contains("representative    one\n"), "{shown}");
    assert!(
        shown.contains("exact duplicates  one; none identical\n"),
        "{shown}"
    );
    // Documents without words.
    let diff = made.diff(&["empty", "void"]);
    assert!(diff.contains("resemblance is undefined"), "{diff}");
    let compared = made.compared("one", "void", "20");
    assert_eq!(compared["resemblance"], 0.0);
    assert_eq!(compared["b_in_a"], Value::Null);
    // The set and the text of an exact duplicate need not be stored. Its input has the text;
    // without it, that of the representative takes its place.
    assert_eq!(
        made.show(&["two", "--text-only"]).trim_end(),
        words.to_uppercase().trim_end()
    );
    fs::remove_file(input).unwrap();
    assert_eq!(
        made.show(&["two", "--text-only"]).to_lowercase().trim_end(),
        words.trim_end()
    );
    assert!(
        made.show(&["two", "--text"])
            .contains("keeps of its representative")
    );
}

#[test]
fn texts_that_are_gone_have_a_reason() {
    let documents = [
        json!({"id": "one", "text": numbered(0, 60)}),
        json!({"id": "two", "text": format!("{}x", numbered(0, 60))}),
    ];
    let (made, input) = Made::of(&documents, "run", &["--threshold", "0.5"]);
    let (kept, kept_input) = Made::of(&documents, "run", &["--keep-text"]);
    fs::write(&kept_input, "gone").unwrap();
    let diff = kept.diff(&["one", "two"]);
    assert!(
        diff.contains("{+x+}")
            && diff.contains("(the text that the directory keeps, with white space folded)"),
        "{diff}"
    );
    let compared = kept.compared("one", "two", "5");
    assert_eq!(compared["a"]["text"]["source"], "kept");
    check(&compared, &kept.texts("one", "two"), 5);
    let there = made.show(&["one", "--text-only"]);
    assert!(there.starts_with("w0 w1 "));
    let before = fs::read(&input).unwrap();
    let changed = text(&before).replace("w1 ", "v1 ");
    for (content, reason) in [
        (
            Some(changed.into_bytes()),
            "another version of lookalike reads the file otherwise",
        ),
        (Some(b"{}\n".to_vec()), "bytes but had"),
        (None, "in.jsonl: "),
    ] {
        match content {
            Some(content) => fs::write(&input, content).unwrap(),
            None => fs::remove_file(&input).unwrap(),
        }
        let shown = made.show(&["one", "--text"]);
        assert!(shown.contains("words             60"), "{shown}");
        assert!(
            shown.contains("The text is not available") && shown.contains(reason),
            "{shown}"
        );
        let json: Value = serde_json::from_str(&made.show(&["one", "--text", "--json"])).unwrap();
        assert!(json["text_missing"].as_str().unwrap().contains(reason));
        let error = refused(made.call("show", &["one", "--text-only"]));
        assert!(
            error.contains(reason) && error.contains("--keep-text"),
            "{error}"
        );
        // The measures are there.
        let output = lookalike(made.call("diff", &["one", "two"]));
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stdout).contains("resemblance 0.98"),
            "{}",
            text(&output.stdout)
        );
        let output = lookalike(made.call("diff", &["one", "two", "--json"]));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (output.status.code(), &json["equal"]),
            (Some(1), &Value::Null)
        );
        let page = made.directory.path().join("page.html");
        refused(made.call("diff", &["one", "two", "-o", page.to_str().unwrap()]));
        assert!(!page.exists());
    }
}

/// Characters that a terminal obeys, or that make a text look like another.
fn is_hostile(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn nothing_of_a_document_controls_the_terminal() {
    let hostile = "\x1b]0;title\x07 \x1b[31mred\x1b[0m \u{9b}2J \u{85} \r \u{202e}evil\u{202c} \u{2066}x\u{2069} \
                   a\u{200f}b \x7f \x08\x08\x08";
    let document = |id: &str, word: &str| {
        json!({"id": id, "url": format!("http://{hostile}"), "title": hostile,
            "text": format!("{hostile} {} {word} {hostile} {} {hostile}", numbered(0, 60), numbered(60, 120))})
    };
    let one = format!("one{hostile}");
    let (made, _) = Made::of(
        &[document(&one, "first"), document("two", "second\x1b[5m")],
        "run",
        &["--threshold", "0.1"],
    );
    let mut outputs = vec![
        made.show(&[&one, "--text"]),
        made.show(&[&one, "--text", "--json"]),
        made.diff(&[&one, "two", "--json", "--length", "5"]),
        made.diff(&[&one, "two", "--passages", "--length", "5", "--full"]),
    ];
    for layout in ["side-by-side", "unified"] {
        for colour in ["always", "never"] {
            let flags = [&one, "two", "--full", "--layout", layout, "--color", colour];
            outputs.push(made.diff(&flags));
        }
    }
    for output in &outputs {
        let mut rest = output.clone();
        for own in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"] {
            rest = rest.replace(own, "");
        }
        // JSON has its own escapes, and names bidirectional controls as they are.
        let json = output.starts_with('{');
        let found = rest.chars().find(|&c| {
            if json {
                c.is_control() && c != '\n'
            } else {
                is_hostile(c)
            }
        });
        assert_eq!(found, None, "{output:?}");
    }
    // Colours come from the program alone: none of `red` is obeyed.
    assert!(outputs[5].contains("\\x1b[31mred"), "{}", outputs[5]);
    // The text itself is passed on byte for byte.
    let exact = made.show(&["two", "--text-only"]);
    assert!(exact.contains("\x1b[5m") && exact.contains('\u{202e}'));
}

fn prose(seed: u64, words: usize) -> String {
    let mut random = common::corpus::Random(seed);
    let mut text = String::new();
    for n in 0..words {
        let word = ["a", "of", "under", "Wherever", "extraordinary", "漢字"][random.below(6)];
        text.push_str(word);
        text.push_str(&n.to_string());
        text.push_str(if random.once_in(12) { ".\n" } else { " " });
    }
    text
}

/// Columns of a line of these tests.
fn columns(line: &str) -> usize {
    line.chars()
        .map(|c| {
            if ('\u{2e80}'..'\u{a000}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}

#[test]
fn texts_fit_the_screen_and_are_whole() {
    let (a, extra) = (prose(1, 400), prose(2, 30));
    let b = a
        .replacen("under", "below", 3)
        .replacen('\n', &format!("\n{extra}"), 4);
    let (made, _) = Made::of(
        &[json!({"id": "a", "text": a}), json!({"id": "b", "text": b})],
        "run",
        &["--threshold", "0.1"],
    );
    let same = |found: &str, expected: &str| assert_eq!(tokens(found), tokens(expected));
    for width in [20, 40, 79, 100, 133, 200] {
        let width_flag = width.to_string();
        for layout in ["auto", "unified", "side-by-side"] {
            let flags = [
                "a",
                "b",
                "--full",
                "--width",
                &width_flag,
                "--layout",
                layout,
            ];
            let diff = made.diff(&flags);
            let (_, body) = diff.split_once("\n\n").unwrap();
            for line in body.lines() {
                assert!(columns(line) <= width, "{width} {layout}: {line:?}");
            }
            let beside = layout == "side-by-side" || layout == "auto" && width >= 100;
            assert_eq!(body.contains('│'), beside);
            if width < 79 {
                continue;
            }
            // Both texts, word by word, without the marks. A long word may be broken.
            let (mut left, mut right) = (String::new(), String::new());
            if beside {
                for line in body.lines().skip(2) {
                    let (x, y) = line.split_once(['│', '┃']).unwrap();
                    left.push_str(&format!("{}\n", x.replace("[-", "").replace("-]", "")));
                    right.push_str(&format!("{}\n", y.replace("{+", "").replace("+}", "")));
                }
            } else {
                let mut rest = body;
                while let Some(at) = rest.find(['[', '{']) {
                    let (both, marked) = rest.split_at(at);
                    left.push_str(both);
                    right.push_str(both);
                    let (side, ends) = match marked.starts_with("[-") {
                        true => (&mut left, "-]"),
                        false => (&mut right, "+}"),
                    };
                    let (words, more) = marked[2..].split_once(ends).unwrap();
                    side.push_str(words);
                    rest = more;
                }
                left.push_str(rest);
                right.push_str(rest);
            }
            same(&left, &a);
            same(&right, &b);
        }
    }
    // Folded, the differences and their surroundings remain.
    let folded = made.diff(&["a", "b", "--context", "3"]);
    assert!(folded.contains("words in common …"), "{folded}");
    assert!(folded.len() < made.diff(&["a", "b", "--full"]).len());
    // A width that is not given is that of no terminal.
    assert_eq!(
        made.diff(&["a", "b"]),
        made.diff(&["a", "b", "--width", "80"])
    );
    // Colours take no columns.
    let coloured = made.diff(&["a", "b", "--color", "always", "--width", "120"]);
    assert!(coloured.contains("\x1b[31m") && !coloured.contains("[-"));
}

#[test]
fn passages_are_listed_with_their_texts() {
    let shared = numbered(0, 40);
    let (made, _) = Made::of(
        &[
            json!({"id": "a", "text": format!("x {shared} y {shared}")}),
            json!({"id": "b", "text": format!("{shared} z")}),
        ],
        "run",
        &[],
    );
    let passages = made.diff(&["a", "b", "--passages"]);
    for expected in [
        "2 shared passages of at least 20 tokens",
        "A 80 of 82 tokens (97.6 %) in a passage",
        "B 40 of 41 tokens (97.6 %) in a passage",
        "1. 40 tokens",
        "A tokens 1..41, bytes 2..151, line 1",
        "B tokens 0..40, bytes 0..149, line 1",
        "A tokens 42..82,",
    ] {
        assert!(passages.contains(expected), "{expected}\n{passages}");
    }
    let one = made.diff(&["a", "b", "--passages", "--most", "1"]);
    assert!(
        one.contains("1 of 2 passages are listed") && one.contains("(97.6 %)"),
        "{one}"
    );
    let none = made.diff(&["a", "b", "--passages", "--length", "41"]);
    assert!(
        none.contains("0 shared passages") && none.contains("A 0 of 82 tokens (0.0 %)"),
        "{none}"
    );
    assert_eq!(
        lookalike(made.call("diff", &["a", "b", "--length", "0"]))
            .status
            .code(),
        Some(2)
    );
}

/// Both commands only read, and answer while others read.
#[test]
fn a_directory_is_only_read() {
    let made = Made::new("run", &[&sample_corpora("trec-web")], &[]);
    let before = tree(&made.path());
    let names = paths(&made.path());
    let reader = lookalike::engine::pipeline::open_to_read(&made.path()).unwrap();
    let page = made.directory.path().join("page.html");
    let page = page.to_str().unwrap();
    made.show(&["PG-000004", "--text"]);
    made.diff(&["PG-000004", "PG-000025"]);
    made.diff(&["PG-000004", "PG-000025", "--passages"]);
    let told = made.diff(&["PG-000004", "PG-000025", "-o", page]);
    assert_eq!(told, format!("page in {page}\n"));
    drop(reader);
    assert_eq!(tree(&made.path()), before);
    assert_eq!(paths(&made.path()), names);
}

#[test]
fn pages_replace_nothing_and_are_named_in_their_directory() {
    let (made, input) = Made::of(
        &[
            json!({"id": "a", "text": numbered(0, 60)}),
            json!({"id": "b", "text": numbered(1, 60)}),
        ],
        "run",
        &[],
    );
    let before = fs::read(&input).unwrap();
    for output in [
        input.clone(),
        made.path().join("pairs.tsv"),
        made.path().join("collection/x"),
    ] {
        let output = output.to_str().unwrap().to_string();
        let refused = lookalike(made.call("diff", &["a", "b", "-o", &output]));
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    }
    assert_eq!(fs::read(&input).unwrap(), before);
    let inside = made.path().join("ab.html");
    made.diff(&["a", "b", "-o", inside.to_str().unwrap()]);
    let page = fs::read(&inside).unwrap();
    printed(made.call("verify", &[]));
    made.diff(&["a", "b", "-o", inside.to_str().unwrap()]);
    assert_eq!(fs::read(&inside).unwrap(), page);
    printed(made.call("verify", &[]));
}

/// A budget that is too small is refused with one that is enough, for long texts, too.
#[test]
fn memory_is_bounded_and_refused() {
    let a = numbered(0, 120_000);
    let b = format!("{}{}", numbered(0, 60_000), numbered(70_000, 130_000));
    for flags in [&[][..], &["--keep-text"]] {
        let (made, _) = Made::of(
            &[json!({"id": "a", "text": a}), json!({"id": "b", "text": b})],
            "ingest",
            flags,
        );
        let all = [
            &["a", "b"][..],
            &["a", "b", "--passages"],
            &["a", "b", "--json"],
            &["a", "b", "--full", "--layout", "side-by-side"],
        ];
        for arguments in all.into_iter().skip(flags.len()).step_by(one_in(2)) {
            let mut call = made.call("diff", arguments);
            call.extend(["--memory".into(), "30MiB".into()]);
            let error = refused(&call);
            let least = error
                .split("give --memory ")
                .nth(1)
                .unwrap()
                .split(' ')
                .next()
                .unwrap();
            *call.last_mut().unwrap() = least.into();
            let output = printed(&call);
            assert_eq!(output, made.diff(arguments), "{arguments:?}");
        }
    }
}

/// A word repeated has as many matches as diagonals; two texts without a word in common differ
/// whole. Neither takes long.
#[test]
fn hostile_pairs_take_bounded_time() {
    let words = 300_000;
    let (made, _) = Made::of(
        &[
            json!({"id": "a", "text": "same ".repeat(words)}),
            json!({"id": "b", "text": "same ".repeat(words - 10)}),
            json!({"id": "c", "text": numbered(0, words)}),
        ],
        "ingest",
        &["--keep-text"],
    );
    let begun = std::time::Instant::now();
    let passages = made.diff(&["a", "b", "--passages", "--most", "3"]);
    let diagonals = 2 * words - 10 - 1 - 2 * 19;
    let digits = diagonals.to_string();
    let count = format!("{},{} shared passages", &digits[..3], &digits[3..]);
    assert!(passages.contains(&count), "{count}\n{passages}");
    assert!(made.diff(&["a", "c"]).contains("resemblance 0.000000"));
    let seconds = begun.elapsed().as_secs_f64();
    assert!(seconds < 120.0, "{seconds:.1} s");
}

/// Without a list of pairs, the clusters keep pairs that only may reach the threshold: `show` has
/// those that do.
#[test]
fn pairs_that_form_clusters_reach_the_threshold() {
    let directory = common::temporary();
    let input = directory.path().join("in.jsonl");
    let texts = ["a c e d d", "d c e b", "c b a", "e e b c"];
    let line = |(n, text): (usize, &&str)| json!({"id": format!("d{n}"), "text": text}).to_string();
    let lines: Vec<String> = texts.iter().enumerate().map(line).collect();
    fs::write(&input, lines.join("\n")).unwrap();
    let flags = [
        "--threshold",
        "0.5",
        "--shingle-size",
        "1",
        "--pairs",
        "none",
    ];
    let made = Made::new("run", &[&input], &flags);
    let shown: Value =
        serde_json::from_str(&printed(["show", &made.out(), "d0", "--json"])).unwrap();
    assert_eq!(shown["pairs"]["total"], 1, "{shown}");
    assert_eq!(shown["pairs"]["listed"][0]["docno"], "d1", "{shown}");
}

/// The command that shows a pair names its documents so that it finds them.
#[test]
fn the_next_step_names_documents_that_share_a_docno_by_their_places() {
    let directory = common::temporary();
    let at = directory.path();
    let line = json!({"id": 1, "text": "a b c d e f g h i j k l m n"}).to_string();
    for folder in ["x", "y"] {
        fs::create_dir(at.join(folder)).unwrap();
        fs::write(at.join(folder).join("a.jsonl"), &line).unwrap();
    }
    let out = at.join("out").display().to_string();
    let [x, y] = ["x", "y"].map(|folder| at.join(folder).display().to_string());
    printed(["run", &x, &y, "-o", &out, "-q"]);
    let said = printed(["passages", &out, "--length", "5"]);
    assert!(said.contains(" x/a.jsonl:1 y/a.jsonl:1 "), "{said}");
}
