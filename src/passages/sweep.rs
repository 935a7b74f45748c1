//! Goes through all repeated k-grams by first occurrence, and knows for each the places where it
//! occurs.
//!
//! # Algorithm
//! The repeats, sorted by first occurrence, are intervals on one line. The ones that cover a point
//! are the occurrences of that k-gram. Between two consecutive ends or beginnings of intervals, all
//! k-grams occur in the same documents.
//!
//! # Cost
//! Memory: about 100 bytes for each place of the k-gram with the most places. Nothing bounds it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::STAGE;
use super::grams::Place;
use super::repeats::Repeat;
use crate::Result;
use crate::progress::Context;
use crate::store::Sorted;

/// What a sweep finds.
pub(super) trait Found {
    /// These k-grams occur in few documents, of which some are new since the last call: all of them,
    /// and the new ones.
    fn few(&mut self, documents: &mut dyn Iterator<Item = u32>, new: &[u32]) -> Result<()>;
    /// A run of k-grams that each occur in many documents: at most in this number.
    fn many(&mut self, run: Run) -> Result<()>;
    /// What documents are counted by: themselves, or their groups. Those without one do not count.
    fn group(&self, document: u32) -> Option<u32>;
    /// An occurrence of a part of the run that [`Found::many`] is given next, as a number of k-grams
    /// from a place on.
    fn occurrence(&mut self, run: u64, place: Place, count: u32) -> Result<()>;
}

/// A maximal run of k-grams that each occur in many documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Its number, from 0.
    pub number: u64,
    /// The first k-gram, where it occurs first, and the end of the run.
    pub begin: u64,
    pub end: u64,
    /// The documents of the k-gram that occurs in the most.
    pub documents: u32,
    /// The number of its occurrences.
    pub occurrences: u64,
}

impl Run {
    /// The number of its tokens, if k-grams have `length`.
    pub fn tokens(&self, length: u32) -> u32 {
        (self.end - self.begin) as u32 - 1 + length
    }
}

/// An occurrence of the k-grams up to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Occurrence {
    end: u64,
    /// Where it begins, by first occurrence and in its document.
    begin: u64,
    place: Place,
}

struct Sweep<'f, F> {
    found: &'f mut F,
    most: usize,
    active: BinaryHeap<Reverse<Occurrence>>,
    /// The number of active occurrences in each document, or group.
    documents: HashMap<u32, u32>,
    run: Option<Run>,
    runs: u64,
    /// Documents that became active since the last call of [`Found::few`].
    new: Vec<u32>,
    /// Whether the last k-grams occurred in many documents.
    many: bool,
}

impl<F: Found> Sweep<'_, F> {
    /// Passes on an occurrence as far as it lies in the open run.
    fn occurrence(found: &mut F, run: &mut Run, occurrence: &Occurrence, end: u64) -> Result<()> {
        let begin = occurrence.begin.max(run.begin);
        let end = occurrence.end.min(end);
        if begin >= end {
            return Ok(());
        }
        run.occurrences += 1;
        let place = occurrence.place.plus((begin - occurrence.begin) as u32);
        found.occurrence(run.number, place, (end - begin) as u32)
    }

    fn close(&mut self, end: u64) -> Result<()> {
        if let Some(mut run) = self.run.take() {
            let mut active: Vec<&Reverse<Occurrence>> = self.active.iter().collect();
            active.sort_unstable();
            for Reverse(occurrence) in active {
                Self::occurrence(self.found, &mut run, occurrence, end)?;
            }
            run.end = end;
            self.found.many(run)?;
        }
        Ok(())
    }

    /// The k-grams from `at` on occur in the active documents.
    fn from(&mut self, at: u64) -> Result<()> {
        let documents = self.documents.len();
        if documents > self.most {
            let runs = &mut self.runs;
            let run = self.run.get_or_insert_with(|| {
                *runs += 1;
                Run {
                    number: *runs - 1,
                    begin: at,
                    end: at,
                    documents: 0,
                    occurrences: 0,
                }
            });
            run.documents = run.documents.max(documents as u32);
            self.new.clear();
            self.many = true;
            return Ok(());
        }
        self.close(at)?;
        if std::mem::take(&mut self.many) {
            // Which of them were there together is not known.
            self.new.clear();
            self.new.extend(self.documents.keys());
        }
        if documents > 1 && !self.new.is_empty() {
            let there = &self.documents;
            self.new.retain(|document| there.contains_key(document));
            self.new.sort_unstable();
            self.new.dedup();
            let mut all = self.documents.keys().copied();
            self.found.few(&mut all, &self.new)?;
            self.new.clear();
        }
        Ok(())
    }

    /// Ends the occurrences that end before or at `until`, one end after the other.
    fn end_until(&mut self, until: u64) -> Result<()> {
        while let Some(Reverse(first)) = self.active.peek() {
            let end = first.end;
            if end > until {
                break;
            }
            while let Some(Reverse(occurrence)) = self.active.peek()
                && occurrence.end == end
            {
                let occurrence = *occurrence;
                self.active.pop();
                if let Some(run) = &mut self.run {
                    Self::occurrence(self.found, run, &occurrence, end)?;
                }
                let document = self.found.group(occurrence.place.document);
                if let Some(document) = document
                    && let Some(count) = self.documents.get_mut(&document)
                {
                    *count -= 1;
                    if *count == 0 {
                        self.documents.remove(&document);
                    }
                }
            }
            // What begins at this point is counted first.
            if end < until {
                self.from(end)?;
            }
        }
        Ok(())
    }
}

/// Sweeps over repeats that are sorted by first occurrence. K-grams in more than `most` documents
/// occur in many.
pub(super) fn sweep(
    mut repeats: Sorted,
    most: u32,
    found: &mut impl Found,
    context: &Context<'_>,
) -> Result<()> {
    let mut sweep = Sweep {
        found,
        most: most as usize,
        active: BinaryHeap::new(),
        documents: HashMap::new(),
        run: None,
        runs: 0,
        new: Vec::new(),
        many: false,
    };
    let mut at = None;
    let mut taken = 0u64;
    while let Some(item) = repeats.next()? {
        let repeat = Repeat::by_first(&item);
        let begin = repeat.first.number();
        if at != Some(begin) {
            if let Some(at) = at {
                sweep.from(at)?;
            }
            sweep.end_until(begin)?;
            at = Some(begin);
        }
        let Some(document) = sweep.found.group(repeat.place.document) else {
            continue;
        };
        let count = sweep.documents.entry(document).or_default();
        *count += 1;
        if *count == 1 {
            sweep.new.push(document);
        }
        sweep.active.push(Reverse(Occurrence {
            end: begin + u64::from(repeat.count),
            begin,
            place: repeat.place,
        }));
        taken += 1;
        if taken.is_multiple_of(65536) {
            context.stop.check(STAGE)?;
        }
    }
    if let Some(at) = at {
        sweep.from(at)?;
    }
    sweep.end_until(u64::MAX)?;
    Ok(())
}
