//! Drawings for pages: SVG that takes its colours from the page's style. The figure of the report
//! page is vertical bars from left to right, with a mark on their axis.

use std::fmt::Write;

use lookalike_base::utf8::is_deceptive;

/// A drawing for a page, with all text in it escaped.
#[derive(Clone, Debug)]
pub struct Drawing(pub String);

impl Drawing {
    /// The markup.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Text escaped for XML. Control characters become U+FFFD; characters that are invisible and change
/// how others look become code points.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if is_deceptive(c) => escaped.push_str(&format!("U+{:04X}", u32::from(c))),
            c if c.is_control() || c as u32 & 0xfffe == 0xfffe => {
                escaped.push(char::REPLACEMENT_CHARACTER)
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// One bar: its label, its value and the text above it.
pub(crate) struct Column {
    pub label: String,
    pub value: u64,
}

/// A place on the axis: the number of columns before it, and its name.
pub(crate) type Place = (f64, String);

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 168.0;
/// Room for the name of the mark and the number above the highest bar.
const TOP: f64 = 34.0;
const BASE: f64 = HEIGHT - 18.0;
/// Room for the mark and the bars that would be below it.
const LEFT: f64 = 14.0;
/// The most columns of which each has a label.
const LABELLED: usize = 17;

/// Draws the columns, in the page's class `bars`. `what` describes the figure to readers who do not
/// see it; the values follow it.
pub(crate) fn columns(what: &str, columns: &[Column], (at, mark): &Place) -> Drawing {
    let greatest = columns.iter().map(|column| column.value).max();
    let greatest = greatest.unwrap_or(0).max(1) as f64;
    let step = (WIDTH - LEFT) / columns.len().max(1) as f64;
    let every = columns.len().div_ceil(LABELLED).max(1);
    let each = columns.iter();
    let each = each.map(|column| format!("{}: {}", column.label, column.value));
    let values: Vec<String> = each.collect();
    let mut svg = format!(
        "<svg class=\"bars\" role=\"img\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-label=\"{}: {}\">\n\
         <rect class=\"axis\" x=\"0\" y=\"{BASE}\" width=\"{WIDTH}\" height=\"1\"/>\n",
        escaped(what),
        escaped(&values.join(", ")),
    );
    for (n, column) in columns.iter().enumerate() {
        let x = LEFT + n as f64 * step;
        let middle = x + step / 2.0;
        // Every positive value is visible.
        let least = if column.value > 0 { 1.0 } else { 0.0 };
        let high = (column.value as f64 / greatest * (BASE - TOP)).max(least);
        // Writing to a string does not fail.
        let _ = write!(
            svg,
            "<rect class=\"one\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{high:.1}\"/>",
            x + 1.0,
            BASE - high,
            step - 2.0
        );
        if column.value > 0 {
            let _ = write!(
                svg,
                "<text text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>",
                BASE - high - 4.0,
                short(column.value)
            );
        }
        if n % every == 0 {
            let _ = write!(
                svg,
                "<text text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{}\">{}</text>",
                HEIGHT - 5.0,
                escaped(&column.label)
            );
        }
        svg.push('\n');
    }
    let x = LEFT + at * step - 1.0;
    let _ = writeln!(
        svg,
        "<rect class=\"mark\" x=\"{x:.1}\" y=\"2\" width=\"2\" height=\"{:.1}\"/>\
         <text x=\"{:.1}\" y=\"12\">{}</text>",
        BASE - 2.0,
        x + 6.0,
        escaped(mark)
    );
    Drawing(svg + "</svg>\n")
}

/// A count that is at most four characters wide: `950`, `1.2k`, `35k`, `4.1M`.
fn short(n: u64) -> String {
    let (unit, name) = match n {
        ..1_000 => return n.to_string(),
        1_000..1_000_000 => (1_000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    match n / unit {
        ..10 => format!("{}.{}{name}", n / unit, n % unit * 10 / unit),
        whole => format!("{whole}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bar_fills_its_place_and_none_is_lost() {
        let column = |value: u64| Column {
            label: "<a>".into(),
            value,
        };
        let drawn = columns(
            "\"what",
            &[column(1_000_000), column(1), column(0)],
            &(0.5, "t".into()),
        );
        for height in ["height=\"116.0\"", "height=\"1.0\"", "height=\"0.0\""] {
            assert_eq!(drawn.text().matches(height).count(), 1, "{}", drawn.text());
        }
        assert!(drawn.text().contains(">1.0M<") && !drawn.text().contains("<a>"));
        assert!(
            drawn
                .text()
                .contains("&quot;what: &lt;a&gt;: 1000000, &lt;a&gt;: 1, ")
        );
        assert!(
            !columns("what", &[], &(0.0, String::new()))
                .text()
                .contains("NaN")
        );
    }

    #[test]
    fn counts_are_short() {
        let texts = [0, 999, 1_000, 1_299, 35_999, 4_190_000, 2_000_000_000].map(short);
        assert_eq!(texts, ["0", "999", "1.0k", "1.2k", "35k", "4.1M", "2.0G"]);
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(
            escaped("<a b=\"\u{202e}\0\">&"),
            "&lt;a b=&quot;U+202E\u{fffd}&quot;&gt;&amp;"
        );
    }
}
