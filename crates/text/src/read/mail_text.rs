//! The text of a part of a mail message, apart from its transfer encoding and its charset: how much
//! of it is visible, and text/enriched without its commands.
//!
//! # Source
//! RFC 1896 (text/enriched), RFC 1341 section 7.1.3 (text/richtext).

use super::bytes::is_one_of;
use super::tags::{Stop, TagRest};
use lookalike_base::utf8::{Carry, Decoded, decode};
use lookalike_base::words::words;

/// The longest command of text/enriched that is looked at; the standard allows 60 characters.
const MOST_COMMAND: usize = 120;

/// Counts the letters and digits of a text, which arrives in pieces. The title, tags, comments,
/// scripts and style sheets of markup do not count.
pub(super) struct Visible {
    markup: Option<Markup>,
    carry: Carry,
    /// Letters and digits so far.
    pub count: u64,
    /// Whether the markup shows images or the like.
    pub media: bool,
    /// The text, if it is wanted, with a space for each tag and [`ENTITY`] for each entity.
    pub shown: Option<Vec<u8>>,
}

/// Stands for an entity, which is not decoded.
pub(super) const ENTITY: char = '\u{1}';

/// Where a piece of markup ends.
enum Markup {
    Text,
    /// After `&`, with the characters of its name.
    Entity(Vec<u8>),
    Tag(OpenTag),
    /// In a comment, with the number of bytes of `-->` that were just found.
    Comment(usize),
    /// In the content of an element that is not shown, with the end of its closing tag and the
    /// number of bytes of it that were just found.
    Hidden(&'static [u8], usize),
}

/// A tag that has begun.
#[derive(Default)]
struct OpenTag {
    /// The beginning of its name, and whether no more of the name comes.
    name: Vec<u8>,
    named: bool,
    rest: TagRest,
}

impl OpenTag {
    /// Takes a byte, and returns whether it is the last one.
    fn ends(&mut self, byte: u8) -> bool {
        if let Some(Stop::End { .. }) = self.rest.feed(&[byte]) {
            return true;
        }
        self.named |= byte.is_ascii_whitespace() || byte == b'/' && !self.name.is_empty();
        if !self.named && self.name.len() < 12 {
            self.name.push(byte.to_ascii_lowercase());
        }
        false
    }
}

/// What ends the elements whose content is not text of the page.
const HIDDEN: [&[u8]; 3] = [b"</script", b"</style", b"</title"];

/// Elements that show something that is not text.
const MEDIA: [&str; 9] = words("img object embed video audio iframe svg canvas input");

/// Entities that stand for no letter, among those that mail has.
const NO_LETTERS: [&str; 24] = words(
    "nbsp ensp emsp thinsp zwnj zwj shy lrm rlm amp lt gt quot apos bull middot ndash mdash hellip \
     laquo raquo copy reg trade",
);

impl Visible {
    pub(super) fn new(markup: bool) -> Self {
        Visible {
            markup: markup.then_some(Markup::Text),
            carry: Carry::default(),
            count: 0,
            media: false,
            shown: None,
        }
    }

    /// Whether the next byte is text, unless it begins a tag.
    pub(super) fn in_text(&self) -> bool {
        matches!(self.markup, None | Some(Markup::Text))
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        let Some(mut state) = self.markup.take() else {
            return self.text(piece);
        };
        let mut rest = piece;
        while let Some((&byte, after)) = rest.split_first() {
            state = match state {
                Markup::Text => {
                    let end = memchr::memchr2(b'<', b'&', rest).unwrap_or(rest.len());
                    self.text(&rest[..end]);
                    rest = &rest[end..];
                    let Some((&byte, after)) = rest.split_first() else {
                        state = Markup::Text;
                        break;
                    };
                    rest = after;
                    match byte {
                        b'&' => Markup::Entity(Vec::new()),
                        _ => Markup::Tag(OpenTag::default()),
                    }
                }
                Markup::Entity(mut name) => {
                    let more = byte.is_ascii_alphanumeric() || name.is_empty() && byte == b'#';
                    if more && name.len() < 12 {
                        rest = after;
                        name.push(byte);
                        Markup::Entity(name)
                    } else {
                        let letter = is_letter(&name);
                        self.count += u64::from(letter);
                        self.show(if letter { &[ENTITY as u8] } else { b" " });
                        Markup::Text
                    }
                }
                Markup::Tag(tag) if tag.name.is_empty() && !begins_tag(byte) => Markup::Text,
                Markup::Tag(mut tag) => {
                    rest = after;
                    if tag.name == b"!-" && byte == b'-' {
                        Markup::Comment(2)
                    } else if tag.ends(byte) {
                        self.end_tag(&tag.name)
                    } else {
                        Markup::Tag(tag)
                    }
                }
                Markup::Comment(found) => {
                    rest = after;
                    match byte {
                        b'-' => Markup::Comment((found + 1).min(2)),
                        b'>' if found == 2 => Markup::Text,
                        _ => Markup::Comment(0),
                    }
                }
                Markup::Hidden(end, found) => {
                    rest = after;
                    let found = match byte.to_ascii_lowercase() {
                        byte if byte == end[found] => found + 1,
                        byte => usize::from(byte == b'<'),
                    };
                    if found < end.len() {
                        Markup::Hidden(end, found)
                    } else {
                        Markup::Tag(OpenTag {
                            name: b"/".to_vec(),
                            named: true,
                            ..OpenTag::default()
                        })
                    }
                }
            };
        }
        self.markup = Some(state);
    }

    /// The text after the tag with this name.
    fn end_tag(&mut self, name: &[u8]) -> Markup {
        self.media |= is_one_of(name, &MEDIA);
        self.show(b" ");
        let hidden = HIDDEN.iter().find(|end| end[2..] == *name);
        hidden.map_or(Markup::Text, |end| Markup::Hidden(end, 0))
    }

    fn show(&mut self, piece: &[u8]) {
        if let Some(shown) = &mut self.shown {
            shown.extend_from_slice(piece);
        }
    }

    /// Counts letters and digits. Bytes that are not UTF-8 count as a letter.
    fn text(&mut self, mut piece: &[u8]) {
        self.show(piece);
        if let Some(c) = self.carry.complete(&mut piece) {
            self.count += u64::from(c.is_alphanumeric() || c == char::REPLACEMENT_CHARACTER);
        }
        let mut left = piece.len();
        for chunk in piece.utf8_chunks() {
            let letters = chunk.valid().chars().filter(|c| c.is_alphanumeric());
            self.count += letters.count() as u64;
            let invalid = chunk.invalid();
            left -= chunk.valid().len() + invalid.len();
            if left == 0 && !invalid.is_empty() && matches!(decode(invalid), Decoded::Cut) {
                return self.carry.hold(invalid);
            }
            // 0xa0 is a space that does not break.
            self.count += u64::from(!matches!(invalid, [] | [0xa0]));
        }
    }
}

/// Whether a tag can begin with this byte after its `<`.
fn begins_tag(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || b"/!?".contains(&byte)
}

/// Whether an entity stands for a letter or a digit.
fn is_letter(name: &[u8]) -> bool {
    let Some(number) = name.strip_prefix(b"#") else {
        return name.len() > 1 && !NO_LETTERS.iter().any(|known| known.as_bytes() == name);
    };
    let number = String::from_utf8_lossy(number);
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    code.ok()
        .and_then(char::from_u32)
        .is_some_and(char::is_alphanumeric)
}

/// Removes the commands of text/enriched and text/richtext from a text that arrives in pieces.
#[derive(Default)]
pub(super) struct Enriched {
    /// A command that is not complete, without its `<`.
    command: Option<Vec<u8>>,
    /// In a parameter or a comment, which are not text.
    hidden: bool,
}

impl Enriched {
    pub(super) fn push(&mut self, mut piece: &[u8], out: &mut dyn FnMut(&[u8])) {
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
    pub(super) fn end(&mut self, out: &mut dyn FnMut(&[u8])) {
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

    fn visible(text: &[u8], markup: bool, step: usize) -> (u64, bool) {
        let mut visible = Visible::new(markup);
        text.chunks(step).for_each(|piece| visible.push(piece));
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
            for step in 1..=text.len() {
                assert_eq!(
                    visible(text.as_bytes(), markup, step),
                    expected,
                    "{text} {step}"
                );
            }
        }
        assert_eq!(visible(b"caf\xe9 \xa0", false, 2), (4, false));
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
        /// What is found does not depend on how the text is cut into pieces.
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
            for markup in [false, true] {
                prop_assert_eq!(visible(&text, markup, step), visible(&text, markup, whole));
            }
            prop_assert_eq!(enriched(&text, step), enriched(&text, whole));
        }
    }
}
