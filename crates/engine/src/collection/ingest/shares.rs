//! How the budget is divided, and the memory that batches and documents can take.

use crate::collection::CollectionConfig;
use crate::shingle::{Excluded, Shingler};
use lookalike_base::{Credit, Key, budget::ByteSize};
use lookalike_text::read::{RecordKind, SPLIT_BYTES};

/// Approximate raw bytes of a batch. Large enough to make handing over a batch cheap, and small
/// enough to let the workers finish at about the same time.
pub(super) const BATCH_BYTES: usize = 1 << 20;
/// Memory that the first unit uses beyond the parts of the budget below: the table of MD5s, and the
/// buffers of the decompressor and of the three part writers.
const FIXED_BYTES: u64 = 40 << 20;
/// The same for each further unit. A decompressor that takes more than [`DECODER_BYTES`] has to get
/// it first.
const UNIT_BYTES: u64 = 28 << 20;
/// Memory of a decompressor that the fixed parts contain.
pub(super) const DECODER_BYTES: u64 = 12 << 20;
/// Memory for the batches of a unit, so that it seldom waits for others.
const UNIT_BATCH_BYTES: u64 = 24 << 20;
/// Additional memory for each unit if text is kept: a block, its compressor, and the writer's
/// buffer.
const TEXT_BYTES: u64 = 6 << 20;
/// Bytes of text per byte of a body: a byte of a legacy charset or an invalid byte can become three
/// bytes, and a growing text can have twice its length allocated.
const TEXT_GROWTH: u64 = 6;
/// How many bytes of a record are searched for a content encoding.
const HEAD_BYTES: usize = 64 << 10;
/// Memory for an entry in the list of inputs: its path three times, and its identity. Long paths
/// take more.
pub(super) const INPUT_BYTES: u64 = 500;

/// The least `--memory` that can ingest this number of input files with these parameters.
pub fn least_memory(config: &CollectionConfig, inputs: usize) -> ByteSize {
    let list = inputs as u64 * INPUT_BYTES;
    let document = config.read.max_document.0;
    // The record that the reader is filling, and batches of one and a half times its size.
    let reading = document * 5 / 2 + (16 << 20);
    // The largest document alone, and one pass over it. The pass takes a quarter of the memory that
    // the record leaves free. The amount subtracted is within what a process may use beyond its
    // budget. This sum is the larger one for documents of more than 100 MiB.
    let alone = (document * 31 / 8).saturating_sub(120 << 20);
    ByteSize(fixed_bytes(config) + list + reading.max(alone))
}

fn text_bytes(config: &CollectionConfig) -> u64 {
    if config.text { TEXT_BYTES } else { 0 }
}

fn fixed_bytes(config: &CollectionConfig) -> u64 {
    let excluded = config.shingle.excluded.as_ref();
    let [expression, _] = SPLIT_BYTES;
    let expression = config.read.split_at.as_ref().map_or(0, |_| expression);
    let excluded = excluded.map_or(0, Excluded::bytes);
    FIXED_BYTES + text_bytes(config) + split_bytes(config) + expression + excluded
}

/// Memory of a reader and of a worker that look for the expression of `--split-at`.
fn split_bytes(config: &CollectionConfig) -> u64 {
    let [_, thread] = SPLIT_BYTES;
    config.read.split_at.as_ref().map_or(0, |_| 2 * thread)
}

/// How the budget is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// Units that are read at the same time.
    pub(super) units: usize,
    /// Worst-case bytes of all batches until they are written.
    pub(super) in_flight: u64,
    /// Bytes of decompressors beyond [`DECODER_BYTES`], without a limit if there is one unit.
    pub(super) decoders: u64,
    /// Bytes of what helpers decompress ahead of the readers.
    pub(super) ahead: u64,
}

impl Shares {
    /// Divides the memory among as many units as fit, at most `units`, and the threads that
    /// decompress ahead, if there are any.
    pub(super) fn new(
        memory: ByteSize,
        config: &CollectionConfig,
        units: usize,
        helped: bool,
    ) -> Shares {
        let document = config.read.max_document.0;
        // The largest document, beside which nothing else is in flight, and one pass over it. The
        // amount subtracted is within what a process may use beyond its budget.
        let alone = (document * 13 / 3).saturating_sub(64 << 20);
        let further = UNIT_BYTES + text_bytes(config) + split_bytes(config) + document;
        let left = |units: u64| {
            let taken = fixed_bytes(config) + document + (units - 1) * further;
            memory.0.saturating_sub(taken)
        };
        let least = |units: u64| alone.max(units * UNIT_BATCH_BYTES);
        let fits = |units: &u64| left(*units) / 5 * 4 >= least(*units);
        let units = (2..=units as u64).take_while(fits).last().unwrap_or(1);
        let decoders = match units {
            1 => 0,
            _ => left(units) / 5,
        };
        let in_flight = left(units) - decoders;
        let ahead = match helped {
            true => in_flight.saturating_sub(least(units)) / 2,
            false => 0,
        };
        let in_flight = in_flight - ahead;
        Shares {
            units: units as usize,
            in_flight,
            decoders: if units == 1 { u64::MAX } else { decoders },
            ahead,
        }
    }
}

/// The limits that decide where batches and segments end, and the memory that a batch may cost.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) segment_bytes: u64,
    /// Worst-case bytes of memory for each raw byte of a document.
    pub(super) worst: u64,
    /// As in [`Shares`].
    pub(super) in_flight: u64,
    /// Worst-case bytes of one batch. The writer shingles a document that exceeds it, and keeps at
    /// most this number of bytes of fingerprints in one pass over the document.
    pub(super) batch: u64,
    /// Worst-case bytes of fingerprints for each byte of text.
    pub(super) fingerprints: u64,
    pub(super) max_document: u64,
}

impl Shape {
    pub(super) fn new<K: Key>(config: &CollectionConfig, shares: Shares) -> Shape {
        let shingler = Shingler::<K>::new(&config.shingle);
        let fingerprints = shingler
            .most_fingerprints(BATCH_BYTES)
            .div_ceil(BATCH_BYTES) as u64;
        // The record itself, its fingerprints (as a worker's set and as bytes for the writer), and
        // its text.
        let text = if config.text { TEXT_GROWTH } else { 0 };
        let worst = 1 + 2 * fingerprints * K::BYTES as u64 + text;
        Shape {
            segment_bytes: config.segment_size.0,
            worst,
            in_flight: shares.in_flight,
            batch: shares.in_flight / 4,
            fingerprints: fingerprints * K::BYTES as u64,
            max_document: config.read.max_document.0,
        }
    }

    /// Memory that a document left to the writer can take.
    pub(super) fn cost_of_oversized(&self, kind: &RecordKind, bytes: &[u8]) -> u64 {
        let length = bytes.len() as u64;
        let text = match kind {
            RecordKind::Warc | RecordKind::Arc if has_content_encoding(bytes) => self.max_document,
            // A body in a single-byte charset can double in size as UTF-8.
            RecordKind::Mail(_) => (2 * length).min(self.max_document),
            _ => length,
        };
        let pass = (text * self.fingerprints).min(self.batch);
        // Beside its record, shingling a document takes its text, unless it is the record's own
        // bytes, and the canonical text a second time, if it is one token. The canonical text grows
        // by a quarter at a time.
        length + text * 9 / 4 + pass
    }

    /// Takes more memory for a batch that has already been granted `granted`; returns the amount.
    /// Decoding a content encoding makes bodies larger, and the reader does not decode them.
    pub(super) fn grant(&self, credit: &Credit, granted: u64) -> Option<u64> {
        let step = (self.batch / 2).max(1);
        (granted + step <= self.batch && credit.try_take(step)).then_some(step)
    }
}

/// Whether the start of a record has a content-encoding header. If the match is wrong, the only
/// cost is a wait.
fn has_content_encoding(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"content-encoding";
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let mut lines = head.split(|&byte| byte == b'\n');
    lines.any(|line| {
        let name = line.get(..NAME.len());
        name.is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(memory: u64, wanted: usize) -> Shares {
        Shares::new(
            ByteSize::mib(memory),
            &CollectionConfig::default(),
            wanted,
            true,
        )
    }

    #[test]
    fn as_many_units_as_there_is_memory_for() {
        let least = least_memory(&CollectionConfig::default(), 0).0 >> 20;
        for (memory, wanted, expected) in [
            (least, 32, 1),
            (512, 1, 1),
            (512, 2, 2),
            (1 << 10, 32, 8),
            (4 << 10, 32, 32),
            (1 << 20, 32, 32),
        ] {
            let shares = units(memory, wanted);
            assert_eq!(shares.units, expected, "{memory} MiB: {shares:?}");
        }
    }

    /// All units together stay within the budget.
    #[test]
    fn the_shares_add_up() {
        let config = CollectionConfig::default();
        for memory in (216..8000).step_by(100) {
            for wanted in [1, 2, 8, 128] {
                let shares = units(memory, wanted);
                let further = shares.units as u64 - 1;
                let records = shares.units as u64 * config.read.max_document.0;
                let fixed = FIXED_BYTES + further * UNIT_BYTES;
                let decoders = if further > 0 { shares.decoders } else { 0 };
                let sum = fixed + records + shares.in_flight + decoders + shares.ahead;
                assert!(sum <= memory << 20, "{memory} MiB: {shares:?}");
            }
        }
    }
}
