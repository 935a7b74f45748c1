//! A random part of a collection.

use crate::budget::ByteSize;
use crate::collection::{
    self, Catalogue, DocumentReader, DocumentWriter, RejectWriter, SegmentStats, SetReader,
    SetWriter,
};
use crate::ids::{Key, Threshold};
use crate::manifest::{SegmentEntry, Workspace};
use crate::progress::{Context, Silent};
use crate::{Error, Result};

use super::{STAGE, Subset};

/// Readers and writers.
const FIXED_BYTES: u64 = 24 << 20;
/// Documents of a segment of the subset, at most.
const SEGMENT_DOCUMENTS: u64 = 1 << 20;

/// A permutation of 64-bit numbers, another one for each seed: the finaliser of SplitMix64 (Steele, Lea
/// & Flood 2014, as Vigna has it), whose output bits all depend on all input bits.
#[inline]
fn mix(key: u64, seed: u64) -> u64 {
    let mut z = key ^ seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Which documents are in a subset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    seed: u64,
    share: Threshold,
}

impl Selection {
    pub(crate) fn new(subset: &Subset) -> Selection {
        Selection {
            seed: mix(subset.seed, 0x9e37_79b9_7f4a_7c15),
            share: subset.share,
        }
    }

    /// Is a document taken? Its MD5 tells, whatever else there is and in which order.
    pub(crate) fn takes(self, md5: [u8; 16]) -> bool {
        let bits = u128::from_le_bytes(md5);
        let drawn = mix((bits >> 64) as u64 ^ bits as u64, self.seed);
        u128::from(drawn) * u128::from(self.share.denominator())
            < u128::from(self.share.numerator()) << 64
    }
}

/// Makes the subset of a collection in a workspace of its own, unless it is there.
pub(crate) fn make<K: Key>(
    base: &Workspace,
    workspace: &mut Workspace,
    selection: Selection,
    context: &Context<'_>,
) -> Result<()> {
    if !workspace.manifest.ingested {
        let made = copy::<K>(base, workspace, selection, context)?;
        workspace.manifest.segments = made;
        workspace.manifest.ingested = true;
        workspace.commit(&["collection"])?;
    }
    let silent = Context {
        progress: &Silent,
        ..*context
    };
    collection::catalogue(workspace, &silent)
}

/// Copies the representatives that are taken: their records, and their sets.
fn copy<K: Key>(
    base: &Workspace,
    workspace: &Workspace,
    selection: Selection,
    context: &Context<'_>,
) -> Result<Vec<SegmentEntry>> {
    let directory = workspace.path("collection");
    let parameters = workspace.collection_parameters();
    let representatives = Catalogue::representatives(base)?;
    let stored = Catalogue::stored(base)?;
    let start = |number: u64, first_document: u32| -> Result<Open> {
        Ok(Open {
            documents: DocumentWriter::create(&directory, parameters, number)?,
            sets: SetWriter::create(&directory, parameters, number, K::BYTES)?,
            rejects: RejectWriter::create(&directory, parameters, number)?,
            first_document,
            stats: SegmentStats::default(),
        })
    };
    let largest = stored.0.iter().max().map_or(0, |&n| u64::from(n));
    let documents = stored.0.len() as u64;
    let least = ByteSize(FIXED_BYTES + documents * 8 + largest * (K::BYTES as u64 + 8));
    context
        .budget
        .require(least, || format!("a subset of {documents} documents"))?;
    let mut open = start(0, 0)?;
    let mut made: Vec<SegmentEntry> = Vec::new();
    let (mut number, mut copied) = (0u32, 0u32);
    let (mut set, mut scratch): (Vec<K>, Vec<u8>) = (Vec::new(), Vec::new());
    for segment in &base.manifest.segments {
        let path = base.path("collection").join(&segment.documents.name);
        let mut records = DocumentReader::open(&path, Some(parameters), Some(&segment.documents))?;
        let mut sets = SetReader::<K>::of(base, segment)?;
        while let Some(mut document) = records.next()? {
            if number.is_multiple_of(4096) {
                context.stop.check(STAGE)?;
            }
            let at = number as usize;
            let (first, size) = (representatives.0.get(at), stored.0.get(at));
            let taken = first == Some(&number) && selection.takes(document.md5);
            number += 1;
            set.clear();
            sets.next(size.copied().unwrap_or(0), |keys| {
                if taken {
                    set.extend_from_slice(keys);
                }
                Ok(())
            })?;
            if !taken {
                continue;
            }
            // Every set of the subset is there.
            document.stored = true;
            open.stats.documents += 1;
            open.stats.records += 1;
            open.stats.words += document.words;
            open.stats.short += u64::from(document.short);
            open.stats.shingles += set.len() as u64;
            open.stats.stored += set.len() as u64;
            open.sets.put_keys(&set, &mut scratch)?;
            open.documents.push(&document)?;
            copied += 1;
            if open.stats.documents == SEGMENT_DOCUMENTS {
                let next = start(made.len() as u64 + 1, copied)?;
                made.push(std::mem::replace(&mut open, next).close()?);
            }
        }
        records.finish()?;
        sets.finish()?;
    }
    made.push(open.close()?);
    Ok(made)
}

/// A segment that is being written.
struct Open {
    documents: DocumentWriter,
    sets: SetWriter,
    rejects: RejectWriter,
    first_document: u32,
    stats: SegmentStats,
}

impl Open {
    fn close(self) -> Result<SegmentEntry> {
        Ok(SegmentEntry {
            first_document: self.first_document,
            documents: self.documents.finish()?,
            fingerprints: self.sets.finish(self.stats.stored)?,
            rejects: self.rejects.finish()?,
            next: Default::default(),
            stats: self.stats,
        })
    }
}

/// Refuses a share that is none.
pub(crate) fn check(subset: &Subset) -> Result<()> {
    if subset.share.numerator() == subset.share.denominator() {
        return Err(Error::BadParameter {
            name: "subset",
            given: "100%".into(),
            limit: "below 100%; without --subset the plan is made on the whole collection".into(),
        });
    }
    Ok(())
}
