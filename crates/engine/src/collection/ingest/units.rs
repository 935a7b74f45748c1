//! Units: stretches of the inputs, each read and written into segments of its own.
//!
//! Where units begin depends on the inputs and on the size of a segment alone. So the
//! segments are the same for any number of threads, in whatever order the units are finished.

use std::ops::Deref;

use crate::collection::{Addition, CollectionConfig, Cursor, SegmentEntry};
use lookalike_base::Stop;
use lookalike_text::read::{InputFile, Piece, Stretch};

/// A unit has at least this part of a segment's bytes on disk, so that it has enough to do even if
/// it is compressed.
const LEAST_OF_SEGMENT: u64 = 16;
/// A piece of a file, which is not compressed, has at least this part of a segment's bytes.
const PIECE_OF_SEGMENT: u64 = 4;
/// Units that a large collection is cut into, if its files are small: several for each thread of a
/// large machine, so that all threads end at about the same time.
const UNITS: u64 = 128;
/// Bits of a part's number that number the segments of a unit.
const SEGMENT_BITS: u32 = 32;

/// Inputs that are read into segments of their own.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Its number, from 0.
    pub(super) number: u32,
    /// Its inputs.
    pub(super) stretch: Stretch,
}

impl Deref for Unit {
    type Target = Stretch;

    fn deref(&self) -> &Stretch {
        &self.stretch
    }
}

/// Cuts the inputs from an addition on into units. If a stop is requested, the units may not be
/// these, and the caller has to stop.
pub(super) fn units(
    inputs: &[InputFile],
    addition: Addition,
    config: &CollectionConfig,
    stop: &Stop,
) -> Vec<Unit> {
    let new = inputs.get(addition.file as usize..).unwrap_or_default();
    let total: u64 = new.iter().map(InputFile::size).sum();
    let bytes = [LEAST_OF_SEGMENT, PIECE_OF_SEGMENT]
        .map(|part| (config.segment_size.0 / part).max(total / UNITS));
    let stretches = Stretch::all(inputs, addition.file, &config.read, bytes, stop);
    let unit = |(number, stretch)| Unit { number, stretch };
    (addition.unit..).zip(stretches).map(unit).collect()
}

/// A share of the inputs, for one of several processes that read them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its number, from 0.
    pub number: u32,
    /// The number of shares.
    pub of: u32,
}

impl Share {
    /// The units of a share: consecutive ones, with about the same number of bytes in each share.
    pub(super) fn of_units(self, units: Vec<Unit>) -> Vec<Unit> {
        let total: u64 = units.iter().map(|unit| unit.bytes).sum();
        let mut before = 0;
        let is_own = |unit: &Unit| {
            let middle = before + unit.bytes / 2;
            before += unit.bytes;
            let share = u128::from(middle) * u128::from(self.of) / u128::from(total.max(1));
            share.min(u128::from(self.of - 1)) == u128::from(self.number)
        };
        units.into_iter().filter(is_own).collect()
    }
}

impl Unit {
    /// The number of the parts of its segment `segment`.
    pub(super) fn part(&self, segment: usize) -> u64 {
        (u64::from(self.number) << SEGMENT_BITS) + segment as u64
    }

    /// Where it begins.
    pub(super) fn begin(&self) -> Cursor {
        Cursor {
            piece: self.piece.as_ref().map_or(0, Piece::begin),
            ..Cursor::of_file(self.files.start)
        }
    }

    /// Where the next one begins.
    pub(super) fn end(&self) -> Cursor {
        match &self.piece {
            Some(piece) if !piece.is_last() => Cursor {
                piece: piece.end(),
                ..Cursor::of_file(self.files.start)
            },
            _ => Cursor::of_file(self.files.end),
        }
    }

    /// Its segments among the committed ones.
    pub(super) fn committed<'s>(&self, segments: &'s [SegmentEntry]) -> &'s [SegmentEntry] {
        let from = segments.partition_point(|segment| segment.next <= self.begin());
        let to = segments.partition_point(|segment| segment.next <= self.end());
        &segments[from..to]
    }
}

/// Whether these segments were cut as these units are. Version 0.1.0 took all inputs for one unit.
pub(super) fn fit(segments: &[SegmentEntry], units: &[Unit]) -> bool {
    let mut fitting = 0;
    for unit in units {
        for (n, segment) in unit.committed(segments).iter().enumerate() {
            let stem = lookalike_store::part_stem(unit.part(n));
            if segment.documents.name.split('.').next() != Some(&stem) {
                return false;
            }
            fitting += 1;
        }
    }
    fitting == segments.len()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use lookalike_base::budget::ByteSize;
    use lookalike_text::read::FileIdentity;

    fn inputs(sizes: &[Option<u64>]) -> Vec<InputFile> {
        let input = |size: &Option<u64>| InputFile {
            identity: size.map(|size| FileIdentity {
                size,
                modified_ns: 0,
                digest: String::new(),
            }),
            ..InputFile::named(size.map_or("-", |_| "file"), "file")
        };
        sizes.iter().map(input).collect()
    }

    fn cut(segment: u64, sizes: &[Option<u64>]) -> Vec<Range<u32>> {
        let config = CollectionConfig {
            segment_size: ByteSize(segment),
            ..CollectionConfig::default()
        };
        let units = units(
            &inputs(sizes),
            Addition::default(),
            &config,
            &Stop::default(),
        );
        let numbers: Vec<u32> = units.iter().map(|unit| unit.number).collect();
        assert_eq!(numbers, (0..units.len() as u32).collect::<Vec<_>>());
        units.iter().map(|unit| unit.files.clone()).collect()
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one unit")]
    fn units_are_consecutive_files_of_enough_bytes() {
        let sized = |sizes: &[u64]| sizes.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(cut(1600, &[]), []);
        assert_eq!(cut(1600, &sized(&[0])), [0..1]);
        assert_eq!(
            cut(1600, &sized(&[99, 1, 100, 5, 500, 3])),
            [0..2, 2..3, 3..5, 5..6]
        );
        // A large collection is cut into larger ones.
        assert_eq!(cut(1600, &sized(&[100; 1280])).len(), 128);
        // Standard input ends a unit.
        assert_eq!(cut(1600, &[Some(1), None, Some(1)]), [0..2, 2..3]);
        // One file is one unit.
        assert_eq!(cut(1600, &sized(&[1 << 40])), [0..1]);
    }

    /// A segment with documents of this name that ends before this file, or within it.
    fn segment(documents: &str, file: u32, event: u64) -> SegmentEntry {
        let part = |name: &str| serde_json::json!({"name": name, "bytes": 0, "records": 0, "checksum": ""});
        let stats = serde_json::to_value(crate::collection::SegmentStats::default()).unwrap();
        serde_json::from_value(serde_json::json!({
            "first_document": 0,
            "documents": part(documents),
            "fingerprints": part("000000.fps"),
            "rejects": part("000000.rejects"),
            "next": {"file": file, "event": event},
            "stats": stats,
        }))
        .unwrap()
    }

    #[test]
    fn each_unit_is_in_one_share() {
        let sizes: Vec<_> = (0..50).map(|n| Some(n * n % 37 * 20)).collect();
        let config = CollectionConfig {
            segment_size: ByteSize(1600),
            ..CollectionConfig::default()
        };
        let first = Addition::default();
        let all = units(&inputs(&sizes), first, &config, &Stop::default());
        for of in [1, 2, 3, 7, 64, 1000] {
            let shares = (0..of).map(|number| Share { number, of });
            let numbers = shares.flat_map(|share| share.of_units(all.clone()));
            let numbers: Vec<u32> = numbers.map(|unit| unit.number).collect();
            assert_eq!(numbers, (0..all.len() as u32).collect::<Vec<_>>());
        }
        let half = Share { number: 0, of: 2 }.of_units(all.clone());
        let bytes = |units: &[Unit]| units.iter().map(|unit| unit.bytes).sum::<u64>();
        assert!(bytes(&half).abs_diff(bytes(&all) / 2) <= bytes(&all) / 20);
        assert!(Share { number: 1, of: 2 }.of_units(Vec::new()).is_empty());
    }

    #[test]
    fn segments_of_other_versions_do_not_fit() {
        let sizes = [100, 100, 100].map(Some);
        let config = CollectionConfig {
            segment_size: ByteSize(1600),
            ..CollectionConfig::default()
        };
        let units = units(
            &inputs(&sizes),
            Addition::default(),
            &config,
            &Stop::default(),
        );
        let fits = |segments: &[SegmentEntry]| fit(segments, &units);
        assert!(fits(&[]));
        let first = [segment("000000.docs", 0, 7), segment("000001.docs", 1, 0)];
        assert!(fits(&first[..1]));
        assert!(fits(&first));
        // The second unit is finished and the first one is not begun.
        assert!(fits(&[segment("1-000000.docs", 2, 0)]));
        let third = segment("2-000000.docs", 2, 9);
        assert!(fits(&[&first[..], &[third]].concat()));
        // Numbered through, as version 0.1.0 did.
        assert!(!fits(
            &[&first[..], &[segment("000002.docs", 1, 5)]].concat()
        ));
        assert!(!fits(&[segment("000000.docs", 2, 5)]));
        // Beyond the inputs.
        assert!(!fits(&[segment("3-000000.docs", 4, 0)]));
    }
}
