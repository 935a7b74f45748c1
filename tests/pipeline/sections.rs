//! Many records in one file of text: the warning names flags, and these read each as a document.

use lookalike::text::read::{ReadConfig, RecordKind};

use super::reading::{batch, each, lines, perhaps_several};

/// `DOCNO: TEXT` of each document of a file, or `reason: detail` of a reject.
fn read(file: &[u8], name: &str, config: &ReadConfig) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    each(file, name, config, |found| {
        lines(found, words).swap_remove(0)
    })
}

fn at(expression: &str) -> ReadConfig {
    ReadConfig {
        split_at: Some(expression.parse().unwrap()),
        ..ReadConfig::default()
    }
}

/// The parameters that a warning names.
fn advised(detail: &str) -> ReadConfig {
    let (_, flags) = detail
        .rsplit_once("use --")
        .unwrap_or_else(|| panic!("{detail}"));
    let words = shlex::split(&format!("--{flags}")).unwrap();
    let mut config = ReadConfig::default();
    for flag in words.chunks(2) {
        let value = Some(flag[1].clone());
        match &*flag[0] {
            "--split-at" => config.split_at = Some(flag[1].parse().unwrap()),
            "--delimiter" => config.delimiter = value,
            "--quote" => config.quote = value,
            "--text-field" => config.text_field = value,
            "--record" => config.record = value,
            "--columns" => config.columns = value,
            "--format" => config.format = Some(flag[1].parse().unwrap()),
            other => panic!("{other}: {detail}"),
        }
    }
    config
}

#[test]
fn a_line_that_matches_begins_a_record() {
    for (expression, file, expected) in [
        ("^A", "A 1\nb\nA 2\n", &["f:1: A 1 b", "f:2: A 2"][..]),
        ("^A (?<docno>.)", "A 1\r\nb\r\nA 2", &["1: A 1 b", "2: A 2"]),
        ("^A (?<docno>.)", "A 1\rb\rA 2\r", &["1: A 1 b", "2: A 2"]),
        // Anywhere in the line, with its end as the end.
        (
            "x$",
            "a x\r\nb xx y\nc x\n",
            &["f:1: a x b xx y", "f:2: c x"],
        ),
        (
            "^A",
            "head\n\nA 1\n",
            &[
                "bytes between records: before the first line that --split-at matches",
                "f:2: A 1",
            ],
        ),
        ("^A", "\u{feff}A 1\n", &["f:1: A 1"]),
        // The end of a calendar was a part of its last entry.
        (
            "^A|^(?<end>Z)",
            "A 1\nZ\nhead\nA 2\nZ\n",
            &[
                "f:1: A 1",
                "bytes between records: behind the end that --split-at matches",
                "f:3: A 2",
                "bytes between records: behind the end that --split-at matches",
            ],
        ),
        (
            "^A",
            "a\nb\n",
            &["no line that --split-at matches: no line matches ^A"],
        ),
        // Empty lines between records: the file begins with one.
        ("^$", "\n\na\nb\n\n\n\nc\n\n", &["f:1: a b", "f:2: c"]),
        ("", "a\nb", &["f:1: a", "f:2: b"]),
        ("^é\\d", "é1\né٢\nx", &["f:1: é1", "f:2: é٢ x"]),
    ] {
        assert_eq!(
            read(file.as_bytes(), "f", &at(expression)),
            expected,
            "{expression} {file:?}"
        );
    }
    // Formats with records of their own, and markup.
    let json = b"{\"text\":\"A\"}\n";
    assert_eq!(read(json, "f", &at("^A")), ["f:1: A"]);
    let text = ReadConfig {
        format: Some("text".parse().unwrap()),
        ..at("^.")
    };
    assert_eq!(read(json, "f", &text).len(), 1);
    assert_eq!(
        read(b"<p>A\n<p>B\n", "f.html", &at("^<p")),
        ["f.html:1: <p>A", "f.html:2: <p>B"]
    );
    // UTF-16.
    let wide: Vec<u8> = "\u{feff}A é\nb\nA 2\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(read(&wide, "f", &at("^A")), ["f:1: A é b", "f:2: A 2"]);
    for odd in ["(", "a{9}{9}{9}{9}{9}{9}", "(?<a>"] {
        assert!(
            odd.parse::<lookalike::text::read::SplitAt>().is_err(),
            "{odd}"
        );
    }
}

#[test]
fn records_are_as_long_as_they_may_be_and_lines_may_be_longer() {
    let long = "x".repeat(200_000);
    let file = format!("A 1\n{long}\nA 2\n{long}A\nA{long}\n\u{20}\n");
    let most = ReadConfig {
        max_document: "100KiB".parse().unwrap(),
        ..at("^A (?<docno>.)")
    };
    let found = read(file.as_bytes(), "f", &most);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found
            .iter()
            .all(|found| found.starts_with("larger than --max-document"))
    );
    let found = read(file.as_bytes(), "f", &at("^A"));
    assert_eq!(found.len(), 3);
    // What is beyond the first bytes of a line does not count.
    assert_eq!(read(file.as_bytes(), "f", &at("A$")).len(), 1);
}

/// Each of these was one document, and for most of them nothing said so.
#[test]
fn the_warning_names_the_flags_that_read_each_record() {
    let some = "Salmon balcony mountain pepper";
    let other = "Glacier thunder cotton prairie";
    for (what, each, docnos) in [
        ("RIS", "TY  - JOUR\nT1  - £\nER  - \n\n", ""),
        ("MEDLINE", "PMID- 1\nOWN - NLM\nTI  - £\n\n", "1 1"),
        (
            "Web of Science",
            "PT J\nAU Doe, J\nTI £\nUT WOS:1\nER\n\n",
            "",
        ),
        ("EndNote", "%0 Journal Article\n%T £\n%A Doe, J\n\n", ""),
        ("refer", "%A Doe, J\n%T £\n%D 1990\n\n", ""),
        (
            "BibTeX",
            "@article{k§,\n  title = {£},\n  year = 1990\n}\n",
            "kS kG",
        ),
        ("BibTeX", "@BOOK( k§ ,\n  title = \"£\"\n)\n", "kS kG"),
        (
            "LDIF",
            "dn: cn=§\nobjectClass: person\ncn: £\n\n",
            "cn=S cn=G",
        ),
        ("vCard", "BEGIN:VCARD\nFN:£\nEND:VCARD\n", ""),
        ("calendar", "BEGIN:VEVENT\nSUMMARY:£\nEND:VEVENT\n", ""),
        ("news batch", "#! rnews 40\nSubject: £\n\n£\n", ""),
        (
            "CoNLL-U",
            "# newdoc id = §\n1\ta\ta\tX\t_\t_\t0\td\t_\t_\n\n",
            "S G",
        ),
        ("CoNLL", "-DOCSTART- -X- O\n\n£ NN O\n\n", ""),
        (
            "sentences of CoNLL",
            "1\ta\ta\tX\t_\t_\t0\td\t_\t_\n2\t£\ta\tX\t_\t_\t0\td\t_\t_\n\n",
            "",
        ),
        (
            "GenBank",
            "LOCUS       AB1 10 bp\nDEFINITION  £\n//\n",
            "AB1 AB1",
        ),
        (
            "UniProt",
            "ID   A1_HUMAN   Reviewed; £\nAC   P1;\n//\n",
            "A1_HUMAN A1_HUMAN",
        ),
        ("FASTA", ">s1 £\nACGTACGT\nACGT\n", "s1 s1"),
        ("MARCMaker", "=LDR  00714cam\n=245  10$a£\n\n", ""),
        ("PGN", "[Event \"£\"]\n[White \"A\"]\n\n1. e4 e5\n\n", ""),
        ("GEDCOM", "0 @I1@ INDI\n1 NAME £\n", "I1 I1"),
        ("OBO", "[Term]\nid: GO:1\nname: £\n\n", ""),
        (
            "digest",
            "------------------------------\n\nFrom: a\nSubject: £\n\n£\n",
            "",
        ),
        ("YAML", "---\ntitle: £\nlist:\n  - £\n", ""),
        ("chat", "[1/4/23, 7:02:00\u{202f}PM] Ann: £\nand more\n", ""),
        ("chat", "31.12.22, 21:15 - Ann: £\n", ""),
        ("log", "2024-01-31T12:00:00Z INFO £\n    at line\n", ""),
        ("log", "Jan 31 12:00:00 host cron[1]: £\n", ""),
        (
            "log",
            "10.0.0.1 - - [31/Jan/2024:12:00:00 +0000] \"GET /£ HTTP/1.1\"\n",
            "",
        ),
        ("chat", "[12:00] <ann> £\n", ""),
        ("2 columns with ~|^", "1~|^£\n", ""),
        ("3 columns with ::", "1::£::Drama\n", ""),
        ("3 columns with ||", "1||£||Drama\n", ""),
        (
            "3 columns with \\x01",
            "1\u{1}£\u{1}some more words in a cell of it\n",
            "",
        ),
        ("2 columns with US", "1\u{1f}£\n", ""),
        ("2 columns with US", "1\u{1f}£\u{1e}", ""),
        (
            "3 columns with commas",
            "1,£ of many words,\"more, of it\"\n",
            "",
        ),
        (
            "3 columns with tabs",
            "1\t£\tsome more words in a cell\n",
            "",
        ),
    ] {
        // Entries of chats and logs are recognised if there are three.
        let is_table = what.contains("columns");
        let times = if is_table || ["chat", "log"].contains(&what) {
            3
        } else {
            2
        };
        let texts = &[some, other, some][..times];
        let record = |text: &&str| each.replace('§', &text[..1]).replace('£', text);
        let records: Vec<String> = texts.iter().map(record).collect();
        let file = records.concat();
        let marked = format!("\u{feff}{file}");
        let wide = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let cr = file.replace('\n', "\r").into_bytes();
        let files = [file.clone().into_bytes(), cr, marked.into_bytes(), wide];
        let found = files.iter().flat_map(|file| {
            let detail = perhaps_several(file, "f").pop();
            let detail = detail.unwrap_or_else(|| panic!("{what}: {file:?}"));
            assert!(detail.contains(what), "{what}: {detail}");
            let found = read(file, "f", &advised(&detail));
            assert_eq!(found.len(), times, "{what}: {detail}: {found:?}");
            found.into_iter().enumerate()
        });
        for (n, found) in found {
            let docno = match docnos.split(' ').nth(n).unwrap_or_default() {
                "" if is_table => "1".into(),
                "" => format!("f:{}", n + 1),
                docno => docno.to_string(),
            };
            assert!(found.starts_with(&format!("{docno}: ")), "{what}: {found}");
        }
    }
}

#[test]
fn load_files_of_e_discovery_are_tables() {
    let rows = "þBEGDOCþ\u{14}þCUSTODIANþ\u{14}þEXTRACTEDTEXTþ\r\n\
                þA1þ\u{14}þDoeþ\u{14}þWater tunnel “cobble”®®forest, with þþ in itþ\r\n\
                þA2þ\u{14}þDoeþ\u{14}þCradle\r\nof two linesþ\r\n";
    let (narrow, _, _) = encoding_rs::WINDOWS_1252.encode(rows);
    let wide = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    for file in [
        rows.as_bytes().to_vec(),
        format!("\u{feff}{rows}").into(),
        narrow.to_vec(),
        wide(&format!("\u{feff}{rows}")),
    ] {
        let detail = perhaps_several(&file, "load.dat").pop().unwrap();
        assert!(
            detail.ends_with("use --delimiter DC4 --quote þ --text-field EXTRACTEDTEXT"),
            "{detail}"
        );
        let config = ReadConfig {
            id_field: Some("BEGDOC".into()),
            ..advised(&detail)
        };
        let found = read(&file, "load.dat", &config);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("A1: Water tunnel"), "{found:?}");
        assert_eq!(found[1], "A2: Cradle of two lines");
    }
}

#[test]
fn cells_are_separated_and_enclosed_as_the_flags_say() {
    let table = |delimiter: &str, quote: Option<&str>| ReadConfig {
        delimiter: Some(delimiter.into()),
        quote: quote.map(Into::into),
        ..ReadConfig::default()
    };
    for (delimiter, quote, file, expected) in [
        ("~|^", None, "id~|^text\n1~|^a ~ b\n", &["1: a ~ b"][..]),
        (
            "::",
            Some("'"),
            "id::text\n1::'a::b\nc''s'\n",
            &["1: a::b c's"],
        ),
        (
            "|",
            Some("none"),
            "id|text\n1|\"a\n2|b\n",
            &["1: \"a", "2: b"],
        ),
        ("^A", None, "id\u{1}text\n1\u{1}\"a\n", &["1: \"a"]),
        (
            "US",
            None,
            "id\u{1f}text\u{1e}1\u{1f}a\nb\u{1e}2\u{1f}c\u{1e}\n",
            &["1: a b", "2: c"],
        ),
        ("\\x2c", None, "id,text\n1,\"a,b\"\n", &["1: a,b"]),
        ("tab", Some("~"), "id\ttext\n1\t~a\tb~\n", &["1: a b"]),
        // A text that has none is a text.
        (
            ",",
            None,
            "A text\nwithout, or\n",
            &["f: A text without, or"],
        ),
    ] {
        let config = table(delimiter, quote);
        assert_eq!(
            read(file.as_bytes(), "f", &config),
            expected,
            "{delimiter} {file:?}"
        );
    }
    for (delimiter, quote) in [
        ("", None),
        ("\\x0a", None),
        (",", Some("ab")),
        (",", Some(",")),
    ] {
        assert!(
            table(delimiter, quote).check().is_err(),
            "{delimiter} {quote:?}"
        );
    }
}

#[test]
fn actions_of_the_bulk_format_are_read_with_their_documents() {
    let file = concat!(
        "{\"index\":{\"_index\":\"x\",\"_id\":\"d0\"}}\n{\"text\":\"a\"}\n",
        "{\"delete\":{\"_id\":\"d9\"}}\r\n",
        "{\"create\":{}}\r\n{\"id\":7,\"text\":\"b\"}\r\n",
        "{\"update\":{\"_id\":8}}\n{\"doc\":{\"text\":\"c\"},\"doc_as_upsert\":true}\n",
        "{\"index\":{}}\n{\"index\":{\"_id\":\"d1\"}}\n{\"title\":\"none\"}\n",
        "{\"text\":\"alone\"}",
    );
    let found = read(file.as_bytes(), "f", &ReadConfig::default());
    assert_eq!(
        found[..6],
        [
            "d0: a",
            "skipped delete",
            "7: b",
            "8: c",
            "no text field: no document follows the action",
            &found[5],
        ]
    );
    assert!(found[5].starts_with("no text field: "), "{found:?}");
    assert_eq!(found[6..], ["f:6: alone"]);
    // Streams of posts have objects that are called like actions.
    let posts = "{\"delete\":{\"status\":{\"id\":1}}}\n{\"text\":\"a\"}\n";
    assert_eq!(read(posts.as_bytes(), "f", &ReadConfig::default()).len(), 2);
    let whole = batch(file.as_bytes(), "f", &ReadConfig::default());
    let bulk = whole
        .records
        .iter()
        .filter(|record| record.kind == RecordKind::Bulk);
    assert_eq!(bulk.count(), 5);
    let update = b"{\"update\":{}}\n{\"doc\":{\"text\":\"a\"},\"upsert\":{\"text\":\"b\"}}\n";
    let found = each(update, "f", &ReadConfig::default(), |found| {
        lines(found, str::to_string)
    });
    let left = "part of a field left out: the update has doc and upsert, of which doc counts";
    assert_eq!(found.concat(), ["f:1: a", left]);
}
