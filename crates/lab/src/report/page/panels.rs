//! Parts that several pages of the laboratory share: small panels side by side, and names of methods.

use crate::report::charts::Plot;
use crate::report::compared::Named;
use lookalike::report::page::markup::{Markup, drawing, html, isolated, visible};

/// Panels side by side, each with its title.
pub(super) fn panels(panels: &[(String, Plot)]) -> Markup {
    html! {
        div.panels {
            @for (title, plot) in panels {
                figure.panel {
                    figcaption { b { (visible(title)) } }
                    (drawing(&plot.drawing()))
                }
            }
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
