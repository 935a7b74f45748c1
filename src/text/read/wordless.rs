//! Why a document has no words, and where its text may be.

use std::collections::BTreeMap;

use super::record::{ContentKind, RawDocument};
use super::tags::{Kind, Tags, local};

/// Bytes of a document that are looked at.
const LOOK: usize = 256 << 10;

/// Attributes that have texts, by their names in lower case.
const TEXTS: [&str; 10] = [
    "content", "text", "body", "value", "label", "caption", "title", "desc", "comment", "message",
];

/// Elements whose content makes or shows what a reader sees, and what to say about them.
const SHOWN: [(&[u8], &str); 9] = [
    (
        b"script",
        "scripts make what it shows; store the page as a browser renders it",
    ),
    (
        b"path",
        "it is a drawing, perhaps of letters; recognise them first (OCR)",
    ),
    (
        b"image",
        "it shows images; recognise their text first (OCR)",
    ),
    (b"img", "it shows images; recognise their text first (OCR)"),
    (
        b"canvas",
        "scripts make what it shows; store the page as a browser renders it",
    ),
    (b"frame", "it shows other pages in frames; read those"),
    (b"iframe", "it shows other pages in frames; read those"),
    (b"object", "it shows other files; read those"),
    (b"embed", "it shows other files; read those"),
];

/// Why a document has no words, for a line of `rejects.jsonl`.
pub(crate) fn why_no_words(document: &RawDocument<'_>) -> String {
    let body = &document.body[..document.body.len().min(LOOK)];
    let of_markup = || (document.content == ContentKind::Markup).then(|| in_markup(body));
    match of_markup().flatten() {
        Some(place) => format!("the text has no words; {place}"),
        None if body.trim_ascii().is_empty() => "the text is empty".into(),
        None => "the text has no words".into(),
    }
}

/// Where the text of markup may be that has none outside of its tags.
fn in_markup(body: &[u8]) -> Option<String> {
    let mut letters: BTreeMap<(&[u8], &[u8]), usize> = BTreeMap::new();
    let mut root: Option<&[u8]> = None;
    let mut shown = None;
    for tag in Tags::of(body).filter(|tag| tag.kind != Kind::Close) {
        let name = local(tag.name);
        root = match (root, name) {
            // A page of ALTO is a document of its own.
            (_, b"Page") => Some(name),
            (None, _) => Some(name),
            (root, _) => root,
        };
        if shown.is_none() {
            let lower = name.to_ascii_lowercase();
            shown = SHOWN.iter().find(|(known, _)| *known == lower);
        }
        for (attribute, value) in tag.attributes() {
            let lower = attribute.to_ascii_lowercase();
            if TEXTS.iter().any(|known| known.as_bytes() == lower) {
                let count = value.iter().filter(|byte| is_letter(byte)).count();
                *letters.entry((name, attribute)).or_default() += count;
            }
        }
    }
    let most = letters.into_iter().max_by_key(|(_, count)| *count);
    // The descriptions in the head of a page are not its text.
    let text = most.filter(|((name, _), count)| *count > 0 && !name.eq_ignore_ascii_case(b"meta"));
    if let (Some(((name, attribute), _)), Some(root)) = (text, root) {
        let [name, attribute, root] = [name, attribute, root].map(String::from_utf8_lossy);
        return Some(format!(
            "the attribute {attribute} of <{name}> has some: use --record {root} --text-field \
             {name}.@{attribute}"
        ));
    }
    shown.map(|(_, what)| (*what).into())
}

/// Whether a byte is of a letter, in UTF-8.
fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || *byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_text_is_named() {
        for (body, markup, expected) in [
            (
                "<alto xmlns='x'><Layout><Page ID='p'><String ID='s0' CONTENT='word'/></Page></Layout></alto>",
                true,
                "--record Page --text-field String.@CONTENT",
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
            ("<svg><title/><path d='M 1 2'/></svg>", true, "drawing"),
            ("<p><img src=a.png title=''></p>", true, "OCR"),
            ("<p>&hellip;</p>", true, "the text has no words"),
            (" \n", false, "the text is empty"),
            ("...!", false, "the text has no words"),
        ] {
            let document = RawDocument::of_text(body, ContentKind::of(markup));
            let found = why_no_words(&document);
            assert!(
                found.ends_with(expected) || found.contains(expected),
                "{body} {found}"
            );
        }
    }
}
