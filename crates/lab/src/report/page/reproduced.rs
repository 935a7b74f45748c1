//! The pages of reproductions: claims first, then every table and figure of a paper.

use std::slice;

use super::panels::panels;
use crate::report::charts::{Axis, Line, Plot, Points, Tone};
use crate::report::compared::Named;
use crate::report::grid::sticky;
use crate::report::reproduced::{Reproduced, ReproducedPaper};
use crate::reproduce::{Cell, Claim, Column, Exhibit, Finding, Form, Paper, Plotted, Reproduction};
use lookalike::report::page::frame::Frame;
use lookalike::report::page::markup::{Markup, html, visible};
use lookalike_base::numbers::{count, counted};

/// More rows than this are folded.
const ROWS_SHOWN: usize = 24;
/// Limit on the panels of a figure.
const MOST_PANELS: usize = 24;

/// The page of a paper.
pub(crate) fn page(of: &Reproduction, program: &str) -> Vec<u8> {
    let mut contents = vec![("claims", "Claims".to_string())];
    let each = of.exhibits.iter();
    contents.extend(each.map(|exhibit| (exhibit.name.as_str(), exhibit.place.clone())));
    let title = format!("{} on this collection", of.paper.authors());
    let frame = Frame {
        title: &title,
        below: Some(html! {
            cite { (of.paper.title()) } ". The collection has " (counted(of.documents, "document")) ", "
            (count(of.representatives)) " without exact duplicates of earlier ones. "
            a href="reproduce.html" { "All papers" } "."
        }),
        contents,
        program,
        ..Frame::default()
    };
    let mut sections = vec![claims(&of.claims)];
    let each = of.exhibits.iter().map(|exhibit| section(of.paper, exhibit));
    sections.extend(each);
    frame.page(&sections)
}

/// The page of all papers: their claims.
pub(crate) fn index(of: &Reproduced) -> Vec<u8> {
    let contents = of.papers.iter();
    let contents = contents.map(|of| (of.paper.text(), of.paper.authors().to_string()));
    let frame = Frame {
        title: "The papers on this collection",
        below: Some(html! {
            "What " (counted(of.papers.len() as u64, "paper")) " about duplicate detection found, and what this \
             collection says to it."
        }),
        contents: contents.collect(),
        program: &of.program,
        ..Frame::default()
    };
    let sections: Vec<Markup> = of.papers.iter().map(of_paper).collect();
    frame.page(&sections)
}

fn of_paper(of: &ReproducedPaper) -> Markup {
    let page = format!("{}.html", of.paper);
    html! {
        section id=(of.paper.text()) {
            h2 { a href=(page) { (of.paper.authors()) } }
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
        }
    }
}

fn claims(claims: &[Claim]) -> Markup {
    html! {
        section #claims {
            h2 { "Claims" }
            @if claims.is_empty() { p { "None." } }
            (claim_rows(claims, ""))
        }
    }
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

fn section(paper: Paper, exhibit: &Exhibit) -> Markup {
    let file = format!("{paper}.{}.tsv", exhibit.name);
    html! {
        section id=(exhibit.name) {
            h2 { (visible(&exhibit.place)) ". " (visible(&exhibit.title)) }
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
        }
    }
}

/// A column's name for people; the paper's are marked.
fn head(column: &Column) -> String {
    let name = column.name.strip_suffix("_paper").unwrap_or(&column.name);
    name.replace('_', " ")
}

fn is_text(column: &Column) -> bool {
    column.form == Form::Text
}

fn rows(exhibit: &Exhibit) -> Markup {
    let cells = |row: &[Cell]| -> Vec<(usize, String)> {
        let each = row.iter().zip(&exhibit.columns);
        let each = each.map(|(cell, column)| cell.shown(column.form));
        each.enumerate().collect()
    };
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
                    @for (n, text) in cells(row) {
                        @let column = &exhibit.columns[n];
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

/// A column and its values by row.
struct Along<'e> {
    column: &'e Column,
    cells: Vec<&'e Cell>,
}

impl<'e> Along<'e> {
    fn of(exhibit: &'e Exhibit, name: &str) -> Option<Along<'e>> {
        let at = exhibit.columns.iter().position(|of| of.name == name)?;
        Some(Along {
            column: &exhibit.columns[at],
            cells: exhibit.rows.iter().filter_map(|row| row.get(at)).collect(),
        })
    }

    /// The columns with some names.
    fn all<'n>(
        exhibit: &'e Exhibit,
        names: impl IntoIterator<Item = &'n String>,
    ) -> Vec<Along<'e>> {
        let names = names.into_iter();
        names.filter_map(|name| Along::of(exhibit, name)).collect()
    }

    /// Its name for people, which says whose the values are.
    fn whole_head(&self) -> String {
        match self.column.is_paper() {
            true => format!("{}, in the paper", head(self.column)),
            false => head(self.column),
        }
    }
}

/// The panels of a figure.
fn plotted(exhibit: &Exhibit, plot: &Plotted) -> Markup {
    let [x, y, by] = [
        slice::from_ref(&plot.x),
        plot.y.as_slice(),
        plot.panels.as_slice(),
    ]
    .map(|names| Along::all(exhibit, names));
    panels(&lines(
        &exhibit.title,
        (&x, &y),
        by.first(),
        plot.logarithmic,
    ))
}

/// The axis of the values of some columns. That of parameters has a title and begins where they
/// begin; shares and counts begin at 0.
fn axis(of: &[Along<'_>], decades: bool, parameters: bool) -> Axis {
    let values = of.iter().flat_map(|of| &of.cells);
    let values = values.filter_map(|cell| cell.number());
    let values: Vec<f64> = values.filter(|value| !decades || *value > 0.0).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let first = of.first().filter(|_| parameters);
    let title = first.map_or_else(String::new, |of| head(of.column));
    match (values.is_empty(), decades) {
        (true, _) => Axis::linear(&title, 0.0, 1.0, 5),
        (_, true) => Axis::decades(&title, least, most),
        (_, false) if parameters => Axis::linear(&title, least, most, 5),
        (_, false) => Axis::linear(&title, least.min(0.0), most, 5),
    }
}

/// Panels of lines: title and drawing.
fn lines(
    about: &str,
    (x, y): (&[Along<'_>], &[Along<'_>]),
    by: Option<&Along<'_>>,
    (x_decades, y_decades): (bool, bool),
) -> Vec<(String, Plot)> {
    let along: Vec<&Cell> = x.iter().flat_map(|x| x.cells.clone()).collect();
    let group = |row: usize| by.map(|by| by.cells[row].shown(Form::Text));
    let mut groups: Vec<Option<String>> = Vec::new();
    for group in (0..along.len()).map(group) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let points = |of: &Option<String>, y: &Along<'_>| -> Points {
        let rows = along.iter().zip(&y.cells).enumerate();
        let rows = rows.filter(|(row, _)| group(*row) == *of);
        rows.filter_map(|(_, (x, y))| Some((x.number()?, y.number())))
            .collect()
    };
    let (across, up) = (axis(x, x_decades, true), axis(y, y_decades, false));
    let tones = [Tone::First, Tone::Second, Tone::Third];
    let shown_groups = groups.iter().take(MOST_PANELS);
    let each = shown_groups.map(|group| {
        let own = y.iter().zip(tones.iter().cycle()).map(|(of, &tone)| {
            let several = y.len() > 1;
            let label = if several {
                of.whole_head()
            } else {
                String::new()
            };
            Line::new(label, tone, points(group, of))
        });
        let others = groups.iter().filter(|other| *other != group);
        let others = others.flat_map(|other| {
            let first = y.first().map(|of| points(other, of));
            first.map(|points| Line::new("", Tone::Context, points))
        });
        let lines: Vec<Line> = own.filter(Line::is_defined).chain(others).collect();
        let title = match group {
            Some(group) => Named::of(group).label(),
            None => y.first().map_or_else(String::new, |of| head(of.column)),
        };
        let plot = Plot {
            about: format!("{about}: {title}"),
            x: across.clone(),
            y: up.clone(),
            lines,
        };
        (title, plot)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::cells;

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
