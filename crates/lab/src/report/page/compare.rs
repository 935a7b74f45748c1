//! The page of a comparison of methods.

use std::collections::BTreeSet;

use super::{method, numbered, spec};
use crate::compare::{Comparison, Families, QueryResults, Verdict, verdicts};
use crate::report::compared::{Named, increase, seconds, sentences};
use crate::report::grid::{Grid, sticky, table, three};
use lookalike::report::page::frame::{Frame, Section};
use lookalike::report::page::markup::{Markup, html, plain, visible};
use lookalike::report::page::panels::{heads, number, part};
use lookalike_base::{budget::ByteSize, count, counted, listed, numbers};
use lookalike_methods::Spec;

/// The whole page.
pub(crate) fn page(comparison: &Comparison, specs: &[Spec], program: &str) -> Vec<u8> {
    let each = verdicts(comparison);
    let each = each.iter().enumerate();
    let mut sections: Vec<Section> = each
        .map(|(n, verdict)| accuracy(comparison, verdict, n))
        .collect();
    sections.extend([found(comparison), agreement(comparison)]);
    let results = comparison.queries.iter();
    sections.extend(results.map(|results| queries(comparison, results)));
    let families = comparison.families.iter();
    sections.extend(families.map(|families| copies(comparison, families)));
    sections.push(methods(specs));
    let frame = Frame {
        below: Some(html! {
            (counted(comparison.methods.len() as u64, "method")) " on " (counted(comparison.documents, "document"))
            ", " (count(comparison.representatives)) " without exact duplicates of earlier ones. Only \
            these are compared, because every method finds exact duplicates."
        }),
        ..Frame::of("Methods side by side", program)
    };
    frame.page(&sections)
}

/// A number with a typographic minus sign.
fn signed(number: i128) -> String {
    let sign = if number < 0 { "\u{2212}" } else { "" };
    let amount = u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX);
    format!("{sign}{}", count(amount))
}

/// The words that the verdicts use.
fn definitions() -> Markup {
    html! {
        p.soft {
            "Precision: the share of a method's pairs that are in the ground truth. Recall: the share of \
             the pairs of the ground truth that the method finds. F1: their harmonic mean. Utility: the \
             number of true pairs minus a cost for each false one (Kołcz & Chowdhury 2008, equation 5). A \
             ground truth is itself the result of a method: two documents that it does not pair may still \
             be near-duplicates for a reader."
        }
    }
}

/// The verdict against a ground truth, and the table with its numbers.
fn accuracy(comparison: &Comparison, verdict: &Verdict, n: usize) -> Section {
    let [first, second] = sentences(verdict, comparison);
    // The best first; the ground truth and methods that found nothing last.
    let mut order: Vec<usize> = (0..comparison.methods.len()).collect();
    let of = |method: usize| verdict.standings.iter().find(|s| s.method == method);
    order.sort_by(|&a, &b| {
        let f1 = |method| of(method).map_or(-1.0, |standing| standing.f1);
        f1(b).total_cmp(&f1(a))
    });
    let rows = order.into_iter().filter_map(|at| {
        let row = comparison.methods.get(at)?;
        let against = row.against.get(n)?;
        let f1 = match row.method == verdict.truth {
            true => "ground truth".into(),
            false => share(of(at).map(|standing| standing.f1)),
        };
        let cells = vec![
            count(row.pairs),
            count(against.found),
            share(against.precision),
            share(against.recall),
            f1,
            signed(against.utility),
            seconds(row.cpu_seconds),
        ];
        Some((numbered(at, &row.method), cells))
    });
    let name = format!("Against {}", plain(&Named::of(&verdict.truth).label()));
    let section = Section {
        markup: html! { "Against " (method(&verdict.truth)) },
        ..Section::new(&format!("truth-{}", n + 1), &name)
    };
    section.with(html! {
        @if n == 0 { p.lead { strong { (visible(&first)) } } } @else { p.lead { (visible(&first)) } }
        @if !second.is_empty() { p { (visible(&second)) } }
        @if n == 0 { (definitions()) }
        (table(
            &format!("Precision and recall against {}", verdict.truth),
            &Grid::names("Method,Pairs,True pairs,Precision,Recall,F1,Utility,CPU seconds"),
            rows,
        ))
    })
}

/// A share with three decimals; a dash if it is undefined.
fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), three)
}

fn found(comparison: &Comparison) -> Section {
    let whole = comparison.representatives.max(1) as f64;
    let rows = comparison.methods.iter().enumerate().map(|(n, row)| {
        let counts = [
            row.pairs,
            row.clusters,
            row.documents,
            row.largest,
            row.ignored,
        ];
        let mut cells: Vec<String> = counts.map(count).into();
        cells.push(format!("{:.1}", row.keys as f64 / whole));
        cells.extend([row.cpu_seconds, row.wall_seconds].map(seconds));
        cells.extend([row.peak_bytes, row.disk_bytes].map(|bytes| ByteSize(bytes).to_string()));
        (numbered(n, &row.method), cells)
    });
    Section::new("found", "Results and costs").with(html! {
        p.soft {
            "Ignored: documents without features, which the method cannot find. Peak memory: resident memory of \
             the process that ran the method. Times and disk space do not include reading the collection, \
             which all methods share. All numbers are in " a href="methods.csv" { "methods.csv" } " and "
            a href="compare.json" { "compare.json" } "."
        }
        (table(
            "Results and costs",
            &Grid::names(
                "Method,Pairs,Clusters,Documents in them,Largest,Ignored,Features per document,CPU seconds,\
                 Wall seconds,Peak memory,Disk space",
            ),
            rows,
        ))
    })
}

/// The class of a tinted cell: from `h0`, nothing, to `h5`, everything.
fn tint(part: u64, whole: u64) -> String {
    format!("n h{}", (part * 5 / whole.max(1)).min(5))
}

fn agreement(comparison: &Comparison) -> Section {
    let agreement = &comparison.agreement;
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let rows = || comparison.methods.iter().zip(&agreement.both).enumerate();
    let by = |(n, &pairs): (u64, &u64)| format!("{} by {}", count(pairs), counted(n, "method"));
    let by = listed(", ", (1..).zip(&agreement.by_methods), by);
    // The caption names the unit of all cells.
    let cell = |part: u64, whole: u64| match whole {
        0 => "–".to_string(),
        whole => {
            let text = numbers::percent(part as f64 / whole as f64, 0);
            text.trim_end_matches(" %").to_string()
        }
    };
    Section::new("agreement", "Agreement").with(html! {
        p {
            (counted(agreement.any, "pair")) " found by any method, " (count(all)) " by all methods (" (by) "). Each row \
            shows the share of its method's pairs, in per cent, that the method of the column finds too, and \
            the number of pairs found only by this method. The numbers of pairs are in "
            a href="agreement.csv" { "agreement.csv" } "."
        }
        (sticky("Agreement", &html! {
            thead { tr {
                (heads(&["Method"]))
                @for (n, row) in comparison.methods.iter().enumerate() {
                    th.n scope="col" aria-label=(plain(&row.method)) { span.no { (n + 1) } }
                }
                (heads(&[">Only here"]))
            } }
            tbody.heat {
                @for (a, (row, both)) in rows() {
                    @let own = both.get(a).copied().unwrap_or(0);
                    tr {
                        (numbered(a, &row.method))
                        @for (b, &pairs) in both.iter().enumerate() {
                            @if a == b { td.n.self { "·" } }
                            @else { td class=(tint(pairs, own)) { (cell(pairs, own)) } }
                        }
                        (number(&count(agreement.alone.get(a).copied().unwrap_or(0))))
                    }
                }
            }
        }))
    })
}

fn queries(comparison: &Comparison, results: &QueryResults) -> Section {
    let place = |name: &str| {
        let rows = &comparison.methods;
        rows.iter().position(|row| row.method == name).unwrap_or(0)
    };
    let rows = |truth: &str| {
        let rows = results.rows.iter().filter(|row| row.truth == truth);
        let each = rows.map(|row| {
            let cells = vec![
                count(row.with_neighbours),
                share(row.recall),
                row.increase.map_or_else(|| "–".into(), increase),
                share(row.precision),
                row.utility
                    .map_or_else(|| "–".into(), |of| format!("{of:.3}")),
                count(row.wrong),
                count(row.clusters),
                part(row.pure, row.clusters),
                part(row.pure_by_label, row.labelled),
            ];
            (numbered(place(&row.method), &row.method), cells)
        });
        each.collect::<Vec<_>>()
    };
    let truths: BTreeSet<&str> = results.rows.iter().map(|row| row.truth.as_str()).collect();
    Section::new("queries", "By query").with(html! {
        p {
            (counted(results.queries, "query")) ": means over the queries for which the ground truth finds \
             another document; utility is a mean over all queries (Kołcz & Chowdhury 2008, equations 3 to \
             5). A cluster is pure if all pairs that the method found in it are true. The numbers are in "
            a href="queries.csv" { "queries.csv" } "."
            @if let Some(against) = &results.against {
                " The increase of recall is relative to " (method(against)) "."
            }
            @if let Some(labelled) = results.labelled {
                " " (counted(labelled, "document")) " with a label: utility and wrong documents count by \
                 label, and a cluster is pure by label if all of its documents with a label have the same."
            }
        }
        @for truth in truths {
            h3 { "Against " (method(truth)) }
            (table(
                &format!("By query against {truth}"),
                &Grid::names("Method,Queries,Recall,Increase,Precision,Utility,Wrong,Clusters,Pure,Pure by label"),
                rows(truth),
            ))
        }
    })
}

/// Limit on the numbers of edits in the table of scores. If there are more, evenly spaced ones are
/// shown.
const MOST_EDITS: usize = 8;

fn copies(comparison: &Comparison, families: &Families) -> Section {
    let whole = families.originals.max(1) as f64;
    let methods = || {
        let each = comparison.methods.iter().enumerate();
        each.map(|(n, row)| (n, numbered(n, &row.method)))
    };
    let sums = methods().map(|(n, name)| {
        let [members, found, clusters, wrong] = families.sums(n);
        let clusters = format!("{:.1}", clusters as f64 / whole);
        (name, vec![part(found, members), clusters, count(wrong)])
    });
    let edits: BTreeSet<u64> = (families.curves.iter())
        .flat_map(|of| of.points.iter().map(|point| point.0))
        .collect();
    let edits = evenly(&edits.into_iter().collect::<Vec<_>>(), MOST_EDITS);
    let by_edits = methods().map(|(n, name)| {
        let points = families.curves.get(n).map_or(&[][..], |of| &of.points);
        let mean = |edits: &u64| {
            points
                .iter()
                .find(|point| point.0 == *edits)
                .map(|point| point.2)
        };
        (name, edits.iter().map(|edits| share(mean(edits))).collect())
    });
    Section::new("copies", "Edited copies").with(html! {
        p {
            (counted(families.copies, "copy")) " of " (counted(families.originals, "original"))
            ". An original and its copies are a family. A document is found if its cluster has another \
             document of its family. A perfect method makes one cluster of each family (Chowdhury et al. 2002, \
             Tables III and IV). A false positive is another document in one of these clusters."
        }
        (table(
            "Edited copies",
            &Grid::names("Method,Documents found,Clusters per family,False positives"),
            sums,
        ))
        @if !edits.is_empty() {
            h3 { "Mean score of copies and originals, by the number of edits" }
            p.soft {
                "By each method's own measure. For a method that counts common features, it is the resemblance of \
                 the feature sets. All numbers of edits are in "
                a href="similarity-by-edits.csv" { "similarity-by-edits.csv" } "."
            }
            (table("Mean score by the number of edits", &Grid::row("Method", edits.iter().map(|n| counted(*n, "edit"))), by_edits))
        }
        p {
            "Each original is in " a href="families.csv" { "families.csv" } ", and the scores of different originals \
             (Cherkasova et al. 2009, Figures 2 to 8) are in "
            a href="similarity-of-distinct.csv" { "similarity-of-distinct.csv" } "."
        }
    })
}

/// At most `most` of some values, evenly spaced, with the first and the last.
fn evenly(of: &[u64], most: usize) -> Vec<u64> {
    let last = of.len().saturating_sub(1);
    let mut places: Vec<usize> = (0..most).map(|n| n * last / (most - 1)).collect();
    places.dedup();
    let values = places.into_iter().filter_map(|n| of.get(n).copied());
    values.collect()
}

fn methods(specs: &[Spec]) -> Section {
    Section::new("methods", "The methods").with(html! {
        p.soft {
            "Run a method with " code { "lookalike lab method SPEC DIR" } ". A click on a specification selects it."
        }
        (sticky("The methods", &html! {
            thead { tr {
                (heads(&["Method", "Specification", "What it does", "Paper", "All parameters"]))
            } }
            tbody {
                @for (n, each) in specs.iter().enumerate() {
                    tr {
                        (numbered(n, &each.to_string()))
                        td.long { (spec(&each.to_string())) }
                        td.long { (each.entry.about) }
                        td.long { (each.entry.paper) }
                        td.long { (spec(&each.whole())) }
                    }
                }
            }
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        AgainstTruth, Agreement, Curve, Distribution, FamilyRow, MethodRow, QueryRow,
    };

    const HOSTILE: &str = "</script><script>alert(1)</script>\"' onload=x \u{202e}\0<b>";

    fn row(method: &str, truth: &str) -> MethodRow {
        MethodRow {
            method: method.into(),
            ignored: 1,
            keys: 10,
            pairs: 4,
            clusters: 2,
            exact_only: 0,
            documents: 5,
            largest: 3,
            sets: Some(2),
            against: vec![AgainstTruth {
                truth: truth.into(),
                true_pairs: 4,
                found: 2,
                precision: Some(0.5),
                recall: Some(0.5),
                utility: -198,
            }],
            wall_seconds: 0.5,
            cpu_seconds: 0.25,
            peak_bytes: 1 << 20,
            disk_bytes: 1 << 10,
        }
    }

    #[test]
    fn some_of_many_are_shown_with_both_ends() {
        let all: Vec<u64> = (10..25).collect();
        assert_eq!(evenly(&all, 8), [10, 12, 14, 16, 18, 20, 22, 24]);
        assert_eq!(evenly(&all[..3], 8), [10, 11, 12]);
        assert_eq!(evenly(&[], 8), [0; 0]);
    }

    #[test]
    fn names_stay_text() {
        let names = [HOSTILE.to_string(), format!("i-match:lexicon={HOSTILE}")];
        let comparison = Comparison {
            documents: 9,
            representatives: 8,
            methods: names.iter().map(|name| row(name, HOSTILE)).collect(),
            agreement: Agreement {
                any: 6,
                by_methods: vec![4, 2],
                alone: vec![2, 2],
                both: vec![vec![4, 2], vec![2, 4]],
            },
            families: Some(Families {
                originals: 1,
                copies: 1,
                unknown: 0,
                rows: vec![FamilyRow {
                    original: HOSTILE.into(),
                    documents: 2,
                    found: vec![2, 0],
                    clusters: vec![1, 2],
                    false_positives: vec![0, 1],
                }],
                curves: names
                    .iter()
                    .map(|name| Curve {
                        method: name.clone(),
                        points: vec![(1, 1, 0.9, 0.9), (2, 1, 0.8, 0.8)],
                    })
                    .collect(),
                distributions: names
                    .iter()
                    .map(|name| Distribution {
                        method: name.clone(),
                        pairs: 2,
                        similar: vec![0.5],
                    })
                    .collect(),
            }),
            queries: Some(QueryResults {
                queries: 1,
                against: Some(HOSTILE.into()),
                labelled: Some(2),
                rows: vec![QueryRow {
                    method: HOSTILE.into(),
                    truth: HOSTILE.into(),
                    recall: Some(0.5),
                    ..QueryRow::default()
                }],
            }),
        };
        let page = page(&comparison, &[], HOSTILE);
        let page = String::from_utf8(page).unwrap();
        for markup in [
            "<script",
            "</script",
            "<b>alert",
            "\u{202e}",
            "\0",
            "\"' onload",
        ] {
            assert!(!page.contains(markup), "{markup:?}");
        }
        // The original, the methods, the labels of marks and the program are there as text.
        assert!(page.matches("&lt;/script&gt;").count() > 10);
        assert!(page.contains("<span class=\"code\">U+202E</span>") && page.contains("−198"));
    }
}
