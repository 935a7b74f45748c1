//! Reads the texts of the documents shown from the input files again.

use crate::align::Words;
use crate::budget::Held;
use crate::document::{Again, READER_BYTES, Readers, Wanted, read_again};
use crate::parse::{Parser, TokenConsumer, TokenKind, Tokens, token_spans};
use crate::progress::Context;
use crate::workspace::Workspace;
use crate::{Result, collection};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::choose::ShownDocument;
use super::{STAGE, WORDS_COMPARED};

/// Limit on the bytes of a text that are kept. 20,000 words of ordinary length take half of it.
pub(super) const TEXT_BYTES: usize = 256 << 10;
/// The most memory of a text and of where its words are.
const MOST_TEXT_BYTES: u64 =
    (TEXT_BYTES + WORDS_COMPARED * size_of::<std::ops::Range<usize>>()) as u64;

/// A text, or the reason why there is none.
#[derive(Debug)]
pub(super) enum ShownText {
    Found(Words),
    Missing(String),
}

/// Reads the texts of documents, as far as there is room for them. Several threads read files; each
/// takes `record` bytes. The page gives the reason in place of a text that is missing.
pub(super) fn read(
    workspace: &Workspace,
    documents: &HashMap<u32, ShownDocument>,
    wanted: &[u32],
    (memory, record): (&mut Held<'_>, u64),
    context: &Context<'_>,
) -> Result<HashMap<u32, ShownText>> {
    let places: Vec<Wanted> = wanted
        .iter()
        .filter_map(|&number| {
            let document = documents.get(&number)?;
            Some(Wanted {
                file: document.file,
                offset: document.offset,
                number,
                md5: Some(document.md5),
            })
        })
        .collect();
    let of_texts = places.len() as u64 * MOST_TEXT_BYTES;
    let spare = memory.left().saturating_sub(of_texts);
    let threads = (1 + spare / (record + READER_BYTES)).min(context.budget.threads as u64);
    let beginnings = Beginnings {
        tokens: &collection::config(&workspace.manifest).shingle.parse.tokens,
        found: Mutex::new((HashMap::with_capacity(places.len()), memory)),
    };
    let of = (STAGE, context);
    read_again(workspace, places, threads as usize, of, &beginnings)?;
    let found = beginnings.found.into_inner();
    Ok(found.unwrap_or_else(PoisonError::into_inner).0)
}

/// The texts found so far, and the memory that they may take.
struct Beginnings<'f, 'm> {
    tokens: &'f TokenKind,
    found: Mutex<(HashMap<u32, ShownText>, &'f mut Held<'m>)>,
}

impl Readers for Beginnings<'_, '_> {
    fn found(&self, again: &Again<'_>, parser: &mut Parser) {
        let (number, document) = (again.number, again.document);
        let mut beginning = Beginning::default();
        parser.parse(document, &mut beginning);
        let text = String::from_utf8_lossy(&beginning.bytes).into_owned();
        let words = words(text, beginning.cut, self.tokens);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.1.take(words.bytes()) {
            found.0.insert(number, ShownText::Found(words));
        }
    }

    fn missing(&self, number: u32, problem: String) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.0.insert(number, ShownText::Missing(problem));
    }
}

/// At most [`WORDS_COMPARED`] words of a text.
fn words(mut text: String, mut cut: bool, tokens: &TokenKind) -> Words {
    let mut spans = token_spans(&text, tokens);
    if let Some(next) = spans.get(WORDS_COMPARED) {
        text.truncate(next.start);
        spans.truncate(WORDS_COMPARED);
        text.shrink_to_fit();
        cut = true;
    }
    // A text of short words has many more spans than are kept.
    spans.shrink_to_fit();
    Words { text, spans, cut }
}

/// Keeps the beginning of a text.
#[derive(Default)]
struct Beginning {
    bytes: Vec<u8>,
    cut: bool,
}

impl TokenConsumer for Beginning {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let bytes = tokens.bytes;
        // All characters but the last are final. Do not wait for the end of a token: it may never
        // come.
        let done = if last {
            bytes.len()
        } else {
            let last = bytes.iter().rposition(|b| b & 0xc0 != 0x80);
            last.unwrap_or(bytes.len())
        };
        let room = TEXT_BYTES - self.bytes.len();
        let mut taken = done.min(room);
        // Do not cut a character in two.
        while taken < done && taken > 0 && bytes.get(taken).is_some_and(|b| b & 0xc0 == 0x80) {
            taken -= 1;
        }
        if !self.cut {
            self.bytes
                .extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.cut = taken < done;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::ParseConfig;
    use crate::read::ContentKind;

    fn beginning(body: &str, content: ContentKind) -> Beginning {
        let document = RawDocument::of_text(body, content);
        let mut out = Beginning::default();
        let config = ParseConfig {
            tokens: TokenKind::Whitespace,
            ..ParseConfig::default()
        };
        Parser::new(&config).parse(&document, &mut out);
        out
    }

    #[test]
    fn texts_are_folded_whole_and_bounded() {
        let out = beginning("Ein  <b>Satz,</b>\n<p>noch einer.", ContentKind::Markup);
        assert_eq!(
            (out.bytes.as_slice(), out.cut),
            (&b"Ein Satz, noch einer."[..], false)
        );
        // Several words and one endless word, of characters of one byte and of three.
        for word in ["wort ", "\u{20ac}", "x", "\u{20ac} "] {
            for bytes in [TEXT_BYTES - 7, TEXT_BYTES, TEXT_BYTES + 9, 5 * TEXT_BYTES] {
                let body = word.repeat(bytes / word.len());
                let out = beginning(&body, ContentKind::Text);
                let body = body.trim_end();
                assert!(out.bytes.len() <= TEXT_BYTES);
                let text = std::str::from_utf8(&out.bytes).unwrap();
                assert!(body.starts_with(text));
                assert_eq!(out.cut, text.len() < body.len());
                assert!(out.cut || text == body);
                assert!(!out.cut || text.len() > TEXT_BYTES - 4);
            }
        }
    }

    #[test]
    fn the_number_of_words_is_limited() {
        let text = "Wort, ".repeat(WORDS_COMPARED + 1);
        let found = words(text, false, &TokenKind::Words);
        assert_eq!(found.spans.len(), WORDS_COMPARED);
        assert!(found.cut);
        assert_eq!(found.text.len(), WORDS_COMPARED * 6);
        let text = "Wort, ".repeat(WORDS_COMPARED);
        let found = words(text, false, &TokenKind::Words);
        assert!(!found.cut && found.spans.len() == WORDS_COMPARED);
    }
}
