//! A part of a collection that keeps many of its pairs.

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
    again: u64,
    share: Threshold,
}

impl Selection {
    pub(crate) fn new(subset: &Subset) -> Selection {
        let seed = mix(subset.seed, 0x9e37_79b9_7f4a_7c15);
        Selection {
            seed,
            again: mix(seed, 0x6a09_e667_f3bc_c909),
            share: subset.share,
        }
    }

    /// The place of a fingerprint in the seed's order; the least of a set decides.
    #[inline]
    fn place<K: Key>(self, key: K) -> u64 {
        let key = key.to_u128();
        mix((key >> 64) as u64 ^ key as u64, self.seed)
    }

    /// What is drawn as one: all documents with the same least place.
    pub(crate) fn unit<K: Key>(self, set: &[u8]) -> u32 {
        let places = set
            .chunks_exact(K::BYTES)
            .map(|key| self.place(K::get_le(key)));
        // The high bits of the least are nearly all 0.
        (mix(places.min().unwrap_or(u64::MAX), self.again) >> 7) as u32
    }

    /// Are documents taken whose least place this is?
    fn takes(self, least: u64) -> bool {
        // Of the least place itself the high bits are 0; mixed again it is anything.
        let drawn = u128::from(mix(least, self.again));
        drawn * u128::from(self.share.denominator()) < u128::from(self.share.numerator()) << 64
    }

    /// How many pairs of the collection one in the subset stands for: 1 / P(both are taken). Two sets
    /// have the same least place with the probability of their resemblance r (Broder 1997), and are then
    /// taken or left together, and apart otherwise: P = s r + s² (1 - r).
    pub(crate) fn weight(self, shared: u64, sizes: (u64, u64)) -> f64 {
        let union = (sizes.0 + sizes.1).saturating_sub(shared).max(1);
        let r = shared as f64 / union as f64;
        let s = self.share.numerator() as f64 / self.share.denominator() as f64;
        1.0 / (s * r + s * s * (1.0 - r))
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
            let takes_part = first == Some(&number);
            number += 1;
            set.clear();
            let mut least = u64::MAX;
            sets.next(size.copied().unwrap_or(0), |keys| {
                if takes_part {
                    let places = keys.iter().map(|&key| selection.place(key));
                    least = places.fold(least, u64::min);
                    set.extend_from_slice(keys);
                }
                Ok(())
            })?;
            if set.is_empty() || !selection.takes(least) {
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
