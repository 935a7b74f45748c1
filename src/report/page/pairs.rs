//! Pairs of documents, with their texts side by side.

use std::collections::HashMap;

use super::choose::{ShownDocument, ShownPair};
use super::frame::{is_sampled, many};
use super::html::Html;
use super::texts::ShownText;
use super::{PageConfig, WORDS_COMPARED};
use crate::align::{Block, Comparison, Fold, Stretch};
use crate::numbers::count;
use crate::parse::TokenKind;
use crate::pipeline::Summary;
use crate::report::wording::Wording;

/// How the texts of a pair are folded.
const FOLD: Fold = Fold {
    context: 15,
    least: 10,
};

/// Which pairs a section shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Nearest,
    Random,
}

pub(super) fn pairs_head(
    html: &mut Html,
    which: Which,
    shown: usize,
    summary: &Summary,
    wording: &Wording<'_>,
    config: &PageConfig,
) {
    let threshold = wording.least();
    let all = summary.join.as_ref().map_or(0, |join| join.pairs);
    match which {
        Which::Nearest => {
            html.raw("<section id=\"nearest\">\n<h2>Pairs nearest the threshold</h2>\n<p>");
            html.text(&format!(
                "The pairs nearest to {threshold}, of {} in total. Use them to judge whether the \
                 threshold is right. ",
                many(all, "pair")
            ));
            html.raw("<del>These words</del> are only in the first text, <ins>these words</ins> only in ");
            html.raw("the second. Words that differ only in case and punctuation count as equal");
            html.text(match summary.collection.shingle.parse.tokens {
                TokenKind::Words => ". ",
                _ => " only if the run's tokens are equal. ",
            });
            html.raw("Long passages without a difference are folded.</p>\n");
        }
        Which::Random => {
            html.raw("<section id=\"random\">\n<h2>Pairs at random</h2>\n<p>");
            html.text(&format!(
                "A random choice of the other pairs, with seed {}.",
                config.seed
            ));
            html.raw(" All pairs are in <code>pairs.tsv</code>.</p>\n");
        }
    }
    if shown == 0 {
        html.raw(match (which, all) {
            (_, 0) => "<p>There are no pairs.</p>\n",
            (Which::Nearest, _) => "<p>The report was made with <code>--pairs 0</code>.</p>\n",
            (Which::Random, _) => "<p>There are no other pairs.</p>\n",
        });
    }
}

pub(super) fn one_pair(
    html: &mut Html,
    pair: &ShownPair,
    documents: &HashMap<u32, ShownDocument>,
    texts: &HashMap<u32, ShownText>,
    summary: &Summary,
    wording: &Wording<'_>,
    open: bool,
) {
    let (Some(a), Some(b)) = (documents.get(&pair.a), documents.get(&pair.b)) else {
        return;
    };
    let (size_a, size_b) = pair.sizes;
    html.raw(if open {
        "<details open><summary><b>"
    } else {
        "<details><summary><b>"
    });
    let score = wording
        .measure
        .text(pair.amount, size_a.into(), size_b.into());
    html.text(&score)
        .raw("</b>")
        .isolated(&a.docno)
        .raw(" and ")
        .isolated(&b.docno);
    if let Some(title) = a.title.as_ref().or(b.title.as_ref()) {
        html.raw(" <span class=\"soft\">")
            .isolated(title)
            .raw("</span>");
    }
    html.raw("</summary><div class=\"in\">\n<p class=\"soft\">");
    let sampled = if is_sampled(summary) { "sampled " } else { "" };
    let shared = many(
        pair.shared.into(),
        &format!("{sampled}{}", wording.feature()),
    );
    html.text(&match wording.measure.of_words() {
        false => format!(
            "{shared} shared, of {} in the first and {} in the second",
            count(size_a.into()),
            count(size_b.into())
        ),
        true => format!(
            "{shared} shared, of {} and {}",
            many(size_a.into(), "word"),
            many(size_b.into(), "word")
        ),
    });
    html.raw("</p>\n<div class=\"two-texts heads\">");
    for document in [a, b] {
        html.raw("<div><p><strong>")
            .isolated(&document.docno)
            .raw("</strong> <span class=\"soft\">")
            .text(&many(document.words, "word"))
            .raw("</span></p>");
        if let Some(title) = &document.title {
            html.raw("<p>").isolated(title).raw("</p>");
        }
        if let Some(url) = &document.url {
            html.raw("<p>").link(url).raw("</p>");
        }
        html.raw("</div>");
    }
    html.raw("</div>\n");
    match (texts.get(&pair.a), texts.get(&pair.b)) {
        (Some(ShownText::Found(a)), Some(ShownText::Found(b))) => {
            let tokens = &summary.collection.shingle.parse.tokens;
            let comparison = Comparison::new(a, b, tokens);
            for block in comparison.blocks(Some(FOLD)) {
                two_texts(html, &comparison, &block);
            }
            if a.cut || b.cut {
                html.raw("<p class=\"note\">").text(&format!(
                    "Only the beginnings of these texts are compared here: at most {} of each, \
                     fewer if words are very long. Text that is marked near the end may continue \
                     after it.",
                    many(WORDS_COMPARED as u64, "word")
                ));
                html.raw("</p>\n");
            }
        }
        (a, b) => {
            for (document, text) in [(pair.a, a), (pair.b, b)] {
                if let (Some(document), Some(ShownText::Missing(problem))) =
                    (documents.get(&document), text)
                {
                    html.raw("<p class=\"note\">The text of ")
                        .isolated(&document.docno)
                        .raw(" is not shown: ")
                        .text(problem)
                        .raw(".</p>\n");
                }
            }
        }
    }
    html.raw("</div></details>\n");
}

/// A part of a comparison, side by side.
pub(super) fn two_texts(html: &mut Html, comparison: &Comparison<'_>, block: &Block) {
    match block {
        Block::Folded(stretch) => {
            html.raw("<p class=\"fold\">… ")
                .text(&many(stretch.a.len() as u64, "word"))
                .raw(" in common …</p>\n");
        }
        Block::Shown(stretches) => {
            for row in comparison.rows(stretches) {
                html.raw("<div class=\"two-texts\">");
                for first in [true, false] {
                    side(html, comparison, &row, first);
                }
                html.raw("</div>\n");
            }
        }
    }
}

/// One of the texts in a row.
fn side(html: &mut Html, comparison: &Comparison<'_>, row: &[Stretch], first: bool) {
    html.raw("<div class=\"side\" dir=\"auto\">");
    let mut any = false;
    for stretch in row {
        let bytes = comparison.bytes(stretch);
        let (words, range) = match first {
            true => (comparison.a.words, bytes.a),
            false => (comparison.b.words, bytes.b),
        };
        let text = words.text.get(range).unwrap_or_default();
        any |= !text.is_empty();
        if stretch.equal || text.is_empty() {
            html.text(text);
            continue;
        }
        // The space after the last word is not marked.
        let marked = text.trim_end();
        html.raw(if first { "<del>" } else { "<ins>" })
            .text(marked)
            .raw(if first { "</del>" } else { "</ins>" })
            .text(text.get(marked.len()..).unwrap_or_default());
    }
    if !any {
        html.raw("<span class=\"nothing\">no text here</span>");
    }
    html.raw("</div>");
}
