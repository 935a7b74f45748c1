//! Sizes of the documents, and scores of the pairs.

use super::choose::HUNDREDTHS;
use super::markup::{Markup, drawing, html};
use super::panels::table;
use crate::base::ids::Threshold;
use crate::base::measure::Measure;
use crate::base::numbers::{self, count};
use crate::engine::pipeline::Summary;
use crate::report::charts::{BarRow, bars};
use crate::report::wording::{Wording, group_name};

/// The section.
pub(super) fn sizes(
    summary: &Summary,
    wording: &Wording<'_>,
    histogram: Option<&[u64; HUNDREDTHS]>,
) -> Markup {
    html! {
        section id="sizes" {
            h2 { "Sizes and " (wording.noun()) }
            div.side-by-side {
                div { (documents(summary, wording)) }
                div { (pairs(wording, histogram)) }
            }
        }
    }
}

fn documents(summary: &Summary, wording: &Wording<'_>) -> Markup {
    let features = wording.features();
    let groups = summary
        .catalogue
        .as_ref()
        .map(|catalogue| catalogue.groups.as_slice())
        .unwrap_or_default();
    let documents: u64 = groups.iter().map(|group| group.documents).sum();
    let shingles: u64 = groups.iter().map(|group| group.shingles).sum();
    let part = |n: u64, all: u64| if all == 0 { 0.0 } else { n as f64 / all as f64 };
    let bar = |n: u64, all: u64| {
        let share = part(n, all);
        (share, numbers::percent(share, 1).replace(' ', "\u{a0}"))
    };
    let rows: Vec<BarRow> = groups
        .iter()
        .map(|group| BarRow {
            label: group_name(&group.words),
            bars: vec![
                bar(group.documents, documents),
                bar(group.shingles, shingles),
            ],
        })
        .collect();
    let label = format!("Share of the documents and of the {features} in each size group");
    html! {
        h3 { "Documents by number of words" }
        p { "Exact duplicates are counted once. Each document counts its distinct " (features) "." }
        @if documents > 0 {
            figure {
                figcaption {
                    span.together { span.key.one {} "share of the documents" } " "
                    span.together { span.key.two {} "share of the " (features) }
                }
                (drawing(&bars(&label, &rows)))
            }
        }
        (table("", &["words", ">documents", &format!(">{features}")], &html! {
            @for group in groups {
                tr {
                    th scope="row" { (group_name(&group.words)) }
                    td.n { (count(group.documents)) }
                    td.n { (count(group.shingles)) }
                }
            }
        }))
    }
}

fn pairs(wording: &Wording<'_>, histogram: Option<&[u64; HUNDREDTHS]>) -> Markup {
    let noun = wording.noun();
    html! {
        h3 { "Pairs by " (noun) }
        @match histogram {
            // The number of common features has no upper limit.
            Some(_) if matches!(wording.measure, Measure::Shared(_)) => {
                p { "The numbers in common are in " code { "pairs.tsv" } "." }
            }
            Some(histogram) if histogram.iter().any(|&n| n > 0) => {
                p { "Each row counts the pairs from its " (noun) " up to the next row's." }
                figure {
                    (drawing(&bars(&format!("Number of pairs by {noun}"),
                                   &histogram_rows(histogram, wording.threshold))))
                }
            }
            Some(_) => p { "There are no pairs." }
            None => p.note {
                "Pairs were not listed (--pairs none). To have them listed and shown here: "
                code { "lookalike join DIR --pairs all" } ", then " code { "lookalike cluster DIR" } "."
            }
        }
    }
}

/// Hundredths from the threshold on. If it is low, rows join 2 or 5 of them, so that there are at
/// most 21.
fn histogram_rows(histogram: &[u64; HUNDREDTHS], threshold: Threshold) -> Vec<BarRow> {
    let lowest = (threshold.numerator() * 100 / threshold.denominator()) as usize;
    let step = match lowest {
        80.. => 1,
        60.. => 2,
        _ => 5,
    };
    let row = |label: String, n: u64| BarRow {
        label,
        bars: vec![(n as f64, count(n))],
    };
    let mut rows: Vec<BarRow> = (lowest / step * step..HUNDREDTHS - 1)
        .step_by(step)
        .map(|from| {
            let n = histogram.iter().skip(from).take(step);
            let below = HUNDREDTHS - 1 - from;
            row(format!("0.{from:02}"), n.take(below).sum())
        })
        .collect();
    rows.push(row("1".into(), histogram.last().copied().unwrap_or(0)));
    rows
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
        for (text, rows, first) in [
            ("0.85", 16, "0.85"),
            ("2/3", 18, "0.66"),
            ("0.5", 11, "0.50"),
            ("0.01", 21, "0.00"),
            ("1", 1, "1"),
        ] {
            let found = histogram_rows(&histogram, text.parse().unwrap());
            assert_eq!((found.len(), found[0].label.as_str()), (rows, first));
            let all: f64 = found.iter().map(|row| row.bars[0].0).sum();
            let from = first.parse::<f64>().unwrap() * 100.0;
            let expected: u64 = (from.round() as u64..=100).sum();
            assert_eq!(all, expected as f64, "{text}");
        }
    }
}
