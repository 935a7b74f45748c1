//! How each format of input is recognised.

use super::ground::bytes::{MARK, trim_front};
use super::ground::config::Format;
use super::ground::convert::extension;
use super::ground::framer::Container;
use super::mail;
use super::mail::frame_mbox::begins_message;
use super::markup::frame_trec::Tag;
use super::web::archive::{is_arc_line, is_warc_line};

/// How the records of each format are framed, and the extensions that imply it.
const FORMATS: [(Format, Container, &str); Format::ALL.len()] = [
    (Format::TrecWeb, Container::Trec, ""),
    (Format::TrecSgml, Container::Trec, ""),
    (Format::Warc, Container::Warc, "warc wet"),
    (Format::Arc, Container::Arc, "arc"),
    (Format::Jsonl, Container::Json, "jsonl ndjson json"),
    (Format::Csv, Container::Table, "csv"),
    (Format::Tsv, Container::Table, "tsv"),
    (Format::Parquet, Container::Parquet, ""),
    (Format::Mbox, Container::Mbox, "mbox mbx"),
    (Format::Eml, Container::Mail, "eml emlx email mht mhtml"),
    (
        Format::Text,
        Container::Plain,
        "txt text md markdown rst adoc org log",
    ),
    (
        Format::Html,
        Container::Plain,
        "html htm xhtml shtml xml sgml sgm",
    ),
];

impl Format {
    /// The format that the extension of a file implies, for files with inconclusive content. The
    /// extension of a compression is ignored.
    pub(super) fn of_extension(name: &str) -> Option<Format> {
        let extension = extension(name)?;
        let mut known = FORMATS.iter();
        let found = known.find(|(_, _, known)| known.split(' ').any(|known| known == extension))?;
        Some(found.0)
    }
}

impl Container {
    /// The container of a format that is given, or that the extension of a file implies.
    pub(super) fn of(format: Format, head: &[u8]) -> Container {
        match FORMATS[format as usize].1 {
            Container::Trec if container_of(head) == Container::Reuters => Container::Reuters,
            container => container,
        }
    }
}

/// Whether a file has the name of a message: a number (MH), or one of a Maildir.
pub(super) fn is_message_name(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let number = name.strip_suffix('.').unwrap_or(name);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let folder = folder.rsplit('/').next().unwrap_or_default();
    is_number || matches!(folder, "cur" | "new") || name.contains(":2,")
}

/// The container whose beginning these first bytes are.
pub(super) fn container_of(head: &[u8]) -> Container {
    let at = trim_front(head);
    if is_warc_line(at) {
        return Container::Warc;
    }
    if is_arc_line(at) {
        return Container::Arc;
    }
    // A mailbox begins with its first message; plain text may also begin with `From `.
    let lines = head.strip_prefix(MARK).unwrap_or(head);
    let first = lines.iter().position(|byte| !matches!(byte, b'\r' | b'\n'));
    if begins_message(&lines[first.unwrap_or_default()..], true) {
        return Container::Mbox;
    }
    // The separator of JSON text sequences.
    match at.strip_prefix(b"\x1e").unwrap_or(at) {
        [b'{', rest @ ..] if matches!(rest.trim_ascii_start(), [b'"' | b'}', ..]) => {
            return Container::Json;
        }
        [b'[', rest @ ..] => {
            let rest = rest.trim_ascii_start();
            if rest.starts_with(b"{") || rest == b"]" {
                return Container::Json;
            }
        }
        _ => {}
    }
    match Tag::of(at) {
        Some(tag) if tag.is_reuters() => Container::Reuters,
        Some(_) => Container::Trec,
        None if mail::begins_message(head, false) => Container::Mail,
        None => Container::Plain,
    }
}

/// Whether an object of JSON begins at the beginning of one of these lines, as far as they go: with
/// a name and a colon, or without a member.
pub(super) fn can_be_json(head: &[u8]) -> bool {
    let begins = |line: &[u8]| {
        let line = line.trim_ascii_start();
        let line = line.strip_prefix(b"\x1e").unwrap_or(line);
        let line = line.strip_prefix(b"[").unwrap_or(line);
        let [b'{', rest @ ..] = line.trim_ascii_start() else {
            return false;
        };
        match rest.trim_ascii_start() {
            [] | [b'}', ..] => true,
            [b'"', rest @ ..] => {
                let mut at = 0;
                let end = |rest| memchr::memchr3(b'"', b'\\', b'\n', rest);
                while let Some(found) = end(&rest[at.min(rest.len())..]) {
                    at += found;
                    match rest[at] {
                        b'"' => {
                            return matches!(rest[at + 1..].trim_ascii_start(), [] | [b':', ..]);
                        }
                        b'\n' => return false,
                        _ => at += 2,
                    }
                }
                true
            }
            _ => false,
        }
    };
    let head = trim_front(head);
    begins(head) || memchr::memchr_iter(b'\n', head).any(|at| begins(&head[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_their_lines() {
        assert_eq!(FORMATS.map(|(format, ..)| format), Format::ALL);
        for (name, format) in [
            ("a/B.TXT", Some(Format::Text)),
            ("a.warc.gz", Some(Format::Warc)),
            ("jsonl.zst", Some(Format::Jsonl)),
            ("a.csv/b", None),
            ("a.", None),
            ("", None),
        ] {
            assert_eq!(Format::of_extension(name), format, "{name}");
        }
    }
}
