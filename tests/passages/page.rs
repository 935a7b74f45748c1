//! The page of a search for passages: every shared passage, in both texts.

use std::fs;

use super::support::{call, passages, tokens};
use crate::common::temporary;

/// Words that occur nowhere else.
fn words(name: &str, n: usize) -> String {
    (0..n).map(|at| format!("{name}{at} ")).collect()
}

/// The text between tags, with single spaces.
fn plain(markup: &str) -> String {
    let texts = markup.split('<').filter_map(|piece| piece.split_once('>'));
    let text: String = texts.map(|(_, text)| text.to_owned() + " ").collect();
    let words: Vec<String> = tokens(&text).into_iter().map(|(_, word)| word).collect();
    words.join(" ")
}

#[test]
fn every_shared_passage_is_shown_in_both_texts() {
    let place = temporary();
    let at = place.path();
    fs::create_dir(at.join("essays")).unwrap();
    let (first, second, third) = (words("p", 40), words("q", 25), words("r", 20));
    let write = |name: &str, text: String| fs::write(at.join("essays").join(name), text).unwrap();
    write(
        "a.txt",
        format!("{}{first}{}{second}", words("a", 30), words("b", 9)),
    );
    // Moved, and written with other punctuation; and text that looks like markup.
    let loud = second.to_uppercase();
    write(
        "b.txt",
        format!(
            "{loud}. <script>{}\n\n{first}{}",
            words("c", 20),
            words("d", 50)
        ),
    );
    write("c.txt", format!("{}{third}", words("e", 40)));
    write("d.txt", format!("{third}{}", words("f", 40)));
    write("e.txt", words("g", 60));
    let found = passages(at, "essays -o shared --length 15");
    assert_eq!(
        (&found["pairs"], &found["matches"]),
        (&2.into(), &3.into()),
        "{found}"
    );
    let report = |arguments: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"));
        let output = command
            .current_dir(at)
            .arg("report")
            .args(arguments.split(' '))
            .output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(at.join("shared/report.html")).unwrap()
    };
    let page = report("shared");
    assert!(!page.contains("<script>c0"), "{page}");
    // The pair with more shared words comes first.
    let (head, pairs) = page.split_once("id=\"pair-0-1\"").unwrap();
    let (one, other) = pairs.split_once("id=\"pair-2-3\"").unwrap();
    assert!(
        plain(head).contains("2 pairs of documents share a passage"),
        "{head}"
    );
    assert!(
        plain(one).contains("shared 65 words of the first document 62 5"),
        "{}",
        plain(one)
    );
    for (pair, expected) in [(one, vec![&first, &second]), (other, vec![&third])] {
        let shown: Vec<&str> = pair.split("<h3>").skip(1).collect();
        assert_eq!(shown.len(), expected.len());
        for (shown, passage) in shown.into_iter().zip(expected) {
            let passage = plain(&format!("<>{passage}"));
            let text = plain(&format!("<{shown}"));
            assert_eq!(text.matches(&passage).count(), 2, "{passage}: {text}");
        }
    }
    // No more than the flag allows, and the rest in numbers.
    let page = report("shared --pairs 1");
    assert!(!page.contains("id=\"pair-2-3\""), "{page}");
    assert!(
        plain(&page).contains("the first 1 of 2 pairs in total"),
        "{}",
        plain(&page)
    );
    // A large number takes no memory for pairs that are not there.
    assert!(report("shared --pairs 400000 --memory 256MiB").contains("id=\"pair-2-3\""));
    // The page of another search is another one.
    let ran = call(at, "shared --length 16 --quiet", None);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(report("shared").contains("at least 16 words"));
}

/// Runs `report` on a directory, and returns its page.
fn page_of(at: &std::path::Path, directory: &str) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"));
    let output = command
        .current_dir(at)
        .args(["report", directory])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::read_to_string(at.join(directory).join("report.html")).unwrap()
}

#[test]
fn pairs_are_ranked_with_the_later_document_first() {
    let place = temporary();
    let at = place.path();
    let (shared, less, same) = (words("p", 40), words("q", 20), words("r", 16));
    let rows = [
        ("old", "2020-01-31", format!("{shared}{}", words("a", 40))),
        (
            "new",
            "2021-02-03T04:05:06Z",
            format!("{}{shared}", words("b", 120)),
        ),
        ("first", "soon", format!("{less}{}", words("c", 20))),
        ("second", "2019-01-01", format!("{less}{}", words("d", 60))),
        ("one", "2022-01-01", format!("{same}{}", words("e", 20))),
        ("two", "2022-01-01", format!("{same}{}", words("f", 20))),
    ];
    let lines = rows.map(|(id, date, text)| {
        serde_json::json!({"id": id, "title": format!("Title {id}"), "date": date, "text": text}).to_string()
    });
    fs::write(at.join("in.jsonl"), lines.join("\n")).unwrap();
    passages(at, "in.jsonl -o shared --length 15");
    let page = page_of(at, "shared");
    assert!(
        page.contains("<h1>Shared passages of 6\u{a0}documents</h1>"),
        "{page}"
    );
    let (table, _) = page.split_once("<details").unwrap();
    let rows: Vec<String> = table.split("<tr>").skip(2).map(plain).collect();
    assert_eq!(rows.len(), 3, "{table}");
    // The share of each, and the dates, if both are known and differ.
    assert!(
        rows[0].starts_with(
            "1 title new new title old old 40 25 0 50 0 the document 2021 02 03t04 05 06z the other 2020 01 31"
        ),
        "{rows:?}"
    );
    assert!(
        rows[1].starts_with("2 title first first title second second 20 50 0 25 0"),
        "{rows:?}"
    );
    assert!(
        rows[2].starts_with("3 title one one title two two 16 44 4 44 4"),
        "{rows:?}"
    );
    assert!(
        !rows[1].contains("the other") && !rows[2].contains("the other"),
        "{rows:?}"
    );
    for link in ["#pair-0-1", "#pair-2-3"] {
        assert!(table.contains(link), "{link}: {table}");
        assert!(page.contains(&format!("id=\"{}\"", &link[1..])));
    }
    // The names of two documents are a title, and nothing found has no heading.
    passages(at, "in.jsonl -o one --length 30");
    assert!(page_of(at, "one").contains("<h1>Shared passages of Title old and Title new</h1>"));
    passages(at, "in.jsonl -o none --length 90");
    let page = page_of(at, "none");
    assert!(
        !page.contains("<h2>Pairs") && !page.contains("<table"),
        "{page}"
    );
}

#[test]
fn lines_of_a_paragraph_are_joined_and_words_are_whole() {
    let place = temporary();
    let at = place.path();
    fs::create_dir(at.join("in")).unwrap();
    let lines = |name: &str| -> String { (0..60).map(|n| format!("{name}{n}\n")).collect() };
    let shared = lines("p").replace("p20\n", "p20\n\n\n\n");
    for (name, before) in [("a", words("a", 20)), ("b", words("b", 16))] {
        let text = format!(
            "{before}{name}1-{name}2-{name}3-{name}4 {}{shared}",
            words(&format!("x{name}"), 13)
        );
        fs::write(at.join(format!("in/{name}.txt")), text).unwrap();
    }
    passages(at, "in -o shared --length 30");
    let page = page_of(at, "shared");
    // The paragraph before the empty lines is one row, and so is the one after them.
    let (_, pair) = page.split_once("id=\"pair-0-1\"").unwrap();
    let rows: Vec<&str> = pair.split("<div class=\"two-texts\">").skip(1).collect();
    let with = |word: &str| {
        rows.iter()
            .position(|row| plain(row).split(' ').any(|each| each == word))
    };
    assert_eq!(with("p0"), with("p20"), "{pair}");
    assert_eq!(with("p21"), with("p59"), "{pair}");
    assert_ne!(with("p20"), with("p21"), "{pair}");
    // The fifteen words before the passage begin within this one.
    assert!(
        page.contains("<del>a1-a2-a3-a4 xa0 ") && page.contains("<ins>b1-b2-b3-b4 xb0 "),
        "{pair}"
    );
}

/// A page of contamination shows what was found, in both texts, and nothing else.
#[test]
fn contaminated_items_are_shown_beside_their_documents() {
    let place = temporary();
    let at = place.path();
    let json = |fields: serde_json::Value| format!("{fields}\n");
    let (first, second) = (words("p", 30), words("q", 20));
    // The second item has other words in the middle; and texts that look like markup.
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let (before, after) = second.split_at(second.find("q14 ").unwrap());
    let items = [
        json(
            serde_json::json!({"id": "half<b>", "question": format!("{before}other {after}"), "answer": words("r", 20)}),
        ),
        json(
            serde_json::json!({"id": "whole", "question": format!("{first}{hostile}"), "answer": "no"}),
        ),
        json(serde_json::json!({"id": "absent", "question": words("s", 20)})),
    ];
    fs::write(at.join("test.jsonl"), items.concat()).unwrap();
    let documents = [
        json(
            serde_json::json!({"id": "d<i>1", "url": "javascript:alert(3)", "text": format!("{} {first} {hostile} {}", words("a", 70), words("b", 70))}),
        ),
        json(
            serde_json::json!({"id": "d2", "url": "https://example.org/2", "text": format!("{}{second}{hostile}", words("c", 50))}),
        ),
        json(serde_json::json!({"id": "d3", "text": words("e", 50)})),
    ];
    fs::write(at.join("corpus.jsonl"), documents.concat()).unwrap();
    let run = |arguments: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"));
        let output = command
            .current_dir(at)
            .args(arguments.split(' '))
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let found =
        "contamination corpus.jsonl --test-set test.jsonl --fields question,answer -o found";
    assert_eq!(run(&format!("{found} --report")).0, Some(0));
    let page = fs::read_to_string(at.join("found/report.html")).unwrap();
    for part in [
        "<script",
        "<img",
        "<b>half",
        "half<b>",
        "d<i>1",
        "href=\"javascript",
    ] {
        assert!(!page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("href=\"https://example.org/2\""), "{page}");
    let (head, items) = page.split_once("id=\"item-1\"").unwrap();
    let (one, two) = items.split_once("id=\"item-2\"").unwrap();
    let head = plain(head);
    assert!(
        head.contains("2 of 3 test items are in the corpus"),
        "{head}"
    );
    // All 41 words of one item, and a run of 14 of the 41 words of the other.
    assert!(
        head.contains("1 whole corpus jsonl 1 41 100 0 100 0 1"),
        "{head}"
    );
    assert!(
        head.contains("2 half lt b gt corpus jsonl 2 41 34 1 34 1 1"),
        "{head}"
    );
    let texts = [
        (one, vec![first.clone()]),
        (two, vec![before.to_string(), after.to_string()]),
    ];
    for (item, shared) in texts {
        let item = plain(&format!("<{item}"));
        for shared in shared {
            let shared = plain(&format!("<>{shared}"));
            assert_eq!(item.matches(&shared).count(), 2, "{shared}: {item}");
        }
    }
    assert!(
        !two.contains("r3 ") && !page.contains("a20 ") && page.contains("a40 "),
        "{page}"
    );
    // Another search removes the page, and says so; nothing found has no headings.
    let (_, said) = run(&format!("{found} --ngram 12"));
    assert!(
        said.contains("report.html was about the last search, and is removed"),
        "{said}"
    );
    assert!(!at.join("found/report.html").exists());
    let (code, said) = run("report found");
    assert!(code == Some(2) && said.contains("add --report"), "{said}");
    assert_eq!(
        run(&format!(
            "{found} --ngram 100 --least 100 --report=none.html"
        ))
        .0,
        Some(0)
    );
    let page = fs::read_to_string(at.join("none.html")).unwrap();
    assert!(
        !page.contains("<h2") && !page.contains("<details"),
        "{page}"
    );
    for (page, why) in [
        ("test.jsonl", "this command reads it"),
        ("no/page.html", "create it first"),
    ] {
        let (code, said) = run(&format!("{found} --report={page}"));
        assert!(
            code == Some(2) && said.contains(page) && said.contains(why),
            "{said}"
        );
    }
}

/// The clusters of reuses come first, with their places in the order of time.
#[test]
fn clusters_say_where_a_text_was_printed_first() {
    let place = temporary();
    let at = place.path();
    let (news, poem) = (words("p", 40), words("q", 20));
    let rows = [
        (
            "late",
            Some("1871-01-02"),
            format!("{news}{}", words("a", 9)),
        ),
        (
            "monthly",
            Some("1870-03"),
            format!("{}{news}", words("b", 7)),
        ),
        ("daily", Some("1870-03-05"), format!("{news}{poem}")),
        ("book", None, news.clone()),
        ("odd", Some("spring"), poem.clone()),
    ];
    let lines = rows.map(|(id, date, text)| {
        serde_json::json!({"id": id, "date": date, "text": text}).to_string()
    });
    fs::write(at.join("in.jsonl"), lines.join("\n")).unwrap();
    let ran = call(at, "in.jsonl -o out --length 15 --gap 3 --report", None);
    assert!(
        ran.stderr
            .contains("1 date cannot be read, such as `spring` of odd;"),
        "{ran:?}"
    );
    let places = fs::read_to_string(at.join("out/reuse-places.tsv")).unwrap();
    let rows: Vec<&str> = places
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert!(
        rows[1].starts_with("0\t1870-03\tmonthly\t7\t47\t"),
        "{places}"
    );
    assert!(rows[1].ends_with("\t1\t40\t1.000000"), "{places}");
    let page = fs::read_to_string(at.join("out/report.html")).unwrap();
    let (_, clusters) = page.split_once("id=\"clusters\"").unwrap();
    let (clusters, _) = clusters.split_once("id=\"pairs\"").unwrap();
    let (first, second) = clusters.split_once("id=\"cluster-1\"").unwrap();
    let text = plain(first);
    for part in [
        "4 documents 1870 03 p0 p1 p2",
        "these dates do not say which document is the earliest",
        "1870 03 monthly 40 40 100 0 1870 03 05 daily 40 40 100 0 pair 1871 01 02 late 40 40",
        "undated book 40 40 100 0 pair",
        "lookalike diff out monthly daily passages length 8",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(first.contains("href=\"#pair-1-2\""), "{first}");
    let text = plain(second);
    assert!(
        text.contains("1870 03 05 daily 20 20 100 0") && text.contains("undated odd 20 20"),
        "{text}"
    );
    // No more clusters than the flag says.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command
        .current_dir(at)
        .args(["report", "out", "--clusters", "1"]);
    assert!(command.status().unwrap().success());
    let page = plain(&fs::read_to_string(at.join("out/report.html")).unwrap());
    assert!(page.contains("the first 1 of 2 clusters"), "{page}");
}

/// A text in many documents takes one row, and the other cases follow it.
#[test]
fn copies_of_one_text_do_not_hide_other_pairs() {
    let place = temporary();
    let at = place.path();
    let (many, few) = (words("m", 30), words("n", 20));
    fs::create_dir_all(at.join("in")).unwrap();
    for n in 0..5 {
        let text = format!("{}{many}", words(&format!("a{n}"), 9));
        fs::write(at.join(format!("in/copy{n}.txt")), text).unwrap();
    }
    for name in ["x", "y"] {
        fs::write(at.join(format!("in/{name}.txt")), format!("{few}{name}")).unwrap();
    }
    let ran = call(at, "in -o out --length 15 --where true --report", None);
    let (_, table) = ran.stdout.split_once("shares with").unwrap();
    let rows: Vec<String> = table
        .lines()
        .skip(1)
        .map(|line| {
            tokens(line)
                .into_iter()
                .map(|(_, word)| word)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert!(rows[0].starts_with("copy0 txt copy1 txt 30"), "{ran:?}");
    assert!(rows[1].starts_with("x txt y txt 20"), "{ran:?}");
    assert!(rows[2].starts_with("copy0 txt copy2 txt 30"), "{ran:?}");
    let said =
        "words of row 1 are also in at least 3 other documents: copy2.txt, copy3.txt, copy4.txt";
    assert!(table.contains(said), "{ran:?}");
    let page = plain(&page_of(at, "out"));
    assert!(
        page.contains("words of row 1 are also in at least 3 other documents copy2 txt"),
        "{page}"
    );
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command
        .current_dir(at)
        .args(["show", "out", "copy3.txt", "--most", "1"]);
    let shown = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let said = "passages          in common with 4 documents (overlaps.tsv)\n  copy0.txt  30 words of this document (76.9 %)\n";
    assert!(shown.ends_with(said), "{shown}");
}
