//! Finds the parts of a text that are made for programs, between its words: encoded files, and the
//! times of subtitles.
//!
//! # Source
//! IEEE 1003.1 (uuencode), yEnc 1.3, RFC 4648 (base64), RFC 4880 section 6.2 (armour of OpenPGP),
//! SubRip, WebVTT.
//!
//! # What is left out
//! - Files encoded by uuencode, in either of its forms, or by yEnc, from their first line to their
//!   last, and parts of them without a first line.
//! - Messages that OpenPGP encrypted, from the first line of their armour to the last.
//! - Base64 of more than [`LEAST_BASE64`] characters, in lines of one length or in one line, with
//!   capitals, small letters and digits. Sequences of genes and words without spaces have only some
//!   of these.
//! - In a text that begins like a file of SubRip or WebVTT, the number and the times of each cue,
//!   its tags, and the header and notes of WebVTT.
//!
//! In markup only the text counts. A text that has no other words is kept whole.
//!
//! # Invariants
//! - The bytes left out become white space, and line ends are kept, so every other byte keeps its
//!   place. The first of them are spaces and tabs by the digest of the bytes there: two texts that
//!   differ in it are not identical as read.
//!
//! # Cost
//! One byte in [`LEAST_LINE`] and the letters around it, and one search for `begin` and for `M` at
//! the start of a line. A text with such a block is copied and read once more.

use std::ops::Range;

use memchr::memmem;
use xxhash_rust::xxh3::Xxh3;

use super::text::Visible;
use crate::read::ground::bytes::{next_line, text_of, trim_line};
use crate::read::ground::record::RawDocument;
use crate::read::look::tags::{MOST_WORDS, is_word, perhaps_no_tag};
use lookalike_source::Reason;

/// The shortest line of base64 but the last one. PEM has 64 characters in a line, MIME 76.
const LEAST_LINE: usize = 60;

/// The least base64 that is left out: 20 lines.
const LEAST_BASE64: usize = 20 * LEAST_LINE;

/// How the first and the last line of an encrypted message begin.
const ARMOUR: [&[u8]; 2] = [b"-----BEGIN PGP MESSAGE", b"-----END PGP MESSAGE"];

/// In base64, two in five characters are capitals, two are small letters, and one in seven is a
/// digit. One in this number is enough.
const ONE_IN: usize = 50;

/// The bytes in which a file of subtitles has its first two cues.
const CUES_WITHIN: usize = 16 << 10;

/// Leaves encoded files and times of subtitles out of a document's text.
pub(crate) fn leave_out(parts: &mut RawDocument<'_>) {
    let markup = parts.content.is_markup();
    let encoded = blocks(&parts.body, markup);
    let mut left = None;
    let cues = match markup {
        false => cues(&parts.body, &mut left),
        true => Vec::new(),
    };
    if encoded.is_empty() && cues.is_empty() {
        return;
    }
    let mut visible = Visible::new(&parts.body, markup);
    let mut out = Vec::new();
    for block in encoded {
        if visible.read(block.start) {
            visible.pass(block.end);
            out.push(block);
        }
    }
    visible.read(parts.body.len());
    let count = out.len();
    // Cues that are left empty have no words, and the rest of a file is another file.
    if visible.count == 0 || count == 0 && cues.is_empty() {
        return;
    }
    if let Some(first) = out.first() {
        let bytes: usize = out.iter().map(Range::len).sum();
        let files = if count == 1 { "file" } else { "files" };
        let detail = format!(
            "{count} encoded {files} of {bytes} bytes, the first at byte {} of the text",
            first.start
        );
        parts.notices.push((Reason::EncodedText, detail));
    }
    let left = left.filter(|_| !cues.is_empty());
    parts
        .notices
        .extend(left.map(|left| (Reason::OpenMarkup, left)));
    out.extend(cues);
    blank(parts.body.to_mut(), &out);
}

/// Makes white space of these ranges.
fn blank(text: &mut [u8], ranges: &[Range<usize>]) {
    let mut digest = Xxh3::new();
    for range in ranges {
        digest.update(text.get(range.clone()).unwrap_or_default());
    }
    let mut bits = digest.digest();
    for range in ranges {
        for byte in text.get_mut(range.clone()).unwrap_or_default() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = if bits & 1 == 1 { b'\t' } else { b' ' };
                bits >>= 1;
            }
        }
    }
}

/// Whether a text with blanks can be the result of blanking another one.
pub fn is_blanked(blanked: &[u8], text: &[u8]) -> bool {
    let mut pairs = blanked.iter().zip(text);
    blanked.len() == text.len() && pairs.all(|(a, b)| a == b || matches!(a, b' ' | b'\t'))
}

/// The encoded files in a text, in their order.
fn blocks(text: &[u8], markup: bool) -> Vec<Range<usize>> {
    let mut files = Files {
        markup,
        ..Files::default()
    };
    let begins = memmem::find_iter(text, b"begin").map(|at| match text[..at].ends_with(b"=y") {
        true => at - 2,
        false => at,
    });
    let mut begins: Vec<usize> = begins.chain(memmem::find_iter(text, ARMOUR[0])).collect();
    begins.sort_unstable();
    let mut found: Vec<Range<usize>> = Vec::new();
    let end_of = |found: &Vec<Range<usize>>| found.last().map_or(0, |last| last.end);
    for at in begins {
        let starts = at == 0 || b"\n\r".contains(&text[at - 1]) || markup && text[at - 1] == b'>';
        if starts
            && at >= end_of(&found)
            && let Some(length) = files.length(&text[at..])
        {
            found.push(at..at + length);
        }
    }
    if text.len() <= LEAST_BASE64 {
        return found;
    }
    let whole = found.len();
    let mut end = 0;
    for at in memmem::find_iter(text, b"\nM").map(|at| at + 1) {
        if at >= end
            && let Some(length) = files.rest(&text[at..])
        {
            end = at + length;
            found.push(at..end);
        }
    }
    base64(text, &mut found);
    if found.len() > whole {
        found.sort_by_key(|block| (block.start, std::cmp::Reverse(block.end)));
        let mut end = 0;
        found.retain(|block| {
            let apart = block.start >= end;
            end = end.max(block.end);
            apart
        });
    }
    found
}

/// Whether a line of base64 may have this byte; only at its end, if it is `=`.
pub(super) fn is_base64(byte: &u8) -> bool {
    is_digit(byte) || *byte == b'='
}

fn is_digit(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Adds the blocks of base64 in a text.
fn base64(text: &[u8], found: &mut Vec<Range<usize>>) {
    let (mut from, mut at) = (0, LEAST_LINE - 1);
    while let Some(byte) = text.get(at) {
        if !is_digit(byte) {
            at += LEAST_LINE;
            continue;
        }
        let before = text[from..at].iter().rev();
        let start = at - before.take_while(|byte| is_digit(byte)).count();
        let end = at + run(&text[at..]);
        let mut next = end;
        if end - start >= LEAST_LINE {
            next = base64_end(text, start, end);
            let block = &text[start..next];
            if next - start > LEAST_BASE64 && is_mixed(block) {
                found.push(start..next);
            }
        }
        from = next;
        at = next + LEAST_LINE;
    }
}

fn run(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_digit(byte)).count()
}

/// Where the base64 ends whose first line is this.
fn base64_end(text: &[u8], start: usize, first: usize) -> usize {
    let inside = start > 0 && !b"\n\r \t>".contains(&text[start - 1]);
    let (mut end, mut width, mut last) = (first, first - start, first - start);
    let mut characters = last;
    loop {
        let rest = &text[end..];
        if rest.starts_with(b"=") {
            return end + 1 + usize::from(rest.get(1) == Some(&b'='));
        }
        // The first line may begin behind other text.
        let is_first = end == first;
        let gap = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
        let (mut gap, mut lines) = (gap.count(), 0);
        lines += rest[..gap].iter().filter(|byte| **byte == b'\n').count();
        lines += usize::from(lines == 0 && rest[..gap].contains(&b'\r'));
        // Quoted lines of mail.
        let marks = rest[gap..].iter();
        gap += marks.take_while(|byte| b"> \t".contains(byte)).count();
        let line = run(&rest[gap..]);
        if is_first && inside {
            width = line;
        }
        let goes_on = lines == 1 && line > 0 && line <= width;
        let whole = is_first && inside || last == width && width.is_multiple_of(4);
        // The last line completes the characters for three bytes each.
        let after = rest.get(gap + line);
        let ends_right = line == width
            || after == Some(&b'=')
            || (characters + line).is_multiple_of(4)
                && after
                    .is_none_or(|byte| !byte.is_ascii_punctuation() || b"<\"'-)".contains(byte));
        if !goes_on || !whole || !ends_right {
            return end;
        }
        end += gap + line;
        last = line;
        characters += line;
    }
}

/// Whether there are as many kinds of characters as in base64.
fn is_mixed(block: &[u8]) -> bool {
    let kinds = [
        u8::is_ascii_uppercase,
        u8::is_ascii_lowercase,
        u8::is_ascii_digit,
    ];
    let least = block.len() / ONE_IN;
    kinds
        .iter()
        .all(|kind| block.iter().filter(|byte| kind(byte)).count() >= least)
}

/// Finds files inside a text: encoded by uuencode, in either of its forms, by yEnc or by OpenPGP.
#[derive(Default)]
pub(crate) struct Files {
    /// Whether entities stand for some characters.
    markup: bool,
    /// No yEnc file ends in the rest of the text.
    no_more_yenc: bool,
}

impl Files {
    /// The length of the file that begins at the start of this line, which the rest of the text
    /// follows.
    pub(crate) fn length(&mut self, text: &[u8]) -> Option<usize> {
        let (line, _) = split_line(text);
        if line.starts_with(b"=ybegin ") && !self.no_more_yenc {
            let Some(at) = memmem::find(text, b"\n=yend ") else {
                self.no_more_yenc = true;
                return None;
            };
            return Some(at + 1 + split_line(&text[at + 1..]).1);
        }
        if line.starts_with(ARMOUR[0]) {
            return armour(text);
        }
        let base64 = line.strip_prefix(b"begin-base64 ");
        let rest = base64.or_else(|| line.strip_prefix(b"begin "))?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let named = rest.get(digits) == Some(&b' ') && !rest[digits..].trim_ascii().is_empty();
        if !(3..=5).contains(&digits) || !named {
            return None;
        }
        let ends: &[u8] = if base64.is_some() { b"====" } else { b"end" };
        let mut at = split_line(text).1;
        let mut lines = 0;
        while at < text.len() {
            let (line, length) = split_line(&text[at..]);
            let line = line.trim_ascii_end();
            // In markup, a tag may follow.
            match line.strip_prefix(ends).filter(|_| lines > 0) {
                Some([]) => return Some(at + length),
                Some([b'<', ..]) if self.markup => return Some(at + ends.len()),
                _ => {}
            }
            // The last line of data is empty, and so are lines whose spaces were lost.
            let is_data = match base64 {
                Some(_) => line.iter().all(is_base64),
                None => self.is_uu_line(line),
            };
            if !line.is_empty() && !is_data {
                break;
            }
            at += length;
            lines += usize::from(!line.is_empty());
        }
        // Its end is missing, or the text is about such files.
        (lines >= 3).then_some(at)
    }

    /// The length of a later part of a file, which has no first line.
    fn rest(&self, text: &[u8]) -> Option<usize> {
        let (mut at, mut lines) = (0, 0);
        while text.get(at) == Some(&b'M') {
            let (line, length) = split_line(&text[at..]);
            // One more is a checksum.
            if !(61..=62).contains(&self.characters(line)) || !self.is_uu_line(line) {
                break;
            }
            at += length;
            lines += 1;
        }
        (lines > LEAST_BASE64 / LEAST_LINE).then_some(at)
    }

    /// Whether this is a line of uuencode: the number of bytes, and four characters for every three
    /// of them. Spaces at the end may be lost, and a checksum may follow.
    fn is_uu_line(&self, line: &[u8]) -> bool {
        let Some(first) = line.first() else {
            return false;
        };
        let is_data = |byte: &u8| (b' '..=b'`').contains(byte);
        let all = match self.markup {
            true => line
                .split(|byte| *byte == b'&')
                .enumerate()
                .all(|(i, rest)| {
                    let known = entity(rest).filter(|_| i > 0).map_or(0, str::len);
                    rest[known..].iter().all(is_data)
                }),
            false => line.iter().all(is_data),
        };
        let bytes = match (first, entity(line.get(1..).unwrap_or_default())) {
            (b'&', Some("lt;")) if self.markup => usize::from(b'<' - b' '),
            (b'&', Some("gt;")) if self.markup => usize::from(b'>' - b' '),
            _ => usize::from(first.wrapping_sub(b' ') & 63),
        };
        let data = self.characters(line) - 1;
        all && data <= bytes.div_ceil(3) * 4 + 2 && (bytes > 0 || data == 0)
    }

    /// The number of characters of a line of ASCII.
    fn characters(&self, line: &[u8]) -> usize {
        if !self.markup {
            return line.len();
        }
        let entities = line.split(|byte| *byte == b'&').skip(1).filter_map(entity);
        line.len() - entities.map(str::len).sum::<usize>()
    }
}

/// The length of an encrypted message of OpenPGP: fields, base64, and a last line that may be
/// missing.
fn armour(text: &[u8]) -> Option<usize> {
    let (mut at, mut lines) = (split_line(text).1, 0);
    while at < text.len() {
        let (line, length) = split_line(&text[at..]);
        if line.starts_with(ARMOUR[1]) {
            return Some(at + length);
        }
        let line = line.trim_ascii_end();
        let is_data = line.iter().all(is_base64);
        if !is_data && (lines > 0 || memmem::find(line, b": ").is_none()) {
            break;
        }
        at += length;
        lines += usize::from(is_data && !line.is_empty());
    }
    (lines >= 3).then_some(at)
}

/// The entity that a text behind `&` begins with, among those for characters of uuencode.
fn entity(text: &[u8]) -> Option<&'static str> {
    let known = [
        "lt;", "gt;", "amp;", "quot;", "apos;", "#39;", "#34;", "#x27;",
    ];
    known
        .into_iter()
        .find(|known| text.starts_with(known.as_bytes()))
}

/// The first line without its end, and its length with it.
fn split_line(text: &[u8]) -> (&[u8], usize) {
    let length = next_line(text).unwrap_or(text.len());
    (trim_line(&text[..length]), length)
}

/// The stretches of a file of subtitles that are not words: numbers, times and tags. Any other text
/// has none. Puts the first tag that is perhaps a sentence into `left`.
fn cues(text: &[u8], left: &mut Option<String>) -> Vec<Range<usize>> {
    let start = text
        .strip_prefix("\u{feff}".as_bytes())
        .map_or(0, |rest| text.len() - rest.len());
    let web = text[start..].starts_with(b"WEBVTT");
    let first = text[start..]
        .iter()
        .find(|byte| !byte.is_ascii_whitespace());
    let head = &text[start..text.len().min(start + CUES_WITHIN)];
    if !web && !first.is_some_and(u8::is_ascii_digit)
        || memmem::find_iter(head, b"-->").take(2).count() < 2
    {
        return Vec::new();
    }
    let mut out: Vec<Range<usize>> = Vec::new();
    // The line before, and whether an empty line precedes it.
    let mut before = (start..start, false);
    let (mut empty, mut timed, mut hidden) = (true, false, web);
    let mut at = start;
    while at < text.len() {
        let rest = &text[at..];
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = rest[..end].trim_ascii();
        let place = at..at + end;
        if is_times(line) {
            let name = text[before.0.clone()].trim_ascii();
            if !name.is_empty() && (name.iter().all(u8::is_ascii_digit) || web && before.1) {
                out.push(before.0.clone());
            }
            out.push(place.clone());
            (timed, hidden) = (true, false);
        } else if !timed && !web && !line.is_empty() && !line.iter().all(u8::is_ascii_digit) {
            // Text before the first cue.
            return Vec::new();
        } else if web
            && empty
            && [&b"NOTE"[..], b"STYLE", b"REGION"].iter().any(|name| {
                let after = line.strip_prefix(*name);
                after.is_some_and(|after| after.is_empty() || after[0].is_ascii_whitespace())
            })
        {
            hidden = true;
            out.push(place.clone());
        } else if hidden && !line.is_empty() {
            out.push(place.clone());
        } else {
            tags(&text[place.clone()], at, &mut out, left);
        }
        let is_empty = line.is_empty();
        hidden &= !is_empty;
        // CRLF is one line end.
        at += end + 1 + usize::from(rest[end.min(rest.len())..].starts_with(b"\r\n"));
        before = (place, empty);
        empty = is_empty;
    }
    if timed { out } else { Vec::new() }
}

/// Whether a line has the times of a cue: `00:01:02,345 --> 00:01:04.000`, and settings.
fn is_times(line: &[u8]) -> bool {
    let time = |text: &[u8]| {
        let text = text.trim_ascii();
        let end = text.iter().position(u8::is_ascii_whitespace);
        let text = &text[..end.unwrap_or(text.len())];
        text.contains(&b':')
            && text
                .iter()
                .all(|byte| byte.is_ascii_digit() || b":,.".contains(byte))
    };
    let arrow = memmem::find(line, b"-->");
    arrow.is_some_and(|at| time(&line[..at]) && time(&line[at + 3..]))
}

/// Adds the tags in a line of a cue: `<i>`, `</font>`, `<00:01:02.345>`, `{\an8}`.
fn tags(line: &[u8], at: usize, out: &mut Vec<Range<usize>>, left: &mut Option<String>) {
    let mut from = 0;
    while let Some(begin) = memchr::memchr2(b'<', b'{', &line[from..]).map(|begin| from + begin) {
        from = begin + 1;
        let close = if line[begin] == b'<' { b'>' } else { b'}' };
        let inside = line[from..].split(|byte| *byte == close).next();
        let inside = inside.filter(|inside| from + inside.len() < line.len());
        let is_tag = |inside: &&[u8]| match inside.strip_prefix(b"/").unwrap_or(inside).first() {
            Some(b'\\') => close == b'}',
            Some(first) => close == b'>' && first.is_ascii_alphanumeric(),
            None => false,
        };
        if let Some(inside) = inside.filter(is_tag) {
            from += inside.len() + 1;
            let mut words = inside.split(u8::is_ascii_whitespace);
            let name = words.next().unwrap_or_default();
            let (values, words): (Vec<_>, Vec<_>) = words.partition(|word| word.contains(&b'='));
            let words = words.iter().filter(|word| is_word(word)).count();
            if words > MOST_WORDS * (1 + values.len()) {
                let line = || perhaps_no_tag(&text_of(name), at + begin, from - begin);
                left.get_or_insert_with(|| line() + "; remove the brackets if this is text");
            }
            out.push(at + begin..at + from);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::read::ground::record::{ContentKind, RawDocument};

    /// Characters that look like base64 of a compressed file.
    fn b64(count: usize) -> String {
        const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = 1u64;
        let next = |_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            char::from(ALL[(state >> 58) as usize])
        };
        (0..count).map(next).collect()
    }

    fn lines(text: &str, width: usize) -> String {
        let lines = text.as_bytes().chunks(width).map(String::from_utf8_lossy);
        lines.collect::<Vec<_>>().join("\n")
    }

    fn uu(lines: usize) -> String {
        let line = format!(
            "M{}\n",
            "#0V%T+B`H:&5L;&]".repeat(4).get(..60).unwrap_or_default()
        );
        line.repeat(lines)
    }

    /// The words that are left, and whether there is a notice.
    fn left(body: &[u8], markup: bool) -> (String, bool) {
        let mut parts = RawDocument::of(Cow::default(), ContentKind::of(markup), body.into());
        leave_out(&mut parts);
        assert!(is_blanked(&parts.body, body));
        let text = String::from_utf8_lossy(&parts.body);
        let words: Vec<&str> = text.split_whitespace().collect();
        (words.join(" "), !parts.notices.is_empty())
    }

    #[test]
    fn encoded_files_are_left_out() {
        let long = b64(1600);
        let wrapped = lines(&long, 76);
        let quoted = format!("> {}", wrapped.replace('\n', "\n> "));
        let gap = "a  b";
        for (text, markup, expected) in [
            (format!("a\n{wrapped}\nb"), false, "a b"),
            (
                format!("a\n{}==\nb", lines(&b64(1598), 64)),
                false,
                "a == b",
            ),
            (format!("a {long} b"), false, "a b"),
            (
                format!("a\r\n{}\r\nb", wrapped.replace('\n', "\r\n")),
                false,
                "a b",
            ),
            (format!("a\n{quoted}\nb"), false, "a > b"),
            (
                format!("![x](data:image/png;base64,{long}) y"),
                false,
                "![x](data:image/png;base64, ) y",
            ),
            (
                format!("-----BEGIN A-----\n{}\n-----END A-----", lines(&long, 64)),
                false,
                "-----BEGIN A----- -----END A-----",
            ),
            (
                format!(
                    "a\n-----BEGIN PGP MESSAGE-----\nVersion: 1\n\n{}\n=AbCd\n-----END PGP MESSAGE-----\nb",
                    lines(&b64(90), 64)
                ),
                false,
                "a b",
            ),
            (
                format!(
                    "a\n-----BEGIN PGP MESSAGE-----\n\n{}\nb, c",
                    lines(&b64(200), 64)
                ),
                false,
                "a b, c",
            ),
            (
                format!("<p>a</p><binary id='x'>{wrapped}</binary>"),
                true,
                "<p>a</p><binary id='x'> </binary>",
            ),
            (
                format!("<p>a</p><pre>{wrapped}\n</pre>"),
                true,
                "<p>a</p><pre> </pre>",
            ),
            (
                format!("a\nbegin 644 x.gif\n{}`\nend\nb", uu(2)),
                false,
                "a b",
            ),
            (
                format!("begin-base64 644 x\n{}\n====\nb", lines(&b64(150), 60)),
                false,
                "b",
            ),
            (format!("a\n{}b", uu(25)), false, "a b"),
            (
                format!(
                    "<p>a<pre>begin 644 x\n{}`\nend</pre>b",
                    uu(3).replace('&', "&amp;")
                ),
                true,
                "<p>a<pre> </pre>b",
            ),
            (
                "a\n=ybegin line=128 size=3 name=x\nab\u{e9}\n=yend size=3\nb".into(),
                false,
                "a b",
            ),
        ] {
            let (found, notice) = left(text.as_bytes(), markup);
            assert!(notice, "{text}");
            let squeeze = |text: &str| text.replace("== ", "").replace(gap, "a b");
            assert_eq!(squeeze(&found), squeeze(expected), "{text}");
        }
    }

    #[test]
    fn files_in_a_text_are_found() {
        let length = |text: &str| Files::default().length(text.as_bytes());
        let file = "begin 644 a.txt\n::&5L;&\\@=V]R;&0@=&AI<R!I<R!A('1E<W0 \n`\nend\n";
        assert_eq!(length(&format!("{file}words\n")), Some(file.len()));
        let crlf = file.replace('\n', "\r\n");
        assert_eq!(length(&crlf), Some(crlf.len()));
        let base64 = "begin-base64 644 a\nYWJj\n====\n";
        assert_eq!(length(&format!("{base64}words")), Some(base64.len()));
        let yenc = "=ybegin line=128 size=3 name=a\r\n\u{8b}\u{8c}\r\n=yend size=3\r\n";
        assert_eq!(length(&format!("{yenc}words")), Some(yenc.len()));
        for text in [
            "begin the day\nwell\nend\n",
            "begin 2024 with\nmany words of prose\nend\n",
            "begin 644 a.txt\nis how such a file begins\n",
            "=ybegin is not closed\n",
            "begin 644 a.txt\nend\n",
            "-----BEGIN PGP MESSAGE-----\nbegins one.\n",
        ] {
            assert_eq!(length(text), None, "{text}");
        }
    }

    #[test]
    fn other_texts_are_kept() {
        let genes = "ACGTTGCAAC".repeat(6);
        let long = b64(1600);
        for (text, markup) in [
            (format!("a\n{}", format!("{genes}\n").repeat(60)), false),
            (
                format!("a\n{}", lines(&"0123456789abcdef".repeat(100), 64)),
                false,
            ),
            (format!("a\n{}\nb", lines(&b64(1100), 76)), false),
            ("abcdefghij".repeat(200) + " b", false),
            // Nothing else is there.
            (lines(&long, 76), false),
            (format!("<pre>{}</pre>", lines(&long, 76)), true),
            // No text of the page.
            (
                format!("<p>a<img src='data:image/png;base64,{long}'>"),
                true,
            ),
            (format!("<p>a<script>x = '{long}'</script>"), true),
            (format!("<p>a<!-- {long} -->"), true),
            (
                "We begin 2024 with\nthe news.\nbegin 644 of them\n\nand so on".into(),
                false,
            ),
            (format!("MY MOTHER SAID\n{}", "MAY I\n".repeat(30)), false),
        ] {
            let squeezed: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(
                left(text.as_bytes(), markup),
                (squeezed.join(" "), false),
                "{text}"
            );
        }
    }

    #[test]
    fn times_of_subtitles_are_left_out() {
        let srt = "1\n00:00:10,000 --> 00:00:12,000\n<i>Hello</i> there\n\n2\n00:00:13,037 --> 00:00:15,071\n{\\an8}in 1984\n1985\n";
        let vtt = "WEBVTT - x\nKind: captions\n\nNOTE a\nb\n\nSTYLE\n::cue { }\n\nintro\n00:10.000 --> 00:12.000 align:left\n<v Bob>Hello <00:11.000>there\n\n00:13.037 --> 00:15.071\nin 1984\n";
        for (text, expected) in [
            (srt.to_string(), "Hello there in 1984 1985"),
            (srt.replace('\n', "\r\n"), "Hello there in 1984 1985"),
            (srt.replace('\n', "\r"), "Hello there in 1984 1985"),
            (
                format!("\u{feff}{srt}"),
                "\u{feff} Hello there in 1984 1985",
            ),
            (vtt.to_string(), "Hello there in 1984"),
            (
                srt.replace("<i>", "<laughs and leaves the room again>"),
                "Hello there in 1984 1985",
            ),
        ] {
            let (found, notice) = left(text.as_bytes(), false);
            assert_eq!(
                found.replace("\u{feff} ", ""),
                expected.replace("\u{feff} ", "")
            );
            assert_eq!(notice, text.contains("<laughs"));
        }
        for text in [
            "1\n00:01 --> 00:02\na\n",
            "1 a --> b\n2 b --> c\n",
            "say 1\n00:01:00 --> 00:02:00\nx --> y",
        ] {
            let squeezed: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(left(text.as_bytes(), false).0, squeezed.join(" "));
        }
        // Texts that differ in their times are not identical as read.
        let other = srt.replace("15,071", "15,072");
        let of = |text: &str| {
            let mut body = text.as_bytes().to_vec();
            let cues = cues(&body, &mut None);
            blank(&mut body, &cues);
            body
        };
        assert_ne!(of(srt), of(&other));
        assert_eq!(of(srt), of(srt));
    }
}
