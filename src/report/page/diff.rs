//! The page of a comparison of two documents.

use super::frame::{Frame, Section, Sheet, many};
use super::markup::{Markup, begin, begin_class, end, html, isolated, link};
use super::panels::{short, shorter, table};
use super::side_by_side;
use lookalike_base::{Result, count, counted, percent};
use lookalike_engine::align::{Block, TextComparison, Words};
use lookalike_engine::document::{Both, Pair, Passages, Side};
use lookalike_store::Workspace;
use std::path::Path;

/// Limit on the passages that have a row.
const PASSAGES_SHOWN: usize = 200;

/// Words of a passage that its row shows.
const WORDS_SHOWN: usize = 8;

/// Writes the page. If it is inside the directory, the manifest records it. Without a context, no
/// equal words are folded.
pub(crate) fn write(
    workspace: &mut Workspace,
    both: &Both,
    passages: &Passages,
    context: Option<usize>,
    output: &Path,
) -> Result<()> {
    workspace.write_file(output, |workspace| {
        let (a, b) = (both.a.words(workspace)?, both.b.words(workspace)?);
        let contents = [
            ("measures", "Measures"),
            ("passages", "Shared passages"),
            ("texts", "Texts"),
        ];
        let frame = Frame {
            contents: contents.map(|(id, name)| (id, name.into())).into(),
            ..Frame::of("Two documents compared", &workspace.manifest.program)
        };
        let mut sheet = Sheet::create(output, &frame)?;
        sheet.put(measures(both, passages))?;
        sheet.put(shared(a, passages))?;
        sheet.put(begin("section", "texts"))?;
        sheet.put(begin_class("div", "pair"))?;
        sheet.put(texts_head(both))?;
        let comparison = TextComparison::new(a, b).of_whole_words();
        sheet.put(side_by_side::strip(&comparison))?;
        for block in comparison.blocks(context) {
            match block {
                Block::Folded(_) => sheet.put(side_by_side::block(&comparison, &block))?,
                // Row by row, so that long texts need little memory.
                Block::Shown(stretches) => {
                    for row in comparison.rows(&stretches, side_by_side::lines_of(&comparison)) {
                        sheet.put(side_by_side::row(&comparison, &row))?;
                    }
                }
            }
        }
        sheet.put(end("div"))?;
        sheet.put(end("section"))?;
        Ok((sheet.finish()?, ()))
    })
}

fn measures(both: &Both, passages: &Passages) -> Markup {
    let [a, b] = both.sizes();
    let undefined = || "–".to_string();
    let resemblance = both.resemblance().map(|_| short(&both.resemblance_text()));
    let [a_in_b, b_in_a] = both
        .containments()
        .map(|share| share.map_or_else(undefined, |share| percent(share, 1)));
    let [of_a, of_b] = [passages.covered_a, passages.covered_b].map(|of| percent(of.share, 1));
    Section::new("measures", "Measures").of(html! {
        p.headline { b { (resemblance.unwrap_or_else(undefined)) } " resemblance" }
        p {
            (isolated(&both.a.found.record.docno)) " and " (isolated(&both.b.found.record.docno))
            " have " (many(both.shared, "shingle")) " in common, of " (count(a)) " and " (count(b)) "."
            " " (both.equal_says())
        }
        (table("", &[], &html! {
            tr { td.n { (a_in_b) } th scope="row" { "of the first document\u{2019}s shingles are in the second" } }
            tr { td.n { (b_in_a) } th scope="row" { "of the second document\u{2019}s shingles are in the first" } }
            tr { td.n { (of_a) } th scope="row" { "of the first text is in shared passages" } }
            tr { td.n { (of_b) } th scope="row" { "of the second text is in shared passages" } }
        }))
    })
}

fn shared(a: &Words, passages: &Passages) -> Markup {
    let listed = passages.listed.iter().take(PASSAGES_SHOWN);
    let all = listed.len() as u64 == passages.total;
    Section::new("passages", "Shared passages").of(html! {
        p {
            (many(passages.total, "passage")) " of at least "
            (counted(passages.length as u64, "token"))
            " that both texts have, in any order. A passage cannot be extended to either side. \
             Tokens and bytes count from 0, lines from 1."
            @if !all { " The first " (count(listed.len() as u64)) " are listed." }
        }
        @if !passages.listed.is_empty() {
            (table("", &[">tokens", ">first: token", ">bytes", ">lines", ">second: token", ">bytes",
                         ">lines", "begins with"], &html! {
                @for passage in listed { (one_passage(a, passage)) }
            }))
        }
    })
}

fn one_passage(a: &Words, passage: &Pair) -> Markup {
    let cells = [&passage.a, &passage.b].into_iter().flat_map(|place| {
        let (tokens, bytes, lines) = (place.tokens, place.bytes, place.lines);
        [
            count(tokens[0] as u64),
            format!("{}–{}", count(bytes[0] as u64), count(bytes[1] as u64)),
            match lines[0] == lines[1] {
                true => count(lines[0]),
                false => format!("{}–{}", count(lines[0]), count(lines[1])),
            },
        ]
    });
    let [from, to] = passage.a.tokens;
    let bytes = a.bytes_of(&(from..to.min(from + WORDS_SHOWN)));
    let text = a.text.get(bytes).unwrap_or_default();
    html! {
        tr {
            th.n scope="row" { (count(passage.tokens as u64)) }
            @for cell in cells { td.n { (cell) } }
            td.long { (isolated(shorter(text))) " …" }
        }
    }
}

fn texts_head(both: &Both) -> Markup {
    html! {
        h2 { "Texts" }
        p {
            del { "These words" } " are only in the first text at this place, " ins { "these words" }
            " only in the second. Words that the tokens do not tell apart may differ in what the \
             tokens leave out, such as white space."
        }
        (side_by_side::options(false))
        div.two-texts.heads { (head(&both.a)) (head(&both.b)) }
    }
}

fn head(side: &Side) -> Markup {
    let found = &side.found;
    let remark = side
        .text
        .as_ref()
        .ok()
        .and_then(|(_, source)| source.remark());
    html! {
        div {
            p { strong { (isolated(&found.record.docno)) } }
            @if let Some(title) = &found.record.title { p { (isolated(title)) } }
            p.soft { (isolated(&found.place())) ", " (many(found.record.words, "word")) }
            @if let Some(remark) = remark { p.soft { (remark) } }
            @if let Some(url) = &found.record.url { p { (link(url)) } }
            @if let Some(date) = &found.record.date.0 { p { (isolated(date)) } }
        }
    }
}
