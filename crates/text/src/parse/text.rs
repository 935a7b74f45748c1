//! Extracts the text to keep from text in pieces: folds white space and changes nothing else.
//!
//! Pieces may end anywhere, also inside a character. Every byte is written, and an index that moves
//! or does not move decides its place, so ordinary text causes no branches: a white space byte
//! overwrites the white space byte before it. Only characters whose first byte could begin a wide
//! space are examined one by one.
//!
//! # Invariants
//! - The concatenated output is valid UTF-8. A byte that begins no character becomes U+FFFD, by the
//!   rules of `tokens.rs`, so that the text has the same tokens as the document.
//! - `buffer[..used]` is text not yet passed on. It ends in white space exactly if `gap` is set;
//!   that white space is passed on only when more text follows.

use lookalike_base::Carry;

/// Text is passed on when about this many bytes have accumulated; they fit in the second-level
/// cache.
const DRAIN_BYTES: usize = 64 << 10;

/// Bytes of text processed at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// A byte order mark in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// In [`FOLDED`]: a character that begins with this byte may be white space.
const WIDE: u8 = 0;

/// The result of folding each byte: a space or a line feed for white space, [`WIDE`], or itself.
/// (NUL becomes itself too, which equals [`WIDE`]. It is examined like a wide space and then kept.)
static FOLDED: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b'\n' | b'\r' => b'\n',
            b' ' | b'\t' | 0x0b | 0x0c => b' ',
            0xc2 | 0xe1 | 0xe2 | 0xe3 => WIDE,
            other => other,
        };
        b += 1;
    }
    table
};

/// The non-ASCII white space at the beginning of a UTF-8 text: its length in bytes, and the byte it
/// folds to.
fn wide_space(text: &[u8]) -> Option<(usize, u8)> {
    match text {
        [0xc2, 0x85 | 0xa0, ..] => Some((2, b' ')),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some((3, b'\n')),
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => Some((3, b' ')),
        _ => None,
    }
}

/// The text of the document being parsed.
#[derive(Debug)]
pub(super) struct Text {
    /// Has its full size from the first document on.
    buffer: Vec<u8>,
    used: usize,
    /// Whether the last byte is white space, which more white space may extend.
    gap: bool,
    /// Whether nothing was passed on yet: the first byte is then a gap before all text, to be
    /// dropped.
    begins: bool,
    /// The incomplete character at the end of a piece.
    carry: Carry,
}

impl Default for Text {
    fn default() -> Self {
        let mut text = Text {
            buffer: Vec::new(),
            used: 0,
            gap: false,
            begins: false,
            carry: Carry::default(),
        };
        text.begin();
        text
    }
}

impl Text {
    /// Starts a document with a gap.
    fn begin(&mut self) {
        self.begins = true;
        self.keep_gap(b' ');
    }

    /// Resets the buffer to one byte of white space.
    fn keep_gap(&mut self, space: u8) {
        self.buffer.resize(DRAIN_BYTES + CHUNK_BYTES, 0);
        self.buffer[0] = space;
        self.used = 1;
        self.gap = true;
    }

    /// Appends a piece of UTF-8 text, which may begin and end inside a character.
    pub(super) fn push(&mut self, piece: &[u8], take: &mut dyn FnMut(&[u8])) {
        let mut carry = std::mem::take(&mut self.carry);
        carry.push(piece, |text| self.push_valid(text.as_bytes(), take));
        self.carry = carry;
    }

    /// Separates the text that follows from the text before.
    pub(super) fn word_break(&mut self, take: &mut dyn FnMut(&[u8])) {
        self.end_character(take);
        self.push_valid(b"\n", take);
    }

    /// Passes on the rest and resets for the next document.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(&[u8])) {
        self.end_character(take);
        self.drain(take);
        self.begin();
    }

    /// Appends U+FFFD for a character that has not ended.
    fn end_character(&mut self, take: &mut dyn FnMut(&[u8])) {
        if let Some(c) = self.carry.end() {
            self.push_valid(c.encode_utf8(&mut [0; 4]).as_bytes(), take);
        }
    }

    /// Appends whole characters.
    fn push_valid(&mut self, text: &[u8], take: &mut dyn FnMut(&[u8])) {
        // A chunk may end inside a character, so look for a wide space in the whole rest of the
        // text.
        let mut at = 0;
        while at < text.len() {
            if self.used > DRAIN_BYTES {
                self.drain(take);
            }
            let end = text.len().min(at + CHUNK_BYTES - 1);
            while at < end {
                at = self.fold(text, at, end);
                let Some(&b) = text.get(at).filter(|_| at < end) else {
                    break;
                };
                let space = wide_space(&text[at..]);
                let (length, byte) = space.unwrap_or((1, b));
                self.put(byte, space.is_some());
                at += length;
            }
        }
    }

    /// Appends the bytes of `text` from `at` to `end`, or to the first byte that may begin a wide
    /// space; returns where it stopped.
    #[inline]
    fn fold(&mut self, text: &[u8], at: usize, end: usize) -> usize {
        let (mut used, mut gap) = (self.used, self.gap);
        let mut last = self.buffer.get(used.wrapping_sub(1)).copied().unwrap_or(0);
        let mut taken = end - at;
        // At most as many bytes are written as are read, and there is room for those.
        let out = &mut self.buffer[..];
        for (i, &b) in text[at..end].iter().enumerate() {
            let folded = FOLDED[usize::from(b)];
            if folded == WIDE {
                taken = i;
                break;
            }
            let space = folded <= b' ' && (folded == b' ' || folded == b'\n');
            let more = space & gap;
            used -= usize::from(more);
            // A line feed is less than a space, so the minimum keeps it.
            last = if more { last.min(folded) } else { folded };
            out[used] = last;
            used += 1;
            gap = space;
        }
        (self.used, self.gap) = (used, gap);
        at + taken
    }

    /// Appends a byte of a character, or the byte that white space folds to.
    fn put(&mut self, byte: u8, space: bool) {
        if space && self.gap {
            let last = &mut self.buffer[self.used - 1];
            *last = byte.min(*last);
        } else {
            self.buffer[self.used] = byte;
            self.used += 1;
        }
        self.gap = space;
    }

    /// Passes on everything but a gap at the end.
    fn drain(&mut self, take: &mut dyn FnMut(&[u8])) {
        let end = self.used - usize::from(self.gap);
        let start = usize::from(self.begins).min(end);
        let text = &self.buffer[start..end];
        if !text.is_empty() {
            if self.begins && text.starts_with(MARK) {
                take(MARK);
            }
            take(text);
            self.begins = false;
        }
        if self.gap {
            self.keep_gap(self.buffer[self.used - 1]);
        } else {
            self.used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ParseConfig, Parser, TokenConsumer, TokenKind, Tokens};
    use super::*;
    use crate::read::{ContentKind, Notice, RawDocument, Reason};

    /// The definition, character by character.
    fn folded(text: &str) -> String {
        let mut out = String::new();
        let mut gap = None;
        for c in text.chars() {
            if c.is_whitespace() {
                let line = matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
                gap = Some(gap == Some('\n') || line).map(|line| if line { '\n' } else { ' ' });
                continue;
            }
            if let Some(gap) = gap.take().filter(|_| !out.is_empty()) {
                out.push(gap);
            }
            out.push(c);
        }
        if out.starts_with('\u{feff}') {
            out.insert(0, '\u{feff}');
        }
        out
    }

    fn pushed<'a>(text: &mut Text, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut out = Vec::new();
        let mut take = |piece: &[u8]| out.extend_from_slice(piece);
        for piece in pieces {
            text.push(piece, &mut take);
        }
        text.finish(&mut take);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_is_folded_as_the_standard_library_says() {
        let mut text = Text::default();
        for c in '\0'..=char::MAX {
            for written in [
                format!("a{c}b"),
                format!("{c}b"),
                format!("a {c}\n\t{c} b{c}"),
            ] {
                let found = pushed(&mut text, [written.as_bytes()]);
                assert_eq!(found, folded(&written), "{c:?}");
            }
        }
    }

    #[test]
    fn pieces_do_not_matter() {
        let mut text = Text::default();
        let written = " \u{feff}a\u{2028} \u{85}b\u{3000}漢\r\n字 \u{2003}\u{20000} c\u{a0}\0\t ";
        let bytes = written.as_bytes();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(
                    pushed(&mut text, pieces),
                    folded(written),
                    "{first} {second}"
                );
            }
        }
        // At the end of a chunk and of an output piece, at every place in a character.
        for start in 0..8 {
            for filling in ["a", " ", "\u{3000}", "é \u{2028}"] {
                let long = filling.repeat(2 * DRAIN_BYTES / filling.len());
                let written = format!("{}{long}\u{3000}x{long} y", "b".repeat(start));
                assert_eq!(pushed(&mut text, [written.as_bytes()]), folded(&written));
            }
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        let mut text = Text::default();
        for (pieces, found) in [
            (&[&b"a\xffb"[..]][..], "a\u{fffd}b"),
            (&[b"a\xc3", b"b"], "a\u{fffd}b"),
            (&[b"a\xe6\x97", b"", b"\xa5b"], "a日b"),
            (&[b"a\xe3\x80", b"\x80b"], "a b"),
            (&[b"\xf0\x9f", b"\x98", b"\x80a"], "\u{1f600}a"),
            (&[b"a\xe6\x97"], "a\u{fffd}"),
        ] {
            let pieces = pieces.iter().copied();
            assert_eq!(pushed(&mut text, pieces), found);
        }
    }

    #[derive(Default)]
    struct Kept(Vec<u8>);

    impl TokenConsumer for Kept {
        fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
            self.0.extend_from_slice(tokens.bytes);
            tokens.bytes.len()
        }
    }

    fn document(
        content: ContentKind,
        charset: Option<&'static str>,
        body: &[u8],
    ) -> RawDocument<'static> {
        RawDocument {
            charset: charset.map(Into::into),
            body: body.to_vec().into(),
            ..RawDocument::of_text("", content)
        }
    }

    /// Returns the text, and checks that it has the tokens of the document.
    fn checked(raw: &RawDocument<'_>) -> String {
        let mut texts = Vec::new();
        for tokens in ["words", "whitespace", "bytes:7"] {
            let tokens: TokenKind = tokens.parse().unwrap();
            let config = ParseConfig::from(tokens);
            let mut parser = Parser::new(&config);
            let (mut both, mut alone): (Vec<u8>, Vec<u8>) = Default::default();
            let (mut kept, mut plain) = (Kept::default(), Kept::default());
            let facts = parser.parse_keeping(raw, &mut kept, &mut both);
            parser.text(raw, &mut alone);
            assert_eq!(both, alone);
            assert_eq!(parser.parse(raw, &mut plain), facts);
            assert_eq!(plain.0, kept.0);
            let text = String::from_utf8(alone).unwrap();
            let document = document(ContentKind::Text, Some("utf-8"), text.as_bytes());
            let mut again = Kept::default();
            let found = parser.parse(&document, &mut again);
            assert_eq!(
                String::from_utf8_lossy(&again.0),
                String::from_utf8_lossy(&kept.0),
                "{text:?}"
            );
            assert_eq!(found.words, facts.words);
            texts.push(text);
        }
        assert_eq!(texts[0], texts[1]);
        texts.swap_remove(0)
    }

    #[test]
    fn markup_and_charsets() {
        for (charset, body, text) in [
            (
                None,
                &b"<p>Don't <b>ST</b>op.<br>  x<i> </i>y</p>\n"[..],
                "Don't STop.\nx y",
            ),
            (
                None,
                b"a<td>b<!-- c -->d<span>&#32;&#x2028;</span>&amp;",
                "a\nbd\n&",
            ),
            (None, b"it'<p>s<script>no</script>\0", "it'\ns"),
            // A reader of the text takes the first one for a byte order mark.
            (None, b"<p>&#xfeff;a", "\u{feff}\u{feff}a"),
            (None, b"\xef\xbb\xbf\xef\xbb\xbfa", "\u{feff}\u{feff}a"),
            (
                Some("windows-1252"),
                b"caf\xe9\xa0\x85",
                "caf\u{e9} \u{2026}",
            ),
            (Some("shift_jis"), b"\x81\x40\x82\xa0\x81", "あ\u{fffd}"),
            (Some("utf-16le"), b"a\0\x28\x20b\0\0\xd8", "a\nb\u{fffd}"),
            (Some("utf-16"), b"\0a\0b\0c\0 \0d\0e\0f\0 \0g", "abc def g"),
            (
                None,
                b"<span class='ocr_line'><span class=\"ocrx_word\">a</span><span class='ocrx_word'>b</span></span>",
                "a\nb",
            ),
            (
                None,
                b"<span class='x ocrx_word'>a</span><span class='ocr_caption'>b</span>",
                "a\nb",
            ),
            (None, b"a<span class='ocrx_cinfo'>b</span><b break='no' class='o'>c</b>", "abc"),
            (None, b"<?xml version='1.0'?><a>for<lb n='2' break=\"no\"/>est<lb/>b</a>", "forest\nb"),
            (None, b"for<lb break='no'/>est", "for\nest"),
            (None, b"", ""),
            (None, b" <p> ", ""),
        ] {
            let raw = document(ContentKind::Markup, charset, body);
            assert_eq!(checked(&raw), text);
        }
    }

    #[test]
    fn html_xml_and_markup_that_is_not_closed() {
        let long = "word ".repeat(10);
        let words = long.trim_end();
        let html = "<html xmlns='http://www.w3.org/1999/xhtml'>";
        let public = "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"x\"><html>";
        let (markup, xml) = (ContentKind::Markup, ContentKind::Xml);
        let raw = "<title/><script src='x'/><style/><textarea/><p>a</p><script>b</script>";
        for (content, body, text, notice) in [
            (markup, format!("{html}{raw}"), "a", false),
            (markup, format!("{public}{raw}"), "a", false),
            (xml, format!("<html>{raw}"), "a", false),
            (xml, format!("<article>{raw}"), "a b", false),
            (
                markup,
                "<?xml version='1.0'?><f xmlns='urn:x'>a <style>b</style> <title>c</title>".into(),
                "a b c",
                false,
            ),
            (
                xml,
                "<f><div xmlns='http://www.w3.org/1999/xhtml'><div/><style>x</style>a</div><style>b"
                    .into(),
                "a b",
                false,
            ),
            (xml, "<f><html><br><style>x</style></html><style>b".into(), "b", false),
            (
                xml,
                "<alto><String CONTENT='a&amp;b'/><String CONTENT='ex' SUBS_TYPE='HypPart1' \
                 SUBS_CONTENT='example'/><HYP CONTENT='-'/><String CONTENT='ample' \
                 SUBS_TYPE='HypPart2' SUBS_CONTENT='example'/><String CONTENT='c'></String>"
                    .into(),
                "a&b example c",
                false,
            ),
            (
                xml,
                "<alto><String CONTENT='a' SUBS_TYPE='HypPart1' SUBS_CONTENT='ab'/><String \
                 CONTENT='ample' SUBS_TYPE='HypPart2' SUBS_CONTENT='example'/><String CONTENT='ex' SUBS_TYPE='HypPart1'/><String CONTENT='ample' \
                 SUBS_TYPE='HypPart2' SUBS_CONTENT='example'/>"
                    .into(),
                "ab ample ex ample",
                false,
            ),
            (
                xml,
                "<a-long-prefix:String CONTENT='a'/><b:SP/><b:String CONTENT='b'/>".into(),
                "a b",
                false,
            ),
            (markup, format!("<p>a<script src='x'/><p>{long}<script></script>b"), "a b", true),
            (markup, "<p>a<script src='x'/></script>b".into(), "a b", false),
            (markup, format!("<p>a<style>{long}</p>"), "a", true),
            (markup, format!("<p>a<script>{long}"), "a", true),
            (markup, format!("<p>a<!-- {long}</p>"), "a", true),
            (markup, format!("<p>a<!-- {long} -->"), "a", false),
            (markup, format!("<p>a<!-- {long} --!>"), "a", false),
            (markup, format!("<p>a<?php {long} ?>"), "a", false),
            (
                xml,
                "<r>one <?php if ($a > 5) echo \"x\"; ?> two <!-- a --!> b --> c".into(),
                "one two c",
                false,
            ),
            (xml, "<r>a<?b <c>d</c> ?>e<!-- --!> <f> --><!-- -->g".into(), "aeg", false),
            (xml, "<r>a <? b > c <!-- d -->e <? f > g".into(), "a c e g", false),
            (xml, "<html>a <? b > c <!-- d --!>e -->".into(), "a c e -->", false),
            (markup, "<p>a<style>b{}".into(), "a", true),
            (markup, "<p>a<style> ".into(), "a", false),
            (markup, "<p>a<script></body>".into(), "a", false),
            (markup, "<p>a<!-- 5".into(), "a", true),
            (markup, "<p>a<!-- <b".into(), "a", true),
            (markup, "<p>a<!-- <br> --".into(), "a", false),
            (markup, "<p>a<script src='x'/>b</script>c".into(), "a c", true),
            (markup, "<p>a<![CDATA[b]]>c".into(), "ac", true),
            (markup, "<p>a<![CDATA[ ]]>c".into(), "ac", false),
            (markup, "<p>x <y then stop</p>b".into(), "x b", true),
            (markup, "<p>x <y and so on to here> b".into(), "x b", true),
            (markup, "<p>x <y or not> b".into(), "x b", false),
            (markup, "<p>x </y and so on to here> b".into(), "x b", true),
            (markup, "<p>x </y and so on> b".into(), "x b", false),
            (markup, "<p>x </ y and so on to here> b".into(), "x b", true),
            (markup, "<p>x <! y and so on to here> b".into(), "x b", true),
            (markup, "<p>x <? y and so on to here> b".into(), "x b", true),
            (markup, "<p>x <!ELEMENT y and so on to here> b".into(), "x b", false),
            (markup, "<p>x <? y and so on to here ?> b".into(), "x b", false),
            (markup, "<p>x <?y v='1' e='2' ?> b<!- and so on to here -> c".into(), "x b c", false),
            (markup, "<p>if a<b, c<d then one two</p>b".into(), "if a b", true),
            (markup, "<p>x<y z <3 one two</p>b".into(), "x b", true),
            (markup, "<p>x</y z <3 one two</p>b".into(), "x b", true),
            (markup, "<p>x </ y z <3 one two</p>b".into(), "x b", true),
            (markup, "<p>a<b<c then two</p>b".into(), "a b", true),
            (markup, "<p>a<b, c<d</p>b".into(), "a b", true),
            (markup, "<p>a<b, c</p>b".into(), "a b", true),
            (markup, "<table a=1 b c d e f>b".into(), "b", false),
            (markup, "<p A-B: 5px; C-D: #00f 2px solid?>b".into(), "b", false),
            (markup, "<p>x <y \u{6f22}\u{5b57}\u{304b}\u{306a}\u{306e}\u{6587}\u{7ae0}\u{3067}\u{3059}\u{3002}> b".into(), "x b", true),
            (markup, "<p>b<img src='x'</td><p>".into(), "b", false),
            (markup, "<td <b class=x>b<input checked disabled required readonly multiple>".into(), "b", false),
            (markup, "<p a=\"b</p><p c=\"d e\">f".into(), "f", true),
            (
                markup,
                "<!-- x --><!DOCTYPE b [<!ENTITY x \"v > <w>u</w>\"><!ELEMENT b (#PCDATA)>]>\n<b>a<![CDATA[ b]]>".into(),
                "a b",
                false,
            ),
            (markup, "<!DOCTYPE html \"a><p>[b]\">c".into(), "[b]\">c", false),
            (markup, format!("<p>a <b {long}"), &format!("a <b {words}"), false),
            (
                markup,
                format!("<p class=\"x>{long}</p><i>b</i>"),
                &format!("<p class=\"x>{words} b"),
                false,
            ),
            (markup, format!("<p>a<a href='{}", "x".repeat(60)), "a", false),
            (markup, format!("a<a title='x>{long}</a><a class='b'>c"), "ac", true),
            (markup, format!("a<a title='{long}</a>' class='b'>c"), "ac", false),
        ] {
            // XML that has to be decoded keeps the rules of HTML for comments and instructions.
            let also_wide = !(body.starts_with("<r>one <?") || body.starts_with("<r>a<?b"));
            for charset in ["utf-8", "utf-16le"].into_iter().take(1 + usize::from(also_wide)) {
                let bytes = match charset {
                    "utf-8" => body.as_bytes().to_vec(),
                    _ => body.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                };
                let raw = document(content, Some(charset), &bytes);
                let found = checked(&raw);
                let found: Vec<&str> = found.split_whitespace().collect();
                assert_eq!(found.join(" "), text, "{body}");
                let config = ParseConfig::from(TokenKind::Words);
                let facts = Parser::new(&config).parse(&raw, &mut Kept::default());
                let open = |notice: &Notice| notice.0 == Reason::OpenMarkup;
                assert_eq!(facts.notices.iter().any(open), notice, "{body}");
            }
        }
        // Markup that a value leaves open ends with the value.
        for (values, text, notice) in [
            (["a<!-- b", "\nc --> d<!-- e -->"], "a c --> d", true),
            (["a<script>", "\nb<script>c</script>d"], "a b d", false),
            (["a<a href=\"x", "\nb \"c\"> d"], "a b \"c\"> d", false),
            (["a <b or ", "\nc > d"], "a c > d", false),
            (["<title>a", "\n<b>c</b>"], "a c", false),
        ] {
            for charset in ["utf-8", "windows-1252"] {
                let raw = RawDocument {
                    begins: vec![values[0].len()],
                    ..document(markup, Some(charset), values.concat().as_bytes())
                };
                let found = checked(&raw).replace('\n', " ");
                assert_eq!(found, text, "{values:?}");
                let config = ParseConfig::from(TokenKind::Words);
                let facts = Parser::new(&config).parse(&raw, &mut Kept::default());
                assert_eq!(!facts.notices.is_empty(), notice, "{values:?}");
            }
        }
        // Many tags without an end take no time.
        let stray = "<a \"".repeat(20_000);
        assert_eq!(checked(&document(markup, None, stray.as_bytes())), stray);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_text_has_the_tokens_of_the_document(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-zA-Z' \\n\\t.-]{0,12}".prop_map(String::into_bytes),
                    "</?(p|b|td|title|script|svg|a href=x|textarea|br/|x)>".prop_map(String::into_bytes),
                    "&(amp|nbsp|shy|zwnj|#x2028|#xfeff|#0|#x301|nGt|#8217);?".prop_map(String::into_bytes),
                    "[\u{feff}\u{ad}\u{200b}\u{2028}\u{85}\u{3000}\u{a0}漢か\u{301}é’\u{1c}\0]{0,4}".prop_map(String::into_bytes),
                    prop::collection::vec(any::<u8>(), 0..5),
                    Just(b"<!-- ".to_vec()), Just(b"-->".to_vec()), Just(b"<![CDATA[".to_vec()),
                    Just(b"<?xml version='1.0'?>".to_vec()), Just(b"\x1b$B".to_vec()),
                ], 0..30),
            charset in prop::sample::select(vec![
                None, Some("utf-8"), Some("utf-16le"), Some("utf-16be"), Some("windows-1252"),
                Some("shift_jis"), Some("iso-2022-jp"), Some("gb18030"), Some("big5"), Some("replacement"),
                Some("x-user-defined"),
            ]),
            markup in any::<bool>(),
        ) {
            let content = if markup { ContentKind::Markup } else { ContentKind::Text };
            checked(&document(content, charset, &parts.concat()));
        }
    }
}
