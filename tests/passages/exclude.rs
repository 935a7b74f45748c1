//! `--exclude-text`: words of the excluded texts count for no passage.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde_json::json;

use super::support::{Ran, call, passages, program, refused, texts, tokens};
use crate::common::{lookalike, one_in, rows_of, temporary};

fn write(file: &Path, texts: &[String]) {
    let lines = texts
        .iter()
        .enumerate()
        .map(|(at, text)| json!({"id": format!("d{at}"), "text": text}).to_string() + "\n");
    fs::write(file, lines.collect::<String>()).unwrap();
}

fn words(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|(_, word)| word).collect()
}

type Span = (String, usize, usize);
type Match = (String, String, usize, usize, usize);

/// A word that is not excluded: its number in the text, its line, and what it says.
type Kept = (usize, usize, String);

/// The words of a text outside of the windows of `w` words that excluded texts have.
fn kept(text: &str, excluded: &[String], w: usize) -> Vec<Kept> {
    let all = words(text);
    let mut left_out = vec![false; all.len()];
    let windows = |of: &String| {
        words(of)
            .windows(w)
            .map(<[String]>::to_vec)
            .collect::<Vec<_>>()
    };
    let windows: HashSet<Vec<String>> = excluded.iter().flat_map(windows).collect();
    for (at, window) in all.windows(w).enumerate() {
        if windows.contains(window) {
            left_out[at..at + w].fill(true);
        }
    }
    let line = |byte: usize| text[..byte].matches('\n').count();
    let lines = tokens(text).into_iter().map(|(range, _)| line(range.start));
    let all = lines.zip(all).enumerate();
    let all = all.map(|(at, (line, word))| (at, line, word));
    all.filter(|(at, ..)| !left_out[*at]).collect()
}

/// Maximal runs of marked words that follow each other in the whole text.
fn runs(name: usize, words: &[Kept], marks: &[bool]) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    for ((at, ..), _) in words.iter().zip(marks).filter(|(_, mark)| **mark) {
        match runs.last_mut() {
            Some(run) if run.2 == *at => run.2 += 1,
            _ => runs.push((format!("d{name}"), *at, at + 1)),
        }
    }
    runs
}

/// What is compared: each range of words, by document.
fn pieces(docs: &[Vec<Kept>], k: Option<usize>) -> Vec<Vec<std::ops::Range<usize>>> {
    let of = |words: &Vec<Kept>| match k {
        Some(k) => (k..words.len() + 1).map(|end| end - k..end).collect(),
        None => {
            let lines = words.chunk_by(|a, b| a.1 == b.1);
            let mut at = 0;
            lines.map(|line| (at, at += line.len()).0..at).collect()
        }
    };
    docs.iter().map(of).collect()
}

/// The spans, and what is removable, by the definitions: of windows of k words, or of lines.
fn expected_spans(docs: &[Vec<Kept>], k: Option<usize>) -> [BTreeSet<Span>; 2] {
    let pieces = pieces(docs, k);
    let said = |doc: usize, range: &std::ops::Range<usize>| -> Vec<&str> {
        docs[doc][range.clone()]
            .iter()
            .map(|(.., word)| &**word)
            .collect()
    };
    let mut places: HashMap<Vec<&str>, Vec<(usize, usize)>> = HashMap::new();
    for (doc, of) in pieces.iter().enumerate() {
        for range in of {
            let all = places.entry(said(doc, range)).or_default();
            all.push((doc, range.start));
        }
    }
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for (doc, of) in pieces.iter().enumerate() {
        let mut repeated = vec![false; docs[doc].len()];
        let mut firsts = repeated.clone();
        for range in of {
            let all = &places[&said(doc, range)];
            if all.len() > 1 {
                repeated[range.clone()].fill(true);
            }
            if all.len() > 1 && all[0] == (doc, range.start) {
                firsts[range.clone()].fill(true);
            }
        }
        let removable = repeated
            .iter()
            .zip(&firsts)
            .map(|(is, first)| *is && !first);
        let removable: Vec<bool> = removable.collect();
        found[0].extend(runs(doc, &docs[doc], &repeated));
        found[1].extend(runs(doc, &docs[doc], &removable));
    }
    found
}

/// The matches by the definition, divided where words are excluded.
fn expected_matches(docs: &[Vec<Kept>], k: usize) -> BTreeSet<Match> {
    let mut matches = BTreeSet::new();
    for (n, of) in docs.iter().enumerate() {
        for (m, other) in docs.iter().enumerate().skip(n + 1) {
            let same = |i: usize, j: usize| {
                let both = of.get(i).zip(other.get(j));
                both.is_some_and(|(a, b)| a.2 == b.2)
            };
            for i in 0..of.len() {
                for j in 0..other.len() {
                    if i > 0 && j > 0 && same(i - 1, j - 1) {
                        continue;
                    }
                    let length = (0..).take_while(|n| same(i + n, j + n)).count();
                    let mut part: Option<(usize, usize, usize)> = None;
                    let mut put = |part: Option<(usize, usize, usize)>| {
                        if let Some((a, b, tokens)) = part {
                            matches.insert((format!("d{n}"), format!("d{m}"), a, b, tokens));
                        }
                    };
                    for at in (0..length).filter(|_| length >= k) {
                        let (a, b) = (of[i + at].0, other[j + at].0);
                        part = match part {
                            Some((x, y, z)) if x + z == a && y + z == b => Some((x, y, z + 1)),
                            before => {
                                put(before);
                                Some((a, b, 1))
                            }
                        };
                    }
                    put(part);
                }
            }
        }
    }
    matches
}

fn cells(out: &Path, name: &str) -> Vec<Vec<String>> {
    let rows = rows_of(out, name);
    let cells = |row: &String| row.split('\t').map(str::to_string).collect();
    rows.iter().map(cells).collect()
}

fn number(cell: &str) -> usize {
    cell.parse().unwrap()
}

fn spans(out: &Path, name: &str) -> BTreeSet<Span> {
    let rows = cells(out, name).into_iter();
    rows.map(|row| (row[0].clone(), number(&row[1]), number(&row[2])))
        .collect()
}

fn matches(out: &Path) -> BTreeSet<Match> {
    let rows = cells(out, "matches.tsv").into_iter();
    let of = |row: Vec<String>| {
        let [a, b, tokens] = [&row[2], &row[3], &row[4]].map(|cell| number(cell));
        (row[0].clone(), row[1].clone(), a, b, tokens)
    };
    rows.map(of).collect()
}

/// Parts of some texts, which texts share.
fn parts(all: &[String]) -> Vec<String> {
    let part = |text: &String| {
        let words: Vec<&str> = text.split(' ').collect();
        let (from, to) = (words.len() / 5, words.len() * 4 / 5);
        words[from..to].join(" ")
    };
    let parts = all.iter().step_by(2).map(part);
    parts.filter(|text| !words(text).is_empty()).collect()
}

/// Compares a search with the definitions. Returns whether the excluded texts change it.
fn as_defined(all: &[String], excluded: &[String], (k, w): (usize, usize), what: &str) -> bool {
    let place = temporary();
    let place = place.path();
    write(&place.join("in.jsonl"), all);
    write(&place.join("ex.jsonl"), excluded);
    let docs: Vec<_> = all.iter().map(|text| kept(text, excluded, w)).collect();
    let [repeated, removable] = expected_spans(&docs, Some(k));
    let expected = expected_matches(&docs, k);
    let mut files: Option<BTreeMap<_, _>> = None;
    for threads in [1, 2] {
        let out = place.join(format!("out{threads}"));
        let with = format!("--exclude-text ex.jsonl --shingle-size {w} --threads {threads}");
        passages(
            place,
            &format!("in.jsonl -o out{threads} {with} --length {k}"),
        );
        assert_eq!(spans(&out, "spans.tsv"), repeated, "{what}");
        assert_eq!(spans(&out, "removable.tsv"), removable, "{what}");
        assert_eq!(matches(&out), expected, "{what}");
        let names = ["spans.tsv", "matches.tsv", "removable.tsv", "common.tsv"];
        let read = |name: &&'static str| (*name, fs::read_to_string(out.join(name)).unwrap());
        let now: BTreeMap<_, _> = names.iter().map(read).collect();
        assert!(now["spans.tsv"].contains("\n# exclude-text: "));
        assert!(files.is_none_or(|before| before == now), "{what}");
        files = Some(now);
    }
    let units = format!("--unit line --exclude-text ex.jsonl --shingle-size {w}");
    passages(place, &format!("in.jsonl -o lines {units}"));
    let [repeated, removable] = expected_spans(&docs, None);
    let lines = place.join("lines");
    assert_eq!(spans(&lines, "spans.tsv"), repeated, "{what}");
    assert_eq!(spans(&lines, "removable.tsv"), removable, "{what}");
    passages(place, &format!("in.jsonl -o all --length {k}"));
    spans(&place.join("all"), "spans.tsv") != spans(&place.join("out1"), "spans.tsv")
}

#[test]
fn excluded_words_count_for_no_passage_and_break_none() {
    let mut changed = 0;
    for seed in 0..60 / one_in(4) as u64 {
        let all = texts(seed);
        let (k, w) = ([1, 2, 3, 5, 13][seed as usize % 5], 1 + seed as usize % 4);
        let excluded = parts(&all);
        if !excluded.is_empty() {
            let what = format!("seed {seed}, {k}");
            changed += usize::from(as_defined(&all, &excluded, (k, w), &what));
        }
    }
    assert!(changed * one_in(4) > 20, "{changed}");
}

/// The pages of the guide, without a part of one of them.
#[test]
fn words_of_real_texts_are_excluded() {
    let page = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide");
        let text = fs::read_to_string(path.join(name)).unwrap();
        text.replace(['\'', '\u{2019}'], " ")
    };
    let all = [
        "passages.md",
        "boilerplate.md",
        "contamination.md",
        "tutorial.md",
    ]
    .map(page);
    let part: String = all[0]
        .lines()
        .take(40)
        .map(|line| format!("{line}\n"))
        .collect();
    // A page that quotes the part twice, between its own words and those of another one.
    let quoting = format!(
        "{}{part}{}{part}",
        all[1],
        all[3].chars().take(2000).collect::<String>()
    );
    let all = [&all[..], &[quoting]].concat();
    assert!(as_defined(&all, &[part], (8, 10), "guide"));
}

/// Two essays share an assignment of 16 words and one word more.
#[test]
fn an_assignment_and_a_word_are_no_passage() {
    let place = temporary();
    let place = place.path();
    let task = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen \
                fifteen sixteen";
    fs::create_dir(place.join("essays")).unwrap();
    fs::write(place.join("task.txt"), task).unwrap();
    for (name, rest) in [
        ("a", "Anna Lange wrote about cats and dogs"),
        ("b", "Anna Weiss described trains instead"),
    ] {
        fs::write(
            place.join(format!("essays/{name}.txt")),
            format!("{task} {rest}"),
        )
        .unwrap();
    }
    let shared =
        |with: &str| passages(place, &format!("essays -o out --length 15 {with}"))["pairs"].clone();
    assert_eq!(shared(""), 1);
    assert_eq!(shared("--exclude-text task.txt"), 0);
    assert_eq!(passages(place, "out")["pairs"], 0);
    let diff = "diff out a.txt b.txt";
    let told = || {
        let mut program = std::process::Command::new(lookalike());
        let ran = program.current_dir(place).args(diff.split(' ')).output();
        String::from_utf8(ran.unwrap().stderr).unwrap()
    };
    assert!(told().contains("they also have what --exclude-text leaves out"));
    assert_eq!(passages(place, "out --exclude-text none")["pairs"], 1);
    assert_eq!(told(), "");
    // Copied answers between questions that all have are one passage, without the questions.
    let (one, two) = (
        "alpha beta gamma delta epsilon zeta eta theta",
        "iota kappa lambda my ny xi omikron",
    );
    for name in ["a", "b"] {
        fs::write(
            place.join(format!("essays/{name}.txt")),
            format!("{name} {one} {task} {two} {name}"),
        )
        .unwrap();
    }
    passages(
        place,
        "essays -o copied --length 15 --exclude-text task.txt --report",
    );
    let [a, b] = ["a.txt", "b.txt"].map(String::from);
    let (first, second) = ((a.clone(), b.clone(), 1, 1, 8), (a, b, 25, 25, 7));
    assert_eq!(matches(&place.join("copied")), [first, second].into());
    let page = fs::read_to_string(place.join("copied/report.html")).unwrap();
    assert!(page.contains("epsilon") && page.contains("omikron"));
    assert!(!page.contains("fourteen"), "{page}");
    // Removing leaves the questions.
    passages(
        place,
        "essays -o kept --length 15 --exclude-text task.txt --remove",
    );
    let left = fs::read_to_string(place.join("kept/b.txt")).unwrap();
    assert_eq!(words(&left), words(&format!("b {task} b")));
}

/// Another search of a directory keeps what the last one was asked for.
#[test]
fn another_search_keeps_what_no_flag_changes() {
    let place = temporary();
    let place = place.path();
    let all = texts(3);
    write(&place.join("in.jsonl"), &all);
    write(&place.join("ex.jsonl"), &parts(&all));
    let with =
        "--length 3 --shingle-size 2 --exclude-text ex.jsonl --max-documents 7 --results parquet";
    passages(place, &format!("in.jsonl -o out {with}"));
    let read = |name: &str| fs::read_to_string(place.join("out").join(name)).unwrap();
    let (before, listed) = (read("spans.tsv"), read("matches.tsv"));
    assert!(program(place, "report out --quiet"));
    let ran = call(place, "out", None);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let kept = |ran: &Ran| {
        let line = ran
            .stderr
            .lines()
            .find(|line| line.contains("last search: "));
        line.map(|line| line.rsplit_once("last search: ").unwrap().1.to_string())
    };
    let all = "length 3, the excluded text, max-documents 7, results parquet";
    assert_eq!(kept(&ran).as_deref(), Some(all), "{ran:?}");
    assert!(
        ran.stderr
            .contains("report.html was about the last search, and is removed"),
        "{ran:?}"
    );
    assert_eq!((read("spans.tsv"), read("matches.tsv")), (before, listed));
    assert!(place.join("out/spans.parquet").exists());
    // What is given now is not kept, nor what no search changed.
    let ran = call(place, "out --length 3 --max-documents 7", None);
    let some = "the excluded text, results parquet";
    assert_eq!(kept(&ran).as_deref(), Some(some), "{ran:?}");
    passages(place, "out --unit line --results tsv");
    let lines = read("spans.tsv");
    assert!(lines.contains("# unit: line\n") && lines.contains("# exclude-text: "));
    assert!(!place.join("out/spans.parquet").exists());
    passages(place, "out");
    assert_eq!(read("spans.tsv"), lines);
    passages(place, "out --length 4");
    assert!(read("matches.tsv").contains("# max-documents: 7\n"));
    passages(place, "in.jsonl -o usual");
    assert_eq!(kept(&call(place, "usual", None)), None);
    // Texts that are excluded from pairs count for no passage.
    let run = "run in.jsonl -o pairs --shingle-size 2 --exclude-text ex.jsonl --quiet";
    assert!(program(place, run));
    passages(place, "pairs --length 3 --max-documents 7");
    let of_pairs = fs::read_to_string(place.join("pairs/spans.tsv")).unwrap();
    assert!(of_pairs.contains("# exclude-text: "), "{of_pairs}");
    passages(place, "pairs --length 3 --exclude-text none");
    let all = fs::read_to_string(place.join("pairs/spans.tsv")).unwrap();
    assert!(!all.contains("# exclude-text: "), "{all}");
}

#[test]
fn files_that_cannot_be_excluded_are_refused() {
    let place = temporary();
    let place = place.path();
    fs::write(place.join("in.txt"), "some words of a text").unwrap();
    fs::write(place.join("empty.txt"), "").unwrap();
    for (file, says) in [("empty.txt", "empty.txt"), ("-", "give a file")] {
        let said = refused(place, &format!("in.txt -o out --exclude-text {file}"));
        assert!(said.contains(says), "{said}");
        assert!(!place.join("out").exists(), "{file}");
    }
}

/// The number of excluded words is said, and also that there are none.
#[test]
fn excluded_words_are_counted() {
    let place = temporary();
    let place = place.path();
    let (task, other) = ("a b c d e f g h i j k", "l m n o p q r s t u v");
    write(
        &place.join("in.jsonl"),
        &[format!("one {task} two"), format!("{task}. three")],
    );
    for (text, count) in [(task, 22), (other, 0)] {
        fs::write(place.join("task.txt"), text).unwrap();
        let search = "in.jsonl -o out --exclude-text task.txt";
        let ran = call(place, search, None);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let row = ran.stdout.lines().find(|line| line.contains("  excluded"));
        let said = row
            .and_then(|row| row.rsplit_once(' '))
            .map(|row| number(row.1));
        assert_eq!(said, Some(count).filter(|count| *count > 0), "{ran:?}");
        let nothing = ran.stderr.contains("the excluded text excluded nothing");
        assert_eq!(nothing, count == 0, "{ran:?}");
        assert_eq!(passages(place, search)["excluded_tokens"], count);
    }
}

/// What cannot be searched is refused before anything of the last search goes.
#[test]
fn a_refused_search_leaves_the_results_of_the_last_one() {
    let place = temporary();
    let place = place.path();
    fs::create_dir(place.join("in")).unwrap();
    for name in ["a.x", "b.x"] {
        fs::write(place.join("in").join(name), "one two three four five six").unwrap();
    }
    passages(place, "in -o out --length 4 --convert x=cat --report");
    // The page is written again.
    let ran = call(place, "out --length 3 --convert x=cat --report", None);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stderr.contains("is removed"), "{ran:?}");
    let results = || {
        ["spans.tsv", "overlaps.tsv", "report.html"]
            .map(|name| fs::read_to_string(place.join("out").join(name)).ok())
    };
    let before = results();
    assert!(before.iter().all(Option::is_some));
    let refused = |arguments: &str, says: &str| {
        let ran = call(place, arguments, None);
        assert!(ran.code != Some(0) && ran.stderr.contains(says), "{ran:?}");
        assert!(!ran.stderr.contains("is removed"), "{ran:?}");
        assert_eq!(results(), before, "{ran:?}");
    };
    refused("out --length 2", "--convert");
    fs::write(place.join("in/b.x"), "one two three four five").unwrap();
    refused("out --length 2 --convert x=cat", "b.x");
    fs::remove_file(place.join("in/b.x")).unwrap();
    refused("out --length 2 --convert x=cat", "b.x");
}

/// After an addition, a search without flags is the last one, of more documents.
#[test]
fn an_addition_keeps_what_the_last_search_was_asked_for() {
    let place = temporary();
    let place = place.path();
    let all = texts(3);
    write(&place.join("in.jsonl"), &all);
    write(&place.join("ex.jsonl"), &parts(&all));
    let with = "--length 3 --shingle-size 2 --exclude-text ex.jsonl";
    passages(place, &format!("in.jsonl -o out {with} --report"));
    fs::copy(place.join("in.jsonl"), place.join("more.jsonl")).unwrap();
    let mut add = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"));
    let ran = add.current_dir(place).args(["add", "out", "more.jsonl"]);
    let ran = ran.output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{said}");
    for line in [
        "lack the new documents",
        "report.html was about the documents before",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!said.contains("summary.json was"), "{said}");
    passages(place, "out");
    passages(place, &format!("in.jsonl more.jsonl -o both {with}"));
    let read = |out: &str| fs::read_to_string(place.join(out).join("spans.tsv")).unwrap();
    assert_eq!(read("out"), read("both"));
}

/// Pairs of one student are not listed, and the directory keeps the condition until another is given.
#[test]
fn a_condition_limits_the_pairs_of_passages() {
    let place = temporary();
    let place = place.path();
    let essay = |own: &str| format!("{} {own}", "all the same words here ".repeat(3));
    for file in ["anna/1.txt", "anna/old/2.txt", "ben/1.txt", "top.txt"] {
        let path = place.join("in").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, essay(file)).unwrap();
    }
    let pairs = || -> BTreeSet<String> {
        let rows = rows_of(&place.join("out"), "overlaps.tsv");
        let docnos = |row: &String| row.split('\t').take(2).collect::<Vec<_>>().join(" ");
        rows.iter().map(docnos).collect()
    };
    let others =
        BTreeSet::from(["anna/1.txt ben/1.txt", "anna/old/2.txt ben/1.txt"].map(String::from));
    let of_others = "--length 10 --where a.top_folder!=b.top_folder";
    let ran = call(place, &format!("in -o out {of_others}"), None);
    let missing = "--where: 1 of 4 documents without top_folder";
    assert!(ran.stderr.contains(missing), "{ran:?}");
    assert_eq!(pairs(), others);
    let ran = call(place, "out --max-documents 50", None);
    assert!(
        ran.stderr.contains("where a.top_folder!=b.top_folder"),
        "{ran:?}"
    );
    assert!(
        ran.stdout
            .contains("pairs of documents                       2"),
        "{ran:?}"
    );
    assert_eq!(pairs(), others);
    let page = || {
        assert!(program(place, "report out --quiet"));
        fs::read_to_string(place.join("out/report.html")).unwrap()
    };
    assert!(page().contains("Only pairs with <code"));
    passages(place, "out --where true");
    assert!(!page().contains("Only pairs with"));
    assert_eq!(pairs().len(), 6);
    passages(place, "out");
    assert_eq!(pairs().len(), 6);
    passages(place, "in -o other --length 10 --where a.folder!=b.folder");
    assert_eq!(rows_of(&place.join("other"), "overlaps.tsv").len(), 3);
    let said = refused(place, "out --where a.file!=b.file");
    assert!(
        said.contains("keeps no field file, only top_folder"),
        "{said}"
    );
    let said = refused(place, "in -o new --where a.x!=b.x");
    assert!(said.contains("--where a.x!=b.x"), "{said}");
    assert!(!place.join("new").exists());
    // The list of inputs holds text.
    fs::write(
        place.join("in").join(OsStr::from_bytes(b"M\xfcller.txt")),
        essay("m"),
    )
    .unwrap();
    let said = refused(place, "in -o new --length 10");
    assert!(said.contains("its path is not UTF-8"), "{said}");
}

/// The folder of a student is the same one if the names of the files begin with another folder.
#[test]
fn a_top_folder_is_below_its_input() {
    let place = temporary();
    let place = place.path();
    for file in ["1/ann/e.txt", "1/bob/e.txt", "2/ann/e.txt", "2/bob/e.txt"] {
        let path = place.join("term").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "all the same words here ".repeat(3)).unwrap();
    }
    let rule = "--where a.top_folder!=b.top_folder";
    for line in [
        format!("run term/1 term/2 -o both {rule}"),
        format!("run term/1 -o grown {rule}"),
        "add grown term/2".into(),
        format!("run term/1 -o again {rule}"),
        format!("run term/1 term/2 -o again {rule}"),
        format!("run term/1 -o old {rule}"),
        format!("run term/2 --against old -o new {rule}"),
    ] {
        assert!(program(place, &line), "{line}");
    }
    for out in ["both", "grown", "again"] {
        let said = call(place, &format!("{out} --length 10"), None).stderr;
        assert!(said.contains("where a.top_folder!=b.top_folder"), "{said}");
        let rows = rows_of(&place.join(out), "overlaps.tsv");
        assert_eq!(rows.len(), 4, "{out}");
        for row in rows {
            assert!(row.contains("ann/") && row.contains("bob/"), "{row}");
        }
    }
    assert_eq!(rows_of(&place.join("new"), "pairs.tsv").len(), 3);
    // The collection keeps the folders that it was made with.
    for (inputs, was) in [
        ("term", "ann/e.txt is 1/ann/e.txt"),
        ("term/1 term/2/ann term/2/bob", "ann/e.txt is e.txt"),
    ] {
        let said = call(place, &format!("{inputs} -o both {rule}"), None).stderr;
        assert!(
            said.contains(&format!("compares folders, and {was} below the inputs of")),
            "{said}"
        );
    }
    for line in [
        "add grown term".into(),
        format!("run term --against old -o upper {rule}"),
    ] {
        assert!(!program(place, &line), "{line}");
    }
    for line in [
        "run term/1 term/2 -o plain",
        "run term -o plain",
        "passages both --length 10",
    ] {
        assert!(program(place, line), "{line}");
    }
    for line in [
        "run term/1 term/2 -o folders --where a.folder!=b.folder",
        "passages folders --length 10",
    ] {
        assert!(program(place, line), "{line}");
    }
    assert_eq!(rows_of(&place.join("folders"), "overlaps.tsv").len(), 4);
    for inputs in ["term/1/ann term/1/bob", "term/1/ann/e.txt term/1/bob/e.txt"] {
        let said = refused(place, &format!("{inputs} -o no {rule}"));
        let what = "give the directory of the folders as input: term/1";
        assert!(said.contains(what), "{said}");
        assert!(!place.join("no").exists());
    }
}
