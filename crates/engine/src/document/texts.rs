//! The texts of documents, from the collection or from the inputs.

use std::sync::Mutex;

use serde::Serialize;

use crate::collection::{self, Catalogue, TextReader};
use lookalike_base::{Context, Error, Memory, Result, lock, unlocked};
use lookalike_store::{Workspace, table::cell};

use super::STAGE;
use super::find::{Found, located};
use super::inputs::{READER_BYTES, Reread, Wanted, read_again, record_bytes};

/// Where a text was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Its input file: the text as read.
    Input,
    /// The collection keeps it, with its white space folded.
    Kept,
    /// The collection keeps the text of its representative, which has the same words.
    KeptOfRepresentative,
}

impl Source {
    /// Returns the remark about this source that a reader of the text needs.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            Source::Input => None,
            Source::Kept => Some("the text that the directory keeps, with white space folded"),
            Source::KeptOfRepresentative => {
                Some("the text that the directory keeps of its representative, with the same words")
            }
        }
    }
}

/// The text of a document, or the reason why there is none.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Text {
    Found {
        text: String,
        #[serde(rename = "text_source")]
        source: Source,
    },
    Missing {
        #[serde(rename = "text_missing")]
        reason: String,
    },
}

/// The text of a document cannot be read again.
pub fn no_text(workspace: &Workspace, found: &Found, reason: &str) -> Error {
    let docno = cell(&found.record.docno);
    let what = format!(": the text of {docno} is not available: {reason}");
    let read = &collection::config(&workspace.manifest).read;
    let unnamed = read.unnamed_programs(&[]);
    // Without a program that it names, the reason is another one.
    let help = match reason.contains("--convert") && !unnamed.is_empty() {
        true => format!("repeat the command with {unnamed}, if you know the programs"),
        false => {
            "put the input back where it was; a collection that is made with --keep-text does \
                  not need it"
                .into()
        }
    };
    Error::of(workspace.directory(), what, help)
}

/// The texts of documents, as read (`Parser::text_as_read`) or as kept by the collection. Texts
/// that do not fit are counted, and the caller checks `held` afterwards.
pub fn texts(
    workspace: &Workspace,
    documents: &[&Found],
    held: &mut Memory,
    context: &Context<'_>,
) -> Result<Vec<Text>> {
    let wanted = documents.iter().map(|found| Wanted {
        file: found.record.file,
        offset: found.record.offset,
        number: found.number,
        md5: found.record.md5,
    });
    let _ = held.take(record_bytes(workspace) + READER_BYTES);
    let whole = Mutex::new((Vec::new(), held));
    let take = |number: u32, read: Reread<'_>| {
        let mut whole = lock(&whole);
        let text = match read {
            Err(reason) => Text::Missing { reason },
            Ok((again, parser)) => {
                let mut length = 0;
                parser.as_read_in_pieces(again.document, &mut |piece| length += piece.len());
                // Twice: a text is copied once.
                if !whole.1.take(2 * length as u64) {
                    return;
                }
                let mut text = String::with_capacity(length);
                parser.text_as_read(again.document, &mut text);
                let source = Source::Input;
                Text::Found { text, source }
            }
        };
        whole.0.push((number, text));
    };
    read_again(workspace, wanted.collect(), 1, STAGE, context, &take)?;
    let (read, held) = unlocked(whole);
    let mut texts = Vec::with_capacity(documents.len());
    for found in documents {
        let mut read = read.iter().filter(|(number, _)| *number == found.number);
        texts.push(match read.next() {
            Some((_, missing @ Text::Missing { .. })) => {
                let kept = instead(workspace, found, held, context)?;
                kept.unwrap_or_else(|| missing.clone())
            }
            Some((_, text)) => text.clone(),
            None => Text::Missing {
                reason: "it does not fit in the memory".into(),
            },
        });
    }
    Ok(texts)
}

/// The text that the collection keeps of a document or of its representative.
fn instead(
    workspace: &Workspace,
    found: &Found,
    held: &mut Memory,
    context: &Context<'_>,
) -> Result<Option<Text>> {
    let (first, source) = match found.record.stored {
        true => (found.clone(), Source::Kept),
        false => {
            let [first] = Catalogue::representatives_of(workspace, [found.number])?;
            (
                located(workspace, first, context)?,
                Source::KeptOfRepresentative,
            )
        }
    };
    if !first.record.stored {
        return Ok(None);
    }
    let kept = kept(workspace, &first, held, context)?;
    Ok(kept.map(|text| Text::Found { text, source }))
}

/// A kept text is valid UTF-8; in a damaged part it need not be.
fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The text that the collection keeps of a document; `None` if it keeps none.
fn kept(
    workspace: &Workspace,
    found: &Found,
    held: &mut Memory,
    context: &Context<'_>,
) -> Result<Option<String>> {
    let (_, segment) = collection::segment_of(workspace, found.number)?;
    let Some(mut texts) = TextReader::of(workspace, segment)? else {
        return Ok(None);
    };
    let ends = |path: &std::path::Path| {
        Error::corrupt(path, "texts of the segment")
            .expected(format!("one of document {}", found.number), "none")
    };
    for n in 0..found.texts_before {
        context.tick(STAGE, n)?;
        if texts.next_length()?.is_none() {
            return Err(ends(texts.path()));
        }
    }
    let Some(length) = texts.next_length()? else {
        return Err(ends(texts.path()));
    };
    if !held.take(length) {
        return Ok(Some(String::new()));
    }
    let mut bytes = Vec::new();
    while let Some(piece) = texts.piece()? {
        bytes.extend_from_slice(piece);
    }
    Ok(Some(utf8(bytes)))
}
