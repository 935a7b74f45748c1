//! Pairs of documents, with their texts side by side.

use super::choose::ShownPair;
use super::documents::PageDocuments;
use super::frame::many;
use super::markup::{Markup, html, isolated, visible};
use super::panels::short_below;
use super::side_by_side::{CONTEXT, block, options, strip};
use super::{Page, WORDS_COMPARED};
use lookalike_base::count;
use lookalike_engine::align::TextComparison;
use lookalike_engine::document::ShownDocument;
use lookalike_text::parse::TokenKind;

/// The head of the section of the pairs nearest the threshold.
pub(super) fn nearest(page: &Page<'_>) -> Markup {
    let all = page.summary.join.as_ref().map_or(0, |join| join.pairs);
    html! {
        h2 { "Pairs nearest the threshold" }
        p {
            "The pairs nearest to " (page.wording.least()) ", of " (many(all, "pair"))
            " in total. Use them to judge whether the threshold is right. " (marks(page))
        }
    }
}

/// The head of the section of pairs to review.
pub(super) fn below(page: &Page<'_>) -> Markup {
    let join = page.summary.join.as_ref();
    let all = join.and_then(|join| join.review).unwrap_or(0);
    html! {
        h2 { "Below the threshold" }
        p {
            "The pairs " (page.wording.below()) " that are nearest to it, of " (many(all, "pair")) " in "
            code { "review.tsv" } ". They are in no cluster and no other count. If most of them are near-duplicates, lower the threshold."
        }
    }
}

/// The head of the section of some others.
pub(super) fn random(page: &Page<'_>) -> Markup {
    html! {
        h2 { "Pairs at random" }
        p {
            "A random choice of the other pairs, with seed " (page.config.seed)
            ". All pairs are in " code { "pairs.tsv" } "."
        }
    }
}

/// Explains the marks in texts.
pub(super) fn marks(page: &Page<'_>) -> Markup {
    let parse = &page.summary.collection.shingle.parse;
    let overlooked = match parse.tokens {
        TokenKind::Words => "case and punctuation",
        _ => "what the tokens of the run leave out",
    };
    html! {
        del { "These words" } " are only in the first text, " ins { "these words" }
        " only in the second. Words that differ only in " (overlooked) " count as equal. Long passages without a difference are folded; open them to read on."
    }
}

pub(super) fn one_pair(page: &Page<'_>, pair: &ShownPair, open: bool) -> Markup {
    let Some([a, b]) = page.documents.both(pair.documents()) else {
        return html! {};
    };
    let (size_a, size_b) = pair.sizes;
    let wording = page.wording;
    let sampled = match page.summary.is_sampled() {
        true => "sampled ",
        false => "",
    };
    let feature = format!("{sampled}{}", wording.feature());
    let shared = many(pair.pair.shared.into(), &feature);
    let threshold = wording.threshold.to_f64();
    let shared = match wording.measure.of_words() {
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
    };
    html! {
        details.pair id={ "pair-" (pair.pair.a) "-" (pair.pair.b) } open[open] {
            summary {
                b { (short_below(&pair.score(wording.measure), threshold)) }
                (names(a, "and", b))
            }
            div.in {
                p.soft.small { (shared) "." }
                (compared(page.documents, [a, b]))
            }
        }
    }
}

/// Both documents, with their texts side by side.
pub(super) fn compared(documents: PageDocuments<'_>, pair: [&ShownDocument; 2]) -> Markup {
    html! {
        (headings(documents, pair))
        @if documents.read.both(pair).is_some() { (options(false)) }
        (both_texts(documents, pair))
    }
}

/// The identities of both documents.
pub(super) fn headings(documents: PageDocuments<'_>, pair: [&ShownDocument; 2]) -> Markup {
    html! {
        div.two-texts.heads { @for document in pair { (documents.heading(document)) } }
    }
}

/// The names of both documents, and a title.
pub(super) fn names(a: &ShownDocument, between: &str, b: &ShownDocument) -> Markup {
    html! {
        (isolated(&a.docno)) " " (between) " " (isolated(&b.docno))
        @for of in [a, b] {
            @if let (Some(date), Some(url)) = (&of.date, &of.url) {
                " " span.soft { (isolated(url)) " " (isolated(date)) }
            }
        }
        @if let Some(title) = a.title.as_ref().or(b.title.as_ref()) {
            " " span.soft { (isolated(title)) }
        }
    }
}

/// The reasons why a text is missing.
pub(super) fn why_missing(documents: PageDocuments<'_>, pair: [&ShownDocument; 2]) -> Markup {
    html! {
        @for document in pair {
            @if let Some(Err(problem)) = documents.read.texts.get(&document.place.number) {
                p.note {
                    "The text of " (isolated(&document.docno)) " is not shown: " (visible(problem)) "."
                }
            }
        }
    }
}

/// Both texts, or the reasons why one is missing.
pub(super) fn both_texts(documents: PageDocuments<'_>, pair: [&ShownDocument; 2]) -> Markup {
    let Some([first, second]) = documents.read.both(pair) else {
        return why_missing(documents, pair);
    };
    let comparison = TextComparison::new(first, second).of_whole_words();
    html! {
        (strip(&comparison))
        @for piece in comparison.blocks(Some(CONTEXT)) { (block(&comparison, &piece)) }
        @if first.cut || second.cut {
            p.note {
                "Only the beginnings of these texts are compared here: at most "
                (many(WORDS_COMPARED as u64, "word")) " of each, fewer if words are very long. Text \
                 that is marked near the end may continue after it."
            }
        }
    }
}
