//! Documents with the same words are identical, or they are not, everywhere.

use std::fs;

use serde_json::{Value, json};

use super::support::{done, lines, place};
use crate::common::rows_of;

/// Texts with the same words, in groups of equal ones by letter.
const TEXTS: [(&str, &str); 6] = [
    (
        "a",
        "We compared C++ with C# in 12 programs, and one of them was faster.",
    ),
    (
        "b",
        "We compared C# with C++ in 12 programs, and one of them was faster.",
    ),
    (
        "a",
        "We compared C++ with C# in 12 programs, and one of them was faster.",
    ),
    (
        "c",
        "we compared C++ with C# in 12 programs, and one of them was faster.",
    ),
    (
        "b",
        "We compared C# with C++ in 12 programs, and one of them was faster.",
    ),
    (
        "a",
        "We compared C++ with C# in 12 programs, and one of them was faster.",
    ),
];

/// Writes the texts as JSON lines. Documents are called by their group and place.
fn write(file: &std::path::Path) {
    let lines = TEXTS.iter().enumerate().map(|(at, (group, text))| {
        json!({"id": format!("{group}{at}"), "text": text}).to_string() + "\n"
    });
    fs::write(file, lines.collect::<String>()).unwrap();
}

fn kind(group: &str, other: &str) -> &'static str {
    match group == other {
        true => "identical",
        false => "same words",
    }
}

#[test]
fn every_answer_tells_identical_from_same_words() {
    let (_guard, place) = place(&[]);
    write(&place.join("in.jsonl"));
    let said = done(&place, "run in.jsonl -o run").stdout;
    let rows = rows_of(&place.join("run"), "exact-duplicates.tsv");
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let cells: Vec<_> = row.split('\t').collect();
            (cells[0], cells[3])
        })
        .collect();
    let expected: Vec<_> = ["b1", "a2", "c3", "b4", "a5"]
        .map(|of| (of, kind("a", &of[..1])))
        .into();
    assert_eq!(found, expected);
    let summary = fs::read_to_string(place.join("run/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["cluster"]["identical"], 2);
    assert!(
        said.contains("2 identical copies, 3 with the same words"),
        "{said}"
    );

    // Survivors may be any document of a group.
    for (keep, survivor) in [("first", "a0"), ("last", "a5"), ("max:n", "b4")] {
        let ranked = TEXTS.iter().enumerate().map(|(at, (group, text))| {
            let n = u8::from(at == 4);
            json!({"id": format!("{group}{at}"), "text": text, "n": n}).to_string() + "\n"
        });
        fs::write(place.join("ranked.jsonl"), ranked.collect::<String>()).unwrap();
        let to = format!("kept-{}", &keep[..3]);
        done(
            &place,
            &format!("dedup ranked.jsonl -o {to} --removed {to}-gone --keep {keep} --quiet"),
        );
        let removed = lines(&place.join(format!("{to}-gone/removed.jsonl")));
        assert_eq!(removed.len(), 5);
        for line in removed {
            let [docno, by] =
                [&line["docno"], &line["survivor"]["docno"]].map(|v| v.as_str().unwrap());
            assert_eq!(by, survivor);
            assert_eq!(line["reason"], kind(&docno[..1], &by[..1]), "{line}");
            assert_eq!(line["resemblance"], 1.0);
        }
    }

    // Query, with the index and without.
    for _ in 0..2 {
        let text = TEXTS[1].1;
        fs::write(
            place.join("q.jsonl"),
            json!({"id": "q", "text": text}).to_string(),
        )
        .unwrap();
        for (input, expected) in [("q.jsonl", "same words"), ("in.jsonl", "identical")] {
            let said = done(&place, &format!("query run {input} --json --quiet")).stdout;
            let answer: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
            assert_eq!(answer["matches"][0]["match"], expected, "{said}");
        }
        done(&place, "stage index run --quiet");
    }

    // Two documents, and one.
    let says = |other| done(&place, &format!("diff run a0 {other}")).stdout;
    assert!(says("a2").contains("The documents are identical"));
    assert!(says("c3").contains("The documents have the same words. Their texts differ"));
    let shown = done(&place, "show run b1 --json");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        (&shown["exact_duplicates"]["total"], &shown["identical"]),
        (&json!(5), &json!(1))
    );
}

/// Charset and byte order mark are not part of a text, and neither are tags within a line; white
/// space, case and tags that break lines are.
#[test]
fn the_text_as_read_is_compared() {
    let (_guard, place) = place(&[]);
    let text = "Ein Bär geht über die Straße, und zwölf Männer schauen ihm nach.";
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let html = |tag: &str| {
        format!("<html><head><meta charset=utf-8></head><{tag}>{text}</{tag}></html>").into_bytes()
    };
    fs::create_dir(place.join("in")).unwrap();
    for (name, bytes) in [
        ("1.txt", text.as_bytes().to_vec()),
        ("2.txt", latin),
        ("3.txt", format!("\u{feff}{text}").into_bytes()),
        ("4.html", html("b")),
        ("4b.html", html("i")),
        ("5.txt", text.replace(' ', "  ").into_bytes()),
        ("6.txt", format!("{text}\n").into_bytes()),
    ] {
        fs::write(place.join("in").join(name), bytes).unwrap();
    }
    done(&place, "run in -o run --quiet");
    let rows = rows_of(&place.join("run"), "exact-duplicates.tsv");
    let rows: Vec<_> = rows
        .iter()
        .map(|row| row.rsplit('\t').next().unwrap())
        .collect();
    let (same, words) = ("identical", "same words");
    assert_eq!(rows, [same, same, words, words, words, words]);
    let said = done(&place, "diff run 4.html 4b.html").stdout;
    assert!(said.contains("The documents are identical"), "{said}");
}

/// Different bytes in the place of one U+FFFD were `identical`, and so were texts of JSON in another
/// charset than UTF-8.
#[test]
fn what_is_replaced_is_compared() {
    let (_guard, place) = place(&[]);
    let json = |text: &[u8]| [&b"{\"text\":\""[..], text, b"\"}\n"].concat();
    let mail = |text: &[u8]| {
        let head = "Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n\
                    --b\nContent-Type: text/plain; charset=utf-8\n\n";
        let last = b"\n--b\nContent-Type: text/plain; charset=latin1\n\nfin\xe9\n--b--\n";
        [head.as_bytes(), text, last].concat()
    };
    let plain = |text: &[u8]| text.to_vec();
    let csv = |text: &[u8]| [b"id,text\n1,", text, b"\n"].concat();
    let damaged = |byte: &[u8]| ["l'été à la mer du côté ".as_bytes(), byte, b" de l'eau"].concat();
    let [first, other] = [&b"\xff"[..], b"\xfe"].map(damaged);
    type Wrap<'w> = &'w dyn Fn(&[u8]) -> Vec<u8>;
    let wraps: [(&str, Wrap); 4] = [
        ("jsonl", &json),
        ("eml", &mail),
        ("txt", &plain),
        ("csv", &csv),
    ];
    for (name, wrap) in wraps {
        fs::create_dir(place.join(name)).unwrap();
        for (number, text) in [&first, &other, &first].into_iter().enumerate() {
            fs::write(place.join(format!("{name}/{number}.{name}")), wrap(text)).unwrap();
        }
    }
    // The same damage in each format, and beside other escapes or links.
    fs::create_dir(place.join("damage")).unwrap();
    let author = [b"{\"author\":\"\xe9\",\"text\":\"", &first[..], b"\"}\n"].concat();
    fs::write(place.join("damage/a.jsonl"), author).unwrap();
    for (name, wrap) in wraps.into_iter().filter(|(name, _)| *name != "eml") {
        fs::write(place.join(format!("damage/b.{name}")), wrap(&first)).unwrap();
    }
    let escapes = ["one two é \\ud83d", "one two \\u00e9 \\uD83D"];
    let escapes = escapes.map(|text| json(text.as_bytes())).concat();
    fs::create_dir(place.join("links")).unwrap();
    for number in ["1", "2"] {
        let link = format!("<p>one <a href=\"http://x.org/{number}\">two</a> three \u{ff}</p>");
        let bytes = |text: String| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
        let mail = mail(&bytes(link)).into_iter().map(char::from);
        let mail = mail
            .collect::<String>()
            .replace("plain; charset=utf", "html; charset=utf");
        fs::write(place.join(format!("links/{number}.eml")), bytes(mail)).unwrap();
    }
    // Half a surrogate pair, and Latin-1 in JSON, whose words differ.
    let (cote, cute) = (json(b"la c\xf4te de la mer"), json(b"la c\xfbte de la mer"));
    let halves = [r"one two \ud83d", r"one two \ud83e", r"one two \ud83d"];
    let halves = halves.map(|text| json(text.as_bytes())).concat();
    for (name, bytes) in [
        ("half.jsonl", halves),
        ("latin.jsonl", [&cote[..], &cute, &cote].concat()),
        ("escapes.jsonl", escapes),
    ] {
        fs::write(place.join(name), bytes).unwrap();
    }
    for (input, rows) in [
        ("jsonl", &["same words", "identical"][..]),
        ("eml", &["same words", "identical"]),
        ("txt", &["same words", "identical"]),
        ("csv", &["same words", "identical"]),
        ("half.jsonl", &["same words", "identical"]),
        ("latin.jsonl", &["identical"]),
        ("escapes.jsonl", &["identical"]),
        ("damage", &["identical", "identical", "identical"]),
        ("links", &["identical"]),
    ] {
        done(&place, &format!("run {input} -o {input}.run --quiet"));
        let found = rows_of(&place.join(format!("{input}.run")), "exact-duplicates.tsv");
        let found: Vec<_> = found
            .iter()
            .filter_map(|row| row.rsplit('\t').next())
            .collect();
        assert_eq!(found, rows, "{input}");
    }
}

/// Additions and documents of another collection are compared like others.
#[test]
fn additions_and_other_collections_are_told_apart() {
    let (_guard, place) = place(&[]);
    write(&place.join("in.jsonl"));
    done(&place, "run in.jsonl -o old --quiet");
    done(&place, "stage index old --quiet");
    fs::copy(place.join("in.jsonl"), place.join("new.jsonl")).unwrap();
    done(&place, "run new.jsonl -o new --against old --quiet");
    let against = rows_of(&place.join("new"), "exact-duplicates.tsv");
    done(&place, "add old new.jsonl --quiet");
    let added = rows_of(&place.join("old"), "exact-duplicates.tsv");
    assert_eq!((against.len(), added.len()), (6, 11));
    for row in against.iter().chain(&added) {
        let cells: Vec<_> = row.split('\t').collect();
        assert_eq!(cells[3], kind("a", &cells[0][..1]), "{row}");
    }
}
