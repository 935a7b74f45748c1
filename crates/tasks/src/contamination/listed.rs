//! The documents that are listed with each item, and the temporary file for their rows.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Mutex;

use bincode::{Decode, Encode};

use super::stats::ShownTexts;
use lookalike_base::Measure;
use lookalike_engine::collection::Captured;
use lookalike_engine::scan::Place;
use lookalike_store::{Cell, SetAside};

/// The documents that are to be dropped, for `lookalike dedup --drop`.
pub const DROP_FILE: &str = "drop.tsv";

/// A document that is to be dropped, until the number of its record in the file is known.
#[derive(Encode, Decode)]
pub(super) struct Dropped {
    pub file: u32,
    /// The number of its record in its file or stretch of the corpus.
    pub record: u64,
    pub docno: String,
    pub captured: Captured,
    /// The item of which it covers most, and the number of tokens.
    pub item: u32,
    pub covered: u32,
}

/// The share of an item that is covered; null if it has no tokens.
pub(super) fn share(covered: u32, tokens: u32) -> Cell<'static> {
    match tokens {
        0 => Cell::Null,
        _ => Cell::Measured(Measure::Of(tokens), [covered.into(), 0, 0]),
    }
}

/// Results that are put in order at the end.
pub(super) struct Spill {
    /// The line of a document in [`super::FOUND_FILE`], and its texts for a page.
    pub texts: SetAside<(String, Option<ShownTexts>)>,
    pub rows: SetAside<Rows>,
    /// The stretch and the place of each value of `rows`. The values of one stretch are in order.
    pub places: Mutex<Vec<(u32, u64)>>,
}

/// Some rows of a stretch: lines of [`super::REJECTS_FILE`], and documents for [`DROP_FILE`].
#[derive(Default, Encode, Decode)]
pub(super) struct Rows {
    pub rejects: String,
    pub dropped: Vec<Dropped>,
}

impl Spill {
    pub(super) fn new(directory: &Path) -> Spill {
        Spill {
            texts: SetAside::new(directory),
            rows: SetAside::new(directory),
            places: Mutex::default(),
        }
    }
}

/// A document that is listed with an item.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub covered: u32,
    pub place: Place,
    pub at: u64,
}

impl Entry {
    fn key(&self) -> (Reverse<u32>, Place) {
        (Reverse(self.covered), self.place)
    }
}

/// The documents that are listed with each item: those that cover most, and of several the first in
/// the order of the input.
pub(super) struct Listed {
    most: usize,
    pub items: Vec<Vec<Entry>>,
    /// Entries for which there is memory, beyond the first [`FIRST`] of each item.
    room: u64,
}

/// Entries of an item for which there is always memory.
const FIRST: usize = 10;

/// Bytes of memory for an entry, in a list that grows by doubling.
const ENTRY_BYTES: u64 = 3 * size_of::<Entry>() as u64;

impl Listed {
    /// Bytes of memory for an item and its first documents, if `most` are listed.
    pub(super) fn of_item(most: usize) -> u64 {
        (size_of::<Vec<Entry>>() + most.min(FIRST) * size_of::<Entry>()) as u64
    }

    /// Bytes of memory for the other documents of items that are in these numbers of documents.
    pub(super) fn of_others(documents: impl Iterator<Item = u64>, most: usize) -> u64 {
        let others = |documents: u64| documents.min(most as u64).saturating_sub(FIRST as u64);
        documents.map(others).sum::<u64>() * ENTRY_BYTES
    }

    /// `room` bytes are for documents beyond the first ones of each item.
    pub(super) fn new(items: usize, most: usize, room: u64) -> Listed {
        Listed {
            most,
            items: vec![Vec::new(); items],
            room: room / ENTRY_BYTES,
        }
    }

    /// Whether a document is listed that covers this number of tokens of an item.
    pub(super) fn takes(&self, item: u32, covered: u32, place: Place) -> bool {
        let list = &self.items[item as usize];
        list.len() < self.most
            || list
                .last()
                .is_some_and(|last| (Reverse(covered), place) < last.key())
    }

    pub(super) fn insert(&mut self, item: u32, covered: u32, place: Place, at: u64) {
        let list = &mut self.items[item as usize];
        let entry = Entry { covered, place, at };
        if list.len() == self.most {
            list.pop();
        } else if list.len() >= FIRST {
            // Without room the search goes on: its end knows how much would have been enough.
            match self.room.checked_sub(1) {
                Some(room) => self.room = room,
                None => return,
            }
        }
        if list.len() == list.capacity() {
            list.reserve_exact(self.most.min(2 * list.len() + 1) - list.len());
        }
        let before = list.partition_point(|other| other.key() < entry.key());
        list.insert(before, entry);
    }
}
