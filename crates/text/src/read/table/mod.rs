//! Tables: which columns a CSV or TSV file has, and the document in a row.
//!
//! The first row decides all that a row depends on, and the first 64 KiB decide whether a TSV file
//! has quotes. So each row can be interpreted on its own, on any thread.

pub(super) mod frame_table;

use std::borrow::Cow;
use std::convert::Infallible;

use super::ground::bytes::MARK;
use super::ground::config::ReadConfig;
use super::ground::dialect::{Dialect, Mark, RowEnd, Scan};
use super::ground::fields::{
    FieldPath, ID_FIELDS, Known, NAMED, Step, TEXT_FIELDS, TYPE_FIELDS, URL_FIELDS, no_text, quoted,
};
use super::ground::outcome::{Interpreter, Outcome, refused};
use super::ground::record::{Field, Marks, Notice, RawDocument, Table};
use super::ground::resolve::{Level, Names, Texts, beside, is_null, no_docno, take_each, usual_of};
use super::ground::stream::ends_at_cr;
use lookalike_base::counted;
use lookalike_source::Reason;

/// Columns that a message lists.
const LISTED: usize = 40;
/// Characters of each that it shows.
const SHOWN: usize = 40;
/// The most bytes of a name of a column that is none of the usual ones.
const NAME: usize = 64;
/// The most words of one.
const WORDS: usize = 4;

/// Why a file is looked at as a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// `--format csv`, or the extension.
    Csv,
    /// `--format tsv`, or the extension.
    Tsv,
    /// Nothing but its bytes. `named` says that the extension belongs to another format.
    Content { named: bool },
}

/// A table and the byte at which its first row begins, or why it cannot be read; nothing if it is
/// something else.
pub(super) type Look = Result<Option<(Box<Table>, usize)>, Notice>;

/// The cells of a row that are wanted.
pub(super) struct Picked<'r> {
    /// Columns, in rising order, and their cells.
    pub cells: Vec<(usize, Cow<'r, [u8]>)>,
    /// The number of cells of the row, without empty ones behind the last column.
    pub count: usize,
}

impl<'r> Picked<'r> {
    fn get(&self, column: usize) -> Option<&[u8]> {
        let at = self
            .cells
            .binary_search_by_key(&column, |cell| cell.0)
            .ok()?;
        self.cells.get(at).map(|(_, cell)| &**cell)
    }

    /// Takes the cell of a column out.
    fn take(mut self, column: usize) -> Cow<'r, [u8]> {
        let cell = self.cells.iter_mut().find(|cell| cell.0 == column);
        cell.map(|(_, cell)| std::mem::take(cell))
            .unwrap_or_default()
    }

    fn name(&self, columns: &[usize]) -> Option<String> {
        columns.iter().find_map(|&column| {
            let name = String::from_utf8_lossy(self.get(column)?);
            let name = name.trim();
            (!name.is_empty()).then(|| name.to_string())
        })
    }
}

impl Dialect {
    /// The first row of these bytes, with its line end; `None` if it does not end in them.
    fn first_row(self, bytes: &[u8], ended: bool) -> Option<&[u8]> {
        let mut scan = Scan::new(self);
        match scan.feed(bytes) {
            (n, Some(RowEnd::Line)) => bytes.get(..n),
            (_, Some(RowEnd::Broken)) => None,
            (_, None) => (ended && scan.may_end() && !bytes.is_empty()).then_some(bytes),
        }
    }

    /// The first cell of a row, and what follows its delimiter, if it has one. Without `keep`, only
    /// its beginning may be there.
    fn first_cell(self, row: &[u8], keep: bool) -> (Cow<'_, [u8]>, Option<&[u8]>) {
        let to_delimiter = |bytes: &[u8]| match self.copied {
            true => find_bare(bytes, &self.delimiter),
            false => self.delimiter.find(bytes),
        };
        let (quote, step) = (&*self.quote, self.delimiter.len());
        let Some(inside) = row.strip_prefix(quote).filter(|_| self.quotes) else {
            return match to_delimiter(row) {
                Some(end) => (row[..end].into(), Some(&row[end + step..])),
                None => (row.into(), None),
            };
        };
        let mut cell = Cow::Borrowed(&inside[..0]);
        let mut rest = inside;
        let mut add = |bytes| match (&mut cell, keep) {
            (_, false) => {}
            (Cow::Borrowed(cell), true) if cell.is_empty() => *cell = bytes,
            (cell, true) => cell.to_mut().extend_from_slice(bytes),
        };
        loop {
            let end = self.next_quote(rest).unwrap_or(rest.len());
            add(&rest[..end]);
            rest = &rest[end..];
            let doubled = rest
                .strip_prefix(quote)
                .filter(|rest| rest.starts_with(quote));
            if doubled.is_some() {
                add(&rest[..quote.len()]);
                rest = &rest[2 * quote.len()..];
                continue;
            }
            match rest {
                [b'\\', escaped, ..] if self.escape => {
                    add(std::slice::from_ref(escaped));
                    rest = &rest[2..];
                }
                [] => return (cell, None),
                // Text after the quotes belongs to the cell.
                _ => {
                    let after = rest.strip_prefix(quote).unwrap_or_default();
                    let end = to_delimiter(after);
                    let more = &after[..end.unwrap_or(after.len())];
                    if !more.is_empty() {
                        add(more);
                    }
                    return (cell, end.map(|end| &after[end + step..]));
                }
            }
        }
    }

    /// The cells of a row in these columns, in rising order, and how many there are. Empty ones
    /// from `columns` on do not count.
    pub(super) fn pick<'r>(self, row: &'r [u8], columns: usize, wanted: &[usize]) -> Picked<'r> {
        let row = row.strip_suffix(&[self.end]).unwrap_or(row);
        let mut rest = Some(row.strip_suffix(b"\r").unwrap_or(row));
        let mut wanted = wanted.iter().peekable();
        let mut picked = Picked {
            cells: Vec::new(),
            count: 0,
        };
        let mut column = 0;
        while let Some(row) = rest {
            let is_wanted = wanted.next_if(|&&next| next == column).is_some();
            let (cell, next) = self.first_cell(row, is_wanted || column >= columns);
            if column < columns || !cell.trim_ascii().is_empty() {
                picked.count = column + 1;
            }
            if is_wanted {
                picked.cells.push((column, cell));
            }
            rest = next;
            column += 1;
        }
        picked
    }

    /// All cells of a row.
    pub(super) fn cells(self, row: &[u8]) -> Vec<String> {
        let count = self.pick(row, usize::MAX, &[]).count;
        let all: Vec<usize> = (0..count).collect();
        let cells = self.pick(row, usize::MAX, &all).cells.into_iter();
        let trimmed = |c: char| c.is_whitespace() || c == '\u{feff}';
        cells
            .map(|(_, cell)| String::from_utf8_lossy(&cell).trim_matches(trimmed).into())
            .collect()
    }
}

impl Table {
    /// Looks at the first bytes of a file, which may be all (`ended`).
    pub(super) fn look(head: &[u8], ended: bool, claim: Claim, config: &ReadConfig) -> Look {
        let body = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let mut begin = head.len() - body.len();
        let marks = config.marks(head);
        let end = row_end(marks.0, body);
        // Excel writes the delimiter into a line of its own.
        let mut hint = None;
        if let [b's', b'e', b'p', b'=', delimiter, b'\r' | b'\n', ..] = body {
            hint = Some(*delimiter);
            begin += 5;
        }
        let empty = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        begin += head[begin..].iter().take_while(empty).count();
        let body = &head[begin..];
        let delimiters: &[u8] = match (&hint, claim) {
            (Some(hint), _) => std::slice::from_ref(hint),
            (None, Claim::Csv) => b",\t;|",
            (None, Claim::Tsv) => b"\t",
            (None, Claim::Content { named: false }) if is_evident_collection(body, ended) => b"\t",
            (None, Claim::Content { .. }) => b"\t,;",
        };
        let delimiters: Vec<Mark> = match marks.0 {
            Some(delimiter) => vec![delimiter],
            None => delimiters.iter().copied().map(Mark::byte).collect(),
        };
        let given = config.columns.as_deref().map(names_of).unwrap_or_default();
        let rows = delimiters.iter().filter_map(|&delimiter| {
            let mut dialect = Dialect::of(delimiter, end);
            dialect.quote = marks.1.unwrap_or(dialect.quote);
            dialect.copied = is_copied(body, dialect);
            let row = dialect.first_row(body, ended).or_else(|| {
                // A quote may be a plain character.
                let quotes = false;
                Dialect { quotes, ..dialect }.first_row(body, ended)
            })?;
            let cells = dialect.cells(row);
            let fits = cells.len() == given.len();
            let rank = (fits || has_text(&cells, config), cells.len());
            Some((rank, dialect, row, cells))
        });
        // The first of several equal ones counts.
        let best = rows.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let is_given = marks.0.is_some() || marks.1.is_some();
        let is_content = matches!(claim, Claim::Content { .. });
        let best = best.filter(|(.., cells)| !is_content || !is_given || cells.len() > 1);
        let Some((_, mut dialect, row, cells)) = best else {
            return match body.len() {
                _ if is_content => Ok(None),
                0 => Err((Reason::MissingText, "it has no row".into())),
                length => {
                    let what = format!("its first row does not end within {length} bytes");
                    Err((Reason::BadRow, what))
                }
            };
        };
        let header = begin + row.len();
        let rows = &head[header..];
        if is_content
            && !is_given
            && delimiters.len() > 1
            && !is_evident(dialect, (row, &cells), rows, ended, config)
        {
            return Ok(None);
        }
        let (columns, first) = match () {
            () if !given.is_empty() => match cells == given {
                true => (given, header),
                false => (given, begin),
            },
            () if has_known(&cells, config) => (cells, header),
            () => match without_header(dialect, &cells, rows, config) {
                Some(columns) => (columns, begin),
                None if like_names(&cells) => (cells, header),
                None => {
                    let names = some_names(dialect, cells.len(), body, ended);
                    let detail = "its first row does not look like names of columns";
                    let detail = format!("{detail}: {}{NAMED}{names}", listed(&cells));
                    return Err((Reason::MissingText, detail));
                }
            },
        };
        let has_header = first == header;
        dialect.quotes = match (&config.quote, &*dialect.delimiter) {
            (Some(_), _) => marks.1.is_some(),
            (None, [b'\t']) if claim == Claim::Csv => true,
            (None, [b',' | b';' | b'|']) => true,
            (None, _) if dialect.delimiter.is_control() => false,
            (None, _) => has_quotes(&head[begin..], dialect, has_header),
        };
        dialect.escape = has_escapes(&head[begin..], dialect);
        dialect.copied = is_copied(&head[first..], dialect);
        match Table::new(dialect, &columns, config) {
            Some(table) => Ok(Some((Box::new(table), first))),
            None => Err(without_text(
                dialect,
                columns,
                (&head[first..], ended),
                config,
            )),
        }
    }

    /// A table with these columns; `None` if it has no column of text.
    fn new(dialect: Dialect, columns: &[String], config: &ReadConfig) -> Option<Table> {
        let named = |given: &Option<String>, usual| {
            let names = Names::of(given.as_deref(), usual);
            names.all(&columns).collect::<Vec<usize>>()
        };
        let texts = Texts::of(config);
        let texts = texts
            .fields(&columns)
            .into_iter()
            .map(|Field { name, ways }| Field {
                name: name.into_owned().into(),
                ways,
            });
        let text: Vec<Field<'static, usize>> = texts.collect();
        let ways = || text.iter().flat_map(|field| &field.ways);
        ways().next()?;
        let is_html = |&at: &usize| {
            columns
                .get(at)
                .is_some_and(|name| name.eq_ignore_ascii_case("html"))
        };
        let mut table = Table {
            htmls: ways().copied().filter(is_html).collect(),
            ids: named(&config.id_field, &ID_FIELDS),
            urls: named(&config.url_field, &URL_FIELDS),
            usual: usual_of(config, &text),
            titles: named(&None, &["title"]),
            kinds: named(&None, &TYPE_FIELDS),
            nulls: [&["\\N".to_string()], &config.null[..]].concat(),
            wanted: ways().copied().collect(),
            dialect,
            columns: columns.into(),
            text,
        };
        let lists = [&table.ids, &table.urls, &table.titles, &table.kinds];
        table.wanted.extend(lists.into_iter().flatten());
        table.wanted.sort_unstable();
        table.wanted.dedup();
        Some(table)
    }

    /// Why a row has no text.
    fn without_text(&self, row: &[u8]) -> String {
        let columns = self.text.iter().flat_map(|field| &field.ways);
        let names = columns.filter_map(|&at| self.columns.get(at));
        let names: Vec<_> = names.map(String::as_str).collect();
        let detail = match names.iter().all(|name| name.is_empty()) {
            true => "the cell is empty".into(),
            false => format!("nothing in {}", names.join(", ")),
        };
        match self.beside(row, b"") {
            Some((_, beside)) => format!("{detail}; {beside}"),
            None => detail,
        }
    }

    /// A warning about a cell of the usual column, if another cell of the row has the text.
    fn beside(&self, row: &[u8], cell: &[u8]) -> Option<(Reason, String)> {
        beside(self.usual?, cell, || {
            let all: Vec<usize> = (0..self.columns.len()).collect();
            let cells = self.pick(row, &all).cells.into_iter();
            let text = |(column, cell): (usize, Cow<'_, [u8]>)| {
                let name = quoted(self.columns.get(column)?).into_owned();
                Some((name, String::from_utf8_lossy(&cell).into_owned()))
            };
            cells.filter_map(text).collect()
        })
    }

    /// Whether a row repeats the header, as in tables that were put one after the other, perhaps with a
    /// byte order mark. Only if its texts may be their names, all its cells are looked at.
    fn is_header(&self, row: &[u8], picked: &Picked<'_>, texts: &[usize]) -> bool {
        let is_name = |&at: &usize| {
            // The texts are some of the columns.
            let (cell, name) = (picked.get(at).unwrap_or_default(), &*self.columns[at]);
            cell.ends_with(name.as_bytes()) && cell.len() <= name.len() + MARK.len()
        };
        let row = row.strip_prefix(MARK).unwrap_or(row);
        texts.iter().all(is_name) && self.dialect.cells(row) == self.columns
    }

    fn pick<'r>(&self, row: &'r [u8], wanted: &[usize]) -> Picked<'r> {
        let mut picked = self.dialect.pick(row, self.columns.len(), wanted);
        for (_, cell) in &mut picked.cells {
            if is_null(&self.nulls, cell) {
                *cell = Cow::Borrowed(b"");
            } else if self.dialect.copied && memchr::memchr(b'\\', cell).is_some() {
                *cell = without_escapes(cell).into();
            }
        }
        picked
    }
}

/// The names in `--columns`.
fn names_of(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().into()).collect()
}

/// The column of this name, in any case if none has the same case.
fn named(columns: &[String], name: &str) -> Option<usize> {
    let exact = columns.iter().position(|column| column == name);
    exact.or_else(|| {
        let mut columns = columns.iter();
        columns.position(|column| column.eq_ignore_ascii_case(name))
    })
}

/// The column of this number from 1.
fn numbered(columns: &[String], number: &str) -> Option<usize> {
    let place = number.trim().parse::<usize>().ok()?.checked_sub(1);
    place.filter(|&place| place < columns.len())
}

/// Whether all names are numbers, such as those that pandas makes. Only then a number that a flag
/// gives is a name before it is a place.
fn are_numbers(columns: &[String]) -> bool {
    let is_number = |cell: &String| cell.is_empty() || cell.parse::<f64>().is_ok();
    columns.iter().all(is_number)
}

/// The column that a flag names: by its number, or by its name.
fn column(columns: &[String], field: &str) -> Option<usize> {
    match numbered(columns, field) {
        Some(place) if !are_numbers(columns) => Some(place),
        place => named(columns, field).or(place),
    }
}

/// The names of the columns.
impl<'p> Level<'p> for &[String] {
    type Found = usize;

    fn whole(&self, name: &'p str) -> Option<usize> {
        column(self, name)
    }

    fn find(&self, path: &'p FieldPath<'p>) -> Option<usize> {
        column(self, path.literal.trim()).or_else(|| match &path.steps[..] {
            // In quotes, a number is a name.
            [Step::Name(name)] => named(self, name),
            _ => None,
        })
    }
}

/// Returns the byte that ends a row. The record separator is only used together with the unit
/// separator.
pub(super) fn row_end(delimiter: Option<Mark>, body: &[u8]) -> u8 {
    let is_unit = delimiter.is_some_and(|delimiter| *delimiter == *b"\x1f");
    match is_unit && memchr::memchr(b'\x1e', body).is_some() {
        true => b'\x1e',
        false if ends_at_cr(body) => b'\r',
        false => b'\n',
    }
}

/// Names for the columns of a table without a header: the longest is the text.
fn some_names(dialect: Dialect, count: usize, body: &[u8], ended: bool) -> String {
    let known = known_columns(dialect, vec![String::new(); count], body, ended);
    let text = (0..count).max_by_key(|&at| known[at].text);
    let name = |at| match at {
        _ if Some(at) == text => "text".into(),
        0 => "id".into(),
        _ => format!("column{}", at + 1),
    };
    (0..count).map(name).collect::<Vec<String>>().join(",")
}

/// A table without the column of the text.
fn without_text(
    dialect: Dialect,
    columns: Vec<String>,
    (rows, ended): (&[u8], bool),
    config: &ReadConfig,
) -> Notice {
    let next = dialect.first_row(rows, ended);
    let next = next.map_or(0, |row| dialect.pick(row, columns.len(), &[]).count);
    if next > columns.len() || matches!(&columns[..], [only] if only.starts_with('#')) {
        let detail = format!(
            "its first row has {} and the next {next}; remove what precedes the names of the columns",
            counted(columns.len() as u64, "cell"),
        );
        return (Reason::BadRow, detail);
    }
    let known = known_columns(dialect, columns, rows, ended);
    let detail = no_text(config.text_field.as_deref(), &TEXT_FIELDS, &known);
    (Reason::MissingText, detail)
}

/// The columns with the types that their first values have, for a message.
fn known_columns(dialect: Dialect, columns: Vec<String>, body: &[u8], ended: bool) -> Vec<Known> {
    const KINDS: [&str; 4] = ["empty", "integer", "number", "string"];
    let all: Vec<usize> = (0..columns.len()).collect();
    let mut seen = vec![(0, 0); columns.len()];
    for row in rows(dialect, body, ended) {
        for (column, cell) in dialect.pick(row, columns.len(), &all).cells {
            let text = std::str::from_utf8(&cell).map(str::trim);
            let kind = match text {
                Ok("") => 0,
                Ok(text) if text.parse::<i64>().is_ok() => 1,
                Ok(text) if text.parse::<f64>().is_ok() => 2,
                _ => 3,
            };
            // Only cells of these columns are picked.
            seen[column] = (kind.max(seen[column].0), seen[column].1 + cell.len());
        }
    }
    let known = columns
        .into_iter()
        .zip(seen)
        .map(|(path, (kind, length))| Known {
            path: match path.parse::<usize>() {
                Ok(_) => format!("\"{path}\""),
                Err(_) => quoted(&path).into_owned(),
            },
            kind: KINDS[kind].into(),
            text: (kind == 3).then_some(length),
        });
    known.collect()
}

/// The first columns, for a message.
fn listed(columns: &[String]) -> String {
    let shown = columns.iter().take(LISTED).map(|name| {
        let short: String = name.chars().take(SHOWN).collect();
        match short.len() < name.len() {
            true => format!("{short}…"),
            false if name.is_empty() => "(no name)".into(),
            false => short,
        }
    });
    let more = match columns.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.collect::<Vec<_>>().join(", ") + &more
}

/// Whether a cell is the name that a flag gives, and not its number.
fn has_given(cells: &[String], name: &str) -> bool {
    named(cells, name).is_some() && (are_numbers(cells) || numbered(cells, name).is_none())
}

/// Whether these cells name the column of the text.
fn has_text(cells: &[String], config: &ReadConfig) -> bool {
    match &config.text_field {
        Some(field) => field.split(',').any(|name| has_given(cells, name.trim())),
        None => TEXT_FIELDS.iter().any(|name| named(cells, name).is_some()),
    }
}

/// Whether these cells are a header: a name that is wanted, or one of the usual names, is in it.
fn has_known(cells: &[String], config: &ReadConfig) -> bool {
    let usual = [&TEXT_FIELDS[..], &ID_FIELDS, &URL_FIELDS, &["title"]];
    let given = [&config.id_field, &config.url_field];
    let mut given = given.into_iter().flatten();
    if cells.iter().any(|cell| cell.contains("://")) {
        return false;
    }
    has_text(cells, config)
        || given.any(|name| has_given(cells, name))
        || usual
            .concat()
            .iter()
            .any(|name| named(cells, name).is_some())
}

/// Whether a cell may be the name of a column.
fn like_name(cell: &str) -> bool {
    !cell.is_empty()
        && cell.len() <= NAME
        && cell.parse::<f64>().is_err()
        && cell.split_whitespace().count() <= WORDS
}

/// Whether cells may be the names of columns. Pandas leaves the name of an index empty.
fn like_names(cells: &[String]) -> bool {
    let cells = match cells {
        [first, rest @ ..] if first.is_empty() && !rest.is_empty() => rest,
        _ => cells,
    };
    cells.iter().all(|cell| like_name(cell))
}

/// The names of the columns of a table without a header: the names in MS MARCO's collections, or
/// none if every flag names its column by number.
fn without_header(
    dialect: Dialect,
    cells: &[String],
    rows: &[u8],
    config: &ReadConfig,
) -> Option<Vec<String>> {
    let is_id = |cell: &str| !cell.is_empty() && !cell.contains(char::is_whitespace);
    let names = like_names(cells);
    if let ([id, second, ..], b"\t") = (cells, &*dialect.delimiter)
        && is_id(id)
    {
        let quotes = false;
        let plain = Dialect { quotes, ..dialect };
        let next = plain.first_row(rows, true).map(|row| plain.cells(row));
        let alike = next.is_none_or(|next| {
            next.first()
                .is_some_and(|next| shape(next) == shape(id) && next != id)
        });
        let is_row = !names || id.contains(|c: char| c.is_ascii_digit()) && alike;
        let names: &[&str] = match cells.len() {
            2 if is_row => &["id", "text"],
            4 if second.starts_with("http") => &["id", "url", "title", "text"],
            _ => &[],
        };
        if !names.is_empty() {
            return Some(names.iter().map(|&name| name.into()).collect());
        }
    }
    let field = config.text_field.as_ref()?;
    let by_number = field
        .split(',')
        .all(|name| name.trim().parse::<usize>().is_ok());
    (by_number && !names).then(|| vec![String::new(); cells.len()])
}

/// A name with a `0` for each run of digits and an `a` for each run of letters.
fn shape(name: &str) -> String {
    let class = |c: char| match c {
        '0'..='9' => '0',
        _ if c.is_alphabetic() => 'a',
        _ => c,
    };
    let mut shape: Vec<char> = name.chars().map(class).collect();
    shape.dedup();
    shape.into_iter().collect()
}

/// The rows that end in these bytes.
pub(super) fn rows(dialect: Dialect, mut bytes: &[u8], ended: bool) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let empty = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        bytes = &bytes[bytes.iter().take_while(empty).count()..];
        let row = dialect.first_row(bytes, ended)?;
        bytes = &bytes[row.len()..];
        Some(row)
    })
}

/// Whether the bytes alone show a table: a header with the usual name of a text, all of whose names
/// are single words, and rows of as many cells.
fn is_evident(
    dialect: Dialect,
    (header, cells): (&[u8], &[String]),
    body: &[u8],
    ended: bool,
    config: &ReadConfig,
) -> bool {
    let is_name = |cell: &String| {
        let mut chars = cell.chars();
        chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    };
    if cells.len() < 2
        || header.contains(&b' ')
        || !cells.iter().all(is_name)
        || !has_text(cells, config)
    {
        return false;
    }
    let mut any = false;
    rows(dialect, body, ended).all(|row| {
        any = true;
        dialect.pick(row, cells.len(), &[]).count == cells.len()
    }) && any
}

/// Whether the bytes alone show a collection like MS MARCO's: three lines or more, each with a
/// number that no other has, a tab, and words.
fn is_evident_collection(body: &[u8], ended: bool) -> bool {
    let mut numbers = std::collections::HashSet::new();
    let whole = match memchr::memrchr(b'\n', body) {
        Some(end) if !ended || end + 1 == body.len() => &body[..end],
        _ => body,
    };
    let mut lines = whole.split(|&byte| byte == b'\n');
    memchr::memchr_iter(b'\n', whole).take(2).count() == 2
        && lines.all(|line| {
            let mut cells = line.split(|&byte| byte == b'\t');
            let (number, text) = (cells.next().unwrap_or_default(), cells.next());
            let words = text.map_or(0, |text| {
                text.split(u8::is_ascii_whitespace).take(3).count()
            });
            !number.is_empty()
                && number.iter().all(u8::is_ascii_digit)
                && words == 3
                && cells.next().is_none()
                && numbers.insert(number)
        })
}

/// Whether a TSV file has quotes. Writers that quote double every quote in a cell; those that do
/// not, such as MS MARCO's, leave it alone.
fn has_quotes(body: &[u8], dialect: Dialect, has_header: bool) -> bool {
    if !has_header {
        return false;
    }
    let (mut quoted, mut plain) = (0u32, 0u32);
    for line in body.split(|&byte| byte == dialect.end) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut cells = Some(line);
        while let Some(line) = cells {
            let end = dialect.delimiter.find(line);
            let cell = &line[..end.unwrap_or(line.len())];
            cells = end.map(|end| &line[end + dialect.delimiter.len()..]);
            let mut rest = cell.strip_prefix(b"\"").unwrap_or(cell);
            let (mut doubled, mut lone) = (false, false);
            while let Some(at) = memchr::memchr(b'"', rest) {
                let run = rest[at..].iter().take_while(|&&byte| byte == b'"').count();
                rest = &rest[at + run..];
                doubled |= run > 1;
                // At the end, one may close the cell.
                lone |= run % 2 == 1 && !rest.is_empty();
            }
            plain += u32::from(lone);
            quoted += u32::from(doubled && !lone);
        }
    }
    quoted >= plain
}

/// Whether a backslash stands before quotes that do not end their cell, and no quote is doubled.
fn has_escapes(body: &[u8], dialect: Dialect) -> bool {
    if *dialect.quote != *b"\"" {
        return false;
    }
    let mut found = false;
    for at in memchr::memchr_iter(b'"', body) {
        let next = body.get(at + 1).copied().unwrap_or(dialect.end);
        let before = at
            .checked_sub(1)
            .and_then(|before| body.get(before).copied());
        let at_edge =
            |byte| dialect.delimiter.contains(&byte) || [dialect.end, b'\r'].contains(&byte);
        if next == b'"' && before.is_some_and(|before| !at_edge(before) && before != b'\\') {
            return false;
        }
        found |= before == Some(b'\\') && !at_edge(next) && next != b'"';
    }
    found
}

/// Whether a table has the null of `COPY` (PostgreSQL) and `mysqldump --tab`, which escape line ends,
/// tabs and backslashes in cells.
fn is_copied(body: &[u8], dialect: Dialect) -> bool {
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| b"\t\r\n".contains(byte));
    let mut nulls = memchr::memmem::find_iter(body, b"\\N");
    let is_cell = |at: usize| {
        ends(at.checked_sub(1).and_then(|before| body.get(before))) && ends(body.get(at + 2))
    };
    let quoted = dialect.quotes && memchr::memmem::find(body, &dialect.quote).is_some();
    *dialect.delimiter == *b"\t" && !quoted && nulls.any(is_cell)
}

/// The first place of a delimiter that no backslash precedes, unless another one precedes that.
fn find_bare(bytes: &[u8], delimiter: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if bytes[at..].starts_with(delimiter) => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// A cell without the escapes of `COPY`.
fn without_escapes(cell: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(cell.len());
    let mut bytes = cell.iter().copied();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'v') => 11,
                Some(other) => other,
                None => byte,
            },
            byte => byte,
        });
    }
    out
}

impl Interpreter for Table {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let picked = self.pick(bytes, &self.wanted);
        let docno = picked.name(&self.ids).unwrap_or_default();
        let refused = |reason, detail: String| refused(Some(docno.clone().into()), reason, detail);
        let (count, columns) = (picked.count, self.columns.len());
        let cells = || format!("{count} cells; the table has {columns} columns");
        if count > columns {
            return refused(
                Reason::BadRow,
                format!("{}; a cell with the delimiter needs quotes", cells()),
            );
        }
        let mut notices = Vec::new();
        if count < columns {
            notices.push((Reason::BadRow, cells()));
        }
        notices.extend(no_docno(config).filter(|_| docno.is_empty()));
        let mut texts = Vec::new();
        // An empty cell is not text.
        let is_blank = |_: &usize| false;
        let Ok(missing) = take_each::<_, Infallible>(&self.text, is_blank, |&column| {
            let cell = picked.get(column);
            let is_text = cell.is_some_and(|text| !text.trim_ascii().is_empty());
            texts.extend(is_text.then_some(column));
            Ok(is_text)
        });
        notices.extend(missing);
        if texts.is_empty() {
            return refused(Reason::MissingText, self.without_text(bytes));
        }
        if self.is_header(bytes, &picked, &texts) {
            return refused(Reason::BadRow, "it repeats the header".into());
        }
        let url = picked.name(&self.urls).map(Cow::Owned);
        let title = picked.name(&self.titles);
        let kind = picked
            .name(&self.kinds)
            .map(|kind| kind.to_ascii_lowercase());
        let mut marks = Marks::default();
        let mut body: Cow<'a, [u8]> = match &texts[..] {
            &[column] => {
                marks.add(&[], self.htmls.contains(&column));
                picked.take(column)
            }
            _ => {
                let mut body = Vec::new();
                for column in &texts {
                    let text = picked.get(*column).unwrap_or_default();
                    marks.add(&body, self.htmls.contains(column));
                    if !body.is_empty() {
                        body.push(b'\n');
                    }
                    if (body.len() + text.len()) as u64 > config.max_document.0 {
                        let detail = format!("more than {} bytes of text", config.max_document.0);
                        return refused(Reason::TooLarge, detail);
                    }
                    body.extend_from_slice(text);
                }
                body.into()
            }
        };
        let (content, begins) = match marks.content(kind.as_deref(), &mut body, config) {
            Ok(found) => found,
            Err((reason, detail)) => return refused(reason, detail),
        };
        notices.extend(self.beside(bytes, &body));
        // A page in a cell is in the charset of the file, whatever it declares.
        let utf8 = content.is_markup() && std::str::from_utf8(&body).is_ok();
        Outcome::Document(RawDocument {
            url,
            title: title.map(Cow::Owned),
            charset: utf8.then(|| "utf-8".into()),
            begins,
            fields: self.usual.into_iter().map(Cow::Borrowed).collect(),
            notices,
            ..RawDocument::of(docno.into(), content, body)
        })
    }

    fn known(&self, bytes: &[u8]) -> Vec<Known> {
        known_columns(self.dialect, self.columns.clone(), bytes, true)
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        let id = self.ids.first()?;
        let picked = self.pick(head, &self.ids.iter().copied().take(1).collect::<Vec<_>>());
        // The last cell may go on.
        (picked.count > id + 1).then(|| picked.name(&self.ids))?
    }

    /// The cell of a column, by its name or number; `None` if it is empty.
    fn field(&self, bytes: &[u8], name: &str) -> Option<String> {
        let column = column(&self.columns, name)?;
        self.pick(bytes, &[column]).name(&[column])
    }
}
