//! Characters that nobody sees do not count, composed and decomposed characters are the same, and a
//! directory made under another rule of tokens is refused.

use crate::common;
use lookalike::Error;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline;
use lookalike::tasks::passages::{self, Of, PassagesConfig, Then};
use lookalike::tasks::query::{self, QueryConfig, Reply};

use std::fs;
use std::path::{Path, PathBuf};

use common::{Run, cells_of, rows_of, temporary};

const WORDS: &str = "L'été dernier les élèves de l'école ont présenté un opéra créé à la \
                     médiathèque près de la forêt et le public a été touché par cette soirée";

fn decomposed(text: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    text.nfd().collect()
}

fn write(directory: &Path, files: &[(&str, String)]) -> PathBuf {
    let place = directory.join("in");
    fs::create_dir_all(&place).unwrap();
    for (name, text) in files {
        fs::write(place.join(name), text).unwrap();
    }
    place
}

fn run() -> Run {
    Run::default().shingle_size(3).threshold("0.2")
}

#[test]
fn what_looks_the_same_is_an_exact_duplicate() {
    let within = |mark: &str| WORDS.replace("er", &format!("e{mark}r"));
    let html = |text: &str| format!("<html><body><p>{text}</p></body></html>");
    let files = [
        ("a.txt", WORDS.to_string()),
        ("b.txt", decomposed(WORDS)),
        ("c.txt", within("\u{ad}")),
        ("d.txt", decomposed(&within("\u{200b}"))),
        ("e.txt", within("\u{2060}\u{feff}")),
        ("f.txt", format!("\u{202a}{}\u{202c}", within("\u{200e}"))),
        ("g.html", html(&within("&shy;"))),
        ("h.html", html(&within("&zwnj;&#8203;&#xAD;"))),
        ("i.html", html(&within("<wbr>"))),
        (
            "j.html",
            html(&decomposed(WORDS).replace('\u{301}', "<b>&#x301;</b>")),
        ),
        (
            "k.jsonl",
            format!(
                "{}\n",
                serde_json::json!({"text": within("\u{200d}\u{fe0f}")})
            ),
        ),
        ("l.txt", WORDS.to_uppercase()),
    ];
    let directory = temporary();
    let input = write(directory.path(), &files);
    for tokens in ["words", "whitespace", "bytes:9"] {
        let out = directory.path().join(tokens);
        run().tokens(tokens).run(&[&input], &out).unwrap();
        let expected = match tokens {
            "words" => files.len() - 1,
            // Capitals differ.
            "whitespace" => files.len() - 2,
            // Bytes differ: only `<wbr>` leaves none, and entities are those of the files.
            _ => 3,
        };
        let found = rows_of(&out, "exact-duplicates.tsv");
        assert_eq!(found.len(), expected, "{tokens}: {found:?}");
    }
}

#[test]
fn folding_is_a_parameter_of_the_collection() {
    let directory = temporary();
    let full: String = "the first file of five offices affords fine work 12"
        .chars()
        .map(|c| match c {
            '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap(),
            c => c,
        })
        .collect();
    let files = [
        (
            "a.txt",
            "the first file of five offices affords fine work 12".to_string(),
        ),
        (
            "b.txt",
            "the ﬁrst ﬁle of ﬁve oﬃces aﬀords ﬁne work ⑫".to_string(),
        ),
        ("c.txt", full),
    ];
    let input = write(directory.path(), &files);
    let plain = directory.path().join("plain");
    run().run(&[&input], &plain).unwrap();
    assert_eq!(rows_of(&plain, "exact-duplicates.tsv").len(), 0);
    let pairs = fs::read_to_string(plain.join("pairs.tsv")).unwrap();
    assert!(!pairs.contains("# fold"), "{pairs}");

    let out = directory.path().join("folded");
    let mut folded = run();
    folded.collection.shingle.parse.fold = "compat".parse().unwrap();
    folded
        .run(&[&input.join("a.txt"), &input.join("b.txt")], &out)
        .unwrap();
    assert_eq!(rows_of(&out, "exact-duplicates.tsv").len(), 1);
    for name in ["pairs.tsv", "documents.tsv", "exact-duplicates.tsv"] {
        let text = fs::read_to_string(out.join(name)).unwrap();
        assert!(text.contains("# tokens: words\n# fold: compat\n"), "{text}");
    }
    let refused = run().run(&[&input.join("a.txt"), &input.join("b.txt")], &out);
    match refused.unwrap_err() {
        Error::Incompatible {
            name,
            expected,
            found,
            ..
        } => {
            assert_eq!([&*name, &*expected, &*found], ["--fold", "none", "compat"]);
        }
        other => panic!("{other}"),
    }
    // Whoever reads documents for the directory folds them.
    assert!(queried(&folded, &out, &input.join("c.txt")).unwrap() > 0);
    let inputs = pipeline::inputs(&[input.join("c.txt")], &out).unwrap();
    pipeline::add(
        &out,
        &inputs,
        false,
        None,
        &folded.context(&Stop::default(), &Silent),
    )
    .unwrap();
    assert_eq!(rows_of(&out, "exact-duplicates.tsv").len(), 2);

    folded.collection.shingle.parse.tokens = "bytes:8".parse().unwrap();
    match folded.run(&[&input], &directory.path().join("bytes")) {
        Err(Error::BadParameter { name: "fold", .. }) => {}
        other => panic!("{other:?}"),
    }
}

/// The matches of the documents of a file.
fn queried(run: &Run, out: &Path, file: &Path) -> Result<usize, Error> {
    let workspace = pipeline::open(out)?;
    let inputs = pipeline::inputs(&[file.to_path_buf()], out)?;
    let (stop, read, config) = (
        Stop::default(),
        &run.collection.read,
        QueryConfig::default(),
    );
    let context = run.context(&stop, &Silent);
    let mut matches = 0;
    query::run(
        &workspace,
        None,
        &inputs,
        read,
        &config,
        &context,
        |reply| {
            match reply {
                Reply::Answer(answer) => matches += answer.matches.len(),
                Reply::Warning(_) => {}
                Reply::Rejected(rejected) => panic!("{rejected:?}"),
            }
            Ok(())
        },
    )?;
    Ok(matches)
}

/// Positions are those of the text as it was read, with all that tokens leave out.
#[test]
fn passages_are_where_they_are_in_the_text() {
    let odd = decomposed(WORDS).replace("la ", "l\u{ad}a\u{200b} ");
    let text = format!("Avant tout\u{ad}, {odd}\u{feff}! Fin.");
    let directory = temporary();
    let input = write(
        directory.path(),
        &[("a.txt", WORDS.into()), ("b.txt", text.clone())],
    );
    let out = directory.path().join("out");
    let run = run();
    drop(run.ingest(&[&input], &out).unwrap());
    let mut workspace = pipeline::open(&out).unwrap();
    let config = PassagesConfig {
        length: 10,
        of: Of::All,
        units: None,
        excluded: None,
        condition: None,
        matches: None,
        boilerplate: None,
        results: Default::default(),
    };
    let (stop, silent) = (Stop::default(), Silent);
    let context = run.context(&stop, &silent);
    passages::run(&mut workspace, &config, Then::End, &context).unwrap();
    let spans = cells_of(&out.join("spans.tsv"));
    let found: Vec<&str> = spans
        .iter()
        .map(|row| {
            let text = if row["docno"].ends_with("a.txt") {
                WORDS
            } else {
                &text
            };
            let at = |name: &str| row[name].parse::<usize>().unwrap();
            &text[at("begin_byte")..at("end_byte")]
        })
        .collect();
    assert_eq!(found, [WORDS, odd.as_str()]);
}

/// A directory of version 0.1.0 does not name its rule.
#[test]
fn a_directory_of_another_rule_is_read_and_not_continued() {
    let directory = temporary();
    let input = write(
        directory.path(),
        &[("a.txt", WORDS.into()), ("b.txt", decomposed(WORDS))],
    );
    let files = [input.join("a.txt"), input.join("b.txt")];
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let out = directory.path().join("out");
    let mut old = run().keep_text();
    old.collection.shingle.parse.token_rule = 1;
    old.run(&inputs, &out).unwrap();
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(!manifest.contains("token_rule"));

    let new = run().keep_text();
    let (stop, silent) = (Stop::default(), Silent);
    let context = new.context(&stop, &silent);
    let added = || pipeline::inputs(std::slice::from_ref(&input), &out).unwrap();
    let spec = "cosine".parse().unwrap();
    let apart = directory.path().join("apart");
    let tries: [(&str, Result<(), Error>); 6] = [
        ("run", new.run(&inputs, &out).map(drop)),
        (
            "add",
            pipeline::add(&out, &added(), false, None, &context).map(drop),
        ),
        ("query", queried(&new, &out, &files[0]).map(drop)),
        (
            "against",
            pipeline::run_against(
                &added(),
                &out,
                &apart,
                &new.collection,
                &new.question,
                false,
                &context,
            )
            .map(drop),
        ),
        ("passages", {
            let mut workspace = pipeline::open(&out).unwrap();
            let config = PassagesConfig {
                length: 10,
                of: Of::All,
                units: None,
                excluded: None,
                condition: None,
                matches: None,
                boilerplate: None,
                results: Default::default(),
            };
            passages::run(&mut workspace, &config, Then::End, &context).map(drop)
        }),
        ("method", {
            let workspace = pipeline::open(&out).unwrap();
            lookalike::methods::run(&workspace, &spec, &context).map(drop)
        }),
    ];
    for (command, tried) in tries {
        let error = tried.unwrap_err();
        let told = error.to_string();
        assert!(
            told.contains(" was made under rule 1 of tokens;"),
            "{command}: {told}"
        );
        assert!(error.help().unwrap().contains("new directory"), "{error}");
    }
    // Results are still read, and made again from what the directory has.
    assert!(
        lookalike::tasks::inspect::verify(&out)
            .unwrap()
            .errors
            .is_empty()
    );
    let mut workspace = pipeline::open(&out).unwrap();
    pipeline::join(&mut workspace, &new.question, &context).unwrap();
    pipeline::cluster(&mut workspace, &context).unwrap();
}
