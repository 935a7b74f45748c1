//! The pages of reproductions: claims first, then every table and figure of a paper.

use super::head;
use super::plotted::plotted;
use crate::report::grid::sticky;
use crate::report::reproduced::{Reproduced, ReproducedPaper};
use crate::reproduce::{Claim, Column, Exhibit, Finding, Form, Paper, Reproduction};
use lookalike::report::page::frame::{Frame, Section};
use lookalike::report::page::markup::{Markup, html, visible};
use lookalike_base::{count, counted};

/// More rows than this are folded.
const ROWS_SHOWN: usize = 24;

/// The page of a paper.
pub(crate) fn page(of: &Reproduction, program: &str) -> Vec<u8> {
    let title = format!("{} on this collection", of.paper.authors());
    let frame = Frame {
        below: Some(html! {
            cite { (of.paper.title()) } ". The collection has " (counted(of.documents, "document")) ", "
            (count(of.representatives)) " without exact duplicates of earlier ones. "
            a href="reproduce.html" { "All papers" } "."
        }),
        ..Frame::of(&title, program)
    };
    let mut sections = vec![claims(&of.claims)];
    let each = of.exhibits.iter().map(|exhibit| section(of.paper, exhibit));
    sections.extend(each);
    frame.page(&sections)
}

/// The page of all papers: their claims.
pub(crate) fn index(of: &Reproduced) -> Vec<u8> {
    let frame = Frame {
        below: Some(html! {
            "What " (counted(of.papers.len() as u64, "paper")) " about duplicate detection found, and what this \
             collection says to it."
        }),
        ..Frame::of("The papers on this collection", &of.program)
    };
    let sections: Vec<_> = of.papers.iter().map(of_paper).collect();
    frame.page(&sections)
}

fn of_paper(of: &ReproducedPaper) -> Section {
    let page = format!("{}.html", of.paper);
    let section = Section {
        markup: html! { a href=(page) { (of.paper.authors()) } },
        ..Section::new(of.paper.text(), of.paper.authors())
    };
    section.with(html! {
        p.soft { cite { (of.paper.title()) } }
        p {
            @for (n, (claims, words)) in of.findings().into_iter().enumerate() {
                @if n > 0 { ", " }
                b { (claims) } " " (words)
            }
            "."
        }
        (claim_rows(&of.claims, &page))
        p.small {
            "Tables and figures: "
            @for (n, (file, place, title)) in of.exhibits.iter().enumerate() {
                @if n > 0 { ", " }
                @match file {
                    Some(file) => { a href=(file) title=(title) { (visible(place)) } }
                    None => { (visible(place)) " (not here)" }
                }
            }
            "."
        }
    })
}

fn claims(claims: &[Claim]) -> Section {
    Section::new("claims", "Claims").with(html! {
        @if claims.is_empty() { p { "None." } }
        (claim_rows(claims, ""))
    })
}

/// A table of claims. `page` is the page with the exhibits; empty for this one.
fn claim_rows(claims: &[Claim], page: &str) -> Markup {
    html! {
        @if !claims.is_empty() {
            div.scroll tabindex="0" {
                table.findings {
                    thead { tr { th scope="col" { "Finding" } th scope="col" { "Claim" } th scope="col" { "On this collection" } } }
                    tbody { @for claim in claims { tr {
                        td.finding { (finding(claim.finding)) }
                        td.long {
                            (visible(&claim.says)) " "
                            @match claim.exhibit.as_str() {
                                "" => span.soft { (visible(&claim.place)) },
                                exhibit => a href={ (page) "#" (exhibit) } { (visible(&claim.place)) },
                            }
                        }
                        td.long { (sentence(&claim.here)) }
                    } } }
                }
            }
        }
    }
}

/// A sentence, in which commands are between backticks.
fn sentence(text: &str) -> Markup {
    html! {
        @for (n, part) in text.split('`').enumerate() {
            @if n % 2 == 0 { (visible(part)) } @else { code { (visible(part)) } }
        }
    }
}

/// A finding as a mark and a word.
fn finding(finding: Finding) -> Markup {
    let (mark, class) = match finding {
        Finding::Holds => ("✓", "holds"),
        Finding::Differs => ("≠", "differs"),
        Finding::Untested => ("–", "untested"),
    };
    html! { span class=(class) { span aria-hidden="true" { (mark) " " } (finding) } }
}

fn section(paper: Paper, exhibit: &Exhibit) -> Section {
    let file = format!("{paper}.{}.tsv", exhibit.name);
    let section = Section {
        markup: html! { (visible(&exhibit.place)) ". " (visible(&exhibit.title)) },
        ..Section::new(&exhibit.name, &exhibit.place)
    };
    section.with(html! {
        p.soft { (sentence(&exhibit.about)) }
        @if exhibit.rows.is_empty() {
            p.note { "This collection has no numbers for it." }
        } @else {
            @if let Some(plot) = &exhibit.plot { (plotted(exhibit, plot)) }
            @if exhibit.rows.len() > ROWS_SHOWN && exhibit.plot.is_some() {
                details {
                    summary { "All " (counted(exhibit.rows.len() as u64, "row")) }
                    div.in { (rows(exhibit)) }
                }
            } @else {
                (rows(exhibit))
            }
            p.small { a href=(file) { (file) } }
        }
    })
}

fn is_text(column: &Column) -> bool {
    column.form == Form::Text
}

fn rows(exhibit: &Exhibit) -> Markup {
    sticky(
        &exhibit.title,
        &html! {
            thead { tr {
                @for column in &exhibit.columns {
                    th.n[!is_text(column)].paper[column.is_paper()] scope="col" {
                        (visible(&head(column)))
                        @if column.is_paper() { " " span.range { "in the paper" } }
                    }
                }
            } }
            tbody {
                @for row in &exhibit.rows { tr {
                    @for (n, (cell, column)) in row.iter().zip(&exhibit.columns).enumerate() {
                        @let text = cell.shown(column.form);
                        @if n == 0 {
                            th.name[is_text(column)].n[!is_text(column)] scope="row" { (visible(&text)) }
                        } @else {
                            td.n[!is_text(column)].long[is_text(column)].paper[column.is_paper()] { (visible(&text)) }
                        }
                    }
                } }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{Plotted, cells};

    fn figure() -> Exhibit {
        let methods = ["mod", "min:n=3"].into_iter();
        let paper = |edits: u64| (edits == 1).then_some(0.9);
        let rows = methods.flat_map(|method| {
            let row = move |edits| cells![method, edits, 1.0 / edits as f64, paper(edits)];
            (1..=20u64).map(row)
        });
        let columns = [
            ("method", Form::Text),
            ("edits", Form::Count),
            ("similarity", Form::Share),
            ("similarity_paper", Form::Share),
        ];
        let columns = columns.map(|(name, form)| Column {
            name: name.into(),
            form,
        });
        Exhibit {
            name: "figure-2".into(),
            place: "Figure 2".into(),
            title: "Similarity".into(),
            about: "About <it>.".into(),
            columns: columns.into(),
            rows: rows.collect(),
            plot: Some(Plotted {
                x: "edits".into(),
                y: vec!["similarity".into(), "similarity_paper".into()],
                panels: Some("method".into()),
                logarithmic: (false, false),
            }),
        }
    }

    #[test]
    fn a_page_has_the_claims_a_panel_for_each_method_and_every_row() {
        let claim = Claim {
            place: "Figure 2".into(),
            exhibit: "figure-2".into(),
            says: "Edits lower similarity.".into(),
            finding: Finding::Holds,
            here: "0.05 < 1".into(),
        };
        let none = Exhibit {
            name: "table-9".into(),
            rows: Vec::new(),
            ..figure()
        };
        let of = Reproduction {
            paper: Paper::Cherkasova2009,
            documents: 3,
            representatives: 2,
            claims: vec![claim],
            exhibits: vec![figure(), none],
        };
        let page = String::from_utf8(page(&of, "lookalike")).unwrap();
        assert_eq!(page.matches("<figure class=\"panel\">").count(), 2);
        assert_eq!(page.matches("<tr>").count(), 2 + 1 + 40);
        for text in [
            "✓",
            "href=\"#figure-2\"",
            "About &lt;it&gt;.",
            "min n = 3",
            "All 40 rows",
            "no numbers for it",
        ] {
            assert!(page.contains(text), "{text}");
        }
    }
}
