//! The writer of a unit: appends batches to the parts of a segment in input order. And the
//! committer, which enters the segments of all units into the manifest.

use crate::collection::{
    CollectionConfig, Cursor, DocumentReader, DocumentRecord, Extent, SegmentEntry, SegmentWriter,
    insert_segment, segments,
};
use crate::shingle::Shingler;
use lookalike_base::{Error, Key, Result, Stop, lock};
use lookalike_store::{Places, Workspace};
use lookalike_text::read::{Batch, Interpreted, Reason, Record, interpret};
use std::sync::Mutex;

use super::stats::add_field;
use super::units::Unit;
use super::worker::{Content, Done, Shingled, read_document};
use super::{DIRECTORY, STAGE};

/// Slots of the table of recent MD5s: 4 MiB.
const SEEN_SLOTS: usize = 1 << 18;
/// The largest number of documents with 32-bit numbers, with one number reserved.
const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

/// The MD5s seen recently in the unit: one slot for each value of some of their bits, which keeps
/// the latest MD5.
struct SeenLately(Vec<[u8; 16]>);

impl SeenLately {
    /// With fields there is nothing to see: all sets are stored.
    fn new(config: &CollectionConfig) -> SeenLately {
        let slots = if config.read.fields.is_empty() {
            SEEN_SLOTS
        } else {
            0
        };
        SeenLately(vec![[0; 16]; slots])
    }

    /// Whether the slot holds this MD5; stores it there.
    fn seen(&mut self, md5: &[u8; 16]) -> bool {
        let slot = u32::from_le_bytes([md5[0], md5[1], md5[2], md5[3]]) as usize % SEEN_SLOTS;
        let slot = self.0.get_mut(slot);
        slot.is_some_and(|slot| std::mem::replace(slot, *md5) == *md5)
    }
}

/// Enters segments into the manifest. While one thread writes the manifest, others leave their
/// segments to it.
pub(super) struct Committer<'a> {
    workspace: Mutex<&'a mut Workspace>,
    waiting: Mutex<Waiting>,
    stop: &'a Stop,
    places: Places,
}

#[derive(Default)]
struct Waiting {
    segments: Vec<SegmentEntry>,
    committing: bool,
}

impl<'a> Committer<'a> {
    pub(super) fn new(workspace: &'a mut Workspace, stop: &'a Stop) -> Committer<'a> {
        Committer {
            places: workspace.places().clone(),
            workspace: Mutex::new(workspace),
            waiting: Mutex::default(),
            stop,
        }
    }

    /// The committed segments of a unit.
    pub(super) fn committed(&self, unit: &Unit) -> Vec<SegmentEntry> {
        let workspace = lock(&self.workspace);
        unit.committed(segments(&workspace.manifest)).to_vec()
    }

    fn commit(&self, segment: SegmentEntry) -> Result<()> {
        // A requested stop ends the conversion of a document with a reject, which must not be kept.
        self.stop.check(STAGE)?;
        let mut waiting = lock(&self.waiting);
        waiting.segments.push(segment);
        if waiting.committing {
            return Ok(());
        }
        waiting.committing = true;
        while !waiting.segments.is_empty() {
            let new = std::mem::take(&mut waiting.segments);
            drop(waiting);
            let mut workspace = lock(&self.workspace);
            let found = Extent::of(segments(&workspace.manifest).iter().chain(&new)).documents;
            if found > MOST_DOCUMENTS {
                return Err(Error::too_many("documents", found, MOST_DOCUMENTS));
            }
            let bytes = new.iter().map(SegmentEntry::bytes).sum();
            for segment in new {
                insert_segment(&mut workspace.manifest, segment);
            }
            workspace.commit_part(&[DIRECTORY], bytes)?;
            drop(workspace);
            waiting = lock(&self.waiting);
        }
        waiting.committing = false;
        Ok(())
    }
}

/// The writer of a unit: appends batches in input order.
pub(super) struct SegmentsWriter<'i, 'a, K: Key> {
    committer: &'i Committer<'a>,
    unit: Unit,
    /// Segments of the unit so far.
    segments: usize,
    config: &'i CollectionConfig,
    shingler: Shingler<K>,
    pass_bytes: u64,
    seen: SeenLately,
    open: Option<SegmentWriter>,
    scratch: Vec<u8>,
}

impl<'i, 'a, K: Key> SegmentsWriter<'i, 'a, K> {
    /// Continues after the committed segments of the unit. In a pass over an oversized document, it
    /// keeps at most `pass_bytes` of fingerprints.
    pub(super) fn new(
        committer: &'i Committer<'a>,
        unit: Unit,
        committed: &[SegmentEntry],
        config: &'i CollectionConfig,
        pass_bytes: u64,
    ) -> Result<Self> {
        let mut seen = SeenLately::new(config);
        for segment in committed {
            let mut documents = DocumentReader::of(&committer.places, segment)?;
            while let Some(document) = documents.next()? {
                seen.seen(&document.md5);
            }
            documents.finish()?;
        }
        Ok(SegmentsWriter {
            committer,
            unit,
            segments: committed.len(),
            shingler: Shingler::new(&config.shingle),
            config,
            pass_bytes,
            seen,
            open: None,
            scratch: Vec::new(),
        })
    }

    fn open(&mut self) -> Result<&mut SegmentWriter> {
        let places = &self.committer.places;
        let place = (&*places.path(DIRECTORY), places.parameters);
        let number = self.unit.part(self.segments);
        Ok(match &mut self.open {
            Some(open) => open,
            none => none.insert(SegmentWriter::create(place, number, self.config, K::BYTES)?),
        })
    }

    pub(super) fn push(&mut self, done: Done) -> Result<()> {
        for content in done.contents {
            match content {
                Content::Shingled(batch) if batch.records == 0 => {}
                Content::Shingled(batch) => self.push_shingled(batch)?,
                Content::Oversized(batch) => self.push_oversized(&batch)?,
            }
        }
        if let (Some(next), true) = (done.ends_segment, self.open.is_some()) {
            self.commit(next)?;
        }
        Ok(())
    }

    fn push_shingled(&mut self, batch: Shingled) -> Result<()> {
        let (mut sets, mut texts) = (&batch.sets[..], &batch.texts[..]);
        let mut kept = Vec::with_capacity(batch.documents.len());
        for (document, &text_bytes) in batch.documents.iter().zip(&batch.text_bytes) {
            let (set, rest) = sets.split_at(document.shingles as usize * K::BYTES);
            sets = rest;
            let (text, rest) = texts.split_at(text_bytes);
            texts = rest;
            let stored = !self.seen.seen(&document.md5);
            kept.push((stored, set, text));
        }
        let config = self.config;
        let open = self.open()?;
        for (document, (stored, set, text)) in batch.documents.iter().zip(kept) {
            if stored {
                open.sets.put(set)?;
                if let Some(texts) = &mut open.texts {
                    texts.push(text)?;
                    open.stats.text += text.len() as u64;
                }
            }
            push_document(open, document, stored, config)?;
        }
        push_rest(open, &batch)
    }

    /// Shingles a document whose fingerprints might not fit in memory, in passes over ranges of
    /// fingerprints.
    fn push_oversized(&mut self, batch: &Batch) -> Result<()> {
        self.open()?;
        let mut out = Shingled {
            bytes: batch.bytes.len() as u64,
            records: 1,
            ..Shingled::default()
        };
        let (record, config) = (&batch.records[0], self.config);
        let (seen, shingler, scratch) = (&mut self.seen, &mut self.shingler, &mut self.scratch);
        let (mut stored, mut shingles, mut written) = (None, 0, Ok(()));
        let open = &mut self.open;
        let document = read_document(record, batch, config, &config.read, &mut out, |document| {
            let room = self.pass_bytes.max(1 << 20);
            shingler.in_passes(document, room, &mut Vec::new(), |facts, set| {
                shingles += set.len() as u64;
                let stored = *stored.get_or_insert_with(|| !seen.seen(&facts.md5));
                if let (true, true, Some(open)) = (stored, written.is_ok(), &mut *open) {
                    written = open.sets.put_keys(set, scratch);
                }
            })
        });
        written?;
        if let (Ok(Some(mut document)), Some(open)) = (document, open) {
            document.shingles = u32::try_from(shingles).map_err(|_| {
                Error::too_many("shingles in a document", shingles, u32::MAX.into())
            })?;
            let stored = stored.unwrap_or(false);
            if stored {
                shingler.shrink();
                push_text(open, shingler, record, batch, config)?;
            }
            push_document(open, &document, stored, config)?;
        }
        self.shingler = Shingler::new(&self.config.shingle);
        push_rest(self.open()?, &out)
    }

    fn commit(&mut self, next: Cursor) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        self.segments += 1;
        // The committer knows its first document.
        self.committer.commit(open.finish(0, next)?)
    }
}

/// Keeps the text of an oversized document, if texts are kept. Reads it once for its length and
/// once more to write it piece by piece.
fn push_text<K: Key>(
    open: &mut SegmentWriter,
    shingler: &mut Shingler<K>,
    record: &Record,
    batch: &Batch,
    config: &CollectionConfig,
) -> Result<()> {
    let Some(texts) = &mut open.texts else {
        return Ok(());
    };
    let mut each_piece = |take: &mut dyn FnMut(&[u8])| {
        let bytes = &batch.bytes[record.bytes.clone()];
        if let Interpreted::Document(document) = interpret(record, bytes, &config.read) {
            shingler.text_in_pieces(&document, take);
        }
    };
    let mut length = 0;
    each_piece(&mut |piece| length += piece.len() as u64);
    texts.begin(length)?;
    let mut written = Ok(());
    each_piece(&mut |piece| {
        if written.is_ok() {
            written = texts.put(piece);
        }
    });
    open.stats.text += length;
    written
}

fn push_document(
    open: &mut SegmentWriter,
    document: &DocumentRecord,
    stored: bool,
    config: &CollectionConfig,
) -> Result<()> {
    let tokens = &config.shingle.parse.tokens;
    if tokens.is_by_name() {
        let kind = tokens.of(&document.docno).to_string();
        *open.stats.tokens.entry(kind).or_default() += 1;
    }
    open.push(&DocumentRecord {
        stored,
        ..document.clone()
    })
}

fn push_rest(open: &mut SegmentWriter, batch: &Shingled) -> Result<()> {
    open.stats.bytes += batch.bytes;
    open.stats.records += batch.records;
    open.stats.unnamed += batch.unnamed;
    for (field, n) in &batch.fields {
        add_field(&mut open.stats.fields, field, *n);
    }
    for (reject, kept) in &batch.rejects {
        if !open.rejects.push(reject, *kept)? {
            continue;
        }
        let counts = if *kept {
            &mut open.stats.noticed
        } else {
            &mut open.stats.rejected
        };
        *counts
            .entry(Reason::text(reject.reason).to_string())
            .or_default() += 1;
    }
    for (kind, n) in &batch.skipped {
        *open.stats.skipped.entry((*kind).to_string()).or_default() += n;
    }
    Ok(())
}
