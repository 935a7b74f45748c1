//! Why a document has no words, or few, and where its text may be.

use std::collections::BTreeMap;

use memchr::{memchr_iter, memrchr_iter};

use super::tags::{Kind, Tag, Tags, local};
use crate::read::ground::bytes::{begins_any_case, is_one_of};
use crate::read::ground::fields::LEFT_OUT;
use crate::read::ground::record::{ContentKind, Notice, RawDocument, Reject};
use lookalike_base::{flag_word, shell_word, words};
use lookalike_source::Reason;

/// Bytes of a document that are looked at.
const LOOK: usize = 256 << 10;

/// Attributes that have texts, by their names in lower case.
const TEXTS: [&str; 10] = [
    "content", "text", "body", "value", "label", "caption", "title", "desc", "comment", "message",
];

/// Attributes whose words are not text: the attributes of style sheets, drawings and schemas.
const NO_TEXT: [&str; 9] =
    words("class style d points transform viewBox font-family srcset schemaLocation");

/// Elements whose content makes or shows what a reader sees, and what to say about them.
const SHOWN: [(&str, &str); 5] = [
    (
        "script canvas",
        "scripts make what it shows; store the page as a browser renders it",
    ),
    (
        "path",
        "it is a drawing, perhaps of letters; recognise them first (OCR)",
    ),
    (
        "image img",
        "it shows images; recognise their text first (OCR)",
    ),
    ("frame iframe", "it shows other pages in frames; read those"),
    ("object embed", "it shows other files; read those"),
];

type Words<'b> = (BTreeMap<(&'b [u8], &'b [u8]), usize>, Option<&'b [u8]>);

/// Why a document has no words, for a line of `rejects.jsonl`.
fn why_no_words(document: &RawDocument<'_>) -> String {
    let body = &document.body[..document.body.len().min(LOOK)];
    let (content, record) = (document.content, document.element);
    let attributes = || in_attributes(body, content, 0, record, !record);
    let place = || match document.content {
        ContentKind::Markup => attributes().or_else(|| shown(body)),
        ContentKind::Xml => attributes(),
        ContentKind::Text => None,
    };
    match place() {
        Some(place) => format!("the text has no words; {place}"),
        None if body.trim_ascii().is_empty() => "the text is empty".into(),
        None => "the text has no words".into(),
    }
}

/// The warnings about a document that is used: from reading it, from parsing it into this number of
/// words, and one if nothing or little of it is text.
pub fn warnings(
    document: &RawDocument<'_>,
    words: u64,
    parsed: Vec<Notice>,
) -> impl Iterator<Item = Reject> {
    let (reason, detail) = match words {
        0 => (Reason::NotComparable, Some(why_no_words(document))),
        words => (Reason::AttributeText, text_in_attributes(document, words)),
    };
    // That attributes of a record are left out says nothing of those of its elements.
    let told = |notice: &Notice| notice.0 == reason && reason == Reason::NotComparable;
    let detail = detail.filter(|_| !document.notices.iter().any(told));
    let lack = detail.map(|detail| (reason, detail));
    let all = document.notices.iter().cloned().chain(parsed).chain(lack);
    all.map(move |(reason, detail)| Reject {
        source: document.source,
        docno: Some(document.docno.to_string()),
        reason,
        detail,
    })
}

/// Where the text of XML is that has fewer words than its attributes.
fn text_in_attributes(document: &RawDocument<'_>, words: u64) -> Option<String> {
    let length = document.body.len();
    let body = &document.body[..length.min(LOOK)];
    // Those in the part that is looked at, if they are everywhere alike. Few texts have so many tags.
    let words = usize::try_from(words).ok()? * body.len() / length.max(1);
    if document.content != ContentKind::Xml || words * 8 > body.len() {
        return None;
    }
    let record = document.element;
    in_attributes(body, ContentKind::Xml, words, record, !record)
}

/// Where the text is, if the attributes of the markup have more than this number of words. The body
/// may begin with the tag of the record.
pub(crate) fn in_attributes(
    body: &[u8],
    content: ContentKind,
    least: usize,
    record: bool,
    own: bool,
) -> Option<String> {
    let (mut counts, root) = words_of(body, content, own);
    let all: usize = counts.values().sum();
    if all <= least {
        return None;
    }
    counts.retain(|_, count| *count * 10 >= all);
    let fields = counts.keys().map(field).collect::<Vec<_>>().join(",");
    let flags = match root.filter(|_| !record) {
        Some(root) => format!("--record {} ", shell_word(&String::from_utf8_lossy(root))),
        None => String::new(),
    };
    Some(format!(
        "attributes have {all} words: use {flags}--text-field {}",
        shell_word(&fields)
    ))
}

/// The attributes with texts in a record whose text is in these fields, or in part in none. `names`
/// says which of its own attributes are no loss.
pub(crate) fn other_attributes(
    record: &[u8],
    texts: Option<Vec<String>>,
    names: impl Fn(&[u8]) -> bool,
) -> Option<String> {
    let (mut counts, _) = words_of(record, ContentKind::Xml, true);
    counts.retain(|(name, attribute), count| {
        // Three words may be a name.
        let known = is_one_of(attribute, &TEXTS);
        *count > if known { 1 } else { 3 } && !(name.is_empty() && names(attribute))
    });
    let fields: Vec<String> = counts.keys().map(field).collect();
    let beside = match texts {
        Some(_) => "",
        None => ", in place of the text",
    };
    let all = [&*texts.unwrap_or_default(), &fields].concat().join(",");
    let (flag, fields) = (flag_word("--text-field", &all), fields.join(", "));
    (!fields.is_empty()).then(|| format!("{fields}{LEFT_OUT}{flag}{beside}"))
}

/// An attribute of an element, as a field.
fn field((name, attribute): &(&[u8], &[u8])) -> String {
    let [name, attribute] = [*name, *attribute].map(String::from_utf8_lossy);
    match &*name {
        "" => format!("@{attribute}"),
        _ => format!("{name}.@{attribute}"),
    }
}

/// The words in attributes, by the name of their element, which is empty for that of the record if
/// it is `own`, and the attribute; and the name of the first element.
fn words_of(body: &[u8], content: ContentKind, own: bool) -> Words<'_> {
    let mut counts: BTreeMap<(&[u8], &[u8]), usize> = BTreeMap::new();
    let mut root: Option<&[u8]> = None;
    for tag in Tags::of(body).filter(|tag| tag.kind != Kind::Close) {
        let name = local(tag.name);
        let is_own = own && root.is_none();
        root = root.or(Some(name));
        // The descriptions in the head of a page are not its text, and words of ALTO are read.
        let read = |attribute: &[u8]| {
            name.eq_ignore_ascii_case(b"meta")
                || name == b"String" && attribute == b"CONTENT"
                || is_one_of(local(attribute), &NO_TEXT)
        };
        for (attribute, value) in tag.attributes().filter(|(attribute, _)| !read(attribute)) {
            let known = is_one_of(attribute, &TEXTS);
            let words = words_in(value).0;
            // Many attributes have one word, which is a name or a type.
            if known || words > 1 && content == ContentKind::Xml {
                let name = if is_own { &b""[..] } else { name };
                *counts.entry((name, attribute)).or_default() += words;
            }
        }
    }
    (counts, root)
}

/// Names the thing that a page without words shows.
fn shown(body: &[u8]) -> Option<String> {
    let mut tags = Tags::of(body).filter(|tag| tag.kind != Kind::Close);
    // A script that is not closed hides the page, and has its own line.
    let last = memrchr_iter(b'<', body).find(|&at| begins_any_case(&body[at..], b"</script"));
    let closed = |tag: &Tag<'_>| tag.kind == Kind::Open && last.is_some_and(|at| at >= tag.end);
    let is = |known: &str, tag: &Tag<'_>| {
        let mut known = known.split(' ');
        let known = known.find(|known| is_one_of(local(tag.name), &[known]));
        known.is_some_and(|known| known != "script" || closed(tag))
    };
    let shown = tags.find_map(|tag| SHOWN.iter().find(|(known, _)| is(known, &tag)));
    shown.map(|(_, what)| (*what).into())
}

/// The number of words between white space that have a letter, and of numbers. Two letters of a
/// script without spaces count as a word, and so do eight bytes of a charset that is not known.
pub(crate) fn words_in(text: &[u8]) -> (usize, usize) {
    let (mut words, mut numbers) = (0, 0);
    for word in text.split(u8::is_ascii_whitespace) {
        let (mut any, mut alone) = (false, 0);
        match std::str::from_utf8(word) {
            Ok(word) => word.chars().for_each(|c| {
                any |= c.is_alphabetic();
                alone += usize::from(is_alone(c));
            }),
            Err(_) => {
                any = true;
                alone = word.iter().filter(|byte| !byte.is_ascii()).count() / 4;
            }
        }
        // Characters that are written as numbers, and are not controls.
        let is_letter = |&at: &usize| match &word[at + 1..] {
            [b'#', b'x' | b'X', ..] => true,
            [b'#', digits @ ..] => digits.iter().take_while(|b| b.is_ascii_digit()).count() > 2,
            _ => false,
        };
        alone += memchr_iter(b'&', word).filter(is_letter).count();
        match usize::from(any).max(alone.div_ceil(2)) {
            0 => numbers += usize::from(word.iter().any(u8::is_ascii_digit)),
            some => words += some,
        }
    }
    (words, numbers)
}

/// Whether this is a letter of a script without spaces between words.
fn is_alone(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{3005}'..='\u{9fff}'
        | '\u{aa60}'..='\u{aadf}' | '\u{f900}'..='\u{faff}' | '\u{11700}'..='\u{1174f}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::look::sniff::kind_of_markup;

    #[test]
    fn texts_in_attributes_are_noticed() {
        let prose = "<o text='a few words of prose'/>".repeat(4);
        let names = "<o id='a1' class='x'/>".repeat(40);
        let words = "some words ".repeat(40);
        for (content, body, words, noticed) in [
            (
                ContentKind::Xml,
                format!("<x><t>A title</t>{prose}</x>"),
                2,
                true,
            ),
            (
                ContentKind::Xml,
                format!("<x>{words}{prose}</x>"),
                80,
                false,
            ),
            (
                ContentKind::Xml,
                format!("<x><t>A title</t>{names}</x>"),
                2,
                false,
            ),
            (
                ContentKind::Xml,
                "<x><t>A</t><o text='a few words'/></x>".into(),
                1,
                true,
            ),
            (
                ContentKind::Xml,
                "<x><t>A few words more</t><o text='a few words'/></x>".into(),
                4,
                false,
            ),
            (
                ContentKind::Xml,
                "<x><t>\u{984c}</t><o v='\u{6587}\u{7ae0}\u{3067}\u{3059}'/></x>".into(),
                1,
                true,
            ),
            (
                ContentKind::Xml,
                "<x><t style='a: b; c: d' class='a b c'>A</t></x>".into(),
                1,
                false,
            ),
            (ContentKind::Markup, format!("<p>A title{prose}"), 2, false),
        ] {
            let document = RawDocument::of_text(&body, content);
            let found = text_in_attributes(&document, words);
            assert_eq!(found.is_some(), noticed, "{body} {found:?}");
        }
    }

    #[test]
    fn words_are_counted_about_as_tokens() {
        for (text, expected) in [
            (&b"a bc D-1 12 3.4 - !"[..], (3, 2)),
            ("\u{e9}t\u{e9} \u{43c}\u{438}\u{440}".as_bytes(), (2, 0)),
            ("\u{6f22}\u{5b57}\u{304b}\u{3002} 5".as_bytes(), (2, 1)),
            ("\u{e23}\u{e32}\u{e04}\u{e32}50".as_bytes(), (2, 0)),
            (b"&#28450;&#23383;&#12363; &#32;", (2, 1)),
            (
                b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6 \xe9t\xe9",
                (2, 0),
            ),
            (b"", (0, 0)),
        ] {
            assert_eq!(words_in(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_place_of_the_text_is_named() {
        // A search for the end of each of many scripts would take long.
        let scripts = "<script>".repeat(LOOK / 8);
        for (body, markup, expected) in [
            (
                "<opml><body><outline text='a word'><outline text='b'/></outline></body></opml>",
                true,
                "--record opml --text-field outline.@text",
            ),
            (
                "<x:rows><x:row Body='&lt;p&gt;a'/></x:rows>",
                true,
                "--record rows --text-field row.@Body",
            ),
            (
                "<html><meta name=a content=words><script>a()</script>",
                true,
                "scripts make",
            ),
            (
                "<x><script/><tag k='b' v='two words'/></x>",
                true,
                "--record x --text-field tag.@v",
            ),
            ("<svg><title/><path d='M 1 2'/></svg>", true, "drawing"),
            ("<p><img src=a.png title=''></p>", true, "OCR"),
            ("<p>&hellip;</p>", true, "the text has no words"),
            ("<script src='a'/><p>a b", true, "the text has no words"),
            ("<script>a()", true, "the text has no words"),
            ("<script></script><script>", true, "scripts make"),
            (&scripts, true, "the text has no words"),
            (" \n", false, "the text is empty"),
            ("...!", false, "the text has no words"),
        ] {
            let content = match markup {
                true => kind_of_markup(body.as_bytes()),
                false => ContentKind::Text,
            };
            let document = RawDocument::of_text(body, content);
            let found = why_no_words(&document);
            assert!(
                found.ends_with(expected) || found.contains(expected),
                "{body} {found}"
            );
        }
    }
}
