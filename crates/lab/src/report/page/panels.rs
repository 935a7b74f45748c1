//! Parts that several pages of the laboratory share: small panels side by side, tables whose first
//! column stays, and names of methods.

use crate::report::charts::Plot;
use crate::report::compared::Named;
use lookalike::report::page::markup::{Markup, drawing, html, isolated, visible};

/// A panel: its title, a link to its numbers, and the drawing, if there is anything to show.
pub(super) struct Panel<'p> {
    pub title: Markup,
    /// A file in the directory of the page.
    pub csv: Option<&'p str>,
    pub plot: Option<&'p Plot>,
}

/// Panels side by side.
pub(super) fn panels(panels: &[Panel<'_>]) -> Markup {
    html! {
        div.panels {
            @for panel in panels {
                figure.panel {
                    figcaption {
                        b { (panel.title) }
                        @if let Some(csv) = panel.csv { " " a href=(csv) { "CSV" } }
                    }
                    @match panel.plot {
                        Some(plot) => (drawing(&plot.drawing())),
                        None => p.nothing { "There are no pairs, so there is nothing to show." },
                    }
                }
            }
        }
    }
}

/// A table whose first column is always visible, with its caption and its head. The label is for
/// readers who do not see it.
pub(super) fn sticky(label: &str, table: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" {
            table.sticky { (table) }
        }
    }
}

/// A method: its name, and its parameters after it.
pub(super) fn method(spec: &str) -> Markup {
    let named = Named::of(spec);
    let values = named.values();
    html! {
        bdi {
            b { (visible(named.name)) }
            @if !values.is_empty() { " " span.soft { (visible(&values)) } }
        }
    }
}

/// The head of a row: the number of a method on this page, and the method.
pub(super) fn numbered(n: usize, spec: &str) -> Markup {
    html! { th.name scope="row" { span.no { (n + 1) } " " (method(spec)) } }
}

/// A specification, to be typed or copied. A click selects all of it.
pub(super) fn spec(text: &str) -> Markup {
    html! { code.spec { (isolated(text)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_without_data_says_so() {
        let panel = Panel {
            title: html! { "a" },
            csv: Some("a.csv"),
            plot: None,
        };
        let markup = panels(&[panel]).into_string();
        assert!(markup.contains("href=\"a.csv\"") && markup.contains("nothing to show"));
    }
}
