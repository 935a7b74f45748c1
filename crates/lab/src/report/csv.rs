//! Tables as CSV (RFC 4180, with line feeds).

use std::fmt::Display;

/// Lines of fields. The first line has the names of the columns.
pub(super) struct Csv(::csv::Writer<Vec<u8>>);

impl Csv {
    /// A table with these columns, whose names are separated by commas.
    pub(super) fn new(columns: &str) -> Csv {
        let mut table = Csv(::csv::Writer::from_writer(Vec::new()));
        table.line(columns.split(',').map(String::from));
        table
    }

    pub(super) fn line(&mut self, fields: impl IntoIterator<Item = String>) {
        // Writing to memory does not fail, and all lines are equally long.
        let _ = self.0.write_record(fields.into_iter().collect::<Vec<_>>());
    }

    pub(super) fn finish(self) -> String {
        let bytes = self.0.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

pub(super) fn text(field: impl Display) -> String {
    field.to_string()
}

/// A number in a cell: the shortest text that gives the same number when it is read; empty if it is
/// undefined.
pub(super) fn cell(number: Option<f64>) -> String {
    number.map_or_else(String::new, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_lines_end_with_a_line_feed() {
        let mut table = Csv::new("x,y,z");
        table.line(["a,b", "say \"x\"", "1"].map(String::from));
        assert_eq!(table.finish(), "x,y,z\n\"a,b\",\"say \"\"x\"\"\",1\n");
        assert_eq!(cell(Some(0.1 + 0.2)), "0.30000000000000004");
    }
}
