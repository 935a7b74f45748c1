//! Charts: typed results in, SVG out.
//!
//! # In and out
//! In: numbers and labels. Out: markup for a page ([`Plot`]), which takes its colours from the page's
//! style.
//!
//! # Invariants
//! - The same data give the same bytes.
//! - Every text is escaped. A drawing contains no script and no URL.
//!
//! # Algorithm
//! A line is labelled at its right end. Overlapping labels move apart (`apart`), and a
//! thin line connects each label with its line. Lines without data have no label. Ticks are
//! multiples of 1, 2 or 5 times a power of ten.

mod axis;
mod line;
mod plot;
mod svg;

pub(crate) use axis::Axis;
pub(crate) use line::{Line, Points, Tone};
pub(crate) use plot::Plot;
