//! Turns the texts of a collection into the features of a method.
//!
//! # Algorithm
//! Segment by segment, as `texts.rs` reads the texts. Each finished segment is committed, and a
//! later run does not repeat it.

use super::texts::Texts;
use super::{Document, Keys};
use crate::base::ids::Key;
use crate::base::progress::Context;
use crate::engine::collection::{
    self, DocumentRecord, DocumentWriter, Ingested, RejectWriter, SegmentEntry, SegmentStats,
    SetWriter,
};
use crate::store::workspace::Workspace;
use crate::{Error, Result};

const STAGE: &str = "keys";
const DIRECTORY: &str = "collection";
/// Memory for each byte of text: the byte and, if a window begins at every byte, three copies of
/// its fingerprint: before the method selects features, after that, and during the write.
pub(crate) const COST: u64 = 1 + 3 * 8;

/// Writes the features of all documents of `base` to `workspace`, and resumes after the segments
/// that `workspace` already has.
pub(super) fn run(
    base: &Workspace,
    workspace: &mut Workspace,
    keys: &dyn Keys,
    context: &Context<'_>,
) -> Result<()> {
    let texts = Texts::new(base, STAGE, keys.held_bytes(), COST, context)?;
    let made = collection::segments(&workspace.manifest).len();
    for (number, segment) in collection::segments(&base.manifest)
        .iter()
        .enumerate()
        .skip(made)
    {
        let entry = write_segment(&texts, keys, workspace, number as u64, segment)?;
        collection::segments_mut(&mut workspace.manifest).push(entry);
        workspace.commit(&[DIRECTORY])?;
    }
    workspace.manifest.set(Ingested(true));
    workspace.commit(&[DIRECTORY])
}

fn write_segment(
    texts: &Texts<'_>,
    keys: &dyn Keys,
    workspace: &Workspace,
    number: u64,
    segment: &SegmentEntry,
) -> Result<SegmentEntry> {
    let parameters = workspace.collection_parameters();
    let directory = workspace.path(DIRECTORY);
    let mut out = Out {
        documents: DocumentWriter::create(&directory, parameters, number)?,
        sets: SetWriter::create(&directory, parameters, number, u64::BYTES)?,
        stats: SegmentStats::default(),
        scratch: Vec::new(),
    };
    let rejects = RejectWriter::create(&directory, parameters, number)?;
    let make = |document: &mut Document<'_>| {
        let mut made = Vec::new();
        keys.keys(document, &mut made);
        made.sort_unstable();
        made.dedup();
        made.shrink_to_fit();
        made
    };
    texts.segment(segment, make, |document, keys| out.push(document, keys))?;
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

/// The files of the segment that is being written.
struct Out {
    documents: DocumentWriter,
    sets: SetWriter,
    stats: SegmentStats,
    scratch: Vec<u8>,
}

impl Out {
    /// Writes a document and its features. Documents that are not representatives have `None`.
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
                document.shingles = u32::try_from(keys.len()).map_err(|_| {
                    Error::too_many("keys of a document", keys.len() as u64, u32::MAX.into())
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
