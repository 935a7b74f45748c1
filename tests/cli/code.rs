//! Programs as documents: `--tokens code` and `--fold identifiers`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{cells_of, rows_of, temporary};

fn lookalike(place: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.current_dir(place).args(line.split(' '));
    command.output().unwrap()
}

fn done(place: &Path, line: &str) -> String {
    let output = lookalike(place, line);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// The beginning of every program below.
const TEMPLATE: &str = "import java.util.*;\n\npublic class Answer {\n  // Reads one number.\n  \
                        public static void main(String[] given) {\n    Scanner scan = new \
                        Scanner(System.in);\n    System.out.println(answer(scan.nextInt()));\n  }\n";

/// The sum of some numbers, with these names.
fn sum([number, sum, each]: [&str; 3]) -> String {
    format!(
        "{TEMPLATE}  static long answer(int {number}) {{\n    long {sum} = 0;\n    for (int {each} = 1; \
         {each} < {number}; {each}++) {{\n      if ({number} % {each} == 0 && {each} != 7) {{ {sum} += {each}; \
         }}\n    }}\n    return {sum}; // \"done\"\n  }}\n}}\n"
    )
}

/// A template must not hide a copy with other names behind a program that has only the template in
/// common.
#[test]
fn a_copy_with_other_names_comes_first_and_a_shared_template_last() {
    let place = temporary();
    let place = place.path();
    let programs = [
        ("alice", sum(["limit", "total", "i"])),
        ("bob", sum(["n", "result", "divisor"])),
        (
            "carol",
            format!(
                "{TEMPLATE}  static long answer(int n) {{ return n <= 1 ? 1 : n * answer(n - 1); }}\n}}\n"
            ),
        ),
    ];
    fs::create_dir(place.join("in")).unwrap();
    for (name, program) in &programs {
        fs::write(place.join(format!("in/{name}.java")), program).unwrap();
    }
    fs::write(place.join("template.java"), TEMPLATE).unwrap();

    // As words, the template counts for more than the copy.
    done(place, "run in -o words --threshold 0.01 --shingle-size 5");
    let best = |out: &str| {
        let mut pairs = cells_of(&place.join(out).join("pairs.tsv"));
        let value = |pair: &std::collections::BTreeMap<String, String>| {
            pair["resemblance"].parse::<f64>().unwrap()
        };
        pairs.retain(|pair| pair["docno_a"] == "alice.java");
        pairs.sort_by(|a, b| value(b).total_cmp(&value(a)));
        pairs
            .into_iter()
            .map(|pair| (pair["docno_b"].clone(), value(&pair)))
            .collect::<Vec<_>>()
    };
    assert_eq!(best("words")[0].0, "carol.java");

    let code = "--tokens code:java --shingle-size 5 --threshold 0.01 --exclude-text template.java";
    done(place, &format!("run in -o names {code}"));
    let names = best("names");
    assert!(
        names.first().is_some_and(|(first, _)| first == "bob.java"),
        "{names:?}"
    );

    done(place, &format!("run in -o code {code} --fold identifiers"));
    let exact = rows_of(&place.join("code"), "exact-duplicates.tsv");
    assert_eq!(exact.len(), 1, "{exact:?}");
    assert!(
        exact[0].contains("alice.java") && exact[0].contains("bob.java"),
        "{exact:?}"
    );
    let carol = best("code");
    assert!(
        carol
            .iter()
            .all(|(name, value)| name == "carol.java" && *value < 0.3),
        "{carol:?}"
    );
    let header = fs::read_to_string(place.join("code/pairs.tsv")).unwrap();
    assert!(
        header.contains("# tokens: code:java\n# fold: identifiers\n"),
        "{header}"
    );

    // Both texts from end to end, where the tokens of both are.
    let line = "diff code alice.java bob.java --json --length 10";
    let found: Value = serde_json::from_str(&done(place, line)).unwrap();
    let passage = &found["passages"]["listed"][0];
    for (side, (_, program)) in ["a", "b"].into_iter().zip(&programs) {
        assert_eq!(
            passage[side]["bytes"],
            serde_json::json!([0, program.trim_end().len()])
        );
    }
    // The template, in text.
    done(place, "passages code --length 20 --of all");
    let matches = cells_of(&place.join("code/matches.tsv"));
    let with_carol = matches.iter().filter(|row| row["docno_b"] == "carol.java");
    let mut seen = 0;
    for row in with_carol {
        let at = |name: &str| row[name].parse::<usize>().unwrap();
        let of = |docno: &str| {
            let found = programs
                .iter()
                .find(|(name, _)| docno == format!("{name}.java"));
            &found.unwrap().1
        };
        let a = &of(&row["docno_a"])[at("begin_byte_a")..at("end_byte_a")];
        let b = &of(&row["docno_b"])[at("begin_byte_b")..at("end_byte_b")];
        // Up to the names of the last function, and on to its body.
        for text in [a, b] {
            assert!(
                text.starts_with(TEMPLATE.trim_end()) && text.ends_with(") {"),
                "{text}"
            );
        }
        seen += 1;
    }
    assert_eq!(seen, 2);
    let refused = lookalike(place, "passages code --length 20 --remove -o kept");
    assert!(!refused.status.success());
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        message.contains("no text is removed from programs"),
        "{message}"
    );
}

#[test]
fn operators_tell_programs_apart() {
    let place = temporary();
    let place = place.path();
    fs::create_dir(place.join("in")).unwrap();
    let texts = [
        "x + 3",
        "x - 3",
        "C++",
        "C#",
        "x  +\n\t3",
        "f('+')",
        "f('-')",
        "f(\"+\")",
    ];
    for (at, text) in texts.iter().enumerate() {
        fs::write(place.join(format!("in/{at}.txt")), text).unwrap();
    }
    done(place, "run in -o code --tokens code");
    let exact = rows_of(&place.join("code"), "exact-duplicates.tsv");
    assert_eq!(exact.len(), 1, "{exact:?}");
    assert!(
        exact[0].contains("0.txt") && exact[0].contains("4.txt"),
        "{exact:?}"
    );
    for (flags, says) in [
        ("--tokens code:cobol", "`cobol` is not a language"),
        ("--tokens code --fold compat", "--tokens code has no compat"),
        (
            "--fold identifiers",
            "--tokens words has no identifiers and literals",
        ),
    ] {
        let refused = lookalike(place, &format!("run in -o other {flags}"));
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            !refused.status.success() && message.contains(says),
            "{flags}: {message}"
        );
    }
}

/// With `auto`, each document has the tokens that a run of the documents of its kind alone gives it.
#[test]
fn names_decide_on_tokens() {
    let place = temporary();
    let place = place.path();
    let kinds = [
        ("code:java", vec!["java"]),
        ("code:python", vec!["py", "pyi"]),
        ("code:c", vec!["c", "hpp"]),
        ("code:shell", vec!["sh"]),
        ("code", vec!["kt"]),
        ("words", vec!["txt", "md"]),
    ];
    let texts = [
        sum(["limit", "total", "i"]),
        sum(["limit", "total", "i"])
            .replace("<", "<=")
            .to_uppercase(),
        format!("# It's said: {}", sum(["n", "result", "divisor"])),
        "'''Any \"text\"''' # with\n quotes // and `others`".repeat(3),
    ];
    let file = |extension: &str, n: usize| format!("{extension}/d{n}.{extension}");
    for (kind, extensions) in &kinds {
        for extension in extensions {
            for (n, text) in texts.iter().enumerate() {
                for directory in ["in", kind] {
                    let path = place
                        .join(directory.replace(':', "-"))
                        .join(file(extension, n));
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    // No exact duplicate of a document of another kind.
                    fs::write(path, format!("{extension} {text}")).unwrap();
                }
            }
        }
    }
    let flags = "--shingle-size 3 --threshold 0.05";
    let said = done(place, &format!("run in -o out --tokens auto {flags}"));
    let line =
        "Tokens by name: code 4, code:c 8, code:java 4, code:python 8, code:shell 4, words 8.";
    assert!(said.contains(line), "{said}");
    let summary = fs::read_to_string(place.join("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["ingest"]["tokens"]["code:python"], 8);
    let all = |out: &str| cells_of(&place.join(out).join("pairs.tsv"));
    let found = all("out");
    let mut compared = 0;
    for (kind, extensions) in &kinds {
        let directory = kind.replace(':', "-");
        let out = format!("out-{directory}");
        done(
            place,
            &format!("run {directory} -o {out} --tokens {kind} {flags}"),
        );
        let of_kind = |name: &str| {
            extensions
                .iter()
                .any(|e| name.starts_with(&format!("{e}/")))
        };
        let mine = |pairs: Vec<std::collections::BTreeMap<String, String>>| {
            let mut pairs: Vec<[String; 6]> = pairs
                .into_iter()
                .filter(|pair| of_kind(&pair["docno_a"]) && of_kind(&pair["docno_b"]))
                .map(|pair| {
                    [
                        "docno_a",
                        "docno_b",
                        "resemblance",
                        "shared",
                        "shingles_a",
                        "shingles_b",
                    ]
                    .map(|column| pair[column].clone())
                })
                .collect();
            pairs.sort();
            pairs
        };
        let (known, found) = (mine(all(&out)), mine(found.clone()));
        assert_eq!(found, known, "{kind}");
        compared += known.len();
    }
    assert!(compared > 12, "{compared}");

    // The same text by two rules.
    let line = "diff out java/d0.java txt/d0.txt --json --length 3";
    let both: Value = serde_json::from_str(&done(place, line)).unwrap();
    assert!(both["passages"]["total"].as_u64().unwrap() > 0, "{both}");
    done(place, "diff out java/d0.java txt/d0.txt");
    done(place, "report out");
    done(place, "passages out --length 4 --of all");
    assert!(!cells_of(&place.join("out/matches.tsv")).is_empty());
    // A file that is asked for has a name, too.
    let asked = done(place, "query out in/py/d2.py");
    let same = "d2.py\tpy/d2.py\tidentical\t1.000000\t";
    assert!(asked.lines().any(|line| line.starts_with(same)), "{asked}");

    for line in [
        "passages out --length 4 --remove -o kept",
        "contamination in --against in/txt --tokens auto -o contaminated",
    ] {
        let refused = lookalike(place, line);
        assert_eq!(refused.status.code(), Some(2), "{line}");
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains("tokens"), "{line}: {message}");
    }
}

/// The name of a template decides on its tokens, too, which surprises who calls it `.txt`.
#[test]
fn a_template_that_is_cut_into_words_is_told() {
    let place = temporary();
    let place = place.path();
    fs::create_dir(place.join("in")).unwrap();
    for (n, names) in [["a", "b", "c"], ["x", "y", "z"]].into_iter().enumerate() {
        let text = format!("{TEMPLATE}{}", sum(names));
        fs::write(place.join(format!("in/{n}.java")), text).unwrap();
    }
    for (name, tells) in [("template.txt", true), ("Template.java", false)] {
        fs::write(place.join(name), TEMPLATE).unwrap();
        let line = format!("run in -o out-{name} --tokens auto --exclude-text {name}");
        let output = lookalike(place, &line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let note = format!("{name} is excluded as words");
        assert_eq!(said.contains(&note), tells, "{said}");
    }
}
