//! Panels with axes, lines, points and whiskers.

use super::axis::Axis;
use super::line::{Area, Line};
use super::svg::{Anchor, Svg};

/// Pixels wide: the width of a page's text.
const WIDTH: f64 = 860.0;

/// Pixels high, if the labels of the lines do not need more.
const HEIGHT: f64 = 400.0;

/// Pixels above a panel, for its titles, below it and to its right.
const TOP: f64 = 76.0;
const BOTTOM: f64 = 52.0;
const RIGHT: f64 = 16.0;

/// Pixels from one label of a line to the next.
const LABEL_LINE: f64 = 17.0;

/// Pixels of a character, with a margin for wide fonts.
const CHARACTER: f64 = 7.0;

/// Pixels from a panel's right edge to the sample of a line and to its label.
const SAMPLE: f64 = 22.0;
const LABEL: f64 = 50.0;

/// A line with at most this number of points has a dot at each.
const MOST_DOTS: usize = 24;

/// Blue to orange: visible on white and on black, and in a clear order with any colour vision.
const PALETTE: [(u8, u8, u8); 5] = [
    (59, 91, 219),
    (134, 82, 214),
    (190, 75, 150),
    (222, 92, 84),
    (208, 135, 0),
];

/// Dash patterns in pixels. Lines of similar colours have different patterns.
const DASHES: [&str; 3] = ["", "8 3", "2 3"];

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// `None` for the colour of text.
    colour: Option<(u8, u8, u8)>,
    /// Pixels; 0 for points without a line.
    width: f64,
    dash: &'static str,
}

impl Look {
    /// The look of line number `place` of `count` ordered lines.
    pub(crate) fn ordered(place: usize, count: usize) -> Look {
        Look {
            colour: Some(colour(place, count)),
            width: 2.0,
            dash: DASHES.get(place % DASHES.len()).copied().unwrap_or(""),
        }
    }

    /// The look of the whole collection beside its groups.
    pub(crate) const WHOLE: Look = Look {
        colour: None,
        width: 3.5,
        dash: "",
    };

    /// Many measured points.
    pub(crate) const POINTS: Look = Look {
        colour: Some(PALETTE[0]),
        width: 0.0,
        dash: "",
    };

    /// A line fitted to points.
    pub(crate) const FIT: Look = Look {
        colour: Some(PALETTE[4]),
        width: 2.5,
        dash: "",
    };

    fn stroke(self, width: f64) -> String {
        let dash = match self.dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        match self.colour {
            None => format!("class=\"ink\" stroke-width=\"{width}\"{dash}"),
            Some((r, g, b)) => {
                format!("stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"{width}\"{dash}")
            }
        }
    }

    fn fill(self) -> String {
        let (r, g, b) = self.colour.unwrap_or((128, 128, 128));
        format!("fill=\"#{r:02x}{g:02x}{b:02x}\"")
    }
}

fn colour(place: usize, count: usize) -> (u8, u8, u8) {
    let last = PALETTE.len() - 1;
    let along = (place * last) as f64 / count.saturating_sub(1).max(1) as f64;
    // At most the last but one, because the next colour is also needed.
    let from = (along.floor() as usize).min(last - 1);
    let part = (along - from as f64).clamp(0.0, 1.0);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    let (a, b) = (PALETTE[from], PALETTE[from + 1]);
    (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Least, mean and greatest of some values at a place.
#[derive(Clone, Debug)]
pub(crate) struct Whisker {
    pub look: Look,
    pub x: f64,
    pub least: f64,
    pub mean: f64,
    pub greatest: f64,
    /// The values themselves.
    pub values: Vec<f64>,
}

/// A pair of axes with lines and whiskers.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Shown above the panel; empty for none.
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line<Look>>,
    pub whiskers: Vec<Whisker>,
}

/// A figure.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub title: String,
    /// Side by side.
    pub panels: Vec<Panel>,
    /// The reason why there is nothing to show.
    pub nothing: Option<String>,
}

impl Chart {
    pub(crate) fn new(title: &str, panels: Vec<Panel>) -> Chart {
        Chart {
            title: title.into(),
            panels,
            nothing: None,
        }
    }

    /// A figure without data, and the reason.
    pub(crate) fn empty(title: &str, why: &str) -> Chart {
        Chart {
            nothing: Some(why.into()),
            ..Chart::new(title, Vec::new())
        }
    }

    /// The figure as an SVG file.
    pub(crate) fn svg(&self) -> String {
        let labels = self.panels.iter().map(|panel| panel.labelled().count());
        let labels = labels.max().unwrap_or(0) as f64 * LABEL_LINE;
        let height = HEIGHT.max(TOP + BOTTOM + labels);
        let mut svg = Svg::new(WIDTH, height, &self.title);
        svg.text((RIGHT, 24.0), Anchor::Start, "title", &self.title);
        if let Some(why) = &self.nothing {
            svg.text((WIDTH / 2.0, height / 2.0), Anchor::Middle, "", why);
            return svg.finish();
        }
        let each = WIDTH / self.panels.len().max(1) as f64;
        for (place, panel) in self.panels.iter().enumerate() {
            let left = place as f64 * each;
            panel.draw(&mut svg, left, left + each, height);
        }
        svg.finish()
    }
}

impl Panel {
    /// A panel without whiskers.
    pub(crate) fn new(title: &str, x: Axis, y: Axis, lines: Vec<Line<Look>>) -> Panel {
        Panel {
            title: title.into(),
            x,
            y,
            lines,
            whiskers: Vec::new(),
        }
    }

    /// The lines with data, and where they end.
    fn labelled(&self) -> impl Iterator<Item = (&Line<Look>, (f64, f64))> {
        self.lines
            .iter()
            .filter_map(|line| Some((line, line.end()?)))
    }

    fn draw(&self, svg: &mut Svg, left: f64, right: f64, height: f64) {
        let longest = |texts: &mut dyn Iterator<Item = &String>| {
            texts.map(|text| text.chars().count()).max().unwrap_or(0) as f64 * CHARACTER
        };
        let x0 = left + RIGHT + longest(&mut self.y.ticks.iter().map(|tick| &tick.1)) + 8.0;
        let x1 = match longest(&mut self.labelled().map(|(line, _)| &line.label)) {
            0.0 => right - RIGHT,
            labels => right - labels - LABEL - RIGHT / 2.0,
        };
        let (y0, y1) = (TOP, height - BOTTOM);
        let area = Area::new((x0, x1), (y0, y1));
        let at = |x: f64, y: f64| area.at((&self.x, &self.y), (x, y));
        svg.text((left + RIGHT, TOP - 30.0), Anchor::Start, "", &self.title);
        let above = (left + RIGHT, TOP - 11.0);
        svg.text(above, Anchor::Start, "soft", &self.y.title);
        svg.text((x1, height - 10.0), Anchor::End, "soft", &self.x.title);
        let grid = |text: &str| match text {
            "" => "class=\"faint\"",
            _ => "class=\"grid\"",
        };
        for (value, text) in &self.x.ticks {
            let (x, _) = at(*value, self.y.low);
            svg.line(&[(x, y0), (x, y1)], grid(text));
            svg.text((x, y1 + 18.0), Anchor::Middle, "", text);
        }
        for (value, text) in &self.y.ticks {
            let (_, y) = at(self.x.low, *value);
            svg.line(&[(x0, y), (x1, y)], grid(text));
            svg.text((x0 - 7.0, y + 4.5), Anchor::End, "", text);
        }
        svg.line(&[(x0, y0), (x0, y1), (x1, y1)], "class=\"axis\"");
        // Lines are drawn from last to first: the first is on top.
        for line in self.lines.iter().rev() {
            line.draw(svg, at);
        }
        for whisker in &self.whiskers {
            whisker.draw(svg, |value| at(whisker.x, value));
        }
        let ends: Vec<_> = self
            .labelled()
            .map(|(line, (x, y))| (line, at(x, y)))
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        for ((line, end), y) in ends.iter().zip(apart(&wanted, y0, y1, LABEL_LINE)) {
            let (sample, text) = (x1 + SAMPLE, x1 + LABEL);
            let leader = line.look.stroke(0.7) + " opacity=\"0.6\"";
            svg.line(&[*end, (sample, y)], &leader);
            if line.look.width > 0.0 {
                let stroke = line.look.stroke(line.look.width);
                svg.line(&[(sample, y), (text - 5.0, y)], &stroke);
            } else {
                svg.disc(((sample + text) / 2.0, y), 3.0, &line.look.fill());
            }
            svg.text((text, y + 4.5), Anchor::Start, "", &line.label);
        }
    }
}

impl Line<Look> {
    fn draw(&self, svg: &mut Svg, at: impl Fn(f64, f64) -> (f64, f64)) {
        if self.look.width == 0.0 {
            for point in self.stretches(at).flatten() {
                svg.disc(point, 2.0, &self.look.fill());
            }
            return;
        }
        for stretch in self.stretches(at) {
            if stretch.len() > 1 {
                svg.line(&stretch, &self.look.stroke(self.look.width));
            }
            // No line shows a single point.
            if stretch.len() == 1 || self.points.len() <= MOST_DOTS {
                for point in stretch {
                    svg.disc(point, self.look.width / 2.0 + 2.0, &self.look.fill());
                }
            }
        }
    }
}

impl Whisker {
    fn draw(&self, svg: &mut Svg, at: impl Fn(f64) -> (f64, f64)) {
        for value in &self.values {
            // Beside the bar, which would hide the dots.
            let (x, y) = at(*value);
            svg.disc((x + 13.0, y), 2.5, &(self.look.fill() + " opacity=\"0.5\""));
        }
        let stroke = Look {
            dash: "",
            ..self.look
        }
        .stroke(2.0);
        let (low, high) = (at(self.least), at(self.greatest));
        svg.line(&[low, high], &stroke);
        for (x, y) in [low, high] {
            svg.line(&[(x - 7.0, y), (x + 7.0, y)], &stroke);
        }
        svg.disc(at(self.mean), 4.5, &self.look.fill());
    }
}

/// Places for labels near the wanted ones: in the same order, at least `line` apart, and between
/// `top` and `bottom` if there is room for all.
pub(super) fn apart(wanted: &[f64], top: f64, bottom: f64, line: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let place = |n: usize| wanted.get(n).copied().unwrap_or(top);
    order.sort_by(|&a, &b| place(a).total_cmp(&place(b)));
    let mut places = wanted.to_vec();
    let mut least = top;
    for &n in &order {
        if let Some(place) = places.get_mut(n) {
            *place = place.max(least);
            least = *place + line;
        }
    }
    let mut most = bottom;
    for &n in order.iter().rev() {
        if let Some(place) = places.get_mut(n) {
            *place = place.min(most);
            most = *place - line;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_where_its_value_is_undefined() {
        let values = [
            Some(0.1),
            Some(0.2),
            None,
            Some(0.4),
            Some(0.5),
            Some(0.6),
            None,
            Some(0.9),
        ];
        let points = values.into_iter().enumerate();
        let empty = Line::new("empty", Look::ordered(0, 2), vec![(0.0, None)]);
        let points = points.map(|(x, y)| (x as f64, y)).collect();
        let all = Line::new("all", Look::WHOLE, points);
        let x = Axis::linear("x", 0.0, 7.0, 5);
        let y = Axis::linear("y", 0.0, 1.0, 10);
        let chart = Chart::new("a < b", vec![Panel::new("", x, y, vec![all, empty])]);
        let svg = chart.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let drawn = document.descendants().filter(|n| {
            n.has_tag_name("polyline")
                && n.attribute("class") == Some("ink")
                && n.attribute("stroke-width") == Some("3.5")
        });
        let lengths: Vec<usize> = drawn
            .map(|n| n.attribute("points").unwrap().split_whitespace().count())
            .collect();
        // The last is the sample beside the label.
        assert_eq!(lengths, [2, 3, 2]);
        let discs = document.descendants().filter(|n| n.has_tag_name("circle"));
        assert_eq!(discs.count(), 6);
        let title = document.descendants().find(|n| n.has_tag_name("title"));
        assert_eq!(title.unwrap().text(), Some("a < b"));
        // A series without data has no label.
        assert!(svg.contains(">all<") && !svg.contains(">empty<"));
    }

    #[test]
    fn labels_keep_their_order_and_do_not_overlap() {
        // The first two are wanted at one place: they keep their order.
        let places = apart(&[50.0, 50.0, 10.0, 99.0, 98.0], 0.0, 100.0, LABEL_LINE);
        assert_eq!(places, [49.0, 66.0, 10.0, 100.0, 83.0]);
        assert_eq!(apart(&[0.0, 0.0], 0.0, 100.0, 9.0), [0.0, 9.0]);
        assert_eq!(apart(&[], 0.0, 100.0, 9.0), [0.0; 0]);
    }

    #[test]
    fn colours_are_those_of_the_palette_at_both_ends() {
        for count in [2, 3, 11, 60] {
            assert_eq!(colour(0, count), PALETTE[0]);
            assert_eq!(colour(count - 1, count), PALETTE[4]);
        }
        assert_eq!(colour(0, 1), PALETTE[0]);
        assert_eq!(colour(9, 2), PALETTE[4]);
    }
}
