//! The formats of input, and how each is recognised.

use super::archive::{is_arc_line, is_warc_line};
use super::bytes::{MARK, trim_front};
use super::frame_mbox::begins_message;
use super::frame_trec::Tag;
use super::mail;

/// The format of an input: what its records are cut by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Trec,
    Reuters,
    Warc,
    Arc,
    Json,
    Mbox,
    Mail,
    Table,
    Parquet,
    /// Markup that is split at the elements of one name.
    Elements,
    Plain,
}

impl Container {
    /// The name of the format, for messages.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Container::Trec => "TREC",
            Container::Reuters => "Reuters-21578",
            Container::Warc => "WARC",
            Container::Arc => "ARC",
            Container::Json => "JSON",
            Container::Mbox => "mbox",
            Container::Mail => "mail",
            Container::Table => "CSV or TSV",
            Container::Parquet => "Parquet",
            Container::Elements => "markup split by --record",
            Container::Plain => "text or HTML",
        }
    }
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
        None if mail::begins_parts(head.strip_prefix(MARK).unwrap_or(head)) => Container::Mail,
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
                while let Some(found) = memchr::memchr2(b'"', b'\\', &rest[at.min(rest.len())..]) {
                    at += found;
                    if rest[at] == b'"' {
                        return matches!(rest[at + 1..].trim_ascii_start(), [] | [b':', ..]);
                    }
                    at += 2;
                }
                true
            }
            _ => false,
        }
    };
    let head = trim_front(head);
    begins(head) || memchr::memchr_iter(b'\n', head).any(|at| begins(&head[at + 1..]))
}
