//! Lines, their labels, and the area in which they are drawn.

use super::axis::Axis;
use lookalike_base::keywords::keywords;

keywords! {
    /// The colour of a line, and its dash pattern.
    pub(crate) enum Tone {
        /// Colours with a meaning in the figure.
        First = "s1",
        Second = "s2",
        Third = "s3",
        /// Grey: lines that show what is usual.
        Context = "context",
    }
}

/// Where a value is undefined, a line is broken.
pub(crate) type Points = Vec<(f64, Option<f64>)>;

/// A line through points.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Empty for none.
    pub label: String,
    pub look: Tone,
    pub points: Points,
}

impl Line {
    pub(crate) fn new(label: impl Into<String>, look: Tone, points: Points) -> Line {
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
    fn labels_keep_their_order_and_do_not_overlap() {
        // The first two are wanted at one place: they keep their order.
        let places = apart(&[50.0, 50.0, 10.0, 99.0, 98.0], 0.0, 100.0, 17.0);
        assert_eq!(places, [49.0, 66.0, 10.0, 100.0, 83.0]);
        assert_eq!(apart(&[0.0, 0.0], 0.0, 100.0, 9.0), [0.0, 9.0]);
        assert_eq!(apart(&[], 0.0, 100.0, 9.0), [0.0; 0]);
    }
}
