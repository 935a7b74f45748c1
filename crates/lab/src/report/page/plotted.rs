//! The figures of a paper drawn: small panels of lines, with their least and greatest values at the axes.
//!
//! All panels of a figure have the same axes. In grey are the lines of the other panels.

use super::head;
use crate::report::compared::Named;
use crate::reproduce::{Cell, Exhibit, Form, Plotted};
use lookalike::report::page::markup::{Markup, html, visible};

/// Limit on the panels of a figure.
const MOST_PANELS: usize = 24;
/// A line with at most this number of points has a dot at each.
const MOST_DOTS: usize = 24;
/// Pixels of a panel, which a page scales to the width of its column, and of the area of its lines.
const SIZE: (f64, f64) = (340.0, 190.0);
const ACROSS: (f64, f64) = (60.0, 332.0);
const UP: (f64, f64) = (166.0, 10.0);
/// The classes of lines.
const TONES: [&str; 3] = ["s1", "s2", "s3"];

/// An axis: the cells with its least and its greatest value, and how they are written.
struct Axis<'e> {
    ends: [(f64, &'e Cell); 2],
    form: Form,
    logarithmic: bool,
}

impl<'e> Axis<'e> {
    /// The axis of some columns. With `at_zero`, it begins at 0 unless it is logarithmic.
    fn of(
        exhibit: &'e Exhibit,
        columns: &[usize],
        logarithmic: bool,
        at_zero: bool,
    ) -> Option<Self> {
        let cells = exhibit
            .rows
            .iter()
            .flat_map(|row| columns.iter().map(|&at| &row[at]));
        let numbers = cells.filter_map(|cell| Some((cell.number()?, cell)));
        let mut all: Vec<_> = numbers.filter(|(n, _)| !logarithmic || *n > 0.0).collect();
        if at_zero && !logarithmic {
            all.push((0.0, &Cell::Count(0)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Axis {
            ends: [*all.first()?, *all.last()?],
            form: exhibit.columns[*columns.first()?].form,
            logarithmic,
        })
    }

    /// The place of a value in pixels.
    fn at(&self, value: f64, (from, to): (f64, f64)) -> Option<f64> {
        let place = |value: f64| if self.logarithmic { value.ln() } else { value };
        let [low, high] = self.ends.map(|(end, _)| place(end));
        let along = (place(value) - low) / (high - low);
        match high > low {
            true => along.is_finite().then_some(from + along * (to - from)),
            false => Some((from + to) / 2.0),
        }
    }

    /// The text at an end.
    fn text(&self, end: usize) -> String {
        self.ends[end].1.shown(self.form)
    }
}

/// The panels of a figure.
pub(super) fn plotted(exhibit: &Exhibit, plot: &Plotted) -> Markup {
    let column = |name: &String| exhibit.columns.iter().position(|of| of.name == *name);
    let y: Vec<usize> = plot.y.iter().filter_map(column).collect();
    let (along, by) = (column(&plot.x), plot.panels.as_ref().and_then(column));
    let axes = along.and_then(|x| {
        let across = Axis::of(exhibit, &[x], plot.logarithmic.0, false)?;
        Some((x, across, Axis::of(exhibit, &y, plot.logarithmic.1, true)?))
    });
    let Some((x, across, up)) = axes else {
        return html! {};
    };
    let group = |row: &[Cell]| by.map(|by| row[by].shown(Form::Text));
    let mut groups: Vec<Option<String>> = Vec::new();
    for row in &exhibit.rows {
        if !groups.contains(&group(row)) && y.iter().any(|&y| row[y].number().is_some()) {
            groups.push(group(row));
        }
    }
    // Where a value is undefined, a line is broken.
    let line = |of: &Option<String>, y: usize, tone: &str| {
        let rows = exhibit.rows.iter().filter(|row| group(row) == *of);
        let places = rows.map(|row| {
            let (x, y) = (row[x].number()?, row[y].number()?);
            Some((across.at(x, ACROSS)?, up.at(y, UP)?))
        });
        let places: Vec<Option<(f64, f64)>> = places.collect();
        let dots = tone != "context" && places.len() <= MOST_DOTS;
        html! {
            @for stretch in places.split(Option::is_none) {
                @let points: Vec<(f64, f64)> = stretch.iter().flatten().copied().collect();
                @let text: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                @if points.len() > 1 { polyline class={ "line " (tone) } points=(text.join(" ")) {} }
                // No line shows a single point.
                @if points.len() == 1 || dots {
                    @for (x, y) in points {
                        circle class={ "dot " (tone) } r="2.5" cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) {}
                    }
                }
            }
        }
    };
    let lines = || y.iter().zip(TONES.iter().cycle());
    let name = |y: usize| head(&exhibit.columns[y]);
    let logarithmic = match (across.logarithmic, up.logarithmic) {
        (true, true) => "Both axes are logarithmic.",
        (true, false) => "The horizontal axis is logarithmic.",
        (false, true) => "The vertical axis is logarithmic.",
        (false, false) => "",
    };
    html! {
        p.small {
            @for (&y, tone) in lines() {
                svg.key.plot width="22" height="8" { polyline class={ "line " (tone) } points="1,4 21,4" {} }
                " " (visible(&name(y))) @if exhibit.columns[y].is_paper() { ", in the paper" } " "
            }
            @if groups.len() > 1 { "In grey: " (visible(&name(y[0]))) " on the other panels. " }
            (logarithmic)
        }
        div.panels {
            @for of in groups.iter().take(MOST_PANELS) {
                @let title = of.as_ref().map_or_else(|| name(y[0]), |of| Named::of(of).label());
                figure.panel {
                    figcaption { b { (visible(&title)) } }
                    svg.plot role="img" aria-label=(visible(&format!("{}: {title}", exhibit.title)))
                        viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) } {
                        polyline.axis points={ (ACROSS.0) "," (UP.1) " " (ACROSS.0) "," (UP.0) " " (ACROSS.1) "," (UP.0) } {}
                        text.tick text-anchor="end" x=(ACROSS.0 - 5.0) y=(UP.0) { (up.text(0)) }
                        text.tick text-anchor="end" x=(ACROSS.0 - 5.0) y=(UP.1 + 4.0) { (up.text(1)) }
                        text.tick x=(ACROSS.0) y=(UP.0 + 16.0) { (across.text(0)) }
                        text.title text-anchor="middle" x=((ACROSS.0 + ACROSS.1) / 2.0) y=(UP.0 + 16.0) { (visible(&name(x))) }
                        text.tick text-anchor="end" x=(ACROSS.1) y=(UP.0 + 16.0) { (across.text(1)) }
                        @for other in groups.iter().filter(|other| *other != of) { (line(other, y[0], "context")) }
                        @for (&y, tone) in lines() { (line(of, y, tone)) }
                    }
                }
            }
        }
    }
}
