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
//! The WARC files are read once more, on one thread. Memory: 12 bytes and two bits a document.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::choose::{Choice, Fate};
use super::policy::date;
use super::{Revisit, STAGE};
use crate::collection::{InputRecord, InputRecords};
use crate::measure::Measure;
use crate::progress::{Context, Unit};
use crate::read::{
    Batch, Capture, Container, InputFile, ReadConfig, Reason, RecordKind, RecordReader, Reference,
    capture, labelled,
};
use crate::store::{disk, meta};
use crate::workspace::Workspace;
use crate::{Error, Result};

/// The profile of the standard for payloads of the same bytes.
const IDENTICAL: &str = "http://netpreserve.org/warc/{version}/revisit/identical-payload-digest";

/// Our profile: the text of the capture resembles that of the record to which it refers. The block
/// is the header of the response, if there is one. The payload is in no record.
const SIMILAR: &str = "urn:x-lookalike:revisit:similar-text";

/// Marks a document without a capture.
const NONE: u64 = u64::MAX;

/// One bit for each document.
struct Bits(Vec<u64>);

impl Bits {
    fn new(documents: u32) -> Bits {
        Bits(vec![0; (documents as usize).div_ceil(64)])
    }

    fn set(&mut self, document: u32) {
        self.0[document as usize / 64] |= 1 << (document % 64);
    }

    fn has(&self, document: u32) -> bool {
        self.0[document as usize / 64] >> (document % 64) & 1 == 1
    }
}

/// The removed documents that leave a `revisit` record, and the captures of these documents and of
/// their survivors.
pub(super) struct Revisits {
    captures: Captures,
    /// By document, its survivor.
    survivors: Vec<u32>,
    stands: Bits,
    count: u64,
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
        (workspace, inputs, read): (&Workspace, &[InputFile], &ReadConfig),
        choice: &Choice,
        (which, measure): (Revisit, Measure),
        scratch: &Path,
        context: &Context<'_>,
    ) -> Result<Revisits> {
        let mut wanted = Bits::new(choice.documents());
        let mut survivors = vec![u32::MAX; choice.documents() as usize];
        for document in 0..choice.documents() {
            if let Fate::Removed {
                survivor: Some(survivor),
                ..
            } = choice.fate(document)
            {
                wanted.set(document);
                wanted.set(survivor);
                survivors[document as usize] = survivor;
            }
        }
        let from = (workspace, inputs, read);
        let mut revisits = Revisits {
            captures: Captures::read(from, &wanted, scratch, context)?,
            survivors,
            stands: wanted,
            count: 0,
            measure,
        };
        revisits.stands = Bits::new(choice.documents());
        for document in 0..choice.documents() {
            if document.is_multiple_of(4096) {
                context.stop.check(STAGE)?;
            }
            let Some((removed, survivor)) = revisits.pair(document)? else {
                continue;
            };
            if which == Revisit::All || is_identical(&removed, &survivor) {
                revisits.stands.set(document);
                revisits.count += 1;
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
        self.stands.has(document)
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

/// Captures in a file, by document.
struct Captures {
    file: disk::File,
    path: PathBuf,
    /// By document, where its capture begins; [`NONE`] without one.
    places: Vec<u64>,
}

impl Captures {
    /// Stores the captures of the wanted documents.
    fn read(
        (workspace, inputs, config): (&Workspace, &[InputFile], &ReadConfig),
        wanted: &Bits,
        scratch: &Path,
        context: &Context<'_>,
    ) -> Result<Captures> {
        let path = scratch.join("captures");
        let mut out = BufWriter::with_capacity(disk::WRITE_BUFFER, disk::create(&path)?);
        let mut places = Vec::new();
        let mut end = 0;
        let bytes = inputs.iter().filter_map(|input| input.identity.as_ref());
        let bytes = bytes.map(|identity| identity.size).sum();
        context.progress.start("payloads", Unit::Bytes, Some(bytes));
        let mut entries = InputRecords::all(workspace);
        let mut reading: Option<(u32, Option<RecordReader>)> = None;
        let (mut batch, mut encoded) = (Batch::default(), Vec::new());
        let mut done = 0;
        while let Some(entry) = entries.next()? {
            let InputRecord::Document(number, document) = entry else {
                continue;
            };
            places.push(NONE);
            if !wanted.has(number) {
                continue;
            }
            let Some(input) = inputs.get(document.file as usize) else {
                continue;
            };
            if reading
                .as_ref()
                .is_none_or(|(file, _)| *file != document.file)
            {
                input.check_path()?;
                let mut reader = RecordReader::open(input, document.file, config, context.stop);
                let is_warc = reader.container() == Some(Container::Warc);
                check_failure(&reader, input)?;
                reading = Some((document.file, is_warc.then_some(reader)));
                context.progress.at(done);
                done += input.identity.as_ref().map_or(0, |identity| identity.size);
            }
            let Some((_, Some(reader))) = &mut reading else {
                continue;
            };
            // Its record is the next one, or comes after others.
            loop {
                context.stop.check(STAGE)?;
                batch.clear();
                let more = reader.next_into(&mut batch);
                check_failure(reader, input)?;
                if !more {
                    return Err(changed(input));
                }
                let found = batch.records.first().map(|record| record.source.offset);
                if found == Some(document.offset) {
                    break;
                }
            }
            let Some(record) = batch.records.first() else {
                continue;
            };
            let bytes = batch.bytes.get(record.bytes.clone()).unwrap_or_default();
            let measured = record
                .notice
                .as_ref()
                .is_none_or(|notice| notice.reason != Reason::WrongLength);
            let found = match record.kind {
                RecordKind::Warc => capture(bytes, measured),
                _ => None,
            };
            if let (Some(capture), Some(place)) = (found, places.last_mut()) {
                encoded.clear();
                let put = meta::encode(&capture, &mut encoded);
                put.map_err(|what| Error::io("encode", &path)(io::Error::other(what)))?;
                let length = (encoded.len() as u32).to_le_bytes();
                for part in [&length[..], &encoded] {
                    out.write_all(part).map_err(Error::io("write", &path))?;
                }
                *place = end;
                end += 4 + encoded.len() as u64;
            }
        }
        out.flush().map_err(Error::io("write", &path))?;
        drop(out);
        Ok(Captures {
            file: disk::open(&path)?,
            path,
            places,
        })
    }

    fn get(&self, document: u32) -> Result<Option<Capture>> {
        let place = self.places[document as usize];
        if place == NONE {
            return Ok(None);
        }
        let read = |bytes: &mut [u8], at| {
            let read = self.file.read_exact_at(bytes, at);
            read.map_err(Error::io("read", &self.path))
        };
        let mut length = [0; 4];
        read(&mut length, place)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        read(&mut bytes, place + 4)?;
        match meta::decode(&bytes) {
            Ok((capture, _)) => Ok(Some(capture)),
            Err(found) => Err(Error::Corrupt {
                path: self.path.clone(),
                offset_bytes: Some(place),
                what: "capture of a WARC record".into(),
                expected: "what this command wrote".into(),
                found,
            }),
        }
    }
}

fn check_failure(reader: &RecordReader, input: &InputFile) -> Result<()> {
    match reader.failure() {
        Some(error) => Err(error).map_err(Error::io("read", &input.path)),
        None => Ok(()),
    }
}

fn changed(input: &InputFile) -> Error {
    Error::InputChanged {
        path: input.path.clone(),
        expected: "the documents that were read from it".into(),
        found: "other records".into(),
    }
}
