//! Reads the texts of the documents shown from the input files again.

use lookalike_base::{Context, Memory, Result, lock, unlocked};
use lookalike_engine::align::Words;
use lookalike_engine::collection;
use lookalike_engine::document::{
    Folded, READER_BYTES, Reread, ShownDocument, look_up, read_again, record_bytes,
};
use lookalike_store::{SetAside, Workspace};
use lookalike_text::parse::{ParseConfig, TokenKind};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use super::{STAGE, WORDS_COMPARED};

/// Limit on the bytes of a text that are kept. 20,000 words of ordinary length take half of it.
pub(super) const TEXT_BYTES: usize = 256 << 10;
/// The most memory of a text and of where its words are.
const MOST_TEXT_BYTES: u64 =
    (TEXT_BYTES + WORDS_COMPARED * size_of::<std::ops::Range<usize>>()) as u64;

/// Characters of the beginning of a text, by which a reader recognises a document.
const BEGINNING: usize = 160;

/// Facts in the record of a document that the collection does not keep.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The date that the record states.
    pub date: Option<String>,
    /// The beginning of the text; empty for an exact duplicate.
    pub begins: String,
}

/// The texts that were read again.
#[derive(Default)]
pub(super) struct Read {
    /// The texts of the pairs, or the reason why there is none.
    pub texts: HashMap<u32, Result<Words, String>>,
    /// By document.
    pub known: HashMap<u32, Known>,
    /// Texts that are not in memory, and where each is.
    stored: Option<(TextsAside, HashMap<u32, TextPlace>)>,
}

/// Texts that are not in memory, and whether each continues.
pub(super) type TextsAside = SetAside<(String, bool)>;

/// Where such a text is, and the kind of its tokens.
type TextPlace = (u64, TokenKind);

impl Read {
    /// The texts of two documents, if both could be read again.
    pub(super) fn both(&self, pair: [&ShownDocument; 2]) -> Option<[&Words; 2]> {
        let [a, b] = pair.map(|of| self.texts.get(&of.place.number)?.as_ref().ok());
        Some([a?, b?])
    }

    /// Keeps a text, aside or as far as there is room.
    fn keep(&mut self, number: u32, words: Words, memory: &mut Memory) -> Result<()> {
        let Some((aside, places)) = &mut self.stored else {
            if memory.take(words.bytes() as u64) {
                self.texts.insert(number, Ok(words));
            }
            return Ok(());
        };
        let place = aside.put(&(words.text, words.cut))?;
        places.insert(number, (place, words.parse.tokens));
        Ok(())
    }

    /// Loads a text that is not in memory.
    pub(super) fn load(&mut self, number: u32, parse: &ParseConfig) -> Result<()> {
        let Some((aside, places)) = &self.stored else {
            return Ok(());
        };
        if let Some((place, tokens)) = places.get(&number) {
            let (text, cut) = aside.get(*place)?;
            let parse = ParseConfig {
                tokens: tokens.clone(),
                ..parse.clone()
            };
            self.texts.insert(number, Ok(words(text, cut, parse)));
        }
        Ok(())
    }

    /// Forgets a text that was loaded. The reason for a missing text is kept.
    pub(super) fn unload(&mut self, number: u32) {
        if matches!(self.texts.get(&number), Some(Ok(_))) {
            self.texts.remove(&number);
        }
    }

    /// Texts that could not be read again.
    pub(super) fn missing(&self) -> u64 {
        self.texts.values().filter(|text| text.is_err()).count() as u64
    }
}

/// Looks the documents of pairs up, and reads their texts, as far as there is room.
pub(super) fn of_pairs(
    workspace: &Workspace,
    documents: impl Iterator<Item = u32>,
    memory: &mut Memory,
    context: &Context<'_>,
) -> Result<(HashMap<u32, ShownDocument>, Read)> {
    let compared: HashSet<u32> = documents.collect();
    let wanted = compared.iter().copied().collect();
    let documents = look_up(workspace, wanted, memory, STAGE, context)?;
    let texts_only = (&compared, &HashSet::new());
    let read = read(workspace, &documents, texts_only, memory, None, context)?;
    Ok((documents, read))
}

/// Reads documents again, as far as there is room: the texts of `compared`, and the dates and
/// beginnings of all. The page gives the reason in place of a text that is missing. Several threads
/// read files. With `aside` the texts are kept there, and loaded one by
/// one.
pub(super) fn read(
    workspace: &Workspace,
    documents: &HashMap<u32, ShownDocument>,
    (compared, beginnings): (&HashSet<u32>, &HashSet<u32>),
    memory: &mut Memory,
    aside: Option<TextsAside>,
    context: &Context<'_>,
) -> Result<Read> {
    let in_memory = aside.as_ref().map_or(compared.len(), |_| 0);
    let of_texts = in_memory as u64 * MOST_TEXT_BYTES;
    let spare = memory.left().saturating_sub(of_texts);
    let threads =
        (1 + spare / (record_bytes(workspace) + READER_BYTES)).min(context.budget.threads as u64);
    let parse = &collection::config(&workspace.manifest).shingle.parse;
    let stored = aside.map(|aside| (aside, HashMap::new()));
    let dated = |(number, document): (&u32, &ShownDocument)| {
        let date = Some(document.date.clone()?);
        let begins = String::new();
        Some((*number, Known { date, begins }))
    };
    let read = Read {
        stored,
        known: documents.iter().filter_map(dated).collect(),
        ..Read::default()
    };
    let found = Mutex::new((read, memory, Ok(())));
    let take = |number: u32, again: Reread<'_>| {
        let (again, parser) = match again {
            Ok(found) => found,
            Err(problem) => {
                if compared.contains(&number) {
                    lock(&found).0.texts.insert(number, Err(problem));
                }
                return;
            }
        };
        let mut known = Known {
            date: again.date(),
            begins: String::new(),
        };
        if beginnings.contains(&number) {
            let mut folded = Folded::new(BEGINNING * 4, false);
            parser.as_read_in_pieces(again.document, &mut |piece| folded.push(piece));
            known.begins = folded.text.chars().take(BEGINNING).collect();
        }
        let words = compared.contains(&number).then(|| {
            let mut text = Folded::new(TEXT_BYTES, true);
            parser.as_read_in_pieces(again.document, &mut |piece| text.push(piece));
            let parse = parse.of(&again.document.docno);
            words(text.text, text.cut, parse)
        });
        let bytes = known.begins.capacity() + known.date.as_ref().map_or(0, String::capacity);
        let (read, memory, kept) = &mut *lock(&found);
        if memory.take(bytes as u64) {
            read.known.insert(number, known);
        }
        if let Some(words) = words
            && let Err(error) = read.keep(number, words, memory)
        {
            *kept = Err(error);
        }
    };
    let places = documents.values().map(|it| it.place).collect();
    read_again(workspace, places, threads as usize, STAGE, context, &take)?;
    let (read, _, kept) = unlocked(found);
    kept.map(|()| read)
}

/// A text that was read before.
pub(super) fn folded(text: &str, parse: &ParseConfig) -> Words {
    let mut folded = Folded::new(TEXT_BYTES, true);
    folded.push(text);
    words(folded.text, folded.cut, parse.clone())
}

/// At most [`WORDS_COMPARED`] words of a text.
fn words(text: String, cut: bool, parse: ParseConfig) -> Words {
    let mut words = Words::new(text, cut, parse);
    if let Some(next) = words.spans.get(WORDS_COMPARED) {
        words.text.truncate(next.start);
        words.text.shrink_to_fit();
        words.cut = true;
    }
    // A text of short words has many more spans than are kept.
    words.spans.truncate(WORDS_COMPARED);
    words.spans.shrink_to_fit();
    words.names.truncate(WORDS_COMPARED);
    words.names.shrink_to_fit();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(pieces: &[&str]) -> Folded {
        let mut out = Folded::new(TEXT_BYTES, false);
        pieces.iter().for_each(|piece| out.push(piece));
        out
    }

    #[test]
    fn texts_are_folded_whole_and_bounded() {
        let out = beginning(&[" Ein  Satz,", "\n\n", " noch einer. "]);
        assert_eq!((&*out.text, out.cut), ("Ein Satz, noch einer.", false));
        // Several words and one endless word, of characters of one byte and of three.
        for word in ["wort ", "\u{20ac}", "x", "\u{20ac} "] {
            for bytes in [TEXT_BYTES - 7, TEXT_BYTES, TEXT_BYTES + 9, 5 * TEXT_BYTES] {
                let body = word.repeat(bytes / word.len());
                let out = beginning(&[&body]);
                let (body, text) = (body.trim_end(), &*out.text);
                assert!(text.len() <= TEXT_BYTES);
                assert!(body.starts_with(text));
                assert_eq!(out.cut, text.len() < body.len());
                assert!(out.cut || text == body);
                assert!(!out.cut || text.len() > TEXT_BYTES - 4);
            }
        }
    }

    #[test]
    fn texts_keep_their_lines() {
        for (pieces, expected) in [
            (
                &["  a \t b", "\r\n", "c \n\n \n d", " \n"][..],
                "a b\nc\n\nd",
            ),
            (&["", " "], ""),
            (&["a", "b"], "ab"),
        ] {
            let mut text = Folded::new(TEXT_BYTES, true);
            pieces.iter().for_each(|piece| text.push(piece));
            assert_eq!((text.text.as_str(), text.cut), (expected, false));
        }
        let mut text = Folded::new(TEXT_BYTES, true);
        text.push(&"\u{20ac} ".repeat(TEXT_BYTES));
        assert!(text.cut && (TEXT_BYTES - 8..=TEXT_BYTES).contains(&text.text.len()));
    }

    #[test]
    fn the_number_of_words_is_limited() {
        let text = "Wort, ".repeat(WORDS_COMPARED + 1);
        let found = words(text, false, ParseConfig::default());
        assert_eq!(found.spans.len(), WORDS_COMPARED);
        assert!(found.cut);
        assert_eq!(found.text.len(), WORDS_COMPARED * 6);
        let text = "Wort, ".repeat(WORDS_COMPARED);
        let found = words(text, false, ParseConfig::default());
        assert!(!found.cut && found.spans.len() == WORDS_COMPARED);
    }
}
