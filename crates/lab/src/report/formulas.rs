//! The formulas of a paper for a terminal.

use crate::formulas::FormulaRow;
use lookalike::report::terminal::{tabled, wrapped};

/// The results, a table for each formula, for a terminal of this number of columns.
pub fn formulas(rows: &[FormulaRow], width: usize) -> String {
    let mut out = String::new();
    let names = |row: &FormulaRow| row.values.iter().map(|value| value.0).collect::<Vec<_>>();
    let same = |a: &FormulaRow, b: &FormulaRow| {
        (a.place, a.about, names(a)) == (b.place, b.about, names(b))
    };
    for rows in rows.chunk_by(same) {
        let first = &rows[0];
        if !out.is_empty() {
            out.push('\n');
        }
        let title = format!("{}: {}", first.place, first.about);
        wrapped(&title, width, &mut out);
        out.push('\n');
        let mut columns = names(first);
        columns.push("result");
        let rows = rows.iter().map(|row| {
            let values = row.values.iter().map(|value| value.1.to_string());
            let result = row.result.map_or_else(|| "undefined".into(), number);
            values.chain([result]).collect()
        });
        tabled(columns, rows, width, &mut out).print(width, &mut out);
    }
    out
}

/// Six significant digits, or two decimals of a large number.
fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".into(),
        1e4.. => format!("{value:.2}"),
        1e-4.. => {
            let digits = 5 - size.log10().floor() as i32;
            format!("{value:.*}", digits.max(0) as usize)
        }
        _ => format!("{value:.5e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let shown = [0.0, 0.1089, 3_309.918, 932_403_182.29, 1.25e-18, 1.0].map(number);
        let expected = [
            "0",
            "0.108900",
            "3309.92",
            "932403182.29",
            "1.25000e-18",
            "1.00000",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn each_formula_has_a_table() {
        let row = |place, n: f64, result| FormulaRow {
            place,
            about: "about",
            values: vec![("n", n)],
            result,
        };
        let rows = [
            row("One", 1.0, Some(0.5)),
            row("One", 2.0, None),
            row("Two", 1.0, Some(2.0)),
        ];
        let text = formulas(&rows, 80);
        assert_eq!(text.matches("result").count(), 2, "{text}");
        assert!(
            text.contains("undefined") && text.contains("0.500000"),
            "{text}"
        );
    }
}
