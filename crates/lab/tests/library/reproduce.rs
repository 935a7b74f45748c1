//! The reproductions of Chowdhury et al. 2002 and Kołcz & Chowdhury 2008 on a small collection.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{self, Run};
use crate::methods::{corpus, keeping, write};
use crate::papers::of_paper;
use lookalike::base::progress::{Silent, Stop};
use lookalike_lab::reproduce::{self, Cell, Finding, Form, Paper, Reproduction};

fn made(paper: Paper, place: &Path, name: &str, run: &Run, labels: Option<&Path>) -> Reproduction {
    let (stop, silent) = (Stop::default(), Silent);
    let context = run.context(&stop, &silent);
    let out = place.join(name);
    std::fs::create_dir_all(&out).unwrap();
    reproduce::run(paper, &place.join("kept"), &out, labels, &context).unwrap()
}

/// Everything but seconds, as text.
fn text(of: &Reproduction) -> String {
    let mut text = format!("{} {}\n", of.documents, of.representatives);
    for claim in of
        .claims
        .iter()
        .filter(|claim| !claim.here.contains("seconds"))
    {
        text += &format!("{} {} {}\n", claim.place, claim.finding, claim.here);
    }
    for exhibit in &of.exhibits {
        for row in &exhibit.rows {
            let cells = row.iter().zip(&exhibit.columns);
            let kept = cells.filter(|(_, column)| column.form != Form::Seconds);
            let cells: Vec<String> = kept.map(|(cell, _)| format!("{cell:?}")).collect();
            text += &format!("{} {}\n", exhibit.name, cells.join(" "));
        }
    }
    text
}

/// The exhibits of a paper, and whether each has rows.
fn rows(of: &Reproduction) -> BTreeMap<&str, bool> {
    for exhibit in &of.exhibits {
        assert!(
            exhibit
                .rows
                .iter()
                .all(|row| row.len() == exhibit.columns.len())
        );
        assert!(!exhibit.about.is_empty(), "{}", exhibit.name);
    }
    let all = of.exhibits.iter();
    all.map(|exhibit| (exhibit.name.as_str(), !exhibit.rows.is_empty()))
        .collect()
}

fn cell<'a>(of: &'a Reproduction, exhibit: &str, row: usize, column: &str) -> &'a Cell {
    let exhibit = of.exhibits.iter().find(|of| of.name == exhibit).unwrap();
    let at = exhibit
        .columns
        .iter()
        .position(|of| of.name == column)
        .unwrap();
    &exhibit.rows[row][at]
}

#[test]
fn the_papers_on_i_match_are_reproduced() {
    let documents = corpus(9);
    let directory = common::temporary();
    let place = directory.path();
    write(&documents, &place.join("in.jsonl"));
    keeping()
        .ingest(&[&place.join("in.jsonl")], &place.join("kept"))
        .unwrap();
    let labels: Vec<String> = documents
        .iter()
        .enumerate()
        .map(|(n, (id, _))| format!("{id}\t{}\n", ["spam", "news", "letters"][n % 3]))
        .collect();
    let file = place.join("labels.tsv");
    std::fs::write(&file, labels.concat()).unwrap();
    let labels = Some(file.as_path());

    let chowdhury = made(Paper::Chowdhury2002, place, "a", &keeping(), None);
    let drawings = ["figure-2", "figure-3", "table-10"];
    let there = rows(&chowdhury);
    assert_eq!(there.len(), 16);
    for (name, has) in there {
        assert_eq!(has, !drawings.contains(&name), "{name}");
    }
    assert_eq!(chowdhury.claims.len(), 18);
    let published = [
        ("table-1", 4),
        ("table-2", 32),
        ("table-3", 11),
        ("table-4", 11),
        ("section-4.3", 15),
        ("figure-4", 1),
        ("table-5", 10),
        ("table-6", 10),
        ("table-7", 4),
        ("table-8", 4),
        ("table-9", 53),
        ("table-11", 10),
    ];
    assert_eq!(of_paper(&chowdhury), published);
    // Without filters, the copies that are found are those with the same set of tokens.
    let share = cell(&chowdhury, "table-2", 0, "lexicon");
    assert_eq!(share, &Cell::Number(1.0));
    let ten = chowdhury
        .exhibits
        .iter()
        .find(|of| of.name == "table-3")
        .unwrap();
    // Ten originals and their average at three rates, and the same of the paper.
    assert_eq!(ten.rows.len(), 3 * 11 + 11);
    assert_eq!(
        cell(&chowdhury, "table-9", 0, "duplicates_paper"),
        &Cell::Count(60)
    );
    assert_eq!(
        cell(&chowdhury, "table-9", 0, "same_address"),
        &Cell::Nothing
    );

    let kolcz = made(Paper::Kolcz2008, place, "a", &keeping(), labels);
    let there = rows(&kolcz);
    assert_eq!(there.len(), 11);
    let without = ["figure-1", "figure-5", "table-3"];
    for (name, has) in there {
        assert_eq!(has, !without.contains(&name), "{name}");
    }
    let published = [
        ("table-1", 3),
        ("figure-3", 1),
        ("figure-4", 1),
        ("table-2", 4),
        ("figure-6", 4),
        ("table-4", 3),
    ];
    assert_eq!(of_paper(&kolcz), published);
    // Mail can be tested with labels alone.
    let of_mail = |of: &Reproduction| {
        let tables = ["table-2", "table-3"];
        let claims = of.claims.iter();
        let claims = claims.filter(|claim| tables.contains(&claim.exhibit.as_str()));
        claims.map(|claim| claim.finding).collect::<Vec<_>>()
    };
    let found = of_mail(&kolcz);
    assert!(found[0] != Finding::Untested && found[2..] == [Finding::Untested; 2]);
    let bare = made(Paper::Kolcz2008, place, "b", &keeping(), None);
    assert_eq!(of_mail(&bare), [Finding::Untested; 4]);

    // The same by other threads and less memory.
    let run = keeping().threads(3);
    for (paper, first, labels) in [
        (Paper::Chowdhury2002, &chowdhury, None),
        (Paper::Kolcz2008, &kolcz, labels),
    ] {
        let other = directory.path().join("other");
        std::fs::create_dir_all(&other).unwrap();
        let input = place.join("in.jsonl");
        run.ingest(&[&input], &other.join("kept")).unwrap();
        let again = made(paper, &other, "out", &run, labels);
        assert_eq!(text(first), text(&again), "{paper}");
    }
}
