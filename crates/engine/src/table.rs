//! Read text tables: the lines of a file and their fields.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use lookalike_base::{Error, Result};
use lookalike_store::{Cell, Column, unescaped};
use lookalike_text::read::lines::{Lines, parsed, shorten};

/// A longer line is an error, because a line is read into memory whole. Docnos are far shorter.
const MOST_LINE_BYTES: usize = 16 << 20;

/// How fields are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// By tabs. In our own files `\t`, `\n`, `\r` and `\\` are escapes as in most languages.
    Tabs { escaped: bool },
    /// By commas or tabs, or one field, with quotes around fields that need them (RFC 4180). A
    /// record is one line.
    Quoted(Option<u8>),
    /// By spaces.
    Spaces,
    /// One JSON object per line.
    Json,
}

impl Shape {
    /// How the fields of this line are separated.
    fn of(line: &[u8], escaped: bool) -> Shape {
        let is_quoted = |field: &[u8]| matches!(field, [b'"', .., b'"']);
        // Other programs write numbers without quotes.
        let may_be = |field: &[u8]| is_quoted(field) || parsed::<f64>(field).is_some();
        let mut fields = line.split(|byte| *byte == b'\t');
        match line {
            [b'{', ..] => Shape::Json,
            _ if escaped => Shape::Tabs { escaped },
            _ if line.contains(&b'\t') => match is_quoted(fields.next().unwrap_or_default()) {
                true if is_quoted(line) || fields.all(may_be) => Shape::Quoted(Some(b'\t')),
                _ => Shape::Tabs { escaped },
            },
            _ if line.contains(&b',') => Shape::Quoted(Some(b',')),
            _ => Shape::Spaces,
        }
    }
}

/// Where to find a field.
enum Field {
    /// In the column of this number, from 0.
    At(usize),
    /// In the member of a JSON object with this dotted path.
    Path(String),
}

/// A file of lines with the same fields, compressed or not.
pub struct Table {
    lines: Lines,
    /// Whether the current line was not returned yet.
    pending: bool,
    shape: Shape,
    /// The comments `# name: value`, in their order.
    pub comments: Vec<(String, String)>,
    wanted: Vec<Field>,
}

impl Table {
    /// Opens a file of comma-separated values.
    pub fn open_commas(path: &Path) -> Result<Table> {
        let mut table = Table::open(path)?;
        table.shape = Shape::Quoted(Some(b','));
        Ok(table)
    }

    /// Opens a file, reads the comments at its start and examines the first line after them.
    pub fn open(path: &Path) -> Result<Table> {
        let mut table = Table {
            lines: Lines::open(path, MOST_LINE_BYTES)?,
            pending: false,
            shape: Shape::Spaces,
            comments: Vec::new(),
            wanted: Vec::new(),
        };
        loop {
            table.pending = table.lines.advance()?;
            let line = String::from_utf8_lossy(table.lines.line());
            match line.strip_prefix("# ") {
                Some(comment) if table.pending => {
                    if let Some((name, value)) = comment.split_once(": ") {
                        table.comments.push((name.into(), value.into()));
                    }
                }
                None if table.pending && line.is_empty() => {}
                _ => break,
            }
        }
        let line = table.lines.line();
        // The first field of the header of a page follows.
        if line.starts_with(b"PAR1\x15") {
            let help = "write it as CSV, for example with DuckDB: COPY (FROM 'FILE.parquet') TO 'FILE.csv'";
            return Err(Error::of(
                path,
                ": a Parquet file, but a table of text is read",
                help,
            ));
        }
        // The lists of `dedup` have no comments.
        let escaped = line.starts_with(b"file\trecord\toffset\tdocno")
            || table
                .comment("format")
                .is_some_and(|f| f.starts_with("lookalike "));
        table.shape = Shape::of(line, escaped);
        Ok(table)
    }

    /// Opens a file whose first lines may have one field each: the first line with more of them
    /// decides how they are separated.
    pub fn open_groups(path: &Path) -> Result<Table> {
        let (mut table, mut ahead) = (Table::open(path)?, Table::open(path)?);
        while ahead.advance()? {
            let line = ahead.lines.line();
            if memchr::memchr3(b'\t', b',', b' ', line).is_some() {
                table.shape = Shape::of(line, table.comment("format").is_some());
                break;
            }
        }
        Ok(table)
    }

    /// Takes a line that would be separated by spaces, or by this byte, as one field.
    pub fn want_lines(&mut self, or_by: Option<u8>) {
        if self.shape == Shape::Spaces || or_by.is_some() && self.shape == Shape::Quoted(or_by) {
            self.shape = Shape::Quoted(None);
        }
    }

    /// Splits lines at semicolons if the first line contains no tab, comma or space.
    pub fn want_semicolons(&mut self) {
        let line = self.lines.line();
        if self.shape == Shape::Spaces && line.contains(&b';') && !line.contains(&b' ') {
            self.shape = Shape::Quoted(Some(b';'));
        }
    }

    /// The value of the comment with this name.
    pub fn comment(&self, name: &str) -> Option<&str> {
        let found = self.comments.iter().rfind(|comment| comment.0 == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether each line is a JSON object.
    pub fn is_json(&self) -> bool {
        self.shape == Shape::Json
    }

    /// The fields of the first line, or the names of its members if it is JSON.
    pub fn first(&self) -> Result<Vec<String>> {
        if !self.pending {
            return Ok(Vec::new());
        }
        if self.is_json() {
            let value = self.json()?;
            let members = value
                .as_object()
                .map(|object| object.keys().cloned().collect());
            return Ok(members.unwrap_or_default());
        }
        let mut fields = Vec::new();
        self.split(|field| fields.push(String::from_utf8_lossy(&field).into_owned()))?;
        Ok(fields)
    }

    /// Selects columns by the names in the first line, or members of JSON objects.
    pub fn want_names(&mut self, names: &[&str]) -> Result<()> {
        if self.is_json() {
            self.wanted = names
                .iter()
                .map(|name| Field::Path(name.to_string()))
                .collect();
            return Ok(());
        }
        if !self.pending {
            return Ok(());
        }
        let header = self.first()?;
        for &name in names {
            let at = header.iter().position(|column| column == name);
            let at = at.ok_or_else(|| {
                self.bad(
                    format!("a header with a column `{name}`"),
                    shorten(self.lines.line()),
                )
            })?;
            self.wanted.push(Field::At(at));
        }
        self.pending = false;
        Ok(())
    }

    /// Selects columns by number, from 0.
    pub fn want_numbers(&mut self, numbers: &[usize]) {
        self.wanted = numbers.iter().map(|&at| Field::At(at)).collect();
    }

    /// Reads the next line that is not empty; `false` at the end.
    fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.pending) {
            return Ok(true);
        }
        while self.lines.advance()? {
            if !self.lines.line().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the selected fields of the next line that is not empty; `false` at the end.
    pub fn next(&mut self, fields: &mut Vec<Vec<u8>>) -> Result<bool> {
        if !self.advance()? {
            return Ok(false);
        }
        fields.resize_with(self.wanted.len(), Vec::new);
        if self.is_json() {
            let value = self.json()?;
            for (field, wanted) in fields.iter_mut().zip(&self.wanted) {
                field.clear();
                let Field::Path(name) = wanted else { continue };
                let member = name
                    .split('.')
                    .try_fold(&value, |value, part| value.get(part));
                // A name may contain a dot.
                let found = member.or_else(|| value.get(name)).ok_or_else(|| {
                    self.bad(format!("a member `{name}`"), shorten(self.lines.line()))
                })?;
                field.extend_from_slice(&scalar(found).ok_or_else(|| {
                    let found = shorten(found.to_string().as_bytes());
                    self.bad(format!("a string or a number in `{name}`"), found)
                })?);
            }
            return Ok(true);
        }
        let mut columns = 0;
        let mut found = 0usize;
        self.split(|text| {
            for (field, wanted) in fields.iter_mut().zip(&self.wanted) {
                if matches!(wanted, Field::At(at) if *at == columns) {
                    field.clear();
                    field.extend_from_slice(&text);
                    found += 1;
                }
            }
            columns += 1;
        })?;
        if found < self.wanted.len() {
            let most = self.wanted.iter().map(|wanted| match wanted {
                Field::At(at) => at + 1,
                Field::Path(_) => 0,
            });
            let least = most.max().unwrap_or(0);
            return Err(self.bad(format!("{least} columns or more"), columns.to_string()));
        }
        Ok(true)
    }

    /// Reads all fields of the next line that is not empty, or the elements of a JSON array; `false`
    /// at the end.
    pub fn next_all(&mut self, fields: &mut Vec<Vec<u8>>) -> Result<bool> {
        if !self.advance()? {
            return Ok(false);
        }
        fields.clear();
        let line = self.lines.line();
        if line.first() == Some(&b'[') {
            let wrong = || self.bad("a JSON array of strings or numbers", shorten(line));
            let values: Vec<Value> = serde_json::from_slice(line).map_err(|_| wrong())?;
            for value in &values {
                fields.push(scalar(value).ok_or_else(wrong)?.into_owned());
            }
            return Ok(true);
        }
        if self.is_json() {
            return Err(self.bad("docnos, or a JSON array of them", shorten(line)));
        }
        self.split(|field| fields.push(field.into_owned()))?;
        Ok(true)
    }

    /// The number of the current line, from 1.
    pub fn number(&self) -> u64 {
        self.lines.number()
    }

    /// An error in the current line.
    pub fn bad(&self, expected: impl ToString, found: impl ToString) -> Error {
        self.lines.bad(expected, found)
    }

    fn json(&self) -> Result<Value> {
        match serde_json::from_slice(self.lines.line()) {
            Ok(value @ Value::Object(_)) => Ok(value),
            _ => Err(self.bad("a JSON object", shorten(self.lines.line()))),
        }
    }

    /// Calls `take` for each field of the line.
    fn split<'l>(&'l self, mut take: impl FnMut(Cow<'l, [u8]>)) -> Result<()> {
        match self.shape {
            Shape::Json => {}
            Shape::Spaces => {
                let fields = self.lines.line().split(|byte| *byte == b' ');
                for field in fields.filter(|field| !field.is_empty()) {
                    take(field.into());
                }
            }
            Shape::Tabs { escaped } => {
                for field in self.lines.line().split(|byte| *byte == b'\t') {
                    let text = match escaped {
                        true => unescaped(field),
                        false => Some(field.into()),
                    };
                    let wrong = || self.bad(r"`\\`, `\t`, `\n`, `\r` or `\xNN`", shorten(field));
                    take(text.ok_or_else(wrong)?);
                }
            }
            Shape::Quoted(delimiter) => {
                let mut rest = self.lines.line();
                loop {
                    let (field, after) = match quoted(rest) {
                        // A line that is one name may begin with a quote.
                        Some((field, after)) if delimiter.is_some() || after.is_empty() => {
                            (field.into(), after)
                        }
                        None if delimiter.is_some() && rest.starts_with(b"\"") => {
                            return Err(self.bad("a closing quote", shorten(self.lines.line())));
                        }
                        _ => {
                            let end = delimiter.and_then(|byte| memchr::memchr(byte, rest));
                            let (field, after) = rest.split_at(end.unwrap_or(rest.len()));
                            (Cow::Borrowed(field), after)
                        }
                    };
                    take(field);
                    rest = match after.split_first() {
                        None => break,
                        Some((byte, after)) if Some(*byte) == delimiter => after,
                        Some(_) => {
                            let which = match delimiter {
                                Some(b'\t') => "tab",
                                Some(b';') => "semicolon",
                                _ => "comma",
                            };
                            let expected = format!("a {which} after a quoted field");
                            return Err(self.bad(expected, shorten(after)));
                        }
                    };
                }
            }
        }
        Ok(())
    }
}

/// The text of a string or a number.
fn scalar(value: &Value) -> Option<Cow<'_, [u8]>> {
    match value {
        Value::String(text) => Some(text.as_bytes().into()),
        Value::Number(number) => Some(number.to_string().into_bytes().into()),
        _ => None,
    }
}

/// The text of a quoted field, and what follows it.
fn quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut field = Vec::new();
    loop {
        let end = memchr::memchr(b'"', rest)?;
        field.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(b"\"") {
            Some(after) => {
                field.push(b'"');
                rest = after;
            }
            None => return Some((field, rest)),
        }
    }
}

/// A table whose columns have types: a result file of lookalike.
pub struct TypedTable {
    /// The lines before the rows, and the current line.
    pub table: Table,
    /// The columns of the file.
    pub columns: Vec<Column>,
}

impl TypedTable {
    /// Opens a text file with some of the columns `defined`.
    pub fn open(path: &Path, defined: &[Column]) -> Result<TypedTable> {
        let mut table = Table::open(path)?;
        let columns = if table.is_json() || !table.pending {
            defined.to_vec()
        } else {
            let names = table.first()?.into_iter();
            let named = names.map(|name| {
                let found = defined.iter().find(|column| column.name == name);
                let wrong = || table.bad("names of columns", shorten(name.as_bytes()));
                found.copied().ok_or_else(wrong)
            });
            let named = named.collect::<Result<_>>()?;
            table.pending = false;
            named
        };
        Ok(TypedTable { table, columns })
    }

    /// Passes on the cells of the next row; `None` at the end.
    pub fn row<R>(&mut self, take: impl FnOnce(&[Cell<'_>]) -> R) -> Result<Option<R>> {
        if !self.table.advance()? {
            return Ok(None);
        }
        let json;
        let mut fields = Vec::with_capacity(self.columns.len());
        if self.table.is_json() {
            json = self.table.json()?;
            for column in &self.columns {
                let text = json.get(column.name).and_then(scalar);
                fields.push(text.unwrap_or_default());
            }
        } else {
            self.table.split(|field| fields.push(field))?;
        }
        if fields.len() != self.columns.len() {
            let expected = format!("{} columns", self.columns.len());
            return Err(self.table.bad(expected, fields.len()));
        }
        let cells = self.columns.iter().zip(&fields).map(|(column, field)| {
            let text = std::str::from_utf8(field).ok();
            let cell = text.and_then(|text| column.parse(text));
            let expected = || format!("a value of {}", column.name);
            cell.ok_or_else(|| self.table.bad(expected(), shorten(field)))
        });
        Ok(Some(take(&cells.collect::<Result<Vec<_>>>()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str, numbers: &[usize]) -> Result<Vec<Vec<String>>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        std::fs::write(&path, text).unwrap();
        let mut table = Table::open(&path)?;
        table.want_numbers(numbers);
        let (mut all, mut row) = (Vec::new(), Vec::new());
        while table.next(&mut row)? {
            let text = |field: &Vec<u8>| String::from_utf8(field.clone()).unwrap();
            all.push(row.iter().map(text).collect());
        }
        Ok(all)
    }

    #[test]
    fn lines_of_every_shape() {
        for text in [
            "a\tb\t1\nc d\te\t2",
            "# by: hand\na\tb\t1\r\nc d\te\t2\r\n\r\n",
            "a,b,1\n\"c d\",e,2\n",
            "\u{feff}a,b,1\n\nc d,\"e\",2\n",
        ] {
            let found = fields(text, &[0, 2]).unwrap();
            assert_eq!(found, [["a", "1"], ["c d", "2"]], "{text}");
        }
        assert_eq!(fields("a  b 1\n c  d 2\n", &[1]).unwrap(), [["b"], ["d"]]);
        assert_eq!(
            fields("\"a \"\"b\"\", c\",d\n", &[0]).unwrap(),
            [["a \"b\", c"]]
        );
        assert_eq!(fields("a,\n", &[1]).unwrap(), [[""]]);
        let tabs = "\"a \"\"b\"\"\"\t\"1\"\nc\t\"\t\"\n";
        assert_eq!(
            fields(tabs, &[0, 1]).unwrap(),
            [["a \"b\"", "1"], ["c", "\t"]]
        );
        // Backslashes are escapes only in our own files.
        assert_eq!(fields("a\\tb\tc\n", &[0]).unwrap(), [["a\\tb"]]);
        let ours = "# format: lookalike 1\na\\tb\\\\\\n\\r\tc\n";
        assert_eq!(fields(ours, &[0]).unwrap(), [["a\tb\\\n\r"]]);
        let ours = "file\trecord\toffset\tdocno\na\\\\b\t1\t0\tc\\td\n";
        assert_eq!(fields(ours, &[0, 3]).unwrap()[1], ["a\\b", "c\td"]);
        assert!(fields("", &[0]).unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, says) in [
            ("a\tb\na\n", "line 2: expected 2 columns or more, found 1"),
            (
                "a,\"b\n",
                "line 1: expected a closing quote, found `a,\\\"b`",
            ),
            (
                "a,\"b\"c\n",
                "line 1: expected a comma after a quoted field, found `c`",
            ),
            (
                "# format: lookalike 1\na\\x\tb\n",
                "line 2: expected `\\\\`",
            ),
            (
                "{\"a\":1}\n[]\n",
                "line 2: expected a JSON object, found `[]`",
            ),
        ] {
            let error = fields(text, &[0, 1]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
