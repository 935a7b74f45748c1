//! The few SVG elements that charts consist of.

use std::fmt::Write;

/// A drawing under construction. Coordinates are in pixels from the upper left corner.
pub(super) struct Svg(String);

/// Which end of a text is at the given coordinates.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Colours, light and dark. They are part of the drawing, because an image has no access to the
/// styles of its page.
const STYLE: &str = "text{font:13px system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif;fill:#1b1f23}\
                     .title{font-size:15px;font-weight:600}.soft{fill:#55606b}.paper{fill:#fff}\
                     polyline{fill:none;stroke-linejoin:round}.ink{stroke:#1b1f23}\
                     .axis{stroke:#8a949e}.grid{stroke:#dde2e7}.faint{stroke:#eef1f4}\
                     @media (prefers-color-scheme:dark){text{fill:#e4e8ec}.soft{fill:#a3adb7}\
                     .paper{fill:#15181c}.ink{stroke:#e4e8ec}.axis{stroke:#79838d}\
                     .grid{stroke:#333b43}.faint{stroke:#23292f}}";

impl Svg {
    /// An empty drawing. `title` describes it to readers who do not see it.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Svg {
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
}

/// Text escaped for XML. Control characters become U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || c as u32 & 0xfffe == 0xfffe => {
                escaped.push(char::REPLACEMENT_CHARACTER)
            }
            c => escaped.push(c),
        }
    }
    escaped
}
