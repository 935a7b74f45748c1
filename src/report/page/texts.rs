//! Reads the texts of the documents shown from the input files again.

use crate::align::Words;
use crate::ids::FingerprintKind;
use crate::parse::{ParseConfig, Parser, TokenConsumer, TokenKind, Tokens, token_spans};
use crate::progress::{Context, joined_all};
use crate::read::{
    Batch, InputFile, Interpreted, RawDocument, RecordKind, RecordReader, interpret, lasting,
};
use crate::shingle::{ShingleConfig, Shingler};
use crate::store::disk;
use crate::workers::Queue;
use crate::workspace::{InputEntry, InputList, Workspace};
use crate::{Error, Result, collection, threads};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::choose::ShownDocument;
use super::{PageMemory, STAGE, WORDS_COMPARED};

/// Limit on the bytes of a text that are kept. 20,000 words of ordinary length take half of it.
pub(super) const TEXT_BYTES: usize = 256 << 10;
/// Buffers of a reader, and of its decompressor.
const READER_BYTES: u64 = 16 << 20;
/// The most memory of a text and of where its words are.
const MOST_TEXT_BYTES: u64 =
    (TEXT_BYTES + WORDS_COMPARED * size_of::<std::ops::Range<usize>>()) as u64;

/// A text, or the reason why there is none.
#[derive(Debug)]
pub(super) enum ShownText {
    Found(Words),
    Missing(String),
}

/// Reads the texts of documents, as far as there is room for them. Each input file is read once, up
/// to the last text that is needed. Several threads read files; each takes `record` bytes.
///
/// An input that is missing or was changed is not an error: the page gives the reason in place of
/// the text.
pub(super) fn read(
    workspace: &Workspace,
    documents: &HashMap<u32, ShownDocument>,
    wanted: &[u32],
    (memory, record): (&mut PageMemory<'_>, u64),
    context: &Context<'_>,
) -> Result<HashMap<u32, ShownText>> {
    let mut places: Vec<Place> = wanted
        .iter()
        .filter_map(|&number| {
            let document = documents.get(&number)?;
            Some((document.file, document.offset, number))
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut texts = HashMap::with_capacity(places.len());
    let mut inputs = InputList::open(workspace.directory())?;
    let mut files = Vec::new();
    for of_file in places.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(file, ..)) = of_file.first() else {
            continue;
        };
        let problem = match inputs.entry_of(file)? {
            None => "the list of inputs does not name its file".to_string(),
            Some(entry) => match open(entry)? {
                Err(problem) => problem,
                Ok(input) => {
                    files.push((input, of_file));
                    continue;
                }
            },
        };
        for &(_, _, number) in of_file {
            texts.insert(number, ShownText::Missing(problem.clone()));
        }
    }
    // The largest first: no thread is left with it when the others have ended.
    files.sort_by_key(|(input, _)| Reverse(input.identity.as_ref().map_or(0, |file| file.size)));
    let of_texts = places.len() as u64 * MOST_TEXT_BYTES;
    let spare = memory.left().saturating_sub(of_texts);
    let threads = (1 + spare / (record + READER_BYTES)).min(context.budget.threads as u64);
    let threads = (threads as usize).clamp(1, files.len().max(1));
    let queue = Queue::new(files);
    let found = Mutex::new((&mut texts, memory));
    let work = || -> Result<()> {
        let mut reader = InputTexts::new(workspace);
        while let Some((input, of_file)) = queue.next() {
            reader.file(&input, of_file, documents, &found, context)?;
            let path = input.path.display();
            let problem =
                format!("{path} has changed since it was read: another record is in its place");
            let mut found = locked(&found);
            for &(_, _, number) in of_file {
                let text = found.0.entry(number);
                text.or_insert_with(|| ShownText::Missing(problem.clone()));
            }
        }
        Ok(())
    };
    let work = || work().inspect_err(|_| queue.clear());
    threads::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        joined_all(STAGE, handles).map(|_| ())
    })?;
    Ok(texts)
}

/// File, offset and number of a document.
type Place = (u32, u64, u32);

/// The texts found so far, and the memory that they may take.
type Found<'f, 'm> = Mutex<(&'f mut HashMap<u32, ShownText>, &'f mut PageMemory<'m>)>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The input of an entry of the list if it is still there; otherwise the reason why it is not read.
fn open(entry: &InputEntry) -> Result<std::result::Result<InputFile, String>> {
    let mut path = Path::new(&entry.path);
    let Some(identity) = &entry.identity else {
        return Ok(Err(if entry.path == "-" {
            "it was read from standard input, which cannot be read again".into()
        } else {
            format!("{} could not be read", entry.path)
        }));
    };
    let mut found = disk::metadata(path);
    for other in entry.places() {
        let there = disk::metadata(other);
        if there.as_ref().is_ok_and(|there| there.is_file()) {
            (path, found) = (other, there);
            break;
        }
    }
    Ok(match found {
        Err(error) if !lasting(&error) => return Err(error).map_err(Error::io("inspect", path)),
        Err(error) => {
            let from_here = if path.is_relative() {
                "; the path is relative to where the run was started"
            } else {
                ""
            };
            Err(format!("{}: {error}{from_here}", entry.path))
        }
        // Opening a FIFO could wait forever.
        Ok(metadata) if !metadata.is_file() => Err(format!("{} is not a file", entry.path)),
        Ok(metadata) if metadata.len() != identity.size => Err(format!(
            "{} has {} bytes but had {} when it was read",
            entry.path,
            metadata.len(),
            identity.size
        )),
        Ok(_) => Ok(InputFile {
            path: path.into(),
            real: None,
            docno: entry.name.clone(),
            odd_path: false,
            identity: Some(identity.clone()),
            problem: None,
        }),
    })
}

struct InputTexts<'w> {
    workspace: &'w Workspace,
    /// Computes only the MD5 of the canonical document, and no fingerprints.
    shingler: Shingler<u64>,
    parser: Parser,
}

impl<'w> InputTexts<'w> {
    fn new(workspace: &'w Workspace) -> InputTexts<'w> {
        let shingle = &collection::config(&workspace.manifest).shingle;
        InputTexts {
            workspace,
            shingler: Shingler::new(&ShingleConfig {
                fingerprint: FingerprintKind::Xxh3,
                ..shingle.clone()
            }),
            // The text as written, with white space folded.
            parser: Parser::new(&ParseConfig {
                tokens: TokenKind::Whitespace,
                ..shingle.parse.clone()
            }),
        }
    }

    /// Reads the texts of one file. A text that is not in its place is left out.
    fn file(
        &mut self,
        input: &InputFile,
        wanted: &[Place],
        documents: &HashMap<u32, ShownDocument>,
        found: &Found<'_, '_>,
        context: &Context<'_>,
    ) -> Result<()> {
        let config = &collection::config(&self.workspace.manifest).read;
        let mut wanted = wanted.iter().peekable();
        let Some(&&(file, ..)) = wanted.peek() else {
            return Ok(());
        };
        let mut records = RecordReader::open(input, file, config, context.stop);
        let mut batch = Batch::default();
        let mut n = 0u64;
        while let Some(&&(_, offset, number)) = wanted.peek() {
            batch.clear();
            n += 1;
            if n.is_multiple_of(1024) {
                context.stop.check(STAGE)?;
            }
            let more = records.next_into(&mut batch);
            if let Some(error) = records.failure() {
                return Err(error).map_err(Error::io("read", &input.path));
            }
            if !more {
                break;
            }
            let Some(record) = batch.records.first() else {
                break;
            };
            if record.source.offset < offset || matches!(record.kind, RecordKind::Rejected(_)) {
                continue;
            }
            wanted.next();
            let bytes = batch.bytes.get(record.bytes.clone()).unwrap_or_default();
            if record.source.offset == offset
                && let Interpreted::Document(document) = interpret(record, bytes, config)
                && let Some(expected) = documents.get(&number)
                && self
                    .shingler
                    .shingle(&document, (1, 0), &mut Vec::new())
                    .md5
                    == expected.md5
            {
                self.shingler.shrink();
                let words = self.words(&document);
                let mut found = locked(found);
                if found.1.take(words.bytes()) {
                    found.0.insert(number, ShownText::Found(words));
                }
            }
        }
        Ok(())
    }

    fn words(&mut self, document: &RawDocument<'_>) -> Words {
        let mut beginning = Beginning::default();
        self.parser.parse(document, &mut beginning);
        self.parser.shrink();
        let tokens = &collection::config(&self.workspace.manifest)
            .shingle
            .parse
            .tokens;
        let text = String::from_utf8_lossy(&beginning.bytes).into_owned();
        words(text, beginning.cut, tokens)
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
