//! The figures of a comparison: similarity against edits, and similarity of distinct documents.

use crate::experiments::compare::{Comparison, TableFile};
use crate::measure::Measure;
use crate::methods::Spec;
use crate::report::charts::{Axis, Chart, Look, Panel, Series, round_tenth_below};

/// Limit on the lines of a figure: the eye cannot distinguish more.
const MOST_LINES: usize = 16;

/// The methods that a figure shows: first those with a similarity from 0 to 1, then those that
/// count common features.
fn shown(comparison: &Comparison) -> Vec<usize> {
    let counts = |n: &usize| {
        let spec = comparison
            .methods
            .get(*n)
            .map(|row| Spec::read(&row.method));
        let join = spec.and_then(|spec| Some(spec.ok()?.method().join()));
        join.is_none_or(|join| matches!(join.measure, Measure::Shared(_)))
    };
    let mut shown: Vec<usize> = (0..comparison.methods.len()).collect();
    shown.sort_by_key(counts);
    shown.truncate(MOST_LINES);
    shown
}

/// All figures as SVG; none if no edits are known.
pub(crate) fn figures(comparison: &Comparison) -> Vec<TableFile> {
    let Some(families) = &comparison.families else {
        return Vec::new();
    };
    let shown = shown(comparison);
    let look = |place: usize| Look::ordered(place, shown.len());
    let curves = shown.iter().filter_map(|&n| families.curves.get(n));
    let curves = curves.enumerate();
    let curves = curves.map(|(place, curve)| Series {
        label: curve.method.clone(),
        look: look(place),
        points: curve
            .points
            .iter()
            .map(|&(edits, _, mean, _)| (edits as f64, Some(mean)))
            .collect(),
    });
    let lines: Vec<Series> = curves.collect();
    let most = lines.iter().flat_map(|line| &line.points);
    let most = most.map(|(edits, _)| *edits).fold(1.0, f64::max);
    let by_edits = chart(
        "Similarity of documents and edited copies",
        // Edits are whole numbers: at most one tick for each.
        Axis::linear("Edits", 0.0, most, most.min(10.0) as u32),
        "Mean similarity",
        lines,
        families.curves.iter().all(|curve| curve.points.is_empty()),
    );
    let distributions = shown.iter().filter_map(|&n| families.distributions.get(n));
    let distributions = distributions.enumerate();
    let distributions = distributions.map(|(place, of)| {
        let whole = of.pairs.max(1) as f64;
        let dissimilar = of.pairs - of.similar.len() as u64;
        let mut points = vec![(0.0, Some(dissimilar as f64 / whole))];
        for (n, &similarity) in of.similar.iter().enumerate() {
            let share = (dissimilar + n as u64 + 1) as f64 / whole;
            points.push((similarity, Some(share)));
        }
        points.push((1.0, Some(1.0)));
        Series {
            label: of.method.clone(),
            look: look(place),
            points,
        }
    });
    let lines: Vec<Series> = distributions.collect();
    let of_distinct = chart(
        "Similarity of pairs of originals",
        Axis::linear("Similarity", 0.0, 1.0, 10),
        "Share of the pairs up to this similarity",
        lines,
        families.distributions.iter().all(|of| of.pairs == 0),
    );
    let named = [
        ("similarity-by-edits.svg", by_edits),
        ("similarity-of-distinct.svg", of_distinct),
    ];
    let file = |(name, chart): (_, Chart)| TableFile {
        name,
        text: chart.svg(),
    };
    named.map(file).into()
}

fn chart(title: &str, x: Axis, y: &str, lines: Vec<Series>, nothing: bool) -> Chart {
    let values = lines.iter().flat_map(|line| &line.points);
    let least = values.filter_map(|(_, y)| *y).fold(1.0, f64::min);
    if nothing {
        return Chart::empty(title, "No copies or originals were compared.");
    }
    let y = Axis::linear(y, round_tenth_below(least), 1.0, 10);
    Chart::new(title, vec![Panel::new("", x, y, lines)])
}
