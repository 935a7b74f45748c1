//! Charts as SVG text: axes, gridlines, lines with markers, ranges, a legend.
//!
//! The drawing library gives shapes, coordinates and text, and no fonts: text is laid out by whoever shows
//! the figure, in its sans-serif. Axes are ours, so that ticks lie where the data are. Bytes depend on the
//! data alone.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Circle, PathElement, Polygon, Text};
use plotters::prelude::{
    Cartesian2d, DrawingArea, FontTransform, IntoDrawingArea, IntoFont, RGBColor, SVGBackend,
    ShapeStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, TextStyle};

use crate::{Error, Result};

/// Units to a pixel: the library's coordinates are whole, and a quarter of a pixel is not seen.
const SCALE: i32 = 4;

/// Pixels wide, whatever there is to show: the width of a page's text.
const WIDTH: i32 = 860;

/// Pixels high, unless the legend needs more.
const HEIGHT: i32 = 480;

/// Pixels around a panel: axis titles and tick labels are in these. More to the left of long labels.
const LEFT: i32 = 68;
const RIGHT: i32 = 14;
const TOP: i32 = 62;
const BOTTOM: i32 = 56;

/// Pixels of a line of the legend.
const LEGEND_LINE: i32 = 23;

/// Pixels of a character of the legend or of a tick label, with some to spare for wide fonts.
const CHARACTER: i32 = 7;

/// Pixels of what else is to the left of a panel: the axis' title and a tick.
const BESIDE_LABELS: i32 = 40;

/// Pixels from the legend's left end to its text: the sample of the line.
const LEGEND_SAMPLE: i32 = 46;

const BLACK: RGBColor = RGBColor(0x1a, 0x1a, 0x1a);
const GREY: RGBColor = RGBColor(0x55, 0x55, 0x55);
const GRID: RGBColor = RGBColor(0xde, 0xde, 0xde);
const FAINT_GRID: RGBColor = RGBColor(0xf0, 0xf0, 0xf0);
const WHITE: RGBColor = RGBColor(0xff, 0xff, 0xff);

/// Dark blue to orange, of evenly rising lightness, so that order is seen with any or no colour vision:
/// "plasma" (van der Walt & Smith 2015) without its yellow end, which white swallows.
const PALETTE: [(u8, u8, u8); 7] = [
    (13, 8, 135),
    (84, 2, 163),
    (139, 10, 165),
    (185, 50, 137),
    (219, 92, 104),
    (238, 121, 83),
    (249, 152, 60),
];

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    colour: RGBColor,
    /// Pixels.
    width: i32,
    dash: &'static [i32],
    marker: Marker,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Marker {
    None,
    Circle,
    Ring,
    Square,
    OpenSquare,
    Up,
    OpenUp,
    Down,
    OpenDown,
    Diamond,
    OpenDiamond,
    Cross,
    Dot,
}

/// Eleven, one for each of the paper's size groups; more groups take them again in other dashes.
const MARKERS: [Marker; 11] = [
    Marker::Circle,
    Marker::OpenSquare,
    Marker::Up,
    Marker::OpenDiamond,
    Marker::Square,
    Marker::Ring,
    Marker::Down,
    Marker::OpenUp,
    Marker::Diamond,
    Marker::OpenDown,
    Marker::Cross,
];

/// Pixels drawn and left out in turn; four, so that they and the markers come together again after 44.
const DASHES: [&[i32]; 4] = [&[], &[12, 5], &[4, 4], &[14, 4, 4, 4]];

impl Look {
    /// The `place`-th of `count` things in an order.
    pub(crate) fn ordered(place: usize, count: usize) -> Look {
        Look {
            colour: colour(place, count),
            width: 2,
            dash: DASHES[place % DASHES.len()],
            marker: MARKERS[place % MARKERS.len()],
        }
    }

    /// The same without markers.
    pub(crate) fn unmarked(self) -> Look {
        Look {
            marker: Marker::None,
            ..self
        }
    }

    /// The whole, beside its parts.
    pub(crate) fn whole() -> Look {
        Look {
            colour: BLACK,
            width: 4,
            dash: &[],
            marker: Marker::None,
        }
    }

    /// Many measured points.
    pub(crate) fn points() -> Look {
        Look {
            colour: colour(0, 2),
            width: 0,
            dash: &[],
            marker: Marker::Dot,
        }
    }

    /// A fitted line.
    pub(crate) fn fit() -> Look {
        Look {
            colour: colour(5, 6),
            width: 3,
            dash: &[],
            marker: Marker::None,
        }
    }
}

fn colour(place: usize, count: usize) -> RGBColor {
    let last = PALETTE.len() - 1;
    let along = if count > 1 {
        (place.min(count - 1) * last) as f64 / (count - 1) as f64
    } else {
        0.0
    };
    // At most the last but one, so that both ends are in the palette.
    let from = (along.floor() as usize).min(last - 1);
    let part = along - from as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    let (a, b) = (PALETTE[from], PALETTE[from + 1]);
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// A line through points; it is broken where a value is undefined.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// In the legend; empty for none.
    pub label: String,
    pub look: Look,
    pub points: Vec<(f64, Option<f64>)>,
}

/// Least, mean and greatest of some values at a place.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub look: Look,
    pub x: f64,
    pub least: f64,
    pub mean: f64,
    pub greatest: f64,
    /// The values themselves.
    pub values: Vec<f64>,
}

/// How many ticks there is room for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ticks {
    Ten,
    Five,
}

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub title: String,
    pub low: f64,
    pub high: f64,
    pub logarithmic: bool,
    /// Where, and what stands there: a gridline without text is fainter.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From `low` to `high`, which may be one number, with some ten ticks at round numbers, or half as many.
    pub(crate) fn linear(title: &str, low: f64, high: f64, ticks: Ticks) -> Axis {
        const STEPS: [f64; 8] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];
        let (low, high) = if high - low < 0.03 {
            (low - 0.05, high + 0.05)
        } else {
            (low, high)
        };
        let width = high - low;
        let most = match ticks {
            Ticks::Ten => 10.5,
            Ticks::Five => 5.5,
        };
        let fits = |step: &&f64| width / **step <= most;
        let step = STEPS.iter().find(fits).copied().unwrap_or(width / 10.0);
        let slack = step * 1e-6;
        let first = ((low - slack) / step).ceil() as i64;
        let last = ((high + slack) / step).floor() as i64;
        let digits = if step < 0.1 { 2 } else { 1 };
        let tick = |at: i64| {
            let value = at as f64 * step;
            (value, format!("{value:.digits$}"))
        };
        Axis {
            title: title.into(),
            low,
            high,
            logarithmic: false,
            ticks: (first..=last).map(tick).collect(),
        }
    }

    /// Powers of ten around `least` and `greatest`, both above 0, with the numbers between them.
    pub(crate) fn decades(title: &str, least: f64, greatest: f64) -> Axis {
        let from = least.log10().floor() as i32;
        let to = (greatest.log10().ceil() as i32).max(from + 1);
        let mut ticks = Vec::new();
        for power in from..=to {
            let one = 10f64.powi(power);
            ticks.push((one, thousands(one.round() as u64)));
            if power < to {
                ticks.extend((2..10).map(|k| (f64::from(k) * one, String::new())));
            }
        }
        Axis {
            title: title.into(),
            low: 10f64.powi(from),
            high: 10f64.powi(to),
            logarithmic: true,
            ticks,
        }
    }

    /// As it is drawn.
    fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            // Nothing drawn is 0 or less; if it were, it would lie at the axis.
            value.max(f64::MIN_POSITIVE).log10()
        } else {
            value
        }
    }
}

/// `1,000,000`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A pair of axes and what is drawn between them.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Above it; empty for none.
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    pub ranges: Vec<Range>,
}

/// A figure.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub title: String,
    /// Side by side. The legend names the lines of the first.
    pub panels: Vec<Panel>,
    pub legend_title: String,
    /// Where nothing can be shown: why.
    pub nothing: Option<String>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plane<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// What the library answers, in words.
type Drawn<T = ()> = std::result::Result<T, String>;

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Chart {
    /// The figure as SVG.
    pub(crate) fn svg(&self, file: &str) -> Result<String> {
        let mut body = String::new();
        let height = HEIGHT.max(TOP + BOTTOM + LEGEND_LINE * (self.legend_lines() as i32 + 1));
        self.draw(&mut body, height)
            .map_err(|message| Error::Figure {
                figure: file.into(),
                message,
            })?;
        // The library makes a picture as large as its units. A page shall show it in pixels, and a
        // reader that does not see it shall hear its title.
        let rest = body.split_once('>').map_or("", |(_, rest)| rest);
        let (wide, high) = (WIDTH * SCALE, height * SCALE);
        let title = self
            .title
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {wide} {high}\" role=\"img\">\n<title>{title}</title>{rest}"
        ))
    }

    fn legend(&self) -> impl Iterator<Item = &Line> {
        let lines = self.panels.iter().take(1).flat_map(|panel| &panel.lines);
        lines.filter(|line| !line.label.is_empty())
    }

    fn legend_lines(&self) -> usize {
        self.legend().count()
    }

    fn draw(&self, body: &mut String, height: i32) -> Drawn {
        let size = ((WIDTH * SCALE) as u32, (height * SCALE) as u32);
        let root = SVGBackend::with_string(body, size).into_drawing_area();
        root.fill(&WHITE).map_err(words)?;
        say(&root, &self.title, (LEFT, 14), &Style::bold(17))?;
        if let Some(why) = &self.nothing {
            let middle = (WIDTH / 2, height / 2);
            say(
                &root,
                why,
                middle,
                &Style::plain(15).at(HPos::Center, VPos::Center),
            )?;
            return root.present().map_err(words);
        }
        let longest = self.legend().map(|line| line.label.chars().count()).max();
        let legend = longest.map_or(0, |longest| {
            let title = self.legend_title.chars().count();
            let text = longest as i32 * CHARACTER + LEGEND_SAMPLE;
            text.max(title as i32 * CHARACTER) + 14
        });
        let count = self.panels.len().max(1) as i32;
        let each = (WIDTH - legend) / count;
        for (place, panel) in self.panels.iter().enumerate() {
            let left = place as i32 * each;
            panel.draw(&root, (left, left + each), height)?;
        }
        if legend > 0 {
            self.draw_legend(&root, WIDTH - legend)?;
        }
        root.present().map_err(words)
    }

    fn draw_legend(&self, root: &Area, left: i32) -> Drawn {
        let mut y = TOP + 6;
        if !self.legend_title.is_empty() {
            let style = Style::bold(13).at(HPos::Left, VPos::Center);
            say(root, &self.legend_title, (left, y), &style)?;
            y += LEGEND_LINE;
        }
        for line in self.legend() {
            let ends = [(left * SCALE, y * SCALE), ((left + 36) * SCALE, y * SCALE)];
            stroke(root, &ends, &line.look)?;
            mark(root, ((left + 18) * SCALE, y * SCALE), &line.look)?;
            let style = Style::plain(13).at(HPos::Left, VPos::Center);
            say(root, &line.label, (left + LEGEND_SAMPLE, y), &style)?;
            y += LEGEND_LINE;
        }
        Ok(())
    }
}

impl Panel {
    fn draw(&self, root: &Area, (left, right): (i32, i32), height: i32) -> Drawn {
        let longest = self.y.ticks.iter().map(|(_, text)| text.chars().count());
        let labels = longest.max().unwrap_or(0) as i32 * CHARACTER;
        let inner = left + LEFT.max(labels + BESIDE_LABELS);
        let (x0, x1) = (inner * SCALE, (right - RIGHT) * SCALE);
        let (y0, y1) = (TOP * SCALE, (height - BOTTOM) * SCALE);
        let low = (self.x.place(self.x.low), self.y.place(self.y.low));
        let high = (self.x.place(self.x.high), self.y.place(self.y.high));
        // The vertical axis of the picture runs downwards.
        let plane: Plane = root.apply_coord_spec(Cartesian2d::new(
            RangedCoordf64::from(low.0..high.0),
            RangedCoordf64::from(low.1..high.1),
            (x0..x1, y1..y0),
        ));
        let at = |x: f64, y: f64| plane.map_coordinate(&(self.x.place(x), self.y.place(y)));
        let centre = (inner + right - RIGHT) / 2;
        if !self.title.is_empty() {
            let style = Style::plain(14).at(HPos::Center, VPos::Bottom);
            say(root, &self.title, (centre, TOP - 6), &style)?;
        }
        for (value, text) in &self.x.ticks {
            let (x, _) = at(*value, self.y.low);
            path(root, &[(x, y0), (x, y1)], grid(text), SCALE as u32)?;
            if !text.is_empty() {
                path(root, &[(x, y1), (x, y1 + 5 * SCALE)], GREY, SCALE as u32)?;
                let style = Style::plain(13).at(HPos::Center, VPos::Top);
                say_units(root, text, (x, y1 + 9 * SCALE), &style)?;
            }
        }
        for (value, text) in &self.y.ticks {
            let (_, y) = at(self.x.low, *value);
            path(root, &[(x0, y), (x1, y)], grid(text), SCALE as u32)?;
            if !text.is_empty() {
                path(root, &[(x0 - 5 * SCALE, y), (x0, y)], GREY, SCALE as u32)?;
                let style = Style::plain(13).at(HPos::Right, VPos::Center);
                say_units(root, text, (x0 - 8 * SCALE, y), &style)?;
            }
        }
        path(root, &[(x0, y0), (x0, y1), (x1, y1)], GREY, SCALE as u32)?;
        let below = Style::plain(14).at(HPos::Center, VPos::Bottom);
        say(root, &self.x.title, (centre, height - 8), &below)?;
        let mut upright = Style::plain(14).at(HPos::Center, VPos::Top);
        upright.turned = true;
        let middle = (TOP + height - BOTTOM) / 2;
        say(root, &self.y.title, (left + 6, middle), &upright)?;
        // The whole is drawn first and broad, so that its parts are seen where they lie on it.
        for (place, line) in self.lines.iter().enumerate().rev() {
            self.draw_line(root, line, place, at)?;
        }
        for range in &self.ranges {
            draw_range(root, range, |value| at(range.x, value))?;
        }
        Ok(())
    }

    fn draw_line(
        &self,
        root: &Area,
        line: &Line,
        place: usize,
        at: impl Fn(f64, f64) -> (i32, i32),
    ) -> Drawn {
        for stretch in line.points.split(|(_, y)| y.is_none()) {
            let stretch = stretch.iter().filter_map(|&(x, y)| Some(at(x, y?)));
            let stretch: Vec<_> = stretch.collect();
            stroke(root, &stretch, &line.look)?;
            // A point by itself has no line to show it.
            if let ([point], Marker::None) = (stretch.as_slice(), line.look.marker) {
                let mut look = line.look;
                look.marker = Marker::Circle;
                mark(root, *point, &look)?;
            }
        }
        // Where there are many points, some twelve are marked, other ones on each line.
        let every = match line.look.marker {
            Marker::Dot => 1,
            _ => line.points.len().div_ceil(12).max(1),
        };
        for (number, &(x, y)) in line.points.iter().enumerate() {
            if let Some(y) = y
                && number % every == place % every
            {
                mark(root, at(x, y), &line.look)?;
            }
        }
        Ok(())
    }
}

fn draw_range(root: &Area, range: &Range, at: impl Fn(f64) -> (i32, i32)) -> Drawn {
    let (low, high, mean) = (at(range.least), at(range.greatest), at(range.mean));
    let cap = 7 * SCALE;
    let RGBColor(r, g, b) = range.look.colour;
    // Half of the colour on white: the library's opacity would show through what lies beneath.
    let pale = |c: u8| (255 - (255 - u16::from(c)) / 2) as u8;
    let pale = RGBColor(pale(r), pale(g), pale(b));
    for value in &range.values {
        // Beside the bar, which would hide them.
        let (x, y) = at(*value);
        let dot = Circle::new((x + 13 * SCALE, y), 5 * SCALE / 2, pale.filled());
        root.draw(&dot).map_err(words)?;
    }
    let colour = range.look.colour;
    let width = (2 * SCALE) as u32;
    path(root, &[low, high], colour, width)?;
    for (x, y) in [low, high] {
        path(root, &[(x - cap, y), (x + cap, y)], colour, width)?;
    }
    mark(root, mean, &range.look)
}

fn grid(text: &str) -> RGBColor {
    if text.is_empty() { FAINT_GRID } else { GRID }
}

/// How text looks.
struct Style {
    pixels: i32,
    bold: bool,
    turned: bool,
    position: Pos,
}

impl Style {
    fn plain(pixels: i32) -> Style {
        Style {
            pixels,
            bold: false,
            turned: false,
            position: Pos::new(HPos::Left, VPos::Top),
        }
    }

    fn bold(pixels: i32) -> Style {
        Style {
            bold: true,
            ..Style::plain(pixels)
        }
    }

    fn at(mut self, horizontal: HPos, vertical: VPos) -> Style {
        self.position = Pos::new(horizontal, vertical);
        self
    }
}

/// Text at a place in pixels.
fn say(root: &Area, text: &str, (x, y): (i32, i32), style: &Style) -> Drawn {
    say_units(root, text, (x * SCALE, y * SCALE), style)
}

fn say_units(root: &Area, text: &str, at: (i32, i32), style: &Style) -> Drawn {
    // The library writes sizes divided by this.
    const EM: f64 = 1.24;
    let size = f64::from(style.pixels * SCALE) * EM;
    let mut font = ("sans-serif", size).into_font();
    if style.bold {
        font = font.style(FontStyle::Bold);
    }
    if style.turned {
        font = font.transform(FontTransform::Rotate270);
    }
    let style = TextStyle::from(font).color(&BLACK).pos(style.position);
    root.draw(&Text::new(text.to_string(), at, style))
        .map_err(words)
}

fn path(root: &Area, points: &[(i32, i32)], colour: RGBColor, width: u32) -> Drawn {
    let style = colour.stroke_width(width);
    root.draw(&PathElement::new(points, style)).map_err(words)
}

/// A line in its dashes. The library has them for lines of its own kind only.
fn stroke(root: &Area, points: &[(i32, i32)], look: &Look) -> Drawn {
    let width = (look.width * SCALE / 2 * 2) as u32 * 3 / 4;
    if look.width == 0 || points.len() < 2 {
        return Ok(());
    }
    for piece in dashed(points, look.dash) {
        path(root, &piece, look.colour, width)?;
    }
    Ok(())
}

/// The drawn pieces of a line.
fn dashed(points: &[(i32, i32)], dash: &[i32]) -> Vec<Vec<(i32, i32)>> {
    if dash.iter().sum::<i32>() <= 0 {
        return vec![points.to_vec()];
    }
    let mut pieces = Vec::new();
    let mut lengths = dash.iter().map(|d| f64::from(d * SCALE)).cycle();
    let mut left = lengths.next().unwrap_or(f64::INFINITY);
    let mut pen_down = true;
    let mut piece: Vec<(i32, i32)> = points.first().copied().into_iter().collect();
    for ends in points.windows(2) {
        let &[(x0, y0), (x1, y1)] = ends else {
            continue;
        };
        let (dx, dy) = (f64::from(x1 - x0), f64::from(y1 - y0));
        let length = dx.hypot(dy);
        let mut gone = 0.0;
        while length - gone > left {
            gone += left;
            let x = x0 + (dx * gone / length).round() as i32;
            let y = y0 + (dy * gone / length).round() as i32;
            if pen_down {
                piece.push((x, y));
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![(x, y)];
            }
            pen_down = !pen_down;
            left = lengths.next().unwrap_or(f64::INFINITY);
        }
        left -= length - gone;
        if pen_down {
            piece.push((x1, y1));
        }
    }
    if pen_down && piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

/// A marker with a thin white edge, so that it stands out from lines that it lies on.
fn mark(root: &Area, (x, y): (i32, i32), look: &Look) -> Drawn {
    // Half a marker, in units; the shapes are of about the same area.
    let r = 4 * SCALE;
    let shape = |corners: &[(i32, i32)]| -> Vec<(i32, i32)> {
        corners.iter().map(|&(dx, dy)| (x + dx, y + dy)).collect()
    };
    let square = shape(&[(-r, -r), (r, -r), (r, r), (-r, r)]);
    let up = shape(&[(0, -r * 5 / 4), (r * 5 / 4, r), (-r * 5 / 4, r)]);
    let down = shape(&[(0, r * 5 / 4), (r * 5 / 4, -r), (-r * 5 / 4, -r)]);
    let diamond = shape(&[
        (0, -r * 3 / 2),
        (r * 3 / 2, 0),
        (0, r * 3 / 2),
        (-r * 3 / 2, 0),
    ]);
    match look.marker {
        Marker::None => Ok(()),
        Marker::Dot => circle(root, (x, y), 2 * SCALE, look.colour.filled()),
        Marker::Circle => {
            circle(root, (x, y), r + 2 * SCALE, WHITE.filled())?;
            circle(root, (x, y), r + SCALE / 2, look.colour.filled())
        }
        Marker::Ring => {
            circle(root, (x, y), r + SCALE / 2, WHITE.filled())?;
            let style = look.colour.stroke_width((3 * SCALE / 2) as u32);
            circle(root, (x, y), r, style)
        }
        Marker::Square => solid(root, square, look),
        Marker::OpenSquare => open(root, square, look),
        Marker::Up => solid(root, up, look),
        Marker::OpenUp => open(root, up, look),
        Marker::Down => solid(root, down, look),
        Marker::OpenDown => open(root, down, look),
        Marker::Diamond => solid(root, diamond, look),
        Marker::OpenDiamond => open(root, diamond, look),
        Marker::Cross => {
            let width = (3 * SCALE / 2) as u32;
            path(root, &[(x - r, y - r), (x + r, y + r)], look.colour, width)?;
            path(root, &[(x - r, y + r), (x + r, y - r)], look.colour, width)
        }
    }
}

fn circle(root: &Area, at: (i32, i32), radius: i32, style: ShapeStyle) -> Drawn {
    root.draw(&Circle::new(at, radius, style)).map_err(words)
}

fn solid(root: &Area, corners: Vec<(i32, i32)>, look: &Look) -> Drawn {
    let closed = closed(&corners);
    path(root, &closed, WHITE, (5 * SCALE / 2) as u32)?;
    root.draw(&Polygon::new(corners, look.colour.filled()))
        .map_err(words)
}

fn open(root: &Area, corners: Vec<(i32, i32)>, look: &Look) -> Drawn {
    let closed = closed(&corners);
    root.draw(&Polygon::new(corners, WHITE.filled()))
        .map_err(words)?;
    path(root, &closed, look.colour, (3 * SCALE / 2) as u32)
}

/// Back to the first corner and along the first side once more, which joins the ends.
fn closed(corners: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let around = corners.iter().chain(corners.iter().take(2));
    around.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_where_its_value_is_undefined() {
        let values = [Some(0.1), Some(0.2), None, Some(0.4), Some(0.5), Some(0.6)];
        let points = values.into_iter().enumerate();
        let chart = Chart {
            title: "a < b".into(),
            panels: vec![Panel {
                title: String::new(),
                x: Axis::linear("x", 0.0, 5.0, Ticks::Five),
                y: Axis::linear("y", 0.0, 1.0, Ticks::Ten),
                lines: vec![Line {
                    label: String::new(),
                    look: Look::whole(),
                    points: points.map(|(x, y)| (x as f64, y)).collect(),
                }],
                ranges: Vec::new(),
            }],
            legend_title: String::new(),
            nothing: None,
        };
        let svg = chart.svg("x.svg").unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let drawn = document
            .descendants()
            .filter(|n| n.has_tag_name("polyline") && n.attribute("stroke") == Some("#1A1A1A"));
        let lengths: Vec<usize> = drawn
            .map(|n| n.attribute("points").unwrap().split_whitespace().count())
            .collect();
        assert_eq!(lengths, [2, 3]);
        let title = document.descendants().find(|n| n.has_tag_name("title"));
        assert_eq!(title.unwrap().text(), Some("a < b"));
    }

    #[test]
    fn dashes_leave_gaps_and_turn_corners() {
        let corner = [(0, 0), (0, 80), (60, 80)];
        assert_eq!(dashed(&corner, &[]), [corner.to_vec()]);
        // In units: 48 drawn, 20 left out, then on from 68, around the corner at 80, until 116.
        let pieces = dashed(&corner, &[12, 5]);
        assert_eq!(pieces[0], [(0, 0), (0, 48)]);
        assert_eq!(pieces[1], [(0, 68), (0, 80), (36, 80)]);
        // The last begins at 136, four units before the end.
        assert_eq!(pieces[2], [(56, 80), (60, 80)]);
        assert_eq!(pieces.len(), 3);
    }

    #[test]
    fn ticks_are_round_numbers() {
        let texts = |axis: Axis| -> Vec<String> {
            let texts = axis.ticks.into_iter().map(|(_, text)| text);
            texts.filter(|text| !text.is_empty()).collect()
        };
        assert_eq!(
            texts(Axis::linear("", 0.49, 1.0, Ticks::Five)),
            ["0.5", "0.6", "0.7", "0.8", "0.9", "1.0"]
        );
        // One value gets room around it.
        assert_eq!(
            texts(Axis::linear("", 0.85, 0.85, Ticks::Five)),
            ["0.80", "0.82", "0.84", "0.86", "0.88", "0.90"]
        );
        assert_eq!(
            texts(Axis::decades("", 7.0, 2_345.0)),
            ["1", "10", "100", "1,000", "10,000"]
        );
        assert_eq!(texts(Axis::decades("", 1.0, 1.0)), ["1", "10"]);
    }
}
