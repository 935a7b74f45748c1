//! The few SVG elements that charts consist of.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use lookalike::report::charts::{Drawing, escaped};
use lookalike_base::utf8::is_deceptive;

/// A drawing under construction. Coordinates are in pixels from the upper left corner.
pub(super) struct Svg(String);

/// Which end of a text is at the given coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// A drawing inside a page, of these classes, with the page's style. `about` describes it to
    /// readers who do not see it.
    pub(super) fn inline(class: &str, width: f64, height: f64, about: &str) -> Svg {
        let mut svg = Svg(String::new());
        let about = escaped(about);
        svg.put(format_args!(
            "<svg class=\"{class}\" role=\"img\" aria-label=\"{about}\" viewBox=\"0 0 {width} {height}\">"
        ));
        svg
    }

    /// Appends a line of markup.
    fn put(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{markup}");
    }

    /// A line through points. `style` has its attributes.
    pub(super) fn line(&mut self, points: &[(f64, f64)], style: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        self.put(format_args!(
            "<polyline points=\"{}\" {style}/>",
            points.join(" ")
        ));
    }

    /// A disc. `style` has its attributes.
    pub(super) fn disc(&mut self, (x, y): (f64, f64), radius: f64, style: &str) {
        self.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" {style}/>"
        ));
    }

    /// A text, unless it is empty; `y` is its base line.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        ));
    }

    /// The drawing for a page.
    pub(super) fn drawing(self) -> Drawing {
        Drawing(self.0 + "</svg>\n")
    }
}

/// Columns of a text in a font whose characters are all as wide as a digit, or twice as wide.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(1)).sum()
}

/// A text of at most this number of columns. A longer text is cut in the middle. Characters that
/// would change how others look are made visible first.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let text = visible(text);
    if columns(&text) <= most {
        return text;
    }
    let room = most.saturating_sub(1);
    let fits = |characters: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let taken = characters.take_while(|c| {
            used += c.width().unwrap_or(1);
            used <= room
        });
        taken.collect::<Vec<char>>()
    };
    let start = fits(&mut text.chars(), room - room / 3);
    let end = fits(&mut text.chars().rev(), room / 3);
    let (start, end) = (start.into_iter(), end.into_iter().rev());
    start.chain(['…']).chain(end).collect()
}

/// A text in which characters that are invisible and change how others look are code points, such
/// as `U+202E`. Combining characters at its start have nothing to combine with, and are dropped.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text
        .trim_start_matches(|c: char| c.width() == Some(0))
        .chars()
    {
        match is_deceptive(c) {
            true => out.push_str(&format!("U+{:04X}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shortened("sketch n = 100", 20), "sketch n = 100");
        let short = shortened("i-match lexicon = /a/long/path/terms.tsv", 20);
        assert_eq!(
            (short.as_str(), columns(&short)),
            ("i-match lexic…ms.tsv", 20)
        );
        let wide = shortened(&"漢".repeat(40), 20);
        assert!(columns(&wide) <= 20 && wide.contains('…'), "{wide}");
        assert_eq!(shortened("a\u{202e}b", 20), "aU+202Eb");
        assert_eq!(shortened("abc", 0), "…");
    }
}
