//! Draws a random subset of a collection, on which a plan is measured.

use lookalike_base::{Context, Key, Result, STEP, Silent, Threshold, counted, mix};
use lookalike_engine::collection::{
    self, Catalogue, CollectionConfig, Cursor, DocumentReader, Ingested, SegmentEntry,
    SegmentWriter, Segments, SetReader,
};
use lookalike_store::Workspace;

use super::{STAGE, Subset};

/// Memory of the readers and writers.
const FIXED_BYTES: u64 = 24 << 20;
/// The most documents in a segment of the subset.
const SEGMENT_DOCUMENTS: u64 = 1 << 20;

/// Decides which documents belong to a subset.
#[derive(Clone, Copy, Debug)]
pub struct DocumentSubset {
    seed: u64,
    share: Threshold,
}

impl DocumentSubset {
    pub fn new(subset: &Subset) -> DocumentSubset {
        DocumentSubset {
            seed: mix(subset.seed, STEP),
            share: subset.share,
        }
    }

    /// Whether the subset contains a document. Only the seed and the MD5 of the document decide, so
    /// other documents and their order have no influence.
    pub fn takes(self, md5: [u8; 16]) -> bool {
        let bits = u128::from_le_bytes(md5);
        let drawn = mix((bits >> 64) as u64 ^ bits as u64, self.seed);
        u128::from(drawn) * u128::from(self.share.denominator())
            < u128::from(self.share.numerator()) << 64
    }
}

/// Makes the subset of a collection in its own workspace, unless the workspace already contains it.
pub fn make<K: Key>(
    base: &Workspace,
    workspace: &mut Workspace,
    selection: DocumentSubset,
    context: &Context<'_>,
) -> Result<()> {
    if !collection::ingested(&workspace.manifest) {
        let made = copy::<K>(base, workspace, selection, context)?;
        workspace.manifest.set(Segments(made));
        workspace.manifest.set(Ingested(true));
        workspace.commit(&["collection"])?;
    }
    let silent = Context {
        progress: &Silent,
        ..*context
    };
    collection::catalogue(workspace, &collection::each_md5, &silent)
}

/// Copies the records and sets of the selected representatives.
fn copy<K: Key>(
    base: &Workspace,
    workspace: &Workspace,
    selection: DocumentSubset,
    context: &Context<'_>,
) -> Result<Vec<SegmentEntry>> {
    let directory = workspace.path("collection");
    let parameters = workspace.collection_parameters();
    let representatives = Catalogue::representatives(base)?;
    let stored = Catalogue::stored(base)?;
    let config = CollectionConfig {
        // Planning does not read texts.
        text: false,
        ..collection::config(&base.manifest).clone()
    };
    let place = (&*directory, parameters);
    let start = |number: u64| SegmentWriter::create(place, number, &config, K::BYTES);
    let largest = stored.iter().max().map_or(0, u64::from);
    let documents = stored.len() as u64;
    let least = FIXED_BYTES + documents * 8 + largest * (K::BYTES as u64 + 8);
    let what = || format!("a subset of {}", counted(documents, "document"));
    context.budget.require(least, what)?;
    let mut open = start(0)?;
    let mut made: Vec<SegmentEntry> = Vec::new();
    let (mut number, mut first, mut copied) = (0u32, 0u32, 0u32);
    let (mut set, mut scratch): (Vec<K>, Vec<u8>) = (Vec::new(), Vec::new());
    for segment in collection::segments(&base.manifest) {
        let mut records = DocumentReader::of(base.places(), segment)?;
        let mut sets = SetReader::<K>::open(base.places(), segment)?;
        while let Some(mut document) = records.next()? {
            context.tick(STAGE, number)?;
            let size = stored.get(number);
            let size = size.ok_or_else(|| records.not_catalogued(number))?;
            let taken = representatives.has(number) && selection.takes(document.md5);
            number += 1;
            set.clear();
            sets.next(size, |keys| {
                if taken {
                    set.extend_from_slice(keys);
                }
                Ok(())
            })?;
            if !taken {
                continue;
            }
            // The subset stores the sets of all its documents.
            document.stored = true;
            open.stats.records += 1;
            open.sets.put_keys(&set, &mut scratch)?;
            open.push(&document)?;
            copied += 1;
            if open.stats.documents == SEGMENT_DOCUMENTS {
                let next = start(made.len() as u64 + 1)?;
                let whole = std::mem::replace(&mut open, next);
                made.push(whole.finish(first, Cursor::default())?);
                first = copied;
            }
        }
        records.finish()?;
        sets.finish()?;
    }
    made.push(open.finish(first, Cursor::default())?);
    Ok(made)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use md5::{Digest, Md5};

    use super::*;
    use lookalike_base::budget::{Budget, ByteSize, Disk};
    use lookalike_base::progress::Stop;
    use lookalike_engine::collection::{CollectionConfig, DocumentRecord, SizeGroups};
    use lookalike_engine::pipeline;
    use lookalike_engine::shingle::ShingleConfig;

    fn selection(share: (u64, u64), seed: u64) -> DocumentSubset {
        let share = Threshold::new(share.0, share.1).unwrap();
        DocumentSubset::new(&Subset { share, seed })
    }

    /// A random value is this many standard deviations away less than once in 100,000 times.
    const DEVIATIONS: f64 = 4.5;

    #[test]
    fn documents_are_drawn_one_by_one() {
        const SEEDS: u64 = 20_000;
        let md5s: [[u8; 16]; 3] = ["", "a", "b"].map(|text| Md5::digest(text).into());
        for share in [(1, 10), (1, 4), (9, 10)] {
            let s = share.0 as f64 / share.1 as f64;
            for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                let (mut both, mut one) = (0u64, 0u64);
                for seed in 0..SEEDS {
                    let selection = selection(share, seed);
                    let (a, b) = (selection.takes(md5s[a]), selection.takes(md5s[b]));
                    both += u64::from(a && b);
                    one += u64::from(a);
                }
                for (times, p) in [(one, s), (both, s * s)] {
                    let n = SEEDS as f64;
                    let deviation = (p * (1.0 - p) / n).sqrt();
                    let found = times as f64 / n;
                    assert!(
                        (found - p).abs() <= DEVIATIONS * deviation,
                        "{share:?}: {found} {p}"
                    );
                }
            }
        }
    }

    /// The representatives, each with its set.
    fn content<K: Key>(workspace: &Workspace) -> Vec<(DocumentRecord, Vec<K>)> {
        let representatives = Catalogue::representatives(workspace).unwrap();
        let stored = Catalogue::stored(workspace).unwrap();
        let mut found = Vec::new();
        let mut number = 0;
        for segment in collection::segments(&workspace.manifest) {
            assert_eq!(segment.first_document, number);
            let path = workspace.part("collection", &segment.documents.name);
            let mut documents =
                DocumentReader::open(&path, None, Some(&segment.documents)).unwrap();
            let mut sets = SetReader::<K>::open(workspace.places(), segment).unwrap();
            while let Some(document) = documents.next().unwrap() {
                let mut set: Vec<K> = Vec::new();
                sets.next(stored.at(number), |keys| {
                    set.extend_from_slice(keys);
                    Ok(())
                })
                .unwrap();
                if representatives.has(number) {
                    found.push((document, set));
                }
                number += 1;
            }
            documents.finish().unwrap();
            sets.finish().unwrap();
        }
        found
    }

    fn input(directory: &Path) {
        // Empty documents, exact duplicates and near-duplicates, and enough invalid lines to fill
        // whole segments.
        let mut lines = String::new();
        for i in 0..400u64 {
            let text: Vec<String> = match i % 8 {
                0 => Vec::new(),
                1 => (0..20)
                    .map(|w| format!("w{}", mix(w, i / 40) % 97))
                    .collect(),
                _ => (0..20 + i % 30)
                    .map(|w| format!("w{}", mix(w, i / 3) % 997))
                    .collect(),
            };
            lines.push_str(&format!(
                "{{\"id\": \"d{i}\", \"text\": \"{}\"}}\n",
                text.join(" ")
            ));
            if i == 150 || i == 399 {
                lines.push_str(&"{\"id\": \"x\", a line that is not JSON}\n".repeat(200));
            }
        }
        fs::write(directory.join("all.jsonl"), lines).unwrap();
    }

    fn subsets_are_what_is_drawn<K: Key>(fingerprint: &str) {
        let directory = tempfile::tempdir().unwrap();
        let read = directory.path().join("in");
        fs::create_dir(&read).unwrap();
        input(&read);
        let out = directory.path().join("out");
        let config = CollectionConfig {
            read: Default::default(),
            shingle: ShingleConfig {
                shingle_size: 3,
                fingerprint: fingerprint.parse().unwrap(),
                ..ShingleConfig::default()
            },
            size_groups: SizeGroups::default(),
            segment_size: ByteSize(2 << 10),
            text: false,
            condition: None,
        };
        let stop = Stop::default();
        let context = Context {
            budget: Budget {
                memory: ByteSize::mib(512),
                threads: 2,
                disk: Disk::Unchecked,
            },
            stop: &stop,
            progress: &Silent,
            scratch: None,
            programs: &[],
        };
        let inputs = pipeline::inputs(&[read], &out).unwrap();
        let base = pipeline::ingest(&inputs, &out, &config, false, &context).unwrap();
        let segments = collection::segments(&base.manifest);
        let without = segments.iter().filter(|s| s.stats.documents == 0).count();
        assert!(
            segments.len() > 5 && without > 0,
            "{} {without}",
            segments.len()
        );
        let all = content::<K>(&base);
        assert!(all.len() > 100 && all.len() < 450, "{}", all.len());
        let mut whole = BTreeSet::new();
        for seed in 0..6 {
            let selection = selection((1, 3), seed);
            let place = directory.path().join(format!("subset{seed}"));
            let mut part = collection::beside(&base, &place, "a third").unwrap();
            make::<K>(&base, &mut part, selection, &context).unwrap();
            let expected: Vec<_> = all
                .iter()
                .filter(|(document, _)| selection.takes(document.md5))
                .map(|(document, set)| {
                    // Ingest stores only the first set of documents without words.
                    let mut document = document.clone();
                    document.stored = true;
                    (document, set.clone())
                })
                .collect();
            assert!(expected.len() > 20 && expected.len() < all.len() * 2 / 3);
            let found = content::<K>(&part);
            assert_eq!(found, expected);
            let stats = Catalogue::stats(&part).unwrap();
            let shingles: u64 = expected.iter().map(|(_, set)| set.len() as u64).sum();
            assert_eq!(
                (stats.documents, stats.shingles),
                (expected.len() as u64, shingles)
            );
            assert_eq!(stats.representatives, stats.documents);
            whole.extend(found.into_iter().map(|(document, _)| document.docno));
            // A finished subset is reused.
            drop(part);
            let mut part = collection::beside(&base, &place, "a third").unwrap();
            assert!(collection::ingested(&part.manifest));
            make::<K>(&base, &mut part, selection, &context).unwrap();
            assert_eq!(content::<K>(&part), expected);
            drop(part);
            // A subset that was drawn differently is not reused.
            let other = collection::beside(&base, &place, "another third").unwrap();
            assert!(!collection::ingested(&other.manifest));
            other.discard().unwrap();
            assert!(!place.exists());
        }
        assert!(whole.len() > all.len() * 3 / 4, "another seed draws others");
    }

    #[test]
    fn a_subset_holds_what_is_drawn() {
        subsets_are_what_is_drawn::<u64>("64");
        subsets_are_what_is_drawn::<u128>("md5");
    }
}
