//! Named marks on two axes; the area of a mark is a third number.
//!
//! # Algorithm
//! A label stands beside its mark, or a little further away with a thin line to its mark, where it
//! covers no other label and no mark. If there is no such place for some label, the labels without
//! a place form a column to the right of the panel, with lines that lead there. The drawing is as
//! high as this column needs.

use super::axis::Axis;
use super::line::{Area, Tone, apart};
use super::plot::{CHARACTER, axes};
use super::svg::{Anchor, Svg, columns, shortened};
use lookalike::report::charts::Drawing;

/// Pixels of the text in a label, and from one label of the column to the next.
const LABEL_HEIGHT: f64 = 13.0;
const LABEL_LINE: f64 = 15.0;

/// Pixels from a mark to its label.
const GAP: f64 = 3.0;

/// Pixels from a mark to a label that a line connects with it; the nearest free place is taken.
const FURTHER: [f64; 4] = [14.0, 28.0, 42.0, 56.0];

/// The smallest mark's radius in pixels.
const LEAST_RADIUS: f64 = 3.5;

/// Pixels above the panel, for the title of the vertical axis and the key of sizes, and below it.
const TOP: f64 = 46.0;
const BOTTOM: f64 = 40.0;

/// Pixels from the panel to the column of labels.
const LEADER: f64 = 22.0;

/// A mark.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub label: String,
    pub x: f64,
    pub y: f64,
    /// At least 0. The area of the mark is proportional to it.
    pub size: f64,
    pub tone: Tone,
}

/// The points to draw, and the width.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    /// What the figure shows, for readers who do not see it.
    pub about: String,
    pub x: Axis,
    pub y: Axis,
    pub marks: Vec<Mark>,
    /// Sizes of the key, with their labels.
    pub key: Vec<(f64, String)>,
    /// What the sizes of the key are.
    pub key_title: String,
    /// Pixels.
    pub width: f64,
    pub height: f64,
    /// Radius of the largest mark in pixels.
    pub radius: f64,
    /// Limit on the columns of a label.
    pub label_columns: usize,
}

impl Area {
    fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// The horizontal place of a text with this anchor.
    fn anchored(&self, anchor: Anchor) -> f64 {
        match anchor {
            Anchor::Start => self.left,
            Anchor::Middle => (self.left + self.right) / 2.0,
            Anchor::End => self.right,
        }
    }

    fn within(&self, outer: &Area) -> bool {
        self.left >= outer.left
            && self.right <= outer.right
            && self.top >= outer.top
            && self.bottom <= outer.bottom
    }
}

/// A label and its place.
#[derive(Clone, Debug)]
struct Placed {
    text: String,
    area: Area,
    /// Where the text touches the mark if it is narrower than the area.
    anchor: Anchor,
    /// The line from the mark to a label that does not touch it.
    leader: Option<[(f64, f64); 2]>,
}

/// Places of everything.
#[derive(Clone, Debug)]
struct Layout {
    panel: Area,
    height: f64,
    /// Centre and radius of each mark.
    discs: Vec<(f64, f64, f64)>,
    labels: Vec<Placed>,
    /// Whether some labels found no place near their marks.
    crowded: bool,
}

/// A place for a label near its mark.
#[derive(Clone, Copy, Debug)]
struct Place {
    area: Area,
    anchor: Anchor,
    /// Whether a line connects it with the mark.
    leader: bool,
}

impl Scatter {
    fn radius(&self, size: f64) -> f64 {
        let sizes = self.marks.iter().map(|mark| mark.size);
        let sizes = sizes.chain(self.key.iter().map(|key| key.0));
        let greatest = sizes.fold(f64::MIN_POSITIVE, f64::max);
        (self.radius * (size.max(0.0) / greatest).sqrt()).max(LEAST_RADIUS)
    }

    fn label(&self, mark: &Mark) -> (String, f64) {
        let text = shortened(&mark.label, self.label_columns);
        let width = columns(&text) as f64 * CHARACTER;
        (text, width)
    }

    fn layout(&self) -> Layout {
        let widths = self.marks.iter().map(|mark| self.label(mark).1);
        let column = LEADER + widths.fold(0.0, f64::max);
        let alone = self.placed(0.0);
        match alone.crowded {
            true => self.placed(column),
            false => alone,
        }
    }

    /// Places with this number of pixels for the column of labels.
    fn placed(&self, column: f64) -> Layout {
        let ticks = self.y.ticks.iter();
        let ticks = ticks.map(|(_, text)| columns(text) as f64 * CHARACTER);
        let left = ticks.fold(0.0, f64::max) + 8.0;
        let needed = self.marks.len() as f64 * LABEL_LINE + TOP + BOTTOM;
        let height = match column > 0.0 {
            true => self.height.max(needed),
            false => self.height,
        };
        let right = self.width - column - 2.0;
        let panel = Area::new((left, right), (TOP, height - BOTTOM));
        let disc = |mark: &Mark| {
            let (x, y) = panel.at((&self.x, &self.y), (mark.x, mark.y));
            (x, y, self.radius(mark.size))
        };
        let discs: Vec<(f64, f64, f64)> = self.marks.iter().map(disc).collect();
        let covered = |&(x, y, r): &(f64, f64, f64)| Area::new((x - r, x + r), (y - r, y + r));
        let marks: Vec<Area> = discs.iter().map(covered).collect();
        let mut beside: Vec<Option<Place>> = vec![None; self.marks.len()];
        for (n, (mark, disc)) in self.marks.iter().zip(&discs).enumerate() {
            let (_, width) = self.label(mark);
            let taken: Vec<Area> = beside.iter().flatten().map(|place| place.area).collect();
            let free = |Place { area, .. }: &Place| {
                area.within(&panel)
                    && !marks.iter().any(|other| other.meets(area))
                    && !taken.iter().any(|other| other.meets(area))
            };
            let place = places(*disc, width).into_iter().find(free);
            if let Some(slot) = beside.get_mut(n) {
                *slot = place;
            }
        }
        let far: Vec<usize> = (0..self.marks.len())
            .filter(|&n| beside.get(n).is_none_or(Option::is_none))
            .collect();
        let wanted = far.iter().filter_map(|&n| Some(discs.get(n)?.1));
        let wanted: Vec<f64> = wanted.collect();
        let half = LABEL_HEIGHT / 2.0;
        let rows = apart(&wanted, panel.top + half, panel.bottom - half, LABEL_LINE);
        let labels = self.marks.iter().zip(&discs).enumerate();
        let labels = labels.map(|(n, (mark, &(x, y, r)))| {
            let (text, width) = self.label(mark);
            if let Some(&Some(place)) = beside.get(n) {
                let Area { top, bottom, .. } = place.area;
                let end = (place.x(), y.clamp(top, bottom));
                return Placed {
                    text,
                    area: place.area,
                    anchor: place.anchor,
                    leader: place.leader.then_some([(x, y), end]),
                };
            }
            let row = far.iter().position(|&other| other == n);
            let row = row.and_then(|row| rows.get(row).copied()).unwrap_or(y);
            let start = panel.right + LEADER;
            Placed {
                text,
                area: Area::new((start, start + width), (row - half, row + half)),
                anchor: Anchor::Start,
                leader: Some([(x + r, y), (start - 3.0, row)]),
            }
        });
        Layout {
            panel,
            height,
            labels: labels.collect(),
            crowded: !far.is_empty(),
            discs,
        }
    }

    /// The figure as markup, of the classes `scatter` and `class`.
    pub(crate) fn drawing(&self, class: &str) -> Drawing {
        let layout = self.layout();
        let Area { top, right, .. } = layout.panel;
        let class = format!("plot scatter {class}");
        let mut svg = Svg::inline(&class, self.width, layout.height, &self.about);
        axes(&mut svg, (&self.x, &self.y), &layout.panel);
        svg.text((0.0, top - 8.0), Anchor::Start, "title", &self.y.title);
        let below = (right, layout.height - 8.0);
        svg.text(below, Anchor::End, "title", &self.x.title);
        self.draw_key(&mut svg);
        for label in &layout.labels {
            if let Some(leader) = label.leader {
                svg.line(&leader, "class=\"leader\"");
            }
        }
        // Large marks first, so that small ones remain visible.
        let mut order: Vec<usize> = (0..self.marks.len()).collect();
        let radius = |n: usize| layout.discs.get(n).map_or(0.0, |disc| disc.2);
        order.sort_by(|&a, &b| radius(b).total_cmp(&radius(a)));
        for n in order {
            if let (Some(mark), Some(&(x, y, r))) = (self.marks.get(n), layout.discs.get(n)) {
                let class = format!("class=\"mark {}\"", mark.tone.text());
                svg.disc((x, y), (r * 10.0).round() / 10.0, &class);
            }
        }
        for (label, mark) in layout.labels.iter().zip(&self.marks) {
            let class = format!("label {}", mark.tone.text());
            let place = (label.area.anchored(label.anchor), label.area.bottom - 3.0);
            svg.text(place, label.anchor, &class, &label.text);
        }
        svg.drawing()
    }

    /// The key of sizes, at the top.
    fn draw_key(&self, svg: &mut Svg) {
        if self.key.is_empty() {
            return;
        }
        let y = 16.0;
        svg.text((0.0, y + 4.0), Anchor::Start, "tick", &self.key_title);
        let mut x = columns(&self.key_title) as f64 * CHARACTER + 10.0;
        for (size, text) in &self.key {
            let r = self.radius(*size);
            x += r;
            svg.disc((x, y), (r * 10.0).round() / 10.0, "class=\"mark context\"");
            x += r + 5.0;
            svg.text((x, y + 4.0), Anchor::Start, "tick", text);
            x += columns(text) as f64 * CHARACTER + 12.0;
        }
    }
}

impl Place {
    fn x(&self) -> f64 {
        self.area.anchored(self.anchor)
    }
}

/// Places for a label near a mark, the best first.
fn places((x, y, r): (f64, f64, f64), width: f64) -> Vec<Place> {
    let distances = std::iter::once(GAP).chain(FURTHER);
    distances
        .flat_map(|gap| around((x, y, r), width, gap))
        .collect()
}

/// Places at this distance from a mark.
fn around((x, y, r): (f64, f64, f64), width: f64, gap: f64) -> [Place; 8] {
    let near = r * 0.71 + gap;
    let (half, tall) = (LABEL_HEIGHT / 2.0, LABEL_HEIGHT);
    let corners = [
        (x + r + gap, y - half, Anchor::Start),
        (x - r - gap - width, y - half, Anchor::End),
        (x - width / 2.0, y - r - gap - tall, Anchor::Middle),
        (x - width / 2.0, y + r + gap, Anchor::Middle),
        (x + near, y - near - tall, Anchor::Start),
        (x + near, y + near, Anchor::Start),
        (x - near - width, y - near - tall, Anchor::End),
        (x - near - width, y + near, Anchor::End),
    ];
    corners.map(|(left, top, anchor)| Place {
        area: Area::new((left, left + width), (top, top + tall)),
        anchor,
        leader: gap > GAP,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scatter(marks: Vec<Mark>, width: f64) -> Scatter {
        Scatter {
            about: "about".into(),
            x: Axis::linear("Recall", -0.03, 1.03, 5),
            y: Axis::linear("Precision", -0.03, 1.03, 5),
            marks,
            key: vec![(1.0, "1 s".into())],
            key_title: "CPU time".into(),
            width,
            height: 380.0,
            radius: 14.0,
            label_columns: 24,
        }
    }

    fn mark(label: &str, x: f64, y: f64, size: f64) -> Mark {
        let (label, tone) = (label.into(), Tone::First);
        Mark {
            label,
            x,
            y,
            size,
            tone,
        }
    }

    fn assert_apart(scatter: &Scatter) {
        let layout = scatter.layout();
        let frame = Area::new((0.0, scatter.width), (0.0, layout.height));
        assert_eq!(layout.labels.len(), scatter.marks.len());
        for (n, label) in layout.labels.iter().enumerate() {
            assert!(label.area.within(&frame), "{label:?} is outside");
            for other in &layout.labels[..n] {
                assert!(!label.area.meets(&other.area), "{label:?} covers {other:?}");
            }
            for &(x, y, _) in &layout.discs {
                let centre = Area::new((x, x), (y, y));
                assert!(!label.area.meets(&centre), "{label:?} covers a mark");
            }
        }
    }

    proptest! {
        #[test]
        fn labels_do_not_overlap(
            places in prop::collection::vec((0..=20u32, 0..=20u32, 0.0..50.0f64, ".{0,40}"), 0..64),
            corner in any::<bool>(),
            narrow in any::<bool>(),
        ) {
            let marks = places.iter().map(|(x, y, size, label)| {
                let place = |n: u32| f64::from(n) / 20.0;
                match corner {
                    // Many methods share a corner: all is found, and all of it is true.
                    true => mark(label, 1.0 - place(*x) / 50.0, 1.0 - place(*y) / 50.0, *size),
                    false => mark(label, place(*x), place(*y), *size),
                }
            });
            let mut scatter = scatter(marks.collect(), if narrow { 340.0 } else { 760.0 });
            if narrow {
                scatter.label_columns = 3;
            }
            assert_apart(&scatter);
            roxmltree::Document::parse(scatter.drawing("wide").text()).unwrap();
        }
    }

    #[test]
    fn labels_stand_beside_their_marks_where_there_is_room() {
        let apart = vec![mark("one", 0.2, 0.2, 1.0), mark("two", 0.8, 0.8, 4.0)];
        let layout = scatter(apart, 760.0).layout();
        assert!(layout.labels.iter().all(|label| label.leader.is_none()));
        let together = (0..12).map(|n| mark(&format!("method {n}"), 1.0, 1.0, 1.0));
        let layout = scatter(together.collect(), 760.0).layout();
        let far = layout.labels.iter().filter(|label| label.leader.is_some());
        assert!(far.count() >= 8);
        let crowd = (0..60).map(|n| mark(&format!("method {n}"), 1.0, 1.0, 1.0));
        let layout = scatter(crowd.collect(), 760.0).layout();
        assert!(layout.crowded && layout.height > 380.0);
    }

    #[test]
    fn the_area_of_a_mark_is_proportional() {
        let scatter = scatter(vec![mark("a", 0.5, 0.5, 16.0)], 760.0);
        assert_eq!(scatter.radius(16.0), 14.0);
        assert_eq!(scatter.radius(4.0), 7.0);
        assert_eq!(scatter.radius(0.0), LEAST_RADIUS);
    }
}
