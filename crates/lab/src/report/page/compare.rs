//! The page of a comparison of methods.

use super::panels::{Panel, method, numbered, panels, spec, sticky};
use crate::compare::{Comparison, Families, QueryResults, Verdict, verdicts};
use crate::report::charts::{BarRow, bars};
use crate::report::compared::{Named, increase, seconds, sentences};
use crate::report::comparison::{curves, distributions, scatter};
use lookalike::report::page::frame::Frame;
use lookalike::report::page::markup::{Markup, drawing, html, isolated, plain, visible};
use lookalike::report::page::panels::{heads, number, part};
use lookalike_base::budget::ByteSize;
use lookalike_base::numbers::{self, count, counted, fraction};
use lookalike_methods::Spec;

/// Limit on the families that have a row.
const FAMILIES_SHOWN: usize = 50;

/// The whole page.
pub(crate) fn page(comparison: &Comparison, specs: &[Spec], program: &str) -> Vec<u8> {
    let verdicts = verdicts(comparison);
    let ids: Vec<String> = (1..=verdicts.len()).map(|n| format!("truth-{n}")).collect();
    let mut contents: Vec<(&str, String)> = Vec::new();
    for (id, verdict) in ids.iter().zip(&verdicts) {
        let name = Named::of(&verdict.truth).label();
        contents.push((id, format!("Against {}", plain(&name))));
    }
    contents.push(("found", "Results and costs".into()));
    contents.push(("agreement", "Agreement".into()));
    if comparison.queries.is_some() {
        contents.push(("queries", "By query".into()));
    }
    if comparison.families.is_some() {
        contents.push(("copies", "Edited copies".into()));
    }
    contents.push(("methods", "The methods".into()));
    let frame = Frame {
        title: "Methods side by side",
        below: Some(html! {
            (counted(comparison.methods.len() as u64, "method")) " on " (counted(comparison.documents, "document"))
            ", " (count(comparison.representatives)) " without exact duplicates of earlier ones. Only \
            these are compared, because every method finds exact duplicates."
        }),
        contents,
        program,
        ..Frame::default()
    };
    let mut sections = Vec::new();
    for (n, (id, verdict)) in ids.iter().zip(&verdicts).enumerate() {
        sections.push(accuracy(comparison, verdict, n, id));
    }
    sections.push(found(comparison));
    sections.push(agreement(comparison));
    if let Some(results) = &comparison.queries {
        sections.push(queries(comparison, results));
    }
    if let Some(families) = &comparison.families {
        sections.push(copies(comparison, families));
    }
    sections.push(methods(specs));
    frame.page(&sections)
}

/// The heads of columns with the numbers of methods.
fn method_heads(comparison: &Comparison) -> Markup {
    html! {
        @for (n, row) in comparison.methods.iter().enumerate() {
            th.n scope="col" aria-label=(plain(&row.method)) { span.no { (n + 1) } }
        }
    }
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

/// The verdict against a ground truth, the figure, and the table with its numbers.
fn accuracy(comparison: &Comparison, verdict: &Verdict, n: usize, id: &str) -> Markup {
    let [first, second] = sentences(verdict, comparison);
    // The best first; the ground truth and methods that found nothing last.
    let mut order: Vec<usize> = (0..comparison.methods.len()).collect();
    let of = |method: usize| verdict.standings.iter().find(|s| s.method == method);
    order.sort_by(|&a, &b| {
        let f1 = |method| of(method).map_or(-1.0, |standing| standing.f1);
        f1(b).total_cmp(&f1(a))
    });
    let number_of = |value: Option<f64>| {
        let text = value.map_or("–".into(), |value| fraction(value, 3));
        number(&text)
    };
    html! {
        section id=(id) {
            h2 { "Against " (method(&verdict.truth)) }
            @if n == 0 { p.lead { strong { (visible(&first)) } } } @else { p.lead { (visible(&first)) } }
            @if !second.is_empty() { p { (visible(&second)) } }
            @if n == 0 { (definitions()) }
            @if !verdict.standings.is_empty() {
                figure.scatter {
                    (drawing(&scatter(comparison, verdict, false)))
                    (drawing(&scatter(comparison, verdict, true)))
                    figcaption {
                        "Up is precise, right is complete; the axes need not begin at 0. The area of a mark is the \
                         CPU time. Orange is the best method, "
                        @if verdict.cheapest.map(|of| of.method) != verdict.best.map(|of| of.method) {
                            "green the cheapest of those close to it, "
                        }
                        "grey the ground truth (" a href="methods.csv" { "CSV" } ")."
                        span.narrow { " The numbers refer to the methods in the table." }
                    }
                }
            }
            (sticky(&plain(&format!("Precision and recall against {}", verdict.truth)), &html! {
                thead { tr {
                    (heads(&["Method", ">Pairs", ">True pairs", ">Precision", ">Recall", ">F1", ">Utility",
                             ">CPU seconds"]))
                } }
                tbody {
                    @for at in order {
                        @if let Some(row) = comparison.methods.get(at) {
                            @if let Some(against) = row.against.get(n) {
                                tr {
                                    (numbered(at, &row.method))
                                    (number(&count(row.pairs)))
                                    (number(&count(against.found)))
                                    (number_of(against.precision))
                                    (number_of(against.recall))
                                    @if row.method == verdict.truth { (number("ground truth")) }
                                    @else { (number_of(of(at).map(|standing| standing.f1))) }
                                    (number(&signed(against.utility)))
                                    (number(&seconds(row.cpu_seconds)))
                                }
                            }
                        }
                    }
                }
            }))
        }
    }
}

fn found(comparison: &Comparison) -> Markup {
    let whole = comparison.representatives.max(1) as f64;
    html! {
        section #found {
            h2 { "Results and costs" }
            p.soft {
                "Ignored: documents without features, which the method cannot find. Peak memory: resident memory of \
                 the process that ran the method. Times and disk space do not include reading the collection, \
                 which all methods share. All numbers are in " a href="methods.csv" { "methods.csv" } " and "
                a href="compare.json" { "compare.json" } "."
            }
            (sticky("Results and costs", &html! {
                thead { tr {
                    (heads(&["Method", ">Pairs", ">Clusters", ">Documents in them", ">Largest", ">Ignored",
                             ">Features per document", ">CPU seconds", ">Wall seconds", ">Peak memory",
                             ">Disk space"]))
                } }
                tbody {
                    @for (n, row) in comparison.methods.iter().enumerate() {
                        tr {
                            (numbered(n, &row.method))
                            (number(&count(row.pairs)))
                            (number(&count(row.clusters)))
                            (number(&count(row.documents)))
                            (number(&count(row.largest)))
                            (number(&count(row.ignored)))
                            (number(&format!("{:.1}", row.keys as f64 / whole)))
                            (number(&seconds(row.cpu_seconds)))
                            (number(&seconds(row.wall_seconds)))
                            (number(&ByteSize(row.peak_bytes).to_string()))
                            (number(&ByteSize(row.disk_bytes).to_string()))
                        }
                    }
                }
            }))
        }
    }
}

/// The class of a tinted cell: from `h0`, nothing, to `h5`, everything.
fn tint(part: u64, whole: u64) -> String {
    let level = match whole {
        0 => 0,
        whole => (part as f64 * 5.0 / whole as f64).floor() as u64,
    };
    format!("n h{}", level.min(5))
}

fn agreement(comparison: &Comparison) -> Markup {
    let agreement = &comparison.agreement;
    let all = agreement.by_methods.last().copied().unwrap_or(0);
    let rows = || comparison.methods.iter().zip(&agreement.both).enumerate();
    let by = agreement.by_methods.iter().enumerate().map(|(n, &pairs)| {
        let label = counted(n as u64 + 1, "method");
        BarRow {
            label,
            value: pairs as f64,
            text: count(pairs),
        }
    });
    // The caption names the unit of all cells.
    let cell = |part: u64, whole: u64| match whole {
        0 => "–".to_string(),
        whole => {
            let text = numbers::percent(part as f64 / whole as f64, 0);
            text.trim_end_matches(" %").to_string()
        }
    };
    html! {
        section #agreement {
            h2 { "Agreement" }
            p {
                (counted(agreement.any, "pair")) " found by any method, " (count(all)) " by all methods. Each row \
                shows the share of its method's pairs, in per cent, that the method of the column finds too, and \
                the number of pairs found only by this method. The numbers of pairs are in "
                a href="agreement.csv" { "agreement.csv" } "."
            }
            (sticky("Agreement", &html! {
                thead { tr {
                    (heads(&["Method"])) (method_heads(comparison)) (heads(&[">Only here"]))
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
            h3 { "Pairs by the number of methods that found them" }
            (bars("Pairs by the number of methods that found them", &by.collect::<Vec<_>>()))
        }
    }
}

fn queries(comparison: &Comparison, results: &QueryResults) -> Markup {
    let share =
        |value: Option<f64>| number(&value.map_or_else(|| "–".into(), |value| fraction(value, 3)));
    let place = |name: &str| {
        let rows = &comparison.methods;
        rows.iter().position(|row| row.method == name).unwrap_or(0)
    };
    html! {
        section #queries {
            h2 { "By query" }
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
            (sticky("By query", &html! {
                thead { tr {
                    (heads(&["Method", "Ground truth", ">Queries", ">Recall", ">Increase", ">Precision",
                             ">Utility", ">Wrong", ">Clusters", ">Pure", ">Pure by label"]))
                } }
                tbody {
                    @for row in &results.rows {
                        tr {
                            (numbered(place(&row.method), &row.method))
                            td { (method(&row.truth)) }
                            (number(&count(row.with_neighbours)))
                            (share(row.recall))
                            (number(&row.increase.map_or_else(|| "–".into(), increase)))
                            (share(row.precision))
                            (number(&row.utility.map_or_else(|| "–".into(), |of| format!("{of:.3}"))))
                            (number(&count(row.wrong)))
                            (number(&count(row.clusters)))
                            (number(&part(row.pure, row.clusters)))
                            (number(&part(row.pure_by_label, row.labelled)))
                        }
                    }
                }
            }))
        }
    }
}

fn copies(comparison: &Comparison, families: &Families) -> Markup {
    let whole = families.originals.max(1) as f64;
    let titled = |plots: &[(usize, crate::report::charts::Plot)]| {
        let each = plots.iter().filter_map(|(n, plot)| {
            let row = comparison.methods.get(*n)?;
            Some(Panel {
                title: html! { span.no { (n + 1) } " " (method(&row.method)) },
                csv: None,
                plot: Some(plot),
            })
        });
        panels(&each.collect::<Vec<_>>())
    };
    let distinct = distributions(comparison);
    let shown = families.rows.len().min(FAMILIES_SHOWN) as u64;
    html! {
        section #copies {
            h2 { "Edited copies" }
            p {
                (counted(families.copies, "copy")) " of " (counted(families.originals, "original"))
                ". An original and its copies are a family. A document is found if its cluster has another \
                 document of its family. A perfect method makes one cluster of each family (Chowdhury et al. 2002, \
                 Tables III and IV). A false positive is another document in one of these clusters."
            }
            (sticky("Edited copies", &html! {
                thead { tr {
                    (heads(&["Method", ">Documents found", ">Clusters per family", ">False positives"]))
                } }
                tbody {
                    @for (n, row) in comparison.methods.iter().enumerate() {
                        @let [members, found, clusters, wrong] = families.sums(n);
                        tr {
                            (numbered(n, &row.method))
                            (number(&part(found, members)))
                            (number(&format!("{:.1}", clusters as f64 / whole)))
                            (number(&count(wrong)))
                        }
                    }
                }
            }))
            h3 { "Scores of copies and originals, by the number of edits" }
            p.soft {
                "Mean score (vertical) of the copies with the same number of edits (horizontal), by each \
                 method's own measure. For a method that counts common features, it is the resemblance of the \
                 feature sets. Grey lines are the other methods ("
                a href="similarity-by-edits.csv" { "CSV" } ", " a href="similarity-by-edits.svg" { "SVG" } ")."
            }
            (titled(&curves(comparison)))
            @if !distinct.is_empty() {
                h3 { "Scores of different originals" }
                p.soft {
                    "Share of the pairs of originals (vertical) up to a score (horizontal). The further to the \
                     left a line rises, the lower the method scores different documents (Cherkasova et al. \
                     2009, Figures 2 to 8; " a href="similarity-of-distinct.csv" { "CSV" } ", "
                    a href="similarity-of-distinct.svg" { "SVG" } ")."
                }
                (titled(&distinct))
            }
            details {
                summary { "Each original" }
                div.in {
                    p.soft {
                        "The share of its family that each method found, and the number of clusters. "
                        (count(shown)) " of " (counted(families.rows.len() as u64, "original")) "; all are in "
                        a href="families.csv" { "families.csv" } "."
                    }
                    (sticky("Each original", &html! {
                        thead { tr {
                            (heads(&["Original", ">Documents"])) (method_heads(comparison))
                        } }
                        tbody {
                            @for row in families.rows.iter().take(FAMILIES_SHOWN) {
                                tr {
                                    th.name scope="row" { (isolated(&row.original)) }
                                    (number(&count(row.documents)))
                                    @for (&found, clusters) in row.found.iter().zip(&row.clusters) {
                                        td.n { (part(found, row.documents)) span.range { "in " (clusters) } }
                                    }
                                }
                            }
                        }
                    }))
                }
            }
        }
    }
}

fn methods(specs: &[Spec]) -> Markup {
    html! {
        section #methods {
            h2 { "The methods" }
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
                            td.long { (each.entry().about) }
                            td.long { (each.entry().paper) }
                            td.long { (spec(&each.whole())) }
                        }
                    }
                }
            }))
        }
    }
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
