//! Sizes of the documents, and scores of the pairs.

use super::choose::HUNDREDTHS;
use super::frame::Section;
use super::markup::{Markup, html};
use super::panels::{share_bar, table};
use crate::report::wording::{Wording, group_name};
use lookalike_base::{Measure, Threshold, count, listed};
use lookalike_engine::pipeline::Summary;

/// The section with the sizes of the documents; nothing without documents.
pub(super) fn sizes(summary: &Summary, wording: &Wording<'_>) -> Markup {
    let features = wording.features();
    let groups = summary.catalogue.as_ref();
    let groups = groups.map_or(&[][..], |catalogue| &catalogue.groups);
    let documents: u64 = groups.iter().map(|group| group.documents).sum();
    let all: u64 = groups.iter().map(|group| group.shingles).sum();
    if documents == 0 {
        return html! {};
    }
    Section::new("sizes", "Sizes of the documents").of(html! {
        p { "Exact duplicates are counted once. Each document counts its distinct " (features) "." }
        (table("", &["words", ">documents", ">share", &format!(">{features}"), ">share"], &html! {
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
    })
}

/// The number of pairs by their score, with the threshold marked; nothing without pairs.
pub(super) fn histogram(wording: &Wording<'_>, histogram: &[u64; HUNDREDTHS]) -> Markup {
    let noun = wording.noun();
    // The number of common features has no upper limit.
    let any = !matches!(wording.measure, Measure::Shared(_)) && histogram.iter().any(|&n| n > 0);
    let (rows, at) = histogram_columns(histogram, wording.threshold);
    let mark = format!("threshold {}", wording.threshold);
    html! {
        @if any {
            figure {
                figcaption { b { "Pairs by " (noun) } br; "Each bar counts pairs up to the next number." }
                (columns(&format!("Number of pairs by {noun}"), &rows, at, &mark))
            }
        }
    }
}

/// One bar: its label and its value.
struct Column {
    label: String,
    value: u64,
}

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 168.0;
/// Room for the name of the mark and the number above the highest bar.
const TOP: f64 = 34.0;
const BASE: f64 = HEIGHT - 18.0;
/// Room for the mark and the bars that would be below it.
const LEFT: f64 = 14.0;
/// The most columns of which each has a label.
const LABELLED: usize = 17;

/// Vertical bars from left to right, and a mark behind `at` of them. `what` describes the figure to
/// readers who do not see it; the values follow it.
fn columns(what: &str, columns: &[Column], at: f64, mark: &str) -> Markup {
    let greatest = columns.iter().map(|column| column.value).max();
    let greatest = greatest.unwrap_or(0).max(1) as f64;
    let step = (WIDTH - LEFT) / columns.len().max(1) as f64;
    let every = columns.len().div_ceil(LABELLED).max(1);
    let each = |column: &Column| format!("{}: {}", column.label, column.value);
    let label = format!("{what}: {}", listed(", ", columns, each));
    // Every positive value is visible.
    let least = |value: u64| if value > 0 { 1.0 } else { 0.0 };
    let high = |value| (value as f64 / greatest * (BASE - TOP)).max(least(value));
    let one = |number: f64| format!("{number:.1}");
    html! {
        svg.bars role="img" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-label=(label) {
            rect.axis x="0" y=(BASE) width=(WIDTH) height="1" {}
            @for (n, column) in columns.iter().enumerate() {
                @let (x, top) = (LEFT + n as f64 * step, BASE - high(column.value));
                @let middle = one(x + step / 2.0);
                rect.one x=(one(x + 1.0)) y=(one(top)) width=(one(step - 2.0)) height=(one(BASE - top)) {}
                @if column.value > 0 {
                    text text-anchor="middle" x=(middle) y=(one(top - 4.0)) { (short(column.value)) }
                }
                @if n % every == 0 { text text-anchor="middle" x=(middle) y=(HEIGHT - 5.0) { (column.label) } }
            }
            @let x = LEFT + at * step - 1.0;
            rect.mark x=(one(x)) y="2" width="2" height=(one(BASE - 2.0)) {}
            text x=(one(x + 6.0)) y="12" { (mark) }
        }
    }
}

/// A count that is at most four characters wide: `950`, `1.2k`, `35k`, `4.1M`.
fn short(n: u64) -> String {
    let (unit, name) = match n {
        ..1_000 => return n.to_string(),
        1_000..1_000_000 => (1_000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    match n / unit {
        ..10 => format!("{}.{}{name}", n / unit, n % unit * 10 / unit),
        whole => format!("{whole}{name}"),
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
    fn the_highest_bar_fills_its_place_and_none_is_lost() {
        let column = |value: u64| Column {
            label: "<a>".into(),
            value,
        };
        let all = [column(1_000_000), column(1), column(0)];
        let drawn = columns("\"what", &all, 0.5, "t").into_string();
        for height in ["height=\"116.0\"", "height=\"1.0\"", "height=\"0.0\""] {
            assert_eq!(drawn.matches(height).count(), 1, "{}", drawn);
        }
        assert!(drawn.contains(">1.0M<") && !drawn.contains("<a>"));
        assert!(drawn.contains("&quot;what: &lt;a&gt;: 1000000, &lt;a&gt;: 1, "));
        assert!(!columns("what", &[], 0.0, "").into_string().contains("NaN"));
    }

    #[test]
    fn counts_are_short() {
        let texts = [0, 999, 1_000, 1_299, 35_999, 4_190_000, 2_000_000_000].map(short);
        assert_eq!(texts, ["0", "999", "1.0k", "1.2k", "35k", "4.1M", "2.0G"]);
    }

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
