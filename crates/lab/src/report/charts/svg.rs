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

/// The style of a page for [`Plot`](super::Plot), light and dark. It is part of a file, because an
/// image has no access to the styles of its page.
const STYLE: &str = "text{font:11px system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif;fill:#1b1f23}\
    .heading{font-size:13px;font-weight:600}.tick,.title{fill:#55606b}.paper{fill:#fff}polyline{stroke-linejoin:round}\
    .grid{stroke:#d4dae0}.axis,.leader{stroke:#7b858f}.line{stroke-width:2}.line.context{stroke-width:.75}\
    .line.s2{stroke-dasharray:6 4}.mean{stroke-width:3}.value{fill-opacity:.5}\
    polyline.ink{stroke:#1b1f23}polyline.s1{stroke:#2567a8}polyline.s2{stroke:#b2560d}polyline.s3{stroke:#00795c}\
    polyline.context{stroke:#7b858f}.ink{fill:#1b1f23}.s1{fill:#2567a8}.s2{fill:#b2560d}.s3{fill:#00795c}\
    .context{fill:#55606b}polyline.line,polyline.mean,polyline{fill:none}\
    @media (prefers-color-scheme:dark){text,.ink{fill:#e4e8ec}.tick,.title,.context{fill:#a3adb7}.paper{fill:#15181c}\
    .grid{stroke:#3a424b}.axis,.leader{stroke:#78828d}polyline.ink{stroke:#e4e8ec}polyline.s1{stroke:#6aa5e6}\
    polyline.s2{stroke:#e59a58}polyline.s3{stroke:#4cc09c}polyline.context{stroke:#78828d}.s1{fill:#6aa5e6}\
    .s2{fill:#e59a58}.s3{fill:#4cc09c}polyline.line,polyline.mean{fill:none}}";

impl Svg {
    /// A file. `title` describes it to readers who do not see it.
    pub(super) fn file(width: f64, height: f64, title: &str) -> Svg {
        let mut svg = Svg(String::new());
        let title = escaped(title);
        svg.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>"
        ));
        svg
    }

    /// Puts a drawing of this size into a file.
    pub(super) fn place(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), of: &Drawing) {
        let of = of.text();
        self.put(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">{of}</svg>"
        ));
    }

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

    /// The whole file.
    pub(super) fn finish(self) -> String {
        self.0 + "</svg>\n"
    }

    /// The drawing for a page.
    pub(super) fn drawing(self) -> Drawing {
        Drawing(self.finish())
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
