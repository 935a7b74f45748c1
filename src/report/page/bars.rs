//! Bars, as SVG by hand: a row each, so that labels stay readable on a narrow screen.

use super::html::Html;

/// One row: a bar for each series, as a part of the longest.
pub(super) struct Row {
    pub label: String,
    /// Value and what is written beside its bar.
    pub bars: Vec<(f64, String)>,
}

const WIDTH: f64 = 360.0;
const LABEL: f64 = 84.0;
const VALUE: f64 = 56.0;
const BAR: f64 = 13.0;
const GAP: f64 = 7.0;

/// A figure of rows. Values are not negative.
pub(super) fn bars(html: &mut Html, what: &str, rows: &[Row]) {
    let greatest = rows
        .iter()
        .flat_map(|row| &row.bars)
        .fold(0.0, |most: f64, bar| most.max(bar.0));
    let height = |row: &Row| row.bars.len() as f64 * BAR + GAP;
    let all: f64 = rows.iter().map(height).sum();
    html.raw("<svg class=\"bars\" role=\"img\" viewBox=\"0 0 ")
        .show(WIDTH)
        .raw(" ")
        .show(all)
        .raw("\" aria-label=\"")
        .text(what)
        .raw("\">\n");
    let mut y = 0.0;
    for row in rows {
        let middle = y + (height(row) - GAP) / 2.0 + 4.0;
        html.raw("<text text-anchor=\"end\" x=\"")
            .show(LABEL - 8.0)
            .raw("\" y=\"")
            .show(middle)
            .raw("\">")
            .text(&row.label)
            .raw("</text>");
        for (series, (value, written)) in row.bars.iter().enumerate() {
            let part = if greatest > 0.0 {
                value / greatest
            } else {
                0.0
            };
            // What there is shows, however little.
            let least = if *value > 0.0 { 1.0 } else { 0.0 };
            let width = (part * (WIDTH - LABEL - VALUE)).max(least);
            html.raw(if series == 0 {
                "<rect class=\"one\" x=\""
            } else {
                "<rect class=\"two\" x=\""
            })
            .show(LABEL)
            .raw("\" y=\"")
            .show(y)
            .raw("\" height=\"")
            .show(BAR - 1.0)
            .raw("\" width=\"")
            .show(format_args!("{width:.1}"))
            .raw("\"/><text x=\"")
            .show(format_args!("{:.1}", LABEL + width + 5.0))
            .raw("\" y=\"")
            .show(y + BAR - 3.0)
            .raw("\">")
            .text(written)
            .raw("</text>");
            y += BAR;
        }
        html.raw("\n");
        y += GAP;
    }
    html.raw("</svg>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_its_place_and_none_is_lost() {
        let row = |value: f64| Row {
            label: "<a>".into(),
            bars: vec![(value, "x".into())],
        };
        let mut html = Html::default();
        bars(&mut html, "what", &[row(1e9), row(1.0), row(0.0)]);
        let text = String::from_utf8(html.as_bytes().to_vec()).unwrap();
        for width in ["width=\"220.0\"", "width=\"1.0\"", "width=\"0.0\""] {
            assert_eq!(text.matches(width).count(), 1, "{text}");
        }
        assert!(text.contains("&lt;a&gt;") && !text.contains("<a>"));
        let mut html = Html::default();
        bars(&mut html, "what", &[row(0.0)]);
        assert!(!String::from_utf8_lossy(html.as_bytes()).contains("NaN"));
    }
}
