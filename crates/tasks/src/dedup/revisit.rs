//! `revisit` records in place of removed WARC records.
//!
//! # Source
//! ISO 28500:2017 (WARC 1.1), section 6.7. Its profile for identical payloads applies to a capture
//! whose payload has the digest of a payload that was archived before. So it is claimed only if the
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

use super::captures::Captures;
use super::{Decided, Revisit, STAGE};
use lookalike_base::{Bits, Measure, Result};
use lookalike_text::read::{Capture, Reference, date, labelled};

/// The profile of the standard for payloads of the same bytes.
const IDENTICAL: &str = "http://netpreserve.org/warc/{version}/revisit/identical-payload-digest";

/// Our profile: the text of the capture resembles the text of the record to which it refers. The
/// block is the header of the response, if there is one. The payload is in no record.
const SIMILAR: &str = "urn:x-lookalike:revisit:similar-text";

/// The removed documents that leave a `revisit` record, and the captures of these documents and of
/// their survivors.
pub(super) struct Revisits {
    captures: Captures,
    /// By document, its survivor.
    survivors: Vec<u32>,
    stands: Bits,
    pub count: u64,
    /// The documents that leave none and have the words of their survivor.
    pub untraced_copies: u64,
    /// Those of them, and other removed documents, whose survivor has their payload and is later.
    pub later_survivors: u64,
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
    pub fn find(decided: &Decided<'_>, which: Revisit) -> Result<Revisits> {
        let choice = &decided.choice;
        let mut wanted = Bits::new(choice.documents() as usize);
        let mut survivors = vec![u32::MAX; choice.documents() as usize];
        for document in 0..choice.documents() {
            if let Some(survivor) = choice.fate(document).and_then(|fate| fate.survivor) {
                wanted.insert(document);
                wanted.insert(survivor);
                survivors[document as usize] = survivor;
            }
        }
        let mut revisits = Revisits {
            captures: Captures::read(decided.choosing(), &wanted)?,
            survivors,
            stands: wanted,
            count: 0,
            untraced_copies: 0,
            later_survivors: 0,
            measure: decided.criterion.measure,
        };
        revisits.stands = Bits::new(choice.documents() as usize);
        for document in 0..choice.documents() {
            decided.context.tick(STAGE, document)?;
            let pair = revisits.pair(document)?;
            let stands = pair.as_ref().is_some_and(|(removed, survivor)| {
                which == Revisit::All || is_identical(removed, survivor)
            });
            if stands {
                revisits.stands.insert(document);
                revisits.count += 1;
            } else if let Some(fate) = choice.fate(document) {
                revisits.untraced_copies += u64::from(fate.reason.is_of_equals());
                let is_later = pair.is_some_and(|(removed, survivor)| {
                    let (of_removed, of_survivor) = (when(&removed), when(&survivor));
                    let is_later = of_removed.is_some() && of_removed < of_survivor;
                    is_later && has_payload_of(&removed, &survivor)
                });
                revisits.later_survivors += u64::from(is_later);
            }
        }
        Ok(revisits)
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

    /// Returns the content of the record that replaces a removed document. `score` is its
    /// resemblance to the survivor.
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

/// The time of a capture.
fn when(capture: &Capture) -> Option<u64> {
    date(std::str::from_utf8(&capture.date).ok()?)
}

/// Whether both have the same payload.
fn has_payload_of(removed: &Capture, survivor: &Capture) -> bool {
    removed.payload.is_some() && removed.payload == survivor.payload
}

/// Whether a record of identical payload can refer to the survivor: a revisit is of something older.
fn is_identical(removed: &Capture, survivor: &Capture) -> bool {
    let (of_removed, of_survivor) = (when(removed), when(survivor));
    let ordered = of_survivor.is_some() && of_survivor <= of_removed;
    ordered && has_payload_of(removed, survivor)
}
