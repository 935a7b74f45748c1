//! What the WARC records of documents say about their captures, with digests of their payloads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Choosing;
use lookalike_base::Result;
use lookalike_base::bits::Bits;
use lookalike_base::memory::Credit;
use lookalike_engine::collection::{Catalogue, InputRecord, InputRecords};
use lookalike_rewrite::again::Again;
use lookalike_store::SetAside;
use lookalike_text::read::{Capture, Container, InputFile, Reason, RecordKind, capture};

/// Marks a document without a capture.
const NONE: u64 = u64::MAX;

/// Captures, which several threads store in any order.
pub(super) struct Captures {
    values: SetAside<Capture>,
    /// By document, where its capture begins; [`NONE`] without one.
    places: Vec<AtomicU64>,
}

impl Captures {
    /// Stores the captures of the wanted documents of one file.
    fn read_file(
        &self,
        choosing: Choosing<'_>,
        file: u32,
        input: &InputFile,
        entries: &mut InputRecords<'_>,
        wanted: &Bits,
    ) -> Result<()> {
        let (config, stop) = (choosing.read(), choosing.context.stop);
        let mut records = None;
        while let Some(entry) = entries.next_of(file)? {
            let InputRecord::Document(number, document) = entry else {
                continue;
            };
            if !wanted.contains(number) {
                continue;
            }
            let records = match &mut records {
                Some(records) => records,
                None => {
                    input.check_path()?;
                    let mut opened = Again::open(input, file, config, stop);
                    if opened.container()? != Some(Container::Warc) {
                        return Ok(());
                    }
                    records.insert(opened)
                }
            };
            records.seek(document.offset)?;
            let Some((record, bytes)) = records.record() else {
                continue;
            };
            let measured = record
                .notice
                .as_ref()
                .is_none_or(|notice| notice.0 != Reason::WrongLength);
            if record.kind == RecordKind::Warc
                && let Some(capture) = capture(bytes, measured)
            {
                let place = self.values.put(&capture)?;
                self.places[number as usize].store(place, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Stores the captures of the wanted documents, with `memory` for all threads together.
    pub(super) fn read(choosing: Choosing<'_>, wanted: &Bits) -> Result<Captures> {
        let documents = Catalogue::stats(choosing.workspace)?.documents;
        let captures = Captures {
            values: SetAside::new(choosing.scratch),
            places: (0..documents).map(|_| AtomicU64::new(NONE)).collect(),
        };
        let memory = Credit::new(choosing.memory);
        choosing.each_file("payloads", |file, input, entries| {
            let _memory = memory.hold(super::memory_of_payloads(choosing.read()));
            captures.read_file(choosing, file, input, entries, wanted)
        })?;
        Ok(captures)
    }

    pub(super) fn get(&self, document: u32) -> Result<Option<Capture>> {
        match self.places[document as usize].load(Ordering::Relaxed) {
            NONE => Ok(None),
            place => self.values.get(place).map(Some),
        }
    }
}
