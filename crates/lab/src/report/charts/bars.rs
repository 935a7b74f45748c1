//! Horizontal bars, so that labels are readable on a narrow screen.

use lookalike::report::page::markup::{Markup, html, plain};

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

/// The rows, in the page's classes `bars` and `one`. `what` describes the figure to readers who do
/// not see it.
pub(crate) fn bars(what: &str, rows: &[BarRow]) -> Markup {
    let greatest = rows.iter().map(|row| row.value);
    let greatest = greatest.fold(f64::MIN_POSITIVE, f64::max);
    let (end, each) = (LABEL - 8.0, BAR + GAP);
    // Every positive value is visible.
    let least = |value: f64| if value > 0.0 { 1.0 } else { 0.0 };
    let width = |value: f64| (value / greatest * (WIDTH - LABEL - VALUE)).max(least(value));
    html! {
        svg.bars role="img" viewBox={ "0 0 " (WIDTH) " " (rows.len() as f64 * each) } aria-label=(plain(what)) {
            @for (n, row) in rows.iter().enumerate() {
                @let (y, width) = (n as f64 * each, width(row.value));
                @let base = y + BAR - 3.0;
                text text-anchor="end" x=(end) y=(base) { (plain(&row.label)) }
                rect.one x=(LABEL) y=(y) height=(BAR - 1.0) width=(format!("{width:.1}")) {}
                text x=(format!("{:.1}", LABEL + width + 5.0)) y=(base) { (plain(&row.text)) }
            }
        }
    }
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
        let drawn = bars("\"what", &[row(1e9), row(1.0), row(0.0)]).into_string();
        for width in ["width=\"220.0\"", "width=\"1.0\"", "width=\"0.0\""] {
            assert_eq!(drawn.matches(width).count(), 1, "{}", drawn);
        }
        assert!(drawn.contains("&lt;a&gt;") && !drawn.contains("<a>"));
        assert!(drawn.contains("aria-label=\"&quot;what\""));
        assert!(!bars("what", &[row(0.0)]).into_string().contains("NaN"));
    }
}
