//! Reads captures from the WARC records of documents, with digests of their payloads.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use lookalike_base::{Bits, Context, Credit, Result};
use lookalike_engine::collection::{Catalogue, InputRecord, InputRecords};
use lookalike_store::SetAside;
use lookalike_text::read::{
    Capture, Container, FileRecords, InputFile, ReadConfig, Reason, RecordKind, capture, warc_links,
};

use super::{Choosing, STAGE};

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
                    let mut opened = FileRecords::open(input, file, config, STAGE, stop);
                    if opened.container()? != Some(Container::Warc) {
                        return Ok(());
                    }
                    records.insert(opened)
                }
            };
            let (record, bytes) = records.seek(document.offset)?;
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

/// Places of the requests and metadata of the removed records of a file, in order. `is_removed`
/// says whether the document at an offset is removed; it is called with rising offsets.
///
/// Reads the file once. Memory: about 50 bytes for each request or metadata record, and eight for
/// each link of a removed one.
pub(super) fn companions(
    input: &InputFile,
    config: &ReadConfig,
    mut is_removed: impl FnMut(u64) -> Result<bool>,
    context: &Context<'_>,
) -> Result<Vec<(u64, u64)>> {
    let mut records = FileRecords::open(input, 0, config, STAGE, context.stop);
    let mut removed: HashSet<u64> = HashSet::new();
    // The place of each request or metadata record, and the records that it is linked to.
    let mut companions = Vec::new();
    while let Some((record, bytes)) = records.next_record()? {
        if record.kind != RecordKind::Warc {
            continue;
        }
        let (kind, links) = warc_links(bytes);
        if kind.eq_ignore_ascii_case(b"request") || kind.eq_ignore_ascii_case(b"metadata") {
            let place = (record.source.offset, record.source.length);
            companions.push((place, links));
        } else if is_removed(record.source.offset)? {
            removed.extend(links);
        }
    }
    companions.retain(|(_, links)| links.iter().any(|link| removed.contains(link)));
    Ok(companions.into_iter().map(|(place, _)| place).collect())
}
