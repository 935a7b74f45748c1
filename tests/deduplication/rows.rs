//! Rows of CSV and TSV keep their bytes, and every command works on them.

use std::fs;

use super::support::{call, dedup, done, place};

/// Returns the kept and the removed records of a file.
fn split(name: &str, text: &str, more: &str) -> (String, Option<String>) {
    let (_place, place) = place(&[(&format!("in/{name}"), text.as_bytes())]);
    dedup(&place, &format!("in -o kept --removed removed {more}"));
    let read = |directory: &str| fs::read_to_string(place.join(directory).join(name));
    (read("kept").unwrap(), read("removed").ok())
}

/// The second row has the words of the first one.
#[test]
fn rows_keep_their_bytes_and_outputs_have_the_header() {
    for end in ["\n", "\r\n"] {
        let rows = [
            "1,\"alpha, \"\"beta\"\"\ngamma\",x",
            "2,Alpha beta gamma,",
            "",
            "\t9,\"not closed",
            "\"3\",\"delta\",\"\"",
            "4,  delta ,y",
        ]
        .map(|row| format!("{row}{end}"));
        let of = |numbers: &[usize]| {
            let rows = numbers.iter().map(|&n| &*rows[n]);
            format!("\u{feff}id,text,n{end}{}", rows.collect::<String>())
        };
        let input = of(&[0, 1, 2, 3, 4, 5]);
        for (more, kept, removed) in [
            ("", &[0, 2, 3, 4][..], &[1, 5][..]),
            ("--keep last", &[1, 2, 3, 5], &[0, 4]),
            ("--keep prefer:n=y", &[0, 2, 3, 5], &[1, 4]),
            ("--rejects drop", &[0, 2, 4], &[1, 3, 5]),
        ] {
            let found = split("a.csv", &input, more);
            assert_eq!(found.0, of(kept), "{more}");
            assert_eq!(found.1, Some(of(removed)), "{more}");
        }
    }
    let input = "7\t\"alpha\n8\tAlpha\n9\tbeta";
    let found = split("a.tsv", input, "");
    assert_eq!(
        found,
        ("7\t\"alpha\n9\tbeta".into(), Some("8\tAlpha\n".into()))
    );
    let found = split("a.tsv", input, "--keep last");
    assert_eq!(
        found,
        ("8\tAlpha\n9\tbeta".into(), Some("7\t\"alpha\n".into()))
    );
}

#[test]
fn every_command_works_on_rows() {
    let words = "one two three four five six seven eight nine ten eleven twelve";
    let table = format!(
        "key,text\na,\"{words}\"\nb,\"First, \"\"words\"\"\nof another kind {words}\"\nc,{words}!\n"
    );
    let set = format!("id,question\nq,\"{words}\"\n");
    let (_place, place) = place(&[
        ("t.csv", table.as_bytes()),
        ("more.csv", format!("key,text\nd,\"{words}.\"\n").as_bytes()),
        ("set.csv", set.as_bytes()),
        ("x/t.csv", table.as_bytes()),
    ]);
    done(&place, "run t.csv -o out --id-field key --quiet");
    assert!(
        done(&place, "show out b --text-only")
            .stdout
            .starts_with("First, \"words\"\nof another kind one")
    );
    assert!(
        done(&place, "show out t.csv:3")
            .stdout
            .contains("representative    a\n")
    );
    assert_eq!(call(&place, "diff out a b").code, Some(0));
    let found = done(&place, "query out more.csv").stdout;
    assert!(found.contains("\nd\ta\tsame words\t"), "{found}");
    done(&place, "add out more.csv --quiet");
    let documents = fs::read_to_string(place.join("out/documents.tsv")).unwrap();
    assert!(
        documents.contains("\nd\t") && documents.contains("\tmore.csv\t1\t9\n"),
        "{documents}"
    );
    done(
        &place,
        "passages t.csv -o shared --length 10 --id-field key --quiet",
    );
    let matches = fs::read_to_string(place.join("shared/matches.tsv")).unwrap();
    assert!(
        matches.contains("\ta\t") || matches.contains("\na\t"),
        "{matches}"
    );
    done(
        &place,
        "contamination t.csv --against set.csv --fields question --ngram 8 -o leaks --quiet",
    );
    let found = fs::read_to_string(place.join("leaks/contaminated.jsonl")).unwrap();
    assert!(found.contains("\"documents\":3,"), "{found}");
    // What cannot be done is refused before anything is read.
    let annotated = call(&place, "dedup x -o kept --annotate");
    assert_eq!(annotated.code, Some(2));
    assert!(
        annotated.stderr.contains("its format is CSV or TSV"),
        "{annotated:?}"
    );
    let removed = call(&place, "passages x --remove -o kept");
    assert!(
        removed.code != Some(0) && removed.stderr.contains("CSV or TSV"),
        "{removed:?}"
    );
}
