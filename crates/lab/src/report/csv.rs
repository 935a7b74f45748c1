//! Tables as CSV (RFC 4180, with line feeds).

use crate::reproduce::Cell;

/// A table with these columns, whose names are separated by commas.
pub(super) fn csv(columns: &str, rows: impl IntoIterator<Item = Vec<Cell>>) -> String {
    let mut table = ::csv::Writer::from_writer(Vec::new());
    let names = columns.split(',').map(String::from).collect::<Vec<_>>();
    let rows = rows
        .into_iter()
        .map(|row| row.iter().map(Cell::field).collect());
    for line in std::iter::once(names).chain(rows) {
        // Writing to memory does not fail, and all lines are equally long.
        let _ = table.write_record(line);
    }
    String::from_utf8(table.into_inner().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::cells;

    #[test]
    fn fields_are_quoted_and_lines_end_with_a_line_feed() {
        let row = cells!["a,b", "say \"x\"", 1_u64, 0.5, None::<u64>];
        let expected = "v,w,x,y,z\n\"a,b\",\"say \"\"x\"\"\",1,0.500000,\n";
        assert_eq!(csv("v,w,x,y,z", [row]), expected);
    }
}
