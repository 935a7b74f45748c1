//! Turns the texts of a collection into the features of a method.
//!
//! # Algorithm
//! Segment by segment, as `texts.rs` reads the texts. Each finished segment is committed, and a
//! later run does not repeat it.
//!
//! If exact duplicates have features, a first pass sorts the features of all documents that have
//! duplicates by the duplicate, because a collection does not keep the text of every duplicate.
//! Each document is then its own representative.

use super::texts::Texts;
use super::{Document, Keys};
use lookalike_base::{Context, Error, Key, Result, budget::ByteSize};
use lookalike_engine::collection::{
    self, CollectionConfig, Cursor, DocumentRecord, Ingested, SegmentEntry, SegmentWriter,
};
use lookalike_store::{Sort, Sorted, Workspace, item};

const STAGE: &str = "keys";
const DIRECTORY: &str = "collection";
/// Memory for each byte of text: the byte and, if a window begins at every byte, three copies of
/// its fingerprint: before the method selects features, after that, and during the write.
pub const COST: u64 = 1 + 3 * 8;

/// Writes the features of all documents of `base` to `workspace`, and resumes after the segments
/// that `workspace` already has.
pub(super) fn run(
    base: &Workspace,
    workspace: &mut Workspace,
    keys: &Keys,
    duplicates: bool,
    context: &Context<'_>,
) -> Result<()> {
    let made = collection::segments(&workspace.manifest).len();
    let (scratch, mut held) = (workspace.scratch(context)?, keys.held_bytes);
    let mut copied = None;
    if duplicates {
        held += SORT_BYTES;
        let sort = Sort::scratch(&scratch.path().join(STAGE), ByteSize(SORT_BYTES))?;
        copied = Some(Copied::of(base, (keys, held), made, sort, context)?);
    }
    let texts = Texts::new(base, STAGE, (held, COST), false, context)?;
    for (number, segment) in collection::segments(&base.manifest)
        .iter()
        .enumerate()
        .skip(made)
    {
        let number = number as u64;
        let entry = write_segment(&texts, keys, &mut copied, workspace, number, segment)?;
        collection::segments_mut(&mut workspace.manifest).push(entry);
        workspace.commit(&[DIRECTORY])?;
    }
    workspace.manifest.set(Ingested(true));
    workspace.commit(&[DIRECTORY])
}

fn write_segment(
    texts: &Texts<'_>,
    keys: &Keys,
    copied: &mut Option<Copied>,
    workspace: &Workspace,
    number: u64,
    segment: &SegmentEntry,
) -> Result<SegmentEntry> {
    let config = CollectionConfig {
        text: false,
        ..collection::config(&workspace.manifest).clone()
    };
    let place = (
        &*workspace.path(DIRECTORY),
        workspace.collection_parameters(),
    );
    let mut out = SegmentWriter::create(place, number, &config, u64::BYTES)?;
    let mut scratch = Vec::new();
    let make = |document: &mut Document<'_>| features(keys, document);
    texts.segment(segment, make, |number, mut document, mut keys| {
        if let Some(copied) = copied {
            // A document of its own: no other has this MD5.
            document.md5 = u128::from(number).to_be_bytes();
            if keys.is_none() && document.words > 0 {
                keys = Some(copied.next(number)?);
            }
        }
        put(&mut out, document, keys, &mut scratch)
    })?;
    out.finish(segment.first_document, Cursor::default())
}

/// The features of a document, sorted and distinct.
fn features(keys: &Keys, document: &mut Document<'_>) -> Vec<u64> {
    let mut made = Vec::new();
    (keys.append)(document, &mut made);
    made.sort_unstable();
    made.dedup();
    made.shrink_to_fit();
    made
}

/// Memory for sorting the features of duplicates.
const SORT_BYTES: u64 = 16 << 20;

item! {
    /// A feature of an exact duplicate.
    struct Copy {
        document: u32,
        key: u64,
    }
}

/// The features of exact duplicates, in the order of the documents.
struct Copied {
    sorted: Sorted<Copy>,
    next: Option<Copy>,
}

impl Copied {
    /// Reads the features for the segments from number `made` on.
    fn of(
        base: &Workspace,
        (keys, held): (&Keys, u64),
        made: usize,
        mut sort: Sort<Copy>,
        context: &Context<'_>,
    ) -> Result<Copied> {
        let texts = Texts::new(base, STAGE, (held, COST), true, context)?;
        let segments = collection::segments(&base.manifest);
        let from = segments.get(made).map_or(u32::MAX, |s| s.first_document);
        for segment in segments {
            let make = |document: &mut Document<'_>| match document.copies {
                1 => Vec::new(),
                _ => features(keys, document),
            };
            texts.segment(segment, make, |number, _, keys| {
                let keys = keys.unwrap_or_default();
                let copies = texts.class(number).skip(1);
                for document in copies.filter(|&document| document >= from) {
                    let mut items = keys.iter().map(|&key| Copy { document, key });
                    items.try_for_each(|item| sort.push(item))?;
                }
                Ok(())
            })?;
        }
        let mut sorted = sort.finish()?;
        let next = sorted.next()?;
        Ok(Copied { sorted, next })
    }

    /// The features of a document. Documents come in order.
    fn next(&mut self, document: u32) -> Result<Vec<u64>> {
        let mut keys = Vec::new();
        while let Some(copy) = self.next.filter(|copy| copy.document <= document) {
            if copy.document == document {
                keys.push(copy.key);
            }
            self.next = self.sorted.next()?;
        }
        Ok(keys)
    }
}

/// Writes a document and its features. Documents that are not representatives have `None`.
fn put(
    out: &mut SegmentWriter,
    mut document: DocumentRecord,
    keys: Option<Vec<u64>>,
    scratch: &mut Vec<u8>,
) -> Result<()> {
    out.stats.records += 1;
    let made = keys.as_deref().unwrap_or_default();
    document.stored = keys.is_some();
    document.shingles = u32::try_from(made.len())
        .map_err(|_| Error::too_many("keys of a document", made.len() as u64, u32::MAX.into()))?;
    document.short = keys.is_some() && made.is_empty() && document.words > 0;
    out.sets.put_keys(made, scratch)?;
    out.push(&document)
}
