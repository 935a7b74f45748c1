//! Two texts side by side.

use super::frame::many;
use super::markup::{Markup, html, lines};
use lookalike_base::percent;
use lookalike_engine::align::{Block, Stretch, TextComparison};
use lookalike_text::parse::TokenKind;

/// Words around a difference that are not folded.
pub(super) const CONTEXT: usize = 15;

/// Words of a comparison from which on a strip shows where the texts differ.
const LEAST_OF_STRIP: usize = 120;
/// Width of the strip in its own units, and so the limit on its marks.
const STRIP: usize = 600;

/// Explains the marks, and lets the reader choose what is marked: at first the differences, or the
/// text that both share. The element around both texts has the class `pair`.
pub(super) fn options(shared: bool) -> Markup {
    html! {
        div.options {
            span.together { del { "only in the first" } } span.together { ins { "only in the second" } }
            span.together { span.like { "written differently" } }
            label { input.mark-shared type="checkbox" checked[shared]; "Mark what both texts share instead" }
        }
    }
}

/// A part of a comparison.
pub(super) fn block(comparison: &TextComparison<'_>, block: &Block) -> Markup {
    match block {
        Block::Folded(stretch) => html! {
            details.fold {
                summary { "… " (many(stretch.a.len() as u64, "word")) " in common …" }
                (rows(comparison, std::slice::from_ref(stretch)))
            }
        },
        Block::Shown(stretches) => rows(comparison, stretches),
    }
}

/// Stretches, cut into rows.
pub(super) fn rows(comparison: &TextComparison<'_>, stretches: &[Stretch]) -> Markup {
    html! {
        @for each in comparison.rows(stretches, lines_of(comparison)) { (row(comparison, &each)) }
    }
}

/// The line feeds that begin a row: a program has lines, and a text has paragraphs.
pub(super) fn lines_of(comparison: &TextComparison<'_>) -> usize {
    match comparison.a.words.parse.tokens {
        TokenKind::Code(_) => 1,
        _ => 2,
    }
}

/// A row of both texts.
pub(super) fn row(comparison: &TextComparison<'_>, row: &[Stretch]) -> Markup {
    html! {
        div.two-texts {
            (side(comparison, row, true))
            (side(comparison, row, false))
        }
        "\n"
    }
}

/// One of the texts in a row. The first text has also the words of the second, which show only on a
/// narrow screen, in place of the second text: there equal words are shown once.
fn side(comparison: &TextComparison<'_>, row: &[Stretch], first: bool) -> Markup {
    let text_of = |stretch: &Stretch, first| comparison.text(stretch, first);
    let none = row.iter().all(|stretch| text_of(stretch, first).is_empty());
    html! {
        div.side.lines[lines_of(comparison) == 1] dir="auto" {
            span.hidden-label { @if first { "first: " } @else { "second: " } }
            @if none { span.nothing { "no text here" } }
            @for stretch in row {
                @let (text, other) = (text_of(stretch, first), text_of(stretch, false));
                @let words = text.trim_end();
                // The space after the last word is not marked.
                @let after = text.get(words.len()..).unwrap_or_default();
                @if stretch.equal { (equal(comparison, stretch, first)) }
                @else if first {
                    @if !text.is_empty() { del { (lines(words)) } }
                    @if !other.is_empty() { ins.also { (lines(other.trim_end())) } }
                    (lines(after))
                }
                @else if !text.is_empty() { ins { (lines(words)) } (lines(after)) }
            }
        }
    }
}

/// Equal words. Marks those that are written differently: case, punctuation, white space.
fn equal(comparison: &TextComparison<'_>, stretch: &Stretch, first: bool) -> Markup {
    let (a, b) = (&comparison.a, &comparison.b);
    let each = stretch.a.clone().zip(stretch.b.clone());
    let mut runs: Vec<(bool, std::ops::Range<usize>)> = Vec::new();
    for (of_a, of_b) in each {
        let same = a.text(&(of_a..of_a + 1)) == b.text(&(of_b..of_b + 1));
        let at = if first { of_a } else { of_b };
        match runs.last_mut() {
            Some((is_same, run)) if *is_same == same => run.end = at + 1,
            _ => runs.push((same, at..at + 1)),
        }
    }
    let of = if first { a } else { b };
    html! {
        span.same {
            @for (same, run) in runs {
                @let text = of.text(&run);
                @let marked = text.trim_end();
                @if same { (lines(text)) }
                @else { span.like { (lines(marked)) } (lines(text.get(marked.len()..).unwrap_or_default())) }
            }
        }
    }
}

/// Where two long texts differ, from their beginnings on the left to their ends on the right.
pub(super) fn strip(comparison: &TextComparison<'_>) -> Markup {
    let length = |stretch: &Stretch| stretch.a.len().max(stretch.b.len());
    let all: usize = comparison.stretches.iter().map(length).sum();
    if all < LEAST_OF_STRIP {
        return html! {};
    }
    let equal = comparison.stretches.iter().filter(|stretch| stretch.equal);
    let equal: usize = equal.map(length).sum();
    // By column: whether the first text has words of its own there, and whether the second has.
    let mut columns = vec![(false, false); STRIP];
    let mut at = 0;
    for stretch in &comparison.stretches {
        let to = at + length(stretch);
        if !stretch.equal {
            let (from, end) = (at * STRIP / all, (to * STRIP).div_ceil(all));
            for column in columns.iter_mut().take(end).skip(from) {
                column.0 |= !stretch.a.is_empty();
                column.1 |= !stretch.b.is_empty();
            }
        }
        at = to;
    }
    let mut marks = Vec::new();
    let mut from = 0;
    for run in columns.chunk_by(|x, y| x == y) {
        if let Some(&(a, b)) = run.first()
            && (a || b)
        {
            marks.push((from, run.len(), a, b));
        }
        from += run.len();
    }
    let label = format!(
        "Where the texts differ: {} of the longer text's words are in common",
        percent(equal as f64 / all as f64, 0)
    );
    html! {
        svg.strip role="img" aria-label=(label) viewBox={ "0 0 " (STRIP) " 10" } preserveAspectRatio="none" {
            rect.eq width=(STRIP) height="10" {}
            @for (x, width, a, b) in marks {
                @if a { rect.a x=(x) y="0" width=(width) height=(if b { 5 } else { 10 }) {} }
                @if b { rect.b x=(x) y=(if a { 5 } else { 0 }) width=(width) height=(if a { 5 } else { 10 }) {} }
            }
        }
    }
}
