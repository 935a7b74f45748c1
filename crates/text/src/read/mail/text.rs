//! The text of a part of a mail message, apart from its transfer encoding and its charset: how much
//! of it is visible, and text/enriched without its commands.
//!
//! # Source
//! RFC 1896 (text/enriched), RFC 1341 section 7.1.3 (text/richtext).

use crate::read::ground::bytes::is_one_of;
use crate::read::look::tags::{Kind, Tag, Tags, entity};
use lookalike_base::words;

/// The longest command of text/enriched that is looked at; the standard allows 60 characters.
const MOST_COMMAND: usize = 120;

/// The longest name of an entity.
const MOST_ENTITY: usize = 12;

/// Counts the letters and digits of a text. The title, tags, comments, scripts and style sheets of
/// markup do not count.
pub(crate) struct Visible<'a> {
    text: &'a [u8],
    at: usize,
    tags: Tags<'a>,
    /// Where the text is interrupted next, and by which tag; it goes on where `tags` is.
    next: Option<(usize, Option<Tag<'a>>)>,
    markup: bool,
    /// Letters and digits so far.
    pub count: u64,
    /// Whether the markup shows images or the like.
    pub media: bool,
    /// The text, if it is wanted, with a space for each tag and [`ENTITY`] for each entity.
    pub shown: Option<Vec<u8>>,
}

/// Stands for an entity, which is not decoded.
pub(crate) const ENTITY: char = '\u{1}';

/// Elements whose content is not text of the page.
const HIDDEN: [&str; 3] = words("script style title");

/// Elements that show something that is not text.
const MEDIA: [&str; 9] = words("img object embed video audio iframe svg canvas input");

/// Entities that stand for no letter, among those that mail has.
const NO_LETTERS: [&str; 19] = words(
    "nbsp ensp emsp thinsp zwnj zwj shy lrm rlm bull middot ndash mdash hellip laquo raquo copy \
     reg trade",
);

impl<'a> Visible<'a> {
    pub(crate) fn new(text: &'a [u8], markup: bool) -> Self {
        let mut tags = Tags::of_page(if markup { text } else { &[] });
        Visible {
            text,
            at: 0,
            next: tags.mark(),
            tags,
            markup,
            count: 0,
            media: false,
            shown: None,
        }
    }

    /// All of a text.
    pub(crate) fn whole(text: &'a [u8], markup: bool) -> Self {
        let mut visible = Visible::new(text, markup);
        visible.read(text.len());
        visible
    }

    /// Reads up to this place. Returns whether there is text at it.
    pub(crate) fn read(&mut self, end: usize) -> bool {
        while let Some((start, tag)) = self.next.filter(|(start, _)| *start < end) {
            self.read_text(start);
            if let Some(tag) = tag {
                self.show(b" ");
                if tag.kind != Kind::Close {
                    self.media |= is_one_of(tag.name, &MEDIA);
                    if is_one_of(tag.name, &HIDDEN) {
                        self.tags.pass_content(tag.name);
                    }
                }
            }
            self.at = self.tags.at;
            self.next = self.tags.mark();
        }
        let is_text = self.at <= end;
        self.read_text(end);
        is_text
    }

    /// Passes over the text up to this place.
    pub(crate) fn pass(&mut self, end: usize) {
        self.at = end;
        if self.next.is_some_and(|(start, _)| start < end) {
            self.tags.at = end;
            self.next = self.tags.mark();
        }
    }

    fn read_text(&mut self, end: usize) {
        let mut text = self.text.get(self.at..end).unwrap_or_default();
        self.at = self.at.max(end);
        while self.markup
            && let Some(at) = memchr::memchr(b'&', text)
        {
            self.count_in(&text[..at]);
            text = &text[at + 1..];
            let digits = usize::from(text.starts_with(b"#"));
            let name = text[digits..].iter().take(MOST_ENTITY - digits);
            let name = name.take_while(|byte| byte.is_ascii_alphanumeric());
            let (name, rest) = text.split_at(digits + name.count());
            let letter = is_letter(name);
            self.count += u64::from(letter);
            self.show(if letter { &[ENTITY as u8] } else { b" " });
            text = rest.strip_prefix(b";").unwrap_or(rest);
        }
        self.count_in(text);
    }

    fn show(&mut self, piece: &[u8]) {
        if let Some(shown) = &mut self.shown {
            shown.extend_from_slice(piece);
        }
    }

    /// Counts letters and digits. Bytes that are not UTF-8 count as a letter.
    fn count_in(&mut self, text: &[u8]) {
        self.show(text);
        for chunk in text.utf8_chunks() {
            let letters = chunk.valid().chars().filter(|c| c.is_alphanumeric());
            // 0xa0 is a space that does not break.
            let invalid = u64::from(!matches!(chunk.invalid(), [] | [0xa0]));
            self.count += letters.count() as u64 + invalid;
        }
    }
}

/// Whether an entity stands for a letter or a digit.
fn is_letter(name: &[u8]) -> bool {
    match entity(&[b"&", name, b";"].concat()) {
        Some((c, _)) => c.is_alphanumeric(),
        None if name.starts_with(b"#") => false,
        None => name.len() > 1 && !NO_LETTERS.iter().any(|known| known.as_bytes() == name),
    }
}

/// Removes the commands of text/enriched and text/richtext from a text that arrives in pieces.
#[derive(Default)]
pub(crate) struct Enriched {
    /// A command that is not complete, without its `<`.
    command: Option<Vec<u8>>,
    /// In a parameter or a comment, which are not text.
    hidden: bool,
}

impl Enriched {
    pub(crate) fn push(&mut self, mut piece: &[u8], out: &mut dyn FnMut(&[u8])) {
        while !piece.is_empty() {
            let Some(mut command) = self.command.take() else {
                let end = memchr::memchr(b'<', piece).unwrap_or(piece.len());
                if !self.hidden {
                    out(&piece[..end]);
                }
                self.command = (end < piece.len()).then(Vec::new);
                piece = piece.get(end + 1..).unwrap_or_default();
                continue;
            };
            let end = memchr::memchr2(b'<', b'>', piece);
            command.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            match end {
                // `<<` is a `<`.
                Some(at) if piece[at] == b'<' && command.is_empty() => {
                    self.literal(b"<", out);
                    piece = &piece[at + 1..];
                }
                Some(at) if piece[at] == b'>' && is_command(&command) => {
                    self.obey(&command, out);
                    piece = &piece[at + 1..];
                }
                None if command.len() <= MOST_COMMAND => {
                    self.command = Some(command);
                    return;
                }
                // No command.
                _ => {
                    self.literal(b"<", out);
                    self.literal(&command, out);
                    piece = &piece[end.unwrap_or(piece.len())..];
                }
            }
        }
    }

    /// The text ends, which may be in a command.
    pub(crate) fn end(&mut self, out: &mut dyn FnMut(&[u8])) {
        if let Some(command) = self.command.take() {
            self.literal(b"<", out);
            self.literal(&command, out);
        }
    }

    fn literal(&self, text: &[u8], out: &mut dyn FnMut(&[u8])) {
        if !self.hidden {
            out(text);
        }
    }

    fn obey(&mut self, command: &[u8], out: &mut dyn FnMut(&[u8])) {
        match command.to_ascii_lowercase().as_slice() {
            b"param" | b"comment" => self.hidden = true,
            b"/param" | b"/comment" => self.hidden = false,
            b"lt" => self.literal(b"<", out),
            b"nl" | b"np" => self.literal(b"\n", out),
            _ => {}
        }
    }
}

fn is_command(command: &[u8]) -> bool {
    let name = command.strip_prefix(b"/").unwrap_or(command);
    !name.is_empty()
        && command.len() <= MOST_COMMAND
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn visible(text: &[u8], markup: bool) -> (u64, bool) {
        let visible = Visible::whole(text, markup);
        (visible.count, visible.media)
    }

    fn enriched(text: &[u8], step: usize) -> Vec<u8> {
        let (mut enriched, mut out) = (Enriched::default(), Vec::new());
        let mut push = |piece: &[u8]| out.extend_from_slice(piece);
        for piece in text.chunks(step) {
            enriched.push(piece, &mut push);
        }
        enriched.end(&mut push);
        out
    }

    #[test]
    fn letters_of_a_page_are_counted() {
        for (text, markup, expected) in [
            ("ab, cd \u{e9}\u{5b57}!", false, (6, false)),
            ("<p>ab</p>", false, (4, false)),
            ("<p>ab</p>", true, (2, false)),
            (
                "<!-- no --><STYLE>p {}</style >a<script>b<c</script>d",
                true,
                (2, false),
            ),
            (
                "<title>none</title><img alt=\"a > b\" src=x>",
                true,
                (0, true),
            ),
            (
                "&nbsp;&zwnj;&#160;&#x200b;\u{a0}\u{200c}&eacute;&#233;&#xE9;",
                true,
                (3, false),
            ),
            ("a < b && c", true, (3, false)),
            ("<a href='x'>y<br/>z<!doctype w>", true, (2, false)),
            ("<a href=b=\"c>d\">e", true, (2, false)),
            ("<p", true, (0, false)),
        ] {
            assert_eq!(visible(text.as_bytes(), markup), expected, "{text}");
        }
        assert_eq!(visible(b"caf\xe9 \xa0", false), (4, false));
    }

    #[test]
    fn enriched_text_loses_its_commands() {
        for (text, expected) in [
            (
                "<bold>Now</bold> is the <italic>time</italic>",
                "Now is the time",
            ),
            ("a <<b> c", "a <b> c"),
            ("<color><param>red</param>Stop</color>.", "Stop."),
            ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
            ("x<lt>y<nl>z<comment>w</comment>", "x<y\nz"),
            ("cut <bol", "cut <bol"),
        ] {
            for step in 1..=text.len() {
                let found = enriched(text.as_bytes(), step);
                assert_eq!(String::from_utf8_lossy(&found), expected, "{text} {step}");
            }
        }
    }

    proptest! {
        /// The result does not depend on how the text is cut into pieces.
        #[test]
        fn pieces_change_nothing(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "<", ">", "<!--", "-->", "<script>", "</script>", "&amp;", "&", "\u{e9}", "a",
                    "=", "\"", "<param>", "</param>", "<bold>", " ", "<img", "\u{a0}",
                ]),
                0..20,
            ),
            step in 1usize..5,
        ) {
            let text = parts.concat().into_bytes();
            let whole = text.len().max(1);
            prop_assert_eq!(enriched(&text, step), enriched(&text, whole));
        }
    }
}
