//! `revisit` records in place of removed WARC records.
//!
//! # Source
//! ISO 28500:2017 (WARC 1.1), section 6.7. Its profile for identical payloads holds for a capture
//! whose payload has the digest of one that was archived before. So it is claimed only if the
//! payloads have equal lengths and digests, both were captured whole, and the survivor has no later
//! `WARC-Date`. For all other removed records, whose words may be equal but whose bytes are not,
//! there is a profile of our own ([`SIMILAR`]).
//!
//! # Algorithm
//! 1. Read the WARC files that have a removed document or a survivor, and store what each of these
//!    records says about its capture, with digests of its payload, in a scratch file.
//! 2. Compare each removed record with its survivor.
//!
//! # Cost
//! The WARC files are read once more. Memory: 12 bytes and two bits a document, and for each thread
//! a record, and once more without its transfer coding.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::choose::{Choice, Fate};
use super::{Choosing, Revisit, STAGE};
use lookalike_base::bits::Bits;
use lookalike_base::measure::Measure;
use lookalike_base::memory::Credit;
use lookalike_base::{Error, Result};
use lookalike_engine::collection::{Catalogue, InputRecord, InputRecords};
use lookalike_rewrite::again::Again;
use lookalike_store::{Aside, VERSION, meta};
use lookalike_text::read::date;
use lookalike_text::read::{
    Capture, Container, InputFile, Reason, RecordKind, Reference, capture, labelled,
};

/// The profile of the standard for payloads of the same bytes.
const IDENTICAL: &str = "http://netpreserve.org/warc/{version}/revisit/identical-payload-digest";

/// Our profile: the text of the capture resembles the text of the record to which it refers. The
/// block is the header of the response, if there is one. The payload is in no record.
const SIMILAR: &str = "urn:x-lookalike:revisit:similar-text";

/// Marks a document without a capture.
const NONE: u64 = u64::MAX;

/// The removed documents that leave a `revisit` record, and the captures of these documents and of
/// their survivors.
pub(super) struct Revisits {
    captures: Captures,
    /// By document, its survivor.
    survivors: Vec<u32>,
    stands: Bits,
    count: u64,
    /// The documents that leave none and have the words of their survivor.
    pub untraced_copies: u64,
    measure: Measure,
}

impl Revisits {
    /// Bytes of memory for this number of documents.
    pub fn bytes(which: Revisit, documents: u64) -> u64 {
        match which {
            Revisit::None => 0,
            _ => documents * 12 + documents / 4 + 16,
        }
    }

    /// Decides which removed documents leave a record.
    pub fn find(
        choosing: Choosing<'_>,
        choice: &Choice,
        which: Revisit,
        measure: Measure,
    ) -> Result<Revisits> {
        let mut wanted = Bits::new(choice.documents() as usize);
        let mut survivors = vec![u32::MAX; choice.documents() as usize];
        for document in 0..choice.documents() {
            if let Fate::Removed {
                survivor: Some(survivor),
                ..
            } = choice.fate(document)
            {
                wanted.insert(document);
                wanted.insert(survivor);
                survivors[document as usize] = survivor;
            }
        }
        let mut revisits = Revisits {
            captures: Captures::read(choosing, &wanted)?,
            survivors,
            stands: wanted,
            count: 0,
            untraced_copies: 0,
            measure,
        };
        revisits.stands = Bits::new(choice.documents() as usize);
        for document in 0..choice.documents() {
            choosing.context.tick(STAGE, document)?;
            let pair = revisits.pair(document)?;
            let stands = pair.is_some_and(|(removed, survivor)| {
                which == Revisit::All || is_identical(&removed, &survivor)
            });
            if stands {
                revisits.stands.insert(document);
                revisits.count += 1;
            } else if let Fate::Removed { reason, .. } = choice.fate(document) {
                revisits.untraced_copies += u64::from(reason.is_of_equals());
            }
        }
        Ok(revisits)
    }

    /// The number of removed documents that leave a record.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a removed document leaves a record.
    pub fn stands(&self, document: u32) -> bool {
        self.stands.contains(document)
    }

    /// The captures of a removed document and of its survivor, if both have one.
    fn pair(&self, document: u32) -> Result<Option<(Capture, Capture)>> {
        let survivor = self.survivors[document as usize];
        if survivor == u32::MAX {
            return Ok(None);
        }
        let pair = (self.captures.get(document)?, self.captures.get(survivor)?);
        Ok(match pair {
            // A record with the survivor's id is a copy of it, and no second visit.
            (Some(removed), Some(survivor)) if removed.id != survivor.id => {
                Some((removed, survivor))
            }
            _ => None,
        })
    }

    /// What the record says that a removed document leaves. `score` is its resemblance to the
    /// survivor.
    pub fn reference(
        &self,
        document: u32,
        score: &(dyn Fn(u32) -> String + Sync),
    ) -> Result<Option<Reference>> {
        if !self.stands(document) {
            return Ok(None);
        }
        let Some((removed, survivor)) = self.pair(document)? else {
            return Ok(None);
        };
        let identical = is_identical(&removed, &survivor);
        let computed = removed.payload.map(|payload| labelled(&payload.sha1));
        // Indexes know the survivor by the digest that it states.
        let digest = match removed.stated.is_some() && removed.stated == survivor.stated {
            _ if !identical => removed.stated.or(computed),
            true => removed.stated,
            false => computed,
        };
        let more = match (identical, self.measure) {
            (true, _) => Vec::new(),
            (false, Measure::Containment) => vec![("Lookalike-Containment", score(document))],
            (false, _) => vec![("Lookalike-Resemblance", score(document))],
        };
        Ok(Some(Reference {
            to: survivor,
            profile: if identical { IDENTICAL } else { SIMILAR },
            digest,
            more,
        }))
    }
}

/// Whether the profile of the standard holds.
fn is_identical(removed: &Capture, survivor: &Capture) -> bool {
    let when = |capture: &Capture| date(std::str::from_utf8(&capture.date).ok()?);
    let ordered = when(removed)
        .zip(when(survivor))
        .is_some_and(|(removed, survivor)| survivor <= removed);
    ordered && removed.payload.is_some() && removed.payload == survivor.payload
}

/// Captures, which several threads store in any order.
pub(super) struct Captures {
    bytes: Aside,
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
                .is_none_or(|notice| notice.reason != Reason::WrongLength);
            if record.kind == RecordKind::Warc
                && let Some(capture) = capture(bytes, measured)
            {
                self.put(number, &capture)?;
            }
        }
        Ok(())
    }

    fn put(&self, document: u32, capture: &Capture) -> Result<()> {
        let mut bytes = vec![0; 4];
        let put = meta::encode(capture, &mut bytes);
        put.map_err(|what| Error::io("encode", Path::new("a capture"))(io::Error::other(what)))?;
        let length = (bytes.len() as u32 - 4).to_le_bytes();
        bytes[..4].copy_from_slice(&length);
        let place = self.bytes.put(&bytes)?;
        self.places[document as usize].store(place, Ordering::Relaxed);
        Ok(())
    }

    /// Stores the captures of the wanted documents, with `memory` for all threads together.
    pub(super) fn read(choosing: Choosing<'_>, wanted: &Bits) -> Result<Captures> {
        let documents = Catalogue::stats(choosing.workspace)?.documents;
        let captures = Captures {
            bytes: Aside::new(choosing.scratch),
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
        let place = self.places[document as usize].load(Ordering::Relaxed);
        if place == NONE {
            return Ok(None);
        }
        let mut length = [0; 4];
        self.bytes.get(place, &mut length)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        self.bytes.get(place + 4, &mut bytes)?;
        match meta::decode(&bytes, VERSION) {
            Ok((capture, _)) => Ok(Some(capture)),
            Err(found) => Err(
                Error::corrupt("(a temporary file)", "capture of a WARC record")
                    .at(place)
                    .expected("what this command wrote", found),
            ),
        }
    }
}
