//! The content of a page: the items of which one document has the most, with the texts around the
//! runs.

use std::cmp::Reverse;
use std::ops::Range;

use super::items::Field;
use super::runs::Run;
use lookalike_text::parse::Parser;
use lookalike_text::read::RawDocument;

/// Items on a page, and documents of each of them.
pub(super) const ITEMS: usize = 200;
pub(super) const DOCUMENTS: usize = 3;
/// Windows of an item and a document, and of all items and a document. The items of a document with
/// more are not all on one page.
const OF_ITEM: usize = 5;
pub(super) const OF_DOCUMENT: usize = 256;
/// Bytes of texts on a page.
pub(super) const PAGE_BYTES: usize = 8 << 20;
/// Words before and after the runs, and words and bytes of a window.
const AROUND: usize = 40;
const MOST_WORDS: usize = 600;
pub(super) const MOST_BYTES: usize = 8 << 10;

/// Where a window is.
pub(super) struct RunWindow<'s> {
    pub field: &'s Field,
    /// Among the tokens of all test sets.
    pub item: Range<usize>,
    /// Among the tokens of the document.
    pub document: Range<usize>,
}

/// Returns the windows with the most words around runs of an item, and how many others it leaves out.
pub(super) fn windows<'s>(runs: &[Run<'s>], words: usize) -> (Vec<RunWindow<'s>>, usize) {
    let mut runs: Vec<&Run> = runs.iter().collect();
    runs.sort_by_key(|run| (run.field.tokens.start, run.document, run.item));
    let mut all: Vec<RunWindow> = Vec::new();
    for run in runs {
        let (item, document) = (
            run.item..run.item + run.tokens,
            run.document..run.document + run.tokens,
        );
        // A run that goes on in both texts is shown with the run before it.
        let goes_on = |last: &&mut RunWindow| {
            last.field.tokens == run.field.tokens
                && (last.item.start..=last.item.end + AROUND).contains(&item.start)
                && document.start <= last.document.end + AROUND
        };
        match all.last_mut().filter(goes_on) {
            Some(last) => {
                last.item.end = last.item.end.max(item.end);
                last.document.end = last.document.end.max(document.end);
            }
            None => all.push(RunWindow {
                field: run.field,
                item,
                document,
            }),
        }
    }
    all.sort_by_key(|window| Reverse(window.item.len()));
    let left_out = all.len().saturating_sub(OF_ITEM);
    all.truncate(OF_ITEM);
    all.sort_by_key(|window| (window.item.start, window.document.start));
    for window in &mut all {
        let field = &window.field.tokens;
        window.item = around(&window.item, field);
        window.document = around(&window.document, &(0..words));
    }
    (all, left_out)
}

/// A window around tokens of a text.
fn around(tokens: &Range<usize>, all: &Range<usize>) -> Range<usize> {
    let start = tokens.start.saturating_sub(AROUND).max(all.start);
    start..(tokens.end + AROUND).min(all.end).min(start + MOST_WORDS)
}

/// The text of a window, at most [`MOST_BYTES`] of it.
pub(super) fn part(text: &str, range: Range<usize>) -> String {
    let end = range.end.min(range.start + MOST_BYTES);
    whole(text.as_bytes().get(range.start..end).unwrap_or_default())
}

/// The text of bytes, without a part of a character at its end.
fn whole(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_end_matches('\u{fffd}').into()
}

/// The text of ranges of bytes of a document.
pub(super) fn texts_of(
    document: &RawDocument<'_>,
    parser: &mut Parser,
    ranges: &[Range<usize>],
) -> Vec<String> {
    let mut texts = vec![Vec::new(); ranges.len()];
    let mut at = 0;
    parser.as_read_in_pieces(document, &mut |piece| {
        for (text, range) in texts.iter_mut().zip(ranges) {
            let end = range.end.min(range.start + MOST_BYTES);
            let [start, end] = [range.start, end].map(|n| n.clamp(at, at + piece.len()) - at);
            text.extend_from_slice(&piece.as_bytes()[start..end]);
        }
        at += piece.len();
    });
    texts.iter().map(|text| whole(text)).collect()
}
