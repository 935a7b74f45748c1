//! Reproductions of papers: the numbers that no other command prints, by definition and by other
//! runs, and what must hold of every exhibit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common;
use common::corpus::Random;
use common::{Run, rows_of};
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline;
use lookalike::methods::{self, Spec};
use lookalike_lab::reproduce::{self, Cell, Exhibit, Form, Paper, Reproduction};

/// A word of letters: `cosine` leaves out terms with digits.
fn word(n: usize) -> String {
    let letter = |n: usize| char::from(b"bcdfgklmnprtvz"[n % 14]);
    format!("{}o{}u{}", letter(n), letter(n / 14), letter(n / 196))
}

/// Documents that share runs of words, some of them twice.
fn texts(seed: u64) -> Vec<Vec<String>> {
    let random = &mut Random(seed);
    let mut documents: Vec<Vec<String>> = Vec::new();
    for n in 0..36 {
        let mut words: Vec<String> = (0..40 + random.below(60))
            .map(|_| word(random.below(400)))
            .collect();
        if n % 3 > 0 {
            let from = &documents[random.below(documents.len())];
            let start = random.below(from.len() / 2);
            words.truncate(random.below(30));
            words.extend_from_slice(&from[start..]);
        }
        if n == 35 {
            // The words of another document in another order.
            words.clone_from(&documents[20]);
            words.rotate_left(9);
        }
        documents.push(words);
    }
    documents.push(documents[3].clone());
    documents.push(documents[4].clone());
    documents
}

fn ingested(documents: &[Vec<String>]) -> (tempfile::TempDir, PathBuf) {
    let directory = common::temporary();
    let (input, out) = (
        directory.path().join("in.jsonl"),
        directory.path().join("kept"),
    );
    let lines = documents.iter().enumerate().map(|(id, words)| {
        let text = words.join(" ");
        format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")
    });
    fs::write(&input, lines.collect::<String>()).unwrap();
    let run = Run::default().keep_text();
    let stop = Stop::default();
    let mut base = run.ingest(&[&input], &out).unwrap();
    pipeline::catalogued(&mut base, &run.context(&stop, &Silent)).unwrap();
    (directory, out)
}

fn reproduced(paper: Paper, kept: &Path, out: &str, run: &Run) -> Reproduction {
    let stop = Stop::default();
    let context = run.context(&stop, &Silent);
    let out = kept.with_file_name(out);
    fs::create_dir_all(&out).unwrap();
    reproduce::run(paper, kept, &out, None, &context).unwrap()
}

fn exhibit<'r>(of: &'r Reproduction, name: &str) -> &'r Exhibit {
    let found = of.exhibits.iter().find(|exhibit| exhibit.name == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

fn number(cell: &Cell) -> u64 {
    cell.number().unwrap() as u64
}

/// The pairs of a method.
fn pairs(kept: &Path, spec: &str) -> BTreeSet<(String, String)> {
    let run = Run::default();
    let stop = Stop::default();
    let base = pipeline::open(kept).unwrap();
    let context = run.context(&stop, &Silent);
    let (made, _) = methods::run(&base, &Spec::read(spec).unwrap(), &context).unwrap();
    let rows = rows_of(made.directory(), "pairs.tsv");
    let pair = |row: &String| {
        let mut cells = row.split('\t').map(String::from);
        (cells.next().unwrap(), cells.next().unwrap())
    };
    rows.iter().map(pair).collect()
}

/// Asserts the properties of every reproduction.
fn assert_whole(of: &Reproduction, names: &[&str]) {
    let found: BTreeSet<&str> = of.exhibits.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(found.len(), of.exhibits.len());
    for name in names {
        assert!(found.contains(name), "{name}");
    }
    for exhibit in &of.exhibits {
        assert!(exhibit.about.ends_with('.'), "{}", exhibit.name);
        let cannot = exhibit.about.starts_with("Cannot be tested here: ");
        assert_eq!(exhibit.rows.is_empty(), cannot, "{}", exhibit.name);
        let columns = exhibit.columns.len();
        assert!(exhibit.rows.iter().all(|row| row.len() == columns));
    }
    for claim in &of.claims {
        let known = claim.exhibit.is_empty() || found.contains(claim.exhibit.as_str());
        assert!(known && claim.says.ends_with('.'), "{claim:?}");
    }
}

/// The number of rows with a value of the paper, by exhibit: each published row is beside a measured
/// one, or below.
pub(super) fn of_paper(of: &Reproduction) -> Vec<(&str, usize)> {
    let exhibits = of.exhibits.iter().map(|exhibit| {
        let has = |row: &&Vec<Cell>| {
            let mut cells = row.iter().zip(&exhibit.columns);
            cells.any(|(cell, column)| column.is_paper() && *cell != Cell::Nothing)
        };
        (
            exhibit.name.as_str(),
            exhibit.rows.iter().filter(has).count(),
        )
    });
    exhibits.filter(|(_, rows)| *rows > 0).collect()
}

/// Everything but seconds.
fn measured(of: &Reproduction) -> Vec<Vec<&Cell>> {
    let each = of.exhibits.iter().flat_map(|exhibit| {
        exhibit.rows.iter().map(|row| {
            let cells = row.iter().zip(&exhibit.columns);
            let cells = cells.filter(|(_, column)| column.form != Form::Seconds);
            cells.map(|(cell, _)| cell).collect()
        })
    });
    each.collect()
}

#[test]
fn bernstein_by_definition_and_by_single_runs() {
    let documents = texts(1);
    let (_held, kept) = ingested(&documents);
    let of = reproduced(Paper::Bernstein2006, &kept, "out", &Run::default());
    let figures = ["figure-1", "figure-2", "figure-3", "figure-4", "figure-5"];
    let tables = ["table-1", "table-2", "table-3", "table-4"];
    assert_whole(
        &of,
        &[&figures[..], &tables, &["section-4.3", "section-8.3"]].concat(),
    );
    let published = [
        ("section-4.3", 3),
        ("section-8.2", 1),
        ("section-8.3", 2),
        ("table-1", 4),
        ("table-2", 20),
        ("table-3", 20),
        ("table-4", 40),
    ];
    assert_eq!(of_paper(&of), published);

    // Figure 5: the chunks of each prefix that two of its documents have. The last two documents are
    // exact duplicates.
    let growth = exhibit(&of, "figure-5");
    assert!(growth.rows.len() == 20);
    for row in &growth.rows {
        let prefix = number(&row[1]) as usize;
        let mut having: BTreeMap<String, usize> = BTreeMap::new();
        for words in documents.iter().take(prefix.min(36)) {
            let chunks: BTreeSet<String> = words.windows(8).map(|chunk| chunk.join(" ")).collect();
            for chunk in chunks {
                *having.entry(chunk).or_default() += 1;
            }
        }
        let shared: Vec<usize> = having.into_values().filter(|&n| n > 1).collect();
        let expected = (shared.iter().sum::<usize>() as u64, shared.len() as u64);
        assert_eq!((number(&row[2]), number(&row[3])), expected, "{prefix}");
    }

    // Tables 3 and 4: a run of the method at each threshold.
    let known = pairs(&kept, "cosine");
    let mut listed = BTreeSet::new();
    for row in exhibit(&of, "table-3")
        .rows
        .iter()
        .chain(&exhibit(&of, "table-4").rows)
    {
        let (modulo, [score, threshold]) = (
            number(&row[0]),
            [&row[1], &row[2]].map(|cell| match cell {
                Cell::Text(text) => text.as_str(),
                _ => panic!("a name"),
            }),
        );
        let spec = format!(
            "deco:selection=modulo-{modulo},score={},threshold={threshold}",
            score.to_lowercase()
        );
        let found = pairs(&kept, &spec);
        assert_eq!(number(&row[3]), found.len() as u64, "{spec}");
        let both = found.intersection(&known).count();
        let precision = (!found.is_empty()).then(|| both as f64 / found.len() as f64);
        assert_eq!(row[5].number(), precision, "{spec}");
        listed.insert(found.len());
    }
    assert!(listed.len() > 8 && !known.is_empty(), "{listed:?}");

    // The index with exact duplicates has more entries.
    let index = exhibit(&of, "section-8.3");
    assert!(number(&index.rows[0][1]) > number(&index.rows[1][1]));

    // Threads, memory and finished stages change nothing.
    let run = Run::default().threads(3).memory(300 << 20);
    for out in ["out", "other"] {
        let again = reproduced(Paper::Bernstein2006, &kept, out, &run);
        assert_eq!(measured(&again), measured(&of), "{out}");
        assert_eq!(again.claims, of.claims);
    }
}

#[test]
fn cherkasova_by_single_runs() {
    let documents = texts(2);
    let (_held, kept) = ingested(&documents);
    let of = reproduced(Paper::Cherkasova2009, &kept, "out", &Run::default());
    let names: Vec<String> = (1..=11).map(|n| format!("figure-{n}")).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.extend(["table-1", "table-2"]);
    assert_whole(&of, &names);
    let published = [
        ("table-1", 4),
        ("figure-2", 2),
        ("figure-4", 2),
        ("table-2", 6),
    ];
    assert_eq!(of_paper(&of), published);

    // Figure 9: a run of the method at each threshold.
    let mut listed = BTreeSet::new();
    for row in &exhibit(&of, "figure-9").rows {
        let threshold = (row[0].number().unwrap() * 100.0).round() / 100.0;
        if ![0.4, 0.7, 0.9].contains(&threshold) {
            continue;
        }
        for (method, cell) in ["mod", "min", "sketch", "bsw"].iter().zip(&row[1..]) {
            let found = pairs(&kept, &format!("{method}:threshold={threshold}"));
            assert_eq!(number(cell), found.len() as u64, "{method} {threshold}");
            listed.insert(found.len());
        }
    }
    assert!(listed.len() > 3, "{listed:?}");

    // Table 2: the lists of single runs at 70 %.
    let lists = ["mod", "min", "sketch", "bsw"].map(|method| pairs(&kept, method));
    let table = &exhibit(&of, "table-2").rows;
    let any: BTreeSet<_> = lists.iter().flatten().collect();
    let all = lists[0]
        .iter()
        .filter(|pair| lists.iter().all(|list| list.contains(*pair)));
    assert_eq!(number(&table[4][1]), any.len() as u64);
    assert_eq!(number(&table[5][1]), all.count() as u64);
    for (n, list) in lists.iter().enumerate() {
        assert_eq!(number(&table[n][1]), list.len() as u64);
        let others = lists.iter().enumerate().filter(|(other, _)| *other != n);
        let others: BTreeSet<_> = others.flat_map(|(_, list)| list).collect();
        let alone = list.iter().filter(|pair| !others.contains(pair)).count();
        assert_eq!(number(&table[n][2]), alone as u64);
    }

    // The documents of Figures 6 and 8 have the means of Figures 5 and 7.
    let mean_of = |figure: &str, method: &str, column: usize| {
        let rows = exhibit(&of, figure).rows.iter();
        let of = rows.filter(|row| row[0] == Cell::from(method));
        let of: Vec<f64> = of.filter_map(|row| row[column].number()).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let at_50 = |figure: &str, method: &str| {
        let mut rows = exhibit(&of, figure).rows.iter();
        let row = rows.find(|row| row[0] == Cell::from(method) && row[1] == Cell::from(50u64));
        row.unwrap()[2].number().unwrap()
    };
    for method in ["sketch:n=10", "bsw:n=1000"] {
        let apart = mean_of("figure-6", method, 2) - at_50("figure-5", method);
        assert!(apart.abs() < 1e-9, "{method} {apart}");
    }
    for method in ["mod:n=500", "min", "sketch", "bsw:n=500"] {
        let apart = mean_of("figure-8", method, 3) - at_50("figure-7", method);
        assert!(apart.abs() < 1e-9, "{method} {apart}");
    }
}

#[test]
fn ye_has_the_numbers_of_the_study() {
    let documents = texts(3);
    let (_held, kept) = ingested(&documents);
    let of = reproduced(Paper::Ye2008, &kept, "out", &Run::default());
    let names = [
        "table-1", "table-2", "table-3", "figure-1", "figure-2", "figure-3", "figure-4",
    ];
    assert_whole(&of, &names);
    let published = [
        ("table-2", 4),
        ("table-3", 11),
        ("figure-2", 2),
        ("figure-4", 2),
    ];
    assert_eq!(of_paper(&of), published);
    let words: usize = documents.iter().map(Vec::len).sum();
    let table = &exhibit(&of, "table-2").rows;
    assert_eq!(number(&table[0][1]), 38);
    assert_eq!(number(&table[3][1]), (words / 38) as u64);
    // The figures of the study are those of `study/figure4.csv` and `summary.csv`.
    let stop = Stop::default();
    let run = Run::default();
    let context = run.context(&stop, &Silent);
    let mut base = pipeline::open(&kept).unwrap();
    let config = lookalike_lab::study::StudyConfig::default();
    let (study, _) = lookalike_lab::study::run(&mut base, &config, &context).unwrap();
    let files = lookalike_lab::report::study_files(&study).unwrap();
    let csv = |name: &str| {
        let (_, content) = files.iter().find(|file| file.0 == name).unwrap();
        let mut reader = csv::Reader::from_reader(&content[..]);
        let rows = reader.records().map(|row| row.unwrap());
        rows.collect::<Vec<_>>()
    };
    let figure = exhibit(&of, "figure-4");
    let lines = csv("figure4.csv");
    assert_eq!(figure.rows.len(), lines.len());
    for (row, line) in figure.rows.iter().zip(&lines) {
        for (cell, column) in [(2, 2), (3, 5), (4, 6)] {
            let expected: f64 = line[column].parse().unwrap();
            assert!((row[cell].number().unwrap() - expected).abs() < 1e-6);
        }
    }
    for (figure, column) in [("figure-2", 7), ("figure-3", 12)] {
        let rows = exhibit(&of, figure).rows.iter();
        let all = |row: &&Vec<Cell>| row[0] == Cell::from("1/16, all words");
        let rows: Vec<_> = rows.filter(all).collect();
        let lines = csv("summary.csv").into_iter();
        let of_all =
            |line: &csv::StringRecord| &line[0] == "1/16" && &line[4] == "all" && &line[2] == "all";
        let lines: Vec<_> = lines.filter(of_all).collect();
        assert!(rows.len() == lines.len() && rows.len() == 10);
        for (row, line) in rows.iter().zip(lines) {
            let expected: Option<f64> = line[column].parse().ok();
            let apart = row[2].number().unwrap_or(0.0) - expected.unwrap_or(0.0);
            assert!(apart.abs() < 1e-6, "{figure}");
        }
    }
}
