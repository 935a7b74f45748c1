//! Whether a file that is one document looks as if it had several.
//!
//! The first 64 KiB decide, but for pages, which may be longer. Whatever is found is a warning only,
//! so a sign must be clear: docs/guide/formats.md lists the signs and how often they are wrong.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;

use crate::read::ground::bytes::{MARK, begins_any_case};
use crate::read::ground::config::ReadConfig;
use crate::read::ground::dialect::{Dialect, Mark};
use crate::read::ground::fields::advised;
use crate::read::ground::record::{ContentKind, Table};
use crate::read::ground::split_at::SplitAt;
use crate::read::ground::stream::in_lines;
use crate::read::mail::begins_field;
use crate::read::table::{Claim, row_end, rows};
use lookalike_base::{flag_word, shell_word};

/// Bytes that are looked at.
const LOOK: usize = 64 << 10;
/// The fewest rows of a table.
const ROWS: usize = 3;
/// The fewest rows of one with commas, semicolons or bars, which texts have as well, unless it has
/// three columns.
const MANY_ROWS: usize = 6;
/// Ends of pages that are looked at, and bytes behind each in which the next page begins.
const PAGES: (usize, usize) = (16, 1 << 10);

/// Records of text.
struct Kind {
    what: &'static str,
    /// How another line of a record begins, in any case. Only texts with such a line are searched.
    has: &'static str,
    /// The expression for the line that begins a record.
    begins: &'static str,
    /// The expression that splits the records, if it is another one.
    split: Option<&'static str>,
}

impl Kind {
    /// The kind, if another expression splits its records.
    const fn at(self, split: &'static str) -> Kind {
        Kind {
            split: Some(split),
            ..self
        }
    }
}

/// A kind whose records begin with the line at which they are split.
const fn kind(what: &'static str, has: &'static str, begins: &'static str) -> Kind {
    Kind {
        what,
        has,
        begins,
        split: None,
    }
}

/// Kinds of records that are told apart by the lines that they have.
const KINDS: [Kind; 20] = [
    kind("references (RIS)", "ER  -", "^TY  - "),
    kind("references (MEDLINE)", "TI  -", r"^PMID- (?<docno>\d+)"),
    kind("references (Web of Science)", "ER", r"^PT [A-Z]\s*$")
        .at(r"^PT [A-Z]\s*$|^(?<end>EF)\s*$"),
    kind("references (EndNote)", "%T ", "^%0 "),
    kind("references (refer)", "%A ", "^%T ").at("^$"),
    kind(
        "references (BibTeX)",
        "title",
        r#"^\s*@\w+\s*[{(]\s*(?<docno>[^",=\s]+)\s*,"#,
    ),
    kind(
        "entries of a directory (LDIF)",
        "dn:",
        "^dn::? (?<docno>.+)",
    ),
    kind("contacts (vCard)", "END:VCARD", "(?i)^BEGIN:VCARD"),
    kind(
        "entries of a calendar",
        "END:V",
        "^BEGIN:V(EVENT|TODO|JOURNAL)",
    )
    .at("^BEGIN:V(EVENT|TODO|JOURNAL)|^(?<end>END:VCALENDAR)"),
    kind("articles of a news batch", "#! rnews", r"^#! rnews \d"),
    kind(
        "documents of CoNLL-U",
        "# newdoc",
        "^# newdoc( id = (?<docno>.+))?",
    ),
    kind("documents of CoNLL", "-DOCSTART-", "^-DOCSTART-"),
    kind("sentences of CoNLL", "2\t", r"^1\t(\S+\t){7}").at("^$"),
    kind(
        "sequences (GenBank)",
        "DEFINITION",
        r"^LOCUS +(?<docno>\S+)",
    ),
    kind(
        "sequences (EMBL or UniProt)",
        "AC   ",
        "^ID   (?<docno>[^ ;]+)",
    ),
    kind("records of MARC (MARCMaker)", "=245", "^=LDR"),
    kind("games (PGN)", "[White ", r"^\[Event "),
    kind("persons (GEDCOM)", "1 NAME", "^0 @(?<docno>[^@]+)@")
        .at("^0 @(?<docno>[^@]+)@|^(?<end>0 TRLR)"),
    kind("terms (OBO)", "id: ", r"^\[Term\]"),
    kind("messages of a digest", "From: ", "^-{30}$"),
];

/// How the lines of chats and logs begin: with a date and a time, or a time and a name.
const DATED: [&str; 5] = [
    r"^\P{L}{0,3}\d{4}[-/.]\d\d[-/.]\d\d[T ,]+\d\d:\d\d",
    r"^\P{L}{0,3}\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4},? \d{1,2}[:.]\d\d",
    r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ",
    r"^\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:",
    r"^\[?\d\d:\d\d(:\d\d)?\]? <[^>]+> ",
];

/// The expressions of [`DATED`], which are looked for in the first line of every text.
static DATED_LINES: LazyLock<Vec<SplitAt>> =
    LazyLock::new(|| DATED.iter().filter_map(|text| text.parse().ok()).collect());

/// The fewest entries of a chat or a log.
const ENTRIES: usize = 3;

/// Names the records that a file seems to have, and the flag that reads them.
pub(crate) fn looks_like(
    bytes: &[u8],
    content: ContentKind,
    config: &ReadConfig,
) -> Option<String> {
    // A mark hides the first line, and CR all others.
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    if let Some(tag) = page_behind(bytes) {
        return Some(format!("looks like several HTML pages; {tag}"));
    }
    let head = in_lines(bytes.get(..LOOK).unwrap_or(bytes));
    let head = match bytes.len() < LOOK {
        true => &*head,
        false => &head[..memchr::memrchr(b'\n', &head).map_or(0, |end| end + 1)],
    };
    if let Some((what, flag)) = concatenation(head) {
        return Some(format!("looks like {what}; {flag}"));
    }
    match content {
        ContentKind::Text => records(head)
            .or_else(|| load_file(head))
            .or_else(|| table(head, config)),
        ContentKind::Markup | ContentKind::Xml => None,
    }
}

/// Records that `--split-at` reads.
fn records(head: &[u8]) -> Option<String> {
    let found = |what: &str, count: usize, split: &str| {
        format!(
            "looks like {count} {what}; to read each as a document, use --split-at {}",
            shell_word(split)
        )
    };
    let texts = || lines(head).filter(|line| !line.trim_ascii().is_empty());
    let mut has = [false; KINDS.len()];
    let (mut all, mut yaml) = (0, true);
    for line in texts() {
        let inside = line.trim_ascii_start();
        for (has, kind) in has.iter_mut().zip(&KINDS) {
            *has = *has || begins_any_case(inside, kind.has.as_bytes());
        }
        yaml = yaml && is_yaml(line);
        all += 1;
    }
    for (kind, _) in KINDS.iter().zip(has).filter(|(_, has)| *has) {
        let begins: SplitAt = kind.begins.parse().ok()?;
        let count = texts().filter(|line| begins.begins(line)).count();
        // The lines before the first are a header, not the text of which records are a part.
        let before = texts().take_while(|line| !begins.begins(line)).count();
        if count > 1 && before * 2 <= all {
            return Some(found(kind.what, count, kind.split.unwrap_or(kind.begins)));
        }
    }
    let rules = texts().filter(|line| is_rule(line)).count();
    let first = texts().next()?;
    let documents = rules + usize::from(!is_rule(first));
    if yaml && documents > 1 && has_keys_behind_rules(head) {
        return Some(found("documents (YAML)", documents, "^---( |$)"));
    }
    let is_name =
        |line: &&[u8]| line.starts_with(b">") && line.get(1).is_some_and(|c| c.is_ascii_graphic());
    let is_sequence = |line: &&[u8]| {
        line.iter()
            .all(|c| c.is_ascii_alphabetic() || b"*-.".contains(c))
    };
    let names = texts().filter(is_name).count();
    if names > 1 && is_name(&first) && texts().all(|line| is_name(&line) || is_sequence(&line)) {
        return Some(found("sequences (FASTA)", names, r"^>(?<docno>\S+)"));
    }
    let dated = DATED_LINES.iter().find(|dated| dated.begins(first))?;
    let count = texts().filter(|line| dated.begins(line)).count();
    (count >= ENTRIES && count * 10 >= all)
        .then(|| found("entries of a chat or a log", count, &dated.to_string()))
}

/// Whether a line begins with a key of YAML.
fn is_key(line: &[u8]) -> bool {
    let end = memchr::memchr(b':', line).unwrap_or(0);
    end > 0 && matches!(line.get(end + 1), None | Some(b' '))
}

/// Whether a line begins a YAML document.
fn is_rule(line: &[u8]) -> bool {
    line == b"---" || line.starts_with(b"--- ")
}

/// Whether a line can be a part of a YAML document that is not only text.
fn is_yaml(line: &[u8]) -> bool {
    let inside = line.trim_ascii_start();
    inside.len() < line.len()
        || is_key(inside)
        || is_rule(line)
        || matches!(
            inside,
            [b'#' | b'%' | b'}' | b']', ..] | [b'-', b' ', ..] | b"-" | b"..."
        )
}

/// Whether a key follows each line that begins a YAML document. The line that ends the front matter
/// of a text has none behind it.
fn has_keys_behind_rules(head: &[u8]) -> bool {
    let mut lines = lines(head).filter(|line| !matches!(line.trim_ascii_start(), [] | [b'#', ..]));
    while let Some(line) = lines.next() {
        if line == b"---" && !lines.next().is_some_and(is_key) {
            return false;
        }
    }
    true
}

/// A load file of e-discovery (Concordance): cells between thorns, which DC4 separates.
fn load_file(head: &[u8]) -> Option<String> {
    let (quote, between) = match head {
        [0xc3, 0xbe, ..] => ("\u{fe}", &b"\xc3\xbe\x14\xc3\xbe"[..]),
        [0xfe, ..] => ("\u{fe}", &b"\xfe\x14\xfe"[..]),
        _ => return None,
    };
    let dialect = Dialect {
        quote: Mark::of(&between[..between.len() / 2])?,
        ..Dialect::of(Mark::byte(b'\x14'), b'\n')
    };
    let mut rows = rows(dialect, head, true);
    let names = dialect.cells(
        rows.next()
            .filter(|row| memmem::find(row, between).is_some())?,
    );
    let cells = dialect.cells(rows.next()?);
    // The text is the longest of the cells.
    let longest = (0..names.len()).max_by_key(|&at| cells.get(at).map_or(0, String::len))?;
    Some(format!(
        "looks like a load file of {} columns; to read each row as a document, use --delimiter DC4 \
         --quote {quote} {}",
        names.len(),
        flag_word("--text-field", &names[longest])
    ))
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Returns advice about a page that begins behind the end of another page.
fn page_behind(bytes: &[u8]) -> Option<&'static str> {
    [&b"</html"[..], b"</HTML"].into_iter().find_map(|end| {
        memmem::find_iter(bytes, end).take(PAGES.0).find_map(|at| {
            let next = bytes.get(at + end.len()..).unwrap_or_default();
            let next = &next[..next.len().min(PAGES.1)];
            memchr::memchr_iter(b'<', next).find_map(|at| {
                let tag = &next[at..];
                let begins_line = next[..at].ends_with(b"\n") || next[..at].ends_with(b"\r");
                let doctype = begins_any_case(tag, b"<!doctype html");
                if !doctype && !begins_any_case(tag, b"<html>") && !begins_any_case(tag, b"<html ")
                {
                    return None;
                }
                Some(match (begins_line, doctype) {
                    (true, true) => {
                        "to read each as a document, use --split-at '(?i)^<!doctype html'"
                    }
                    (true, false) => "to read each as a document, use --split-at '(?i)^<html'",
                    (false, _) => "split the file at <html>",
                })
            })
        })
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
    let (mut mailbox, mut all, mut lines_of_arrows) = (0, 0, false);
    let mut lines = lines(head).peekable();
    while let Some(line) = lines.next() {
        // Most lines begin otherwise.
        match line.first() {
            Some(b'<') if begins_any_case(line, b"<doc>") || begins_any_case(line, b"<doc ") => {
                docs += 1
            }
            Some(b'F') if line.starts_with(b"From ") => {
                messages += usize::from(lines.peek().is_some_and(|next| begins_field(next)));
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
        lines_of_arrows |= line.starts_with(b"==> ") && line.ends_with(b" <==");
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
        let flag = match lines_of_arrows {
            true => r"to read each as a document, use --split-at '^==> (?<docno>\S+) <==$'",
            false => "split them first, or at these lines with --split-at",
        };
        return Some((what, flag));
    }
    let marc = memchr::memchr_iter(b'\x1d', head).count();
    if marc >= few
        && head.get(20..24) == Some(b"4500")
        && head.iter().take(5).all(u8::is_ascii_digit)
    {
        let what = format!("{marc} records of MARC 21");
        return Some((what, "convert them to MARCXML first"));
    }
    let top = &head[..head.len().min(4 << 10)];
    let is_mime = begins_field(top) && memmem::find(top, b"\nMIME-Version:").is_some();
    (is_mime && memmem::find(top, b"boundary=").is_some()).then(|| {
        let what = "a mail message or another archive in MIME";
        (what.into(), "to read it as such, use --format eml")
    })
}

/// Delimiters of tables, and how a message calls them.
const DELIMITERS: [(u8, &str); 9] = [
    (b'\t', "tabs"),
    (b',', "commas"),
    (b';', "semicolons"),
    (b'|', "bars"),
    (b'^', "^"),
    (b'~', "~"),
    (b'\x01', "\\x01"),
    (b'\x14', "DC4"),
    (b'\x1f', "US"),
];

/// The longest delimiter that is looked for.
const LONGEST_DELIMITER: usize = 4;

/// A table, by the number of columns that its rows have in common.
fn table(head: &[u8], config: &ReadConfig) -> Option<String> {
    let first = lines(head).find(|line| !line.trim_ascii().is_empty())?;
    let mut kinds: Vec<(Mark, Cow<'_, str>)> = Vec::new();
    // Runs of punctuation, which are longer than a character.
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() && !b"\"'()<>[]{}/.-_=*#".contains(byte);
    for run in first.split(|byte| !is_mark(byte)) {
        if (2..=LONGEST_DELIMITER).contains(&run.len())
            && kinds.len() < 4
            && let Some(mark) = Mark::of(run)
        {
            kinds.push((mark, String::from_utf8_lossy(run)));
        }
    }
    kinds.extend(DELIMITERS.map(|(byte, what)| (Mark::byte(byte), what.into())));
    for (delimiter, what) in kinds {
        // A text has far fewer of them than lines.
        if delimiter.find(first).is_none() {
            continue;
        }
        let usual = matches!(*delimiter, [b'\t' | b',' | b';' | b'|']);
        let is_tab = *delimiter == *b"\t";
        let dialect = Dialect {
            quotes: usual && !is_tab,
            ..Dialect::of(delimiter, row_end(Some(delimiter), head))
        };
        let spaced_mark = [&*delimiter, b" "].concat();
        let mut shapes = rows(dialect, head, true).map(|row| {
            let inside = row.get(1..).unwrap_or_default();
            // In a text, a space follows a comma; a line of code has a bracket or a semicolon, and a
            // statement of SQL, which has commas without spaces, both.
            let spaced = !inside.contains(&b'"') && memmem::find(inside, &spaced_mark).is_some();
            let code = match row.trim_ascii_end() {
                [.., b')', b';'] => *delimiter != *b";",
                [.., b';' | b'{' | b'}' | b')' | b','] => !usual,
                _ => false,
            };
            (row, spaced || code)
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
        let rare = is_tab || delimiter.is_control() || delimiter.len() > 2;
        let enough = if rare || columns > 2 { ROWS } else { MANY_ROWS };
        is_text &= !is_tab && *delimiter != *b"|";
        if rows >= enough && odd * 20 <= rows && !is_text {
            let flags = flags_for_table(head, (usual, is_tab), &what, columns, config);
            return Some(format!(
                "looks like a table of {columns} columns with {what}; to read each row as a \
                 document, use {flags}"
            ));
        }
    }
    let columns = fixed_columns(head)?;
    Some(format!(
        "looks like a table of {columns} columns of fixed width; to read each row as a document, \
         convert it to CSV"
    ))
}

/// The flags that read a table: also what its reader says is needed to read its columns.
fn flags_for_table(
    head: &[u8],
    (usual, is_tab): (bool, bool),
    what: &str,
    columns: usize,
    config: &ReadConfig,
) -> String {
    let (flag, claim) = match (usual, is_tab) {
        (true, true) => ("--format tsv".into(), Claim::Tsv),
        (true, false) => ("--format csv".into(), Claim::Csv),
        (false, _) => {
            let flag = format!("--delimiter {}", shell_word(what));
            (flag, Claim::Content { named: false })
        }
    };
    let config = ReadConfig {
        delimiter: (!usual).then(|| what.into()),
        ..config.clone()
    };
    let Err((_, detail)) = Table::look(head, true, claim, &config) else {
        return flag;
    };
    let more = advised(&detail, "").unwrap_or_else(|| {
        // No column has more than numbers.
        let all: Vec<_> = (1..=columns).map(|at| at.to_string()).collect();
        flag_word("--text-field", &all.join(","))
    });
    format!("{flag} {more}")
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
        looks_like(text.as_bytes(), ContentKind::Text, &ReadConfig::default())
    }

    /// Each of these was one document, and nothing said so.
    #[test]
    fn what_looks_like_several_documents_is_named() {
        for (file, expected) in [
            ("1\t£\n2\t£\n3\t£\n", "of 2 columns with tabs"),
            ("a,b,c\n1,\"x, y\",£\n2,,z\n", "of 3 columns with commas"),
            ("a;b;c\r\n1;x;£\r\n2;;z\r\n", "of 3 columns with semicolons"),
            (
                "| a | b |\n|---|---|\n| 1 | 2 |\n",
                "of 4 columns with bars",
            ),
            ("a|b\n1|x\na|b\n1|x\na|b\n1|x\n", "of 2 columns with bars"),
            ("n   name    text\n¤¤¤¤¤¤", "of fixed width"),
            ("<doc id=1>\n£\n</doc>\n<doc id=2>\n", "2 records <DOC>"),
            ("x\nFrom a b\nTo: x\n\n£\nFrom c\nTo: y\n", "2 messages"),
            (
                "BABYL OPTIONS:\n\x1f\x0c\n1,,\n£\n\x1f\x0c\n1,,\n£\n\x1f",
                "MMDF or Babyl",
            ),
            (
                "\x01\x01\x01\x01\nTo: x\n\n£\n\x01\x01\x01\x01\n",
                "MMDF or Babyl",
            ),
            ("£\n{\"a\":1}\n{\"a\":2}\n", "2 JSON objects"),
            (
                "#!/bin/sh\n# This is a shell archive (x)\n",
                "a shell archive",
            ),
            ("=== a.txt ===\n£\n=== b/c ===\n£\n", "2 files"),
            ("==> a.c <==\n£\n==> b.c <==\n£\n", "2 files"),
            (
                "From: a\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n£\n",
                "in MIME",
            ),
        ] {
            let row = "1   abc     words\n";
            let bytes = file.replace('£', "some words of a text").replace('¤', row);
            // Behind a mark, and with CR at the ends of lines, nothing said so.
            let cr = bytes.replace("\r\n", "\n").replace('\n', "\r");
            for bytes in [format!("\u{feff}{bytes}"), cr, bytes] {
                let found = text(&bytes).unwrap_or_default();
                assert!(found.contains(expected), "{bytes:?}: {found}");
            }
        }
        let page = "<html><body>a</body></html>\n";
        for next in ["<!DOCTYPE html>\n<html>", "<!-- next --><HTML lang=en>"] {
            let pages = format!("{page}{next}");
            let found = looks_like(
                pages.as_bytes(),
                ContentKind::Markup,
                &ReadConfig::default(),
            )
            .unwrap();
            assert!(found.contains("several HTML pages"), "{found}");
        }
    }

    /// The guide has the line to type for each kind.
    #[test]
    fn the_guide_has_every_expression() {
        let guide = include_str!("../../../../../docs/guide/formats.md").replace("\\|", "|");
        for kind in &KINDS {
            kind.begins.parse::<SplitAt>().unwrap();
            let split = format!("`'{}'`", kind.split.unwrap_or(kind.begins));
            assert!(guide.contains(&split), "{}: {split}", kind.what);
        }
        assert_eq!(DATED_LINES.len(), DATED.len());
        assert!(guide.contains(DATED[1]));
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
            "---\ntitle: A\nlang: en\n---\n\nSome text\n\n---\n\nand more: of it\n",
            "---\ntitle: A\nlang: en\n---\n",
            "use a::b::c;\nuse a::b::d;\nuse a::c::e;\nuse b::c::d;\n",
            "f :: Int -> Int\nf a = b\n\ng :: a\n",
            "a && b\nb && c\nc && d\nd && e\ne && f\nf && g\n",
            "> quoted\n> text\n>more\nand an answer\n",
            ">one\nan answer of several words\n>two\n",
            "Er ist da.\nPT boats\nPT boats\n",
            "    An example\n    of RIS:\n\nTY  - JOUR\n\n    and\nso\non\nfor\nlines\nER  -\n",
            "@Table(name = \"title\")\n@Column{a}\ntitle = b\n",
            "2024-01-31  Ann\n\n\t* a.c: New.\n\n2024-01-30  Ben\n\n\t* b.c: New.\n",
            "12:00 Lunch\n13:00 Talk\n14:00 Talk\n15:00 Tea\n",
            "key: value\nother: value\n",
            "INSERT INTO t VALUES (1,'a');\nINSERT INTO t VALUES (2,'b');\nINSERT INTO t VALUES (3,'c');\n\
             INSERT INTO t VALUES (4,'d');\nINSERT INTO t VALUES (5,'e');\nINSERT INTO t VALUES (6,'f');\n",
            "@Sql(a=1,b)\n@Sql(b=2,c)\ntitle\n",
        ] {
            assert_eq!(text(one), None, "{one:?}");
        }
        let page = b"<html><body>&lt;/html>&lt;html></body></html>\n<!-- end -->\n";
        assert_eq!(
            looks_like(page, ContentKind::Markup, &ReadConfig::default()),
            None
        );
        // A table in a page is a part of it.
        assert_eq!(
            looks_like(
                b"a\tb\nc\td\ne\tf\n",
                ContentKind::Markup,
                &ReadConfig::default()
            ),
            None
        );
    }
}
