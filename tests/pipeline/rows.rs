//! The rows of CSV and TSV are documents with the text of their cells, wherever reads end.

use lookalike::base::budget::ByteSize;
use lookalike::text::read::{
    Batch, ContentKind, Format, Interpreted, Markup, ReadConfig, Reason, RecordReader, interpret,
};
use proptest::prelude::*;
use std::io::Read;

/// Gives at most so many bytes at a time.
struct Dribble(Vec<u8>, usize);

impl Read for Dribble {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(out.len()).min(self.0.len());
        out[..n].copy_from_slice(&self.0[..n]);
        self.0.drain(..n);
        Ok(n)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rows {
    /// Docno and text of each document.
    documents: Vec<(String, String)>,
    /// Offset, length and detail of each reject.
    rejected: Vec<(Reason, u64, u64, String)>,
    notices: Vec<(Reason, String)>,
    urls: Vec<Option<String>>,
    markup: usize,
    header: u64,
}

impl Rows {
    fn texts(&self) -> Vec<&str> {
        self.documents.iter().map(|document| &*document.1).collect()
    }

    fn all(&self) -> Vec<(&str, &str)> {
        let documents = self.documents.iter();
        documents.map(|(docno, text)| (&**docno, &**text)).collect()
    }

    fn reasons(&self) -> Vec<Reason> {
        self.rejected.iter().map(|reject| reject.0).collect()
    }

    /// The detail of the only line, which is a reject of the whole file.
    fn refused(&self) -> &str {
        assert_eq!(
            (self.documents.len(), self.rejected.len()),
            (0, 1),
            "{self:?}"
        );
        &self.rejected[0].3
    }
}

fn drain(mut reader: RecordReader, config: &ReadConfig) -> Rows {
    let (mut read, mut batch, mut at) = (Rows::default(), Batch::default(), 0);
    while reader.next_into(&mut batch) {
        let record = &batch.records[0];
        assert!(record.source.offset >= at, "{record:?}");
        at = record.source.offset + record.source.length;
        match interpret(record, &batch.bytes[record.bytes.clone()], config) {
            Interpreted::Document(document) => {
                let text = String::from_utf8_lossy(&document.body).into_owned();
                read.documents.push((document.docno.into_owned(), text));
                read.urls.push(document.url.map(|url| url.into_owned()));
                read.markup += usize::from(document.content == ContentKind::Markup);
                read.notices.extend(document.notices);
            }
            Interpreted::Rejected(reject) => read.rejected.push((
                reject.reason,
                reject.source.offset,
                reject.source.length,
                reject.detail,
            )),
            Interpreted::Skipped(kind) => panic!("{kind}"),
        }
        batch.clear();
    }
    read.header = reader.header;
    read
}

fn read_with(name: &str, bytes: impl AsRef<[u8]>, config: &ReadConfig) -> Rows {
    let bytes = bytes.as_ref();
    let of = |most| {
        let dribble = Dribble(bytes.to_vec(), most);
        drain(RecordReader::from_reader(dribble, name, 0, config), config)
    };
    let whole = of(usize::MAX);
    if bytes.len() < 10_000 {
        for most in [1, 7] {
            assert_eq!(of(most), whole, "{most} bytes at a time");
        }
    } else {
        assert_eq!(of(99_991), whole, "pieces");
    }
    whole
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Rows {
    read_with(name, bytes, &ReadConfig::default())
}

fn with(set: impl FnOnce(&mut ReadConfig)) -> ReadConfig {
    let mut config = ReadConfig::default();
    set(&mut config);
    config
}

/// A CSV file was one document.
#[test]
fn each_row_is_a_document() {
    let expected = [("7", "one, \"two\"\nthree"), ("8", "four")];
    for end in ["\n", "\r\n", "\r"] {
        for mark in ["", "\u{feff}"] {
            for delimiter in [",", ";", "\t", "|"] {
                for last in ["", end] {
                    let text = format!(
                        "{mark}\"id\"{delimiter}text{delimiter}n{end}\
                         7{delimiter}\"one, \"\"two\"\"\nthree\"{delimiter}1{end}{end}\
                         8{delimiter}four{delimiter}\"\"{last}"
                    );
                    // In a file of CR alone, the line feed in the cell would be its line end.
                    let text = match end {
                        "\r" => text.replace('\n', "\r"),
                        _ => text,
                    };
                    let found = read("t.csv", &text);
                    let texts: Vec<_> = found
                        .documents
                        .iter()
                        .map(|(id, text)| (id.clone(), text.replace('\r', "\n")))
                        .collect();
                    assert_eq!(
                        texts,
                        expected.map(|(a, b)| (a.into(), b.into())),
                        "{text:?}"
                    );
                    assert_eq!((&found.rejected, &found.notices), (&vec![], &vec![]));
                    assert_eq!(found.header as usize, mark.len() + 11 + end.len());
                    if delimiter == "\t" {
                        assert_eq!(read("t.tsv", &text), found);
                    }
                    // The extension is not needed where the header is so clear.
                    if delimiter != "|" {
                        assert_eq!(read("t", &text), found, "{text:?}");
                    }
                }
            }
        }
    }
    let excel = read("t.csv", "sep=;\r\ntext;id\r\na, b;1\r\n");
    assert_eq!(excel.all(), [("1", "a, b")]);
}

#[test]
fn columns_have_the_usual_names_in_any_case_or_numbers() {
    let table = "ID,Title,Body,URL,note\n1,t,b,http://x/,n\n2,,,,n\n,t3,b3,,\n";
    let usual = read("t.csv", table);
    assert_eq!(usual.all(), [("1", "b"), ("t.csv:3", "b3")]);
    assert_eq!(usual.urls, [Some("http://x/".into()), None]);
    assert_eq!(
        usual.rejected,
        [(Reason::MissingText, 41, 7, "nothing in Body".into())]
    );
    for (text, id, expected) in [
        (
            "note",
            "URL",
            [("http://x/", "n"), ("t.csv:2", "n")].as_slice(),
        ),
        (
            "5,title",
            "4",
            &[("http://x/", "n\nt"), ("t.csv:2", "n"), ("t.csv:3", "t3")],
        ),
        ("Title , 3", "5", &[("n", "t\nb"), ("t.csv:3", "t3\nb3")]),
        ("body", "nothing", &[("t.csv:1", "b"), ("t.csv:3", "b3")]),
    ] {
        let config = with(|config| {
            config.text_field = Some(text.into());
            config.id_field = Some(id.into());
        });
        assert_eq!(read_with("t.csv", table, &config).all(), expected, "{text}");
    }
    let config = with(|config| config.text_field = Some("titel".into()));
    assert_eq!(
        read_with("t.csv", table, &config).refused(),
        "no field titel; it has ID (integer), Title (string), Body (string), URL (string), note \
         (string); did you mean Title?"
    );
    let auto = with(|config| config.markup = Some(Markup::Auto));
    let table = "html,type\n<p>a</p>,\n\"<html>\n<p>b\",\nc,text/plain\n";
    let never = with(|config| config.markup = Some(Markup::Never));
    assert_eq!(read_with("t.csv", table, &never).markup, 0);
    let page = read("t.csv", table);
    assert_eq!((page.documents.len(), page.markup), (3, 3));
    let table = "text,type\n<p>a</p>,\n\"<html>\n<p>b\",\nc,text/html\n";
    assert_eq!(read("t.csv", table).markup, 1);
    let page = read_with("t.csv", table, &auto);
    assert_eq!((page.documents.len(), page.markup), (3, 2));
}

#[test]
fn a_table_without_a_text_is_no_document() {
    assert_eq!(
        read("t.csv", "key;answer\n1;yes it is\n").refused(),
        "none of text, contents, content, body, html, raw_content, article; it has key (integer), \
         answer (string); the longest text is in answer"
    );
    assert_eq!(
        read("t.csv", "1,some text of more words\n2,more\n").refused(),
        "its first row does not look like names of columns: 1, some text of more words; name them \
         with --columns id,text"
    );
    assert_eq!(
        read("t.csv", "# a comment\nid,text\n1,a\n").refused(),
        "its first row has 1 cell and the next 2; remove what precedes the names of the columns"
    );
    // A name that is a number, and not the column of this number.
    let table = "id,b,7,d,e,f,g\n1,,yes it is,2,3,4,5\n";
    let detail = read("t.csv", table).refused().to_string();
    assert!(
        detail.ends_with("; the longest text is in \"7\""),
        "{detail}"
    );
    let config = with(|config| config.text_field = Some("\"7\"".into()));
    assert_eq!(
        read_with("t.csv", table, &config).all(),
        [("1", "yes it is")]
    );
    let long = format!("\"{}", "word ".repeat(20_000));
    assert_eq!(read("t.csv", long).reasons(), [Reason::BadRow]);
    assert_eq!(read("t.csv", "\n\n").refused(), "it has no row");
    assert_eq!(read("t.csv", "").reasons(), [Reason::EmptyFile]);
    assert_eq!(
        read("t.csv", "id,text\n"),
        Rows {
            header: 8,
            ..Rows::default()
        }
    );
    assert_eq!(
        read("t.csv", b"PK\x03\x04....").reasons(),
        [Reason::BinaryFile]
    );
    // Content that is another format decides.
    assert_eq!(
        read("t.csv", "{\"id\":1,\"text\":\"a\"}\n").all(),
        [("1", "a")]
    );
}

#[test]
fn columns_can_be_named_on_the_command_line() {
    let named = |names: &str| with(|config| config.columns = Some(names.into()));
    let rows = "1,a,b\n2,c,\"d\ne\"\n";
    let found = read_with("t.csv", rows, &named("id, text ,x"));
    assert_eq!(
        (found.all(), found.header),
        (vec![("1", "a"), ("2", "c")], 0)
    );
    let found = read_with("t.csv", rows, &named("x,id,text"));
    assert_eq!(found.all(), [("a", "b"), ("c", "d\ne")]);
    // The same names in the file are a header after all.
    let found = read_with("t.csv", "id,text\n1,a\n", &named("id,text"));
    assert_eq!((found.all(), found.header), (vec![("1", "a")], 8));
    let found = read_with("t.csv", rows, &named("id,text"));
    assert_eq!(found.reasons(), [Reason::BadRow; 2]);
    let by_number = with(|config| config.text_field = Some("2".into()));
    // A first row whose cell is the number of the column is a row, unless all its cells are numbers.
    for (rows, texts) in [
        ("1,a\n2,b\n", &["a", "b"][..]),
        ("2,a\n3,b\n", &["a", "b"]),
        ("1,2\na,b\n", &["b"]),
        // Beside other names, a number is not a name.
        ("2,text,x\n1,a,b\n", &["a"]),
    ] {
        assert_eq!(read_with("t.csv", rows, &by_number).texts(), texts);
    }
}

/// MS MARCO has no header, and quotes in it are quotes.
#[test]
fn collections_of_ms_marco_are_recognised() {
    let lines =
        "0\tThe \"presence\" of it.\n1\t\"He said, so\n2\tIt ends there\"\n10\t5\" and \"\"\n";
    let expected = [
        ("0", "The \"presence\" of it."),
        ("1", "\"He said, so"),
        ("2", "It ends there\""),
        ("10", "5\" and \"\""),
    ];
    for name in ["collection.tsv", "collection.tsv.gz", "-"] {
        let found = read(name, lines);
        assert_eq!(found.all(), expected, "{name}");
        assert_eq!((found.header, found.rejected.len()), (0, 0));
    }
    assert_eq!(
        read("q.tsv", "q1\ta\nq2\tb\n").all(),
        [("q1", "a"), ("q2", "b")]
    );
    let documents = "D1\thttp://a/\tTitle\tbody\nD2\thttp://b/\t\tmore\n";
    let found = read("docs.tsv", documents);
    assert_eq!(found.all(), [("D1", "body"), ("D2", "more")]);
    assert_eq!(found.urls[1].as_deref(), Some("http://b/"));
    // Names of columns are none of it.
    assert_eq!(
        read("t.tsv", "sentence1\tsentence2\nA cat.\tA dog.\n").reasons(),
        [Reason::MissingText]
    );
}

/// Whether quotes of TSV mean anything is seen from those in the first 64 KiB.
#[test]
fn quotes_of_tsv_are_quotes_if_its_writer_doubles_them() {
    let glue = "id\ttext\n1\t\"One \"two\" three\n2\tends\" here\"\n3\t6\" wide\n";
    let found = read("t.tsv", glue);
    assert_eq!(
        found.texts(),
        ["\"One \"two\" three", "ends\" here\"", "6\" wide"]
    );
    let pandas = "id\ttext\n1\t\"One \"\"two\"\"\nthree\tfour\"\n2\tfive\n";
    assert_eq!(
        read("t.tsv", pandas).texts(),
        ["One \"two\"\nthree\tfour", "five"]
    );
    // Spark puts a backslash before them.
    let spark = "id,text\n1,\"One \\\"two\\\", three\n\\\"four\\\"\"\n2,\"C:\\\\\"\n";
    let found = read("t.csv", spark);
    assert_eq!(found.texts(), ["One \"two\", three\n\"four\"", "C:\\"]);
}

/// A quote that is not closed costs its line.
#[test]
fn a_quote_that_is_not_closed_takes_one_line() {
    let table = "id,text\n1,a\n2,\"not closed\n3,c\n4,\"d, \"\"e\"\"\"\n5,\"f\ng\"\n6,h\n";
    let found = read("t.csv", table);
    let expected = [
        ("1", "a"),
        ("3", "c"),
        ("4", "d, \"e\""),
        ("5", "f\ng"),
        ("6", "h"),
    ];
    assert_eq!(found.all(), expected);
    let line = "a quote is not closed; 14 bytes, up to a line end, are left out";
    assert_eq!(found.rejected, [(Reason::BadRow, 12, 14, line.into())]);
    // At the end of the file as well.
    let found = read("t.csv", "id,text\n1,a\n2,\"b\n3,c\n");
    assert_eq!(found.all(), [("1", "a"), ("3", "c")]);
    assert_eq!(
        found.rejected[0].1..found.rejected[0].1 + found.rejected[0].2,
        12..17
    );
    // Within one line, what follows a quote goes on with the cell.
    let found = read("t.csv", "id,text\n1,\"a\" b\n2,\"c\" ,\n3,d \"e\"\n");
    assert_eq!(found.all(), [("1", "a b"), ("2", "c "), ("3", "d \"e\"")]);
    assert_eq!(found.reasons(), [Reason::BadRow; 0]);
}

#[test]
fn a_long_row_with_a_quote_that_is_not_closed_ends_at_the_limit() {
    let rows = |n: usize| -> String { (0..n).map(|n| format!("{n},row {n} of some\n")).collect() };
    let many = rows(100_000);
    // Within 1 MiB, what follows shows it.
    let near = format!("id,text\nx,\"open\n{}y,\"closed\"\n", &rows(20_000));
    let found = read("t.csv", near);
    assert_eq!((found.documents.len(), found.rejected.len()), (20_001, 1));
    assert_eq!(found.rejected[0].2, 8);
    // Beyond that, the rows up to there are lost, and counted.
    let far = format!("id,text\nx,\"open\n{many}y,\"closed\"\nz,last\n");
    let found = read("t.csv", &far);
    assert_eq!(found.all(), [("z", "last")]);
    assert_eq!(found.rejected[0].0, Reason::BadRow);
    assert_eq!(
        found.rejected[0].1 + found.rejected[0].2,
        far.len() as u64 - 7
    );
    // No quote is waited for beyond --max-document.
    let config = with(|config| config.max_document = ByteSize(1_200_000));
    let found = read_with("t.csv", &far, &config);
    let at = 8 + 1_200_000;
    let end = at
        + far.as_bytes()[at..]
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap()
        + 1;
    assert_eq!(found.rejected[0].0, Reason::TooLarge);
    assert_eq!(found.rejected[0].2 as usize, end - 8);
    assert_eq!(found.rejected.len(), 1);
    let left = far[end..].lines().count();
    assert_eq!(found.documents.len(), left);
    // A large row is not a reason to look for quotes that are not there.
    let large = format!("id,text\n1,\"{}\"\n2,b\n", "word\n".repeat(500_000));
    let found = read("t.csv", &large);
    assert_eq!(found.documents.len(), 2);
    assert_eq!(found.documents[0].1.len(), 2_500_000);
}

#[test]
fn rows_that_do_not_fit_their_header_are_reported() {
    let found = read("t.csv", "id,text,n\n1,a\n2,b, c,3\n3,d,4,,\n4,e,5\n");
    assert_eq!(found.all(), [("1", "a"), ("3", "d"), ("4", "e")]);
    let few = (Reason::BadRow, "2 cells; the table has 3 columns".into());
    assert_eq!(found.notices, [few]);
    let many = "4 cells; the table has 3 columns; a cell with the delimiter needs quotes";
    assert_eq!(found.rejected, [(Reason::BadRow, 14, 9, many.into())]);
    // `cat a.csv b.csv`: the second header was a document called id, or U+FEFF and id.
    for (name, table) in [
        ("t.csv", "id,text\n1,a\nid,text\ntext,b text\n"),
        (
            "t.csv",
            "id,text\r\n1,a\r\n\u{feff}\"id\",\"text\"\r\ntext,b text",
        ),
        (
            "t.tsv",
            "\u{feff}text\tid\na\t1\n\u{feff}text\tid\nb text\ttext\n",
        ),
        ("t.csv", "id,text\n1,a\ntext,b text\n\u{feff}id,text"),
    ] {
        let found = read(name, table);
        assert_eq!(found.all(), [("1", "a"), ("text", "b text")], "{table}");
        assert_eq!(found.reasons(), [Reason::BadRow], "{table}");
    }
    let found = read_with(
        "t.csv",
        "id,text\n1,abcdefgh\n2,b\n",
        &with(|config| {
            config.max_document = ByteSize(8);
        }),
    );
    assert_eq!(
        (found.texts(), found.reasons()),
        (vec!["b"], vec![Reason::TooLarge])
    );
}

#[test]
fn texts_are_no_tables() {
    for text in [
        "Dear text, dear reader\nI write this, and that\n",
        "text, title\nof, this\n",
        "text\nbody\n",
        "text,title\n",
        "text,body\nOne line with, two, commas\n",
        "1\tone word\n2\tmore words here\n",
        "1\tone two three\n1\tone two three\n1\ta b c\n",
        "the\t7\nof\t5\nand\t3\n",
        "1. First\t1\n2. Second\t2\n3. Third\t3\n",
    ] {
        for name in ["t", "t.txt", "t.md"] {
            let found = read(name, text);
            assert_eq!(found.all(), [(name, text)], "{text}");
        }
    }
    let table = "text,title\na,b\n";
    let forced = |format| with(|config| config.format = Some(format));
    assert_eq!(
        read_with("t.csv", table, &forced(Format::Text)).texts(),
        [table]
    );
    assert_eq!(
        read_with("t.txt", table, &forced(Format::Csv)).texts(),
        ["a"]
    );
    assert_eq!(
        read_with("t.txt", "text\ttitle\na\tb\n", &forced(Format::Tsv)).texts(),
        ["a"]
    );
}

#[derive(Clone, Copy, Debug)]
struct Style {
    delimiter: u8,
    end: csv::Terminator,
    quote: csv::QuoteStyle,
    doubled: bool,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// What the csv crate writes is read as it was.
    #[test]
    fn what_is_written_is_read(
        rows in proptest::collection::vec(
            proptest::collection::vec("[a-c ,;|\"\\t\\n\u{e9}]{0,12}", 3), 1..12),
        delimiter in proptest::sample::select(vec![b',', b';', b'\t', b'|']),
        crlf in any::<bool>(),
        always in any::<bool>(),
        most in 1usize..40,
        cut in any::<bool>(),
    ) {
        let style = Style {
            delimiter,
            end: if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') },
            quote: if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary },
            doubled: true,
        };
        let mut writer = csv::WriterBuilder::new()
            .delimiter(style.delimiter)
            .terminator(style.end)
            .quote_style(style.quote)
            .double_quote(style.doubled)
            .from_writer(Vec::new());
        writer.write_record(["n", "title", "text"]).unwrap();
        for (n, row) in rows.iter().enumerate() {
            writer.write_record([&n.to_string(), &row[1], &row[2]]).unwrap();
        }
        let mut bytes = writer.into_inner().unwrap();
        if cut && bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        let config = with(|config| config.id_field = Some("n".into()));
        let dribble = Dribble(bytes.clone(), most);
        let found = drain(RecordReader::from_reader(dribble, "t.csv", 0, &config), &config);
        let has_text = |text: &str| !text.trim_ascii().is_empty();
        let expected: Vec<(String, String)> = rows.iter().enumerate()
            .filter(|(_, row)| has_text(&row[2]))
            .map(|(n, row)| (n.to_string(), row[2].clone()))
            .collect();
        prop_assert_eq!(&found.documents, &expected, "{:?}", String::from_utf8_lossy(&bytes));
        prop_assert_eq!(found.documents.len() + found.rejected.len(), rows.len());
        prop_assert!(found.rejected.iter().all(|reject| reject.0 == Reason::MissingText));
    }
}
