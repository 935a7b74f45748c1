//! The page of a comparison of two documents.

use super::frame::many;
use super::html::Html;
use super::old_frame;
use super::pairs::two_texts;
use crate::Result;
use crate::align::{Block, Comparison, Fold, Words};
use crate::document::{Both, Covered, Passages, Place, Side};
use crate::numbers::{count, counted, percent};
use crate::parse::TokenKind;
use crate::store::disk::{self, AtomicFile};
use std::path::Path;

/// Limit on the passages that have a row.
const PASSAGES_SHOWN: usize = 200;

/// Words of a passage that its row shows, and limit on their characters.
const WORDS_SHOWN: usize = 8;
const CHARS_SHOWN: usize = 80;

/// A stretch that would hide fewer words is not folded.
const LEAST_FOLDED: usize = 10;

/// Writes the page; returns its bytes and its checksum. Without a context, no equal words are folded.
pub(crate) fn write(
    both: &Both,
    [a, b]: [&Words; 2],
    passages: &Passages,
    (kind, context): (&TokenKind, Option<usize>),
    (program, output): (&str, &Path),
) -> Result<(u64, u64)> {
    let mut out = AtomicFile::create(output)?;
    let mut html = Html::default();
    old_frame::head(&mut html, "Two documents compared");
    html.raw("<nav aria-label=\"Contents\"><a href=\"#measures\">Measures</a>");
    html.raw("<a href=\"#passages\">Shared passages</a><a href=\"#texts\">Texts</a></nav>\n");
    html.raw("</header>\n<main>\n");
    measures(&mut html, both, passages);
    shared(&mut html, a, passages);
    texts_head(&mut html, both);
    super::flush(&mut html, &mut out)?;
    let comparison = Comparison::new(a, b, kind);
    let fold = context.map(|context| Fold {
        context,
        least: LEAST_FOLDED,
    });
    for block in comparison.blocks(fold) {
        match block {
            Block::Folded(_) => two_texts(&mut html, &comparison, &block),
            // Row by row, so that long texts need little memory.
            Block::Shown(stretches) => {
                for row in comparison.rows(&stretches) {
                    two_texts(&mut html, &comparison, &Block::Shown(row));
                    super::flush(&mut html, &mut out)?;
                }
            }
        }
    }
    old_frame::end(&mut html);
    old_frame::foot(&mut html, program);
    super::flush(&mut html, &mut out)?;
    let written = out.finish()?;
    disk::sync_parent(output)?;
    Ok(written)
}

fn measures(html: &mut Html, both: &Both, passages: &Passages) {
    html.raw("<section id=\"measures\">\n<h2>Measures</h2>\n<p>");
    html.isolated(&both.a.found.record.docno).raw(" and ");
    html.isolated(&both.b.found.record.docno);
    let [a, b] = both.sizes();
    html.text(&format!(
        " have {} in common, of {} and {}.",
        many(both.shared, "shingle"),
        count(a),
        count(b)
    ));
    if both.equal() {
        html.raw(" They have the same words.");
    }
    html.raw("</p>\n<ul class=\"tiles\">");
    let tile = |html: &mut Html, value: &str, what: &'static str| {
        html.raw("<li><b>").text(value).raw("</b><span>");
        html.raw(what).raw("</span></li>");
    };
    let undefined = || "–".to_string();
    let resemblance = both.resemblance().map(|_| both.resemblance_text());
    let resemblance = resemblance.unwrap_or_else(undefined);
    tile(html, &resemblance, "resemblance");
    let [a_in_b, b_in_a] = both
        .containments()
        .map(|share| share.map_or_else(undefined, |share| percent(share, 1)));
    tile(
        html,
        &a_in_b,
        "of the first document\u{2019}s shingles are in the second",
    );
    tile(
        html,
        &b_in_a,
        "of the second document\u{2019}s shingles are in the first",
    );
    let covered = |covered: Covered| percent(covered.share, 1);
    let (first, second) = (passages.covered_a, passages.covered_b);
    tile(
        html,
        &covered(first),
        "of the first text is in shared passages",
    );
    tile(
        html,
        &covered(second),
        "of the second text is in shared passages",
    );
    html.raw("</ul>\n");
    old_frame::end(html);
}

fn shared(html: &mut Html, a: &Words, passages: &Passages) {
    html.raw("<section id=\"passages\">\n<h2>Shared passages</h2>\n<p>");
    html.text(&format!(
        "{} of at least {} that both texts have, in any order. A passage cannot be extended to \
         either side. Tokens and bytes count from 0, lines from 1.",
        many(passages.total, "passage"),
        counted(passages.length as u64, "token")
    ));
    let listed = passages.listed.iter().take(PASSAGES_SHOWN);
    if listed.len() as u64 != passages.total {
        let listed = count(listed.len() as u64);
        html.text(&format!(" The first {listed} are listed."));
    }
    html.raw("</p>\n");
    if passages.listed.is_empty() {
        old_frame::end(html);
        return;
    }
    html.raw(
        "<div class=\"scroll\">\n<table>\n<thead><tr><th scope=\"col\" class=\"n\">tokens</th>",
    );
    for side in ["first: token", "second: token"] {
        html.raw("<th scope=\"col\" class=\"n\">").raw(side);
        html.raw("</th><th scope=\"col\" class=\"n\">bytes</th>");
        html.raw("<th scope=\"col\" class=\"n\">lines</th>");
    }
    html.raw("<th scope=\"col\">begins with</th></tr></thead>\n<tbody>\n");
    for passage in listed {
        html.raw("<tr><th scope=\"row\" class=\"n\">");
        html.text(&count(passage.tokens as u64)).raw("</th>");
        for place in [&passage.a, &passage.b] {
            let Place {
                tokens,
                bytes,
                lines,
            } = place;
            for cell in [
                count(tokens[0] as u64),
                format!("{}–{}", count(bytes[0] as u64), count(bytes[1] as u64)),
                match lines[0] == lines[1] {
                    true => count(lines[0]),
                    false => format!("{}–{}", count(lines[0]), count(lines[1])),
                },
            ] {
                html.raw("<td class=\"n\">").text(&cell).raw("</td>");
            }
        }
        let [from, to] = passage.a.tokens;
        let bytes = a.bytes_of(&(from..to.min(from + WORDS_SHOWN)));
        let text = a.text.get(bytes).unwrap_or_default();
        let begins: String = text.chars().take(CHARS_SHOWN).collect();
        html.raw("<td class=\"long\">").isolated(&begins);
        html.raw(" …</td></tr>\n");
    }
    html.raw("</tbody>\n</table>\n</div>\n");
    old_frame::end(html);
}

fn texts_head(html: &mut Html, both: &Both) {
    html.raw("<section id=\"texts\">\n<h2>Texts</h2>\n<p><del>These words</del> are only in the ");
    html.raw("first text at this place, <ins>these words</ins> only in the second. Differences ");
    html.raw("that tokens ignore, such as white space, are not marked.</p>\n");
    html.raw("<div class=\"two-texts heads\">");
    for side in [&both.a, &both.b] {
        let Side { found, .. } = side;
        html.raw("<div><p><strong>")
            .isolated(&found.record.docno)
            .raw("</strong> <span class=\"soft\">")
            .text(&many(found.record.words, "word"))
            .raw("</span></p><p class=\"soft\">")
            .isolated(&found.place())
            .raw("</p>");
        if let Ok((_, source)) = &side.text
            && let Some(remark) = source.remark()
        {
            html.raw("<p class=\"soft\">").text(remark).raw("</p>");
        }
        if let Some(title) = &found.record.title {
            html.raw("<p>").isolated(title).raw("</p>");
        }
        if let Some(url) = &found.record.url {
            html.raw("<p>").link(url).raw("</p>");
        }
        html.raw("</div>");
    }
    html.raw("</div>\n");
}
