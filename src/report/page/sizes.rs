//! Sizes of the documents, and scores of the pairs.

use super::choose::HUNDREDTHS;
use super::markup::{Markup, drawing, html};
use super::panels::{share_bar, table};
use crate::report::charts::{Column, columns};
use crate::report::wording::{Wording, group_name};
use lookalike_base::ids::Threshold;
use lookalike_base::measure::Measure;
use lookalike_base::numbers::count;
use lookalike_engine::pipeline::Summary;

/// The section with the sizes of the documents; nothing without documents.
pub(super) fn sizes(summary: &Summary, wording: &Wording<'_>) -> Markup {
    let features = wording.features();
    let groups = summary.catalogue.as_ref();
    let groups = groups.map_or(&[][..], |catalogue| &catalogue.groups);
    let documents: u64 = groups.iter().map(|group| group.documents).sum();
    let all: u64 = groups.iter().map(|group| group.shingles).sum();
    let columns = [
        "words",
        ">documents",
        ">share",
        &format!(">{features}"),
        ">share",
    ];
    html! {
        @if documents > 0 {
            section id="sizes" {
                h2 { "Sizes of the documents" }
                p { "Exact duplicates are counted once. Each document counts its distinct " (features) "." }
                (table("", &columns, &html! {
                    @for group in groups.iter().filter(|group| group.documents > 0) {
                        tr {
                            th scope="row" { (group_name(&group.words)) }
                            td.n { (count(group.documents)) }
                            td.n { (share_bar(group.documents, documents)) }
                            td.n { (count(group.shingles)) }
                            td.n { (share_bar(group.shingles, all)) }
                        }
                    }
                }))
            }
        }
    }
}

/// The number of pairs by their score, with the threshold marked; nothing without pairs.
pub(super) fn histogram(wording: &Wording<'_>, histogram: &[u64; HUNDREDTHS]) -> Markup {
    let noun = wording.noun();
    // The number of common features has no upper limit.
    let any = !matches!(wording.measure, Measure::Shared(_)) && histogram.iter().any(|&n| n > 0);
    let (rows, at) = histogram_columns(histogram, wording.threshold);
    let mark = (at, format!("threshold {}", wording.threshold));
    html! {
        @if any {
            figure {
                figcaption { b { "Pairs by " (noun) } br; "Each bar counts pairs up to the next number." }
                (drawing(&columns(&format!("Number of pairs by {noun}"), &rows, &mark)))
            }
        }
    }
}

/// Hundredths from the threshold on, and the place of the threshold. If it is low, columns join 2 or
/// 5 hundredths, so that there are at most 21.
fn histogram_columns(histogram: &[u64; HUNDREDTHS], threshold: Threshold) -> (Vec<Column>, f64) {
    let exact = threshold.numerator() as f64 * 100.0 / threshold.denominator() as f64;
    let lowest = (threshold.numerator() * 100 / threshold.denominator()) as usize;
    let step = match lowest {
        80.. => 1,
        60.. => 2,
        _ => 5,
    };
    let first = lowest / step * step;
    let mut columns: Vec<Column> = (first..HUNDREDTHS - 1)
        .step_by(step)
        .map(|from| {
            let below = HUNDREDTHS - 1 - from;
            let n = histogram.iter().skip(from).take(step.min(below));
            Column {
                label: format!("0.{from:02}"),
                value: n.sum(),
            }
        })
        .collect();
    columns.push(Column {
        label: "1".into(),
        value: histogram.last().copied().unwrap_or(0),
    });
    (columns, (exact - first as f64) / step as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_hold_every_pair() {
        let mut histogram = [0u64; HUNDREDTHS];
        for (bin, n) in histogram.iter_mut().enumerate() {
            *n = bin as u64;
        }
        for (text, columns, first, at) in [
            ("0.85", 16, "0.85", 0.0),
            ("2/3", 18, "0.66", 1.0 / 3.0),
            ("0.5", 11, "0.50", 0.0),
            ("0.01", 21, "0.00", 0.2),
            ("1", 1, "1", 0.0),
        ] {
            let (found, mark) = histogram_columns(&histogram, text.parse().unwrap());
            assert_eq!((found.len(), found[0].label.as_str()), (columns, first));
            assert!((mark - at).abs() < 1e-9, "{text}: {mark}");
            let all: u64 = found.iter().map(|column| column.value).sum();
            let from = first.parse::<f64>().unwrap() * 100.0;
            let expected: u64 = (from.round() as u64..=100).sum();
            assert_eq!(all, expected, "{text}");
        }
    }
}
