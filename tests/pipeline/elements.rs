//! Markup is split at the elements that `--record` names, and their fields are read.

use lookalike::text::parse::{ParseConfig, Parser};
use lookalike::text::read::{Interpreted, ReadConfig, Reason, Record, RecordKind, interpret};
use proptest::prelude::*;

use super::reading::{batch, each, line, lines, perhaps_several, records};

fn config(record: &str) -> ReadConfig {
    ReadConfig {
        record: Some(record.into()),
        ..ReadConfig::default()
    }
}

/// The records of a file, and `reason: detail` in place of rejects; however reads are split.
fn split(file: &[u8], config: &ReadConfig) -> Vec<String> {
    let batch = batch(file, "a.xml", config);
    let show = |record: &Record| match &record.kind {
        RecordKind::Rejected(reject) => line(reject),
        _ => {
            let bytes = &batch.bytes[record.bytes.clone()];
            let start = record.source.offset as usize;
            assert_eq!(bytes, &file[start..start + record.source.length as usize]);
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    batch.records.iter().map(show).collect()
}

#[test]
fn elements_are_records_whatever_is_around_and_inside_them() {
    for (name, file, expected) in [
        (
            "p",
            "<r><p>a</p> <p/>\n<p x='>' y=\"'/>\">b</p ></r>",
            vec!["<p>a</p>", "<p/>", "<p x='>' y=\"'/>\">b</p >"],
        ),
        // Elements of the same name in a record are part of it.
        (
            "p",
            "<r><p>a<p>b</p><p/>c<p><p>d</p></p></p><p>e</p></r>",
            vec!["<p>a<p>b</p><p/>c<p><p>d</p></p></p>", "<p>e</p>"],
        ),
        // Other names that begin alike, and other places of the name.
        (
            "p",
            "<r><pp>x</pp><q p='<'/><p>p<pq/> < p></p></r>",
            vec!["<p>p<pq/> < p></p>"],
        ),
        (
            "p",
            "<!-- <p>no</p> --><r><![CDATA[<p>]]><p><!-- </p> --><![CDATA[</p>]]>a</p></r>",
            vec!["<p><!-- </p> --><![CDATA[</p>]]>a</p>"],
        ),
        (
            "p",
            "<r><?x <p> ?><p>a<?x </p> ?></p></r>",
            vec!["<p>a<?x </p> ?></p>"],
        ),
        (
            "p",
            "<!DOCTYPE r [<!-- ]> --><!ENTITY p \"<p>no</p>\">]><r><p>a</p></r>",
            vec!["<p>a</p>"],
        ),
        // What does not end is text.
        (
            "p",
            "<r><p>a<!-- <![CDATA[ <? b</p><p>c</p></r>",
            vec!["<p>a<!-- <![CDATA[ <? b</p>", "<p>c</p>"],
        ),
        (
            "p",
            "<r><p>a<!-- b</p><!-- c --><p>d</p></r>",
            vec!["<p>a<!-- b</p>", "<p>d</p>"],
        ),
        // The end of the file was seen when the first element turned out not to be closed.
        (
            "p",
            "<r><p>a<p>b</p><!-- <p>no</p> --><!-- c",
            vec![
                "DOC not closed: <p>: another begins after 4 bytes",
                "<p>b</p>",
            ],
        ),
        // Prefixes, and letters in upper and lower case.
        (
            "p",
            "<r><x:p>a</x:p><P>b</P></r>",
            vec!["<x:p>a</x:p>", "<P>b</P>"],
        ),
        (
            "p",
            "<?xml version='1.0'?><r><P>a</P><p>b</p></r>",
            vec!["<p>b</p>"],
        ),
        ("p", "<r xmlns='u'><P>a</P><p>b</p></r>", vec!["<p>b</p>"]),
        (
            "x:p",
            "<r><p>a</p><x:p>b</x:p><y:p>c</y:p></r>",
            vec!["<x:p>b</x:p>"],
        ),
        // In HTML, tags in attributes of others, and in elements without tags, do not count.
        (
            "p",
            "<html><p a='<p>x</p>'>b<a t=\"</p>\">c</a><script>'</p>'</script></p><p>d</p></html>",
            vec![
                "<p a='<p>x</p>'>b<a t=\"</p>\">c</a><script>'</p>'</script></p>",
                "<p>d</p>",
            ],
        ),
        (
            "p",
            "<html><p>a<Style>p</p></sTYLE ><textarea></p></textarea></p><script><p>b</p></html>",
            vec![
                "<p>a<Style>p</p></sTYLE ><textarea></p></textarea></p>",
                "<p>b</p>",
            ],
        ),
        // A quote that is not closed.
        (
            "p",
            "<html><p>a<a t=\"b</p><p c=\"d\">e</p></html>",
            vec!["<p>a<a t=\"b</p>", "<p c=\"d\">e</p>"],
        ),
        // Elements that are not closed.
        (
            "p",
            "<r><p>a<p>b</p><p>c</p></r>",
            vec![
                "DOC not closed: <p>: another begins after 4 bytes",
                "<p>b</p>",
                "<p>c</p>",
            ],
        ),
        (
            "p",
            "<r><p>a</p><p>b</r>",
            vec![
                "<p>a</p>",
                "record cut off: the stream ends after 8 bytes of the record",
            ],
        ),
        (
            "p",
            "<r><p a=\"1><p a=\"2\">b</p></r>",
            vec![
                "DOC not closed: <p>: another begins after 8 bytes",
                "<p a=\"2\">b</p>",
            ],
        ),
        (
            "p",
            "<r>a</p></r>",
            vec!["no element given by --record: no element <p>"],
        ),
        (
            "p",
            "<r/>",
            vec!["no element given by --record: no element <p>"],
        ),
        // The element is in the first bytes of what does not begin like markup.
        ("p", "Head: x\n\n<p>a</p>", vec!["<p>a</p>"]),
    ] {
        assert_eq!(split(file.as_bytes(), &config(name)), expected, "{file}");
    }
    let marked = [b"\xef\xbb\xbf", &b"<r><p>a</p></r>"[..]].concat();
    assert_eq!(split(&marked, &config("p")), ["<p>a</p>"]);
    let small = ReadConfig {
        max_document: lookalike::base::budget::ByteSize(8),
        ..config("p")
    };
    let (long, short) = ("<p>123456789</p>", "<p>a</p>");
    assert_eq!(
        split([long, short].concat().as_bytes(), &small),
        [
            "larger than --max-document: 16 bytes, at most 8 are read",
            short,
        ]
    );
}

#[test]
fn other_files_are_read_as_without_the_flag() {
    for (name, file) in [
        ("a.txt", "a text < b"),
        ("a.jsonl", "{\"text\":\"<p>a</p>\"}"),
        ("a.eml", "Subject: s\n\n<b>a</b>"),
        (
            "a",
            "From a@b Mon Jan  5 10:00:00 2004\nSubject: s\n\n<p>a</p>\n",
        ),
        (
            "a",
            "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
        ),
    ] {
        let with = records(file.as_bytes(), name, &config("p"), usize::MAX);
        let without = records(file.as_bytes(), name, &ReadConfig::default(), usize::MAX);
        assert_eq!(with.records, without.records, "{file}");
    }
    // The flag comes before the rules of TREC.
    let trec = b"<DOC><DOCNO>a</DOCNO><p>b</p></DOC>";
    assert_eq!(split(trec, &config("p")), ["<p>b</p>"]);
}

/// Elements that are not closed, and asides that do not end, cost no more than a linear search.
#[test]
fn hostile_markup_is_read() {
    for unit in [
        "<p>",
        "<p a=\"",
        "<p><!--",
        "<!--",
        "<![CDATA[",
        "<?",
        "<p><![CDATA[<?",
        "<!DOCTYPE [",
        "<a>",
        "<p/",
        "</p>",
        "<p><a></p",
        "<x:",
    ] {
        let file = ["<r><p>", &unit.repeat(200_000 / unit.len())].concat();
        let batch = records(file.as_bytes(), "a.xml", &config("p"), usize::MAX);
        for record in &batch.records {
            let bytes = &batch.bytes[record.bytes.clone()];
            let _ = interpret(record, bytes, &config("p"));
        }
        assert!(
            batch.records.last().is_some_and(|last| {
                last.source.offset + last.source.length <= file.len() as u64
            })
        );
    }
}

/// An open comment, script or quote in a list item, a column or a part of a mail took the next one.
#[test]
fn what_a_value_leaves_open_ends_with_it() {
    let mail = |parts: &[(&str, &str)]| {
        let part =
            |(kind, text): &(&str, &str)| format!("--b\nContent-Type: text/{kind}\n\n{text}\n");
        let parts: String = parts.iter().map(part).collect();
        format!("From: a@b\nContent-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n")
    };
    let three = mail(&[
        ("html", "<p>a <!-- x"),
        ("plain", "b <i> --> c"),
        ("html", "d <script>y"),
        ("html", "<p>e</script> f"),
    ]);
    for (name, file, fields, expected) in [
        (
            "f.jsonl",
            r#"{"html":["<p>a <!-- x","<p>b --> c","<p t='y","d' e"]}"#,
            "html",
            "a b --> c d' e",
        ),
        (
            "f.csv",
            "html,text\n<p>a <script>x,b </script> c <!--\n",
            "html,text",
            "a b </script> c <!--",
        ),
        ("f.eml", &three, "", "a b <i> --> c d e f"),
    ] {
        let config = ReadConfig {
            text_field: (!fields.is_empty()).then(|| fields.into()),
            ..ReadConfig::default()
        };
        let found = each(file.as_bytes(), name, &config, |found| match found {
            Interpreted::Document(document) => words(&document),
            other => panic!("{other:?}"),
        });
        assert_eq!(found, [expected], "{name}");
    }
}

/// The name, the URL, the title and the words of the only record of a file.
fn read(file: &[u8], config: &ReadConfig) -> (String, Option<String>, Option<String>, String) {
    let found = each(file, "f", config, |found| match found {
        Interpreted::Document(document) => (
            document.docno.to_string(),
            document.url.as_deref().map(Into::into),
            document.title.as_deref().map(Into::into),
            words(&document),
        ),
        other => panic!("{other:?}"),
    });
    let [read] = <[_; 1]>::try_from(found).unwrap();
    read
}

fn words(document: &lookalike::text::read::RawDocument<'_>) -> String {
    let mut text = Vec::new();
    Parser::new(&ParseConfig::default()).text(document, &mut text);
    String::from_utf8(text)
        .unwrap()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn fields_are_elements_and_attributes() {
    let page = "<r><page><title>A &amp; B</title><ns>0</ns><id>12</id><revision><id>99</id>\
        <text bytes='9'>'''a''' &lt;ref&gt;b&lt;/ref&gt; &amp;lt; c&#233;</text></revision></page></r>";
    let row = "<?xml version='1.0'?><posts><row Id='7' Title='T' Score=\"5\" \
        Body=\"&lt;p&gt;one &amp;amp; two&lt;/p&gt;&lt;b&gt;x&lt;/b&gt;y\" /></posts>";
    let item = "<rss><channel><item><guid>g</guid><link>http://x/</link><title>T</title>\
        <description>&lt;p&gt;short</description>\
        <content:encoded><![CDATA[<p>in <i>full</i></p>]]></content:encoded></item></channel></rss>";
    let entry = "<feed xmlns='a'><entry><author><id>no</id></author><id>urn:1</id>\
        <link rel='x' href='http://y/?a&amp;b'/><content type='html'>&lt;b&gt;c</content></entry></feed>";
    let filing = "<SUBMISSION><DOCUMENT>\n<TYPE>10-K\n<SEQUENCE>1\n<FILENAME>a.htm\n<TEXT>\n<html>\
        <title>T</title><body>a &amp; <b>b</b></body></html>\n</TEXT>\n</DOCUMENT></SUBMISSION>";
    let citation = "<s xmlns='u'><article><a><PMID Version='1'>44</PMID><Abs><t>x</t></Abs></a>\
        <b><PMID>5</PMID></b></article></s>";
    let text = "<c><text id='5'>a<br/>b</text></c>";
    type Case<'c> = (&'c str, &'c str, [Option<&'c str>; 3], [&'c str; 4]);
    let cases: &[Case<'_>] = &[
        (
            "page",
            page,
            [None; 3],
            ["12", "", "A & B", "A & B 0 99 '''a''' <ref>b</ref> &lt; cé"],
        ),
        (
            "page",
            page,
            [Some("title,revision.text"), Some("revision.id"), Some("ns")],
            ["99", "0", "A & B", "A & B '''a''' <ref>b</ref> &lt; cé"],
        ),
        // Of several ways, the first that is there.
        (
            "item",
            item,
            [
                Some("body|description,none|title[]"),
                Some("none|guid"),
                None,
            ],
            ["g", "http://x/", "T", "short T"],
        ),
        // A name that no child has is looked for below.
        (
            "page",
            page,
            [Some("text"), Some("text.@bytes"), None],
            ["9", "", "A & B", "'''a''' <ref>b</ref> &lt; cé"],
        ),
        ("row", row, [None; 3], ["7", "", "T", "one & two xy"]),
        (
            "row",
            row,
            [Some("@Title"), Some("Score"), None],
            ["5", "", "T", "T"],
        ),
        (
            "item",
            item,
            [None; 3],
            ["f:1", "http://x/", "T", "g T short in full"],
        ),
        (
            "item",
            item,
            [Some("description"), Some("guid"), None],
            ["g", "http://x/", "T", "short"],
        ),
        (
            "entry",
            entry,
            [None; 3],
            ["urn:1", "http://y/?a&b", "", "no c"],
        ),
        (
            "document",
            filing,
            [None, Some("FILENAME"), None],
            ["a.htm", "", "", "10-K 1 a.htm T a & b"],
        ),
        ("article", citation, [None; 3], ["44", "", "", "44 x 5"]),
        (
            "article",
            citation,
            [Some("a.Abs"), Some("b.PMID"), None],
            ["5", "", "", "x"],
        ),
        ("text", text, [None; 3], ["5", "", "", "a b"]),
        (
            "TextLine",
            "<a:alto xmlns:a='u'><a:TextLine ID='7'><a:String CONTENT='b'/><a:SP/>\
             <a:String CONTENT='c'/></a:TextLine></a:alto>",
            [None; 3],
            ["7", "", "", "b c"],
        ),
        // What a field leaves open ends with it.
        (
            "item",
            "<r><item><html>&lt;p>a &lt;!-- b</html><t>c --></t></item></r>",
            [None; 3],
            ["f:1", "", "", "a c -->"],
        ),
        (
            "item",
            "<r><item><html>&lt;p>a &lt;a href='b</html><t>c' > d</t></item></r>",
            [Some("html,t"), None, None],
            ["f:1", "", "", "a c' > d"],
        ),
        // An attribute of elements within each other.
        (
            "o",
            "<o><b><p t='x'><p t='y'/></p></b></o>",
            [Some("p.@t"), None, None],
            ["f:1", "", "", "x y"],
        ),
        // A style sheet of HTML, in the page of which it is a part or in escaped markup, and not.
        (
            "div",
            "<?xml version='1.0'?><html><div id='1'><style>x</style>a</div></html>",
            [None; 3],
            ["1", "", "", "a"],
        ),
        (
            "item",
            "<?xml version='1.0'?><r><item><html>&lt;style>x&lt;/style>a</html></item></r>",
            [None; 3],
            ["f:1", "", "", "a"],
        ),
        (
            "p",
            "<?xml version='1.0'?><book><p><style>x</style>a</p></book>",
            [None; 3],
            ["f:1", "", "", "x a"],
        ),
    ];
    for (record, file, [text, id, url], [docno, link, title, words]) in cases {
        let config = ReadConfig {
            text_field: text.map(Into::into),
            id_field: id.map(Into::into),
            url_field: url.map(Into::into),
            ..config(record)
        };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
        let expected = (
            docno.to_string(),
            some(link),
            some(title),
            words.to_string(),
        );
        assert_eq!(
            read(file.as_bytes(), &config),
            expected,
            "{file} {config:?}"
        );
    }
}

/// The declaration is not in the records, but in their file.
#[test]
fn records_are_in_the_charset_of_their_file() {
    let latin =
        b"<?xml version=\"1.0\" encoding=\"iso-8859-2\"?><r><p id='\xb3'>\xb3\xf3d\xbc</p></r>";
    assert_eq!(
        read(latin, &config("p")),
        ("ł".into(), None, None, "łódź".into())
    );
    let wide = "<?xml version=\"1.0\" encoding=\"utf-16\"?><r><p id='ł'>łódź</p></r>";
    assert_eq!(read(wide.as_bytes(), &config("p")).3, "łódź");
    let undeclared = "<r><p><text>łódź &lt;b></text></p></r>";
    assert_eq!(read(undeclared.as_bytes(), &config("p")).3, "łódź <b>");
    let declared = "<?xml version=\"1.0\" encoding=\"shift_jis\"?>";
    let bundle = "<ROOT><DOC><DOCNO>a</DOCNO><TEXT>之</TEXT></DOC></ROOT>";
    let solr = "<add><doc><field name='id'>a</field><field name='body'>之</field></doc></add>";
    let page = "<html><head><meta charset=shift_jis></head><body><p>之</p></body></html>";
    let late = page.replace("<meta", &format!("{}<meta", " ".repeat(1100)));
    let own = "<html><p><meta charset=shift_jis>之</p>";
    let sections = ReadConfig {
        split_at: "^<p>".parse().ok(),
        ..ReadConfig::default()
    };
    let last = |bytes: &[u8], config: &ReadConfig| {
        let found = each(bytes, "f", config, |found| match found {
            // Solr's fields are the text, with the id.
            Interpreted::Document(document) => words(&document).trim_start_matches("a ").into(),
            other => format!("{other:?}"),
        });
        found.last().cloned().unwrap_or_default()
    };
    for (file, config) in [
        (format!("{declared}{bundle}"), ReadConfig::default()),
        (format!("{declared}{solr}"), ReadConfig::default()),
        (format!("{declared}<r>{bundle}</r>"), config("DOC")),
        (page.into(), config("p")),
        (late, config("p")),
        (own.into(), config("p")),
        (format!("{declared}\n<p>之"), sections.clone()),
    ] {
        let bytes = encoding_rs::SHIFT_JIS.encode(&file).0;
        assert_eq!(last(&bytes, &config), "之", "{file}");
    }
    let latin = "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>";
    let long = "x".repeat(1000);
    for (file, config) in [
        // Only a tag `meta` with a known label says anything.
        (
            "<html><a charset=latin1>b</a><p>łódź</p>".into(),
            config("p"),
        ),
        (
            "<html></meta charset=latin1><p>łódź</p>".into(),
            config("p"),
        ),
        (
            "<html><meta charset=\"utf-8><link rel=\"x\" a=b><p>łódź</p>".into(),
            config("p"),
        ),
        ("<html><meta charset='a>b'><p>łódź</p>".into(), config("p")),
        (
            format!("<html><meta charset={long}><p>łódź</p>"),
            config("p"),
        ),
        // A byte order mark says more than a label.
        (
            "\u{feff}<html><meta charset=latin1><p>łódź</p>".into(),
            config("p"),
        ),
        (format!("\u{feff}{latin}<r><p>łódź</p></r>"), config("p")),
        (
            format!("\u{feff}{latin}{bundle}").replace('之', "łódź"),
            ReadConfig::default(),
        ),
        (
            format!("\u{feff}{latin}{solr}").replace('之', "łódź"),
            ReadConfig::default(),
        ),
        // So do labels of the record.
        (
            format!("{latin}\n<p>a\n<p><meta charset=utf-8>łódź"),
            sections.clone(),
        ),
    ] {
        assert_eq!(last(file.as_bytes(), &config), "łódź", "{file}");
    }
    // A false label of the record says nothing.
    let false_label =
        b"<?xml version='1.0' encoding='iso-8859-2'?>\n<p><meta charset=utf-8>\xb3\xf3d\xbc";
    assert_eq!(last(false_label, &sections), "łódź");
    let file = b"<?xml version='1.0' encoding='utf-8'?>\n<p><meta charset=windows-1251>\xef\xf0\xe8\xe2\xe5\xf2";
    assert_eq!(last(file, &sections), "привет");
    // A late tag says nothing of bytes that are UTF-8.
    let late = format!("<html>{}<meta charset=latin1><p>łódź</p>", " ".repeat(1100));
    assert_eq!(read(late.as_bytes(), &config("p")).3, "łódź");
}

#[test]
fn a_missing_field_is_named_with_those_that_there_are() {
    let file = b"<r><p a='1'><b>x</b><c/><b/></p></r>";
    let config = ReadConfig {
        text_field: Some("q,a.b".into()),
        ..config("p")
    };
    let found = each(file, "f", &config, |found| lines(found, str::to_string));
    let expected = "no text field: no field q, no field a.b; it has @a (attribute), b (element), \
                    c (element); did you mean b?";
    assert_eq!(found.concat(), [expected]);
}

#[test]
fn attributes_that_are_left_out_are_noticed() {
    let many = "more words ".repeat(10);
    let outline = format!("<r><o text='two words'><o text='{many}'/></o></r>");
    for (record, file, expected) in [
        (
            "o",
            &*outline,
            Some("o.@text: left out of the text; to count: --text-field @text,o.@text"),
        ),
        (
            "tag",
            "<r><tag k='x' v='two words'/></r>",
            Some("attributes have 2 words: use --text-field @v"),
        ),
        ("o", "<r><o text='two words' id='a b c'/></r>", None),
        (
            "o",
            "<r><o id='a b c d' Body='two words' t='a b c d' u='a b c' class='a b c d'><n>x</n></o></r>",
            Some("@Body, @t: left out of the text; to count: --text-field n,@Body,@t"),
        ),
        (
            "o",
            "<r><o v='\u{6587}\u{7ae0}\u{3067}\u{3059}\u{6587}\u{7ae0}\u{3067}'>x<n>y</n></o></r>",
            Some("@v: left out of the text; to count: --text-field @v, in place of the text"),
        ),
        (
            "row",
            "<r><row Body='a body' Title='its title' By='one two three' C='one two three four'/></r>",
            Some("@C, @Title: left out of the text; to count: --text-field @Body,@C,@Title"),
        ),
    ] {
        let config = config(record);
        let batch = records(file.as_bytes(), "f", &config, usize::MAX);
        let bytes = &batch.bytes[batch.records[0].bytes.clone()];
        let Interpreted::Document(document) = interpret(&batch.records[0], bytes, &config) else {
            panic!("{file}");
        };
        let mut notice = document.notices.iter();
        let notice = notice.find(|notice| notice.0 == Reason::AttributeText);
        assert_eq!(notice.map(|notice| &*notice.1), expected, "{file}");
    }
}

/// Records in records were dropped in silence if a field of the outer one was the text.
#[test]
fn fields_of_records_in_records_count_or_have_a_line() {
    let items = "<r><o t='a'><i>x</i><o t='b'><i>y</i><o t='c'/></o></o></r>";
    for (field, expected) in [
        (
            "@t",
            Some("2 fields of o elements in this one; to count: --text-field @t,o.@t"),
        ),
        (
            "i",
            Some("1 field of o elements in this one; to count: --text-field i,o.i"),
        ),
        (
            "@t,o.@t",
            Some("1 field of o elements in this one; to count: --text-field @t,o.@t,o.o.@t"),
        ),
        ("@t,o.@t,o.o.@t,i,o.i", None),
        ("o", None),
    ] {
        let config = ReadConfig {
            text_field: Some(field.into()),
            ..config("o")
        };
        let found = each(items.as_bytes(), "f", &config, |found| {
            lines(found, |_| String::new())
        });
        let expected = expected.map(|line| format!("elements beside the text left out: {line}"));
        assert_eq!(found[0].get(1), expected.as_ref(), "{field}");
    }
}

#[test]
fn a_file_of_records_is_one_document_with_a_warning() {
    let long = "word ".repeat(20_000);
    for (name, count, file) in [
        (
            "page",
            2,
            "<mediawiki><siteinfo/><page><id>1</id></page><page/></mediawiki>".into(),
        ),
        (
            "page",
            2,
            format!("<mediawiki><page>{long}</page><page>{long}</page></mediawiki>"),
        ),
        (
            "row",
            3,
            "<?xml version='1.0'?>\n<posts>\n<row B='x'/><row/>\n<row/></posts>".into(),
        ),
        (
            "item",
            2,
            "<rss><channel><title/><item><t>a</t></item><item>b</item></channel></rss>".into(),
        ),
        (
            "DOCUMENT",
            2,
            "<SUB>\n<DOCUMENT>\n<TYPE>1\n<TEXT>a\n</TEXT>\n</DOCUMENT>\n<DOCUMENT>\n<TYPE>2\
            </DOCUMENT>\n</SUB>"
                .into(),
        ),
        (
            "article",
            2,
            format!(
                "<articles><article>{0}</article><article>{0}</article></articles>",
                "words ".repeat(20)
            ),
        ),
        (
            "grant",
            2,
            "<?xml?><grant><t/></grant>\n<?xml?><grant>b</grant>".into(),
        ),
    ] {
        for file_name in ["a.xml", "a.txt", "a"] {
            assert_eq!(
                perhaps_several(file.as_bytes(), file_name),
                [format!(
                    "looks like {count} records <{name}>: use --record {name}"
                )],
            );
        }
    }
    for file in [
        "<html><body><item>a</item><item>b</item></body></html>",
        "<!DOCTYPE html><p>a</p><p>b</p>",
        "<book><chapter>a</chapter><chapter>b</chapter></book>",
        "<svg><path d='1'/><path d='2'/></svg>",
        "<letter><p>a</p><p>b</p></letter>",
        "<note><to>a</to><from>b</from><body>c</body></note>",
        "<type><name lang='a'>a</name><name lang='b'>b</name></type>",
        "<nick> hello\n<other> hello\n<nick> well\n",
        "a text <item>a</item><item>b</item>",
    ] {
        assert_eq!(perhaps_several(file.as_bytes(), "a"), [""; 0], "{file}");
    }
}

/// A tree of markup as text.
fn tree() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["p", "x:p", "y:p", "a", "pp", "P", "text"]);
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "words ",
            "&lt;p&gt;",
            "\n",
            "<!-- <p> -->",
            "<![CDATA[</p> <p>]]>",
            "<?x <p ?>",
            "&#233;",
            "<!---->",
            "<![CDATA[<![CDATA[ ]]>",
        ])
        .prop_map(String::from),
        name.clone()
            .prop_map(|name| format!("<{name} a='>' b = \"'/>\"/>")),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        (
            name.clone(),
            prop::collection::vec(inner, 0..6),
            any::<bool>(),
        )
            .prop_map(|(name, inner, attribute)| {
                let attribute = if attribute {
                    " c='<q'".replace('<', "&lt;")
                } else {
                    String::new()
                };
                format!("<{name}{attribute}>{}</{name} >", inner.concat())
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The records are the outermost elements of the name that another parser finds, and the text
    /// of a field is the text of the elements there.
    #[test]
    fn another_parser_finds_the_same_records(
        inner in prop::collection::vec(tree(), 0..8),
        record in prop::sample::select(vec!["p", "x:p", "a"]),
        step in 1usize..50,
    ) {
        let file = format!(
            "<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e '<p/>'>]><r xmlns:x='x' xmlns:y='y'>{}</r>",
            inner.concat()
        );
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..roxmltree::ParsingOptions::default()
        };
        let parsed = roxmltree::Document::parse_with_options(&file, options).unwrap();
        let is = |node: &roxmltree::Node<'_, '_>| {
            let name = node.tag_name();
            node.is_element() && match record.split_once(':') {
                Some((space, local)) => name.namespace() == Some(space) && name.name() == local,
                None => name.name() == record,
            }
        };
        let outermost: Vec<_> = parsed
            .descendants()
            .filter(|node| is(node) && !node.ancestors().skip(1).any(|above| is(&above)))
            .collect();
        let config = ReadConfig {
            text_field: Some("text".into()),
            ..config(record)
        };
        let batch = records(file.as_bytes(), "f", &config, step);
        let found: Vec<_> = batch
            .records
            .iter()
            .filter(|record| !matches!(record.kind, RecordKind::Rejected(_)))
            .collect();
        prop_assert_eq!(found.len(), outermost.len(), "{}", file);
        prop_assert_eq!(found.is_empty(), batch.records.iter().any(|record| match &record.kind {
            RecordKind::Rejected(reject) => reject.reason == Reason::NoRecords,
            _ => false,
        }));
        for (record, node) in found.into_iter().zip(outermost) {
            let start = record.source.offset as usize;
            prop_assert_eq!(start..start + record.source.length as usize, node.range());
            let called_text = |node: &roxmltree::Node<'_, '_>| node.tag_name().name() == "text";
            let mut texts: Vec<_> = node.children().filter(called_text).collect();
            if texts.is_empty() {
                let inside = node.descendants().skip(1).filter(called_text);
                let outermost = inside.filter(|text| {
                    let mut above = text.ancestors().skip(1).take_while(|above| *above != node);
                    !above.any(|above| called_text(&above))
                });
                texts = outermost.collect();
            }
            let bytes = &batch.bytes[record.bytes.clone()];
            match interpret(record, bytes, &config) {
                Interpreted::Rejected(reject) => {
                    prop_assert_eq!(reject.reason, Reason::MissingText);
                    prop_assert!(texts.is_empty());
                }
                Interpreted::Document(document) => {
                    let expected: Vec<String> = texts
                        .iter()
                        .flat_map(|text| text.descendants())
                        .filter(roxmltree::Node::is_text)
                        .filter_map(|text| text.text().map(String::from))
                        .collect();
                    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
                    prop_assert_eq!(squeezed(&words(&document)), squeezed(&expected.concat()));
                }
                Interpreted::Skipped(_) => prop_assert!(false),
            }
        }
    }
}
