//! Horizontal bars, so that labels are readable on a narrow screen.

use std::fmt::Write;

use lookalike::report::charts::{Drawing, escaped};

/// One row. Lengths are relative to the longest bar.
pub(crate) struct BarRow {
    pub label: String,
    /// Not negative.
    pub value: f64,
    /// The text beside the bar.
    pub text: String,
}

const WIDTH: f64 = 360.0;
const LABEL: f64 = 84.0;
const VALUE: f64 = 56.0;
const BAR: f64 = 13.0;
const GAP: f64 = 7.0;

/// Draws the rows, in the page's classes `bars` and `one`. `what` describes the figure to
/// readers who do not see it.
pub(crate) fn bars(what: &str, rows: &[BarRow]) -> Drawing {
    let greatest = rows.iter().map(|row| row.value);
    let greatest = greatest.fold(f64::MIN_POSITIVE, f64::max);
    let all = rows.len() as f64 * (BAR + GAP);
    let mut svg = format!(
        "<svg class=\"bars\" role=\"img\" viewBox=\"0 0 {WIDTH} {all}\" aria-label=\"{}\">\n",
        escaped(what)
    );
    let mut y = 0.0;
    for row in rows {
        // Every positive value is visible.
        let least = if row.value > 0.0 { 1.0 } else { 0.0 };
        let width = (row.value / greatest * (WIDTH - LABEL - VALUE)).max(least);
        let (end, x, base, high) = (LABEL - 8.0, LABEL + width + 5.0, y + BAR - 3.0, BAR - 1.0);
        // Writing to a string does not fail.
        let _ = writeln!(
            svg,
            "<text text-anchor=\"end\" x=\"{end}\" y=\"{base}\">{}</text>\
             <rect class=\"one\" x=\"{LABEL}\" y=\"{y}\" height=\"{high}\" width=\"{width:.1}\"/>\
             <text x=\"{x:.1}\" y=\"{base}\">{}</text>",
            escaped(&row.label),
            escaped(&row.text)
        );
        y += BAR + GAP;
    }
    Drawing(svg + "</svg>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_its_place_and_none_is_lost() {
        let row = |value: f64| BarRow {
            label: "<a>".into(),
            value,
            text: "x".into(),
        };
        let drawn = bars("\"what", &[row(1e9), row(1.0), row(0.0)]);
        for width in ["width=\"220.0\"", "width=\"1.0\"", "width=\"0.0\""] {
            assert_eq!(drawn.text().matches(width).count(), 1, "{}", drawn.text());
        }
        assert!(drawn.text().contains("&lt;a&gt;") && !drawn.text().contains("<a>"));
        assert!(drawn.text().contains("aria-label=\"&quot;what\""));
        assert!(!bars("what", &[row(0.0)]).text().contains("NaN"));
    }
}
