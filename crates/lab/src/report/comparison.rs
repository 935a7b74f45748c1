//! The figures of a comparison: precision against recall, similarity against edits, and similarity
//! of distinct documents.

use super::compared::{Named, seconds};
use crate::compare::{Comparison, Curve, Distribution, Standing, TableFile, Verdict};
use crate::report::charts::{
    Axis, Line, Mark, Plot, Points, Scatter, Tone, round_tenth_below, sheet,
};
use lookalike::report::charts::Drawing;
use lookalike_base::measure::Measure;
use lookalike_methods::Spec;

/// Limit on the lines of a figure: the eye cannot distinguish more.
const MOST_LINES: usize = 16;

/// The methods that a figure shows: first the methods with a similarity from 0 to 1, then the
/// methods that count common features.
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
pub fn figures(comparison: &Comparison) -> Vec<TableFile> {
    if comparison.families.is_none() {
        return Vec::new();
    }
    let title = |n: usize| {
        let row = comparison.methods.get(n);
        row.map_or_else(String::new, |row| Named::of(&row.method).label())
    };
    let file = |name, title_of_all, plots: Vec<(usize, Plot)>| {
        let panels = plots.into_iter().map(|(n, plot)| (title(n), Some(plot)));
        let text = sheet(title_of_all, &panels.collect::<Vec<_>>());
        TableFile { name, text }
    };
    let by_edits = "Similarity of documents and edited copies, by the number of edits";
    let of_distinct = "Share of the pairs of originals up to a similarity";
    vec![
        file("similarity-by-edits.svg", by_edits, curves(comparison)),
        file(
            "similarity-of-distinct.svg",
            of_distinct,
            distributions(comparison),
        ),
    ]
}

/// The mean similarity by the number of edits.
fn by_edits(of: &Curve) -> Points {
    let points = of.points.iter();
    points
        .map(|&(edits, _, mean, _)| (edits as f64, Some(mean)))
        .collect()
}

/// Points of a distribution on the page.
const DISTRIBUTION_POINTS: usize = 50;

/// Precision against recall, with the CPU time as the area of each mark. In the narrow form, marks
/// are labelled with the numbers of the methods.
pub(super) fn scatter(comparison: &Comparison, verdict: &Verdict, narrow: bool) -> Drawing {
    let is = |standing: Option<Standing>, n: usize| {
        standing.is_some_and(|standing| standing.method == n)
    };
    // A name repeats the meaning of the colour of its mark.
    let name = |n: usize| {
        let row = comparison.methods.get(n);
        let label = row.map_or_else(String::new, |row| Named::of(&row.method).label());
        match n {
            _ if narrow => (n + 1).to_string(),
            n if is(verdict.best, n) => label + ": best",
            n if is(verdict.cheapest, n) => label + ": cheapest",
            _ => label,
        }
    };
    let mut marks: Vec<Mark> = verdict
        .standings
        .iter()
        .map(|standing| Mark {
            label: name(standing.method),
            x: standing.recall,
            y: standing.precision,
            size: standing.cpu_seconds,
            tone: match standing.method {
                n if is(verdict.best, n) => Tone::Second,
                n if is(verdict.cheapest, n) => Tone::Third,
                _ => Tone::First,
            },
        })
        .collect();
    let truth = comparison.methods.iter();
    let truth = truth
        .enumerate()
        .find(|(_, row)| row.method == verdict.truth);
    if let Some((n, row)) = truth {
        marks.push(Mark {
            label: match narrow {
                true => name(n),
                false => name(n) + ": truth",
            },
            x: 1.0,
            y: 1.0,
            size: row.cpu_seconds,
            tone: Tone::Context,
        });
    }
    let axis = |title: &str, value: fn(&Mark) -> f64| {
        let low = round_tenth_below(marks.iter().map(value).fold(1.0, f64::min));
        let margin = (1.0 - low) * 0.04;
        Axis::linear(title, low - margin, 1.0 + margin, 5)
    };
    let greatest = marks.iter().map(|mark| mark.size).fold(0.0, f64::max);
    let key = sizes(greatest).into_iter();
    let key = key.map(|size| (size, format!("{size} s")));
    let truth = Named::of(&verdict.truth).label();
    Scatter {
        about: format!(
            "Precision against recall of {} methods compared with {truth}; the largest took {} CPU seconds",
            marks.len(),
            seconds(greatest)
        ),
        x: axis("Recall", |mark| mark.x),
        y: axis("Precision", |mark| mark.y),
        key: key.collect(),
        key_title: "CPU time".into(),
        marks,
        width: if narrow { 340.0 } else { 760.0 },
        height: if narrow { 340.0 } else { 420.0 },
        radius: if narrow { 10.0 } else { 14.0 },
        label_columns: if narrow { 3 } else { 32 },
    }
    .drawing(if narrow { "narrow" } else { "wide" })
}

/// Up to two round sizes for the key: the largest below the greatest mark, and a tenth of it.
fn sizes(greatest: f64) -> Vec<f64> {
    let steps = (-3..12).flat_map(|power| [1, 2, 5].map(|digit| (digit, power)));
    let value = |(digit, power): (i32, i32)| match power {
        // Division gives the number nearest to the decimal one, which is printed.
        ..0 => f64::from(digit) / 10f64.powi(-power),
        _ => f64::from(digit) * 10f64.powi(power),
    };
    let mut below = steps.map(value).filter(|size| *size <= greatest);
    let Some(largest) = below.next_back() else {
        return Vec::new();
    };
    match largest < 0.01 {
        true => vec![largest],
        false => vec![largest / 10.0, largest],
    }
}

/// The methods shown, in the order of the comparison.
fn in_order(comparison: &Comparison) -> Vec<usize> {
    let mut shown = shown(comparison);
    shown.sort_unstable();
    shown
}

/// A panel for each method shown: its line, and the lines of the other methods in grey.
fn each(
    lines: &[(usize, Points)],
    about: &str,
    x: &Axis,
    comparison: &Comparison,
) -> Vec<(usize, Plot)> {
    let values = lines.iter().flat_map(|(_, points)| points);
    let least = values.filter_map(|(_, y)| *y).fold(1.0, f64::min);
    let y = Axis::linear("", round_tenth_below(least), 1.0, 5);
    let plot = |n: usize| {
        let line = |(m, points): &(usize, Points)| {
            let tone = match *m == n {
                true => Tone::First,
                false => Tone::Context,
            };
            Line::new("", tone, points.clone())
        };
        let mut lines: Vec<_> = lines.iter().map(line).collect();
        lines.sort_by_key(|line| line.look == Tone::Context);
        let method = comparison.methods.get(n);
        let method = method.map_or("", |row| row.method.as_str());
        Plot {
            about: format!("{}: {about}", Named::of(method).label()),
            x: x.clone(),
            y: y.clone(),
            lines,
            strips: Vec::new(),
        }
    };
    lines.iter().map(|(n, _)| (*n, plot(*n))).collect()
}

/// Similarity against edits: a panel for each method shown, with the number of the method. None if
/// there are no copies.
pub(super) fn curves(comparison: &Comparison) -> Vec<(usize, Plot)> {
    let Some(families) = &comparison.families else {
        return Vec::new();
    };
    let lines = in_order(comparison).into_iter().filter_map(|n| {
        let points = by_edits(families.curves.get(n)?);
        (!points.is_empty()).then_some((n, points))
    });
    let lines: Vec<_> = lines.collect();
    let edits = lines.iter().flat_map(|(_, points)| points);
    let edits = edits.map(|(edits, _)| *edits);
    let least = edits.clone().fold(f64::INFINITY, f64::min).min(1.0e9);
    let most = edits.fold(least + 1.0, f64::max);
    // Edits are whole numbers: at most one tick for each.
    let x = Axis::linear("", least, most, (most - least).min(5.0) as u32);
    each(
        &lines,
        "mean similarity by the number of edits",
        &x,
        comparison,
    )
}

/// Similarity of different originals: a panel for each method shown, with the number of the method.
/// None if no originals were compared.
pub(super) fn distributions(comparison: &Comparison) -> Vec<(usize, Plot)> {
    let Some(families) = &comparison.families else {
        return Vec::new();
    };
    let lines = in_order(comparison).into_iter().filter_map(|n| {
        let of = families.distributions.get(n).filter(|of| of.pairs > 0)?;
        Some((n, steps(of)))
    });
    let lines: Vec<_> = lines.collect();
    let x = Axis::linear("", 0.0, 1.0, 5);
    each(
        &lines,
        "share of the pairs of originals up to a similarity",
        &x,
        comparison,
    )
}

/// The share of the pairs that are at most as similar as each of some evenly spaced similarities.
fn steps(of: &Distribution) -> Points {
    let dissimilar = of.pairs - of.similar.len() as u64;
    let places = 0..=DISTRIBUTION_POINTS;
    let places = places.map(|place| place as f64 / DISTRIBUTION_POINTS as f64);
    let at = |similarity: f64| {
        let up_to = of.similar.partition_point(|&other| other <= similarity) as u64;
        let share = (dissimilar + up_to) as f64 / of.pairs.max(1) as f64;
        (similarity, Some(share))
    };
    places.map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_has_round_sizes() {
        assert_eq!(sizes(0.37), [0.02, 0.2]);
        assert_eq!(sizes(61.0), [5.0, 50.0]);
        assert_eq!(sizes(0.003), [0.002]);
        assert!(sizes(0.0).is_empty());
        let texts = sizes(7.0).into_iter().map(|size| format!("{size} s"));
        assert_eq!(texts.collect::<Vec<_>>(), ["0.5 s", "5 s"]);
    }

    #[test]
    fn a_distribution_counts_up_to_each_similarity() {
        let of = Distribution {
            method: "m".into(),
            pairs: 4,
            similar: vec![0.5, 1.0],
        };
        let steps = steps(&of);
        assert_eq!(steps.first(), Some(&(0.0, Some(0.5))));
        assert_eq!(steps.get(25), Some(&(0.5, Some(0.75))));
        assert_eq!(steps.last(), Some(&(1.0, Some(1.0))));
    }
}
