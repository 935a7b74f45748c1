//! A value on a path that the user names is in the text, or has a line that says why not.

use lookalike::text::read::{Format, Interpreted, Markup, ReadConfig};

use super::reading::{each, lines};

fn with(set: impl FnOnce(&mut ReadConfig)) -> ReadConfig {
    let mut config = ReadConfig::default();
    set(&mut config);
    config
}

fn text(field: &str) -> ReadConfig {
    with(|config| config.text_field = Some(field.into()))
}

/// The name and the text of each document, and then a line for each warning and each reject.
fn read(name: &str, file: &str, config: &ReadConfig) -> Vec<String> {
    let shown = |text: &str| text.replace('\n', "|");
    let found = each(file.as_bytes(), name, config, |found| lines(found, shown));
    let without_list = |line: &String| line.split("; it has").next().unwrap().to_string();
    found.concat().iter().map(without_list).collect()
}

#[test]
fn values_of_json_count_or_have_a_line() {
    for (field, object, expected) in [
        ("a,b", r#"{"a":"x","b":5}"#, vec!["1: x|5"]),
        ("a,b", r#"{"a":1.50,"b":false}"#, vec!["1: 1.50|false"]),
        (
            "a,b,c",
            r#"{"a":"x","b":null}"#,
            vec!["1: x", "field of --text-field missing: no field b, c"],
        ),
        // Parts of messages, as several services write them.
        (
            "m.content",
            r#"{"m":[{"content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"u"}}]},{"content":"y"}]}"#,
            vec![
                "1: x|y",
                "part of a field left out: m.content has 1 part without text (image_url)",
            ],
        ),
        (
            "c",
            r#"{"c":[{"type":"input_text","text":"x"},{"type":"text","text":{"value":"y","annotations":[]}}]}"#,
            vec!["1: x|y"],
        ),
        (
            "c",
            r#"{"c":{"role":"model","parts":[{"text":"x"},{"text":"y"}]}}"#,
            vec!["1: x|y"],
        ),
        (
            "c",
            r#"{"c":{"content_type":"text","parts":["x","y"]}}"#,
            vec!["1: x|y"],
        ),
        (
            "c",
            r#"{"c":["x",{"type":"tool_use","id":"7","input":{"q":1}},{"type":"tool_result","tool_use_id":"7","content":[{"type":"text","text":"y"}]}]}"#,
            vec![
                "1: x|y",
                "part of a field left out: c has 1 part without text (tool_use)",
            ],
        ),
        (
            "c",
            r#"{"c":[{"type":"thinking","thinking":"x","signature":"s"}]}"#,
            vec!["1: x"],
        ),
        // Strings and formatted spans, in order.
        (
            "t",
            r#"{"t":["a ",{"type":"bold","text":"b"}," c"]}"#,
            vec!["1: a |b| c"],
        ),
        (
            "t",
            r#"{"t":[{"title":"no","text":"x"}]}"#,
            vec![
                "1: x",
                "part of a field left out: t has objects of which only the text counts, not title",
            ],
        ),
        // All names beside the texts, but who says each.
        (
            "t",
            r#"{"t":[{"from":"a","text":"x","n":null},{"from":"b","text":"y","n":1,"o":"p"}]}"#,
            vec![
                "1: x|y",
                "part of a field left out: t has objects of which only the text counts, not n, o",
            ],
        ),
        (
            "t",
            r#"{"t":{"a":"x"}}"#,
            vec!["no text field: t is of type object, not string"],
        ),
        (
            "t,u",
            r#"{"t":{"a":"x"},"u":"y"}"#,
            vec![
                "1: y",
                "part of a field left out: t has 1 part without text (a)",
                "field of --text-field missing: no field t",
            ],
        ),
        // A quotation is another text; without one, such a field is a fact about the text.
        (
            "c",
            r#"{"c":[{"type":"text","text":"x","annotations":[{"type":"file","text":"p q"}],"citations":[{"n":1}]},
                {"text":{"value":"y","logprobs":["z"],"signature":"\u00e9"}},{"text":"z","citations":[],"signature":"Ab+/="}]}"#,
            vec![
                "1: x|y|z",
                "part of a field left out: c has objects of which only the text counts, not annotations, signature",
            ],
        ),
        (
            "c",
            r#"{"c":["x",{"type":"image"},{"type":"image"},{"call":1}],"d":2}"#,
            vec![
                "1: x",
                "part of a field left out: c has 3 parts without text (image, call)",
            ],
        ),
        // A path that goes on where a value ends.
        (
            "m.c.text",
            r#"{"m":[{"c":"x"},{"c":{"text":"y"}}]}"#,
            vec![
                "1: y",
                "part of a field left out: m.c.text has 1 value of type string, which the path leads beyond",
            ],
        ),
        (
            "m[].c[]",
            r#"{"m":[{"c":"x"},{"c":["y","z"]}]}"#,
            vec!["1: x|y|z"],
        ),
        // The first that is there.
        ("f|t", r#"{"f":"x","t":"y"}"#, vec!["1: x"]),
        ("f|t", r#"{"f":null,"t":"y"}"#, vec!["1: y"]),
        ("f|t,u|v.w", r#"{"t":"y","v":{"w":"z"}}"#, vec!["1: y|z"]),
        ("f|t", r#"{"f|t":"x","t":"y"}"#, vec!["1: x"]),
        (
            "f|t",
            r#"{"u":"y"}"#,
            vec!["no text field: no field f, no field t"],
        ),
        // Values with their types, as MongoDB writes them.
        (
            "n",
            r#"{"_id":{"$oid":"7a"},"n":{"$numberLong":"5"}}"#,
            vec!["7a: 5"],
        ),
        (
            "n,t",
            r#"{"n":"NULL","t":"x"}"#,
            vec![
                "1: NULL|x",
                "text is perhaps a null: it is NULL; --null NULL leaves such texts out",
            ],
        ),
        (
            "m.c",
            r#"{"m":[{"id":1,"c":"x"},{"id":2,"c":"y"}]}"#,
            vec![
                "1: x|y",
                "perhaps several documents: m[] has several objects with an id of their own: --records 'm[]' makes a document of each",
            ],
        ),
    ] {
        let found = read("f.jsonl", object, &text(field));
        let expected: Vec<String> = expected
            .iter()
            .map(|line| line.replacen("1: ", "f.jsonl:1: ", usize::from(line.starts_with("1: "))))
            .collect();
        assert_eq!(found, expected, "{field} of {object}");
    }
}

#[test]
fn without_a_name_a_list_with_objects_is_no_text() {
    let config = ReadConfig::default();
    for (object, expected) in [
        (r#"{"id":1,"text":["a",5,null]}"#, vec!["1: a|5"]),
        (
            r#"{"id":1,"text":["a",{"type":"link","text":"b"}]}"#,
            vec!["no text field: text is a list of string and object, not of strings alone"],
        ),
        (
            r#"{"id":1,"text":{"x":"a"},"body":"b"}"#,
            vec![
                "1: b",
                "part of a field left out: text is of type object, and another field is the text",
            ],
        ),
        (
            r#"{"id":1,"text":"The first words of a long text that is cut… http://t/a","extended_tweet":{"full_text":"The first words of a long text that is cut, and these are the others"}}"#,
            vec![
                "1: The first words of a long text that is cut… http://t/a",
                "part of a field left out: the text is cut, and extended_tweet.full_text goes on: --text-field 'extended_tweet.full_text|text'",
            ],
        ),
        (
            r#"{"id":1,"text":"これはとても長い…","long":"これはとても長い日本語"}"#,
            vec![
                "1: これはとても長い…",
                "part of a field left out: the text is cut, and long goes on: --text-field 'long|text'",
            ],
        ),
        (
            r#"{"id":1,"content":"a b c d [+34 chars]","d":"a b c d e"}"#,
            vec![
                "1: a b c d [+34 chars]",
                "part of a field left out: the text is cut, and d goes on: --text-field 'd|content'",
            ],
        ),
        (
            r#"{"id":[1,2],"text":["a b","c d"]}"#,
            vec![
                "1: a b|c d",
                "perhaps several documents: text and id are lists of 2: if they are columns, write each row as an object",
            ],
        ),
        (
            r#"{"id":1,"text":["a b","c d"],"by":["x","y"]}"#,
            vec!["1: a b|c d"],
        ),
        (
            r#"{"text":["a","b"],"tags":["x","y"]}"#,
            vec!["f.jsonl:1: a|b"],
        ),
        (
            r#"{"id":1,"text":"a b c...","d":"a b c d e"}"#,
            vec!["1: a b c..."],
        ),
        (
            r#"{"id":1,"text":"a b c d...","d":"a b c d…"}"#,
            vec!["1: a b c d..."],
        ),
        (
            r#"{"id":1,"text":" ","body":"x"}"#,
            vec![
                "1:  ",
                "text not comparable: text is empty, and body is not: --text-field 'text|body'",
            ],
        ),
    ] {
        assert_eq!(read("f.jsonl", object, &config), expected, "{object}");
    }
    let table = "id,text,b,body\n1,a b c d…,a b c d e,\n2,,x,y\n";
    assert_eq!(
        read("f.csv", table, &config),
        [
            "1: a b c d…",
            "part of a field left out: the text is cut, and b goes on: --text-field 'b|text'",
            "no text field: nothing in text; text is empty, and body is not: --text-field 'text|body'",
        ]
    );
    let found = read(
        "f.jsonl",
        "{\"id\":1,\"text\":\"a\"} junk {\"text\":\"b\"}\nx\n",
        &config,
    );
    assert_eq!(
        found,
        [
            "1: a",
            "not valid JSON: not an object, although one is on the same line: put it on a line of its own",
            "not valid JSON: not an object",
        ]
    );
}

#[test]
fn nulls_are_no_text() {
    let table = "id\ttext\n1\t\\N\n2\tNULL\n3\ta\\nb\\\\n\n";
    for (file, name, nulls, expected) in [
        (
            table,
            "f.tsv",
            &[][..],
            vec![
                "no text field: nothing in text",
                "2: NULL",
                "text is perhaps a null: it is NULL; --null NULL leaves such texts out",
                "3: a|b\\n",
            ],
        ),
        (
            table,
            "f.tsv",
            &["NULL"],
            vec![
                "no text field: nothing in text",
                "no text field: nothing in text",
                "3: a|b\\n",
            ],
        ),
        (
            "1\ta\\\nb\\\tc\n2\td\\\\\n3\t\\N\n4\te\\\\\\\nf\n",
            "f.tsv",
            &[],
            vec![
                "1: a|b\tc",
                "2: d\\",
                "no text field: nothing in text",
                "4: e\\|f",
            ],
        ),
        // Without a null of a database, a backslash is a backslash.
        ("id\ttext\n3\ta\\nb\n", "f.tsv", &[], vec!["3: a\\nb"]),
        (
            "id,text\n\\N,a\nNULL,b\n",
            "f.csv",
            &["NULL"],
            vec!["f.csv:1: a", "f.csv:2: b"],
        ),
        (
            r#"{"id":1,"text":"nan"}"#,
            "f.jsonl",
            &["nan"],
            vec![
                "no text field: none of text, contents, content, body, html, raw_content, article",
            ],
        ),
    ] {
        let config = with(|config| config.null = nulls.iter().map(|null| (*null).into()).collect());
        assert_eq!(read(name, file, &config), expected, "{file}");
    }
    let config = text("a|b,c");
    let file = "a,b,c\nx,y,z\n,y,z\n,,z\n";
    assert_eq!(
        read("f.csv", file, &config),
        [
            "f.csv:1: x|z",
            "f.csv:2: y|z",
            "f.csv:3: z",
            "field of --text-field missing: no field a",
        ]
    );
}

/// A null that is not ASCII was text in files that are not UTF-8.
#[test]
fn nulls_are_compared_in_the_charset_of_the_file() {
    let config = with(|config| config.null = vec!["–né–".into()]);
    let file = "id,text\n1,–né–\n2,né\n";
    let narrow = encoding_rs::WINDOWS_1252.encode(file).0;
    let wide = format!("\u{feff}{file}");
    let wide: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [file.as_bytes(), &narrow, &wide] {
        let found = each(bytes, "f.csv", &config, |found| {
            lines(found, |_| "text".into())
        });
        assert_eq!(
            found.concat(),
            ["no text field: nothing in text", "2: text"]
        );
    }
}

/// Beside another field, its tags were words, except in CSV.
#[test]
fn the_field_whose_value_is_taken_says_what_is_markup() {
    for (file, field, expected) in [
        ("{'html':'<p>x</p>'}", "html", "+<p>x</p>"),
        ("{'html':'<p>x</p>'}", "d|html", "+<p>x</p>"),
        ("{'d':'a<b','html':'<p>x</p>'}", "d|html", "-a<b"),
        (
            "{'d':'a<b & c','html':'<p>&lt;'}",
            "d,html",
            "+a&lt;b &amp; c|<p>&lt;",
        ),
        ("{'d':'a<b','html':'<p>x'}", "html,d", "+<p>x|a&lt;b"),
        (
            "{'d':'<html><b>a','html':'<p>x'}",
            "html,d",
            "+<p>x|<html><b>a",
        ),
        (
            "{'d':'<b>','html':'<p>','mime':'text/html'}",
            "d,html",
            "+<b>|<p>",
        ),
        ("{'d':{'html':['<p>','<i>']}}", "x|d.html", "+<p>|<i>"),
        ("d,html\na<b,<p>x\n", "d,html", "+a&lt;b|<p>x"),
        ("d,html\n,<p>x\n", "d|html", "+<p>x"),
        ("d,html\na<b,<p>x\n", "d|html", "-a<b"),
    ] {
        let (name, file) = match file.starts_with('{') {
            true => ("f.jsonl", file.replace('\'', "\"")),
            false => ("f.csv", file.into()),
        };
        for (markup, is) in [(Markup::Declared, expected), (Markup::Auto, expected)] {
            let config = with(|config| {
                config.text_field = Some(field.into());
                config.markup = Some(markup);
            });
            let found = each(file.as_bytes(), name, &config, |found| match found {
                Interpreted::Document(document) => {
                    let sign = if document.content.is_markup() {
                        "+"
                    } else {
                        "-"
                    };
                    // The values begin where their markup does not depend on the one before.
                    let mut body = String::from_utf8_lossy(&document.body).into_owned();
                    for &begin in &document.begins {
                        body.replace_range(begin..=begin, "|");
                    }
                    format!("{sign}{}", body.replace('\n', "_"))
                }
                _ => String::new(),
            });
            // A page is one by its first tag only if nothing has to be declared.
            let is = match markup {
                Markup::Declared => is.replace("|<html><b>a", "|&lt;html>&lt;b>a"),
                _ => is.into(),
            };
            assert_eq!(found, [is], "{field} of {file}");
        }
    }
}

/// A row of CSV or an element without one of the fields had none.
#[test]
fn a_record_that_lacks_a_field_has_a_line_in_every_format() {
    let config = with(|config| {
        config.text_field = Some("a,b".into());
        config.record = Some("p".into());
    });
    for (name, file) in [
        ("f.jsonl", r#"{"a":"x"}"#),
        ("f.csv", "a,c\nx,y\n"),
        ("f.csv", "a,b\nx,\n"),
        ("f.xml", "<r><p><a>x</a><c>y</c></p></r>"),
    ] {
        let found = read(name, file, &config);
        assert_eq!(found.len(), 2, "{file}");
        assert_eq!(
            found[1], "field of --text-field missing: no field b",
            "{file}"
        );
    }
    let none = read("f.csv", "c,d\nx,y\n", &config);
    assert_eq!(none, ["no text field: no field a, no field b"]);
}

/// A string without letters stopped the search for the first field that a record has.
#[test]
fn a_blank_value_is_passed_over_in_every_format() {
    let config = with(|config| {
        config.text_field = Some("a|b".into());
        config.record = Some("p".into());
    });
    for (name, file, expected) in [
        ("f.jsonl", r#"{"a":"","b":"x"}"#, "x"),
        ("f.jsonl", r#"{"a":" \n","b":"x"}"#, "x"),
        ("f.jsonl", r#"{"a":[null,""],"b":"x"}"#, "x"),
        ("f.jsonl", r#"{"a":0,"b":"x"}"#, "0"),
        // Without another one, it is the text.
        ("f.jsonl", r#"{"a":" ","b":null}"#, " "),
        ("f.csv", "a,b\n ,x\n", "x"),
        ("f.xml", "<r><p><a> <i/> </a><b>x</b></p></r>", "x"),
        ("f.xml", "<r><p a='' b='x'/></r>", "x"),
    ] {
        let found = read(name, file, &config);
        let text = found[0].replace("<?xml version=\"1.0\"?>", "");
        assert_eq!(text, format!("{name}:1: {expected}"), "{file}");
        assert_eq!(found.len(), 1, "{found:?}");
    }
}

/// They were left out in silence.
#[test]
fn elements_beside_the_text_have_a_line() {
    let prose = "one two three four five six seven eight nine ten eleven twelve thirteen";
    let doc = |rest: &str| format!("<DOC>\n<DOCNO>1</DOCNO>\n{rest}<TEXT>x</TEXT></DOC>\n");
    let reuters = |head: &str, text: &str| {
        format!(
            "<REUTERS NEWID=\"1\">{head}<TEXT><TITLE>t</TITLE>{text}<BODY>b</BODY></TEXT></REUTERS>"
        )
    };
    let config = with(|config| config.format = Some(Format::TrecSgml));
    let solr = |field: &str| {
        format!(
            "<add><doc><field name=\"id\">1</field>{field}<field name=\"text\">x</field></doc></add>"
        )
    };
    for (file, expected) in [
        (
            doc("<DATE>Monday, May 1</DATE><BYLINE><P>By A B</P></BYLINE>"),
            "",
        ),
        (
            doc("<!-- one two --><FOO>codes</FOO><GRAPHIC>Photo</GRAPHIC>"),
            "",
        ),
        (doc("<HEAD>a b</HEAD><SO>Paper of the City</SO>"), ""),
        (
            doc("<head>a b</head><GRAPHIC>a b cd ef</GRAPHIC><NEW>more words</NEW>"),
            "GRAPHIC, NEW: left out of the text; to count: --record DOC --text-field head,TEXT,GRAPHIC,NEW",
        ),
        (
            doc(&format!("<HEADER><BYLINE><P>{prose}</P></BYLINE></HEADER>")),
            "BYLINE: left out of the text; to count: --record DOC --text-field TEXT,BYLINE",
        ),
        (
            doc("more words"),
            "words outside of elements: left out of the text; to count: --record DOC",
        ),
        // Without a body, what is not known is text.
        (
            format!("<DOC>\n<DOCNO>1</DOCNO>\n<NEW>{prose}</NEW></DOC>"),
            "",
        ),
        (
            "<DOC>\n<DOCNO>1</DOCNO>\n<NOTE>two words</NOTE>x</DOC>".into(),
            "NOTE: left out of the text; to count: --record DOC",
        ),
        (
            reuters(
                &format!("<UNKNOWN>&#5;C T f0704 reute</UNKNOWN><PLACES><D>{prose}</D></PLACES>"),
                "",
            ),
            "",
        ),
        (
            reuters(
                "<NOTE>two words</NOTE><MKNOTE>two words</MKNOTE>",
                &format!("<AUTHOR>{prose}</AUTHOR>"),
            ),
            "NOTE, AUTHOR: left out of the text; to count: --record REUTERS --text-field TITLE,BODY,NOTE,AUTHOR",
        ),
        (
            doc("<FOO>12 13 14</FOO><BAR>&#28450;&#23383;</BAR><D-T>2001 a</D-T>"),
            "",
        ),
        (
            doc("<A>a b</A><B>1 2 3 4 5 6 7 8 9 10 11 12 13</B><C>\u{6f22}\u{5b57}\u{304b}</C>"),
            "A, B, C: left out of the text; to count: --record DOC --text-field TEXT,A,B,C",
        ),
        (
            solr("<field name=\"keywords\">two words</field>"),
            "keywords: left out of the text; to count: --record doc",
        ),
        (solr("<field name=\"price\">10</field>"), ""),
        (
            solr("<field name=\"my_summary\">two words</field>"),
            "my_summary: left out of the text; to count: --record doc",
        ),
    ] {
        let found = read("f", &file, &config);
        let lines: Vec<&str> = found[1..].iter().map(String::as_str).collect();
        let expected = match expected {
            "" => String::new(),
            line => format!("elements beside the text left out: {line}"),
        };
        assert_eq!(lines.concat(), expected, "{file}");
    }
}

#[test]
fn a_document_says_where_its_text_is_unless_a_flag_does() {
    let mut config = with(|config| config.record = Some("p".into()));
    for (name, file, expected) in [
        ("f.jsonl", r#"{"body":"x"}"#, &["body"][..]),
        ("f.csv", "id,Content\n1,x\n", &["content"]),
        (
            "f.xml",
            "<r><p><id>1</id><t>x</t>y<u/><t>z</t></p></r>",
            &["t", "p"],
        ),
        ("f.xml", "<r><p Id='1' Body='x'/></r>", &["@Body"]),
        ("f.txt", "x", &[]),
    ] {
        let fields = |found: Interpreted<'_>| match found {
            Interpreted::Document(document) => document.fields,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            each(file.as_bytes(), name, &config, fields),
            [expected],
            "{file}"
        );
        config.text_field = Some("body|Content|t|@Body".into());
        assert_eq!(
            each(file.as_bytes(), name, &config, fields),
            [&[""; 0]],
            "{file}"
        );
        config.text_field = None;
    }
}

#[test]
fn elements_of_a_list_are_records() {
    let records = |path: &str| {
        with(|config| {
            config.records = Some(path.into());
            config.text_field = Some("t".into());
        })
    };
    let deep = format!(
        "{{\"x\":{}{},\"m\":[{{\"t\":\"a\"}}]}}",
        "[".repeat(500),
        "]".repeat(500)
    );
    for (path, file, expected) in [
        (
            "m[]",
            "{\n \"x\": {\"m\": [{\"t\": \"no\"}], \"y\": \"\\\"m\\\": [{\"},\n \"m\": [\n  {\"t\": \"a\"},\n  {\"t\": \"b\", \"m\": [{\"t\": 1}]}\n ],\n \"n\": 2\n}\n",
            vec!["1: a", "2: b"],
        ),
        (
            "m",
            "{\"m\":[{\"t\":\"a\"}],\"n\":[]}{\"m\":[]}\n{\"\\u006d\":[{\"t\":\"b\"}]}",
            vec!["1: a", "2: b"],
        ),
        (
            "d.m[].r[]",
            "{\"d\":{\"m\":[{\"r\":[{\"t\":\"a\"}]},{\"q\":true,\"r\":[{\"t\":\"b\"}]}]}}",
            vec!["1: a", "2: b"],
        ),
        (
            "m[]",
            "[{\"m\":[{\"t\":\"a\"}]}, {\"m\":[{\"t\":\"b\"}]}]",
            vec!["1: a", "2: b"],
        ),
        ("m[]", &deep, vec!["1: a"]),
        (
            "d.m[].r[]",
            "{\"d\":{\"m\":[{\"r\":[{\"t\":\"a\"}]},{\"q\":[{}]},{\"r\":{\"t\":\"b\"}},{\"r\":null},5,{\"r\":[]}]}}",
            vec![
                "1: a",
                "no list given by --records: an object on the way has no list d.m[].r[]",
                "no list given by --records: an object on the way has no list d.m[].r[]",
                "no list given by --records: an object on the way has no list d.m[].r[]",
                "not valid JSON: not an object",
            ],
        ),
        (
            "d.m[]",
            "{\"d\":{\"n\":[]}}{\"d\":5}",
            vec![
                "no list given by --records: an object on the way has no list d.m[]",
                "no list given by --records: the object has no list d.m[]",
            ],
        ),
        (
            "m[]",
            "{\"m\":[\"x\",{\"t\":\"b\"},5]}",
            vec![
                "not valid JSON: not an object",
                "2: b",
                "not valid JSON: not an object",
            ],
        ),
        (
            "m[]",
            "{\"n\":[{\"t\":\"b\"}]}",
            vec!["no list given by --records: the object has no list m[]"],
        ),
        (
            "m[]",
            "{\"m\":[{\"t\":\"a\"}",
            vec![
                "1: a",
                "record cut off: the stream ends inside the object around the records",
            ],
        ),
        (
            "m[]",
            "{\"m\":[{\"t\":\"a\"}, x: {\"t\":\"b\"}]}",
            vec!["1: a", "not valid JSON: not an object", "3: b"],
        ),
    ] {
        let found = read("f.json", file, &records(path));
        let expected: Vec<String> = expected
            .iter()
            .map(
                |line| match line.starts_with(|c: char| c.is_ascii_digit()) {
                    true => format!("f.json:{line}"),
                    false => (*line).into(),
                },
            )
            .collect();
        assert_eq!(found, expected, "{path} of {file}");
    }
    for path in ["m[x=y]", "", "m["] {
        assert!(records(path).check().is_err(), "{path}");
    }
}
