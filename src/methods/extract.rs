//! The texts of a collection to a method's keys.
//!
//! # Algorithm
//! Segment by segment: a window of texts is read, its documents are shared out among the threads, and what
//! comes of them is written in their order. A segment that is written is committed, and not made again.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Keys;
use super::document::{Document, Scratch};
use crate::budget::{ByteSize, PROCESS_BYTES};
use crate::collection::{
    Catalogue, DocumentReader, DocumentRecord, DocumentWriter, RejectWriter, SegmentStats,
    SetWriter, TextReader,
};
use crate::ids::Key;
use crate::manifest::{SegmentEntry, Workspace};
use crate::progress::{Context, Unit, caught, joined_all};
use crate::store::disk;
use crate::{Error, Result};

const STAGE: &str = "keys";
const DIRECTORY: &str = "collection";
/// Texts of a window, if memory allows: enough that all threads have something to do.
const WINDOW_BYTES: u64 = 16 << 20;
/// Documents of a window at most.
const WINDOW_DOCUMENTS: usize = 16 << 10;
/// Memory for each byte of text: itself, and where every byte begins a window its fingerprint, before and
/// after it is chosen, and as it is written.
const COST: u64 = 1 + 3 * 8;
/// Readers, writers, and what a thread holds to cut a text into tokens.
const FIXED_BYTES: u64 = 24 << 20;

/// A document of a window, with where its text is, unless it takes no part.
struct Waiting {
    document: DocumentRecord,
    text: Option<std::ops::Range<usize>>,
}

/// Makes the keys of all documents of `base` in `workspace`; goes on after the segments that are there.
pub(super) fn run(
    base: &Workspace,
    workspace: &mut Workspace,
    keys: &dyn Keys,
    context: &Context<'_>,
) -> Result<()> {
    let documents = Catalogue::stats(base)?.documents;
    let threads = context.budget.threads as u64;
    let held = keys.held_bytes();
    let fixed = PROCESS_BYTES + FIXED_BYTES + held + documents * 4 + threads * (2 << 20);
    let least = ByteSize(fixed + (1 << 20) * COST);
    let what = || format!("making keys of {documents} documents with {threads} threads");
    context.budget.require(least, what)?;
    let window = ((context.budget.memory.0 - fixed) / COST).min(WINDOW_BYTES);
    let representatives = Catalogue::representatives(base)?;
    context
        .progress
        .start(STAGE, Unit::Count("documents"), Some(documents));
    let made = workspace.manifest.segments.len();
    for (number, segment) in base.manifest.segments.iter().enumerate().skip(made) {
        let extraction = Extraction {
            base,
            keys,
            context,
            fixed,
            window,
            representatives: &representatives.0,
        };
        let entry = extraction.segment(workspace, number as u64, segment)?;
        workspace.manifest.segments.push(entry);
        workspace.commit(&[DIRECTORY])?;
    }
    workspace.manifest.ingested = true;
    workspace.commit(&[DIRECTORY])
}

struct Extraction<'a> {
    base: &'a Workspace,
    keys: &'a dyn Keys,
    context: &'a Context<'a>,
    fixed: u64,
    window: u64,
    representatives: &'a [u32],
}

impl Extraction<'_> {
    fn segment(
        &self,
        workspace: &Workspace,
        number: u64,
        segment: &SegmentEntry,
    ) -> Result<SegmentEntry> {
        let parameters = workspace.collection_parameters();
        let path = self.base.path(DIRECTORY).join(&segment.documents.name);
        let mut records = DocumentReader::open(
            &path,
            Some(self.base.collection_parameters()),
            Some(&segment.documents),
        )?;
        let mut texts = TextReader::of(self.base, segment)?.ok_or_else(|| no_text(self.base))?;
        let directory = workspace.path(DIRECTORY);
        let mut out = Out {
            documents: DocumentWriter::create(&directory, parameters, number)?,
            sets: SetWriter::create(&directory, parameters, number, u64::BYTES)?,
            stats: SegmentStats::default(),
            scratch: Vec::new(),
        };
        let rejects = RejectWriter::create(&directory, parameters, number)?;
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut bytes: Vec<u8> = Vec::new();
        let mut at = segment.first_document;
        while let Some(document) = records.next()? {
            let mut text = None;
            if document.stored {
                let length = texts.next_length()?;
                let length = length.ok_or_else(|| missing_text(&path, at))?;
                if self.representatives.get(at as usize) == Some(&at) {
                    if bytes.len() as u64 + length > self.window && !waiting.is_empty() {
                        self.window(&mut waiting, &mut bytes, &mut out)?;
                    }
                    self.context
                        .budget
                        .require(ByteSize(self.fixed + length * COST), || {
                            format!("the keys of a document of {length} bytes of text")
                        })?;
                    let from = bytes.len();
                    while let Some(piece) = texts.piece()? {
                        bytes.extend_from_slice(piece);
                    }
                    text = Some(from..bytes.len());
                }
            }
            waiting.push(Waiting { document, text });
            if waiting.len() == WINDOW_DOCUMENTS {
                self.window(&mut waiting, &mut bytes, &mut out)?;
            }
            if at.is_multiple_of(4096) {
                self.context.progress.at(at.into());
            }
            at += 1;
        }
        self.window(&mut waiting, &mut bytes, &mut out)?;
        if texts.next_length()?.is_some() {
            return Err(missing_text(&path, at));
        }
        texts.finish()?;
        records.finish()?;
        Ok(SegmentEntry {
            first_document: segment.first_document,
            documents: out.documents.finish()?,
            fingerprints: out.sets.finish(out.stats.stored)?,
            rejects: rejects.finish()?,
            text: None,
            next: Default::default(),
            stats: out.stats,
        })
    }

    /// Makes the keys of a window and writes them.
    fn window(&self, waiting: &mut Vec<Waiting>, bytes: &mut Vec<u8>, out: &mut Out) -> Result<()> {
        self.context.stop.check(STAGE)?;
        let next = AtomicUsize::new(0);
        let (next, all, texts) = (&next, &waiting[..], &bytes[..]);
        let work = || -> Result<Vec<(usize, Vec<u64>)>> {
            disk::point("keys: worker");
            let mut scratch = Scratch::default();
            let mut made = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(waiting) = all.get(at) else {
                    return Ok(made);
                };
                let Some(range) = &waiting.text else { continue };
                let text = std::str::from_utf8(&texts[range.clone()]).map_err(|e| {
                    let docno = &waiting.document.docno;
                    Error::Corrupt {
                        path: self.base.path(DIRECTORY),
                        offset_bytes: 0,
                        what: format!("the text of {docno}"),
                        expected: "UTF-8".into(),
                        found: e.to_string(),
                    }
                })?;
                let mut keys = Vec::new();
                let mut document = Document::new(text, &mut scratch);
                self.keys.keys(&mut document, &mut keys);
                keys.sort_unstable();
                keys.dedup();
                keys.shrink_to_fit();
                made.push((at, keys));
            }
        };
        let threads = self.context.budget.threads;
        let made = if threads == 1 {
            vec![caught(STAGE, work)?]
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
                joined_all(STAGE, workers)
            })?
        };
        let mut made: Vec<(usize, Vec<u64>)> = made.into_iter().flatten().collect();
        made.sort_unstable_by_key(|(at, _)| *at);
        let mut made = made.into_iter().peekable();
        for (at, waiting) in waiting.drain(..).enumerate() {
            let keys = made.next_if(|(of, _)| *of == at);
            out.push(waiting.document, keys.map(|(_, keys)| keys))?;
        }
        bytes.clear();
        Ok(())
    }
}

/// What is written of a segment.
struct Out {
    documents: DocumentWriter,
    sets: SetWriter,
    stats: SegmentStats,
    scratch: Vec<u8>,
}

impl Out {
    /// Writes a document and its keys; one without takes no part.
    fn push(&mut self, mut document: DocumentRecord, keys: Option<Vec<u64>>) -> Result<()> {
        let stats = &mut self.stats;
        stats.documents += 1;
        stats.records += 1;
        stats.words += document.words;
        stats.empty += u64::from(document.words == 0);
        document.stored = keys.is_some();
        match keys {
            None => {
                stats.omitted += 1;
                document.shingles = 0;
                document.short = false;
            }
            Some(keys) => {
                document.shingles = u32::try_from(keys.len()).map_err(|_| Error::TooMany {
                    what: "keys of a document",
                    found: keys.len() as u64,
                    most: u32::MAX.into(),
                })?;
                document.short = keys.is_empty() && document.words > 0;
                stats.shingles += keys.len() as u64;
                stats.stored += keys.len() as u64;
                stats.short += u64::from(document.short);
                self.sets.put_keys(&keys, &mut self.scratch)?;
            }
        }
        self.documents.push(&document)
    }
}

pub(super) fn no_text(base: &Workspace) -> Error {
    Error::BadParameter {
        name: "method",
        given: base.directory().display().to_string(),
        limit:
            "its collection keeps no texts, of which methods are made; `ingest` it with --keep-text"
                .into(),
    }
}

fn missing_text(path: &std::path::Path, document: u32) -> Error {
    Error::Corrupt {
        path: path.into(),
        offset_bytes: 0,
        what: format!("texts of the segment, at document {document}"),
        expected: "one for each stored document".into(),
        found: "another number".into(),
    }
}
