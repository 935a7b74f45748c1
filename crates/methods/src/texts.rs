//! Reads the texts that a collection keeps of its representatives, window by window, and processes
//! them on all threads.
//!
//! # Algorithm
//! For each segment, read a window of texts, share its documents among the threads, and pass the
//! results on in document order.
//!
//! # Cost
//! Memory: one window, in which each byte of text costs the number of bytes that the caller gives.

use lookalike_base::{Context, Error, PROCESS_BYTES, Result, Unit, counted, on_threads};
use lookalike_engine::collection::{
    self, Catalogue, DocumentReader, DocumentRecord, Representatives, SegmentEntry, TextReader,
};
use lookalike_store::{Workspace, disk};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::document::{Document, Scratch};

/// The bytes of text in a window if the budget allows: enough to keep all threads busy.
const WINDOW_BYTES: u64 = 16 << 20;
/// The number of documents between two reports of progress.
const LOOK_AFTER: usize = 64;
/// The most documents in a window.
const WINDOW_DOCUMENTS: usize = 16 << 10;
/// Memory of the readers, the writers, and the tokenizer of each thread.
const FIXED_BYTES: u64 = 24 << 20;

/// A document of a window, and where its text is if the document is a representative.
struct Waiting {
    document: DocumentRecord,
    text: Option<std::ops::Range<usize>>,
}

/// The texts of a collection, and the resources for one pass over them.
pub(super) struct Texts<'a> {
    base: &'a Workspace,
    context: &'a Context<'a>,
    stage: &'static str,
    /// Memory for each byte of text.
    cost: u64,
    fixed: u64,
    window: u64,
    representatives: Representatives,
    /// The next exact duplicate of each document, if duplicates count.
    copies: Vec<u32>,
}

/// Memory for each document.
const COPIES_BYTES: u64 = 4;
/// No document follows.
const END: u32 = u32::MAX;

/// The next exact duplicate of each document.
fn copies(representatives: &Representatives) -> Vec<u32> {
    let mut next = vec![END; representatives.len()];
    for document in (0..representatives.len() as u32).rev() {
        let first = representatives.of(document);
        if first != document {
            next[document as usize] = next[first as usize];
            next[first as usize] = document;
        }
    }
    next
}

impl<'a> Texts<'a> {
    /// The texts of `base`, for a stage that already uses `held` bytes and needs `cost` bytes for
    /// each byte of text. With `duplicates`, documents know how many have their text.
    pub(super) fn new(
        base: &'a Workspace,
        stage: &'static str,
        (held, cost): (u64, u64),
        duplicates: bool,
        context: &'a Context<'a>,
    ) -> Result<Self> {
        let documents = Catalogue::stats(base)?.documents;
        let threads = context.budget.threads as u64;
        let columns = documents * (4 + if duplicates { COPIES_BYTES } else { 0 });
        let fixed = PROCESS_BYTES + FIXED_BYTES + held + columns + threads * (2 << 20);
        let what = || {
            format!(
                "making keys of {} with {}",
                counted(documents, "document"),
                counted(threads, "thread")
            )
        };
        let rest = context.budget.rest(fixed, (1 << 20) * cost, what)?;
        let window = (rest / cost).min(WINDOW_BYTES);
        context.start(stage, Unit::Count("documents"), Some(documents));
        let representatives = Catalogue::representatives(base)?;
        let copies = match duplicates {
            true => copies(&representatives),
            false => Vec::new(),
        };
        Ok(Texts {
            base,
            context,
            stage,
            cost,
            fixed,
            window,
            representatives,
            copies,
        })
    }

    /// A representative and its exact duplicates, if they count; of another document none.
    pub(super) fn class(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(first).filter(|&first| self.representatives.has(first));
        let next = |&document: &u32| self.copies.get(document as usize).copied();
        std::iter::successors(first, next).take_while(|&document| document != END)
    }

    /// Calls `make` for each text of a segment, on all threads. Then calls `each` with every
    /// document in order, with its number, and with the result of `make` if the document is a
    /// representative.
    pub(super) fn segment<T: Send>(
        &self,
        segment: &SegmentEntry,
        make: impl Fn(&mut Document<'_>) -> T + Sync,
        mut each: impl FnMut(u32, DocumentRecord, Option<T>) -> Result<()>,
    ) -> Result<()> {
        let mut records = DocumentReader::of(self.base.places(), segment)?;
        let mut texts = TextReader::of(self.base, segment)?.ok_or_else(|| no_text(self.base))?;
        let path = texts.path().to_path_buf();
        let mut window = |end, waiting: &mut Vec<Waiting>, bytes: &mut Vec<u8>| {
            self.window((&path, end), waiting, bytes, &make, &mut each)
        };
        let (mut waiting, mut bytes) = (Vec::new(), Vec::new());
        let mut at = segment.first_document;
        while let Some(document) = records.next()? {
            let mut text = None;
            if document.stored {
                let length = texts.next_length()?;
                let length = length.ok_or_else(|| missing_text(texts.path(), at))?;
                // A document without words has no features, so it equals no other.
                if self.representatives.has(at) && document.words > 0 {
                    if bytes.len() as u64 + length > self.window && !waiting.is_empty() {
                        window(at, &mut waiting, &mut bytes)?;
                    }
                    let least = self.fixed + length * self.cost;
                    let what = || format!("the keys of a document of {length} bytes of text");
                    self.context.budget.require(least, what)?;
                    let from = bytes.len();
                    while let Some(piece) = texts.piece()? {
                        bytes.extend_from_slice(piece);
                    }
                    text = Some(from..bytes.len());
                }
            }
            waiting.push(Waiting { document, text });
            if waiting.len() == WINDOW_DOCUMENTS {
                window(at + 1, &mut waiting, &mut bytes)?;
            }
            at += 1;
        }
        window(at, &mut waiting, &mut bytes)?;
        if texts.next_length()?.is_some() {
            return Err(missing_text(texts.path(), at));
        }
        texts.finish()?;
        records.finish()
    }

    /// Processes a window of texts from the part `path`. Its documents are the ones just before
    /// `end`.
    fn window<T: Send>(
        &self,
        (path, end): (&Path, u32),
        waiting: &mut Vec<Waiting>,
        bytes: &mut Vec<u8>,
        make: &(impl Fn(&mut Document<'_>) -> T + Sync),
        each: &mut impl FnMut(u32, DocumentRecord, Option<T>) -> Result<()>,
    ) -> Result<()> {
        self.context.stop.check(self.stage)?;
        let next = AtomicUsize::new(0);
        let (next, all, texts) = (&next, &waiting[..], &bytes[..]);
        let first = (end as usize).saturating_sub(all.len());
        let parse = &collection::config(&self.base.manifest).shingle.parse;
        let work = |_| -> Result<Vec<(usize, T)>> {
            disk::point("keys: worker");
            let mut scratch = Scratch::new(parse);
            let mut made = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(waiting) = all.get(at) else {
                    return Ok(made);
                };
                // A method may take seconds for a large document.
                self.context.stop.check(self.stage)?;
                if at.is_multiple_of(LOOK_AFTER) {
                    self.context.progress.at((first + at) as u64);
                }
                let Some(range) = &waiting.text else { continue };
                let text = std::str::from_utf8(&texts[range.clone()]).map_err(|e| {
                    let docno = &waiting.document.docno;
                    Error::corrupt(path, format!("the text of {docno}")).expected("UTF-8", e)
                })?;
                let mut document = Document::new(text, &mut scratch);
                document.copies = self.class((first + at) as u32).count() as u64;
                made.push((at, make(&mut document)));
            }
        };
        let made = on_threads(self.stage, self.context.budget.threads, work, None)?;
        let mut made: Vec<(usize, T)> = made.into_iter().flatten().collect();
        made.sort_unstable_by_key(|(at, _)| *at);
        let mut made = made.into_iter().peekable();
        for (at, waiting) in waiting.drain(..).enumerate() {
            let of = made.next_if(|(of, _)| *of == at);
            let number = (first + at) as u32;
            each(number, waiting.document, of.map(|(_, made)| made))?;
        }
        bytes.clear();
        Ok(())
    }
}

fn missing_text(path: &Path, document: u32) -> Error {
    let what = format!("texts of the segment, at document {document}");
    Error::corrupt(path, what).expected("one for each stored document", "another number")
}

pub(super) fn no_text(base: &Workspace) -> Error {
    Error::parameter("DIR", base.directory().display()).because(
        "its collection keeps no texts, which methods need; repeat its `ingest` or `run` \
             with --keep-text, which reads the inputs again",
    )
}
