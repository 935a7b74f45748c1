//! Sizes of the documents, and scores of the pairs.

use super::choose::HUNDREDTHS;
use super::html::Html;
use crate::collection::GroupStats;
use crate::ids::Threshold;
use crate::measure::Measure;
use crate::numbers::{self, count};
use crate::pipeline::Summary;
use crate::report::charts::BarRow;
use crate::report::wording::{Wording, group_name};

pub(super) fn sizes(
    html: &mut Html,
    summary: &Summary,
    wording: &Wording<'_>,
    histogram: Option<&[u64; HUNDREDTHS]>,
) {
    let (noun, features) = (wording.noun(), wording.features());
    html.raw("<section id=\"sizes\">\n<h2>Sizes and ").raw(noun);
    html.raw("</h2>\n<div class=\"side-by-side\">\n<div>\n");
    html.raw("<h3>Documents by number of words</h3>\n");
    html.raw("<p>Exact duplicates are counted once. Each document counts its distinct ")
        .raw(features)
        .raw(".</p>\n");
    let groups = summary
        .catalogue
        .as_ref()
        .map(|catalogue| catalogue.groups.as_slice())
        .unwrap_or_default();
    let documents: u64 = groups.iter().map(|group| group.documents).sum();
    let shingles: u64 = groups.iter().map(|group| group.shingles).sum();
    let part = |n: u64, all: u64| if all == 0 { 0.0 } else { n as f64 / all as f64 };
    let rows: Vec<BarRow> = groups
        .iter()
        .map(|group| BarRow {
            label: group_name(&group.words),
            bars: [(group.documents, documents), (group.shingles, shingles)]
                .into_iter()
                .map(|(n, all)| {
                    (
                        part(n, all),
                        numbers::percent(part(n, all), 1).replace(' ', "\u{a0}"),
                    )
                })
                .collect(),
        })
        .collect();
    if documents > 0 {
        html.raw("<figure>\n<figcaption><span class=\"together\"><span class=\"key one\"></span>share of the documents</span> ");
        html.raw("<span class=\"together\"><span class=\"key two\"></span>share of the ")
            .raw(features)
            .raw("</span></figcaption>\n");
        let label = format!("Share of the documents and of the {features} in each size group");
        html.bars(&label, &rows);
        html.raw("</figure>\n");
    }
    group_table(html, groups, features);
    html.raw("</div>\n<div>\n<h3>Pairs by ")
        .raw(noun)
        .raw("</h3>\n");
    match histogram {
        // The number of common features has no upper limit.
        Some(_) if matches!(wording.measure, Measure::Shared(_)) => {
            html.raw("<p>The numbers in common are in <code>pairs.tsv</code>.</p>\n");
        }
        Some(histogram) if histogram.iter().any(|&n| n > 0) => {
            html.raw("<p>Each row counts the pairs from its ")
                .raw(noun)
                .raw(" up to that of the next row.</p>\n<figure>\n");
            let rows = histogram_rows(histogram, wording.threshold);
            html.bars(&format!("Number of pairs by {noun}"), &rows);
            html.raw("</figure>\n");
        }
        Some(_) => {
            html.raw("<p>There are no pairs.</p>\n");
        }
        None => not_listed(html),
    }
    html.raw("</div>\n</div>\n</section>\n");
}

fn group_table(html: &mut Html, groups: &[GroupStats], features: &'static str) {
    html.raw(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">words</th><th scope=\"col\" ",
    );
    html.raw("class=\"n\">documents</th><th scope=\"col\" class=\"n\">")
        .raw(features)
        .raw("</th></tr></thead>\n<tbody>\n");
    for group in groups {
        html.raw("<tr><th scope=\"row\">")
            .text(&group_name(&group.words))
            .raw("</th><td class=\"n\">")
            .text(&count(group.documents))
            .raw("</td><td class=\"n\">")
            .text(&count(group.shingles))
            .raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
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

fn not_listed(html: &mut Html) {
    html.raw(
        "<p class=\"note\">Pairs were not listed (--pairs none). To have them listed and shown here: \
         <code>lookalike join DIR --pairs all</code>, then <code>lookalike cluster DIR</code>.</p>\n",
    );
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
