//! A segment that is being written: its parts and its counts.

use std::path::Path;

use super::{
    CollectionConfig, Cursor, DocumentRecord, DocumentWriter, RejectWriter, SegmentEntry,
    SegmentStats, SetWriter, TextWriter,
};
use lookalike_base::Result;

/// The parts of a segment that is being written.
pub struct SegmentWriter {
    documents: DocumentWriter,
    /// The sets of the documents that are stored, in their order.
    pub sets: SetWriter,
    /// The rejects.
    pub rejects: RejectWriter,
    /// The texts of these documents, if the collection keeps them.
    pub texts: Option<TextWriter>,
    /// The counts; those of documents come with [`SegmentWriter::push`].
    pub stats: SegmentStats,
}

impl SegmentWriter {
    /// Starts the parts of this number in the directory of the segments. The sets have keys of
    /// `key_bytes`.
    pub fn create(
        (directory, parameters): (&Path, u128),
        number: u64,
        config: &CollectionConfig,
        key_bytes: usize,
    ) -> Result<SegmentWriter> {
        let texts = || TextWriter::create(directory, parameters, number);
        Ok(SegmentWriter {
            documents: DocumentWriter::create(directory, parameters, number)?,
            sets: SetWriter::create(directory, parameters, number, key_bytes)?,
            rejects: RejectWriter::create(directory, parameters, number)?,
            texts: config.text.then(texts).transpose()?,
            stats: SegmentStats::default(),
        })
    }

    /// Appends a document, and counts it. Its set is there if it is stored.
    pub fn push(&mut self, document: &DocumentRecord) -> Result<()> {
        let (stats, shingles) = (&mut self.stats, u64::from(document.shingles));
        stats.documents += 1;
        stats.words += document.words;
        stats.shingles += shingles;
        stats.empty += u64::from(document.words == 0);
        stats.short += u64::from(document.short && document.words > 0);
        stats.captures += u64::from(document.date.0.is_some());
        match document.stored {
            true => stats.stored += shingles,
            false => stats.omitted += 1,
        }
        self.documents.push(document)
    }

    /// Finishes the parts. `next` is where the reader goes on.
    pub fn finish(self, first_document: u32, next: Cursor) -> Result<SegmentEntry> {
        Ok(SegmentEntry {
            first_document,
            documents: self.documents.finish()?,
            fingerprints: self.sets.finish(self.stats.stored)?,
            rejects: self.rejects.finish()?,
            text: self.texts.map(TextWriter::finish).transpose()?,
            next,
            stats: self.stats,
        })
    }
}
