//! The definitions of charset, text, token, shingle and fingerprint hold: against a slow reference
//! that follows their words, and against tables of cases.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

use icu_properties::CodePointMapData;
use icu_properties::props::LineBreak;
use lookalike::base::ids::{FingerprintKind, Key};
use lookalike::engine::shingle::{DocumentFacts, ShingleConfig, Shingler, Short};
use lookalike::text::parse::{ParseConfig, Parser, TokenConsumer, TokenKind, Tokens};
use lookalike::text::read::{ContentKind, RawDocument, Reason};
use md5::{Digest, Md5};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

// The reference.

fn is_mark(c: char) -> bool {
    // The vowel AM of Thai and Lao belongs to the cluster before it.
    c.general_category_group() == GeneralCategoryGroup::Mark && !begins_cluster(c)
        || matches!(c, '\u{e33}' | '\u{eb3}')
}

/// Whether it is of a script without spaces.
fn is_complex(c: char) -> bool {
    CodePointMapData::<LineBreak>::new().get(c) == LineBreak::ComplexContext
}

/// Whether it is a letter, or a vowel or tone that is a mark, of a script without spaces.
fn without_spaces(c: char) -> bool {
    c.is_alphabetic() && is_complex(c)
}

/// Whether a grapheme cluster of a script without spaces begins with it, whatever precedes.
fn begins_cluster(c: char) -> bool {
    without_spaces(c) && format!("ก{c}").graphemes(true).count() == 2
}

fn is_ideograph(c: char) -> bool {
    !is_mark(c)
        && matches!(
            c.script(),
            Script::Han | Script::Hiragana | Script::Katakana
        )
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_ideograph(c) && !begins_cluster(c)
}

/// Unicode's list of default-ignorable code points.
const IGNORABLE: [(u32, u32); 17] = [
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfff8),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// The characters that count.
fn seen(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|&c| {
        let within = |&(first, last): &(u32, u32)| (first..=last).contains(&u32::from(c));
        !IGNORABLE.iter().any(within)
    })
}

/// Whether a character of a decomposed text can begin a word.
fn begins(c: char) -> bool {
    is_letter(c) && (!is_mark(c) || canonical_combining_class(c) == 0)
}

fn reference_words(text: &str) -> Vec<String> {
    let chars: Vec<char> = seen(text).nfd().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or(' ');
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let mut token = String::new();
        if begins_cluster(at(i)) {
            // UAX #29, of what these scripts have.
            let rest = &chars[i..];
            let of_it = |&&c: &&char| without_spaces(c) || is_mark(c);
            // A mark of another script is one that extends.
            let own = |&c: &char| if is_complex(c) { c } else { '\u{301}' };
            let cluster: String = rest.iter().take_while(of_it).map(own).collect();
            let length = cluster.graphemes(true).next().unwrap().chars().count();
            token.extend(&rest[..length]);
            i += length;
        } else if is_ideograph(at(i)) {
            token.push(at(i));
            i += 1;
            while is_mark(at(i)) {
                token.push(at(i));
                i += 1;
            }
        } else if begins(at(i)) {
            loop {
                if is_letter(at(i)) || is_mark(at(i)) {
                    token.extend(at(i).to_lowercase());
                } else if matches!(at(i), '\'' | '\u{2019}') && begins(at(i + 1)) {
                    token.push('\'');
                } else {
                    break;
                }
                i += 1;
            }
        } else {
            i += 1;
            continue;
        }
        tokens.push(token.nfc().collect());
    }
    tokens
}

fn reference_tokens(text: &str, kind: &TokenKind) -> Vec<String> {
    match kind {
        TokenKind::Words => reference_words(text),
        TokenKind::Whitespace => {
            let seen: String = seen(text).nfc().collect();
            seen.split_whitespace().map(String::from).collect()
        }
        _ => text.split_whitespace().map(String::from).collect(),
    }
}

#[derive(Debug, PartialEq)]
struct Outcome {
    set: Vec<u128>,
    words: u64,
    short: bool,
    md5: [u8; 16],
}

fn reference(text: &str, config: &ShingleConfig) -> Outcome {
    let tokens = reference_tokens(text, &config.parse.tokens);
    let canonical = tokens.join(" ");
    let (mut shingles, size): (Vec<Vec<u8>>, usize) = match config.parse.tokens {
        TokenKind::Bytes(n) => {
            let n = n.get() as usize;
            (
                canonical
                    .as_bytes()
                    .windows(n)
                    .map(<[u8]>::to_vec)
                    .collect(),
                n,
            )
        }
        _ => {
            let w = config.shingle_size as usize;
            (
                tokens
                    .windows(w)
                    .map(|t| t.join(" ").into_bytes())
                    .collect(),
                w,
            )
        }
    };
    assert!(size > 0);
    let short = shingles.is_empty() && !canonical.is_empty();
    if short && config.short == Short::Whole {
        shingles.push(canonical.clone().into_bytes());
    }
    let set: BTreeSet<u128> = shingles
        .iter()
        .map(|s| match config.fingerprint {
            FingerprintKind::Xxh3 => xxhash_rust::xxh3::xxh3_64_with_seed(s, config.seed).into(),
            FingerprintKind::Md5 => u128::from_be_bytes(Md5::digest(s).into()),
        })
        .collect();
    Outcome {
        set: set.into_iter().collect(),
        words: tokens.len() as u64,
        short,
        md5: Md5::digest(&canonical).into(),
    }
}

// The library.

fn document(body: &[u8], content: ContentKind) -> RawDocument<'_> {
    RawDocument {
        charset: None,
        body: Cow::Borrowed(body),
        ..RawDocument::of_text("", content)
    }
}

fn shingle_all<K: Key>(
    document: &RawDocument<'_>,
    config: &ShingleConfig,
    ranges: &[(u128, u128)],
) -> (Outcome, DocumentFacts) {
    let mut shingler = Shingler::<K>::new(config);
    let (mut all, mut set, mut last) = (Vec::new(), vec![K::MAX; 3], None);
    for &(low, high) in ranges {
        let range = (K::from_u128(low), K::from_u128(high.min(K::MAX.to_u128())));
        let facts = shingler.shingle(document, range, &mut set);
        all.extend(set.iter().map(|k| k.to_u128()));
        assert!(
            last.is_none_or(|l| l == facts),
            "the facts depend on the range"
        );
        last = Some(facts);
    }
    let facts = last.unwrap();
    (
        Outcome {
            set: all,
            words: facts.words,
            short: facts.short,
            md5: facts.md5,
        },
        facts,
    )
}

fn shingle(
    document: &RawDocument<'_>,
    config: &ShingleConfig,
    ranges: &[(u128, u128)],
) -> (Outcome, DocumentFacts) {
    match config.fingerprint {
        FingerprintKind::Xxh3 => shingle_all::<u64>(document, config, ranges),
        FingerprintKind::Md5 => shingle_all::<u128>(document, config, ranges),
    }
}

const FULL: &[(u128, u128)] = &[(0, u128::MAX)];

fn outcome(body: &[u8], content: ContentKind, config: &ShingleConfig) -> Outcome {
    let mut document = document(body, content);
    // A few random characters with a NUL among them may look like UTF-16.
    document.charset = body.contains(&0).then_some(Cow::Borrowed("utf-8"));
    shingle(&document, config, FULL).0
}

/// Keeps the canonical text.
struct Keep(String);

impl TokenConsumer for Keep {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        if last {
            self.0 = String::from_utf8(tokens.bytes.to_vec()).unwrap();
            let one = tokens.windows(1).map(|t| std::str::from_utf8(t).unwrap());
            assert_eq!(one.collect::<Vec<_>>().join(" "), self.0);
        }
        0
    }
}

struct Parsed {
    text: String,
    title: Option<String>,
    charset: &'static str,
    notices: Vec<(Reason, String)>,
}

fn parse(document: &RawDocument<'_>, tokens: TokenKind, detector: bool) -> Parsed {
    let mut keep = Keep(String::new());
    let config = ParseConfig {
        detector,
        ..tokens.into()
    };
    let facts = Parser::new(&config).parse(document, &mut keep);
    Parsed {
        text: keep.0,
        title: facts.title,
        charset: facts.charset,
        notices: facts.notices,
    }
}

fn markup(html: &str) -> Parsed {
    parse(
        &document(html.as_bytes(), ContentKind::Markup),
        TokenKind::Words,
        true,
    )
}

fn bytes(n: u32) -> TokenKind {
    TokenKind::Bytes(NonZeroU32::new(n).unwrap())
}

#[test]
fn example_of_ye() {
    // Ye, Wen & Ma 2008, section 2.1: the 3-shingling.
    let config = ShingleConfig {
        shingle_size: 3,
        ..ShingleConfig::default()
    };
    let text = "The ones we don't know we don't know";
    let mut expected: Vec<u128> = [
        "the ones we",
        "ones we don't",
        "we don't know",
        "don't know we",
        "know we don't",
    ]
    .iter()
    .map(|s| xxhash_rust::xxh3::xxh3_64(s.as_bytes()).into())
    .collect();
    expected.sort_unstable();
    let found = outcome(text.as_bytes(), ContentKind::Text, &config);
    assert_eq!(found.set, expected);
    assert_eq!(found.words, 8);
    assert!(!found.short);
    assert_eq!(
        found.md5,
        <[u8; 16]>::from(Md5::digest("the ones we don't know we don't know"))
    );
}

#[test]
fn words_are_as_defined() {
    for (text, words) in [
        ("", ""),
        ("  \n ", ""),
        ("'", ""),
        ("don't", "don't"),
        ("don\u{2019}t", "don't"),
        ("'tis the dogs' o'clock'", "tis the dogs o'clock"),
        ("rock''n'roll", "rock n'roll"),
        ("rock'\u{2019}n", "rock n"),
        ("a' b 'c d'", "a b c d"),
        ("snake_case e-mail 3.14", "snake case e mail 3 14"),
        ("STRASSE Straße ÉTÉ", "strasse straße été"),
        ("cafe\u{301} n\u{303}", "caf\u{e9} \u{f1}"),
        ("\u{301}a -\u{301}- b", "a b"),
        ("don'\u{301}t", "don t"),
        ("e\u{301}'t", "\u{e9}'t"),
        ("İ", "i\u{307}"),
        ("日本語 text", "日 本 語 text"),
        ("漢a字b", "漢 a 字 b"),
        ("漢'字 a'漢 漢'a", "漢 字 a 漢 漢 a"),
        ("か\u{3099}き", "が き"),
        ("コーヒー", "コ ー ヒ ー"),
        ("ｶﾞ", "ｶ ﾞ"), // the half-width mark is a letter of script Common
        ("한국어", "한국어"),
        ("हिन्दी", "हिन्दी"),
        ("\u{93f}क", "\u{93f}क"),
        ("漢\u{93f}क", "漢\u{93f} क"),
        ("x²½ Ⅷ ⅷ", "x²½ ⅷ ⅷ"),
        ("co\u{ad}op a\u{200d}b a\u{a0}b", "coop ab a b"),
        ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}", "한글"),
        ("می\u{200c}خواهم", "میخواهم"),
        ("a\u{feff}\u{301}\u{323}", "\u{1ea1}\u{301}"),
        ("😀a😀", "a"),
    ] {
        let parsed = parse(
            &document(text.as_bytes(), ContentKind::Text),
            TokenKind::Words,
            true,
        );
        assert_eq!(parsed.text, words, "{text:?}");
        assert_eq!(
            reference_words(text).join(" "),
            words,
            "the reference, {text:?}"
        );
    }
}

#[test]
fn other_tokens_are_as_defined() {
    let text = "\u{3000} Foo's\tBAR\u{a0}\u{85}x\0y \n";
    for kind in [TokenKind::Whitespace, bytes(4)] {
        let parsed = parse(&document(text.as_bytes(), ContentKind::Text), kind, true);
        assert_eq!(parsed.text, "Foo's BAR x\0y");
    }
    let config = |n| ShingleConfig {
        parse: bytes(n).into(),
        shingle_size: 7,
        ..ShingleConfig::default()
    };
    let found = outcome(b" ab  cd ", ContentKind::Text, &config(4));
    let hash = |s: &[u8]| u128::from(xxhash_rust::xxh3::xxh3_64(s));
    let mut expected = vec![hash(b"ab c"), hash(b"b cd")];
    expected.sort_unstable();
    assert_eq!((found.set, found.words, found.short), (expected, 2, false));
    let found = outcome(b" ab  cd ", ContentKind::Text, &config(6));
    assert_eq!(
        (found.set, found.words, found.short),
        (vec![hash(b"ab cd")], 2, true)
    );
}

#[test]
fn empty_documents_are_empty() {
    for content in [ContentKind::Text, ContentKind::Markup] {
        for body in ["", " ", "-\n", "\u{feff}"] {
            for short in [Short::Whole, Short::Skip] {
                let config = ShingleConfig {
                    short,
                    ..ShingleConfig::default()
                };
                let found = outcome(body.as_bytes(), content, &config);
                assert_eq!(
                    (found.set.len(), found.words, found.short),
                    (0, 0, false),
                    "{body:?}"
                );
                assert_eq!(found.md5, <[u8; 16]>::from(Md5::digest("")));
            }
        }
    }
}

#[test]
fn html_becomes_text() {
    for (html, text) in [
        ("foo<b>bar</b>", "foobar"),
        ("foo<p>bar", "foo bar"),
        ("foo</p>bar", "foo bar"),
        ("foo<br>bar<br/>baz", "foo bar baz"),
        ("foo<hr>bar", "foo bar"),
        ("<td>foo</td><td>bar</td>", "foo bar"),
        ("<tr><th>foo<th>bar", "foo bar"),
        ("<li>foo<li>bar", "foo bar"),
        ("<option>foo<option>bar", "foo bar"),
        ("foo<img src=x alt='no text'>bar", "foobar"),
        ("foo<input value=no>bar", "foo bar"),
        ("foo<unknown>bar", "foo bar"),
        (
            "foo<a href='x'>bar</a><font color=red>baz</font>",
            "foobarbaz",
        ),
        ("E=mc<sup>2</sup>", "e mc2"),
        ("don<i>'</i>t dogs<i>'</i> t", "don't dogs t"),
        ("don'<p>t", "don t"),
        ("foo<!-- x -->bar", "foobar"),
        ("foo<!-- <p> --!>bar", "foobar"),
        ("foo<!-->bar", "foobar"),
        ("foo<!--->bar", "foobar"),
        ("foo<!-- never closed <p>bar", "foo"),
        ("foo<!bogus comment>bar", "foobar"),
        ("foo<?php echo 1 ?>bar", "foobar"),
        ("foo</ bogus>bar", "foobar"),
        ("foo</>bar", "foobar"),
        ("foo<![CDATA[x]]>bar", "foobar"),
        ("<svg>foo<![CDATA[x<y>]]></svg>bar", "foox y bar"),
        ("<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML\">foo", "foo"),
        ("foo<script>x</script>bar", "foo bar"),
        ("<script>x</scriptx>y</script>bar", "bar"),
        ("<script>if (a<b) '</p>'</SCRIPT >bar", "bar"),
        ("<script><!--<script>x</script>y--></script>bar", "bar"),
        ("<script><!-- x </script>bar", "bar"),
        ("<script>'<!--<script>' x </script>bar", ""),
        ("<script>never closed <p>bar", ""),
        ("<script/>x</script>bar", "bar"),
        ("<style>p { x }</style>bar", "bar"),
        ("<style><!-- x --></style>bar", "bar"),
        ("<style></p></styles></style>bar", "bar"),
        ("<noscript>foo <p>bar</noscript>", "foo bar"),
        ("<noframes>foo <p>bar</noframes>", "foo bar"),
        (
            "<iframe>foo <p>bar</iframe><noembed>baz</noembed>",
            "foo bar baz",
        ),
        (
            "<textarea>foo <p> &amp; bar</textarea><p>baz",
            "foo p bar baz",
        ),
        ("<title>foo <b>x</b> &eacute;</title>bar", "foo b x b é bar"),
        ("<title>foo</titles>bar</title>baz", "foo titles bar baz"),
        ("<title>never closed <p>bar", "never closed p bar"),
        ("<xmp>foo <b> &eacute;</xmp>bar", "foo b eacute bar"),
        ("<plaintext>foo <b> </plaintext>", "foo b plaintext"),
        ("<a title='x > y' href=\"<p>\">foo</a>", "foo"),
        ("<a title=x>foo", "foo"),
        ("foo<a title='never closed", "foo"),
        (
            "foo<a title='never closed>bar",
            "foo a title never closed bar",
        ),
        ("foo<a", "foo"),
        ("foo <", "foo"),
        ("foo<3 bar", "foo 3 bar"),
        ("a < b > c", "a b c"),
        ("caf&eacute; caf&eacute", "café café"),
        (
            "&copy;2 &copyright AT&T &amp;amp; &unknown;",
            "2 right at t amp unknown",
        ),
        ("&notit; &notin;", "it"),
        ("don&#146;t &#x92; &#150;", "don't"),
        ("&#233;&#xE9;&#Xe9&#x110000;&#0;&#xD800;", "ééé"),
        ("&#140;uvre &#x9f;", "œuvre ÿ"),
        ("foo\0bar", "foobar"),
        ("<title>foo\0bar</title>", "foo bar"),
        ("foo&nbsp;bar", "foo bar"),
        ("foo\r\nbar\rbaz", "foo bar baz"),
        ("<P>FOO</P><SCRIPT>x</SCRIPT>", "foo"),
        ("<é>foo", "é foo"),
        ("</é>foo", "foo"),
        ("<日本>", "日 本"),
        ("<title>x</日</title>y", "x 日 y"),
        ("<b\0>foo", "foo"),
        ("<a/b=c/>foo<a b==\"x\"c>bar", "foobar"),
        ("<svg><style>x</style><script/>foo</svg>", "foo"),
        // What SVG does not have ends it.
        (
            "<svg><path d=x><p>foo<script src=a/>var x;</script><style/>.a{}</style>bar",
            "foo bar",
        ),
        ("<svg><g>foo<b>b</b><script/>x</script>bar", "foob bar"),
        ("<svg><g></p>foo<script/>x</script>bar", "foo bar"),
        (
            "<svg><foreignObject><p>foo</p></foreignObject><script/>bar</svg>",
            "foo bar",
        ),
        (
            "<svg><desc><p>a</desc></svg><svg><b><script/>x</script>c",
            "a c",
        ),
        ("<math><mi>x</mi><mo>=</mo></math>y", "x y"),
        (
            "<?xml version='1.0'?><doc><t>foo</t><script/><t>bar</t></doc>",
            "foo bar",
        ),
        (
            "<?xml version='1.0'?><doc><![CDATA[foo]]>bar</doc>",
            "foobar",
        ),
    ] {
        assert_eq!(markup(html).text, text, "{html}");
        // The same through a decoder.
        let wide: Vec<u8> = html.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut wide_document = document(&wide, ContentKind::Markup);
        wide_document.charset = Some("utf-16le".into());
        assert_eq!(
            parse(&wide_document, TokenKind::Words, true).text,
            text,
            "UTF-16 {html}"
        );
    }
}

#[test]
fn titles_are_found() {
    for (html, title) in [
        ("<title> Foo\n <b>Bar</b> </title>", Some("Foo <b>Bar</b>")),
        (
            "<svg><title>icon</title></svg><title>Page</title>",
            Some("Page"),
        ),
        ("<title>First</title><title>Second</title>", Some("First")),
        ("<title></title><p>x", None),
        ("<title>caf&eacute; &amp; co", Some("café & co")),
        ("<p>no title", None),
        (
            "<?xml version='1.0'?><rss><title><![CDATA[A & B]]></title><title>x",
            Some("A & B"),
        ),
        ("<svg><title>icon</title></svg>", None),
    ] {
        assert_eq!(markup(html).title.as_deref(), title, "{html}");
    }
    let long = format!("<title>{}</title>", " é \u{3000}x".repeat(500));
    let title = markup(&long).title.unwrap();
    assert_eq!(title, "é x ".repeat(50).trim_end());
    let mut raw = document(b"<title> </title>", ContentKind::Markup);
    raw.title = Some("  from\tthe source ".into());
    assert_eq!(
        parse(&raw, TokenKind::Words, true).title.unwrap(),
        "from the source"
    );
}

/// A byte that is damaged does not make another charset of UTF-8; bytes of another charset are
/// none.
#[test]
fn damaged_utf8_is_utf8() {
    use Reason::{InvalidBytes, WrongCharset};
    let text = "Größe, Häuser und Füße";
    let damaged = [text.as_bytes(), b" \xfc und ", text.as_bytes()].concat();
    let parsed_as = |body: &[u8], label: Option<&str>| {
        let mut raw = document(body, ContentKind::Text);
        raw.charset = label.map(Into::into);
        let parsed = parse(&raw, TokenKind::Words, true);
        let reasons: Vec<Reason> = parsed.notices.iter().map(|notice| notice.0).collect();
        (parsed.charset, parsed.text, reasons)
    };
    let whole = format!("{text} \u{fffd} und {text}");
    let whole = reference_words(&whole).join(" ");
    for label in [None, Some("utf-8")] {
        let (charset, words, reasons) = parsed_as(&damaged, label);
        assert_eq!((charset, words), ("UTF-8", whole.clone()), "{label:?}");
        assert_eq!(reasons, [InvalidBytes], "{label:?}");
    }
    // As many characters of several bytes as damages: what it is is not clear, and the detector is
    // asked.
    let (charset, ..) = parsed_as(b"caf\xe9 \xc3\xa9t\xe9", Some("utf-8"));
    assert_ne!(charset, "UTF-8");
    for label in [
        "euc-kr",
        "gb18030",
        "euc-jp",
        "shift_jis",
        "big5",
        "koi8-r",
        "windows-1252",
    ] {
        let long = match label {
            "euc-kr" => "한국어 문서입니다. 이 문장은 문자 집합을 판별하는 데 사용됩니다.",
            "gb18030" => "这是一个中文文档。这个句子用来检测字符编码，所以要有足够的长度。",
            "euc-jp" | "shift_jis" => {
                "日本語の文書です。これは文字コードの判定に使う文章で、十分な長さがあります。"
            }
            "big5" => "這是一個中文文件。這個句子用來檢測字元編碼，所以要有足夠的長度。",
            "koi8-r" => "Это русский документ. Это предложение служит для определения кодировки.",
            _ => "Größe, Häuser und Füße, déjà vu, señor, ça va",
        };
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
        let (body, _, lossy) = encoding.encode(long);
        assert!(!lossy);
        let (charset, words, reasons) = parsed_as(&body.repeat(20), Some("utf-8"));
        assert_ne!(charset, "UTF-8", "{label}");
        assert_eq!(reasons.first(), Some(&WrongCharset), "{label}");
        assert!(!words.contains('\u{fffd}'), "{label}");
    }
}

#[test]
fn charsets_are_decided_in_order() {
    use ContentKind::{Markup, Text};
    use Reason::{DoubtfulText, InvalidBytes, WrongCharset};
    let late = |rest: &str| format!("<script>/*{}*/</script>{rest}<p>", "x".repeat(1100));
    let utf16le = |s: &str| -> Vec<u8> { s.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let utf16be = |s: &str| -> Vec<u8> { s.encode_utf16().flat_map(u16::to_be_bytes).collect() };
    let encode = |label: &str, s: &str| -> Vec<u8> {
        encoding_rs::Encoding::for_label(label.as_bytes())
            .unwrap()
            .encode(s)
            .0
            .into_owned()
    };
    let japanese = "日本語の文書です。これは文字コードの判定に使う文章で、十分な長さがあります。";
    let korean = "한국어 문서입니다. 이 문장은 문자 집합을 판별하는 데 사용됩니다.";
    let chinese = "这是一个中文文档。这个句子用来检测字符编码，所以要有足够的长度。";
    let russian = "Это русский документ. Это предложение служит для определения кодировки.";
    let words = |s: &str| reference_words(s).join(" ");
    let with = |prefix: &str, body: Vec<u8>| [prefix.as_bytes().to_vec(), body].concat();
    let meta = |label: &str| format!("<meta charset={label}>");
    let equiv = |label: &str| {
        format!("<META content='text/html; charset={label}' HTTP-EQUIV=\"Content-Type\">")
    };
    let xml = |label: &str| format!("<?xml version=\"1.0\" encoding=\"{label}\"?>");

    type Case<'a> = (
        &'a str,
        Vec<u8>,
        ContentKind,
        Option<&'a str>,
        &'a str,
        String,
        Vec<Reason>,
    );
    let cases: Vec<Case<'_>> = vec![
        (
            "plain",
            b"abc".to_vec(),
            Text,
            None,
            "UTF-8",
            "abc".into(),
            vec![],
        ),
        ("utf-8", "é".into(), Text, None, "UTF-8", "é".into(), vec![]),
        (
            "utf-8 mark",
            "\u{feff}é".into(),
            Text,
            None,
            "UTF-8",
            "é".into(),
            vec![],
        ),
        (
            "mark over header",
            "\u{feff}é".into(),
            Text,
            Some("latin1"),
            "UTF-8",
            "é".into(),
            vec![],
        ),
        (
            "utf-8 mark, bad byte",
            b"\xef\xbb\xbf\xc3\xa9 \xff x".to_vec(),
            Text,
            None,
            "UTF-8",
            "é x".into(),
            vec![InvalidBytes],
        ),
        (
            "utf-16le mark",
            utf16le("\u{feff}é 日"),
            Text,
            None,
            "UTF-16LE",
            "é 日".into(),
            vec![],
        ),
        (
            "utf-16be mark",
            utf16be("\u{feff}<p>é"),
            Markup,
            None,
            "UTF-16BE",
            "é".into(),
            vec![],
        ),
        (
            "utf-16 by header, no mark",
            utf16le("é日"),
            Text,
            Some("UTF-16"),
            "UTF-16LE",
            "é 日".into(),
            vec![],
        ),
        (
            "utf-16be by header, no mark",
            utf16be("<b>é"),
            Markup,
            Some("utf-16be"),
            "UTF-16BE",
            "é".into(),
            vec![],
        ),
        (
            "utf-16 xml, no mark",
            utf16le("<?xml version='1.0'?><a>é</a>"),
            Markup,
            None,
            "UTF-16LE",
            "é".into(),
            vec![],
        ),
        (
            "header over meta",
            with(&meta("utf-8"), encode("koi8-r", russian)),
            Markup,
            Some("koi8-r"),
            "KOI8-R",
            words(russian),
            vec![],
        ),
        (
            "header over utf-8",
            "é".into(),
            Text,
            Some(" 'ISO-8859-1' "),
            "windows-1252",
            "ã".into(), // Ã, then the copyright sign
            vec![DoubtfulText],
        ),
        (
            "xml over meta",
            with(&(xml("koi8-r") + &meta("utf-8")), encode("koi8-r", russian)),
            Markup,
            None,
            "KOI8-R",
            words(russian),
            vec![],
        ),
        (
            "meta",
            with(&meta("'Shift_JIS'"), encode("shift_jis", japanese)),
            Markup,
            None,
            "Shift_JIS",
            words(japanese),
            vec![],
        ),
        (
            "meta http-equiv",
            with(&equiv("euc-kr"), encode("euc-kr", korean)),
            Markup,
            None,
            "EUC-KR",
            words(korean),
            vec![],
        ),
        (
            "meta in a comment does not count",
            with(
                &format!(
                    "<!-- {} --><p {}>{}",
                    meta("koi8-r"),
                    "<meta charset=koi8-r>",
                    meta("gbk")
                ),
                encode("gb18030", chinese),
            ),
            Markup,
            None,
            "GBK",
            words(chinese),
            vec![],
        ),
        (
            "meta in text counts for nothing",
            with("<meta charset=koi8-r>", "é".into()),
            Text,
            None,
            "UTF-8",
            "meta charset koi8 r é".into(),
            vec![],
        ),
        (
            "gb18030",
            with(&meta("gb18030"), encode("gb18030", chinese)),
            Markup,
            None,
            "gb18030",
            words(chinese),
            vec![],
        ),
        (
            "utf-16 by meta means utf-8",
            with(&meta("utf-16"), "é".into()),
            Markup,
            None,
            "UTF-8",
            "é".into(),
            vec![],
        ),
        (
            "utf-16 by xml means utf-8",
            with(&xml("utf-16"), "é".into()),
            Markup,
            None,
            "UTF-8",
            "é".into(),
            vec![],
        ),
        (
            "windows-1252 quotes",
            b"don\x92t \x93quote\x94".to_vec(),
            Text,
            Some("iso-8859-1"),
            "windows-1252",
            "don't quote".into(),
            vec![],
        ),
        (
            "unknown header, then meta",
            with(&meta("koi8-r"), encode("koi8-r", russian)),
            Markup,
            Some("x-nonsense"),
            "KOI8-R",
            words(russian),
            vec![WrongCharset],
        ),
        (
            "unknown meta, then meta",
            with(
                &(meta("nonsense") + &meta("koi8-r")),
                encode("koi8-r", russian),
            ),
            Markup,
            None,
            "KOI8-R",
            words(russian),
            vec![WrongCharset],
        ),
        (
            "a charset that browsers refuse",
            b"abc".to_vec(),
            Text,
            Some("hz-gb-2312"),
            "UTF-8",
            "abc".into(),
            vec![WrongCharset],
        ),
        (
            "utf-8 declared, latin-1 found",
            b"caf\xe9 d\xe9j\xe0 vu, no\xebl et la for\xeat".to_vec(),
            Text,
            Some("utf-8"),
            "windows-1252",
            "café déjà vu noël et la forêt".into(),
            vec![WrongCharset],
        ),
        (
            "utf-8 declared, cut off",
            b"\xc3\xa9t\xc3\xa9 abc\xc3".to_vec(),
            Text,
            Some("utf-8"),
            "UTF-8",
            "été abc".into(),
            vec![InvalidBytes],
        ),
        (
            "bytes not in the charset declared",
            b"abc \x81 def".to_vec(),
            Text,
            Some("shift_jis"),
            "Shift_JIS",
            "abc def".into(),
            vec![InvalidBytes],
        ),
        (
            "iso-2022-jp is not ASCII",
            encode("iso-2022-jp", japanese),
            Text,
            Some("iso-2022-jp"),
            "ISO-2022-JP",
            words(japanese),
            vec![],
        ),
        (
            "utf-32 by header",
            b"abc def".to_vec(),
            Text,
            Some("utf-32"),
            "UTF-8",
            "abc def".into(),
            vec![WrongCharset],
        ),
        (
            "utf-16, evidently",
            utf16le("mañana por la mañana"),
            Text,
            None,
            "UTF-16LE",
            "mañana por la mañana".into(),
            vec![],
        ),
        (
            "utf-16 by header, but it is UTF-8",
            "<p>été abc".into(),
            Markup,
            Some("utf-16"),
            "UTF-8",
            "été abc".into(),
            vec![WrongCharset],
        ),
        (
            "utf-8 declared, with the zeros of utf-16",
            utf16le("no words at all"),
            Text,
            Some("utf-8"),
            "UTF-8",
            "n o w o r d s a t a l l".into(),
            vec![DoubtfulText],
        ),
        (
            "late meta",
            with(&late(&meta("koi8-r")), encode("koi8-r", russian)),
            Markup,
            None,
            "KOI8-R",
            words(russian),
            vec![],
        ),
        (
            "late meta after early meta",
            with(
                &(meta("iso-8859-5") + &late(&meta("koi8-r"))),
                encode("iso-8859-5", russian),
            ),
            Markup,
            None,
            "ISO-8859-5",
            words(russian),
            vec![],
        ),
        (
            "late meta in UTF-8",
            with(&late(&meta("koi8-r")), "é".into()),
            Markup,
            None,
            "UTF-8",
            "é".into(),
            vec![],
        ),
        (
            "unknown late meta, then late meta",
            with(
                &late(&(meta("nonsense").repeat(3) + &meta("koi8-r"))),
                encode("koi8-r", russian),
            ),
            Markup,
            None,
            "KOI8-R",
            words(russian),
            vec![WrongCharset],
        ),
        (
            "late meta says utf-8",
            with(&late(&meta("utf-8")), encode("euc-kr", korean)),
            Markup,
            None,
            "EUC-KR",
            words(korean),
            vec![WrongCharset],
        ),
        (
            "a guess",
            b"one two \xb0\xb9".to_vec(),
            Text,
            None,
            "windows-1250",
            "one two ą".into(),
            vec![DoubtfulText],
        ),
        (
            "another guess with the same words",
            b"one two \xb0\xb1".to_vec(),
            Text,
            None,
            "ISO-8859-2",
            "one two ą".into(),
            vec![DoubtfulText],
        ),
        (
            "utf-8 by header, then meta",
            with(&meta("shift_jis"), encode("shift_jis", "之")),
            Markup,
            Some("utf-8"),
            "Shift_JIS",
            "之".into(),
            vec![WrongCharset],
        ),
        (
            "utf-8 by xml, then meta tags",
            with(
                &(xml("utf-8") + &meta("utf-8") + &meta("shift_jis")),
                encode("shift_jis", "久"),
            ),
            Markup,
            None,
            "Shift_JIS",
            "久".into(),
            vec![WrongCharset],
        ),
        (
            "one unknown meta",
            with(&meta("cp852"), b"\x82\xa0 uno dos".to_vec()),
            Markup,
            None,
            "IBM866",
            "ва uno dos".into(),
            vec![WrongCharset, DoubtfulText],
        ),
        (
            "iso-2022-jp by its escapes",
            encode("iso-2022-jp", japanese),
            Text,
            None,
            "ISO-2022-JP",
            words(japanese),
            vec![],
        ),
        (
            "iso-2022-jp declared as another Japanese charset",
            encode("iso-2022-jp", japanese),
            Text,
            Some("x-sjis"),
            "ISO-2022-JP",
            words(japanese),
            vec![WrongCharset],
        ),
        (
            "iso-2022-kr is not decoded",
            b"\x1b$)C hello".to_vec(),
            Text,
            None,
            "UTF-8",
            "c hello".into(),
            vec![DoubtfulText],
        ),
        (
            "hz is not decoded",
            b"a ~{VPND~} b".to_vec(),
            Text,
            Some("utf-8"),
            "UTF-8",
            "a vpnd b".into(),
            vec![DoubtfulText],
        ),
        (
            "directives of Lisp are not hz",
            b"~{~a~^, ~} ~{ab~} ~{~}".to_vec(),
            Text,
            None,
            "UTF-8",
            "a ab".into(),
            vec![],
        ),
        (
            "escapes of a terminal",
            b"\x1b[31mred\x1b(B\x1b[m".to_vec(),
            Text,
            None,
            "UTF-8",
            "31mred b m".into(),
            vec![],
        ),
        (
            "UTF-8 declared as windows-1252",
            "déjà vu à Noël".into(),
            Text,
            Some("latin1"),
            "windows-1252",
            "dã jã vu ã noã l".into(),
            vec![DoubtfulText],
        ),
        (
            "windows-1251 declared as windows-1252",
            encode("windows-1251", "Привет друзья привет"),
            Text,
            Some("latin1"),
            "windows-1252",
            "ïðèâåò äðóçüÿ ïðèâåò".into(),
            vec![DoubtfulText],
        ),
        (
            "empty label",
            "é".into(),
            Text,
            Some(" "),
            "UTF-8",
            "é".into(),
            vec![],
        ),
        (
            "half-width Katakana",
            b"\xb1\xb2\xb3".to_vec(),
            Text,
            Some("sjis"),
            "Shift_JIS",
            "ｱ ｲ ｳ".into(),
            vec![],
        ),
    ];
    for (name, body, content, header, charset, text, reasons) in cases {
        let mut document = document(&body, content);
        document.charset = header.map(Cow::Borrowed);
        let parsed = parse(&document, TokenKind::Words, true);
        let found: Vec<Reason> = parsed.notices.iter().map(|n| n.0).collect();
        assert_eq!(
            (parsed.charset, parsed.text, found),
            (charset, text, reasons),
            "{name}"
        );
    }

    // Undeclared: the detector, or windows-1252.
    for (label, name, text) in [
        ("shift_jis", "Shift_JIS", japanese),
        ("euc-jp", "EUC-JP", japanese),
        ("euc-kr", "EUC-KR", korean),
        ("gb18030", "GBK", chinese),
        ("koi8-r", "KOI8-U", russian), // the detector's name for both
        ("windows-1251", "windows-1251", russian),
    ] {
        let body = encode(label, text);
        let raw = document(&body, Text);
        let parsed = parse(&raw, TokenKind::Words, true);
        assert_eq!(
            (parsed.charset, parsed.text),
            (name, words(text)),
            "{label}"
        );
        assert!(parsed.notices.is_empty());
        assert_eq!(parse(&raw, TokenKind::Words, false).charset, "windows-1252");
    }
}

/// In every charset, and with every way of declaring it, the words are those of the same text in
/// UTF-8.
#[test]
fn sentences_have_their_words_in_every_charset() {
    let sentences = [
        (
            "Le cœur de l'œuvre coûte 10 € à Paris et l'été arrive très vite sur la côte.",
            "iso-8859-15 windows-1252 iso-8859-16 macintosh",
        ),
        (
            "Az őszi esőben a hűvös szél fújja a leveleket a kertben, és a gyerekek a tűz mellett ülnek.",
            "iso-8859-2 windows-1250 iso-8859-16",
        ),
        (
            "Šiandien Vilniuje graži diena ir mes einame pasivaikščioti prie upės",
            "windows-1257 iso-8859-13 iso-8859-4 iso-8859-10",
        ),
        (
            "Pijamalı hasta yağız şoföre çabucak güvendi",
            "windows-1254 iso-8859-9 iso-8859-3",
        ),
        (
            "Съешь же ещё этих мягких французских булок, да выпей чаю",
            "windows-1251 koi8-r koi8-u iso-8859-5 ibm866 x-mac-cyrillic",
        ),
        (
            "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και την ψυχή σου",
            "iso-8859-7 windows-1253",
        ),
        (
            "דג סקרן שט בים מאוכזב ולפתע מצא חברה",
            "windows-1255 iso-8859-8 iso-8859-8-i",
        ),
        ("نص حكيم له سر قاطع وذو شأن عظيم", "windows-1256 iso-8859-6"),
        (
            "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์",
            "windows-874 tis-620",
        ),
        (
            "日本語の文書です。これは文字コードの判定に使う文章で、十分な長さがあります。",
            "shift_jis euc-jp iso-2022-jp",
        ),
        (
            "这是一个中文文档。这个句子用来检测字符编码，所以要有足够的长度。",
            "gbk gb18030",
        ),
        (
            "這是一個中文文件。這個句子用來檢測字元編碼，所以要有足夠的長度。",
            "big5",
        ),
        (
            "한국어 문서입니다. 이 문장은 문자 집합을 판별하는 데 사용됩니다.",
            "euc-kr",
        ),
    ];
    // No tag is in a script, in a comment, or in a title.
    let decoy = "<meta charset=x-mac-cyrillic>";
    let before = format!(
        "<html><head><style>/*{}*/</style><script>'{decoy}'</script><!-- {decoy} -->\
         <title>t {decoy}</title>",
        "x".repeat(1100)
    );
    for (sentence, labels) in sentences {
        let plain = |text: &str, content| {
            let mut raw = document(text.as_bytes(), content);
            raw.charset = Some("utf-8".into());
            parse(&raw, TokenKind::Words, true)
        };
        for label in labels.split(' ') {
            let ways = [
                (Some(label), sentence.to_string()),
                (Some(label), format!("<p>{sentence}")),
                (
                    None,
                    format!("<?xml version='1.0' encoding='{label}'?><p>{sentence}"),
                ),
                (None, format!("<meta charset={label}><p>{sentence}")),
                (
                    None,
                    format!("{before}<meta charset='{label}'><p>{sentence}"),
                ),
                (
                    None,
                    format!(
                        "{before}<META CONTENT='text/html; charset={label}' \
                         HTTP-EQUIV=content-type><body>{sentence}"
                    ),
                ),
                (
                    None,
                    format!("<body>{before}<p><meta charset={label}>{sentence}"),
                ),
            ];
            for (header, text) in ways {
                let content = match text.starts_with('<') {
                    true => ContentKind::Markup,
                    false => ContentKind::Text,
                };
                let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
                let (body, _, lossy) = encoding.encode(&text);
                assert!(!lossy, "{label}");
                let mut raw = document(&body, content);
                raw.charset = header.map(Cow::Borrowed);
                let found = parse(&raw, TokenKind::Words, true);
                assert_eq!(found.text, plain(&text, content).text, "{label} {text}");
                assert_eq!(found.charset, encoding.name(), "{label} {text}");
                assert_eq!(found.notices, [], "{label} {text}");
            }
        }
    }
}

#[test]
fn notices_say_where() {
    let mut raw = document(b"abc \x81 def \x81", ContentKind::Text);
    raw.charset = Some("shift_jis".into());
    let parsed = parse(&raw, TokenKind::Words, true);
    assert_eq!(
        parsed.notices[0].1,
        "Shift_JIS by header, but byte 4 is not"
    );
    // That the text has another one in it says more than that its charset is a guess.
    let mut mixed = b"word ".repeat(2000);
    mixed.extend(b"\xb0\xb9 ");
    mixed.extend(
        "some more words "
            .repeat(9)
            .encode_utf16()
            .flat_map(u16::to_le_bytes),
    );
    let parsed = parse(&document(&mixed, ContentKind::Text), TokenKind::Words, true);
    let details: Vec<&str> = parsed.notices.iter().map(|notice| &*notice.1).collect();
    let told = details.iter().any(|detail| detail.contains("UTF-16"));
    assert!(told, "{details:?}");
    let mut raw = document(b"caf\xe9 x", ContentKind::Text);
    raw.charset = Some("UTF8".into());
    let parsed = parse(&raw, TokenKind::Words, false);
    assert_eq!(parsed.notices[0].1, "UTF-8 by header, but byte 3 is not");
    raw.charset = Some("b\u{fffd}g".into());
    let parsed = parse(&raw, TokenKind::Words, false);
    assert_eq!(
        parsed.notices[0].1,
        "label \"b\u{fffd}g\" of the header is not known"
    );
    // Far into a body that is decoded in many pieces.
    let mut body = "日本語".repeat(30_000).into_bytes();
    body.extend_from_slice(b" \xff tail");
    let mut mark = b"\xef\xbb\xbf".to_vec();
    mark.extend_from_slice(&body);
    let parsed = parse(&document(&mark, ContentKind::Text), TokenKind::Words, true);
    let at = 3 + 9 * 30_000 + 1;
    assert_eq!(
        parsed.notices[0].1,
        format!("UTF-8 by byte order mark, but byte {at} is not")
    );
    assert!(parsed.text.ends_with(" 語 tail"));
}

#[test]
fn long_documents_equal_the_reference() {
    // Longer than a portion by far: windows across portions, tokens longer than one, long tails.
    let sentence = "Don't — it's 日本's e\u{301}TÉ, İ_x; ";
    let mut text = String::new();
    let mut state = 1u64;
    while text.len() < 600_000 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let cut = (state >> 33) as usize % sentence.chars().count();
        text.extend(sentence.chars().skip(cut));
        if state >> 60 == 0 {
            text.extend(std::iter::repeat_n('z', (state >> 50) as usize % 3000));
        }
    }
    let giant = format!(
        "{} {} {}",
        "a".repeat(400_000),
        "b'".repeat(200_000),
        "c ".repeat(150_000)
    );
    for text in [&text, &giant] {
        for tokens in [
            TokenKind::Words,
            TokenKind::Whitespace,
            bytes(30),
            bytes(300_000),
        ] {
            if text == &giant && tokens == bytes(300_000) {
                continue; // the reference would hold every window
            }
            if tokens == bytes(300_000) {
                // The same number of windows, without holding them.
                let config = ShingleConfig {
                    parse: tokens.into(),
                    ..ShingleConfig::default()
                };
                let short = &text[..text.floor_char_boundary(301_000)];
                assert_eq!(
                    outcome(short.as_bytes(), ContentKind::Text, &config)
                        .set
                        .len(),
                    reference(short, &config).set.len()
                );
                continue;
            }
            for shingle_size in [1, 10, 1000] {
                if shingle_size == 1000 && (text == &giant || tokens == TokenKind::Whitespace) {
                    continue;
                }
                let config = ShingleConfig {
                    parse: tokens.clone().into(),
                    shingle_size,
                    ..ShingleConfig::default()
                };
                let found = outcome(text.as_bytes(), ContentKind::Text, &config);
                let expected = reference(text, &config);
                assert!(found == expected, "{tokens} {shingle_size}");
            }
        }
    }
}

// Properties.

/// Characters that matter, and any.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        6 => prop::sample::select("aAbZzéÉßİσΣ09²ⅧǅᏀ한".chars().collect::<Vec<_>>()),
        3 => prop::sample::select(" \t\n\u{a0}\u{3000}\u{85}.,-_\0\u{200d}".chars().collect::<Vec<_>>()),
        3 => prop::sample::select("''\u{2019}\u{2018}".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("漢字々〇かカｶーｰ・⺀㋐㌀\u{20000}\u{1b000}".chars().collect::<Vec<_>>()),
        4 => prop::sample::select(
            "กเๆ๑\u{e33}\u{e31}\u{e38}\u{e49}ກໜໆ\u{eb3}\u{eb1}កខៗ១\u{17d2}\u{17d2}\u{17b6}\u{17b7}\
             \u{17dd}ကဥင\u{1039}\u{103a}\u{102c}\u{102e}\u{1031}\u{1038}ᨠ\u{1a60}\u{1a63}ᦀ᧚ꪀ\u{aabf}"
                .chars()
                .collect::<Vec<_>>(),
        ),
        3 => prop::sample::select(
            "\u{301}\u{93f}\u{345}\u{3099}\u{302a}\u{20dd}\u{16ff0}\u{16ff1}\u{e0100}".chars().collect::<Vec<_>>()
        ),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..60).prop_map(|c| c.into_iter().collect())
}

fn config() -> impl Strategy<Value = ShingleConfig> {
    (
        prop_oneof![
            4 => Just(TokenKind::Words),
            1 => Just(TokenKind::Whitespace),
            1 => (1u32..12).prop_map(bytes)
        ],
        prop::sample::select(vec![1u32, 2, 5, 10]),
        any::<bool>(),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(tokens, shingle_size, whole, xxh3, seed)| ShingleConfig {
            parse: tokens.into(),
            shingle_size,
            short: if whole { Short::Whole } else { Short::Skip },
            fingerprint: if xxh3 {
                FingerprintKind::Xxh3
            } else {
                FingerprintKind::Md5
            },
            seed,
            excluded: None,
        })
}

/// As markup, with an inline tag, a comment or a reference at some places.
fn as_markup(text: &str, cuts: u64) -> String {
    let mut html = String::new();
    for (i, c) in text.chars().enumerate() {
        if cuts >> (i % 64) & 1 == 1 {
            html.push_str(["<b>", "</i>", "<!-- x -->"][i % 3]);
        }
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            // What numeric references cannot say or markup normalises is left as it is.
            _ if i % 7 == 3 && c.is_alphanumeric() => html += &format!("&#{};", c as u32),
            _ => html.push(c),
        }
    }
    html
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_equals_the_reference(text in text(), config in config()) {
        let expected = reference(text.strip_prefix('\u{feff}').unwrap_or(&text), &config);
        prop_assert_eq!(outcome(text.as_bytes(), ContentKind::Text, &config), expected);
    }

    #[test]
    fn markup_equals_the_reference(text in text(), config in config(), cuts in any::<u64>()) {
        // A NUL is dropped from markup, and a carriage return is a line feed.
        let text = text.replace('\0', "").replace('\r', "\n").replace('\u{feff}', "");
        let html = as_markup(&text, cuts);
        let expected = reference(&text, &config);
        prop_assert_eq!(outcome(html.as_bytes(), ContentKind::Markup, &config), expected, "{}", html);
    }

    #[test]
    fn decoded_text_equals_the_reference(text in text(), config in config(), markup in any::<bool>()) {
        let text = text.replace(['\0', '\u{feff}'], "").replace('\r', "\n");
        let html = if markup { as_markup(&text, u64::MAX) } else { text.clone() };
        let body: Vec<u8> = html.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let content = if markup { ContentKind::Markup } else { ContentKind::Text };
        let mut document = document(&body, content);
        document.charset = Some("utf-16be".into());
        prop_assert_eq!(shingle(&document, &config, FULL).0, reference(&text, &config));
    }

    #[test]
    fn passes_equal_one_pass(text in text(), config in config(), cuts in prop::collection::vec(any::<u128>(), 1..5)) {
        let most = match config.fingerprint {
            FingerprintKind::Xxh3 => u128::from(u64::MAX),
            FingerprintKind::Md5 => u128::MAX,
        };
        let mut cuts: Vec<u128> = cuts.iter().map(|c| (c % most).max(1)).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let lows = std::iter::once(0).chain(cuts.iter().copied());
        let highs = cuts.iter().map(|c| c - 1).chain([most]);
        let ranges: Vec<(u128, u128)> = lows.zip(highs).collect();
        let raw = document(text.as_bytes(), ContentKind::Text);
        let (passes, _) = shingle(&raw, &config, &ranges);
        prop_assert_eq!(passes, shingle(&raw, &config, FULL).0);
    }

    #[test]
    fn a_shingler_keeps_nothing(texts in prop::collection::vec(text(), 1..4), config in config()) {
        let config = ShingleConfig { fingerprint: FingerprintKind::Xxh3, ..config };
        let mut shingler = Shingler::<u64>::new(&config);
        let mut set = Vec::new();
        for text in texts {
            let raw = document(text.as_bytes(), ContentKind::Markup);
            let facts = shingler.shingle(&raw, (0, u64::MAX), &mut set);
            let mut fresh = Vec::new();
            let expected = Shingler::<u64>::new(&config).shingle(&raw, (0, u64::MAX), &mut fresh);
            prop_assert_eq!((&set, facts), (&fresh, expected));
            prop_assert!(set.len() <= shingler.most_fingerprints(text.len()));
            shingler.shrink();
        }
    }

    #[test]
    fn any_bytes_are_a_document(
        body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            prop::collection::vec(
                prop::sample::select(b"<>/!-?='\" \0\r\n&#;x]a[\xc3\xa9\xff\x81\x1b$B".to_vec()),
                0..200
            ),
            prop::collection::vec(
                prop::sample::select(vec![
                    "<", "</", ">", "<!--", "-->", "--!>", "<![CDATA[", "]]>", "script", "style",
                    "title", "textarea", "svg", "plaintext", "xmp", "meta charset=", "'", "\"", "é",
                    "日", "&", "&am", "&#x", ";", " ", "=", "/", "<?xml ", "encoding='", "\0",
                    "content=charset", "http-equiv=content-type",
                ]),
                0..40
            ).prop_map(|parts| parts.concat().into_bytes()),
        ],
        label in prop_oneof![
            Just(None),
            prop::sample::select(vec![
                "utf-8", "utf-16", "utf-16be", "latin1", "shift_jis", "euc-jp", "iso-2022-jp",
                "gb18030", "big5", "euc-kr", "koi8-r", "x-user-defined", "replacement", "nonsense",
                "windows-874", "macintosh", "",
            ]).prop_map(Some)
        ],
        markup in any::<bool>(),
        config in config(),
    ) {
        let content = if markup { ContentKind::Markup } else { ContentKind::Text };
        let mut document = document(&body, content);
        document.charset = label.map(Cow::Borrowed);
        let (found, facts) = shingle(&document, &config, FULL);
        prop_assert!(found.set.windows(2).all(|w| w[0] < w[1]));
        let most = match config.parse.tokens {
            TokenKind::Words | TokenKind::Code(_) | TokenKind::Auto(_) => body.len(),
            TokenKind::Whitespace => body.len().div_ceil(2),
            TokenKind::Bytes(_) => 3 * body.len(),
        };
        prop_assert!(found.set.len() <= most);
        prop_assert!(facts.words as usize <= body.len());
    }
}
