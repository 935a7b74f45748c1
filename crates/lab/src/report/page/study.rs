//! The page of a sampling study: what sampling costs on this collection, and what the paper says.

use super::panels::{Panel, panels, sticky};
use crate::report::figures::{Adaptive, AtTarget, GroupRow, StudyFigure, sheet};
use crate::study::{MeanAndRange, Study, StudyComparison, StudyCost, Way, comparison, ratio_name};
use lookalike::report::page::frame::Frame;
use lookalike::report::page::markup::{Markup, html, visible};
use lookalike::report::page::panels::{heads, number};
use lookalike_base::Result;
use lookalike_base::ids::Threshold;
use lookalike_base::numbers::{self, count, counted, fraction};

/// The page. The same study, costs and program give the same bytes.
pub(crate) fn page(study: &Study, cost: &StudyCost, program: &str) -> Result<Vec<u8>> {
    study.config.check()?;
    // The counts are checked before they are compared.
    let sheet = sheet(study)?;
    let compared = comparison(study, cost);
    let mut contents = vec![("runs", "Runs side by side".to_string())];
    let figures = sheet.figures.iter();
    contents.extend(figures.map(|figure| (figure.id, figure.title.to_string())));
    let all = sheet.groups.last();
    let (documents, shingles) = all.map_or((0, 0), |all| (all.documents, all.shingles));
    let frame = Frame {
        title: "Sampling study",
        below: Some(html! {
            (counted(documents, "document")) " with " (counted(shingles, "shingle")) ", "
            (counted(cost.count, "trial")) ". They repeat the figures of Ye, Wen & Ma, "
            cite { "A systematic study on parameter correlations in large-scale duplicate document detection" }
            " (2008), on this collection."
        }),
        contents,
        program,
        ..Frame::default()
    };
    let mut sections = vec![
        verdict(&sheet.adaptive, &sheet.groups, &compared),
        definitions(compared.threshold),
        runs(&compared),
    ];
    for figure in &sheet.figures {
        let extra = match figure.id {
            "sizes" => groups(&sheet.groups),
            _ => html! {},
        };
        sections.push(section(figure, &extra));
    }
    Ok(frame.page(&sections))
}

/// The words that the result and the figures use.
fn definitions(threshold: Threshold) -> Markup {
    html! {
        section #words aria-label="Definitions" {
            p {
                "A run at 1/16 sorts one of sixteen classes of shingles and estimates resemblance from them. Among \
                 the pairs that it lists at " (threshold) " or above, " em { "precision" }
                " is the share of true pairs. Among all true pairs, " em { "recall" }
                " is the share that the run lists. " em { "Uniform" } " sampling has one ratio for all documents, "
                em { "adaptive" } " sampling one for each size group."
            }
        }
    }
}

fn verdict(adaptive: &Adaptive, groups: &[GroupRow], compared: &StudyComparison) -> Markup {
    let sentences = adaptive.sentences();
    let targets = &adaptive.targets;
    type Share = fn(&AtTarget) -> f64;
    let shares: [(&str, Share); 3] = [
        ("Shingles to process, ratio by group", |at| at.share),
        ("Shingles to process, one ratio", |at| at.uniform_share),
        ("Lower limit", |at| at.least_share),
    ];
    html! {
        section #verdict aria-label="Result" {
            @for (n, sentence) in sentences.iter().enumerate() {
                @if n == 0 { p.lead { strong { (visible(sentence)) } } } @else { p { (visible(sentence)) } }
            }
            @if let Some(threshold) = adaptive.threshold.filter(|_| !adaptive.targets.is_empty()) {
                h2.small-head { "Ratio by size group for a mean precision at threshold " (threshold) }
                (sticky("Ratio by size group", &html! {
                    thead { tr {
                        (heads(&["Size group"]))
                        @for at in targets { th.n scope="col" { "Precision 0." (at.target) } }
                    } }
                    tbody {
                        // The last row of `groups` is of all documents.
                        @for (n, group) in groups.iter().take(groups.len().saturating_sub(1)).enumerate() {
                            tr {
                                th scope="row" { (visible(&group.words)) " words" }
                                @for at in targets { (number(&ratio_name(at.groups.get(n).copied().unwrap_or(1)))) }
                            }
                        }
                        tr {
                            th scope="row" { "One ratio for all" }
                            @for at in targets { (number(&ratio_name(at.uniform))) }
                        }
                        @for (name, share) in shares {
                            tr {
                                th scope="row" { (name) }
                                @for at in targets { (number(&numbers::percent(share(at), 1))) }
                            }
                        }
                    }
                }))
            }
            p { (visible(&compared.verdict)) }
        }
    }
}

/// Exact, sampled, verified and planned runs side by side.
fn runs(of: &StudyComparison) -> Markup {
    html! {
        section #runs {
            h2 { "Runs side by side" }
            p {
                "The table has the mean over all classes of a ratio and, in grey, the worst and the best class. "
                "A " em { "verified" } " run checks each pair in the full sets if the sample estimates at least the \
                 given resemblance, so that no listed pair is false. A " em { "plan" }
                " gives each size group the smallest ratio that keeps the given precision. " em { "Not sampled" }
                " are documents without a shingle in the sample: no pair contains them."
            }
            (sticky("Runs side by side", &html! {
                thead { tr {
                    (heads(&["Run", ">Shingles sorted", ">Precision", ">Recall", ">Pairs", ">Verified pairs",
                             ">Not sampled", ">CPU seconds"]))
                } }
                tbody { @for row in &of.rows { (run(row)) } }
            }))
            p.soft.small {
                "CPU seconds are measured from the collection to the pairs at " (of.lowest)
                ", the lowest threshold of the study. Reading the collection took "
                (format!("{:.2}", of.reading_seconds)) " CPU seconds more. The numbers are in "
                a href="study.json" { "study.json" } "; the numbers of each class are in "
                a href="trials.csv" { "trials.csv" } " and " a href="summary.csv" { "summary.csv" } "."
            }
        }
    }
}

fn run(row: &Way) -> Markup {
    let mean = |n: f64| match n {
        0.0 => "–".to_string(),
        n => count(n.round() as u64),
    };
    let seconds = row.cpu_seconds;
    html! {
        tr {
            th scope="row" { (visible(&row.name)) }
            (number(&numbers::percent(row.share, 2)))
            (spread(row.precision))
            (spread(row.recall))
            (number(&mean(row.found)))
            (number(&mean(row.looked_up)))
            (number(&mean(row.nothing_sampled)))
            (number(&seconds.map_or("–".into(), |seconds| format!("{seconds:.2}"))))
        }
    }
}

/// A share with its spread over classes.
fn spread(spread: Option<MeanAndRange>) -> Markup {
    let text = |value: f64| fraction(value, 3);
    html! {
        td.n {
            @match spread {
                None => "–",
                Some(s) => {
                    (text(s.mean))
                    @if s.least != s.greatest {
                        span.range { (text(s.least)) "–" (text(s.greatest)) }
                    }
                }
            }
        }
    }
}

fn section(figure: &StudyFigure, extra: &Markup) -> Markup {
    let each = figure.panels.iter().map(|panel| Panel {
        title: html! { (visible(&panel.title)) },
        csv: Some(&panel.csv),
        plot: panel.plot.as_ref(),
    });
    html! {
        section id=(figure.id) {
            h2 { (figure.title) }
            p.soft { (visible(&figure.about)) }
            // Those of each ratio are files.
            @if matches!(figure.id, "precision" | "recall") {
                p { "Charts: " @for panel in &figure.panels {
                    a href=(panel.csv.replace(".csv", ".svg")) { (visible(&panel.title)) } " (" a href=(panel.csv) { "CSV" } ") "
                } }
            } @else { (panels(&each.collect::<Vec<_>>())) }
            (extra)
            div.claims {
                div {
                    h3 { "In the paper" }
                    @for sentence in &figure.paper { p { (sentence) } }
                }
                div {
                    h3 { "Here" }
                    @for (of, sentence) in &figure.here {
                        p {
                            @if !of.is_empty() { b { (of) } " " }
                            (visible(sentence))
                        }
                    }
                }
            }
        }
    }
}

fn groups(rows: &[GroupRow]) -> Markup {
    let share = |share: f64| number(&numbers::percent(share, 1));
    let gov = |of: Option<f64>| of.map_or_else(|| number("–"), share);
    html! {
        (sticky("Documents and shingles by size group", &html! {
            caption { "Documents and shingles by size group (" a href="table3.csv" { "CSV" } ")" }
            thead { tr {
                (heads(&["Words", ">Documents", ">Share", ">Share in .GOV", ">Shingles", ">Share",
                         ">Share in .GOV"]))
            } }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { (visible(&row.words)) }
                        (number(&count(row.documents)))
                        (share(row.shares[0]))
                        (gov(row.gov.map(|gov| gov[0])))
                        (number(&count(row.shingles)))
                        (share(row.shares[1]))
                        (gov(row.gov.map(|gov| gov[1])))
                    }
                }
            }
        }))
    }
}
