//! Whether a file that is one document looks as if it had several.
//!
//! The first 64 KiB decide, but for pages, which may be longer. Whatever is found is a warning only,
//! so a sign must be clear: docs/guide/formats.md lists the signs and how often they are wrong.

use memchr::memmem;

use super::record::{ContentKind, Dialect};
use super::table::rows;

/// Bytes that are looked at.
const LOOK: usize = 64 << 10;
/// The fewest rows of a table.
const ROWS: usize = 3;
/// The fewest rows of one with commas, semicolons or bars, which texts have as well, unless it has
/// three columns.
const MANY_ROWS: usize = 6;
/// Ends of pages that are looked at, and bytes behind each in which the next page begins.
const PAGES: (usize, usize) = (16, 1 << 10);

/// What a file looks like, and how to read it.
pub(super) fn looks_like(bytes: &[u8], content: ContentKind) -> Option<String> {
    if has_pages(bytes) {
        return Some("looks like several HTML pages; split the file at <html>".into());
    }
    let head = match bytes.get(..LOOK) {
        Some(head) => &head[..memchr::memrchr(b'\n', head).map_or(0, |end| end + 1)],
        None => bytes,
    };
    if let Some((what, flag)) = concatenation(head) {
        return Some(format!("looks like {what}; {flag}"));
    }
    match content {
        ContentKind::Text => table(head),
        ContentKind::Markup => None,
    }
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn starts_with(line: &[u8], prefix: &[u8]) -> bool {
    line.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Whether a page begins behind the end of another one.
fn has_pages(bytes: &[u8]) -> bool {
    [&b"</html"[..], b"</HTML"].into_iter().any(|end| {
        memmem::find_iter(bytes, end).take(PAGES.0).any(|at| {
            let next = bytes.get(at + end.len()..).unwrap_or_default();
            let next = &next[..next.len().min(PAGES.1)];
            memchr::memchr_iter(b'<', next).any(|at| {
                let tag = &next[at..];
                starts_with(tag, b"<html>")
                    || starts_with(tag, b"<html ")
                    || starts_with(tag, b"<!doctype html")
            })
        })
    })
}

/// The name of a header field of mail before its colon.
fn is_field(line: &[u8]) -> bool {
    let name = memchr::memchr(b':', line).and_then(|end| line.get(..end));
    name.is_some_and(|name| {
        !name.is_empty()
            && name
                .iter()
                .all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// The name of a file between marks, as in `=== src/a.rs ===` and `==> a.txt <==`.
fn is_mark(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let inside = match line {
        [b'=', b'=', b'>', inside @ .., b'<', b'=', b'='] => inside,
        [mark @ (b'=' | b'-' | b'#' | b'*' | b'+' | b'~'), ..] => {
            let run = |bytes: &mut dyn Iterator<Item = &u8>| {
                bytes.take_while(|byte| *byte == mark).count()
            };
            let (begin, end) = (run(&mut line.iter()), run(&mut line.iter().rev()));
            match (begin >= 3 && end >= 3).then(|| line.get(begin..line.len() - end)) {
                Some(Some(inside)) => inside,
                _ => return false,
            }
        }
        _ => return false,
    };
    let name = inside.trim_ascii();
    let is_name = !name.is_empty() && !name.iter().any(u8::is_ascii_whitespace);
    let ending = memchr::memrchr(b'.', name).map(|dot| name.len() - dot - 1);
    is_name && (name.contains(&b'/') || ending.is_some_and(|ending| (1..=5).contains(&ending)))
}

/// Records of another format, or files in a text.
fn concatenation(head: &[u8]) -> Option<(String, &'static str)> {
    let (mut docs, mut messages, mut objects, mut files, mut shell) = (0, 0, 0, 0, 0);
    let (mut mailbox, mut all) = (0, 0);
    let mut lines = lines(head).peekable();
    while let Some(line) = lines.next() {
        // Most lines begin otherwise.
        match line.first() {
            Some(b'<') if starts_with(line, b"<doc>") || starts_with(line, b"<doc ") => docs += 1,
            Some(b'F') if line.starts_with(b"From ") => {
                messages += usize::from(lines.peek().is_some_and(|next| is_field(next)));
            }
            // Between the messages of MMDF, and of Babyl.
            Some(b'\x01') => mailbox += usize::from(line == [1; 4]),
            Some(b'\x1f') => mailbox += usize::from(matches!(line, [_] | [_, b'\x0c'])),
            Some(b'{') if line.starts_with(b"{\"") && line.ends_with(b"}") => objects += 1,
            Some(b's') if line.starts_with(b"sed ") && memmem::find(line, b"s/^X//").is_some() => {
                shell += 1;
            }
            Some(b'#') if line.starts_with(b"# This is a shell archive") => shell += 2,
            _ => {}
        }
        files += usize::from(is_mark(line));
        all += usize::from(!line.is_empty());
    }
    let few = 2;
    if docs >= few {
        let what = format!("{docs} records <DOC>");
        return Some((what, "to read each as a document, use --format trec-sgml"));
    }
    if messages >= few {
        let what = format!("{messages} messages of a mailbox");
        return Some((what, "to read each as a document, use --format mbox"));
    }
    if mailbox >= few {
        let what = "a mailbox of MMDF or Babyl";
        return Some((what.into(), "convert it to mbox first"));
    }
    if objects >= few && objects * 2 >= all {
        let what = format!("{objects} JSON objects on lines of their own");
        return Some((what, "to read each as a document, use --format jsonl"));
    }
    if shell >= few {
        return Some(("a shell archive".into(), "unpack it first"));
    }
    if files >= few {
        let what = format!("{files} files with a line before each that names it");
        return Some((what, "split them first"));
    }
    let top = &head[..head.len().min(4 << 10)];
    let is_mime = is_field(top) && memmem::find(top, b"\nMIME-Version:").is_some();
    (is_mime && memmem::find(top, b"boundary=").is_some()).then(|| {
        let what = "a mail message or another archive in MIME";
        (what.into(), "to read it as such, use --format eml")
    })
}

/// A table, by the number of columns that its rows have in common.
fn table(head: &[u8]) -> Option<String> {
    let kinds = [
        (b'\t', "tabs"),
        (b',', "commas"),
        (b';', "semicolons"),
        (b'|', "bars"),
    ];
    for (delimiter, what) in kinds {
        // A text has far fewer of them than lines.
        let first = lines(head).find(|line| !line.trim_ascii().is_empty())?;
        if memchr::memchr(delimiter, first).is_none() {
            continue;
        }
        let dialect = Dialect {
            delimiter,
            end: b'\n',
            quotes: delimiter != b'\t',
            escape: false,
        };
        let mut shapes = rows(dialect, head, true).map(|row| {
            let inside = row.get(1..).unwrap_or_default();
            // In a text, a space follows a comma.
            let spaced =
                !inside.contains(&b'"') && memmem::find(inside, &[delimiter, b' ']).is_some();
            (row, spaced)
        });
        let (first, mut is_text) = shapes.next()?;
        // A line of code ends with a semicolon, and has no cell behind it.
        let columns = match dialect.pick(first, 0, &[]).count {
            0 | 1 => continue,
            _ => dialect.pick(first, usize::MAX, &[]).count,
        };
        let (mut rows, mut odd) = (1, 0);
        for (row, spaced) in shapes {
            rows += 1;
            odd += usize::from(dialect.pick(row, columns, &[]).count != columns);
            is_text |= spaced;
        }
        let enough = match delimiter == b'\t' || columns > 2 {
            true => ROWS,
            false => MANY_ROWS,
        };
        is_text &= delimiter != b'\t' && delimiter != b'|';
        if rows >= enough && odd * 20 <= rows && !is_text {
            let format = if delimiter == b'\t' { "tsv" } else { "csv" };
            return Some(format!(
                "looks like a table of {columns} columns with {what}; to read each row as a \
                 document, use --format {format}"
            ));
        }
    }
    let columns = fixed_columns(head)?;
    Some(format!(
        "looks like a table of {columns} columns of fixed width; to read each row as a document, \
         convert it to CSV"
    ))
}

/// The columns that begin at the same place in every line, with two spaces before it in the first,
/// which has their names.
fn fixed_columns(head: &[u8]) -> Option<usize> {
    let mut lines = lines(head).filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next()?;
    // Names of columns, without which lists of all kinds look like tables.
    let mut words = first.split(|&byte| byte == b' ');
    if words.any(|word| word.first().is_some_and(u8::is_ascii_digit)) {
        return None;
    }
    let begins = |at: &usize| first[*at] != b' ' && first[..*at].ends_with(b"  ");
    let mut starts: Vec<usize> = (0..first.len()).filter(begins).collect();
    let mut rows = 1;
    for line in lines {
        rows += 1;
        starts.retain(|&at| {
            line.get(at - 1) == Some(&b' ') && line.get(at).is_some_and(|byte| *byte != b' ')
        });
        if starts.len() < 2 {
            return None;
        }
    }
    (rows >= MANY_ROWS).then_some(starts.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<String> {
        looks_like(text.as_bytes(), ContentKind::Text)
    }

    /// Each of these was one document, and nothing said so.
    #[test]
    fn what_looks_like_several_documents_is_named() {
        let words = "some words of a text";
        for (bytes, expected) in [
            (
                format!("1\t{words}\n2\t{words}\n3\t{words}\n"),
                "of 2 columns with tabs",
            ),
            (
                format!("a,b,c\n1,\"x, y\",{words}\n2,,z\n"),
                "of 3 columns with commas",
            ),
            (
                format!("a;b;c\r\n1;x;{words}\r\n2;;z\r\n"),
                "of 3 columns with semicolons",
            ),
            (
                "| a | b |\n|---|---|\n| 1 | 2 |\n".into(),
                "of 4 columns with bars",
            ),
            ("a|b\n1|x\n".repeat(3), "of 2 columns with bars"),
            (
                format!("n   name    text\n{}", "1   abc     words\n".repeat(6)),
                "of fixed width",
            ),
            (
                format!("<doc id=1>\n{words}\n</doc>\n<doc id=2>\n"),
                "2 records <DOC>",
            ),
            (
                format!("x\nFrom a b\nTo: x\n\n{words}\nFrom c\nTo: y\n"),
                "2 messages",
            ),
            (
                format!("BABYL OPTIONS:\n\x1f\x0c\n1,,\n{words}\n\x1f\x0c\n1,,\n{words}\n\x1f"),
                "MMDF or Babyl",
            ),
            (
                format!("\x01\x01\x01\x01\nTo: x\n\n{words}\n\x01\x01\x01\x01\n"),
                "MMDF or Babyl",
            ),
            (
                format!("{words}\n{{\"a\":1}}\n{{\"a\":2}}\n"),
                "2 JSON objects",
            ),
            (
                "#!/bin/sh\n# This is a shell archive (x)\n".into(),
                "a shell archive",
            ),
            (
                format!("=== a.txt ===\n{words}\n=== b/c ===\n{words}\n"),
                "2 files",
            ),
            (
                format!("==> a.c <==\n{words}\n==> b.c <==\n{words}\n"),
                "2 files",
            ),
            (
                format!(
                    "From: a\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n{words}\n"
                ),
                "in MIME",
            ),
        ] {
            let found = text(&bytes).unwrap_or_default();
            assert!(found.contains(expected), "{bytes:?}: {found}");
        }
        let page = "<html><body>a</body></html>\n";
        for next in ["<!DOCTYPE html>\n<html>", "<!-- next --><HTML lang=en>"] {
            let pages = format!("{page}{next}");
            let found = looks_like(pages.as_bytes(), ContentKind::Markup).unwrap();
            assert!(found.contains("several HTML pages"), "{found}");
        }
    }

    #[test]
    fn what_is_one_document_is_not_named() {
        for one in [
            "",
            "\n\n",
            "A text, with commas\nin a line, each\nand one, more\nor two, or\nthree, or\nfour, lines\n",
            "word\tone\nword\n\ttwo\nthree\n",
            "a\tb\n",
            "a,b\nc,d\n",
            "# Title\n\n### a.txt\n\n### b.txt\n",
            "--- a/x.c\n+++ b/x.c\n--- a/y.c\n+++ b/y.c\n",
            "=== Title ===\n\n=== Another ===\n",
            "From here\nto there\nFrom there\nto here\n",
            "{\"a\": 1,\n\"b\": 2}\n",
            "================\nTitle\n================\n",
            "  1  one\n  2  two\n  3  six\n  4  ten\n  5  yes\n  6  and\n",
            "mod a;\nmod b;\nmod c;\nmod d;\nmod e;\nmod f;\nmod g;\n",
            "As in\n\n{\"a\":1}\n{\"a\":2}\n\nor\nso.\n",
            "  if a {\n    b\n  }\n",
        ] {
            assert_eq!(text(one), None, "{one:?}");
        }
        let page = b"<html><body>&lt;/html>&lt;html></body></html>\n<!-- end -->\n";
        assert_eq!(looks_like(page, ContentKind::Markup), None);
        // A table in a page is a part of it.
        assert_eq!(looks_like(b"a\tb\nc\td\ne\tf\n", ContentKind::Markup), None);
    }
}
