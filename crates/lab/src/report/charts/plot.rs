//! A small panel inside a page: lines with labels at the ends of the lines.
//!
//! A page shows several of them side by side. All have the same size, so panels with the same axes
//! can be compared. Colours, dashes and fonts come from the page's style.

use super::axis::Axis;
use super::line::{Area, Line, Tone, apart};
use super::svg::{Anchor, Svg, columns, shortened};
use lookalike::report::charts::Drawing;

/// Pixels of a panel. A page scales it to the width of its column.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 220.0;

/// Pixels above and below the panel.
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// Pixels of the title of an axis.
const TITLE: f64 = 16.0;

/// Pixels of a character of 11 pixels, with a margin for wide fonts.
const CHARACTER: f64 = 6.8;

/// Pixels from one label to the next.
const LABEL_LINE: f64 = 13.0;

/// Limit on the columns of a label.
const MOST_COLUMNS: usize = 16;

/// A line with at most this number of points has a dot at each.
const MOST_DOTS: usize = 24;

/// A panel.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// What the panel shows, for readers who do not see it.
    pub about: String,
    pub x: Axis,
    pub y: Axis,
    /// The first line is on top.
    pub lines: Vec<Line>,
}

impl Plot {
    /// The panel as markup.
    pub(crate) fn drawing(&self) -> Drawing {
        let room = |axis: &Axis| if axis.title.is_empty() { 0.0 } else { TITLE };
        let (above, below) = (room(&self.y), room(&self.x));
        let height = HEIGHT + above + below;
        let mut svg = Svg::inline("plot", WIDTH, height, &self.about);
        let ends: Vec<(&Line, (f64, f64))> = self
            .lines
            .iter()
            .filter(|line| !line.label.is_empty())
            .filter_map(|line| Some((line, line.end()?)))
            .collect();
        let width = |text: &str| columns(text) as f64 * CHARACTER;
        let ticks = self.y.ticks.iter().map(|(_, text)| width(text));
        let x0 = ticks.fold(0.0, f64::max) + 8.0;
        let labels = ends.iter();
        let labels = labels.map(|(line, _)| width(&shortened(&line.label, MOST_COLUMNS)) + 8.0);
        // The last tick may be at the end of the axis, below its middle.
        let last = self.x.ticks.last().map(|(_, text)| width(text) / 2.0);
        let x1 = WIDTH - labels.chain(last).fold(8.0, f64::max);
        let (y0, y1) = (TOP + above, height - below - BOTTOM);
        let (area, both) = (Area::new((x0, x1), (y0, y1)), (&self.x, &self.y));
        let at = |x: f64, y: f64| area.at(both, (x, y));
        axes(&mut svg, both, &area);
        if above > 0.0 {
            svg.text((0.0, 11.0), Anchor::Start, "title", &self.y.title);
        }
        if below > 0.0 {
            svg.text((x1, height - 4.0), Anchor::End, "title", &self.x.title);
        }
        for line in self.lines.iter().rev() {
            line.draw(&mut svg, at);
        }
        let wanted: Vec<f64> = ends.iter().map(|(_, (x, y))| at(*x, *y).1).collect();
        let (low, high) = (y0 + 4.0, y1 - 2.0);
        for ((line, (x, y)), place) in ends.iter().zip(apart(&wanted, low, high, LABEL_LINE)) {
            let (x, y) = at(*x, *y);
            if (place - y).abs() > 4.0 {
                svg.line(&[(x, y), (x1 + 5.0, place)], "class=\"leader\"");
            }
            let class = format!("label {}", line.look.text());
            let label = shortened(&line.label, MOST_COLUMNS);
            svg.text((x1 + 7.0, place + 3.5), Anchor::Start, &class, &label);
        }
        svg.drawing()
    }
}

/// Gridlines and the labels of the ticks. Labels that would touch their predecessor are left out.
fn axes(svg: &mut Svg, both: (&Axis, &Axis), area: &Area) {
    let (x0, x1, y1) = (area.left, area.right, area.bottom);
    let mut free = f64::NEG_INFINITY;
    for (value, text) in &both.0.ticks {
        let (x, _) = area.at(both, (*value, both.1.low));
        let half = columns(text) as f64 * CHARACTER / 2.0;
        svg.line(&[(x, y1), (x, y1 + 3.0)], "class=\"axis\"");
        if !text.is_empty() && x - half > free {
            svg.text((x, y1 + 15.0), Anchor::Middle, "tick", text);
            free = x + half + 4.0;
        }
    }
    let mut used: Vec<f64> = Vec::new();
    for (value, text) in &both.1.ticks {
        let (_, y) = area.at(both, (both.0.low, *value));
        if text.is_empty() || used.iter().any(|other| (other - y).abs() < 12.0) {
            continue;
        }
        used.push(y);
        svg.line(&[(x0, y), (x1, y)], "class=\"grid\"");
        svg.text((x0 - 5.0, y + 3.5), Anchor::End, "tick", text);
    }
    svg.line(&[(x0, y1), (x1, y1)], "class=\"axis\"");
}

impl Line {
    fn draw(&self, svg: &mut Svg, at: impl Fn(f64, f64) -> (f64, f64)) {
        let class = self.look.text();
        for stretch in self.stretches(at) {
            if stretch.len() > 1 {
                svg.line(&stretch, &format!("class=\"line {class}\""));
            }
            // No line shows a single point.
            let dots = self.look != Tone::Context && self.points.len() <= MOST_DOTS;
            if stretch.len() == 1 || dots {
                for point in stretch {
                    svg.disc(point, 2.5, &format!("class=\"dot {class}\""));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(label: &str, tone: Tone, points: &[(f64, Option<f64>)]) -> Line {
        Line::new(label, tone, points.to_vec())
    }

    #[test]
    fn axes_have_their_titles() {
        let plot = |title: &str| Plot {
            about: String::new(),
            x: Axis::linear(title, 0.0, 3.0, 3),
            y: Axis::linear(title, 0.0, 1.0, 5),
            lines: Vec::new(),
        };
        for (title, expected) in [("", 0), ("Recall", 2)] {
            let drawing = plot(title).drawing();
            assert_eq!(drawing.text().matches("class=\"title\"").count(), expected);
        }
    }

    #[test]
    fn lines_are_labelled_at_their_ends_unless_there_is_nothing() {
        let plot = Plot {
            about: "\"a\" <b>".into(),
            x: Axis::linear("", 0.0, 3.0, 3),
            y: Axis::linear("", 0.0, 1.0, 5),
            lines: vec![
                line(
                    "all",
                    Tone::Second,
                    &[
                        (0.0, Some(0.5)),
                        (1.0, Some(0.5)),
                        (2.0, None),
                        (3.0, Some(0.7)),
                    ],
                ),
                line("none", Tone::First, &[(0.0, None)]),
                line("", Tone::Context, &[(0.0, Some(0.1)), (3.0, Some(0.2))]),
            ],
        };
        let drawing = plot.drawing();
        let document = roxmltree::Document::parse(drawing.text()).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        assert_eq!(root.attribute("aria-label"), Some("\"a\" <b>"));
        let with = |class: &str| {
            let nodes = document.descendants();
            nodes
                .filter(|n| n.attribute("class") == Some(class))
                .count()
        };
        assert_eq!((with("line s2"), with("dot s2")), (1, 3));
        assert_eq!((with("line context"), with("dot context")), (1, 0));
        assert_eq!((with("label s2"), with("label s1")), (1, 0));
        assert!(!drawing.text().contains("NaN"));
        // Nothing is drawn outside: it would be at the edge.
        let frame: Vec<f64> = (root.attribute("viewBox").unwrap().split(' '))
            .map(|n| n.parse().unwrap())
            .collect();
        let inside = |x: &str, y: &str| {
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            assert!(
                0.0 <= x && x < frame[2] && 0.0 <= y && y < frame[3],
                "{x},{y}"
            );
        };
        for node in document.descendants() {
            for pair in node.attribute("points").unwrap_or("").split_whitespace() {
                let (x, y) = pair.split_once(',').unwrap();
                inside(x, y);
            }
            for (x, y) in [("x", "y"), ("cx", "cy")] {
                if let (Some(x), Some(y)) = (node.attribute(x), node.attribute(y)) {
                    inside(x, y);
                }
            }
        }
    }
}
