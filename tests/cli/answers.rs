//! The answers of `run` and `dedup` at their end, and results on a terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lookalike");

/// Runs the program in a directory, which has the sample corpora.
fn lookalike(place: &Path, arguments: &str) -> Output {
    let corpora = place.join("sample-corpora");
    if !corpora.exists() {
        std::os::unix::fs::symlink(common::sample_corpora(""), corpora).unwrap();
    }
    Command::new(PROGRAM)
        .args(arguments.split(' '))
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Returns the answer of a command, in at most six lines.
#[track_caller]
fn answer(place: &Path, arguments: &str) -> String {
    let output = lookalike(place, arguments);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {told}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.lines().count() <= 6, "{said}");
    said
}

#[test]
fn results_that_are_not_written_are_offered() {
    let place = common::temporary();
    let at = place.path();
    assert_eq!(
        answer(at, "run sample-corpora/trec-web -o out --results none"),
        "Read 253 documents from 2 files.\n\
         42 documents repeat the words of another one.\n\
         77 pairs of different texts have a resemblance of 0.85 or more.\n\
         Pairs in out; its result files are not written.\n\
         Next: lookalike stage cluster out   # writes them, without another search\n"
    );
    assert!(!at.join("out/pairs.tsv").exists() && !at.join("out/summary.json").exists());
    let output = lookalike(at, "report out");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("run `lookalike stage cluster out` first"),
        "{told}"
    );
    let output = lookalike(at, "stage cluster out --results none");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("run, join and add"), "{told}");
    answer(at, "stage cluster out");
    answer(at, "run sample-corpora/trec-web -o whole");
    let pairs = |out: &str| fs::read(at.join(out).join("pairs.tsv")).unwrap();
    assert_eq!(pairs("out"), pairs("whole"));
}

#[test]
fn a_run_ends_with_its_answer() {
    let place = common::temporary();
    let at = place.path();
    assert_eq!(
        answer(at, "run sample-corpora/trec-web -o out"),
        "Read 253 documents from 2 files.\n\
         102 of 253 documents (40.3 %) are redundant: 14 identical copies, \
         28 with the same words, 60 near-duplicates.\n\
         60 clusters; the largest has 4 documents: PG-000096 \
         (http://docs.example/postgresql-doc-17/sql-altertstemplate.html) and 3 others. \
         77 pairs of different texts have a resemblance of 0.85 or more.\n\
         Results in out.\n\
         Next: lookalike report out   # then: lookalike dedup --from out -o kept\n"
    );
    assert_eq!(
        answer(at, "dedup --from out -o kept --removed removed"),
        "Read 253 documents from 2 files.\n\
         99 of 253 documents (39.1 %) were removed: 13 identical copies, \
         24 with the same words, 62 near-duplicates.\n\
         Kept records in kept, removed ones and the reasons in removed; pairs and clusters in out.\n\
         Next: lookalike report kept   # shows what was removed, and why\n"
    );
    // What a finished output was not made of is refused before it replaces the evidence.
    answer(at, "dedup sample-corpora/jsonl -o own");
    let pairs = fs::read(at.join("own.work/pairs.tsv")).unwrap();
    for (more, says) in [
        (
            "--threshold 0.7",
            "made with --score resemblance --threshold 0.85;",
        ),
        (
            "sample-corpora/mail",
            "it was made from fewer inputs; give a new directory",
        ),
    ] {
        let command = format!("dedup sample-corpora/jsonl -o own {more}");
        let told = String::from_utf8(lookalike(at, &command).stderr).unwrap();
        assert!(told.contains(says), "{told}");
        assert_eq!(fs::read(at.join("own.work/pairs.tsv")).unwrap(), pairs);
    }
    answer(at, "report own");
    // What the next step would write is not there yet.
    let again = answer(at, "run --from out");
    assert!(
        again.ends_with(" lookalike dedup --from out -o kept-2\n"),
        "{again}"
    );
    let lists = answer(at, "dedup --from out -o lists --ids-only");
    assert!(lists.contains("99 of 253 documents (39.1 %) were listed as redundant"));
    assert!(lists.contains("\nLists in lists; pairs and clusters in out.\n"));
    // The documents of the new input, of which some are in the old one.
    answer(at, "run sample-corpora/trec-web/a.gz -o old");
    let new = answer(at, "run sample-corpora/trec-web/b.gz --against old -o new");
    assert!(
        new.starts_with(
            "Read 158 new documents from 1 file.\n64 of 158 documents (40.5 %) are redundant.\n"
        ),
        "{new}"
    );
    let read = answer(at, "stage ingest sample-corpora/trec-web -o read");
    assert!(read.contains("42 documents repeat the words of another one.\n"));
    assert!(
        read.ends_with("Next: lookalike run --from read\n"),
        "{read}"
    );
}

/// The ledger is printed by two commands, and one of them explains its words.
#[test]
fn the_ledger_is_for_those_who_ask() {
    let place = common::temporary();
    let at = place.path();
    let run = "run sample-corpora/trec-web -o out";
    assert!(!answer(at, run).contains("candidates verified"));
    let output = lookalike(at, &format!("{run} -v"));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("\ncandidates verified               151\n"),
        "{said}"
    );
    // The answer comes first.
    assert!(said.starts_with(&answer(at, run)), "{said}");
    let output = lookalike(at, "status out");
    let status = String::from_utf8(output.stdout).unwrap();
    let (ledger, explained) = status.split_once("\nWhat the rows count:\n").unwrap();
    assert!(ledger.contains("\ncandidates verified               151\n"));
    for line in explained.lines() {
        let (name, meaning) = line.trim().split_once(": ").unwrap();
        assert!(ledger.contains(name) && !meaning.is_empty(), "{line}");
    }
    assert!(
        explained.contains("\n  candidates verified: "),
        "{explained}"
    );
}

#[test]
fn the_next_step_fits_the_situation() {
    let place = common::temporary();
    let at = place.path();
    let text = |n: u32| {
        let words: Vec<String> = (0..80)
            .map(|word| format!("w{}", word * 7 + n * 1000))
            .collect();
        words.join(" ")
    };
    let lines = |texts: Vec<String>, field: &str| {
        let line = |text: String| serde_json::json!({ field: text }).to_string() + "\n";
        texts.into_iter().map(line).collect::<String>()
    };
    let write = |name: &str, lines: String| fs::write(at.join(name), lines).unwrap();
    // Nothing is alike, and the texts are long enough.
    write("apart.jsonl", lines((0..5).map(text).collect(), "text"));
    let said = answer(at, "run apart.jsonl -o my-out");
    assert!(
        said.contains("0 of 5 documents are redundant.\n0 pairs have"),
        "{said}"
    );
    assert!(
        said.ends_with(
            "\nNext: lookalike report my-out   # shows the closest pair; for parts that texts share: \
             lookalike passages my-out\n"
        ),
        "{said}"
    );
    // Each advice of the page runs, and no threshold is advised to texts that share nothing.
    answer(at, "report my-out");
    let page = fs::read_to_string(at.join("my-out/report.html")).unwrap();
    assert!(
        page.contains("<code>--shingle-size 5</code> tolerates more changes"),
        "{page}"
    );
    assert!(
        !page.contains("--threshold 0.5") && !page.contains("lookalike run --from"),
        "{page}"
    );
    // Texts of twelve words, of which one differs.
    let short = |n: usize| {
        let mut words: Vec<String> = (0..12).map(|word| format!("w{word}")).collect();
        words[5] = format!("x{n}");
        words.join(" ")
    };
    write("short.jsonl", lines((0..5).map(short).collect(), "text"));
    let said = answer(at, "run short.jsonl -o short");
    assert!(
        said.contains(
            "\nRead the inputs again with --shingle-size 4 and another -o: half of the documents have at \
             most 12 words, and no pair was found.\n"
        ),
        "{said}"
    );
    // Most records have another field.
    write("one.jsonl", lines(vec![text(1)], "text"));
    write(
        "other.jsonl",
        lines((0..5).map(text).collect(), "instruction"),
    );
    let said = answer(at, "run one.jsonl other.jsonl -o other");
    assert!(
        said.contains("Not used: 5 records (no text field 5). other/rejects.jsonl lists each."),
        "{said}"
    );
    assert!(
        said.contains("\nRead the inputs again with --text-field FIELD and another -o; "),
        "{said}"
    );
    // One of several fields is misspelt, in JSON and in CSV.
    let pair = |n: u32| serde_json::json!({ "q": text(n), "a": text(n + 50) }).to_string() + "\n";
    write("pairs.jsonl", (0..5).map(pair).collect());
    let row = |n: u32| format!("{},{}\n", text(n), text(n + 50));
    let rows: String = (0..5).map(row).collect();
    write("pairs.csv", format!("q,a\n{rows}"));
    for (input, out) in [("pairs.jsonl", "typo"), ("pairs.csv", "csv")] {
        let said = answer(at, &format!("run {input} -o {out} --text-field q,aa"));
        let next = format!(
            "\nCheck --text-field: 5 documents without a field that it names ({out}/rejects.jsonl \
             says which).\n"
        );
        assert!(said.contains(&next), "{said}");
        let rejects = fs::read_to_string(at.join(out).join("rejects.jsonl")).unwrap();
        assert!(rejects.contains("no field aa"), "{rejects}");
    }
}

/// Runs the program on the sample collection with an output directory of any name.
fn said_of(at: &Path, name: &[u8], more: &[&str]) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut output = std::ffi::OsString::from("--output=");
    output.push(std::ffi::OsStr::from_bytes(name));
    let done = Command::new(PROGRAM)
        .args(["run", "sample-corpora/trec-web"])
        .args(more)
        .arg(output)
        .current_dir(at)
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap()
}

/// A shell can run the next step, whatever the directory is called.
#[test]
fn the_next_step_can_be_pasted() {
    let place = common::temporary();
    let at = place.path();
    answer(at, "check count sample-corpora/trec-web/a.gz");
    fs::create_dir(at.join("a b")).unwrap();
    for name in [
        "a b/it's".as_bytes(),
        b"-dash",
        b"esc\x1b[31mred",
        b"line\nfeed",
        b"\xff\xfe1",
        "\u{202e}bidi".as_bytes(),
    ] {
        let said = said_of(at, name, &[]);
        let next = said.lines().find_map(|line| line.strip_prefix("Next: "));
        let next = next.unwrap_or_else(|| panic!("{said}"));
        assert!(next.starts_with("lookalike report "), "{said}");
        let next = next.replacen("lookalike", PROGRAM, 1);
        let done = Command::new("bash")
            .args(["-c", &next])
            .current_dir(at)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{next}: {told}");
    }
}

/// Runs the line after `Next: ` in the place, up to its comment, or that which follows `then: `.
#[track_caller]
fn paste(place: &Path, said: &str) -> String {
    let next = said
        .lines()
        .find_map(|line| line.strip_prefix("Next: "))
        .expect(said);
    let then = next.split_once("then: ").map_or(next, |(_, then)| then);
    let line = then.replacen("lookalike", PROGRAM, 1);
    let done = Command::new("bash")
        .args(["-c", &line])
        .current_dir(place)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{next}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap() + next
}

/// The line names everything that a command needs and that is not in the directory, and nothing is
/// lost that was there.
#[test]
fn the_next_step_has_what_the_directory_cannot_say() {
    let place = common::temporary();
    let at = place.path();
    answer(at, "check count sample-corpora/trec-web/a.gz");
    // A program that converts.
    let words = |n: usize| {
        (0..80)
            .map(|w| format!("w{} ", w + n * (w / 79)))
            .collect::<String>()
    };
    fs::create_dir(at.join("in")).unwrap();
    for n in 0..2 {
        fs::write(at.join(format!("in/{n}.odd")), words(n)).unwrap();
    }
    for (line, out) in [
        ("run in -o c --convert odd=cat", "c"),
        ("dedup in -o d --convert odd=cat", "d"),
    ] {
        let said = answer(at, line);
        assert!(
            said.contains(&format!("lookalike report {out} --convert 'odd=cat'")),
            "{said}"
        );
        paste(at, &said.replace("then: ", ""));
    }
    let page = fs::read_to_string(at.join("c/report.html")).unwrap();
    assert!(page.contains("w77 w78"), "{page}");
    // The name of copies whose inputs have none in common.
    answer(
        at,
        "dedup in sample-corpora/trec-web/a.gz -o both --convert odd=cat --report",
    );
    let page = fs::read_to_string(at.join("both.report.html")).unwrap();
    let title = "<title>What the deduplication of both removed</title>";
    assert!(page.contains(title), "{page}");
    // The choice of a deduplication, after an addition.
    answer(
        at,
        "dedup sample-corpora/trec-web/a.gz -o kept --keep longest --keep shortest --rule one-per-cluster",
    );
    let said = answer(at, "add kept.work sample-corpora/trec-web/b.gz");
    let again = "# then: lookalike dedup --from kept.work -o kept-2 --keep longest --keep shortest \
                 --rule one-per-cluster\n";
    assert!(said.ends_with(again), "{said}");
    paste(at, &said);
    let source = |kept: &str| {
        let text = fs::read_to_string(at.join(kept).join(".lookalike/source.json")).unwrap();
        let source: serde_json::Value = serde_json::from_str(&text).unwrap();
        source["config"].clone()
    };
    assert_eq!(source("kept-2"), source("kept"));
    // Whatever else decides what is removed and written.
    fs::write(at.join("drop.tsv"), "file\trecord\n").unwrap();
    for (n, (given, again)) in [
        (
            "--identical payload --keep oldest --revisit --removed gone",
            "--keep oldest --identical payload --revisit=identical --removed K-2-removed",
        ),
        (
            "--ids-only --results parquet --empty drop",
            "--empty drop --ids-only --results parquet",
        ),
        (
            "--drop drop.tsv --rejects drop --link --rule drop-clusters",
            "--rule drop-clusters --rejects drop --link --drop K/.lookalike/remove",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let kept = format!("choice{n}");
        answer(at, &format!("dedup sample-corpora/warc -o {kept} {given}"));
        let said = answer(at, &format!("add {kept}.work sample-corpora/trec-web/b.gz"));
        let again = again.replace('K', &kept);
        assert!(said.ends_with(&format!(" -o {kept}-2 {again}\n")), "{said}");
        paste(at, &said);
        assert_eq!(source(&format!("{kept}-2")), source(&kept));
        let tables = |kept: &str| at.join(kept).join("kept.parquet").exists();
        assert_eq!(tables(&format!("{kept}-2")), tables(&kept));
    }
    // The result files of a search for passages are of the documents before an addition, and the
    // list of rejects is of all.
    fs::write(at.join("in/x.docx"), "PK\u{3}\u{4}").unwrap();
    answer_of(
        at,
        "passages in/x.docx sample-corpora/trec-web/a.gz -o shared --length 30",
    );
    let rejects = || fs::read(at.join("shared/rejects.jsonl")).unwrap();
    let before = rejects();
    let said = answer(at, "add shared sample-corpora/trec-web/b.gz");
    assert_eq!(rejects(), before);
    assert!(
        said.contains("Next: lookalike passages shared   #"),
        "{said}"
    );
    assert!(
        paste(at, &said).contains("documents                              253"),
        "{said}"
    );
    // A format that not all files have, and records that not all files have.
    fs::write(at.join("in/y.csv"), "id,text\n1,one two\n").unwrap();
    let said = answer(at, "run in -o forced --format csv");
    assert!(
        said.contains("\nCheck --format csv and --text-field: "),
        "{said}"
    );
    let xml = "<PubmedArticle><t>one two three four five</t></PubmedArticle>".repeat(3);
    fs::write(at.join("in/z.xml"), format!("<r>{xml}</r>")).unwrap();
    let said = answer(at, "run in -o several");
    assert!(
        said.contains("--record PubmedArticle, with --include for their files alone, and"),
        "{said}"
    );
    // Copies without passages are not a deduplication, and their search listed no pairs.
    answer_of(
        at,
        "passages sample-corpora/jsonl/text.jsonl.zst --remove -o cut",
    );
    for (directory, says) in [
        ("cut", "passages --remove"),
        ("cut", "`lookalike passages cut.work` lists its pairs"),
        ("cut.work", "`lookalike passages cut.work` lists them"),
    ] {
        let told = String::from_utf8(lookalike(at, &format!("report {directory}")).stderr).unwrap();
        assert!(told.contains(says), "{told}");
    }
}

/// New documents are counted by themselves, and removed records that leave no `revisit` record.
#[test]
fn counts_are_of_what_they_say() {
    let place = common::temporary();
    let at = place.path();
    answer(at, "run sample-corpora/trec-web/a.gz -o old");
    answer(at, "run sample-corpora/trec-web/b.gz --against old -o new");
    let status = String::from_utf8(lookalike(at, "status new").stdout).unwrap();
    let (new, both) = status
        .split_once("\ndocuments with those of --against  253\n")
        .expect(&status);
    assert!(
        new.contains("\n  documents ") && new.contains("short documents"),
        "{status}"
    );
    assert!(
        both.starts_with("exact duplicates ") && !both.contains("identical, byte"),
        "{status}"
    );
    let told = String::from_utf8(lookalike(at, "report new").stderr).unwrap();
    let clusters = fs::read_to_string(at.join("new/clusters.jsonl")).unwrap();
    // Not those of old documents alone.
    let clusters = clusters.lines().count();
    assert!(
        told.contains(&format!("report: {clusters} clusters,")),
        "{told}"
    );
    let page = fs::read_to_string(at.join("new/report.html")).unwrap();
    let page = page.replace('\u{a0}', " ");
    for says in [
        "of 158 documents (40.5 %) can be left out",
        "1 input file gave 158 new documents, compared with 95 documents of an earlier run.",
    ] {
        assert!(page.contains(says), "{says}");
    }
    answer(at, "run sample-corpora/warc -o w");
    let said = answer(at, "dedup --from w -o k --keep newest --revisit");
    assert!(
        said.contains("78 of 185 documents (42.2 %) were removed: "),
        "{said}"
    );
    assert!(
        said.contains(
            "0 revisit records stand in the place of removed ones; 78 removed records left none ("
        ),
        "{said}"
    );
    let said = answer(at, "dedup --from w -o k2 --keep oldest --revisit");
    assert!(
        said.contains(
            "5 revisit records stand in the place of removed ones; 74 removed records left none ("
        ),
        "{said}"
    );
    answer(at, "report k2");
    let page = fs::read_to_string(at.join("k2.report.html")).unwrap();
    let page = page.replace('\u{a0}', " ");
    assert!(
        page.contains("5 revisit records stand in the place of removed ones"),
        "{page}"
    );
    let told = String::from_utf8(lookalike(at, "query w PG-000004").stderr).unwrap();
    assert!(
        told.contains("`lookalike show w PG-000004` lists its pairs"),
        "{told}"
    );
    fs::write(at.join("no-query.docx"), "PK\u{3}\u{4}").unwrap();
    let told = String::from_utf8(lookalike(at, "query w no-query.docx").stderr).unwrap();
    assert!(told.contains("rejected: no-query.docx, "), "{told}");
}

/// Nothing that a document says can look like a line of this program.
#[test]
fn a_docno_does_not_forge_lines() {
    let place = common::temporary();
    let at = place.path();
    let words: Vec<String> = (0..60).map(|n| format!("w{n}")).collect();
    let words = words.join(" ");
    let long = "n".repeat(10_000);
    for (docno, shown) in [
        (
            "x\nNext: touch forged #",
            "x\\x0aNext: touch forged # and 1 other",
        ),
        ("tab\there", "tab\\x09here and 1 other"),
        (long.as_str(), "nnnn… and 1 other"),
    ] {
        let line = |id: &str| serde_json::json!({"id": id, "text": words}).to_string();
        fs::write(
            at.join("forged.jsonl"),
            format!("{}\n{}\n", line(docno), line("y")),
        )
        .unwrap();
        let said = answer(at, "run forged.jsonl -o forged");
        assert!(said.contains(shown) && said.len() < 600, "{said}");
        assert_eq!(said.matches("\nNext: ").count(), 1, "{said}");
        fs::remove_dir_all(at.join("forged")).unwrap();
    }
}

/// What is not exact is not said as if it were, and no step is suggested that would be refused.
#[test]
fn the_answer_says_what_it_does_not_know() {
    let place = common::temporary();
    let at = place.path();
    let all = |name: &str, more: &[&str]| said_of(at, name.as_bytes(), more);
    answer(at, "check count sample-corpora/trec-web/a.gz");
    let said = all("s", &["--sampling", "1/20"]);
    assert!(
        said.contains("These figures are estimates, from a sample.\n")
            && said.ends_with("\nNext: lookalike report s\n"),
        "{said}"
    );
    let said = all("m", &["--max-postings", "2"]);
    assert!(
        said.contains("or more. Others may be missing (--max-postings).\n")
            && said.ends_with("\nNext: lookalike report m\n"),
        "{said}"
    );
    // Exact copies alone.
    let text: Vec<String> = (0..16).map(|n| format!("w{n}")).collect();
    let line = serde_json::json!({"text": text.join(" ")}).to_string() + "\n";
    fs::write(at.join("same.jsonl"), line.repeat(3)).unwrap();
    let said = answer(at, "run same.jsonl -o same");
    assert!(
        said.contains("0 pairs of different texts have a resemblance of 0.85 or more.\n")
            && said.contains("\nNext: lookalike report same   # then: lookalike dedup"),
        "{said}"
    );
    // Standard input is read once.
    let done = Command::new("bash")
        .args(["-c", &format!("'{PROGRAM}' run - -o st < same.jsonl")])
        .current_dir(at)
        .output()
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.ends_with("\nNext: lookalike report st\n"), "{said}");
    // One document that looks like several, and documents without words.
    let document = |n: u32| {
        let words: Vec<String> = (0..40).map(|word| format!("w{}", n * 100 + word)).collect();
        format!(
            "<DOC>\n<DOCNO>A-{n}</DOCNO>\n<TEXT>\n{}\n</TEXT>\n</DOC>\n",
            words.join(" ")
        )
    };
    let documents: String = (1..4).map(document).collect();
    fs::write(at.join("p.trec"), format!("junk\n{documents}")).unwrap();
    let said = answer(at, "run p.trec -o several");
    assert!(
        said.contains(
            "\nRead the inputs again with --format trec-sgml and another -o: 1 document may be"
        ),
        "{said}"
    );
    fs::write(at.join("none.jsonl"), "{\"text\":\"\"}\n".repeat(10)).unwrap();
    let said = answer(at, "run none.jsonl -o none");
    assert!(
        said.ends_with(
            "\nCheck what is compared: 10 documents have no words (none/rejects.jsonl says which, and where \
             their text may be).\n"
        ),
        "{said}"
    );
}

/// The directory of a method has features, which are not shingles of texts.
#[test]
fn a_method_is_not_taken_for_a_collection() {
    let place = common::temporary();
    let at = place.path();
    answer(
        at,
        "stage ingest sample-corpora/jsonl/a.jsonl.zst -o in --keep-text",
    );
    answer(at, "lab method cosine in");
    let pairs = fs::read(at.join("in/methods/cosine/pairs.tsv")).unwrap();
    let of = "in/methods/cosine";
    let input = "sample-corpora/jsonl/a.jsonl.zst";
    for refused in [
        format!("stage join {of}"),
        format!("stage index {of}"),
        format!("query {of} {input}"),
        format!("add {of} {input}"),
        format!("passages {of}"),
        format!("dedup {input} -o k --against {of}"),
        format!("run {input} -o k --against {of}"),
        format!("lab method cosine {of}"),
        format!("lab study {of}"),
        format!("plan {of} --precision 0.9"),
        format!("lab compare {of}"),
    ] {
        let output = lookalike(at, &refused);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && told.contains("it has the features of the method cosine"),
            "{refused}: {told}"
        );
    }
    assert_eq!(
        fs::read(at.join("in/methods/cosine/pairs.tsv")).unwrap(),
        pairs
    );
    answer(at, "stage cluster in/methods/cosine");
    answer(at, "report in/methods/cosine");
    let told = String::from_utf8(lookalike(at, "report in").stderr).unwrap();
    assert!(
        told.contains("`lookalike report in/methods/cosine`"),
        "{told}"
    );
}

/// A search for passages says what it left out, and names the pair with the most in common.
/// Texts that are not documents of a collection were cut in silence.
#[test]
fn warnings_about_every_text_are_told() {
    let place = tempfile::TempDir::new().unwrap();
    let at = place.path();
    let words = |name: &str| (0..60).map(|n| format!("{name}{n} ")).collect::<String>();
    let open = format!("<p>{}<!-- {}", words("a"), words("lost"));
    let lines = serde_json::json!({"id": 1, "html": open}).to_string() + "\n{\"id\": 2}\n";
    fs::write(at.join("q.jsonl"), lines).unwrap();
    fs::write(at.join("t.html"), &open).unwrap();
    let document = serde_json::json!({"id": 1, "text": words("a")});
    fs::write(at.join("in.jsonl"), format!("{document}\n{{\"id\": 9}}\n")).unwrap();
    let cut = ": markup not closed: <!-- is not closed";
    for (command, told) in [
        ("stage ingest in.jsonl -o base", ""),
        (
            "query base q.jsonl",
            "warning: 1: markup not closed: <!-- is not closed",
        ),
        (
            "contamination in.jsonl --against q.jsonl -o c",
            "warning: q.jsonl: 1 warning; the first: q.jsonl, document 1",
        ),
        (
            "run in.jsonl -o out --exclude-text t.html",
            "warning: t.html, document t.html",
        ),
        (
            "passages in.jsonl -o p --exclude-text t.html",
            "warning: t.html, document t.html",
        ),
    ] {
        let output = lookalike(at, command);
        let (said, notes) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert!(
            output.status.success() && !notes.contains("error"),
            "{command}: {notes}"
        );
        assert!(notes.contains(told), "{command}: {notes}");
        assert_eq!(notes.contains(cut), !told.is_empty(), "{command}: {notes}");
        if told.is_empty() {
            assert!(
                said.contains(" The first: in.jsonl, document 9: no text field"),
                "{said}"
            );
        }
    }
    let rejects = fs::read_to_string(at.join("c/rejects.jsonl")).unwrap();
    let of: Vec<&str> = rejects
        .lines()
        .map(|line| line.split("\"reason\"").next().unwrap())
        .collect();
    assert_eq!(of.len(), 3, "{rejects}");
    assert!(of[0].contains("q.jsonl") && of[1].contains("q.jsonl") && of[2].contains("in.jsonl"));
}

#[test]
fn a_search_for_passages_ends_with_what_it_left_out() {
    let place = common::temporary();
    let at = place.path();
    fs::create_dir(at.join("essays")).unwrap();
    let text = |n: u32| {
        let words: Vec<String> = (0..80)
            .map(|word| format!("w{}", word * 7 + n * 1000))
            .collect();
        words.join(" ")
    };
    let write = |name: &str, text: String| fs::write(at.join("essays").join(name), text).unwrap();
    write("a.txt", text(1));
    write(
        "b.txt",
        format!("{} {} {}", text(2), text(3), &text(1)[..300]),
    );
    write("c.txt", text(3));
    write("d.txt", "too short".into());
    write("e.docx", "PK\u{3}\u{4}".into());
    let output = lookalike(at, "passages essays -o shared");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("\n1 document has fewer than 50 words, too few for a passage (--length).\nNot used: 1 record ("),
        "{said}"
    );
    let rejects = fs::read_to_string(at.join("shared/rejects.jsonl")).unwrap();
    assert!(
        rejects.contains("e.docx") && said.contains("shared/rejects.jsonl lists it.\n"),
        "{said}"
    );
    let next = said.lines().last().unwrap();
    let expected = "Next: lookalike report shared   # shows the passages side by side";
    assert_eq!(next, expected);
    answer_of(at, "report shared");
    let page = fs::read_to_string(at.join("shared/report.html")).unwrap();
    assert!(
        page.contains("Files that were not read") && page.contains("e.docx"),
        "{page}"
    );
    answer_of(
        at,
        "diff shared b.txt c.txt --length 50 --full -o diff.html",
    );
    answer_of(at, "check verify shared");
    // The paths of inputs are understood well enough to help.
    let output = lookalike(at, "diff shared essays/b.txt essays/c.txt");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("did you mean b.txt?"), "{told}");
}

#[track_caller]
fn answer_of(place: &Path, arguments: &str) {
    let output = lookalike(place, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {told}");
}

/// On a terminal no bar remains, tables fit, and errors have colours; elsewhere there is none of it.
#[test]
fn a_terminal_is_left_clean() {
    let script = Command::new("script").arg("--version").output();
    if !script.is_ok_and(|output| output.status.success()) {
        eprintln!("LEFT OUT: a terminal, as there is no program `script`");
        return;
    }
    let place = common::temporary();
    let at = place.path();
    answer(at, "run sample-corpora/trec-web -o out");
    let typed = |command: &str| {
        let line = format!("stty cols 80 rows 24; {PROGRAM} {command}");
        let output = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(at)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        screen(&String::from_utf8(output.stdout).unwrap())
    };
    let said = typed("dedup sample-corpora/jsonl -o kept");
    assert!(
        !said
            .iter()
            .any(|line| line.contains(" %  ") || line.contains("0s")),
        "{said:#?}"
    );
    assert!(
        said.iter().any(|line| line.starts_with("7 of 9 cluster: ")),
        "{said:#?}"
    );
    // A sentence breaks between words, and a command can be copied.
    let said = typed("run sample-corpora/trec-web -o out 2>/dev/null");
    let (next, sentences): (Vec<_>, Vec<_>) =
        said.iter().partition(|line| line.starts_with("Next: "));
    assert!(next.len() == 1 && sentences.len() > 5, "{said:#?}");
    assert!(
        sentences.iter().all(|line| line.chars().count() <= 80),
        "{said:#?}"
    );
    let said = typed("query out sample-corpora/files/a --top 2 2>/dev/null");
    assert!(
        said[0].starts_with("query ") && said[0].ends_with(" shared"),
        "{said:#?}"
    );
    for line in &said {
        assert!(line.chars().count() <= 80 && !line.contains('\t'), "{line}");
    }
    let said = typed("query out sample-corpora/files/a --top 2 --tsv");
    assert!(
        said.iter()
            .any(|line| line.starts_with("PG-000095.html\tPG-")),
        "{said:#?}"
    );
    let piped = lookalike(at, "query out sample-corpora/files/a --top 2");
    assert!(
        String::from_utf8(piped.stdout)
            .unwrap()
            .starts_with("query\tdocno\t")
    );
    let said = typed("status nodir");
    assert!(
        said[0].starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m nodir "),
        "{said:#?}"
    );
    let piped = lookalike(at, "status nodir");
    assert!(
        String::from_utf8(piped.stderr)
            .unwrap()
            .starts_with("error: nodir ")
    );
}

/// The lines that remain on a screen. A bar is erased by `ESC [ 2 K`.
fn screen(output: &str) -> Vec<String> {
    let lines = output.lines().map(|line| {
        let line = line.rsplit("\u{1b}[2K").next().unwrap();
        line.trim_matches('\r').to_string()
    });
    lines.collect()
}

/// Pairs below the threshold are told and shown apart, and nothing else changes. A search in the
/// same directory keeps them while there may be some.
#[test]
fn pairs_to_review_are_apart() {
    let place = common::temporary();
    let at = place.path();
    let read = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    answer(at, "run sample-corpora/trec-web -o plain");
    let said = answer(at, "run sample-corpora/trec-web -o out --review 0.5");
    assert!(
        said.contains("\nResults in out; to review: 91 pairs from 0.5 to 0.85 (review.tsv).\n"),
        "{said}"
    );
    for directory in ["plain", "out"] {
        let kept =
            format!("dedup --from {directory} -o {directory}-kept --removed {directory}-gone");
        answer(at, &kept);
    }
    for name in ["kept/a.gz", "kept/b.gz", "gone/a.gz", "gone/b.gz"] {
        let [plain, out] = ["plain", "out"].map(|of| fs::read(at.join(format!("{of}-{name}"))));
        assert!(plain.unwrap() == out.unwrap(), "{name}");
    }
    assert_eq!(read("plain/pairs.tsv"), read("out/pairs.tsv"));
    let status = lookalike(at, "status out");
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("\npairs to review "), "{status}");
    let [plain, out] =
        ["plain", "out"].map(|of| lookalike(at, &format!("evaluate {of} --truth plain")));
    assert_eq!(
        String::from_utf8_lossy(&plain.stdout).replace("plain", "out"),
        String::from_utf8_lossy(&out.stdout).replace("plain", "out")
    );
    // The page shows the nearest of them, in their order.
    for (directory, sections) in [("plain", 0), ("out", 1)] {
        answer(at, &format!("report {directory}"));
        let page = read(&format!("{directory}/report.html"));
        assert_eq!(
            page.matches("<h2>Below the threshold</h2>").count(),
            sections
        );
    }
    let page = read("out/report.html");
    let (_, section) = page.split_once("<section id=\"below\">").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    let scores = section.split("<summary><b>").skip(1);
    let scores: Vec<&str> = scores.map(|rest| rest.split_once('<').unwrap().0).collect();
    assert_eq!(scores.len(), 10);
    assert!(
        scores.is_sorted_by(|a, b| a >= b) && scores[0] == "0.847",
        "{scores:?}"
    );
    assert!(
        section.contains("91\u{a0}pairs in <code>review.tsv</code>."),
        "{section}"
    );

    let said = answer(at, "run --from out --threshold 0.7");
    assert!(
        said.contains("pairs from 0.5 to 0.7 (review.tsv)"),
        "{said}"
    );
    let ended = |command: &str| {
        let ran = lookalike(at, command);
        let said = String::from_utf8(ran.stdout).unwrap();
        assert!(
            said.contains("\nResults in out.\n") && !at.join("out/review.tsv").exists(),
            "{said}"
        );
        String::from_utf8(ran.stderr).unwrap()
    };
    let told = ended("run --from out --threshold 0.4");
    let why = "no more pairs to review from 0.5 on: they need a higher threshold";
    assert!(told.contains(why), "{told}");
    answer(at, "run --from out --threshold 0.7 --review 0.5");
    let told = ended("run --from out --review none");
    assert!(!told.contains("review"), "{told}");
    // Without a pair at the threshold, the nearest below it is the closest one.
    let said = answer(
        at,
        "run sample-corpora/jsonl -o whole --threshold 1 --review 0.9",
    );
    assert!(said.contains("0 pairs"), "{said}");
    answer(at, "report whole");
    let page = read("whole/report.html");
    let (_, section) = page.split_once("<section id=\"closest\">").unwrap();
    assert!(section.starts_with("<h2>The closest pair</h2>"));
    assert_eq!(page.matches("id=\"pair-26-85\"").count(), 1);
    for refused in [
        "run sample-corpora/jsonl -o no --review 0.9",
        "run sample-corpora/jsonl -o no --review 0.5 --method i-match",
        "run --from out --review 0.5 --sampling 1/2",
        "tasks plan sample-corpora/jsonl -o no --tasks 2 --review 0.5",
    ] {
        let told = String::from_utf8(lookalike(at, refused).stderr).unwrap();
        assert!(told.contains("--review"), "{told}");
    }
    assert!(!at.join("no").exists());
}

/// `run` compares each exact duplicate with its representative, and says so: `dedup --identical`
/// also removes the copies of other documents.
#[test]
fn identical_is_said_of_the_representative() {
    let place = common::temporary();
    let at = place.path();
    fs::create_dir(at.join("in")).unwrap();
    for (name, text) in [
        ("a", "One two three."),
        ("b", "one two three"),
        ("c", "one two three"),
    ] {
        fs::write(at.join("in").join(name).with_extension("txt"), text).unwrap();
    }
    answer(at, "run in -o out");
    answer(at, "report out");
    let page = fs::read_to_string(at.join("out/report.html")).unwrap();
    let page = page.replace('\u{a0}', " ");
    let says = "0 of 2 are identical to that document, byte for byte; others may be identical to";
    assert!(page.contains(says), "{page}");
    let said = answer(at, "dedup --from out -o kept --identical text");
    assert!(said.contains("1 of 3 documents"), "{said}");
}
