//! Lines, and the area in which they are drawn.

use super::axis::Axis;

/// Where a value is undefined, a line is broken.
pub(crate) type Points = Vec<(f64, Option<f64>)>;

/// A line through points.
#[derive(Clone, Debug)]
pub(crate) struct Line<L> {
    /// Empty for none.
    pub label: String,
    pub look: L,
    pub points: Points,
}

impl<L> Line<L> {
    pub(crate) fn new(label: impl Into<String>, look: L, points: Points) -> Line<L> {
        Line {
            label: label.into(),
            look,
            points,
        }
    }

    /// Whether any value is defined.
    pub(crate) fn is_defined(&self) -> bool {
        self.end().is_some()
    }

    /// The last point that is defined.
    pub(super) fn end(&self) -> Option<(f64, f64)> {
        let mut points = self.points.iter().rev();
        points.find_map(|&(x, y)| Some((x, y?)))
    }

    /// The places of the points between two breaks.
    pub(super) fn stretches(
        &self,
        at: impl Fn(f64, f64) -> (f64, f64),
    ) -> impl Iterator<Item = Vec<(f64, f64)>> {
        let stretches = self.points.split(|(_, y)| y.is_none());
        stretches.map(move |stretch| {
            let defined = stretch.iter().filter_map(|&(x, y)| Some(at(x, y?)));
            defined.collect()
        })
    }
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub(super) fn new((left, right): (f64, f64), (top, bottom): (f64, f64)) -> Area {
        Area {
            left,
            top,
            right,
            bottom,
        }
    }

    /// The place of a value in an area with these axes.
    pub(super) fn at(&self, (x_axis, y_axis): (&Axis, &Axis), (x, y): (f64, f64)) -> (f64, f64) {
        (
            self.left + x_axis.along(x) * (self.right - self.left),
            self.bottom - y_axis.along(y) * (self.bottom - self.top),
        )
    }
}
