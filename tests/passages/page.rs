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
