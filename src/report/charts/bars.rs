//! Horizontal bars, so that labels are readable on a narrow screen.

use std::fmt::Write;

use super::svg::{Drawing, escaped};

/// One row: a bar for each series. Lengths are relative to the longest bar.
pub(crate) struct BarRow {
    pub label: String,
    /// The value, which is not negative, and the text beside its bar.
    pub bars: Vec<(f64, String)>,
}

const WIDTH: f64 = 360.0;
const LABEL: f64 = 84.0;
const VALUE: f64 = 56.0;
const BAR: f64 = 13.0;
const GAP: f64 = 7.0;

/// Draws the rows, in the page's classes `bars`, `one` and `two`. `what` describes the figure to
/// readers who do not see it.
pub(crate) fn bars(what: &str, rows: &[BarRow]) -> Drawing {
    let values = rows.iter().flat_map(|row| &row.bars).map(|bar| bar.0);
    let greatest = values.fold(f64::MIN_POSITIVE, f64::max);
    let height = |row: &BarRow| row.bars.len() as f64 * BAR + GAP;
    let all: f64 = rows.iter().map(height).sum();
    let mut svg = format!(
        "<svg class=\"bars\" role=\"img\" viewBox=\"0 0 {WIDTH} {all}\" aria-label=\"{}\">\n",
        escaped(what)
    );
    let mut y = 0.0;
    for row in rows {
        let (x, middle) = (LABEL - 8.0, y + (height(row) - GAP) / 2.0 + 4.0);
        // Writing to a string does not fail.
        let _ = write!(
            svg,
            "<text text-anchor=\"end\" x=\"{x}\" y=\"{middle}\">{}</text>",
            escaped(&row.label)
        );
        for (series, (value, written)) in row.bars.iter().enumerate() {
            // Every positive value is visible.
            let least = if *value > 0.0 { 1.0 } else { 0.0 };
            let width = (value / greatest * (WIDTH - LABEL - VALUE)).max(least);
            let class = if series == 0 { "one" } else { "two" };
            let (x, base, high) = (LABEL + width + 5.0, y + BAR - 3.0, BAR - 1.0);
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{LABEL}\" y=\"{y}\" height=\"{high}\" width=\"{width:.1}\"/>\
                 <text x=\"{x:.1}\" y=\"{base}\">{}</text>",
                escaped(written)
            );
            y += BAR;
        }
        svg.push('\n');
        y += GAP;
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
            bars: vec![(value, "x".into())],
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
