//! The pages of the laboratory, in the frame of the report page, and parts that several of them
//! share: names of methods and columns.

pub(crate) mod compare;
mod plotted;
pub mod reproduced;
pub mod study;

use crate::report::compared::Named;
use crate::reproduce::Column;
use lookalike::report::page::markup::{Markup, html, isolated, visible};

/// A method: its name, and its parameters after it.
fn method(spec: &str) -> Markup {
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
fn numbered(n: usize, spec: &str) -> Markup {
    html! { th.name scope="row" { span.no { (n + 1) } " " (method(spec)) } }
}

/// A specification, to be typed or copied. A click selects all of it.
fn spec(text: &str) -> Markup {
    html! { code.spec { (isolated(text)) } }
}

/// A column's name for people; the paper's are marked.
fn head(column: &Column) -> String {
    let name = column.name.strip_suffix("_paper").unwrap_or(&column.name);
    name.replace('_', " ")
}
