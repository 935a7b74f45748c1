//! Text files: a row is a line, and its cells are separated by tabs.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Cell, Column, Format};
use lookalike_base::push_decimal;

/// A cell of a text file: a backslash and control characters are escaped. A terminal would obey
/// some of them.
pub fn cell(text: &str) -> Cow<'_, str> {
    // Every control character has such a byte: those above ASCII are U+0080 to U+009F, which begin
    // with 0xc2. A test that does not end early is made for many bytes at once.
    let special = |byte: u8| byte < b' ' || byte == b'\\' || byte == 0x7f || byte == 0xc2;
    let any = text.bytes().fold(false, |any, byte| any | special(byte));
    if !any || !text.contains(|c: char| c == '\\' || c.is_control()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            control if control.is_control() => {
                for byte in control.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(escaped, "\\x{byte:02x}");
                }
            }
            plain => escaped.push(plain),
        }
    }
    Cow::Owned(escaped)
}

/// The bytes that [`cell`] escaped; `None` if it did not write this.
pub fn unescaped(cell: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !cell.contains(&b'\\') {
        return Some(cell.into());
    }
    let mut out = Vec::with_capacity(cell.len());
    let mut bytes = cell.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let hex = |digit: Option<&u8>| char::from(*digit?).to_digit(16);
        out.push(match bytes.next()? {
            b'\\' => b'\\',
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => (hex(bytes.next())? << 4 | hex(bytes.next())?) as u8,
            _ => return None,
        });
    }
    Some(out.into())
}

/// The comment lines and the line with the names of the columns.
pub fn header(parameters: &[(&str, String)], columns: &[Column]) -> String {
    let mut out = String::new();
    for (name, value) in parameters {
        let _ = writeln!(out, "# {name}: {value}");
    }
    let names = columns.iter().filter(|column| column.is_in(Format::Lines));
    let names: Vec<_> = names.map(|column| column.name).collect();
    out + &names.join("\t") + "\n"
}

/// Appends the line of a row.
pub fn push_row(lines: &mut String, columns: &[Column], cells: &[Cell<'_>]) {
    let cells = columns.iter().zip(cells);
    for (column, value) in cells.filter(|(column, _)| column.is_in(Format::Lines)) {
        push_cell(lines, *value, column.null.unwrap_or_default());
        lines.push('\t');
    }
    lines.pop();
    lines.push('\n');
}

/// Appends a value; `null` if there is none.
pub(super) fn push_cell(out: &mut String, value: Cell<'_>, null: &str) {
    let _ = match value {
        Cell::Null => out.write_str(null),
        Cell::Number(number) => {
            push_decimal(out, number);
            Ok(())
        }
        Cell::Real(number) => write!(out, "{number:.6}"),
        Cell::Measured(measure, [amount, a, b]) => out.write_str(&measure.text(amount, a, b)),
        Cell::Digest(digest) => write!(out, "{digest:032x}"),
        Cell::Text(text) => out.write_str(&cell(text)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_back() {
        for text in ["", "a\tb\\n\nc\r\\", "\u{1b}[31m\u{85}é", "\\x41"] {
            let escaped = cell(text);
            let bytes = unescaped(escaped.as_bytes()).unwrap();
            assert_eq!(std::str::from_utf8(&bytes).unwrap(), text);
        }
        for text in ["\\", "\\x", "\\x4", "\\xg0", "\\a"] {
            assert_eq!(unescaped(text.as_bytes()), None, "{text}");
        }
    }
}
